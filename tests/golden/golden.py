# SPDX-License-Identifier: MIT
"""The dstok program against ../shared/golden: what the original tokenizers answered to 90 texts for each vocabulary.

Ids and spans under the policies that stand for each reference, template ids, decoded text. Spans of Hugging Face differ
from ours on purpose where a normaliser changed characters; such a difference must be the one rule `hull` below."""
import collections
import json
import lzma
import os
import sys

import common
import hull

# golden file: vocabulary
HUGGING_FACE = {
    "claude": "claude_nfkc.tokenizer.json", "deepseek_v3": "deepseek_v3.tokenizer.json",
    "deepseek_v4": "deepseek_v4.tokenizer.json", "gpt35turbo": "gpt35turbo.tokenizer.json",
    "gpt4o": "o200k_base.tiktoken",  # its own file is not there; equal to these ranks
    "gptoss": "gptoss.tokenizer.json", "llama3": "llama3_1.tokenizer.json", "llama3_1": "llama3_1.tokenizer.json",
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
# golden file: vocabulary (None: not there), what is missing. Until then dstok must refuse the file.
LATER = {
    "chatglm3": ("chatglm3.tokenizer.json", "SentencePiece-like BPE"),
    "clip": ("clip.tokenizer.json", "end_of_word_suffix"),
    "falcon": ("falcon.tokenizer.json", "Digits and Split behind ByteLevel"),
    "gemini": (None, "SentencePiece-like BPE"), "gemma3": ("gemma3.tokenizer.json", "SentencePiece-like BPE"),
    "mistral_v0_1_spm": ("mistral_v0_1_spm.tokenizer.json", "SentencePiece-like BPE"),
    "mistral_v3_spm_model": ("mistral_v3.spm.model", "SentencePiece .model files"),
    "nmt_unigram": ("nmt_unigram.tokenizer.json", "Unigram"),
    "phi-3-mini": ("phi-3-mini.tokenizer.json", "SentencePiece-like BPE"),
    "tekken_240911": ("tekken_240911.json", "tekken.json"),
}
NORMALIZERS = {"claude": "NFKC", "qwen2_5": "NFC", "qwen3": "NFC"}

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

def check_spans(name, row, ours, token_bytes, added):
    """Each span equals the reference's; or the token touches a character that the normaliser changed, and then ours is
    the hull of where it came from, worked out here, and the reference's is a head of it."""
    theirs, form = row["offsets"], NORMALIZERS.get(name)
    want = None
    if form and not added.intersection(row["ids"]):
        want = hull.spans(row["text"], form, [token_bytes[i] for i in row["ids"]])
        if want is None:
            rules["texts whose normal form Python's tables do not give"] += 1
    for k, (a, b) in enumerate(zip(theirs, ours)):
        if want is not None and b != want[k][0]:
            fail(name, row["label"], f"span {k}: not the hull", want[k][0], b)
        if a == b:
            rules["spans equal"] += 1
        elif want is not None and want[k][1] and a[0] == b[0] and a[1] < b[1]:
            rules["spans by rule hull"] += 1
        else:
            fail(name, row["label"], f"span {k}", a, b)


def check_hugging_face(name, rows, vocab):
    texts = [row["text"] for row in rows]
    want = [row["ids"] for row in rows]
    is_json = vocab.endswith(".json")
    token_bytes, added, special = common.read_tokens(vocab) if is_json else ({}, set(), set())
    got = common.encode(vocab, texts, "--special", "parse", "--offsets", "char")
    compare(name, rows, "ids", want, [one["ids"] for one in got])
    for row, one in zip(rows, got):
        if row["ids"] == one["ids"]:
            check_spans(name, row, one["spans"], token_bytes, added)
    if name not in ("llama3", "gpt4o"):  # files of other tokenizers: no template, or another
        got = common.encode(vocab, texts, "--special", "parse", "--add-special", "--offsets", "none")
        compare(name, rows, "ids with template", [row.get("ids_with_special", row["ids"]) for row in rows],
                [one["ids"] for one in got])
    for one, row in zip(common.encode(vocab, texts, "--offsets", "none"), rows):
        if special.intersection(one["ids"]):
            fail(name, row["label"], "special tokens under --special safe", [], one["ids"])
    check_decoding(name, rows, vocab, want)


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


# ---- all

def check_later(name, vocab, why):
    print(f"  {name:24} later step: {why}")
    if vocab is None:
        return
    done = common.run(["encode", "-v", vocab, "--input-format", "jsonl"], common.jsonl(["a"]))
    if done.returncode == 0 or b"not supported" not in done.stderr:
        fail(name, "-", "must be refused with a word that it is not supported", "exit 1", (done.returncode, done.stderr))


def check_one(name, rows, vocabularies):
    if name in HUGGING_FACE:
        vocab = vocabularies.path(HUGGING_FACE[name])
        if vocab is None:
            return False
        check_hugging_face(name, rows, vocab)
    else:
        file, args, has_specials = TIKTOKEN[name]
        vocab = vocabularies.path(file)
        vocabularies.path(file + ".meta.json")
        if vocab is None:
            return False
        check_tiktoken(name, rows, vocab, args, has_specials)
        if name == "qwen3_6":
            check_qwen_package(rows, vocabularies)
    return True


def main():
    done = 0
    with common.Vocabularies() as vocabularies:
        for name in sorted(list(HUGGING_FACE) + list(TIKTOKEN)):
            rows, before = read_rows(name), failures
            if rows is None or not check_one(name, rows, vocabularies):
                print(f"  {name:24} SKIPPED: not in ../shared")
                continue
            done += 1
            print(f"  {name:24} {len(rows)} texts, {failures - before} differences", flush=True)
        if done == 0:
            common.skip("no golden vectors in ../shared/golden")
        for name, (file, why) in sorted(LATER.items()):
            check_later(name, vocabularies.path(file) if file else None, why)
    for rule, count in rules.items():
        print(f"  {count:8} {rule}")
    print(f"{done} vocabularies, {len(LATER)} later, {failures} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
