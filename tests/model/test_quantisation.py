#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables of docs/quantisation.md: those of stories260K are made anew and must be the page's."""
import pathlib
import subprocess
import sys
import unittest

from common import HERE, main, shared

SCRIPT = HERE.parent / "bench/quantisation.py"
sys.path.insert(0, str(SCRIPT.parent))
import quantisation  # noqa: E402


class Quantisation(unittest.TestCase):
    def test_stories(self):
        model, _ = shared("stories260K.bin"), shared("tok512.model")
        done = subprocess.run([sys.executable, SCRIPT, "--check", f"stories260K={model}"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_differences_are_told(self):
        page = ["| maps | mean KL | MB |", "|---|---|---|", "| w4, groups of 32 | 0.100000 | 1.250 |", "| w8 | – | 2.5 |", ""]

        def found(i, line):
            return len(list(quantisation.differences(page, page[:i] + [line] + page[i + 1:])))

        self.assertEqual(found(2, "| w4, groups of 32 | 0.101500 | 1.250 |"), 0)
        for i, line in ((2, "| w4, groups of 32 | 0.102500 | 1.250 |"), (2, "| w4, groups of 64 | 0.100000 | 1.250 |"),
                        (2, "| w4, groups of 32 | 0.100000 | 1.300 |"), (3, "| w8 | 0.1 | 2.5 |"), (3, "| w8 | – |"),
                        (2, "| w4, groups of 32 | nan | 1.250 |")):
            self.assertEqual(found(i, line), 1, line)
        self.assertEqual(len(list(quantisation.differences(page, page[:-1]))), 1)


if __name__ == "__main__":
    main()
