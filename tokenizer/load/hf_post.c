/* SPDX-License-Identifier: MIT */
/* The post_processor of tokenizer.json: the template that puts special tokens around one text. */
#include "hf.h"

#include <string.h>

static dstok_status put_text(dstok__hf *h) {
    return dstok__spec_template(h->r.s, (dstok__template_item){.is_text = true}, h->r.err);
}

static dstok_status put_id(dstok__hf *h, uint32_t id) {
    return dstok__spec_template(h->r.s, (dstok__template_item){.id = id}, h->r.err);
}

/* ---- TemplateProcessing ---- */

/* name -> offset of its object in "special_tokens"; of a name that stands twice the last counts, as for all members. */
static dstok_status map_specials(dstok__hf *h, size_t at, dstok__map *specials, dstok__arena *names) {
    dstok__json_iter it;
    if (at == 0) return DSTOK_OK;
    if (dstok__json_kind_at(&h->doc, at) != DSTOK__JSON_OBJECT)
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, at, h->r.err,
                                "\"special_tokens\" must be an object");
    dstok__json_iter_init(&it, &h->doc, at);
    while (dstok__json_next(&it)) {
        const char *name;
        size_t n;
        DSTOK_TRY(dstok__read_string(&h->r, it.key, it.key, "a name", &name, &n));
        name = dstok__arena_copy(names, name, n);
        dstok_status status = name == NULL ? DSTOK_E_NOMEM : DSTOK_OK;
        if (status == DSTOK_OK) status = dstok__map_put(specials, name, n, (uint32_t)it.value, NULL);
        if (status != DSTOK_OK)
            return dstok__spec_no_room(status, "special tokens", DSTOK__MAX_ADDED, h->r.err);
    }
    return DSTOK_OK;
}

/* The ids of one special token; it may have several. */
static dstok_status put_special(dstok__hf *h, size_t at, const dstok__map *specials) {
    dstok__field f[] = {{"id", 0}}, g[] = {{"ids", 0}};
    const char *name;
    size_t n;
    dstok__quoted q;
    dstok__json_iter it;
    uint32_t id;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "\"SpecialToken\"", f, 1));
    DSTOK_TRY(dstok__read_string(&h->r, at, f[0].at, "\"id\" of a SpecialToken", &name, &n));
    uint32_t where = dstok__map_get(specials, name, n);
    if (where == UINT32_MAX)
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, at, h->r.err,
                                "the template uses \"%s\", which its special_tokens do not have",
                                DSTOK__QUOTE(name, n, q));
    DSTOK_TRY(dstok__read_fields(&h->r, where, "a special token", g, 1));
    DSTOK_TRY(dstok__read_array(&h->r, where, g[0].at, "\"ids\"", &it));
    while (dstok__json_next(&it)) {
        DSTOK_TRY(dstok__read_id(&h->r, where, it.value, "an id of the template", &id));
        DSTOK_TRY(put_id(h, id));
    }
    return DSTOK_OK;
}

/* {"Sequence": {"id": "A"}} is the text; B, the second of a pair, has no place here. */
static dstok_status put_sequence(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"id", 0}};
    const char *name;
    size_t n;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "\"Sequence\"", f, 1));
    DSTOK_TRY(dstok__read_string(&h->r, at, f[0].at, "\"id\" of a Sequence", &name, &n));
    if (dstok__text_is(name, n, "A")) return put_text(h);
    return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, f[0].at, h->r.err,
                            "the template for a single text must use only the sequence \"A\"");
}

static dstok_status put_items(dstok__hf *h, size_t owner, size_t at, const dstok__map *specials) {
    dstok__json_iter it;
    size_t n = 0; /* of items, also those without an id */
    DSTOK_TRY(dstok__read_array(&h->r, owner, at, "\"single\"", &it));
    while (dstok__json_next(&it)) {
        if (++n > DSTOK__MAX_TEMPLATE)
            return dstok__json_fail(&h->doc, DSTOK_E_LIMIT, it.value, h->r.err,
                                    "the template has more than %zu items", (size_t)DSTOK__MAX_TEMPLATE);
        dstok__field f[] = {{"SpecialToken", 0}, {"Sequence", 0}};
        DSTOK_TRY(dstok__read_fields(&h->r, it.value, "an item of a template", f, 2));
        if ((f[0].at == 0) == (f[1].at == 0))
            return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, it.value, h->r.err,
                                    "an item of a template must be either \"SpecialToken\" or \"Sequence\"");
        DSTOK_TRY(f[0].at != 0 ? put_special(h, f[0].at, specials) : put_sequence(h, f[1].at));
    }
    return DSTOK_OK;
}

static dstok_status read_template(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"single", 0}, {"special_tokens", 0}};
    dstok__map specials;
    dstok__arena names;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "TemplateProcessing", f, 2));
    dstok__map_init(&specials, h->r.s->arena.al);
    dstok__arena_init(&names, h->r.s->arena.al, DSTOK__MAX_ARENA);
    dstok_status status = map_specials(h, f[1].at, &specials, &names);
    if (status == DSTOK_OK) status = put_items(h, at, f[0].at, &specials);
    dstok__map_free(&specials);
    dstok__arena_free(&names);
    return status;
}

/* ---- BertProcessing, RobertaProcessing ---- */

/* ["[SEP]", 102]: the second is the id. */
static dstok_status read_pair(dstok__hf *h, size_t owner, const dstok__field *f, uint32_t *id) {
    dstok__json_iter it;
    DSTOK_TRY(dstok__read_array(&h->r, owner, f->at, f->name, &it));
    if (!dstok__json_next(&it) || !dstok__json_next(&it))
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, f->at, h->r.err, "\"%s\" must be [text, id]",
                                f->name);
    return dstok__read_id(&h->r, owner, it.value, f->name, id);
}

static dstok_status read_cls_sep(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"cls", 0}, {"sep", 0}};
    uint32_t cls, sep;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "post_processor", f, 2));
    DSTOK_TRY(read_pair(h, at, &f[0], &cls));
    DSTOK_TRY(read_pair(h, at, &f[1], &sep));
    DSTOK_TRY(put_id(h, cls));
    DSTOK_TRY(put_text(h));
    return put_id(h, sep);
}

/* ---- all of it ---- */

static bool has_text(const dstok__spec *s) {
    for (size_t i = 0; i < s->n_template; i++) {
        if (s->template_items[i].is_text) return true;
    }
    return false;
}

/* A template that adds nothing is the same as none. */
static void drop_trivial(dstok__spec *s) {
    if (s->n_template == 1 && s->template_items[0].is_text) s->n_template = 0;
}

/* Hugging Face's spans leave out blanks at the ends of a token. In RobertaProcessing both members are optional. */
static dstok_status read_trim(dstok__hf *h, size_t at, bool optional) {
    dstok__field f[] = {{"trim_offsets", 0}, {"add_prefix_space", 0}};
    bool trim = true, prefix = true;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "post_processor", f, 2));
    if (f[0].at != 0 || !optional) DSTOK_TRY(dstok__read_bool(&h->r, at, f[0].at, "\"trim_offsets\"", &trim));
    if (f[1].at != 0 || !optional)
        DSTOK_TRY(dstok__read_bool(&h->r, at, f[1].at, "\"add_prefix_space\"", &prefix));
    if (!trim) return DSTOK_OK;
    if (h->r.s->trim_offsets)
        return dstok__spec_warn(h->r.s, h->r.err,
                                "the post_processor trims offsets twice; spans in Hugging Face's style are "
                                "trimmed once");
    h->r.s->trim_offsets = true;
    h->r.s->trim_keeps_prefix = prefix;
    return DSTOK_OK;
}

static dstok_status add_processor(dstok__hf *h, const char *type, size_t at) {
    if (strcmp(type, "ByteLevel") == 0) return read_trim(h, at, false); /* it moves offsets, never ids */
    bool is_template = strcmp(type, "TemplateProcessing") == 0;
    if (!is_template && strcmp(type, "BertProcessing") != 0 && strcmp(type, "RobertaProcessing") != 0)
        return dstok__hf_unsupported(h, at, "post_processor", type);
    /* The reference gives what a template made to the next one as a pair of texts. */
    if (h->r.s->n_template > 0)
        return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                                "not supported: post_processor with more than one template");
    if (strcmp(type, "RobertaProcessing") == 0) DSTOK_TRY(read_trim(h, at, true));
    DSTOK_TRY(is_template ? read_template(h, at) : read_cls_sep(h, at));
    if (!has_text(h->r.s))
        return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                                "not supported: a template that leaves the text out");
    drop_trivial(h->r.s);
    return DSTOK_OK;
}

/* The reference takes any id; one without a token cannot be decoded. */
static dstok_status check_ids(dstok__hf *h) {
    const dstok__spec *s = h->r.s;
    for (size_t i = 0; i < s->n_template; i++) {
        const dstok__template_item *item = &s->template_items[i];
        bool is_added = item->id >= h->first_added && item->id < h->next_id;
        if (!item->is_text && !is_added && !dstok__bits_has(&h->taken, item->id))
            DSTOK_TRY(dstok__spec_warn(h->r.s, h->r.err, "the post_processor adds id %u, which has no token",
                                       item->id));
    }
    return DSTOK_OK;
}

dstok_status dstok__hf_post_processor(dstok__hf *h, size_t at) {
    DSTOK_TRY(dstok__hf_parts(h, at, "post_processor", "processors", add_processor));
    return check_ids(h);
}
