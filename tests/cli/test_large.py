# SPDX-License-Identifier: MIT
"""Large records: all threads encode one text and write its list; the output is the same for every number of them."""
import functools
import json
import os
import random
import signal
import subprocess
import time
import unittest

from common import CliTest, DSTOK, END, THE

WORDS = ["the", " the", " ", "  ", "\n", "\n\n", "you're", "你好", "é", "12345", "!?", "<|end|>", "<|end", "\t", "x" * 70, "th"]


@functools.lru_cache(None)
def text_of(n, seed=1):
    """About n bytes in which every kind of pretoken occurs, and a long one without a place to cut at."""
    draw = random.Random(seed)
    parts = ["".join(draw.choices(WORDS, k=n // 30)) for _ in range(4)]
    return ("y" * (n // 8)).join(parts)[: n - n // 8]


class Large(CliTest):
    def agree(self, *arguments, data, rc=0):
        """What one thread writes, to both streams: 2 and 5 write the same."""
        one = self.run_verb(*arguments, "-j1", stdin=data)
        self.assertEqual(one.returncode, rc, one.stderr)
        for threads in (2, 5):
            more = self.run_verb(*arguments, f"-j{threads}", stdin=data)
            self.assertEqual((more.returncode, more.stdout == one.stdout, more.stderr), (rc, True, one.stderr), arguments)
        return one

    def test_ids(self):
        text = text_of(1_400_000)
        out = self.agree("encode", data=text).stdout
        self.assertEqual(out, self.run_verb("encode", "--no-scanner", "-j2", stdin=text).stdout)
        self.assertEqual(self.run_verb("decode", stdin=out).stdout.decode(), text)
        self.agree("encode", "--special", "parse", "--add-special", data=text)

    def test_objects(self):
        text = text_of(1_200_000)
        row = json.loads(self.agree("encode", "--json", "--pieces", data=text).stdout)
        self.assertEqual(row, self.lines("encode", "--json", "--pieces", "--no-scanner", stdin=text)[0])
        data = text.encode()
        self.assertEqual([row["spans"][0][0], row["spans"][-1][1]], [0, len(data)])
        bad = [i for i, (b, e) in enumerate(row["spans"]) if data[b:e].decode("utf-8", "replace").encode() != data[b:e]]
        self.assertEqual(row["partial"], bad)
        self.assertGreater(len(bad), 1000)
        for offsets in ("char", "utf16", "hf", "none"):
            self.agree("encode", "--json", "--offsets", offsets, data=text)
        self.agree("encode", "--pieces", data=text)

    def test_records_stay_in_order(self):
        texts = ["the", text_of(1_200_000), "", "the", text_of(1_300_000), text_of(1_100_000, 2), "the"]
        data = "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts))
        out = self.agree("encode", "--input-format", "jsonl", "--json", data=data).stdout
        rows = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([row["id"] for row in rows], list(range(7)))
        for text, row in zip(texts, rows):
            self.assertEqual(row["spans"][-1][1] if text else 0, len(text.encode()))
        self.assertEqual(rows[3]["ids"], [THE])
        self.agree("encode", "--doc-separator", "\\0", data="\0".join(texts))

    def test_count(self):
        text = text_of(1_400_000)
        tokens, n_bytes, chars, _ = self.agree("count", data=text).stdout.decode().split("\t")
        self.assertEqual((int(n_bytes), int(chars)), (len(text.encode()), len(text)))
        self.assertEqual(int(tokens), len(self.out("encode", stdin=text).split()))
        notes = self.agree("count", data=text + "<|end|>").stderr.decode()
        self.assertRegex(notes, "control tokens in the text, kept as text: [0-9]+, first at ")

    def test_faults(self):
        data = bytearray(text_of(1_300_000).encode())
        at = data.index(b"the", 900_000)
        data[at:at + 3] = b"t\xffe"
        data = bytes(data)
        for verb in ("encode", "count"):
            error = self.agree(verb, data=data, rc=1).stderr.decode()
            self.assertRegex(error, rf": byte {at + 1}: .*UTF-8.*--invalid")
            self.assertNotIn("document", error)
            self.assertRegex(self.agree(verb, "--on-error", "replace", data=data).stderr.decode(), "became U\\+FFFD")
            self.agree(verb, "--on-error", "skip", data=data, rc=3)
            for invalid in ("replace", "raw"):
                self.agree(verb, "--invalid", invalid, data=data)
            self.agree(verb, "--special", "error", data=text_of(1_200_000), rc=1)
        out = self.agree("encode", "--json", "--on-error", "replace", "--special", "error", data=text_of(1_200_000), rc=3).stdout
        self.assertIn("error", json.loads(out))

    def test_all_threads_work(self):
        """While the output waits to be read, the threads are there that encoded it and that write it."""
        command = [DSTOK, "encode", "-v", self.vocab, "-j4", "-"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.env) as program:
            program.stdin.write(text_of(1_400_000).encode())
            program.stdin.close()
            first = program.stdout.read(1)
            threads = os.listdir(f"/proc/{program.pid}/task") if os.path.isdir("/proc/self/task") else None
            self.assertIn(first, b"0123456789")
            program.stdout.read()
        if threads is None:
            raise unittest.SkipTest("no /proc to count threads in")
        self.assertGreaterEqual(len(threads), 1 + 3 + 3)

    def test_output_that_ends(self):
        command = [DSTOK, "encode", "-q", "-v", self.vocab, "-j3"]
        for _ in range(3):
            program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.env)
            program.stdin.write(text_of(1_400_000).encode())
            program.stdin.close()
            program.stdout.read(1)
            program.stdout.close()
            self.assertEqual(program.wait(60), -signal.SIGPIPE)
        if os.path.exists("/dev/full"):
            with open("/dev/full", "wb") as full:
                result = subprocess.run(command, input=text_of(1_400_000).encode(), stdout=full, stderr=subprocess.PIPE, env=self.env)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stderr.count(b"cannot write standard output"), 1)
