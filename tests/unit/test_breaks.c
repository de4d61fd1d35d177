/* SPDX-License-Identifier: MIT */
/* Borders of graphemes, words and sentences against the rules of UAX #29 as written (break_naive.h), the
 * official test files, and each other; lines and paragraphs against their definition; texts made to be
 * slow. */
#include "../../align/breaks.h"
#include "../../simd/simd.h"
#include "../harness/t.h"
#include "../oracle/gen.h"
#include "break_golden.h"
#include "break_naive.h"

#include <stdlib.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { N_KINDS = DSTOK_BREAK_PARAGRAPH + 1 };
static const char *const names[N_KINDS] = {"grapheme", "word", "sentence", "line", "paragraph"};

/* ---- a text with the borders it must have ---- */

typedef struct sample {
    const uint8_t *text;
    size_t len;
    size_t n; /* characters */
    size_t begin[NAIVE_MAX + 1];
    uint8_t class[3][NAIVE_MAX];
    uint32_t cp[NAIVE_MAX]; /* UINT32_MAX: ill-formed */
} sample;

/* Reads characters as table 3-7 has them; what is not in it, by maximal subparts. */
static void read_text(sample *s, const uint8_t *text, size_t len) {
    *s = (sample){.text = text, .len = len};
    for (size_t at = 0, width; at < len; at += width) {
        size_t bad = 0;
        unsigned record = dstok__break_at(text, len, at, &width);
        s->cp[s->n] = text[at];
        if (text[at] >= 0x80) {
            size_t good;
            bad = dstok__utf8_ill_formed(text + at, len - at, &good);
            s->cp[s->n] =
                bad > 0     ? UINT32_MAX
                : good == 2 ? (text[at] & 0x1Fu) << 6 | (text[at + 1] & 0x3Fu)
                            : (text[at] & 0x0Fu) << 12 | (text[at + 1] & 0x3Fu) << 6 | (text[at + 2] & 0x3Fu);
            if (bad == 0 && good == 4) s->cp[s->n] = 0x10000; /* none of these is white */
            CHECK_EQ(width, bad > 0 ? bad : good);
            if (bad > 0) CHECK_EQ(record, 0);
        }
        s->class[0][s->n] = (uint8_t)DSTOK_GCB_OF(record);
        s->class[1][s->n] = (uint8_t)DSTOK_WB_OF(record);
        s->class[2][s->n] = (uint8_t)DSTOK_SB_OF(record);
        s->begin[s->n++] = at;
    }
    s->begin[s->n] = len;
}

/* Does a line end with character i? */
static bool ends_line(const sample *s, size_t i) {
    uint32_t c = s->cp[i];
    if (c == '\r') return i + 1 == s->n || s->cp[i + 1] != '\n';
    return c == '\n' || c == 0x2028 || c == 0x2029;
}

static bool is_white(uint32_t c) {
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
           c == 0x3000;
}

/* Is the line of character i blank? */
static bool is_blank_line(const sample *s, size_t i) {
    while (i > 0 && !ends_line(s, i - 1)) i--;
    for (; i < s->n && is_white(s->cp[i]); i++) {
        if (ends_line(s, i)) return true;
    }
    return i == s->n;
}

/* Is there a border before character i, 0 < i < n? */
static bool want_border(const sample *s, size_t i, int kind) {
    if (kind == DSTOK_BREAK_GRAPHEME) return naive_grapheme(s->class[0], s -> n, i);
    if (kind == DSTOK_BREAK_WORD) return naive_word(s->class[1], s -> n, i);
    if (kind == DSTOK_BREAK_SENTENCE) return naive_sentence(s->class[2], s -> n, i);
    if (!ends_line(s, i - 1)) return false;
    if (kind == DSTOK_BREAK_LINE) return true;
    return !is_blank_line(s, i) && (s->cp[i - 1] == 0x2029 || is_blank_line(s, i - 1));
}

static void fault(const sample *s, int kind, const char *what, size_t at) {
    if (++t_failures > 10) return;
    fprintf(stderr, "%s: %s at %zu: ", names[kind], what, at);
    gen_print(s->text, s->len);
}

static bool is_border(const dstok__borders *c, size_t at, int kind) {
    bool (*const all[])(const dstok__borders *, size_t) = {dstok__is_grapheme_border, dstok__is_word_border,
                                                           dstok__is_sentence_border, dstok__is_line_border,
                                                           dstok__is_paragraph_border};
    return all[kind](c, at);
}

/* Forward, and at each place by looking back: as far as the begin, and as far as the border before. */
static void check_kind(const sample *s, int kind) {
    uint64_t next = 0, border = 0;
    size_t last = 0;
    for (size_t i = 1; i <= s->n; i++) {
        size_t at = s->begin[i];
        bool want = i == s->n || want_border(s, i, kind);
        const dstok__borders all = {s->text, 0, s->len}, near = {s->text, last, s->len};
        t_checks++;
        if (i < s->n && is_border(&all, at, kind) != want) fault(s, kind, "looking back differs", at);
        if (i < s->n && is_border(&near, at, kind) != want) fault(s, kind, "looking back less differs", at);
        for (size_t inside = at; inside > s->begin[i - 1]; inside--) {
            uint64_t want_last = inside == at && want ? at : last;
            if (dstok_break_last(s->text, s->len, inside % 2 ? last : 0, inside, kind, &border) != DSTOK_OK ||
                border != want_last)
                fault(s, kind, "the last border differs", inside);
        }
        if (!want) continue;
        if (dstok_break_next(s->text, s->len, last, kind, &next) != DSTOK_OK || next != at) {
            fault(s, kind, "the next border differs", at);
            return;
        }
        last = at;
    }
}

static void check_text(const uint8_t *text, size_t len) {
    static sample s;
    uint8_t *exact = malloc(len > 0 ? len : 1);
    memcpy(exact, text, len);
    read_text(&s, exact, len);
    for (int kind = 0; kind < N_KINDS; kind++) check_kind(&s, kind);
    free(exact);
}

/* ---- all short strings of classes ---- */

/* A character of each class, found in the tables. */
static uint32_t of_class[3][32];

static size_t put(uint8_t *to, uint32_t c) {
    if (c < 0x80) {
        to[0] = (uint8_t)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6) to[i] = (uint8_t)(0x80 | (c & 0x3F));
    to[0] = (uint8_t)((0xF00u >> n & 0xFF) | c);
    return n;
}

static const int n_classes[3] = {DSTOK_N_GCB, DSTOK_N_WB, DSTOK_N_SB};

static unsigned class_of(uint32_t cp, int kind) {
    unsigned r = dstok__break_record(cp);
    return kind == 0 ? DSTOK_GCB_OF(r) : kind == 1 ? DSTOK_WB_OF(r) : DSTOK_SB_OF(r);
}

static void find_classes(void) {
    for (int kind = 0; kind < 3; kind++) {
        for (uint32_t cp = 0x110000; cp > 0; cp--) of_class[kind][class_of(cp - 1, kind)] = cp - 1;
        for (int k = 0; k < n_classes[kind]; k++) CHECK_EQ(class_of(of_class[kind][k], kind), k);
    }
}

/* Every string of `length` of the classes, by their numbers in one kind; only this kind is checked. */
static void check_strings(int kind, const uint8_t *classes, uint32_t n, uint32_t length) {
    static sample s;
    uint64_t total = 1;
    for (uint32_t i = 0; i < length; i++) total *= n;
    for (uint64_t number = 0; number < total; number++) {
        uint8_t text[64];
        size_t len = 0;
        uint64_t rest = number;
        for (uint32_t i = 0; i < length; i++, rest /= n)
            len += put(text + len, of_class[kind][classes[rest % n]]);
        read_text(&s, text, len);
        check_kind(&s, kind);
    }
}

static void test_strings(void) {
    static const uint8_t some[][7] = {
        {G(PICT), G(ZWJ), G(EXTEND), G(ZWNJ), G(RI), G(OTHER), G(PREPEND)},
        {G(CONSONANT), G(LINKER), G(ZWJ), G(EXTEND), G(ZWNJ), G(PICT), G(SPACING)},
        {G(L), G(V), G(T), G(LV), G(LVT), G(EXTEND), G(RI)},
        {W(LETTER), W(HEBREW), W(SINGLE), W(DOUBLE), W(EXTEND), W(MIDLETTER), W(NUMERIC)},
        {W(NUMERIC), W(LETTER_PICT), W(MIDNUM), W(MIDNUMLET), W(FORMAT), W(ZWJ), W(LF)},
        {W(RI), W(ZWJ), W(PICT), W(SPACE), W(EXTENDNUMLET), W(KATAKANA), W(CR)},
        {S(ATERM), S(CLOSE), S(SP), S(LOWER), S(UPPER), S(EXTEND), S(NUMERIC)},
        {S(STERM), S(ATERM), S(SP), S(CLOSE), S(CONTINUE), S(LF), S(CR)},
        {S(ATERM), S(SP), S(FORMAT), S(OLETTER), S(SEP), S(LOWER), S(OTHER)},
    };
    uint8_t all[32];
    for (uint8_t k = 0; k < 32; k++) all[k] = k;
    for (int kind = 0; kind < 3; kind++) {
        for (uint32_t length = 1; length <= 4; length++)
            check_strings(kind, all, (uint32_t)n_classes[kind], length);
        for (int k = 0; k < 3; k++) check_strings(kind, some[3 * kind + k], 7, 6);
    }
}

/* ---- random texts ---- */

static void test_random(void) {
    t_rng rng = {41};
    uint8_t text[NAIVE_MAX];
    for (int round = 0; round < 6000; round++) {
        size_t len = 0, max = t_below(&rng, 300);
        int kind = (int)t_below(&rng, 3);
        while (len + 8 < max) {
            uint32_t what = t_below(&rng, 10), class = t_below(&rng, (uint32_t)n_classes[kind]);
            size_t n = 1;
            if (what < 7)
                len += put(text + len, of_class[kind][class]);
            else if (what == 7)
                for (n += t_below(&rng, 4); n > 0 && len + 8 < max; n--)
                    len += put(text + len, of_class[kind][class]);
            else if (what == 8)
                len += put(text + len, t_below(&rng, 2)   ? ' '
                                       : t_below(&rng, 2) ? '\n'
                                                          : 0x2029 - t_below(&rng, 2));
            else
                text[len++] = (uint8_t)t_random(&rng);
        }
        check_text(text, len);
        check_text(text, round % 2 == 0 ? gen_bytes(&rng, text, 200) : gen_text(&rng, text, 200));
    }
}

/* ---- the official files ---- */

#define FOLDER "/usr/share/unicode/auxiliary/"

/* One line: hexadecimal code points between signs for "border" and "none". Returns 0 when it holds no
 * string. */
static size_t read_line(const char *line, uint8_t *text, bool *border, size_t *len) {
    size_t n = 0;
    *len = 0;
    for (; *line != 0 && *line != '#' && *line != '\n'; line++) {
        if (strncmp(line, "\xC3\xB7", 2) == 0) border[*len] = true;  /* division sign */
        if (strncmp(line, "\xC3\x97", 2) == 0) border[*len] = false; /* multiplication sign */
        if (strchr("0123456789ABCDEF", *line) == NULL) continue;
        char *end;
        size_t width = put(text + *len, (uint32_t)strtoul(line, &end, 16));
        for (size_t k = 1; k < width; k++) border[*len + k] = false;
        *len += width;
        n++;
        line = end - 1;
    }
    return n;
}

/* Files of Debian are of Unicode 15.0. None of their lines says anything else than 16.0: rule GB9c, which
 * came with 15.1, joins letters that no line has next to each other. */
static void test_official(void) {
    static const char *const files[] = {"GraphemeBreakTest.txt", "WordBreakTest.txt",
                                        "SentenceBreakTest.txt"};
    for (int kind = 0; kind < 3; kind++) {
        char path[100], line[2000];
        int n = 0;
        snprintf(path, sizeof path, FOLDER "%s", files[kind]);
        FILE *f = fopen(path, "r");
        if (f == NULL) {
            fprintf(stderr, "SKIPPED: %s is not here, Debian package unicode-data\n", path);
            continue;
        }
        while (fgets(line, sizeof line, f) != NULL) {
            uint8_t text[300];
            bool border[300] = {false};
            static sample s;
            size_t len;
            if (read_line(line, text, border, &len) == 0) continue;
            n++;
            read_text(&s, text, len);
            check_kind(&s, kind);
            for (uint64_t at = 0, next; at < len; at = next) {
                CHECK_EQ(dstok_break_next(text, len, at, kind, &next), DSTOK_OK);
                for (uint64_t k = at + 1; k <= next; k++) {
                    if (border[k] != (k == next)) fault(&s, kind, "the official file differs", k);
                }
            }
        }
        fclose(f);
        fprintf(stderr, "%s: %d lines of %s\n", names[kind], n, files[kind]);
        CHECK(n > 400);
    }
}

/* ---- texts made to be slow ---- */

static double seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

/* All segments; then every place asked, with a begin that keeps up; then places from behind, each from the
 * begin. */
static void check_slow(const char *what, const uint8_t *text, size_t len, int kind) {
    double from = seconds();
    uint64_t next, last = 0, border;
    size_t n = 0;
    for (uint64_t at = 0; at < len; at = next, n++) {
        if (dstok_break_next(text, len, at, kind, &next) != DSTOK_OK || next <= at) break;
    }
    for (size_t at = 0; at <= len;
         at = dstok__char_of(text, len, at + 4 <= len ? at + 4 : len) + (at + 4 > len)) {
        const dstok__borders c = {text, (size_t)last, len};
        if (at > last && (at == len || is_border(&c, at, kind))) last = at;
    }
    for (int k = 0; k < 5; k++) {
        CHECK_EQ(dstok_break_last(text, len, 0, len - (size_t)k * (len / 7) - 1, kind, &border), DSTOK_OK);
    }
    double took = seconds() - from;
    t_checks++;
    if (took > 20 && ++t_failures < 10)
        fprintf(stderr, "%s, %s: %.1f s for %zu bytes\n", names[kind], what, took, len);
}

static void test_slow(void) {
    static const char *const units[] = {"\xCC\x81",
                                        "\xF0\x9F\x87\xA9",
                                        "\xE2\x80\x8D",
                                        "\xF0\x9F\x87\xA9\xCC\x81",
                                        "\xF0\x9F\x91\xA9\xE2\x80\x8D",
                                        "'",
                                        "a'",
                                        "a'\xCC\x81",
                                        "1,",
                                        "1.a",
                                        ".",
                                        ". ",
                                        ".)",
                                        ". )",
                                        ",",
                                        " ",
                                        ") ",
                                        ")\xCC\x81",
                                        " \xCC\x81",
                                        "\n",
                                        "\r",
                                        " \n",
                                        "\xE2\x80\xA8",
                                        "\xE0\xA4\x95\xE0\xA5\x8D",
                                        "\xE0\xA5\x8D",
                                        "\xE1\x84\x80",
                                        "\xD7\x90\"",
                                        "a",
                                        "\x80",
                                        "\xF0\x9F",
                                        "\xE2",
                                        "\xE2\x80"};
    static const char *const heads[] = {"", "a", "a'", "1.", "A. ", ".", "\xF0\x9F\x91\xA9", "x\n"};
    static uint8_t text[1000020];
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        for (size_t h = 0; h < sizeof heads / sizeof *heads; h++) {
            size_t len = strlen(heads[h]), width = strlen(units[u]);
            memcpy(text, heads[h], len);
            while (len + width <= 300000) {
                memcpy(text + len, units[u], width);
                len += width;
            }
            for (int kind = 0; kind < N_KINDS; kind++) check_slow(units[u], text, len, kind);
        }
    }
}

/* ---- */

static void test_tables(void) {
    static uint8_t classes[0x110000];
    static const uint64_t want[3] = {GOLDEN_GRAPHEME, GOLDEN_WORD, GOLDEN_SENTENCE};
    for (int kind = 0; kind < 3; kind++) {
        for (uint32_t cp = 0; cp < 0x110000; cp++) classes[cp] = (uint8_t)class_of(cp, kind);
        CHECK(XXH64(classes, sizeof classes, 0) == want[kind]);
    }
    for (uint32_t cp = 0; cp < 0x80; cp++) CHECK_EQ(dstok__break_records[cp], dstok__break_record(cp));
}

static void test_calls(void) {
    dstok_span spans[20];
    uint64_t next = 7;
    size_t n = 0;
    CHECK_EQ(dstok_break_next("ab", 2, 3, DSTOK_BREAK_WORD, &next), DSTOK_E_RANGE);
    CHECK_EQ(dstok_break_next("ab", 2, 0, 5, &next), DSTOK_E_INVAL);
    CHECK_EQ(dstok_break_next("ab", 2, 0, -1, &next), DSTOK_E_INVAL);
    CHECK_EQ(next, 7);
    CHECK_EQ(dstok_break_next("ab", 2, 2, DSTOK_BREAK_WORD, &next), DSTOK_OK);
    CHECK_EQ(next, 2);
    CHECK_EQ(dstok_break_last("ab", 2, 2, 1, DSTOK_BREAK_WORD, &next), DSTOK_E_RANGE);
    CHECK_EQ(dstok_break_last("ab", 2, 0, 3, DSTOK_BREAK_WORD, &next), DSTOK_E_RANGE);
    CHECK_EQ(dstok_break_last("ab", 2, 0, 1, 9, &next), DSTOK_E_INVAL);
    CHECK_EQ(dstok_break_last(NULL, 0, 0, 0, DSTOK_BREAK_LINE, &next), DSTOK_OK);
    CHECK_EQ(dstok_breaks("ab", 2, 9, spans, 20, &n), DSTOK_E_INVAL);
    CHECK_EQ(dstok_breaks("Hi, you.", 8, DSTOK_BREAK_WORD, spans, 3, &n), DSTOK_E_SPACE);
    CHECK_EQ(n, 5);
    CHECK_EQ(dstok_breaks("Hi, you.", 8, DSTOK_BREAK_WORD, spans, 20, &n), DSTOK_OK);
    static const dstok_span want[] = {{0, 2}, {2, 3}, {3, 4}, {4, 7}, {7, 8}};
    CHECK_MEM(spans, want, sizeof want);
    CHECK_EQ(dstok_breaks(NULL, 0, DSTOK_BREAK_GRAPHEME, NULL, 0, &n), DSTOK_OK);
    CHECK_EQ(n, 0);
    CHECK_EQ(dstok_breaks("0123456789abcdefghi", 19, DSTOK_BREAK_GRAPHEME, NULL, 0, &n), DSTOK_E_SPACE);
    CHECK_EQ(n, 19);
    for (size_t cap = 0; cap <= 18; cap++) { /* plain text goes another way */
        memset(spans, 0xFF, sizeof spans);
        CHECK_EQ(dstok_breaks("0123456\r\n9abcdefghi", 19, DSTOK_BREAK_GRAPHEME, spans, cap, &n),
                 cap < 18 ? DSTOK_E_SPACE : DSTOK_OK);
        CHECK_EQ(n, 18);
        for (size_t i = 0; i < cap; i++)
            CHECK(spans[i].begin == i + (i > 7) && spans[i].end == i + (i > 6) + 1);
        CHECK_EQ(spans[cap].begin, UINT64_MAX);
    }
}

int main(void) {
    find_classes();
    test_tables();
    test_calls();
    test_official();
    test_random();
    test_strings();
    test_slow();
    return t_end();
}
