/* SPDX-License-Identifier: MIT */
/* config.json of Hugging Face: what a key means depends on model_type, and so does the value of one that is
 * missing. */
#include "arch/config.h"

#include "base.h"
#include "files/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- values: null is as good as missing. The first failure stays, and what is read after it does not
 * matter. */

typedef struct reader {
    const json_t *o;
    dstok_error *err;
    dstok_status status; /* of the first failure */
} reader;

#define FAIL(r, code, ...)                                                                                   \
    do {                                                                                                     \
        if ((r)->status == DSTOK_OK) (r)->status = dsx__fail((r)->err, code, DSTOK_NO_OFFSET, __VA_ARGS__);  \
    } while (0)

static const json_t *find(const reader *r, const char *key) {
    const json_t *v = json_object_get(r->o, key);

    return json_is_null(v) ? NULL : v;
}

static uint32_t whole(reader *r, const char *key, uint32_t missing) {
    const json_t *v = find(r, key);

    if (v == NULL) return missing;
    if (json_is_integer(v) && json_integer_value(v) >= 0 && json_integer_value(v) <= UINT32_MAX)
        return (uint32_t)json_integer_value(v);
    FAIL(r, DSTOK_E_FORMAT, "%s must be a whole number", key);
    return missing;
}

/* The same, where null says that there is none. */
static uint32_t whole_or_none(reader *r, const char *key, uint32_t missing) {
    return json_is_null(json_object_get(r->o, key)) ? 0 : whole(r, key, missing);
}

static double number(reader *r, const char *key, double missing) {
    const json_t *v = find(r, key);

    if (v == NULL) return missing;
    if (json_is_number(v)) return json_number_value(v);
    FAIL(r, DSTOK_E_FORMAT, "%s must be a number", key);
    return missing;
}

static bool flag(reader *r, const char *key, bool missing) {
    const json_t *v = find(r, key);

    if (v == NULL) return missing;
    if (json_is_boolean(v)) return json_is_true(v);
    FAIL(r, DSTOK_E_FORMAT, "%s must be true or false", key);
    return missing;
}

static const char *string(reader *r, const char *key, const char *missing) {
    const json_t *v = find(r, key);

    if (v == NULL) return missing;
    if (json_is_string(v)) return json_string_value(v);
    FAIL(r, DSTOK_E_FORMAT, "%s must be a string", key);
    return missing;
}

/* A string that may have one value alone. */
static void only(reader *r, const char *key, const char *value) {
    const char *v = string(r, key, value);
    dsx__quoted q;

    if (strcmp(v, value) != 0)
        FAIL(r, DSTOK_E_UNSUPPORTED, "not supported: %s %s, only %s", key, dsx__quote(v, strlen(v), q),
             value);
}

/* ---- parts of several models */

static void read_ffn(reader *r, dsx__config *c) {
    only(r, "hidden_act", "silu");
    c->mlp_bias = flag(r, "mlp_bias", false);
}

/* Layers of which some have a window: all in front are without. */
static void read_layer_types(reader *r, dsx__config *c) {
    const json_t *types = find(r, "layer_types"), *v;
    size_t i;

    if (types == NULL) return;
    if (!json_is_array(types) || json_array_size(types) != c->n_layers)
        FAIL(r, DSTOK_E_FORMAT, "layer_types must have an entry for each of %" PRIu32 " layers", c->n_layers);
    c->window_from = c->n_layers;
    json_array_foreach(types, i, v) {
        const char *type = json_is_string(v) ? json_string_value(v) : "";
        bool slides = strcmp(type, "sliding_attention") == 0;
        if (!slides && strcmp(type, "full_attention") != 0)
            FAIL(r, DSTOK_E_UNSUPPORTED,
                 "not supported: layer_types other than full_attention and sliding_attention");
        if (slides && c->window == 0)
            FAIL(r, DSTOK_E_FORMAT, "layer_types has sliding_attention, but there is no sliding_window");
        if (slides && i < c->window_from) c->window_from = (uint32_t)i;
        if (!slides && c->window_from < i)
            FAIL(r, DSTOK_E_UNSUPPORTED, "not supported: a layer with a sliding window before one without");
    }
    if (c->window_from == c->n_layers) c->window = c->window_from = 0;
}

static void read_window(reader *r, dsx__config *c, bool used, uint32_t from) {
    if (used) c->window = whole_or_none(r, "sliding_window", 4096);
    if (used && find(r, "sliding_window") != NULL && c->window == 0)
        FAIL(r, DSTOK_E_FORMAT, "sliding_window must be above 0");
    if (from >= c->n_layers) c->window = 0;
    c->window_from = c->window > 0 ? from : 0;
    read_layer_types(r, c);
}

/* ---- rotary positions */

/* The object that says how; transformers wrote rope_scaling before version 5, rope_parameters since. */
static const json_t *rope_object(const reader *r) {
    const json_t *scaling = find(r, "rope_scaling");

    return scaling != NULL ? scaling : find(r, "rope_parameters");
}

static void read_scaling(reader *r, dsx__rope *rope, uint32_t context, uint32_t original) {
    static const char *const kinds[] = {
        [DSX__ROPE_PLAIN] = "default", [DSX__ROPE_LINEAR] = "linear", [DSX__ROPE_DYNAMIC] = "dynamic",
        [DSX__ROPE_LLAMA3] = "llama3", [DSX__ROPE_YARN] = "yarn",
    };
    const char *type = string(r, "rope_type", string(r, "type", NULL));
    unsigned kind = 0;
    dsx__quoted q;

    if (type == NULL && find(r, "factor") != NULL)
        FAIL(r, DSTOK_E_FORMAT, "rope_scaling has a factor, but no rope_type");
    if (type == NULL) return;
    while (kind < sizeof kinds / sizeof *kinds && strcmp(type, kinds[kind]) != 0) kind++;
    if (kind == sizeof kinds / sizeof *kinds) {
        FAIL(r, DSTOK_E_UNSUPPORTED,
             "not supported: rope_type %s, only default, linear, dynamic, llama3 and yarn",
             dsx__quote(type, strlen(type), q));
        return;
    }
    rope->kind = (dsx__rope_kind)kind;
    if (kind != DSX__ROPE_PLAIN && find(r, "factor") == NULL)
        FAIL(r, DSTOK_E_FORMAT, "rope_scaling of type %s has no factor", type);
    rope->factor = number(r, "factor", 1);
    rope->original_context = whole(r, "original_max_position_embeddings", context);
    if (original > 0) rope->original_context = original; /* beside rope_scaling it has the last word */
    if (kind == DSX__ROPE_DYNAMIC) rope->original_context = context;
    if (kind == DSX__ROPE_LLAMA3 &&
        (find(r, "low_freq_factor") == NULL || find(r, "high_freq_factor") == NULL))
        FAIL(r, DSTOK_E_FORMAT, "rope_scaling of type llama3 needs low_freq_factor and high_freq_factor");
    rope->low_freq = number(r, "low_freq_factor", 0);
    rope->high_freq = number(r, "high_freq_factor", 0);
    rope->beta_fast = number(r, "beta_fast", 32);
    rope->beta_slow = number(r, "beta_slow", 1);
    rope->mscale = number(r, "mscale", 0);
    rope->mscale_all = number(r, "mscale_all_dim", 0);
    rope->attention_factor = number(r, "attention_factor", 0);
    if (!flag(r, "truncate", true)) FAIL(r, DSTOK_E_UNSUPPORTED, "not supported: yarn with truncate false");
}

/* A number of rope_parameters, which may hold it beside rope_scaling. */
static double of_rope(reader *r, const json_t *o, const char *key, double missing) {
    reader in = {.o = o, .err = r->err, .status = r->status};
    double v = number(&in, key, missing);

    r->status = in.status;
    return v;
}

static void read_rope(reader *r, dsx__config *c) {
    const json_t *how = rope_object(r), *parameters = find(r, "rope_parameters");
    reader in = {.o = how, .err = r->err};
    uint32_t original = whole(r, "original_max_position_embeddings", 0);

    c->rope.theta = of_rope(r, parameters, "rope_theta", number(r, "rope_theta", 10000));
    c->rope.theta = of_rope(r, how, "rope_theta", c->rope.theta);
    if (number(r, "partial_rotary_factor", 1) != 1 || of_rope(r, how, "partial_rotary_factor", 1) != 1)
        FAIL(r, DSTOK_E_UNSUPPORTED, "not supported: partial_rotary_factor other than 1");
    if (how == NULL) return;
    if (!json_is_object(how)) FAIL(r, DSTOK_E_FORMAT, "rope_scaling must be an object");
    if (json_object_get(how, "full_attention") != NULL || json_object_get(how, "sliding_attention") != NULL)
        FAIL(r, DSTOK_E_UNSUPPORTED, "not supported: rope_parameters for each type of layer");
    in.status = r->status;
    read_scaling(&in, &c->rope, c->context, original);
    r->status = in.status;
    if (c->rope.kind == DSX__ROPE_DYNAMIC && c->rope.factor > 1)
        c->context = (uint32_t)fmin(c->context * c->rope.factor, DSX__MAX_CONTEXT);
}

/* ---- models */

static void read_llama(reader *r, dsx__config *c) {
    read_ffn(r, c);
    c->qkv_bias = c->o_bias = flag(r, "attention_bias", false);
}

static void read_mistral(reader *r, dsx__config *c) {
    only(r, "hidden_act", "silu");
    read_window(r, c, true, 0);
}

static void read_qwen2(reader *r, dsx__config *c) {
    only(r, "hidden_act", "silu");
    c->qkv_bias = true;
    read_window(r, c, flag(r, "use_sliding_window", false), whole(r, "max_window_layers", 28));
}

static void read_qwen3(reader *r, dsx__config *c) {
    only(r, "hidden_act", "silu");
    c->qk_norm = true;
    c->qkv_bias = c->o_bias = flag(r, "attention_bias", false);
    read_window(r, c, flag(r, "use_sliding_window", false), whole(r, "max_window_layers", 28));
}

/* Layers without experts: a list, and all but each step-th. */
static void read_dense_layers(reader *r, dsx__config *c) {
    const json_t *list = find(r, "mlp_only_layers"), *v;
    uint32_t step = whole(r, "decoder_sparse_step", 1), front = 0;
    size_t i;

    if (step == 0) FAIL(r, DSTOK_E_FORMAT, "decoder_sparse_step must be above 0");
    if (list != NULL && !json_is_array(list)) FAIL(r, DSTOK_E_FORMAT, "mlp_only_layers must be a list");
    json_array_foreach(list, i, v) {
        if (!json_is_integer(v) || json_integer_value(v) != (json_int_t)i || step != 1)
            FAIL(r, DSTOK_E_UNSUPPORTED, "not supported: mlp_only_layers other than the first ones");
        front++;
    }
    c->moe.layer_step = step;
    c->moe.first_layer = step > 1 ? step - 1 : front;
}

static void read_qwen3_moe(reader *r, dsx__config *c) {
    only(r, "hidden_act", "silu");
    c->qk_norm = true;
    c->qkv_bias = c->o_bias = flag(r, "attention_bias", false);
    read_window(r, c, flag(r, "use_sliding_window", false), 0);
    c->moe.n_experts = whole(r, "num_experts", whole(r, "num_local_experts", 128));
    c->moe.n_used = whole(r, "num_experts_per_tok", 8);
    c->moe.width = whole(r, "moe_intermediate_size", 768);
    c->moe.normalise = flag(r, "norm_topk_prob", false);
    read_dense_layers(r, c);
}

/* What all models of DeepSeek have. A rank of queries that is null says that they are not compressed. */
static void read_deepseek(reader *r, dsx__config *c) {
    uint32_t front = whole(r, "first_k_dense_replace", c->moe.first_layer),
             step = whole(r, "moe_layer_freq", 1);
    dsx__mla *m = &c->mla;

    only(r, "hidden_act", "silu");
    if (flag(r, "attention_bias", false) || flag(r, "mlp_bias", false))
        FAIL(r, DSTOK_E_UNSUPPORTED, "not supported: attention_bias and mlp_bias of DeepSeek");
    m->q_rank = whole_or_none(r, "q_lora_rank", 1536);
    m->kv_rank = whole(r, "kv_lora_rank", 512);
    m->nope = whole(r, "qk_nope_head_dim", 128);
    m->rope = whole(r, "qk_rope_head_dim", 64);
    m->value = whole(r, "v_head_dim", 128);
    if (m->kv_rank == 0) FAIL(r, DSTOK_E_FORMAT, "kv_lora_rank must be above 0");
    if (m->nope > DSX__MAX_WIDTH || m->rope > DSX__MAX_WIDTH)
        FAIL(r, DSTOK_E_FORMAT, "a head is wider than %u", DSX__MAX_WIDTH);
    c->head_dim = m->nope + m->rope;
    c->n_kv_heads = c->n_heads;
    if (step == 0) FAIL(r, DSTOK_E_FORMAT, "moe_layer_freq must be above 0");
    c->moe.layer_step = step > 0 ? step : 1;
    c->moe.first_layer =
        front % c->moe.layer_step == 0 ? front : front - front % c->moe.layer_step + c->moe.layer_step;
}

/* norm_topk_prob: the model's first code does not scale what it normalises, later ones do, transformers
 * does neither. */
static void read_deepseek_v2(reader *r, dsx__config *c) {
    const char *method = string(r, "topk_method", "greedy");
    dsx__quoted q;

    read_deepseek(r, c);
    only(r, "scoring_func", "softmax");
    c->rope.interleaved = true;
    c->moe.n_experts = whole_or_none(r, "n_routed_experts", 64);
    c->moe.n_used = whole(r, "num_experts_per_tok", 0);
    c->moe.n_shared = whole_or_none(r, "n_shared_experts", 2);
    c->moe.width = whole(r, "moe_intermediate_size", 1407);
    c->moe.scale = number(r, "routed_scaling_factor", 1);
    if (flag(r, "norm_topk_prob", false))
        FAIL(r, DSTOK_E_UNSUPPORTED, "not supported: norm_topk_prob of deepseek_v2");
    if (strcmp(method, "group_limited_greedy") == 0) {
        c->moe.n_groups = whole(r, "n_group", 0);
        c->moe.n_groups_used = whole(r, "topk_group", 0);
        if (c->moe.n_groups == 0)
            FAIL(r, DSTOK_E_FORMAT, "topk_method group_limited_greedy needs n_group and topk_group");
    } else if (strcmp(method, "greedy") != 0) {
        FAIL(r, DSTOK_E_UNSUPPORTED, "not supported: topk_method %s of deepseek_v2",
             dsx__quote(method, strlen(method), q));
    }
}

static void read_deepseek_v3(reader *r, dsx__config *c) {
    c->moe.first_layer = 3;
    read_deepseek(r, c);
    only(r, "scoring_func", "sigmoid");
    only(r, "topk_method", "noaux_tc");
    c->rope.interleaved = flag(r, "rope_interleave", true);
    c->n_more_layers = whole(r, "num_nextn_predict_layers", whole(r, "num_mtp_layers", 1));
    c->moe.gate = DSX__GATE_SIGMOID;
    c->moe.has_bias = c->moe.group_top2 = true;
    c->moe.n_experts = whole(r, "n_routed_experts", 256);
    c->moe.n_used = whole(r, "num_experts_per_tok", 8);
    c->moe.n_shared = whole(r, "n_shared_experts", 1);
    c->moe.width = whole(r, "moe_intermediate_size", 2048);
    c->moe.scale = number(r, "routed_scaling_factor", 2.5);
    c->moe.normalise = flag(r, "norm_topk_prob", true);
    c->moe.n_groups = whole(r, "n_group", 8);
    c->moe.n_groups_used = whole(r, "topk_group", 4);
}

/* ---- all of them, with the values of transformers for missing keys */

typedef struct model {
    const char *type;
    dsx__arch arch;
    uint32_t n_vocab, width, ffn, n_layers, n_heads;
    uint32_t n_kv_heads; /* 0: n_heads */
    uint32_t head_dim;   /* 0: width / n_heads */
    uint32_t context;
    int64_t bos, eos;
    void (*read)(reader *r, dsx__config *c);
} model;

static const model models[] = {
    {"llama", DSX__LLAMA, 32000, 4096, 11008, 32, 32, 0, 0, 2048, 1, 2, read_llama},
    {"mistral", DSX__MISTRAL, 32000, 4096, 14336, 32, 32, 8, 0, 131072, 1, 2, read_mistral},
    {"qwen2", DSX__QWEN2, 151936, 4096, 22016, 32, 32, 32, 0, 32768, -1, -1, read_qwen2},
    {"qwen3", DSX__QWEN3, 151936, 4096, 22016, 32, 32, 32, 128, 32768, -1, -1, read_qwen3},
    {"qwen3_moe", DSX__QWEN3_MOE, 151936, 2048, 6144, 24, 32, 4, 0, 32768, -1, -1, read_qwen3_moe},
    {"deepseek_v2", DSX__DEEPSEEK, 32000, 4096, 11008, 32, 32, 0, 0, 2048, 1, 2, read_deepseek_v2},
    {"deepseek_v3", DSX__DEEPSEEK, 129280, 7168, 18432, 61, 128, 128, 0, 4096, 0, 1, read_deepseek_v3},
};

static int64_t id_of(reader *r, const char *key, const json_t *v) {
    if (json_is_integer(v) && json_integer_value(v) >= -1 && json_integer_value(v) <= UINT32_MAX)
        return json_integer_value(v);
    FAIL(r, DSTOK_E_FORMAT, "%s must be the number of a token", key);
    return -1;
}

/* Missing is the model's own value, null is none. */
static void read_ids(reader *r, const model *m, dsx__config *c) {
    const json_t *bos = json_object_get(r->o, "bos_token_id"), *eos = json_object_get(r->o, "eos_token_id");
    size_t n = json_is_array(eos) ? json_array_size(eos) : 1;

    c->bos = bos == NULL ? m->bos : json_is_null(bos) ? -1 : id_of(r, "bos_token_id", bos);
    if (n > sizeof c->eos / sizeof *c->eos)
        FAIL(r, DSTOK_E_LIMIT, "eos_token_id has %zu tokens; at most %zu are read", n,
             sizeof c->eos / sizeof *c->eos);
    for (size_t i = 0; i < n && r->status == DSTOK_OK; i++) {
        const json_t *v = json_is_array(eos) ? json_array_get(eos, i) : eos;
        int64_t id = v == NULL ? m->eos : json_is_null(v) ? -1 : id_of(r, "eos_token_id", v);
        if (id >= 0) c->eos[c->n_eos++] = id;
    }
}

static void read_sizes(reader *r, const model *m, dsx__config *c) {
    *c = (dsx__config){.arch = m->arch, .moe = {.layer_step = 1, .scale = 1}};
    c->n_vocab = whole(r, "vocab_size", m->n_vocab);
    c->width = whole(r, "hidden_size", m->width);
    c->ffn = whole(r, "intermediate_size", m->ffn);
    c->n_layers = whole(r, "num_hidden_layers", m->n_layers);
    c->n_heads = whole(r, "num_attention_heads", m->n_heads);
    c->n_kv_heads = whole_or_none(r, "num_key_value_heads", m->n_kv_heads);
    if (c->n_kv_heads == 0 && find(r, "num_key_value_heads") == NULL) c->n_kv_heads = c->n_heads;
    if (c->n_heads == 0) FAIL(r, DSTOK_E_FORMAT, "num_attention_heads must be above 0");
    c->head_dim =
        whole(r, "head_dim", m->head_dim > 0 ? m->head_dim : c->width / (c->n_heads > 0 ? c->n_heads : 1));
    c->context = whole(r, "max_position_embeddings", m->context);
    c->norm_eps = number(r, "rms_norm_eps", 1e-6);
    c->tied_head = flag(r, "tie_word_embeddings", false);
}

/* FP8 as DeepSeek keeps it: a scale for each 128 x 128 of a matrix. */
static bool is_block_fp8(const json_t *config) {
    const char *method = json_string_value(json_object_get(config, "quant_method")),
               *fmt = json_string_value(json_object_get(config, "fmt")),
               *rows = json_string_value(json_object_get(config, "activation_scheme"));
    const json_t *block = json_object_get(config, "weight_block_size");

    return method != NULL && strcmp(method, "fp8") == 0 && (fmt == NULL || strcmp(fmt, "e4m3") == 0) &&
           (rows == NULL || strcmp(rows, "dynamic") == 0) && json_array_size(block) == 2 &&
           json_integer_value(json_array_get(block, 0)) == 128 &&
           json_integer_value(json_array_get(block, 1)) == 128;
}

/* Weights that were quantised by another scheme: their tensors are others. */
static void read_quantised(reader *r, dsx__config *c) {
    const json_t *config = find(r, "quantization_config"), *mlx = find(r, "quantization");
    const char *method = json_string_value(json_object_get(config, "quant_method"));
    dsx__quoted q;

    c->fp8 = is_block_fp8(config);
    if (config != NULL && !c->fp8)
        FAIL(r, DSTOK_E_UNSUPPORTED,
             "not supported: quantization_config (%s); only weights in F32, F16, BF16 or FP8 in blocks of "
             "128 x 128 are read",
             method != NULL ? dsx__quote(method, strlen(method), q) : "no quant_method");
    if (mlx != NULL)
        FAIL(r, DSTOK_E_UNSUPPORTED,
             "not supported: quantization (MLX, %d bits); only weights in F32, F16 or BF16 are read",
             (int)json_integer_value(json_object_get(mlx, "bits")));
}

static const model *find_model(reader *r) {
    const char *type = string(r, "model_type", NULL);
    dsx__quoted q;

    for (size_t i = 0; type != NULL && i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].type, type) == 0) return &models[i];
    if (type == NULL)
        FAIL(r, DSTOK_E_FORMAT, "there is no model_type");
    else
        FAIL(r, DSTOK_E_UNSUPPORTED,
             "not supported: model_type %s; known are llama, mistral, qwen2, qwen3, qwen3_moe, deepseek_v2, "
             "deepseek_v3",
             dsx__quote(type, strlen(type), q));
    return NULL;
}

static dstok_status read_config(const json_t *o, dsx__config *out, dstok_error *err) {
    reader r = {.o = o, .err = err};
    const model *m;

    if (!json_is_object(o)) return dsx__fail(err, DSTOK_E_FORMAT, 0, "this must be an object");
    m = find_model(&r);
    if (m == NULL) return r.status;
    read_sizes(&r, m, out);
    read_quantised(&r, out);
    read_ids(&r, m, out);
    m->read(&r, out);
    read_rope(&r, out);
    return r.status != DSTOK_OK ? r.status : dsx__config_check(out, err);
}

dstok_status dsx__config_from_json(const char *text, size_t n, dsx__config *out, dstok_error *err) {
    json_t *o = NULL;

    DSX_TRY(dsx__json_read(text, n, 0, &o, err));
    dstok_status status = read_config(o, out, err);
    json_decref(o);
    return status;
}
