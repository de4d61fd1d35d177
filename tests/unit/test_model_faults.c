/* SPDX-License-Identifier: MIT */
/* Readers of checkpoints under faults: every allocation failed once, every length cut, thousands of damaged
 * files. */
#include "checkpoint.h"
#include "load_damage.h"

/* ---- memory: the linker sends calls of this program here (tests/CMakeLists.txt) */

static size_t calls, fail_at, live;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

static bool fails(void) {
    return ++calls == fail_at;
}

void *__wrap_malloc(size_t n) {
    if (fails()) return NULL;
    live++;
    return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size) {
    if (fails()) return NULL;
    live++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n) {
    if (fails()) return NULL;
    live += p == NULL;
    return __real_realloc(p, n);
}

void __wrap_free(void *p) {
    live -= p != NULL;
    __real_free(p);
}

/* ---- one reading */

typedef struct sample {
    dsx__kind kind;
    const char *config;
    file f;
} sample;

static dstok_status try_once(const sample *s, const char *data, size_t n) {
    dsx__archive a;
    dsx__parts p = {.layers = NULL};
    dstok_error err = {0};
    size_t before = live;
    dstok_status status = dsx__archive_read(s->kind, (const uint8_t *)data, n, s->config,
                                            s->config != NULL ? strlen(s->config) : 0, &a, &err);

    if (status == DSTOK_OK) status = dsx__parts_find(&a, &p, &err);
    if (status != DSTOK_OK) {
        CHECK_EQ(err.status, status);
        CHECK(err.text[0] != '\0');
        CHECK(err.offset <= n || err.offset == DSTOK_NO_OFFSET);
        CHECK(status != DSTOK_E_NOMEM || fail_at > 0);
    }
    for (size_t i = 0; status == DSTOK_OK && i < a.n_tensors; i++)
        CHECK(a.tensors[i].data >= (const uint8_t *)data && a.tensors[i].n_bytes <= n &&
              (size_t)(a.tensors[i].data - (const uint8_t *)data) <= n - a.tensors[i].n_bytes);
    dsx__parts_free(&p);
    dsx__archive_close(&a);
    CHECK_EQ(live, before);
    return status;
}

/* From memory of exactly its size. */
static dstok_status try_copy(const sample *s, const char *data, size_t n) {
    char *exact = malloc(n + (n == 0));

    if (exact == NULL) exit(1);
    memcpy(exact, data, n);
    dstok_status status = try_once(s, exact, n);
    free(exact);
    return status;
}

/* ---- all faults */

static void each_allocation(const sample *s) {
    dstok_status status = DSTOK_E_NOMEM;
    size_t k = 0;

    while (status != DSTOK_OK && k < 5000) {
        calls = 0;
        fail_at = ++k;
        status = try_once(s, s->f.data, s->f.n);
        if (status != DSTOK_OK) CHECK_EQ(status, DSTOK_E_NOMEM);
    }
    fail_at = 0;
    CHECK_EQ(status, DSTOK_OK);
    CHECK(k > 10);
}

static void each_length(const sample *s) {
    for (size_t n = 0; n < s->f.n; n++) CHECK(try_copy(s, s->f.data, n) != DSTOK_OK);
}

static void damaged(const sample *s, uint64_t seed, int times) {
    char *work = malloc(s->f.n + 3 * 40);
    int read = 0;

    if (work == NULL) exit(1);
    for (int i = 0; i < times; i++) {
        t_rng rng = {seed + (uint64_t)i};
        int before = t_failures;
        size_t n = s->f.n;
        memcpy(work, s->f.data, n);
        for (uint32_t k = 1 + t_below(&rng, 3); k > 0; k--) n = damage_once(&rng, work, n);
        read += try_copy(s, work, n) == DSTOK_OK;
        if (t_failures > before) fprintf(stderr, "  seed %llu\n", (unsigned long long)(seed + (uint64_t)i));
    }
    free(work);
    CHECK(read > times / 200); /* some damage is harmless, most is not */
    CHECK(read < times * 9 / 10);
}

/* ---- configurations: a byte changed, any number of them */

static void damaged_config(int times) {
    static const char text[] =
        "{" LLAMA_SIZES
        ",\"rope_scaling\":{\"type\":\"yarn\",\"factor\":2.5,\"mscale\":1},\"eos_token_id\":[1,2]}";
    char work[sizeof text];
    int read = 0;

    for (int i = 0; i < times; i++) {
        t_rng rng = {(uint64_t)i};
        dsx__config c;
        dstok_error err = {0};
        memcpy(work, text, sizeof text);
        for (uint32_t k = 1 + t_below(&rng, 3); k > 0; k--)
            work[t_below(&rng, sizeof text - 1)] = "0123456789{}[],:\"-.eaz"[t_below(&rng, 22)];
        dstok_status status = dsx__config_from_json(work, sizeof text - 1, &c, &err);
        CHECK(status == DSTOK_OK || (err.status == status && err.text[0] != '\0'));
        if (status == DSTOK_OK) CHECK_EQ(dsx__config_check(&c, &err), DSTOK_OK);
        read += status == DSTOK_OK;
    }
    CHECK(read > times / 200);
    CHECK(read < times * 9 / 10);
}

int main(void) {
    sample samples[] = {
        {DSX__SAFETENSORS, LLAMA_CONFIG, safetensors_of(LLAMA_TENSORS)},
        {DSX__GGUF, NULL, llama_keys()},
        {DSX__LLAMA2C, NULL, llama2c_of(8, 6, 2, 2, 1, -5, 3)},
    };

    add_string(&samples[1].f, "llama.rope.scaling.type", "linear");
    finish_tensors(&samples[1].f, LLAMA_GGUF_TENSORS "rope_freqs.weight F32 8\n", 32);
    for (size_t i = 0; i < 8; i++) samples[1].f.data[samples[1].f.n - 32 + 4 * i + 3] = 0x3F;
    for (size_t i = 0; i < 3; i++) {
        each_allocation(&samples[i]);
        each_length(&samples[i]);
        damaged(&samples[i], 100000 * i, 6000);
        free(samples[i].f.data);
    }
    damaged_config(20000);
    return t_end();
}
