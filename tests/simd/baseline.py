#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions above the baseline of x86-64 stand in functions that say so by their names, whatever the optimiser did."""
import re
import shutil
import subprocess
import sys

if shutil.which("objdump") is None:
    print("SKIPPED: objdump is not here, Debian package binutils")
    sys.exit(77)
out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", sys.argv[1]], check=True, capture_output=True, text=True).stdout
# tzcnt is left out: older CPUs run it as bsf, and compilers use it where both give the same.
ABOVE = re.compile(r"\t(v[a-z0-9]+|k[a-z]+[bwdq]|pdep|pext|bzhi|andn|bls\w+|sarx|shlx|shrx|mulx|rorx|lzcnt|popcnt)\b|"
                   r"%[yz]mm")
NAMED = re.compile(r"_avx(2|512)(\.|$)")
function, n_named, bad = "?", 0, {}
for line in out.splitlines():
    head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
    if head:
        function = head[1]
    elif (m := ABOVE.search(line)) and not m[0].startswith(("\tverr", "\tverw")):
        if NAMED.search(function):
            n_named += 1
        else:
            bad.setdefault(function, line.strip())
for name, line in sorted(bad.items()):
    print(f"{name}: {line}", file=sys.stderr)
print(f"{n_named} instructions in named functions, {len(bad)} other functions with some")
sys.exit(1 if bad or n_named == 0 else 0)
