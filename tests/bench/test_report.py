#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page about peers, from samples with known answers; the order of a run; one sample of the program itself."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import peer_report  # noqa: E402
import peers  # noqa: E402
import worst  # noqa: E402

CPU = {"name": "Made(R) Up CPU", "family": "6", "model": "1", "cores": 2, "vectors": "AVX2"}


def sample(peer, number=0, vocab="o200k", name="en", threads=1, ids="right", tier=None, **figures):
    row = {"round": number, "vocab": vocab, "name": name, "peer": peer, "threads": threads, "share": 1.0, "version": "1",
           "piece": "2026-01-02 03:04:05", "bytes": 4_000_000, "tokens": 9, "ids_sha256": ids, "big_sha256": ids,
           "load_mb": 10, "rss_mb": 20, "loaded_mb": 9, "kept_mb": 19,
           "load_ms": {"wall": 500, "cpu": 500}, "first_ms": {"wall": 0, "cpu": 0}}
    slow_wall = 2 if threads == 1 else 1        # the wall clock of one thread shows half the speed
    row["figures"] = {key: {"wall": value / slow_wall, "cpu": value} for key, value in figures.items()}
    return {**row, "tier": tier} if tier else row


def row_of(page, *starts):
    """Cells of the first table row that begins with these."""
    for line in page.splitlines():
        found = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and found[:len(starts)] == list(starts):
            return found
    raise AssertionError(f"no row {starts} in\n{page}")


class Page(unittest.TestCase):
    def goal(self, samples, *starts):
        return row_of(peer_report.page(samples, CPU, "cpu"), *starts)[2:]

    def test_ratio_is_taken_in_each_round(self):
        samples = []
        for number, (ours, a, b) in enumerate([(400, 200, 100), (300, 50, 100), (100, 25, 10)]):    # 2, 3, 4
            samples += [sample("dstok", number, warm=ours, tier="avx512"), sample("gigatoken", number, warm=a),
                        sample("fastokens", number, warm=b)]
        self.assertEqual(self.goal(samples, "warm ÷ best peer", "English"), ["≥ 2", "3 ✓"])
        for row in samples:
            if "tier" in row:
                row["tier"] = "avx2"
        self.assertEqual(self.goal(samples, "warm ÷ best peer", "English"), ["≥ 1.5", "3 ✓"])
        for row in samples:
            if "tier" in row:
                row["tier"] = "auto"
        self.assertEqual(self.goal(samples, "warm ÷ best peer", "English"), ["≥ 2", "3 ✓"])
        del samples[0]                          # a round without us does not count
        self.assertEqual(self.goal(samples, "warm ÷ best peer", "English"), ["≥ 2", "3.5 ✓"])

    def test_goals_met_and_missed(self):
        for warm, word in ((150, "1.5 ✓"), (149, "1.49 ✗"), (149.9, "1.5 ✓")):
            samples = [sample("dstok", warm=warm, tier="avx2"), sample("fastokens", warm=100)]
            self.assertEqual(self.goal(samples, "warm ÷ best peer", "English")[1], word)
        samples = [sample("dstok-compiled"), sample("dstok", tier="avx2")]
        self.assertEqual(self.goal(samples, "opening a .dstok file, ms", "English"), ["≤ 5", "500 ✗"])
        samples[0]["load_ms"]["cpu"] = 4.9
        self.assertEqual(self.goal(samples, "opening a .dstok file, ms", "English"), ["≤ 5", "4.9 ✓"])
        self.assertEqual(self.goal(samples, "warm ÷ tiktoken", "English"), ["≥ 50", "–"])

    def test_start_holds_loading(self):
        # 4 MB: 0.5 s for loading and 0.5 s at 8 MB/s are 4 MB/s; 0.5 s and 0.1 s at 40 MB/s are 6.67 MB/s
        samples = [sample("dstok", cold=40), sample("gigatoken", cold=8)]
        self.assertEqual(self.goal(samples, "first pass with loading ÷ best peer", "English")[1], "1.67 ✗")

    def test_threads_take_the_wall_clock(self):
        samples = [sample("dstok", warm=200), sample("dstok", threads=2, warm=190)]
        samples[1]["kept_mb"] = 49
        samples[1]["figures"]["warm"]["cpu"] = 195
        self.assertEqual(self.goal(samples, "two threads ÷ one", "English")[1], "1.9 ✓")       # 190 by 200 / 2
        self.assertEqual(self.goal(samples, "two threads: MB per CPU second ÷ one", "English")[1], "0.975 ✓")
        self.assertIn("190", row_of(peer_report.page(samples, CPU, "cpu"), "dstok"))
        self.assertEqual(self.goal(samples, "memory of another thread, MiB", "English"), ["≤ 16", "30 ✗"])

    def test_ids(self):
        samples = [sample("tiktoken", warm=5), sample("gigatoken", warm=9, ids="other"), sample("dstok", warm=8)]
        page = peer_report.page(samples, CPU, "cpu")
        self.assertEqual(row_of(page, "gigatoken")[1], "DIFFERENT")
        self.assertEqual(row_of(page, "dstok")[1], "same")
        self.assertEqual(peer_report.wrong_ids(samples), [])
        samples[2]["ids_sha256"] = "wrong"
        self.assertEqual(peer_report.wrong_ids(samples), ["o200k, en, dstok x1: DIFFERENT"])
        samples[2].update(ids_sha256="right", big_sha256="wrong")
        self.assertEqual(peer_report.wrong_ids(samples), ["o200k, en, dstok x1: one document DIFFERENT"])
        samples[2] = {**{k: samples[2][k] for k in ("round", "vocab", "name", "peer", "threads", "piece", "bytes")},
                      "error": "died"}
        self.assertEqual(peer_report.wrong_ids(samples), ["o200k, en, dstok x1: died"])
        self.assertIn("- o200k, English, dstok: died", peer_report.page(samples, CPU, "cpu"))

    def test_disturbed_samples_are_left_out(self):
        samples = [sample("dstok", 0, warm=100), sample("dstok", 1, warm=10), sample("gigatoken", 0, warm=100),
                   sample("gigatoken", 1, warm=100)]
        samples[1]["share"] = 0.5
        page = peer_report.page(samples, CPU, "cpu", 0.9)
        self.assertEqual(row_of(page, "warm ÷ best peer", "English")[3], "1 ✗")
        self.assertEqual(row_of(page, "dstok")[-2:], ["9 / 19 / 20", "1"])

    def test_bars(self):
        page = peer_report.page([sample("dstok", warm=100), sample("gigatoken", warm=50)], CPU, "cpu")
        lines = {line.split()[0]: line.count("█") for line in page.splitlines() if "█" in line}
        self.assertEqual(lines, {"dstok": 50, "gigatoken": 25})

    def test_chart(self):
        samples = [sample("dstok", warm=100, unseen=40), sample("gigatoken", warm=50, unseen=80), sample("hf", warm=1),
                   sample("dstok-compiled", warm=9), sample("dstok", vocab="qwen3", warm=7)]
        picture = peer_report.chart(samples, {**CPU, "name": "A <fast> one"}, "cpu")
        root = ElementTree.fromstring(picture)
        words = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(words[:2], ["o200k, one thread, MB of text a second", "A <fast> one"])
        self.assertEqual(words[2:], ["English: text not seen before", "gigatoken", "80", "dstok", "40", "tokenizers 0.23", "–",
                                     "English: the same text again", "dstok", "100", "gigatoken", "50", "tokenizers 0.23", "1"])
        rects = list(root.iter("{http://www.w3.org/2000/svg}rect"))[1:]     # the first is the background
        bars = [(node.get("fill"), float(node.get("width"))) for node in rects]
        self.assertEqual([fill == peer_report.OURS for fill, _ in bars], [False, True, True, False, False])
        self.assertEqual([width / bars[0][1] for _, width in bars[:4]], [1, 0.5, 1, 0.5])
        self.assertIn("(x.svg)", peer_report.page(samples, CPU, "cpu", picture="x.svg"))
        self.assertNotIn(".svg", peer_report.page(samples, CPU, "cpu"))
        self.assertIsNone(peer_report.chart(samples[:1], CPU, "cpu"))   # nobody to compare with
        self.assertIsNone(peer_report.chart([], CPU, "cpu"))

    def test_worst(self):
        samples = [sample("dstok", name="emoji, 4 MB", cold=30, big=24), sample("dstok", name="emoji, 1 MB", cold=36, big=40),
                   sample("dstok", warm=1)]
        self.assertEqual(row_of(peer_report.page(samples, CPU, "cpu"), "emoji"), ["emoji", "24 ✓ (× 1.5)"])
        samples[0]["figures"]["big"]["cpu"] = 23
        self.assertEqual(row_of(peer_report.page(samples, CPU, "cpu"), "emoji"), ["emoji", "23 ✗ (× 1.57)"])


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        (self.dir / "en.txt").write_bytes("é".encode() * 700)
        for kind in ("ranks", "json"):
            (self.dir / peers.VOCABULARIES["o200k"][kind]).write_bytes(b"")
        self.args = argparse.Namespace(
            vocab=["o200k"], text=["en"], peers=["dstok", "gigatoken", "hf"], threads=[1, 2], rounds=3, max_mb=0.0010015,
            budget=0.001, timeout=60, worst=False, worst_mb=(0.001, 0.002), path={}, dstok="true", vocab_dir=self.dir,
            text_dir=self.dir, cache=self.dir, piece="2026-01-02 03:04:05")

    def test_order(self):
        jobs = list(peers.jobs(self.args))
        order = [(job["round"], job["peer"], job["threads"]) for job in jobs]
        a, b, c = [("dstok", 1), ("dstok", 2)], [("gigatoken", 1), ("gigatoken", 2)], [("hf", 1)]
        self.assertEqual(order, [(n, *x) for n, turn in enumerate((a + b + c, b + c + a, c + a + b)) for x in turn])
        self.assertEqual(pathlib.Path(jobs[0]["text"]).read_bytes(), "é".encode() * 500)     # not half a character

    def test_one_size_of_a_text(self):
        job = next(peers.jobs(self.args))
        peers.check_size(job, [{**sample("dstok"), "bytes": 1000}, sample("dstok", name="zh")])
        with self.assertRaisesRegex(SystemExit, "en has 999 bytes in the samples"):
            peers.check_size(job, [{**sample("dstok"), "bytes": 999}])

    def test_slug(self):
        for name, want in (("Intel(R) Xeon(R) Platinum 8488C CPU @ 2.4GHz", "intel-xeon-platinum-8488c"),
                           ("AMD EPYC 7R13 48-Core Processor", "amd-epyc-7r13"), ("Made(R) Up Processor", "made-up-6-1")):
            self.assertEqual(peers.slug({**CPU, "name": name}), want)

    def test_worst_texts(self):
        names = set()
        for name, path, _ in worst.files(self.dir, (0.001, 0.004)):
            data = path.read_bytes()
            names.add(name)
            self.assertAlmostEqual(len(data), 1000 if "0.001" in name else 4000, delta=3)
            if not name.startswith("random"):
                data.decode()
            if not name.startswith(("blanks", "minified")):
                self.assertTrue(name.startswith("random") or b" " not in data, name)
        self.assertEqual(len(names), 2 * len(worst.KINDS))

    @unittest.skipUnless(os.access(os.environ.get("DSTOK_BIN", ""), os.X_OK), "DSTOK_BIN does not name the program")
    def test_sample_of_dstok(self):
        self.args.dstok = os.environ["DSTOK_BIN"]
        job = {"round": 0, "vocab": "o200k", "name": "en", "peer": "dstok", "threads": 1, "files": {"dstok": "default"},
               "text": str(self.dir / "en.txt"), "budget": 0.001}
        row = peers.sample(job, self.args)
        self.assertNotIn("error", row)
        self.assertEqual(set(row["figures"]), {"cold", "unseen", "warm", "big", "count", "decode"})
        for figure in (*row["figures"].values(), row["load_ms"], row["first_ms"]):
            self.assertEqual(set(figure), {"wall", "cpu"})
        self.assertEqual(row["bytes"], 1400)
        self.assertIn("o200k, English", peer_report.page([row], CPU, "wall"))
        bad = peers.sample({**job, "files": {"dstok": "absent.json"}}, self.args)
        self.assertIn("cannot open absent.json", bad["error"])


class Arguments(unittest.TestCase):
    def fails(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            command = [sys.executable, peers.__file__, "-o", str(page), *arguments]
            result = subprocess.run(command, capture_output=True, text=True, timeout=60)
            self.assertEqual((result.returncode, result.stdout, page.exists()), (2, "", False))
            self.assertIn(text, result.stderr)

    def test_a_page_of_nothing_is_not_written(self):
        self.fails("--report makes the page from the samples of --json FILE; it is not there", "--report")
        self.fails("absent.json is not there", "--report", "--json", "absent.json")

    def test_folders_of_peers(self):
        for path in ("hf1=absent", "hf1", "hf1=", "hf2=.", "=."):
            self.fails(f"--path {path}: PEER=FOLDER is wanted", "--path", path)


if __name__ == "__main__":
    unittest.main()
