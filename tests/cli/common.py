# SPDX-License-Identifier: MIT
"""What the tests of the command line share: running dstok, scratch folders, and a small vocabulary with known ids."""
import functools
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("DSTOK_SHARED") or ROOT.parent / "shared")
DSTOK = os.environ.get("DSTOK_BIN", "dstok")

# Ids of the small vocabulary: a byte is its own id, then the merges, then the added tokens.
MERGES = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("ä", "½"), ("ä½", "ł"), ("l", "l")]
TH, THE, SP_THE, NI_PART, NI, LL, END, THINK, TAG = range(256, 265)
ADDED = [("<|end|>", END, True), ("<think>", THINK, False), ("<b>", TAG, False)]


def byte_letters():
    """The letter that stands for each byte in byte-level vocabularies."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = {b: chr(b) for b in plain}
    for i, b in enumerate(b for b in range(256) if b not in letters):
        letters[b] = chr(0x100 + i)
    return letters


def small_vocabulary():
    letters = byte_letters()
    vocab = {letters[b]: b for b in range(256)}
    for left, right in MERGES:
        vocab[left + right] = len(vocab)
    added = [dict(id=i, content=text, special=special, single_word=False, lstrip=False, rstrip=False, normalized=False)
             for text, i, special in ADDED]
    template = [{"SpecialToken": {"id": "<|end|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": {"type": "TemplateProcessing", "single": template, "pair": template,
                           "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [END], "tokens": ["<|end|>"]}}},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": vocab, "merges": [list(m) for m in MERGES]},
    }


@functools.lru_cache(None)
def sanitized():
    """Whether dstok carries a sanitizer that reserves memory and takes the place of library calls."""
    return re.search(rb"__[at]san_init", pathlib.Path(DSTOK).read_bytes()) is not None


# Takes the place of read, write and fsync: interrupted every other time, a few bytes at a time, never ending.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
static int odd(void) { static int n; if (++n % 2) errno = EINTR; return n % 2; }
ssize_t read(int fd, void *p, size_t n) {
    ssize_t (*real)(int, void *, size_t) = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    return odd() ? -1 : real(fd, p, n < 7 ? n : 7);
}
ssize_t write(int fd, const void *p, size_t n) {
    ssize_t (*real)(int, const void *, size_t) = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    return odd() ? -1 : real(fd, p, n < 11 ? n : 11);
}
int fsync(int fd) { (void)fd; if (getenv("SHIM_HANG")) for (;;) sleep(1); return 0; }
"""


def shim(folder):
    """Build SHIM; a skip where that cannot be."""
    if sanitized() or not shutil.which("cc"):
        raise unittest.SkipTest("needs cc and a program without sanitizers")
    (folder / "shim.c").write_text(SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "shim.so", "shim.c", "-ldl"], cwd=folder, check=True)
    return {"LD_PRELOAD": str(folder / "shim.so")}


@functools.lru_cache(None)
def has_default():
    """Whether the library was built with its vocabulary inside."""
    return subprocess.run([DSTOK, "inspect"], capture_output=True, timeout=60).returncode == 0


class CliTest(unittest.TestCase):
    """A test with a scratch folder, in which dstok runs with the small vocabulary (self.vocab) unless told otherwise."""

    maxDiff = 4000

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="dstok-cli-"))
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.vocab = self.write("small.json", json.dumps(small_vocabulary()))
        self.env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "XDG_DATA_HOME")}
        self.env.update(HOME=str(self.dir / "home"))

    def write(self, name, data):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return str(path)

    def raw(self, *arguments, stdin=b"", env=None, **more):
        """Run dstok with exactly these arguments."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        if data is not None and "stdin_file" not in more:
            more["input"] = data
        more.pop("stdin_file", None)
        more.setdefault("stdout", subprocess.PIPE)
        return subprocess.run([DSTOK, *(a if isinstance(a, bytes) else str(a) for a in arguments)], stderr=subprocess.PIPE, cwd=self.dir,
                              env=self.env if env is None else {**self.env, **env}, timeout=120, **more)

    def run_verb(self, verb, *arguments, **more):
        """Run a verb with the small vocabulary."""
        return self.raw(verb, "-v", self.vocab, *arguments, **more)

    def out(self, verb, *arguments, rc=0, **more):
        """Standard output of a run that must end with rc."""
        result = self.run_verb(verb, *arguments, **more)
        self.assertEqual(result.returncode, rc, result.stderr.decode())
        return result.stdout.decode()

    def lines(self, verb, *arguments, **more):
        """The JSON objects that a run prints."""
        return [json.loads(line) for line in self.out(verb, *arguments, "--json", **more).splitlines()]

    def fails(self, rc, pattern, verb, *arguments, **more):
        """A run that must end with rc and a one-line message that matches."""
        result = self.run_verb(verb, *arguments, **more)
        message = result.stderr.decode()
        self.assertEqual(result.returncode, rc, message)
        self.assertRegex(message, pattern)
        self.assertTrue(message.startswith("dstok: "), message)
        return result


def unpack(path):
    """Bytes of a file under the shared folder, or a skip when it is not there."""
    path = SHARED / path
    if not path.exists():
        raise unittest.SkipTest(f"{path.name} is not there (shared data)")
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
