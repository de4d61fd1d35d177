/* SPDX-License-Identifier: MIT */
/* An allocator for tests that counts what is live and fails the k-th allocation. */
#ifndef DSTOK_TESTS_HEAP_H
#define DSTOK_TESTS_HEAP_H

#include "t.h"

#include <dstok/base.h>

/* An allocator that uses heap; set heap->fail_at = k to make the k-th call fail (0 = none). One thread only.
 */
dstok_alloc t_heap_alloc(t_heap *heap);

#endif
