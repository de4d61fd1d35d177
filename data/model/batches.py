"""Batches: one text in a row, then blocks of one question each that see the text and themselves alone."""

import math

import numpy as np

from make_text import ATTRIBUTE, NOT_STATED, Maker, text_of
from vocab import PIECES

BEFORE, ASK, AFTER = "<|im_start|>user\nContext:\n", "\n\nQuestion: ", "<|im_end|>\n<|im_start|>assistant\n"
END, START = 0, 1  # ids of <|im_end|>, <|im_start|>


def template(v, text):
    out = []
    for i, piece in enumerate(text.replace("<|im_end|>", "\0\1").replace("<|im_start|>", "\0\2").split("\0")):
        if i > 0:
            out.append(piece[0] != "\1")
        out += v.encode(piece[1:] if i > 0 else piece)
    return [int(t) for t in out]


def encode(v, parts):
    """Ids, and the role of each: that of the first character of its piece which is no blank."""
    text, roles = text_of(parts), [role for t, role in parts for _ in t]
    ids, out = [], []
    for m in PIECES.finditer(text):
        piece = v.piece(m.group())
        at = m.start() + (m.group()[0] == " " and len(m.group()) > 1)
        ids += piece
        out += [roles[at]] * len(piece)
    return ids, out


CLOSE = 2  # role of the last token of a sentence, where it is a sign: all of the sentence is known there


def code(role):
    """0: none, 1: words of the relation, above 2: slots."""
    return 0 if role == "" else 1 if role == ATTRIBUTE else ord(role)


class Row:
    """One text and its questions as ids. Units tell sentences and questions apart; steps are where answers
    are made."""

    def __init__(self, v, m, n, max_questions, lang=None):
        self.n = n
        facts, asks = m.document(n, lang)
        self.text, self.roles, self.units = template(v, BEFORE), [], []
        self.roles, self.units = [0] * len(self.text), [0] * len(self.text)
        self.spans = {}
        for parts, fact in m.layout(facts):
            ids, roles = encode(v, parts)
            if fact is not None:
                self.spans[fact] = (len(self.text), len(self.text) + len(ids))
            self.text += ids
            self.roles += [code(x) for x in roles]
            if fact is not None and self.roles[-1] == 0:
                self.roles[-1] = CLOSE
            self.units += [0 if fact is None else fact + 1] * len(ids)
        self.asks = []
        for fact, parts, slot, lang in asks[:max_questions]:
            self.asks.append(self.ask(v, facts, fact, parts, slot, lang))

    def ask(self, v, facts, fact, parts, slot, lang):
        """(ids, roles, first step, answer, places to copy from and to find first, fact, language, kind)"""
        ids, roles = encode(v, [(ASK, "")] + parts)
        ids += template(v, AFTER)
        roles = [code(x) for x in roles] + [0] * (len(ids) - len(roles))
        answer = (v.encode(facts[fact].slots[slot] if slot else NOT_STATED[lang])) + [END]
        step = len(ids) - 1
        if slot is None:
            copy = find = [0] * len(answer)
            kind = "missing"
        else:
            a, b = self.spans[fact]
            places = [i for i in range(a, b) if self.roles[i] == ord(slot)]
            places = places[len(places) - len(answer) + 1 :]  # without the blank before digits
            if len(places) != len(answer) - 1:
                raise ValueError(text_of(facts[fact].parts))
            copy = places + [min(places[-1] + 1, len(self.text) - 1)]
            given = {code(r) for _, r in parts} - {0}
            keys = [i for i in range(a, b) if self.roles[i] in given]
            late = keys and keys[-1] > places[0]
            find = ([b - 1 if self.roles[b - 1] == CLOSE else keys[-1]] if late else places[:1]) + copy[1:]
            kind = "back" if late else "pair"
        return ids, roles, step, answer, copy, find, fact, lang, kind


def batch(rows):
    """Arrays of rows of like length. Places of questions come after the longest text; pad: unit -1."""
    n_text = max(len(r.text) for r in rows)
    n_ask = max(sum(len(a[0]) + len(a[3]) - 1 for a in r.asks) for r in rows)
    n_text, n_ask = -(-n_text // 16) * 16, max(16, -(-n_ask // 16) * 16)
    n_steps = max(sum(len(a[3]) for a in r.asks) for r in rows)
    shape = (len(rows), n_text + n_ask)
    ids, units, roles, pos = (np.zeros(shape, np.int64) for _ in range(4))
    units[:] = -1
    steps, targets, copy, find, first = (np.zeros((len(rows), n_steps), np.int64) for _ in range(5))
    targets[:] = -1
    info = []
    for b, r in enumerate(rows):
        k = len(r.text)
        ids[b, :k], units[b, :k], roles[b, :k], pos[b, :k] = r.text, r.units, r.roles, range(k)
        o, s = n_text, 0
        for q, (a_ids, a_roles, step, answer, c, f, fact, lang, kind) in enumerate(r.asks):
            seq = a_ids + answer[:-1]
            m, t = len(seq), len(answer)
            ids[b, o : o + m], units[b, o : o + m], pos[b, o : o + m] = seq, 1000 + q, range(k, k + m)
            roles[b, o : o + len(a_roles)] = a_roles
            steps[b, s : s + t], targets[b, s : s + t] = range(o + step, o + step + t), answer
            copy[b, s : s + t], find[b, s : s + t], first[b, s] = c, f, 1
            info.append((b, s, t, lang, kind, r.n))
            o += m
            s += t
    return dict(
        ids=ids,
        units=units,
        roles=roles,
        pos=pos,
        steps=steps,
        targets=targets,
        copy=copy,
        find=find,
        first=first,
        n_text=n_text,
        info=info,
    )


def stream(v, seed, lo, hi, tokens, max_questions=40, held_out=False, missing=0.06, lang=None, pool=6):
    """Batches of about so many places: texts of lo to hi facts (log-uniform), like lengths together."""
    m = Maker(seed, held_out, missing)
    size = lambda r: len(r.text) + sum(len(a[0]) + len(a[3]) for a in r.asks)
    while True:
        rows, n_rows = [], 0
        while n_rows < pool * tokens:
            n = math.exp(m.r.uniform(math.log(lo), math.log(hi + 0.99)))
            row = Row(v, m, max(lo, min(hi, int(n))), max_questions, lang)
            if row.asks:
                rows.append(row)
                n_rows += size(row)
        rows.sort(key=size)
        groups = [[]]
        for row in rows:
            if size(row) * (len(groups[-1]) + 1) > 1.1 * tokens and groups[-1]:
                groups.append([])
            groups[-1].append(row)
        m.r.shuffle(groups)
        for group in groups:
            yield batch(group)
