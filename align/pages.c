/* SPDX-License-Identifier: MIT */
/* Filling pages of a text, in order and out of order. */
#include "pages.h"

#include <string.h>

#define FIRST_ROOM 4                   /* blocks: one before the place, the place, two behind it */
#define NEAR       ((uint64_t)1 << 15) /* bytes that may be counted again and again */
#define STEP       (64 * DSTOK__PAGE_BLOCKS)

uint32_t dstok__before(const uint8_t *text, uint64_t at) {
    uint32_t before = 0;
    for (uint64_t k = at < 4 ? at : 4; k > 0; k--) before = before >> 8 | (uint32_t)text[at - k] << 24;
    return before;
}

void dstok__pages_init(dstok__pages *p, const dstok__simd *simd, const void *text, size_t len, int unit,
                       int with_lines) {
    p->simd = simd;
    p->text = len == 0 ? (const uint8_t *)"" : text; /* that may be NULL */
    p->len = len;
    p->unit = unit;
    p->with_lines = with_lines;
    for (int i = 0; i < 2; i++) p->page[i].page.at = p->page[i].page.size = 0;
    p->now = 0;
    p->room = FIRST_ROOM;
    p->n_marks = p->stride = 0;
}

static size_t blocks_of(const dstok__line_page *l) {
    return (size_t)((l->page.size + 63) / 64);
}

/* The last block of the text, which may be empty: zeros fill it up, and the first one of them counts as a
 * start. */
static void fill_rest(dstok__pages *p, dstok__line_page *l, size_t k) {
    uint8_t block[64] = {0};
    size_t rest = p->len % 64, at = p->len - rest;
    uint64_t held = ((uint64_t)2 << rest) - 1;
    if (rest > 0) memcpy(block, p->text + at, rest);
    uint32_t before = dstok__before(p->text, at);
    p->simd->fill_page(block, 1, before, &l->page, k, p->unit);
    l->page.before[k + 1] -= 63 - rest; /* each of the zeros is a start */
    l->page.starts[k] &= held;
    l->page.units[k] &= held;
    if (p->with_lines) {
        p->simd->line_begins(block, 1, before, l->begins + k);
        l->begins[k] &= held;
    }
}

/* Fills a page with up to `blocks` blocks from a mark on. */
static void fill(dstok__pages *p, dstok__line_page *l, const dstok__mark *m, size_t blocks) {
    size_t left = (size_t)(p->len - m->byte) / 64, whole = blocks < left ? blocks : left, n = whole;
    const uint8_t *text = p->text + m->byte;
    uint32_t before = dstok__before(p->text, m->byte);
    l->page.at = m->byte;
    l->page.before[0] = m->units;
    l->page.size = 64 * whole;
    p->simd->fill_page(text, whole, before, &l->page, 0, p->unit);
    if (p->with_lines) p->simd->line_begins(text, whole, before, l->begins);
    if (whole < blocks) {
        fill_rest(p, l, n++);
        l->page.size = p->len - m->byte + 1;
    }
    if (!p->with_lines) return;
    l->lines[0] = m->lines;
    l->base[0] = m->base;
    p->simd->sum_lines(l, 0, n);
}

/* What is known before block k of a page. */
static dstok__mark mark_in(const dstok__pages *p, const dstok__line_page *l, size_t k) {
    dstok__mark m = {l->page.at + 64 * k, l->page.before[k], 0, 0};
    if (p->with_lines) {
        m.lines = l->lines[k];
        m.base = l->base[k];
    }
    return m;
}

/* How many whole blocks a page has; behind them a mark can stand. */
static size_t whole_blocks(const dstok__pages *p, const dstok__line_page *l) {
    uint64_t end = l->page.at + l->page.size;
    return (size_t)((end < p->len ? end : p->len) - l->page.at) / 64;
}

/* Moves a mark on to a byte, a multiple of 64. Lines are summed in the page that is not the last one asked. */
static void advance(dstok__pages *p, dstok__mark *m, uint64_t byte) {
    if (p->with_lines) {
        dstok__line_page *l = &p->page[!p->now];
        while (m->byte < byte) {
            uint64_t left = byte - m->byte, step = left < STEP ? left : STEP;
            fill(p, l, m, (size_t)step / 64);
            *m = mark_in(p, l, (size_t)step / 64);
        }
        return;
    }
    uint64_t count[2] = {0, 0};
    size_t n = (size_t)(byte - m->byte) / 64;
    if (p->unit == DSTOK_UNIT_BYTE) {
        count[0] = 64 * n;
    } else if (n > 0) {
        p->simd->count_chars(p->text + m->byte, n, dstok__before(p->text, m->byte), count);
    }
    m->byte = byte;
    m->units += count[0] + (p->unit == DSTOK_UNIT_UTF16 ? count[1] : 0);
}

static void make_marks(dstok__pages *p) {
    dstok__mark m = {0, 0, 0, 0};
    size_t end = p->len / 64 * 64;
    p->stride = (p->len / (DSTOK__MARKS - 1) / 64 + 1) * 64;
    if (p->stride < 1024) p->stride = 1024;
    p->marks[p->n_marks++] = m;
    while (end - m.byte >= p->stride && p->n_marks < DSTOK__MARKS) {
        advance(p, &m, m.byte + p->stride);
        p->marks[p->n_marks++] = m;
    }
}

/* The mark of the page that is nearest to a byte, a multiple of 64, from before; else the better one given. */
static void nearer(const dstok__pages *p, const dstok__line_page *l, uint64_t byte, dstok__mark *m) {
    if (l->page.size == 0 || l->page.at > byte) return;
    uint64_t k = (byte - l->page.at) / 64, whole = whole_blocks(p, l);
    if (k > whole) k = whole;
    if (l->page.at + 64 * k >= m->byte) *m = mark_in(p, l, (size_t)k);
}

static dstok__mark mark_before(const dstok__pages *p, uint64_t byte) {
    dstok__mark m = {0, 0, 0, 0};
    if (p->n_marks > 0) {
        uint64_t k = byte / p->stride;
        m = p->marks[k < p->n_marks ? k : p->n_marks - 1];
    }
    nearer(p, &p->page[0], byte, &m);
    nearer(p, &p->page[1], byte, &m);
    return m;
}

const dstok__line_page *dstok__pages_turn(dstok__pages *p, uint64_t byte) {
    uint64_t first = byte < 64 ? 0 : byte / 64 * 64 - 64;
    dstok__mark m = mark_before(p, first);
    int is_back = p->page[p->now].page.size > 0 && p->page[p->now].page.at > first;
    if (p->n_marks == 0 && is_back && first - m.byte > NEAR) {
        make_marks(p);
        m = mark_before(p, first);
    }
    p->room = m.byte == first ? 2 * p->room : FIRST_ROOM;
    if (p->room > DSTOK__PAGE_BLOCKS) p->room = DSTOK__PAGE_BLOCKS;
    advance(p, &m, first);
    p->now = !p->now;
    fill(p, &p->page[p->now], &m, p->room);
    return &p->page[p->now];
}

static int holds(const dstok__line_page *l, uint64_t byte) {
    return byte - l->page.at < l->page.size;
}

const dstok__line_page *dstok__pages_find(dstok__pages *p, uint64_t byte) {
    if (!holds(&p->page[p->now], byte)) {
        if (!holds(&p->page[!p->now], byte)) return dstok__pages_turn(p, byte);
        p->now = !p->now;
    }
    return &p->page[p->now];
}

/* ---- by units and by lines ---- */

/* Of a mark: what is looked for. */
static uint64_t value(const dstok__mark *m, int by_line) {
    return by_line ? m->lines : m->units;
}

/* The last mark whose value is at most `most`. */
static dstok__mark mark_of(const dstok__pages *p, uint64_t most, int by_line) {
    dstok__mark m = {0, 0, 0, 0};
    size_t low = 0, high = p->n_marks;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (value(&p->marks[middle], by_line) <= most)
            low = middle;
        else
            high = middle;
    }
    if (p->n_marks > 0) m = p->marks[low];
    for (int i = 0; i < 2; i++) {
        const dstok__line_page *l = &p->page[i];
        if (l->page.size == 0) continue;
        for (size_t k = whole_blocks(p, l);; k = 0) { /* its end, its begin */
            dstok__mark at = mark_in(p, l, k);
            if (value(&at, by_line) <= most && at.byte > m.byte) m = at;
            if (k == 0) break;
        }
    }
    return m;
}

static int holds_value(const dstok__pages *p, const dstok__line_page *l, uint64_t v, int by_line) {
    if (l->page.size == 0) return 0;
    dstok__mark first = mark_in(p, l, 0), last = mark_in(p, l, blocks_of(l));
    return value(&first, by_line) <= v && v < value(&last, by_line);
}

static const dstok__line_page *find_value(dstok__pages *p, uint64_t v, int by_line) {
    for (int i = 0; i < 2; i++, p->now = !p->now) {
        if (holds_value(p, &p->page[p->now], v, by_line)) return &p->page[p->now];
    }
    dstok__mark m = mark_of(p, v, by_line);
    if (p->n_marks == 0 && m.byte == 0 && p->page[p->now].page.size > 0 &&
        p->page[p->now].page.at > NEAR) { /* read far into already, and now back */
        make_marks(p);
        m = mark_of(p, v, by_line);
    }
    uint64_t behind = p->page[p->now].page.at + 64 * whole_blocks(p, &p->page[p->now]);
    for (int is_next = m.byte == behind;; is_next = 0) { /* the next page mostly holds it */
        dstok__line_page *l = &p->page[!p->now];
        dstok__mark next = m;
        if (!is_next && !p->with_lines && p->len - m.byte >= STEP) {
            advance(p, &next, m.byte + STEP);
            if (value(&next, by_line) <= v) {
                m = next;
                continue;
            }
        }
        fill(p, l, &m, DSTOK__PAGE_BLOCKS);
        p->now = !p->now;
        if (holds_value(p, l, v, by_line)) return l;
        if (l->page.at + l->page.size > p->len) return NULL;
        m = mark_in(p, l, DSTOK__PAGE_BLOCKS);
    }
}

const dstok__line_page *dstok__pages_find_unit(dstok__pages *p, uint64_t unit) {
    return find_value(p, unit, 0);
}
const dstok__line_page *dstok__pages_find_line(dstok__pages *p, uint64_t line) {
    return find_value(p, line - 2, 1);
}
