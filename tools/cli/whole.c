/* SPDX-License-Identifier: MIT */
/* Inputs that are read as a whole. */
#include "source.h"

#include <string.h>

#define STEP ((size_t)1 << 16)

int cli_read_whole(const char *path, int plain, size_t max, struct cli_buf *out) {
    const char *why = "", *name = strcmp(path, "-") == 0 ? "standard input" : path;
    struct cli_source *s = cli_source_open(path, plain, &why);
    long n;

    if (s == NULL) {
        cli_error("cannot open %s: %s", name, why);
        return CLI_USAGE;
    }
    do {
        cli_buf_reserve(out, STEP);
        n = cli_source_read(s, out->p + out->n, STEP, &why);
        out->n += n > 0 ? (size_t)n : 0;
    } while (n > 0 && out->n <= max);
    cli_source_close(s);
    if (n < 0) cli_error("%s: %s", name, why);
    if (n > 0) cli_error("%s: more than %zu bytes, which is the most for this", name, max);
    return n == 0 ? 0 : CLI_FAIL;
}
