/* SPDX-License-Identifier: MIT */
/* Scores out of files: arrays of NumPy, JSON, or a number a line. */
#ifndef CLI_SCORES_H
#define CLI_SCORES_H

#include "cli.h"

/* Numbers in rows. Free with cli_scores_free. */
struct cli_scores {
    double *p; /* rows * columns of them */
    size_t rows, columns;
};

/* Most numbers in a file of scores. */
#define CLI_SCORES_MAX ((size_t)1 << 28)

void cli_scores_free(struct cli_scores *s);
/* Make room for n more numbers behind the `have` there. Returns 0, or -1 above the limit. */
int cli_scores_grow(struct cli_scores *s, size_t *cap, size_t have, size_t n);

/* Read an array that numpy.save wrote (format 1.0, 2.0 or 3.0; bool, integers, floats; one or two dimensions).
 * Returns 0; or -1 with the reason in `why` and the byte in *at. */
int cli_npy_read(const void *data, size_t n, struct cli_scores *out, struct cli_buf *why, uint64_t *at);

/* Read any of the formats, told by content. `text` gets a NUL behind its end. Returns as cli_npy_read;
 * *line is the line of the byte, 0 for an array of NumPy. */
int cli_scores_read(struct cli_buf *text, struct cli_scores *out, struct cli_buf *why, uint64_t *at,
                    uint64_t *line);

#endif
