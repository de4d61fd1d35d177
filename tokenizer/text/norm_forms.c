/* SPDX-License-Identifier: MIT */
/* The normal forms: decompose, order and compose a few characters at a time. */
#include "norm.h"
#include "utf8.h"

#include "../../data/unicode/unicode.h"
#include "../../simd/simd.h"

#include <string.h>
#include <utf8proc.h>

enum { MAX_DECOMPOSITION = 18, AHEAD = 16 };

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
    const dstok__simd *simd; /* NFC: leads are known; NULL: they are not asked for */
    size_t from, to;         /* leads are those of src[from, to) */
    uint64_t leads[AHEAD];   /* begins of characters that NFC may change */
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

/* The begins of characters from pos on that are worth a look, in the 64 bytes from *begin on. */
static uint64_t look_ahead(pass *p, size_t pos, size_t *begin) {
    if (pos >= p->to) {
        uint8_t last[64] = {0};
        size_t left = p->len - pos, n = left / 64 < AHEAD ? left / 64 : AHEAD;
        p->from = pos;
        p->to = pos + 64 * n;
        p->simd->nfc_leads(p->src + pos, n, p->leads);
        if (n == 0) {
            p->simd->nfc_leads(memcpy(last, p->src + pos, left), 1, p->leads);
            p->to = p->len;
        }
    }
    size_t at = pos - p->from;
    *begin = pos - at % 64;
    return p->leads[at / 64] & UINT64_MAX << (at % 64);
}

/* The last quiet mark so far. */
typedef struct last_mark {
    uint32_t cp;
    size_t end; /* where it ends */
} last_mark;

/* Is the character at src[pos] left as it is: inert, or a quiet mark that stands in order? */
static inline bool is_kept(const pass *p, size_t pos, size_t *width, last_mark *mark) {
    uint32_t cp = dstok__utf8_get(p->src + pos, width);
    unsigned record = dstok__uc_record(cp);
    if ((record & p->inert) != 0) return true;
    if ((record & DSTOK_UC_QUIET_MARK) == 0) return false;
    if (pos == mark->end && combining_class(mark->cp) > combining_class(cp)) return false;
    *mark = (last_mark){cp, pos + *width};
    return true;
}

/* The first character from pos on, where one begins, that is not left as it is. */
static size_t kept_end(pass *p, size_t pos) {
    last_mark mark = {0, SIZE_MAX};
    size_t width, begin;
    if (p->simd == NULL) {
        while ((pos = dstok__norm_ascii_end(p->src, p->len, pos)) < p->len && is_kept(p, pos, &width, &mark))
            pos += width;
        return pos;
    }
    for (; pos < p->len; pos = begin + 64) {
        for (uint64_t leads = look_ahead(p, pos, &begin); leads != 0; leads &= leads - 1) {
            size_t at = begin + (size_t)__builtin_ctzll(leads);
            if (!is_kept(p, at, &width, &mark)) return at;
        }
    }
    return p->len;
}

/* The begin of the last inert character before pos, or floor: it may compose with what follows, and the marks behind it
 * may change places. */
static size_t last_inert(const pass *p, size_t floor, size_t pos) {
    while (pos > floor) {
        do pos--;
        while (dstok__is_continuation(p->src[pos]));
        size_t width;
        if ((dstok__uc_record(dstok__utf8_get(p->src + pos, &width)) & p->inert) != 0) break;
    }
    return pos;
}

/* Passes over text that stays as it is, and rewrites the stretches between. */
static dstok_status apply_form(pass *p) {
    size_t pos = 0;
    for (;;) {
        size_t at = kept_end(p, pos), size;
        if (at == p->len) return DSTOK_OK;
        at = last_inert(p, pos, at);
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
    if (compose) p.simd = dstok__simd_best(DSTOK__N_TIERS);
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
