#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The NEON tier on other machines: simd/ and its differential tests by a cross compiler, run by qemu."""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DSTOK_BUILD", ROOT / "build/release"))
FLAGS = ["-std=c11", "-O2", "-static", "-D_POSIX_C_SOURCE=200809L", f'-DDSTOK_SOURCE_DIR="{ROOT}"', "-Wall", "-Wextra",
         "-Wshadow", "-Wundef", "-Wconversion", "-Werror"]


def need(tool, package):
    path = shutil.which(tool)
    if path is None:
        print(f"SKIPPED: {tool} is not here, Debian package {package}")
        sys.exit(77)
    return path


cc = need("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu with libc6-dev-arm64-cross")
qemu = need("qemu-aarch64", "qemu-user")
for test, flags in ("simd", ["-Wl,--wrap=dstok__utf8_check_from"]), ("chars", []):
    program = BUILD / f"bin/simd_neon_{test}"
    program.parent.mkdir(parents=True, exist_ok=True)
    files = [*sorted((ROOT / "simd").rglob("*.c")), ROOT / f"tests/diff/test_{test}.c", ROOT / "tests/harness/t.c"]
    subprocess.run([cc, *FLAGS, *flags, *files, "-o", program], check=True)
    run = subprocess.run([qemu, program, "emulated (qemu)"], stderr=subprocess.PIPE, text=True)
    sys.stderr.write(run.stderr)
    if "neon: emulated" not in run.stderr:
        sys.exit("the NEON tier did not run")
    if run.returncode:
        sys.exit(run.returncode)
