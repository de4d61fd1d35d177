/* SPDX-License-Identifier: MIT */
/* The test harness: CHECK macros that count and go on, and helpers that every test needs. */
#ifndef DSTOK_TESTS_T_H
#define DSTOK_TESTS_T_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern int t_failures; /* failed checks so far */
extern int t_checks;   /* checks made so far */

#define CHECK(cond)                                                                                          \
    do {                                                                                                     \
        t_checks++;                                                                                          \
        if (!(cond)) {                                                                                       \
            t_failures++;                                                                                    \
            fprintf(stderr, "%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #cond);                         \
        }                                                                                                    \
    } while (0)

#define CHECK_EQ(got, want)                                                                                  \
    do {                                                                                                     \
        long long t_got = (long long)(got), t_want = (long long)(want);                                      \
        t_checks++;                                                                                          \
        if (t_got != t_want) {                                                                               \
            t_failures++;                                                                                    \
            fprintf(stderr, "%s:%d: %s = %lld, want %lld\n", __FILE__, __LINE__, #got, t_got, t_want);       \
        }                                                                                                    \
    } while (0)

#define CHECK_STR(got, want)                                                                                 \
    do {                                                                                                     \
        const char *t_got = (got), *t_want = (want);                                                         \
        t_checks++;                                                                                          \
        if (t_got == NULL || strcmp(t_got, t_want) != 0) {                                                   \
            t_failures++;                                                                                    \
            fprintf(stderr, "%s:%d: %s = \"%s\", want \"%s\"\n", __FILE__, __LINE__, #got,                   \
                    t_got ? t_got : "(null)", t_want);                                                       \
        }                                                                                                    \
    } while (0)

#define CHECK_MEM(got, want, n)                                                                              \
    do {                                                                                                     \
        t_checks++;                                                                                          \
        if (memcmp((got), (want), (n)) != 0) {                                                               \
            t_failures++;                                                                                    \
            fprintf(stderr, "%s:%d: %s differs from %s\n", __FILE__, __LINE__, #got, #want);                 \
        }                                                                                                    \
    } while (0)

#define T_SKIP 77 /* exit code that CTest reads as "skipped" */

/* Ends main(): prints the counts; 0 when all checks passed and at least one was made. */
int t_end(void);

/* Prints why and returns T_SKIP. */
int t_skip(const char *why);

/* A seeded generator (splitmix64): the same numbers on every machine. */
typedef struct t_rng {
    uint64_t state;
} t_rng;
uint64_t t_random(t_rng *rng);
uint32_t t_below(t_rng *rng, uint32_t n); /* 0 .. n-1, n > 0 */

/* The path of a file of the shared data, or NULL when it is absent. DSTOK_SHARED, else ../shared beside the
 * source tree. Static storage: valid until the next call. */
const char *t_shared(const char *name);

/* A whole file in malloc'ed memory with a NUL behind it; NULL when it cannot be read. Unpacks .xz with the xz
 * tool. */
char *t_read(const char *path, size_t *n);

/* What a counting allocator (heap.h) has seen; fail_at = k makes the k-th allocation fail. */
typedef struct t_heap {
    size_t live, live_bytes, peak_bytes, calls, fail_at;
} t_heap;

#endif
