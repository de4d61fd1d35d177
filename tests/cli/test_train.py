# SPDX-License-Identifier: MIT
"""dstok train: inputs, weights, and an output that is whole or absent."""
import json
import os
import re
import resource
import signal
import subprocess
import time
import unittest

from common import CliTest, DSTOK, shim


class Train(CliTest):
    def train(self, *arguments, rc=0, size=300, **more):
        result = self.raw("train", "--vocab-size", size, "-o", "new.json", *arguments, **more)
        self.assertEqual(result.returncode, rc, result.stderr)
        return result

    def merges(self):
        merges = json.loads((self.dir / "new.json").read_text())["model"]["merges"]
        return [m if isinstance(m, list) else m.split(" ") for m in merges]

    def test_result_is_a_vocabulary(self):
        text = self.write("t", "the cat sat on the mat with the hat\n" * 20)
        result = self.train("t", size=270)
        self.assertRegex(result.stderr.decode(), r"^dstok: note: \d+ pretokens \(\d+ distinct\), 270 ids, 14 merges")
        ids = self.raw("encode", "-v", "new.json", text).stdout
        self.assertEqual(self.raw("decode", "-v", "new.json", stdin=ids).stdout.decode(), open(text).read())
        self.assertLess(len(ids.split()), os.path.getsize(text) // 2)
        self.assertEqual(self.train("-q", "t").stderr, b"")

    def test_standard_input_and_output(self):
        result = self.raw("train", "--vocab-size", "260", "-o", "-", stdin="aaaa aaaa aaaa")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(json.loads(result.stdout)["model"]["type"], "BPE")

    def test_stops_early(self):
        self.assertIn(b"not full", self.train(stdin="ab ab").stderr)
        self.assertEqual(self.merges(), [["a", "b"]])

    def test_min_frequency(self):
        self.train("--min-frequency", "4", stdin="ab ab ab")
        self.assertEqual(self.merges(), [])

    def test_special(self):
        self.train("--special", "<|a|>,<|b|>", stdin="ab ab")
        added = json.loads((self.dir / "new.json").read_text())["added_tokens"]
        self.assertEqual([(a["id"], a["content"]) for a in added], [(0, "<|a|>"), (1, "<|b|>")])

    def test_order(self):
        for order, first in (("hf", "!"), ("byte", "Ā")):
            self.train("--order", order, stdin="ab ab")
            self.assertEqual(json.loads((self.dir / "new.json").read_text())["model"]["vocab"][first], 0, order)

    def test_pattern(self):
        self.train("--pattern", "gpt2", stdin="ab ab")
        self.train("--pattern", "[a-z]+|[^a-z]+", stdin="ab ab")
        for pattern, why in (("(", "of the pattern: "), ("[", "a class in a pattern has no ]"), ("foo", "a name of gpt2, r50k_base"),
                             ("qwen2.6", "a name of gpt2"), ("", "a name of gpt2"), (r"(a)\1", "a backreference")):
            result = self.train("--pattern", pattern, rc=2, stdin="ab ab")
            self.assertTrue(result.stderr.decode().startswith(f"dstok: --pattern {pattern}: "), result.stderr)
            self.assertIn(why, result.stderr.decode())

    def test_weights(self):
        self.write("a", "xy xy")
        self.write("b", "pq pq pq")
        self.train("a", "b", size=257)
        self.assertEqual(self.merges(), [["p", "q"]])
        self.train("--weight", "2", "a", "--weight", "1", "b", size=257)
        self.assertEqual(self.merges(), [["x", "y"]])
        self.assertIn(b"weights of texts are whole numbers", self.train("--weight", "0.5", "a", rc=2).stderr)
        self.assertIn(b"no input follows the last --weight", self.train("a", "--weight", "2", rc=2).stderr)
        self.assertIn(b"no input follows the last --weight", self.train("--weight", "2", stdin="ab", rc=2).stderr)
        self.assertIn(b"has no input; a weight", self.train("--weight", "2", "--weight", "3", "a", rc=2).stderr)
        self.train("--weight", "2", "-", stdin="xy", size=257)
        self.assertEqual(self.merges(), [["x", "y"]])
        for bad in ("0", "-1", "1.2.3", "x", "0.0", "12345678901"):
            self.assertIn(b"--weight", self.train(f"--weight={bad}", "a", rc=2).stderr)

    def test_words(self):
        self.write("w", "xy\t3\npq\t5\n a\tb\t1\n")
        self.train("--words", "w", size=257)
        self.assertEqual(self.merges(), [["p", "q"]])
        self.write("w2", "xy\t5\n")
        self.train("--words", "w", "--weight", "0.5", "--words", "w2", size=257)  # xy 3 + round(2.5) = 6
        self.assertEqual(self.merges(), [["x", "y"]])
        self.train("--weight", "0.5", "--words", "w2", "--weight", "0.5", "--words", "w", size=257)  # 3 + 2 = 5, 3
        self.assertEqual(self.merges(), [["x", "y"]])
        self.train("--weight", "0.1", "--words", "w", size=257)  # 0.3 and 0.1 vanish, 0.5 is 1
        self.assertEqual(self.merges(), [])
        self.assertIn(b"no text to learn from", self.train("--weight", "0.05", "--words", "w", rc=1).stderr)
        for line in ("xy", "xy\t", "\t3", "xy\t3x", "xy\t-3", "xy 3"):
            self.write("bad", f"ok\t1\n{line}\n")
            self.assertRegex(self.train("--words", "bad", rc=1).stderr.decode(),
                             "^dstok: bad:2: a line .pretoken TAB count. is wanted")
        self.write("big", "xy\t18446744073709551610\n")
        self.assertIn(b"too large", self.train("--weight", "3", "--words", "big", rc=1).stderr)

    def test_records(self):
        self.write("t", "ab\n\nab")
        for more in (["--doc-separator", "\\n\\n"], ["--input-format", "lines"]):
            self.train(*more, "t")
            self.assertEqual(self.merges(), [["a", "b"]], more)
        self.train("--input-format", "jsonl", "--json-keys", "x", stdin='{"x":"ab"}\n{"x":"ab"}')
        self.assertEqual(self.merges(), [["a", "b"]])

    def test_what_was_learnt_is_told(self):
        for text, told in (("ab", "1 pretokens (1 distinct), 256 ids, 0 merges; not full: no pair is left that is frequent enough"),
                           ("ab ab ab", "3 pretokens (2 distinct), 258 ids, 2 merges, the last of count 2; "
                                        "not full: no pair is left that is frequent enough")):
            result = self.raw("train", "--vocab-size", "300", "-o", "new.json", stdin=text)
            self.assertEqual(result.stderr.decode(), f"dstok: note: {told}\n")

    def test_order_of_inputs_does_not_matter(self):
        self.write("a", "some text the text that " * 3)
        self.write("b", "more of the text here")
        self.train("a", "b")
        first = (self.dir / "new.json").read_bytes()
        self.train("b", "a")
        self.assertEqual(first, (self.dir / "new.json").read_bytes())

    def test_nothing_to_learn_from(self):
        self.write("empty", "")
        for arguments in (["empty"], ["--input-format", "lines", "empty"], ["--input-format", "jsonl", "empty"], ["--words", "empty"],
                          ["--on-error", "skip", "bad"]):
            self.write("bad", b"\xff")
            self.assertIn(b"the inputs hold no text to learn from", self.train(*arguments, rc=1).stderr)
            self.assertFalse((self.dir / "new.json").exists())

    def test_invalid(self):
        self.write("bad", b"ab ab \xff\n")
        message = self.train("bad", rc=1).stderr.decode()
        self.assertEqual(message, "dstok: bad:1: byte 6: invalid UTF-8 (byte 0xFF); --invalid replace makes it U+FFFD\n")
        message = self.train("--invalid", "replace", "bad").stderr.decode()
        self.assertIn("places that are not UTF-8: 1, first at bad:1: byte 6; became U+FFFD", message)
        first = (self.dir / "new.json").read_bytes()
        self.train(stdin="ab ab \ufffd\n")
        self.assertEqual((self.dir / "new.json").read_bytes(), first)
        self.assertIn(b"is not one of error|replace", self.train("--invalid", "raw", "bad", rc=2).stderr)

    def test_on_error(self):
        data = b"ab ab\n\xff\nab\n"
        result = self.train("--input-format", "lines", "--on-error", "skip", "--reject", "log", stdin=data, rc=3)
        self.assertIn(b"standard input:2: byte 6: invalid UTF-8", result.stderr)
        self.assertIn(b"note: 1 of 3 records was skipped", result.stderr)
        self.assertEqual(self.merges(), [["a", "b"]])
        self.assertEqual([json.loads(line)["line"] for line in open(self.dir / "log")], [2])
        for more in ([], ["--on-error", "fail"]):
            self.assertIn(b"standard input:2: byte 6", self.train("--input-format", "lines", *more, stdin=data, rc=1).stderr)
        self.write("w", "ab\t3\nbad\nab\t2\n")
        result = self.train("--on-error", "skip", "--reject", "log", "--input-format", "lines", "-", "--words", "w", stdin=data, rc=3)
        self.assertIn(b"note: 2 of 6 records were skipped", result.stderr)
        self.assertEqual([json.loads(line)["file"] for line in open(self.dir / "log")], ["-", "w"])
        result = self.train("--on-error", "skip", "--max-errors", "1", "--input-format", "lines", "-", "--words", "w", stdin=data, rc=1)
        self.assertIn(b"more than 1 bad records", result.stderr)
        self.assertIn(b"is not one of fail|skip", self.train("--on-error", "replace", stdin="x", rc=2).stderr)
        self.assertIn(b"--reject needs --on-error skip;", self.train("--reject", "log", stdin="x", rc=2).stderr)
        half = self.train("--input-format", "jsonl", stdin='{"text":"\\ud800"}', rc=1).stderr
        self.assertIn(b"half of a surrogate pair\n", half)  # no advice that train does not take
        self.write("in", "ab ab")
        self.assertIn(b"--reject in is also an input", self.train("--on-error", "skip", "--reject", "in", "in", rc=2).stderr)

    def test_options_of_texts_need_texts(self):
        self.write("w", "ab\t3\n")
        for option in (["--input-format", "lines"], ["--doc-separator", "x"], ["--invalid", "replace"], ["--recursive"]):
            self.assertIn(f"{option[0]} is for texts; all inputs are word lists".encode(),
                          self.train(*option, "--words", "w", rc=2).stderr)
            self.train(*option, "--words", "w", "-", stdin="ab")

    def test_wrong_use(self):
        self.assertIn(b"--vocab-size N is missing", self.raw("train", "-o", "x").stderr)
        self.assertIn(b"-o FILE is missing", self.raw("train", "--vocab-size", "300").stderr)
        self.assertEqual(self.train(size=10, stdin="x", rc=2).stdout, b"")
        self.assertEqual(self.train("--special", "<a>,<a>", stdin="x", rc=2).stdout, b"")
        self.assertFalse((self.dir / "new.json").exists())
        self.assertIn(b"--vocab is not an option of train", self.train("-v", "x", rc=2).stderr)


class Output(CliTest):
    def train(self, target, *arguments, **more):
        return self.raw("train", "-q", "--vocab-size", "260", "-o", target, *arguments, **more)

    def names(self):
        return sorted(p.name for p in self.dir.iterdir())

    def test_failures_leave_nothing(self):
        self.write("bad", b"abc\xff")
        before = self.names()
        result = self.train("new.json", "bad")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(), "^dstok: bad:1: byte 3: ")
        self.assertEqual(self.names(), before)
        self.write("old.json", "old")
        self.train("old.json", "bad")
        self.assertEqual((self.dir / "old.json").read_text(), "old")
        for target, why, rc in (("no/new.json", "No such file", 2), ("/dev/full", "No space left", 1),
                                (".", "Is a directory", 2)):
            result = self.train(target, stdin="abc")
            self.assertEqual(result.returncode, rc)
            self.assertRegex(result.stderr.decode(), f"^dstok: cannot write .*: {why}")

    def test_input_is_not_overwritten(self):
        self.write("corpus", "abc abc")
        os.link(self.dir / "corpus", self.dir / "same")
        for target in ("corpus", "same"):
            result = self.train(target, "corpus")
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr.decode(), "^dstok: -o .* is also an input")
        self.assertEqual((self.dir / "corpus").read_text(), "abc abc")

    def test_no_room(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        result = self.train("new.json", stdin="abc", preexec_fn=limit, restore_signals=False)  # SIGXFSZ stays ignored
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(), "^dstok: cannot write .*new.json: File too large")
        self.assertEqual(self.names(), ["small.json"])

    def test_interrupted_while_writing(self):
        environment = {**self.env, **shim(self.dir), "SHIM_HANG": "1"}
        before = self.names()
        process = subprocess.Popen([DSTOK, "train", "--vocab-size", "300", "-o", "new.json", "small.json"], cwd=self.dir,
                                   env=environment, stderr=subprocess.PIPE)
        for _ in range(200):
            if [n for n in self.names() if ".tmp." in n]:
                break
            time.sleep(0.05)
        self.assertNotEqual(self.names(), before)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), 130)
        process.stderr.close()
        self.assertEqual(self.names(), before)

    def test_replaces_and_keeps_links(self):
        self.write("real.json", "old")
        os.symlink("real.json", self.dir / "link.json")
        self.assertEqual(self.train("link.json", stdin="ab ab").returncode, 0)
        self.assertTrue((self.dir / "link.json").is_symlink())
        self.assertTrue((self.dir / "real.json").read_text().startswith("{"))
        self.assertEqual([n for n in self.names() if "tmp" in n], [])

    def test_links_that_lead_nowhere_yet(self):
        (self.dir / "d").mkdir()
        os.symlink("later.json", self.dir / "d" / "one")
        os.symlink("d/one", self.dir / "link")
        os.symlink("no/such", self.dir / "lost")
        for name in ("train", "compile"):
            command = ["compile", "-q", "-v", self.vocab, "-o", "link"] if name == "compile" else None
            result = self.raw(*command) if command else self.train("link", stdin="ab ab")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue((self.dir / "link").is_symlink() and (self.dir / "d" / "one").is_symlink())
            self.assertGreater((self.dir / "d" / "later.json").stat().st_size, 100)
            (self.dir / "d" / "later.json").unlink()
            result = self.raw(*command[:-1], "lost") if command else self.train("lost", stdin="ab ab")
            self.assertEqual(result.returncode, 2)

    def test_permissions_are_kept(self):
        for verb in ("train", "compile"):
            for mode in (0o600, 0o644, 0o755):
                path = self.write("out", "")
                os.chmod(path, mode)
                done = self.train("out", stdin="ab ab") if verb == "train" else self.raw("compile", "-v", self.vocab, "-o", "out")
                self.assertEqual((done.returncode, os.stat(path).st_mode & 0o777), (0, mode))
            os.unlink(path)
            umask = os.umask(0o027)
            try:
                self.train("out", stdin="ab ab") if verb == "train" else self.raw("compile", "-v", self.vocab, "-o", "out")
            finally:
                os.umask(umask)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)

    @unittest.skipIf(os.getuid() == 0, "root may write every file")
    def test_protected_files_stay(self):
        os.chmod(self.write("old.json", "old"), 0o444)
        result = self.train("old.json", stdin="ab ab")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr.decode(), "cannot write old.json: Permission denied")
        self.assertEqual((self.dir / "old.json").read_text(), "old")

    def test_devices_are_written_not_replaced(self):
        self.assertEqual(self.train("/dev/stdout", stdin="ab ab").stdout[:1], b"{")
        self.assertTrue(os.path.exists("/dev/null"))

    def test_interrupted(self):
        process = subprocess.Popen([DSTOK, "train", "--vocab-size", "300", "-o", "new.json", "-"], cwd=self.dir,
                                   stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(b"some text ")
        process.stdin.flush()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), 130)
        process.stdin.close()
        process.stderr.close()
        self.assertEqual(self.names(), ["small.json"])
