/* SPDX-License-Identifier: MIT */
/* Memory of a model and a long session: what is taken at most is what dsx_plan_model says beforehand, and grows
 * with the length alone. Every allocation is counted, with all that the allocator gave. */
#include <dsx/dsx.h>

#include "t.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- memory: the linker sends calls of this program here (tests/CMakeLists.txt) */

static size_t live, peak;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
void __wrap_free(void *p);

static void *taken(void *p) {
    live += malloc_usable_size(p);
    peak = live > peak ? live : peak;
    return p;
}

void *__wrap_malloc(size_t n) {
    return taken(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size) {
    return taken(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n) {
    live -= malloc_usable_size(p);
    return taken(__real_realloc(p, n));
}

void *__wrap_aligned_alloc(size_t alignment, size_t n) {
    return taken(__real_aligned_alloc(alignment, n));
}

void __wrap_free(void *p) {
    live -= malloc_usable_size(p);
    __real_free(p);
}

/* ---- a checkpoint of llama2.c, whose keys and values are large beside its weights */

enum { WIDTH = 128, FFN = 128, LAYERS = 3, HEADS = 4, VOCAB = 50, MADE_FOR = 256, CHUNK = 128 };

static char folder[] = "memory_XXXXXX", path[64];

static void write_model(void) {
    int32_t head[7] = {WIDTH, FFN, LAYERS, HEADS, HEADS, VOCAB, MADE_FOR};
    size_t n = VOCAB * WIDTH + (2 * LAYERS + 1) * WIDTH + LAYERS * (4 * WIDTH + 3 * FFN) * WIDTH +
               MADE_FOR * (WIDTH / HEADS);
    t_rng rng = {3};
    FILE *f;

    if (mkdtemp(folder) == NULL) exit(1);
    snprintf(path, sizeof path, "%s/model.bin", folder);
    f = fopen(path, "wb");
    if (f == NULL) exit(1);
    CHECK(fwrite(head, sizeof head, 1, f) == 1);
    for (size_t i = 0; i < n; i++) {
        float x = (float)t_below(&rng, 2001) / 5000 - 0.2f;

        CHECK(fwrite(&x, sizeof x, 1, f) == 1);
    }
    fclose(f);
}

/* Most bytes at once, from opening the model to a session of n tokens; the model was made for fewer. */
static double measure(int kv, size_t n, double *planned) {
    dsx_model_options mo = DSX_MODEL_OPTIONS_INIT;
    dsx_session_options so = DSX_SESSION_OPTIONS_INIT;
    dsx_plan_options po = DSX_PLAN_OPTIONS_INIT;
    dsx_plan plan = DSX_PLAN_INIT;
    dsx_model *m = NULL;
    dsx_session *s = NULL;
    uint32_t ids[CHUNK];
    size_t before = live;
    double most;

    mo.n_threads = 1;
    so.kv = po.kv = kv;
    so.chunk = po.chunk = CHUNK;
    so.max_tokens = po.context = n;
    po.model = &mo;
    CHECK_EQ(dsx_plan_model(path, &po, &plan, NULL), DSTOK_OK);
    CHECK_EQ(live, before);
    *planned = (double)plan.total;
    peak = live;
    CHECK_EQ(dsx_model_open(path, &mo, &m, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_new(m, &so, &s, NULL), DSTOK_OK);
    for (size_t at = 0; s != NULL && at < n; at += CHUNK) {
        for (size_t i = 0; i < CHUNK; i++) ids[i] = (uint32_t)((at + i) * (at + 7 * i) % VOCAB);
        CHECK_EQ(dsx_session_feed(s, ids, CHUNK, NULL), DSTOK_OK);
    }
    most = (double)(peak - before);
    CHECK_EQ(dsx_session_feed(s, ids, 1, NULL), DSTOK_E_LIMIT);
    dsx_session_free(s);
    dsx_model_free(m);
    CHECK_EQ(live, before);
    return most;
}

static void check(int kv) {
    static const size_t lengths[3] = {768, 1536, 3072};
    double most[3], planned, step;

    for (int i = 0; i < 3; i++) {
        most[i] = measure(kv, lengths[i], &planned);
        if (!(fabs(most[i] / planned - 1) <= 0.05))
            fprintf(stderr, "kv %d, %zu tokens: %.0f bytes, planned %.0f\n", kv, lengths[i], most[i],
                    planned);
        CHECK(fabs(most[i] / planned - 1) <= 0.05);
    }
    step = (most[1] - most[0]) / (double)(lengths[1] - lengths[0]);
    CHECK(fabs((most[2] - most[1]) / (double)(lengths[2] - lengths[1]) / step - 1) <= 0.02);
}

int main(void) {
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20); /* pieces of their own would be rounded up to 4 KB */
    write_model();
    check(DSX_KV_FLOAT);
    check(DSX_KV_INT8);
    check(DSX_KV_INT4);
    (void)remove(path);
    (void)remove(folder);
    return t_end();
}
