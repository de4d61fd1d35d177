/* SPDX-License-Identifier: MIT */
/* config.json as well-known checkpoints have it, with all their keys: every one is opened, and understood. */
#include "arch/config.h"
#include "t.h"

#include <inttypes.h>
#include <stdarg.h>

#define LLAMA                                                                                                \
    "\"architectures\":[\"LlamaForCausalLM\"],\"model_type\":\"llama\",\"hidden_act\":\"silu\","             \
    "\"initializer_range\":0.02,\"pretraining_tp\":1,\"rms_norm_eps\":1e-05,\"use_cache\":true,"             \
    "\"transformers_version\":\"4.40.0.dev0\","
#define LLAMA_3                                                                                              \
    LLAMA                                                                                                    \
        "\"attention_bias\":false,\"attention_dropout\":0.0,\"rope_theta\":500000.0,\"vocab_size\":128256,"  \
        "\"torch_dtype\":\"bfloat16\",\"num_key_value_heads\":8,\"num_attention_heads\":32,"
#define LLAMA_31(factor)                                                                                     \
    "\"mlp_bias\":false,\"max_position_embeddings\":131072,\"rope_scaling\":{\"factor\":" factor             \
    ",\"low_freq_factor\":1.0,\"high_freq_factor\":4.0,\"original_max_position_embeddings\":8192,"           \
    "\"rope_type\":\"llama3\"},"
#define SIZES_8B                                                                                             \
    "\"hidden_size\":4096,\"intermediate_size\":14336,\"num_hidden_layers\":32,\"tie_word_embeddings\":"     \
    "false"
#define SMOLLM                                                                                               \
    LLAMA "\"attention_bias\":false,\"attention_dropout\":0.0,\"bos_token_id\":0,\"eos_token_id\":0,"        \
          "\"is_llama_config\":true,\"mlp_bias\":false,\"rope_interleaved\":false,\"rope_scaling\":null,"    \
          "\"tie_word_embeddings\":true,\"vocab_size\":49152,\"torch_dtype\":\"bfloat16\","
#define SIZES_135M                                                                                           \
    "\"hidden_size\":576,\"intermediate_size\":1536,\"num_hidden_layers\":30,\"num_attention_heads\":9,"     \
    "\"num_key_value_heads\":3,"
#define MISTRAL                                                                                              \
    "\"architectures\":[\"MistralForCausalLM\"],\"model_type\":\"mistral\",\"bos_token_id\":1,"              \
    "\"eos_token_id\":2,\"hidden_act\":\"silu\",\"initializer_range\":0.02,\"num_attention_heads\":32,"      \
    "\"num_key_value_heads\":8,\"rms_norm_eps\":1e-05,\"torch_dtype\":\"bfloat16\",\"use_cache\":true,"      \
    "\"max_position_embeddings\":32768," SIZES_8B ","
#define QWEN2                                                                                                \
    "\"architectures\":[\"Qwen2ForCausalLM\"],\"model_type\":\"qwen2\",\"attention_dropout\":0.0,"           \
    "\"hidden_act\":\"silu\",\"initializer_range\":0.02,\"max_position_embeddings\":131072,"                 \
    "\"rms_norm_eps\":1e-06,\"torch_dtype\":\"bfloat16\",\"use_cache\":true,\"use_sliding_window\":false,"   \
    "\"bos_token_id\":151643,"
#define QWEN3                                                                                                \
    "\"attention_bias\":false,\"attention_dropout\":0.0,\"bos_token_id\":151643,\"eos_token_id\":151645,"    \
    "\"head_dim\":128,\"hidden_act\":\"silu\",\"initializer_range\":0.02,\"max_position_embeddings\":40960," \
    "\"rms_norm_eps\":1e-06,\"rope_scaling\":null,\"rope_theta\":1000000,\"sliding_window\":null,"           \
    "\"torch_dtype\":\"bfloat16\",\"use_cache\":true,\"use_sliding_window\":false,\"vocab_size\":151936,"
#define DEEPSEEK                                                                                             \
    "\"attention_bias\":false,\"attention_dropout\":0.0,\"aux_loss_alpha\":0.001,\"ep_size\":1,"             \
    "\"hidden_act\":\"silu\",\"initializer_range\":0.02,\"kv_lora_rank\":512,"                               \
    "\"max_position_embeddings\":163840,\"moe_layer_freq\":1,\"pretraining_tp\":1,\"qk_nope_head_dim\":128," \
    "\"qk_rope_head_dim\":64,\"rms_norm_eps\":1e-06,\"rope_theta\":10000,\"seq_aux\":true,"                  \
    "\"tie_word_embeddings\":false,\"torch_dtype\":\"bfloat16\",\"use_cache\":true,\"v_head_dim\":128,"      \
    "\"auto_map\":{\"AutoConfig\":\"configuration_deepseek.DeepseekConfig\"},"
#define DEEPSEEK_YARN(mscale)                                                                                \
    "\"rope_scaling\":{\"beta_fast\":32,\"beta_slow\":1,\"factor\":40,\"mscale\":" mscale                    \
    ",\"mscale_all_dim\":" mscale ",\"original_max_position_embeddings\":4096,\"type\":\"yarn\"},"
#define V2                                                                                                   \
    DEEPSEEK "\"architectures\":[\"DeepseekV2ForCausalLM\"],\"model_type\":\"deepseek_v2\","                 \
             "\"bos_token_id\":100000,\"eos_token_id\":100001,\"first_k_dense_replace\":1,"                  \
             "\"n_shared_experts\":2,\"norm_topk_prob\":false,\"num_experts_per_tok\":6,"                    \
             "\"scoring_func\":\"softmax\",\"vocab_size\":102400," DEEPSEEK_YARN("0.707")
#define V3                                                                                                   \
    DEEPSEEK "\"architectures\":[\"DeepseekV3ForCausalLM\"],\"model_type\":\"deepseek_v3\","                 \
             "\"bos_token_id\":0,\"eos_token_id\":1,\"first_k_dense_replace\":3,\"hidden_size\":7168,"       \
             "\"intermediate_size\":18432,\"moe_intermediate_size\":2048,\"n_group\":8,"                     \
             "\"n_routed_experts\":256,\"n_shared_experts\":1,\"norm_topk_prob\":true,"                      \
             "\"num_attention_heads\":128,\"num_experts_per_tok\":8,\"num_hidden_layers\":61,"               \
             "\"num_key_value_heads\":128,\"num_nextn_predict_layers\":1,\"q_lora_rank\":1536,"              \
             "\"routed_scaling_factor\":2.5,\"scoring_func\":\"sigmoid\",\"topk_group\":4,"                  \
             "\"topk_method\":\"noaux_tc\",\"vocab_size\":129280,"
#define V3_FP8                                                                                               \
    "\"quantization_config\":{\"activation_scheme\":\"dynamic\",\"fmt\":\"e4m3\",\"quant_method\":\"fp8\","  \
    "\"weight_block_size\":[128,128]},"

/* What is read of it: sizes; heads; vocabulary, ends of text; context, window; rotary positions; switches;
 * experts; latents. */
static const struct known {
    const char *name, *json, *read;
} known[] = {
    {"Llama-2-7b",
     LLAMA "\"_name_or_path\":\"meta-llama/Llama-2-7b-hf\",\"bos_token_id\":1,\"eos_token_id\":2,"
           "\"hidden_size\":4096,\"intermediate_size\":11008,\"max_position_embeddings\":4096,"
           "\"num_attention_heads\":32,\"num_hidden_layers\":32,\"num_key_value_heads\":32,"
           "\"rope_scaling\":null,\"tie_word_embeddings\":false,\"torch_dtype\":\"float16\","
           "\"vocab_size\":32000",
     "llama 32 x 4096, 11008; 32/32 x 128; 32000, 2; 4096, 0; plain 10000"},
    {"Meta-Llama-3-8B",
     LLAMA_3 "\"bos_token_id\":128000,\"eos_token_id\":128001,\"max_position_embeddings\":8192,"
             "\"rope_scaling\":null," SIZES_8B,
     "llama 32 x 4096, 14336; 32/8 x 128; 128256, 128001; 8192, 0; plain 500000"},
    {"Llama-3.1-8B-Instruct",
     LLAMA_3 LLAMA_31("8.0") "\"bos_token_id\":128000,\"eos_token_id\":[128001,128008,128009]," SIZES_8B,
     "llama 32 x 4096, 14336; 32/8 x 128; 128256, 128001 128008 128009; 131072, 0; llama3 500000 8 8192"},
    {"Llama-3.2-1B",
     LLAMA_3 LLAMA_31("32.0") "\"bos_token_id\":128000,\"eos_token_id\":128001,\"head_dim\":64,"
                              "\"hidden_size\":2048,\"intermediate_size\":8192,\"num_hidden_layers\":16,"
                              "\"tie_word_embeddings\":true",
     "llama 16 x 2048, 8192; 32/8 x 64; 128256, 128001; 131072, 0; llama3 500000 32 8192; tied"},
    {"SmolLM-135M", SMOLLM SIZES_135M "\"max_position_embeddings\":2048,\"rope_theta\":10000.0",
     "llama 30 x 576, 1536; 9/3 x 64; 49152, 0; 2048, 0; plain 10000; tied"},
    {"SmolLM2-135M",
     SMOLLM SIZES_135M "\"max_position_embeddings\":8192,\"rope_theta\":100000,"
                       "\"transformers.js_config\":{\"kv_cache_dtype\":{\"q4f16\":\"float16\"}}",
     "llama 30 x 576, 1536; 9/3 x 64; 49152, 0; 8192, 0; plain 100000; tied"},
    {"SmolLM2-1.7B",
     SMOLLM "\"hidden_size\":2048,\"intermediate_size\":8192,\"max_position_embeddings\":8192,"
            "\"num_attention_heads\":32,\"num_hidden_layers\":24,\"num_key_value_heads\":32,"
            "\"rope_theta\":130000",
     "llama 24 x 2048, 8192; 32/32 x 64; 49152, 0; 8192, 0; plain 130000; tied"},
    {"Mistral-7B-v0.1", MISTRAL "\"rope_theta\":10000.0,\"sliding_window\":4096,\"vocab_size\":32000",
     "mistral 32 x 4096, 14336; 32/8 x 128; 32000, 2; 32768, 4096; plain 10000"},
    {"Mistral-7B-v0.2",
     MISTRAL
     "\"attention_dropout\":0.0,\"rope_theta\":1000000.0,\"sliding_window\":null,\"vocab_size\":32000",
     "mistral 32 x 4096, 14336; 32/8 x 128; 32000, 2; 32768, 0; plain 1e+06"},
    {"Mistral-7B-v0.3",
     MISTRAL
     "\"attention_dropout\":0.0,\"rope_theta\":1000000.0,\"sliding_window\":null,\"vocab_size\":32768",
     "mistral 32 x 4096, 14336; 32/8 x 128; 32768, 2; 32768, 0; plain 1e+06"},
    {"Qwen2-0.5B",
     QWEN2 "\"eos_token_id\":151643,\"hidden_size\":896,\"intermediate_size\":4864,\"max_window_layers\":24,"
           "\"num_attention_heads\":14,\"num_hidden_layers\":24,\"num_key_value_heads\":2,"
           "\"rope_theta\":1000000.0,\"sliding_window\":131072,\"tie_word_embeddings\":true,"
           "\"vocab_size\":151936",
     "qwen2 24 x 896, 4864; 14/2 x 64; 151936, 151643; 131072, 0; plain 1e+06; tied qkv_bias"},
    {"Qwen2.5-7B",
     QWEN2 "\"eos_token_id\":151643,\"hidden_size\":3584,\"intermediate_size\":18944,"
           "\"max_window_layers\":28,\"num_attention_heads\":28,\"num_hidden_layers\":28,"
           "\"num_key_value_heads\":4,\"rope_theta\":1000000.0,\"sliding_window\":131072,"
           "\"tie_word_embeddings\":false,\"use_mrope\":false,\"vocab_size\":152064",
     "qwen2 28 x 3584, 18944; 28/4 x 128; 152064, 151643; 131072, 0; plain 1e+06; qkv_bias"},
    {"DeepSeek-R1-Distill-Qwen-1.5B",
     QWEN2 "\"eos_token_id\":151643,\"hidden_size\":1536,\"intermediate_size\":8960,"
           "\"max_window_layers\":21,\"num_attention_heads\":12,\"num_hidden_layers\":28,"
           "\"num_key_value_heads\":2,\"rope_theta\":10000,\"sliding_window\":4096,"
           "\"tie_word_embeddings\":false,\"use_mrope\":false,\"vocab_size\":151936",
     "qwen2 28 x 1536, 8960; 12/2 x 128; 151936, 151643; 131072, 0; plain 10000; qkv_bias"},
    {"DeepSeek-R1-Distill-Llama-8B",
     LLAMA_3 LLAMA_31("8.0") "\"bos_token_id\":128000,\"eos_token_id\":128001," SIZES_8B,
     "llama 32 x 4096, 14336; 32/8 x 128; 128256, 128001; 131072, 0; llama3 500000 8 8192"},
    {"Qwen3-0.6B",
     QWEN3 "\"architectures\":[\"Qwen3ForCausalLM\"],\"model_type\":\"qwen3\",\"hidden_size\":1024,"
           "\"intermediate_size\":3072,\"max_window_layers\":28,\"num_attention_heads\":16,"
           "\"num_hidden_layers\":28,\"num_key_value_heads\":8,\"tie_word_embeddings\":true",
     "qwen3 28 x 1024, 3072; 16/8 x 128; 151936, 151645; 40960, 0; plain 1e+06; tied qk_norm"},
    {"Qwen3-8B, in FP8",
     QWEN3 V3_FP8 "\"architectures\":[\"Qwen3ForCausalLM\"],\"model_type\":\"qwen3\",\"hidden_size\":4096,"
                  "\"intermediate_size\":12288,\"max_window_layers\":36,\"num_attention_heads\":32,"
                  "\"num_hidden_layers\":36,\"num_key_value_heads\":8,\"tie_word_embeddings\":false",
     "qwen3 36 x 4096, 12288; 32/8 x 128; 151936, 151645; 40960, 0; plain 1e+06; qk_norm fp8"},
    {"Qwen3-30B-A3B",
     QWEN3 "\"architectures\":[\"Qwen3MoeForCausalLM\"],\"model_type\":\"qwen3_moe\","
           "\"decoder_sparse_step\":1,\"hidden_size\":2048,\"intermediate_size\":6144,"
           "\"max_window_layers\":48,\"mlp_only_layers\":[],\"moe_intermediate_size\":768,"
           "\"norm_topk_prob\":true,\"num_attention_heads\":32,\"num_experts\":128,"
           "\"num_experts_per_tok\":8,\"num_hidden_layers\":48,\"num_key_value_heads\":4,"
           "\"output_router_logits\":false,\"router_aux_loss_coef\":0.001,\"tie_word_embeddings\":false",
     "qwen3_moe 48 x 2048, 6144; 32/4 x 128; 151936, 151645; 40960, 0; plain 1e+06; qk_norm; "
     "experts 8/128 + 0 x 768 from 0, groups 0/0, scale 1"},
    {"DeepSeek-V2-Lite",
     V2 "\"hidden_size\":2048,\"intermediate_size\":10944,\"moe_intermediate_size\":1408,\"n_group\":1,"
        "\"n_routed_experts\":64,\"num_attention_heads\":16,\"num_hidden_layers\":27,"
        "\"num_key_value_heads\":16,\"q_lora_rank\":null,\"routed_scaling_factor\":1.0,\"topk_group\":1,"
        "\"topk_method\":\"greedy\"",
     "deepseek 27 x 2048, 10944; 16/16 x 192; 102400, 100001; 163840, 0; yarn 10000 40 4096; pairs; "
     "experts 6/64 + 2 x 1408 from 1, groups 0/0, scale 1; latent 0 512 128+64 128"},
    {"DeepSeek-V2",
     V2 "\"hidden_size\":5120,\"intermediate_size\":12288,\"moe_intermediate_size\":1536,\"n_group\":8,"
        "\"n_routed_experts\":160,\"num_attention_heads\":128,\"num_hidden_layers\":60,"
        "\"num_key_value_heads\":128,\"q_lora_rank\":1536,\"routed_scaling_factor\":16.0,\"topk_group\":3,"
        "\"topk_method\":\"group_limited_greedy\"",
     "deepseek 60 x 5120, 12288; 128/128 x 192; 102400, 100001; 163840, 0; yarn 10000 40 4096; pairs; "
     "experts 6/160 + 2 x 1536 from 1, groups 3/8, scale 16; latent 1536 512 128+64 128"},
    {"DeepSeek-V3, R1", V3 V3_FP8 DEEPSEEK_YARN("1.0") "\"transformers_version\":\"4.46.3\"",
     "deepseek 61 x 7168, 18432; 128/128 x 192; 129280, 1; 163840, 0; yarn 10000 40 4096; pairs fp8; "
     "experts 8/256 + 1 x 2048 from 3, groups 4/8, scale 2.5; latent 1536 512 128+64 128; 1 more"},
    {"DeepSeek-V3 as version 5 of transformers writes it",
     V3 "\"dtype\":\"bfloat16\",\"head_dim\":64,\"qk_head_dim\":192,\"rope_interleave\":true,"
        "\"pad_token_id\":null,\"rope_parameters\":{\"beta_fast\":32,\"beta_slow\":1,\"factor\":40,"
        "\"mscale\":1.0,\"mscale_all_dim\":1.0,\"original_max_position_embeddings\":4096,"
        "\"rope_theta\":10000,\"rope_type\":\"yarn\",\"type\":\"yarn\"}",
     "deepseek 61 x 7168, 18432; 128/128 x 192; 129280, 1; 163840, 0; yarn 10000 40 4096; pairs; "
     "experts 8/256 + 1 x 2048 from 3, groups 4/8, scale 2.5; latent 1536 512 128+64 128; 1 more"},
};

static void put(char *text, size_t cap, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void put(char *text, size_t cap, const char *format, ...) {
    size_t n = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + n, cap - n, format, args);
    va_end(args);
}

static void put_more(const dsx__config *c, char *t, size_t cap) {
    const dsx__moe *e = &c->moe;
    const dsx__mla *m = &c->mla;
    const struct {
        bool is;
        const char *name;
    } flags[] = {{c->tied_head, "tied"},  {c->qkv_bias, "qkv_bias"},
                 {c->o_bias, "o_bias"},   {c->mlp_bias, "mlp_bias"},
                 {c->qk_norm, "qk_norm"}, {c->rope.interleaved, "pairs"},
                 {c->fp8, "fp8"}};
    const char *before = "; ";

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].is) {
            put(t, cap, "%s%s", before, flags[i].name);
            before = " ";
        }
    if (e->n_experts > 0)
        put(t, cap, "; experts %u/%u + %u x %u from %u, groups %u/%u, scale %g", e->n_used, e->n_experts,
            e->n_shared, e->width, e->first_layer, e->n_groups > 1 ? e->n_groups_used : 0,
            e->n_groups > 1 ? e->n_groups : 0, e->scale);
    if (m->kv_rank > 0)
        put(t, cap, "; latent %u %u %u+%u %u", m->q_rank, m->kv_rank, m->nope, m->rope, m->value);
    if (c->n_more_layers > 0) put(t, cap, "; %u more", c->n_more_layers);
}

static void describe(const dsx__config *c, char *t, size_t cap) {
    static const char *const kinds[] = {"plain", "linear", "dynamic", "llama3", "yarn"};

    *t = '\0';
    put(t, cap, "%s %u x %u, %u; %u/%u x %u; %u,", dsx__arch_name(c->arch), c->n_layers, c->width, c->ffn,
        c->n_heads, c->n_kv_heads, c->head_dim, c->n_vocab);
    for (uint32_t i = 0; i < c->n_eos; i++) put(t, cap, " %" PRId64, c->eos[i]);
    put(t, cap, "; %u, %u; %s %g", c->context, c->window, kinds[c->rope.kind], c->rope.theta);
    if (c->rope.kind != DSX__ROPE_PLAIN) put(t, cap, " %g %u", c->rope.factor, c->rope.original_context);
    put_more(c, t, cap);
}

int main(void) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char json[4096], text[512] = "";
        dsx__config c;
        dstok_error err = {0};

        snprintf(json, sizeof json, "{%s}", known[i].json);
        if (dsx__config_from_json(json, strlen(json), &c, &err) == DSTOK_OK) describe(&c, text, sizeof text);
        CHECK(strcmp(text, known[i].read) == 0);
        if (strcmp(text, known[i].read) != 0)
            fprintf(stderr, "  %s\n  %s%s\n  %s\n", known[i].name, text, err.text, known[i].read);
    }
    return t_end();
}
