/* SPDX-License-Identifier: MIT */
/* Made-up tokenizer.json files of the SentencePiece kind. */
#include "vary.h"

#include "../../tokenizer/base/base.h"

#include <stdlib.h>

#define META      "\xE2\x96\x81"
#define MAX_PARTS 1024
#define MAX_TEXT  48

static const char *const characters[] = {
    "a", "b", "l", "o", "e", "x", "1",       META, "\xC3\xA9", "\xE4\xBD\xA0", "\xF0\x9F\x98\x80",
    "'", "!", " ", "<", ">", "X", "\xCC\x81"};
static const char *const normalizers[] = {
    "null",
    "null",
    "{\"type\":\"Prepend\",\"prepend\":\"" META "\"}",
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"" META "\"}",
    "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"" META
    "\"},{\"type\":\"Replace\","
    "\"pattern\":{\"String\":\" \"},\"content\":\"" META "\"}]}",
    "{\"type\":\"NFC\"}",
    "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKD\"},{\"type\":\"Lowercase\"},{\"type\":"
    "\"StripAccents\"}]}",
    "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true},"
    "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"[ab]+|l(?=o)\"},\"content\":\"o" META "\"}]}",
    "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Nmt\"},{\"type\":\"Replace\",\"pattern\":{"
    "\"String\":\"l\"},"
    "\"content\":\"\"}]}",
};
#define METASPACE(scheme, split)                                                                             \
    "{\"type\":\"Metaspace\",\"replacement\":\"" META "\",\"prepend_scheme\":\"" scheme                      \
    "\",\"split\":" split "}"
/* A list element of two literals is meant as one. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wstring-concatenation"
#endif
static const char *const pre_tokenizers[] = {
    "null",
    "null",
    METASPACE("always", "true"),
    METASPACE("first", "true"),
    METASPACE("never", "false"),
    METASPACE("always", "false"),
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"}," METASPACE("always",
                                                                                          "true") "]}",
    "{\"type\":\"Whitespace\"}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Punctuation\",\"behavior\":\"Isolated\"},{"
    "\"type\":\"Digits\","
    "\"individual_digits\":true}]}",
    "{\"type\":\"Split\",\"pattern\":{\"String\":\" "
    "\"},\"behavior\":\"MergedWithPrevious\",\"invert\":false}",
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[lo]+\"},\"behavior\":\"Removed\",\"invert\":false}",
};
static const char *const contents[] = {"<s>",   "lo",         "b",      "a b", "\xC3\x89", "[END]",
                                       "<|a|>", "<|a|><|b|>", META "x", "1",   "  "};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool chance(t_rng *rng, uint32_t percent) {
    return t_below(rng, 100) < percent;
}

/* ---- the file while it is made ---- */

typedef struct vocabulary {
    dstok__buf json;
    t_rng *rng;
    char parts[MAX_PARTS][MAX_TEXT]; /* keys; the index is the id */
    size_t n_parts, first_own;       /* the byte tokens come first */
    const char *prefix, *suffix;
} vocabulary;

static void check(dstok_status status) {
    if (status != DSTOK_OK) exit(1);
}

static void put_string(dstok__buf *b, const char *text) {
    check(dstok__buf_push(b, '"'));
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') check(dstok__buf_push(b, '\\'));
        check(dstok__buf_push(b, (uint8_t)*c));
    }
    check(dstok__buf_push(b, '"'));
}

/* The id of a key, which is added when it is new; MAX_PARTS when there is no room. */
static size_t add_part(vocabulary *v, const char *key) {
    for (size_t i = 0; i < v->n_parts; i++) {
        if (strcmp(v->parts[i], key) == 0) return i;
    }
    if (v->n_parts == MAX_PARTS || strlen(key) >= MAX_TEXT) return MAX_PARTS;
    strcpy(v->parts[v->n_parts], key);
    return v->n_parts++;
}

static void add_characters(vocabulary *v) {
    for (size_t i = 0; i < COUNT(characters); i++) {
        char key[64];
        if (chance(v->rng, 15)) continue;
        add_part(v, characters[i]);
        for (int kind = 1; kind < 4; kind++) { /* with prefix, with suffix, with both */
            snprintf(key, sizeof key, "%s%s%s", kind & 1 ? v->prefix : "", characters[i],
                     kind & 2 ? v->suffix : "");
            if (chance(v->rng, 80)) add_part(v, key);
        }
    }
}

static void add_vocabulary(vocabulary *v) {
    static const uint32_t percent[] = {0, 0, 5, 100};
    uint32_t missing = percent[t_below(v->rng, 4)]; /* of the byte tokens */
    if (chance(v->rng, 80)) add_part(v, "<unk>");
    for (unsigned byte = 0; byte < 256; byte++) {
        char key[8];
        snprintf(key, sizeof key, "<0x%02X>", byte);
        if (!chance(v->rng, missing)) add_part(v, key);
    }
    v->first_own = v->n_parts;
    add_characters(v);
}

/* A key that may be a side of a merge: now and then one of the byte tokens. */
static const char *random_part(vocabulary *v) {
    static const char *const bytes[] = {"<0xC3>", "<0xA9>", "<0xE4>", "<0xBD>", "<0xA0>", "<0x20>"};
    if (chance(v->rng, 15)) {
        const char *key = bytes[t_below(v->rng, COUNT(bytes))];
        for (size_t i = 0; i < v->n_parts; i++) {
            if (strcmp(v->parts[i], key) == 0) return key;
        }
    }
    return v->parts[v->first_own + t_below(v->rng, (uint32_t)(v->n_parts - v->first_own))];
}

/* [left, right] and the product as a key, which is left and right without its prefix. */
static bool add_merge(vocabulary *v, dstok__buf *merges) {
    char left[MAX_TEXT], right[MAX_TEXT], product[2 * MAX_TEXT];
    size_t cut = strlen(v->prefix);
    snprintf(left, sizeof left, "%s", random_part(v));
    snprintf(right, sizeof right, "%s", random_part(v));
    if (strncmp(right, v->prefix, cut) != 0) return false;
    snprintf(product, sizeof product, "%s%s", left, right + cut);
    if (strlen(product) > 24 || add_part(v, product) == MAX_PARTS) return false;
    if (merges->len > 0) check(dstok__buf_push(merges, ','));
    check(dstok__buf_push(merges, '['));
    put_string(merges, left);
    check(dstok__buf_push(merges, ','));
    put_string(merges, right);
    return dstok__buf_push(merges, ']') == DSTOK_OK;
}

static const char *truth(bool value) {
    return value ? "true" : "false";
}

static void put_added(vocabulary *v) {
    bool strips = chance(v->rng, 50), first = true;
    for (size_t i = 0; i < COUNT(contents); i++) {
        if (!chance(v->rng, 30) || (strips && contents[i][0] == ' ')) continue;
        check(dstok__buf_printf(
            &v->json, "%s{\"id\":%zu,\"content\":\"%s\",\"special\":%s,\"normalized\":%s,", first ? "" : ",",
            900 + i, contents[i], truth(chance(v->rng, 50)), truth(chance(v->rng, 50))));
        check(dstok__buf_printf(&v->json, "\"single_word\":%s,\"lstrip\":%s,\"rstrip\":%s}",
                                truth(chance(v->rng, 20)), truth(chance(v->rng, 30)),
                                truth(strips && chance(v->rng, 30))));
        first = false;
    }
}

/* ---- all of it ---- */

static void put_model(vocabulary *v, const dstok__buf *merges) {
    bool has_unk = strcmp(v->parts[0], "<unk>") == 0;
    const char *unk = has_unk && chance(v->rng, 70) ? "<unk>"
                      : chance(v->rng, 20)          ? v->parts[v->first_own]
                                                    : NULL;
    check(dstok__buf_printf(
        &v->json, "\"model\":{\"type\":\"BPE\",\"fuse_unk\":%s,\"byte_fallback\":%s,\"ignore_merges\":%s,",
        truth(chance(v->rng, 50)), truth(chance(v->rng, 70)), truth(chance(v->rng, 20))));
    check(dstok__buf_printf(
        &v->json, "\"continuing_subword_prefix\":\"%s\",\"end_of_word_suffix\":\"%s\",\"unk_token\":",
        v->prefix, v->suffix));
    if (unk != NULL) put_string(&v->json, unk);
    check(dstok__buf_printf(&v->json, "%s,\"vocab\":{", unk != NULL ? "" : "null"));
    for (size_t i = 0; i < v->n_parts; i++) {
        if (i > 0) check(dstok__buf_push(&v->json, ','));
        put_string(&v->json, v->parts[i]);
        check(dstok__buf_printf(&v->json, ":%zu", i));
    }
    check(dstok__buf_printf(&v->json, "},\"merges\":["));
    if (merges->len > 0) check(dstok__buf_append(&v->json, merges->data, merges->len));
    check(dstok__buf_printf(&v->json, "]}}"));
}

char *vary_json(t_rng *rng, size_t *n) {
    static const char *const prefixes[] = {"", "", "", "##", "@"}, *const suffixes[] = {"", "", "", "</w>",
                                                                                        "_"};
    static vocabulary v;
    dstok__buf merges;
    v = (vocabulary){.rng = rng, .prefix = prefixes[t_below(rng, 5)], .suffix = suffixes[t_below(rng, 5)]};
    dstok__buf_init(&v.json, &dstok__default_alloc, 1 << 24);
    dstok__buf_init(&merges, &dstok__default_alloc, 1 << 24);
    add_vocabulary(&v);
    for (uint32_t i = t_below(rng, 80); i > 0; i--) add_merge(&v, &merges);
    check(dstok__buf_printf(&v.json, "{\"version\":\"1.0\",\"added_tokens\":["));
    put_added(&v);
    check(dstok__buf_printf(
        &v.json, "],\"normalizer\":%s,\"pre_tokenizer\":%s,\"post_processor\":null,\"decoder\":null,",
        normalizers[t_below(rng, COUNT(normalizers))], pre_tokenizers[t_below(rng, COUNT(pre_tokenizers))]));
    put_model(&v, &merges);
    dstok__buf_free(&merges);
    *n = v.json.len;
    return (char *)v.json.data; /* from malloc */
}
