/* SPDX-License-Identifier: MIT */
/* Output of dstok trace: JSON, lines as grep writes them, and the text in colours. */
#include "pieces.h"
#include "tracing.h"

#include <stdlib.h>
#include <string.h>

static const char *const roles[] = {"none", "template", "system", "source", "question", "answer"};

double cli_trace_value(const struct cli_config *c, const dstok_trace_row *row) {
    if (c->by == CLI_BY_SUM) return row->sum;
    if (c->by == CLI_BY_MAX) return row->max;
    return row->weight > 0 ? row->sum / row->weight : 0;
}

/* Where the rows of one segment are, in its own text. */
struct places {
    dstok_span *bytes, *chars, *utf16;
    dstok_place *begins, *ends;
    uint64_t *scratch;
};

static void *array(size_t n, size_t size) {
    return cli_alloc((n + 1) * size);
}

static const char *part_text(const struct cli_tracing *t, size_t part) {
    return t->prompt.p + t->parts[part].begin;
}

static int convert(const char *text, size_t len, struct places *p, size_t n) {
    size_t i;

    memcpy(p->chars, p->bytes, n * sizeof *p->bytes);
    memcpy(p->utf16, p->bytes, n * sizeof *p->bytes);
    if (dstok_spans_convert(text, len, p->chars, n, DSTOK_UNIT_CHAR) != DSTOK_OK ||
        dstok_spans_convert(text, len, p->utf16, n, DSTOK_UNIT_UTF16) != DSTOK_OK)
        return -1;
    for (i = 0; i < n; i++) p->scratch[i] = p->bytes[i].begin;
    if (dstok_places(text, len, p->scratch, n, DSTOK_UNIT_CHAR, p->begins) != DSTOK_OK) return -1;
    for (i = 0; i < n; i++) p->scratch[i] = p->bytes[i].end;
    return dstok_places(text, len, p->scratch, n, DSTOK_UNIT_CHAR, p->ends) == DSTOK_OK ? 0 : -1;
}

/* All rows, segment by segment. */
static void find_places(const struct cli_tracing *t, struct places *all) {
    size_t first, last, i;

    all->bytes = array(t->n_rows, sizeof *all->bytes);
    all->chars = array(t->n_rows, sizeof *all->chars);
    all->utf16 = array(t->n_rows, sizeof *all->utf16);
    all->begins = array(t->n_rows, sizeof *all->begins);
    all->ends = array(t->n_rows, sizeof *all->ends);
    all->scratch = array(t->n_rows, sizeof *all->scratch);
    for (first = 0; first < t->n_rows; first = last) {
        size_t part = t->rows[first].segment, base = t->parts[part].begin;
        struct places p = {all->bytes + first,  all->chars + first, all->utf16 + first,
                           all->begins + first, all->ends + first,  all->scratch + first};

        for (last = first; last < t->n_rows && t->rows[last].segment == part; last++)
            ;
        for (i = first; i < last; i++) {
            all->bytes[i].begin = t->rows[i].core.begin - base;
            all->bytes[i].end = t->rows[i].core.end - base;
        }
        if (convert(part_text(t, part), t->segments[part].len, &p, last - first))
            abort(); /* rows are in their part */
    }
}

static void free_places(struct places *p) {
    free(p->bytes);
    free(p->chars);
    free(p->utf16);
    free(p->begins);
    free(p->ends);
    free(p->scratch);
}

static void put_span(struct cli_buf *out, const char *name, dstok_span s) {
    cli_buf_printf(out, "\"%s\":[%llu,%llu],", name, (unsigned long long)s.begin, (unsigned long long)s.end);
}

static void put_place(struct cli_buf *out, const char *name, dstok_place p) {
    cli_buf_printf(out, "\"%s\":[%llu,%llu],", name, (unsigned long long)p.line,
                   (unsigned long long)p.column);
}

static double mean_of(const dstok_trace_row *row) {
    return row->weight > 0 ? row->sum / row->weight : 0;
}

static void json_row(const struct cli_tracing *t, size_t i, const struct places *p, struct cli_buf *out) {
    const dstok_trace_row *row = &t->rows[i];
    const struct cli_part *part = &t->parts[row->segment];

    cli_buf_printf(out, "{\"source\":%llu,\"file\":", (unsigned long long)part->source);
    cli_json_text(out, part->name);
    cli_buf_printf(out, ",\"role\":\"%s\",", roles[t->segments[row->segment].role]);
    put_span(out, "byte", p->bytes[i]);
    put_span(out, "char", p->chars[i]);
    put_span(out, "utf16", p->utf16[i]);
    put_place(out, "begin", p->begins[i]);
    put_place(out, "end", p->ends[i]);
    put_span(out, "token", row->tokens);
    cli_buf_printf(out, "\"sum\":%.9g,\"mean\":%.9g,\"max\":%.9g,\"text\":", row->sum, mean_of(row),
                   row->max);
    (void)cli_json_string(out, t->prompt.p + row->core.begin, (size_t)(row->core.end - row->core.begin));
    cli_buf_text(out, "}\n");
}

static double shown(const struct cli_tracing *t) {
    double sum = 0;
    size_t i;

    for (i = 0; i < t->n_rows; i++) sum += t->rows[i].sum;
    return sum;
}

static void print_json(const struct cli_tracing *t, const struct places *p, struct cli_buf *out) {
    static const char *const levels[] = {"token", "word", "sentence", "paragraph", "source"};
    const char *comma = "";
    size_t i;

    for (i = 0; i < t->n_rows; i++) json_row(t, i, p, out);
    cli_buf_printf(out, "{\"level\":\"%s\",\"spans\":%zu,\"shown\":%.9g,\"scores\":%zu,\"tokens\":%zu,",
                   levels[t->config->level], t->n_rows, shown(t), t->n_scores, t->tokens.n);
    cli_buf_printf(out, "\"total\":%.9g,\"padding\":%.9g,\"outside\":%.9g,\"template\":%.9g,\"sources\":[",
                   t->sums.total, t->padding, t->sums.outside, t->template);
    for (i = 0; i < t->n_parts; i++) {
        if (t->parts[i].name == NULL) continue;
        cli_buf_printf(out, "%s{\"file\":", comma);
        cli_json_text(out, t->parts[i].name);
        cli_buf_printf(out, ",\"role\":\"%s\",\"sum\":%.9g}", roles[t->segments[i].role], t->parts[i].sum);
        comma = ",";
    }
    cli_buf_text(out, "]}\n");
}

/* FILE:LINE:COLUMN: value TAB text, with signs for line ends and for what a terminal would not show. */
static void print_grep(const struct cli_tracing *t, const struct places *p, struct cli_buf *out) {
    size_t i;

    for (i = 0; i < t->n_rows; i++) {
        const dstok_trace_row *row = &t->rows[i];

        cli_buf_name(out, t->parts[row->segment].name);
        cli_buf_printf(out, ":%llu:%llu: %.6g\t", (unsigned long long)p->begins[i].line,
                       (unsigned long long)p->begins[i].column, cli_trace_value(t->config, row));
        (void)cli_piece(out, t->prompt.p + row->core.begin, (size_t)(row->core.end - row->core.begin), 1);
        cli_buf_char(out, '\n');
    }
}

/* ---- colours */

/* Text with its lines kept, and nothing in it that drives the terminal. */
static void put_text(struct cli_buf *out, const char *p, size_t n, const char *on) {
    while (n > 0) {
        const char *end = memchr(p, '\n', n);
        size_t k = end ? (size_t)(end - p) : n, whole = k;

        if (k > 0 && p[k - 1] == '\r') k--;
        if (k > 0) cli_buf_text(out, on);
        (void)cli_piece(out, p, k, 1);
        if (k > 0 && on[0] != '\0') cli_buf_text(out, "\033[0m");
        if (end) cli_buf_char(out, '\n');
        whole += end != NULL;
        p += whole;
        n -= whole;
    }
}

/* Five shades of yellow to red, and of blue below 0. */
static void put_shade(struct cli_buf *on, double value, double largest) {
    static const int warm[] = {230, 229, 221, 214, 208}, cold[] = {195, 159, 117, 75, 69};
    double part = largest > 0 ? (value < 0 ? -value : value) / largest : 0;
    int shade = (int)(part * 5);

    shade = shade > 4 ? 4 : shade;
    on->n = 0;
    cli_buf_printf(on, "\033[30;48;5;%dm", value < 0 ? cold[shade] : warm[shade]);
}

static double largest_value(const struct cli_tracing *t) {
    double largest = 0;
    size_t i;

    for (i = 0; i < t->n_rows; i++) {
        double value = cli_trace_value(t->config, &t->rows[i]);

        value = value < 0 ? -value : value;
        largest = value > largest ? value : largest;
    }
    return largest;
}

static void put_marked(const struct cli_tracing *t, const dstok_trace_row *row, double largest, int colour,
                       struct cli_buf *on, struct cli_buf *out) {
    double value = cli_trace_value(t->config, row);
    const char *text = t->prompt.p + row->core.begin;
    size_t n = (size_t)(row->core.end - row->core.begin);

    if (colour) {
        put_shade(on, value, largest);
        put_text(out, text, n, cli_buf_string(on));
        return;
    }
    cli_buf_text(out, "[");
    put_text(out, text, n, "");
    cli_buf_printf(out, "](%.4g)", value);
}

static void print_ansi(const struct cli_tracing *t, struct cli_buf *out) {
    const char *no = getenv("NO_COLOR");
    int colour = no == NULL || no[0] == '\0';
    double largest = largest_value(t);
    struct cli_buf on = {0};
    size_t part, i = 0;

    for (part = 0; part < t->n_parts; part++) {
        size_t at = t->parts[part].begin, end = at + t->segments[part].len;

        if (t->parts[part].name == NULL) continue;
        cli_buf_text(out, "== ");
        cli_buf_name(out, t->parts[part].name);
        cli_buf_printf(out, "  %.6g\n", t->parts[part].sum);
        for (; i < t->n_rows && t->rows[i].segment == part; i++) {
            put_text(out, t->prompt.p + at, (size_t)t->rows[i].core.begin - at, "");
            put_marked(t, &t->rows[i], largest, colour, &on, out);
            at = (size_t)t->rows[i].core.end;
        }
        put_text(out, t->prompt.p + at, end - at, "");
        if (out->p[out->n - 1] != '\n') cli_buf_char(out, '\n');
    }
    cli_buf_free(&on);
}

void cli_trace_print(const struct cli_tracing *t, struct cli_buf *out) {
    int format = t->config->format;
    struct places p;

    if (format == CLI_FORMAT_AUTO) format = cli_out_has_colour() ? CLI_ANSI : CLI_GREP;
    if (format == CLI_ANSI) {
        print_ansi(t, out);
        return;
    }
    find_places(t, &p);
    (format == CLI_GREP ? print_grep : print_json)(t, &p, out);
    free_places(&p);
}

void cli_trace_note(const struct cli_tracing *t) {
    cli_note("%zu scores, %zu tokens; sum %.6g: sources %.6g, template %.6g, tokens without text %.6g; "
             "padding %.6g; "
             "shown %.6g",
             t->n_scores, t->tokens.n, t->sums.total, t->sources, t->template, t->sums.outside, t->padding,
             shown(t));
}
