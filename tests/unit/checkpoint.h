/* SPDX-License-Identifier: MIT */
/* Tiny checkpoints for tests: lists of tensors, as safetensors or GGUF in memory. */
#ifndef DSTOK_TESTS_CHECKPOINT_H
#define DSTOK_TESTS_CHECKPOINT_H

#include "gguf_file.h"

#include "arch/names.h"
#include "files/list.h"

/* Tensors as text, one a line: name, format, shape. "w F32 2 3" */
#define LLAMA_TENSORS                                                                                        \
    "model.embed_tokens.weight F32 5 8\nmodel.norm.weight F32 8\nlm_head.weight F32 5 8\n"                   \
    "model.layers.0.input_layernorm.weight F32 8\nmodel.layers.0.post_attention_layernorm.weight F32 8\n"    \
    "model.layers.0.self_attn.q_proj.weight F16 8 8\nmodel.layers.0.self_attn.k_proj.weight F16 4 8\n"       \
    "model.layers.0.self_attn.v_proj.weight F16 4 8\nmodel.layers.0.self_attn.o_proj.weight BF16 8 8\n"      \
    "model.layers.0.mlp.gate_proj.weight BF16 6 8\nmodel.layers.0.mlp.up_proj.weight BF16 6 8\n"             \
    "model.layers.0.mlp.down_proj.weight BF16 8 6\n"
#define LLAMA_SIZES                                                                                          \
    "\"model_type\":\"llama\",\"vocab_size\":5,\"hidden_size\":8,\"intermediate_size\":6,"                   \
    "\"num_hidden_layers\":1,\"num_attention_heads\":2,\"num_key_value_heads\":1"
#define LLAMA_CONFIG "{" LLAMA_SIZES "}"

#define LLAMA_GGUF_TENSORS                                                                                   \
    "token_embd.weight Q8_0 5 32\noutput_norm.weight F32 32\noutput.weight F32 5 32\n"                       \
    "blk.0.attn_norm.weight F32 32\nblk.0.ffn_norm.weight F32 32\nblk.0.attn_q.weight Q4_1 32 32\n"          \
    "blk.0.attn_k.weight Q5_0 16 32\nblk.0.attn_v.weight Q5_1 16 32\nblk.0.attn_output.weight F16 32 32\n"   \
    "blk.0.ffn_gate.weight BF16 64 32\nblk.0.ffn_up.weight Q4_0 64 32\nblk.0.ffn_down.weight Q8_0 32 64\n"

/* One line of such a text; false at its end. Elements come in blocks of *block, each of *bytes. */
typedef struct line {
    char name[128], format[16];
    unsigned long long shape[5];
    int n_dims, number;
    size_t n_bytes;
} line;

static inline void line_format(line *l, size_t *block, size_t *bytes) {
    static const struct {
        const char *name;
        int number;
        size_t block, bytes;
    } known[] = {
        {"F32", 0, 1, 4},       {"F16", 1, 1, 2},       {"Q4_0", 2, 32, 18},    {"Q4_1", 3, 32, 20},
        {"Q5_0", 6, 32, 22},    {"Q5_1", 7, 32, 24},    {"Q8_0", 8, 32, 34},    {"Q2_K", 10, 256, 84},
        {"Q3_K", 11, 256, 110}, {"Q4_K", 12, 256, 144}, {"Q5_K", 13, 256, 176}, {"Q6_K", 14, 256, 210},
        {"IQ4_NL", 20, 32, 18}, {"BF16", 30, 1, 2},     {"I64", 27, 1, 8},      {"F8_E4M3", -1, 1, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, l->format) == 0) {
            l->number = known[i].number;
            *block = known[i].block;
            *bytes = known[i].bytes;
            return;
        }
    fprintf(stderr, "no format %s\n", l->format);
    exit(1);
}

static inline bool next_line(const char **text, line *l) {
    size_t block = 1, bytes = 1;
    unsigned long long *s = l->shape;
    const char *end = strchr(*text, '\n');

    if (end == NULL) return false;
    s[0] = s[1] = s[2] = s[3] = s[4] = 1;
    l->n_dims = sscanf(*text, "%127s %15s %llu %llu %llu %llu %llu", l->name, l->format, &s[0], &s[1], &s[2],
                       &s[3], &s[4]) -
                2;
    for (const char *p = *text; p < end; p++) l->n_dims -= *p == '-'; /* "-": no axis */
    line_format(l, &block, &bytes);
    l->n_bytes = (size_t)(s[0] * s[1] * s[2] * s[3] * s[4]) / block * bytes;
    *text = end + 1;
    return true;
}

static inline void put_data(file *f, size_t n) {
    for (size_t i = 0; i < n; i++) put_number(f, 0x3C, 1);
}

/* ---- safetensors */

static inline file safetensors_of_header(const char *header, size_t data) {
    file f = {.data = NULL};

    put_number(&f, strlen(header), 8);
    put(&f, header, strlen(header));
    put_data(&f, data);
    return f;
}

static inline file safetensors_of(const char *tensors) {
    file h = {.data = NULL};
    line l;
    char text[512];
    size_t at = 0;

    put(&h, "{\"__metadata__\":{\"format\":\"pt\"}", 31);
    while (next_line(&tensors, &l)) {
        int n = snprintf(text, sizeof text, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", l.name, l.format);
        put(&h, text, (size_t)n);
        for (int d = 0; d < l.n_dims; d++) {
            n = snprintf(text, sizeof text, "%s%llu", d > 0 ? "," : "", l.shape[d]);
            put(&h, text, (size_t)n);
        }
        n = snprintf(text, sizeof text, "],\"data_offsets\":[%zu,%zu]}", at, at + l.n_bytes);
        put(&h, text, (size_t)n);
        at += l.n_bytes;
    }
    put(&h, "}", 2); /* with a zero byte */
    file f = safetensors_of_header(h.data, at);
    free(h.data);
    return f;
}

/* ---- GGUF */

/* Ends a file of keys: tensors, and their data at multiples of alignment. */
static inline void finish_tensors(file *f, const char *tensors, size_t alignment) {
    const char *all = tensors;
    line l;
    uint64_t n = 0, at = 0;

    for (; next_line(&tensors, &l); n++) {
        put_string(f, l.name);
        put_number(f, (uint64_t)l.n_dims, 4);
        for (int d = l.n_dims; d-- > 0;) put_number(f, l.shape[d], 8);
        put_number(f, (uint64_t)l.number, 4);
        put_number(f, at, 8);
        at += (l.n_bytes + alignment - 1) / alignment * alignment;
    }
    for (unsigned i = 0; i < 8; i++) f->data[8 + i] = (char)(n >> (8 * i));
    finish(f);
    while (f->n % alignment != 0) put_data(f, 1);
    for (tensors = all; next_line(&tensors, &l);)
        put_data(f, (l.n_bytes + alignment - 1) / alignment * alignment);
}

static inline void add_f32(file *f, const char *key, float v) {
    uint32_t word;

    memcpy(&word, &v, 4);
    add_number(f, key, F32, word, 4);
}

/* The keys of LLAMA_GGUF_TENSORS. */
static inline file llama_keys(void) {
    file f = start();

    add_string(&f, "general.architecture", "llama");
    add_id(&f, "llama.block_count", 1);
    add_id(&f, "llama.embedding_length", 32);
    add_id(&f, "llama.feed_forward_length", 64);
    add_id(&f, "llama.attention.head_count", 2);
    add_id(&f, "llama.attention.head_count_kv", 1);
    add_id(&f, "llama.context_length", 77);
    add_f32(&f, "llama.attention.layer_norm_rms_epsilon", 0.25f);
    return f;
}

static inline file llama_gguf(void) {
    file f = llama_keys();

    finish_tensors(&f, LLAMA_GGUF_TENSORS, 32);
    return f;
}

/* ---- llama2.c */

static inline file llama2c_of(int dim, int hidden, int layers, int heads, int kv_heads, int vocab,
                              int length) {
    const int header[] = {dim, hidden, layers, heads, kv_heads, vocab, length};
    int own = vocab < 0, tokens = own ? -vocab : vocab, kv = kv_heads * (dim / heads);
    file f = {.data = NULL};

    for (size_t i = 0; i < 7; i++) put_number(&f, (uint32_t)header[i], 4);
    int n = tokens * dim * (1 + own) + layers * (2 * dim + 2 * dim * dim + 2 * dim * kv + 3 * dim * hidden) +
            dim + length * (dim / heads);
    for (int i = 0; i < n; i++) put_number(&f, (uint32_t)i, 4); /* each number tells its place */
    return f;
}

/* ---- reading from memory of exactly the size of the file */

typedef struct read_file {
    char *exact;
    dsx__archive a;
    dsx__parts parts;
    dstok_error err;
    dstok_status status;
} read_file;

/* Opens it and finds its parts; config NULL: the file needs none. */
static inline read_file *read_of(dsx__kind kind, const char *data, size_t n, const char *config) {
    read_file *r = calloc(1, sizeof *r);
    if (r == NULL || (r->exact = malloc(n + (n == 0))) == NULL) exit(1);
    memcpy(r->exact, data, n);
    r->status = dsx__archive_read(kind, (const uint8_t *)r->exact, n, config,
                                  config != NULL ? strlen(config) : 0, &r->a, &r->err);
    if (r->status == DSTOK_OK) r->status = dsx__parts_find(&r->a, &r->parts, &r->err);
    if (r->status != DSTOK_OK) {
        CHECK_EQ(r->err.status, r->status);
        CHECK(r->err.text[0] != '\0');
        CHECK(r->err.offset <= n || r->err.offset == DSTOK_NO_OFFSET);
        CHECK(r->parts.layers == NULL);
    }
    return r;
}

static inline void read_free(read_file *r) {
    dsx__parts_free(&r->parts);
    dsx__archive_close(&r->a);
    free(r->exact);
    free(r);
}

/* The file is freed. */
static inline read_file *read_good(dsx__kind kind, file f, const char *config) {
    read_file *r = read_of(kind, f.data, f.n, config);

    CHECK_EQ(r->status, DSTOK_OK);
    if (r->status != DSTOK_OK) {
        fprintf(stderr, "  %s\n", r->err.text);
        exit(1);
    }
    free(f.data);
    return r;
}

static inline void read_refuse(dsx__kind kind, file f, const char *config, dstok_status want,
                               const char *part) {
    read_file *r = read_of(kind, f.data, f.n, config);

    CHECK_EQ(r->status, want);
    CHECK(strstr(r->err.text, part) != NULL);
    if (r->status != want || strstr(r->err.text, part) == NULL)
        fprintf(stderr, "  \"%s\", want \"%s\"\n", r->err.text, part);
    read_free(r);
    free(f.data);
}

#endif
