# SPDX-License-Identifier: MIT
"""dstok encode: records, policies, what is written for them."""
import json
import socket
import subprocess

from common import DSTOK, CliTest, END, NI, SP_THE, TAG, TH, THE, THINK, small_vocabulary


def ids(text):
    return [int(word) for word in text.split()]


class Records(CliTest):
    def test_whole_input(self):
        self.assertEqual(self.out("encode", stdin="the the\n"), f"{THE} {SP_THE} 10\n")
        self.assertEqual(self.out("encode", "-", stdin="the"), f"{THE}\n")
        self.assertEqual(self.out("encode", stdin=""), "\n")
        self.write("a", "the\n")
        self.write("b", "")
        self.assertEqual(self.out("encode", "a", "b", "-", stdin="th"), f"{THE} 10\n\n{TH}\n")

    def test_simd(self):
        text = "the the 12345\n\n  \u7684\u4e00! " * 300
        want, names = self.out("encode", "--json", "--offsets", "byte", stdin=text), ["best", "scalar", "avx2", "avx512", "neon"]
        there = 0
        for name in names:
            done = self.run_verb("encode", "--json", "--offsets", "byte", "--simd", name, stdin=text)
            self.assertIn(done.returncode, (0, 2), name)
            there += done.returncode == 0
            self.assertEqual(done.stdout.decode(), want if done.returncode == 0 else "", name)
            if done.returncode == 2:
                self.assertIn("lacks these instructions", done.stderr.decode())
        self.assertGreaterEqual(there, 2)
        self.assertEqual(self.run_verb("count", "--simd", "sse9", stdin="the").returncode, 2)

    def test_lines(self):
        run = lambda data: self.out("encode", "--input-format", "lines", stdin=data)
        self.assertEqual(run("the\nth"), f"{THE}\n{TH}\n")
        self.assertEqual(run("the\nth\n"), f"{THE}\n{TH}\n")
        self.assertEqual(run("the\r\n\nth"), f"{THE} 13\n\n{TH}\n")
        self.assertEqual(run(""), "")
        self.assertEqual(run("\n"), "\n")

    def test_only_line_feeds_end_lines(self):
        for char in "\u2028\u2029\u0085\v\f\r\x1c\x1d\x1e":
            self.assertEqual(len(self.lines("encode", "--input-format", "lines", stdin=f"a{char}b")), 1, repr(char))

    def test_separator(self):
        run = lambda sep, data: self.out("encode", "--doc-separator", sep, stdin=data)
        self.assertEqual(run("--", "a--b----c--"), "97\n98\n\n99\n")
        self.assertEqual(run("\n\n", "a\nb\n\n\nc"), "97 10 98\n10 99\n")
        self.assertEqual(run("\\n\\n", "a\nb\n\nc"), "97 10 98\n99\n")
        self.assertEqual(run("\\0", "a\0b"), "97\n98\n")
        self.assertEqual(run("\\x7c\\\\", "a|\\b|c"), "97\n98 124 99\n")
        self.assertEqual(run("aab", "xaaaabyaab"), "120 97 97\n121\n")

    def test_separators_at_buffer_ends(self):
        # a file is read 2^16 bytes first, then 2^18 at a time: put a separator across each border
        for size in (1 << 16, (1 << 16) + (1 << 18)):
            for shift in range(-3, 4):
                head = b"x" * (size + shift)
                self.write("f", head + b"==" + b"y" * 10)
                data = self.lines("count", "--doc-separator", "==", "f")
                self.assertEqual((data[0]["records"], data[0]["bytes"]), (2, len(head) + 10), (size, shift))

    def test_nul_and_every_byte(self):
        data = bytes(range(256)) * 2
        out = self.run_verb("encode", "--invalid", "raw", stdin=data).stdout
        self.assertEqual(self.run_verb("decode", stdin=out).stdout, data)
        self.assertEqual(self.out("encode", stdin="a\0b"), "97 0 98\n")

    def test_byte_order_mark_is_text(self):
        self.assertEqual(self.out("encode", stdin=b"\xef\xbb\xbfa"), "239 187 191 97\n")

    def test_empty(self):
        run = lambda how: self.out("encode", "--input-format", "lines", "--empty", how, stdin="a\n\nb\n")
        self.assertEqual(run("keep"), "97\n\n98\n")
        self.assertEqual(run("drop"), "97\n98\n")
        self.assertEqual(self.out("encode", "--empty", "drop", stdin=""), "")

    def test_same_for_any_number_of_threads(self):
        text = "".join(f"the {i} all 你好 the\n" * (i % 5) for i in range(4000))
        runs = {self.out("encode", "--input-format", "lines", "--json", f"-j{n}", stdin=text) for n in (1, 2, 3, 8)}
        self.assertEqual(len(runs), 1)
        self.assertEqual(len(runs.pop().splitlines()), text.count("\n"))

    def test_longest_record(self):
        limit = ["--max-record", "4"]
        lines = [*limit, "--input-format", "lines"]
        self.assertEqual(self.out("encode", *lines, stdin="aaaa\nbb"), "97 97 97 97\n98 98\n")
        self.fails(1, "standard input:2: byte 5: the record is longer than 4 bytes", "encode", *lines,
                   stdin="aaaa\nbbbbb\n")
        out = self.out("encode", *lines, "--on-error", "skip", rc=3, stdin="a\n" + "b" * 700000 + "\nc\nddddd")
        self.assertEqual(out, "97\n99\n")
        self.fails(1, "longer than 4 bytes; cut it with --input-format lines", "encode", *limit, stdin="aaaaa")
        self.assertEqual(self.out("encode", *limit, "--doc-separator", "==", "--on-error", "skip", rc=3,
                                  stdin="aaaa==bbbbb==cc=="), "97 97 97 97\n99 99\n")
        self.write("long", "aaaaa")
        self.write("short", "a")
        self.assertEqual(self.out("encode", *limit, "--on-error", "skip", "long", "short", rc=3), "97\n")


class Json(CliTest):
    def test_fields(self):
        self.assertEqual(self.out("encode", "--json", stdin="the你"), f'{{"ids":[{THE},{NI}],"spans":[[0,3],[3,6]]}}\n')
        self.assertEqual(self.out("encode", "--json", stdin=""), '{"ids":[],"spans":[]}\n')
        self.assertEqual(self.out("encode", "--json", "--offsets", "none", stdin="the"), f'{{"ids":[{THE}]}}\n')

    def test_units(self):
        text = "é the 😀好"
        expected = {"byte": len(text.encode()), "char": len(text), "utf16": len(text.encode("utf-16-le")) // 2}
        for unit, total in expected.items():
            spans = self.lines("encode", "--offsets", unit, stdin=text)[0]["spans"]
            self.assertEqual((spans[0][0], spans[-1][1]), (0, total), unit)
            self.assertTrue(all(a[0] <= b[0] and a[1] <= b[1] for a, b in zip(spans, spans[1:])))
        chars = self.lines("encode", "--offsets", "char", stdin="😀a")[0]["spans"]
        self.assertEqual(chars, [[0, 1]] * 4 + [[1, 2]])
        utf16 = self.lines("encode", "--offsets", "utf16", stdin="😀a")[0]["spans"]
        self.assertEqual(utf16, [[0, 2]] * 4 + [[2, 3]])

    def test_pieces(self):
        out = self.lines("encode", "--pieces", stdin='the "你你好\t\n\0')[0]
        self.assertEqual(out["pieces"][:4], ["the", " ", '"', "你"])
        self.assertEqual("".join(p for i, p in enumerate(out["pieces"]) if i not in out["partial"]), 'the "你你\t\n\0')
        self.assertEqual(out["partial"], [5, 6, 7])
        self.assertEqual([out["pieces"][i] for i in out["partial"]], ["\ufffd"] * 3)
        self.assertEqual(self.lines("encode", "--pieces", stdin="\ufffd")[0]["partial"], [0, 1, 2])

    def test_template_tokens_are_zero_wide(self):
        out = self.lines("encode", "--add-special", "--pieces", stdin="the")[0]
        self.assertEqual((out["ids"], out["spans"], out["pieces"]), ([END, THE], [[0, 0], [0, 3]], ["<|end|>", "the"]))


class Special(CliTest):
    TEXT = "a<|end|><b>"

    def run_mode(self, *arguments):
        result = self.run_verb("encode", *arguments, stdin=self.TEXT)
        return ids(result.stdout), result.stderr.decode()

    def test_modes(self):
        plain = [*b"a<|end|>"]
        self.assertEqual(self.run_mode()[0], [*plain, TAG])
        self.assertEqual(self.run_mode("--special", "safe")[0], [*plain, TAG])
        self.assertEqual(self.run_mode("--special", "text")[0], [*plain, TAG])
        self.assertEqual(self.run_mode("--special", "parse")[0], [97, END, TAG])
        self.assertEqual(self.run_mode("--special", "plain")[0], [*plain, *b"<b>"])
        self.assertEqual(self.run_mode("--special", "<|end|>")[0], [97, END, TAG])
        self.assertEqual(self.run_mode("--special", "<think>,<|end|>")[0], [97, END, TAG])
        self.assertEqual(self.run_mode("--special", "<think>")[0], [*plain, TAG])
        self.fails(1, "standard input:1: byte 1: .*--special", "encode", "--special", "error", stdin=self.TEXT)

    def test_control_by_name(self):
        self.assertEqual(ids(self.out("encode", stdin="<think>")), [*b"<", *b"think>"][:1] + [TH, *b"ink>"])
        self.assertEqual(ids(self.out("encode", "--special", "text", stdin="<think>")), [THINK])

    def test_one_hint(self):
        self.write("f", "x\n" + self.TEXT + "\n" + self.TEXT)
        result = self.run_verb("encode", "--input-format", "lines", "f")
        self.assertRegex(result.stderr.decode(), r"^dstok: note: control tokens in the text, kept as text: 2, "
                                                 r"first at f:2: byte 3; --special parse .*\n$")
        for quiet in (["-q"], ["--special", "parse"], ["--special", "plain"], ["--special", "text"]):
            self.assertEqual(self.run_verb("encode", *quiet, "f").stderr, b"", quiet)


class Invalid(CliTest):
    DATA = b"ok\nab\xff\xe4\xbdc\n"

    def test_error_names_the_byte(self):
        self.write("f", self.DATA)
        result = self.fails(1, r"^dstok: f:2: byte 5: .*--invalid", "encode", "f")
        self.assertEqual(result.stdout, b"")
        result = self.fails(1, r"^dstok: f:2: byte 5: ", "encode", "--input-format", "lines", "f")
        self.assertEqual(result.stdout, b"111 107\n")

    def test_replace(self):
        result = self.run_verb("encode", "--invalid", "replace", stdin=self.DATA)
        self.assertEqual(bytes(ids(result.stdout)[3:]), "ab\ufffd\ufffdc\n".encode())
        self.assertIn("places that are not UTF-8: 2, first at standard input:2: byte 5; became U+FFFD",
                      result.stderr.decode())

    def test_raw(self):
        result = self.run_verb("encode", "--invalid", "raw", stdin=self.DATA)
        self.assertEqual(self.run_verb("decode", stdin=result.stdout).stdout, self.DATA)
        self.assertIn("taken as they are", result.stderr.decode())

    def test_spans_stay_in_the_original(self):
        for how in ("replace", "raw"):
            spans = self.lines("encode", "--invalid", how, stdin=b"a\xffb")[0]["spans"]
            self.assertEqual((spans[0], spans[-1]), ([0, 1], [2, 3]), how)

    def test_truncated_at_the_end(self):
        self.fails(1, r"standard input:1: byte 1: ", "encode", stdin=b"a\xf0\x9f\x98")


class Lost(CliTest):
    """Text that a vocabulary cannot hold is told, never lost in silence."""

    def vocabulary(self, change):
        vocabulary = small_vocabulary()
        change(vocabulary)
        return self.write("other.json", json.dumps(vocabulary))

    def test_characters_without_a_token(self):
        path = self.vocabulary(lambda v: v["model"]["vocab"].pop("z"))
        result = self.raw("encode", "-v", path, stdin="az\nbzz")
        self.assertEqual((result.returncode, result.stdout), (0, b"97 10 98\n"))
        self.assertRegex(result.stderr.decode(), "note: characters without a token: 3, first at standard input:1: byte 1; "
                                                 "--strict makes them errors")
        result = self.raw("encode", "-v", path, "--strict", "--input-format", "lines", stdin="a\nbzz")
        self.assertEqual((result.returncode, result.stdout), (1, b"97\n"))
        self.assertRegex(result.stderr.decode(), r"^dstok: standard input:2: byte 3: .*\(--strict\)")

    def test_bytes_that_a_pattern_drops(self):
        cut = {"type": "Split", "pattern": {"String": "x"}, "behavior": "Removed", "invert": False}
        level = {**small_vocabulary()["pre_tokenizer"], "use_regex": False}
        path = self.vocabulary(lambda v: v.update(pre_tokenizer={"type": "Sequence", "pretokenizers": [cut, level]}))
        result = self.raw("encode", "-v", path, stdin="axbx")
        self.assertEqual((result.returncode, result.stdout), (0, b"97 98\n"))
        self.assertIn(b"note: bytes that no token covers: 2, first at standard input:1: byte 1; the vocabulary's "
                      b"normalizer or pattern leaves them out", result.stderr)
        again = self.raw("count", "-v", path, "--input-format", "lines", stdin="ab\nabx\nx")
        self.assertIn(b"covers: 2, first at standard input:2: byte 5; the vocab", again.stderr)
        again = self.raw("encode", "-v", path, "--input-format", "jsonl", stdin='{"text":"abx"}')
        self.assertIn(b"covers: 1, first at standard input:1: byte 2 of the text; the vocab", again.stderr)
        for line in ('{"pad":"x","text":"a\\nbx"}', '{"pad":"x","text":"acbx"}'):  # a copy, a view
            again = self.raw("count", "-v", path, "--input-format", "jsonl", stdin=line)
            self.assertIn(b"covers: 1, first at standard input:1: byte 3 of the text; the vocab", again.stderr)
        self.assertNotIn(b"covers", self.raw("encode", "-v", path, stdin="ab").stderr)

    def test_bytes_without_a_token(self):
        path = self.vocabulary(lambda v: v["model"]["vocab"].pop("q"))
        for verb in ("encode", "count"):
            self.assertRegex(self.raw(verb, "-v", path, stdin="abqc").stderr.decode(),
                             "bytes that no token covers: 1, first at standard input:1: byte 2; this vocabulary has no token")


class OnError(CliTest):
    DATA = b"one\ntw\xffo\nthree\n"

    def run_lines(self, *arguments, rc):
        result = self.run_verb("encode", "--input-format", "lines", *arguments, stdin=self.DATA)
        self.assertEqual(result.returncode, rc, result.stderr)
        return result.stdout.decode().splitlines(), result.stderr.decode()

    def test_fail(self):
        out, err = self.run_lines("--on-error", "fail", rc=1)
        self.assertEqual(len(out), 1)
        self.assertRegex(err, "^dstok: standard input:2: byte 6: ")

    def test_skip(self):
        out, err = self.run_lines("--on-error", "skip", rc=3)
        self.assertEqual(len(out), 2)
        self.assertIn("note: 1 of 3 records was skipped", err)
        self.assertEqual(self.run_lines("--on-error", "skip", "-q", rc=3)[1], "")

    def test_replace(self):
        out, err = self.run_lines("--on-error", "replace", rc=0)
        self.assertEqual(bytes(ids(out[1])), "tw\ufffdo".encode())
        self.assertIn("invalid UTF-8 (byte 0xFF); bad bytes became U+FFFD\n", err)  # and no advice to do so
        self.assertIn("invalid UTF-8 (byte 0xFF); --invalid replace or raw encodes it\n", self.run_lines(rc=1)[1])

    def test_limit(self):
        self.run_lines("--on-error", "skip", "--max-errors", "1", rc=3)
        out, err = self.run_lines("--on-error", "skip", "--max-errors", "0", rc=1)
        self.assertIn("more than 0 bad records", err)
        self.assertEqual(len(out), 1)

    def test_reject(self):
        self.run_lines("--on-error", "skip", "--reject", "log", rc=3)
        rows = [json.loads(line) for line in (self.dir / "log").read_text().splitlines()]
        self.assertEqual([(r["file"], r["line"], r["byte"], r["record"]) for r in rows], [("-", 2, 4, "tw\ufffdo")])
        self.assertIn("UTF-8", rows[0]["reason"])
        skip = ["encode", "--on-error", "skip", "--reject"]
        self.run_verb(*skip, "log", stdin="fine")
        self.assertEqual((self.dir / "log").read_text(), "")
        self.fails(2, "cannot open no/log: No such file", *skip, "no/log", stdin="x")
        self.write("in", "fine\n")
        self.fails(2, "--reject in is also an input", *skip, "in", "in")
        self.assertEqual((self.dir / "in").read_text(), "fine\n")
        self.fails(2, "--reject ./small.json is the vocabulary", *skip, "./small.json", stdin="x")
        self.assertIn("merges", (self.dir / "small.json").read_text())
        self.fails(2, "--reject -: name a file", *skip, "-", stdin="x")

    def test_numbers_of_bad_records(self):
        half = '{"text":"\\ud83d"}\n'
        both = "2 of 3 records were mended\ndstok: note: 1 of 3 records was counted as empty"
        for data, mode, note in (("7\n", "skip", "1 of 1 record was skipped"), ("7\n8\n", "skip", "2 of 2 records were skipped"),
                                 ("7\n", "replace", "1 of 1 record was counted as empty"),
                                 (half, "replace", "1 of 1 record was mended"), (half * 2 + "7\n", "replace", both)):
            result = self.run_verb("encode", "--input-format", "jsonl", "--on-error", mode, stdin=data)
            self.assertTrue(result.stderr.decode().endswith(f"\ndstok: note: {note}\n"), result.stderr)

    def test_many_bad_records_are_not_all_named(self):
        result = self.run_verb("encode", "--input-format", "lines", "--on-error", "skip", stdin=b"\xff\n" * 500)
        self.assertEqual(result.returncode, 3)
        self.assertLess(result.stderr.count(b"\n"), 20)
        self.assertIn(b"500 of 500 records were skipped", result.stderr)
        more = b"note: more bad records follow; "
        self.assertIn(more + b"--reject FILE logs them all\n", result.stderr)
        result = self.run_verb("encode", "--input-format", "lines", "--on-error", "skip", "--reject", "log",
                               stdin=b"\xff\n" * 500)
        self.assertIn(more + b"the log of --reject has them all\n", result.stderr)
        self.assertEqual((self.dir / "log").read_text().count("\n"), 500)

    def test_bad_records_do_not_cut_the_output_into_bits(self):
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # each write is a message
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        path = self.write("in", b"the\n\xff\n" * 500)
        command = [DSTOK, "encode", "-v", self.vocab, "--input-format", "lines", "--on-error", "skip", path]
        with subprocess.Popen(command, stdout=its, stderr=subprocess.DEVNULL, cwd=self.dir) as program:
            its.close()
            writes = list(iter(lambda: ours.recv(1 << 17), b""))
            self.assertEqual(program.wait(), 3)
        ours.close()
        self.assertEqual(b"".join(writes), b"%d\n" % THE * 500)
        self.assertLess(len(writes), 20)  # each of the first ten notes comes behind the output before it

    def test_special_error_is_a_record_error(self):
        result = self.run_verb("encode", "--input-format", "lines", "--special", "error", "--on-error", "replace",
                               stdin="a\n<|end|>\nb\n")
        self.assertEqual((result.returncode, result.stdout), (3, b"97\n\n98\n"))
