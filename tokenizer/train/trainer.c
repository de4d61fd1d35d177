/* SPDX-License-Identifier: MIT */
/* The public trainer: options, feeding of documents and words, and results. */
#include "train.h"
#include "../base/sized.h"
#include "../pretok/pretok.h"
#include "../../simd/simd.h"
#include <dstok/tokenizer.h>
#include <dstok/trainer.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef enum state {
    FEEDING,
    LEARNT,
    FAILED /* counts or merges may be incomplete */
} state;

struct dstok_trainer {
    dstok_alloc al;
    state state;
    dstok__learn_options learn;
    char *pattern;
    size_t pattern_n;
    dstok__pretok *pretok;
    dstok__pretok_scratch *scratch; /* NULL where a scanner does the work */
    dstok__specials specials;
    dstok__words words;
    uint64_t n_words; /* kept when the words are freed */
    dstok__learnt learnt;
};

static dstok_status no_memory(dstok_error *err) {
    return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory");
}

/* The caller's options over the defaults; fields that an older caller does not know keep theirs. */
static dstok_status read_options(const dstok_train_options *given, dstok_train_options *o, dstok_error *err) {
    *o = (dstok_train_options)DSTOK_TRAIN_OPTIONS_INIT;
    DSTOK_TRY(dstok__sized_check(given, DSTOK__SIZE_TO(dstok_train_options, progress_ctx), "train_options",
                                 "DSTOK_TRAIN_OPTIONS_INIT", err));
    dstok__sized_read(o, sizeof *o, given);
    if (o->min_frequency == 0) o->min_frequency = 2;
    if (o->pattern == NULL) o->pattern = "o200k_base";
    return DSTOK_OK;
}

static dstok_status null_argument(dstok_error *err) {
    return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "an argument is NULL");
}

static dstok_status check_options(const dstok_train_options *o, dstok_error *err) {
    if (o->order != DSTOK_TRAIN_ORDER_HF && o->order != DSTOK_TRAIN_ORDER_BYTE) {
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "unknown order of byte ids %d", o->order);
    }
    if (o->specials == NULL && o->n_specials > 0) return null_argument(err);
    if (o->n_specials > DSTOK__TRAIN_MAX_SPECIALS || o->vocab_size < o->n_specials + 256) {
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0,
                           "vocab_size is %u but %zu special tokens and 256 bytes need %zu ids",
                           o->vocab_size, o->n_specials, o->n_specials + 256);
    }
    if (o->vocab_size > DSTOK__TRAIN_MAX_IDS) {
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "vocab_size is %u; the limit is %u",
                           o->vocab_size, DSTOK__TRAIN_MAX_IDS);
    }
    return DSTOK_OK;
}

/* A text of letters, digits, '_', '.' and '-' is meant as a name: as a regular expression it would match next to
 * nothing. */
static bool looks_like_a_name(const char *pattern) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return pattern[strspn(pattern, allowed)] == '\0';
}

/* The text of a named pattern as tokenizer.json files spell it. tiktoken's own text of cl100k means something else in
 * their dialect; Llama 3's differs from it only in how it cuts the blanks at the end of a text. */
static const char *named_pattern(const char *name) {
    bool is_cl100k = strcmp(name, "cl100k_base") == 0 || strcmp(name, "cl100k") == 0;
    return dstok__pattern_by_name(is_cl100k ? "llama3" : name);
}

/* "a, b, c" of all known names. */
static const char *list_names(char *out, size_t cap) {
    size_t len = 0;
    const char *name;
    out[0] = '\0';
    for (size_t i = 0; (name = dstok_pattern_name(i)) != NULL && len < cap; i++) {
        int n = snprintf(out + len, cap - len, "%s%s", i > 0 ? ", " : "", name);
        if (n > 0) len += (size_t)n;
    }
    return out;
}

/* A place in the pattern is no place in a document. */
static dstok_status pattern_failed(dstok_status status, const dstok_error *detail, dstok_error *err) {
    char place[40] = "";
    if (status == DSTOK_E_NOMEM) return no_memory(err);
    if (detail->offset != DSTOK_NO_OFFSET)
        snprintf(place, sizeof place, "byte %" PRIu64 " of ", detail->offset);
    return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "%s%sthe pattern: %s",
                       status == DSTOK_E_UNSUPPORTED ? "not supported: " : "", place, detail->text);
}

static dstok_status set_pattern(dstok_trainer *t, const char *pattern, dstok_error *err) {
    const char *known = named_pattern(pattern);
    if (known == NULL && looks_like_a_name(pattern)) {
        char names[224];
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0,
                           "the pattern's name is not known: give a regular expression or a name of %s",
                           list_names(names, sizeof names));
    }
    if (known != NULL) pattern = known;
    t->pattern_n = strlen(pattern);
    t->pattern = dstok__alloc(&t->al, t->pattern_n);
    if (t->pattern == NULL) return no_memory(err);
    memcpy(t->pattern, pattern, t->pattern_n);

    /* The dialect of the tokenizer.json that comes out of it. */
    dstok__step step = {.kind = DSTOK__STEP_REGEX,
                        .behavior = DSTOK__ISOLATED,
                        .dialect = DSTOK__DIALECT_ONIG,
                        .pattern = t->pattern,
                        .n = t->pattern_n};
    dstok_error detail = {.status = DSTOK_OK};
    dstok_status status = dstok__pretok_new(&t->al, &step, 1, true, &t->pretok, &detail);
    if (status != DSTOK_OK) return pattern_failed(status, &detail, err);
    if (!dstok__pretok_needs_scratch(t->pretok)) return DSTOK_OK;
    return dstok__pretok_scratch_new(&t->al, &t->scratch) == DSTOK_OK ? DSTOK_OK : no_memory(err);
}

static dstok_status start(dstok_trainer *t, const dstok_train_options *o, dstok_error *err) {
    t->learn = (dstok__learn_options){.vocab_size = o->vocab_size,
                                      .min_frequency = o->min_frequency,
                                      .max_token_length = o->max_token_length,
                                      .progress = o->progress,
                                      .progress_ctx = o->progress_ctx};
    dstok__words_init(&t->words, &t->al);
    dstok__learnt_init(&t->learnt, &t->al);
    DSTOK_TRY(dstok__specials_new(&t->specials, &t->al, o->specials, o->n_specials, err));
    DSTOK_TRY(set_pattern(t, o->pattern, err));
    return dstok__learnt_start(&t->learnt, &t->specials, o->order) == DSTOK_OK ? DSTOK_OK : no_memory(err);
}

dstok_status dstok_trainer_new(const dstok_train_options *options, dstok_trainer **out, dstok_error *err) {
    dstok_train_options o;
    if (out == NULL) return null_argument(err);
    DSTOK_TRY(read_options(options, &o, err));
    DSTOK_TRY(check_options(&o, err));
    const dstok_alloc *al = o.alloc != NULL ? o.alloc : &dstok__default_alloc;
    dstok_trainer *t = dstok__alloc_zeroed(al, 1, sizeof *t);
    if (t == NULL) return no_memory(err);
    t->al = *al;
    dstok_status status = start(t, &o, err);
    if (status != DSTOK_OK) {
        dstok_trainer_free(t);
        return status;
    }
    *out = t;
    return DSTOK_OK;
}

void dstok_trainer_free(dstok_trainer *t) {
    if (t == NULL) return;
    dstok__learnt_free(&t->learnt);
    dstok__words_free(&t->words);
    dstok__specials_free(&t->specials);
    dstok__pretok_scratch_free(t->scratch);
    dstok__pretok_free(t->pretok);
    dstok__free(&t->al, t->pattern, t->pattern_n);
    dstok_alloc al = t->al;
    dstok__free(&al, t, sizeof *t);
}

static dstok_status check_feeding(const dstok_trainer *t, dstok_error *err) {
    if (t == NULL) return null_argument(err);
    if (t->state == FEEDING) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_STATE, DSTOK_NO_OFFSET, 0,
                       t->state == LEARNT ? "the trainer has run already" : "the trainer has failed before");
}

static dstok_status add_word(dstok_trainer *t, const void *bytes, size_t n, uint64_t count,
                             dstok_error *err) {
    dstok_status status = dstok__words_add(&t->words, bytes, n, count);
    if (status == DSTOK_E_NOMEM) return no_memory(err);
    if (status == DSTOK_E_LIMIT) {
        return dstok__fail(
            err, status, DSTOK_NO_OFFSET, 0,
            "too many distinct pretokens, or counts beyond 64 bits (docs/training.md, limits)");
    }
    return status;
}

/* What one call feeds, for the callback of the pretokenizer. */
typedef struct feeding {
    dstok_trainer *t;
    const uint8_t *piece;
    uint64_t weight;
    dstok_error *err;
} feeding;

static dstok_status count_pretoken(void *ctx, const dstok__pretoken *p) {
    feeding *f = ctx;
    return add_word(f->t, p->text + p->begin, p->end - p->begin, f->weight, f->err);
}

/* Calls count for every stretch between special tokens. */
static dstok_status between_specials(feeding *f, const uint8_t *text, size_t len,
                                     dstok_status (*count)(feeding *f, size_t n)) {
    for (size_t pos = 0; pos < len;) {
        size_t end = len, found = dstok__specials_find(&f->t->specials, text, len, pos, &end);
        f->piece = text + pos;
        if (found > pos) DSTOK_TRY(count(f, found - pos));
        pos = end;
    }
    return DSTOK_OK;
}

static dstok_status count_piece(feeding *f, size_t n) {
    return dstok__pretok_run(f->t->pretok, f->t->scratch, f->piece, n, false, false, count_pretoken, f,
                             f->err);
}

static dstok_status count_word(feeding *f, size_t n) {
    return add_word(f->t, f->piece, n, f->weight, f->err);
}

dstok_status dstok_trainer_feed(dstok_trainer *t, const void *text, size_t len, uint64_t weight,
                                dstok_error *err) {
    DSTOK_TRY(check_feeding(t, err));
    if (text == NULL && len > 0) return null_argument(err);
    if (weight == 0)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "the weight of a document is 0");
    if (len > DSTOK_MAX_INPUT) {
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
                           "a document of %zu bytes; the limit is %zu", len, DSTOK_MAX_INPUT);
    }
    size_t bad = len == 0 ? 0 : dstok__utf8_check(text, len);
    if (bad != len)
        return dstok__fail(err, DSTOK_E_UTF8, bad, 0, "invalid UTF-8 (byte 0x%02X)",
                           ((const unsigned char *)text)[bad]);
    feeding f = {.t = t, .weight = weight, .err = err};
    dstok_status status = between_specials(&f, text, len, count_piece);
    if (status != DSTOK_OK) t->state = FAILED;
    return status;
}

dstok_status dstok_trainer_feed_word(dstok_trainer *t, const void *word, size_t n, uint64_t count,
                                     dstok_error *err) {
    DSTOK_TRY(check_feeding(t, err));
    if (n == 0 || count == 0) return DSTOK_OK;
    if (word == NULL) return null_argument(err);
    feeding f = {.t = t, .weight = count, .err = err};
    dstok_status status = between_specials(&f, word, n, count_word);
    if (status != DSTOK_OK) t->state = FAILED;
    return status;
}

dstok_status dstok_trainer_run(dstok_trainer *t, dstok_error *err) {
    DSTOK_TRY(check_feeding(t, err));
    t->n_words = t->words.n;
    t->state = FAILED;
    DSTOK_TRY(dstok__learn(&t->learnt, &t->words, &t->learn, err));
    t->state = LEARNT;
    return DSTOK_OK;
}

dstok_status dstok_trainer_result(const dstok_trainer *t, dstok_train_result *result) {
    if (t == NULL) return DSTOK_E_INVAL;
    DSTOK_TRY(dstok__sized_check(result, DSTOK__SIZE_TO(dstok_train_result, full), "train_result",
                                 "DSTOK_TRAIN_RESULT_INIT", NULL));
    dstok_train_result r = {.n_pretokens = t->words.total, .n_ids = t->learnt.n_tokens};
    r.n_words = t->state == FEEDING ? t->words.n : t->n_words;
    r.n_merges = t->learnt.n_merges;
    r.last_count = t->learnt.last_count;
    r.full = t->learnt.n_tokens == t->learn.vocab_size;
    dstok__sized_write(result, &r, sizeof r);
    return DSTOK_OK;
}

dstok_status dstok_trainer_json(const dstok_trainer *t, void *out, size_t cap, size_t *n, dstok_error *err) {
    if (t == NULL || n == NULL || (out == NULL && cap > 0)) return null_argument(err);
    if (t->state != LEARNT) {
        return dstok__fail(err, DSTOK_E_STATE, DSTOK_NO_OFFSET, 0,
                           "there is no vocabulary before a finished run");
    }
    *n = dstok__learnt_json(&t->learnt, t->pattern, t->pattern_n, out, cap);
    if (*n <= cap) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_SPACE, DSTOK_NO_OFFSET, 0, "the buffer has %zu bytes, %zu are needed",
                       cap, *n);
}
