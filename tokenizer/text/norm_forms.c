/* SPDX-License-Identifier: MIT */
/* The normal forms: decompose, order and compose a few characters at a time. */
#include "norm.h"
#include "utf8.h"

#include "../../data/unicode/unicode.h"

#include <string.h>
#include <utf8proc.h>

enum { MAX_DECOMPOSITION = 18 };

/* A character between decomposition and output. */
typedef struct dstok__norm_char {
    uint32_t cp;
    uint8_t ccc;       /* canonical combining class */
    int32_t change;    /* what dstok__norm_walk is told of it */
    size_t begin, end; /* the source bytes it came from */
    size_t floor;      /* smallest begin of this and all later ones */
} norm_char;

/* One form being applied to one text. */
typedef struct pass {
    dstok__norm_pass *p;
    dstok__normalized *n;
    const uint8_t *src;
    size_t len;
    size_t n_chars;
    unsigned inert; /* flag of the code points that the form leaves alone */
    unsigned whole; /* flag of the code points that do not decompose */
    utf8proc_option_t decompose;
    bool compose;
} pass;

/* In the 9.0 view, like all that follows: younger code points are inert in our tables, so utf8proc, which may
 * know them, is not asked. */
static uint8_t combining_class(uint32_t cp) {
    if ((dstok__uc_record(cp) & DSTOK_UC_NFD_INERT) != 0) return 0;
    return (uint8_t)utf8proc_get_property((utf8proc_int32_t)cp)->combining_class;
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
    for (size_t i = 0; i < n; i++) next[marks[i].ccc]++;
    for (size_t c = 0; c < 256; c++) {
        size_t count = next[c];
        next[c] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) sorted[next[marks[i].ccc]++] = marks[i];
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
                chars[starter].change += c.change - 1;
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
    DSTOK_TRY(dstok__norm_edit(p->p, begin, end, size, DSTOK__NORM_NO_PLACE));
    for (size_t i = 0; i < n; i++)
        DSTOK_TRY(dstok__buf_append(&p->n->spare, bytes, dstok__utf8_put(bytes, chars[i].cp)));
    return DSTOK_OK;
}

/* Writes the places of chars[0, n), which came from src[begin, end). */
static dstok_status write_places(pass *p, size_t begin, size_t end) {
    if (!p->n->want_from) return DSTOK_OK;
    DSTOK_TRY(dstok__norm_keep_places(p->p, begin));
    size_t at = begin;
    for (size_t i = 0; i < p->n_chars; i++) {
        uint8_t bytes[4];
        const norm_char *c = &p->n->chars[i];
        DSTOK_TRY(dstok__norm_walk(p->p, &at, dstok__utf8_put(bytes, c->cp), c->change));
    }
    p->p->placed = end;
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
    if (p->n_chars > 0) DSTOK_TRY(write_places(p, chars[0].floor, ceiling));
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
        p->n->chars[p->n_chars++] = (norm_char){part, combining_class(part), i > 0, begin, end, 0};
    }
    return DSTOK_OK;
}

/* The first character at or after pos that the form may change. */
static size_t inert_end(const pass *p, size_t pos) {
    while (pos < p->len) {
        if (p->src[pos] < 0x80) {
            pos = dstok__norm_ascii_end(p->src, p->len, pos);
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

void dstok__norm_free_chars(dstok__normalized *n) {
    dstok__free(n->buf.al, n->chars, n->cap_chars * sizeof *n->chars);
}

static dstok_status canonical(dstok__norm_pass *np, bool compose) {
    pass p = {.p = np, .n = np->n, .src = np->src, .len = np->len, .compose = compose};
    p.inert = compose ? DSTOK_UC_NFC_INERT : DSTOK_UC_NFD_INERT;
    p.whole = DSTOK_UC_NFD_INERT;
    p.decompose = UTF8PROC_DECOMPOSE;
    np->places_itself = true;
    DSTOK_TRY(apply_form(&p));
    return dstok__norm_keep_places(np, np->len);
}

static dstok_status compatible(dstok__norm_pass *np, bool compose) {
    pass p = {.p = np, .n = np->n, .src = np->src, .len = np->len, .compose = compose};
    p.inert = compose ? DSTOK_UC_NFKC_INERT : DSTOK_UC_NFKD_INERT;
    p.whole = DSTOK_UC_NFKD_INERT;
    p.decompose = UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
    np->places_itself = true;
    DSTOK_TRY(apply_form(&p));
    return dstok__norm_keep_places(np, np->len);
}

dstok_status dstok__norm_nfc(dstok__norm_pass *p, const dstok__norm_op *op) {
    (void)op;
    return canonical(p, true);
}

dstok_status dstok__norm_nfd(dstok__norm_pass *p, const dstok__norm_op *op) {
    (void)op;
    return canonical(p, false);
}

dstok_status dstok__norm_nfkc(dstok__norm_pass *p, const dstok__norm_op *op) {
    (void)op;
    return compatible(p, true);
}

dstok_status dstok__norm_nfkd(dstok__norm_pass *p, const dstok__norm_op *op) {
    (void)op;
    return compatible(p, false);
}
