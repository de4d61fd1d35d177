# SPDX-License-Identifier: MIT
"""dstok decode: numbers and JSON to bytes."""
import json

from common import CliTest, END, NI, NI_PART, THE


class Decode(CliTest):
    def test_gives_the_input_back(self):
        for data in (b"", b"the", b"the\n", "你好 the\r\n\n".encode(), bytes(range(128)) * 9, b"\n\n\n"):
            out = self.run_verb("encode", stdin=data).stdout
            self.assertEqual(self.run_verb("decode", stdin=out).stdout, data)
        with open(__file__, "rb") as f:
            data = f.read()
        out = self.run_verb("encode", "-q", stdin=data).stdout
        self.assertEqual(self.run_verb("decode", stdin=out.replace(b" ", b"\n")).stdout, data)

    def test_lines_and_separator(self):
        self.assertEqual(self.out("decode", stdin="65 66\n67\n"), "ABC")
        self.assertEqual(self.out("decode", stdin=" 65\t 66 \r\n\n67"), "ABC")
        self.assertEqual(self.out("decode", "--separator", "\\n", stdin="65 66\n\n67\n"), "AB\n\nC\n")
        self.assertEqual(self.run_verb("decode", "--separator", "\\0", stdin="65\n66").stdout, b"A\0B\0")
        data = "the\n\nx\n"
        out = self.out("encode", "--input-format", "lines", stdin=data)
        self.assertEqual(self.out("decode", "--separator", "\\n", stdin=out), data)

    def test_partial_characters_are_exact(self):
        self.assertEqual(self.run_verb("decode", stdin=f"{NI_PART}\n160").stdout, "你".encode())
        self.assertEqual(self.run_verb("decode", stdin=str(NI_PART)).stdout, b"\xe4\xbd")

    def test_modes(self):
        run = lambda mode, ids: self.run_verb("decode", "--mode", mode, stdin=ids)
        self.assertEqual(run("lossless", f"{NI}").stdout, "你".encode())
        self.fails(1, "standard input:1: .*not UTF-8 at its byte 1; --mode replace", "decode", "--mode", "strict",
                   stdin=f"65 {NI_PART}")
        self.assertEqual(run("strict", f"65 {NI_PART} 160").stdout, "A你".encode())
        self.assertEqual(run("replace", f"65 {NI_PART}").stdout, "A\ufffd".encode())
        self.assertEqual(run("replace", "65 999999 66").stdout, "A\ufffdB".encode())
        result = run("raw", f"65 999999 {NI_PART}")
        self.assertEqual((result.returncode, result.stdout), (0, b"A\xe4\xbd"))
        self.assertIn(b"ids without a token: 1", result.stderr)

    def test_special(self):
        self.assertEqual(self.out("decode", stdin=f"{END} {THE}"), "<|end|>the")
        self.assertEqual(self.out("decode", "--skip-special", stdin=f"{END} {THE}"), "the")

    def test_bad_numbers(self):
        for word in ("4294967296", "99999999999999999999999", "-1", "1.5", "1e3", "abc", "0x41", "65,66", "+1"):
            self.fails(1, rf'^dstok: standard input:2: column 4: "{word.replace("+", ".")}" is not an id', "decode",
                       stdin=f"65\n66 {word} 67\n")
        self.fails(1, "for JSON give --input-format jsonl", "decode", stdin="[65]")
        result = self.fails(1, "input:2: column 4: id 4294967295 ", "decode", stdin="65\n66 4294967295\n67")
        self.assertEqual(result.stdout, b"A")

    def test_jsonl(self):
        run = lambda data, *more: self.out("decode", "--input-format", "jsonl", *more, stdin=data)
        self.assertEqual(run("[65, 66]\n{\"x\":1,\"ids\":[67]}\n[]\n"), "ABC")
        out = [json.loads(line) for line in run('{"id":[1,"x"],"ids":[65]}\n[%d]\n' % NI_PART, "--json").splitlines()]
        self.assertEqual(out, [{"id": [1, "x"], "text": "A"}, {"text": "\ufffd", "hex": "e4bd"}])
        self.assertEqual(run(' [ 65\t,66 ] \r\n{"ids":[],"ids":[ 67 ]}\n'), "ABC")
        self.fails(1, 'input:1: the object has no key "ids"', "decode", "--input-format", "jsonl", stdin='{"x":[1]}')
        self.fails(1, "column 8: the id is not UTF-8", "decode", "--input-format", "jsonl", stdin=b'{"id":"\xff","ids":[1]}')
        for data in ('{"ids":3}', '{"ids":{"ids":[1]}}', "7", "null"):
            self.fails(1, "an array of ids", "decode", "--input-format", "jsonl", stdin=data)
        for data in ("[1.5]", "[-1]", '["65"]', "[[65]]", "[4294967296]", "[1e1]", "[null]", '["a,b"]', "[{}]", "[[]]"):
            self.fails(1, "column 2: .*not an id", "decode", "--input-format", "jsonl", stdin=data)
        self.fails(1, "input:2: column 4: not JSON", "decode", "--input-format", "jsonl", stdin="[65]\n[1 2]")
        self.fails(1, "input:1: column 5: id 999999", "decode", "--input-format", "jsonl", stdin="[65,999999]")

    def test_json_of_encode(self):
        text = "the 你\n\t\"quoted\" \0 \U0001F600"
        out = self.out("encode", "--json", stdin=text)
        self.assertEqual(self.lines("decode", "--input-format", "jsonl", stdin=out), [{"text": text}])

    def test_long_line(self):
        self.assertEqual(self.out("decode", stdin="65 " * 300000), "A" * 300000)
        self.fails(1, "line is longer than 5 bytes", "decode", "--max-record", "5", stdin="65 66 67")
