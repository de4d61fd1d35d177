/* SPDX-License-Identifier: MIT */
/* Normalisation that notes what changed: decompose, order and compose a few characters at a time. */
#include "normalize.h"
#include "utf8.h"

#include "../../data/unicode/unicode.h"

#include <string.h>
#include <utf8proc.h>

enum { MAX_DECOMPOSITION = 18, ASCII_BLOCK = 8 };

/* A character between decomposition and output. */
typedef struct dstok__norm_char {
    uint32_t cp;
    uint32_t ccc;      /* canonical combining class */
    size_t begin, end; /* the source bytes it came from */
    size_t floor;      /* smallest begin of this and all later ones */
} norm_char;

/* One kind being applied to one text. */
typedef struct pass {
    dstok__normalized *n;
    const uint8_t *src;
    size_t len;
    size_t copied; /* what stands before this in src is in n->spare, changed or not */
    size_t n_chars;
    unsigned inert; /* flag of the code points that the form leaves alone */
    unsigned whole; /* flag of the code points that do not decompose */
    utf8proc_option_t decompose;
    bool compose;
} pass;

/* The first byte at or after pos that is not ASCII. */
static size_t ascii_end(const uint8_t *s, size_t len, size_t pos) {
    for (; len - pos >= ASCII_BLOCK; pos += ASCII_BLOCK) {
        uint64_t block;
        memcpy(&block, s + pos, ASCII_BLOCK);
        if ((block & 0x8080808080808080u) != 0) break;
    }
    while (pos < len && s[pos] < 0x80) pos++;
    return pos;
}

/* ---- writing the result ---- */

/* Each edit but a prefix stands for source bytes of its own, so the source bounds the growth. */
static dstok_status grow_edits(const dstok_alloc *al, dstok__edit **edits, size_t *cap, size_t need) {
    return dstok__grow(al, (void **)edits, cap, need, sizeof **edits, SIZE_MAX);
}

static dstok_status set_edit(dstok__edit *e, size_t out, size_t out_n, size_t src, size_t src_n) {
    if (out_n > UINT32_MAX || src_n > UINT32_MAX) return DSTOK_E_LIMIT;
    *e = (dstok__edit){out, src, (uint32_t)out_n, (uint32_t)src_n};
    return DSTOK_OK;
}

/* Notes that the next out_n bytes of the result stand for src[begin, end), after copying what precedes it. */
static dstok_status begin_edit(pass *p, size_t begin, size_t end, size_t out_n) {
    dstok__normalized *n = p->n;
    DSTOK_TRY(dstok__buf_append(&n->spare, p->src + p->copied, begin - p->copied));
    DSTOK_TRY(grow_edits(n->spare.al, &n->later, &n->cap_later, n->n_later + 1));
    DSTOK_TRY(set_edit(&n->later[n->n_later], n->spare.len, out_n, begin, end - begin));
    n->n_later++;
    p->copied = end;
    return DSTOK_OK;
}

/* ---- the normal forms ---- */

/* In the 9.0 view, like all that follows: younger code points are inert in our tables, so utf8proc, which may
 * know them, is not asked. */
static uint32_t combining_class(uint32_t cp) {
    if ((dstok__uc_record(cp) & DSTOK_UC_NFD_INERT) != 0) return 0;
    return (uint32_t)utf8proc_get_property((utf8proc_int32_t)cp)->combining_class;
}

/* The full decomposition of cp. */
static size_t decompose(const pass *p, uint32_t cp, utf8proc_int32_t parts[MAX_DECOMPOSITION]) {
    if ((dstok__uc_record(cp) & p->whole) == 0) {
        int unused = 0;
        utf8proc_ssize_t n =
            utf8proc_decompose_char((utf8proc_int32_t)cp, parts, MAX_DECOMPOSITION, p->decompose, &unused);
        if (n > 0 && n <= MAX_DECOMPOSITION) return (size_t)n;
    }
    parts[0] = (utf8proc_int32_t)cp;
    return 1;
}

/* The character that first and second compose to; 0 when they do not, or to a younger one. */
static uint32_t composite(uint32_t first, uint32_t second) {
    utf8proc_int32_t pair[2] = {(utf8proc_int32_t)first, (utf8proc_int32_t)second};
    if (utf8proc_normalize_utf32(pair, 2, UTF8PROC_COMPOSE | UTF8PROC_STABLE) != 1) return 0;
    return (dstok__uc_record((uint32_t)pair[0]) & DSTOK_UC_IN_9) != 0 ? (uint32_t)pair[0] : 0;
}

/* At most MAX_DECOMPOSITION characters come from one of the source, so the source bounds the growth. */
static dstok_status reserve_chars(pass *p, size_t n) {
    return dstok__grow(p->n->buf.al, (void **)&p->n->chars, &p->n->cap_chars, n, sizeof(norm_char), SIZE_MAX);
}

/* Sorts chars[begin, end) by combining class, keeping the order of equals: by counting, so that a hostile run
 * of marks costs no more than its length. */
static dstok_status sort_marks(pass *p, size_t begin, size_t end) {
    size_t n = end - begin, next[256] = {0}, sum = 0;
    DSTOK_TRY(reserve_chars(p, p->n_chars + n));
    norm_char *marks = p->n->chars + begin, *sorted = p->n->chars + p->n_chars;
    for (size_t i = 0; i < n; i++) next[marks[i].ccc & 0xFF]++;
    for (size_t c = 0; c < 256; c++) {
        size_t count = next[c];
        next[c] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) sorted[next[marks[i].ccc & 0xFF]++] = marks[i];
    memcpy(marks, sorted, n * sizeof *marks);
    return DSTOK_OK;
}

/* Canonical ordering: every run of marks by combining class. */
static dstok_status order(pass *p) {
    for (size_t begin = 0; begin < p->n_chars;) {
        bool sorted = true;
        size_t end = begin + 1;
        for (; end < p->n_chars && p->n->chars[end].ccc != 0; end++)
            if (p->n->chars[end - 1].ccc > p->n->chars[end].ccc) sorted = false;
        if (!sorted) DSTOK_TRY(sort_marks(p, begin, end));
        begin = end;
    }
    return DSTOK_OK;
}

/* Canonical composition: each character joins the last starter unless one between them blocks it. */
static void compose(pass *p) {
    norm_char *chars = p->n->chars;
    size_t kept = 0, starter = SIZE_MAX;
    for (size_t i = 0; i < p->n_chars; i++) {
        norm_char c = chars[i];
        if (starter != SIZE_MAX && (dstok__uc_record(c.cp) & DSTOK_UC_NFC_SECOND) != 0) {
            bool blocked = kept - 1 != starter && chars[kept - 1].ccc >= c.ccc;
            uint32_t joined = blocked ? 0 : composite(chars[starter].cp, c.cp);
            if (joined != 0) {
                chars[starter].cp = joined;
                if (c.begin < chars[starter].begin) chars[starter].begin = c.begin;
                if (c.end > chars[starter].end) chars[starter].end = c.end;
                continue;
            }
        }
        if (c.ccc == 0) starter = kept;
        chars[kept++] = c;
    }
    p->n_chars = kept;
}

/* Writes chars[0, n), which came from src[begin, end), unless they are what stands there. */
static dstok_status write_group(pass *p, const norm_char *chars, size_t n, size_t begin, size_t end) {
    uint8_t bytes[4];
    size_t size = 0, same = begin;
    for (size_t i = 0; i < n; i++) {
        size_t k = dstok__utf8_put(bytes, chars[i].cp);
        if (end - same >= k && memcmp(p->src + same, bytes, k) == 0) same += k;
        size += k;
    }
    if (same == end && size == end - begin) return DSTOK_OK;
    DSTOK_TRY(begin_edit(p, begin, end, size));
    for (size_t i = 0; i < n; i++)
        DSTOK_TRY(dstok__buf_append(&p->n->spare, bytes, dstok__utf8_put(bytes, chars[i].cp)));
    return DSTOK_OK;
}

/* Orders, composes and writes the characters gathered so far. They are cut wherever no later one came from
 * earlier source bytes, so that each piece has the smallest hull. */
static dstok_status flush(pass *p) {
    DSTOK_TRY(order(p));
    if (p->compose) compose(p);
    norm_char *chars = p->n->chars;
    size_t floor = SIZE_MAX, ceiling = 0, from = 0;
    for (size_t i = p->n_chars; i-- > 0;) {
        if (chars[i].begin < floor) floor = chars[i].begin;
        chars[i].floor = floor;
    }
    for (size_t i = 0; i < p->n_chars; i++) {
        if (chars[i].end > ceiling) ceiling = chars[i].end;
        if (i + 1 < p->n_chars && chars[i + 1].floor < ceiling) continue;
        DSTOK_TRY(write_group(p, chars + from, i + 1 - from, chars[from].floor, ceiling));
        from = i + 1;
    }
    p->n_chars = 0;
    return DSTOK_OK;
}

/* Gathers the decomposition of the character src[begin, end), flushing first when it starts with a starter
 * that composes with nothing before it. */
static dstok_status gather(pass *p, uint32_t cp, size_t begin, size_t end) {
    utf8proc_int32_t parts[MAX_DECOMPOSITION];
    size_t n = decompose(p, cp, parts);
    uint32_t head = (uint32_t)parts[0];
    if (p->n_chars != 0 && combining_class(head) == 0 && (dstok__uc_record(head) & DSTOK_UC_NFC_SECOND) == 0)
        DSTOK_TRY(flush(p));
    DSTOK_TRY(reserve_chars(p, p->n_chars + n));
    for (size_t i = 0; i < n; i++) {
        uint32_t part = (uint32_t)parts[i];
        p->n->chars[p->n_chars++] = (norm_char){part, combining_class(part), begin, end, 0};
    }
    return DSTOK_OK;
}

/* The first character at or after pos that the form may change. */
static size_t inert_end(const pass *p, size_t pos) {
    while (pos < p->len) {
        if (p->src[pos] < 0x80) {
            pos = ascii_end(p->src, p->len, pos);
            continue;
        }
        size_t size;
        if ((dstok__uc_record(dstok__utf8_get(p->src + pos, &size)) & p->inert) == 0) break;
        pos += size;
    }
    return pos;
}

/* Passes over inert text, and rewrites the stretches between. */
static dstok_status apply_form(pass *p) {
    size_t pos = 0;
    for (;;) {
        size_t at = inert_end(p, pos), size;
        if (at == p->len) return DSTOK_OK;
        if (p->compose && at > pos) /* the last inert character may compose with what follows */
            do at--;
            while ((p->src[at] & 0xC0) == 0x80);
        do {
            uint32_t cp = dstok__utf8_get(p->src + at, &size);
            DSTOK_TRY(gather(p, cp, at, at + size));
            at += size;
        } while (at < p->len && (dstok__uc_record(dstok__utf8_get(p->src + at, &size)) & p->inert) == 0);
        DSTOK_TRY(flush(p));
        pos = at;
    }
}

/* ---- Lowercase ---- */

/* Lower-case mappings the reference has (Unicode 17.0) and utf8proc 2.8 (Unicode 15.0) lacks, in order. */
static const struct {
    uint32_t first, last;
    int32_t delta;
} younger_lower[] = {
    {0x1C89, 0x1C89, 1},    {0xA7CB, 0xA7CB, -42343}, {0xA7CC, 0xA7CC, 1}, {0xA7CE, 0xA7CE, 1},
    {0xA7D2, 0xA7D2, 1},    {0xA7D4, 0xA7D4, 1},      {0xA7DA, 0xA7DA, 1}, {0xA7DC, 0xA7DC, -42561},
    {0x10D50, 0x10D65, 32}, {0x16EA0, 0x16EB8, 27},
};

/* Puts the lower case of one character into out, with no rules of language or context. */
static size_t lower(uint32_t cp, uint8_t out[4]) {
    if (cp == 0x130) { /* the one character that becomes two */
        memcpy(out, "i\xCC\x87", 3);
        return 3;
    }
    for (size_t i = 0; i < sizeof younger_lower / sizeof *younger_lower && cp >= younger_lower[i].first; i++)
        if (cp <= younger_lower[i].last)
            return dstok__utf8_put(out, (uint32_t)((int32_t)cp + younger_lower[i].delta));
    return dstok__utf8_put(out, (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp));
}

/* The first byte at or after pos that is not ASCII, or an ASCII capital. */
static size_t lower_ascii_end(const uint8_t *s, size_t len, size_t pos) {
    const uint64_t each = 0x0101010101010101u, high = 0x80 * each;
    for (; len - pos >= ASCII_BLOCK; pos += ASCII_BLOCK) {
        uint64_t block;
        memcpy(&block, s + pos, ASCII_BLOCK);
        /* in ASCII bytes the sums set the high bit from 'A' on, and from 'Z' + 1 on */
        uint64_t capitals = (block + (0x80 - 'A') * each) & ~(block + (0x80 - 'Z' - 1) * each);
        if (((block | capitals) & high) != 0) break;
    }
    while (pos < len && s[pos] < 0x80 && (s[pos] < 'A' || s[pos] > 'Z')) pos++;
    return pos;
}

static dstok_status apply_lowercase(pass *p) {
    for (size_t pos = 0;;) {
        pos = lower_ascii_end(p->src, p->len, pos);
        if (pos == p->len) return DSTOK_OK;
        size_t size;
        uint8_t bytes[4];
        size_t n = lower(dstok__utf8_get(p->src + pos, &size), bytes);
        if (n != size || memcmp(bytes, p->src + pos, n) != 0) {
            DSTOK_TRY(begin_edit(p, pos, pos + size, n));
            DSTOK_TRY(dstok__buf_append(&p->n->spare, bytes, n));
        }
        pos += size;
    }
}

/* ---- one kind after another ---- */

/* Joins n->edits (source to middle) with n->later (middle to result): edits that overlap in the middle become
 * one. The shifts are differences of positions, in arithmetic modulo 2^64. */
static dstok_status join_edits(dstok__normalized *n) {
    size_t n_a = n->n_edits, n_b = n->n_later, i = 0, j = 0, to = 0;
    DSTOK_TRY(grow_edits(n->buf.al, &n->edits, &n->cap_edits, n_a + n_b));
    dstok__edit *a = n->edits + n_b; /* out of the way: writing never overtakes reading */
    const dstok__edit *b = n->later;
    memmove(a, n->edits, n_a * sizeof *a);
    size_t src_shift = 0, out_shift = 0;
    while (i < n_a || j < n_b) {
        bool take_a = j == n_b || (i < n_a && a[i].out <= b[j].src), take_b = !take_a;
        size_t begin = take_a ? a[i].out : b[j].src, end = begin;
        size_t src = begin + src_shift, out = begin + out_shift;
        while (take_a || take_b) {
            size_t edit_end = take_a ? a[i].out + a[i].out_n : b[j].src + b[j].src_n;
            if (edit_end > end) end = edit_end;
            if (take_a) {
                src_shift = a[i].src + a[i].src_n - edit_end;
                i++;
            } else {
                out_shift = b[j].out + b[j].out_n - edit_end;
                j++;
            }
            take_a = i < n_a && a[i].out < end;
            take_b = !take_a && j < n_b && b[j].src < end;
        }
        DSTOK_TRY(set_edit(&n->edits[to++], out, end + out_shift - out, src, end + src_shift - src));
    }
    n->n_edits = to;
    return DSTOK_OK;
}

/* The edits of the pass become those of n, or join them. */
static dstok_status adopt_edits(dstok__normalized *n) {
    if (n->n_edits != 0) return join_edits(n);
    dstok__edit *edits = n->edits;
    size_t cap = n->cap_edits;
    n->edits = n->later, n->n_edits = n->n_later, n->cap_edits = n->cap_later;
    n->later = edits, n->cap_later = cap;
    return DSTOK_OK;
}

static pass pass_for(dstok__normalized *n, dstok__norm_kind kind) {
    pass p = {.n = n, .src = n->text, .len = n->len};
    p.compose = kind == DSTOK__NORM_NFC || kind == DSTOK__NORM_NFKC;
    if (kind == DSTOK__NORM_NFC || kind == DSTOK__NORM_NFD) {
        p.inert = p.compose ? DSTOK_UC_NFC_INERT : DSTOK_UC_NFD_INERT;
        p.whole = DSTOK_UC_NFD_INERT;
        p.decompose = UTF8PROC_DECOMPOSE;
    } else {
        p.inert = p.compose ? DSTOK_UC_NFKC_INERT : DSTOK_UC_NFKD_INERT;
        p.whole = DSTOK_UC_NFKD_INERT;
        p.decompose = UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
    }
    return p;
}

/* Applies one kind to n->text: the result goes to n->spare, which then changes places with n->buf. */
static dstok_status apply(dstok__normalized *n, dstok__norm_kind kind) {
    pass p = pass_for(n, kind);
    n->spare.len = n->n_later = 0;
    DSTOK_TRY(kind == DSTOK__NORM_LOWERCASE ? apply_lowercase(&p) : apply_form(&p));
    if (n->n_later == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__buf_append(&n->spare, p.src + p.copied, p.len - p.copied));
    DSTOK_TRY(adopt_edits(n));
    dstok__buf result = n->spare;
    n->spare = n->buf;
    n->buf = result;
    n->text = result.data;
    n->len = result.len;
    return DSTOK_OK;
}

void dstok__normalized_init(dstok__normalized *n, const dstok_alloc *al) {
    *n = (dstok__normalized){0};
    dstok__buf_init(&n->buf, al, SIZE_MAX);
    dstok__buf_init(&n->spare, al, SIZE_MAX);
}

void dstok__normalized_free(dstok__normalized *n) {
    const dstok_alloc *al = n->buf.al;
    dstok__free(al, n->edits, n->cap_edits * sizeof *n->edits);
    dstok__free(al, n->later, n->cap_later * sizeof *n->later);
    dstok__free(al, n->chars, n->cap_chars * sizeof *n->chars);
    dstok__buf_free(&n->buf);
    dstok__buf_free(&n->spare);
    dstok__normalized_init(n, al);
}

dstok_status dstok__normalize(dstok__normalized *n, const dstok__norm_kind *kinds, size_t n_kinds,
                              const uint8_t *src, size_t len, size_t max) {
    n->buf.max = n->spare.max = max;
    n->buf.len = n->n_edits = 0;
    n->text = src;
    n->len = len;
    for (size_t i = 0; i < n_kinds; i++) DSTOK_TRY(apply(n, kinds[i]));
    return n->len > max ? DSTOK_E_LIMIT : DSTOK_OK;
}

dstok_status dstok__normalized_prepend(dstok__normalized *n, const char *text, size_t text_n) {
    if (text_n == 0) return DSTOK_OK;
    DSTOK_TRY(grow_edits(n->buf.al, &n->edits, &n->cap_edits, n->n_edits + 1));
    n->spare.len = 0;
    DSTOK_TRY(dstok__buf_append(&n->spare, text, text_n));
    DSTOK_TRY(dstok__buf_append(&n->spare, n->text, n->len));
    memmove(n->edits + 1, n->edits, n->n_edits * sizeof *n->edits);
    for (size_t i = 1; i <= n->n_edits; i++) n->edits[i].out += text_n;
    DSTOK_TRY(set_edit(&n->edits[0], 0, text_n, 0, 0));
    n->n_edits++;
    dstok__buf result = n->spare;
    n->spare = n->buf;
    n->buf = result;
    n->text = result.data;
    n->len = result.len;
    return DSTOK_OK;
}

/* ---- mapping back ---- */

void dstok__map_cursor_init(dstok__map_cursor *c, const dstok__normalized *n) {
    *c = (dstok__map_cursor){.n = n};
}

static int64_t shift_after(const dstok__edit *e) {
    return (int64_t)(e->src + e->src_n) - (int64_t)(e->out + e->out_n);
}

dstok_span dstok__map_range(dstok__map_cursor *c, size_t begin, size_t end) {
    const dstok__edit *edits = c->n->edits;
    size_t n = c->n->n_edits;
    for (; c->edit < n && edits[c->edit].out + edits[c->edit].out_n <= begin; c->edit++)
        c->shift = shift_after(&edits[c->edit]);
    size_t i = c->edit;
    bool inside = i < n && edits[i].out <= begin;
    uint64_t src = inside ? edits[i].src : (uint64_t)((int64_t)begin + c->shift);
    if (end <= begin) return (dstok_span){src, src};
    int64_t shift = c->shift;
    for (; i < n && edits[i].out < end; i++) {
        if (edits[i].out + edits[i].out_n > end) return (dstok_span){src, edits[i].src + edits[i].src_n};
        shift = shift_after(&edits[i]);
    }
    return (dstok_span){src, (uint64_t)((int64_t)end + shift)};
}
