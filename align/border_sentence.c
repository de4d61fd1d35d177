/* SPDX-License-Identifier: MIT */
/* Borders within lines: ends of sentences, clauses, blanks. The rules know properties of characters, not
 * languages; the one list of words is of abbreviations. */
#include "border_quotes.h"

#include <string.h>

#define SCORE DSTOK__SCORE

enum { MAX_WORD = 40, MAX_BLANKS = 16 };

/* ---- the word before a full stop ---- */

typedef struct word {
    unsigned n, n_lower, n_upper,
        n_caseless; /* letters, marks not counted; more than MAX_WORD are not looked at */
    bool begins_upper;
    size_t begin, end;
    character before; /* what stands before it */
} word;

static void take_letter(word *w, const character *c) {
    w->n++;
    w->begins_upper = category(c) == DSTOK_GC_LU || category(c) == DSTOK_GC_LT;
    w->n_upper += w->begins_upper;
    w->n_lower += c->sb == DSTOK_SB_LOWER;
    w->n_caseless += !w->begins_upper && c->sb != DSTOK_SB_LOWER;
}

static word word_before(const reach *r, size_t at) {
    word w = {.begin = at, .end = at};
    for (w.before = dstok__char_last(r, at); w.n < MAX_WORD; w.before = dstok__char_last(r, w.begin)) {
        if (!is_letter(&w.before) && !(is_combining(&w.before))) break;
        if (is_letter(&w.before)) take_letter(&w, &w.before);
        w.begin = w.before.begin;
    }
    return w;
}

/* Abbreviations of four letters and more that are written small and often stand before a capital: those of
 * measures, references and offices in languages with Latin and Cyrillic letters. Shorter words and words
 * that begin with a capital are doubted without a list. */
static bool is_listed(const reach *r, const word *w) {
    static const char *const list[] = {
        "approx", "appr",   "bzgl", "zzgl", "inkl", "exkl", "einschl", "evtl",  "sogen", "urspr", "resp",
        "dept",   "univ",   "prof", "assn", "vols", "figs", "eqns",    "sect",  "chap",  "corp",  "prot",
        "prov",   "telef",  "hist", "prob", "incl", "excl", "abbr",    "eigtl", "gest",  "verh",  "insb",
        "insbes", "entspr", "napr", "напр", "проф", "акад", "соотв",   "след",  "прим",  "пров",  "просп",
    };
    size_t n = w->end - w->begin;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strlen(list[i]) == n && memcmp(list[i], r->text + w->begin, n) == 0) return true;
    return false;
}

/* Is a letter no vowel? Told of the letters A-Z and of small Russian ones. */
static bool is_consonant(uint32_t cp) {
    static const uint32_t vowels[] = {0x430, 0x435, 0x438, 0x43E, 0x443, 0x44B, 0x44D, 0x44E, 0x44F};
    if (cp < 0x80) return strchr("aeiouy", (int)(cp | 0x20)) == NULL;
    for (size_t i = 0; i < sizeof vowels / sizeof *vowels; i++)
        if (cp == vowels[i]) return false;
    return cp >= 0x430 && cp <= 0x44F;
}

/* A small word without vowels, as mlrd, tzn, млрд: rather an abbreviation than a word. */
static bool has_no_vowel(const reach *r, const word *w) {
    for (size_t at = w->begin; at < w->end;) {
        character c = dstok__char_next(r, at);
        if (!is_consonant(c.cp)) return false;
        at = c.end;
    }
    return true;
}

static bool is_doubtful(const reach *r, const word *w) {
    if (w->n == 0) return (w->before.record & DSTOK_UC_GC_MASK) == DSTOK_GC_ND || is_none(&w->before);
    if (w->n == 1 || w->before.cp == '.') return true; /* an initial; a.m. */
    if (w->n_caseless > 0) return w->n < 2;
    if (w->n_upper == w->n && w->n > 2) return false; /* NATO. */
    return w->n < 4 || (w->begins_upper && w->n < 5) || is_listed(r, w) || has_no_vowel(r, w);
}

bool dstok__is_doubtful_word(const reach *r, size_t at) {
    word w = word_before(r, at);
    bool is_short = w.n == 3 && w.n_lower == 3 && w.before.cp != '.'; /* rather a word than one that is cut */
    return !is_short && is_doubtful(r, &w);
}

/* ---- what follows a place ---- */

typedef struct front {
    unsigned n_blanks, n_quotes;
    character lead;         /* behind blanks */
    character first;        /* behind blanks and signs that open */
    unsigned n;             /* letters of the word there, at most MAX_WORD */
    bool is_capital;        /* a capital, then small letters */
    character behind, then; /* what stands behind the word; and behind a blank there */
} front;

static bool is_opener(const character *c) {
    return c->sb == DSTOK_SB_CLOSE || c->cp == 0xBF || c->cp == 0xA1;
}

static front front_of(const reach *r, size_t at) {
    front f = {0};
    f.first = dstok__char_next(r, at);
    for (; is_blank(&f.first) && f.n_blanks < MAX_BLANKS; f.n_blanks++)
        f.first = dstok__char_next(r, f.first.end);
    f.lead = f.first;
    for (; is_opener(&f.first) && f.n_quotes < 4; f.n_quotes++) f.first = dstok__char_next(r, f.first.end);
    f.is_capital = category(&f.first) == DSTOK_GC_LU || category(&f.first) == DSTOK_GC_LT;
    f.behind = f.first;
    while ((is_letter(&f.behind) || (f.n > 0 && is_combining(&f.behind))) && f.n < MAX_WORD) {
        if (f.n > 0 && category(&f.behind) == DSTOK_GC_LU) f.is_capital = false;
        f.n++;
        f.behind = dstok__char_next(r, f.behind.end);
    }
    f.then = is_blank(&f.behind) ? dstok__char_next(r, f.behind.end) : f.behind;
    return f;
}

/* ---- alphabets ---- */

static bool is_terminator(const character *c) {
    return c->sb == DSTOK_SB_ATERM || c->sb == DSTOK_SB_STERM;
}

/* Stands a sentence of one word beside the place? Rather an abbreviation in several words, or a cry. */
static bool is_beside_lone(const reach *r, const word *w, const front *f) {
    character c = w->before;
    while (is_blank(&c)) c = dstok__char_last(r, c.begin);
    return is_terminator(&c) || is_terminator(&f->behind);
}

/* The word there is no initial, and no abbreviation or address: behind it a blank, a comma or the like. */
static bool is_whole_word(const front *f) {
    static const char behind[] = ",;:'-)!?\"";
    if (f->n == 0) return false;
    if (is_blank(&f->behind) || f->behind.cp == 0x2019 || f->behind.cp == 0x2013) return true;
    if (f->behind.cp == '.') return f->n > 4;
    return f->behind.cp < 0x80 && f->behind.cp != 0 && strchr(behind, (int)f->behind.cp) != NULL;
}

/* How sure the end is, from the words on both sides: 0 (not), 1, 2; 3 where hardly anything else can be
 * meant. */
static unsigned cased_grade(const reach *r, const tail *t, const word *w, const front *f, bool is_apart) {
    bool is_small = w->n_lower == w->n && (w->n >= 4 || (t->n_stops == 0 && w->n >= 2));
    if (!is_small || w->before.cp == '.' || (t->n_stops > 0 && is_doubtful(r, w))) return 0;
    if (!(is_blank(&w->before) || w->before.cp == '-' || w->before.cp == '\'' || w->before.cp == 0x2019 ||
          is_none(&w->before) || is_opener(&w->before)))
        return 0;
    if (t->n_closers > 1 || t->n_stops > 1 || t->n_terms > 3) return 0;
    if (is_letter(&f->first) && f->first.sb == DSTOK_SB_OLETTER) return 1;
    if (!(category(&f->first) == DSTOK_GC_LU || category(&f->first) == DSTOK_GC_LT) || !is_whole_word(f))
        return 0;
    if (t->n_closers > 0 || f->n_quotes > 0 || is_apart || w->n < 5 || !f->is_capital ||
        is_beside_lone(r, w, f))
        return 1;
    return t->n_stops > 0 && is_blank(&f->behind) && f->then.sb == DSTOK_SB_LOWER ? 3 : 2;
}

/* The same where letters have no case: words must have some letters, if a full stop is all there is. */
static unsigned caseless_grade(const reach *r, const tail *t, const word *w, const front *f) {
    if (!is_letter(&f->first) || w->n_caseless != w->n || t->n_stops > 1 || t->n_closers > 1) return 0;
    if (t->has_native && t->n_terms == 1) return t->n_closers + f->n_quotes == 0 ? 3 : 1;
    if (w->n < 2 || w->before.cp == '.' || (f->n <= 2 && f->behind.cp == '.')) return 0;
    bool is_plain = t->n_stops > 0 && t->n_closers + f->n_quotes == 0;
    return w->n >= 3 && is_plain && !is_beside_lone(r, w, f) ? 2 : 1;
}

static unsigned lowered(unsigned score, unsigned depth) {
    unsigned class = score >> 8;
    if (depth == 0 || class < DSTOK__BORDER_DOUBTFUL) return score;
    return SCORE(class == DSTOK__BORDER_SURE ? DSTOK__BORDER_SENTENCE : DSTOK__BORDER_DOUBTFUL, 0);
}

static unsigned spaced_sentence(const reach *r, size_t at, const tail *t, const front *f) {
    if (f->first.sb == DSTOK_SB_LOWER) return SCORE(DSTOK__BORDER_BLANK, 0);
    character last = dstok__char_last(r, t->begin);
    bool is_apart = t->has_nonstop && is_blank(&last); /* "mot !" */
    word w = word_before(r, is_apart ? last.begin : t->begin);
    bool is_stop = t->n_terms == 1 && t->n_stops == 1;
    unsigned grade = w.n_caseless > 0 || w.n == 0 ? 0 : cased_grade(r, t, &w, f, is_apart);
    if (w.n > 0 && w.n_caseless == w.n) grade = caseless_grade(r, t, &w, f);
    if (t->n_dots > 0) grade = 0;
    unsigned score = grade > 0 ? SCORE(DSTOK__BORDER_SURE, grade) : SCORE(DSTOK__BORDER_SENTENCE, 0);
    bool is_odd = is_none(&f->first) || !(is_letter(&f->first) || category(&f->first) == DSTOK_GC_ND);
    bool is_initial = f->n == 1 && f->behind.cp == '.';
    if (grade == 0 && ((is_stop && is_doubtful(r, &w)) || is_initial || is_odd || t->n_stops > 1))
        score = SCORE(DSTOK__BORDER_DOUBTFUL, 0);
    return lowered(score, dstok__quote_depth(r, at).all);
}

/* ---- East Asian text ---- */

/* Signs that go on with the sentence: commas, dots, dashes, other terminators, closing signs. */
static bool goes_on(const character *c) {
    if (c->sb == DSTOK_SB_CONTINUE || c->cp == 0x2026 || c->cp == 0x2014 || c->cp == 0x2015 ||
        c->cp == 0x30FB || c->cp == 0xFF5E || c->cp == 0x30FC)
        return true;
    if (c->sb == DSTOK_SB_STERM || c->sb == DSTOK_SB_ATERM) return true;
    return c->sb == DSTOK_SB_CLOSE && (category(c) == DSTOK_GC_PE || category(c) == DSTOK_GC_PF);
}

static bool is_hiragana(const character *c) {
    return c->cp >= 0x3041 && c->cp <= 0x309F;
}

static unsigned east_sentence(const reach *r, size_t at, const tail *t, const front *f) {
    character last = dstok__char_last(r, t->begin);
    if (goes_on(&f->lead) || t->ends_in_title || t->has_initial) return 0;
    if (t->has_straight && dstok__quote_depth(r, t->begin).quotes == 0) return 0; /* it opens */
    quote_depth depth = dstok__quote_depth(r, at);
    if (is_straight_quote(&f->lead) && depth.quotes > 0) return 0; /* it closes */
    if (depth.titles > 0) return 0;
    unsigned score = SCORE(DSTOK__BORDER_SURE, 3);
    if (!t->has_full) score = SCORE(DSTOK__BORDER_SURE, 2);
    if (t->n_closers > 0)
        score = t->has_full ? SCORE(DSTOK__BORDER_SURE, 1) : SCORE(DSTOK__BORDER_SENTENCE, 1);
    if (t->n_dots > 0 || !t->has_wide) score = SCORE(DSTOK__BORDER_SENTENCE, 0);
    if (t->n_closers > 0 && is_hiragana(&f->first)) score = SCORE(DSTOK__BORDER_DOUBTFUL, 0);
    if (f->first.sb == DSTOK_SB_LOWER || category(&last) == DSTOK_GC_ND)
        score = SCORE(DSTOK__BORDER_DOUBTFUL, 0);
    return lowered(score, depth.all);
}

/* ---- within sentences ---- */

static unsigned clause_score(const reach *r, const character *last, const character *next) {
    bool is_comma = (last->sb == DSTOK_SB_CONTINUE && category(last) == DSTOK_GC_PO) || last->cp == ';' ||
                    last->cp == 0xFF1B;
    bool is_wide = last->cp >= 0x3000 && last->cp != 0xFF64;
    if (is_comma && (is_blank(next) || is_wide) && !goes_on(next)) return SCORE(DSTOK__BORDER_CLAUSE, 0);
    if (!is_blank(next) || is_blank(last)) return 0;
    character behind = dstok__char_next(r, next->end);
    if (is_spaced(last) && !is_none(&behind) && is_letter(&behind)) return SCORE(DSTOK__BORDER_SPACED, 0);
    return SCORE(DSTOK__BORDER_BLANK, 0);
}

/* Before the line break that ends a line: as good as behind it, where no token ends there. */
static unsigned before_break(const reach *r, const character *next, int mode) {
    size_t at = next->end;
    character second = dstok__char_next(r, at);
    if (next->cp == '\r' && second.cp == '\n') at = second.end;
    return at < r->to ? dstok__line_score(r, at, mode) : 0;
}

unsigned dstok__sentence_score(const reach *r, size_t at, int mode) {
    character last = dstok__char_last(r, at), next = dstok__char_next(r, at);
    if (is_line_break(&next)) return before_break(r, &next, mode);
    unsigned within = clause_score(r, &last, &next);
    if (mode == DSTOK__MODE_CODE) return within;
    tail t = dstok__tail_before(r, at);
    if (t.n_terms == 0 || (t.n_dots == t.n_terms && !is_blank(&next))) return within;
    front f = front_of(r, at);
    character before = dstok__char_last(r, t.begin);
    unsigned score = 0;
    if (is_line_break(&f.first))
        score = 0;
    else if (t.has_wide || (is_east(&before) && t.n_stops == 0))
        score = east_sentence(r, at, &t, &f);
    else if (f.n_blanks > 0)
        score = spaced_sentence(r, at, &t, &f);
    else if (t.has_native || (t.has_nonstop && is_letter(&next) && next.sb != DSTOK_SB_LOWER))
        score = SCORE(DSTOK__BORDER_DOUBTFUL, 0);
    return score != 0 ? score : within;
}
