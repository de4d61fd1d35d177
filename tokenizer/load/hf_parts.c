/* SPDX-License-Identifier: MIT */
/* Components of tokenizer.json: walking Sequences, and the members that several kinds of component have. */
#include "hf.h"

#include <string.h>

#include "../text/utf8.h"

dstok_status dstok__hf_unsupported(dstok__hf *h, size_t at, const char *what, const char *type) {
    return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                            "not supported: %s type \"%s\" is unknown", what, type);
}

/* The levels of Sequences that the walk is inside of; the JSON check has bounded their number. */
typedef struct walk {
    const char *what, *list;
    dstok__json_iter levels[DSTOK__MAX_JSON_DEPTH];
    size_t depth;
} walk;

/* One component: the parts of a Sequence are put on the stack, others are handed on. */
static dstok_status visit(dstok__hf *h, walk *w, size_t at, dstok__hf_part_fn *part) {
    dstok__field f[] = {{"type", 0}, {w->list, 0}};
    dstok__quoted type;
    const char *text;
    size_t n;
    DSTOK_TRY(dstok__read_fields(&h->r, at, w->what, f, 2));
    if (f[0].at == 0)
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, at, h->r.err, "a %s has no \"type\"", w->what);
    DSTOK_TRY(dstok__read_string(&h->r, at, f[0].at, "\"type\"", &text, &n));
    DSTOK__QUOTE(text, n, type);
    if (strcmp(type, "Sequence") != 0) return part(h, type, at);
    return dstok__read_array(&h->r, at, f[1].at, w->list, &w->levels[w->depth++]);
}

dstok_status dstok__hf_parts(dstok__hf *h, size_t at, const char *what, const char *list,
                             dstok__hf_part_fn *part) {
    walk w = {.what = what, .list = list};
    if (at == 0) return DSTOK_OK;
    DSTOK_TRY(visit(h, &w, at, part));
    while (w.depth > 0) {
        dstok__json_iter *it = &w.levels[w.depth - 1];
        if (!dstok__json_next(it)) {
            w.depth--;
        } else {
            DSTOK_TRY(visit(h, &w, it->value, part));
        }
    }
    return DSTOK_OK;
}

/* ---- members ---- */

dstok_status dstok__hf_pattern(dstok__hf *h, size_t owner, size_t at, bool *is_regex, const char **text,
                               size_t *n) {
    dstok__field f[] = {{"Regex", 0}, {"String", 0}};
    if (at == 0) return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, owner, h->r.err, "\"pattern\" is missing");
    DSTOK_TRY(dstok__read_fields(&h->r, at, "\"pattern\"", f, 2));
    if ((f[0].at == 0) == (f[1].at == 0))
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, at, h->r.err,
                                "\"pattern\" must hold either \"Regex\" or \"String\"");
    *is_regex = f[0].at != 0;
    DSTOK_TRY(dstok__read_string(&h->r, at, f[0].at + f[1].at, "the pattern", text, n));
    if (*n == 0)
        return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                                "not supported: an empty pattern");
    return dstok__spec_copy(h->r.s, *text, *n, text, h->r.err);
}

dstok_status dstok__hf_char(dstok__hf *h, size_t owner, size_t at, const char *what, const char **text,
                            size_t *n) {
    size_t width = 0;
    DSTOK_TRY(dstok__read_string(&h->r, owner, at, what, text, n));
    if (*n > 0) (void)dstok__utf8_get((const uint8_t *)*text, &width);
    if (width != *n || *n == 0)
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, at, h->r.err, "%s must be one character", what);
    return dstok__spec_copy(h->r.s, *text, *n, text, h->r.err);
}

dstok_status dstok__hf_number(dstok__hf *h, size_t at, const char *what, uint32_t *value) {
    if (at == 0) return DSTOK_OK;
    if (dstok__json_kind_at(&h->doc, at) == DSTOK__JSON_NUMBER &&
        dstok__json_uint(&h->doc, at, UINT32_MAX, value))
        return DSTOK_OK;
    return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, at, h->r.err,
                            "%s must be a whole number from 0 to 4294967295", what);
}
