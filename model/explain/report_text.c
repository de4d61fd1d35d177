/* SPDX-License-Identifier: MIT */
/* Reports for a terminal: the sources with what matters marked, a table, and what to make of it. Nothing of a
 * text drives the terminal: its control and direction characters are shown as numbers. */
#include "base.h"
#include "explain/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ln 10, ten times as likely: below it nothing takes the strongest shade. */
#define FULL 2.302585

enum { SHADES = 5, CONTEXT = 2 }; /* lines shown before and behind marked ones, of long sources */

/* Text on one line, at most so many characters (0: all): line ends and tabs become signs. */
static void put_line(dsx__report *r, const char *text, size_t n, size_t most) {
    const unsigned char *p = (const unsigned char *)text;
    size_t count = 0, k;

    for (size_t i = 0; i < n; i += k) {
        bool ok;
        uint32_t c;

        k = dsx__character(p + i, n - i, &ok, &c);
        if (most > 0 && ++count > most) {
            dsx__put_text(r, "\xE2\x80\xA6"); /* an ellipsis */
            return;
        }
        if (c == '\n' || c == '\t')
            dsx__put_text(r, c == '\n' ? "\xE2\x86\xB5" : "\xE2\x86\x92");
        else if (c == '\r' && i + 1 < n && p[i + 1] == '\n')
            continue;
        else if (!ok || dsx__is_hidden(c))
            dsx__put_format(r, ok && c > 0xFF ? "<U+%04X>" : "<%02X>", (unsigned)(ok ? c : p[i]));
        else
            dsx__put(r, p + i, k);
    }
}

/* ---- colours */

/* Blue for what speaks for the answer, orange for what speaks against it: told apart by all eyes. Dark text on
 * light ground, of growing strength. */
static void put_shade(dsx__report *r, double score, double full) {
    static const int blue256[SHADES] = {195, 153, 117, 75, 39}, orange256[SHADES] = {230, 223, 216, 209, 208};
    static const unsigned char blue[SHADES][3] = {
        {222, 240, 250}, {180, 220, 245}, {130, 195, 235}, {86, 180, 233}, {40, 150, 215}};
    static const unsigned char orange[SHADES][3] = {
        {253, 238, 225}, {250, 215, 185}, {245, 185, 140}, {235, 150, 90}, {225, 115, 40}};
    int shade = (int)(fabs(score) / full * SHADES);

    if (shade >= SHADES) shade = SHADES - 1;
    if (r->o->colours >= 1 << 24) {
        const unsigned char *c = score < 0 ? orange[shade] : blue[shade];

        dsx__put_format(r, "\033[30;48;2;%d;%d;%dm", c[0], c[1], c[2]);
    } else if (r->o->colours >= 256) {
        dsx__put_format(r, "\033[30;48;5;%dm", score < 0 ? orange256[shade] : blue256[shade]);
    } else {
        dsx__put_format(r, "\033[%s30;%dm", shade >= SHADES / 2 ? "4;" : "", score < 0 ? 43 : 46);
    }
}

static void put_plain(dsx__report *r) {
    if (r->o->colours > 0) dsx__put_text(r, "\033[0m");
}

static void put_bold(dsx__report *r, const char *text) {
    if (r->o->colours > 0) dsx__put_text(r, "\033[1m");
    dsx__put_text(r, text);
    put_plain(r);
}

/* ---- the sources */

typedef struct shown {
    const dsx_row *rows; /* those that are marked, in the order of the text */
    size_t n;
    double full;
} shown;

/* Whole lines of a source, a stretch of them marked or not; lines begin with nothing. */
static void put_lines(dsx__report *r, const char *text, size_t n, const dsx_row *row, double full) {
    while (n > 0) {
        const char *end = memchr(text, '\n', n);
        size_t k = end != NULL ? (size_t)(end - text) : n,
               line = k > 0 && end != NULL && text[k - 1] == '\r' ? k - 1 : k;

        if (row != NULL && line > 0 && r->o->colours > 0) put_shade(r, row->score, full);
        put_line(r, text, line, 0);
        if (row != NULL && line > 0) put_plain(r);
        if (end != NULL) dsx__put(r, "\n", 1);
        k += end != NULL;
        text += k;
        n -= k;
    }
}

/* The byte where line `back` before the one of place `at` begins. */
static size_t lines_before(const char *text, size_t at, size_t back) {
    for (; at > 0; at--)
        if (text[at - 1] == '\n' && back-- == 0) return at;
    return 0;
}

static size_t lines_behind(const char *text, size_t n, size_t at, size_t more) {
    for (; at < n; at++)
        if (text[at] == '\n' && more-- == 0) return at + 1;
    return n;
}

/* What stands between marked places: as it is, or its ends where it is long. */
static void put_between(dsx__report *r, const char *text, size_t from, size_t to, size_t len) {
    size_t head = from == 0 ? 0 : lines_behind(text, len, from, CONTEXT),
           tail = to == len ? len : lines_before(text, to, CONTEXT);

    if (head >= tail || tail - head < 400) {
        put_lines(r, text + from, to - from, NULL, 1);
        return;
    }
    put_lines(r, text + from, head - from, NULL, 1);
    dsx__put_format(r, "[... %zu bytes ...]\n", tail - head);
    put_lines(r, text + tail, to - tail, NULL, 1);
}

static void put_source(dsx__report *r, size_t source, const shown *s) {
    const dsx_source *from = &r->prompt->sources[source];
    const char *text = from->text;
    size_t at = 0;

    put_bold(r, "== ");
    put_line(r, from->name, strlen(from->name), 0);
    dsx__put(r, "\n", 1);
    for (size_t i = 0; i < s->n; i++) {
        const dsx_row *row = &s->rows[i];

        if (row->source != source) continue;
        put_between(r, text, at, (size_t)row->core.begin, from->len);
        if (r->o->colours == 0) dsx__put_format(r, "[%zu]", row->rank);
        put_lines(r, text + row->core.begin, (size_t)(row->core.end - row->core.begin), row, s->full);
        at = (size_t)row->core.end;
    }
    put_between(r, text, at, from->len, from->len);
    if (from->len > 0 && text[from->len - 1] != '\n') dsx__put(r, "\n", 1);
}

/* ---- the table */

static void put_bar(dsx__report *r, double score, double full) {
    int n = (int)(fabs(score) / full * 6 + 0.5);

    for (int i = 0; i < 6; i++) dsx__put(r, i < n ? score < 0 ? "-" : "#" : ".", 1);
}

/* looks: the sum of all rows' routing. */
static void put_table(dsx__report *r, const dsx_explanation *x, const dsx_row *rows, size_t n, double full,
                      double looks) {
    size_t columns = r->o->columns > 0 ? r->o->columns : 80;

    dsx__put_text(r, x->routing != NULL ? "rank    score  share  looks        where: text\n"
                                        : "rank    score  share        where: text\n");
    for (size_t i = 0; i < n; i++) {
        const char *name = r->prompt->sources[rows[i].source].name;
        size_t before = r->n_bytes, len;
        const char *text = dsx__report_text(r, &rows[i], &len);

        dsx__put_format(r, "[%zu]%*s %+8.3f %5.1f%%", rows[i].rank, rows[i].rank < 10 ? 1 : 0, "",
                        rows[i].score, 100 * rows[i].share);
        if (x->routing != NULL) dsx__put_format(r, " %5.1f%%", looks > 0 ? 100 * rows[i].routing / looks : 0);
        dsx__put(r, " ", 1);
        put_bar(r, rows[i].score, full);
        dsx__put(r, " ", 1);
        put_line(r, name, strlen(name), 0);
        dsx__put_format(r, ":%llu:%llu: ", (unsigned long long)rows[i].line,
                        (unsigned long long)rows[i].column);
        before = r->n_bytes - before;
        put_line(r, text, len, before + 30 < columns ? columns - before - 1 : 30);
        dsx__put(r, "\n", 1);
    }
}

/* ---- what to make of it */

static void put_values(dsx__report *r, const dsx_explanation *x) {
    const char *what = dsx__quantity_words(x);
    const dsx_sums *s = &x->sums;

    dsx__put_format(r, "method %s; value %.4f (%s); log-probability %.4f\n", dsx__method_name(x->method),
                    x->value, what, x->logprob);
    dsx__put_format(r, "value = sources %+.4f, question and template %+.4f, answer before %+.4f", s->sources,
                    s->template_text, s->response);
    dsx__put_format(r, ", special %+.4f, biases %+.4f, residual %+.1e\n", s->special, s->bias, s->residual);
    if (x->n_hops > 0) dsx__put_format(r, "attention on the first token %.0f %%", 100 * x->first_mass);
    for (uint32_t i = 0; i < x->n_hops; i++) {
        dsx__put_text(r, i == 0 ? "; of the score on the answer's own words " : ", behind one more hop ");
        dsx__put_format(r, "%.0f %%", 100 * x->hop_mass[i]);
    }
    if (x->n_hops > 0) dsx__put(r, "\n", 1);
}

static void put_trust(dsx__report *r, const dsx_explanation *x) {
    const dsx_trust *t = &x->trust;

    if (t->n_masks > 0) {
        dsx__put_format(r, "checked with %lu random removals (%s): LDS %.3f", (unsigned long)t->n_masks,
                        dsx__removal_name(x->removal), t->lds);
        dsx__put_format(r,
                        "; without the first, 3, 5 sentences the log-probability falls by %.2f, %.2f, %.2f",
                        t->drop[0], t->drop[1], t->drop[2]);
        dsx__put_format(r, "\nwithout any source it is %.3f", t->prior);
        if (isfinite(t->comprehensiveness)) /* else they are shares of nothing */
            dsx__put_format(r, "; comprehensiveness %.3f, sufficiency %.3f", t->comprehensiveness,
                            t->sufficiency);
        dsx__put_text(r, "\n");
    }
    for (size_t i = 0; i < x->n_warnings; i++) {
        put_bold(r, "warning: ");
        dsx__put_format(r, "%s (%s)\n", x->warnings[i].text, x->warnings[i].code);
    }
}

static void put_answer(dsx__report *r, const dsx_explanation *x) {
    const char *text = r->view.text + r->view.response;
    size_t n = r->view.len - r->view.response;

    put_bold(r, "== answer\n");
    put_lines(r, text, x->begin, NULL, 1);
    if (r->o->colours > 0) dsx__put_text(r, "\033[1;4m");
    if (r->o->colours == 0) dsx__put_text(r, ">>");
    put_line(r, text + x->begin, x->end - x->begin, 0);
    if (r->o->colours == 0) dsx__put_text(r, "<<");
    put_plain(r);
    put_lines(r, text + x->end, n - x->end, NULL, 1);
    if (n == 0 || text[n - 1] != '\n' || x->end == n) dsx__put(r, "\n", 1);
    if (x->foil == NULL) return;
    dsx__put_text(r, "against: ");
    put_line(r, x->foil, strlen(x->foil), 0);
    dsx__put(r, "\n", 1);
}

static int in_text(const void *a, const void *b) {
    const dsx_row *x = a, *y = b;

    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return x->core.begin < y->core.begin ? -1 : x->core.begin > y->core.begin;
}

/* The greatest score, at least FULL: what is weak looks weak. Attention has no unit. */
static double full_scale(const dsx_explanation *x, const dsx_row *rows, size_t n) {
    double full = strcmp(dsx__quantity(x), "attention") == 0 ? 1e-9 : FULL;

    for (size_t i = 0; i < n; i++) full = fmax(full, fabs(rows[i].score));
    return full;
}

static dstok_status put_target(dsx__report *r, const dsx_explanation *x, dstok_error *err) {
    shown s = {0};
    double looks = 0;
    dsx_row *rows;
    size_t n;
    dstok_status status = dsx__report_rows(r, x, r->o->level, &rows, &n, err);

    if (status != DSTOK_OK) return status;
    for (size_t i = 0; i < n; i++) looks += rows[i].routing;
    n = dsx__report_choose(r, rows, n, 10, true);
    s.full = full_scale(x, rows, n);
    if (n > 1) qsort(rows, n, sizeof *rows, in_text);
    s.rows = rows;
    s.n = n;
    for (size_t i = 0; i < r->prompt->n_sources; i++) put_source(r, i, &s);
    put_answer(r, x);
    dsx__put(r, "\n", 1);
    n = dsx__report_choose(r, rows, n, 10, true);
    put_table(r, x, rows, n, s.full, looks);
    dsx__put(r, "\n", 1);
    put_values(r, x);
    put_trust(r, x);
    free(rows);
    return DSTOK_OK;
}

dstok_status dsx__write_ansi(dsx__report *r, dstok_error *err) {
    for (size_t i = 0; i < r->n_targets; i++) {
        if (i > 0) dsx__put(r, "\n", 1);
        DSX_TRY(put_target(r, r->targets[i], err));
    }
    return DSTOK_OK;
}
