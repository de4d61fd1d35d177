#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Writes data/unicode/break_tables.c and tests/unit/break_golden.h from regex 2024.11.6.
"""gen_breaks.py [ROOT]

Writes ROOT/data/unicode/break_tables.c and ROOT/tests/unit/break_golden.h (ROOT: the repository): the classes of
UAX #29 for each code point. The output depends on nothing but this file, gen_unicode.py and the package regex
2024.11.6, byte for byte. That package has the properties of Unicode 16.0: check_version compares its assigned
code points and marks with unicodedata2 16.0.0.
"""
import os
import sys

import gen_unicode

try:
    import regex
except ImportError:
    sys.exit("gen_breaks.py: needs regex==2024.11.6 (python3 -m pip install regex==2024.11.6)")

REGEX = "2.5.148"  # what the package 2024.11.6 calls itself
LAST = gen_unicode.LAST
PAGE_BITS = gen_unicode.PAGE_BITS

# In the order of the enums in breaks.h; ours by the values they are made of. A class without letters in front is
# the property's value; GCB=Extend is split by Indic_Conjunct_Break, Other by it and by Extended_Pictographic.
GRAPHEME = ("Other CR LF Control Extend Linker ZWNJ ZWJ Regional_Indicator Prepend SpacingMark L V T LV LVT "
            "Pictographic Consonant").split()
WORD = ("Other CR LF Newline Extend Format ZWJ Regional_Indicator Katakana Hebrew_Letter ALetter Single_Quote "
        "Double_Quote MidNumLet MidLetter MidNum Numeric ExtendNumLet WSegSpace Pictographic ALetter_Pictographic").split()
SENTENCE = "Other CR LF Sep Extend Format Sp Lower Upper OLetter Numeric ATerm SContinue STerm Close".split()

ALL = "".join(map(chr, range(LAST + 1)))


def having(name, value):
    """The code points whose property has the value."""
    points = set()
    for match in regex.finditer(r"\p{%s=%s}+" % (name, value), ALL):
        points.update(range(*match.span()))
    return points


def values(name, wanted):
    """The number of the class of each code point, where the classes are values of one property."""
    classes = bytearray(LAST + 1)
    for number, value in enumerate(wanted):
        for cp in having(name, value) if number > 0 else ():
            assert classes[cp] == 0, (name, value, hex(cp))
            classes[cp] = number
    known = set(having(name, "Other")) | {cp for cp in range(LAST + 1) if classes[cp]}
    assert len(known) == LAST + 1, name  # no value was forgotten
    return classes


def split(classes, names, old, new, points):
    """Gives the points, all of the class `old`, the class `new`."""
    for cp in points:
        assert classes[cp] == names.index(old), (new, hex(cp))
        classes[cp] = names.index(new)


def classes():
    """Three classes for each code point."""
    pictographic = having("Extended_Pictographic", "Yes")
    plain = [v for v in GRAPHEME if v not in ("Linker", "ZWNJ", "Pictographic", "Consonant")]
    found = values("Grapheme_Cluster_Break", plain)
    grapheme = bytearray(GRAPHEME.index(plain[c]) for c in found)
    split(grapheme, GRAPHEME, "Other", "Pictographic", pictographic)
    split(grapheme, GRAPHEME, "Other", "Consonant", having("Indic_Conjunct_Break", "Consonant"))
    split(grapheme, GRAPHEME, "Extend", "Linker", having("Indic_Conjunct_Break", "Linker"))
    split(grapheme, GRAPHEME, "Extend", "ZWNJ", {0x200C})
    extend = {cp for cp in range(LAST + 1) if grapheme[cp] in (GRAPHEME.index("Extend"), GRAPHEME.index("ZWJ"))}
    assert extend == having("Indic_Conjunct_Break", "Extend")
    word = values("Word_Break", [v for v in WORD if not v.endswith("Pictographic")])
    letters = {cp for cp in pictographic if word[cp] == WORD.index("ALetter")}
    split(word, WORD, "ALetter", "ALetter_Pictographic", letters)
    split(word, WORD, "Other", "Pictographic", pictographic - letters)
    return grapheme, word, values("Sentence_Break", SENTENCE)


def check_version(ucd):
    """Is the package's Unicode that of unicodedata2?"""
    assert regex.__version__ == REGEX, "regex is %s, not 2024.11.6" % regex.__version__
    for category in ("Cn", "Mn", "Mc", "Me", "Cf", "Lo", "Nd"):
        theirs = {cp for cp in range(LAST + 1) if ucd.category(chr(cp)) == category}
        assert having("General_Category", category) == theirs, category


def pages_of(records):
    """Which distinct page each run of code points has, and the distinct pages."""
    size, numbers, distinct = 1 << PAGE_BITS, [], {}
    for at in range(0, LAST + 1, size):
        numbers.append(distinct.setdefault(tuple(records[at:at + size]), len(distinct)))
    assert len(distinct) <= 256
    return numbers, [record for page in distinct for record in page]


def numbers_of(items):
    """Lines of numbers for a C array."""
    lines, line = [], "   "
    for item in items:
        if len(line) + len(str(item)) + 2 > 108:
            lines.append(line)
            line = "   "
        line += " %d," % item
    return "\n".join(lines + [line])


def table_source(grapheme, word, sentence):
    records = [g | w << 5 | s << 10 for g, w, s in zip(grapheme, word, sentence)]
    numbers, flat = pages_of(records)
    size = len(numbers) + 2 * len(flat)
    return "\n".join([
        "/* SPDX-License-Identifier: MIT */",
        "/* The classes of UAX #29, Unicode %s, as a two-stage table. */" % gen_unicode.UNICODE,
        "/* Generated by data/unicode/gen_breaks.py from regex 2024.11.6; do not edit.",
        " * %d pages of %d records, %d distinct; %d bytes in all. */" % (len(numbers), 1 << PAGE_BITS,
                                                                     len(flat) >> PAGE_BITS, size),
        '#include "breaks.h"',
        "",
        "/* clang-format off */",
        "const uint8_t dstok__break_pages[%d] = {" % len(numbers), numbers_of(numbers), "};",
        "",
        "const uint16_t dstok__break_records[%d] = {" % len(flat), numbers_of(flat), "};",
        "/* clang-format on */",
        ""])


def golden_source(grapheme, word, sentence):
    hashes = [(n, gen_unicode.xxh64(bytes(c))) for n, c in (("GRAPHEME", grapheme), ("WORD", word), ("SENTENCE", sentence))]
    return "\n".join([
        "/* SPDX-License-Identifier: MIT */",
        "/* XXH64 of the classes of UAX #29, a byte a code point, for test_breaks.c. */",
        "/* Generated by data/unicode/gen_breaks.py from regex 2024.11.6; do not edit. */",
        "#ifndef DSTOK_TEST_BREAK_GOLDEN_H",
        "#define DSTOK_TEST_BREAK_GOLDEN_H",
        "",
        *("#define GOLDEN_%s 0x%016Xu" % item for item in hashes),
        "",
        "#endif",
        ""])


def outputs():
    """The generated files: path in the repository, text."""
    check_version(gen_unicode.ucd)
    found = classes()
    return {"data/unicode/break_tables.c": table_source(*found), "tests/unit/break_golden.h": golden_source(*found)}


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(here))
    for path, text in outputs().items():
        with open(os.path.join(root, path), "w", encoding="ascii", newline="\n") as file:
            file.write(text)


if __name__ == "__main__":
    main()
