/* SPDX-License-Identifier: MIT */
/* config.json: the values of transformers for missing keys, every key that is read, every reason to refuse. */
#include "arch/config.h"
#include "t.h"

#include <stdlib.h>

/* From memory of exactly its size. */
static dstok_status read_text(const char *json, dsx__config *c, dstok_error *err) {
    size_t n = strlen(json);
    char *exact = malloc(n + (n == 0));

    if (exact == NULL) exit(1);
    memcpy(exact, json, n);
    dstok_status status = dsx__config_from_json(exact, n, c, err);
    free(exact);
    return status;
}

static dsx__config good(const char *json) {
    dsx__config c = {.n_layers = 0};
    dstok_error err = {0};
    dstok_status status = read_text(json, &c, &err);

    CHECK_EQ(status, DSTOK_OK);
    if (status != DSTOK_OK) fprintf(stderr, "  %s\n  %s\n", json, err.text);
    return c;
}

static void refuse(const char *json, dstok_status want, const char *part) {
    dsx__config c;
    dstok_error err = {0};
    dstok_status status = read_text(json, &c, &err);

    CHECK_EQ(status, want);
    CHECK_EQ(err.status, want);
    CHECK(strstr(err.text, part) != NULL);
    if (status != want || strstr(err.text, part) == NULL)
        fprintf(stderr, "  %s\n  \"%s\", want \"%s\"\n", json, err.text, part);
}

/* ---- what is missing */

static void check_sizes(const dsx__config *c, uint32_t n_vocab, uint32_t width, uint32_t ffn,
                        uint32_t n_layers, uint32_t n_heads, uint32_t n_kv_heads, uint32_t head_dim,
                        uint32_t context) {
    CHECK_EQ(c->n_vocab, n_vocab);
    CHECK_EQ(c->width, width);
    CHECK_EQ(c->ffn, ffn);
    CHECK_EQ(c->n_layers, n_layers);
    CHECK_EQ(c->n_heads, n_heads);
    CHECK_EQ(c->n_kv_heads, n_kv_heads);
    CHECK_EQ(c->head_dim, head_dim);
    CHECK_EQ(c->context, context);
    CHECK(c->norm_eps == 1e-6);
    CHECK(c->rope.theta == 10000);
    CHECK_EQ(c->rope.kind, DSX__ROPE_PLAIN);
    CHECK(!c->tied_head && !c->mlp_bias && !c->o_bias);
    CHECK(c->attention_scale == 0);
}

static void test_defaults(void) {
    dsx__config c = good("{\"model_type\":\"llama\"}");
    check_sizes(&c, 32000, 4096, 11008, 32, 32, 32, 128, 2048);
    CHECK_EQ(c.arch, DSX__LLAMA);
    CHECK(c.bos == 1 && c.n_eos == 1 && c.eos[0] == 2 && !c.rope.interleaved && !c.qkv_bias && !c.qk_norm);

    c = good("{\"model_type\":\"mistral\"}");
    check_sizes(&c, 32000, 4096, 14336, 32, 32, 8, 128, 131072);
    CHECK_EQ(c.arch, DSX__MISTRAL);
    CHECK(c.window == 4096 && c.window_from == 0 && c.bos == 1 && c.eos[0] == 2);

    c = good("{\"model_type\":\"qwen2\"}");
    check_sizes(&c, 151936, 4096, 22016, 32, 32, 32, 128, 32768);
    CHECK_EQ(c.arch, DSX__QWEN2);
    CHECK(c.qkv_bias && c.window == 0 && c.bos == -1 && c.n_eos == 0);

    c = good("{\"model_type\":\"qwen3\",\"hidden_size\":2048}");
    check_sizes(&c, 151936, 2048, 22016, 32, 32, 32, 128, 32768);
    CHECK_EQ(c.arch, DSX__QWEN3);
    CHECK(c.qk_norm && !c.qkv_bias && c.window == 0);

    c = good("{\"model_type\":\"qwen3_moe\"}");
    check_sizes(&c, 151936, 2048, 6144, 24, 32, 4, 64, 32768);
    CHECK_EQ(c.arch, DSX__QWEN3_MOE);
    CHECK(c.qk_norm && c.moe.n_experts == 128 && c.moe.n_used == 8 && c.moe.width == 768 && !c.moe.normalise);
    CHECK(c.moe.first_layer == 0 && c.moe.layer_step == 1 && c.moe.scale == 1 &&
          c.moe.gate == DSX__GATE_SOFTMAX);
}

static void test_deepseek_defaults(void) {
    dsx__config c = good("{\"model_type\":\"deepseek_v2\",\"num_experts_per_tok\":6}");
    check_sizes(&c, 32000, 4096, 11008, 32, 32, 32, 192, 2048);
    CHECK_EQ(c.arch, DSX__DEEPSEEK);
    CHECK(c.mla.q_rank == 1536 && c.mla.kv_rank == 512 && c.mla.nope == 128 && c.mla.rope == 64 &&
          c.mla.value == 128);
    CHECK(c.moe.n_experts == 64 && c.moe.n_used == 6 && c.moe.n_shared == 2 && c.moe.width == 1407);
    CHECK(c.moe.first_layer == 0 && c.moe.n_groups == 0 && c.moe.scale == 1 && !c.moe.normalise &&
          !c.moe.has_bias);
    CHECK(c.rope.interleaved && c.moe.gate == DSX__GATE_SOFTMAX && !c.moe.group_top2);

    c = good("{\"model_type\":\"deepseek_v3\"}");
    check_sizes(&c, 129280, 7168, 18432, 61, 128, 128, 192, 4096);
    CHECK(c.bos == 0 && c.n_eos == 1 && c.eos[0] == 1 && c.n_more_layers == 1);
    CHECK(c.moe.n_experts == 256 && c.moe.n_used == 8 && c.moe.n_shared == 1 && c.moe.width == 2048);
    CHECK(c.moe.n_groups == 8 && c.moe.n_groups_used == 4 && c.moe.first_layer == 3 && c.moe.scale == 2.5);
    CHECK(c.moe.normalise && c.moe.has_bias && c.moe.group_top2 && c.moe.gate == DSX__GATE_SIGMOID);
    CHECK(c.rope.interleaved);
}

/* ---- what is there */

#define LLAMA "{\"model_type\":\"llama\",\"hidden_size\":64,\"num_attention_heads\":4,"
#define QWEN                                                                                                 \
    "{\"model_type\":\"qwen2\",\"hidden_size\":64,\"num_attention_heads\":4,\"num_key_value_heads\":2,"
#define MOE "{\"model_type\":\"qwen3_moe\",\"num_hidden_layers\":6,"
#define V2  "{\"model_type\":\"deepseek_v2\",\"num_experts_per_tok\":2,"
#define V3  "{\"model_type\":\"deepseek_v3\","

static void test_keys(void) {
    dsx__config c = good(
        LLAMA
        "\"vocab_size\":7,\"intermediate_size\":9,\"num_hidden_layers\":3,\"num_key_value_heads\":2,"
        "\"head_dim\":10,\"max_position_embeddings\":11,\"rms_norm_eps\":0.25,\"attention_bias\":true,"
        "\"mlp_bias\":true,\"tie_word_embeddings\":true,\"bos_token_id\":null,\"eos_token_id\":[4,5,6]}");
    CHECK(c.n_vocab == 7 && c.ffn == 9 && c.n_layers == 3 && c.n_kv_heads == 2 && c.head_dim == 10 &&
          c.context == 11);
    CHECK(c.norm_eps == 0.25 && c.qkv_bias && c.o_bias && c.mlp_bias && c.tied_head && c.bos == -1);
    CHECK(c.n_eos == 3 && c.eos[0] == 4 && c.eos[2] == 6);
    c = good(LLAMA "\"eos_token_id\":null,\"head_dim\":null,\"num_key_value_heads\":null}");
    CHECK(c.n_eos == 0 && c.head_dim == 16 && c.n_kv_heads == 4);
    c = good("{\"model_type\":\"mistral\",\"num_key_value_heads\":null,\"sliding_window\":null}");
    CHECK(c.n_kv_heads == 32 && c.window == 0);
    c = good("{\"model_type\":\"qwen3\",\"attention_bias\":true}");
    CHECK(c.qkv_bias && c.o_bias && c.qk_norm);
}

static void test_windows(void) {
    dsx__config c = good(
        QWEN
        "\"num_hidden_layers\":6,\"use_sliding_window\":true,\"sliding_window\":5,\"max_window_layers\":4}");
    CHECK(c.window == 5 && c.window_from == 4);
    c = good(
        QWEN
        "\"num_hidden_layers\":6,\"use_sliding_window\":false,\"sliding_window\":5,\"max_window_layers\":4}");
    CHECK(c.window == 0);
    c = good(QWEN
             "\"num_hidden_layers\":6,\"use_sliding_window\":true,\"sliding_window\":5}"); /* from layer 28 */
    CHECK(c.window == 0);
    c = good(QWEN "\"num_hidden_layers\":3,\"use_sliding_window\":true,\"sliding_window\":5,"
                  "\"layer_types\":[\"full_attention\",\"sliding_attention\",\"sliding_attention\"],\"max_"
                  "window_layers\":1}");
    CHECK(c.window == 5 && c.window_from == 1);
    c = good("{\"model_type\":\"mistral\",\"num_hidden_layers\":2,\"layer_types\":[\"full_attention\",\"full_"
             "attention\"]}");
    CHECK(c.window == 0);
    c = good(MOE "\"use_sliding_window\":true,\"sliding_window\":9,\"max_window_layers\":4}");
    CHECK(c.window == 9 && c.window_from == 0);
    refuse(QWEN "\"num_hidden_layers\":3,\"use_sliding_window\":true,\"max_window_layers\":0,"
                "\"layer_types\":[\"sliding_attention\",\"full_attention\",\"sliding_attention\"]}",
           DSTOK_E_UNSUPPORTED, "a layer with a sliding window before one without");
    refuse(QWEN "\"num_hidden_layers\":2,\"layer_types\":[\"full_attention\"]}", DSTOK_E_FORMAT,
           "an entry for each of 2 layers");
    refuse(QWEN "\"num_hidden_layers\":1,\"layer_types\":[\"chunked\"]}", DSTOK_E_UNSUPPORTED,
           "layer_types other than");
    refuse(QWEN "\"num_hidden_layers\":1,\"layer_types\":[\"sliding_attention\"]}", DSTOK_E_FORMAT,
           "no sliding_window");
    refuse("{\"model_type\":\"mistral\",\"sliding_window\":0}", DSTOK_E_FORMAT,
           "sliding_window must be above 0");
}

static void test_rope(void) {
    dsx__config c = good(LLAMA "\"rope_theta\":5,\"rope_scaling\":{\"type\":\"linear\",\"factor\":2}}");
    CHECK(c.rope.kind == DSX__ROPE_LINEAR && c.rope.factor == 2 && c.rope.theta == 5);
    c = good(LLAMA "\"rope_scaling\":{\"rope_type\":\"dynamic\",\"type\":\"linear\",\"factor\":2.5,"
                   "\"original_max_position_embeddings\":9},\"max_position_embeddings\":77}");
    CHECK(c.rope.kind == DSX__ROPE_DYNAMIC && c.rope.factor == 2.5 && c.rope.original_context == 77);
    CHECK_EQ(c.context, 192); /* what it reaches */
    c = good(LLAMA "\"rope_scaling\":{\"rope_type\":\"dynamic\",\"factor\":1e300}}");
    CHECK_EQ(c.context, DSX__MAX_CONTEXT);
    c = good(LLAMA "\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8.0,\"low_freq_factor\":1.0,\"high_"
                   "freq_factor\":4.0,"
                   "\"original_max_position_embeddings\":8192},\"rope_theta\":500000.0}");
    CHECK(c.rope.kind == DSX__ROPE_LLAMA3 && c.rope.factor == 8 && c.rope.low_freq == 1 &&
          c.rope.high_freq == 4);
    CHECK(c.rope.original_context == 8192 && c.rope.theta == 500000);
    c = good(LLAMA "\"rope_parameters\":{\"rope_type\":\"yarn\",\"factor\":4,\"rope_theta\":6}}");
    CHECK(c.rope.kind == DSX__ROPE_YARN && c.rope.theta == 6 && c.rope.original_context == 2048);
    CHECK(c.rope.beta_fast == 32 && c.rope.beta_slow == 1 && c.rope.mscale == 0 &&
          c.rope.attention_factor == 0);
    c = good(
        LLAMA
        "\"rope_scaling\":{\"type\":\"yarn\",\"factor\":4,\"beta_fast\":9,\"beta_slow\":2,\"mscale\":0.5,"
        "\"mscale_all_dim\":0.75,\"attention_factor\":1.5,\"original_max_position_embeddings\":33}}");
    CHECK(c.rope.beta_fast == 9 && c.rope.beta_slow == 2 && c.rope.mscale == 0.5 &&
          c.rope.mscale_all == 0.75);
    CHECK(c.rope.attention_factor == 1.5 && c.rope.original_context == 33);
    c = good(LLAMA "\"original_max_position_embeddings\":44,\"rope_scaling\":{\"type\":\"yarn\",\"factor\":4,"
                   "\"original_max_position_embeddings\":33}}");
    CHECK_EQ(c.rope.original_context, 44);
    c = good(LLAMA "\"rope_parameters\":{\"rope_theta\":7,\"rope_type\":\"default\"}}");
    CHECK(c.rope.kind == DSX__ROPE_PLAIN && c.rope.theta == 7);
    c = good(LLAMA "\"rope_theta\":8,\"rope_scaling\":null,\"rope_parameters\":{}}");
    CHECK(c.rope.kind == DSX__ROPE_PLAIN && c.rope.theta == 8);
}

static void test_rope_refused(void) {
    refuse(LLAMA "\"rope_scaling\":{\"rope_type\":\"longrope\",\"factor\":2}}", DSTOK_E_UNSUPPORTED,
           "rope_type longrope, only default");
    refuse(LLAMA "\"rope_scaling\":{\"factor\":2}}", DSTOK_E_FORMAT, "a factor, but no rope_type");
    refuse(LLAMA "\"rope_scaling\":{\"type\":\"linear\"}}", DSTOK_E_FORMAT, "of type linear has no factor");
    refuse(LLAMA "\"rope_scaling\":{\"type\":\"llama3\",\"factor\":8}}", DSTOK_E_FORMAT,
           "needs low_freq_factor");
    refuse(
        LLAMA
        "\"rope_scaling\":{\"type\":\"llama3\",\"factor\":8,\"low_freq_factor\":4,\"high_freq_factor\":4}}",
        DSTOK_E_FORMAT, "below high_freq_factor");
    refuse(LLAMA "\"rope_scaling\":{\"type\":\"linear\",\"factor\":0}}", DSTOK_E_FORMAT,
           "factor of rotary positions must be above 0");
    refuse(V3 "\"rope_scaling\":{\"type\":\"linear\",\"factor\":2,\"mscale_all_dim\":-1}}", DSTOK_E_FORMAT,
           "must not be below 0");
    refuse(LLAMA "\"rope_scaling\":{\"type\":\"linear\",\"factor\":\"2\"}}", DSTOK_E_FORMAT,
           "factor must be a number");
    refuse(LLAMA "\"rope_scaling\":{\"type\":3}}", DSTOK_E_FORMAT, "type must be a string");
    refuse(LLAMA "\"rope_scaling\":7}", DSTOK_E_FORMAT, "rope_scaling must be an object");
    refuse(LLAMA "\"rope_scaling\":{\"type\":\"yarn\",\"factor\":2,\"truncate\":false}}", DSTOK_E_UNSUPPORTED,
           "truncate false");
    refuse(LLAMA "\"rope_scaling\":{\"type\":\"yarn\",\"factor\":2,\"beta_fast\":1}}", DSTOK_E_FORMAT,
           "below beta_fast");
    refuse(LLAMA "\"rope_scaling\":{\"type\":\"yarn\",\"factor\":2,\"mscale\":-1}}", DSTOK_E_FORMAT,
           "must not be below 0");
    refuse(LLAMA "\"rope_scaling\":{\"type\":\"yarn\",\"factor\":2,\"original_max_position_embeddings\":0}}",
           DSTOK_E_FORMAT, "original context of rotary positions");
    refuse(LLAMA "\"rope_parameters\":{\"full_attention\":{},\"sliding_attention\":{}}}", DSTOK_E_UNSUPPORTED,
           "for each type of layer");
    refuse(LLAMA "\"partial_rotary_factor\":0.5}", DSTOK_E_UNSUPPORTED, "partial_rotary_factor");
    refuse(LLAMA "\"rope_parameters\":{\"partial_rotary_factor\":0.5}}", DSTOK_E_UNSUPPORTED,
           "partial_rotary_factor");
    refuse(LLAMA "\"rope_theta\":0}", DSTOK_E_FORMAT, "base of rotary positions");
    refuse(LLAMA "\"rope_theta\":true}", DSTOK_E_FORMAT, "rope_theta must be a number");
    refuse(LLAMA "\"head_dim\":9}", DSTOK_E_FORMAT, "even number of dimensions");
    refuse(LLAMA "\"head_dim\":2050}", DSTOK_E_FORMAT,
           "size of a head is 2050; it must be between 1 and 2048");
}

static void test_experts(void) {
    dsx__config c = good(
        MOE "\"decoder_sparse_step\":2,\"norm_topk_prob\":true,\"num_experts\":8,\"num_experts_per_tok\":3,"
            "\"moe_intermediate_size\":5}");
    CHECK(c.moe.n_experts == 8 && c.moe.n_used == 3 && c.moe.width == 5 && c.moe.normalise);
    for (uint32_t l = 0; l < 6; l++) CHECK_EQ(dsx__has_experts(&c, l), l % 2);
    c = good(MOE "\"mlp_only_layers\":[0,1]}");
    for (uint32_t l = 0; l < 6; l++) CHECK_EQ(dsx__has_experts(&c, l), l >= 2);
    c = good(V3 "\"first_k_dense_replace\":2,\"moe_layer_freq\":3}");
    for (uint32_t l = 0; l < 7; l++) CHECK_EQ(dsx__has_experts(&c, l), l == 3 || l == 6);
    c = good(V2 "\"topk_method\":\"group_limited_greedy\",\"n_group\":4,\"topk_group\":2,\"q_lora_rank\":"
                "null,\"first_k_dense_replace\":1}");
    CHECK(c.moe.n_groups == 4 && c.moe.n_groups_used == 2 && c.mla.q_rank == 0 && c.moe.first_layer == 1);
    c = good(V2 "\"n_routed_experts\":null,\"n_shared_experts\":null}");
    CHECK(c.moe.n_experts == 0 && !dsx__has_experts(&c, 0));
    c = good(V3 "\"rope_interleave\":false,\"num_nextn_predict_layers\":0}");
    CHECK(!c.rope.interleaved && c.n_more_layers == 0);
    CHECK_EQ(good(V3 "\"num_mtp_layers\":3}").n_more_layers, 3);
}

static void test_experts_refused(void) {
    refuse(MOE "\"mlp_only_layers\":[1]}", DSTOK_E_UNSUPPORTED, "mlp_only_layers other than the first ones");
    refuse(MOE "\"mlp_only_layers\":[0],\"decoder_sparse_step\":2}", DSTOK_E_UNSUPPORTED, "mlp_only_layers");
    refuse(MOE "\"mlp_only_layers\":3}", DSTOK_E_FORMAT, "mlp_only_layers must be a list");
    refuse(MOE "\"decoder_sparse_step\":0}", DSTOK_E_FORMAT, "decoder_sparse_step must be above 0");
    refuse(MOE "\"num_experts\":5000}", DSTOK_E_FORMAT,
           "number of experts is 5000; it must be between 1 and 4096");
    refuse(MOE "\"num_experts\":4}", DSTOK_E_FORMAT,
           "number of experts used is 8; it must be between 1 and 4");
    refuse(MOE "\"moe_intermediate_size\":0}", DSTOK_E_FORMAT, "width of an expert is 0");
    refuse("{\"model_type\":\"deepseek_v2\"}", DSTOK_E_FORMAT, "number of experts used is 0");
    refuse(V2 "\"topk_method\":\"noaux_tc\"}", DSTOK_E_UNSUPPORTED, "topk_method noaux_tc of deepseek_v2");
    refuse(V2 "\"topk_method\":\"group_limited_greedy\"}", DSTOK_E_FORMAT, "needs n_group and topk_group");
    refuse(V2 "\"scoring_func\":\"sigmoid\"}", DSTOK_E_UNSUPPORTED, "scoring_func sigmoid, only softmax");
    refuse(V2 "\"norm_topk_prob\":true}", DSTOK_E_UNSUPPORTED, "norm_topk_prob of deepseek_v2");
    refuse(V3 "\"scoring_func\":\"softmax\"}", DSTOK_E_UNSUPPORTED, "scoring_func softmax, only sigmoid");
    refuse(V3 "\"topk_method\":\"greedy\"}", DSTOK_E_UNSUPPORTED, "topk_method greedy, only noaux_tc");
    refuse(V3 "\"n_group\":7}", DSTOK_E_FORMAT, "groups do not divide the experts");
    refuse(V3 "\"n_group\":256,\"topk_group\":8}", DSTOK_E_FORMAT, "no two best ones");
    refuse(V3 "\"n_group\":64,\"topk_group\":1}", DSTOK_E_FORMAT, "hold fewer experts than are used");
    refuse(V3 "\"topk_group\":0}", DSTOK_E_FORMAT, "number of groups used is 0");
    refuse(V3 "\"moe_layer_freq\":0}", DSTOK_E_FORMAT, "moe_layer_freq must be above 0");
    refuse(V3 "\"attention_bias\":true}", DSTOK_E_UNSUPPORTED, "attention_bias and mlp_bias of DeepSeek");
    refuse(V3 "\"kv_lora_rank\":0}", DSTOK_E_FORMAT, "kv_lora_rank must be above 0");
    refuse(V3 "\"kv_lora_rank\":1986}", DSTOK_E_FORMAT, "latent and the positions is 2050");
    refuse(V3 "\"qk_rope_head_dim\":63}", DSTOK_E_FORMAT, "even number of dimensions");
    refuse(V3 "\"qk_nope_head_dim\":4294967295}", DSTOK_E_FORMAT, "a head is wider than");
    refuse(V3 "\"v_head_dim\":1048576}", DSTOK_E_FORMAT, "width of all keys and values");
}

/* ---- what is refused in any model */

static void test_refused(void) {
    refuse("", DSTOK_E_FORMAT, "no JSON: it is empty");
    refuse("{", DSTOK_E_FORMAT, "no JSON: ");
    refuse("[]", DSTOK_E_FORMAT, "must be an object");
    refuse("{}", DSTOK_E_FORMAT, "there is no model_type");
    refuse("{\"model_type\":1}", DSTOK_E_FORMAT, "model_type must be a string");
    refuse("{\"model_type\":\"llama\",\"model_type\":\"llama\"}", DSTOK_E_FORMAT, "no JSON: duplicate");
    refuse("{\"model_type\":\"gpt2\"}", DSTOK_E_UNSUPPORTED,
           "model_type gpt2; known are llama, mistral, qwen2, qwen3, qwen3_moe, deepseek_v2, deepseek_v3");
    refuse(LLAMA "\"hidden_act\":\"gelu\"}", DSTOK_E_UNSUPPORTED, "hidden_act gelu, only silu");
    refuse(LLAMA "\"quantization_config\":{\"quant_method\":\"awq\"}}", DSTOK_E_UNSUPPORTED,
           "quantization_config (awq)");
    refuse(V3 "\"quantization_config\":{\"quant_method\":\"fp8\"}}", DSTOK_E_UNSUPPORTED,
           "quantization_config (fp8)");
    refuse(V3 "\"quantization_config\":{\"quant_method\":\"fp8\",\"weight_block_size\":[128,64]}}",
           DSTOK_E_UNSUPPORTED, "FP8 in blocks of 128 x 128");
    refuse(V3 "\"quantization_config\":{\"quant_method\":\"fp8\",\"weight_block_size\":[128,128],\"fmt\":"
              "\"e5m2\"}}",
           DSTOK_E_UNSUPPORTED, "quantization_config (fp8)");
    refuse(V3 "\"quantization_config\":{\"quant_method\":\"fp8\",\"weight_block_size\":[128,128],"
              "\"activation_scheme\":\"static\"}}",
           DSTOK_E_UNSUPPORTED, "quantization_config (fp8)");
    refuse(LLAMA "\"quantization\":{\"bits\":4,\"group_size\":32}}", DSTOK_E_UNSUPPORTED,
           "quantization (MLX, 4 bits)");
    refuse(LLAMA "\"vocab_size\":-1}", DSTOK_E_FORMAT, "vocab_size must be a whole number");
    refuse(LLAMA "\"vocab_size\":1.5}", DSTOK_E_FORMAT, "vocab_size must be a whole number");
    refuse(LLAMA "\"tie_word_embeddings\":1}", DSTOK_E_FORMAT, "tie_word_embeddings must be true or false");
    refuse(LLAMA "\"rms_norm_eps\":0}", DSTOK_E_FORMAT, "epsilon");
    refuse(LLAMA "\"bos_token_id\":\"x\"}", DSTOK_E_FORMAT, "bos_token_id must be the number of a token");
    refuse(LLAMA "\"eos_token_id\":[1,2,3,4,5,6,7,8,9]}", DSTOK_E_LIMIT,
           "eos_token_id has 9 tokens; at most 8");
    refuse("{\"model_type\":\"llama\",\"num_attention_heads\":0}", DSTOK_E_FORMAT,
           "num_attention_heads must be above 0");
    refuse(LLAMA "\"num_key_value_heads\":3}", DSTOK_E_FORMAT, "do not divide the heads");
    refuse(LLAMA "\"num_key_value_heads\":8}", DSTOK_E_FORMAT,
           "number of key-value heads is 8; it must be between 1 and 4");
    refuse(LLAMA "\"num_hidden_layers\":0}", DSTOK_E_FORMAT,
           "number of layers is 0; it must be between 1 and 1024");
    refuse(LLAMA "\"num_hidden_layers\":1025}", DSTOK_E_FORMAT, "number of layers is 1025");
    refuse(LLAMA "\"vocab_size\":16777217}", DSTOK_E_FORMAT,
           "number of tokens is 16777217; it must be between 1 and 16777216");
    refuse(LLAMA "\"intermediate_size\":1048577}", DSTOK_E_FORMAT, "feed-forward width is 1048577");
    refuse("{\"model_type\":\"llama\",\"num_attention_heads\":1024,\"head_dim\":2048}", DSTOK_E_FORMAT,
           "width of all heads is 2097152");
    refuse(LLAMA "\"max_position_embeddings\":16777217}", DSTOK_E_FORMAT, "context is 16777217");
    refuse("{\"model_type\":\"llama\",\"hidden_size\":4294967295}", DSTOK_E_FORMAT, "width is 4294967295");
}

static void test_lines(void) {
    dsx__config c;
    dstok_error err = {0};

    CHECK_EQ(read_text("{\n\"model_type\": ,\n}", &c, &err), DSTOK_E_FORMAT);
    CHECK_EQ(err.line, 2);
    CHECK_EQ(read_text("{\"model_type\":\"gpt2\"}", &c, NULL), DSTOK_E_UNSUPPORTED);
}

int main(void) {
    test_defaults();
    test_deepseek_defaults();
    test_keys();
    test_windows();
    test_rope();
    test_rope_refused();
    test_experts();
    test_experts_refused();
    test_refused();
    test_lines();
    return t_end();
}
