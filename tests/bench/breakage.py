#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# How often chunks end within a sentence, and what cutting costs: files of one sentence a line, joined to one text.
"""breakage.py --build BUILD [--vocab FILE] [options] FILE...

FILE: one sentence a line (.xz is unpacked). The sentences are joined by a blank, or by nothing where most letters are
Chinese or Japanese (--lines: by line breaks), and the text is cut at many places.

Without --peers: for each file 20,000 limits are drawn, and the window of 64K tokens that ends there is cut as a chunker
would (BUILD/bin/bench_breakage). With --all: every place that passes for the end of a sentence within a line is judged,
by how sure it is. With --peers: texts of --mb megabytes, their sentences drawn in random order again and
again, are cut into chunks by dstok (BUILD/libdstok.so) and by semantic-text-splitter and chonkie, as they come and
with Chinese delimiters; each has to be installed (requirements-chunkers.txt), and reads the same o200k_base ranks.

A cut is right at the end of a line of the file, with or without the blanks behind it.
"""
import argparse
import ctypes
import json
import lzma
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

EAST = [(0x3040, 0x30FF), (0x3400, 0x9FFF), (0x20000, 0x3FFFF)]


def sentences_of(path):
    opener = lzma.open if path.endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file.read().split("\n")]
    return [line for line in lines if line]


def joiner_of(sentences):
    text = "".join(sentences[:500])
    east = sum(any(low <= ord(c) <= high for low, high in EAST) for c in text)
    return "" if 2 * east > sum(c.isalpha() for c in text) else " "


def name_of(path):
    return os.path.basename(path).removesuffix(".xz")


# ---- many limits


def run_driver(a, path):
    sentences = sentences_of(path)
    joiner = "\n" if a.lines else joiner_of(sentences)
    ends, at = [], 0
    for sentence in sentences:
        at += len(sentence.encode())
        ends.append(at)
        at += len(joiner)
    with tempfile.TemporaryDirectory() as folder:
        text, borders = os.path.join(folder, "text"), os.path.join(folder, "borders")
        with open(text, "wb") as file:
            file.write(joiner.join(sentences).encode())
        with open(borders, "w", encoding="ascii") as file:
            file.writelines(f"{end}\n" for end in ends)
        command = [os.path.join(a.build, "bin", "bench_breakage"), a.vocab or "default", text, borders]
        command += ["0" if a.all else str(a.cuts), "1", str(a.tokens)] + (["bad"] if a.bad else [])
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines[:-1]:
        print(line)
    return len(sentences), json.loads(lines[-1])


def limits_table(a):
    print(f"| set | sentences | broken % | at places | forced % | given up: tokens | % of {a.tokens} | us a cut |\n"
          + "|---" * 8 + "|")
    for path in a.files:
        n, r = run_driver(a, path)
        share = 100 / r["cuts"]
        print(f"| {name_of(path)} | {n} | {share * r['wrong']:.3f} | {r['places']} | {share * r['forced']:.2f} | {r['given_up']:.0f} "
              f"| {100 * r['given_up'] / a.tokens:.3f} | {r['us']:.1f} |", flush=True)


def places_table(a):
    names = ["doubted", "sentence", "plain 1", "plain 2", "plain 3"]
    print("| set | sentences | " + " | ".join(names) + " |\n" + "|---" * (2 + len(names)) + "|")
    for path in a.files:
        n, r = run_driver(a, path)
        sums = [[sum(x) for x in zip(*part)] for part in (r[:4], r[4:8], r[8:10], r[10:11], r[11:])]
        print(f"| {name_of(path)} | {n} | " + " | ".join(f"{wrong}/{total}" for wrong, total in sums) + " |", flush=True)


# ---- side by side


class Span(ctypes.Structure):
    _fields_ = [("begin", ctypes.c_uint64), ("end", ctypes.c_uint64)]


class Chunk(ctypes.Structure):
    _fields_ = [("document", ctypes.c_uint64), ("number", ctypes.c_uint64), ("bytes", Span), ("chars", Span),
                ("tokens", Span), ("n_overlap", ctypes.c_uint64), ("border", ctypes.c_int), ("forced", ctypes.c_int),
                ("ids", ctypes.c_void_p), ("spans", ctypes.c_void_p), ("n", ctypes.c_size_t),
                ("text", ctypes.c_void_p), ("text_len", ctypes.c_size_t)]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("max_tokens", ctypes.c_size_t), ("min_tokens", ctypes.c_size_t),
                ("border", ctypes.c_int), ("ids", ctypes.c_int), ("mode", ctypes.c_int), ("balance", ctypes.c_int),
                ("overlap", ctypes.c_size_t), ("overlap_sentences", ctypes.c_size_t), ("encode", ctypes.c_void_p)]


class LoadOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("alloc", ctypes.c_void_p), ("pattern", ctypes.c_char_p),
                ("flags", ctypes.c_uint32)]


def dstok(a, _encoding):
    lib = ctypes.CDLL(os.path.abspath(os.path.join(a.build, "libdstok.so")))
    tok, chunker, ends = ctypes.c_void_p(), ctypes.c_void_p(), []
    load = LoadOptions(ctypes.sizeof(LoadOptions), None, b"o200k_base", 0)
    if lib.dstok_tokenizer_load(a.vocab.encode(), ctypes.byref(load), ctypes.byref(tok), None) != 0:
        sys.exit(f"breakage.py: {a.vocab} is no vocabulary for dstok")
    sink = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Chunk))(
        lambda _, chunk: ends.append((chunk[0].chars.begin, chunk[0].chars.end)) or 0)
    options = Options(ctypes.sizeof(Options), a.tokens)
    lib.dstok_chunker_feed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]
    if lib.dstok_chunker_new(tok, ctypes.byref(options), sink, None, ctypes.byref(chunker), None) != 0:
        sys.exit("breakage.py: dstok_chunker_new failed")

    def split(text):
        ends.clear()
        data = text.encode()
        if lib.dstok_chunker_feed(chunker, data, len(data), None) or lib.dstok_chunker_finish(chunker, None):
            sys.exit("breakage.py: dstok_chunker_feed failed")
        return list(ends)

    split.keep = sink
    return split


def semantic_text_splitter(a, _encoding):
    from semantic_text_splitter import TextSplitter

    splitter = TextSplitter.from_tiktoken_model("gpt-4o", a.tokens)
    return lambda text: [(at, at + len(chunk)) for at, chunk in splitter.chunk_indices(text)]


def chonkie(a, encoding, **options):
    import chonkie as module

    splitter = module.SentenceChunker(tokenizer=encoding, chunk_size=a.tokens, chunk_overlap=0, **options)
    return lambda text: [(chunk.start_index, chunk.end_index) for chunk in splitter.chunk(text)]


EAST_DELIMITERS = [". ", "! ", "? ", "\n", "。", "！", "？"]
PEERS = {
    "dstok": dstok,
    "semantic-text-splitter": semantic_text_splitter,
    "chonkie": chonkie,
    "chonkie, Chinese delimiters": lambda a, e: chonkie(a, e, delim=EAST_DELIMITERS),
}


def o200k(path):
    import tiktoken
    import tiktoken.load
    import tiktoken_ext.openai_public as public

    public.load_tiktoken_bpe = lambda *_, **__: tiktoken.load.load_tiktoken_bpe(path)  # not from the network
    return tiktoken.Encoding(**public.o200k_base())


def documents(sentences, joiner, mb):
    """Texts of a megabyte, and where sentences end in each."""
    rng, order = random.Random(1), []
    for _ in range(max(1, round(mb))):
        parts, ends, at, size = [], set(), 0, 0
        while size < 1e6:
            if not order:
                order = rng.sample(sentences, len(sentences))
            parts.append(order.pop())
            at += len(parts[-1])
            ends.add(at)
            at += len(joiner)
            size += len(parts[-1].encode()) + len(joiner)
        yield joiner.join(parts), ends


def measure(split, docs, encoding, limit):
    ms, broken, borders, over, peak = [], 0, 0, 0, 0
    split(docs[0][0])  # the first call fills what is filled once
    for text, ends in docs:
        begin = time.process_time()
        chunks = split(text)
        ms.append((time.process_time() - begin) * 1e3 / len(chunks))
        for _, end in chunks[:-1]:
            borders += 1
            broken += len(text[:end].rstrip()) not in ends
        sizes = [len(encoding.encode_ordinary(text[at:end])) for at, end in chunks]
        over += sum(size > limit for size in sizes)
        peak = max(peak, *sizes)
    return ms, broken, borders, over, peak


def peers_table(a):
    encoding = o200k(a.vocab)
    print(f"| set | tool | broken | chunks over {a.tokens} | longest | ms CPU a chunk: p50 | p99 |\n" + "|---" * 7 + "|")
    for path in a.files:
        sentences = sentences_of(path)
        docs = list(documents(sentences, "\n" if a.lines else joiner_of(sentences), a.mb))
        for tool, make in PEERS.items():
            if a.tools and tool not in a.tools:
                continue
            try:
                split = make(a, encoding)
            except ImportError:
                print(f"| {name_of(path)} | {tool} | not installed |")
                continue
            ms, broken, borders, over, peak = measure(split, docs, encoding, a.tokens)
            last = sorted(ms)[min(len(ms) - 1, int(len(ms) * 0.99))]
            print(f"| {name_of(path)} | {tool} | {broken}/{borders} ({100 * broken / max(1, borders):.2f} %) | {over} | {peak} "
                  f"| {statistics.median(ms):.2f} | {last:.2f} |", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+", metavar="FILE")
    p.add_argument("--build", required=True, help="folder of a release build")
    p.add_argument("--vocab", help="vocabulary file (default: the embedded one; with --peers: o200k_base.tiktoken)")
    p.add_argument("--tokens", type=int, default=65536, help="limit of a chunk")
    p.add_argument("--lines", action="store_true", help="join by line breaks")
    p.add_argument("--cuts", type=int, default=20000)
    p.add_argument("--bad", action="store_true", help="show wrong cuts")
    p.add_argument("--all", action="store_true", help="judge all places: wrong/all of each kind")
    p.add_argument("--peers", action="store_true")
    p.add_argument("--tools", nargs="+", choices=PEERS)
    p.add_argument("--mb", type=float, default=8, help="with --peers: megabytes of text a set")
    a = p.parse_args()
    if a.peers and not a.vocab:
        p.error("--peers needs --vocab o200k_base.tiktoken")
    (peers_table if a.peers else places_table if a.all else limits_table)(a)


if __name__ == "__main__":
    main()
