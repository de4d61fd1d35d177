# SPDX-License-Identifier: MIT
"""The bug reports of ../shared/cases/cases.jsonl, one by one: each row is checked, or listed with the reason why not."""
import collections
import json
import os
import resource
import subprocess
import sys
import time
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import common  # noqa: E402
import gguf  # noqa: E402
import made  # noqa: E402
from chunk_cases import ChunkChecks, Wrong, expect, need  # noqa: E402

FILES = {"llama3": "llama3_1.tokenizer.json", "cl100k": "cl100k_base.tiktoken", "o200k": "o200k_base.tiktoken",
         "r50k": "r50k_base.tiktoken", "deepseek_v3": "deepseek_v3.tokenizer.json", "qwen3": "qwen3.tokenizer.json",
         "gemma3": "gemma3.tokenizer.json", "mistral_v01": "mistral_v0_1_spm.tokenizer.json"}
LATER_KINDS = {"explainability": "dsexplain"}
LATER = {"C120": "dataset files", "C122": "dataset files", "C142": "truncation"}
ELSEWHERE = {"C053": "unit.stream", "C054": "unit.stream", "C056": "unit.stream", "C058": "unit.stream",
             "C059": "unit.stream", "C081": "prop.threads", "C082": "prop.threads (fork)", "C086": "unit.oom (nothing lives on) and the asan preset",
             "C089": "unit.train (replay of merges)"}
PARTLY = {"C061": ", as a whole; bit by bit by unit.stream", "C151": ", the spans; later step: dsexplain"}
SLOW = {"C084": "2.3 GB", "C098": "one line of 50 MB"}


class Checks(ChunkChecks):
    def __init__(self, vocabularies, slow):
        self.vocabularies = vocabularies
        self.slow = slow

    # ---- helpers

    def vocab(self, alias):
        path = self.vocabularies.path(FILES[alias])
        need(f"{FILES[alias]} is not in ../shared/vocab", path is not None)
        return path

    def tiny(self, name):
        path = os.path.join(common.SHARED, "cases", "tiny", name)
        need(f"{name} is not in ../shared/cases/tiny", os.path.exists(path))
        return path

    def ids(self, vocab, text, *args):
        return common.encode(vocab, [text], "--offsets", "none", *args)[0]["ids"]

    def load(self, vocab, *args, **options):
        """Encodes "a": (exit code, stderr as text)."""
        done = subprocess.run([common.program(), "encode", "-v", vocab, *args], input=b"a", capture_output=True,
                              timeout=60, check=False, **options)
        return done.returncode, done.stderr.decode("utf-8", "replace")

    def refused(self, vocab, *words, **options):
        code, message = self.load(vocab, **options)
        need(f"{os.path.basename(vocab)}: exit code {code}", code in (1, 2))
        for word in words:
            need(f"the message does not say {word!r}: {message}", word in message)

    # ---- rows that need no code of their own

    def op_encode(self, check, row):
        """expect_ids: vocabulary, with _ordinary for plain text and _special for parsed special tokens -> ids."""
        done = 0
        for alias, want in check.get("expect_ids", {}).items() if "vocab_file" not in check else []:
            name, _, policy = alias.partition("_") if alias.endswith(("_ordinary", "_special")) else (alias, "", "")
            special = {"ordinary": "plain", "special": "parse", "": "safe"}[policy]
            expect(alias, want, self.ids(self.vocab(name), check["text"], "--special", special))
            done += 1
        if "vocab_file" in check:
            vocab = self.tiny(check["vocab_file"])
            one = common.encode(vocab, [check["text"]], "--special", "parse", "--offsets", "char")[0]
            expect("ids", check["expect_ids"], one["ids"])
            expect("spans", check.get("expect_char_spans", one["spans"]), one["spans"])
            done += 1
        need("nothing to compare", done > 0)

    def op_offsets(self, check, row):
        vocab = self.tiny(check["vocab_file"]) if "vocab_file" in check else self.vocab(check["vocab"])
        for unit in ("byte", "char"):
            if f"expect_{unit}_spans" in check:
                one = common.encode(vocab, [check["text"]], "--special", "parse", "--offsets", unit)[0]
                expect(unit + " spans", check[f"expect_{unit}_spans"], one["spans"])

    def op_count(self, check, row):
        text = eval(check["gen"], {"__builtins__": {}})  # '^'*1000000: an expression of the case file, made by hand
        for alias, want in check["expect"].items():
            start = time.monotonic()
            done = common.run(["count", "-v", self.vocab(alias), "-"], text.encode())
            seconds = time.monotonic() - start
            expect(alias, want, int(done.stdout.split()[0]))
            need(f"{alias}: {seconds:.1f} s", seconds < 20 * check.get("max_s", 0.5) + 5)  # with loading, on any machine

    def op_decode(self, check, row):
        expect("text", check["expect"], common.decode(self.vocab(check["vocab"]), [check["ids"]])[0])

    # ---- rows by number

    def c016(self, check, row):
        vocab = self.vocabularies.write("and.json", made.tokenizer(merges=made.HELLO, pre_tokenizer=made.split(check["regex"])))
        one = common.encode(vocab, [check["text"]], "--pieces")[0]
        expect("ids", [104, 101, 257, 111, 38, 120, 38, 38, 121], one["ids"])
        starts = {sum(len(p) for p in check["expect"][:k]) for k in range(len(check["expect"]))}
        need("a token goes over the border of a pretoken", starts <= {span[0] for span in one["spans"]})

    def c017(self, check, row):
        odd = self.vocabularies.write("odd.json", made.tokenizer(merges=made.HELLO, pre_tokenizer=made.split("l(?=o)")))
        expect("the file's own pattern", [256, 108, 108, 111], self.ids(odd, "hello"))  # he l|l o
        back = self.vocabularies.write("back.json", made.tokenizer(pre_tokenizer=made.split(r"(a)\1")))
        self.refused(back, "backreference")

    def c021(self, check, row):
        vocab = self.tiny(check["vocab_file"])
        done = common.run(["encode", "-v", vocab, "--strict"], check["text"].encode())
        expect("exit code of --strict", 1, done.returncode)
        need("the byte is named", b"byte 0" in done.stderr)
        done = common.run(["encode", "-v", vocab], check["text"].encode())
        need("a note tells of the lost byte", b"without a token: 1" in done.stderr)

    def c024(self, check, row):
        want = [227, 130, 191, 206, 144, 227, 130, 153, 206, 144]
        for text in (check["text"], unicodedata.normalize("NFD", check["text"])):
            expect("ids", want, self.ids(self.tiny("nfkc.json"), text))

    def c026(self, check, row):
        self.op_encode(check, row)
        expect("ids of plain", 7, len(self.ids(self.vocab("cl100k"), check["text"], "--special", "plain")))
        done = common.run(["encode", "-v", self.vocab("cl100k"), "--special", "error"], check["text"].encode())
        need("the message names the switch", done.returncode == 1 and b"--special" in done.stderr)

    def c028(self, check, row):
        self.op_encode(check, row)
        got = self.ids(self.vocab("qwen3"), check["text"])
        expect("ids of the default policy", check["expect_ids"]["qwen3_ordinary"], got)

    def c031(self, check, row):
        self.op_encode(check, row)
        one = common.encode(self.tiny("rstrip.json"), ["<|user|>hello"], "--special", "parse", "--offsets", "char")[0]
        expect("without blanks", ([261, 259], [[0, 8], [8, 13]]), (one["ids"], one["spans"]))

    def c033(self, check, row):
        self.op_encode(check, row)
        for name, text, ids, span in (("lstrip.json", check["text"], [97, 261, 260], [1, 9]),
                                      ("lrstrip.json", "a <mask>\n hello", [97, 261, 259], [1, 10])):
            one = common.encode(self.tiny(name), [text], "--special", "parse", "--offsets", "char")[0]
            expect(name, (ids, span), (one["ids"], one["spans"][1]))

    def c035(self, check, row):
        vocab = self.tiny(check["vocab_file"])
        info = json.loads(common.run(["inspect", "--json", "-v", vocab]).stdout)
        need("a warning names both ids", any("261" in w and "262" in w for w in info["warnings"]))
        expect("two ids", ["<|x|>", "<|y|>"], common.decode(vocab, [[261], [262]]))

    def c036(self, check, row):
        """Control tokens are parsed only where asked for; as often as one likes, from as many workers as one likes."""
        vocab, want = self.vocab("mistral_v01"), check["expect_ids"]["mistral_v01"]
        got = common.encode(vocab, [check["text"]] * 5000, "--special", "parse", "--offsets", "none", "-j16")
        expect("from 16 workers", [want], [list(one) for one in {tuple(one["ids"]) for one in got}])
        need("untrusted text is text", 2 not in self.ids(vocab, check["text"]))

    def c038(self, check, row):
        folder = os.path.join(self.vocabularies.folder, "llama")
        os.makedirs(folder, exist_ok=True)
        os.link(self.vocab("llama3"), os.path.join(folder, "tokenizer.json"))
        self.vocabularies.write("llama/tokenizer_config.json", json.dumps(
            {"add_bos_token": True, "add_eos_token": True, "bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}))
        expect("ids", [128000, 9906, 128009], self.ids(folder, "Hello", "--add-special"))

    def c051(self, check, row):
        times = []
        for n in (1, 4):
            data = ("日本語" * (n * 116509)).encode()
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            done = common.run(["encode", "--json", "--offsets", "char", "-v", self.vocab("cl100k")], data)
            times.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
            expect("exit code", 0, done.returncode)
        need(f"1 MB {times[0]:.2f} s, 4 MB {times[1]:.2f} s", times[1] < 6 * times[0] + 0.5)

    def c061(self, check, row):
        expect("text", check["expect"], common.decode(self.vocab(check["vocab"]), [check["push"]])[0])

    def c064(self, check, row):
        for digits in check["hex"]:
            self.check_bytes(bytes.fromhex(digits))

    def c079(self, check, row):
        for digits in check["hex"]:
            data = bytes.fromhex(digits)
            self.check_bytes(data, is_valid=data == bytes.fromhex("e0abaa"))
            answers = [common.run(["encode", "--json", "--invalid", "raw", "-v", self.vocab("cl100k"), *more], data).stdout
                       for more in ([], ["--no-scanner"])]
            expect("scanner and pattern", answers[0], answers[1])
            spans = json.loads(answers[0])["spans"]
            need("spans tile", [s[0] for s in spans[1:]] == [s[1] for s in spans[:-1]] and spans[0][0] == 0
                 and spans[-1][1] == len(data))

    def check_bytes(self, data, is_valid=False):
        vocab = self.vocab("cl100k")
        done = common.run(["encode", "-v", vocab], data)
        if not is_valid:
            need(f"{data.hex()}: refused, with the place", done.returncode == 1 and b"byte 0" in done.stderr)
        raw = common.run(["encode", "-v", vocab, "--invalid", "raw"], data)
        expect(f"{data.hex()}: raw", data, common.run(["decode", "-v", vocab], raw.stdout).stdout)
        mended = common.run(["encode", "-v", vocab, "--invalid", "replace"], data)
        expect(f"{data.hex()}: replaced", data.decode("utf-8", "replace").encode(),
               common.run(["decode", "-v", vocab], mended.stdout).stdout)

    def c065(self, check, row):
        self.op_encode(check, row)
        done = common.run(["encode", "-v", self.vocab("cl100k")], check["text"].encode())
        expect("as a file", "370 188 4484", done.stdout.decode().strip())
        expect("llama3", [87, 188, 88], self.ids(self.vocab("llama3"), "x\0y"))

    def c066(self, check, row):
        vocab = self.tiny(check["vocab_file"])
        expect("the token", "\0", common.decode(vocab, [[33]])[0])
        expect("cl100k", "\0", common.decode(self.vocab("cl100k"), [[188]])[0])
        bom = os.path.join(self.vocabularies.folder, "bom.json")
        with open(self.tiny("base.json"), "rb") as source, open(bom, "wb") as target:
            target.write(b"\xef\xbb\xbf" + source.read())
        expect("a BOM before the JSON", [259], self.ids(bom, "hello"))

    def c067(self, check, row):
        for text in (check["text"], "free)\x85next", "free)\u2029next"):
            line = json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n"
            done = common.run(["encode", "-v", self.vocab("cl100k"), "--input-format", "jsonl"], line)
            expect("records", check["expect_records"], done.stdout.count(b"\n"))
        for alias, want in check["expect_ids"].items():
            line = json.dumps({"text": check["text"]}, ensure_ascii=False).encode()
            done = common.run(["encode", "-v", self.vocab(alias), "--input-format", "jsonl"], line)
            expect(alias, want, [int(one) for one in done.stdout.split()])
        done = common.run(["encode", "-v", self.vocab("cl100k"), "--input-format", "lines"], "a\vb\fc\x85d\u2028e\n".encode())
        expect("lines", 1, done.stdout.count(b"\n"))

    def c084(self, check, row):
        lines = subprocess.Popen("yes 'a b' | head -c 2300000000", shell=True, stdout=subprocess.PIPE)
        done = subprocess.run([common.program(), "count", "-q", "--input-format", "lines", "-v", self.vocab("cl100k"), "-"],
                              stdin=lines.stdout, capture_output=True, timeout=1800, check=False)
        lines.wait()
        expect("tokens", 2 * 575000000, int(done.stdout.split()[0]))

    def c085(self, check, row):
        """In a process of its own: ru_maxrss is that of the largest child so far."""
        source = os.path.join(self.vocabularies.folder, "big.txt")
        with open(source, "wb") as target:
            for _ in range(64):
                target.write(b"The quick brown fox jumps over the lazy dog, again and again.\n" * 16913)
        code = ("import resource,subprocess,sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True);"
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        done = subprocess.run([sys.executable, "-c", code, common.program(), "encode", "--input-format", "lines", "-v",
                               self.vocab("cl100k"), source], capture_output=True, timeout=600, check=True)
        need(f"{int(done.stdout) // 1024} MB for 64 MB of lines", int(done.stdout) < 300 * 1024)

    def c088(self, check, row):
        words = self.vocabularies.write("words.tsv", "bc\t5\naa\t3000000000\n")
        self.check_training(["--vocab-size", "257", "--words", words], b"", [["a", "a"]])

    def check_training(self, args, data, merges, n_merges=None):
        out = os.path.join(self.vocabularies.folder, "trained.json")
        done = common.run(["train", "-q", "-o", out, *args], data)
        expect("exit code: " + done.stderr.decode(), 0, done.returncode)
        with open(out, encoding="utf-8") as source:
            model = json.load(source)["model"]
        expect("first merges", merges, model["merges"][:len(merges)])
        if n_merges is not None:
            expect("merges", n_merges, len(model["merges"]))
        return out, model

    def c091(self, check, row):
        with open(os.path.abspath(__file__), "rb") as source:
            data = source.read() * 3
        out, _ = self.check_training(["--vocab-size", "1000", "--special", "<|end|>", "-"], data, [], check["expect_merges"])
        expect("special token", ["<|end|>"], common.decode(out, [[0]]))
        expect("ids without a hole", 1000, json.loads(common.run(["inspect", "--json", "-v", out]).stdout)["tokens"])

    def c093(self, check, row):
        out, _ = self.check_training(["--vocab-size", "259", "--order", "byte", "--min-frequency", "1", "-"],
                                     check["text"].encode(), [["a", "a"]], check["merges"])
        expect("ids", check["expect_ids"], self.ids(out, check["text"]))
        expect("aaa", [256, 97], self.ids(out, "aaa"))
        expect("tie.json", [256, 256, 97], self.ids(self.tiny("tie.json"), "aaaaa"))

    def c094(self, check, row):
        data = b"one<|eot|>two<|eot|>three\n" * 1000
        _, model = self.check_training(["--vocab-size", "300", "--special", "<|eot|>", "-"], data, [])
        need("no token holds the special token's text",
             not any("|eot" in token for token in model["vocab"] if token != "<|eot|>"))

    def c096(self, check, row):
        self.refused(self.tiny(check["vocab_file"]), "a b c")
        expect("one blank is fine", [259], self.ids(self.tiny("strmerge.json"), "hello"))

    def c098(self, check, row):
        path = os.path.join(self.vocabularies.folder, "line.txt")
        with open(path, "w", encoding="ascii") as target:
            target.write('{"a":[' + ",".join(str(k * k % 9973) for k in range(10000000)) + "]}")
        start = time.monotonic()
        self.check_training(["--vocab-size", "1000", path], b"", [])
        need("time", time.monotonic() - start < 120)

    def c123(self, check, row):
        symbols = subprocess.run(["nm", "-D", "--undefined-only", common.program()], capture_output=True, check=True).stdout
        for name in (b" connect", b" socket", b" getaddrinfo"):
            need(f"the program uses{name.decode()}", name + b"@" not in symbols and name + b"\n" not in symbols)

    def c125(self, check, row):
        added = [made.added(f"<extra_{k}>", special=True) for k in range(20000)]
        text = ("The quick <brown> fox <i>jumps</i> over the lazy dog.\n" * 80000).encode()
        times = {}
        for name, tokens in (("none", []), ("many", added)):
            vocab = self.vocabularies.write(name + ".json", made.tokenizer(merges=made.HELLO, added=tokens))
            for what, data in (("load", b""), ("encode", text)):
                runs = []
                for _ in range(3):
                    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                    expect("exit code", 0, common.run(["count", "-j1", "-v", vocab, "-"], data).returncode)
                    runs.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
                times[name, what] = min(runs)
        need(f"loading took {times['many', 'load']:.2f} s", times["many", "load"] < 1)
        plain = times["none", "encode"] - times["none", "load"]
        many = times["many", "encode"] - times["many", "load"]
        need(f"encoding: {plain:.2f} s without, {many:.2f} s with", many < 1.5 * plain + 0.05)  # 1.2, and noise

    def c127(self, check, row):
        self.refused(self.tiny(check["vocab_file"]), "Wat", "model")
        for member in ("normalizer", "pre_tokenizer", "decoder", "post_processor"):
            vocab = self.vocabularies.write("wat.json", made.tokenizer(**{member: {"type": "Wat"}}))
            self.refused(vocab, "Wat", member)

    def c128(self, check, row):
        self.refused(self.tiny(check["vocab_file"]))
        vocab = self.vocabularies.write("long.json", made.tokenizer(model={"vocab": {"a": 0, "b": 1}, "merges": [["a", "b"]]}))
        self.refused(vocab, "merge", "ab")

    def c129(self, check, row):
        def small_stack():
            resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, 256 << 10))
        names = sorted(name for name in os.listdir(self.tiny("")) if name.startswith("bad_"))
        need("bad files", len(names) > 8)
        for name in names:
            start = time.monotonic()
            code, message = self.load(self.tiny(name), preexec_fn=small_stack)
            need(f"{name}: exit code {code}", code == 0 if name == "bad_nulkey.json" else code in (1, 2))  # see C066
            need(f"{name}: a place in the message: {message}", code == 0 or "byte" in message)
            need(f"{name}: slow", time.monotonic() - start < 5)

    def c131(self, check, row):
        vocab = {"a": 0, "<0x-1>": 1, "<0xZZ>": 2, "<0x1>": 3, "<0x100>": 4}
        for fallback in (True, False):
            path = self.vocabularies.write("hex.json", made.tokenizer(model={"vocab": vocab, "merges": [], "byte_fallback": fallback}))
            code, message = self.load(path)
            need(f"byte_fallback {fallback}: {message}", code in ((0, 1, 2) if fallback else (0,)))

    def bad_gguf(self, name, data, *words):
        path = os.path.join(self.vocabularies.folder, name)
        with open(path, "wb") as target:
            target.write(data)
        code = ("import resource,subprocess,sys; done = subprocess.run(sys.argv[1:], input=b'a', capture_output=True);"
                "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.stderr.decode())")
        done = subprocess.run([sys.executable, "-c", code, common.program(), "encode", "-v", path], capture_output=True,
                              timeout=60, check=True)
        exit_code, size, message = done.stdout.decode().split(" ", 2)
        need(f"{name}: exit code {exit_code}", exit_code in ("1", "2"))
        need(f"{name}: {int(size) // 1024} MB", int(size) < 50 * 1024)
        need(f"{name}: {message}", "byte" in message and all(word in message for word in words))

    def c133(self, check, row):
        """Lengths and counts that the file does not have."""
        good = gguf.write({"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": ["a", "b"]})
        at = good.index(b"tokenizer.ggml.tokens")
        for where, what in ((24, "key"), (16, "keys"), (at + 29, "elements"), (at + 37, "string")):
            for number in (2 ** 63, 2 ** 64 - 1, 2 ** 40, 2 ** 32 + 1):
                self.bad_gguf(f"{what}.gguf", good[:where] + number.to_bytes(8, "little") + good[where + 8:])
        for n in range(4, len(good), 7):
            self.bad_gguf("cut.gguf", good[:n])

    def c134(self, check, row):
        """Arrays of other types and lengths than the tokenizer needs."""
        good = {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": ["<unk>", "a", "b", "ab"],
                "tokenizer.ggml.scores": [0.0, -1.0, -2.0, -3.0], "tokenizer.ggml.token_type": [2, 1, 1, 1]}
        path = os.path.join(self.vocabularies.folder, "good.gguf")
        with open(path, "wb") as target:
            target.write(gguf.write(good))
        expect("the good file", [3], self.ids(path, "ab", "--special", "plain")[-1:])
        data = gguf.write(good)
        scores = data.index(b"tokenizer.ggml.scores") + len("tokenizer.ggml.scores") + 4
        self.bad_gguf("u8.gguf", data[:scores] + b"\0\0\0\0" + data[scores + 4:])
        for key, value in (("scores", [0.0]), ("scores", ["x"] * 4), ("token_type", [1]), ("token_type", "x"), ("tokens", [1, 2]),
                           ("tokens", "abcd"), ("model", [1])):
            self.bad_gguf(f"{key}.gguf", gguf.write(dict(good, **{"tokenizer.ggml." + key: value})))

    def c151(self, check, row):
        vocab, text = self.vocab("mistral_v01"), row["repro_input"]
        one = common.encode(vocab, [text], "--offsets", "char", "--pieces")[0]
        need("spans tile", [s[0] for s in one["spans"][1:]] == [s[1] for s in one["spans"][:-1]] and one["spans"][0][0] == 0
             and one["spans"][-1][1] == len(text))
        decoded = common.decode(vocab, [[number] for number in one["ids"]])
        for (begin, end), piece in zip(one["spans"], decoded):
            expect("input[a:b]", text[begin:end].strip(), piece.strip())

    def c136(self, check, row):
        vocab = self.vocab("cl100k")
        ids = self.ids(vocab, " " * 128)
        expect("one token", 1, len(ids))
        expect("all of it", " " * 128, common.decode(vocab, [ids])[0])

    def c140(self, check, row):
        for text, want in ((check["stdin"], 10), (check["stdin"].rstrip("\n"), 9)):
            done = common.run(["count", "-v", self.vocab("cl100k"), "-"], text.encode())
            expect("tokens", want, int(done.stdout.split()[0]))

    def c145(self, check, row):
        for args, word in ((["-v", "/no/such/file"], "No such file"), (["/no/such/file"], "No such file"), (["/"], "folder")):
            done = common.run(["encode", *args])
            need(f"{args}: {done.stderr}", done.returncode in (1, 2) and word.encode() in done.stderr)


def check_row(checks, row):
    """What became of a row: "checked", or why not."""
    number, check = row["id"], row["check"]
    own = getattr(checks, number.lower(), None)
    if own is None and (row["kind"] in LATER_KINDS or number in LATER):
        return "later step: " + (LATER.get(number) or LATER_KINDS[row["kind"]])
    if number in ELSEWHERE:
        return "checked by " + ELSEWHERE[number]
    if number in SLOW and not checks.slow:
        return f"only with --slow: {SLOW[number]}"
    check_one = own or getattr(checks, "op_" + check["op"], None)
    need("no check for this row", check_one is not None)
    check_one(check, row)
    return "checked" + PARTLY.get(number, "")


def main():
    path = os.path.join(common.SHARED, "cases", "cases.jsonl")
    if not os.path.exists(path):
        common.skip("no ../shared/cases/cases.jsonl")
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    only = [arg for arg in sys.argv[1:] if not arg.startswith("-")]
    ends = collections.Counter()
    with common.Vocabularies() as vocabularies:
        checks = Checks(vocabularies, "--slow" in sys.argv)
        for row in rows:
            if only and row["id"] not in only:
                continue
            try:
                end = check_row(checks, row)
            except Wrong as wrong:
                end = f"WRONG: {wrong}"
            except (RuntimeError, ValueError, subprocess.SubprocessError) as trouble:
                end = f"WRONG: {trouble}"
            print(f"{row['id']} {row['kind']:18} {end}", flush=True)
            ends[end.split(":")[0].split(" by ")[0]] += 1
    print(", ".join(f"{count} {end}" for end, count in ends.items()))
    return 1 if ends["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
