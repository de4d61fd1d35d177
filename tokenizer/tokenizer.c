/* SPDX-License-Identifier: MIT */
/* Loading: which format a file has, which side file belongs to it, and the finished tokenizer. */
#include "base/sized.h"
#include "bpe/model.h"
#include "file.h"

#include "../data/vocab/default_vocab.h"

#include <dstok/version.h>

#include <string.h>

/* What one load call carries from step to step. */
typedef struct loading {
    dstok_tokenizer *tok;
    dstok__spec spec;
    const char *pattern;
    const char *template; /* chat_template.jinja, template_n bytes */
    size_t template_n;
    uint32_t flags;
    dstok_error *err;
} loading;

/* ---- formats ---- */

static bool starts(const char *data, size_t n, const char *magic, size_t k) {
    return n >= k && memcmp(data, magic, k) == 0;
}

static bool holds(const char *data, size_t n, const char *word) {
    size_t k = strlen(word);
    for (size_t i = 0; i + k <= n; i++) {
        if (memcmp(data + i, word, k) == 0) return true;
    }
    return false;
}

/* Both ends of the file are looked at: its "config" may stand before or behind its "vocab". */
static bool is_tekken(const char *data, size_t n) {
    static const char word[] = "\"default_num_special_tokens\"";
    size_t k = n < 4096 ? n : 4096;
    return holds(data, k, word) || holds(data + n - k, k, word);
}

/* The first byte that is no blank; a byte order mark counts as blank. */
static size_t first_byte(const char *data, size_t n) {
    size_t i = starts(data, n, "\xEF\xBB\xBF", 3) ? 3 : 0;
    while (i < n && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n')) i++;
    return i;
}

static bool is_compressed(const char *data, size_t n) {
    return starts(data, n, "\x1f\x8b", 2) || starts(data, n, "\x28\xb5\x2f\xfd", 4) ||
           starts(data, n,
                  "\xfd"
                  "7zXZ",
                  5) ||
           starts(data, n, "BZh", 3) || starts(data, n, "PK\x03\x04", 4);
}

static dstok_status own_pretokenizer(loading *l, const char *what) {
    return dstok__fail(l->err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0,
                       "%s has its own pretokenizer; a pattern is for rank files (.tiktoken)", what);
}

static dstok_status fill_from_json(loading *l, const char *data, size_t n, const char *side, size_t side_n) {
    if (is_tekken(data, n)) return dstok__load_tekken(&l->spec, data, n, l->err);
    DSTOK_TRY(dstok__load_hf(&l->spec, data, n, side, side_n, l->err));
    return dstok__load_chat_template(&l->spec, l->template, l->template_n, l->err);
}

/* Text in another encoding; GGUF, .model and .dstok files begin otherwise. */
static bool is_wide_text(const char *data, size_t n) {
    return starts(data, n, "\xFF\xFE", 2) || starts(data, n, "\xFE\xFF", 2) ||
           starts(data, n, "\0\0\xFE\xFF", 4);
}

static dstok_status fill_spec(loading *l, const char *data, size_t n, const char *side, size_t side_n) {
    if (n == 0) return dstok__fail(l->err, DSTOK_E_TRUNCATED, 0, 0, "the vocabulary file is empty");
    size_t at = first_byte(data, n);
    bool json = at < n && (data[at] == '{' || data[at] == '[' || starts(data + at, n - at, "null", 4));
    bool gguf = starts(data, n, "GGUF", 4),
         model = !json && !gguf && dstok__looks_like_sentencepiece(data, n);
    if (is_compressed(data, n))
        return dstok__fail(l->err, DSTOK_E_UNSUPPORTED, 0, 0,
                           "not supported: a compressed vocabulary file; unpack it first");
    if (is_wide_text(data, n))
        return dstok__fail(l->err, DSTOK_E_UNSUPPORTED, 0, 0,
                           "not supported: a vocabulary file in UTF-16 or UTF-32; convert it to UTF-8 first");
    if ((json || gguf || model) && l->pattern != NULL) return own_pretokenizer(l, "this file");
    if (json) return fill_from_json(l, data, n, side, side_n);
    if (gguf) return dstok__load_gguf(&l->spec, data, n, l->err);
    if (model) return dstok__load_sentencepiece(&l->spec, data, n, l->err);
    return dstok__load_tiktoken(&l->spec, data, n, l->pattern, side, side_n, l->err);
}

/* From the bytes of a vocabulary file to the tables, and from there to the tokenizer. */
static dstok_status build(loading *l, const char *data, size_t n, const char *side, size_t side_n) {
    uint8_t *block;
    size_t block_n;
    DSTOK_TRY(fill_spec(l, data, n, side, side_n));
    DSTOK_TRY(dstok__tables_build(&l->spec, &l->tok->al, &block, &block_n, l->err));
    dstok__spec_free(&l->spec);
    return dstok__model_open(l->tok, block, block_n, DSTOK__BLOCK_HEAP, false, l->flags, l->err);
}

/* A .dstok file that is in memory already. */
static dstok_status copy_tables(loading *l, const char *data, size_t n) {
    uint8_t *block = dstok__alloc(&l->tok->al, n);
    if (block == NULL) return DSTOK_E_NOMEM;
    memcpy(block, data, n);
    return dstok__model_open(l->tok, block, n, DSTOK__BLOCK_HEAP, true, l->flags, l->err);
}

static dstok_status check_size(loading *l, size_t n) {
    if (n <= DSTOK__MAX_FILE) return DSTOK_OK;
    return dstok__fail(l->err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0, "the file is larger than %zu bytes",
                       DSTOK__MAX_FILE);
}

static dstok_status load_bytes(loading *l, const char *data, size_t n, const char *side, size_t side_n) {
    bool gguf = n >= 4 && memcmp(data, "GGUF", 4) == 0; /* the model's weights follow: only the head counts */
    if (!gguf) DSTOK_TRY(check_size(l, n));
    if (!dstok__is_tables(data, n)) return build(l, data, n, side, side_n);
    if (l->pattern == NULL) return copy_tables(l, data, n);
    return own_pretokenizer(l, "a .dstok file");
}

/* ---- the public calls ---- */

static dstok_status read_options(const dstok_load_options *given, dstok_load_options *o, dstok_error *err) {
    *o = (dstok_load_options)DSTOK_LOAD_OPTIONS_INIT;
    if (given == NULL) return DSTOK_OK;
    DSTOK_TRY(dstok__sized_check(given, DSTOK__SIZE_TO(dstok_load_options, flags), "load_options",
                                 "DSTOK_LOAD_OPTIONS_INIT", err));
    dstok__sized_read(o, sizeof *o, given);
    if ((o->flags & ~DSTOK_LOAD_NO_SCANNER) == 0) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "unknown flags 0x%x", o->flags);
}

/* `given` is what to load, NULL when the caller gave nothing. */
static dstok_status begin(const void *given, const dstok_load_options *options, dstok_tokenizer **out,
                          dstok_error *detail, dstok_error *err, loading *l) {
    dstok_load_options o;
    if (given == NULL || out == NULL)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "%s is NULL",
                           out == NULL ? "the place for the tokenizer" : "what to load");
    DSTOK_TRY(read_options(options, &o, err));
    const dstok_alloc *al = o.alloc != NULL ? o.alloc : &dstok__default_alloc;
    *detail = (dstok_error){.status = DSTOK_OK};
    *l = (loading){.pattern = o.pattern, .flags = o.flags, .err = detail};
    l->tok = dstok__alloc_zeroed(al, 1, sizeof *l->tok);
    if (l->tok == NULL) return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory");
    l->tok->al = *al;
    dstok__spec_init(&l->spec, &l->tok->al);
    return DSTOK_OK;
}

static dstok_status end(loading *l, dstok_status status, dstok_tokenizer **out, dstok_error *err) {
    dstok__spec_free(&l->spec);
    if (status == DSTOK_OK) {
        *out = l->tok;
        return status;
    }
    if (l->err->status == DSTOK_OK) {
        dstok__fail(l->err, status, DSTOK_NO_OFFSET, 0, "%s",
                    status == DSTOK_E_NOMEM ? "out of memory" : "a limit was met");
    }
    if (err != NULL) *err = *l->err;
    dstok_tokenizer_free(l->tok);
    return status;
}

dstok_status dstok_tokenizer_load_memory(const void *data, size_t n, const void *side, size_t side_n,
                                         const dstok_load_options *options, dstok_tokenizer **out,
                                         dstok_error *err) {
    loading l;
    dstok_error detail;
    const void *given = side == NULL && side_n > 0 ? NULL : n > 0 ? data : "";
    DSTOK_TRY(begin(given, options, out, &detail, err, &l));
    return end(&l, load_bytes(&l, data, n, side, side_n), out, err);
}

static dstok_status open_default(loading *l) {
    if (l->pattern != NULL) return own_pretokenizer(l, "the built-in vocabulary");
    return dstok__model_open(l->tok, (uint8_t *)(uintptr_t)dstok__default_vocab, dstok__default_vocab_size,
                             DSTOK__BLOCK_STATIC, false, l->flags, l->err);
}

dstok_status dstok_tokenizer_load_default(const dstok_load_options *options, dstok_tokenizer **out,
                                          dstok_error *err) {
    loading l;
    dstok_error detail;
    if (dstok__default_vocab_size == 0) {
        return dstok__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, 0,
                           "this build has no embedded vocabulary; name a file");
    }
    DSTOK_TRY(begin(dstok__default_vocab, options, out, &detail, err, &l));
    return end(&l, open_default(&l), out, err);
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

/* Reads path and what belongs to it. */
static dstok_status load_read(loading *l, const char *path) {
    files f;
    dstok__buf_init(&f.name, &l->tok->al, MAX_PATH_BYTES);
    dstok__buf_init(&f.data, &l->tok->al, DSTOK__MAX_FILE + (1 << 16));
    dstok__buf_init(&f.side, &l->tok->al, DSTOK__MAX_FILE + (1 << 16));
    dstok__buf_init(&f.template, &l->tok->al, DSTOK__MAX_FILE + (1 << 16));
    dstok_status status = read_files(&f, path, l->err);
    if (status == DSTOK_OK) {
        l->template = (const char *)f.template.data;
        l->template_n = f.template.len;
        status = load_bytes(l, (const char *)f.data.data, f.data.len,
                            f.side.len > 0 ? (const char *)f.side.data : NULL, f.side.len);
    }
    dstok__buf_free(&f.name);
    dstok__buf_free(&f.data);
    dstok__buf_free(&f.side);
    dstok__buf_free(&f.template);
    return status;
}

/* A compiled file is used where it lies; of a GGUF file, which may be huge, only the head is looked at. */
static dstok_status load_mapped(loading *l, const char *path, bool is_tables) {
    uint8_t *data = NULL;
    size_t n = 0;
    if (is_tables && l->pattern != NULL) return own_pretokenizer(l, "a .dstok file");
    DSTOK_TRY(dstok__map_file(path, is_tables, &data, &n, l->err));
    if (is_tables) return dstok__model_open(l->tok, data, n, DSTOK__BLOCK_MAPPED, true, l->flags, l->err);
    dstok_status status = build(l, (const char *)data, n, NULL, 0);
    dstok__unmap_file(data, n);
    return status;
}

dstok_status dstok_tokenizer_load(const char *path, const dstok_load_options *options, dstok_tokenizer **out,
                                  dstok_error *err) {
    loading l;
    dstok_error detail;
    uint8_t head[8];
    DSTOK_TRY(begin(path, options, out, &detail, err, &l));
    size_t n = dstok__peek_file(path, head, sizeof head);
    bool is_tables = dstok__is_tables(head, n), is_gguf = n >= 4 && memcmp(head, "GGUF", 4) == 0;
    dstok_status status = is_tables || is_gguf ? load_mapped(&l, path, is_tables) : load_read(&l, path);
    return end(&l, status, out, err);
}

void dstok_tokenizer_free(dstok_tokenizer *tok) {
    if (tok == NULL) return;
    dstok__model_free(tok);
    dstok_alloc al = tok->al; /* it lives inside of what is freed */
    dstok__free(&al, tok, sizeof *tok);
}

#define TEXT_OF(number)  #number
#define VERSION(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *dstok_version(void) {
    return VERSION(DSTOK_VERSION_MAJOR, DSTOK_VERSION_MINOR, DSTOK_VERSION_PATCH);
}

const char *dstok_pattern_name(size_t i) {
    return dstok__pattern_name_at(i);
}
