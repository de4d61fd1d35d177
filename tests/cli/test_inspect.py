# SPDX-License-Identifier: MIT
"""dstok inspect: descriptions, alignment, single tokens, fertility."""
import gzip
import json

from common import CliTest, END, NI, THE, THINK, small_vocabulary


class Inspect(CliTest):
    def test_description(self):
        text = self.out("inspect")
        for line in ("format      tokenizer.json", "ids         265", "added       3", "merges      6",
                     "normalizer  none", "template    yes", "control     2", f"  {END}  <|end|>",
                     f"  {THINK}  <think>"):
            self.assertIn(line, text)
        self.assertRegex(text, r"(?m)^scanner     \w+")
        self.assertRegex(text, r"(?m)^steps       \S+")

    def test_json(self):
        row = json.loads(self.out("inspect", "--json"))
        self.assertEqual((row["ids"], row["tokens"], row["merges"], row["template"]), (265, 265, 6, True))
        self.assertEqual(row["control"], [{"id": END, "text": "<|end|>"}, {"id": THINK, "text": "<think>"}])
        self.assertEqual((row["unknown_id"], row["warnings"]), (None, []))
        self.assertTrue(row["steps"])

    def test_scanner(self):
        known = json.loads(self.out("inspect", "--json"))["scanner"]
        self.assertNotEqual(known, "pcre2")
        self.assertEqual(json.loads(self.out("inspect", "--json", "--no-scanner"))["scanner"], "pcre2")

    def test_fast_way(self):
        self.assertIn("\nfast way    yes\n", self.out("inspect"))
        self.assertIs(json.loads(self.out("inspect", "--json"))["fast"], True)
        self.assertIn("\nfast way    no: pretoken by pretoken\n", self.out("inspect", "--no-scanner"))
        self.write("slow.json", json.dumps({**small_vocabulary(), "pre_tokenizer": {"type": "Whitespace"}}))
        self.assertIs(json.loads(self.raw("inspect", "--json", "-v", "slow.json").stdout)["fast"], False)

    def test_warnings(self):
        vocabulary = json.loads(open(self.vocab).read())
        vocabulary["model"]["merges"].append(["t", "h"])
        self.write("twice.json", json.dumps(vocabulary))
        result = self.raw("inspect", "-v", "twice.json")
        self.assertRegex(result.stdout.decode(), "(?m)^warning     .*merge")

    def test_normalizers_show_what_they_put_where(self):
        parts = [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
                 {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": 'a"b'}, {"type": "Strip", "strip_left": False, "strip_right": True},
                 {"type": "Lowercase"}]
        self.write("n.json", json.dumps({**small_vocabulary(), "normalizer": {"type": "Sequence", "normalizers": parts}}))
        shown = r'Prepend "▁", Replace " " by "▁", Replace(Regex) \s+ by "a\"b", Strip right, Lowercase'
        self.assertIn(f"\nnormalizer  {shown}\n", self.raw("inspect", "-v", "n.json").stdout.decode())
        self.assertEqual(json.loads(self.raw("inspect", "--json", "-v", "n.json").stdout)["normalizer"], shown)

    def test_words(self):
        self.assertIn("\nwords       by merges from bytes or characters, also where the whole is a token\n", self.out("inspect"))
        vocabulary = small_vocabulary()
        vocabulary["model"]["ignore_merges"] = True
        self.write("w.json", json.dumps(vocabulary))
        self.assertRegex(self.raw("inspect", "-v", "w.json").stdout.decode(), r"\nwords       one that is a token .* \(ignore_merges\)")

    def test_numbered_control_tokens_share_a_line(self):
        vocabulary = json.loads(open(self.vocab).read())
        for i in range(12):
            vocabulary["added_tokens"].append({**vocabulary["added_tokens"][0], "id": 265 + i, "content": f"<|r{i}|>"})
        self.write("many.json", json.dumps(vocabulary))
        text = self.raw("inspect", "-v", "many.json").stdout.decode()
        self.assertIn("control     14\n  262  <|end|>\n  263  <think>\n  265-276  <|r0|> ... <|r11|>\n", text)

    def test_align(self):
        self.assertEqual(self.out("inspect", "--align", "the 你"),
                         "text  the│␣  │你\nid    257│32 │260\nbytes 0-3│3-4│4-7\n\ntokens      3\ncharacters  5, 0.60 tokens each\n"
                         "words       2, 1.00 tokens each, 0 in fragments\n")
        rows = self.lines("inspect", "--align", "the 你")
        self.assertEqual(rows[2], {"id": NI, "span": [4, 7], "char": [4, 5], "piece": "你", "hex": "e4bda0", "partial": False})
        self.assertEqual(rows[3:], [{"tokens": 3, "partial": 0, "chars": 5, "words": 2, "fragmented": 0, "tokens_per_char": 0.6,
                                     "tokens_per_word": 1.0}])
        self.assertIn("‹E5›", self.out("inspect", "--align", "好"))
        self.assertEqual(self.out("inspect", "--align", ""), "")
        self.assertEqual(self.lines("inspect", "--align", ""), [{"tokens": 0, "partial": 0, "chars": 0, "words": 0, "fragmented": 0,
                                                                 "tokens_per_char": None, "tokens_per_word": None}])

    def test_align_shows_parts_under_their_character(self):
        self.assertEqual(self.out("inspect", "--align", "好b"),
                         "text  好            │b\ntoken ‹E5›│‹A5›│‹BD›│b\nid    229 │165 │189 │98\nbytes 0-1 │1-2 │2-3 │3-4\n\n"
                         "tokens      4, 3 of them with a part of a character\ncharacters  2, 2.00 tokens each\n"
                         "words       2, 2.00 tokens each, 1 in fragments\n")
        rows = self.lines("inspect", "--align", "好b")
        self.assertEqual([(r["char"], r["partial"]) for r in rows[:-1]], [([0, 1], True)] * 3 + [([1, 2], False)])
        wide = self.out("inspect", "--align", "e\u0301x").splitlines()  # a mark takes no column
        self.assertEqual(wide[0], "text  e  │\u0301         │x")
        row = self.out("inspect", "--align", "\u231ax").splitlines()  # two columns, outside East Asia, too
        self.assertEqual(sum(2 if c == "\u231a" else 1 for c in row[0].split("│")[0]),
                         len(row[1].rsplit("│", 1)[0]))

    def test_align_shows_text_without_tokens(self):
        vocabulary = json.loads(open(self.vocab).read())
        vocabulary["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": "\\s+"}, "behavior": "Removed", "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]}
        self.write("gaps.json", json.dumps(vocabulary))
        for text, want in ((" the  好x ", "text  ␣  │the│␣␣ │好            │x   │␣\ntoken    │the│   │‹E5›│‹A5›│‹BD›│x   │\n"
                                          "id    -  │257│-  │229 │165 │189 │120 │-\nbytes 0-1│1-4│4-6│6-7 │7-8 │8-9 │9-10│10-11\n"),
                           ("  ", "text  ␣␣\ntoken\nid    -\nbytes 0-2\n")):
            out = self.raw("inspect", "-v", "gaps.json", "--align", text).stdout.decode()
            self.assertEqual(out.split("\n\ntokens")[0].rstrip("\n") + "\n", want)

    def test_align_file(self):
        self.write("t", "the 你\n")
        self.write("t.gz", gzip.compress(b"the \xe4\xbd\xa0\n"))
        want = self.out("inspect", "--align", "the 你\n")
        self.assertEqual(self.out("inspect", "--align-file", "t"), want)
        self.assertEqual(self.out("inspect", "--align-file", "t.gz"), want)
        self.assertEqual(self.out("inspect", "--align-file", "-", stdin="the 你\n"), want)
        self.fails(2, "cannot open none: No such file", "inspect", "--align-file", "none")
        self.write("bad", b"a\xff")
        self.fails(1, r"bad: byte 1: invalid UTF-8 \(byte 0xFF\)", "inspect", "--align-file", "bad")
        self.assertIn("‹FF›", self.out("inspect", "--align-file", "bad", "--invalid", "raw"))
        self.fails(1, "byte 1: invalid", "inspect", "--align-file", "t.gz", "--no-decompress")
        self.fails(2, "--align-file does not go with", "inspect", "--align-file", "t", "--token", "5")
        self.fails(2, "--invalid is for --align-file", "inspect", "--align", "t", "--invalid", "raw")
        rows = self.lines("inspect", "--align-file", "t", "--add-special")
        self.assertEqual((rows[0]["id"], rows[0]["span"], rows[-1]["tokens"]), (END, [0, 0], 4))
        self.assertTrue(self.out("inspect", "--align-file", "t", "--add-special").startswith("text         │the"))

    def test_align_fits_the_width(self):
        text = "the quick brown fox jumps over the lazy dog, 你你你你你你 and all the rest"
        for columns in (20, 40, 80):
            out = self.out("inspect", "--align", text, env={"COLUMNS": str(columns)}).split("\n\ntokens")[0]
            width = max(sum(2 if c == "你" else 1 for c in line) for line in out.splitlines())
            self.assertLessEqual(width, columns)
            self.assertGreater(width, columns - 16)
        self.fails(1, r"--align: byte 1: invalid UTF-8 \(byte 0xFF\)\n", "inspect", "--align", b"a\xff")
        self.write("bad", b"a\xff")
        self.fails(1, r"bad:1: byte 1: invalid UTF-8 \(byte 0xFF\)\n", "inspect", "--fertility", "bad")

    def test_align_special(self):
        self.assertEqual(self.lines("inspect", "--align", "<|end|>", "--special", "parse")[0]["id"], END)
        self.assertEqual(len(self.lines("inspect", "--align", "<|end|>")), 8)

    def test_token(self):
        self.assertEqual(self.out("inspect", "--token", "257"), "257         the\nbytes       74 68 65\n")
        self.assertEqual(self.out("inspect", "--token", "the"), "257         the\nbytes       74 68 65\n")
        self.assertIn("control", self.out("inspect", "--token", "<|end|>"))
        self.assertEqual(self.lines("inspect", "--token", "259"),
                         [{"id": 259, "text": "\ufffd", "hex": "e4bd", "added": False, "special": False,
                           "control": False}])
        self.assertEqual(self.lines("inspect", "--token", "=7")[0]["id"], ord("7"))
        self.fails(1, "no token has the id 265", "inspect", "--token", "265")
        self.fails(1, "no token has the id 4294967296", "inspect", "--token", "4294967296")
        self.fails(1, 'no token is exactly "nothing"', "inspect", "--token", "nothing")

    def test_fertility(self):
        self.write("a", "the the")
        self.write("b", "é")
        out = self.out("inspect", "--fertility", "a", "b")
        self.assertIn("  3.500  a\n", out)
        self.assertIn("  1.000  b\n", out)
        rows = self.lines("inspect", "-v", self.vocab, "--fertility", "a")
        self.assertEqual([(r["tokens"], r["bytes"], r["bytes_per_token"]) for r in rows], [(2, 7, 3.5)] * 2)
        self.write("empty", "")
        self.assertIn("\n  3.500  a\n      -  empty\n", self.out("inspect", "--fertility", "a", "empty"))
        row, = self.lines("inspect", "--fertility", "empty")
        self.assertEqual((row["tokens"], row["bytes"], row["bytes_per_token"]), (0, 0, None))

    def test_wrong_use(self):
        self.fails(2, "files belong to --fertility", "inspect", "file")
        self.fails(2, "several vocabularies are for --fertility", "inspect", "-v", self.vocab)
