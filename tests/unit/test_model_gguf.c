/* SPDX-License-Identifier: MIT */
/* GGUF models: keys to configuration, places of tensors, and every reason to refuse. */
#include "checkpoint.h"

#include <math.h>

static void refuse(file keys, dstok_status want, const char *part) {
    finish_tensors(&keys, LLAMA_GGUF_TENSORS, 32);
    read_refuse(DSX__GGUF, keys, NULL, want, part);
}

static void refuse_tensors(const char *tensors, dstok_status want, const char *part) {
    file f = llama_keys();

    finish_tensors(&f, tensors, 32);
    read_refuse(DSX__GGUF, f, NULL, want, part);
}

/* ---- what is read */

static void test_llama(void) {
    read_file *r = read_good(DSX__GGUF, llama_gguf(), NULL);
    const dsx__config *c = &r->a.config;
    const dsx__tensor *t = dsx__archive_find(&r->a, "blk.0.ffn_up.weight");

    CHECK(c->arch == DSX__LLAMA && c->n_layers == 1 && c->width == 32 && c->ffn == 64 && c->n_heads == 2 &&
          c->n_kv_heads == 1);
    CHECK(c->head_dim == 16 && c->context == 77 && c->n_vocab == 5 && c->norm_eps == 0.25 && !c->tied_head);
    CHECK(c->rope.kind == DSX__ROPE_PLAIN && c->rope.theta == 10000 && c->rope.interleaved &&
          c->rope.factors == NULL);
    CHECK(c->bos == -1 && c->n_eos == 0 && c->window == 0 && !c->qk_norm && !c->qkv_bias && !c->o_bias &&
          !c->mlp_bias);
    CHECK(r->a.n_tensors == 12 && t != NULL);
    if (t != NULL) {
        CHECK(t->format == DSX__Q4_0 && t->n_dims == 2 && t->shape[0] == 64 && t->shape[1] == 32 &&
              t->shape[2] == 1);
        CHECK_EQ(t->n_bytes, 64 * 18);
        CHECK((t->data - (const uint8_t *)r->exact) % 32 == 0);
    }
    for (size_t i = 1; i < r->a.n_tensors; i++)
        CHECK(strcmp(r->a.tensors[i - 1].name, r->a.tensors[i].name) < 0);
    CHECK(dsx__archive_find(&r->a, "blk.0") == NULL);
    read_free(r);
}

static dsx__config config_of(file keys, const char *tensors) {
    finish_tensors(&keys, tensors, 32);
    read_file *r = read_good(DSX__GGUF, keys, NULL);
    dsx__config c = r->a.config;

    read_free(r);
    return c;
}

static void test_keys(void) {
    file f = llama_keys();
    add_number(&f, "llama.rope.freq_base", F64, 0x40F86A0000000000u, 8); /* 100,000 */
    add_number(&f, "llama.rope.dimension_count", I16, 16, 2);
    add_number(&f, "llama.attention.sliding_window", U64, 33, 8);
    add_id(&f, "llama.attention.key_length", 16);
    add_f32(&f, "llama.attention.scale", 0.125f);
    add_id(&f, "tokenizer.ggml.bos_token_id", 1);
    add_id(&f, "tokenizer.ggml.eos_token_id", 2);
    add_id(&f, "tokenizer.ggml.eot_token_id", 4);
    dsx__config c = config_of(f, LLAMA_GGUF_TENSORS);
    CHECK(c.rope.theta == 100000 && c.window == 33 && c.window_from == 0 && c.attention_scale == 0.125);
    CHECK(c.bos == 1 && c.n_eos == 2 && c.eos[0] == 2 && c.eos[1] == 4);
    f = llama_keys();
    add_id(&f, "tokenizer.ggml.eos_token_id", 3);
    add_id(&f, "tokenizer.ggml.eot_token_id", 3);
    c = config_of(f, LLAMA_GGUF_TENSORS);
    CHECK(c.n_eos == 1 && c.eos[0] == 3);

    char *tied = util_replace(LLAMA_GGUF_TENSORS, "output.weight F32 5 32\n", "");
    CHECK(config_of(llama_keys(), tied).tied_head);
    free(tied);
    c = config_of(llama_keys(), LLAMA_GGUF_TENSORS
                  "blk.0.attn_q.bias F32 32\nblk.0.attn_k.bias F32 16\nblk.0.attn_v.bias F32 16\n"
                  "blk.0.attn_output.bias F32 32\nblk.0.ffn_gate.bias F32 64\nblk.0.ffn_up.bias F32 64\n"
                  "blk.0.ffn_down.bias F32 32\n");
    CHECK(c.qkv_bias && c.o_bias && c.mlp_bias);
}

static void test_rope(void) {
    file f = llama_keys();
    add_string(&f, "llama.rope.scaling.type", "linear");
    add_f32(&f, "llama.rope.scaling.factor", 4);
    dsx__config c = config_of(f, LLAMA_GGUF_TENSORS);
    CHECK(c.rope.kind == DSX__ROPE_LINEAR && c.rope.factor == 4);

    f = llama_keys();
    add_f32(&f, "llama.rope.scale_linear", 2); /* an older name */
    c = config_of(f, LLAMA_GGUF_TENSORS);
    CHECK(c.rope.kind == DSX__ROPE_LINEAR && c.rope.factor == 2);

    f = llama_keys();
    add_string(&f, "llama.rope.scaling.type", "yarn");
    add_f32(&f, "llama.rope.scaling.factor", 8);
    add_f32(&f, "llama.rope.scaling.attn_factor", 0.5f);
    add_f32(&f, "llama.rope.scaling.yarn_beta_fast", 16);
    add_id(&f, "llama.rope.scaling.original_context_length", 9);
    c = config_of(f, LLAMA_GGUF_TENSORS);
    CHECK(c.rope.kind == DSX__ROPE_YARN && c.rope.factor == 8 && c.rope.original_context == 9);
    CHECK(c.rope.beta_fast == 16 && c.rope.beta_slow == 1 && c.rope.mscale_all == 0);
    CHECK(fabs(c.rope.attention_factor - 0.5 * (0.1 * log(8) + 1)) < 1e-15);

    f = llama_keys();
    add_string(&f, "llama.rope.scaling.type", "yarn");
    add_f32(&f, "llama.rope.scaling.factor", 8);
    add_f32(&f, "llama.rope.scaling.yarn_log_multiplier", 0.0625f);
    c = config_of(f, LLAMA_GGUF_TENSORS);
    CHECK(c.rope.mscale == 0.625 && c.rope.mscale_all == 0.625 && c.rope.attention_factor == 0 &&
          c.rope.original_context == 77);

    f = llama_keys();
    add_string(&f, "llama.rope.scaling.type", "none");
    add_f32(&f, "llama.rope.scaling.factor", 8);
    CHECK_EQ(config_of(f, LLAMA_GGUF_TENSORS).rope.kind, DSX__ROPE_PLAIN);
}

static void test_factors(void) {
    file f = llama_keys();
    finish_tensors(&f, LLAMA_GGUF_TENSORS "rope_freqs.weight F32 8\n", 32);
    for (unsigned i = 0; i < 8; i++) { /* 1, 2, 4 ... */
        uint32_t word = (127 + i) << 23;
        memcpy(f.data + f.n - 32 + 4 * i, &word, 4);
    }
    read_file *r = read_of(DSX__GGUF, f.data, f.n, NULL);
    CHECK_EQ(r->status, DSTOK_OK);
    CHECK(r->a.config.rope.factors != NULL);
    for (unsigned i = 0; i < 8 && r->a.config.rope.factors != NULL; i++)
        CHECK(r->a.config.rope.factors[i] == (float)(1 << i));
    read_free(r);
    memset(f.data + f.n - 4, 0, 4);
    read_refuse(DSX__GGUF, f, NULL, DSTOK_E_FORMAT,
                "\"rope_freqs.weight\" holds a number that is not above 0");
    refuse_tensors(LLAMA_GGUF_TENSORS "rope_freqs.weight F32 7\n", DSTOK_E_FORMAT,
                   "\"rope_freqs.weight\" must have 8 elements of F32");
    refuse_tensors(LLAMA_GGUF_TENSORS "rope_freqs.weight F16 8\n", DSTOK_E_FORMAT,
                   "must have 8 elements of F32");
}

static void test_version2(void) {
    file f = llama_gguf();

    f.data[4] = 2;
    read_free(read_good(DSX__GGUF, f, NULL));
}

static void test_alignment(void) {
    file f = llama_keys();

    add_id(&f, "general.alignment", 128);
    finish_tensors(&f, LLAMA_GGUF_TENSORS, 128);
    read_file *r = read_good(DSX__GGUF, f, NULL);
    for (size_t i = 0; i < r->a.n_tensors; i++)
        CHECK((r->a.tensors[i].data - (const uint8_t *)r->exact) % 128 == 0);
    read_free(r);
}

/* The keys of LLAMA_GGUF_TENSORS, of another architecture. */
static file keys_of(const char *arch) {
    static const char *const names[] = {
        "block_count",          "embedding_length",        "feed_forward_length",
        "attention.head_count", "attention.head_count_kv", "context_length"};
    static const uint32_t values[] = {1, 32, 64, 2, 1, 77};
    file f = start();
    char key[96];

    add_string(&f, "general.architecture", arch);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(key, sizeof key, "%s.%s", arch, names[i]);
        add_id(&f, key, values[i]);
    }
    snprintf(key, sizeof key, "%s.attention.layer_norm_rms_epsilon", arch);
    add_f32(&f, key, 0.25f);
    return f;
}

#define NORMS "blk.0.attn_q_norm.weight F32 16\nblk.0.attn_k_norm.weight F32 16\n"

static void test_qwen(void) {
    dsx__config c = config_of(keys_of("qwen2"), LLAMA_GGUF_TENSORS);
    CHECK(c.arch == DSX__QWEN2 && !c.rope.interleaved && !c.qk_norm && !c.qkv_bias);
    c = config_of(keys_of("qwen3"), LLAMA_GGUF_TENSORS NORMS);
    CHECK(c.arch == DSX__QWEN3 && !c.rope.interleaved && c.qk_norm);
    for (int given = 0; given < 2; given++) {
        file f = keys_of("qwen3moe");
        add_id(&f, "qwen3moe.expert_count", 2);
        add_id(&f, "qwen3moe.expert_used_count", 1);
        add_id(&f, "qwen3moe.expert_feed_forward_length", 64);
        if (given) add_bool(&f, "qwen3moe.expert_weights_norm", false);
        if (given) add_f32(&f, "qwen3moe.expert_weights_scale", 0);
        c = config_of(
            f, "token_embd.weight Q8_0 5 32\noutput_norm.weight F32 32\nblk.0.attn_norm.weight F32 32\n"
               "blk.0.ffn_norm.weight F32 32\nblk.0.attn_q.weight F32 32 32\nblk.0.attn_k.weight F32 16 32\n"
               "blk.0.attn_v.weight F32 16 32\nblk.0.attn_output.weight F32 32 32\n" NORMS
               "blk.0.ffn_gate_inp.weight F32 2 32\nblk.0.ffn_gate_exps.weight F32 2 64 32\n"
               "blk.0.ffn_up_exps.weight F32 2 64 32\nblk.0.ffn_down_exps.weight F32 2 32 64\n");
        CHECK(c.arch == DSX__QWEN3_MOE && c.moe.normalise == !given && c.moe.scale == 1 && c.moe.width == 64);
        CHECK(c.moe.gate == DSX__GATE_SOFTMAX && !c.moe.group_top2 && !c.moe.has_bias &&
              c.moe.first_layer == 0);
    }
}

/* ---- what is refused */

static void test_keys_refused(void) {
    static const char *const needed[] = {"llama.block_count", "llama.embedding_length",
                                         "llama.attention.head_count", "llama.context_length",
                                         "llama.attention.layer_norm_rms_epsilon"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        file f = llama_keys();
        char text[96];
        for (char *p = f.data; p < f.data + f.n; p++) /* its last letter becomes another one */
            if ((size_t)(f.data + f.n - p) > strlen(needed[i]) &&
                memcmp(p, needed[i], strlen(needed[i])) == 0 && p[strlen(needed[i])] != '_')
                p[strlen(needed[i]) - 1] = 'X';
        snprintf(text, sizeof text, "the file has no %s", needed[i]);
        refuse(f, DSTOK_E_FORMAT, text);
    }
    file f = llama_keys();
    add_id(&f, "llama.attention.value_length", 8);
    refuse(f, DSTOK_E_UNSUPPORTED, "keys and values of different length");
    f = llama_keys();
    add_id(&f, "llama.rope.dimension_count", 8);
    refuse(f, DSTOK_E_UNSUPPORTED, "llama.rope.dimension_count 8, only 16");
    f = llama_keys();
    add_id(&f, "llama.expert_count", 8);
    refuse(f, DSTOK_E_UNSUPPORTED, "experts in a model of architecture llama");
    f = llama_keys();
    add_id(&f, "split.count", 2);
    refuse(f, DSTOK_E_UNSUPPORTED, "split over several GGUF files");
    f = llama_keys();
    add_string(&f, "llama.rope.scaling.type", "longrope");
    refuse(f, DSTOK_E_UNSUPPORTED, "llama.rope.scaling.type, only none, linear and yarn");
    f = llama_keys();
    add_id(&f, "llama.rope.scaling.type", 1);
    refuse(f, DSTOK_E_FORMAT, "llama.rope.scaling.type must be a string");
    f = llama_keys();
    add_f32(&f, "llama.rope.scaling.attn_factor", 2);
    refuse(f, DSTOK_E_UNSUPPORTED, "llama.rope.scaling.attn_factor 2, only 1");
    f = llama_keys();
    add_id(&f, "llama.nextn_predict_layers", 1);
    refuse(f, DSTOK_E_FORMAT, "number of layers is 0");
    f = llama_keys();
    add_id(&f, "llama.nextn_predict_layers", 2);
    refuse(f, DSTOK_E_FORMAT, "is above block_count");
}

static void test_types_refused(void) {
    file f = llama_keys();
    add_string(&f, "llama.rope.freq_base", "x");
    refuse(f, DSTOK_E_FORMAT, "llama.rope.freq_base must be a number");
    f = llama_keys();
    add_number(&f, "llama.attention.sliding_window", I8, 0xFF, 1);
    refuse(f, DSTOK_E_FORMAT, "llama.attention.sliding_window must be a whole number");
    f = llama_keys();
    add_number(&f, "llama.attention.sliding_window", U64, (uint64_t)1 << 32, 8);
    refuse(f, DSTOK_E_FORMAT, "must be a whole number");
    f = llama_keys();
    add_array(&f, "llama.attention.sliding_window", U32, 1);
    put_number(&f, 4, 4);
    refuse(f, DSTOK_E_UNSUPPORTED, "llama.attention.sliding_window has a value for each layer");
    f = llama_keys();
    add_id(&f, "llama.block_count", 1);
    refuse(f, DSTOK_E_FORMAT, "llama.block_count stands twice");
    f = start();
    refuse(f, DSTOK_E_FORMAT, "general.architecture must be a string");
    f = start();
    add_string(&f, "general.architecture", "gemma2");
    refuse(f, DSTOK_E_UNSUPPORTED, "architecture gemma2; known are llama, qwen2, qwen3, qwen3moe, deepseek2");
    f = llama_keys();
    add_id(&f, "general.alignment", 48);
    refuse(f, DSTOK_E_FORMAT, "general.alignment 48 is no power of two");
    f = llama_keys();
    add_id(&f, "general.alignment", 0);
    refuse(f, DSTOK_E_FORMAT, "general.alignment 0 is no power of two");
    f = llama_keys();
    add_array(&f, "z", F32, (size_t)1 << 62);
    refuse(f, DSTOK_E_TRUNCATED, "the file ends inside z");
    f = keys_of("qwen3moe");
    add_id(&f, "qwen3moe.expert_count", 2);
    add_id(&f, "qwen3moe.expert_weights_norm", 1);
    refuse(f, DSTOK_E_FORMAT, "the file has no qwen3moe.expert_used_count");
    f = keys_of("qwen3moe");
    add_id(&f, "qwen3moe.expert_count", 2);
    add_id(&f, "qwen3moe.expert_used_count", 1);
    add_id(&f, "qwen3moe.expert_feed_forward_length", 64);
    add_id(&f, "qwen3moe.expert_weights_norm", 1);
    refuse(f, DSTOK_E_FORMAT, "qwen3moe.expert_weights_norm must be true or false");
    f = llama_keys();
    add_array(&f, "x", ARRAY, 0);
    refuse(f, DSTOK_E_UNSUPPORTED, "x is an array of arrays");
    f = llama_keys();
    put_key(&f, "y", 13);
    refuse(f, DSTOK_E_FORMAT, "y has type 13, which GGUF does not know");
}

static void test_tensors_refused(void) {
    refuse_tensors("", DSTOK_E_FORMAT, "no tensor \"token_embd.weight\" with a row for each token");
    refuse_tensors(LLAMA_GGUF_TENSORS "x IQ4_NL 1 32\n", DSTOK_E_UNSUPPORTED,
                   "tensor \"x\" has type 20 (IQ4_NL), which is not supported");
    refuse_tensors(LLAMA_GGUF_TENSORS "x Q4_0 2 16\n", DSTOK_E_FORMAT,
                   "\"x\" has rows of 16 elements, no multiple of the 32 of a block of Q4_0");
    refuse_tensors(LLAMA_GGUF_TENSORS "x F32 1 1 1 1 1\n", DSTOK_E_FORMAT, "\"x\" has 5 axes; GGUF allows 4");
    refuse_tensors(LLAMA_GGUF_TENSORS "x F32 2\nx F32 2\n", DSTOK_E_FORMAT, "two tensors \"x\"");
    refuse_tensors(LLAMA_GGUF_TENSORS "x F32 2\n", DSTOK_E_FORMAT,
                   "\"x\" of shape [2] is no part of a llama model");
    refuse_tensors("token_embd.weight F32 32\n", DSTOK_E_FORMAT, "with a row for each token");
}

/* The places where the last tensor info of a file with one tensor "x" of shape [4] stands: offset, type,
 * axis, and so on. */
static void test_places_refused(void) {
    static const struct {
        size_t back; /* from the end of the infos */
        size_t size;
        uint64_t value;
        dstok_status status;
        const char *part;
    } cases[] = {
        {8, 8, 32, DSTOK_E_TRUNCATED, "the file ends inside tensor \"x\""},
        {8, 8, 4, DSTOK_E_FORMAT, "tensor \"x\" lies at 4, no multiple of 32"},
        {8, 8, UINT64_MAX - 31, DSTOK_E_TRUNCATED, "the file ends inside tensor \"x\""},
        {12, 4, 31, DSTOK_E_UNSUPPORTED, "has type 31 (unknown)"},
        {12, 4, 0xFFFFFFFF, DSTOK_E_UNSUPPORTED, "has type 4294967295 (unknown)"},
        {20, 8, UINT64_MAX, DSTOK_E_FORMAT, "\"x\" is larger than any file"},
        {20, 8, 9, DSTOK_E_TRUNCATED, "the file ends inside tensor \"x\""},
        {25, 1, 0, DSTOK_E_FORMAT, "a tensor has an empty name, or a zero byte in it"},
        {33, 8, 0, DSTOK_E_FORMAT, "a tensor has an empty name, or a zero byte in it"},
        {33, 8, UINT64_MAX, DSTOK_E_TRUNCATED, "the file ends inside a tensor"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f = start();
        put_string(&f, "x");
        put_number(&f, 1, 4);
        put_number(&f, 4, 8);
        put_number(&f, 0, 4);
        put_number(&f, 0, 8);
        size_t end = f.n;
        f.data[8] = 1;
        while (f.n % 32 != 0) put_number(&f, 0, 1);
        put_data(&f, 32);
        for (size_t b = 0; b < cases[i].size; b++)
            f.data[end - cases[i].back + b] = (char)(cases[i].value >> (8 * b));
        read_refuse(DSX__GGUF, f, NULL, cases[i].status, cases[i].part);
    }
}

static void test_overlap(void) {
    file f = start();

    for (char name[] = "a"; name[0] <= 'b'; name[0]++) {
        put_string(&f, name);
        put_number(&f, 1, 4);
        put_number(&f, 9, 8);
        put_number(&f, 0, 4);
        put_number(&f, name[0] == 'a' ? 32 : 0, 8);
    }
    f.data[8] = 2;
    put_data(&f, 128);
    read_refuse(DSX__GGUF, f, NULL, DSTOK_E_FORMAT, "tensor \"a\" lies over another one");
}

static void test_header_refused(void) {
    static const struct {
        size_t at, size;
        uint64_t value;
        dstok_status status;
        const char *part;
    } cases[] = {
        {0, 1, 'g', DSTOK_E_FORMAT, "this is no GGUF file"},
        {4, 4, 1, DSTOK_E_VERSION, "GGUF version 1 is not known, only 2 and 3"},
        {4, 4, 0x03000000, DSTOK_E_UNSUPPORTED, "big-endian"},
        {8, 8, UINT64_MAX, DSTOK_E_TRUNCATED, "the file ends inside the tensors"},
        {16, 8, UINT64_MAX, DSTOK_E_TRUNCATED, "the file ends inside the keys"},
        {24, 8, UINT64_MAX, DSTOK_E_TRUNCATED, "the file ends inside a key"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f = llama_gguf();
        for (size_t b = 0; b < cases[i].size; b++)
            f.data[cases[i].at + b] = (char)(cases[i].value >> (8 * b));
        read_refuse(DSX__GGUF, f, NULL, cases[i].status, cases[i].part);
    }
}

int main(void) {
    test_llama();
    test_keys();
    test_qwen();
    test_rope();
    test_factors();
    test_version2();
    test_alignment();
    test_keys_refused();
    test_types_refused();
    test_tensors_refused();
    test_places_refused();
    test_overlap();
    test_header_refused();
    return t_end();
}
