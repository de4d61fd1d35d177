# SPDX-License-Identifier: MIT
"""Inputs: files, folders, standard input, compression, slow and interrupted writers."""
import gzip
import os
import shutil
import signal
import subprocess
import time
import unittest

from common import CliTest, DSTOK, THE, shim


class Files(CliTest):
    def test_missing(self):
        result = self.fails(2, "^dstok: cannot open nope: No such file or directory\n", "encode", "small.json", "nope")
        self.assertEqual(result.stdout, b"")  # names are checked before any work
        self.fails(2, '^dstok: cannot open "": the name is empty\n', "encode", "small.json", "")
        self.fails(2, "inputs are files: to pass text itself, pipe it in", "encode", "some text")

    def test_folder(self):
        for name in ("d/b", "d/a/z", "d/a.txt", "d/.hidden", "d/c/e/f"):
            self.write(name, name)
        self.fails(2, "cannot open d: it is a folder; --recursive takes", "count", "d")
        os.symlink("..", self.dir / "d" / "loop")
        os.symlink("b", self.dir / "d" / "link")
        names = [row.split("\t")[3] for row in self.out("count", "--recursive", "d").splitlines()]
        self.assertEqual(names, ["d/.hidden", "d/a.txt", "d/a/z", "d/b", "d/c/e/f", "d/link", "total"])
        self.assertEqual(self.out("count", "--recursive", "d/").splitlines()[0].split("\t")[3], "d/.hidden")
        (self.dir / "empty").mkdir()
        self.assertIn(b"empty holds no files", self.run_verb("count", "--recursive", "empty").stderr)

    @unittest.skipIf(os.getuid() == 0, "root may read every file")
    def test_no_permission(self):
        os.chmod(self.write("secret", "x"), 0)
        self.fails(2, "cannot open secret: Permission denied", "encode", "secret")

    def test_names_do_not_drive_the_terminal(self):
        result = self.run_verb("encode", "no\033[31m\nsuch")
        self.assertNotIn(b"\033", result.stderr)
        self.assertEqual(result.stderr.count(b"\n"), 1)

    def test_large_file_is_one_text(self):
        data = b"the " * 300000
        self.write("large", data)
        self.assertEqual(self.out("count", "large").split("\t")[1], str(len(data)))
        out = self.run_verb("encode", "large").stdout
        self.assertEqual(self.run_verb("decode", stdin=out).stdout, data)

    def test_pipes_and_devices(self):
        self.assertEqual(self.out("encode", "/dev/null"), "\n")
        self.assertEqual(self.out("encode", "/dev/stdin", stdin="the"), f"{THE}\n")


class Compressed(CliTest):
    TEXT = b"the the the " * 1000

    def packers(self):
        yield "gzip", gzip.compress
        if shutil.which("zstd"):
            yield "zstd", lambda data: subprocess.run(["zstd", "-qc"], input=data, capture_output=True).stdout

    def setUp(self):
        super().setUp()
        if not shutil.which("zstd"):
            print("note: no zstd program: .zst input is tested with stored frames only")

    def test_one_and_many_parts(self):
        plain = self.out("encode", stdin=self.TEXT)
        twice = self.out("encode", stdin=self.TEXT * 2)
        for name, pack in self.packers():
            with self.subTest(name):
                self.write("p", pack(self.TEXT))
                self.assertEqual(self.out("encode", "p"), plain)
                self.assertEqual(self.out("encode", stdin=pack(self.TEXT)), plain)
                self.write("p", pack(self.TEXT) + pack(b"") + pack(self.TEXT))
                self.assertEqual(self.out("encode", "p"), twice)
                self.assertEqual(self.out("encode", stdin=pack(b"")), "\n")

    def test_stored_zstd_frames(self):
        # magic, one segment with a one-byte size, one raw last block
        frame = lambda data: b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) + (len(data) << 3 | 1).to_bytes(3, "little") + data
        skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc"
        self.assertEqual(self.out("encode", stdin=frame(b"th") + frame(b"e")), f"{THE}\n")
        self.assertEqual(self.out("encode", stdin=skippable + frame(b"the") + skippable), f"{THE}\n")
        self.fails(1, "cut off", "encode", stdin=frame(b"the") + skippable[:6])

    def test_cut_off(self):
        for name, pack in self.packers():
            packed = pack(self.TEXT)
            for keep in (5, len(packed) // 2, len(packed) - 1):
                for data in (packed[:keep], packed + packed[:keep]):
                    with self.subTest(name, keep=keep):
                        self.write("p", data)
                        self.fails(1, "^dstok: p: byte .*cannot read: the compressed data ends too early", "count", "p")

    def test_damaged(self):
        for name, pack in self.packers():
            packed = bytearray(pack(os.urandom(5000)))
            packed[len(packed) // 2] ^= 0x55
            with self.subTest(name):
                self.fails(1, "cannot read: ", "count", "--invalid", "raw", stdin=bytes(packed))
                self.fails(1, "cannot read: ", "count", stdin=pack(self.TEXT) + b"garbage")

    def test_gzip_padding(self):
        self.assertEqual(self.out("encode", stdin=gzip.compress(b"the") + bytes(512)), f"{THE}\n")
        self.fails(1, "not gzip data", "encode", stdin=gzip.compress(b"the") + bytes(5) + gzip.compress(b"the"))

    def test_not_decompressed(self):
        packed = gzip.compress(b"the")
        out = self.run_verb("encode", "--no-decompress", "--invalid", "raw", stdin=packed).stdout
        self.assertEqual(self.run_verb("decode", stdin=out).stdout, packed)

    PACKED = {"xz data": b"\xfd7zXZ\0", "bzip2 data": b"BZh91AY&SY", "a zip archive": b"PK\3\4", "a 7z archive": b"7z\xbc\xaf\x27\x1c",
              "lz4 data": b"\x04\x22\x4d\x18"}

    def test_other_packed_files_are_named(self):
        for what, magic in self.PACKED.items():
            data = magic + b"more"
            self.write("p", data)
            for verb in ("encode", "count", "decode"):
                self.fails(1, f"^dstok: p: byte 0: cannot read: this is {what}[: ].*--no-decompress", verb, "p")
            self.fails(1, what, "encode", "--invalid", "raw", stdin=data)
            out = self.run_verb("encode", "--no-decompress", "--invalid", "raw", "p").stdout
            self.assertEqual(self.run_verb("decode", stdin=out).stdout, data)

    def test_other_encodings_are_named(self):
        for name, data in (("UTF-16", "the\n".encode("utf-16")), ("UTF-16", b"\xfe\xff" + "the\n".encode("utf-16-be")),
                           ("UTF-32", "the\n".encode("utf-32")), ("UTF-32", b"\0\0\xfe\xff" + "the\n".encode("utf-32-be"))):
            say = rf"this is {name} text: convert it \(iconv -f {name} -t UTF-8\)\n"
            for arguments in (["encode"], ["count"], ["encode", "--input-format", "lines"], ["decode"],
                              ["encode", "--input-format", "jsonl"]):
                result = self.run_verb(*arguments, stdin=data)
                self.assertEqual(result.returncode, 1)
                self.assertRegex(result.stderr.decode(errors="replace"), say)
            self.assertRegex(self.raw("train", "--vocab-size", "300", "-o", "x", stdin=data).stderr.decode(), say)
            out = self.run_verb("encode", "--invalid", "raw", stdin=data).stdout
            self.assertEqual(self.run_verb("decode", stdin=out).stdout, data)
        self.assertNotIn(b"UTF-16", self.run_verb("encode", stdin=b"the\xff\xfe").stderr)

    def test_beginnings_of_magic_numbers_are_text(self):
        for data in (b"\x1f", b"\x1f\x8b", b"\x28", b"\x28\xb5\x2f", b"P", b"P*M", b"\x1f\x8bx", b"P*Mx", b"PK\3", b"BZh91AY&S",
                     b"BZhx1AY&SY", b"\xfd7zXZ", b"7z\xbc\xaf", b"~*M\x18"):
            out = self.run_verb("encode", "--invalid", "raw", stdin=data).stdout
            self.assertEqual(self.run_verb("decode", stdin=out).stdout, data, data)


class Slow(CliTest):
    """Writers that give a little at a time, and readers that are stopped meanwhile."""

    def start(self, *arguments):
        return subprocess.Popen([DSTOK, *arguments, "-v", self.vocab], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                env=self.env, cwd=self.dir)

    def feed(self, process, pieces, stop=False):
        for piece in pieces:
            process.stdin.write(piece)
            process.stdin.flush()
            if stop:
                process.send_signal(signal.SIGSTOP)
                process.send_signal(signal.SIGCONT)
            time.sleep(0.01)
        return process.communicate(timeout=60)[0]

    def test_byte_by_byte(self):
        data = "the 你 the\n".encode()
        for packed in (data, gzip.compress(data)):
            out = self.feed(self.start("encode"), [packed[i:i + 1] for i in range(len(packed))])
            self.assertEqual(out.decode(), self.out("encode", stdin=data))

    def test_interrupted_reads(self):
        data = "the 你 the\n".encode() * 3
        out = self.feed(self.start("encode"), [data[i:i + 2] for i in range(0, len(data), 2)], stop=True)
        self.assertEqual(out.decode(), self.out("encode", stdin=data))

    def test_interrupted_and_short_calls(self):
        environment = shim(self.dir)
        data = "the 你 the\n".encode() * 50
        for packed in (data, gzip.compress(data)):
            self.write("f", packed)
            self.assertEqual(self.out("encode", "--json", "f", env=environment), self.out("encode", "--json", stdin=data))

    def test_non_blocking_input(self):
        read, write = os.pipe()
        os.set_blocking(read, False)
        process = subprocess.Popen([DSTOK, "encode", "-v", self.vocab], stdin=read, stdout=subprocess.PIPE)
        os.close(read)
        for piece in (b"th", b"e\n"):
            time.sleep(0.1)
            os.write(write, piece)
        os.close(write)
        self.assertEqual(process.communicate(timeout=60)[0].decode(), f"{THE} 10\n")
