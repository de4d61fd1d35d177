#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs the build, moves what was installed, and uses it as others would: find_package, pkg-config,
add_subdirectory; each links the example service, whose ids must be those of the program.

usage: pkg.py [CHECK...]      DSTOK_BUILD names the build; checks: see CHECKS at the end
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from common import BUILD, ROOT, Failed, cache, check, fail, finish, is_on, numbers, run, skip, text_of

EXAMPLES = ROOT / "docs/examples"
VERSION, ABI = numbers()
STRICT = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pthread"]
# What libdstok may need: no C++, no CUDA, no model library.
NEEDED = ("libc.so", "libpcre2-8.so", "libutf8proc.so", "libxxhash.so", "libm.so", "ld-linux", "libpthread.so")
NEEDED_DSX = ("libc.so", "libdstok.so", "libjansson.so", "libm.so", "ld-linux", "libpthread.so")
CLANG = next((name for name in ("clang", "clang-14") if shutil.which(name)), None)
BAD_LINE = b"not \xff UTF-8"


class Place:
    """Where the library was installed and moved to, and how programs find it there."""

    def __init__(self, scratch):
        self.scratch = scratch
        first, self.prefix = scratch / "first", scratch / "moved here"
        run("cmake", "--install", BUILD, "--prefix", first)
        self.pc_there = (next(first.rglob("dstok.pc"))).read_text()
        check(f"prefix={first}\n" in self.pc_there, "dstok.pc does not name the prefix it was installed to")
        first.rename(self.prefix)
        self.lib = next(self.prefix.rglob("libdstok.*")).parent
        self.shared = (self.lib / "libdstok.so").exists()
        self.static = (self.lib / "libdstok.a").exists()
        self.models = (self.prefix / "include/dsx").exists()  # DSTOK_BUILD_MODEL
        self.dstok = self.prefix / "bin/dstok"
        self.env = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "CMAKE_PREFIX_PATH")}
        # the file was moved: its prefix is where it lies now
        self.pc = scratch / "pc"
        self.pc.mkdir()
        for pc in self.prefix.rglob("*.pc"):
            (self.pc / pc.name).write_text(pc.read_text().replace(f"prefix={first}\n", f"prefix={self.link()}\n"))

    def link(self):
        """The prefix without blanks, which pkg-config's output would have to quote."""
        link = self.scratch / "prefix"
        if not link.exists():
            link.symlink_to(self.prefix)
        return link

    def pkg_config(self, *arguments, name="dstok"):
        env = {**self.env, "PKG_CONFIG_PATH": f"{self.pc}:{os.environ.get('PKG_CONFIG_PATH', '')}"}
        return text_of("pkg-config", *arguments, name, env=env).split()

    def tiny_model(self):
        """A model that tests/model writes, with its vocabulary."""
        folder = self.scratch / "tiny/llama"
        if not folder.exists():
            run(sys.executable, ROOT / "tests/model/fixtures.py", folder.parent, "llama")
        return folder

    def sample(self):
        """Lines in several scripts, one of them bad; and the ids that the program gives for the good ones."""
        lines = []
        for name in ("README.md", "docs/cli.md", "docs/formats.md"):
            lines += (ROOT / name).read_bytes().split(b"\n")
        lines += ["我爱Python编程。", "", "Größe, naïve, 東京", "<|endoftext|> <|im_start|>", "e\u0301\u200d👩‍👩‍👧"] * 50
        lines = [line if isinstance(line, bytes) else line.encode() for line in lines]
        good = b"\n".join(lines) + b"\n"
        ids = run(self.dstok, "encode", "-q", "--input-format", "lines", input=good, env=self.env).stdout.split(b"\n")
        return lines, ids[:-1]

    def uses(self, program):
        """Names of the shared libraries a program needs."""
        return re.findall(r"NEEDED\s+(\S+)", text_of("objdump", "-p", program))


def try_service(place, program, how, env=None):
    """The service against the program: ids in order with 1 and 16 threads, bad lines, limits of memory."""
    lines, ids = place.sample()
    env = {**place.env, **(env or {})}
    middle = len(lines) // 2
    check(run(program, "--help", env=env).stdout.startswith(b"usage: service"), f"{how}: --help")
    check(run(program, "a", "b", env=env, rc=2).stderr.startswith(b"usage: service"), f"{how}: an argument too many")
    text = b"\n".join([*lines[:middle], BAD_LINE, *lines[middle:]]) + b"\n"
    for threads in (1, 16):
        result = run(program, "-t", threads, input=text, env=env, rc=3)
        have = result.stdout.split(b"\n")[:-1]
        check(have[:middle] + have[middle + 1:] == ids, f"{how}: {threads} threads: not the ids of dstok encode")
        check(have[middle].startswith(b"!DSTOK_E_UTF8 at byte 4"), f"{how}: no word on the bad line: {have[middle]!r}")
        check(f"service: {len(lines) + 1} lines, 1 failed".encode() in result.stderr, f"{how}: {result.stderr!r}")
        check(b"left 0 bytes" in result.stderr, f"{how}: memory was not given back: {result.stderr!r}")
    peak = int(re.search(rb"peak (\d+)", result.stderr)[1])
    tiny = run(program, "-t", 16, "-m", 1000, input=text, env=env, rc=1)
    check(b"DSTOK_E_NOMEM" in tiny.stderr and b"left 0 bytes" in tiny.stderr and not tiny.stdout,
          f"{how}: 1000 bytes of memory: {tiny.stderr!r}")
    long_line = b"the quick brown fox " * (1 << 17)
    some = run(program, "-t", 1, "-m", peak + 4000000, input=b"Hi\n" + long_line + b"\nHi\n", env=env, rc=3)
    answers = some.stdout.split(b"\n")
    check(len(answers) == 4 and answers[0] == answers[2] and answers[0][:1].isdigit() and
          answers[1].startswith(b"!DSTOK_E_NOMEM"), f"{how}: a line above the limit: {some.stdout[:200]!r}")
    limit = int(re.search(rb"peak (\d+), left 0", some.stderr)[1])
    check(limit <= peak + 4000000, f"{how}: the limit was passed: {some.stderr!r}")


def try_batch(place, program, how):
    """The other example: files in one call, with the counts of the program; a bad one is named."""
    files = [ROOT / "README.md", ROOT / "docs/cli.md", ROOT / "docs/formats.md"]
    right = [int(text_of(place.dstok, "count", "-q", name, env=place.env).split()[0]) for name in files]
    for threads in (0, 1, 3):
        lines = text_of(program, "-t", threads, *files, env=place.env).splitlines()
        check([int(line.split("\t")[0]) for line in lines] == right, f"{how}: batch, {threads} threads: {lines}")
    bad = place.scratch / "bad.txt"
    bad.write_bytes(BAD_LINE)
    result = run(program, files[0], bad, bad, env=place.env, rc=1)
    check(b"bad.txt: DSTOK_E_UTF8 at byte 4: document 1: " in result.stderr and not result.stdout, f"{how}: batch: {result}")
    result = run(program, place.scratch / "absent.txt", env=place.env, rc=1)
    check(b"absent.txt cannot be read: No such file or directory\n" in result.stderr, f"{how}: batch: {result}")


def try_jsonl(place, program, how):
    """The example for JSON lines: the counts of the program, over several calls and reads; faults by line and byte."""
    lines = [json.dumps({"id": i, "text": text.decode(errors="replace"), "a": {"b": "x" * (i % 9)}}, ensure_ascii=i % 2 == 0)
             for i, text in enumerate(place.sample()[0])]
    lines.insert(700, '{"id":"no text"}')
    data = "\n".join(lines * 3).encode()
    for key, options in (("text", []), ("a.b", ["-k", "a.b"])):
        rows = run(place.dstok, "encode", "-q", "--input-format", "jsonl", "--json", "--offsets", "none", "--json-keys", key,
                   "--on-error", "skip", input=data, env=place.env, rc=3).stdout.splitlines()
        right = [f"{len(row['ids'])}\t{row['id']}" for row in map(json.loads, rows)]
        result = run(program, *options, input=data, env=place.env, rc=3)
        check(len(right) > 1500 and result.stdout.decode().splitlines() == right, f"{how}: jsonl: not the counts of dstok")
        want = "".join(f'jsonl: line {701 + i * len(lines)}: byte 0 of it: the object has no key "{key}"\n' for i in range(3))
        check(result.stderr.decode() == want, f"{how}: jsonl: {result.stderr!r}, wanted {want!r}")


def try_stream(place, program, how):
    """The example for streams: standard input of several megabytes comes out again, and the tokens are those of the program."""
    data = b"\n".join(place.sample()[0] * 3 + [b"x" * 300000])
    data = data.decode(errors="replace").encode()
    result = run(program, input=data, env=place.env)
    check(result.stdout == data, f"{how}: stream: not what was fed")
    n = run(place.dstok, "count", "-q", "-", input=data, env=place.env).stdout.split()[0].decode()
    check(result.stderr.decode() == f"{n} tokens\n", f"{how}: stream: {result.stderr!r}, wanted {n} tokens")


# ---- the checks

def try_next(place, program, how):
    """The example for models, on a tiny one, against the program; a folder without a model is named."""
    model = place.tiny_model()
    said = json.loads(text_of(place.prefix / "bin/dsexplain", "logprobs", model, "-f", "-", "--json", "--top", "5", env=place.env,
                              input=b"the end of the"))
    lines = re.findall(rb"^(\d+)\t(-[\d.]+)\t", run(program, model, "the end of the", env=place.env).stdout, re.M)
    check([(int(i), p.decode()) for i, p in lines] == [(i, f"{p:.4f}") for i, p in said["next"]],
          f"{how}: next: {lines}, wanted {said['next']}")
    result = run(program, place.scratch, "a", env=place.env, rc=1)
    check(b"next: DSTOK_E_IO: " in result.stderr and b"config.json" in result.stderr, f"{how}: next: {result}")


def check_archive(archive, least):
    """It holds plain code, which every compiler can link and none warns about: nothing that only one of them reads."""
    sections = re.findall(r"^ +\d+ (\.\S+) ", text_of("objdump", "-h", archive), re.M)
    check(sections.count(".text") > least, f"{archive.name}: objdump shows {sections.count('.text')} parts with code")
    lto = [name for name in sections if name.startswith((".gnu.lto_", ".gnu.debuglto_", ".llvm"))]
    check(not lto, f"{archive.name} holds {len(lto)} sections for optimising at link time, the first is {lto[:1]}")


def installed(place):
    """What was installed, and that the program runs from where it was moved to."""
    for name in ("bin/dstok", "share/man/man1/dstok.1", "include/dstok/dstok.h", "include/dstok/align.h",
                 "share/doc/dstok/LICENSE", "share/doc/dstok/docs/examples/service.c"):
        check((place.prefix / name).is_file(), f"{name} was not installed")
    public = {p.name for folder in ("tokenizer", "align") for p in (ROOT / folder / "include/dstok").glob("*.h")}
    have = {p.name for p in (place.prefix / "include/dstok").iterdir()}
    check(public == have, f"headers: {sorted(public ^ have)} on one side only")
    check(text_of(place.dstok, "--version", env=place.env).split()[1] == VERSION, "dstok --version")
    for path in [*place.prefix.rglob("*.cmake"), *place.prefix.rglob("*.h")]:
        text = path.read_text()
        check(str(BUILD) not in text and str(ROOT) not in text, f"{path.name} names the build or the source folder")
    if place.static:
        check_archive(place.lib / "libdstok.a", 50)
    if place.shared:
        real = (place.lib / "libdstok.so").resolve().name
        check(real == f"libdstok.so.{ABI}.{VERSION.split('.', 1)[1]}", f"the library is called {real}")
        dynamic = text_of("objdump", "-p", place.lib / "libdstok.so")
        check(re.search(rf"SONAME\s+libdstok\.so\.{ABI}\n", dynamic), "SONAME is not libdstok.so.<abi>")
        check("RPATH" not in dynamic and "RUNPATH" not in dynamic, "the library has an RPATH")
        for name in place.uses(place.lib / "libdstok.so"):
            check(name.startswith(NEEDED), f"the library needs {name}")
        loaded = re.search(r"libdstok\S+ => (.*?) \(", text_of("ldd", place.dstok, env=place.env))
        check(loaded and pathlib.Path(loaded[1]).resolve().is_relative_to(place.prefix.resolve()),
              f"the program loads {loaded and loaded[1]}, not the library beside it")


def models(place):
    """libdsx and dsexplain: what was installed, and that they work by every route; the tokenizer alone knows nothing of them."""
    if not place.models:
        return print("SKIPPED libdsx: DSTOK_BUILD_MODEL is off in this build")
    for name in ("bin/dsexplain", "share/man/man1/dsexplain.1", "share/doc/dstok/docs/examples/next.c"):
        check((place.prefix / name).is_file(), f"{name} was not installed")
    public = {p.name for p in (ROOT / "model/include/dsx").glob("*.h")}
    have = {p.name for p in (place.prefix / "include/dsx").iterdir()}
    check(public == have, f"headers of libdsx: {sorted(public ^ have)} on one side only")
    check(text_of(place.prefix / "bin/dsexplain", "--version", env=place.env).split()[1] == VERSION, "dsexplain --version")
    check("-ldsx" not in place.pkg_config("--libs") and "-ljansson" not in place.pkg_config("--static", "--libs"),
          "dstok.pc names libdsx or its libraries")
    if place.static:
        check_archive(place.lib / "libdsx.a", 15)
        words = place.pkg_config("--static", "--libs", name="dsx")
        check({"-ldsx", "-ldstok", "-ljansson", "-lm"} <= set(words), f"pkg-config --static --libs dsx: {words}")
        program = place.scratch / "next-static"
        run("cc", *STRICT, "-static", EXAMPLES / "next.c", *place.pkg_config("--cflags", name="dsx"), *words, "-o", program)
        check(not place.uses(program), f"pkg-config --static dsx: next needs {place.uses(program)}")
        try_next(place, program, "pkg-config, static")
    if place.shared:
        real = (place.lib / "libdsx.so").resolve().name
        check(real == f"libdsx.so.{ABI}.{VERSION.split('.', 1)[1]}", f"the library is called {real}")
        check(f"SONAME               libdsx.so.{ABI}\n" in text_of("objdump", "-p", place.lib / "libdsx.so"), "SONAME of libdsx")
        for name in place.uses(place.lib / "libdsx.so"):
            check(name.startswith(NEEDED_DSX), f"libdsx needs {name}")
        words = place.pkg_config("--libs", name="dsx")
        check({"-ldsx", "-ldstok"} <= set(words) and "-ljansson" not in words, f"pkg-config --libs dsx: {words}")
        program = place.scratch / "next-shared"
        run("cc", *STRICT, EXAMPLES / "next.c", *place.pkg_config("--cflags", name="dsx"), *words, "-lm",
            f"-Wl,-rpath,{place.lib}", "-o", program)
        check(f"libdsx.so.{ABI}" in place.uses(program), "pkg-config: next does not use the shared libdsx")
        try_next(place, program, "pkg-config, shared")


def pkg_config(place):
    """dstok.pc, shared and static."""
    check("${prefix}/" in place.pc_there and place.pc_there.count(str(place.scratch)) == 1,
          "dstok.pc: paths that are not relative to its prefix")
    check(place.pkg_config("--modversion") == [VERSION], "dstok.pc has another version")
    define = run("pkg-config", "--define-prefix", "--variable=libdir", place.lib / "pkgconfig/dstok.pc", rc=None)
    check(define.returncode or pathlib.Path(define.stdout.decode().strip().replace("\\", "")).is_dir(),
          f"dstok.pc --define-prefix: {define.stdout!r}")
    rpath = f"-Wl,-rpath,{place.lib}"
    if place.shared:
        words = place.pkg_config("--libs")
        check("-ldstok" in words and "-lpcre2-8" not in words, f"pkg-config --libs: {words}")
        program = place.scratch / "pc-shared"
        run("cc", *STRICT, EXAMPLES / "service.c", *place.pkg_config("--cflags", "--libs"), rpath, "-o", program)
        check(f"libdstok.so.{ABI}" in place.uses(program), "pkg-config: the service does not use the shared library")
        try_service(place, program, "pkg-config, shared")
    if place.static:
        words = place.pkg_config("--static", "--libs")
        check({"-ldstok", "-lpcre2-8", "-lutf8proc", "-lxxhash"} <= set(words), f"pkg-config --static --libs: {words}")
        for name, compiler, *more in [("cc", "cc"), ("cc -flto", "cc", "-flto", "-O2"), ("clang", CLANG)]:
            if not compiler:
                print("SKIPPED the static library in a program of Clang: it is not there")
                continue
            program = place.scratch / f"pc-static {name}"
            run(compiler, *STRICT, *more, "-static", EXAMPLES / "service.c", *words, *place.pkg_config("--cflags"), "-o", program)
            check(not place.uses(program), f"pkg-config --static, {name}: the service needs {place.uses(program)}")
            try_service(place, program, f"pkg-config, static, {name}")


def find_package(place):
    """The CMake package, shared and static; which versions it answers to; a project in C++ alone."""
    for static in ([False] if place.shared else []) + ([True] if place.static else []):
        how = "find_package, static" if static else "find_package, shared"
        folder = place.scratch / f"cmake-{static}"
        run("cmake", "-G", "Ninja", "-S", EXAMPLES, "-B", folder, f"-DCMAKE_PREFIX_PATH={place.prefix}", f"-DDSTOK_STATIC={static}",
            "-DCMAKE_BUILD_TYPE=Release", env=place.env)
        run("cmake", "--build", folder)
        uses = place.uses(folder / "service")
        check((f"libdstok.so.{ABI}" in uses) != static, f"{how}: the service needs {uses}")
        try_service(place, folder / "service", how)
        try_batch(place, folder / "batch", how)
        try_jsonl(place, folder / "jsonl", how)
        try_stream(place, folder / "stream", how)
        check("libdsx" not in " ".join(uses) and "libjansson" not in " ".join(uses), f"{how}: the service needs {uses}")
        check((folder / "next").exists() == place.models, f"{how}: component dsx")
        if place.models:
            check((f"libdsx.so.{ABI}" in place.uses(folder / "next")) != static, f"{how}: next needs {place.uses(folder / 'next')}")
            try_next(place, folder / "next", how)
    nothing = place.scratch / "nothing"
    nothing.mkdir()
    (nothing / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.21)\nproject(nothing C)\n"
                                            "find_package(dstok REQUIRED COMPONENTS python)\n")
    result = run("cmake", "-S", nothing, "-B", nothing / "build", f"-DCMAKE_PREFIX_PATH={place.prefix}", rc=None, env=place.env)
    check(result.returncode != 0 and b'no component "python"' in b" ".join(result.stderr.split()),
          f"find_package of a component that is not there: {result.stderr.decode()[-800:]}")
    cxx = next((name for name in ("c++", "clang++", "clang++-14") if shutil.which(name)), None)
    if not cxx:
        return print("SKIPPED the projects in C++: no compiler")
    major, minor, _ = VERSION.split(".")
    for wanted, good in ((f"{major}.{minor}", True), (VERSION, True), (f"{major}.{int(minor) + 1}", False),
                         (f"{major}.{max(int(minor) - 1, 0)}", minor == "0"), (f"{int(major) + 1}.{minor}", False)):
        folder = place.scratch / f"cxx-{wanted}"
        result = run("cmake", "-G", "Ninja", "-S", ROOT / "tests/pkg/cxx", "-B", folder, f"-DCMAKE_PREFIX_PATH={place.prefix}",
                     f"-DCMAKE_CXX_COMPILER={cxx}", f"-DWANTED={wanted}", rc=None, env=place.env)
        check((result.returncode == 0) == good, f"find_package(dstok {wanted}): {result.stderr.decode()[-800:]}")
        if good and wanted == VERSION:
            run("cmake", "--build", folder)
            for form in ("dstok", "dstok_static"):
                check(text_of(folder / f"with_{form}") == "1\n", f"C++ with dstok::{form}: not one token")


def subdirectory(place):
    """add_subdirectory, in a parent with flags of its own: no tests, no install, no program, the parent unchanged."""
    folder = place.scratch / "subdir"
    configure = ("cmake", "-G", "Ninja", "-S", ROOT / "tests/pkg/subdir", f"-DDSTOK_SOURCE={ROOT}")
    run(*configure, "-B", place.scratch / "without", env=place.env)
    run(*configure, "-B", folder, "-DDSTOK_BUILD_MODEL=ON", env=place.env)
    run("cmake", "--build", folder, "-j", "2")
    tests = text_of("ctest", "--test-dir", folder, "-N")
    check("Total Tests: 1\n" in tests, f"as a subfolder dstok has tests: {tests[-300:]}")
    run("cmake", "--install", folder, "--prefix", place.scratch / "parent")
    files = [p.name for p in (place.scratch / "parent").rglob("*") if p.is_file()]
    check(files == ["service"], f"as a subfolder dstok installs {files}")
    check("libdstok" not in " ".join(place.uses(folder / "service")), "as a subfolder dstok is not static")
    check("libjansson" not in " ".join(place.uses(folder / "service")), "the service needs what is for models alone")
    try_service(place, folder / "service", "add_subdirectory")
    if place.models:
        try_next(place, folder / "next", "add_subdirectory")


def debian(place):
    """debian/ agrees with version.h and dstok.map."""
    changes = (ROOT / "debian/changelog").read_text()
    first = re.match(r"dstok \(([^)]+)-[^-)]+\)", changes)
    check(first and first[1] == VERSION, f"debian/changelog: {changes.splitlines()[0]}; version.h has {VERSION}")
    control = (ROOT / "debian/control").read_text()
    addresses = re.search(r"^Maintainer: .*<(.*)>$", control, re.M)[1], re.search(r"^ -- .*<(.*)>  ", changes, re.M)[1]
    check(len({address.endswith(".invalid") for address in addresses}) == 1,
          f"debian/: the packager's address is set in one place alone: control {addresses[0]}, changelog {addresses[1]}")
    for name in ("dstok", "dsx"):
        check(f"\nPackage: lib{name}{ABI}\n" in control and f"lib{name}{ABI} (= " in control,
              f"debian/control has no lib{name}{ABI}: the package is named after DSTOK_ABI_MAJOR")
        check((ROOT / f"debian/lib{name}{ABI}.install").exists(), f"debian/lib{name}{ABI}.install is missing")
    result = run(sys.executable, ROOT / "debian/make_symbols.py", "--check", rc=None)
    check(result.returncode == 0, result.stderr.decode())
    check(f"DSTOK_{ABI} {{" in (ROOT / "tokenizer/dstok.map").read_text(), "the node of dstok.map is not DSTOK_<abi>")
    check(f"DSX_{ABI} {{" in (ROOT / "model/dsx.map").read_text(), "the node of dsx.map is not DSX_<abi>")
    install = (ROOT / "tools/cmake/install.cmake").read_text()
    for module in re.findall(r"lib\w[\w-]*", re.search(r'dstok_pc_needs "(.*?)"', install)[1]):
        check(f"={module}" in (ROOT / "tools/cmake/dstok-config.cmake.in").read_text(),
              f"dstok.pc needs {module}, dstok-config.cmake does not look for it")


CHECKS = {"installed": installed, "models": models, "debian": debian, "pkg_config": pkg_config, "find_package": find_package,
          "subdirectory": subdirectory}


def main():
    settings = cache(BUILD)
    if not settings:
        skip(f"{BUILD} is no build")
    for name in ("DSTOK_SANITIZE", "DSTOK_COVERAGE"):
        if settings.get(name) not in (None, "", "OFF"):
            skip(f"{name} is set: what such a build installs is not for others")
    for name in ("DSTOK_INSTALL", "DSTOK_BUILD_CLI", "DSTOK_EMBED_VOCAB"):
        if not is_on(settings.get(name)):
            skip(f"{name} is off in this build")
    for tool in ("cmake", "cc", "pkg-config", "objdump"):
        if not shutil.which(tool):
            skip(f"{tool} is not there")
    with tempfile.TemporaryDirectory(prefix="dstok-pkg-") as scratch:
        place = Place(pathlib.Path(scratch))
        for name in sys.argv[1:] or CHECKS:
            try:
                CHECKS[name](place)
                print(f"{name}: done", flush=True)
            except (Failed, subprocess.TimeoutExpired) as error:
                fail(f"{name}: {error}")
    finish("pkg")


if __name__ == "__main__":
    main()
