# SPDX-License-Identifier: MIT
"""Seeded random texts for the comparison with the reference tokenizers: classes, real text with faults, tokens, storms."""
import lzma
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import common  # noqa: E402

BLANKS = " \t\n\r\x0b\x0c\x85\xa0\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
RANGES = {
    "lower": [(0x61, 0x7A)], "upper": [(0x41, 0x5A)], "digits": [(0x30, 0x39)], "punctuation": [(0x21, 0x2F), (0x3A, 0x40)],
    "controls": [(0x00, 0x1F), (0x7F, 0x9F)], "latin": [(0xA1, 0x24F)], "marks": [(0x300, 0x36F), (0x61, 0x7A)],
    "greek": [(0x370, 0x3FF)], "cyrillic": [(0x400, 0x52F)], "hebrew": [(0x590, 0x5FF)], "arabic": [(0x600, 0x6FF)],
    "indic": [(0x900, 0x97F), (0xB80, 0xBFF)], "thai": [(0xE00, 0xE7F)], "georgian": [(0x10A0, 0x10FF), (0x1C90, 0x1CBF)],
    "jamo": [(0x1100, 0x11FF)], "hangul": [(0xAC00, 0xD7A3)], "vietnamese": [(0x1E00, 0x1EFF)],
    "spaces": [(0x2000, 0x200F), (0x2028, 0x202F)], "symbols": [(0x2010, 0x2BFF)], "numbers": [(0x2070, 0x209C), (0x2150, 0x218B), (0x2460, 0x24FF)],
    "cjk punctuation": [(0x3000, 0x303F), (0xFF00, 0xFFEF)], "kana": [(0x3041, 0x30FF)], "han": [(0x4E00, 0x9FFF)],
    "rare han": [(0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x30000, 0x323AF)], "compatibility": [(0xF900, 0xFB4F)],
    "emoji": [(0x1F300, 0x1FAFF), (0x200D, 0x200D), (0xFE0F, 0xFE0F)], "mathematical": [(0x1D400, 0x1D7FF)],
    "new": [(0x16D40, 0x16D79), (0x10D40, 0x10D8F), (0x1C80, 0x1C8A), (0x2EBF0, 0x2EE5D)],
    "private": [(0xE000, 0xF8FF), (0xFFF0, 0xFFFF), (0xE0000, 0xE01FF), (0x10FFF0, 0x10FFFF)],
    "any": [(0, 0xD7FF), (0xE000, 0x1FFFF)],
}
POOLS = {name: "".join(chr(c) for first, last in ranges for c in range(first, last + 1)) for name, ranges in RANGES.items()}
SNIPPETS = ["'s", "'S", "'ll", "'VE", "'\u017f", "\u2019s", "don't", "I'M", "\r\n", "\n\n", " \n ", "  ", "   x", "\xa0", "\x85", "123",
            "1234", "a/\n", "//\r\n", "</", "<|", "|>", "\uff5c", "CamelCase", "HTTPServer", "...", "==", "\ufeff", "a\u0301", "\u0344",
            "\u1100\u1161\u11a8", "\u212b", "\u0958", "\U0001d15e", "e\u0323\u0302", "\u0130", "\u01c5"]


class Texts:
    """tokens: the tokens of the vocabulary as bytes; specials: texts of its added tokens."""

    def __init__(self, rng, tokens, specials):
        self.rng = rng
        self.tokens = tokens
        self.specials = specials or ["<|endoftext|>"]
        self.real = []
        for name in ("en", "zh", "code"):
            path = os.path.join(common.SHARED, "text", name + ".txt.xz")
            if os.path.exists(path):
                with lzma.open(path, "rt", encoding="utf-8", newline="") as source:
                    self.real.append(source.read(1 << 22))

    def length(self):
        """Mostly short, now and then long."""
        return self.rng.choice((5, 20, 60, 60, 200, 200, 600, 1500, 1500, 6000))

    def classes(self, n):
        rng = self.rng
        pools = [POOLS[name] for name in rng.sample(sorted(POOLS), rng.randint(1, 4))]
        if rng.random() < 0.5:
            pools += [POOLS["lower"], " "]
        out = []
        while n > 0:
            what = rng.random()
            k = min(n, rng.randint(1, 10))
            if what < 0.1:
                out.append(rng.choice(SNIPPETS))
            elif what < 0.2:
                out.append(rng.choice(rng.choice(pools)) * k)
            else:
                out.append("".join(rng.choices(rng.choice(pools), k=k)))
            n -= k
        return "".join(out)

    def mutant(self, n):
        rng = self.rng
        if not self.real:
            return self.classes(n)
        source = rng.choice(self.real)
        at = rng.randrange(max(1, len(source) - n))
        text = list(source[at:at + n])
        for _ in range(rng.choice((0, 0, 1, 3, n // 20))):
            k = rng.randrange(len(text)) if text else 0
            what = rng.randrange(5)
            if what == 0:
                text[k:k + 1] = rng.choice(rng.choice(sorted(POOLS.values())))
            elif what == 1:
                text[k:k + rng.randint(1, 4)] = []
            elif what == 2:
                text[k:k] = text[k:k + 1] * rng.randint(1, 40)
            elif what == 3:
                text[k:k] = rng.choice(SNIPPETS)
            else:
                text[k:k + 1] = text[k].swapcase() if text else ""
        return "".join(text)

    def joined(self, n):
        """Random tokens; bytes that do not make a character are left out."""
        out, size = [], 0
        pool = self.tokens[:3000] if self.rng.random() < 0.3 else self.tokens
        while size < n:
            out.append(self.rng.choice(pool))
            size += len(out[-1])
        return b"".join(out).decode("utf-8", "ignore")

    def storm(self, n):
        """Blanks and line ends with a little between."""
        rng = self.rng
        pool = rng.choice((" \n", " \n\r\t", BLANKS, "\n", " ", " \na", "\r\n "))
        return "".join(rng.choices(pool, k=min(n, 400)))

    def sprinkled(self, n):
        """Special tokens, whole and with faults, in other text."""
        rng, out = self.rng, []
        for _ in range(rng.randint(1, 5)):
            out.append(rng.choice((self.classes, self.mutant, self.joined, self.storm))(max(1, n // 5)))
            special = rng.choice(self.specials)
            what = rng.randrange(6)
            cut = rng.randrange(len(special) + 1)
            out.append(special * 2 if what == 0 else special[:cut] if what == 1 else special[:cut] + special if what == 2
                       else " " + special + " " if what == 3 else special)
        return "".join(out)

    def one(self):
        make = self.rng.choice((self.classes, self.classes, self.mutant, self.mutant, self.joined, self.joined, self.storm,
                                self.sprinkled))
        return make(self.length())

    def batch(self, n_bytes):
        """Texts of n_bytes in all."""
        out, size = [], 0
        while size < n_bytes:
            out.append(self.one())
            size += len(out[-1].encode())
        return out

    def broken(self):
        """Bytes: a text with some that are not UTF-8."""
        rng = self.rng
        data = bytearray(self.one()[:400].encode())
        for _ in range(rng.choice((0, 1, 1, 2, 5))):
            k = rng.randrange(len(data) + 1)
            what = rng.randrange(4)
            if what == 0:
                data[k:k] = bytes(rng.choices(range(0x80, 0x100), k=rng.randint(1, 4)))
            elif what == 1:
                del data[k:k + rng.randint(1, 3)]
            elif what == 2:
                del data[k:]
            else:
                data[k:k] = rng.choice(self.tokens)
        return bytes(data)
