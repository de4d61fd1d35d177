# SPDX-License-Identifier: MIT
"""Writers of tiny checkpoints: tensors of exact values in every format, safetensors, GGUF and llama2.c files.

Values are made from a hash of the tensor's name, so a file depends on nothing but its description.
"""
import array
import hashlib
import json
import struct
import sys

GGUF_TYPES = {"F32": 0, "F16": 1, "Q4_1": 3, "Q8_0": 8, "BF16": 30}


def little(numbers):
    """Bytes of an array, least significant first."""
    if sys.byteorder == "big":
        numbers = array.array(numbers.typecode, numbers)
        numbers.byteswap()
    return numbers.tobytes()


def from_little(code, data):
    numbers = array.array(code, data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def random_bytes(key, n):
    return hashlib.shake_128(key.encode()).digest(n)


def uniform(key, n, middle, deviation):
    """n numbers around `middle`, evenly spread, with this standard deviation."""
    step = deviation * 3 ** 0.5 / 32768
    return [middle + (x - 32767.5) * step for x in from_little("H", random_bytes(key, 2 * n))]


# ---- number formats: from numbers to (bytes, the numbers that the bytes stand for)

def as_f32(numbers):
    values = array.array("f", numbers)
    return little(values), values


def as_f16(numbers):
    data = struct.pack("<%de" % len(numbers), *numbers)
    return data, array.array("f", struct.unpack("<%de" % len(numbers), data))


def as_bf16(numbers):
    """The upper halves of floats; the rest is cut off."""
    whole = little(array.array("f", numbers))
    data, cut = bytearray(len(whole) // 2), bytearray(len(whole))
    data[0::2] = cut[2::4] = whole[2::4]
    data[1::2] = cut[3::4] = whole[3::4]
    return bytes(data), from_little("f", bytes(cut))


PLAIN = {"F32": as_f32, "F16": as_f16, "BF16": as_bf16}


def half(number):
    """The nearest fp16."""
    return struct.unpack("<e", struct.pack("<e", number))[0]


def exact(numbers):
    """Numbers as floats; none may lose a bit."""
    values = array.array("f", numbers)
    assert list(values) == numbers
    return values


def made_q8_0(key, n, deviation):
    """Blocks of 32 whose scales differ."""
    quants = from_little("b", random_bytes(key + "/q", n))
    data, values = [], []
    for i, spread in enumerate(random_bytes(key + "/d", n // 32)):
        scale = half(deviation * 3 ** 0.5 / 127 * (0.6 + spread / 320))
        block = quants[32 * i:32 * i + 32]
        data.append(struct.pack("<e", scale) + block.tobytes())
        values += [scale * q for q in block]
    return b"".join(data), exact(values)


def made_q4_1(key, n, deviation):
    """Blocks of 32 with a scale and a minimum; the low halves of the 16 bytes come first."""
    nibbles = random_bytes(key + "/q", n // 2)
    data, values = [], []
    for i, spread in enumerate(random_bytes(key + "/d", n // 32)):
        scale = half(deviation * 3 ** 0.5 * 2 / 15 * (0.6 + spread / 320))
        least = half(-8 * scale)
        block = nibbles[16 * i:16 * i + 16]
        data.append(struct.pack("<ee", scale, least) + block)
        values += [scale * (b & 15) + least for b in block] + [scale * (b >> 4) + least for b in block]
    return b"".join(data), exact(values)


QUANTISED = {"Q8_0": made_q8_0, "Q4_1": made_q4_1}


def made_fp8(key, rows, columns, deviation):
    """E4M3 codes of some exponents, the scales of blocks of 128 x 128 (as a tensor), and the floats that these are."""
    codes = bytes((b & 0x9F) + 0x30 for b in random_bytes(key + "/q", rows * columns))  # 2^-1 to 2^2, of both signs
    plain = {c: (1 + c % 8 / 8) * 2.0 ** ((c >> 3 & 15) - 7) * (-1 if c > 127 else 1) for c in set(codes)}
    across = -(-columns // 128)
    scales = [deviation / 3.378 * (0.6 + spread / 320) for spread in random_bytes(key + "/d", -(-rows // 128) * across)]
    data, scales = as_f32(scales)
    values = [plain[c] * scales[i // columns // 128 * across + i % columns // 128] for i, c in enumerate(codes)]
    return codes, array.array("f", values), Tensor((-(-rows // 128), across), "F32", data, scales)


class Tensor:
    """A shape (slowest axis first), a format, the bytes, and the numbers that these are. F8_E4M3 has scales beside."""

    def __init__(self, shape, form, data, values, scales=None):
        self.shape, self.form, self.data, self.values, self.scales = shape, form, data, values, scales

    @classmethod
    def make(cls, key, shape, form, middle, deviation):
        n = 1
        for axis in shape:
            n *= axis
        if form in QUANTISED:
            assert middle == 0 and shape[-1] % 32 == 0
            return cls(shape, form, *QUANTISED[form](key, n, deviation))
        if form == "F8_E4M3":
            return cls(shape, form, *made_fp8(key, *shape, deviation))
        return cls(shape, form, *PLAIN[form](uniform(key, n, middle, deviation)))

    def plain(self, form):
        """The same numbers in another format, which must hold them exactly."""
        data, values = PLAIN[form](self.values)
        assert values == self.values
        return Tensor(self.shape, form, data, values)

    def interleaved(self, n_heads):
        """Rows (i, i + half) of each head brought together to (2i, 2i + 1): the order of GGUF and llama2.c."""
        rows = self.shape[0]
        per_head, per_row = rows // n_heads, len(self.data) // rows
        order = [head * per_head + i + j * (per_head // 2)
                 for head in range(n_heads) for i in range(per_head // 2) for j in range(2)]
        columns = len(self.values) // rows
        data = b"".join(self.data[r * per_row:(r + 1) * per_row] for r in order)
        values = array.array("f")
        for r in order:
            values += self.values[r * columns:(r + 1) * columns]
        return Tensor(self.shape, self.form, data, values)


def stacked(tensors):
    """One tensor of several alike, with a new slowest axis."""
    first = tensors[0]
    values = array.array("f")
    for tensor in tensors:
        values += tensor.values
    return Tensor((len(tensors), *first.shape), first.form, b"".join(t.data for t in tensors), values)


# ---- files

def write_safetensors(path, tensors):
    head, at = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in tensors.items():
        head[name] = {"dtype": tensor.form, "shape": list(tensor.shape), "data_offsets": [at, at + len(tensor.data)]}
        at += len(tensor.data)
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(t.data for t in tensors.values()))


def write_shards(folder, tensors, n):
    """n files in turn and the index that names the file of each tensor."""
    names, where = list(tensors), {}
    for i in range(n):
        file = "model-%05d-of-%05d.safetensors" % (i + 1, n)
        where.update({name: file for name in names[i::n]})
        write_safetensors(folder / file, {name: tensors[name] for name in names[i::n]})
    total = sum(len(t.data) for t in tensors.values())
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(where.items()))}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1))


def gguf_string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_value(value):
    """Type and bytes of a metadata value; whole numbers are uint32, others float32, lists of one kind."""
    if isinstance(value, bool):
        return 7, struct.pack("<?", value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    if isinstance(value, float):
        return 6, struct.pack("<f", value)
    if isinstance(value, str):
        return 8, gguf_string(value)
    kinds = [gguf_value(item) for item in value]
    kind = kinds[0][0] if kinds else 8
    return 9, struct.pack("<IQ", kind, len(value)) + b"".join(data for _, data in kinds)


def write_gguf(path, pairs, tensors):
    out = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(pairs))]
    for key, value in pairs.items():
        kind, data = gguf_value(value)
        out.append(gguf_string(key) + struct.pack("<I", kind) + data)
    at = 0
    for name, tensor in tensors.items():
        axes = tensor.shape[::-1]
        out.append(gguf_string(name) + struct.pack("<I%dQ" % len(axes), len(axes), *axes)
                   + struct.pack("<IQ", GGUF_TYPES[tensor.form], at))
        at += len(tensor.data) + -len(tensor.data) % 32
    head = b"".join(out)
    body = b"".join(t.data + b"\0" * (-len(t.data) % 32) for t in tensors.values())
    path.write_bytes(head + b"\0" * (-len(head) % 32) + body)


def write_llama2c(path, sizes, tensors, tables):
    """sizes: dim, hidden, layers, heads, kv heads, vocabulary (negative: the head is a tensor of its own), length.
    tables: numbers that stand where old versions kept cosines and sines."""
    data = [t.plain("F32").data for t in tensors]
    path.write_bytes(struct.pack("<7i", *sizes) + b"".join(data[:-1] if sizes[5] < 0 else data)
                     + b"\0" * (4 * tables) + (data[-1] if sizes[5] < 0 else b""))
