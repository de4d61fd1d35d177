# SPDX-License-Identifier: MIT
"""The dstok program against ../shared/golden: what the original tokenizers answered to 90 texts for each vocabulary.

Ids and spans under the policies that stand for each reference, template ids, decoded text; ids once more without
scanners and cuts; and all of it again from the compiled .dstok file. Exact spans must be what hull.py works out; those
of --offsets hf are the reference's own."""
import collections
import functools
import json
import lzma
import os
import sys

import common
import gguf
import hull

# golden file: vocabulary
HUGGING_FACE = {
    "chatglm3": "chatglm3.tokenizer.json", "claude": "claude_nfkc.tokenizer.json", "clip": "clip.tokenizer.json",
    "deepseek_v3": "deepseek_v3.tokenizer.json",
    "deepseek_v4": "deepseek_v4.tokenizer.json", "falcon": "falcon.tokenizer.json",
    "gemma3": "gemma3.tokenizer.json", "gpt35turbo": "gpt35turbo.tokenizer.json",
    "gpt4o": "o200k_base.tiktoken",  # its own file is not there; equal to these ranks
    "gptoss": "gptoss.tokenizer.json", "llama3": "llama3_1.tokenizer.json", "llama3_1": "llama3_1.tokenizer.json",
    "mistral_v0_1_spm": "mistral_v0_1_spm.tokenizer.json", "phi-3-mini": "phi-3-mini.tokenizer.json",
    "qwen2_5": "qwen2_5.tokenizer.json", "qwen3": "qwen3.tokenizer.json", "smollm2": "smollm2.tokenizer.json",
    "phi-2": "phi-2.tokenizer.json", "whisper_large_v3": "whisper_large_v3.tokenizer.json",
}
# golden file: vocabulary, more arguments, has special tokens
TIKTOKEN = {
    "r50k_base": ("r50k_base.tiktoken", [], True), "p50k_base": ("p50k_base.tiktoken", [], True),
    "cl100k_base": ("cl100k_base.tiktoken", [], True), "o200k_base": ("o200k_base.tiktoken", [], True),
    "qwen3_6": ("qwen3_6.tiktoken", [], False), "tekken_v3_ranks": ("tekken_v3_ranks.tiktoken", ["--pattern", "tekken"], False),
    "kimi_pattern_on_o200k": ("o200k_base.tiktoken", ["--pattern", common.KIMI], False),
}
# golden file: vocabulary, policy that stands for the reference
MISTRAL = {
    "tekken_240911": ("tekken_240911.json", "plain"),  # mistral-common: control tokens are never found in text
    "mistral_v3_spm_model": ("mistral_v3.spm.model", "parse"),  # user-defined pieces are, control pieces are not
}
# golden file: vocabulary, words of the message
REFUSED = {"nmt_unigram": ("nmt_unigram.tokenizer.json", [b"not supported", b"Unigram"])}
NO_FILE = {"gemini": "its vocabulary file is not in ../shared/vocab"}
HF_OFFSETS = ["--offsets", "hf"]

failures = 0
rules = collections.Counter()


def fail(name, label, what, want, got):
    global failures
    failures += 1
    if failures <= 20:
        print(f"FAIL {name} {label}: {what}\n  want {str(want)[:300]}\n  got  {str(got)[:300]}")


def compare(name, rows, what, want, got):
    for row, w, g in zip(rows, want, got):
        rules["values compared"] += 1
        if w != g:
            fail(name, row["label"], what, w, g)


def read_rows(name):
    path = os.path.join(common.SHARED, "golden", name + ".jsonl.xz")
    if not os.path.exists(path):
        return None
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


# ---- spans of Hugging Face

def check_spans(name, row, ours, pipeline):
    """Each span is what hull.py works out. Where that does not know, it equals the reference's."""
    want = pipeline.spans(row["text"], row["ids"], row["offsets"]) if pipeline else None
    if want is None:
        rules["texts whose spans hull.py does not know"] += 1
    for k, (theirs, span) in enumerate(zip(row["offsets"], ours)):
        rules["spans equal to the reference's" if theirs == span else "spans unlike the reference's"] += 1
        if span != (want[k] if want else theirs):
            fail(name, row["label"], f"span {k}", want[k] if want else theirs, span)


def check_hugging_face(name, rows, vocab):
    texts = [row["text"] for row in rows]
    want = [row["ids"] for row in rows]
    pipeline, special = None, set()
    if vocab.endswith(".json"):
        pipeline, special = hull.open_pipeline(vocab), common.read_tokens(vocab)[2]
    got = common.encode(vocab, texts, "--special", "parse", "--offsets", "char")
    compare(name, rows, "ids", want, [one["ids"] for one in got])
    for row, one in zip(rows, got):
        if row["ids"] == one["ids"]:
            check_spans(name, row, one["spans"], pipeline)
    if name not in ("llama3", "gpt4o"):  # files of other tokenizers: no template, or another
        got = common.encode(vocab, texts, "--special", "parse", "--add-special", "--offsets", "none")
        compare(name, rows, "ids with template", [row.get("ids_with_special", row["ids"]) for row in rows],
                [one["ids"] for one in got])
    for one, row in zip(common.encode(vocab, texts, "--offsets", "none"), rows):
        if special.intersection(one["ids"]):
            fail(name, row["label"], "special tokens under --special safe", [], one["ids"])
    check_slow(name, rows, vocab, "parse")
    check_hf_offsets(name, rows, vocab)
    check_decoding(name, rows, vocab, want)
    check_compiled(name, rows, vocab)


def check_hf_offsets(name, rows, vocab):
    """--offsets hf: the reference's spans themselves, without exception."""
    if not has_hf_offsets():
        return
    got = common.encode(vocab, [row["text"] for row in rows], "--special", "parse", *HF_OFFSETS)
    compare(name, rows, "spans in the reference's style", [row["offsets"] for row in rows], [one["spans"] for one in got])


@functools.lru_cache
def has_hf_offsets():
    known = b"none|hf" in common.run(["encode", "--help"]).stdout
    if not known:
        print("  spans in the reference's style: later step")
    return known


# ---- the slow way

def check_slow(name, rows, vocab, policy, *args):
    """Pretoken by pretoken, without exact cuts and without a cache: the same ids."""
    got = common.encode(vocab, [row["text"] for row in rows], "--no-scanner", "--special", policy, "--offsets", "none", *args)
    compare(name, rows, "ids without scanner and cuts", [row["ids"] for row in rows], [one["ids"] for one in got])


# ---- compiled files

def check_compiled(name, rows, vocab, *args):
    """The .dstok file gives the same ids, spans, flags and decoding."""
    texts, ids = [row["text"] for row in rows], [row["ids"] for row in rows]
    fast = common.compiled(vocab, *args)
    for policy in ("safe", "parse"):
        more = ["--special", policy, "--add-special", "--offsets", "byte", "--pieces"]
        compare(name, rows, f"compiled, --special {policy}", common.encode(vocab, texts, *more, *args),
                common.encode(fast, texts, *more))
    for more in ([], ["--skip-special"]):
        compare(name, rows, "compiled, decoded", common.decode(vocab, ids, "--mode", "replace", *more, *args),
                common.decode(fast, ids, "--mode", "replace", *more))


def check_decoding(name, rows, vocab, ids):
    decoded = [row.get("decoded", row["text"]) for row in rows]
    compare(name, rows, "decoded", decoded, common.decode(vocab, ids, "--mode", "replace"))
    compare(name, rows, "decoded without special tokens",
            [row.get("decoded_skip_special", d) for row, d in zip(rows, decoded)],
            common.decode(vocab, ids, "--mode", "replace", "--skip-special"))


# ---- tiktoken

def check_tiktoken(name, rows, vocab, args, has_specials):
    texts = [row["text"] for row in rows]
    want = [row["ids"] for row in rows]
    got = common.encode(vocab, texts, "--special", "plain", "--offsets", "byte", *args)
    compare(name, rows, "ids", want, [one["ids"] for one in got])
    compare(name, rows, "byte spans", [row["offsets"] for row in rows], [one["spans"] for one in got])
    compare(name, rows, "decoded", texts, common.decode(vocab, want, "--mode", "replace", *args))
    check_slow(name, rows, vocab, "plain", *args)
    if has_specials:
        got = common.encode(vocab, texts, "--special", "parse", "--offsets", "none", *args)
        compare(name, rows, "ids with all special tokens allowed",
                [row.get("ids_allowed_special_all", row["ids"]) for row in rows], [one["ids"] for one in got])
        check_raising(name, rows, vocab)


def check_raising(name, rows, vocab):
    """encode() of tiktoken with its defaults raises on special tokens; so does --special error."""
    calm = [row for row in rows if "default_encode_raises" not in row]
    got = common.encode(vocab, [row["text"] for row in calm], "--special", "error", "--offsets", "none")
    compare(name, calm, "ids under --special error", [row["ids"] for row in calm], [one["ids"] for one in got])
    for row in rows:
        if "default_encode_raises" not in row:
            continue
        rules["texts that must be refused"] += 1
        done = common.run(["encode", "-v", vocab, "--input-format", "jsonl", "--special", "error"],
                          common.jsonl([row["text"]]))
        if done.returncode != 1 or b"token" not in done.stderr:
            fail(name, row["label"], "--special error", "exit 1", (done.returncode, done.stderr))


def check_qwen_package(rows, vocabularies):
    """The package normalises first; the meta file may say so."""
    with open(vocabularies.path("qwen3_6.tiktoken.meta.json"), encoding="utf-8") as source:
        meta = json.load(source)
    meta["normalizer"] = "NFC"
    os.makedirs(os.path.join(vocabularies.folder, "nfc"))
    vocab = os.path.join(vocabularies.folder, "nfc", "qwen.tiktoken")
    os.link(vocabularies.path("qwen3_6.tiktoken"), vocab)
    vocabularies.write("nfc/qwen.tiktoken.meta.json", json.dumps(meta))
    got = common.encode(vocab, [row["text"] for row in rows], "--special", "plain", "--offsets", "none")
    compare("qwen3_6", rows, "ids of the package", [row.get("ids_package_nfc", row["ids"]) for row in rows],
            [one["ids"] for one in got])


# ---- mistral-common and SentencePiece

def check_mistral(name, rows, vocab, policy):
    texts, want = [row["text"] for row in rows], [row["ids"] for row in rows]
    for one in {policy, "plain"} - ({"plain"} if name == "mistral_v3_spm_model" else set()):
        got = common.encode(vocab, texts, "--special", one, "--offsets", "byte")
        compare(name, rows, "ids", want, [one["ids"] for one in got])
        spans = [common.sentencepiece_spans(row["text"], one["spans"]) if policy == "parse" else one["spans"]
                 for row, one in zip(rows, got)]
        compare(name, rows, "byte spans", [row["offsets"] for row in rows], spans)
    compare(name, rows, "decoded", [row.get("decoded", row["text"]) for row in rows],
            common.decode(vocab, want, "--mode", "replace"))
    check_slow(name, rows, vocab, policy)
    check_compiled(name, rows, vocab)


# ---- GGUF

def check_gguf_files(vocabularies):
    """The one that is there, and files that gguf.py makes of other vocabularies."""
    for name, source, make in gguf.SOURCES:
        rows, before = read_rows(name), failures
        path = vocabularies.path(source)
        if rows is None or path is None:
            print(f"  {name + ' (GGUF)':28} SKIPPED: not in ../shared")
            continue
        if make:
            path, source = path + ".gguf", path
            with open(path, "wb") as target:
                target.write(make(source))
        check_gguf(name, rows, path)
        print(f"  {name + ' (GGUF)':28} {len(rows)} texts, {failures - before} differences", flush=True)


def check_gguf(name, rows, path):
    texts, want = [row["text"] for row in rows], [row["ids"] for row in rows]
    policy = "text" if name == gguf.SENTENCEPIECE else "parse"
    got = common.encode(path, texts, "--special", policy, "--offsets", "none")
    compare(name + " (GGUF)", rows, "ids", want, [one["ids"] for one in got])
    compare(name + " (GGUF)", rows, "decoded", [row.get("decoded", row["text"]) for row in rows],
            common.decode(path, want, "--mode", "replace"))
    check_slow(name + " (GGUF)", rows, path, policy)
    check_compiled(name + " (GGUF)", rows, path)


# ---- all

def check_refused(vocabularies):
    for name, (file, words) in REFUSED.items():
        vocab = vocabularies.path(file)
        if vocab is None:
            continue
        for verb in ("encode", "decode", "compile"):
            more = ["-o", vocab + ".dstok"] if verb == "compile" else []
            done = common.run([verb, "-v", vocab, *more], b"a" if verb == "encode" else b"1")
            if done.returncode not in (1, 2) or not all(word in done.stderr for word in words):
                fail(name, verb, "must be refused", words, (done.returncode, done.stderr))
        print(f"  {name:28} refused: {words[-1].decode()}")
    for name, why in NO_FILE.items():
        print(f"  {name:28} not checked: {why}")


def check_one(name, rows, vocabularies):
    if name in HUGGING_FACE:
        vocab = vocabularies.path(HUGGING_FACE[name])
        if vocab is not None:
            check_hugging_face(name, rows, vocab)
        return vocab is not None
    if name in MISTRAL:
        file, policy = MISTRAL[name]
        vocab = vocabularies.path(file)
        if vocab is not None:
            check_mistral(name, rows, vocab, policy)
        return vocab is not None
    file, args, has_specials = TIKTOKEN[name]
    vocab = vocabularies.path(file)
    vocabularies.path(file + ".meta.json")
    if vocab is None:
        return False
    check_tiktoken(name, rows, vocab, args, has_specials)
    check_compiled(name, rows, vocab, *args)
    if name == "qwen3_6":
        check_qwen_package(rows, vocabularies)
    return True


def main():
    done = 0
    with common.Vocabularies() as vocabularies:
        names = sorted([*HUGGING_FACE, *TIKTOKEN, *MISTRAL])
        for name in [one for one in names if one in sys.argv[1:] or not sys.argv[1:]]:
            rows, before = read_rows(name), failures
            try:
                found = rows is not None and check_one(name, rows, vocabularies)
            except RuntimeError as trouble:
                found = True
                fail(name, "-", "dstok failed", "", trouble)
            if not found:
                print(f"  {name:28} SKIPPED: not in ../shared")
                continue
            done += 1
            print(f"  {name:28} {len(rows)} texts, {failures - before} differences", flush=True)
        if done == 0:
            common.skip("no golden vectors in ../shared/golden")
        if not sys.argv[1:]:
            check_gguf_files(vocabularies)
            check_refused(vocabularies)
    for rule, count in rules.items():
        print(f"  {count:8} {rule}")
    print(f"{done} vocabularies, {failures} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
