#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The blocks of docs/pipeline.md are what the program of the first argument prints. DSTOK_UPDATE_PAGES=1 writes them
into the page."""
import difflib
import os
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/pipeline.md"
SHOWN = re.compile(r"(<!-- worked: (\w+) -->\n```text\n)(.*?)(```\n)", re.S)


def printed(program):
    """The blocks by name; ends the test where the program skips or finds something wrong."""
    run = subprocess.run([program], stdout=subprocess.PIPE, text=True)
    if run.returncode:
        print(f"{program} ended with {run.returncode}", file=sys.stderr)
        sys.exit(run.returncode if run.returncode == 77 else 1)
    parts = re.split(r"(?m)^== (\w+)\n", run.stdout)
    return dict(zip(parts[1::2], parts[2::2]))


def main():
    blocks = printed(sys.argv[1])
    text = PAGE.read_text(encoding="utf-8")
    names = [m[2] for m in SHOWN.finditer(text)]
    wrong = [f"{name}: {names.count(name)} times in the page" for name in blocks if names.count(name) != 1]
    wrong += [f"{name}: no such block is printed" for name in names if name not in blocks]
    wrong += ["a mark without a block"] if text.count("<!-- worked: ") != len(names) else []
    if os.environ.get("DSTOK_UPDATE_PAGES") and not wrong:
        PAGE.write_text(SHOWN.sub(lambda m: m[1] + blocks[m[2]] + m[4], text), encoding="utf-8")
        print(f"{len(names)} blocks written")
        return 0
    for m in SHOWN.finditer(text):
        if m[2] in blocks and m[3] != blocks[m[2]]:
            wrong.append(f"{m[2]}: the page differs from what is printed\n" + "".join(
                difflib.unified_diff(m[3].splitlines(True), blocks[m[2]].splitlines(True), "page", "printed")))
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(blocks)} blocks, {len(wrong)} wrong; DSTOK_UPDATE_PAGES=1 writes them anew")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
