/* SPDX-License-Identifier: MIT */
/* Every allocation of opening, planning, running and explaining a model fails once: E_NOMEM, nothing is left
 * behind, and what was asked for again gives the same bits as without the failure. */
#include "checkpoint.h"
#include "explain/attribute.h"

#include <dsx/dsx.h>

#include <stdlib.h>
#include <unistd.h>

/* ---- memory: the linker sends calls of this program here (tests/CMakeLists.txt); those of Jansson are its
 * own */

static size_t calls, fail_at, live;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
char *__real_strdup(const char *text);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
char *__wrap_strdup(const char *text);
void __wrap_free(void *p);

/* Counts what is about to be taken; NULL instead, once. */
#define TAKE(call) (++calls == fail_at ? NULL : (live++, (call)))

void *__wrap_malloc(size_t n) {
    return TAKE(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size) {
    return TAKE(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n) {
    if (p == NULL) return __wrap_malloc(n);
    return ++calls == fail_at ? NULL : __real_realloc(p, n);
}

void *__wrap_aligned_alloc(size_t alignment, size_t n) {
    return TAKE(__real_aligned_alloc(alignment, n));
}

char *__wrap_strdup(const char *text) {
    return TAKE(__real_strdup(text));
}

void __wrap_free(void *p) {
    live -= p != NULL;
    __real_free(p);
}

/* ---- checkpoints */

#define CHAT "{{ '<|im_start|>' }}"

enum { N = 200, FIRST = 64, AGAIN = 70, ANSWER = 75, VOCAB = 5 };

static char folder[] = "model_oom_XXXXXX";

static const char *path_of(const char *name) {
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *data, size_t n) {
    FILE *f = fopen(path_of(name), "wb");

    if (f == NULL || fwrite(data, 1, n, f) != n || fclose(f) != 0) exit(1);
}

static void write_made(const char *name, file f) {
    write_file(name, f.data, f.n);
    free(f.data);
}

static void write_text(const char *name, const char *text) {
    write_file(name, text, strlen(text));
}

/* Two shards, a vocabulary, and a template of each kind: one alone counts. */
static void write_shards(void) {
    static const char tensors[] = LLAMA_TENSORS;
    char first[256], index[4096] = "{\"weight_map\":{";
    const char *at = tensors, *cut = strstr(tensors, "model.layers.0.self");
    line l;

    memcpy(first, tensors, (size_t)(cut - tensors));
    first[cut - tensors] = '\0';
    while (next_line(&at, &l))
        snprintf(index + strlen(index), sizeof index - strlen(index), "%s\"%s\":\"%s\"",
                 index[strlen(index) - 1] == '{' ? "" : ",", l.name, at <= cut ? "a.st" : "b.st");
    strcat(index, "}}");
    write_text("model.safetensors.index.json", index);
    write_made("a.st", safetensors_of(first));
    write_made("b.st", safetensors_of(cut));
    write_text("config.json", "{" LLAMA_SIZES ",\"eos_token_id\":[1,2],\"max_position_embeddings\":512}");
    write_text("tokenizer.json", "{}");
    write_text("tokenizer_config.json",
               "{\"chat_template\":[{\"name\":\"default\",\"template\":\"" CHAT "\"}]}");
}

static void add_line(char *text, size_t cap, const char *format, unsigned n) {
    size_t used = strlen(text);

    snprintf(text + used, cap - used, format, n, n, n);
}

/* Latent attention in both layers, experts in the second. */
static void write_deepseek(void) {
    char text[8192] = "model.embed_tokens.weight F32 5 8\nmodel.norm.weight F32 8\nlm_head.weight F32 5 8\n";

    for (unsigned i = 0; i < 2; i++) {
        add_line(text, sizeof text,
                 "model.layers.%u.input_layernorm.weight F32 8\n"
                 "model.layers.%u.post_attention_layernorm.weight F32 8\n"
                 "model.layers.%u.self_attn.q_a_proj.weight F32 4 8\n",
                 i);
        add_line(text, sizeof text,
                 "model.layers.%u.self_attn.q_a_layernorm.weight F32 4\n"
                 "model.layers.%u.self_attn.q_b_proj.weight F32 8 4\n"
                 "model.layers.%u.self_attn.kv_a_proj_with_mqa.weight F32 6 8\n",
                 i);
        add_line(text, sizeof text,
                 "model.layers.%u.self_attn.kv_a_layernorm.weight F32 4\n"
                 "model.layers.%u.self_attn.kv_b_proj.weight BF16 8 4\n"
                 "model.layers.%u.self_attn.o_proj.weight F16 8 4\n",
                 i);
    }
    add_line(text, sizeof text,
             "model.layers.0.mlp.gate_proj.weight F32 6 8\nmodel.layers.0.mlp.up_proj.weight F32 6 8\n"
             "model.layers.0.mlp.down_proj.weight F32 8 6\nmodel.layers.1.mlp.gate.weight F32 4 8\n"
             "model.layers.1.mlp.gate.e_score_correction_bias F32 4\n"
             "model.layers.1.mlp.shared_experts.gate_proj.weight F32 3 8\n"
             "model.layers.1.mlp.shared_experts.up_proj.weight F32 3 8\n"
             "model.layers.1.mlp.shared_experts.down_proj.weight F32 8 3\n",
             0);
    for (unsigned e = 0; e < 4; e++)
        add_line(text, sizeof text,
                 "model.layers.1.mlp.experts.%u.gate_proj.weight F32 3 8\n"
                 "model.layers.1.mlp.experts.%u.up_proj.weight F32 3 8\n"
                 "model.layers.1.mlp.experts.%u.down_proj.weight F32 8 3\n",
                 e);
    write_text("config.json",
               "{\"model_type\":\"deepseek_v3\",\"vocab_size\":5,\"hidden_size\":8,\"intermediate_size\":6,"
               "\"num_hidden_layers\":2,\"num_attention_heads\":2,\"q_lora_rank\":4,\"kv_lora_rank\":4,"
               "\"qk_nope_head_dim\":2,\"qk_rope_head_dim\":2,\"v_head_dim\":2,\"n_routed_experts\":4,"
               "\"num_experts_per_tok\":2,\"moe_intermediate_size\":3,\"n_group\":2,\"topk_group\":1,"
               "\"first_k_dense_replace\":1,\"num_nextn_predict_layers\":0}");
    write_made("model.safetensors", safetensors_of(text));
}

static void write_gguf(void) {
    file f = llama_keys();

    add_string(&f, "tokenizer.chat_template", CHAT);
    finish_tensors(&f, LLAMA_GGUF_TENSORS "rope_freqs.weight F32 8\n", 32);
    for (size_t i = 0; i < 8; i++) f.data[f.n - 32 + 4 * i + 3] = 0x3F;
    write_made("model.gguf", f);
}

/* ---- one run: each call is made until it is answered */

typedef struct run {
    const char *path;
    dsx_model_options model_options;
    dsx_session_options session_options;
    bool has_chat;
    size_t n; /* of ids that are read */
    uint32_t ids[N];
} run;

typedef struct outcome {
    double scores[N], shown[N], logits[VOCAB], next, forked[VOCAB], shares[ANSWER], bias;
    uint64_t planned;
    double cost;
    float limit;
} outcome;

static const outcome *expected; /* NULL: this run makes it */

/* Whether to ask again: a failure is one of memory, told in words, and leaves nothing. */
static bool failed(dstok_status status, const dstok_error *err, size_t before) {
    if (status == DSTOK_OK) return false;
    CHECK_EQ(status, DSTOK_E_NOMEM);
    CHECK_EQ(err->status, status);
    CHECK(strstr(err->text, "out of memory") != NULL);
    if (before != SIZE_MAX) CHECK_EQ(live, before);
    if (status != DSTOK_E_NOMEM || calls < fail_at) exit(t_end());
    return true;
}

static dsx_model *open_model(const run *r) {
    dsx_model *m = NULL;
    dsx_model_info info = DSX_MODEL_INFO_INIT;
    dstok_error err = {0};
    size_t before = live;

    while (failed(dsx_model_open(r->path, &r->model_options, &m, &err), &err, before)) CHECK(m == NULL);
    CHECK_EQ(dsx_model_describe(m, &info), DSTOK_OK);
    CHECK_STR(info.chat != NULL ? info.chat : "", r->has_chat ? CHAT : "");
    CHECK(info.tokenizer != NULL || !r->has_chat);
    return m;
}

static void plan(const run *r, outcome *o) {
    dsx_plan_options options = DSX_PLAN_OPTIONS_INIT;
    dsx_plan p = DSX_PLAN_INIT;
    dsx_cost_model cost;
    dstok_error err = {0};
    size_t before = live;

    options.model = &r->model_options;
    while (failed(dsx_plan_model(r->path, &options, &p, &err), &err, before)) continue;
    while (failed(dsx_cost_of(r->path, 8, 8, &cost, &err), &err, before)) continue;
    o->planned = p.total;
    o->cost = cost.weights;
}

static dsx_session *new_session(const run *r, const dsx_model *m) {
    dsx_session *s = NULL;
    dstok_error err = {0};
    size_t before = live;

    while (failed(dsx_session_new(m, &r->session_options, &s, &err), &err, before)) CHECK(s == NULL);
    return s;
}

static int show(void *context, uint64_t position, const double *logits) {
    ((outcome *)context)->shown[position] = logits[position % VOCAB];
    return 0;
}

enum { FEED, SCORE, SHOW };

/* After a failure the session stands behind some token: the logits are that one's, or none. */
static void check_last(dsx_session *s) {
    double logits[VOCAB];
    size_t n = (size_t)dsx_session_length(s);

    if (n > FIRST && dsx_session_logits(s, logits, VOCAB, NULL) == DSTOK_OK)
        CHECK(logits[(n - 1) % VOCAB] == expected->shown[n - 1]);
}

/* Tokens up to n: what a failure left unread is read again. */
static void read_on(const run *r, dsx_session *s, int how, size_t n, outcome *o) {
    dstok_error err = {0};
    dstok_status status;

    do {
        size_t at = (size_t)dsx_session_length(s);
        const uint32_t *ids = r->ids + at;

        status = how == FEED    ? dsx_session_feed(s, ids, n - at, &err)
                 : how == SCORE ? dsx_session_score(s, ids, n - at, o->scores + at, &err)
                                : dsx_session_read(s, ids, n - at, show, o, &err);
        if (status != DSTOK_OK && expected != NULL) check_last(s);
    } while (failed(status, &err, SIZE_MAX));
}

/* Fixed limits of all maps: what single failures left half done is chosen again. */
static void calibrate(const run *r, const dsx_model *m, outcome *o) {
    const dsx_format fixed = {DSX_WEIGHTS_FILE, 0, DSX_ROWS_INT8_FIXED, 1};
    dsx_model_info info = DSX_MODEL_INFO_INIT;
    dsx_policy *p = NULL;
    dsx_format f = {0};
    dstok_error err = {0};
    size_t before = live;

    CHECK_EQ(dsx_model_describe(m, &info), DSTOK_OK);
    while (failed(dsx_policy_new(info.n_layers, &fixed, &p, &err), &err, before)) CHECK(p == NULL);
    while (failed(dsx_policy_calibrate(p, m, r->ids, AGAIN, DSX_LIMIT_EMA, 0, &err), &err, SIZE_MAX))
        continue;
    for (int op = 0; op < DSX_OP_HEAD; op++) {
        CHECK_EQ(dsx_policy_get(p, info.n_layers - 1, op, &f), DSTOK_OK);
        o->limit += f.limit;
    }
    dsx_policy_free(p);
}

/* Keys and values stay with the model, so what is live may have grown. */
static void attribute(const run *r, const dsx_model *m, outcome *o) {
    dsx__aim aim = {.ids = r->ids, .from = AGAIN, .to = ANSWER, .foil = -1, .first = FIRST, .keep_bytes = 1};
    dsx__attribution a;
    float heads[4 * ANSWER];
    dstok_error err = {0};

    while (failed(dsx__attribute(m, &aim, heads, NULL, NULL, &a, &err), &err, SIZE_MAX))
        CHECK(a.scores == NULL);
    memcpy(o->shares, a.scores, a.n * sizeof *a.scores);
    o->bias = a.bias;
    dsx__attribution_free(&a);
}

static void go(const run *r, outcome *o) {
    dsx_model *m = open_model(r);
    dsx_session *s = new_session(r, m), *other = NULL, *again = new_session(r, m);
    dstok_error err = {0};
    size_t before;

    plan(r, o);
    attribute(r, m, o);
    read_on(r, s, SCORE, FIRST, o);
    before = live;
    while (failed(dsx_session_fork(s, &other, &err), &err, before)) CHECK(other == NULL);
    read_on(r, s, SHOW, r->n, o);
    read_on(r, other, FEED, r->n, o); /* finds a page */
    read_on(r, again, FEED, AGAIN, o);
    read_on(r, again, SCORE, r->n, o);
    before = live;
    while (failed(dsx_session_logits(s, o->logits, VOCAB, &err), &err, before)) continue;
    while (failed(dsx_session_next(s, r->ids, 1, &o->next, &err), &err, before)) continue;
    while (failed(dsx_session_logits(again, o->forked, VOCAB, &err), &err, before)) continue;
    CHECK_MEM(o->forked, o->logits, sizeof o->logits);
    CHECK_EQ(dsx_session_truncate(other, r->session_options.kv == DSX_KV_FLOAT ? FIRST : 0, NULL), DSTOK_OK);
    read_on(r, other, FEED, AGAIN, o);
    while (failed(dsx_session_logits(other, o->forked, VOCAB, &err), &err, SIZE_MAX)) continue;
    calibrate(r, m, o);
    dsx_session_free(s);
    dsx_session_free(other);
    dsx_session_free(again);
    dsx_model_free(m);
    CHECK_EQ(live, 0);
}

static void each_allocation(run *r) {
    outcome want, got;
    size_t n;

    for (int i = 0; i < N; i++) r->ids[i] = (uint32_t)(i * i + i / 7) % VOCAB;
    memset(&want, 0, sizeof want);
    calls = fail_at = 0;
    expected = NULL;
    go(r, &want);
    expected = &want;
    n = calls;
    CHECK(n > 100);
    for (size_t k = 1; k <= n; k++) {
        memset(&got, 0, sizeof got);
        calls = 0;
        fail_at = k;
        go(r, &got);
        got.scores[0] = want.scores[0]; /* NaN */
        if (memcmp(&got, &want, sizeof got) != 0) fprintf(stderr, "%s: allocation %zu\n", r->path, k);
        CHECK_MEM(&got, &want, sizeof got);
    }
    fail_at = 0;
    expected = NULL;
}

static void remove_files(void) {
    static const char *const names[] = {
        "config.json",    "model.safetensors.index.json", "a.st",       "b.st",
        "tokenizer.json", "tokenizer_config.json",        "model.gguf", "model.safetensors"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(path_of(names[i]));
}

int main(void) {
    run r = {.model_options = DSX_MODEL_OPTIONS_INIT, .session_options = DSX_SESSION_OPTIONS_INIT};

    if (mkdtemp(folder) == NULL) exit(1);
    r.model_options.n_threads = 1;
    r.session_options.chunk = 48;
    r.session_options.max_tokens = N;
    r.n = 140;
    write_shards();
    r.path = folder;
    r.has_chat = true;
    each_allocation(&r);
    r.session_options.kv = DSX_KV_INT8;
    r.session_options.kv_recent = 64;
    r.n = N; /* a page comes to lie far enough back */
    each_allocation(&r);
    r.n = 140;
    remove_files();

    write_deepseek();
    r.has_chat = false;
    r.session_options.kv = DSX_KV_FLOAT;
    each_allocation(&r);
    r.model_options.backend = dsx_backend_float64();
    each_allocation(&r);
    remove_files();

    write_gguf();
    r.model_options.backend = NULL;
    r.model_options.weights = DSX_WEIGHTS_W4;
    r.path = path_of("model.gguf");
    r.has_chat = true;
    each_allocation(&r);
    remove_files();
    rmdir(folder);
    return t_end();
}
