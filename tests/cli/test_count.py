# SPDX-License-Identifier: MIT
"""dstok count: sums per input."""
import json
import resource
import subprocess

from common import CliTest, DSTOK, sanitized


class Count(CliTest):
    def test_one_input(self):
        self.assertEqual(self.out("count", stdin="the 你\n"), "4\t8\t6\t-\n")
        self.assertEqual(self.out("count", "-", stdin=""), "0\t0\t0\t-\n")

    def test_total_comes_last(self):
        self.write("a", "the the")
        self.write("b", "é")
        self.assertEqual(self.out("count", "a", "b"), "2\t7\t7\ta\n2\t2\t1\tb\n4\t9\t8\ttotal\n")
        self.assertEqual(self.out("count", "a"), "2\t7\t7\ta\n")

    def test_names_do_not_break_the_columns(self):
        name = "a\tb\nc\\d\re"
        self.write(name, "the")
        self.assertEqual(self.out("count", name), "1\t3\t3\ta\\tb\\nc\\\\d\\re\n")
        self.assertEqual(self.lines("count", name)[0]["file"], name)
        self.assertIn("  3.000  a\\tb\\nc\\\\d\\re\n", self.out("inspect", "--fertility", name))

    def test_json(self):
        self.write("a", "the\nthe\n")
        self.write("b", "")
        rows = self.lines("count", "--input-format", "lines", "a", "b")
        self.assertEqual(rows, [{"tokens": 2, "bytes": 6, "chars": 6, "records": 2, "file": "a"},
                                {"tokens": 0, "bytes": 0, "chars": 0, "records": 0, "file": "b"},
                                {"tokens": 2, "bytes": 6, "chars": 6, "records": 2, "total": True}])

    def test_inputs_without_records_are_listed(self):
        for name in "abc":
            self.write(name, "")
        rows = self.out("count", "--input-format", "jsonl", "a", "b", "c").splitlines()
        self.assertEqual([row.split("\t")[3] for row in rows], ["a", "b", "c", "total"])

    def test_equals_encode(self):
        text = "Don't the  你好\r\n<|end|> é\u0301 12345\n"
        for more in ([], ["--special", "parse"], ["--add-special"], ["--input-format", "lines"]):
            ids = self.out("encode", *more, stdin=text).split()
            self.assertEqual(int(self.out("count", *more, stdin=text).split("\t")[0]), len(ids), more)

    def test_bad_records(self):
        self.write("a", b"the\n\xff\nthe\n")
        rows = self.run_verb("count", "--input-format", "lines", "--on-error", "skip", "a")
        self.assertEqual((rows.returncode, rows.stdout), (3, b"2\t6\t6\ta\n"))
        self.write("good", "the")
        rows = self.fails(1, "a:2: byte 4: ", "count", "good", "a")
        self.assertEqual(rows.stdout, b"1\t3\t3\tgood\n")

    def test_memory_stays_flat(self):
        # 60 MB of lines through a pipe, in an address space that could not hold them
        def limit():
            resource.setrlimit(resource.RLIMIT_DATA, (48 << 20, 48 << 20))
        if sanitized():
            self.skipTest("sanitizers reserve memory of their own")
        line = b"the quick brown fox " * 60 + b"\n"
        process = subprocess.Popen([DSTOK, "count", "-v", self.vocab, "-j2", "--input-format", "lines", "--json"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=limit, env=self.env)
        block = line * 1000
        for _ in range(60_000_000 // len(block)):
            process.stdin.write(block)
        out, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(json.loads(out)["bytes"], 60_000_000 // len(block) * 1000 * (len(line) - 1))
