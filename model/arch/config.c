/* SPDX-License-Identifier: MIT */
/* What any configuration must satisfy before memory is asked for or a size is multiplied. */
#include "arch/config.h"

#include "base.h"

#include <inttypes.h>
#include <math.h>

static const char *const names[DSX__N_ARCHS] = {
    [DSX__LLAMA] = "llama", [DSX__MISTRAL] = "mistral",     [DSX__QWEN2] = "qwen2",
    [DSX__QWEN3] = "qwen3", [DSX__QWEN3_MOE] = "qwen3_moe", [DSX__DEEPSEEK] = "deepseek",
};

const char *dsx__arch_name(dsx__arch arch) {
    return names[arch];
}

bool dsx__has_experts(const dsx__config *c, uint32_t layer) {
    const dsx__moe *m = &c->moe;

    return m->n_experts > 0 && layer >= m->first_layer &&
           (layer - m->first_layer) % (m->layer_step > 0 ? m->layer_step : 1) == 0;
}

uint32_t dsx__value_dim(const dsx__config *c) {
    return c->mla.kv_rank > 0 ? c->mla.value : c->head_dim;
}

static dstok_status wrong(dstok_error *err, const char *what) {
    return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "%s", what);
}

/* ---- sizes */

typedef struct size {
    const char *name;
    uint64_t value, least, most;
} size;

static dstok_status check_range(const size *s, size_t n, dstok_error *err) {
    for (size_t i = 0; i < n; i++)
        if (s[i].value < s[i].least || s[i].value > s[i].most)
            return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET,
                             "%s is %" PRIu64 "; it must be between %" PRIu64 " and %" PRIu64, s[i].name,
                             s[i].value, s[i].least, s[i].most);
    return DSTOK_OK;
}

static dstok_status check_sizes(const dsx__config *c, dstok_error *err) {
    bool dense = c->moe.n_experts == 0 || c->moe.first_layer > 0 || c->moe.layer_step > 1;
    const size sizes[] = {
        {"the number of layers", c->n_layers, 1, DSX__MAX_LAYERS},
        {"the number of further layers", c->n_more_layers, 0, DSX__MAX_LAYERS},
        {"the width", c->width, 1, DSX__MAX_WIDTH},
        {"the number of heads", c->n_heads, 1, DSX__MAX_WIDTH},
        {"the number of key-value heads", c->n_kv_heads, 1, c->n_heads},
        {"the size of a head", c->head_dim, 1, DSX__MAX_HEAD},
        {"the width of all heads", (uint64_t)c->n_heads * c->head_dim, 1, DSX__MAX_WIDTH},
        {"the feed-forward width", c->ffn, dense, DSX__MAX_WIDTH},
        {"the number of tokens", c->n_vocab, 1, DSX__MAX_VOCAB},
        {"the context", c->context, 1, DSX__MAX_CONTEXT},
        {"the sliding window", c->window, 0, UINT32_MAX},
        {"the number of ends of text", c->n_eos, 0, sizeof c->eos / sizeof *c->eos},
    };

    DSX_TRY(check_range(sizes, sizeof sizes / sizeof *sizes, err));
    if (c->n_heads % c->n_kv_heads != 0) return wrong(err, "the key-value heads do not divide the heads");
    return DSTOK_OK;
}

static dstok_status check_mla(const dsx__config *c, dstok_error *err) {
    const dsx__mla *m = &c->mla;
    const size sizes[] = {
        {"the rank of queries", m->q_rank, 0, DSX__MAX_WIDTH},
        {"the rank of keys and values", m->kv_rank, 1, DSX__MAX_WIDTH},
        {"the part of a head without positions", m->nope, 1, DSX__MAX_WIDTH},
        {"the part of a head with positions", m->rope, 1, DSX__MAX_WIDTH},
        {"the size of a value", m->value, 1, DSX__MAX_WIDTH},
        {"the width of all keys and values", (uint64_t)c->n_heads * ((uint64_t)m->nope + m->value), 1,
         DSX__MAX_WIDTH},
        {"the width of all latents", m->split ? (uint64_t)c->n_heads * m->kv_rank : 1, 1, DSX__MAX_WIDTH},
        {"the width of the latent and the positions", (uint64_t)m->kv_rank + m->rope, 1, DSX__MAX_HEAD},
    };

    if (m->kv_rank == 0) return DSTOK_OK;
    DSX_TRY(check_range(sizes, sizeof sizes / sizeof *sizes, err));
    if (c->head_dim != m->nope + m->rope) return wrong(err, "a head is not its two parts together");
    if (c->n_kv_heads != c->n_heads || c->qk_norm || c->qkv_bias || c->o_bias)
        return dsx__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET,
                         "not supported: latent attention with grouped heads, biases or norms of heads");
    return DSTOK_OK;
}

static dstok_status check_moe(const dsx__config *c, dstok_error *err) {
    const dsx__moe *m = &c->moe;
    uint64_t groups = m->n_groups > 1 ? m->n_groups : 1;
    const size sizes[] = {
        {"the number of experts", m->n_experts, 1, DSX__MAX_EXPERTS},
        {"the number of experts used", m->n_used, 1, m->n_experts},
        {"the width of an expert", m->width, 1, DSX__MAX_WIDTH},
        {"the width of the shared experts", (uint64_t)m->n_shared * m->width, 0, DSX__MAX_WIDTH},
        {"the number of groups of experts", groups, 1, m->n_experts},
        {"the number of groups used", groups > 1 ? m->n_groups_used : 1, 1, groups},
        {"the first layer with experts", m->first_layer, 0, UINT32_MAX},
        {"the step of layers with experts", m->layer_step, 1, UINT32_MAX},
    };

    if (m->n_experts == 0) return DSTOK_OK;
    DSX_TRY(check_range(sizes, sizeof sizes / sizeof *sizes, err));
    if (m->n_experts % groups != 0) return wrong(err, "the groups do not divide the experts");
    if (groups > 1 && m->n_used > m->n_experts / groups * m->n_groups_used)
        return wrong(err, "the groups that are used hold fewer experts than are used");
    if (groups > 1 && m->group_top2 && m->n_experts / groups < 2)
        return wrong(err, "a group of one expert has no two best ones");
    if (!isfinite(m->scale)) return wrong(err, "the scale of the experts must be a number");
    return DSTOK_OK;
}

/* ---- numbers */

static bool is_positive(double x) {
    return isfinite(x) && x > 0;
}

static dstok_status check_rope(const dsx__config *c, dstok_error *err) {
    const dsx__rope *r = &c->rope;

    if ((c->mla.kv_rank > 0 ? c->mla.rope : c->head_dim) % 2 != 0)
        return wrong(err, "rotary positions need an even number of dimensions");
    if (!is_positive(r->theta)) return wrong(err, "the base of rotary positions must be above 0");
    if (r->kind == DSX__ROPE_PLAIN) return DSTOK_OK;
    if (!is_positive(r->factor)) return wrong(err, "the factor of rotary positions must be above 0");
    if (!isfinite(r->mscale) || !isfinite(r->mscale_all) || r->mscale < 0 || r->mscale_all < 0 ||
        !isfinite(r->attention_factor) || r->attention_factor < 0)
        return wrong(err, "mscale, mscale_all_dim and attention_factor must not be below 0");
    if (r->kind == DSX__ROPE_LINEAR) return DSTOK_OK;
    if (r->original_context == 0)
        return wrong(err, "the original context of rotary positions must be above 0");
    if (r->kind == DSX__ROPE_LLAMA3 &&
        (!is_positive(r->low_freq) || !is_positive(r->high_freq) || r->low_freq >= r->high_freq))
        return wrong(err, "low_freq_factor must be above 0 and below high_freq_factor");
    if (r->kind != DSX__ROPE_YARN) return DSTOK_OK;
    if (!is_positive(r->beta_slow) || !is_positive(r->beta_fast) || r->beta_slow >= r->beta_fast)
        return wrong(err, "beta_slow must be above 0 and below beta_fast");
    return DSTOK_OK;
}

dstok_status dsx__config_check(const dsx__config *c, dstok_error *err) {
    DSX_TRY(check_sizes(c, err));
    DSX_TRY(check_mla(c, err));
    DSX_TRY(check_moe(c, err));
    DSX_TRY(check_rope(c, err));
    if (!is_positive(c->norm_eps)) return wrong(err, "the epsilon of norms must be above 0");
    if (!isfinite(c->attention_scale) || c->attention_scale < 0)
        return wrong(err, "the scale of attention must not be below 0");
    return DSTOK_OK;
}
