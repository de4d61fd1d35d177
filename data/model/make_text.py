"""Texts of facts, and questions about them whose answers stand in the text.

A sentence is made from a pattern of patterns.py. A question names the slots it gives and the one it asks for.
"""

import random
import re
import zlib

import words as W
from patterns import (
    EVENTS,
    EVENT_NAMES,
    FACTS,
    FRAMES,
    KEYS,
    KEY_QUESTIONS,
    MATERIALS,
    MOVERS,
    NOT_STATED,
    QUESTIONS,
    RELATIONS,
    SUBJECTS,
    TICKETS,
)
from vocab import pseudo_word

ATTRIBUTE = "a"  # role of the words of the relation
LEVEL1 = [bytes([a, b]).decode("gb2312") for a in range(0xB0, 0xD7) for b in range(0xA1, 0xFF)]
PARTS = re.compile(r"\{(\w)\}|\[([^\]]*)\]|([^\[\]{}]+)")


class Fact:
    """One sentence: relation, slots, and its text as (text, role) parts."""

    def __init__(self, relation, lang, slots, parts, ask):
        self.relation, self.lang, self.slots, self.parts, self.ask = relation, lang, slots, parts, ask


def fill(pattern, slots, lang):
    parts = []
    for slot, marked, plain in PARTS.findall(pattern):
        parts.append((slots[slot], slot) if slot else (marked, ATTRIBUTE) if marked else (plain, ""))
    if lang == "en" and parts and not parts[0][0][:1].isupper() and not pattern.startswith("what"):
        parts[0] = (parts[0][0][:1].upper() + parts[0][0][1:], parts[0][1])
    return parts


def text_of(parts):
    return "".join(t for t, _ in parts)


class Maker:
    """Random texts. held_out: of made-up words that training never sees (checksum a multiple of 8)."""

    def __init__(self, seed, held_out=False, missing=0.06):
        self.r, self.held_out, self.missing = random.Random(seed), held_out, missing

    # ---- words

    def fresh(self, make):
        while True:
            word = make()
            if (zlib.crc32(word.encode()) % 8 == 0) == self.held_out:
                return word

    def digits(self, n):
        return "".join(self.r.choice("0123456789") for _ in range(n))

    def chinese(self, lo=2, hi=3):
        r = self.r
        return self.fresh(
            lambda: "".join(
                r.choice(LEVEL1 if r.random() < 0.12 else W.CHARACTERS) for _ in range(r.randint(lo, hi))
            )
        )

    def word(self, lang):
        return self.chinese() if lang == "zh" else self.fresh(lambda: pseudo_word(self.r))

    def first(self):
        return (
            self.r.choice(W.FIRST)
            if not self.held_out and self.r.random() < 0.3
            else self.word("en").capitalize()
        )

    def person(self, lang):
        r = self.r
        if lang == "zh":
            return self.fresh(
                lambda: r.choice(W.SURNAMES) + "".join(r.choice(W.CHARACTERS) for _ in range(r.randint(1, 2)))
            )
        x = r.random()
        if x < 0.25:
            return (
                self.first() + " " + (r.choice(W.LAST) if r.random() < 0.4 else self.word("en").capitalize())
            )
        return "Mr " + self.first() if x < 0.28 else self.first()

    def noun(self, lang):
        known = W.NOUNS if lang == "en" else W.ZH_NOUNS
        return self.r.choice(known) if self.r.random() < 0.75 else self.word(lang)

    def adjective(self, lang):
        known = W.ADJECTIVES if lang == "en" else W.ZH_ADJ
        return self.r.choice(known) if self.r.random() < 0.75 else self.word(lang)

    def thing(self, lang, article="the "):
        r = self.r
        if lang == "zh":
            return (self.adjective(lang) if r.random() < 0.8 else "") + self.noun(lang)
        x = r.random()
        if x < 0.1:
            return article + self.noun(lang) + " " + str(r.randint(1, 99))
        if x < 0.25:
            return article + self.noun(lang) + " of " + self.person(lang)
        if x < 0.35:
            return self.word(lang).capitalize()
        return article + (self.adjective(lang) + " " if r.random() < 0.85 else "") + self.noun(lang)

    def event(self, lang):
        r = self.r
        if lang == "zh":
            return (self.chinese() if r.random() < 0.8 else "") + r.choice(EVENT_NAMES[lang])
        return (
            "the "
            + (
                self.word("en").capitalize() + " "
                if r.random() < 0.5
                else self.adjective("en") + " " if r.random() < 0.7 else ""
            )
            + r.choice(EVENT_NAMES[lang])
        )

    def similar(self, e, lang):
        """Another entity that differs from e in one part."""
        r = self.r
        if lang == "zh":
            if len(e) < 3:
                return self.fresh(
                    lambda: e[0]
                    + r.choice(W.CHARACTERS)
                    + (r.choice(W.CHARACTERS) if r.random() < 0.5 else "")
                )
            return (
                e[:-2] + self.chinese(2, 2)
                if r.random() < 0.5
                else (r.choice(W.ZH_ADJ) if r.random() < 0.6 else self.chinese(2, 2)) + e[-2:]
            )
        parts = e.split(" ")
        at = [
            i
            for i, p in enumerate(parts)
            if p not in ("the", "of", "a", "Mr", "ticket", "Ticket", "order", "Order")
        ]
        i = r.choice(at or [len(parts) - 1])
        if parts[i].isdigit():
            parts[i] = (
                str(int(parts[i]) + r.choice([-1, 1, 10, 100]))
                if r.random() < 0.6
                else self.digits(len(parts[i]))
            )
        elif parts[i][:1].isupper():
            parts[i] = self.first()
        else:
            parts[i] = self.noun(lang) if i == len(parts) - 1 or parts[i] in W.NOUNS else self.adjective(lang)
        return " ".join(parts)

    # ---- values

    def value(self, kind, lang):
        r = self.r
        zh = lang == "zh"
        pick = lambda name: (
            r.choice(getattr(W, ("ZH_" if zh else "") + name)) if r.random() < 0.8 else self.word(lang)
        )
        if kind in ("small", "num"):
            return str(r.randint(1, 120) if kind == "small" else r.randint(100, 99999))
        if kind == "long":
            return self.fresh(
                lambda: self.digits(7) if r.random() < 0.6 else self.digits(3) + "-" + self.digits(4)
            )
        if kind == "code":
            letters = lambda n: "".join(r.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(n))
            return self.fresh(
                lambda: r.choice(
                    [
                        lambda: self.digits(4),
                        lambda: letters(2) + "-" + self.digits(3),
                        lambda: self.digits(6),
                        lambda: letters(1) + self.digits(2),
                        lambda: letters(3) + self.digits(4),
                    ]
                )()
            )
        if kind == "secret":
            return self.value(r.choice(["code", "word", "word"]), lang)
        if kind == "date":
            if zh:
                return f"{r.randint(1900, 2030)}年{r.randint(1, 12)}月{r.randint(1, 28)}日"
            month, day, year = r.choice(W.MONTHS), r.randint(1, 28), r.randint(1900, 2030)
            return (
                f"{day} {month} {year}"
                if r.random() < 0.6
                else f"{month} {day}" if r.random() < 0.5 else f"{year}-{r.randint(1, 12):02}-{day:02}"
            )
        if kind == "time":
            return f"{r.randint(0, 23):0{r.choice([1, 2])}}:{r.randint(0, 59):02}"
        if kind == "day":
            return r.choice(W.ZH_DAYS if zh else W.DAYS)
        if kind == "moment":
            x, day = r.random(), self.value("day", lang)
            return (
                day
                if x < 0.25
                else (
                    day + ("" if zh else " at ") + self.value("time", lang)
                    if x < 0.7
                    else self.value("date", lang)
                )
            )
        if kind == "money":
            n = r.randint(2, 9999)
            return f"{n}元" if zh else r.choice([f"{n} euros", f"{n} dollars", f"${n}", f"{n}"])
        if kind == "weight":
            return f"{r.randint(1, 999)}" + ("公斤" if zh else " kg")
        if kind == "version":
            return ".".join(str(r.randint(0, 30)) for _ in range(r.choice([2, 3])))
        if kind == "email":
            return f"{self.word('en')}@{self.word('en')}.{r.choice(['org', 'com', 'net'])}"
        if kind == "material":
            return r.choice(MATERIALS[lang])
        if kind == "state":
            return r.choice(W.ZH_DONE if zh else W.VERBS_DONE)
        if kind in ("place", "box"):
            if r.random() < 0.5:
                return (
                    ("" if zh else "the ") + pick("PLACES")
                    if kind == "place" or r.random() < 0.3
                    else self.thing(lang, r.choice(["a ", "the "]))
                )
            return self.thing(lang, r.choice(["a ", "the "]))
        if kind == "object":
            return self.thing(lang)
        if kind == "phrase":
            state = r.choice(W.ZH_DONE if zh else W.VERBS_DONE) if r.random() < 0.7 else self.word(lang)
            return self.noun(lang) + ("" if zh else " ") + state
        if kind == "clause":
            return self.thing(lang) + ("" if zh else " is ") + r.choice(W.ZH_DONE if zh else W.VERBS_DONE)
        if kind in ("name", "person"):
            return self.person(lang)
        if kind == "city":
            return r.choice(W.ZH_CITIES if zh else W.CITIES) if r.random() < 0.35 else self.person(lang)
        names = dict(
            colour="COLOURS", job="JOBS", animal="ANIMALS", food="FOODS", sport="SPORTS", language="LANGUAGES"
        )
        return pick(names[kind]) if kind in names else self.word(lang)

    # ---- facts

    def subject(self, kind, lang):
        r = self.r
        if kind == "event":
            return self.event(lang)
        if kind == "mover":
            return (
                ("the " if lang == "en" else "")
                + (
                    r.choice(["first ", "second ", "last ", "next "])
                    if lang == "en" and r.random() < 0.3
                    else ""
                )
                + r.choice(MOVERS[lang])
                + (" to " if lang == "en" else "去")
                + self.value("city", lang)
                if r.random() < 0.7
                else self.person(lang)
            )
        return self.person(lang) if kind == "person" else self.thing(lang)

    def one_of(self, pool, kind, lang):
        """An entity of the text, one like it, or a new one."""
        known = pool.setdefault((kind, lang), [])
        x = self.r.random()
        if known and x < self.again:
            return self.r.choice(known)
        e = (
            self.similar(self.r.choice(known), lang)
            if known and kind != "mover" and x < self.again + self.pairs
            else self.subject(kind, lang)
        )
        known.append(e)
        return e

    def attribute_fact(self, pool, lang):
        r = self.r
        if r.random() < 0.12:  # an attribute that is no known one
            name = (
                r.choice(W.ZH_MADE_UP if lang == "zh" else W.MADE_UP) if r.random() < 0.6 else self.word(lang)
            )
            kind, names, own, asks, relation = (
                r.choice(["code", "num", "name", "word", "small"]),
                [name],
                [],
                [],
                "-" + name,
            )
        else:
            relation = r.choice(self.relations)
            kind, names, own, asks = RELATIONS[lang][relation]
        e = self.one_of(pool, SUBJECTS.get(relation) or r.choice(["thing", "person"]), lang)
        slots = dict(e=e, v=self.value(kind, lang))
        choose = lambda own, general: (
            r.choice(own) if own and (not names or r.random() < 0.5) else r.choice(general)
        )
        pattern, question = choose(own, FACTS[lang]), choose(asks, QUESTIONS[lang])
        same = bool(names) and r.random() < 0.7
        a = r.choice(names) if names else ""
        return Fact(
            relation,
            lang,
            slots,
            fill(pattern, slots | dict(a=a), lang),
            [(fill(question, slots | dict(a=a if same or not names else r.choice(names)), lang), "v")],
        )

    def event_fact(self, pool, lang):
        i = self.r.randrange(len(EVENTS[lang]))
        kinds, patterns, asks = EVENTS[lang][i]
        slots = {
            s: (
                self.one_of(pool, "thing" if k == "object" else k, lang)
                if k in ("person", "object", "event")
                else self.value(k, lang)
            )
            for s, k in kinds.items()
        }
        return Fact(
            f"event{i}",
            lang,
            slots,
            fill(self.r.choice(patterns), slots, lang),
            [(fill(q, slots, lang), s) for q, s in self.r.sample(asks, min(2, len(asks)))],
        )

    def key_fact(self, pool, lang):
        r = self.r
        if r.random() < 0.4:
            number = self.digits(r.choice([2, 3, 4]))
            names = (
                ["ticket", "order", "ticket", "case", "item", "bug", "task"]
                if lang == "en"
                else ["订单", "工单", "订单", "问题", "任务"]
            )
            k = r.choice(names) + (" " if lang == "en" else "") + number
            known = pool.setdefault(("key", lang), [])
            if known and lang == "en" and r.random() < 0.5:
                k = self.similar(r.choice(known), lang)
            known.append(k)
            (patterns, asks), v, relation = (
                TICKETS[lang],
                self.value(r.choice(["phrase", "clause"]), lang),
                "ticket",
            )
        else:
            word = r.choice(
                W.ZH_MADE_UP + [n for x in RELATIONS["zh"].values() for n in x[1]]
                if lang == "zh"
                else W.MADE_UP + [n for x in RELATIONS["en"].values() for n in x[1]]
            )
            extra = self.adjective(lang) if r.random() < 0.4 else self.noun(lang)
            k = (extra + ("" if lang == "zh" else " ") if r.random() < 0.6 else "") + word
            kind = r.choice(
                ["code", "num", "name", "name", "word", "moment", "phrase", "money", "colour", "city"]
            )
            (patterns, asks), relation, v = KEYS[lang], "key", self.value(kind, lang)
            asks = asks + 3 * KEY_QUESTIONS[lang].get(kind, [])
        slots = dict(k=k, v=v)
        return Fact(
            relation,
            lang,
            slots,
            fill(r.choice(patterns), slots, lang),
            [(fill(r.choice(asks), slots, lang), "v")],
        )

    # ---- texts

    def document(self, n, lang=None):
        """n facts, and questions (number of the fact, parts, slot or None, language)."""
        r = self.r
        lang = lang or r.choice(["en"] * 5 + ["zh"] * 5 + ["mix"] * 2)
        self.again, self.pairs = r.uniform(0.2, 0.6), r.uniform(0.1, 0.4)
        known = list(RELATIONS["en"])
        self.relations = r.sample(known, r.randint(2, 8)) if r.random() < 0.6 else known
        pool, facts, seen = {}, [], set()
        kinds = r.choice([(0.75, 0.9), (1, 1), (0.9, 0.9), (0.5, 0.8), (0.6, 0.95)])
        tries = 0
        while len(facts) < n:
            x, z = r.random(), lang if lang != "mix" else r.choice(["en", "zh"])
            f = (self.attribute_fact if x < kinds[0] else self.event_fact if x < kinds[1] else self.key_fact)(
                pool, z
            )
            tries += 1
            if tries > 6 * n:
                self.relations = known
            key = (f.relation, *(v.lower() for s, v in f.slots.items() if s in "ek"))
            if len(key) > 1 and key in seen:
                continue
            seen.add(key)
            facts.append(f)
        return facts, self.questions(facts, lang)

    def questions(self, facts, lang):
        r, out = self.r, []
        table = {}
        for f in facts:
            for s in f.slots:
                key = (f.relation, s, *(v.lower() for t, v in sorted(f.slots.items()) if t != s))
                table[key] = table.get(key, 0) + 1
            if f.relation == "event6":  # a question about a meeting names the meeting alone
                key = ("event6", f.slots["e"].lower())
                table[key] = table.get(key, 0) + 1
        for i, f in enumerate(facts):
            for parts, s in f.ask:
                given = {t for _, t in parts if t in f.slots}
                key = (f.relation, s, *(v.lower() for t, v in sorted(f.slots.items()) if t != s))
                short = given != set(f.slots) - {s}
                alone = table[("event6", f.slots["e"].lower())] == 1 if f.relation == "event6" else True
                order = [role for _, role in f.parts if role in f.slots]
                back = (
                    any(t in given for t in order[order.index(s) :]) and r.random() < 0.6
                )  # harder than the others: fewer
                if not back and table[key] == 1 and alone and (not short or f.relation == "event6"):
                    out.append((i, parts, s, f.lang))
                    if r.random() < self.missing:
                        out.append(self.missing_question(facts, f, parts, s))
        r.shuffle(out)
        return [(i, self.asked(parts), s, z) for i, parts, s, z in (q for q in out if q is not None)]

    def asked(self, parts):
        """The question as people write it: sometimes without its sign, or with the other one."""
        text, role = parts[-1]
        if role or text[-1:] not in ("?", "？") or self.r.random() > 0.08:
            return parts
        return parts[:-1] + [(text[:-1] + self.r.choice(["", "?"]), role)]

    def missing_question(self, facts, f, parts, s):
        """The question of a fact about another entity, of which the text does not say it."""
        given = [t for _, t in parts if t in f.slots]
        if not given:
            return None
        t = self.r.choice(given)
        other = (
            self.similar(f.slots[t], f.lang)
            if t in "ek" or self.r.random() < 0.5
            else self.r.choice(facts).slots.get(t, "")
        )
        same = lambda g: g.relation == f.relation and all(
            g.slots.get(u, "").lower() == (other if u == t else f.slots[u]).lower() for u in given
        )
        if not other or other == f.slots[t] or not re.search(r"\w", other) or any(same(g) for g in facts):
            return None
        return (
            None
            if f.lang == "en" and not other.isascii()
            else (None, [(other, u) if u == t else (x, u) for x, u in parts], None, f.lang)
        )

    def layout(self, facts):
        """The parts of the text in order: (parts, number of the fact or None)."""
        r = self.r
        style = r.choice(["run", "run", "run", "lines", "lines", "bullets", "blocks"])
        out, last = [], ""
        if r.random() < 0.1:
            out.append(([(r.choice(["Notes", "My notes", "List", "笔记"]) + "\n", "")], None))
        for i, f in enumerate(facts):
            if r.random() < 0.06:
                filler = r.choice(W.ZH_FILLER if f.lang == "zh" else W.FILLER)
                out.append(([(self.between(style, last, filler), ""), (filler, "")], None))
                last = filler
            f.parts = self.framed(f)
            text = text_of(f.parts)
            out.append(([(self.between(style, last, text), "")] + f.parts, i))
            last = text
        if r.random() < 0.3:
            out.append(([("\n", "")], None))
        return out

    def framed(self, f):
        """The sentence, sometimes with words around it that carry no fact."""
        if self.r.random() > 0.08 or f.parts[-1][0][-1:] not in (".", "。") or f.parts[0][0][:1] in "-|":
            return f.parts
        before, after = self.r.choice(FRAMES[f.lang])
        (text, role), last = f.parts[0], f.parts[-1]
        if before and before[-2] != ":" and role == "" or text.startswith("The "):
            text = text[:1].lower() + text[1:] if before else text
        return [(before, ""), (text, role), *f.parts[1:-1], (last[0][:-1] + after, last[1])]

    def between(self, style, last, text):
        if style == "bullets":
            return ("\n" if last else "") + ("" if text[0] in "-|" else "- ")
        if not last:
            return ""
        if style == "blocks" and self.r.random() < 0.4:
            return "\n\n"
        closed = last[-1] in ".?。"
        if style == "run" and closed and text[0] != "|" and text[:2] != "- ":
            return "" if last[-1] == "。" and not text[0].isascii() else " "
        return "\n"


if __name__ == "__main__":
    m = Maker(3)
    for lang in ("en", "zh", "mix"):
        facts, asks = m.document(14, lang)
        print("".join(text_of(p) for p, _ in m.layout(facts)), "\n")
        for i, q, s, z in asks:
            print("  ", text_of(q), "->", facts[i].slots[s] if s else NOT_STATED[z])
