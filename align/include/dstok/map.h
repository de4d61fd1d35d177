/* SPDX-License-Identifier: MIT */
/* The map between a text and its tokens: from a byte, a character, a word or a sentence to the tokens that hold
 * it, and back.
 *
 * The way from a token to its text is spans[i] itself. The other ways are searches in that same array, which
 * stays the caller's: a map copies neither text nor spans. It works with what encoders give (spans whose begins
 * and ends never decrease), and with all that this allows:
 *   overlaps    tokens that share bytes (pieces of one changed character) are all named
 *   zero width  tokens without text (a template's, a dummy prefix) stand between two bytes. They count among the
 *               tokens of a range only between two that hold bytes of it; an empty range names those that stand
 *               there
 *   gaps        bytes that no token holds (dropped by the pattern) have no tokens: the answer is an empty range
 *               that stands where they would */
#ifndef DSTOK_MAP_H
#define DSTOK_MAP_H

#include <dstok/align.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A kind beside DSTOK_BREAK_*: code points, a maximal ill-formed subpart being one. */
#define DSTOK_MAP_CHAR 5

/** Parts of a text by number, and the tokens of parts and of byte ranges. Immutable once made. */
typedef struct dstok_map dstok_map;

/** How to make a map.
 *  alloc  memory source; NULL: malloc. Copied
 *  kinds  which parts can be asked for by number: 1u << DSTOK_BREAK_*, 1u << DSTOK_MAP_CHAR, or'ed. Each takes 4
 *         bytes a part; none: byte ranges alone, and no memory for them */
typedef struct dstok_map_options {
    size_t struct_size;
    const dstok_alloc *alloc;
    uint32_t kinds;
} dstok_map_options;
#define DSTOK_MAP_OPTIONS_INIT                                                                               \
    { sizeof(dstok_map_options), NULL, 0 }

/** Make a map.
 *  text   [in]  shape (len,); must stay as it is while the map is in use
 *  spans  [in]  byte spans of the tokens, shape (n,), as an encoder gave them; must stay as they are, too
 *  out    [out] untouched on failure
 *  Returns: DSTOK_OK; E_RANGE (a span ends before it begins or behind the text, or begins or ends before the
 *      one before it does; err->offset is the index of the token); E_INVAL (struct_size, unknown kinds, NULL);
 *      E_LIMIT (text longer than DSTOK_MAP_MAX_TEXT); E_NOMEM.
 *  Owns: out, to be given to dstok_map_free; text and spans stay the caller's.   Threads: safe.
 *  Cost: O(n), and O(len) for each kind.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_map_new(const void *text, size_t len, const dstok_span *spans,
                                                     size_t n, const dstok_map_options *options,
                                                     dstok_map **out, dstok_error *err);
#define DSTOK_MAP_MAX_TEXT ((size_t)0x7FFFFFFF)

/** Free a map; NULL allowed.   Since: 0.1 */
DSTOK_API void dstok_map_free(dstok_map *map);

/** The tokens that hold bytes of a range: [begin, end) of their indices, as described above. What lies behind the
 *  end of the text is left out; a range that ends before it begins is empty.
 *  Threads: safe.   Cost: O(log n), and tokens of zero width at the ends of the answer.   Since: 0.1 */
DSTOK_API dstok_span dstok_map_tokens(const dstok_map *map, dstok_span bytes);

/** How many parts of a kind the text has; 0 for a kind the map was not made with.   Threads: safe.
 *  Cost: O(1).   Since: 0.1 */
DSTOK_API size_t dstok_map_count(const dstok_map *map, int kind);

/** The bytes of a part by its number: the i-th character, word, sentence, ...
 *  bytes  [out] its range; dstok_map_tokens has its tokens
 *  Returns: DSTOK_OK; E_RANGE (there is no such part); E_STATE (a kind that the map was not made with).
 *  Threads: safe.   Cost: O(1).   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_map_part(const dstok_map *map, int kind, size_t i,
                                                      dstok_span *bytes);

/** The number of the part that holds a byte; dstok_map_count at the end of the text and behind it.
 *  Threads: safe.   Cost: O(log parts).   Since: 0.1 */
DSTOK_API size_t dstok_map_at(const dstok_map *map, int kind, uint64_t byte);

/** How many tokens a text takes for what a reader sees in it.
 *  n_tokens     tokens that hold text
 *  n_chars      characters (code points)
 *  n_words      words of UAX #29 with a letter, digit or number in them; each Chinese character is one
 *  n_in_words   sum over the words of the tokens that hold bytes of each
 *  n_fragmented words that lie in more than one token
 *  n_partial    tokens that hold part of a character */
typedef struct dstok_redundancy {
    uint64_t n_tokens, n_chars, n_words, n_in_words, n_fragmented, n_partial;
} dstok_redundancy;

/** Count what dstok_redundancy says. The map may be of any kinds.
 *  Threads: safe.   Cost: O(len + n + words log n).   Since: 0.1 */
DSTOK_API void dstok_map_redundancy(const dstok_map *map, dstok_redundancy *out);

#ifdef __cplusplus
}
#endif
#endif
