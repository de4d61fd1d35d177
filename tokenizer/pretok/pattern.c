/* SPDX-License-Identifier: MIT */
/* Rewrites a pattern of Oniguruma or fancy-regex into PCRE2: groups, anchors, repeats. */

/* Everything that stands for one character goes through a set (escape.c, bracket.c, classtext.c); here is the
 * structure around it. What is left out, all of it Oniguruma's: under (?i) a character never stands for two
 * (ss for \u00DF, st for \uFB06), and a repeat whose body can match nothing ends as PCRE2 ends it. */
#include "parse.h"

#include "../../data/unicode/unicode.h"

#include <string.h>

struct group {
    size_t out_at;      /* where it begins in the output */
    size_t at;          /* and in the pattern */
    bool is_look;       /* look-ahead or look-behind: cannot be repeated */
    bool restores;      /* flags set inside end with it */
    bool icase, dotall; /* the flags to restore */
    bool has_alt;       /* alternatives of its own */
    bool has_upto;      /* an {n,m}, at any depth */
    unsigned options;   /* "(?:" opened for (?i) in the middle of it, to be closed with it */
};

struct rewriter {
    dstok__parse p;
    struct group groups[DSTOK__MAX_DEPTH + 1]; /* [0] is the whole pattern */
    unsigned depth, open_options;
    size_t n_groups;
    bool jit; /* nothing met so far that JIT compilers get wrong */
};

static dstok_status put(struct rewriter *w, const char *text) {
    return dstok__buf_append(w->p.out, text, strlen(text));
}

/* ---- items ---- */

static dstok_status write_literal(struct rewriter *w, uint32_t cp, size_t at) {
    if (cp >= 0x80) return dstok__buf_append(w->p.out, w->p.text + at, w->p.i - at);
    bool plain = (cp >= '0' && cp <= '9') || ((cp | 0x20) >= 'a' && (cp | 0x20) <= 'z');
    if (plain) return dstok__buf_push(w->p.out, (uint8_t)cp);
    if (cp <= ' ' || cp == 0x7F) return dstok__buf_printf(w->p.out, "\\x{%X}", (unsigned)cp);
    return dstok__buf_printf(w->p.out, "\\%c", (int)cp);
}

static dstok_status read_item(struct rewriter *w, dstok__item *item, bool *folded) {
    dstok__parse *p = &w->p;
    *folded = false;
    item->is_set = false;
    if (p->text[p->i] == '\\') {
        DSTOK_TRY(dstok__parse_escape(p, false, item));
    } else if (p->text[p->i] == '[') {
        item->is_set = true;
        return dstok__parse_bracket(p, &item->set);
    } else {
        item->cp = dstok__parse_code(p);
    }
    if (!item->is_set && p->icase && (dstok__uc_record(item->cp) & DSTOK_UC_FOLDS)) {
        *folded = item->is_set = true;
        DSTOK_TRY(dstok__codeset_add(&item->set, item->cp, item->cp));
        return dstok__props_close_case(&p->props, &item->set);
    }
    return DSTOK_OK;
}

/* A literal, an escape or a class: one PCRE2 item. */
static dstok_status copy_item(struct rewriter *w) {
    dstok__item item;
    bool folded;
    size_t at = w->p.i;
    bool verbatim = w->p.text[at] != '\\' && w->p.text[at] != '[';
    dstok__codeset_init(&item.set, w->p.props.al);
    dstok_status status = read_item(w, &item, &folded);
    if (status == DSTOK_OK) {
        if (item.is_set) {
            status = dstok__class_write(&w->p.props, &item.set, w->p.out);
            if (item.set.n == 0) w->jit = false;
        } else if (verbatim || item.cp < 0x80) {
            status = write_literal(w, item.cp, at);
        } else {
            status = dstok__buf_printf(w->p.out, "\\x{%X}", (unsigned)item.cp);
        }
    }
    dstok__codeset_free(&item.set);
    return status;
}

/* \b is "a word character on exactly one side", with the dialect's own idea of a word character. */
static dstok_status write_boundary(struct rewriter *w, bool negated) {
    dstok__buf *out = w->p.out;
    dstok__codeset word;
    dstok__codeset_init(&word, w->p.props.al);
    static const char *const heads[2][4] = {{"(?:(?<=", ")(?!", ")|(?<!", ")(?="},
                                            {"(?:(?<=", ")(?=", ")|(?<!", ")(?!"}};
    dstok_status status = dstok__props_add_word(&w->p.props, w->p.dialect, false, &word);
    for (size_t i = 0; i < 4 && status == DSTOK_OK; i++) {
        status = put(w, heads[negated][i]);
        if (status == DSTOK_OK) status = dstok__class_write(&w->p.props, &word, out);
    }
    dstok__codeset_free(&word);
    return status == DSTOK_OK ? put(w, "))") : status;
}

/* Writes the anchor at the cursor and steps over it; *found = false when there is none. */
static dstok_status copy_anchor(struct rewriter *w, bool *found) {
    static const struct {
        const char *text, *onig, *fancy;
    } anchors[] = {{"^", "(?m:^)", "\\A"},
                   {"$", "(?m:$)", "\\z"},
                   {"\\A", "\\A", "\\A"},
                   {"\\z", "\\z", "\\z"},
                   {"\\Z", "\\Z", "(?=\\n*\\z)"}};
    dstok__parse *p = &w->p;
    *found = true;
    for (size_t i = 0; i < sizeof anchors / sizeof anchors[0]; i++) {
        if (!dstok__parse_at(p, anchors[i].text)) continue;
        p->i += strlen(anchors[i].text);
        return put(w, p->dialect == DSTOK__DIALECT_ONIG ? anchors[i].onig : anchors[i].fancy);
    }
    bool negated = dstok__parse_at(p, "\\B");
    *found = negated || dstok__parse_at(p, "\\b");
    if (!*found) return DSTOK_OK;
    p->i += 2;
    if (p->dialect == DSTOK__DIALECT_FANCY && dstok__parse_at(p, "{")) {
        return DSTOK__NOT_SUPPORTED(p, p->i - 2, "the word boundary \\b{ in a pattern");
    }
    return write_boundary(w, negated);
}

/* ---- repeats ---- */

struct repeat {
    uint32_t lo, hi; /* hi = UINT32_MAX: without end */
    bool is_interval, fixed;
};

/* Decimal digits at text[*i]; too large a number stays too large. */
static bool read_number(const dstok__parse *p, size_t *i, uint32_t *value) {
    size_t start = *i;
    for (*value = 0; *i < p->n && p->text[*i] >= '0' && p->text[*i] <= '9'; (*i)++) {
        if (*value <= DSTOK__MAX_REPEAT) *value = *value * 10 + (uint32_t)(p->text[*i] - '0');
    }
    return *i > start;
}

/* Reads a repeat at the cursor without its ? or + suffix. False, and the cursor stays, when there is none: a
 * { that begins no interval is a literal in both engines. */
static bool read_repeat(dstok__parse *p, struct repeat *r) {
    unsigned char c = p->i < p->n ? p->text[p->i] : '\0';
    *r = (struct repeat){0, UINT32_MAX, false, false};
    if (c == '*' || c == '+' || c == '?') {
        r->lo = c == '+';
        if (c == '?') r->hi = 1;
        p->i++;
        return true;
    }
    if (c != '{') return false;
    size_t i = p->i + 1;
    bool has_lo = read_number(p, &i, &r->lo), has_hi = false;
    r->is_interval = true;
    r->fixed = i < p->n && p->text[i] == '}';
    if (r->fixed) {
        r->hi = r->lo;
        if (!has_lo) return false;
    } else {
        if (i >= p->n || p->text[i++] != ',') return false;
        has_hi = read_number(p, &i, &r->hi);
        if (!has_hi) r->hi = UINT32_MAX;
        if (!has_lo && !has_hi && p->dialect == DSTOK__DIALECT_ONIG) return false;
        if (i >= p->n || p->text[i] != '}') return false;
    }
    p->i = i + 1;
    return true;
}

static dstok_status check_repeat(const dstok__parse *p, size_t at, const struct repeat *r) {
    if (r->lo > DSTOK__MAX_REPEAT || (r->hi != UINT32_MAX && r->hi > DSTOK__MAX_REPEAT)) {
        return dstok__fail(p->err, DSTOK_E_LIMIT, at, 0, "a pattern repeats an item more than %u times",
                           DSTOK__MAX_REPEAT);
    }
    if (r->lo <= r->hi) return DSTOK_OK;
    if (p->dialect == DSTOK__DIALECT_FANCY)
        return DSTOK__BAD_SYNTAX(p, at, "a repeat {n,m} with n greater than m");
    return DSTOK__NOT_SUPPORTED(p, at, "a repeat {n,m} with n greater than m");
}

static dstok_status write_repeat(dstok__buf *out, const struct repeat *r) {
    if (!r->is_interval) return dstok__buf_push(out, r->lo == 1 ? '+' : r->hi == 1 ? '?' : '*');
    if (r->fixed) return dstok__buf_printf(out, "{%u}", (unsigned)r->lo);
    if (r->hi == UINT32_MAX) return dstok__buf_printf(out, "{%u,}", (unsigned)r->lo);
    return dstok__buf_printf(out, "{%u,%u}", (unsigned)r->lo, (unsigned)r->hi);
}

/* Puts the output from out_at on into a group. */
static dstok_status wrap(struct rewriter *w, size_t out_at) {
    dstok__buf *out = w->p.out;
    DSTOK_TRY(dstok__buf_reserve(out, 4));
    memmove(out->data + out_at + 3, out->data + out_at, out->len - out_at);
    memcpy(out->data + out_at, "(?:", 3);
    out->len += 3;
    return put(w, ")");
}

/* Notes a repeat of a group g, or of an item (g = NULL); nested when it repeats a repeat. */
static void watch_repeat(struct rewriter *w, const struct repeat *r, const struct group *g, bool nested,
                         bool possessive) {
    if (nested || (g != NULL && (possessive || g->has_upto))) w->jit = false;
    if (r->is_interval && !r->fixed && r->hi != UINT32_MAX) w->groups[w->depth].has_upto = true;
}

/* Copies the repeat at the cursor, if any, onto the item that begins at out_at. *again = true when Oniguruma
 * would take one more: its {n,m} has no possessive form, and {n} no lazy one, so a + or ? behind them repeats
 * the repeat. */
static dstok_status copy_repeat(struct rewriter *w, size_t out_at, bool repeatable, const struct group *g,
                                bool *again) {
    dstok__parse *p = &w->p;
    struct repeat r;
    size_t at = p->i;
    bool onig = p->dialect == DSTOK__DIALECT_ONIG, nested = *again;
    *again = false;
    if (!read_repeat(p, &r)) return DSTOK_OK;
    if (!repeatable) return DSTOK__NOT_SUPPORTED(p, at, "a repeat of an anchor or look-around in a pattern");
    DSTOK_TRY(check_repeat(p, at, &r));
    if (nested) DSTOK_TRY(wrap(w, out_at));
    DSTOK_TRY(write_repeat(p->out, &r));
    bool lazy = dstok__parse_at(p, "?") && !(onig && r.fixed);
    bool possessive = dstok__parse_at(p, "+") && !(onig && r.is_interval);
    watch_repeat(w, &r, g, nested, possessive);
    if (lazy || possessive) {
        p->i++;
        return put(w, lazy ? "?" : "+");
    }
    *again = onig && r.is_interval;
    return DSTOK_OK;
}

static dstok_status copy_repeats(struct rewriter *w, size_t out_at, bool repeatable, const struct group *g) {
    bool again = false;
    unsigned nested = 0;
    do {
        size_t at = w->p.i;
        DSTOK_TRY(copy_repeat(w, out_at, repeatable, g, &again));
        if (again && ++nested > 4)
            return DSTOK__NOT_SUPPORTED(&w->p, at, "more than four repeats of one item");
    } while (again);
    struct repeat extra;
    size_t at = w->p.i;
    if (read_repeat(&w->p, &extra))
        return DSTOK__NOT_SUPPORTED(&w->p, at, "a repeat of a repeat in a pattern");
    return DSTOK_OK;
}

/* ---- groups ---- */

static dstok_status open_group(struct rewriter *w, size_t at, const char *text, bool is_look, bool restores) {
    if (w->depth + w->open_options == DSTOK__MAX_DEPTH) {
        return dstok__fail(w->p.err, DSTOK_E_LIMIT, at, 0, "groups in a pattern are nested more than %u deep",
                           DSTOK__MAX_DEPTH);
    }
    if (++w->n_groups > DSTOK__MAX_GROUPS) {
        return dstok__fail(w->p.err, DSTOK_E_LIMIT, at, 0, "a pattern has more than %u groups",
                           DSTOK__MAX_GROUPS);
    }
    bool onig = w->p.dialect == DSTOK__DIALECT_ONIG;
    w->groups[++w->depth] = (struct group){.out_at = w->p.out->len,
                                           .at = at,
                                           .is_look = is_look,
                                           .restores = restores || onig,
                                           .icase = w->p.icase,
                                           .dotall = w->p.dotall};
    return put(w, text);
}

static dstok_status close_options(struct rewriter *w, struct group *g) {
    for (; g->options > 0; g->options--, w->open_options--) DSTOK_TRY(put(w, ")"));
    return DSTOK_OK;
}

static dstok_status close_group(struct rewriter *w) {
    dstok__parse *p = &w->p;
    if (w->depth == 0) return DSTOK__BAD_SYNTAX(p, p->i, "a pattern has a ) without a (");
    struct group *g = &w->groups[w->depth--];
    p->i++;
    DSTOK_TRY(close_options(w, g));
    DSTOK_TRY(put(w, ")"));
    if (g->restores) {
        p->icase = g->icase;
        p->dotall = g->dotall;
    }
    w->groups[w->depth].has_upto |= g->has_upto;
    DSTOK_TRY(copy_repeats(w, g->out_at, !g->is_look, g));
    bool is_last = p->i >= p->n || (w->depth == 0 && p->text[p->i] == '|');
    if (g->has_alt && !g->is_look && !is_last) w->jit = false;
    return DSTOK_OK;
}

/* (?i) in the middle of a group. fancy-regex merely changes the flags from here on; Oniguruma reads the rest
 * of the group, alternatives and all, as the body of (?i: ). */
static dstok_status set_options(struct rewriter *w, size_t at) {
    if (w->p.dialect == DSTOK__DIALECT_FANCY) return DSTOK_OK;
    if (w->depth + w->open_options == DSTOK__MAX_DEPTH) {
        return dstok__fail(w->p.err, DSTOK_E_LIMIT, at, 0, "groups in a pattern are nested more than %u deep",
                           DSTOK__MAX_DEPTH);
    }
    w->open_options++;
    w->groups[w->depth].options++;
    return put(w, "(?:");
}

/* (?i) (?i:...) (?-i:...) and dot-all, which is m in Ruby and s elsewhere. The cursor is behind "(?". */
static dstok_status read_options(struct rewriter *w, size_t at) {
    dstok__parse *p = &w->p;
    bool on = true, icase = p->icase, dotall = p->dotall;
    size_t start = p->i;
    for (;; p->i++) {
        if (p->i >= p->n) return DSTOK__BAD_SYNTAX(p, at, "a pattern has a ( without a )");
        unsigned char c = p->text[p->i];
        if (c == 'i') {
            icase = on;
        } else if (c == (p->dialect == DSTOK__DIALECT_ONIG ? 'm' : 's')) {
            dotall = on;
        } else if (c == '-' && on) {
            on = false;
        } else if (c == ':' || c == ')') {
            break;
        } else if (c == 'x') {
            return DSTOK__NOT_SUPPORTED(p, at, "free spacing (?x) in a pattern");
        } else {
            return DSTOK__NOT_SUPPORTED(p, at, "the group option (?%c in a pattern",
                                        c > ' ' && c < 0x7F ? c : '.');
        }
    }
    bool body = p->text[p->i] == ':';
    if (!body && p->i == start) return DSTOK__BAD_SYNTAX(p, at, "the group (?) in a pattern");
    p->i++;
    if (body)
        DSTOK_TRY(open_group(w, at, "(?:", false, true)); /* before the flags change: it restores them */
    p->icase = icase;
    p->dotall = dotall;
    return body ? DSTOK_OK : set_options(w, at);
}

/* (?<name>...): names and numbers do not matter, nothing can refer to them. The cursor is behind < or '. */
static dstok_status open_named(struct rewriter *w, size_t at, char quote) {
    dstok__parse *p = &w->p;
    const unsigned char *end = memchr(p->text + p->i, quote, p->n - p->i);
    if (end == NULL || end == p->text + p->i)
        return DSTOK__BAD_SYNTAX(p, at, "a group name in a pattern is malformed");
    p->i = (size_t)(end - p->text) + 1;
    return open_group(w, at, "(?:", false, false);
}

static const char *refused_group(const dstok__parse *p) {
    static const char *const kinds[][2] = {
        {"#", "a comment (?#"}, {"~", "the absent operator (?~"}, {"(", "a conditional (?("},
        {"{", "a callout (?{"}, {"P=", "a backreference (?P="},   {"P>", "a subexpression call (?P>"},
        {"R", "recursion (?R"}, {"&", "a subexpression call (?&"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (dstok__parse_at(p, kinds[i][0])) return kinds[i][1];
    }
    return NULL;
}

/* The cursor is at '('. */
static dstok_status read_group(struct rewriter *w) {
    static const struct {
        const char *text;
        bool is_look;
    } kinds[] = {{"?=", true}, {"?!", true}, {"?<=", true}, {"?<!", true}, {"?>", false}};
    dstok__parse *p = &w->p;
    size_t at = p->i++;
    if (dstok__parse_at(p, "*"))
        return DSTOK__NOT_SUPPORTED(p, at, "a callout or control verb (* in a pattern");
    if (!dstok__parse_at(p, "?")) return open_group(w, at, "(?:", false, false);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!dstok__parse_at(p, kinds[i].text)) continue;
        char text[8] = "(";
        p->i += strlen(kinds[i].text);
        if (strcmp(kinds[i].text, "?>") == 0) w->jit = false;
        return open_group(w, at, strcat(text, kinds[i].text), kinds[i].is_look, false);
    }
    p->i++;
    if (dstok__parse_at(p, "<") || dstok__parse_at(p, "'")) {
        char quote = p->text[p->i++] == '<' ? '>' : '\'';
        return open_named(w, at, quote);
    }
    if (p->dialect == DSTOK__DIALECT_FANCY && dstok__parse_at(p, "P<")) {
        p->i += 2;
        return open_named(w, at, '>');
    }
    if (refused_group(p) != NULL) return DSTOK__NOT_SUPPORTED(p, at, "%s in a pattern", refused_group(p));
    return read_options(w, at);
}

/* ---- the pattern ---- */

static dstok_status read_piece(struct rewriter *w) {
    dstok__parse *p = &w->p;
    size_t out_at = p->out->len, at = p->i;
    struct repeat r;
    bool anchor;
    switch (p->text[p->i]) {
    case '(':
        return read_group(w);
    case ')':
        return close_group(w);
    case '|':
        p->i++;
        w->groups[w->depth].has_alt = true;
        return put(w, "|");
    case '.':
        p->i++;
        DSTOK_TRY(put(w, p->dotall ? "\\p{Any}" : "."));
        return copy_repeats(w, out_at, true, NULL);
    default:
        break;
    }
    if (read_repeat(p, &r)) {
        if (r.is_interval && p->dialect == DSTOK__DIALECT_FANCY) {
            return DSTOK__NOT_SUPPORTED(p, at, "a {n,m} in a pattern that repeats nothing: escape the {");
        }
        return DSTOK__BAD_SYNTAX(p, at, "a repeat in a pattern has nothing to repeat");
    }
    DSTOK_TRY(copy_anchor(w, &anchor));
    if (!anchor) DSTOK_TRY(copy_item(w));
    return copy_repeats(w, out_at, !anchor, NULL);
}

static dstok_status rewrite(struct rewriter *w) {
    dstok__parse *p = &w->p;
    while (p->i < p->n) DSTOK_TRY(read_piece(w));
    if (w->depth > 0) return DSTOK__BAD_SYNTAX(p, w->groups[w->depth].at, "a pattern has a ( without a )");
    DSTOK_TRY(close_options(w, &w->groups[0]));
    DSTOK_TRY(dstok__buf_push(p->out, '\0'));
    p->out->len--;
    return DSTOK_OK;
}

/* The length of the UTF-8 sequence at s, n > 0; 0 when it is not valid. */
static size_t sequence_length(const unsigned char *s, size_t n) {
    if (s[0] < 0x80) return 1;
    size_t width = s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    if (width == 0 || width > n) return 0;
    for (size_t i = 1; i < width; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
    }
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool outside = (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);
    return overlong || outside ? 0 : width;
}

static dstok_status check_text(const unsigned char *text, size_t n, dstok_error *err) {
    if (n > DSTOK__MAX_PATTERN) {
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0, "a pattern is longer than %u bytes",
                           DSTOK__MAX_PATTERN);
    }
    for (size_t i = 0; i < n;) {
        size_t length = sequence_length(text + i, n - i);
        if (length == 0) return dstok__fail(err, DSTOK_E_UTF8, i, 0, "a pattern is not valid UTF-8");
        i += length;
    }
    return DSTOK_OK;
}

/* Failures that came from below without words. */
static dstok_status explain(dstok_status status, size_t at, dstok_error *err) {
    switch (status) {
    case DSTOK_E_NOMEM:
        return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "no memory to read a pattern");
    case DSTOK_E_LIMIT:
        return dstok__fail(err, status, at, 0, "a pattern is too large once its classes are spelled out");
    default:
        return dstok__fail(err, status, at, 0, "this PCRE2 does not know the general categories of Unicode");
    }
}

dstok_status dstok__pattern_rewrite_jit(const char *pattern, size_t n, dstok__dialect dialect,
                                        dstok__buf *out, bool *jit, dstok_error *err) {
    const unsigned char *text = (const unsigned char *)pattern;
    size_t before = out->len;
    DSTOK_TRY(check_text(text, n, err));
    struct rewriter *w = dstok__alloc_zeroed(out->al, 1, sizeof *w);
    if (w == NULL) return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "no memory to read a pattern");
    dstok_error found = {0}; /* *err stays untouched when all goes well */
    w->p = (dstok__parse){.text = text, .n = n, .dialect = dialect, .out = out, .err = &found};
    w->jit = true;
    dstok__props_init(&w->p.props, out->al);
    dstok_status status = rewrite(w);
    size_t at = w->p.i;
    *jit = w->jit;
    dstok__props_free(&w->p.props);
    dstok__free(out->al, w, sizeof *w);
    if (status == DSTOK_OK) return DSTOK_OK;
    out->len = before;
    if (found.status == status) {
        if (err != NULL) *err = found;
        return status;
    }
    return explain(status, at, err);
}

dstok_status dstok__pattern_rewrite(const char *pattern, size_t n, dstok__dialect dialect, dstok__buf *out,
                                    dstok_error *err) {
    bool jit;
    return dstok__pattern_rewrite_jit(pattern, n, dialect, out, &jit, err);
}
