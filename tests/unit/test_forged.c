/* SPDX-License-Identifier: MIT */
/* Compiled vocabularies with one number that leads nowhere and a checksum that is right: none opens. */
#include "compiled_util.h"

#define N_IDS UINT32_C(0x7EADBEEF) /* as a value: one more than the last text has */

/* A number of 32 bits at a byte of the block. */
static void check_number(int which, size_t at, uint32_t value, const char *says) {
    int before = t_failures;
    size_t n;
    uint8_t *block = copy_block(which, &n);
    const dstok__head *h = (const dstok__head *)(const void *)block;
    if (value == N_IDS) value = h->n_ids + h->n_bare;
    memcpy(block + at, &value, sizeof value);
    check_opens(block, n, says);
    if (t_failures > before) fprintf(stderr, "  vocabulary %d, byte %zu, value %u\n", which, at, value);
    free(block);
}

static void test_head_numbers(void) {
    static const struct {
        size_t at;
        uint32_t value;
        const char *says;
    } numbers[] = {
        {offsetof(dstok__head, n_ids), DSTOK__MAX_IDS + 1, "the number of ids"},
        {offsetof(dstok__head, n_bare), 1, "the number of ids"},
        {offsetof(dstok__head, byte_ids['A']), N_IDS, "the id of a byte"},
        {offsetof(dstok__head, byte_ids['A']), DSTOK__NO_ID, NULL},
        {offsetof(dstok__head, fallback_ids[255]), N_IDS, "the id of a byte"},
        {offsetof(dstok__head, unk_id), N_IDS, "the id of the unknown token"},
        {offsetof(dstok__head, prefix.n), DSTOK__MAX_AFFIX + 1, "a prefix or suffix"},
        {offsetof(dstok__head, prefix.at), UINT32_MAX, "a prefix or suffix"},
        {offsetof(dstok__head, suffix.n), DSTOK__MAX_AFFIX + 1, "a prefix or suffix"},
        {offsetof(dstok__head, suffix.at), UINT32_MAX, "a prefix or suffix"},
        {offsetof(dstok__head, plan.strip_char), 0x110000, "its model or decoder"},
        {offsetof(dstok__head, plan.first_drops), 0x110000, "its model or decoder"},
        {offsetof(dstok__head, plan.last_suffix_n), 1, "its model or decoder"},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        check_number(0, numbers[i].at, numbers[i].value, numbers[i].says);
}

/* A section with n elements; n < 0: so many fewer than it has. */
static void check_count(dstok__section which, int n, const char *says) {
    int before = t_failures;
    size_t size;
    uint8_t *block = copy_block(0, &size);
    dstok__place *place = &((dstok__head *)(void *)block)->sections[which];
    CHECK(place->n > 1);
    if (n >= 0) place->at = 0; /* where there is room for more */
    place->n = n < 0 ? place->n - (uint64_t)-n : (uint64_t)n;
    check_opens(block, size, says);
    if (t_failures > before) fprintf(stderr, "  section %d, %d elements\n", (int)which, n);
    free(block);
}

/* A section that has not as many elements as another part says, or as any has. */
static void test_counts(void) {
    static const struct {
        dstok__section section;
        const char *says;
    } counts[] = {
        {DSTOK__S_TOKENS, "the number of ids"},     {DSTOK__S_TEXTS, "the number of ids"},
        {DSTOK__S_FLAGS, "the number of ids"},      {DSTOK__S_WORDS, "the length of a table"},
        {DSTOK__S_PACKED, "the length of a table"}, {DSTOK__S_JOINS, "the length of the tables of cuts"},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        check_count(counts[i].section, -1, counts[i].says);
    check_count(DSTOK__S_SLOTS, 0, "the length of a table");
}

/* Sections that lie elsewhere, and bytes behind them all. */
static void test_places(void) {
    size_t n;
    uint8_t *block = copy_block(0, &n), *longer = calloc(1, n + 8);
    dstok__head *h = (dstok__head *)(void *)block;
    if (longer == NULL) exit(1);
    memcpy(longer, block, n);
    check_opens(longer, n + 8, "it is longer than it says");
    dstok__place place = h->sections[DSTOK__S_FLAGS];
    h->sections[DSTOK__S_FLAGS].at = place.at - 4;
    check_opens(block, n, "a section lies outside of it");
    h->sections[DSTOK__S_FLAGS].at = (n - place.n + 8) / 8 * 8;
    check_opens(block, n, "a section lies outside of it");
    h->sections[DSTOK__S_FLAGS].at = place.at - 8;
    check_opens(block, n, NULL);
    free(longer);
    free(block);
}

/* Lists that would not fit into what is made of them. */
static void test_long_lists(void) {
    static const dstok__section lists[] = {DSTOK__S_NORMS, DSTOK__S_STEPS, DSTOK__S_TEMPLATE};
    static const size_t most[] = {DSTOK__MAX_NORMS, DSTOK__MAX_STEPS, DSTOK__MAX_TEMPLATE};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        size_t n;
        uint8_t *block = copy_block(0, &n);
        ((dstok__head *)(void *)block)->sections[lists[i]] = (dstok__place){0, most[i] + 1};
        check_opens(block, n, "the length of a list");
        free(block);
    }
}

/* Elements of sections. */
static void test_elements(void) {
    static const struct {
        int which;
        dstok__section section;
        size_t at; /* byte of the section */
        uint32_t value;
        const char *says;
    } elements[] = {
        {0, DSTOK__S_TOKENS, 8 * sizeof(dstok__ref), UINT32_MAX, "outside of its strings"},
        {0, DSTOK__S_TEXTS, 8 * sizeof(dstok__ref), UINT32_MAX, "outside of its strings"},
        {0, DSTOK__S_SLOTS, offsetof(dstok__slot, id), N_IDS, "the table of texts names an id that is not"},
        {0, DSTOK__S_TEMPLATE, 0, N_IDS, "an id of the template"},
        {0, DSTOK__S_ADDED, offsetof(dstok__added_row, id), N_IDS, "an added token"},
        {0, DSTOK__S_RAW, offsetof(dstok__added_row, text.n), 0, "an added token"},
        {0, DSTOK__S_NORMALIZED, offsetof(dstok__added_row, text.at), UINT32_MAX, "an added token"},
        {0, DSTOK__S_NORMS, offsetof(dstok__op_row, kind), DSTOK__NORM_SPM + 1, "a normaliser"},
        {0, DSTOK__S_NORMS, offsetof(dstok__op_row, content.at), UINT32_MAX, "a normaliser"},
        {0, DSTOK__S_STEPS, offsetof(dstok__op_row, kind), DSTOK__STEP_BYTE_MAP + 1, "a pretokenizer step"},
        {0, DSTOK__S_STEPS, offsetof(dstok__op_row, flags), DSTOK__CONTIGUOUS + 1, "a pretokenizer step"},
        {0, DSTOK__S_WORDS, offsetof(dstok__ref, at), UINT32_MAX, "a description"},
        {1, DSTOK__S_PAIRS, offsetof(dstok__pair, product), N_IDS,
         "the table of pairs names an id that is not"},
        {2, DSTOK__S_PRODUCTS, 0, N_IDS, "an id of a merge"},
        {2, DSTOK__S_PRODUCTS, 0, 0, NULL},
    };
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        size_t n, at = elements[i].at;
        uint8_t *block = copy_block(elements[i].which, &n);
        const dstok__place *place =
            &((const dstok__head *)(const void *)block)->sections[elements[i].section];
        const dstok__pair *slots = section(block, DSTOK__S_PAIRS);
        CHECK(place->n > 0);
        for (size_t k = 0; elements[i].section == DSTOK__S_PAIRS && slots[k].rank == DSTOK__NO_RANK; k++)
            at += sizeof *slots; /* to one that is full */
        check_number(elements[i].which, (size_t)place->at + at, elements[i].value, elements[i].says);
        free(block);
    }
}

/* A rank in the packed table without a product: it is an id there, or has no place in the list. */
static void test_ranks(void) {
    for (int which = 0; which <= 2; which += 2) {
        size_t n;
        uint8_t *block = copy_block(which, &n);
        const dstok__head *h = (const dstok__head *)(const void *)block;
        uint64_t *slot = section(block, DSTOK__S_PACKED), products = h->sections[DSTOK__S_PRODUCTS].n;
        CHECK(which == 0 ? products == 0 : products == 2);
        while (*slot == DSTOK__PACKED_FREE) slot++;
        *slot = *slot >> 24 << 24 | (which == 0 ? h->n_ids : products);
        check_opens(block, n, "the table of pairs names an id that is not");
        *slot -= 1;
        check_opens(block, n, NULL);
        free(block);
    }
}

int main(void) {
    test_head_numbers();
    test_counts();
    test_places();
    test_long_lists();
    test_elements();
    test_ranks();
    return t_end();
}
