/* SPDX-License-Identifier: MIT */
/* Spans as Hugging Face gives them: each token has a range of the text that is merged, each byte of that text
 * the place
 * of one source character, and a span goes from the begin of the first byte's to the end of the last one's. */
#include "job.h"

#include "../../data/unicode/unicode.h"
#include "../text/utf8.h"

/* ---- from byte to character ---- */

/* The byte below that a byte of a normalised text is placed at; false: nowhere, which is the begin without any
 * width. */
static bool step_down(const dstok__normalized *n, size_t *at) {
    if (n->n_edits == 0) return true;
    if (n->from[*at] == DSTOK__NOWHERE) return false;
    *at = n->from[*at];
    return true;
}

/* The source range of the character of the stretch that holds this byte. */
static dstok_span character_at(const job *j, size_t at) {
    size_t begin = at, end = at + 1;
    if (!j->is_raw) {
        while (begin > 0 && dstok__is_continuation(j->stretch[begin])) begin--;
        while (end < j->stretch_len && dstok__is_continuation(j->stretch[end])) end++;
    }
    begin += j->base;
    end += j->base;
    if (!j->is_replaced) return (dstok_span){begin, end};
    return dstok__map_range_at(&j->enc->valid, begin, end);
}

static dstok_span place_of_norm(const job *j, size_t at) {
    if (!j->is_edited || step_down(&j->enc->stretch, &at)) return character_at(j, at);
    uint64_t begin = character_at(j, 0).begin;
    return (dstok_span){begin, begin};
}

static dstok_span place_of_piece(const job *j, size_t at) {
    for (const dstok__level *level = j->piece->level; level != NULL; level = level->below) {
        (void)step_down(&level->text, &at); /* a prefix has the place of the first character */
        at += level->base;
    }
    return place_of_norm(j, at + j->piece_base);
}

dstok_span dstok__hf_norm(job *j, size_t begin, size_t end) {
    if (begin == end) {
        uint64_t at = dstok__job_norm_to_source(j, begin, begin).begin;
        return (dstok_span){at, at};
    }
    return (dstok_span){place_of_norm(j, begin).begin, place_of_norm(j, end - 1).end};
}

/* ---- from the merged text to bytes ---- */

size_t dstok__hf_width(const job *j, uint8_t byte) {
    if (j->tok->options & DSTOK__T_CHAR_ATOMS) return 1;
    return byte > 0x20 && byte < 0x7F ? 1 : 2; /* the byte-level alphabet in UTF-8 */
}

/* The byte of the pretoken that stands at a place of the merged text. */
static size_t byte_at(job *j, size_t at) {
    const uint8_t *text = j->piece->text + j->piece->begin;
    size_t n = j->piece->end - j->piece->begin;
    dstok__hf_walk *w = &j->hf;
    if (w->at > at) *w = (dstok__hf_walk){0, 0};
    while (w->byte + 1 < n && w->at + dstok__hf_width(j, text[w->byte]) <= at)
        w->at += dstok__hf_width(j, text[w->byte++]);
    return w->byte;
}

dstok_span dstok__hf_part(job *j, size_t begin, size_t end) {
    size_t first = byte_at(j, begin), last = byte_at(j, end > begin ? end - 1 : begin);
    return (dstok_span){place_of_piece(j, j->piece->begin + first).begin,
                        place_of_piece(j, j->piece->begin + last).end};
}

/* ---- trimming ---- */

/* The byte-level character of the blank; the reference counts it as one, whatever it stands for. */
#define BLANK_SHOWN 0x120u

/* How many blanks a text begins or ends with. */
static size_t blanks(const uint8_t *text, size_t n, bool at_end) {
    size_t done = 0, count = 0, width;
    for (; done < n; done += width, count++) {
        uint32_t cp =
            at_end ? dstok__utf8_before(text + n - done, &width) : dstok__utf8_get(text + done, &width);
        if (cp != BLANK_SHOWN && !dstok__uc_is_space(cp)) break;
    }
    return count;
}

/* The same of bytes: of their byte-level characters only that of the blank is one. */
static size_t byte_blanks(const uint8_t *text, size_t n, bool at_end) {
    size_t count = 0;
    while (count < n && text[at_end ? n - 1 - count : count] == ' ') count++;
    return count;
}

static bool goes_on(const job *j, uint64_t at) {
    return at < j->source_len && dstok__is_continuation(j->source[at]);
}

/* n characters off the begin of a span, as far as it goes. */
static uint64_t step_forward(const job *j, dstok_span span, size_t n) {
    uint64_t at = span.begin;
    for (; n > 0 && at < span.end; n--) {
        do at++;
        while (goes_on(j, at));
    }
    return at < span.end ? at : span.end;
}

/* n characters off its end; nothing at all where the source has fewer before it. */
static uint64_t step_back(const job *j, dstok_span span, size_t n) {
    uint64_t at = span.end;
    for (; n > 0; n--) {
        if (at == 0) return span.end;
        do at--;
        while (at > 0 && goes_on(j, at));
    }
    return at > span.begin ? at : span.begin;
}

static dstok_span trim(const job *j, dstok_span span, size_t lead, size_t trail) {
    bool is_first = j->enc->out.n == j->n_before || span.begin == 0;
    if (is_first && lead == 1 && (j->tok->options & DSTOK__T_TRIM_PREFIX)) lead = 0; /* put there */
    if (lead > 0) span.begin = step_forward(j, span, lead);
    if (trail > 0) span.end = step_back(j, span, trail);
    return span;
}

dstok_span dstok__hf_trim_text(const job *j, const uint8_t *text, size_t n, dstok_span span) {
    if (!(j->tok->options & DSTOK__T_TRIM)) return span;
    return trim(j, span, blanks(text, n, false), blanks(text, n, true));
}

dstok_span dstok__hf_trim(const job *j, uint32_t id, dstok_span span) {
    if (!(j->tok->options & DSTOK__T_TRIM) || id >= j->tok->n_ids) return span;
    dstok__ref ref = j->tok->t.texts[id];
    const uint8_t *text = j->tok->t.strings + ref.at;
    if (j->tok->options & DSTOK__T_CHAR_ATOMS) return dstok__hf_trim_text(j, text, ref.n, span);
    return trim(j, span, byte_blanks(text, ref.n, false), byte_blanks(text, ref.n, true));
}
