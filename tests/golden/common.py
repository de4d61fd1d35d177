# SPDX-License-Identifier: MIT
"""What the Python tests share: where things are, unpacked vocabularies, and calls of the dstok program."""
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("DSTOK_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))
SKIP = 77

# "o200k with Chinese apart", as Kimi K2 writes it: a pattern that no scanner of ours knows.
_HAN = r"&&[^\p{Han}]]"
KIMI = "|".join([
    r"[\p{Han}]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}" + _HAN + r"*[\p{Ll}\p{Lm}\p{Lo}\p{M}" + _HAN
    + r"+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}" + _HAN + r"+[\p{Ll}\p{Lm}\p{Lo}\p{M}" + _HAN
    + r"*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])


def skip(why):
    print("SKIPPED:", why)
    sys.exit(SKIP)


def program():
    path = os.environ.get("DSTOK_BIN")
    if not path or not os.access(path, os.X_OK):
        print("DSTOK_BIN must name the dstok program")
        sys.exit(1)
    return path


class Vocabularies:
    """Files of ../shared/vocab, unpacked into a folder that is removed at the end."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="dstok-vocab-", dir=os.environ.get("DSTOK_BUILD"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def path(self, name):
        """The unpacked file, or None when the shared data does not have it."""
        packed = os.path.join(SHARED, "vocab", name + ".xz")
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            if not os.path.exists(packed):
                return None
            with lzma.open(packed) as source, open(path, "wb") as target:
                shutil.copyfileobj(source, target)
        return path

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as target:
            target.write(text)
        return path


def jsonl(texts):
    return "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()


def run(args, data=b"", timeout=600):
    """Runs dstok; gives the CompletedProcess, stdout and stderr as bytes."""
    return subprocess.run([program()] + args, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout, check=False)


def encode(vocab, texts, *args):
    """One object for each text: {"ids": …, "spans": …}."""
    done = run(["encode", "-q", "-v", vocab, "--input-format", "jsonl", "--json", *args], jsonl(texts))
    if done.returncode != 0:
        raise RuntimeError(f"dstok encode {' '.join(args)}: exit {done.returncode}: {done.stderr.decode()[:500]}")
    lines = done.stdout.split(b"\n")[:-1]
    if len(lines) != len(texts):
        raise RuntimeError(f"dstok encode: {len(lines)} answers to {len(texts)} texts")
    return [json.loads(line) for line in lines]


def decode(vocab, ids, *args):
    """The text of each list of ids."""
    data = "".join(json.dumps(one) + "\n" for one in ids).encode()
    done = run(["decode", "-q", "-v", vocab, "--input-format", "jsonl", "--json", *args], data)
    if done.returncode != 0:
        raise RuntimeError(f"dstok decode: exit {done.returncode}: {done.stderr.decode()[:500]}")
    return [json.loads(line)["text"] for line in done.stdout.split(b"\n")[:-1]]


def byte_alphabet():
    """Character -> byte of the byte-level alphabet."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(b): b for b in shown}
    for k, byte in enumerate(b for b in range(256) if b not in shown):
        table[chr(0x100 + k)] = byte
    return table


def is_byte_level(data):
    """Are the keys of the vocabulary written in the byte-level alphabet?"""
    return '"ByteLevel"' in json.dumps([data.get("pre_tokenizer"), data.get("decoder")])


def read_tokens(path):
    """tokenizer.json: id -> bytes of every token as it stands in the normalised text, the ids of added tokens, and of those
    marked special."""
    alphabet = byte_alphabet()
    with open(path, encoding="utf-8") as source:
        data = json.load(source)
    model, byte_level = data["model"], is_byte_level(data)
    prefix, suffix = model.get("continuing_subword_prefix") or "", model.get("end_of_word_suffix") or ""
    tokens = {}
    for key, number in model["vocab"].items():
        key = key.removeprefix(prefix).removesuffix(suffix) or key
        if byte_level and all(c in alphabet for c in key):
            tokens[number] = bytes(alphabet[c] for c in key)
        elif model.get("byte_fallback") and re.fullmatch("<0x[0-9A-F]{2}>", key):
            tokens[number] = bytes([int(key[3:5], 16)])
        else:
            tokens[number] = key.encode("utf-8", "surrogatepass")
    added = data["added_tokens"]
    for one in added:
        tokens.setdefault(one["id"], one["content"].encode())
    return tokens, {one["id"] for one in added}, {one["id"] for one in added if one["special"]}


def compiled(vocab, *args):
    """The .dstok file of a vocabulary, beside it."""
    path = vocab + "".join(one for one in "".join(args) if one.isalnum())[:20] + ".dstok"
    done = run(["compile", "-q", "-v", vocab, "-o", path, *args])
    if done.returncode != 0:
        raise RuntimeError(f"dstok compile: exit {done.returncode}: {done.stderr.decode()[:500]}")
    return path


def sentencepiece_spans(text, ours):
    """SentencePiece's own style: of the tokens of a character's bytes only the last has a span, the whole character."""
    begins = []  # of each byte of the text the place where its character begins
    for c in text:
        begins += [len(begins)] * len(c.encode())
    begins.append(len(begins))
    out = []
    for begin, end in ours:
        is_part = begin < end and (begins[begin] != begin or begins[end] != end)
        out.append([begins[begin], end if begins[end] == end else begins[begin]] if is_part else [begin, end])
    return out
