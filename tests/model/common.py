# SPDX-License-Identifier: MIT
"""What the tests of models share: running the driver, comparing with numbers of a reference."""
import json
import math
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared"
DRIVER = os.environ.get("DSX_DRIVER", "")


class Said:
    """What the driver printed: log-probabilities (None for the first), the best next tokens, greedy tokens."""

    def __init__(self, text):
        self.text, self.logprobs, self.top, self.greedy, self.again = text, [], [], [], None
        for line in text.splitlines():
            words = line.split()
            if words[0] == "top":
                self.top.append((int(words[1]), float(words[2])))
            elif words[0] == "greedy":
                self.greedy = [int(word) for word in words[1:]]
            elif words[0] == "again":
                self.again = words[1]
            else:
                self.logprobs.append(None if words[0].endswith("nan") else float(words[0]))


def ask(model, ids, *options, fails=False):
    done = subprocess.run([DRIVER, str(model), str(ids), *options], capture_output=True, text=True, timeout=1500)
    if fails:
        assert done.returncode == 1, done
        return done.stderr
    assert done.returncode == 0, "%s %s: %s" % (model, options, done.stderr.strip() or done.returncode)
    return Said(done.stdout)


def worst(found, expected, relative):
    """The greatest difference; relative: divided by the expected number where that is above 1. NaN is the worst."""
    assert len(found) == len(expected), (len(found), len(expected))
    differences = [abs(a - b) / (max(1, abs(b)) if relative else 1) for a, b in zip(found, expected)]
    return math.inf if any(math.isnan(d) for d in differences) else max(differences)


def golden(path):
    if not path.exists():
        raise unittest.SkipTest("%s is not there (shared data)" % path.name)
    return json.loads(path.read_text())


def main():
    """Runs the tests of the calling script: exit code 77 when all were skipped, with the reasons printed."""
    if not os.access(DRIVER, os.X_OK):
        sys.exit("DSX_DRIVER does not name the driver")
    program = unittest.main(verbosity=1, exit=False, argv=sys.argv)
    result = program.result
    for test, reason in result.skipped:
        print("SKIPPED %s: %s" % (test.id(), reason))
    if not result.wasSuccessful() or result.testsRun == 0:
        sys.exit(1)
    sys.exit(77 if len(result.skipped) == result.testsRun else 0)
