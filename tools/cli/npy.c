/* SPDX-License-Identifier: MIT */
/* Arrays that numpy.save wrote. */
#include "scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The header, read so far. */
struct header {
    const char *p;
    size_t n, at;
    struct cli_buf *why;
    char order, kind; /* of descr */
    unsigned size;
    int has_descr, is_fortran, has_order, has_shape;
    size_t shape[2], n_axes;
};

static int wrong(struct header *h, const char *what) {
    cli_buf_printf(h->why, "the header of the .npy file %s", what);
    return -1;
}

static void skip_blanks(struct header *h) {
    while (h->at < h->n && (h->p[h->at] == ' ' || h->p[h->at] == '\n')) h->at++;
}

/* Step over a character, if it is the next one. */
static int take(struct header *h, char c) {
    skip_blanks(h);
    if (h->at >= h->n || h->p[h->at] != c) return 0;
    h->at++;
    return 1;
}

/* A string in quotes, without escapes: none of the known ones needs any. */
static int take_string(struct header *h, const char **text, size_t *n) {
    char quote;

    skip_blanks(h);
    quote = h->at < h->n ? h->p[h->at] : '\0';
    if (quote != '\'' && quote != '"') return -1;
    *text = h->p + ++h->at;
    while (h->at < h->n && h->p[h->at] != quote) h->at++;
    if (h->at == h->n) return -1;
    *n = (size_t)(h->p + h->at++ - *text);
    return 0;
}

static int read_descr(struct header *h) {
    const char *text;
    size_t n;

    if (take_string(h, &text, &n)) return wrong(h, "has no simple type (structured arrays are not read)");
    h->has_descr = 1;
    h->order = n > 0 ? text[0] : '\0';
    h->kind = n > 1 ? text[1] : '\0';
    h->size = n == 3 && text[2] >= '1' && text[2] <= '8' ? (unsigned)(text[2] - '0') : 0;
    if (h->order != '\0' && strchr("<>|=", h->order) != NULL &&
        ((h->kind == 'b' && h->size == 1) ||
         (h->kind != '\0' && strchr("iu", h->kind) != NULL && h->size > 0 &&
          strchr("\1\2\4\10", (int)h->size)) ||
         (h->kind == 'f' && (h->size == 2 || h->size == 4 || h->size == 8))))
        return 0;
    cli_buf_text(h->why, "values of the type ");
    (void)cli_json_string(h->why, text, n < 40 ? n : 40);
    cli_buf_text(h->why, " are not read: save bool, integers, or float16 to float64 (a.astype(\"float32\"))");
    return -1;
}

static int read_order(struct header *h) {
    static const char yes[] = "True", no[] = "False";

    skip_blanks(h);
    h->has_order = 1;
    h->is_fortran = h->n - h->at >= 4 && memcmp(h->p + h->at, yes, 4) == 0;
    if (!h->is_fortran && (h->n - h->at < 5 || memcmp(h->p + h->at, no, 5) != 0))
        return wrong(h, "has no True or False for fortran_order");
    h->at += h->is_fortran ? 4 : 5;
    return 0;
}

static int read_axis(struct header *h, uint64_t *value) {
    size_t from = h->at;

    while (h->at < h->n && h->p[h->at] >= '0' && h->p[h->at] <= '9') h->at++;
    return cli_number(h->p + from, h->at - from, value) ? wrong(h, "has no shape of whole numbers") : 0;
}

static int read_shape(struct header *h) {
    size_t from = h->at;
    uint64_t value;

    if (!take(h, '(')) return wrong(h, "has no shape");
    h->has_shape = 1;
    h->n_axes = 0;
    while (!take(h, ')')) {
        if (read_axis(h, &value)) return -1;
        if (value > CLI_SCORES_MAX) value = CLI_SCORES_MAX + 1;
        if (h->n_axes < 2) h->shape[h->n_axes] = (size_t)value;
        h->n_axes++;
        if (!take(h, ',')) {
            if (!take(h, ')')) return wrong(h, "has a shape that does not end");
            break;
        }
        skip_blanks(h);
    }
    if (h->n_axes == 1 || h->n_axes == 2) return 0;
    cli_buf_printf(
        h->why,
        "the array has the shape %.*s; one or two dimensions are read: a score for each token, or rows "
        "of them (attention: a[layer, :, query], or a.mean(axis=(0, 1))[query])",
        (int)(h->at - from < 60 ? h->at - from : 60), h->p + from);
    return -1;
}

static int read_header(struct header *h) {
    const char *key;
    size_t n;

    if (!take(h, '{')) return wrong(h, "does not begin with {");
    while (!take(h, '}')) {
        if (take_string(h, &key, &n) || !take(h, ':')) return wrong(h, "is no list of names and values");
        skip_blanks(h);
        if (n == 5 && memcmp(key, "descr", n) == 0) {
            if (read_descr(h)) return -1;
        } else if (n == 13 && memcmp(key, "fortran_order", n) == 0) {
            if (read_order(h)) return -1;
        } else if (n == 5 && memcmp(key, "shape", n) == 0) {
            if (read_shape(h)) return -1;
        } else {
            return wrong(h, "has an unknown name");
        }
        if (!take(h, ',') && (h->at >= h->n || h->p[h->at] != '}')) return wrong(h, "does not end with }");
    }
    skip_blanks(h);
    if (h->at < h->n) return wrong(h, "has something behind its }");
    return h->has_descr && h->has_order && h->has_shape ? 0 : wrong(h, "lacks descr, fortran_order or shape");
}

/* ---- values */

static double half(unsigned bits) {
    int exponent = (int)(bits >> 10 & 31);
    double part = (double)(bits & 1023), value;

    if (exponent == 31)
        value = part > 0 ? (double)NAN : (double)INFINITY;
    else
        value = exponent == 0 ? ldexp(part, -24) : ldexp(part + 1024, exponent - 25);
    return bits >> 15 ? -value : value;
}

static double value_of(const struct header *h, const unsigned char *p) {
    unsigned char b[8] = {0};
    uint64_t bits = 0;
    uint32_t small;
    double value;
    float single;
    unsigned i;

    for (i = 0; i < h->size; i++) b[i] = h->order == '>' ? p[h->size - 1 - i] : p[i];
    for (i = 0; i < 8; i++) bits |= (uint64_t)b[i] << 8 * i;
    if (h->kind == 'b') return bits != 0;
    if (h->kind == 'u') return (double)bits;
    if (h->kind == 'i') {
        uint64_t sign = (uint64_t)1 << (8 * h->size - 1);

        return bits & sign ? -(double)((sign << 1) - bits)
                           : (double)bits; /* 8 bytes: sign << 1 is 2^64, that is 0 */
    }
    if (h->size == 2) return half((unsigned)bits);
    small = (uint32_t)bits;
    memcpy(&single, &small, sizeof single);
    memcpy(&value, &bits, sizeof value);
    return h->size == 4 ? (double)single : value;
}

static int read_values(const struct header *h, const unsigned char *p, size_t n, struct cli_scores *out) {
    size_t rows = h->n_axes == 2 ? h->shape[0] : 1, columns = h->shape[h->n_axes - 1], i, k;

    if (rows > CLI_SCORES_MAX || columns > CLI_SCORES_MAX ||
        (columns > 0 && rows > CLI_SCORES_MAX / columns)) {
        cli_buf_printf(h->why, "the shape has more than %zu numbers, which is the most", CLI_SCORES_MAX);
        return -1;
    }
    if (n != rows * columns * h->size) {
        cli_buf_printf(h->why, "the shape needs %zu bytes of numbers, there are %zu: %s",
                       rows * columns * h->size, n,
                       n < rows * columns * h->size ? "the file is cut off" : "something follows the array");
        return -1;
    }
    out->p = cli_alloc(rows * columns * sizeof *out->p);
    out->rows = rows;
    out->columns = columns;
    for (i = 0; i < rows; i++)
        for (k = 0; k < columns; k++)
            out->p[i * columns + k] =
                value_of(h, p + h->size * (h->is_fortran ? k * rows + i : i * columns + k));
    return 0;
}

int cli_npy_read(const void *data, size_t n, struct cli_scores *out, struct cli_buf *why, uint64_t *at) {
    const unsigned char *p = data;
    size_t length, start = 10;
    struct header h;

    memset(&h, 0, sizeof h);
    memset(out, 0, sizeof *out);
    h.why = why;
    *at = n;
    if (n < 10 || memcmp(p, "\x93NUMPY", 6) != 0 || (p[6] > 1 && n < 12)) return wrong(&h, "is cut off");
    length = (size_t)p[8] | (size_t)p[9] << 8;
    if (p[6] < 1 || p[6] > 3 || p[7] != 0) {
        *at = 6;
        cli_buf_printf(why, "version %u.%u of the .npy format is not known (1.0 to 3.0 are)", p[6], p[7]);
        return -1;
    }
    if (p[6] > 1) {
        length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
        start = 12;
    }
    if (length > n - start) return wrong(&h, "is cut off");
    h.p = (const char *)p + start;
    h.n = length;
    *at = start;
    if (read_header(&h)) {
        *at = start + h.at;
        return -1;
    }
    *at = start + length;
    return read_values(&h, p + start + length, n - start - length, out);
}
