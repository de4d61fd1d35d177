/* SPDX-License-Identifier: MIT */
/* Growable byte buffers. */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Far above what any record can need; a guard against runaway sizes. */
#define BUF_MAX ((size_t)1 << 42)

void *cli_alloc(size_t n) {
    return cli_realloc(NULL, n);
}

void *cli_realloc(void *p, size_t n) {
    void *q = n <= BUF_MAX ? realloc(p, n > 0 ? n : 1) : NULL;

    if (q == NULL) cli_no_memory();
    return q;
}

char *cli_copy_text(const char *text) {
    size_t n = strlen(text) + 1;

    return memcpy(cli_alloc(n), text, n);
}

void cli_buf_reserve(struct cli_buf *b, size_t more) {
    size_t cap = b->cap < 64 ? 64 : b->cap;

    if (more > BUF_MAX - b->n) cli_no_memory();
    while (cap < b->n + more) cap += cap / 2;
    if (cap != b->cap) {
        b->p = cli_realloc(b->p, cap);
        b->cap = cap;
    }
}

void cli_buf_add(struct cli_buf *b, const void *data, size_t n) {
    if (n == 0) return;
    cli_buf_reserve(b, n);
    memcpy(b->p + b->n, data, n);
    b->n += n;
}

void cli_buf_text(struct cli_buf *b, const char *text) {
    cli_buf_add(b, text, strlen(text));
}

void cli_buf_name(struct cli_buf *b, const char *name) {
    static const char from[] = "\t\n\r\\", to[] = "tnr\\";

    for (; *name; name++) {
        const char *at = strchr(from, *name);

        if (at) cli_buf_char(b, '\\');
        cli_buf_char(b, at ? to[at - from] : *name);
    }
}

void cli_buf_char(struct cli_buf *b, char c) {
    if (b->n == b->cap) cli_buf_reserve(b, 1);
    b->p[b->n++] = c;
}

void cli_buf_uint(struct cli_buf *b, uint64_t value) {
    uint64_t limit = 10;
    size_t n = 1;
    char *p;

    while (n < 20 && value >= limit) { /* 10^20 does not fit, and is not looked at */
        limit *= 10;
        n++;
    }
    if (b->cap - b->n < n) cli_buf_reserve(b, n);
    b->n += n;
    for (p = b->p + b->n; n > 0; n--) {
        *--p = (char)('0' + value % 10);
        value /= 10;
    }
}

const char *cli_number(const char *p, size_t n, uint64_t *value) {
    uint64_t number = 0;
    size_t i;

    for (i = 0; i < n; i++) {
        unsigned digit = (unsigned)((unsigned char)p[i] - '0');

        if (digit > 9) return "is not a whole number";
        if (number > (UINT64_MAX - digit) / 10) return "is too large";
        number = number * 10 + digit;
    }
    *value = number;
    return n > 0 ? NULL : "is not a whole number";
}

void cli_buf_printf(struct cli_buf *b, const char *format, ...) {
    va_list args, again;
    int n;

    va_start(args, format);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n > 0) {
        cli_buf_reserve(b, (size_t)n + 1);
        (void)vsnprintf(b->p + b->n, (size_t)n + 1, format, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

const char *cli_buf_string(struct cli_buf *b) {
    cli_buf_reserve(b, 1);
    b->p[b->n] = '\0';
    return b->p;
}

void cli_buf_clear(struct cli_buf *b, size_t keep) {
    if (b->cap > keep) cli_buf_free(b);
    b->n = 0;
}

void cli_buf_free(struct cli_buf *b) {
    free(b->p);
    memset(b, 0, sizeof *b);
}
