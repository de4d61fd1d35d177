#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stories260K, a small real model of llama2.c: greedy text must be the sample that its authors published."""
import re
import unittest

from common import dsexplain, main, shared


class Stories(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model, cls.vocab = shared("stories260K.bin"), shared("tok512.model")
        page = shared("stories260K.md").read_text()
        cls.sample = re.search(r"-t 0\.0\n(.*?)\n```", page, re.S)[1]

    def check(self, *options):
        made = dsexplain("generate", self.model, "-v", self.vocab, "-p", "", "-n", 256, *options)
        self.assertEqual(made["text"].strip(), self.sample)

    def test_float32(self):
        self.check()

    def test_float64(self):
        self.check("--backend", "float64")


if __name__ == "__main__":
    main()
