# SPDX-License-Identifier: MIT
"""Texts made to be slow for a tokenizer, the same bytes each time."""
import random

WORDS = "return function const value index length push map filter then await null true else for while switch".split()


def letter(_, size):
    return b"a" * size


def ideograph(_, size):
    return "的".encode() * (size // 3)


def blanks(_, size):
    return b" " * size


def base64(rng, size):
    alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return bytes(rng.choices(alphabet, k=size))


def random_bytes(rng, size):
    return rng.randbytes(size)


def no_blank(rng, size):
    return bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=size))


def emoji(rng, size):
    faces = [chr(c) for c in (*range(0x1F300, 0x1F5FF), *range(0x1F600, 0x1F64F), *range(0x1F900, 0x1F9FF))]
    joined = [f"{face}\u200d{other}" for face, other in zip(faces, faces[7:])]
    text = "".join(rng.choices([*faces, *joined, *(face + "\U0001F3FD" for face in faces)], k=size // 4))
    return text.encode()[:size].decode("utf-8", "ignore").encode()


def minified(rng, size):
    parts, n = [], 0
    while n < size:
        name = "".join(rng.choices("abcdefghijklmnopqrstuvwxyzABCDEF_$", k=rng.randint(1, 2)))
        parts.append(rng.choice((f"{name}=({name},t)=>{{", f"{rng.choice(WORDS)}({name}.{rng.choice(WORDS)}?",
                                 f"{rng.randint(0, 9999)}:{name}[{rng.randint(0, 99)}]);", "}),!0,void 0===",
                                 f"\"{rng.choice(WORDS)}-{name}\",", f"var {name}={rng.random():.4f};")))
        n += len(parts[-1])
    return "".join(parts).encode()[:size]


KINDS = {"one letter": letter, "one ideograph": ideograph, "blanks": blanks, "base64": base64, "random bytes": random_bytes, "letters": no_blank,
         "emoji": emoji, "minified JS": minified}


def files(folder, sizes_mb):
    """(name, path, options of dstok bench) of each text in each size."""
    for name, make in KINDS.items():
        for mb in sizes_mb:
            path = folder / f"worst-{name.replace(' ', '-')}-{mb:g}.txt"
            path.write_bytes(make(random.Random(7), int(mb * 1e6)))
            yield f"{name}, {mb:g} MB", path, ["--invalid", "raw"] if make is random_bytes else []
