/* SPDX-License-Identifier: MIT */
/* What a vocabulary's parts are called where a user reads of them. */
#include "build.h"

#include <string.h>

static const char *const behaviors[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                                        "Contiguous"};

static const struct {
    const char *name;
    bool has_pattern, has_behavior;
} step_names[] = {
    [DSTOK__STEP_REGEX] = {"Split(Regex", true, true},
    [DSTOK__STEP_LITERAL] = {"Split(String", true, true},
    [DSTOK__STEP_DIGITS] = {"Digits(", false, true},
    [DSTOK__STEP_PUNCTUATION] = {"Punctuation(", false, true},
    [DSTOK__STEP_BLANK] = {"WhitespaceSplit(", false, true},
    [DSTOK__STEP_WORDS] = {"Whitespace(", false, true},
    [DSTOK__STEP_SCRIPTS] = {"UnicodeScripts(", false, false},
    [DSTOK__STEP_FIXED] = {"FixedLength(", false, false},
    [DSTOK__STEP_PREFIX] = {"ByteLevel(add_prefix_space", false, false},
    [DSTOK__STEP_META] = {"Metaspace(", true, false},
    [DSTOK__STEP_BYTE_MAP] = {"ByteLevel(", false, false},
};

static dstok_status put_step(const dstok__step *step, dstok__buf *out) {
    static const char *const prepends[] = {"never", "first", "always"};
    bool has_pattern = step_names[step->kind].has_pattern, has_behavior = step_names[step->kind].has_behavior;
    DSTOK_TRY(dstok__buf_printf(
        out, "%s%s%s%s", step_names[step->kind].name, has_pattern && has_behavior ? ", " : "",
        has_behavior ? behaviors[step->behavior] : "", step->invert ? ", invert" : ""));
    if (step->kind == DSTOK__STEP_FIXED) DSTOK_TRY(dstok__buf_printf(out, "%u", step->length));
    if (step->kind == DSTOK__STEP_META)
        DSTOK_TRY(dstok__buf_printf(out, "prepend %s", prepends[step->prepend]));
    DSTOK_TRY(dstok__buf_push(out, ')'));
    if (!has_pattern) return DSTOK_OK;
    DSTOK_TRY(dstok__buf_push(out, ' '));
    return dstok__buf_append(out, step->pattern, step->n);
}

static const char *const norm_names[] = {
    [DSTOK__NORM_NFC] = "NFC",
    [DSTOK__NORM_NFD] = "NFD",
    [DSTOK__NORM_NFKC] = "NFKC",
    [DSTOK__NORM_NFKD] = "NFKD",
    [DSTOK__NORM_LOWERCASE] = "Lowercase",
    [DSTOK__NORM_STRIP] = "Strip",
    [DSTOK__NORM_STRIP_ACCENTS] = "StripAccents",
    [DSTOK__NORM_REPLACE] = "Replace",
    [DSTOK__NORM_REPLACE_REGEX] = "Replace(Regex)",
    [DSTOK__NORM_PREPEND] = "Prepend",
    [DSTOK__NORM_NMT] = "Nmt",
    [DSTOK__NORM_BERT] = "BertNormalizer",
    [DSTOK__NORM_BYTE_LEVEL] = "ByteLevel",
    [DSTOK__NORM_PRECOMPILED] = "Precompiled",
    [DSTOK__NORM_SPM] = "SentencePiece",
};

/* The name of an operation, and what it puts where. */
static dstok_status put_norm(const dstok__norm *norm, dstok__buf *out) {
    char from[160], to[80];
    DSTOK_TRY(dstok__buf_printf(out, "%s", norm_names[norm->kind]));
    dstok__quote(norm->pattern, norm->pattern_n, from, sizeof from);
    dstok__quote(norm->content, norm->content_n, to, sizeof to);
    if (norm->kind == DSTOK__NORM_PREPEND) return dstok__buf_printf(out, " \"%s\"", to);
    if (norm->kind == DSTOK__NORM_REPLACE) return dstok__buf_printf(out, " \"%s\" by \"%s\"", from, to);
    if (norm->kind == DSTOK__NORM_REPLACE_REGEX) {
        DSTOK_TRY(dstok__buf_push(out, ' '));
        DSTOK_TRY(dstok__buf_append(out, norm->pattern, norm->pattern_n)); /* as it stands in the file */
        return dstok__buf_printf(out, " by \"%s\"", to);
    }
    if (norm->kind == DSTOK__NORM_STRIP)
        return dstok__buf_printf(out, "%s%s", norm->flags & DSTOK__STRIP_LEFT ? " left" : "",
                                 norm->flags & DSTOK__STRIP_RIGHT ? " right" : "");
    return DSTOK_OK;
}

static dstok_status put_norms(const dstok__spec *s, dstok__buf *out) {
    if (s->n_norms == 0) return dstok__buf_append(out, "none", 4);
    for (size_t i = 0; i < s->n_norms; i++) {
        if (i > 0) DSTOK_TRY(dstok__buf_append(out, ", ", 2));
        DSTOK_TRY(put_norm(&s->norms[i], out));
    }
    return DSTOK_OK;
}

/* Moves the words in out to the tables. */
static dstok_status keep(dstok__build *b, dstok__buf *out) {
    dstok__ref ref;
    DSTOK_TRY(dstok__build_string(b, out->data, out->len, true, &ref));
    out->len = 0;
    return dstok__build_row(b, DSTOK__S_WORDS, &ref, sizeof ref);
}

static dstok_status put_all(dstok__build *b, dstok__buf *out) {
    DSTOK_TRY(dstok__buf_append(out, b->s->format, strlen(b->s->format)));
    DSTOK_TRY(keep(b, out));
    DSTOK_TRY(put_norms(b->s, out));
    DSTOK_TRY(keep(b, out));
    for (size_t i = 0; i < b->s->n_steps; i++) {
        DSTOK_TRY(put_step(&b->s->steps[i], out));
        DSTOK_TRY(keep(b, out));
    }
    return DSTOK_OK;
}

dstok_status dstok__build_words(dstok__build *b) {
    dstok__buf out;
    dstok__buf_init(&out, b->al, DSTOK__MAX_FILE);
    dstok_status status = put_all(b, &out);
    dstok__buf_free(&out);
    return status;
}
