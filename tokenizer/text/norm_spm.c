/* SPDX-License-Identifier: MIT */
/* SentencePiece's normaliser: longest rule at each place, then what becomes of blanks. */
#include "norm.h"
#include "utf8.h"

typedef struct spm {
    dstok__norm_pass *p;
    const dstok__norm_op *op;
    dstok__added_match piece; /* the next user-defined piece in the text */
    bool has_piece;
    unsigned flags;
} spm;

/* What stands at pos and what it becomes, blanks not yet considered. */
typedef struct unit {
    size_t used; /* bytes of the source */
    const uint8_t *text;
    size_t n;
} unit;

static dstok__verdict accept(void *ctx, const dstok__added_entry *entry, size_t begin, size_t end) {
    (void)ctx, (void)entry, (void)begin, (void)end;
    return DSTOK__ACCEPT;
}

/* Finds the first user-defined piece at or after pos. */
static void find_piece(spm *s, size_t pos) {
    bool refused;
    s->has_piece =
        dstok__added_find(&s->op->pieces, s->p->src, s->p->len, pos, accept, NULL, &s->piece, &refused);
}

static unit unit_at(spm *s, size_t pos) {
    const uint8_t *src = s->p->src + pos;
    size_t left = s->p->len - pos;
    if (s->has_piece && s->piece.begin < pos) find_piece(s, pos);
    if (s->has_piece && s->piece.begin == pos) {
        size_t n = s->piece.end - pos;
        return (unit){n, src, n};
    }
    dstok__charsmap_rule rule;
    if (dstok__charsmap_longest(&s->op->map, src, left, &rule))
        return (unit){rule.used, (const uint8_t *)rule.text, rule.n};
    size_t width;
    dstok__utf8_get(src, &width);
    return (unit){width, src, width};
}

static const char *blank(const spm *s) {
    return (s->flags & DSTOK__SPM_ESCAPE) != 0 ? "\xE2\x96\x81" : " ";
}

static size_t blank_n(const spm *s) {
    return (s->flags & DSTOK__SPM_ESCAPE) != 0 ? 3 : 1;
}

/* Puts u for src[pos, pos + u.used): its blanks as they are written. */
static dstok_status put_unit(spm *s, size_t pos, unit u) {
    dstok__norm_pass *p = s->p;
    size_t blanks = 0;
    for (size_t i = 0; i < u.n; i++) blanks += u.text[i] == ' ';
    if (blank_n(s) == 1) blanks = 0;
    if (blanks == 0 && u.n == u.used && (u.text == p->src + pos || memcmp(u.text, p->src + pos, u.n) == 0))
        return DSTOK_OK;
    DSTOK_TRY(dstok__norm_edit(p, pos, pos + u.used, u.n + 2 * blanks, pos));
    for (size_t i = 0; i < u.n; i++) {
        if (u.text[i] == ' ') {
            DSTOK_TRY(dstok__buf_append(&p->n->spare, blank(s), blank_n(s)));
        } else {
            DSTOK_TRY(dstok__buf_push(&p->n->spare, u.text[i]));
        }
    }
    return DSTOK_OK;
}

/* The blanks that the text begins with. */
static size_t leading_blanks(spm *s) {
    size_t pos = 0;
    while (pos < s->p->len) {
        unit u = unit_at(s, pos);
        if (u.n != 1 || u.text[0] != ' ') break;
        pos += u.used;
    }
    return pos;
}

/* Without a map, the end of what has neither blank nor user-defined piece. */
static size_t plain_end(spm *s, size_t pos) {
    if (s->op->map.n_units > 0) return pos;
    if (s->has_piece && s->piece.begin < pos) find_piece(s, pos);
    size_t end = s->has_piece ? s->piece.begin : s->p->len;
    const uint8_t *next = memchr(s->p->src + pos, ' ', end - pos);
    return next != NULL ? (size_t)(next - s->p->src) : end;
}

static dstok_status put_units(spm *s, size_t pos) {
    bool removes = (s->flags & DSTOK__SPM_REMOVE_BLANKS) != 0, behind_blank = removes;
    while (pos < s->p->len) {
        size_t end = plain_end(s, pos);
        if (end > pos) {
            behind_blank = false;
            pos = end;
            continue;
        }
        unit u = unit_at(s, pos);
        while (behind_blank && u.n > 0 && u.text[0] == ' ') u.text++, u.n--;
        DSTOK_TRY(put_unit(s, pos, u));
        if (u.n > 0) behind_blank = removes && u.text[u.n - 1] == ' ';
        pos += u.used;
    }
    return DSTOK_OK;
}

/* Where the text before out, a place in the result, ends in the source. The edits from there on are taken
 * away, but not what they deleted right before it. */
static size_t cut_edits(dstok__normalized *n, size_t out) {
    for (; n->n_later > 0; n->n_later--) {
        const dstok__edit *e = &n->later[n->n_later - 1];
        if (e->out < out || (e->out == out && e->out_n == 0)) break;
    }
    if (n->n_later == 0) return out;
    dstok__edit *last = &n->later[n->n_later - 1];
    size_t end = last->out + last->out_n, src_end = last->src + last->src_n;
    if (end <= out) return src_end + (out - end);
    last->out_n = (uint32_t)(out - last->out);
    return src_end;
}

/* Takes the blanks off the end of the result; *rest is where they begin in the source. */
static dstok_status cut_blanks(spm *s, size_t *rest) {
    dstok__normalized *n = s->p->n;
    DSTOK_TRY(dstok__norm_copy(s->p, s->p->len));
    DSTOK_TRY(dstok__norm_keep_places(s->p, s->p->len));
    size_t len = n->spare.len, k = blank_n(s);
    while (len >= k && memcmp(n->spare.data + len - k, blank(s), k) == 0) len -= k;
    *rest = s->p->len;
    if (len == n->spare.len) return DSTOK_OK;
    *rest = cut_edits(n, len);
    n->spare.len = len;
    if (n->want_from) s->p->n_from = len;
    return DSTOK_OK;
}

dstok_status dstok__norm_spm(dstok__norm_pass *p, const dstok__norm_op *op) {
    spm s = {.p = p, .op = op, .flags = op->norm.flags};
    bool removes = (s.flags & DSTOK__SPM_REMOVE_BLANKS) != 0, suffix = (s.flags & DSTOK__SPM_SUFFIX) != 0;
    bool dummy = (s.flags & DSTOK__SPM_DUMMY_PREFIX) != 0 && !(p->n->goes_on && !suffix);
    find_piece(&s, 0);
    size_t begin = removes ? leading_blanks(&s) : 0, rest = p->len;
    if (begin > 0) DSTOK_TRY(dstok__norm_edit(p, 0, begin, 0, 0));
    if (begin == p->len) return DSTOK_OK;
    if (dummy && !suffix) DSTOK_TRY(dstok__norm_put(p, begin, begin, blank(&s), blank_n(&s), begin));
    DSTOK_TRY(put_units(&s, begin));
    if (removes) DSTOK_TRY(cut_blanks(&s, &rest));
    if (dummy && suffix) {
        DSTOK_TRY(dstok__norm_copy(p, p->len));
        DSTOK_TRY(dstok__norm_keep_places(p, p->len));
        DSTOK_TRY(dstok__norm_push_edit(p->n, p->n->spare.len, blank_n(&s), rest, 0));
        DSTOK_TRY(dstok__buf_append(&p->n->spare, blank(&s), blank_n(&s)));
        DSTOK_TRY(dstok__norm_place(p, rest < p->len ? rest : p->len - 1, blank_n(&s)));
    }
    if (rest < p->len) DSTOK_TRY(dstok__norm_push_edit(p->n, p->n->spare.len, 0, rest, p->len - rest));
    return DSTOK_OK;
}
