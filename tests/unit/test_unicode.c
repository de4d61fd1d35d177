/* SPDX-License-Identifier: MIT */
/* The Unicode tables: every property of every code point against hashes made without the tables. */
#include "../../data/unicode/kinds.h"
#include "../../data/unicode/unicode.h"
#include "../../tokenizer/text/utf8.h"
#include "../harness/t.h"
#include "unicode_golden.h"

#include <xxhash.h>

enum { N_POINTS = DSTOK_UC_MAX + 1 };

typedef struct property {
    const char *name;
    unsigned categories; /* a set of categories, or 0: then flag tells */
    unsigned flag;
    uint64_t golden;
} property;

static const property properties[] = {
    {"L", DSTOK_UC_L, 0, GOLDEN_L},
    {"M", DSTOK_UC_M, 0, GOLDEN_M},
    {"N", DSTOK_UC_N, 0, GOLDEN_N},
    {"P", DSTOK_UC_P, 0, GOLDEN_P},
    {"S", DSTOK_UC_S, 0, GOLDEN_S},
    {"Z", DSTOK_UC_Z, 0, GOLDEN_Z},
    {"C", DSTOK_UC_C, 0, GOLDEN_C},
    {"Lu", DSTOK_UC_LU, 0, GOLDEN_LU},
    {"Ll", DSTOK_UC_LL, 0, GOLDEN_LL},
    {"Lt", DSTOK_UC_LT, 0, GOLDEN_LT},
    {"Lm", DSTOK_UC_LM, 0, GOLDEN_LM},
    {"Lo", DSTOK_UC_LO, 0, GOLDEN_LO},
    {"Nd", DSTOK_UC_ND, 0, GOLDEN_ND},
    {"space", 0, DSTOK_UC_SPACE, GOLDEN_SPACE},
    {"word", 0, DSTOK_UC_WORD, GOLDEN_WORD},
    {"han", 0, DSTOK_UC_HAN, GOLDEN_HAN},
    {"in 9.0", 0, DSTOK_UC_IN_9, GOLDEN_IN_9},
    {"folds", 0, DSTOK_UC_FOLDS, GOLDEN_FOLDS},
    {"NFC inert", 0, DSTOK_UC_NFC_INERT, GOLDEN_NFC_INERT},
    {"NFD inert", 0, DSTOK_UC_NFD_INERT, GOLDEN_NFD_INERT},
    {"NFKC inert", 0, DSTOK_UC_NFKC_INERT, GOLDEN_NFKC_INERT},
    {"NFKD inert", 0, DSTOK_UC_NFKD_INERT, GOLDEN_NFKD_INERT},
    {"NFC second", 0, DSTOK_UC_NFC_SECOND, GOLDEN_NFC_SECOND},
    {"quiet mark", 0, DSTOK_UC_QUIET_MARK, GOLDEN_QUIET_MARK},
};

static void test_properties(void) {
    static uint8_t bits[N_POINTS / 8];
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        const property *p = &properties[i];
        memset(bits, 0, sizeof bits);
        for (uint32_t cp = 0; cp < N_POINTS; cp++) {
            bool has =
                p->categories != 0 ? dstok__uc_in(cp, p->categories) : (dstok__uc_record(cp) & p->flag) != 0;
            if (has) bits[cp >> 3] = (uint8_t)(bits[cp >> 3] | 1u << (cp & 7));
        }
        bool same = XXH64(bits, sizeof bits, 0) == p->golden;
        CHECK(same);
        if (!same) fprintf(stderr, "property %s differs\n", p->name);
    }
}

static void test_categories(void) {
    static uint8_t gc[N_POINTS];
    for (uint32_t cp = 0; cp < N_POINTS; cp++) gc[cp] = (uint8_t)(dstok__uc_record(cp) & DSTOK_UC_GC_MASK);
    CHECK(XXH64(gc, sizeof gc, 0) == GOLDEN_GC);
}

static void test_scripts(void) {
    static uint8_t scripts[N_POINTS];
    for (uint32_t cp = 0; cp < N_POINTS; cp++) scripts[cp] = (uint8_t)dstok__uc_script(cp);
    CHECK(XXH64(scripts, sizeof scripts, 0) == GOLDEN_SCRIPT);
    CHECK_EQ(dstok__uc_script(' '), 0);
    CHECK_EQ(dstok__uc_script(0x560), 0); /* Armenian, since 11.0 */
    CHECK_EQ(dstok__uc_script(DSTOK_UC_MAX), 0);
    CHECK_EQ(dstok__uc_script(0x30FC), dstok__uc_script(0x4E00));
    CHECK_EQ(dstok__uc_script(0x3042), dstok__uc_script(0x4E00));
    CHECK(dstok__uc_script('a') != dstok__uc_script('!') && dstok__uc_script('!') != 0);
}

/* The kind that a category stands for, as DSTOK_KIND_... */
static unsigned kind_of(uint32_t cp) {
    if (dstok__uc_is_space(cp)) return DSTOK_KIND_BLANK;
    if (dstok__uc_in(cp, DSTOK_UC_LU | DSTOK_UC_LT)) return DSTOK_KIND_UPPER;
    if (dstok__uc_in(cp, DSTOK_UC_LL)) return DSTOK_KIND_LOWER;
    if (dstok__uc_in(cp, DSTOK_UC_N)) return DSTOK_KIND_NUMBER;
    bool is_east = (cp >= 0x3040 && cp <= 0x30FF) || (cp >= 0x4E00 && cp <= 0x9FA5);
    if (dstok__uc_in(cp, DSTOK_UC_L)) return is_east ? DSTOK_KIND_EAST_CASELESS : DSTOK_KIND_CASELESS;
    if (dstok__uc_in(cp, DSTOK_UC_M)) return is_east ? DSTOK_KIND_EAST_MARK : DSTOK_KIND_MARK;
    if (dstok__uc_in(cp, DSTOK_UC_P | DSTOK_UC_S)) return is_east ? DSTOK_KIND_EAST_SIGN : DSTOK_KIND_SIGN;
    return is_east ? DSTOK_KIND_EAST_OTHER : DSTOK_KIND_OTHER;
}

static void test_kinds(void) {
    uint8_t c[4];
    int wrong = 0;
    for (uint32_t cp = 0x80; cp <= DSTOK_UC_MAX; cp++) {
        if (cp == 0xD800) cp = 0xE000;
        size_t n = dstok__utf8_put(c, cp);
        unsigned kind = n == 2 ? dstok__kind_of_2(c) : n == 3 ? dstok__kind_of_3(c) : dstok__kind_of_4(c);
        wrong += kind != kind_of(cp);
    }
    CHECK_EQ(wrong, 0);
}

static void test_folds(void) {
    static uint8_t words[4 * N_POINTS];
    int wrong = 0;
    for (uint32_t cp = 0; cp < N_POINTS; cp++) {
        uint32_t to = dstok__uc_fold(cp);
        for (unsigned i = 0; i < 4; i++) words[4 * cp + i] = (uint8_t)(to >> (8 * i));
        if (to != cp && (dstok__uc_record(to) & DSTOK_UC_FOLDS) == 0) wrong++;
    }
    CHECK(XXH64(words, sizeof words, 0) == GOLDEN_FOLD);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(dstok__uc_fold('K'), 'k');
    CHECK_EQ(dstok__uc_fold(0x212A), 'k');    /* kelvin sign */
    CHECK_EQ(dstok__uc_fold(0x17F), 's');     /* long s */
    CHECK_EQ(dstok__uc_fold(0x130), 0x130);   /* has a full folding only */
    CHECK_EQ(dstok__uc_fold(0x13A0), 0x13A0); /* Cherokee folds to its capitals */
    CHECK_EQ(dstok__uc_fold(0xAB70), 0x13A0);
    CHECK_EQ(dstok__uc_fold(0x1FD3), 0x390);    /* since 15.1 */
    CHECK_EQ(dstok__uc_fold(0x10D50), 0x10D70); /* Garay, since 16.0 */
    CHECK_EQ(dstok__uc_fold(0xA7DC), 0x19B);
    CHECK_EQ(dstok__uc_fold(DSTOK_UC_MAX), DSTOK_UC_MAX);
}

/* The differences between engines and versions that cost others bugs. */
static void test_known_points(void) {
    const uint32_t not_space[] = {0x180E, 0x200B, 0x2060, 0xFEFF, 0x1C, 0x1D, 0x1E, 0x1F};
    for (size_t i = 0; i < sizeof not_space / sizeof *not_space; i++)
        CHECK(!dstok__uc_is_space(not_space[i]));
    CHECK(dstok__uc_is_space(0x85) && dstok__uc_is_space(0xA0) && dstok__uc_is_space(0x3000));
    CHECK(dstok__uc_is_word(0x200C) && dstok__uc_is_word(0x200D)); /* joiners: Rust yes, Oniguruma no */
    CHECK(!dstok__uc_is_word(0xB2) && !dstok__uc_is_word(0xBD)); /* superscripts, fractions: the other way */
    CHECK(dstok__uc_is_word('_') && dstok__uc_is_word(0x24B6) && dstok__uc_is_word(0x301));
    CHECK(dstok__uc_in(0x10D4A, DSTOK_UC_L));           /* Garay, 16.0 */
    CHECK(!dstok__uc_in(0xA7CE, DSTOK_UC_L));           /* 17.0 */
    CHECK(!(dstok__uc_record(0x32FF) & DSTOK_UC_IN_9)); /* square era name Reiwa, 12.1 */
    CHECK((dstok__uc_record(0x3007) & DSTOK_UC_HAN) && !(dstok__uc_record(0x3006) & DSTOK_UC_HAN));
}

int main(void) {
    test_properties();
    test_categories();
    test_scripts();
    test_kinds();
    test_folds();
    test_known_points();
    return t_end();
}
