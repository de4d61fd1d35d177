/* SPDX-License-Identifier: MIT */
/* Tokenizers, encoders, decoding and counting: the calls most programs need.  Pointers must not be NULL but
 * where the text allows it. Calls that load or encode, dstok_encoder_new and dstok_tokenizer_info answer
 * E_INVAL to a NULL object, path, data or text (a text of 0 bytes may be NULL); the others do not look.
 * Structures that begin with struct_size are made with their _INIT macro. A struct_size below that of the
 * first version of the structure (0, say) is E_INVAL. Of a longer one than the library knows, what it knows
 * counts. */
#ifndef DSTOK_TOKENIZER_H
#define DSTOK_TOKENIZER_H

#include <dstok/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A vocabulary ready for use: immutable after loading, shared by any number of threads. */
typedef struct dstok_tokenizer dstok_tokenizer;

/** One thread's scratch memory, and a cache of pieces of text met before. Results never depend on what an encoder did
 *  before. */
typedef struct dstok_encoder dstok_encoder;

/* ------------------------------------------------------------------------------------------- loading */

/** Always run pretokenizer patterns through PCRE2, also where a scanner of ours knows them (slower, equal
 *  ids). */
#define DSTOK_LOAD_NO_SCANNER 1u

/** How to load. Zero is the default of every field; set struct_size with DSTOK_LOAD_OPTIONS_INIT.
 *  alloc    memory source of the tokenizer and of encoders made from it; NULL: malloc. Copied.
 *  pattern  for a bare .tiktoken file: a name ("cl100k_base", ...: dstok_pattern_name) or a regular
 *      expression; E_INVAL for all other files, and for the built-in vocabulary
 *  flags    DSTOK_LOAD_*; E_INVAL for others */
typedef struct dstok_load_options {
    size_t struct_size;
    const dstok_alloc *alloc;
    const char *pattern;
    uint32_t flags;
} dstok_load_options;
#define DSTOK_LOAD_OPTIONS_INIT                                                                              \
    { sizeof(dstok_load_options), NULL, NULL, 0 }

/** Load a vocabulary file: Hugging Face tokenizer.json, a folder that holds one (with
 *  tokenizer_config.json), a .tiktoken rank file (with X.tiktoken.meta.json beside it, if any), Mistral's
 *  tekken.json, a SentencePiece .model file (BPE), the metadata of a GGUF file, or a compiled .dstok file. The
 *  format is told by content. Beside a file named tokenizer.json, tokenizer_config.json and
 *  chat_template.jinja count as if the folder was named. A .dstok file is mapped, not read: it must not be
 *  truncated or written to while the tokenizer lives (replace it by renaming, as dstok compile does).
 *  path     [in]  NUL-terminated file name
 *  options  [in]  NULL = defaults
 *  out      [out] the tokenizer; untouched on failure
 *  Returns: DSTOK_OK; E_IO (text names the file and the system's reason); E_FORMAT, E_UNSUPPORTED,
 *      E_DUPLICATE, E_TRUNCATED, E_UTF8 (offset and line in the file); E_LIMIT; E_NOMEM; E_VERSION;
 *      E_CHECKSUM (.dstok); E_INVAL (a pattern is needed, unknown, or out of place; options; NULL).
 *  Owns: out, to be given to dstok_tokenizer_free.   Threads: safe.
 *  Cost: O(file); for rank files also O(sum of squared token lengths), bounded.
 *  Source: docs/formats.md.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_tokenizer_load(const char *path,
                                                            const dstok_load_options *options,
                                                            dstok_tokenizer **out, dstok_error *err);

/** Load a vocabulary from memory, as dstok_tokenizer_load does from a file.
 *  data, n       [in] the whole file, n bytes; not kept
 *  side, side_n  [in] tokenizer_config.json (for tokenizer.json) or the meta.json (for ranks); NULL, 0 = none
 *  Returns, Owns, Threads, Cost: as dstok_tokenizer_load.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_tokenizer_load_memory(const void *data, size_t n,
                                                                   const void *side, size_t side_n,
                                                                   const dstok_load_options *options,
                                                                   dstok_tokenizer **out, dstok_error *err);

/** Load the vocabulary that is embedded in the library (data/vocab; trained on Chinese, English and code).
 *  Returns: DSTOK_OK; E_NOMEM; E_UNSUPPORTED when the library was built without it; E_INVAL (options).
 *  Owns: out, to be given to dstok_tokenizer_free.   Threads: safe.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_tokenizer_load_default(const dstok_load_options *options,
                                                                    dstok_tokenizer **out, dstok_error *err);

/** The bytes of a .dstok file of this vocabulary: written to a file they load in milliseconds, with equal ids
 *  (docs/formats.md). The same vocabulary file gives the same bytes.
 *  n  [out] bytes
 *  Owns: lives as long as tok.   Threads: safe.   Cost: O(1).   Since: 0.1 */
DSTOK_API const void *dstok_tokenizer_compiled(const dstok_tokenizer *tok, size_t *n);

/** Free a tokenizer; NULL allowed. No encoder made from it may be used afterwards.   Since: 0.1 */
DSTOK_API void dstok_tokenizer_free(dstok_tokenizer *tok);

/** The i-th pattern name that dstok_load_options.pattern knows; NULL when i is past the last.
 *  Owns: static string.   Threads: safe.   Since: 0.1 */
DSTOK_API const char *dstok_pattern_name(size_t i);

/* ---------------------------------------------------------------------------------------- inspection */

/** What a vocabulary holds. Strings live as long as the tokenizer. */
typedef struct dstok_info {
    size_t struct_size;
    const char *format;     /**< "tokenizer.json", "tiktoken", ... */
    const char *scanner;    /**< the family whose scanner cuts the text, "pcre2", or "none" */
    const char *normalizer; /**< e.g. "NFC", "Prepend \"_\", Replace \" \" by \"_\""; "none" */
    uint64_t n_ids;         /**< largest id + 1 */
    uint64_t n_tokens;      /**< ids that have a token */
    uint64_t n_added;       /**< added tokens */
    uint64_t n_merges;      /**< distinct pairs that merge */
    uint64_t n_steps;       /**< pretokenizer steps */
    uint64_t memory;        /**< bytes held by the tokenizer, without compiled patterns */
    int ignore_merges;      /**< a pretoken that is one token is never merged */
    int has_template;       /**< add_special would add something */
    uint32_t unk_id;        /**< id for unknown characters; UINT32_MAX: none */
    int is_compiled;        /**< it came from a .dstok file; format is that of the file it was made from */
} dstok_info;
#define DSTOK_INFO_INIT                                                                                      \
    { sizeof(dstok_info), NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** Describe a vocabulary.
 *  info  [in,out] made with DSTOK_INFO_INIT; fields up to its struct_size are filled
 *  Returns: DSTOK_OK; E_INVAL (struct_size, NULL; *info untouched), the only way to fail.
 *  Threads: safe.   Since: 0.1 */
DSTOK_API dstok_status dstok_tokenizer_info(const dstok_tokenizer *tok, dstok_info *info);

/** The i-th pretokenizer step as text, e.g. `Split(Regex, Isolated) \p{N}{1,3}`; NULL past the last.
 *  Owns: lives as long as tok.   Threads: safe.   Since: 0.1 */
DSTOK_API const char *dstok_tokenizer_step(const dstok_tokenizer *tok, size_t i);

/** The i-th warning that loading gave (duplicate merges, renumbered added tokens, ...); NULL past the last.
 *  Owns: lives as long as tok.   Threads: safe.   Since: 0.1 */
DSTOK_API const char *dstok_tokenizer_warning(const dstok_tokenizer *tok, size_t i);

#define DSTOK_TOKEN_EXISTS  1u /**< the id has a token */
#define DSTOK_TOKEN_ADDED   2u /**< it is matched in text as an added token */
#define DSTOK_TOKEN_SPECIAL 4u /**< the file marks it special */
#define DSTOK_TOKEN_CONTROL 8u /**< control token: never produced from text under DSTOK_SPECIAL_SAFE */

/** DSTOK_TOKEN_* of an id; 0 for an id without a token.   Threads: safe.   Since: 0.1 */
DSTOK_API uint32_t dstok_token_flags(const dstok_tokenizer *tok, uint32_t id);

/** The bytes an id decodes to.
 *  bytes, n  [out] a view that lives as long as tok; not NUL-terminated; may hold part of a character
 *  Returns: DSTOK_OK; E_BAD_ID.   Threads: safe.   Cost: O(1).   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_token_bytes(const dstok_tokenizer *tok, uint32_t id,
                                                         const void **bytes, size_t *n);

/** The id whose bytes are exactly these; an added token wins over a model token of the same bytes.
 *  Returns: DSTOK_OK; E_BAD_ID when there is none (id untouched).   Threads: safe.
 *  Cost: O(n + added tokens); O(ids) for a text that is no token.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_token_id(const dstok_tokenizer *tok, const void *bytes, size_t n,
                                                      uint32_t *id);

/* ------------------------------------------------------------------------------------------ encoding */

/** What to do with added tokens that stand in the text (docs/special-tokens.md). */
enum {
    DSTOK_SPECIAL_SAFE = 0,  /**< no control token comes from text; other added tokens match */
    DSTOK_SPECIAL_TEXT = 1,  /**< as Hugging Face with encode_special_tokens: those marked special are text */
    DSTOK_SPECIAL_PARSE = 2, /**< as Hugging Face by default: every added token matches. For trusted text */
    DSTOK_SPECIAL_PLAIN = 3, /**< no added token matches */
    DSTOK_SPECIAL_ERROR = 4, /**< E_SPECIAL where a control token stands in the text */
    DSTOK_SPECIAL_LIST = 5   /**< of the control tokens only those listed in `allowed` match */
};

/** What to do with bytes that are not UTF-8. Spans are in original bytes in all three. */
enum {
    DSTOK_INVALID_ERROR = 0,   /**< E_UTF8 with the offset of the first bad byte */
    DSTOK_INVALID_REPLACE = 1, /**< each maximal ill-formed subpart becomes U+FFFD */
    DSTOK_INVALID_RAW = 2      /**< the bytes themselves go to byte-level BPE: nothing is lost */
};

/** Which spans. Both are byte ranges of the original text. */
enum {
    DSTOK_SPANS_EXACT = 0, /**< the bytes that each token stands for; they tile the text */
    DSTOK_SPANS_HF = 1     /**< as Hugging Face gives them, for drop-in use: widened to characters, a composed
                                character has its first source character alone, blanks trimmed where the file says
                                so; they may overlap, leave gaps and, behind dropped characters, be off as there.
                                Code points: dstok_spans_convert */
};

/** How to encode. Zero is the default of every field.
 *  special         DSTOK_SPECIAL_*
 *  invalid         DSTOK_INVALID_*
 *  add_special     non-zero: put the file's template (BOS, EOS, ...) around the ids
 *  strict          non-zero: E_UNKNOWN where a character has no token (else it is counted in the report)
 *  allowed, n_allowed  ids of added tokens for DSTOK_SPECIAL_LIST; read during the call. Another id is E_INVAL
 *  span_style      DSTOK_SPANS_*
 *  ids_only        non-zero: no spans and no flags (NULL in dstok_tokens); faster, 4 bytes a token
 *  max_tokens      not 0: the first so many tokens of the result and no more; the text behind them is hardly looked at,
 *      so that errors and counts there are not seen */
typedef struct dstok_encode_options {
    size_t struct_size;
    int special;
    int invalid;
    int add_special;
    int strict;
    const uint32_t *allowed;
    size_t n_allowed;
    int span_style;
    int ids_only;
    size_t max_tokens;
} dstok_encode_options;
#define DSTOK_ENCODE_OPTIONS_INIT                                                                            \
    { sizeof(dstok_encode_options), 0, 0, 0, 0, NULL, 0, 0, 0, 0 }

#define DSTOK_FLAG_PARTIAL  1u /**< the token holds part of a character */
#define DSTOK_FLAG_ADDED    2u /**< an added token, matched in the text */
#define DSTOK_FLAG_TEMPLATE 4u /**< put there by add_special; zero-width span */
#define DSTOK_FLAG_UNKNOWN  8u /**< the unknown token */

/** Counts of the encoder's last call.
 *  n_unknown       characters or bytes without a token; first_unknown is the offset of the first
 *  n_dropped       source bytes that no token covers, because the pattern removes them or they have no token
 *      (0 under DSTOK_SPANS_HF, whose spans do not tell)
 *  n_invalid       maximal ill-formed subparts met (replaced or taken raw)
 *  n_special_text  control tokens that stood in the text and were encoded as text; first_special the first's
 *      offset
 *  Offsets are DSTOK_NO_OFFSET when the count is 0. */
typedef struct dstok_report {
    uint64_t n_unknown, first_unknown;
    uint64_t n_dropped;
    uint64_t n_invalid, first_invalid;
    uint64_t n_special_text, first_special;
} dstok_report;

/** Make an encoder for one thread. tok must outlive it.
 *  Returns: DSTOK_OK; E_NOMEM; E_INVAL (NULL).   Owns: out, to be given to dstok_encoder_free.   Threads: safe.
 *  Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_encoder_new(const dstok_tokenizer *tok, dstok_encoder **out);

/** Instructions an encoder may use; results never depend on them. */
enum {
    DSTOK_SIMD_BEST = 0, /**< what this machine has */
    DSTOK_SIMD_SCALAR = 1,
    DSTOK_SIMD_AVX2 = 2,   /**< x86-64 with AVX2, BMI1, BMI2, POPCNT */
    DSTOK_SIMD_AVX512 = 3, /**< ... and AVX-512 F, BW, DQ, VL, VBMI, VBMI2, PCLMULQDQ */
    DSTOK_SIMD_NEON = 4    /**< AArch64 */
};

/** Default of cache_bytes. */
#define DSTOK_CACHE_DEFAULT ((size_t)14 << 20)

/** How to make an encoder.
 *  cache_bytes  at most so many bytes remember the ids of pieces of text met before; it starts small and grows with
 *               what it learns, and while it does so the old and the new memory make up to one and a half times as
 *               many. 0: nothing is remembered. Results never depend on it
 *  simd         DSTOK_SIMD_* */
typedef struct dstok_encoder_options {
    size_t struct_size;
    size_t cache_bytes;
    int simd;
} dstok_encoder_options;
#define DSTOK_ENCODER_OPTIONS_INIT                                                                           \
    { sizeof(dstok_encoder_options), DSTOK_CACHE_DEFAULT, DSTOK_SIMD_BEST }

/** As dstok_encoder_new, with options (NULL: the defaults).
 *  Returns: DSTOK_OK; E_NOMEM; E_INVAL; E_UNSUPPORTED (this machine or this build lacks those instructions).
 *  Owns: out, to be given to dstok_encoder_free.   Threads: safe.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_encoder_new_with(const dstok_tokenizer *tok,
                                                              const dstok_encoder_options *options,
                                                              dstok_encoder **out, dstok_error *err);

/** "scalar", "avx2", "avx512" or "neon" for DSTOK_SIMD_*, DSTOK_SIMD_BEST being what this machine has; NULL where this
 *  machine or this build lacks the instructions.   Owns: static.   Threads: safe.   Since: 0.1 */
DSTOK_API const char *dstok_simd_name(int simd);

/** Free an encoder; NULL allowed.   Since: 0.1 */
DSTOK_API void dstok_encoder_free(dstok_encoder *enc);

/** Largest input of one call in bytes: E_LIMIT above it. */
#define DSTOK_MAX_INPUT ((size_t)0x7FFFFFFF)

/** Encode text to token ids.
 *  enc    [in,out] scratch; one thread at a time
 *  text   [in]  bytes, shape (len,), not NUL-terminated, NUL is data
 *  len    [in]  bytes, 0 ok
 *  options [in] NULL = defaults
 *  ids    [out] token ids, shape (cap,), caller-owned, NULL if cap == 0
 *  cap    [in]  tokens
 *  spans  [out] byte range of each token in text, shape (cap,), or NULL. Spans never decrease; they tile the
 *      text but for what the pattern drops (see the report); pieces of one changed character share its range
 *  flags  [out] DSTOK_FLAG_* of each token, shape (cap,), or NULL. With ids_only neither is written to
 *  n      [out] tokens written; on E_SPACE tokens needed
 *  Returns: DSTOK_OK; E_SPACE (arrays unspecified); E_UTF8, E_SPECIAL, E_UNKNOWN (err->offset = byte in
 *      text); E_LIMIT (input too large, regex work limit); E_INVAL (options: struct_size, an unknown policy,
 *      an id in allowed; text NULL with len > 0); E_NOMEM. After any failure the encoder is usable.
 *  Owns: nothing kept.   Threads: safe for distinct enc.
 *  Cost: O(len log m), m = longest pretoken in bytes; patterns that run through PCRE2 may cost more.
 *  Source: Sennrich, Haddow, Birch, ACL 2016 (P16-1162); rules in docs/formats.md.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_encode(dstok_encoder *enc, const void *text, size_t len,
                                                    const dstok_encode_options *options, uint32_t *ids,
                                                    dstok_span *spans, uint8_t *flags, size_t cap, size_t *n,
                                                    dstok_error *err);

/** A result that the encoder owns: arrays of shape (n,), valid until its next call or its end. */
typedef struct dstok_tokens {
    const uint32_t *ids;
    const dstok_span *spans;
    const uint8_t *flags;
    size_t n;
} dstok_tokens;

/** As dstok_encode, into memory that the encoder owns and grows (21 bytes a token): no second call
 *  needed. That memory stays until the encoder ends, so one text of 1 GB that makes 300 million tokens holds 6 GB:
 *  encode long files in records where they have some (lines, documents).
 *  out  [out] untouched on failure.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_encode_view(dstok_encoder *enc, const void *text, size_t len,
                                                         const dstok_encode_options *options,
                                                         dstok_tokens *out, dstok_error *err);

/** What a segment is to the caller; other values are the caller's own. */
enum {
    DSTOK_ROLE_NONE = 0,
    DSTOK_ROLE_TEMPLATE = 1, /**< text of a prompt or chat template */
    DSTOK_ROLE_SYSTEM = 2,
    DSTOK_ROLE_SOURCE = 3, /**< a document that an answer may rest on */
    DSTOK_ROLE_QUESTION = 4,
    DSTOK_ROLE_ANSWER = 5
};

/** A stretch of one input with its own policy for added tokens: trusted template text with
 *  DSTOK_SPECIAL_PARSE (or DSTOK_SPECIAL_LIST and the ids it may use), user text with DSTOK_SPECIAL_SAFE. */
typedef struct dstok_segment {
    size_t len;      /**< bytes of this stretch */
    int special;     /**< DSTOK_SPECIAL_*, in place of options->special */
    uint32_t source; /**< the caller's number of the document it comes from; only handed on */
    uint32_t role;   /**< DSTOK_ROLE_*; only handed on */
} dstok_segment;

/** As dstok_encode_view, for a text that is made of segments lying one behind the other. The ids are those
 *  of the whole text: segment borders cut nothing. An added token matches only where every segment that it
 *  touches allows it, so that a control token can be forged neither inside a segment nor across a border.
 *  segments  [in] shape (n_segments,); their lengths must add up to len (else E_INVAL)
 *  Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_encode_segments(dstok_encoder *enc, const void *text, size_t len,
                                                             const dstok_segment *segments, size_t n_segments,
                                                             const dstok_encode_options *options,
                                                             dstok_tokens *out, dstok_error *err);

/** One row of the segment table: a segment in the text and among its tokens.
 *  bytes   its range in the whole text
 *  tokens  [first, last) of the tokens that hold bytes of it; a token across a border is in the rows of both
 *          sides. Tokens without bytes of their own (a template's, a prefix) count only between two that do.
 *          Empty when no token holds a byte of it; then it stands where they would */
typedef struct dstok_segment_row {
    uint32_t source;
    uint32_t role;
    dstok_span bytes;
    dstok_span tokens;
} dstok_segment_row;

/** The segment table of an encoded text.
 *  segments  [in]  those of dstok_encode_segments, shape (n_segments,)
 *  spans     [in]  byte spans of its tokens, shape (n,), as the encoder gave them
 *  rows      [out] shape (n_segments,)
 *  Threads: safe.   Cost: O(n_segments + n).   Since: 0.1 */
DSTOK_API void dstok_segment_table(const dstok_segment *segments, size_t n_segments, const dstok_span *spans,
                                   size_t n, dstok_segment_row *rows);

/** Count tokens without storing them: the n of dstok_encode.
 *  Cost: as dstok_encode, no memory for ids. Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_count(dstok_encoder *enc, const void *text, size_t len,
                                                   const dstok_encode_options *options, size_t *n,
                                                   dstok_error *err);

/** Upper bound of the n of dstok_encode for len bytes, whatever they are; SIZE_MAX when it does not fit, or for
 *  options with a bad struct_size. It
 *  is len plus the template for most vocabularies; replacement of ill-formed bytes and normalisers multiply
 *  it.
 *  options  [in] NULL = defaults
 *  Threads: safe.   Cost: O(1).   Since: 0.1 */
DSTOK_API size_t dstok_encode_bound(const dstok_tokenizer *tok, size_t len,
                                    const dstok_encode_options *options);

/** Counts of the encoder's last call, also of a failed one.   Owns: lives until the next call.   Since: 0.1 */
DSTOK_API const dstok_report *dstok_encode_report(const dstok_encoder *enc);

/** Stages of encoding (docs/pipeline.md). Each is what it says and all before it. */
enum {
    DSTOK_STAGE_UTF8 = 1,       /**< the check for UTF-8; finds bytes */
    DSTOK_STAGE_CLASSIFY = 2,   /**< classes of bytes and characters; finds blocks of 64 bytes */
    DSTOK_STAGE_BOUNDARIES = 3, /**< where pretokens begin; finds pretokens */
    DSTOK_STAGE_PIECES = 4,     /**< cuts, and masks turned into places; finds pieces */
    DSTOK_STAGE_PROBE = 5       /**< the cache, and merging of what it does not know; finds tokens */
};

/** Go through a text up to a stage, to measure where the time of encoding goes: `dstok bench` does. The text is
 *  taken as it is: no added tokens, no normaliser, no spans. Nothing is kept but what the cache learns.
 *  stage  [in]  DSTOK_STAGE_*
 *  n      [out] how many of what it finds
 *  Returns: DSTOK_OK; E_INVAL (NULL, stage); E_LIMIT; E_STATE (the vocabulary, or this text, which has a byte
 *      without a token, is encoded pretoken by pretoken and has no such stages; a vocabulary has the first in
 *      any case); E_UTF8 (err->offset = first bad byte); E_NOMEM.
 *  Owns: nothing kept.   Threads: safe for distinct enc.   Cost: O(len).   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_encode_stage(dstok_encoder *enc, int stage, const void *text,
                                                          size_t len, size_t *n, dstok_error *err);

/* ------------------------------------------------------------------------------------------ decoding */

enum {
    DSTOK_DECODE_LOSSLESS = 0, /**< the exact bytes of the tokens; an unknown id is E_BAD_ID */
    DSTOK_DECODE_STRICT = 1,   /**< as lossless, and the result must be UTF-8, else E_UTF8 */
    DSTOK_DECODE_REPLACE = 2,  /**< always UTF-8: ill-formed subparts and unknown ids become U+FFFD */
    DSTOK_DECODE_RAW = 3       /**< the exact bytes; unknown ids give nothing and are counted */
};

/** Turn ids back into bytes. Decoding what was encoded gives the input, byte for byte, unless a normaliser
 *  or a dropping pattern changed it (dstok_tokenizer_info, dstok_report).
 *  ids    [in]  shape (n,)
 *  mode   [in]  DSTOK_DECODE_*
 *  skip_special [in] non-zero: tokens marked special give nothing
 *  out    [out] bytes, shape (cap,), caller-owned, NULL if cap == 0; no NUL is added. What stands in
 *      out[*n_out, cap) afterwards is unspecified: it may have been written to
 *  n_out  [out] bytes written; on E_SPACE bytes needed
 *  n_unknown [out] unknown ids met (modes replace and raw), or NULL
 *  Returns: DSTOK_OK; E_SPACE; E_BAD_ID (err->offset = index in ids); E_UTF8 (err->offset = byte of the
 *      result); E_INVAL (unknown mode).
 *  Owns: nothing.   Threads: safe.
 *  Cost: O(n + bytes).   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_decode(const dstok_tokenizer *tok, const uint32_t *ids, size_t n,
                                                    int mode, int skip_special, void *out, size_t cap,
                                                    size_t *n_out, size_t *n_unknown, dstok_error *err);

#ifdef __cplusplus
}
#endif
#endif
