/* SPDX-License-Identifier: MIT */
/* Compiled vocabularies (.dstok): equal to their source, the same bytes each time, and safe whatever their
 * bytes are. */
#include "../harness/heap.h"
#include "compiled_util.h"

#include <unistd.h>

static const char *const texts[] = {
    "",
    "hello world, lo and behold: 12345  \n\n  x",
    "<s>hello</s> <|end|> caf\xC3\xA9 e\xCC\x81 \xE7\x9A\x84\xF0\x9F\x98\x80",
    "   lll ooo heheheheh\tLOW",
    "\xF0\x9F\x98 hell \xF0\xF0\xF0", /* not UTF-8 */
};

/* ---- equal to the source ---- */

static void check_same_tokens(dstok_encoder *a, dstok_encoder *b, const char *text, int special) {
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens x = {0}, y = {0};
    o.special = special;
    o.add_special = 1;
    dstok_status s = dstok_encode_view(a, text, strlen(text), &o, &x, NULL);
    CHECK_EQ(dstok_encode_view(b, text, strlen(text), &o, &y, NULL), s);
    CHECK_EQ(x.n, y.n);
    if (s != DSTOK_OK || x.n != y.n || x.n == 0) return;
    CHECK_MEM(x.ids, y.ids, x.n * sizeof *x.ids);
    CHECK_MEM(x.spans, y.spans, x.n * sizeof *x.spans);
    CHECK_MEM(x.flags, y.flags, x.n);
}

static void check_same(const dstok_tokenizer *a, const dstok_tokenizer *b) {
    dstok_info x = DSTOK_INFO_INIT, y = DSTOK_INFO_INIT;
    dstok_tokenizer_info(a, &x);
    dstok_tokenizer_info(b, &y);
    CHECK_STR(x.format, y.format);
    CHECK_STR(x.normalizer, y.normalizer);
    CHECK_STR(x.scanner, y.scanner);
    CHECK_EQ(x.n_ids, y.n_ids);
    CHECK_EQ(x.n_merges, y.n_merges);
    CHECK(!x.is_compiled && y.is_compiled);
    for (size_t i = 0; dstok_tokenizer_step(a, i) != NULL; i++)
        CHECK_STR(dstok_tokenizer_step(a, i), dstok_tokenizer_step(b, i));
    for (uint32_t id = 0; id < x.n_ids; id++) {
        const void *p = NULL, *q = NULL;
        size_t n = 0, m = 0;
        CHECK_EQ(dstok_token_flags(a, id), dstok_token_flags(b, id));
        CHECK_EQ(dstok_token_bytes(a, id, &p, &n), dstok_token_bytes(b, id, &q, &m));
        CHECK(n == m && (n == 0 || memcmp(p, q, n) == 0));
    }
    dstok_encoder *ea = fixture_encoder(a), *eb = fixture_encoder(b);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (int special = DSTOK_SPECIAL_SAFE; special <= DSTOK_SPECIAL_LIST; special++)
            check_same_tokens(ea, eb, texts[i], special);
    }
    dstok_encoder_free(ea);
    dstok_encoder_free(eb);
}

static void test_round_trip(void) {
    for (int which = 0; which < N_SOURCES; which++) {
        dstok_tokenizer *source = load_source(which), *again = load_source(which), *compiled = NULL,
                        *twice = NULL;
        size_t n, m;
        const void *bytes = dstok_tokenizer_compiled(source, &n),
                   *others = dstok_tokenizer_compiled(again, &m);
        CHECK(n == m && memcmp(bytes, others, n) == 0);
        CHECK_EQ(load(bytes, n, NULL, &compiled, NULL), DSTOK_OK);
        check_same(source, compiled);
        bytes = dstok_tokenizer_compiled(compiled, &n); /* compiling what is compiled changes nothing */
        CHECK(n == m && memcmp(bytes, others, n) == 0);
        CHECK_EQ(load(bytes, n, NULL, &twice, NULL), DSTOK_OK);
        dstok_tokenizer_free(source);
        dstok_tokenizer_free(again);
        dstok_tokenizer_free(compiled);
        dstok_tokenizer_free(twice);
    }
}

/* A file is mapped; a missing, short or foreign one is an error with its reason. */
static void test_file(void) {
    char path[] = "compiled-XXXXXX";
    int fd = mkstemp(path);
    dstok_tokenizer *source = load_source(1), *tok = NULL;
    dstok_error err = {.text = ""};
    size_t n;
    const void *bytes = dstok_tokenizer_compiled(source, &n);
    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    CHECK_EQ(dstok_tokenizer_load(path, NULL, &tok, &err), DSTOK_OK);
    check_same(source, tok);
    dstok_tokenizer_free(tok);
    dstok_load_options o = DSTOK_LOAD_OPTIONS_INIT;
    o.pattern = "gpt2";
    CHECK_EQ(dstok_tokenizer_load(path, &o, &tok, &err), DSTOK_E_INVAL);
    CHECK_EQ(ftruncate(fd, (off_t)n / 2), 0);
    CHECK_EQ(dstok_tokenizer_load(path, NULL, &tok, &err), DSTOK_E_TRUNCATED);
    CHECK_EQ(ftruncate(fd, 12), 0);
    CHECK_EQ(dstok_tokenizer_load(path, NULL, &tok, &err), DSTOK_E_TRUNCATED);
    close(fd);
    unlink(path);
    dstok_tokenizer_free(source);
}

/* ---- damage ---- */

/* Encodes a text under one combination of options, and decodes it. */
static void use_options(const dstok_tokenizer *tok, dstok_encoder *enc, const char *text, uint32_t which) {
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens t = {0};
    char out[512];
    size_t n = strlen(text);
    char *exact = malloc(n + (n == 0)); /* ends with its memory */
    if (exact == NULL) exit(1);
    memcpy(exact, text, n);
    o.special = (int)(which % 6);
    o.add_special = 1;
    o.span_style = which / 6 % 2 != 0 ? DSTOK_SPANS_HF : DSTOK_SPANS_EXACT;
    o.invalid = (int)(which / 12 % 3);
    o.strict = which / 36 % 2 != 0;
    if (dstok_encode_view(enc, exact, n, &o, &t, NULL) == DSTOK_OK) {
        for (int mode = DSTOK_DECODE_LOSSLESS; mode <= DSTOK_DECODE_RAW; mode++)
            (void)!dstok_decode(tok, t.ids, t.n, mode, 0, out, sizeof out, &n, NULL, NULL);
    }
    free(exact);
}

/* Uses all of a vocabulary whose bytes are anything. */
static void use(const dstok_tokenizer *tok) {
    dstok_encoder *enc = NULL;
    dstok_info info = DSTOK_INFO_INIT;
    dstok_tokenizer_info(tok, &info);
    for (uint32_t id = 0; id < info.n_ids && id < 2000; id++) {
        const void *p;
        size_t n;
        uint32_t found;
        if (dstok_token_bytes(tok, id, &p, &n) == DSTOK_OK && id < 20)
            (void)!dstok_token_id(tok, p, n, &found);
    }
    for (size_t i = 0; dstok_tokenizer_step(tok, i) != NULL; i++) (void)strlen(dstok_tokenizer_step(tok, i));
    for (size_t i = 0; dstok_tokenizer_warning(tok, i) != NULL; i++)
        (void)strlen(dstok_tokenizer_warning(tok, i));
    if (dstok_encoder_new(tok, &enc) != DSTOK_OK) return;
    for (uint32_t i = 0; i < 24; i++) {
        static uint32_t turn; /* goes on from block to block, through all combinations of text and options */
        use_options(tok, enc, texts[turn % (sizeof texts / sizeof *texts)],
                    turn / (sizeof texts / sizeof *texts));
        turn++;
    }
    dstok_encoder_free(enc);
}

static size_t n_opened;

static void try_block(const uint8_t *block, size_t n, bool must_fail) {
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    dstok_tokenizer *tok = NULL;
    dstok_error err = {.text = ""};
    uint8_t *exact = malloc(n + (n == 0)); /* ends with its memory */
    if (exact == NULL) exit(1);
    memcpy(exact, block, n);
    dstok_status status = load(exact, n, &al, &tok, &err);
    CHECK(status == DSTOK_OK || err.text[0] != '\0');
    if (must_fail) CHECK(status != DSTOK_OK);
    if (status == DSTOK_OK) {
        n_opened++;
        use(tok);
        dstok_tokenizer_free(tok);
    }
    CHECK_EQ(heap.live, 0);
    free(exact);
}

/* Each single damaged byte is found by the checksum; with the checksum forged the file may open, but never hurts. */
static void test_mutants(void) {
    t_rng rng = {7};
    for (int which = 0; which < N_SOURCES; which++) {
        dstok_tokenizer *tok = load_source(which);
        size_t n;
        const void *bytes = dstok_tokenizer_compiled(tok, &n);
        uint8_t *block = malloc(n);
        if (block == NULL) exit(1);
        for (int round = 0; round < 8000; round++) {
            size_t head = sizeof(dstok__head), at = t_below(&rng, (uint32_t)(round % 2 == 0 ? n : head));
            memcpy(block, bytes, n);
            block[at] ^= (uint8_t)(1u << t_below(&rng, 8));
            if (round % 8 == 0) try_block(block, n, true);
            for (uint32_t more = t_below(&rng, 4); more > 0; more--) {
                static const uint32_t values[] = {0,          1,          0x7FFFFFFF, 0x80000000,
                                                  0xFFFFFFFF, 0xFFFFFFFE, 65536,      1 << 24};
                size_t place = t_below(&rng, (uint32_t)n / 4) * 4u;
                uint32_t value = values[t_below(&rng, 8)];
                if (place + 4 <= n) memcpy(block + place, &value, 4);
            }
            seal(block, n);
            try_block(block, n, false);
        }
        for (size_t cut = 0; cut < n; cut += 1 + n / 300) try_block(bytes, cut, cut > 0);
        free(block);
        dstok_tokenizer_free(tok);
    }
    CHECK(n_opened > 100); /* else nothing was put to use */
}

/* Every number of the head, each with values that lead nowhere. */
static void test_head(void) {
    for (int which = 0; which < N_SOURCES; which++) {
        dstok_tokenizer *tok = load_source(which);
        size_t n;
        const void *bytes = dstok_tokenizer_compiled(tok, &n);
        uint8_t *block = malloc(n);
        if (block == NULL) exit(1);
        for (size_t at = 0; at + 4 <= sizeof(dstok__head); at += 4) {
            static const uint32_t values[] = {0, 1, 7, 0xFFFFFFFF, 0x7FFFFFFF, 0x10000};
            for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                memcpy(block, bytes, n);
                memcpy(block + at, &values[v], 4);
                seal(block, n);
                try_block(block, n, false);
            }
        }
        free(block);
        dstok_tokenizer_free(tok);
    }
}

/* ---- forged with sense: right in each part, but not as a whole ---- */

static const struct contradiction {
    int which;
    uint32_t model, set, clear;
    bool has_bare; /* a character behind the ids */
    const char *says;
} contradictions[] = {
    {0, DSTOK__MODEL_MERGES, 0, 0, false, NULL},
    {0, DSTOK__MODEL_SCORES, 0, 0, false, "its model"},
    {0, DSTOK__MODEL_MERGES, DSTOK__T_LATE_FALLBACK, DSTOK__T_PLAIN_ATOMS, false, "a table"},
    {0, DSTOK__MODEL_RANKS, DSTOK__T_UNUSED, 0, false, "its model"},
    {0, DSTOK__MODEL_MERGES, DSTOK__T_CHAR_ATOMS, 0, false, "its model"},
    {1, DSTOK__MODEL_MERGES, 0, 0, false, NULL},
    {1, DSTOK__MODEL_MERGES, 0, 0, true, "its model"},
    {1, DSTOK__MODEL_MERGES, DSTOK__T_UNUSED, 0, false, "its model"},
    {1, DSTOK__MODEL_MERGES, DSTOK__T_LATE_FALLBACK, 0, false, "its model"},
    {1, DSTOK__MODEL_SCORES, DSTOK__T_LATE_FALLBACK | DSTOK__T_UNUSED, 0, true, NULL},
    {1, DSTOK__MODEL_SCORES, DSTOK__T_PLAIN_ATOMS, 0, false, "its model"},
    {1, DSTOK__MODEL_SCORES, 0, DSTOK__T_CHAR_ATOMS, false, "its model"},
};

static void test_contradictions(void) {
    for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++) {
        const struct contradiction *c = &contradictions[i];
        int before = t_failures;
        size_t n;
        uint8_t *block = copy_block(c->which, &n);
        dstok__head *h = (dstok__head *)(void *)block;
        h->model = c->model;
        h->options = (h->options | c->set) & ~c->clear;
        if (c->has_bare) {
            dstok__ref *refs = section(block, DSTOK__S_TEXTS);
            refs[h->n_ids] = refs[5]; /* over some flags, which are next */
            h->sections[DSTOK__S_TEXTS].n++;
            h->n_bare = 1;
        }
        check_opens(block, n, c->says);
        if (t_failures > before) fprintf(stderr, "  contradiction %zu\n", i);
        free(block);
    }
}

/* Trimming reads the characters of texts: they must have some. */
static void test_trimmed(void) {
    size_t n;
    uint8_t *block = copy_block(1, &n), *strings = section(block, DSTOK__S_STRINGS);
    const dstok__ref *refs = section(block, DSTOK__S_TEXTS);
    strings[refs[13].at] = 0xF0; /* "lo" */
    check_opens(block, n, NULL);
    ((dstok__head *)(void *)block)->options |= DSTOK__T_TRIM;
    check_opens(block, n, "the text of a token");
    free(block);
}

/* A table of pairs that a search could not end in, or that merges with nobody. */
static void test_packed(void) {
    size_t n;
    uint8_t *block = copy_block(0, &n);
    dstok__head *h = (dstok__head *)(void *)block;
    uint64_t *slots = section(block, DSTOK__S_PACKED), cap = h->sections[DSTOK__S_PACKED].n,
             *last = slots + cap - 1;
    CHECK(cap >= 8);
    check_opens(block, n, NULL);
    uint64_t one = *last, id = h->n_ids - 1, nobody = DSTOK__PACKED_IDS;
    *last = id << 44 | id << 24;
    check_opens(block, n, NULL);
    *last = nobody << 44 | id << 24;
    check_opens(block, n, "an id of a merge");
    *last = id << 44 | nobody << 24;
    check_opens(block, n, "an id of a merge");
    *last = one;
    for (uint64_t i = 0; i < cap; i += 8) {
        slots[i + 6] = id << 44 | 2;
        slots[i + 7] = id << 44 | 1;
    }
    check_opens(block, n, "too full");
    *last = one;
    slots[cap - 2] = one;
    check_opens(block, n, NULL);
    free(block);
}

/* A template gives ids to the caller as they stand. */
static void test_template(void) {
    size_t n;
    uint8_t *block = copy_block(0, &n);
    const dstok__head *h = (const dstok__head *)(const void *)block;
    uint32_t *ids = section(block, DSTOK__S_TEMPLATE);
    CHECK_EQ(h->sections[DSTOK__S_TEMPLATE].n, 2);
    CHECK(ids[0] < h->n_ids);
    ids[0] = h->n_ids - 1;
    check_opens(block, n, NULL);
    ids[0] = h->n_ids;
    check_opens(block, n, "an id of the template");
    free(block);
}

/* Ranks of bytes that no product has, and a table of them that is too short; a token at the very end. */
static void test_byte_pairs(void) {
    size_t n;
    uint8_t *block = copy_block(0, &n);
    dstok__head *h = (dstok__head *)(void *)block;
    int32_t *of_bytes = section(block, DSTOK__S_BYTE_PAIRS);
    uint64_t products = h->sections[DSTOK__S_PRODUCTS].n;
    int32_t ranks = (int32_t)(products > 0 ? products : h->n_ids);
    of_bytes[0] = (ranks - 1) << 5 | 31;
    check_opens(block, n, NULL);
    of_bytes[0] = ranks << 5;
    check_opens(block, n, "an id that is not there");
    of_bytes[0] = -1;
    check_opens(block, n, "an id that is not there");
    of_bytes[0] = INT32_MAX;
    check_opens(block, n, NULL);
    h->sections[DSTOK__S_BYTE_PAIRS].n--;
    check_opens(block, n, "the length of a table");
    h->sections[DSTOK__S_BYTE_PAIRS].n++;
    h->sections[DSTOK__S_STRINGS].n = n - h->sections[DSTOK__S_STRINGS].at - 15;
    check_opens(block, n, "its strings are at its end");
    free(block);
}

/* Rows and ids of atoms that are not there. */
static void test_atoms(void) {
    size_t n;
    uint8_t *block = copy_block(0, &n);
    uint16_t *pages = section(block, DSTOK__S_ATOM_PAGES);
    uint32_t *ids = section(block, DSTOK__S_ATOMS);
    CHECK_EQ(((dstok__head *)(void *)block)->sections[DSTOK__S_ATOM_PAGES].n, DSTOK__ATOM_PAGES);
    pages[7] = UINT16_MAX;
    check_opens(block, n, "the atoms");
    pages[7] = 0;
    ids[5] = ((dstok__head *)(void *)block)->n_ids;
    check_opens(block, n, "the atoms");
    ids[5] = DSTOK__NO_ID;
    check_opens(block, n, NULL);
    ((dstok__head *)(void *)block)->sections[DSTOK__S_ATOM_PAGES].n--;
    check_opens(block, n, "the tables of atoms");
    free(block);
}

/* Tables of cuts that are too short, or one without the other. */
static void test_cuts(void) {
    size_t n;
    uint8_t *block = copy_block(0, &n);
    dstok__place *s = ((dstok__head *)(void *)block)->sections;
    const dstok__place whole = s[DSTOK__S_CUT_PAIRS], parts = s[DSTOK__S_CUT_PARTS];
    CHECK_EQ(parts.n, DSTOK__PART_WORDS);
    s[DSTOK__S_CUT_PARTS].n--;
    check_opens(block, n, "the tables of cuts");
    s[DSTOK__S_CUT_PARTS].n = 0;
    check_opens(block, n, "the tables of cuts");
    s[DSTOK__S_CUT_PAIRS].n = 0; /* now the atoms lack theirs */
    check_opens(block, n, "the tables of atoms");
    s[DSTOK__S_CUT_PARTS] = parts;
    check_opens(block, n, "the tables of cuts");
    s[DSTOK__S_CUT_PAIRS].n = whole.n - 1;
    check_opens(block, n, "the tables of cuts");
    s[DSTOK__S_CUT_PAIRS].n = whole.n;
    check_opens(block, n, NULL);
    free(block);
}

/* Two raw bytes that are no character, merged to what is taken apart again: the report names a byte and reads no
 * further. */
static void test_raw_bytes(void) {
    size_t n;
    uint8_t *block = copy_block(1, &n), *flags = section(block, DSTOK__S_FLAGS);
    dstok__head *h = (dstok__head *)(void *)block;
    dstok__pair *table = section(block, DSTOK__S_PAIRS);
    size_t cap = (size_t)h->sections[DSTOK__S_PAIRS].n, i = dstok__pair_home(UINT64_MAX, h->seed, cap);
    while (table[i].rank != DSTOK__NO_RANK) i = i + 1 == cap ? 0 : i + 1;
    table[i] = (dstok__pair){UINT64_MAX, 0, 4};
    flags[4] |= DSTOK__TOKEN_UNUSED;
    h->model = DSTOK__MODEL_SCORES;
    h->options = DSTOK__T_CHAR_ATOMS | DSTOK__T_UNUSED;
    seal(block, n);
    dstok_tokenizer *tok = NULL;
    dstok_error err = {.text = ""};
    CHECK_EQ(load(block, n, NULL, &tok, &err), DSTOK_OK);
    dstok_encoder *enc = fixture_encoder(tok);
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens t = {0};
    char *text = malloc(2); /* ends with its memory */
    if (text == NULL) exit(1);
    memset(text, 0xF0, 2);
    o.invalid = DSTOK_INVALID_RAW;
    o.strict = 1;
    CHECK_EQ(dstok_encode_view(enc, text, 2, &o, &t, &err), DSTOK_E_UNKNOWN);
    CHECK(strstr(err.text, "byte 0xF0") != NULL);
    free(text);
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
    free(block);
}

static void test_versions(void) {
    dstok_tokenizer *tok = load_source(0), *out = NULL;
    size_t n;
    const void *bytes = dstok_tokenizer_compiled(tok, &n);
    uint8_t *block = malloc(n);
    dstok_error err = {.text = ""};
    if (block == NULL) exit(1);
    memcpy(block, bytes, n);
    ((dstok__head *)(void *)block)->version++;
    seal(block, n);
    CHECK_EQ(load(block, n, NULL, &out, &err), DSTOK_E_VERSION);
    memcpy(block, bytes, n);
    ((dstok__head *)(void *)block)->order = 0x04030201;
    CHECK_EQ(load(block, n, NULL, &out, &err), DSTOK_E_UNSUPPORTED);
    memcpy(block, bytes, n);
    block[n - 1] ^= 1;
    CHECK_EQ(load(block, n, NULL, &out, &err), DSTOK_E_CHECKSUM);
    free(block);
    dstok_tokenizer_free(tok);
}

/* The embedded vocabulary is what its source compiles to. */
static void test_default(void) {
    dstok_tokenizer *embedded = NULL, *source = NULL;
    size_t n, m;
    if (dstok_tokenizer_load_default(NULL, &embedded, NULL) != DSTOK_OK) return; /* built without it */
    CHECK_EQ(dstok_tokenizer_load(DSTOK_SOURCE_DIR "/data/vocab/default.tokenizer.json", NULL, &source, NULL),
             DSTOK_OK);
    const void *a = dstok_tokenizer_compiled(embedded, &n), *b = dstok_tokenizer_compiled(source, &m);
    CHECK(n == m && memcmp(a, b, n) == 0);
    dstok_tokenizer_free(embedded);
    dstok_tokenizer_free(source);
}

int main(void) {
    test_round_trip();
    test_file();
    test_versions();
    test_head();
    test_mutants();
    test_contradictions();
    test_trimmed();
    test_packed();
    test_template();
    test_byte_pairs();
    test_atoms();
    test_cuts();
    test_raw_bytes();
    test_default();
    return t_end();
}
