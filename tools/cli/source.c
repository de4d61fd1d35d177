/* SPDX-License-Identifier: MIT */
/* Reading of plain, gzip and zstd input. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum kind { UNKNOWN, PLAIN, GZIP, ZSTD };

struct cli_source {
    int fd;
    enum kind kind;
    int at_end;     /* the file has no more bytes */
    int in_member;  /* gzip, zstd: inside compressed data, whose end must still come */
    int in_padding; /* gzip: zeros behind the last member */
    z_stream gz;
    ZSTD_DStream *zst;
    size_t pos, n; /* unread part of in */
    unsigned char in[1 << 16];
};

static const char truncated[] = "the compressed data ends too early; the file is cut off";

struct cli_source *cli_source_open(const char *path, int plain, const char **why) {
    int is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct cli_source *s;

    if (fd < 0) {
        *why = strerror(errno);
        return NULL;
    }
    s = cli_alloc(sizeof *s);
    memset(s, 0, offsetof(struct cli_source, in));
    s->fd = fd;
    s->kind = plain ? PLAIN : UNKNOWN;
    return s;
}

void cli_source_close(struct cli_source *s) {
    if (s == NULL) return;
    if (s->kind == GZIP) (void)inflateEnd(&s->gz);
    if (s->kind == ZSTD) (void)ZSTD_freeDStream(s->zst);
    if (s->fd != STDIN_FILENO) (void)close(s->fd);
    free(s);
}

/* One read; short reads are normal, interrupted ones are repeated. */
static long read_some(int fd, void *out, size_t cap, const char **why) {
    for (;;) {
        ssize_t n = read(fd, out, cap < (size_t)1 << 30 ? cap : (size_t)1 << 30);
        struct pollfd wait = {fd, POLLIN, 0};

        if (n >= 0) return (long)n;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            (void)poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            *why = strerror(errno);
            return -1;
        }
    }
}

/* Append to the compressed bytes that wait. Returns 0 or -1. */
static int fill(struct cli_source *s, const char **why) {
    long n;

    if (s->pos > 0) {
        memmove(s->in, s->in + s->pos, s->n - s->pos);
        s->n -= s->pos;
        s->pos = 0;
    }
    n = read_some(s->fd, s->in + s->n, sizeof s->in - s->n, why);
    if (n < 0) return -1;
    s->at_end = n == 0;
    s->n += (size_t)n;
    return 0;
}

/* What the first bytes say; UNKNOWN while more of them could make a magic number. */
static enum kind kind_of(const unsigned char *p, size_t n) {
    static const unsigned char gzip[] = {0x1F, 0x8B, 0x08}, zstd[] = {0x28, 0xB5, 0x2F, 0xFD},
                               skippable[] = {0x2A, 0x4D, 0x18};
    size_t k = n < 3 ? n : 3;

    if (memcmp(p, gzip, k) == 0) return n >= 3 ? GZIP : UNKNOWN;
    if (memcmp(p, zstd, n < 4 ? n : 4) == 0) return n >= 4 ? ZSTD : UNKNOWN;
    if (n > 0 && (p[0] & 0xF0) == 0x50 && memcmp(p + 1, skippable, n < 4 ? n - 1 : 3) == 0)
        return n >= 4 ? ZSTD : UNKNOWN;
    return PLAIN;
}

static int start(struct cli_source *s, const char **why) {
    enum kind kind = UNKNOWN;

    while (kind == UNKNOWN && !s->at_end) {
        if (fill(s, why)) return -1;
        kind = kind_of(s->in, s->n);
    }
    s->kind = kind == UNKNOWN ? PLAIN : kind;
    if (s->kind == GZIP && inflateInit2(&s->gz, 15 + 16) != Z_OK) cli_no_memory();
    if (s->kind == ZSTD && (s->zst = ZSTD_createDStream()) == NULL) cli_no_memory();
    s->in_member = s->kind != PLAIN;
    return 0;
}

static long read_plain(struct cli_source *s, void *out, size_t cap, const char **why) {
    size_t n = s->n - s->pos;
    long got;

    if (n == 0) {
        got = s->at_end ? 0 : read_some(s->fd, out, cap, why);
        s->at_end = got == 0;
        return got;
    }
    if (n > cap) n = cap;
    memcpy(out, s->in + s->pos, n);
    s->pos += n;
    return (long)n;
}

/* Between members of a gzip file: another one may follow, or zeros (from tapes), or nothing. Returns 0
 * or -1. */
static int next_member(struct cli_source *s, const char **why) {
    while (s->pos < s->n && s->in[s->pos] == 0) {
        s->in_padding = 1;
        s->pos++;
    }
    if (s->pos == s->n) return 0;
    if (s->in_padding || s->in[s->pos] != 0x1F) {
        *why = "bytes that are not gzip data follow the compressed data";
        return -1;
    }
    s->in_member = 1;
    return inflateReset(&s->gz) == Z_OK ? 0 : -1;
}

static int inflate_some(struct cli_source *s, const char **why) {
    int rc;

    if (!s->in_member) return next_member(s, why);
    s->gz.next_in = s->in + s->pos;
    s->gz.avail_in = (uInt)(s->n - s->pos);
    rc = inflate(&s->gz, Z_NO_FLUSH);
    s->pos = s->n - s->gz.avail_in;
    if (rc == Z_STREAM_END)
        s->in_member = 0;
    else if (rc == Z_MEM_ERROR)
        cli_no_memory();
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
        *why = s->gz.msg ? s->gz.msg : "the gzip data is damaged";
    return rc == Z_OK || rc == Z_BUF_ERROR || rc == Z_STREAM_END ? 0 : -1;
}

static long read_gzip(struct cli_source *s, void *out, size_t cap, const char **why) {
    uInt want = cap < UINT_MAX / 2 ? (uInt)cap : UINT_MAX / 2;

    s->gz.next_out = out;
    s->gz.avail_out = want;
    for (;;) {
        if (inflate_some(s, why)) return -1;
        if (s->gz.avail_out < want) return (long)(want - s->gz.avail_out);
        if (s->pos < s->n) continue;
        if (s->at_end) {
            *why = truncated;
            return s->in_member ? -1 : 0;
        }
        if (fill(s, why)) return -1;
    }
}

static long read_zstd(struct cli_source *s, void *out, size_t cap, const char **why) {
    ZSTD_outBuffer to = {out, cap, 0};

    for (;;) {
        ZSTD_inBuffer from = {s->in, s->n, s->pos};
        size_t rc = s->in_member || s->pos < s->n ? ZSTD_decompressStream(s->zst, &to, &from) : 0;

        s->pos = from.pos;
        if (ZSTD_isError(rc)) {
            *why = ZSTD_getErrorName(rc);
            return -1;
        }
        s->in_member = rc != 0;
        if (to.pos > 0) return (long)to.pos;
        if (s->pos < s->n) continue;
        if (s->at_end) {
            *why = truncated;
            return s->in_member ? -1 : 0;
        }
        if (fill(s, why)) return -1;
    }
}

long cli_source_read(struct cli_source *s, void *out, size_t cap, const char **why) {
    if (cap > LONG_MAX) cap = LONG_MAX;
    if (s->kind == UNKNOWN && start(s, why)) return -1;
    return s->kind == GZIP   ? read_gzip(s, out, cap, why)
           : s->kind == ZSTD ? read_zstd(s, out, cap, why)
                             : read_plain(s, out, cap, why);
}

int cli_source_would_wait(struct cli_source *s) {
    struct pollfd ready = {s->fd, POLLIN, 0};

    if (s->at_end || s->pos < s->n) return 0;
    return poll(&ready, 1, 0) == 0;
}
