#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SmolLM2-135M, a real model, against the numbers of other programs in the shared data.

The model: DSX_SMOLLM2 (path of the GGUF file), or what `tools/get-model smollm2` put in place. DSX_SLOW=1 adds float64 on
a long text.
"""
import hashlib
import os
import pathlib
import tempfile
import unittest

from common import SHARED, ask, golden, main, worst

SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
FLOAT32, FLOAT32_SUM = 5e-4, 5e-5  # the second relative, of sums over a text
FLOAT64, FLOAT64_SUM = 1e-7, 1e-9
UNSURE = 0.01  # of two tokens so close a right program may take either


def find_model():
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    usual = pathlib.Path(home) / "dstok/model/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
    path = pathlib.Path(os.environ.get("DSX_SMOLLM2") or usual)
    if not path.exists():
        raise unittest.SkipTest("SmolLM2 is not there: tools/get-model smollm2 gets it (93 MB)")
    return path


class SmolLM2(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prompts = {p["name"]: p for p in golden(SHARED / "models/smollm2/golden.json")["prompts"]}
        cls.model = find_model()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.ids = pathlib.Path(folder.name) / "ids"

    def ask(self, name, *options):
        self.ids.write_text(" ".join(map(str, self.prompts[name]["ids"])))
        return ask(self.model, self.ids, "top=20", *options)

    def compare(self, said, expected, bound, bound_of_sum):
        nll = [-x for x in said.logprobs[1:]]
        self.assertLessEqual(worst(nll[:64], expected["nll_first64"], False), bound)
        self.assertLessEqual(abs(sum(nll) - expected["nll_sum"]), bound_of_sum * expected["nll_sum"])
        top = dict(zip(expected["top20_ids"], expected["top20_logprob"]))
        common = [i for i, _ in said.top if i in top]
        self.assertGreaterEqual(len(common), 19)  # the last may change places with the one behind it
        self.assertLessEqual(worst([dict(said.top)[i] for i in common], [top[i] for i in common], False), bound)

    def compare_greedy(self, said, expected):
        """The tokens that follow, up to the first that was a matter of chance."""
        sure = next((i for i, m in enumerate(expected["greedy_margin"]) if m < UNSURE), len(expected["greedy_ids"]))
        self.assertEqual(said.greedy[:sure], expected["greedy_ids"][:sure])

    def check_float32(self, name):
        said = self.ask(name, "greedy=32")
        self.compare(said, self.prompts[name], FLOAT32, FLOAT32_SUM)
        self.compare_greedy(said, self.prompts[name])

    def check_float64(self, name):
        self.compare(self.ask(name, "float64"), self.prompts[name]["float64"], FLOAT64, FLOAT64_SUM)

    def test_the_file_is_the_right_one(self):
        digest = hashlib.sha256()
        with open(self.model, "rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
        self.assertEqual(digest.hexdigest(), SHA256)

    def test_no_prompt_is_left_out(self):
        self.assertEqual(sorted(self.prompts), ["1k", "4k", "bytes", "chat", "chat-system-multi", "chinese", "code", "short"])

    def test_short(self):
        self.check_float32("short")

    def test_chat(self):
        self.check_float32("chat")

    def test_chat_system_multi(self):
        self.check_float32("chat-system-multi")

    def test_chinese(self):
        self.check_float32("chinese")

    def test_code(self):
        self.check_float32("code")

    def test_bytes(self):
        self.check_float32("bytes")

    def test_1k(self):
        self.check_float32("1k")

    def test_4k(self):
        self.check_float32("4k")

    def test_float64(self):
        self.check_float64("chinese")

    @unittest.skipUnless(os.environ.get("DSX_SLOW"), "float64 on a long text takes minutes: DSX_SLOW=1")
    def test_float64_1k(self):
        self.check_float64("1k")

    def test_bitwise_repeat(self):
        plain = self.ask("code").text
        for way in ("threads=1", "threads=3 chunk=33", "chunk=1", "part=50 disturb"):
            self.assertEqual(self.ask("code", *way.split()).text, plain, way)


if __name__ == "__main__":
    main()
