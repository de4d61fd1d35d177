#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes libdstok0.symbols from tokenizer/dstok.map; with --check it only says whether that would change the file.

A symbol that the file has keeps its version; a new one gets the version in <dstok/version.h>.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def numbers():
    text = (ROOT / "tokenizer/include/dstok/version.h").read_text()
    values = dict(re.findall(r"^#define DSTOK_(\w+) (\d+)", text, re.M))
    return ".".join(values[f"VERSION_{part}"] for part in ("MAJOR", "MINOR", "PATCH")), values["ABI_MAJOR"]


def symbols(old, text, version, abi):
    """The symbols file: each node of the version script, then its symbols."""
    since = dict(re.findall(r"^ (\S+) (\S+)$", old, re.M))
    lines = [f"libdstok.so.{abi} libdstok{abi} #MINVER#"]
    for node, body in re.findall(r"^(\w+) \{\nglobal:\n(.*?)^(?:local:.*?)?\}", text, re.M | re.S):
        for name in [node, *sorted(re.findall(r"^ +(\w+);", body, re.M))]:
            key = f"{name}@{node}"
            lines.append(f" {key} {since.get(key, version)}")
    if len(lines) < 3:
        sys.exit("make_symbols.py: no symbols in tokenizer/dstok.map")
    return "\n".join(lines) + "\n"


def main():
    version, abi = numbers()
    path = HERE / f"libdstok{abi}.symbols"
    old = path.read_text() if path.exists() else ""
    new = symbols(old, (ROOT / "tokenizer/dstok.map").read_text(), version, abi)
    if sys.argv[1:] == ["--check"]:
        if old != new:
            sys.exit(f"debian/{path.name} is not what tokenizer/dstok.map says: run debian/make_symbols.py")
    elif sys.argv[1:]:
        sys.exit("usage: make_symbols.py [--check]")
    else:
        path.write_text(new)


if __name__ == "__main__":
    main()
