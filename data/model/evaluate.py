"""python evaluate.py MODEL.gguf [--program dsexplain] [--items 100]: what the engine answers, and what its
explanations find.

Texts are made of words that training never saw. exact: the answer is right to the letter. twins: of
questions where the text says the same of another thing whose name differs in one word or character. back:
of questions for something that stands before what the question gives. hit@1, mass: the sentence with the
fact comes first in `dsexplain run`; its share of the positive scores. causal: of right answers, the share
where the removal of no other sentence makes the answer as unlikely as the removal of the one with the
fact. missing: the text does not say it.
"""

import argparse
import json
import subprocess
import tempfile

from make_text import NOT_STATED, Maker, text_of

PROBES = [
    (
        "Marta keeps the spare key in a blue box. Jonas keeps the spare key in a red box.",
        [
            ("Where does Marta keep the spare key?", "a blue box"),
            ("Where does Jonas keep the spare key?", "a red box"),
        ],
    ),
    (
        "The meeting is on Friday at 14:30. The workshop is on Monday at 9:15.",
        [("When is the meeting?", "Friday at 14:30"), ("When is the workshop?", "Monday at 9:15")],
    ),
    (
        "Ticket 4812: printer broken\nTicket 4821: window stuck\n",
        [("What is ticket 4812 about?", "printer broken"), ("What is ticket 4821 about?", "window stuck")],
    ),
    (
        "Wifi password: sunflower\nDoor code: 7731\nLandlord: Mr Henderson\n",
        [
            ("What is the wifi password?", "sunflower"),
            ("What is the door code?", "7731"),
            ("Who is the landlord?", "Mr Henderson"),
        ],
    ),
    (
        "Alice Johnson lives in Paris. Robert Smith lives in Berlin. The password of Robert Smith is KT-204.",
        [
            ("Where does Alice Johnson live?", "Paris"),
            ("What is Robert Smith's password?", "KT-204"),
            ("Where does Robert Smith live?", "Berlin"),
        ],
    ),
    (
        "The price of the blue bicycle is 1250. The price of the red bicycle is 990. "
        "The blue bicycle belongs to Margaret.",
        [
            ("What is the price of the red bicycle?", "990"),
            ("Who owns the blue bicycle?", "Margaret"),
            ("What does the blue bicycle cost?", "1250"),
        ],
    ),
    (
        "张伟住在北京。李娜住在上海。张伟的电话是5550142。李娜的生日是1990年3月14日。",
        [
            ("李娜住在哪里？", "上海"),
            ("张伟的电话是什么？", "5550142"),
            ("李娜的生日是哪天？", "1990年3月14日"),
        ],
    ),
    (
        "蓝色盒子的编号是7314。红色盒子的编号是2058。蓝色盒子属于王芳。会议在星期五14:30举行。",
        [
            ("蓝色盒子的编号是什么？", "7314"),
            ("红色盒子的编号是什么？", "2058"),
            ("蓝色盒子属于谁？", "王芳"),
            ("会议什么时候举行？", "星期五14:30"),
        ],
    ),
]


def is_back(fact, question, slot):
    """The answer stands before something that the question gives."""
    order, given = [r for _, r in fact.parts], {r for _, r in question}
    return any(r in given and r in fact.slots for r in order[order.index(slot) + 1 :])


def apart(a, b):
    """In how many words, or characters of one word, two names differ."""
    a, b = (x.lower().split(" ") if " " in x else list(x.lower()) for x in (a, b))
    return sum(x != y for x, y in zip(a, b)) if len(a) == len(b) else 9


def has_twin(facts, fact, question):
    given = [r for _, r in question if r in fact.slots]
    return any(
        g is not fact
        and g.relation == fact.relation
        and sum(apart(g.slots.get(s, ""), fact.slots[s]) for s in given) == 1
        for g in facts
    )


def made(n, count, lang, seed=77, missing=0.0, pairs=False, few=8):
    """Items: context, question, the answer, the range of the fact in bytes, kind."""
    m, items = Maker(seed + n, held_out=True, missing=missing), []
    while len(items) < count:
        facts, asks = m.document(n, lang)
        places, text = {}, ""
        for parts, fact in m.layout(facts):
            places[fact] = len(text.encode()) + len(parts[0][0].encode()), len(
                (text + text_of(parts)).encode()
            )
            text += text_of(parts)
        for fact, parts, slot, z in asks[:few]:
            items.append(
                dict(
                    context=text,
                    question=text_of(parts),
                    where=None if slot is None else places[fact],
                    want=facts[fact].slots[slot] if slot else NOT_STATED[z],
                    missing=slot is None,
                    back=slot is not None and is_back(facts[fact], parts, slot),
                    twin=slot is not None and has_twin(facts, facts[fact], parts),
                )
            )
    return items[:count]


def ask(o, items, method):
    """What dsexplain run says of each: its answer and [(begin, end, score)] of sentences."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        for i, x in enumerate(items):
            f.write(json.dumps(dict(id=str(i), context=x["context"], question=x["question"])) + "\n")
        f.flush()
        run = subprocess.run(
            [
                o.program,
                "run",
                o.model,
                "--items",
                f.name,
                "--method",
                method,
                "--format",
                "json",
                "-n",
                "24",
                "-j",
                str(o.threads),
                "--on-error",
                "skip",
                "--removal",
                "delete",
            ],
            capture_output=True,
            text=True,
        )
    out = {}
    for line in run.stdout.splitlines():
        record = json.loads(line)
        if "report" not in record:
            continue
        report = record["report"]
        spans = report["targets"][0]["spans"]
        rows = [(*s["range"], s["score"]) for s in spans if s.get("level", "sentence") == "sentence"]
        out[int(record["id"])] = report["output"].get("text", ""), rows
    return [out.get(i, ("", [])) for i in range(len(items))]


def percent(flags):
    return f"{100 * sum(flags) / len(flags):5.1f} ({len(flags)})" if flags else "    -"


def first_is_gold(rows, where):
    """The best row lies in the sentence of the fact, and the share of positive scores there."""
    inside = lambda r: r[0] < where[1] and r[1] > where[0]
    best = max(rows, key=lambda r: r[2])
    total = sum(max(0.0, r[2]) for r in rows)
    return inside(best), sum(max(0.0, r[2]) for r in rows if inside(r)) / total if total > 0 else 0.0


def explained(o, items, method):
    answers = ask(o, items, method)
    right = [a == x["want"] for x, (a, _) in zip(items, answers)]
    found = [
        first_is_gold(rows, x["where"])
        for x, (a, rows), ok in zip(items, answers, right)
        if ok and rows and x["where"]
    ]
    return right, [f for f, _ in found], [100 * s for _, s in found]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("model")
    p.add_argument("--program", default="dsexplain")
    p.add_argument("--items", type=int, default=100)
    p.add_argument("--loo", type=int, default=40)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--sizes", type=int, nargs="*", default=[2, 5, 10, 20, 40, 80])
    o = p.parse_args()
    print("facts  language exact         twins         back          hit@1          mass  causal")
    for n in o.sizes:
        for lang in ("en", "zh", "mix"):
            items = made(n, o.items, lang)
            right, hits, mass = explained(o, items, "rows")
            causal = explained(o, items[: o.loo], "loo")[1] if n <= 40 else []
            of = lambda key: percent([r for r, x in zip(right, items) if x[key]])
            part = sum(mass) / max(1, len(mass))
            shares = [percent(right), of("twin"), of("back"), percent(hits), f"{part:5.1f}", percent(causal)]
            print(f"{n:5}  {lang:8} {'   '.join(shares)}", flush=True)
    items = [x for x in made(10, 20 * o.items, None, missing=1.0) if x["missing"]][: o.items]
    print("missing, 10 facts:", percent(explained(o, items, "rows")[0]))
    good = 0
    for text, asks in PROBES:
        items = [dict(context=text, question=q, want=a) for q, a in asks]
        for x, (answer, _) in zip(items, ask(o, items, "rows")):
            good += answer == x["want"]
            if answer != x["want"]:
                print("probe:", x["question"], "->", answer, "| want", x["want"])
    print("probes:", good, "of", sum(len(a) for _, a in PROBES))


if __name__ == "__main__":
    main()
