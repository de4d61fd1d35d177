/* SPDX-License-Identifier: MIT */
/* dstok inspect --align: tokens under the characters of a text, and how many there are for what a reader
 * sees. */
#include "inspect.h"
#include "pieces.h"
#include "source.h"

#include <dstok/map.h>

#include <stdlib.h>
#include <string.h>

/* What is shown: a text, its tokens, and the map between them. */
struct view {
    const dstok_tokenizer *tok;
    const char *text;
    size_t len;
    dstok_tokens tokens;
    dstok_map *map;
    size_t columns;
    /* the rows of the table under construction */
    struct cli_buf text_row, token_row, id_row, byte_row;
    size_t width;
    int has_pieces; /* a token is not the text it stands under */
};

static const char *token_bytes(const struct view *v, size_t i, size_t *n) {
    const void *bytes = "";

    *n = 0;
    return dstok_token_bytes(v->tok, v->tokens.ids[i], &bytes, n) == DSTOK_OK ? bytes : "";
}

/* The whole characters that a span touches. */
static dstok_span characters(const struct view *v, dstok_span s) {
    dstok_span first, last;

    if (s.begin == s.end ||
        dstok_map_part(v->map, DSTOK_MAP_CHAR, dstok_map_at(v->map, DSTOK_MAP_CHAR, s.begin), &first) !=
            DSTOK_OK ||
        dstok_map_part(v->map, DSTOK_MAP_CHAR, dstok_map_at(v->map, DSTOK_MAP_CHAR, s.end - 1), &last) !=
            DSTOK_OK)
        return s;
    first.end = last.end;
    return first;
}

/* ---- the table */

#define LABEL 6

/* A row without the blanks at its end. */
static void end_row(struct cli_buf *out, const char *label, struct cli_buf *row) {
    while (row->n > 0 && row->p[row->n - 1] == ' ') row->n--;
    cli_buf_printf(out, "%-*s%s\n", row->n > 0 ? LABEL : 0, label, cli_buf_string(row));
    row->n = 0;
}

static void end_rows(struct cli_buf *out, struct view *v) {
    if (v->width == 0) return;
    if (out->n > 0) cli_buf_char(out, '\n');
    end_row(out, "text", &v->text_row);
    if (v->has_pieces) end_row(out, "token", &v->token_row);
    end_row(out, "id", &v->id_row);
    end_row(out, "bytes", &v->byte_row);
    v->token_row.n = 0;
    v->width = 0;
    v->has_pieces = 0;
}

static void put_cell(struct cli_buf *row, const struct cli_buf *text, size_t columns, size_t width) {
    if (row->n > 0) cli_buf_text(row, "\u2502");
    cli_buf_add(row, text->p, text->n);
    for (; columns < width; columns++) cli_buf_char(row, ' ');
}

/* The three cells of a token. */
struct cells {
    struct cli_buf piece, id, range;
    size_t piece_columns, width;
};

static void fill_cells(const struct view *v, size_t i, struct cells *c) {
    const dstok_span s = v->tokens.spans[i];
    size_t n;
    const char *bytes = token_bytes(v, i, &n);

    c->piece.n = c->id.n = c->range.n = 0;
    c->piece_columns = cli_piece(&c->piece, bytes, n, 0);
    cli_buf_uint(&c->id, v->tokens.ids[i]);
    cli_buf_printf(&c->range, "%llu-%llu", (unsigned long long)s.begin, (unsigned long long)s.end);
    c->width = c->id.n > c->range.n ? c->id.n : c->range.n;
    c->width = c->width > c->piece_columns ? c->width : c->piece_columns;
}

/* Room for a group: on a row of its own where it does not fit. */
static void begin_group(struct cli_buf *out, struct view *v, size_t width, int has_pieces) {
    if (LABEL + v->width + 1 + width > v->columns) end_rows(out, v);
    v->width += width + (v->width > 0);
    v->has_pieces |= has_pieces;
}

/* Text that no token holds: it has no id. */
static void put_gap(struct cli_buf *out, struct view *v, uint64_t begin, uint64_t end) {
    struct cli_buf text = {0}, range = {0}, none = {0}, id = {0};
    size_t columns, width;

    if (begin >= end) return;
    columns = cli_piece(&text, v->text + begin, (size_t)(end - begin), 0);
    cli_buf_printf(&range, "%llu-%llu", (unsigned long long)begin, (unsigned long long)end);
    cli_buf_char(&id, '-');
    width = columns > range.n ? columns : range.n;
    begin_group(out, v, width, 1);
    put_cell(&v->text_row, &text, columns, width);
    put_cell(&v->token_row, &none, 0, width);
    put_cell(&v->id_row, &id, id.n, width);
    put_cell(&v->byte_row, &range, range.n, width);
    cli_buf_free(&text);
    cli_buf_free(&range);
    cli_buf_free(&id);
}

/* Tokens [first, last), which share characters: these above, each of them below. */
static void put_group(struct cli_buf *out, struct view *v, size_t first, size_t last, dstok_span chars) {
    struct cells c;
    struct cli_buf text = {0};
    size_t i, n, width = 0, text_columns = 0;
    int differs = last - first > 1;

    memset(&c, 0, sizeof c);
    text_columns = cli_piece(&text, v->text + chars.begin, (size_t)(chars.end - chars.begin), 0);
    for (i = first; i < last; i++) {
        const char *bytes = token_bytes(v, i, &n);

        fill_cells(v, i, &c);
        width += c.width + (i > first);
        differs |= n != chars.end - chars.begin || (n > 0 && memcmp(bytes, v->text + chars.begin, n) != 0);
    }
    width = width > text_columns ? width : text_columns;
    begin_group(out, v, width, differs);
    put_cell(&v->text_row, &text, text_columns, width);
    for (i = first; i < last; i++) {
        fill_cells(v, i, &c);
        if (i + 1 == last) c.width = width;
        put_cell(&v->token_row, &c.piece, c.piece_columns, c.width);
        put_cell(&v->id_row, &c.id, c.id.n, c.width);
        put_cell(&v->byte_row, &c.range, c.range.n, c.width);
        if (i + 1 < last) width -= c.width + 1;
    }
    cli_buf_free(&text);
    cli_buf_free(&c.piece);
    cli_buf_free(&c.id);
    cli_buf_free(&c.range);
}

static void put_table(struct cli_buf *out, struct view *v) {
    const dstok_tokens *t = &v->tokens;
    size_t i, last;
    uint64_t shown = 0; /* of the text */

    for (i = 0; i < t->n; i = last) {
        dstok_span chars = characters(v, t->spans[i]), next;

        for (last = i + 1; last < t->n && chars.begin < chars.end; last++) {
            next = characters(v, t->spans[last]);
            if (next.begin >= chars.end) break;
            chars.end = next.end > chars.end ? next.end : chars.end;
        }
        put_gap(out, v, shown, chars.begin);
        put_group(out, v, i, last, chars);
        shown = chars.end > shown ? chars.end : shown;
    }
    put_gap(out, v, shown, v->len);
    end_rows(out, v);
    cli_buf_free(&v->text_row);
    cli_buf_free(&v->token_row);
    cli_buf_free(&v->id_row);
    cli_buf_free(&v->byte_row);
}

/* ---- how many */

static double ratio(uint64_t a, uint64_t b) {
    return (double)a / (double)b;
}

static void put_redundancy(struct cli_buf *out, const dstok_redundancy *r) {
    if (r->n_tokens == 0) return;
    cli_buf_printf(out, "\ntokens      %llu", (unsigned long long)r->n_tokens);
    if (r->n_partial > 0)
        cli_buf_printf(out, ", %llu of them with a part of a character", (unsigned long long)r->n_partial);
    cli_buf_printf(out, "\ncharacters  %llu, %.2f tokens each\n", (unsigned long long)r->n_chars,
                   ratio(r->n_tokens, r->n_chars));
    if (r->n_words > 0)
        cli_buf_printf(out, "words       %llu, %.2f tokens each, %llu in fragments\n",
                       (unsigned long long)r->n_words, ratio(r->n_in_words, r->n_words),
                       (unsigned long long)r->n_fragmented);
}

static void json_ratio(struct cli_buf *out, const char *name, uint64_t a, uint64_t b) {
    if (b > 0)
        cli_buf_printf(out, ",\"%s\":%.4f", name, ratio(a, b));
    else
        cli_buf_printf(out, ",\"%s\":null", name);
}

static void json_redundancy(struct cli_buf *out, const dstok_redundancy *r) {
    cli_buf_printf(out, "{\"tokens\":%llu,\"partial\":%llu,\"chars\":%llu,\"words\":%llu,\"fragmented\":%llu",
                   (unsigned long long)r->n_tokens, (unsigned long long)r->n_partial,
                   (unsigned long long)r->n_chars, (unsigned long long)r->n_words,
                   (unsigned long long)r->n_fragmented);
    json_ratio(out, "tokens_per_char", r->n_tokens, r->n_chars);
    json_ratio(out, "tokens_per_word", r->n_in_words, r->n_words);
    cli_buf_text(out, "}\n");
}

static void put_json(struct cli_buf *out, const struct view *v, const dstok_redundancy *r) {
    size_t i, n;

    for (i = 0; i < v->tokens.n; i++) {
        const char *bytes = token_bytes(v, i, &n);
        const dstok_span s = v->tokens.spans[i], c = characters(v, s);

        cli_buf_printf(out, "{\"id\":%lu,\"span\":[%llu,%llu],\"char\":[%zu,%zu],\"piece\":",
                       (unsigned long)v->tokens.ids[i], (unsigned long long)s.begin,
                       (unsigned long long)s.end, dstok_map_at(v->map, DSTOK_MAP_CHAR, c.begin),
                       dstok_map_at(v->map, DSTOK_MAP_CHAR, c.end));
        (void)cli_json_string(out, bytes, n);
        cli_buf_text(out, ",\"hex\":");
        cli_json_hex(out, bytes, n);
        cli_buf_printf(out, ",\"partial\":%s}\n", s.begin != c.begin || s.end != c.end ? "true" : "false");
    }
    json_redundancy(out, r);
}

static void put_view(struct view *v, int json, struct cli_buf *out) {
    dstok_map_options options = DSTOK_MAP_OPTIONS_INIT;
    dstok_redundancy r;

    options.kinds = 1u << DSTOK_MAP_CHAR;
    if (dstok_map_new(v->text, v->len, v->tokens.spans, v->tokens.n, &options, &v->map, NULL) != DSTOK_OK)
        cli_no_memory();
    dstok_map_redundancy(v->map, &r);
    if (json) {
        put_json(out, v, &r);
    } else {
        put_table(out, v);
        put_redundancy(out, &r);
    }
    dstok_map_free(v->map);
}

/* ---- the text */

static int encode(const struct cli_config *c, struct view *v, dstok_encoder *enc,
                  const dstok_encode_options *options) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status = dstok_encode_view(enc, v->text, v->len, options, &v->tokens, &err);
    /* advice for which --align has no option */
    size_t n = strcspn(err.text, status == DSTOK_E_UTF8 && c->align ? ";" : "");

    if (status == DSTOK_E_NOMEM) cli_no_memory();
    if (status != DSTOK_OK)
        cli_error("%s: byte %llu: %.*s", c->align ? "--align" : c->align_file, (unsigned long long)err.offset,
                  (int)n, err.text);
    return status == DSTOK_OK ? 0 : CLI_FAIL;
}

int cli_show_alignment(const struct cli_config *c, const dstok_tokenizer *tok, struct cli_buf *out) {
    dstok_encode_options options;
    uint32_t *allowed = NULL;
    dstok_encoder *enc = NULL;
    struct cli_buf text = {0};
    struct view v;
    int rc = cli_encode_options(c, tok, &options, &allowed);

    memset(&v, 0, sizeof v);
    if (rc == 0 && c->align) cli_buf_text(&text, c->align);
    if (rc == 0 && c->align_file)
        rc = cli_read_whole(c->align_file, c->no_decompress, DSTOK_MAP_MAX_TEXT, &text);
    if (rc == 0 && dstok_encoder_new(tok, &enc) != DSTOK_OK) cli_no_memory();
    v.tok = tok;
    v.text = cli_buf_string(&text);
    v.len = text.n;
    v.columns = cli_out_columns();
    if (rc == 0) rc = encode(c, &v, enc, &options);
    if (rc == 0) put_view(&v, c->json, out);
    dstok_encoder_free(enc);
    free(allowed);
    cli_buf_free(&text);
    return rc;
}
