/* SPDX-License-Identifier: MIT */
/* The inspection calls: what a loaded vocabulary holds. */
#include "bpe/model.h"

#include <string.h>

static const char *scanner_name(const dstok_tokenizer *tok) {
    const dstok__family *family = dstok__pretok_family(tok->pretok);
    if (family != NULL) return family->name;
    return tok->spec.n_steps > 0 ? "pcre2" : "none";
}

void dstok_tokenizer_info(const dstok_tokenizer *tok, dstok_info *info) {
    dstok_info all = {
        .struct_size = info->struct_size,
        .format = tok->spec.format,
        .scanner = scanner_name(tok),
        .normalizer = tok->normalizer,
        .n_ids = tok->n_ids,
        .n_tokens = tok->n_tokens,
        .n_added = tok->spec.n_added,
        .n_merges = tok->n_merges,
        .n_steps = tok->spec.n_steps,
        .memory = tok->memory,
        .ignore_merges = tok->whole_first,
        .has_template =
            tok->spec.n_template > 1 || (tok->spec.n_template == 1 && !tok->spec.template_items[0].is_text),
        .unk_id = tok->spec.unk_id,
    };
    memcpy(info, &all, info->struct_size < sizeof all ? info->struct_size : sizeof all);
}

const char *dstok_tokenizer_step(const dstok_tokenizer *tok, size_t i) {
    return i < tok->spec.n_steps ? tok->steps[i] : NULL;
}

const char *dstok_tokenizer_warning(const dstok_tokenizer *tok, size_t i) {
    return i < tok->spec.n_warnings ? tok->spec.warnings[i] : NULL;
}

uint32_t dstok_token_flags(const dstok_tokenizer *tok, uint32_t id) {
    return id < tok->n_ids ? tok->flags[id] : 0;
}

dstok_status dstok_token_bytes(const dstok_tokenizer *tok, uint32_t id, const void **bytes, size_t *n) {
    if (id >= tok->n_ids || tok->flags[id] == 0) return DSTOK_E_BAD_ID;
    *bytes = tok->pieces[id].bytes;
    *n = tok->pieces[id].n;
    return DSTOK_OK;
}

/* Tokens that no text can give (keys outside the byte-level map) are in no table: look at all. */
static dstok_status scan_pieces(const dstok_tokenizer *tok, const void *bytes, size_t n, uint32_t *id) {
    for (uint32_t i = 0; i < tok->n_ids; i++) {
        const dstok__piece *p = &tok->pieces[i];
        if (tok->flags[i] != 0 && p->n == n && memcmp(p->bytes, bytes, n) == 0) {
            *id = i;
            return DSTOK_OK;
        }
    }
    return DSTOK_E_BAD_ID;
}

dstok_status dstok_token_id(const dstok_tokenizer *tok, const void *bytes, size_t n, uint32_t *id) {
    if (n == 0) return DSTOK_E_BAD_ID;
    for (size_t i = 0; i < tok->spec.n_added; i++) {
        const dstok__added *a = &tok->spec.added[i];
        if (a->n == n && memcmp(a->content, bytes, n) == 0) {
            *id = a->id;
            return DSTOK_OK;
        }
    }
    uint32_t found = dstok__map_get(&tok->by_bytes, bytes, n);
    if (found == DSTOK__NO_ID) return scan_pieces(tok, bytes, n, id);
    *id = found;
    return DSTOK_OK;
}
