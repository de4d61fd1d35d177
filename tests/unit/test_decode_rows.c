/* SPDX-License-Identifier: MIT */
/* Rows: what they hold, and that decoding with them is decoding without them. */
#define _DEFAULT_SOURCE /* MAP_ANON */
#include "decode_util.h"

#include "../oracle/fixture.h"
#include "../oracle/gen.h"

#define MAX_LIST 3000

static t_rng rng = {7};

/* ---- what the rows hold ---- */

static void check_rows(const dstok_tokenizer *tok) {
    size_t n_bad = 0, n_own = 0;
    CHECK_EQ(tok->n_rows, tok->n_ids < DSTOK__MAX_ROWS ? tok->n_ids : DSTOK__MAX_ROWS);
    for (uint32_t id = 0; id < tok->n_rows; id++) {
        uint32_t n, flags = tok->flags[id];
        const uint8_t *bytes = dstok__token_bytes(tok, id, &n);
        const dstok__row *row = &tok->rows[id];
        bool is_other = flags == 0 || (flags & (DSTOK_TOKEN_SPECIAL | DSTOK__TOKEN_BYTE)) != 0 || n > 15;
        n_own += !is_other;
        n_bad += is_other ? row->n != DSTOK__ROW_OTHER : row->n != n || memcmp(row->bytes, bytes, n) != 0;
    }
    CHECK_EQ(n_bad, 0);
    CHECK(n_own > 0);
}

/* Tokens of every length, the last of them where the strings end: nothing is read behind. */
static void test_fill(void) {
    enum { N = 20 };
    static dstok__head head;
    dstok__ref tokens[N];
    uint8_t flags[N];
    dstok__row rows[N];
    uint32_t n = 0;
    for (uint32_t id = 0; id < N; id++) {
        tokens[id] = (dstok__ref){n, id};
        flags[id] = DSTOK_TOKEN_EXISTS;
        n += id;
    }
    for (uint32_t cut = 0; cut < N; cut++) { /* each of them is the last one once */
        uint32_t size = tokens[cut].at + cut;
        uint8_t *strings = util_edge() - size;
        for (uint32_t i = 0; i < size; i++) strings[i] = (uint8_t)(i * 37 + 1);
        head.sections[DSTOK__S_STRINGS].n = size;
        dstok__tables t = {.head = &head, .strings = strings, .tokens = tokens, .flags = flags};
        dstok__rows_fill(&t, rows, cut + 1);
        for (uint32_t id = 0; id <= cut; id++) {
            CHECK_EQ(rows[id].n, id > DSTOK__ROW_BYTES ? DSTOK__ROW_OTHER : id);
            if (id <= DSTOK__ROW_BYTES) CHECK_MEM(rows[id].bytes, strings + tokens[id].at, id);
        }
    }
}

/* ---- lists ---- */

/* Ids that have no row of their own. */
typedef struct others {
    uint32_t *ids;
    uint32_t n;
} others;

static others find_others(const dstok_tokenizer *tok) {
    others o = {malloc((tok->n_ids + 1u) * sizeof *o.ids), 0};
    for (uint32_t id = 0; id < tok->n_ids; id++) {
        if (tok->flags[id] != 0 && tok->rows[id].n == DSTOK__ROW_OTHER) o.ids[o.n++] = id;
    }
    o.ids[o.n] = tok->n_ids; /* one that is none */
    return o;
}

static uint32_t random_id(const dstok_tokenizer *tok, const others *o, uint32_t odd) {
    if (odd > 0 && t_below(&rng, odd) == 0) return o->ids[t_below(&rng, o->n + 1)];
    if (odd > 0 && t_below(&rng, 4 * odd) == 0)
        return tok->n_ids + (uint32_t)(t_random(&rng) >> t_below(&rng, 33) >> 32);
    for (;;) {
        uint32_t n = t_below(&rng, 3) == 0 && tok->n_ids > 600 ? 600 : tok->n_ids, id = t_below(&rng, n);
        if (tok->flags[id] != 0) return id;
    }
}

/* Short ones with every room; long ones, where rows are asked for ahead and the text is looked at often. */
static void test_lists(const dstok_tokenizer *tok, int n_short, int n_long) {
    static uint32_t ids[MAX_LIST];
    static const uint32_t odds[] = {0, 2, 5, 40, 400};
    others o = find_others(tok);
    for (int i = 0; i < n_short + n_long; i++) {
        size_t n = t_below(&rng, i < n_short ? 12 : MAX_LIST);
        for (size_t k = 0; k < n; k++) ids[k] = random_id(tok, &o, odds[i % 5]);
        util_check_list(tok, ids, n, &rng);
    }
    free(o.ids);
}

/* Text, whose characters tokens cut; some ids changed or left out. */
static void test_text(const dstok_tokenizer *tok, int n_texts) {
    static uint8_t text[8000];
    static uint32_t ids[sizeof text];
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    options.invalid = DSTOK_INVALID_RAW;
    dstok_encoder *enc = fixture_encoder(tok);
    for (int i = 0; i < n_texts; i++) {
        dstok_tokens t;
        size_t n = 16 + t_below(&rng, i % 3 == 0 ? 50 : sizeof text - 16);
        n = i % 4 == 0 ? gen_bytes(&rng, text, n) : gen_text(&rng, text, n);
        CHECK_EQ(dstok_encode_view(enc, text, n, &options, &t, NULL), DSTOK_OK);
        if (t.n > 0) memcpy(ids, t.ids, t.n * sizeof *ids);
        for (size_t k = 0; i % 2 == 1 && t.n > 0 && k < 3; k++)
            ids[t_below(&rng, (uint32_t)t.n)] = t_below(&rng, tok->n_ids);
        size_t from = i % 5 == 0 && t.n > 0 ? t_below(&rng, (uint32_t)t.n) : 0;
        util_check_list(tok, ids + from, t.n - from, &rng);
    }
    dstok_encoder_free(enc);
}

static void test_all(const dstok_tokenizer *tok, int n) {
    check_rows(tok);
    test_lists(tok, 3 * n, n);
    test_text(tok, n);
}

/* ---- vocabularies ---- */

static void test_small(void) {
    fixture f = fixture_words;
    f.added = "s:<|sys|>\n:cat\n:\xE4\xBD\xA0\n:thirteen is 13\n:fifteen is 15 b\n:sixteen is 16 by\n"
              ":seventeen is 17 b\n:a token that is much longer than a row\n";
    dstok_tokenizer *tok = fixture_load(&f, NULL);
    test_all(tok, 100);
    dstok_tokenizer_free(tok);
}

static void test_file(const char *path, const char *pattern) {
    size_t n;
    char *data = t_read(path, &n);
    dstok_load_options options = DSTOK_LOAD_OPTIONS_INIT;
    dstok_error err = {.status = DSTOK_OK};
    dstok_tokenizer *tok = NULL;
    options.pattern = pattern;
    CHECK(data != NULL);
    if (data == NULL) return;
    CHECK_EQ(dstok_tokenizer_load_memory(data, n, NULL, 0, &options, &tok, &err), DSTOK_OK);
    if (tok != NULL) {
        test_all(tok, 8);
    } else {
        fprintf(stderr, "%s: %s\n", path, err.text);
    }
    dstok_tokenizer_free(tok);
    free(data);
}

static void test_fixtures(void) {
    static const char *const names[][2] = {
        {"chars.json", NULL}, {"mini.json", NULL}, {"mini.tiktoken", "cl100k_base"}, {"words.json", NULL}};
    char path[4096];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/tests/fixtures/load/%s", DSTOK_SOURCE_DIR, names[i][0]);
        test_file(path, names[i][1]);
    }
}

static const char *const shared[][2] = {
    {"chatglm3.tokenizer.json", NULL},    {"cl100k_base.tiktoken", "cl100k_base"},
    {"claude_nfkc.tokenizer.json", NULL}, {"clip.tokenizer.json", NULL},
    {"deepseek_v3.tokenizer.json", NULL}, {"falcon.tokenizer.json", NULL},
    {"gemma3.tokenizer.json", NULL},      {"gptoss.tokenizer.json", NULL},
    {"llama3_1.tokenizer.json", NULL},    {"mistral_v0_1_spm.tokenizer.json", NULL},
    {"mistral_v3.spm.model", NULL},       {"o200k_base.tiktoken", "o200k_base"},
    {"p50k_base.tiktoken", "p50k_base"},  {"phi-2.tokenizer.json", NULL},
    {"phi-3-mini.tokenizer.json", NULL},  {"qwen2_5.tokenizer.json", NULL},
    {"qwen3.tokenizer.json", NULL},       {"smollm2_135m_instruct.vocab.gguf", NULL},
    {"tekken_240911.json", NULL},         {"whisper_large_v3.tokenizer.json", NULL},
};

static void test_shared(void) {
    size_t n_seen = 0;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        char name[256];
        snprintf(name, sizeof name, "vocab/%s.xz", shared[i][0]);
        const char *path = t_shared(name);
        if (path == NULL) continue;
        test_file(path, shared[i][1]);
        n_seen++;
    }
    if (n_seen == 0) fputs("no shared vocabularies here: the small ones alone were tested\n", stderr);
}

int main(void) {
    test_fill();
    test_small();
    test_fixtures();
    test_shared();
    return t_end();
}
