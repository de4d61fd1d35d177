# SPDX-License-Identifier: MIT
"""Small tokenizer.json files made to order: byte b has id b, then the products of the merges."""
import json

HELLO = [["h", "e"], ["l", "l"], ["he", "ll"], ["hell", "o"], [" ", "hello"]]
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}


def _shown(byte):
    if 0x21 <= byte <= 0x7E or 0xA1 <= byte <= 0xAC or 0xAE <= byte <= 0xFF:
        return chr(byte)
    return chr(0x100 + (byte if byte < 0x21 else byte - 0x7F + 0x21 if byte < 0xA1 else 0x43))


def key(text):
    """A text (or bytes) in the byte-level alphabet, as the keys of a vocabulary are written."""
    return "".join(_shown(byte) for byte in (text if isinstance(text, bytes) else text.encode()))


def split(regex, behavior="Isolated", use_regex=False):
    return {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": regex}, "behavior": behavior, "invert": False},
        dict(BYTE_LEVEL, use_regex=use_regex)]}


def added(content, **flags):
    return dict({"id": 0, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
                 "normalized": False, "special": False}, **flags)


META = "\u2581"
LLAMA = {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": META},
                                                            {"type": "Replace", "pattern": {"String": " "}, "content": META}]},
         "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": META}, "content": " "},
                                                      {"type": "ByteFallback"}, {"type": "Fuse"},
                                                      {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}}


def characters(chars, merges=(), bytes_of=range(256), model=None, **members):
    """A tokenizer.json of the SentencePiece kind: <unk>, then the tokens <0x..> of bytes_of, the characters (or longer
    tokens), the products of the merges."""
    vocab = {"<unk>": 0}
    for name in [f"<0x{byte:02X}>" for byte in bytes_of] + list(chars) + [left + right for left, right in merges]:
        vocab.setdefault(name, len(vocab))
    model = dict({"vocab": vocab, "merges": [list(pair) for pair in merges], "unk_token": "<unk>", "byte_fallback": True,
                  "fuse_unk": True}, **(model or {}))
    return tokenizer(model=model, **dict({"pre_tokenizer": None, "decoder": None}, **members))


def tokenizer(merges=(), added=(), model=None, **members):
    """The text of a tokenizer.json. model: members of "model" in place of the usual ones."""
    vocab = {_shown(byte): byte for byte in range(256)}
    for left, right in merges:
        vocab.setdefault(key(left) + key(right), len(vocab))
    data = {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [dict(one, id=one["id"] or len(vocab) + k) for k, one in enumerate(added)],
            "normalizer": None, "pre_tokenizer": BYTE_LEVEL, "post_processor": None, "decoder": BYTE_LEVEL,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": vocab, "merges": [[key(left), key(right)] for left, right in merges]}}
    data["model"].update(model or {})
    data.update(members)
    return json.dumps(data)
