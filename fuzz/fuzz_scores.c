/* SPDX-License-Identifier: MIT */
/* Fuzz target: files of scores, told by content (.npy, JSON, lines); .npy also from memory that ends with
 * the file. */
#include "../tools/cli/scores.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

void cli_no_memory(void) { /* in place of the program's */
    abort();
}

static void require(int condition) {
    if (!condition) abort();
}

/* What was read is all there; what was refused has a reason, a place in the file, and holds no memory. */
static void check(int rc, struct cli_scores *s, const struct cli_buf *why, uint64_t at, size_t size) {
    double sum = 0;
    size_t i;

    if (rc == 0) {
        require(s->columns == 0 || s->rows <= CLI_SCORES_MAX / s->columns);
        for (i = 0; i < s->rows * s->columns; i++) sum += s->p[i];
        require(sum < 0 || sum >= 0 || sum != sum);
    } else {
        require(rc == -1 && why->n > 0 && at <= size && s->p == NULL);
    }
    cli_scores_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cli_buf text = {0}, why = {0};
    struct cli_scores s;
    uint64_t at = 0, line = 0;
    void *exact = malloc(size > 0 ? size : 1);

    require(exact != NULL);
    if (size > 0) memcpy(exact, data, size);
    cli_buf_add(&text, data, size);
    check(cli_scores_read(&text, &s, &why, &at, &line), &s, &why, at, size);
    why.n = 0;
    check(cli_npy_read(exact, size, &s, &why, &at), &s, &why, at, size);
    cli_buf_free(&text);
    cli_buf_free(&why);
    free(exact);
    return 0;
}
