/* SPDX-License-Identifier: MIT */
/* Read-only mapping of a file. */
#include "files/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

char *dsx__path(const char *folder, const char *name) {
    size_t n = strlen(folder), m = strlen(name);
    char *path = malloc(n + m + 2);

    if (path == NULL) return NULL;
    memcpy(path, folder, n);
    path[n] = '/';
    memcpy(path + n + 1, name, m + 1);
    return path;
}

bool dsx__is_file(const char *path) {
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static dstok_status io_failure(dstok_error *err, const char *what) {
    char reason[128] = "";

    if (strerror_r(errno, reason, sizeof reason) != 0) reason[0] = '\0';
    return dsx__fail(err, DSTOK_E_IO, DSTOK_NO_OFFSET, "%s: %s", what, reason);
}

static dstok_status map(int fd, dsx__map *out, dstok_error *err) {
    struct stat st;

    if (fstat(fd, &st) != 0) return io_failure(err, "cannot be opened");
    if (!S_ISREG(st.st_mode)) return dsx__fail(err, DSTOK_E_IO, DSTOK_NO_OFFSET, "this is no plain file");
    *out = (dsx__map){.n = (size_t)st.st_size};
    if (out->n == 0) return DSTOK_OK;
    void *at = mmap(NULL, out->n, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) return io_failure(err, "cannot be mapped");
    out->data = at;
    return DSTOK_OK;
}

/* What stands in a repository for a file that was not fetched. */
static bool is_pointer(const dsx__map *m) {
    static const char begin[] = "version https://git-lfs.github.com/spec/";

    return m->n < 1024 && m->n >= sizeof begin && memcmp(m->data, begin, sizeof begin - 1) == 0;
}

dstok_status dsx__map_open(const char *path, dsx__map *out, dstok_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer must not hold us up */

    if (fd < 0) return dsx__fail_in(err, io_failure(err, "cannot be opened"), path);
    dstok_status status = map(fd, out, err);
    close(fd);
    if (status == DSTOK_OK && is_pointer(out)) {
        dsx__map_close(out);
        status = dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET,
                           "this is a pointer of Git LFS, not the file itself; fetch that with git lfs pull");
    }
    return dsx__fail_in(err, status, path);
}

void dsx__map_close(dsx__map *m) {
    if (m->data != NULL) munmap((void *)(uintptr_t)m->data, m->n);
    *m = (dsx__map){.data = NULL};
}
