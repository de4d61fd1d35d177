/* SPDX-License-Identifier: MIT */
/* Models that are set by hand: Llama blocks whose weights say what must come out. */
#ifndef DSEXPLAIN_SELFTEST_H
#define DSEXPLAIN_SELFTEST_H

#include "dsexplain.h"

/* Parts of the stream: a token's key; the key that it asks for; the key of the token before; a value; the
 * value that attention brought; whether it is a sink; what makes all embeddings equally long; a number that
 * is always 1. */
enum {
    NET_KEYS = 12,
    NET_VALUES = 8,
    NET_KEY = 0,
    NET_QUERY = NET_KEY + NET_KEYS,
    NET_BEFORE = NET_QUERY + NET_KEYS,
    NET_VALUE = NET_BEFORE + NET_KEYS,
    NET_OUT = NET_VALUE + NET_VALUES,
    NET_SINK = NET_OUT + NET_VALUES,
    NET_PAD,
    NET_ONE,
    NET_WIDTH = 64,
    NET_FFN = 8,
    NET_HEAD = 64, /* width of a head: 32 pairs, of which those from NET_SLOW on hardly turn */
    NET_SLOW = 16,
    NET_TOKENS = 256 /* bytes */
};

struct net {
    uint32_t n_layers, n_heads, n_kv_heads;
    uint32_t n_experts;                      /* 0: dense; else Qwen3-MoE, each row goes to one of them */
    int nfc;                                 /* the vocabulary normalises */
    float *embed, *head;                     /* [NET_TOKENS][NET_WIDTH] */
    float *q, *k, *v, *o, *gate, *up, *down; /* of all layers and experts, one behind the other */
    float *router;                           /* [n_experts][NET_WIDTH], of each layer the same */
};

/* All weights zero, and every embedding has its 1. */
void net_init(struct net *n, uint32_t n_layers, uint32_t n_heads, uint32_t n_kv_heads);
void net_free(struct net *n);

/* A number of a token's embedding. */
void net_token(struct net *n, unsigned char token, int at, float value);
/* A head gives weight e^beta to the token whose NET_KEY (or another part, `key`) is what the row has at
 * `query`. */
void net_match(struct net *n, uint32_t layer, uint32_t head, uint32_t kv_head, int query, int key,
               float beta);
/* Or to the token `back` places before. */
void net_look_back(struct net *n, uint32_t layer, uint32_t head, uint32_t kv_head, int back, float beta);
/* Or to a sink, from every row. */
void net_sink(struct net *n, uint32_t layer, uint32_t head, uint32_t kv_head, float beta);
/* What is at `from` of the tokens looked at goes to `to` of the row, n numbers, times `by`. */
void net_carry(struct net *n, uint32_t layer, uint32_t head, uint32_t kv_head, int from, int to, int count,
               float by);
/* '0' and the digits after it get the logits that NET_OUT says, times `by`. */
void net_answers(struct net *n, float by);
/* Experts in one layer. Of the numbers at `from`, expert e takes number i on to number i + e at `to`. */
void net_experts(struct net *n, uint32_t n_experts, int from, int to);
/* Random numbers everywhere. */
void net_random(struct net *n, uint64_t seed);

/* Writes it as a checkpoint with its vocabulary, whose tokens are bytes, and opens both. Returns 0, or
 * CLI_FAIL after a message. */
int net_open(struct net *n, const dsx_model_options *options, dsx_model **model, dstok_tokenizer **tok);

/* ---- selftest.c: one backend at work on a case */

struct test {
    const struct ex_config *config;
    const dsx_backend *backend;
    const char *backend_name;
    int is_double;
    struct cli_buf *out;
    const char *name; /* of the case */
    size_t n_results, n_wrong;
    int rc;
    struct net net;
    dsx_model *model;
    dstok_tokenizer *tok;
    dsx_prompt *prompt;
    dsx_prompt_view view;
    dstok_span source; /* bytes of it in the prompt */
};

/* A number, and the bounds that it must keep. */
void st_number(struct test *t, const char *what, double value, double least, double most);
/* The same of a share of scores; pointed: whether the best is gold. should_point < 0: either way. */
void st_share(struct test *t, const char *what, double value, double least, double most, int pointed,
              int should_point);
/* Keeps the exit code of a call that failed, after a message. Without one, nothing more is done. */
void st_failed(struct test *t, dstok_status status, const dstok_error *err);
/* t->net as model and vocabulary; they are freed by st_close. */
void st_open(struct test *t);
void st_close(struct test *t);
/* A prompt of "^", the source, the question, and the answer. */
void st_ask_bytes(struct test *t, const char *source, size_t n, const char *question, const char *answer);
void st_ask(struct test *t, const char *source, const char *question, const char *answer);
dsx_explain_options st_by(int method);
/* NULL: it failed. */
const dsx_explanation *st_explain(struct test *t, dsx_explain_options *o);

/* Whether a token of the source is one of those that the answer rests on: a byte of gold; or the line that
 * holds one, with the end of the line before, as sentences have it. */
int st_is_gold(const struct test *t, size_t token, const char *gold, int whole_line);
/* Share of the positive scores on gold, of all tokens but the last row; *pointed: whether the greatest is
 * gold. */
double st_mass(const struct test *t, const dsx_explanation *x, const char *gold, int *pointed);
/* Of rows and flow: the scores add up. */
void st_check_sum(struct test *t, const dsx_explanation *x);
extern const char *const st_methods[]; /* names */

/* What a method must say: the share on gold, and whether it points there. */
struct said {
    int method;
    double least, most;
    int points, removal;
};

void st_check_methods(struct test *t, const char *gold, const struct said *s, size_t n);
#define CHECK_METHODS(t, gold, list) st_check_methods(t, gold, list, sizeof list / sizeof *list)

/* ---- selftest_cases.c */

struct st_case {
    const char *name, *what;
    void (*run)(struct test *t); /* NULL: not in this build */
};
extern const struct st_case st_cases[];
extern const size_t st_n_cases;

#endif
