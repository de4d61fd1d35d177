/* SPDX-License-Identifier: MIT */
/* Decoding of ids that come bit by bit: ids are kept until what they become is sure, bytes until the
 * character is complete. */
#include <dstok/stream.h>

#include "../../simd/simd.h"
#include "../bpe/decoding.h"

#include <string.h>

/* The ids kept are those from a place on that the rest of the list still matters for. */
struct dstok_decoder {
    const dstok_tokenizer *tok;
    int mode, skip_special;
    dstok__decoding d; /* as it is behind the ids before those kept */
    uint32_t *ids;     /* those kept, n_kept of them, and behind them those of the call */
    size_t n_kept, cap_ids;
    size_t run;   /* where in the ids kept a run of byte tokens begins that may go on; NO_ID */
    size_t shown; /* where in them the last one is that gives something; NO_ID */
    uint8_t *out;
    size_t cap_out;
    uint8_t tail[4]; /* the head of a character, not given out yet */
    size_t n_tail;
    uint64_t n_given; /* bytes given out */
    bool is_over;
};

#define NO_ID SIZE_MAX

static void begin(dstok_decoder *d) {
    dstok__decoding_start(&d->d, d->tok, d->mode, d->skip_special);
    d->n_kept = d->n_tail = 0;
    d->n_given = 0;
    d->run = d->shown = NO_ID;
    d->is_over = false;
}

dstok_status dstok_decoder_new(const dstok_tokenizer *tok, int mode, int skip_special, dstok_decoder **out,
                               dstok_error *err) {
    if (tok == NULL || out == NULL)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "the tokenizer or out is NULL");
    if (mode < DSTOK_DECODE_LOSSLESS || mode > DSTOK_DECODE_RAW)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "unknown decode mode %d", mode);
    dstok_decoder *d = dstok__alloc_zeroed(&tok->al, 1, sizeof *d);
    if (d == NULL) return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory for a decoder");
    d->tok = tok;
    d->mode = mode;
    d->skip_special = skip_special;
    begin(d);
    *out = d;
    return DSTOK_OK;
}

void dstok_decoder_free(dstok_decoder *d) {
    if (d == NULL) return;
    const dstok_alloc *al = &d->tok->al;
    dstok__free(al, d->ids, d->cap_ids * sizeof *d->ids);
    dstok__free(al, d->out, d->cap_out);
    dstok__free(al, d, sizeof *d);
}

void dstok_decoder_reset(dstok_decoder *d) {
    begin(d);
}

uint64_t dstok_decoder_unknown(const dstok_decoder *d, uint64_t *first) {
    if (first != NULL) *first = d->d.first_unknown;
    return d->d.unknown;
}

/* ---- which ids are final ---- */

static bool is_hidden(const dstok__decoding *d, size_t i) {
    bool is_known = d->ids[i] < d->tok->n_ids && d->tok->flags[d->ids[i]] != 0;
    return is_known && !dstok__decoding_is_shown(d, i);
}

/* Looks at the ids from `from` on. Tokens that are left out do not end a run, but in SentencePiece. */
static size_t follow_run(const dstok__decoding *d, size_t run, size_t from) {
    for (size_t i = from; i < d->n; i++) {
        if (dstok__decoding_is_byte(d, i)) {
            if (run == NO_ID) run = i;
        } else if (d->tok->plan->spm_bytes != 0 || !is_hidden(d, i)) {
            run = NO_ID;
        }
    }
    return run;
}

/* The last of the ids that gives something; of those kept it is known. */
static size_t last_shown(const dstok_decoder *d, const dstok__decoding *all) {
    for (size_t i = all->n; i-- > d->n_kept;)
        if (dstok__decoding_is_shown(all, i)) return i;
    return d->shown;
}

/* How many of the n ids are final; *run, *shown  [out] see the decoder. */
static size_t final_ids(const dstok_decoder *d, const dstok__decoding *all, size_t *run, size_t *shown) {
    size_t end = all->n;
    *run = *shown = NO_ID;
    if (all->has_runs) *run = follow_run(all, d->run, d->n_kept);
    if (*run < end) end = *run;
    if (d->tok->plan->last_suffix_n == 0) return end;
    *shown = last_shown(d, all); /* it may be the last one of the list */
    return *shown < end ? *shown : end;
}

/* ---- bytes ---- */

/* Runs over the ids given to *run, whose bytes come behind the tail; *n  [out] how many bytes are in d->out
 * then. The first time only counts where there is too little room. */
static dstok_status decode(dstok_decoder *d, dstok__decoding *run, size_t *n, dstok_error *err) {
    dstok__decoding before = *run;
    for (;;) {
        *run = before;
        run->err = err;
        run->t.out = d->out == NULL ? NULL : d->out + d->n_tail;
        run->t.cap = d->cap_out < d->n_tail ? 0 : d->cap_out - d->n_tail;
        run->t.n = 0;
        DSTOK_TRY(dstok__decoding_run(run));
        *n = d->n_tail + run->t.n;
        if (*n <= d->cap_out) break;
        dstok_status status = dstok__grow(&d->tok->al, (void **)&d->out, &d->cap_out, *n, 1, SIZE_MAX);
        if (status != DSTOK_OK)
            return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "out of memory for decoded text");
    }
    if (d->n_tail > 0) memcpy(d->out, d->tail, d->n_tail);
    return DSTOK_OK;
}

static dstok_status check_strict(const dstok_decoder *d, size_t n, size_t open, dstok_error *err) {
    size_t good = n == open ? 0 : d->d.utf8_check(d->out, n - open);
    if (good == n - open) return DSTOK_OK;
    uint64_t at = d->n_given + good;
    return dstok__fail(err, DSTOK_E_UTF8, at, 0, "the decoded bytes are not UTF-8 from byte %llu on",
                       (unsigned long long)at);
}

/* Gives out the n bytes of d->out but for the last `open`. */
static void give(dstok_decoder *d, size_t n, size_t open, const void **bytes, size_t *n_bytes) {
    d->n_tail = open;
    if (open > 0) memcpy(d->tail, d->out + n - open, open);
    *n_bytes = n - open;
    *bytes = d->out == NULL ? (const void *)"" : d->out;
    d->n_given += n - open;
}

/* ---- calls ---- */

static dstok_status out_of_memory(dstok_error *err) {
    return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory for the ids of a decoder");
}

/* Puts the ids behind those kept. */
static dstok_status keep(dstok_decoder *d, const uint32_t *ids, size_t n, dstok_error *err) {
    if (n == 0) return DSTOK_OK;
    if (n > SIZE_MAX - d->n_kept) return out_of_memory(err);
    dstok_status status =
        dstok__grow(&d->tok->al, (void **)&d->ids, &d->cap_ids, d->n_kept + n, sizeof *d->ids, SIZE_MAX);
    if (status != DSTOK_OK) return out_of_memory(err);
    memcpy(d->ids + d->n_kept, ids, n * sizeof *ids);
    return DSTOK_OK;
}

static dstok_status go_on(dstok_decoder *d, size_t n_ids, bool is_last, const void **bytes, size_t *n_bytes,
                          dstok_error *err) {
    dstok__decoding run = d->d;
    size_t run_begin = NO_ID, shown = NO_ID, n, n_final;
    dstok__decoding_give(&run, d->ids, n_ids);
    n_final = is_last ? n_ids : final_ids(d, &run, &run_begin, &shown);
    dstok__decoding_give(&run, d->ids, n_final);
    run.is_last = is_last;
    DSTOK_TRY(decode(d, &run, &n, err));
    size_t open = is_last || n == 0 ? 0 : dstok__open_tail(d->out, n);
    if (d->mode == DSTOK_DECODE_STRICT) DSTOK_TRY(check_strict(d, n, is_last ? 0 : open, err));
    run.n_before += n_final;
    d->d = run;
    d->d.is_last = false;
    d->n_kept = n_ids - n_final;
    d->run = run_begin == NO_ID ? NO_ID : run_begin - n_final;
    d->shown = shown == NO_ID ? NO_ID : shown - n_final;
    if (d->n_kept > 0 && n_final > 0) memmove(d->ids, d->ids + n_final, d->n_kept * sizeof *d->ids);
    give(d, n, open, bytes, n_bytes);
    return DSTOK_OK;
}

dstok_status dstok_decoder_push(dstok_decoder *d, const uint32_t *ids, size_t n, const void **bytes,
                                size_t *n_bytes, dstok_error *err) {
    if (d == NULL || (ids == NULL && n > 0) || bytes == NULL || n_bytes == NULL)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0,
                           "the decoder, ids, bytes or n_bytes are NULL");
    if (d->is_over) begin(d);
    DSTOK_TRY(keep(d, ids, n, err));
    return go_on(d, d->n_kept + n, false, bytes, n_bytes, err);
}

dstok_status dstok_decoder_finish(dstok_decoder *d, const void **bytes, size_t *n_bytes, dstok_error *err) {
    if (d == NULL || bytes == NULL || n_bytes == NULL)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "the decoder, bytes or n_bytes are NULL");
    if (d->is_over) begin(d);
    DSTOK_TRY(go_on(d, d->n_kept, true, bytes, n_bytes, err));
    d->is_over = true;
    return DSTOK_OK;
}
