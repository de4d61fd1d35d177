# SPDX-License-Identifier: MIT
"""Made-up tokenizer.json files of the SentencePiece kind: models of characters with holes, any normalizer, any pre_tokenizer,
any decoder, in random combinations. What dstok does not support it must refuse with a word that says so."""
import json

META = "\u2581"
CHARS = ["a", "b", "l", "o", "h", "e", "x", META, "1", "2", "\u00e9", "\u4f60", "\u597d", "'", "!", "X", " ", "\n", "\U0001f600", "\u0301", "<"]
ADDED = ["<s>", "</s>", "<unk>", "lo", META + "x", "b", "a b", "\u00c9", "[END]", "  ", "\n", "<|a|>", "<|a|><|b|>", " x", "1"]


def pick(rng, chance=0.5):
    return rng.random() < chance


# ---- the model

def model(rng):
    chars = [c for c in CHARS if not pick(rng, 0.15)]
    prefix = rng.choice(["", "", "", "##", "@"]) or None
    suffix = rng.choice(["", "", "", "</w>", "_"]) or None
    fallback = pick(rng, 0.6)
    vocab = {}
    if pick(rng, 0.8):
        vocab.update({"<unk>": 0, "<s>": 1, "</s>": 2})
    hole = rng.choice([0.0, 0.0, 0.1, 1.0])  # of the byte tokens
    for byte in range(256):
        if not pick(rng, hole):
            vocab[f"<0x{byte:02X}>"] = len(vocab)
    for c in chars:
        for key in dict.fromkeys([c, (prefix or "") + c, c + (suffix or ""), (prefix or "") + c + (suffix or "")]):
            if key == c or pick(rng, 0.7):
                vocab.setdefault(key, len(vocab))
    merges = make_merges(rng, vocab, prefix)
    unk = "<unk>" if "<unk>" in vocab and pick(rng, 0.7) else rng.choice(chars) if pick(rng, 0.3) else None
    return {"type": "BPE", "dropout": None, "unk_token": unk, "continuing_subword_prefix": prefix, "end_of_word_suffix": suffix,
            "fuse_unk": pick(rng), "byte_fallback": fallback, "ignore_merges": pick(rng, 0.2), "vocab": vocab, "merges": merges}


def make_merges(rng, vocab, prefix):
    """Of tokens, of bytes, of products; some twice; a product is left and right without the prefix."""
    parts, merges = [key for key in vocab if not key.startswith("<0x")], []
    some_bytes = [key for key in ("<0xC3>", "<0xA9>", "<0xE4>", "<0xBD>", "<0xA0>", "<0x20>", "<0x0A>") if key in vocab]
    parts += some_bytes * 2
    for _ in range(rng.randint(0, 60)):
        left, right = rng.choice(parts), rng.choice(parts)
        if prefix and not right.startswith(prefix):
            continue  # the reference cuts so many bytes off whatever stands there
        product = left + right[len(prefix or ""):]
        if len(product) > 24:
            continue
        vocab.setdefault(product, len(vocab))
        parts.append(product)
        merges.append([left, right])
    if merges and pick(rng, 0.2):
        merges += rng.choices(merges, k=3)
    return merges


# ---- around it

def normalizer(rng, depth=0):
    one = rng.choice([
        {"type": "Prepend", "prepend": META}, {"type": "Prepend", "prepend": rng.choice(["x", "a ", "\u4f60"])},
        {"type": "Replace", "pattern": {"String": " "}, "content": META},
        {"type": "Replace", "pattern": {"String": rng.choice(["l", "ab", "\u00e9", META, "aa"])}, "content": rng.choice(["", "x", "oo", META])},
        {"type": "Replace", "pattern": {"Regex": rng.choice([r"\s+", r" {2,}", r"[ab]", r"l+(?=o)", r"^a", r"x$", r"\p{L}{2}", r"b*"])},
         "content": rng.choice([" ", "", META, "ab"])},
        {"type": "NFC"}, {"type": "NFD"}, {"type": "NFKC"}, {"type": "NFKD"}, {"type": "Lowercase"}, {"type": "StripAccents"}, {"type": "Nmt"},
        {"type": "Strip", "strip_left": pick(rng), "strip_right": pick(rng)},
        {"type": "BertNormalizer", "clean_text": pick(rng), "handle_chinese_chars": pick(rng),
         "strip_accents": rng.choice([None, True, False]), "lowercase": pick(rng)}])
    if depth == 0 and pick(rng, 0.35):
        return {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": META},
                                                    {"type": "Replace", "pattern": {"String": " "}, "content": META}]}
    if depth < 2 and pick(rng, 0.4):
        return {"type": "Sequence", "normalizers": [normalizer(rng, depth + 1) for _ in range(rng.randint(0, 3))]}
    return one


def metaspace(rng):
    scheme = rng.choice(["always", "first", "never"])
    return {"type": "Metaspace", "replacement": rng.choice([META, META, META, "_", "\u4f60"]), "prepend_scheme": scheme, "split": pick(rng)}


def pre_tokenizer(rng, depth=0):
    behaviors = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
    one = rng.choice([
        metaspace(rng), metaspace(rng), {"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"},
        {"type": "Punctuation", "behavior": rng.choice(behaviors)}, {"type": "Digits", "individual_digits": pick(rng)},
        {"type": "CharDelimiterSplit", "delimiter": rng.choice(["l", " ", META, "\u4f60"])}, {"type": "UnicodeScripts"},
        {"type": "FixedLength", "length": rng.randint(1, 4)},
        {"type": "Split", "pattern": rng.choice([{"String": " "}, {"String": META}, {"String": "lo"}, {"Regex": r"\s+"}, {"Regex": "[ab]+"},
                                                 {"Regex": r"\p{L}+(?! )"}, {"Regex": "^.|x$"}, {"String": "\n"}]),
         "behavior": rng.choice(behaviors), "invert": pick(rng, 0.3)}])
    if depth < 2 and pick(rng, 0.35):
        return {"type": "Sequence", "pretokenizers": [pre_tokenizer(rng, depth + 1) for _ in range(rng.randint(0, 3))]}
    return one


def byte_level_pre_tokenizer(rng):
    """ByteLevel anywhere in a sequence; what stands behind it sees its alphabet."""
    parts = [pre_tokenizer(rng, 2) for _ in range(rng.randint(0, 2))]
    parts.insert(rng.randint(0, len(parts)), {"type": "ByteLevel", "add_prefix_space": pick(rng, 0.3), "trim_offsets": pick(rng),
                                              "use_regex": pick(rng)})
    return {"type": "Sequence", "pretokenizers": parts}


def decoder(rng, suffix):
    replace = {"type": "Replace", "pattern": {"String": META}, "content": " "}
    usual = [replace, {"type": "ByteFallback"}, {"type": "Fuse"}]
    return rng.choice([
        {"type": "Sequence", "decoders": usual}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Sequence", "decoders": usual + [{"type": "Strip", "content": " ", "start": rng.randint(0, 1), "stop": 0}]},
        {"type": "Metaspace", "replacement": META, "prepend_scheme": rng.choice(["always", "first", "never"]), "split": True},
        {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Metaspace", "replacement": META, "prepend_scheme": "always",
                                                                     "split": True}]},
        {"type": "BPEDecoder", "suffix": suffix or "</w>"}, {"type": "WordPiece", "prefix": "##", "cleanup": pick(rng)},
        {"type": "CTC", "pad_token": "<s>", "word_delimiter_token": META, "cleanup": pick(rng)}, replace])


def post_processor(rng, vocab):
    specials = [key for key in ("<s>", "</s>", "a") if key in vocab]
    if not specials or pick(rng):
        return None
    first, last = rng.choice(specials), rng.choice(specials)
    if pick(rng, 0.3):
        ends = {"sep": [last, vocab[last]], "cls": [first, vocab[first]]}
        return (dict(ends, type="BertProcessing") if pick(rng) else
                dict(ends, type="RobertaProcessing", trim_offsets=pick(rng), add_prefix_space=pick(rng)))
    return {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": first, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                                                     {"SpecialToken": {"id": last, "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {key: {"id": key, "ids": [vocab[key]], "tokens": [key]} for key in {first, last}}}


def added_tokens(rng, vocab):
    """As in vary.py: no rstrip beside tokens that begin with a blank."""
    strips = pick(rng)
    contents = [one for one in rng.sample(ADDED, rng.randint(0, 6)) if not (strips and one[:1] in " \n")]
    out = []
    for content in contents:
        out.append({"id": vocab.get(content, len(vocab) + len(out)), "content": content, "special": pick(rng), "normalized": pick(rng),
                    "single_word": pick(rng, 0.2), "lstrip": pick(rng, 0.25), "rstrip": strips and pick(rng, 0.3)})
    return out


def tokenizer(rng):
    made = model(rng)
    vocab = made["vocab"]
    data = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added_tokens(rng, vocab),
            "normalizer": normalizer(rng) if pick(rng, 0.7) else None, "pre_tokenizer": pre_tokenizer(rng) if pick(rng, 0.6) else None,
            "post_processor": post_processor(rng, vocab), "decoder": decoder(rng, made["end_of_word_suffix"]), "model": made}
    return json.dumps(data)


def describe(text):
    """What of a file matters; byte tokens in a few words."""
    data = json.loads(text)
    vocab = data["model"].pop("vocab")
    data["model"]["bytes"] = sum(key.startswith("<0x") for key in vocab)
    data["model"]["others"] = [key for key in vocab if not key.startswith("<0x")][:60]
    data["added_tokens"] = [{k: v for k, v in one.items() if v is not False} for one in data["added_tokens"]]
    for name in ("version", "truncation", "padding"):
        del data[name]
    return json.dumps(data, ensure_ascii=False)
