#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tiny checkpoints of every architecture against transformers: goldens.json, which reference.py made."""
import json
import pathlib
import tempfile
import unittest

import fixtures
from common import HERE, drive, dsexplain, logprobs, main, worst

FLOAT32 = 1e-4  # relative
FLOAT64 = 1e-7
# How far twins may be apart: they hold the same numbers, but for some factors of rotary positions that GGUF keeps as
# floats.
TWINS, TWIN = {"llama-3": 2e-6, "llama-yarn-factor": 2e-6}, 1e-9
LONG = ("--context", "256")  # also where the model was made for less
TEXT = "The hen there\n thinks in her way. 日本"


class Fixtures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.goldens = json.loads((HERE / "goldens.json").read_text())
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        home = pathlib.Path(folder.name)
        cls.ids, cls.text = home / "text.ids", home / "text"
        cls.ids.write_text(" ".join(map(str, fixtures.text_ids())))
        cls.text.write_text(TEXT)
        cls.paths = {name: fixtures.write(home, name) for name in fixtures.FIXTURES}

    def each(self, check, twins=True):
        """check(fixture, path) for every checkpoint."""
        for name, paths in self.paths.items():
            for path in paths if twins else paths[:1]:
                with self.subTest(path=path.name):
                    check(name, path)

    def test_goldens_are_of_these_fixtures(self):
        self.assertEqual(sorted(self.goldens["fixtures"]), sorted(fixtures.FIXTURES))
        self.assertEqual(self.goldens["ids"], fixtures.text_ids())

    def compare(self, said, name, kind, bound):
        expected, relative = self.goldens["fixtures"][name][kind], kind == "float32"
        self.assertLessEqual(worst(said.logprobs, expected["logprobs"], relative), bound)
        self.assertEqual([token for token, _ in said.top], [token for token, _ in expected["top"]])
        self.assertLessEqual(worst([x for _, x in said.top], [x for _, x in expected["top"]], relative), bound)

    def check_float32(self, *options):
        self.each(lambda name, path: self.compare(logprobs(path, self.ids, *LONG, *options), name, "float32", FLOAT32))

    def deepseek(self):
        return [(name, path) for name, paths in self.paths.items() if name.startswith("deepseek") for path in paths]

    def test_float32(self):
        self.check_float32()

    def test_weights_as_float(self):
        self.check_float32("--weights", "f32")

    def test_simd(self):
        for simd in ("scalar", "avx2", "avx512"):
            self.check_float32("--simd", simd)

    def test_float64(self):
        """And twins are equal."""
        firsts = {}

        def check(name, path):
            said = logprobs(path, self.ids, *LONG, "--backend", "float64")
            first = firsts.setdefault(name, said)
            self.compare(said, name, "float64", FLOAT64 if first is said else max(FLOAT64, TWINS.get(name, 0)))
            self.assertLessEqual(worst(said.logprobs, first.logprobs), TWINS.get(name, TWIN))

        self.each(check)
        self.assertEqual(len(firsts), len(self.paths))

    def test_fp8_rounded(self):
        """FP8 is rounded to other formats from the numbers that it is."""
        for name, paths in self.paths.items():
            if "fp8" in fixtures.FIXTURES[name][3]:
                said = [logprobs(path, self.ids, "--weights", "w8").logprobs for path in paths]
                self.assertEqual(said[0], said[1])

    def test_heads(self):
        """Keys and values of all heads in place of latents: the same sums in another order."""
        for name, path in self.deepseek():
            with self.subTest(path=path.name):
                said = [logprobs(path, self.ids, *LONG, "--mla", mla) for mla in ("heads", "latent")]
                self.compare(said[0], name, "float32", FLOAT32)
                self.assertNotEqual(said[0].logprobs, said[1].logprobs)
                said = logprobs(path, self.ids, *LONG, "--mla", "heads", "--backend", "float64")
                self.compare(said, name, "float64", FLOAT64)
                config = fixtures.FIXTURES[name][1]
                numbers = config["num_attention_heads"] * sum(
                    config[part] for part in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"))
                bytes_per_token = 4 * config["num_hidden_layers"] * numbers
                self.assertEqual(dsexplain("info", path, "--mla", "heads")["kv_bytes_per_token"], bytes_per_token)
                for plan in dsexplain("plan", path, "--mla", "heads", "--context", "128", "--kv", "float")["cpu"]:
                    self.assertEqual(plan["kv_bytes"], 128 * bytes_per_token)

    # ---- the same bits, whatever the way

    def same_bits(self, path, base, ways):
        plain = drive(path, self.ids, *base)
        for way in ways:
            self.assertEqual(drive(path, self.ids, *base, *way.split()), plain, way)

    def test_chunks(self):
        ways = "chunk=1", "part=1", "chunk=7", "part=29 chunk=16", "chunk=64", "disturb part=31"
        self.each(lambda _, path: self.same_bits(path, (), ways), twins=False)

    def test_chunks_float64(self):
        ways = "chunk=1", "part=29 chunk=16", "disturb part=31"
        self.each(lambda _, path: self.same_bits(path, ("float64",), ways), twins=False)

    def test_threads(self):
        self.each(lambda _, path: self.same_bits(path, (), ("threads=1", "threads=2", "threads=5 chunk=5")))

    def test_chunks_simd(self):
        for simd in ("simd=1", "simd=2", "simd=3"):
            self.each(lambda _, path: self.same_bits(path, (simd,), ("chunk=1 threads=3", "chunk=30")))

    def test_chunks_heads(self):
        ways = "chunk=1", "part=29 chunk=16 threads=3", "disturb part=31", "simd=1 chunk=30"
        for _, path in self.deepseek():
            self.same_bits(path, ("mla=1",), ways)

    def test_pages_taken_over(self):
        def check(_, path):
            first, again = drive(path, self.ids, "again").split("again ")
            lines = first.splitlines()
            self.assertEqual(again.splitlines(), [lines[fixtures.N_TEXT - 1]] + lines[fixtures.N_TEXT:])

        self.each(check, twins=False)

    # ---- texts: every checkpoint has a tokenizer, but for .bin

    def vocab(self, name, path):
        return ("-v", self.paths[name][0] / "tokenizer.json") if path.suffix == ".bin" else ()

    def test_text(self):
        """ppl adds up what logprobs says of each token."""
        def check(name, path):
            vocab = self.vocab(name, path)
            each = dsexplain("logprobs", path, "-f", self.text, "--bos", "on", *vocab)["positions"]
            bos = 1 if path.suffix == ".bin" else fixtures.BOS  # llama2.c has it so
            self.assertEqual([p["id"] for p in each][:4], [bos] + [fixtures.TOKENS.index(t) for t in ("T", "he", "Ġ")])
            ppl = dsexplain("ppl", path, self.text, "--bos", "on", *vocab)
            self.assertEqual(ppl["tokens"], len(each) - 1)
            self.assertLess(abs(ppl["nll"] + sum(p["logprob"] for p in each[1:])), 1e-9 * ppl["nll"])

        self.each(check)

    def test_generate(self):
        """What greedy generation takes is the likeliest token of logprobs, one after the other."""
        def check(name, path):
            made = dsexplain("generate", path, "-f", self.text, "-n", 4, *self.vocab(name, path))
            ids = [p["id"] for p in dsexplain("logprobs", path, "-f", self.text, *self.vocab(name, path))["positions"]]
            self.assertEqual(len(ids), made["prompt_tokens"])
            self.assertIn(len(made["ids"]), range(1, 5))
            whole = self.ids.with_name("whole.ids")
            whole.write_text(" ".join(map(str, ids + made["ids"])))
            answer = dsexplain("logprobs", path, "--ids", whole, "--top", 1)["positions"][len(ids):]
            self.assertEqual([p["top"][0][0] for p in answer], made["ids"])

        self.each(check)


if __name__ == "__main__":
    main()
