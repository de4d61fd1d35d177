# SPDX-License-Identifier: MIT
"""The dstok program against the original tokenizers on seeded random text: Hugging Face tokenizers, tiktoken, SentencePiece.

Run with a Python that has them (tools/quickstart makes build/venv):
    DSTOK_BIN=build/release/bin/dstok build/venv/bin/python tests/refs/refs.py [--mb N] [--jobs N] [--seed N] [NAME...]
For each vocabulary it compares --mb megabytes (default 20; 200 is the long run) and prints how many strings differed. Of a
difference the smallest text that still shows it is printed. Exit 1 on a difference, 77 when packages or files are missing."""
import argparse
import base64
import filecmp
import functools
import glob
import itertools
import json
import multiprocessing
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "golden"), os.path.join(HERE, "..", "regress"), HERE]
os.environ.setdefault("RAYON_NUM_THREADS", "1")  # one process for each vocabulary at work
import common  # noqa: E402
import hull  # noqa: E402
import spm  # noqa: E402
import texts as generators  # noqa: E402
import vary  # noqa: E402

R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CL100K = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
          r"|\s+(?!\S)|\s")
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_O200K = r"[^\r\n\p{L}\p{N}]?" + _UPPER + "*" + _LOWER + r"+%s|[^\r\n\p{L}\p{N}]?" + _UPPER + "+" + _LOWER + r"*%s"
_TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_ENDS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = _O200K % (_ENDS, _ENDS) + r"|\p{N}{1,3}" + _TAIL
TEKKEN = _O200K % ("", "") + r"|\p{N}" + _TAIL
CL100K_SPECIALS = {"<|endoftext|>": 100257, "<|fim_prefix|>": 100258, "<|fim_middle|>": 100259, "<|fim_suffix|>": 100260,
                   "<|endofprompt|>": 100276}
P50K_SPECIALS = {"<|endoftext|>": 50256}

# rank files: pattern, special tokens, more arguments for dstok
RANKS = {
    "r50k_base.tiktoken": (R50K, P50K_SPECIALS, []), "p50k_base.tiktoken": (R50K, P50K_SPECIALS, []),
    "cl100k_base.tiktoken": (CL100K, CL100K_SPECIALS, []),
    "o200k_base.tiktoken": (O200K, {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}, []),
    "tekken_v3_ranks.tiktoken": (TEKKEN, {}, ["--pattern", "tekken"]), "qwen3_6.tiktoken": (None, None, []),
}
BATCH = 4 << 20
SEPARATOR = b"\x01\x02--next--\x02\x01"


def line_of(ids):
    return " ".join(map(str, ids))


# ---- the references, under one interface

class HuggingFace:
    """Policies: HF default = parse; encode_special_tokens = text; template = with add_special_tokens."""
    policies = ["parse", "text", "parse", "offsets", "template", "decode"]

    def __init__(self, path, args=()):
        from tokenizers import Tokenizer
        self.path, self.args = path, list(args)
        self.tokenizer = Tokenizer.from_file(path)
        with open(path, encoding="utf-8") as source:
            data = json.load(source)
        self.pipeline = hull.open_pipeline(path)
        added = self.tokenizer.get_added_tokens_decoder()  # the file's own numbers for them do not count
        self.pipeline.added = {number: token.normalized for number, token in added.items()}
        self.tokens = self.pipeline.tokens
        for number, token in added.items():
            self.tokens.setdefault(number, token.content.encode())  # an id may stand for a token of the model too
        self.byte_level = common.is_byte_level(data)
        self.words = self.tokens if self.byte_level else {
            number: token.replace("\u2581".encode(), b" ") for number, token in self.tokens.items()}
        self.specials = [one["content"] for one in data["added_tokens"]]
        self.notes = {}
        self.trims = '"trim_offsets": true' in json.dumps(data["post_processor"])
        decoders = json.dumps(data["decoder"])
        self.odd = {number for number, token in added.items() if self.decodes_oddly(number, token)}
        model = data["model"]
        if 0 <= decoders.find("ByteFallback") < decoders.find("Metaspace"):
            self.odd.add(model["vocab"].get("<0xE2>"))  # there three bytes make a U+2581, which becomes a blank
        has_affix = model.get("continuing_subword_prefix") or model.get("end_of_word_suffix")
        if hf_offsets() and not (has_affix and model.get("byte_fallback")):  # there the reference counts past the end
            self.policies = [*self.policies, "hf offsets"]

    def decodes_oddly(self, number, token):
        """Added tokens that the reference decodes to other bytes than their text (it takes a text of byte-level characters for
        bytes), or does not know as special any more (their normalised text is another)."""
        shown = common.byte_alphabet()
        as_bytes = self.byte_level and not token.content.isascii() and all(c in shown for c in token.content)
        return as_bytes or token.special and self.tokenizer.id_to_token(number) != token.content

    def encode(self, policy, batch):
        self.tokenizer.encode_special_tokens = policy == "text"
        return self.tokenizer.encode_batch_fast(batch, add_special_tokens=policy == "template")

    def ids(self, batch):
        return [one.ids for one in self.encode("parse", batch)]

    def lines(self, policy, batch):
        if "offsets" not in policy:
            return [line_of(one.ids) for one in self.encode(policy, batch)]
        self.tokenizer.encode_special_tokens = False
        return self.tokenizer.encode_batch(batch, add_special_tokens=False)

    def compare(self, policy, batch):
        """Numbers of the texts (or lists of ids) that differ."""
        if policy == "decode":
            return [k for k, (a, b) in enumerate(zip(*self.decoded(batch))) if a != b]
        theirs = self.lines(policy, batch)
        if policy in ("parse", "text", "template"):
            ours = dstok_lines(self.path, batch, *self.flags(policy), *self.args)
            return [k for k, (a, b) in enumerate(zip(ours, theirs)) if a != b]
        if policy == "hf offsets":
            ours = common.encode(self.path, batch, "--special", "parse", *HF_OFFSETS, *self.args)
            return [k for k, (a, b) in enumerate(zip(ours, theirs)) if a["spans"] != [list(one) for one in b.offsets]]
        ours = common.encode(self.path, batch, "--special", "parse", "--offsets", "char", *self.args)
        return [k for k, (a, b) in enumerate(zip(ours, theirs)) if not self.same_spans(batch[k], a, b)]

    @staticmethod
    def flags(policy):
        return ["--special", "text" if policy == "text" else "parse", *(["--add-special"] if policy == "template" else [])]

    def decoded(self, batch):
        """Half of the lists without special tokens."""
        batch = [[number for number in ids if number not in self.odd] for ids in batch]
        ours, theirs = [None] * len(batch), [None] * len(batch)
        for skip in (False, True):
            chosen = [k for k, ids in enumerate(batch) if (sum(ids) % 2 == 1) == skip]
            more = ["--skip-special"] if skip else []
            for k, one in zip(chosen, common.decode(self.path, [batch[k] for k in chosen], "--mode", "replace", *more)):
                ours[k] = one
            answers = self.tokenizer.decode_batch([batch[k] for k in chosen], skip_special_tokens=skip) if chosen else []
            for k, one in zip(chosen, answers):
                theirs[k] = one
        return ours, theirs

    def same_spans(self, text, ours, theirs):
        """Exact spans are judged by hull.py; those in the reference's own style have a policy of their own."""
        if ours["ids"] != theirs.ids:
            return False
        want = self.pipeline.spans(text, theirs.ids, [list(span) for span in theirs.offsets])
        if want is None or self.trims:
            return self.note("texts whose exact spans hull.py does not know")
        return ours["spans"] == want

    def note(self, what):
        self.notes[what] = self.notes.get(what, 0) + 1
        return True

    def show(self, policy, item):
        if policy == "decode":
            return [one[0] for one in self.decoded([item])]
        style = HF_OFFSETS if policy == "hf offsets" else ["--offsets", "char"]
        ours = common.encode(self.path, [item], *self.flags(policy), *style, *self.args)[0]
        one = self.lines(policy, [item])[0]
        return (ours, one) if "offsets" not in policy else (ours, {"ids": one.ids, "spans": one.offsets})


class Tiktoken:
    """Policies: encode_ordinary = plain; encode(allowed_special="all") = parse; _encode_bytes = plain with raw bytes.

    A file with a normaliser (in its meta file) is compared in plain only: the text is normalised by `tokenizers` first."""
    policies = ["plain", "parse", "raw", "plain", "parse"]

    def __init__(self, path, args=()):
        import tiktoken
        name = os.path.basename(path)
        pattern, specials, more = RANKS.get(name, (None, {}, []))
        self.normalise = None
        if pattern is None:
            with open(path + ".meta.json", encoding="utf-8") as source:
                meta = json.load(source)
            pattern, specials = meta["pattern"], meta["special_tokens"]
            if meta.get("normalizer"):
                import tokenizers.normalizers
                self.normalise = getattr(tokenizers.normalizers, meta["normalizer"])().normalize_str
                self.policies = ["plain"]
        self.path, self.args = path, more + list(args)
        with open(path, "rb") as source:
            ranks = dict((base64.b64decode(token), int(rank)) for token, rank in map(bytes.split, source))
        self.encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials)
        self.tokens = self.words = {rank: token for token, rank in ranks.items()}
        self.specials = list(specials)
        self.notes = {}
        self.shift = 0

    def lines(self, policy, batch):
        if policy == "raw":
            return [self.line(self.encoding._encode_bytes(data)) for data in batch]
        if policy == "parse":
            return [self.line(self.encoding.encode(text, allowed_special="all")) for text in batch]
        normalise = self.normalise or (lambda text: text)
        return [self.line(self.encoding.encode_ordinary(normalise(text))) for text in batch]

    def line(self, ids):
        return line_of(number + self.shift for number in ids)

    def compare(self, policy, batch):
        if policy == "raw":
            ours = dstok_raw(self.path, batch, *self.args)
        else:
            ours = dstok_lines(self.path, batch, "--special", policy, *self.args)
        return [k for k, (a, b) in enumerate(zip(ours, self.lines(policy, batch))) if a != b]

    def show(self, policy, text):
        ours = (dstok_raw(self.path, [text], *self.args) if policy == "raw" else
                dstok_lines(self.path, [text], "--special", policy, *self.args))
        return ours[0], self.lines(policy, [text])[0]


class Tekken(Tiktoken):
    """tekken.json through tiktoken: as mistral-common does it, control tokens are never found in text."""
    policies = ["plain", "raw"]

    def __init__(self, path, args=()):
        import tiktoken
        with open(path, encoding="utf-8") as source:
            data = json.load(source)
        config = data["config"]
        self.path, self.args, self.normalise, self.notes = path, list(args), None, {}
        self.shift = config["default_num_special_tokens"]
        rows = data["vocab"][:config["default_vocab_size"] - self.shift]
        ranks = {base64.b64decode(row["token_bytes"]): row["rank"] for row in rows}
        self.encoding = tiktoken.Encoding("tekken", pat_str=config["pattern"], mergeable_ranks=ranks, special_tokens={})
        self.tokens = self.words = {rank: token for token, rank in ranks.items()}
        self.specials = ["<s>", "</s>", "[INST]", "<unk>"]


# ---- dstok

HF_OFFSETS = ["--offsets", "hf"]


@functools.lru_cache
def hf_offsets():
    return b"none|hf" in common.run(["encode", "--help"]).stdout


def dstok_lines(path, batch, *args):
    done = common.run(["encode", "-q", "-j1", "-v", path, "--input-format", "jsonl", *args], common.jsonl(batch))
    return answers(done, len(batch))


def dstok_raw(path, batch, *args):
    escaped = "".join(f"\\x{byte:02x}" for byte in SEPARATOR)
    done = common.run(["encode", "-q", "-j1", "-v", path, "--doc-separator", escaped, "--invalid", "raw", "--special", "plain",
                       *args], SEPARATOR.join(batch))
    return answers(done, len(batch))


def answers(done, n):
    if done.returncode != 0:
        raise RuntimeError(f"dstok: exit {done.returncode}: {done.stderr.decode('utf-8', 'replace')[:500]}")
    lines = done.stdout.decode().split("\n")[:-1]
    if len(lines) != n:
        raise RuntimeError(f"dstok: {len(lines)} answers to {n} texts")
    return lines


# ---- one vocabulary

def shrink(reference, policy, text):
    """Leaves out stretches, from halves down to single characters, while the difference stays."""
    size = max(1, len(text) // 2)
    while True:
        cuts = range(0, len(text), size)
        shorter = [text[:k] + text[k + size:] for k in cuts][:500]
        differing = reference.compare(policy, shorter) if shorter else []
        if differing:
            text = shorter[differing[0]]
        elif size == 1:
            return text
        else:
            size //= 2


def make_batch(reference, maker, policy, size):
    if policy == "decode":
        return make_ids(reference, maker, size)
    if policy == "raw":
        return list(itertools.islice((data for data in iter(maker.broken, None) if SEPARATOR not in data), size // 250))
    return maker.batch(size if "offsets" not in policy else size // 4)


def make_ids(reference, maker, size):
    """Lists of ids: of texts, with some changed, and random ones."""
    rng, numbers = maker.rng, sorted(reference.tokens)
    batch = reference.ids(maker.batch(size // 8))
    for ids in batch[::2]:
        for _ in range(rng.randint(0, 4)):
            ids[rng.randrange(len(ids) + 1):rng.randrange(len(ids) + 1)] = [rng.choice(numbers)]
    return batch + [rng.choices(numbers, k=rng.randint(0, 12)) for _ in range(len(batch))]


def size_of(batch):
    return sum(len(one.encode()) if isinstance(one, str) else len(one) for one in batch)


def report(reference, policy, text):
    small = shrink(reference, policy, text)
    ours, theirs = reference.show(policy, small)
    return f"    {policy}: {small!r}\n      dstok     {str(ours)[:300]}\n      reference {str(theirs)[:300]}"


def check(reference, seed, total):
    """(bytes, strings, differences, lines to print)."""
    maker = generators.Texts(random.Random(seed), [token for _, token in sorted(reference.words.items()) if token],
                             reference.specials)
    n_bytes = n_strings = n_differ = 0
    shown = []
    for k in itertools.count():
        if n_bytes >= total:
            break
        policy = reference.policies[k % len(reference.policies)]
        size = min(BATCH, max(1 << 16, total // len(reference.policies)))
        batch = make_batch(reference, maker, policy, size)
        differing = reference.compare(policy, batch)
        n_differ += len(differing)
        shown += [report(reference, policy, batch[d]) for d in differing[:max(0, 3 - len(shown))]]
        n_bytes += size_of(batch)
        n_strings += len(batch)
    return n_bytes, n_strings, n_differ, shown


def open_reference(path):
    if path.endswith(".model"):
        return spm.SentencePiece(path)
    if path.endswith(".json"):
        return Tekken(path) if "tekken" in os.path.basename(path) else HuggingFace(path)
    return Tiktoken(path)


def work(task):
    name, path, seed, total = task
    start = time.monotonic()
    try:
        reference = open_reference(path)
        n_bytes, n_strings, n_differ, shown = check(reference, f"{seed} {name}", total)
    except BaseException as trouble:  # also a panic of the reference: a worker must say what it met, whatever that is
        return name, 1, f"  {name:34} FAILED: {type(trouble).__name__}: {trouble}"
    notes = "".join(f"\n    {count} {what}" for what, count in sorted(reference.notes.items()))
    return name, n_differ, (f"  {name:34} {n_bytes / 1e6:6.1f} MB {n_strings:7} strings {n_differ:5} differences "
                            f"{time.monotonic() - start:5.0f} s" + "".join("\n" + one for one in shown) + notes)


# ---- all

def fetched(known):
    """Vocabularies that tools/get-vocab brought, but for files that are known already: name, path."""
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    for path in sorted(glob.glob(os.path.join(home, "dstok", "vocab", "*", "*"))):
        if os.path.basename(path) == "tokenizer.json" or path.endswith(".tiktoken"):
            if not any(filecmp.cmp(path, other, shallow=False) for _, other in known) or os.path.exists(path + ".meta.json"):
                yield os.path.basename(os.path.dirname(path)) + " (fetched)", path


def is_later(path):
    done = common.run(["encode", "-v", path, *RANKS.get(os.path.basename(path), (0, 0, []))[2]], b"a")
    return done.stderr.decode("utf-8", "replace").strip() if done.returncode else None


def find(vocabularies):
    """(name, path) of all that can be compared now; the others are listed."""
    packed = sorted(glob.glob(os.path.join(common.SHARED, "vocab", "*.xz")))
    names = [os.path.basename(one)[:-3] for one in packed]
    here = [(name, vocabularies.path(name)) for name in names
            if name.endswith((".tokenizer.json", ".tiktoken", ".model")) or name.startswith("tekken")]
    for name in names:
        if name.endswith(".tiktoken.meta.json"):
            vocabularies.path(name)
    out = []
    for name, path in here + list(fetched(here)):
        later = is_later(path)
        if not later:
            out.append((name, path))
        elif "not supported" in later:
            print(f"  {name:34} later step: {later[later.index('not supported'):][:90]}")
        else:
            raise RuntimeError(f"{name} does not load: {later}")
    return out


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--mb", type=float, default=20)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--seed", default="1")
    options.add_argument("names", nargs="*")
    options = options.parse_args()
    try:
        import sentencepiece
        import tiktoken
        import tokenizers
    except ImportError as missing:
        common.skip(f"{missing}; run with a Python that has tokenizers 0.23.3, tiktoken 0.14.0, sentencepiece 0.2.3 (build/venv)")
    print(f"tokenizers {tokenizers.__version__}, tiktoken {getattr(tiktoken, '__version__', '?')}, sentencepiece "
          f"{sentencepiece.__version__}, seed {options.seed}")
    with common.Vocabularies() as vocabularies:
        tasks = [(name, path, options.seed, int(options.mb * 1e6)) for name, path in find(vocabularies)
                 if not options.names or any(wanted in name for wanted in options.names)]
        if not tasks and not options.names:
            common.skip("no vocabulary in ../shared/vocab")
        tasks.sort(key=lambda task: -os.path.getsize(task[1]))
        made = not options.names or "made" in options.names
        n_differ = 0
        with multiprocessing.Pool(options.jobs) as pool:
            running = [pool.imap_unordered(work, tasks)]
            if made:
                running.append(pool.imap_unordered(vary.work, vary.tasks(options.seed, vocabularies.folder, options.mb)))
                running.append(pool.imap_unordered(spm.work, spm.tasks(options.seed, vocabularies.folder, options.mb)))
            for name, differing, text in itertools.chain(*running):
                n_differ += differing
                print(text, flush=True)
    print(f"{len(tasks)} vocabularies, {n_differ} differences")
    return 1 if n_differ else 0


if __name__ == "__main__":
    sys.exit(main())
