# SPDX-License-Identifier: MIT
"""dsexplain: verbs, options, messages and exit codes, on a tiny model that tests/model writes."""
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from common import CliTest, DSTOK, ROOT

PROGRAM = pathlib.Path(DSTOK).resolve().parent / "dsexplain"
CHATML = ("{% for message in messages %}{% if loop.first %}{{ '<|im_start|>system\nYou help.<|im_end|>\n' }}{% endif %}"
          "{{'<|im_start|>' + message['role']}}{% endfor %}")
QWEN = ("{%- if tools %}{{- '<|im_start|>system\\n' }}{{- 'You are made up.' }}{%- else %}"
        "{{- '<|im_start|>system\\nYou are Q.<|im_end|>\\n' }}{%- endif %}")
LLAMA = "{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>' }}"
LLAMA31 = LLAMA + "{{- 'Cutting Knowledge Date: December 2023' }}"
DEEPSEEK = "{{'<\uff5cUser\uff5c>'}}{{'<\uff5cAssistant\uff5c><think>\\n'}}"


@unittest.skipUnless(PROGRAM.exists(), "this build has no dsexplain")
class Dsexplain(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.models = pathlib.Path(tempfile.mkdtemp(prefix="dstok-models-"))
        cls.addClassCleanup(shutil.rmtree, cls.models, True)
        subprocess.run([sys.executable, ROOT / "tests/model/fixtures.py", cls.models, "llama"], check=True,
                       stdout=subprocess.DEVNULL)
        cls.model = cls.models / "llama"

    def raw(self, *arguments, stdin=b"", env=None):
        return subprocess.run([PROGRAM, *map(str, arguments)], input=stdin.encode() if isinstance(stdin, str) else stdin,
                              capture_output=True, cwd=self.dir, env={**self.env, **(env or {})}, timeout=120)

    def out(self, verb, *arguments, **more):
        result = self.raw(verb, self.model, *arguments, **more)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stdout.decode(errors="replace")

    def json(self, verb, *arguments, **more):
        return json.loads(self.out(verb, *arguments, "--json", **more))

    def fails(self, rc, pattern, *arguments, **more):
        result = self.raw(*arguments, **more)
        message = result.stderr.decode()
        self.assertEqual((result.returncode, result.stdout), (rc, b""), message)
        self.assertRegex(message, pattern)
        self.assertTrue(message.startswith("dsexplain: ") and message.count("\n") == 1, message)

    def copy(self, **files):
        """The model with other files in its folder."""
        folder = self.dir / "copy"
        shutil.rmtree(folder, True)
        shutil.copytree(self.model, folder)
        for name, text in files.items():
            (folder / (name.replace("__", "."))).write_text(text)
        return folder


class Use(Dsexplain):
    def test_help_and_version(self):
        self.assertRegex(self.raw("--version").stdout.decode(), r"^dsexplain \d+\.\d+\.\d+\n$")
        general = self.raw("--help").stdout.decode()
        for verb in ("run", "diff", "fit-at2", "selftest",
                     "info", "generate", "ppl", "logprobs", "plan", "convert", "scan"):
            self.assertIn(f"\n  {verb} ", general)
            text = self.raw("help", verb).stdout.decode()
            self.assertTrue(text.startswith(f"usage: dsexplain {verb} "), text)
            self.assertEqual(text, self.raw(verb, "--help").stdout.decode())
        self.assertEqual(self.raw().returncode, 2)

    def test_wrong_use(self):
        m = self.model
        for pattern, *arguments in (
                ("did you mean generate", "generat"), ("verbs of this version are info, generate", "encode"),
                ("which model", "info"), ("2 inputs, info takes 1", "info", m, m), ("which text", "ppl", m),
                ("give one of -p TEXT and -f FILE", "generate", m), ("give one of -p", "generate", m, "-p", "a", "-f", "b"),
                ("prompt is given with -p", "generate", m, "the"), ("give one of --ids FILE and -f", "logprobs", m),
                ("--temperature hot: is not a number", "generate", m, "-p", "a", "-t", "hot"),
                ("--top-p 2: is out of its range", "generate", m, "-p", "a", "-t", "1", "--top-p", "2"),
                ("give a --temperature", "generate", m, "-p", "a", "--seed", "3"),
                ("--group must be 32, 64 or 128", "info", m, "--weights", "w8", "--group", "48"),
                ("--group is for --weights w8, w4 and fp8", "info", m, "--group", "32"),
                ("--kv-recent is for", "ppl", m, "x", "--kv-recent", "64"), ("--chunk must be", "ppl", m, "x", "--chunk", "70000"),
                ("did you mean --temperature", "generate", m, "--temperatur", "1"),
                ("--target is not an option of generate", "generate", m, "--target", "x"),
                ("--top is not an option of ppl", "ppl", m, "x", "--top", "3"),
                ("--max-memory 1Q: is not a whole", "info", m, "--max-memory", "1Q"),
                ('"h9" is not one of all, a100', "plan", m, "--gpu", "h9"),
                ("--stop : must not be empty", "generate", m, "-p", "a", "--stop", "")):
            self.fails(2, pattern, *arguments)

    def test_models_that_are_not_there(self):
        self.fails(2, "No such file.*no model has this name .present: none.*tools/get-model", "info", "nothing")
        self.fails(2, "cannot open a/b: No such file", "info", "a/b")
        self.fails(2, "the name is empty", "info", "")
        self.fails(2, "does not come from standard input", "info", "-")
        (self.dir / "empty").mkdir()
        self.fails(2, "holds no config.json, no .gguf and no .bin", "info", "empty")
        self.fails(2, "text.bin: ", "info", self.write("text.bin", "this is no model"))
        self.fails(2, "other.txt: byte 0: this is no GGUF file", "info", self.write("other.txt", "this is no model"))
        self.fails(2, "copy/config.json:1: byte 1: no JSON", "info", self.copy(config__json="{"))
        self.fails(2, "copy/config.json: ", "info", self.copy(config__json="{}"))
        pointer = self.write("pointer.gguf", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n")
        self.fails(2, "pointer.gguf: this is a pointer of Git LFS.*git lfs pull", "info", pointer)
        folder = self.copy()
        (folder / "model.safetensors").write_bytes(b"12345678")
        for name in (folder, f"{folder}/", folder / "model.safetensors"):
            self.fails(2, "copy/model.safetensors: byte 0: a header of", "info", name)

    def test_names(self):
        home = self.dir / "data/dstok/model"
        shutil.copytree(self.model, home / "tiny")
        (home / "one").mkdir()
        shutil.copy(self.models / "llama.gguf", home / "one")
        env = {"XDG_DATA_HOME": str(self.dir / "data")}
        for name in ("tiny", "one"):
            result = self.raw("info", name, "--json", env=env)
            self.assertEqual(json.loads(result.stdout)["architecture"], "llama", result.stderr)
        self.fails(2, "present: one, tiny", "info", "two", env=env)
        shutil.copy(self.models / "llama.gguf", home / "one/b.gguf")
        self.fails(2, "holds several models", "info", "one", env=env)

    def test_limits(self):
        self.fails(2, "bytes", "info", self.model, "--max-memory", "1K")
        self.json("info", "--max-memory", "1G")
        self.fails(2, "the prompt: too many tokens: --context allows 2", "generate", self.model, "-p", "the the the", "--context", "2")
        long = self.write("long", "the end " * 400)
        self.fails(2, "long: too many tokens: the model was made for 512; --context can", "generate", self.model, "-f", long)
        self.fails(2, "long: too many tokens: --context allows 3", "logprobs", self.model, "-f", long, "--top", "1", "--context", "3")
        for verb, *option in (("generate", "-p", "x"), ("ppl", "x"), ("logprobs", "-f", "x")):
            for more, limit in (("--context", 1 << 24), ("--chunk", 65536), ("--kv-recent", 1 << 24)):
                self.fails(2, f"{more} must be at most {limit}", verb, self.model, *option, more, str(limit + 1), "--kv", "int8")
        self.fails(2, "--sessions must be at most", "plan", self.model, "--sessions", str(1 << 32))
        self.fails(2, "--context must be at most", "plan", self.model, "--context", "17M")

    def test_memory(self):
        """What --max-memory leaves for a text is not enough: the answer so far stays on a line of its own."""
        rows = self.json("plan", "--context", "64", "--weights", "file", "--kv", "float")["cpu"]
        most = str(rows[0]["total_bytes"])
        for verb, name, *text in (("generate", "the prompt", "-p", "the end " * 99), ("ppl", "standard input", "-"),
                                  ("logprobs", "standard input", "-f", "-")):
            self.fails(1, f"{name}: --max-memory allows no more", verb, self.model, *text, "--max-memory", most,
                       stdin="the end " * 99)
        result = self.raw("generate", self.model, "-p", "the end", "--max-memory", most, "-n", 200)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(), "^dsexplain: the answer: --max-memory")
        self.assertTrue(result.stdout.endswith(b"\n"))


class Info(Dsexplain):
    def test_words(self):
        text = self.out("info")
        for line in ("architecture llama", "layers       2, 32 wide", "attention    4 heads of 8, 2 for keys and values",
                     "context      512 tokens", "ids          263", "vocabulary   tokenizer.json, 263 tokens",
                     "end          262 '</s>'", "chat         no template"):
            self.assertIn(line + "\n", text)

    def test_json(self):
        info = self.json("info")
        self.assertEqual([info[key] for key in ("architecture", "layers", "width", "heads", "kv_heads", "head_dim", "context", "bos",
                                                "eos", "chat", "tied_head")],
                         ["llama", 2, 32, 4, 2, 8, 512, 261, [262], None, False])
        self.assertEqual(info["kv_bytes_per_token"], 2 * 2 * 8 * 2 * 4)
        double = self.json("info", "--backend", "float64")
        self.assertEqual((double["backend"], double["kv_bytes_per_token"]), ("float64", 2 * info["kv_bytes_per_token"]))

    def test_warnings(self):
        result = self.raw("info", self.models / "llama.bin", "--json")
        self.assertIn("no vocabulary beside it", " ".join(json.loads(result.stdout)["warnings"]))
        folder = self.copy(chat_template__jinja="{{ unheard_of }}")
        info = json.loads(self.raw("info", folder, "--json").stdout)
        self.assertEqual(info["chat"], "unknown")
        self.assertIn("generate needs --chat off", " ".join(info["warnings"]))

    def test_chat_families(self):
        for template, name in ((CHATML, "ChatML"), (LLAMA, "Llama 3"), (DEEPSEEK, "DeepSeek"),
                               (CHATML + "{{ strftime_now('%d') }}", "unknown")):
            for files in ({"chat_template__jinja": template},
                          {"tokenizer_config__json": json.dumps({"chat_template": template})},
                          {"tokenizer_config__json": json.dumps({"chat_template": [
                              {"name": "tool_use", "template": "x"}, {"name": "default", "template": template}]})}):
                self.assertEqual(json.loads(self.raw("info", self.copy(**files), "--json").stdout)["chat"], name)


class Generate(Dsexplain):
    def ids(self, *arguments, model=None):
        result = self.raw("generate", model or self.model, "--json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return json.loads(result.stdout)

    def test_greedy_is_the_likeliest(self):
        made = self.ids("-p", "the end", "-n", 6)
        self.assertEqual((len(made["ids"]), made["stop"]), (6, "tokens"))
        prompt = [p["id"] for p in self.json("logprobs", "-f", "-", stdin="the end")["positions"]]
        self.assertEqual(made["prompt_tokens"], len(prompt))
        rows = self.json("logprobs", "--ids", "-", "--top", 1, stdin=" ".join(map(str, prompt + made["ids"])))["positions"]
        self.assertEqual([row["top"][0][0] for row in rows[len(prompt):]], made["ids"])
        self.assertEqual(self.ids("-f", self.write("prompt", "the end"), "-n", 6), made)

    def test_same_whatever_the_threads(self):
        made = self.ids("-p", "the end", "-n", 12, "-j", 1)
        for more in (["-j", 3], ["--chunk", 1], ["-j", 2, "--chunk", 7]):
            self.assertEqual(self.ids("-p", "the end", "-n", 12, *more), made)

    def test_drawing(self):
        draw = ["-p", "the", "-n", 12, "-t", "1.5"]
        one = self.ids(*draw, "--seed", 1)
        self.assertEqual(self.ids(*draw, "--seed", 1), one)
        self.assertNotEqual(self.ids(*draw, "--seed", 2), one)
        self.assertEqual(self.ids(*draw, "--seed", 0), self.ids(*draw))
        self.assertEqual(self.ids(*draw, "--seed", 2, "--top-k", 1), self.ids("-p", "the", "-n", 12))
        self.assertEqual(self.ids(*draw, "--seed", 2, "--top-p", "1e-9"), self.ids("-p", "the", "-n", 12))

    def test_text_is_the_decoded_ids(self):
        for seed in range(1, 9):
            arguments = ["-p", "the", "-n", 20, "-t", "2", "--seed", seed]
            made, shown = self.ids(*arguments), self.raw("generate", self.model, *arguments).stdout
            ids = " ".join(map(str, made["ids"]))
            want = subprocess.run([DSTOK, "decode", "-v", self.model, "--skip-special"], input=ids.encode(), capture_output=True).stdout
            self.assertEqual(shown.removesuffix(b"\n"), want.removesuffix(b"\n"))
            self.assertEqual(made["text"], want.decode(errors="replace"))

    def test_stop_strings(self):
        """Also one that begins in a token and ends in another: nothing of it is shown."""
        n = 0
        for seed in range(5, 15):
            draw = ["-p", "the", "-n", 20, "-t", "2", "--seed", seed]
            whole = self.ids(*draw)["text"]
            for cut in range(2, len(whole) - 2):
                stop = whole[cut:cut + 2]
                if not (stop.isascii() and stop.isprintable()) or whole.index(stop) != cut:
                    continue
                stop = stop.replace("\\", "\\\\")
                made = self.ids(*draw, "--stop", stop, "--stop", "never")
                self.assertEqual((made["text"], made["stop"]), (whole[:cut], "string"))
                shown = self.raw("generate", self.model, *draw, "--stop", stop).stdout
                self.assertEqual(shown.removesuffix(b"\n").decode(errors="replace"), made["text"].removesuffix("\n"))
                n += 1
        self.assertGreater(n, 4)

    def test_end(self):
        """A token that ends a text ends the answer, and is not part of it."""
        config = json.loads((self.model / "config.json").read_text())
        first = self.ids("-p", "the end", "-n", 3)["ids"]
        config["eos_token_id"] = first[2]
        made = self.ids("-p", "the end", "-n", 9, model=self.copy(config__json=json.dumps(config)))
        self.assertEqual((made["ids"], made["stop"]), (first[:first.index(first[2])], "eos"))

    def test_context_ends(self):
        made = self.ids("-p", "the end", "-n", 100, "--context", 16)
        self.assertEqual((made["prompt_tokens"] + len(made["ids"]), made["stop"]), (17, "context"))

    def test_chat(self):
        user = "a <b> </s>"
        for template, prompt in (
                (CHATML, f"<|im_start|>system\nYou help.<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n"),
                (QWEN, f"<|im_start|>system\nYou are Q.<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n"),
                ("{{ '<|im_start|>' }}", f"<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n"),
                (LLAMA, "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n" + user +
                 "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"),
                (LLAMA31, "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\n"
                 "Today Date: 26 Jul 2024\n\n<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n" + user +
                 "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"),
                (DEEPSEEK, f"<\uff5cbegin\u2581of\u2581sentence\uff5c><\uff5cUser\uff5c>{user}<\uff5cAssistant\uff5c><think>\n")):
            folder = self.copy(chat_template__jinja=template)
            made = self.ids("-p", user, "-n", 5, model=folder)
            self.assertEqual(made, self.ids("-p", prompt, "-n", 5, "--chat", "off", model=folder), template)
            self.assertNotEqual(made, self.ids("-p", user, "-n", 5, "--chat", "off", model=folder))
        folder = self.copy(chat_template__jinja="{{ unheard_of }}")
        self.fails(2, "the chat template is not of a kind known here.*--chat off", "generate", folder, "-p", "a")
        self.assertEqual(self.ids("-p", user, "--chat", "off", "-n", 3, model=folder), self.ids("-p", user, "-n", 3))

    def test_control_tokens_in_a_prompt_stay_text(self):
        plain, parsed = (self.ids("-p", "a</s>", "-n", 1, "--special", mode)["prompt_tokens"] for mode in ("safe", "parse"))
        self.assertEqual((plain, parsed), (5, 2))

    def test_prompts_that_cannot_be(self):
        self.fails(2, "the prompt is empty.*--bos on", "generate", self.model, "-p", "")
        self.assertEqual(self.ids("-p", "", "--bos", "on", "-n", 2)["prompt_tokens"], 1)
        bad = self.write("bad", b"a\xff")
        self.fails(1, "bad: byte 1: ", "generate", self.model, "-f", bad)
        for template in (CHATML, LLAMA, DEEPSEEK):  # the place is that in the user's own text
            folder = self.copy(chat_template__jinja=template)
            self.fails(1, "bad: byte 1: invalid UTF-8", "generate", folder, "-f", bad)
            self.fails(1, "^dsexplain: the prompt: byte 3: the control token", "generate", folder, "-p", "\n a</s>",
                       "--special", "error")
        self.fails(2, "the prompt is empty, and the model has no start token", "generate", self.no_start(), "-p", "")
        self.fails(2, "--bos on: the model has no start token", "generate", self.no_start(), "-p", "a", "--bos", "on")
        self.fails(2, "--tokens 0: must be at least 1", "generate", self.model, "-p", "a", "-n", "0")
        self.assertEqual([self.ids("-f", bad, "-n", 1, "--invalid", how)["prompt_tokens"] for how in ("replace", "raw")], [4, 2])
        self.fails(2, "cannot open absent: ", "generate", self.model, "-f", "absent")

    def no_start(self):
        config = json.loads((self.model / "config.json").read_text())
        return self.copy(config__json=json.dumps({**config, "bos_token_id": None}))

    def test_progress(self):
        result = self.raw("generate", self.model, "-p", "the", "-n", 3, "--progress", "json")
        lines = [json.loads(line) for line in result.stderr.splitlines()]
        self.assertEqual([(line["what"], line["tokens"]) for line in lines][::len(lines) - 1], [("read", 1 + 1), ("generated", 3)])


class Texts(Dsexplain):
    TEXT = "the quick brown fox jumps over the lazy dog, and then there is the end of it. " * 3

    def test_ppl_is_the_sum(self):
        path = self.write("text", self.TEXT)
        ppl, rows = self.json("ppl", path), self.json("logprobs", "-f", path)["positions"]
        self.assertEqual((ppl["tokens"], rows[0]["logprob"]), (len(rows) - 1, None))
        self.assertAlmostEqual(ppl["nll"], -sum(row["logprob"] for row in rows[1:]), delta=1e-9)
        self.assertAlmostEqual(ppl["ppl"], math.exp(ppl["nll"] / ppl["tokens"]), delta=1e-9)
        self.assertEqual(self.json("ppl", "-", stdin=self.TEXT), ppl)
        self.assertIn(f"tokens      {ppl['tokens']}\n", self.out("ppl", path))
        with_bos = self.json("ppl", path, "--bos", "on")
        self.assertEqual(with_bos["tokens"], len(rows))

    def test_windows(self):
        """The later half of a window begins the next one, and is not counted again."""
        ids = [row["id"] for row in self.json("logprobs", "-f", "-", stdin=self.TEXT)["positions"]]
        nll = 0
        for begin in range(0, len(ids), 32):
            part = ids[max(begin - 32, 0):begin + 32]
            if begin == 32:
                part = ids[0:64]
            rows = self.json("logprobs", "--ids", "-", stdin=" ".join(map(str, part)))["positions"]
            nll -= sum(row["logprob"] for row in rows[-(len(ids[begin:begin + 32])):] if row["logprob"] is not None)
        have = self.json("ppl", "-", "--context", 64, stdin=self.TEXT)
        self.assertEqual(have["tokens"], len(ids) - 1)
        self.assertAlmostEqual(have["nll"], nll, delta=1e-4)
        self.assertNotAlmostEqual(have["nll"], self.json("ppl", "-", stdin=self.TEXT)["nll"], delta=1e-4)

    def test_long_texts(self):
        """Texts of several pieces, which are encoded while the model reads, have the tokens of one call."""
        long = self.TEXT * 300
        path = self.write("long", long)
        count = int(subprocess.run([DSTOK, "count", "-q", "-v", self.model, path], capture_output=True).stdout.split()[0])
        result = self.raw("ppl", self.model, path, "--json", "--progress", "json")
        self.assertEqual(json.loads(result.stdout)["tokens"], count - 1)
        times = [json.loads(line) for line in result.stderr.splitlines() if b"waited" in line]
        self.assertEqual([t["what"] for t in times], ["encoded"])
        self.assertGreater(times[0]["seconds"], 0)
        stopped = self.raw("logprobs", self.model, "-f", path)  # the model has enough before the text ends
        self.assertEqual(stopped.returncode, 2)
        self.assertRegex(stopped.stderr.decode(), "too many tokens")

    def test_top(self):
        plain = self.json("logprobs", "-f", "-", stdin=self.TEXT)["positions"]
        answer = self.json("logprobs", "-f", "-", "--top", 263, stdin=self.TEXT)
        for row, best in zip(plain[1:], answer["positions"][1:]):
            self.assertEqual(best["id"], row["id"])
            self.assertAlmostEqual(best["logprob"], row["logprob"], delta=1e-5)
            self.assertAlmostEqual(dict(map(tuple, best["top"]))[row["id"]], best["logprob"], delta=1e-9)
            self.assertAlmostEqual(sum(math.exp(p) for _, p in best["top"]), 1, delta=1e-9)
            self.assertEqual([p for _, p in best["top"]], sorted((p for _, p in best["top"]), reverse=True))
        self.assertEqual((answer["positions"][0]["top"], len(answer["next"])), ([], 263))

    def test_words(self):
        lines = self.out("logprobs", "-f", "-", "--top", 2, stdin="the\n\xe9 end").splitlines()
        self.assertRegex(lines[0], r"^ +0 +\d+ +-  't'$")
        self.assertTrue(any("'\\n'" in line for line in lines) and any("\\xC3" in line for line in lines), lines)
        self.assertRegex(lines[-1], r"^ +\d+ +next +\| -\d")

    def test_ids(self):
        want = self.json("logprobs", "--ids", "-", stdin="5 6 7")
        for text in ("5,6,7", "[5, 6,\n7]\n", " 5\t6\r\n7"):
            self.assertEqual(self.json("logprobs", "--ids", "-", stdin=text), want)
        self.assertEqual(self.json("logprobs", "--ids", "-", stdin=""), {"positions": []})
        bin_model = self.raw("logprobs", self.models / "llama.bin", "--ids", "-", "--json", stdin="5 6 7")
        self.assertEqual(len(json.loads(bin_model.stdout)["positions"]), 3, bin_model.stderr)  # no vocabulary is needed
        self.fails_ids("standard input:2: number 3: \"x\" is not a whole number", "5 6\nx")
        self.fails_ids("number 1: \"263\" is not below the size", "263")
        self.fails_ids("a NUL stands there", "5\0")

    def fails_ids(self, pattern, text):
        result = self.raw("logprobs", self.model, "--ids", "-", stdin=text)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(), pattern)

    def test_bad_texts(self):
        self.fails(1, "standard input: byte 2: ", "ppl", self.model, "-", stdin=b"ab\xff")
        self.fails(1, "at least two tokens", "ppl", self.model, "-", stdin="a")
        self.fails(2, "cannot open absent", "ppl", self.model, "absent")
        self.fails(2, "holds no vocabulary; name one with -v", "ppl", self.models / "llama.bin", "-", stdin="ab")
        self.fails(2, "has .* ids, the model 263: it is not the model's", "ppl", self.model, "-", "-v", self.vocab, stdin="ab")

    def test_damaged_weights(self):
        """NaN is told, and is no number of JSON."""
        folder = self.copy()
        path = folder / "model.safetensors"
        data = path.read_bytes()
        head = 8 + int.from_bytes(data[:8], "little")
        path.write_bytes(data[:head] + b"\xff" * (len(data) - head))
        self.fails(1, "the model gives no number .NaN. for token 1: its weights are damaged", "ppl", folder, "-", stdin="the end")
        for more in ([], ["-t", "1"]):
            self.fails(1, "the model gives no numbers .NaN.", "generate", folder, "-p", "the end", *more)
        result = self.raw("logprobs", folder, "-f", "-", "--json", "--top", 2, stdin="the end")
        rows = json.loads(result.stdout, parse_constant=self.fail)["positions"]
        self.assertEqual([rows[1]["logprob"], rows[1]["top"][1][1]], [None, None])

    def test_ways_to_compute(self):
        """Other numbers, but near: a way that nothing listens to would give the same."""
        exact = self.json("ppl", "-", "--backend", "float64", stdin=self.TEXT)["nll"]
        seen = {exact}
        for way, far in ((["--weights", "f32"], 1e-3), (["--weights", "w8"], 1), (["--weights", "w4"], 9), (["--weights", "fp8"], 3),
                         (["--weights", "fp8", "--group", "128"], 9), (["--kv", "int8", "--kv-recent", "64"], 5)):
            nll = self.json("ppl", "-", *way, stdin=self.TEXT * 3 if "--kv" in way else self.TEXT)["nll"]
            if "--kv" in way:
                nll -= self.json("ppl", "-", stdin=self.TEXT * 3)["nll"] - exact
            self.assertLess(abs(nll - exact), far, way)
            self.assertNotIn(nll, seen, way)
            seen.add(nll)
        for way in (["-j", 1], ["-j", 3], ["--chunk", "5"]):
            self.assertEqual(self.json("ppl", "-", *way, stdin=self.TEXT), self.json("ppl", "-", stdin=self.TEXT), way)


class Plan(Dsexplain):
    def test_rows(self):
        plan = self.json("plan", "--context", "2K", "--max-memory", "1M")
        self.assertEqual((plan["context"], plan["limit_bytes"], plan["gpus"]), (2048, 1 << 20, []))
        self.assertEqual([(row["weights"], row["kv"]) for row in plan["cpu"]],
                         [(w, k) for w in ("file", "f32", "w8", "w4", "fp8") for k in ("float", "int8")])
        for row in plan["cpu"]:
            self.assertEqual(row["total_bytes"], row["weight_bytes"] + row["kv_bytes"] + row["work_bytes"])
            self.assertEqual(row["fits"], row["total_bytes"] <= 1 << 20)
        info = self.json("info")
        self.assertEqual(plan["cpu"][0]["kv_bytes"], 2048 * info["kv_bytes_per_token"])
        self.assertEqual(plan["cpu"][0]["weight_bytes"], info["weight_bytes"])
        three = self.json("plan", "--context", "2K", "--sessions", 3, "--kv", "float", "--weights", "file")["cpu"]
        self.assertEqual([row["kv_bytes"] for row in three], [3 * plan["cpu"][0]["kv_bytes"]])

    def test_gpu(self):
        gpus = self.json("plan", "--gpu", "all")["gpus"]
        self.assertIn("h200", [gpu["name"] for gpu in gpus])
        choices = self.json("plan", "--gpu", "h200")["gpus"][0]["choices"]
        keys = [(c["memory_bytes"], c["step_s"], -c["tokens_per_s"]) for c in choices]
        for choice, key in zip(choices, keys):
            beaten = any(all(a <= b for a, b in zip(other, key)) and other != key for other in keys)
            self.assertEqual(choice["best"], not beaten, choice)
        text = self.out("plan", "--gpu", "h200", "--context", "128K")
        self.assertIn("131072 tokens", text)
        self.assertRegex(text, r"\nh200: 141.0 GB at 4.8 TB/s")
        self.assertRegex(text, r"\nint4 +int8 +1 .* \*\n")


class Convert(Dsexplain):
    """Names of the first Qwen and of Llama."""

    def tensors(self, path):
        data = pathlib.Path(path).read_bytes()
        n = int.from_bytes(data[:8], "little")
        header = json.loads(data[8:8 + n])
        at = {name: t["data_offsets"] for name, t in header.items() if name != "__metadata__"}
        return {name: (header[name]["dtype"], header[name]["shape"], data[8 + n + begin:8 + n + end]) for name, (begin, end) in at.items()}

    def file(self, name, tensors):
        header, at = {"__metadata__": {"format": "pt"}}, 0
        for key, (dtype, shape, data) in tensors.items():
            header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
            at += len(data)
        text = json.dumps(header).encode()
        return self.write(name, len(text).to_bytes(8, "little") + text + b"".join(data for _, _, data in tensors.values()))

    def qwen(self):
        names = {"transformer.wte.weight": [5, 2], "transformer.h.10.ln_1.weight": [2], "transformer.h.10.attn.c_attn.weight": [6, 2],
                 "transformer.h.10.attn.c_attn.bias": [6], "transformer.h.10.attn.c_proj.weight": [2, 2],
                 "transformer.h.10.ln_2.weight": [2], "transformer.h.10.mlp.w1.weight": [4, 2],
                 "transformer.h.10.mlp.w2.weight": [4, 2], "transformer.h.10.mlp.c_proj.weight": [2, 4],
                 "transformer.ln_f.weight": [2], "lm_head.weight": [5, 2]}
        return {name: ("F16", shape, bytes((i * 40 + k) % 256 for k in range(2 * math.prod(shape))))
                for i, (name, shape) in enumerate(names.items())}

    def test_there_and_back(self):
        qwen = self.qwen()
        source = self.file("qwen.safetensors", qwen)
        self.assertEqual(self.raw("convert", source, "--names", "llama", "-o", "llama.safetensors").returncode, 0)
        llama = self.tensors(self.dir / "llama.safetensors")
        self.assertEqual((self.dir / "llama.safetensors").read_bytes()[0] % 8, 0)  # where data begins
        fused = qwen["transformer.h.10.attn.c_attn.weight"][2]
        for i, part in enumerate("qkv"):
            self.assertEqual(llama[f"model.layers.10.self_attn.{part}_proj.weight"], ("F16", [2, 2], fused[8 * i:8 * i + 8]))
        for old, new in (("mlp.w2", "mlp.gate_proj"), ("mlp.w1", "mlp.up_proj"), ("attn.c_proj", "self_attn.o_proj")):
            self.assertEqual(llama[f"model.layers.10.{new}.weight"], qwen[f"transformer.h.10.{old}.weight"])
        self.assertEqual(len(llama), len(qwen) + 4)
        back = self.raw("convert", "llama.safetensors", "--names", "qwen", "-o", "back.safetensors")
        self.assertEqual((back.returncode, self.tensors(self.dir / "back.safetensors")), (0, qwen), back.stderr)
        listed = json.loads(self.raw("convert", source, "--names", "llama", "--json").stdout)
        self.assertEqual(set(listed), set(llama))
        self.assertEqual(listed["model.layers.10.self_attn.v_proj.bias"], "transformer.h.10.attn.c_attn.bias")
        self.assertIn(b"transformer.wte.weight\tmodel.embed_tokens.weight\n", self.raw("convert", source, "--names", "llama").stdout)

    def test_refusals(self):
        qwen = self.qwen()
        source = self.file("qwen.safetensors", qwen)
        self.fails(2, "whose names", "convert", source)
        self.fails(2, "is none of Qwen's|has no name in Qwen's", "convert", source, "--names", "qwen")
        self.fails(2, "-o names the file itself", "convert", source, "--names", "llama", "-o", source)
        self.assertEqual(self.tensors(source), qwen)
        odd = self.file("odd", {"transformer.h.0.attn.c_attn.weight": ("F16", [4, 2], bytes(16))})
        self.fails(2, "cut into three equal", "convert", odd, "--names", "llama")
        grouped = self.file("grouped", {f"model.layers.0.self_attn.{p}_proj.weight": ("F16", [n, 2], bytes(4 * n))
                                        for p, n in (("q", 4), ("k", 2), ("v", 2))})
        self.fails(2, "no equally large", "convert", grouped, "--names", "qwen")
        for name, data, why in (("a", b"", "no .safetensors"), ("b", b"\xff" * 20, "too long"),
                                ("c", (4).to_bytes(8, "little") + b"[1]x", "no JSON"),
                                ("d", (2).to_bytes(8, "little") + b"[]", "no JSON object")):
            self.fails(2, why, "convert", self.write(name, data), "--names", "llama")
        cut = self.write("cut", pathlib.Path(source).read_bytes()[:-9])
        self.fails(2, "has no place in the file", "convert", cut, "--names", "llama")
        self.assertEqual([name for name in os.listdir(self.dir) if ".tmp." in name], [])


if __name__ == "__main__":
    unittest.main()
