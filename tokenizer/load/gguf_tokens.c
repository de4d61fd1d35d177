/* SPDX-License-Identifier: MIT */
/* The tokens of a GGUF file: their texts, types and places, and which of them are added tokens. */
#include "gguf.h"

#include "../../simd/simd.h"

#include <stdio.h>
#include <string.h>

/* ---- texts ---- */

static dstok_status no_room(const dstok__gguf *g, dstok_status status) {
    return dstok__spec_no_room(status, "tokens", DSTOK__MAX_IDS, g->err);
}

/* A token without a text is called by its number. */
static dstok_status name_empty(dstok__gguf *g, uint32_t id, const char **text, size_t *n) {
    char name[32];
    *n = (size_t)snprintf(name, sizeof name, "[EMPTY_%u]", id);
    *text = dstok__arena_copy(&g->names, name, *n);
    if (*text == NULL) return no_room(g, DSTOK_E_NOMEM);
    return dstok__spec_warn(g->s, g->err, "token %u has no text; it is called \"%s\"", id, *text);
}

static dstok_status note_text(dstok__gguf *g, const dstok__gguf_strings *it, uint32_t id) {
    const char *text = it->text;
    size_t n = it->n, good = dstok__utf8_check((const uint8_t *)text, n), at = it->at - n;
    uint32_t old;
    dstok__quoted q;
    if (good < n)
        return dstok__fail(g->err, DSTOK_E_UTF8, at + good, 0, "token %u, \"%s\", is not valid UTF-8", id,
                           DSTOK__QUOTE(text, n, q));
    if (n == 0) DSTOK_TRY(name_empty(g, id, &text, &n));
    dstok_status status = dstok__map_put(&g->ids, text, n, id, &old);
    if (status != DSTOK_OK) return no_room(g, status);
    if (old == UINT32_MAX) return DSTOK_OK;
    return dstok__fail(g->err, DSTOK_E_DUPLICATE, at, 0, "tokens %u and %u have the same text, \"%s\"", old,
                       id, DSTOK__QUOTE(text, n, q));
}

dstok_status dstok__gguf_texts(dstok__gguf *g) {
    DSTOK_TRY(dstok__gguf_check_array(g, DSTOK__GGUF_TOKENS, DSTOK__GGUF_STRING, DSTOK__GGUF_STRING, 0));
    const dstok__gguf_value *v = &g->values[DSTOK__GGUF_TOKENS];
    if (v->n == 0) return dstok__fail(g->err, DSTOK_E_FORMAT, v->at, 0, "the file has no tokens");
    if (v->n > DSTOK__MAX_IDS) return no_room(g, DSTOK_E_LIMIT);
    g->n_tokens = (uint32_t)v->n;
    if (dstok__gguf_has(g, DSTOK__GGUF_TYPES))
        DSTOK_TRY(dstok__gguf_check_array(g, DSTOK__GGUF_TYPES, DSTOK__GGUF_I32, DSTOK__GGUF_U32, v->n));
    dstok_status status = dstok__map_reserve(&g->ids, v->n);
    if (status != DSTOK_OK) return no_room(g, status);
    dstok__gguf_strings it = dstok__gguf_strings_of(g, DSTOK__GGUF_TOKENS);
    for (uint32_t id = 0; dstok__gguf_next_string(&it); id++) DSTOK_TRY(note_text(g, &it, id));
    return DSTOK_OK;
}

/* ---- one by one ---- */

static dstok_status read_type(const dstok__gguf *g, dstok__gguf_token *t) {
    t->type = DSTOK__GGUF_NORMAL;
    if (!dstok__gguf_has(g, DSTOK__GGUF_TYPES)) return DSTOK_OK;
    uint32_t type = dstok__gguf_word(g, DSTOK__GGUF_TYPES, t->id);
    if (type > DSTOK__GGUF_BYTE)
        return dstok__fail(g->err, DSTOK_E_FORMAT, g->values[DSTOK__GGUF_TYPES].at + 4 * (size_t)t->id, 0,
                           "token %u has type %d, which GGUF does not know", t->id, (int)type);
    t->type = type == DSTOK__GGUF_UNDEFINED ? DSTOK__GGUF_NORMAL : (int)type;
    return DSTOK_OK;
}

dstok_status dstok__gguf_each_token(dstok__gguf *g, dstok__gguf_token_fn *fn) {
    dstok__gguf_strings it = dstok__gguf_strings_of(g, DSTOK__GGUF_TOKENS);
    char name[32];
    for (uint32_t id = 0; dstok__gguf_next_string(&it); id++) {
        dstok__gguf_token t = {
            .text = it.text, .n = it.n, .at = it.at - it.n, .id = id, .is_empty = it.n == 0};
        if (t.is_empty) {
            t.n = (size_t)snprintf(name, sizeof name, "[EMPTY_%u]", id);
            t.text = name;
        }
        DSTOK_TRY(read_type(g, &t));
        DSTOK_TRY(fn(g, &t));
    }
    return DSTOK_OK;
}

/* ---- added tokens ---- */

dstok_status dstok__gguf_add(dstok__gguf *g, const dstok__gguf_token *t, const char *content, size_t n,
                             bool rstrip) {
    const dstok__token *token = &g->s->tokens[g->s->n_tokens - 1];
    if (n > DSTOK__MAX_ADDED_BYTES)
        return dstok__fail(g->err, DSTOK_E_LIMIT, t->at, 0, "added token %u has %zu bytes; the limit is %u",
                           t->id, n, DSTOK__MAX_ADDED_BYTES);
    dstok__added a = {.content = content,
                      .n = (uint32_t)n,
                      .id = t->id,
                      .special = t->type != DSTOK__GGUF_USER_DEFINED,
                      .rstrip = rstrip};
    if (token->bytes_n != n || memcmp(token->bytes, content, n) != 0) {
        a.bytes = token->bytes;
        a.bytes_n = token->bytes_n;
    }
    return dstok__spec_added(g->s, &a, g->err);
}
