# SPDX-License-Identifier: MIT
"""Bug reports about chunks, as methods of the checks of cases.py. Limits below 16 are refused, so that rows which ask for
less are checked with longer texts."""
import json
import time

import common


class Wrong(Exception):
    """A check that failed."""


def expect(what, want, got):
    if want != got:
        raise Wrong(f"{what}: want {str(want)[:200]}, got {str(got)[:200]}")


def need(what, condition):
    if not condition:
        raise Wrong(what)


class ChunkChecks:
    """Needs vocab(alias) of the class it is mixed into."""

    def chunks(self, text, limit, *args, vocab="cl100k"):
        done = common.run(["chunk", "-q", "-v", self.vocab(vocab), "--max-tokens", str(limit), *args], text.encode())
        expect("exit code: " + done.stderr.decode(), 0, done.returncode)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def counts(self, texts, vocab="cl100k"):
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
        done = common.run(["encode", "-q", "--input-format", "jsonl", "-v", self.vocab(vocab)], lines)
        return [len(line.split()) for line in done.stdout.splitlines()]

    def tiled(self, text, limit, *args, vocab="cl100k"):
        """What holds of all chunks without overlap, and of those whose ids are their own text's."""
        got = []
        for way in ("slice", "retokenize"):
            got = self.chunks(text, limit, "--border-tokens", way, *args, vocab=vocab)
            expect(way + ": the text", text, "".join(one["text"] for one in got))
            need(f"{way}: above the limit", all(0 < one["tokens"] <= limit for one in got))
            need(f"{way}: not one behind the other", [one["byte"][0] for one in got[1:]] == [one["byte"][1] for one in got[:-1]])
        expect("counted again", [one["tokens"] for one in got], self.counts([one["text"] for one in got], vocab))
        return self.chunks(text, limit, *args, vocab=vocab)

    def c099(self, check, row):
        self.tiled(" ".join(f"word{k}" for k in range(200)), check["limit"])

    def c100(self, check, row):
        for limit in range(16, 25):
            self.tiled((check["text"] + " ") * 9, limit)

    def c102(self, check, row):
        got = self.tiled("This is a test. " * 60, 16)
        starts = [one["byte"][0] for one in got]
        need("each begins behind the one before", len(got) > 10 and all(a < b for a, b in zip(starts, starts[1:])))

    def c104(self, check, row):
        for args in (["--max-tokens", "2", "--overlap", "2"], ["--max-tokens", "32", "--overlap", "32"],
                     ["--max-tokens", "32", "--overlap", "33"], ["--max-tokens", "0"], ["--max-tokens", "-1"],
                     ["--max-tokens", "32", "--overlap", "16"]):
            start = time.monotonic()
            done = common.run(["chunk", *args], b"text")
            expect(f"{args}: exit code", 2, done.returncode)
            need(f"{args}: slow", time.monotonic() - start < 5)

    def c105(self, check, row):
        text = "a" * 2000
        self.tiled(text, 16)
        got, at = self.chunks(text, 16, "--overlap", "2"), 0
        for one in got:
            begin, end = one["byte"]
            need("no step forward", begin <= at < end)
            expect("its text", text[begin:end], one["text"])
            at = end
        expect("all of it", len(text), at)

    def c107(self, check, row):
        text = " ".join(["The cat sat on the mat."] * 20000)
        for vocab in ("cl100k", "o200k"):
            for limit, want in check["expect"].items():
                got = self.tiled(text, int(limit), vocab=vocab)
                expect(f"{vocab}, {limit}: chunks", want, len(got))
                need("within a sentence", all(one["text"].rstrip().endswith(".") for one in got))

    def c109(self, check, row):
        got = self.tiled("Text 1. Text 2. Text 3. " * 20, 16)
        need("a full stop at the begin", not any(one["text"].lstrip().startswith(".") for one in got))

    def c110(self, check, row):
        text = check["text"] * 20
        for limit in (16, 17, 20):
            got = self.tiled(text, limit, vocab=check["vocab"])
            need("not behind a sentence", all(one["byte"][1] % 12 == 0 and one["border"] == "sentence" for one in got[:-1]))
        expect("tokens of three sentences", 9, self.chunks(check["text"], 16, vocab=check["vocab"])[0]["tokens"])

    def c112(self, check, row):
        """Numbers and a.m. are no ends. Mr. is one of the doubted ones, as is a sentence that ends with a number."""
        size = len((check["text"] + " ").encode())
        for one in self.tiled((check["text"] + " ") * 30, 40)[:-1]:
            need(f"cut in a sentence: {one['text'][-20:]!r}", one["byte"][1] % size in (0, size - 1))
        for one in self.tiled("At 5 a.m. Mr. Smith paid $1.50. " * 30, 40)[:-1]:
            need(f"cut in a number: {one['text'][-20:]!r}", one["text"].rstrip().endswith(("Mr.", "1.50.")))

    def c114(self, check, row):
        for text in ("le reste .. Puis, ", "le reste .... Puis, "):
            self.tiled(text * 20, 16)

    def c115(self, check, row):
        """docs/chunking.md: no sentence ends where no blank follows, in Latin script; the limit holds."""
        got = self.tiled(check["text"] * 30, 16)
        need("cut before What", not any(one["text"].startswith("What") and one["border"] == "sentence" for one in got[1:]))

    def c117(self, check, row):
        expect("chunks", 1, len(self.chunks("A short text. It has two sentences.", 100, "--overlap", "20")))
        got = self.chunks("A short text. It has two sentences. " * 20, 100, "--overlap", "20")
        need("one lies within another", all(a["byte"][0] < b["byte"][0] and a["byte"][1] < b["byte"][1] for a, b in zip(got, got[1:])))

    def c144(self, check, row):
        done = common.run(["chunk", "--max-tokens", "40", "--overlap", "50"], b"text")
        need(f"the message: {done.stderr}", done.returncode == 2 and b"--overlap" in done.stderr and b"half" in done.stderr)
