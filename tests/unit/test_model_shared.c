/* SPDX-License-Identifier: MIT */
/* Checkpoints that others made, where the shared data has them. */
#include "arch/names.h"
#include "t.h"

#include <stdlib.h>

static void check(const char *name, dsx__arch arch, uint32_t n_layers, uint32_t width, size_t n_tensors) {
    const char *path = t_shared(name);
    dsx__archive a;
    dsx__parts p = {.layers = NULL};
    dstok_error err = {0};

    CHECK(path != NULL);
    if (path == NULL) return;
    CHECK_EQ(dsx__archive_open(path, &a, &err), DSTOK_OK);
    if (err.status == DSTOK_OK) CHECK_EQ(dsx__parts_find(&a, &p, &err), DSTOK_OK);
    if (err.status != DSTOK_OK) fprintf(stderr, "  %s\n", err.text);
    CHECK(a.config.arch == arch && a.config.n_layers == n_layers && a.config.width == width);
    CHECK_EQ(a.n_tensors, n_tensors);
    dsx__parts_free(&p);
    dsx__archive_close(&a);
}

static void refuse(const char *name, const char *part) {
    const char *path = t_shared(name);
    dsx__archive a;
    dstok_error err = {0};

    CHECK(path != NULL);
    if (path == NULL) return;
    CHECK_EQ(dsx__archive_open(path, &a, &err), DSTOK_E_UNSUPPORTED);
    CHECK(strstr(err.text, part) != NULL);
}

int main(void) {
    if (t_shared("models") == NULL) return t_skip("there is no models folder in the shared data");
    check("models/stories260K.bin", DSX__LLAMA, 5, 64, 47);
    check("models/tiny_safetensors/tiny_llama3", DSX__LLAMA, 2, 64, 21);
    check("models/tiny_safetensors/tiny_qwen3", DSX__QWEN3, 2, 64, 25);
    check("models/tiny_safetensors/tiny_qwen3/model.safetensors", DSX__QWEN3, 2, 64, 25);
    refuse("models/tiny_safetensors/tiny_qwen3_sharded",
           "config.json: not supported: quantization (MLX, 4 bits)");
    refuse("models/tiny_safetensors/tiny_llama3_tied",
           "config.json: not supported: quantization (MLX, 4 bits)");
    return t_end();
}
