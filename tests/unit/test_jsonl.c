/* SPDX-License-Identifier: MIT */
/* Readers of JSON lines: options, what is a view and what a copy, what the keys of a reader find, messages
 * and places, line numbers, memory. prop.jsonl has the rest. */
#include "heap.h"
#include "t.h"

#include <dstok/jsonl.h>
#include <dstok/tokenizer.h>

#include <stdlib.h>

static dstok_jsonl *reader_of(const char *const *keys, size_t n_keys, const char *id_key, int replace) {
    dstok_jsonl_options o = DSTOK_JSONL_OPTIONS_INIT;
    dstok_jsonl *r = NULL;
    o.keys = keys;
    o.n_keys = n_keys;
    o.id_key = id_key;
    o.replace = replace;
    CHECK_EQ(dstok_jsonl_new(&o, &r, NULL), DSTOK_OK);
    if (r == NULL) exit(1);
    return r;
}

static void check_bytes(const char *got, size_t n, const char *want) {
    CHECK_EQ(n, strlen(want));
    if (n == strlen(want)) CHECK_MEM(got, want, n);
}

/* ---- making ---- */

static void check_refused(const dstok_jsonl_options *o, dstok_status want, const char *say) {
    dstok_jsonl *none = (dstok_jsonl *)(void *)&none, *out = none;
    dstok_error err = {0};
    CHECK_EQ(dstok_jsonl_new(o, &out, &err), want);
    CHECK_EQ(err.status, want);
    CHECK(strstr(err.text, say) != NULL);
    CHECK(out == none);
    CHECK_EQ(dstok_jsonl_new(o, &out, NULL), want);
}

static void test_options(void) {
    static const char *many[DSTOK_JSONL_MAX_KEYS + 1];
    static char longest[DSTOK_JSONL_MAX_KEY + 2];
    const char *empty[] = {"a", ""}, *null[] = {NULL}, *too_long[] = {longest};
    dstok_jsonl_options o = DSTOK_JSONL_OPTIONS_INIT;
    CHECK_EQ(dstok_jsonl_new(NULL, NULL, NULL), DSTOK_E_INVAL);
    for (size_t k = 0; k <= DSTOK_JSONL_MAX_KEYS; k++) many[k] = "k";
    memset(longest, 'k', sizeof longest - 1);
    o.struct_size = sizeof(size_t);
    check_refused(&o, DSTOK_E_INVAL, "struct_size");
    o.struct_size = sizeof o;
    o.keys = empty;
    check_refused(&o, DSTOK_E_INVAL, "n_keys 0");
    o.n_keys = 2;
    check_refused(&o, DSTOK_E_INVAL, "empty");
    o.keys = null;
    o.n_keys = 1;
    check_refused(&o, DSTOK_E_INVAL, "NULL");
    o.keys = NULL;
    check_refused(&o, DSTOK_E_INVAL, "keys is NULL");
    o.keys = too_long;
    check_refused(&o, DSTOK_E_LIMIT, "longer than 4096");
    longest[DSTOK_JSONL_MAX_KEY] = '\0';
    dstok_jsonl_free(reader_of(too_long, 1, longest, 0));
    o.keys = many;
    o.n_keys = DSTOK_JSONL_MAX_KEYS + 1;
    check_refused(&o, DSTOK_E_LIMIT, "more than 64 keys");
    dstok_jsonl_free(reader_of(many, DSTOK_JSONL_MAX_KEYS, NULL, 0));
    o.n_keys = 1;
    o.id_key = "";
    check_refused(&o, DSTOK_E_INVAL, "empty");
    o.id_key = NULL;
    o.simd = DSTOK_SIMD_NEON + 1;
    check_refused(&o, DSTOK_E_INVAL, "simd");
    for (o.simd = DSTOK_SIMD_BEST; o.simd <= DSTOK_SIMD_NEON; o.simd++) {
        if (dstok_simd_name(o.simd) == NULL) check_refused(&o, DSTOK_E_UNSUPPORTED, "instructions");
    }
    dstok_jsonl_free(NULL);
    dstok_jsonl_begin(NULL);
}

static void test_misuse(void) {
    dstok_jsonl *r = reader_of(NULL, 0, NULL, 0);
    dstok_jsonl_record out = DSTOK_JSONL_RECORD_INIT, small = {sizeof(size_t), NULL, 0, 0, NULL, 0, NULL, 0};
    size_t at = 0;
    CHECK_EQ(dstok_jsonl_read(NULL, "{}", 2, &out, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_jsonl_read(r, NULL, 2, &out, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_jsonl_read(r, "{}", 2, NULL, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_jsonl_read(r, "{}", 2, &small, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_jsonl_read(r, NULL, 0, &out, NULL), DSTOK_E_FORMAT);
    CHECK_EQ(dstok_jsonl_read(r, "{}", DSTOK_MAX_INPUT + 1, &out, NULL), DSTOK_E_LIMIT); /* not looked at */
    CHECK_EQ(dstok_jsonl_next(r, "{}", 2, 1, NULL, &out, NULL), DSTOK_E_INVAL);
    at = 3;
    CHECK_EQ(dstok_jsonl_next(r, "{}", 2, 1, &at, &out, NULL), DSTOK_E_RANGE);
    at = 0;
    CHECK_EQ(dstok_jsonl_next(r, NULL, 0, 1, &at, &out, NULL), DSTOK_OK);
    CHECK(out.line == NULL);
    dstok_jsonl_free(r);
}

/* ---- what is found ---- */

static const struct finding {
    const char *line, *keys[3];
    size_t n_keys;
    const char *text, *id; /* text NULL: err holds `id`, at `where` */
    size_t where;
} findings[] = {
    {"{\"id\":7,\"text\":\"x\"}", {"text"}, 1, "x", "7", 0},
    {" { \"text\" : \"x\" , \"id\" : [ 1 , {} ] } \r", {"text"}, 1, "x", "[ 1 , {} ]", 0},
    {"{\"text\":\"x\",\"text\":\"y\"}", {"text"}, 1, "y", NULL, 0},
    {"{\"te\\u0078t\":\"\\u00e9\\ud83d\\ude00\\n\"}", {"text"}, 1, "\u00e9\U0001F600\n", NULL, 0},
    {"{\"\\u0074\\u0065\\u0078\\u0074\":\"x\"}", {"text"}, 1, "x", NULL, 0},
    {"{\"a\":{\"b\":{\"c\":\"in\"}},\"text\":\"x\"}", {"a.b.c", "text"}, 2, "inx", NULL, 0},
    {"{\"a.b\":\"dot\",\"a\":{\"b\":\"in\"}}", {"a.b"}, 1, "dot", NULL, 0},
    {"{\"a\":{\"b\":\"in\"},\"a.b\":\"dot\"}", {"a.b"}, 1, "dot", NULL, 0},
    {"{\"a\":{\"b\":\"1\"},\"a\":{\"b\":\"2\"}}", {"a.b"}, 1, "2", NULL, 0},
    {"{\"a\":{\"b\":\"1\"},\"a\":7}", {"a.b"}, 1, NULL, "the object has no key \"a.b\"", 0},
    {"{\"a\":{\"b\":\"1\"},\"a\":7,\"a\":{\"b\":\"2\"}}", {"a.b"}, 1, "2", NULL, 0},
    {"{\"a.b\":{\"c\":\"1\"},\"a\":7}", {"a.b.c"}, 1, "1", NULL, 0},
    {"{\"a.b\":{\"c\":\"1\"},\"a\":{\"b.c\":\"2\"}}", {"a.b.c"}, 1, "2", NULL, 0},
    {"{\"a\":\"\",\"b\":\"\"}", {"a", "b", "a"}, 3, "", NULL, 0},
    {"{\"a\":{\"b\":\"1\"},\"a\":{}}", {"a.b"}, 1, NULL, "the object has no key \"a.b\"", 0},
    {"  {\"a\":1}", {"text"}, 1, NULL, "the object has no key \"text\"", 2},
    {"{\"text\":null}", {"text"}, 1, NULL, "\"text\" is null, not a string", 8},
    {"{\"a\":{}}", {"a"}, 1, NULL, "\"a\" is an object, not a string", 5},
    {"{\"a\":{}}", {"a."}, 1, NULL, "\"a.\" is an object, not a string", 5},
    {"{\"a\":[]}", {"a"}, 1, NULL, "\"a\" is an array, not a string", 5},
    {"{\"a\":false}", {"a"}, 1, NULL, "\"a\" is a boolean, not a string", 5},
    {"{\"a\":-1}", {"a"}, 1, NULL, "\"a\" is a number, not a string", 5},
    {" \"text\"", {"text"}, 1, NULL, "the line is a string, not an object", 1},
    {"[]", {"text"}, 1, NULL, "the line is an array, not an object", 0},
    {"{\"text\":\"ab\\ud83dc\"}", {"text"}, 1, NULL, "\\ud83d is half of a surrogate pair", 11},
    {"{\"text\":\"a\x01\"}", {"text"}, 1, NULL, "not JSON: a control character", 10},
    {"", {"text"}, 1, NULL, "not JSON: the text ends inside a JSON value", 0},
    {"{\"text\":\"\",\"id\":\"\xFF\"}", {"text"}, 1, NULL, "the id is not UTF-8", 17},
};

static void test_findings(void) {
    for (size_t i = 0; i < sizeof findings / sizeof *findings; i++) {
        const struct finding *f = &findings[i];
        dstok_jsonl *r = reader_of(f->keys, f->n_keys, NULL, 0);
        dstok_jsonl_record out = DSTOK_JSONL_RECORD_INIT;
        dstok_error err = {0};
        dstok_status status = dstok_jsonl_read(r, f->line, strlen(f->line), &out, &err);
        int before = t_failures;
        CHECK_EQ(status == DSTOK_OK, f->text != NULL);
        if (f->text != NULL) {
            check_bytes(out.text, out.n_text, f->text);
            CHECK_EQ(out.id != NULL, f->id != NULL);
            if (f->id != NULL) check_bytes(out.id, out.n_id, f->id);
            CHECK(out.line == f->line && out.n_line == strlen(f->line) && out.number == 0);
        } else {
            CHECK(strncmp(err.text, f->id, strlen(f->id)) == 0);
            CHECK_EQ(err.offset, f->where);
            CHECK_EQ(err.line, 0);
            CHECK(out.text == NULL && out.line == NULL); /* untouched */
        }
        if (t_failures > before) fprintf(stderr, "  in case %zu: %s: %s\n", i, f->line, err.text);
        dstok_jsonl_free(r);
    }
}

static void test_views(void) {
    static const char plain[] = "{\"text\":\"abc\",\"id\":5}", escaped[] = "{\"text\":\"a\\nc\",\"id\":5}";
    dstok_jsonl *r = reader_of(NULL, 0, NULL, 0);
    dstok_jsonl_record out = DSTOK_JSONL_RECORD_INIT;
    CHECK_EQ(dstok_jsonl_read(r, plain, sizeof plain - 1, &out, NULL), DSTOK_OK);
    CHECK(out.text == plain + 9 && out.id == plain + 19);
    CHECK_EQ(dstok_jsonl_read(r, escaped, sizeof escaped - 1, &out, NULL), DSTOK_OK);
    CHECK(out.text < escaped || out.text >= escaped + sizeof escaped);
    check_bytes(out.text, out.n_text, "a\nc");
    out.struct_size = sizeof out + 8; /* a later version's: what this one knows is filled */
    CHECK_EQ(dstok_jsonl_read(r, plain, sizeof plain - 1, &out, NULL), DSTOK_OK);
    CHECK_EQ(out.struct_size, sizeof out + 8);
    check_bytes(out.text, out.n_text, "abc");
    dstok_jsonl_free(r);
}

static void test_replace(void) {
    static const char line[] = "{\"text\":\"\\ud83d\\ude00|\\ud83d\\ud83d\\ude00|\\udc00x|\\ud83d\"}";
    dstok_jsonl *r = reader_of(NULL, 0, "uid", 1);
    dstok_jsonl_record out = DSTOK_JSONL_RECORD_INIT;
    CHECK_EQ(dstok_jsonl_read(r, line, sizeof line - 1, &out, NULL), DSTOK_OK);
    check_bytes(out.text, out.n_text, "\U0001F600|\uFFFD\U0001F600|\uFFFDx|\uFFFD");
    CHECK(out.id == NULL);
    CHECK_EQ(dstok_jsonl_read(r, "{\"uid\":\"u\",\"id\":1,\"text\":\"\"}", 28, &out, NULL), DSTOK_OK);
    check_bytes(out.id, out.n_id, "\"u\"");
    dstok_jsonl_free(r);
}

static void test_as_written(void) {
    static const char *const key = "a.b";
    static const struct {
        const char *line, *want, *id; /* want NULL: there is none */
    } cases[] = {
        {"{\"a.b\": [1, 2 ,3] }", "[1, 2 ,3]", ""},
        {"{\"id\":\"x\",\"a\":{\"b\":\"\\ud83d\\n\"}}", "\"\\ud83d\\n\"", "\"x\""},
        {"{\"a\":{\"b\":{ }}}", "{ }", ""},
        {"{\"a.b\":-1e9}", "-1e9", ""},
        {"{\"a.b\":1,\"a.b\":null}", "null", ""},
        {" [1,{\"a.b\":2}]\t\r\n", "[1,{\"a.b\":2}]", ""},
        {"17", "17", ""},
        {"\"\"", "\"\"", ""},
        {"{\"a\":3}", NULL, ""},
        {"{}", NULL, ""},
    };
    dstok_jsonl_options o = DSTOK_JSONL_OPTIONS_INIT;
    const char *two[] = {"a", "b"};
    dstok_jsonl *r = NULL;
    o.keys = two;
    o.n_keys = 2;
    o.as_written = 1;
    check_refused(&o, DSTOK_E_INVAL, "one key");
    o.keys = &key;
    o.n_keys = 1;
    CHECK_EQ(dstok_jsonl_new(&o, &r, NULL), DSTOK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dstok_jsonl_record out = DSTOK_JSONL_RECORD_INIT;
        dstok_error err = {0};
        dstok_status status = dstok_jsonl_read(r, cases[i].line, strlen(cases[i].line), &out, &err);
        CHECK_EQ(status, cases[i].want == NULL ? DSTOK_E_FORMAT : DSTOK_OK);
        if (status != DSTOK_OK) {
            CHECK_STR(err.text, "the object has no key \"a.b\"");
            continue;
        }
        check_bytes(out.text, out.n_text, cases[i].want);
        check_bytes(out.id == NULL ? "" : out.id, out.n_id, cases[i].id);
    }
    dstok_jsonl_free(r);
}

static void test_numbers_of_lines(void) {
    static const char data[] = "\xEF\xBB\xBF\n\r\n{\"text\":\"a\"}\r\nrubbish\n\n{\"text\":\"b\"}";
    dstok_jsonl *r = reader_of(NULL, 0, NULL, 0);
    dstok_jsonl_record out = DSTOK_JSONL_RECORD_INIT;
    dstok_error err = {0};
    for (int round = 0; round < 2; round++) {
        size_t at = 0, len = sizeof data - 1;
        CHECK_EQ(dstok_jsonl_next(r, data, len, 0, &at, &out, &err), DSTOK_OK);
        CHECK_EQ(out.number, 3);
        check_bytes(out.text, out.n_text, "a");
        check_bytes(out.line, out.n_line, "{\"text\":\"a\"}\r");
        CHECK_EQ(dstok_jsonl_next(r, data, len, 0, &at, &out, &err), DSTOK_E_FORMAT);
        CHECK_EQ(err.line, 4);
        CHECK_EQ(err.offset, 20);
        CHECK_EQ(out.number, 4);
        check_bytes(out.line, out.n_line, "rubbish");
        CHECK(out.text == NULL);
        CHECK_EQ(dstok_jsonl_next(r, data, len, 0, &at, &out, &err), DSTOK_OK);
        CHECK(out.line == NULL); /* the last line may go on */
        CHECK_EQ(at, len - 12);
        CHECK_EQ(dstok_jsonl_next(r, data + at, len - at, 1, &(size_t){0}, &out, &err), DSTOK_OK);
        CHECK_EQ(out.number, 6);
        check_bytes(out.text, out.n_text, "b");
        dstok_jsonl_begin(r);
    }
    dstok_jsonl_free(r);
}

/* ---- memory ---- */

static dstok_status read_with(const dstok_alloc *al, dstok_error *err) {
    static const char line[] = "{\"a\":{\"b\":\"x\\ny\"},\"t\":\"z\"}";
    const char *keys[] = {"a.b", "t"};
    dstok_jsonl_options o = DSTOK_JSONL_OPTIONS_INIT;
    dstok_jsonl_record out = DSTOK_JSONL_RECORD_INIT;
    dstok_jsonl *r = NULL;
    o.alloc = al;
    o.keys = keys;
    o.n_keys = 2;
    dstok_status status = dstok_jsonl_new(&o, &r, err);
    if (status == DSTOK_OK) status = dstok_jsonl_read(r, line, sizeof line - 1, &out, err);
    if (status == DSTOK_OK) check_bytes(out.text, out.n_text, "x\nyz");
    dstok_jsonl_free(r);
    return status;
}

static void test_memory(void) {
    for (size_t k = 1;; k++) {
        t_heap heap = {0};
        dstok_alloc al = t_heap_alloc(&heap);
        dstok_error err = {0};
        heap.fail_at = k;
        dstok_status status = read_with(&al, &err);
        CHECK_EQ(heap.live, 0);
        CHECK_EQ(heap.live_bytes, 0);
        if (heap.calls < k) {
            CHECK_EQ(status, DSTOK_OK);
            CHECK(k > 5);
            return;
        }
        CHECK_EQ(status, DSTOK_E_NOMEM);
        CHECK_EQ(err.status, DSTOK_E_NOMEM);
    }
}

int main(void) {
    test_options();
    test_as_written();
    test_misuse();
    test_findings();
    test_views();
    test_replace();
    test_numbers_of_lines();
    test_memory();
    return t_end();
}
