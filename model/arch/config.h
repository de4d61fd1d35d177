/* SPDX-License-Identifier: MIT */
/* What a model is: sizes and switches, whatever file they came from. The forward pass reads nothing else. */
#ifndef DSX_ARCH_CONFIG_H
#define DSX_ARCH_CONFIG_H

#include <dstok/base.h>

#include <stdbool.h>

/* Stated limits: files that ask for more are refused. */
#define DSX__MAX_LAYERS  1024u
#define DSX__MAX_WIDTH   (1u << 20) /* of any axis but the vocabulary */
#define DSX__MAX_HEAD    2048u      /* of a key or value; backends have room for one on the stack */
#define DSX__MAX_VOCAB   (1u << 24)
#define DSX__MAX_EXPERTS 4096u
#define DSX__MAX_CONTEXT (1u << 24)

typedef enum dsx__arch {
    DSX__LLAMA,
    DSX__MISTRAL,
    DSX__QWEN2,
    DSX__QWEN3,
    DSX__QWEN3_MOE,
    DSX__DEEPSEEK,
    DSX__N_ARCHS
} dsx__arch;

typedef enum dsx__rope_kind {
    DSX__ROPE_PLAIN,
    DSX__ROPE_LINEAR,
    DSX__ROPE_DYNAMIC,
    DSX__ROPE_LLAMA3,
    DSX__ROPE_YARN
} dsx__rope_kind;

typedef struct dsx__rope {
    dsx__rope_kind kind;
    double theta;
    double factor;               /* linear, dynamic, llama3, yarn */
    double low_freq, high_freq;  /* llama3 */
    double beta_fast, beta_slow; /* yarn */
    double mscale;               /* yarn; 0: not given */
    double mscale_all;           /* all but plain, with MLA (for yarn's factor in any model); 0: not given */
    double attention_factor;     /* yarn; 0: from factor and the two above */
    uint32_t original_context;   /* llama3, yarn, dynamic */
    bool interleaved;     /* pairs are (2i, 2i+1), not (i, i + dims/2): GGUF llama, llama2.c, DeepSeek */
    const float *factors; /* GGUF: [dims / 2] divisors of the frequencies, kept by the archive; NULL: none */
} dsx__rope;

typedef enum dsx__gate { DSX__GATE_SOFTMAX, DSX__GATE_SIGMOID } dsx__gate;

typedef struct dsx__moe { /* n_experts 0: none */
    uint32_t n_experts, n_used, n_shared;
    uint32_t width;                   /* of an expert */
    uint32_t n_groups, n_groups_used; /* 0 or 1: all experts are one group */
    uint32_t first_layer;             /* layers before it are dense */
    uint32_t layer_step; /* of the layers from first_layer on each layer_step-th has experts; 1: all */
    dsx__gate gate;
    bool group_top2; /* a group's score is the sum of its two best (V3), else its best (V2) */
    bool has_bias;   /* e_score_correction_bias: for choosing only */
    bool normalise;  /* weights of the chosen sum to 1 */
    double scale;    /* routed_scaling_factor */
} dsx__moe;

typedef struct dsx__mla { /* kv_rank 0: ordinary attention */
    uint32_t q_rank;      /* 0: queries are projected in one step */
    uint32_t kv_rank;     /* width of the latent that is cached */
    uint32_t nope, rope;  /* parts of a head without and with rotary positions; head_dim = nope + rope */
    uint32_t value;       /* width of a head's value */
    bool split;           /* K_B and V_B in place of KV_B: newer GGUF files */
    bool expand;          /* keys and values of all heads are kept, not the latent: a choice of the user */
} dsx__mla;

typedef struct dsx__config {
    dsx__arch arch;
    uint32_t n_layers, width, n_heads, n_kv_heads, head_dim; /* with MLA n_kv_heads is n_heads */
    uint32_t n_more_layers; /* behind n_layers in the file, for predicting further tokens: passed over */
    uint32_t ffn;           /* of dense layers */
    uint32_t n_vocab;       /* rows of the embedding */
    uint32_t context;       /* that the model was made for; what dynamic scaling reaches */
    uint32_t window;        /* sliding window, in tokens; 0: none */
    uint32_t window_from;   /* first layer that has it */
    double norm_eps;
    double attention_scale; /* on q.k; 0: 1/sqrt(head_dim), with yarn's own factor */
    dsx__rope rope;
    dsx__moe moe;
    dsx__mla mla;
    bool tied_head; /* the head is the embedding */
    bool fp8;       /* matrices may be F8_E4M3, each with a scale for 128 x 128 of its elements */
    bool qkv_bias, o_bias, mlp_bias;
    bool qk_norm;        /* q and k of each head are normalised */
    int64_t bos, eos[8]; /* -1: none */
    uint32_t n_eos;
} dsx__config;

/* The name users know: "llama", "qwen3", ... */
const char *dsx__arch_name(dsx__arch arch);

/* Whether a layer has experts, not one dense block. */
bool dsx__has_experts(const dsx__config *c, uint32_t layer);
/* Width of a head's value. */
uint32_t dsx__value_dim(const dsx__config *c);

/* E_FORMAT with a reason where sizes are absurd or do not fit one another. */
dstok_status dsx__config_check(const dsx__config *c, dstok_error *err);

/* From the text of a Hugging Face config.json (config_hf.c). */
dstok_status dsx__config_from_json(const char *text, size_t n, dsx__config *out, dstok_error *err);

#endif
