#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SmolLM2-135M, a real model, against the numbers of other programs in the shared data.

The model: DSX_SMOLLM2 (path of the GGUF file), or what `tools/get-model smollm2` put in place. DSX_SLOW=1 adds float64 on
a long text.
"""
import hashlib
import json
import os
import pathlib
import tempfile
import unittest

from common import drive, dsexplain, logprobs, main, shared, worst

SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
FLOAT32, FLOAT32_SUM = 5e-4, 5e-5  # the second relative, of sums over a text
FLOAT64, FLOAT64_SUM = 1e-7, 1e-9
END = 2  # <|im_end|>
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
        cls.prompts = {p["name"]: p for p in json.loads(shared("smollm2/golden.json").read_text())["prompts"]}
        cls.model = find_model()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.ids, cls.text = pathlib.Path(folder.name) / "ids", pathlib.Path(folder.name) / "text"

    def write(self, name):
        prompt = self.prompts[name]
        self.ids.write_text(" ".join(map(str, prompt["ids"])))
        self.text.write_bytes(prompt["text"].encode())
        return prompt

    def compare(self, said, expected, bound, bound_of_sum):
        nll = [-x for x in said.logprobs]
        self.assertLessEqual(worst(nll[:64], expected["nll_first64"]), bound)
        self.assertLessEqual(abs(sum(nll) - expected["nll_sum"]), bound_of_sum * expected["nll_sum"])
        top, found = dict(zip(expected["top20_ids"], expected["top20_logprob"])), dict(said.top)
        common = [i for i in top if i in found]
        self.assertGreaterEqual(len(common), 19)  # the last may change places with the one behind it
        self.assertLessEqual(worst([found[i] for i in common], [top[i] for i in common]), bound)

    def compare_greedy(self, prompt):
        """The tokens that follow the text, up to an end or to the first that was a matter of chance."""
        made = dsexplain("generate", self.model, "-f", self.text, "--chat", "off", "--special", "parse", "-n", 32)
        expected = prompt["greedy_ids"]
        sure = next((i for i, m in enumerate(prompt["greedy_margin"]) if m < UNSURE), len(expected))
        if END in expected[:sure]:
            sure = expected.index(END)
        self.assertEqual(made["prompt_tokens"], prompt["n"])
        self.assertEqual(made["ids"][:sure], expected[:sure])

    def check_float32(self, name):
        prompt = self.write(name)
        self.compare(logprobs(self.model, self.ids, top=20), prompt, FLOAT32, FLOAT32_SUM)
        self.compare_greedy(prompt)

    def check_float64(self, name):
        expected = self.write(name)["float64"]
        self.compare(logprobs(self.model, self.ids, "--backend", "float64", top=20), expected, FLOAT64, FLOAT64_SUM)

    def test_ids_of_texts(self):
        """The tokenizer in the file makes the ids of the reference."""
        for name in self.prompts:
            prompt = self.write(name)
            if prompt["n"] < 200:
                answer = dsexplain("logprobs", self.model, "-f", self.text, "--special", "parse")
                self.assertEqual([p["id"] for p in answer["positions"]], prompt["ids"], name)

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
        self.write("code")
        plain = drive(self.model, self.ids)
        for way in ("threads=1", "threads=3 chunk=33", "chunk=1", "part=50 disturb"):
            self.assertEqual(drive(self.model, self.ids, *way.split()), plain, way)


if __name__ == "__main__":
    main()
