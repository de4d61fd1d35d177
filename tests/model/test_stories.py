#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stories260K, a small real model of llama2.c: greedy text must be the sample that its authors published."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from common import SHARED, ask, main

MODELS = SHARED / "models"
DSTOK = os.environ.get("DSTOK_BIN", "")
BOS = 1


def published():
    """The sample at temperature 0."""
    page = (MODELS / "stories260K.md").read_text()
    return re.search(r"-t 0\.0\n(.*?)\n```", page, re.S)[1]


def decoded(ids, folder):
    """Text of ids, by the vocabulary of the model."""
    file = folder / "decode.ids"
    file.write_text(" ".join(map(str, ids)) + "\n")
    done = subprocess.run([DSTOK, "decode", "-v", str(MODELS / "tok512.model"), str(file)], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


class Stories(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for name in ("stories260K.bin", "stories260K.md", "tok512.model"):
            if not (MODELS / name).exists():
                raise unittest.SkipTest("%s is not there (shared data)" % name)
        if not os.access(DSTOK, os.X_OK):
            raise unittest.SkipTest("DSTOK_BIN does not name dstok, which turns ids into text")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.ids = cls.folder / "ids"
        cls.ids.write_text("%d\n" % BOS)

    def check(self, *options):
        said = ask(MODELS / "stories260K.bin", self.ids, "greedy=256", *options)
        ids = said.greedy[:said.greedy.index(BOS)] if BOS in said.greedy else said.greedy
        self.assertEqual(decoded(ids, self.folder).strip(), published())

    def test_float32(self):
        self.check()

    def test_float64(self):
        self.check("float64")


if __name__ == "__main__":
    main()
