# SPDX-License-Identifier: MIT
"""SentencePiece as a reference: its own models, and small ones trained here with many combinations of options.

Its spans are compared where the model does not normalise; elsewhere they follow rules of their own."""
import os
import random

import common
import gguf

NORMALIZERS = ["identity", "nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"]
USER_DEFINED = ["<u>", "ab", "\u4f60", "the", " x", "1", "</x>", "e\u0301", "\u2581q"]
CONTROL = ["<ctl>", "<|im_start|>", "[INST]"]
CONTROL_PIECE, UNUSED = 3, 5
UNESCAPED = b"\x1a\x02\x28\x00"  # one more normalizer_spec, with escape_whitespaces = false: it joins the first


class SentencePiece:
    """Policies: encode = parse (user-defined pieces are found in text, control pieces are not)."""
    policies = ["parse", "parse", "offsets", "decode"]

    def __init__(self, path, args=()):
        import sentencepiece
        self.path, self.args, self.notes = path, list(args), {}
        self.processor = sentencepiece.SentencePieceProcessor(model_file=path)
        with open(path, "rb") as source:
            data = source.read()
        self.pieces = list(gguf.pieces(data))
        self.tokens = {k: text.encode() for k, (text, _, _) in enumerate(self.pieces)}
        self.words = {k: text.replace("\u2581", " ").encode() for k, (text, _, _) in enumerate(self.pieces)}
        self.specials = [text for text, _, kind in self.pieces if kind in (2, 3, 4)]
        self.plain = is_plain(data)

    def ids(self, batch):
        return self.processor.encode(batch)

    def spans(self, text):
        """(ids, spans in bytes)."""
        proto = self.processor.encode(text, return_type="serialized_proto")
        pieces = [dict(gguf.fields(value)) for number, value in gguf.fields(proto) if number == 2]
        return [one.get(2, 0) for one in pieces], [[one.get(4, 0), one.get(5, 0)] for one in pieces]

    def compare(self, policy, batch):
        if policy == "decode":
            return [k for k, (a, b) in enumerate(zip(*self.decoded(batch))) if a != b]
        ours = common.encode(self.path, batch, "--special", "parse", "--offsets", "byte", *self.args)
        if policy == "parse" or not self.plain:
            return [k for k, (a, b) in enumerate(zip(ours, self.ids(batch))) if a["ids"] != b]
        return [k for k, one in enumerate(ours) if (one["ids"], self.style(batch[k], one)) != self.spans(batch[k])]

    def style(self, text, ours):
        """Our spans in SentencePiece's style: of the tokens of a character's bytes only the last has a span."""
        return common.sentencepiece_spans(text, ours["spans"])

    def decoded(self, batch):
        """Without control pieces: the reference makes nothing of them, dstok only under --skip-special."""
        batch = [[number for number in ids if self.pieces[number][2] != CONTROL_PIECE] for ids in batch]
        return common.decode(self.path, batch, "--mode", "replace", *self.args), self.processor.decode(batch) if batch else []

    def show(self, policy, item):
        if policy == "decode":
            return [one[0] for one in self.decoded([item])]
        ours = common.encode(self.path, [item], "--special", "parse", "--offsets", "byte", *self.args)[0]
        return ours if policy == "parse" else dict(ours, spans=self.style(item, ours)), self.spans(item)


# ---- what a model file says

def normalizer_spec(data):
    return dict(next((dict(gguf.fields(value)).items() for number, value in gguf.fields(data) if number == 3), ()))


def is_plain(data):
    """No character map, no taking away of blanks."""
    spec = normalizer_spec(data)
    return not spec.get(2) and not spec.get(4, 1)


def with_unused(data, chosen):
    """The model with some pieces of type UNUSED."""
    out, k = b"", 0
    for number, value in gguf.fields(data):
        if isinstance(value, int):
            out += _varint(number << 3) + _varint(value)
            continue
        if number == 1:
            fields = dict(gguf.fields(value))
            if k in chosen and fields.get(3, 1) == 1:
                value = value + _varint(3 << 3) + _varint(UNUSED)
            k += 1
        out += _varint(number << 3 | 2) + _varint(len(value)) + value
    return out


def _varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


# ---- models trained here

def corpus(rng):
    words = ["the", "there", "then", "a", "ab", "abab", "hello", "low", "lower", "1", "12", "2024", "\u4f60\u597d", "\u4f60", "caf\u00e9",
             "cafe\u0301", "\uff21\uff22", "\ufb01x", "\u00c9", "x!", "...", "qq", "  two", "tab\tx", "\u3042\u3044", "na\u00efve"]
    return [" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(400)]


def options(rng):
    chosen = {
        "model_type": "bpe", "vocab_size": rng.randint(330, 420), "hard_vocab_limit": False,
        "normalization_rule_name": rng.choice(NORMALIZERS), "byte_fallback": rng.random() < 0.6,
        "add_dummy_prefix": rng.random() < 0.6, "remove_extra_whitespaces": rng.random() < 0.5,
        "treat_whitespace_as_suffix": rng.random() < 0.2, "split_by_whitespace": rng.random() < 0.6,
        "split_digits": rng.random() < 0.3, "allow_whitespace_only_pieces": rng.random() < 0.4,
        "user_defined_symbols": rng.sample(USER_DEFINED, rng.randint(0, 4)),
        "control_symbols": rng.sample(CONTROL, rng.randint(0, 2)), "character_coverage": rng.choice((1.0, 0.98)),
    }
    if rng.random() < 0.3:
        chosen["unk_surface"] = rng.choice((" ?? ", "", "<unk>"))
    if rng.random() < 0.3:
        chosen.update(pad_id=3, unk_id=2, bos_id=0, eos_id=1)
    return chosen


def train(rng, path):
    import sentencepiece
    chosen = options(rng)
    prefix = path[:-len(".model")]
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(corpus(rng)), model_prefix=prefix, minloglevel=2, **chosen)
    if rng.random() < 0.3:
        with open(path, "rb") as source:
            data = source.read()
        n = sum(1 for _ in gguf.pieces(data))
        with open(path, "wb") as target:
            target.write(with_unused(data, set(rng.sample(range(n), n // 5))))
        chosen["unused"] = n // 5
    if rng.random() < 0.2:
        with open(path, "ab") as target:
            target.write(UNESCAPED)
        chosen["escape_whitespaces"] = False
    return chosen


def tasks(seed, folder, mb):
    return [(f"{seed} {k}", os.path.join(folder, f"trained{k}.model")) for k in range(max(6, int(mb)))]


def work(task):
    import refs
    seed, path = task
    rng, name = random.Random(seed), os.path.basename(path)
    chosen = {}
    try:
        chosen = train(rng, path)
        reference = SentencePiece(path)
        maker = refs.generators.Texts(rng, list(reference.words.values()), reference.specials)
        shown, n_differ, n_texts = [], 0, 0
        for policy in ("parse", "offsets", "decode"):
            batch = refs.make_batch(reference, maker, policy, 200000)
            differing = reference.compare(policy, batch)
            n_differ += len(differing)
            n_texts += len(batch)
            shown += [refs.report(reference, policy, batch[d]) for d in differing[:1]]
    except BaseException as trouble:  # also a panic of the reference: a worker must say what it met, whatever that is
        return name, 1, f"  {name:34} FAILED: {type(trouble).__name__}: {trouble}\n    {chosen}"
    more = f"\n    {chosen}" if n_differ else ""
    return name, n_differ, f"  {name:34} {n_texts} strings {n_differ:5} differences" + more + "".join("\n" + s for s in shown)
