/* SPDX-License-Identifier: MIT */
/* The steps of a decoder: each token's own bytes at load, and a plan for what depends on the whole. */
#include "decoder.h"

#include "../load/bytelevel.h"
#include "../text/utf8.h"

#include <string.h>

static const char *const names[] = {
    [DSTOK__DEC_BYTE_LEVEL] = "ByteLevel",
    [DSTOK__DEC_REPLACE] = "Replace",
    [DSTOK__DEC_BYTE_FALLBACK] = "ByteFallback",
    [DSTOK__DEC_FUSE] = "Fuse",
    [DSTOK__DEC_STRIP] = "Strip",
    [DSTOK__DEC_METASPACE] = "Metaspace",
    [DSTOK__DEC_BPE] = "BPEDecoder",
    [DSTOK__DEC_WORDPIECE] = "WordPiece",
    [DSTOK__DEC_SPM] = "SentencePiece",
    [DSTOK__DEC_CTC] = "CTC",
};

static dstok_status refuse(const dstok__dec *d, const char *why, dstok_error *err) {
    return dstok__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, 0, "not supported: decoder \"%s\"%s",
                       names[d->kind], why);
}

static bool is_one_character(const char *text, size_t n) {
    size_t width = 0;
    if (n > 0) (void)dstok__utf8_get((const uint8_t *)text, &width);
    return n > 0 && width == n;
}

/* ---- the plan ---- */

/* Where the steps read so far have come to. */
typedef struct planning {
    dstok__dec_plan *plan;
    bool is_fused;     /* Fuse or ByteLevel made one text of the tokens */
    bool is_mapped;    /* ByteLevel: its characters may be cut by tokens */
    bool has_fallback; /* byte tokens that stand side by side are one text from here on */
    bool has_strip;    /* of the whole */
    bool has_place;    /* Metaspace or BPEDecoder, which look at a token's place */
    bool has_others;   /* steps that change a token's text by itself, but ByteFallback */
} planning;

static uint32_t code_point(const char *text) {
    size_t width;
    return dstok__utf8_get((const uint8_t *)text, &width);
}

static bool is_ascii(const char *text, size_t n) {
    return n == 1 && (uint8_t)text[0] < 0x80;
}

static dstok_status plan_strip(planning *p, const dstok__dec *d, dstok_error *err) {
    if (!p->is_fused) {
        if (p->has_fallback) return refuse(d, " between ByteFallback and Fuse", err);
        p->has_others = true;
        return DSTOK_OK;
    }
    if (p->has_strip) return refuse(d, " twice", err);
    if ((p->is_mapped || p->has_fallback) && !is_ascii(d->content, d->content_n))
        return refuse(d, " of a character that tokens may cut", err);
    p->has_strip = true;
    p->plan->strip_char = code_point(d->content);
    p->plan->strip_start = d->start;
    p->plan->strip_stop = d->stop;
    return DSTOK_OK;
}

/* A character becomes a blank: also in the text that byte tokens make together. */
static dstok_status plan_run(planning *p, const dstok__dec *d, dstok_error *err) {
    uint32_t c = code_point(d->pattern);
    if (p->plan->run_char != 0) return refuse(d, " as one more step behind ByteFallback", err);
    if (c == 0 || c == 0xFFFD) return refuse(d, " of that character behind ByteFallback", err);
    p->plan->run_char = c;
    return DSTOK_OK;
}

static dstok_status plan_replace(planning *p, const dstok__dec *d, dstok_error *err) {
    p->has_others = true;
    if (d->pattern_n == 0) return refuse(d, " of an empty text", err);
    if (p->has_strip) return refuse(d, " behind Strip", err);
    if (p->is_mapped && !is_ascii(d->pattern, d->pattern_n))
        return refuse(d, " behind ByteLevel of more than one ASCII character", err);
    bool is_one = is_one_character(d->pattern, d->pattern_n);
    if (p->is_fused && !is_one) return refuse(d, " of more than one character behind Fuse", err);
    if (!p->has_fallback) return DSTOK_OK;
    if (is_one && d->content_n == 1 && d->content[0] == ' ') return plan_run(p, d, err);
    return refuse(d, " behind ByteFallback, but for one character by a blank", err);
}

static dstok_status plan_metaspace(planning *p, const dstok__dec *d, dstok_error *err) {
    if (!d->flag) { /* it is a Replace */
        dstok__dec replace = *d;
        replace.content = " ";
        replace.content_n = 1;
        return plan_replace(p, &replace, err);
    }
    if (p->is_fused) return refuse(d, " behind Fuse", err);
    if (p->has_place) return refuse(d, " together with another that looks at a token's place", err);
    if (code_point(d->pattern) == 0) return refuse(d, " of U+0000", err);
    p->has_place = true;
    p->plan->first_drops = code_point(d->pattern);
    return p->has_fallback ? plan_run(p, d, err) : DSTOK_OK;
}

static dstok_status plan_bpe(planning *p, const dstok__dec *d, dstok_error *err) {
    if (p->is_fused) return refuse(d, " behind Fuse", err);
    if (p->has_fallback) return refuse(d, " together with ByteFallback", err);
    if (p->has_place) return refuse(d, " together with another that looks at a token's place", err);
    p->has_place = true;
    p->plan->last_suffix_n = (uint32_t)d->pattern_n;
    return DSTOK_OK;
}

static dstok_status plan_bytes(planning *p, const dstok__dec *d, dstok_error *err) {
    if (d->kind == DSTOK__DEC_BYTE_LEVEL) {
        if (p->is_fused) return refuse(d, " behind Fuse or ByteLevel", err);
        if (p->has_fallback) return refuse(d, " together with ByteFallback", err);
        p->has_others = p->is_fused = p->is_mapped = true;
        return DSTOK_OK;
    }
    if (p->is_fused) return refuse(d, " behind Fuse", err);
    if (p->has_fallback) return refuse(d, " twice", err);
    if (p->plan->last_suffix_n != 0) return refuse(d, " together with BPEDecoder", err);
    p->has_fallback = true;
    return DSTOK_OK;
}

static dstok_status plan_step(planning *p, const dstok__dec *d, dstok_error *err) {
    switch (d->kind) {
    case DSTOK__DEC_BYTE_LEVEL:
    case DSTOK__DEC_BYTE_FALLBACK:
        return plan_bytes(p, d, err);
    case DSTOK__DEC_FUSE:
        p->is_fused = true;
        return DSTOK_OK;
    case DSTOK__DEC_REPLACE:
        return plan_replace(p, d, err);
    case DSTOK__DEC_STRIP:
        return plan_strip(p, d, err);
    case DSTOK__DEC_METASPACE:
        return plan_metaspace(p, d, err);
    case DSTOK__DEC_BPE:
        return plan_bpe(p, d, err);
    case DSTOK__DEC_SPM:
        p->plan->spm_strip = d->start;
        p->plan->spm_bytes = 1;
        return DSTOK_OK;
    case DSTOK__DEC_WORDPIECE:
    case DSTOK__DEC_CTC:
        break;
    }
    return refuse(d, "", err);
}

dstok_status dstok__dec_plan_make(const dstok__dec *decs, size_t n, dstok__dec_plan *plan, dstok_error *err) {
    planning p = {.plan = plan};
    *plan = (dstok__dec_plan){.strip_char = ' '};
    for (size_t i = 0; i < n; i++) {
        DSTOK_TRY(plan_step(&p, &decs[i], err));
        /* The first (or last) token is worked out from its own text again, so nothing else may have changed
         * that. */
        if (p.has_place && p.has_others)
            return refuse(&decs[i], " together with a step that looks at a token's place", err);
    }
    return DSTOK_OK;
}

/* ---- a token's own bytes ---- */

static dstok_status replace_all(const char *text, size_t n, const char *pattern, size_t pattern_n,
                                const char *content, size_t content_n, dstok__buf *out) {
    size_t i = 0;
    while (pattern_n > 0 && i + pattern_n <= n) {
        if (memcmp(text + i, pattern, pattern_n) == 0) {
            DSTOK_TRY(dstok__buf_append(out, content, content_n));
            i += pattern_n;
        } else {
            DSTOK_TRY(dstok__buf_push(out, (uint8_t)text[i++]));
        }
    }
    return dstok__buf_append(out, text + i, n - i);
}

int dstok__dec_byte(const char *text, size_t n) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    if (n != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>') return -1;
    char first = text[3] == '+' ? '0' : text[3]; /* the reference reads a number, sign and all */
    const char *high = memchr(digits, first, 32), *low = memchr(digits, text[4], 32);
    return high == NULL || low == NULL ? -1 : (int)(16 * ((high - digits) % 16) + (low - digits) % 16);
}

static dstok_status put_stripped(const dstok__dec *d, const char *text, size_t n, dstok__buf *out) {
    size_t begin = 0, k = d->content_n;
    for (uint32_t i = 0; i < d->start && n - begin >= k && memcmp(text + begin, d->content, k) == 0; i++)
        begin += k;
    for (uint32_t i = 0; i < d->stop && n - begin >= k && memcmp(text + n - k, d->content, k) == 0; i++)
        n -= k;
    return dstok__buf_append(out, text + begin, n - begin);
}

static dstok_status put_bytes(const char *text, size_t n, dstok__buf *out) {
    size_t n_bytes;
    DSTOK_TRY(dstok__buf_reserve(out, n));
    if (!dstok__bytelevel_decode(text, n, out->data + out->len, &n_bytes))
        return dstok__buf_append(out, text, n);
    out->len += n_bytes;
    return DSTOK_OK;
}

/* One step of a token's text[0, n) appended to out. *is_byte: the text is the one byte of a byte token,
 * which no later step changes. */
static dstok_status apply(const dstok__dec *d, bool is_fused, const char *text, size_t n, dstok__buf *out,
                          bool *is_byte) {
    int byte;
    switch (d->kind) {
    case DSTOK__DEC_REPLACE:
        return replace_all(text, n, d->pattern, d->pattern_n, d->content, d->content_n, out);
    case DSTOK__DEC_BYTE_FALLBACK:
        byte = dstok__dec_byte(text, n);
        *is_byte = byte >= 0;
        return *is_byte ? dstok__buf_push(out, (uint8_t)byte) : dstok__buf_append(out, text, n);
    case DSTOK__DEC_STRIP:
        if (!is_fused) return put_stripped(d, text, n, out);
        break;
    case DSTOK__DEC_METASPACE:
    case DSTOK__DEC_BPE:
        return replace_all(text, n, d->pattern, d->pattern_n, " ", 1, out);
    case DSTOK__DEC_BYTE_LEVEL:
        return put_bytes(text, n, out);
    case DSTOK__DEC_FUSE:
    case DSTOK__DEC_SPM:
    case DSTOK__DEC_WORDPIECE:
    case DSTOK__DEC_CTC:
        break;
    }
    return dstok__buf_append(out, text, n);
}

dstok_status dstok__dec_token(const dstok__dec *decs, size_t n, const char *key, size_t key_n,
                              dstok__buf *out, bool *is_byte) {
    dstok__buf other; /* steps go to and fro between the two */
    size_t begin = out->len;
    bool is_fused = false;
    *is_byte = false;
    dstok__buf_init(&other, out->al, out->max);
    dstok_status status = dstok__buf_append(out, key, key_n);
    /* No step makes text of nothing. */
    for (size_t i = 0; i < n && status == DSTOK_OK && out->len > begin; i++) {
        is_fused |= decs[i].kind == DSTOK__DEC_FUSE || decs[i].kind == DSTOK__DEC_BYTE_LEVEL;
        if (*is_byte || decs[i].kind == DSTOK__DEC_FUSE) continue;
        other.len = 0;
        status =
            apply(&decs[i], is_fused, (const char *)out->data + begin, out->len - begin, &other, is_byte);
        out->len = begin;
        if (status == DSTOK_OK) status = dstok__buf_append(out, other.data, other.len);
    }
    dstok__buf_free(&other);
    return status;
}
