# SPDX-License-Identifier: MIT
"""What the packaging tests share: the build they look at, and running commands."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DSTOK_BUILD", ROOT / "build/release"))
failures = []


def fail(text):
    failures.append(text)
    print(f"FAILED {text}", flush=True)


def check(good, text):
    if not good:
        fail(text)
    return good


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def finish(name):
    print(f"{name}: {len(failures)} failed")
    sys.exit(1 if failures else 0)


class Failed(Exception):
    """A command that must succeed did not."""


def run(*command, rc=0, **more):
    """Run a command that must end with rc (None: with any code)."""
    result = subprocess.run([str(c) for c in command], capture_output=True, timeout=1200, **more)
    if rc is not None and result.returncode != rc:
        said = [text.decode(errors="replace")[-3000:] for text in (result.stdout, result.stderr)]
        raise Failed(f"{' '.join(map(str, command))}: code {result.returncode}, wanted {rc}\n{''.join(said)}")
    return result


def text_of(*command, **more):
    return run(*command, **more).stdout.decode()


def numbers():
    """Release version and ABI number, from version.h."""
    text = (ROOT / "tokenizer/include/dstok/version.h").read_text()
    values = dict(re.findall(r"^#define DSTOK_(\w+) (\d+)", text, re.M))
    return ".".join(values[f"VERSION_{part}"] for part in ("MAJOR", "MINOR", "PATCH")), int(values["ABI_MAJOR"])


def cache(build):
    """The settings of a build folder."""
    path = build / "CMakeCache.txt"
    return dict(re.findall(r"^(\w+):\w+=(.*)$", path.read_text(), re.M)) if path.exists() else {}


def is_on(value):
    return (value or "").upper() in ("ON", "1", "TRUE", "YES")
