"""The vocabulary: byte-level BPE whose merges never join a blank, a digit or a Chinese character with what
stands beside it, so that a name has one tokenisation wherever it stands (but for the blank that its first
piece may carry)."""

import collections
import functools
import json
import random
import re

import words

SPECIALS = ["<|im_end|>", "<|im_start|>"]
# The pattern of Llama 3, as far as texts of letters, digits and signs go; no merge crosses these pieces.
PIECES = re.compile(r"'(?i:[sdmt]|ll|ve|re)| ?[A-Za-z]+|[0-9]{1,3}|\n+|.", re.S)
CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"
N_MERGES = 1500


def byte_letters():
    """The letter that stands for each byte in tokenizer.json and GGUF files."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in plain]
    return {b: chr(b) for b in plain} | {b: chr(256 + i) for i, b in enumerate(rest)}


def pseudo_word(r):
    if r.random() < 0.15:
        return "".join(r.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(r.randint(3, 6)))
    return "".join(
        r.choice(CONSONANTS) + r.choice(VOWELS) + (r.choice("nrlstmdk") if r.random() < 0.35 else "")
        for _ in range(r.randint(2, 3))
    )


def counted_words():
    r, counts = random.Random(1), collections.Counter()
    listed = {**vars(words), "FILLER": [w for text in words.FILLER for w in text.split()]}
    for name, value in listed.items():
        if name.startswith(("ZH", "SUR", "CHA", "_")) or not isinstance(value, list):
            continue
        for word in value:
            for part in re.findall("[A-Za-z]+", word):
                counts[part] += 40 if name in ("COMMON", "FILLER") else 20
                counts[part.capitalize()] += 3
    counts["assistant"] += 500
    for _ in range(12000):
        word = pseudo_word(r)
        counts[word.capitalize() if r.random() < 0.6 else word] += 1
    return counts


def train_merges(counts, n):
    """Byte-pair encoding of words: the n most frequent pairs, one after the other."""
    split = {word: list(word) for word in counts}
    pairs, where = collections.Counter(), collections.defaultdict(set)
    for word, parts in split.items():
        for pair in zip(parts, parts[1:]):
            pairs[pair] += counts[word]
            where[pair].add(word)
    merges = []
    while len(merges) < n:
        best = max(pairs, key=lambda p: (pairs[p], p))
        merges.append(best)
        for word in sorted(where[best]):
            parts, out = split[word], []
            for pair in zip(parts, parts[1:]):
                pairs[pair] -= counts[word]
            while parts:
                k = 2 if tuple(parts[:2]) == best else 1
                out.append("".join(parts[:k]))
                parts = parts[k:]
            split[word] = out
            for pair in zip(out, out[1:]):
                pairs[pair] += counts[word]
                where[pair].add(word)
        del pairs[best]
    firsts = collections.Counter(parts[0] for word, parts in split.items() for _ in range(counts[word]))
    return merges, [t for t in sorted(firsts) if firsts[t] >= 3]


class Vocabulary:
    def __init__(self):
        letters = byte_letters()
        self.to_letters = lambda raw: "".join(letters[b] for b in raw)
        merges, firsts = train_merges(counted_words(), N_MERGES)
        merges = (
            [(a, b) for a, b in merges]
            + [("'", "s"), (letters[10], letters[10])]
            + [(letters[32], t) for t in firsts]
        )
        numbers = [f"{i:0{k}}" for k in (2, 3) for i in range(10**k)]
        chinese = sorted(
            {
                c
                for name in vars(words)
                if name.startswith(("ZH", "SUR", "CHA"))
                for c in "".join(getattr(words, name))
                if c > "\u2e80"
            }
            | set("，。？：；、“”（）！《》")
        )
        level1 = [
            bytes([a, b]).decode("gb2312")
            for a in range(0xB0, 0xD8)
            for b in range(0xA1, 0xFF)
            if not (a == 0xD7 and b > 0xF9)
        ]
        prefixes = sorted({c.encode()[:2] for c in chinese + level1})
        for raw in prefixes:
            merges.append((letters[raw[0]], letters[raw[1]]))
        for c in chinese:
            raw = c.encode()
            merges.append((self.to_letters(raw[:2]), letters[raw[2]]))
        self.tokens = SPECIALS + [letters[b] for b in range(256)]
        known = set(self.tokens)
        for token in ["".join(m) for m in merges] + numbers:
            if token not in known:
                known.add(token)
                self.tokens.append(token)
        self.merges = [f"{a} {b}" for a, b in merges]
        self.ids = {t: i for i, t in enumerate(self.tokens)}
        self.rank = {m: i for i, m in enumerate(merges)}
        back = {v: k for k, v in letters.items()}
        self.raw = [b""] * 2 + [bytes(back[c] for c in t) for t in self.tokens[2:]]
        self.piece = functools.lru_cache(None)(self._piece)

    def _piece(self, text):
        parts = list(self.to_letters(text.encode()))
        if "".join(parts) in self.ids:
            return [self.ids["".join(parts)]]
        while len(parts) > 1:
            rank, i = min((self.rank.get(p, 1 << 30), i) for i, p in enumerate(zip(parts, parts[1:])))
            if rank == 1 << 30:
                break
            parts[i : i + 2] = [parts[i] + parts[i + 1]]
        return [self.ids[p] for p in parts]

    def encode(self, text):
        return [i for piece in PIECES.findall(text) for i in self.piece(piece)]

    def decode(self, ids):
        return b"".join(self.raw[i] for i in ids).decode("utf8", "replace")

    def tokenizer_json(self):
        pattern = (
            "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
            " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
            "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
        )
        added = [
            dict(
                id=i, content=t, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True
            )
            for i, t in enumerate(SPECIALS)
        ]
        return dict(
            version="1.0",
            truncation=None,
            padding=None,
            added_tokens=added,
            normalizer=None,
            pre_tokenizer=dict(
                type="Sequence",
                pretokenizers=[
                    dict(type="Split", pattern=dict(Regex=pattern), behavior="Isolated", invert=False),
                    dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=False),
                ],
            ),
            post_processor=None,
            decoder=dict(type="ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True),
            model=dict(
                type="BPE",
                dropout=None,
                unk_token=None,
                continuing_subword_prefix=None,
                end_of_word_suffix=None,
                fuse_unk=False,
                byte_fallback=False,
                ignore_merges=True,
                vocab=self.ids,
                merges=self.merges,
            ),
        )


if __name__ == "__main__":
    v = Vocabulary()
    json.dump(v.tokenizer_json(), open("tokenizer.json", "w"), ensure_ascii=False)
    print(len(v.tokens), "tokens", len(v.merges), "merges")
