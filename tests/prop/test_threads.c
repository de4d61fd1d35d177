/* SPDX-License-Identifier: MIT */
/* One tokenizer, many threads: equal ids, no race (run under TSan), and a child after fork() can go on. */
#include "../harness/t.h"
#include "../oracle/fixture.h"
#include "../oracle/gen.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS  16
#define ENCODES  10000
#define TEXTS    200
#define MAX_TEXT 120

typedef struct sample {
    uint8_t text[MAX_TEXT];
    size_t len;
    uint32_t *ids;
    size_t n;
} sample;

static dstok_tokenizer *tok;
static sample samples[TEXTS];

static bool encode_sample(dstok_encoder *enc, const sample *s, dstok_tokens *t) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    options.special = DSTOK_SPECIAL_PARSE;
    return dstok_encode_view(enc, s->text, s->len, &options, t, NULL) == DSTOK_OK;
}

static void make_samples(void) {
    t_rng rng = {47};
    dstok_encoder *enc = fixture_encoder(tok);
    for (size_t i = 0; i < TEXTS; i++) {
        sample *s = &samples[i];
        dstok_tokens t = {0};
        s->len = gen_text(&rng, s->text, MAX_TEXT);
        CHECK(encode_sample(enc, s, &t));
        s->n = t.n;
        s->ids = calloc(t.n + 1, sizeof *s->ids);
        memcpy(s->ids, t.ids, t.n * sizeof *s->ids);
    }
    dstok_encoder_free(enc);
}

/* Encodes, counts, decodes; takes a new encoder now and then, and goes on after an error. Returns faults. */
static size_t work(uint64_t seed) {
    t_rng rng = {seed};
    dstok_encoder *enc = NULL;
    size_t faults = 0;
    for (int i = 0; i < ENCODES; i++) {
        const sample *s = &samples[t_below(&rng, TEXTS)];
        dstok_tokens t = {0};
        uint8_t back[MAX_TEXT * 3];
        size_t n;
        if (enc == NULL && dstok_encoder_new(tok, &enc) != DSTOK_OK) return faults + 1;
        faults +=
            !encode_sample(enc, s, &t) || t.n != s->n || memcmp(t.ids, s->ids, t.n * sizeof *t.ids) != 0;
        if (i % 8 == 0) {
            faults += dstok_decode(tok, s->ids, s->n, DSTOK_DECODE_REPLACE, 0, back, sizeof back, &n, NULL,
                                   NULL) != DSTOK_OK;
            faults += dstok_encode_view(enc, "\xFF", 1, NULL, &t, NULL) != DSTOK_E_UTF8;
        }
        if (i % 100 == 99) {
            dstok_encoder_free(enc);
            enc = NULL;
        }
    }
    dstok_encoder_free(enc);
    return faults;
}

static void *thread_main(void *arg) {
    size_t *slot = arg;
    *slot = work(1000 + *slot);
    return NULL;
}

static void test_threads(void) {
    pthread_t threads[THREADS];
    size_t slots[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        slots[i] = i;
        CHECK_EQ(pthread_create(&threads[i], NULL, thread_main, &slots[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
        CHECK_EQ(slots[i], 0);
    }
}

/* The tokenizer and what was made before the fork serve the child too. */
static void test_fork(void) {
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(work(5) == 0 ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    fixture f = fixture_words;
    f.normalizer = "{\"type\":\"NFC\"}";
    f.added = "sl:<|im_start|>\n";
    for (int i = 0; i < 2; i++) {
        if (i == 1) { /* no family has this pattern: the threads share machine code of PCRE2 */
            f.pre_tokenizer =
                "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":"
                "\"\\\\p{L}+(?!x)|\\\\s+$|\\\\d{1,2}\"},\"behavior\":\"Isolated\",\"invert\":false},"
                "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}]}";
        }
        tok = fixture_load(&f, NULL);
        make_samples();
        test_threads();
        test_fork();
        for (size_t k = 0; k < TEXTS; k++) free(samples[k].ids);
        dstok_tokenizer_free(tok);
    }
    return t_end();
}
