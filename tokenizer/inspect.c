/* SPDX-License-Identifier: MIT */
/* The inspection calls: what a loaded vocabulary holds. */
#include "base/sized.h"
#include "bpe/model.h"

#include <string.h>

static const char *scanner_name(const dstok_tokenizer *tok) {
    const dstok__family *family = dstok__pretok_family(tok->pretok);
    if (family != NULL) return family->name;
    return dstok__tables_n(&tok->t, DSTOK__S_STEPS) > 0 ? "pcre2" : "none";
}

static bool has_template(const dstok_tokenizer *tok) {
    size_t n = dstok__tables_n(&tok->t, DSTOK__S_TEMPLATE);
    return n > 1 || (n == 1 && tok->t.template[0] != DSTOK__NO_ID);
}

static const char *words(const dstok_tokenizer *tok, size_t i) {
    return dstok__tables_string(&tok->t, tok->t.words[i]);
}

dstok_status dstok_tokenizer_info(const dstok_tokenizer *tok, dstok_info *info) {
    if (tok == NULL) return DSTOK_E_INVAL;
    DSTOK_TRY(
        dstok__sized_check(info, DSTOK__SIZE_TO(dstok_info, is_compiled), "info", "DSTOK_INFO_INIT", NULL));
    dstok_info all = {
        .format = words(tok, 0),
        .scanner = scanner_name(tok),
        .normalizer = words(tok, 1),
        .n_ids = tok->n_ids,
        .n_tokens = tok->t.head->n_tokens,
        .n_added = dstok__tables_n(&tok->t, DSTOK__S_ADDED),
        .n_merges = tok->t.head->n_merges,
        .n_steps = dstok__tables_n(&tok->t, DSTOK__S_STEPS),
        .memory = tok->block_n + sizeof *tok + tok->n_rows * sizeof *tok->rows +
                  (tok->raw.cap + tok->normalized.cap) * sizeof(dstok__added_entry),
        .ignore_merges = (tok->options & DSTOK__T_WHOLE_FIRST) != 0,
        .has_template = has_template(tok),
        .unk_id = tok->unk_id,
        .is_compiled = tok->is_compiled,
    };
    dstok__sized_write(info, &all, sizeof all);
    return DSTOK_OK;
}

const char *dstok_tokenizer_step(const dstok_tokenizer *tok, size_t i) {
    return i < dstok__tables_n(&tok->t, DSTOK__S_STEPS) ? words(tok, 2 + i) : NULL;
}

const char *dstok_tokenizer_warning(const dstok_tokenizer *tok, size_t i) {
    if (i >= dstok__tables_n(&tok->t, DSTOK__S_WARNINGS)) return NULL;
    return dstok__tables_string(&tok->t, tok->t.warnings[i]);
}

const void *dstok_tokenizer_compiled(const dstok_tokenizer *tok, size_t *n) {
    *n = tok->block_n;
    return tok->block;
}

uint32_t dstok_token_flags(const dstok_tokenizer *tok, uint32_t id) {
    return id < tok->n_ids ? tok->flags[id] & DSTOK__PUBLIC_FLAGS : 0;
}

dstok_status dstok_token_bytes(const dstok_tokenizer *tok, uint32_t id, const void **bytes, size_t *n) {
    if (id >= tok->n_ids || tok->flags[id] == 0) return DSTOK_E_BAD_ID;
    uint32_t length;
    *bytes = dstok__token_bytes(tok, id, &length);
    *n = length;
    return DSTOK_OK;
}

static bool is_ref(const dstok_tokenizer *tok, dstok__ref ref, const void *bytes, size_t n) {
    return ref.n == n && memcmp(dstok__tables_string(&tok->t, ref), bytes, n) == 0;
}

/* Tokens that decode to something else than the model matches are in no table: look at all. */
static dstok_status scan_tokens(const dstok_tokenizer *tok, const void *bytes, size_t n, uint32_t *id) {
    for (uint32_t i = 0; i < tok->n_ids; i++) {
        if (tok->flags[i] != 0 && is_ref(tok, tok->t.tokens[i], bytes, n)) {
            *id = i;
            return DSTOK_OK;
        }
    }
    return DSTOK_E_BAD_ID;
}

dstok_status dstok_token_id(const dstok_tokenizer *tok, const void *bytes, size_t n, uint32_t *id) {
    if (n == 0) return DSTOK_E_BAD_ID;
    for (size_t i = 0; i < dstok__tables_n(&tok->t, DSTOK__S_ADDED); i++) {
        const dstok__added_row *row = &tok->t.added[i];
        if (is_ref(tok, row->text, bytes, n)) {
            *id = row->id;
            return DSTOK_OK;
        }
    }
    uint32_t found = dstok__tables_find(&tok->t, bytes, n);
    if (found >= tok->n_ids || !is_ref(tok, tok->t.tokens[found], bytes, n))
        return scan_tokens(tok, bytes, n, id);
    *id = found;
    return DSTOK_OK;
}
