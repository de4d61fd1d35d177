# SPDX-License-Identifier: MIT
"""dstok chunk: one object for each chunk, nothing lost, limits held."""
import json
import random
import subprocess
import sys

from common import CliTest, DSTOK, END

SENTENCE = "The river rose slowly and the town slept quietly. "


class Chunk(CliTest):
    def chunks(self, *arguments, stdin=b""):
        return [json.loads(line) for line in self.out("chunk", *arguments, stdin=stdin).splitlines()]

    def test_one_chunk(self):
        self.assertEqual(self.out("chunk", "--max-tokens", "16", stdin="the 你\n"),
                         '{"doc":0,"chunk":0,"byte":[0,8],"char":[0,6],"token":[0,4],"tokens":4,"border":"end","forced":false,'
                         '"text":"the 你\\n"}\n')
        self.assertEqual(self.out("chunk", stdin=""), "")

    def test_nothing_is_lost(self):
        text = SENTENCE * 40 + "河水慢慢上涨。" * 40 + "x" * 500 + "\r\n\r\n" + "é́" * 100
        for limit in "16", "33", "100", "1000", "1K":
            for border in "sentence", "paragraph", "line", "token":
                rows = self.chunks("--max-tokens", limit, "--border", border, "-q", stdin=text)
                self.assertEqual("".join(row["text"] for row in rows), text)
                self.assertLessEqual(max(row["tokens"] for row in rows), int(limit.replace("1K", "1024")))
                self.assertEqual([row["chunk"] for row in rows], list(range(len(rows))))
                at = 0
                for row in rows:
                    self.assertEqual(row["char"], [at, at + len(row["text"])])
                    at = row["char"][1]

    def test_ids_are_those_of_the_whole(self):
        text = SENTENCE * 30
        whole = json.loads(self.out("encode", "--json", stdin=text))["ids"]
        rows = self.chunks("--max-tokens", "100", "--ids", "--no-text", stdin=text)
        self.assertEqual(sum((row["ids"] for row in rows), []), whole)
        self.assertNotIn("text", rows[0])
        for row in rows:
            self.assertEqual(row["ids"], whole[slice(*row["token"])])

    def test_retokenize(self):
        for row in self.chunks("--max-tokens", "100", "--ids", "--border-tokens", "retokenize", stdin=SENTENCE * 30):
            self.assertEqual(row["ids"], json.loads(self.out("encode", "--json", stdin=row["text"]))["ids"])

    def test_add_special_counts(self):
        rows = self.chunks("--max-tokens", "100", "--ids", "--add-special", stdin=SENTENCE * 30)
        for row in rows:
            self.assertEqual((row["ids"][0], len(row["ids"])), (END, row["tokens"]))
            self.assertLessEqual(row["tokens"], 100)
            self.assertEqual(row["token"][1] - row["token"][0], row["tokens"] - 1)

    def test_overlap(self):
        rows = self.chunks("--max-tokens", "200", "--overlap", "1s", stdin=SENTENCE * 30)
        for a, b in zip(rows, rows[1:]):
            self.assertEqual(a["byte"][1] - b["byte"][0], len(SENTENCE))
        for unit in "", "t":
            rows = self.chunks("--max-tokens", "200", "--overlap", "60" + unit, stdin=SENTENCE * 30)
            for a, b in zip(rows, rows[1:]):
                self.assertIn(a["token"][1] - b["token"][0], range(1, 61))

    def test_balance_and_least(self):
        text = SENTENCE * 9
        sizes = [row["tokens"] for row in self.chunks("--max-tokens", "300", "--balance", stdin=text)]
        self.assertLess(abs(sizes[-1] - sizes[-2]), 60)
        for row in self.chunks("--max-tokens", "300", "--min-tokens", "100", stdin=text):
            self.assertGreaterEqual(row["tokens"], 100)

    def test_modes(self):
        code = "int f(void) {\n    return 1; // It ends. Then more.\n}\n\n" * 20
        for row in self.chunks("--max-tokens", "200", "--mode", "code", stdin=code)[:-1]:
            self.assertEqual((row["border"], row["text"][-4:]), ("blank-line", "\n}\n\n"))
        self.assertIn("heading", {row["border"] for row in self.chunks("--max-tokens", "64", "--mode", "markdown",
                                                                        stdin="# One\n\nText here.\n\n" * 20)})

    def test_records_are_documents(self):
        self.write("a", '{"id":7,"text":"the"}\n{"text":"the the"}\n')
        self.write("b", '{"text":"You"}\n')
        rows = self.chunks("--input-format", "jsonl", "a", "b")
        self.assertEqual([(r["doc"], r.get("id"), r["file"], r["text"]) for r in rows],
                         [(0, 7, "a", "the"), (1, None, "a", "the the"), (2, None, "b", "You")])

    def test_threads_do_not_matter(self):
        rng = random.Random(1)
        words = ["the", "river.", "It", "rose.", "\n", "slowly,", "You"]
        self.write("a", "".join(json.dumps({"text": " ".join(rng.choices(words, k=rng.randrange(400)))}) + "\n" for _ in range(200)))
        one = self.out("chunk", "--max-tokens", "64", "--input-format", "jsonl", "-j", "1", "a")
        self.assertEqual(one, self.out("chunk", "--max-tokens", "64", "--input-format", "jsonl", "-j", "4", "a"))
        self.assertGreater(one.count("\n"), 500)

    def test_bad_records(self):
        self.write("a", b"the\nth\xffe\nthe\n")
        result = self.raw("chunk", "--input-format", "lines", "a")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"a:2: byte 6: ", result.stderr)
        result = self.raw("chunk", "--input-format", "lines", "--on-error", "skip", "-q", "a")
        self.assertEqual((result.returncode, [json.loads(x)["doc"] for x in result.stdout.splitlines()]), (3, [0, 2]))
        result = self.raw("chunk", "--input-format", "lines", "--on-error", "replace", "a")
        self.assertEqual([json.loads(x)["text"] for x in result.stdout.splitlines()], ["the", "th\ufffde", "the"])

    def test_long_text_in_parts(self):
        """Read bit by bit, it has the chunks that it has as a whole; and an error has its place."""
        text = "".join(f"{k} {SENTENCE}\n" for k in range(160000)).encode()
        self.write("a", text)
        self.write("b", b"the")
        whole = self.raw("chunk", "--on-error", "skip", "-q", "--max-tokens", "1000", "a", "b").stdout
        self.assertEqual(whole, self.raw("chunk", "-q", "--max-tokens", "1000", "a", "b").stdout)
        alone = self.raw("chunk", "--on-error", "skip", "-q", "--no-text", stdin=text).stdout
        self.assertEqual(alone, self.raw("chunk", "-q", "--no-text", stdin=text).stdout)
        self.write("a", text + b"\xff" + text)
        part, all_or_none = (self.raw("chunk", "-q", *more, "a") for more in ([], ["--max-record", "100000000"]))
        self.assertEqual((part.returncode, part.stderr), (1, all_or_none.stderr))
        self.assertIn(f"a:160001: byte {len(text)}: ".encode(), part.stderr)
        self.assertEqual((all_or_none.stdout, part.stdout[:200]), (b"", self.raw("chunk", "-q", stdin=text).stdout[:200]))

    def test_memory_does_not_grow(self):
        code = ("import resource,subprocess,sys; subprocess.run(sys.argv[2:], stdin=subprocess.Popen(sys.argv[1], shell=True,"
                "stdout=subprocess.PIPE).stdout, stdout=subprocess.DEVNULL, check=True);"
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        sizes = [int(subprocess.run([sys.executable, "-c", code, f"yes '{SENTENCE}' | head -c {n}000000", DSTOK, "chunk", "-q",
                                     "--no-text"], capture_output=True, check=True).stdout) for n in (10, 100)]
        self.assertLess(sizes[1], sizes[0] + 8000)

    def test_notes(self):
        result = self.raw("chunk", "--max-tokens", "64", stdin=SENTENCE * 30)
        self.assertRegex(result.stderr.decode(), r"note: chunks: \d+; they end at: end 1, sentence \d+; forced: 0\n"
                                                 r".*note: full to [\d.]+ % .* p50 \d+ us, p99 \d+ us\n")
        self.assertEqual(self.raw("chunk", "-q", "--max-tokens", "64", stdin=SENTENCE * 30).stderr, b"")

    def test_wrong_options(self):
        for arguments, word in ((["--max-tokens", "15"], "--max-tokens"), (["--max-tokens", "0"], "--max-tokens"),
                                (["--max-tokens", "64X"], "64X"), (["--max-tokens", "17M"], "--max-tokens"),
                                (["--max-tokens", "64", "--overlap", "32"], "--overlap"), (["--overlap", "2x"], "2x"),
                                (["--max-tokens", "64", "--overlap", "17s"], "--overlap"), (["--overlap", ""], "--overlap"),
                                (["--max-tokens", "64", "--min-tokens", "33"], "--min-tokens"), (["--border", "page"], "page"),
                                (["--max-tokens", "-1"], "-1"), (["--json"], "--json")):
            result = self.raw("chunk", *arguments, stdin="the")
            self.assertEqual((result.returncode, result.stdout), (2, b""), arguments)
            self.assertIn(word, result.stderr.decode())
