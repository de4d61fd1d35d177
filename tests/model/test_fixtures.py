#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tiny checkpoints of every architecture against transformers: goldens.json, which reference.py made."""
import json
import pathlib
import tempfile
import unittest

import fixtures
from common import HERE, ask, main, worst

FLOAT32 = 1e-4  # relative
FLOAT64 = 1e-7
# How far twins may be apart: they hold the same numbers, but for factors of frequencies that GGUF keeps as floats.
TWINS = {"llama-3": 2e-6}


class Fixtures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.goldens = json.loads((HERE / "goldens.json").read_text())
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.home = pathlib.Path(cls.folder.name)
        cls.ids = cls.home / "text.ids"
        cls.ids.write_text(" ".join(map(str, fixtures.text_ids())))
        cls.paths = {name: fixtures.write(cls.home, name) for name in fixtures.FIXTURES}

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
        expected = self.goldens["fixtures"][name][kind]
        self.assertIsNone(said.logprobs[0])
        self.assertLessEqual(worst(said.logprobs[1:], expected["logprobs"], kind == "float32"), bound)
        self.assertEqual([token for token, _ in said.top], [token for token, _ in expected["top"]])
        self.assertLessEqual(worst([x for _, x in said.top], [x for _, x in expected["top"]], kind == "float32"), bound)

    def test_float64(self):
        def check(name, path):
            bound = FLOAT64 if path.is_dir() else max(FLOAT64, TWINS.get(name, 0))
            self.compare(ask(path, self.ids, "float64", "top=5"), name, "float64", bound)

        self.each(check)

    def check_float32(self, *options):
        self.each(lambda name, path: self.compare(ask(path, self.ids, "top=5", *options), name, "float32", FLOAT32))

    def test_float32(self):
        self.check_float32()

    def test_weights_as_float(self):
        self.check_float32("weights=1")

    def test_twins_are_equal(self):
        for name, paths in self.paths.items():
            said = [ask(path, self.ids, "float64", "top=5") for path in paths]
            for path, twin in zip(paths[1:], said[1:]):
                with self.subTest(path=path.name):
                    self.assertLessEqual(worst(twin.logprobs[1:], said[0].logprobs[1:], False), TWINS.get(name, 1e-9))

    def same_bits(self, path, base, ways):
        """All ways of reading a text give the same bits."""
        plain = ask(path, self.ids, "top=5", *base)
        for way in ways:
            self.assertEqual(ask(path, self.ids, "top=5", *base, *way.split()).text, plain.text, way)
        again = ask(path, self.ids, "again", "top=5", *base)
        self.assertEqual(float(again.again), plain.logprobs[-1], "taken over pages")
        self.assertEqual(again.top[5:], plain.top, "taken over pages")

    def test_chunks(self):
        ways = "chunk=1", "part=1", "chunk=7", "part=29 chunk=16", "chunk=64", "disturb part=31"
        self.each(lambda _, path: self.same_bits(path, (), ways), twins=False)

    def test_chunks_float64(self):
        ways = "chunk=1", "part=29 chunk=16", "disturb part=31"
        self.each(lambda _, path: self.same_bits(path, ("float64",), ways), twins=False)

    def test_threads(self):
        self.each(lambda _, path: self.same_bits(path, (), ("threads=1", "threads=2", "threads=3 chunk=5", "threads=8")))

    def test_simd(self):
        """Instruction sets may differ in the last bits; each is the same under any chunking."""
        for simd in ("simd=1", "simd=2", "simd=3"):
            self.check_float32(simd)
            self.each(lambda _, path: self.same_bits(path, (simd,), ("chunk=1 threads=3",)))


if __name__ == "__main__":
    main()
