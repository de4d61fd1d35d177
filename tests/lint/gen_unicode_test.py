#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# The generated Unicode files are what gen_unicode.py writes, and its sets are those the reference engines have.
import json
import lzma
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("DSTOK_SHARED", ROOT.parent / "shared"))
RANGES = SHARED / "vocab/unicode/unicode_property_ranges.json.xz"
SKIP = 77
ENGINES = ("hf_0.23.2", "tiktoken_wasm_1.0.22")
SURROGATES = set(range(0xD800, 0xE000))
# \w differs between the two by these: ours is tiktoken's, that is Rust's.
WORD_ONIGURUMA_ONLY = {0xB2, 0xB3, 0xB9, 0xBC, 0xBD, 0xBE}
WORD_RUST_ONLY = {0x200C, 0x200D}


def our_sets(gc, sets):
    """Our sets by the names the measured ranges have."""
    names = "L N M P S Lu Ll Lt Lm Lo Nd Cn".split()
    ours = {r"\p{%s}" % name: {cp for cp, c in enumerate(gc) if c.startswith(name)} for name in names}
    ours[r"\d"] = ours[r"\p{Nd}"]
    ours[r"\p{Han}"] = sets["HAN"]
    ours[r"\s"] = sets["SPACE"]
    ours[r"\w"] = sets["WORD"]
    return ours


def check_engines(gc, sets):
    """The number of properties that differ from what an engine was measured to match."""
    with lzma.open(RANGES) as file:
        measured = json.load(file)
    ours, wrong = our_sets(gc, sets), 0
    for name, columns in measured.items():
        for engine in ENGINES:
            theirs = {cp for first, last in columns[engine] for cp in range(first, last + 1)}
            if name == r"\w" and engine.startswith("hf"):
                theirs = theirs - WORD_ONIGURUMA_ONLY | WORD_RUST_ONLY
            differ = (theirs ^ ours[name]) - SURROGATES
            if differ:
                print("%s: %d code points differ from %s" % (name, len(differ), engine))
                wrong += 1
    print("%d properties compared with %d engines" % (len(measured), len(ENGINES)))
    return wrong


def check_files(outputs, script):
    """The number of committed files that differ from what a generator writes now."""
    wrong = 0
    for path, text in outputs.items():
        if (ROOT / path).read_bytes() != text.encode("ascii"):
            print("%s is not what data/unicode/%s writes: run it" % (path, script))
            wrong += 1
    return wrong


def check_breaks():
    """The same for the tables of UAX #29."""
    try:
        import regex
    except ImportError:
        print("break_tables.c not compared: regex 2024.11.6 cannot be imported")
        return 0
    import gen_breaks

    if regex.__version__ != gen_breaks.REGEX:
        print("break_tables.c not compared: regex is not 2024.11.6")
        return 0
    wrong = check_files(gen_breaks.outputs(), "gen_breaks.py")
    print("break_tables.c compared")
    return wrong


def main():
    try:
        import unicodedata2
    except ImportError:
        unicodedata2 = None
    if unicodedata2 is None or unicodedata2.unidata_version != "16.0.0":
        print("skipped: unicodedata2 16.0.0 cannot be imported")
        return SKIP
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(ROOT / "data/unicode"))
    import gen_unicode
    import gen_widths

    gc, sets, folds = gen_unicode.properties()
    wrong = check_files(gen_unicode.outputs(gc, sets, folds), "gen_unicode.py") + check_breaks()
    wrong += check_files(gen_widths.outputs(), "gen_widths.py")
    if RANGES.exists():
        wrong += check_engines(gc, sets)
    else:
        print("not compared with the engines: %s is absent" % RANGES.name)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
