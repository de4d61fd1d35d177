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

enum kind { UNKNOWN, PLAIN, GZIP, ZSTD, OTHER };

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

#define OR_AS_IT_IS ", or give --no-decompress for the bytes as they are"

/* How packed files begin. In a magic number '?' is any digit, and '~' the upper half of any byte 5x. */
static const struct magic {
    const char *bytes;
    size_t n;
    enum kind kind;
    const char *name, *why; /* why: of those that are not unpacked here */
} magics[] = {
    {"\x1F\x8B\x08", 3, GZIP, "gzip data", NULL},
    {"\x28\xB5\x2F\xFD", 4, ZSTD, "zstd data", NULL},
    {"~\x2A\x4D\x18", 4, ZSTD, "zstd data", NULL}, /* a frame to skip */
    {"\xFD"
     "7zXZ\0",
     6, OTHER, "xz data", "this is xz data: pipe it in unpacked (xz -dc FILE | dstok ...)" OR_AS_IT_IS},
    {"BZh?1AY&SY", 10, OTHER, "bzip2 data",
     "this is bzip2 data: pipe it in unpacked (bzip2 -dc FILE | dstok ...)" OR_AS_IT_IS},
    {"\x04\x22\x4D\x18", 4, OTHER, "lz4 data",
     "this is lz4 data: pipe it in unpacked (lz4 -dc FILE | dstok ...)" OR_AS_IT_IS},
    {"PK\3\4", 4, OTHER, "a zip archive",
     "this is a zip archive (as .docx, .npz, .jar are): take the texts out of it first" OR_AS_IT_IS},
    {"7z\xBC\xAF\x27\x1C", 6, OTHER, "a 7z archive",
     "this is a 7z archive: take the texts out of it first" OR_AS_IT_IS},
};

/* Whether p[0, n) begins with the magic number, as far as it goes. */
static int fits(const struct magic *m, const unsigned char *p, size_t n) {
    size_t i;

    for (i = 0; i < n && i < m->n; i++) {
        unsigned char want = (unsigned char)m->bytes[i];

        if (want == '?' ? p[i] < '0' || p[i] > '9' : want == '~' ? (p[i] & 0xF0) != 0x50 : p[i] != want)
            return 0;
    }
    return 1;
}

/* The magic number that stands at the beginning; NULL, *more = 1: further bytes could make one. */
static const struct magic *find_magic(const unsigned char *p, size_t n, int *more) {
    size_t i;

    *more = 0;
    for (i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (!fits(&magics[i], p, n)) continue;
        if (n >= magics[i].n) return &magics[i];
        *more = 1;
    }
    return NULL;
}

const char *cli_packed_name(const unsigned char *head, size_t n) {
    int more;
    const struct magic *m = find_magic(head, n, &more);

    return m ? m->name : NULL;
}

static int start(struct cli_source *s, const char **why) {
    const struct magic *m = NULL;
    int more = 1;

    while (more && !s->at_end) {
        if (fill(s, why)) return -1;
        m = find_magic(s->in, s->n, &more);
    }
    s->kind = m ? m->kind : PLAIN;
    if (s->kind == OTHER) {
        *why = m->why;
        return -1;
    }
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
