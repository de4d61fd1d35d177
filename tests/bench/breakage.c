/* SPDX-License-Identifier: MIT */
/* Cuts of a text at many limits, held against the ends of its sentences: breakage.py makes the text and reads what is
 * printed.
 *     bench_breakage VOCAB TEXT BORDERS N SEED LIMIT [bad]
 * BORDERS: the ends of sentences, in bytes, one a line. N times a token is drawn, and a window of LIMIT tokens (all
 * there are before it, when they are fewer) that ends there is cut. With `bad` the wrong cuts are shown. With N = 0
 * every place of the text that passes for the end of a sentence is judged. */
#include "../../tokenizer/stream/cut.h"

#include <dstok/tokenizer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct text {
    uint8_t *bytes;
    size_t n;
} text;

static text read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0) exit(1);
    text t = {NULL, (size_t)ftell(f)};
    rewind(f);
    t.bytes = malloc(t.n + 1);
    if (t.bytes == NULL || fread(t.bytes, 1, t.n, f) != t.n) exit(1);
    t.bytes[t.n] = 0;
    fclose(f);
    return t;
}

enum {
    IS_END = 1,
    IS_WRONG = 2
}; /* of a place: a sentence ends there; a window was cut there, and none does */

/* One byte a place. */
static uint8_t *read_borders(const char *path, size_t n) {
    text t = read_file(path);
    uint8_t *is_end = calloc(n + 1, 1);
    if (is_end == NULL) exit(1);
    for (char *p = (char *)t.bytes; *p != 0;) {
        size_t at = strtoull(p, &p, 10);
        if (at <= n) is_end[at] = IS_END;
        while (*p == '\n') p++;
    }
    free(t.bytes);
    return is_end;
}

static uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* A cut is right at the end of a sentence, and behind the blanks or the line break that follow it. */
static int is_right(const text *t, const uint8_t *is_end, uint64_t byte) {
    while (byte > 0 && !(is_end[byte] & IS_END) && (t->bytes[byte - 1] == ' ' || t->bytes[byte - 1] == '\n'))
        byte--;
    return is_end[byte] & IS_END;
}

static void show(const text *t, uint64_t byte, int class) {
    size_t from = byte > 60 ? (size_t)byte - 60 : 0, to = byte + 50 < t->n ? (size_t)byte + 50 : t->n;
    while (from > 0 && (t->bytes[from] & 0xC0) == 0x80) from--;
    while (to < t->n && (t->bytes[to] & 0xC0) == 0x80) to++;
    printf("BAD %d: %.*s|%.*s\n", class, (int)(byte - from), t->bytes + from, (int)(to - byte),
           t->bytes + byte);
}

typedef struct sums {
    size_t wrong, places; /* wrong cuts, and how many different ones */
    size_t forced, given_up, classes[DSTOK__N_BORDERS];
} sums;

static void cut(const text *t, uint8_t *is_end, const dstok_tokens *tokens, size_t high, size_t limit,
                int with_bad, sums *s) {
    size_t first = high > limit ? high - limit : 0;
    dstok__cut_window w = {.spans = tokens->spans + first,
                           .n_tokens = tokens->n - first,
                           .low = 1,
                           .high = high - first,
                           .limit = limit};
    w.begin = w.spans[0].begin;
    w.borders = (dstok__border_text){t->bytes, t->n, DSTOK__MODE_PROSE};
    dstok__cut_place p = dstok__cut_find(&w);
    s->classes[p.class]++;
    s->forced += p.class < DSTOK__BORDER_SPACED;
    s->given_up += w.high - p.n_tokens;
    if (is_right(t, is_end, p.byte)) return;
    s->wrong++;
    s->places += is_end[p.byte] == 0;
    is_end[p.byte] |= IS_WRONG;
    if (with_bad) show(t, p.byte, p.class);
}

static void cut_at_limits(const text *t, uint8_t *is_end, const dstok_tokens *tokens, size_t n, uint64_t seed,
                          size_t limit, int with_bad) {
    sums s = {0};
    if (limit >= tokens->n) limit = tokens->n - 1;
    size_t low = limit / 16 + 1 < tokens->n / 2 ? limit / 16 + 1 : tokens->n / 2;
    clock_t begin = clock();
    for (size_t i = 0; i < n; i++)
        cut(t, is_end, tokens, low + next_random(&seed) % (tokens->n - low - 1), limit, with_bad, &s);
    double us = (double)(clock() - begin) * 1e6 / CLOCKS_PER_SEC / (double)n;
    printf("{\"tokens\":%zu,\"cuts\":%zu,\"wrong\":%zu,\"places\":%zu,\"forced\":%zu,\"given_up\":%.1f,"
           "\"us\":%.2f,"
           "\"classes\":[",
           tokens->n, n, s.wrong, s.places, s.forced, (double)s.given_up / (double)n, us);
    for (int i = 0; i < DSTOK__N_BORDERS; i++) printf("%s%zu", i ? "," : "", s.classes[i]);
    printf("]}\n");
}

/* Of the ends of sentences within lines, by class and grade: all of them, and the wrong ones. */
static void judge_all(const text *t, const uint8_t *is_end, int with_bad) {
    size_t all[3][4] = {{0}}, wrong[3][4] = {{0}};
    const dstok__border_text b = {t->bytes, t->n, DSTOK__MODE_PROSE};
    for (size_t at = 1; at < t->n; at++) {
        if ((t->bytes[at] & 0xC0) == 0x80) continue;
        unsigned score = dstok__border_score(&b, at), class = score >> 8, grade = score & 3;
        if (class < DSTOK__BORDER_DOUBTFUL || class > DSTOK__BORDER_SURE) continue;
        all[class - DSTOK__BORDER_DOUBTFUL][grade]++;
        if (is_right(t, is_end, at)) continue;
        wrong[class - DSTOK__BORDER_DOUBTFUL][grade]++;
        if (with_bad) show(t, at, (int)class);
    }
    printf("[");
    for (int i = 0; i < 12; i++) printf("%s[%zu,%zu]", i ? "," : "", wrong[i / 4][i % 4], all[i / 4][i % 4]);
    printf("]\n");
}

int main(int argc, char **argv) {
    if (argc < 7) return 2;
    dstok_tokenizer *tok;
    dstok_encoder *enc;
    dstok_tokens tokens;
    dstok_error err;
    text t = read_file(argv[2]);
    uint8_t *is_end = read_borders(argv[3], t.n);
    size_t n = strtoull(argv[4], NULL, 10), limit = strtoull(argv[6], NULL, 10);
    dstok_load_options load = DSTOK_LOAD_OPTIONS_INIT;
    if (strstr(argv[1], "o200k_base.tiktoken") != NULL) load.pattern = "o200k_base";
    if (strstr(argv[1], "cl100k_base.tiktoken") != NULL) load.pattern = "cl100k_base";
    dstok_status loaded = strcmp(argv[1], "default") == 0 ? dstok_tokenizer_load_default(NULL, &tok, &err)
                                                          : dstok_tokenizer_load(argv[1], &load, &tok, &err);
    if (loaded != DSTOK_OK || dstok_encoder_new(tok, &enc) != DSTOK_OK ||
        dstok_encode_view(enc, t.bytes, t.n, NULL, &tokens, &err) != DSTOK_OK) {
        fprintf(stderr, "bench_breakage: %s\n", err.text);
        return 1;
    }
    if (n == 0)
        judge_all(&t, is_end, argc > 7);
    else
        cut_at_limits(&t, is_end, &tokens, n, strtoull(argv[5], NULL, 10), limit, argc > 7);
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
    free(is_end);
    free(t.bytes);
    return 0;
}
