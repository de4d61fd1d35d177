/* SPDX-License-Identifier: MIT */
/* Texts of JSON, by Jansson. */
#include "files/json.h"

#include "base.h"

dstok_status dsx__json_read(const void *text, size_t n, uint64_t at, json_t **out, dstok_error *err) {
    json_error_t why = {.line = 0};
    json_t *o = n == 0 ? NULL : json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);

    *out = o;
    if (o != NULL) return DSTOK_OK;
    if (n > 0 && why.text[0] == '\0') return dsx__no_memory(err); /* Jansson has no words for that */
    dsx__fail(err, DSTOK_E_FORMAT, at + (uint64_t)(why.position > 0 ? why.position : 0), "no JSON: %.100s",
              n == 0 ? "it is empty" : why.text);
    if (err != NULL) err->line = (uint32_t)(why.line > 0 ? why.line : 0);
    return DSTOK_E_FORMAT;
}
