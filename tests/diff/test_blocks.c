/* SPDX-License-Identifier: MIT */
/* Each family's algebra on bit masks against its scanner: random hard text, every code point in context,
 * long runs, real text, on every tier of this machine. An argument is the seed; a second one the number of
 * strings a family. */
#include "../../tokenizer/pretok/blocks.h"
#include "../../tokenizer/pretok/scan.h"
#include "../harness/t.h"

#include <stdlib.h>
#include <string.h>

#define N_STRINGS 20000
#define MAX_TEXT  ((size_t)1 << 20)

static const struct subject {
    const char *name;
    size_t (*scan)(const uint8_t *text, size_t len, size_t pos);
    dstok__block_fn *block;
} subjects[] = {
    {"gpt2", dstok__scan_gpt2, dstok__block_gpt2},
    {"smollm", dstok__scan_smollm, dstok__block_smollm},
    {"smollm_split", dstok__scan_smollm_split, dstok__block_smollm_split},
    {"cl100k", dstok__scan_cl100k, dstok__block_cl100k},
    {"cl100k_tiktoken", dstok__scan_cl100k_tiktoken, dstok__block_cl100k_tiktoken},
    {"qwen2", dstok__scan_qwen2, dstok__block_qwen2},
    {"qwen35", dstok__scan_qwen35, dstok__block_qwen35},
    {"seed_coder", dstok__scan_seed_coder, dstok__block_seed_coder},
    {"minicpm5", dstok__scan_minicpm5, dstok__block_minicpm5},
    {"o200k", dstok__scan_o200k, dstok__block_o200k},
    {"tekken", dstok__scan_tekken, dstok__block_tekken},
    {"deepseek_v3", dstok__scan_deepseek_v3, dstok__block_deepseek_v3},
};

static uint64_t n_windows, n_unknown, n_starts;
static uint8_t *begins; /* by byte: a pretoken begins there, as the scanner has it */

static void show(const char *what, const uint8_t *text, size_t len, size_t at) {
    size_t from = at < 24 ? 0 : at - 24, to = at + 24 < len ? at + 24 : len;
    printf("%s at %zu of %zu:", what, at, len);
    for (size_t i = from; i < to; i++) printf("%s%02X", i == at ? " >" : " ", text[i]);
    printf("  \"%.*s\"\n", (int)(to - from), (const char *)text + from);
}

static void scan_all(const struct subject *s, const uint8_t *text, size_t len) {
    memset(begins, 0, len + 1);
    for (size_t pos = 0; pos < len; n_starts++) {
        begins[pos] = 1;
        pos = s->scan(text, len, pos);
    }
    begins[len] = 1;
}

/* All places of one window below its limit. *next: where the next window may begin. */
static bool window_agrees(const struct subject *s, const dstok__window *w, const uint8_t *text, size_t len,
                          size_t pos, size_t *next) {
    size_t last = 0;
    for (size_t at = 0; at < w->limit; at++) {
        bool mask = (w->starts[at / 64] >> (at % 64)) & 1;
        if (mask != (begins[pos + at] != 0)) {
            show(s->name, text, len, pos + at);
            printf("the mask says %d, the window begins at %zu, its limit is %zu\n", mask, pos, w->limit);
            return false;
        }
        if (mask) last = at;
    }
    *next = pos + last;
    if (w->limit == len - pos) *next = len;
    if (last == 0 && *next == pos) {
        n_unknown++;
        do ++*next;
        while (!begins[*next]);
    }
    return true;
}

static bool agrees(const struct subject *s, const dstok__simd *simd, const uint8_t *text, size_t len,
                   size_t max) {
    static dstok__window w;
    scan_all(s, text, len);
    for (size_t pos = 0; pos < len;) {
        dstok__window_read(&w, simd, text + pos, len - pos, max);
        s->block(&w);
        n_windows++;
        if (!window_agrees(s, &w, text, len, pos, &pos)) return false;
    }
    return true;
}

/* ---- texts ---- */

static const char *const parts[] = {
    "a",
    "b",
    "Ab",
    "ABC",
    "word",
    " word",
    "x",
    " ",
    "  ",
    "   ",
    "\t",
    "\n",
    "\r\n",
    "\n\n",
    " \n",
    "\v",
    "\f",
    "'s",
    "'S",
    "'ll",
    "'LL",
    "'re",
    "'vE",
    "'m",
    "'d",
    "'t",
    "'",
    "''",
    "'l",
    "'r",
    "'\xC5\xBF",
    "1",
    "12",
    "345",
    "67890",
    "!",
    "?!",
    "...",
    "/",
    "//",
    "-",
    "(",
    "_",
    "\"",
    "$",
    "+",
    "\x01",
    "\x7F",
    "\xC2\x85",
    "\xC2\xA0",
    "\xE3\x80\x80",
    "\xE2\x80\xA8",
    "\xE2\x80\x8B",
    "\xC3\xA9",
    "\xC3\x89",
    "\xCC\x81",
    "\xEF\xB8\x8F",
    "\xE2\x9D\xA4",
    "\xE4\xB8\x80",
    "\xE9\xBE\xA5",
    "\xE9\xBE\xA6",
    "\xE6\x96\x87",
    "\xE5\xAD\x97",
    "\xE3\x81\x82",
    "\xE3\x82\xA2",
    "\xE3\x83\xBB",
    "\xE3\x82\x9B",
    "\xE3\x81\x80",
    "\xE3\x82\x99",
    "\xE3\x83\xBC",
    "\xE3\x80\x82",
    "\xEF\xBC\x8C",
    "\xEF\xBC\x91",
    "\xF0\x9F\x98\x80",
    "\xF0\x9F\x8F\xBD",
    "\xF0\x91\xB7\xA0",
    "\xF0\x9D\x9F\x8E",
    "\xD0\x96",
    "\xD0\xB6",
    "\xD8\xB9",
    "\xD9\xA3",
    "\xE0\xA4\x95",
    "\xE0\xA4\xBF",
    "\xEA\xB0\x80",
    "\xE4\xB7\x80",
    "\xCD\x8F",
    "\xC7\x85",
    "\xCA\xB0",
};
#define N_PARTS (sizeof parts / sizeof *parts)

static t_rng rng;

static uint32_t draw(uint32_t n) {
    return t_below(&rng, n);
}

/* A few of the parts, drawn again and again, so that neighbours of all kinds meet; now and then a long run. */
static size_t make_text(uint8_t *text, size_t max) {
    size_t len = 0, n = 1 + draw(60), few = 1 + draw(8), picked[8];
    for (size_t i = 0; i < few; i++) picked[i] = draw((uint32_t)N_PARTS);
    for (size_t i = 0; i < n; i++) {
        const char *part = parts[draw(4) == 0 ? draw((uint32_t)N_PARTS) : picked[draw((uint32_t)few)]];
        size_t times = draw(12) == 0 ? 1 + draw(80) : 1;
        for (size_t k = 0; k < times && len + 8 < max; k++) {
            memcpy(text + len, part, strlen(part));
            len += strlen(part);
        }
    }
    return len;
}

static void test_random(const struct subject *s, const dstok__simd *simd, size_t n) {
    static const size_t sizes[] = {1, 2, 3, 8, DSTOK__WINDOW};
    static uint8_t text[1 << 14];
    for (size_t i = 0; i < n; i++) {
        size_t len = make_text(text, sizeof text);
        uint8_t *exact = malloc(len + (len == 0));
        memcpy(exact, text, len);
        bool right = agrees(s, simd, exact, len, sizes[draw(5)]);
        free(exact);
        CHECK(right);
        if (!right) return;
    }
}

/* Every code point between others of several kinds, at all places of a block. */
static void test_every_code_point(const struct subject *s, const dstok__simd *simd) {
    static const char *const around[] = {"a", " ", "!", "1", "\n", "\xE4\xB8\x80", "A", "\xCC\x81", " !"};
    static uint8_t text[1 << 16];
    size_t len = 0, n_around = sizeof around / sizeof *around;
    for (uint32_t cp = 0x80; cp <= 0x10FFFF; cp++) {
        if (cp == 0xD800) cp = 0xE000;
        const char *left = around[cp % n_around], *right = around[cp / n_around % n_around];
        memcpy(text + len, left, strlen(left));
        len += strlen(left);
        len += dstok__utf8_put(text + len, cp);
        memcpy(text + len, right, strlen(right));
        len += strlen(right);
        if (len + 64 < sizeof text && cp != 0x10FFFF) continue;
        bool agreed = agrees(s, simd, text, len, 8);
        CHECK(agreed);
        if (!agreed) return;
        len = 0;
    }
}

/* Characters of all widths and kinds behind runs that go up to the end of what a window knows. */
static void test_behind_runs(const struct subject *s, const dstok__simd *simd) {
    static const char *const first[] = {"\xE3\x81\x82", "a", " ", "!", "\n"};
    static const char *const last[] = {"b",
                                       "\xC3\xA9",
                                       "\xC3\x89",
                                       "\xCC\x81",
                                       "\xE3\x81\x82",
                                       "\xE2\xB1\xAF",
                                       "\xE0\xA4\xBF",
                                       "\xE3\x80\x82",
                                       "\xEF\xBC\x91",
                                       "\xF0\x9F\x98\x80",
                                       "\xF0\x9D\x9F\x8E",
                                       "\xF0\x90\x90\xA8"};
    static const char runs[] = "Aa1 !\n";
    uint8_t text[256];
    for (size_t i = 0; i < (sizeof runs - 1) * 5 * 12; i++) {
        for (size_t n = 40; n < 200; n++) {
            const char *begin = first[i % 5], *end = last[i / 5 % 12];
            size_t len = strlen(begin);
            memcpy(text, begin, len);
            memset(text + len, runs[i / 60], n);
            memcpy(text + len + n, end, strlen(end) + 1);
            len += n + strlen(end);
            text[len++] = 'x';
            bool agreed = agrees(s, simd, text, len, 1) && agrees(s, simd, text, len, 2);
            CHECK(agreed);
            if (!agreed) return;
        }
    }
}

static void test_shared_text(const struct subject *s, const dstok__simd *simd, const char *name) {
    const char *path = t_shared(name);
    size_t len;
    uint8_t *text = path == NULL ? NULL : (uint8_t *)t_read(path, &len);
    if (text == NULL) return;
    if (len > MAX_TEXT) len = MAX_TEXT;
    while (len > 0 && (text[len - 1] & 0xC0) == 0x80) len--; /* whole characters */
    if (len > 0 && text[len - 1] >= 0xC0) len--;
    uint64_t windows = n_windows, unknown = n_unknown;
    CHECK(agrees(s, simd, text, len, DSTOK__WINDOW));
    printf("  %-16s %8zu bytes %6llu windows, %llu pretokens by the scanner\n", name, len,
           (unsigned long long)(n_windows - windows), (unsigned long long)(n_unknown - unknown));
    free(text);
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261130;
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 0) : N_STRINGS;
    begins = malloc(MAX_TEXT + 1);
    if (begins == NULL) return 1;
    printf("seed %llu\n", (unsigned long long)seed);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        for (int tier = 0; tier < DSTOK__N_TIERS; tier++) {
            const dstok__simd *simd = dstok__simd_tier((dstok__tier)tier);
            if (simd == NULL) continue;
            rng.state = seed + i;
            n_windows = n_unknown = n_starts = 0;
            test_random(&subjects[i], simd, n);
            test_every_code_point(&subjects[i], simd);
            test_behind_runs(&subjects[i], simd);
            printf("%-15s %-7s %8llu pretokens, %llu windows, %llu pretokens by the scanner\n",
                   subjects[i].name, simd->name, (unsigned long long)n_starts, (unsigned long long)n_windows,
                   (unsigned long long)n_unknown);
            if (tier != DSTOK__TIER_SCALAR) continue;
            test_shared_text(&subjects[i], simd, "text/en.txt.xz");
            test_shared_text(&subjects[i], simd, "text/zh.txt.xz");
            test_shared_text(&subjects[i], simd, "text/code.txt.xz");
        }
    }
    free(begins);
    return t_end();
}
