/* SPDX-License-Identifier: MIT */
/* Parts of models by their names in files: every architecture, and every way in which tensors may not fit. */
#include "checkpoint.h"

/* A text of tensors with one line taken out, and one put in: both may be empty. */
static char *edit(const char *tensors, const char *out, const char *in) {
    char *less = out[0] != '\0' ? util_replace(tensors, out, "") : util_replace(tensors, "", "");
    char *text = malloc(strlen(less) + strlen(in) + 1);

    if (text == NULL) exit(1);
    strcat(strcpy(text, less), in);
    free(less);
    return text;
}

static void refuse_llama(const char *out, const char *in, const char *config, const char *part) {
    char *text = edit(LLAMA_TENSORS, out, in);

    read_refuse(DSX__SAFETENSORS, safetensors_of(text), config, DSTOK_E_FORMAT, part);
    free(text);
}

static void accept_llama(const char *out, const char *in, const char *config) {
    char *text = edit(LLAMA_TENSORS, out, in);

    read_free(read_good(DSX__SAFETENSORS, safetensors_of(text), config));
    free(text);
}

/* A part is the tensor of this name, from its element on. */
static void check_part(const read_file *r, const dsx__part *p, const char *name, uint64_t rows,
                       uint64_t columns, size_t at) {
    const dsx__tensor *t = dsx__archive_find(&r->a, name);

    CHECK(t != NULL);
    if (t == NULL) return;
    CHECK(p->data == t->data + at && p->format == t->format && p->rows == rows && p->columns == columns);
}

static void check_absent(const struct dsx__layer_parts *l, const dsx__role *roles, size_t n) {
    for (size_t i = 0; i < n; i++) CHECK(l->role[roles[i]].data == NULL);
}

/* ---- Llama */

static void test_llama(void) {
    static const dsx__role absent[] = {DSX__EMBED, DSX__Q_BIAS, DSX__Q_NORM, DSX__Q_A,
                                       DSX__KV_B,  DSX__K_B,    DSX__ROUTER, DSX__SHARED_UP};
    read_file *r = read_good(DSX__SAFETENSORS, safetensors_of(LLAMA_TENSORS), LLAMA_CONFIG);
    const struct dsx__layer_parts *l = r->parts.layers;

    CHECK_EQ(r->parts.n_layers, 1);
    check_part(r, &r->parts.embed, "model.embed_tokens.weight", 5, 8, 0);
    check_part(r, &r->parts.final_norm, "model.norm.weight", 1, 8, 0);
    check_part(r, &r->parts.head, "lm_head.weight", 5, 8, 0);
    check_part(r, &l->role[DSX__ATTN_NORM], "model.layers.0.input_layernorm.weight", 1, 8, 0);
    check_part(r, &l->role[DSX__Q], "model.layers.0.self_attn.q_proj.weight", 8, 8, 0);
    check_part(r, &l->role[DSX__K], "model.layers.0.self_attn.k_proj.weight", 4, 8, 0);
    check_part(r, &l->role[DSX__V], "model.layers.0.self_attn.v_proj.weight", 4, 8, 0);
    check_part(r, &l->role[DSX__O], "model.layers.0.self_attn.o_proj.weight", 8, 8, 0);
    check_part(r, &l->role[DSX__FFN_NORM], "model.layers.0.post_attention_layernorm.weight", 1, 8, 0);
    check_part(r, &l->role[DSX__GATE], "model.layers.0.mlp.gate_proj.weight", 6, 8, 0);
    check_part(r, &l->role[DSX__UP], "model.layers.0.mlp.up_proj.weight", 6, 8, 0);
    check_part(r, &l->role[DSX__DOWN], "model.layers.0.mlp.down_proj.weight", 8, 6, 0);
    check_absent(l, absent, sizeof absent / sizeof *absent);
    CHECK(l->experts == NULL);
    read_free(r);
}

#define WITH(more) "{" LLAMA_SIZES "," more "}"

static void test_llama_unlike(void) {
    refuse_llama("model.norm.weight F32 8\n", "", LLAMA_CONFIG,
                 "tensor \"model.norm.weight\" is missing: a llama model of 1 layers has it");
    refuse_llama("model.layers.0.mlp.up_proj.weight BF16 6 8\n", "", LLAMA_CONFIG,
                 "\"model.layers.0.mlp.up_proj.weight\" is missing");
    refuse_llama("lm_head.weight F32 5 8\n", "", LLAMA_CONFIG, "\"lm_head.weight\" is missing");
    char *two = util_replace(LLAMA_CONFIG, "\"num_hidden_layers\":1", "\"num_hidden_layers\":2");
    refuse_llama("", "", two,
                 "\"model.layers.1.input_layernorm.weight\" is missing: a llama model of 2 layers");
    free(two);
    refuse_llama(
        "", "model.layers.0.mlp.extra.weight F32 2 3\n", LLAMA_CONFIG,
        "tensor \"model.layers.0.mlp.extra.weight\" of shape [2][3] is no part of a llama model of 1 layers");
    refuse_llama("", "model.layers.1.input_layernorm.weight F32 8\n", LLAMA_CONFIG,
                 "\"model.layers.1.input_layernorm.weight\" of shape [8] is no part");
    refuse_llama("", "model.layers.0.self_attn.q_proj.bias F32 8\n", LLAMA_CONFIG,
                 "q_proj.bias\" of shape [8] is no part");
    refuse_llama("", "single F32 -\n", LLAMA_CONFIG, "\"single\" of shape a single number is no part");
    refuse_llama("model.layers.0.self_attn.q_proj.weight F16 8 8\n",
                 "model.layers.0.self_attn.q_proj.weight F16 8 9\n", LLAMA_CONFIG,
                 "\"model.layers.0.self_attn.q_proj.weight\" has shape [8][9], expected [8][8]");
    refuse_llama("model.norm.weight F32 8\n", "model.norm.weight F32 8 1\n", LLAMA_CONFIG,
                 "has shape [8][1], expected [8]");
    refuse_llama("model.norm.weight F32 8\n", "model.norm.weight F32 7\n", LLAMA_CONFIG,
                 "\"model.norm.weight\" has shape [7], expected [8]");
    refuse_llama("model.embed_tokens.weight F32 5 8\n", "model.embed_tokens.weight F32 6 8\n", LLAMA_CONFIG,
                 "has shape [6][8], expected [5][8]");
    refuse_llama("model.layers.0.mlp.down_proj.weight BF16 8 6\n",
                 "model.layers.0.mlp.down_proj.weight BF16 6 8\n", LLAMA_CONFIG,
                 "has shape [6][8], expected [8][6]");
}

static void test_llama_more(void) {
    accept_llama("", "model.layers.0.self_attn.rotary_emb.inv_freq F32 2\n", LLAMA_CONFIG);
    accept_llama("lm_head.weight F32 5 8\n", "", WITH("\"tie_word_embeddings\":true"));
    accept_llama("", "", WITH("\"tie_word_embeddings\":true")); /* the head once more */
    refuse_llama("lm_head.weight F32 5 8\n", "lm_head.weight F32 5 9\n", WITH("\"tie_word_embeddings\":true"),
                 "\"lm_head.weight\" has shape [5][9], expected [5][8]"); /* another one */
    refuse_llama("", "", WITH("\"attention_bias\":true"),
                 "\"model.layers.0.self_attn.q_proj.bias\" is missing");
    refuse_llama("", "", WITH("\"mlp_bias\":true"), "\"model.layers.0.mlp.gate_proj.bias\" is missing");

    char *text =
        edit(LLAMA_TENSORS, "lm_head.weight F32 5 8\n",
             "model.layers.0.self_attn.q_proj.bias F32 8\nmodel.layers.0.self_attn.k_proj.bias F32 4\n"
             "model.layers.0.self_attn.v_proj.bias F32 4\nmodel.layers.0.self_attn.o_proj.bias F32 8\n"
             "model.layers.0.mlp.gate_proj.bias F32 6\nmodel.layers.0.mlp.up_proj.bias F32 6\n"
             "model.layers.0.mlp.down_proj.bias F32 8\n");
    read_file *r = read_good(DSX__SAFETENSORS, safetensors_of(text),
                             WITH("\"tie_word_embeddings\":true,\"attention_bias\":true,\"mlp_bias\":true"));
    const struct dsx__layer_parts *l = r->parts.layers;
    CHECK(r->parts.head.data == NULL);
    check_part(r, &l->role[DSX__Q_BIAS], "model.layers.0.self_attn.q_proj.bias", 1, 8, 0);
    check_part(r, &l->role[DSX__K_BIAS], "model.layers.0.self_attn.k_proj.bias", 1, 4, 0);
    check_part(r, &l->role[DSX__V_BIAS], "model.layers.0.self_attn.v_proj.bias", 1, 4, 0);
    check_part(r, &l->role[DSX__O_BIAS], "model.layers.0.self_attn.o_proj.bias", 1, 8, 0);
    check_part(r, &l->role[DSX__GATE_BIAS], "model.layers.0.mlp.gate_proj.bias", 1, 6, 0);
    check_part(r, &l->role[DSX__UP_BIAS], "model.layers.0.mlp.up_proj.bias", 1, 6, 0);
    check_part(r, &l->role[DSX__DOWN_BIAS], "model.layers.0.mlp.down_proj.bias", 1, 8, 0);
    read_free(r);
    free(text);
}

/* ---- FP8 with a scale for each 128 x 128 */

#define Q     "model.layers.0.self_attn.q_proj.weight"
#define FP8   "\"quantization_config\":{\"quant_method\":\"fp8\",\"weight_block_size\":[128,128]}"
#define Q_FP8 Q " F8_E4M3 8 8\n"
#define SCALE Q "_scale_inv F32 1 1\n"

static void test_fp8(void) {
    char *text = edit(LLAMA_TENSORS, Q " F16 8 8\n", Q_FP8 SCALE);
    read_file *r = read_good(DSX__SAFETENSORS, safetensors_of(text), WITH(FP8));
    const dsx__part *p = &r->parts.layers[0].role[DSX__Q];

    check_part(r, p, Q, 8, 8, 0);
    CHECK(p->scales == dsx__archive_find(&r->a, Q "_scale_inv")->data);
    CHECK(r->parts.layers[0].role[DSX__K].scales == NULL);
    read_free(r);
    read_refuse(DSX__SAFETENSORS, safetensors_of(text), LLAMA_CONFIG, DSTOK_E_UNSUPPORTED,
                "tensor \"" Q "\" is F8_E4M3, without a quantization_config");
    free(text);
    refuse_llama(Q " F16 8 8\n", Q_FP8, WITH(FP8), "tensor \"" Q "_scale_inv\" is missing, or not F32");
    refuse_llama(Q " F16 8 8\n", Q_FP8 Q "_scale_inv BF16 1 1\n", WITH(FP8), "is missing, or not F32");
    refuse_llama(Q " F16 8 8\n", Q_FP8 Q "_scale_inv F32 1 2\n", WITH(FP8),
                 "has shape [1][2], expected [1][1]");
    refuse_llama("", SCALE, WITH(FP8), "\"" Q "_scale_inv\" of shape [1][1] is no part");
    text = edit(LLAMA_TENSORS, "model.norm.weight F32 8\n", "model.norm.weight F8_E4M3 8\n");
    read_refuse(DSX__SAFETENSORS, safetensors_of(text), WITH(FP8), DSTOK_E_UNSUPPORTED, "or no matrix");
    free(text);
}

/* Element (i, j) is multiplied by scale (i / 128, j / 128). */
static void test_fp8_scales(void) {
    static uint8_t codes[130 * 260];
    static const uint8_t scales[2 * 3][4] = {{0, 0, 0x80, 0x3F}, {0, 0, 0, 0x40},    {0, 0, 0x40, 0x40},
                                             {0, 0, 0x80, 0x40}, {0, 0, 0xA0, 0x40}, {0, 0, 0xC0, 0x40}};
    dsx__part p = {DSX__F8_E4M3, 130, 260, codes, scales[0]};
    float row[260];

    memset(codes, 0x38, sizeof codes); /* 1 */
    for (uint64_t i = 0; i < 130; i++) {
        dsx__part_read(&p, i, 0, 260, row);
        for (uint64_t j = 0; j < 260; j++) CHECK(row[j] == (float)(1 + i / 128 * 3 + j / 128));
    }
    dsx__part_read(&p, 128, 127, 2, row);
    CHECK(row[0] == 4 && row[1] == 5);
}

/* ---- experts */

#define L0 "model.layers.0."
#define L1 "model.layers.1."
#define QWEN_LAYER(l)                                                                                        \
    l "input_layernorm.weight F32 8\n" l "post_attention_layernorm.weight F32 8\n" l                         \
      "self_attn.q_proj.weight F32 12 8\n" l "self_attn.k_proj.weight F32 6 8\n" l                           \
      "self_attn.v_proj.weight F32 6 8\n" l "self_attn.o_proj.weight F32 8 12\n" l                           \
      "self_attn.q_norm.weight F32 6\n" l "self_attn.k_norm.weight F32 6\n"
#define EXPERT(l, e)                                                                                         \
    l "mlp.experts." e ".gate_proj.weight F32 3 8\n" l "mlp.experts." e ".up_proj.weight F32 3 8\n" l        \
      "mlp.experts." e ".down_proj.weight F32 8 3\n"
#define DENSE(l)                                                                                             \
    l "mlp.gate_proj.weight F32 6 8\n" l "mlp.up_proj.weight F32 6 8\n" l "mlp.down_proj.weight F32 8 6\n"
#define ENDS "model.embed_tokens.weight F32 5 8\nmodel.norm.weight F32 8\nlm_head.weight F32 5 8\n"

static void test_qwen3_moe(void) {
    read_file *r = read_good(
        DSX__SAFETENSORS,
        safetensors_of(ENDS QWEN_LAYER(L0) DENSE(L0) QWEN_LAYER(L1) L1
                       "mlp.gate.weight F32 2 8\n" EXPERT(L1, "0") EXPERT(L1, "1")),
        "{\"model_type\":\"qwen3_moe\",\"vocab_size\":5,\"hidden_size\":8,\"intermediate_size\":6,\"head_"
        "dim\":6,"
        "\"num_hidden_layers\":2,\"num_attention_heads\":2,\"num_key_value_heads\":1,\"mlp_only_layers\":[0],"
        "\"num_experts\":2,\"num_experts_per_tok\":1,\"moe_intermediate_size\":3}");
    const struct dsx__layer_parts *l = r->parts.layers;

    check_part(r, &l[0].role[DSX__GATE], "model.layers.0.mlp.gate_proj.weight", 6, 8, 0);
    CHECK(l[0].experts == NULL && l[0].role[DSX__ROUTER].data == NULL && l[1].role[DSX__GATE].data == NULL);
    check_part(r, &l[1].role[DSX__Q_NORM], "model.layers.1.self_attn.q_norm.weight", 1, 6, 0);
    check_part(r, &l[1].role[DSX__O], "model.layers.1.self_attn.o_proj.weight", 8, 12, 0);
    check_part(r, &l[1].role[DSX__ROUTER], "model.layers.1.mlp.gate.weight", 2, 8, 0);
    check_part(r, &l[1].experts[0], "model.layers.1.mlp.experts.0.gate_proj.weight", 3, 8, 0);
    check_part(r, &l[1].experts[4], "model.layers.1.mlp.experts.1.up_proj.weight", 3, 8, 0);
    check_part(r, &l[1].experts[5], "model.layers.1.mlp.experts.1.down_proj.weight", 8, 3, 0);
    read_free(r);
}

/* ---- latent attention */

#define LATENT(l)                                                                                            \
    l "input_layernorm.weight F32 8\n" l "post_attention_layernorm.weight F32 8\n" l                         \
      "self_attn.kv_a_proj_with_mqa.weight F32 6 8\n" l "self_attn.kv_a_layernorm.weight F32 4\n" l          \
      "self_attn.kv_b_proj.weight F32 16 4\n" l "self_attn.o_proj.weight F32 8 10\n"
#define LATENT_Q(l)                                                                                          \
    l "self_attn.q_a_proj.weight F32 7 8\n" l "self_attn.q_a_layernorm.weight F32 7\n" l                     \
      "self_attn.q_b_proj.weight F32 10 7\n"
#define SHARED(l)                                                                                            \
    l "mlp.shared_experts.gate_proj.weight F32 6 8\n" l "mlp.shared_experts.up_proj.weight F32 6 8\n" l      \
      "mlp.shared_experts.down_proj.weight F32 8 6\n"
#define DEEPSEEK_SIZES                                                                                       \
    "\"vocab_size\":5,\"hidden_size\":8,\"intermediate_size\":6,\"num_hidden_layers\":2,\"num_attention_"    \
    "heads\":2,"                                                                                             \
    "\"kv_lora_rank\":4,\"qk_nope_head_dim\":3,\"qk_rope_head_dim\":2,\"v_head_dim\":5,\"n_routed_"          \
    "experts\":2,"                                                                                           \
    "\"num_experts_per_tok\":1,\"moe_intermediate_size\":3,\"n_shared_experts\":2,\"first_k_dense_"          \
    "replace\":1"
#define V3_CONFIG                                                                                            \
    "{\"model_type\":\"deepseek_v3\",\"q_lora_rank\":7,\"n_group\":1,\"topk_group\":1,\"num_key_value_"      \
    "heads\":2," DEEPSEEK_SIZES "}"
#define V3_TENSORS                                                                                           \
    ENDS LATENT(L0) LATENT_Q(L0) DENSE(L0) LATENT(L1) LATENT_Q(L1) SHARED(L1) L1                             \
        "mlp.gate.weight F32 2 8\n" L1 "mlp.gate.e_score_correction_bias F32 2\n" EXPERT(L1, "0")            \
            EXPERT(L1, "1")

static void test_deepseek(void) {
    read_file *r = read_good(
        DSX__SAFETENSORS, safetensors_of(V3_TENSORS "model.layers.2.eh_proj.weight F32 8 16\n"), V3_CONFIG);
    const struct dsx__layer_parts *l = r->parts.layers;

    check_part(r, &l[0].role[DSX__Q_A], "model.layers.0.self_attn.q_a_proj.weight", 7, 8, 0);
    check_part(r, &l[0].role[DSX__Q_A_NORM], "model.layers.0.self_attn.q_a_layernorm.weight", 1, 7, 0);
    check_part(r, &l[0].role[DSX__Q_B], "model.layers.0.self_attn.q_b_proj.weight", 10, 7, 0);
    check_part(r, &l[0].role[DSX__KV_A], "model.layers.0.self_attn.kv_a_proj_with_mqa.weight", 6, 8, 0);
    check_part(r, &l[0].role[DSX__KV_A_NORM], "model.layers.0.self_attn.kv_a_layernorm.weight", 1, 4, 0);
    check_part(r, &l[0].role[DSX__KV_B], "model.layers.0.self_attn.kv_b_proj.weight", 16, 4, 0);
    check_part(r, &l[0].role[DSX__O], "model.layers.0.self_attn.o_proj.weight", 8, 10, 0);
    CHECK(l[0].role[DSX__Q].data == NULL && l[0].role[DSX__K].data == NULL && l[0].role[DSX__V].data == NULL);
    check_part(r, &l[1].role[DSX__ROUTER_BIAS], "model.layers.1.mlp.gate.e_score_correction_bias", 1, 2, 0);
    check_part(r, &l[1].role[DSX__SHARED_GATE], "model.layers.1.mlp.shared_experts.gate_proj.weight", 6, 8,
               0);
    check_part(r, &l[1].role[DSX__SHARED_DOWN], "model.layers.1.mlp.shared_experts.down_proj.weight", 8, 6,
               0);
    check_part(r, &l[1].experts[2], "model.layers.1.mlp.experts.0.down_proj.weight", 8, 3, 0);
    read_free(r);

    read_free(read_good(DSX__SAFETENSORS,
                        safetensors_of(ENDS LATENT(L0) L0 "self_attn.q_proj.weight F32 10 8\n" DENSE(L0)
                                           LATENT(L1) L1 "self_attn.q_proj.weight F32 10 8\n" SHARED(L1) L1
                                       "mlp.gate.weight F32 2 8\n" EXPERT(L1, "0") EXPERT(L1, "1")),
                        "{\"model_type\":\"deepseek_v2\",\"q_lora_rank\":null," DEEPSEEK_SIZES "}"));
    read_refuse(DSX__SAFETENSORS, safetensors_of(V3_TENSORS "model.layers.3.eh_proj.weight F32 8 16\n"),
                V3_CONFIG, DSTOK_E_FORMAT,
                "\"model.layers.3.eh_proj.weight\" of shape [8][16] is no part of a deepseek model");
}

/* ---- GGUF */

#define G0 "blk.0."
#define G1 "blk.1."
#define GGUF_LATENT(l)                                                                                       \
    l "attn_norm.weight F32 32\n" l "ffn_norm.weight F32 32\n" l "attn_q.weight F32 24 32\n" l               \
      "attn_kv_a_mqa.weight F32 36 32\n" l "attn_kv_a_norm.weight F32 32\n" l                                \
      "attn_output.weight F32 32 10\n"
#define GGUF_ENDS "token_embd.weight F32 5 32\noutput_norm.weight F32 32\noutput.weight F32 5 32\n"
#define GGUF_EXPERTS                                                                                         \
    G1 "ffn_gate_inp.weight F32 3 32\n" G1 "exp_probs_b.bias F32 3\n" G1                                     \
       "ffn_gate_exps.weight Q8_0 3 64 32\n" G1 "ffn_up_exps.weight Q4_0 3 64 32\n" G1                       \
       "ffn_down_exps.weight Q8_0 3 32 64\n" G1 "ffn_gate_shexp.weight F32 64 32\n" G1                       \
       "ffn_up_shexp.weight F32 64 32\n" G1 "ffn_down_shexp.weight F32 32 64\n"
#define GGUF_DENSE                                                                                           \
    G0 "ffn_gate.weight F32 40 32\n" G0 "ffn_up.weight F32 40 32\n" G0 "ffn_down.weight F32 32 40\n"

static file deepseek_keys(bool split) {
    static const char *const whole[] = {"block_count",
                                        "embedding_length",
                                        "feed_forward_length",
                                        "attention.head_count",
                                        "context_length",
                                        "attention.kv_lora_rank",
                                        "rope.dimension_count",
                                        "expert_count",
                                        "expert_used_count",
                                        "expert_shared_count",
                                        "expert_feed_forward_length",
                                        "leading_dense_block_count",
                                        "expert_gating_func"};
    static const uint32_t values[] = {2, 32, 40, 2, 77, 32, 4, 3, 2, 1, 64, 1, 2};
    file f = start();
    char key[96];

    add_string(&f, "general.architecture", "deepseek2");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(key, sizeof key, "deepseek2.%s", whole[i]);
        add_id(&f, key, values[i]);
    }
    add_id(&f, "deepseek2.attention.head_count_kv", split ? 1 : 2);
    add_id(&f, "deepseek2.attention.key_length", split ? 36 : 12);
    add_id(&f, "deepseek2.attention.value_length", split ? 32 : 5);
    if (split) add_id(&f, "deepseek2.attention.key_length_mla", 12);
    if (split) add_id(&f, "deepseek2.attention.value_length_mla", 5);
    add_f32(&f, "deepseek2.attention.layer_norm_rms_epsilon", 0.5f);
    return f;
}

static void test_gguf_deepseek(void) {
    file f = deepseek_keys(false);
    finish_tensors(&f,
                   GGUF_ENDS GGUF_LATENT(G0) G0 "attn_kv_b.weight F32 26 32\n" GGUF_DENSE GGUF_LATENT(G1) G1
                   "attn_kv_b.weight F32 26 32\n" GGUF_EXPERTS,
                   32);
    read_file *r = read_good(DSX__GGUF, f, NULL);
    const struct dsx__layer_parts *l = r->parts.layers;

    check_part(r, &l[1].role[DSX__KV_B], "blk.1.attn_kv_b.weight", 26, 32, 0);
    check_part(r, &l[1].role[DSX__Q], "blk.1.attn_q.weight", 24, 32, 0);
    check_part(r, &l[1].role[DSX__ROUTER_BIAS], "blk.1.exp_probs_b.bias", 1, 3, 0);
    for (uint32_t e = 0; e < 3; e++) { /* rows of 32 are 34 bytes in Q8_0, 18 in Q4_0 */
        check_part(r, &l[1].experts[3 * e], "blk.1.ffn_gate_exps.weight", 64, 32, e * 64 * 34);
        check_part(r, &l[1].experts[3 * e + 1], "blk.1.ffn_up_exps.weight", 64, 32, e * 64 * 18);
        check_part(r, &l[1].experts[3 * e + 2], "blk.1.ffn_down_exps.weight", 32, 64, e * 32 * 68);
    }
    CHECK(r->a.config.moe.has_bias && r->a.config.moe.gate == DSX__GATE_SIGMOID && !r->a.config.mla.split);
    CHECK(r->a.config.n_kv_heads == 2 && r->a.config.head_dim == 12 && r->a.config.mla.nope == 8);
    read_free(r);
}

static void test_gguf_split(void) {
    file f = deepseek_keys(true);
    finish_tensors(&f,
                   GGUF_ENDS GGUF_LATENT(G0) G0 "attn_k_b.weight F32 2 32 8\n" G0
                                                "attn_v_b.weight F32 2 5 32\n" GGUF_DENSE GGUF_LATENT(G1) G1
                   "attn_k_b.weight F32 2 32 8\n" G1 "attn_v_b.weight F32 2 5 32\n" GGUF_EXPERTS,
                   32);
    read_file *r = read_good(DSX__GGUF, f, NULL);
    const struct dsx__layer_parts *l = r->parts.layers;

    CHECK(r->a.config.mla.split && r->a.config.n_kv_heads == 2 && r->a.config.head_dim == 12 &&
          r->a.config.mla.value == 5);
    check_part(r, &l[1].role[DSX__K_B], "blk.1.attn_k_b.weight", 64, 8, 0);
    check_part(r, &l[1].role[DSX__V_B], "blk.1.attn_v_b.weight", 10, 32, 0);
    CHECK(l[1].role[DSX__KV_B].data == NULL);
    read_free(r);
}

int main(void) {
    test_llama();
    test_llama_unlike();
    test_llama_more();
    test_fp8();
    test_fp8_scales();
    test_qwen3_moe();
    test_deepseek();
    test_gguf_deepseek();
    test_gguf_split();
    return t_end();
}
