#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what rounding does to models, and writes the tables of docs/quantisation.md.

usage: quantisation.py [--build build/release] [--check] NAME=MODEL...

NAME is stories260K (its .bin; tok512.model must lie beside it) or smollm2 (its .gguf). With --check the tables are made anew
and compared with those of the page, which stays as it is. Programs: dsexplain and bench_weight_error of the build, or
those that DSX_BIN and DSX_WEIGHT_ERROR name.

Texts: the first tokens of texts/stories.txt for stories260K, of texts/en.txt for SmolLM2; fixed limits are chosen from
their later half. Neither model has seen them. Nothing here is left to chance: the tables are the same on every machine,
but for the last digits where another C library's exp is another one.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/quantisation.md"
TEXTS = ROOT / "tests/bench/texts"
MODELS = {"stories260K": ("stories.txt", 1024, 512, True), "smollm2": ("en.txt", 1024, 1024, False)}

PLAIN = [("w8, groups of 32", "w8g32"), ("w8, groups of 64", "w8"), ("w8, groups of 128", "w8g128"),
         ("w4, groups of 32", "w4g32"), ("w4, groups of 64", "w4"), ("w4, groups of 128", "w4g128"),
         ("fp8, a scale for each row", "fp8"), ("fp8, squares of 128 x 128", "fp8g128"),
         ("w8, rows int8", "w8a8"), ("w4, rows int8", "w4a8"), ("w4, rows int4", "w4a4"),
         ("w4, rows int4 after Hadamard", "w4a4h"), ("w4g32, rows int4 after Hadamard", "w4g32a4h")]
RULES = [("averages", ["--limits", "ema"]), ("99.9 %", ["--limits", "percentile"]),
         ("99.99 %", ["--limits", "percentile", "--percentile", "99.99"]),
         ("greatest", ["--limits", "percentile", "--percentile", "100"]), ("least error", ["--limits", "mse"])]
FIXED = [("w8, rows int8 fixed", "w8a8f"), ("w4, rows int4 fixed", "w4a4f")]
KV = [("int8", ["--kv", "int8"]), ("int8, the last 64 kept", ["--kv", "int8", "--kv-recent", "64"]),
      ("int4", ["--kv", "int4"]), ("int4, the last 64 kept", ["--kv", "int4", "--kv-recent", "64"])]
HEAD = "| maps | weight error | mean KL | greatest KL | perplexity | MB |"


class Measured:
    def __init__(self, name, model, programs, folder):
        self.name, self.model, (self.program, self.weight_error) = name, model, programs
        file, self.n, self.window, needs_vocab = MODELS[name]
        data = (TEXTS / file).read_bytes()
        half = data.index(b"\n", len(data) // 2) + 1
        self.text, self.other = folder / "text", folder / "other"
        self.text.write_bytes(data[:half])
        self.other.write_bytes(data[half:])
        self.vocab = ["-v", model.parent / "tok512.model"] if needs_vocab else []

    def scan(self, formats, *options):
        command = [self.program, "scan", self.model, *self.vocab, "-f", self.text, "-n", self.n, "--context", self.window, "--whole",
                   "--json", *(word for f in formats for word in ("--to", f)), *options]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"quantisation: {done.stderr}")
        answer = json.loads(done.stdout)
        return answer["own"], [entry["result"] for entry in answer["whole"]]

    def error(self, form):
        """The relative error of weights, a mark where they are not rounded."""
        kind, group = re.match(r"(w8|w4|fp8)(?:g(\d+))?", form).groups()
        done = subprocess.run([self.weight_error, self.model, kind, group or "0"], capture_output=True, text=True, check=True)
        return f"{100 * float(done.stdout):.3f} %"

    def kv_bytes(self, *options):
        """Bytes of the keys and values of a text of 8,192 tokens."""
        done = subprocess.run([self.program, "plan", self.model, "--context", "8K", "--weights", "file", "--json", *options],
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["cpu"][0]["kv_bytes"]

    def row(self, label, error, result):
        return (f"| {label} | {error} | {result['kl']:.4g} | {result['kl_most']:.3g} | {result['ppl']:.4f} | "
                f"{result['weight_bytes'] / 1e6:.3f} |")

    def rows(self):
        own, results = self.scan([form for _, form in PLAIN])
        yield self.row("as in the file", "–", own)
        for (label, form), result in zip(PLAIN, results):
            yield self.row(label, self.error(form), result)
        for rule, options in RULES:
            _, results = self.scan([form for _, form in FIXED], *options, "--calibrate", self.other)
            for (label, form), result in zip(FIXED, results):
                yield self.row(f"{label}: {rule}", self.error(form), result)

    def kv_rows(self):
        for label, options in KV:
            _, (result,) = self.scan(["file"], *options)
            whole, few = self.kv_bytes(), self.kv_bytes(*options)
            yield (f"| {label} | {result['kl']:.4g} | {result['kl_most']:.3g} | {result['ppl']:.4f} | {few / 1e6:.3f} | "
                   f"{few / whole:.3f} |")

    def tables(self):
        yield HEAD
        yield "|---|---|---|---|---|---|"
        yield from self.rows()
        yield ""
        yield "| keys and values | mean KL | greatest KL | perplexity | MB of 8,192 tokens | of float |"
        yield "|---|---|---|---|---|---|"
        yield from self.kv_rows()


def part(page, name):
    """Where a model's tables stand in the page."""
    found = re.search(rf"(?<=<!-- {name} -->\n).*?(?=<!-- end of {name} -->)", page, re.S)
    if not found:
        sys.exit(f"quantisation: {PAGE.name} has no place for {name}")
    return found


def cells(line):
    return [cell.strip() for cell in line.strip("| ").split("|")]


def number(cell):
    found = re.match(r"-?\d+(\.\d+)?(e-?\d+)?", cell)
    return float(found[0]) if found else None


def differences(page, made):
    """Lines whose figures are not those of the page: 2 % are for exp of another C library, in the tail of a distribution."""
    if len(page) != len(made):
        yield f"{len(page)} lines in the page, {len(made)} made"
    for before, now in zip(page, made):
        a, b = cells(before), cells(now)
        same = len(a) == len(b) and a[:1] == b[:1]
        for x, y in zip(map(number, a[1:]), map(number, b[1:])):
            same = same and (x is None) == (y is None) and (x is None or abs(x - y) <= 0.02 * abs(x) + 1e-7)
        if not same:
            yield f"page: {before}\nmade: {now}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("models", nargs="+", metavar="NAME=MODEL")
    options = parser.parse_args()
    programs = (os.environ.get("DSX_BIN") or options.build / "bin/dsexplain",
                os.environ.get("DSX_WEIGHT_ERROR") or options.build / "bin/bench_weight_error")
    page, failed = PAGE.read_text(), 0
    for word in options.models:
        name, _, path = word.partition("=")
        if name not in MODELS or not pathlib.Path(path).is_file():
            sys.exit(f"quantisation: {word} is not NAME=MODEL with a name of {', '.join(MODELS)}, and a file")
        with tempfile.TemporaryDirectory() as folder:
            made = list(Measured(name, pathlib.Path(path), programs, pathlib.Path(folder)).tables())
        place = part(page, name)
        if options.check:
            for text in differences(place[0].strip("\n").split("\n"), made):
                print(f"{name}: {text}")
                failed = 1
        page = page[:place.start()] + "\n".join(["", *made, "", ""]) + page[place.end():]
    if not options.check:
        PAGE.write_text(page)
    return failed


if __name__ == "__main__":
    sys.exit(main())
