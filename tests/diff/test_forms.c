/* SPDX-License-Identifier: MIT */
/* The normal forms against utf8proc: every code point, pairs of marks, and mixed texts. Code points that are not in
 * the 9.0 view stay as they are; what is between them is given to utf8proc.
 * Arguments: the seed, the number of mixed texts. */
#include "../../data/unicode/unicode.h"
#include "../../tokenizer/text/normalize.h"
#include "../../tokenizer/text/utf8.h"
#include "../harness/t.h"

#include <stdlib.h>
#include <utf8proc.h>

#define CHUNK    ((size_t)1 << 14)
#define N_TEXTS  20000
#define MAX_GROW 16

static const struct form {
    const char *name;
    dstok__norm_kind kind;
    utf8proc_option_t options;
} forms[] = {{"NFC", DSTOK__NORM_NFC, UTF8PROC_STABLE | UTF8PROC_COMPOSE},
             {"NFD", DSTOK__NORM_NFD, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE},
             {"NFKC", DSTOK__NORM_NFKC, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT},
             {"NFKD", DSTOK__NORM_NFKD, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT}};
#define N_FORMS (sizeof forms / sizeof *forms)

static dstok__normalizer *normalizers[N_FORMS];
static dstok__normalized norm;
static uint8_t *want; /* MAX_GROW * CHUNK bytes */

/* What utf8proc makes of text[0, len), appended to want[0, n). */
static size_t append(const struct form *f, const uint8_t *text, size_t len, size_t n) {
    utf8proc_uint8_t *out = NULL;
    utf8proc_ssize_t got = utf8proc_map(text, (utf8proc_ssize_t)len, &out, f->options);
    CHECK(got >= 0 && n + (size_t)got <= MAX_GROW * CHUNK);
    if (got >= 0) memcpy(want + n, out, (size_t)got);
    free(out);
    return n + (size_t)got;
}

static size_t reference(const struct form *f, const uint8_t *text, size_t len) {
    size_t n = 0, from = 0, width;
    for (size_t at = 0; at < len; at += width) {
        uint32_t cp = dstok__utf8_get(text + at, &width);
        if ((dstok__uc_record(cp) & DSTOK_UC_IN_9) != 0) continue;
        n = append(f, text + from, at - from, n);
        memcpy(want + n, text + at, width);
        n += width;
        from = at + width;
    }
    return append(f, text + from, len - from, n);
}

/* What is between the edits is what stands in the source. */
static bool edits_fit(const uint8_t *text, size_t len) {
    size_t src = 0, out = 0;
    for (size_t i = 0; i <= norm.n_edits; i++) {
        size_t next = i < norm.n_edits ? norm.edits[i].src : len;
        size_t next_out = i < norm.n_edits ? norm.edits[i].out : norm.len;
        if (next < src || next - src != next_out - out) return false;
        if (memcmp(text + src, norm.text + out, next - src) != 0) return false;
        if (i == norm.n_edits) break;
        src = next + norm.edits[i].src_n;
        out = next_out + norm.edits[i].out_n;
    }
    return true;
}

static bool agrees(size_t i, const uint8_t *text, size_t len) {
    size_t n = reference(&forms[i], text, len), at = 0;
    dstok_status status = dstok__normalize(&norm, normalizers[i], NULL, text, len, SIZE_MAX, NULL);
    CHECK_EQ(status, DSTOK_OK);
    if (status == DSTOK_OK && norm.len == n && memcmp(norm.text, want, n) == 0 && edits_fit(text, len))
        return true;
    while (at < n && at < norm.len && norm.text[at] == want[at]) at++;
    printf("%s of %zu bytes: %zu bytes, utf8proc has %zu; they differ at %zu\n", forms[i].name, len, norm.len,
           n, at);
    return false;
}

/* ---- texts ---- */

typedef struct text {
    uint8_t bytes[CHUNK + 64];
    size_t len;
} text;

static void put(text *t, uint32_t cp) {
    t->len += dstok__utf8_put(t->bytes + t->len, cp);
}

/* Compares a text that is full, or the last one, and empties it. */
static void pass(text *t, bool last) {
    if (t->len < CHUNK && !last) return;
    for (size_t i = 0; i < N_FORMS; i++) {
        uint8_t *exact = malloc(t->len + (t->len == 0));
        bool same = exact != NULL && agrees(i, memcpy(exact, t->bytes, t->len), t->len);
        CHECK(same);
        free(exact);
    }
    t->len = 0;
}

/* Starters of all sorts, marks of several classes that compose and that do not, younger code points. */
static const uint32_t around[] = {'a',    'e',    0xE9,   0x44F,   0x3C9,   0x1100,  0x1161, 0x11A8, 0xAC00,
                                  0xAC01, 0x301,  0x323,  0x327,   0x345,   0x5B0,   0x64B,  0x93C,  0x94D,
                                  0x915,  0xE38,  0xE48,  0xE01,   0x3099,  0x304B,  0x4E00, 0xFF76, 0x1D165,
                                  0x560,  0x1ABF, 0x2000, 0x1F600, 0x1E900, 0x1E944, 0xFB2A, 0x16D63};
#define N_AROUND ((uint32_t)(sizeof around / sizeof *around))

static void test_every_code_point(text *t) {
    for (uint32_t cp = 0; cp <= DSTOK_UC_MAX; cp++) {
        if (cp == 0xD800) cp = 0xE000;
        put(t, around[cp % N_AROUND]);
        put(t, cp);
        put(t, around[cp / N_AROUND % N_AROUND]);
        put(t, '.');
        put(t, cp);
        pass(t, false);
    }
    pass(t, true);
}

/* Those that some form changes, or that change what is before them, between all the others. */
static void test_between(text *t) {
    for (uint32_t cp = 0x80; cp <= DSTOK_UC_MAX; cp++) {
        if (cp == 0xD800) cp = 0xE000;
        if (cp == 0xAC20) cp = 0xD7A0; /* a syllable is like the others */
        if (cp == 0xF920) cp = 0xFB00; /* and so are ideographs */
        if (cp == 0x2F820) cp = 0x30000;
        if ((dstok__uc_record(cp) & DSTOK_UC_NFC_INERT) && (dstok__uc_record(cp) & DSTOK_UC_NFD_INERT))
            continue;
        for (uint32_t k = 0; k < N_AROUND * N_AROUND; k++) {
            put(t, around[k % N_AROUND]);
            put(t, cp);
            put(t, around[k / N_AROUND]);
            put(t, '.');
            pass(t, false);
        }
    }
    pass(t, true);
}

/* All marks behind all marks, some of them one more time. */
static void test_marks(text *t) {
    static uint32_t marks[2000];
    size_t n = 0;
    for (uint32_t cp = 0x300; cp < 0x20000; cp++) {
        if (dstok__uc_in(cp, DSTOK_UC_M) && !(dstok__uc_record(cp) & DSTOK_UC_NFD_INERT)) marks[n++] = cp;
    }
    CHECK(n > 700 && n < sizeof marks / sizeof *marks);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            put(t, around[(i + k) % N_AROUND]);
            put(t, marks[i]);
            put(t, marks[k]);
            if ((i + k) % 3 == 0) put(t, marks[(i * k + 7) % n]);
            pass(t, false);
        }
    }
    pass(t, true);
}

/* Runs of text that stays, of all lengths, with what does not stay between them. */
static void test_mixed(text *t, t_rng *rng, size_t n) {
    static const uint32_t plain[] = {'x',    0xFC,   0x434,   0x6BE, 0x4E2D, 0xB098,
                                     0x3042, 0xFF0C, 0x1F680, 0xE17, 0x927};
    for (size_t i = 0; i < n; i++) {
        for (uint32_t parts = 1 + t_below(rng, 8); parts > 0; parts--) {
            uint32_t cp = plain[t_below(rng, sizeof plain / sizeof *plain)];
            for (uint32_t run = t_below(rng, t_below(rng, 20) == 0 ? 1200 : 80); run > 0 && t->len < CHUNK;
                 run--)
                put(t, cp);
            for (uint32_t few = t_below(rng, 4); few > 0; few--) put(t, around[t_below(rng, N_AROUND)]);
        }
        pass(t, true);
    }
}

int main(int argc, char **argv) {
    static text t;
    t_rng rng = {argc > 1 ? strtoull(argv[1], NULL, 0) : 20261130};
    want = malloc(MAX_GROW * CHUNK);
    dstok__normalized_init(&norm, &dstok__default_alloc);
    for (size_t i = 0; i < N_FORMS; i++) {
        dstok__norm op = {.kind = forms[i].kind};
        CHECK_EQ(dstok__normalizer_new(&dstok__default_alloc, &op, 1, &normalizers[i], NULL), DSTOK_OK);
    }
    printf("seed %llu, utf8proc %s of Unicode %s\n", (unsigned long long)rng.state, utf8proc_version(),
           utf8proc_unicode_version());
    test_every_code_point(&t);
    test_between(&t);
    test_marks(&t);
    test_mixed(&t, &rng, argc > 2 ? strtoul(argv[2], NULL, 0) : N_TEXTS);
    for (size_t i = 0; i < N_FORMS; i++) dstok__normalizer_free(normalizers[i]);
    dstok__normalized_free(&norm);
    free(want);
    return t_end();
}
