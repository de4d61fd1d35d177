/* SPDX-License-Identifier: MIT */
/* The merges of tokenizer.json, in both of their forms: "a b" and ["a", "b"]. */
#include "hf.h"

#include <string.h>

#include "../bpe/pairs.h"

/* One entry of the list, its parts found but not yet looked up. */
typedef struct entry {
    size_t at, index; /* offset and number in the list */
    const char *left, *right;
    size_t left_n, right_n;
} entry;

/* "a b": exactly one blank. *skip: a line of the old merges.txt form that is no merge. */
static dstok_status split_string(dstok__hf *h, entry *e, bool *skip) {
    const char *text;
    size_t n;
    DSTOK_TRY(dstok__read_string(&h->r, e->at, e->at, "a merge", &text, &n));
    *skip = n >= 8 && memcmp(text, "#version", 8) == 0;
    if (*skip) return DSTOK_OK;
    const char *blank = n > 0 ? memchr(text, ' ', n) : NULL;
    dstok__quoted q;
    if (blank == NULL || memchr(blank + 1, ' ', n - (size_t)(blank + 1 - text)) != NULL)
        return dstok__json_fail(
            &h->doc, DSTOK_E_FORMAT, e->at, h->r.err,
            "merge %zu, \"%s\", must hold exactly one blank (write it as two strings: [\"a\", \"b\"])",
            e->index, DSTOK__QUOTE(text, n, q));
    e->left = text;
    e->left_n = (size_t)(blank - text);
    e->right = blank + 1;
    e->right_n = n - e->left_n - 1;
    return DSTOK_OK;
}

/* ["a", "b"]. */
static dstok_status split_pair(dstok__hf *h, entry *e) {
    dstok__json_iter it;
    dstok__reader second = h->r;
    second.scratch = &h->other; /* the left part may be in h->text */
    size_t n = 0;
    if (dstok__json_kind_at(&h->doc, e->at) == DSTOK__JSON_ARRAY) {
        dstok__json_iter_init(&it, &h->doc, e->at);
        for (; n <= 2 && dstok__json_next(&it); n++) {
            if (n == 0)
                DSTOK_TRY(
                    dstok__read_string(&h->r, e->at, it.value, "a part of a merge", &e->left, &e->left_n));
            if (n == 1)
                DSTOK_TRY(dstok__read_string(&second, e->at, it.value, "a part of a merge", &e->right,
                                             &e->right_n));
        }
    }
    if (n == 2) return DSTOK_OK;
    return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, e->at, h->r.err,
                            "merge %zu must be \"a b\" or [\"a\", \"b\"]", e->index);
}

static dstok_status find_part(dstok__hf *h, const entry *e, const char *part, size_t n, uint32_t *id) {
    uint32_t index = dstok__map_get(&h->vocab, part, n);
    if (index != UINT32_MAX) {
        *id = h->r.s->tokens[index].id;
        return DSTOK_OK;
    }
    dstok__quoted a, b, c;
    return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, e->at, h->r.err,
                            "merge %zu, \"%s\" + \"%s\": \"%s\" is not in vocab", e->index,
                            DSTOK__QUOTE(e->left, e->left_n, a), DSTOK__QUOTE(e->right, e->right_n, b),
                            DSTOK__QUOTE(part, n, c));
}

/* The product leaves out as many bytes of the right part as the prefix of subwords has: the reference does not look
 * whether they are that prefix. */
static dstok_status join(dstok__hf *h, const entry *e) {
    size_t cut = h->prefix_key_n;
    if (cut > e->right_n || (cut < e->right_n && ((unsigned char)e->right[cut] & 0xC0) == 0x80))
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, e->at, h->r.err,
                                "merge %zu: its right part does not begin with the continuing_subword_prefix",
                                e->index);
    h->joined.len = 0;
    dstok_status status = dstok__buf_append(&h->joined, e->left, e->left_n);
    if (status == DSTOK_OK) status = dstok__buf_append(&h->joined, e->right + cut, e->right_n - cut);
    return status == DSTOK_OK ? status
                              : dstok__spec_no_room(status, "bytes in a token", h->joined.max, h->r.err);
}

/* The rank of a pair that stands twice is that of its last entry: the reference's table is simply overwritten. */
static dstok_status note_pair(dstok__hf *h, dstok__pairs *seen, const entry *e, const dstok__merge *m) {
    dstok_status status = dstok__pairs_reserve(seen, seen->count + 1);
    if (status != DSTOK_OK) return dstok__spec_no_room(status, "merges", DSTOK__MAX_MERGES, h->r.err);
    if (dstok__pairs_put(seen, m->left, m->right, 0, m->product)) return DSTOK_OK;
    dstok__quoted a, b;
    return dstok__spec_warn(h->r.s, h->r.err,
                            "merge %zu, \"%s\" + \"%s\", stands twice; its last rank counts", e->index,
                            DSTOK__QUOTE(e->left, e->left_n, a), DSTOK__QUOTE(e->right, e->right_n, b));
}

static dstok_status add_merge(dstok__hf *h, dstok__pairs *seen, const dstok__json_iter *it, size_t index) {
    entry e = {.at = it->value, .index = index};
    dstok__merge m;
    bool skip = false;
    if (dstok__json_kind_at(&h->doc, e.at) == DSTOK__JSON_STRING) {
        DSTOK_TRY(split_string(h, &e, &skip));
    } else {
        DSTOK_TRY(split_pair(h, &e));
    }
    if (skip) return DSTOK_OK;
    DSTOK_TRY(find_part(h, &e, e.left, e.left_n, &m.left));
    DSTOK_TRY(find_part(h, &e, e.right, e.right_n, &m.right));
    DSTOK_TRY(join(h, &e));
    DSTOK_TRY(find_part(h, &e, (const char *)h->joined.data, h->joined.len, &m.product));
    DSTOK_TRY(note_pair(h, seen, &e, &m));
    return dstok__spec_merge(h->r.s, m.left, m.right, m.product, h->r.err);
}

dstok_status dstok__hf_merges(dstok__hf *h, const dstok__hf_model *m) {
    dstok__json_iter it;
    dstok__pairs seen;
    if (m->merges == 0)
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, m->at, h->r.err, "the model has no merges");
    DSTOK_TRY(dstok__read_array(&h->r, m->at, m->merges, "merges", &it));
    dstok__pairs_init(&seen, h->r.s->arena.al);
    dstok_status status = DSTOK_OK;
    for (size_t i = 0; status == DSTOK_OK && dstok__json_next(&it); i++) status = add_merge(h, &seen, &it, i);
    dstok__pairs_free(&seen);
    return status;
}
