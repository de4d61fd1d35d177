/* SPDX-License-Identifier: MIT */
/* Writes a set of code points as one PCRE2 item. */

/* PCRE2's own categories stand where they fit, ranges for the rest: a class of all letters takes 660 ranges;
 * as \p{L} and the letters that this PCRE2 does not know yet it takes a tenth. A category is used only if each
 * member of it, as this very PCRE2 has it, belongs to the set. */
#include "property.h"

#include "../../data/unicode/unicode.h"

#define FEW_RANGES     24  /* up to here ranges alone are as good */
#define MANY_RANGES    128 /* beyond this the categories are no help */
#define ALL_CATEGORIES 0x3FFFFFFFu
#define BYTE_MAX       0xFFu

static dstok_status write_code(dstok__buf *out, uint32_t cp) {
    bool plain = (cp >= '0' && cp <= '9') || (cp >= 'A' && cp <= 'Z') || (cp >= 'a' && cp <= 'z');
    return plain ? dstok__buf_push(out, (uint8_t)cp) : dstok__buf_printf(out, "\\x{%X}", (unsigned)cp);
}

static dstok_status write_range(dstok__buf *out, uint32_t lo, uint32_t hi) {
    DSTOK_TRY(write_code(out, lo));
    if (hi == lo) return DSTOK_OK;
    if (hi > lo + 1) DSTOK_TRY(dstok__buf_push(out, '-'));
    return write_code(out, hi);
}

/* Text holds no surrogates, PCRE2 takes none as a range end, and they must not cut a range in two. */
static dstok_status settle_surrogates(dstok__codeset *set) {
    static const dstok__range range[] = {{0xD800, 0xDFFF}};
    const dstok__codeset surrogates = {set->al, (dstok__range *)range, 1, 0};
    bool inside = dstok__codeset_has(set, 0xD7FF) && dstok__codeset_has(set, 0xE000);
    return dstok__codeset_apply(set, inside ? DSTOK__SET_OR : DSTOK__SET_SUB, &surrogates);
}

/* The categories all of whose members are in the set. */
static uint32_t whole_categories(const dstok__runs *native, const dstok__codeset *set) {
    uint32_t whole = ALL_CATEGORIES, present = 0;
    size_t r = 0;
    for (size_t i = 0; i < native->n; i++) {
        uint32_t lo = native->at[i].lo, bit = DSTOK_UC_BIT(native->at[i].value);
        uint32_t hi = i + 1 < native->n ? native->at[i + 1].lo - 1 : DSTOK_UC_MAX;
        present |= bit;
        while (r < set->n && set->ranges[r].hi < lo) r++;
        if (r == set->n || set->ranges[r].lo > lo || set->ranges[r].hi < hi) whole &= ~bit;
    }
    return whole & present & ~DSTOK_UC_BIT(DSTOK_GC_CS);
}

/* Writes the members outside of the given categories as ranges, at most one for each range of the set: it may
 * run over members that the categories have too. Members below U+0100 are always written: PCRE2 tests those
 * by a bit map. out may be NULL; *count gets the number of ranges. */
static dstok_status write_rest(const dstok__runs *native, const dstok__codeset *set, uint32_t categories,
                               dstok__buf *out, size_t *count) {
    size_t run = 0;
    *count = 0;
    for (size_t i = 0; i < set->n; i++) {
        uint32_t lo = set->ranges[i].lo, hi = set->ranges[i].hi, first = UINT32_MAX, last = 0;
        if (lo <= BYTE_MAX) {
            first = lo;
            last = hi < BYTE_MAX ? hi : BYTE_MAX;
        }
        while (run > 0 && (run == native->n || native->at[run].lo > lo)) run--;
        for (; run < native->n && native->at[run].lo <= hi; run++) {
            uint32_t end = run + 1 < native->n ? native->at[run + 1].lo - 1 : DSTOK_UC_MAX;
            uint32_t bit = DSTOK_UC_BIT(native->at[run].value);
            if (end < lo || (bit & (categories | DSTOK_UC_BIT(DSTOK_GC_CS)))) continue;
            if (first == UINT32_MAX) first = native->at[run].lo > lo ? native->at[run].lo : lo;
            last = end < hi ? end : hi;
        }
        if (first == UINT32_MAX) continue;
        (*count)++;
        if (out != NULL) DSTOK_TRY(write_range(out, first, last));
    }
    return DSTOK_OK;
}

static dstok_status write_categories(dstok__buf *out, uint32_t categories) {
    static const struct {
        char name;
        uint32_t categories;
    } groups[] = {{'L', DSTOK_UC_L},
                  {'M', DSTOK_UC_M},
                  {'N', DSTOK_UC_N},
                  {'P', DSTOK_UC_P},
                  {'S', DSTOK_UC_S},
                  {'Z', DSTOK_UC_Z},
                  {'C', DSTOK_UC_C & ~DSTOK_UC_BIT(DSTOK_GC_CS)}};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (groups[i].categories & ~categories) continue;
        categories &= ~groups[i].categories;
        DSTOK_TRY(dstok__buf_printf(out, "\\p{%c}", groups[i].name));
    }
    for (unsigned gc = 0; gc < sizeof dstok__category_names / sizeof dstok__category_names[0]; gc++) {
        if (categories & DSTOK_UC_BIT(gc))
            DSTOK_TRY(dstok__buf_printf(out, "\\p{%s}", dstok__category_names[gc]));
    }
    return DSTOK_OK;
}

static dstok_status write_ranges(const dstok__codeset *set, bool negated, dstok__buf *out) {
    DSTOK_TRY(dstok__buf_printf(out, negated ? "[^" : "["));
    for (size_t i = 0; i < set->n; i++) DSTOK_TRY(write_range(out, set->ranges[i].lo, set->ranges[i].hi));
    return dstok__buf_push(out, ']');
}

static dstok_status write_mixed(const dstok__runs *native, const dstok__codeset *set, bool negated,
                                dstok__buf *out) {
    size_t count;
    uint32_t categories = whole_categories(native, set);
    DSTOK_TRY(dstok__buf_printf(out, negated ? "[^" : "["));
    DSTOK_TRY(write_categories(out, categories));
    DSTOK_TRY(write_rest(native, set, categories, out, &count));
    return dstok__buf_push(out, ']');
}

/* Many ranges on both sides: whichever of [set] and [^others] needs fewer beside its categories. When both
 * need many, ranges alone: without a category PCRE2 decides all of Latin-1 by a bit map instead of going
 * through the list. */
static dstok_status write_large(dstok__props *props, const dstok__codeset *set, const dstok__codeset *others,
                                dstok__buf *out) {
    size_t with, without;
    DSTOK_TRY(dstok__native_categories(props));
    const dstok__runs *native = &props->native;
    DSTOK_TRY(write_rest(native, set, whole_categories(native, set), NULL, &with));
    DSTOK_TRY(write_rest(native, others, whole_categories(native, others), NULL, &without));
    bool negated = without < with;
    const dstok__codeset *written = negated ? others : set;
    if (with > MANY_RANGES && without > MANY_RANGES) return write_ranges(written, negated, out);
    return write_mixed(native, written, negated, out);
}

dstok_status dstok__class_write(dstok__props *props, dstok__codeset *set, dstok__buf *out) {
    DSTOK_TRY(settle_surrogates(set));
    if (set->n == 0) return dstok__buf_printf(out, "[^\\p{Any}]");
    if (set->n == 1 && set->ranges[0].lo == 0 && set->ranges[0].hi == DSTOK__CODE_MAX) {
        return dstok__buf_printf(out, "\\p{Any}");
    }
    if (set->n <= FEW_RANGES && set->ranges[0].lo > 0) return write_ranges(set, false, out);
    dstok__codeset others;
    dstok__codeset_init(&others, set->al);
    dstok_status status = dstok__codeset_apply(&others, DSTOK__SET_OR, set);
    if (status == DSTOK_OK) status = dstok__codeset_negate(&others);
    if (status == DSTOK_OK) {
        if (others.n <= FEW_RANGES) {
            status = write_ranges(&others, true, out);
        } else if (set->n <= FEW_RANGES) {
            status = write_ranges(set, false, out);
        } else {
            status = write_large(props, set, &others, out);
        }
    }
    dstok__codeset_free(&others);
    return status;
}
