/* SPDX-License-Identifier: MIT */
/* How far rounded weights are from those of a file: the square root of sum((rounded - w)^2) / sum(w^2) over the maps
 * of all layers.
 *
 *     weight_error MODEL w8|w4|fp8 [GROUP] */
#include "arch/open.h"
#include "quant/rounding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sums {
    double error, whole;
} sums;

static void add_part(void *context, const dsx__part *part, const dsx_format *format) {
    sums *s = context;
    size_t most = DSX__SQUARE * (size_t)part->columns;
    float *w;

    if (format == NULL || format->weights < DSX_WEIGHTS_W8) return;
    w = malloc(2 * most * sizeof *w);
    if (w == NULL) exit(1);
    for (uint64_t i = 0; i < part->rows; i += DSX__SQUARE) {
        uint64_t n = part->rows - i < DSX__SQUARE ? part->rows - i : DSX__SQUARE;

        dsx__rows_read(part, i, n, w);
        dsx__weights_read(part, format, i, n, w + most);
        for (size_t k = 0; k < n * part->columns; k++) {
            s->error += pow((double)w[most + k] - (double)w[k], 2);
            s->whole += pow((double)w[k], 2);
        }
    }
    free(w);
}

static int weights_of(const char *name) {
    static const char *const names[] = {"w8", "w4", "fp8"};

    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0) return DSX_WEIGHTS_W8 + i;
    return -1;
}

int main(int argc, char **argv) {
    dsx_model_options o = DSX_MODEL_OPTIONS_INIT;
    dsx__archive archive = {0};
    dsx__parts parts = {0};
    dstok_error err = {0};
    sums s = {0};
    dstok_status status;

    if (argc < 3 || argc > 4 || (o.weights = weights_of(argv[2])) < 0) {
        fprintf(stderr, "usage: weight_error MODEL w8|w4|fp8 [GROUP]\n");
        return 2;
    }
    o.group = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    status = dsx__archive_open(argv[1], &archive, &err);
    if (status == DSTOK_OK) status = dsx__parts_find(&archive, &parts, &err);
    if (status == DSTOK_OK)
        dsx__parts_each(&archive.config, &parts, &o, add_part, &s);
    else
        fprintf(stderr, "weight_error: %s\n", err.text);
    dsx__parts_free(&parts);
    dsx__archive_close(&archive);
    if (status == DSTOK_OK) printf("%.6g\n", sqrt(s.error / s.whole));
    return status == DSTOK_OK ? 0 : 1;
}
