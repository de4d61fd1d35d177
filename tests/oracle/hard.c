/* SPDX-License-Identifier: MIT */
/* Text that is hard for masks, cuts and caches, and small vocabularies whose tokens come from it. */
#include "hard.h"

#include "gen.h"

#include "../../tokenizer/text/utf8.h"

#include <stdlib.h>

/* clang-format off */
static const char *const parts[] = {
    "a", "b", "Ab", "ABC", "word", " word", "x", "Z", " ", "  ", "   ", "\t", "\n", "\r\n", "\r",
    "\n\n", " \n", "\v", "\f", "'s", "'S", "'ll", "'LL", "'re", "'vE", "'m", "'d", "'t", "'", "''",
    "'l", "'r", "'\xC5\xBF", "\xC5\xBF", "\xE2\x84\xAA", "0", "1", "12", "345", "67890", "!", "?!",
    "...", "/", "//", "/\n", "-", "(", "_", "\"", "$", "+", "=", "<|", "|>", "\x01", "\x7F", "\xC2\x85",
    "\xC2\xA0", "\xE3\x80\x80", "\xE2\x80\xA8", "\xE2\x80\x8B", "\xEF\xBB\xBF", "\xC3\xA9", "\xC3\x89",
    "\xCC\x81", "\xEF\xB8\x8F", "\xE2\x9D\xA4", "\xC7\x85", "\xCA\xB0", "\xCD\x8F", "\xE4\xB8\x80",
    "\xE4\xB7\x80", "\xE9\xBE\xA5", "\xE9\xBE\xA6", "\xE6\x96\x87", "\xE5\xAD\x97", "\xE7\x9A\x84",
    "\xE3\x81\x80", "\xE3\x81\x82", "\xE3\x82\xA2", "\xE3\x83\xBB", "\xE3\x82\x9B", "\xE3\x82\x99",
    "\xE3\x83\xBC", "\xE3\x80\x82", "\xEF\xBC\x8C", "\xEF\xBC\x91", "\xEF\xBC\xA1", "\xEA\xB0\x80",
    "\xE1\x84\x80\xE1\x85\xA1", "\xF0\x9F\x98\x80", "\xF0\x9F\x8F\xBD", "\xF0\x91\xB7\xA0",
    "\xF0\x9D\x9F\x8E", "\xF0\x9D\x90\x80", "\xF0\xA0\x80\x80", "\xF4\x8F\xBF\xBF", "\xD0\x96",
    "\xD0\xB6", "\xD8\xB9", "\xD9\xA3", "\xE0\xA4\x95", "\xE0\xA4\xBF", "\xE0\xA5\xA7", "\xE0\xB8\x81",
};
/* clang-format on */
#define N_PARTS ((uint32_t)(sizeof parts / sizeof *parts))

/* Text while it is written; nothing goes in that does not fit. */
typedef struct writer {
    uint8_t *out;
    size_t len, max;
} writer;

static void put(writer *w, const char *text) {
    size_t n = strlen(text);
    if (w->len + n > w->max) return;
    memcpy(w->out + w->len, text, n);
    w->len += n;
}

static void put_code_point(writer *w, uint32_t cp) {
    if (w->len + 4 > w->max) return;
    w->len += dstok__utf8_put(w->out + w->len, cp >= 0xD800 && cp <= 0xDFFF ? cp - 0x800 : cp);
}

static uint32_t between(t_rng *rng, uint32_t first, uint32_t last) {
    return first + t_below(rng, last - first + 1);
}

static bool is_full(const writer *w) {
    return w->len + 32 > w->max;
}

/* ---- kinds ---- */

/* A few of the parts, drawn again and again, so that neighbours of all kinds meet; now and then a run. */
static void put_parts(t_rng *rng, writer *w) {
    uint32_t picked[8], few = 1 + t_below(rng, 8), n = 1 + t_below(rng, 80);
    for (uint32_t i = 0; i < few; i++) picked[i] = t_below(rng, N_PARTS);
    for (uint32_t i = 0; i < n && !is_full(w); i++) {
        const char *part = parts[t_below(rng, 4) == 0 ? t_below(rng, N_PARTS) : picked[t_below(rng, few)]];
        uint32_t times = t_below(rng, 12) == 0 ? 1 + t_below(rng, 80) : 1;
        while (times-- > 0) put(w, part);
    }
}

/* Filled up to somewhere before a multiple of 64 or 4096, then some parts over it; and so on. */
static void put_edges(t_rng *rng, writer *w) {
    static const size_t units[] = {64, 64, 256, 4096, 4096};
    for (uint32_t n = 1 + t_below(rng, 6); n > 0 && !is_full(w); n--) {
        size_t unit = units[t_below(rng, 5)], edge = (w->len / unit + 1) * unit;
        const char *filler = parts[t_below(rng, N_PARTS)], *picked[3];
        for (size_t i = 0; i < 3; i++) picked[i] = parts[t_below(rng, N_PARTS)];
        bool mixes = t_below(rng, 2) == 0;
        size_t before = t_below(rng, 40);
        while (w->len + before < edge && w->len + 8 <= w->max)
            put(w, mixes && t_below(rng, 3) == 0 ? picked[0] : filler);
        while (w->len < edge + 4 && w->len + 8 <= w->max)
            put(w, t_below(rng, 3) == 0 ? parts[t_below(rng, N_PARTS)] : picked[t_below(rng, 3)]);
    }
}

static void put_runs(t_rng *rng, writer *w) {
    for (uint32_t n = 1 + t_below(rng, 4); n > 0 && !is_full(w); n--) {
        const char *part = parts[t_below(rng, N_PARTS)];
        uint32_t times = 1 + t_below(rng, t_below(rng, 3) == 0 ? 9000 : 300);
        if (t_below(rng, 2) == 0) put(w, parts[t_below(rng, N_PARTS)]);
        while (times-- > 0 && !is_full(w)) put(w, part);
    }
}

/* Two to five classes of characters, one of each, in any order: at the end of a window anything may be cut.
 * Now and then what masks leave to the scanner, behind which windows are short. */
static void put_dense(t_rng *rng, writer *w) {
    static const char *const classes[][4] = {
        {"a", "b", "s", "\xC3\xA9"},
        {"A", "B", "S", "\xC3\x89"},
        {"\xE6\x96\x87", "\xE3\x81\x82", "\xD8\xB9", "\xCA\xB0"},
        {"\xCC\x81", "\xE0\xA4\xBF", "\xEF\xB8\x8F", "\xE3\x82\x99"},
        {" ", " ", "\t", "\xC2\xA0"},
        {"\n", "\r", "\n", "\r\n"},
        {"!", "(", "\xE3\x80\x82", "\xF0\x9F\x98\x80"},
        {"1", "2", "9", "0"},
        {"'", "'s", "'ll", "'RE"},
        {"/", "/", "//", "/\n"},
        {"\x01", "\xE2\x80\x8B", "\xE2\x80\x8D", "\xC2\x85"},
    };
    static const char *const rare[] = {"\xEF\xBC\x91", "e\xCC\x81'", "\xE3\x82\x9B", "\xD9\xA3"};
    const char *picked[5];
    uint32_t n_classes = sizeof classes / sizeof *classes, few = 2 + t_below(rng, 4),
             n = 1 + t_below(rng, 12000);
    for (uint32_t i = 0; i < few; i++) picked[i] = classes[t_below(rng, n_classes)][t_below(rng, 4)];
    for (uint32_t i = 0; i < n && !is_full(w); i++)
        put(w, t_below(rng, 300) == 0 ? rare[t_below(rng, 4)] : picked[t_below(rng, few)]);
}

static uint32_t draw_east(t_rng *rng) {
    switch (t_below(rng, 8)) {
    case 0:
        return between(rng, 0x3040, 0x30FF);
    case 1:
        return between(rng, 0x3400, 0x9FFF);
    case 2:
        return between(rng, 0x3000, 0x301F);
    case 3:
        return between(rng, 0xFF01, 0xFF5E);
    case 4:
        return between(rng, 0xAC00, 0xD7A3);
    default:
        return between(rng, 0x4E00, 0x4E40); /* few enough to meet again */
    }
}

static void put_east(t_rng *rng, writer *w) {
    for (uint32_t n = 1 + t_below(rng, 300); n > 0 && !is_full(w); n--) {
        uint32_t what = t_below(rng, 12);
        if (what == 0) put(w, parts[t_below(rng, N_PARTS)]);
        if (what == 1) put_code_point(w, between(rng, 'a', 'z'));
        if (what == 2) put_code_point(w, between(rng, 0xA1, 0x7FF));
        if (what == 3) put_code_point(w, between(rng, 0x20000, 0x2A6DF));
        if (what > 3) put_code_point(w, draw_east(rng));
    }
}

/* Faces with skin tones, joined ones, flags, keycaps, hearts with and without their selector. */
static void put_emoji(t_rng *rng, writer *w) {
    for (uint32_t n = 1 + t_below(rng, 200); n > 0 && !is_full(w); n--) {
        put_code_point(w, between(rng, 0x1F600, 0x1F64F));
        uint32_t what = t_below(rng, 10);
        if (what == 0) put_code_point(w, between(rng, 0x1F3FB, 0x1F3FF));
        if (what == 1) put(w, "\xE2\x80\x8D");
        if (what == 2) put(w, "\xEF\xB8\x8F");
        if (what == 3) put_code_point(w, between(rng, 0x1F1E6, 0x1F1FF));
        if (what == 4) put(w, "1\xEF\xB8\x8F\xE2\x83\xA3");
        if (what == 5) put_code_point(w, between(rng, 0x1F300, 0x1FAFF));
        if (what == 6) put(w, parts[t_below(rng, N_PARTS)]);
    }
}

/* What NFC changes: marks behind letters in wrong order, jamo, singletons. */
static void put_marks(t_rng *rng, writer *w) {
    static const char *const changed[] = {"e\xCC\x81",
                                          "A\xCC\x8A",
                                          "\xE2\x84\xAB",
                                          "a\xCC\xA3\xCC\x82",
                                          "a\xCC\x82\xCC\xA3",
                                          "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8",
                                          "\xE2\x84\xA6",
                                          "\xCD\x84",
                                          "\xCE\xB9\xCC\x88\xCC\x81",
                                          "\xE0\xA4\xA8\xE0\xA4\xBC",
                                          "\xF0\x9D\x85\x9E",
                                          "\xEF\xA4\x80"};
    for (uint32_t n = 1 + t_below(rng, 120); n > 0 && !is_full(w); n--) {
        uint32_t what = t_below(rng, 6);
        if (what < 3) put(w, changed[t_below(rng, sizeof changed / sizeof *changed)]);
        if (what == 3) put_code_point(w, between(rng, 0x300, 0x345));
        if (what == 4) put(w, parts[t_below(rng, N_PARTS)]);
        if (what == 5) put_code_point(w, between(rng, 'a', 'z'));
    }
}

/* Words that come again, most of up to 20 letters, some about as long as the cache keeps. */
static void put_words(t_rng *rng, writer *w) {
    static const char *const between_words[] = {" ", " ", " ", ", ", "\n", ".", "-", "  "};
    uint32_t alphabet = 1 + t_below(rng, 26);
    for (uint32_t n = 1 + t_below(rng, 150); n > 0 && !is_full(w); n--) {
        uint32_t one = t_below(rng, 400);
        t_rng letters = {one};
        uint32_t len = one < 10   ? between(&letters, 250, 260)
                       : one < 40 ? between(&letters, 12, 20)
                                  : 1 + one % 9;
        put(w, between_words[t_below(rng, 8)]);
        while (len-- > 0 && !is_full(w)) put_code_point(w, 'a' + t_below(&letters, alphabet));
    }
}

/* Characters of all planes, most of them alone, some in runs of neighbours. */
static void put_planes(t_rng *rng, writer *w) {
    static const uint32_t tops[] = {0x7FF, 0xFFFF, 0x3FFFF, 0x10FFFF, 0x10FFFF};
    uint32_t top = tops[t_below(rng, 5)];
    for (uint32_t n = 1 + t_below(rng, 400); n > 0 && !is_full(w); n--) {
        uint32_t cp = t_below(rng, top + 1), run = t_below(rng, 6) == 0 ? 1 + t_below(rng, 12) : 1;
        while (run-- > 0 && cp <= 0x10FFFF) put_code_point(w, cp++);
        if (t_below(rng, 12) == 0) put(w, parts[t_below(rng, N_PARTS)]);
    }
}

/* What has no words: base64, long numbers, rows of signs; with few line ends or with none. */
static void put_codes(t_rng *rng, writer *w) {
    static const char *const alphabets[] = {
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "0123456789", "0123456789abcdef",
        "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "{}[]\":,0123456789.eE- "};
    for (uint32_t n = 1 + t_below(rng, 5); n > 0 && !is_full(w); n--) {
        const char *alphabet = alphabets[t_below(rng, 5)];
        uint32_t size = (uint32_t)strlen(alphabet), line = t_below(rng, 2) == 0 ? 76 : UINT32_MAX,
                 len = 1 + t_below(rng, t_below(rng, 3) == 0 ? 20000 : 500);
        for (uint32_t i = 1; i <= len && !is_full(w); i++) {
            put_code_point(w, (uint8_t)alphabet[t_below(rng, size)]);
            if (i % line == 0) put(w, "\n");
        }
    }
}

size_t hard_text(t_rng *rng, unsigned kind, uint8_t *out, size_t max) {
    static void (*const kinds[])(t_rng *, writer *) = {put_parts,  put_edges, put_runs,  put_dense,
                                                       put_east,   put_emoji, put_marks, put_words,
                                                       put_planes, put_codes};
    writer w = {.out = out, .max = max};
    if (kind % HARD_KINDS == HARD_KINDS - 1) return gen_text(rng, out, max);
    kinds[kind % HARD_KINDS](rng, &w);
    return w.len;
}

size_t hard_damage(t_rng *rng, uint8_t *text, size_t len) {
    for (uint32_t n = t_below(rng, 6); n > 0 && len > 1; n--) {
        size_t at = t_below(rng, (uint32_t)len), width = 1 + t_below(rng, 3);
        switch (t_below(rng, 3)) {
        case 0:
            if (at + width > len) width = len - at;
            memmove(text + at, text + at + width, len - at - width);
            len -= width;
            break;
        case 1:
            text[at] = (uint8_t)(0x80 + t_below(rng, 128));
            break;
        default:
            text[at] ^= (uint8_t)(1u << t_below(rng, 8));
        }
    }
    return len;
}

/* ---- vocabularies ---- */

#define SAMPLE 6000
#define NEW    UINT32_MAX

/* A sample while it is merged: indexes of texts. */
typedef struct sample {
    uint32_t at[SAMPLE];
    size_t n;
} sample;

static void read_sample(sample *s, t_rng *rng) {
    uint8_t text[SAMPLE / HARD_KINDS];
    s->n = 0;
    for (unsigned kind = 0; kind < HARD_KINDS; kind++) {
        size_t n = hard_text(rng, kind, text, sizeof text);
        for (size_t i = 0; i < n; i++)
            if (text[i] != 0) s->at[s->n++] = text[i];
    }
}

static void join_all(sample *s, uint32_t left, uint32_t right, uint32_t product) {
    size_t n = 0;
    for (size_t i = 0; i < s->n; n++) {
        bool both = i + 1 < s->n && s->at[i] == left && s->at[i + 1] == right;
        s->at[n] = both ? product : s->at[i];
        i += both ? 2 : 1;
    }
    s->n = n;
}

static uint32_t find_text(const hard_merges *m, size_t n_texts, const char *text) {
    for (size_t i = 0; i < n_texts; i++)
        if (strcmp(m->texts[i], text) == 0) return (uint32_t)i;
    return NEW;
}

static void shuffle(hard_merges *m, t_rng *rng) {
    for (size_t i = m->n; i-- > 1;) {
        size_t k = t_below(rng, (uint32_t)i + 1);
        const char *left = m->merges[i][0], *right = m->merges[i][1];
        m->merges[i][0] = m->merges[k][0];
        m->merges[i][1] = m->merges[k][1];
        m->merges[k][0] = left;
        m->merges[k][1] = right;
    }
}

void hard_merges_make(hard_merges *m, t_rng *rng, size_t n, bool is_shuffled) {
    static sample s;
    m->texts = calloc(256 + n, sizeof *m->texts);
    m->merges = calloc(n, sizeof *m->merges);
    size_t n_texts = 256;
    for (size_t i = 0; i < 256; i++) m->texts[i][0] = (char)i;
    read_sample(&s, rng);
    m->n = 0;
    for (int tries = 0; m->n < n && tries < 100000; tries++) {
        if (s.n < 100) read_sample(&s, rng);
        uint32_t i = t_below(rng, (uint32_t)s.n - 1), left = s.at[i], right = s.at[i + 1];
        const char *a = m->texts[left], *b = m->texts[right];
        char joined[128];
        if (strlen(a) + strlen(b) > (t_below(rng, 4) == 0 ? 40 : 12)) continue;
        snprintf(joined, sizeof joined, "%s%s", a, b);
        uint32_t product = find_text(m, n_texts, joined);
        if (product == NEW) {
            product = (uint32_t)n_texts++;
            memcpy(m->texts[product], joined, strlen(joined) + 1);
        }
        m->merges[m->n][0] = a;
        m->merges[m->n++][1] = b;
        join_all(&s, left, right, product);
    }
    if (is_shuffled) shuffle(m, rng);
}

void hard_merges_free(hard_merges *m) {
    free(m->texts);
    free(m->merges);
}

fixture hard_fixture(const hard_merges *m) {
    return (fixture){.merges = (const char *const(*)[2])(const void *)m->merges, .n_merges = m->n};
}

/* ---- files ---- */

char *hard_json_string(const char *text) {
    char *out = malloc(2 * strlen(text) + 3), *p = out;
    if (out == NULL) exit(1);
    *p++ = '"';
    for (; *text != '\0'; text++) {
        char c = *text;
        if (c == '"' || c == '\\' || c == '\n' || c == '\r') *p++ = '\\';
        *p++ = c == '\n' ? 'n' : c == '\r' ? 'r' : c;
    }
    memcpy(p, "\"", 2);
    return out;
}

static char *put_base64(char *p, const uint8_t *text, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)text[i] << 16;
        if (i + 1 < n) three |= (uint32_t)text[i + 1] << 8;
        if (i + 2 < n) three |= text[i + 2];
        for (unsigned k = 0; k < 4; k++) *p++ = i + k > n ? '=' : digits[three >> (18 - 6 * k) & 63];
    }
    return p;
}

/* All texts, as a rank file or as a tekken.json has them. Returns how many. */
static size_t put_texts(const hard_merges *m, char **p, bool is_tekken) {
    size_t i = 0;
    for (; i < 256 + m->n; i++) {
        size_t len = i == 0 ? 1 : strlen(m->texts[i]);
        if (len == 0) break; /* fewer texts than merges: some gave the same */
        if (is_tekken) *p += sprintf(*p, "%s{\"rank\":%zu,\"token_bytes\":\"", i > 0 ? "," : "", i);
        *p = put_base64(*p, (const uint8_t *)m->texts[i], len);
        *p += is_tekken ? sprintf(*p, "\",\"token_str\":null}") : sprintf(*p, " %zu\n", i);
    }
    return i;
}

char *hard_ranks(const hard_merges *m, size_t *n) {
    char *out = malloc((256 + m->n) * 110), *p = out;
    if (out == NULL) exit(1);
    (void)put_texts(m, &p, false);
    *n = (size_t)(p - out);
    return out;
}

char *hard_tekken(const hard_merges *m, const char *pattern, size_t *n) {
    static const char specials[] = "[{\"rank\":0,\"token_str\":\"<unk>\",\"is_control\":true},"
                                   "{\"rank\":1,\"token_str\":\"<s>\",\"is_control\":true}]";
    char *out = malloc((256 + m->n) * 180 + 4096), *p = out, *quoted = hard_json_string(pattern);
    if (out == NULL) exit(1);
    p += sprintf(p, "{\"vocab\":[");
    size_t n_texts = put_texts(m, &p, true);
    p += sprintf(p,
                 "],\"special_tokens\":%s,\"config\":{\"pattern\":%s,\"num_vocab_tokens\":%zu,"
                 "\"default_vocab_size\":%zu,\"default_num_special_tokens\":2,\"version\":\"v7\"}}",
                 specials, quoted, n_texts, n_texts + 2);
    free(quoted);
    *n = (size_t)(p - out);
    return out;
}
