# SPDX-License-Identifier: MIT
"""`dstok decode --mode replace` against Hugging Face tokenizers: random decoders on made-up vocabularies, random lists of ids.

    DSTOK_BIN=build/release/bin/dstok build/venv/bin/python tests/refs/decoders.py [--files N] [--lists N] [--seed N] [--only K]
Decoders that dstok refuses are listed by its message at the end, with how often. Left out, because dstok differs on purpose:
files without a decoder, and added tokens that ByteLevel would read in its alphabet. Exit 1 on a difference."""
import argparse
import collections
import json
import multiprocessing
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "golden"), os.path.join(HERE, "..", "regress"), HERE]
os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ["RUST_BACKTRACE"] = "0"
import common  # noqa: E402
import vary  # noqa: E402
import vary_chars  # noqa: E402

META = "\u2581"
PIECES = ["<0xE2>", "<0x96>", "<0x81>", "<0x20>", "<0x41>", "<0xe4>", "<0xBD>", "<0xA0>", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>",
          "<0x00>", "<0xZZ>", "<0x4>", "<0xC3>", "<0xA9>", META, META * 2, META + "a", "a" + META + "b", "\u0120a", "\u0120",
          "\u010a", "a</w>", "</w>", "b</w>c</w>", " ", "  ", " a ", "aa", "aba", "\u4f60", "\u00e4\u00bd\u0142", "\u4f60\u0120", "_", "\u00e9",
          "##a", "\ufffd"]
CHARS = [" ", " ", META, "a", "\u4f60", "_", "\u0120"]


# ---- what is made

def step(rng, suffix):
    """One decoder; mostly such as dstok supports."""
    prepend = rng.choice(["always", "first", "never"])
    kind = rng.choice(["Replace", "Replace", "ByteFallback", "ByteFallback", "Fuse", "Fuse", "Strip", "Strip", "Metaspace", "BPEDecoder",
                       "ByteLevel", "WordPiece", "CTC"] if rng.random() < 0.7 else ["Replace", "ByteFallback", "Fuse", "Strip"])
    return {
        "Replace": {"pattern": rng.choice([{"String": rng.choice([META, " ", "a", "aa", "\u4f60", "</w>", "_", "ab", ""])}, {"String": META},
                                           {"Regex": rng.choice([r"\s", "a+", META])}] if rng.random() < 0.3 else [{"String": META}]),
                    "content": rng.choice([" ", " ", "", "a", "xyz", META, "\u00e9"])},
        "ByteFallback": {}, "Fuse": {},
        "Strip": {"content": rng.choice(CHARS), "start": rng.choice([0, 1, 1, 2, 5]), "stop": rng.choice([0, 0, 1, 2])},
        "Metaspace": {"replacement": rng.choice([META, META, "_", "a"]), "prepend_scheme": prepend, "split": rng.random() < 0.5},
        "BPEDecoder": {"suffix": suffix or rng.choice(["</w>", "a"])},
        "ByteLevel": {"add_prefix_space": rng.random() < 0.5, "trim_offsets": True, "use_regex": True},
        "WordPiece": {"prefix": "##", "cleanup": rng.random() < 0.5},
        "CTC": {"pad_token": "<s>", "word_delimiter_token": "|", "cleanup": rng.random() < 0.5},
    }[kind] | {"type": kind}


def decoder(rng, suffix, depth=0):
    if rng.random() < 0.3 - depth / 10:
        return step(rng, suffix)
    if depth == 0 and rng.random() < 0.2:
        usual = [{"type": "Replace", "pattern": {"String": META}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]
        return {"type": "Sequence", "decoders": usual + [step(rng, suffix) for _ in range(rng.randint(0, 2))]}
    parts = [decoder(rng, suffix, depth + 1) if depth < 2 and rng.random() < 0.2 else step(rng, suffix) for _ in range(rng.randint(0, 4))]
    return {"type": "Sequence", "decoders": parts}


def made_file(rng):
    """The text of a tokenizer.json."""
    byte_level = rng.random() < 0.3
    data = json.loads(vary.random_tokenizer(rng)[0] if byte_level else vary_chars.tokenizer(rng))
    vocab, added = {key: k for k, key in enumerate(data["model"]["vocab"])}, data["added_tokens"]  # without holes
    data["model"]["vocab"] = vocab
    for piece in rng.sample(PIECES, rng.randint(0, len(PIECES))):
        vocab.setdefault(piece, len(vocab))
    for content in rng.sample(PIECES, rng.randint(0, 6)):
        if any(one["content"] == content for one in added):
            continue
        added.append({"id": vocab.get(content, len(vocab)), "content": content, "special": rng.random() < 0.4,
                      "normalized": rng.random() < 0.3, "single_word": False, "lstrip": False, "rstrip": False})
    data["decoder"] = decoder(rng, data["model"]["end_of_word_suffix"])
    if data["model"]["end_of_word_suffix"] is None and "BPEDecoder" in json.dumps(data["decoder"]) and rng.random() < 0.8:
        data["model"]["end_of_word_suffix"] = re.search(r'"suffix": "([^"]+)"', json.dumps(data["decoder"])).group(1)
    data["post_processor"] = None
    return json.dumps(data)


def random_lists(rng, numbers, bytes_, specials, n):
    def one():
        pool = rng.choice([numbers, numbers, bytes_ or numbers, (bytes_ + specials * 3) or numbers, numbers[:40] + bytes_[:10]])
        return rng.choices(pool, k=rng.choice((0, 1, 1, 2, 3, 5, 8, 20)))
    out = [one() for _ in range(n)]
    by_byte = dict(zip(range(256), bytes_)) if len(bytes_) == 256 else None
    if by_byte:  # runs that are text, whole or cut
        for text in (META, META + "a", "\u4f60" + META, "a", "\U0001f600", " ", META + META, "\ufffd", "\u00e9", "\x00"):
            data = text.encode()
            for cut in (data, data[:-1], data[1:], data * 2, data + b"\xff"):
                ids = [by_byte[b] for b in cut]
                out += [ids, ids + rng.choices(numbers, k=1), rng.choices(numbers, k=1) + ids,
                        ids[:1] + rng.choices(specials or numbers, k=1) + ids[1:]]
    return out


# ---- comparison

def differences(path, tokenizer, lists, skip):
    """(list, dstok's text, the reference's)."""
    ours = common.decode(path, lists, "--mode", "replace", *(["--skip-special"] if skip else []))
    theirs = [reference_text(tokenizer, ids, skip) for ids in lists]
    return [(ids, a, b) for ids, a, b in zip(lists, ours, theirs) if a != b and b is not None]


def reference_text(tokenizer, ids, skip):
    """None where the reference panics: Strip does on tokens shorter than what it takes off."""
    try:
        return tokenizer.decode(ids, skip_special_tokens=skip)
    except BaseException as trouble:
        if isinstance(trouble, KeyboardInterrupt):
            raise
        return None


def shrink(path, tokenizer, ids, skip):
    k = 0
    while k < len(ids):
        shorter = ids[:k] + ids[k + 1:]
        if differences(path, tokenizer, [shorter], skip):
            ids, k = shorter, 0
        else:
            k += 1
    return differences(path, tokenizer, [ids], skip)[0]


def is_odd(data, tokenizer, number, token):
    """Added tokens that dstok decodes otherwise on purpose, or whose text, normalised, is special by another's content or is
    not any more."""
    specials = [one["content"] for one in data["added_tokens"] if one["special"]]
    shown = common.byte_alphabet()
    reads = '"ByteLevel"' in json.dumps(data["decoder"])
    found = tokenizer.id_to_token(number)  # as normalised
    makes = "\u00e9" in json.dumps(data["decoder"], ensure_ascii=False)  # Replace may put such a character there
    odd = reads and (makes or any(not one.isascii() and all(c in shown for c in one) for one in (token.content, found)))
    return odd or token.special != (found in specials)


def made(seed, options, folder):
    """What one made-up file gave: counts, differences and lines to print."""
    from tokenizers import Tokenizer
    rng = random.Random(f"{options.seed} {seed}")
    text = made_file(rng)
    data = json.loads(text)
    path = os.path.join(folder, f"made{seed}.json")
    with open(path, "w", encoding="utf-8") as target:
        target.write(text)
    refused = vary.refusal(path)
    try:
        tokenizer = Tokenizer.from_file(path)
    except BaseException:  # also a panic
        return {"files the reference refuses": 1}, 0, []
    if refused:
        what = re.sub(r".*(not supported: [^\n]*).*", r"\1", refused, flags=re.S)
        return {"refused: " + what if "not supported" in refused else "REFUSED: " + refused[-100:]: 1}, 0, []
    added = tokenizer.get_added_tokens_decoder()
    odd = {number for number, token in added.items() if is_odd(data, tokenizer, number, token)}
    keys = tokenizer.get_vocab()
    numbers = sorted(number for number in set(keys.values()) | set(added) if number not in odd)
    bytes_ = [keys[key] for key in (f"<0x{byte:02X}>" for byte in range(256)) if key in keys and keys[key] not in odd]
    specials = sorted(number for number, token in added.items() if token.special and number not in odd)
    n, shown, lists = 0, [], random_lists(rng, numbers, bytes_, specials, options.lists)
    for skip in (False, True):
        differing = differences(path, tokenizer, lists, skip)
        n += len(differing)
        for ids, _, _ in differing[:1]:
            ids, a, b = shrink(path, tokenizer, ids, skip)
            tokens = [(tokenizer.id_to_token(number), number in added) for number in ids]
            shown.append(f"    {ids} {tokens} skip {skip}\n      dstok     {a!r}\n      reference {b!r}")
    if n:
        shown.append("    " + json.dumps([data["decoder"], data["normalizer"], data["model"]["end_of_word_suffix"]], ensure_ascii=False))
    return {"files": 1, "lists": 2 * len(lists)}, n, shown


def made_guarded(task):
    seed, options, folder = task
    try:
        return (seed, *made(seed, options, folder))
    except BaseException as trouble:  # also a panic of the reference
        return seed, {f"FAILED {type(trouble).__name__} {str(trouble)[:80]}": 1}, 0, []


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--files", type=int, default=400)
    options.add_argument("--lists", type=int, default=150)
    options.add_argument("--seed", default="1")
    options.add_argument("--only", help="one file, by its number")
    options = options.parse_args()
    vary.need_tokenizers()
    total, n = collections.Counter(), 0
    with common.Vocabularies() as vocabularies, multiprocessing.Pool(2, vary.quiet) as pool:
        numbers = [options.only] if options.only else range(options.files)
        for seed, counts, differing, shown in pool.imap(made_guarded, [(k, options, vocabularies.folder) for k in numbers]):
            total.update(counts)
            n += differing
            if differing:
                print(f"  made {seed}: {differing} differences", *shown, sep="\n", flush=True)
    for what, count in sorted(total.items()):
        print(f"  {count:7} {what}")
    failed = sum(count for what, count in total.items()
                 if what.startswith(("REFUSED", "FAILED")) and "more than 16" not in what)
    print(f"{n} differences, {failed} failures")
    return 1 if n or failed or not total["lists"] else 0


if __name__ == "__main__":
    sys.exit(main())
