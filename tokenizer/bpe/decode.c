/* SPDX-License-Identifier: MIT */
/* Decoding: ids back to bytes, in four modes. */
#include "decoding.h"

#include "../../simd/simd.h"
#include "../text/utf8.h"

#include <inttypes.h>
#include <string.h>

static const uint8_t replacement[3] = {0xEF, 0xBF, 0xBD}; /* U+FFFD */

static void put_now(target *t, const uint8_t *bytes, size_t n) {
    if (t->n <= t->cap && n <= t->cap - t->n && n > 0) memcpy(t->out + t->n, bytes, n);
    t->n += n;
}

static bool starts_with_strip(const target *t, const uint8_t *bytes, size_t n) {
    return n >= t->strip_n && memcmp(bytes, t->strip, t->strip_n) == 0;
}

static void release_held(target *t) {
    for (; t->held > 0; t->held--) put_now(t, t->strip, t->strip_n);
}

static void put(target *t, const uint8_t *bytes, size_t n) {
    size_t k = t->strip_n;
    while (t->strip_start > 0 && n > 0) {
        if (!starts_with_strip(t, bytes, n)) {
            t->strip_start = 0;
            break;
        }
        bytes += k;
        n -= k;
        t->strip_start--;
    }
    if (t->strip_stop == 0) {
        put_now(t, bytes, n);
        return;
    }
    size_t tail = n;
    while (tail >= k && memcmp(bytes + tail - k, t->strip, k) == 0) tail -= k;
    if (tail > 0) release_held(t);
    put_now(t, bytes, tail);
    t->held += (n - tail) / k;
}

static void finish(target *t) {
    t->held -= t->held < t->strip_stop ? t->held : t->strip_stop;
    release_held(t);
}

size_t dstok__open_tail(const uint8_t *s, size_t n) {
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
        if (dstok__open_tail(p->bytes, p->n) == p->n) continue;
        size_t keep = dstok__open_tail(p->bytes, p->n);
        put_replaced(t, p->bytes, p->n - keep);
        memmove(p->bytes, p->bytes + p->n - keep, keep);
        p->n = keep;
    }
    size_t keep = p->n > 0 ? 0 : dstok__open_tail(bytes, n);
    put_replaced(t, bytes, n - keep);
    if (keep > 0) memcpy(p->bytes, bytes + n - keep, keep);
    if (keep > 0) p->n = keep;
}

static void flush(target *t, pending *p) {
    put_replaced(t, p->bytes, p->n);
    p->n = 0;
}

static dstok_status bad_id(uint32_t id, uint64_t index, const dstok_tokenizer *tok, dstok_error *err) {
    return dstok__fail(err, DSTOK_E_BAD_ID, index, 0,
                       "id %u (number %" PRIu64 " of the list) has no token; ids go up to %u", id, index + 1,
                       tok->n_ids == 0 ? 0 : tok->n_ids - 1);
}

/* ---- one list of ids ---- */

static bool is_known(const decoding *d, size_t i) {
    return d->ids[i] < d->tok->n_ids && d->tok->flags[d->ids[i]] != 0;
}

bool dstok__decoding_is_shown(const decoding *d, size_t i) {
    return is_known(d, i) && !(d->skip_special && (d->tok->flags[d->ids[i]] & DSTOK_TOKEN_SPECIAL));
}

static void find_ends(decoding *d) {
    const dstok__dec_plan *plan = d->tok->plan;
    d->first = d->last = d->n;
    if (plan->first_drops != 0 && !d->has_first)
        for (d->first = 0; d->first < d->n && !dstok__decoding_is_shown(d, d->first);) d->first++;
    d->has_first |= d->first < d->n;
    if (plan->last_suffix_n == 0 || !d->is_last) return;
    for (size_t i = d->n; i-- > 0 && d->last == d->n;) {
        if (dstok__decoding_is_shown(d, i)) d->last = i;
    }
}

static void put_part(decoding *d, const uint8_t *bytes, size_t n) {
    if (d->mode == DSTOK_DECODE_REPLACE) {
        put_text(&d->t, &d->p, bytes, n);
    } else {
        put(&d->t, bytes, n);
    }
}

/* text[0, n) without any `drop`. */
static void put_without(decoding *d, const uint8_t *text, size_t n, const uint8_t *drop, size_t drop_n) {
    size_t from = 0, i = 0;
    while (drop_n > 0 && i + drop_n <= n) {
        if (memcmp(text + i, drop, drop_n) != 0) {
            i++;
            continue;
        }
        put_part(d, text + from, i - from);
        from = i += drop_n;
    }
    put_part(d, text + from, n - from);
}

/* Whether a token loses its leading blank, as in SentencePiece: the first one, or all until something has
 * come out. */
static bool loses_blank(decoding *d, uint32_t id, uint32_t n) {
    dstok__ref ref = d->tok->t.texts[id];
    uint32_t mode = d->tok->plan->spm_strip;
    bool is_unknown = id == d->tok->unk_id, is_byte = (d->tok->flags[id] & DSTOK__TOKEN_BYTE) != 0;
    if (mode == 0 || (!is_unknown && (d->tok->flags[id] & DSTOK_TOKEN_SPECIAL))) return false;
    if (!is_byte && d->spm_stripped) d->spm_started = true;
    bool strips = !is_byte && !is_unknown && !d->spm_started && n > 0 && ref.n >= 3 &&
                  memcmp(d->tok->t.strings + ref.at, "\xE2\x96\x81", 3) == 0;
    if (!is_byte) d->spm_stripped = strips && mode == 1;
    if (n > strips) d->spm_started = true;
    return strips;
}

static const dstok__ref *find_added(const dstok__tables *t, dstok__section section, uint32_t id) {
    const dstok__added_row *rows = section == DSTOK__S_RAW ? t->raw : t->normalized;
    for (size_t i = 0; i < dstok__tables_n(t, section); i++) {
        if (rows[i].id == id) return &rows[i].text;
    }
    return NULL;
}

/* What the decoder gets of a token: the text that the model has, or that is found in the input. */
static dstok__ref text_of(const dstok__tables *t, uint32_t id) {
    if (!(t->flags[id] & DSTOK_TOKEN_ADDED)) return t->texts[id];
    const dstok__ref *text = find_added(t, DSTOK__S_NORMALIZED, id);
    if (text == NULL) text = find_added(t, DSTOK__S_RAW, id);
    return text != NULL ? *text : t->texts[id];
}

/* The first and the last token may have rules of their own. */
static void put_token(decoding *d, size_t i) {
    uint32_t id = d->ids[i], n;
    const uint8_t *bytes = dstok__token_bytes(d->tok, id, &n);
    bool is_byte = (d->tok->flags[id] & DSTOK__TOKEN_BYTE) != 0;
    if (!is_byte && (i == d->first || i == d->last)) {
        dstok__ref text = text_of(&d->tok->t, id);
        uint8_t drop[4];
        size_t drop_n = dstok__utf8_put(drop, d->tok->plan->first_drops);
        bool is_first = i == d->first;
        put_without(d, d->tok->t.strings + text.at, text.n, is_first ? drop : (const uint8_t *)d->tok->suffix,
                    is_first ? drop_n : d->tok->suffix_n);
    } else {
        size_t skip = loses_blank(d, id, n);
        put_part(d, bytes + skip, n - skip);
    }
}

/* ---- runs of byte tokens ---- */

bool dstok__decoding_is_byte(const decoding *d, size_t i) {
    return dstok__decoding_is_shown(d, i) && (d->tok->flags[d->ids[i]] & DSTOK__TOKEN_BYTE) &&
           d->tok->t.tokens[d->ids[i]].n == 1;
}

/* The next byte of a run, and *i behind it; false at the end of the run. Tokens that are left out do not
 * end it, but in SentencePiece. */
static bool next_byte(const decoding *d, size_t *i, uint8_t *byte) {
    uint32_t unused;
    while (!d->tok->plan->spm_bytes && *i < d->n && is_known(d, *i) && !dstok__decoding_is_shown(d, *i)) ++*i;
    if (*i == d->n || !dstok__decoding_is_byte(d, *i)) return false;
    *byte = *dstok__token_bytes(d->tok, d->ids[(*i)++], &unused);
    return true;
}

/* The next character of a run: true; or a byte of none: false. *n: how many bytes, 0 at the end of the run. */
static bool next_character(const decoding *d, size_t *i, uint8_t bytes[4], size_t *n) {
    size_t width, behind;
    *n = 0;
    if (!next_byte(d, i, &bytes[0])) return true;
    behind = *i;
    size_t want = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : bytes[0] >= 0xC0 ? 2 : 1;
    for (*n = 1; *n < want && next_byte(d, i, &bytes[*n]);) ++*n;
    if (dstok__utf8_ill_formed(bytes, *n, &width) == 0 && width == *n) return true;
    *i = behind;
    *n = 1;
    return false;
}

static void put_run_character(decoding *d, const uint8_t *bytes, size_t n, bool is_first) {
    size_t width;
    if (d->tok->plan->run_char == 0 || dstok__utf8_get(bytes, &width) != d->tok->plan->run_char) {
        put(&d->t, bytes, n);
    } else if (!is_first) {
        put(&d->t, (const uint8_t *)" ", 1);
    }
}

static void put_run_bytes(decoding *d, const uint8_t *bytes, size_t n) {
    if (d->mode != DSTOK_DECODE_REPLACE) put(&d->t, bytes, n);
    for (size_t i = 0; i < n && d->mode == DSTOK_DECODE_REPLACE; i++)
        put(&d->t, replacement, sizeof replacement);
}

/* A run of byte tokens, as the references show it: Hugging Face its text when all of it is UTF-8, else
 * U+FFFD for each byte; SentencePiece each character that is, and U+FFFD for each other byte. In the other
 * modes the bytes stay. Returns the index behind the run. */
static size_t put_byte_run(decoding *d, size_t begin) {
    bool is_text = true, is_spm = d->tok->plan->spm_bytes != 0;
    uint8_t bytes[4];
    size_t i = begin, n;
    do is_text &= next_character(d, &i, bytes, &n);
    while (n > 0);
    flush(&d->t, &d->p);
    d->spm_started = true;
    for (i = begin;;) {
        bool is_good = next_character(d, &i, bytes, &n);
        if (n == 0) return i;
        if (is_text || (is_spm && is_good)) {
            put_run_character(d, bytes, n, begin == d->first);
        } else {
            put_run_bytes(d, bytes, n);
        }
    }
}

static void put_unknown(decoding *d, size_t i) {
    if (d->unknown++ == 0) d->first_unknown = d->n_before + i;
    if (d->mode != DSTOK_DECODE_REPLACE) return;
    flush(&d->t, &d->p);
    put(&d->t, replacement, sizeof replacement);
}

/* ---- one token after another: the definition ---- */

static dstok_status put_next(decoding *d, size_t *i) {
    if (!is_known(d, *i)) {
        if (d->mode == DSTOK_DECODE_LOSSLESS || d->mode == DSTOK_DECODE_STRICT)
            return bad_id(d->ids[*i], d->n_before + *i, d->tok, d->err);
        put_unknown(d, *i);
        ++*i;
    } else if (d->has_runs && dstok__decoding_is_byte(d, *i)) {
        *i = put_byte_run(d, *i);
    } else {
        if (dstok__decoding_is_shown(d, *i)) put_token(d, *i);
        ++*i;
    }
    return DSTOK_OK;
}

/* ---- many plain tokens at once ---- */

/* Up to which id tokens come out as their bytes, wherever they stand; i: not now. */
static size_t plain_end(const decoding *d, size_t i) {
    const target *t = &d->t;
    if (t->strip_start > 0 || t->strip_stop > 0 || d->p.n > 0) return i;
    if (d->tok->plan->spm_strip != 0 && !d->spm_started) return i;
    size_t end = d->n;
    if (d->first >= i && d->first < end) end = d->first;
    if (d->last >= i && d->last < end) end = d->last;
    return end;
}

/* Mode replace: the bytes come out as they are, some thousand at a time, and are looked at afterwards. From the
 * first that are no UTF-8 on they are put again. */
static size_t put_checked(decoding *d, size_t i, size_t end) {
    uint8_t own[4096];
    target *t = &d->t;
    bool has_room = t->n <= t->cap && t->cap - t->n >= sizeof own;
    uint8_t *out = has_room ? t->out + t->n : own;
    size_t n;
    i = dstok__rows_copy(&d->rows, i, end, out, sizeof own, &n);
    size_t good = d->utf8_check(out, n);
    if (has_room) {
        t->n += good;
    } else {
        put_now(t, own, good);
    }
    if (good < n) { /* maybe only because the last character goes on in the next token */
        memmove(own, out + good, n - good);
        put_text(t, &d->p, own, n - good);
    }
    return i;
}

/* Puts tokens from i on as long as that is easy; returns the index behind them, which may be i. */
static size_t put_plain(decoding *d, size_t i) {
    target *t = &d->t;
    size_t end = plain_end(d, i), n = 0;
    if (end == i) return i;
    if (d->mode == DSTOK_DECODE_REPLACE) return put_checked(d, i, end);
    if (t->n >= t->cap) {
        i = dstok__rows_count(&d->rows, i, end, &n);
    } else {
        i = dstok__rows_copy(&d->rows, i, end, t->out + t->n, t->cap - t->n, &n);
    }
    t->n += n;
    return i;
}

dstok_status dstok__decoding_run(decoding *d) {
    find_ends(d);
    dstok__rows_begin(&d->rows);
    for (size_t i = 0, begin; i < d->n;) {
        begin = i;
        i = put_plain(d, i);
        if (i == begin) DSTOK_TRY(put_next(d, &i));
    }
    if (!d->is_last) return DSTOK_OK;
    flush(&d->t, &d->p);
    finish(&d->t);
    return DSTOK_OK;
}

void dstok__decoding_start(decoding *d, const dstok_tokenizer *tok, int mode, int skip_special) {
    const dstok__dec_plan *plan = tok->plan;
    *d = (decoding){.tok = tok, .mode = mode, .skip_special = skip_special, .is_last = true};
    d->first_unknown = DSTOK_NO_OFFSET;
    d->utf8_check = dstok__simd_best(DSTOK__N_TIERS)->utf8_check;
    d->has_runs = mode == DSTOK_DECODE_REPLACE || plan->run_char != 0;
    d->t.strip_n = dstok__utf8_put(d->t.strip, plan->strip_char);
    d->t.strip_start = plan->strip_start;
    d->t.strip_stop = plan->strip_stop;
    d->rows = (dstok__rows){
        .t = &tok->t,
        .rows = tok->rows,
        .n_rows = tok->n_rows,
        .stop = (uint8_t)((skip_special ? DSTOK_TOKEN_SPECIAL : 0) | (d->has_runs ? DSTOK__TOKEN_BYTE : 0))};
}

void dstok__decoding_give(decoding *d, const uint32_t *ids, size_t n) {
    d->ids = d->rows.ids = ids;
    d->n = d->rows.n = n;
}

dstok_status dstok_decode(const dstok_tokenizer *tok, const uint32_t *ids, size_t n, int mode,
                          int skip_special, void *out, size_t cap, size_t *n_out, size_t *n_unknown,
                          dstok_error *err) {
    decoding d;
    if (mode < DSTOK_DECODE_LOSSLESS || mode > DSTOK_DECODE_RAW) {
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "unknown decode mode %d", mode);
    }
    dstok__decoding_start(&d, tok, mode, skip_special);
    dstok__decoding_give(&d, ids, n);
    d.t.out = out;
    d.t.cap = cap;
    d.err = err;
    DSTOK_TRY(dstok__decoding_run(&d));
    *n_out = d.t.n;
    if (n_unknown != NULL) *n_unknown = d.unknown;
    if (d.t.n > cap)
        return dstok__fail(err, DSTOK_E_SPACE, DSTOK_NO_OFFSET, 0, "room for %zu bytes, %zu needed", cap,
                           d.t.n);
    if (mode != DSTOK_DECODE_STRICT) return DSTOK_OK;
    size_t good = d.utf8_check(out == NULL ? (const uint8_t *)"" : out, d.t.n);
    if (good == d.t.n) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_UTF8, good, 0, "the decoded bytes are not UTF-8 from byte %zu on", good);
}
