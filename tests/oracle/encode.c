/* SPDX-License-Identifier: MIT */
/* The oracle's encoder: each rule as a loop over everything, nothing remembered, nothing clever. */
#include "inside.h"

#include "../../data/unicode/unicode.h"
#include "../../tokenizer/text/utf8.h"

#include <stdlib.h>

/* ---- results ---- */

static void put(oracle_tokens *out, uint32_t id, uint64_t begin, uint64_t end, unsigned flags) {
    if (out->n == out->cap) {
        out->cap = 2 * out->cap + 64;
        out->ids = realloc(out->ids, out->cap * sizeof *out->ids);
        out->spans = realloc(out->spans, out->cap * sizeof *out->spans);
        out->flags = realloc(out->flags, out->cap);
        if (out->ids == NULL || out->spans == NULL || out->flags == NULL) exit(1);
    }
    out->ids[out->n] = id;
    out->spans[out->n] = (dstok_span){begin, end};
    out->flags[out->n++] = (uint8_t)flags;
}

void oracle_tokens_free(oracle_tokens *out) {
    free(out->ids);
    free(out->spans);
    free(out->flags);
    *out = (oracle_tokens){0};
}

/* ---- merging one pretoken ---- */

typedef struct symbol {
    uint32_t id;
    size_t begin, end; /* bytes of the pretoken */
} symbol;

static void remove_symbol(symbol *s, size_t *n, size_t i) {
    memmove(&s[i], &s[i + 1], (*n - i - 1) * sizeof *s);
    --*n;
}

/* tokenizer.json: while any two neighbours have a merge, apply the one of lowest rank, the leftmost on ties. */
static void merge_by_list(const oracle *o, symbol *s, size_t *n) {
    for (;;) {
        const merge *best = NULL;
        size_t at = 0;
        for (size_t i = 0; i + 1 < *n; i++) {
            const merge *m = oracle_merge(o, s[i].id, s[i + 1].id);
            if (m != NULL && (best == NULL || m->rank < best->rank)) {
                best = m;
                at = i;
            }
        }
        if (best == NULL) return;
        s[at].id = best->product;
        s[at].end = s[at + 1].end;
        remove_symbol(s, n, at + 1);
    }
}

/* Rank files: while the bytes of any two neighbours are a token together, join those of lowest rank, the leftmost on
 * ties. */
static void merge_by_bytes(const oracle *o, const uint8_t *piece, symbol *s, size_t *n) {
    for (;;) {
        uint32_t best = NO_ID;
        size_t at = 0;
        for (size_t i = 0; i + 1 < *n; i++) {
            uint32_t rank = oracle_find(o, piece + s[i].begin, s[i + 1].end - s[i].begin);
            if (rank < best) {
                best = rank;
                at = i;
            }
        }
        if (best == NO_ID) return;
        s[at].id = best;
        s[at].end = s[at + 1].end;
        remove_symbol(s, n, at + 1);
    }
}

/* The symbols of a word before merging, in the reference's order. An unknown one that waits is put out before
 * the next
 * token that is known; the bytes of byte_fallback do not count as known, so they overtake it. */
typedef struct word {
    symbol *s;
    size_t n;
    bool waits;
    symbol unknown;
} word;

static void put_waiting(word *w) {
    if (w->waits) w->s[w->n++] = w->unknown;
    w->waits = false;
}

/* The byte's token "<0xE4>", or NO_ID. */
static uint32_t fallback(const oracle *o, uint8_t byte) {
    char name[8];
    snprintf(name, sizeof name, "<0x%02X>", byte);
    return oracle_find(o, (const uint8_t *)name, 6);
}

/* text[0, n): prefix, character, suffix; the character is the piece's [at, at + width), behind `head` bytes of
 * prefix. */
static bool put_bytes(const oracle *o, word *w, const uint8_t *text, size_t n, size_t head, size_t at,
                      size_t width) {
    for (size_t i = 0; i < n; i++) {
        if (fallback(o, text[i]) == NO_ID) return false;
    }
    for (size_t i = 0; i < n; i++) {
        size_t k = i < head ? 0 : i - head < width ? i - head : width;
        bool own = i >= head && i - head < width;
        w->s[w->n++] = (symbol){fallback(o, text[i]), at + k, at + k + own};
    }
    return true;
}

static void put_unknown(const oracle *o, word *w, size_t at, size_t width) {
    if (o->unk == NO_ID) return; /* it vanishes */
    if (w->waits && o->fuse_unk) {
        w->unknown.end = at + width;
        return;
    }
    put_waiting(w);
    w->waits = true;
    w->unknown = (symbol){o->unk, at, at + width};
}

static void put_atom(const oracle *o, word *w, const uint8_t *piece, size_t len, size_t at, size_t width) {
    char text[256];
    size_t head = at > 0 ? strlen(o->prefix) : 0;
    int n = snprintf(text, sizeof text, "%.*s%.*s%s", (int)head, o->prefix, (int)width,
                     (const char *)piece + at, at + width == len ? o->suffix : "");
    size_t size = (size_t)n;
    if (piece[at] == 0) { /* no C string */
        text[head] = 0;
        size = head + 1 + (at + width == len ? strlen(o->suffix) : 0);
        memcpy(text + head + 1, o->suffix, size - head - 1);
    }
    uint32_t id = oracle_find(o, (const uint8_t *)text, size);
    if (id != NO_ID) {
        put_waiting(w);
        w->s[w->n++] = (symbol){id, at, at + width};
    } else if (!o->byte_fallback || !put_bytes(o, w, (const uint8_t *)text, size, head, at, width)) {
        put_unknown(o, w, at, width);
    }
}

/* Spans must not go back: symbols that stand in another order than their text share its whole range. */
static void share_ranges(symbol *s, size_t n) {
    for (size_t i = 0; i < n;) {
        size_t begin = s[i].begin, end = s[i].end, k = i + 1;
        for (size_t j = i + 1; j < n;
             j++) { /* all up to the last one that begins before the end of those before it */
            if (s[j].begin < end) {
                for (; k <= j; k++) {
                    if (s[k].begin < begin) begin = s[k].begin;
                    if (s[k].end > end) end = s[k].end;
                }
            }
        }
        bool is_shared = k > i + 1;
        for (; i < k; i++) {
            if (is_shared) s[i] = (symbol){s[i].id, begin, end};
        }
    }
}

static size_t encode_piece(const oracle *o, const uint8_t *piece, size_t len, symbol *s) {
    uint32_t whole = o->whole_pieces ? oracle_find(o, piece, len) : NO_ID;
    if (whole != NO_ID) {
        s[0] = (symbol){whole, 0, len};
        return 1;
    }
    word w = {.s = s};
    for (size_t at = 0, width = 1; at < len; at += width) {
        if (o->by_characters) dstok__utf8_get(piece + at, &width);
        put_atom(o, &w, piece, len, at, width);
    }
    put_waiting(&w);
    share_ranges(s, w.n);
    if (o->is_ranks) {
        merge_by_bytes(o, piece, s, &w.n);
    } else {
        merge_by_list(o, s, &w.n);
    }
    return w.n;
}

/* ---- a stretch of text between added tokens ---- */

/* Text with, for each of its bytes, the range of the caller's text that it came from. */
typedef struct traced {
    uint8_t *text;
    dstok_span *from;
    size_t n;
    uint64_t end; /* where the caller's text ends */
} traced;

static traced new_traced(size_t n) {
    return (traced){oracle_memory(n), oracle_memory(n * sizeof(dstok_span)), 0, 0};
}

static void free_traced(traced *t) {
    free(t->text);
    free(t->from);
}

static void put_traced(traced *t, uint8_t byte, uint64_t begin, uint64_t end) {
    t->text[t->n] = byte;
    t->from[t->n++] = (dstok_span){begin, end};
}

/* The normalised text. Bytes outside of edits come from one byte; those of an edit from all of its source. */
static traced normalise(oracle *o, const uint8_t *text, size_t len, size_t base) {
    dstok__normalized *norm = &o->normalized;
    dstok__regex_scratch *regex = dstok__pretok_scratch_regex(o->scratch);
    if (dstok__normalize(norm, o->normalizer, regex, text, len, 1 << 30, NULL) != DSTOK_OK) exit(1);
    traced t = new_traced(norm->len);
    size_t source = base;
    for (size_t e = 0; e <= norm->n_edits; e++) {
        size_t stop = e < norm->n_edits ? norm->edits[e].out : norm->len;
        for (; t.n < stop; source++) put_traced(&t, norm->text[t.n], source, source + 1);
        if (e == norm->n_edits) break;
        stop = norm->edits[e].out + norm->edits[e].out_n;
        while (t.n < stop) put_traced(&t, norm->text[t.n], source, source + norm->edits[e].src_n);
        source += norm->edits[e].src_n;
    }
    t.end = base + len;
    return t;
}

typedef struct run {
    oracle *o;
    const traced *t;
    size_t base; /* of the piece in t */
    oracle_tokens *out;
} run;

/* Does a character go on at this place of the pretoken's text? */
static bool is_inside(const run *r, const dstok__pretoken *p, size_t at) {
    if (p->level != NULL) return at < p->level->text.len && dstok__is_continuation(p->text[at]);
    return r->base + at < r->t->n && dstok__is_continuation(r->t->text[r->base + at]);
}

/* A part of a character, or a range that is a neighbour's, too. */
static bool is_partial(const run *r, const dstok__pretoken *p, const symbol *s, size_t n, size_t i) {
    return is_inside(r, p, p->begin + s[i].begin) || is_inside(r, p, p->begin + s[i].end) ||
           (i > 0 && s[i].begin < s[i - 1].end) || (i + 1 < n && s[i + 1].begin < s[i].end);
}

static uint64_t source_begin(const traced *t, size_t at) {
    return at < t->n ? t->from[at].begin : t->end;
}

/* Of an empty token: nothing; but among the bytes of one changed character it shares their range. */
static uint64_t source_end(const traced *t, size_t at) {
    bool is_among = at > 0 && at < t->n && t->from[at].begin < t->from[at - 1].end;
    return is_among ? t->from[at].end : source_begin(t, at);
}

/* A dstok__piece_fn: one pretoken. */
static dstok_status encode_pretoken(void *ctx, const dstok__pretoken *p) {
    run *r = ctx;
    size_t most = (p->end - p->begin) * (1 + strlen(r->o->prefix)) + strlen(r->o->suffix);
    symbol *s = oracle_memory(most * sizeof *s);
    size_t n = encode_piece(r->o, p->text + p->begin, p->end - p->begin, s);
    for (size_t i = 0; i < n; i++) {
        dstok_span at = {p->begin + s[i].begin, p->begin + s[i].end};
        unsigned flags = is_partial(r, p, s, n, i) ? DSTOK_FLAG_PARTIAL : 0;
        if (p->level != NULL) at = dstok__level_map(p->level, (size_t)at.begin, (size_t)at.end);
        size_t b = r->base + (size_t)at.begin, e = r->base + (size_t)at.end;
        if (s[i].id == r->o->unk) flags |= DSTOK_FLAG_UNKNOWN;
        put(r->out, s[i].id, source_begin(r->t, b), e > b ? r->t->from[e - 1].end : source_end(r->t, b),
            flags);
    }
    free(s);
    return DSTOK_OK;
}

static bool encode_plain(oracle *o, const traced *t, size_t begin, size_t end, oracle_tokens *out) {
    if (begin == end) return true;
    run r = {o, t, begin, out};
    dstok_error err = {.status = DSTOK_OK};
    size_t n_first = 0;
    while (begin + n_first < end && t->from[begin + n_first].begin == 0) n_first++;
    dstok_status status = dstok__pretok_run(o->pretok, o->scratch, t->text + begin, end - begin, n_first,
                                            false, encode_pretoken, &r, &err);
    if (status != DSTOK_OK) fprintf(stderr, "oracle: %s\n", err.text);
    return status == DSTOK_OK;
}

/* ---- added tokens ---- */

/* The longest added token of one kind that stands at text[at]. */
static const added *longest_added(const oracle *o, const uint8_t *text, size_t len, size_t at,
                                  bool normalized) {
    const added *best = NULL;
    for (size_t i = 0; i < o->n_added; i++) {
        const added *a = &o->added[i];
        if (a->normalized != normalized || a->n == 0 || a->n > len - at || a->text[0] != text[at]) continue;
        if (memcmp(a->text, text + at, a->n) == 0 && (best == NULL || a->n >= best->n)) best = a;
    }
    return best;
}

static bool is_word_before(const uint8_t *text, size_t at) {
    size_t width;
    return at > 0 && dstok__uc_is_word(dstok__utf8_before(text + at, &width));
}

static bool is_word_at(const uint8_t *text, size_t len, size_t at) {
    size_t width;
    return at < len && dstok__uc_is_word(dstok__utf8_get(text + at, &width));
}

/* Calls of cut_added: the text before a token, then the token; text alone at the end (a = NULL). */
typedef bool part_fn(oracle *o, const traced *t, size_t begin, size_t end, int special, oracle_tokens *out);

static void put_added(const added *a, const traced *t, size_t begin, size_t end, oracle_tokens *out) {
    put(out, a->id, t->from[begin].begin, t->from[end - 1].end, DSTOK_FLAG_ADDED);
}

/* Goes through t from left to right: at each place the longest token counts; under TEXT special ones are passed over;
 * lstrip and rstrip take in blanks. Text between tokens goes to `plain`. */
static bool cut_added(oracle *o, const traced *t, bool normalized, int special, part_fn *plain,
                      oracle_tokens *out) {
    size_t done = 0, at = 0;
    while (at < t->n && special != DSTOK_SPECIAL_PLAIN) {
        const added *a = longest_added(o, t->text, t->n, at, normalized);
        if (a == NULL) {
            at++;
            continue;
        }
        size_t begin = at, end = at + a->n, width;
        at = end;
        if (a->special && special == DSTOK_SPECIAL_TEXT) continue;
        if (a->single_word && (is_word_before(t->text, begin) || is_word_at(t->text, t->n, end))) continue;
        while (a->lstrip && begin > done && dstok__uc_is_space(dstok__utf8_before(t->text + begin, &width))) {
            begin -= width;
        }
        while (a->rstrip && end < t->n && dstok__uc_is_space(dstok__utf8_get(t->text + end, &width)))
            end += width;
        if (!plain(o, t, done, begin, special, out)) return false;
        put_added(a, t, begin, end, out);
        done = at = end;
    }
    return plain(o, t, done, t->n, special, out);
}

static bool plain_after_normalising(oracle *o, const traced *t, size_t begin, size_t end, int special,
                                    oracle_tokens *out) {
    (void)special;
    return encode_plain(o, t, begin, end, out);
}

/* Text that no raw token claims: normalised on its own, then searched for the other tokens. */
static bool plain_before_normalising(oracle *o, const traced *t, size_t begin, size_t end, int special,
                                     oracle_tokens *out) {
    traced norm = normalise(o, t->text + begin, end - begin, begin);
    bool ok = cut_added(o, &norm, true, special, plain_after_normalising, out);
    free_traced(&norm);
    return ok;
}

bool oracle_encode(oracle *o, const uint8_t *text, size_t n, int special, oracle_tokens *out) {
    traced whole = new_traced(n);
    for (size_t i = 0; i < n; i++) put_traced(&whole, text[i], i, i + 1);
    whole.end = n;
    out->n = 0;
    bool ok = cut_added(o, &whole, false, special, plain_before_normalising, out);
    free_traced(&whole);
    return ok;
}
