/* SPDX-License-Identifier: MIT */
/* Reading the wire format of Protocol Buffers: keys, numbers, lengths, each checked against its message. */
#include "protobuf.h"

dstok__proto dstok__proto_file(const char *data, size_t n) {
    return (dstok__proto){data, 0, n, true};
}

dstok__proto dstok__proto_inside(const dstok__proto *p, const dstok__proto_field *f) {
    size_t at = (size_t)(f->bytes - p->data);
    return (dstok__proto){p->data, at, at + f->n, false};
}

static dstok_status bad_field(size_t at, dstok_error *err, const char *what) {
    return dstok__fail(err, DSTOK_E_FORMAT, at, 0, "not a Protocol Buffers message: %s", what);
}

/* The field that begins at `at` does not end within the message. */
static dstok_status too_short(const dstok__proto *p, size_t at, dstok_error *err) {
    if (p->is_file)
        return dstok__fail(err, DSTOK_E_TRUNCATED, at, 0, "the file ends inside the field at this place");
    return bad_field(at, err, "a field is longer than what holds it");
}

/* Seven bits a byte, the lowest first; the top bit says that more follow. At most 64 bits. */
static dstok_status read_varint(dstok__proto *p, size_t field, uint64_t *value, dstok_error *err) {
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (p->at == p->end) return too_short(p, field, err);
        uint8_t byte = (uint8_t)p->data[p->at++];
        if (shift == 63 && byte > 1) break;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) return DSTOK_OK;
    }
    return bad_field(field, err, "a number has more than 64 bits");
}

/* Little-endian. */
static dstok_status read_fixed(dstok__proto *p, size_t width, dstok__proto_field *f, dstok_error *err) {
    if (p->end - p->at < width) return too_short(p, f->at, err);
    for (size_t i = 0; i < width; i++) f->value |= (uint64_t)(uint8_t)p->data[p->at + i] << 8 * i;
    p->at += width;
    return DSTOK_OK;
}

static dstok_status read_bytes(dstok__proto *p, dstok__proto_field *f, dstok_error *err) {
    uint64_t n;
    DSTOK_TRY(read_varint(p, f->at, &n, err));
    if (n > p->end - p->at) return too_short(p, f->at, err);
    f->bytes = p->data + p->at;
    f->n = (size_t)n;
    p->at += f->n;
    return DSTOK_OK;
}

dstok_status dstok__proto_next(dstok__proto *p, dstok__proto_field *f, dstok_error *err) {
    uint64_t key;
    *f = (dstok__proto_field){.at = p->at};
    if (p->at == p->end) return DSTOK_OK;
    DSTOK_TRY(read_varint(p, f->at, &key, err));
    if (key > UINT32_MAX || key >> 3 == 0)
        return bad_field(f->at, err, "the number of a field is out of range");
    f->number = (uint32_t)key >> 3;
    f->wire = (dstok__wire)(key & 7);
    switch (f->wire) {
    case DSTOK__WIRE_VARINT:
        return read_varint(p, f->at, &f->value, err);
    case DSTOK__WIRE_FIXED64:
        return read_fixed(p, 8, f, err);
    case DSTOK__WIRE_BYTES:
        return read_bytes(p, f, err);
    case DSTOK__WIRE_FIXED32:
        return read_fixed(p, 4, f, err);
    default:
        return bad_field(f->at, err, "a field is of a kind that is not known, or a group");
    }
}

dstok_status dstok__proto_want(const dstok__proto_field *f, dstok__wire wire, const char *what,
                               dstok_error *err) {
    if (f->wire == wire) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_FORMAT, f->at, 0, "%s (field %u) is not written as it must be", what,
                       f->number);
}
