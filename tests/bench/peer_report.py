# SPDX-License-Identifier: MIT
"""The page about dstok and its peers: goals, tables, bars and a chart, made from the samples of peers.py."""
import html
import os
import pathlib
import platform
import re
import statistics
import textwrap

BEST = ("gigatoken", "fastokens")               # the fastest peers: the better of the two in a round is "best peer"
NAMED = ("gigatoken", "fastokens", "quicktok", "hf1", "tiktoken", "hf")
REFERENCES = ("tiktoken", "hf", "hf1", "gigatoken", "fastokens", "quicktok")    # whose ids are right, the first present
NAMES = {"en": "English", "zh": "Chinese", "code": "code", "hf": "tokenizers 0.23", "hf1": "tokenizers 1.0rc",
         "dstok-compiled": "dstok, .dstok file", "quicktok": "quicktok-v1"}
DASH = "–"
NARROW = ("scalar", "avx2", "neon")             # others, also one that is not told, have the goal of AVX-512


def this_cpu():
    """Name, family, model and vector instructions of this machine's processor."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    found = {key: value for key, value in re.findall(r"^([\w ]+?)\s*: (.*)$", text, re.M)}
    flags = found.get("flags", found.get("Features", "")).split()
    names = {"avx512_vbmi2": "AVX-512 (VBMI2)", "avx512f": "AVX-512", "avx2": "AVX2", "asimd": "NEON"}
    return {"name": found.get("model name", platform.machine()), "family": found.get("cpu family", ""),
            "model": found.get("model", ""), "cores": os.cpu_count(),
            "vectors": next((name for flag, name in names.items() if flag in flags), "none known")}


# ---- figures

class Samples:
    """The samples that count, and what is read from them."""

    def __init__(self, rows, clock, min_share=0.0):
        self.all = rows
        self.clock = clock
        self.rows = [row for row in rows if "error" not in row and (row["threads"] > 1 or row["share"] >= min_share)]
        self.vocabs = list(dict.fromkeys(row["vocab"] for row in rows))
        self.texts = list(dict.fromkeys(row["name"] for row in rows if row["name"] in ("en", "zh", "code")))
        self.worst = list(dict.fromkeys(row["name"] for row in rows if row["name"] not in self.texts))

    def of(self, vocab, text, peer, threads=1):
        return [row for row in self.rows
                if (row["vocab"], row["name"], row["peer"], row["threads"]) == (vocab, text, peer, threads)]

    def value(self, row, figure, clock=None):
        """One figure of one sample, or None. `start`: the first pass with loading and the first call before it."""
        clock = clock or (self.clock if row["threads"] == 1 else "wall")
        if figure == "start":
            cold = self.value(row, "cold", clock)
            before = (row["load_ms"].get(clock, 0) + row["first_ms"].get(clock, 0)) / 1e3
            return cold and row["bytes"] / 1e6 / (before + row["bytes"] / 1e6 / cold)
        return row["figures"].get(figure, {}).get(clock)

    def by_round(self, vocab, text, peer, figure, threads=1, clock=None):
        found = {(row["piece"], row["round"]): self.value(row, figure, clock) for row in self.of(vocab, text, peer, threads)}
        return {key: value for key, value in found.items() if value}

    def median(self, vocab, text, peer, figure, threads=1, clock=None):
        values = self.by_round(vocab, text, peer, figure, threads, clock).values()
        return statistics.median(values) if values else None

    def ratio(self, vocab, text, figure, others, mine="dstok"):
        """Median over the rounds of: ours through the best of the others in the same round."""
        theirs = [self.by_round(vocab, text, peer, figure) for peer in others]
        ratios = [value / max(t[key] for t in theirs if key in t)
                  for key, value in self.by_round(vocab, text, mine, figure).items() if any(key in t for t in theirs)]
        return statistics.median(ratios) if ratios else None

    def field(self, vocab, text, peer, key, threads=1):
        """Median of a number that stands beside the figures."""
        values = []
        for row in self.of(vocab, text, peer, threads):
            value = row.get(key)
            values.append(value.get(self.clock) if isinstance(value, dict) else value)
        values = [v for v in values if v is not None]
        return statistics.median(values) if values else None

    def tier(self, vocab):
        return next((row["tier"] for row in self.rows if row["vocab"] == vocab and "tier" in row), None)


# ---- ids

def reference(samples, vocab, text, size, key):
    """(whose, hash) of the ids that are taken as right."""
    for peer in REFERENCES:
        for row in samples:
            if (row["vocab"], row["name"], row["bytes"], row["peer"]) == (vocab, text, size, peer) and row.get(key):
                return peer, row[key]
    return None, None


def ids_word(samples, row):
    """What the table says about the ids of a sample."""
    for key, word in (("ids_sha256", "DIFFERENT"), ("big_sha256", "one document DIFFERENT")):
        _, right = reference(samples, row["vocab"], row["name"], row["bytes"], key)
        if row.get(key) and right and row[key] != right:
            return word
    return "same"


def wrong_ids(samples):
    """Samples of dstok that failed or whose ids are not the reference's."""
    lines = []
    for row in samples:
        if not row["peer"].startswith("dstok"):
            continue
        word = row.get("error") or row.get("note") or ids_word(samples, row)
        if word != "same":
            lines.append(f"{row['vocab']}, {row['name']}, {row['peer']} x{row['threads']}: {word}")
    return sorted(set(lines))


# ---- goals

def times(s, mine, threads=2):
    """Speed of several threads through that of one, by the wall clock."""
    def ratio(vocab, text):
        one, more = s.median(vocab, text, mine, "warm", 1, "wall"), s.median(vocab, text, mine, "warm", threads, "wall")
        return more / one if one and more else None
    return ratio


def own(s, figure, base, clock=None):
    """A figure of ours through another one of ours."""
    def ratio(vocab, text):
        a, b = s.median(vocab, text, "dstok", figure, clock=clock), s.median(vocab, text, "dstok", base, clock=clock)
        return a / b if a and b else None
    return ratio


def cpu_unchanged(s):
    def ratio(vocab, text):
        one, two = (s.median(vocab, text, "dstok", "warm", n, "cpu") for n in (1, 2))
        return two / one if one and two else None
    return ratio


def a_thread(s):
    def megabytes(vocab, text):
        one, two = (s.field(vocab, text, "dstok", "kept_mb", n) for n in (1, 2))
        return max(two - one, 0) if one is not None and two is not None else None
    return megabytes


def goals(s):
    """(work, texts, goal as a function of the vocabulary, 1 for "at least" or -1 for "at most", value of vocabulary and
    text)."""
    fast, every = ("en", "code"), ("en", "zh", "code")

    def peers(figure, others, mine="dstok"):
        return lambda vocab, text: s.ratio(vocab, text, figure, others, mine)

    def fixed(number):
        return lambda vocab: number

    return [
        ("warm ÷ best peer", fast, lambda vocab: 1.5 if s.tier(vocab) in NARROW else 2, 1, peers("warm", BEST)),
        ("unseen half ÷ best peer", fast, fixed(2), 1, peers("unseen", BEST)),
        ("unseen half ÷ best peer", ("zh",), fixed(6), 1, peers("unseen", BEST)),
        ("unseen half ÷ gigatoken", ("zh",), fixed(15), 1, peers("unseen", ("gigatoken",))),
        ("unseen half ÷ our own warm", ("zh",), fixed(0.6), 1, own(s, "unseen", "warm")),
        ("first pass with loading ÷ best peer", every, fixed(5), 1, peers("start", BEST)),
        ("the same from a .dstok file ÷ best peer", every, fixed(5), 1, peers("start", BEST, "dstok-compiled")),
        ("opening a .dstok file, ms", every, fixed(5), -1, lambda v, t: s.field(v, t, "dstok-compiled", "load_ms")),
        ("first call, ms", every, fixed(1), -1, lambda v, t: s.field(v, t, "dstok", "first_ms")),
        ("one document ÷ documents of 16 KB", every, fixed(0.95), 1, own(s, "big", "warm")),
        ("two threads ÷ one", every, fixed(1.85), 1, times(s, "dstok")),
        ("two threads: MB per CPU second ÷ one", every, fixed(0.95), 1, cpu_unchanged(s)),
        ("count ÷ encode", every, fixed(1), 1, own(s, "count", "warm")),
        ("decode, MB/s", every, fixed(1500), 1, lambda v, t: s.median(v, t, "dstok", "decode")),
        ("warm ÷ tokenizers 0.23", ("en",), fixed(300), 1, peers("warm", ("hf",))),
        ("warm ÷ tokenizers 1.0rc", ("en",), fixed(5), 1, peers("warm", ("hf1",))),
        ("warm ÷ tiktoken", ("en",), fixed(50), 1, peers("warm", ("tiktoken",))),
        ("memory after loading, MiB", ("en",), fixed(60), -1, lambda v, t: s.field(v, t, "dstok", "loaded_mb")),
        ("memory of another thread, MiB", ("en",), fixed(16), -1, a_thread(s)),
    ]


def number(value):
    """Three digits, or what it takes."""
    if value is None:
        return DASH
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def met(value, goal, direction):
    """Whether a goal is met by the figure as it is printed."""
    return float(f"{value:.3g}") * direction >= goal * direction


def goal_rows(s):
    for work, texts, goal, direction, value in goals(s):
        for text in texts:
            if text not in s.texts:
                continue
            cells = []
            for vocab in s.vocabs:
                v = value(vocab, text)
                cells.append(DASH if v is None else f"{number(v)} {'✓' if met(v, goal(vocab), direction) else '✗'}")
            wanted = sorted({goal(vocab) for vocab in s.vocabs})
            sign = "≥" if direction > 0 else "≤"
            yield [work, NAMES[text], f"{sign} {' or '.join(number(w) for w in wanted)}", *cells]


# ---- the chart

INK, OURS, THEIRS = "#24292f", "#0a7f5a", "#b8c0c8"
PANEL, BAR, NAME_WIDTH, BARS_WIDTH = 300, 20, 112, 132     # widths, and the height of a line


def drawn(s):
    """The vocabulary that the chart shows: the one that most tokenizers were measured with."""
    return max(s.vocabs, key=lambda vocab: len({row["peer"] for row in s.rows if row["vocab"] == vocab}), default=None)


def text_at(x, y, words, size=12, more=""):
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}"{more}>{html.escape(words)}</text>'


def panel(s, x, y, text, figure, peers):
    """Bars of all peers for one text and figure, the longest first."""
    values = {peer: s.median(drawn(s), text, peer, figure) or 0 for peer in peers}
    most = max(values.values()) or 1
    for line, (peer, value) in enumerate(sorted(values.items(), key=lambda item: -item[1])):
        top = y + BAR * line
        bold = ' font-weight="bold"' if peer == "dstok" else ""
        yield text_at(x + NAME_WIDTH - 8, top + 14, NAMES.get(peer, peer), more=' text-anchor="end"' + bold)
        if value:
            width = max(1, BARS_WIDTH * value / most)
            yield (f'<rect x="{x + NAME_WIDTH:g}" y="{top + 3:g}" width="{width:.1f}" height="{BAR - 6}" rx="2" '
                   f'fill="{OURS if peer == "dstok" else THEIRS}"/>')
            yield text_at(x + NAME_WIDTH + width + 5, top + 14, number(value), more=bold)
        else:
            yield text_at(x + NAME_WIDTH, top + 14, DASH)


def chart(samples, cpu, clock, min_share=0.0):
    """An SVG picture of one vocabulary, or None when there is nothing to compare."""
    s = Samples(samples, clock, min_share)
    found = {row["peer"] for row in s.rows if row["vocab"] == drawn(s) and row["name"] in s.texts} - {"dstok-compiled"}
    peers = [peer for peer in ("dstok", *NAMED) if peer in found]
    if "dstok" not in peers or len(peers) < 2:
        return None
    width, row_height = PANEL * len(s.texts) + 20, BAR * len(peers) + 52
    height = 52 + 2 * row_height
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
             f'font-family="Helvetica, Arial, sans-serif" fill="{INK}">', '<rect width="100%" height="100%" fill="#ffffff"/>',
             text_at(20, 28, f"{drawn(s)}, one thread, MB of text a second", 16, ' font-weight="bold"'),
             text_at(20, 46, cpu["name"], 12, ' fill="#57606a"')]
    for row, (figure, title) in enumerate((("unseen", "text not seen before"), ("warm", "the same text again"))):
        top = 74 + row * row_height
        for column, text in enumerate(s.texts):
            x = 10 + PANEL * column
            parts.append(text_at(x + 10, top, f"{NAMES[text][0].upper()}{NAMES[text][1:]}: {title}", 13, ' font-weight="bold"'))
            parts += panel(s, x, top + 10, text, figure, peers)
    return "\n".join([*parts, "</svg>\n"])


# ---- the page

def table(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines)


def bars(title, values, width=50):
    """A bar for each (name, value), the longest first."""
    values = sorted(((v, name) for name, v in values if v), reverse=True)
    if not values:
        return ""
    most = values[0][0]
    lines = [f"{NAMES.get(name, name):<20}{number(v):>6}  {'█' * max(1, round(width * v / most))}" for v, name in values]
    return "```\n" + title + "\n" + "\n".join(lines) + "\n```\n"


def cell_table(s, vocab, text, peers):
    many = sorted({row["threads"] for row in s.rows} - {1})
    head = ["", "ids", "warm", "unseen", "cold", "with loading", "one document", *(f"warm, {n} threads" for n in many),
            "count", "decode", "load / first call, ms", "memory loaded / with ids / at most, MiB", "rounds"]
    rows = []
    for peer in peers:
        here = [row for n in (1, *many) for row in s.of(vocab, text, peer, n)]
        words = {ids_word(s.all, row) for row in here}
        figures = [s.median(vocab, text, peer, key) for key in ("warm", "unseen", "cold", "start", "big")]
        if peer == "dstok-compiled":
            figures[0] = figures[4] = None      # it makes one or two passes only
        figures += [s.median(vocab, text, peer, "warm", n) for n in many]
        figures += [None if peer == "dstok-compiled" else s.median(vocab, text, peer, key) for key in ("count", "decode")]
        groups = [" / ".join(number(s.field(vocab, text, peer, key)) for key in keys)
                  for keys in (("load_ms", "first_ms"), ("loaded_mb", "kept_mb", "rss_mb"))]
        rows.append([NAMES.get(peer, peer), ", ".join(sorted(words - {"same"})) or "same", *map(number, figures), *groups,
                     str(len(s.of(vocab, text, peer)))])
    return table(head, rows)


def cells(s):
    for vocab in s.vocabs:
        for text in s.texts:
            peers = sorted({row["peer"] for row in s.rows if (row["vocab"], row["name"]) == (vocab, text)},
                           key=lambda peer: -(s.median(vocab, text, peer, "warm") or 0))
            if not peers:
                continue
            yield f"### {vocab}, {NAMES[text]}\n\n{cell_table(s, vocab, text, peers)}\n"
            shown = [peer for peer in peers if peer != "dstok-compiled"]
            for figure, title in (("warm", "the same text again"), ("unseen", "text not seen before")):
                yield bars(f"{title}, MB/s", [(peer, s.median(vocab, text, peer, figure)) for peer in shown])


def worst_rows(s):
    """The slowest figure of each kind, and how much longer a byte takes in its largest size than in the smallest."""
    kinds = list(dict.fromkeys(name.rsplit(", ", 1)[0] for name in s.worst))
    for kind in kinds:
        sizes = sorted((name for name in s.worst if name.rsplit(", ", 1)[0] == kind),
                       key=lambda name: float(name.rsplit(", ", 1)[1].split()[0]))
        row = [kind]
        for vocab in s.vocabs:
            speeds = [[v for v in (s.median(vocab, name, "dstok", f, clock="cpu") for f in ("cold", "big")) if v]
                      for name in sizes]
            if not all(speeds):
                row.append(DASH)
                continue
            slowest, growth = min(map(min, speeds)), min(speeds[0]) / min(speeds[-1])
            good = met(slowest, 20, 1) and met(growth, 1.5, -1)
            row.append(f"{number(slowest)} {'✓' if good else '✗'} (× {number(growth)})")
        yield row


def notes(s):
    lines = {f"- {row['vocab']}, {NAMES.get(row['name'], row['name'])}, {NAMES.get(row['peer'], row['peer'])}: "
             f"{row.get('error') or row.get('note')}" for row in s.all if row.get("error") or row.get("note")}
    return "\n".join(sorted(lines))


def span(values):
    """`5`, or `2 to 5`."""
    values = sorted(set(values))
    return " to ".join(str(v) for v in dict.fromkeys((values[0], values[-1]))) if values else "no"


def head(s, cpu):
    """What was measured where, and how to read it."""
    versions = sorted({f"{NAMES.get(row['peer'], row['peer']).split(' ')[0]} {row['version']}" for row in s.rows
                       if row["peer"] != "dstok-compiled"})
    sizes = [round(row["bytes"] / 1e6, 1) for row in s.rows if row["name"] in s.texts]
    rounds = [len(s.of(vocab, text, "dstok")) for vocab in s.vocabs for text in s.texts]
    tiers = {row["tier"] for row in s.rows if "tier" in row}
    paragraphs = [
        f"{cpu['name']} (family {cpu['family']}, model {cpu['model']}), {cpu['cores']} CPUs, {cpu['vectors']}; dstok ran its "
        f"{span(tiers)} code. Measured {span(row['piece'].split()[0] for row in s.rows)} with `tests/bench/peers.py`: rounds "
        f"{span(rounds)}, texts of {span(sizes)} MB in documents of 16 KB.",
        f"Speeds are 10^6 bytes of text a second, medians over the rounds; for one thread by the {s.clock} clock, for more by "
        "the wall clock. A ratio is taken within each round, then the median. *Best peer* is the faster of gigatoken and "
        "fastokens in that round. *Unseen* is the second half of the first pass in a fresh process, *cold* the whole of it, "
        "*warm* the same documents again, *with loading* the first pass with the loading of the vocabulary and the first "
        "call before it. Memory is by how much the resident set grew. *ids* are compared with those of tiktoken, "
        "else of tokenizers.",
        "Versions: " + ", ".join(versions) + ".",
    ]
    return "\n\n".join(textwrap.fill(p, 118, break_on_hyphens=False) for p in paragraphs) + "\n"


def page(samples, cpu, clock, min_share=0.0, picture=None):
    """picture: the file name of the chart, if there is one."""
    s = Samples(samples, clock, min_share)
    parts = [f"# dstok and other tokenizers: {cpu['name']}\n", head(s, cpu),
             picture and f"![Speeds of dstok and other tokenizers, {drawn(s)}]({picture})\n", "## Goals\n",
             table(["work", "text", "goal", *s.vocabs], goal_rows(s)) + "\n"]
    if s.worst:
        sizes = sorted({name.rsplit(", ", 1)[1] for name in s.worst}, key=lambda size: float(size.split()[0]))
        words = (f"The slowest of dstok's first pass and of one document over texts of {', '.join(sizes)}, MB/s of CPU time; "
                 "the goal is 20. Behind it how many times as long a byte takes in the largest as in the smallest: 1 is "
                 "linear, more than 1.5 is not.")
        parts += ["## Inputs made to be slow\n", textwrap.fill(words, 118) + "\n",
                  table(["input", *s.vocabs], worst_rows(s)) + "\n"]
    parts += ["## Figures\n", *cells(s)]
    if notes(s):
        parts += ["## Notes\n", notes(s) + "\n"]
    return "\n".join(part for part in parts if part)
