/* SPDX-License-Identifier: MIT */
/* Streams: text is gathered up to a step, then encoded as far as it is sure what its tokens are. */
#include "inside.h"

#include "../base/sized.h"

#include <string.h>

/* ---- life ---- */

static void begin(dstok_stream *s) {
    s->len = 0;
    s->at = s->n_tokens = 0;
    s->wanted = s->step;
    s->is_fresh = s->is_within = s->is_over = s->is_failed = s->is_full = false;
    s->n_head = 0;
    s->report = (dstok_report){
        .first_unknown = DSTOK_NO_OFFSET, .first_invalid = DSTOK_NO_OFFSET, .first_special = DSTOK_NO_OFFSET};
}

static dstok_status refuse(dstok_error *err, dstok_status status, const char *what) {
    return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "%s", what);
}

static bool shares_bytes(const char *a, size_t n_a, const char *b, size_t n_b) {
    for (size_t i = 0; i < n_a; i++)
        if (memchr(b, a[i], n_b) != NULL) return true;
    return false;
}

/* Does the normaliser replace each such text, by what is not of it, and not make it again? Only replacements
 * stand behind that. */
static bool is_taken_away(const dstok__tables *t, const char *text, size_t n) {
    for (size_t i = dstok__tables_n(t, DSTOK__S_NORMS); i-- > 0;) {
        const dstok__op_row *op = &t->norms[i];
        const char *content = dstok__tables_string(t, op->content);
        if (op->kind != DSTOK__NORM_REPLACE || op->content.n == 0) return false;
        if (shares_bytes(content, op->content.n, text, n)) return false;
        if (op->pattern.n == n && memcmp(dstok__tables_string(t, op->pattern), text, n) == 0) return true;
    }
    return false;
}

/* Do steps look for nothing but what the normaliser has taken away (Gemma, ChatGLM3)? */
static bool never_cuts(const dstok_tokenizer *tok) {
    const dstok__tables *t = &tok->t;
    for (size_t i = 0; i < dstok__tables_n(t, DSTOK__S_STEPS); i++) {
        const dstok__op_row *step = &t->steps[i];
        bool is_inverted = (step->flags >> 8 & 1) != 0;
        if (step->kind != DSTOK__STEP_LITERAL || step->pattern.n == 0 || is_inverted ||
            !is_taken_away(t, dstok__tables_string(t, step->pattern), step->pattern.n))
            return false;
    }
    return true;
}

static dstok__stream_way find_way(const dstok_tokenizer *tok) {
    bool has_affixes =
        tok->prefix_n > 0 || tok->suffix_n > 0; /* they tell the parts of a word from the whole */
    if (dstok__pretok_family(tok->pretok) != NULL) return DSTOK__WAY_SURE;
    if (dstok__pretok_prefixes(tok->pretok) == DSTOK__PREFIXES_BOTH) return DSTOK__WAY_NONE;
    if (!dstok__pretok_is_whole(tok->pretok) && !never_cuts(tok)) return DSTOK__WAY_OPEN;
    return has_affixes ? DSTOK__WAY_NONE : DSTOK__WAY_TOKENS;
}

/* An added token that holds U+FFFD may match what ill-formed bytes become, of which seams.c knows nothing. */
static bool has_replacement(const dstok__added_set *set) {
    for (size_t i = 0; i < set->n; i++)
        for (size_t k = 0; k + 3 <= set->entries[i].n; k++)
            if (memcmp(set->entries[i].text + k, "\xEF\xBF\xBD", 3) == 0) return true;
    return false;
}

static dstok_status check(const dstok_stream *s, dstok_error *err) {
    const dstok_tokenizer *tok = s->tok;
    if (s->opt.span_style == DSTOK_SPANS_HF)
        return refuse(err, DSTOK_E_UNSUPPORTED,
                      "DSTOK_SPANS_HF needs the whole text at once: a stream gives exact spans only");
    if (s->opt.invalid == DSTOK_INVALID_RAW && tok->t.head->model == DSTOK__MODEL_RANKS)
        return refuse(
            err, DSTOK_E_UNSUPPORTED,
            "with a rank file, DSTOK_INVALID_RAW needs the whole text at once; ask for replacement");
    if (s->opt.invalid == DSTOK_INVALID_REPLACE &&
        (has_replacement(&tok->raw) || has_replacement(&tok->normalized)))
        return refuse(err, DSTOK_E_UNSUPPORTED,
                      "an added token holds U+FFFD: DSTOK_INVALID_REPLACE needs the whole text at once");
    return DSTOK_OK;
}

static dstok_status set_options(dstok_stream *s, const dstok_encode_options *encode,
                                const dstok_stream_options *options, dstok_error *err) {
    s->opt = (dstok_encode_options)DSTOK_ENCODE_OPTIONS_INIT;
    s->max_held = DSTOK_STREAM_HELD;
    s->step = DSTOK__STREAM_STEP;
    s->hold = DSTOK__STREAM_HOLD;
    if (encode != NULL) {
        DSTOK_TRY(dstok__sized_check(encode, DSTOK__SIZE_TO(dstok_encode_options, span_style),
                                     "encode_options", "DSTOK_ENCODE_OPTIONS_INIT", err));
        dstok__sized_read(&s->opt, sizeof s->opt, encode);
        s->opt.struct_size = sizeof s->opt;
    }
    if (options != NULL && options->max_held > 0) s->max_held = options->max_held;
    if (s->max_held < DSTOK__STREAM_STEP || s->max_held > DSTOK_MAX_INPUT / 4)
        return refuse(err, DSTOK_E_INVAL, "max_held is below 64 KB or above DSTOK_MAX_INPUT / 4");
    size_t n = s->opt.n_allowed;
    if (n == 0) return DSTOK_OK;
    if (s->opt.allowed == NULL) return refuse(err, DSTOK_E_INVAL, "allowed is NULL");
    s->opt.n_allowed = 0; /* until it is copied */
    s->allowed = dstok__alloc_array(&s->tok->al, n, sizeof *s->allowed);
    if (s->allowed == NULL) return refuse(err, DSTOK_E_NOMEM, "out of memory for a stream");
    memcpy(s->allowed, s->opt.allowed, n * sizeof *s->allowed);
    s->opt.allowed = s->allowed;
    s->opt.n_allowed = n;
    return DSTOK_OK;
}

/* Encodes nothing, so that bad options are found now. */
static dstok_status try_options(dstok_stream *s, dstok_error *err) {
    const dstok__part part = {.goes_on = true, .is_open = true};
    return dstok__encode_part(s->enc, NULL, 0, &part, &s->opt, DSTOK__WANT_COUNT, err);
}

static dstok_status make(dstok_stream *s, const dstok_encode_options *encode,
                         const dstok_stream_options *options, dstok_error *err) {
    DSTOK_TRY(set_options(s, encode, options, err));
    DSTOK_TRY(check(s, err));
    DSTOK_TRY(dstok_encoder_new_with(s->tok, options != NULL ? options->encoder : NULL, &s->enc, err));
    s->way = find_way(s->tok);
    dstok__seams_init(&s->seams, s->tok);
    if (s->enc->scratch == NULL && s->way == DSTOK__WAY_OPEN &&
        dstok__pretok_scratch_new(&s->tok->al, &s->enc->scratch) != DSTOK_OK)
        return refuse(err, DSTOK_E_NOMEM, "out of memory for a stream");
    begin(s);
    return try_options(s, err);
}

dstok_status dstok_stream_new(const dstok_tokenizer *tok, const dstok_encode_options *encode,
                              const dstok_stream_options *options, dstok_stream **out, dstok_error *err) {
    if (tok == NULL || out == NULL) return refuse(err, DSTOK_E_INVAL, "the tokenizer or out is NULL");
    if (options != NULL)
        DSTOK_TRY(
            dstok__sized_check(options, sizeof *options, "stream_options", "DSTOK_STREAM_OPTIONS_INIT", err));
    dstok_stream *s = dstok__alloc_zeroed(&tok->al, 1, sizeof *s);
    if (s == NULL) return refuse(err, DSTOK_E_NOMEM, "out of memory for a stream");
    s->tok = tok;
    dstok_status status = make(s, encode, options, err);
    if (status != DSTOK_OK) {
        dstok_stream_free(s);
        return status;
    }
    *out = s;
    return DSTOK_OK;
}

void dstok_stream_free(dstok_stream *s) {
    if (s == NULL) return;
    const dstok_alloc *al = &s->tok->al;
    dstok_encoder_free(s->enc);
    if (s->allowed != NULL) dstok__free(al, s->allowed, s->opt.n_allowed * sizeof *s->allowed);
    dstok__free(al, s->text, s->cap);
    dstok__free(al, s, sizeof *s);
}

void dstok_stream_reset(dstok_stream *s) {
    begin(s);
}

const dstok_report *dstok_stream_report(const dstok_stream *s) {
    return &s->report;
}

/* ---- parts of the text ---- */

dstok__part dstok__stream_part(const dstok_stream *s, bool is_open) {
    return (dstok__part){.goes_on = s->at > 0,
                         .is_fresh = s->is_fresh,
                         .is_behind_raw = s->opt.invalid == DSTOK_INVALID_RAW && s->report.n_invalid > 0,
                         .is_open = is_open};
}

static void add_count(uint64_t *n, uint64_t *first, uint64_t more, uint64_t where) {
    if (more > 0 && *n == 0) *first = where;
    *n += more;
}

/* Adds the counts of a part that begins at s->at. */
void dstok__stream_add_report(dstok_stream *s, const dstok_report *r) {
    dstok_report *all = &s->report;
    add_count(&all->n_unknown, &all->first_unknown, r->n_unknown, r->first_unknown + s->at);
    add_count(&all->n_invalid, &all->first_invalid, r->n_invalid, r->first_invalid + s->at);
    add_count(&all->n_special_text, &all->first_special, r->n_special_text, r->first_special + s->at);
    all->n_dropped += r->n_dropped;
}

static void move_spans(dstok_stream *s, size_t from) {
    dstok__sink *out = &s->enc->out;
    if (out->ids_only || s->at == 0) return;
    for (size_t i = from; i < out->n; i++) {
        out->spans[i].begin += s->at;
        out->spans[i].end += s->at;
    }
}

dstok_status dstok__stream_encode(dstok_stream *s, size_t len, const dstok__part *part, bool is_trial,
                                  dstok_error *err) {
    dstok_encode_options opt = s->opt;
    dstok_error found = {.status = DSTOK_OK};
    size_t first = s->enc->out.n;
    s->tried = *part;
    if (opt.max_tokens > 0) opt.max_tokens = is_trial ? 0 : opt.max_tokens - (size_t)(s->n_tokens + first);
    if (s->way != DSTOK__WAY_SURE || is_trial) opt.ids_only = 0; /* spans say where to break */
    dstok_status status = dstok__encode_part(s->enc, s->text, len, part, &opt, DSTOK__WANT_ALL, &found);
    if (status != DSTOK_OK && is_trial &&
        s->opt.max_tokens > 0) { /* does it stand behind the tokens that are wanted? */
        s->enc->out.n = first;
        opt.max_tokens = s->opt.max_tokens - (size_t)(s->n_tokens + first);
        status = dstok__encode_part(s->enc, s->text, len, part, &opt, DSTOK__WANT_ALL, &found);
    }
    if (status != DSTOK_OK) {
        if (found.offset != DSTOK_NO_OFFSET) found.offset += s->at;
        if (err != NULL) *err = found;
        return status;
    }
    if (!is_trial) dstok__stream_add_report(s, &s->enc->report);
    move_spans(s, first);
    return DSTOK_OK;
}

void dstok__stream_drop(dstok_stream *s, size_t n, bool is_fresh) {
    s->len -= n;
    s->at += n;
    s->is_fresh = is_fresh;
    if (is_fresh) s->is_within = false;
    memmove(s->text, s->text + n, s->len);
}

/* ---- calls ---- */

/* No more than max_tokens. */
static void end_when_full(dstok_stream *s) {
    uint64_t most = s->opt.max_tokens;
    s->is_full = most > 0 && s->n_tokens + s->enc->out.n >= most;
    if (s->is_full) s->enc->out.n = (size_t)(most - s->n_tokens);
}

static dstok_status too_long(const dstok_stream *s, dstok_error *err) {
    return dstok__fail(
        err, DSTOK_E_LIMIT, s->at, 0,
        "what the %zu bytes from here on are cut into depends on what follows; a larger max_held "
        "keeps more of the text",
        s->len);
}

/* Tries to make tokens. The next try comes when there is a step more, or twice as much where nothing was
 * final. */
static dstok_status work(dstok_stream *s, dstok_error *err) {
    size_t done, before = s->len;
    DSTOK_TRY(dstok__stream_some(s, &done, err));
    end_when_full(s);
    if (done == 0 && s->len >= s->max_held) return too_long(s, err);
    s->wanted = done == 0 ? 2 * before : s->len + s->step;
    if (s->wanted > s->max_held) s->wanted = s->max_held;
    return DSTOK_OK;
}

static dstok_status take(dstok_stream *s, const uint8_t **bytes, size_t *n, dstok_error *err) {
    size_t k = s->wanted - s->len < *n ? s->wanted - s->len : *n;
    dstok_status status =
        dstok__grow(&s->tok->al, (void **)&s->text, &s->cap, s->len + k + DSTOK__STREAM_ROOM, 1, SIZE_MAX);
    if (status != DSTOK_OK) return refuse(err, status, "out of memory for the text of a stream");
    memcpy(s->text + s->len, *bytes, k);
    s->len += k;
    *bytes += k;
    *n -= k;
    return s->len >= s->wanted ? work(s, err) : DSTOK_OK;
}

static dstok_status feed(dstok_stream *s, const uint8_t *bytes, size_t n, dstok_error *err) {
    while (n > 0 && !s->is_full) DSTOK_TRY(take(s, &bytes, &n, err));
    return DSTOK_OK;
}

static dstok_status start_call(dstok_stream *s, dstok_tokens *out, dstok_error *err) {
    if (s == NULL || out == NULL) return refuse(err, DSTOK_E_INVAL, "the stream, bytes or out are NULL");
    if (s->is_failed)
        return refuse(err, DSTOK_E_STATE,
                      "the text failed before: dstok_stream_reset, then begin another one");
    if (s->is_over) begin(s);
    s->n_tokens += s->enc->out.n;
    if (s->at == 0 && s->len == 0) s->n_tokens = 0;
    s->enc->out.n = 0;
    return DSTOK_OK;
}

static dstok_status end_call(dstok_stream *s, dstok_status status, const dstok_error *found,
                             dstok_tokens *out, dstok_error *err) {
    const dstok__sink *sink = &s->enc->out;
    s->is_failed = status != DSTOK_OK;
    if (status != DSTOK_OK && found->status == DSTOK_OK)
        return refuse(err, status, "out of memory for a stream");
    if (status != DSTOK_OK) {
        if (err != NULL) *err = *found;
        return status;
    }
    bool ids_only = s->opt.ids_only != 0;
    *out = (dstok_tokens){sink->ids, ids_only ? NULL : sink->spans, ids_only ? NULL : sink->flags, sink->n};
    return DSTOK_OK;
}

dstok_status dstok_stream_feed(dstok_stream *s, const void *bytes, size_t len, dstok_tokens *out,
                               dstok_error *err) {
    if (bytes == NULL && len > 0) return refuse(err, DSTOK_E_INVAL, "the stream, bytes or out are NULL");
    dstok_error found = {.status = DSTOK_OK};
    DSTOK_TRY(start_call(s, out, err));
    return end_call(s, feed(s, bytes, len, &found), &found, out, err);
}

dstok_status dstok_stream_finish(dstok_stream *s, dstok_tokens *out, dstok_error *err) {
    dstok_error found = {.status = DSTOK_OK};
    DSTOK_TRY(start_call(s, out, err));
    dstok_status status = s->is_full ? DSTOK_OK : dstok__stream_rest(s, &found);
    end_when_full(s);
    s->is_over = status == DSTOK_OK;
    return end_call(s, status, &found, out, err);
}
