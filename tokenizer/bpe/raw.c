/* SPDX-License-Identifier: MIT */
/* Bytes that are no UTF-8, taken as they are, and the short stretches of text between them. */
#include "raw.h"

#include "../text/utf8.h"
#include "run.h"

#include <string.h>

#define SHORT 64u   /* bytes of a stretch that is not worth the usual way, which has much to set up */
#define ROOM  4096u /* bytes for whose ids there is room at once */

/* ---- one pretoken of any bytes ---- */

/* A piece: most are a byte or two. */
static inline dstok_status put_piece(dstok__run *r, const uint8_t *text, size_t n, bool is_whole) {
    const uint32_t *ids = r->tok->t.head->byte_ids;
    if (n == 1) {
        *r->at++ = ids[text[0]];
        return DSTOK_OK;
    }
    bool merges = !is_whole || !(r->tok->options & DSTOK__T_WHOLE_FIRST);
    if (n > 2 || !merges) return dstok__run_put(r, text, n, is_whole);
    dstok__found p = dstok__pairs_get(&r->tok->t.pairs, ids[text[0]], ids[text[1]]);
    bool is_pair = p.rank != DSTOK__NO_RANK;
    r->at[0] = is_pair ? p.product : ids[text[0]];
    r->at[1] = ids[text[1]]; /* overwritten where it is too much */
    r->at += is_pair ? 1 : 2;
    return DSTOK_OK;
}

/* The end of the piece that begins at text[at]: between bytes that no token holds side by side nothing
 * merges. */
static inline size_t next_cut(const uint64_t *joins, const uint8_t *text, size_t len, size_t at) {
    for (at++; at < len && dstok__bytes_join(joins, text[at - 1], text[at]);) at++;
    return at;
}

/* Pieces of text[0, len) from *at on, as far as there is room. */
static dstok_status put_some(dstok__run *r, const uint8_t *text, size_t len, size_t *at, size_t room) {
    const uint64_t *joins = r->tok->t.joins;
    size_t begin = *at, next;
    for (; *at < len && *at - begin < room; *at = next) {
        next = next_cut(joins, text, len, *at);
        if (next - begin > room) {
            if (*at > begin) return DSTOK_OK;
            DSTOK_TRY(dstok__run_reserve(r, next - begin));
        }
        DSTOK_TRY(put_piece(r, text + *at, next - *at, next - *at == len));
    }
    return DSTOK_OK;
}

dstok_status dstok__raw_ids(job *j, const uint8_t *text, size_t len) {
    dstok__run r = dstok__run_start(j, text, len);
    r.is_raw = true;
    for (size_t at = 0; at < len;) {
        DSTOK_TRY(dstok__run_reserve(&r, ROOM));
        DSTOK_TRY(put_some(&r, text, len, &at, ROOM));
        dstok__run_commit(&r);
        if (j->enc->out.n >= j->enc->out.enough) return DSTOK__ENOUGH;
    }
    return DSTOK_OK;
}

/* ---- text between them ---- */

/* Where the well-formed text that begins at i ends, or a place more than SHORT bytes behind i. */
static size_t short_end(const uint8_t *source, size_t len, size_t i) {
    size_t begin = i, width;
    for (; i < len && i - begin <= SHORT; i += width) {
        width = 1;
        if (source[i] >= 0x80 && dstok__utf8_ill_formed(source + i, len - i, &width) > 0) break;
    }
    return i;
}

size_t dstok__well_formed_end(const job *j, const uint8_t *source, size_t len, size_t i) {
    size_t end = short_end(source, len, i);
    return end - i > SHORT ? i + j->enc->simd->utf8_check(source + i, len - i) : end;
}

size_t dstok__ill_formed_end(const uint8_t *source, size_t len, size_t i, size_t *n) {
    size_t bad;
    for (*n = 0; i < len && (bad = dstok__utf8_ill_formed(source + i, len - i, NULL)) > 0; i += bad) ++*n;
    return i;
}

bool dstok__may_have_added(const job *j, dstok__ahead *ahead, const uint8_t *source, size_t len, size_t begin,
                           size_t end) {
    const dstok__added_set *sets[] = {&j->tok->raw, &j->tok->normalized};
    for (int i = 0; i < 2; i++) {
        if (ahead->added[i] < begin) ahead->added[i] = dstok__added_next(sets[i], source, len, begin);
        if (ahead->added[i] < end) return true;
    }
    return false;
}

/* May NFC change some character of text[0, len), len <= SHORT? */
static bool nfc_may_change(const job *j, const uint8_t *text, size_t len) {
    uint8_t block[SHORT], any = 0;
    uint64_t leads;
    for (size_t i = 0; i < len; i++) any |= text[i];
    if (any < 0x80) return false;
    memset(block, 0, sizeof block);
    memcpy(block, text, len);
    j->enc->simd->nfc_leads(block, 1, &leads);
    return leads != 0;
}

/* Do the tokens of plain text of some bytes follow from its bytes and the pattern alone? */
static bool takes_shorts(const job *j, bool *is_nfc) {
    size_t n = dstok__tables_n(&j->tok->t, DSTOK__S_NORMS);
    *is_nfc = n == 1 && j->tok->t.norms[0].kind == DSTOK__NORM_NFC;
    return dstok__job_knows_bytes(j) && !j->is_slow && (n == 0 || *is_nfc);
}

static dstok_status put_text(dstok__run *r, dstok__scan_fn *scan, const uint8_t *text, size_t len) {
    r->is_raw = false;
    for (size_t at = 0, end; at < len; at = end) {
        end = scan(text, len, at);
        DSTOK_TRY(put_piece(r, text + at, end - at, true));
    }
    return DSTOK_OK;
}

static dstok_status put_bytes(dstok__run *r, const uint8_t *text, size_t len) {
    size_t at = 0;
    r->is_raw = true;
    return put_some(r, text, len, &at, len);
}

/* The ids that have been put are those of source[begin, end). */
static dstok_status take_ids(dstok__run *r, const uint8_t *source, size_t begin, size_t end) {
    size_t first = r->j->enc->out.n;
    dstok__run_commit(r);
    return dstok__job_tiles(r->j, source, begin, end, first);
}

dstok_status dstok__raw_shorts(job *j, dstok__ahead *ahead, const uint8_t *source, size_t len, size_t *at) {
    bool is_nfc;
    if (!takes_shorts(j, &is_nfc)) return DSTOK_OK;
    dstok__run r = dstok__run_start(j, source, len);
    dstok__scan_fn *scan = dstok__pretok_family(j->tok->pretok)->scan;
    size_t room = 0, end, n_bad = 0;
    for (; *at < len; *at = end) {
        bool is_text = (end = short_end(source, len, *at)) > *at;
        if (!is_text) end = dstok__ill_formed_end(source, len, *at, &n_bad);
        if (end - *at > SHORT || (is_text && dstok__may_have_added(j, ahead, source, len, *at, end)) ||
            (is_text && is_nfc && nfc_may_change(j, source + *at, end - *at)))
            break;
        if (room < end - *at) DSTOK_TRY(dstok__run_reserve(&r, room = ROOM));
        room -= end - *at;
        if (!is_text) dstok__note_invalid(j, *at, n_bad);
        DSTOK_TRY(is_text ? put_text(&r, scan, source + *at, end - *at)
                          : put_bytes(&r, source + *at, end - *at));
        DSTOK_TRY(take_ids(&r, source, *at, end));
    }
    return DSTOK_OK;
}
