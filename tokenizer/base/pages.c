/* SPDX-License-Identifier: MIT */
/* Pages of memory. */
#define _DEFAULT_SOURCE /* madvise */
#include "base.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined __linux__ && defined MADV_HUGEPAGE
/* n >= DSTOK__LARGE_PAGE bytes of malloc's. Pages that were in use before stay small, so they are given
 * back first; being anonymous memory they come back zeroed. */
static void *large(size_t n) {
    size_t whole = n / DSTOK__LARGE_PAGE * DSTOK__LARGE_PAGE;
    void *p;
    if (posix_memalign(&p, DSTOK__LARGE_PAGE, n) != 0) return NULL;
    size_t zeroed = madvise(p, whole, MADV_DONTNEED) == 0 ? whole : 0;
    (void)madvise(p, whole, MADV_HUGEPAGE);
    memset((uint8_t *)p + zeroed, 0, n - zeroed);
    return p;
}
#endif

void *dstok__alloc_large(const dstok_alloc *al, size_t n) {
#if defined __linux__ && defined MADV_HUGEPAGE
    if (n >= DSTOK__LARGE_PAGE && al->alloc == dstok__default_alloc.alloc) return large(n);
#endif
    return dstok__alloc_zeroed(al, n, 1);
}
