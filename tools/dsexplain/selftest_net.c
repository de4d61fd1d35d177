/* SPDX-License-Identifier: MIT */
/* Models that are set by hand, as checkpoints in a folder that is gone once they are open. */
#include "selftest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THETA 1e30 /* pair i turns by THETA^(-i / 32) a token: from 1 down to nothing */

static float *zeros(size_t n) {
    float *p = cli_alloc(n * sizeof *p);

    memset(p, 0, n * sizeof *p);
    return p;
}

void net_init(struct net *n, uint32_t n_layers, uint32_t n_heads, uint32_t n_kv_heads) {
    size_t map = (size_t)NET_HEAD * NET_WIDTH, ffn = (size_t)NET_FFN * NET_WIDTH;

    memset(n, 0, sizeof *n);
    n->n_layers = n_layers;
    n->n_heads = n_heads;
    n->n_kv_heads = n_kv_heads;
    n->embed = zeros((size_t)NET_TOKENS * NET_WIDTH);
    n->head = zeros((size_t)NET_TOKENS * NET_WIDTH);
    n->q = zeros(n_layers * n_heads * map);
    n->k = zeros(n_layers * n_kv_heads * map);
    n->v = zeros(n_layers * n_kv_heads * map);
    n->o = zeros(n_layers * n_heads * map);
    n->gate = zeros(n_layers * ffn);
    n->up = zeros(n_layers * ffn);
    n->down = zeros(n_layers * ffn);
    for (int i = 0; i < NET_TOKENS; i++) n->embed[i * NET_WIDTH + NET_ONE] = 1;
}

void net_free(struct net *n) {
    free(n->embed);
    free(n->head);
    free(n->q);
    free(n->k);
    free(n->v);
    free(n->o);
    free(n->gate);
    free(n->up);
    free(n->down);
    free(n->router);
    memset(n, 0, sizeof *n);
}

void net_token(struct net *n, unsigned char token, int at, float value) {
    n->embed[token * NET_WIDTH + at] = value;
}

/* Row `dim` of a head's part of q, k or v. */
static float *row_of(float *w, uint32_t n_heads, uint32_t layer, uint32_t head, int dim) {
    return w + (((size_t)layer * n_heads + head) * NET_HEAD + (size_t)dim) * NET_WIDTH;
}

/* Scores are divided by the root of NET_HEAD. */
static float to_score(float beta) {
    return beta * sqrtf(NET_HEAD);
}

void net_match(struct net *n, uint32_t layer, uint32_t head, uint32_t kv_head, int query, int key,
               float beta) {
    for (int i = 0; i < NET_KEYS; i++) {
        row_of(n->q, n->n_heads, layer, head, NET_SLOW + i)[query + i] = to_score(beta);
        row_of(n->k, n->n_kv_heads, layer, kv_head, NET_SLOW + i)[key + i] = 1;
    }
}

void net_look_back(struct net *n, uint32_t layer, uint32_t head, uint32_t kv_head, int back, float beta) {
    for (int i = 0; i < NET_SLOW / 2; i++) {
        double angle = back * pow(THETA, -i / (NET_HEAD / 2.0));

        row_of(n->q, n->n_heads, layer, head, i)[NET_ONE] = to_score(beta) * (float)cos(angle);
        row_of(n->q, n->n_heads, layer, head, i + NET_HEAD / 2)[NET_ONE] =
            to_score(beta) * (float)-sin(angle);
        row_of(n->k, n->n_kv_heads, layer, kv_head, i)[NET_ONE] = 1;
    }
}

void net_sink(struct net *n, uint32_t layer, uint32_t head, uint32_t kv_head, float beta) {
    row_of(n->q, n->n_heads, layer, head, NET_SLOW + NET_KEYS)[NET_ONE] = to_score(beta);
    row_of(n->k, n->n_kv_heads, layer, kv_head, NET_SLOW + NET_KEYS)[NET_SINK] = 1;
}

void net_carry(struct net *n, uint32_t layer, uint32_t head, uint32_t kv_head, int from, int to, int count,
               float by) {
    for (int i = 0; i < count; i++) {
        row_of(n->v, n->n_kv_heads, layer, kv_head, i)[from + i] = 1;
        n->o[(((size_t)layer * NET_WIDTH + (size_t)(to + i)) * n->n_heads + head) * NET_HEAD + (size_t)i] =
            by;
    }
}

void net_answers(struct net *n, float by) {
    for (int i = 0; i < NET_VALUES; i++) n->head[('0' + i) * NET_WIDTH + NET_OUT + i] = by;
}

void net_experts(struct net *n, uint32_t n_experts, int from, int to) {
    size_t ffn = (size_t)NET_FFN * NET_WIDTH;

    n->n_experts = n_experts;
    n->router = zeros((size_t)n_experts * NET_WIDTH);
    free(n->gate);
    free(n->up);
    free(n->down);
    n->gate = zeros(n_experts * ffn);
    n->up = zeros(n_experts * ffn);
    n->down = zeros(n_experts * ffn);
    for (size_t i = 0; i < (size_t)n_experts * NET_FFN; i++) {
        size_t e = i / NET_FFN, k = i % NET_FFN;

        n->gate[i * NET_WIDTH + NET_ONE] = 10; /* silu of 10 is nearly 10 */
        n->up[i * NET_WIDTH + (size_t)from + k] = 1;
        n->down[e * ffn + ((size_t)to + (k + e) % NET_FFN) * NET_FFN + k] = 0.1f;
    }
}

static void fill(float *w, size_t n, float scale, uint64_t *state) {
    for (size_t i = 0; i < n; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        w[i] = scale * ((float)(*state >> 40) / (float)(1 << 23) - 1);
    }
}

void net_random(struct net *n, uint64_t seed) {
    size_t map = (size_t)n->n_layers * NET_HEAD * NET_WIDTH, ffn = (size_t)n->n_layers * NET_FFN * NET_WIDTH;

    fill(n->embed, (size_t)NET_TOKENS * NET_WIDTH, 1, &seed);
    fill(n->head, (size_t)NET_TOKENS * NET_WIDTH, 0.3f, &seed);
    fill(n->q, n->n_heads * map, 0.3f, &seed);
    fill(n->k, n->n_kv_heads * map, 0.3f, &seed);
    fill(n->v, n->n_kv_heads * map, 0.3f, &seed);
    fill(n->o, n->n_heads * map, 0.3f, &seed);
    fill(n->gate, ffn, 0.3f, &seed);
    fill(n->up, ffn, 0.3f, &seed);
    fill(n->down, ffn, 0.5f, &seed);
}

/* Embeddings get the same length, so that their norm is the same for all. */
static void pad(struct net *n) {
    for (int i = 0; i < NET_TOKENS; i++) {
        float *x = n->embed + i * NET_WIDTH, sum = 0;

        x[NET_PAD] = 0;
        for (int k = 0; k < NET_WIDTH; k++) sum += x[k] * x[k];
        if (sum < NET_WIDTH) x[NET_PAD] = sqrtf(NET_WIDTH - sum);
    }
}

/* ---- files */

struct tensors {
    struct cli_buf header, data;
};

static void add_tensor(struct tensors *t, const char *name, size_t rows, size_t columns, const float *x) {
    size_t n = (rows > 0 ? rows : 1) * columns;

    cli_buf_printf(&t->header, "%c\"%s.weight\":{\"dtype\":\"F32\",\"shape\":[", t->header.n > 0 ? ',' : '{',
                   name);
    if (rows > 0) cli_buf_printf(&t->header, "%zu,", rows);
    cli_buf_printf(&t->header, "%zu],\"data_offsets\":[%zu,%zu]}", columns, t->data.n, t->data.n + 4 * n);
    for (size_t i = 0; i < n; i++) {
        float one = x != NULL ? x[i] : 1; /* norms */
        uint32_t bits;
        char bytes[4];

        memcpy(&bits, &one, sizeof bits);
        for (int k = 0; k < 4; k++) bytes[k] = (char)(bits >> (8 * k));
        cli_buf_add(&t->data, bytes, sizeof bytes);
    }
}

static void add_experts(struct tensors *t, const struct net *n, uint32_t l) {
    static const char *const maps[] = {"gate_proj", "up_proj", "down_proj"};
    const float *const from[] = {n->gate, n->up, n->down};
    char name[64];

    for (uint32_t e = 0; e < n->n_experts; e++)
        for (size_t i = 0; i < 3; i++) {
            snprintf(name, sizeof name, "model.layers.%u.mlp.experts.%u.%s", (unsigned)l, (unsigned)e,
                     maps[i]);
            add_tensor(t, name, i < 2 ? NET_FFN : NET_WIDTH, i < 2 ? NET_WIDTH : NET_FFN,
                       from[i] + (size_t)e * NET_FFN * NET_WIDTH);
        }
    snprintf(name, sizeof name, "model.layers.%u.mlp.gate", (unsigned)l);
    add_tensor(t, name, n->n_experts, NET_WIDTH, n->router);
    for (size_t i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "model.layers.%u.self_attn.%c_norm", (unsigned)l, "qk"[i]);
        add_tensor(t, name, 0, NET_HEAD, NULL);
    }
}

static void add_layer(struct tensors *t, const struct net *n, uint32_t l) {
    static const char *const maps[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                       "self_attn.o_proj", "mlp.gate_proj",    "mlp.up_proj",
                                       "mlp.down_proj",    "input_layernorm",  "post_attention_layernorm"};
    size_t q = (size_t)n->n_heads * NET_HEAD, kv = (size_t)n->n_kv_heads * NET_HEAD;
    const size_t shapes[][2] = {{q, NET_WIDTH},       {kv, NET_WIDTH},      {kv, NET_WIDTH},
                                {NET_WIDTH, q},       {NET_FFN, NET_WIDTH}, {NET_FFN, NET_WIDTH},
                                {NET_WIDTH, NET_FFN}, {0, NET_WIDTH},       {0, NET_WIDTH}};
    const float *const from[] = {n->q, n->k, n->v, n->o, n->gate, n->up, n->down, NULL, NULL};

    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        char name[64];

        if (n->n_experts > 0 && strncmp(maps[i], "mlp.", 4) == 0) continue;
        snprintf(name, sizeof name, "model.layers.%u.%s", (unsigned)l, maps[i]);
        add_tensor(t, name, shapes[i][0], shapes[i][1],
                   from[i] != NULL ? from[i] + l * shapes[i][0] * shapes[i][1] : NULL);
    }
    if (n->n_experts > 0) add_experts(t, n, l);
}

static void put_checkpoint(const struct net *n, struct cli_buf *out) {
    struct tensors t = {0};
    char size[8];

    add_tensor(&t, "model.embed_tokens", NET_TOKENS, NET_WIDTH, n->embed);
    add_tensor(&t, "lm_head", NET_TOKENS, NET_WIDTH, n->head);
    add_tensor(&t, "model.norm", 0, NET_WIDTH, NULL);
    for (uint32_t l = 0; l < n->n_layers; l++) add_layer(&t, n, l);
    cli_buf_char(&t.header, '}');
    for (int i = 0; i < 8; i++) size[i] = (char)((uint64_t)t.header.n >> (8 * i));
    cli_buf_add(out, size, sizeof size);
    cli_buf_add(out, t.header.p, t.header.n);
    cli_buf_add(out, t.data.p, t.data.n);
    cli_buf_free(&t.header);
    cli_buf_free(&t.data);
}

static void put_config(const struct net *n, struct cli_buf *out) {
    cli_buf_printf(out,
                   "{\"model_type\":\"%s\",\"vocab_size\":%d,\"hidden_size\":%d,\"intermediate_size\":%d,"
                   "\"num_hidden_layers\":%u,\"num_attention_heads\":%u,\"num_key_value_heads\":%u,"
                   "\"head_dim\":%d,\"rope_theta\":1e30,\"rms_norm_eps\":1e-5,\"tie_word_embeddings\":false,"
                   "\"max_position_embeddings\":262144",
                   n->n_experts > 0 ? "qwen3_moe" : "llama", NET_TOKENS, NET_WIDTH, NET_FFN,
                   (unsigned)n->n_layers, (unsigned)n->n_heads, (unsigned)n->n_kv_heads, NET_HEAD);
    if (n->n_experts > 0)
        cli_buf_printf(out,
                       ",\"num_experts\":%u,\"num_experts_per_tok\":1,\"moe_intermediate_size\":%d,"
                       "\"norm_topk_prob\":true",
                       (unsigned)n->n_experts, NET_FFN);
    cli_buf_char(out, '}');
}

/* Bytes as byte-level vocabularies write them: those that can be seen for themselves, the others from
 * U+0100 on. */
static void put_vocabulary(const struct net *n, struct cli_buf *out) {
    int others = 0;

    cli_buf_printf(out,
                   "{\"version\":\"1.0\",\"added_tokens\":[],\"normalizer\":%s,\"pre_tokenizer\":{\"type\":"
                   "\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false},\"decoder\":{\"type\":"
                   "\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"merges\":[],\"vocab\":{",
                   n->nfc ? "{\"type\":\"NFC\"}" : "null");
    for (int b = 0; b < NET_TOKENS; b++) {
        int own = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;

        cli_buf_printf(out, "%s\"\\u%04x\":%d", b > 0 ? "," : "", (unsigned)(own ? b : 256 + others++), b);
    }
    cli_buf_text(out, "}}}");
}

static int write_file(const char *folder, const char *name, struct cli_buf *content) {
    struct cli_buf path = {0};
    FILE *f;
    int ok;

    cli_buf_printf(&path, "%s/%s", folder, name);
    f = fopen(cli_buf_string(&path), "wb");
    ok = f != NULL && fwrite(content->p, 1, content->n, f) == content->n;
    if (f != NULL && fclose(f) != 0) ok = 0;
    if (!ok) cli_error("%s: cannot write a model of the self-test", path.p);
    cli_buf_free(&path);
    cli_buf_free(content);
    return ok ? 0 : CLI_FAIL;
}

static void remove_folder(const char *folder) {
    static const char *const names[] = {"config.json", "tokenizer.json", "model.safetensors"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct cli_buf path = {0};

        cli_buf_printf(&path, "%s/%s", folder, names[i]);
        (void)unlink(cli_buf_string(&path));
        cli_buf_free(&path);
    }
    (void)rmdir(folder);
}

int net_open(struct net *n, const dsx_model_options *options, dsx_model **model, dstok_tokenizer **tok) {
    const char *temporary = getenv("TMPDIR");
    struct cli_buf folder = {0}, files[3] = {{0}, {0}, {0}}, path = {0};
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status = DSTOK_OK;
    int rc;

    *model = NULL;
    *tok = NULL;
    cli_buf_printf(&folder, "%s/dsexplain.XXXXXX", temporary != NULL && temporary[0] ? temporary : "/tmp");
    (void)cli_buf_string(&folder);
    if (mkdtemp(folder.p) == NULL) {
        cli_error("%s: cannot make a folder for models of the self-test", folder.p);
        cli_buf_free(&folder);
        return CLI_FAIL;
    }
    pad(n);
    put_config(n, &files[0]);
    put_vocabulary(n, &files[1]);
    put_checkpoint(n, &files[2]);
    rc = write_file(folder.p, "config.json", &files[0]);
    rc |= write_file(folder.p, "tokenizer.json", &files[1]);
    rc |= write_file(folder.p, "model.safetensors", &files[2]);
    cli_buf_printf(&path, "%s/tokenizer.json", folder.p);
    if (rc == 0) status = dsx_model_open(folder.p, options, model, &err);
    if (rc == 0 && status == DSTOK_OK) status = dstok_tokenizer_load(cli_buf_string(&path), NULL, tok, &err);
    remove_folder(folder.p);
    if (status != DSTOK_OK) rc = ex_failed(folder.p, status, &err);
    cli_buf_free(&folder);
    cli_buf_free(&path);
    return rc;
}
