/* SPDX-License-Identifier: MIT */
/* Fuzz target: a pattern is rewritten, compiled and run over a fixed text; the first byte sets how. */

/* Bit 0 of the first byte picks the dialect, the others say which allocation fails. */
#include "../tokenizer/pretok/regex.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] =
    "Hi I'LL ab_12 \xC2\xBD\xCF\x83\xE2\x84\xAA\xE4\xB8\xAD\xF0\x90\xB5\x8A\xCC\x81 \r\n\n- [x](y){2}";

/* An allocator that fails at the k-th call (0: never) and counts what is live. */
struct heap {
    size_t calls, fail_at, live;
};

static void *heap_alloc(void *ctx, size_t n) {
    struct heap *h = ctx;
    void *p = ++h->calls == h->fail_at ? NULL : malloc(n);
    h->live += p != NULL;
    return p;
}

static void *heap_realloc(void *ctx, void *p, size_t old, size_t n) {
    struct heap *h = ctx;
    (void)old;
    if (++h->calls == h->fail_at) return NULL;
    void *q = realloc(p, n);
    h->live += p == NULL && q != NULL;
    return q;
}

static void heap_free(void *ctx, void *p, size_t n) {
    struct heap *h = ctx;
    (void)n;
    h->live--;
    free(p);
}

static void require(bool condition) {
    if (!condition) abort();
}

static bool is_border(size_t pos) {
    return pos == sizeof text - 1 || ((unsigned char)text[pos] & 0xC0) != 0x80;
}

/* All matches: in order, inside the text, on character borders; or an error that says why. */
static void run(const dstok__regex *re, dstok__regex_scratch *scratch) {
    dstok_error err = {0};
    size_t pos = 0, begin, end, len = sizeof text - 1;
    while (pos <= len) {
        dstok_status s = dstok__regex_find(re, scratch, (const uint8_t *)text, len, pos, &begin, &end, &err);
        require(s == DSTOK_OK || s == DSTOK_E_LIMIT || s == DSTOK_E_NOMEM);
        if (s != DSTOK_OK) {
            require(err.status == s && err.text[0] != '\0');
            return;
        }
        if (begin == SIZE_MAX) return;
        require(begin >= pos && end >= begin && end <= len && is_border(begin) && is_border(end));
        pos = end > pos ? end : pos + 1;
        while (!is_border(pos < len ? pos : len)) pos++;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    struct heap heap = {.fail_at = data[0] >> 1};
    dstok_alloc al = {heap_alloc, heap_realloc, heap_free, &heap};
    dstok__dialect dialect = data[0] & 1 ? DSTOK__DIALECT_FANCY : DSTOK__DIALECT_ONIG;
    dstok__regex *re = NULL;
    dstok__regex_scratch *scratch = NULL;
    dstok_error err = {0};
    dstok_status s = dstok__regex_new(&al, (const char *)data + 1, size - 1, dialect, &re, &err);
    require((s == DSTOK_OK) == (re != NULL));
    if (s != DSTOK_OK) require(err.status == s && err.text[0] != '\0');
    if (s == DSTOK_OK && dstok__regex_scratch_new(&al, &scratch) == DSTOK_OK) run(re, scratch);
    dstok__regex_free(re);
    dstok__regex_scratch_free(scratch);
    require(heap.live == 0);
    return 0;
}
