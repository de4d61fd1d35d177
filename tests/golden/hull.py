# SPDX-License-Identifier: MIT
"""Which source characters a normalised text comes from, by the definition in UAX #15 and Python's own tables."""
import unicodedata


def normalised(text, form):
    """The normalised text as a list of (character, begin, end): source[begin:end] is the hull of where it came from.

    Spans must not go back, so characters whose sources cross or overlap share one hull. form is NFC or NFKC."""
    decompose = "NFD" if form == "NFC" else "NFKD"
    chars = [(c, i) for i, source in enumerate(text) for c in unicodedata.normalize(decompose, source)]
    return join_crossing(compose(order(chars)))


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
    for c, source in chars:
        kind = unicodedata.combining(c)
        whole = unicodedata.normalize("NFC", out[starter][0] + c) if starter is not None else ""
        blocked = last and last >= kind or (not last and starter is not None and starter != len(out) - 1)
        if len(whole) == 1 and not blocked:
            _, begin, end = out[starter]
            out[starter] = (whole, min(begin, source), max(end, source + 1))
            continue
        if kind == 0:
            starter = len(out)
        last = kind
        out.append((c, source, source + 1))
    return out


def spans(text, form, tokens):
    """For the bytes of each token: (span in characters of the source, does it touch a character that changed?).

    None when the tokens are not the normalised text."""
    chars = normalised(text, form)
    if "".join(c for c, _, _ in chars).encode("utf-8", "surrogatepass") != b"".join(tokens):
        return None
    owner = []  # for each byte of the normalised text, its character
    for k, (c, _, _) in enumerate(chars):
        owner += [k] * len(c.encode("utf-8", "surrogatepass"))
    changed = [end - begin != 1 or text[begin] != c for c, begin, end in chars]
    out, at = [], 0
    for token in tokens:
        touched = range(owner[at], owner[at + len(token) - 1] + 1)
        out.append(([min(chars[k][1] for k in touched), max(chars[k][2] for k in touched)],
                    any(changed[k] for k in touched) or shares(chars, touched)))
        at += len(token)
    return out


def shares(chars, touched):
    """Does a neighbour come from the same source character as the first or the last of these?"""
    first, last = touched[0], touched[-1]
    return (first > 0 and chars[first - 1][2] > chars[first][1]) or (
        last + 1 < len(chars) and chars[last + 1][1] < chars[last][2])
