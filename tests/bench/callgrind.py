#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions a byte of four passes over three small texts, held against those in instructions.json.

usage: callgrind.py --driver bench_passes --compiler "GNU 12.2.0" --flags "..." [--record]

Instructions do not depend on what else the machine does, so a slow-down shows where times would drown in noise. A pass
that takes 5 % more than recorded fails; one that takes 5 % less is told, so that the gain is recorded and kept. Numbers
belong to a compiler and its flags: with others, or without valgrind, the test is skipped (77).
--record rewrites the file: commit it together with the change that moved the numbers.
"""
import argparse
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE / "instructions.json"
TEXTS = ("en", "zh", "code")
PASSES = ("first", "second", "count", "decode")
TOLERANCE = 0.05
NOTE = ("Instructions a byte, counted by callgrind on the default vocabulary. valgrind runs no AVX-512: where the "
        "machine has it, the AVX2 code is what is counted.")


def skip(why):
    print("bench.instructions: SKIPPED, nothing was compared: " + why)
    sys.exit(77)


def costs(out):
    """Instructions inside each of the pass functions, and the instruction set of the code that ran."""
    found = {name: int(n) for name, n in re.findall(r"^cfn=pass_(\w+)\ncalls=1 .*\n\S+ (\d+)$", out, re.M)}
    if set(found) != set(PASSES):
        sys.exit(f"callgrind's output names the passes {sorted(found)}, not {sorted(PASSES)}")
    tiers = set(re.findall(r"^fn=dstok__\w+_(avx2|avx512|neon)\b", out, re.M))
    return found, "+".join(sorted(tiers)) or "scalar"


def count(driver, text):
    """What one run of the driver under callgrind tells."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "callgrind.out")
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-strings=no",
                   "--compress-pos=no", driver, HERE / "texts" / f"{text}.txt"]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{text}: the driver ended with {run.returncode}:\n{run.stderr}")
        found, tier = costs(out.read_text(errors="replace"))
    n_bytes = (HERE / "texts" / f"{text}.txt").stat().st_size
    row = {"bytes": n_bytes, "tokens": int(run.stdout.split()[0])}
    row.update((name, round(found[name] / n_bytes, 3)) for name in PASSES)
    return row, tier


def table(counts, old):
    print(f"{'instructions a byte':20}" + "".join(f"{name:>18}" for name in PASSES))
    for text, row in counts.items():
        cells = ""
        for name in PASSES:
            before = old.get(text, {}).get(name)
            cells += f"{row[name]:10.2f}" + (f" ({row[name] / before - 1:+.1%})" if before else "").rjust(8)
        print(f"{text:20}{cells}")


def compare(counts, recorded):
    """What got worse, and what got better."""
    worse, better = [], []
    for text in TEXTS:
        new, old = counts[text], recorded["counts"][text]
        for key in ("bytes", "tokens"):
            if new[key] != old[key]:
                worse.append(f"{text}: {new[key]} {key}, {old[key]} recorded: other work cannot be compared")
        for name in PASSES:
            ratio = new[name] / old[name]
            if abs(ratio - 1) > TOLERANCE:
                words = f"{text}, {name} pass: {new[name]} instructions a byte, {old[name]} recorded ({ratio - 1:+.1%})"
                (worse if ratio > 1 else better).append(words)
    return worse, better


def has(tier):
    """Whether this machine can run the code of an instruction set."""
    try:
        return tier == "scalar" or tier in pathlib.Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--driver", required=True)
    p.add_argument("--compiler", required=True)
    p.add_argument("--flags", required=True)
    p.add_argument("--record", action="store_true", help="rewrite instructions.json")
    args = p.parse_args()
    if not shutil.which("valgrind"):
        skip("valgrind is not installed")
    here = {"machine": platform.machine(), "compiler": args.compiler, "flags": " ".join(args.flags.split())}
    if not args.record and not FILE.exists():
        sys.exit(f"{FILE.name} is not there: record it (--record)")
    recorded = json.loads(FILE.read_text()) if FILE.exists() else {"counts": {}}
    if not args.record:
        for key, value in here.items():
            if recorded.get(key) != value:
                skip(f"{key} is \"{value}\" here, \"{recorded.get(key)}\" in {FILE.name}")
        if not has(recorded["tier"]):
            skip(f"this machine lacks {recorded['tier']}, whose code was counted")
    runs = {text: count(args.driver, text) for text in TEXTS}
    counts, tiers = {text: row for text, (row, _) in runs.items()}, {tier for _, tier in runs.values()}
    tier = max(tiers, key=len)
    table(counts, recorded["counts"])
    if args.record:
        rows = ",\n".join(f"  {json.dumps(text)}: {json.dumps(row)}" for text, row in counts.items())
        head = json.dumps({"note": NOTE, **here, "tier": tier}, indent=1)[:-2]
        FILE.write_text(f'{head},\n "counts": {{\n{rows}\n }}\n}}\n')
        print(f"recorded {FILE.name}, code of {tier}")
        return
    worse, better = compare(counts, recorded)
    if recorded["tier"] not in ("scalar", tier):
        worse.append(f"{recorded['tier']} code was recorded, {tier} code ran: the faster code is not taken any more")
    for line in worse:
        print("SLOWER " + line)
    for line in better:
        print("faster " + line + ": record it (--record), so that it is kept")
    print(f"bench.instructions: {len(TEXTS) * len(PASSES)} passes, {len(worse)} failed, {len(better)} better")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
