#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes goldens.json: what transformers says about the fixtures, in float32 and in float64. Run by hand:

    python3 -m venv venv && venv/bin/pip install -r tests/model/requirements.txt
    venv/bin/python tests/model/reference.py [NAME...]

The modules of transformers turn to float32 in places, whatever the weights are: norms, softmax, routers, rotary tables.
For float64 the script makes torch.float32 mean torch.float64 while they run.
"""
import contextlib
import json
import pathlib
import sys
import tempfile

import torch
import transformers

import fixtures

HERE = pathlib.Path(__file__).resolve().parent
LEAST_MARGIN = 1e-4  # between the worst expert chosen and the best one left: logits, with sigmoid scores
LEAST_SPREAD = 1.5   # standard deviation of the logits of a token, in nats


@contextlib.contextmanager
def doubles():
    """torch.float32 is torch.float64 within."""
    kept = torch.float32, torch.float, torch.Tensor.float, torch.get_default_dtype()
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.float32, torch.float, torch.Tensor.float = kept[:3]
        torch.set_default_dtype(kept[3])


def load(path, double):
    model = transformers.AutoModelForCausalLM.from_pretrained(
        path, dtype=torch.float64 if double else torch.float32, attn_implementation="eager",
        experts_implementation="eager")
    model.eval()
    if double:
        model.double()
        inner = model.model
        with doubles():
            inner.rotary_emb = type(inner.rotary_emb)(model.config)
        assert inner.rotary_emb.inv_freq.dtype == torch.float64
    assert all(p.dtype == (torch.float64 if double else torch.float32) for p in model.parameters())
    return model


def margins(router, logits):
    """How clear the choice of each token was: the least distance between what was taken and what was left."""
    def gap(scores, k):
        best = scores.sort(dim=-1, descending=True).values
        return (best[:, k - 1] - best[:, k]).min().item() if k < scores.shape[1] else float("inf")

    kind = type(router).__name__
    if not kind.startswith("Deepseek"):
        return gap(logits, router.top_k)
    v3 = kind.startswith("DeepseekV3")
    scores = logits.sigmoid() + router.e_score_correction_bias if v3 else logits
    groups, clear = router.num_group or 1, float("inf")
    if groups > 1 and (v3 or router.topk_method == "group_limited_greedy"):
        per_group = scores.view(len(scores), groups, -1)
        of_group = per_group.topk(2, -1).values.sum(-1) if v3 else per_group.max(-1).values
        clear = gap(of_group, router.topk_group)
        kept = of_group.topk(router.topk_group, -1).indices
        left = torch.ones_like(of_group).scatter(1, kept, 0).bool()
        scores = per_group.masked_fill(left[:, :, None], float("-inf")).view(len(scores), -1)
    return min(clear, gap(scores, router.top_k))


def run(model, ids, one_by_one):
    """Logits of every position."""
    with torch.no_grad():
        if not one_by_one:
            return model(torch.tensor([ids])).logits[0]
        rows, cache = [], transformers.DynamicCache(config=model.config)
        for i in ids:
            rows.append(model(torch.tensor([[i]]), cache=cache, use_cache=True).logits[0, 0])
        assert cache.get_seq_length() == len(ids)
        return torch.stack(rows)


def figures(logits, ids, digits):
    rows = logits.log_softmax(-1)
    best = rows[-1].topk(5)
    return {"logprobs": [round(rows[i, token].item(), digits) for i, token in enumerate(ids[1:])],
            "top": [[token.item(), round(value.item(), digits)] for value, token in zip(best.values, best.indices)]}


def reference(path, ids):
    """Numbers of a fixture. Dynamic scaling depends on how a text comes: one token after the other is what is asked."""
    result, config = {}, transformers.AutoConfig.from_pretrained(path)
    dynamic = config.rope_parameters["rope_type"] == "dynamic"
    clear = []
    for double in (False, True):
        model = load(path, double)
        for module in model.modules():
            if type(module).__name__.endswith(("TopKRouter", "TopkRouter")):
                module.register_forward_hook(lambda m, _, out: clear.append(margins(m, out[0])))
        with doubles() if double else contextlib.nullcontext():
            # First: the rotary module keeps the frequencies of the longest text that it saw, for shorter ones, too.
            inside = run(model, ids[:config.max_position_embeddings], False) if dynamic else None
            logits = run(model, ids, dynamic)
            if dynamic:
                difference = (inside - logits[:len(inside)]).abs().max().item()
                assert difference < (1e-12 if double else 1e-4), difference
        assert logits.dtype == (torch.float64 if double else torch.float32)
        result["float64" if double else "float32"] = figures(logits, ids, 12 if double else 7)
    spread = logits.std(-1).mean().item()
    assert spread > LEAST_SPREAD, spread
    assert not clear or min(clear) > LEAST_MARGIN, min(clear)
    worst = max(abs(a - b) for a, b in zip(result["float32"]["logprobs"], result["float64"]["logprobs"]))
    print("%-20s spread %.2f, float32 is off by %.1e%s" % (
        path.name, spread, worst, ", margin of routing %.1e" % min(clear) if clear else ""))
    return result


def main(names):
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    ids, path = fixtures.text_ids(), HERE / "goldens.json"
    goldens = json.loads(path.read_text()) if names and path.exists() else {"fixtures": {}}
    goldens["made_with"] = "transformers %s, torch %s" % (transformers.__version__, torch.__version__.split("+")[0])
    goldens["ids"] = ids
    with tempfile.TemporaryDirectory() as folder:
        for name in names or fixtures.FIXTURES:
            goldens["fixtures"][name] = reference(fixtures.write(pathlib.Path(folder), name)[0], ids)
    text = json.dumps(goldens, sort_keys=True, separators=(",", ":"))
    path.write_text(text.replace('"float', '\n"float').replace('"top"', '\n"top"').replace('},"', '},\n"') + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
