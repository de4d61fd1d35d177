/* SPDX-License-Identifier: MIT */
/* Operations that put a given text in place of what a pattern finds, or before the whole. */
#include "norm.h"
#include "utf8.h"

void dstok__norm_back(const char *pattern, size_t n, uint32_t *back) {
    uint32_t k = 0;
    if (n > 0) back[0] = 0;
    for (size_t i = 1; i < n; i++) {
        while (k > 0 && pattern[i] != pattern[k]) k = back[k - 1];
        if (pattern[i] == pattern[k]) k++;
        back[i] = k;
    }
}

/* Puts the content for src[begin, end). The reference gives it the place of the last byte that it replaces;
 * without any,
 * of the byte before. */
static dstok_status put_content(dstok__norm_pass *p, const dstok__norm *norm, size_t begin, size_t end) {
    size_t n = norm->content_n;
    if (n == 0 && begin == end) return DSTOK_OK;
    size_t place = end == 0 ? DSTOK__NORM_NO_PLACE : end - 1;
    if (n == 0 || n != end - begin || memcmp(p->src + begin, norm->content, n) != 0)
        return dstok__norm_put(p, begin, end, norm->content, n, place);
    DSTOK_TRY(dstok__norm_keep_places(p, begin));
    if (p->n->want_from) p->placed = end;
    return dstok__norm_place(p, place, n);
}

/* An empty pattern: the content stands before each character and at the end. */
static dstok_status put_everywhere(dstok__norm_pass *p, const dstok__norm *norm) {
    for (size_t pos = 0, width; pos < p->len; pos += width) {
        dstok__utf8_get(p->src + pos, &width);
        DSTOK_TRY(put_content(p, norm, pos, pos));
    }
    return p->len > 0 ? put_content(p, norm, p->len, p->len) : DSTOK_OK;
}

dstok_status dstok__norm_replace(dstok__norm_pass *p, const dstok__norm_op *op) {
    const dstok__norm *norm = &op->norm;
    const uint8_t *pattern = (const uint8_t *)norm->pattern;
    size_t n = norm->pattern_n, matched = 0;
    if (n == 0) return put_everywhere(p, norm);
    for (size_t pos = 0; pos < p->len; pos++) {
        if (matched == 0) {
            const uint8_t *next = memchr(p->src + pos, pattern[0], p->len - pos);
            if (next == NULL) return DSTOK_OK;
            pos = (size_t)(next - p->src);
        }
        while (matched > 0 && p->src[pos] != pattern[matched]) matched = op->back[matched - 1];
        if (p->src[pos] == pattern[matched]) matched++;
        if (matched < n) continue;
        DSTOK_TRY(put_content(p, norm, pos + 1 - n, pos + 1));
        matched = 0;
    }
    return DSTOK_OK;
}

/* As the reference's iterator: an empty match right behind another match does not count. */
dstok_status dstok__norm_replace_regex(dstok__norm_pass *p, const dstok__norm_op *op) {
    size_t pos = 0, last_end = SIZE_MAX;
    if (p->len == 0) return DSTOK_OK;
    while (pos <= p->len) {
        size_t begin, end, width = 1;
        DSTOK_TRY(dstok__regex_find(op->regex, p->scratch, p->src, p->len, pos, &begin, &end, p->err));
        if (begin == SIZE_MAX) return DSTOK_OK;
        if (begin == end && end == last_end) {
            if (pos < p->len) dstok__utf8_get(p->src + pos, &width);
            pos += width;
            continue;
        }
        DSTOK_TRY(put_content(p, &op->norm, begin, end));
        pos = last_end = end;
    }
    return DSTOK_OK;
}

/* The first character of the content takes the place of the first one of the text, which is then behind all
 * of it. */
dstok_status dstok__norm_prepend(dstok__norm_pass *p, const dstok__norm_op *op) {
    const dstok__norm *norm = &op->norm;
    if (p->len == 0 || p->n->goes_on) return DSTOK_OK;
    size_t width;
    dstok__utf8_get(p->src, &width);
    bool is_empty = norm->content_n == 0;
    if (!is_empty) DSTOK_TRY(dstok__norm_put(p, 0, 0, norm->content, norm->content_n, 0));
    DSTOK_TRY(dstok__norm_place(p, is_empty ? DSTOK__NORM_NO_PLACE : width - 1, width));
    if (p->n->want_from) p->placed = width;
    return DSTOK_OK;
}
