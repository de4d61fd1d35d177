/* SPDX-License-Identifier: MIT */
/* dsexplain diff: what is different between two explanations of the same sources. */
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A span that both list. */
struct pair {
    const struct ex_span *a, *b;
    double change; /* what it is ordered by */
};

struct comparison {
    const struct ex_target *a, *b;
    struct pair *pairs;
    size_t n;
    int by_rank; /* the scores are of different kinds */
    double pearson, spearman;
};

/* ---- the same sources */

static int is_same(const struct ex_text_of *a, const struct ex_text_of *b) {
    return a->n == b->n && a->is_base64 == b->is_base64 && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0);
}

static int check(const struct ex_report *a, const struct ex_report *b) {
    if (a->n_sources != b->n_sources) {
        cli_error("%s has %zu sources, %s has %zu: only reports of the same sources can be compared", a->path,
                  a->n_sources, b->path, b->n_sources);
        return CLI_FAIL;
    }
    for (size_t i = 0; i < a->n_sources; i++)
        if (strcmp(a->sources[i].sha256, b->sources[i].sha256) != 0 ||
            a->sources[i].bytes != b->sources[i].bytes) {
            cli_error("%s and %s are of different sources: number %zu has sha256 %.12s... and %.12s...",
                      a->path, b->path, i + 1, a->sources[i].sha256, b->sources[i].sha256);
            return CLI_FAIL;
        }
    if (a->level != NULL && b->level != NULL && strcmp(a->level, b->level) != 0) {
        cli_error("%s lists by %s, %s by %s: give both runs the same --level", a->path, a->level, b->path,
                  b->level);
        return CLI_FAIL;
    }
    return 0;
}

/* ---- numbers */

/* Means removed; NaN where one side is all the same. */
static double correlation(const double *x, const double *y, size_t n) {
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;

    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return n > 1 && xx > 0 && yy > 0 ? xy / sqrt(xx) / sqrt(yy) : NAN;
}

struct placed {
    double x;
    size_t i;
};

static int by_x(const void *a, const void *b) {
    const struct placed *p = a, *q = b;

    return p->x < q->x ? -1 : p->x > q->x;
}

/* Numbers become their ranks; equal ones share the mean. */
static void to_ranks(double *x, struct placed *work, size_t n) {
    for (size_t i = 0; i < n; i++) work[i] = (struct placed){x[i], i};
    if (n > 1) qsort(work, n, sizeof *work, by_x);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && work[end].x <= work[i].x;) end++;
        for (size_t k = i; k < end; k++) x[work[k].i] = ((double)i + (double)end - 1) / 2;
    }
}

static void correlate(struct comparison *c) {
    double *x = cli_alloc((2 * c->n + 1) * sizeof *x), *y = x + c->n;
    struct placed *work = cli_alloc((c->n + 1) * sizeof *work);

    for (size_t i = 0; i < c->n; i++) {
        x[i] = c->pairs[i].a->score;
        y[i] = c->pairs[i].b->score;
    }
    c->pearson = correlation(x, y, c->n);
    to_ranks(x, work, c->n);
    to_ranks(y, work, c->n);
    c->spearman = correlation(x, y, c->n);
    free(x);
    free(work);
}

/* ---- pairs */

static double rank_change(const struct pair *p) {
    return p->a->rank > p->b->rank ? (double)(p->a->rank - p->b->rank) : (double)(p->b->rank - p->a->rank);
}

static int by_change(const void *a, const void *b) {
    const struct pair *p = a, *q = b;
    double x = rank_change(p), y = rank_change(q);

    if (p->change != q->change) return p->change > q->change ? -1 : 1;
    if (x != y) return x > y ? -1 : 1;
    return p->a->rank < q->a->rank ? -1 : p->a->rank > q->a->rank;
}

static int order(const struct ex_span *x, const struct ex_span *y) {
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static void compare(const struct ex_target *a, const struct ex_target *b, struct comparison *c) {
    size_t most = a->n < b->n ? a->n : b->n, i = 0, k = 0;

    *c = (struct comparison){.a = a, .b = b, .by_rank = strcmp(a->quantity, b->quantity) != 0};
    c->pairs = cli_alloc((most + 1) * sizeof *c->pairs);
    while (i < a->n && k < b->n) {
        int side = order(&a->spans[i], &b->spans[k]);
        struct pair *p = &c->pairs[c->n];

        if (side == 0) {
            *p = (struct pair){&a->spans[i], &b->spans[k], fabs(a->spans[i].score - b->spans[k].score)};
            if (c->by_rank) p->change = rank_change(p);
            c->n++;
        }
        i += side <= 0;
        k += side >= 0;
    }
    correlate(c);
    if (c->n > 1) qsort(c->pairs, c->n, sizeof *c->pairs, by_change);
}

/* ---- for people */

/* One line of a text, at most so many characters; nothing in it drives a terminal. */
static void put_line(struct cli_buf *out, const struct ex_text_of *t, size_t most) {
    const unsigned char *p = (const unsigned char *)t->p;
    size_t count = 0, k;

    if (t->is_base64) cli_buf_text(out, "base64 ");
    for (size_t i = 0; i < t->n; i += k) {
        uint32_t c;
        int ok;

        k = cli_utf8_next(p + i, t->n - i, &ok, &c);
        if (++count > most) {
            cli_buf_text(out, "\xE2\x80\xA6");
            return;
        }
        if (c == '\n' || c == '\t' || c == '\r')
            cli_buf_char(out, ' ');
        else if (c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) ||
                 (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0x61C || c == 0xFEFF)
            cli_buf_printf(out, "<%02X>", (unsigned)c);
        else
            cli_buf_add(out, p + i, k);
    }
}

static void put_name(struct cli_buf *out, const struct ex_report *r, uint64_t source) {
    if (r->sources[source].path.p != NULL)
        put_line(out, &r->sources[source].path, 60);
    else
        cli_buf_printf(out, "source %llu", (unsigned long long)source + 1);
}

static void put_real(struct cli_buf *out, double x) {
    if (isfinite(x))
        cli_buf_printf(out, " %+11.4f", x);
    else
        cli_buf_text(out, "           -");
}

static void put_values(struct cli_buf *out, const char *name, double a, double b) {
    cli_buf_printf(out, "%-22s", name);
    put_real(out, a);
    put_real(out, b);
    put_real(out, b - a);
    cli_buf_char(out, '\n');
}

static void put_changes(struct cli_buf *out, const struct ex_report *a, const struct comparison *c,
                        size_t top) {
    cli_buf_printf(out, "\nmost changed by %s\n    rank           A           B      change  where: text\n",
                   c->by_rank ? "rank (the scores are of different kinds)" : "score");
    for (size_t i = 0; i < c->n && i < top; i++) {
        const struct pair *p = &c->pairs[i];

        cli_buf_printf(out, "%3llu %3llu ", (unsigned long long)p->a->rank, (unsigned long long)p->b->rank);
        put_real(out, p->a->score);
        put_real(out, p->b->score);
        put_real(out, p->b->score - p->a->score);
        cli_buf_text(out, "  ");
        put_name(out, a, p->a->source);
        cli_buf_printf(out, ":%llu:%llu: ", (unsigned long long)p->a->line, (unsigned long long)p->a->column);
        put_line(out, &p->a->text, 60);
        cli_buf_char(out, '\n');
    }
}

static void put_two(struct cli_buf *out, const char *what, const struct ex_text_of *a,
                    const struct ex_text_of *b) {
    cli_buf_printf(out, "%s\n  A: ", what);
    put_line(out, a, 300);
    cli_buf_text(out, "\n  B: ");
    put_line(out, b, 300);
    cli_buf_char(out, '\n');
}

static void put_target(struct cli_buf *out, const struct ex_report *a, const struct comparison *c, size_t i,
                       size_t top) {
    size_t only_a = c->a->n - c->n, only_b = c->b->n - c->n;

    cli_buf_printf(out, "\ntarget %zu: ", i + 1);
    put_line(out, &c->a->text, 100);
    cli_buf_char(out, '\n');
    if (!is_same(&c->a->text, &c->b->text))
        put_two(out, "the explained texts differ:", &c->a->text, &c->b->text);
    cli_buf_printf(out, "correlation of %zu scores", c->n);
    if (isfinite(c->pearson))
        cli_buf_printf(out, " %.4f, of their ranks %.4f", c->pearson, c->spearman);
    else
        cli_buf_text(out, " is not defined");
    if (only_a + only_b > 0) cli_buf_printf(out, "; %zu more are in A alone, %zu in B", only_a, only_b);
    cli_buf_text(out, "\n\n                                 A           B      change\n");
    cli_buf_text(out, "method                 ");
    cli_buf_printf(out, "%11.11s %11.11s\n", c->a->method, c->b->method);
    put_values(out, "value", c->a->value, c->b->value);
    put_values(out, "log-probability", c->a->logprob, c->b->logprob);
    for (int k = 0; k < EX_SUMS; k++) put_values(out, ex_sum_names[k], c->a->sums[k], c->b->sums[k]);
    if (c->n > 0) put_changes(out, a, c, top);
}

static void put_head(struct cli_buf *out, const struct ex_report *a, const struct ex_report *b) {
    if (!is_same(&a->output, &b->output))
        put_two(out, "the answers differ:", &a->output, &b->output);
    else
        cli_buf_text(out, "the answers are the same\n");
    if (a->n_targets != b->n_targets)
        cli_buf_printf(out, "A explains %zu targets, B %zu: the first ones are compared\n", a->n_targets,
                       b->n_targets);
    for (int i = 0; i < 2; i++) {
        const char *path = i == 0 ? a->path : b->path;
        struct ex_text_of text = {path, strlen(path), 0};

        cli_buf_text(out, i == 0 ? "A: " : "B: ");
        put_line(out, &text, 1000);
        cli_buf_char(out, '\n');
    }
}

/* ---- for programs */

static void json_text(struct cli_buf *out, const char *key, const struct ex_text_of *t) {
    cli_buf_printf(out, "\"%s%s\":", key, t->is_base64 ? "_b64" : "");
    if (t->p != NULL)
        (void)cli_json_string(out, t->p, t->n);
    else
        cli_buf_text(out, "null");
}

static void json_two(struct cli_buf *out, const char *key, double a, double b) {
    cli_buf_printf(out, "\"%s\":[", key);
    ex_json_real(out, a);
    cli_buf_char(out, ',');
    ex_json_real(out, b);
    cli_buf_char(out, ']');
}

static void json_side(struct cli_buf *out, const char *key, const struct ex_target *t) {
    cli_buf_printf(out, "\"%s\":{", key);
    json_text(out, "text", &t->text);
    cli_buf_text(out, ",\"method\":");
    cli_json_text(out, t->method);
    cli_buf_text(out, ",\"quantity\":");
    cli_json_text(out, t->quantity);
    cli_buf_printf(out, ",\"spans\":%zu},", t->n);
}

static void json_change(struct cli_buf *out, const struct pair *p) {
    cli_buf_printf(out, "{\"source\":%llu,\"range\":[%llu,%llu],\"line\":%llu,\"col\":%llu,",
                   (unsigned long long)p->a->source, (unsigned long long)p->a->begin,
                   (unsigned long long)p->a->end, (unsigned long long)p->a->line,
                   (unsigned long long)p->a->column);
    json_text(out, "text", &p->a->text);
    cli_buf_char(out, ',');
    json_two(out, "score", p->a->score, p->b->score);
    cli_buf_printf(out, ",\"rank\":[%llu,%llu]}", (unsigned long long)p->a->rank,
                   (unsigned long long)p->b->rank);
}

static void json_target(struct cli_buf *out, const struct comparison *c, size_t i, size_t top) {
    cli_buf_printf(out, "%s{\"id\":%zu,\"same_text\":%s,", i > 0 ? "," : "", i,
                   is_same(&c->a->text, &c->b->text) ? "true" : "false");
    json_side(out, "a", c->a);
    json_side(out, "b", c->b);
    json_two(out, "value", c->a->value, c->b->value);
    cli_buf_char(out, ',');
    json_two(out, "logprob", c->a->logprob, c->b->logprob);
    cli_buf_text(out, ",\"sum\":{");
    for (int k = 0; k < EX_SUMS; k++) {
        if (k > 0) cli_buf_char(out, ',');
        json_two(out, ex_sum_keys[k], c->a->sums[k], c->b->sums[k]);
    }
    cli_buf_printf(out, "},\"common_spans\":%zu,\"pearson\":", c->n);
    ex_json_real(out, c->pearson);
    cli_buf_text(out, ",\"spearman\":");
    ex_json_real(out, c->spearman);
    cli_buf_printf(out, ",\"by\":\"%s\",\"changed\":[", c->by_rank ? "rank" : "score");
    for (size_t k = 0; k < c->n && k < top; k++) {
        if (k > 0) cli_buf_char(out, ',');
        json_change(out, &c->pairs[k]);
    }
    cli_buf_text(out, "]}");
}

static void json_head(struct cli_buf *out, const struct ex_report *a, const struct ex_report *b) {
    cli_buf_printf(out, "{\"schema\":\"dsexplain-diff/1\",\"same_answer\":%s,\"a\":{\"path\":",
                   is_same(&a->output, &b->output) ? "true" : "false");
    cli_json_text(out, a->path);
    cli_buf_printf(out, ",\"targets\":%zu,", a->n_targets);
    json_text(out, "answer", &a->output);
    cli_buf_text(out, "},\"b\":{\"path\":");
    cli_json_text(out, b->path);
    cli_buf_printf(out, ",\"targets\":%zu,", b->n_targets);
    json_text(out, "answer", &b->output);
    cli_buf_text(out, "},\"targets\":[");
}

/* ---- */

int ex_diff(const struct ex_config *config) {
    struct ex_report a = {0}, b = {0};
    struct cli_buf out = {0};
    size_t top = config->top > 0 ? (size_t)config->top : config->json ? SIZE_MAX : 10;
    int rc = ex_report_read(config->inputs[0], &a);

    if (rc == 0) rc = ex_report_read(config->inputs[1], &b);
    if (rc == 0) rc = check(&a, &b);
    if (rc == 0) (config->json ? json_head : put_head)(&out, &a, &b);
    for (size_t i = 0; rc == 0 && i < a.n_targets && i < b.n_targets; i++) {
        struct comparison c;

        compare(&a.targets[i], &b.targets[i], &c);
        if (config->json)
            json_target(&out, &c, i, top);
        else
            put_target(&out, &a, &c, i, top);
        free(c.pairs);
    }
    if (rc == 0 && config->json) cli_buf_text(&out, "]}\n");
    if (rc == 0) rc = cli_out_buf(&out);
    cli_buf_free(&out);
    ex_report_free(&a);
    ex_report_free(&b);
    return rc;
}
