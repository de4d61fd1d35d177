# SPDX-License-Identifier: MIT
"""Which source characters each token comes from: the normaliser of a tokenizer.json done slowly, character by character.

A character is (c, begin, end): source[begin:end] is the hull of where it came from. Normal forms follow UAX #15 and
Python's own tables; what this file does not know is None, never a guess."""
import json
import re
import unicodedata

import common


def open_pipeline(path):
    """The pipeline of a tokenizer.json."""
    with open(path, encoding="utf-8") as source:
        data = json.load(source)
    return Pipeline(data, common.read_tokens(path)[0], {one["id"]: one["normalized"] for one in data["added_tokens"]})


class Pipeline:
    """The normaliser of a file, and the texts of its tokens as the model sees them."""

    def __init__(self, data, tokens, added):
        self.tokens = tokens  # id -> bytes
        self.added = added    # id -> is it matched after normalisation?
        self.ops = operations(data.get("normalizer"))
        self.drops = "Removed" in str(data.get("pre_tokenizer"))
        self.prefixes = "Metaspace" in str(data.get("pre_tokenizer")) or "'add_prefix_space': True" in str(
            data.get("pre_tokenizer"))

    def spans(self, text, ids, theirs):
        """For each token [begin, end]; theirs says where added tokens stand.
        None when the tokens are not the normalised text, or the file does something that is not known here."""
        if self.ops is None or self.prefixes or (self.ops and any(self.added.get(i) for i in ids)):
            return None
        out, at, waiting = [], 0, []
        for number, span in list(zip(ids, theirs)) + [(None, (len(text), len(text)))]:
            if number is not None and number not in self.added:
                waiting.append(number)
                continue
            part = self.stretch(text, at, span[0], waiting)
            if part is None:
                return None
            out += part + [list(span)]
            at, waiting = span[1], []
        return out[:-1]

    def stretch(self, text, begin, end, ids):
        chars = [(c, begin + k, begin + k + 1) for k, c in enumerate(text[begin:end])]
        for op in self.ops:
            chars = op(chars)
            if chars is None:
                return None
        return place(chars, [self.tokens.get(i, b"") for i in ids], self.drops)


def operations(part):
    """The steps of a normaliser as functions from characters to characters; None: one is not known."""
    if part is None:
        return []
    kind = part["type"]
    if kind == "Sequence":
        lists = [operations(one) for one in part["normalizers"]]
        return None if None in lists else sum(lists, [])
    if kind in ("NFC", "NFD", "NFKC", "NFKD"):
        return [lambda chars: normal_form(chars, kind)]
    if kind == "Lowercase":
        return [lambda chars: [(low, b, e) for c, b, e in chars for low in c.lower()]]
    if kind == "Prepend":
        return [lambda chars: [(c, chars[0][1], chars[0][1]) for c in part["prepend"]] + chars if chars else chars]
    if kind == "Replace":
        pattern = part["pattern"]
        regex = re.compile(pattern.get("Regex") or re.escape(pattern["String"]))
        return [lambda chars: replaced(chars, regex, part["content"])]
    return None


def replaced(chars, regex, content):
    text, out, at = "".join(c for c, _, _ in chars), [], 0
    for match in regex.finditer(text):
        if match.end() == match.start():
            return None
        out += chars[at:match.start()]
        hull = chars[match.start():match.end()]
        out += [(c, hull[0][1], hull[-1][2]) for c in content]
        at = match.end()
    return out + chars[at:]


def normal_form(chars, form):
    chars = order([(c, b, e) for source, b, e in chars for c in unicodedata.normalize(form.replace("C", "D"), source)])
    return join_crossing(compose(chars) if form.endswith("C") else chars)


def join_crossing(chars):
    """Between two characters spans may be cut only where all sources before lie left of all sources behind."""
    behind, least = [0] * len(chars), None
    for k in range(len(chars) - 1, -1, -1):
        behind[k] = least = chars[k][1] if least is None else min(least, chars[k][1])
    out, group, end = [], [], 0
    for k, char in enumerate(chars):
        group.append(char)
        end = max(end, char[2])
        if k + 1 == len(chars) or end <= behind[k + 1]:
            begin = min(one[1] for one in group)
            out += [(c, begin, end) for c, _, _ in group]
            group = []
    return out


def order(chars):
    """Canonical ordering: marks between two starters, by class, equal classes as they stand."""
    out, marks = [], []
    for c in chars:
        if unicodedata.combining(c[0]):
            marks.append(c)
            continue
        out += sorted(marks, key=lambda m: unicodedata.combining(m[0])) + [c]
        marks = []
    return out + sorted(marks, key=lambda m: unicodedata.combining(m[0]))


def compose(chars):
    """Canonical composition, with the hull of the sources of each character."""
    out, starter, last = [], None, 0
    for c, source, source_end in chars:
        kind = unicodedata.combining(c)
        whole = unicodedata.normalize("NFC", out[starter][0] + c) if starter is not None else ""
        blocked = last and last >= kind or (not last and starter is not None and starter != len(out) - 1)
        if len(whole) == 1 and not blocked:
            _, begin, end = out[starter]
            out[starter] = (whole, min(begin, source), max(end, source_end))
            continue
        if kind == 0:
            starter = len(out)
        last = kind
        out.append((c, source, source_end))
    return out


def place(chars, tokens, drops):
    """The tokens laid over the characters, byte by byte; blanks may be left out where the pattern drops them."""
    if drops and any(token.startswith(b" ") for token in tokens):
        return None  # which of the blanks?
    data = "".join(c for c, _, _ in chars).encode("utf-8", "surrogatepass")
    owner = []  # for each byte of the normalised text, its character
    for k, (c, _, _) in enumerate(chars):
        owner += [k] * len(c.encode("utf-8", "surrogatepass"))
    out, at = [], 0
    for token in tokens:
        while drops and data[at:at + 1] == b" " and not data.startswith(token, at):
            at += 1
        if not token or not data.startswith(token, at):
            return None
        touched = range(owner[at], owner[at + len(token) - 1] + 1)
        out.append([min(chars[k][1] for k in touched), max(chars[k][2] for k in touched)])
        at += len(token)
    return out if not data[at:].strip(b" ") and (drops or at == len(data)) else None

