/* SPDX-License-Identifier: MIT */
/* The JSON reader: what it refuses and where, what it reads; and Jansson as the judge of 40,000 mutated texts. */
#include "load_util.h"

#include "tokenizer/load/json.h"

#include <jansson.h>

static dstok_status open_text(dstok__json *doc, const char *text, size_t n, dstok_error *err) {
    *err = (dstok_error){0};
    return dstok__json_open(doc, text, n, "", err);
}

/* ---- refusals ---- */

static const struct refusal {
    const char *text;
    dstok_status status;
    uint64_t offset;
    uint32_t line;
} refusals[] = {
    {"", DSTOK_E_TRUNCATED, 0, 1},
    {" \n", DSTOK_E_TRUNCATED, 2, 2},
    {"[1,\n2", DSTOK_E_TRUNCATED, 5, 2},
    {"{\"a\"", DSTOK_E_TRUNCATED, 4, 1},
    {"{\"a\":", DSTOK_E_TRUNCATED, 5, 1},
    {"\"abc", DSTOK_E_TRUNCATED, 4, 1},
    {"\"a\\", DSTOK_E_TRUNCATED, 3, 1},
    {"\"\\u12", DSTOK_E_TRUNCATED, 5, 1},
    {"tru", DSTOK_E_TRUNCATED, 3, 1},
    {"-", DSTOK_E_TRUNCATED, 1, 1},
    {"1.", DSTOK_E_TRUNCATED, 2, 1},
    {"[1]]", DSTOK_E_FORMAT, 3, 1},
    {"[1,]", DSTOK_E_FORMAT, 3, 1},
    {"[1 2]", DSTOK_E_FORMAT, 3, 1},
    {"[1}", DSTOK_E_FORMAT, 2, 1},
    {"{\"a\":1]", DSTOK_E_FORMAT, 6, 1},
    {"{1:2}", DSTOK_E_FORMAT, 1, 1},
    {"{\"a\" 1}", DSTOK_E_FORMAT, 5, 1},
    {"{\"a\":1,}", DSTOK_E_FORMAT, 7, 1},
    {"\n\n nul ", DSTOK_E_FORMAT, 3, 3},
    {"01", DSTOK_E_FORMAT, 0, 1},
    {"-x", DSTOK_E_FORMAT, 1, 1},
    {"1.x", DSTOK_E_FORMAT, 2, 1},
    {"1ex", DSTOK_E_FORMAT, 2, 1},
    {"+1", DSTOK_E_FORMAT, 0, 1},
    {"'a'", DSTOK_E_FORMAT, 0, 1},
    {"\"a\nb\"", DSTOK_E_FORMAT, 2, 1},
    {"\"\\x\"", DSTOK_E_FORMAT, 1, 1},
    {"\"\\u12G4\"", DSTOK_E_FORMAT, 1, 1},
    {"\"\\ud83d\"", DSTOK_E_FORMAT, 1, 1},
    {"\"\\ud83d\\u0041\"", DSTOK_E_FORMAT, 1, 1},
    {"\"a\\udc00\"", DSTOK_E_FORMAT, 2, 1},
    {"\"\xC0\x80\"", DSTOK_E_UTF8, 1, 1},
    {"\"\xED\xA0\x80\"", DSTOK_E_UTF8, 1, 1},
    {"\"\xF4\x90\x80\x80\"", DSTOK_E_UTF8, 1, 1},
    {"\"\xE0\x9F\xBF\"", DSTOK_E_UTF8, 1, 1},
    {"\"\xF0\x8F\xBF\xBF\"", DSTOK_E_UTF8, 1, 1},
    {"\"\xE4\xB8\"", DSTOK_E_UTF8, 1, 1},
    {"\"\x80\"", DSTOK_E_UTF8, 1, 1},
};

static void test_refusals(void) {
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        dstok__json doc;
        dstok_error err;
        dstok_status status = open_text(&doc, refusals[i].text, strlen(refusals[i].text), &err);
        int before = t_failures;
        CHECK_EQ(status, refusals[i].status);
        CHECK_EQ(err.status, refusals[i].status);
        CHECK_EQ(err.offset, refusals[i].offset);
        CHECK_EQ(err.line, refusals[i].line);
        if (t_failures > before) fprintf(stderr, "  in case %zu: %s\n", i, refusals[i].text);
    }
    dstok__json doc;
    dstok_error err;
    CHECK_EQ(open_text(&doc, "\"a\0b\"", 5, &err), DSTOK_E_FORMAT);
    CHECK_EQ(open_text(&doc, "\"\\\0\"", 4, &err), DSTOK_E_FORMAT);
    CHECK_EQ(open_text(&doc, "1\0", 2, &err), DSTOK_E_FORMAT);
}

static void test_depth(void) {
    char text[2 * DSTOK__MAX_JSON_DEPTH + 2];
    dstok__json doc;
    dstok_error err;
    size_t most = DSTOK__MAX_JSON_DEPTH;
    memset(text, '[', most + 1);
    memset(text + most, ']', most);
    CHECK_EQ(open_text(&doc, text, 2 * most, &err), DSTOK_OK);
    text[most] = '[';
    CHECK_EQ(open_text(&doc, text, 2 * most, &err), DSTOK_E_LIMIT);
    CHECK_EQ(err.offset, most);
    /* Objects and arrays in turn, closed in the wrong order only at the outermost level. */
    CHECK_EQ(open_text(&doc, "[{\"a\":[{\"b\":[]}]}]", 18, &err), DSTOK_OK);
    CHECK_EQ(open_text(&doc, "[{\"a\":[{\"b\":[]}]}}", 18, &err), DSTOK_E_FORMAT);
    CHECK_EQ(err.offset, 17);
}

/* ---- reading ---- */

static void check_text(const dstok__json *doc, size_t at, const char *want, size_t want_n) {
    dstok__buf scratch;
    const char *text;
    size_t n;
    dstok__buf_init(&scratch, &dstok__default_alloc, 1 << 20);
    CHECK_EQ(dstok__json_string(doc, at, &scratch, &text, &n), DSTOK_OK);
    CHECK_EQ(n, want_n);
    if (n == want_n) CHECK_MEM(text, want, n);
    dstok__buf_free(&scratch);
}

static void test_reading(void) {
    static const char text[] = "\xEF\xBB\xBF {\"a\":[ ] , \"b\\u0000\\n\":{\"x\":[1,{\"y\":\"]\\\"}\"}]},"
                               "\"\":\"\\ud83d\\ude00\\/\\b\\f\\r\\t\\u00e9\xE4\xB8\xAD\" , \"n\" : null}\n";
    dstok__json doc;
    dstok_error err;
    dstok__json_iter it;
    CHECK_EQ(open_text(&doc, text, sizeof text - 1, &err), DSTOK_OK);
    CHECK(doc.has_bom);
    CHECK_EQ(doc.root, 4);
    dstok__json_iter_init(&it, &doc, doc.root);
    CHECK(dstok__json_next(&it));
    check_text(&doc, it.key, "a", 1);
    CHECK_EQ(dstok__json_kind_at(&doc, it.value), DSTOK__JSON_ARRAY);
    dstok__json_iter inner;
    dstok__json_iter_init(&inner, &doc, it.value);
    CHECK(!dstok__json_next(&inner));
    CHECK(dstok__json_next(&it));
    check_text(&doc, it.key, "b\0\n", 3);
    CHECK_EQ(dstok__json_kind_at(&doc, it.value), DSTOK__JSON_OBJECT);
    CHECK(dstok__json_next(&it));
    check_text(&doc, it.key, "", 0);
    check_text(&doc, it.value, "\xF0\x9F\x98\x80/\b\f\r\t\xC3\xA9\xE4\xB8\xAD", 14);
    CHECK(dstok__json_next(&it));
    CHECK_EQ(dstok__json_kind_at(&doc, it.value), DSTOK__JSON_NULL);
    CHECK(!dstok__json_next(&it));
}

static void test_numbers(void) {
    static const struct {
        const char *text;
        bool is_uint, is_zero;
        uint32_t value;
    } cases[] = {
        {"0", true, true, 0},
        {"7", true, false, 7},
        {"4294967295", true, false, UINT32_MAX},
        {"4294967296", false, false, 0},
        {"-1", false, false, 0},
        {"1.0", false, false, 0},
        {"1e2", false, false, 0},
        {"-0", false, true, 0},
        {"0.000", false, true, 0},
        {"0e9", false, true, 0},
        {"0.001", false, false, 0},
        {"99999999999999999999999999", false, false, 0},
        {"\"5\"", false, false, 0},
        {"18446744073709551616", false, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dstok__json doc;
        dstok_error err;
        uint32_t value = 0;
        CHECK_EQ(open_text(&doc, cases[i].text, strlen(cases[i].text), &err), DSTOK_OK);
        CHECK_EQ(dstok__json_uint(&doc, doc.root, UINT32_MAX, &value), cases[i].is_uint);
        if (cases[i].is_uint) CHECK_EQ(value, cases[i].value);
        CHECK_EQ(dstok__json_is_zero(&doc, doc.root), cases[i].is_zero);
    }
}

/* ---- against Jansson ---- */

/* Where we differ on purpose: Jansson has no NUL in names, no numbers out of range, a depth of 2048, no byte order
 * mark. */
static bool may_differ(const json_error_t *e, const dstok__json *doc, dstok_status ours) {
    enum json_error_code code = json_error_code(e);
    return code == json_error_null_byte_in_key || code == json_error_numeric_overflow ||
           code == json_error_stack_overflow || doc->has_bom || ours == DSTOK_E_LIMIT;
}

static void compare(const dstok__json *doc, size_t at, const json_t *theirs);

static void compare_object(const dstok__json *doc, size_t at, const json_t *theirs) {
    dstok__json_iter it;
    size_t n = 0;
    dstok__json_iter_init(&it, doc, at);
    while (dstok__json_next(&it)) n++;
    CHECK(n >= json_object_size(theirs));
    if (n != json_object_size(theirs)) return; /* a name stands twice */
    dstok__json_iter_init(&it, doc, at);
    while (dstok__json_next(&it)) {
        dstok__buf scratch;
        const char *name;
        size_t name_n;
        dstok__buf_init(&scratch, &dstok__default_alloc, 1 << 20);
        CHECK_EQ(dstok__json_string(doc, it.key, &scratch, &name, &name_n), DSTOK_OK);
        const json_t *value = json_object_getn(theirs, name, name_n);
        CHECK(value != NULL);
        if (value != NULL) compare(doc, it.value, value);
        dstok__buf_free(&scratch);
    }
}

static void compare_array(const dstok__json *doc, size_t at, const json_t *theirs) {
    dstok__json_iter it;
    size_t n = 0;
    dstok__json_iter_init(&it, doc, at);
    for (; dstok__json_next(&it); n++) {
        CHECK(n < json_array_size(theirs));
        if (n < json_array_size(theirs)) compare(doc, it.value, json_array_get(theirs, n));
    }
    CHECK_EQ(n, json_array_size(theirs));
}

/* The same value? Depth is bounded by the check of both readers. */
static void compare(const dstok__json *doc, size_t at, const json_t *theirs) {
    uint32_t value;
    switch (dstok__json_kind_at(doc, at)) {
    case DSTOK__JSON_NULL:
        CHECK(json_is_null(theirs));
        return;
    case DSTOK__JSON_TRUE:
        CHECK(json_is_true(theirs));
        return;
    case DSTOK__JSON_FALSE:
        CHECK(json_is_false(theirs));
        return;
    case DSTOK__JSON_NUMBER:
        CHECK(json_is_number(theirs));
        if (dstok__json_uint(doc, at, UINT32_MAX, &value)) CHECK_EQ(json_integer_value(theirs), value);
        CHECK_EQ(dstok__json_is_zero(doc, at), json_number_value(theirs) == 0.0);
        return;
    case DSTOK__JSON_STRING:
        CHECK(json_is_string(theirs));
        if (json_is_string(theirs))
            check_text(doc, at, json_string_value(theirs), json_string_length(theirs));
        return;
    case DSTOK__JSON_ARRAY:
        CHECK(json_is_array(theirs));
        compare_array(doc, at, theirs);
        return;
    case DSTOK__JSON_OBJECT:
        CHECK(json_is_object(theirs));
        compare_object(doc, at, theirs);
        return;
    }
}

/* Returns whether both accept. */
static bool judge(const char *text, size_t n) {
    dstok__json doc;
    dstok_error err;
    json_error_t e = {0};
    dstok_status ours = open_text(&doc, text, n, &err);
    json_t *theirs = json_loadb(text, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
    bool agree = (ours == DSTOK_OK) == (theirs != NULL);
    CHECK(agree || may_differ(&e, &doc, ours));
    if (!agree && !may_differ(&e, &doc, ours))
        fprintf(stderr, "  we: %s; Jansson: %s; text: %.*s\n", ours ? err.text : "ok", theirs ? "ok" : e.text,
                (int)n, text);
    if (ours != DSTOK_OK) util_check_error(ours, &err, n);
    bool both = agree && theirs != NULL;
    if (both) compare(&doc, doc.root, theirs);
    json_decref(theirs);
    return both;
}

static const char *const seeds[] = {
    "{\"a\":[1,2,{\"b\":null}],\"c\":\"x\\u0041\\n\",\"d\":-1.5e+3}",
    "[true,false,null,0,-0,1e5,\"\\ud83d\\ude00\",\"\xE4\xB8\xAD\xF0\x9F\x98\x80\",[[[]]],{}]",
    " {\"id\" : 5 , \"t\" : {\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\p{L}+\"}} }\r\n\t",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uFFFF\"",
    "[0.5,10,123456789012,[\"\",\"\\u0000\"],[],[{}],{\"\":{}}]",
};

static size_t mutate(t_rng *rng, char *text, size_t n, size_t cap) {
    static const char pieces[] = "{}[]\",:\\u0123456789eE+-.ntrdDcC8 \n\xED\xA0\x80\xC0\xF4\x90";
    for (uint32_t k = 1 + t_below(rng, 4); k > 0; k--) {
        size_t at = n > 0 ? t_below(rng, (uint32_t)n) : 0;
        uint32_t how = t_below(rng, 4);
        char c = pieces[t_below(rng, sizeof pieces - 1)];
        if (how == 0 && n > 0) {
            text[at] = c;
        } else if (how == 1 && n < cap) {
            memmove(text + at + 1, text + at, n - at);
            text[at] = c;
            n++;
        } else if (how == 2 && n > 0) {
            memmove(text + at, text + at + 1, n - at - 1);
            n--;
        } else if (t_below(rng, 8) == 0) {
            n = at;
        }
    }
    return n;
}

static void test_jansson(void) {
    t_rng rng = {20240607};
    size_t accepted = 0;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) CHECK(judge(seeds[i], strlen(seeds[i])));
    for (int round = 0; round < 40000; round++) {
        const char *seed = seeds[t_below(&rng, sizeof seeds / sizeof *seeds)];
        char text[256];
        memcpy(text, seed, strlen(seed));
        size_t n = mutate(&rng, text, strlen(seed), sizeof text);
        char *exact = malloc(n + (n == 0)); /* no byte behind the text: a sanitizer sees every read too far */
        if (exact == NULL) exit(1);
        memcpy(exact, text, n);
        accepted += judge(exact, n);
        free(exact);
    }
    CHECK(accepted > 4000); /* both sides of the border were visited */
    CHECK(accepted < 36000);
}

int main(void) {
    test_refusals();
    test_depth();
    test_reading();
    test_numbers();
    test_jansson();
    return t_end();
}
