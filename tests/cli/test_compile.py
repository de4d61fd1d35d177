# SPDX-License-Identifier: MIT
"""dstok compile: .dstok files in place of any vocabulary."""
import json
import os

from common import CliTest

TEXT = "the the 你好 <|end|> café\n\n  x".encode()


class Compile(CliTest):
    def compile(self, name="v.dstok"):
        result = self.raw("compile", "-v", self.vocab, "-o", name)
        self.assertEqual((result.returncode, result.stdout), (0, b""), result.stderr)
        self.assertIn(b"265 tokens, 6 merges, from tokenizer.json", result.stderr)
        return name

    def test_same_answers(self):
        name = self.compile()
        for arguments in (["encode", "--json"], ["encode", "--special", "parse", "--add-special"], ["count"],
                          ["inspect", "--align", "the 你"]):
            stdin = b"" if "inspect" in arguments else TEXT
            self.assertEqual(self.raw(arguments[0], "-v", name, *arguments[1:], stdin=stdin).stdout,
                             self.raw(arguments[0], "-v", self.vocab, *arguments[1:], stdin=stdin).stdout)

    def test_inspect_says_so(self):
        name = self.compile()
        self.assertIn("format      tokenizer.json, compiled", self.raw("inspect", "-v", name).stdout.decode())
        row = json.loads(self.raw("inspect", "--json", "-v", name).stdout)
        self.assertEqual((row["format"], row["compiled"]), ("tokenizer.json", True))

    def test_same_bytes(self):
        one, two = self.compile("1.dstok"), self.compile("2.dstok")
        again = self.raw("compile", one, "3.dstok")  # names without -v and -o; a compiled file compiles to itself
        self.assertEqual(again.returncode, 0, again.stderr)
        bytes_of = [open(os.path.join(self.dir, name), "rb").read() for name in (one, two, "3.dstok")]
        self.assertEqual(bytes_of[0], bytes_of[1])
        self.assertEqual(bytes_of[0], bytes_of[2])
        piped = self.raw("compile", "-v", self.vocab, "-o", "-")
        self.assertEqual(piped.stdout, bytes_of[0])

    def test_folder(self):
        os.mkdir(os.path.join(self.dir, "f"))
        self.compile("f/v.dstok")
        self.assertEqual(self.raw("encode", "-v", "f", stdin=TEXT).returncode, 0)

    def test_damage_is_named(self):
        name = self.compile()
        path = os.path.join(self.dir, name)
        data = bytearray(open(path, "rb").read())
        data[len(data) // 2] ^= 4
        for bad, word in ((bytes(data), b"checksum"), (bytes(data[:1000]), b"ends"), (bytes(data[:100]), b"ends")):
            with open(path, "wb") as out:
                out.write(bad)
            result = self.raw("encode", "-v", name, stdin=TEXT)
            self.assertEqual(result.returncode, 2)
            self.assertIn(word, result.stderr)

    def test_wrong_use(self):
        self.assertIn(b"dstok compile PATH|NAME FILE.dstok\n", self.raw("help", "compile").stdout)
        self.assertEqual(self.raw("compile", "-v", self.vocab).returncode, 2)
        for name in (self.vocab, "small.json", "./small.json", "link"):
            if name == "link":
                os.symlink("small.json", os.path.join(self.dir, name))
            for more in ([], ["--force"]):
                self.assertIn(b"overwrite", self.raw("compile", self.vocab, name, *more).stderr)
        self.assertEqual(self.raw("compile", "-v", self.vocab, "-o", "a", "b").returncode, 2)
        self.assertEqual(self.raw("compile", "-v", "absent.json", "-o", "a").returncode, 2)
        self.assertEqual(self.raw("compile", "-v", self.vocab, "-o", "no/such/folder.dstok").returncode, 2)
        self.assertEqual(self.raw("compile", "-v", self.vocab, "-o", ".").returncode, 2)
        self.assertEqual([name for name in os.listdir(self.dir) if name.endswith(".dstok")], [])

    def test_other_files_are_not_overwritten(self):
        """A second name is the output: most often somebody meant a second vocabulary."""
        other = self.write("other.json", "{}")
        for arguments in ([self.vocab, other], ["-v", self.vocab, other], ["-v", self.vocab, "-o", other]):
            result = self.raw("compile", *arguments)
            self.assertEqual((result.returncode, open(other).read()), (2, "{}"))
            self.assertRegex(result.stderr.decode(), "other.json is there and is no .dstok file.*name another file, or --force")
        self.assertEqual(self.raw("compile", self.vocab, other, "--force").returncode, 0)
        self.assertEqual(self.raw("compile", self.vocab, other).returncode, 0)  # now it is one
        self.write("empty", "")  # as mktemp leaves it
        self.assertEqual(self.raw("compile", self.vocab, "empty").returncode, 0)
        self.assertEqual(self.raw("encode", "-v", "empty", stdin="the").stdout, b"257\n")
