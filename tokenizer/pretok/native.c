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

static unsigned utf8_width(uint32_t cp) { return cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4; }

static void put_utf8(uint8_t *p, uint32_t cp, unsigned width) {
    static const uint8_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (unsigned i = width; i-- > 1; cp >>= 6) p[i] = (uint8_t)(0x80 | (cp & 0x3F));
    p[0] = (uint8_t)(lead[width] | cp);
}

struct measure {
    const dstok_alloc *al;
    pcre2_code *code; /* alternatives (X++)|(Y++)|... that cover everything; the number of the group is the value */
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

/* Measures what is assigned in our tables. The rest cannot be assigned in an older Unicode version, and private use
 * never changes: that saves nine tenths of the work. */
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
static dstok_status measure(const dstok_alloc *al, const char *pattern, const dstok__runs *own, dstok__runs *runs,
                            bool *known) {
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
        if (m->match != NULL) status = own != NULL ? measure_assigned(m, own) : measure_range(m, 0, DSTOK_UC_MAX);
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

/* Adds the runs with value 0: what the first group of "(\p{X}++)|(\P{X}++)" took. */
static dstok_status add_first_group(const dstok__runs *runs, dstok__codeset *set) {
    for (size_t i = 0; i < runs->n; i++) {
        uint32_t end = i + 1 < runs->n ? runs->at[i + 1].lo : DSTOK_UC_MAX + 1;
        if (runs->at[i].value == 0) DSTOK_TRY(dstok__codeset_add(set, runs->at[i].lo, end - 1));
    }
    return DSTOK_OK;
}

dstok_status dstok__native_add(dstok__props *props, const char *item, dstok__codeset *set, bool *known) {
    *known = false;
    /* Before 10.40, \p{Greek} was the script and "sc:" unknown; since then \p{Greek} means Script_Extensions. */
    const char *bare = strncmp(item, "sc:", 3) == 0 ? item + 3 : NULL;
    for (int pass = 0; pass < 2 && !*known && (pass == 0 || bare != NULL); pass++) {
        char pattern[80];
        dstok__runs runs = {0};
        const char *name = pass == 0 ? item : bare;
        snprintf(pattern, sizeof pattern, "(\\p{%s}++)|(\\P{%s}++)", name, name);
        dstok_status status = measure(props->al, pattern, NULL, &runs, known);
        if (status == DSTOK_OK && *known) status = add_first_group(&runs, set);
        dstok__free(props->al, runs.at, runs.cap * sizeof *runs.at);
        DSTOK_TRY(status);
    }
    return DSTOK_OK;
}
