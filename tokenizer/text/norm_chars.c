/* SPDX-License-Identifier: MIT */
/* Operations on one character at a time: dropping, making blanks, lowering, setting between blanks. */
#include "norm.h"
#include "utf8.h"

#include "../../data/unicode/unicode.h"
#include "../load/bytelevel.h"

#include <utf8proc.h>

enum { ASCII_BLOCK = 8 };

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

dstok_status dstok__norm_lowercase(dstok__norm_pass *p, const dstok__norm_op *op) {
    (void)op;
    for (size_t pos = 0;;) {
        pos = lower_ascii_end(p->src, p->len, pos);
        if (pos == p->len) return DSTOK_OK;
        size_t size;
        uint8_t bytes[4];
        size_t n = lower(dstok__utf8_get(p->src + pos, &size), bytes);
        if (n != size || memcmp(bytes, p->src + pos, n) != 0)
            DSTOK_TRY(dstok__norm_put(p, pos, pos + size, bytes, n, pos));
        pos += size;
    }
}

/* ---- dropping characters, and making them blanks ---- */

typedef enum verdict { KEEP, DROP, BLANK } verdict;
typedef verdict judge_fn(uint32_t cp);

/* The first byte at or after pos that is no printable ASCII: those are kept by every judge. */
static size_t printable_end(const uint8_t *s, size_t len, size_t pos) {
    while (pos < len && s[pos] >= 0x20 && s[pos] < 0x7F) pos++;
    return pos;
}

/* The end of the run of dropped characters at pos. */
static size_t dropped_end(const dstok__norm_pass *p, size_t pos, judge_fn *judge) {
    size_t size;
    while (pos < p->len && judge(dstok__utf8_get(p->src + pos, &size)) == DROP) pos += size;
    return pos;
}

static dstok_status sift(dstok__norm_pass *p, judge_fn *judge) {
    for (size_t pos = 0;;) {
        pos = printable_end(p->src, p->len, pos);
        if (pos == p->len) return DSTOK_OK;
        size_t end = dropped_end(p, pos, judge), size;
        if (end > pos) {
            DSTOK_TRY(dstok__norm_edit(p, pos, end, 0, pos));
            pos = end;
            continue;
        }
        verdict v = judge(dstok__utf8_get(p->src + pos, &size));
        if (v == BLANK) DSTOK_TRY(dstok__norm_put(p, pos, pos + size, " ", 1, pos));
        pos += size;
    }
}

/* Marks in Unicode 9.0. */
static verdict judge_mark(uint32_t cp) {
    if (cp < 0x300) return KEEP;
    if (cp == 0x111C9) return KEEP;                /* punctuation then */
    if (cp == 0x1CF2 || cp == 0x1CF3) return DROP; /* marks then */
    return (dstok__uc_record(cp) & DSTOK_UC_IN_9) != 0 && dstok__uc_in(cp, DSTOK_UC_M) ? DROP : KEEP;
}

dstok_status dstok__norm_strip_accents(dstok__norm_pass *p, const dstok__norm_op *op) {
    (void)op;
    return sift(p, judge_mark);
}

static verdict judge_nmt(uint32_t cp) {
    if (cp < 0x20)
        return cp == 0 ? KEEP : cp == '\t' || cp == '\n' || cp == '\f' || cp == '\r' ? BLANK : DROP;
    if (cp == 0x7F || cp == 0x8F || cp == 0x9F) return DROP;
    bool blank = cp == 0x1680 || (cp >= 0x200B && cp <= 0x200F) || cp == 0x2028 || cp == 0x2029 ||
                 cp == 0x2581 || cp == 0xFEFF || cp == 0xFFFD;
    return blank ? BLANK : KEEP;
}

dstok_status dstok__norm_nmt(dstok__norm_pass *p, const dstok__norm_op *op) {
    (void)op;
    return sift(p, judge_nmt);
}

/* ---- Bert: categories of Unicode 8.0 ---- */

#define OTHER (DSTOK_UC_BIT(DSTOK_GC_CC) | DSTOK_UC_BIT(DSTOK_GC_CF) | DSTOK_UC_BIT(DSTOK_GC_CO))

static bool is_other(uint32_t cp) {
    if (cp == '\t' || cp == '\n' || cp == '\r' || cp == 0x8E2) return false; /* 08E2: new in 9.0 */
    return (dstok__uc_record(cp) & DSTOK_UC_IN_9) != 0 && dstok__uc_in(cp, OTHER);
}

static verdict judge_clean(uint32_t cp) {
    if (cp == 0xFFFD || is_other(cp)) return DROP;
    return cp != ' ' && dstok__uc_is_space(cp) ? BLANK : KEEP;
}

dstok_status dstok__norm_bert_clean(dstok__norm_pass *p, const dstok__norm_op *op) {
    (void)op;
    return sift(p, judge_clean);
}

/* Nonspacing marks of 9.0 that were none in 8.0. */
static const uint32_t younger_marks[][2] = {
    {0x8D4, 0x8E1},     {0x1885, 0x1886},   {0x1DFB, 0x1DFB},   {0xA8C5, 0xA8C5},
    {0xA9BD, 0xA9BD},   {0x111C9, 0x111C9}, {0x1123E, 0x1123E}, {0x11438, 0x11446},
    {0x11C30, 0x11CB6}, {0x1E000, 0x1E02A}, {0x1E944, 0x1E94A},
};

static verdict judge_nonspacing(uint32_t cp) {
    if (cp < 0x300) return KEEP;
    if (cp == 0x1734 || cp == 0x1171E) return DROP; /* nonspacing then */
    if ((dstok__uc_record(cp) & DSTOK_UC_IN_9) == 0 || !dstok__uc_in(cp, DSTOK_UC_BIT(DSTOK_GC_MN)))
        return KEEP;
    for (size_t i = 0; i < sizeof younger_marks / sizeof *younger_marks; i++)
        if (cp >= younger_marks[i][0] && cp <= younger_marks[i][1]) return KEEP;
    return DROP;
}

dstok_status dstok__norm_bert_accents(dstok__norm_pass *p, const dstok__norm_op *op) {
    (void)op;
    return sift(p, judge_nonspacing);
}

static bool is_chinese(uint32_t cp) {
    if (cp < 0x3400) return false;
    if (cp < 0xF900) return cp <= 0x4DBF || (cp >= 0x4E00 && cp <= 0x9FFF);
    return cp <= 0xFAFF || (cp >= 0x20000 && cp <= 0x2A6DF) || (cp >= 0x2A700 && cp <= 0x2B81F) ||
           (cp >= 0x2B920 && cp <= 0x2CEAF) || (cp >= 0x2F800 && cp <= 0x2FA1F);
}

/* Puts a blank on either side; they take the place of the character between them. */
dstok_status dstok__norm_bert_chinese(dstok__norm_pass *p, const dstok__norm_op *op) {
    (void)op;
    for (size_t pos = 0;;) {
        pos = dstok__norm_ascii_end(p->src, p->len, pos);
        if (pos == p->len) return DSTOK_OK;
        size_t size;
        if (is_chinese(dstok__utf8_get(p->src + pos, &size))) {
            DSTOK_TRY(dstok__norm_put(p, pos, pos, " ", 1, pos));
            DSTOK_TRY(dstok__norm_put(p, pos + size, pos + size, " ", 1, pos));
        }
        pos += size;
    }
}

/* ---- Strip, ByteLevel ---- */

dstok_status dstok__norm_strip(dstok__norm_pass *p, const dstok__norm_op *op) {
    size_t begin = 0, end = p->len, size;
    if ((op->norm.flags & DSTOK__STRIP_LEFT) != 0)
        while (begin < end && dstok__uc_is_space(dstok__utf8_get(p->src + begin, &size))) begin += size;
    if ((op->norm.flags & DSTOK__STRIP_RIGHT) != 0)
        while (end > begin && dstok__uc_is_space(dstok__utf8_before(p->src + end, &size))) end -= size;
    if (begin > 0) DSTOK_TRY(dstok__norm_edit(p, 0, begin, 0, 0));
    if (end < p->len) DSTOK_TRY(dstok__norm_edit(p, end, p->len, 0, end));
    return DSTOK_OK;
}

/* Each byte has its own edit. The reference gives all of them the place of their character. */
dstok_status dstok__norm_byte_level(dstok__norm_pass *p, const dstok__norm_op *op) {
    (void)op;
    size_t begin = 0; /* of the character */
    for (size_t pos = 0; pos < p->len; pos++) {
        uint8_t bytes[4];
        if (!dstok__is_continuation(p->src[pos])) begin = pos;
        uint32_t c = dstok__bytelevel_char(p->src[pos]);
        if (c == p->src[pos] && c < 0x80) continue;
        DSTOK_TRY(dstok__norm_put(p, pos, pos + 1, bytes, dstok__utf8_put(bytes, c), begin));
    }
    return DSTOK_OK;
}
