/* SPDX-License-Identifier: MIT */
/* dstok trace: scores of tokens traced back to the texts they came from. */
#include "source.h"
#include "tracing.h"

#include <dstok/jsonl.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the prompt */

static void add_part(struct cli_tracing *t, size_t len, const char *name, uint32_t role, int special) {
    size_t n = t->n_parts++;
    uint64_t source = n > 0 ? t->parts[n - 1].source + (t->parts[n - 1].name != NULL) : 0;

    t->segments = cli_realloc(t->segments, (n + 1) * sizeof *t->segments);
    t->parts = cli_realloc(t->parts, (n + 1) * sizeof *t->parts);
    memset(&t->segments[n], 0, sizeof t->segments[n]);
    memset(&t->parts[n], 0, sizeof t->parts[n]);
    t->segments[n].len = len;
    t->segments[n].special = special;
    t->segments[n].role = role;
    t->segments[n].source = (uint32_t)source;
    t->parts[n].name = name ? cli_copy_text(name) : NULL;
    t->parts[n].begin = t->prompt.n - len;
    t->parts[n].source = source;
}

/* Text of --before, --between, --after: the caller's own, in which control tokens count. */
static void add_template(struct cli_tracing *t, const struct cli_buf *text) {
    if (text->n == 0) return;
    cli_buf_add(&t->prompt, text->p, text->n);
    add_part(t, text->n, NULL, DSTOK_ROLE_TEMPLATE, DSTOK_SPECIAL_PARSE);
}

static int read_inputs(struct cli_tracing *t, int special) {
    const struct cli_config *c = t->config;
    struct cli_files files;
    size_t i;
    int rc = cli_files_list(c, &files);

    if (rc) return rc;
    add_template(t, &c->before);
    for (i = 0; i < files.n && rc == 0; i++) {
        struct cli_buf text = {0};

        if (i > 0) add_template(t, &c->between);
        rc = cli_read_whole(files.items[i].name, c->no_decompress, DSTOK_MAX_INPUT, &text);
        cli_buf_add(&t->prompt, text.p, text.n);
        add_part(t, text.n, cli_input_name(&files.items[i]), DSTOK_ROLE_SOURCE, special);
        cli_buf_free(&text);
    }
    if (rc == 0) add_template(t, &c->after);
    cli_files_free(&files);
    return rc;
}

/* The number of a role, which is written as JSON; -1: unknown. */
static int role_of(const dstok_jsonl_record *r) {
    static const char *const names[] = {"\"none\"",   "\"template\"", "\"system\"",
                                        "\"source\"", "\"question\"", "\"answer\""};
    int i;

    if (r->id == NULL) return DSTOK_ROLE_SOURCE;
    for (i = 0; i < 6; i++)
        if (strlen(names[i]) == r->n_id && memcmp(names[i], r->id, r->n_id) == 0) return i;
    return -1;
}

static int add_record(struct cli_tracing *t, const dstok_jsonl_record *r, int special) {
    const char *path = t->config->segments;
    struct cli_buf name = {0};
    int role = role_of(r);

    if (role < 0) {
        cli_error("%s:%llu: role is %.*s; it is one of template, system, source, question, answer, none",
                  path, (unsigned long long)r->number, (int)(r->n_id < 40 ? r->n_id : 40), r->id);
        return CLI_FAIL;
    }
    cli_buf_printf(&name, "%s:%llu", path, (unsigned long long)r->number);
    cli_buf_add(&t->prompt, r->text, r->n_text);
    if (role == DSTOK_ROLE_TEMPLATE)
        add_part(t, r->n_text, NULL, (uint32_t)role, DSTOK_SPECIAL_PARSE);
    else
        add_part(t, r->n_text, cli_buf_string(&name), (uint32_t)role, special);
    cli_buf_free(&name);
    return 0;
}

/* Lines {"role":...,"text":...} */
static int read_segments(struct cli_tracing *t, int special) {
    dstok_jsonl_options options = DSTOK_JSONL_OPTIONS_INIT;
    dstok_jsonl_record r = DSTOK_JSONL_RECORD_INIT;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    const char *path = t->config->segments;
    dstok_jsonl *reader = NULL;
    struct cli_buf file = {0};
    size_t at = 0;
    int rc = cli_read_whole(path, t->config->no_decompress, DSTOK_MAX_INPUT, &file);

    options.id_key = "role";
    if (rc == 0 && dstok_jsonl_new(&options, &reader, NULL) != DSTOK_OK) cli_no_memory();
    while (rc == 0) {
        if (dstok_jsonl_next(reader, file.p, file.n, 1, &at, &r, &err) != DSTOK_OK) {
            cli_error("%s:%lu: byte %llu: %s", path, (unsigned long)err.line, (unsigned long long)err.offset,
                      err.text);
            rc = CLI_FAIL;
        } else if (r.line == NULL) {
            break;
        } else {
            rc = add_record(t, &r, special);
        }
    }
    dstok_jsonl_free(reader);
    cli_buf_free(&file);
    return rc;
}

/* ---- tokens */

/* The part of the prompt that a byte is in. */
static size_t part_at(const struct cli_tracing *t, uint64_t byte) {
    size_t i = 0;

    while (i + 1 < t->n_parts && t->parts[i + 1].begin <= byte) i++;
    return i;
}

static int encode(struct cli_tracing *t, dstok_encoder *enc, const dstok_encode_options *options) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status = t->n_parts == 0
                              ? dstok_encode_view(enc, "", 0, options, &t->tokens, &err)
                              : dstok_encode_segments(enc, cli_buf_string(&t->prompt), t->prompt.n,
                                                      t->segments, t->n_parts, options, &t->tokens, &err);
    const struct cli_part *part;

    if (status == DSTOK_OK) return 0;
    if (status == DSTOK_E_NOMEM) cli_no_memory();
    if (err.offset == DSTOK_NO_OFFSET) {
        cli_error("%s", err.text[0] ? err.text : dstok_status_name(status));
        return CLI_FAIL;
    }
    part = &t->parts[part_at(t, err.offset)];
    cli_error("%s: byte %llu: %s", part->name ? part->name : "the template",
              (unsigned long long)(err.offset - part->begin), err.text);
    return CLI_FAIL;
}

/* ---- scores */

static const char *scores_name(const struct cli_config *c) {
    return strcmp(c->scores, "-") == 0 ? "standard input" : c->scores;
}

/* --rows: which row, or what is made of all of them. Returns 0 or CLI_FAIL. */
static int reduce(const struct cli_config *c, struct cli_scores *s) {
    const char *how = c->rows;
    uint64_t row = 0;
    size_t i, k;

    if (s->rows > 1 && how == NULL) {
        cli_error("%s: %zu rows of %zu scores; --rows sum, mean, max, or the number of one (from 0)",
                  scores_name(c), s->rows, s->columns);
        return CLI_FAIL;
    }
    if (s->rows == 0) s->columns = 0; /* an array of the shape (0, n) holds no score */
    if (how == NULL || s->rows == 0) return 0;
    if (strcmp(how, "sum") == 0 || strcmp(how, "mean") == 0 || strcmp(how, "max") == 0) {
        for (k = 0; k < s->columns; k++) {
            double *to = &s->p[k];

            for (i = 1; i < s->rows; i++) {
                double value = s->p[i * s->columns + k];

                *to = how[0] == 's' || how[1] == 'e' ? *to + value : value > *to ? value : *to;
            }
            if (how[1] == 'e') *to /= (double)s->rows;
        }
        return 0;
    }
    (void)cli_number(how, strlen(how), &row);
    if (row >= s->rows) {
        cli_error("%s: --rows %s: there are %zu rows, counted from 0", scores_name(c), how, s->rows);
        return CLI_FAIL;
    }
    memmove(s->p, s->p + (size_t)row * s->columns, s->columns * sizeof *s->p);
    return 0;
}

static int check_finite(const struct cli_config *c, const struct cli_scores *s) {
    size_t i;

    for (i = 0; i < s->rows * s->columns; i++) {
        if (isfinite(s->p[i])) continue;
        cli_error(
            "%s: row %zu, score %zu (both from 0) is %s; scores are finite (of a mask that is added, 0 and "
            "-inf, make 1 and 0 first)",
            scores_name(c), i / s->columns, i % s->columns,
            isnan(s->p[i]) ? "NaN"
            : s->p[i] < 0  ? "-inf"
                           : "inf");
        return CLI_FAIL;
    }
    return 0;
}

/* Sums of any of the scores are numbers, too. */
static int check_sums(const struct cli_config *c, const struct cli_scores *s) {
    double sum = 0;
    size_t i;

    for (i = 0; i < s->columns; i++) sum += fabs(s->p[i]);
    if (isfinite(sum)) return 0;
    cli_error("%s: the scores are too large to be summed up", scores_name(c));
    return CLI_FAIL;
}

static int read_scores(const struct cli_config *c, struct cli_scores *s) {
    struct cli_buf file = {0}, why = {0};
    uint64_t at, line;
    int rc = cli_read_whole(c->scores, c->no_decompress, (size_t)1 << 33, &file);

    if (rc == 0 && cli_scores_read(&file, s, &why, &at, &line) != 0) {
        const char *name = scores_name(c);

        if (line > 0)
            cli_error("%s:%llu: byte %llu: %s", name, (unsigned long long)line, (unsigned long long)at,
                      cli_buf_string(&why));
        else
            cli_error("%s: byte %llu: %s", name, (unsigned long long)at, cli_buf_string(&why));
        rc = CLI_FAIL;
    }
    if (rc == 0) rc = check_finite(c, s);
    if (rc == 0) rc = reduce(c, s);
    if (rc == 0) rc = check_sums(c, s);
    cli_buf_free(&file);
    cli_buf_free(&why);
    return rc;
}

/* Scores and tokens do not fit: say what would. */
static int no_fit(struct cli_tracing *t, dstok_encoder *enc, const dstok_encode_options *options,
                  size_t n_scores) {
    dstok_encode_options other = *options;
    size_t n = t->tokens.n;
    struct cli_buf hint = {0};

    other.add_special = !other.add_special;
    if (encode(t, enc, &other) == 0 && t->tokens.n == n_scores)
        cli_buf_printf(&hint, "; %s --add-special there are as many", other.add_special ? "with" : "without");
    else if (n_scores > n)
        cli_buf_text(&hint, "; --pad left or --pad right says where padding stands");
    else
        cli_buf_text(&hint, "; is it the text and the vocabulary they were made with?");
    cli_error("%s: there are %zu scores for %zu tokens%s", scores_name(t->config), n_scores, n,
              cli_buf_string(&hint));
    cli_buf_free(&hint);
    return CLI_FAIL;
}

/* ---- rows */

static dstok_trace_input input_of(const struct cli_tracing *t, const double *scores) {
    dstok_trace_input in = DSTOK_TRACE_INPUT_INIT;

    in.text = t->prompt.p;
    in.len = t->prompt.n;
    in.spans = t->tokens.spans;
    in.n = t->tokens.n;
    in.scores = scores;
    in.segments = t->segments;
    in.n_segments = t->n_parts;
    return in;
}

/* All rows of a level. Returns 0 or CLI_FAIL after a message. */
static int trace(struct cli_tracing *t, const double *scores, int level) {
    dstok_trace_input in = input_of(t, scores);
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status = dstok_trace(&in, level, NULL, 0, &t->n_rows, NULL, &err);

    if (status == DSTOK_OK || status == DSTOK_E_SPACE) {
        t->rows = cli_realloc(t->rows, (t->n_rows + 1) * sizeof *t->rows);
        status = dstok_trace(&in, level, t->rows, t->n_rows, &t->n_rows, &t->sums, &err);
    }
    if (status != DSTOK_OK) cli_error("%s", err.text);
    return status == DSTOK_OK ? 0 : CLI_FAIL;
}

static void add_up(struct cli_tracing *t) {
    size_t i;

    for (i = 0; i < t->n_rows; i++) {
        struct cli_part *part = &t->parts[t->rows[i].segment];

        part->sum += t->rows[i].sum;
        *(part->name ? &t->sources : &t->template) += t->rows[i].sum;
    }
}

/* For sorting: the larger value first, of equal ones the earlier row. */
struct ranked {
    double value;
    size_t i;
};

static int by_rank(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;

    if (x->value > y->value || x->value < y->value) return x->value > y->value ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

/* Leave the --top rows, in the order of the text. */
static void keep_top(struct cli_tracing *t) {
    struct ranked *ranks = cli_alloc((t->n_rows + 1) * sizeof *ranks);
    char *stays = cli_alloc(t->n_rows + 1);
    size_t i, n = 0;

    for (i = 0; i < t->n_rows; i++) {
        ranks[i].value = cli_trace_value(t->config, &t->rows[i]);
        ranks[i].i = i;
    }
    qsort(ranks, t->n_rows, sizeof *ranks, by_rank);
    memset(stays, 0, t->n_rows);
    for (i = 0; i < t->n_rows && i < t->config->top; i++) stays[ranks[i].i] = 1;
    for (i = 0; i < t->n_rows; i++)
        if (stays[i]) t->rows[n++] = t->rows[i];
    t->n_rows = n;
    free(ranks);
    free(stays);
}

static int is_mask(const double *scores, size_t n) {
    size_t i;

    for (i = 0; i < n; i++)
        if ((scores[i] < 0 || scores[i] > 0) && (scores[i] < 1 || scores[i] > 1)) return 0;
    return 1;
}

static void select_rows(struct cli_tracing *t, const double *scores) {
    const struct cli_config *c = t->config;
    int join = c->join == CLI_JOIN_ON || (c->join == CLI_JOIN_AUTO && c->level <= DSTOK_TRACE_WORD &&
                                          (c->threshold != NULL || is_mask(scores, t->tokens.n)));
    double least = c->threshold ? strtod(c->threshold, NULL) : 0;
    size_t i, n = 0;

    for (i = 0; i < t->n_rows; i++) {
        double value = cli_trace_value(c, &t->rows[i]);
        int stays = c->threshold ? value >= least : value < 0 || value > 0;

        if (stays && t->parts[t->rows[i].segment].name != NULL) t->rows[n++] = t->rows[i];
    }
    t->n_rows = n;
    if (c->top > 0) keep_top(t);
    if (join) t->n_rows = dstok_trace_join(t->rows, t->n_rows);
}

static int show(struct cli_tracing *t, const struct cli_scores *s, size_t first) {
    struct cli_buf out = {0};
    const double *scores = s->columns > 0 ? s->p + first : NULL; /* of t->tokens */
    size_t i;
    int rc = trace(t, scores, t->config->level);

    if (rc) return rc;
    for (i = 0; i < s->columns; i++)
        if (i < first || i >= first + t->tokens.n) t->padding += s->p[i];
    t->n_scores = s->columns;
    add_up(t);
    select_rows(t, scores);
    cli_trace_print(t, &out);
    rc = cli_out_buf(&out);
    if (rc == 0) rc = cli_out_flush(); /* before the note */
    if (rc == 0 && t->config->format != CLI_TRACE_JSON) cli_trace_note(t);
    cli_buf_free(&out);
    return rc;
}

static int run(struct cli_tracing *t, const dstok_tokenizer *tok) {
    const struct cli_config *c = t->config;
    dstok_encode_options options;
    struct cli_scores scores = {NULL, 0, 0};
    uint32_t *allowed = NULL;
    dstok_encoder *enc = NULL;
    size_t first = 0;
    int rc = cli_encode_options(c, tok, &options, &allowed);

    if (rc == 0) rc = c->segments ? read_segments(t, options.special) : read_inputs(t, options.special);
    if (rc == 0) rc = read_scores(c, &scores);
    if (rc == 0 && dstok_encoder_new(tok, &enc) != DSTOK_OK) cli_no_memory();
    if (rc == 0) rc = encode(t, enc, &options);
    if (rc == 0 && dstok_trace_fit(scores.columns, t->tokens.n, c->pad, &first, NULL) != DSTOK_OK)
        rc = no_fit(t, enc, &options, scores.columns);
    if (rc == 0) rc = show(t, &scores, first);
    cli_scores_free(&scores);
    dstok_encoder_free(enc);
    free(allowed);
    return rc;
}

/* What can be told before any work starts. */
static int check(const struct cli_config *c) {
    size_t i, n_standard = strcmp(c->scores ? c->scores : "", "-") == 0;
    char *end;
    uint64_t row;

    if (c->scores == NULL) return cli_usage(c->verb, "--scores FILE is needed: a score for each token");
    if (c->segments && c->n_inputs > 0) return cli_usage(c->verb, "--segments takes no other input");
    n_standard += c->segments ? strcmp(c->segments, "-") == 0 : c->n_inputs == 0;
    for (i = 0; i < c->n_inputs; i++) n_standard += strcmp(c->inputs[i].name, "-") == 0;
    if (n_standard > 1) return cli_usage(c->verb, "scores and text cannot both come from standard input");
    if (c->threshold &&
        (strtod(c->threshold, &end), end == c->threshold || *end || !isfinite(strtod(c->threshold, NULL))))
        return cli_usage(c->verb, "--threshold: \"%s\" is not a number", c->threshold);
    if (c->rows && strcmp(c->rows, "sum") && strcmp(c->rows, "mean") && strcmp(c->rows, "max") &&
        cli_number(c->rows, strlen(c->rows), &row))
        return cli_usage(c->verb, "--rows: \"%s\" is not sum, mean, max or the number of a row", c->rows);
    return 0;
}

int cli_trace(struct cli_config *c) {
    dstok_tokenizer *tok = NULL;
    struct cli_tracing t;
    size_t i;
    int rc = check(c);

    memset(&t, 0, sizeof t);
    t.config = c;
    if (rc == 0) rc = cli_vocab_load(c, c->n_vocabs ? c->vocabs[0] : NULL, &tok);
    if (rc == 0) rc = run(&t, tok);
    for (i = 0; i < t.n_parts; i++) free(t.parts[i].name);
    free(t.parts);
    free(t.segments);
    free(t.rows);
    cli_buf_free(&t.prompt);
    dstok_tokenizer_free(tok);
    return rc;
}
