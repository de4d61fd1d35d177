/* SPDX-License-Identifier: MIT */
/* How fast the spans of all tokens of a text become other units and come back, in GB of text a second, the
 * best of several rounds; by tier. Arguments: how many bytes of each text, texts. Not a test;
 * docs/bench/units.md has its answers. */
#include "../../align/units.h"
#include "../harness/t.h"

#include <dstok/dstok.h>

#include <stdlib.h>
#include <time.h>

#define DOC    ((size_t)16384)
#define ROUNDS 100

typedef struct job {
    const dstok__simd *simd;
    const uint8_t *text;
    size_t len, n;
    dstok_span *spans, *work; /* of all tokens of the text; a copy */
    uint64_t *bytes;          /* begins of tokens, in order */
    dstok_place *places;
} job;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void check(dstok_status status) {
    if (status == DSTOK_OK) return;
    fprintf(stderr, "bench_units: %s\n", dstok_status_name(status));
    exit(1);
}

/* The tokens of the built-in vocabulary, document by document, with their places in the whole text. */
static void encode(job *j) {
    dstok_tokenizer *tok;
    dstok_encoder *enc;
    check(dstok_tokenizer_load_default(NULL, &tok, NULL));
    check(dstok_encoder_new(tok, &enc));
    j->spans = calloc(j->len + 1, sizeof *j->spans);
    j->work = calloc(j->len + 1, sizeof *j->work);
    j->bytes = calloc(j->len + 1, sizeof *j->bytes);
    j->places = calloc(j->len + 1, sizeof *j->places);
    if (j->spans == NULL || j->work == NULL || j->bytes == NULL || j->places == NULL) check(DSTOK_E_NOMEM);
    for (size_t at = 0, end; at < j->len; at = end) {
        dstok_tokens t;
        for (end = j->len - at < DOC ? j->len : at + DOC; end < j->len && (j->text[end] & 0xC0) == 0x80;)
            end++;
        check(dstok_encode_view(enc, j->text + at, end - at, NULL, &t, NULL));
        for (size_t i = 0; i < t.n; i++) {
            j->bytes[j->n] = at + t.spans[i].begin;
            j->spans[j->n++] = (dstok_span){at + t.spans[i].begin, at + t.spans[i].end};
        }
    }
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
}

static void to_units(job *j, int unit) {
    check(dstok__spans_convert(j->simd, j->text, j->len, j->work, j->n, unit));
}
static void to_bytes(job *j, int unit) {
    check(dstok__spans_to_bytes(j->simd, j->text, j->len, j->work, j->n, unit));
}
static void to_places(job *j, int unit) {
    check(dstok__places_of(j->simd, j->text, j->len, j->bytes, j->n, unit, j->places));
}
static void length(job *j, int unit) {
    if (dstok__text_length(j->simd, j->text, j->len, unit) == 0) check(DSTOK_E_STATE);
}
static void nothing(job *j, int unit) {
    (void)j;
    (void)unit;
}

/* Nanoseconds of `f`; before each round the spans are those of the tokens, and `first` is done. */
static double best_of(job *j, void (*first)(job *, int), void (*f)(job *, int), int unit) {
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(j->work, j->spans, j->n * sizeof *j->work);
        first(j, unit);
        double from = now();
        f(j, unit);
        double took = now() - from;
        if (took < best) best = took;
    }
    return best;
}

/* Spans in an order that jumps about. */
static void shuffle(dstok_span *s, size_t n) {
    t_rng rng = {7};
    for (size_t i = n; i > 1; i--) {
        size_t k = t_random(&rng) % i;
        dstok_span kept = s[i - 1];
        s[i - 1] = s[k];
        s[k] = kept;
    }
}

static void measure(job *j, const char *name) {
    static const char *const units[] = {"bytes", "characters", "UTF-16"};
    double len = (double)j->len;
    for (int unit = DSTOK_UNIT_CHAR; unit <= DSTOK_UNIT_UTF16; unit++) {
        double there = best_of(j, nothing, to_units, unit), back = best_of(j, to_units, to_bytes, unit);
        double places = best_of(j, nothing, to_places, unit), all = best_of(j, nothing, length, unit);
        printf("| %s | %s | %s | %.2f | %.2f | %.2f | %.2f |\n", name, j->simd->name, units[unit],
               len / there, len / back, len / places, len / all);
    }
}

/* Millions of bytes a second that are parted into segments. */
static void measure_breaks(job *j, const char *name) {
    printf("\n| text | graphemes | words | sentences | lines | paragraphs "
           "|\n|---|---:|---:|---:|---:|---:|\n| %s |",
           name);
    for (int kind = DSTOK_BREAK_GRAPHEME; kind <= DSTOK_BREAK_PARAGRAPH; kind++) {
        double best = 1e18;
        for (int round = 0; round < ROUNDS / 4; round++) {
            size_t n;
            double from = now();
            check(dstok_breaks(j->text, j->len, kind, j->work, j->len, &n));
            double took = now() - from;
            if (took < best) best = took;
        }
        printf(" %.0f |", 1e3 * (double)j->len / best);
    }
    printf("\n");
}

static void measure_text(const char *path, size_t max) {
    job j = {0};
    j.text = (uint8_t *)t_read(path, &j.len);
    if (j.text == NULL) check(DSTOK_E_IO);
    if (j.len > max) j.len = max;
    encode(&j);
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    printf("\n| text | tier | unit | spans | back | line:column | length "
           "|\n|---|---|---|---:|---:|---:|---:|\n");
    for (int tier = 0; tier < DSTOK__N_TIERS; tier++) {
        j.simd = dstok__simd_tier((dstok__tier)tier);
        if (j.simd != NULL) measure(&j, name);
    }
    measure_breaks(&j, name);
    j.simd = dstok__simd_best(DSTOK__N_TIERS);
    shuffle(j.spans, j.n);
    double ns = best_of(&j, nothing, to_units, DSTOK_UNIT_CHAR);
    printf("\n%zu bytes, %zu tokens; without order: %.0f ns a span\n", j.len, j.n, ns / (double)j.n);
    free(j.spans);
    free(j.work);
    free(j.bytes);
    free(j.places);
    free((void *)(uintptr_t)j.text);
}

int main(int argc, char **argv) {
    size_t max = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
    if (max == 0) {
        fprintf(stderr, "usage: bench_units BYTES TEXT...\n");
        return 1;
    }
    for (int i = 2; i < argc; i++) measure_text(argv[i], max);
    return 0;
}
