/* SPDX-License-Identifier: MIT */
/* A list of operations made ready, how much they can make of a text, and running them. */
#include "norm.h"

#include "../../simd/simd.h"

/* Bert is five operations. */
enum { MAX_PARTS = 5 };

struct dstok__normalizer {
    const dstok_alloc *al;
    size_t n, cap;
    bool needs_regex;
    dstok__norm_op ops[]; /* cap of them, n in use */
};

/* ---- making ready ---- */

typedef dstok_status ready_fn(const dstok_alloc *al, dstok__norm_op *op, dstok_error *err);

static dstok_status out_of_memory(dstok_error *err) {
    return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory");
}

static dstok_status ready_replace(const dstok_alloc *al, dstok__norm_op *op, dstok_error *err) {
    size_t n = op->norm.pattern_n;
    if (n > UINT32_MAX)
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0, "a pattern of %zu bytes", n);
    op->back = dstok__alloc_array(al, n, sizeof *op->back);
    if (op->back == NULL && n > 0) return out_of_memory(err);
    dstok__norm_back(op->norm.pattern, n, op->back);
    return DSTOK_OK;
}

static dstok_status ready_regex(const dstok_alloc *al, dstok__norm_op *op, dstok_error *err) {
    return dstok__regex_new(al, op->norm.pattern, op->norm.pattern_n, DSTOK__DIALECT_ONIG, &op->regex, err);
}

static dstok_status ready_map(const dstok_alloc *al, dstok__norm_op *op, dstok_error *err) {
    return dstok__charsmap_read(al, op->norm.pattern, op->norm.pattern_n, &op->map, err);
}

static dstok_status add_piece(dstok__norm_op *op, const char *text, size_t n, dstok_error *err) {
    if (n > UINT32_MAX || dstok__utf8_check((const uint8_t *)text, n) != n)
        return dstok__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, 0, "a user-defined piece is no UTF-8");
    dstok__added_entry entry = {.text = (const uint8_t *)text, .n = (uint32_t)n};
    return n == 0 || dstok__added_put(&op->pieces, &entry) == DSTOK_OK ? DSTOK_OK : out_of_memory(err);
}

static dstok_status ready_spm(const dstok_alloc *al, dstok__norm_op *op, dstok_error *err) {
    const char *text = op->norm.content_n > 0 ? op->norm.content : "", *stop = text + op->norm.content_n;
    dstok__added_init(&op->pieces, al);
    op->map = (dstok__charsmap){.growth = 1, .escaped_growth = 3};
    if (op->norm.pattern_n > 0) DSTOK_TRY(ready_map(al, op, err));
    while (text != stop) {
        const char *end = memchr(text, '\0', (size_t)(stop - text));
        if (end == NULL) end = stop;
        DSTOK_TRY(add_piece(op, text, (size_t)(end - text), err));
        text = end == stop ? stop : end + 1;
    }
    return dstok__added_build(&op->pieces) == DSTOK_OK ? DSTOK_OK : out_of_memory(err);
}

/* How each kind is applied, and made ready; NULL where there is nothing to make. Bert: see add_bert. */
static const struct {
    dstok__norm_fn *apply;
    ready_fn *ready;
} kinds[] = {
    [DSTOK__NORM_NFC] = {dstok__norm_nfc, NULL},
    [DSTOK__NORM_NFD] = {dstok__norm_nfd, NULL},
    [DSTOK__NORM_NFKC] = {dstok__norm_nfkc, NULL},
    [DSTOK__NORM_NFKD] = {dstok__norm_nfkd, NULL},
    [DSTOK__NORM_LOWERCASE] = {dstok__norm_lowercase, NULL},
    [DSTOK__NORM_STRIP] = {dstok__norm_strip, NULL},
    [DSTOK__NORM_STRIP_ACCENTS] = {dstok__norm_strip_accents, NULL},
    [DSTOK__NORM_REPLACE] = {dstok__norm_replace, ready_replace},
    [DSTOK__NORM_REPLACE_REGEX] = {dstok__norm_replace_regex, ready_regex},
    [DSTOK__NORM_PREPEND] = {dstok__norm_prepend, NULL},
    [DSTOK__NORM_NMT] = {dstok__norm_nmt, NULL},
    [DSTOK__NORM_BERT] = {NULL, NULL},
    [DSTOK__NORM_BYTE_LEVEL] = {dstok__norm_byte_level, NULL},
    [DSTOK__NORM_PRECOMPILED] = {dstok__norm_precompiled, ready_map},
    [DSTOK__NORM_SPM] = {dstok__norm_spm, ready_spm},
};

static dstok__norm_op *add_op(dstok__normalizer *z, dstok__norm_fn *apply, const dstok__norm *norm) {
    dstok__norm_op *op = &z->ops[z->n++];
    *op = (dstok__norm_op){.apply = apply, .norm = *norm};
    return op;
}

static void add_bert(dstok__normalizer *z, const dstok__norm *norm) {
    if ((norm->flags & DSTOK__BERT_CLEAN) != 0) add_op(z, dstok__norm_bert_clean, norm);
    if ((norm->flags & DSTOK__BERT_CHINESE) != 0) add_op(z, dstok__norm_bert_chinese, norm);
    if ((norm->flags & DSTOK__BERT_STRIP_ACCENTS) != 0) {
        add_op(z, dstok__norm_nfd, norm);
        add_op(z, dstok__norm_bert_accents, norm);
    }
    if ((norm->flags & DSTOK__BERT_LOWERCASE) != 0) add_op(z, dstok__norm_lowercase, norm);
}

static dstok_status add_norm(dstok__normalizer *z, const dstok__norm *norm, dstok_error *err) {
    if (norm->kind == DSTOK__NORM_BERT) {
        add_bert(z, norm);
        return DSTOK_OK;
    }
    if (norm->kind == DSTOK__NORM_REPLACE_REGEX) z->needs_regex = true;
    dstok__norm_op *op = add_op(z, kinds[norm->kind].apply, norm);
    ready_fn *ready = kinds[norm->kind].ready;
    return ready == NULL ? DSTOK_OK : ready(z->al, op, err);
}

static size_t size_of(size_t cap) {
    return sizeof(dstok__normalizer) + cap * sizeof(dstok__norm_op);
}

dstok_status dstok__normalizer_new(const dstok_alloc *al, const dstok__norm *ops, size_t n,
                                   dstok__normalizer **out, dstok_error *err) {
    *out = NULL;
    if (n == 0) return DSTOK_OK;
    if (n > DSTOK__MAX_NORMS)
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0, "%zu normalizers, at most %d", n,
                           DSTOK__MAX_NORMS);
    dstok__normalizer *z = dstok__alloc(al, size_of(n * MAX_PARTS));
    if (z == NULL) return out_of_memory(err);
    *z = (dstok__normalizer){.al = al, .cap = n * MAX_PARTS};
    for (size_t i = 0; i < n; i++) {
        dstok_status status = add_norm(z, &ops[i], err);
        if (status == DSTOK_OK) continue;
        dstok__normalizer_free(z);
        return status;
    }
    *out = z;
    return DSTOK_OK;
}

void dstok__normalizer_free(dstok__normalizer *z) {
    if (z == NULL) return;
    for (size_t i = 0; i < z->n; i++) {
        dstok__norm_op *op = &z->ops[i];
        dstok__regex_free(op->regex);
        dstok__free(z->al, op->back, op->norm.pattern_n * sizeof *op->back);
        if (op->pieces.al != NULL) dstok__added_free(&op->pieces);
    }
    dstok__free(z->al, z, size_of(z->cap));
}

bool dstok__normalizer_needs_regex(const dstok__normalizer *z) {
    return z != NULL && z->needs_regex;
}

bool dstok__normalizer_image(const dstok__normalizer *z, uint32_t cp, uint32_t *image) {
    *image = cp;
    for (size_t i = 0; z != NULL && i < z->n; i++)
        if (!dstok__norm_image(&z->ops[i], *image, image)) return false;
    return true;
}

/* ---- the bound ---- */

/* a * b + c, or SIZE_MAX when that does not fit. */
static size_t scaled(size_t a, size_t b, size_t c) {
    if (a == SIZE_MAX || b == SIZE_MAX || (b > 0 && a > (SIZE_MAX - c) / b)) return SIZE_MAX;
    return a * b + c;
}

/* The content for every pattern_n bytes. */
static size_t replace_bound(const dstok__norm *norm, size_t len) {
    size_t n = norm->pattern_n, more = norm->content_n > n ? norm->content_n - n : 0;
    if (n == 0) return scaled(len, 1, scaled(scaled(len, 1, 1), more, 0));
    return scaled(len / n + (len % n != 0), more, len);
}

/* Of one operation. A factor and a summand, so that the bound of a text cut up is not above that of its bytes
 * one by one. The factors of the forms are those of U+1D160, U+0390 and U+FDFA. */
static size_t op_bound(const dstok__norm_op *op, size_t len) {
    const dstok__norm *norm = &op->norm;
    if (len == 0) return 0;
    if (op->apply == dstok__norm_nfc || op->apply == dstok__norm_nfd) return scaled(len, 3, 0);
    if (op->apply == dstok__norm_nfkc || op->apply == dstok__norm_nfkd) return scaled(len, 11, 0);
    if (op->apply == dstok__norm_lowercase) return scaled(len, 1, len / 2 + len % 2);
    if (op->apply == dstok__norm_bert_chinese) return scaled(len, 1, scaled(len / 3, 2, len % 3));
    if (op->apply == dstok__norm_replace) return replace_bound(norm, len);
    if (op->apply == dstok__norm_replace_regex)
        return scaled(len, 1, scaled(scaled(len, 1, 1), norm->content_n, 0));
    if (op->apply == dstok__norm_prepend) return scaled(len, 1, norm->content_n);
    if (op->apply == dstok__norm_byte_level) return scaled(len, 2, 0);
    if (op->apply == dstok__norm_precompiled) return scaled(len, op->map.growth, 0);
    if (op->apply == dstok__norm_spm) {
        bool escapes = (norm->flags & DSTOK__SPM_ESCAPE) != 0;
        return scaled(len, escapes ? op->map.escaped_growth : op->map.growth, escapes ? 3 : 1);
    }
    return len;
}

size_t dstok__normalizer_bound(const dstok__normalizer *z, size_t len) {
    if (z == NULL) return len;
    for (size_t i = 0; i < z->n && len != SIZE_MAX; i++) len = op_bound(&z->ops[i], len);
    return len;
}

/* ---- running ---- */

void dstok__normalized_init(dstok__normalized *n, const dstok_alloc *al) {
    *n = (dstok__normalized){0};
    dstok__buf_init(&n->buf, al, SIZE_MAX);
    dstok__buf_init(&n->spare, al, SIZE_MAX);
}

void dstok__normalized_free(dstok__normalized *n) {
    const dstok_alloc *al = n->buf.al;
    dstok__free(al, n->edits, n->cap_edits * sizeof *n->edits);
    dstok__free(al, n->later, n->cap_later * sizeof *n->later);
    dstok__free(al, n->from, n->cap_from * sizeof *n->from);
    dstok__free(al, n->spare_from, n->cap_spare_from * sizeof *n->spare_from);
    dstok__norm_free_chars(n);
    dstok__buf_free(&n->buf);
    dstok__buf_free(&n->spare);
    dstok__normalized_init(n, al);
}

/* The text before any operation: itself. */
static dstok_status begin(dstok__normalized *n, const uint8_t *src, size_t len, size_t max) {
    n->buf.max = n->spare.max = max;
    n->buf.len = n->n_edits = 0;
    n->text = src;
    n->len = len;
    if (!n->want_from) return DSTOK_OK;
    if (len >= DSTOK__NOWHERE) return DSTOK_E_LIMIT;
    DSTOK_TRY(dstok__grow(n->buf.al, (void **)&n->from, &n->cap_from, len, sizeof *n->from, SIZE_MAX));
    for (size_t i = 0; i < len; i++) n->from[i] = (uint32_t)i;
    return DSTOK_OK;
}

static dstok_status run_all(dstok__normalized *n, const dstok__norm_op *ops, size_t n_ops,
                            dstok__regex_scratch *scratch, dstok_error *err) {
    for (size_t i = 0; i < n_ops; i++) DSTOK_TRY(dstok__norm_run(n, &ops[i], scratch, err));
    return n->len > n->buf.max ? DSTOK_E_LIMIT : DSTOK_OK;
}

dstok_status dstok__normalize(dstok__normalized *n, const dstok__normalizer *z, dstok__regex_scratch *scratch,
                              const uint8_t *src, size_t len, size_t max, dstok_error *err) {
    dstok_error found = {.status = DSTOK_OK};
    dstok_status status = begin(n, src, len, max);
    if (status == DSTOK_OK)
        status = run_all(n, z == NULL ? NULL : z->ops, z == NULL ? 0 : z->n, scratch, &found);
    if (status == DSTOK_OK) return DSTOK_OK;
    if (found.status == DSTOK_OK && status == DSTOK_E_LIMIT)
        return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "normalised text longer than %zu bytes", max);
    if (found.status == DSTOK_OK) return out_of_memory(err);
    if (err != NULL) *err = found;
    return status;
}

dstok_status dstok__normalize_piece(dstok__normalized *n, const uint8_t *src, size_t len, const char *blank,
                                    const char *prefix, size_t max) {
    dstok__norm_op ops[2] = {0};
    uint32_t back;
    size_t n_ops = 0;
    if (blank != NULL) {
        dstok__norm norm = {.pattern = " ", .pattern_n = 1, .content = blank, .content_n = strlen(blank)};
        dstok__norm_back(norm.pattern, 1, &back);
        ops[n_ops++] = (dstok__norm_op){.apply = dstok__norm_replace, .norm = norm, .back = &back};
    }
    if (prefix != NULL) {
        dstok__norm norm = {.content = prefix, .content_n = strlen(prefix)};
        ops[n_ops++] = (dstok__norm_op){.apply = dstok__norm_prepend, .norm = norm};
    }
    DSTOK_TRY(begin(n, src, len, max));
    return run_all(n, ops, n_ops, NULL, NULL);
}
