/* SPDX-License-Identifier: MIT */
/* From what a vocabulary file says to the tables: ids and their flags, added tokens, operations; then one
 * block. */
#include "build.h"

#include "../text/utf8.h"

#include <stdio.h>
#include <string.h>

#define MAX_STRINGS ((size_t)3 << 30) /* places in them have 32 bits */
#define MAX_SECTION ((size_t)1 << 36)

/* ---- rows and strings ---- */

dstok_status dstok__build_string(dstok__build *b, const void *bytes, size_t n, bool is_text,
                                 dstok__ref *ref) {
    dstok__buf *strings = &b->sections[DSTOK__S_STRINGS];
    *ref = (dstok__ref){(uint32_t)strings->len, (uint32_t)n};
    DSTOK_TRY(dstok__buf_append(strings, bytes, n));
    return is_text ? dstok__buf_push(strings, 0) : DSTOK_OK;
}

dstok_status dstok__build_row(dstok__build *b, dstok__section section, const void *row, size_t size) {
    return dstok__buf_append(&b->sections[section], row, size);
}

dstok_status dstok__build_zeroed(dstok__build *b, dstok__section section, size_t n, size_t size) {
    dstok__buf *buf = &b->sections[section];
    if (n == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__buf_reserve(buf, n * size));
    memset(buf->data, 0, n * size);
    buf->len = n * size;
    return DSTOK_OK;
}

/* ---- ids ---- */

static uint32_t count_ids(const dstok__spec *s) {
    uint32_t n = 0;
    for (size_t i = 0; i < s->n_tokens; i++) {
        if (s->tokens[i].id >= n) n = s->tokens[i].id + 1;
    }
    for (size_t i = 0; i < s->n_added; i++) {
        if (s->added[i].id >= n) n = s->added[i].id + 1;
    }
    return n;
}

static unsigned token_flags(const dstok__token *t) {
    return DSTOK_TOKEN_EXISTS | (t->is_byte ? DSTOK__TOKEN_BYTE : 0) |
           (t->is_unused ? DSTOK__TOKEN_UNUSED : 0);
}

static unsigned added_flags(const dstok__added *a) {
    unsigned flags = DSTOK_TOKEN_EXISTS | DSTOK_TOKEN_ADDED | (a->is_byte ? DSTOK__TOKEN_BYTE : 0);
    if (a->special) flags |= DSTOK_TOKEN_SPECIAL;
    if (a->special || a->is_named || dstok__is_control_text(a->content, a->n)) flags |= DSTOK_TOKEN_CONTROL;
    return flags;
}

/* The bytes and flags of every id. */
static dstok_status fill_ids(dstok__build *b) {
    const dstok__spec *s = b->s;
    uint32_t n = count_ids(s);
    b->head.n_ids = n;
    DSTOK_TRY(dstok__build_zeroed(b, DSTOK__S_TOKENS, n, sizeof(dstok__ref)));
    DSTOK_TRY(dstok__build_zeroed(b, DSTOK__S_TEXTS, n, sizeof(dstok__ref)));
    DSTOK_TRY(dstok__build_zeroed(b, DSTOK__S_FLAGS, n, 1));
    dstok__ref *tokens = (dstok__ref *)(void *)b->sections[DSTOK__S_TOKENS].data;
    dstok__ref *texts = (dstok__ref *)(void *)b->sections[DSTOK__S_TEXTS].data;
    uint8_t *flags = dstok__build_flags(b);
    for (size_t i = 0; i < s->n_tokens; i++) {
        const dstok__token *t = &s->tokens[i];
        DSTOK_TRY(dstok__build_string(b, t->text, t->n, false, &texts[t->id]));
        tokens[t->id] = texts[t->id];
        if (t->bytes != t->text)
            DSTOK_TRY(dstok__build_string(b, t->bytes, t->bytes_n, false, &tokens[t->id]));
        flags[t->id] = (uint8_t)token_flags(t);
        if (t->is_unused) b->head.options |= DSTOK__T_UNUSED;
    }
    for (size_t i = 0; i < s->n_added; i++) {
        const dstok__added *a = &s->added[i];
        if (flags[a->id] == 0 || a->shadows)
            DSTOK_TRY(dstok__build_string(b, a->bytes != NULL ? a->bytes : a->content,
                                          a->bytes != NULL ? a->bytes_n : a->n, false, &tokens[a->id]));
        if (a->shadows) flags[a->id] &= (uint8_t)~DSTOK__TOKEN_BYTE;
        flags[a->id] |= (uint8_t)added_flags(a);
    }
    for (size_t i = 0; i < s->n_template; i++) {
        const dstok__template_item *item = &s->template_items[i];
        if (!item->is_text && item->id < n) flags[item->id] |= DSTOK_TOKEN_CONTROL;
    }
    for (uint32_t id = 0; id < n; id++) b->head.n_tokens += flags[id] != 0;
    return DSTOK_OK;
}

/* ---- the texts that the model matches ---- */

/* Such a byte has no other token: to leave it out would lose text. */
static dstok_status warn_byte(dstok__build *b, const dstok__token *t) {
    char text[96];
    dstok__ref ref;
    int n = snprintf(text, sizeof text, "control token %u is the single byte 0x%02X: any text may hold it",
                     t->id, (uint8_t)t->text[0]);
    DSTOK_TRY(dstok__build_string(b, text, (size_t)n, true, &ref));
    return dstok__build_row(b, DSTOK__S_WARNINGS, &ref, sizeof ref);
}

static bool is_character(const char *text, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (dstok__is_continuation((uint8_t)text[i]) != (i > 0)) return false;
    return n > 0;
}

/* Is it one character (or byte), perhaps with what this vocabulary puts before and behind it? */
static bool may_be_atom(const dstok__spec *s, const dstok__token *t) {
    if (!s->char_atoms && s->prefix_n + s->suffix_n == 0) return false; /* byte_ids say it */
    for (size_t i = 0; i < 4; i++) {
        size_t head = i & 1 ? s->prefix_n : 0, tail = i & 2 ? s->suffix_n : 0;
        if (t->n <= head + tail) continue;
        size_t n = t->n - head - tail;
        if (s->char_atoms ? is_character(t->text + head, n) : n == 1) return true;
    }
    return false;
}

/* Bytes that fall back to a control token: SAFE leaves them unknown. */
static void note_fallback(dstok__build *b) {
    for (unsigned i = 0; i < 256; i++) {
        uint32_t id = b->s->fallback_ids[i];
        if (id < b->head.n_ids && (dstok__build_flags(b)[id] & DSTOK_TOKEN_CONTROL))
            b->head.options |= DSTOK__T_CONTROL_MERGES;
    }
}

static dstok_status map_texts(dstok__build *b) {
    const dstok__spec *s = b->s;
    const uint8_t *flags = dstok__build_flags(b);
    DSTOK_TRY(dstok__map_reserve(&b->by_text, s->n_tokens));
    for (size_t i = 0; i < s->n_tokens; i++) {
        const dstok__token *t = &s->tokens[i];
        bool is_control = (flags[t->id] & DSTOK_TOKEN_CONTROL) != 0;
        if (t->literal || t->n == 0) continue;
        DSTOK_TRY(dstok__map_put(&b->by_text, t->text, t->n, t->id, NULL));
        if (is_control && ((b->head.options & DSTOK__T_WHOLE_FIRST) || may_be_atom(s, t)))
            b->head.options |= DSTOK__T_CONTROL_MERGES;
        if (t->n != 1 || s->char_atoms) continue;
        b->head.byte_ids[(uint8_t)t->text[0]] = t->id;
        if (is_control) DSTOK_TRY(warn_byte(b, t));
    }
    return DSTOK_OK;
}

/* ---- added tokens ---- */

static uint32_t row_flags(const dstok__build *b, const dstok__added *a) {
    bool control = (b->sections[DSTOK__S_FLAGS].data[a->id] & DSTOK_TOKEN_CONTROL) != 0;
    return (a->special ? DSTOK__ADDED_SPECIAL : 0) | (a->single_word ? DSTOK__ADDED_SINGLE_WORD : 0) |
           (a->lstrip ? DSTOK__ADDED_LSTRIP : 0) | (a->rstrip ? DSTOK__ADDED_RSTRIP : 0) |
           (control ? DSTOK__ADDED_CONTROL : 0) | (a->by_name_only ? DSTOK__ADDED_BY_NAME : 0);
}

/* What normalising the texts of added tokens needs. */
typedef struct normalising {
    dstok__normalizer *normalizer;
    dstok__regex_scratch *regex;
    dstok__normalized text;
} normalising;

/* The reference finds it between any two bytes: it cuts the text there, inside of characters, too, where it
 * fails. */
static dstok_status refuse_empty(const dstok__build *b, const dstok__added *a) {
    char quoted[80];
    return dstok__fail(b->err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, 0,
                       "not supported: added token \"%s\", of which the normalizer leaves nothing",
                       dstok__quote(a->content, a->n, quoted, sizeof quoted));
}

/* The text to look for: normalised for tokens that are matched after normalisation. */
static dstok_status add_row(dstok__build *b, normalising *z, const dstok__added *a) {
    dstok__added_row row = {.id = a->id, .flags = row_flags(b, a)};
    DSTOK_TRY(dstok__build_string(b, a->content, a->n, false, &row.text));
    DSTOK_TRY(dstok__build_row(b, DSTOK__S_ADDED, &row, sizeof row));
    if (!a->normalized) return dstok__build_row(b, DSTOK__S_RAW, &row, sizeof row);
    if (z->normalizer != NULL && b->s->norms[0].kind != DSTOK__NORM_SPM) { /* that one leaves its pieces as
                                                                              they are */
        DSTOK_TRY(dstok__normalize(&z->text, z->normalizer, z->regex, (const uint8_t *)a->content, a->n,
                                   DSTOK__MAX_TOKEN_BYTES, b->err));
        if (z->text.len == 0) return refuse_empty(b, a);
        DSTOK_TRY(dstok__build_string(b, z->text.text, z->text.len, false, &row.text));
    }
    return dstok__build_row(b, DSTOK__S_NORMALIZED, &row, sizeof row);
}

/* Puts the rows of a section in the order of their texts; of equal texts the last one stays. */
static dstok_status sort_rows(dstok__build *b, dstok__section section) {
    dstok__buf *buf = &b->sections[section];
    dstok__added_row *rows = (dstok__added_row *)(void *)buf->data;
    size_t n = buf->len / sizeof *rows;
    dstok__added_set set;
    dstok__added_init(&set, b->al);
    dstok_status status = DSTOK_OK;
    for (size_t i = 0; i < n && status == DSTOK_OK; i++) {
        dstok__added_entry entry = {.text = b->sections[DSTOK__S_STRINGS].data + rows[i].text.at,
                                    .n = rows[i].text.n,
                                    .id = rows[i].id,
                                    .flags = rows[i].flags};
        status = dstok__added_put(&set, &entry);
    }
    if (status == DSTOK_OK) status = dstok__added_build(&set);
    for (size_t i = 0; status == DSTOK_OK && i < set.n; i++) {
        const dstok__added_entry *e = &set.entries[i];
        uint32_t at = (uint32_t)(e->text - b->sections[DSTOK__S_STRINGS].data);
        rows[i] = (dstok__added_row){{at, e->n}, e->id, e->flags};
    }
    if (status == DSTOK_OK) buf->len = set.n * sizeof *rows;
    dstok__added_free(&set);
    return status;
}

static dstok_status start_normalising(dstok__build *b, normalising *z) {
    DSTOK_TRY(dstok__normalizer_new(b->al, b->s->norms, b->s->n_norms, &z->normalizer, b->err));
    if (!dstok__normalizer_needs_regex(z->normalizer)) return DSTOK_OK;
    return dstok__regex_scratch_new(b->al, &z->regex);
}

static dstok_status fill_added(dstok__build *b) {
    normalising z = {.normalizer = NULL};
    dstok__normalized_init(&z.text, b->al);
    dstok_status status = start_normalising(b, &z);
    for (size_t i = 0; i < b->s->n_added && status == DSTOK_OK; i++) status = add_row(b, &z, &b->s->added[i]);
    dstok__normalized_free(&z.text);
    dstok__regex_scratch_free(z.regex);
    dstok__normalizer_free(z.normalizer);
    DSTOK_TRY(status);
    DSTOK_TRY(sort_rows(b, DSTOK__S_RAW));
    return sort_rows(b, DSTOK__S_NORMALIZED);
}

/* ---- operations, template, warnings ---- */

static dstok_status add_op(dstok__build *b, dstok__section section, dstok__op_row row, const char *pattern,
                           size_t pattern_n, const char *content, size_t content_n) {
    DSTOK_TRY(dstok__build_string(b, pattern, pattern_n, true, &row.pattern));
    DSTOK_TRY(dstok__build_string(b, content, content_n, true, &row.content));
    return dstok__build_row(b, section, &row, sizeof row);
}

static dstok_status fill_ops(dstok__build *b) {
    for (size_t i = 0; i < b->s->n_norms; i++) {
        const dstok__norm *n = &b->s->norms[i];
        dstok__op_row row = {.kind = (uint32_t)n->kind, .flags = n->flags};
        DSTOK_TRY(add_op(b, DSTOK__S_NORMS, row, n->pattern, n->pattern_n, n->content, n->content_n));
    }
    for (size_t i = 0; i < b->s->n_steps; i++) {
        const dstok__step *p = &b->s->steps[i];
        dstok__op_row row = {.kind = (uint32_t)p->kind,
                             .flags = (uint32_t)p->behavior | (uint32_t)p->invert << 8 |
                                      (uint32_t)p->dialect << 16,
                             .prepend = (uint32_t)p->prepend,
                             .length = p->length};
        DSTOK_TRY(add_op(b, DSTOK__S_STEPS, row, p->pattern, p->n, NULL, 0));
    }
    DSTOK_TRY(dstok__dec_plan_make(b->s->decs, b->s->n_decs, &b->head.plan, b->err));
    for (size_t i = 0; i < b->s->n_decs; i++) {
        const dstok__dec *d = &b->s->decs[i];
        if (d->kind != DSTOK__DEC_BPE) continue;
        if (d->pattern_n != b->s->suffix_n || memcmp(d->pattern, b->s->suffix, d->pattern_n) != 0)
            return dstok__fail(
                b->err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, 0,
                "not supported: decoder \"BPEDecoder\" whose suffix is not the end_of_word_suffix");
    }
    return DSTOK_OK;
}

static dstok_status fill_lists(dstok__build *b) {
    for (size_t i = 0; i < b->s->n_template; i++) {
        const dstok__template_item *item = &b->s->template_items[i];
        uint32_t row = item->is_text ? DSTOK__NO_ID : item->id;
        DSTOK_TRY(dstok__build_row(b, DSTOK__S_TEMPLATE, &row, sizeof row));
    }
    for (size_t i = 0; i < b->s->n_warnings; i++) {
        dstok__ref ref;
        DSTOK_TRY(dstok__build_string(b, b->s->warnings[i], strlen(b->s->warnings[i]), true, &ref));
        DSTOK_TRY(dstok__build_row(b, DSTOK__S_WARNINGS, &ref, sizeof ref));
    }
    DSTOK_TRY(dstok__build_string(b, b->s->prefix, b->s->prefix_n, true, &b->head.prefix));
    return dstok__build_string(b, b->s->suffix, b->s->suffix_n, true, &b->head.suffix);
}

/* ---- the head ---- */

static dstok_status start_head(dstok__build *b) {
    const dstok__spec *s = b->s;
    dstok__head *h = &b->head;
    bool plain = !s->char_atoms && s->prefix_n == 0 && s->suffix_n == 0;
    if (s->prefix_n > DSTOK__MAX_AFFIX || s->suffix_n > DSTOK__MAX_AFFIX)
        return dstok__fail(b->err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
                           "a prefix or suffix of subwords has more than %u bytes", DSTOK__MAX_AFFIX);
    memcpy(h->magic, DSTOK__MAGIC, sizeof h->magic);
    h->order = DSTOK__TABLES_ORDER;
    h->version = DSTOK__TABLES_VERSION;
    h->model = (uint32_t)s->model;
    h->unk_id = s->unk_id;
    h->options =
        (s->ignore_merges || s->model == DSTOK__MODEL_RANKS ? DSTOK__T_WHOLE_FIRST : 0) |
        (s->char_atoms ? DSTOK__T_CHAR_ATOMS : 0) |
        (s->byte_fallback && !plain ? (s->late_fallback ? DSTOK__T_LATE_FALLBACK : DSTOK__T_FALLBACK) : 0) |
        (s->fuse_unk ? DSTOK__T_FUSE_UNK : 0) | (s->trim_offsets ? DSTOK__T_TRIM : 0) |
        (s->trim_keeps_prefix ? DSTOK__T_TRIM_PREFIX : 0) | (plain ? DSTOK__T_PLAIN_ATOMS : 0);
    for (unsigned i = 0; i < 256; i++) h->byte_ids[i] = DSTOK__NO_ID;
    memcpy(h->fallback_ids, s->fallback_ids, sizeof h->fallback_ids);
    return DSTOK_OK;
}

/* Sizes of one element, by section. */
static const size_t sizes[DSTOK__N_SECTIONS] = DSTOK__SECTION_SIZES;

/* Does every token decode to just what the model matches? Then one list serves for both. */
static bool is_same(const dstok__buf *tokens, const dstok__buf *texts) {
    const dstok__ref *a = (const dstok__ref *)(const void *)tokens->data;
    const dstok__ref *b = (const dstok__ref *)(const void *)texts->data;
    if (tokens->len != texts->len) return false;
    for (size_t i = 0; i < texts->len / sizeof *b; i++) {
        if (b[i].n != 0 && (a[i].at != b[i].at || a[i].n != b[i].n)) return false;
    }
    return true;
}

/* The block: the head, then the sections one after another, each at a multiple of 8. */
static dstok_status assemble(dstok__build *b, uint8_t **block, size_t *n) {
    uint64_t at = sizeof b->head;
    for (unsigned i = 0; i < DSTOK__N_SECTIONS; i++) {
        if (i == DSTOK__S_TEXTS && is_same(&b->sections[DSTOK__S_TOKENS], &b->sections[i])) {
            b->head.sections[i] = b->head.sections[DSTOK__S_TOKENS];
            b->sections[i].len = 0;
            continue;
        }
        uint64_t align = i == DSTOK__S_PACKED ? 64 : 8; /* its lines are cache lines */
        at = (at + align - 1) & ~(align - 1);
        b->head.sections[i] = (dstok__place){at, b->sections[i].len / sizes[i]};
        at += b->sections[i].len;
    }
    b->head.size = at;
    uint8_t *out = dstok__alloc_large(b->al, at);
    if (out == NULL) return DSTOK_E_NOMEM;
    for (unsigned i = 0; i < DSTOK__N_SECTIONS; i++) {
        if (b->sections[i].len > 0)
            memcpy(out + b->head.sections[i].at, b->sections[i].data, b->sections[i].len);
    }
    memcpy(out, &b->head, sizeof b->head);
    dstok__head *head = (dstok__head *)(void *)out;
    head->checksum = dstok__hash(out + DSTOK__CHECKED_FROM, at - DSTOK__CHECKED_FROM, 0);
    *block = out;
    *n = at;
    return DSTOK_OK;
}

static dstok_status build_all(dstok__build *b) {
    DSTOK_TRY(start_head(b));
    DSTOK_TRY(fill_ids(b));
    DSTOK_TRY(fill_ops(b));
    DSTOK_TRY(fill_lists(b));
    DSTOK_TRY(map_texts(b));
    note_fallback(b);
    DSTOK_TRY(fill_added(b));
    DSTOK_TRY(dstok__build_words(b));
    b->head.seed = dstok__hash(b->sections[DSTOK__S_STRINGS].data, b->sections[DSTOK__S_STRINGS].len, 0);
    DSTOK_TRY(dstok__build_pairs(b));
    DSTOK_TRY(dstok__build_slots(b));
    return dstok__build_fast(b);
}

dstok_status dstok__tables_build(const dstok__spec *s, const dstok_alloc *al, uint8_t **block, size_t *n,
                                 dstok_error *err) {
    dstok__build b = {.s = s, .al = al, .err = err};
    for (unsigned i = 0; i < DSTOK__N_SECTIONS; i++)
        dstok__buf_init(&b.sections[i], al, i == DSTOK__S_STRINGS ? MAX_STRINGS : MAX_SECTION);
    dstok__map_init(&b.by_text, al);
    dstok_status status = build_all(&b);
    if (status == DSTOK_OK) status = assemble(&b, block, n);
    for (unsigned i = 0; i < DSTOK__N_SECTIONS; i++) dstok__buf_free(&b.sections[i]);
    dstok__map_free(&b.by_text);
    if (status == DSTOK_E_NOMEM)
        return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "out of memory while building the tokenizer");
    return status;
}
