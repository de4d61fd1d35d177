#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""House rules that a program can check: include layers, exported symbols, headers alone, banned calls, sizes."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DSTOK_BUILD", ROOT / "build/release"))
SOURCE = ("tokenizer", "simd", "align", "data", "model", "tools", "fuzz", "tests")
failures = []


def fail(text):
    failures.append(text)


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def sources(*folders, suffixes=(".c", ".h")):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes:
                yield path


# ---- layers: who may include whom (docs/contributing.md) ----
LAYERS = {  # a file under the key may include files under the values; public headers of its own product always
    "tokenizer/base": ("tokenizer/base",),
    "simd": ("simd",),
    "data": ("data",),
    "align": ("align", "tokenizer/base", "simd", "data"),
    "tokenizer": ("tokenizer", "simd", "align", "data"),
    "model": ("model", "data/model"),
    "tools": ("tools",),
}
# What tokens are made of knows nothing of models.
MAY_USE_MODELS = ("model", "tools")
PUBLIC = {"tokenizer/include/dstok": ("version.h", "base.h", "tokenizer.h", "batch.h", "chunker.h", "jsonl.h", "stream.h", "trainer.h", "dstok.h"),
          "align/include/dstok": ("align.h", "map.h", "trace.h"),
          "model/include/dsx": ("chat.h", "cost.h", "dsx.h", "explain.h", "model.h", "plan.h", "policy.h",
                                "report.h", "sample.h", "session.h")}
EXTERNAL = {  # library headers, by the folder that may use them
    "pcre2.h": ("tokenizer/pretok",), "utf8proc.h": ("tokenizer/text",), "xxhash.h": ("tokenizer/base",),
    "jansson.h": ("model/arch", "model/files", "model/quant", "tools/dsexplain"), "zlib.h": ("tools",), "zstd.h": ("tools",),
    "pthread.h": ("tokenizer/bpe", "model/cpu", "model/session", "tools"),
}


def layer_of(rel):
    return max((k for k in LAYERS if rel == k or rel.startswith(k + "/")), key=len)


def included(path, name, layer):
    """The file that #include "name" means; model/ is a place to look for its own headers."""
    places = [path.parent, *([ROOT / "model"] if layer == "model" else []), ROOT]
    return next((place / name for place in places if (place / name).exists()), path.parent / name).resolve()


def check_layers():
    for path in sources("tokenizer", "simd", "align", "data", "model", "tools"):
        rel = path.relative_to(ROOT).as_posix()
        layer = layer_of(rel)
        for line in path.read_text(encoding="utf-8").splitlines():
            m = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if not m:
                continue
            if m[1] == "<":
                name = m[2]
                if name.startswith("dstok/"):
                    if layer in ("simd", "data"):
                        fail(f"{rel}: {layer} must not include <{name}>")
                elif name.startswith("dsx/") and layer not in MAY_USE_MODELS:
                    fail(f"{rel}: {layer} must not include <{name}>")
                elif name in EXTERNAL and not rel.startswith(EXTERNAL[name]):
                    fail(f"{rel}: <{name}> belongs to {', '.join(EXTERNAL[name])}")
                continue
            target = included(path, m[2], layer)
            if not target.is_relative_to(ROOT):
                fail(f"{rel}: includes {m[2]} from outside of the project")
                continue
            goal = target.relative_to(ROOT).as_posix()
            if not any(goal == a or goal.startswith(a + "/") for a in LAYERS[layer]):
                fail(f"{rel}: {layer} must not include {goal}")


# ---- exported symbols and banned calls of the shared library ----
BANNED = {"abort", "exit", "_exit", "printf", "puts", "putchar", "fprintf", "getenv", "secure_getenv", "setlocale", "rand",
          "srand", "random", "strtok", "gets", "system", "popen", "signal", "sigaction", "perror", "__printf_chk",
          "__fprintf_chk", "__assert_fail", "strcpy", "sprintf"}


C_LIBRARIES = ("libc.so", "libm.so", "ld-linux", "libpthread.so")
LIBRARIES = {  # name: version script, folders of its public headers, what it may need
    "dstok": ("tokenizer/dstok.map", ("tokenizer/include/dstok", "align/include/dstok"),
              ("libpcre2-8.so", "libutf8proc.so", "libxxhash.so")),
    "dsx": ("model/dsx.map", ("model/include/dsx",), ("libdstok.so", "libjansson.so")),
}


def shared_library(name):
    found = sorted(BUILD.glob(f"lib{name}.so.*.*"))
    return found[0] if found else None


def declared_in(name, folders):
    """The functions that the public headers of a library declare."""
    texts = [(ROOT / folder / header).read_text() for folder in folders for header in PUBLIC[folder]]
    return {found for text in texts for found in re.findall(rf"^DSTOK_API[^;(]*?\b({name}_\w+)\(", text, re.M)}


def check_library(name, lib):
    script, folders, needs = LIBRARIES[name]
    out = subprocess.run(["nm", "-D", "--defined-only", lib], check=True, capture_output=True, text=True).stdout
    have = {line.split()[-1].split("@")[0] for line in out.splitlines() if line.split()[-2] in "TDBRVW"}
    want = set(re.findall(rf"^    ({name}_\w+);", (ROOT / script).read_text(), re.M))
    for symbol in sorted(have - want):
        fail(f"exported, but not in {script}: {symbol}")
    for symbol in sorted(want - have):
        fail(f"in {script}, but not exported: {symbol}")
    for symbol in sorted(want ^ declared_in(name, folders)):
        fail(f"{script} and the public headers disagree about {symbol}")
    out = subprocess.run(["nm", "-D", "--undefined-only", lib], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        symbol = line.split()[-1].split("@")[0]
        if symbol in BANNED:
            fail(f"lib{name} calls {symbol}")
    needed = subprocess.run(["objdump", "-p", lib], check=True, capture_output=True, text=True).stdout
    for other in re.findall(r"NEEDED\s+(\S+)", needed):
        if not other.startswith(C_LIBRARIES + needs):
            fail(f"lib{name} needs {other}")


def check_symbols():
    libraries = {name: shared_library(name) for name in LIBRARIES}
    if libraries["dstok"] is None:
        skip("no shared library in this build")
    for name, lib in libraries.items():
        if lib is not None:
            check_library(name, lib)
        else:
            print(f"note: this build has no lib{name}")


# ---- every public header compiles alone, in C11 and C++17 ----
def check_sample(rel):
    """The lines of code in the head comment of a public header compile, given a tokenizer `tok`."""
    head = (ROOT / rel).read_text().split("*/")[1]
    code = "\n".join(re.findall(r"^ \*     (.*)$", head, re.M))
    text = f"#include <dstok/dstok.h>\n#include <stdio.h>\nvoid f(dstok_tokenizer *tok);\nvoid f(dstok_tokenizer *tok) {{(void)tok;{code}\n}}\n"
    r = subprocess.run(["cc", "-x", "c", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                        f"-I{ROOT}/tokenizer/include", f"-I{ROOT}/align/include", "-"], input=text, capture_output=True,
                       text=True)
    if r.returncode or not code:
        fail(f"{rel}: the sample does not compile:\n{r.stderr}")


def check_headers():
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only",
             *(f"-I{ROOT}/{folder.rsplit('/', 1)[0]}" for folder in PUBLIC)]
    cxx = next((c for c in ("c++", "clang++", "clang++-14") if shutil.which(c)), None)
    if cxx is None:
        fail("no C++ compiler: the headers cannot be checked for C++17")
        return
    for folder, names in PUBLIC.items():
        product = folder.rsplit("/", 1)[1]
        for name in names:
            for lang, compiler, std in (("c", "cc", "c11"), ("c++", cxx, "c++17")):
                with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
                    f.write(f"#include <{product}/{name}>\n" * 2 + "int main(void) { return 0; }\n")
                    f.flush()
                    r = subprocess.run([compiler, "-x", lang, f"-std={std}", *flags, f.name], capture_output=True,
                                       text=True)
                    if r.returncode:
                        fail(f"<{product}/{name}> does not compile alone in {std}:\n{r.stderr}")
    check_sample("tokenizer/include/dstok/batch.h")
    check_sample("tokenizer/include/dstok/jsonl.h")
    listed = {n for names in PUBLIC.values() for n in names}
    for folder in PUBLIC:
        for path in (ROOT / folder).glob("*.h"):
            if path.name not in listed:
                fail(f"{path.relative_to(ROOT)} is not in the list of public headers")
            text = path.read_text()
            comment = sum(len(c) for c in re.findall(r"/\*.*?\*/", text, re.S))
            if path.name not in ("version.h", "dstok.h", "dsx.h") and comment < len(text) * 0.4:
                fail(f"{path.relative_to(ROOT)}: only {100 * comment // len(text)} % comment")


# ---- sizes and form of source files ----
def functions(text):
    """(name, first line, number of lines) of function bodies: a definition starts in column 0, its brace ends there."""
    lines, start = text.splitlines(), None
    for i, line in enumerate(lines):
        if line.endswith("{") and line[0] not in " #}/" and "(" in "".join(lines[max(0, i - 3):i + 1]) \
                and not re.match(r"(typedef |static const |const |struct |enum |union |extern )[^(]*$", line):
            start = i
        elif line == "}" and start is not None:
            m = re.search(r"(\w+)\(", lines[start])
            yield (m[1] if m else "?", start + 1, i - start + 1)
            start = None


def check_sizes():
    lengths = []
    for path in sources(*SOURCE):
        rel = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        if "generated by" in text[:400].lower():
            continue
        lines = text.splitlines()
        if len(lines) > 700:
            fail(f"{rel}: {len(lines)} lines (at most 700)")
        if not lines or "SPDX-License-Identifier: MIT" not in lines[0] or not re.match(r"/\* \S", lines[1] if len(lines) > 1 else ""):
            fail(f"{rel}: must begin with the SPDX line and a sentence that says what it holds")
        for number, line in enumerate(lines, 1):
            if len(line) > 120:
                fail(f"{rel}:{number}: {len(line)} columns (at most 120)")
            if "\t" in line or line.rstrip() != line:
                fail(f"{rel}:{number}: tab or blank at the end")
        for name, at, n in functions(text):
            if not rel.startswith(("tests", "fuzz")):
                lengths.append(n)
            if n > 120:
                fail(f"{rel}:{at}: {name} has {n} lines (at most 120)")
    lengths.sort()
    print(f"{len(lengths)} functions: median {lengths[len(lengths) // 2]}, p95 {lengths[len(lengths) * 95 // 100]}, "
          f"longest {lengths[-1]} lines")


# ---- nothing of one machine, nothing unfinished ----
def git(*arguments):
    """What git says of this source tree. One that git does not know is skipped: in an unpacked release nobody can tell
    its files from what was built or put there."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        skip("git is not there, which knows the files to look at")
    if done.returncode:
        skip(f"not a checkout that git reads: {done.stderr.strip()}")
    return done.stdout


def check_texts():
    top = pathlib.Path(git("rev-parse", "--show-toplevel").rstrip("\n")).resolve()
    if top != ROOT:
        skip(f"this source tree is no checkout of its own, but a folder in that of {top}")
    names, n = git("ls-files", "-coz", "--exclude-standard").split("\0"), 0
    bad = re.compile(r"(/ho" r"me/|/ro" r"ot/|/wo" r"rk/|/t" r"mp/[a-z])|\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
    for name in names:
        path = ROOT / name
        if not path.is_file() or path.suffix in (".json", ".xz", ".bin") or name.startswith("fuzz/seeds"):
            continue
        n += 1
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            m = bad.search(line)
            if m:
                fail(f"{name}:{number}: {m[0]!r} does not belong here")
    print(f"{n} texts")
    if n < 200:
        fail(f"only {n} texts were found")


CHECKS = {"layers": check_layers, "symbols": check_symbols, "headers": check_headers, "sizes": check_sizes,
          "texts": check_texts}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKS:
        sys.exit(f"usage: lint.py {'|'.join(CHECKS)}")
    CHECKS[sys.argv[1]]()
    for line in failures:
        print(line, file=sys.stderr)
    print(f"{sys.argv[1]}: {len(failures)} failed")
    sys.exit(1 if failures else 0)
