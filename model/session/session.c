/* SPDX-License-Identifier: MIT */
/* Sessions: tokens in, chunk by chunk, and log-probabilities out. */
#include <dsx/session.h>

#include "arch/forward.h"
#include "base.h"
#include "quant/kv.h"
#include "session/pages.h"
#include "session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dsx_session {
    const dsx_model *model;
    size_t chunk;
    uint64_t max_tokens, length;
    uint32_t *ids;     /* [length] */
    dsx__page **pages; /* [n_pages] */
    dsx__real **data;  /* [n_pages], of each page */
    uint8_t **packed;  /* [n_pages], of each page */
    dsx__kv_format format;
    uint64_t n_recent; /* pages */
    size_t n_pages, cap_pages, cap_ids;
    dsx__work work;
    dsx__real *last; /* [width]: the last token's row behind the final norm, if has_last */
    bool has_last;
    uint64_t charged; /* bytes of work and last, to the pool */
    bool is_alone; /* its pages are not found by others, nor theirs by it */
};

static dstok_status is_null(dstok_error *err) {
    return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "dsx_session: an argument is NULL");
}

/* Memory is short: that of the machine, or what the model may take. */
static dstok_status no_room(const dsx_model *model, uint64_t n_bytes, dstok_error *err) {
    if (!dsx__pool_is_full(model->pool, n_bytes)) return dsx__no_memory(err);
    return dsx__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET,
                     "that takes more memory than the model was allowed (max_bytes)");
}

/* ---- making */

/* Bytes of a session without a token. */
static uint64_t empty_bytes(const dsx_model *model, size_t chunk) {
    return dsx__work_bytes(&model->config, model->ops->real_bytes, chunk) +
           (uint64_t)model->config.width * model->ops->real_bytes;
}

static dsx_session *make(const dsx_model *model, size_t chunk, uint64_t max_tokens, dsx__kv_format format,
                         uint64_t n_recent) {
    dsx_session *s = calloc(1, sizeof *s);

    if (s == NULL) return NULL;
    s->model = model;
    s->chunk = chunk;
    s->max_tokens = max_tokens;
    s->format = format;
    s->n_recent = n_recent;
    if (dsx__pool_charge(model->pool, empty_bytes(model, chunk))) {
        s->charged = empty_bytes(model, chunk);
        s->last = model->ops->alloc(model->be, model->config.width);
        if (s->last != NULL && dsx__work_new(model, chunk, &s->work) == DSTOK_OK) return s;
    }
    dsx_session_free(s);
    return NULL;
}

dstok_status dsx_session_new(const dsx_model *model, const dsx_session_options *options, dsx_session **out,
                             dstok_error *err) {
    dsx_session_options o = DSX_SESSION_OPTIONS_INIT;
    dsx_session *s;

    DSX_TRY(dsx__take_options(&o, options, sizeof o, "dsx_session_options", err));
    if (model == NULL || out == NULL || o.chunk > 65536 || o.kv < DSX_KV_FLOAT || o.kv > DSX_KV_INT4 ||
        o.kv_recent > DSX__MAX_CONTEXT)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "dsx_session_new: an argument is out of its domain");
    if (o.max_tokens > DSX__MAX_CONTEXT)
        return dsx__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, "max_tokens is above 2^24");
    if (o.kv != DSX_KV_FLOAT && model->ops->kv_pack == NULL)
        return dsx__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET,
                         "this backend cannot round keys and values");
    s = make(model, o.chunk ? o.chunk : 512, o.max_tokens ? o.max_tokens : model->config.context,
             (dsx__kv_format)o.kv, dsx__kv_recent(o.kv_recent));
    if (s == NULL) return no_room(model, empty_bytes(model, o.chunk ? o.chunk : 512), err);
    *out = s;
    return DSTOK_OK;
}

void dsx_session_free(dsx_session *s) {
    if (s == NULL) return;
    for (size_t i = 0; i < s->n_pages; i++) dsx__page_drop(s->model->pool, s->pages[i]);
    free(s->pages);
    free(s->data);
    free(s->packed);
    free(s->ids);
    dsx__work_free(&s->work);
    if (s->last != NULL) s->model->ops->free(s->model->be, s->last, s->model->config.width);
    dsx__pool_discharge(s->model->pool, s->charged);
    free(s);
}

/* ---- room */

static bool grow(void **p, size_t cap, size_t element) {
    void *more = realloc(*p, cap * element);

    if (more == NULL) return false;
    *p = more;
    return true;
}

static bool room_for_ids(dsx_session *s, uint64_t n) {
    size_t cap = s->cap_ids;

    if (n <= cap) return true;
    cap = n > 2 * cap ? (size_t)n : 2 * cap;
    if (!grow((void **)&s->ids, cap, sizeof *s->ids)) return false;
    s->cap_ids = cap;
    return true;
}

static bool room_for_pages(dsx_session *s, size_t n) {
    size_t cap = s->cap_pages;

    if (n <= cap) return true;
    cap = n > 2 * cap ? n : 2 * cap;
    if (!grow((void **)&s->pages, cap, sizeof *s->pages) || !grow((void **)&s->data, cap, sizeof *s->data) ||
        !grow((void **)&s->packed, cap, sizeof *s->packed))
        return false;
    s->cap_pages = cap;
    return true;
}

static void set_page(dsx_session *s, size_t i, dsx__page *page) {
    s->pages[i] = page;
    s->data[i] = page->data;
    s->packed[i] = page->packed;
}

/* Pages for n more tokens that may be written to. What was there already stays right when memory ends. */
static bool room(dsx_session *s, size_t n) {
    size_t n_pages = (size_t)((s->length + n + DSX__PAGE - 1) / DSX__PAGE),
           first = (size_t)(s->length / DSX__PAGE);

    if (!room_for_ids(s, s->length + n) || !room_for_pages(s, n_pages)) return false;
    if (first < s->n_pages) {
        dsx__page *page = dsx__page_own(s->model->pool, s->pages[first]);

        if (page == NULL) return false;
        set_page(s, first, page);
    }
    while (s->n_pages < n_pages) {
        dsx__page *page = dsx__page_take(s->model->pool);

        if (page == NULL) return false;
        set_page(s, s->n_pages++, page);
    }
    return true;
}

/* The text ends at n; pages behind it are given back. */
static void cut(dsx_session *s, uint64_t n) {
    size_t n_pages = (size_t)((n + DSX__PAGE - 1) / DSX__PAGE);

    s->length = n;
    while (s->n_pages > n_pages) dsx__page_drop(s->model->pool, s->pages[--s->n_pages]);
}

dstok_status dsx_session_fork(const dsx_session *session, dsx_session **out, dstok_error *err) {
    dsx_session *s;

    if (session == NULL || out == NULL) return is_null(err);
    s = make(session->model, session->chunk, session->max_tokens, session->format, session->n_recent);
    if (s == NULL || !room_for_ids(s, session->length) || !room_for_pages(s, session->n_pages)) {
        dsx_session_free(s);
        return no_room(session->model, empty_bytes(session->model, session->chunk), err);
    }
    for (size_t i = 0; i < session->n_pages; i++)
        set_page(s, s->n_pages++, dsx__page_share(s->model->pool, session->pages[i]));
    if (session->length > 0) memcpy(s->ids, session->ids, session->length * sizeof *s->ids);
    s->length = session->length;
    s->has_last = session->has_last;
    s->is_alone = session->is_alone;
    s->model->ops->copy(s->model->be, session->last, 1, s->model->config.width, 0, s->last, 0);
    *out = s;
    return DSTOK_OK;
}

/* ---- packed pages */

/* Pages [1, first_kept) are read in packed form by the last of n tokens, and by all behind it. */
static uint64_t first_kept(const dsx_session *s, uint64_t n) {
    uint64_t page = n > 0 ? (n - 1) / DSX__PAGE : 0;

    return s->format != DSX__KV_REALS && page > 1 + s->n_recent ? page - s->n_recent : 1;
}

/* Memory for the packed form of the pages that the next n tokens will read so. A page that another session
 * may read meanwhile is copied first. */
static bool room_for_packed(dsx_session *s, size_t n) {
    for (uint64_t i = first_kept(s, s->length); i < first_kept(s, s->length + n); i++) {
        dsx__page *page = s->pages[i];

        if (page->packed != NULL) continue;
        page = dsx__page_own(s->model->pool, page);
        if (page == NULL) return false;
        set_page(s, (size_t)i, page);
        if (!dsx__page_packed(s->model->pool, page, dsx__kv_packed_bytes(&s->model->kv, s->format)))
            return false;
        set_page(s, (size_t)i, page);
    }
    return true;
}

/* What the text of `before` tokens still needed as it was, and the text now does not. */
static void drop_reals(dsx_session *s, uint64_t before) {
    for (uint64_t i = first_kept(s, before); i < first_kept(s, s->length); i++) {
        dsx__page_drop_reals(s->model->pool, s->pages[i]);
        set_page(s, (size_t)i, s->pages[i]);
    }
}

/* ---- reading */

static uint64_t serial_before(const dsx_session *s, size_t page) {
    return page == 0 ? 0 : s->pages[page - 1]->serial;
}

/* Whole pages that are known already are taken over; one token at least is left to be read, for its row. */
static size_t reuse(dsx_session *s, const uint32_t *ids, size_t n) {
    size_t done = 0;

    while (s->length % DSX__PAGE == 0 && n - done > DSX__PAGE) {
        size_t at = (size_t)(s->length / DSX__PAGE);
        dsx__page *page;

        if (!room_for_ids(s, s->length + DSX__PAGE) || !room_for_pages(s, at + 1)) break;
        page = dsx__page_find(s->model->pool, serial_before(s, at), ids + done);
        if (page == NULL) break;
        cut(s, s->length);
        set_page(s, s->n_pages++, page);
        memcpy(s->ids + s->length, ids + done, sizeof page->ids);
        s->length += DSX__PAGE;
        s->has_last = false; /* until the tokens behind it are read */
        done += DSX__PAGE;
    }
    return done;
}

static void publish(dsx_session *s, uint64_t from) {
    for (size_t i = (size_t)(from / DSX__PAGE); (i + 1) * DSX__PAGE <= s->length; i++)
        dsx__page_publish(s->model->pool, s->pages[i], serial_before(s, i), s->ids + i * DSX__PAGE);
}

static void final_norm(dsx_session *s, const dsx__real *x, size_t n, dsx__real *out) {
    const dsx_model *m = s->model;

    m->ops->norm(m->be, x, n, m->config.width, m->config.width, m->final_norm, m->config.norm_eps, out,
                 m->config.width);
}

/* What is wanted of each row; all NULL: nothing. */
typedef struct wanted {
    double *logprobs; /* of the tokens that are read */
    const uint32_t
        *answer; /* tokens that the last rows foretell, [n_answer]; one after the other to answer_logprobs */
    size_t n_answer, n_left; /* n_left: rows that are to be read still */
    double *answer_logprobs;
    dsx_logits_sink *sink;
    void *context;
    dsx__real *rows; /* for the sink: [ROWS][n_vocab] */
    double *logits;  /* [n_vocab] */
} wanted;

enum { ROWS = 8 };

/* Log-probabilities of a chunk's tokens: that of the first stood in the row before. */
static void score_chunk(dsx_session *s, const uint32_t *ids, size_t n, double *logprobs) {
    const dsx_model *m = s->model;

    if (s->has_last)
        m->ops->log_probs(m->be, m->head, s->last, 1, ids, logprobs, NULL);
    else
        logprobs[0] = NAN;
    if (n > 1) m->ops->log_probs(m->be, m->head, s->work.h, n - 1, ids + 1, logprobs + 1, NULL);
}

/* Log-probabilities of the answer's tokens that a chunk's rows foretell. */
static void score_answer(const dsx_session *s, size_t n, wanted *w) {
    const dsx_model *m = s->model;
    size_t before = w->n_left > w->n_answer ? w->n_left - w->n_answer : 0; /* rows before the first of them */

    w->n_left -= n;
    if (before >= n) return;
    n -= before;
    m->ops->log_probs(m->be, m->head, m->ops->at(s->work.h, before * m->config.width), n, w->answer,
                      w->answer_logprobs, NULL);
    w->answer += n;
    w->answer_logprobs += n;
    w->n_answer -= n;
}

/* Logits of a chunk's rows to the sink; false when it asked to stop. */
static bool show_chunk(dsx_session *s, uint64_t from, size_t n, const wanted *w) {
    const dsx_model *m = s->model;
    size_t width = m->config.width, n_vocab = m->config.n_vocab;

    for (size_t at = 0; at < n; at += ROWS) {
        size_t rows = n - at < ROWS ? n - at : ROWS;

        m->ops->linear(m->be, m->head, NULL, m->ops->at(s->work.h, at * width), rows, w->rows, false);
        for (size_t i = 0; i < rows; i++) {
            m->ops->read(m->be, m->ops->at(w->rows, i * n_vocab), n_vocab, w->logits);
            if (w->sink(w->context, from + at + i, w->logits) != 0) return false;
        }
    }
    return true;
}

/* One chunk, whose pages are there. */
static dstok_status read_chunk(dsx_session *s, const uint32_t *ids, size_t n, wanted *w) {
    const dsx_model *m = s->model;
    dsx__page_table pages = dsx__session_pages(s);
    uint64_t from = s->length;
    bool go_on = true;

    dsx__forward(&s->work, &pages, from, ids, n);
    final_norm(s, s->work.x, n, s->work.h);
    if (s->work.watch != NULL)
        s->work.watch->see(s->work.watch->context, m->config.n_layers, DSX_OP_HEAD, s->work.h, n,
                           m->config.width);
    if (w->logprobs != NULL) score_chunk(s, ids, n, w->logprobs);
    if (w->n_answer > 0) score_answer(s, n, w);
    m->ops->copy(m->be, m->ops->at(s->work.h, (n - 1) * m->config.width), 1, m->config.width, 0, s->last, 0);
    if (w->sink != NULL) go_on = show_chunk(s, from, n, w);
    s->has_last = true;
    memcpy(s->ids + from, ids, n * sizeof *ids);
    s->length = from + n;
    if (s->format != DSX__KV_REALS)
        drop_reals(s, from);
    else if (!s->is_alone)
        publish(s, from);
    return go_on ? DSTOK_OK : DSTOK_E_CANCELED;
}

static dstok_status check(const dsx_session *s, const uint32_t *ids, size_t n, dstok_error *err) {
    if (s == NULL || (ids == NULL && n > 0)) return is_null(err);
    for (size_t i = 0; i < n; i++)
        if (ids[i] >= s->model->config.n_vocab)
            return dsx__fail(err, DSTOK_E_BAD_ID, i, "an id is not below the size of the model's vocabulary");
    if (n > s->max_tokens || s->length > s->max_tokens - n)
        return dsx__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET,
                         "the text is longer than the session may get (max_tokens)");
    return DSTOK_OK;
}

static dstok_status read_all(dsx_session *s, const uint32_t *ids, size_t n, wanted w, dstok_error *err) {
    dstok_status status = check(s, ids, n, err);
    size_t done = 0;

    if (status == DSTOK_OK && w.logprobs == NULL && w.sink == NULL && s->format == DSX__KV_REALS &&
        s->work.record == NULL && s->work.watch == NULL && !s->is_alone && w.n_answer == 0)
        done = reuse(s, ids, n);
    while (done < n && status == DSTOK_OK) {
        size_t part = n - done < s->chunk ? n - done : s->chunk;

        if (!room(s, part) || !room_for_packed(s, part)) {
            status = no_room(s->model, dsx__page_bytes(s->model->pool), err);
            cut(s, s->length);
            return status;
        }
        status = read_chunk(s, ids + done, part, &w);
        if (w.logprobs != NULL) w.logprobs += part;
        done += part;
    }
    if (status == DSTOK_E_CANCELED)
        return dsx__fail(err, status, DSTOK_NO_OFFSET, "the receiver of logits asked to stop");
    return status;
}

dstok_status dsx_session_feed(dsx_session *s, const uint32_t *ids, size_t n, dstok_error *err) {
    return read_all(s, ids, n, (wanted){0}, err);
}

dstok_status dsx_session_score(dsx_session *s, const uint32_t *ids, size_t n, double *logprobs,
                               dstok_error *err) {
    if (logprobs == NULL && n > 0)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "dsx_session_score: logprobs is NULL");
    return read_all(s, ids, n, (wanted){.logprobs = logprobs}, err);
}

dstok_status dsx_session_read(dsx_session *s, const uint32_t *ids, size_t n, dsx_logits_sink *sink,
                              void *context, dstok_error *err) {
    wanted w = {.sink = sink, .context = context};
    dstok_status status;
    size_t n_vocab;

    if (s == NULL || sink == NULL) return is_null(err);
    n_vocab = s->model->config.n_vocab;
    w.rows = s->model->ops->alloc(s->model->be, ROWS * n_vocab);
    w.logits = malloc(n_vocab * sizeof *w.logits);
    status = w.rows != NULL && w.logits != NULL ? read_all(s, ids, n, w, err) : dsx__no_memory(err);
    if (w.rows != NULL) s->model->ops->free(s->model->be, w.rows, ROWS * n_vocab);
    free(w.logits);
    return status;
}

dstok_status dsx__session_answer(dsx_session *s, const uint32_t *ids, size_t n, size_t n_answer,
                                 double *logprobs, dstok_error *err) {
    wanted w = {
        .answer = ids + n - n_answer, .n_answer = n_answer, .n_left = n - 1, .answer_logprobs = logprobs};

    return read_all(s, ids, n - 1, w, err);
}

void dsx__session_alone(dsx_session *s) {
    s->is_alone = true;
}

dsx__work *dsx__session_work(dsx_session *s) {
    return &s->work;
}

dsx__page_table dsx__session_pages(const dsx_session *s) {
    return (dsx__page_table){s->data, s->packed, s->format, 1, s->n_recent};
}

uint64_t dsx_session_length(const dsx_session *s) {
    return s != NULL ? s->length : 0;
}

dstok_status dsx_session_truncate(dsx_session *s, uint64_t n, dstok_error *err) {
    if (s == NULL) return is_null(err);
    if (n > s->length)
        return dsx__fail(err, DSTOK_E_RANGE, DSTOK_NO_OFFSET, "the session has fewer tokens than that");
    if (n > 0 && first_kept(s, n + 1) < first_kept(s, s->length))
        return dsx__fail(err, DSTOK_E_STATE, DSTOK_NO_OFFSET,
                         "keys and values that would be needed were rounded: start anew");
    if (n < s->length) s->has_last = false;
    cut(s, n);
    return DSTOK_OK;
}

/* ---- what comes next */

static dstok_status check_last(const dsx_session *s, dstok_error *err) {
    if (s == NULL) return is_null(err);
    if (s->has_last) return DSTOK_OK;
    return dsx__fail(err, DSTOK_E_STATE, DSTOK_NO_OFFSET,
                     "no token was read since the session was made or truncated");
}

dstok_status dsx_session_logits(dsx_session *s, double *logits, size_t cap, dstok_error *err) {
    DSX_TRY(check_last(s, err));
    const dsx_model *m = s->model;
    uint32_t n = m->config.n_vocab;
    dsx__real *row;

    if (cap < n)
        return dsx__fail(err, DSTOK_E_SPACE, DSTOK_NO_OFFSET, "logits need room for the whole vocabulary");
    if (logits == NULL) return is_null(err);
    row = m->ops->alloc(m->be, n);
    if (row == NULL) return dsx__no_memory(err);
    m->ops->linear(m->be, m->head, NULL, s->last, 1, row, false);
    m->ops->read(m->be, row, n, logits);
    m->ops->free(m->be, row, n);
    return DSTOK_OK;
}

dstok_status dsx_session_next(dsx_session *s, const uint32_t *targets, size_t n, double *out,
                              dstok_error *err) {
    if (n > 0 && (targets == NULL || out == NULL)) return is_null(err);
    DSX_TRY(check_last(s, err));
    const dsx_model *m = s->model;

    for (size_t i = 0; i < n; i++) {
        if (targets[i] >= m->config.n_vocab)
            return dsx__fail(err, DSTOK_E_BAD_ID, i, "an id is not below the size of the model's vocabulary");
        m->ops->log_probs(m->be, m->head, s->last, 1, &targets[i], &out[i], NULL);
    }
    return DSTOK_OK;
}
