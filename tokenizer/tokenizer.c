/* SPDX-License-Identifier: MIT */
/* Loading: which format a file has, which side file belongs to it, and the finished tokenizer. */
#include "bpe/model.h"
#include "file.h"

#include "../data/vocab/default_vocab.h"

#include <string.h>

/* What one load call carries from step to step. */
typedef struct loading {
    dstok_tokenizer *tok;
    const char *pattern;
    const char *template; /* chat_template.jinja, template_n bytes */
    size_t template_n;
    uint32_t flags;
    dstok_error *err;
} loading;

/* ---- formats ---- */

static dstok_status refuse(loading *l, const char *what, const char *advice) {
    return dstok__fail(l->err, DSTOK_E_UNSUPPORTED, 0, 0, "%s; %s", what, advice);
}

static bool starts(const char *data, size_t n, const char *magic, size_t k) {
    return n >= k && memcmp(data, magic, k) == 0;
}

/* Does this text stand in the first 4 KiB? */
static bool head_holds(const char *data, size_t n, const char *word) {
    size_t k = strlen(word), limit = n < 4096 ? n : 4096;
    for (size_t i = 0; i + k <= limit; i++) {
        if (memcmp(data + i, word, k) == 0) return true;
    }
    return false;
}

/* The first byte that is no blank; a byte order mark counts as blank. */
static size_t first_byte(const char *data, size_t n) {
    size_t i = starts(data, n, "\xEF\xBB\xBF", 3) ? 3 : 0;
    while (i < n && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n')) i++;
    return i;
}

static dstok_status refuse_other_formats(loading *l, const char *data, size_t n) {
    if (starts(data, n, "GGUF", 4))
        return refuse(l, "not supported: GGUF files", "give the model's tokenizer.json");
    if (starts(data, n, "\x1f\x8b", 2) || starts(data, n, "\x28\xb5\x2f\xfd", 4) ||
        starts(data, n,
               "\xfd"
               "7zXZ",
               5)) {
        return refuse(l, "not supported: a compressed vocabulary file", "unpack it first");
    }
    if (starts(data, n, "\x0a", 1) && n > 1 && data[1] != '\n') {
        return refuse(l, "not supported: a SentencePiece .model file", "give the model's tokenizer.json");
    }
    return DSTOK_OK;
}

static dstok_status fill_spec(loading *l, const char *data, size_t n, const char *side, size_t side_n) {
    dstok__spec *spec = &l->tok->spec;
    if (n == 0) return dstok__fail(l->err, DSTOK_E_TRUNCATED, 0, 0, "the vocabulary file is empty");
    size_t at = first_byte(data, n);
    bool json = at < n && (data[at] == '{' || data[at] == '[' || starts(data + at, n - at, "null", 4));
    if (json && head_holds(data, n, "\"num_vocab_tokens\"")) {
        return refuse(l, "not supported: tekken.json", "give the model's tokenizer.json");
    }
    if (json && l->pattern != NULL) {
        return dstok__fail(l->err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0,
                           "a tokenizer.json has its own pattern; a pattern is for rank files");
    }
    if (json) {
        DSTOK_TRY(dstok__load_hf(spec, data, n, side, side_n, l->err));
        return dstok__load_chat_template(spec, l->template, l->template_n, l->err);
    }
    DSTOK_TRY(refuse_other_formats(l, data, n));
    return dstok__load_tiktoken(spec, data, n, l->pattern, side, side_n, l->err);
}

static dstok_status finish(loading *l, const char *data, size_t n, const char *side, size_t side_n) {
    dstok_error detail = {.status = DSTOK_OK};
    dstok_error *err = l->err;
    l->err = &detail;
    dstok_status status = fill_spec(l, data, n, side, side_n);
    if (status == DSTOK_OK) status = dstok__model_build(l->tok, l->flags, &detail);
    if (status != DSTOK_OK && detail.status == DSTOK_OK) {
        dstok__fail(&detail, status, DSTOK_NO_OFFSET, 0, "%s",
                    status == DSTOK_E_NOMEM ? "out of memory" : "a limit was met");
    }
    if (status != DSTOK_OK && err != NULL) *err = detail;
    return status;
}

/* ---- the public calls ---- */

static dstok_status begin(const dstok_load_options *options, dstok_error *err, loading *l) {
    dstok_load_options o = DSTOK_LOAD_OPTIONS_INIT;
    if (options != NULL)
        memcpy(&o, options, options->struct_size < sizeof o ? options->struct_size : sizeof o);
    const dstok_alloc *al = o.alloc != NULL ? o.alloc : &dstok__default_alloc;
    *l = (loading){.pattern = o.pattern, .flags = o.flags, .err = err};
    l->tok = dstok__alloc_zeroed(al, 1, sizeof *l->tok);
    if (l->tok == NULL) return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory");
    l->tok->al = *al;
    dstok__spec_init(&l->tok->spec, &l->tok->al);
    return DSTOK_OK;
}

static dstok_status end(loading *l, dstok_status status, dstok_tokenizer **out) {
    if (status == DSTOK_OK) {
        *out = l->tok;
    } else {
        dstok_tokenizer_free(l->tok);
    }
    return status;
}

dstok_status dstok_tokenizer_load_memory(const void *data, size_t n, const void *side, size_t side_n,
                                         const dstok_load_options *options, dstok_tokenizer **out,
                                         dstok_error *err) {
    loading l;
    DSTOK_TRY(begin(options, err, &l));
    dstok_status status = n > DSTOK__MAX_FILE
                              ? dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
                                            "the file is larger than %zu bytes", DSTOK__MAX_FILE)
                              : finish(&l, data, n, side, side_n);
    return end(&l, status, out);
}

dstok_status dstok_tokenizer_load_default(const dstok_load_options *options, dstok_tokenizer **out,
                                          dstok_error *err) {
    if (dstok__default_vocab_size == 0) {
        return dstok__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, 0,
                           "this build has no embedded vocabulary; name a file");
    }
    return dstok_tokenizer_load_memory(dstok__default_vocab, dstok__default_vocab_size, NULL, 0, options, out,
                                       err);
}

/* ---- files ---- */

#define MAX_PATH_BYTES 4096

/* The vocabulary file and those beside it that belong to it. */
typedef struct files {
    dstok__buf name;     /* of the one being read */
    dstok__buf data;     /* the vocabulary */
    dstok__buf side;     /* tokenizer_config.json, or X.meta.json of a rank file X */
    dstok__buf template; /* chat_template.jinja */
} files;

/* Reads folder_n bytes of folder, then file. One that may be missing leaves out empty. */
static dstok_status read_one(files *f, const char *folder, size_t folder_n, const char *file, bool may_miss,
                             dstok__buf *out, dstok_error *err) {
    f->name.len = 0;
    dstok_status status = dstok__buf_append(&f->name, folder, folder_n);
    if (status == DSTOK_OK) status = dstok__buf_append(&f->name, file, strlen(file) + 1);
    if (status != DSTOK_OK) return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "the path is too long");
    const char *path = (const char *)f->name.data;
    return may_miss && !dstok__exists(path) ? DSTOK_OK : dstok__read_file(path, out, err);
}

static bool ends_with(const char *path, const char *end) {
    size_t n = strlen(path), k = strlen(end);
    return n >= k && strcmp(path + n - k, end) == 0;
}

/* A folder stands for the tokenizer.json in it; both ways the files beside it count. */
static dstok_status read_files(files *f, const char *path, dstok_error *err) {
    const char *slash = strrchr(path, '/');
    size_t n = strlen(path), folder_n = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    bool folder = dstok__is_folder(path);
    DSTOK_TRY(read_one(f, path, n, folder ? "/tokenizer.json" : "", false, &f->data, err));
    if (folder) {
        DSTOK_TRY(read_one(f, path, n, "/tokenizer_config.json", true, &f->side, err));
        return read_one(f, path, n, "/chat_template.jinja", true, &f->template, err);
    }
    if (strcmp(path + folder_n, "tokenizer.json") == 0) {
        DSTOK_TRY(read_one(f, path, folder_n, "tokenizer_config.json", true, &f->side, err));
        return read_one(f, path, folder_n, "chat_template.jinja", true, &f->template, err);
    }
    return ends_with(path, ".json") ? DSTOK_OK : read_one(f, path, n, ".meta.json", true, &f->side, err);
}

dstok_status dstok_tokenizer_load(const char *path, const dstok_load_options *options, dstok_tokenizer **out,
                                  dstok_error *err) {
    loading l;
    files f;
    DSTOK_TRY(begin(options, err, &l));
    dstok__buf_init(&f.name, &l.tok->al, MAX_PATH_BYTES);
    dstok__buf_init(&f.data, &l.tok->al, DSTOK__MAX_FILE + (1 << 16));
    dstok__buf_init(&f.side, &l.tok->al, DSTOK__MAX_FILE + (1 << 16));
    dstok__buf_init(&f.template, &l.tok->al, DSTOK__MAX_FILE + (1 << 16));
    dstok_status status = read_files(&f, path, err);
    if (status == DSTOK_OK) {
        l.template = (const char *)f.template.data;
        l.template_n = f.template.len;
        status = finish(&l, (const char *)f.data.data, f.data.len,
                        f.side.len > 0 ? (const char *)f.side.data : NULL, f.side.len);
    }
    dstok__buf_free(&f.name);
    dstok__buf_free(&f.data);
    dstok__buf_free(&f.side);
    dstok__buf_free(&f.template);
    return end(&l, status, out);
}

void dstok_tokenizer_free(dstok_tokenizer *tok) {
    if (tok == NULL) return;
    dstok__model_free(tok);
    dstok_alloc al = tok->al; /* it lives inside of what is freed */
    dstok__free(&al, tok, sizeof *tok);
}

const char *dstok_pattern_name(size_t i) {
    return dstok__pattern_name_at(i);
}
