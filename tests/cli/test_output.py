# SPDX-License-Identifier: MIT
"""Standard output that fails, closes or waits; signals; terminals and colour."""
import os
import pty
import select
import signal
import subprocess
import time

from common import CliTest, DSTOK


class Failing(CliTest):
    VERBS = (["encode"], ["count"], ["decode"], ["inspect"], ["encode", "--json"], ["train", "--vocab-size", "300", "-o", "-"])

    def command(self, verb):
        return [DSTOK, *verb] + ([] if verb[0] == "train" else ["-v", self.vocab])

    def test_full_disk(self):
        for verb in self.VERBS:
            with self.subTest(verb), open("/dev/full", "wb") as full:
                result = subprocess.run(self.command(verb), input=b"65 66\n", stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stderr, b"dstok: cannot write standard output: No space left on device\n")
        for arguments in (["--help"], ["--version"], ["help", "encode"]):
            with open("/dev/full", "wb") as full:
                self.assertEqual(self.raw(*arguments, stdout=full).returncode, 1)

    def test_closed_output(self):
        result = subprocess.run(f'"{DSTOK}" encode -v "{self.vocab}" >&-', shell=True, input=b"the", capture_output=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"cannot write standard output", result.stderr)

    def test_closed_output_is_not_another_file(self):
        command = f'"{DSTOK}" encode -v "{self.vocab}" --on-error skip --reject log >&-'
        result = subprocess.run(command, shell=True, input=b"the " * 50000, capture_output=True, cwd=self.dir)
        self.assertEqual(result.returncode, 1)
        self.assertEqual((self.dir / "log").read_bytes(), b"")

    def test_closed_input(self):
        result = subprocess.run(f'"{DSTOK}" encode -v "{self.vocab}" <&-', shell=True, capture_output=True)
        self.assertEqual((result.returncode, result.stdout), (1, b""))
        self.assertIn(b"standard input: byte 0: cannot read: Bad file descriptor", result.stderr)

    def test_broken_pipe(self):
        self.write("big", "the quick brown fox\n" * 200000)
        for ignored in (False, True):
            process = subprocess.Popen([DSTOK, "encode", "-v", self.vocab, "--input-format", "lines", "big"],
                                       cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       restore_signals=not ignored)
            process.stdout.read(10)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            process.stderr.close()
            self.assertEqual(process.wait(60), -signal.SIGPIPE)

    def test_slow_reader(self):
        read, write = os.pipe()
        os.set_blocking(write, False)
        self.write("big", "the quick brown fox\n" * 20000)
        process = subprocess.Popen([DSTOK, "encode", "-v", self.vocab, "big"], cwd=self.dir, stdout=write)
        os.close(write)
        time.sleep(0.3)
        with os.fdopen(read, "rb") as pipe:
            data = pipe.read()
        self.assertEqual(process.wait(60), 0)
        self.assertEqual(data.decode(), self.out("encode", "big"))


class Signals(CliTest):
    def run_and_signal(self, number, **more):
        process = subprocess.Popen([DSTOK, "encode", "-v", self.vocab], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, **more)
        process.stdin.write(b"the")
        process.stdin.flush()
        time.sleep(0.3)
        process.send_signal(number)
        try:
            rc = process.wait(1 if "preexec_fn" in more else 30)
        except subprocess.TimeoutExpired:
            rc = None
        process.stdin.close()
        process.wait(30)
        process.stderr.close()
        return rc if rc is not None else process.returncode

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.assertEqual(self.run_and_signal(number), 128 + number)

    def test_ignored_signals_stay_ignored(self):
        ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self.assertEqual(self.run_and_signal(signal.SIGHUP, preexec_fn=ignore), 0)


class Terminal(CliTest):
    """Runs on a pseudo-terminal."""

    def on_terminal(self, *arguments, env=None, stdin=b""):
        try:
            master, slave = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminals here: {error}")
        environment = {**self.env, "TERM": "xterm", **(env or {})}
        stdin_file = slave if stdin is None else subprocess.PIPE
        process = subprocess.Popen([DSTOK, *arguments, "-v", self.vocab], stdin=stdin_file, stdout=slave,
                                   stderr=subprocess.PIPE, env=environment, cwd=self.dir)
        os.close(slave)
        if stdin is not None:
            try:
                process.stdin.write(stdin)
                process.stdin.close()
            except BrokenPipeError:  # it does not read its input
                pass
        out = b""
        while select.select([master], [], [], 20)[0]:
            try:
                data = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            out += data
        os.close(master)
        error = process.stderr.read()
        process.stderr.close()
        return process.wait(30), out.replace(b"\r\n", b"\n").decode(), error.decode()

    def test_no_input_on_a_terminal(self):
        for verb in ("encode", "decode", "count"):
            rc, out, error = self.on_terminal(verb, stdin=None)
            self.assertEqual((rc, out), (2, ""))
            self.assertRegex(error, "^dstok: no input: name files, pipe text in, or give - to type it; see: dstok help")

    def test_pieces_without_colour(self):
        text = "the cat\tthe\r\n好\n\x1b[31m\u202e x"
        expected = "the│␣│c│a│t│→│the│␍│↵\n‹E5›│‹A5›│‹BD›│↵\n‹1B›│[│3│1│m│‹E2›│‹80›│‹AE›│␣│x\n"
        self.assertEqual(self.out("encode", "--pieces", stdin=text), expected)
        self.assertEqual(self.on_terminal("encode", "--pieces", stdin=text.encode(), env={"NO_COLOR": "1"}),
                         (0, expected, ""))
        self.assertEqual(self.out("encode", "--pieces", stdin=""), "\n")
        self.assertEqual(self.out("encode", "--pieces", "--special", "parse", "-q", stdin="a<|end|>"), "a│<|end|>\n")

    def test_pieces_in_colour(self):
        rc, out, _ = self.on_terminal("encode", "--pieces", stdin="the cat\n好<b>".encode())
        self.assertEqual(rc, 0)
        self.assertIn("\033[30;46mthe\033[0m\033[30;43m \033[0m", out)
        self.assertIn("\033[30;41m‹E5›\033[0m", out)
        self.assertIn("\033[30;45m<b>\033[0m", out)
        self.assertEqual(self.on_terminal("encode", "--pieces", stdin=b"the", env={"NO_COLOR": ""})[1],
                         "\033[30;46mthe\033[0m\n")

    def test_other_output_has_no_colour(self):
        for verb in (["encode"], ["encode", "--json"], ["count"], ["inspect"], ["inspect", "--align", "the cat"]):
            self.assertNotIn("\033", self.on_terminal(*verb, stdin=b"the")[1])

    def test_decode_keeps_bytes_off_the_terminal(self):
        self.assertEqual(self.on_terminal("decode", stdin=b"257 10")[1], "the\n")
        rc, out, error = self.on_terminal("decode", stdin=b"259")
        self.assertEqual((rc, out), (1, ""))
        self.assertIn("not written to a terminal", error)
