/* SPDX-License-Identifier: MIT */
/* Reading a whole vocabulary file with a limit. */
#define _DEFAULT_SOURCE /* MAP_POPULATE */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static dstok_status io_error(const char *path, const char *what, int code, dstok_error *err) {
    char quoted[160], reason[80];
    if (strerror_r(code, reason, sizeof reason) != 0) reason[0] = '\0';
    return dstok__fail(err, DSTOK_E_IO, DSTOK_NO_OFFSET, 0, "cannot %s %s: %s", what,
                       dstok__quote(path, strlen(path), quoted, sizeof quoted), reason);
}

static dstok_status read_all(int fd, const char *path, dstok__buf *out, dstok_error *err) {
    for (;;) {
        dstok_status status = dstok__buf_reserve(out, 1 << 16);
        if (status == DSTOK_E_LIMIT) {
            return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "the file is larger than %zu bytes",
                               out->max - (1 << 16));
        }
        if (status != DSTOK_OK)
            return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "out of memory while reading");
        ssize_t n = read(fd, out->data + out->len, out->cap - out->len);
        if (n == 0) return DSTOK_OK;
        if (n < 0 && errno != EINTR) return io_error(path, "read", errno, err);
        if (n > 0) out->len += (size_t)n;
    }
}

dstok_status dstok__read_file(const char *path, dstok__buf *out, dstok_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return io_error(path, "open", errno, err);
    dstok_status status = read_all(fd, path, out, err);
    close(fd);
    return status;
}

#ifdef MAP_POPULATE
#define POPULATE MAP_POPULATE
#else
#define POPULATE 0
#endif

dstok_status dstok__map_file(const char *path, bool whole, uint8_t **data, size_t *n, dstok_error *err) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return io_error(path, "open", errno, err);
    void *p = MAP_FAILED;
    if (fstat(fd, &st) == 0 && st.st_size > 0)
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | (whole ? POPULATE : 0), fd, 0);
    int code = errno;
    close(fd);
    if (p == MAP_FAILED) return io_error(path, "map", code, err);
    *data = p;
    *n = (size_t)st.st_size;
    return DSTOK_OK;
}

void dstok__unmap_file(uint8_t *data, size_t n) {
    munmap(data, n);
}

size_t dstok__peek_file(const char *path, uint8_t *head, size_t n) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return 0;
    ssize_t got = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, head, n) : 0;
    close(fd);
    return got > 0 ? (size_t)got : 0;
}

bool dstok__is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool dstok__exists(const char *path) {
    return access(path, F_OK) == 0;
}
