/* SPDX-License-Identifier: MIT */
/* The configuration of a run of dsexplain, its verbs, and what they share. */
#ifndef DSEXPLAIN_H
#define DSEXPLAIN_H

#include "../cli/args.h"
#include "../cli/names.h"

#include <dsx/dsx.h>

enum {
    EX_INFO = 1,
    EX_GENERATE = 2,
    EX_PPL = 4,
    EX_LOGPROBS = 8,
    EX_PLAN = 16,
    EX_CONVERT = 32,
    EX_SCAN = 64,
    EX_RUN = 128,
    EX_FIT = 256,
    EX_DIFF = 512,
    EX_SELFTEST = 1024,
    EX_ASKS = EX_RUN | EX_FIT,                               /* verbs that ask a model about texts */
    EX_READS = EX_GENERATE | EX_PPL | EX_LOGPROBS | EX_SCAN, /* verbs that let the model read a text */
    EX_OPENS = EX_READS | EX_INFO | EX_ASKS,                 /* verbs that open the model */
    EX_MODELS = EX_OPENS | EX_PLAN,                          /* verbs about a model in memory */
    EX_ALL = EX_MODELS | EX_CONVERT | EX_DIFF | EX_SELFTEST
};

enum { EX_CHAT_AUTO, EX_CHAT_OFF };
enum { EX_BOS_AUTO, EX_BOS_ON, EX_BOS_OFF };
enum { EX_PROGRESS_AUTO, EX_PROGRESS_PLAIN, EX_PROGRESS_JSON, EX_PROGRESS_OFF };

enum { EX_MOST_FORMATS = 32 }; /* of one scan */

struct ex_config {
    const char *verb;
    unsigned verb_bit;
    struct cli_args args;
    const char *inputs[2]; /* MODEL, and the FILE of ppl; the reports of diff */
    size_t n_inputs;       /* may be more than there is room for */
    int is_quiet, help, json, progress;
    /* the model */
    const char *vocab, *policy;
    uint64_t threads, group, max_memory;
    int backend, simd, weights, mla;
    /* the session; 0: not given */
    uint64_t chunk, context, kv_recent;
    int kv;
    /* texts */
    const char *prompt, *file, *ids;
    int special, invalid, bos, chat;
    /* generate */
    uint64_t n, top_k, seed;
    double temperature, top_p;
    struct cli_buf *stops;
    size_t n_stops;
    /* logprobs */
    uint64_t top;
    /* plan */
    const char *gpu;
    uint64_t sessions;
    /* convert, scan */
    const char *output;
    int names; /* 0: Qwen's, 1: Llama's */
    /* scan */
    const char *to[EX_MOST_FORMATS], *from, *calibrate;
    size_t n_to;
    int limits; /* DSX_LIMIT_* */
    int is_whole, by_op;
    double percentile, max_kl;
    uint64_t max_weights;
    /* run; prompt is the template */
    const char **files;
    size_t n_files;
    const char *question, *target, *foil, *prefix, *items, *at2;
    int has_range, each_sentence, use_foil, is_dry_run, on_error; /* on_error: 0 fail, 1 skip */
    uint64_t target_begin, target_end, next;
    int method, removal; /* DSX_METHOD_*; delete, gap, attnmask, swap */
    uint64_t masks, hops, verify;
    int format, level; /* DSX_REPORT_*, DSTOK_TRACE_* */
    double min_score;
    /* selftest */
    int is_long;
};

/* ---- options.c */

/* Read the arguments behind the verb. Returns 0, or CLI_USAGE after a message. */
int ex_parse(struct ex_config *c, int argc, char **argv);
void ex_config_free(struct ex_config *c);
void ex_options_help(struct cli_buf *out, unsigned verb_bit);

/* ---- help.c */

void ex_help(struct cli_buf *out, unsigned verb_bit);

/* ---- the verbs; each returns the exit code */

int ex_info(const struct ex_config *c);
int ex_generate(const struct ex_config *c);
int ex_ppl(const struct ex_config *c);
int ex_logprobs(const struct ex_config *c);
int ex_plan(const struct ex_config *c);
int ex_convert(const struct ex_config *c);
int ex_scan(const struct ex_config *c);
int ex_run(const struct ex_config *c);
int ex_diff(const struct ex_config *c);
int ex_selftest(const struct ex_config *c);
int ex_fit(const struct ex_config *c);

/* ---- model.c: a model, its vocabulary and a session, as the options ask for them. */

struct ex_model {
    const struct ex_config *config;
    struct cli_buf path;
    dsx_model *model;
    dsx_model_info info;
    dstok_tokenizer *tok; /* NULL: not wanted */
    dsx_session *session; /* NULL: not wanted */
};

enum { EX_NEED_MODEL = 0, EX_NEED_SESSION = 1, EX_NEED_VOCAB = 2 };

/* The file or folder that MODEL stands for. Returns 0, or CLI_USAGE after a message. */
int ex_model_path(const char *name, struct cli_buf *path);
/* How the options want the model opened; out->policy is given to dsx_policy_free afterwards. Returns 0, or
 * an exit code after a message. */
int ex_model_options(const struct ex_config *c, dsx_model_options *out);

/* need: EX_NEED_*. Returns 0, or an exit code after a message; ex_close in any case. */
int ex_open(const struct ex_config *c, int need, struct ex_model *out);
/* The vocabulary of -v, or the model's own. Returns 0, or an exit code after a message. */
int ex_open_vocab(struct ex_model *m);
void ex_close(struct ex_model *m);

/* Tells of a failed call while `name` was worked on. Returns the exit code. */
int ex_failed(const char *name, dstok_status status, const dstok_error *err);
/* Whether a session met --max-memory, not --context. */
int ex_is_memory(dstok_status status, const dstok_error *err);
/* The same, while the model read the text called `name`. */
int ex_failed_to_read(const struct ex_model *m, const char *name, dstok_status status,
                      const dstok_error *err);

/* A number in JSON, with all its digits; null: it is not finite. */
void ex_json_real(struct cli_buf *out, double x);
/* The name of an input in messages. */
const char *ex_input_name(const char *path);

/* What a token stands for, fit for a terminal: in single quotes, with escapes. */
void ex_piece(struct cli_buf *out, const struct ex_model *m, uint32_t id);

/* ---- text.c: tokens of a text, while it is read. */

struct ex_text;

/* The file at path ("-": standard input), of any length: it is encoded by a thread of its own while the
 * caller works on the tokens before. Returns NULL after a message, with *rc set. */
struct ex_text *ex_text_open(const struct ex_model *m, const char *path, int *rc);
/* The next tokens, as many as are ready; *n = 0 at the end. They live until the next call. Returns 0, or an
 * exit code after a message. */
int ex_text_next(struct ex_text *t, const uint32_t **ids, size_t *n);
/* Seconds that encoding took, known at the end, and seconds that ex_text_next waited for tokens. */
void ex_text_times(const struct ex_text *t, double *encoded, double *waited);
void ex_text_close(struct ex_text *t);

/* Whether a start token goes before texts that the vocabulary itself puts none before. */
int ex_adds_bos(const struct ex_model *m);
/* --bos on needs a start token. Returns 0, or CLI_USAGE after a message. */
int ex_check_bos(const struct ex_model *m);

/* Ids of a file as numbers between blanks or commas. Returns 0, or an exit code after a message. */
int ex_read_ids(const struct ex_model *m, const char *path, struct cli_buf *out);

/* ---- chat.c: prompts as a chat model was taught to read them. */

/* Whether prompts go into the model's template. */
int ex_is_chat(const struct ex_model *m);
/* The ids of a prompt (in bytes, uint32_t), within the model's template unless --chat off or the model has
 * none. Returns 0, or an exit code after a message. */
int ex_prompt(const struct ex_model *m, const struct cli_buf *text, struct cli_buf *ids);

/* The prompt's name in messages. */
const char *ex_prompt_name(const struct ex_config *c);

/* ---- plan.c */

typedef char ex_size_text[24];
/* Bytes for people: "1.5 GB". Returns out. */
const char *ex_size(double bytes, ex_size_text out);

/* ---- progress.c: on standard error. */

struct ex_progress {
    const struct ex_config *config;
    double begin, last;
};

void ex_progress_start(struct ex_progress *p, const struct ex_config *c);
/* Once a second at most, unless final. what: "read", "generated". */
void ex_progress_tell(struct ex_progress *p, const char *what, uint64_t n_tokens, int final);
/* Of a text that is read again and again: once a second at most, and at the end. */
void ex_progress_runs(struct ex_progress *p, uint64_t n, uint64_t of);
/* Of steps whose number is known: once a second at most, and at the end, with the time that is left. */
void ex_progress_share(struct ex_progress *p, const char *what, uint64_t done, uint64_t all);
/* How far the encoding of a text was hidden behind the model's work on it. */
void ex_progress_text(const struct ex_progress *p, const struct ex_text *text);

#endif
