/* SPDX-License-Identifier: MIT */
/* Encode options from the command line: modes and lists of control tokens. */
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

/* In the order of DSTOK_SPECIAL_*. */
static const char *const modes[] = {"safe", "text", "parse", "plain", "error"};

/* One name of a list. */
static int add_allowed(const struct cli_config *c, const dstok_tokenizer *tok, const char *name, size_t n,
                       uint32_t **ids, size_t *count) {
    uint32_t id;

    if (n == 0 || dstok_token_id(tok, name, n, &id) != DSTOK_OK ||
        !(dstok_token_flags(tok, id) & DSTOK_TOKEN_ADDED))
        return cli_usage(
            c->verb,
            "--special: \"%.*s\" is not safe, text, parse, plain or error, nor an added token of "
            "this vocabulary (dstok inspect lists them)",
            (int)(n < 60 ? n : 60), name);
    *ids = cli_realloc(*ids, (*count + 1) * sizeof **ids);
    (*ids)[(*count)++] = id;
    return 0;
}

static int read_list(const struct cli_config *c, const dstok_tokenizer *tok, dstok_encode_options *out,
                     uint32_t **ids) {
    const char *p = c->special;
    int rc;

    for (;;) {
        size_t n = strcspn(p, ",");

        rc = add_allowed(c, tok, p, n, ids, &out->n_allowed);
        if (rc || p[n] == '\0') break;
        p += n + 1;
    }
    out->special = DSTOK_SPECIAL_LIST;
    out->allowed = *ids;
    return rc;
}

int cli_encode_options(const struct cli_config *c, const dstok_tokenizer *tok, dstok_encode_options *out,
                       uint32_t **allowed) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    size_t i;

    options.invalid = c->invalid;
    options.add_special = c->add_special;
    options.strict = c->strict;
    options.ids_only = c->verb_bit == CLI_ENCODE && (c->json ? c->offsets == CLI_OFFSETS_NONE : !c->pieces);
    options.span_style = c->offsets == CLI_OFFSETS_HF ? DSTOK_SPANS_HF : DSTOK_SPANS_EXACT;
    *out = options;
    for (i = 0; c->special && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(c->special, modes[i]) == 0) {
            out->special = (int)i;
            return 0;
        }
    return c->special ? read_list(c, tok, out, allowed) : 0;
}
