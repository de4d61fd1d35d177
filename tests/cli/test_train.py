# SPDX-License-Identifier: MIT
"""dstok train: inputs, weights, and an output that is whole or absent."""
import json
import os
import resource
import signal
import subprocess
import time

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
        result = self.train("--pattern", "(", rc=2, stdin="ab ab")
        self.assertTrue(result.stderr.startswith(b"dstok: "))

    def test_weights(self):
        self.write("a", "xy xy")
        self.write("b", "pq pq pq")
        self.train("a", "b", size=257)
        self.assertEqual(self.merges(), [["p", "q"]])
        self.train("--weight", "2", "a", "--weight", "1", "b", size=257)
        self.assertEqual(self.merges(), [["x", "y"]])
        self.assertIn(b"weights of texts are whole numbers", self.train("--weight", "0.5", "a", rc=2).stderr)
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
        self.train("--weight", "0.05", "--words", "w", rc=0)  # counts below a half vanish
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

    def test_order_of_inputs_does_not_matter(self):
        self.write("a", "some text the text that " * 3)
        self.write("b", "more of the text here")
        self.train("a", "b")
        first = (self.dir / "new.json").read_bytes()
        self.train("b", "a")
        self.assertEqual(first, (self.dir / "new.json").read_bytes())

    def test_wrong_use(self):
        self.assertIn(b"--vocab-size N is missing", self.raw("train", "-o", "x").stderr)
        self.assertIn(b"-o FILE is missing", self.raw("train", "--vocab-size", "300").stderr)
        self.assertEqual(self.train(size=10, stdin="x", rc=2).stdout, b"")
        self.assertEqual(self.train("--special", "<a>,<a>", stdin="x", rc=2).stdout, b"")
        self.assertFalse((self.dir / "new.json").exists())
        self.assertIn(b"unknown option", self.train("-v", "x", rc=2).stderr)


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
                                (".", "Is a directory", 1)):
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
