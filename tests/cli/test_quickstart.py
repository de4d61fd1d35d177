# SPDX-License-Identifier: MIT
"""tools/quickstart: what it asks for and when, tried with stand-ins for apt-get and sudo. Nothing is installed or built."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from common import ROOT

SCRIPT = ROOT / "tools" / "quickstart"


class Quickstart(unittest.TestCase):
    """A copy of the script in a folder of its own, with a PATH that holds only what a test puts there."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="dstok-quick-"))
        self.addCleanup(shutil.rmtree, self.dir, True)
        (self.dir / "tools").mkdir()
        shutil.copy(SCRIPT, self.dir / "tools")
        self.bin = self.dir / "bin"
        self.bin.mkdir()
        for name in ("bash", "cat", "dirname", "readlink", "mkdir", "env", "cmp", "touch"):
            os.symlink(shutil.which(name), self.bin / name)

    def tool(self, name, body):
        path = self.bin / name
        path.write_text(f"#!{shutil.which('bash')}\n{body}\n")
        path.chmod(0o755)

    def run_script(self, *arguments):
        return subprocess.run([self.dir / "tools" / "quickstart", *arguments], env={"PATH": str(self.bin)}, cwd="/",
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def everything(self):
        """Stand-ins for all tools: nothing is missing."""
        for name in ("gcc", "cc", "ninja", "pkg-config", "python3", "xz", "clang-14"):
            self.tool(name, "exit 0")
        self.tool("cmake", f'echo "cmake $*" >> {self.dir}/log; pwd >> {self.dir}/log')

    def test_words(self):
        self.assertEqual(self.run_script("--help").returncode, 0)
        for word in ("python", "cuda"):
            result = self.run_script(word)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertEqual(result.stderr, f"quickstart: {word}: not in this version\n")
        for words in (["other"], ["build", "test"]):
            result = self.run_script(*words)
            self.assertEqual(result.returncode, 2)
            self.assertIn("usage: tools/quickstart [build|test]", result.stderr)

    def test_builds_when_nothing_is_missing(self):
        self.everything()
        result = self.run_script("build")
        self.assertEqual(result.returncode, 0, result.stderr)
        log = (self.dir / "log").read_text().splitlines()
        self.assertEqual(log[1::2], [str(self.dir)] * 2)
        self.assertEqual(log[0], "cmake --preset release")
        self.assertTrue(log[2].startswith("cmake --build --preset release"))

    def test_a_failed_configuration_shows_why(self):
        self.everything()
        self.tool("cmake", "echo the reason; exit 1")
        result = self.run_script("build")
        self.assertEqual(result.returncode, 1)
        self.assertIn("the reason", result.stderr)

    def test_without_apt(self):
        result = self.run_script("build")
        self.assertEqual(result.returncode, 1)
        self.assertIn("there is no apt-get: gcc libc6-dev cmake ninja-build", result.stderr)

    def test_without_rights(self):
        self.everything()
        os.remove(self.bin / "ninja")
        self.tool("apt-get", f"touch {self.dir}/ran")
        self.tool("id", "echo 1000")
        for sudo in (None, "exit 1"):
            if sudo:
                self.tool("sudo", sudo)
            result = self.run_script("build")
            self.assertEqual(result.returncode, 1)
            self.assertIn("as root run: apt-get update && apt-get install --no-install-recommends ninja-build", result.stderr)
        self.assertFalse((self.dir / "ran").exists())

    def install(self, user, sudo):
        self.everything()
        os.remove(self.bin / "ninja")
        self.tool("id", f"echo {user}")
        if sudo:
            self.tool("sudo", f'echo "sudo $*" >> {self.dir}/apt; [ "$1" = -n ] && exit 0; exec "$@"')
        # the first try fails, as with empty package lists; after an update the tool appears
        self.tool("apt-get", f'''echo "apt-get $*" >> {self.dir}/apt
            [ "$DEBIAN_FRONTEND$1" = noninteractiveinstall ] && [ ! -e {self.dir}/lists ] && exit 100
            [ "$1" = update ] && touch {self.dir}/lists
            [ "$1" = install ] && cat {self.bin}/gcc > {self.bin}/ninja && chmod +x {self.bin}/ninja
            exit 0''')
        os.symlink(shutil.which("chmod"), self.bin / "chmod")
        result = self.run_script("build")
        self.assertEqual(result.returncode, 0, result.stderr)
        return (self.dir / "apt").read_text().splitlines()

    def test_installs_as_root(self):
        line = "apt-get install -y -q --no-install-recommends ninja-build"
        self.assertEqual(self.install(0, False), [line, "apt-get update -q", line])

    def test_installs_through_sudo(self):
        log = self.install(1000, True)
        self.assertIn("sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends ninja-build",
                      log)
        self.assertIn("sudo apt-get update -q", log)
