"""Training: python train.py --out FOLDER --minutes N (see README.md for the runs that made the model)."""

import argparse
import math
import multiprocessing
import os
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import batches
import vocab

N_ROTARY = 16  # pairs of a head that turn with the position; the others do not turn
ANGLES = [2.0 * (1 / 600) ** (i / (N_ROTARY - 1)) for i in range(N_ROTARY)]
EMBEDDING = 8.0  # length of a row: what layers add must not drown the token itself
PREVIOUS, GATHER, FIND = (
    0,
    1,
    2,
)  # layers: tokens before; words of the sentence; the fact. Those behind them: the token to copy


class Block(nn.Module):
    def __init__(self, d, heads, dh, ff):
        super().__init__()
        self.heads, self.dh = heads, dh
        make = lambda a, b: nn.Parameter(torch.randn(a, b) * b**-0.5)
        self.q, self.k, self.v, self.o = (
            make(heads * dh, d),
            make(heads * dh, d),
            make(heads * dh, d),
            make(d, heads * dh),
        )
        self.gate, self.up, self.down = make(ff, d), make(ff, d), make(d, ff)

    def forward(self, x, cos, sin, mask, n_text):
        b, n, d = x.shape
        to = lambda w: w.to(x.dtype)
        y = unit(x)
        q, k, v = (
            F.linear(y, to(w)).view(b, n, self.heads, self.dh).transpose(1, 2)
            for w in (self.q, self.k, self.v)
        )
        q, k = turn(q, cos, sin), turn(k, cos, sin)
        self.qk = q, k
        if n > 600:
            text = F.scaled_dot_product_attention(
                q[:, :, :n_text], k[:, :, :n_text], v[:, :, :n_text], is_causal=True
            )
            asks = F.scaled_dot_product_attention(q[:, :, n_text:], k, v, attn_mask=mask[:, :, n_text:])
            y = torch.cat([text, asks], 2)
        else:  # short rows pass faster this way
            h = b * self.heads
            s = mask.expand(b, self.heads, n, n).reshape(h, n, n)
            s = torch.baddbmm(
                s, q.reshape(h, n, -1), k.reshape(h, n, -1).transpose(1, 2), alpha=self.dh**-0.5
            )
            y = torch.bmm(s.softmax(-1), v.reshape(h, n, -1)).view(b, self.heads, n, -1)
        x = x + F.linear(y.transpose(1, 2).reshape(b, n, -1), to(self.o))
        y = unit(x)
        return x + F.linear(F.silu(F.linear(y, to(self.gate))) * F.linear(y, to(self.up)), to(self.down))


@torch.compile(dynamic=True)
def unit(x):
    y = x.float()
    return (y * (y.square().mean(-1, keepdim=True) + 1e-5).rsqrt()).to(x.dtype)


@torch.compile(dynamic=True)
def turn(x, cos, sin):
    a, b, rest = x.split([N_ROTARY, N_ROTARY, x.shape[-1] - 2 * N_ROTARY], -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin, rest), -1)


class Reader(nn.Module):
    def __init__(self, n_vocab, d=192, layers=5, heads=2, dh=96, ff=384):
        super().__init__()
        self.config = dict(n_vocab=n_vocab, d=d, layers=layers, heads=heads, dh=dh, ff=ff)
        self.emb = nn.Parameter(torch.randn(n_vocab, d) * d**-0.5)
        self.blocks = nn.ModuleList(Block(d, heads, dh, ff) for _ in range(layers))
        self.norm = nn.Parameter(torch.full((d,), 0.4))

    def forward(self, t, mask, dtype=torch.float32):
        angle = t["pos"][:, None, :, None].float() * torch.tensor(ANGLES)
        cos, sin = angle.cos(), angle.sin()
        cos, sin = cos.to(dtype), sin.to(dtype)
        emb = self.emb.to(dtype)
        x = F.embedding(t["ids"], emb)
        for b in self.blocks:
            x = b(x, cos, sin, mask, t["n_text"])
        at = t["targets"] >= 0
        x = x.gather(1, t["steps"][:, :, None].expand(-1, -1, x.shape[-1]))[at]
        return F.linear(unit(x) * self.norm.to(dtype), emb).float()


@torch.no_grad()
def set_up(m, v, seed):
    """What the model would have to learn first: words that differ in a capital or a blank are alike, the
    first layer looks one and two tokens back, finders compare like with like, the last layer copies."""
    g = torch.Generator().manual_seed(seed)
    normal = lambda *n: torch.randn(*n, generator=g)
    d, c = m.config["d"], m.config
    base = {}
    for i, raw in enumerate(v.raw):
        word = raw.strip().lower() or raw
        key = word if word.isalpha() and len(word) > 1 else raw.strip() or raw
        if key not in base:
            base[key] = normal(d) * d**-0.5
        own = normal(d) * d**-0.5
        m.emb[i] = 0.85 * base[key] + 0.3 * own
    blank, capital = normal(d) * d**-0.5, normal(d) * d**-0.5
    for i, raw in enumerate(v.raw):
        m.emb[i] += (0.3 if raw[:1] == b" " else 0) * blank + (
            0.3 if raw.strip()[:1].isupper() else 0
        ) * capital
    m.emb[:, 0] = 0.3
    m.emb *= EMBEDDING
    for n, b in enumerate(m.blocks):
        for w in (b.q, b.k, b.v, b.o, b.gate, b.up, b.down):
            w.copy_(normal(*w.shape) * w.shape[1] ** -0.5)
        b.o *= 0.3
        b.down *= 0.2
        for h in range(c["heads"]):
            rows = slice(h * c["dh"] + 2 * N_ROTARY, (h + 1) * c["dh"])
            if n >= 2:
                b.k[rows] = b.q[rows]
        if n == len(m.blocks) - 1:
            b.v.zero_()
            for i in range(min(d, c["heads"] * c["dh"])):
                b.v[i, i] = 1
            b.o.copy_(0.5 * b.v.T)
    b = m.blocks[PREVIOUS]
    for h in range(c["heads"]):
        for i, a in enumerate(ANGLES):
            r = h * c["dh"] + i
            b.q[r, 0] = 1.2
            b.k[r, 0], b.k[r + N_ROTARY, 0] = 1.2 * math.cos(a * (h + 1)), 1.2 * math.sin(a * (h + 1))


class Muon:
    """Momentum whose updates are made orthogonal by Newton-Schulz steps; matrices of one shape together."""

    def __init__(self, params, lr, momentum=0.95, decay=0.01):
        self.lr, self.momentum, self.decay, self.shapes, self.buf = lr, momentum, decay, {}, {}
        for p in params:
            self.shapes.setdefault(tuple(p.shape), []).append(p)

    @torch.no_grad()
    def step(self, scale):
        lr = self.lr * scale
        for shape, params in self.shapes.items():
            g = torch.stack([p.grad for p in params])
            b = self.buf.setdefault(shape, torch.zeros_like(g))
            b.mul_(self.momentum).add_(g, alpha=1 - self.momentum)
            x = g.lerp(b, self.momentum)
            flip = shape[0] > shape[1]
            x = x.transpose(1, 2) if flip else x
            x = (x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)).bfloat16()
            for _ in range(5):
                y = x @ x.transpose(1, 2)
                x = 3.4445 * x + (-4.775 * y + 2.0315 * (y @ y)) @ x
            x = (x.transpose(1, 2) if flip else x).float()
            for p, u in zip(params, x):
                p.mul_(1 - lr * self.decay).add_(u, alpha=-lr * max(1, shape[0] / shape[1]) ** 0.5)


# ---- where heads are taught to look


def visible(t):
    """Which places a place sees: the text before it, or all of it and its own question up to itself. (What
    padding sees does not matter.)"""
    units, k = t["units"], t["n_text"]
    asks = units[:, k:]
    n = units.shape[1]
    seen = torch.ones(n, n, dtype=torch.bool).tril().expand(len(units), n, n).clone()
    seen[:, k:] &= asks[:, :, None] == units[:, None]
    seen[:, k:, :k] = units[:, None, :k] >= 0
    return seen


def scores(block, h, rows, seen):
    """Logarithms of the weights of head h, for the given places."""
    q, k = (x[:, h] for x in block.qk)
    q = q.gather(1, rows[:, :, None].expand(-1, -1, q.shape[-1]))
    s = (q @ k.transpose(1, 2)).float() * block.dh**-0.5
    return s.masked_fill(~seen, -1e9)


def looks_at(block, h, rows, seen, place, weight):
    s = scores(block, h, rows, seen)
    loss = s.logsumexp(-1) - s.gather(2, place[:, :, None])[:, :, 0]
    return (loss * weight).sum() / weight.sum()


def scaffold(m, t, seen_all, generator):
    n = min(96, t["steps"].shape[1])
    some = (
        torch.rand(t["steps"].shape, generator=generator)
        .masked_fill_(t["targets"] < 0, -1)
        .topk(n, 1)
        .indices
    )
    t = t | {k: t[k].gather(1, some) for k in ("steps", "targets", "copy", "find", "first")}
    steps, real = t["steps"], (t["targets"] >= 0).float()
    seen = seen_all.gather(1, steps[:, :, None].expand(-1, -1, seen_all.shape[2]))
    weight = real * (1 + t["first"])
    heads = m.config["heads"]
    look = lambda b, what: sum(looks_at(b, h, steps, seen, t[what], weight) for h in range(heads)) / heads
    copy = sum(look(b, "copy") for b in m.blocks[FIND + 1 :]) / len(m.blocks[FIND + 1 :])
    find = look(m.blocks[FIND], "find")
    return copy, find, gather_loss(m, t, steps, seen, generator)


def gather_loss(m, t, steps, seen, generator):
    """Slots look at the other slots of their sentence (one head) and at the words of the relation (the
    other); so do the sentence's last sign, and answers in their question. Articles do not count."""
    k, units, roles = t["n_text"], t["units"], t["roles"]
    n = min(96, k)
    some = (
        torch.rand(units.shape[0], k, generator=generator)
        .masked_fill_(roles[:, :k] < 2, -1)
        .topk(n, 1)
        .indices.sort(1)
        .values
    )
    rows = torch.cat([some, steps], 1)
    causal = torch.arange(units.shape[1])[None, None] <= some[:, :, None]
    see = torch.cat([causal & (units[:, None] >= 0), seen], 1)
    pick = lambda x: x.gather(1, rows)[:, :, None]
    mine = see & (pick(units) == units[:, None])
    slots = (
        mine
        & ((roles > batches.CLOSE) & ~torch.isin(t["ids"], m.articles))[:, None]
        & (roles[:, None] != pick(roles))
    )
    words = mine & (roles[:, None] == 1)
    none_s, none_w = ~slots.any(2, keepdim=True), ~words.any(2, keepdim=True)
    loss = 0.0
    for h, p in ((0, slots | (words & none_s)), (1, words | (slots & none_w))):
        count = p.sum(2)
        live = (count > 0).float() * torch.cat(
            [(pick(roles)[:, :n, 0] > 1).float(), (t["targets"] >= 0).float()], 1
        )
        s = scores(m.blocks[GATHER], h, rows, see)
        mean = (s * p).sum(2) / count.clamp(min=1)
        loss = loss + ((s.logsumexp(-1) - mean - count.clamp(min=1).float().log()) * live).sum() / live.sum()
    return loss / 2


def previous_loss(m, t):
    """Head h of the first layer looks h + 1 tokens back (in the text)."""
    q, k = m.blocks[PREVIOUS].qk
    n, loss = min(96, t["n_text"]), 0.0
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    for h in range(m.config["heads"]):
        s = (q[:, h, :n] @ k[:, h, :n].transpose(1, 2)).float() * m.blocks[0].dh ** -0.5
        s = s.masked_fill(future, -1e9).log_softmax(-1)
        loss = loss - s.diagonal(-1 - h, 1, 2).mean()
    return loss / m.config["heads"]


# ---- runs


def tensors(b):
    return {k: torch.from_numpy(x) if isinstance(x, np.ndarray) else x for k, x in b.items()}


def mask_of(seen, dtype):
    return torch.zeros(seen.shape, dtype=dtype).masked_fill_(~seen, float("-inf"))[:, None]


def run(m, t, dtype=torch.float32):
    seen = visible(t)
    return m(t, mask_of(seen, dtype), dtype), seen


@torch.no_grad()
def exact(m, v, n, items, seed=99, lang=None, held_out=True, missing=0.0, dtype=torch.float32):
    """Shares of answers that are right to the end, by kind."""
    right = {}
    s = batches.stream(
        v,
        seed + n,
        n,
        n,
        4096,
        max_questions=max(4, min(24, 400 // n)),
        held_out=held_out,
        missing=missing,
        lang=lang,
    )
    total = 0
    while total < items:
        t = tensors(next(s))
        logits, _ = run(m, t, dtype)
        ok = torch.zeros(t["targets"].shape, dtype=torch.bool)
        at = t["targets"] >= 0
        ok[at] = logits.argmax(-1) == t["targets"][at]
        for b, o, k, z, kind, _ in t["info"]:
            right.setdefault(kind, []).append(bool(ok[b, o : o + k].all()))
            total += 1
    return right


def longest(step, o):
    """The curriculum: how many facts a text has at most."""
    return int(round(o.hi0 * (o.hi / o.hi0) ** min(1, step / (o.grow * o.steps))))


def produce(queue, v, step, o):
    """Batches from a step on; every 50 steps have their own seed, so that a run can go on where it was."""
    while step < o.steps:
        first = step - step % 50
        stream = batches.stream(
            v, o.seed * 1000003 + first, o.lo, longest(first, o), o.tokens, o.questions, False, o.missing
        )
        for i in range(first, first + 50):
            b = next(stream)
            if i >= step:
                queue.put(b)
        step = first + 50


def options():
    p = argparse.ArgumentParser()
    a = p.add_argument
    a("--out", required=True, help="checkpoint; goes on from it where it is there")
    a("--init", help="weights to begin with"), a("--steps", type=int, default=12000), a(
        "--seed", type=int, default=1
    )
    a("--stop", type=int, default=1 << 30, help="stop before this step of the plan")
    a("--d", type=int, default=192), a("--layers", type=int, default=5), a("--heads", type=int, default=2), a(
        "--dh", type=int, default=96
    )
    a("--ff", type=int, default=384), a("--tokens", type=int, default=4096), a(
        "--questions", type=int, default=40
    )
    a("--lo", type=int, default=2), a("--hi0", type=int, default=6), a("--hi", type=int, default=100), a(
        "--grow", type=float, default=0.6
    )
    a("--lr", type=float, default=3e-3), a("--muon", type=float, default=0.02), a(
        "--warm", type=int, default=50
    )
    a("--decay", type=float, default=0.35), a("--scaffold", type=float, default=1.0), a(
        "--missing", type=float, default=0.06
    )
    a("--every", type=int, default=200), a("--threads", type=int, default=1), a(
        "--float32", action="store_true"
    )
    return p.parse_args()


def losses(m, t, o, dtype, step, generator):
    """Loss, and figures for the log: answer, copy, find, gather, tokens right, first tokens right."""
    logits, seen = run(m, t, dtype)
    at = t["targets"] >= 0
    first = t["first"][at].float()
    answer = (F.cross_entropy(logits, t["targets"][at], reduction="none") * (1 + first)).sum() / (
        1 + first
    ).sum()
    hit = (logits.argmax(-1) == t["targets"][at]).float()
    loss, parts = answer, ()
    if o.scaffold > 0:
        parts = scaffold(m, t, seen, generator)
        loss = loss + o.scaffold * 0.5 * sum(parts)
        if step < 300:
            loss = loss + 0.3 * previous_loss(m, t)
    return loss, [float(x.detach()) for x in (answer, *parts, hit.mean(), (hit * first).sum() / first.sum())]


def train(o):
    torch.set_num_threads(o.threads)
    torch.manual_seed(o.seed)
    dtype = torch.float32 if o.float32 else torch.bfloat16
    v = vocab.Vocabulary()
    m = Reader(-(-len(v.tokens) // 32) * 32, o.d, o.layers, o.heads, o.dh, o.ff)
    set_up(m, v, o.seed)
    m.articles = torch.tensor([i for a in (" the", " The", " a", " A", "the", "The") for i in v.encode(a)])
    if o.init:
        m.load_state_dict(torch.load(o.init)["weights"])
    matrices = [x for x in m.blocks.parameters() if x.ndim == 2]
    copier = [
        m.blocks[-1].v,
        m.blocks[-1].o,
    ]  # copies from the beginning, and must not unlearn that before it knows where to look
    muon = Muon([x for x in matrices if not any(x is y for y in copier)], o.muon)
    slow = Muon(copier, 0.1 * o.muon)
    adam = torch.optim.AdamW([m.emb, m.norm], lr=o.lr, betas=(0.9, 0.98), weight_decay=0)
    step, used = 0, 0.0
    if os.path.exists(o.out):
        saved = torch.load(o.out)
        m.load_state_dict(saved["weights"])
        adam.load_state_dict(saved["adam"])
        muon.buf, slow.buf, step, used = saved["muon"], saved["slow"], saved["step"], saved["seconds"]
    ctx = multiprocessing.get_context("fork")
    queue = ctx.Queue(6)
    maker = ctx.Process(target=produce, args=(queue, v, step, o), daemon=True)
    maker.start()
    begin, log = time.process_time() - used, []
    print(sum(x.numel() for x in m.parameters()), "parameters", vars(o), flush=True)
    keep = lambda: save(
        o.out,
        dict(
            config=m.config,
            weights=m.state_dict(),
            adam=adam.state_dict(),
            muon=muon.buf,
            slow=slow.buf,
            step=step,
            seconds=time.process_time() - begin,
        ),
    )
    while step < min(o.steps, o.stop):
        scale = min(1, (step + 1) / o.warm) * min(1, max(0.01, (1 - step / o.steps) / o.decay))
        t = tensors(queue.get())
        loss, figures = losses(m, t, o, dtype, step, torch.Generator().manual_seed(step))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        adam.param_groups[0]["lr"] = o.lr * scale
        muon.step(scale)
        slow.step(scale)
        adam.step()
        m.zero_grad(set_to_none=True)
        step += 1
        log.append(figures)
        if step % 50 == 0:
            names = (
                ("loss", "copy", "find", "gather", "token", "first")
                if o.scaffold > 0
                else ("loss", "token", "first")
            )
            text = " ".join(f"{n} {x:.3f}" for n, x in zip(names, np.mean(log, 0)))
            if step % o.every == 0:
                shares = {
                    n: exact(m, v, n, 80, dtype=dtype)
                    for n in ((5, 20) if longest(step, o) < 30 else (20, 80))
                }
                for n, right in shares.items():
                    text += f" exact {n}: {100 * float(np.mean(sum(right.values(), []))):.1f}"
            print(
                f"{time.process_time() - begin:5.0f}s step {step} <={longest(step, o)} x{scale:.2f} {text}",
                flush=True,
            )
            log = []
            keep()
    keep()
    maker.terminate()


def save(path, what):
    torch.save(what, path + ".tmp")
    os.replace(path + ".tmp", path)


if __name__ == "__main__":
    train(options())
