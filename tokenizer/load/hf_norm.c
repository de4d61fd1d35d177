/* SPDX-License-Identifier: MIT */
/* The normalizer of tokenizer.json. */
#include "hf.h"

#include <string.h>

#include "base64.h"

static dstok_status add_norm(dstok__hf *h, dstok__norm norm, size_t at) {
    dstok__spec *s = h->r.s;
    if (s->n_norms == DSTOK__MAX_NORMS)
        return dstok__json_fail(&h->doc, DSTOK_E_LIMIT, at, h->r.err, "more than %d normalizers",
                                DSTOK__MAX_NORMS);
    s->norms[s->n_norms++] = norm;
    return DSTOK_OK;
}

/* ---- kinds with members ---- */

static dstok_status add_strip(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"strip_left", 0}, {"strip_right", 0}};
    bool left, right;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "Strip", f, 2));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[0].at, "\"strip_left\"", &left));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[1].at, "\"strip_right\"", &right));
    dstok__norm norm = {.kind = DSTOK__NORM_STRIP,
                        .flags = (left ? DSTOK__STRIP_LEFT : 0) | (right ? DSTOK__STRIP_RIGHT : 0)};
    return add_norm(h, norm, at);
}

static dstok_status add_replace(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"pattern", 0}, {"content", 0}};
    dstok__norm norm = {.kind = DSTOK__NORM_REPLACE};
    const char *content;
    bool is_regex;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "Replace", f, 2));
    DSTOK_TRY(dstok__hf_pattern(h, at, f[0].at, &is_regex, &norm.pattern, &norm.pattern_n));
    DSTOK_TRY(dstok__read_string(&h->r, at, f[1].at, "\"content\"", &content, &norm.content_n));
    DSTOK_TRY(dstok__spec_copy(h->r.s, content, norm.content_n, &norm.content, h->r.err));
    if (is_regex) norm.kind = DSTOK__NORM_REPLACE_REGEX;
    return add_norm(h, norm, at);
}

static dstok_status add_prepend(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"prepend", 0}};
    dstok__norm norm = {.kind = DSTOK__NORM_PREPEND};
    const char *text;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "Prepend", f, 1));
    DSTOK_TRY(dstok__read_string(&h->r, at, f[0].at, "\"prepend\"", &text, &norm.content_n));
    DSTOK_TRY(dstok__spec_copy(h->r.s, text, norm.content_n, &norm.content, h->r.err));
    return norm.content_n == 0 ? DSTOK_OK : add_norm(h, norm, at);
}

static dstok_status add_bert(dstok__hf *h, size_t at) {
    dstok__field f[] = {
        {"clean_text", 0}, {"handle_chinese_chars", 0}, {"strip_accents", 0}, {"lowercase", 0}};
    bool clean, chinese, accents, lower;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "BertNormalizer", f, 4));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[0].at, "\"clean_text\"", &clean));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[1].at, "\"handle_chinese_chars\"", &chinese));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[3].at, "\"lowercase\"", &lower));
    accents = lower; /* what null means */
    if (f[2].at != 0) DSTOK_TRY(dstok__read_bool(&h->r, at, f[2].at, "\"strip_accents\"", &accents));
    dstok__norm norm = {.kind = DSTOK__NORM_BERT,
                        .flags = (clean ? DSTOK__BERT_CLEAN : 0) | (chinese ? DSTOK__BERT_CHINESE : 0) |
                                 (accents ? DSTOK__BERT_STRIP_ACCENTS : 0) |
                                 (lower ? DSTOK__BERT_LOWERCASE : 0)};
    return add_norm(h, norm, at);
}

/* precompiled_charsmap is base64. */
static dstok_status add_precompiled(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"precompiled_charsmap", 0}};
    dstok__norm norm = {.kind = DSTOK__NORM_PRECOMPILED};
    const char *text;
    size_t n, size = 0;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "Precompiled", f, 1));
    DSTOK_TRY(dstok__read_string(&h->r, at, f[0].at, "\"precompiled_charsmap\"", &text, &n));
    h->joined.len = 0;
    dstok_status status = dstok__buf_reserve(&h->joined, n);
    if (status != DSTOK_OK) return dstok__spec_no_room(status, "bytes in a string", h->joined.max, h->r.err);
    if (!dstok__base64_decode(text, n, h->joined.data, &size))
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, f[0].at, h->r.err,
                                "\"precompiled_charsmap\" is not base64");
    norm.pattern_n = size;
    DSTOK_TRY(dstok__spec_copy(h->r.s, h->joined.data, size, &norm.pattern, h->r.err));
    return add_norm(h, norm, at);
}

/* ---- all of it ---- */

static dstok_status add_part(dstok__hf *h, const char *type, size_t at) {
    static const struct {
        const char *type;
        dstok_status (*add)(dstok__hf *h, size_t at); /* NULL: it has no members */
        dstok__norm_kind kind;
    } kinds[] = {{"NFC", NULL, DSTOK__NORM_NFC},
                 {"NFD", NULL, DSTOK__NORM_NFD},
                 {"NFKC", NULL, DSTOK__NORM_NFKC},
                 {"NFKD", NULL, DSTOK__NORM_NFKD},
                 {"Lowercase", NULL, DSTOK__NORM_LOWERCASE},
                 {"StripAccents", NULL, DSTOK__NORM_STRIP_ACCENTS},
                 {"Nmt", NULL, DSTOK__NORM_NMT},
                 {"ByteLevel", NULL, DSTOK__NORM_BYTE_LEVEL},
                 {"Strip", add_strip, DSTOK__NORM_STRIP},
                 {"Replace", add_replace, DSTOK__NORM_REPLACE},
                 {"Prepend", add_prepend, DSTOK__NORM_PREPEND},
                 {"BertNormalizer", add_bert, DSTOK__NORM_BERT},
                 {"Precompiled", add_precompiled, DSTOK__NORM_PRECOMPILED}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(type, kinds[i].type) != 0) continue;
        return kinds[i].add != NULL ? kinds[i].add(h, at)
                                    : add_norm(h, (dstok__norm){.kind = kinds[i].kind}, at);
    }
    return dstok__hf_unsupported(h, at, "normalizer", type);
}

/* The tokenizer makes its normalizer from the spec; this one is for added tokens, and shows faults while they have a
 * place. */
dstok_status dstok__hf_normalizer(dstok__hf *h, size_t at) {
    const dstok_alloc *al = h->r.s->arena.al;
    dstok_error detail;
    DSTOK_TRY(dstok__hf_parts(h, at, "normalizer", "normalizers", add_part));
    dstok_status status = dstok__normalizer_new(al, h->r.s->norms, h->r.s->n_norms, &h->normalizer, &detail);
    if (status == DSTOK_OK && dstok__normalizer_needs_regex(h->normalizer))
        status = dstok__regex_scratch_new(al, &h->regex);
    if (status == DSTOK_E_NOMEM) return dstok__spec_no_room(status, "", 0, h->r.err);
    return status == DSTOK_OK ? status : dstok__json_fail(&h->doc, status, at, h->r.err, "%s", detail.text);
}
