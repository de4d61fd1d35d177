/* SPDX-License-Identifier: MIT */
/* Inside the normaliser room: operations ready to run, one of them at work on a text, how it writes. */
#ifndef DSTOK_TEXT_NORM_H
#define DSTOK_TEXT_NORM_H

#include "../base/base.h"
#include "added.h"
#include "charsmap.h"
#include "normalize.h"

#include <string.h>

/* One operation at work on n->text. The result goes to n->spare, its edits to n->later. */
typedef struct dstok__norm_pass {
    dstok__normalized *n;
    const uint8_t *src;
    size_t len;
    size_t copied;      /* what stands before this in src is in n->spare, changed or not */
    size_t placed;      /* ... has its n->spare_from */
    size_t n_from;      /* filled of n->spare_from */
    bool places_itself; /* dstok__norm_edit leaves n->spare_from to the operation */
    dstok__regex_scratch *scratch;
    dstok_error *err;
} dstok__norm_pass;

typedef struct dstok__norm_op dstok__norm_op;
typedef dstok_status dstok__norm_fn(dstok__norm_pass *p, const dstok__norm_op *op);

/* An operation ready to run: a dstok__norm, or a part of one (Bert's are five). */
struct dstok__norm_op {
    dstok__norm_fn *apply;
    dstok__norm norm;
    dstok__regex *regex;     /* REPLACE_REGEX */
    uint32_t *back;          /* REPLACE, shape (pattern_n,): see dstok__norm_back */
    dstok__charsmap map;     /* PRECOMPILED, SPM */
    dstok__added_set pieces; /* SPM: the user-defined pieces */
};

/* ---- writing (norm_edit.c) ---- */

/* Notes that src[begin, end) becomes the out_n bytes that the caller appends to n->spare now, after
 * copying what precedes. place: the source byte of this pass whose place they take;
 * DSTOK__NORM_NO_PLACE: nobody's. */
#define DSTOK__NORM_NO_PLACE SIZE_MAX
dstok_status dstok__norm_edit(dstok__norm_pass *p, size_t begin, size_t end, size_t out_n, size_t place);

/* The same, and appends bytes[0, out_n). */
dstok_status dstok__norm_put(dstok__norm_pass *p, size_t begin, size_t end, const void *bytes, size_t out_n,
                             size_t place);

/* An edit whose text and places are written by other means. */
dstok_status dstok__norm_push_edit(dstok__normalized *n, size_t out, size_t out_n, size_t src, size_t src_n);

/* Copies what stands before pos in src to n->spare. */
dstok_status dstok__norm_copy(dstok__norm_pass *p, size_t pos);

/* The places of src[placed, pos) go on unchanged; does nothing unless they are wanted. */
dstok_status dstok__norm_keep_places(dstok__norm_pass *p, size_t pos);

/* n bytes of the result take the place of source byte `place`; does nothing unless places are wanted. */
dstok_status dstok__norm_place(dstok__norm_pass *p, size_t place, size_t n);

/* The reference walks over the old characters while it writes the new ones, and each new one tells by
 * `change` how far: 0 replaces the next old one, -k also takes away k more behind it, 1 adds one and takes
 * the place of the byte before. Writes the place of a character of `size` bytes; *at is where the walk stands
 * in src. */
dstok_status dstok__norm_walk(dstok__norm_pass *p, size_t *at, size_t size, int32_t change);

/* Runs one operation on n->text. */
dstok_status dstok__norm_run(dstok__normalized *n, const dstok__norm_op *op, dstok__regex_scratch *scratch,
                             dstok_error *err);

/* dstok__normalizer_image for one operation (norm_image.c). */
bool dstok__norm_image(const dstok__norm_op *op, uint32_t cp, uint32_t *image);

/* The first byte at or after pos that is not ASCII. */
static inline size_t dstok__norm_ascii_end(const uint8_t *s, size_t len, size_t pos) {
    uint64_t block;
    for (; len - pos >= sizeof block; pos += sizeof block) {
        memcpy(&block, s + pos, sizeof block);
        if ((block & 0x8080808080808080u) != 0) break;
    }
    while (pos < len && s[pos] < 0x80) pos++;
    return pos;
}

/* ---- operations ---- */

dstok__norm_fn dstok__norm_nfc, dstok__norm_nfd, dstok__norm_nfkc, dstok__norm_nfkd;       /* norm_forms.c */
dstok__norm_fn dstok__norm_lowercase, dstok__norm_strip, dstok__norm_strip_accents;        /* norm_chars.c */
dstok__norm_fn dstok__norm_nmt, dstok__norm_byte_level;                                    /* norm_chars.c */
dstok__norm_fn dstok__norm_bert_clean, dstok__norm_bert_chinese, dstok__norm_bert_accents; /* norm_chars.c */
dstok__norm_fn dstok__norm_replace, dstok__norm_replace_regex, dstok__norm_prepend; /* norm_replace.c */
dstok__norm_fn dstok__norm_precompiled;                                             /* norm_precompiled.c */
dstok__norm_fn dstok__norm_spm;                                                     /* norm_spm.c */

/* Frees n->chars. */
void dstok__norm_free_chars(dstok__normalized *n);

/* For a search that never goes back in the text: back[i] is the length of the longest proper prefix of
 * pattern that pattern[0, i] ends with. */
void dstok__norm_back(const char *pattern, size_t n, uint32_t *back);

/* The end of the first grapheme cluster of s[0, len), len > 0, by the rules of Unicode 17.0
 * (norm_grapheme.c). */
size_t dstok__grapheme_end(const uint8_t *s, size_t len);

#endif
