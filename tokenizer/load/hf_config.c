/* SPDX-License-Identifier: MIT */
/* tokenizer_config.json: whether BOS and EOS belong around a text, and which tokens its chat template uses. */
#include "hf.h"

#include "../text/added.h"

#include <string.h>

typedef struct config {
    dstok__hf *h;
    dstok__json doc;
    dstok__reader r; /* reads doc */
} config;

/* ---- BOS and EOS ---- */

/* A token is given as its text or as {"content": text}; *id = NO_ID when the file has none (absent or null), and,
 * unless it is needed, when tokenizer.json does not have it. */
static dstok_status read_token(config *c, const dstok__field *f, bool needed, uint32_t *id) {
    dstok__field content[] = {{"content", 0}};
    const char *text;
    size_t n, at = f->at;
    dstok__quoted q;
    *id = DSTOK__NO_ID;
    if (at == 0) return DSTOK_OK;
    if (dstok__json_kind_at(&c->doc, at) == DSTOK__JSON_OBJECT) {
        DSTOK_TRY(dstok__read_fields(&c->r, at, f->name, content, 1));
        at = content[0].at;
    }
    DSTOK_TRY(dstok__read_string(&c->r, f->at, at, f->name, &text, &n));
    *id = dstok__hf_id_of(c->h, text, n);
    if (*id != DSTOK__NO_ID || !needed) return DSTOK_OK;
    return dstok__json_fail(&c->doc, DSTOK_E_FORMAT, at, c->r.err, "%s \"%s\" is no token of tokenizer.json",
                            f->name, DSTOK__QUOTE(text, n, q));
}

/* Takes the item at `at` out of the template; one that is left with the text alone is the same as none. */
static void take_out(dstok__spec *s, size_t at) {
    s->n_template--;
    memmove(s->template_items + at, s->template_items + at + 1,
            (s->n_template - at) * sizeof *s->template_items);
    if (s->n_template == 1 && s->template_items[0].is_text) s->n_template = 0;
}

/* Puts an id into the template before the item at `at`, or behind the last. */
static dstok_status put_in(config *c, size_t at, uint32_t id) {
    dstok__spec *s = c->r.s;
    dstok__template_item item = {.id = id};
    if (s->n_template == 0)
        DSTOK_TRY(dstok__spec_template(s, (dstok__template_item){.is_text = true}, c->r.err));
    if (at > s->n_template) at = s->n_template;
    DSTOK_TRY(dstok__spec_template(s, item, c->r.err));
    memmove(s->template_items + at + 1, s->template_items + at, (s->n_template - 1 - at) * sizeof item);
    s->template_items[at] = item;
    return DSTOK_OK;
}

/* Makes the template's first (or last) item what the flag says: that token when true, not that token when false. */
static dstok_status apply_flag(config *c, const dstok__field *flag, const dstok__field *token, bool first) {
    dstok__spec *s = c->r.s;
    bool wanted;
    uint32_t id;
    if (flag->at == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__read_bool(&c->r, 0, flag->at, flag->name, &wanted));
    if (!wanted && s->n_template == 0) return DSTOK_OK;
    DSTOK_TRY(read_token(c, token, wanted, &id));
    if (id == DSTOK__NO_ID) {
        if (!wanted) return DSTOK_OK;
        return dstok__spec_warn(s, c->r.err,
                                "tokenizer_config.json: %s is true, but there is no %s; it is ignored",
                                flag->name, token->name);
    }
    size_t at = first || s->n_template == 0 ? 0 : s->n_template - 1;
    bool there = s->n_template > 0 && !s->template_items[at].is_text && s->template_items[at].id == id;
    if (wanted && !there) return put_in(c, first ? 0 : SIZE_MAX, id);
    if (!wanted && there) take_out(s, at);
    return DSTOK_OK;
}

/* ---- chat template ---- */

/* Templates are indented: a run of blanks in one is no use of a token that consists of blanks. */
static bool is_blank(const dstok__added *a) {
    for (uint32_t i = 0; i < a->n; i++) {
        if (strchr(" \t\r\n", a->content[i]) == NULL || a->content[i] == '\0') return false;
    }
    return true;
}

/* A set of all added tokens, each with its index in place of its id. */
static dstok_status make_set(const dstok__spec *s, dstok__added_set *set) {
    for (size_t i = 0; i < s->n_added; i++) {
        const dstok__added *a = &s->added[i];
        if (is_blank(a)) continue;
        dstok__added_entry entry = {.text = (const uint8_t *)a->content, .n = a->n, .id = (uint32_t)i};
        DSTOK_TRY(dstok__added_put(set, &entry));
    }
    return dstok__added_build(set);
}

/* A dstok__policy_fn that notes every token that occurs and goes on as if there was none. */
static dstok__verdict note_used(void *ctx, const dstok__added_entry *entry, size_t begin, size_t end) {
    dstok__spec *s = ctx;
    (void)begin;
    (void)end;
    s->added[entry->id].is_named = true;
    return DSTOK__IGNORE;
}

/* Marks the added tokens that occur in a template. */
static void mark_used(dstok__spec *s, const dstok__added_set *set, const char *text, size_t n) {
    dstok__added_match unused;
    bool refused;
    (void)dstok__added_find(set, (const uint8_t *)text, n, 0, note_used, s, &unused, &refused);
}

dstok_status dstok__load_chat_template(dstok__spec *s, const char *text, size_t n, dstok_error *err) {
    dstok__added_set set;
    dstok__added_init(&set, s->arena.al);
    dstok_status status = make_set(s, &set);
    if (status == DSTOK_OK) mark_used(s, &set, text, n);
    dstok__added_free(&set);
    return status == DSTOK_OK ? status : dstok__spec_no_room(status, "added tokens", DSTOK__MAX_ADDED, err);
}

static dstok_status search_text(config *c, const dstok__added_set *set, size_t at) {
    const char *text;
    size_t n;
    DSTOK_TRY(dstok__read_string(&c->r, at, at, "chat_template", &text, &n));
    mark_used(c->r.s, set, text, n);
    return DSTOK_OK;
}

/* A text, or a list of {"name": ..., "template": ...}. */
static dstok_status search_all(config *c, const dstok__added_set *set, size_t at) {
    dstok__json_iter it;
    if (dstok__json_kind_at(&c->doc, at) != DSTOK__JSON_ARRAY) return search_text(c, set, at);
    DSTOK_TRY(dstok__read_array(&c->r, at, at, "chat_template", &it));
    while (dstok__json_next(&it)) {
        dstok__field f[] = {{"template", 0}};
        DSTOK_TRY(dstok__read_fields(&c->r, it.value, "an item of chat_template", f, 1));
        if (f[0].at != 0) DSTOK_TRY(search_text(c, set, f[0].at));
    }
    return DSTOK_OK;
}

static dstok_status read_chat_template(config *c, size_t at) {
    dstok__added_set set;
    if (at == 0) return DSTOK_OK;
    dstok__added_init(&set, c->r.s->arena.al);
    dstok_status status = make_set(c->r.s, &set);
    if (status != DSTOK_OK) {
        status = dstok__spec_no_room(status, "added tokens", DSTOK__MAX_ADDED, c->r.err);
    } else {
        status = search_all(c, &set, at);
    }
    dstok__added_free(&set);
    return status;
}

/* ---- tokens that the config calls special ---- */

static dstok_status mark_token(config *c, const dstok__field *f) {
    uint32_t id;
    DSTOK_TRY(read_token(c, f, false, &id));
    for (size_t i = 0; id != DSTOK__NO_ID && i < c->r.s->n_added; i++) {
        if (c->r.s->added[i].id == id) c->r.s->added[i].is_named = true;
    }
    return DSTOK_OK;
}

/* bos_token, eos_token and their kind, with or without "special" in tokenizer.json. */
static dstok_status mark_tokens(config *c) {
    dstok__field f[] = {{"bos_token", 0}, {"eos_token", 0}, {"unk_token", 0}, {"sep_token", 0},
                        {"pad_token", 0}, {"cls_token", 0}, {"mask_token", 0}};
    DSTOK_TRY(dstok__read_fields(&c->r, c->doc.root, "the file", f, sizeof f / sizeof *f));
    for (size_t i = 0; i < sizeof f / sizeof *f; i++) DSTOK_TRY(mark_token(c, &f[i]));
    return DSTOK_OK;
}

dstok_status dstok__hf_config(dstok__hf *h, const char *data, size_t n) {
    config c = {.h = h, .r = h->r};
    c.r.doc = &c.doc;
    dstok__field f[] = {
        {"add_bos_token", 0}, {"bos_token", 0}, {"add_eos_token", 0}, {"eos_token", 0}, {"chat_template", 0}};
    DSTOK_TRY(dstok__json_open(&c.doc, data, n, "tokenizer_config.json: ", h->r.err));
    DSTOK_TRY(dstok__read_fields(&c.r, c.doc.root, "the file", f, sizeof f / sizeof *f));
    DSTOK_TRY(apply_flag(&c, &f[0], &f[1], true));
    DSTOK_TRY(apply_flag(&c, &f[2], &f[3], false));
    DSTOK_TRY(mark_tokens(&c));
    return read_chat_template(&c, f[4].at);
}
