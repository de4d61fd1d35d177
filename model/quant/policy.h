/* SPDX-License-Identifier: MIT */
/* Policies from inside. */
#ifndef DSX_QUANT_POLICY_H
#define DSX_QUANT_POLICY_H

#include <dsx/policy.h>

#include <stddef.h>

/* What is wrong with a format; NULL: nothing. */
const char *dsx__format_fault(const dsx_format *f);

/* From the text of a file. */
dstok_status dsx__policy_parse(const char *text, size_t n, dsx_policy **out, dstok_error *err);

#endif
