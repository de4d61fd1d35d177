/* SPDX-License-Identifier: MIT */
/* Fuzz target: byte 0 chooses a vocabulary, the rest are ids of two bytes (FF xx: of four); four modes must agree. */
#include <dstok/align.h>
#include <dstok/tokenizer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_IDS 512u

static void require(int condition) {
    if (!condition) abort();
}

/* The embedded vocabulary, and one of single bytes with a special token: there every id cuts characters. */
static dstok_tokenizer *vocabularies[2];

static void open_vocabularies(void) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char meta[] = "{\"pattern\":\".\",\"special_tokens\":{\"<|a|>\":300}}";
    static char ranks[8192];
    size_t n = 0;
    for (unsigned b = 0; b < 256; b++) {
        n += (size_t)sprintf(ranks + n, "%c%c== %u\n", digits[b >> 2], digits[(b & 3) << 4], b);
    }
    require(dstok_tokenizer_load_memory(ranks, n, meta, sizeof meta - 1, NULL, &vocabularies[1], NULL) ==
            DSTOK_OK);
    if (dstok_tokenizer_load_default(NULL, &vocabularies[0], NULL) != DSTOK_OK)
        vocabularies[0] = vocabularies[1];
}

static size_t read_ids(const uint8_t *data, size_t size, uint32_t *ids) {
    size_t n = 0;
    for (size_t i = 0; i + 2 <= size && n < MAX_IDS; n++) {
        ids[n] = (uint32_t)data[i] << 8 | data[i + 1];
        i += 2;
        if (ids[n] >= 0xFF00 && i + 2 <= size) {
            ids[n] = ids[n] << 16 | (uint32_t)data[i] << 8 | data[i + 1];
            i += 2;
        }
    }
    return n;
}

typedef struct result {
    dstok_status status;
    uint8_t *bytes;
    size_t n, unknown;
} result;

/* Asks for the size first, then decodes into exactly that. */
static result decode(const dstok_tokenizer *tok, const uint32_t *ids, size_t n, int mode, int skip) {
    result r = {.bytes = NULL};
    dstok_status asked = dstok_decode(tok, ids, n, mode, skip, NULL, 0, &r.n, &r.unknown, NULL);
    if (asked == DSTOK_E_BAD_ID) {
        r.status = asked;
        r.n = 0;
        r.bytes = malloc(1);
        return r;
    }
    size_t need = r.n;
    require(asked == (need > 0 ? DSTOK_E_SPACE : DSTOK_OK));
    r.bytes = malloc(need > 0 ? need : 1);
    require(r.bytes != NULL);
    r.status = dstok_decode(tok, ids, n, mode, skip, r.bytes, need, &r.n, &r.unknown, NULL);
    require(r.n == need);
    return r;
}

static int same(const result *a, const result *b) {
    return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

static void check_modes(const dstok_tokenizer *tok, const uint32_t *ids, size_t n, int skip) {
    result lossless = decode(tok, ids, n, DSTOK_DECODE_LOSSLESS, skip),
           strict = decode(tok, ids, n, DSTOK_DECODE_STRICT, skip);
    result replace = decode(tok, ids, n, DSTOK_DECODE_REPLACE, skip),
           raw = decode(tok, ids, n, DSTOK_DECODE_RAW, skip);
    int is_utf8 = dstok_utf8_check(raw.bytes, raw.n) == raw.n;
    require(replace.status == DSTOK_OK && raw.status == DSTOK_OK);
    require(dstok_utf8_check(replace.bytes, replace.n) == replace.n);
    require(replace.unknown == raw.unknown);
    require((lossless.status == DSTOK_E_BAD_ID) == (raw.unknown > 0));
    if (raw.unknown == 0) {
        require(lossless.status == DSTOK_OK && same(&lossless, &raw));
        require(strict.status == (is_utf8 ? DSTOK_OK : DSTOK_E_UTF8));
        if (is_utf8) require(same(&replace, &raw));
    } else {
        require(strict.status == DSTOK_E_BAD_ID);
    }
    free(lossless.bytes);
    free(strict.bytes);
    free(replace.bytes);
    free(raw.bytes);
}

/* The bytes of a list are those of its halves, one behind the other. */
static void check_halves(const dstok_tokenizer *tok, const uint32_t *ids, size_t n) {
    result whole = decode(tok, ids, n, DSTOK_DECODE_RAW, 0);
    result a = decode(tok, ids, n / 2, DSTOK_DECODE_RAW, 0),
           b = decode(tok, ids + n / 2, n - n / 2, DSTOK_DECODE_RAW, 0);
    require(a.n + b.n == whole.n && a.unknown + b.unknown == whole.unknown);
    require(memcmp(whole.bytes, a.bytes, a.n) == 0 && memcmp(whole.bytes + a.n, b.bytes, b.n) == 0);
    free(whole.bytes);
    free(a.bytes);
    free(b.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint32_t ids[MAX_IDS];
    if (vocabularies[1] == NULL) open_vocabularies();
    if (size < 1) return 0;
    const dstok_tokenizer *tok = vocabularies[data[0] % 2];
    size_t n = read_ids(data + 1, size - 1, ids);
    check_modes(tok, ids, n, data[0] / 2 % 2);
    check_halves(tok, ids, n);
    return 0;
}
