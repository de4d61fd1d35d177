/* SPDX-License-Identifier: MIT */
/* Filling a spec: appenders that check limits and copy strings into its arena. */
#include "spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dstok__spec_init(dstok__spec *s, const dstok_alloc *al) {
    *s = (dstok__spec){.unk_id = DSTOK__NO_ID};
    for (unsigned b = 0; b < 256; b++) s->fallback_ids[b] = DSTOK__NO_ID;
    dstok__arena_init(&s->arena, al, DSTOK__MAX_ARENA);
}

void dstok__spec_free(dstok__spec *s) {
    const dstok_alloc *al = s->arena.al;
    dstok__free(al, s->tokens, s->cap_tokens * sizeof *s->tokens);
    dstok__free(al, s->merges, s->cap_merges * sizeof *s->merges);
    dstok__free(al, s->added, s->cap_added * sizeof *s->added);
    dstok__free(al, s->template_items, s->cap_template * sizeof *s->template_items);
    dstok__free(al, s->warnings, s->cap_warnings * sizeof *s->warnings);
    dstok__arena_free(&s->arena);
    dstok__spec_init(s, al);
}

dstok_status dstok__spec_no_room(dstok_status status, const char *what, size_t max, dstok_error *err) {
    if (status == DSTOK_E_LIMIT)
        return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "too many %s: the limit is %zu", what, max);
    return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "out of memory");
}

/* Room for one more element in an array of the spec. */
static dstok_status grow(dstok__spec *s, void **p, size_t *cap, size_t n, size_t elem, size_t max,
                         const char *what, dstok_error *err) {
    dstok_status status = n < *cap ? DSTOK_OK : dstok__grow(s->arena.al, p, cap, n + 1, elem, max);
    return status == DSTOK_OK ? status : dstok__spec_no_room(status, what, max, err);
}

dstok_status dstok__spec_copy(dstok__spec *s, const void *bytes, size_t n, const char **copy,
                              dstok_error *err) {
    *copy = dstok__arena_copy(&s->arena, bytes, n);
    if (*copy != NULL) return DSTOK_OK;
    /* The arena takes memory in chunks of up to 1 MiB: this near to its maximum it is the maximum that refused. */
    bool full = s->arena.max - s->arena.total <= n + ((size_t)1 << 20);
    return dstok__spec_no_room(full ? DSTOK_E_LIMIT : DSTOK_E_NOMEM, "bytes in strings", s->arena.max, err);
}

dstok_status dstok__spec_token(dstok__spec *s, const void *bytes, size_t n, uint32_t id, dstok_error *err) {
    if (n > DSTOK__MAX_TOKEN_BYTES)
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0, "token %u has %zu bytes; the limit is %zu",
                           id, n, DSTOK__MAX_TOKEN_BYTES);
    DSTOK_TRY(grow(s, (void **)&s->tokens, &s->cap_tokens, s->n_tokens, sizeof *s->tokens, DSTOK__MAX_IDS,
                   "tokens", err));
    dstok__token token = {.n = (uint32_t)n, .id = id};
    DSTOK_TRY(dstok__spec_copy(s, bytes, n, &token.text, err));
    token.bytes = token.text;
    token.bytes_n = token.n;
    s->tokens[s->n_tokens++] = token;
    return DSTOK_OK;
}

dstok_status dstok__spec_token_bytes(dstok__spec *s, const void *bytes, size_t n, dstok_error *err) {
    dstok__token *token = &s->tokens[s->n_tokens - 1];
    if (n > DSTOK__MAX_TOKEN_BYTES)
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
                           "token %u decodes to %zu bytes; the limit is %zu", token->id, n,
                           DSTOK__MAX_TOKEN_BYTES);
    if (n == token->n && (n == 0 || memcmp(bytes, token->text, n) == 0)) return DSTOK_OK;
    token->bytes_n = (uint32_t)n;
    return dstok__spec_copy(s, bytes, n, &token->bytes, err);
}

dstok_status dstok__spec_merge(dstok__spec *s, uint32_t left, uint32_t right, uint32_t product,
                               dstok_error *err) {
    DSTOK_TRY(grow(s, (void **)&s->merges, &s->cap_merges, s->n_merges, sizeof *s->merges, DSTOK__MAX_MERGES,
                   "merges", err));
    s->merges[s->n_merges++] = (dstok__merge){left, right, product};
    return DSTOK_OK;
}

dstok_status dstok__spec_added(dstok__spec *s, const dstok__added *added, dstok_error *err) {
    if (added->n > DSTOK__MAX_ADDED_BYTES)
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
                           "an added token has %u bytes; the limit is %u", added->n, DSTOK__MAX_ADDED_BYTES);
    DSTOK_TRY(grow(s, (void **)&s->added, &s->cap_added, s->n_added, sizeof *s->added, DSTOK__MAX_ADDED,
                   "added tokens", err));
    dstok__added copy = *added;
    DSTOK_TRY(dstok__spec_copy(s, added->content, added->n, &copy.content, err));
    if (added->bytes != NULL) DSTOK_TRY(dstok__spec_copy(s, added->bytes, added->bytes_n, &copy.bytes, err));
    s->added[s->n_added++] = copy;
    return DSTOK_OK;
}

dstok_status dstok__spec_template(dstok__spec *s, dstok__template_item item, dstok_error *err) {
    DSTOK_TRY(grow(s, (void **)&s->template_items, &s->cap_template, s->n_template, sizeof *s->template_items,
                   DSTOK__MAX_TEMPLATE, "items in the post_processor's template", err));
    s->template_items[s->n_template++] = item;
    return DSTOK_OK;
}

/* The last warning says how many more there were. Its text is written again and again, in the same place. */
static dstok_status count_warning(dstok__spec *s, dstok_error *err) {
    enum { ROOM = 64 };
    if (s->n_dropped++ == 0) {
        static const char blank[ROOM];
        DSTOK_TRY(dstok__spec_copy(s, blank, ROOM, &s->warnings[s->n_warnings], err));
        s->n_warnings++;
    }
    snprintf((char *)s->warnings[s->n_warnings - 1], ROOM, "... and %zu more warnings", s->n_dropped);
    return DSTOK_OK;
}

dstok_status dstok__spec_warn(dstok__spec *s, dstok_error *err, const char *format, ...) {
    DSTOK_TRY(grow(s, (void **)&s->warnings, &s->cap_warnings, s->n_warnings, sizeof *s->warnings,
                   DSTOK__MAX_WARNINGS + 1, "warnings", err));
    if (s->n_warnings >= DSTOK__MAX_WARNINGS - 1) return count_warning(s, err);
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    DSTOK_TRY(dstok__spec_copy(s, text, strlen(text), &s->warnings[s->n_warnings], err));
    s->n_warnings++;
    return DSTOK_OK;
}

int dstok__byte_of_name(const char *text, size_t n) {
    char name[8];
    int byte = dstok__dec_byte(text, n); /* it takes other spellings, too */
    snprintf(name, sizeof name, "<0x%02X>", (unsigned)byte & 0xFF);
    return byte >= 0 && memcmp(text, name, n) == 0 ? byte : -1;
}
