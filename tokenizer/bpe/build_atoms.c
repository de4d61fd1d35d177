/* SPDX-License-Identifier: MIT */
/* Which characters are atoms (atoms.h). */
#include "build.h"

/* Ranks by token: of the merge that makes it, and the least of those that it takes part in. */
typedef struct uses {
    uint32_t *made, *used;
} uses;

static void note_uses(uses *u, const dstok__pair *slots, size_t cap) {
    for (size_t i = 0; i < cap; i++) {
        const dstok__pair *p = &slots[i];
        if (p->rank == DSTOK__NO_RANK) continue;
        uint32_t *left = &u->used[p->key >> 32], *right = &u->used[(uint32_t)p->key];
        u->made[p->product] = p->rank;
        *left = p->rank < *left ? p->rank : *left;
        *right = p->rank < *right ? p->rank : *right;
    }
}

/* The last rank of the merges that make a token of three bytes. */
static uint32_t last_made(const uses *u, const dstok__split *lasts, uint32_t id) {
    uint32_t made = u->made[id];
    const uint32_t parts[2] = {lasts[id].left, lasts[id].right};
    for (unsigned i = 0; i < 2; i++) {
        uint32_t rank = u->made[parts[i]];
        if (rank != DSTOK__NO_RANK && rank > made) made = rank; /* a single byte is not made */
    }
    return made;
}

static bool is_character(const uint8_t *text, size_t n) {
    return n == 3 && text[0] >= 0xE0 && text[0] < 0xF0 && (text[1] & 0xC0) == 0x80 &&
           (text[2] & 0xC0) == 0x80;
}

/* The row of a character's page; it is made where it is missing. */
static dstok_status row_of(dstok__build *b, unsigned page, uint32_t **row) {
    dstok__buf *atoms = &b->sections[DSTOK__S_ATOMS];
    uint16_t *pages = (uint16_t *)(void *)b->sections[DSTOK__S_ATOM_PAGES].data;
    if (pages[page] == 0) {
        uint32_t empty[DSTOK__ATOM_PAGE];
        for (unsigned i = 0; i < DSTOK__ATOM_PAGE; i++) empty[i] = DSTOK__NO_ID;
        pages[page] = (uint16_t)(atoms->len / sizeof empty);
        DSTOK_TRY(dstok__buf_append(atoms, empty, sizeof empty));
    }
    *row = (uint32_t *)(void *)atoms->data + (size_t)pages[page] * DSTOK__ATOM_PAGE;
    return DSTOK_OK;
}

static dstok_status put_atoms(dstok__build *b, const uses *u, const dstok__split *lasts) {
    const dstok__ref *texts = (const dstok__ref *)(const void *)b->sections[DSTOK__S_TEXTS].data;
    uint32_t *row;
    DSTOK_TRY(dstok__build_zeroed(b, DSTOK__S_ATOM_PAGES, DSTOK__ATOM_PAGES, sizeof(uint16_t)));
    DSTOK_TRY(
        row_of(b, 0, &row)); /* the row of all pages without one; no character of three bytes is in page 0 */
    for (uint32_t id = 0; id < b->head.n_ids; id++) {
        const uint8_t *text = b->sections[DSTOK__S_STRINGS].data + texts[id].at;
        if (!is_character(text, texts[id].n) || !(dstok__build_flags(b)[id] & DSTOK__TOKEN_WHOLE)) continue;
        if (last_made(u, lasts, id) > u->used[id]) continue;
        DSTOK_TRY(row_of(b, dstok__atom_page(text), &row));
        row[text[2] & 0x3F] = id;
    }
    return DSTOK_OK;
}

dstok_status dstok__build_atoms(dstok__build *b, const dstok__split *lasts) {
    const dstok__buf *plain = &b->sections[DSTOK__S_PAIRS];
    size_t n = b->head.n_ids;
    uses u = {dstok__alloc_array(b->al, n, sizeof *u.made), dstok__alloc_array(b->al, n, sizeof *u.used)};
    dstok_status status = DSTOK_E_NOMEM;
    if (u.made != NULL && u.used != NULL) {
        for (size_t i = 0; i < n; i++) u.made[i] = u.used[i] = DSTOK__NO_RANK;
        note_uses(&u, (const dstok__pair *)(const void *)plain->data, plain->len / sizeof(dstok__pair));
        status = put_atoms(b, &u, lasts);
    }
    dstok__free(b->al, u.made, n * sizeof *u.made);
    dstok__free(b->al, u.used, n * sizeof *u.used);
    return status;
}
