/* SPDX-License-Identifier: MIT */
/* A tokenizer from its tables: added-token sets, the normaliser, the pretokenizer. */
#include "model.h"

#include "../file.h"

#include <inttypes.h>
#include <string.h>

static dstok_status fill_set(dstok_tokenizer *tok, dstok__added_set *set, const dstok__added_row *rows,
                             size_t n) {
    for (size_t i = 0; i < n; i++) {
        dstok__added_entry entry = {.text = tok->t.strings + rows[i].text.at,
                                    .n = rows[i].text.n,
                                    .id = rows[i].id,
                                    .flags = rows[i].flags};
        DSTOK_TRY(dstok__added_put(set, &entry));
    }
    return dstok__added_build(set);
}

static dstok_status fill_normalizer(dstok_tokenizer *tok, dstok_error *err) {
    dstok__norm ops[DSTOK__MAX_NORMS];
    size_t n = dstok__tables_n(&tok->t, DSTOK__S_NORMS);
    for (size_t i = 0; i < n; i++) {
        const dstok__op_row *row = &tok->t.norms[i];
        ops[i] = (dstok__norm){.kind = (dstok__norm_kind)row->kind,
                               .flags = row->flags,
                               .pattern = dstok__tables_string(&tok->t, row->pattern),
                               .pattern_n = row->pattern.n,
                               .content = dstok__tables_string(&tok->t, row->content),
                               .content_n = row->content.n};
    }
    return dstok__normalizer_new(&tok->al, ops, n, &tok->normalizer, err);
}

/* A place in a pattern is no place in the file. */
static dstok_status pattern_failed(dstok_status status, dstok_error *err) {
    char text[sizeof err->text];
    if (err == NULL || err->offset == DSTOK_NO_OFFSET) return status;
    memcpy(text, err->text, sizeof text);
    return dstok__fail(err, status, DSTOK_NO_OFFSET, 0,
                       "%sbyte %" PRIu64 " of the pretokenizer's pattern: %s",
                       status == DSTOK_E_UNSUPPORTED ? "not supported: " : "", err->offset, text);
}

static dstok_status fill_pretok(dstok_tokenizer *tok, uint32_t load_flags, dstok_error *err) {
    dstok__step steps[DSTOK__MAX_STEPS];
    size_t n = dstok__tables_n(&tok->t, DSTOK__S_STEPS);
    for (size_t i = 0; i < n; i++) {
        const dstok__op_row *row = &tok->t.steps[i];
        steps[i] = (dstok__step){.kind = (dstok__step_kind)row->kind,
                                 .behavior = (dstok__behavior)(row->flags & 0xFF),
                                 .invert = (row->flags >> 8 & 0xFF) != 0,
                                 .dialect = (dstok__dialect)(row->flags >> 16),
                                 .pattern = dstok__tables_string(&tok->t, row->pattern),
                                 .n = row->pattern.n,
                                 .prepend = (dstok__prepend)row->prepend,
                                 .length = row->length};
    }
    bool use_scanners = (load_flags & DSTOK_LOAD_NO_SCANNER) == 0;
    dstok_status status = dstok__pretok_new(&tok->al, steps, n, use_scanners, &tok->pretok, err);
    return status == DSTOK_OK ? status : pattern_failed(status, err);
}

static void set_shortcuts(dstok_tokenizer *tok) {
    const dstok__head *h = tok->t.head;
    tok->n_ids = h->n_ids;
    tok->flags = tok->t.flags;
    tok->plan = &h->plan;
    tok->options = h->options;
    tok->unk_id = h->unk_id;
    tok->prefix = dstok__tables_string(&tok->t, h->prefix);
    tok->prefix_n = h->prefix.n;
    tok->suffix = dstok__tables_string(&tok->t, h->suffix);
    tok->suffix_n = h->suffix.n;
}

static dstok_status fill_rows(dstok_tokenizer *tok) {
    size_t n = tok->n_ids < DSTOK__MAX_ROWS ? tok->n_ids : DSTOK__MAX_ROWS;
    tok->rows = dstok__alloc_array(&tok->al, n, sizeof *tok->rows);
    if (tok->rows == NULL && n > 0) return DSTOK_E_NOMEM;
    tok->n_rows = n;
    dstok__rows_fill(&tok->t, tok->rows, n);
    return DSTOK_OK;
}

dstok_status dstok__model_open(dstok_tokenizer *tok, uint8_t *block, size_t n, dstok__block_kind kind,
                               bool is_file, uint32_t load_flags, dstok_error *err) {
    tok->block = block;
    tok->block_n = n;
    tok->block_kind = kind;
    tok->is_compiled = is_file;
    dstok__added_init(&tok->raw, &tok->al);
    dstok__added_init(&tok->normalized, &tok->al);
    DSTOK_TRY(dstok__tables_open(&tok->t, block, n, is_file, err));
    set_shortcuts(tok);
    DSTOK_TRY(fill_rows(tok));
    DSTOK_TRY(fill_set(tok, &tok->raw, tok->t.raw, dstok__tables_n(&tok->t, DSTOK__S_RAW)));
    DSTOK_TRY(
        fill_set(tok, &tok->normalized, tok->t.normalized, dstok__tables_n(&tok->t, DSTOK__S_NORMALIZED)));
    DSTOK_TRY(fill_normalizer(tok, err));
    return fill_pretok(tok, load_flags, err);
}

void dstok__model_free(dstok_tokenizer *tok) {
    dstok__pretok_free(tok->pretok);
    dstok__normalizer_free(tok->normalizer);
    dstok__free(&tok->al, tok->rows, tok->n_rows * sizeof *tok->rows);
    if (tok->block != NULL) {
        dstok__added_free(&tok->raw);
        dstok__added_free(&tok->normalized);
    }
    if (tok->block_kind == DSTOK__BLOCK_HEAP) dstok__free(&tok->al, tok->block, tok->block_n);
    if (tok->block_kind == DSTOK__BLOCK_MAPPED) dstok__unmap_file(tok->block, tok->block_n);
}
