/* SPDX-License-Identifier: MIT */
/* Pages of memory. */
#define _DEFAULT_SOURCE /* madvise */
#include "base.h"

#include <sys/mman.h>

void dstok__want_large_pages(void *p, size_t n) {
#ifdef MADV_HUGEPAGE
    const uintptr_t mask = DSTOK__LARGE_PAGE - 1;
    uintptr_t begin = ((uintptr_t)p + mask) & ~mask, end = ((uintptr_t)p + n) & ~mask;
    if (p != NULL && begin < end) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)p;
    (void)n;
#endif
}
