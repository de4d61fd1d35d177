/* SPDX-License-Identifier: MIT */
/* Reading a command line by a table of options. */
#include "args.h"

#include <stdlib.h>
#include <string.h>

static int hex_digit(char d) {
    static const char digits[] = "0123456789abcdef";
    const char *at = d ? strchr(digits, d >= 'A' && d <= 'F' ? d + 32 : d) : NULL;

    return at ? (int)(at - digits) : -1;
}

const char *cli_unescape(struct cli_buf *out, const char *value) {
    static const char from[] = "ntr0\\", to[] = "\n\t\r\0\\";
    const char *p, *at;

    out->n = 0;
    for (p = value; *p; p++) {
        if (*p != '\\') {
            cli_buf_char(out, *p);
        } else if (p[1] == 'x' && hex_digit(p[2]) >= 0 && hex_digit(p[3]) >= 0) {
            cli_buf_char(out, (char)(hex_digit(p[2]) << 4 | hex_digit(p[3])));
            p += 3;
        } else if (p[1] != '\0' && (at = strchr(from, p[1])) != NULL) {
            cli_buf_char(out, to[at - from]);
            p++;
        } else {
            return "has an unknown escape; known are \\n \\t \\r \\0 \\\\ \\xHH";
        }
    }
    return NULL;
}

const char *cli_token_count(const char *value, size_t n, uint64_t *out) {
    unsigned shift = n == 0                                       ? 0
                     : value[n - 1] == 'K' || value[n - 1] == 'k' ? 10
                     : value[n - 1] == 'M'                        ? 20
                                                                  : 0;
    const char *why = cli_number(value, shift > 0 ? n - 1 : n, out);

    if (why != NULL) return why;
    if (*out > UINT64_MAX >> shift) return "is too large";
    *out <<= shift;
    return NULL;
}

/* An option of the verb, else of another one; NULL: of none. */
static const struct cli_option *find_name(const struct cli_args *a, const char *name, size_t n) {
    const struct cli_option *options = a->table->options;
    const struct cli_option *other = NULL;
    size_t i;

    for (i = 0; i < a->table->n; i++)
        if (strncmp(options[i].name, name, n) == 0 && options[i].name[n] == '\0') {
            if (options[i].verbs & a->verb_bit) return &options[i];
            other = &options[i];
        }
    return other;
}

/* An option of the verb, else of another one, as above. */
static const struct cli_option *find_letter(const struct cli_args *a, char letter) {
    const struct cli_option *options = a->table->options;
    const struct cli_option *other = NULL;
    size_t i;

    for (i = 0; i < a->table->n; i++)
        if (options[i].letter == letter) {
            if (options[i].verbs & a->verb_bit) return &options[i];
            other = &options[i];
        }
    return other;
}

size_t cli_distance(const char *a, size_t n, const char *b) {
    size_t row[32], m = strlen(b), i, j;

    if (n > 30 || m > 30) return 99;
    for (j = 0; j <= m; j++) row[j] = j;
    for (i = 1; i <= n; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (j = 1; j <= m; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            row[j] = row[j] + 1 < change ? row[j] + 1 : change;
            if (row[j - 1] + 1 < row[j]) row[j] = row[j - 1] + 1;
        }
    }
    return row[m];
}

static int is_later(const struct cli_args *a, const char *name, size_t n) {
    const char *const *later = a->table->later;
    size_t i = 0;

    while (i < a->table->n_later && (strncmp(later[i], name, n) != 0 || later[i][n] != '\0')) i++;
    return i < a->table->n_later;
}

static int unknown_option(const struct cli_args *a, const char *name, size_t n) {
    const struct cli_option *options = a->table->options;
    const char *best = NULL;
    size_t i, least = 3;

    if (is_later(a, name, n)) return cli_usage(a->verb, "--%.*s is not in this version", (int)n, name);
    for (i = 0; i < a->table->n; i++)
        if ((options[i].verbs & a->verb_bit) && cli_distance(name, n, options[i].name) < least) {
            best = options[i].name;
            least = cli_distance(name, n, best);
        }
    if (best)
        return cli_usage(a->verb, "unknown option --%.*s; did you mean --%s?", (int)(n < 60 ? n : 60), name,
                         best);
    return cli_usage(a->verb, "unknown option --%.*s", (int)(n < 60 ? n : 60), name);
}

static int set_number(struct cli_args *a, const struct cli_option *o, const char *value) {
    uint64_t number = 0;
    const char *why = cli_number(value, strlen(value), &number);

    if (why != NULL) return cli_usage(a->verb, "--%s: \"%s\" %s", o->name, value, why);
    if (number == 0) return cli_usage(a->verb, "--%s must be at least 1", o->name);
    memcpy((char *)a->config + o->field, &number, sizeof number);
    return 0;
}

static int set_choice(struct cli_args *a, const struct cli_option *o, const char *value) {
    const char *word = o->value;
    size_t n = strlen(value);
    int i;

    for (i = 0; *word; i++) {
        size_t k = strcspn(word, "|");

        if (k == n && memcmp(word, value, n) == 0) {
            memcpy((char *)a->config + o->field, &i, sizeof i);
            return 0;
        }
        word += k + (word[k] == '|');
    }
    return cli_usage(a->verb, "--%s: \"%s\" is not one of %s", o->name, value, o->value);
}

static int set_option(struct cli_args *a, const struct cli_option *o, const char *value) {
    const int on = 1;
    const char *why;

    a->given = cli_realloc(a->given, (a->n_given + 1) * sizeof *a->given);
    a->given[a->n_given++] = o->name;
    switch (o->kind) {
    case CLI_OPTION_FLAG:
        memcpy((char *)a->config + o->field, &on, sizeof on);
        return 0;
    case CLI_OPTION_TEXT:
        memcpy((char *)a->config + o->field, &value, sizeof value);
        return 0;
    case CLI_OPTION_NUMBER:
        return set_number(a, o, value);
    case CLI_OPTION_CHOICE:
        return set_choice(a, o, value);
    default:
        why = o->call(a->config, value);
        break;
    }
    return why ? cli_usage(a->verb, "--%s %s: %s", o->name, value, why) : 0;
}

/* An option of other verbs. Who looks for --output may not know that results go where the shell sends them. */
static int not_of_verb(const struct cli_args *a, const struct cli_option *o) {
    return cli_usage(a->verb, "--%s is not an option of %s%s", o->name, a->verb,
                     strcmp(o->name, "output") == 0 ? "; results go to standard output: > FILE" : "");
}

/* --name, --name=value, --name value */
static int long_option(struct cli_args *a, char **argv, int *i) {
    const char *name = argv[*i] + 2, *value = strchr(name, '=');
    size_t n = value ? (size_t)(value - name) : strlen(name);
    const struct cli_option *o = find_name(a, name, n);

    if (o == NULL) return unknown_option(a, name, n);
    if (!(o->verbs & a->verb_bit))
        return (a->table->later_verbs & a->verb_bit) && is_later(a, name, n) ? unknown_option(a, name, n)
                                                                             : not_of_verb(a, o);
    if (o->kind == CLI_OPTION_FLAG)
        return value ? cli_usage(a->verb, "--%s takes no value", o->name) : set_option(a, o, NULL);
    value = value ? value + 1 : argv[++*i];
    if (value == NULL) return cli_usage(a->verb, "--%s needs a value: %s", o->name, o->value);
    return set_option(a, o, value);
}

/* -q, -qv X, -vX */
static int short_options(struct cli_args *a, char **argv, int *i) {
    const char *p;
    int rc = 0;

    for (p = argv[*i] + 1; *p && rc == 0; p++) {
        const struct cli_option *o = find_letter(a, *p);

        if (o == NULL) return cli_usage(a->verb, "unknown option -%c", *p);
        if (!(o->verbs & a->verb_bit)) return not_of_verb(a, o);
        if (o->kind != CLI_OPTION_FLAG) {
            const char *value = p[1] ? p + 1 : argv[++*i];

            return value ? set_option(a, o, value)
                         : cli_usage(a->verb, "-%c needs a value: %s", *p, o->value);
        }
        rc = set_option(a, o, NULL);
    }
    return rc;
}

int cli_args_read(struct cli_args *a, int argc, char **argv) {
    int i, rc = 0, only_inputs = 0;

    for (i = 0; i < argc && rc == 0; i++) {
        if (only_inputs || argv[i][0] != '-' || argv[i][1] == '\0')
            a->table->input(a->config, argv[i]);
        else if (strcmp(argv[i], "--") == 0)
            only_inputs = 1;
        else if (argv[i][1] == '-')
            rc = long_option(a, argv, &i);
        else
            rc = short_options(a, argv, &i);
    }
    return rc;
}

void cli_args_free(struct cli_args *a) {
    free(a->given);
}

int cli_args_has(const struct cli_args *a, const char *name) {
    size_t i = 0;

    while (i < a->n_given && strcmp(a->given[i], name) != 0) i++;
    return i < a->n_given;
}

/* Words from `column` on, broken before column 80. */
static void add_wrapped(struct cli_buf *out, const char *text, size_t column) {
    size_t at = 80;

    while (*text) {
        size_t n = strcspn(text, " ");

        if (at + 1 + n >= 80) {
            cli_buf_printf(out, "\n%*s", (int)column, "");
            at = column;
        } else {
            cli_buf_char(out, ' ');
            at++;
        }
        cli_buf_add(out, text, n);
        at += n;
        text += n + (text[n] == ' ');
    }
    cli_buf_char(out, '\n');
}

void cli_args_help(const struct cli_table *table, unsigned verb_bit, struct cli_buf *out) {
    struct cli_buf text = {0};
    size_t i;

    for (i = 0; i < table->n; i++) {
        const struct cli_option *o = &table->options[i];

        if (!(o->verbs & verb_bit)) continue;
        if (o->letter)
            cli_buf_printf(out, "  -%c, --%s", o->letter, o->name);
        else
            cli_buf_printf(out, "  --%s", o->name);
        if (o->value) cli_buf_printf(out, " %s", o->value);
        text.n = 0;
        cli_buf_text(&text, o->help);
        if (table->more_help != NULL) table->more_help(o, &text);
        add_wrapped(out, cli_buf_string(&text), 8);
    }
    cli_buf_free(&text);
}
