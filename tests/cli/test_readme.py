# SPDX-License-Identifier: MIT
"""Every command in README.md and the documents does what they show. With DSTOK_UPDATE_README=1 the shown output is rewritten."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from common import CliTest, DSTOK, ROOT, has_default

BLOCK = re.compile(r"(?:<!-- (.*?) -->\n)?```(\w*)\n(.*?)```", re.S)
README = ROOT / "README.md"
SMOLLM2 = "dstok/model/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"  # where tools/get-model puts it
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page=README):
    return [m.groups() for m in BLOCK.finditer(page.read_text())]


def smollm2():
    """The model that some blocks need (DSX_SMOLLM2 names another place), or None."""
    home = os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share"
    path = pathlib.Path(os.environ.get("DSX_SMOLLM2") or pathlib.Path(home) / SMOLLM2)
    return path if path.exists() else None


def steps(body):
    """The commands of a console block, each with the output shown for it."""
    found = []
    for line in body.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:].rstrip("\n"), ""])
        else:
            found[-1][1] += line
    return found


class Readme(CliTest):
    def setUp(self):
        super().setUp()
        if not has_default():
            self.skipTest("built without the default vocabulary, which README.md shows")
        self.build = pathlib.Path(DSTOK).resolve().parent.parent
        shutil.copy(ROOT / "README.md", self.dir)
        self.has_models = (self.build / "bin/dsexplain").exists()
        self.model = smollm2() if self.has_models else None
        if self.model:
            place = self.dir / "home/.local/share" / SMOLLM2
            place.parent.mkdir(parents=True)
            place.symlink_to(self.model.resolve())
        self.env["PATH"] = f"{pathlib.Path(DSTOK).resolve().parent}:{self.env['PATH']}"
        # what an installed library needs no words for
        self.env["CPATH"] = f"{ROOT}/tokenizer/include:{ROOT}/align/include"
        self.env["LIBRARY_PATH"] = self.env["LD_LIBRARY_PATH"] = str(self.build)

    def shell(self, command):
        result = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.dir, env=self.env, timeout=120,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout.decode()}")
        return result.stdout.decode()

    def check_page(self, page):
        """Runs what the console blocks of a page show; returns the number of commands."""
        shared = list(self.build.glob("libdstok.so"))
        n = 0
        text = page.read_text()
        for mark, kind, body in blocks(page):
            if mark == "needs smollm2" and not self.model:
                print(f"SKIPPED: a block of {page.name} needs SmolLM2 and dsexplain: tools/get-model smollm2 (93 MB)")
                continue
            for command, shown in steps(body) if kind == "console" else []:
                if command.startswith("cc ") and not shared:
                    print("note: the C sample is not run: this build has no shared library")
                    continue
                output = self.shell(command)
                n += 1
                if os.environ.get("DSTOK_UPDATE_README"):
                    text = text.replace(f"$ {command}\n{shown}", f"$ {command}\n{output}")
                else:
                    self.assertEqual(output, shown, f"{page.name}: {command}")
        if os.environ.get("DSTOK_UPDATE_README"):
            page.write_text(text)
        return n

    def test_commands(self):
        self.write("sample.c", next(body for _, kind, body in blocks() if kind == "c"))
        numbers = {page.name: self.check_page(page) for page in PAGES}
        self.assertGreaterEqual(numbers["README.md"], 3)
        self.assertGreaterEqual(numbers["cli.md"], 6)

    def test_samples_of_the_program_are_run(self):
        """Output shown outside of a console block would be nobody's to keep true."""
        for page in ("cli.md", "dsexplain.md"):
            self.assertLessEqual({kind for _, kind, _ in blocks(ROOT / "docs" / page)}, {"console"})

    def test_verbs_of_the_pages(self):
        for program, page, least in (("dstok", "cli.md", 7), ("dsexplain", "dsexplain.md", 5)):
            if program == "dsexplain" and not self.has_models:
                continue
            verbs = re.findall(r"(?m)^  ([a-z0-9-]+)  ", self.shell(f"{program} --help").split("examples:")[0])
            self.assertGreaterEqual(len(verbs), least)
            table = re.findall(r"(?m)^\| `([a-z0-9-]+)` \|", (ROOT / "docs" / page).read_text())
            self.assertEqual([v for v in table if v in verbs], verbs)
            self.assertEqual(re.findall(rf"(?m)^\| `{program} ([a-z0-9-]+)` \|", README.read_text()), verbs)

    def test_sample_is_short_and_clean(self):
        sample = next(body for _, kind, body in blocks() if kind == "c")
        self.assertLessEqual(len(sample.splitlines()), 12)
        self.write("sample.c", sample)
        self.shell("cc -std=c11 -Wall -Wextra -Werror -c sample.c")


    def test_commands_within_sentences(self):
        """Those that name an argument to fill in (NAME, VERB) have tests of their own, and so have installing and building."""
        elsewhere = {"sudo cmake --install build/release && sudo ldconfig", "tools/quickstart", "tools/quickstart test",
                     "tools/get-vocab NAME", "tools/get-model smollm2", "dstok help VERB"}
        text = BLOCK.sub("", (ROOT / "README.md").read_text())
        found = re.findall(r"`((?:dstok|tools/[\w-]+|cmake|sudo|ctest|apt-get|pip|python3?)(?: [^`\n]*)?)`", text)
        self.assertLessEqual(elsewhere, {*found}, "these are not in README.md any more")
        for command in {*found} - elsewhere - {"dstok"}:
            if re.fullmatch(r"dstok [a-z]+", command):
                command = command.replace("dstok ", "dstok help ")
            self.shell(command.replace("tools/", f"{ROOT}/tools/"))


class Plain(unittest.TestCase):
    """What needs no program."""

    def test_marked_blocks_are_those_of_quickstart(self):
        quickstart = (ROOT / "tools" / "quickstart").read_text()
        packages = set(re.search(r'build_packages="(.*?)"', quickstart, re.S).group(1).split())
        for mark, kind, body in blocks():
            if kind != "sh":
                continue
            self.assertIn("tools/quickstart runs it", mark or "", "a block that no test runs must say so")
            for line in body.splitlines():
                if line.startswith("apt-get install "):
                    self.assertEqual(set(line.split()[2:]), packages)
                else:
                    self.assertRegex(quickstart, re.escape(line) + r"(?!\S)")

    def test_links_exist(self):
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            for target, heading in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", page.read_text()):
                goal = page.parent / target if target else page
                self.assertTrue(goal.exists(), f"{page.name}: {target}")
                if heading:
                    heads = re.findall(r"^#+ (.*)", goal.read_text(), re.M)
                    self.assertIn(heading, [head.lower().replace(" ", "-") for head in heads], page.name)

    def test_every_block_kind_is_known(self):
        self.assertLessEqual({kind for _, kind, _ in blocks()}, {"c", "console", "sh"})

    def test_limits_are_stated(self):
        self.assertIn("\n## Limits\n", (ROOT / "README.md").read_text())
