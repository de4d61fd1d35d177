/* SPDX-License-Identifier: MIT */
/* Reads escapes of a pattern: characters by name or number, \d \s \w \h and properties. */
#include "parse.h"

#include "../../data/unicode/unicode.h"

#include <string.h>

bool dstok__parse_at(const dstok__parse *p, const char *literal) {
    size_t n = strlen(literal);
    return p->n - p->i >= n && memcmp(p->text + p->i, literal, n) == 0;
}

uint32_t dstok__parse_code(dstok__parse *p) {
    const unsigned char *s = p->text + p->i;
    size_t width = s[0] < 0x80 ? 1 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    uint32_t cp = width == 1 ? s[0] : s[0] & (0x7Fu >> width);
    for (size_t i = 1; i < width; i++) cp = cp << 6 | (s[i] & 0x3Fu);
    p->i += width;
    return cp;
}

/* ---- numbers ---- */

static int hex_value(unsigned char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads up to max digits of the base into *value; the number of digits. */
static size_t read_digits(dstok__parse *p, unsigned base, size_t max, uint32_t *value) {
    size_t n = 0;
    for (*value = 0; n < max && p->i < p->n; n++, p->i++) {
        int digit = hex_value(p->text[p->i]);
        if (digit < 0 || (unsigned)digit >= base) break;
        *value = *value * base + (uint32_t)digit;
    }
    return n;
}

static dstok_status check_code(dstok__parse *p, size_t at, uint32_t cp) {
    if (cp > DSTOK__CODE_MAX || (cp >= 0xD800 && cp <= 0xDFFF)) {
        return DSTOK__BAD_SYNTAX(p, at, "U+%04X in a pattern is not a character", (unsigned)cp);
    }
    return DSTOK_OK;
}

/* A single byte by number: Oniguruma means the byte itself, which is a character only in ASCII. */
static dstok_status check_byte(dstok__parse *p, size_t at, uint32_t value) {
    if (p->dialect == DSTOK__DIALECT_FANCY || value < 0x80) return DSTOK_OK;
    return DSTOK__NOT_SUPPORTED(p, at, "a pattern writes the raw byte \\x%02X: write \\x{...}",
                                (unsigned)value);
}

/* \xHH \x{H...} \uHHHH \u{H...} \UHHHHHHHH; the cursor stands behind the letter, at is the backslash. */
static dstok_status read_hex(dstok__parse *p, size_t at, unsigned char letter, uint32_t *cp) {
    bool fancy = p->dialect == DSTOK__DIALECT_FANCY;
    size_t max = letter == 'x' ? 2 : letter == 'u' ? 4 : 8, min = letter == 'x' && !fancy ? 1 : max, n;
    if (letter == 'U' && !fancy) return DSTOK__NOT_SUPPORTED(p, at, "the escape \\U in a pattern");
    if (dstok__parse_at(p, "{") && (fancy || letter == 'x')) {
        p->i++;
        n = read_digits(p, 16, 8, cp);
        if (n == 0 || !dstok__parse_at(p, "}")) {
            return DSTOK__BAD_SYNTAX(p, at, "\\%c{ in a pattern wants 1 to 8 hexadecimal digits and }",
                                     letter);
        }
        p->i++;
        return check_code(p, at, *cp);
    }
    n = read_digits(p, 16, max, cp);
    if (n < min)
        return DSTOK__BAD_SYNTAX(p, at, "\\%c in a pattern wants %zu hexadecimal digits", letter, max);
    if (letter == 'x') DSTOK_TRY(check_byte(p, at, *cp));
    return check_code(p, at, *cp);
}

static dstok_status read_octal(dstok__parse *p, size_t at, uint32_t *cp) {
    if (p->dialect == DSTOK__DIALECT_FANCY)
        return DSTOK__NOT_SUPPORTED(p, at, "a backreference in a pattern");
    read_digits(p, 8, 2, cp);
    return check_byte(p, at, *cp);
}

/* ---- sets ---- */

static dstok_status finish_property(dstok__parse *p, size_t at, const char *name, size_t n, bool negated,
                                    dstok__codeset *set) {
    char quoted[80];
    bool known;
    DSTOK_TRY(dstok__props_add_named(&p->props, name, n, p->dialect, set, &known));
    if (!known) {
        return DSTOK__NOT_SUPPORTED(p, at,
                                    "the property \"%s\" in a pattern is not known to dstok or to this PCRE2",
                                    dstok__quote(name, n, quoted, sizeof quoted));
    }
    /* Under (?i) the Rust engine folds every property, Oniguruma only whole brackets. */
    if (p->icase && p->dialect == DSTOK__DIALECT_FANCY) DSTOK_TRY(dstok__props_close_case(&p->props, set));
    return negated ? dstok__codeset_negate(set) : DSTOK_OK;
}

/* \p{Name} \p{^Name} \P{Name}, and \pL in the Rust dialect; the cursor stands behind the letter. */
static dstok_status read_property(dstok__parse *p, size_t at, bool negated, dstok__codeset *set) {
    if (!dstok__parse_at(p, "{")) {
        if (p->dialect == DSTOK__DIALECT_ONIG || p->i >= p->n || p->text[p->i] >= 0x80) {
            return DSTOK__NOT_SUPPORTED(p, at, "\\p without {} in a pattern");
        }
        p->i++;
        return finish_property(p, at, (const char *)p->text + p->i - 1, 1, negated, set);
    }
    size_t start = ++p->i;
    const unsigned char *end = memchr(p->text + start, '}', p->n - start);
    if (end == NULL) return DSTOK__BAD_SYNTAX(p, at, "\\p{ in a pattern has no }");
    p->i = (size_t)(end - p->text) + 1;
    if (p->text[start] == '^') {
        negated = !negated;
        start++;
    }
    return finish_property(p, at, (const char *)p->text + start, p->i - 1 - start, negated, set);
}

/* \d \s \w \h and their complements. */
static dstok_status read_class(dstok__parse *p, unsigned char letter, bool in_class, dstok__codeset *set) {
    bool known;
    switch (letter | 0x20) {
    case 'd':
        DSTOK_TRY(dstok__props_add_gc(&p->props, DSTOK_UC_ND, set));
        break;
    case 's':
        DSTOK_TRY(dstok__props_add_flag(&p->props, DSTOK_UC_SPACE, set));
        break;
    case 'w':
        DSTOK_TRY(dstok__props_add_word(&p->props, p->dialect, in_class, set));
        break;
    default:
        DSTOK_TRY(dstok__props_add_posix(&p->props, "xdigit", 6, p->dialect, set, &known));
        break;
    }
    return letter & 0x20 ? DSTOK_OK : dstok__codeset_negate(set);
}

/* ---- the letter behind the backslash ---- */

static const char *refused(unsigned char c) {
    switch (c) {
    case 'k':
        return "a backreference (\\k)";
    case 'g':
        return "a subexpression call (\\g)";
    case 'K':
        return "the match reset \\K";
    case 'G':
        return "the anchor \\G";
    case 'R':
        return "the general newline \\R";
    case 'X':
        return "the text segment \\X";
    case 'y':
    case 'Y':
        return "the text segment boundary \\y";
    case 'N':
    case 'O':
        return "the escapes \\N and \\O";
    case 'c':
    case 'C':
    case 'M':
        return "a control or meta character escape";
    default:
        return c >= '1' && c <= '9' ? "a backreference" : NULL;
    }
}

static dstok_status read_other(dstok__parse *p, size_t at, unsigned char c, bool in_class, uint32_t *cp) {
    static const char letters[] = "nrtfvae", codes[] = "\n\r\t\f\v\a\x1B";
    const char *found = c == '\0' ? NULL : strchr(letters, c);
    bool is_word_char = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    if (found != NULL) {
        *cp = (unsigned char)codes[found - letters];
        return DSTOK_OK;
    }
    if (c == 'b' && in_class) {
        *cp = '\b';
        return DSTOK_OK;
    }
    if (refused(c) != NULL) return DSTOK__NOT_SUPPORTED(p, at, "%s in a pattern", refused(c));
    if (is_word_char || (!in_class && p->dialect == DSTOK__DIALECT_FANCY && (c == '<' || c == '>'))) {
        return DSTOK__NOT_SUPPORTED(p, at, "the escape \\%c in a pattern", c);
    }
    p->i--;
    *cp = dstok__parse_code(p); /* an escaped character that is not a letter is itself */
    return DSTOK_OK;
}

dstok_status dstok__parse_escape(dstok__parse *p, bool in_class, dstok__item *item) {
    size_t at = p->i++;
    item->is_set = false;
    if (p->i >= p->n) return DSTOK__BAD_SYNTAX(p, at, "a pattern ends with a backslash");
    unsigned char c = p->text[p->i++];
    switch (c) {
    case 'd':
    case 'D':
    case 's':
    case 'S':
    case 'w':
    case 'W':
    case 'h':
    case 'H':
        item->is_set = true;
        return read_class(p, c, in_class, &item->set);
    case 'p':
    case 'P':
        item->is_set = true;
        return read_property(p, at, c == 'P', &item->set);
    case 'x':
    case 'u':
    case 'U':
        return read_hex(p, at, c, &item->cp);
    case '0':
        return read_octal(p, at, &item->cp);
    default:
        return read_other(p, at, c, in_class, &item->cp);
    }
}
