# SPDX-License-Identifier: MIT
"""Units, lines and graphemes of the library against Python's own: len(str), UTF-16, lines, \\X of the package regex.

    DSTOK_BUILD=build/release build/venv/bin/python tests/refs/units.py [--texts N] [--seed N]
The texts are made of what is hard: families, flags, marks, Hangul, Indic clusters, BOM, NUL, line breaks, bytes that are no
UTF-8. Every place of a text goes there and back. Without regex 2024.11.6 graphemes are left out. Exit 1 on a difference."""
import argparse
import ctypes
import os
import random
import re
import sys

PIECES = [
    "a", "b ", "word ", "\u00e9", "e\u0301", "\u0301", "\u0323\u0345", "\u00df", "\u03a9", "\u4f60", "\u597d", "\u3002", "\u3042\u3099",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd", "\u2764\ufe0f", "1\ufe0f\u20e3", "\u200d", "\u200c", "\ufe0f",
    "\U0001f1e9\U0001f1ea", "\U0001f1e9", "\U0001f3f4\U000e0067\U000e0062\U000e007f", "\U0001f600", "\U00020000", "\U0010ffff",
    "\u1100\u1161\u11a8", "\u1100", "\u1161", "\uac00\u11a8", "\uac01", "\u0915\u094d\u0937", "\u0915\u094d\u200d\u0937", "\u0939\u093f",
    "\u0d15\u0d4d\u0d2f", "\u0e33", "\u0e40\u0e01", "\u0600\u06dd1", "\u0b95\u0bcd", "\ufeff", "\x00", "\x07", "\x7f", "\u00ad", "\ufffd",
    "\n", "\r", "\r\n", "\n\r", "\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\u00a0", "\u3000", "\u202e",
]
BROKEN = [b"\xff", b"\x80", b"\xc3", b"\xe4\xbd", b"\xe4", b"\xf0\x9f\x98", b"\xf0\x9f", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80",
          b"\xf5", b"\xe0\x80\x80"]
BYTE, CHAR, UTF16 = range(3)
GRAPHEME = 0


class Span(ctypes.Structure):
    _fields_ = [("begin", ctypes.c_uint64), ("end", ctypes.c_uint64)]


class Place(ctypes.Structure):
    _fields_ = [("line", ctypes.c_uint64), ("column", ctypes.c_uint64)]


def load():
    path = os.path.join(os.environ.get("DSTOK_BUILD", "build/release"), "libdstok.so")
    if not os.path.exists(path):
        print(f"SKIPPED: there is no {path} (a build without a shared library)")
        sys.exit(77)
    lib = ctypes.CDLL(os.path.abspath(path))
    lib.dstok_text_length.restype = ctypes.c_size_t
    size, number, data = ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p
    lib.dstok_text_length.argtypes = [data, size, number]
    for name in ("dstok_spans_convert", "dstok_spans_to_bytes"):
        getattr(lib, name).argtypes = [data, size, ctypes.POINTER(Span), size, number]
    lib.dstok_places.argtypes = [data, size, ctypes.POINTER(ctypes.c_uint64), size, number, ctypes.POINTER(Place)]
    lib.dstok_places_to_bytes.argtypes = [data, size, ctypes.POINTER(Place), size, number, ctypes.POINTER(ctypes.c_uint64)]
    lib.dstok_break_last.argtypes = [data, size, ctypes.c_uint64, ctypes.c_uint64, number, ctypes.POINTER(ctypes.c_uint64)]
    lib.dstok_breaks.argtypes = [data, size, number, ctypes.POINTER(Span), size, ctypes.POINTER(size)]
    return lib


def characters(text):
    """(byte where it begins, its str) of each character; a maximal ill-formed subpart is U+FFFD."""
    out, at = [], 0
    while at < len(text):
        try:
            good, bad = text[at:].decode(), 0
        except UnicodeDecodeError as e:
            good, bad = text[at:at + e.start].decode(), e.end - e.start
        for char in good:
            out.append((at, char))
            at += len(char.encode())
        if bad > 0:
            out.append((at, "\ufffd"))
            at += bad
    return out


def units_of(char, unit):
    return len(char.encode("utf-16-le")) // 2 if unit == UTF16 else 1


def check(is_right, what, text):
    if not is_right:
        print(f"units.py: {what}: {text!r}")
        sys.exit(1)


def check_spans(lib, text, chars, unit, rng):
    """Each character, and spans of several, there and back."""
    starts = [at for at, _ in chars] + [len(text)]
    before = [0]
    for _, char in chars:
        before.append(before[-1] + units_of(char, unit))
    pairs = [(i, i + 1) for i in range(len(chars))]
    pairs += [tuple(sorted(rng.choices(range(len(starts)), k=2))) for _ in range(20)]
    spans = (Span * len(pairs))(*[Span(starts[i], starts[k]) for i, k in pairs])
    check(lib.dstok_spans_convert(text, len(text), spans, len(pairs), unit) == 0, "status there", text)
    check([(s.begin, s.end) for s in spans] == [(before[i], before[k]) for i, k in pairs], f"unit {unit}", text)
    check(lib.dstok_spans_to_bytes(text, len(text), spans, len(pairs), unit) == 0, "status back", text)
    check([(s.begin, s.end) for s in spans] == [(starts[i], starts[k]) for i, k in pairs], f"unit {unit} back", text)
    pairs = [i for i in range(len(chars)) if units_of(chars[i][1], unit) == 2]  # their halves stand for the whole
    halves = [Span(before[i] + half, before[i] + half + 1) for i in pairs for half in (0, 1)]
    spans = (Span * len(halves))(*halves)
    check(lib.dstok_spans_to_bytes(text, len(text), spans, len(spans), unit) == 0, "status of halves", text)
    check([(s.begin, s.end) for s in spans] == [(starts[i], starts[i + 1]) for i in pairs for _ in "12"], "halves", text)


def check_places(lib, text, chars, unit):
    ends = [m.end() for m in re.finditer("\r\n|[\n\r\u2028\u2029]", "".join(c for _, c in chars))]
    want, line, column = [], 1, 1
    for i, (_, char) in enumerate(chars):
        if ends and i == ends[0]:
            line, column = line + 1, 1
            ends.pop(0)
        want.append((line, column))
        column += units_of(char, unit)
    n = len(chars)
    at = (ctypes.c_uint64 * n)(*[a for a, _ in chars])
    places, back = (Place * n)(), (ctypes.c_uint64 * n)()
    check(lib.dstok_places(text, len(text), at, n, unit, places) == 0, "status of places", text)
    check([(p.line, p.column) for p in places] == want, f"places in unit {unit}", text)
    check(lib.dstok_places_to_bytes(text, len(text), places, n, unit, back) == 0, "status of places back", text)
    check(list(back) == list(at), f"places back from unit {unit}", text)


def check_graphemes(lib, text, chars, regex):
    spans, n = (Span * len(text))(), ctypes.c_size_t()
    check(lib.dstok_breaks(text, len(text), GRAPHEME, spans, len(text), ctypes.byref(n)) == 0, "status of breaks", text)
    starts = [at for at, _ in chars]
    want = [starts[m.start()] for m in regex.finditer(r"\X", "".join(c for _, c in chars))]
    check([s.begin for s in spans[:n.value]] == want, "graphemes", text)
    begins, cut = set(want), ctypes.c_uint64()
    for at in range(len(text)):
        last = at if at in begins else last
        lib.dstok_break_last(text, len(text), 0, at, GRAPHEME, ctypes.byref(cut))
        check(cut.value == last, f"the last grapheme before byte {at}", text)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--texts", type=int, default=500)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    lib, rng = load(), random.Random(a.seed)
    try:
        import regex
    except ImportError:
        regex = None
    if regex is None or regex.__version__ != "2.5.148":  # the package 2024.11.6: Unicode 16.0
        print("units.py: regex 2024.11.6 is not here: graphemes are left out")
        regex = None
    for _ in range(a.texts):
        share = rng.choice([0, 0, 0.1, 0.5])
        parts = [rng.choice(BROKEN) if rng.random() < share else rng.choice(PIECES).encode() for _ in range(rng.randint(1, 60))]
        text = b"".join(parts) * rng.choice([1, 1, 1, 40])
        chars = characters(text)
        decoded = text.decode("utf-8", "replace")
        check("".join(c for _, c in chars) == decoded, "characters of this script", text)
        check(lib.dstok_text_length(text, len(text), CHAR) == len(decoded), "len", text)
        check(lib.dstok_text_length(text, len(text), UTF16) == len(decoded.encode("utf-16-le")) // 2, "UTF-16 length", text)
        for unit in (CHAR, UTF16):
            check_spans(lib, text, chars, unit, rng)
            check_places(lib, text, chars, unit)
        if regex is not None:
            check_graphemes(lib, text, chars, regex)
    print(f"units.py: {a.texts} texts" + ("" if regex is None else ", with graphemes"))


if __name__ == "__main__":
    main()
