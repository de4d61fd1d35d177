/* SPDX-License-Identifier: MIT */
/* Characters that merging may start from: what must keep one from it, and that most others are. The ids are
 * compared with what merging from bytes gives, worked out by hand. */
#include "../../tokenizer/bpe/model.h"
#include "../harness/t.h"
#include "../oracle/fixture.h"

#define A  "\xE4\xB8\xA0" /* no character shares a byte with another */
#define A1 "\xE4"
#define A2 "\xB8"
#define A3 "\xA0"
#define B  "\xE5\x9B\x81"
#define B1 "\xE5"
#define B2 "\x9B"
#define B3 "\x81"

typedef const char *const merge[2];

static size_t symbols_of(const dstok_tokenizer *tok, const char *text) {
    uint32_t ids[64];
    return dstok__atoms_of(&tok->t.atoms, tok->t.head->byte_ids, (const uint8_t *)text, strlen(text), ids);
}

/* The ids, with and without a cache; and what merging starts from. */
static void check(const char *what, const merge *merges, size_t n_merges, const char *text, size_t symbols,
                  const uint32_t *want, size_t want_n) {
    fixture f = {.merges = merges, .n_merges = n_merges};
    dstok_tokenizer *tok = fixture_load(&f, NULL);
    CHECK_EQ(symbols_of(tok, text), symbols);
    for (int round = 0; round < 2; round++) {
        dstok_encoder_options options = DSTOK_ENCODER_OPTIONS_INIT;
        dstok_encoder *enc;
        if (round == 1) options.cache_bytes = 0;
        CHECK_EQ(dstok_encoder_new_with(tok, &options, &enc, NULL), DSTOK_OK);
        fixture_check_ids(enc, text, DSTOK_SPECIAL_SAFE, want, want_n, what);
        dstok_encoder_free(enc);
    }
    dstok_tokenizer_free(tok);
}

#define N(list) (sizeof(list) / sizeof *(list))

/* 256 to 259: A whole, then two characters that join. */
static void test_atoms(void) {
    static merge merges[] = {{A1, A2}, {A1 A2, A3}, {B2, B3}, {B1, B2 B3}, {A, B}};
    check("two atoms", merges, N(merges), A B, 2, (const uint32_t[]){260}, 1);
    check("and a letter", merges, N(merges), "x" A, 2, (const uint32_t[]){'x', 257}, 2);
    check("no token of its own", merges, N(merges), A "\xE4\xB8\x81", 4, (const uint32_t[]){257, 256, 0x81},
          3);
}

/* A token takes its last byte before it is whole: it never is. */
static void test_torn_behind(void) {
    static merge merges[] = {{A3, B1}, {A1, A2}, {A1 A2, A3}, {B2, B3}, {B1, B2 B3}};
    check("torn", merges, N(merges), A B, 6, (const uint32_t[]){257, 256, 259}, 3);
    check("not here", merges, N(merges), A A, 2, (const uint32_t[]){258, 258}, 2);
}

static void test_torn_before(void) {
    static merge merges[] = {{"x", A1}, {A1, A2}, {A1 A2, A3}};
    check("torn", merges, N(merges), "x" A, 4, (const uint32_t[]){256, 0xB8, 0xA0}, 3);
    check("not here", merges, N(merges), "y" A, 2, (const uint32_t[]){'y', 258}, 2);
}

/* Its token joins with the letter before at a rank below the one that makes it: until it is there,
 * something else has taken the letter. */
static void test_rank(void) {
    static merge merges[] = {{A1, A2}, {"a", A}, {"c", "a"}, {A1 A2, A3}};
    check("late", merges, N(merges), "ca" A, 5, (const uint32_t[]){258, 259}, 2);
    check("alone", merges, N(merges), "a" A, 4, (const uint32_t[]){257}, 1);
    static merge early[] = {{A1, A2}, {A1 A2, A3}, {"a", A}, {"c", "a"}};
    check("early", early, N(early), "ca" A, 3, (const uint32_t[]){'c', 258}, 2);
}

/* ... and the same with the rank of the first of its two merges. */
static void test_first_rank(void) {
    static merge merges[] = {{A1 A2, A3}, {"a", A}, {"c", "a"}, {A1, A2}};
    check("late", merges, N(merges), "ca" A, 5, (const uint32_t[]){258, 256}, 2);
}

static void test_default(void) {
    static const char text[] = "\xE6\x88\x91\xE7\x88\xB1\xE7\xBC\x96\xE7\xA8\x8B"; /* wo ai bian cheng */
    dstok_tokenizer *tok;
    size_t n = 0, n_atoms = 0;
    CHECK_EQ(dstok_tokenizer_load_default(NULL, &tok, NULL), DSTOK_OK);
    CHECK_EQ(symbols_of(tok, text), 4);
    for (uint32_t id = 0; id < tok->n_ids; id++)
        n += tok->t.texts[id].n == 3 && (uint8_t)dstok__tables_string(&tok->t, tok->t.texts[id])[0] >= 0xE0;
    for (size_t i = 0; i < dstok__tables_n(&tok->t, DSTOK__S_ATOMS); i++)
        n_atoms += tok->t.atoms.ids[i] != DSTOK__NO_ID;
    printf("built-in: %zu tokens of three bytes from E0 on, %zu atoms\n", n, n_atoms);
    CHECK(n_atoms > n / 2 && n_atoms <= n);
    dstok_tokenizer_free(tok);
}

int main(void) {
    test_atoms();
    test_torn_behind();
    test_torn_before();
    test_rank();
    test_first_rank();
    test_default();
    return t_end();
}
