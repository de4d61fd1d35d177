/* SPDX-License-Identifier: MIT */
/* .bin of llama2.c (first version): seven numbers, then float arrays in one order, each for all layers at
 * once. */
#include "files/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEADER 28u

/* An array of the file: layers x rows x columns. */
typedef struct array {
    const char *name; /* NULL: not used */
    bool of_layers;   /* name holds the layer */
    uint32_t rows, columns;
} array;

static uint32_t word_at(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Adds what an array holds. *at is within the file, and moves behind it. */
static dstok_status take_array(const uint8_t *data, size_t n, uint64_t *at, const array *a, uint32_t n_layers,
                               dsx__list *out, dstok_error *err) {
    char name[64];

    for (uint32_t layer = 0; layer < (a->of_layers ? n_layers : 1); layer++) {
        dsx__tensor t = {.format = DSX__F32, .n_dims = a->rows > 0 ? 2 : 1};
        t.shape[0] = a->rows > 0 ? a->rows : a->columns;
        t.shape[1] = a->columns;
        if (a->rows == 0) t.shape[1] = 1;
        t.n_bytes = 4 * t.shape[0] * t.shape[1];
        if (t.n_bytes > n - *at)
            return dsx__fail(err, DSTOK_E_TRUNCATED, n, "the file ends inside %s",
                             a->name != NULL ? a->name : "a table");
        t.data = data + *at;
        *at += t.n_bytes;
        if (a->name == NULL) continue;
        int length = a->of_layers
                         ? snprintf(name, sizeof name, "model.layers.%" PRIu32 ".%s.weight", layer, a->name)
                         : snprintf(name, sizeof name, "%s.weight", a->name);
        DSX_TRY(dsx__list_add(out, &t, name, (size_t)length, err));
    }
    return DSTOK_OK;
}

static dstok_status take_header(const uint8_t *data, size_t n, dsx__config *c, dstok_error *err) {
    if (n < HEADER) return dsx__fail(err, DSTOK_E_TRUNCATED, n, "the file ends inside the header");
    if (word_at(data) == 0x616b3432)
        return dsx__fail(err, DSTOK_E_UNSUPPORTED, 0,
                         "not supported: version %" PRIu32 " of llama2.c's files; export with version 0",
                         word_at(data + 4));
    uint32_t vocab = word_at(data + 20);
    c->tied_head = vocab >> 31 == 0; /* a negative number of tokens says that the head is its own */
    c->arch = DSX__LLAMA;
    c->width = word_at(data);
    c->ffn = word_at(data + 4);
    c->n_layers = word_at(data + 8);
    c->n_heads = word_at(data + 12);
    c->n_kv_heads = word_at(data + 16);
    c->n_vocab = c->tied_head ? vocab : 0u - vocab;
    c->context = word_at(data + 24);
    if (c->n_heads == 0 || c->width % c->n_heads != 0)
        return dsx__fail(err, DSTOK_E_FORMAT, 0, "width %" PRIu32 " is no multiple of %" PRIu32 " heads",
                         c->width, c->n_heads);
    c->head_dim = c->width / c->n_heads;
    c->norm_eps = (double)1e-5f;
    c->rope = (dsx__rope){.theta = 10000, .interleaved = true};
    c->moe.scale = 1;
    c->bos = 1; /* which also ends a text */
    c->eos[0] = 1;
    c->eos[1] = 2;
    c->n_eos = 2;
    return dsx__config_check(c, err);
}

dstok_status dsx__llama2c_read(const uint8_t *data, size_t n, dsx__list *out, dsx__config *c,
                               dstok_error *err) {
    uint64_t at = HEADER;

    DSX_TRY(take_header(data, n, c, err));
    uint32_t heads = c->n_heads * c->head_dim, kv_heads = c->n_kv_heads * c->head_dim;
    const array arrays[] = {
        {"model.embed_tokens", false, c->n_vocab, c->width},
        {"input_layernorm", true, 0, c->width},
        {"self_attn.q_proj", true, heads, c->width},
        {"self_attn.k_proj", true, kv_heads, c->width},
        {"self_attn.v_proj", true, kv_heads, c->width},
        {"self_attn.o_proj", true, c->width, heads},
        {"post_attention_layernorm", true, 0, c->width},
        {"mlp.gate_proj", true, c->ffn, c->width},
        {"mlp.down_proj", true, c->width, c->ffn},
        {"mlp.up_proj", true, c->ffn, c->width},
        {"model.norm", false, 0, c->width},
        {NULL, false, c->context, c->head_dim / 2}, /* cosines, then sines, of rotary positions */
        {NULL, false, c->context, c->head_dim / 2},
        {"lm_head", false, c->n_vocab, c->width},
    };
    size_t n_arrays = sizeof arrays / sizeof *arrays - c->tied_head;
    for (size_t i = 0; i < n_arrays; i++)
        DSX_TRY(take_array(data, n, &at, &arrays[i], c->n_layers, out, err));
    if (at != n)
        return dsx__fail(err, DSTOK_E_FORMAT, at, "%" PRIu64 " bytes are left behind the last array",
                         (uint64_t)n - at);
    return DSTOK_OK;
}
