#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Writes data/unicode/unicode_tables.c and tests/unit/unicode_golden.h from unicodedata2 16.0.0.
"""gen_unicode.py [ROOT]

Writes ROOT/data/unicode/unicode_tables.c and ROOT/tests/unit/unicode_golden.h (ROOT: the repository). The
output depends on nothing but this file and unicodedata2 16.0.0, byte for byte. What unicodedata2 does not
hold stands below as constants, each with its origin.
"""
import os
import re
import struct
import sys

try:
    import unicodedata2 as ucd
except ImportError:
    sys.exit("gen_unicode.py: needs unicodedata2==16.0.0 (python3 -m pip install unicodedata2==16.0.0)")

UNICODE = "16.0.0"
LAST = 0x10FFFF
PAGE_BITS = 7

# The categories in the order of the enum in unicode.h.
CATEGORIES = (
    "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co".split()
)

# PropList.txt, White_Space: 25 code points, the same since Unicode 6.3.
WHITE_SPACE = "9-D 20 85 A0 1680 2000-200A 2028-2029 202F 205F 3000"

# PropList.txt, Join_Control.
JOIN_CONTROL = "200C-200D"

# PropList.txt, Other_Alphabetic, less its marks, which are word characters anyway: circled, squared and
# negative Latin letters, which are symbols (So).
ALPHABETIC_SYMBOLS = "24B6-24E9 1F130-1F149 1F150-1F169 1F170-1F189"

# Scripts.txt, Script=Han: every character whose name starts as below, and the iteration marks, the zero, the
# Hangzhou numerals, and the Chinese marks of the Ideographic Symbols block.
HAN_NAMES = ("CJK UNIFIED IDEOGRAPH-", "CJK COMPATIBILITY IDEOGRAPH-", "CJK RADICAL ", "KANGXI RADICAL ")
HAN_OTHERS = "3005 3007 3021-3029 3038-303B 16FE2-16FE3 16FF0-16FF1"

# Assigned in 16.0, not in 9.0. Derived once with perl 5.36 (Unicode 14.0): those that do not match
# /\p{Present_In: 9.0}/; what is younger than 14.0 does not match either. The matching ones, less the 66
# noncharacters, are what unicodedata2 9.0.0 calls assigned, on every code point.
YOUNGER_THAN_9 = """
560 588 5EF 61D 7FD-7FF 860-86A 870-88E 890-891 897-89F 8B5 8BE-8D3 9FC-9FE A76 AFA-AFF B55 C04 C3C C5D C77
C84 CDD CF3 D00 D04 D3B-D3C D81 E86 E89 E8C E8E-E93 E98 EA0 EA8-EA9 EAC EBA ECE 170D 1715 171F 180F 1878
1ABF-1ACE 1B4C 1B4E-1B4F 1B7D-1B7F 1C89-1C8A 1C90-1CBA 1CBD-1CBF 1CF7 1CFA 1DF6-1DFA 20BF-20C0 23FF
2427-2429 2B97 2BBA-2BBC 2BC9 2BD2-2BEB 2BF0-2BFF 2C2F 2C5F 2E45-2E5D 2FFC-2FFF 312E-312F 31BB-31BF
31E4-31E5 31EF 32FF 4DB6-4DBF 9FD6-9FFF A7AF A7B8-A7CD A7D0-A7D1 A7D3 A7D5-A7DC A7F2-A7F6 A82C A8FE-A8FF
AB66-AB6B FBC2 FD40-FD4F FDCF FDFE-FDFF 1019C 1032D-1032F 10570-1057A 1057C-1058A 1058C-10592 10594-10595
10597-105A1 105A3-105B1 105B3-105B9 105BB-105BC 105C0-105F3 10780-10785 10787-107B0 107B2-107BA 10A34-10A35
10A48 10D00-10D27 10D30-10D39 10D40-10D65 10D69-10D85 10D8E-10D8F 10E80-10EA9 10EAB-10EAD 10EB0-10EB1
10EC2-10EC4 10EFC-10F27 10F30-10F59 10F70-10F89 10FB0-10FCB 10FE0-10FF6 11070-11075 110C2 110CD 11144-11147
111CE-111CF 1123F-11241 1133B 11380-11389 1138B 1138E 11390-113B5 113B7-113C0 113C2 113C5 113C7-113CA
113CC-113D5 113D7-113D8 113E1-113E2 1145A 1145E-11461 116B8-116B9 116D0-116E3 1171A 11740-11746 11800-1183B
11900-11906 11909 1190C-11913 11915-11916 11918-11935 11937-11938 1193B-11946 11950-11959 119A0-119A7
119AA-119D7 119DA-119E4 11A00-11A47 11A50-11AA2 11AB0-11ABF 11B00-11B09 11BC0-11BE1 11BF0-11BF9 11D00-11D06
11D08-11D09 11D0B-11D36 11D3A 11D3C-11D3D 11D3F-11D47 11D50-11D59 11D60-11D65 11D67-11D68 11D6A-11D8E
11D90-11D91 11D93-11D98 11DA0-11DA9 11EE0-11EF8 11F00-11F10 11F12-11F3A 11F3E-11F5A 11FB0 11FC0-11FF1 11FFF
12F90-12FF2 1342F-13455 13460-143FA 16100-16139 16A70-16ABE 16AC0-16AC9 16D40-16D79 16E40-16E9A 16F45-16F4A
16F4F 16F7F-16F87 16FE1-16FE4 16FF0-16FF1 187ED-187F7 18AF3-18CD5 18CFF-18D08 1AFF0-1AFF3 1AFF5-1AFFB
1AFFD-1AFFE 1B002-1B122 1B132 1B150-1B152 1B155 1B164-1B167 1B170-1B2FB 1CC00-1CCF9 1CD00-1CEB3 1CF00-1CF2D
1CF30-1CF46 1CF50-1CFC3 1D1E9-1D1EA 1D2C0-1D2D3 1D2E0-1D2F3 1D372-1D378 1DF00-1DF1E 1DF25-1DF2A 1E030-1E06D
1E08F 1E100-1E12C 1E130-1E13D 1E140-1E149 1E14E-1E14F 1E290-1E2AE 1E2C0-1E2F9 1E2FF 1E4D0-1E4F9 1E5D0-1E5FA
1E5FF 1E7E0-1E7E6 1E7E8-1E7EB 1E7ED-1E7EE 1E7F0-1E7FE 1E94B 1EC71-1ECB4 1ED01-1ED3D 1F10D-1F10F 1F12F
1F16C-1F16F 1F1AD 1F260-1F265 1F6D3-1F6D7 1F6DC-1F6DF 1F6F7-1F6FC 1F774-1F776 1F77B-1F77F 1F7D5-1F7D9
1F7E0-1F7EB 1F7F0 1F8B0-1F8BB 1F8C0-1F8C1 1F900-1F90F 1F91F 1F928-1F92F 1F931-1F932 1F93F 1F94C-1F94F
1F95F-1F97F 1F992-1F9BF 1F9C1-1FA53 1FA60-1FA6D 1FA70-1FA7C 1FA80-1FA89 1FA8F-1FAC6 1FACE-1FADC 1FADF-1FAE9
1FAF0-1FAF8 1FB00-1FB92 1FB94-1FBF9 2A6D7-2A6DF 2B735-2B739 2CEB0-2EBE0 2EBF0-2EE5D 30000-3134A 31350-323AF
"""

# CaseFolding.txt, status C and S, as runs "first[-last][/step]+delta". Derived once from perl 5.36 (Unicode
# 14.0), Unicode::UCD::all_casefolds(), column simple. With the additions below, the classes of code points
# that fold alike are those that (?i:c) matches in tiktoken 0.14.0 (Rust regex, Unicode 16.0), for each cased
# c.
FOLDS_14 = """
41-5A+32 B5+775 C0-D6+32 D8-DE+32 100-12E/2+1 132-136/2+1 139-147/2+1 14A-176/2+1 178-121 179-17D/2+1
17F-268 181+210 182-184/2+1 186+206 187+1 189-18A+205 18B+1 18E+79 18F+202 190+203 191+1 193+205 194+207
196+211 197+209 198+1 19C+211 19D+213 19F+214 1A0-1A4/2+1 1A6+218 1A7+1 1A9+218 1AC+1 1AE+218 1AF+1
1B1-1B2+217 1B3-1B5/2+1 1B7+219 1B8+1 1BC+1 1C4+2 1C5+1 1C7+2 1C8+1 1CA+2 1CB-1DB/2+1 1DE-1EE/2+1 1F1+2
1F2-1F4/2+1 1F6-97 1F7-56 1F8-21E/2+1 220-130 222-232/2+1 23A+10795 23B+1 23D-163 23E+10792 241+1 243-195
244+69 245+71 246-24E/2+1 345+116 370-372/2+1 376+1 37F+116 386+38 388-38A+37 38C+64 38E-38F+63 391-3A1+32
3A3-3AB+32 3C2+1 3CF+8 3D0-30 3D1-25 3D5-15 3D6-22 3D8-3EE/2+1 3F0-54 3F1-48 3F4-60 3F5-64 3F7+1 3F9-7 3FA+1
3FD-3FF-130 400-40F+80 410-42F+32 460-480/2+1 48A-4BE/2+1 4C0+15 4C1-4CD/2+1 4D0-52E/2+1 531-556+48
10A0-10C5+7264 10C7+7264 10CD+7264 13F8-13FD-8 1C80-6222 1C81-6221 1C82-6212 1C83-1C84-6210 1C85-6211
1C86-6204 1C87-6180 1C88+35267 1C90-1CBA-3008 1CBD-1CBF-3008 1E00-1E94/2+1 1E9B-58 1E9E-7615 1EA0-1EFE/2+1
1F08-1F0F-8 1F18-1F1D-8 1F28-1F2F-8 1F38-1F3F-8 1F48-1F4D-8 1F59-1F5F/2-8 1F68-1F6F-8 1F88-1F8F-8
1F98-1F9F-8 1FA8-1FAF-8 1FB8-1FB9-8 1FBA-1FBB-74 1FBC-9 1FBE-7173 1FC8-1FCB-86 1FCC-9 1FD8-1FD9-8
1FDA-1FDB-100 1FE8-1FE9-8 1FEA-1FEB-112 1FEC-7 1FF8-1FF9-128 1FFA-1FFB-126 1FFC-9 2126-7517 212A-8383
212B-8262 2132+28 2160-216F+16 2183+1 24B6-24CF+26 2C00-2C2F+48 2C60+1 2C62-10743 2C63-3814 2C64-10727
2C67-2C6B/2+1 2C6D-10780 2C6E-10749 2C6F-10783 2C70-10782 2C72+1 2C75+1 2C7E-2C7F-10815 2C80-2CE2/2+1
2CEB-2CED/2+1 2CF2+1 A640-A66C/2+1 A680-A69A/2+1 A722-A72E/2+1 A732-A76E/2+1 A779-A77B/2+1 A77D-35332
A77E-A786/2+1 A78B+1 A78D-42280 A790-A792/2+1 A796-A7A8/2+1 A7AA-42308 A7AB-42319 A7AC-42315 A7AD-42305
A7AE-42308 A7B0-42258 A7B1-42282 A7B2-42261 A7B3+928 A7B4-A7C2/2+1 A7C4-48 A7C5-42307 A7C6-35384
A7C7-A7C9/2+1 A7D0+1 A7D6-A7D8/2+1 A7F5+1 AB70-ABBF-38864 FF21-FF3A+32 10400-10427+40 104B0-104D3+40
10570-1057A+39 1057C-1058A+39 1058C-10592+39 10594-10595+39 10C80-10CB2+64 118A0-118BF+32 16E40-16E5F+32
1E900-1E921+34
"""

# What Unicode 15.1 added (three pairs that differ only by a normalisation) and 16.0 (Latin Extended-D,
# Cyrillic Extended-C, Garay); 15.0 added none.
FOLDS_15_16 = "1FD3-7235 1FE3-7219 FB05+1 1C89+1 A7CB-42343 A7CC+1 A7DA+1 A7DC-42561 10D50-10D65+32"

# Letters named "... CAPITAL LETTER ..." whose fold is not the one named "... SMALL LETTER ...": check_folds
# compares all others by name.
FOLD_NOT_BY_NAME = {0x18E}  # REVERSED E folds to TURNED E

# The first halves of the pairs that test_normalize.c normalises: Latin, Greek, Cyrillic, Hangul Jamo,
# Balinese, the Latin and Greek extensions, kana, some Hangul syllables.
PAIR_BLOCKS = "20-5FF 1100-11FF 1B00-1B7F 1E00-1FFF 3040-30FF AC00-AC3F"


def ranges(text):
    """The code points of "9-D 20 ..."."""
    points = set()
    for word in text.split():
        first, _, last = word.partition("-")
        points.update(range(int(first, 16), int(last or first, 16) + 1))
    return points


def parse_folds(text):
    """The mapping that runs "first[-last][/step]+delta" stand for."""
    folds = {}
    for word in text.split():
        match = re.fullmatch(r"([0-9A-F]+)(?:-([0-9A-F]{2,}))?(/2)?([+-][0-9]+)", word)
        first, last = int(match[1], 16), int(match[2] or match[1], 16)
        for cp in range(first, last + 1, 2 if match[3] else 1):
            folds[cp] = cp + int(match[4])
    return folds


def check_folds(folds):
    """Are the folds assigned, idempotent, and those that the names of capital letters tell."""
    for cp, to in folds.items():
        assert ucd.category(chr(cp)) != "Cn" and ucd.category(chr(to)) != "Cn", hex(cp)
        assert to not in folds, hex(cp)
    for cp in range(LAST + 1):
        name = ucd.name(chr(cp), "")
        if " CAPITAL LETTER " not in name or ucd.category(chr(cp)) != "Lu" or cp in FOLD_NOT_BY_NAME:
            continue
        try:
            small = ord(ucd.lookup(name.replace(" CAPITAL LETTER ", " SMALL LETTER ")))
        except KeyError:
            continue
        assert folds.get(cp) == small, name


def second_parts(in_9):
    """The code points that may be the second half of a canonical composition, in the 9.0 view."""
    seconds = set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))  # Hangul vowels and final consonants
    for cp in in_9:
        parts = ucd.decomposition(chr(cp)).split()
        if len(parts) == 2 and not parts[0].startswith("<") and ucd.normalize("NFC", chr(cp)) == chr(cp):
            seconds.add(int(parts[1], 16))
    return seconds


def inert(form, in_9, seconds):
    """Starters that a normal form keeps. In NFC and NFKC they must not be the second half of a composition;
    then a run of them is unchanged, and text may be cut before any of them. What is not in the view is
    inert."""
    points = set()
    for cp in range(LAST + 1):
        if 0xD800 <= cp <= 0xDFFF or cp not in in_9:
            points.add(cp)
        elif ucd.combining(chr(cp)) == 0 and ucd.normalize(form, chr(cp)) == chr(cp):
            if form in ("NFD", "NFKD") or cp not in seconds:
                points.add(cp)
    return points


def check_view(in_9, seconds, inert_nfc):
    """What the normaliser relies on: decompositions stay in the view, and an inert character that decomposes
    does so to a starter that composes with nothing before it."""
    for cp in in_9:
        if 0xD800 <= cp <= 0xDFFF:
            continue
        parts = [ord(c) for c in ucd.normalize("NFKD", chr(cp))]
        assert all(p in in_9 for p in parts), hex(cp)
        head = ord(ucd.normalize("NFD", chr(cp))[0])
        if cp in inert_nfc:
            assert head not in seconds and ucd.combining(chr(head)) == 0, hex(cp)


def properties():
    """All properties: the category of each code point, the sets in the order of their bits, the folds."""
    gc = [ucd.category(chr(cp)) for cp in range(LAST + 1)]
    word_gc = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"}
    word = {cp for cp in range(LAST + 1) if gc[cp] in word_gc}
    han = {cp for cp in range(LAST + 1) if ucd.name(chr(cp), "").startswith(HAN_NAMES)}
    in_9 = {cp for cp in range(LAST + 1) if gc[cp] != "Cn"} - ranges(YOUNGER_THAN_9)
    folds = parse_folds(FOLDS_14 + FOLDS_15_16)
    check_folds(folds)
    seconds = second_parts(in_9)
    forms = {form: inert(form, in_9, seconds) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    check_view(in_9, seconds, forms["NFC"])
    sets = {
        "SPACE": ranges(WHITE_SPACE),
        "WORD": word | ranges(ALPHABETIC_SYMBOLS) | ranges(JOIN_CONTROL),
        "HAN": han | ranges(HAN_OTHERS),
        "IN_9": in_9,
        "NFC_INERT": forms["NFC"],
        "FOLDS": set(folds) | set(folds.values()),
        "NFD_INERT": forms["NFD"],
        "NFKC_INERT": forms["NFKC"],
        "NFKD_INERT": forms["NFKD"],
        "NFC_SECOND": seconds,
    }
    return gc, sets, folds


def build_pages(gc, sets):
    """The two-stage table: page numbers, and the records of the distinct pages."""
    number = {name: i for i, name in enumerate(CATEGORIES)}
    records = [number[c] for c in gc]
    for bit, points in enumerate(sets.values(), start=5):
        for cp in points:
            records[cp] |= 1 << bit
    pages, seen, out = [], {}, []
    for start in range(0, LAST + 1, 1 << PAGE_BITS):
        page = tuple(records[start : start + (1 << PAGE_BITS)])
        if page not in seen:
            seen[page] = len(seen)
            out.extend(page)
        pages.append(seen[page])
    return pages, out


def fold_runs(folds):
    """The folds as sorted runs (first, last, delta, step) that do not interleave."""
    runs = []
    for cp in sorted(folds):
        delta = folds[cp] - cp
        if runs:
            first, last, run_delta, step = runs[-1]
            gap = cp - last
            if run_delta == delta and gap in ((1, 2) if first == last else (step,)):
                runs[-1] = (first, cp, delta, gap)
                continue
        runs.append((cp, cp, delta, 1))
    return runs


def lines_of(items, width=110):
    """The items, joined with ", ", in indented lines of at most width columns."""
    line, lines = "   ", []
    for item in items:
        if len(line) + len(item) + 2 > width:
            lines.append(line)
            line = "   "
        line += " " + item + ","
    return lines + [line]


SEARCH = """\
uint32_t dstok__uc_fold(uint32_t cp) {
    if ((dstok__uc_record(cp) & DSTOK_UC_FOLDS) == 0) return cp;
    size_t low = 0, high = sizeof fold_runs / sizeof *fold_runs;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (fold_runs[middle].last < cp)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == sizeof fold_runs / sizeof *fold_runs) return cp;
    const fold_run *run = &fold_runs[low];
    if (cp < run->first || (cp - run->first) % run->step != 0) return cp;
    return (uint32_t)((int32_t)cp + run->delta);
}"""


def table_source(pages, records, runs):
    size = 2 * len(pages) + 2 * len(records) + 16 * len(runs)
    text = [
        "/* SPDX-License-Identifier: MIT */",
        "/* Unicode %s properties as two-stage tables. */" % UNICODE,
        "/* Generated by data/unicode/gen_unicode.py from unicodedata2 %s; do not edit." % UNICODE,
        " * %d pages of %d records, %d distinct; %d fold runs; %d bytes in all. */"
        % (len(pages), 1 << PAGE_BITS, len(records) >> PAGE_BITS, len(runs), size),
        '#include "unicode.h"',
        "",
        "#include <stddef.h>",
        "",
        "/* clang-format off */",
        "const uint16_t dstok__uc_pages[%d] = {" % len(pages),
        *lines_of(map(str, pages)),
        "};",
        "",
        "const uint16_t dstok__uc_records[%d] = {" % len(records),
        *lines_of(map(str, records)),
        "};",
        "",
        "/* first, first + step, ... last each fold to themselves + delta */",
        "typedef struct fold_run {",
        "    uint32_t first, last;",
        "    int32_t delta;",
        "    uint32_t step;",
        "} fold_run;",
        "",
        "static const fold_run fold_runs[%d] = {" % len(runs),
        *lines_of("{0x%X, 0x%X, %d, %d}" % run for run in runs),
        "};",
        "/* clang-format on */",
        "",
        SEARCH,
        "",
    ]
    return "\n".join(text)


PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579)
MASK = (1 << 64) - 1


def rotate(x, n):
    return ((x << n) | (x >> (64 - n))) & MASK


def xxh64(data):
    """XXH64 with seed 0 of data, whose length is a multiple of 32 and not 0."""
    p1, p2, p3, p4 = PRIMES
    lanes = [(p1 + p2) & MASK, p2, 0, -p1 & MASK]
    for stripe in struct.iter_unpack("<4Q", data):
        lanes = [rotate((a + v * p2) & MASK, 31) * p1 & MASK for a, v in zip(lanes, stripe)]
    h = sum(rotate(a, n) for a, n in zip(lanes, (1, 7, 12, 18))) & MASK
    for a in lanes:
        h = ((h ^ (rotate(a * p2 & MASK, 31) * p1 & MASK)) * p1 + p4) & MASK
    h = (h + len(data)) & MASK
    h = (h ^ (h >> 33)) * p2 & MASK
    h = (h ^ (h >> 29)) * p3 & MASK
    return h ^ (h >> 32)


def bitmap(points):
    bits = bytearray((LAST + 1) // 8)
    for cp in points:
        bits[cp >> 3] |= 1 << (cp & 7)
    return bytes(bits)


def all_alone(form, in_9):
    """Every scalar value, normalised in the 9.0 view, on a line of its own."""
    scalars = (cp for cp in range(LAST + 1) if not 0xD800 <= cp <= 0xDFFF)
    parts = (ucd.normalize(form, chr(cp)) if cp in in_9 else chr(cp) for cp in scalars)
    return "".join(part + "\n" for part in parts).encode()


def all_pairs(form, gc, sets):
    """Letters of the blocks in which much composes, each with every possible second half, one pair a line."""
    firsts = sorted(cp for cp in ranges(PAIR_BLOCKS) if gc[cp][0] == "L" and cp in sets["IN_9"])
    seconds = sorted(sets["NFC_SECOND"])
    pairs = "".join(chr(a) + chr(b) + "\n" for a in firsts for b in seconds)
    return ucd.normalize(form, pairs).encode()


def golden_source(gc, sets, folds):
    """Hashes of the properties, from the sets themselves and not from the packed tables, and of texts."""
    number = {name: i for i, name in enumerate(CATEGORIES)}
    fold_words = struct.pack("<%dI" % (LAST + 1), *(folds.get(cp, cp) for cp in range(LAST + 1)))
    values = [("GC", bytes(number[c] for c in gc)), ("FOLD", fold_words)]
    for major in "LMNPSZC":
        values.append((major, bitmap(cp for cp in range(LAST + 1) if gc[cp][0] == major)))
    for name in ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd"):
        values.append((name.upper(), bitmap(cp for cp in range(LAST + 1) if gc[cp] == name)))
    values += [(name, bitmap(points)) for name, points in sets.items()]
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        for suffix, text in ("ALONE", all_alone(form, sets["IN_9"])), ("PAIRS", all_pairs(form, gc, sets)):
            values.append(("%s_%s" % (form, suffix), text[: len(text) & ~31]))
    return "\n".join(
        [
            "/* SPDX-License-Identifier: MIT */",
            "/* XXH64 of properties and of normalised texts, for test_unicode.c and test_normalize.c. */",
            "/* Generated by data/unicode/gen_unicode.py from unicodedata2 %s; do not edit." % UNICODE,
            " * %d hashes, seed 0: GC over a byte a code point, FOLD over a little-endian uint32" % len(values),
            " * a code point, texts less the bytes after the last multiple of 32, the others over a bitmap of",
            " * %d bytes, lowest bit first. */" % ((LAST + 1) // 8),
            "#ifndef DSTOK_TEST_UNICODE_GOLDEN_H",
            "#define DSTOK_TEST_UNICODE_GOLDEN_H",
            "",
            *("#define GOLDEN_%s 0x%016Xu" % (name, xxh64(data)) for name, data in values),
            "",
            "#endif",
            "",
        ]
    )


def outputs(gc, sets, folds):
    """The generated files: path in the repository, text."""
    pages, records = build_pages(gc, sets)
    return {
        "data/unicode/unicode_tables.c": table_source(pages, records, fold_runs(folds)),
        "tests/unit/unicode_golden.h": golden_source(gc, sets, folds),
    }


def main():
    if ucd.unidata_version != UNICODE:
        sys.exit("gen_unicode.py: unicodedata2 is of Unicode %s, not %s" % (ucd.unidata_version, UNICODE))
    here = os.path.dirname(os.path.abspath(__file__))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(here))
    for path, text in outputs(*properties()).items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="ascii", newline="\n") as file:
            file.write(text)


if __name__ == "__main__":
    main()
