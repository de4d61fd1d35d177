/* SPDX-License-Identifier: MIT */
/* GGUF model "gpt2": byte-level BPE, its tokens and merges in the byte-level alphabet. */
#include "gguf.h"

#include "../bpe/pairs.h"
#include "bytelevel.h"

#include <string.h>

/* ---- tokens ---- */

/* The bytes that a text in the byte-level alphabet stands for, in g->text; false: it has other characters. */
static dstok_status map_text(dstok__gguf *g, const dstok__gguf_token *t, bool *mapped) {
    g->text.len = 0;
    dstok_status status = dstok__buf_reserve(&g->text, t->n);
    if (status != DSTOK_OK) return dstok__spec_no_room(status, "bytes in a token", g->text.max, g->err);
    *mapped = dstok__bytelevel_decode(t->text, t->n, g->text.data, &g->text.len);
    return DSTOK_OK;
}

/* A normal token is matched as its bytes. All others are matched as added tokens or not at all, but merges
 * may name them; what they decode to follows the same rule. */
static dstok_status add_token(dstok__gguf *g, const dstok__gguf_token *t) {
    bool mapped = false, normal = t->type == DSTOK__GGUF_NORMAL || t->type == DSTOK__GGUF_BYTE;
    DSTOK_TRY(map_text(g, t, &mapped));
    const char *bytes = (const char *)g->text.data;
    if (normal && mapped && !t->is_empty) return dstok__spec_token(g->s, bytes, g->text.len, t->id, g->err);
    DSTOK_TRY(dstok__spec_token(g->s, t->text, t->n, t->id, g->err));
    g->s->tokens[g->s->n_tokens - 1].literal = true;
    if (mapped) DSTOK_TRY(dstok__spec_token_bytes(g->s, bytes, g->text.len, g->err));
    if (normal || t->type == DSTOK__GGUF_UNUSED || t->is_empty) return DSTOK_OK;
    return dstok__gguf_add(g, t, t->text, t->n, false);
}

/* ---- merges ---- */

/* One entry of the list. */
typedef struct entry {
    const char *text;
    size_t n, index, at; /* at: place in the file */
} entry;

static dstok_status find_token(const dstok__gguf *g, const entry *e, const char *text, size_t n,
                               uint32_t *id) {
    *id = dstok__map_get(&g->ids, text, n);
    if (*id != UINT32_MAX) return DSTOK_OK;
    dstok__quoted a, b;
    return dstok__fail(g->err, DSTOK_E_FORMAT, e->at, 0, "merge %zu, \"%s\": \"%s\" is no token", e->index,
                       DSTOK__QUOTE(e->text, e->n, a), DSTOK__QUOTE(text, n, b));
}

/* Left and right are what stands before and behind the first blank, but for one at the very begin. */
static dstok_status read_merge(dstok__gguf *g, const entry *e, dstok__merge *m) {
    const char *blank = e->n > 1 ? memchr(e->text + 1, ' ', e->n - 1) : NULL;
    dstok__quoted q;
    if (blank == NULL)
        return dstok__fail(g->err, DSTOK_E_FORMAT, e->at, 0,
                           "merge %zu, \"%s\", holds no blank between two tokens", e->index,
                           DSTOK__QUOTE(e->text, e->n, q));
    size_t left = (size_t)(blank - e->text), right = e->n - left - 1;
    g->text.len = 0;
    dstok_status status = dstok__buf_append(&g->text, e->text, left);
    if (status == DSTOK_OK) status = dstok__buf_append(&g->text, blank + 1, right);
    if (status != DSTOK_OK) return dstok__spec_no_room(status, "bytes in a merge", g->text.max, g->err);
    DSTOK_TRY(find_token(g, e, e->text, left, &m->left));
    DSTOK_TRY(find_token(g, e, blank + 1, right, &m->right));
    return find_token(g, e, (const char *)g->text.data, g->text.len, &m->product);
}

static dstok_status add_merge(dstok__gguf *g, dstok__pairs *seen, const entry *e) {
    dstok__merge m = {0, 0, 0};
    dstok__quoted q;
    DSTOK_TRY(read_merge(g, e, &m));
    dstok_status status = dstok__pairs_reserve(seen, seen->count + 1);
    if (status != DSTOK_OK) return dstok__spec_no_room(status, "merges", DSTOK__MAX_MERGES, g->err);
    if (dstok__pairs_put(seen, m.left, m.right, 0, m.product))
        return dstok__spec_merge(g->s, m.left, m.right, m.product, g->err);
    return dstok__spec_warn(g->s, g->err, "merge %zu, \"%s\", stands twice; its first rank counts", e->index,
                            DSTOK__QUOTE(e->text, e->n, q));
}

static dstok_status read_merges(dstok__gguf *g) {
    dstok__pairs seen;
    DSTOK_TRY(dstok__gguf_check_array(g, DSTOK__GGUF_MERGES, DSTOK__GGUF_STRING, DSTOK__GGUF_STRING, 0));
    dstok__gguf_strings it = dstok__gguf_strings_of(g, DSTOK__GGUF_MERGES);
    dstok__pairs_init(&seen, g->s->arena.al);
    dstok_status status = DSTOK_OK;
    for (size_t i = 0; status == DSTOK_OK && dstok__gguf_next_string(&it); i++) {
        entry e = {it.text, it.n, i, it.at - it.n};
        status = add_merge(g, &seen, &e);
    }
    dstok__pairs_free(&seen);
    return status;
}

/* ---- all of it ---- */

static dstok_status check_prefix(const dstok__gguf *g) {
    bool prefix = false;
    DSTOK_TRY(dstok__gguf_bool(g, DSTOK__GGUF_ADD_PREFIX, &prefix));
    if (!prefix) return DSTOK_OK;
    return dstok__fail(g->err, DSTOK_E_UNSUPPORTED, g->values[DSTOK__GGUF_ADD_PREFIX].at, 0,
                       "not supported: %s with model \"gpt2\" (give the model's tokenizer.json)",
                       dstok__gguf_name(DSTOK__GGUF_ADD_PREFIX));
}

dstok_status dstok__gguf_bpe(dstok__gguf *g) {
    g->s->model = DSTOK__MODEL_MERGES;
    DSTOK_TRY(dstok__gguf_pretokenizer(g));
    DSTOK_TRY(check_prefix(g));
    DSTOK_TRY(dstok__gguf_texts(g));
    DSTOK_TRY(dstok__gguf_each_token(g, add_token));
    DSTOK_TRY(read_merges(g));
    g->s->decs[g->s->n_decs++] = (dstok__dec){.kind = DSTOK__DEC_BYTE_LEVEL};
    return DSTOK_OK;
}
