/* SPDX-License-Identifier: MIT */
/* Decoders that get their ids bit by bit: all that they give out is what dstok_decode makes of the whole
 * list, in every mode, for every way to cut it; characters are never torn; errors leave the decoder as it
 * was; reports of bugs. */
#include "../../tokenizer/text/utf8.h"
#include "../harness/heap.h"
#include "../oracle/fixture.h"

#include "../../simd/simd.h"

#include <dstok/stream.h>

#include <stdlib.h>
#include <time.h>

#define MAX_IDS   60u
#define MAX_BYTES 20000u

static t_rng rng;
static const char *name;

typedef struct result {
    dstok_status status;
    uint8_t bytes[MAX_BYTES];
    size_t n;
    uint64_t offset, n_unknown;
} result;

static void whole(const dstok_tokenizer *tok, const uint32_t *ids, size_t n, int mode, int skip, result *r) {
    dstok_error err = {0};
    size_t unknown = 0;
    r->n = 0;
    r->status = dstok_decode(tok, ids, n, mode, skip, r->bytes, sizeof r->bytes, &r->n, &unknown, &err);
    r->offset = err.offset;
    r->n_unknown = unknown;
}

/* Does a piece end inside of a character that goes on? */
static bool is_torn(const uint8_t *bytes, size_t n, size_t all) {
    return n > 0 && n < all && dstok__is_continuation(bytes[n]) && dstok__utf8_check(bytes, all) > n;
}

static void bit_by_bit(dstok_decoder *d, const uint32_t *ids, size_t n, unsigned most, result *r,
                       size_t *ends, size_t *n_ends) {
    dstok_error err = {0};
    const void *bytes = NULL;
    size_t k = 0;
    r->n = *n_ends = 0;
    r->status = DSTOK_OK;
    for (size_t i = 0, m; i <= n && r->status == DSTOK_OK; i += m) {
        m = i == n ? 1 : 1 + t_below(&rng, most);
        if (i < n && m > n - i) m = n - i;
        r->status = i == n ? dstok_decoder_finish(d, &bytes, &k, &err)
                           : dstok_decoder_push(d, ids + i, m, &bytes, &k, &err);
        if (r->status != DSTOK_OK) break;
        if (k > 0) memcpy(r->bytes + r->n, bytes, k);
        r->n += k;
        ends[(*n_ends)++] = r->n;
    }
    r->offset = err.offset;
    r->n_unknown = dstok_decoder_unknown(d, NULL);
}

static void check(const dstok_tokenizer *tok, const uint32_t *ids, size_t n, int mode, int skip) {
    static result want, got;
    size_t ends[MAX_IDS + 2], n_ends;
    dstok_decoder *d = NULL;
    whole(tok, ids, n, mode, skip, &want);
    if (dstok_decoder_new(tok, mode, skip, &d, NULL) != DSTOK_OK) exit(1);
    for (int round = 0; round < 3; round++) { /* the second and third time with a decoder that was used */
        dstok_decoder_reset(d);
        bit_by_bit(d, ids, n, round == 0 ? 1 : 6, &got, ends, &n_ends);
        bool is_good = want.status == got.status;
        if (mode == DSTOK_DECODE_STRICT && want.status == DSTOK_E_BAD_ID && got.status == DSTOK_E_UTF8)
            continue; /* the first error, of two */
        if (is_good && want.status == DSTOK_OK)
            is_good = want.n == got.n && memcmp(want.bytes, got.bytes, want.n) == 0 &&
                      want.n_unknown == got.n_unknown;
        if (is_good && want.status != DSTOK_OK) is_good = want.offset == got.offset;
        for (size_t i = 0; is_good && want.status == DSTOK_OK && i < n_ends; i++)
            is_good = !is_torn(want.bytes, ends[i], want.n);
        CHECK(is_good);
        if (!is_good && t_failures < 5) {
            fprintf(stderr, "%s: mode %d, skip %d, status %d %d, offset %lld %lld, n %zu %zu, ids", name,
                    mode, skip, want.status, got.status, (long long)want.offset, (long long)got.offset,
                    want.n, got.n);
            for (size_t i = 0; i < n; i++) fprintf(stderr, " %u", ids[i]);
            fprintf(stderr, "\n%.*s|\n%.*s|\n", (int)want.n, want.bytes, (int)got.n, got.bytes);
        }
    }
    dstok_decoder_free(d);
}

/* Ids of few kinds stand often; some have no token. */
static void check_random(const dstok_tokenizer *tok, unsigned rounds) {
    dstok_info info = DSTOK_INFO_INIT;
    CHECK_EQ(dstok_tokenizer_info(tok, &info), DSTOK_OK);
    for (unsigned i = 0; i < rounds; i++) {
        uint32_t ids[MAX_IDS], few[4];
        size_t n = t_below(&rng, MAX_IDS);
        int mode = (int)t_below(&rng, 4);
        for (size_t k = 0; k < 4; k++) few[k] = t_below(&rng, (uint32_t)info.n_ids);
        for (size_t k = 0; k < n; k++) {
            ids[k] = t_below(&rng, 3) == 0 ? few[t_below(&rng, 4)] : t_below(&rng, (uint32_t)info.n_ids);
            if (t_below(&rng, 3) == 0) ids[k] = t_below(&rng, 300) % (uint32_t)info.n_ids; /* bytes, mostly */
            if (t_below(&rng, 80) == 0) ids[k] = (uint32_t)info.n_ids + t_below(&rng, 3);
        }
        check(tok, ids, n, mode, (int)t_below(&rng, 2));
    }
}

/* ---- decoders of files ---- */

#define META "\xE2\x96\x81"
#define HEAD                                                                                                 \
    "{\"version\":\"1.0\",\"added_tokens\":[{\"id\":0,\"content\":\"<s>\",\"single_word\":false,\"lstrip\":" \
    "false,"                                                                                                 \
    "\"rstrip\":false,\"normalized\":false,\"special\":true}],\"normalizer\":null,\"pre_tokenizer\":null,"   \
    "\"post_processor\":null,\"decoder\":"
#define MODEL ",\"model\":{\"type\":\"BPE\",%s\"vocab\":{\"<s>\":0,"

static const char *const decoders[] = {
    "null",
    "{\"type\":\"ByteLevel\"}",
    "{\"type\":\"Metaspace\",\"replacement\":\"" META "\",\"prepend_scheme\":\"first\",\"split\":true}",
    "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"" META
    "\"},\"content\":\" "
    "\"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" \","
    "\"start\":1,\"stop\":0}]}",
    "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"" META
    "\"},\"content\":\" "
    "\"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" \","
    "\"start\":2,\"stop\":2}]}",
    "{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"}",
};

static dstok_tokenizer *load_made(const char *decoder) {
    static char json[20000];
    dstok_tokenizer *tok = NULL;
    size_t n = (size_t)sprintf(json, "%s%s" MODEL, HEAD, decoder,
                               strstr(decoder, "</w>") != NULL ? "\"end_of_word_suffix\":\"</w>\","
                                                               : "\"byte_fallback\":true,");
    for (unsigned b = 0; b < 256; b++) n += (size_t)sprintf(json + n, "\"<0x%02X>\":%u,", b, b + 1);
    sprintf(json + n, "\"a\":257,\"" META "\":258,\"" META "a\":259,\"b</w>\":260,\"</w>\":261,\" \":262,"
                      "\"\xC3\xA9\":263,\"" META META "\":264},\"merges\":[]}}");
    dstok_error err = {0};
    if (dstok_tokenizer_load_memory(json, strlen(json), NULL, 0, NULL, &tok, &err) != DSTOK_OK)
        fprintf(stderr, "%s: %s\n", decoder, err.text);
    return tok;
}

static void test_made(void) {
    unsigned n = 0;
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++) {
        dstok_tokenizer *tok = load_made(decoders[i]);
        name = decoders[i];
        if (tok == NULL) continue;
        check_random(tok, 8000);
        dstok_tokenizer_free(tok);
        n++;
    }
    CHECK_EQ(n, sizeof decoders / sizeof *decoders);
}

/* A token that waits for the next one that gives something is not looked for again with each id that gives
 * nothing: 300,000 of these took minutes. */
static void test_hidden(void) {
    dstok_tokenizer *tok = load_made(decoders[5]);
    dstok_decoder *d = NULL;
    const void *bytes = NULL;
    const uint32_t ids[] = {260, 0, 257};
    size_t n = 0;
    clock_t start = clock();
    if (tok == NULL || dstok_decoder_new(tok, DSTOK_DECODE_LOSSLESS, 1, &d, NULL) != DSTOK_OK) exit(1);
    for (size_t i = 0; i < 300000; i++) {
        CHECK_EQ(dstok_decoder_push(d, ids + (i > 0), 1, &bytes, &n, NULL), DSTOK_OK);
        CHECK_EQ(n, 0);
    }
    CHECK_EQ(dstok_decoder_push(d, ids + 2, 1, &bytes, &n, NULL), DSTOK_OK);
    CHECK_EQ(n, 2);
    CHECK_MEM(bytes, "b ", 2);
    CHECK_EQ(dstok_decoder_finish(d, &bytes, &n, NULL), DSTOK_OK);
    CHECK_EQ(n, 1);
    CHECK((clock() - start) / CLOCKS_PER_SEC < 10);
    dstok_decoder_free(d);
    dstok_tokenizer_free(tok);
}

/* ---- calls ---- */

static void test_calls(void) {
    dstok_tokenizer *tok = fixture_load(&fixture_words, NULL);
    dstok_decoder *d = NULL;
    const void *bytes = NULL;
    dstok_error err = {0};
    size_t n = 77;
    uint64_t first = 0;
    CHECK_EQ(dstok_decoder_new(NULL, 0, 0, &d, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_decoder_new(tok, 9, 0, &d, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_decoder_new(tok, DSTOK_DECODE_LOSSLESS, 0, &d, NULL), DSTOK_OK);
    if (d == NULL) exit(1);
    static const uint32_t some[] = {0xE4, 0xBD, 'x'}, bad[] = {0xA0, 99999, 'y'}, good[] = {0xA0, 'z', 0xF0};
    CHECK_EQ(dstok_decoder_push(d, NULL, 1, &bytes, &n, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_decoder_push(d, some, 2, &bytes, &n, NULL), DSTOK_OK);
    CHECK_EQ(n, 0); /* two of three bytes of a character */
    CHECK_EQ(dstok_decoder_push(d, bad, 3, &bytes, &n, &err), DSTOK_E_BAD_ID);
    CHECK_EQ(err.offset, 3);
    CHECK_EQ(dstok_decoder_push(d, good, 3, &bytes, &n, NULL), DSTOK_OK);
    CHECK_EQ(n, 4);
    CHECK_MEM(bytes, "\xE4\xBD\xA0z", 4);
    CHECK_EQ(dstok_decoder_finish(d, &bytes, &n, NULL), DSTOK_OK);
    CHECK_EQ(n, 1);
    CHECK_MEM(bytes, "\xF0", 1);
    dstok_decoder_free(d);
    CHECK_EQ(dstok_decoder_new(tok, DSTOK_DECODE_RAW, 0, &d, NULL), DSTOK_OK);
    CHECK_EQ(dstok_decoder_push(d, some, 3, &bytes, &n, NULL), DSTOK_OK);
    CHECK_EQ(dstok_decoder_unknown(d, &first), 0);
    CHECK(first == DSTOK_NO_OFFSET);
    CHECK_EQ(dstok_decoder_push(d, bad, 3, &bytes, &n, NULL), DSTOK_OK);
    CHECK_EQ(dstok_decoder_unknown(d, &first), 1);
    CHECK_EQ(first, 4);
    dstok_decoder_free(d);
    dstok_decoder_free(NULL);
    dstok_tokenizer_free(tok);
}

static dstok_status decode_with(t_heap *heap) {
    dstok_alloc al = t_heap_alloc(heap);
    dstok_load_options o = DSTOK_LOAD_OPTIONS_INIT;
    dstok_tokenizer *tok = NULL;
    dstok_decoder *d = NULL;
    size_t json_n, n, before = heap->fail_at;
    char *json = fixture_json(&fixture_words, &json_n);
    o.alloc = &al;
    heap->fail_at = 0;
    if (dstok_tokenizer_load_memory(json, json_n, NULL, 0, &o, &tok, NULL) != DSTOK_OK) exit(1);
    free(json);
    heap->calls = 0;
    heap->fail_at = before;
    const void *bytes;
    static const uint32_t ids[] = {'a', 'b', 0xE4, 0xBD, 0xA0};
    dstok_status status = dstok_decoder_new(tok, DSTOK_DECODE_REPLACE, 0, &d, NULL);
    for (int i = 0; i < 30 && status == DSTOK_OK; i++)
        status = dstok_decoder_push(d, ids, 5, &bytes, &n, NULL);
    dstok_decoder_free(d);
    dstok_tokenizer_free(tok);
    return status;
}

static void test_memory(void) {
    for (size_t k = 1;; k++) {
        t_heap heap = {.fail_at = k};
        dstok_status status = decode_with(&heap);
        CHECK_EQ(heap.live, 0);
        if (status == DSTOK_OK) {
            CHECK(k > 2);
            return;
        }
        CHECK_EQ(status, DSTOK_E_NOMEM);
    }
}

/* ---- rows of ../shared/cases/cases.jsonl ---- */

static dstok_tokenizer *load_shared(const char *file) {
    char path[128];
    size_t n;
    dstok_tokenizer *tok = NULL;
    dstok_load_options o = DSTOK_LOAD_OPTIONS_INIT;
    snprintf(path, sizeof path, "vocab/%s.xz", file);
    const char *full = t_shared(path);
    char *data = full != NULL ? t_read(full, &n) : NULL;
    if (data == NULL) {
        fprintf(stderr, "%s SKIPPED: not in ../shared/vocab\n", file);
        return NULL;
    }
    CHECK_EQ(dstok_tokenizer_load_memory(data, n, NULL, 0, &o, &tok, NULL), DSTOK_OK);
    free(data);
    return tok;
}

/* What each of the ids adds, a bar behind each. */
static void check_row(const char *row, const char *file, const uint32_t *ids, size_t n, const char *want) {
    dstok_tokenizer *tok = load_shared(file);
    char got[200];
    size_t at = 0, k;
    const void *bytes;
    dstok_decoder *d = NULL;
    if (tok == NULL) return;
    CHECK_EQ(dstok_decoder_new(tok, DSTOK_DECODE_REPLACE, 0, &d, NULL), DSTOK_OK);
    for (size_t i = 0; i <= n; i++) {
        dstok_status status = i < n ? dstok_decoder_push(d, &ids[i], 1, &bytes, &k, NULL)
                                    : dstok_decoder_finish(d, &bytes, &k, NULL);
        CHECK_EQ(status, DSTOK_OK);
        memcpy(got + at, bytes, k);
        at += k;
        got[at++] = '|';
    }
    got[at] = '\0';
    if (strcmp(got, want) != 0) fprintf(stderr, "%s\n", row);
    CHECK_STR(got, want);
    dstok_decoder_free(d);
    dstok_tokenizer_free(tok);
}

static void test_rows(void) {
    static const uint32_t c053[] = {9906, 1917, 11410, 234, 114}, c056[] = {102, 93273, 102},
                          c058[] = {420, 374, 11410, 99, 247, 13, 11055}, c059[] = {8508, 43720, 50292},
                          c061[] = {28705, 5374, 1318};
    check_row("C053", "cl100k_base.tiktoken", c053, 5, "Hello| world| ||\xF0\x9F\x8C\xB6||");
    check_row("C056", "cl100k_base.tiktoken", c056, 3, "\xEF\xBF\xBD||\xF0\x9F\x92\xA9||");
    check_row("C058", "cl100k_base.tiktoken", c058, 7, " this| is| ||\xF0\x9F\xA6\x99|.|cpp||");
    check_row("C059", "qwen3.tokenizer.json", c059, 3, "|\xE5\xAE\xA2\xE5\x8D\x95|\xE4\xBB\xB7||");
    check_row("C061", "mistral_v0_1_spm.tokenizer.json", c061, 3, "| leading| x||");
    dstok_tokenizer *tok = load_shared("o200k_base.tiktoken"); /* C054: any ids */
    name = "o200k_base";
    if (tok != NULL) check_random(tok, 3000);
    dstok_tokenizer_free(tok);
}

int main(int argc, char **argv) {
    rng.state = argc > 1 ? (uint64_t)atoll(argv[1]) : 1;
    test_calls();
    test_memory();
    fixture f = fixture_words;
    f.added = "s:<|a|>";
    dstok_tokenizer *tok = fixture_load(&f, NULL);
    name = "fixture";
    check_random(tok, 20000);
    dstok_tokenizer_free(tok);
    test_made();
    test_hidden();
    test_rows();
    return t_end();
}
