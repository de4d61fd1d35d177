/* SPDX-License-Identifier: MIT */
/* Looks back from the limit, token by token, through windows that grow until one holds a border good enough. */
#include "cut.h"

#include "../../align/breaks.h"

/* Slots: classes, where sure sentences have one for each of their grades. */
enum {
    SLOT_SURE = DSTOK__BORDER_SURE, /* grades 0 and 1; then 2, then 3 */
    N_SLOTS = DSTOK__N_BORDERS + 2
};

#define FROM(slot) (~0u << (slot))
#define ONLY(slot) (1u << (slot))
#define PARAGRAPHS FROM(DSTOK__BORDER_BLOCK + 2)
#define LINES      FROM(DSTOK__BORDER_ENDED + 2)

/* A window of limit / part tokens, and the slots that will do in it. */
typedef struct step {
    unsigned part, slots;
} step;

#define SENTENCE_STEPS                                                                                       \
    {256, FROM(SLOT_SURE + 1)}, {64, FROM(SLOT_SURE + 1)}, {32, FROM(SLOT_SURE)}, {16, FROM(SLOT_SURE)},     \
        {16, FROM(DSTOK__BORDER_SENTENCE)}, {16, FROM(DSTOK__BORDER_DOUBTFUL)},                              \
        {16, FROM(DSTOK__BORDER_LINE)}, {16, FROM(DSTOK__BORDER_SPACED)}, {4, FROM(DSTOK__BORDER_LINE)},     \
        {1, FROM(DSTOK__BORDER_LINE)}, {                                                                     \
        1, FROM(DSTOK__BORDER_SPACED)                                                                        \
    }
#define PARTS_STEPS                                                                                          \
    {64, FROM(DSTOK__BORDER_WRAP)}, {16, FROM(DSTOK__BORDER_WRAP)}, {64, FROM(DSTOK__BORDER_CLAUSE)},        \
        {16, FROM(DSTOK__BORDER_CLAUSE)}, {16, FROM(DSTOK__BORDER_BLANK)}, {1, FROM(DSTOK__BORDER_BLANK)}, { \
        0, 0                                                                                                 \
    }

static const step sentence_steps[] = {SENTENCE_STEPS, PARTS_STEPS};
static const step paragraph_steps[] = {{16, PARAGRAPHS}, {4, PARAGRAPHS}, {1, PARAGRAPHS}, {16, LINES},
                                       {1, LINES},       SENTENCE_STEPS,  PARTS_STEPS};
static const step line_steps[] = {{256, LINES | ONLY(DSTOK__BORDER_LINE)},
                                  {16, LINES | ONLY(DSTOK__BORDER_LINE)},
                                  {1, LINES | ONLY(DSTOK__BORDER_LINE) | ONLY(DSTOK__BORDER_WRAP)},
                                  PARTS_STEPS};
static const step token_steps[] = {{0, 0}};
static const step code_steps[] = {{16, PARAGRAPHS},
                                  {4, LINES},
                                  {16, FROM(DSTOK__BORDER_LINE)},
                                  {4, FROM(DSTOK__BORDER_LINE)},
                                  {1, FROM(DSTOK__BORDER_LINE)},
                                  PARTS_STEPS};

static const step *const steps_of[] = {
    [DSTOK__LEVEL_SENTENCE] = sentence_steps,
    [DSTOK__LEVEL_PARAGRAPH] = paragraph_steps,
    [DSTOK__LEVEL_LINE] = line_steps,
    [DSTOK__LEVEL_TOKEN] = token_steps,
};

/* What was seen so far, looking back. */
typedef struct search {
    const dstok__cut_window *w;
    size_t next; /* the token before which the next places are */
    unsigned seen;
    unsigned score[N_SLOTS];
    dstok__cut_place place[N_SLOTS];
} search;

static unsigned slot_of(unsigned score) {
    unsigned class = score >> 8, grade = score & 0xFF;
    if (class < DSTOK__BORDER_SURE) return class;
    return class == DSTOK__BORDER_SURE ? class + (grade > 1 ? grade - 1 : 0) : class + 2;
}

/* ---- places ---- */

/* Do the tokens part cleanly before token i, at a byte of the text where a character begins? */
static bool is_clean(const dstok__cut_window *w, size_t i, uint64_t byte) {
    const dstok__border_text *b = &w->borders;
    if (w->spans[i].begin < w->spans[i - 1].end) return false;
    if (byte <= w->begin || byte - w->base >= b->len) return false;
    size_t at = (size_t)(byte - w->base);
    return (b->text[at] & 0xC0) != 0x80 || dstok__char_of(b->text, b->len, at) == at;
}

/* In a fenced block the begins of its lines come after all whole borders; the end of the block is better
 * than others. */
static unsigned fenced(const dstok__cut_window *w, uint64_t byte, unsigned score) {
    size_t low = 0, high = w->fences.n;
    while (low < high) { /* the first block that begins at byte or behind it */
        size_t middle = (low + high) / 2;
        if (w->fences.spans[middle].begin < byte)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || score >> 8 < DSTOK__BORDER_WRAP) return score;
    const dstok_span *s = &w->fences.spans[low - 1];
    if (byte < s->end) return DSTOK__SCORE(DSTOK__BORDER_WRAP, (score >> 8) - DSTOK__BORDER_WRAP);
    bool is_end = byte == s->end && score >> 8 < DSTOK__BORDER_FENCE;
    return is_end ? DSTOK__SCORE(DSTOK__BORDER_FENCE, 1) : score;
}

static void note(search *s, size_t n_tokens, uint64_t byte) {
    const dstok__cut_window *w = s->w;
    unsigned score = dstok__border_score(&w->borders, (size_t)(byte - w->base));
    if (score == 0) return;
    if (w->fences.n > 0) score = fenced(w, byte, score);
    unsigned slot = slot_of(score);
    if ((s->seen >> slot & 1) && s->score[slot] >= score) return;
    s->seen |= 1u << slot;
    s->score[slot] = score;
    s->place[slot] = (dstok__cut_place){n_tokens, byte, (int)(score >> 8)};
}

/* Places inside token i - 1, from its end. */
static void note_inside(search *s, size_t i) {
    const dstok_span *span = &s->w->spans[i - 1];
    for (uint64_t byte = span->end; byte-- > span->begin + 1;)
        if (is_clean(s->w, i, byte) && byte > s->w->spans[i - 1].begin) note(s, i, byte);
}

/* All places down to the one before token `down`. */
static void look_back(search *s, size_t down) {
    const dstok__cut_window *w = s->w;
    for (; s->next >= down && s->next >= w->low; s->next--) {
        size_t i = s->next;
        uint64_t begin = w->spans[i].begin, end = w->spans[i - 1].end;
        if (is_clean(w, i, begin)) note(s, i, begin);
        if (end < begin && is_clean(w, i, end)) note(s, i, end); /* what is between has no token */
        if (w->inside_tokens) note_inside(s, i);
    }
}

static bool take(const search *s, unsigned slots, dstok__cut_place *out) {
    for (unsigned slot = N_SLOTS; slot-- > 0;) {
        if (!(s->seen & slots & 1u << slot)) continue;
        *out = s->place[slot];
        return true;
    }
    return false;
}

/* ---- where no border is ---- */

/* The last place between graphemes; else between characters; else between tokens. */
static dstok__cut_place between(const dstok__cut_window *w) {
    dstok__cut_place last = {w->high, w->spans[w->high].begin, DSTOK__BORDER_TOKEN};
    bool has_character = false;
    size_t from = (size_t)(w->begin - w->base);
    for (size_t i = w->high; i >= w->low; i--) {
        uint64_t byte = w->spans[i].begin;
        if (!is_clean(w, i, byte)) continue;
        if (dstok__border_is_grapheme(&w->borders, from, (size_t)(byte - w->base)))
            return (dstok__cut_place){i, byte, DSTOK__BORDER_GRAPHEME};
        if (!has_character) last = (dstok__cut_place){i, byte, DSTOK__BORDER_TOKEN};
        has_character = true;
    }
    return last;
}

dstok__cut_place dstok__cut_find(const dstok__cut_window *w) {
    search s = {.w = w, .next = w->high};
    dstok__cut_place found;
    size_t least = w->limit / 2 < 128 ? w->limit / 2 : 128; /* some sentences */
    bool is_code = w->borders.mode == DSTOK__MODE_CODE && w->level == DSTOK__LEVEL_SENTENCE;
    for (const step *p = is_code ? code_steps : steps_of[w->level]; p->part != 0; p++) {
        size_t n = w->limit / p->part > least ? w->limit / p->part : least;
        look_back(&s, w->high > n ? w->high - n : 1);
        if (take(&s, p->slots, &found)) return found;
    }
    return between(w);
}

dstok__cut_place dstok__cut_back(const dstok__cut_window *w, const dstok__cut_place *place, size_t max_tokens,
                                 size_t n_sentences) {
    dstok__cut_place best = *place;
    size_t n = place->n_tokens, down = n > max_tokens ? n - max_tokens : 1, sentences = 0;
    for (size_t i = n - 1; i >= down && i > 0; i--) {
        uint64_t byte = w->spans[i].begin;
        if (!is_clean(w, i, byte) || byte >= place->byte) continue;
        unsigned class = dstok__border_score(&w->borders, (size_t)(byte - w->base)) >> 8;
        if (class < DSTOK__BORDER_LINE) continue;
        best = (dstok__cut_place){i, byte, (int)class};
        if (++sentences == n_sentences) break;
    }
    return best;
}
