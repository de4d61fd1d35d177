/* SPDX-License-Identifier: MIT */
/* Scores as JSON or as lines of numbers. */
#include "scores.h"

#include <stdlib.h>
#include <string.h>

void cli_scores_free(struct cli_scores *s) {
    free(s->p);
    memset(s, 0, sizeof *s);
}

int cli_scores_grow(struct cli_scores *s, size_t *cap, size_t have, size_t n) {
    if (n > CLI_SCORES_MAX - have) return -1;
    if (have + n <= *cap) return 0;
    *cap = *cap * 2 > have + n ? *cap * 2 : have + n + 64;
    s->p = cli_realloc(s->p, *cap * sizeof *s->p);
    return 0;
}

/* A text under the reader. */
struct reader {
    const char *p; /* ends with a NUL at p[n] */
    size_t n, at, have, cap;
    int has_rows; /* the array is one of arrays */
    struct cli_scores *out;
    struct cli_buf *why;
};

static int wrong(struct reader *r, const char *what) {
    cli_buf_text(r->why, what);
    return -1;
}

static void skip_blanks(struct reader *r) {
    while (r->at < r->n && strchr(" \t\r\n", r->p[r->at]) != NULL && r->p[r->at] != '\0') r->at++;
}

static size_t digits(const char *p) {
    return strspn(p, "0123456789");
}

/* Length of the number at p as JSON writes them, 0 when there is none. */
static size_t number_length(const char *p) {
    size_t i = p[0] == '-', n = digits(p + i), k;

    if (n == 0 || (n > 1 && p[i] == '0')) return 0;
    i += n;
    if (p[i] == '.') {
        n = digits(p + i + 1);
        if (n == 0) return 0;
        i += 1 + n;
    }
    if (p[i] == 'e' || p[i] == 'E') {
        k = i + 1 + (p[i + 1] == '+' || p[i + 1] == '-');
        n = digits(p + k);
        if (n == 0) return 0;
        i = k + n;
    }
    return i;
}

static int is_word(const struct reader *r, const char *word) {
    size_t n = strlen(word);

    return r->n - r->at >= n && memcmp(r->p + r->at, word, n) == 0;
}

/* Words that stand for no number. */
static int not_finite(struct reader *r) {
    static const char *const words[] = {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "Inf", "-Inf"};
    size_t i;

    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(r, words[i]))
            return wrong(
                r,
                "NaN and infinities are no scores (of a mask that is added, 0 and -inf, make 1 and 0 first)");
    return 0;
}

/* A number, true or false. */
static int read_number(struct reader *r) {
    size_t n = number_length(r->p + r->at);
    double value;

    if (n > 0) {
        value = strtod(r->p + r->at, NULL);
    } else if (is_word(r, "true") || is_word(r, "false")) {
        value = r->p[r->at] == 't';
        n = r->p[r->at] == 't' ? 4 : 5;
    } else if (not_finite(r)) {
        return -1;
    } else {
        return wrong(r, "no number where a score should stand");
    }
    if (cli_scores_grow(r->out, &r->cap, r->have, 1)) return wrong(r, "more scores than can be read");
    r->out->p[r->have++] = value;
    r->at += n;
    return 0;
}

/* The numbers of one array, whose [ is behind us. */
static int read_array(struct reader *r) {
    skip_blanks(r);
    if (r->p[r->at] == ']') {
        r->at++;
        return 0;
    }
    for (;;) {
        skip_blanks(r);
        if (r->p[r->at] == '[')
            return wrong(
                r, r->has_rows ? "arrays in arrays in arrays: scores have one or two dimensions (take one "
                                 "layer, one query)"
                               : "an array among numbers: scores are numbers, or rows of them of one length");
        if (read_number(r)) return -1;
        skip_blanks(r);
        if (r->p[r->at] == ']') {
            r->at++;
            return 0;
        }
        if (r->p[r->at] != ',')
            return wrong(r, r->at == r->n ? "the array does not end" : "no , or ] behind a score");
        r->at++;
    }
}

/* Rows of numbers, the outer [ being behind us. */
static int read_rows(struct reader *r) {
    struct cli_scores *out = r->out;
    size_t before;

    for (;;) {
        skip_blanks(r);
        if (r->p[r->at] != '[') return wrong(r, "a row that is no array");
        before = r->have;
        r->at++;
        if (read_array(r)) return -1;
        if (out->rows > 0 && r->have - before != out->columns) {
            cli_buf_printf(r->why, "row %zu has %zu scores, those before it have %zu", out->rows,
                           r->have - before, out->columns);
            return -1;
        }
        out->columns = r->have - before;
        out->rows++;
        skip_blanks(r);
        if (r->p[r->at] == ']') {
            r->at++;
            return 0;
        }
        if (r->p[r->at] != ',')
            return wrong(r, r->at == r->n ? "the array does not end" : "no , or ] behind a row");
        r->at++;
    }
}

static int read_json(struct reader *r) {
    int rc;

    r->at++;
    skip_blanks(r);
    r->has_rows = r->p[r->at] == '[';
    if (r->has_rows) {
        rc = read_rows(r);
    } else {
        rc = read_array(r);
        r->out->rows = 1;
        r->out->columns = r->have;
    }
    skip_blanks(r);
    return rc ? rc : r->at < r->n ? wrong(r, "something follows the array") : 0;
}

/* One number a line; blank lines only at the end. */
static int read_lines(struct reader *r) {
    while (r->at < r->n) {
        r->at += strspn(r->p + r->at, " \t");
        if (r->p[r->at] == '\n' || r->p[r->at] == '\r') {
            size_t line = r->at;

            skip_blanks(r);
            if (r->at == r->n) break;
            r->at = line;
            return wrong(r, "an empty line among the scores");
        }
        if (r->at < r->n && read_number(r)) return -1;
        r->at += strspn(r->p + r->at, " \t\r");
        if (r->at < r->n && r->p[r->at] != '\n') return wrong(r, "a line holds more than one score");
        r->at += r->at < r->n;
    }
    r->out->rows = 1;
    r->out->columns = r->have;
    return 0;
}

int cli_scores_read(struct cli_buf *text, struct cli_scores *out, struct cli_buf *why, uint64_t *at,
                    uint64_t *line) {
    struct reader r;
    size_t i;
    int rc;

    memset(&r, 0, sizeof r);
    memset(out, 0, sizeof *out);
    *line = 0;
    r.p = cli_buf_string(text);
    r.n = text->n;
    r.out = out;
    r.why = why;
    if (r.n >= 6 && memcmp(r.p, "\x93NUMPY", 6) == 0) return cli_npy_read(r.p, r.n, out, why, at);
    skip_blanks(&r);
    if (r.at == r.n) {
        r.at = 0;
        rc = wrong(&r, "no scores: a JSON array, a .npy file or a number a line is wanted");
    } else {
        r.at = r.p[r.at] == '[' ? r.at : 0;
        rc = r.p[r.at] == '[' ? read_json(&r) : read_lines(&r);
    }
    *at = r.at;
    for (*line = 1, i = 0; i < r.at && i < r.n; i++) *line += r.p[i] == '\n';
    if (rc) cli_scores_free(out);
    return rc;
}
