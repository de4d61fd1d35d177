/* SPDX-License-Identifier: MIT */
/* Tokens of texts and lists of ids, as they come: a thread reads and encodes what the model is to read next. */
#include "../cli/source.h"
#include "dsexplain.h"

#include <dstok/stream.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE ((size_t)1 << 16) /* bytes of text that are encoded at a time */
#define WAITING                                                                                              \
    (((size_t)1 << 16) * sizeof(uint32_t)) /* bytes of ids beyond which the thread waits for the model */

struct ex_text {
    const char *name;
    struct cli_source *source;
    dstok_stream *stream;
    struct cli_buf given; /* ids that the caller has */
    pthread_t thread;
    int is_running;
    double waited, encoded; /* seconds */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t moved;
    struct cli_buf ready; /* ids that were not asked for yet */
    int is_done, is_closed;
    const char *why; /* the source's, NULL: none */
    dstok_status status;
    dstok_error err;
};

/* A SentencePiece .model does not say whether texts begin with a start token; models made with one want it. */
int ex_adds_bos(const struct ex_model *m) {
    dstok_info info = DSTOK_INFO_INIT;

    if (m->info.bos < 0 || m->config->bos == EX_BOS_OFF) return 0;
    (void)dstok_tokenizer_info(m->tok, &info);
    if (info.has_template) return 0;
    return m->config->bos == EX_BOS_ON || strcmp(info.format, "sentencepiece") == 0;
}

int ex_check_bos(const struct ex_model *m) {
    dstok_info info = DSTOK_INFO_INIT;

    (void)dstok_tokenizer_info(m->tok, &info);
    if (m->config->bos != EX_BOS_ON || m->info.bos >= 0 || info.has_template) return 0;
    return cli_usage(m->config->verb, "--bos on: the model has no start token");
}

static void add_id(struct cli_buf *ids, uint32_t id) {
    cli_buf_add(ids, &id, sizeof id);
}

static double seconds(clockid_t clock) {
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the thread */

/* Hands tokens over, once there is room for them. Returns 0 when nobody wants more. */
static int hand_over(struct ex_text *t, const dstok_tokens *tokens) {
    int goes_on;

    (void)pthread_mutex_lock(&t->lock);
    while (t->ready.n >= WAITING && !t->is_closed) (void)pthread_cond_wait(&t->moved, &t->lock);
    cli_buf_add(&t->ready, tokens->ids, tokens->n * sizeof *tokens->ids);
    goes_on = !t->is_closed;
    (void)pthread_cond_broadcast(&t->moved);
    (void)pthread_mutex_unlock(&t->lock);
    return goes_on;
}

static dstok_status encode_all(struct ex_text *t) {
    char *bytes = cli_alloc(PIECE);
    dstok_status status = DSTOK_OK;
    dstok_tokens tokens;
    long n;

    while ((n = cli_source_read(t->source, bytes, PIECE, &t->why)) > 0) {
        status = dstok_stream_feed(t->stream, bytes, (size_t)n, &tokens, &t->err);
        if (status != DSTOK_OK || !hand_over(t, &tokens)) break;
    }
    if (n == 0) {
        t->why = NULL;
        status = dstok_stream_finish(t->stream, &tokens, &t->err);
        if (status == DSTOK_OK) (void)hand_over(t, &tokens);
    } else if (n > 0) {
        t->why = NULL;
    }
    free(bytes);
    return status;
}

static void *work(void *text) {
    struct ex_text *t = text;
    dstok_status status = encode_all(t);

    (void)pthread_mutex_lock(&t->lock);
    t->status = status;
    t->encoded = seconds(CLOCK_THREAD_CPUTIME_ID);
    t->is_done = 1;
    (void)pthread_cond_broadcast(&t->moved);
    (void)pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- its text */

static int start(const struct ex_model *m, struct ex_text *t) {
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_status status;

    o.special = m->config->special;
    o.invalid = m->config->invalid;
    o.add_special = m->config->bos != EX_BOS_OFF;
    o.ids_only = 1;
    status = dstok_stream_new(m->tok, &o, NULL, &t->stream, &t->err);
    if (status != DSTOK_OK) return ex_failed(t->name, status, &t->err);
    if (ex_adds_bos(m)) add_id(&t->ready, (uint32_t)m->info.bos);
    t->is_running = pthread_create(&t->thread, NULL, work, t) == 0;
    if (t->is_running) return 0;
    cli_error("%s: no thread can be made", t->name);
    return CLI_FAIL;
}

struct ex_text *ex_text_open(const struct ex_model *m, const char *path, int *rc) {
    struct ex_text *t = cli_alloc(sizeof *t);
    const char *why = "";

    memset(t, 0, sizeof *t);
    t->err.offset = DSTOK_NO_OFFSET;
    (void)pthread_mutex_init(&t->lock, NULL);
    (void)pthread_cond_init(&t->moved, NULL);
    t->name = ex_input_name(path);
    t->source = cli_source_open(path, 0, &why);
    if (t->source != NULL) {
        *rc = start(m, t);
    } else {
        cli_error("cannot open %s: %s", t->name, why);
        *rc = CLI_USAGE;
    }
    if (*rc == 0) return t;
    ex_text_close(t);
    return NULL;
}

/* What ended the text. */
static int ending(const struct ex_text *t) {
    if (t->why != NULL) {
        cli_error("%s: %s", t->name, t->why);
        return CLI_FAIL;
    }
    if (t->status == DSTOK_OK) return 0;
    (void)ex_failed(t->name, t->status, &t->err);
    return CLI_FAIL;
}

int ex_text_next(struct ex_text *t, const uint32_t **ids, size_t *n) {
    double begin = seconds(CLOCK_MONOTONIC);
    struct cli_buf free_one = t->given;
    int rc = 0;

    free_one.n = 0;
    (void)pthread_mutex_lock(&t->lock);
    while (t->ready.n == 0 && !t->is_done) (void)pthread_cond_wait(&t->moved, &t->lock);
    t->given = t->ready;
    t->ready = free_one;
    if (t->given.n == 0) rc = ending(t);
    (void)pthread_cond_broadcast(&t->moved);
    (void)pthread_mutex_unlock(&t->lock);
    t->waited += seconds(CLOCK_MONOTONIC) - begin;
    *ids = (const uint32_t *)(const void *)t->given.p;
    *n = t->given.n / sizeof **ids;
    return rc;
}

void ex_text_times(const struct ex_text *t, double *encoded, double *waited) {
    *encoded = t->encoded;
    *waited = t->waited;
}

void ex_text_close(struct ex_text *t) {
    if (t == NULL) return;
    (void)pthread_mutex_lock(&t->lock);
    t->is_closed = 1;
    (void)pthread_cond_broadcast(&t->moved);
    (void)pthread_mutex_unlock(&t->lock);
    if (t->is_running) (void)pthread_join(t->thread, NULL);
    if (t->source != NULL) cli_source_close(t->source);
    dstok_stream_free(t->stream);
    cli_buf_free(&t->given);
    cli_buf_free(&t->ready);
    (void)pthread_mutex_destroy(&t->lock);
    (void)pthread_cond_destroy(&t->moved);
    free(t);
}

/* ---- lists of ids */

static int bad_id(const char *path, size_t line, size_t number, const char *word, size_t n, const char *why) {
    cli_error("%s:%zu: number %zu: \"%.*s\" %s", ex_input_name(path), line, number, (int)(n < 40 ? n : 40),
              word, why);
    return CLI_FAIL;
}

int ex_read_ids(const struct ex_model *m, const char *path, struct cli_buf *out) {
    static const char blanks[] = " \t\r\n,[]";
    struct cli_buf text = {0};
    size_t line = 1, number = 0;
    int rc = cli_read_whole(path, 0, DSTOK_MAX_INPUT, &text);
    const char *p = cli_buf_string(&text), *end = p + text.n;

    while (rc == 0 && p < end) {
        size_t n = 0;
        uint64_t id = 0;
        const char *why;

        if (*p == '\0' || strchr(blanks, *p) != NULL) {
            if (*p == '\0') rc = bad_id(path, line, number + 1, "", 0, "is no id: a NUL stands there");
            line += *p++ == '\n';
            continue;
        }
        while (p + n < end && p[n] != '\0' && strchr(blanks, p[n]) == NULL) n++;
        why = cli_number(p, n, &id);
        if (why == NULL && id >= m->info.n_vocab) why = "is not below the size of the model's vocabulary";
        number++;
        if (why != NULL) rc = bad_id(path, line, number, p, n, why);
        add_id(out, (uint32_t)id);
        p += n;
    }
    cli_buf_free(&text);
    return rc;
}
