/* SPDX-License-Identifier: MIT */
/* Fuzz target: byte 0 chooses a vocabulary, the rest are ids of two bytes (FF xx: of four); four modes must
 * agree, and decoding with rows must be decoding one token after another, with any room. */
#include <dstok/align.h>

#include "../tokenizer/bpe/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_IDS 512u

static void require(int condition) {
    if (!condition) abort();
}

/* The embedded vocabulary; one of single bytes with a special token: there every id cuts characters; and some
 * whose decoders look at a token's place, at runs of byte tokens and at the ends of the text. */
enum { N_PLACED = 5 };
static dstok_tokenizer *vocabularies[2], *placed[N_PLACED];

#define BLANKS   "{\"type\":\"Replace\",\"pattern\":{\"String\":\"\xE2\x96\x81\"},\"content\":\" \"}"
#define FALLBACK "{\"type\":\"ByteFallback\"}"
#define FUSE     "{\"type\":\"Fuse\"}"
#define META     "{\"type\":\"Metaspace\",\"replacement\":\"\xE2\x96\x81\",\"prepend_scheme\":\"always\"}"
#define BPE      "{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"}"
#define STRIP    "{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":"
#define FLAGS    "\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false"
#define LIST(d)  "{\"type\":\"Sequence\",\"decoders\":[" d "]}"

static void open_placed(void) {
    static const char *const decoders[N_PLACED] = {LIST(BLANKS "," FALLBACK "," FUSE "," STRIP "0}"),
                                                   LIST(FALLBACK "," META), META, BPE,
                                                   LIST(FUSE "," STRIP "1}")};
    static const char file[] =
        "{\"model\":{\"type\":\"BPE\",\"end_of_word_suffix\":\"</w>\",\"merges\":[],\"vocab\":{"
        "\"<0xE2>\":0,\"<0x96>\":1,\"<0x81>\":2,\"<0xE4>\":3,\"<0x61>\":4,\"\xE2\x96\x81\":5,\" \":6,"
        "\"x</w>\":7,\"\xE2\x96\x81\x61\":8,\"b\xE2\x96\x81\":9,\"\xC3\xA9\":10,\" longer than one row\":11,"
        "\"\":12}},\"added_tokens\":[{\"id\":13,\"content\":\"<s>\",\"special\":true," FLAGS "},"
        "{\"id\":14,\"content\":\"\xE2\x96\x81s\",\"special\":false," FLAGS "}],\"decoder\":%s}";
    char text[4096];
    for (unsigned i = 0; i < N_PLACED; i++) {
        int n = snprintf(text, sizeof text, file, decoders[i]);
        require(dstok_tokenizer_load_memory(text, (size_t)n, NULL, 0, NULL, &placed[i], NULL) == DSTOK_OK);
    }
}

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

/* With rows, and with none: the definition. */
static void check_rows(const dstok_tokenizer *tok, const uint32_t *ids, size_t n, int mode, size_t cap) {
    dstok_tokenizer one = *tok;
    dstok_error err = {.status = DSTOK_OK}, one_err = err;
    size_t got_n = 7, want_n = 7, got_unknown = 7, want_unknown = 7;
    uint8_t *got = malloc(cap + (cap == 0)), *want = malloc(cap + (cap == 0));
    require(got != NULL && want != NULL);
    one.n_rows = 0;
    int status = dstok_decode(&one, ids, n, mode / 2, mode % 2, want, cap, &want_n, &want_unknown, &one_err);
    require(dstok_decode(tok, ids, n, mode / 2, mode % 2, got, cap, &got_n, &got_unknown, &err) == status);
    require(got_n == want_n && got_unknown == want_unknown && err.offset == one_err.offset);
    require(strcmp(err.text, one_err.text) == 0);
    if (status == DSTOK_OK) require(memcmp(got, want, want_n) == 0);
    free(got);
    free(want);
}

/* Where the place of a token counts: the first byte is the room. */
static void check_placed(const dstok_tokenizer *tok, const uint8_t *data, size_t size) {
    static uint32_t ids[MAX_IDS];
    size_t n = size < MAX_IDS ? size : MAX_IDS;
    for (size_t i = 1; i < n; i++) ids[i - 1] = data[i] % 17;
    for (int mode = 0; mode < 8 && n > 0; mode++) {
        check_rows(tok, ids, n - 1, mode, data[0]);
        check_rows(tok, ids, n - 1, mode, 32 * MAX_IDS);
    }
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
    if (vocabularies[1] == NULL) {
        open_vocabularies();
        open_placed();
    }
    if (size < 1) return 0;
    if (data[0] >= 128) {
        check_placed(placed[data[0] % N_PLACED], data + 1, size - 1);
        return 0;
    }
    const dstok_tokenizer *tok = vocabularies[data[0] % 2];
    size_t n = read_ids(data + 1, size - 1, ids);
    check_modes(tok, ids, n, data[0] / 2 % 2);
    check_halves(tok, ids, n);
    for (int mode = 0; mode < 8; mode++) {
        check_rows(tok, ids, n, mode, data[0]);
        check_rows(tok, ids, n, mode, 256 * MAX_IDS);
    }
    return 0;
}
