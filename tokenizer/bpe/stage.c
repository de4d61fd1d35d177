/* SPDX-License-Identifier: MIT */
/* A text up to a stage of encoding, for measuring. */
#include "job.h"

static dstok_status check(const dstok_encoder *enc, int stage, const uint8_t *text, size_t len,
                          dstok_error *err) {
    if (stage < DSTOK_STAGE_UTF8 || stage > DSTOK_STAGE_PROBE)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "unknown stage %d", stage);
    if (len > DSTOK_MAX_INPUT)
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
                           "the text has %zu bytes; one call takes at most %zu", len, DSTOK_MAX_INPUT);
    if (stage != DSTOK_STAGE_UTF8 && enc->fast == NULL)
        return dstok__fail(err, DSTOK_E_STATE, DSTOK_NO_OFFSET, 0,
                           "this vocabulary is encoded piece by piece: it has no such stages");
    size_t bad = enc->simd->utf8_check(text, len);
    if (bad == len && stage != DSTOK_STAGE_UTF8 && !dstok__fast_takes(enc->fast, text, len))
        return dstok__fail(err, DSTOK_E_STATE, DSTOK_NO_OFFSET, 0,
                           "this text has bytes without a token: it is encoded piece by piece");
    if (bad == len) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_UTF8, bad, 0, "invalid UTF-8: byte 0x%02X", text[bad]);
}

dstok_status dstok_encode_stage(dstok_encoder *enc, int stage, const void *text, size_t len, size_t *n,
                                dstok_error *err) {
    if (enc == NULL || n == NULL || (text == NULL && len > 0))
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "the encoder, text or n is NULL");
    if (len == 0) text = "";
    DSTOK_TRY(check(enc, stage, text, len, err));
    job j = {.enc = enc, .tok = enc->tok, .err = err};
    size_t found = len;
    if (stage == DSTOK_STAGE_PROBE) {
        enc->out.n = 0;
        enc->out.store = false;
        enc->out.ids_only = true;
        enc->out.enough = SIZE_MAX;
        DSTOK_TRY(dstok__fast_ids(&j, text, len));
        found = enc->out.n;
    } else if (stage != DSTOK_STAGE_UTF8) {
        found = dstok__fast_stage(&j, stage, text, len);
    }
    *n = found;
    return DSTOK_OK;
}
