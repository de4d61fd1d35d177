/* SPDX-License-Identifier: MIT */
/* Reports as lists: for editors, for pages of Markdown, and for tables. */
#include "base.h"
#include "explain/report.h"

#include <stdlib.h>
#include <string.h>

/* looks: the sum of all rows' routing. */
typedef void put_row(dsx__report *r, const dsx_explanation *x, size_t target, const dsx_row *row,
                     double looks);

static dstok_status list(dsx__report *r, size_t target, size_t top, bool best_first, put_row *put,
                         dstok_error *err) {
    const dsx_explanation *x = r->targets[target];
    dsx_row *rows;
    double looks = 0;
    size_t n;
    dstok_status status = dsx__report_rows(r, x, r->o->level, &rows, &n, err);

    if (status != DSTOK_OK) return status;
    for (size_t i = 0; i < n; i++) looks += rows[i].routing;
    n = dsx__report_choose(r, rows, n, top, best_first);
    for (size_t i = 0; i < n; i++) put(r, x, r->o->first_target + target, &rows[i], looks);
    free(rows);
    return DSTOK_OK;
}

static const char *name_of(const dsx__report *r, const dsx_row *row) {
    return r->prompt->sources[row->source].name;
}

/* ---- grep: what would end a line, or drive a terminal, is escaped */

static void put_escaped(dsx__report *r, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '\n' || c == '\r' || c == '\t')
            dsx__put_text(r, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else if (c < 0x20 || c == 0x7F)
            dsx__put_format(r, "\\x%02X", c);
        else
            dsx__put(r, text + i, 1);
    }
}

static void put_grep(dsx__report *r, const dsx_explanation *x, size_t target, const dsx_row *row,
                     double looks) {
    const char *name = name_of(r, row);
    size_t n;
    const char *text = dsx__report_text(r, row, &n);

    (void)x;
    (void)target;
    (void)looks;
    put_escaped(r, name, strlen(name));
    dsx__put_format(r, ":%llu:%llu:%.6g:", (unsigned long long)row->line, (unsigned long long)row->column,
                    row->score);
    put_escaped(r, text, n);
    dsx__put(r, "\n", 1);
}

dstok_status dsx__write_grep(dsx__report *r, dstok_error *err) {
    for (size_t i = 0; i < r->n_targets; i++) DSX_TRY(list(r, i, 0, true, put_grep, err));
    return DSTOK_OK;
}

/* ---- Markdown */

/* Text in a cell: what Markdown or HTML would take for its own is escaped. */
static void put_cell(dsx__report *r, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c < 0x20 || c == 0x7F)
            dsx__put_text(r, c == '\n' || c == '\r' || c == '\t' ? " " : "\xEF\xBF\xBD");
        else if (strchr("\\`*_{}[]<>#|~&$", c) != NULL)
            dsx__put_format(r, "&#%u;", c);
        else
            dsx__put(r, text + i, 1);
    }
}

static void put_markdown(dsx__report *r, const dsx_explanation *x, size_t target, const dsx_row *row,
                         double looks) {
    const char *name = name_of(r, row);
    size_t n;
    const char *text = dsx__report_text(r, row, &n);

    (void)target;
    dsx__put_format(r, "| %zu | ", row->rank);
    put_cell(r, name, strlen(name));
    dsx__put_format(r, ":%llu:%llu | %+.3f | %.1f %% | ", (unsigned long long)row->line,
                    (unsigned long long)row->column, row->score, 100 * row->share);
    if (x->routing != NULL) dsx__put_format(r, "%.1f %% | ", looks > 0 ? 100 * row->routing / looks : 0);
    put_cell(r, text, n);
    dsx__put_text(r, " |\n");
}

static dstok_status one_markdown(dsx__report *r, size_t i, dstok_error *err) {
    const dsx_explanation *x = r->targets[i];

    dsx__put_text(r, i > 0 ? "\n## " : "## ");
    put_cell(r, r->view.text + r->view.response + x->begin, x->end - x->begin);
    dsx__put_format(r, "\n\nMethod `%s`, value %.4g, log-probability %.4g.\n\n", dsx__method_name(x->method),
                    x->value, x->logprob);
    dsx__put_text(r, x->routing != NULL
                         ? "| rank | where | score | share | looks | text |\n"
                           "|---:|---|---:|---:|---:|---|\n"
                         : "| rank | where | score | share | text |\n|---:|---|---:|---:|---|\n");
    DSX_TRY(list(r, i, 10, true, put_markdown, err));
    dsx__put_format(r,
                    "\nSources %+.4g, question and template %+.4g, answer so far %+.4g, special %+.4g, "
                    "biases %+.4g, residual %+.2g.\n",
                    x->sums.sources, x->sums.template_text, x->sums.response, x->sums.special, x->sums.bias,
                    x->sums.residual);
    if (x->trust.n_masks > 0)
        dsx__put_format(
            r, "\nLDS %.3f over %lu random removals; the log-probability falls by %.3g without the first.\n",
            x->trust.lds, (unsigned long)x->trust.n_masks, x->trust.drop[0]);
    for (size_t k = 0; k < x->n_warnings; k++)
        dsx__put_format(r, "\n**%s**: %s.\n", x->warnings[k].code, x->warnings[k].text);
    return DSTOK_OK;
}

dstok_status dsx__write_markdown(dsx__report *r, dstok_error *err) {
    for (size_t i = 0; i < r->n_targets; i++) DSX_TRY(one_markdown(r, i, err));
    return DSTOK_OK;
}

/* ---- CSV (RFC 4180) */

static void put_field(dsx__report *r, const char *text, size_t n) {
    dsx__put(r, "\"", 1);
    for (size_t i = 0; i < n; i++) dsx__put(r, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    dsx__put(r, "\"", 1);
}

static void put_csv(dsx__report *r, const dsx_explanation *x, size_t target, const dsx_row *row,
                    double looks) {
    const char *name = name_of(r, row);
    size_t n;
    const char *text = dsx__report_text(r, row, &n);

    (void)looks;
    dsx__put_format(r, "%zu,%s,%zu,%zu,", target, dsx__level_name(r->o->level), row->rank, row->source);
    put_field(r, name, strlen(name));
    dsx__put_format(r, ",%llu,%llu,%llu,%llu,%.9g,", (unsigned long long)row->line,
                    (unsigned long long)row->column, (unsigned long long)row->core.begin,
                    (unsigned long long)row->core.end, row->score);
    if (x->routing != NULL) dsx__put_format(r, "%.9g", row->routing);
    dsx__put_format(r, ",%.9g,", row->share);
    put_field(r, text, n);
    dsx__put_text(r, "\r\n");
}

dstok_status dsx__write_csv(dsx__report *r, dstok_error *err) {
    dsx__put_text(r, "target,level,rank,source,path,line,col,begin,end,score,routing,share,text\r\n");
    for (size_t i = 0; i < r->n_targets; i++) DSX_TRY(list(r, i, 0, false, put_csv, err));
    return DSTOK_OK;
}
