# SPDX-License-Identifier: MIT
"""JSON lines: keys, ids, odd values, errors, and the co-process."""
import json
import os
import select
import subprocess

from common import CliTest, DSTOK, NI, THE


class Jsonl(CliTest):
    def encode(self, data, *arguments, **more):
        return self.lines("encode", "--input-format", "jsonl", *arguments, stdin=data, **more)

    def bad(self, data, pattern, *arguments):
        return self.fails(1, pattern, "encode", "--input-format", "jsonl", "--json", *arguments, stdin=data)

    def test_records(self):
        rows = self.encode('{"text":"the"}\n{"text":"","id":2}\n{"id":"x","text":"你"}')
        self.assertEqual(rows, [{"ids": [THE], "spans": [[0, 3]]}, {"id": 2, "ids": [], "spans": []},
                                {"id": "x", "ids": [NI], "spans": [[0, 3]]}])

    def test_id_comes_out_as_it_went_in(self):
        for written in ("18446744073709551617", "-0", "1.50e+02", '"\\u00e9\\/\\ud83d"', "[1, {\"a\" : null}]", "null", "true"):
            out = self.out("encode", "--input-format", "jsonl", "--json", stdin='{"text":"the", "id" : %s }' % written)
            self.assertTrue(out.startswith('{"id":%s,"ids":[' % written), out)

    def test_only_line_feeds_end_records(self):
        for char in "\u2028\u2029\u0085":
            rows = self.encode('{"text":"free)%snext"}\n' % char)
            self.assertEqual(len(rows), 1)
            self.assertEqual(bytes(i for i in rows[0]["ids"] if i < 256).decode(), f"free){char}next")

    def test_blank_lines_mark_and_carriage_returns(self):
        self.assertEqual(len(self.encode('\ufeff{"text":"a"}\r\n\r\n  \n{"text":"b"}\r\n\n')), 2)
        self.assertEqual(self.encode("\ufeff\n"), [])
        self.bad('{"text":"a"}\n\ufeff{"text":"b"}', "input:2: byte 13: not JSON")

    def test_keys(self):
        data = '{"a":{"b":{"c":"the"}},"a.b":"dot","text":"x","t\\u0065xt2":"你","e":""}'
        self.assertEqual(self.encode(data, "--json-keys", "a.b.c")[0]["ids"], [THE])
        self.assertEqual(bytes(self.encode(data, "--json-keys", "a.b")[0]["ids"]), b"dot")
        self.assertEqual(self.encode(data, "--json-keys", "text2,a.b.c")[0], {"ids": [NI, THE], "spans": [[0, 3], [3, 6]]})
        self.assertEqual(self.encode(data, "--json-keys", "e")[0]["ids"], [])
        self.assertEqual(self.encode('{"text":"x","text":"the"}')[0]["ids"], [THE])
        self.bad(data, r'input:1: byte 0: the object has no key "nope"; --json-keys', "--json-keys", "nope")
        self.bad(data, r'byte 5: "a" is an object, not a string', "--json-keys", "a")
        for value, kind in (("null", "null"), ("7", "a number"), ("[]", "an array"), ("true", "a boolean")):
            self.bad('{"text":%s}' % value, f'"text" is {kind}, not a string')

    def test_many_keys(self):
        keys = [f"k{i}" for i in range(80)]
        data = json.dumps({key: "the" for key in keys}) + "\n"
        for n in (2, 63, 64):
            self.assertEqual(self.encode(data, "--json-keys", ",".join(keys[:n]), "--offsets", "none"), [{"ids": [THE] * n}])
        long = "k" * 4096
        self.assertEqual(self.encode(json.dumps({long: "the"}), "--json-keys", long)[0]["ids"], [THE])
        for bad, why in ((",".join(keys[:65]), "more than 64 keys"), (",".join(keys), "more than 64"), (long + "k", "a key is longer than 4096")):
            for verb in ("encode", "count", "train"):
                more = ("--vocab-size", "300", "-o", "-") if verb == "train" else ()
                result = self.raw(verb, "--input-format", "jsonl", "--json-keys", bad, *more, stdin=data)
                self.assertEqual((result.returncode, result.stdout), (2, b""))
                self.assertRegex(result.stderr.decode(), f'^dstok: --json-keys "[^"]*": {why}')
        for keys in ("k1,,k2", "k1,", ",k1", ",", ""):
            for verb in ("encode", "count"):
                self.fails(2, f'--json-keys "{keys}": a key is empty; see: dstok help {verb}', verb, "--input-format", "jsonl",
                           "--json-keys", keys, stdin=data)

    def test_faults_of_several_keys(self):
        both, half = '{"a":"x","b":"the"}', '{"a":"\\ud83d","b":"the"}'
        self.assertEqual(self.encode(both, "--json-keys", "a,b")[0]["ids"], [ord("x"), THE])
        self.bad(half, "byte 6: .*half of a surrogate pair; --on-error", "--json-keys", "a,b")
        self.bad(half, "byte 6: .*half of a surrogate pair$", "--json-keys", "a,c")
        result = self.run_verb("encode", "--input-format", "jsonl", "--json-keys", "a,b", "--on-error", "replace", stdin=half)
        self.assertEqual((result.returncode, result.stdout.split()[-1]), (0, str(THE).encode()))
        self.assertIn(b"byte 6: \\ud83d is half of a surrogate pair; it became U+FFFD", result.stderr)
        result = self.run_verb("encode", "--input-format", "jsonl", "--json-keys", "a,c", "--on-error", "replace", stdin=half)
        self.assertEqual((result.returncode, result.stdout), (3, b"\n"))
        self.assertIn(b'byte 0: the object has no key "c"; --json-keys', result.stderr)
        self.bad(" \t" + both, 'byte 2: the object has no key "c"; --json-keys', "--json-keys", "c")

    def test_threads_agree(self):
        rows = [{"id": i, "pad": "\\\"" * (i % 70), "text": "the\n\"你\"" * (i % 9)} for i in range(3000)]
        data = "".join(json.dumps(row, ensure_ascii=i % 2 == 0) + "\n" for i, row in enumerate(rows))
        one = self.out("encode", "--input-format", "jsonl", "--json", "-j1", stdin=data)
        self.assertEqual([json.loads(line)["id"] for line in one.splitlines()], list(range(3000)))
        for threads in (2, 5):
            self.assertEqual(self.out("encode", "--input-format", "jsonl", "--json", f"-j{threads}", stdin=data), one)
        texts = "".join(row["text"] for row in rows)
        self.assertEqual(int(self.out("count", "--input-format", "jsonl", stdin=data).split("\t")[1]), len(texts.encode()))

    def test_lines_are_counted(self):
        data = '{"text":"a"}\n\n\r\n{"text":"b"}\n{"text":"' + "x" * 700000 + '"}\n{"text":5}\n'
        self.bad(data, "^dstok: standard input:6: byte ")
        for limit in (1000, 600000):
            self.assertRegex(self.bad(data, f"input:5: byte 29: the record is longer than {limit}", "--max-record", str(limit))
                             .stderr.decode(), "longer")
            notes = self.run_verb("encode", "--input-format", "jsonl", "--max-record", str(limit), "--on-error", "skip", stdin=data)
            self.assertIn(b"standard input:6: byte 700049: ", notes.stderr)

    def test_escapes(self):
        row = self.encode(r'{"text":"\u0000\ud83d\ude00\n\t\"\\\/\b\f\r\u00e9\u4f60"}', "--pieces")[0]
        self.assertEqual(self.lines("decode", "--input-format", "jsonl", stdin=json.dumps(row)),
                         [{"text": "\0\U0001F600\n\t\"\\/\b\f\ré你"}])

    def test_other_fields_do_not_matter(self):
        data = '{"n":123456789012345678901234567890,"r":1e999,"d":{"text":["}",{"x":"\\ud800"}]},"text":"the"}'
        self.assertEqual(self.encode(data)[0]["ids"], [THE])

    def test_half_surrogates(self):
        data = '{"text":"ok"}\n{"id":1,"text":"a\\ud83d b"}\n'
        result = self.bad(data, r"^dstok: standard input:2: byte 31: \\ud83d is half of a surrogate pair; --on-error")
        self.assertEqual(len(result.stdout.splitlines()), 1)
        row = self.encode(data, "--on-error", "replace")[1]
        self.assertEqual((row["id"], bytes(row["ids"])), (1, "a\ufffd b".encode()))
        for text in (r"\ude00", r"\ud83dx", r"\ud83d\ud83d", r"\ud83d\n", r"x\ud83d"):
            self.bad('{"text":"%s"}' % text, "half of a surrogate")
            expected = json.loads('"%s"' % text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            ids = self.encode('{"text":"%s"}' % text, "--on-error", "replace")[0]["ids"]
            self.assertEqual(bytes(ids).decode(), expected, text)

    def test_not_json(self):
        for data, why in (('{"text":"x"', "ends inside"), ('{"text":"x"} x', "byte 13: not JSON: more text"),
                          ('{"text":x}', "byte 8: not JSON: not a JSON value"), ('{"text" "x"}', "':' is missing"),
                          ("{'text':1}", "key in quotes"), ('{"text":"\t"}', "control character"),
                          ('{"text":"\\x"}', "unknown escape"), ('{"text":"\\u12"}', "four hex digits"),
                          ('{"a":01,"text":""}', "missing"), ('{"a":1.,"text":""}', "digit is missing"),
                          ('{"a":-,"text":""}', "digit is missing"), ('{"a":[1 2]}', "',' or '\\]' is missing"),
                          ('{"a":1,}', "key in quotes"), ('{"text":"x"', "ends inside"), ("{", "ends inside"),
                          ('{"a":tru}', "not a JSON value"), ("NaN", "not a JSON value")):
            self.bad(data, why)
        self.bad('["text"]', "the line is an array, not an object")
        self.bad("[" * 5000, "more than 1000 values")
        self.assertEqual(self.encode('{"a":%s1%s,"text":"the"}' % ("[" * 999, "]" * 999))[0]["ids"], [THE])

    def test_invalid_utf8(self):
        data = b'{"text":"ok"}\n{"text":"a\xffb"}\n'
        self.bad(data, "input:2: byte 1 of the text: ")
        self.assertEqual(bytes(self.encode(data, "--invalid", "replace")[1]["ids"]), "a\ufffdb".encode())
        self.assertEqual(bytes(self.encode(data, "--invalid", "raw")[1]["ids"]), b"a\xffb")
        self.bad(b'{"id":"\xff","text":"x"}', "byte 7: the id is not UTF-8")

    def test_skip_and_replace_keep_their_promises(self):
        data = '{"id":1,"text":"the"}\n{"id":2}\nrubbish\n{"id":4,"text":"the"}\n'
        self.assertEqual([r["id"] for r in self.encode(data, "--on-error", "skip", rc=3)], [1, 4])
        rows = self.encode(data, "--on-error", "replace", rc=3)
        self.assertEqual([r.get("id") for r in rows], [1, 2, None, 4])
        self.assertEqual([r["ids"] for r in rows], [[THE], [], [], [THE]])
        self.assertIn("no key", rows[1]["error"])

    def test_large_record(self):
        text = "the 你 " * 400000
        rows = self.encode(json.dumps({"id": 1, "text": text}) + '\n{"id":2,"text":"the"}\n', "--offsets", "none")
        self.assertEqual([r["id"] for r in rows], [1, 2])
        self.assertEqual(len(rows[0]["ids"]), 1200001)

    def test_count(self):
        out = self.out("count", "--input-format", "jsonl", stdin='{"text":"the"}\n{"text":"你"}\n')
        self.assertEqual(out, "2\t6\t4\t-\n")


class CoProcess(CliTest):
    def test_every_line_is_answered_before_the_next_is_written(self):
        command = [DSTOK, "encode", "-v", self.vocab, "--input-format", "jsonl", "--json", "--offsets", "byte"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.env)
        for i, text in enumerate(["the", "", "你", "x" * 300000, "", "line\n\u2028"]):
            process.stdin.write(json.dumps({"id": i, "text": text}).encode() + b"\n")
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], 30)
            self.assertTrue(ready, f"no answer to line {i}")
            row = json.loads(process.stdout.readline())
            self.assertEqual(row["id"], i)
            self.assertEqual(row["spans"][-1][1] if text else 0, len(text.encode()))
        process.stdin.close()
        self.assertEqual((process.stdout.read(), process.wait(30)), (b"", 0))
        process.stdout.close()

    def test_half_a_line_is_waited_for(self):
        process = subprocess.Popen([DSTOK, "encode", "-v", self.vocab, "--input-format", "lines"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.env)
        process.stdin.write(b"the\nth")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"257\n")
        self.assertEqual(select.select([process.stdout], [], [], 0.2)[0], [])
        process.stdin.write(b"e\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"257\n")
        self.assertEqual(process.communicate(timeout=30)[0], b"")
        self.assertEqual(process.returncode, 0)
