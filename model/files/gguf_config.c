/* SPDX-License-Identifier: MIT */
/* The configuration in the keys of a GGUF file, as llama.cpp understands them. */
#include "files/gguf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(g, code, ...)                                                                                   \
    do {                                                                                                     \
        if ((g)->status == DSTOK_OK) (g)->status = dsx__fail((g)->err, code, DSTOK_NO_OFFSET, __VA_ARGS__);  \
    } while (0)

/* ---- values */

static bool is_signed(dsx__gguf_type type) {
    return type == DSX__GGUF_I8 || type == DSX__GGUF_I16 || type == DSX__GGUF_I32 || type == DSX__GGUF_I64;
}

static bool is_integer(dsx__gguf_type type) {
    return is_signed(type) || type == DSX__GGUF_U8 || type == DSX__GGUF_U16 || type == DSX__GGUF_U32 ||
           type == DSX__GGUF_U64;
}

static size_t size_of(dsx__gguf_type type) {
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

    return sizes[type];
}

uint32_t dsx__gguf_whole(dsx__gguf *g, const char *key, uint32_t missing) {
    const dsx__gguf_pair *p = dsx__gguf_find(g, key);

    if (p == NULL) return missing;
    if (p->type == DSX__GGUF_ARRAY) {
        FAIL(g, DSTOK_E_UNSUPPORTED, "not supported: %s has a value for each layer", key);
        return missing;
    }
    if (is_integer(p->type)) {
        uint64_t v = dsx__gguf_bits(p->at, size_of(p->type));
        if (v <= UINT32_MAX && !(is_signed(p->type) && v >> (8 * size_of(p->type) - 1) != 0))
            return (uint32_t)v;
    }
    FAIL(g, DSTOK_E_FORMAT, "%s must be a whole number", key);
    return missing;
}

double dsx__gguf_number(dsx__gguf *g, const char *key, double missing) {
    const dsx__gguf_pair *p = dsx__gguf_find(g, key);
    float single;
    double v;

    if (p == NULL) return missing;
    uint64_t bits = dsx__gguf_bits(p->at, size_of(p->type));
    uint32_t low = (uint32_t)bits;
    if (p->type == DSX__GGUF_F32) {
        memcpy(&single, &low, sizeof single);
        return (double)single;
    }
    if (p->type == DSX__GGUF_F64) {
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    if (is_integer(p->type)) return dsx__gguf_whole(g, key, 0);
    FAIL(g, DSTOK_E_FORMAT, "%s must be a number", key);
    return missing;
}

bool dsx__gguf_flag(dsx__gguf *g, const char *key, bool missing) {
    const dsx__gguf_pair *p = dsx__gguf_find(g, key);

    if (p == NULL) return missing;
    if (p->type == DSX__GGUF_BOOL && *p->at <= 1) return *p->at == 1;
    FAIL(g, DSTOK_E_FORMAT, "%s must be true or false", key);
    return missing;
}

bool dsx__gguf_is(const dsx__gguf_pair *p, const char *text) {
    return p->n == strlen(text) && memcmp(p->at, text, p->n) == 0;
}

/* ---- keys of an architecture */

typedef struct model {
    const char *name;
    dsx__arch arch;
    bool interleaved;
} model;

static const model models[] = {
    {"llama", DSX__LLAMA, true},         {"qwen2", DSX__QWEN2, false},       {"qwen3", DSX__QWEN3, false},
    {"qwen3moe", DSX__QWEN3_MOE, false}, {"deepseek2", DSX__DEEPSEEK, true},
};

typedef struct reader {
    dsx__gguf *g;
    const model *m;
    const dsx__archive *tensors;
    char key[96];
} reader;

static const char *key_of(reader *r, const char *key) {
    snprintf(r->key, sizeof r->key, "%s.%s", r->m->name, key);
    return r->key;
}

static bool has(reader *r, const char *key) {
    return dsx__gguf_find(r->g, key_of(r, key)) != NULL;
}

static uint32_t whole(reader *r, const char *key, uint32_t missing) {
    return dsx__gguf_whole(r->g, key_of(r, key), missing);
}

static uint32_t needed(reader *r, const char *key) {
    if (!has(r, key)) FAIL(r->g, DSTOK_E_FORMAT, "the file has no %s", r->key);
    return whole(r, key, 0);
}

static double number(reader *r, const char *key, double missing) {
    return dsx__gguf_number(r->g, key_of(r, key), missing);
}

/* A number that may have one value alone. */
static void only(reader *r, const char *key, double value) {
    double v = number(r, key, value);

    if (v != value) FAIL(r->g, DSTOK_E_UNSUPPORTED, "not supported: %s %g, only %g", r->key, v, value);
}

/* ---- parts */

static void read_sizes(reader *r, dsx__config *c) {
    const dsx__tensor *embed = dsx__archive_find(r->tensors, "token_embd.weight");

    c->n_layers = needed(r, "block_count");
    c->n_more_layers = whole(r, "nextn_predict_layers", 0);
    if (c->n_more_layers > c->n_layers) FAIL(r->g, DSTOK_E_FORMAT, "%s is above block_count", r->key);
    c->n_layers -= c->n_more_layers;
    c->width = needed(r, "embedding_length");
    c->ffn = whole(r, "feed_forward_length", 0);
    c->n_heads = needed(r, "attention.head_count");
    c->n_kv_heads = whole(r, "attention.head_count_kv", c->n_heads);
    c->context = needed(r, "context_length");
    if (!has(r, "attention.layer_norm_rms_epsilon")) FAIL(r->g, DSTOK_E_FORMAT, "the file has no %s", r->key);
    c->norm_eps = number(r, "attention.layer_norm_rms_epsilon", 0);
    c->attention_scale = number(r, "attention.scale", 0);
    if (embed == NULL || embed->n_dims != 2 || embed->shape[0] > DSX__MAX_VOCAB)
        FAIL(r->g, DSTOK_E_FORMAT, "there is no tensor \"token_embd.weight\" with a row for each token");
    else
        c->n_vocab = (uint32_t)embed->shape[0];
    c->tied_head = dsx__archive_find(r->tensors, "output.weight") == NULL;
}

static void read_heads(reader *r, dsx__config *c) {
    uint32_t usual = c->n_heads > 0 ? c->width / c->n_heads : 0;

    c->head_dim = whole(r, "attention.key_length", usual);
    if (whole(r, "attention.value_length", usual) != c->head_dim)
        FAIL(r->g, DSTOK_E_UNSUPPORTED, "not supported: keys and values of different length");
    only(r, "rope.dimension_count", whole(r, "rope.dimension_count", 0) == 0 ? 0 : c->head_dim);
    c->window = whole(r, "attention.sliding_window", 0);
    c->qkv_bias = dsx__archive_find(r->tensors, "blk.0.attn_q.bias") != NULL;
    c->o_bias = dsx__archive_find(r->tensors, "blk.0.attn_output.bias") != NULL;
    c->mlp_bias = dsx__archive_find(r->tensors, "blk.0.ffn_gate.bias") != NULL;
    c->qk_norm = c->arch == DSX__QWEN3 || c->arch == DSX__QWEN3_MOE;
}

/* Newer files tell the size of heads apart from that of the latent, of which they speak as of one key; they
 * keep K_B and V_B in place of KV_B. */
static void read_latent(reader *r, dsx__config *c) {
    dsx__mla *m = &c->mla;

    m->q_rank = whole(r, "attention.q_lora_rank", 0);
    m->kv_rank = needed(r, "attention.kv_lora_rank");
    m->rope = needed(r, "rope.dimension_count");
    if (m->kv_rank == 0) FAIL(r->g, DSTOK_E_FORMAT, "attention.kv_lora_rank must be above 0");
    m->split = has(r, "attention.key_length_mla");
    c->head_dim = needed(r, m->split ? "attention.key_length_mla" : "attention.key_length");
    m->value = needed(r, m->split ? "attention.value_length_mla" : "attention.value_length");
    if (c->head_dim <= m->rope)
        FAIL(r->g, DSTOK_E_FORMAT, "a head of %" PRIu32 " has no part without positions", c->head_dim);
    m->nope = c->head_dim - m->rope;
    c->n_kv_heads = c->n_heads;
}

static bool has_router_bias(const reader *r, uint32_t layer) {
    char name[40];

    snprintf(name, sizeof name, "blk.%" PRIu32 ".exp_probs_b.bias", layer);
    return dsx__archive_find(r->tensors, name) != NULL;
}

static void read_experts(reader *r, dsx__config *c) {
    dsx__moe *m = &c->moe;
    uint32_t gate;

    m->n_experts = whole(r, "expert_count", 0);
    if (m->n_experts == 0) return;
    if (c->arch != DSX__DEEPSEEK && c->arch != DSX__QWEN3_MOE)
        FAIL(r->g, DSTOK_E_UNSUPPORTED, "not supported: experts in a model of architecture %s", r->m->name);
    m->n_used = needed(r, "expert_used_count");
    m->n_shared = whole(r, "expert_shared_count", 0);
    m->width = needed(r, "expert_feed_forward_length");
    m->first_layer = whole(r, "leading_dense_block_count", 0);
    m->n_groups = whole(r, "expert_group_count", 0);
    m->n_groups_used = whole(r, "expert_group_used_count", 0);
    gate = whole(r, "expert_gating_func", 1);
    if (gate != 1 && gate != 2)
        FAIL(r->g, DSTOK_E_UNSUPPORTED, "not supported: %s %" PRIu32 ", only softmax (1) and sigmoid (2)",
             r->key, gate);
    m->gate = gate == 2 ? DSX__GATE_SIGMOID : DSX__GATE_SOFTMAX;
    m->group_top2 = gate == 2;
    m->has_bias = has_router_bias(r, m->first_layer);
    m->normalise = dsx__gguf_flag(r->g, key_of(r, "expert_weights_norm"), c->arch == DSX__QWEN3_MOE);
    m->scale = number(r, "expert_weights_scale", 1);
    if (m->scale == 0) m->scale = 1; /* as good as missing */
}

/* ---- rotary positions */

/* One factor for each pair of dimensions; Llama 3 has them. */
static void read_factors(reader *r, const dsx__config *c, float **factors) {
    const dsx__tensor *t = dsx__archive_find(r->tensors, "rope_freqs.weight");
    uint32_t pairs = c->head_dim / 2;

    if (t == NULL || c->arch != DSX__LLAMA) return;
    if (t->n_dims != 1 || t->shape[0] != pairs || t->format != DSX__F32) {
        FAIL(r->g, DSTOK_E_FORMAT, "tensor \"rope_freqs.weight\" must have %" PRIu32 " elements of F32",
             pairs);
        return;
    }
    float *f = malloc((pairs + 1) * sizeof *f);
    if (f == NULL) {
        r->g->status = dsx__no_memory(r->g->err);
        return;
    }
    *factors = f;
    for (uint32_t i = 0; i < pairs; i++) {
        uint32_t bits = (uint32_t)dsx__gguf_bits(t->data + 4 * (size_t)i, 4);
        memcpy(&f[i], &bits, sizeof *f);
        if (!isfinite(f[i]) || f[i] <= 0)
            FAIL(r->g, DSTOK_E_FORMAT, "tensor \"rope_freqs.weight\" holds a number that is not above 0");
    }
}

/* The factor on cosine and sine, and DeepSeek's on attention, of which files have a tenth. */
static void read_yarn(reader *r, dsx__rope *rope) {
    double factor = number(r, "rope.scaling.attn_factor", 1),
           log_mul = number(r, "rope.scaling.yarn_log_multiplier", 0);

    only(r, "rope.scaling.yarn_ext_factor", 1);
    rope->beta_fast = number(r, "rope.scaling.yarn_beta_fast", 32);
    rope->beta_slow = number(r, "rope.scaling.yarn_beta_slow", 1);
    rope->mscale = rope->mscale_all = log_mul * 10;
    if (factor != 1 && log_mul != 0)
        FAIL(r->g, DSTOK_E_UNSUPPORTED, "not supported: attn_factor together with yarn_log_multiplier");
    if (factor != 1 && rope->factor > 0)
        rope->attention_factor = factor * (rope->factor > 1 ? 0.1 * log(rope->factor) + 1 : 1);
}

static void read_rope(reader *r, dsx__config *c) {
    const dsx__gguf_pair *type = dsx__gguf_find(r->g, key_of(r, "rope.scaling.type"));
    dsx__rope *rope = &c->rope;
    double factor = number(r, "rope.scaling.factor", number(r, "rope.scale_linear", 0));

    rope->interleaved = r->m->interleaved;
    rope->theta = number(r, "rope.freq_base", 10000);
    rope->factor = factor == 0 ? 1 : factor;
    rope->original_context = whole(r, "rope.scaling.original_context_length", c->context);
    if (type != NULL && type->type != DSX__GGUF_STRING) {
        FAIL(r->g, DSTOK_E_FORMAT, "%s.rope.scaling.type must be a string", r->m->name);
    } else if (type == NULL || dsx__gguf_is(type, "linear")) {
        rope->kind = rope->factor == 1 ? DSX__ROPE_PLAIN : DSX__ROPE_LINEAR;
    } else if (dsx__gguf_is(type, "yarn")) {
        rope->kind = DSX__ROPE_YARN;
        read_yarn(r, rope);
    } else if (!dsx__gguf_is(type, "none")) {
        FAIL(r->g, DSTOK_E_UNSUPPORTED, "not supported: %s.rope.scaling.type, only none, linear and yarn",
             r->m->name);
    }
    if (rope->kind != DSX__ROPE_YARN) only(r, "rope.scaling.attn_factor", 1);
}

/* ---- the whole */

static int64_t id_of(dsx__gguf *g, const char *key) {
    return dsx__gguf_find(g, key) == NULL ? -1 : (int64_t)dsx__gguf_whole(g, key, 0);
}

static void read_ids(dsx__gguf *g, dsx__config *c) {
    int64_t eos = id_of(g, "tokenizer.ggml.eos_token_id"), eot = id_of(g, "tokenizer.ggml.eot_token_id");

    c->bos = id_of(g, "tokenizer.ggml.bos_token_id");
    if (eos >= 0) c->eos[c->n_eos++] = eos;
    if (eot >= 0 && eot != eos) c->eos[c->n_eos++] = eot;
}

static const model *find_model(dsx__gguf *g) {
    const dsx__gguf_pair *p = dsx__gguf_find(g, "general.architecture");
    dsx__quoted q;

    if (p == NULL || p->type != DSX__GGUF_STRING) {
        FAIL(g, DSTOK_E_FORMAT, "general.architecture must be a string");
        return NULL;
    }
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (dsx__gguf_is(p, models[i].name)) return &models[i];
    FAIL(g, DSTOK_E_UNSUPPORTED,
         "not supported: architecture %s; known are llama, qwen2, qwen3, qwen3moe, deepseek2",
         dsx__quote(p->at, (size_t)p->n, q));
    return NULL;
}

dstok_status dsx__gguf_config(dsx__gguf *g, const dsx__archive *tensors, dsx__config *out, float **factors) {
    reader r = {.g = g, .tensors = tensors, .m = find_model(g)};

    if (r.m == NULL) return g->status;
    if (dsx__gguf_whole(g, "split.count", 1) > 1)
        FAIL(g, DSTOK_E_UNSUPPORTED,
             "not supported: a model split over several GGUF files; merge them first");
    *out = (dsx__config){.arch = r.m->arch, .moe = {.layer_step = 1, .scale = 1}};
    read_sizes(&r, out);
    if (out->arch == DSX__DEEPSEEK)
        read_latent(&r, out);
    else
        read_heads(&r, out);
    read_experts(&r, out);
    read_rope(&r, out);
    if (g->status == DSTOK_OK) read_factors(&r, out, factors);
    read_ids(g, out);
    return g->status != DSTOK_OK ? g->status : dsx__config_check(out, g->err);
}
