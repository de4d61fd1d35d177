/* SPDX-License-Identifier: MIT */
/* Input that is not UTF-8: refused, replaced, or taken as raw bytes. */
#include "raw.h"

#include "../../simd/simd.h"

#include <string.h>

void dstok__note_invalid(job *j, size_t at, size_t n) {
    dstok_report *r = &j->enc->report;
    if (r->n_invalid == 0) r->first_invalid = at;
    r->n_invalid += n;
}

/* Copies the text with U+FFFD for each maximal ill-formed subpart, as an edit each. */
static dstok_status replace_invalid(job *j, const uint8_t *source, size_t len) {
    dstok__normalized *v = &j->enc->valid;
    v->buf.len = 0;
    v->buf.max = DSTOK_MAX_INPUT;
    v->n_edits = 0;
    for (size_t i = 0; i < len;) {
        size_t good = dstok__utf8_check(source + i, len - i);
        DSTOK_TRY(dstok__buf_append(&v->buf, source + i, good));
        i += good;
        if (i == len) break;
        size_t bad = dstok__utf8_ill_formed(source + i, len - i, NULL);
        dstok__note_invalid(j, i, 1);
        DSTOK_TRY(dstok__grow(v->buf.al, (void **)&v->edits, &v->cap_edits, v->n_edits + 1, sizeof *v->edits,
                              SIZE_MAX));
        v->edits[v->n_edits++] =
            (dstok__edit){.out = v->buf.len, .src = i, .out_n = 3, .src_n = (uint32_t)bad};
        DSTOK_TRY(dstok__buf_append(&v->buf, "\xEF\xBF\xBD", 3));
        i += bad;
    }
    v->text = v->buf.data;
    v->len = v->buf.len;
    j->is_replaced = true;
    dstok__map_cursor_init(&j->replaced, v);
    j->in_text.replaced = j->in_norm.replaced = j->replaced_unknown = j->replaced;
    return dstok__job_text(j, v->text, v->len);
}

/* Raw mode for tokenizer.json vocabularies: well-formed stretches as usual, each ill-formed run as one
 * pretoken. */
static dstok_status encode_raw(job *j, const uint8_t *source, size_t len) {
    dstok__ahead ahead = {{0, 0}};
    for (size_t i = 0, end, n; i < len;) {
        if (i > 0 || !j->part.goes_on) DSTOK_TRY(dstok__raw_shorts(j, &ahead, source, len, &i));
        end = dstok__well_formed_end(j, source, len, i);
        j->base = i;
        j->no_prefix = i > 0 || j->part.is_behind_raw; /* a blank inside the text would be no part of it */
        DSTOK_TRY(dstok__job_text(j, source + i, end - i));
        i = dstok__ill_formed_end(source, len, end, &n);
        if (i > end) dstok__note_invalid(j, end, n);
        DSTOK_TRY(dstok__job_bytes(j, source, end, i));
    }
    return DSTOK_OK;
}

static bool is_all_blank(const dstok_tokenizer *tok, uint32_t id) {
    uint32_t n;
    const uint8_t *bytes = dstok__token_bytes(tok, id, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (bytes[i] != ' ' && bytes[i] != '\n' && bytes[i] != '\t') return false;
    }
    return true;
}

/* How many of the tokens so far tiktoken holds for unstable: those of the last pretoken (0 after an added
 * token), and all blank ones before them when they begin with a blank one. */
static size_t unstable_tokens(const job *j) {
    const dstok__sink *out = &j->enc->out;
    size_t k = out->n - j->last_first;
    if (k == 0 || !is_all_blank(j->tok, out->ids[out->n - k])) return k;
    for (; k < out->n - j->n_before; k++) { /* spans and flags of a template may not be there */
        size_t before = out->n - k - 1;
        if (out->flags[before] & (DSTOK_FLAG_ADDED | DSTOK_FLAG_TEMPLATE)) break;
        if (!is_all_blank(j->tok, out->ids[before])) break;
    }
    return k;
}

/* What stands behind the first ill-formed byte: counted, and control text there is judged like any other. */
static dstok_status look_at_rest(job *j, const uint8_t *source, size_t begin, size_t len) {
    dstok__ahead ahead = {{0, 0}};
    for (size_t i = begin, end, n; i < len; i = end) {
        size_t good = dstok__ill_formed_end(source, len, i, &n);
        if (n > 0) dstok__note_invalid(j, i, n);
        end = dstok__well_formed_end(j, source, len, good);
        j->base = good;
        if (dstok__may_have_added(j, &ahead, source, len, good, end))
            DSTOK_TRY(dstok__job_judge(j, source + good, end - good));
    }
    return DSTOK_OK;
}

/* Raw mode for rank files, as tiktoken's _encode_bytes: the well-formed prefix as usual, then its last
 * pretoken is taken back and everything from there on is merged as one piece without the pattern. */
static dstok_status encode_raw_ranks(job *j, const uint8_t *source, size_t len) {
    dstok__sink *out = &j->enc->out;
    bool store = out->store;
    size_t good = dstok__utf8_check(source, len);
    bool ids_only = out->ids_only;
    size_t enough = out->enough;
    out->enough = SIZE_MAX;         /* tokens are taken back */
    out->store = j->is_slow = true; /* also for a count: what is taken back must be looked at */
    out->ids_only = false;
    j->last_first = out->n;
    DSTOK_TRY(dstok__job_text(j, source, good));
    DSTOK_TRY(look_at_rest(j, source, good, len));
    size_t taken = unstable_tokens(j);
    while (taken > 0 && taken < out->n - j->n_before &&
           out->spans[out->n - taken - 1].end > out->spans[out->n - taken].begin) {
        taken++; /* a normaliser changed characters that this token and the next came from: back to before them */
    }
    size_t begin = taken > 0 ? (size_t)out->spans[out->n - taken].begin : good;
    out->n -= taken;
    out->store = store;
    out->ids_only = ids_only;
    out->enough = enough;
    if (out->n >= enough) return DSTOK__ENOUGH;
    return dstok__job_bytes(j, source, begin, len);
}

dstok_status dstok__job_invalid(job *j, const uint8_t *source, size_t len) {
    size_t good;
    switch (j->opt.invalid) {
    case DSTOK_INVALID_REPLACE:
        return replace_invalid(j, source, len);
    case DSTOK_INVALID_RAW:
        if (j->tok->t.head->model == DSTOK__MODEL_RANKS) return encode_raw_ranks(j, source, len);
        return encode_raw(j, source, len);
    default:
        good = dstok__utf8_check(source, len);
        return dstok__fail(j->err, DSTOK_E_UTF8, good, 0,
                           "invalid UTF-8 (byte 0x%02X); ask for replacement or raw bytes to encode it",
                           source[good]);
    }
}
