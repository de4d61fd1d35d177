/* SPDX-License-Identifier: MIT */
/* Measures character properties of the linked PCRE2, whose Unicode version we do not choose. */
#include "native.h"
#include "property.h"

#include "../../data/unicode/unicode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PCRE2 frees without a size, our allocator wants one: it is kept in front of each block. */
#define HEAD 16

static void *pcre2_alloc(size_t n, void *ctx) {
    if (n > SIZE_MAX - HEAD) return NULL;
    unsigned char *p = dstok__alloc(ctx, n + HEAD);
    if (p == NULL) return NULL;
    memcpy(p, &n, sizeof n);
    return p + HEAD;
}

static void pcre2_free(void *block, void *ctx) {
    if (block == NULL) return;
    unsigned char *p = (unsigned char *)block - HEAD;
    size_t n;
    memcpy(&n, p, sizeof n);
    dstok__free(ctx, p, n + HEAD);
}

pcre2_general_context *dstok__pcre2_context(const dstok_alloc *al) {
    return pcre2_general_context_create(pcre2_alloc, pcre2_free, (void *)(uintptr_t)al);
}

/* ---- measuring ---- */

#define CHUNK 4096u /* code points matched at a time */

static unsigned utf8_width(uint32_t cp) {
    return cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
}

static void put_utf8(uint8_t *p, uint32_t cp, unsigned width) {
    static const uint8_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (unsigned i = width; i-- > 1; cp >>= 6) p[i] = (uint8_t)(0x80 | (cp & 0x3F));
    p[0] = (uint8_t)(lead[width] | cp);
}

struct measure {
    const dstok_alloc *al;
    pcre2_code
        *code; /* alternatives (X++)|(Y++)|... that cover everything; the number of the group is the value */
    pcre2_match_data *match;
    dstok__runs *runs;
    uint8_t text[CHUNK * 4];
};

static dstok_status add_run(struct measure *m, uint32_t lo, uint32_t value) {
    bool goes_on = m->runs->n > 0 && m->runs->at[m->runs->n - 1].value == value;
    return goes_on ? DSTOK_OK : dstok__runs_push(m->al, m->runs, lo, value);
}

/* At most CHUNK code points, all of one width, none a surrogate. */
static dstok_status measure_chunk(struct measure *m, uint32_t lo, uint32_t hi, unsigned width) {
    size_t len = (size_t)(hi - lo + 1) * width;
    for (uint32_t cp = lo; cp <= hi; cp++) put_utf8(m->text + (size_t)(cp - lo) * width, cp, width);
    for (size_t pos = 0; pos < len;) {
        int rc = pcre2_match(m->code, m->text, len, pos, PCRE2_NO_UTF_CHECK | PCRE2_ANCHORED, m->match, NULL);
        if (rc == PCRE2_ERROR_NOMEMORY) return DSTOK_E_NOMEM;
        size_t end = rc < 2 ? 0 : pcre2_get_ovector_pointer(m->match)[1];
        if (end <= pos) return DSTOK_E_STATE; /* a PCRE2 that does not know its own categories */
        DSTOK_TRY(add_run(m, lo + (uint32_t)(pos / width), (uint32_t)rc - 2));
        pos = end;
    }
    return DSTOK_OK;
}

static dstok_status measure_range(struct measure *m, uint32_t lo, uint32_t hi) {
    static const uint32_t borders[] = {0x80, 0x800, 0xD800, 0xE000, 0x10000, DSTOK_UC_MAX + 1};
    for (size_t b = 0; lo <= hi; b++) {
        for (uint32_t end; lo <= hi && lo < borders[b]; lo = end + 1) {
            end = hi < borders[b] ? hi : borders[b] - 1;
            if (borders[b] == 0xE000) {
                DSTOK_TRY(add_run(m, lo, DSTOK_GC_CS));
                continue;
            }
            if (end - lo >= CHUNK) end = lo + CHUNK - 1;
            DSTOK_TRY(measure_chunk(m, lo, end, utf8_width(lo)));
        }
    }
    return DSTOK_OK;
}

/* Can PCRE2's Unicode version only have characters that our tables have too? */
static bool is_older(void) {
    char version[24];
    if (pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, NULL) > (int)sizeof version) return false;
    if (pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, version) <= 0) return false;
    int major = version[0] >= '1' && version[0] <= '9' ? atoi(version) : 0;
    return major > 0 && major <= 16;
}

/* Measures what is assigned in our tables. The rest cannot be assigned in an older Unicode version, and
 * private use never changes: that saves nine tenths of the work. */
static dstok_status measure_assigned(struct measure *m, const dstok__runs *own) {
    for (size_t i = 0, end; i < own->n; i = end) {
        uint32_t gc = own->at[i].value & DSTOK_UC_GC_MASK;
        bool known = gc == DSTOK_GC_CN || gc == DSTOK_GC_CO;
        for (end = i + 1; end < own->n; end++) {
            uint32_t next = own->at[end].value & DSTOK_UC_GC_MASK;
            if (known ? next != gc : next == DSTOK_GC_CN || next == DSTOK_GC_CO) break;
        }
        uint32_t lo = own->at[i].lo, hi = end < own->n ? own->at[end].lo - 1 : DSTOK_UC_MAX;
        DSTOK_TRY(known ? add_run(m, lo, gc) : measure_range(m, lo, hi));
    }
    return DSTOK_OK;
}

/* Finds for every code point which group of the pattern takes it: runs of (group number - 1). own = NULL: no
 * shortcut. *known = false when the pattern does not compile. */
static dstok_status measure(const dstok_alloc *al, const char *pattern, const dstok__runs *own,
                            dstok__runs *runs, bool *known) {
    pcre2_general_context *general = dstok__pcre2_context(al);
    pcre2_compile_context *compile = general == NULL ? NULL : pcre2_compile_context_create(general);
    struct measure *m = compile == NULL ? NULL : dstok__alloc_zeroed(al, 1, sizeof *m);
    dstok_status status = DSTOK_E_NOMEM;
    *known = true;
    if (m != NULL) {
        int code = 0;
        PCRE2_SIZE at = 0;
        m->al = al;
        m->runs = runs;
        m->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF, &code, &at, compile);
        *known = m->code != NULL || code == PCRE2_ERROR_HEAP_FAILED;
        if (m->code != NULL) m->match = pcre2_match_data_create_from_pattern(m->code, general);
        if (m->match != NULL)
            status = own != NULL ? measure_assigned(m, own) : measure_range(m, 0, DSTOK_UC_MAX);
        if (!*known) status = DSTOK_OK;
        pcre2_match_data_free(m->match);
        pcre2_code_free(m->code);
        dstok__free(al, m, sizeof *m);
    }
    pcre2_compile_context_free(compile);
    pcre2_general_context_free(general);
    return status;
}

dstok_status dstok__native_categories(dstok__props *props) {
    const size_t n_names = sizeof dstok__category_names / sizeof dstok__category_names[0];
    char pattern[sizeof dstok__category_names / sizeof dstok__category_names[0] * 12 + 1];
    size_t n = 0;
    if (props->native.n > 0) return DSTOK_OK;
    for (size_t i = 0; i < n_names; i++) {
        n += (size_t)snprintf(pattern + n, sizeof pattern - n, "%s(\\p{%s}++)", i == 0 ? "" : "|",
                              dstok__category_names[i]);
    }
    bool known, older = is_older();
    dstok__runs runs = {0};
    if (older) DSTOK_TRY(dstok__props_scan(props));
    dstok_status status = measure(props->al, pattern, older ? &props->own : NULL, &runs, &known);
    if (status == DSTOK_OK && known) {
        props->native = runs;
        return DSTOK_OK;
    }
    dstok__free(props->al, runs.at, runs.cap * sizeof *runs.at);
    return status == DSTOK_OK ? DSTOK_E_STATE : status;
}

/* What Unicode 15.0 to 16.0 added to the properties that we take from PCRE2, so that a PCRE2 with Unicode 14
 * is exact too. Measured on Oniguruma 6.9.10 and regex-syntax 0.8.11, which agree. */
static const struct {
    const char *item;
    uint32_t lo, hi;
} additions[] = {
    {"Alphabetic", 0x363, 0x36F},        {"Alphabetic", 0x897, 0x897},
    {"Alphabetic", 0xC04, 0xC04},        {"Alphabetic", 0xCF3, 0xCF3},
    {"Alphabetic", 0xF82, 0xF83},        {"Alphabetic", 0x1C89, 0x1C8A},
    {"Alphabetic", 0x1DD3, 0x1DE6},      {"Alphabetic", 0xA7CB, 0xA7CD},
    {"Alphabetic", 0xA7DA, 0xA7DC},      {"Alphabetic", 0x105C0, 0x105F3},
    {"Alphabetic", 0x10D4A, 0x10D65},    {"Alphabetic", 0x10D69, 0x10D69},
    {"Alphabetic", 0x10D6F, 0x10D85},    {"Alphabetic", 0x10EC2, 0x10EC4},
    {"Alphabetic", 0x10EFC, 0x10EFC},    {"Alphabetic", 0x11080, 0x11081},
    {"Alphabetic", 0x1123F, 0x11241},    {"Alphabetic", 0x11380, 0x11389},
    {"Alphabetic", 0x1138B, 0x1138B},    {"Alphabetic", 0x1138E, 0x1138E},
    {"Alphabetic", 0x11390, 0x113B5},    {"Alphabetic", 0x113B7, 0x113C0},
    {"Alphabetic", 0x113C2, 0x113C2},    {"Alphabetic", 0x113C5, 0x113C5},
    {"Alphabetic", 0x113C7, 0x113CA},    {"Alphabetic", 0x113CC, 0x113CD},
    {"Alphabetic", 0x113D1, 0x113D1},    {"Alphabetic", 0x113D3, 0x113D3},
    {"Alphabetic", 0x11BC0, 0x11BE0},    {"Alphabetic", 0x11F00, 0x11F10},
    {"Alphabetic", 0x11F12, 0x11F3A},    {"Alphabetic", 0x11F3E, 0x11F40},
    {"Alphabetic", 0x1342F, 0x1342F},    {"Alphabetic", 0x13441, 0x13446},
    {"Alphabetic", 0x13460, 0x143FA},    {"Alphabetic", 0x16100, 0x1612E},
    {"Alphabetic", 0x16D40, 0x16D6C},    {"Alphabetic", 0x18CFF, 0x18CFF},
    {"Alphabetic", 0x1B132, 0x1B132},    {"Alphabetic", 0x1B155, 0x1B155},
    {"Alphabetic", 0x1DF25, 0x1DF2A},    {"Alphabetic", 0x1E030, 0x1E06D},
    {"Alphabetic", 0x1E08F, 0x1E08F},    {"Alphabetic", 0x1E4D0, 0x1E4EB},
    {"Alphabetic", 0x1E5D0, 0x1E5ED},    {"Alphabetic", 0x1E5F0, 0x1E5F0},
    {"Alphabetic", 0x2B739, 0x2B739},    {"Alphabetic", 0x2EBF0, 0x2EE5D},
    {"Alphabetic", 0x31350, 0x323AF},    {"Uppercase", 0x1C89, 0x1C89},
    {"Uppercase", 0xA7CB, 0xA7CC},       {"Uppercase", 0xA7DA, 0xA7DA},
    {"Uppercase", 0xA7DC, 0xA7DC},       {"Uppercase", 0x10D50, 0x10D65},
    {"Lowercase", 0x10FC, 0x10FC},       {"Lowercase", 0x1C8A, 0x1C8A},
    {"Lowercase", 0xA7CD, 0xA7CD},       {"Lowercase", 0xA7DB, 0xA7DB},
    {"Lowercase", 0xA7F2, 0xA7F4},       {"Lowercase", 0xAB69, 0xAB69},
    {"Lowercase", 0x10D70, 0x10D85},     {"Lowercase", 0x1DF25, 0x1DF2A},
    {"Lowercase", 0x1E030, 0x1E06D},     {"sc:Latin", 0xA7CB, 0xA7CD},
    {"sc:Latin", 0xA7DA, 0xA7DC},        {"sc:Latin", 0x1DF25, 0x1DF2A},
    {"sc:Cyrillic", 0x1C89, 0x1C8A},     {"sc:Cyrillic", 0x1E030, 0x1E06D},
    {"sc:Cyrillic", 0x1E08F, 0x1E08F},   {"sc:Arabic", 0x897, 0x897},
    {"sc:Arabic", 0x10EC2, 0x10EC4},     {"sc:Arabic", 0x10EFC, 0x10EFF},
    {"sc:Devanagari", 0x11B00, 0x11B09}, {"sc:Hiragana", 0x1B132, 0x1B132},
    {"sc:Katakana", 0x1B155, 0x1B155},   {"sc:Lao", 0xECE, 0xECE},
    {"sc:Myanmar", 0x116D0, 0x116E3},    {"sc:Kannada", 0xCF3, 0xCF3},
};

/* Makes the set what it is in Unicode 16.0: PCRE2's version may be older or newer. */
static dstok_status bring_to_16(dstok__props *props, const char *item, dstok__codeset *set) {
    for (size_t i = 0; i < sizeof additions / sizeof additions[0]; i++) {
        if (strcmp(additions[i].item, item) != 0) continue;
        DSTOK_TRY(dstok__codeset_add(set, additions[i].lo, additions[i].hi));
    }
    dstok__codeset unassigned;
    dstok__codeset_init(&unassigned, props->al);
    dstok_status status = dstok__props_add_gc(props, DSTOK_UC_BIT(DSTOK_GC_CN), &unassigned);
    if (status == DSTOK_OK) status = dstok__codeset_apply(set, DSTOK__SET_SUB, &unassigned);
    dstok__codeset_free(&unassigned);
    return status;
}

/* The runs with value 0: what the first group of "(\p{X}++)|(\P{X}++)" took. */
static dstok_status add_first_group(const dstok__runs *runs, dstok__codeset *set) {
    for (size_t i = 0; i < runs->n; i++) {
        uint32_t end = i + 1 < runs->n ? runs->at[i + 1].lo : DSTOK_UC_MAX + 1;
        if (runs->at[i].value == 0) DSTOK_TRY(dstok__codeset_add(set, runs->at[i].lo, end - 1));
    }
    return DSTOK_OK;
}

static dstok_status measure_item(const dstok_alloc *al, const char *name, dstok__codeset *set, bool *known) {
    char pattern[80];
    dstok__runs runs = {0};
    snprintf(pattern, sizeof pattern, "(\\p{%s}++)|(\\P{%s}++)", name, name);
    dstok_status status = measure(al, pattern, NULL, &runs, known);
    if (status == DSTOK_OK && *known) status = add_first_group(&runs, set);
    dstok__free(al, runs.at, runs.cap * sizeof *runs.at);
    return status;
}

/* Scripts and derived properties in one pattern. */
#define MAX_MEASURED 64u

dstok_status dstok__native_add(dstok__props *props, const char *item, dstok__codeset *set, bool *known) {
    dstok__codeset found;
    if (++props->n_measured > MAX_MEASURED) return DSTOK_E_LIMIT;
    dstok__codeset_init(&found, props->al);
    dstok_status status = measure_item(props->al, item, &found, known);
    /* Before 10.40 "sc:" was unknown and \p{Greek} the script; since then \p{Greek} means Script_Extensions.
     * */
    if (status == DSTOK_OK && !*known && strncmp(item, "sc:", 3) == 0) {
        status = measure_item(props->al, item + 3, &found, known);
    }
    if (status == DSTOK_OK && *known) status = bring_to_16(props, item, &found);
    if (status == DSTOK_OK && *known) status = dstok__codeset_apply(set, DSTOK__SET_OR, &found);
    dstok__codeset_free(&found);
    return status;
}
