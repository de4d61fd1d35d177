/* SPDX-License-Identifier: MIT */
/* Matching of added tokens: entries sorted by bytes, narrowed byte by byte at each possible start. */
#include "added.h"
#include "utf8.h"

#include "../../data/unicode/unicode.h"

#include <stdlib.h>
#include <string.h>

void dstok__added_init(dstok__added_set *set, const dstok_alloc *al) {
    *set = (dstok__added_set){.al = al};
}

#define START_WORDS (65536 / 64)

void dstok__added_free(dstok__added_set *set) {
    dstok__free(set->al, set->entries, set->cap * sizeof *set->entries);
    dstok__free(set->al, set->starts, START_WORDS * sizeof *set->starts);
    *set = (dstok__added_set){.al = set->al};
}

dstok_status dstok__added_put(dstok__added_set *set, const dstok__added_entry *entry) {
    DSTOK_TRY(dstok__grow(set->al, (void **)&set->entries, &set->cap, set->n + 1, sizeof *entry, SIZE_MAX));
    set->entries[set->n++] = *entry;
    return DSTOK_OK;
}

static int by_text(const void *pa, const void *pb) {
    const dstok__added_entry *a = pa, *b = pb;
    int c = memcmp(a->text, b->text, a->n < b->n ? a->n : b->n);
    if (c != 0) return c;
    return a->n < b->n ? -1 : a->n > b->n;
}

/* Order of equal texts: as they were put. qsort is not stable, so entries carry their place in the meantime.
 */
typedef struct ordered {
    dstok__added_entry entry;
    size_t place;
} ordered;

static int by_text_and_place(const void *pa, const void *pb) {
    const ordered *a = pa, *b = pb;
    int c = by_text(&a->entry, &b->entry);
    return c != 0 ? c : a->place < b->place ? -1 : 1;
}

static dstok_status sort_entries(dstok__added_set *set) {
    ordered *list = dstok__alloc_array(set->al, set->n, sizeof *list);
    if (list == NULL) return DSTOK_E_NOMEM;
    for (size_t i = 0; i < set->n; i++) list[i] = (ordered){set->entries[i], i};
    qsort(list, set->n, sizeof *list, by_text_and_place);
    size_t total = set->n;
    set->n = 0;
    for (size_t i = 0; i < total; i++) {
        if (i + 1 < total && by_text(&list[i].entry, &list[i + 1].entry) == 0) continue;
        set->entries[set->n++] = list[i].entry;
    }
    dstok__free(set->al, list, total * sizeof *list);
    return DSTOK_OK;
}

static bool is_sorted(const dstok__added_set *set) {
    for (size_t i = 1; i < set->n; i++) {
        if (by_text(&set->entries[i - 1], &set->entries[i]) >= 0) return false;
    }
    return true;
}

/* The entries' first bytes, when they are few. */
static void list_first(dstok__added_set *set) {
    set->n_first = 0;
    for (size_t i = 0; i < set->n; i++) {
        uint8_t byte = set->entries[i].text[0];
        if (set->n_first > 0 && set->first[set->n_first - 1] == byte) continue; /* entries are sorted */
        if (set->n_first == sizeof set->first) {
            set->n_first = 0;
            return;
        }
        set->first[set->n_first++] = byte;
    }
}

dstok_status dstok__added_build(dstok__added_set *set) {
    set->simd = dstok__simd_best(DSTOK__N_TIERS);
    if (set->n == 0) return DSTOK_OK;
    if (!is_sorted(set)) DSTOK_TRY(sort_entries(set));
    list_first(set);
    set->starts = dstok__alloc_zeroed(set->al, START_WORDS, sizeof *set->starts);
    if (set->starts == NULL) return DSTOK_E_NOMEM;
    for (size_t i = 0; i < set->n; i++) {
        const dstok__added_entry *e = &set->entries[i];
        unsigned first = (unsigned)e->text[0] << 8;
        if (e->n == 1) {
            for (unsigned b = 0; b < 256; b += 64) set->starts[(first | b) / 64] = UINT64_MAX;
        } else {
            unsigned bit = first | e->text[1];
            set->starts[bit / 64] |= (uint64_t)1 << (bit % 64);
        }
    }
    return DSTOK_OK;
}

/* Can an entry begin with these bytes (the second one is 0 at the end of the text)? */
static bool may_start(const dstok__added_set *set, uint8_t first, uint8_t second) {
    unsigned bit = (unsigned)first << 8 | second;
    return (set->starts[bit / 64] >> (bit % 64)) & 1;
}

/* The first place from i on where an entry may start, or len. */
static size_t next_start(const dstok__added_set *set, const uint8_t *text, size_t len, size_t i) {
    for (; i < len; i++) {
        if (set->n_first > 0) i += set->simd->find_byte(text + i, len - i, set->first, set->n_first);
        if (i == len || may_start(set, text[i], i + 1 < len ? text[i + 1] : 0)) return i;
    }
    return len;
}

size_t dstok__added_next(const dstok__added_set *set, const uint8_t *text, size_t len, size_t pos) {
    return set->n == 0 ? len : next_start(set, text, len, pos);
}

/* First entry in [lo, hi) whose byte at depth is >= byte. All of them are longer than depth. */
static size_t lower_bound(const dstok__added_set *set, size_t lo, size_t hi, size_t depth, unsigned byte) {
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (set->entries[mid].text[depth] < byte) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* The longest entry at pos that the policy does not ignore; NULL when there is none. */
static const dstok__added_entry *longest_at(const dstok__added_set *set, const uint8_t *text, size_t len,
                                            size_t pos, dstok__policy_fn *policy, void *ctx,
                                            dstok__verdict *verdict) {
    const dstok__added_entry *found[DSTOK_ADDED_PREFIXES];
    size_t n_found = 0, lo = 0, hi = set->n;
    for (size_t depth = 0; pos + depth < len && lo < hi; depth++) {
        unsigned byte = text[pos + depth];
        lo = lower_bound(set, lo, hi, depth, byte);
        hi = lower_bound(set, lo, hi, depth, byte + 1);
        if (lo == hi) break;
        if (set->entries[lo].n == depth + 1) { /* the shortest of a common prefix sorts first */
            found[n_found % DSTOK_ADDED_PREFIXES] = &set->entries[lo];
            n_found++;
            lo++;
        }
    }
    size_t kept = n_found < DSTOK_ADDED_PREFIXES ? n_found : DSTOK_ADDED_PREFIXES;
    while (kept-- > 0) {
        const dstok__added_entry *e = found[--n_found % DSTOK_ADDED_PREFIXES];
        *verdict = policy(ctx, e, pos, pos + e->n);
        if (*verdict != DSTOK__IGNORE) return e;
    }
    return NULL;
}

/* single_word: no word character may touch the token on either side. */
static bool stands_alone(const uint8_t *text, size_t len, size_t begin, size_t end) {
    size_t width;
    if (begin > 0 && dstok__uc_is_word(dstok__utf8_before(text + begin, &width))) return false;
    return end == len || !dstok__uc_is_word(dstok__utf8_get(text + end, &width));
}

static size_t skip_blanks_back(const uint8_t *text, size_t pos, size_t floor) {
    size_t width;
    while (pos > floor && dstok__uc_is_space(dstok__utf8_before(text + pos, &width))) pos -= width;
    return pos;
}

static size_t skip_blanks(const uint8_t *text, size_t len, size_t pos) {
    size_t width;
    while (pos < len && dstok__uc_is_space(dstok__utf8_get(text + pos, &width))) pos += width;
    return pos;
}

bool dstok__added_find(const dstok__added_set *set, const uint8_t *text, size_t len, size_t pos,
                       dstok__policy_fn *policy, void *ctx, dstok__added_match *match, bool *refused) {
    *refused = false;
    if (set->n == 0) return false;
    for (size_t i = next_start(set, text, len, pos); i < len; i = next_start(set, text, len, i)) {
        dstok__verdict verdict;
        const dstok__added_entry *e = longest_at(set, text, len, i, policy, ctx, &verdict);
        if (e == NULL) {
            i++;
            continue;
        }
        size_t end = i + e->n;
        if (verdict == DSTOK__CONSUME ||
            ((e->flags & DSTOK__ADDED_SINGLE_WORD) && !stands_alone(text, len, i, end))) {
            i = end;
            continue;
        }
        *refused = verdict == DSTOK__REFUSE;
        match->entry = e;
        match->inner = i;
        match->begin = e->flags & DSTOK__ADDED_LSTRIP ? skip_blanks_back(text, i, pos) : i;
        match->end = e->flags & DSTOK__ADDED_RSTRIP ? skip_blanks(text, len, end) : end;
        return true;
    }
    return false;
}
