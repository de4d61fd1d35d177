/* SPDX-License-Identifier: MIT */
/* The BPE model of tokenizer.json: its options and its vocabulary. */
#include "hf.h"

#include <stdio.h>
#include <string.h>

#include "bytelevel.h"

enum { TYPE, DROPOUT, UNK, PREFIX, SUFFIX, FUSE, FALLBACK, IGNORE, VOCAB, MERGES, N_FIELDS };

static dstok_status check_type(dstok__hf *h, const dstok__field *f) {
    const char *text;
    size_t n;
    dstok__quoted q;
    if (f[TYPE].at == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__read_string(&h->r, 0, f[TYPE].at, "model type", &text, &n));
    if (dstok__text_is(text, n, "BPE")) return DSTOK_OK;
    return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, f[TYPE].at, h->r.err,
                            "not supported: model type \"%s\" (only \"BPE\")", DSTOK__QUOTE(text, n, q));
}

/* A prefix or suffix of subwords, as it stands in the keys. */
static dstok_status read_affix(dstok__hf *h, const dstok__field *f, const char **affix, size_t *n) {
    const char *text;
    if (f->at == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__read_string(&h->r, 0, f->at, f->name, &text, n));
    if (*n > 0) h->affix_at = f->at;
    return dstok__spec_copy(h->r.s, text, *n, affix, h->r.err);
}

/* Keys of byte-level vocabularies become bytes, and so do their affixes. After the pre_tokenizer. */
static dstok_status map_affix(dstok__hf *h, const char **affix, size_t *n) {
    if (*n == 0 || !h->byte_level) return DSTOK_OK;
    h->joined.len = 0;
    dstok_status status = dstok__buf_reserve(&h->joined, *n);
    if (status != DSTOK_OK) return dstok__spec_no_room(status, "bytes in a token", h->joined.max, h->r.err);
    if (!dstok__bytelevel_decode(*affix, *n, h->joined.data, n))
        return dstok__json_fail(
            &h->doc, DSTOK_E_UNSUPPORTED, h->affix_at, h->r.err,
            "not supported: a prefix or suffix of subwords outside the byte-level alphabet");
    return dstok__spec_copy(h->r.s, h->joined.data, *n, affix, h->r.err);
}

static dstok_status read_option(dstok__hf *h, const dstok__field *f, bool *value) {
    *value = false;
    return f->at == 0 ? DSTOK_OK : dstok__read_bool(&h->r, 0, f->at, f->name, value);
}

static dstok_status check_options(dstok__hf *h, const dstok__field *f) {
    DSTOK_TRY(check_type(h, f));
    if (f[DROPOUT].at != 0 && !dstok__json_is_zero(&h->doc, f[DROPOUT].at))
        return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, f[DROPOUT].at, h->r.err,
                                "not supported: dropout (its ids are random)");
    DSTOK_TRY(read_affix(h, &f[PREFIX], &h->r.s->prefix, &h->r.s->prefix_n));
    h->prefix_key_n = h->r.s->prefix_n;
    DSTOK_TRY(read_affix(h, &f[SUFFIX], &h->r.s->suffix, &h->r.s->suffix_n));
    DSTOK_TRY(read_option(h, &f[FUSE], &h->r.s->fuse_unk));
    DSTOK_TRY(read_option(h, &f[FALLBACK], &h->byte_fallback));
    return read_option(h, &f[IGNORE], &h->r.s->ignore_merges);
}

dstok_status dstok__hf_model_open(dstok__hf *h, size_t at, dstok__hf_model *m) {
    dstok__field f[N_FIELDS] = {
        [TYPE] = {"type", 0},
        [DROPOUT] = {"dropout", 0},
        [UNK] = {"unk_token", 0},
        [PREFIX] = {"continuing_subword_prefix", 0},
        [SUFFIX] = {"end_of_word_suffix", 0},
        [FUSE] = {"fuse_unk", 0},
        [FALLBACK] = {"byte_fallback", 0},
        [IGNORE] = {"ignore_merges", 0},
        [VOCAB] = {"vocab", 0},
        [MERGES] = {"merges", 0},
    };
    DSTOK_TRY(dstok__read_fields(&h->r, at, "\"model\"", f, N_FIELDS));
    DSTOK_TRY(check_options(h, f));
    *m = (dstok__hf_model){.at = at, .vocab = f[VOCAB].at, .merges = f[MERGES].at, .unk_token = f[UNK].at};
    return DSTOK_OK;
}

/* ---- vocabulary ---- */

/* The key as the map may keep it: a view of the file, or a copy when it had escapes. */
static dstok_status keep_key(dstok__hf *h, const char **key, size_t n) {
    if (*key != (const char *)h->text.data) return DSTOK_OK;
    *key = dstok__arena_copy(&h->keys, *key, n);
    return *key != NULL ? DSTOK_OK : dstok__spec_no_room(DSTOK_E_NOMEM, "", 0, h->r.err);
}

/* The key stands a second time, now with another id: its one token gets that. */
static dstok_status replace_id(dstok__hf *h, const dstok__json_iter *it, const char *key, size_t n,
                               uint32_t index, uint32_t id) {
    dstok__quoted q;
    dstok__token *token = &h->r.s->tokens[index];
    DSTOK_TRY(dstok__spec_warn(h->r.s, h->r.err,
                               "byte %zu: vocab has \"%s\" twice; the last id, %u, counts (not %u)", it->key,
                               DSTOK__QUOTE(key, n, q), id, token->id));
    token->id = id;
    h->has_double_key = true;
    dstok_status status = dstok__map_put(&h->vocab, key, n, index, NULL);
    return status == DSTOK_OK ? status : dstok__spec_no_room(status, "tokens", DSTOK__MAX_IDS, h->r.err);
}

/* A key is text in the byte-level alphabet, or else stands for itself. */
static dstok_status add_token(dstok__hf *h, const dstok__json_iter *it, const char *key, size_t n,
                              uint32_t id) {
    size_t bytes_n = n;
    h->joined.len = 0;
    dstok_status status = dstok__buf_reserve(&h->joined, n);
    if (status != DSTOK_OK) return dstok__spec_no_room(status, "bytes in a token", h->joined.max, h->r.err);
    bool mapped = h->byte_level && (n == 0 || dstok__bytelevel_decode(key, n, h->joined.data, &bytes_n));
    if (!mapped) bytes_n = n;
    if (bytes_n > DSTOK__MAX_TOKEN_BYTES)
        return dstok__json_fail(&h->doc, DSTOK_E_LIMIT, it->key, h->r.err,
                                "a token has %zu bytes; the limit is %zu", bytes_n, DSTOK__MAX_TOKEN_BYTES);
    DSTOK_TRY(dstok__spec_token(h->r.s, mapped ? (const char *)h->joined.data : key, bytes_n, id, h->r.err));
    h->r.s->tokens[h->r.s->n_tokens - 1].literal = h->byte_level && !mapped;
    return dstok__hf_token_bytes(h, it->key, key, n);
}

static dstok_status add_entry(dstok__hf *h, const dstok__json_iter *it) {
    const char *key;
    size_t n;
    uint32_t id = 0, old;
    DSTOK_TRY(dstok__read_string(&h->r, it->key, it->key, "a key of vocab", &key, &n));
    DSTOK_TRY(dstok__read_id(&h->r, it->key, it->value, "an id in vocab", &id));
    DSTOK_TRY(keep_key(h, &key, n));
    dstok_status status = dstok__map_put(&h->vocab, key, n, (uint32_t)h->r.s->n_tokens, &old);
    if (status == DSTOK_OK && old != UINT32_MAX) return replace_id(h, it, key, n, old, id);
    if (status != DSTOK_OK) return dstok__spec_no_room(status, "tokens", DSTOK__MAX_IDS, h->r.err);
    return add_token(h, it, key, n, id);
}

/* ---- ids that are taken ---- */

/* Two keys have this id: names them, at the place of the second. Rare, so a second pass over the keys is fine. */
static dstok_status refuse_shared_id(dstok__hf *h, const dstok__hf_model *m, uint32_t shared) {
    dstok__json_iter it;
    dstok__quoted q[2] = {"", ""};
    uint32_t first = UINT32_MAX;
    size_t found = 0;
    dstok__json_iter_init(&it, &h->doc, m->vocab);
    while (found < 2 && dstok__json_next(&it)) {
        const char *key;
        size_t n;
        DSTOK_TRY(dstok__read_string(&h->r, it.key, it.key, "a key of vocab", &key, &n));
        uint32_t index = dstok__map_get(&h->vocab, key, n);
        if (index == UINT32_MAX || index == first || h->r.s->tokens[index].id != shared) continue;
        first = index;
        DSTOK__QUOTE(key, n, q[found++]);
    }
    return dstok__json_fail(&h->doc, DSTOK_E_DUPLICATE, it.key, h->r.err,
                            "vocab gives id %u to \"%s\" and to \"%s\": it could not be decoded%s", shared,
                            q[0], q[1],
                            h->has_double_key ? " (a key stands twice in vocab; its last id counts)" : "");
}

/* After all keys: of one that stands twice only the last id is taken. */
static dstok_status mark_taken(dstok__hf *h, const dstok__hf_model *m) {
    const dstok__spec *s = h->r.s;
    for (size_t i = 0; i < s->n_tokens; i++) {
        if (dstok__bits_has(&h->taken, s->tokens[i].id)) return refuse_shared_id(h, m, s->tokens[i].id);
        DSTOK_TRY(dstok__bits_add(&h->taken, s->tokens[i].id, h->r.err));
    }
    return DSTOK_OK;
}

/* ---- what needs the vocabulary ---- */

/* The tokens "<0x00>" to "<0xFF>", in capitals, as byte_fallback looks for them. Are there any? */
static bool find_byte_tokens(dstok__hf *h) {
    bool found = false;
    for (unsigned b = 0; b < 256; b++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", b);
        uint32_t index = dstok__map_get(&h->vocab, name, 6);
        if (index == UINT32_MAX) continue;
        h->r.s->fallback_ids[b] = h->r.s->tokens[index].id;
        found = true;
    }
    return found;
}

/* In a byte-level vocabulary the reference falls back on the bytes of the byte-level character, not on the byte that
 * it stands for. That never acts where every byte has its token, nor without any "<0xHH>". */
static dstok_status check_fallback(dstok__hf *h, const dstok__hf_model *m) {
    bool have[256] = {false};
    dstok__spec *s = h->r.s;
    bool found = find_byte_tokens(h);
    s->byte_fallback = h->byte_fallback && !h->byte_level;
    if (!h->byte_fallback || !h->byte_level || !found) return DSTOK_OK;
    for (size_t i = 0; i < s->n_tokens; i++) {
        if (s->tokens[i].n == 1 && !s->tokens[i].literal) have[(unsigned char)s->tokens[i].text[0]] = true;
    }
    if (memchr(have, false, sizeof have) == NULL && h->affix_at == 0) return DSTOK_OK;
    return dstok__json_fail(
        &h->doc, DSTOK_E_UNSUPPORTED, m->at, h->r.err,
        "not supported: byte_fallback of a byte-level vocabulary where some byte has no token of its own");
}

static dstok_status read_unk(dstok__hf *h, const dstok__hf_model *m) {
    const char *text;
    size_t n;
    dstok__quoted q;
    if (m->unk_token == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__read_string(&h->r, 0, m->unk_token, "unk_token", &text, &n));
    uint32_t index = dstok__map_get(&h->vocab, text, n);
    if (index == UINT32_MAX)
        return dstok__spec_warn(h->r.s, h->r.err, "unk_token \"%s\" is not in vocab; it is ignored",
                                DSTOK__QUOTE(text, n, q));
    h->r.s->unk_id = h->r.s->tokens[index].id;
    return DSTOK_OK;
}

dstok_status dstok__hf_vocab(dstok__hf *h, const dstok__hf_model *m) {
    dstok__json_iter it;
    if (m->vocab == 0)
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, m->at, h->r.err, "the model has no vocab");
    if (dstok__json_kind_at(&h->doc, m->vocab) != DSTOK__JSON_OBJECT)
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, m->vocab, h->r.err, "vocab must be an object");
    DSTOK_TRY(map_affix(h, &h->r.s->prefix, &h->r.s->prefix_n));
    DSTOK_TRY(map_affix(h, &h->r.s->suffix, &h->r.s->suffix_n));
    dstok__json_iter_init(&it, &h->doc, m->vocab);
    while (dstok__json_next(&it)) DSTOK_TRY(add_entry(h, &it));
    DSTOK_TRY(mark_taken(h, m));
    DSTOK_TRY(check_fallback(h, m));
    return read_unk(h, m);
}
