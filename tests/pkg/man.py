#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual page of a program says all that --help says, and renders without a warning.

usage: man.py [dstok.1]      without a page that of dstok is made anew; DSTOK_BIN names dstok, another program stands
                             beside it
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = pathlib.Path(sys.argv[1]).stem if len(sys.argv) > 1 else "dstok"
DSTOK = os.path.join(os.path.dirname(os.environ.get("DSTOK_BIN", "")), NAME)
MAKER = ROOT / "tools/man/make_man.py"
failures = []


def check(good, text):
    if not good:
        failures.append(text)


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if result.returncode:
        sys.exit(f"man: {' '.join(map(str, command))}: code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


ESCAPES = {"\\e": "\\", "\\-": "-", "\\(aq": "'", "\\(ga": "`", "\\(ha": "^", "\\(ti": "~", "\\&": "", "\\fB": "",
           "\\fI": "", "\\fR": ""}


def plain(roff):
    """The words of a page of ours, without roff's requests and escapes."""
    lines = [line for line in roff.splitlines() if not line.startswith(".") or line.startswith(".S")]
    text = "\n".join(re.sub(r"^\.S[HS] ", "", line) for line in lines)
    text = re.sub(r"\\(?:\(..|f.|.)", lambda m: ESCAPES[m[0]], text)
    return " ".join(text.split())


def section(roff, verb):
    """The source of the part for one verb; of the whole page for the general help."""
    if not verb:
        return roff
    m = re.search(rf"^\.SS {NAME} {verb}$(.*?)(?=^\.S[HS] )", roff, re.M | re.S)
    return m[0] if m else ""


def rendered(page):
    """The words of the page as a reader sees them, or None."""
    for command in (["mandoc", "-Tutf8"], ["groff", "-man", "-Tutf8", "-P-c"]):
        if shutil.which(command[0]):
            text = re.sub(r".\x08", "", run(*command, page))
            return " ".join(text.split())
    return None


def pieces(text):
    """What of a help text must stand in the page: every line of usage or example, every paragraph, every option."""
    for block in re.split(r"\n{2,}", text.strip()):
        lines = block.split("\n")
        head = lines[0]
        if head.startswith("usage: "):
            yield from (line.removeprefix("usage: ") for line in lines)
        elif head in ("options:", "examples:") or all(line.startswith("  ") for line in lines):
            option = []
            for line in lines:
                if re.match(r" {3,}", line) and option:
                    option.append(line)
                    continue
                yield " ".join(option)
                option = [line] if line.startswith("  -") else []
                if not option and not line.endswith("s:"):
                    yield line
            yield " ".join(option)
        else:
            yield " ".join(lines).removeprefix("exit codes: ")


def warnings(page):
    """What renderers complain about."""
    met = 0
    if shutil.which("mandoc"):
        met += 1
        result = subprocess.run(["mandoc", "-Tlint", "-W", "warning", page], capture_output=True, text=True)
        check(not result.stdout and not result.stderr, f"mandoc: {result.stdout}{result.stderr}")
    if shutil.which("groff"):
        met += 1
        result = subprocess.run(["groff", "-ww", "-z", "-man", "-Tutf8", page], capture_output=True, text=True)
        check(not result.returncode and not result.stderr, f"groff: {result.stderr}")
    if not met:
        print("note: neither mandoc nor groff is there: the page is read, not rendered")


def check_page(page):
    general = run(DSTOK, "--help")
    verbs = re.findall(r"^  ([a-z0-9-]+) {2,}\S", general.split("examples:")[0].split(f"  {NAME} ")[0], re.M)
    check(len(verbs) >= 5, f"only {len(verbs)} verbs in the general help")
    roff, whole, n = page.read_text(encoding="utf-8"), rendered(page), 0
    for verb, text in [("", general), *((verb, run(DSTOK, verb, "--help")) for verb in verbs)]:
        check(not verb or "--help" in text, f"{verb}: no options in its help")
        part = plain(section(roff, verb))
        for piece in pieces(text):
            wanted = " ".join(piece.split())
            n += bool(wanted)
            check(wanted in part, f"the page lacks, of `{NAME} {verb} --help`: {wanted}")
            check(whole is None or wanted in whole, f"the rendered page lacks, of `{NAME} {verb} --help`: {wanted}")
    check(n > 90, f"only {n} pieces of help were compared")
    print(f"man: {len(verbs)} verbs, {n} pieces of help in the page{' and rendered' if whole else ''}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, f"{NAME}.1")
        run(sys.executable, MAKER, "-o", made, DSTOK)
        again = pathlib.Path(folder, "again.1")
        run(sys.executable, MAKER, "-o", again, DSTOK)
        check(made.read_bytes() == again.read_bytes(), "two runs give two pages")
        page = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else made
        check(page.read_bytes() == made.read_bytes(), f"{page} is not what the program makes now")
        warnings(page)
        check_page(page)
    for line in failures:
        print(line, file=sys.stderr)
    print(f"man: {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
