/* SPDX-License-Identifier: MIT */
/* How many CPUs the process may use. */
#ifdef __linux__
#define _GNU_SOURCE /* sched_getaffinity */
#include <sched.h>
#endif

#include "base.h"

#include <unistd.h>

size_t dstok__cpus(void) {
#ifdef __linux__
    cpu_set_t sets[8]; /* 8192 CPUs */
    if (sched_getaffinity(0, sizeof sets, sets) == 0) {
        int n = CPU_COUNT_S(sizeof sets, sets);
        if (n > 0) return (size_t)n;
    }
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (size_t)n : 1;
}
