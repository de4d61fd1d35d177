/* SPDX-License-Identifier: MIT */
/* Places where every family must begin a pretoken, whatever stands before, and where the text may end as well,
 * against what the scanners do from the begin of a text on: random hard text, every code point in context, real
 * text. An argument is the seed. */
#include "../../tokenizer/pretok/scan.h"
#include "../oracle/gen.h"

#include <stdlib.h>

#define N_TEXTS  20000
#define MAX_TEXT ((size_t)1 << 20)

static const struct family {
    const char *name;
    size_t (*scan)(const uint8_t *text, size_t len, size_t pos);
} families[] = {
    {"gpt2", dstok__scan_gpt2},
    {"smollm", dstok__scan_smollm},
    {"smollm_split", dstok__scan_smollm_split},
    {"cl100k", dstok__scan_cl100k},
    {"cl100k_tiktoken", dstok__scan_cl100k_tiktoken},
    {"qwen2", dstok__scan_qwen2},
    {"qwen35", dstok__scan_qwen35},
    {"seed_coder", dstok__scan_seed_coder},
    {"minicpm5", dstok__scan_minicpm5},
    {"o200k", dstok__scan_o200k},
    {"tekken", dstok__scan_tekken},
    {"deepseek_v3", dstok__scan_deepseek_v3},
};
#define N_FAMILIES (sizeof families / sizeof *families)

static uint8_t begins[MAX_TEXT + 1];
static uint64_t n_places, n_bytes;
static t_rng rng;

static bool complain(const struct family *f, const uint8_t *text, size_t len, size_t at, const char *what) {
    size_t from = at < 40 ? 0 : at - 40, to = at + 40 < len ? at + 40 : len;
    fprintf(stderr, "%s: %s at %zu of %zu, which is %zu here: ", f->name, what, at, len, at - from);
    gen_print(text + from, to - from);
    fprintf(stderr, "\n");
    return false;
}

/* Are the pretokens before text[at] the same when the text ends there? All of them, or the last three in long texts. */
static bool can_end(const struct family *f, const uint8_t *text, size_t at) {
    size_t pos = at, n = 0;
    while (pos > 0 && (n < 3 || at <= 400)) n += begins[--pos];
    for (; pos < at && begins[pos]; n--) pos = f->scan(text, at, pos);
    return pos == at && n == 0;
}

static bool agrees_with(const struct family *f, const uint8_t *text, size_t len) {
    memset(begins, 0, len);
    for (size_t pos = 0; pos < len; pos = f->scan(text, len, pos)) begins[pos] = 1;
    for (size_t at = 0; (at = dstok__sure_begin(text, len, at, len)) < len; n_places++) {
        if (!begins[at]) return complain(f, text, len, at, "no pretoken begins");
        if (!can_end(f, text, at)) return complain(f, text, len, at, "other pretokens before the end");
    }
    n_bytes += len;
    return true;
}

static bool agrees(const uint8_t *text, size_t len) {
    bool good = true;
    for (size_t i = 0; i < N_FAMILIES && good; i++) good = agrees_with(&families[i], text, len);
    CHECK(good);
    return good;
}

/* ---- texts ---- */

/* One or more of each kind, and what families treat in a way of its own. */
static const char *const parts[] = {
    "a",
    "B",
    "s",
    "re",
    "LL",
    " ",
    "  ",
    "\t",
    "\v",
    "\n",
    "\r\n",
    "'",
    "'s",
    "'re",
    "'LL",
    "'\xC5\xBF",
    "\xC5\xBF",
    "1",
    "12",
    "\xC2\xBD",
    "\xD9\xA3",
    "!",
    "/",
    "//",
    "-",
    "_",
    "$",
    "\x01",
    "\x7F",
    "\xC2\x85",
    "\xC2\xA0",
    "\xE2\x80\xA8",
    "\xE2\x80\x8B",
    "\xE2\x80\x99",
    "\xC3\xA9",
    "\xC7\x85",
    "\xCA\xB0",
    "\xCC\x81",
    "\xCD\x8F",
    "\xE0\xA4\x95",
    "\xE0\xA4\xBF",
    "\xE4\xB8\x80",
    "\xE9\xBE\xA5",
    "\xE9\xBE\xA6",
    "\xE3\x81\x82",
    "\xE3\x83\xBB",
    "\xE3\x82\x9B",
    "\xE3\x81\x80",
    "\xE3\x82\x99",
    "\xE3\x80\x82",
    "\xEF\xBC\x8C",
    "\xEF\xBC\x91",
    "\xF0\x9F\x98\x80",
    "\xF0\x91\xB7\xA0",
    "\xF0\x9D\x9F\x8E",
    "\xEF\xBF\xBF",
};
#define N_PARTS ((uint32_t)(sizeof parts / sizeof *parts))

static void append(uint8_t *text, size_t *len, const char *part) {
    memcpy(text + *len, part, strlen(part));
    *len += strlen(part);
}

static void test_random(void) {
    static uint8_t text[4096];
    for (int i = 0; i < N_TEXTS; i++) {
        size_t len = 0;
        if (i % 4 == 0) {
            len = gen_text(&rng, text, 400);
        } else {
            for (uint32_t n = 1 + t_below(&rng, 60); n > 0; n--)
                append(text, &len, parts[t_below(&rng, N_PARTS)]);
        }
        if (!agrees(text, len)) return;
    }
}

/* Every two of the parts, with every third one before them. */
static void test_neighbours(void) {
    static uint8_t text[MAX_TEXT];
    for (uint32_t a = 0; a < N_PARTS; a++) {
        for (uint32_t b = 0; b < N_PARTS; b++) {
            size_t len = 0;
            for (uint32_t c = 0; c < N_PARTS; c++) {
                append(text, &len, parts[a]);
                append(text, &len, parts[b]);
                append(text, &len, parts[c]);
                append(text, &len, "\n");
            }
            if (!agrees(text, len)) return;
        }
    }
}

/* Every code point behind and before one of each kind. */
static void test_every_code_point(void) {
    static const char *const around[] = {"a",        "1",        " ",   "!", "'", "\n", "\xE4\xB8\x80",
                                         "\xCC\x81", "\xC2\xBD", "\x01"};
    const uint32_t n_around = sizeof around / sizeof *around;
    static uint8_t text[1 << 16];
    size_t len = 0;
    for (uint32_t cp = 0x80; cp <= 0x10FFFF; cp++) {
        if (cp == 0xD800) cp = 0xE000;
        for (uint32_t i = 0; i < (cp < 0x20000 ? n_around : 1); i++) {
            append(text, &len, around[(cp + i) % n_around]);
            len += dstok__utf8_put(text + len, cp);
            append(text, &len, around[(cp / n_around + i) % n_around]);
        }
        if (len + 200 < sizeof text && cp != 0x10FFFF) continue;
        if (!agrees(text, len)) return;
        len = 0;
    }
}

/* Real text has many such places: near enough for sharing it out anywhere. */
static void test_shared_text(const char *name) {
    const char *path = t_shared(name);
    size_t len, longest = 0;
    uint8_t *text = path == NULL ? NULL : (uint8_t *)t_read(path, &len);
    if (text == NULL) {
        printf("  %s is not here\n", name);
        return;
    }
    if (len > MAX_TEXT) len = MAX_TEXT;
    while (len > 0 && dstok__is_continuation(text[len - 1])) len--; /* whole characters */
    if (len > 0 && text[len - 1] >= 0xC0) len--;
    agrees(text, len);
    for (size_t at = 0, next; at < len; at = next) {
        next = dstok__sure_begin(text, len, at, len);
        if (next - at > longest) longest = next - at;
    }
    printf("  %-16s %zu bytes, at most %zu from place to place\n", name, len, longest);
    CHECK(longest < 1024);
    free(text);
}

/* Where a search begins and ends. */
static void test_bounds(void) {
    const uint8_t *text = (const uint8_t *)"ab cd";
    CHECK_EQ(dstok__sure_begin(text, 5, 0, 5), 2);
    CHECK_EQ(dstok__sure_begin(text, 5, 1, 5), 2);
    CHECK_EQ(dstok__sure_begin(text, 5, 2, 5), 5); /* the place must lie behind where it begins */
    CHECK_EQ(dstok__sure_begin(text, 5, 0, 2), 2);
    CHECK_EQ(dstok__sure_begin(text, 5, 0, 1), 1);
    CHECK_EQ(dstok__sure_begin(text, 5, 5, 5), 5);
    text = (const uint8_t *)"\xE4\xB8\x80\xE3\x80\x82";
    for (size_t from = 0; from < 3; from++) CHECK_EQ(dstok__sure_begin(text, 6, from, 6), from == 0 ? 3 : 6);
}

int main(int argc, char **argv) {
    rng.state = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261130;
    printf("seed %llu\n", (unsigned long long)rng.state);
    test_bounds();
    test_random();
    test_neighbours();
    test_every_code_point();
    test_shared_text("text/en.txt.xz");
    test_shared_text("text/zh.txt.xz");
    test_shared_text("text/code.txt.xz");
    printf("%llu places in %llu bytes\n", (unsigned long long)n_places, (unsigned long long)n_bytes);
    return t_end();
}
