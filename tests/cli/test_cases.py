# SPDX-License-Identifier: MIT
"""Cases from the field (../shared/cases) that concern the command line, with the published vocabularies."""
import json

from common import CliTest, unpack


class Cases(CliTest):
    """Skipped, test by test, where the shared data is not there."""

    def setUp(self):
        super().setUp()
        rows = [json.loads(line) for line in unpack("cases/cases.jsonl").decode().split("\n") if line]
        self.cases = {row["id"]: row["check"] for row in rows}
        for name in ("cl100k", "o200k"):
            self.write(f"{name}_base.tiktoken", unpack(f"vocab/{name}_base.tiktoken.xz"))

    def both(self, case, run):
        for name, expected in self.cases[case]["expect_ids"].items():
            self.assertEqual(run(f"{name}_base.tiktoken"), [expected] * self.cases[case].get("expect_records", 1))

    def test_c067_line_separators_are_data(self):
        line = json.dumps({"text": self.cases["C067"]["text"]}, ensure_ascii=False) + "\n"
        self.both("C067", lambda v: [json.loads(row)["ids"] for row in self.raw(
            "encode", "-v", v, "--input-format", "jsonl", "--json", stdin=line).stdout.splitlines()])
        for char in "\u0085\u2029":
            out = self.raw("encode", "-v", "cl100k_base.tiktoken", "--input-format", "jsonl", "--json",
                           stdin=json.dumps({"text": f"a{char}b"}, ensure_ascii=False))
            self.assertEqual(out.stdout.count(b"\n"), 1)

    def test_c139_no_escapes(self):
        text = self.cases["C139"]["text"]
        self.both("C139", lambda v: [[int(i) for i in row.split()] for row in self.raw(
            "encode", "-v", v, stdin=text).stdout.splitlines()])
        self.assertEqual(self.raw("encode", "-v", "cl100k_base.tiktoken", stdin="a\nb").stdout, b"64 198 65\n")

    def test_c140_dash_is_standard_input(self):
        case = self.cases["C140"]
        out = self.raw(*case["args"].split(), "-v", "cl100k_base.tiktoken", stdin=case["stdin"]).stdout
        self.assertEqual(out.decode().split("\t")[0], case["expect"])
        out = self.raw("count", "-", "-v", "cl100k_base.tiktoken", stdin=case["stdin"].rstrip("\n")).stdout
        self.assertEqual(out.decode().split("\t")[0], "9")

    def test_c145_vocabulary_that_cannot_be_opened(self):
        self.write("packed.gz", b"\x1f\x8b\x08\0")
        for path, why in (("nope.json", "No such file or directory"), (".", "the folder holds"), ("packed.gz", "compressed")):
            result = self.raw("encode", "-v", path, stdin="x")
            self.assertEqual((result.returncode, result.stdout), (2, b""))
            self.assertRegex(result.stderr.decode(), f"^dstok: cannot open {path}: .*{why}")
