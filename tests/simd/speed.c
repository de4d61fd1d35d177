/* SPDX-License-Identifier: MIT */
/* How fast each function of each tier is, as a table in Markdown. Arguments: texts. Not a test; docs/bench/simd.md has
 * its answers. Time is that of the thread, the best of many rounds over the first 256 KiB in windows of 16 KiB. */
#include "../../simd/simd.h"
#include "../harness/t.h"

#include <stdlib.h>
#include <time.h>

#define TEXT   ((size_t)1 << 18)
#define WINDOW ((size_t)1 << 14)
#define BLOCKS (WINDOW / 64)
#define ROUNDS 200

static dstok__classes classes[TEXT / 64];
static uint64_t starts[TEXT / 64]; /* where words, signs and long characters begin */
static uint64_t longs[TEXT / 64];  /* where characters from U+0800 on begin, but at the ends of the text */
static uint32_t places[WINDOW + 64];
static dstok__json_block tokens[BLOCKS];
static uint8_t copy[WINDOW + 64];
#define WINDOWS    (TEXT / WINDOW)
#define BATCH      128u /* pieces, as in the encoder */
#define TABLE_BITS 16u
static uint32_t marks[WINDOWS][WINDOW + 65]; /* places of `starts` in each window, and its end */
static size_t n_marks[WINDOWS];
static dstok__key keys[WINDOWS][WINDOW];
static dstok__cached *slots[WINDOWS][WINDOW];
static _Alignas(128) dstok__cached table[1u << TABLE_BITS];
static uint32_t ids[3 * WINDOW + 3];
static volatile size_t sink;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef size_t work(const dstok__simd *simd, const uint8_t *text, size_t at, size_t len);

static size_t classify(const dstok__simd *simd, const uint8_t *text, size_t at, size_t len) {
    simd->classify(text + at, len / 64, classes + at / 64);
    return 0;
}
static size_t positions(const dstok__simd *simd, const uint8_t *text, size_t at, size_t len) {
    (void)text;
    return simd->positions(starts + at / 64, len / 64, places);
}
static size_t utf8_check(const dstok__simd *simd, const uint8_t *text, size_t at, size_t len) {
    return simd->utf8_check(text + at, len);
}
static size_t find_one(const dstok__simd *simd, const uint8_t *text, size_t at, size_t len) {
    return simd->find_byte(text + at, len, (const uint8_t *)"\1", 1);
}
static size_t find_four(const dstok__simd *simd, const uint8_t *text, size_t at, size_t len) {
    return simd->find_byte(text + at, len, (const uint8_t *)"\1\2\3\4", 4);
}

static size_t nfc_leads(const dstok__simd *simd, const uint8_t *text, size_t at, size_t len) {
    static uint64_t leads[BLOCKS];
    simd->nfc_leads(text + at, len / 64, leads);
    return (size_t)leads[0];
}

/* Of characters from U+0800 on; no two may join. */
static size_t cut(const dstok__simd *simd, const uint8_t *text, size_t at, size_t len) {
    static uint64_t pairs[(size_t)1 << 15], parts[DSTOK__PART_WORDS], cuts[BLOCKS];
    static const dstok__cuts c = {pairs, parts, 32 - 21};
    (void)len;
    for (size_t i = 0; i < BLOCKS; i += 64)
        simd->cut(&c, text + at + 64 * i, longs + at / 64 + i, 64, places, cuts + i);
    return (size_t)cuts[0];
}

/* Inside of a string, as most of the text is. */
static size_t json_tokens(const dstok__simd *simd, const uint8_t *text, size_t at, size_t len) {
    dstok__json_state state = {~(uint64_t)0, 0, 0, 0};
    simd->json_tokens(text + at, len / 64, &state, tokens);
    return (size_t)state.in_run;
}
static size_t json_copy(const dstok__simd *simd, const uint8_t *text, size_t at, size_t len) {
    size_t n;
    for (size_t i = 0; i < len;
         i++) { /* in a text that is no JSON other letters stand behind backslashes, too */
        i += simd->json_copy(text + at + i, len - i, copy, &n);
    }
    return n;
}

/* Pieces that can be read 16 bytes at a time. */
static size_t make_keys(const dstok__simd *simd, const uint8_t *text, size_t at, size_t len) {
    size_t w = at / len;
    for (size_t i = 0; i < n_marks[w]; i += BATCH) {
        size_t n = n_marks[w] - i < BATCH ? n_marks[w] - i : BATCH;
        simd->keys(text + at, marks[w] + i, n, table, TABLE_BITS, keys[w] + i, slots[w] + i);
    }
    return 0;
}

/* Pieces that have no slot are gone over. */
static size_t put_hits(const dstok__simd *simd, const uint8_t *text, size_t at, size_t len) {
    size_t w = at / len;
    uint32_t *end = ids;
    (void)text;
    for (size_t i = 0, batch; i < n_marks[w]; i = batch) {
        batch = n_marks[w] - i < BATCH ? n_marks[w] : i + BATCH;
        while ((i += simd->hits(keys[w] + i, slots[w] + i, batch - i, &end)) < batch) i++;
    }
    return (size_t)(end - ids);
}

/* A slot with one id for each piece, as far as its line has room. */
static void fill_table(const uint8_t *text) {
    memset(table, 0, sizeof table);
    for (size_t w = 0; w < WINDOWS; w++) {
        n_marks[w] = dstok__positions(starts + w * BLOCKS, BLOCKS, marks[w]);
        marks[w][n_marks[w]] = WINDOW;
        while (n_marks[w] > 0 && marks[w][n_marks[w] - 1] + 16 > WINDOW) n_marks[w]--;
        make_keys(dstok__simd_best(DSTOK__N_TIERS), text, w * WINDOW, WINDOW);
        for (size_t i = 0; i < n_marks[w]; i++) {
            dstok__cached *slot = slots[w][i];
            if (slot->key.high != 0 && !dstok__key_is(slot, keys[w][i])) slot = dstok__cache_nth(slot, 1);
            if (slot->key.high == 0) *slot = (dstok__cached){.key = keys[w][i], .ids = {(uint32_t)i}, .n = 1};
        }
    }
}

/* Nanoseconds of a line, all of them in the first cache. */
static double find_words_ns(const dstok__simd *simd) {
    enum { N = 64 };
    static uint64_t words[8 * N], want[N], found[N];
    static const uint64_t *lines[N];
    double best = 1e18;
    for (size_t i = 0; i < 8 * N; i++) words[i] = (i * 0x9E3779B97F4A7C15u) | 1;
    for (size_t i = 0; i < N; i++) lines[i] = words + 8 * i;
    for (size_t i = 0; i < N; i++) want[i] = words[8 * i + i * 5 % 8] >> 24;
    for (int round = 0; round < ROUNDS; round++) {
        double from = now();
        for (size_t k = 0; k < 100; k++) simd->find_words(lines, want, N, found);
        double took = (now() - from) / (100 * N);
        sink = (size_t)found[0];
        if (took < best) best = took;
    }
    return best;
}

/* Windows end where characters do. */
static double window_ns(const dstok__simd *simd, work *f, const uint8_t *text, size_t size) {
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double from = now();
        size_t sum = 0;
        for (size_t at = 0; at < size; at += WINDOW) sum += f(simd, text, at, WINDOW);
        double took = now() - from;
        sink = sum;
        if (took < best) best = took;
        if (best > 5e6 && round > 10) break;
    }
    return best;
}

/* Nanoseconds of one call for `len` bytes at the begin of the text, at places that differ. */
static double call_ns(const dstok__simd *simd, work *f, const uint8_t *text, size_t len) {
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double from = now();
        size_t sum = 0;
        for (size_t k = 0; k < 1000; k++) sum += f(simd, text, 48 * k, len);
        double took = (now() - from) / 1000;
        sink = sum;
        if (took < best) best = took;
    }
    return best;
}

/* Cycles a nanosecond, from multiplications that wait for each other, three cycles each on most CPUs. */
static double clock_ghz(void) {
    double best = 1e18;
    uint64_t x = 3;
    for (int round = 0; round < ROUNDS; round++) {
        double from = now();
        for (int k = 0; k < 100000; k++) x *= x;
        double took = now() - from;
        if (took < best) best = took;
    }
    sink = (size_t)x;
    return 3 * 100000 / best;
}

static const dstok__simd *tiers[DSTOK__N_TIERS];
static int n_tiers;

static void row(const char *text_name, const char *what, const double *value) {
    printf("| %s | %s |", text_name, what);
    for (int k = 0; k < n_tiers; k++) printf(" %.2f |", value[k]);
    printf("\n");
}

static void head(const char *unit) {
    printf("\n| text | %s |", unit);
    for (int k = 0; k < n_tiers; k++) printf(" %s |", tiers[k]->name);
    printf("\n|---|---|");
    for (int k = 0; k < n_tiers; k++) printf("---:|");
    printf("\n");
}

/* The begin of a text as it stands in a JSON string. */
static const uint8_t *as_json(const uint8_t *text) {
    static uint8_t json[TEXT];
    static const char plain[] = "\"\\\n\r\t", letter[] = "\"\\nrt";
    for (size_t i = 0, n = 0; n < TEXT; i++) {
        const char *found = text[i] != 0 ? strchr(plain, text[i]) : NULL;
        if (found != NULL) json[n++] = '\\';
        if (n < TEXT) json[n++] = found != NULL ? (uint8_t)letter[found - plain] : text[i];
    }
    return json;
}

typedef struct measured {
    const char *name;
    work *f;
    int json; /* of the text as JSON */
} measured;
static const measured all[] = {{"classify", classify, 0},
                               {"positions", positions, 0},
                               {"utf8_check", utf8_check, 0},
                               {"find_byte, 1", find_one, 0},
                               {"find_byte, 4", find_four, 0},
                               {"nfc_leads", nfc_leads, 0},
                               {"cut", cut, 0},
                               {"keys", make_keys, 0},
                               {"hits", put_hits, 0},
                               {"json_tokens", json_tokens, 1},
                               {"json_copy", json_copy, 1}};
#define N_ALL (sizeof all / sizeof *all)

static void windows(const char *name, const uint8_t *text) {
    dstok__classify(text, TEXT / 64, classes);
    for (size_t k = 0; k < TEXT / 64; k++) {
        const dstok__classes *c = classes + k;
        uint64_t letter = c->upper | c->lower;
        starts[k] = (letter & ~(letter << 1)) | c->sign | c->newline | (c->high & ~c->tail);
    }
    for (size_t at = 4; at < TEXT; at++) {
        uint64_t is_long = text[at] >= 0xE0 && at + 4 <= TEXT;
        longs[at / 64] = (at % 64 == 0 || at == 4 ? 0 : longs[at / 64]) | is_long << (at % 64);
    }
    fill_table(text);
    for (size_t i = 0; i < N_ALL; i++) {
        double rate[DSTOK__N_TIERS];
        const uint8_t *used = all[i].json ? as_json(text) : text;
        for (int k = 0; k < n_tiers; k++) rate[k] = (double)TEXT / window_ns(tiers[k], all[i].f, used, TEXT);
        row(name, all[i].name, rate);
    }
}

static void calls(const char *name, const uint8_t *text) {
    static const size_t lengths[] = {6, 12, 24, 30, 60, 180}; /* whole characters of three bytes, too */
    for (size_t i = 2; i < N_ALL; i++) {
        bool is_blocks = all[i].f == json_tokens || all[i].f == nfc_leads || all[i].f == cut;
        if (is_blocks || all[i].f == make_keys || all[i].f == put_hits) continue; /* whole blocks only */
        for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++) {
            double ns[DSTOK__N_TIERS];
            char what[64];
            snprintf(what, sizeof what, "%s, %zu bytes", all[i].name, lengths[j]);
            for (int k = 0; k < n_tiers; k++) ns[k] = call_ns(tiers[k], all[i].f, text, lengths[j]);
            row(name, what, ns);
        }
    }
}

/* Text without what a window would cut: whatever is ill-formed in a window becomes blanks. */
static uint8_t *read_text(const char *path) {
    size_t len;
    uint8_t *text = (uint8_t *)t_read(path, &len);
    if (text == NULL || len < TEXT) {
        fprintf(stderr, "%s: cannot be read, or is shorter than %zu bytes\n", path, TEXT);
        exit(1);
    }
    for (size_t at = 0; at < TEXT; at += WINDOW) {
        for (size_t bad = 0; (bad += dstok__utf8_check(text + at + bad, WINDOW - bad)) < WINDOW;)
            text[at + bad] = ' ';
    }
    return text;
}

/* Nanoseconds of a row of ranks, and of the pairs of a piece of ten bytes. */
static double least_ns(const dstok__simd *simd) {
    enum { N = 32 };
    static int32_t ranks[32 * N], found[N];
    static const int32_t *rows[N];
    double best = 1e18;
    for (size_t i = 0; i < 32 * N; i++) ranks[i] = (int32_t)(i * 0x9E3779B1u >> 1);
    for (size_t i = 0; i < N; i++) rows[i] = ranks + 32 * i;
    for (int round = 0; round < ROUNDS; round++) {
        double from = now();
        for (size_t k = 0; k < 100; k++) simd->least(rows, N, found);
        double took = (now() - from) / (100 * N);
        sink = (size_t)found[0];
        best = took < best ? took : best;
    }
    return best;
}

static double byte_ranks_ns(const dstok__simd *simd) {
    static const uint8_t text[64] = "the quick brown fox jumps over the lazy dog and on it goes";
    static int32_t pairs[65536], ranks[32];
    double best = 1e18;
    for (size_t i = 0; i < 65536; i++) pairs[i] = (int32_t)(i * 0x9E3779B1u >> 1);
    for (int round = 0; round < ROUNDS; round++) {
        double from = now();
        for (size_t k = 0; k < 4000; k++) sink += simd->byte_ranks(pairs, text + k % 40, 10, ranks);
        double took = (now() - from) / 4000;
        best = took < best ? took : best;
    }
    return best;
}

int main(int argc, char **argv) {
    for (int k = 0; k < DSTOK__N_TIERS; k++) {
        const dstok__simd *simd = dstok__simd_tier((dstok__tier)k);
        if (simd != NULL) tiers[n_tiers++] = simd;
    }
    printf("clock: about %.2f GHz\n", clock_ghz());
    head("GB/s");
    for (int i = 1; i < argc; i++) {
        uint8_t *text = read_text(argv[i]);
        const char *slash = strrchr(argv[i], '/');
        windows(slash != NULL ? slash + 1 : argv[i], text);
        free(text);
    }
    static uint8_t ascii[TEXT], han[TEXT];
    memset(ascii, 'a', TEXT);
    for (size_t i = 0; i + 3 <= TEXT; i += 3) memcpy(han + i, "\xE4\xB8\xAD", 3);
    head("ns a call");
    calls("ASCII", ascii);
    calls("ideographs", han);
    double ns[DSTOK__N_TIERS];
    for (int k = 0; k < n_tiers; k++) ns[k] = find_words_ns(tiers[k]);
    head("ns a line");
    row("", "find_words", ns);
    for (int k = 0; k < n_tiers; k++) ns[k] = least_ns(tiers[k]);
    row("", "least", ns);
    for (int k = 0; k < n_tiers; k++) ns[k] = byte_ranks_ns(tiers[k]);
    row("", "byte_ranks", ns);
    return 0;
}
