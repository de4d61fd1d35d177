# SPDX-License-Identifier: MIT
"""Writes the vocabulary of a tokenizer.json or a SentencePiece model as a GGUF file, as llama.cpp's converter would."""
import json
import struct

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


# ---- the container

def _string(text):
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def _value(value):
    if isinstance(value, bool):
        return struct.pack("<IB", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _string(value)
    kind, code = {int: (5, "<%di"), float: (6, "<%df"), str: (8, ""), bytes: (8, "")}[type(value[0])]
    head = struct.pack("<IIQ", 9, kind, len(value))
    return head + (struct.pack(code % len(value), *value) if code else b"".join(map(_string, value)))


def write(values):
    """A GGUF file of version 3 without tensors; values: key -> bool, int (u32), str, list of int (i32), float or str."""
    body = b"".join(_string(key) + _value(value) for key, value in values.items())
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(values)) + body


def _file(model, pre, tokens, types, arch="llama", **more):
    values = {"general.architecture": arch, "tokenizer.ggml.model": model, "tokenizer.ggml.pre": pre,
              "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types}
    values.update((f"tokenizer.ggml.{key}", value) for key, value in more.items())
    return write(values)


# ---- tokenizer.json

def _tokens(data):
    """id -> (text, added token or None)."""
    vocab = data["model"]["vocab"]
    out = {number: (text, None) for text, number in vocab.items()}
    numbers = {}
    for one in data["added_tokens"]:
        text = one["content"]
        numbers.setdefault(text, vocab.get(text, len(vocab) + sum(name not in vocab for name in numbers)))
        out[numbers[text]] = (text, one)
    return out


def _is_control(one):
    text = one["content"]
    return one["special"] or text.startswith(("<|", "<\uff5c")) and text.endswith(("|>", "\uff5c>"))


def _merges(data):
    """In the GGUF form: a blank between the two."""
    return [one if isinstance(one, str) else " ".join(one) for one in data["model"]["merges"]]


def byte_level(pre, holes=3, **more):
    """A maker of GGUF files of model "gpt2"; `holes` ids at the end have no token, as in padded models."""
    def make(source):
        with open(source, encoding="utf-8") as lines:
            data = json.load(lines)
        tokens = _tokens(data)
        size = max(tokens) + 1 + holes
        rows = [tokens.get(k, (f"[PAD{k}]", False)) for k in range(size)]
        types = [UNUSED if one is False else NORMAL if one is None else CONTROL if _is_control(one) else USER_DEFINED
                 for _, one in rows]
        return _file("gpt2", pre, [text for text, _ in rows], types, merges=_merges(data), **more)
    return make


def sentencepiece_like(**more):
    """A maker of files of model "llama": the score of a piece is the rank of its first merge, negative."""
    def make(source):
        with open(source, encoding="utf-8") as lines:
            data = json.load(lines)
        tokens, rank = _tokens(data), {}
        for k, pair in enumerate(data["model"]["merges"]):
            rank.setdefault("".join(pair if isinstance(pair, list) else pair.split(" ")), k)
        texts, types, scores = [], [], []
        for k in range(max(tokens) + 1):
            text, one = tokens.get(k, (f"[PAD{k}]", False))
            is_byte = len(text) == 6 and text.startswith("<0x")
            kind = (UNUSED if one is False else BYTE if is_byte else NORMAL if one is None else
                    UNKNOWN if text == "<unk>" else CONTROL if _is_control(one) else USER_DEFINED)
            texts.append(text.replace("\u2581", " ") if kind == USER_DEFINED else text)
            types.append(kind)
            scores.append({UNUSED: -10000.0, NORMAL: -float(rank.get(text, 10 ** 7)), USER_DEFINED: -1000.0}.get(kind, 0.0))
        return _file("llama", "default", texts, types, scores=scores, **more)
    return make


# ---- SentencePiece models

def fields(data):
    """The fields of a protobuf message: (number, value), value an int, or bytes of 4, 8 or any length."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        size = {1: lambda: 8, 2: varint, 5: lambda: 4}[key & 7]()
        yield key >> 3, data[at:at + size]
        at += size


def pieces(data):
    """(text, score, type) of each piece of a SentencePiece model."""
    for number, value in fields(data):
        if number == 1:
            one = {1: b"", 2: bytes(4), 3: NORMAL, **dict(fields(value))}
            yield one[1].decode(), struct.unpack("<f", one[2])[0], one[3]


def from_model(**more):
    def make(source):
        with open(source, "rb") as lines:
            rows = list(pieces(lines.read()))
        return _file("llama", "default", [text for text, _, _ in rows], [kind for _, _, kind in rows],
                     scores=[score for _, score, _ in rows], **more)
    return make


# golden file, vocabulary, maker (None: it is a GGUF file). SentencePiece finds no control pieces in text: policy "text".
SENTENCEPIECE = "mistral_v3_spm_model"
SOURCES = [
    ("smollm2", "smollm2_135m_instruct.vocab.gguf", None), ("smollm2", "smollm2.tokenizer.json", byte_level("smollm")),
    ("deepseek_v3", "deepseek_v3.tokenizer.json", byte_level("deepseek-v3")),
    ("deepseek_v4", "deepseek_v4.tokenizer.json", byte_level("deepseek-v3")),
    ("qwen2_5", "qwen2_5.tokenizer.json", byte_level("qwen2")), ("qwen3", "qwen3.tokenizer.json", byte_level("qwen2")),
    ("gpt35turbo", "gpt35turbo.tokenizer.json", byte_level("dbrx")),
    ("llama3_1", "llama3_1.tokenizer.json", byte_level("llama-bpe", bos_token_id=128000)),
    ("gptoss", "gptoss.tokenizer.json", byte_level("gpt-4o")), ("phi-2", "phi-2.tokenizer.json", byte_level("phi-2")),
    ("falcon", "falcon.tokenizer.json", byte_level("falcon")),
    ("phi-3-mini", "phi-3-mini.tokenizer.json", sentencepiece_like(arch="phi3", bos_token_id=1, unknown_token_id=0)),
    ("mistral_v0_1_spm", "mistral_v0_1_spm.tokenizer.json", sentencepiece_like(bos_token_id=1, unknown_token_id=0)),
    ("gemma3", "gemma3.tokenizer.json", sentencepiece_like(arch="gemma3", bos_token_id=2, add_space_prefix=False)),
    (SENTENCEPIECE, "mistral_v3.spm.model", from_model(bos_token_id=1, unknown_token_id=0)),
]
