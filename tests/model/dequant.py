#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes tests/unit/dequant_golden.h: what the gguf package reads in blocks of random bytes. Run by hand:

    python3 -m venv venv && venv/bin/pip install gguf==0.19.0
    venv/bin/python tests/model/dequant.py

The bytes come from the generator of tests/harness/t.h. Scales of the first blocks are extreme; none is infinite or NaN.
"""
import importlib.metadata
import pathlib

import gguf
import numpy

BLOCKS = 8
SCALES = [0x0001, 0x7BFF, 0x8000, 0xFBFF, 0x03FF, 0x0400]  # fp16: least, greatest, -0, lowest, around the least normal one
# Where a block's fp16 numbers are.
FORMATS = {"F16": range(0, 64, 2), "BF16": [], "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2],
           "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
MASK = (1 << 64) - 1


def random_bytes(state):
    """splitmix64, a byte of each number."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        yield (z ^ z >> 31) & 255


def finite(data, at, value=None):
    """fp16 or bfloat16 at a place: this value, or its own without the lowest bit of an exponent that is all ones."""
    own = data[at] | data[at + 1] << 8
    if value is None:
        value = own & ~0x0400 if own & 0x7C00 == 0x7C00 else own
    data[at], data[at + 1] = value & 255, value >> 8


def make_block(name, size, source, number):
    data = bytearray(next(source) for _ in range(size))
    if name == "BF16":
        for at in range(1, size, 2):
            data[at] &= 0xBF  # below 2
    for i, at in enumerate(FORMATS[name]):
        finite(data, at, SCALES[(number + i) % len(SCALES)] if number < len(SCALES) else None)
    return bytes(data)


def hashed(values):
    """FNV-1a of the floats' bytes."""
    h = 0xCBF29CE484222325
    for byte in values.astype("<f4").tobytes():
        h = (h ^ byte) * 0x100000001B3 & MASK
    return h


def main():
    lines = ["/* SPDX-License-Identifier: MIT */",
             "/* Made by tests/model/dequant.py with gguf %s. For each format hashes of %d blocks of floats. */"
             % (importlib.metadata.version("gguf"), BLOCKS),
             "#include <stdint.h>", "", "static const struct {", "    const char *name;", "    uint64_t hashes[%d];" % BLOCKS, "} golden[] = {"]
    for number, (name, places) in enumerate(FORMATS.items()):
        kind, source = gguf.GGMLQuantizationType[name], random_bytes(number)
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        if elements == 1:
            elements, size = 32, 32 * size
        hashes = []
        for block in range(BLOCKS):
            data = make_block(name, size, source, block)
            values = gguf.dequantize(numpy.frombuffer(data, numpy.uint8), kind).reshape(-1)
            assert len(values) == elements and numpy.isfinite(values).all()
            hashes.append("0x%016x" % hashed(values))
        lines.append('    {"%s",\n     {%s}},' % (name, ",\n      ".join(
            ", ".join(hashes[i:i + 4]) for i in range(0, BLOCKS, 4))))
    path = pathlib.Path(__file__).resolve().parents[1] / "unit/dequant_golden.h"
    path.write_text("\n".join(lines + ["};", ""]))


if __name__ == "__main__":
    main()
