/* SPDX-License-Identifier: MIT */
/* Encode options from the command line: modes and lists of control tokens. */
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

/* In the order of DSTOK_SPECIAL_*. */
static const char *const modes[] = {"safe", "text", "parse", "plain", "error"};

static int mode_of(const char *name, size_t n) {
    size_t i;

    for (i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strlen(modes[i]) == n && memcmp(modes[i], name, n) == 0) return (int)i;
    return -1;
}

/* One name of a list. */
static int add_allowed(const struct cli_config *c, const dstok_tokenizer *tok, const char *name, size_t n,
                       uint32_t **ids, size_t *count) {
    uint32_t id;

    if (n == 0 || dstok_token_id(tok, name, n, &id) != DSTOK_OK ||
        !(dstok_token_flags(tok, id) & DSTOK_TOKEN_ADDED)) {
        if (mode_of(name, n) >= 0)
            return cli_usage(c->verb, "--special: %.*s stands alone; a list names added tokens", (int)n,
                             name);
        return cli_usage(
            c->verb,
            "--special: \"%.*s\" is not safe, text, parse, plain or error, nor an added token of "
            "this vocabulary (dstok inspect lists them)",
            (int)(n < 60 ? n : 60), name);
    }
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
    int mode = c->special ? mode_of(c->special, strlen(c->special)) : DSTOK_SPECIAL_SAFE;

    options.invalid = c->invalid;
    options.add_special = c->add_special;
    options.strict = c->strict;
    options.ids_only = c->verb_bit == CLI_ENCODE && (c->json ? c->offsets == CLI_OFFSETS_NONE : !c->pieces);
    options.span_style = c->offsets == CLI_OFFSETS_HF ? DSTOK_SPANS_HF : DSTOK_SPANS_EXACT;
    if (mode >= 0) options.special = mode;
    *out = options;
    return mode < 0 ? read_list(c, tok, out, allowed) : 0;
}
