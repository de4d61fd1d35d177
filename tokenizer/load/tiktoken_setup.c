/* SPDX-License-Identifier: MIT */
/* What a rank file does not say: its pattern, special tokens and normalizer, from the caller, meta.json or its hash. */
#include "tiktoken.h"

#include <stdio.h>
#include <string.h>

#include "encodings.h"
#include "sha256.h"

/* Members of meta.json: offsets, 0 = absent. */
typedef struct meta {
    dstok__reader r;
    size_t pattern, specials, normalizer;
} meta;

static dstok_status open_meta(dstok__tiktoken *t, const char *text, size_t n, meta *m) {
    dstok__field f[] = {{"pattern", 0}, {"special_tokens", 0}, {"normalizer", 0}};
    *m = (meta){.r = {.s = t->s, .doc = &t->doc, .scratch = &t->scratch, .err = t->err}};
    if (text == NULL) return DSTOK_OK;
    DSTOK_TRY(dstok__json_open(&t->doc, text, n, "meta.json: ", t->err));
    DSTOK_TRY(dstok__read_fields(&m->r, t->doc.root, "the file", f, sizeof f / sizeof *f));
    m->pattern = f[0].at;
    m->specials = f[1].at;
    m->normalizer = f[2].at;
    return DSTOK_OK;
}

/* ---- pattern ---- */

/* The regular expression's matches are the pretokens; text between them has no tokens, as in tiktoken. */
static dstok_status set_pattern(dstok__tiktoken *t, const char *text, size_t n) {
    dstok__step step = {.kind = DSTOK__STEP_REGEX,
                        .behavior = DSTOK__REMOVED,
                        .invert = true,
                        .dialect = DSTOK__DIALECT_FANCY,
                        .n = n};
    if (n == 0) return dstok__fail(t->err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "the pattern is empty");
    DSTOK_TRY(dstok__spec_copy(t->s, text, n, &step.pattern, t->err));
    t->s->steps[0] = step;
    t->s->n_steps = 1;
    return DSTOK_OK;
}

/* "a, b, c" of all known names. */
static const char *list_names(char *out, size_t cap) {
    size_t len = 0;
    const char *name;
    for (size_t i = 0; (name = dstok__pattern_name_at(i)) != NULL && len < cap; i++) {
        int n = snprintf(out + len, cap - len, "%s%s", i > 0 ? ", " : "", name);
        if (n > 0) len += (size_t)n;
    }
    return out;
}

/* Looks like a name that was meant for one of ours: taken as a regular expression it would match next to nothing. */
static bool looks_like_name(const char *pattern) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return pattern[strspn(pattern, letters)] == '\0';
}

static dstok_status no_pattern(dstok__tiktoken *t, const char *why) {
    char names[224] = "";
    return dstok__fail(t->err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0,
                       "%s: give a regular expression or a name of %s", why, list_names(names, sizeof names));
}

/* ---- special tokens ---- */

static dstok_status add_special(dstok__tiktoken *t, const char *text, size_t n, uint32_t id) {
    dstok__added a = {.content = text, .n = (uint32_t)n, .id = id, .special = true};
    DSTOK_TRY(dstok__bits_add(&t->specials, id, t->err));
    return dstok__spec_added(t->s, &a, t->err);
}

static dstok_status add_known_special(dstok__tiktoken *t, const char *text, uint32_t id) {
    bool shared = dstok__bits_has(&t->specials, id);
    if (dstok__bits_has(&t->ranks, id))
        return dstok__fail(t->err, DSTOK_E_DUPLICATE, DSTOK_NO_OFFSET, 0,
                           "id %u belongs to the special token \"%s\" and is a rank, too", id, text);
    DSTOK_TRY(add_special(t, text, strlen(text), id));
    if (!shared) return DSTOK_OK;
    return dstok__spec_warn(t->s, t->err, "id %u has a second special token, \"%s\"; it decodes to the first",
                            id, text);
}

static dstok_status add_known_specials(dstok__tiktoken *t, const dstok__encoding *e) {
    for (size_t i = 0; i < e->n_specials; i++)
        DSTOK_TRY(add_known_special(t, e->specials[i].text, e->specials[i].id));
    for (uint32_t id = e->reserved; id < e->reserved_end; id++) {
        char text[32];
        snprintf(text, sizeof text, "<|reserved_%u|>", id);
        DSTOK_TRY(add_known_special(t, text, id));
    }
    return DSTOK_OK;
}

/* One member of "special_tokens" in meta.json: text and id. */
static dstok_status add_meta_special(dstok__tiktoken *t, const meta *m, const dstok__json_iter *it) {
    const char *text;
    size_t n;
    uint32_t id = 0;
    DSTOK_TRY(dstok__read_string(&m->r, it->key, it->key, "a special token", &text, &n));
    DSTOK_TRY(dstok__read_id(&m->r, it->key, it->value, "the id of a special token", &id));
    if (n == 0 || n > DSTOK__MAX_ADDED_BYTES)
        return dstok__json_fail(&t->doc, n == 0 ? DSTOK_E_FORMAT : DSTOK_E_LIMIT, it->key, t->err,
                                "a special token must have 1 to %u bytes", DSTOK__MAX_ADDED_BYTES);
    if (dstok__bits_has(&t->ranks, id) || dstok__bits_has(&t->specials, id))
        return dstok__json_fail(&t->doc, DSTOK_E_DUPLICATE, it->value, t->err, "id %u is %s", id,
                                dstok__bits_has(&t->ranks, id) ? "a rank, too"
                                                               : "given to two special tokens");
    if (dstok__map_get(&t->added, text, n) != UINT32_MAX)
        return dstok__json_fail(&t->doc, DSTOK_E_DUPLICATE, it->key, t->err, "a special token stands twice");
    DSTOK_TRY(add_special(t, text, n, id));
    const dstok__added *kept = &t->s->added[t->s->n_added - 1];
    dstok_status status = dstok__map_put(&t->added, kept->content, kept->n, id, NULL);
    return status == DSTOK_OK ? status
                              : dstok__spec_no_room(status, "special tokens", DSTOK__MAX_ADDED, t->err);
}

static dstok_status add_meta_specials(dstok__tiktoken *t, const meta *m) {
    dstok__json_iter it;
    if (m->specials == 0) return DSTOK_OK;
    if (dstok__json_kind_at(&t->doc, m->specials) != DSTOK__JSON_OBJECT)
        return dstok__json_fail(&t->doc, DSTOK_E_FORMAT, m->specials, t->err,
                                "\"special_tokens\" must be an object");
    dstok__json_iter_init(&it, &t->doc, m->specials);
    while (dstok__json_next(&it)) DSTOK_TRY(add_meta_special(t, m, &it));
    return DSTOK_OK;
}

/* ---- where both come from ---- */

/* A name brings the special tokens of its encoding, if this is that encoding by the number of its ranks; else those of
 * the meta file count. */
static dstok_status use_name(dstok__tiktoken *t, const meta *m, const char *name) {
    const dstok__encoding *e = dstok__encoding_by_name(name);
    const char *text = dstok__pattern_by_name(name);
    DSTOK_TRY(set_pattern(t, text, strlen(text)));
    if (e == NULL || e->n_specials == 0) return add_meta_specials(t, m);
    if (t->s->n_tokens == e->n_ranks) return add_known_specials(t, e);
    DSTOK_TRY(dstok__spec_warn(
        t->s, t->err,
        "the file has %zu ranks and %s has %u: only its pattern is used, not its special tokens",
        t->s->n_tokens, name, e->n_ranks));
    return add_meta_specials(t, m);
}

static dstok_status use_hash(dstok__tiktoken *t, const meta *m) {
    char hex[65];
    dstok__sha256_hex(t->data, t->n, hex);
    const dstok__encoding *e = dstok__encoding_by_sha256(hex);
    const char *text = e != NULL ? dstok__pattern_by_name(e->name) : NULL;
    if (text == NULL) return no_pattern(t, "no pattern is known for this rank file");
    DSTOK_TRY(set_pattern(t, text, strlen(text)));
    return m->specials != 0 ? add_meta_specials(t, m) : add_known_specials(t, e);
}

static dstok_status use_meta(dstok__tiktoken *t, const meta *m) {
    const char *text;
    size_t n;
    DSTOK_TRY(dstok__read_string(&m->r, 0, m->pattern, "\"pattern\"", &text, &n));
    DSTOK_TRY(set_pattern(t, text, n));
    return add_meta_specials(t, m);
}

static dstok_status use_regex(dstok__tiktoken *t, const meta *m, const char *pattern) {
    if (looks_like_name(pattern)) return no_pattern(t, "the pattern's name is not known");
    DSTOK_TRY(set_pattern(t, pattern, strlen(pattern)));
    return add_meta_specials(t, m);
}

static dstok_status set_normalizer(dstok__tiktoken *t, const meta *m) {
    const char *text;
    size_t n;
    dstok__quoted q;
    if (m->normalizer == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__read_string(&m->r, 0, m->normalizer, "\"normalizer\"", &text, &n));
    if (!dstok__text_is(text, n, "NFC"))
        return dstok__json_fail(&t->doc, DSTOK_E_UNSUPPORTED, m->normalizer, t->err,
                                "not supported: normalizer \"%s\" (only \"NFC\")", DSTOK__QUOTE(text, n, q));
    t->s->norms[t->s->n_norms++] = (dstok__norm){.kind = DSTOK__NORM_NFC};
    return DSTOK_OK;
}

dstok_status dstok__tiktoken_setup(dstok__tiktoken *t, const char *pattern, const char *text, size_t n) {
    meta m;
    DSTOK_TRY(open_meta(t, text, n, &m));
    DSTOK_TRY(set_normalizer(t, &m));
    if (pattern != NULL && dstok__pattern_by_name(pattern) != NULL) return use_name(t, &m, pattern);
    if (pattern != NULL) return use_regex(t, &m, pattern);
    return m.pattern != 0 ? use_meta(t, &m) : use_hash(t, &m);
}
