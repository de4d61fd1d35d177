#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast JSON lines are read: dstok by each tier, the plain reader of the tests, Jansson and Python's json, as a table.

usage: jsonl.py BENCH_JSONL TEXT...   (build/release/bin/bench_jsonl; the first million characters of each text)

Of each text there is a file with documents of 200 to 8000 characters, one with all but ASCII escaped, and one of short
lines of the first text. All are read in the same run, in turns; the figure is the best of 60 rounds, of 15 for Python.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROUNDS, INNER = 15, 4


def documents(text, low, high, rng):
    at = 0
    while at < len(text):
        n = rng.randint(low, high)
        yield text[at:at + n]
        at += n


def write(path, text, low, high, ascii_only):
    rng = random.Random(1)
    with open(path, "w", encoding="utf-8") as out:
        for k, doc in enumerate(documents(text, low, high, rng)):
            row = {"id": k, "url": f"https://example.org/{k}", "meta": {"n": k, "score": rng.random(), "tags": ["a", "b"]},
                   "text": doc}
            out.write(json.dumps(row, ensure_ascii=ascii_only) + "\n")


def read_python(data):
    """GB/s of json.loads, the lines being there as bytes objects."""
    lines, total = data.split(b"\n"), 0
    start = time.thread_time()
    for line in lines:
        if line:
            total += len(json.loads(line)["text"])
    return len(data) / (time.thread_time() - start) / 1e9


def files(folder, texts):
    for i, name in enumerate(texts):
        path = pathlib.Path(name)
        text = path.read_text(encoding="utf-8")[:1_000_000]
        for ascii_only in (False, True):
            out = folder / f"{path.stem}{', ASCII' if ascii_only else ''}"
            write(out, text, 200, 8000, ascii_only)
            yield out
        if i == 0:
            out = folder / f"{path.stem}, short"
            write(out, text, 20, 120, False)
            yield out


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    table, names = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for path in files(pathlib.Path(folder), sys.argv[2:]):
            data, rates, found = path.read_bytes(), {}, set()
            for _ in range(ROUNDS):  # of everything in turns
                out = subprocess.run([sys.argv[1], str(INNER), path], check=True, capture_output=True, text=True).stdout
                for line in out.splitlines():
                    _, what, rate, texts, n = line.split("\t")
                    rates[what] = max(rates.get(what, 0), float(rate))
                    if not what.startswith(("memcpy", "lines")):
                        found.add((texts, n))
                rates["Python"] = max(rates.get("Python", 0), read_python(data))
            assert len(found) == 1, f"{path.name}: they differ: {found}"
            table[path.name] = rates
            names = list(rates)
    print(f"| file | {' | '.join(names)} |\n|---|{'---:|' * len(names)}")
    for name, rates in table.items():
        print(f"| {name} | {' | '.join(f'{rates[n]:.2f}' for n in names)} |")


if __name__ == "__main__":
    main()
