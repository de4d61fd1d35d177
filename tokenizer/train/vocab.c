/* SPDX-License-Identifier: MIT */
/* The vocabulary under construction: special tokens, bytes, merges and the tokens they make. */
#include "train.h"
#include <dstok/trainer.h>

#include <string.h>

void dstok__learnt_init(dstok__learnt *v, const dstok_alloc *al) {
    *v = (dstok__learnt){.al = al};
    dstok__arena_init(&v->arena, al, SIZE_MAX); /* limited by bytes below */
    dstok__map_init(&v->map, al);
}

void dstok__learnt_free(dstok__learnt *v) {
    dstok__free(v->al, v->tokens, v->cap_tokens * sizeof *v->tokens);
    dstok__free(v->al, v->merges, v->cap_merges * sizeof *v->merges);
    dstok__map_free(&v->map);
    dstok__arena_free(&v->arena);
}

/* Printable Latin-1 characters stand for themselves, the other bytes for U+0100, U+0101, ... in their order. */
static bool stands_for_itself(unsigned byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

bool dstok__is_byte_char(uint32_t cp) {
    return cp < 0x100 ? stands_for_itself(cp) : cp < 0x144; /* 68 bytes do not stand for themselves */
}

uint32_t dstok__byte_char(uint8_t byte) {
    if (stands_for_itself(byte)) return byte;
    uint32_t before = 0;
    for (unsigned b = 0; b < byte; b++) before += !stands_for_itself(b);
    return 0x100 + before;
}

/* bytes is owned by the arena already. */
static dstok_status add_token(dstok__learnt *v, const char *bytes, size_t n) {
    if (n > DSTOK__TRAIN_MAX_TOKEN_BYTES - v->bytes) return DSTOK_E_LIMIT;
    DSTOK_TRY(dstok__grow(v->al, (void **)&v->tokens, &v->cap_tokens, v->n_tokens + 1, sizeof *v->tokens,
                          DSTOK__TRAIN_MAX_IDS));
    v->tokens[v->n_tokens++] = (dstok__learnt_token){.bytes = bytes, .n = (uint32_t)n};
    v->bytes += n;
    return DSTOK_OK;
}

static dstok_status add_byte(dstok__learnt *v, unsigned byte) {
    char c = (char)byte;
    char *copy = dstok__arena_copy(&v->arena, &c, 1);
    if (copy == NULL) return DSTOK_E_NOMEM;
    v->byte_id[byte] = (uint32_t)v->n_tokens;
    DSTOK_TRY(dstok__map_put(&v->map, copy, 1, v->byte_id[byte], NULL));
    return add_token(v, copy, 1);
}

dstok_status dstok__learnt_start(dstok__learnt *v, const dstok__specials *specials, int order) {
    for (size_t i = 0; i < specials->n; i++) {
        char *copy = dstok__arena_copy(&v->arena, specials->items[i].text, specials->items[i].n);
        if (copy == NULL) return DSTOK_E_NOMEM;
        DSTOK_TRY(add_token(v, copy, specials->items[i].n));
    }
    v->n_specials = (uint32_t)specials->n;
    for (unsigned b = 0; b < 256; b++) {
        if (order == DSTOK_TRAIN_ORDER_BYTE || stands_for_itself(b)) DSTOK_TRY(add_byte(v, b));
    }
    for (unsigned b = 0; b < 256; b++) {
        if (order == DSTOK_TRAIN_ORDER_HF && !stands_for_itself(b)) DSTOK_TRY(add_byte(v, b));
    }
    return DSTOK_OK;
}

/* The token of the joined bytes: the one that already is, or a new one. */
static dstok_status join(dstok__learnt *v, dstok__learnt_token left, dstok__learnt_token right,
                         uint32_t *id) {
    size_t n = (size_t)left.n + right.n;
    char *bytes = dstok__arena_alloc(&v->arena, n);
    if (bytes == NULL) return DSTOK_E_NOMEM;
    memcpy(bytes, left.bytes, left.n);
    memcpy(bytes + left.n, right.bytes, right.n);
    uint32_t known = dstok__map_get(&v->map, bytes, n);
    if (known != UINT32_MAX) {
        *id = known;
        return DSTOK_OK;
    }
    *id = (uint32_t)v->n_tokens;
    DSTOK_TRY(dstok__map_put(&v->map, bytes, n, *id, NULL));
    return add_token(v, bytes, n);
}

dstok_status dstok__learnt_merge_add(dstok__learnt *v, uint32_t left, uint32_t right, uint32_t *id) {
    DSTOK_TRY(dstok__grow(v->al, (void **)&v->merges, &v->cap_merges, v->n_merges + 1, sizeof *v->merges,
                          DSTOK__TRAIN_MAX_MERGES));
    v->merges[v->n_merges++] = (dstok__learnt_merge){left, right};
    return join(v, v->tokens[left], v->tokens[right], id);
}
