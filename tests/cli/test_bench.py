# SPDX-License-Identifier: MIT
"""dstok bench: what it measures, not how fast that is."""
import gzip
import hashlib
import json
import os
import signal
import struct
import subprocess
import unittest

from common import DSTOK, CliTest, sanitized, small_vocabulary

SPEEDS = ["cold", "unseen", "warm", "big", "count", "decode"]
KEYS = ["file", "version", "tier", "threads", "load_ms", "rss_mb", *SPEEDS, "ids_sha256", "stages"]
MORE = ["clock", "bytes", "documents", "tokens", "first_ms", "load_mb", "loaded_mb", "kept_mb", "big_sha256", "lossless"]
STAGES = ["utf8", "classify", "boundaries", "pieces", "probe", "encode", "merge", "spans", "count", "decode"]
FAST = ["classify", "boundaries", "pieces", "probe"]    # what only the fast way has
TIERS = ["scalar", "avx2", "avx512", "neon"]  # or "auto": the library's own choice, where it does not tell
TEXT = ("a" + "你好, the 🙂 theme <|end|>\n" * 2000).encode()  # the first cut would fall into a character


def documents(data):
    """Pieces of 16 KB; a piece that would end inside a character takes the rest of it."""
    while data:
        n = 16384
        while n < len(data) and data[n] & 0xC0 == 0x80:
            n += 1
        yield data[:n]
        data = data[n:]


class Bench(CliTest):
    def bench(self, *arguments, **more):
        return self.lines("bench", "--budget", "1", *arguments, **more)

    def hash_of(self, texts):
        """SHA-256 of the ids that encode gives for the texts."""
        records = "".join(json.dumps({"text": text.decode()}) + "\n" for text in texts)
        rows = self.lines("encode", "--input-format", "jsonl", stdin=records)
        ids = [i for row in rows for i in row["ids"]]
        return hashlib.sha256(struct.pack(f"<{len(ids)}I", *ids)).hexdigest(), len(ids)

    def test_object(self):
        self.assertEqual(TEXT[16384] & 0xC0, 0x80)
        path = self.write("t.txt", TEXT)
        row, = self.bench("-j", "1", path)
        self.assertEqual(set(row), {*KEYS, *MORE})
        self.assertEqual(list(row["stages"]), STAGES)
        for key in [*SPEEDS, "load_ms", "first_ms"]:
            self.assertGreater(row[key], 0, key)
        for key in STAGES:
            self.assertGreater(row["stages"][key], 0, key)
        self.assertEqual((row["file"], row["threads"], row["clock"]), (path, 1, "cpu"))
        self.assertIn(row["tier"], [*TIERS, "auto"])
        self.assertRegex(row["version"], r"^\d+\.\d+\.\d+$")
        pieces = list(documents(TEXT))
        self.assertEqual((row["bytes"], row["documents"]), (len(TEXT), len(pieces)))
        self.assertEqual((row["ids_sha256"], row["tokens"]), self.hash_of(pieces))
        self.assertEqual(row["big_sha256"], self.hash_of([TEXT])[0])
        self.assertIs(row["lossless"], True)

    def test_threads_and_tiers_agree(self):
        path = self.write("t.txt", TEXT)
        rows = [row for threads in "137" for row in self.bench("--threads", threads, "--tier", "every", path)]
        self.assertGreaterEqual(len(rows), 3)
        self.assertEqual({row["threads"] for row in rows}, {1, 3, 7})
        for key in ["ids_sha256", "big_sha256", "tokens", "documents", "lossless"]:
            self.assertEqual(len({row[key] for row in rows}), 1, key)
        self.assertEqual({row["clock"] for row in rows if row["threads"] > 1}, {"wall"})
        tiers = [row["tier"] for row in rows if row["threads"] == 1]
        self.assertEqual(tiers, [t for t in ["auto", *TIERS] if t in tiers])
        best, = self.bench("-j1", "--tier", "best", path)
        self.assertEqual(best["tier"], tiers[-1])
        for tier in TIERS:
            if tier in tiers:
                self.assertEqual(self.bench("-j1", "--tier", tier, path)[0]["tier"], tier)
            else:
                self.fails(2, f"--tier {tier}: cannot be chosen here; there is: {', '.join(tiers)}; see", "bench", "--tier", tier, path)

    def test_clock(self):
        self.assertEqual(self.bench("-j1", "--clock", "wall", stdin="the")[0]["clock"], "wall")
        self.assertEqual(self.bench("-j2", "--clock", "cpu", stdin="the")[0]["clock"], "cpu")

    def test_inputs(self):
        one, two = self.write("1.txt", "the theme"), self.write("2.txt.gz", gzip.compress(b"x" * 40000))
        rows = self.bench(one, two)
        self.assertEqual([(row["file"], row["bytes"], row["documents"]) for row in rows], [(one, 9, 1), (two, 40000, 3)])
        self.assertEqual(self.bench("--no-decompress", two, "--invalid", "raw")[0]["bytes"], os.path.getsize(two))
        row, = self.bench(stdin="the")
        self.assertEqual((row["file"], row["tokens"]), ("-", 1))
        self.write("folder/a", "the")
        self.assertEqual(len(self.bench("--recursive", "folder")), 1)

    def test_raw_and_changed_text(self):
        row, = self.bench("--invalid", "raw", stdin=bytes(range(256)) * 300)
        self.assertEqual((row["bytes"], row["tokens"], row["lossless"]), (76800, 76800, True))
        row, = self.bench("--invalid", "replace", stdin=b"a\xff")
        self.assertEqual((row["tokens"], row["lossless"]), (4, False))
        vocab = small_vocabulary()
        vocab["normalizer"] = {"type": "NFC"}
        path = self.write("nfc.json", json.dumps(vocab))
        result = self.raw("bench", "-v", path, "--budget", "1", stdin="e\u0301".encode())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"decoding does not give this text back", result.stdout)

    @unittest.skipIf(sanitized(), "a sanitizer keeps what was freed")
    def test_memory_does_not_grow_with_the_passes(self):
        row, = self.lines("bench", "-j1", "--budget", "1000", stdin="a" * 60000)  # 99 passes of 240 KB of ids
        self.assertLess(row["rss_mb"] - row["load_mb"], 8)
        self.assertLess(row["kept_mb"] - row["loaded_mb"], 8)
        self.assertGreater(row["kept_mb"], row["loaded_mb"])

    def test_special(self):
        self.assertEqual(self.bench(stdin="<|end|>")[0]["tokens"], 7)
        self.assertEqual(self.bench("--special", "parse", stdin="<|end|>")[0]["tokens"], 1)

    def test_table(self):
        text = self.out("bench", "-j1", "--budget", "1", stdin="the theme" * 3000, env={"COLUMNS": "100"})
        lines = text.splitlines()
        self.assertIn("standard input: 27000 bytes, 2 documents, ", lines[0])
        self.assertRegex(lines[1], r"^vocabulary .*small.json, dstok \d.*, (auto|scalar|avx2|avx512|neon), 1 thread, CPU time$")
        rows = [line for line in lines if line.startswith("  ") and "MB/s" not in line]
        self.assertEqual(len(rows), 8 + 1 + 6)
        for row in rows[:8]:
            self.assertRegex(row, r"^  [a-z ]+ +\d+\.\d +\d+\.\d\d( +█*)?$")
        bars = [row.count("█") for row in rows]
        self.assertEqual(max(bars), 58)
        self.assertEqual(bars[7:], [0] * 8)
        self.assertRegex(rows[8], "^  encoding again up to a stage")
        shares = []
        for row, name in zip(rows[9:], ("UTF-8 check", "classes", "boundaries", "cuts, places", "ids from cache", "all of it")):
            self.assertRegex(row, rf"^  {name} +\d+\.\d +\d+%$")
            shares.append(int(row.split()[-1][:-1]))
        self.assertIn(sum(shares), range(97, 104))  # whatever disturbed it
        self.assertLessEqual(max(map(len, lines[2:])), 100)

    def test_stages_that_are_not_there(self):
        vocab = small_vocabulary()
        vocab["pre_tokenizer"] = {"type": "Whitespace"}
        path = self.write("slow.json", json.dumps(vocab))
        result = self.raw("bench", "--json", "--budget", "1", "-v", path, stdin=b"the theme")
        stages = json.loads(result.stdout)["stages"]
        for key in STAGES:
            (self.assertIsNone if key in FAST else self.assertIsNotNone)(stages[key], key)
        table = self.raw("bench", "--budget", "1", "-v", path, stdin=b"the theme").stdout.decode()
        self.assertIn("decoded again", table)
        self.assertNotIn("up to a stage", table)
        why = "  no stages: this vocabulary, or this text with it, has no fast way and goes pretoken by pretoken\n"
        self.assertIn(why, table)
        vocab = small_vocabulary()
        del vocab["model"]["vocab"]["q"]  # a byte without a token: texts that have it are encoded piece by piece
        path = self.write("bare.json", json.dumps(vocab))
        for text, missing in ((b"the theme", []), (b"the theme q", FAST)):
            result = self.raw("bench", "--json", "--budget", "1", "-v", path, stdin=text)
            stages = json.loads(result.stdout)["stages"]
            self.assertEqual([key for key in STAGES if stages[key] is None], list(missing))
            table = self.raw("bench", "--budget", "1", "-v", path, stdin=text).stdout.decode()
            self.assertEqual(why in table, missing == FAST)
        table = self.out("bench", "--budget", "1", "--invalid", "raw", stdin=b"a\xff")
        self.assertIn("  no stages: the text is not UTF-8\n", table)
        self.assertNotIn("no stages", self.out("bench", "--no-stages", "--budget", "1", stdin="the theme"))
        row, = self.bench("--no-stages", stdin="the theme")
        self.assertEqual([key for key in STAGES if row["stages"][key] is not None], ["encode", "count", "decode"])
        self.assertGreater(min(row[key] for key in SPEEDS), 0)
        self.assertEqual(self.out("bench", "--no-stages", "--budget", "1", stdin="the theme").count(" - "), 0)
        stages = self.bench("--invalid", "raw", stdin=b"a\xff")[0]["stages"]
        for key in STAGES:
            (self.assertIsNone if key in ["utf8", *FAST] else self.assertIsNotNone)(stages[key], key)

    def test_place_of_a_fault(self):
        bad = b"a" * 50000 + b"\xff" + b"b" * 50000 + b"\xfe"
        for threads in "128":
            result = self.fails(1, r"standard input: byte 50000: invalid UTF-8.* \(--invalid\)\n", "bench", "-j", threads,
                                stdin=bad)
            self.assertEqual((result.stdout, result.stderr.count(b"\n")), (b"", 1))
        text = b"a" * 40000 + b"<|end|>"
        self.fails(1, r"byte 40000: .*\(--special\)", "bench", "--special", "error", stdin=text)

    def test_wrong_use(self):
        self.fails(1, "cannot read standard input: it is empty: there is nothing to measure", "bench")
        self.fails(2, "cannot open absent.txt", "bench", "absent.txt")
        self.fails(2, "it is a folder", "bench", str(self.dir))
        self.fails(2, "--tier: \"sse9\" is not one of best.every.scalar", "bench", "--tier", "sse9", stdin="a")
        self.fails(2, "--clock: \"sun\" is not one of auto.cpu.wall", "bench", "--clock", "sun", stdin="a")
        self.fails(2, "--budget must be at least 1", "bench", "--budget", "0", stdin="a")
        self.fails(2, "--budget: at most", "bench", "--budget", "3600001", stdin="a")
        self.fails(2, "--pieces is not an option of bench", "bench", "--pieces", stdin="a")
        result = self.raw("bench", "-v", "absent.json", stdin="the")
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertIn(b"cannot open absent.json", result.stderr)
        # a fault in the second input leaves the answer for the first
        one, two = self.write("1.txt", "the"), self.write("2.txt", "")
        result = self.run_verb("bench", "--json", "--budget", "1", one, two)
        self.assertEqual((result.returncode, result.stdout.count(b"\n")), (1, 1))

    def test_reader_that_goes_away(self):
        out, into = os.pipe()
        os.close(out)
        result = self.run_verb("bench", "--budget", "1", stdin="the", stdout=into)
        os.close(into)
        self.assertEqual((result.returncode, result.stderr), (-signal.SIGPIPE, b""))

    @unittest.skipUnless(os.path.isdir("/proc/self"), "needs /proc")
    def test_nothing_is_left_behind(self):
        path = self.write("t.txt", TEXT)
        command = [DSTOK, "bench", "-v", self.vocab, "--budget", "60000", path]
        program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child = None
        while child is None and program.poll() is None:
            child = (open(f"/proc/{program.pid}/task/{program.pid}/children").read().split() or [None])[0]
        program.kill()
        program.wait()
        out, _ = program.communicate(timeout=60)  # ends when the child has closed its output, too
        self.assertIsNotNone(child)
        self.assertEqual(out, b"")
