#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dstok beside other tokenizers: one interleaved run, and the page docs/bench/CPU.md made from it, with a chart.

  python3 -m venv build/peers && build/peers/bin/pip install -r tests/bench/requirements.txt
  build/peers/bin/pip install --no-deps --target build/hf1 tokenizers==1.0.0rc3
  build/peers/bin/python tests/bench/peers.py --path hf1=build/hf1 --json build/peers.json

Each sample is a fresh process for a round, vocabulary, text, tokenizer and number of threads. Tokenizers take turns, and
another one begins in each round. With one thread a process is held to one CPU, another one each round. --json adds the
samples to a file, so that a long run can be made in pieces (--report measures nothing). dstok runs as `dstok bench`, once
for each clock. Vocabularies and texts come from the folder of shared data (DSTOK_SHARED, else ../shared).
"""
import argparse
import itertools
import json
import lzma
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

import peer_report
import worst

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SHARED = pathlib.Path(os.environ.get("DSTOK_SHARED") or ROOT.parent / "shared")

# files with the same ids; `encoding` is the name by which others know it
VOCABULARIES = {
    "o200k": {"ranks": "o200k_base.tiktoken", "json": "gptoss.tokenizer.json", "encoding": "o200k_base"},
    "cl100k": {"ranks": "cl100k_base.tiktoken", "json": "gpt35turbo.tokenizer.json", "encoding": "cl100k_base"},
    "qwen3": {"ranks": None, "json": "qwen3.tokenizer.json", "encoding": None},
    "deepseek_v3": {"ranks": None, "json": "deepseek_v3.tokenizer.json", "encoding": None},
    "llama3": {"ranks": None, "json": "llama3_1.tokenizer.json", "encoding": None},
}
TEXTS = ("en", "zh", "code")
OURS = ("dstok", "dstok-compiled")              # the same from a .dstok file: loading is what differs
PEERS = ("gigatoken", "fastokens", "quicktok", "tiktoken", "hf", "hf1")
SLOW = ("tiktoken", "hf")
CAN = {"quicktok": ("o200k", "cl100k", "qwen3", "llama3"), "tiktoken": ("o200k", "cl100k")}


def fail(text):
    sys.exit(f"peers: {text}")


# ---- what is measured on

def unpacked(name, folder, cache):
    """A file of the shared data, out of its .xz."""
    plain, out = folder / name, cache / name
    if plain.exists():
        return plain
    if not out.exists():
        packed = folder / f"{name}.xz"
        if not packed.exists():
            fail(f"{packed} is not there (DSTOK_SHARED names the folder of shared data)")
        out.write_bytes(lzma.decompress(packed.read_bytes()))
    return out


def vocabulary(name, args):
    """Files of a vocabulary, with the one for dstok and its compiled form."""
    files = {"name": name, "encoding": VOCABULARIES[name]["encoding"]}
    for kind in ("ranks", "json"):
        file = VOCABULARIES[name][kind]
        files[kind] = str(unpacked(file, args.vocab_dir, args.cache)) if file else None
    if name == "llama3":                        # its template would put a token before each document
        plain = args.cache / "llama3.json"
        plain.write_text(json.dumps({**json.loads(pathlib.Path(files["json"]).read_text()), "post_processor": None}))
        files["json"] = str(plain)
    files["dstok"] = files["ranks"] or files["json"]
    files["dstok-compiled"] = str(args.cache / f"{name}.dstok")
    subprocess.run([args.dstok, "compile", "-q", "-v", files["dstok"], "-o", files["dstok-compiled"]], check=True)
    return files


def text_file(name, args):
    """The first --max-mb of a text, cut where a character ends."""
    data = unpacked(f"{name}.txt", args.text_dir, args.cache).read_bytes()
    data = data[:int(args.max_mb * 1e6)].decode("utf-8", "ignore").encode()
    path = args.cache / f"{name}-{len(data)}.txt"
    path.write_bytes(data)
    return path


# ---- one sample

def process(command, args, job, env=None):
    """Standard output of a process with its CPUs set, and the share of the time in which it ran."""
    cpus = sorted(os.sched_getaffinity(0))
    mine = cpus if job["threads"] > 1 else [cpus[job["round"] % len(cpus)]]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run = subprocess.run(command, env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=args.timeout,
                         preexec_fn=lambda: os.sched_setaffinity(0, mine))
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    if run.returncode:
        raise RuntimeError((run.stderr.strip().splitlines() or [f"ended with {run.returncode}"])[-1][:200])
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return run.stdout, cpu / wall


def dstok_sample(job, args):
    """Figures of `dstok bench`, by both clocks."""
    out = {"figures": {}, "load_ms": {}, "first_ms": {}, "share": 1.0}
    hashes = set()
    for clock in job.get("clocks", ("wall", "cpu")):
        budget = args.budget if job["peer"] == "dstok" else 0.001
        command = [args.dstok, "bench", "--json", "--vocab", job["files"][job["peer"]], "--threads", str(job["threads"]),
                   "--clock", clock, "--budget", str(max(1, round(budget * 1000))), "--no-stages", *job.get("options", ()), job["text"]]
        text, share = process(command, args, job)
        row = json.loads(text)
        for key in ("cold", "unseen", "warm", "big", "count", "decode"):
            if row[key] is not None:
                out["figures"].setdefault(key, {})[clock] = row[key]
        for key in ("load_ms", "first_ms"):
            out[key][clock] = row[key]
        out.update((key, row[key]) for key in ("version", "tier", "load_mb", "rss_mb", "loaded_mb", "kept_mb", "tokens",
                                               "ids_sha256", "big_sha256") if key in row)
        out["share"] = min(out["share"], share)
        hashes.add((row["ids_sha256"], row.get("big_sha256")))
    if len(hashes) > 1:
        out["note"] = "two runs gave other ids"
    return out


def peer_sample(job, args):
    env = {"RAYON_NUM_THREADS": str(job["threads"]), "TOKENIZERS_PARALLELISM": str(job["threads"] > 1).lower()}
    if job["peer"] in args.path:
        env["PYTHONPATH"] = args.path[job["peer"]]
    text, _ = process([sys.executable, str(HERE / "peer_worker.py"), json.dumps(job)], args, job, env)
    return json.loads(text.splitlines()[-1])


def sample(job, args):
    row = {key: job[key] for key in ("round", "vocab", "name", "peer", "threads")}
    row.update(piece=args.piece, bytes=os.path.getsize(job["text"]), load_average=os.getloadavg()[0])
    try:
        row.update((dstok_sample if job["peer"] in OURS else peer_sample)(job, args))
    except (RuntimeError, subprocess.TimeoutExpired) as e:
        row["error"] = "took too long" if isinstance(e, subprocess.TimeoutExpired) else str(e)
    return row


# ---- the run

def jobs(args):
    """All samples in the order in which they are taken."""
    vocabularies = {name: vocabulary(name, args) for name in args.vocab}
    texts = {name: str(text_file(name, args)) for name in args.text}
    for number, vocab, text in itertools.product(range(args.rounds), args.vocab, args.text):
        shift = number % len(args.peers)
        for peer in args.peers[shift:] + args.peers[:shift]:
            if vocab not in CAN.get(peer, VOCABULARIES):
                continue
            for threads in args.threads if peer not in (*SLOW, "dstok-compiled") else args.threads[:1]:
                yield {"round": number, "vocab": vocab, "name": text, "peer": peer, "threads": threads,
                       "files": vocabularies[vocab], "text": texts[text], "budget": args.budget}
    if args.worst and "dstok" in args.peers:
        for vocab, (name, path, options) in itertools.product(args.vocab, worst.files(args.cache, args.worst_mb)):
            yield {"round": 0, "vocab": vocab, "name": name, "peer": "dstok", "threads": 1, "files": vocabularies[vocab],
                   "text": str(path), "options": options, "budget": 0.1, "clocks": ("cpu",)}


def check_size(job, samples):
    """Figures of texts of two sizes are no samples of the same thing."""
    size = os.path.getsize(job["text"])
    for row in samples:
        if row["name"] == job["name"] and row["bytes"] != size:
            fail(f"{job['name']} has {row['bytes']} bytes in the samples that are there, {size} now: use another --json")


def measure(args, samples):
    args.cache.mkdir(parents=True, exist_ok=True)
    for job in jobs(args):
        check_size(job, samples)
        row = sample(job, args)
        samples.append(row)
        warm = row.get("figures", {}).get("warm", {}).get("cpu" if job["threads"] == 1 else "wall", 0)
        print(f"round {job['round']} {job['vocab']} {job['name']} {job['peer']} x{job['threads']}: "
              + (row.get("error") or f"warm {warm:.1f} MB/s"), file=sys.stderr, flush=True)
        if args.json:
            args.json.write_text(json.dumps({"cpu": peer_report.this_cpu(), "samples": samples}, indent=0))


def slug(cpu):
    """A file name for a processor."""
    name = re.sub(r"\((R|TM)\)|@.*|\bCPU\b|\b\d+-Core\b|Processor", " ", cpu["name"], flags=re.I)
    if not re.search(r"\d", name):
        name += f" {cpu['family']} {cpu['model']}"
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--vocab", nargs="+", choices=VOCABULARIES, default=list(VOCABULARIES))
    p.add_argument("--text", nargs="+", choices=TEXTS, default=list(TEXTS))
    p.add_argument("--peers", nargs="+", choices=(*OURS, *PEERS), default=[*OURS, *PEERS])
    p.add_argument("--threads", nargs="+", type=int, default=[1, 2], help="the first must be 1")
    p.add_argument("--rounds", type=int, default=5, help="0: only the inputs made to be slow")
    p.add_argument("--max-mb", type=float, default=4, help="how much of each text")
    p.add_argument("--budget", type=float, default=0.5, help="seconds for the repeated passes of one figure")
    p.add_argument("--timeout", type=float, default=600, help="seconds for one process")
    p.add_argument("--no-worst", dest="worst", action="store_false", help="without the inputs made to be slow")
    p.add_argument("--worst-mb", type=float, nargs="+", default=(0.1, 1, 10), help="their sizes")
    p.add_argument("--path", action="append", default=[], metavar="PEER=FOLDER", help="import PEER from there")
    p.add_argument("--dstok", default=os.environ.get("DSTOK_BIN") or str(ROOT / "build/release/bin/dstok"))
    p.add_argument("--vocab-dir", type=pathlib.Path, default=SHARED / "vocab")
    p.add_argument("--text-dir", type=pathlib.Path, default=SHARED / "text")
    p.add_argument("--cache", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "dstok-peers")
    p.add_argument("--json", type=pathlib.Path, help="add the samples to this file; the page is made from all of it")
    p.add_argument("--report", action="store_true", help="measure nothing, only make the page")
    p.add_argument("--clock", choices=("cpu", "wall"), default="cpu", help="the clock of the page, for one thread")
    p.add_argument("--min-share", type=float, default=0.0, help="leave out one-thread samples that had less of their CPU")
    p.add_argument("-o", "--output", type=pathlib.Path, help="the page (default docs/bench/CPU.md; - is standard output)")
    args = p.parse_args()
    if args.threads[0] != 1:
        p.error("--threads must begin with 1: ratios need it")
    if args.report and not (args.json and args.json.is_file()):
        p.error(f"--report makes the page from the samples of --json FILE; {args.json or 'it'} is not there")
    for item in args.path:                      # else what is installed would be measured under the other name
        if item.partition("=")[0] not in PEERS or not pathlib.Path(item.partition("=")[2] or "-").is_dir():
            p.error(f"--path {item}: PEER=FOLDER is wanted, a peer of {', '.join(PEERS)} and a folder that is there")
    args.path = dict(item.split("=", 1) for item in args.path)
    if "hf1" in args.peers and "hf1" not in args.path and not args.report:
        args.peers.remove("hf1")
        print("peers: hf1 is left out: --path hf1=FOLDER is not given", file=sys.stderr)
    args.piece = time.strftime("%Y-%m-%d %H:%M:%S")
    return args


def write(args, samples, cpu):
    """The page, and the chart beside it."""
    if str(args.output) == "-":
        print(peer_report.page(samples, cpu, args.clock, args.min_share))
        return
    output = args.output or ROOT / "docs/bench" / f"{slug(cpu)}.md"
    picture = output.with_suffix(".svg")
    output.parent.mkdir(parents=True, exist_ok=True)
    drawn = peer_report.chart(samples, cpu, args.clock, args.min_share)
    if drawn:
        picture.write_text(drawn)
    output.write_text(peer_report.page(samples, cpu, args.clock, args.min_share, drawn and picture.name))
    print(f"peers: {output}")


def main():
    args = arguments()
    cpu, samples = peer_report.this_cpu(), []
    if args.json and args.json.exists():
        stored = json.loads(args.json.read_text())
        samples = stored["samples"]
        if not args.report and stored["cpu"] != cpu:
            fail(f"{args.json} holds samples of another machine ({stored['cpu']['name']})")
        cpu = stored["cpu"]
    if not args.report:
        measure(args, samples)
    write(args, samples, cpu)
    wrong = peer_report.wrong_ids(samples)
    for line in wrong:
        print(f"peers: {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
