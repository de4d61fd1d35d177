/* SPDX-License-Identifier: MIT */
/* Decoding: ids back to bytes, in four modes. */
#include "model.h"

#include "../../simd/simd.h"

#include <string.h>

static const uint8_t replacement[3] = {0xEF, 0xBF, 0xBD}; /* U+FFFD */

/* The caller's buffer: counts everything, writes what fits. */
typedef struct target {
    uint8_t *out;
    size_t cap, n;
} target;

static void put(target *t, const uint8_t *bytes, size_t n) {
    if (t->n <= t->cap && n <= t->cap - t->n && n > 0) memcpy(t->out + t->n, bytes, n);
    t->n += n;
}

/* Bytes that may turn out to be the head of a character cut into several tokens (replace and strict mode). */
typedef struct pending {
    uint8_t bytes[4];
    size_t n;
} pending;

/* Longest tail of s[0, n) that is the head of a well-formed character: at most 3 bytes. */
static size_t open_tail(const uint8_t *s, size_t n) {
    for (size_t k = 1; k <= 3 && k <= n; k++) {
        uint8_t byte = s[n - k];
        if (byte < 0x80) return 0;
        if (byte < 0xC0) continue;
        size_t width, bad = dstok__utf8_ill_formed(s + n - k, k, &width);
        size_t want = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
        return bad == k && want > k ? k : 0; /* ill-formed only because it ends here */
    }
    return 0;
}

/* Puts s[0, n) with U+FFFD for ill-formed subparts. */
static void put_replaced(target *t, const uint8_t *s, size_t n) {
    for (size_t i = 0; i < n;) {
        size_t good = dstok__utf8_check(s + i, n - i);
        put(t, s + i, good);
        i += good;
        if (i == n) break;
        put(t, replacement, sizeof replacement);
        i += dstok__utf8_ill_formed(s + i, n - i, NULL);
    }
}

/* Adds a token's bytes to the text, keeping back an unfinished character. */
static void put_text(target *t, pending *p, const uint8_t *bytes, size_t n) {
    while (p->n > 0 && n > 0 && p->n < sizeof p->bytes) { /* finish the character, a byte at a time */
        p->bytes[p->n++] = *bytes++;
        n--;
        if (open_tail(p->bytes, p->n) == p->n) continue;
        size_t keep = open_tail(p->bytes, p->n);
        put_replaced(t, p->bytes, p->n - keep);
        memmove(p->bytes, p->bytes + p->n - keep, keep);
        p->n = keep;
    }
    size_t keep = p->n > 0 ? 0 : open_tail(bytes, n);
    put_replaced(t, bytes, n - keep);
    if (keep > 0) memcpy(p->bytes, bytes + n - keep, keep);
    if (keep > 0) p->n = keep;
}

static void flush(target *t, pending *p) {
    put_replaced(t, p->bytes, p->n);
    p->n = 0;
}

static dstok_status bad_id(uint32_t id, size_t index, const dstok_tokenizer *tok, dstok_error *err) {
    return dstok__fail(err, DSTOK_E_BAD_ID, index, 0,
                       "id %u (number %zu of the list) has no token; ids go up to %u", id, index + 1,
                       tok->n_ids == 0 ? 0 : tok->n_ids - 1);
}

/* All bytes as they are; unknown ids are counted or an error. */
static dstok_status decode_bytes(const dstok_tokenizer *tok, const uint32_t *ids, size_t n, int mode,
                                 int skip_special, target *t, size_t *unknown, dstok_error *err) {
    for (size_t i = 0; i < n; i++) {
        if (ids[i] >= tok->n_ids || tok->flags[ids[i]] == 0) {
            if (mode != DSTOK_DECODE_RAW) return bad_id(ids[i], i, tok, err);
            ++*unknown;
        } else if (!skip_special || !(tok->flags[ids[i]] & DSTOK_TOKEN_SPECIAL)) {
            put(t, tok->pieces[ids[i]].bytes, tok->pieces[ids[i]].n);
        }
    }
    return DSTOK_OK;
}

static void decode_replaced(const dstok_tokenizer *tok, const uint32_t *ids, size_t n, int skip_special,
                            target *t, size_t *unknown) {
    pending p = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        if (ids[i] >= tok->n_ids || tok->flags[ids[i]] == 0) {
            flush(t, &p);
            put(t, replacement, sizeof replacement);
            ++*unknown;
        } else if (!skip_special || !(tok->flags[ids[i]] & DSTOK_TOKEN_SPECIAL)) {
            put_text(t, &p, tok->pieces[ids[i]].bytes, tok->pieces[ids[i]].n);
        }
    }
    flush(t, &p);
}

dstok_status dstok_decode(const dstok_tokenizer *tok, const uint32_t *ids, size_t n, int mode,
                          int skip_special, void *out, size_t cap, size_t *n_out, size_t *n_unknown,
                          dstok_error *err) {
    target t = {out, cap, 0};
    size_t unknown = 0;
    if (mode < DSTOK_DECODE_LOSSLESS || mode > DSTOK_DECODE_RAW) {
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "unknown decode mode %d", mode);
    }
    if (mode == DSTOK_DECODE_REPLACE) {
        decode_replaced(tok, ids, n, skip_special, &t, &unknown);
    } else {
        DSTOK_TRY(decode_bytes(tok, ids, n, mode, skip_special, &t, &unknown, err));
    }
    *n_out = t.n;
    if (n_unknown != NULL) *n_unknown = unknown;
    if (t.n > cap)
        return dstok__fail(err, DSTOK_E_SPACE, DSTOK_NO_OFFSET, 0, "room for %zu bytes, %zu needed", cap,
                           t.n);
    if (mode != DSTOK_DECODE_STRICT) return DSTOK_OK;
    size_t good = dstok__utf8_check(out == NULL ? (const uint8_t *)"" : out, t.n);
    if (good == t.n) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_UTF8, good, 0, "the decoded bytes are not UTF-8 from byte %zu on", good);
}
