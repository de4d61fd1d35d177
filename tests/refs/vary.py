# SPDX-License-Identifier: MIT
"""Made-up vocabularies with every option of tokenizer.json that dstok reads, in random combinations, against tokenizers:
byte-level ones here, the others in vary_chars.py.

One combination is left out: an added token with rstrip beside one that begins with a blank. There the reference matches
inside of what it has taken in already and puts the same text out twice; dstok does not."""
import json
import os
import random

import common
import made
import vary_chars

WORDS = ["a", "b", "l", "o", "he", " ", "\n", "1", "\u00e9", "\u4f60", "\u0301", "'", "s", "X", "!"]
PATTERNS = [r"\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+", r"l", r"\s+(?!\S)|\s", r"[^\r\n\p{L}]?\p{L}+|\s*[\r\n]+", r"(?i:'s|'T)",
            r"[\p{L}&&[^aeiou]]+", r"a$", r"\d", r"\w+", r"^\s|o\b"]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
NORMALIZERS = [{"type": "NFC"}, {"type": "NFKC"}, {"type": "NFD"}, {"type": "Lowercase"},
               {"type": "Sequence", "normalizers": [{"type": "NFKD"}, {"type": "Lowercase"}]}]
CONTENTS = ["<|a|>", "<|a|><|b|>", "<b>", "lo", "b", "ab", "\u00e9e", "X!", "[END]", "\u4f60", "<\uff5cU\uff5c>", "12", "bl"]
BLANK_CONTENTS = ["  ", "\n ", " a", "\t"]
TEXTS_EACH = 1500


def random_merges(rng):
    parts, merges = [bytes([b]) for w in WORDS for b in w.encode()], []
    for _ in range(rng.randint(0, 40)):
        left, right = rng.choice(parts), rng.choice(parts)
        merges.append([left, right])
        if len(left + right) < 12:
            parts.append(left + right)
    return merges


def random_added(rng):
    strips = rng.random() < 0.5
    contents = rng.sample(CONTENTS, rng.randint(0, 7)) + ([] if strips else rng.sample(BLANK_CONTENTS, rng.randint(0, 2)))
    rng.shuffle(contents)

    def flag(chance=0.4):
        return rng.random() < chance
    return [made.added(one, special=flag(), normalized=flag(), single_word=flag(0.25), lstrip=flag(0.3),
                       rstrip=strips and flag(0.3)) for one in contents]


def random_steps(rng):
    what = rng.randrange(4)
    if what == 0:
        return dict(made.BYTE_LEVEL, add_prefix_space=rng.random() < 0.3)
    steps = [{"type": "Split", "pattern": {"Regex": rng.choice(PATTERNS)} if rng.random() < 0.8 else {"String": rng.choice(WORDS)},
              "behavior": rng.choice(BEHAVIORS), "invert": rng.random() < 0.3} for _ in range(rng.randint(1, 3))]
    if what == 1:
        steps.insert(rng.randrange(len(steps) + 1), {"type": "Digits", "individual_digits": rng.random() < 0.5})
    if what == 2:
        steps.insert(rng.randrange(len(steps) + 1), {"type": "Punctuation", "behavior": rng.choice(BEHAVIORS)})
    return {"type": "Sequence", "pretokenizers": steps + [dict(made.BYTE_LEVEL, use_regex=rng.random() < 0.3)]}


def random_tokenizer(rng):
    """(text, is it of the byte-level kind?)."""
    if rng.random() < 0.6:
        return vary_chars.tokenizer(rng), False
    model = {"ignore_merges": rng.random() < 0.3}
    if rng.random() < 0.2:
        model["unk_token"] = "!"
        model["fuse_unk"] = rng.random() < 0.5
    odd = rng.random() < 0.2  # steps of all kinds
    members = {"pre_tokenizer": vary_chars.byte_level_pre_tokenizer(rng) if odd else random_steps(rng)}
    if rng.random() < 0.4:
        members["normalizer"] = vary_chars.normalizer(rng) if odd else rng.choice(NORMALIZERS)
    text = made.tokenizer(merges=random_merges(rng), added=random_added(rng), model=model, **members)
    if rng.random() < 0.3:  # bytes without a token
        for key in rng.sample(["x", "z", "$", "S"], 2):
            text = text.replace(f'"{key}": {ord(key)}, ', "")
    return text, True


def random_text(rng, contents):
    pool = WORDS + contents + ["\u00c9", "e", " ", "x", "\u0041\u030a", "\ufb01", "\u0130", "z", "'S", "\r", "$", "\u2581", "\u597d",
                               "\U0001f600", "ab", "lo", "\u3042", "\u0440", "\u00a0"]
    return "".join(rng.choices(pool, k=rng.choice((1, 3, 6, 12, 30))))


def tasks(seed, folder, mb):
    """40 vocabularies for each 10 MB that the others get."""
    return [(f"{seed} {k}", os.path.join(folder, f"made{k}.json")) for k in range(max(20, int(4 * mb)))]


def refusal(path):
    """Why dstok does not load a file, or None."""
    done = common.run(["encode", "-q", "-v", path], b"a")
    message = done.stderr.decode("utf-8", "replace").strip()
    return message or "no message" if done.returncode == 2 or "not supported" in message else None


def need_tokenizers():
    try:
        import tokenizers  # noqa: F401
    except ImportError as missing:
        common.skip(f"{missing}; run with a Python that has tokenizers 0.23.3")


def quiet():
    """In a process that calls the reference: it tells of each of its panics on standard error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def work(task):
    import refs
    seed, path = task
    rng = random.Random(seed)
    name = os.path.basename(path)
    text, byte_level = random_tokenizer(rng)
    with open(path, "w", encoding="utf-8") as target:
        target.write(text)
    try:
        refused = refusal(path)
        try:
            reference = refs.HuggingFace(path)
        except BaseException as trouble:  # the reference refuses the file
            return name, 0, f"  {name:34} the reference refuses it: {str(trouble)[:60]}; dstok: {refused or 'loads'}"
        if refused:
            is_right = "not supported" in refused
            return name, not is_right, f"  {name:34} {'' if is_right else 'WRONG: '}{refused[-150:]}"
        shown, n_differ = compare(rng, reference)
    except BaseException as trouble:  # also a panic of the reference: say what it met, and with which file
        return name, 1, f"  {name:34} FAILED: {type(trouble).__name__}: {trouble}\n    {describe(text, byte_level)}"
    more = "\n    " + describe(text, byte_level) if n_differ else ""
    notes = "".join(f"\n    {count} {what}" for what, count in sorted(reference.notes.items()))
    return name, n_differ, f"  {name:34} {TEXTS_EACH} strings {n_differ:5} differences" + "".join("\n" + s for s in shown) + more + notes


def compare(rng, reference):
    import refs
    batch = [random_text(rng, reference.specials) for _ in range(TEXTS_EACH)]
    shown, n_differ = [], 0
    for policy in dict.fromkeys(reference.policies):
        items = batch
        if policy == "decode":
            numbers = sorted(reference.tokenizer.get_vocab().values())
            items = reference.ids(batch[:TEXTS_EACH // 2]) + [rng.choices(numbers, k=rng.randint(0, 9)) for _ in range(TEXTS_EACH // 2)]
        differing = reference.compare(policy, items)
        n_differ += len(differing)
        shown += [refs.report(reference, policy, items[d]) for d in differing[:1]]
    return shown, n_differ


def describe(text, byte_level):
    """What of a made file matters."""
    if not byte_level:
        return vary_chars.describe(text)
    data = json.loads(text)
    added = [{k: v for k, v in one.items() if v not in (False, 0)} for one in data["added_tokens"]]
    model = {k: data["model"][k] for k in ("merges", "ignore_merges", "unk_token", "fuse_unk")}
    return json.dumps([data["normalizer"], data["pre_tokenizer"], added, model])
