/* SPDX-License-Identifier: MIT */
/* Making encoders. */
#include "encoder.h"

#include "../base/sized.h"

static dstok_status make_scratch(dstok_encoder *enc) {
    const dstok_tokenizer *tok = enc->tok;
    if (tok->options & DSTOK__T_UNUSED) {
        enc->splits = dstok__alloc_array(&tok->al, tok->n_ids, sizeof *enc->splits);
        if (enc->splits == NULL && tok->n_ids > 0) return DSTOK_E_NOMEM;
        for (uint32_t i = 0; i < tok->n_ids; i++) enc->splits[i] = (dstok__split){DSTOK__NO_ID, DSTOK__NO_ID};
    }
    if (!dstok__pretok_needs_scratch(tok->pretok) && !dstok__normalizer_needs_regex(tok->normalizer))
        return DSTOK_OK;
    return dstok__pretok_scratch_new(&tok->al, &enc->scratch);
}

/* The functions for DSTOK_SIMD_*; NULL: there are none here. */
static const dstok__simd *find_simd(int simd) {
    static const dstok__tier tiers[] = {DSTOK__N_TIERS, DSTOK__TIER_SCALAR, DSTOK__TIER_AVX2,
                                        DSTOK__TIER_AVX512, DSTOK__TIER_NEON};
    return simd == DSTOK_SIMD_BEST ? dstok__simd_best(DSTOK__N_TIERS) : dstok__simd_tier(tiers[simd]);
}

static dstok_status make_encoder(const dstok_tokenizer *tok, const dstok__simd *simd, size_t cache_bytes,
                                 dstok_encoder **out) {
    const dstok_alloc *al = &tok->al;
    dstok_encoder *enc = dstok__alloc_zeroed(al, 1, sizeof *enc);
    if (enc == NULL) return DSTOK_E_NOMEM;
    enc->tok = tok;
    enc->simd = simd;
    enc->out.al = al;
    dstok__merge_init(&enc->merge, al);
    dstok__normalized_init(&enc->valid, al);
    dstok__normalized_init(&enc->stretch, al);
    dstok_status status = make_scratch(enc);
    if (status == DSTOK_OK && dstok__fast_knows(tok))
        status = dstok__fast_new(tok, simd, cache_bytes, &enc->fast);
    if (status != DSTOK_OK) {
        dstok_encoder_free(enc);
        return status;
    }
    *out = enc;
    return DSTOK_OK;
}

dstok_status dstok_encoder_new_with(const dstok_tokenizer *tok, const dstok_encoder_options *options,
                                    dstok_encoder **out, dstok_error *err) {
    dstok_encoder_options opt = DSTOK_ENCODER_OPTIONS_INIT;
    if (tok == NULL || out == NULL)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "the tokenizer or out is NULL");
    if (options != NULL) {
        DSTOK_TRY(
            dstok__sized_check(options, sizeof opt, "encoder_options", "DSTOK_ENCODER_OPTIONS_INIT", err));
        dstok__sized_read(&opt, sizeof opt, options);
    }
    if (opt.simd < DSTOK_SIMD_BEST || opt.simd > DSTOK_SIMD_NEON)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "unknown value of simd");
    const dstok__simd *simd = find_simd(opt.simd);
    if (simd == NULL)
        return dstok__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, 0,
                           "this machine, or this build, lacks the instructions asked for");
    dstok_status status = make_encoder(tok, simd, opt.cache_bytes, out);
    if (status != DSTOK_OK) dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "out of memory for an encoder");
    return status;
}

dstok_status dstok_encoder_new(const dstok_tokenizer *tok, dstok_encoder **out) {
    return dstok_encoder_new_with(tok, NULL, out, NULL);
}

const char *dstok_simd_name(int simd) {
    if (simd < DSTOK_SIMD_BEST || simd > DSTOK_SIMD_NEON) return NULL;
    const dstok__simd *found = find_simd(simd);
    return found == NULL ? NULL : found->name;
}

void dstok_encoder_free(dstok_encoder *enc) {
    if (enc == NULL) return;
    const dstok_alloc *al = &enc->tok->al;
    dstok__pretok_scratch_free(enc->scratch);
    dstok__free(al, enc->splits, enc->tok->n_ids * sizeof *enc->splits);
    dstok__unused_free(enc);
    dstok__fast_free(al, enc->fast);
    dstok__merge_free(&enc->merge);
    dstok__normalized_free(&enc->valid);
    dstok__normalized_free(&enc->stretch);
    dstok__sink_free(&enc->out);
    dstok__free(al, enc, sizeof *enc);
}
