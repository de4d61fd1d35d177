/* SPDX-License-Identifier: MIT */
/* Normalisers with an edit list: the new text, and for each changed stretch the source bytes it came from. */
#ifndef DSTOK_TEXT_NORMALIZE_H
#define DSTOK_TEXT_NORMALIZE_H

#include "../base/base.h"
#include "../pretok/regex.h"

typedef enum dstok__norm_kind {
    DSTOK__NORM_NFC,
    DSTOK__NORM_NFD,
    DSTOK__NORM_NFKC,
    DSTOK__NORM_NFKD,
    DSTOK__NORM_LOWERCASE,
    DSTOK__NORM_STRIP,         /* blanks off the ends: flags DSTOK__STRIP_* */
    DSTOK__NORM_STRIP_ACCENTS, /* takes away marks */
    DSTOK__NORM_REPLACE,       /* pattern (a plain string) by content, everywhere */
    DSTOK__NORM_REPLACE_REGEX, /* pattern (Oniguruma) by content, everywhere */
    DSTOK__NORM_PREPEND,       /* content before a text that is not empty */
    DSTOK__NORM_NMT,
    DSTOK__NORM_BERT,        /* flags DSTOK__BERT_* */
    DSTOK__NORM_BYTE_LEVEL,  /* each byte becomes its byte-level character */
    DSTOK__NORM_PRECOMPILED, /* pattern = a SentencePiece character map, applied as Hugging Face does */
    DSTOK__NORM_SPM /* SentencePiece's own normaliser: pattern = character map (n = 0: identity), content =
                                the user-defined pieces, each with a NUL behind it, which stay as they are;
                                flags DSTOK__SPM_* */
} dstok__norm_kind;

#define DSTOK__STRIP_LEFT         1u
#define DSTOK__STRIP_RIGHT        2u
#define DSTOK__BERT_CLEAN         1u
#define DSTOK__BERT_CHINESE       2u
#define DSTOK__BERT_STRIP_ACCENTS 4u
#define DSTOK__BERT_LOWERCASE     8u
#define DSTOK__SPM_DUMMY_PREFIX   1u /* add_dummy_prefix */
#define DSTOK__SPM_REMOVE_BLANKS  2u /* remove_extra_whitespaces */
#define DSTOK__SPM_ESCAPE         4u /* escape_whitespaces: blank -> U+2581 */
#define DSTOK__SPM_SUFFIX         8u /* treat_whitespace_as_suffix */

/* One operation as a vocabulary file states it. */
typedef struct dstok__norm {
    dstok__norm_kind kind;
    unsigned flags;
    const char *pattern, *content;
    size_t pattern_n, content_n;
} dstok__norm;

#define DSTOK__MAX_NORMS 16

/* A list of operations, checked and compiled; immutable, shared by threads. */
typedef struct dstok__normalizer dstok__normalizer;

/* The strings of ops are not copied and must outlive the normalizer. *out = NULL when n is 0 (NULL is a valid
 * normalizer
 * that changes nothing). E_FORMAT (a broken character map), E_UNSUPPORTED (a pattern), E_LIMIT, E_NOMEM. */
dstok_status dstok__normalizer_new(const dstok_alloc *al, const dstok__norm *ops, size_t n,
                                   dstok__normalizer **out, dstok_error *err);
void dstok__normalizer_free(dstok__normalizer *z); /* NULL allowed */
bool dstok__normalizer_needs_regex(
    const dstok__normalizer *z); /* a regex scratch must be given to dstok__normalize */

/* Is there one code point that cp becomes wherever it stands, and do the texts before and behind it become the same
 * whether they are normalised with it, apart or together? *image  [out] that one. Said only of a cp whose neighbours
 * are such, too. Where it is true of the two characters at a place and the next one, a text may be normalised in
 * two parts there, the second of which goes_on (norm_image.c). */
bool dstok__normalizer_image(const dstok__normalizer *z, uint32_t cp, uint32_t *image);

/* Upper bound of the result for len bytes of text; SIZE_MAX when it does not fit. Never above len times that
 * of one byte, so that this product holds for a text that is normalised in pieces, too. */
size_t dstok__normalizer_bound(const dstok__normalizer *z, size_t len);

/* One edit: normalised bytes [out, out + out_n) came from source bytes [src, src + src_n) (their hull). Edits
 * are in order of out and of src and never overlap in out; between edits bytes correspond one to one. out_n
 * or src_n may be 0 (deleted or inserted text). */
typedef struct dstok__edit {
    size_t out, src;
    uint32_t out_n, src_n;
} dstok__edit;

/* A text after normalisation. When nothing changed, text points at the source and there are no edits. */
typedef struct dstok__normalized {
    const uint8_t *text;
    size_t len;
    dstok__buf buf, spare; /* the storage, reused from call to call */
    dstok__edit *edits;
    size_t n_edits, cap_edits;
    dstok__edit *later; /* the edits of the kind being applied, before they join the others */
    size_t n_later, cap_later;
    struct dstok__norm_char *chars; /* the characters being reordered and composed */
    size_t cap_chars;
    bool want_from; /* set by the caller before dstok__normalize: keep from[] as well (hf spans) */
    bool goes_on;   /* ... too: the text goes on from one before it, so that nothing is put before it */
    /* shape (len,): for each normalised byte the source byte whose place it has in Hugging Face's
     * NormalizedString (NORM_SPM: in sentencepiece, by characters); DSTOK__NOWHERE: its (0, 0) */
    uint32_t *from, *spare_from;
    size_t cap_from, cap_spare_from;
} dstok__normalized;

#define DSTOK__NOWHERE UINT32_MAX

void dstok__normalized_init(dstok__normalized *n, const dstok_alloc *al);
void dstok__normalized_free(dstok__normalized *n);

/* Applies the operations one after another to src[0, len), valid UTF-8, with the reference normalisers' view:
 * Unicode 9.0 for the normal forms, younger code points are left alone. Each normalised character has its own
 * edit where it changed, so that a span is the hull of exactly the characters it came from; reordered marks
 * share one edit. Inserted text (a prefix) has a source range of zero width. scratch may be NULL unless
 * dstok__normalizer_needs_regex(z). E_LIMIT when the result passes max bytes or a regex limit is met (err
 * filled); E_NOMEM. After a failure the result is unspecified, n can be used again. */
dstok_status dstok__normalize(dstok__normalized *n, const dstok__normalizer *z, dstok__regex_scratch *scratch,
                              const uint8_t *src, size_t len, size_t max, dstok_error *err);

/* For pretokenizers that rewrite a piece (pretok.c): src[0, len) with each blank replaced by text (NULL:
 * blanks stay), after putting prefix (NULL: none) before it. An edit and from[] as Hugging Face's replace and
 * prepend give them. */
dstok_status dstok__normalize_piece(dstok__normalized *n, const uint8_t *src, size_t len, const char *blank,
                                    const char *prefix, size_t max);

/* A cursor that maps growing normalised positions to source ranges. */
typedef struct dstok__map_cursor {
    const dstok__normalized *n;
    size_t edit;   /* first edit that may still matter */
    int64_t shift; /* source - normalised, between edits */
} dstok__map_cursor;

void dstok__map_cursor_init(dstok__map_cursor *c, const dstok__normalized *n);

/* To where calls up to begin = pos would have brought it: O(log edits). */
void dstok__map_cursor_seek(dstok__map_cursor *c, size_t pos);

/* The source range of normalised bytes [begin, end), begin not smaller than in the call before. A range that
 * touches an edit takes that edit's whole source hull; a range inside one edit (or holding half a character
 * of it) too. An empty range maps to an empty one (inside an edit: at the begin of its hull). Adjacent ranges
 * that cut between edits give adjacent source ranges. */
dstok_span dstok__map_range(dstok__map_cursor *c, size_t begin, size_t end);

/* As dstok__map_range, for any order of calls: O(log edits). */
dstok_span dstok__map_range_at(const dstok__normalized *n, size_t begin, size_t end);

/* Are there source bytes that nothing was made of? */
bool dstok__map_drops(const dstok__normalized *n);

#endif
