/* SPDX-License-Identifier: MIT */
/* Loading the tokenizer of a GGUF file: which model it has, BOS and EOS, and the tokens it calls special. */
#include "gguf.h"

#include <string.h>

/* ---- special tokens by id ---- */

/* The id that a key holds; NO_ID when the file has none. One without a token is ignored, with a warning. */
static dstok_status read_id(dstok__gguf *g, const dstok__gguf_value *v, const char *name, uint32_t *id) {
    uint32_t found = DSTOK__NO_ID;
    *id = DSTOK__NO_ID;
    if (v->type == DSTOK__GGUF_ABSENT) return DSTOK_OK;
    bool is_id = dstok__gguf_integer(g, v, &found);
    if (is_id && found == UINT32_MAX) return DSTOK_OK; /* how some writers say "none" */
    if (is_id && found < g->n_tokens) {
        *id = found;
        return DSTOK_OK;
    }
    return dstok__spec_warn(g->s, g->err, "%s is not the id of a token; it is ignored", name);
}

/* Added tokens stand in the order of their ids. */
static void mark(dstok__spec *s, uint32_t id) {
    size_t lo = 0, hi = s->n_added;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->added[mid].id < id) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    if (lo < s->n_added && s->added[lo].id == id) s->added[lo].is_named = true;
}

static bool has_ends(const dstok__gguf_iter *it, const char *head, const char *tail) {
    size_t h = strlen(head), t = strlen(tail);
    return it->key_n >= h + t && memcmp(it->key, head, h) == 0 &&
           memcmp(it->key + it->key_n - t, tail, t) == 0;
}

/* "tokenizer.chat_template", and one with a name behind it for each further template. */
static bool is_template(const dstok__gguf_iter *it) {
    static const char name[] = "tokenizer.chat_template";
    size_t n = sizeof name - 1;
    return it->value.type == DSTOK__GGUF_STRING && has_ends(it, name, "") &&
           (it->key_n == n || it->key[n] == '.');
}

/* Tokens that the file calls by their id (eot_token_id, fim_pre_token_id, ...) or in a chat template. */
static dstok_status mark_named(dstok__gguf *g) {
    dstok__gguf_iter it = dstok__gguf_iterate(g);
    g->text.len = 0;
    while (dstok__gguf_next(&it)) {
        uint32_t id;
        if (has_ends(&it, "tokenizer.ggml.", "_token_id") && dstok__gguf_integer(g, &it.value, &id))
            mark(g->s, id);
        if (!is_template(&it)) continue;
        dstok_status status = dstok__buf_append(&g->text, g->data + it.value.at, it.value.n);
        if (status == DSTOK_OK)
            status = dstok__buf_push(&g->text, '\0'); /* no token goes on into the next one */
        if (status != DSTOK_OK)
            return dstok__spec_no_room(status, "bytes in chat templates", g->text.max, g->err);
    }
    if (g->text.len == 0) return DSTOK_OK;
    return dstok__load_chat_template(g->s, (const char *)g->text.data, g->text.len, g->err);
}

/* ---- BOS and EOS ---- */

static dstok_status read_end(dstok__gguf *g, dstok__gguf_key flag, dstok__gguf_key token, bool wanted,
                             uint32_t *id) {
    DSTOK_TRY(dstok__gguf_bool(g, flag, &wanted));
    DSTOK_TRY(read_id(g, &g->values[token], dstok__gguf_name(token), id));
    if (wanted && *id == DSTOK__NO_ID && dstok__gguf_has(g, flag))
        return dstok__spec_warn(g->s, g->err, "%s is true, but there is no %s; it is ignored",
                                dstok__gguf_name(flag), dstok__gguf_name(token));
    if (!wanted) *id = DSTOK__NO_ID;
    return DSTOK_OK;
}

static dstok_status make_template(dstok__gguf *g) {
    uint32_t bos, eos;
    DSTOK_TRY(read_end(g, DSTOK__GGUF_ADD_BOS, DSTOK__GGUF_BOS, g->default_bos, &bos));
    DSTOK_TRY(read_end(g, DSTOK__GGUF_ADD_EOS, DSTOK__GGUF_EOS, false, &eos));
    if (bos == DSTOK__NO_ID && eos == DSTOK__NO_ID) return DSTOK_OK;
    if (bos != DSTOK__NO_ID) DSTOK_TRY(dstok__spec_template(g->s, (dstok__template_item){.id = bos}, g->err));
    DSTOK_TRY(dstok__spec_template(g->s, (dstok__template_item){.is_text = true}, g->err));
    if (eos == DSTOK__NO_ID) return DSTOK_OK;
    return dstok__spec_template(g->s, (dstok__template_item){.id = eos}, g->err);
}

/* ---- all of it ---- */

static dstok_status load_model(dstok__gguf *g) {
    const char *name = "";
    size_t n = 0;
    dstok__quoted q;
    if (!dstok__gguf_has(g, DSTOK__GGUF_MODEL))
        return dstok__fail(
            g->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, 0,
            "the file has no tokenizer (no %s): a part of a split model, or one without a vocabulary",
            dstok__gguf_name(DSTOK__GGUF_MODEL));
    DSTOK_TRY(dstok__gguf_string(g, DSTOK__GGUF_MODEL, &name, &n));
    if (dstok__text_is(name, n, "gpt2")) return dstok__gguf_bpe(g);
    if (dstok__text_is(name, n, "llama")) return dstok__gguf_spm(g);
    return dstok__fail(g->err, DSTOK_E_UNSUPPORTED, g->values[DSTOK__GGUF_MODEL].at, 0,
                       "not supported: the GGUF tokenizer model \"%s\" (only \"gpt2\" and \"llama\")",
                       DSTOK__QUOTE(name, n, q));
}

static dstok_status warn_flags(dstok__gguf *g) {
    if (g->s->n_added == 0) return DSTOK_OK;
    return dstok__spec_warn(
        g->s, g->err,
        "GGUF: the file does not say which added tokens take blanks beside them (lstrip, rstrip) or "
        "stand for single words only");
}

static dstok_status load(dstok__gguf *g) {
    DSTOK_TRY(dstok__gguf_open(g));
    DSTOK_TRY(load_model(g));
    DSTOK_TRY(make_template(g));
    DSTOK_TRY(mark_named(g));
    return warn_flags(g);
}

dstok_status dstok__load_gguf(dstok__spec *s, const char *data, size_t n, dstok_error *err) {
    const dstok_alloc *al = s->arena.al;
    dstok__gguf g = {.s = s, .err = err, .data = (const uint8_t *)data, .n = n};
    dstok__map_init(&g.ids, al);
    dstok__arena_init(&g.names, al, DSTOK__MAX_ARENA);
    dstok__buf_init(&g.text, al, DSTOK__MAX_FILE);
    s->format = "GGUF";
    dstok_status status = load(&g);
    dstok__map_free(&g.ids);
    dstok__arena_free(&g.names);
    dstok__buf_free(&g.text);
    return status;
}
