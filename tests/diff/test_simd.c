/* SPDX-License-Identifier: MIT */
/* Every function of every tier against the scalar one, with memory that ends and begins at pages without access.
 * Arguments: how the tiers run ("native" when left out), the seed. */
#define _DEFAULT_SOURCE /* MAP_ANON */
#include "../../simd/json.h"
#include "../../simd/simd.h"
#include "../harness/t.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM       ((size_t)1 << 16) /* bytes between the two pages without access */
#define MAX_FAULTS 20

static t_rng rng = {1};
static uint32_t thin = 1; /* one of so many of the many short sequences: emulators are slow */

#ifdef DSTOK_TEST_EXTRA_TIER /* the same source made with other instructions */
extern const dstok__simd DSTOK_TEST_EXTRA_TIER;
#endif

/* ---- memory with an edge at both ends ---- */

typedef struct area {
    uint8_t *begin, *end;
} area;

static area in_area, out_area;

static area area_new(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *base = mmap(NULL, ROOM + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (base == MAP_FAILED || mprotect(base + page, ROOM, PROT_READ | PROT_WRITE) != 0) {
        perror("mmap");
        exit(1);
    }
    return (area){base + page, base + page + ROOM};
}

/* n bytes at the end of the area, or at its beginning. */
static uint8_t *at_edge(const area *a, size_t n, int at_end) {
    return at_end ? a->end - n : a->begin;
}

static void report(const dstok__simd *simd, const char *what, size_t got, size_t want) {
    if (++t_failures <= MAX_FAULTS)
        fprintf(stderr, "%s: %s: %zu, scalar has %zu\n", simd->name, what, got, want);
}

/* ---- text ---- */

/* The bytes at which the rules of UTF-8 and of the classes change. */
static const uint8_t turns[] = {0x00, 0x09, 0x0A, 0x0D, 0x20, 0x27, 0x2F, 0x30, 0x41, 0x7A, 0x7F,
                                0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xB7, 0xB8, 0xBD, 0xBE, 0xBF, 0xC0,
                                0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xE4, 0xE5, 0xE8, 0xE9, 0xEA, 0xED,
                                0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
#define N_TURNS ((uint32_t)sizeof turns)

static size_t put_char(uint8_t *to, uint32_t c) {
    if (c < 0x80) {
        to[0] = (uint8_t)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6) to[i] = (uint8_t)(0x80 | (c & 0x3F));
    to[0] = (uint8_t)((0xF00u >> n & 0xFF) | c);
    return n;
}

/* A character whose length is drawn first, so that all lengths are frequent. */
static uint32_t any_char(void) {
    static const uint32_t limits[] = {0, 0x80, 0x800, 0x10000, 0x110000};
    uint32_t n = t_below(&rng, 4), c = limits[n] + t_below(&rng, limits[n + 1] - limits[n]);
    return c >= 0xD800 && c < 0xE000 ? 0xFFFD : c;
}

enum { BYTES, TURNS, ASCII, WORDS, IDEOGRAPHS, CHARS, BROKEN, N_KINDS };

static size_t put_piece(uint8_t *to, int kind) {
    static const char words[] = "the Cat's 42 a/b\r\n\tX_y ...  ";
    switch (kind) {
    case BYTES:
        to[0] = (uint8_t)t_below(&rng, 256);
        return 1;
    case TURNS:
        to[0] = turns[t_below(&rng, N_TURNS)];
        return 1;
    case ASCII:
        to[0] = (uint8_t)t_below(&rng, 128);
        return 1;
    case WORDS:
        to[0] = (uint8_t)words[t_below(&rng, sizeof words - 1)];
        return 1;
    case IDEOGRAPHS:
        return put_char(to, 0x4D00 + t_below(&rng, 0x5400));
    default:
        return put_char(to, any_char());
    }
}

static void fill(uint8_t *text, size_t len, int kind) {
    uint8_t piece[4];
    size_t i = 0;
    while (i < len) {
        size_t n = put_piece(piece, kind);
        if (n > len - i) { /* no room: end with ASCII */
            piece[0] = '.';
            n = 1;
        }
        memcpy(text + i, piece, n);
        i += n;
    }
    if (kind == BROKEN && len > 0) text[t_below(&rng, (uint32_t)len)] = turns[t_below(&rng, N_TURNS)];
}

/* ---- classes ---- */

static void check_classify(const dstok__simd *simd, const uint8_t *text, size_t n) {
    static dstok__classes want[64];
    size_t size = n * sizeof *want;
    dstok__classify(text, n, want);
    for (int end = 0; end < 2; end++) {
        uint8_t *out = at_edge(&out_area, size, end);
        memset(out, end ? 0xAA : 0x55, size);
        simd->classify(text, n, (dstok__classes *)(void *)out);
        t_checks++;
        if (memcmp(out, want, size) != 0) {
            size_t i = 0;
            while (out[i] == ((uint8_t *)want)[i]) i++;
            report(simd, "classify: first different 64-bit mask", i / 8, 0);
        }
    }
}

static void test_classify(const dstok__simd *simd) {
    uint8_t *block = at_edge(&in_area, 64, 1);
    for (uint32_t pair = 0; pair < 0x10000; pair++) { /* every two bytes at every place */
        for (size_t i = 0; i < 64; i++) block[i] = (uint8_t)(i % 2 == 0 ? pair >> 8 : pair);
        check_classify(simd, block, 1);
    }
    for (int round = 0; round < 4000; round++) {
        size_t n = t_below(&rng, 6), back = round % 3 == 0 ? t_below(&rng, 64) : 0;
        uint8_t *text = at_edge(&in_area, 64 * n + back, round % 2);
        fill(text, 64 * n, round % N_KINDS);
        check_classify(simd, text, n);
    }
}

static void check_nfc_leads(const dstok__simd *simd, const uint8_t *text, size_t n) {
    static uint64_t want[64];
    dstok__nfc_leads(text, n, want);
    for (int end = 0; end < 2; end++) {
        uint8_t *out = at_edge(&out_area, n * sizeof *want, end);
        memset(out, end ? 0xAA : 0x55, n * sizeof *want);
        simd->nfc_leads(text, n, (uint64_t *)(void *)out);
        t_checks++;
        if (memcmp(out, want, n * sizeof *want) != 0) report(simd, "nfc_leads of the first byte", 0, text[0]);
    }
}

static void test_nfc_leads(const dstok__simd *simd) {
    for (size_t c = 0; c < 256;
         c++) { /* every byte at every place, beside those it stands beside elsewhere */
        uint8_t *block = at_edge(&in_area, 64, c % 2 == 0);
        for (size_t at = 0; at < 64; at++) {
            for (size_t i = 0; i < 64; i++) block[i] = (uint8_t)(c + 64 * 7 + i - at);
            check_nfc_leads(simd, block, 1);
        }
    }
    for (int round = 0; round < 2000; round++) {
        size_t n = t_below(&rng, 6);
        uint8_t *text = at_edge(&in_area, 64 * n, round % 2);
        fill(text, 64 * n, round % N_KINDS);
        check_nfc_leads(simd, text, n);
    }
}

/* ---- one of some bytes ---- */

static void check_find(const dstok__simd *simd, const uint8_t *text, size_t len, const uint8_t *first,
                       size_t n) {
    size_t want = dstok__find_byte(text, len, first, n), got = simd->find_byte(text, len, first, n);
    t_checks++;
    if (got != want) report(simd, "find_byte", got, want);
}

static void test_find(const dstok__simd *simd) {
    for (size_t len = 0; len <= 200; len++) {
        for (int end = 0; end < 2; end++) {
            uint8_t *text = at_edge(&in_area, len, end);
            for (size_t n = 1; n <= 4; n++) {
                uint8_t first[4], other = (uint8_t)t_below(&rng, 256);
                for (size_t k = 0; k < 4; k++) first[k] = (uint8_t)(other + 1 + t_below(&rng, 255));
                uint8_t *list = at_edge(&out_area, n, 1);
                memcpy(list, first, n);
                memset(text, other, len);
                check_find(simd, text, len, list, n);
                for (size_t i = len; i-- > 0;) { /* each of the bytes at each place, another one behind it */
                    text[i] = first[t_below(&rng, (uint32_t)n)];
                    check_find(simd, text, len, list, n);
                    text[i] = i % 3 == 0 ? text[i] : other;
                }
            }
        }
    }
    for (int c = 0; c < 256; c++) { /* every byte among all others */
        uint8_t text[256], first = (uint8_t)c;
        for (int i = 0; i < 256; i++) text[i] = (uint8_t)i;
        check_find(simd, text, 256, &first, 1);
    }
}

/* ---- places of bits ---- */

static void check_positions(const dstok__simd *simd, const uint64_t *words, size_t n) {
    static uint32_t want[64 * 600];
    size_t count = dstok__positions(words, n, want), room = (count + 64) * sizeof *want;
    for (int end = 0; end < 2; end++) {
        uint8_t *out = at_edge(&out_area, room, end);
        memset(out, 0xAA, room);
        size_t got = simd->positions(words, n, (uint32_t *)(void *)out);
        t_checks++;
        if (got != count || memcmp(out, want, count * sizeof *want) != 0)
            report(simd, "positions: count", got, count);
    }
}

static uint64_t bits_of_density(uint32_t of_64) {
    uint64_t word = 0;
    for (uint32_t i = 0; i < 64; i++) word |= (uint64_t)(t_below(&rng, 64) < of_64) << i;
    return word;
}

static void test_positions(const dstok__simd *simd) {
    for (uint32_t i = 0; i < 64; i++) { /* one bit, one hole, a run from each place */
        uint64_t bit = (uint64_t)1 << i, list[6] = {bit, ~bit, 0 - bit, bit - 1, 0, ~(uint64_t)0};
        for (size_t k = 0; k < 6; k++) check_positions(simd, list + k, 1);
        check_positions(simd, list, 6);
    }
    for (uint32_t low = 0; low < 0x10000; low++) { /* every two bytes of a word */
        uint64_t word = (uint64_t)low << (16 * (low % 4));
        check_positions(simd, &word, 1);
    }
    for (uint32_t round = 0; round < 3000; round++) {
        size_t n = t_below(&rng, 9);
        uint8_t *words = at_edge(&in_area, 8 * n, round % 2);
        for (size_t k = 0; k < n; k++) {
            uint64_t word = bits_of_density(round % 4 == 0 ? t_below(&rng, 65) : round % 32);
            memcpy(words + 8 * k, &word, 8);
        }
        check_positions(simd, (const uint64_t *)(void *)words, n);
    }
    static uint64_t many[600]; /* places above 2^15 */
    for (uint32_t k = 0; k < 600; k++) many[k] = bits_of_density(k % 24);
    check_positions(simd, many, 600);
}

/* ---- JSON ---- */

static void check_json_tokens(const dstok__simd *simd, const uint8_t *text, size_t n,
                              const dstok__json_state *from) {
    static dstok__json_block want[8];
    dstok__json_state state = *from;
    size_t size = n * sizeof *want;
    dstok__json_tokens(text, n, &state, want);
    for (int end = 0; end < 2; end++) {
        uint8_t *out = at_edge(&out_area, size, end);
        dstok__json_state now = *from;
        memset(out, end ? 0xAA : 0x55, size);
        simd->json_tokens(text, n, &now, (dstok__json_block *)(void *)out);
        t_checks++;
        if (memcmp(out, want, size) != 0) report(simd, "json_tokens: first byte", n > 0 ? text[0] : 0, 0);
        if (memcmp(&now, &state, sizeof now) != 0) report(simd, "json_tokens: state", (size_t)now.digits, 0);
    }
}

static dstok__json_state any_state(void) {
    return (dstok__json_state){.in_string = 0 - (uint64_t)t_below(&rng, 2),
                               .escaped = t_below(&rng, 2),
                               .digits = t_below(&rng, 3) == 0 ? t_below(&rng, 16) : 0,
                               .in_run = t_below(&rng, 2)};
}

static void test_json_tokens(const dstok__simd *simd) {
    static const char few[] = "{}[]:,\"\\ \t\n\r\f\x1A\x1F.a\xFBuuf09AFgG@`/b\\\\u";
    for (uint32_t c = 0; c < 256; c++) { /* every byte at every place, in all states, in and behind escapes */
        for (size_t at = 0; at < 64; at++) {
            uint8_t *block = at_edge(&in_area, 64, at % 2 == 0);
            dstok__json_state state = any_state();
            for (size_t i = 0; i < 64; i++) block[i] = c % 2 ? (uint8_t)few[i % (sizeof few - 1)] : 'x';
            block[at] = (uint8_t)c;
            check_json_tokens(simd, block, 1, &state);
            if (at > 0) block[at - 1] = '\\';
            check_json_tokens(simd, block, 1, &state);
            memset(block, '"', at);
            if (at > 5) memcpy(block + at - 1 - at % 5, "\\u1234", 1 + at % 5);
            check_json_tokens(simd, block, 1, &state);
        }
    }
    for (uint32_t round = 0; round < 4000; round++) {
        size_t n = t_below(&rng, 6);
        uint8_t *text = at_edge(&in_area, 64 * n, round % 2);
        dstok__json_state state = any_state();
        uint32_t part = 2 + t_below(&rng, sizeof few - 2);
        for (size_t i = 0; i < 64 * n; i++)
            text[i] = (uint8_t)(round % 3 == 0 ? t_below(&rng, 256) : (uint8_t)few[t_below(&rng, part)]);
        check_json_tokens(simd, text, n, &state);
    }
}

/* The copy lies in memory that ends with the 64 bytes it may use beyond itself. */
static void check_json_copy(const dstok__simd *simd, const uint8_t *text, size_t len) {
    static uint8_t want[4096];
    size_t count, got_count = SIZE_MAX, done = dstok__json_copy(text, len, want, &count);
    for (int end = 0; end < 2; end++) {
        uint8_t *out = at_edge(&out_area, count + 64, end);
        memset(out, 0xAA, count + 64);
        size_t got = simd->json_copy(text, len, out, &got_count);
        t_checks++;
        if (got != done) report(simd, "json_copy: done", got, done);
        if (got_count != count) report(simd, "json_copy: length", got_count, count);
        if (got_count == count && memcmp(out, want, count) != 0) report(simd, "json_copy: bytes", len, count);
    }
}

/* Text with escapes; `often`: how many of 64 bytes begin one; one in `odd` (0: none) is none of the eight. */
static void fill_escapes(uint8_t *text, size_t len, uint32_t often, uint32_t odd) {
    static const char letters[] = "\"\\/bfnrt", others[] = "ux\"\0\xE2\xDC\xFF"
                                                           "BN0";
    for (size_t i = 0; i < len; i++) {
        text[i] = (uint8_t)(t_below(&rng, 8) == 0 ? t_below(&rng, 256) : 'a' + t_below(&rng, 26));
        if (text[i] == '\\') text[i] = '/';
        if (t_below(&rng, 64) >= often) continue;
        text[i] = '\\';
        if (i + 1 < len) text[++i] = (uint8_t)letters[t_below(&rng, 8)];
        if (odd > 0 && t_below(&rng, odd) == 0) text[i] = (uint8_t)others[t_below(&rng, sizeof others - 1)];
    }
}

static void test_json_copy(const dstok__simd *simd) {
    for (size_t len = 0; len <= 200; len++) {
        for (int end = 0; end < 2; end++) {
            uint8_t *text = at_edge(&in_area, len, end);
            memset(text, 'a', len);
            check_json_copy(simd, text, len);
            for (size_t at = 0; at < len; at++) { /* runs of backslashes from every place */
                size_t n = 1 + t_below(&rng, 70);
                memset(text + at, '\\', n < len - at ? n : len - at);
                if (n < len - at) text[at + n] = (uint8_t) "n\"ua\xEE"[t_below(&rng, 5)];
                check_json_copy(simd, text, len);
                memset(text + at, 'b', n < len - at ? n + 1 : len - at);
            }
        }
    }
    for (uint32_t c = 0; c < 256; c++) { /* every byte behind a backslash, at every place */
        for (size_t at = 0; at < 70; at++) {
            uint8_t *text = at_edge(&in_area, 140, 1);
            memset(text, 'c', 140);
            text[at] = '\\';
            text[at + 1] = (uint8_t)c;
            check_json_copy(simd, text, 140);
        }
    }
    for (uint32_t round = 0; round < 6000; round++) {
        size_t len = t_below(&rng, round % 8 == 0 ? 3000 : 300);
        uint8_t *text = at_edge(&in_area, len, round % 2);
        fill_escapes(text, len, 1 + round % 60, round % 3 == 0 ? 20 : 0);
        check_json_copy(simd, text, len);
    }
}

/* Which bytes are escaped, with runs over the edges of blocks, against going from byte to byte. */
static void test_json_escaped(void) {
    for (uint32_t round = 0; round < 20000; round++) {
        uint64_t words[4], carry = round % 2, escapes = carry;
        for (size_t k = 0; k < 4; k++) {
            words[k] = bits_of_density(round % 65);
            if (round % 5 == 0) words[k] |= words[k] << 1 | words[k] << 2 | words[k] >> 7;
        }
        for (size_t k = 0; k < 4; k++) {
            uint64_t want = 0, got = dstok__json_escaped(words[k], &carry);
            for (size_t i = 0; i < 64; i++) {
                want |= escapes << i;
                escapes = escapes == 0 && (words[k] >> i & 1) != 0;
            }
            CHECK(got == want && carry == escapes);
        }
    }
    for (uint32_t round = 0; round < 1000; round++) {
        uint64_t bits = bits_of_density(round % 65), sum = 0, got = dstok__prefix_xor(bits);
        for (size_t i = 0; i < 64; i++) CHECK((got >> i & 1) == (sum ^= bits >> i & 1));
    }
}

/* ---- UTF-8 ---- */

/* The linker puts this in place of the scalar search for the exact place, which hides an error found where there is
 * none: it must be called for ill-formed text alone, and once. */
size_t __wrap_dstok__utf8_check_from(const uint8_t *text, size_t len, size_t from);
size_t __real_dstok__utf8_check_from(const uint8_t *text, size_t len, size_t from);
static size_t searches;

size_t __wrap_dstok__utf8_check_from(const uint8_t *text, size_t len, size_t from) {
    searches++;
    return __real_dstok__utf8_check_from(text, len, from);
}

static void check_utf8(const dstok__simd *simd, const uint8_t *text, size_t len) {
    searches = 0;
    size_t want = dstok__utf8_check(text, len), got = simd->utf8_check(text, len);
    t_checks++;
    if (got != want) report(simd, "utf8_check", got, want);
    if (searches != (want < len) && simd->tier != DSTOK__TIER_SCALAR)
        report(simd, "utf8_check: searches for the place", searches, want < len);
}

/* Puts n bytes at a place of a good text, looks, and puts back what was there. */
static void check_spliced(const dstok__simd *simd, uint8_t *text, size_t len, size_t at, const uint8_t *bytes,
                          size_t n) {
    uint8_t saved[4];
    memcpy(saved, text + at, n);
    memcpy(text + at, bytes, n);
    check_utf8(simd, text, len);
    memcpy(text + at, saved, n);
}

/* All of one and two bytes, turns behind all of them, all second bytes of long characters; of these one in `step`. */
static void test_sequences(const dstok__simd *simd, uint8_t *text, size_t len, size_t at, uint32_t step) {
    step *= thin;
    for (uint32_t i = t_below(&rng, step); i < 0x10000; i += step) {
        uint8_t two[2] = {(uint8_t)(i >> 8), (uint8_t)i};
        check_spliced(simd, text, len, at, two, 2);
    }
    for (uint32_t i = t_below(&rng, step); i < 0x8000 * N_TURNS; i += step) {
        uint8_t three[3] = {(uint8_t)(0x80 + i % 128), (uint8_t)(i / 128 % 256), turns[i / 0x8000]};
        check_spliced(simd, text, len, at, three, 3);
    }
    for (uint32_t i = t_below(&rng, step); i < 16 * 256 * N_TURNS * N_TURNS; i += step) {
        uint8_t four[4] = {(uint8_t)(0xF0 + i % 16), (uint8_t)(i / 16 % 256), turns[i / 4096 % N_TURNS],
                           turns[i / 4096 / N_TURNS]};
        check_spliced(simd, text, len, at, four, 4);
    }
}

static void test_utf8_edges(const dstok__simd *simd) {
    for (size_t at = 0; at < 140;
         at++) { /* over every edge of 16, 32 and 64 bytes, in texts that end anywhere */
        size_t len = at + 4 + t_below(&rng, 300);
        uint8_t *text = at_edge(&in_area, len, 1);
        memset(text, 'a', len);
        test_sequences(simd, text, len, at, 499);
        fill(text, at, at % 2 ? CHARS : IDEOGRAPHS);
        test_sequences(simd, text, len, at, 499);
    }
    uint8_t alone[4];
    test_sequences(simd, alone, 2, 0, 1000);
    test_sequences(simd, alone, 4, 0, 3);
    test_sequences(simd, memset(in_area.begin, 'b', 130), 130, 62, 3);
}

static void test_utf8(const dstok__simd *simd) {
    test_utf8_edges(simd);
    for (size_t len = 0; len <= 200; len++) {
        for (int kind = 0; kind < N_KINDS; kind++) {
            for (int end = 0; end < 2; end++) {
                uint8_t *text = at_edge(&in_area, len, end);
                fill(text, len, kind);
                check_utf8(simd, text, len);
                for (size_t cut = 1; cut <= 4 && cut <= len;
                     cut++) { /* cut off at the end and at the beginning */
                    check_utf8(simd, text, len - cut);
                    check_utf8(simd, text + cut, len - cut);
                }
            }
        }
    }
    for (int round = 0; round < 3000; round++) { /* several kinds behind each other, long */
        size_t len = t_below(&rng, 2000), half = t_below(&rng, (uint32_t)len + 1);
        uint8_t *text = at_edge(&in_area, len, round % 2);
        fill(text, half, ASCII + round % 5);
        fill(text + half, len - half, ASCII + (int)t_below(&rng, 5));
        check_utf8(simd, text, len);
    }
}

/* ---- */

/* Lines of eight, some with free words behind the others; keys that are in any place of them, or in none. */
static void test_find_words(const dstok__simd *simd) {
    enum { N = 64 };
    static uint64_t words[8 * N], keys[N], want[N], got[N];
    static const uint64_t *lines[N];
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < N; i++) {
            size_t full = t_below(&rng, 9);
            for (size_t k = 0; k < 8; k++) words[8 * i + k] = k < full ? t_random(&rng) | 1 : UINT64_MAX;
            lines[i] = words + 8 * i;
            keys[i] = t_below(&rng, 3) == 0 ? t_random(&rng) >> 24 : lines[i][t_below(&rng, 8)] >> 24;
            if (t_below(&rng, 4) == 0) keys[i] ^= (uint64_t)1 << t_below(&rng, 40); /* nearly */
        }
        size_t n = 1 + t_below(&rng, N);
        memset(got, 0xAA, sizeof got);
        memset(want, 0xAA, sizeof want);
        dstok__find_words(lines, keys, n, want);
        simd->find_words(lines, keys, n, got);
        t_checks++;
        if (memcmp(got, want, sizeof want) != 0) report(simd, "find_words: of lines", n, N);
    }
}

/* ---- ranks of pairs ---- */

#include "simd_ranks.h"

/* ---- cuts ---- */

static void check_cut(const dstok__simd *simd, const dstok__cuts *c, const uint8_t *text,
                      const uint64_t *asked, size_t n) {
    enum { N = 64 };
    static uint32_t places[64 * N + 64];
    static uint64_t want[N + 1], got[N + 1];
    for (size_t i = 0; i <= N; i++) want[i] = got[i] = i < n ? t_random(&rng) & t_random(&rng) : 0;
    dstok__cut(c, text, asked, n, places, want);
    simd->cut(c, text, asked, n, places, got);
    t_checks++;
    if (memcmp(got, want, sizeof want) != 0) report(simd, "cut: of blocks", n, N);
}

/* Places where characters begin, some or all of them, four bytes or more from both ends; tables of several sizes and
 * with few bits, so that each of the four questions decides. */
static void test_cut(const dstok__simd *simd) {
    enum { BITS = 18 };
    static uint64_t pairs[(size_t)1 << (BITS - 6)], parts[DSTOK__PART_WORDS], asked[64];
    for (int round = 0; round < 1500; round++) {
        unsigned bits = DSTOK__MIN_CUT_BITS + t_below(&rng, BITS - DSTOK__MIN_CUT_BITS + 1),
                 thick = t_below(&rng, 3);
        size_t len = 8 + t_below(&rng, round % 8 == 0 ? 4088 : 300), n = (len + 63) / 64;
        for (size_t i = 0; i < (size_t)1 << (bits - 6); i++)
            pairs[i] =
                thick == 0 ? 0 : t_random(&rng) & t_random(&rng) & (thick == 1 ? t_random(&rng) : UINT64_MAX);
        for (size_t i = 0; i < DSTOK__PART_WORDS; i++)
            parts[i] = t_random(&rng) & t_random(&rng) & t_random(&rng) & (round % 3 == 0 ? 0 : UINT64_MAX);
        uint8_t *text = at_edge(&in_area, len, round % 2);
        fill(text, len, ASCII + round % 4);
        memset(asked, 0, sizeof asked);
        for (size_t at = 4; at + 4 <= len; at++)
            if ((text[at] & 0xC0) != 0x80 && (thick == 2 || t_below(&rng, 3) > 0))
                asked[at / 64] |= (uint64_t)1 << (at % 64);
        check_cut(simd, &(dstok__cuts){pairs, parts, 32 - bits}, text, asked, n);
    }
}

/* ---- keys and slots ---- */

enum { MOST = 300 }; /* pieces */

/* Pieces of up to `longest` bytes, one behind the other, of which 16 bytes can be read at the begin of the last; their
 * text lies at the end of the memory. Returns its begin. */
static const uint8_t *any_pieces(uint32_t *places, size_t n, uint32_t longest) {
    uint32_t at = t_below(&rng, 40);
    for (size_t i = 0; i < n; i++, at += 1 + t_below(&rng, longest)) places[i] = at;
    places[n] = at;
    size_t len = n > 0 && places[n - 1] + 16 > at ? places[n - 1] + 16 : at;
    uint8_t *text = at_edge(&in_area, len, 1);
    for (size_t i = 0; i < len; i++) text[i] = (uint8_t)(longest % 2 ? t_below(&rng, 256) : t_below(&rng, 2));
    return text;
}

static void test_keys(const dstok__simd *simd) {
    static uint32_t places[MOST + 1];
    static dstok__key keys[MOST + 1], want_keys[MOST + 1];
    static dstok__cached *slots[MOST + 1], *want_slots[MOST + 1];
    dstok__cached *table = (dstok__cached *)(uintptr_t)0x10000000; /* what is fetched need not be there */
    for (uint32_t round = 0; round < 4000; round++) {
        static const uint32_t longest[] = {1, 2, 8, 15, 16, 17, 40, 300};
        size_t n = t_below(&rng, round % 50 == 0 ? 200 : 20);
        unsigned bits = 5 + t_below(&rng, 27);
        const uint8_t *text = any_pieces(places, n, longest[round % 8]);
        memset(want_keys, 0xAA, sizeof want_keys);
        memset(want_slots, 0xAA, sizeof want_slots);
        memset(keys, 0xAA, sizeof keys);
        memset(slots, 0xAA, sizeof slots);
        dstok__keys(text, places, n, table, bits, want_keys, want_slots);
        simd->keys(text, places, n, table, bits, keys, slots);
        t_checks++;
        if (memcmp(keys, want_keys, sizeof keys) != 0) report(simd, "keys: of pieces", n, n);
        if (memcmp(slots, want_slots, sizeof slots) != 0) report(simd, "keys: slots, bits", bits, n);
    }
}

static void check_absent(const dstok__simd *simd, const dstok__key *keys, dstok__cached *const *slots,
                         size_t n) {
    static uint32_t want[MOST];
    size_t count = dstok__absent(keys, slots, n, want);
    uint32_t *out = (uint32_t *)(void *)at_edge(&out_area, 4 * n, 1);
    size_t got = simd->absent(keys, slots, n, out);
    t_checks++;
    if (got != count) report(simd, "absent: pieces", got, count);
    if (got == count && memcmp(out, want, 4 * count) != 0) report(simd, "absent: other pieces", n, count);
}

/* Slots that have their keys, but for some, in which one bit is another. */
static void test_hits(const dstok__simd *simd) {
    static dstok__cached table[MOST];
    static dstok__cached *slots[MOST];
    static dstok__key keys[MOST];
    static uint32_t want[3 * MOST + 3];
    for (uint32_t round = 0; round < 4000; round++) {
        size_t n = t_below(&rng, round % 50 == 0 ? MOST : 20), rare = 1 + t_below(&rng, 100);
        for (size_t i = 0; i < MOST; i++) {
            table[i].key = (dstok__key){t_random(&rng), t_random(&rng)};
            for (size_t k = 0; k < 3; k++) table[i].ids[k] = (uint32_t)t_random(&rng);
            table[i].n = 1 + t_below(&rng, 3);
        }
        for (size_t i = 0; i < n; i++) {
            slots[i] = &table[t_below(&rng, MOST)];
            keys[i] = slots[i]->key;
            if (t_below(&rng, (uint32_t)rare) != 0 || rare == 100) continue;
            uint64_t bit = (uint64_t)1 << t_below(&rng, 64), is_low = t_below(&rng, 2);
            keys[i].low ^= is_low * bit;
            keys[i].high ^= (1 - is_low) * bit;
        }
        uint32_t *end = want;
        size_t done = dstok__hits(keys, slots, n, &end), count = (size_t)(end - want), room = 4 * (count + 3);
        for (int edge = 0; edge < 2; edge++) {
            uint32_t *out = (uint32_t *)(void *)at_edge(&out_area, room, edge), *got_end = out;
            memset(out, 0xAA, room);
            size_t got = simd->hits(keys, slots, n, &got_end);
            t_checks++;
            if (got != done) report(simd, "hits: slots", got, done);
            if ((size_t)(got_end - out) != count) report(simd, "hits: ids", (size_t)(got_end - out), count);
            if (got == done && memcmp(out, want, 4 * count) != 0) report(simd, "hits: other ids", n, count);
        }
        check_absent(simd, keys, slots, n);
    }
}

static void test_tier(const dstok__simd *simd, const char *how) {
    fprintf(stderr, "%s: %s\n", simd->name, how);
    test_classify(simd);
    test_nfc_leads(simd);
    test_find(simd);
    test_positions(simd);
    test_find_words(simd);
    test_least(simd);
    test_byte_ranks(simd);
    test_cut(simd);
    test_keys(simd);
    test_hits(simd);
    test_json_tokens(simd);
    test_json_copy(simd);
    test_utf8(simd);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "native";
    thin = strcmp(how, "native") == 0 ? 1 : 8;
    if (argc > 2) rng.state = strtoull(argv[2], NULL, 10);
    in_area = area_new();
    out_area = area_new();
    test_json_escaped();
#ifdef DSTOK_TEST_EXTRA_TIER
    test_tier(&DSTOK_TEST_EXTRA_TIER, how);
#else
    static const char *const names[] = {"scalar", "avx2", "avx512", "neon"};
    for (int tier = DSTOK__TIER_SCALAR; tier < DSTOK__N_TIERS; tier++) {
        const dstok__simd *simd = dstok__simd_tier((dstok__tier)tier);
        if (simd != NULL)
            test_tier(simd, how);
        else
            fprintf(stderr, "%s: not run, this machine or this build lacks it\n", names[tier]);
    }
    for (int cap = 0; cap <= DSTOK__N_TIERS; cap++) { /* the best is there and not above the cap */
        const dstok__simd *best = dstok__simd_best((dstok__tier)cap);
        CHECK(best != NULL && (int)best->tier <= cap && best == dstok__simd_tier(best->tier));
        for (int tier = (int)best->tier + 1; tier <= cap && tier < DSTOK__N_TIERS; tier++)
            CHECK(dstok__simd_tier((dstok__tier)tier) == NULL);
    }
#endif
    return t_end();
}
