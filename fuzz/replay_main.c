/* SPDX-License-Identifier: MIT */
/* Replays files through a fuzz target without a fuzzing engine: every file of the folders given, and 100
 * mutants of each. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long files, mutants;

/* The input in memory of exactly its size, so that a sanitizer sees every read past its end. */
static void feed(const uint8_t *data, size_t n) {
    uint8_t *exact = malloc(n > 0 ? n : 1);
    if (exact == NULL) exit(1);
    memcpy(exact, data, n);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A few cheap mutants of each seed: changed, removed and doubled bytes. */
static void feed_mutants(uint8_t *data, size_t n, unsigned count) {
    uint64_t state = 0x9E3779B97F4A7C15u ^ n;
    for (unsigned i = 0; i < count && n > 0; i++, mutants++) {
        size_t at = next_random(&state) % n, cut = next_random(&state) % n;
        uint8_t old = data[at];
        data[at] = (uint8_t)next_random(&state);
        feed(data, i % 3 == 0 ? cut : n);
        data[at] = old;
    }
}

static void replay(const char *path) {
    FILE *f = fopen(path, "rb");
    static uint8_t data[1 << 18];
    if (f == NULL) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    size_t n = fread(data, 1, sizeof data, f);
    fclose(f);
    files++;
    feed(data, n);
    feed_mutants(data, n, 100);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (dir == NULL) continue; /* no regressions yet */
        for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
            char path[4096];
            if (e->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            replay(path);
        }
        closedir(dir);
    }
    fprintf(stderr, "%lu files, %lu mutants replayed\n", files, mutants);
    return files > 0 ? 0 : 1;
}
