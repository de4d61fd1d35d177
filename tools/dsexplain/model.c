/* SPDX-License-Identifier: MIT */
/* Finding and opening a model, its vocabulary, and a session. */
#include "dsexplain.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static int cannot_open(const char *path, const char *why) {
    cli_error("cannot open %s: %s", path, why);
    return CLI_USAGE;
}

/* No such path and no such name: say what would help. */
static int not_found(const char *name) {
    struct cli_buf home = {0}, text = {0};
    char **names;
    size_t n, i;

    cli_data_home("model", &home);
    n = cli_list_folder(cli_buf_string(&home), "", &names);
    cli_buf_printf(&text, "%s, and no model has this name (present: %s", strerror(ENOENT),
                   n == 0 ? "none" : "");
    for (i = 0; i < n; i++) cli_buf_printf(&text, "%s%s", i > 0 ? ", " : "", names[i]);
    cli_buf_text(&text,
                 "); name a .gguf file or a folder, or get one: tools/get-model smollm2, a script of the "
                 "source tree");
    cli_free_names(names, n);
    (void)cannot_open(name, cli_buf_string(&text));
    cli_buf_free(&home);
    cli_buf_free(&text);
    return CLI_USAGE;
}

/* What of a folder to open: itself when it holds config.json, else its only .gguf or .bin file. */
static int file_of_folder(struct cli_buf *path) {
    static const char *const endings[] = {".gguf", ".bin"};
    char **names;
    size_t n, i;
    int rc = -1;

    if (cli_is_inside(cli_buf_string(path), "config.json")) return 0;
    for (i = 0; i < sizeof endings / sizeof *endings && rc < 0; i++) {
        n = cli_list_folder(path->p, endings[i], &names);
        if (n == 1) cli_buf_printf(path, "/%s", names[0]);
        if (n > 1) rc = cannot_open(path->p, "the folder holds several models; name one of them");
        if (n == 1) rc = 0;
        cli_free_names(names, n);
    }
    (void)cli_buf_string(path);
    return rc >= 0 ? rc : cannot_open(path->p, "the folder holds no config.json, no .gguf and no .bin file");
}

int ex_model_path(const char *name, struct cli_buf *path) {
    struct stat st;

    if (name[0] == '\0') return cannot_open("\"\"", "the name is empty");
    if (strcmp(name, "-") == 0)
        return cannot_open(name,
                           "a model does not come from standard input; name a file, a folder or a model");
    if (stat(name, &st) == 0) {
        cli_buf_text(path, name);
    } else if (errno != ENOENT || strchr(name, '/') != NULL) {
        return cannot_open(name, strerror(errno));
    } else {
        cli_data_home("model", path);
        if (path->n == 0 || !cli_is_inside(cli_buf_string(path), name)) return not_found(name);
        cli_buf_printf(path, "/%s", name);
    }
    return cli_is_folder(cli_buf_string(path)) ? file_of_folder(path) : 0;
}

/* The place that a report is about. The library begins its text with a file's own name: that is said already, or is of
 * a file in the folder `name`. Returns what is left of the text. */
static const char *put_place(struct cli_buf *out, const char *name, const char *text) {
    const char *base = strrchr(name, '/'), *end = strstr(text, ": ");
    size_t n = end != NULL ? (size_t)(end - text) : 0;
    struct cli_buf file = {0};

    base = base != NULL ? base + 1 : name;
    cli_buf_text(out, name);
    if (n == 0) return text;
    cli_buf_add(&file, text, n);
    if (cli_is_folder(name) && cli_is_inside(name, cli_buf_string(&file)))
        cli_buf_printf(out, "%s%s", name[strlen(name) - 1] == '/' ? "" : "/", file.p);
    else if (strcmp(cli_buf_string(&file), base) != 0)
        n = 0;
    cli_buf_free(&file);
    return n > 0 ? end + 2 : text;
}

int ex_failed(const char *name, dstok_status status, const dstok_error *err) {
    struct cli_buf place = {0};
    const char *text = put_place(&place, name, err->text[0] ? err->text : dstok_status_name(status));

    if (err->line > 0) cli_buf_printf(&place, ":%lu", (unsigned long)err->line);
    if (err->offset != DSTOK_NO_OFFSET)
        cli_buf_printf(&place, ": byte %llu", (unsigned long long)err->offset);
    cli_error("%s: %s", cli_buf_string(&place), text);
    cli_buf_free(&place);
    return status == DSTOK_E_NOMEM ? CLI_FAIL : CLI_USAGE;
}

int ex_is_memory(dstok_status status, const dstok_error *err) {
    return status == DSTOK_E_LIMIT && strstr(err->text, "max_bytes") != NULL;
}

int ex_failed_to_read(const struct ex_model *m, const char *name, dstok_status status,
                      const dstok_error *err) {
    const struct ex_config *c = m->config;
    unsigned long long most = c->context > 0 ? c->context : m->info.context;

    if (ex_is_memory(status, err))
        cli_error("%s: --max-memory allows no more for the keys and values of the text", name);
    else if (status == DSTOK_E_LIMIT)
        cli_error(c->context > 0
                      ? "%s: too many tokens: --context allows %llu"
                      : "%s: too many tokens: the model was made for %llu; --context can allow more",
                  name, most);
    else
        return ex_failed(name, status, err);
    return ex_is_memory(status, err) ? CLI_FAIL : CLI_USAGE;
}

void ex_json_real(struct cli_buf *out, double x) {
    if (isfinite(x))
        cli_buf_printf(out, "%.17g", x);
    else
        cli_buf_text(out, "null");
}

const char *ex_input_name(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

int ex_model_options(const struct ex_config *c, dsx_model_options *out) {
    dsx_model_options o = DSX_MODEL_OPTIONS_INIT;
    dsx_policy *policy = NULL;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status = c->policy != NULL ? dsx_policy_read(c->policy, &policy, &err) : DSTOK_OK;

    if (status != DSTOK_OK) return ex_failed(c->policy, status, &err);

    o.backend = c->backend ? dsx_backend_float64() : dsx_backend_cpu();
    o.n_threads = (size_t)c->threads;
    o.simd = c->simd;
    o.weights = c->weights;
    o.mla = c->mla;
    o.group = (uint32_t)c->group;
    o.max_bytes = c->max_memory;
    o.policy = policy;
    *out = o;
    return 0;
}

int ex_open_vocab(struct ex_model *m) {
    const struct ex_config *c = m->config;
    const char *name = c->vocab != NULL ? c->vocab : m->info.tokenizer;
    dstok_info info = DSTOK_INFO_INIT;
    int rc;

    if (name == NULL) {
        cli_error("%s holds no vocabulary; name one with -v", m->path.p);
        return CLI_USAGE;
    }
    rc = cli_vocab_open(name, NULL, 0, &m->tok);
    if (rc) return rc;
    (void)dstok_tokenizer_info(m->tok, &info);
    if (info.n_ids <= m->info.n_vocab) return 0;
    cli_error("the vocabulary %s has %llu ids, the model %lu: it is not the model's", name,
              (unsigned long long)info.n_ids, (unsigned long)m->info.n_vocab);
    return CLI_USAGE;
}

static int open_session(const struct ex_config *c, struct ex_model *m) {
    dsx_session_options o = DSX_SESSION_OPTIONS_INIT;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;

    o.max_tokens = c->context;
    o.chunk = (size_t)c->chunk;
    o.kv = c->kv;
    o.kv_recent = c->kv_recent;
    status = dsx_session_new(m->model, &o, &m->session, &err);
    return status == DSTOK_OK ? 0 : ex_failed(m->path.p, status, &err);
}

int ex_open(const struct ex_config *c, int need, struct ex_model *m) {
    dsx_model_options options;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;
    int rc;

    memset(m, 0, sizeof *m);
    m->config = c;
    rc = ex_model_path(c->inputs[0], &m->path);
    if (rc == 0) rc = ex_model_options(c, &options);
    if (rc) return rc;
    status = dsx_model_open(cli_buf_string(&m->path), &options, &m->model, &err);
    dsx_policy_free((dsx_policy *)options.policy);
    if (status != DSTOK_OK) return ex_failed(m->path.p, status, &err);
    m->info = (dsx_model_info)DSX_MODEL_INFO_INIT;
    (void)dsx_model_describe(m->model, &m->info);
    if (need & EX_NEED_VOCAB) rc = ex_open_vocab(m);
    if (rc == 0 && (need & EX_NEED_VOCAB)) rc = ex_check_bos(m);
    if (rc == 0 && (need & EX_NEED_SESSION)) rc = open_session(c, m);
    return rc;
}

void ex_close(struct ex_model *m) {
    dsx_session_free(m->session);
    dstok_tokenizer_free(m->tok);
    dsx_model_free(m->model);
    cli_buf_free(&m->path);
}

void ex_piece(struct cli_buf *out, const struct ex_model *m, uint32_t id) {
    const void *bytes = "";
    size_t n = 0, i, k;

    cli_buf_char(out, '\'');
    if (m->tok != NULL && dstok_token_bytes(m->tok, id, &bytes, &n) != DSTOK_OK) n = 0;
    for (i = 0; i < n; i += k) {
        const unsigned char *p = (const unsigned char *)bytes + i;
        uint32_t code;
        int ok;

        k = cli_utf8_next(p, n - i, &ok, &code);
        if (*p == '\n')
            cli_buf_text(out, "\\n");
        else if (*p == '\\' || *p == '\'')
            cli_buf_printf(out, "\\%c", *p);
        else if (!ok || code < 0x20 || (code >= 0x7F && code < 0xA0))
            for (size_t j = 0; j < k; j++) cli_buf_printf(out, "\\x%02X", p[j]);
        else
            cli_buf_add(out, p, k);
    }
    cli_buf_char(out, '\'');
}
