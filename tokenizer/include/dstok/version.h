/* SPDX-License-Identifier: MIT */
/* Version and ABI numbers; the build reads them from here and nowhere else. */
#ifndef DSTOK_VERSION_H
#define DSTOK_VERSION_H

#define DSTOK_VERSION_MAJOR 0
#define DSTOK_VERSION_MINOR 1
#define DSTOK_VERSION_PATCH 0

/* Raised on any binary break, even before 1.0; the soname is libdstok.so.<DSTOK_ABI_MAJOR>. */
#define DSTOK_ABI_MAJOR 0

#endif
