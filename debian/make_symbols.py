#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes libdstok0.symbols from tokenizer/dstok.map and libdsx0.symbols from model/dsx.map; with --check it only says
whether that would change a file.

A symbol that the file has keeps its version; a new one gets the version in <dstok/version.h>.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
LIBRARIES = {"dstok": "tokenizer/dstok.map", "dsx": "model/dsx.map"}


def numbers():
    text = (ROOT / "tokenizer/include/dstok/version.h").read_text()
    values = dict(re.findall(r"^#define DSTOK_(\w+) (\d+)", text, re.M))
    return ".".join(values[f"VERSION_{part}"] for part in ("MAJOR", "MINOR", "PATCH")), values["ABI_MAJOR"]


def symbols(name, old, version, abi):
    """The symbols file: each node of the version script, then its symbols."""
    since = dict(re.findall(r"^ (\S+) (\S+)$", old, re.M))
    text = (ROOT / LIBRARIES[name]).read_text()
    lines = [f"lib{name}.so.{abi} lib{name}{abi} #MINVER#"]
    for node, body in re.findall(r"^(\w+) \{\nglobal:\n(.*?)^(?:local:.*?)?\}", text, re.M | re.S):
        for symbol in [node, *sorted(re.findall(r"^ +(\w+);", body, re.M))]:
            key = f"{symbol}@{node}"
            lines.append(f" {key} {since.get(key, version)}")
    if len(lines) < 3:
        sys.exit(f"make_symbols.py: no symbols in {LIBRARIES[name]}")
    return "\n".join(lines) + "\n"


def main():
    version, abi = numbers()
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: make_symbols.py [--check]")
    for name, script in LIBRARIES.items():
        path = HERE / f"lib{name}{abi}.symbols"
        old = path.read_text() if path.exists() else ""
        new = symbols(name, old, version, abi)
        if not sys.argv[1:]:
            path.write_text(new)
        elif old != new:
            sys.exit(f"debian/{path.name} is not what {script} says: run debian/make_symbols.py")


if __name__ == "__main__":
    main()
