/* SPDX-License-Identifier: MIT */
/* tokenizer_config.json: whether BOS and EOS belong around a text, and which tokens its chat template uses. */
#include "hf.h"

#include <string.h>

/* Bytes of comparisons that looking for added tokens in a chat template may take at worst. */
#define MAX_WORK ((uint64_t)1 << 34)

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

static bool occurs(const char *text, size_t n, const char *part, size_t part_n) {
    for (const char *p = text; part_n <= n - (size_t)(p - text);) {
        p = memchr(p, part[0], n - (size_t)(p - text) - part_n + 1);
        if (p == NULL) return false;
        if (memcmp(p, part, part_n) == 0) return true;
        p++;
    }
    return false;
}

/* Templates are indented: a run of blanks in one is no use of a token that consists of blanks. */
static bool is_blank(const dstok__added *a) {
    for (uint32_t i = 0; i < a->n; i++) {
        if (strchr(" \t\r\n", a->content[i]) == NULL || a->content[i] == '\0') return false;
    }
    return true;
}

/* Marks the added tokens that occur in a template; *work adds up the bytes compared at worst. */
static dstok_status mark_used(dstok__spec *s, const char *text, size_t n, uint64_t *work) {
    for (size_t i = 0; i < s->n_added; i++) {
        dstok__added *a = &s->added[i];
        if (n > 0 && a->n > (MAX_WORK - *work) / n) return DSTOK_E_LIMIT;
        *work += (uint64_t)a->n * n;
        if (!is_blank(a) && occurs(text, n, a->content, a->n)) a->is_named = true;
    }
    return DSTOK_OK;
}

#define TOO_LONG "the chat template is too long to look for so many added tokens"

dstok_status dstok__load_chat_template(dstok__spec *s, const char *text, size_t n, dstok_error *err) {
    uint64_t work = 0;
    if (mark_used(s, text, n, &work) == DSTOK_OK) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0, "chat_template.jinja: " TOO_LONG);
}

static dstok_status search_text(config *c, size_t at, uint64_t *work) {
    const char *text;
    size_t n;
    DSTOK_TRY(dstok__read_string(&c->r, at, at, "chat_template", &text, &n));
    if (mark_used(c->r.s, text, n, work) == DSTOK_OK) return DSTOK_OK;
    return dstok__json_fail(&c->doc, DSTOK_E_LIMIT, at, c->r.err, TOO_LONG);
}

/* A text, or a list of {"name": ..., "template": ...}. */
static dstok_status read_chat_template(config *c, size_t at) {
    dstok__json_iter it;
    uint64_t work = 0;
    if (at == 0) return DSTOK_OK;
    if (dstok__json_kind_at(&c->doc, at) != DSTOK__JSON_ARRAY) return search_text(c, at, &work);
    DSTOK_TRY(dstok__read_array(&c->r, at, at, "chat_template", &it));
    while (dstok__json_next(&it)) {
        dstok__field f[] = {{"template", 0}};
        DSTOK_TRY(dstok__read_fields(&c->r, it.value, "an item of chat_template", f, 1));
        if (f[0].at != 0) DSTOK_TRY(search_text(c, f[0].at, &work));
    }
    return DSTOK_OK;
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
