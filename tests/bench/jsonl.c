/* SPDX-License-Identifier: MIT */
/* How fast files of JSON lines are read: by each tier, by the plain reader of the tests, by Jansson.
 * Arguments: the number of rounds, files. Prints "file, what, GB/s, texts, bytes of text", the best of the
 * rounds, in which all take turns; jsonl.py makes the files and a table. Time is that of the thread. */
#include "../../simd/simd.h"
#include "../harness/t.h"
#include "../oracle/jsonl_judge.h"

#include <dstok/tokenizer.h>

#include <jansson.h>
#include <time.h>

typedef struct file {
    char *data;
    size_t n;
} file;

/* What a pass found: all must agree. */
typedef struct found {
    uint64_t texts, bytes;
} found;

static char *copy; /* of the size of the file */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static found copy_all(const file *f, int simd) {
    (void)simd;
    memcpy(copy, f->data, f->n);
    return (found){0, (uint64_t)(unsigned char)copy[f->n / 2]};
}

/* Lines alone. */
static found split(const file *f, int simd) {
    const dstok__simd *s = dstok__simd_tier((dstok__tier)(simd - 1));
    found sum = {0, 0};
    for (size_t at = 0; at < f->n; sum.texts++)
        at += s->find_byte((const uint8_t *)f->data + at, f->n - at, (const uint8_t *)"\n", 1) + 1;
    return sum;
}

static found read_all(const file *f, int simd) {
    dstok_jsonl_options o = DSTOK_JSONL_OPTIONS_INIT;
    dstok_jsonl_record r = DSTOK_JSONL_RECORD_INIT;
    dstok_jsonl *reader = NULL;
    found sum = {0, 0};
    size_t at = 0;
    o.simd = simd;
    if (dstok_jsonl_new(&o, &reader, NULL) != DSTOK_OK) exit(1);
    while (dstok_jsonl_next(reader, f->data, f->n, 1, &at, &r, NULL) == DSTOK_OK && r.line != NULL) {
        sum.texts++;
        sum.bytes += r.n_text;
    }
    dstok_jsonl_free(reader);
    return sum;
}

/* The end of the line that begins at `at`. */
static size_t line_end(const file *f, size_t at) {
    const char *end = memchr(f->data + at, '\n', f->n - at);
    return end != NULL ? (size_t)(end - f->data) : f->n;
}

static found read_plainly(const file *f, int simd) {
    const char *const keys[] = {"text"};
    found sum = {0, 0};
    judged j;
    (void)simd;
    for (size_t at = 0, end; at < f->n; at = end + 1) {
        end = line_end(f, at);
        sum.texts += judge_line(&j, f->data + at, end - at, keys, 1, "id", 0, 0) == 0;
        sum.bytes += j.text.n;
        cli_buf_free(&j.text);
    }
    return sum;
}

static found read_jansson(const file *f, int simd) {
    found sum = {0, 0};
    (void)simd;
    for (size_t at = 0, end; at < f->n; at = end + 1) {
        end = line_end(f, at);
        json_t *tree = json_loadb(f->data + at, end - at, JSON_ALLOW_NUL, NULL),
               *text = json_object_get(tree, "text");
        sum.texts += json_is_string(text) != 0;
        sum.bytes += json_string_length(text);
        json_decref(tree);
    }
    return sum;
}

typedef struct subject {
    const char *name;
    found (*run)(const file *f, int simd);
    int per_tier;
} subject;
static const subject subjects[] = {{"memcpy", copy_all, 0},
                                   {"lines", split, 1},
                                   {"dstok", read_all, 1},
                                   {"plain", read_plainly, 0},
                                   {"Jansson", read_jansson, 0}};
#define N_SUBJECTS (sizeof subjects / sizeof *subjects)

static void measure(const char *path, const file *f, int rounds) {
    double best[N_SUBJECTS][DSTOK_SIMD_NEON + 1] = {{0}};
    found sums[N_SUBJECTS][DSTOK_SIMD_NEON + 1];
    for (int round = 0; round < rounds; round++) {
        for (size_t s = 0; s < N_SUBJECTS; s++) {
            for (int simd = DSTOK_SIMD_SCALAR; simd <= DSTOK_SIMD_NEON; simd++) {
                if (subjects[s].per_tier ? dstok_simd_name(simd) == NULL : simd != DSTOK_SIMD_SCALAR)
                    continue;
                double from = now();
                sums[s][simd] = subjects[s].run(f, simd);
                double rate = (double)f->n / (now() - from);
                if (rate > best[s][simd]) best[s][simd] = rate;
            }
        }
    }
    for (size_t s = 0; s < N_SUBJECTS; s++) {
        for (int simd = DSTOK_SIMD_SCALAR; simd <= DSTOK_SIMD_NEON; simd++) {
            if (best[s][simd] == 0) continue;
            printf("%s\t%s%s%s\t%.3f\t%llu\t%llu\n", path, subjects[s].name, subjects[s].per_tier ? " " : "",
                   subjects[s].per_tier ? dstok_simd_name(simd) : "", best[s][simd],
                   (unsigned long long)sums[s][simd].texts, (unsigned long long)sums[s][simd].bytes);
        }
    }
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 2; i < argc; i++) {
        file f;
        f.data = t_read(argv[i], &f.n);
        copy = f.data != NULL ? malloc(f.n + 1) : NULL;
        if (copy == NULL) {
            fprintf(stderr, "cannot read %s\n", argv[i]);
            return 1;
        }
        memset(copy, 0, f.n + 1);
        measure(argv[i], &f, rounds);
        free(copy);
        free(f.data);
    }
    return 0;
}
