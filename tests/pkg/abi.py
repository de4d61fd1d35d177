#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The binary interfaces of libdstok.so and libdsx.so against the recorded ones: tests/abi/<machine>.abi and
tests/abi/<machine>-dsx.abi (libabigail) hold symbols and types, tests/abi/constants.txt the numbers that programs have
compiled in.

usage: abi.py             compare: new symbols and numbers are fine; a lost one, or a changed type, call or number,
                          fails unless DSTOK_ABI_MAJOR was raised
       abi.py --refresh   record the interface of this source as the one to keep

A copy of the libraries with debug information is built in DSTOK_BUILD/abi, without the vocabulary.
"""
import os
import platform
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

from common import BUILD, ROOT, Failed, cache, check, finish, run, skip

LIBRARIES = {  # where the interface is recorded, and its public headers
    "dstok": (ROOT / f"tests/abi/{platform.machine()}.abi", ("tokenizer/include/dstok", "align/include/dstok")),
    "dsx": (ROOT / f"tests/abi/{platform.machine()}-dsx.abi", ("model/include/dsx",)),
}
CONSTANTS = ROOT / "tests/abi/constants.txt"
HEADERS = [folder for _, folders in LIBRARIES.values() for folder in folders]


def public_text():
    return "".join(path.read_text() for folder in HEADERS for path in sorted((ROOT / folder).glob("*.h")))


def constants():
    """The numbers of the public headers: those defined, and those of enumerations."""
    text = re.sub(r"/\*.*?\*/", "", public_text(), flags=re.S)
    found = dict(re.findall(r"^#define +((?:DSTOK|DSX)_\w+) +(\w[\w() ]*?|\(.*?\)) *$", text, re.M))
    for line in re.findall(r"^enum \{ (.*) \};$", text, re.M):
        found.update(re.findall(r"(DS\w+) = (\w+)", line))
    found.update(re.findall(r"^ +((?:DSTOK|DSX)_\w+) *= *([^,\n]+?),? *$", text, re.M))
    return {name: value for name, value in found.items()
            if not name.startswith(("DSTOK_VERSION_", "DSTOK_ABI_")) and not value.startswith("__")}


def check_constants():
    now = constants()
    for line in CONSTANTS.read_text().splitlines():
        name, _, value = line.partition(" ")
        check(now.get(name) == value, f"{name} was {value}, is {now.get(name, 'gone')}: programs hold the old one")


def build():
    """Build the libraries with debug information; their real files."""
    folder = BUILD / "abi-build"
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-gdwarf-4",
        "-DBUILD_SHARED_LIBS=ON", "-DDSTOK_BUILD_CLI=OFF", "-DDSTOK_BUILD_TESTS=OFF", "-DDSTOK_EMBED_VOCAB=OFF",
        "-DDSTOK_INSTALL=OFF")
    run("cmake", "--build", folder, "--target", *LIBRARIES)
    return {name: (folder / f"lib{name}.so").resolve() for name in LIBRARIES}


def describe(name, lib, out):
    """Write the interface of a library: what the public headers show of it, and no place of this machine."""
    headers = [word for folder in LIBRARIES[name][1] for word in ("--headers-dir", ROOT / folder)]
    run("abidw", *headers, "--drop-private-types", "--exported-interfaces-only", "--no-corpus-path",
        "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--out-file", out, lib)
    text = out.read_text()
    out.write_text(re.sub(r" path='[^']*'", lambda m: f" path='{os.path.basename(m[0][7:-1])}'", text))


def abi_major(text):
    return int(re.search(r"soname='lib\w+\.so\.(\d+)'", text)[1])


def signature(types, key):
    """A type as text, down to names and sizes; what a pointer to a structure leads to is abidiff's part."""
    node, words = types.get(key), []
    while node is not None:
        words += [node.tag, node.get("name", ""), node.get("size-in-bits", ""), node.get("const", "")]
        node = types.get(node.get("type-id"))
    return " ".join(words)


def sized_structs(path):
    """The fields of every structure that begins with its own size: places, names and types."""
    tree = xml.etree.ElementTree.parse(path)
    types = {node.get("id"): node for node in tree.iter() if node.get("id")}
    found = {}
    for struct in tree.iter("class-decl"):
        fields = [(m.get("layout-offset-in-bits"), v.get("name"), signature(types, v.get("type-id")))
                  for m in struct.findall("data-member") for v in m.findall("var-decl")]
        if fields and fields[0][1] == "struct_size":
            found[struct.get("name")] = fields
    return found


def may_grow(old, new):
    """What abidiff is to pass over: a structure that begins with its own size and only grew at its end, for the
    library reads and writes no more of it than that size."""
    before, after = sized_structs(old), sized_structs(new)
    grown = [name for name, fields in before.items()
             if len(after.get(name, [])) > len(fields) and after[name][:len(fields)] == fields]
    return "".join(f"[suppress_type]\n  name = {name}\n  type_kind = struct\n" for name in grown)


def compare(record, have):
    """Whether the ABI number was raised; if not, nothing may be lost."""
    old, new = abi_major(record.read_text()), abi_major(have.read_text())
    rules = BUILD / "abi.ignore"
    rules.write_text(may_grow(record, have))
    # Leaf changes: a structure passed over must not hide a change of one that it points to.
    result = subprocess.run(["abidiff", "--leaf-changes-only", "--no-added-syms", "--suppressions", rules, record,
                             have], capture_output=True, text=True)
    check(not result.returncode & 3, f"abidiff: code {result.returncode}: {result.stdout}{result.stderr}")
    if new > old:
        print(f"DSTOK_ABI_MAJOR was raised from {old} to {new}: record the new interface (abi.py --refresh)")
    elif result.returncode & 12 or new < old:
        print(result.stdout)
        check(False, f"programs built against ABI {old} would break: raise DSTOK_ABI_MAJOR, or keep the old interface "
                     f"(before the first release: tests/pkg/abi.py --refresh)")
    return new > old


def main():
    if sys.argv[1:] not in ([], ["--refresh"]):
        sys.exit(__doc__)
    if sys.argv[1:]:
        CONSTANTS.write_text("".join(f"{name} {value}\n" for name, value in sorted(constants().items())))
        print(f"recorded: {CONSTANTS.relative_to(ROOT)}")
    for name in ("DSTOK_SANITIZE", "DSTOK_COVERAGE"):
        if cache(BUILD).get(name) not in (None, "", "OFF"):
            skip(f"{name} is set: one build compares the interface, that is enough")
    for tool in ("abidw", "abidiff"):
        if not shutil.which(tool):
            skip(f"{tool} is not there (Debian: abigail-tools)")
    if not sys.argv[1:] and not all(record.exists() for record, _ in LIBRARIES.values()):
        skip(f"nothing is recorded for {platform.machine()}: tests/pkg/abi.py --refresh on such a machine")
    was_raised = False
    for name, lib in build().items():
        record = LIBRARIES[name][0]
        if sys.argv[1:]:
            describe(name, lib, record)
            print(f"recorded: {record.relative_to(ROOT)}")
        else:
            have = BUILD / f"abi-{name}.now"
            describe(name, lib, have)
            was_raised = compare(record, have) or was_raised
    if not sys.argv[1:]:
        if not was_raised:
            check_constants()
        finish("abi")


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"abi: {error}")
