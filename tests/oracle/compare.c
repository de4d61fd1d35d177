/* SPDX-License-Identifier: MIT */
/* The oracle against dstok_encode, with the smallest text that shows a difference. */
#include "gen.h"
#include "oracle.h"

#include <stdlib.h>

/* Token-by-token equality. */
static bool is_same(const oracle_tokens *want, const dstok_tokens *got) {
    if (want->n != got->n) return false;
    for (size_t i = 0; i < got->n; i++) {
        if (want->ids[i] != got->ids[i] || want->spans[i].begin != got->spans[i].begin ||
            want->spans[i].end != got->spans[i].end || want->flags[i] != got->flags[i]) {
            return false;
        }
    }
    return true;
}

/* Spans never decrease, stay inside, and leave out exactly as many bytes as the report says. */
static bool tiles(const dstok_tokens *got, size_t len, const dstok_report *report) {
    uint64_t covered = 0, left_out = 0, begin = 0;
    for (size_t i = 0; i < got->n; i++) {
        dstok_span s = got->spans[i];
        if (s.begin < begin || s.end < s.begin || s.end < covered || s.end > len) return false;
        begin = s.begin;
        if (s.begin > covered) left_out += s.begin - covered;
        covered = s.end;
    }
    return left_out + (len - covered) == report->n_dropped;
}

/* 1: equal, 0: different, -1: could not be compared (the pattern met a limit in both). */
static int compare(oracle *o, dstok_encoder *enc, const uint8_t *text, size_t n, int special,
                   oracle_tokens *want, dstok_tokens *got) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    options.special = special;
    dstok_status status = dstok_encode_view(enc, text, n, &options, got, NULL);
    if (!oracle_encode(o, text, n, special, want)) return -1;
    if (status != DSTOK_OK) {
        got->n = 0;
        return 0;
    }
    return is_same(want, got) && tiles(got, n, dstok_encode_report(enc));
}

/* Leaves out stretches of characters, from halves down to single ones, while the difference stays. */
static size_t shrink(oracle *o, dstok_encoder *enc, uint8_t *text, size_t n, int special,
                     oracle_tokens *want) {
    dstok_tokens got;
    uint8_t *other = malloc(n + 1);
    for (size_t step = n / 2 + 1; step > 0 && other != NULL; step /= 2) {
        for (size_t at = 0; at < n;) {
            size_t end = at + step < n ? at + step : n;
            while (end < n && (text[end] & 0xC0) == 0x80) end++;
            memcpy(other, text, at);
            memcpy(other + at, text + end, n - end);
            if (compare(o, enc, other, n - (end - at), special, want, &got) == 0) {
                n -= end - at;
                memcpy(text, other, n);
            } else {
                at = end;
            }
        }
    }
    free(other);
    return n;
}

static void print_tokens(const char *who, const uint32_t *ids, const dstok_span *spans, const uint8_t *flags,
                         size_t n) {
    fprintf(stderr, "  %-6s", who);
    for (size_t i = 0; i < n && i < 24; i++) {
        fprintf(stderr, " %u[%llu,%llu%s]", ids[i], (unsigned long long)spans[i].begin,
                (unsigned long long)spans[i].end, flags[i] & DSTOK_FLAG_PARTIAL ? ",partial" : "");
    }
    fputc('\n', stderr);
}

static void explain(oracle *o, dstok_encoder *enc, const char *name, const uint8_t *text, size_t n,
                    int special) {
    oracle_tokens want = {0};
    dstok_tokens got = {0};
    uint8_t *small = malloc(n + 1);
    if (small == NULL) return;
    memcpy(small, text, n);
    n = shrink(o, enc, small, n, special, &want);
    compare(o, enc, small, n, special, &want, &got);
    fprintf(stderr, "%s: special %d: %zu bytes: ", name, special, n);
    gen_print(small, n);
    print_tokens("oracle", want.ids, want.spans, want.flags, want.n);
    print_tokens("dstok", got.ids, got.spans, got.flags, got.n);
    oracle_tokens_free(&want);
    free(small);
}

bool oracle_compare(oracle *o, dstok_encoder *enc, const char *name, const uint8_t *text, size_t n,
                    int special) {
    static oracle_tokens want;
    dstok_tokens got;
    int same = compare(o, enc, text, n, special, &want, &got);
    t_checks++;
    t_failures += same != 1;
    if (same < 0 && t_failures <= 3) fprintf(stderr, "%s: not compared\n", name);
    if (same == 0 && t_failures <= 3) explain(o, enc, name, text, n, special);
    return same == 1;
}
