/* SPDX-License-Identifier: MIT */
/* Rotary positions. Sources: Su et al. 2021 (arXiv 2104.09864); linear scaling: Chen et al. 2023
 * (2306.15595); yarn: Peng et al. 2023 (2309.00071); the llama3 scheme: as published with Llama 3.1.
 * Formulas agree with those of transformers. */
#include "arch/rope.h"

#include <math.h>

static const double two_pi = 6.283185307179586476925286766559;

uint32_t dsx__rope_dims(const dsx__config *c) {
    return c->mla.kv_rank > 0 ? c->mla.rope : c->head_dim;
}

/* How much yarn sharpens the softmax for a context that is `factor` times as long. */
static double yarn_mscale(double factor, double mscale) {
    return factor <= 1 ? 1 : 0.1 * mscale * log(factor) + 1;
}

static double table_factor(const dsx__rope *r) {
    if (r->kind != DSX__ROPE_YARN) return 1;
    if (r->attention_factor > 0) return r->attention_factor;
    if (r->mscale > 0 && r->mscale_all > 0)
        return yarn_mscale(r->factor, r->mscale) / yarn_mscale(r->factor, r->mscale_all);
    return yarn_mscale(r->factor, 1);
}

double dsx__attention_scale(const dsx__config *c) {
    double scale = c->attention_scale > 0 ? c->attention_scale : 1 / sqrt(c->head_dim);

    if (c->mla.kv_rank > 0 && c->rope.kind != DSX__ROPE_PLAIN && c->rope.mscale_all > 0) {
        double m = yarn_mscale(c->rope.factor, c->rope.mscale_all);
        scale *= m * m;
    }
    return scale;
}

/* Frequencies that turn more than high_freq times within the original context stay, those that turn less
 * than low_freq times are slowed down, and between the two it goes over smoothly. */
static double llama3(const dsx__rope *r, double f) {
    double turns = r->original_context * f / two_pi, part;

    if (turns > r->high_freq) return f;
    if (turns < r->low_freq) return f / r->factor;
    part = (turns - r->low_freq) / (r->high_freq - r->low_freq);
    return (1 - part) * f / r->factor + part * f;
}

/* The dimension that turns so many times within the original context. */
static double yarn_dim(const dsx__rope *r, double turns, uint32_t dims) {
    return dims * log(r->original_context / (turns * two_pi)) / (2 * log(r->theta));
}

static double yarn(const dsx__rope *r, double f, uint32_t i, uint32_t dims) {
    double low = floor(yarn_dim(r, r->beta_fast, dims)), high = ceil(yarn_dim(r, r->beta_slow, dims)), ramp;

    if (low < 0) low = 0;
    if (high > dims - 1) high = dims - 1;
    if (low == high) high += 0.001;
    ramp = (i - low) / (high - low);
    ramp = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
    return f / r->factor * ramp + f * (1 - ramp);
}

/* The dynamic scheme raises theta with the length of the text. A position takes the length of the text that
 * it ends, as when tokens come one by one: so a prefix has the same keys whatever follows. */
static double dynamic_theta(const dsx__rope *r, uint64_t position, uint32_t dims) {
    double length = (double)position + 1, original = r->original_context;

    if (length <= original) return r->theta;
    return r->theta * pow(r->factor * length / original - (r->factor - 1), dims / (dims - 2.0));
}

static double frequency(const dsx__rope *r, uint64_t position, uint32_t i, uint32_t dims) {
    double theta = r->kind == DSX__ROPE_DYNAMIC ? dynamic_theta(r, position, dims) : r->theta;
    double f = pow(theta, -2.0 * i / dims);

    if (r->factors != NULL) f /= (double)r->factors[i];
    switch (r->kind) {
    case DSX__ROPE_LINEAR:
        return f / r->factor;
    case DSX__ROPE_LLAMA3:
        return llama3(r, f);
    case DSX__ROPE_YARN:
        return yarn(r, f, i, dims);
    default:
        return f;
    }
}

void dsx__rope_table(const dsx__config *c, uint64_t first, size_t n, double *cosine, double *sine) {
    uint32_t dims = dsx__rope_dims(c), half = dims / 2;
    double factor = table_factor(&c->rope);

    for (uint32_t i = 0; i < half; i++) {
        double f = frequency(&c->rope, first, i, dims);

        for (size_t row = 0; row < n; row++) {
            if (c->rope.kind == DSX__ROPE_DYNAMIC) f = frequency(&c->rope, first + row, i, dims);
            cosine[row * half + i] = cos((double)(first + row) * f) * factor;
            sine[row * half + i] = sin((double)(first + row) * f) * factor;
        }
    }
}
