# SPDX-License-Identifier: MIT
"""What the tests of models share: asking dsexplain and the driver, comparing with numbers of a reference."""
import json
import math
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SHARED = pathlib.Path(os.environ.get("DSTOK_SHARED") or HERE.parents[2] / "shared")
DRIVER = os.environ.get("DSX_DRIVER", "")
PROGRAM = os.environ.get("DSX_BIN", "")


def run(*command):
    """Standard output of a command that must end well."""
    done = subprocess.run([str(word) for word in command], capture_output=True, timeout=1500)
    if done.returncode != 0:
        words = " ".join(pathlib.Path(str(word)).name for word in command)
        raise AssertionError("%s: %s" % (words, done.stderr.decode().strip() or "exit %d" % done.returncode))
    return done.stdout.decode()


def dsexplain(verb, model, *options):
    """The JSON object that a verb prints."""
    return json.loads(run(PROGRAM, verb, model, *options, "--json"))


class Said:
    """What was said of a text: log-probabilities of its tokens but the first, and the best tokens behind it."""

    def __init__(self, logprobs, top):
        self.logprobs, self.top = logprobs, top


def logprobs(model, ids, *options, top=5):
    answer = dsexplain("logprobs", model, "--ids", ids, "--top", top, *options)
    values = [position["logprob"] for position in answer["positions"]]
    assert values[0] is None and None not in values[1:]
    return Said(values[1:], answer["next"])


def drive(model, ids, *options):
    """What the driver prints; it knows ways of reading that the program has no options for."""
    return run(DRIVER, model, ids, "top=5", *options)


def worst(found, expected, relative=False):
    """The greatest difference; relative: divided by the expected number where that is above 1. NaN is the worst."""
    assert len(found) == len(expected), (len(found), len(expected))
    differences = [abs(a - b) / (max(1, abs(b)) if relative else 1) for a, b in zip(found, expected)]
    return math.inf if any(math.isnan(d) for d in differences) else max(differences)


def shared(name):
    """A file of the shared data."""
    path = SHARED / "models" / name
    if not path.exists():
        raise unittest.SkipTest("%s is not there (shared data)" % path.name)
    return path


def main():
    """Runs the tests of the calling script: exit code 77 when all were skipped, with the reasons printed."""
    for name, path in (("DSX_BIN", PROGRAM), ("DSX_DRIVER", DRIVER)):
        if not os.access(path, os.X_OK):
            sys.exit("%s does not name a program" % name)
    result = unittest.main(verbosity=1, exit=False).result
    for test, reason in result.skipped:
        print("SKIPPED %s: %s" % (test.id(), reason))
    if not result.wasSuccessful() or result.testsRun == 0 and not result.skipped:
        sys.exit(1)
    sys.exit(77 if result.testsRun == 0 or len(result.skipped) == result.testsRun else 0)
