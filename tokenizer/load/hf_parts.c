/* SPDX-License-Identifier: MIT */
/* Components of tokenizer.json: walking Sequences, and the two kinds that need nothing more: normalizer and decoder. */
#include "hf.h"

#include <string.h>

dstok_status dstok__hf_unsupported(dstok__hf *h, size_t at, const char *what, const char *type,
                                   const char *const *later) {
    for (; *later != NULL; later++) {
        if (strcmp(*later, type) == 0)
            return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                                    "not supported yet: %s \"%s\"", what, type);
    }
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

/* ---- normalizer ---- */

static const char *const later_normalizers[] = {
    "BertNormalizer", "Bert",        "Strip",   "StripAccents", "Nmt",
    "Replace",        "Precompiled", "Prepend", "ByteLevel",    NULL};

static dstok_status add_normalizer(dstok__hf *h, const char *type, size_t at) {
    static const char *const names[] = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase"};
    static const dstok__norm_kind kinds[] = {DSTOK__NORM_NFC, DSTOK__NORM_NFD, DSTOK__NORM_NFKC,
                                             DSTOK__NORM_NFKD, DSTOK__NORM_LOWERCASE};
    dstok__spec *s = h->r.s;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(type, names[i]) != 0) continue;
        if (s->n_norms == DSTOK__MAX_NORMS)
            return dstok__json_fail(&h->doc, DSTOK_E_LIMIT, at, h->r.err, "more than %d normalizers",
                                    DSTOK__MAX_NORMS);
        s->norms[s->n_norms++] = kinds[i];
        return DSTOK_OK;
    }
    return dstok__hf_unsupported(h, at, "normalizer", type, later_normalizers);
}

dstok_status dstok__hf_normalizer(dstok__hf *h, size_t at) {
    return dstok__hf_parts(h, at, "normalizer", "normalizers", add_normalizer);
}

/* ---- decoder ---- */

static const char *const later_decoders[] = {"BPEDecoder", "WordPiece", "Metaspace",    "CTC", "Replace",
                                             "Fuse",       "Strip",     "ByteFallback", NULL};

static dstok_status check_decoder(dstok__hf *h, const char *type, size_t at) {
    if (strcmp(type, "ByteLevel") == 0) return DSTOK_OK;
    return dstok__hf_unsupported(h, at, "decoder", type, later_decoders);
}

dstok_status dstok__hf_decoder(dstok__hf *h, size_t at) {
    return dstok__hf_parts(h, at, "decoder", "decoders", check_decoder);
}
