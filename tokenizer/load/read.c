/* SPDX-License-Identifier: MIT */
/* Typed reading of JSON members. */
#include "read.h"

#include <string.h>

bool dstok__text_is(const char *text, size_t n, const char *word) {
    return strlen(word) == n && memcmp(text, word, n) == 0;
}

static dstok_status out_of_memory(const dstok__reader *r, dstok_status status) {
    return dstok__spec_no_room(status, "bytes in a string", r->scratch->max, r->err);
}

/* Notes one member if it is a field. */
static dstok_status note(const dstok__reader *r, const dstok__json_iter *it, dstok__field *fields, size_t n,
                         bool *seen) {
    const char *name;
    size_t name_n;
    dstok_status status = dstok__json_string(r->doc, it->key, r->scratch, &name, &name_n);
    if (status != DSTOK_OK) return out_of_memory(r, status);
    for (size_t i = 0; i < n; i++) {
        if (!dstok__text_is(name, name_n, fields[i].name)) continue;
        if (seen[i])
            DSTOK_TRY(dstok__spec_warn(r->s, r->err,
                                       "%sbyte %zu: \"%s\" stands twice in one object; the last one counts",
                                       r->doc->name, it->key, fields[i].name));
        seen[i] = true;
        fields[i].at = dstok__json_kind_at(r->doc, it->value) == DSTOK__JSON_NULL ? 0 : it->value;
        return DSTOK_OK;
    }
    return DSTOK_OK;
}

dstok_status dstok__read_fields(const dstok__reader *r, size_t at, const char *what, dstok__field *fields,
                                size_t n) {
    enum { MOST = 16 };
    bool seen[MOST] = {false};
    if (n > MOST) return DSTOK_E_INVAL;
    if (dstok__json_kind_at(r->doc, at) != DSTOK__JSON_OBJECT)
        return dstok__json_fail(r->doc, DSTOK_E_FORMAT, at, r->err, "%s must be an object", what);
    dstok__json_iter it;
    dstok__json_iter_init(&it, r->doc, at);
    while (dstok__json_next(&it)) DSTOK_TRY(note(r, &it, fields, n, seen));
    return DSTOK_OK;
}

static dstok_status refuse(const dstok__reader *r, size_t owner, size_t at, const char *what,
                           const char *want) {
    if (at == 0) return dstok__json_fail(r->doc, DSTOK_E_FORMAT, owner, r->err, "%s is missing", what);
    return dstok__json_fail(r->doc, DSTOK_E_FORMAT, at, r->err, "%s must be %s", what, want);
}

static bool is_kind(const dstok__reader *r, size_t at, dstok__json_kind kind) {
    return at != 0 && dstok__json_kind_at(r->doc, at) == kind;
}

dstok_status dstok__read_string(const dstok__reader *r, size_t owner, size_t at, const char *what,
                                const char **text, size_t *n) {
    if (!is_kind(r, at, DSTOK__JSON_STRING)) return refuse(r, owner, at, what, "a string");
    dstok_status status = dstok__json_string(r->doc, at, r->scratch, text, n);
    return status == DSTOK_OK ? status : out_of_memory(r, status);
}

dstok_status dstok__read_bool(const dstok__reader *r, size_t owner, size_t at, const char *what,
                              bool *value) {
    *value = is_kind(r, at, DSTOK__JSON_TRUE);
    return *value || is_kind(r, at, DSTOK__JSON_FALSE) ? DSTOK_OK
                                                       : refuse(r, owner, at, what, "true or false");
}

dstok_status dstok__read_id(const dstok__reader *r, size_t owner, size_t at, const char *what, uint32_t *id) {
    if (!is_kind(r, at, DSTOK__JSON_NUMBER) || !dstok__json_uint(r->doc, at, UINT32_MAX, id))
        return refuse(r, owner, at, what, "a whole number from 0 to 4294967295");
    if (*id < DSTOK__MAX_IDS) return DSTOK_OK;
    return dstok__json_fail(r->doc, DSTOK_E_LIMIT, at, r->err, "%s is %u; ids must be below %u", what, *id,
                            DSTOK__MAX_IDS);
}

dstok_status dstok__read_array(const dstok__reader *r, size_t owner, size_t at, const char *what,
                               dstok__json_iter *items) {
    if (!is_kind(r, at, DSTOK__JSON_ARRAY)) return refuse(r, owner, at, what, "an array");
    dstok__json_iter_init(items, r->doc, at);
    return DSTOK_OK;
}
