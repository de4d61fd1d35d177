/* SPDX-License-Identifier: MIT */
/* Tokens of texts and lists of ids, as they come. */
#include "../cli/source.h"
#include "dsexplain.h"

#include <stdlib.h>
#include <string.h>

struct ex_text {
    const char *name;
    dstok_encoder *enc;
    struct cli_buf bytes, ids;
    size_t done; /* of ids */
};

/* A SentencePiece .model does not say whether texts begin with a start token; models made with one want it. */
int ex_adds_bos(const struct ex_model *m) {
    dstok_info info = DSTOK_INFO_INIT;

    if (m->info.bos < 0 || m->config->bos == EX_BOS_OFF) return 0;
    (void)dstok_tokenizer_info(m->tok, &info);
    if (info.has_template) return 0;
    return m->config->bos == EX_BOS_ON || strcmp(info.format, "sentencepiece") == 0;
}

static void add_id(struct cli_buf *ids, uint32_t id) {
    cli_buf_add(ids, &id, sizeof id);
}

static int encode(const struct ex_model *m, struct ex_text *t) {
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_tokens tokens;
    dstok_status status = dstok_encoder_new(m->tok, &t->enc);

    if (status == DSTOK_E_NOMEM) cli_no_memory();
    o.special = m->config->special;
    o.add_special = m->config->bos != EX_BOS_OFF;
    o.ids_only = 1;
    if (ex_adds_bos(m)) add_id(&t->ids, (uint32_t)m->info.bos);
    if (status == DSTOK_OK) status = dstok_encode_view(t->enc, t->bytes.p, t->bytes.n, &o, &tokens, &err);
    if (status != DSTOK_OK) {
        (void)ex_failed(t->name, status, &err);
        return CLI_FAIL;
    }
    cli_buf_add(&t->ids, tokens.ids, tokens.n * sizeof *tokens.ids);
    return 0;
}

struct ex_text *ex_text_open(const struct ex_model *m, const char *path, int *rc) {
    struct ex_text *t = cli_alloc(sizeof *t);

    memset(t, 0, sizeof *t);
    t->name = strcmp(path, "-") == 0 ? "standard input" : path;
    *rc = cli_read_whole(path, 0, DSTOK_MAX_INPUT, &t->bytes);
    if (*rc == 0) *rc = encode(m, t);
    if (*rc == 0) return t;
    ex_text_close(t);
    return NULL;
}

int ex_text_next(struct ex_text *t, const uint32_t **ids, size_t *n) {
    *ids = (const uint32_t *)(const void *)t->ids.p + t->done;
    *n = t->ids.n / sizeof **ids - t->done;
    t->done += *n;
    return 0;
}

void ex_text_close(struct ex_text *t) {
    if (t == NULL) return;
    dstok_encoder_free(t->enc);
    cli_buf_free(&t->bytes);
    cli_buf_free(&t->ids);
    free(t);
}

static int bad_id(const char *path, size_t line, size_t number, const char *word, size_t n, const char *why) {
    cli_error("%s:%zu: number %zu: \"%.*s\" %s", strcmp(path, "-") == 0 ? "standard input" : path, line,
              number, (int)(n < 40 ? n : 40), word, why);
    return CLI_FAIL;
}

int ex_read_ids(const struct ex_model *m, const char *path, struct cli_buf *out) {
    static const char blanks[] = " \t\r\n,[]";
    struct cli_buf text = {0};
    size_t line = 1, number = 0;
    int rc = cli_read_whole(path, 0, DSTOK_MAX_INPUT, &text);
    const char *p = cli_buf_string(&text), *end = p + text.n;

    while (rc == 0 && p < end) {
        size_t n = 0;
        uint64_t id = 0;
        const char *why;

        if (*p == '\0' || strchr(blanks, *p) != NULL) {
            if (*p == '\0') rc = bad_id(path, line, number + 1, "", 0, "is no id: a NUL stands there");
            line += *p++ == '\n';
            continue;
        }
        while (p + n < end && p[n] != '\0' && strchr(blanks, p[n]) == NULL) n++;
        why = cli_number(p, n, &id);
        if (why == NULL && id >= m->info.n_vocab) why = "is not below the size of the model's vocabulary";
        number++;
        if (why != NULL) rc = bad_id(path, line, number, p, n, why);
        add_id(out, (uint32_t)id);
        p += n;
    }
    cli_buf_free(&text);
    return rc;
}
