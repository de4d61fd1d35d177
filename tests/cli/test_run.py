# SPDX-License-Identifier: MIT
"""dsexplain run: explanations of tiny models. What scores mean is tested elsewhere; here: places, sums, forms of reports, faults."""
import base64
import csv
import gzip
import io
import json

import re
import shutil
import signal
import subprocess
import time
import unittest

from common import ROOT, sanitized
from schema import faults
from test_dsexplain import CHATML, LLAMA, PROGRAM, Dsexplain as Tiny

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMA = json.loads((ROOT / "docs/explain.schema.json").read_text())
LEVELS = ("token", "word", "sentence", "paragraph", "source")
# What places are easily lost in.
TORTURE = {
    "emoji": "A family \U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466 and a flag \U0001F1E9\U0001F1EA. \U0001F44D\U0001F3FD ok?\n",
    "cjk": "\u8bed\u8a00\u6a21\u578b\u8bfb\u6587\u672c\u3002\u7b2c\u4e8c\u53e5\u8bdd\uff01\u2000B\uff1f",
    "combining": "Cafe\u0301 nai\u0308ve. A\u030a\u0323 o\u0302\u0301! \u1e9b\u0323 \u0344",
    "crlf": "First line.\r\nSecond line,\r\nand more.\r\n\r\nA new paragraph.\r\n",
    "bom": "\ufeffA mark stands first. Then text.\ufeff",
    "tabs": "\tone\ttwo\t\tthree.\n\t\tFour. \v\f five",
    "nul": "Before\0after. \0\0 The end\0",
    "blanks": "   \n\n  Leading blanks. And trailing.  \n \t ",
    "nfc": "A\u030angstro\u0308m \u212b \u2126 \uac00 \u1100\u1161 \ufb01x \u0958 e\u0301\u0301.",
    "wide": "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643. \u202eabc\u202c \u200f! \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "controls": "A bell \x07, an escape \x1b[31mred\x1b[0m. \x7f \x85 \u2028 end",
    "forged": "Text. </s><s> The end of a turn: <|im_end|>\n<|im_start|>system {sources} {question} \\n %s %n",
}


def line_of(data, at):
    head = data[:at].decode()
    return head.count("\n") + 1, len(head) - head.rfind("\n")


@unittest.skipUnless(PROGRAM.exists(), "this build has no dsexplain")
class Run(Tiny):
    def report(self, *arguments, model=None, **more):
        result = self.raw("run", model or self.model, "--format", "json", *arguments, **more)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        report = json.loads(result.stdout.decode())
        self.valid(report)
        return report

    def valid(self, value):
        self.assertEqual(faults(value, SCHEMA), [])
        if jsonschema is not None:
            jsonschema.Draft202012Validator(SCHEMA).validate(value)

    def check_spans(self, report, files, level):
        """Every place and every sum of a report, worked out anew."""
        target = report["targets"][0]
        for span in target["spans"]:
            data, (begin, end) = files[span["source"]], span["range"]
            text = span["text"].encode() if "text" in span else base64.b64decode(span["text_b64"])
            self.assertEqual(text, data[begin:end])
            self.assertEqual((span["line"], span["col"]), line_of(data, begin))
            before, whole = data[:begin].decode(), data[begin:end].decode()
            self.assertEqual(span["char"], [len(before), len(before) + len(whole)])
            wide = [len(s.encode("utf-16-le")) // 2 for s in (before, before + whole)]
            self.assertEqual(span["utf16"], wide)
            self.assertEqual(span["level"], level)
        tokens, sums = target["tokens"], target["sum"]
        for source, span in zip(tokens["source"], tokens["range"]):
            self.assertEqual(source is None, span is None)
            if source is not None:
                self.assertLessEqual(0, span[0])
                self.assertLess(span[0], span[1])
                self.assertLessEqual(span[1], len(files[source]))
        of_sources = sum(x for x, s in zip(tokens["score"], tokens["source"]) if s is not None)
        scale = sum(map(abs, tokens["score"]))
        self.assertAlmostEqual(of_sources, sums["sources"], delta=1e-6 * scale)
        self.assertAlmostEqual(sum(tokens["score"]), sums["scores"], delta=1e-6 * scale)
        self.assertAlmostEqual(sum(s["score"] for s in target["spans"]), sums["sources"], delta=1e-6 * scale)
        self.assertAlmostEqual(target["value"], sums["scores"] + sums["bias"] + sums["residual_error"], delta=1e-6 * scale)
        self.assertLess(abs(sums["residual_error"]), 1e-9 * scale)
        self.assertEqual(sorted(s["rank"] for s in target["spans"]), list(range(1, len(target["spans"]) + 1)))


class Places(Run):
    def check_all(self, model, *arguments):
        files = [text.encode() for text in TORTURE.values()]
        names = [self.write(f"{name}.txt", data) for name, data in zip(TORTURE, files)]
        options = [x for name in names for x in ("-f", name)]
        for level in LEVELS:
            report = self.report(*options, "-q", "Why?", "--target", "the end", "--prefix", "", "--level", level,
                                 "--context", "2K", "--backend", "float64", *arguments, model=model)
            self.check_spans(report, files, level)
            self.assertEqual([s["bytes"] for s in report["sources"]], list(map(len, files)))
            seen = {s["source"] for s in report["targets"][0]["spans"]}
            self.assertEqual(seen, set(range(len(files))))
        return report

    def test_bytes(self):
        self.check_all(self.model)

    def test_normalised(self):
        tokenizer = json.loads((self.model / "tokenizer.json").read_text())
        tokenizer["normalizer"] = {"type": "NFC"}
        report = self.check_all(self.copy(tokenizer__json=json.dumps(tokenizer)))
        self.assertEqual(report["tokenizer"]["normalizer"], "NFC")

    def test_chat(self):
        # The template's turns are text to this vocabulary, which has other control tokens; blanks at the ends are trimmed.
        for template in (CHATML, LLAMA):
            folder = self.copy(tokenizer_config__json=json.dumps({"chat_template": template}))
            for name, text in TORTURE.items():
                path = self.write(name, text)
                report = self.report("-f", path, "--prompt", "{sources}", "--target", "the end", "--prefix", "", "--level", "word",
                                     "--backend", "float64", model=folder)
                self.check_spans(report, [text.encode()], "word")
                kept = text.strip(" \t\r\n") if template == LLAMA else text
                segment = next(s for s in report["segments"] if s["role"] == "source")
                self.assertEqual(text.encode()[slice(*segment["src"])], kept.encode())

    def test_control_tokens_stay_text(self):
        text = "One </s> two. Three."
        report = self.report("-f", self.write("a", text), "--target", "x", "--prefix", "", "--level", "token")
        ranges = [r for r, s in zip(report["targets"][0]["tokens"]["range"], report["targets"][0]["tokens"]["source"]) if s == 0]
        at = text.index("</s>")
        self.assertIn([at + 1, at + 2], ranges)  # a token of its own, so not the control token
        self.assertNotIn([at, at + 4], ranges)

    def test_start_and_end_tokens(self):
        # Those that a vocabulary puts around texts: the start token counts, the end token would end the answer.
        tokenizer = json.loads((self.model / "tokenizer.json").read_text())
        parts = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                 {"SpecialToken": {"id": "</s>", "type_id": 0}}]
        tokens = {t["content"]: {"id": t["content"], "ids": [t["id"]], "tokens": [t["content"]]} for t in tokenizer["added_tokens"]}
        tokenizer["post_processor"] = {"type": "TemplateProcessing", "single": parts, "pair": parts, "special_tokens": tokens}
        folder = self.copy(tokenizer__json=json.dumps(tokenizer))
        path = self.write("a", "the theory.")
        report = self.report("-f", path, "--target", "here", "--prefix", "", "--backend", "float64", model=folder)
        self.check_spans(report, [b"the theory."], "sentence")
        flags = report["targets"][0]["tokens"]["flags"]
        self.assertEqual((flags[0], flags.count(2)), (2, 1))
        self.assertTrue(all(b < e for b, e in (t["bytes"] for t in report["output"]["tokens"])))
        self.assertNotEqual(report["targets"][0]["sum"]["special"], 0)

    def test_borders_of_tokens(self):
        # A token that begins in the template and ends in a source is shared out: its source part has the source's bytes alone.
        report = self.report("-f", self.write("a", "the theory."), "--prompt", "Read {sources}", "--target", "x", "--prefix", "",
                             "--backend", "float64", "--level", "token")
        tokens = report["targets"][0]["tokens"]
        first = tokens["source"].index(0)
        self.assertEqual(tokens["index"][first - 1], tokens["index"][first])
        self.assertEqual(tokens["range"][first], [0, 3])
        self.check_spans(report, [b"the theory."], "token")


class Answers(Run):
    def test_own_answer(self):
        path = self.write("a.txt", "The inner theory. The other one.")
        report = self.report("-f", path, "-q", "Which?", "-n", 5)
        self.assertEqual(len(report["output"]["tokens"]), 5)
        self.assertEqual(report["targets"][0]["token_range"][1] - report["targets"][0]["token_range"][0], 5)
        self.assertAlmostEqual(sum(t["logprob"] for t in report["output"]["tokens"]), report["targets"][0]["logprob"], places=5)
        # The same bits again, and with other threads.
        again = self.report("-f", path, "-q", "Which?", "-n", 5, "-j", 2)
        for key in ("value", "tokens", "spans", "sum"):
            self.assertEqual(again["targets"][0][key], report["targets"][0][key])
        text = base64.b64decode(report["output"]["text_b64"]) if "text_b64" in report["output"] else report["output"]["text"].encode()
        for token in report["output"]["tokens"]:
            self.assertEqual(token["bytes"][1] - token["bytes"][0] > 0, True)
        self.assertEqual(report["output"]["tokens"][-1]["bytes"][1], len(text))

    def test_targets(self):
        path = self.write("a.txt", "The inner theory. The other one.")
        given = ("-f", path, "--prefix", "It is ", "--target", "here. Not there! Ever.")
        whole = self.report(*given)
        self.assertEqual(whole["output"]["text"], "It is here. Not there! Ever.")
        self.assertEqual([t["output_range"] for t in whole["targets"]], [[6, 28]])
        target = whole["targets"][0]
        self.assertEqual((target["text"], target["quantity"], target["method"]["name"]),
                         ("here. Not there! Ever.", "token_log_odds", "rows"))
        one = self.report("-f", path, "--prefix", "It is here. Not there! Ever.", "--target-bytes", "6:11", "-n", 1)
        self.assertEqual(one["targets"][0]["text"], "here.")
        self.assertEqual(one["targets"][0]["output_range"], [6, 11])
        note = self.raw("run", self.model, "-f", path, "--target", "qqqq", "-n", 3, "--format", "json")
        self.assertRegex(note.stderr.decode(), "not in the model's own answer")
        self.assertEqual(json.loads(note.stdout)["output"]["text"], "qqqq")
        several = self.report("-f", path, "--next", 3)
        self.assertEqual([t["id"] for t in several["targets"]], [0, 1, 2])
        for target in several["targets"]:
            self.assertEqual(target["token_range"][1] - target["token_range"][0], 1)

    def test_each_sentence(self):
        path = self.write("a.txt", "The inner theory. The other one.")
        result = self.raw("run", self.model, "-f", path, "--prefix", "", "--target", "One. Two!\nThree", "--each-sentence")
        self.assertRegex(result.stderr.decode(), "give one of --target")
        vocab = json.loads((self.model / "tokenizer.json").read_text())
        report = self.report("-f", path, "-n", 40, "--each-sentence")
        text = base64.b64decode(report["output"]["text_b64"]) if "text_b64" in report["output"] else report["output"]["text"].encode()
        self.assertGreaterEqual(len(report["targets"]), 1)
        for target in report["targets"]:
            begin, end = target["output_range"]
            self.assertEqual(text[begin:end], text[begin:end].strip(b" \t\r\n"))
        self.assertTrue(vocab)

    def test_foil(self):
        path = self.write("a.txt", "The inner theory. The other one.")
        both = [self.report("-f", path, "--prefix", "It is ", "--target", a, "--foil", b, "--backend", "float64")["targets"][0]
                for a, b in (("here", "there"), ("there", "here"))]
        self.assertEqual([t["quantity"] for t in both], ["logit_difference"] * 2)
        self.assertEqual(both[0]["foil"], "there")
        self.assertAlmostEqual(both[0]["value"], -both[1]["value"], delta=1e-7)
        for a, b in zip(both[0]["tokens"]["score"], both[1]["tokens"]["score"]):
            self.assertAlmostEqual(a, -b, delta=1e-7)
        self.fails(1, "foil does not differ", "run", self.model, "-f", path, "--prefix", "", "--target", "here", "--foil", "here")

    def test_hops(self):
        path = self.write("a.txt", "The inner theory. The other one.")
        given = ("-f", path, "--prefix", "It is here and ", "--target", "there", "--backend", "float64")
        direct = self.report(*given)["targets"][0]
        self.assertEqual(len(direct["hops"]), 1)
        scores = [s for s in direct["tokens"]["score"] if s > 0]
        for hops in (2, 4):
            traced = self.report(*given, "--hops", hops)["targets"][0]
            self.assertEqual(traced["hops"][0], direct["hops"][0])
            self.assertEqual(len(traced["hops"]), hops)
            masses = [h["mass_on_generated"] for h in traced["hops"]]
            self.assertEqual(masses, sorted(masses, reverse=True))
            # Nothing is lost on the way: what the answer's words gave is elsewhere now.
            self.assertAlmostEqual(traced["sum"]["scores"], direct["sum"]["scores"], delta=1e-6 * sum(scores))
            self.assertLess(traced["sum"]["response"], direct["sum"]["response"])
        # The answer's own words are passed on also where they are explained themselves.
        whole = self.report("-f", path, "--prefix", "", "--target", "It is here and there", "--hops", "3")["targets"][0]
        self.assertEqual(len(whole["hops"]), 3)

    def test_methods(self):
        path = self.write("a.txt", "The inner theory. The other one. A third. And the end.")
        for method in ("rows", "flow", "loo", "ablate", "attention"):
            report = self.report("-f", path, "--prefix", "", "--target", "here", "--method", method, "--masks", 8, "--verify", 8)
            target = report["targets"][0]
            self.assertEqual(target["method"]["name"], method)
            self.assertEqual(target["unit"], None if method == "attention" else "nat")
            self.assertEqual(target["faithfulness"]["masks"], 8)
            self.assertIsNotNone(target["prior"])
        self.assertEqual([len(self.report("-f", path, "--prefix", "", "--target", "here", "--top", k)["targets"][0]["spans"])
                          for k in (1, 3)], [1, 3])

    def test_useless_sources(self):
        """Where the answer is likelier without any source, shares of what they give are left out, not printed as nan."""
        path = self.write("a.txt", "The inner theory. The other one. A third.")
        seen = set()
        for word in ("here", "there", "one", "two", "x", "The", "third", "end"):
            options = ("-f", path, "--prefix", "", "--target", word, "--verify", 4)
            known = self.report(*options)["targets"][0]["faithfulness"]["comprehensiveness"] is not None
            seen.add(known)
            for form in ("ansi", "html"):
                text = self.raw("run", self.model, *options, "--format", form).stdout.decode()
                self.assertEqual("omprehensiveness" in text, known)
                self.assertNotIn("nan,", text)
        self.assertEqual(seen, {False, True})

    def test_items(self):
        lines = [{"id": "a", "context": "The inner theory. The other.", "question": "Which?", "prefix": "It is ", "answer": "here"},
                 {"id": 7, "sources": ["One the.", {"path": "two.txt", "text": "Two."}], "answer": "x", "foil": "y",
                  "prompt": "{sources} ? {question}"},
                 {"context": "\u8bed\u8a00", "question": None, "answer": "\u0000z"}]
        text = "\n".join(map(json.dumps, lines)) + "\n\n"
        result = self.raw("run", self.model, "--items", "-", stdin=text)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        reports = [json.loads(line) for line in result.stdout.decode().splitlines()]
        self.assertEqual([r["id"] for r in reports], ["a", 7, None])
        for r in reports:
            self.valid(r["report"])
        self.assertEqual([s["path"] for s in reports[1]["report"]["sources"]], ["source 1", "two.txt"])
        alone = self.report("-f", self.write("t", lines[0]["context"]), "-q", "Which?", "--prefix", "It is ", "--target", "here")
        for key in ("value", "tokens", "spans"):
            self.assertEqual(reports[0]["report"]["targets"][0][key], alone["targets"][0][key])
        self.assertIsNone(reports[1]["report"]["targets"][0]["foil"])
        against = self.raw("run", self.model, "--items", self.write("i", text), "--use-foil", "-o", "out")
        self.assertEqual((against.returncode, against.stdout), (0, b""))
        self.assertEqual(json.loads((self.dir / "out").read_text().splitlines()[1])["report"]["targets"][0]["foil"], "y")

    def test_bad_items(self):
        good = json.dumps({"id": 1, "context": "The end.", "answer": "x"})
        for pattern, line in (("column [0-9]+: ", "nothing"), ("no JSON object", "[]"), ('"context" or "sources" is needed', '{"id":1}'),
                              ('"context" or "sources"', '{"context":"a","sources":["b"]}'), ('"sources" is no list', '{"sources":[]}'),
                              ('"sources" are texts', '{"sources":[1]}'), ('"context" is empty', '{"context":" \\n"}'),
                              ('"question" is no text', '{"context":"a","question":1}'), ('"prefix" holds a NUL', '{"context":"a","prefix":"\\u0000"}'),
                              ('"answer" is empty', '{"context":"a","answer":""}'), ("the template has no {sources}", '{"context":"a","answer":"b","prompt":"c"}'),
                              ("column [0-9]+: ", '{"context":"\\ud800"}')):
            path = self.write("items.jsonl", f"{good}\n{line}\n{good}\n")
            result = self.raw("run", self.model, "--items", path, "-o", "out.jsonl")
            self.assertEqual(result.returncode, 1, line)
            self.assertRegex(result.stderr.decode(), "^dsexplain: .*items.jsonl:2: .*" + pattern)
            self.assertFalse((self.dir / "out.jsonl").exists())
            result = self.raw("run", self.model, "--items", path, "-o", "out.jsonl", "--on-error", "skip")
            self.assertEqual(result.returncode, 3)
            self.assertEqual(len((self.dir / "out.jsonl").read_text().splitlines()), 2)
            (self.dir / "out.jsonl").unlink()


class Forms(Run):
    def setUp(self):
        super().setUp()
        self.text = "A bell \x07 rings. The \x1b[31minner\x1b[0m theory,\r\nsays \"the\" end | here.\tOther words."
        self.path = self.write("a b.txt", self.text)
        self.given = ("-f", self.path, "--prefix", "", "--target", "here")

    def form(self, name, *arguments, env=None):
        result = self.raw("run", self.model, "--format", name, *self.given, *arguments, env=env)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stdout.decode()

    def rows(self, *arguments):
        return self.report(*self.given, *arguments)["targets"][0]["spans"]

    def test_grep(self):
        lines = self.form("grep").splitlines()
        spans = sorted(self.rows(), key=lambda s: s["rank"])
        self.assertEqual(len(lines), len(spans))
        for line, span in zip(lines, spans):
            m = re.fullmatch(re.escape(self.path) + r":(\d+):(\d+):([-+.e\d]+):(.*)", line)
            self.assertEqual((int(m[1]), int(m[2])), (span["line"], span["col"]))
            self.assertAlmostEqual(float(m[3]), span["score"], delta=1e-5 * abs(span["score"]) + 1e-12)
            self.assertFalse(set(m[4]) & {"\x1b", "\x07", "\r", "\t"})

    def test_csv(self):
        table = list(csv.DictReader(io.StringIO(self.form("csv"), newline="")))
        for row, span in zip(table, self.rows(), strict=True):
            self.assertEqual((row["text"], int(row["begin"]), int(row["rank"]), row["path"]),
                             (span["text"], span["range"][0], span["rank"], self.path))
            self.assertAlmostEqual(float(row["score"]), span["score"], delta=1e-9)

    def test_markdown(self):
        text = self.form("md", "--level", "sentence")
        self.assertTrue(text.startswith("## here\n"), text)
        rows = [line for line in text.splitlines() if re.match(r"\| \d", line)]
        self.assertEqual(len(rows), len(self.rows()))
        for row in rows:
            self.assertEqual(row.count("|"), 7)
        self.assertNotIn("\x1b", text)

    def test_ansi(self):
        plain = self.form("ansi")
        self.assertNotIn("\x1b", plain)
        self.assertNotIn("\x07", plain)
        self.assertIn("<1B>[31minner", plain)
        self.assertRegex(plain, r"(?m)^\[1\] +[-+]\d")
        self.assertIn(">>here<<", plain)
        for words in ("method rows", "value = sources", "residual"):
            self.assertIn(words, plain)
        force = {"CLICOLOR_FORCE": "1", "TERM": "xterm", "COLORTERM": ""}
        for env, sign in (({}, "\x1b[30;4"), ({"TERM": "xterm-256color"}, "48;5;"), ({"COLORTERM": "truecolor"}, "48;2;")):
            text = self.form("ansi", env={**force, **env})
            self.assertIn(sign, text)
            self.assertFalse(re.search("\x1b(?!\\[[0-9;]*m)", text))
            self.assertIn("<1B>[31minner", text.replace("\x1b[0m", ""))
        self.assertNotIn("\x1b", self.form("ansi", env={**force, "NO_COLOR": "1"}))

    def test_lines(self):
        result = self.raw("run", self.model, "--format", "jsonl", "-f", self.path, "--next", 3)
        lines = [json.loads(line) for line in result.stdout.decode().splitlines()]
        self.assertEqual([x["record"] for x in lines], ["header", "target", "target", "target", "end"])
        for line in lines:
            self.valid(line)
        self.assertEqual((lines[-1]["targets"], lines[-1]["partial"]), (3, False))
        whole = self.report("-f", self.path, "--next", 3)
        for line, target in zip(lines[1:4], whole["targets"]):
            self.assertEqual({k: v for k, v in line.items() if k not in ("record", "seconds")},
                             {k: v for k, v in target.items() if k != "seconds"})

    def test_output_as_a_whole(self):
        self.form("json", "-o", "out.json")
        before = (self.dir / "out.json").read_bytes()
        self.valid(json.loads(before))
        failed = self.raw("run", self.model, "-f", self.path, "--prefix", "", "--target", "x", "--foil", "x", "-o", "out.json")
        self.assertEqual(failed.returncode, 1)
        self.assertEqual((self.dir / "out.json").read_bytes(), before)
        self.assertEqual(sorted(p.name for p in self.dir.iterdir() if "tmp" in p.name), [])
        self.fails(2, "cannot write", "run", self.model, *self.given, "-o", "no/such/folder")

    def interrupt(self, child):
        """Once it is at work, which it tells."""
        self.assertIn(b'"what":', child.stderr.readline())
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=100)
        return child.returncode

    def test_interrupt(self):
        items = "\n".join(json.dumps({"id": i, "context": "The inner theory. " * 40, "answer": "here"}) for i in range(3000))
        path = self.write("items", items)
        child = subprocess.Popen([PROGRAM, "run", self.model, "--items", path, "-o", "out.jsonl", "-j", "1", "--progress", "json"],
                                 cwd=self.dir, env=self.env, stderr=subprocess.PIPE)
        self.assertEqual(self.interrupt(child), 130)
        lines = [json.loads(x) for x in (self.dir / "out.jsonl").read_text().splitlines()]
        self.assertEqual(lines[-1], {"partial": True, "items": len(lines) - 1, "lines": 3000})
        self.assertLess(len(lines), 3000)

    def test_interrupted_targets(self):
        child = subprocess.Popen([PROGRAM, "run", self.model, "-f", self.write("long", "The inner theory. " * 100), "-n", "400", "--next", "400",
                                  "--method", "flow", "--backend", "float64", "--format", "jsonl", "-o", "out.jsonl", "-j", "1", "--context", "8K", "--progress", "json"],
                                 cwd=self.dir, env=self.env, stderr=subprocess.PIPE)
        self.assertEqual(self.interrupt(child), 130)
        lines = [json.loads(x) for x in (self.dir / "out.jsonl").read_text().splitlines()]
        for line in lines:
            self.valid(line)
        self.assertEqual((lines[-1]["record"], lines[-1]["partial"], lines[-1]["targets"]), ("end", True, len(lines) - 2))


class Faults(Run):
    def test_use(self):
        m, a = self.model, self.write("a", "The end.")
        for pattern, *arguments in (
                ("--hops must be at most 8", "-f", a, "--hops", "9"), ("--target is empty", "-f", a, "--target", ""),
                ("--foil is empty", "-f", a, "--foil", ""), ("give one of --target, --target-bytes", "-f", a, "--target", "x", "--next", "2"),
                ("--target-bytes x: is no range", "-f", a, "--target-bytes", "x"), ("--target-bytes 3:3: is empty", "-f", a, "--target-bytes", "3:3"),
                ("--target-bytes 5:3: is empty", "-f", a, "--target-bytes", "5:3"), ("--next 0: must be at least 1", "-f", a, "--next", "0"),
                ("--target is not for --items", "--items", a, "--target", "x"), ("--items writes JSON", "--items", a, "--format", "md"),
                ("are for --items", "-f", a, "--on-error", "skip"), ("--prompt", "-f", a, "--prompt", "\\q"),
                ("cannot open nowhere: No such file", "-f", "nowhere"), ("cannot open nowhere", "--items", "nowhere"),
                ('"best" is not one of|best', "-f", a, "--method", "best")):
            self.fails(2, pattern, "run", m, *arguments)

    def test_texts(self):
        m, a = self.model, self.write("a", "The end.")
        given = ("--prefix", "", "--target", "x")
        for pattern, *arguments in (
                ("empty: the text is empty", "-f", a, "-f", self.write("empty", ""), *given),
                ("blank: there are only blanks", "-f", self.write("blank", " \r\n\t"), *given),
                (": Is a directory", "-f", ".", *given),
                (r"bad.txt: .*\(byte 4\)", "-f", a, "-f", self.write("bad.txt", b"The \xff end."), *given),
                (r"cut.txt: .*\(byte 3\)", "-f", self.write("cut.txt", b"The\xe8\xaf"), *given),
                ("--target-bytes 2:90: the answer has", "-f", a, "-n", "3", "--target-bytes", "2:90"),
                ("the template knows .sources. and .question., once each", "-f", a, "--prompt", "{context}", *given),
                ("the template has no {sources}", "-f", a, "--prompt", "What?", *given),
                ("the template knows", "-f", a, "--prompt", "{sources}{sources}", *given),
                ("8 tokens of prompt and answer, the model was made for 512 and --context says less", "-f", a, "--context", "7", *given),
                ("tokens of prompt leave no room for an answer, the model was made for 512: fewer sources, or --context",
                 "-f", self.write("long", "end. " * 200)),
                ("tokens of prompt and answer, the model was made for 512", "-f", self.dir / "long", *given)):
            self.fails(1, pattern, "run", m, *arguments)
        self.report("-f", self.dir / "long", *given, "--context", "2K")

    def test_models(self):
        a, given = self.write("a", "The end."), ("--prefix", "", "--target", "x")
        folder = self.copy()
        (folder / "tokenizer.json").unlink()
        self.fails(2, "holds no vocabulary; name one with -v", "run", folder, "-f", a, *given)
        shards = sorted(self.copy().glob("*.safetensors"))
        for fill in (b"\x00\x00\xc0\x7f", b"\x00\x00\x80\x7f"):  # NaN and infinity in the last weights
            folder = self.copy()
            path = folder / shards[0].name
            data = path.read_bytes()
            path.write_bytes(data[:-4000] + fill * 1000)
            self.fails(1, "not finite", "run", folder, "-f", a, *given)
            self.fails(1, "not finite", "run", folder, "-f", a, "-n", "2")

    def test_inputs(self):
        text = "The inner theory. The other one."
        given = ("--prefix", "", "--target", "x")
        plain = self.report("-f", self.write("a", text), *given)
        packed = self.report("-f", self.write("a.gz", gzip.compress(text.encode())), *given)
        piped = self.report(*given, stdin=text)
        dash = self.report("-f", "-", *given, stdin=text)
        for other in (packed, piped, dash):
            self.assertEqual(other["targets"][0]["tokens"], plain["targets"][0]["tokens"])
            self.assertEqual(other["sources"][0]["sha256"], plain["sources"][0]["sha256"])
        self.assertEqual(piped["sources"][0]["path"], "standard input")

    def test_dry_run(self):
        a = self.write("a", "The inner theory. " * 10)
        text = self.raw("run", self.model, "-f", a, "--dry-run").stdout.decode()
        self.assertRegex(text, r"^tokens  \d+, of them \d+ of sources; the model was made for 512\nanswer  at most 256 tokens\n"
                               r"memory .*\ntime    about ")
        given = ("-f", a, "--prefix", "", "--target", "the end", "--format", "json", "--dry-run")
        estimate = json.loads(self.raw("run", self.model, *given).stdout)
        self.assertEqual(estimate["memory_bytes"], estimate["weight_bytes"] + estimate["explain_bytes"])
        self.assertGreater(estimate["seconds"], 0)
        self.assertGreater(estimate["source_tokens"], 100)
        limit = str(estimate["memory_bytes"] - 1)
        refused = self.raw("run", self.model, *given, "--max-memory", limit)
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stderr.decode(), "more than --max-memory")
        self.fails(1, "bytes are needed, and --max-memory is", "run", self.model, *given[:-1], "--max-memory", limit)
        self.report(*given[:-1], "--max-memory", str(estimate["memory_bytes"]))

    def test_progress(self):
        result = self.raw("run", self.model, "-f", self.write("a", "The end."), "-n", "3", "--progress", "json", "--format", "grep")
        told = [json.loads(x) for x in result.stderr.decode().splitlines()]
        self.assertEqual({t["what"] for t in told} - {"generated"}, {"explained"})
        self.assertTrue(all(t["steps"] <= t["of"] and t["left"] >= 0 for t in told))


class Example(Run):
    def test_example_in_c(self):
        build = PROGRAM.parent.parent
        if not shutil.which("cc") or not (build / "libdsx.so").exists() or sanitized():
            self.skipTest("needs cc and a shared libdsx without sanitizers")
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", ROOT / "docs/examples/explain.c", "-o", self.dir / "explain",
                        *(f"-I{ROOT / folder}/include" for folder in ("tokenizer", "align", "model")), f"-L{build}", "-ldsx", "-ldstok",
                        f"-Wl,-rpath,{build}"], check=True)
        path = self.write("a", "The inner theory.\nThe other one.")
        result = subprocess.run([self.dir / "explain", self.model, "Which?", path], capture_output=True)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        spans = self.report("-f", path, "-q", "Which?", "-n", 64)["targets"][0]["spans"]
        for line, span in zip([x for x in result.stdout.split(b"\n") if x.startswith(path.encode())],
                              sorted(spans, key=lambda s: s["rank"]), strict=True):
            self.assertEqual(line.decode(), "%s:%d:%d: %+.3f\t%s" % (path, span["line"], span["col"], span["score"], span["text"]))
        missing = subprocess.run([self.dir / "explain", self.model, "Which?", "nothing"], capture_output=True, cwd=self.dir)
        self.assertEqual((missing.returncode, missing.stderr), (1, b"explain: nothing cannot be read\n"))


class SchemaChecker(unittest.TestCase):
    def test_it_can_fail(self):
        schema = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"], "additionalProperties": False}
        self.assertEqual(faults({"a": 1}, schema), [])
        for bad in ({}, {"a": 0}, {"a": 1.5}, {"a": True}, {"a": 1, "b": 2}, [], None):
            self.assertNotEqual(faults(bad, schema), [], bad)


del Tiny  # its tests run from their own file

if __name__ == "__main__":
    unittest.main()
