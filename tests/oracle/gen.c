/* SPDX-License-Identifier: MIT */
/* Seeded random text: classes of code points in runs, so that strings look like text and not like noise. */
#include "gen.h"

#include "../../simd/simd.h"
#include "../../tokenizer/text/utf8.h"

typedef struct range {
    uint32_t first, last;
} range;

/* One class is up to three ranges; a run takes its code points from one class. */
static const range classes[][3] = {
    {{'a', 'z'}},
    {{'A', 'Z'}},
    {{'0', '9'}},
    {{' ', ' '}},
    {{' ', ' '}, {'a', 'z'}},
    {{'\n', '\n'}, {'\r', '\r'}, {' ', ' '}},
    {{'\t', '\r'}, {' ', ' '}},
    {{'!', '/'}, {':', '@'}, {'[', '`'}},
    {{0x0000, 0x001F}, {0x007F, 0x009F}},
    {{0x00A0, 0x00BF}, {0x00D7, 0x00D7}},
    {{0x00C0, 0x00FF}, {0x0100, 0x024F}},
    {{0x0300, 0x036F}, {0x0061, 0x007A}},
    {{0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x20D0, 0x20F0}},
    {{0x0370, 0x03FF}, {0x1F00, 0x1FFF}},
    {{0x0400, 0x052F}},
    {{0x0590, 0x05FF}},
    {{0x0600, 0x06FF}, {0x0660, 0x0669}},
    {{0x0900, 0x097F}, {0x0980, 0x09FF}},
    {{0x0E00, 0x0E7F}, {0x0E80, 0x0EFF}},
    {{0x1100, 0x11FF}, {0xAC00, 0xD7A3}},
    {{0x1E00, 0x1EFF}},
    {{0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x2064}},
    {{0x2010, 0x2027}, {0x2030, 0x205E}, {0x2190, 0x2BFF}},
    {{0x2070, 0x209C}, {0x2150, 0x218B}, {0x2460, 0x24FF}},
    {{0x3000, 0x303F}, {0xFF00, 0xFFEF}},
    {{0x3040, 0x309F}, {0x30A0, 0x30FF}},
    {{0x4E00, 0x9FFF}},
    {{0x3400, 0x4DBF}, {0x20000, 0x2A6DF}, {0x31350, 0x323AF}},
    {{0xF900, 0xFAFF}, {0xFB00, 0xFB4F}, {0x2F00, 0x2FD5}},
    {{0x1F300, 0x1FAFF}, {0x200D, 0x200D}, {0xFE0F, 0xFE0F}},
    {{0x1F1E6, 0x1F1FF}, {0x1F3FB, 0x1F3FF}},
    {{0x10300, 0x103FF}, {0x10D40, 0x10D8F}, {0x16D40, 0x16D79}},
    {{0x1D400, 0x1D7FF}},
    {{0xE000, 0xF8FF}, {0xFFF0, 0xFFFF}, {0xE0000, 0xE01FF}},
    {{0x0000, 0x10FFFF}},
};
#define N_CLASSES (sizeof classes / sizeof *classes)

/* Texts that patterns treat in a way of their own. */
static const char *const snippets[] = {
    "'s",           "'S",
    "'ll",          "'VE",
    "'\xC5\xBF",    "\xE2\x80\x99s",
    "don't",        "I'M",
    "\r\n",         "\n\n",
    " \n ",         "\n  ",
    "  ",           "   x",
    "\xC2\xA0",     "\xC2\x85",
    "\xE2\x80\xA8", "123",
    "1234",         "3.14",
    "a/\n",         "//\r\n",
    "</",           "<|",
    "|>",           "<|endoftext|>",
    "<|im_start|>", "<think>",
    "\xEF\xBD\x9C", "<\xEF\xBD\x9CUser\xEF\xBD\x9C>",
    "CamelCase",    "HTTPServer",
    "snake_case",   "...",
    "==",           "\xEF\xBB\xBF",
};

static uint32_t code_point(t_rng *rng, size_t class) {
    size_t n = 1;
    while (n < 3 && classes[class][n].last != 0) n++;
    const range *r = &classes[class][t_below(rng, (uint32_t)n)];
    uint32_t c = r->first + t_below(rng, r->last - r->first + 1);
    return c >= 0xD800 && c <= 0xDFFF ? c - 0x800 : c;
}

size_t gen_text(t_rng *rng, uint8_t *out, size_t max) {
    size_t chosen[4], n_chosen = 1 + t_below(rng, 4), n = 0, want = 1 + t_below(rng, (uint32_t)max - 15);
    for (size_t i = 0; i < n_chosen; i++) chosen[i] = t_below(rng, N_CLASSES);
    if (t_below(rng, 2) == 0) chosen[0] = 4; /* words with blanks */
    while (n < want) {
        if (t_below(rng, 8) == 0) {
            const char *s = snippets[t_below(rng, sizeof snippets / sizeof *snippets)];
            if (n + strlen(s) > max) break;
            memcpy(out + n, s, strlen(s));
            n += strlen(s);
            continue;
        }
        size_t class = chosen[t_below(rng, (uint32_t)n_chosen)], run = 1 + t_below(rng, 8);
        uint32_t c = code_point(rng, class);
        bool same = t_below(rng, 6) == 0; /* aaaa */
        while (run-- > 0 && n + 4 <= max) {
            n += dstok__utf8_put(out + n, c);
            if (!same) c = code_point(rng, class);
        }
        if (n + 4 > max) break;
    }
    return n;
}

size_t gen_mutant(t_rng *rng, const uint8_t *real, size_t n, uint8_t *out, size_t max) {
    size_t at = t_below(rng, (uint32_t)n), want = 1 + t_below(rng, (uint32_t)max - 15), k = 0;
    uint32_t rate = t_below(rng, 2) == 0 ? 0 : 4 + t_below(rng, 60); /* one change in `rate` characters */
    while (at < n && dstok__is_continuation(real[at])) at++;
    while (at < n && k < want && k + 8 <= max) {
        size_t width;
        dstok__utf8_get(real + at, &width);
        unsigned what = rate == 0 ? 0 : t_below(rng, rate);
        if (what == 1) k += dstok__utf8_put(out + k, code_point(rng, t_below(rng, N_CLASSES)));
        if (what != 2) {
            memcpy(out + k, real + at, width);
            k += width;
        }
        if (what == 3 && k >= width) { /* doubled */
            memcpy(out + k, real + at, width);
            k += width;
        }
        at += width;
    }
    return k;
}

/* Takes bytes out of s[0, n) until what is left is UTF-8. */
static size_t keep_characters(uint8_t *s, size_t n) {
    size_t k = 0;
    for (size_t i = 0; i < n;) {
        size_t width, bad = dstok__utf8_ill_formed(s + i, n - i, &width);
        if (bad == 0) {
            memmove(s + k, s + i, width);
            k += width;
        }
        i += bad != 0 ? bad : width;
    }
    return k;
}

size_t gen_tokens(t_rng *rng, const dstok_tokenizer *tok, uint8_t *out, size_t max) {
    dstok_info info = DSTOK_INFO_INIT;
    dstok_tokenizer_info(tok, &info);
    size_t n = 0, want = 1 + t_below(rng, (uint32_t)max);
    for (int tries = 0; n < want && tries < 1000; tries++) {
        uint32_t limit = (uint32_t)info.n_ids;
        if (t_below(rng, 2) == 0 && limit > 2000) limit = 2000; /* the frequent ones */
        const void *bytes;
        size_t k;
        if (dstok_token_bytes(tok, t_below(rng, limit), &bytes, &k) != DSTOK_OK || k > max - n) continue;
        memcpy(out + n, bytes, k);
        n += k;
    }
    return keep_characters(out, n);
}

size_t gen_bytes(t_rng *rng, uint8_t *out, size_t max) {
    size_t want = 1 + t_below(rng, (uint32_t)max - 15), n = 0;
    while (n < want) {
        switch (t_below(rng, 5)) {
        case 0:
            out[n++] = (uint8_t)t_random(rng);
            break;
        case 1:
            out[n++] = (uint8_t)(0x80 | t_below(rng, 0x80));
            break;
        case 2:
            out[n++] = ' ';
            break;
        case 3: { /* the head of a character */
            uint8_t c[4];
            size_t width = dstok__utf8_put(c, code_point(rng, t_below(rng, N_CLASSES))),
                   keep = 1 + t_below(rng, (uint32_t)width);
            if (n + keep > max) return n;
            memcpy(out + n, c, keep);
            n += keep;
            break;
        }
        default: {
            size_t room = max - n;
            if (room < 16) return n;
            n += gen_text(rng, out + n, room > 40 ? 40 : room);
        }
        }
    }
    return n;
}

void gen_print(const uint8_t *s, size_t n) {
    fputc('"', stderr);
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"' || s[i] == '\\') {
            fprintf(stderr, "\\%c", s[i]);
        } else if (s[i] < 0x20 || s[i] >= 0x7F) {
            fprintf(stderr, "\\x%02X", s[i]);
        } else {
            fputc(s[i], stderr);
        }
    }
    fputs("\"\n", stderr);
}
