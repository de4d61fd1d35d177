/* SPDX-License-Identifier: MIT */
/* The decoder of tokenizer.json, and what each token decodes to. */
#include "hf.h"

#include <string.h>

#define MAX_PATTERN 256u                /* bytes: every key is searched for it */
#define MAX_GROWN   ((uint64_t)1 << 32) /* bytes that Replace steps could make of the file's strings */

static dstok_status add_dec(dstok__hf *h, dstok__dec dec, size_t at) {
    dstok__spec *s = h->r.s;
    if (s->n_decs == DSTOK__MAX_DECS)
        return dstok__json_fail(&h->doc, DSTOK_E_LIMIT, at, h->r.err, "more than %d decoders",
                                DSTOK__MAX_DECS);
    s->decs[s->n_decs++] = dec;
    return DSTOK_OK;
}

static dstok_status read_copy(dstok__hf *h, size_t owner, size_t at, const char *what, const char **text,
                              size_t *n) {
    DSTOK_TRY(dstok__read_string(&h->r, owner, at, what, text, n));
    return dstok__spec_copy(h->r.s, *text, *n, text, h->r.err);
}

static dstok_status check_pattern(dstok__hf *h, size_t at, size_t n) {
    if (n <= MAX_PATTERN) return DSTOK_OK;
    return dstok__json_fail(&h->doc, DSTOK_E_LIMIT, at, h->r.err,
                            "a decoder looks for %zu bytes; the limit is %u", n, MAX_PATTERN);
}

static dstok_status add_replace(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"pattern", 0}, {"content", 0}};
    dstok__dec dec = {.kind = DSTOK__DEC_REPLACE};
    bool is_regex;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "Replace", f, 2));
    DSTOK_TRY(dstok__hf_pattern(h, at, f[0].at, &is_regex, &dec.pattern, &dec.pattern_n));
    if (is_regex)
        return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                                "not supported: decoder \"Replace\" by a regular expression");
    DSTOK_TRY(check_pattern(h, f[0].at, dec.pattern_n));
    DSTOK_TRY(read_copy(h, at, f[1].at, "\"content\"", &dec.content, &dec.content_n));
    return add_dec(h, dec, at);
}

static dstok_status add_strip(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"content", 0}, {"start", 0}, {"stop", 0}};
    dstok__dec dec = {.kind = DSTOK__DEC_STRIP};
    DSTOK_TRY(dstok__read_fields(&h->r, at, "Strip", f, 3));
    DSTOK_TRY(dstok__hf_char(h, at, f[0].at, "\"content\"", &dec.content, &dec.content_n));
    if (f[1].at == 0 || f[2].at == 0)
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, at, h->r.err, "Strip needs \"start\" and \"stop\"");
    DSTOK_TRY(dstok__hf_number(h, f[1].at, "\"start\"", &dec.start));
    DSTOK_TRY(dstok__hf_number(h, f[2].at, "\"stop\"", &dec.stop));
    return add_dec(h, dec, at);
}

static dstok_status add_metaspace(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"replacement", 0}};
    dstok__dec dec = {.kind = DSTOK__DEC_METASPACE};
    dstok__prepend prepend;
    bool split;
    DSTOK_TRY(dstok__hf_metaspace(h, at, &prepend, &split));
    DSTOK_TRY(dstok__read_fields(&h->r, at, "Metaspace", f, 1));
    DSTOK_TRY(dstok__hf_char(h, at, f[0].at, "\"replacement\"", &dec.pattern, &dec.pattern_n));
    dec.flag = prepend != DSTOK__PREPEND_NEVER;
    return add_dec(h, dec, at);
}

static dstok_status add_bpe(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"suffix", 0}};
    dstok__dec dec = {.kind = DSTOK__DEC_BPE};
    DSTOK_TRY(dstok__read_fields(&h->r, at, "BPEDecoder", f, 1));
    DSTOK_TRY(read_copy(h, at, f[0].at, "\"suffix\"", &dec.pattern, &dec.pattern_n));
    if (dec.pattern_n == 0)
        return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                                "not supported: decoder \"BPEDecoder\" with an empty suffix");
    DSTOK_TRY(check_pattern(h, f[0].at, dec.pattern_n));
    const dstok__spec *s = h->r.s;
    if (dec.pattern_n == s->suffix_n && memcmp(dec.pattern, s->suffix, s->suffix_n) == 0)
        return add_dec(h, dec, at);
    return dstok__json_fail(
        &h->doc, DSTOK_E_UNSUPPORTED, f[0].at, h->r.err,
        "not supported: decoder \"BPEDecoder\" whose suffix is not the end_of_word_suffix");
}

static dstok_status add_part(dstok__hf *h, const char *type, size_t at) {
    static const struct {
        const char *type;
        dstok_status (*add)(dstok__hf *h, size_t at); /* NULL: it has no members that count */
        dstok__dec_kind kind;
    } kinds[] = {{"ByteLevel", NULL, DSTOK__DEC_BYTE_LEVEL},
                 {"ByteFallback", NULL, DSTOK__DEC_BYTE_FALLBACK},
                 {"Fuse", NULL, DSTOK__DEC_FUSE},
                 {"WordPiece", NULL, DSTOK__DEC_WORDPIECE},
                 {"CTC", NULL, DSTOK__DEC_CTC},
                 {"Replace", add_replace, DSTOK__DEC_REPLACE},
                 {"Strip", add_strip, DSTOK__DEC_STRIP},
                 {"Metaspace", add_metaspace, DSTOK__DEC_METASPACE},
                 {"BPEDecoder", add_bpe, DSTOK__DEC_BPE}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(type, kinds[i].type) != 0) continue;
        return kinds[i].add != NULL ? kinds[i].add(h, at)
                                    : add_dec(h, (dstok__dec){.kind = kinds[i].kind}, at);
    }
    return dstok__hf_unsupported(h, at, "decoder", type);
}

/* All keys together are no longer than the file, so this bounds the work that decoding each of them takes. */
static dstok_status check_growth(dstok__hf *h, size_t at) {
    uint64_t most = h->doc.n;
    for (size_t i = 0; i < h->r.s->n_decs; i++) {
        const dstok__dec *d = &h->r.s->decs[i];
        if (d->kind != DSTOK__DEC_REPLACE || d->content_n <= d->pattern_n) continue;
        most *= (d->content_n + d->pattern_n - 1) / d->pattern_n;
        if (most > MAX_GROWN)
            return dstok__json_fail(
                &h->doc, DSTOK_E_LIMIT, at, h->r.err,
                "the decoder's Replace steps could make more than %llu bytes of the tokens",
                (unsigned long long)MAX_GROWN);
    }
    return DSTOK_OK;
}

dstok_status dstok__hf_decoder(dstok__hf *h, size_t at) {
    dstok__dec_plan plan;
    dstok_error detail;
    DSTOK_TRY(dstok__hf_parts(h, at, "decoder", "decoders", add_part));
    if (at != 0 && h->r.s->n_decs == 0) /* an empty list joins the keys as they are: Fuse, too */
        DSTOK_TRY(add_dec(h, (dstok__dec){.kind = DSTOK__DEC_FUSE}, at));
    DSTOK_TRY(check_growth(h, at));
    dstok_status status = dstok__dec_plan_make(h->r.s->decs, h->r.s->n_decs, &plan, &detail);
    if (status != DSTOK_OK) return dstok__json_fail(&h->doc, status, at, h->r.err, "%s", detail.text);
    if (!h->byte_level || (plan.first_drops == 0 && plan.last_suffix_n == 0)) return DSTOK_OK;
    return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                            "not supported: decoder \"%s\" of a byte-level vocabulary",
                            plan.first_drops != 0 ? "Metaspace" : "BPEDecoder");
}

/* Byte-level keys have become bytes already, which is all that their decoder, if there is one, does. */
static bool is_plain(const dstok__hf *h) {
    const dstok__spec *s = h->r.s;
    return s->n_decs == 0 || (h->byte_level && s->n_decs == 1 && s->decs[0].kind == DSTOK__DEC_BYTE_LEVEL);
}

/* What a text comes to under n steps, in h->decoded. */
static dstok_status decode(dstok__hf *h, size_t at, const dstok__dec *decs, size_t n, const char *text,
                           size_t text_n, bool *is_byte) {
    h->decoded.len = 0;
    dstok_status status = dstok__dec_token(decs, n, text, text_n, &h->decoded, is_byte);
    if (status == DSTOK_OK && h->decoded.len > DSTOK__MAX_TOKEN_BYTES) status = DSTOK_E_LIMIT;
    if (status == DSTOK_E_LIMIT)
        return dstok__json_fail(&h->doc, status, at, h->r.err,
                                "a token decodes to too many bytes; the limit is %zu",
                                DSTOK__MAX_TOKEN_BYTES);
    return status == DSTOK_OK ? status : dstok__spec_no_room(status, "", 0, h->r.err);
}

dstok_status dstok__hf_token_bytes(dstok__hf *h, size_t at, const char *key, size_t n) {
    if (is_plain(h)) return DSTOK_OK;
    bool *is_byte = &h->r.s->tokens[h->r.s->n_tokens - 1].is_byte;
    DSTOK_TRY(decode(h, at, h->r.s->decs, h->r.s->n_decs, key, n, is_byte));
    return dstok__spec_token_bytes(h->r.s, h->decoded.data, h->decoded.len, h->r.err);
}

/* A decoder leaves byte-level characters in added tokens alone here: they are plain text in the file. */
dstok_status dstok__hf_added_bytes(dstok__hf *h, size_t at, const char *text, size_t n, bool is_mapped,
                                   bool *is_byte) {
    dstok__dec decs[DSTOK__MAX_DECS];
    size_t n_decs = h->r.s->n_decs;
    for (size_t i = 0; i < n_decs; i++) {
        decs[i] = h->r.s->decs[i];
        if (!is_mapped && decs[i].kind == DSTOK__DEC_BYTE_LEVEL) decs[i].kind = DSTOK__DEC_FUSE;
    }
    return decode(h, at, decs, n_decs, text, n, is_byte);
}
