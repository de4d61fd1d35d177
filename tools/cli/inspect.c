/* SPDX-License-Identifier: MIT */
/* dstok inspect: what a vocabulary holds. */
#include "inspect.h"
#include "pieces.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

/* A line of the description: a word, and what it says. */
static void put_line(struct cli_buf *out, const char *name, const char *text) {
    cli_buf_printf(out, "%-11s %s\n", name, text);
}

/* A text out of a vocabulary file, which may hold line ends and what drives a terminal. */
static void put_foreign(struct cli_buf *out, const char *name, const char *text) {
    const unsigned char *p = (const unsigned char *)text;

    cli_buf_printf(out, "%-11s ", name);
    for (; *p != '\0'; p++) {
        if (*p == '\r' || *p == '\n' || *p == '\t')
            cli_buf_text(out, *p == '\r' ? "\\r" : *p == '\n' ? "\\n" : "\\t");
        else if (*p < 0x20 || *p == 0x7F)
            cli_buf_printf(out, "\\x%02X", *p);
        else if (*p == 0xC2 && p[1] < 0xA0)
            cli_buf_printf(out, "\\x{%02X}", *++p);
        else
            cli_buf_char(out, (char)*p);
    }
    cli_buf_char(out, '\n');
}

static void put_number(struct cli_buf *out, const char *name, uint64_t n) {
    cli_buf_printf(out, "%-11s %llu\n", name, (unsigned long long)n);
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int is_control(const dstok_tokenizer *tok, uint64_t id) {
    return (dstok_token_flags(tok, (uint32_t)id) & DSTOK_TOKEN_CONTROL) != 0;
}

static void put_token_text(struct cli_buf *out, const dstok_tokenizer *tok, uint32_t id) {
    const void *bytes = "";
    size_t n = 0;

    if (dstok_token_bytes(tok, id, &bytes, &n) == DSTOK_OK) (void)cli_piece(out, bytes, n, 0);
}

/* Whether two tokens differ in their digits only: reserved tokens that are numbered. */
static int same_shape(const dstok_tokenizer *tok, uint64_t a, uint64_t b) {
    const void *p = "", *q = "";
    const char *s, *t, *s_end, *t_end;
    size_t n = 0, m = 0;

    if (dstok_token_bytes(tok, (uint32_t)a, &p, &n) != DSTOK_OK) return 0;
    if (dstok_token_bytes(tok, (uint32_t)b, &q, &m) != DSTOK_OK) return 0;
    s = p;
    t = q;
    s_end = s + n;
    t_end = t + m;
    while (s < s_end && t < t_end) {
        if (is_digit(*s) && is_digit(*t)) {
            while (s < s_end && is_digit(*s)) s++;
            while (t < t_end && is_digit(*t)) t++;
        } else if (*s++ != *t++) {
            return 0;
        }
    }
    return s == s_end && t == t_end;
}

/* One line for a token, or for a run of numbered ones. */
static void put_control(struct cli_buf *out, const dstok_tokenizer *tok, uint64_t first, uint64_t last) {
    cli_buf_printf(out, "  %llu", (unsigned long long)first);
    if (last > first) cli_buf_printf(out, "-%llu", (unsigned long long)last);
    cli_buf_text(out, "  ");
    put_token_text(out, tok, (uint32_t)first);
    if (last > first) {
        cli_buf_text(out, " ... ");
        put_token_text(out, tok, (uint32_t)last);
    }
    cli_buf_char(out, '\n');
}

/* The control set: every token that text cannot produce under --special safe. */
static void put_controls(struct cli_buf *out, const dstok_tokenizer *tok, uint64_t n_ids) {
    uint64_t id, last, n = 0;

    for (id = 0; id < n_ids; id++) n += (uint64_t)is_control(tok, id);
    put_number(out, "control", n);
    for (id = 0; id < n_ids; id = last + 1) {
        last = id;
        if (!is_control(tok, id)) continue;
        while (last + 1 < n_ids && is_control(tok, last + 1) && same_shape(tok, id, last + 1)) last++;
        put_control(out, tok, id, last);
    }
}

/* Whether text is encoded block by block; a vocabulary that has not those stages goes pretoken by pretoken. */
static int is_fast(const dstok_tokenizer *tok) {
    dstok_encoder *enc = NULL;
    dstok_status status = dstok_encoder_new(tok, &enc);
    size_t n;

    if (status == DSTOK_OK) status = dstok_encode_stage(enc, DSTOK_STAGE_CLASSIFY, "", 0, &n, NULL);
    dstok_encoder_free(enc);
    if (status == DSTOK_E_NOMEM) cli_no_memory();
    return status == DSTOK_OK;
}

static void describe(struct cli_buf *out, const dstok_tokenizer *tok, const dstok_info *info,
                     const char *name) {
    const char *text;
    size_t i;

    put_foreign(out, "vocabulary", name);
    cli_buf_printf(out, "%-11s %s%s\n", "format", info->format, info->is_compiled ? ", compiled" : "");
    put_number(out, "ids", info->n_ids);
    put_number(out, "tokens", info->n_tokens);
    put_number(out, "added", info->n_added);
    put_number(out, "merges", info->n_merges);
    put_line(out, "words",
             info->ignore_merges
                 ? "one that is a token as a whole is taken as it is (ignore_merges); else by merges"
                 : "by merges from bytes or characters, also where the whole is a token");
    put_line(out, "scanner", info->scanner);
    put_line(out, "fast way", is_fast(tok) ? "yes" : "no: pretoken by pretoken");
    put_foreign(out, "normalizer", info->normalizer);
    for (i = 0; (text = dstok_tokenizer_step(tok, i)) != NULL; i++)
        put_foreign(out, i == 0 ? "steps" : "", text);
    if (info->unk_id != UINT32_MAX)
        put_number(out, "unknown id", info->unk_id);
    else
        put_line(out, "unknown id", "none");
    put_line(out, "template", info->has_template ? "yes (--add-special)" : "none");
    cli_buf_printf(out, "%-11s %.1f MB\n", "memory", (double)info->memory / 1e6);
    put_controls(out, tok, info->n_ids);
    for (i = 0; (text = dstok_tokenizer_warning(tok, i)) != NULL; i++) put_foreign(out, "warning", text);
}

static void json_number(struct cli_buf *out, const char *name, uint64_t n) {
    cli_buf_printf(out, ",\"%s\":%llu", name, (unsigned long long)n);
}

static void json_line(struct cli_buf *out, const char *name, const char *text) {
    cli_buf_printf(out, "%s\"%s\":", out->n > 1 ? "," : "", name);
    cli_json_text(out, text);
}

static void json_list(struct cli_buf *out, const char *name, const dstok_tokenizer *tok,
                      const char *(*get)(const dstok_tokenizer *, size_t)) {
    const char *text;
    size_t i;

    cli_buf_printf(out, ",\"%s\":[", name);
    for (i = 0; (text = get(tok, i)) != NULL; i++) {
        if (i > 0) cli_buf_char(out, ',');
        cli_json_text(out, text);
    }
    cli_buf_char(out, ']');
}

static void json_controls(struct cli_buf *out, const dstok_tokenizer *tok, uint64_t n_ids) {
    const char *comma = "";
    const void *bytes = "";
    uint64_t id;
    size_t n;

    cli_buf_text(out, ",\"control\":[");
    for (id = 0; id < n_ids; id++) {
        if (!is_control(tok, id) || dstok_token_bytes(tok, (uint32_t)id, &bytes, &n) != DSTOK_OK) continue;
        cli_buf_printf(out, "%s{\"id\":%llu,\"text\":", comma, (unsigned long long)id);
        (void)cli_json_string(out, bytes, n);
        cli_buf_char(out, '}');
        comma = ",";
    }
    cli_buf_char(out, ']');
}

static void describe_json(struct cli_buf *out, const dstok_tokenizer *tok, const dstok_info *info,
                          const char *name) {
    cli_buf_char(out, '{');
    json_line(out, "vocabulary", name);
    json_line(out, "format", info->format);
    cli_buf_printf(out, ",\"compiled\":%s", info->is_compiled ? "true" : "false");
    json_number(out, "ids", info->n_ids);
    json_number(out, "tokens", info->n_tokens);
    json_number(out, "added", info->n_added);
    json_number(out, "merges", info->n_merges);
    cli_buf_printf(out, ",\"ignore_merges\":%s", info->ignore_merges ? "true" : "false");
    json_line(out, "scanner", info->scanner);
    cli_buf_printf(out, ",\"fast\":%s", is_fast(tok) ? "true" : "false");
    json_line(out, "normalizer", info->normalizer);
    json_list(out, "steps", tok, dstok_tokenizer_step);
    if (info->unk_id != UINT32_MAX)
        json_number(out, "unknown_id", info->unk_id);
    else
        cli_buf_text(out, ",\"unknown_id\":null");
    cli_buf_printf(out, ",\"template\":%s", info->has_template ? "true" : "false");
    json_number(out, "memory", info->memory);
    json_controls(out, tok, info->n_ids);
    json_list(out, "warnings", tok, dstok_tokenizer_warning);
    cli_buf_text(out, "}\n");
}

/* The id that --token means. Returns 0 or CLI_FAIL. */
static int find_token(const dstok_tokenizer *tok, const char *token, uint32_t *id) {
    const char *text = token[0] == '=' ? token + 1 : token;
    size_t digits = strspn(token, "0123456789");
    unsigned long long number;

    if (token[0] != '\0' && token[digits] == '\0') {
        number = digits < 11 ? strtoull(token, NULL, 10) : UINT64_MAX;
        if (number <= UINT32_MAX && dstok_token_flags(tok, (uint32_t)number) != 0) {
            *id = (uint32_t)number;
            return 0;
        }
        cli_error("no token has the id %s (to look for the text: --token =%s)", token, token);
        return CLI_FAIL;
    }
    if (dstok_token_id(tok, text, strlen(text), id) == DSTOK_OK) return 0;
    cli_error("no token is exactly \"%s\"; --align shows how the text is cut", text);
    return CLI_FAIL;
}

static int show_token(const struct cli_config *c, const dstok_tokenizer *tok, struct cli_buf *out) {
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {
        {DSTOK_TOKEN_ADDED, "added"}, {DSTOK_TOKEN_SPECIAL, "special"}, {DSTOK_TOKEN_CONTROL, "control"}};
    const void *bytes = "";
    size_t n = 0, i;
    uint32_t id = 0, flags;
    int rc = find_token(tok, c->token, &id);

    if (rc || dstok_token_bytes(tok, id, &bytes, &n) != DSTOK_OK) return CLI_FAIL;
    flags = dstok_token_flags(tok, id);
    cli_buf_printf(out, c->json ? "{\"id\":%lu,\"text\":" : "%-11lu ", (unsigned long)id);
    if (c->json) {
        (void)cli_json_string(out, bytes, n);
        cli_buf_text(out, ",\"hex\":");
        cli_json_hex(out, bytes, n);
    } else {
        (void)cli_piece(out, bytes, n, 0);
        for (i = 0; i < n; i++)
            cli_buf_printf(out, "%s%02X", i == 0 ? "\nbytes       " : " ", ((const unsigned char *)bytes)[i]);
        cli_buf_char(out, '\n');
    }
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        int has = (flags & names[i].bit) != 0;

        if (c->json)
            cli_buf_printf(out, ",\"%s\":%s", names[i].name, has ? "true" : "false");
        else if (has)
            cli_buf_printf(out, "%s\n", names[i].name);
    }
    cli_buf_text(out, c->json ? "}\n" : "");
    return 0;
}

static int inspect_one(struct cli_config *c, const char *name, const dstok_tokenizer *tok,
                       struct cli_buf *out) {
    dstok_info info = DSTOK_INFO_INIT;

    if (c->token) return show_token(c, tok, out);
    if (c->align || c->align_file) return cli_show_alignment(c, tok, out);
    (void)dstok_tokenizer_info(tok, &info);
    (c->json ? describe_json : describe)(out, tok, &info, name ? name : "default");
    return 0;
}

int cli_inspect(struct cli_config *c) {
    const char *name = c->n_vocabs ? c->vocabs[0] : NULL;
    dstok_tokenizer *tok = NULL;
    struct cli_buf out = {0};
    int rc;

    if (c->fertility) return cli_show_fertility(c);
    if (c->n_inputs > 0)
        return cli_usage(c->verb, "%s: files belong to --fertility; the vocabulary is given with -v",
                         c->inputs[0].name);
    if (c->n_vocabs > 1) return cli_usage(c->verb, "several vocabularies are for --fertility");
    rc = cli_vocab_load(c, name, &tok);
    if (rc == 0) rc = inspect_one(c, name, tok, &out);
    if (rc == 0) rc = cli_out_buf(&out);
    cli_buf_free(&out);
    dstok_tokenizer_free(tok);
    return rc;
}
