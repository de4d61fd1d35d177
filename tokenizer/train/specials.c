/* SPDX-License-Identifier: MIT */
/* Special tokens: checks on their texts, and the search that cuts them out of what is counted. */
#include "train.h"
#include "../../simd/simd.h"

#include <string.h>

void dstok__specials_free(dstok__specials *s) {
    dstok__free(s->al, s->items, s->n * sizeof *s->items);
    dstok__free(s->al, s->sorted, s->n * sizeof *s->sorted);
    dstok__arena_free(&s->arena);
    s->items = NULL;
    s->sorted = NULL;
    s->n = 0;
}

/* Could the text be the name of an ordinary token? Names are written in byte-level characters, so "Ġ" is the
 * blank. A longer text in ASCII names its own bytes: no token has these, since they are cut out of what is counted. */
static bool names_a_token(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    bool ascii = true;
    size_t n = 0;
    for (; *c != '\0'; n++) {
        uint32_t cp = *c++;
        if (cp >= 0xE0) return false;
        if (cp >= 0x80) {
            cp = (cp & 0x1F) << 6 | (uint32_t)(*c++ & 0x3F);
            ascii = false;
        }
        if (!dstok__is_byte_char(cp)) return false;
    }
    return n == 1 || !ascii;
}

static dstok_status check(const char *text, size_t i, dstok_error *err) {
    char shown[64];
    if (text == NULL)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "special token %zu is NULL", i);
    size_t n = strlen(text);
    if (n == 0) return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "special token %zu is empty", i);
    dstok__quote(text, n, shown, sizeof shown);
    if (n > DSTOK__TRAIN_MAX_SPECIAL) {
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
                           "special token \"%s\" has %zu bytes; the limit is %zu", shown, n,
                           DSTOK__TRAIN_MAX_SPECIAL);
    }
    if (dstok__utf8_check((const uint8_t *)text, n) != n) {
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "special token %zu is not UTF-8", i);
    }
    if (names_a_token(text)) {
        return dstok__fail(
            err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0,
            "special token \"%s\" cannot be told from a token in a tokenizer.json; choose another text",
            shown);
    }
    return DSTOK_OK;
}

/* Puts the i-th text into sorted[0, i), which is in order. */
static dstok_status insert(dstok__specials *s, size_t i, dstok_error *err) {
    size_t at = i;
    for (; at > 0; at--) {
        int order = strcmp(s->items[s->sorted[at - 1]].text, s->items[i].text);
        if (order > 0) break;
        if (order == 0) {
            char shown[64];
            return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "special token \"%s\" is given twice",
                               dstok__quote(s->items[i].text, s->items[i].n, shown, sizeof shown));
        }
        s->sorted[at] = s->sorted[at - 1];
    }
    s->sorted[at] = (uint32_t)i;
    return DSTOK_OK;
}

static void index_first_bytes(dstok__specials *s) {
    uint32_t at = 0;
    for (unsigned b = 0; b < 256; b++) {
        s->first[b] = at;
        while (at < s->n && (unsigned char)s->items[s->sorted[at]].text[0] == 255 - b) at++;
    }
    s->first[256] = at;
}

static dstok_status fill(dstok__specials *s, const char *const *texts, size_t n, dstok_error *err) {
    for (size_t i = 0; i < n; i++) {
        DSTOK_TRY(check(texts[i], i, err));
        size_t len = strlen(texts[i]);
        char *copy = dstok__arena_copy(&s->arena, texts[i], len);
        if (copy == NULL) return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory");
        s->items[i] = (dstok__special){.text = copy, .n = len};
        DSTOK_TRY(insert(s, i, err));
    }
    index_first_bytes(s);
    return DSTOK_OK;
}

dstok_status dstok__specials_new(dstok__specials *s, const dstok_alloc *al, const char *const *texts,
                                 size_t n, dstok_error *err) {
    *s = (dstok__specials){.al = al};
    dstok__arena_init(&s->arena, al, SIZE_MAX); /* limited by number and length */
    if (n == 0) return DSTOK_OK;
    if (n > DSTOK__TRAIN_MAX_SPECIALS) {
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0, "%zu special tokens; the limit is %zu", n,
                           DSTOK__TRAIN_MAX_SPECIALS);
    }
    s->n = n;
    s->items = dstok__alloc_zeroed(al, n, sizeof *s->items);
    s->sorted = dstok__alloc_zeroed(al, n, sizeof *s->sorted);
    dstok_status status = s->items == NULL || s->sorted == NULL
                              ? dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory")
                              : fill(s, texts, n, err);
    if (status != DSTOK_OK) dstok__specials_free(s);
    return status;
}

size_t dstok__specials_find(const dstok__specials *s, const uint8_t *text, size_t len, size_t pos,
                            size_t *end) {
    if (s->n == 0) return len;
    for (; pos < len; pos++) {
        unsigned b = 255u - text[pos];
        for (uint32_t i = s->first[b]; i < s->first[b + 1]; i++) {
            const dstok__special *special = &s->items[s->sorted[i]];
            if (special->n > len - pos || memcmp(special->text, text + pos, special->n) != 0) continue;
            *end = pos + special->n;
            return pos;
        }
    }
    return len;
}
