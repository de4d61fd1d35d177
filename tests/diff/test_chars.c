/* SPDX-License-Identifier: MIT */
/* Characters, lines and places of every tier against the scalar tier, on blocks that begin and end at pages
 * without access; and the scalar tier's characters against dstok__utf8_ill_formed. Arguments: as
 * test_simd.c. */
#define _DEFAULT_SOURCE /* MAP_ANON */
#include "../../simd/simd.h"
#include "../harness/t.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM    ((size_t)64 * DSTOK__PAGE_BLOCKS)
#define N_SPANS 200

static t_rng rng = {1};
static int rounds = 3000;

#ifdef DSTOK_TEST_EXTRA_TIER /* the same source made with other instructions */
extern const dstok__simd DSTOK_TEST_EXTRA_TIER;
#endif

static uint8_t *area_new(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (ROOM + page - 1) / page * page;
    uint8_t *base = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (base == MAP_FAILED || mprotect(base + page, room, PROT_READ | PROT_WRITE) != 0) {
        perror("mmap");
        exit(1);
    }
    return base + page + room - ROOM;
}

static void same(const dstok__simd *simd, bool is, const char *what) {
    t_checks++;
    if (!is && ++t_failures < 20) fprintf(stderr, "%s: %s differ\n", simd->name, what);
}

/* Bytes at which the rules of UTF-8 and of lines change; whole characters among them. */
static const uint8_t turns[] = {0x00, 0x0A, 0x0B, 0x0C, 0x0D, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F,
                                0xA0, 0xA7, 0xA8, 0xA9, 0xAA, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
                                0xE1, 0xE2, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
static const char *const pieces[] = {"a",
                                     "\n",
                                     "\r",
                                     "\r\n",
                                     "\xE2\x80\xA8",
                                     "\xE2\x80\xA9",
                                     "\xE2\x80",
                                     "\xC3\xA9",
                                     "\xE4\xB8\xAD",
                                     "\xF0\x9F\x92\xA9",
                                     "\xED\x9F\xBF",
                                     "\xED\xA0\x80",
                                     "\xF4\x8F\xBF\xBF",
                                     "\xF4\x90\x80\x80",
                                     "\xE0\xA4\x80",
                                     "\xE0\x9F\x80"};

static void fill(uint8_t *text, size_t n) {
    uint32_t kind = t_below(&rng, 4);
    if (kind == 0) memset(text, 'x', n);
    for (size_t i = 0; i < n;) {
        if (kind == 1) {
            text[i++] = turns[t_below(&rng, sizeof turns)];
        } else if (kind == 2 || t_below(&rng, 50) == 0) {
            const char *p = pieces[t_below(&rng, sizeof pieces / sizeof *pieces)];
            for (; *p != 0 && i < n; p++) text[i++] = (uint8_t)*p;
        } else if (kind == 3) {
            text[i++] = (uint8_t)t_random(&rng);
        } else {
            i++;
        }
    }
}

static uint32_t any_before(void) {
    uint32_t before = 0;
    for (int i = 0; i < 4; i++) before = before << 8 | turns[t_below(&rng, sizeof turns)];
    return t_below(&rng, 4) == 0 ? 0 : before;
}

static dstok__line_page want, got;

static void check_pages(const dstok__simd *simd, const uint8_t *text, size_t n) {
    uint32_t before = any_before();
    size_t k = t_below(&rng, (uint32_t)(DSTOK__PAGE_BLOCKS - n) + 1);
    int unit = (int)t_below(&rng, 3);
    uint64_t count[2] = {1, 2}, want_count[2] = {1, 2};
    memset(&want, 0, sizeof want);
    want.page.before[k] = t_random(&rng) >> 40;
    got = want;
    dstok__fill_page(text, n, before, &want.page, k, unit);
    simd->fill_page(text, n, before, &got.page, k, unit);
    same(simd, memcmp(&want, &got, sizeof want) == 0, "pages");
    dstok__line_begins(text, n, before, want.begins + k);
    simd->line_begins(text, n, before, got.begins + k);
    same(simd, memcmp(&want, &got, sizeof want) == 0, "begins of lines");
    if (n > 0) want.begins[k] &= ~(uint64_t)0 << (t_below(&rng, 2) * 8);
    got = want;
    dstok__sum_lines(&want, k, n);
    simd->sum_lines(&got, k, n);
    same(simd, memcmp(&want, &got, sizeof want) == 0, "sums of lines");
    dstok__count_chars(text, n, before, want_count);
    simd->count_chars(text, n, before, count);
    same(simd, count[0] == want_count[0] && count[1] == want_count[1], "counts of characters");
}

/* Spans in a page and out of it, there and back. */
static void check_places(const dstok__simd *simd, const uint8_t *text, size_t n) {
    static uint64_t a[2 * N_SPANS], b[2 * N_SPANS], out_a[4 * N_SPANS], out_b[4 * N_SPANS];
    int unit = (int)t_below(&rng, 3);
    memset(&want, 0, sizeof want);
    want.page.at = 64 * t_below(&rng, 1000);
    want.page.size = 64 * n - t_below(&rng, 64);
    want.page.before[0] = t_below(&rng, 100000);
    uint32_t before = any_before();
    dstok__fill_page(text, n, before, &want.page, 0, unit);
    dstok__line_begins(text, n, before, want.begins);
    dstok__sum_lines(&want, 0, n);
    for (size_t i = 0; i < 2 * N_SPANS; i += 2) {
        a[i] =
            i > 0 && t_below(&rng, 3) > 0 ? a[i - 1] : want.page.at + t_below(&rng, (uint32_t)want.page.size);
        a[i + 1] = a[i] + t_below(&rng, 9);
    }
    a[2 * t_below(&rng, N_SPANS) + 1] += t_below(&rng, 2) * 5000;    /* out */
    a[2 * t_below(&rng, N_SPANS)] += t_below(&rng, 4) == 0 ? 30 : 0; /* goes back */
    memcpy(b, a, sizeof b);
    memset(out_a, 0, sizeof out_a);
    memset(out_b, 0, sizeof out_b);
    size_t done = dstok__line_places(&want, a, 2 * N_SPANS, out_a);
    same(simd, simd->line_places(&want, b, 2 * N_SPANS, out_b) == done, "how many places");
    same(simd, memcmp(out_a, out_b, sizeof out_a) == 0, "places");
    done = dstok__span_units(&want.page, a, N_SPANS);
    same(simd, simd->span_units(&want.page, b, N_SPANS) == done && memcmp(a, b, sizeof a) == 0, "units");
    a[2 * t_below(&rng, N_SPANS)] += t_below(&rng, 2); /* halves of pairs */
    memcpy(b, a, sizeof b);
    done = dstok__span_bytes(&want.page, a, N_SPANS);
    same(simd, simd->span_bytes(&want.page, b, N_SPANS) == done && memcmp(a, b, sizeof a) == 0, "bytes");
}

/* The scalar tier by the definition of characters. */
static void check_definition(const uint8_t *text, size_t n) {
    static dstok__page p;
    p.before[0] = 0;
    dstok__fill_page(text, n, 0, &p, 0, DSTOK__IN_UTF16);
    for (size_t i = 0, width, bad, len = 64 * n; i < len; i += width) {
        bad = dstok__utf8_ill_formed(text + i, len - i, &width);
        if (bad > 0) width = bad;
        for (size_t k = i; k < i + width; k++) {
            uint64_t is_start = p.starts[k / 64] >> k % 64 & 1, is_unit = p.units[k / 64] >> k % 64 & 1;
            CHECK_EQ(is_start, k == i);
            CHECK_EQ(is_unit, k == i || (bad == 0 && k == i + 3));
        }
    }
}

static void test_tier(const dstok__simd *simd, const char *how, uint8_t *room) {
    fprintf(stderr, "%s: %s\n", simd->name, how);
    for (int round = 0; round < rounds; round++) {
        size_t n = t_below(&rng, DSTOK__PAGE_BLOCKS) + 1;
        uint8_t *text = round % 2 == 0 ? room : room + ROOM - 64 * n;
        fill(text, 64 * n);
        check_pages(simd, text, n);
        check_pages(simd, text, 0);
        check_places(simd, text, n);
        if (simd->tier == DSTOK__TIER_SCALAR && round < 300) check_definition(text, n);
    }
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "native";
    if (strcmp(how, "native") != 0) rounds = 400;
    if (argc > 2) rng.state = strtoull(argv[2], NULL, 10);
    uint8_t *room = area_new();
#ifdef DSTOK_TEST_EXTRA_TIER
    test_tier(&DSTOK_TEST_EXTRA_TIER, how, room);
#else
    for (int tier = DSTOK__TIER_SCALAR; tier < DSTOK__N_TIERS; tier++) {
        const dstok__simd *simd = dstok__simd_tier((dstok__tier)tier);
        if (simd != NULL) test_tier(simd, how, room);
    }
#endif
    return t_end();
}
