/* SPDX-License-Identifier: MIT */
/* Texts cut into chunks of at most so many tokens, at the ends of sentences, paragraphs or lines. Nothing is lost and
 * nothing is changed: chunks without overlap lie one behind the other and are the text.
 *
 *     static int put(void *context, const dstok_chunk *chunk) {
 *         return fwrite(chunk->text, 1, chunk->text_len, context) < chunk->text_len;
 *     }
 *
 *     dstok_chunker *chunker;
 *     dstok_chunker_options options = DSTOK_CHUNKER_OPTIONS_INIT;
 *     options.max_tokens = 65536;
 *     int status = dstok_chunker_new(tok, &options, put, stdout, &chunker, NULL);
 *     while (status == DSTOK_OK && (n = fread(bytes, 1, sizeof bytes, file)) > 0)
 *         status = dstok_chunker_feed(chunker, bytes, n, NULL);
 *     if (status == DSTOK_OK) status = dstok_chunker_finish(chunker, NULL);
 *
 * docs/chunking.md has the rules for borders, and how often they are wrong. */
#ifndef DSTOK_CHUNKER_H
#define DSTOK_CHUNKER_H

#include <dstok/base.h>
#include <dstok/tokenizer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Cuts texts, one after the other. Chunks depend on the text, the vocabulary and the options, not on how the
 *  text is cut into feeds, nor on what was cut before. Memory depends on the limit, not on the text, but for what a
 *  stream (dstok/stream.h) cannot break: docs/chunking.md. */
typedef struct dstok_chunker dstok_chunker;

/** Where a chunk ends, the best borders last. */
enum {
    DSTOK_BORDER_TOKEN = 1, /**< within a grapheme cluster that has more tokens than the limit; where a single
                                  character has, the chunk has ids and no bytes, and the last one of it the bytes */
    DSTOK_BORDER_GRAPHEME = 2, /**< within a word */
    DSTOK_BORDER_BLANK = 3,
    DSTOK_BORDER_CLAUSE = 4, /**< behind a comma, semicolon or colon */
    DSTOK_BORDER_LINE = 5,   /**< behind a line break */
    DSTOK_BORDER_WEAK =
        6, /**< a sentence of UAX #29 that may not end there: behind what may be an abbreviation, or
                                  within quotes */
    DSTOK_BORDER_SENTENCE = 7,
    DSTOK_BORDER_ENDED_LINE = 8, /**< behind a line break that follows the end of a sentence */
    DSTOK_BORDER_BLANK_LINE = 9,
    DSTOK_BORDER_FENCE = 10,   /**< behind a fenced block of Markdown */
    DSTOK_BORDER_HEADING = 11, /**< before a heading, or a new page */
    DSTOK_BORDER_END = 12      /**< the end of the text */
};

/** "token", "grapheme", "blank", "clause", "line", "weak-sentence", "sentence", "ended-line", "blank-line", "fence",
 *  "heading", "end"; NULL for other numbers.   Owns: static.   Threads: safe.   Since: 0.1 */
DSTOK_API const char *dstok_border_name(int border);

/** Which borders are wanted. Where a chunk has none of them, the next best is taken: dstok_chunk.forced. */
enum {
    DSTOK_CHUNK_SENTENCE = 0,  /**< ends of sentences, or what is above them: lines, paragraphs, headings */
    DSTOK_CHUNK_PARAGRAPH = 1, /**< blank lines and headings; then lines that end with a sentence */
    DSTOK_CHUNK_LINE = 2,
    DSTOK_CHUNK_TOKEN = 3 /**< as many tokens as fit, but no part of a grapheme cluster */
};

/** Which ids a chunk has. */
enum {
    DSTOK_CHUNK_SLICE =
        0, /**< those it has in the whole text: all chunks together are its ids. Borders that stand
                                    inside a token are passed over */
    DSTOK_CHUNK_RETOKENIZE = 1 /**< those of its own text */
};

/** How a text is read. */
enum {
    DSTOK_CHUNK_AUTO = 0, /**< as its first 16 KiB look */
    DSTOK_CHUNK_PROSE = 1,
    DSTOK_CHUNK_MARKDOWN = 2, /**< headings; fenced blocks are kept whole if they fit */
    DSTOK_CHUNK_CODE = 3      /**< blank lines between blocks, then lines that stand least deep */
};

#define DSTOK_CHUNK_MIN_LIMIT 16u
#define DSTOK_CHUNK_MAX_LIMIT 0x1000000u

/** How to cut. Zero is the default of every field but max_tokens.
 *  max_tokens    tokens of a chunk, those of the template counted: DSTOK_CHUNK_MIN_LIMIT to DSTOK_CHUNK_MAX_LIMIT
 *  min_tokens    a chunk has at least so many, if the text has, and if no sentence, or what else is wanted, has to be
 *      cut for it; at most max_tokens / 2
 *  border        DSTOK_CHUNK_SENTENCE ...
 *  ids           DSTOK_CHUNK_SLICE or DSTOK_CHUNK_RETOKENIZE
 *  mode          DSTOK_CHUNK_AUTO ...
 *  balance       non-zero: the last two chunks of a text are made about equal
 *  overlap       tokens at the end of a chunk that the next one begins with, at most; below max_tokens / 2. The
 *      overlap begins at the end of a sentence or line, so that it may be shorter, or none
 *  overlap_sentences  the same in sentences (and lines); not both. They take at most max_tokens / 4 tokens
 *  encode        how the text is encoded, read during the call; NULL: the defaults. With add_special every chunk
 *      has the template. span_style, ids_only and max_tokens must be 0 */
typedef struct dstok_chunker_options {
    size_t struct_size;
    size_t max_tokens;
    size_t min_tokens;
    int border;
    int ids;
    int mode;
    int balance;
    size_t overlap;
    size_t overlap_sentences;
    const dstok_encode_options *encode;
} dstok_chunker_options;
#define DSTOK_CHUNKER_OPTIONS_INIT                                                                           \
    { sizeof(dstok_chunker_options), 65536, 0, 0, 0, 0, 0, 0, 0, NULL }

/** A chunk. Pointers are valid during the call it is given to.
 *  document  number of the text, from 0
 *  number    of the chunk in it, from 0
 *  bytes     where it stands in its text
 *  chars     the same in code points; an ill-formed subpart counts as one
 *  tokens    the same in tokens of the text, those of templates not counted (DSTOK_CHUNK_RETOKENIZE: in the ids of all
 *      its chunks, one behind the other)
 *  n_overlap bytes at its begin that the chunk before has, too
 *  border    DSTOK_BORDER_* at its end
 *  forced    non-zero: no border that was wanted is in the chunk, and it may end within a sentence
 *  ids, spans, n  its tokens, with the template; spans are byte ranges of the text of all chunks (those of a template
 *      are empty)
 *  text, text_len its bytes */
typedef struct dstok_chunk {
    uint64_t document;
    uint64_t number;
    dstok_span bytes;
    dstok_span chars;
    dstok_span tokens;
    uint64_t n_overlap;
    int border;
    int forced;
    const uint32_t *ids;
    const dstok_span *spans;
    size_t n;
    const void *text;
    size_t text_len;
} dstok_chunk;

/** Takes a chunk. Non-zero: stop, the call that made it answers DSTOK_E_CANCELED. It must not call the chunker. */
typedef int dstok_chunk_sink(void *context, const dstok_chunk *chunk);

/** Make a chunker. tok must outlive it.
 *  options  [in]  not NULL
 *  sink     [in]  called for each chunk, in order, by feed and finish
 *  context  [in]  handed to sink
 *  out      [out] untouched on failure
 *  Returns: DSTOK_OK; E_INVAL (NULL, struct_size, options); E_LIMIT (the template leaves no room); E_UNSUPPORTED (as
 *      the encoder says); E_NOMEM.
 *  Owns: out, to be given to dstok_chunker_free.   Threads: safe.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_chunker_new(const dstok_tokenizer *tok,
                                                         const dstok_chunker_options *options,
                                                         dstok_chunk_sink *sink, void *context,
                                                         dstok_chunker **out, dstok_error *err);

/** Free a chunker; NULL allowed.   Since: 0.1 */
DSTOK_API void dstok_chunker_free(dstok_chunker *chunker);

/** Go on with the text; chunks that are final now are given to the sink, also those before an error.
 *  bytes  [in]  shape (len,); may end anywhere; NULL allowed with len = 0
 *  Returns: DSTOK_OK; E_CANCELED; E_STATE (after a failure: dstok_chunker_reset first); E_INVAL; E_NOMEM; E_LIMIT (the
 *      text is too long; with DSTOK_CHUNK_RETOKENIZE: a character has more tokens than max_tokens); what
 *      dstok_encode_view returns, err->offset in bytes of the whole text.
 *  Threads: one call at a time.   Cost: as dstok_encode for the bytes; finding borders adds little (docs/chunking.md).
 *  Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_chunker_feed(dstok_chunker *chunker, const void *bytes,
                                                          size_t len, dstok_error *err);

/** End the text: the rest of its chunks. A text of no bytes has none. The next feed begins the next text.
 *  Returns, Threads: as dstok_chunker_feed.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_chunker_finish(dstok_chunker *chunker, dstok_error *err);

/** Drop the text: the next feed begins a new one, also after a failure. It has the number of the one that is dropped,
 *  if that was not finished.   Since: 0.1 */
DSTOK_API void dstok_chunker_reset(dstok_chunker *chunker);

#ifdef __cplusplus
}
#endif
#endif
