/* SPDX-License-Identifier: MIT */
/* Evaluates a bracketed class, with nested classes and set operations, to the set it stands for. */
#include "parse.h"

/* One open bracket. The operands of && -- ~~ are unions; the operators bind weakest and to the left. */
struct level {
    dstok__codeset left, right; /* result so far, and the operand being read */
    dstok__set_op op;           /* between them */
    bool has_left, negated;
    bool fresh; /* a ] here is a member: a class cannot be empty */
    size_t at;
};

struct brackets {
    dstok__parse *p;
    struct level *levels; /* DSTOK__MAX_DEPTH of them */
    size_t depth;
    bool done; /* the outermost bracket is closed; its value is in levels[0].left */
};

static bool is_fancy(const struct brackets *b) {
    return b->p->dialect == DSTOK__DIALECT_FANCY;
}

/* Ends the operand being read: left = left op right. */
static dstok_status end_operand(struct brackets *b, struct level *l) {
    if (!l->has_left) {
        l->has_left = true;
        return dstok__codeset_apply(&l->left, DSTOK__SET_OR, &l->right);
    }
    if (is_fancy(b) && b->p->icase) {
        DSTOK_TRY(dstok__props_close_case(&b->p->props, &l->left));
        DSTOK_TRY(dstok__props_close_case(&b->p->props, &l->right));
    }
    return dstok__codeset_apply(&l->left, l->op, &l->right);
}

static dstok_status read_operator(struct brackets *b, struct level *l, dstok__set_op op) {
    DSTOK_TRY(end_operand(b, l));
    dstok__codeset_clear(&l->right);
    l->op = op;
    b->p->i += 2;
    return DSTOK_OK;
}

/* The cursor is at '['. */
static dstok_status open_level(struct brackets *b) {
    dstok__parse *p = b->p;
    if (b->depth == DSTOK__MAX_DEPTH) {
        return dstok__fail(p->err, DSTOK_E_LIMIT, p->i, 0,
                           "classes in a pattern are nested more than %u deep", DSTOK__MAX_DEPTH);
    }
    struct level *l = &b->levels[b->depth++];
    *l = (struct level){.at = p->i++};
    dstok__codeset_init(&l->left, p->props.al);
    dstok__codeset_init(&l->right, p->props.al);
    if (dstok__parse_at(p, "^")) {
        l->negated = true;
        p->i++;
    }
    bool dash = false; /* the Rust engine reads dashes at the front as themselves */
    for (; is_fancy(b) && dstok__parse_at(p, "-"); p->i++) dash = true;
    if (dash) return dstok__codeset_add(&l->right, '-', '-');
    if (is_fancy(b) && dstok__parse_at(p, "]")) { /* a member, but never the start of a range */
        p->i++;
        return dstok__codeset_add(&l->right, ']', ']');
    }
    l->fresh = !is_fancy(b);
    return DSTOK_OK;
}

/* The cursor is at ']'. Leaves the value of the level in its left. */
static dstok_status close_level(struct brackets *b) {
    struct level *l = &b->levels[b->depth - 1];
    b->p->i++;
    DSTOK_TRY(end_operand(b, l));
    /* The Rust engine folds each bracket before it negates it, Oniguruma only the outermost one. */
    if (b->p->icase && (is_fancy(b) || b->depth == 1))
        DSTOK_TRY(dstok__props_close_case(&b->p->props, &l->left));
    return l->negated ? dstok__codeset_negate(&l->left) : DSTOK_OK;
}

static void free_level(struct level *l) {
    dstok__codeset_free(&l->left);
    dstok__codeset_free(&l->right);
}

/* ---- members ---- */

/* The length of "[:name:]" or "[:^name:]" at the cursor; 0 when it is something else. */
static size_t posix_length(const dstok__parse *p) {
    size_t i = p->i + 2, start;
    if (!dstok__parse_at(p, "[:")) return 0;
    if (i < p->n && p->text[i] == '^') i++;
    for (start = i; i < p->n && (p->text[i] | 0x20) >= 'a' && (p->text[i] | 0x20) <= 'z';) i++;
    if (i == start || p->n - i < 2 || p->text[i] != ':' || p->text[i + 1] != ']') return 0;
    return i + 2 - p->i;
}

static dstok_status read_posix(dstok__parse *p, size_t length, dstok__codeset *set) {
    bool known, negated = p->text[p->i + 2] == '^';
    const char *name = (const char *)p->text + p->i + 2 + negated;
    size_t n = length - 4 - negated;
    DSTOK_TRY(dstok__props_add_posix(&p->props, name, n, p->dialect, set, &known));
    if (!known) {
        return DSTOK__NOT_SUPPORTED(p, p->i, "[:%.*s:] in a pattern is no known class",
                                    (int)(n < 40 ? n : 40), name);
    }
    if (p->icase && p->dialect == DSTOK__DIALECT_FANCY) DSTOK_TRY(dstok__props_close_case(&p->props, set));
    p->i += length;
    return negated ? dstok__codeset_negate(set) : DSTOK_OK;
}

static dstok_status read_member(dstok__parse *p, dstok__item *item) {
    if (p->i >= p->n) return DSTOK__BAD_SYNTAX(p, p->i, "a class in a pattern has no ]");
    item->is_set = false;
    if (p->text[p->i] == '\\') return dstok__parse_escape(p, true, item);
    item->cp = dstok__parse_code(p);
    return DSTOK_OK;
}

/* Is there a dash at the cursor that makes a range, rather than one that is a member itself? */
static bool at_range(const struct brackets *b) {
    const dstok__parse *p = b->p;
    if (!dstok__parse_at(p, "-") || dstok__parse_at(p, "-]")) return false;
    return is_fancy(b) ? !dstok__parse_at(p, "--") : !dstok__parse_at(p, "-&&");
}

static dstok_status add_member(struct brackets *b, dstok__item *item, dstok__codeset *set) {
    dstok__parse *p = b->p;
    size_t at = p->i;
    DSTOK_TRY(read_member(p, item));
    bool range = at_range(b);
    if (range && item->is_set) return DSTOK__BAD_SYNTAX(p, at, "a range in a class begins with a class");
    if (item->is_set) return dstok__codeset_apply(set, DSTOK__SET_OR, &item->set);
    uint32_t lo = item->cp;
    if (!range) return dstok__codeset_add(set, lo, lo);
    p->i++;
    if (dstok__parse_at(p, "[")) return DSTOK__NOT_SUPPORTED(p, at, "a range in a class that ends with [");
    DSTOK_TRY(read_member(p, item));
    if (item->is_set) return DSTOK__BAD_SYNTAX(p, at, "a range in a class ends with a class");
    if (item->cp < lo)
        return DSTOK__BAD_SYNTAX(p, at, "a range in a class is empty: its end lies before its start");
    return dstok__codeset_add(set, lo, item->cp);
}

/* Reads one operator, member or nested bracket border. */
static dstok_status step(struct brackets *b, dstok__item *item) {
    dstok__parse *p = b->p;
    struct level *l = &b->levels[b->depth - 1];
    bool fresh = l->fresh;
    l->fresh = false;
    if (p->i >= p->n) return DSTOK__BAD_SYNTAX(p, l->at, "a class in a pattern has no ]");
    size_t posix = posix_length(p);
    if (posix > 0) {
        size_t at = p->i;
        DSTOK_TRY(read_posix(p, posix, &item->set));
        if (!is_fancy(b) && at_range(b))
            return DSTOK__BAD_SYNTAX(p, at, "a range in a class begins with a class");
        return dstok__codeset_apply(&l->right, DSTOK__SET_OR, &item->set);
    }
    if (p->text[p->i] == '[') return open_level(b);
    if (p->text[p->i] == ']' && !fresh) {
        DSTOK_TRY(close_level(b));
        b->done = b->depth == 1;
        if (b->done) return DSTOK_OK;
        DSTOK_TRY(dstok__codeset_apply(&l[-1].right, DSTOK__SET_OR, &l->left));
        free_level(l);
        b->depth--;
        return DSTOK_OK;
    }
    if (dstok__parse_at(p, "&&")) return read_operator(b, l, DSTOK__SET_AND);
    if (is_fancy(b) && dstok__parse_at(p, "--")) return read_operator(b, l, DSTOK__SET_SUB);
    if (is_fancy(b) && dstok__parse_at(p, "~~")) return read_operator(b, l, DSTOK__SET_XOR);
    return add_member(b, item, &l->right);
}

dstok_status dstok__parse_bracket(dstok__parse *p, dstok__codeset *set) {
    struct level levels[DSTOK__MAX_DEPTH];
    struct brackets b = {p, levels, 0, false};
    dstok_status status = open_level(&b);
    while (status == DSTOK_OK && !b.done) {
        dstok__item item;
        dstok__codeset_init(&item.set, p->props.al);
        status = step(&b, &item);
        dstok__codeset_free(&item.set);
    }
    if (status == DSTOK_OK) status = dstok__codeset_apply(set, DSTOK__SET_OR, &levels[0].left);
    for (size_t i = 0; i < b.depth; i++) free_level(&levels[i]);
    return status;
}
