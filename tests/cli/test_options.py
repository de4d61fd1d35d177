# SPDX-License-Identifier: MIT
"""Verbs, options, help, and finding the vocabulary."""
import json
import os
import unittest

from common import CliTest, END, ROOT, THE, has_default, small_vocabulary

VERBS = ["encode", "decode", "count", "chunk", "inspect", "train", "compile", "trace", "bench"]


class Options(CliTest):
    def test_version(self):
        result = self.raw("--version")
        self.assertRegex(result.stdout.decode(), r"^dstok \d+\.\d+\.\d+\n$")
        self.assertEqual((result.returncode, result.stderr), (0, b""))

    def test_help(self):
        for arguments in (["--help"], ["help"], ["-h"]):
            result = self.raw(*arguments)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            for verb in VERBS:
                self.assertIn(f"  {verb} ", result.stdout.decode())
            self.assertIn("examples:", result.stdout.decode())

    def test_help_of_every_verb(self):
        for verb in VERBS:
            text = self.raw("help", verb).stdout.decode()
            self.assertEqual(text, self.raw(verb, "--help").stdout.decode())
            self.assertEqual(text, self.raw(verb, "-h").stdout.decode())
            self.assertTrue(text.startswith(f"usage: dstok {verb} "))
            self.assertIn(f"dstok {verb}", text[text.index("examples:"):])
            for line in text.splitlines():
                self.assertLessEqual(len(line), 88, line)

    def test_help_names_no_later_verb(self):
        text = "".join(self.raw("help", *v).stdout.decode() for v in [[], *([v] for v in VERBS)])
        self.assertNotRegex(text, r"(?m)^ +(verify|merge|stats|locate|--output-prefix)\b")

    def test_no_arguments(self):
        result = self.raw()
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertIn(b"usage: dstok VERB", result.stderr)

    def test_later_verbs(self):
        for verb in ["verify", "merge", "stats", "locate", "xy", "q", ""]:
            for arguments in ([verb], ["help", verb]):
                result = self.raw(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, b""))
                self.assertRegex(result.stderr.decode(), f'unknown verb "{verb}"; the verbs of this version are encode')

    def test_slips_in_verbs(self):
        for slip, verb in (("encod", "encode"), ("encdoe", "encode"), ("decoed", "decode"), ("cont", "count"), ("trian", "train"),
                           ("inspekt", "inspect"), ("compil", "compile")):
            for arguments in ([slip], ["help", slip], ["--help", slip]):
                if (slip, verb) == ("trian", "train"):
                    continue  # two slips in five letters
                result = self.raw(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, b""))
                self.assertIn(f'unknown verb "{slip}"; did you mean {verb}?', result.stderr.decode())

    def test_long_verbs_are_no_slips(self):
        for n in (12, 20, 400, 40000):
            self.assertIn(b"the verbs of this version are", self.raw("x" * n).stderr)
        self.assertIn(b"did you mean", self.raw("compilexx").stderr)

    def test_nothing_is_passed_over_before_the_verb(self):
        for arguments in (["--version", "--foo"], ["--version", "encode"], ["help", "encode", "x"], ["--help", "encode", "x"],
                          ["-h", "encode", "--json"]):
            result = self.raw(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, b""), arguments)
            self.assertTrue(result.stderr.startswith(b"dstok: "))

    def test_options_that_nothing_listens_to(self):
        for verb in ("encode", "count"):
            self.fails(2, "--json-keys is for --input-format jsonl", verb, "--json-keys", "a", stdin="x")
            for more in ([], ["--on-error", "fail"]):
                self.fails(2, "--max-errors needs --on-error skip or", verb, "--max-errors", "3", *more, stdin="x")
                self.fails(2, "--reject needs --on-error skip or", verb, "--reject", "log", *more, stdin="x")
            self.assertFalse((self.dir / "log").exists())
        self.fails(2, "--align does not go with --align-file, --token", "inspect", "--align", "x", "--token", "5")
        self.fails(2, "--align does not go with", "inspect", "--align", "x", "--fertility", "small.json")
        self.fails(2, "--token does not go with", "inspect", "--token", "5", "--fertility", "small.json")
        self.fails(2, "--special is for --align", "inspect", "--special", "parse")
        self.fails(2, "--special is for --align", "inspect", "--token", "5", "--special", "parse")
        self.fails(2, "--recursive is for --fertility", "inspect", "--recursive")
        self.fails(2, "--no-decompress is for --fertility", "inspect", "--no-decompress")
        self.fails(2, "- is given 2 times; standard input can be read once", "encode", "-", "-", stdin="x")
        self.fails(2, "- is given 2 times", "count", "small.json", "-", "small.json", "-", stdin="x")

    def test_template_that_is_not_there(self):
        vocabulary = {**small_vocabulary(), "post_processor": None}
        self.write("bare.json", json.dumps(vocabulary))
        for verb in ("encode", "count"):
            result = self.raw(verb, "-v", "bare.json", "--add-special", "--input-format", "lines", stdin="the\nthe\n")
            self.assertEqual(result.returncode, 0)
            self.assertEqual(result.stderr.count(b"--add-special adds nothing: this vocabulary has no template"), 1)
            self.assertEqual(self.run_verb(verb, "--add-special", stdin="the").stderr, b"")

    def test_help_states_defaults(self):
        for verb, option, value in (("encode", "input-format", "text"), ("encode", "invalid", "error"), ("encode", "on-error", "fail"),
                                    ("encode", "empty", "keep"), ("encode", "special", "safe"), ("encode", "offsets", "byte"),
                                    ("count", "empty", "keep"), ("decode", "mode", "lossless"), ("decode", "input-format", "ids"),
                                    ("train", "order", "hf"), ("train", "invalid", "error"), ("train", "on-error", "fail"),
                                    ("train", "pattern", "o200k_base"), ("train", "min-frequency", "2"), ("encode", "progress", "auto")):
            text = self.raw("help", verb).stdout.decode()
            block = text[text.index("\noptions:"):]
            block = block[block.index(f"  --{option} "):].split("\n  -")[0]
            self.assertRegex(" ".join(block.split()), f"default:? {value}", verb)

    def test_help_lists_patterns(self):
        for verb in VERBS:
            text = " ".join(self.raw("help", verb).stdout.decode().split())
            self.assertRegex(text, r"names: gpt2, r50k_base, .*cl100k_base, .*qwen3", verb)

    def test_threads_of_one_thread_are_told(self):
        for verb in ("train", "compile"):
            self.assertIn("taken and without effect", self.raw("help", verb).stdout.decode())

    def test_unknown_options(self):
        self.fails(2, "--output-prefix is not in this version", "encode", "--output-prefix", "x")
        self.fails(2, "--format is not in this version", "encode", "--format=npy")
        self.fails(2, "unknown option --pices; did you mean --pieces", "encode", "--pices")
        self.fails(2, "unknown option --quite-other; see: dstok help count", "count", "--quite-other")
        self.fails(2, "unknown option -x", "encode", "-x")
        self.fails(2, "--pieces is not an option of decode", "decode", "--pieces")
        self.fails(2, "--mode is not an option of encode", "encode", "--mode", "raw")
        for option in ("-o", "--output"):
            self.fails(2, "--output is not an option of encode; results go to standard output: > FILE; see",
                       "encode", option, "x")
        self.fails(2, "--vocab is not an option of train; see", "train", "-v", "x")

    def test_bad_values(self):
        self.fails(2, "--invalid: \"no\" is not one of error.replace.raw", "encode", "--invalid", "no")
        self.fails(2, "--threads: \"x\" is not a whole number", "encode", "-j", "x")
        self.fails(2, "--threads must be at least 1", "encode", "-j0")
        self.fails(2, "--threads: at most 256", "encode", "-j257")
        self.fails(2, "--max-record: \"-1\"", "encode", "--max-record=-1")
        self.fails(2, "--max-record: a record has at most", "encode", "--max-record=2147483648")
        self.fails(2, "--max-errors .*: is not a whole number", "encode", "--max-errors", "1x")
        self.fails(2, "--json takes no value", "encode", "--json=1")
        self.fails(2, "--invalid needs a value: error", "encode", "--invalid")
        self.fails(2, "-j needs a value", "encode", "-j")
        self.fails(2, "--offsets needs --json", "encode", "--offsets", "char")
        self.fails(2, "takes one vocabulary", "encode", "-v", self.vocab)
        self.fails(2, "--doc-separator is for --input-format text", "encode", "--doc-separator", "x",
                   "--input-format", "lines")
        self.fails(2, "unknown escape", "encode", "--doc-separator", "\\q")
        self.fails(2, "must not be empty", "encode", "--doc-separator", "")
        self.fails(2, "--separator does not go with --json", "decode", "--json", "--separator", "x")

    def test_forms_of_options(self):
        for arguments in (["-j1", "-q"], ["-qj", "1"], ["-qj1"], ["--threads", "1", "--quiet"], ["--threads=1"]):
            self.assertEqual(self.out("encode", *arguments, stdin="the"), f"{THE}\n")
        self.write("-x", "the")
        self.assertEqual(self.out("encode", "--", "-x"), f"{THE}\n")

    def test_no_escapes_in_text(self):
        self.assertEqual(self.out("encode", stdin="a\\nb"), "97 92 110 98\n")
        self.assertEqual(self.out("encode", stdin="a\nb"), "97 10 98\n")

    def test_progress(self):
        result = self.run_verb("count", "--progress", "json", stdin="the")
        self.assertEqual(json.loads(result.stderr)["tokens"], 1)
        result = self.run_verb("count", "--progress", "plain", stdin="the")
        self.assertRegex(result.stderr.decode(), r"^dstok: 1 records, .* 1 tokens")
        for choice in ("auto", "off"):
            self.assertEqual(self.run_verb("count", "--progress", choice, stdin="the").stderr, b"")


class Vocabulary(CliTest):
    def encode(self, *arguments, **more):
        return self.raw("encode", *arguments, stdin="the", **more)

    def cannot(self, path, pattern, **more):
        result = self.encode("-v", path, **more)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stdout, b"")
        self.assertRegex(result.stderr.decode(), pattern)

    def test_wrong_paths(self):
        self.cannot("nope.json", "cannot open nope.json: No such file or directory\n")
        self.cannot("no/such", "cannot open no/such: No such file or directory\n")
        self.cannot("", 'cannot open "": the name is empty\n')
        self.cannot(str(self.dir), "cannot open .*: the folder holds no tokenizer.json")
        self.write("v.json.gz", b"\x1f\x8b\x08\0\0\0\0\0")
        self.cannot("v.json.gz", r"cannot open v.json.gz: the vocabulary is compressed \(gzip data\); unpack it first")
        for name, data in (("xz", b"\xfd7zXZ\0"), ("bzip2", b"BZh91AY&SY"), ("zip", b"PK\3\4"), ("zstd", b"\x28\xb5\x2f\xfd")):
            self.write("packed", data + bytes(20))
            self.cannot("packed", f"cannot open packed: the vocabulary is compressed .*{name}")
        for encoding in ("utf-16", "utf-32", "utf-16-be"):
            mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
            self.write("wide.json", mark + json.dumps(small_vocabulary()).encode(encoding))
            self.cannot("wide.json", "not supported: a vocabulary file in UTF-16 or UTF-32; convert it to UTF-8 first")
        self.cannot("small.json/x", "cannot open small.json/x: Not a directory")
        self.write("bad.json", '{"version": "1.0", "model": {')
        self.cannot("bad.json", r"dstok: bad.json(:\d+)?: byte \d+: ")

    @unittest.skipIf(os.getuid() == 0, "root may read every file")
    def test_no_permission(self):
        os.chmod(self.vocab, 0)
        self.cannot(self.vocab, "Permission denied")

    def test_names(self):
        home = "home/.local/share/dstok/vocab"
        self.cannot("qwen9", r"cannot open qwen9: .*\(present: default\); name its file \(-v FOLDER/tokenizer.json\); tools/get-vocab")
        for name in json.loads((ROOT / "tools/vocabs.json").read_text()):
            self.cannot("qwen9", f"source tree, gets.* {name}(,|\n)")  # what can be got is named
            self.cannot(name, f"run tools/get-vocab {name}, a script of the source tree\n")
        self.assertNotIn("get-vocab", self.encode("-v", "-").stderr.decode())
        self.cannot("-", "a vocabulary does not come from standard input")
        self.write(f"{home}/zeta/tokenizer.json", json.dumps(small_vocabulary()))
        self.write(f"{home}/alpha/tekken.json", "{}")
        self.cannot("qwen9", r"\(present: default, alpha, zeta\)")
        self.assertEqual(self.encode("-v", "zeta").stdout, b"257\n")
        self.write("other/dstok/vocab/only/tokenizer.json", json.dumps(small_vocabulary()))
        other = {"XDG_DATA_HOME": str(self.dir / "other")}
        self.assertEqual(self.encode("-v", "only", env=other).stdout, b"257\n")
        self.cannot("zeta", "no vocabulary has this name", env=other)

    def test_ranks_in_a_folder(self):
        ranks = "".join(f"{b} {i}\n" for i, b in enumerate(self.base64_bytes()))
        self.write("home/.local/share/dstok/vocab/r/x.tiktoken", ranks)
        self.assertEqual(self.encode("-v", "r", "--pattern", "cl100k_base").stdout, b"116 104 101\n")
        self.write("home/.local/share/dstok/vocab/r/y.tiktoken", ranks)
        self.cannot("r", "several vocabularies of one kind")

    def base64_bytes(self):
        import base64
        return [base64.b64encode(bytes([b])).decode() for b in range(256)]

    def test_path_wins_over_name(self):
        self.write("home/.local/share/dstok/vocab/here/tokenizer.json", "{}")
        self.write("here", json.dumps(small_vocabulary()))
        self.assertEqual(self.encode("-v", "here").stdout, b"257\n")

    def test_folder_brings_its_config(self):
        self.write("f/tokenizer.json", json.dumps(small_vocabulary()))
        self.assertEqual(self.encode("-v", "f").stdout, b"257\n")

    def test_default(self):
        if not has_default():
            self.skipTest("built without the default vocabulary")
        first = self.encode()
        self.assertEqual(first.returncode, 0)
        self.assertEqual(first.stdout, self.encode("-v", "default").stdout)
        for arguments in (["encode"], ["count"], ["inspect"], ["inspect", "--align", "x"], ["compile", "-o", "x.dstok"],
                          ["decode"], ["inspect", "--fertility", "small.json"]):
            result = self.raw(*arguments, "--pattern", "gpt2", stdin="")
            self.assertEqual((result.returncode, result.stdout), (2, b""), arguments)
            self.assertRegex(result.stderr.decode(), r"the built-in vocabulary has its own pretokenizer.*\(--pattern\)\n")
        self.assertFalse((self.dir / "x.dstok").exists())

    def test_bad_patterns_name_the_option(self):
        self.write("r.tiktoken", "".join(f"{b} {i}\n" for i, b in enumerate(self.base64_bytes())))
        for pattern, why in (("foo", "a name of gpt2, r50k_base"), ("[", "a class in a pattern has no ]"), ("", "name of gpt2"),
                             (r"(a)\1", "a backreference")):
            result = self.encode("-v", "r.tiktoken", "--pattern", pattern)
            self.assertEqual(result.returncode, 2)
            self.assertIn(why, result.stderr.decode())
            self.assertIn("(--pattern)", result.stderr.decode())

    def test_scanner_or_not(self):
        text = "Don't stop the 12345 things  here\n\n你好"
        self.assertEqual(self.out("encode", stdin=text), self.out("encode", "--no-scanner", stdin=text))

    def test_special_list(self):
        self.assertEqual(self.out("encode", "--special", "<|end|>", stdin="<|end|>"), f"{END}\n")
        self.fails(2, "nor an added token of this vocabulary", "encode", "--special", "<|end|>,<no>")
        self.fails(2, "nor an added token", "encode", "--special", "the")
        self.fails(2, "nor an added token", "encode", "--special", "")
        for text in ("safe,<|end|>", "<|end|>,safe", "safe,"):
            self.fails(2, "--special: safe stands alone; a list names added tokens", "encode", "--special", text)
