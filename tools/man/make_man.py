#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the manual page of dstok or dsexplain out of what `--help` and `VERB --help` print.

usage: make_man.py -o dstok.1 [--changes debian/changelog] PROGRAM [ARGUMENT...]

PROGRAM and what follows is the command to run (a program, or an emulator and a program). The date of the page is that of
SOURCE_DATE_EPOCH or of the newest entry of the change log: the same source gives the same page.
"""
import argparse
import datetime
import email.utils
import os
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]


class HelpError(Exception):
    """The help text does not have the form that the page is made from."""


# ---- reading help texts

def ask(command, *arguments):
    result = subprocess.run([*command, *arguments], capture_output=True, text=True, encoding="utf-8")
    if result.returncode or not result.stdout:
        raise HelpError(f"{' '.join([*command, *arguments])}: code {result.returncode}: {result.stderr.strip()}")
    return result.stdout


def paragraphs(text):
    """Blocks of lines between empty lines."""
    return [block.split("\n") for block in re.split(r"\n{2,}", text.strip("\n"))]


def verbs_of(text):
    """(verb, what it does) in the general help: the first block that is indented lines of two columns."""
    for block in paragraphs(text):
        rows = [re.fullmatch(r"  ([a-z][a-z0-9-]*) {2,}(\S.*)", line) for line in block]
        if all(rows):
            return [row.groups() for row in rows]
    raise HelpError("the general help lists no verbs")


def options_of(lines):
    """(option and value, text) of a block of options: two blanks before an option, more before its text."""
    found = []
    for line in lines:
        if re.match(r"  -", line):
            found.append([line.strip(), []])
        elif line.startswith("   ") and found:
            found[-1][1].append(line.strip())
        else:
            raise HelpError(f"not a line of options: {line!r}")
    return [(name, " ".join(text)) for name, text in found]


# ---- writing roff

ESCAPES = (("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"), ("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti"))


def escape(text):
    """Text that roff sets as it is."""
    for char, code in ESCAPES:
        text = text.replace(char, code)
    return "\\&" + text if text.startswith(".") else text


def filled(lines):
    """Running text, in source lines that stay short when escaped."""
    text = " ".join(line.strip() for line in lines)
    return [escape(line) for line in textwrap.wrap(text, 60, break_long_words=False, break_on_hyphens=False)]


def literal(lines):
    """Lines set as they stand."""
    return [".PP", ".RS 4", ".nf", *(escape(line) for line in lines), ".fi", ".RE"]


def usage(name, lines):
    """The usage block: every line begins with the program, or goes on with the line before."""
    first = re.sub(r"^usage: ", "", lines[0])
    rest = [line[len("usage: "):] if line.startswith("       ") else line for line in lines[1:]]
    return [".nf", *(re.sub(rf"^{name}\b( [a-z][a-z0-9-]*\b)?", r"\\fB\g<0>\\fR", escape(line)) for line in (first, *rest)), ".fi"]


def option(name, text):
    """One option: its names bold, its value in italics."""
    parts = []
    for part in name.split(", "):
        flag, _, value = part.partition(" ")
        parts.append(f"\\fB{escape(flag)}\\fR" + (f" \\fI{escape(value)}\\fR" if value else ""))
    return [".TP", ", ".join(parts), *filled([text])]


def prose(lines):
    """A paragraph, or a table whose lines are indented."""
    if all(line.startswith("  ") for line in lines):
        return literal([line[2:] for line in lines])
    return [".PP", *filled(lines)]


def example_lines(lines):
    return literal([line.removeprefix("  ") for line in lines])


def verb_section(name, verb, text):
    """The part of the page for one verb."""
    out = [f".SS {name} {verb}"]
    for i, block in enumerate(paragraphs(text)):
        if i == 0:
            if not block[0].startswith(f"usage: {name} {verb}"):
                raise HelpError(f"{verb}: the help does not begin with its usage")
            out += usage(name, block)
        elif block[0] == "options:":
            for flags, description in options_of(block[1:]):
                out += option(flags, description)
        elif block[0] == "examples:":
            out += [".PP", "Examples:", *example_lines(block[1:])]
        else:
            out += prose(block)
    return out


def page(general, verb_help, date, version):
    """The whole page."""
    blocks = paragraphs(general)
    title = re.fullmatch(r"(\w+) - (.+)", blocks[0][0])
    if not title or len(blocks[0]) != 1 or not blocks[1][0].startswith("usage: "):
        raise HelpError("the general help does not begin with what the program is and its usage")
    name = title[1]
    out = [f'.\\" Made by make_man.py from the help texts of {name}. Do not edit.',
           f'.TH {name.upper()} 1 "{date}" "{name} {version}" "User Commands"', ".nh", ".ad l",
           ".SH NAME", f"{name} \\- {escape(title[2])}",
           ".SH SYNOPSIS", *usage(name, blocks[1]),
           ".SH DESCRIPTION"]
    examples, codes = [], []
    for block in blocks[2:]:
        if block[0] == "examples:":
            examples = example_lines(block[1:])
        elif block[0].startswith("exit codes: "):
            codes = filled([block[0].removeprefix("exit codes: "), *block[1:]])
        else:
            out += prose(block)
    out.append(".SH VERBS")
    for verb, text in verb_help:
        out += verb_section(name, verb, text)
    out += [".SH EXIT STATUS", *codes, ".SH EXAMPLES", *examples]
    lines = [line for line in out if line]
    kept = [line for i, line in enumerate(lines) if line != ".PP" or not lines[i - 1].startswith((".SH", ".SS"))]
    return "\n".join(kept) + "\n"


def date_of(changes):
    if os.environ.get("SOURCE_DATE_EPOCH"):
        when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    else:
        when = email.utils.parsedate_to_datetime(re.search(r"^ -- .*>  (.+)$", changes.read_text(), re.M)[1])
    return when.strftime("%Y-%m-%d")


def make(command, changes):
    general = ask(command, "--help")
    verb_help = [(verb, ask(command, verb, "--help")) for verb, _ in verbs_of(general)]
    version = re.search(r"\d+\.\d+\.\d+", ask(command, "--version"))
    if not version:
        raise HelpError("--version shows no version")
    return page(general, verb_help, date_of(changes), version[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", dest="out", required=True, type=pathlib.Path)
    parser.add_argument("--changes", type=pathlib.Path, default=ROOT / "debian/changelog")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    if not args.command:
        parser.error("which program?")
    try:
        text = make(args.command, args.changes)
    except HelpError as error:
        sys.exit(f"make_man.py: {error}")
    args.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
