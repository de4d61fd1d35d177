/* SPDX-License-Identifier: MIT */
/* Which parts of its input an answer of a model rests on, down to the bytes of the sources, and how far that can be
 * trusted.
 *
 * A prompt is made of sources, a question and the template around them, and ends in a response: generated, or given.
 * An explanation is about some bytes of the response: every token before them gets a score in nats, and scores of
 * tokens become scores of words, sentences, paragraphs and sources by sums. */
#ifndef DSX_EXPLAIN_H
#define DSX_EXPLAIN_H

#include <dsx/session.h>

#include <dstok/tokenizer.h>
#include <dstok/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- prompts */

/** A document.   name: for messages and reports, may be NULL. text: len bytes of UTF-8 */
typedef struct dsx_source {
    const char *name;
    const void *text;
    size_t len;
} dsx_source;

enum {
    DSX_CHAT_AUTO = 0, /**< the model's own chat template around the prompt, if it has one that is known */
    DSX_CHAT_OFF = 1
};

/** What a prompt is made of. Zero is the default of every field. Nothing is kept but copies.
 *  sources   shape (n_sources,)
 *  question  NULL: none
 *  template  where {sources} and {question} stand for what their names say, once each at most; NULL:
 *            "Context:\n{sources}\n\nQuestion: {question}", or "{sources}" without a question
 *  between   what stands between two sources; NULL: "\n\n"
 *  chat      DSX_CHAT_*
 *  prefix    first words of the response, which are not explained; NULL: none */
typedef struct dsx_prompt_options {
    size_t struct_size;
    const dsx_source *sources;
    size_t n_sources;
    const char *question;
    const char *template_text;
    const char *between;
    int chat;
    const char *prefix;
} dsx_prompt_options;
#define DSX_PROMPT_OPTIONS_INIT                                                                              \
    { sizeof(dsx_prompt_options), NULL, 0, NULL, NULL, NULL, 0, NULL }

/** A prompt and its response. One thread at a time. */
typedef struct dsx_prompt dsx_prompt;

/** Put a prompt together. Control tokens count in the template of the model alone: a source cannot forge them.
 *  model, tok  must outlive it
 *  Returns: DSTOK_OK; E_INVAL; E_NOMEM; E_FORMAT (template_text: an
 *      unknown or repeated {name}; err->offset); E_UNSUPPORTED (a chat
 *      template of a kind that is not known); E_UTF8 (err->text names the source, err->offset the byte in it).
 *  Owns: out, to be given to dsx_prompt_free.   Threads: safe.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_prompt_new(const dsx_model *model, const dstok_tokenizer *tok,
                                                      const dsx_prompt_options *options, dsx_prompt **out,
                                                      dstok_error *err);
/** NULL is accepted.   Since: 0.2 */
DSTOK_API void dsx_prompt_free(dsx_prompt *prompt);

/** The response, behind the prefix: given text, instead of what was there.
 *  Returns: DSTOK_OK; E_UTF8; E_NOMEM.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_prompt_answer(dsx_prompt *prompt, const void *text, size_t len,
                                                         dstok_error *err);
/** Hears how far a call is: done of all steps. Non-zero: stop, the call answers E_CANCELED. */
typedef int dsx_explain_sink(void *context, uint64_t done, uint64_t all);

/** The response, behind the prefix: the likeliest tokens, up to max_tokens or the model's end of text, which is not
 *  part of it.
 *  sink  NULL, or hears of tokens: those that were read and those that were generated
 *  Returns: DSTOK_OK; E_CANCELED (sink; the response is what there is so far); E_INVAL (also: numbers that are not
 *      finite); as dsx_session_feed.   Cost: prefill, and one decoding step a token.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_prompt_generate(dsx_prompt *prompt, size_t max_tokens,
                                                           dsx_explain_sink *sink, void *context,
                                                           dstok_error *err);

/** A prompt from inside. All ranges are bytes of text, or tokens.
 *  text           shape (len,): everything, template and response included
 *  segments       shape (n_segments,): where each stretch comes from. role DSTOK_ROLE_SOURCE: source is its number;
 *                 each source is one segment, also an empty one
 *  ids, spans     shape (n,): its tokens
 *  sources_begin, sources_end   tokens that hold bytes of sources
 *  response       byte at which the response begins
 *  answer         byte at which it goes on behind the prefix */
typedef struct dsx_prompt_view {
    size_t struct_size;
    const char *text;
    size_t len;
    const dstok_segment *segments;
    size_t n_segments;
    const uint32_t *ids;
    const dstok_span *spans;
    size_t n;
    size_t sources_begin, sources_end;
    size_t response, answer;
} dsx_prompt_view;
#define DSX_PROMPT_VIEW_INIT                                                                                 \
    { .struct_size = sizeof(dsx_prompt_view) }

/** Fill *view.   Owns: lives until the response changes.   Returns: DSTOK_OK; E_INVAL.   Since: 0.2 */
DSTOK_API dstok_status dsx_prompt_describe(const dsx_prompt *prompt, dsx_prompt_view *view);
/** The name of a source, never NULL ("source 2" where it has none).   Since: 0.2 */
DSTOK_API const char *dsx_prompt_source_name(const dsx_prompt *prompt, size_t source);
/** A source as it was given, byte by byte, also where a chat template trims it.
 *  out  [out] name is never NULL
 *  Owns: lives as long as the prompt.   Returns: DSTOK_OK; E_RANGE (there is no such source).   Since: 0.2 */
DSTOK_API dstok_status dsx_prompt_source(const dsx_prompt *prompt, size_t source, dsx_source *out);

/* ---- explanations */

/** Methods. docs/explain.md has their formulas and what they were measured to be worth. */
enum {
    DSX_METHOD_ROWS = 0, /**< what question and answer took from the sources: one pass, one short way back */
    DSX_METHOD_FLOW = 1, /**< the whole way back, to the embedding of each token */
    DSX_METHOD_ABLATE = 2,    /**< the text without some sentences, many times, and a sparse linear fit */
    DSX_METHOD_LOO = 3,       /**< the text without each sentence */
    DSX_METHOD_AT2 = 4,       /**< attention by heads that were weighted for this model */
    DSX_METHOD_ATTENTION = 5, /**< the mean of all heads: for comparing only */
    DSX_METHOD_REFINE = 6,    /**< rows, then as loo for the sentences that rows found; the others get 0 */
    DSX_N_METHODS = 7
};

/** What becomes of a sentence that is taken out. */
enum {
    DSX_REMOVE_DELETE = 0, /**< the text closes up */
    DSX_REMOVE_GAP =
        1, /**< what follows keeps its positions; the same as hiding its keys from all other tokens */
    DSX_REMOVE_SWAP = 2 /**< neutral words stand in its place */
};

/** Zero is the default of every field.
 *  begin, end   bytes of the response (its prefix counts) that are explained; both 0: all behind the prefix. Tokens
 *               that hold one of them are explained
 *  foil         what could have stood there instead: the first token that differs is explained against it
 *  method       DSX_METHOD_*
 *  hops         1 to 8: tokens of the response that the explained ones rest on are explained in turn
 *  masks        of DSX_METHOD_ABLATE, and the most sentences that DSX_METHOD_REFINE takes out; 0: 32
 *  removal      DSX_REMOVE_*
 *  seed         of masks
 *  head_weights of DSX_METHOD_AT2: [n_layers][n_heads]
 *  verify       0, or how many random removals the scores are checked with (dsx_trust)
 *  keep_bytes   of rows kept for the way back; beyond that they are computed again; 0: 1 GB */
typedef struct dsx_explain_options {
    size_t struct_size;
    size_t begin, end;
    const char *foil;
    int method;
    uint32_t hops;
    uint32_t masks;
    int removal;
    uint64_t seed;
    const float *head_weights;
    uint32_t verify;
    uint64_t keep_bytes;
    dsx_explain_sink *sink;
    void *context;
} dsx_explain_options;
#define DSX_EXPLAIN_OPTIONS_INIT                                                                             \
    { .struct_size = sizeof(dsx_explain_options) }

/** Where the value went. They add up: value = sources + special + template_text + response + bias + residual.
 *  sources        tokens of sources, by their bytes
 *  special        tokens without text (a start token)
 *  template_text  question, template and system text
 *  response       tokens of the response before those that are explained
 *  bias           biases of the model; of DSX_METHOD_ABLATE what the fit gives without any source
 *  residual       the error of arithmetic (for fitted methods: what the fit leaves) */
typedef struct dsx_sums {
    double sources, special, template_text, response, bias, residual;
} dsx_sums;

/** How well the scores foretell what the model does when sentences are taken out. NaN where it was not measured.
 *  n_masks     random removals, each sentence kept with probability 1/2, drawn apart from those of a fit: with few
 *              sentences some are the same, and where there are no more than were asked for, it is all of them
 *  lds         rank correlation (Spearman) over them of the log-probability with the sum of kept scores
 *  drop        fall of the log-probability without the best 1, 3 and 5 sentences
 *  prior       log-probability without any source
 *  comprehensiveness, sufficiency  (DeYoung et al. 2020, arXiv 1911.03429) means over the best 1, 5, 10, 20 and 50 %
 *              of sentences: the fall without them, and the fall with them alone, as a share of logprob - prior
 *  n_forward   passes this took */
typedef struct dsx_trust {
    uint32_t n_masks, n_forward;
    double lds, drop[3], prior, comprehensiveness, sufficiency;
} dsx_trust;

/** Warnings about an explanation, in plain words.   code: a stable name ("SINK_MASS_HIGH") */
typedef struct dsx_warning {
    const char *code;
    const char *text;
} dsx_warning;

/** An explanation. It is read-only, and its own: prompt may change afterwards.
 *  begin, end      bytes of the response that were explained
 *  from, to        tokens of the prompt's text that were explained
 *  value, logprob  what is explained (explain options; log-odds, or a difference to the foil), and the
 *                  log-probability of the tokens
 *  logprobs        shape (to - from,): of each token, or NULL
 *  foil            as in the options, or NULL
 *  masks, removal, seed   as in the options, for the methods that they are for
 *  n               tokens before `to`; scores and routing have one number for each. routing NULL: not of this method
 *  n_units, units  sentences for DSX_METHOD_ABLATE, DSX_METHOD_LOO and trust: bytes of the prompt's text, and what
 *                  each alone is worth (logprob - logprob without it), NaN for those that were not taken out
 *                  alone; NULL where nothing was taken out
 *  redundant       shape (n_units,): 0, or the number of a group of sentences of which any one is enough
 *  n_hops, hop_mass  share of the positive scores that lies on the response: of the explanation itself, then behind
 *                  each hop */
typedef struct dsx_explanation {
    size_t struct_size;
    int method;
    size_t begin, end, from, to;
    double value, logprob;
    const double *logprobs;
    const char *foil;
    uint32_t masks;
    int removal;
    uint64_t seed;
    size_t n;
    const double *scores, *routing;
    dsx_sums sums;
    double first_mass; /**< share of all attention that the first token took */
    size_t n_units;
    const dstok_span *units;
    const double *worth;
    const uint32_t *redundant;
    uint32_t n_hops;
    double hop_mass[8];
    dsx_trust trust;
    size_t n_warnings;
    const dsx_warning *warnings;
    double seconds;
    uint64_t n_forward; /**< passes over the text, or parts of it */
} dsx_explanation;

/** Explain a response.
 *  Returns: DSTOK_OK; E_RANGE (begin, end: outside the response, or no token); E_INVAL (options; a foil that begins
 *      like the response to its end; a number that is not finite: err->text names the layer); E_STATE (no response);
 *      E_LIMIT, E_NOMEM; E_CANCELED (sink).
 *  Owns: out, to be given to dsx_explanation_free.   Threads: one at a time for a prompt; several prompts of one
 *  model at once.   Cost: ROWS a pass over the text, and about two over question and answer; FLOW about 2.5 passes;
 *      memory: dsx_explain_bytes.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_explain(dsx_prompt *prompt, const dsx_explain_options *options,
                                                   const dsx_explanation **out, dstok_error *err);
/** NULL is accepted.   Since: 0.2 */
DSTOK_API void dsx_explanation_free(const dsx_explanation *explanation);

/** Bytes that dsx_explain will take beside model and prompt.   Since: 0.2 */
DSTOK_API uint64_t dsx_explain_bytes(const dsx_prompt *prompt, const dsx_explain_options *options);

/* ---- head weights for DSX_METHOD_AT2 */

/** Learns from removals which heads look at what an answer rests on. One thread at a time. */
typedef struct dsx_at2 dsx_at2;

/** model must outlive it.   Returns: DSTOK_OK; E_INVAL; E_NOMEM.
 *  Owns: out, to be given to dsx_at2_free.   Threads: safe.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_at2_new(const dsx_model *model, dsx_at2 **out, dstok_error *err);
/** NULL is accepted.   Since: 0.2 */
DSTOK_API void dsx_at2_free(dsx_at2 *at2);
/** A prompt with its response to learn from. One of fewer than two sentences, or of which none matters, counts for
 *  nothing.
 *  options  of which begin, end, masks, removal, seed and sink count
 *  Returns: as dsx_explain.   Cost: as DSX_METHOD_ABLATE, and a pass.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_at2_add(dsx_at2 *at2, dsx_prompt *prompt,
                                                   const dsx_explain_options *options, dstok_error *err);
/** The weights of all prompts so far.
 *  weights      [n_layers][n_heads]: none below 0, they add up to 1
 *  correlation  that of scores with the answer's log-odds over removals, mean of all prompts; may be NULL
 *  Returns: DSTOK_OK; E_STATE (nothing to learn from); E_NOMEM.   Cost: 300 times all that was added.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_at2_fit(const dsx_at2 *at2, float *weights, double *correlation,
                                                   dstok_error *err);
/** Weights to a file of JSON.   name: of the model, for people; NULL: none.
 *  Returns: DSTOK_OK; E_INVAL; E_IO.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_at2_write(const char *path, const char *name, const float *weights,
                                                     uint32_t n_layers, uint32_t n_heads, dstok_error *err);
/** And from one. It must be for so many layers and heads.
 *  Returns: DSTOK_OK; E_IO; E_FORMAT; E_NOMEM.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_at2_read(const char *path, uint32_t n_layers, uint32_t n_heads,
                                                    float *weights, dstok_error *err);

/** A stretch of a source with its score.
 *  bytes        range in the source
 *  line, column where its core (without white space) begins, from 1; columns count code points
 *  core         range in the source
 *  score, routing  sums over its tokens, shared out by bytes
 *  share        of the positive scores of its level
 *  rank         1 is the greatest score of its level */
typedef struct dsx_row {
    size_t source;
    dstok_span bytes, core;
    uint64_t line, column;
    double score, routing, share;
    size_t rank;
} dsx_row;

/** Scores of the sources' parts, in their order.
 *  level  DSTOK_TRACE_*
 *  rows   shape (cap,); *n is how many there are, on E_SPACE too
 *  Returns: DSTOK_OK; E_SPACE; E_INVAL; E_NOMEM.   Threads: safe.   Cost: O(text).   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_explain_rows(const dsx_prompt *prompt,
                                                        const dsx_explanation *explanation, int level,
                                                        dsx_row *rows, size_t cap, size_t *n,
                                                        dstok_error *err);

#ifdef __cplusplus
}
#endif
#endif
