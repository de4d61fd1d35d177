# SPDX-License-Identifier: MIT
"""dstok trace: formats of scores, levels, sources and templates, and everything that can be wrong with them."""
import json
import math
import pathlib
import random
import re
import struct
import subprocess
import sys

from common import CliTest, DSTOK, ROOT


def npy(values, dtype="<f8", shape=None, version=1, fortran=False, header=None, pad=True):
    """What numpy.save writes, made by hand."""
    code = {"b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q", "f2": "e",
            "f4": "f", "f8": "d"}[dtype[1:]]
    shape = f"({len(values)},)" if shape is None else shape
    text = header or f"{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    size = 10 if version == 1 else 12
    text = (text + " " * (-(len(text) + size + 1) % 64) if pad else text) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    data = struct.pack(("<" if dtype[0] in "|<=" else ">") + code * len(values), *values)
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data


class Trace(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.txt", "the cat. the dog!\n\nthe end\n")  # the| |c|a|t|.|" the"| |d|o|g|!|\n|\n|the| |e|n|d|\n
        self.write("b.txt", "你好 all")
        self.tokens = {name: self.encoded(name) for name in ("a.txt", "b.txt")}

    def encoded(self, *arguments):
        return self.lines("encode", *arguments)[0]

    def scores(self, values, name="s.json"):
        return self.write(name, json.dumps(values))

    def n(self, name="a.txt"):
        return len(self.tokens[name]["ids"])

    def trace(self, *arguments, **more):
        """Spans and sums that a run prints."""
        rows = [json.loads(line) for line in self.out("trace", "--format", "json", *arguments, **more).splitlines()]
        return rows[:-1], rows[-1]

    def test_mask(self):
        mask = [0] * self.n()
        mask[0] = mask[2] = mask[3] = 1
        self.scores(mask)
        rows, sums = self.trace("--scores", "s.json", "a.txt")
        spans = self.tokens["a.txt"]["spans"]
        self.assertEqual([r["byte"] for r in rows], [spans[0], [spans[2][0], spans[3][1]]])
        self.assertEqual([(r["sum"], r["mean"], r["max"]) for r in rows], [(1, 1, 1), (2, 1, 1)])
        self.assertEqual([r["token"] for r in rows], [[0, 1], [2, 4]])
        self.assertEqual((sums["total"], sums["shown"], sums["spans"], sums["tokens"]), (3, 3, 2, self.n()))
        single, _ = self.trace("--scores", "s.json", "--join", "off", "a.txt")
        self.assertEqual(len(single), 3)

    def test_units(self):
        self.write("u.txt", "\U0001F600é\r\nx\u2028你好 the")
        n = len(self.encoded("u.txt")["ids"])
        self.scores([0] * (n - 1) + [2])
        row, = self.trace("--scores", "s.json", "u.txt")[0]
        text = "\U0001F600é\r\nx\u2028你好"
        self.assertEqual(row["byte"], [len(text.encode()), len(text.encode()) + 4])
        self.assertEqual(row["char"], [len(text), len(text) + 4])
        self.assertEqual(row["utf16"], [len(text.encode("utf-16-le")) // 2, len(text.encode("utf-16-le")) // 2 + 4])
        self.assertEqual((row["begin"], row["end"], row["text"]), ([3, 3], [3, 7], " the"))

    def test_parts_of_characters_are_one_span(self):
        """A character of several tokens: each alone has no text."""
        self.write("c.txt", "x好y")
        self.scores([0, 1, 0, 0.5, 0])
        row, = self.trace("--scores", "s.json", "c.txt")[0]
        self.assertEqual((row["text"], row["sum"], row["mean"], row["max"], row["token"]), ("好", 1.5, 0.5, 1, [1, 4]))

    def test_words_share_a_token_by_bytes(self):
        self.write("w.txt", "ll all")  # ll| |a|ll
        self.scores([1, 10, 100, 1000])
        rows, _ = self.trace("--scores", "s.json", "--level", "word", "w.txt")
        self.assertEqual([(r["text"], r["sum"]) for r in rows], [("ll", 1), ("all", 1110)])
        self.write("w.txt", "x the")
        n = len(self.encoded("w.txt")["ids"])
        self.assertEqual(n, 2)  # x| the
        self.scores([1, 4])
        self.assertEqual([(r["text"], r["byte"], r["sum"]) for r in self.trace("--scores", "s.json", "--level", "word", "w.txt")[0]],
                         [("x", [0, 1], 1), ("the", [2, 5], 4)])
        # the border of two sources inside of a token: " " and "the" are one, 1 byte here and 3 there
        self.write("x1", "x ")
        self.write("x2", "the")
        rows, sums = self.trace("--scores", "s.json", "--level", "source", "x1", "x2")
        self.assertEqual([(r["file"], r["sum"]) for r in rows], [("x1", 2), ("x2", 3)])
        self.assertEqual([s["sum"] for s in sums["sources"]], [2, 3])

    def test_sums_are_kept_at_every_level(self):
        rng = random.Random(3)
        prompt = "<|end|>Q: " + open(self.dir / "a.txt").read() + "\n--\n" + "你好 all" + "\nA:"
        self.write("whole", prompt)
        n = len(self.encoded("whole", "--special", "parse")["ids"])
        for kind in (lambda: rng.random(), lambda: rng.uniform(-1, 1), lambda: rng.randint(0, 1)):
            values = [kind() for _ in range(n)]
            self.scores(values)
            for level in ("token", "word", "sentence", "paragraph", "source"):
                rows, sums = self.trace("--scores", "s.json", "--level", level, "--before", "<|end|>Q: ", "--between", r"\n--\n",
                                        "--after", r"\nA\x3a", "a.txt", "b.txt")
                sources = sum(s["sum"] for s in sums["sources"])
                self.assertAlmostEqual(sums["total"], sum(values), places=6)
                self.assertAlmostEqual(sources + sums["template"] + sums["outside"], sum(values), places=6)
                self.assertAlmostEqual(sum(r["sum"] for r in rows), sources, places=6)
                for r in rows:
                    data = (self.dir / r["file"]).read_bytes()
                    self.assertEqual(data[r["byte"][0]:r["byte"][1]].decode(), r["text"])
                    self.assertEqual(data.decode()[r["char"][0]:r["char"][1]], r["text"])

    def test_levels(self):
        self.scores([1] * self.n())
        texts = {level: [r["text"] for r in self.trace("--scores", "s.json", "--level", level, "--join", "off", "a.txt")[0]]
                 for level in ("word", "sentence", "paragraph", "source")}
        self.assertEqual(texts["word"], ["the", "cat", ".", "the", "dog", "!", "the", "end"])
        self.assertEqual(texts["sentence"], ["the cat. the dog!", "the end"])
        self.assertEqual(texts["paragraph"], ["the cat. the dog!", "the end"])
        self.assertEqual(texts["source"], ["the cat. the dog!\n\nthe end"])

    def test_segments(self):
        lines = [{"role": "template", "text": "<|end|>"}, {"role": "system", "text": "the "}, {"text": "cat"},
                 {"role": "question", "text": "?"}]
        self.write("p.jsonl", "".join(json.dumps(x) + "\n" for x in lines))
        self.scores([5, 1, 2, 3, 4, 5, 6])  # <|end|>|the| |c|a|t|?
        rows, sums = self.trace("--scores", "s.json", "--segments", "p.jsonl", "--level", "source")
        self.assertEqual([(r["file"], r["role"], r["source"], r["sum"]) for r in rows],
                         [("p.jsonl:2", "system", 0, 3), ("p.jsonl:3", "source", 1, 12), ("p.jsonl:4", "question", 2, 6)])
        self.assertEqual((sums["template"], sums["total"]), (5, 26))
        self.write("p.jsonl", '{"role":"boss","text":"x"}\n')
        self.fails(1, 'p.jsonl:1: role is "boss"; it is one of template', "trace", "--scores", "s.json", "--segments", "p.jsonl")
        self.write("p.jsonl", '{"text":"x"}\n{"role":"source"}\n')
        self.fails(1, "p.jsonl:2: byte", "trace", "--scores", "s.json", "--segments", "p.jsonl")
        self.fails(2, "--segments takes no other input", "trace", "--scores", "s.json", "--segments", "p.jsonl", "a.txt")
        self.fails(2, "--before does not go with --segments", "trace", "--scores", "s.json", "--segments", "p.jsonl", "--before", "x")

    def test_special_tokens_of_a_source_are_text(self):
        self.write("t", "<|end|>")
        self.scores([1] * 7)
        self.trace("--scores", "s.json", "t")
        self.scores([1])
        self.trace("--scores", "s.json", "--special", "parse", "t")
        self.fails(1, "1 scores for 7 tokens", "trace", "--scores", "s.json", "t")

    def test_template_tokens_are_told_apart(self):
        self.write("t", "the")
        self.scores([7, 1])
        rows, sums = self.trace("--scores", "s.json", "--add-special", "t")
        self.assertEqual([(r["text"], r["sum"], r["token"]) for r in rows], [("the", 1, [1, 2])])
        self.assertEqual((sums["outside"], sums["total"]), (7, 8))
        self.fails(1, "s.json: there are 2 scores for 1 tokens; with --add-special there are as many", "trace", "--scores", "s.json", "t")
        self.scores([7])
        self.fails(1, "1 scores for 2 tokens; without --add-special there are", "trace", "--scores", "s.json", "--add-special", "t")

    def test_padding(self):
        self.write("t", "ab")
        self.scores([9, 8, 1, 2])
        self.fails(1, "there are 4 scores for 2 tokens; --pad left or --pad right", "trace", "--scores", "s.json", "t")
        for pad, want, rest in (("left", [1, 2], 17), ("right", [9, 8], 3)):
            rows, sums = self.trace("--scores", "s.json", "--pad", pad, "t")
            self.assertEqual(([r["sum"] for r in rows], sums["padding"], sums["scores"]), (want, rest, 4))
        self.scores([1])
        self.fails(1, "1 scores for 2 tokens; is it the text and the vocabulary", "trace", "--scores", "s.json", "--pad", "left", "t")
        self.fails(1, "^dstok: standard input: there are 3 scores for 2 tokens", "trace", "--scores", "-", "t", stdin="[1,2,3]")

    def test_threshold_and_top(self):
        self.write("t", "abcdef")
        self.scores([0.5, 0.9, -2, 0, 0.9, 0.1])
        texts = lambda *more: "|".join(r["text"] for r in self.trace("--scores", "s.json", *more, "t")[0])
        self.assertEqual(texts(), "a|b|c|e|f")
        self.assertEqual(texts("--top", "2"), "b|e")
        self.assertEqual(texts("--top", "1"), "b")  # of equal ones the first
        self.assertEqual(texts("--threshold", "0.5"), "ab|e")
        self.assertEqual(texts("--threshold", "0.5", "--join", "off"), "a|b|e")
        self.assertEqual(texts("--threshold", "-3", "--join", "off"), "a|b|c|d|e|f")
        self.assertEqual(texts("--threshold", "0.1", "--top", "3"), "ab|e")
        self.assertEqual(texts("--threshold", "7"), "")
        self.assertEqual(texts("--join", "on"), "abc|ef")

    def test_by(self):
        self.write("t", "ab the.")  # ab the . : by sum the first word, by max the second
        self.assertEqual(len(self.encoded("t")["ids"]), 4)
        self.scores([2, 2, 3, 1])
        for by, want in (("sum", "ab"), ("mean", "the"), ("max", "the")):
            row, = self.trace("--scores", "s.json", "--level", "word", "--by", by, "--top", "1", "t")[0]
            self.assertEqual(row["text"], want)
        self.assertIn(":1:4: 3\tthe\n", self.out("trace", "--scores", "s.json", "--level", "word", "--by", "mean", "t"))

    def test_rows(self):
        self.write("t", "ab")
        self.scores([[1, 2], [3, 1], [5, -3]])
        self.fails(1, "3 rows of 2 scores; --rows sum, mean, max, or the number", "trace", "--scores", "s.json", "t")
        for how, want in (("sum", [9, None]), ("mean", [3, None]), ("max", [5, 2]), ("0", [1, 2]), ("2", [5, -3])):
            rows, _ = self.trace("--scores", "s.json", "--rows", how, "t")
            self.assertEqual([r["sum"] for r in rows], [w for w in want if w is not None], how)
        self.fails(1, "--rows 3: there are 3 rows", "trace", "--scores", "s.json", "--rows", "3", "t")
        self.fails(2, '--rows: "x" is not sum', "trace", "--scores", "s.json", "--rows", "x", "t")
        self.scores([[1, 2]])
        self.assertEqual(len(self.trace("--scores", "s.json", "t")[0]), 2)

    def test_npy(self):
        self.write("t", "abc")
        for dtype in ("|b1", "|i1", "|u1", *(o + t for o in "<>" for t in ("i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"))):
            values = [True, False, True] if dtype == "|b1" else [1, 2.5, -4] if "f" in dtype else [1, 2, -4] if "i" in dtype else [1, 2, 200]
            for version in (1, 2, 3):
                self.write("s.npy", npy(values, dtype, version=version))
                rows, _ = self.trace("--scores", "s.npy", "--join", "off", "t")
                self.assertEqual([r["sum"] for r in rows], [v for v in values if v], dtype)
        for fortran, values in ((False, [1, 2, 3, 4, 5, 6]), (True, [1, 4, 2, 5, 3, 6])):
            self.write("s.npy", npy(values, shape="(2, 3)", fortran=fortran))
            rows, _ = self.trace("--scores", "s.npy", "--rows", "1", "t")
            self.assertEqual([r["sum"] for r in rows], [4, 5, 6])
        for bits, value in ((0x0001, 2 ** -24), (0x03FF, 1023 * 2 ** -24), (0x7BFF, 65504), (0x8400, -(2 ** -14)), (0x3555, 0.333251953125)):
            self.write("s.npy", npy([0, 0, 0], "<f2")[:-6] + struct.pack("<HHH", 0x3C00, bits, 0xBC00))
            self.assertTrue(math.isclose(self.trace("--scores", "s.npy", "t")[0][1]["sum"], value, rel_tol=1e-8))
        for code, value in (("<q", -2 ** 63), ("<Q", 2 ** 64 - 1)):
            self.write("s.npy", npy([0] * 3, code[0] + {"q": "i8", "Q": "u8"}[code[1]])[:-8] + struct.pack(code, value))
            self.assertTrue(math.isclose(self.trace("--scores", "s.npy", "t")[0][0]["sum"], value, rel_tol=1e-8))

    def test_npy_that_is_wrong(self):
        self.write("t", "abc")
        good = npy([1, 2, 3])
        cases = [(good[:i], "byte") for i in range(6, len(good), 7)]
        cases += [(good[:-1], "needs 24 bytes of numbers, there are 23: the file is cut off"), (good + b"x", "something follows the array"),
                  (good[:6] + b"\x09\x00" + good[8:], r"byte 6: version 9.0 of the .npy format is not known"),
                  (npy([1, 2, 3], shape="(99999999999999999999,)"), "shape of whole numbers"),
                  (npy([1, 2, 3], shape="(4294967296, 4294967296)"), "more than 268435456 numbers"),
                  (npy([1, 2, 3], shape="(268435457,)"), "more than 268435456 numbers"),
                  (npy([1, 2, 3], shape="(0, 99999999999)"), "more than"),
                  (npy([1, 2, 3], shape="()"), r"has the shape \(\)"), (npy([1, 2, 3], shape="(1, 1, 3)"), r"shape \(1, 1, 3\); one or two"),
                  (npy([1, 2, 3], shape="(3"), "no shape of whole"), (npy([1, 2, 3], shape="(3 3)"), "does not end"), (npy([1, 2, 3], shape="3"), "no shape"),
                  (npy([1], header="{'descr': '|O', 'fortran_order': False, 'shape': (3,), }"), r'type "\|O" are not read'),
                  (npy([1], header="{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }"), 'type "<c8"'),
                  (npy([1], header="{'descr': '<i3', 'fortran_order': False, 'shape': (3,), }"), 'type "<i3"'),
                  (npy([1], header="{'descr': '', 'fortran_order': False, 'shape': (3,), }"), "are not read"),
                  (npy([1], header="{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }"), "structured arrays"),
                  (npy([1], header="{'descr': '<f8', 'fortran_order': 0, 'shape': (3,), }"), "no True or False"),
                  (npy([1], header="{'descr': '<f8', 'shape': (3,), }"), "lacks"), (npy([1], header="{}"), "lacks"),
                  (npy([1], header="{'x': '<f8'}"), "unknown name"), (npy([1], header="[]"), "does not begin with {"),
                  (npy([1], header="{'descr': '<f8', 'fortran_order': False, 'shape': (3,)} x"), "behind its }"),
                  (npy([1], header="{'descr': '<f8"), "byte"), (npy([1], header="{'descr'"), "byte")]
        for data, reason in cases:
            self.write("s.npy", data)
            self.fails(1, rf"^dstok: s\.npy: byte \d+: .*{reason}" if not reason.startswith("byte") else rf"^dstok: s\.npy: {reason}",
                       "trace", "--scores", "s.npy", "t")
        for rows in ((), ("--rows", "max"), ("--rows", "0")):  # no rows at all: no score, whatever their length
            self.write("s.npy", npy([], shape="(0, 3)"))
            self.fails(1, "s.npy: there are 0 scores for 3 tokens", "trace", "--scores", "s.npy", *rows, "t")
        self.write("s.npy", npy([1e308, -1e308, 1e308]))
        self.fails(1, "s.npy: the scores are too large to be summed up", "trace", "--scores", "s.npy", "t")
        for value, name in ((math.nan, "NaN"), (math.inf, "inf"), (-math.inf, "-inf")):
            self.write("s.npy", npy([1, value, 3]))
            self.fails(1, rf"s.npy: row 0, score 1 \(both from 0\) is {name}; scores are finite", "trace", "--scores", "s.npy", "t")

    def test_json_and_lines(self):
        self.write("t", "abc")
        for text, want in (("[1,2,3]", [1, 2, 3]), (" [ 1 , 2e0 , -3.5E-1 ]\n", [1, 2, -0.35]), ("[true,false,true]", [1, 1]),
                           ("[[1,2,3]]", [1, 2, 3]), ("1\n2\n3\n", [1, 2, 3]), ("1\r\n 2 \n3\n\n\n", [1, 2, 3]), ("0.5\n1\n-1", [0.5, 1, -1])):
            self.write("s", text)
            self.assertEqual([r["sum"] for r in self.trace("--scores", "s", "--join", "off", "t")[0]], want, text)
        self.assertEqual(len(self.trace("--scores", "-", "t", stdin="[1,2,3]")[0]), 3)
        self.write("e", "")
        for text in ("[]", "[ ]"):
            self.write("s", text)
            self.assertEqual(self.trace("--scores", "s", "e")[0], [])

    def test_json_and_lines_that_are_wrong(self):
        self.write("t", "abc")
        for text, reason in (("", "s:1: byte 0: no scores"), (" \n", "s:1: byte 0: no scores"), ("[1,2", "s:1: byte 4: the array does not end"), ("[", "byte 1: no number"),
                             ("[1,,3]", "byte 3: no number"), ("[1,2,3] x", "byte 8: something follows"), ('["1"]', "byte 1: no number"),
                             ("[1,2,3,]", "byte 7: no number"), ("[01,2,3]", "byte 1: no number"), ("[1,null,3]", "byte 3: no number"),
                             ("[1\n,NaN,3]", "s:2: byte 4: NaN and infinities are no scores"), ("[1,-Infinity,3]", "byte 3: NaN and inf"),
                             ("[1e999,2,3]", "row 0, score 0 .* is inf"), ("[[1,2],[3]]", "row 1 has 1 scores, those before it have 2"),
                             ("[[1],2]", "byte 5: a row that is no array"), ("[[[1]]]", "byte 2: arrays in arrays in arrays"), ("[1,[2],3]", "byte 3: an array among numbers"),
                             ("1\n\n2\n3", "s:2: byte 2: an empty line"), ("1 2 3", "s:1: byte 2: a line holds more than one"), ("1\nx\n3", "s:2: byte 2: no number"),
                             ("0x10\n", "byte 1: a line holds"), ("1\nnan\n2\n", "s:2: byte 2: NaN"), ('{"a":1}', "byte 0: no number"),
                             ("[1,2,3\x00]", "no , or ]"), ("1\n2\x00\n3", "s:2: byte 3: a line holds")):
            self.write("s", text)
            self.fails(1, reason, "trace", "--scores", "s", "t")

    def test_grep_and_colours(self):
        self.write("t", "a\tb\n\x1b[31mthe\n")
        n = len(self.encoded("t")["ids"])
        self.scores([1] * n)
        self.assertEqual(self.out("trace", "--scores", "s.json", "t"), "t:1:1: %d\ta→b↵‹1B›[31mthe↵\n" % n)
        self.assertEqual(self.out("trace", "--scores", "s.json", "--format", "grep", "--level", "source", "t"), "t:1:1: %d\ta→b↵‹1B›[31mthe\n" % n)
        note = self.run_verb("trace", "--scores", "s.json", "t").stderr.decode()
        self.assertIn(f"note: {n} scores, {n} tokens; sum {n}: sources {n}, template 0", note)
        self.assertEqual(self.run_verb("trace", "-q", "--scores", "s.json", "t").stderr, b"")
        self.write("t", "the cat\nthe")
        self.scores([1, 0, 0, 0.5, 0.1, 0, -1])
        self.assertEqual(len(self.encoded("t")["ids"]), 7)
        out = self.out("trace", "--scores", "s.json", "--format", "ansi", "t")
        self.assertIn("\033[30;48;5;208mthe\033[0m c\033[30;48;5;221ma", out)
        self.assertIn("\033[30;48;5;69mthe\033[0m", out)
        self.assertEqual(re.sub("\033.*?m", "", out), "== t  0.6\nthe cat\nthe\n")
        plain = self.out("trace", "--scores", "s.json", "--format", "ansi", "t", env={"NO_COLOR": "1"})
        self.assertEqual(plain, "== t  0.6\n[the](1) c[a](0.5)[t](0.1)\n[the](-1)\n")

    def test_wrong_use(self):
        self.scores([1] * self.n())
        self.fails(2, "--scores FILE is needed", "trace", "a.txt")
        self.fails(2, "cannot both come from standard input", "trace", "--scores", "-", "-", stdin="1")
        self.fails(2, "cannot both come from standard input", "trace", "--scores", "-", stdin="1")
        self.fails(2, "cannot open none", "trace", "--scores", "none", "a.txt")
        self.fails(2, "cannot open none", "trace", "--scores", "s.json", "none")
        for value in ("x", "", "nan", "1x", "inf"):
            self.fails(2, "--threshold: .* is not a number", "trace", "--scores", "s.json", "--threshold", value, "a.txt")
        self.fails(2, "--level: \"page\" is not one of token", "trace", "--scores", "s.json", "--level", "page", "a.txt")
        self.fails(2, "--top must be at least 1", "trace", "--scores", "s.json", "--top", "0", "a.txt")
        self.fails(2, "has an unknown escape", "trace", "--scores", "s.json", "--after", r"\q", "a.txt")
        self.write("bad", b"ab\xff")
        self.scores([1, 1, 1])
        self.fails(1, "bad: byte 2: invalid UTF-8", "trace", "--scores", "s.json", "--before", "x", "bad")
        self.assertEqual(len(self.trace("--scores", "s.json", "--invalid", "raw", "--join", "off", "bad")[0]), 3)


# What the page's Python needs, in place of the real packages: the same shapes, small.
STUBS = {
    "torch.py": """
import contextlib
import numpy

class Tensor:
    def __init__(self, a): self.a = a
    def __getitem__(self, i): return Tensor(self.a[i])
    def float(self): return Tensor(self.a.astype("float32"))
    def numpy(self): return self.a

def stack(tensors): return Tensor(numpy.stack([t.a for t in tensors]))
def no_grad(): return contextlib.nullcontext()
""",
    "transformers.py": """
import pathlib
import shutil
import subprocess
import types
import numpy
import torch

class Tokenizer:
    def __call__(self, text, return_tensors):
        ids = subprocess.run([DSTOK, "encode", "-v", VOCAB], input=text.encode(), capture_output=True, check=True).stdout.split()
        return {"input_ids": numpy.array([[int(i) for i in ids]])}
    def save_pretrained(self, path):
        pathlib.Path(path).mkdir()
        shutil.copy(VOCAB, pathlib.Path(path) / "tokenizer.json")

class Model:
    def __call__(self, input_ids, output_attentions):
        n = input_ids.shape[1]
        a = numpy.tril(numpy.random.default_rng(1).random((3, 1, 4, n, n)))  # layers, batch, heads, query, key
        return types.SimpleNamespace(attentions=tuple(torch.Tensor(layer / layer.sum(-1, keepdims=True)) for layer in a))

class AutoTokenizer:
    @staticmethod
    def from_pretrained(name): return Tokenizer()

class AutoModelForCausalLM:
    @staticmethod
    def from_pretrained(name, attn_implementation): return Model()
""",
}


class Page(CliTest):
    def test_transformers(self):
        """The Python of docs/trace.md gives files that the commands below it take, and the sums are those of attention."""
        pythons = [p for p in (sys.executable, str(ROOT / "build/venv/bin/python"))
                   if pathlib.Path(p).exists() and subprocess.run([p, "-c", "import numpy"], capture_output=True).returncode == 0]
        if not pythons:
            self.skipTest("needs NumPy")
        page = (ROOT / "docs/trace.md").read_text()
        code, = re.findall(r"```python\n(.*?)```", page, re.S)
        commands, = re.findall(r"```sh\n(.*?)```", page, re.S)
        for name, text in STUBS.items():
            self.write(name, f"DSTOK, VOCAB = {DSTOK!r}, {self.vocab!r}\n" + text)
        self.write("prompt.txt", "The cat. The dog!\nAll the rest")
        subprocess.run([pythons[0], "-c", code], cwd=self.dir, check=True, timeout=120, env={**self.env, "PYTHONPATH": str(self.dir)})
        first, second = [self.raw(*line.split()[1:]) for line in commands.splitlines()]
        self.assertEqual((first.returncode, second.returncode), (0, 0), first.stderr + second.stderr)
        self.assertEqual(len(first.stdout.splitlines()), 3)
        self.assertIn(b"sum 1:", first.stderr)  # a row of attention adds up to 1
        self.assertEqual(json.loads(second.stdout.splitlines()[-1])["tokens"], len(self.lines("encode", "prompt.txt")[0]["ids"]))
