/* SPDX-License-Identifier: MIT */
/* The added tokens of tokenizer.json, numbered as the reference numbers them: the ids in the file do not count. */
#include "hf.h"

#include <string.h>

static dstok_status read_entry(dstok__hf *h, size_t at, dstok__added *a, uint32_t *file_id) {
    dstok__field f[] = {{"content", 0}, {"id", 0},     {"special", 0},   {"single_word", 0},
                        {"lstrip", 0},  {"rstrip", 0}, {"normalized", 0}};
    size_t n;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "an added token", f, sizeof f / sizeof *f));
    DSTOK_TRY(dstok__read_id(&h->r, at, f[1].at, "\"id\" of an added token", file_id));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[2].at, "\"special\" of an added token", &a->special));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[3].at, "\"single_word\" of an added token", &a->single_word));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[4].at, "\"lstrip\" of an added token", &a->lstrip));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[5].at, "\"rstrip\" of an added token", &a->rstrip));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[6].at, "\"normalized\" of an added token", &a->normalized));
    DSTOK_TRY(dstok__read_string(&h->r, at, f[0].at, "\"content\" of an added token", &a->content, &n));
    if (n > DSTOK__MAX_ADDED_BYTES)
        return dstok__json_fail(&h->doc, DSTOK_E_LIMIT, f[0].at, h->r.err,
                                "an added token has %zu bytes; the limit is %u", n, DSTOK__MAX_ADDED_BYTES);
    a->n = (uint32_t)n;
    return DSTOK_OK;
}

/* The same text again: its last flags count, but once special it stays special. */
static dstok_status change(dstok__hf *h, size_t at, uint32_t index, const dstok__added *a) {
    dstok__added *old = &h->r.s->added[index];
    dstok__quoted q;
    bool special = old->special || a->special;
    old->single_word = a->single_word;
    old->lstrip = a->lstrip;
    old->rstrip = a->rstrip;
    old->normalized = a->normalized;
    old->special = special;
    return dstok__spec_warn(h->r.s, h->r.err,
                            "byte %zu: the added token \"%s\" stands twice; its last flags count", at,
                            DSTOK__QUOTE(a->content, a->n, q));
}

/* With holes in the vocabulary, counting its keys can meet an id that a key has. */
static dstok_status note_shared(dstok__hf *h, dstok__added *a) {
    dstok__quoted q;
    a->shadows = dstok__bits_has(&h->taken, a->id);
    if (!a->shadows) return DSTOK_OK;
    return dstok__spec_warn(
        h->r.s, h->r.err,
        "the added token \"%s\" gets id %u, which vocab gives to another text; the id decodes to the "
        "added token",
        DSTOK__QUOTE(a->content, a->n, q), a->id);
}

/* The id of a text that is new among the added tokens: a key of the vocabulary keeps its id, other texts are numbered
 * in file order, on from the number of keys. */
static dstok_status number(dstok__hf *h, size_t at, dstok__added *a) {
    uint32_t index = dstok__map_get(&h->vocab, a->content, a->n);
    if (index != UINT32_MAX) {
        a->id = h->r.s->tokens[index].id;
        return DSTOK_OK;
    }
    if (h->next_id >= DSTOK__MAX_IDS)
        return dstok__json_fail(&h->doc, DSTOK_E_LIMIT, at, h->r.err, "no id is left for an added token");
    a->id = h->next_id++;
    return note_shared(h, a);
}

static dstok_status add_entry(dstok__hf *h, size_t at) {
    dstok__added a = {0};
    dstok__quoted q;
    uint32_t file_id = 0;
    DSTOK_TRY(read_entry(h, at, &a, &file_id));
    if (a.n == 0)
        return dstok__spec_warn(h->r.s, h->r.err, "byte %zu: an added token without text is ignored", at);
    uint32_t index = dstok__map_get(&h->added, a.content, a.n);
    if (index != UINT32_MAX) return change(h, at, index, &a);
    DSTOK_TRY(number(h, at, &a));
    if (a.id != file_id)
        DSTOK_TRY(dstok__spec_warn(h->r.s, h->r.err,
                                   "the added token \"%s\" has id %u in the file; as in Hugging Face's "
                                   "own numbering it gets %u",
                                   DSTOK__QUOTE(a.content, a.n, q), file_id, a.id));
    DSTOK_TRY(dstok__spec_added(h->r.s, &a, h->r.err));
    const dstok__added *kept = &h->r.s->added[h->r.s->n_added - 1];
    dstok_status status =
        dstok__map_put(&h->added, kept->content, kept->n, (uint32_t)h->r.s->n_added - 1, NULL);
    return status == DSTOK_OK ? status
                              : dstok__spec_no_room(status, "added tokens", DSTOK__MAX_ADDED, h->r.err);
}

/* ---- what they decode to ---- */

static bool maps_bytes(const dstok__spec *s) {
    for (size_t i = 0; i < s->n_norms; i++) {
        if (s->norms[i].kind == DSTOK__NORM_BYTE_LEVEL) return true;
    }
    return false;
}

/* The text as it is found: normalised, for those that are looked for behind the normalizer. */
static dstok_status normalize(dstok__hf *h, size_t at, const dstok__added *a) {
    dstok_error detail;
    dstok_status status =
        dstok__normalize(&h->normalized, h->normalizer, h->regex, (const uint8_t *)a->content, a->n,
                         DSTOK__MAX_TOKEN_BYTES, &detail);
    if (status == DSTOK_E_NOMEM) return dstok__spec_no_room(status, "", 0, h->r.err);
    dstok__quoted q;
    return status == DSTOK_OK ? status
                              : dstok__json_fail(&h->doc, status, at, h->r.err, "added token \"%s\": %s",
                                                 DSTOK__QUOTE(a->content, a->n, q), detail.text);
}

/* The reference decodes to the text that is found, not to that in the file: what a normalizer puts before the token, it
 * has taken from the text. */
static dstok_status set_bytes(dstok__hf *h, size_t at, dstok__added *a) {
    const char *text = a->content;
    size_t n = a->n;
    if (a->normalized && h->normalizer != NULL) {
        DSTOK_TRY(normalize(h, at, a));
        text = (const char *)h->normalized.text;
        n = h->normalized.len;
    }
    bool is_changed = n != a->n || memcmp(text, a->content, n) != 0;
    DSTOK_TRY(dstok__hf_added_bytes(h, at, text, n, is_changed && maps_bytes(h->r.s), &a->is_byte));
    if (h->decoded.len == a->n && memcmp(h->decoded.data, a->content, a->n) == 0) return DSTOK_OK;
    a->bytes_n = (uint32_t)h->decoded.len;
    DSTOK_TRY(dstok__spec_copy(h->r.s, h->decoded.data, h->decoded.len, &a->bytes, h->r.err));
    uint32_t index = dstok__map_get(&h->vocab, a->content, a->n);
    if (index == UINT32_MAX || !is_changed) return DSTOK_OK;
    h->r.s->tokens[index].bytes = a->bytes;
    h->r.s->tokens[index].bytes_n = a->bytes_n;
    h->r.s->tokens[index].is_byte = a->is_byte;
    return DSTOK_OK;
}

dstok_status dstok__hf_added(dstok__hf *h, size_t at) {
    dstok__json_iter it;
    h->first_added = h->next_id = (uint32_t)h->r.s->n_tokens;
    if (at == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__read_array(&h->r, h->doc.root, at, "added_tokens", &it));
    while (dstok__json_next(&it)) DSTOK_TRY(add_entry(h, it.value));
    for (size_t i = 0; i < h->r.s->n_added; i++) DSTOK_TRY(set_bytes(h, at, &h->r.s->added[i]));
    return DSTOK_OK;
}
