#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures one tokenizer library on one text in a fresh process: peer_worker.py JOB, a JSON object; prints another one.

Figures are 10^6 bytes of UTF-8 text a second by the wall clock and by the CPU time of all threads. What they mean is
what `dstok bench` means by the same names (docs/cli.md).
"""
import gc
import hashlib
import importlib
import importlib.metadata
import json
import pathlib
import statistics
import sys
import time

import numpy as np

DOC_BYTES = 16384


# ---- the libraries, each by its fastest documented way from texts to ids

class Library:
    """job["files"]: ranks (a .tiktoken file or None), json (a tokenizer.json or None), encoding (a known name or None)."""

    package = ""                # as pip knows it
    import_name = None          # where that differs
    takes_bytes = False         # else str
    decodes_arrays = False      # else lists of int
    is_slow = False             # below 10 MB/s: only passes over the documents, as few as possible

    def __init__(self, files, threads):
        self.files, self.threads = files, threads
        self.module = importlib.import_module(self.import_name or self.package)

    def one(self, text):
        return self.many([text])

    def arrays(self, result):
        """One array of ids for each text."""
        return [np.asarray(ids, np.uint32) for ids in result]

    def decode(self, ids):
        return self.tok.decode(ids)

    count = None


class Gigatoken(Library):
    package, takes_bytes, decodes_arrays = "gigatoken", True, True

    def open(self):
        t = self.module.Tokenizer
        self.tok = t.from_tiktoken(self.files["ranks"]) if self.files["ranks"] else t(self.files["json"])

    def many(self, texts):
        return self.tok.encode_batch(texts, parallel=self.threads > 1)

    def one(self, text):
        return [self.tok.encode(text)] if self.threads == 1 else self.many([text])


class Fastokens(Library):
    package = "fastokens"

    def open(self):
        t, f = self.module.Tokenizer, self.files
        # with the name of the encoding it takes its own scanner, with a pattern a slow one
        self.tok = t.from_tiktoken(f["ranks"], encoding=f["encoding"]) if f["ranks"] else t.from_file(f["json"])

    def many(self, texts):
        return self.tok.encode_batch_flat(texts)

    def arrays(self, result):
        ids, ends = np.frombuffer(result[0], np.uint32), np.frombuffer(result[1], np.uint64).astype(int)
        return [ids[a:b] for a, b in zip(ends, ends[1:])]


class Quicktok(Library):
    package, import_name, decodes_arrays = "quicktok-v1", "quicktok", True

    def open(self):                             # it has vocabularies of its own and reads no files
        name = self.files["encoding"] or self.files["name"]
        self.tok = self.module.get_encoding(name)

    def many(self, texts):
        return self.tok.encode_batch(texts, self.threads)

    def arrays(self, result):
        ends = np.asarray(result[1]).astype(int)
        return [np.asarray(result[0][a:b], np.uint32) for a, b in zip(ends, ends[1:])]

    def count(self, texts):
        return sum(self.tok.count(text) for text in texts)

    def decode(self, ids):
        return self.tok.decode_bytes(ids)


class Tiktoken(Library):
    package, is_slow = "tiktoken", True

    def open(self):
        if not self.files["ranks"]:
            raise LookupError("reads rank files only")
        public = importlib.import_module("tiktoken_ext.openai_public")
        ranks = importlib.import_module("tiktoken.load").load_tiktoken_bpe(self.files["ranks"])
        public.load_tiktoken_bpe = lambda *_, **__: {}      # its own definition, without its download
        pattern = getattr(public, self.files["encoding"])()["pat_str"]
        self.tok = self.module.Encoding("ranks", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    def many(self, texts):
        if self.threads > 1:
            return self.tok.encode_ordinary_batch(texts, num_threads=self.threads)
        return [self.tok.encode_to_numpy(text, disallowed_special=()) for text in texts]

    def decode(self, ids):
        return self.tok.decode_bytes(ids)


class Tokenizers(Library):
    package, is_slow = "tokenizers", True

    def open(self):
        self.tok = self.module.Tokenizer.from_file(self.files["json"])

    def many(self, texts):
        return [e.ids for e in self.tok.encode_batch_fast(texts, add_special_tokens=False)]

    def decode(self, ids):
        return self.tok.decode(ids, skip_special_tokens=False)


class Tokenizers1(Library):
    package = "tokenizers"

    def open(self):
        self.tok = self.module.Tokenizer.from_file(self.files["json"])

    def many(self, texts):
        return self.tok.encode_batch(texts, add_special_tokens=False)

    def arrays(self, result):
        return [np.asarray(e.ids_array, np.uint32) for e in result]


LIBRARIES = {"gigatoken": Gigatoken, "fastokens": Fastokens, "quicktok": Quicktok, "tiktoken": Tiktoken,
             "hf": Tokenizers, "hf1": Tokenizers1}


# ---- measuring

def documents(data):
    """Pieces of 16 KB that end where a character does."""
    pieces, at = [], 0
    while at < len(data):
        end = min(at + DOC_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        pieces.append(data[at:end])
        at = end
    return pieces


def clocked(call):
    """The result of a call, and its time by both clocks."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, np.array([time.perf_counter() - wall, time.process_time() - cpu])


def both(values):
    return {"wall": float(values[0]), "cpu": float(values[1])}


def speed(n_bytes, times):
    return both(n_bytes / np.maximum(times, 1e-9) / 1e6)


def repeated(call, n_bytes, budget, is_slow):
    """Speed of the median pass, and the last result. The first of several passes is not counted."""
    times, start, result = [], time.perf_counter(), None
    while not times or (not is_slow and len(times) < 99 and
                        (time.perf_counter() - start < budget or (len(times) == 1 and times[0][1] < 2))):
        result = None                           # given back outside of the clock
        result, t = clocked(call)
        times.append(t)
    return speed(n_bytes, np.median(times[1:] or times, axis=0)), result


def digest(arrays):
    """SHA-256 of ids as little-endian 32-bit numbers."""
    h = hashlib.sha256()
    for ids in arrays:
        h.update(np.ascontiguousarray(ids, "<u4").tobytes())
    return h.hexdigest()


def memory():
    """Largest resident set, and the one now, in MiB."""
    with open("/proc/self/status") as f:
        found = dict(line.split(":", 1) for line in f)
    return np.array([int(found[key].split()[0]) / 1024 for key in ("VmHWM", "VmRSS")])


def passes_over_documents(lib, docs, out):
    """The first pass over the documents, in two halves. Returns their ids."""
    half = len(docs) // 2
    first, t1 = clocked(lambda: lib.many(docs[:half]))
    second, t2 = clocked(lambda: lib.many(docs[half:]))
    sizes = out["sizes"]
    out["figures"]["cold"] = speed(sum(sizes), t1 + t2)
    out["figures"]["unseen"] = speed(sum(sizes[half:]), t2)
    return lib.arrays(first) + lib.arrays(second)


def other_work(lib, whole, docs, ids, job, out):
    """One document, counting, decoding."""
    figures, n, budget = out["figures"], sum(out["sizes"]), job["budget"]
    try:
        figures["big"], result = repeated(lambda: lib.one(whole), n, budget, False)
        out["big_sha256"] = digest(lib.arrays(result))
    except ValueError as e:
        out["note"] = f"one document: {e}"
    if job["threads"] > 1:
        return
    if lib.count:
        figures["count"], result = repeated(lambda: lib.count(docs), n, budget, False)
        if result != sum(map(len, ids)):
            out["note"] = f"counts {result} tokens, gives {sum(map(len, ids))} ids"
    given = ids if lib.decodes_arrays else [x.tolist() for x in ids]
    speed_of, result = repeated(lambda: [lib.decode(x) for x in given], n, budget, False)
    if result[0][:0].join(result) == (whole if isinstance(result[0], type(whole)) else other_type(whole)):
        figures["decode"] = speed_of
    else:
        out["note"] = "decoding does not give the text back"


def other_type(text):
    return text.decode() if isinstance(text, bytes) else text.encode()


def measure(job):
    data = pathlib.Path(job["text"]).read_bytes()
    lib = LIBRARIES[job["peer"]](job["files"], job["threads"])
    pieces = documents(data)
    docs, whole = (pieces, data) if lib.takes_bytes else ([p.decode() for p in pieces], data.decode())
    out = {"version": importlib.metadata.version(lib.package), "figures": {}, "sizes": [len(p) for p in pieces]}
    gc.disable()
    base, wall, cpu = memory(), time.perf_counter(), time.process_time()
    _, t = clocked(lib.open)
    out["load_ms"] = both(t * 1e3)
    out["load_mb"], out["loaded_mb"] = memory() - base
    _, t = clocked(lambda: lib.many([b"a" if lib.takes_bytes else "a"]))
    out["first_ms"] = both(t * 1e3)
    ids = passes_over_documents(lib, docs, out)
    out["figures"]["warm"], result = repeated(lambda: lib.many(docs), len(data), job["budget"], lib.is_slow)
    out["rss_mb"], out["kept_mb"] = memory() - base
    out["ids_sha256"], out["tokens"] = digest(ids), sum(map(len, ids))
    if digest(lib.arrays(result)) != out["ids_sha256"]:
        out["note"] = "a repeated pass gave other ids"
    result = None
    if not lib.is_slow:
        other_work(lib, whole, docs, ids, job, out)
    out["share"] = (time.process_time() - cpu) / (time.perf_counter() - wall)
    del out["sizes"]
    return out


if __name__ == "__main__":
    print(json.dumps(measure(json.loads(sys.argv[1]))))
