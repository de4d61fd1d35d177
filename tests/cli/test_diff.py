# SPDX-License-Identifier: MIT
"""dsexplain diff: two reports of the same sources side by side; what is no such pair ends in one line."""
import copy
import json
import statistics
import unittest

from test_run import Run

TEXT = "The inner theory. The other one. A third \x1b[31m\u202eone. And the end."
SUMS = {"sources", "template", "response", "special", "bias", "residual_error"}


def ranks(values):
    return [sum(x < v for x in values) + (sum(x == v for x in values) - 1) / 2 for v in values]


class Diff(Run):
    def setUp(self):
        super().setUp()
        self.path = self.write("a.txt", TEXT)
        self.a = self.report("-f", self.path, "--prefix", "", "--target", "here")
        self.b = self.report("-f", self.path, "--prefix", "", "--target", "there")

    def diff(self, a, b, *arguments):
        names = [self.write(name, x if isinstance(x, (str, bytes)) else json.dumps(x)) for name, x in (("a.json", a), ("b.json", b))]
        return self.raw("diff", *names, *arguments)

    def text(self, a, b, *arguments):
        result = self.diff(a, b, *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return result.stdout.decode()

    def data(self, a, b, *arguments):
        return json.loads(self.text(a, b, "--json", *arguments))

    def refuses(self, pattern, a, b=None):
        result = self.diff(a, b or self.b)
        message = result.stderr.decode()
        self.assertEqual((result.returncode, result.stdout), (1, b""), message)
        self.assertRegex(message, pattern)
        self.assertTrue(message.startswith("dsexplain: ") and message.count("\n") == 1, message)


class Compared(Diff):
    def test_numbers(self):
        d = self.data(self.a, self.b)
        self.assertEqual((d["schema"], d["same_answer"]), ("dsexplain-diff/1", False))
        self.assertEqual((d["a"]["answer"], d["b"]["answer"]), ("here", "there"))
        (t,), a, b = d["targets"], self.a["targets"][0], self.b["targets"][0]
        self.assertEqual(t["value"], [a["value"], b["value"]])
        self.assertEqual(set(t["sum"]), SUMS)
        for key, two in t["sum"].items():
            self.assertEqual(two, [a["sum"][key], b["sum"][key]])
        x, y = ([s["score"] for s in side["spans"]] for side in (a, b))
        self.assertAlmostEqual(t["pearson"], statistics.correlation(x, y), places=9)
        self.assertAlmostEqual(t["spearman"], statistics.correlation(ranks(x), ranks(y)), places=9)
        changes = [abs(c["score"][0] - c["score"][1]) for c in t["changed"]]
        self.assertEqual(changes, sorted(changes, reverse=True))
        self.assertEqual(len(changes), t["common_spans"])
        spans = {tuple(s["range"]): s for s in a["spans"]}
        for c in t["changed"]:
            s = spans[tuple(c["range"])]
            self.assertEqual((c["score"][0], c["rank"][0], c["text"], c["line"]), (s["score"], s["rank"], s["text"], s["line"]))
        self.assertEqual(len(self.data(self.a, self.b, "--top", "2")["targets"][0]["changed"]), 2)

    def test_ties_and_thin_lists(self):
        a, b = copy.deepcopy(self.a), copy.deepcopy(self.b)
        for report, scores in ((a, (1, 1, 2, 0)), (b, (5, 3, 3, 3))):
            for span, score in zip(report["targets"][0]["spans"], scores, strict=True):
                span["score"] = score
        t = self.data(a, b)["targets"][0]
        self.assertAlmostEqual(t["spearman"], statistics.correlation(ranks([1, 1, 2, 0]), ranks([5, 3, 3, 3])), places=12)
        del a["targets"][0]["spans"][0], b["targets"][0]["spans"][1]
        b["targets"][0]["spans"].reverse()
        t = self.data(a, b)["targets"][0]
        self.assertEqual((t["common_spans"], t["a"]["spans"], t["b"]["spans"]), (2, 3, 3))
        self.assertIsNone(t["pearson"])  # B's are the same
        self.assertIn("1 more are in A alone, 1 in B", self.text(a, b))

    def test_kinds(self):
        other = self.report("-f", self.path, "--prefix", "", "--target", "here", "--method", "attention")
        t = self.data(self.a, other)["targets"][0]
        self.assertEqual((t["by"], t["same_text"]), ("rank", True))
        changes = [abs(c["rank"][0] - c["rank"][1]) for c in t["changed"]]
        self.assertEqual(changes, sorted(changes, reverse=True))
        self.assertIn("of different kinds", self.text(self.a, other))

    def test_text(self):
        text = self.text(self.a, self.b)
        self.assertTrue(text.startswith("the answers differ:\n  A: here\n  B: there\n"), text)
        self.assertIn("the explained texts differ", text)
        self.assertFalse(set(text) & {"\x1b", "\u202e"})
        self.assertIn("<1B>[31m<202E>one.", text)
        same = self.text(self.a, self.a)
        self.assertTrue(same.startswith("the answers are the same\n"))
        self.assertIn("correlation of 4 scores 1.0000, of their ranks 1.0000", same)

    def test_targets(self):
        several = [self.report("-f", self.path, "--next", k) for k in ("3", "2")]
        self.assertEqual([len(self.data(*pair)["targets"]) for pair in (several, several[::-1])], [2, 2])
        self.assertIn("A explains 3 targets, B 2", self.text(*several))

    def test_standard_input(self):
        result = self.raw("diff", "-", self.write("b.json", json.dumps(self.b)), stdin=json.dumps(self.a))
        self.assertEqual(result.returncode, 0)
        self.assertIn("A: standard input", result.stdout.decode())


class Refused(Diff):
    def test_other_sources(self):
        other = self.report("-f", self.write("b.txt", "The end."), "--prefix", "", "--target", "here")
        self.refuses(r"are of different sources: number 1 has sha256 [0-9a-f]{12}\.\.\. and [0-9a-f]{12}", self.a, other)
        two = self.report("-f", self.path, "-f", self.path, "--prefix", "", "--target", "here")
        self.refuses("has 1 sources, .* has 2", self.a, two)
        words = self.report("-f", self.path, "--prefix", "", "--target", "here", "--level", "word")
        self.refuses("lists by sentence, .* by word: give both runs the same --level", self.a, words)

    def test_hostile(self):
        def changed(*path):
            report = copy.deepcopy(self.a)
            at = report
            for key in path[:-2]:
                at = at[key]
            if path[-1] is KeyError:
                del at[path[-2]]
            else:
                at[path[-2]] = path[-1]
            return report

        first = ("targets", 0, "spans", 0)
        for pattern, report in (
                ("the file is empty", " "[:0]), ("a.json:1: column", "{"), ("a.json:1: column", "[" * 100000), ("is no report", "[]"), ("is no report", "{}"),
                ("a.json:1: column", '{"schema":"dsexplain/1","schema":"dsexplain/1"}'), ("a.json:1: column", b'{"schema":"\xff"}'),
                ("a.json:1: column", '{"schema":1e999}'), ("a.json:1: column", '{"schema":99999999999999999999}'),
                ("is no report", changed("schema", "dsexplain/2")), ("is a line of a report", changed("record", "header")),
                ("output.*text is no text|text is no text", changed("output", KeyError)), ("sources is no list", changed("sources", {})),
                ("targets is no list", changed("targets", KeyError)), ("targets is empty", changed("targets", [])),
                (r"sources\[0\].sha256 is null", changed("sources", 0, "sha256", None)),
                (r"sources\[0\].sha256 is no SHA-256", changed("sources", 0, "sha256", "x" * 64)),
                (r"sources\[0\].bytes is no whole number", changed("sources", 0, "bytes", -1)),
                (r"targets\[0\].quantity is no text", changed("targets", 0, "quantity", 3)),
                (r"targets\[0\].value is no number", changed("targets", 0, "value", "1")),
                (r"targets\[0\].bias is no number", changed("targets", 0, "sum", "bias", [])),
                (r"targets\[0\].spans\[0\].score is no number", changed(*first, "score", None)),
                (r"spans\[0\].source is the number of none", changed(*first, "source", 1)),
                (r"spans\[0\].range does not lie in its source", changed(*first, "range", [0, len(TEXT) + 99])),
                (r"spans\[0\].range does not lie in its source", changed(*first, "range", [3, 2])),
                (r"spans\[0\].range is no range", changed(*first, "range", [3])),
                (r"spans\[0\].rank is no whole number", changed(*first, "rank", 1.5)),
                (r"spans\[1\].level is another one", changed("targets", 0, "spans", 1, "level", "word")),
                (r"spans\[0\].text is no text", changed(*first, "text_b64", "AA==")),
                ("holds a span twice", changed("targets", 0, "spans", self.a["targets"][0]["spans"][:1] * 2)),
                (r"targets\[0\].* is no", changed("targets", [None])), (r"sources\[0\]", changed("sources", [7]))):
            self.refuses(pattern, report)

    def test_use(self):
        a = self.write("a.json", json.dumps(self.a))
        for pattern, *arguments in (("which reports", ), ("which reports", a), ("3 inputs, diff takes 2", a, a, a), ("not both", "-", "-"),
                                    ("cannot open nowhere", a, "nowhere"), ("--hops is not an option of diff", a, a, "--hops", "2")):
            self.fails(2, pattern, "diff", *arguments)


del Run

if __name__ == "__main__":
    unittest.main()
