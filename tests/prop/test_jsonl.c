/* SPDX-License-Identifier: MIT */
/* Lines of JSON, well-formed and not, read by every tier as the plain reader and Jansson
 * read them: random documents and mutants of them, everything at every place of a block, buffers of lines
 * cut anywhere. An argument is the seed, a second one the number of documents. */
#include "../harness/t.h"
#include "../oracle/jsonl_judge.h"

#include <dstok/tokenizer.h>

#include <jansson.h>

#define MAX_LINE ((size_t)1 << 16)

static t_rng rng;
static uint64_t n_lines, n_accepted, n_judged, n_shown;

static uint32_t draw(uint32_t n) {
    return t_below(&rng, n);
}

/* ---- what is read ---- */

static const struct reading {
    const char *keys[3];
    size_t n_keys;
    const char *id_key;
    int replace, as_written;
} readings[] = {
    {{"text"}, 1, "id", 0, 0},  {{"text"}, 1, "id", 1, 0},
    {{"a.b"}, 1, "a.id", 0, 0}, {{"text", "a", "a.b.c"}, 3, "text", 0, 0},
    {{"a.b"}, 1, "text", 0, 1},
};
#define N_READINGS (sizeof readings / sizeof *readings)

static dstok_jsonl *readers[DSTOK_SIMD_NEON + 1][N_READINGS];

static void open_readers(void) {
    for (int simd = DSTOK_SIMD_SCALAR; simd <= DSTOK_SIMD_NEON; simd++) {
        if (dstok_simd_name(simd) == NULL) continue;
        printf("%s\n", dstok_simd_name(simd));
        for (size_t k = 0; k < N_READINGS; k++) {
            dstok_jsonl_options o = DSTOK_JSONL_OPTIONS_INIT;
            o.keys = readings[k].keys;
            o.n_keys = readings[k].n_keys;
            o.id_key = readings[k].id_key;
            o.replace = readings[k].replace;
            o.as_written = readings[k].as_written;
            o.simd = simd;
            CHECK_EQ(dstok_jsonl_new(&o, &readers[simd][k], NULL), DSTOK_OK);
        }
    }
}

static void close_readers(void) {
    for (int simd = 0; simd <= DSTOK_SIMD_NEON; simd++) {
        for (size_t k = 0; k < N_READINGS; k++) dstok_jsonl_free(readers[simd][k]);
    }
}

static void show(const char *what, const char *line, size_t n) {
    if (n_shown++ > 10) return;
    printf("%s, %zu bytes: ", what, n);
    for (size_t i = 0; i < n && i < 2000; i++)
        printf((unsigned char)line[i] < 0x20 || (unsigned char)line[i] > 0x7E ? "<%02X>" : "%c",
               (unsigned char)line[i]);
    printf("\n");
}

/* ---- Jansson ---- */

static bool same_id(const dstok_jsonl_record *r, const json_t *want) {
    if (r->id == NULL || want == NULL) return r->id == NULL && want == NULL;
    json_t *id = json_loadb(r->id, r->n_id, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    bool same = id != NULL && json_equal(id, want);
    json_decref(id);
    return same;
}

/* Where it refuses more on purpose: NUL in keys, numbers out of range, bytes that are not UTF-8, half of a
 * surrogate pair. */
static bool is_stricter(const json_error_t *e, const char *line, size_t n) {
    enum json_error_code code = json_error_code(e);
    return code == json_error_null_byte_in_key || code == json_error_numeric_overflow ||
           dstok_utf8_check(line, n) != n || strstr(e->text, "invalid Unicode") != NULL;
}

static const char *jansson_difference(dstok_status status, const dstok_error *err,
                                      const dstok_jsonl_record *r, const char *line, size_t n) {
    json_error_t e = {0};
    json_t *tree = json_loadb(line, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e),
           *text = json_object_get(tree, "text");
    const char *what = NULL;
    bool is_json = status == DSTOK_OK || (status == DSTOK_E_FORMAT && strncmp(err->text, "not JSON", 8) != 0);
    if (tree == NULL && is_json && !is_stricter(&e, line, n)) what = "Jansson refuses the line";
    /* It passes over a NUL behind a number. */
    if (tree != NULL && !is_json && status != DSTOK_E_LIMIT && memchr(line, 0, n) == NULL)
        what = "Jansson takes the line";
    if (tree != NULL && is_json && (status == DSTOK_OK) != json_is_string(text))
        what = "Jansson finds another text";
    if (tree != NULL && status == DSTOK_OK && what == NULL) {
        n_judged++;
        if (json_string_length(text) != r->n_text || memcmp(json_string_value(text), r->text, r->n_text) != 0)
            what = "Jansson has another text";
        if (!same_id(r, json_object_get(tree, "id"))) what = "Jansson has another id";
    }
    json_decref(tree);
    return what;
}

/* ---- one line by all readers ---- */

static void check_reading(const char *line, size_t n, size_t k) {
    judged want;
    (void)judge_line(&want, line, n, readings[k].keys, readings[k].n_keys, readings[k].id_key,
                     readings[k].replace, readings[k].as_written);
    n_accepted += want.wrong == NULL;
    for (int simd = 0; simd <= DSTOK_SIMD_NEON; simd++) {
        if (readers[simd][k] == NULL) continue;
        dstok_jsonl_record r = DSTOK_JSONL_RECORD_INIT;
        dstok_error err = {0};
        dstok_status status = dstok_jsonl_read(readers[simd][k], line, n, &r, &err);
        const char *what = judge_difference(&want, status, &err, &r);
        CHECK(what == NULL);
        if (what == NULL && k == 0 && simd != DSTOK_SIMD_SCALAR) {
            what = jansson_difference(status, &err, &r, line, n);
            CHECK(what == NULL);
        }
        if (what != NULL) {
            printf("%s: %s; %s at %llu, %s at %zu\n", dstok_simd_name(simd), what, status ? err.text : "fine",
                   (unsigned long long)err.offset,
                   want.why     ? want.why
                   : want.wrong ? want.wrong
                                : "fine",
                   want.where);
            show("the line", line, n);
        }
    }
    cli_buf_free(&want.text);
}

/* In memory of its exact size. */
static void check_line(const char *line, size_t n) {
    char *exact = malloc(n + (n == 0));
    if (exact == NULL) exit(1);
    memcpy(exact, line, n);
    n_lines++;
    for (size_t k = 0; k < N_READINGS; k++) check_reading(exact, n, k);
    free(exact);
}

/* ---- random documents ---- */

typedef struct doc {
    char text[MAX_LINE];
    size_t n;
} doc;

static void put(doc *d, const char *bytes, size_t n) {
    if (n > sizeof d->text - d->n) n = sizeof d->text - d->n;
    memcpy(d->text + d->n, bytes, n);
    d->n += n;
}

static void puts_(doc *d, const char *s) {
    put(d, s, strlen(s));
}

static void put_blanks(doc *d) {
    static const char blanks[] = "  \t \r\n";
    if (draw(4) > 0) return;
    for (uint32_t k = draw(draw(10) == 0 ? 100 : 4); k > 0; k--) put(d, blanks + draw(sizeof blanks - 1), 1);
}

/* A run of what stands in strings. */
static void put_run(doc *d) {
    static const char *const parts[] = {"a",
                                        "word ",
                                        "\\n",
                                        "\\\"",
                                        "\\\\",
                                        "\\/",
                                        "\\b\\f\\r\\t",
                                        "\\u00e9",
                                        "\\u4F60\\u597d",
                                        "\\ud83d\\ude00",
                                        "\\uDBFF\\uDFFF",
                                        "\\u0000",
                                        "\xC3\xA9",
                                        "\xE4\xBD\xA0",
                                        "\xF0\x9F\x98\x80",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ":",
                                        ",",
                                        "\x7F"};
    static const char *const odd[] = {"\\ud83d",
                                      "\\udc00",
                                      "\\ud83d\\n",
                                      "\\ud83d\\u0041",
                                      "\\ud800\\ud83d\\ude00",
                                      "\xFF",
                                      "\xE4\xBD",
                                      "\xED\xA0\x80",
                                      "\x01",
                                      "\t",
                                      "\\x",
                                      "\\u12G4",
                                      "\\",
                                      "\0"};
    size_t n = sizeof parts / sizeof *parts, n_odd = sizeof odd / sizeof *odd;
    const char *part =
        draw(1500) == 0 ? odd[draw((uint32_t)n_odd)] : parts[draw(3) == 0 ? draw(2) : draw((uint32_t)n)];
    for (uint32_t k = draw(6) == 0 ? 1 + draw(80) : 1; k > 0; k--) puts_(d, part);
}

static void put_string(doc *d) {
    puts_(d, "\"");
    for (uint32_t k = draw(draw(20) == 0 ? 200 : 5); k > 0; k--) put_run(d);
    puts_(d, "\"");
}

static void put_key(doc *d) {
    static const char *const keys[] = {
        "text",    "id",        "a",        "b", "c",       "a.b", "a.id",  "a.b.c", "b.c", "te\\u0078t",
        "\\u0061", "a\\u002eb", "i\\u0064", "",  "\\ud800", "tex", "textt", ".",     "a.",  "\\u0000"};
    puts_(d, "\"");
    if (draw(12) == 0)
        put_run(d);
    else
        puts_(d, keys[draw(draw(3) == 0 ? sizeof keys / sizeof *keys : 6)]);
    puts_(d, "\"");
}

static void put_scalar(doc *d) {
    static const char *const words[] = {"true",
                                        "false",
                                        "null",
                                        "0",
                                        "-0",
                                        "12",
                                        "-1.5e+3",
                                        "0.25",
                                        "1E9",
                                        "3e-2",
                                        "123456789012345678901234567890",
                                        "1e999",
                                        "9"};
    static const char *const odd[] = {"tru", "nul", "01",        "-",   "1.",  ".5", "1e",
                                      "+1",  "NaN", "truefalse", "0x1", "1 2", "'a'"};
    puts_(d,
          draw(600) == 0 ? odd[draw(sizeof odd / sizeof *odd)] : words[draw(sizeof words / sizeof *words)]);
}

static void put_value(doc *d, uint32_t depth);

static void put_member(doc *d, uint32_t depth, bool is_text) {
    if (is_text)
        puts_(d, draw(4) == 0 ? "\"te\\u0078t\"" : "\"text\"");
    else
        put_key(d);
    put_blanks(d);
    puts_(d, ":");
    put_blanks(d);
    if (is_text)
        put_string(d);
    else
        put_value(d, depth + 1);
}

static void put_members(doc *d, uint32_t depth, bool is_object) {
    uint32_t n = draw(draw(30) == 0 ? 40 : 5), text = depth == 0 && n > 0 && draw(8) > 0 ? draw(n) : n;
    puts_(d, is_object ? "{" : "[");
    put_blanks(d);
    for (uint32_t k = 0; k < n; k++) {
        if (is_object)
            put_member(d, depth, k == text);
        else
            put_value(d, depth + 1);
        put_blanks(d);
        if (k + 1 < n) puts_(d, ",");
        put_blanks(d);
    }
    puts_(d, is_object ? "}" : "]");
}

static void put_value(doc *d, uint32_t depth) {
    uint32_t kind = draw(depth > 6 ? 5 : 9);
    if (kind < 4)
        put_string(d);
    else if (kind == 4)
        put_scalar(d);
    else
        put_members(d, depth, kind != 5);
}

static void make_doc(doc *d) {
    d->n = 0;
    put_blanks(d);
    if (draw(30) == 0)
        put_value(d, 0);
    else
        put_members(d, 0, true);
    put_blanks(d);
    if (draw(8) == 0) puts_(d, "\r");
}

/* A few bytes changed, put in, left out, doubled; or the end cut off. */
static void mutate(doc *d) {
    static const char pieces[] = "{}[]\",:\\u0123456789eE+-.ntrdDcC8 \n\r\t\0\x01\x1F\x7F\x80\xED\xA0\xFF";
    for (uint32_t k = 1 + draw(3); k > 0 && d->n > 0 && d->n + 100 < sizeof d->text; k--) {
        size_t at = draw((uint32_t)d->n), n = 1 + draw(draw(4) == 0 ? 70 : 2), left = d->n - at;
        uint32_t how = draw(9);
        if (how < 3) {
            d->text[at] = pieces[draw(sizeof pieces - 1)];
        } else if (how < 5) {
            memmove(d->text + at + n, d->text + at, left);
            memset(d->text + at, pieces[draw(sizeof pieces - 1)], n);
            d->n += n;
        } else if (how < 7) {
            if (n > left) n = left;
            memmove(d->text + at, d->text + at + n, left - n);
            d->n -= n;
        } else if (how == 7) {
            d->text[at] = (char)draw(256);
        } else if (draw(4) == 0) {
            d->n = at;
        }
    }
}

static void test_random(size_t rounds) {
    static doc d;
    for (size_t i = 0; i < rounds; i++) {
        make_doc(&d);
        check_line(d.text, d.n);
        mutate(&d);
        check_line(d.text, d.n);
    }
}

/* ---- everything at every place of a block ---- */

static void check_phases(const char *head, const char *middle, size_t n, const char *tail) {
    static doc d;
    for (size_t phase = 0; phase < 64; phase++) {
        d.n = 0;
        for (size_t i = 0; i < phase; i++) put(&d, phase % 2 ? " " : "\t", 1);
        puts_(&d, head);
        put(&d, middle, n);
        puts_(&d, tail);
        check_line(d.text, d.n);
    }
}

static void test_phases(void) {
    static const char *const lines[] = {
        "{\"text\":\"a\\\\\\\"b\\u00e9\\ud83d\\ude00\\n\",\"id\":[1,{\"x\":null}]}",
        "{\"id\":1,\"text\":\"\\\\\\\\\\\\\\\\\"}",
        "{\"id\":1,\"text\":\"\\\\\\\\\\\\\\\"}",
        "{\"text\":\"\\u00\"}",
        "{\"text\":\"x\"}\"",
        "{\"text\":\"x\"}}",
        "{\"text\":\"x\"} true",
        "{\"text\":\"x\" \"y\"}",
        "{\"text\":\"x\",}",
        "{\"text\":tru}",
        "{\"text\":nulll}",
        "{\"n\":12\\\"}",
        "{\"text\":\"\\\"",
        "{\\\"text\":1}",
        "{\"text\":\"a\tb\"}",
        "{\"a\":{\"b\":\"x\",\"id\":-1.5e3},\"a\":7,\"text\":\"y\"}",
        "[\"text\"]",
        "-",
        "\"",
        "\\",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "\"text\"",
        "{\"text\":\"a\"\"b\"}",
        "{\"text\":1\"b\"}",
        "{\"text\":\"a\"1}",
        "\xEF\xBB\xBF{\"text\":\"\"}"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        check_phases("", lines[i], strlen(lines[i]), "");
    for (size_t n = 1; n < 140; n++) { /* runs of backslashes, and strings of every length */
        char run[140];
        memset(run, '\\', n);
        check_phases("{\"text\":\"", run, n, "\"}");
        check_phases("{\"text\":\"", run, n, "n\"}");
        memset(run, 'x', n);
        check_phases("{\"text\":\"", run, n, "\",\"id\":\"\"}");
    }
    for (unsigned c = 0; c < 256;
         c++) { /* every byte in a string, behind a backslash, between tokens, in a name */
        char two[2] = {'\\', (char)c};
        check_phases("{\"text\":\"", two + 1, 1, "\"}");
        check_phases("{\"text\":\"", two, 2, "u0031\"}");
        check_phases("{\"text\":\"x\"", two + 1, 1, "}");
        check_phases("{\"a\":1", two + 1, 1, ",\"text\":\"\"}");
        check_phases("{\"text\":\"\\u12", two + 1, 1, "4\"}");
    }
}

/* ---- depth, length ---- */

static void test_depth(void) {
    static doc d;
    for (size_t depth = 990; depth <= 1010; depth++) {
        for (int kind = 0; kind < 3; kind++) {
            d.n = 0;
            puts_(&d, "{\"text\":\"x\",\"d\":");
            for (size_t i = 0; i < depth; i++) puts_(&d, kind == 0 || (kind == 2 && i % 3) ? "[" : "{\"a\":");
            puts_(&d, "1");
            for (size_t i = depth; i-- > 0;) puts_(&d, kind == 0 || (kind == 2 && i % 3) ? "]" : "}");
            puts_(&d, "}");
            check_line(d.text, d.n);
            d.text[d.n - 3] = d.text[d.n - 3] == ']' ? '}' : ']';
            check_line(d.text, d.n);
        }
    }
    for (size_t n = 4000; n < 4200; n++) { /* over the windows of 4 KiB */
        d.n = 0;
        puts_(&d, "{\"text\":\"");
        while (d.n < n) put(&d, n % 2 ? "\\\\" : "xyz", 2);
        puts_(&d, "\\\"\",\"id\":true}");
        check_line(d.text, d.n);
    }
}

/* ---- many lines ---- */

typedef struct lines {
    char text[1 << 15];
    size_t n;
} lines;

static void add_line(lines *l) {
    static const char *const odd[] = {"",
                                      " ",
                                      "\t \r",
                                      "\r",
                                      "rubbish",
                                      "{\"text\":1}",
                                      "{",
                                      "\xEF\xBB\xBF",
                                      "\xEF\xBB\xBF{\"text\":\"m\"}"};
    static doc d;
    do {
        make_doc(&d);
        if (draw(3) == 0) mutate(&d);
        if (draw(3) == 0) {
            d.n = 0;
            puts_(&d, odd[draw(sizeof odd / sizeof *odd)]);
        }
    } while (d.n > 3000);
    for (size_t i = 0; i < d.n; i++) l->text[l->n++] = d.text[i] == '\n' ? ' ' : d.text[i];
    l->text[l->n++] = '\n';
}

/* The next line as it is told in words: up to a line feed; blank ones are not there, the mark of a file
 * neither. */
static bool naive_next(const lines *l, size_t *at, uint64_t *number, size_t *begin, size_t *n) {
    while (*at < l->n) {
        size_t end = *at, i;
        while (end < l->n && l->text[end] != '\n') end++;
        *begin = *at;
        *at = end < l->n ? end + 1 : end;
        if (++*number == 1 && end - *begin >= 3 && memcmp(l->text + *begin, "\xEF\xBB\xBF", 3) == 0)
            *begin += 3;
        *n = end - *begin;
        for (i = *begin; i < end && strchr(" \t\r", l->text[i]) != NULL && l->text[i] != '\0'; i++)
            ;
        if (i < end) return true;
    }
    return false;
}

static void check_same_record(dstok_jsonl *one, const lines *l, size_t begin, size_t n, dstok_status status,
                              const dstok_error *err, const dstok_jsonl_record *r, size_t base) {
    dstok_jsonl_record want = DSTOK_JSONL_RECORD_INIT;
    dstok_error want_err = {0};
    dstok_status want_status = dstok_jsonl_read(one, l->text + begin, n, &want, &want_err);
    CHECK_EQ(status, want_status);
    CHECK(r->n_line == n && memcmp(r->line, l->text + begin, n) == 0);
    if (status != DSTOK_OK) {
        CHECK_STR(err->text, want_err.text);
        CHECK_EQ(err->offset + base, want_err.offset + begin);
        CHECK_EQ(err->line, r->number);
        CHECK(r->text == NULL && r->id == NULL);
    } else {
        CHECK(r->n_text == want.n_text && memcmp(r->text, want.text, r->n_text) == 0);
        CHECK(r->n_id == want.n_id && (r->id != NULL) == (want.id != NULL));
    }
}

/* A buffer that grows by `piece` bytes each time; what is no whole line is brought again. */
static void check_lines(dstok_jsonl *reader, dstok_jsonl *one, const lines *l, size_t piece) {
    size_t base = 0, end = piece < l->n ? piece : l->n, at = 0, naive = 0, begin = 0, n = 0;
    uint64_t number = 0;
    dstok_jsonl_begin(reader);
    for (;;) {
        dstok_jsonl_record r = DSTOK_JSONL_RECORD_INIT;
        dstok_error err = {0};
        char *data = malloc(end - base + (end == base)); /* no byte more than there is */
        if (data == NULL) exit(1);
        memcpy(data, l->text + base, end - base);
        dstok_status status;
        while ((status = dstok_jsonl_next(reader, data, end - base, end == l->n, &at, &r, &err)) !=
                   DSTOK_OK ||
               r.line != NULL) {
            bool there = naive_next(l, &naive, &number, &begin, &n);
            CHECK(there && r.number == number && base + at == naive);
            if (!there) break;
            check_same_record(one, l, begin, n, status, &err, &r, base);
        }
        base += at;
        free(data);
        if (end == l->n) break;
        at = 0;
        end = end + piece < l->n ? end + piece : l->n;
    }
    CHECK(!naive_next(l, &naive, &number, &begin, &n));
    CHECK_EQ(base, l->n);
}

static void test_lines(size_t rounds) {
    static lines l;
    dstok_jsonl *one = NULL;
    CHECK_EQ(dstok_jsonl_new(NULL, &one, NULL), DSTOK_OK);
    for (size_t i = 0; i < rounds; i++) {
        l.n = 0;
        if (i % 4 == 0) memcpy(l.text, "\xEF\xBB\xBF", l.n = 3);
        for (uint32_t k = draw(8); k > 0; k--) add_line(&l);
        if (l.n > 0 && i % 3 == 0) l.n--; /* no last line feed */
        if (l.n > 0 && i % 7 == 0) l.n = draw((uint32_t)l.n);
        for (int simd = 0; simd <= DSTOK_SIMD_NEON; simd++) {
            if (readers[simd][0] == NULL) continue;
            check_lines(readers[simd][0], one, &l, 1 + draw(i % 2 ? 5000 : 100));
        }
    }
    dstok_jsonl_free(one);
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261130;
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 0) : 30000;
    printf("seed %llu\n", (unsigned long long)seed);
    rng.state = seed;
    open_readers();
    test_phases();
    test_depth();
    printf("%llu lines at the edges, %llu times accepted\n", (unsigned long long)n_lines,
           (unsigned long long)n_accepted);
    n_lines = n_accepted = n_judged = 0;
    test_random(n);
    test_lines(n / 20);
    printf("%llu random lines, %llu times accepted, %llu texts compared with Jansson\n",
           (unsigned long long)n_lines, (unsigned long long)n_accepted, (unsigned long long)n_judged);
    CHECK(n < 1000 || (n_accepted > n_lines / 10 && n_accepted < n_lines * 3 && n_judged > n_lines / 3));
    close_readers();
    return t_end();
}
