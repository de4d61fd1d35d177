/* SPDX-License-Identifier: MIT */
/* The test harness: counters, random numbers, shared files. */
#include "t.h"

#include <stdlib.h>
#include <unistd.h>

int t_failures, t_checks;

int t_end(void) {
    fprintf(stderr, "%d checks, %d failed\n", t_checks, t_failures);
    return t_failures > 0 || t_checks == 0 ? 1 : 0;
}

int t_skip(const char *why) {
    fprintf(stderr, "SKIPPED: %s\n", why);
    return T_SKIP;
}

uint64_t t_random(t_rng *rng) {
    uint64_t z = rng->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint32_t t_below(t_rng *rng, uint32_t n) {
    return (uint32_t)(t_random(rng) >> 32) % n;
}

const char *t_shared(const char *name) {
    static char path[4096];
    const char *root = getenv("DSTOK_SHARED");
    snprintf(path, sizeof path, "%s/%s", root != NULL ? root : DSTOK_SOURCE_DIR "/../shared", name);
    return access(path, R_OK) == 0 ? path : NULL;
}

static char *read_stream(FILE *f, size_t *n) {
    size_t cap = 1 << 16, len = 0;
    char *data = malloc(cap + 1);
    while (data != NULL) {
        len += fread(data + len, 1, cap - len, f);
        if (len < cap) break;
        char *more = realloc(data, 2 * cap + 1);
        if (more == NULL) {
            free(data);
            return NULL;
        }
        data = more;
        cap *= 2;
    }
    if (data == NULL) return NULL;
    data[len] = '\0';
    *n = len;
    return data;
}

char *t_read(const char *path, size_t *n) {
    size_t len = strlen(path);
    char command[4200];
    bool packed = len > 3 && strcmp(path + len - 3, ".xz") == 0;
    snprintf(command, sizeof command, "xz -dc '%s'", path);
    FILE *f = packed ? popen(command, "r") : fopen(path, "rb");
    if (f == NULL) return NULL;
    char *data = read_stream(f, n);
    int bad = packed ? pclose(f) : fclose(f);
    if (bad != 0) {
        free(data);
        return NULL;
    }
    return data;
}
