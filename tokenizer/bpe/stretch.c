/* SPDX-License-Identifier: MIT */
/* Added tokens under a policy, and the stretches of plain text between them. */
#include "job.h"

static bool is_hf(const job *j) {
    return j->opt.span_style == DSTOK_SPANS_HF;
}

static bool is_allowed(const job *j, uint32_t id) {
    for (size_t i = 0; i < j->opt.n_allowed; i++) {
        if (j->opt.allowed[i] == id) return true;
    }
    return false;
}

static dstok__verdict judge(const job *j, int special, const dstok__added_entry *e) {
    switch (special) {
    case DSTOK_SPECIAL_PARSE:
        return e->flags & DSTOK__ADDED_BY_NAME ? DSTOK__IGNORE : DSTOK__ACCEPT;
    case DSTOK_SPECIAL_PLAIN:
        return DSTOK__IGNORE;
    case DSTOK_SPECIAL_TEXT:
        if (e->flags & DSTOK__ADDED_BY_NAME) return DSTOK__IGNORE;
        return e->flags & DSTOK__ADDED_SPECIAL ? DSTOK__CONSUME : DSTOK__ACCEPT;
    case DSTOK_SPECIAL_ERROR:
        return e->flags & DSTOK__ADDED_CONTROL ? DSTOK__REFUSE : DSTOK__ACCEPT;
    case DSTOK_SPECIAL_LIST:
        return (e->flags & DSTOK__ADDED_CONTROL) && !is_allowed(j, e->id) ? DSTOK__IGNORE : DSTOK__ACCEPT;
    default:
        return e->flags & DSTOK__ADDED_CONTROL ? DSTOK__IGNORE : DSTOK__ACCEPT;
    }
}

/* The strictest verdict of all segments that source[begin, end) touches. */
static dstok__verdict judge_segments(const job *j, dstok__search *q, const dstok__added_entry *e,
                                     dstok_span s) {
    while (q->segment < j->n_segments && s.begin >= q->segment_begin + j->segments[q->segment].len) {
        q->segment_begin += j->segments[q->segment++].len;
    }
    dstok__verdict worst = DSTOK__ACCEPT;
    uint64_t at = q->segment_begin;
    for (size_t i = q->segment; i < j->n_segments && at < s.end; at += j->segments[i++].len) {
        if (j->segments[i].len == 0) continue;
        dstok__verdict v = judge(j, j->segments[i].special, e);
        if (v > worst) worst = v;
    }
    return worst;
}

/* The verdict on one occurrence, at text[begin, end). Control text that stays text is counted once. */
static dstok__verdict decide(job *j, dstok__search *q, const dstok__added_entry *e, uint64_t begin,
                             uint64_t end) {
    dstok_span s = dstok__job_text_to_source(j, &q->replaced, begin, end);
    dstok__verdict v = j->segments != NULL ? judge_segments(j, q, e, s) : judge(j, j->opt.special, e);
    if ((e->flags & DSTOK__ADDED_CONTROL) && (v == DSTOK__IGNORE || v == DSTOK__CONSUME) &&
        s.begin >= q->counted) {
        dstok_report *r = &j->enc->report;
        if (r->n_special_text++ == 0 || s.begin < r->first_special) r->first_special = s.begin;
        q->counted = s.end;
    }
    return v;
}

/* A dstok__policy_fn for matches in the text. */
static dstok__verdict policy_text(void *ctx, const dstok__added_entry *e, size_t begin, size_t end) {
    job *j = ctx;
    return decide(j, &j->in_text, e, begin + j->base, end + j->base);
}

/* A dstok__policy_fn for matches in a normalised stretch. */
static dstok__verdict policy_norm(void *ctx, const dstok__added_entry *e, size_t begin, size_t end) {
    job *j = ctx;
    dstok_span s = {begin, end};
    if (j->is_edited) s = dstok__map_range(&j->edits_ahead, begin, end);
    return decide(j, &j->in_norm, e, s.begin + j->base, s.end + j->base);
}

static dstok_status refuse(job *j, const dstok__added_entry *e, uint64_t offset) {
    char quoted[80];
    return dstok__fail(j->err, DSTOK_E_SPECIAL, offset, 0,
                       "the control token \"%s\" stands in the text; allow it, or encode it as text (safe)",
                       dstok__quote(e->text, e->n, quoted, sizeof quoted));
}

/* norm[0, norm_len): cut out added tokens that match normalised text, encode the rest. */
static dstok_status encode_norm(job *j) {
    size_t pos = 0;
    dstok__added_match m;
    bool refused;
    while (dstok__added_find(&j->tok->normalized, j->norm, j->norm_len, pos, policy_norm, j, &m, &refused)) {
        if (refused) return refuse(j, m.entry, dstok__job_norm_to_source(j, m.inner, m.inner + 1).begin);
        DSTOK_TRY(dstok__job_plain(j, pos, m.begin));
        dstok_span span =
            is_hf(j) ? dstok__hf_norm(j, m.begin, m.end) : dstok__job_norm_to_source(j, m.begin, m.end);
        if (is_hf(j)) span = dstok__hf_trim_text(j, j->norm + m.begin, m.end - m.begin, span);
        DSTOK_TRY(dstok__job_push(j, m.entry->id, span, DSTOK_FLAG_ADDED));
        pos = m.end;
    }
    return dstok__job_plain(j, pos, j->norm_len);
}

static dstok_status normalize(job *j, dstok__normalized *n) {
    dstok__pretok_scratch *scratch = j->enc->scratch;
    dstok__regex_scratch *regex = scratch != NULL ? dstok__pretok_scratch_regex(scratch) : NULL;
    dstok_error detail = {.status = DSTOK_OK, .offset = DSTOK_NO_OFFSET};
    dstok_status status =
        dstok__normalize(n, j->tok->normalizer, regex, j->norm, j->norm_len, DSTOK_MAX_INPUT, &detail);
    if (status == DSTOK_OK || detail.status == DSTOK_OK) return status;
    uint64_t at = detail.offset <= j->norm_len ? detail.offset : 0; /* counted from the stretch on */
    at = dstok__job_text_to_source(j, &j->replaced, j->base + at, j->base + at).begin;
    return dstok__fail(j->err, status, at, 0, "%s", detail.text);
}

static size_t count_first(const job *j) {
    size_t n = j->base > 0 || j->part.goes_on ? 0 : 1;
    if (n == 0 || !j->is_edited) return n;
    for (n = 0; n < j->norm_len && dstok__map_range_at(&j->enc->stretch, n, n + 1).begin == 0;) n++;
    return n;
}

/* text[begin, end) between two added tokens: normalise, then encode. */
static dstok_status encode_stretch(job *j, const uint8_t *text, size_t begin, size_t end) {
    if (begin == end) return DSTOK_OK;
    dstok__normalized *n = &j->enc->stretch;
    size_t base = j->base;
    j->base += begin;
    j->is_begin = j->base == 0;
    j->is_later = j->is_begin && j->part.goes_on && !j->part.is_fresh;
    j->norm = j->stretch = text + begin;
    j->norm_len = j->stretch_len = end - begin;
    j->is_edited = j->drops = false;
    n->want_from = is_hf(j);
    n->goes_on = j->is_later;
    if (j->tok->normalizer != NULL) {
        DSTOK_TRY(normalize(j, n));
        j->norm = n->text;
        j->norm_len = n->len;
        j->is_edited = n->n_edits > 0;
        j->drops = dstok__map_drops(n);
        dstok__map_cursor_init(&j->edits, n);
        dstok__map_cursor_init(&j->edits_ahead, n);
        dstok__map_cursor_init(&j->edits_unknown, n);
    }
    j->n_first = count_first(j);
    DSTOK_TRY(encode_norm(j));
    j->base = base;
    return DSTOK_OK;
}

/* Valid UTF-8 text[0, len) that begins at base: cut out added tokens, encode the rest. */
dstok_status dstok__job_text(job *j, const uint8_t *text, size_t len) {
    size_t pos = 0;
    dstok__added_match m;
    bool refused;
    while (dstok__added_find(&j->tok->raw, text, len, pos, policy_text, j, &m, &refused)) {
        if (refused) {
            return refuse(
                j, m.entry,
                dstok__job_text_to_source(j, &j->replaced, m.inner + j->base, m.inner + 1 + j->base).begin);
        }
        DSTOK_TRY(encode_stretch(j, text, pos, m.begin));
        dstok_span span = dstok__job_text_to_source(j, &j->replaced, m.begin + j->base, m.end + j->base);
        if (is_hf(j)) span = dstok__hf_trim_text(j, text + m.begin, m.end - m.begin, span);
        DSTOK_TRY(dstok__job_push(j, m.entry->id, span, DSTOK_FLAG_ADDED));
        pos = m.end;
    }
    j->is_end = j->is_replaced || j->base + len == j->source_len;
    dstok_status status = encode_stretch(j, text, pos, len);
    j->is_end = false;
    return status;
}

dstok_status dstok__job_judge(job *j, const uint8_t *text, size_t len) {
    const dstok__added_set *sets[] = {&j->tok->raw, &j->tok->normalized};
    dstok__search before = j->in_text;
    for (int i = 0; i < 2; i++) {
        dstok__added_match m;
        bool refused;
        for (size_t pos = 0; dstok__added_find(sets[i], text, len, pos, policy_text, j, &m, &refused);
             pos = m.end) {
            if (refused) return refuse(j, m.entry, m.inner + j->base);
        }
        if (i == 0) j->in_text = before;
    }
    return DSTOK_OK;
}
