"""python export.py CHECKPOINT FILE.gguf: weights (Q8_0) and vocabulary in one GGUF file."""

import struct
import sys

import numpy as np
import torch

import train
import vocab

ROPE_BASE = 10000.0
CHAT = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
NORMAL, CONTROL = 1, 3
F32, Q8_0 = 0, 8


def string(s):
    raw = s.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(v):
    """Type and bytes of a value."""
    if isinstance(v, bool):
        return 7, struct.pack("<?", v)
    if isinstance(v, int):
        return 4, struct.pack("<I", v)
    if isinstance(v, float):
        return 6, struct.pack("<f", v)
    if isinstance(v, str):
        return 8, string(v)
    items = [value(x) for x in v]
    return 9, struct.pack("<IQ", items[0][0], len(v)) + b"".join(raw for _, raw in items)


def q8_0(x):
    """Blocks of 32: a half-precision scale and 32 bytes."""
    x = x.reshape(-1, 32)
    scale = np.abs(x).max(1, keepdims=True) / 127
    q = np.round(np.divide(x, scale, out=np.zeros_like(x), where=scale > 0)).astype(np.int8)
    out = np.zeros(len(x), dtype=[("scale", "<f2"), ("q", "i1", 32)])
    out["scale"], out["q"] = scale[:, 0], q
    return out.tobytes()


def rotary_order(c):
    """Where rows of queries and keys go: GGUF's llama turns neighbours. Pairs that do not turn come last."""
    k, dh = train.N_ROTARY, c["dh"]
    head = [x for i in range(k) for x in (i, k + i)] + list(range(2 * k, dh))
    return [h * dh + i for h in range(c["heads"]) for i in head]


def factors(c):
    """Divisors of the usual frequencies, one a pair."""
    n = c["dh"] // 2
    usual = ROPE_BASE ** (-2 * np.arange(n) / c["dh"])
    return np.array([usual[i] / a for i, a in enumerate(train.ANGLES)] + [1e12] * (n - train.N_ROTARY), "<f4")


def tensors(c, w):
    order = rotary_order(c)
    out = [
        ("token_embd.weight", w["emb"]),
        ("output_norm.weight", w["norm"]),
        ("rope_freqs.weight", factors(c)),
    ]
    for i in range(c["layers"]):
        of = lambda name: w[f"blocks.{i}.{name}"]
        out += [
            (f"blk.{i}.attn_norm.weight", np.ones(c["d"], "<f4")),
            (f"blk.{i}.ffn_norm.weight", np.ones(c["d"], "<f4")),
            (f"blk.{i}.attn_q.weight", of("q")[order]),
            (f"blk.{i}.attn_k.weight", of("k")[order]),
            (f"blk.{i}.attn_v.weight", of("v")),
            (f"blk.{i}.attn_output.weight", of("o")),
            (f"blk.{i}.ffn_gate.weight", of("gate")),
            (f"blk.{i}.ffn_up.weight", of("up")),
            (f"blk.{i}.ffn_down.weight", of("down")),
        ]
    return out


def pairs(c, v):
    return {
        "general.architecture": "llama",
        "general.name": "reader",
        "general.alignment": 32,
        "general.license": "mit",
        "llama.block_count": c["layers"],
        "llama.context_length": 8192,
        "llama.embedding_length": c["d"],
        "llama.feed_forward_length": c["ff"],
        "llama.attention.head_count": c["heads"],
        "llama.attention.head_count_kv": c["heads"],
        "llama.attention.key_length": c["dh"],
        "llama.attention.value_length": c["dh"],
        "llama.rope.dimension_count": c["dh"],
        "llama.rope.freq_base": ROPE_BASE,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "llama-bpe",
        "tokenizer.ggml.tokens": v.tokens,
        "tokenizer.ggml.token_type": [CONTROL] * 2 + [NORMAL] * (len(v.tokens) - 2),
        "tokenizer.ggml.merges": v.merges,
        "tokenizer.ggml.eos_token_id": 0,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": CHAT,
    }


def write(path, c, w, v):
    keys, listed = pairs(c, v), tensors(c, w)
    head = struct.pack("<IIQQ", 0x46554747, 3, len(listed), len(keys))
    for k, x in keys.items():
        kind, raw = value(x)
        head += string(k) + struct.pack("<I", kind) + raw
    body = b""
    for name, x in listed:
        raw = q8_0(x) if x.ndim == 2 else x.astype("<f4").tobytes()
        shape = x.shape[::-1]
        head += string(name) + struct.pack(
            f"<I{len(shape)}QIQ", len(shape), *shape, Q8_0 if x.ndim == 2 else F32, len(body)
        )
        body += raw + b"\0" * (-len(raw) % 32)
    with open(path, "wb") as f:
        f.write(head + b"\0" * (-len(head) % 32) + body)


def main():
    saved = torch.load(sys.argv[1])
    v = vocab.Vocabulary()
    w = {k: x.float().numpy() for k, x in saved["weights"].items()}
    w["emb"] = w["emb"][: len(v.tokens)]
    write(sys.argv[2], saved["config"], w, v)


if __name__ == "__main__":
    main()
