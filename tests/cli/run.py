#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests of the command line: run.py [path of dstok] [test file names]; the path may also stand in DSTOK_BIN."""
import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True


def main(arguments):
    if arguments and os.access(arguments[0], os.X_OK) and os.path.isfile(arguments[0]):
        os.environ["DSTOK_BIN"] = arguments.pop(0)
    if os.environ.get("DSTOK_BIN"):
        os.environ["DSTOK_BIN"] = os.path.abspath(os.environ["DSTOK_BIN"])  # the tests run in folders of their own
    if not os.access(os.environ.get("DSTOK_BIN", ""), os.X_OK):
        print("cli: DSTOK_BIN does not name the dstok program")
        return 1
    names = [name.removesuffix(".py") for name in arguments] or sorted(p.stem for p in HERE.glob("test_*.py"))
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromName(name) for name in names)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    for test, reason in result.skipped:
        print(f"SKIPPED {test.id()}: {reason}")
    print(f"cli: {result.testsRun} tests, {bad} failed, {len(result.skipped)} skipped")
    if bad or result.testsRun == 0:
        return 1
    return 77 if len(result.skipped) == result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
