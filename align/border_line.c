/* SPDX-License-Identifier: MIT */
/* Borders at the begins of lines: pages, headings, blank lines, lines; in code by indentation. */
#include "border_chars.h"

#include <string.h>

#define SCORE DSTOK__SCORE

enum { MAX_HEADING = 240 }; /* bytes of a line that may be a heading */

/* The lines beside a place. */
typedef struct lines {
    size_t above;      /* where the text of the last line that is not blank ends, its blanks not counted */
    size_t above_from; /* where that line begins */
    size_t below;      /* where the next line begins that is not blank */
    unsigned n_breaks; /* line breaks between them */
    bool is_page;      /* FF among them */
} lines;

static size_t line_start(const reach *r, size_t at) {
    for (character c = dstok__char_last(r, at); !is_none(&c) && !is_line_break(&c);
         c = dstok__char_last(r, at))
        at = c.begin;
    return at;
}

static size_t line_end(const reach *r, size_t at) {
    for (character c = dstok__char_next(r, at); !is_none(&c) && !is_line_break(&c);
         c = dstok__char_next(r, at))
        at = c.end;
    return at;
}

static void note_break(lines *l, const character *c, uint32_t next) {
    l->is_page |= c->cp == 0x0C;
    l->n_breaks += !(c->cp == '\r' && next == '\n') && c->cp != 0x0C;
}

static lines lines_at(const reach *r, size_t at) {
    lines l = {.above = at, .below = at};
    character c = dstok__char_last(r, at);
    for (uint32_t next = 0; is_line_break(&c) || is_blank(&c); c = dstok__char_last(r, l.above)) {
        if (is_line_break(&c)) note_break(&l, &c, next);
        next = c.cp;
        l.above = c.begin;
    }
    l.above_from = line_start(r, l.above);
    size_t end = at;
    c = dstok__char_next(r, at);
    for (uint32_t last = 0; is_line_break(&c) || is_blank(&c); c = dstok__char_next(r, end)) {
        end = c.end;
        if (!is_line_break(&c)) continue;
        l.is_page |= c.cp == 0x0C;
        l.n_breaks += !(c.cp == '\n' && last == '\r') && c.cp != 0x0C;
        last = c.cp;
        l.below = end;
    }
    return l;
}

/* ---- headings ---- */

/* "# Title": up to six signs and a blank. */
static bool is_atx(const reach *r, size_t at) {
    size_t n = 0;
    while (at + n < r->to && r->text[at + n] == '#' && n < 7) n++;
    return n >= 1 && n <= 6 && at + n < r->to && (r->text[at + n] == ' ' || r->text[at + n] == '\t');
}

/* The line at `at` underlines the one above: = or - alone, at least three. */
static bool is_underline(const reach *r, size_t at) {
    size_t end = line_end(r, at), n = 0;
    if (at >= end || (r->text[at] != '=' && r->text[at] != '-')) return false;
    while (at + n < end && r->text[at + n] == r->text[at]) n++;
    size_t rest = at + n;
    while (rest < end && (r->text[rest] == ' ' || r->text[rest] == '\t')) rest++;
    return n >= 3 && rest == end;
}

static size_t next_line(const reach *r, size_t at) {
    size_t end = line_end(r, at);
    character c = dstok__char_next(r, end), second = dstok__char_next(r, c.end);
    return is_none(&c) ? r->to : c.cp == '\r' && second.cp == '\n' ? second.end : c.end;
}

/* A short line that ends with a letter or a number, with a blank line behind it: text[from, end). */
static bool is_title(const reach *r, size_t from, size_t end) {
    if (end <= from || end - from > MAX_HEADING || from == r->from) return false;
    character first = dstok__char_next(r, from), last = dstok__char_last(r, end);
    if (first.sb == DSTOK_SB_LOWER || !in_set(&first, DSTOK_UC_L | DSTOK_UC_N)) return false;
    if (!in_set(&last, DSTOK_UC_L | DSTOK_UC_N)) return false;
    size_t next = next_line(r, end);
    return next < r->to && line_end(r, next) < r->to && dstok__char_last(r, end).end == end &&
           line_end(r, next) == next;
}

/* 第三章: an ordinal, then a word for a part of a book. */
static bool is_chapter(const reach *r, size_t at) {
    static const uint32_t parts[] = {0x7AE0, 0x7BC0, 0x8282, 0x56DE, 0x5377,
                                     0x5DFB, 0x7BC7, 0x90E8, 0x8BDD, 0x8A71};
    character c = dstok__char_next(r, at);
    if (c.cp != 0x7B2C) return false;
    for (unsigned n = 0; n < 8; n++) {
        c = dstok__char_next(r, c.end);
        for (size_t i = 0; n > 0 && i < sizeof parts / sizeof *parts; i++)
            if (c.cp == parts[i]) return true;
        if (!in_set(&c, DSTOK_UC_N) && !is_east(&c)) return false;
    }
    return false;
}

static bool begins_heading(const reach *r, const lines *l, int mode) {
    if (mode == DSTOK__MODE_MARKDOWN && is_atx(r, l->below)) return true;
    if (mode == DSTOK__MODE_MARKDOWN && l->n_breaks > 1 && is_underline(r, next_line(r, l->below)))
        return true;
    if (is_chapter(r, l->below)) return line_end(r, l->below) - l->below <= MAX_HEADING;
    return l->n_breaks > 1 && is_title(r, l->below, line_end(r, l->below));
}

/* Is the line above a heading? Its text must not be parted from it. */
static bool ends_heading(const reach *r, const lines *l, int mode) {
    if (mode == DSTOK__MODE_MARKDOWN && (is_atx(r, l->above_from) || is_underline(r, l->above_from)))
        return true;
    if (is_chapter(r, l->above_from)) return l->above - l->above_from <= MAX_HEADING;
    if (l->n_breaks < 2 || l->above_from == r->from) return false;
    lines before = lines_at(r, l->above_from);
    return before.n_breaks > 1 && is_title(r, l->above_from, l->above);
}

/* ---- code ---- */

static unsigned indent(const reach *r, size_t at) {
    unsigned columns = 0;
    for (; at < r->to; at++) {
        if (r->text[at] == '\t')
            columns = (columns | 7) + 1;
        else if (r->text[at] == ' ')
            columns++;
        else
            break;
    }
    return columns < 100 ? columns : 100;
}

static bool closes_block(const reach *r, size_t at) {
    while (at < r->to && (r->text[at] == ' ' || r->text[at] == '\t')) at++;
    return at < r->to && strchr("})]", r->text[at]) != NULL && r->text[at] != 0;
}

/* A blank line at depth 0, then a line there behind one that closes a block, then the line that stands
 * least deep. */
static unsigned code_score(const reach *r, const lines *l) {
    unsigned depth = indent(r, l->below);
    bool is_apart = l->n_breaks > 1;
    if (closes_block(r, l->below)) return SCORE(DSTOK__BORDER_WRAP, 100 - depth);
    if (depth == 0 && is_apart) return SCORE(DSTOK__BORDER_BLOCK, 1);
    if (depth == 0 && indent(r, l->above_from) == 0 && closes_block(r, l->above_from))
        return SCORE(DSTOK__BORDER_ENDED, 1);
    return SCORE(DSTOK__BORDER_LINE, 210 - 2 * depth + is_apart);
}

/* ---- all ---- */

/* Behind a line break that is no blank line: does a sentence end above? */
static unsigned plain_score(const reach *r, const lines *l) {
    character next = dstok__char_next(r, l->below), last = dstok__char_last(r, l->above);
    while (is_blank(&next)) next = dstok__char_next(r, next.end);
    tail t = dstok__tail_before(r, l->above);
    if (next.sb == DSTOK_SB_LOWER || last.sb == DSTOK_SB_CONTINUE || last.cp == 0xAD)
        return SCORE(DSTOK__BORDER_WRAP, 0);
    if (t.n_terms == 0) return SCORE(is_spaced(&last) ? DSTOK__BORDER_ENDED : DSTOK__BORDER_LINE, 0);
    if (t.n_stops == 1 && t.n_terms == 1 && dstok__is_doubtful_word(r, t.begin))
        return SCORE(DSTOK__BORDER_LINE, 1);
    return SCORE(DSTOK__BORDER_ENDED, 1);
}

unsigned dstok__line_score(const reach *r, size_t at, int mode) {
    lines l = lines_at(r, at);
    if (l.is_page) return SCORE(DSTOK__BORDER_HEADING, 2);
    if (l.n_breaks == 0) return 0;
    if (mode == DSTOK__MODE_CODE) return code_score(r, &l);
    if (ends_heading(r, &l, mode)) return SCORE(DSTOK__BORDER_LINE, 0);
    if (begins_heading(r, &l, mode)) return SCORE(DSTOK__BORDER_HEADING, 1);
    if (l.n_breaks > 1) return SCORE(DSTOK__BORDER_BLOCK, 1);
    return plain_score(r, &l);
}
