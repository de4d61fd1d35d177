# SPDX-License-Identifier: MIT
"""dsexplain selftest: what it checks on which backend, and that it knows that all is as stated."""
import json
import re
import unittest

from test_dsexplain import PROGRAM, Dsexplain as Tiny

TESTS = ["T%d" % i for i in range(1, 10)] + ["T9b", "T10", "T11", "T12", "T14"]
METHODS = {"rows", "flow", "ablate", "loo", "refine", "attention", "at2, weights of the right heads"}


@unittest.skipUnless(PROGRAM.exists(), "this build has no dsexplain")
class Selftest(Tiny):
    def test_all_is_as_stated(self):
        result = self.raw("selftest", "--json")
        self.assertEqual(result.returncode, 0, result.stdout.decode() + result.stderr.decode())
        made = json.loads(result.stdout)
        for row in made["results"]:
            ok = row["least"] <= row["value"] <= row["most"] and row.get("points") in (None, row.get("should_point"))
            self.assertTrue(row["as_stated"] and ok, row)
        self.assertEqual([made["as_stated"], made["not_as_stated"], made["skipped"]], [len(made["results"]), 0, ["T13"]])
        for backend in "cpu", "float64":
            rows = [row for row in made["results"] if row["backend"] == backend]
            self.assertEqual(list(dict.fromkeys(row["test"] for row in rows)), TESTS)
            shares = [row for row in rows if "share on gold" in row["what"] or "at2" in row["what"]]
            self.assertEqual({re.sub("(, gap|, [0-9]+ tokens)?: .*", "", row["what"]) for row in shares}, METHODS)
            self.assertTrue(any(row.get("should_point") is False for row in shares))  # failures are wanted, too

    def test_table(self):
        result = self.raw("selftest", "--backend", "float64")
        text = result.stdout.decode()
        self.assertEqual(result.returncode, 0, text)
        self.assertRegex(text, r"\nT13  CPU against CUDA\n  skipped: .*\n")
        self.assertRegex(text, r"\n  float64  attention: share on gold +0\.08\d+  misses\n")
        self.assertRegex(text, r"\n\d+ results, 0 not as stated\n$")
        self.assertNotIn("  cpu ", text)

    def test_wrong_use(self):
        self.fails(2, "makes its own models", "selftest", self.model)
        self.fails(2, "--method is not an option of selftest", "selftest", "--method", "rows")
        self.fails(1, "absent/dsexplain.*: cannot make a folder", "selftest", env={"TMPDIR": "absent"})


if __name__ == "__main__":
    unittest.main()
