/* SPDX-License-Identifier: MIT */
/* The wire format of Protocol Buffers, read field by field in place: no schema, recursion or allocation. */
#ifndef DSTOK_LOAD_PROTOBUF_H
#define DSTOK_LOAD_PROTOBUF_H

#include "../base/base.h"

/* How a field is written; the numbers are those of the format. Groups (3 and 4) are refused. */
typedef enum dstok__wire {
    DSTOK__WIRE_VARINT = 0,
    DSTOK__WIRE_FIXED64 = 1,
    DSTOK__WIRE_BYTES = 2,
    DSTOK__WIRE_FIXED32 = 5
} dstok__wire;

/* A message that is being read: data[at, end) of the whole file, so that errors can name places in it. */
typedef struct dstok__proto {
    const char *data;
    size_t at, end;
    bool is_file; /* it ends where the file ends: a field that goes on beyond was cut off */
} dstok__proto;

/* One field as it stands. */
typedef struct dstok__proto_field {
    uint32_t number; /* 0: there was none, the message has ended */
    dstok__wire wire;
    size_t at;         /* where the field begins in the file */
    uint64_t value;    /* VARINT, FIXED32, FIXED64 */
    const char *bytes; /* BYTES: n bytes in the file */
    size_t n;
} dstok__proto_field;

/* The whole of a file as a message. */
dstok__proto dstok__proto_file(const char *data, size_t n);
/* A message inside another: the content of a BYTES field of p. */
dstok__proto dstok__proto_inside(const dstok__proto *p, const dstok__proto_field *f);

/* Reads the next field and steps over it. E_TRUNCATED: the file ends inside it. E_FORMAT. */
dstok_status dstok__proto_next(dstok__proto *p, dstok__proto_field *f, dstok_error *err);

/* E_FORMAT, naming what, unless f is written as wire. */
dstok_status dstok__proto_want(const dstok__proto_field *f, dstok__wire wire, const char *what,
                               dstok_error *err);

#endif
