#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tiny checkpoints of every architecture: fixtures.py FOLDER [NAME...]

Each is a folder as Hugging Face keeps them; some have twins of the same numbers beside it, NAME.gguf, NAME.bin and
NAME-fp8.
The numbers mean nothing, but are scaled so that every part of a model matters for what comes out.
"""
import json
import math
import pathlib
import sys

import formats
from formats import Tensor

N_TEXT = 136  # longer than two pages of 64, than every window and than most original contexts
EPSILON = 2 ** -17  # a float: GGUF keeps it exactly
MERGES = [("Ġ", "t"), ("h", "e"), ("Ġt", "he"), ("i", "n"), ("e", "r")]

BASE = {"hidden_act": "silu", "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": EPSILON, "max_position_embeddings": 512,
        "tie_word_embeddings": False}
MLA = {**BASE, "num_key_value_heads": 4, "num_hidden_layers": 3, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8,
       "v_head_dim": 12, "kv_lora_rank": 32, "q_lora_rank": None, "n_routed_experts": 8, "num_experts_per_tok": 3,
       "moe_intermediate_size": 32, "n_shared_experts": 2, "first_k_dense_replace": 1}
QWEN_MOE = {**BASE, "head_dim": 16, "num_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 32}


def yarn(**more):
    return {"type": "yarn", "factor": 16.0, "original_max_position_embeddings": 32, **more}


# name: (architecture, what config.json says beside BASE, number format, twins, more).
# twins: formats of the large matrices of NAME.gguf, or "bin", or "fp8" (a folder NAME-fp8). more: "shards", "freqs" (GGUF keeps factors of rotary
# frequencies in a tensor), "split" (GGUF keeps the two halves of kv_b apart), "head" (there is one, though the
# configuration says that it is the embedding).
FIXTURES = {
    "llama": ("llama", {**BASE, "rms_norm_eps": 1e-5}, "F32", ["F32", "bin"], []),
    "llama-quantised": ("llama", {**BASE, "hidden_size": 64, "intermediate_size": 96}, "F32", ["Q8_0", "Q4_1"], []),
    "llama-bias": ("llama", {**BASE, "attention_bias": True, "mlp_bias": True, "num_key_value_heads": 4}, "F16", [], []),
    "llama-3": ("llama", {**BASE, "rope_theta": 500000.0, "head_dim": 16, "rope_scaling": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64}}, "BF16", ["BF16"], ["freqs"]),
    "llama-linear": ("llama", {**BASE, "rope_scaling": {"type": "linear", "factor": 4.0}}, "F16", ["F16"], []),
    "llama-yarn": ("llama", {**BASE, "head_dim": 16, "rope_parameters": {
        "rope_type": "yarn", "rope_theta": 20000.0, "factor": 8.0, "original_max_position_embeddings": 64,
        "beta_fast": 2.0, "beta_slow": 0.25}},
        "F32", ["F32"], []),
    "llama-yarn-factor": ("llama", {**BASE, "rope_scaling": {
        "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "attention_factor": 1.5}},
        "F32", ["F32"], []),
    "llama-dynamic": ("llama", {**BASE, "max_position_embeddings": 64,
                                "rope_scaling": {"rope_type": "dynamic", "factor": 4.0}}, "F32", [], []),
    "smollm": ("llama", {**BASE, "hidden_size": 36, "intermediate_size": 52, "num_attention_heads": 3,
                         "num_key_value_heads": 1, "rope_theta": 100000, "tie_word_embeddings": True},
               "BF16", ["F32"], []),
    "mistral": ("mistral", {**BASE, "num_hidden_layers": 3, "sliding_window": 40}, "BF16", [], ["shards"]),
    "mistral-full": ("mistral", {**BASE, "head_dim": 16, "sliding_window": None}, "BF16", [], []),
    "qwen2": ("qwen2", {**BASE, "rope_theta": 1000000.0, "tie_word_embeddings": True, "use_sliding_window": False,
                        "sliding_window": 24, "max_window_layers": 1}, "BF16", ["BF16"], []),
    "qwen2-head": ("qwen2", {**BASE, "tie_word_embeddings": True}, "F32", [], ["head"]),
    "qwen2-window": ("qwen2", {**BASE, "num_hidden_layers": 3, "use_sliding_window": True, "sliding_window": 24,
                               "max_window_layers": 1}, "F32", [], []),
    "qwen3": ("qwen3", {**BASE, "head_dim": 16, "rope_theta": 1000000.0}, "F16", ["F16"], []),
    "qwen3-window": ("qwen3", {**BASE, "head_dim": 16, "attention_bias": True, "use_sliding_window": True,
                               "sliding_window": 24, "max_window_layers": 1}, "F32", [], []),
    "qwen3-moe": ("qwen3_moe", {**QWEN_MOE, "norm_topk_prob": True}, "F32", ["Q8_0", "Q4_1"], []),
    "qwen3-moe-dense": ("qwen3_moe", {**QWEN_MOE, "num_hidden_layers": 3, "mlp_only_layers": [0],
                                      "norm_topk_prob": False}, "BF16", [], ["shards"]),
    "qwen3-moe-step": ("qwen3_moe", {**QWEN_MOE, "num_hidden_layers": 4, "decoder_sparse_step": 2,
                                     "norm_topk_prob": True}, "F16", [], []),
    "deepseek-v2": ("deepseek_v2", {**MLA, "topk_method": "greedy", "routed_scaling_factor": 1.0,
                                    "rope_theta": 100.0, "rope_scaling": yarn(mscale=1.25, mscale_all_dim=1.25)},
                    "BF16", ["BF16"], []),
    "deepseek-v2-groups": ("deepseek_v2", {**MLA, "q_lora_rank": 24, "topk_method": "group_limited_greedy",
                                           "n_group": 4, "topk_group": 2, "routed_scaling_factor": 4.0,
                                           "rope_theta": 50.0, "rope_scaling": yarn(
                                               mscale=1.0, mscale_all_dim=0.5, beta_fast=8, beta_slow=0.5)}, "F32", [], []),
    "deepseek-v2-linear": ("deepseek_v2", {**MLA, "topk_method": "greedy", "rope_scaling": {
        "rope_type": "linear", "factor": 4.0, "mscale": 0.5, "mscale_all_dim": 0.75}}, "F32", [], []),
    "deepseek-v3": ("deepseek_v3", {**MLA, "v_head_dim": 24, "q_lora_rank": 32, "n_routed_experts": 16,
                                    "num_experts_per_tok": 4, "n_group": 4, "topk_group": 2, "n_shared_experts": 1,
                                    "norm_topk_prob": True,
                                    "routed_scaling_factor": 2.5, "num_nextn_predict_layers": 0,
                                    "max_position_embeddings": 4096, "rope_theta": 100.0, "rope_scaling": {
                                        "type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024,
                                        "mscale": 1.25, "mscale_all_dim": 1.25}},
                    "F32", ["Q8_0", "Q4_1"], ["split"]),
    "deepseek-v3-plain": ("deepseek_v3", {**MLA, "n_group": 1, "topk_group": 1, "norm_topk_prob": False,
                                          "routed_scaling_factor": 1.5, "num_nextn_predict_layers": 0}, "F16", [], []),
    "deepseek-v3-further": ("deepseek_v3", {**MLA, "num_hidden_layers": 2, "n_group": 2, "topk_group": 1,
                                            "rope_interleave": False, "num_nextn_predict_layers": 1}, "BF16", [], []),
    "deepseek-v3-blocks": ("deepseek_v3", {**MLA, "hidden_size": 144, "intermediate_size": 160, "num_hidden_layers": 2,
                                           "moe_intermediate_size": 136, "n_shared_experts": 1, "v_head_dim": 40,
                                           "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1,
                                           "num_nextn_predict_layers": 0}, "F32", ["fp8"], []),
}


# ---- the vocabulary: bytes, a few merges, two special tokens

def byte_chars():
    """How byte-level vocabularies write bytes, in the order in which GPT-2 numbers them."""
    own = [b for b in range(256) if 0x21 <= b <= 0x7E or 0xA1 <= b <= 0xAC or b >= 0xAE]
    others = [b for b in range(256) if b not in own]
    return [chr(b) for b in own] + [chr(256 + i) for i in range(len(others))]


TOKENS = byte_chars() + [a + b for a, b in MERGES] + ["<s>", "</s>"]
BOS, EOS = len(TOKENS) - 2, len(TOKENS) - 1


def text_ids():
    """The text that all tests use."""
    raw = formats.from_little("H", formats.random_bytes("text", 2 * N_TEXT))
    return [x % len(TOKENS) for x in raw]


def tokenizer_json():
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    added = [{"id": i, "content": TOKENS[i], "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for i in (BOS, EOS)]
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
             "vocab": {token: i for i, token in enumerate(TOKENS)}, "merges": [" ".join(pair) for pair in MERGES]}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
            "pre_tokenizer": level, "post_processor": None, "decoder": level, "model": model}


# ---- tensors of a model, as (name, shape, middle, deviation)

def sizes_of(config):
    heads = config["num_attention_heads"]
    return config["hidden_size"], heads, config.get("head_dim", config["hidden_size"] // heads)


def matrix(name, rows, columns, gain=1.0):
    """Keeps the spread of its input, times gain."""
    return name + ".weight", (rows, columns), 0, gain / columns ** 0.5


def norm(name, n):
    return name + ".weight", (n,), 1, 0.3


def bias(name, n):
    return name + ".bias", (n,), 0, 0.3


def attention(arch, config, at):
    width, heads, head_dim = sizes_of(config)
    rows = (("q_proj", heads * head_dim), ("k_proj", config["num_key_value_heads"] * head_dim),
            ("v_proj", config["num_key_value_heads"] * head_dim))
    for name, n in rows:
        yield matrix(at + name, n, width, 1.5)
        if arch == "qwen2" or config.get("attention_bias"):
            yield bias(at + name, n)
    yield matrix(at + "o_proj", width, heads * head_dim)
    if config.get("attention_bias"):
        yield bias(at + "o_proj", width)
    if arch.startswith("qwen3"):
        yield norm(at + "q_norm", head_dim)
        yield norm(at + "k_norm", head_dim)


def latent_attention(config, at):
    width, heads, _ = sizes_of(config)
    nope, rope, value = config["qk_nope_head_dim"], config["qk_rope_head_dim"], config["v_head_dim"]
    rank, q_rank = config["kv_lora_rank"], config["q_lora_rank"]
    if q_rank is None:
        yield matrix(at + "q_proj", heads * (nope + rope), width, 1.5)
    else:
        yield matrix(at + "q_a_proj", q_rank, width)
        yield norm(at + "q_a_layernorm", q_rank)
        yield matrix(at + "q_b_proj", heads * (nope + rope), q_rank, 1.5)
    # Latents are small, so that the epsilon of their norm matters.
    yield matrix(at + "kv_a_proj_with_mqa", rank + rope, width, 0.1)
    yield norm(at + "kv_a_layernorm", rank)
    yield matrix(at + "kv_b_proj", heads * (nope + value), rank, 1.5)
    yield matrix(at + "o_proj", width, heads * value)


def mlp(config, at, inner):
    width = config["hidden_size"]
    for name, rows, columns in (("gate_proj", inner, width), ("up_proj", inner, width), ("down_proj", width, inner)):
        yield matrix(at + name, rows, columns, 1.5)
        if config.get("mlp_bias"):
            yield bias(at + name, rows)


def has_experts(config, layer):
    return ("num_experts" in config and layer not in config.get("mlp_only_layers", [])
            and (layer + 1) % config.get("decoder_sparse_step", 1) == 0
            or "n_routed_experts" in config and layer >= config["first_k_dense_replace"])


def n_experts_of(config):
    return config.get("num_experts", config.get("n_routed_experts"))


def experts(arch, config, at):
    n, width, inner = n_experts_of(config), config["hidden_size"], config["moe_intermediate_size"]
    yield matrix(at + "gate", n, width, 1.5)
    if arch == "deepseek_v3":  # below 0 for most experts: choosing then differs from weighing
        yield at + "gate.e_score_correction_bias", (n,), -0.6, 0.3
    for expert in range(n):
        yield from mlp(config, "%sexperts.%d." % (at, expert), inner)
    if "n_shared_experts" in config:
        yield from mlp(config, at + "shared_experts.", inner * config["n_shared_experts"])


def further_layers(config):
    """What predicts further tokens, behind all layers: nothing of it may count."""
    width = config["hidden_size"]
    for layer in range(config.get("num_nextn_predict_layers", 0)):
        at = "model.layers.%d." % (config["num_hidden_layers"] + layer)
        yield norm(at + "enorm", width)
        yield matrix(at + "eh_proj", width, 2 * width)
        yield from latent_attention(config, at + "self_attn.")
        yield from mlp(config, at + "mlp.shared_experts.", config["moe_intermediate_size"])
        yield matrix(at + "shared_head.head", len(TOKENS), width)


def parts(arch, config, more):
    width = config["hidden_size"]
    # Small, so that the epsilon of the first norm matters; a head needs them larger.
    yield "model.embed_tokens.weight", (len(TOKENS), width), 0, 0.35 if config["tie_word_embeddings"] else 0.1
    for layer in range(config["num_hidden_layers"]):
        at = "model.layers.%d." % layer
        yield norm(at + "input_layernorm", width)
        yield from latent_attention(config, at + "self_attn.") if arch.startswith("deepseek") \
            else attention(arch, config, at + "self_attn.")
        yield norm(at + "post_attention_layernorm", width)
        yield from experts(arch, config, at + "mlp.") if has_experts(config, layer) \
            else mlp(config, at + "mlp.", config["intermediate_size"])
    yield from further_layers(config)
    yield norm("model.norm", width)
    if not config["tie_word_embeddings"] or "head" in more:
        yield matrix("lm_head", len(TOKENS), width, 2.0)


def make_tensors(name):
    """Tensors under their Hugging Face names. Where a twin is quantised, the values are those of its blocks: matrices
    take the two formats in turn."""
    arch, config, form, twins, more = FIXTURES[name]
    quantised, tensors = [t for t in twins if t in formats.QUANTISED], {}
    for key, shape, middle, deviation in parts(arch, config, more):
        this = form
        plain = len(shape) == 1 or ".gate.weight" in key or "kv_b_proj" in key and "split" in more
        if quantised and not plain:
            this = quantised[0] if "experts." not in key and len(tensors) % 3 == 0 or "down_proj" in key else quantised[1]
        if "e_score" in key:
            this = "F32"
        if "fp8" in twins and len(shape) == 2 and not any(part in key for part in ("embed", "lm_head", "gate.weight")):
            this = "F8_E4M3"
        tensors[key] = Tensor.make(name + "/" + key, shape, this, middle, deviation)
    return tensors


# ---- GGUF: its names, its keys, its order of rotary rows

GGUF_NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "self_attn.q_a_proj": "attn_q_a",
    "self_attn.q_a_layernorm": "attn_q_a_norm", "self_attn.q_b_proj": "attn_q_b",
    "self_attn.kv_a_proj_with_mqa": "attn_kv_a_mqa", "self_attn.kv_a_layernorm": "attn_kv_a_norm",
    "self_attn.kv_b_proj": "attn_kv_b", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "mlp.gate": "ffn_gate_inp", "mlp.gate.e_score_correction_bias": "exp_probs_b.bias",
    "mlp.experts.gate_proj": "ffn_gate_exps", "mlp.experts.up_proj": "ffn_up_exps",
    "mlp.experts.down_proj": "ffn_down_exps", "mlp.shared_experts.gate_proj": "ffn_gate_shexp",
    "mlp.shared_experts.up_proj": "ffn_up_shexp", "mlp.shared_experts.down_proj": "ffn_down_shexp",
}
GGUF_ARCHS = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "qwen3_moe": "qwen3moe",
              "deepseek_v2": "deepseek2", "deepseek_v3": "deepseek2"}


def gguf_name(key):
    """Name in GGUF, and the number of the expert or None."""
    words, expert, front = key.split("."), None, ""
    if words[:2] == ["model", "layers"]:
        front, words = "blk.%s." % words[2], words[3:]
    if "experts" in words:
        expert = int(words.pop(words.index("experts") + 1))
    tail = "." + words.pop() if words[-1] in ("weight", "bias") else ""
    return front + GGUF_NAMES[".".join(words)] + tail, expert


def split_kv_b(config, name, tensor):
    """kv_b in two: k_b of each head the other way round, v_b as it is."""
    heads, nope, value = config["num_attention_heads"], config["qk_nope_head_dim"], config["v_head_dim"]
    rank, both = tensor.shape[1], nope + value
    at = [[tensor.values[(h * both + r) * rank:(h * both + r + 1) * rank] for r in range(both)] for h in range(heads)]
    k = [at[h][r][c] for h in range(heads) for c in range(rank) for r in range(nope)]
    v = [x for h in range(heads) for r in range(nope, both) for x in at[h][r]]
    return {name.replace("kv_b", "k_b"): Tensor((heads, rank, nope), "F32", *formats.as_f32(k)),
            name.replace("kv_b", "v_b"): Tensor((heads, value, rank), "F32", *formats.as_f32(v))}


def gguf_tensors(name, tensors):
    arch, config, _, twins, more = FIXTURES[name]
    form = twins[0] if twins[0] in formats.PLAIN else "F32"
    out, of_experts = {}, {}
    for key, tensor in tensors.items():
        to, expert = gguf_name(key)
        if len(tensor.shape) == 1 or ".ffn_gate_inp." in to:
            tensor = tensor.plain("F32")
        elif tensor.form in formats.PLAIN:
            tensor = tensor.plain(form)
        if arch == "llama" and (".attn_q." in to or ".attn_k." in to):
            tensor = tensor.interleaved(config["num_attention_heads" if "attn_q" in to else "num_key_value_heads"])
        if expert is not None:
            of_experts.setdefault(to, []).append(tensor)
        elif "attn_kv_b" in to and "split" in more:
            out.update(split_kv_b(config, to, tensor))
        else:
            out[to] = tensor
    out.update({to: formats.stacked(group) for to, group in of_experts.items()})
    if "freqs" in more:
        out["rope_freqs.weight"] = Tensor((sizes_of(config)[2] // 2,), "F32", *formats.as_f32(llama3_factors(config)))
    return out


def llama3_factors(config):
    """What the frequencies are divided by."""
    scaling, dims = config["rope_scaling"], sizes_of(config)[2]
    for i in range(0, dims, 2):
        turns = scaling["original_max_position_embeddings"] * config["rope_theta"] ** (-i / dims) / 6.283185307179586
        part = (turns - scaling["low_freq_factor"]) / (scaling["high_freq_factor"] - scaling["low_freq_factor"])
        part = min(max(part, 0), 1)
        yield 1 / ((1 - part) / scaling["factor"] + part)


def gguf_rope(config, more):
    scaling = config.get("rope_scaling", config.get("rope_parameters", {}))
    kind = scaling.get("rope_type", scaling.get("type"))
    pairs = {"rope.freq_base": float(config.get("rope_theta", scaling.get("rope_theta", 10000.0)))}
    if kind is None or "freqs" in more:
        return pairs
    pairs.update({"rope.scaling.type": kind, "rope.scaling.factor": scaling["factor"]})
    if kind == "yarn":
        pairs["rope.scaling.original_context_length"] = scaling["original_max_position_embeddings"]
    if "attention_factor" in scaling:  # what comes on top of yarn's own
        pairs["rope.scaling.attn_factor"] = scaling["attention_factor"] / (0.1 * math.log(scaling["factor"]) + 1)
    for key in ("beta_fast", "beta_slow"):
        if key in scaling:
            pairs["rope.scaling.yarn_" + key] = scaling[key]
    if "mscale_all_dim" in scaling:
        pairs["rope.scaling.yarn_log_multiplier"] = 0.1 * scaling["mscale_all_dim"]
    return pairs


def gguf_mla(arch, config, more):
    nope, rope = config["qk_nope_head_dim"], config["qk_rope_head_dim"]
    rank, value = config["kv_lora_rank"], config["v_head_dim"]
    pairs = {"leading_dense_block_count": config["first_k_dense_replace"], "attention.kv_lora_rank": rank,
             "attention.key_length": nope + rope, "attention.value_length": value, "rope.dimension_count": rope,
             "expert_shared_count": config["n_shared_experts"],
             "expert_weights_scale": config["routed_scaling_factor"],
             "expert_weights_norm": config.get("norm_topk_prob", False),
             "expert_gating_func": 2 if arch == "deepseek_v3" else 1}
    if "split" in more:  # newer files: one key-value head, and the sizes of expanded heads apart
        pairs.update({"attention.key_length": rank + rope, "attention.value_length": rank,
                      "attention.key_length_mla": nope + rope, "attention.value_length_mla": value,
                      "attention.head_count_kv": 1})
    if config["q_lora_rank"] is not None:
        pairs["attention.q_lora_rank"] = config["q_lora_rank"]
    if "n_group" in config:
        pairs.update({"expert_group_count": config["n_group"], "expert_group_used_count": config["topk_group"]})
    return pairs


def gguf_pairs(name):
    arch, config, _, _, more = FIXTURES[name]
    width, heads, head_dim = sizes_of(config)
    pairs = {"block_count": config["num_hidden_layers"], "context_length": config["max_position_embeddings"],
             "embedding_length": width, "feed_forward_length": config["intermediate_size"],
             "attention.head_count": heads, "attention.head_count_kv": config["num_key_value_heads"],
             "attention.layer_norm_rms_epsilon": config["rms_norm_eps"], "vocab_size": len(TOKENS),
             **gguf_rope(config, more)}
    if "head_dim" in config:
        pairs.update({"attention.key_length": head_dim, "attention.value_length": head_dim})
    if arch == "llama":
        pairs["rope.dimension_count"] = head_dim
    if n_experts_of(config):
        pairs.update({"expert_count": n_experts_of(config), "expert_used_count": config["num_experts_per_tok"],
                      "expert_feed_forward_length": config["moe_intermediate_size"]})
    if arch.startswith("deepseek"):
        pairs.update(gguf_mla(arch, config, more))
    front = GGUF_ARCHS[arch]
    return {"general.architecture": front, "general.name": name,
            **{front + "." + key: value for key, value in pairs.items()},
            "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": TOKENS,
            "tokenizer.ggml.token_type": [3 if i >= BOS else 1 for i in range(len(TOKENS))],
            "tokenizer.ggml.merges": [" ".join(pair) for pair in MERGES],
            "tokenizer.ggml.bos_token_id": BOS, "tokenizer.ggml.eos_token_id": EOS}


# ---- files

CLASSES = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3", "qwen3_moe": "Qwen3Moe",
           "deepseek_v2": "DeepseekV2", "deepseek_v3": "DeepseekV3"}
DTYPES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}


def write_folder(folder, name, tensors):
    arch, config, form, _, more = FIXTURES[name]
    folder.mkdir(exist_ok=True)
    config = {"architectures": [CLASSES[arch] + "ForCausalLM"], "model_type": arch, "vocab_size": len(TOKENS),
              "bos_token_id": BOS, "eos_token_id": EOS, "torch_dtype": DTYPES[form], **config}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_json(), indent=1, ensure_ascii=False) + "\n")
    if folder.name != name:
        config["quantization_config"] = {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8",
                                         "weight_block_size": [128, 128]}
        tensors.update({key + "_scale_inv": t.scales for key, t in tensors.items() if t.scales is not None})
    else:
        tensors = {key: t if t.form in formats.PLAIN else t.plain("F32") for key, t in tensors.items()}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    if "shards" in more:
        formats.write_shards(folder, tensors, 2)
    else:
        formats.write_safetensors(folder / "model.safetensors", tensors)


def write_bin(path, name, tensors):
    config = FIXTURES[name][1]
    width, heads, head_dim = sizes_of(config)
    layers, kv_heads = range(config["num_hidden_layers"]), config["num_key_value_heads"]
    order = [tensors["model.embed_tokens.weight"]]
    for part in ("input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
                 "post_attention_layernorm", "mlp.gate_proj", "mlp.down_proj", "mlp.up_proj"):
        for layer in layers:
            tensor = tensors["model.layers.%d.%s.weight" % (layer, part)]
            if part in ("self_attn.q_proj", "self_attn.k_proj"):
                tensor = tensor.interleaved(heads if "q_proj" in part else kv_heads)
            order.append(tensor)
    order += [tensors["model.norm.weight"], tensors["lm_head.weight"]]
    length = config["max_position_embeddings"]
    sizes = (width, config["intermediate_size"], len(layers), heads, kv_heads, -len(TOKENS), length)
    formats.write_llama2c(path, sizes, order, length * head_dim)


def write(folder, name):
    """Writes a fixture and its twins; returns the paths, the folder first."""
    tensors, twins, paths = make_tensors(name), FIXTURES[name][3], [folder / name]
    write_folder(folder / name, name, tensors)
    if "fp8" in twins:
        paths.append(folder / (name + "-fp8"))
        write_folder(paths[-1], name, tensors)
    if [t for t in twins if t not in ("bin", "fp8")]:
        paths.append(folder / (name + ".gguf"))
        formats.write_gguf(paths[-1], gguf_pairs(name), gguf_tensors(name, tensors))
    if "bin" in twins:
        paths.append(folder / (name + ".bin"))
        write_bin(paths[-1], name, tensors)
    return paths


def main(arguments):
    if not arguments or arguments[0].startswith("-") or any(name not in FIXTURES for name in arguments[1:]):
        print("usage: fixtures.py FOLDER [NAME...]   names: " + " ".join(FIXTURES), file=sys.stderr)
        return 2
    folder = pathlib.Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.ids").write_text(" ".join(map(str, text_ids())) + "\n")
    for name in arguments[1:] or FIXTURES:
        write(folder, name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
