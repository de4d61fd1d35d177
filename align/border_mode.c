/* SPDX-License-Identifier: MIT */
/* Whether a text is prose, Markdown or code, told from its begin. */
#include "borders.h"

#include <string.h>

/* What the lines of a text look like. */
typedef struct looks {
    unsigned n_lines;    /* that are not blank */
    unsigned n_code;     /* that end as lines of code do, or are indented and hold such signs */
    unsigned n_headings; /* # Title */
    unsigned n_fences;   /* ``` */
    unsigned n_marked;   /* lists, quotes, tables, links, emphasis at the begin of lines */
} looks;

static bool begins(const uint8_t *line, size_t n, const char *with) {
    size_t k = strlen(with);
    return n >= k && memcmp(line, with, k) == 0;
}

static bool is_one_of(uint8_t c, const char *set) {
    return c != 0 && strchr(set, c) != NULL;
}

static bool is_heading(const uint8_t *line, size_t n) {
    size_t k = 0;
    while (k < n && k < 7 && line[k] == '#') k++;
    return k >= 1 && k <= 6 && k + 1 < n && line[k] == ' ' && line[k + 1] != '!';
}

static bool is_code(const uint8_t *line, size_t n, bool is_indented) {
    uint8_t end = line[n - 1];
    if (is_one_of(end, ";{}")) return true;
    if (begins(line, n, "//") || begins(line, n, "/*") || begins(line, n, "#include") ||
        begins(line, n, "#!"))
        return true;
    if (begins(line, n, "import ") || begins(line, n, "def ") || begins(line, n, "return ")) return true;
    return is_indented && (is_one_of(end, "()[]:,=\\+|&>*/") || memchr(line, '=', n) != NULL ||
                           memchr(line, '(', n) != NULL);
}

static void look(looks *s, const uint8_t *line, size_t n) {
    size_t from = 0;
    while (n > 0 && is_one_of(line[n - 1], " \t\r\f")) n--;
    while (from < n && is_one_of(line[from], " \t")) from++;
    if (from == n) return;
    line += from;
    n -= from;
    s->n_lines++;
    s->n_code += is_code(line, n, from >= 2 || (from == 1 && line[-1] == '\t'));
    s->n_headings += from == 0 && is_heading(line, n);
    s->n_fences += from <= 3 && (begins(line, n, "```") || begins(line, n, "~~~"));
    s->n_marked += begins(line, n, "- ") || begins(line, n, "* ") || begins(line, n, "> ") ||
                   begins(line, n, "| ") || begins(line, n, "**") || begins(line, n, "![") ||
                   begins(line, n, "[");
}

int dstok__border_mode(const uint8_t *text, size_t len) {
    looks s = {0};
    if (len > DSTOK__MODE_BYTES) len = DSTOK__MODE_BYTES;
    for (size_t at = 0; at < len;) {
        const uint8_t *end = memchr(text + at, '\n', len - at);
        size_t n = (end != NULL ? (size_t)(end - text) : len) - at;
        look(&s, text + at, n);
        at += n + 1;
    }
    bool has_markup = s.n_fences >= 2 || s.n_marked * 10 >= s.n_lines;
    if (s.n_headings >= 1 && s.n_code * 2 < s.n_lines && (has_markup || s.n_headings >= 2))
        return DSTOK__MODE_MARKDOWN;
    if (s.n_fences >= 2 && s.n_headings + s.n_marked >= 1) return DSTOK__MODE_MARKDOWN;
    return s.n_lines >= 4 && s.n_code * 2 >= s.n_lines ? DSTOK__MODE_CODE : DSTOK__MODE_PROSE;
}
