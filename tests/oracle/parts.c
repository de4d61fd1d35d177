/* SPDX-License-Identifier: MIT */
/* The oracle's reader of the normalizer and the pre_tokenizer of tokenizer.json. */
#include "inside.h"

#include <jansson.h>
#include <stdlib.h>

/* The pattern of a ByteLevel pretokenizer with use_regex. */
static const char gpt2[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

bool oracle_refuse(const char *what) {
    fprintf(stderr, "oracle: %s\n", what);
    return false;
}

static bool is(json_t *part, const char *type) {
    const char *own = json_string_value(json_object_get(part, "type"));
    return own != NULL && strcmp(own, type) == 0;
}

static bool is_true(json_t *part, const char *name) {
    return json_is_true(json_object_get(part, name));
}

static const char *text_of(json_t *part, const char *name) {
    return json_string_value(json_object_get(part, name));
}

static char *copy(const char *text) {
    char *out = oracle_memory(strlen(text) + 1);
    strcpy(out, text);
    return out;
}

/* ---- normalizer ---- */

static bool add_norm(oracle *o, dstok__norm norm, const char *pattern, const char *content) {
    if (o->n_norms == DSTOK__MAX_NORMS) return oracle_refuse("too many normalizers");
    char **texts = &o->norm_texts[2 * o->n_norms];
    texts[0] = copy(pattern != NULL ? pattern : "");
    texts[1] = copy(content != NULL ? content : "");
    norm.pattern = texts[0];
    norm.pattern_n = strlen(texts[0]);
    norm.content = texts[1];
    norm.content_n = strlen(texts[1]);
    o->norms[o->n_norms++] = norm;
    return true;
}

static bool add_replace(oracle *o, json_t *part) {
    const char *regex = text_of(json_object_get(part, "pattern"), "Regex");
    const char *literal = text_of(json_object_get(part, "pattern"), "String");
    dstok__norm norm = {.kind = regex != NULL ? DSTOK__NORM_REPLACE_REGEX : DSTOK__NORM_REPLACE};
    return add_norm(o, norm, regex != NULL ? regex : literal, text_of(part, "content"));
}

static bool add_strip(oracle *o, json_t *part) {
    unsigned flags = (is_true(part, "strip_left") ? DSTOK__STRIP_LEFT : 0) |
                     (is_true(part, "strip_right") ? DSTOK__STRIP_RIGHT : 0);
    return add_norm(o, (dstok__norm){.kind = DSTOK__NORM_STRIP, .flags = flags}, NULL, NULL);
}

bool oracle_read_normalizer(oracle *o, json_t *part) {
    static const struct {
        const char *type;
        dstok__norm_kind kind;
    } plain[] = {{"NFC", DSTOK__NORM_NFC},
                 {"NFD", DSTOK__NORM_NFD},
                 {"NFKC", DSTOK__NORM_NFKC},
                 {"NFKD", DSTOK__NORM_NFKD},
                 {"Lowercase", DSTOK__NORM_LOWERCASE},
                 {"StripAccents", DSTOK__NORM_STRIP_ACCENTS},
                 {"Nmt", DSTOK__NORM_NMT}};
    json_t *list = json_object_get(part, "normalizers");
    if (part == NULL || json_is_null(part)) return true;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!oracle_read_normalizer(o, json_array_get(list, i))) return false;
    }
    if (is(part, "Sequence")) return true;
    if (is(part, "Replace")) return add_replace(o, part);
    if (is(part, "Strip")) return add_strip(o, part);
    if (is(part, "Prepend"))
        return add_norm(o, (dstok__norm){.kind = DSTOK__NORM_PREPEND}, NULL, text_of(part, "prepend"));
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (is(part, plain[i].type)) return add_norm(o, (dstok__norm){.kind = plain[i].kind}, NULL, NULL);
    }
    return oracle_refuse("a normalizer it does not have");
}

/* ---- pre_tokenizer ---- */

bool oracle_add_step(oracle *o, dstok__step step, const char *pattern) {
    if (o->n_steps == DSTOK__MAX_STEPS) return oracle_refuse("too many steps");
    if (pattern != NULL) {
        step.n = strlen(pattern);
        o->patterns[o->n_steps] = copy(pattern);
        step.pattern = o->patterns[o->n_steps];
    }
    o->steps[o->n_steps++] = step;
    return true;
}

static dstok__behavior behavior_of(json_t *part) {
    static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                                        "Contiguous"};
    const char *name = text_of(part, "behavior");
    for (int i = 0; name != NULL && i < 5; i++) {
        if (strcmp(name, names[i]) == 0) return (dstok__behavior)i;
    }
    return DSTOK__ISOLATED;
}

static bool add_split(oracle *o, json_t *part) {
    json_t *pattern = json_object_get(part, "pattern");
    const char *regex = text_of(pattern, "Regex"), *literal = text_of(pattern, "String");
    dstok__step step = {.kind = regex != NULL ? DSTOK__STEP_REGEX : DSTOK__STEP_LITERAL,
                        .dialect = DSTOK__DIALECT_ONIG,
                        .invert = is_true(part, "invert"),
                        .behavior = behavior_of(part)};
    return oracle_add_step(o, step, regex != NULL ? regex : literal);
}

static bool add_byte_level(oracle *o, json_t *part) {
    o->by_characters = false;
    if (is_true(part, "add_prefix_space") &&
        !oracle_add_step(o, (dstok__step){.kind = DSTOK__STEP_PREFIX}, NULL))
        return false;
    if (json_is_false(json_object_get(part, "use_regex"))) return true;
    dstok__step step = {
        .kind = DSTOK__STEP_REGEX, .behavior = DSTOK__ISOLATED, .dialect = DSTOK__DIALECT_ONIG};
    return oracle_add_step(o, step, gpt2);
}

static bool add_metaspace(oracle *o, json_t *part) {
    static const char *const names[] = {"never", "first", "always"};
    const char *scheme = text_of(part, "prepend_scheme"), *replacement = text_of(part, "replacement");
    dstok__step step = {.kind = DSTOK__STEP_META, .prepend = DSTOK__PREPEND_ALWAYS};
    for (int i = 0; scheme != NULL && i < 3; i++) {
        if (strcmp(scheme, names[i]) == 0) step.prepend = (dstok__prepend)i;
    }
    if (!oracle_add_step(o, step, replacement)) return false;
    if (json_is_false(json_object_get(part, "split"))) return true;
    step = (dstok__step){.kind = DSTOK__STEP_LITERAL, .behavior = DSTOK__MERGED_WITH_NEXT};
    return oracle_add_step(o, step, replacement);
}

static bool add_part(oracle *o, json_t *part) {
    dstok__step step = {.behavior = behavior_of(part)};
    if (is(part, "Split")) return add_split(o, part);
    if (is(part, "Metaspace")) return add_metaspace(o, part);
    if (is(part, "Digits")) {
        step.kind = DSTOK__STEP_DIGITS;
        step.behavior = is_true(part, "individual_digits") ? DSTOK__ISOLATED : DSTOK__CONTIGUOUS;
    } else if (is(part, "Punctuation")) {
        step.kind = DSTOK__STEP_PUNCTUATION;
    } else if (is(part, "WhitespaceSplit")) {
        step = (dstok__step){.kind = DSTOK__STEP_BLANK, .behavior = DSTOK__REMOVED};
    } else if (is(part, "Whitespace")) {
        step = (dstok__step){.kind = DSTOK__STEP_WORDS, .behavior = DSTOK__REMOVED, .invert = true};
    } else if (is(part, "UnicodeScripts")) {
        step.kind = DSTOK__STEP_SCRIPTS;
    } else {
        return oracle_refuse("a pre_tokenizer it does not have");
    }
    return oracle_add_step(o, step, NULL);
}

/* Steps behind a ByteLevel see its alphabet. */
static bool map_bytes(oracle *o) {
    for (size_t i = 0; i < o->n_steps; i++) {
        if (o->steps[i].kind == DSTOK__STEP_BYTE_MAP) return true;
    }
    return oracle_add_step(o, (dstok__step){.kind = DSTOK__STEP_BYTE_MAP}, NULL);
}

bool oracle_read_pretokenizer(oracle *o, json_t *part) {
    json_t *list = json_object_get(part, "pretokenizers");
    if (part == NULL || json_is_null(part)) return true;
    if (is(part, "Sequence")) {
        for (size_t i = 0; i < json_array_size(list); i++) {
            if (!oracle_read_pretokenizer(o, json_array_get(list, i))) return false;
        }
        return true;
    }
    if (is(part, "ByteLevel")) return add_byte_level(o, part);
    if (!o->by_characters && !map_bytes(o)) return false;
    return add_part(o, part);
}

/* The normaliser and the pretokenizer, without scanners. */
bool oracle_make_tools(oracle *o) {
    const dstok_alloc *al = &dstok__default_alloc;
    dstok_error err = {.status = DSTOK_OK};
    if (dstok__normalizer_new(al, o->norms, o->n_norms, &o->normalizer, &err) == DSTOK_OK &&
        dstok__pretok_new(al, o->steps, o->n_steps, false, &o->pretok, &err) == DSTOK_OK &&
        dstok__pretok_scratch_new(al, &o->scratch) == DSTOK_OK)
        return true;
    return oracle_refuse(err.text);
}
