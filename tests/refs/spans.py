# SPDX-License-Identifier: MIT
"""`dstok encode --offsets hf` against the offsets of Hugging Face tokenizers: made-up files and real vocabularies.

    DSTOK_BIN=build/release/bin/dstok build/venv/bin/python tests/refs/spans.py [--files N] [--texts N] [--seed N] [--made] [PATH...]
Without PATH: N made-up files, of the kinds of vary.py with post_processors that trim spans, then the vocabularies in ../shared;
with --made only the made-up ones.
Each text is encoded with and without the template. Of a difference the smallest text that shows it is printed with the file.
Texts that the reference panics on, or takes apart into other ids, are only counted, and so are files with which it takes all
the memory that it can get. Exit 1 on a difference."""
import argparse
import collections
import glob
import json
import multiprocessing
import os
import random
import resource
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "golden"), os.path.join(HERE, "..", "regress"), HERE]
os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ["RUST_BACKTRACE"] = "0"
import common  # noqa: E402
import texts as generators  # noqa: E402
import vary  # noqa: E402
import vary_chars  # noqa: E402

BLANKS = [" ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u3000", "\u2028", "\u0085", "\u200b", "\u2003"]
MARKS = ["\u0301", "\u0323", "\u0345", "\u05b0", "\u093c", "\u3099", "\u20d0", "\U0001d165"]
OTHERS = ["\u4f60\u597d", "\U0001f468\u200d\U0001f469", "\U0001f600", "\ufb03", "\u2460", "\u00bd", "\uac00", "\u1100\u1161", "\u0130",
          "\u00df", "\u1e9e", "\x00", "\x07", "\x7f", "\u00ad", "\ufeff", "\ufffd", "\u2581", "\u0120", "\u212b", "\u03a3", "\u0958",
          "l", "lo", "hello", " hello", "12", "'s", "!", "</w>", "x", "_", "##"]


def post_processor(rng, vocab):
    """Trims spans, mostly; ids of the template are any."""
    trim = {"trim_offsets": rng.random() < 0.7, "add_prefix_space": rng.random() < 0.5}
    byte_level = dict(trim, type="ByteLevel", use_regex=True)
    first, last = rng.choice(sorted(vocab)), rng.choice(sorted(vocab))
    pair = [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}]
    template = {"type": "TemplateProcessing", "pair": pair,
                "single": [{"SpecialToken": {"id": first, "type_id": 0}}, pair[0], {"SpecialToken": {"id": last, "type_id": 0}}],
                "special_tokens": {key: {"id": key, "ids": [vocab[key]], "tokens": [key]} for key in {first, last}}}
    roberta = dict(trim, type="RobertaProcessing", sep=[last, vocab[last]], cls=[first, vocab[first]])
    bert = {"type": "BertProcessing", "sep": [last, vocab[last]], "cls": [first, vocab[first]]}
    parts = rng.choice([[byte_level, template], [byte_level, bert], [template, byte_level], [template]])
    return rng.choice([None, byte_level, byte_level, roberta, roberta, template, bert, {"type": "Sequence", "processors": parts}])


def made_file(rng, precompiled=None):
    """The text of a tokenizer.json. precompiled: a normalizer that some get."""
    data = json.loads(vary.random_tokenizer(rng)[0])
    if precompiled and rng.random() < 0.15:
        more = [vary_chars.normalizer(rng) for _ in range(rng.randint(0, 1))]
        data["normalizer"] = {"type": "Sequence", "normalizers": rng.choice([more + [precompiled], [precompiled] + more])}
    data["post_processor"] = post_processor(rng, data["model"]["vocab"])
    return json.dumps(data)


def random_text(rng, contents):
    pool = rng.choice([BLANKS + vary.WORDS, MARKS + vary.WORDS, OTHERS, BLANKS + MARKS + OTHERS + vary.WORDS]) + contents
    pool += vary_chars.CHARS if rng.random() < 0.3 else []
    return "".join(rng.choices(pool, k=rng.choice((1, 2, 4, 8, 20))))


def find_precompiled(vocabularies):
    """A character map of SentencePiece, which only real files have."""
    path = vocabularies.path("nmt_unigram.tokenizer.json")
    if path is None:
        print("note: ../shared/vocab has no nmt_unigram: no made-up file has a Precompiled normalizer")
        return None
    with open(path, encoding="utf-8") as source:
        return json.load(source)["normalizer"]


# ---- comparison

MEMORY = 4 << 30  # all that the reference gets


class Reference:
    """The offsets and ids of both; counts holds what was not compared."""

    def __init__(self, path):
        from tokenizers import Tokenizer
        self.path = path
        self.tokenizer = Tokenizer.from_file(path)
        self.counts = collections.Counter()

    def ours(self, batch, template):
        return common.encode(self.path, batch, "--special", "parse", "--offsets", "hf", *(["--add-special"] if template else []))

    def theirs(self, text, template):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
        try:
            one = self.tokenizer.encode(text, add_special_tokens=template)
        except BaseException as trouble:  # a panic is no Exception
            if isinstance(trouble, KeyboardInterrupt):
                raise
            return None
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return one.ids, [list(span) for span in one.offsets]

    def compare(self, batch, template):
        """Numbers of the texts that differ."""
        out = []
        for k, (text, ours) in enumerate(zip(batch, self.ours(batch, template))):
            theirs = self.theirs(text, template)
            what = "panics" if theirs is None else "other ids" if theirs[0] != ours["ids"] else "texts"
            self.counts[what] += 1
            if what == "texts" and theirs[1] != ours["spans"]:
                out.append(k)
        return out

    def shrink(self, text, template):
        size = max(1, len(text) // 2)
        while True:
            shorter = [text[:k] + text[k + size:] for k in range(0, len(text), size)][:500]
            differing = self.compare(shorter, template) if shorter else []
            if differing:
                text = shorter[differing[0]]
            elif size == 1:
                return text
            else:
                size //= 2

    def show(self, text, template):
        counts = self.counts.copy()
        text = self.shrink(text, template)
        ours, theirs = self.ours([text], template)[0], self.theirs(text, template)
        self.counts = counts
        return (f"    {text!r} {'with' if template else 'without'} template\n      ids       {theirs[0][:40]}\n"
                f"      dstok     {ours['spans'][:40]}\n      reference {theirs[1][:40]}")


def check(reference, batch):
    """(differences, lines to print)."""
    n, shown = 0, []
    for template in (False, True):
        differing = reference.compare(batch, template)
        n += len(differing)
        shown += [reference.show(batch[k], template) for k in differing[:1]]
    return n, shown


def describe(data):
    vocab = data["model"].pop("vocab")
    data["model"]["keys"] = [key for key in vocab if not key.startswith("<0x") and len(key) > 1 or vocab[key] > 300][:50]
    data["added_tokens"] = [{k: v for k, v in one.items() if v is not False} for one in data["added_tokens"]]
    return json.dumps({k: v for k, v in data.items() if k not in ("version", "truncation", "padding", "decoder")}, ensure_ascii=False)


def made(seed, options, folder):
    """What one made-up file gave: counts, differences and lines to print."""
    rng = random.Random(f"{options.seed} {seed}")
    text = made_file(rng, options.precompiled)
    path = os.path.join(folder, f"made{seed}.json")
    with open(path, "w", encoding="utf-8") as target:
        target.write(text)
    if vary.refusal(path):
        return {"files refused": 1}, 0, []
    try:
        reference = Reference(path)
    except BaseException:  # also a panic
        return {"files the reference refuses": 1}, 0, []
    data = json.loads(text)
    model = data["model"]
    if model["byte_fallback"] and (model["continuing_subword_prefix"] or model["end_of_word_suffix"]):
        return {"files whose spans mean nothing": 1}, 0, []  # the reference counts bytes that it fell back on in affixes
    contents = [one["content"] for one in data["added_tokens"]]
    n, shown = check(reference, [random_text(rng, contents) for _ in range(options.texts)])
    os.unlink(path)
    return {"files": 1, **reference.counts}, n, shown + ["    " + describe(data)]


def made_apart(seed, options, folder, total):
    """In a process of its own, which the reference may end. Gives the differences."""
    def work():
        vary.quiet()
        try:
            sender.send(made(seed, options, folder))
        except BaseException as trouble:  # dstok failed, or this script
            sender.send(({"FAILED": 1}, 1, [f"    {type(trouble).__name__}: {trouble}"]))

    receiver, sender = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    sender.close()
    try:
        counts, n, shown = receiver.recv()
    except EOFError:
        counts, n, shown = {"files that end the reference": 1}, 0, []
    process.join()
    total.update(counts)
    if n:
        print(f"  made {seed}: {n} differences", *shown, sep="\n", flush=True)
    return n


def real(path, options, total):
    rng = random.Random(options.seed)
    try:
        reference = Reference(path)
    except Exception as trouble:
        print(f"  {os.path.basename(path)}: {str(trouble)[:80]}")
        return 0
    if vary.refusal(path):
        print(f"  {os.path.basename(path)}: {vary.refusal(path)[-100:]}")
        return 0
    with open(path, encoding="utf-8") as source:
        contents = [one["content"] for one in json.load(source)["added_tokens"]]
    tokens = [token.encode() for token in sorted(reference.tokenizer.get_vocab())]
    maker = generators.Texts(rng, tokens, contents)
    batch = [maker.one()[:1500] for _ in range(options.texts)]
    batch += [random_text(rng, rng.sample(contents, min(5, len(contents)))) for _ in range(options.texts)]
    n, shown = check(reference, batch)
    print(f"  {os.path.basename(path)}: {dict(reference.counts)} {n} differences", *shown, sep="\n", flush=True)
    total.update(reference.counts)
    return n


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--files", type=int, default=300)
    options.add_argument("--texts", type=int, default=100)
    options.add_argument("--seed", default="1")
    options.add_argument("--only", help="one made-up file, by its number")
    options.add_argument("--made", action="store_true", help="no real vocabularies")
    options.add_argument("paths", nargs="*")
    options = options.parse_args()
    vary.need_tokenizers()
    total, n = collections.Counter(), 0
    with common.Vocabularies() as vocabularies:
        options.precompiled = find_precompiled(vocabularies)
        numbers = [options.only] if options.only else range(0 if options.paths else options.files)
        for seed in numbers:
            n += made_apart(seed, options, vocabularies.folder, total)
        paths = options.paths
        if not paths and not options.only and not options.made:
            paths = [vocabularies.path(os.path.basename(one)[:-3])
                     for one in sorted(glob.glob(os.path.join(common.SHARED, "vocab", "*.tokenizer.json.xz")))]
        for path in paths:
            n += real(path, options, total)
    print(f"{dict(total)}; {n} differences")
    return 1 if n or total["texts"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
