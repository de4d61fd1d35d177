/* SPDX-License-Identifier: MIT */
/* Fuzz target: checkpoints, and policies for them. The first byte says of what kind; safetensors have the length of
 * config.json in two bytes, and the text itself, before them. */
#include "arch/names.h"
#include "files/list.h"
#include "quant/policy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) abort();
}

/* The ends of what a part says that it has. */
static void touch(const dsx__part *p) {
    volatile uint8_t byte;

    if (p->data == NULL) return;
    uint64_t n = p->rows * dsx__row_bytes(p->format, p->columns);
    require(n > 0);
    byte = p->data[0];
    byte = p->data[n - 1];
    (void)byte;
}

static void touch_all(const dsx__parts *p, const dsx__config *c) {
    touch(&p->embed);
    touch(&p->final_norm);
    touch(&p->head);
    for (uint32_t l = 0; l < p->n_layers; l++) {
        for (size_t i = 0; i < DSX__EXPERT_GATE; i++) touch(&p->layers[l].role[i]);
        for (uint32_t e = 0; p->layers[l].experts != NULL && e < 3 * c->moe.n_experts; e++)
            touch(&p->layers[l].experts[e]);
    }
}

static void open_and_touch(dsx__kind kind, const uint8_t *data, size_t n, const char *config,
                           size_t config_n) {
    dsx__archive a;
    dsx__parts p = {.layers = NULL};
    dstok_error err = {0};
    dstok_status status = dsx__archive_read(kind, data, n, config, config_n, &a, &err);

    if (status == DSTOK_OK) status = dsx__parts_find(&a, &p, &err);
    if (status == DSTOK_OK)
        touch_all(&p, &a.config);
    else
        require(err.status == status && err.text[0] != '\0' &&
                (err.offset <= n + config_n || err.offset == DSTOK_NO_OFFSET));
    dsx__parts_free(&p);
    dsx__archive_close(&a);
}

static void read_policy(const char *text, size_t n) {
    dsx_policy *p = NULL;
    dstok_error err = {0};
    dstok_status status = dsx__policy_parse(text, n, &p, &err);

    if (status == DSTOK_OK)
        require(dsx_policy_layers(p) > 0);
    else
        require(p == NULL && err.status == status && err.text[0] != '\0' &&
                (err.offset <= n || err.offset == DSTOK_NO_OFFSET));
    dsx_policy_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t config_n = 0, head = 1;

    if (size < 3) return 0;
    if (data[0] == 3) {
        read_policy((const char *)data + 1, size - 1);
        return 0;
    }
    dsx__kind kind = (dsx__kind)(data[0] % 3);
    if (kind == DSX__SAFETENSORS) {
        head = 3;
        config_n = (size_t)data[1] | (size_t)data[2] << 8;
        if (config_n > size - head) config_n = size - head;
    }
    open_and_touch(kind, data + head + config_n, size - head - config_n, (const char *)data + head, config_n);
    return 0;
}
