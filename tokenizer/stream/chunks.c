/* SPDX-License-Identifier: MIT */
/* Chunks out of the text and the tokens that are there: how many tokens a chunk may have, where it is cut,
 * what it holds, and where the next one begins. */
#include "chunker.h"

#include <dstok/align.h>

#include <string.h>

static const uint8_t public_borders[DSTOK__N_BORDERS] = {
    [DSTOK__BORDER_TOKEN] = DSTOK_BORDER_TOKEN,      [DSTOK__BORDER_GRAPHEME] = DSTOK_BORDER_GRAPHEME,
    [DSTOK__BORDER_BLANK] = DSTOK_BORDER_BLANK,      [DSTOK__BORDER_CLAUSE] = DSTOK_BORDER_CLAUSE,
    [DSTOK__BORDER_WRAP] = DSTOK_BORDER_LINE,        [DSTOK__BORDER_SPACED] = DSTOK_BORDER_BLANK,
    [DSTOK__BORDER_LINE] = DSTOK_BORDER_LINE,        [DSTOK__BORDER_DOUBTFUL] = DSTOK_BORDER_WEAK,
    [DSTOK__BORDER_SENTENCE] = DSTOK_BORDER_WEAK,    [DSTOK__BORDER_SURE] = DSTOK_BORDER_SENTENCE,
    [DSTOK__BORDER_ENDED] = DSTOK_BORDER_ENDED_LINE, [DSTOK__BORDER_BLOCK] = DSTOK_BORDER_BLANK_LINE,
    [DSTOK__BORDER_FENCE] = DSTOK_BORDER_FENCE,      [DSTOK__BORDER_HEADING] = DSTOK_BORDER_HEADING,
};

/* The end of the text is none of the classes. */
enum { AT_END = DSTOK__N_BORDERS };

static const uint8_t *text_at(const dstok_chunker *c, uint64_t byte) {
    return c->text + c->text_head + (byte - c->text_base);
}

static uint64_t text_end(const dstok_chunker *c) {
    return c->text_base + c->text_len;
}

/* May a cut there fall into a sentence, a line, a grapheme: what the level wants whole? */
static bool is_forced(const dstok_chunker *c, int class) {
    if (c->o.border == DSTOK_CHUNK_TOKEN) return class == DSTOK__BORDER_TOKEN;
    return class < (c->o.border == DSTOK_CHUNK_LINE ? DSTOK__BORDER_WRAP : DSTOK__BORDER_SPACED);
}

/* ---- finding the end ---- */

static dstok__cut_window window_of(const dstok_chunker *c, size_t low, size_t high) {
    dstok__cut_window w = {
        .borders = {c->text + c->text_head, c->text_len, c->mode},
        .base = c->text_base,
        .begin = c->fresh,
        .spans = c->spans + c->head,
        .n_tokens = c->n_tokens,
        .low = low < high ? low : high,
        .high = high,
        .limit = c->limit,
        .level = c->o.border,
        .inside_tokens = c->again != NULL,
    };
    if (c->mode == DSTOK__MODE_MARKDOWN && c->fences.n > 0)
        w.fences = (dstok__fences){c->fences.spans + c->fences.head, c->fences.n};
    return w;
}

/* Tokens that must be known behind a full chunk, so that the last two can still be made as asked. */
static size_t spare(const dstok_chunker *c) {
    return c->o.balance ? c->limit : c->o.min_tokens;
}

static bool is_ready(const dstok_chunker *c, bool is_end) {
    if (is_end) return c->n_tokens > c->limit;
    if (c->n_tokens <= c->limit + spare(c)) return false;
    return text_end(c) >= c->spans[c->head + c->limit].begin + DSTOK__BORDER_AHEAD;
}

/* How many tokens the next chunk may have. What is left of the text behind it must fit, too. */
static void find_bounds(const dstok_chunker *c, bool is_end, size_t *low, size_t *high) {
    size_t n = c->n_tokens, room = c->limit;
    *low = c->n_old + 1 > c->o.min_tokens ? c->n_old + 1 : c->o.min_tokens;
    *high = room;
    if (!is_end || n <= room) return;
    size_t overlap = c->o.overlap_sentences > 0 ? room / 4 : c->o.overlap;
    if (c->o.balance && n <= 2 * room - overlap) {
        size_t half = (n + overlap) / 2, slack = room / 64, least = n + overlap - room;
        if (half + slack < *high) *high = half + slack;
        if (*low < least) *low = least;
        if (*low < half - slack) *low = half - slack;
    } else if (n - room < c->o.min_tokens) {
        *high = n - c->o.min_tokens;
    }
    if (*high > room) *high = room;
    if (*high <= c->n_old) *high = c->n_old + 1;
    if (*low > *high) *low = *high;
}

/* ---- what a chunk holds ---- */

static dstok_status grow_out(dstok_chunker *c, size_t n) {
    DSTOK_TRY(
        dstok__grow(&c->al, (void **)&c->out_ids, &c->out_ids_cap, n, sizeof *c->out_ids, SIZE_MAX / 32));
    return dstok__grow(&c->al, (void **)&c->out_spans, &c->out_spans_cap, n, sizeof *c->out_spans,
                       SIZE_MAX / 32);
}

/* Puts the template around n tokens whose spans are `shift` bytes before their places in the document. */
static dstok_status put_template(dstok_chunker *c, dstok_chunk *chunk, uint64_t shift) {
    size_t n = chunk->n, n_prefix = c->n_prefix, n_suffix = c->n_template - n_prefix;
    if (c->n_template == 0 && shift == 0) return DSTOK_OK;
    DSTOK_TRY(grow_out(c, n + c->n_template));
    if (n_prefix > 0) memcpy(c->out_ids, c->template, n_prefix * sizeof *c->out_ids);
    if (n > 0) memcpy(c->out_ids + n_prefix, chunk->ids, n * sizeof *c->out_ids);
    if (n_suffix > 0)
        memcpy(c->out_ids + n_prefix + n, c->template + n_prefix, n_suffix * sizeof *c->out_ids);
    for (size_t i = 0; i < n_prefix; i++)
        c->out_spans[i] = (dstok_span){chunk->bytes.begin, chunk->bytes.begin};
    for (size_t i = 0; i < n; i++)
        c->out_spans[n_prefix + i] = (dstok_span){chunk->spans[i].begin + shift, chunk->spans[i].end + shift};
    for (size_t i = n_prefix + n; i < n + c->n_template; i++)
        c->out_spans[i] = (dstok_span){chunk->bytes.end, chunk->bytes.end};
    chunk->ids = c->out_ids;
    chunk->spans = c->out_spans;
    chunk->n = n + c->n_template;
    return DSTOK_OK;
}

static dstok_status put(dstok_chunker *c, const dstok__cut_place *place, const dstok_tokens *again,
                        dstok_error *err) {
    size_t len = (size_t)(place->byte - c->begin);
    uint64_t first = again != NULL ? c->n_given : c->first_token;
    dstok_chunk chunk = {
        .document = c->document,
        .number = c->number,
        .bytes = {c->begin, place->byte},
        .n_overlap = c->fresh - c->begin,
        .border = place->class == AT_END ? DSTOK_BORDER_END : public_borders[place->class],
        .forced = is_forced(c, place->class),
        .ids = again != NULL ? again->ids : c->ids + c->head,
        .spans = again != NULL ? again->spans : c->spans + c->head,
        .n = again != NULL ? again->n : place->n_tokens,
        .text = text_at(c, c->begin),
        .text_len = len,
    };
    chunk.tokens = (dstok_span){first, first + chunk.n};
    chunk.chars =
        (dstok_span){c->begin_char, c->begin_char + dstok_text_length(chunk.text, len, DSTOK_UNIT_CHAR)};
    c->n_given += chunk.n;
    if (put_template(c, &chunk, again != NULL ? c->begin : 0) != DSTOK_OK)
        return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory for a chunk");
    c->number++;
    c->begin_char = chunk.chars.end;
    if (c->sink(c->context, &chunk) == 0) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_CANCELED, DSTOK_NO_OFFSET, 0, "the caller asked to stop");
}

/* ---- going on behind it ---- */

/* The next chunk begins at a byte, n tokens from here. */
static void move_on(dstok_chunker *c, size_t n, uint64_t byte) {
    c->head += n;
    c->n_tokens -= n;
    c->first_token += n;
    c->begin = byte;
    uint64_t keep = byte > DSTOK__BORDER_BACK ? byte - DSTOK__BORDER_BACK : 0;
    if (keep > c->text_base) {
        size_t gone = (size_t)(keep - c->text_base);
        c->text_head += gone;
        c->text_len -= gone;
        c->text_base = keep;
    }
    while (c->fences.n > 0 && c->fences.spans[c->fences.head].end < keep) {
        c->fences.head++;
        c->fences.n--;
    }
}

static void begin_next(dstok_chunker *c, const dstok__cut_place *place) {
    size_t n = place->n_tokens;
    dstok__cut_place from = {n, place->byte, DSTOK__BORDER_NONE};
    bool is_inside =
        c->again != NULL && n > 0 && place->byte < c->spans[c->head + n - 1].end; /* of a token */
    if (is_inside) from.n_tokens = n - 1;
    if (from.n_tokens == n && (c->o.overlap > 0 || c->o.overlap_sentences > 0)) {
        dstok__cut_window w = window_of(c, 1, n);
        size_t most = c->o.overlap_sentences > 0 ? c->limit / 4 : c->o.overlap;
        w.begin = c->begin;
        from = dstok__cut_back(&w, place, most, c->o.overlap_sentences);
    }
    uint64_t len = place->byte - from.byte;
    c->begin_char -= dstok_text_length(text_at(c, from.byte), (size_t)len, DSTOK_UNIT_CHAR);
    c->fresh = place->byte;
    c->n_old = n - from.n_tokens;
    if (len == 0) c->n_old = 0;
    move_on(c, from.n_tokens, from.byte);
}

/* The chunk begins where the one before it ended, after all. */
static void drop_overlap(dstok_chunker *c) {
    size_t len = (size_t)(c->fresh - c->begin);
    c->begin_char += dstok_text_length(text_at(c, c->begin), len, DSTOK_UNIT_CHAR);
    move_on(c, c->n_old, c->fresh);
    c->n_old = 0;
}

/* ---- one chunk ---- */

static dstok_status no_place(const dstok_chunker *c, dstok_error *err) {
    return dstok__fail(err, DSTOK_E_LIMIT, c->begin, 0,
                       "a character has more tokens by itself than max_tokens, or what a token holds has");
}

/* The ids of the chunk's own text; when they are too many, *place moves back until they fit. */
static dstok_status fit(dstok_chunker *c, dstok__cut_place *place, dstok_tokens *t, dstok_error *err) {
    for (;;) {
        dstok_error inner;
        if (place->byte <= c->fresh) return no_place(c, err);
        dstok_status status = dstok_encode_view(c->again, text_at(c, c->begin),
                                                (size_t)(place->byte - c->begin), &c->plain, t, &inner);
        if (status != DSTOK_OK && err != NULL) {
            *err = inner;
            if (err->offset != DSTOK_NO_OFFSET) err->offset += c->begin;
        }
        if (status != DSTOK_OK || t->n <= c->limit) return status;
        size_t excess = t->n - c->limit,
               n = place->n_tokens < c->n_tokens ? place->n_tokens : c->n_tokens - 1;
        uint64_t before = place->byte;
        size_t high = n > excess + c->n_old ? n - excess : c->n_old + 1;
        if (high >= c->n_tokens) high = c->n_tokens - 1;
        dstok__cut_window w = window_of(c, c->n_old + 1, high);
        *place = dstok__cut_find(&w);
        if (place->byte >= before) return no_place(c, err);
    }
}

static dstok_status give(dstok_chunker *c, dstok__cut_place place, dstok_error *err) {
    dstok_tokens t;
    bool is_again = c->again != NULL;
    if (is_again) DSTOK_TRY(fit(c, &place, &t, err));
    DSTOK_TRY(put(c, &place, is_again ? &t : NULL, err));
    if (place.class == AT_END) {
        c->n_tokens = 0;
        c->fresh = c->begin = place.byte;
    } else {
        begin_next(c, &place);
    }
    return DSTOK_OK;
}

static dstok_status cut_one(dstok_chunker *c, bool is_end, dstok_error *err) {
    size_t low, high;
    find_bounds(c, is_end, &low, &high);
    dstok__cut_window w = window_of(c, low, high);
    dstok__cut_place place = dstok__cut_find(&w);
    if (is_forced(c, place.class) && low > c->n_old + 1) { /* rather a short chunk than part of a sentence */
        w = window_of(c, c->n_old + 1, high);
        place = dstok__cut_find(&w);
    }
    if (c->n_old > 0 && is_forced(c, place.class)) {
        drop_overlap(c);
        return DSTOK_OK;
    }
    return give(c, place, err);
}

dstok_status dstok__chunks_give(dstok_chunker *c, bool is_end, dstok_error *err) {
    while (is_ready(c, is_end)) DSTOK_TRY(cut_one(c, is_end, err));
    while (is_end && text_end(c) > c->fresh) {
        DSTOK_TRY(give(c, (dstok__cut_place){c->n_tokens, text_end(c), AT_END}, err));
        while (is_ready(c, is_end)) DSTOK_TRY(cut_one(c, is_end, err));
    }
    return DSTOK_OK;
}
