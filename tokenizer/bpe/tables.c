/* SPDX-License-Identifier: MIT */
/* Opening the tables of a tokenizer: every number that leads somewhere is checked once, so that nothing need
 * be later. */
#include "tables.h"

#include "../../simd/simd.h"

#include <string.h>

/* A search in a hash table takes at most so many steps; a table with a longer run of full slots was not made
 * by us. */
#define MAX_RUN 65536u

static const size_t sizes[DSTOK__N_SECTIONS] = DSTOK__SECTION_SIZES;

bool dstok__is_tables(const void *data, size_t n) {
    return n >= 8 && memcmp(data, DSTOK__MAGIC, 8) == 0;
}

uint64_t dstok__text_hash(const void *text, size_t n, uint64_t seed) {
    uint8_t copy[16] = {0};
    if (n == 0 || n > DSTOK__KEY_BYTES) return dstok__hash(text, n, seed);
    return dstok__key_text_hash(dstok__key_of(memcpy(copy, text, n), n), seed);
}

uint32_t dstok__tables_guess(const dstok__tables *t, uint64_t hash) {
    size_t cap = dstok__tables_n(t, DSTOK__S_SLOTS);
    const dstok__slot *slot = dstok__tables_slot(t, hash);
    while (slot->id != DSTOK__NO_ID && slot->tag != (uint32_t)hash)
        slot = slot + 1 == t->slots + cap ? t->slots : slot + 1;
    return slot->id;
}

uint32_t dstok__tables_find(const dstok__tables *t, const void *text, size_t n) {
    uint64_t hash = dstok__text_hash(text, n, t->head->seed);
    size_t cap = dstok__tables_n(t, DSTOK__S_SLOTS);
    for (size_t i = dstok__slot_home(hash, cap);; i = i + 1 == cap ? 0 : i + 1) {
        const dstok__slot *slot = &t->slots[i];
        if (slot->id == DSTOK__NO_ID) return DSTOK__NO_ID;
        if (slot->tag != (uint32_t)hash) continue;
        dstok__ref ref = t->texts[slot->id];
        if (ref.n == n && memcmp(t->strings + ref.at, text, n) == 0) return slot->id;
    }
}

uint32_t dstok__tables_find_key(const dstok__tables *t, dstok__key key, uint64_t hash) {
    size_t cap = dstok__tables_n(t, DSTOK__S_SLOTS), n = (size_t)(key.high >> 56);
    const dstok__slot *slot = dstok__tables_slot(t, hash);
    for (; slot->id != DSTOK__NO_ID; slot = slot + 1 == t->slots + cap ? t->slots : slot + 1) {
        if (slot->tag != (uint32_t)hash) continue;
        dstok__ref ref = t->texts[slot->id];
        dstok__key found = dstok__key_of(t->strings + ref.at, n);
        if (ref.n == n && found.low == key.low && found.high == key.high) return slot->id;
    }
    return DSTOK__NO_ID;
}

/* ---- checks ---- */

typedef struct opening {
    dstok__tables *t;
    size_t n;
    dstok_error *err;
} opening;

static dstok_status bad(const opening *o, const char *what) {
    return dstok__fail(o->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, 0, "a damaged .dstok file: %s", what);
}

static dstok_status check_head(const opening *o, bool is_file) {
    const dstok__head *h = o->t->head;
    if (o->n < sizeof *h)
        return dstok__fail(o->err, DSTOK_E_TRUNCATED, o->n, 0, "the .dstok file ends in its head");
    if (!dstok__is_tables(h, o->n)) return bad(o, "its first bytes are not those of the format");
    if (h->order != DSTOK__TABLES_ORDER)
        return dstok__fail(o->err, DSTOK_E_UNSUPPORTED, 8, 0,
                           "not supported: a .dstok file on a machine of another byte order");
    if (h->version != DSTOK__TABLES_VERSION)
        return dstok__fail(o->err, DSTOK_E_VERSION, 12, 0,
                           "a .dstok file of version %u, this library reads version %u: make it anew with "
                           "dstok compile",
                           h->version, DSTOK__TABLES_VERSION);
    if (h->size > o->n)
        return dstok__fail(o->err, DSTOK_E_TRUNCATED, o->n, 0, "the .dstok file has %zu bytes of %llu", o->n,
                           (unsigned long long)h->size);
    if (h->size != o->n) return bad(o, "it is longer than it says");
    if (!is_file) return DSTOK_OK;
    if (dstok__hash(o->t->block + DSTOK__CHECKED_FROM, o->n - DSTOK__CHECKED_FROM, 0) != h->checksum)
        return dstok__fail(
            o->err, DSTOK_E_CHECKSUM, DSTOK_NO_OFFSET, 0,
            "the .dstok file is damaged: its checksum is another (make it anew with dstok compile)");
    return DSTOK_OK;
}

/* One of the two tables of pairs is there. */
static bool is_pair_table(const dstok__head *h) {
    uint64_t plain = h->sections[DSTOK__S_PAIRS].n, packed = h->sections[DSTOK__S_PACKED].n;
    uint64_t of_bytes = h->sections[DSTOK__S_BYTE_PAIRS].n;
    if (packed == 0) return plain > 0 && plain <= UINT32_MAX && of_bytes == 0;
    return plain == 0 && of_bytes == DSTOK__BYTE_PAIRS && packed <= UINT32_MAX &&
           packed % DSTOK__PACKED_LINE == 0 && h->n_ids <= DSTOK__PACKED_IDS &&
           (h->options & DSTOK__T_PLAIN_ATOMS) != 0;
}

/* A table of pairs of cuts.h: none, or its words a power of two in bounds. */
static bool is_cut_table(const dstok__place *pairs) {
    uint64_t n = pairs->n;
    return n == 0 || ((n & (n - 1)) == 0 && n >= (uint64_t)1 << (DSTOK__MIN_CUT_BITS - 6) &&
                      n <= (uint64_t)1 << (DSTOK__MAX_CUT_BITS - 6));
}

static dstok_status check_places(const opening *o) {
    const dstok__head *h = o->t->head;
    for (unsigned i = 0; i < DSTOK__N_SECTIONS; i++) {
        const dstok__place *p = &h->sections[i];
        if (p->at % 8 != 0 || p->at > o->n || p->n > (o->n - p->at) / sizes[i])
            return bad(o, "a section lies outside of it");
    }
    const dstok__place *s = h->sections;
    if (o->n - s[DSTOK__S_STRINGS].at - s[DSTOK__S_STRINGS].n < sizeof(dstok__key)) /* read behind a token */
        return bad(o, "its strings are at its end");
    if (h->n_ids > DSTOK__MAX_IDS || h->n_bare > DSTOK__MAX_IDS || s[DSTOK__S_TOKENS].n != h->n_ids ||
        s[DSTOK__S_FLAGS].n != h->n_ids || s[DSTOK__S_TEXTS].n != (uint64_t)h->n_ids + h->n_bare)
        return bad(o, "the number of ids");
    if (s[DSTOK__S_NORMS].n > DSTOK__MAX_NORMS || s[DSTOK__S_STEPS].n > DSTOK__MAX_STEPS ||
        s[DSTOK__S_TEMPLATE].n > DSTOK__MAX_TEMPLATE || s[DSTOK__S_ADDED].n > DSTOK__MAX_ADDED ||
        s[DSTOK__S_RAW].n > DSTOK__MAX_ADDED || s[DSTOK__S_NORMALIZED].n > DSTOK__MAX_ADDED)
        return bad(o, "the length of a list");
    if (s[DSTOK__S_SLOTS].n == 0 || s[DSTOK__S_SLOTS].n > UINT32_MAX || !is_pair_table(h) ||
        s[DSTOK__S_WORDS].n != 2 + s[DSTOK__S_STEPS].n)
        return bad(o, "the length of a table");
    if (!is_cut_table(&s[DSTOK__S_CUT_PAIRS]) ||
        s[DSTOK__S_CUT_PARTS].n != (s[DSTOK__S_CUT_PAIRS].n > 0 ? DSTOK__PART_WORDS : 0) ||
        (s[DSTOK__S_JOINS].n != 0 && s[DSTOK__S_JOINS].n != DSTOK__JOINS))
        return bad(o, "the length of the tables of cuts");
    if (!is_cut_table(&s[DSTOK__S_TORN_PAIRS]) ||
        (s[DSTOK__S_TORN_PAIRS].n > 0 && s[DSTOK__S_CUT_PARTS].n == 0) ||
        s[DSTOK__S_ATOM_PAGES].n != (s[DSTOK__S_TORN_PAIRS].n > 0 ? DSTOK__ATOM_PAGES : 0) ||
        s[DSTOK__S_ATOMS].n % DSTOK__ATOM_PAGE != 0)
        return bad(o, "the length of the tables of atoms");
    return DSTOK_OK;
}

static dstok__cuts cuts_view(const dstok__tables *t, dstok__section pairs) {
    const dstok__place *s = t->head->sections, *p = &s[pairs];
    if (p->n == 0) return (dstok__cuts){.pairs = NULL};
    return (dstok__cuts){.pairs = (const void *)(t->block + p->at),
                         .parts = (const void *)(t->block + s[DSTOK__S_CUT_PARTS].at),
                         .shift = 26 - (unsigned)__builtin_ctzll(p->n)};
}

/* The views of the sections, whose places have been checked. */
static void set_views(dstok__tables *t) {
    const dstok__place *s = t->head->sections;
#define VIEW(section) (const void *)(t->block + s[section].at)
    t->strings = VIEW(DSTOK__S_STRINGS);
    t->tokens = VIEW(DSTOK__S_TOKENS);
    t->texts = VIEW(DSTOK__S_TEXTS);
    t->flags = VIEW(DSTOK__S_FLAGS);
    t->slots = VIEW(DSTOK__S_SLOTS);
    t->added = VIEW(DSTOK__S_ADDED);
    t->raw = VIEW(DSTOK__S_RAW);
    t->normalized = VIEW(DSTOK__S_NORMALIZED);
    t->template = VIEW(DSTOK__S_TEMPLATE);
    t->norms = VIEW(DSTOK__S_NORMS);
    t->steps = VIEW(DSTOK__S_STEPS);
    t->warnings = VIEW(DSTOK__S_WARNINGS);
    t->words = VIEW(DSTOK__S_WORDS);
    bool packed = s[DSTOK__S_PACKED].n > 0;
    t->pairs = (dstok__pairs){.slots = (dstok__pair *)(uintptr_t)(t->block + s[DSTOK__S_PAIRS].at),
                              .cap = (size_t)s[packed ? DSTOK__S_PACKED : DSTOK__S_PAIRS].n,
                              .count = t->head->n_merges,
                              .seed = t->head->seed,
                              .packed = packed ? VIEW(DSTOK__S_PACKED) : NULL,
                              .products = s[DSTOK__S_PRODUCTS].n > 0 ? VIEW(DSTOK__S_PRODUCTS) : NULL,
                              .of_bytes = packed ? VIEW(DSTOK__S_BYTE_PAIRS) : NULL};
    t->joins = s[DSTOK__S_JOINS].n > 0 ? VIEW(DSTOK__S_JOINS) : NULL;
    t->cuts = cuts_view(t, DSTOK__S_CUT_PAIRS);
    t->atoms = (dstok__atoms){.pages = s[DSTOK__S_ATOM_PAGES].n > 0 ? VIEW(DSTOK__S_ATOM_PAGES) : NULL,
                              .ids = VIEW(DSTOK__S_ATOMS),
                              .torn = cuts_view(t, DSTOK__S_TORN_PAIRS)};
#undef VIEW
}

static bool is_inside(const opening *o, dstok__ref ref) {
    return (uint64_t)ref.at + ref.n <= dstok__tables_n(o->t, DSTOK__S_STRINGS);
}

/* Text that becomes part of a text must be UTF-8: scanners rely on it. */
static bool is_text(const opening *o, dstok__ref ref) {
    return is_inside(o, ref) && dstok__utf8_check(o->t->strings + ref.at, ref.n) == ref.n;
}

/* A string with a NUL behind it. */
static bool is_string(const opening *o, dstok__ref ref) {
    return is_text(o, ref) && (uint64_t)ref.at + ref.n < dstok__tables_n(o->t, DSTOK__S_STRINGS) &&
           o->t->strings[ref.at + ref.n] == 0;
}

static bool is_id(const opening *o, uint32_t id) {
    return id < o->t->head->n_ids || id == DSTOK__NO_ID;
}

static dstok_status check_ids(const opening *o) {
    const dstok__tables *t = o->t;
    uint64_t limit = dstok__tables_n(t, DSTOK__S_STRINGS), worst = 0;
    for (size_t i = 0; i < dstok__tables_n(t, DSTOK__S_TOKENS); i++) {
        uint64_t end = (uint64_t)t->tokens[i].at + t->tokens[i].n;
        if (end > worst) worst = end;
    }
    for (size_t i = 0; i < dstok__tables_n(t, DSTOK__S_TEXTS); i++) {
        uint64_t end = (uint64_t)t->texts[i].at + t->texts[i].n;
        if (end > worst) worst = end;
    }
    if (worst > limit) return bad(o, "a token lies outside of its strings");
    for (unsigned i = 0; i < 256; i++) {
        if (!is_id(o, t->head->byte_ids[i]) || !is_id(o, t->head->fallback_ids[i]))
            return bad(o, "the id of a byte");
    }
    for (size_t i = 0; i < dstok__tables_n(t, DSTOK__S_TEMPLATE); i++) {
        if (!is_id(o, t->template[i])) return bad(o, "an id of the template");
    }
    return is_id(o, t->head->unk_id) ? DSTOK_OK : bad(o, "the id of the unknown token");
}

/* Runs of full slots while a table is gone through, and the largest id met. Without branches: whether a
 * slot is full cannot be foreseen. */
typedef struct survey {
    size_t run, longest;
    uint64_t ids; /* largest id + 1 */
} survey;

static inline void look_at(survey *v, bool is_full, uint32_t id) {
    uint64_t ids = ((uint64_t)id + 1) * is_full;
    v->run = (v->run + 1) * is_full;
    v->longest = v->run > v->longest ? v->run : v->longest;
    v->ids = ids > v->ids ? ids : v->ids;
}

/* A table must have a free slot, and every search in it must end soon. head: full slots at its begin, which
 * go on from those at its end. */
static dstok_status judge(const opening *o, const survey *v, size_t head, size_t n, uint64_t ids,
                          const char *what) {
    if (head == n || v->longest > MAX_RUN || v->run + head > MAX_RUN)
        return dstok__fail(o->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, 0,
                           "a damaged .dstok file: the table of %s is too full", what);
    if (v->ids <= ids) return DSTOK_OK;
    return dstok__fail(o->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, 0,
                       "a damaged .dstok file: the table of %s names an id that is not there", what);
}

static dstok_status check_slots(const opening *o) {
    const dstok__slot *slots = o->t->slots;
    size_t n = dstok__tables_n(o->t, DSTOK__S_SLOTS), head = 0;
    survey v = {0, 0, 0};
    while (head < n && slots[head].id != DSTOK__NO_ID) head++;
    for (size_t i = 0; i < n; i++) look_at(&v, slots[i].id != DSTOK__NO_ID, slots[i].id);
    return judge(o, &v, head, n, (uint64_t)o->t->head->n_ids + o->t->head->n_bare, "texts");
}

static dstok_status check_packed(const opening *o) {
    const uint64_t *packed = o->t->pairs.packed;
    const uint32_t *products = o->t->pairs.products;
    const int32_t *of_bytes = o->t->pairs.of_bytes;
    size_t n = o->t->pairs.cap / DSTOK__PACKED_LINE, n_products = dstok__tables_n(o->t, DSTOK__S_PRODUCTS),
           head = 0;
    survey lines = {0, 0, 0}, ranks = {0, 0, 0}, ids = {0, 0, 0};
    while (head < n && dstok__packed_goes_on(packed + DSTOK__PACKED_LINE * head)) head++;
    for (size_t i = 0; i < n; i++) look_at(&lines, dstok__packed_goes_on(packed + DSTOK__PACKED_LINE * i), 0);
    for (size_t i = 0; i < o->t->pairs.cap; i++) {
        bool is_full = packed[i] != DSTOK__PACKED_FREE;
        uint32_t left = (uint32_t)(packed[i] >> 44), right = (uint32_t)(packed[i] >> 24) & DSTOK__PACKED_IDS;
        look_at(&ranks, is_full, (uint32_t)packed[i] & (DSTOK__PACKED_RANKS - 1));
        look_at(&ids, is_full, left > right ? left : right);
    }
    for (size_t i = 0; i < n_products; i++) look_at(&ids, true, products[i]);
    for (size_t i = 0; i < DSTOK__BYTE_PAIRS; i++)
        look_at(&ranks, (of_bytes[i] & ~31) != DSTOK__NO_PLACED, (uint32_t)of_bytes[i] >> 5);
    if (ids.ids > o->t->head->n_ids) return bad(o, "an id of a merge");
    lines.ids = ranks.ids;
    return judge(o, &lines, head, n, products != NULL ? n_products : o->t->head->n_ids, "pairs");
}

static dstok_status check_atoms(const opening *o) {
    const dstok__atoms *a = &o->t->atoms;
    size_t n = dstok__tables_n(o->t, DSTOK__S_ATOMS), rows = n / DSTOK__ATOM_PAGE;
    bool wrong = false;
    for (size_t i = 0; a->pages != NULL && i < DSTOK__ATOM_PAGES; i++) wrong |= a->pages[i] >= rows;
    for (size_t i = 0; i < n; i++) wrong |= a->ids[i] >= o->t->head->n_ids && a->ids[i] != DSTOK__NO_ID;
    return wrong ? bad(o, "the atoms") : DSTOK_OK;
}

static dstok_status check_pairs(const opening *o) {
    if (o->t->pairs.packed != NULL) return check_packed(o);
    const dstok__pair *pairs = o->t->pairs.slots;
    size_t n = o->t->pairs.cap, head = 0;
    survey v = {0, 0, 0};
    while (head < n && pairs[head].rank != DSTOK__NO_RANK) head++;
    for (size_t i = 0; i < n; i++) look_at(&v, pairs[i].rank != DSTOK__NO_RANK, pairs[i].product);
    return judge(o, &v, head, n, o->t->head->n_ids, "pairs");
}

static dstok_status check_rows(const opening *o, const dstok__added_row *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (rows[i].id >= o->t->head->n_ids || rows[i].text.n == 0 || !is_text(o, rows[i].text))
            return bad(o, "an added token");
    }
    return DSTOK_OK;
}

static bool is_norm(const opening *o, const dstok__op_row *row) {
    bool has_map =
        row->kind == DSTOK__NORM_PRECOMPILED || row->kind == DSTOK__NORM_SPM; /* binary, checked later */
    return row->kind <= DSTOK__NORM_SPM && is_text(o, row->content) &&
           (has_map ? is_inside(o, row->pattern) : is_text(o, row->pattern));
}

static bool is_step(const opening *o, const dstok__op_row *row) {
    bool meta = row->kind != DSTOK__STEP_META || row->pattern.n > 0;
    return row->kind <= DSTOK__STEP_BYTE_MAP && is_text(o, row->pattern) && is_text(o, row->content) &&
           (row->flags & 0xFF) <= DSTOK__CONTIGUOUS && (row->flags >> 8 & 0xFF) <= 1 &&
           row->flags >> 16 <= DSTOK__DIALECT_FANCY && row->prepend <= DSTOK__PREPEND_ALWAYS && meta &&
           (row->kind != DSTOK__STEP_FIXED || row->length > 0);
}

/* What the encoder takes for granted of the model: only scores leave characters behind merging, and they merge
 * characters. */
static bool is_model(const dstok__head *h) {
    bool chars = (h->options & DSTOK__T_CHAR_ATOMS) != 0, scores = h->model == DSTOK__MODEL_SCORES;
    if (chars && (h->options & DSTOK__T_PLAIN_ATOMS)) return false;
    if (scores) return chars;
    return h->model < DSTOK__MODEL_SCORES && h->n_bare == 0 &&
           (h->options & (DSTOK__T_LATE_FALLBACK | DSTOK__T_UNUSED)) == 0;
}

static dstok_status check_ops(const opening *o) {
    const dstok__tables *t = o->t;
    const dstok__head *h = t->head;
    for (size_t i = 0; i < dstok__tables_n(t, DSTOK__S_NORMS); i++) {
        if (!is_norm(o, &t->norms[i])) return bad(o, "a normaliser");
    }
    for (size_t i = 0; i < dstok__tables_n(t, DSTOK__S_STEPS); i++) {
        if (!is_step(o, &t->steps[i])) return bad(o, "a pretokenizer step");
    }
    if (!is_inside(o, h->prefix) || !is_inside(o, h->suffix) || h->prefix.n > DSTOK__MAX_AFFIX ||
        h->suffix.n > DSTOK__MAX_AFFIX)
        return bad(o, "a prefix or suffix");
    if (!is_model(h) || h->plan.strip_char > 0x10FFFF || h->plan.first_drops > 0x10FFFF ||
        (h->plan.last_suffix_n != 0 && h->plan.last_suffix_n != h->suffix.n))
        return bad(o, "its model or decoder");
    return DSTOK_OK;
}

/* Trimming spans counts the characters of these texts. */
static dstok_status check_trimmed(const opening *o) {
    const uint32_t needed = DSTOK__T_TRIM | DSTOK__T_CHAR_ATOMS;
    if ((o->t->head->options & needed) != needed) return DSTOK_OK;
    for (size_t i = 0; i < dstok__tables_n(o->t, DSTOK__S_TEXTS); i++) {
        if (!is_text(o, o->t->texts[i])) return bad(o, "the text of a token");
    }
    return DSTOK_OK;
}

static dstok_status check_strings(const opening *o) {
    for (size_t i = 0; i < dstok__tables_n(o->t, DSTOK__S_WARNINGS); i++) {
        if (!is_string(o, o->t->warnings[i])) return bad(o, "a warning");
    }
    for (size_t i = 0; i < dstok__tables_n(o->t, DSTOK__S_WORDS); i++) {
        if (!is_string(o, o->t->words[i])) return bad(o, "a description");
    }
    return DSTOK_OK;
}

dstok_status dstok__tables_open(dstok__tables *t, const uint8_t *block, size_t n, bool is_file,
                                dstok_error *err) {
    opening o = {t, n, err};
    *t = (dstok__tables){.block = block, .head = (const void *)block};
    DSTOK_TRY(check_head(&o, is_file));
    DSTOK_TRY(check_places(&o));
    set_views(t);
    DSTOK_TRY(check_ids(&o));
    DSTOK_TRY(check_slots(&o));
    DSTOK_TRY(check_pairs(&o));
    DSTOK_TRY(check_atoms(&o));
    DSTOK_TRY(check_rows(&o, t->added, dstok__tables_n(t, DSTOK__S_ADDED)));
    DSTOK_TRY(check_rows(&o, t->raw, dstok__tables_n(t, DSTOK__S_RAW)));
    DSTOK_TRY(check_rows(&o, t->normalized, dstok__tables_n(t, DSTOK__S_NORMALIZED)));
    DSTOK_TRY(check_ops(&o));
    DSTOK_TRY(check_trimmed(&o));
    return check_strings(&o);
}
