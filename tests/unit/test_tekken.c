/* SPDX-License-Identifier: MIT */
/* tekken.json: what a file says, its special tokens by version, each refusal, damage, a real file. */
#include "load_damage.h"

#include <stdarg.h>

/* ---- writing files ---- */

typedef struct file {
    char data[1 << 15];
    size_t n;
} file;

__attribute__((format(printf, 2, 3))) static void put(file *f, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(f->data + f->n, sizeof f->data - f->n, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof f->data - f->n) exit(1);
    f->n += (size_t)n;
}

/* Bytes in base64. */
static void put_base64(file *f, const char *bytes, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)(unsigned char)bytes[i] << 16;
        if (i + 1 < n) v |= (uint32_t)(unsigned char)bytes[i + 1] << 8;
        if (i + 2 < n) v |= (unsigned char)bytes[i + 2];
        put(f, "%c%c%c%c", digits[v >> 18], digits[v >> 12 & 63], i + 1 < n ? digits[v >> 6 & 63] : '=',
            i + 2 < n ? digits[v & 63] : '=');
    }
}

static void put_token(file *f, unsigned rank, const char *bytes, size_t n) {
    put(f, "%s{\"rank\": %u, \"token_bytes\": \"", rank > 0 ? ",\n" : "", rank);
    put_base64(f, bytes, n);
    put(f, "\", \"token_str\": null}");
}

/* "vocab" with the 256 bytes and two words; n entries of it. */
static void put_vocab(file *f, unsigned n) {
    put(f, "\"vocab\": [");
    for (unsigned b = 0; b < 256 && b < n; b++) put_token(f, b, &(char){(char)b}, 1);
    if (n > 256) put_token(f, 256, "ab", 2);
    if (n > 257) put_token(f, 257, "\xE4\xB8\xAD", 3);
    put(f, "]");
}

static void put_config(file *f, const char *version, unsigned size, unsigned n_special) {
    put(f,
        "\"config\": {\"pattern\": \"\\\\p{L}+|.\", \"num_vocab_tokens\": 9, \"default_vocab_size\": %u, "
        "\"default_num_special_tokens\": %u, \"version\": \"%s\"}",
        size, n_special, version);
}

/* A whole file; specials: the text of "special_tokens", NULL: none. */
static file make(const char *version, unsigned size, unsigned n_special, unsigned n_entries,
                 const char *specials) {
    file f = {.n = 0};
    put(&f, "{");
    put_config(&f, version, size, n_special);
    put(&f, ", ");
    put_vocab(&f, n_entries);
    if (specials != NULL) put(&f, ", \"special_tokens\": %s", specials);
    put(&f, ", \"image\": {\"image_patch_size\": 16}}");
    return f;
}

#define SPECIAL(rank, text) "{\"rank\": " #rank ", \"token_str\": \"" text "\", \"is_control\": true}"
#define THREE               "[" SPECIAL(0, "<unk>") ", " SPECIAL(1, "\\u003cs>") ", " SPECIAL(2, "[A]") "]"

typedef struct loaded {
    dstok__spec s;
    dstok_error err;
    dstok_status status;
} loaded;

static void load(loaded *l, const char *data, size_t n) {
    l->err = (dstok_error){0};
    dstok__spec_init(&l->s, &dstok__default_alloc);
    l->status = dstok__load_tekken(&l->s, data, n, &l->err);
    if (l->status != DSTOK_OK) util_check_error(l->status, &l->err, n);
}

/* ---- what a file says ---- */

static void test_file(void) {
    file f = make("v7", 263, 5, 258, THREE);
    loaded l;
    load(&l, f.data, f.n);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_STR(l.s.format, "tekken");
    CHECK_EQ(l.s.model, DSTOK__MODEL_RANKS);
    CHECK(l.s.ignore_merges && !l.s.char_atoms && l.s.unk_id == DSTOK__NO_ID && l.s.n_norms == 0 &&
          l.s.n_decs == 0);
    CHECK_EQ(l.s.n_tokens, 258);
    CHECK(l.s.tokens[0].id == 5 && l.s.tokens[0].n == 1 && l.s.tokens[0].text[0] == 0);
    CHECK(l.s.tokens[256].id == 261 && l.s.tokens[256].n == 2 && memcmp(l.s.tokens[256].text, "ab", 2) == 0);
    CHECK(l.s.tokens[257].id == 262 && l.s.tokens[257].n == 3);
    CHECK_EQ(l.s.n_steps, 1);
    CHECK_STR(l.s.steps[0].pattern, "\\p{L}+|.");
    CHECK(l.s.steps[0].kind == DSTOK__STEP_REGEX && l.s.steps[0].dialect == DSTOK__DIALECT_FANCY);
    CHECK(l.s.steps[0].behavior == DSTOK__REMOVED && l.s.steps[0].invert && l.s.steps[0].n == 8);
    CHECK_EQ(l.s.n_added, 5);
    static const char *const names[] = {"<unk>", "<s>", "[A]", "<SPECIAL_3>", "<SPECIAL_4>"};
    for (uint32_t i = 0; i < 5 && i < l.s.n_added; i++) {
        const dstok__added *a = util_added(&l.s, names[i]);
        CHECK(a == &l.s.added[i] && a->id == i && a->special && a->by_name_only && !a->normalized);
    }
    CHECK_EQ(l.s.n_template, 2);
    if (l.s.n_template == 2)
        CHECK(!l.s.template_items[0].is_text && l.s.template_items[0].id == 1 &&
              l.s.template_items[1].is_text);
    CHECK_EQ(l.s.n_warnings, 0);
    dstok__spec_free(&l.s);
}

/* Entries behind those that count may be anything. */
static void test_cut(void) {
    file f = make("v3", 256 + 20, 20, 258, NULL);
    loaded l;
    load(&l, f.data, f.n);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.n_tokens, 256);
    CHECK(l.s.tokens[255].id == 275);
    CHECK(l.s.n_added == 20 && util_added(&l.s, "[TOOL_CONTENT]") == &l.s.added[19]);
    dstok__spec_free(&l.s);
    f = make("v13", 102, 2, 100, "[]");
    load(&l, f.data, f.n);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(l.s.n_tokens == 100 && l.s.n_template == 0); /* no <s> among the fillers */
    CHECK(util_warning(&l.s, "156 of the 256 single bytes have no token (the first is 0x64)") != NULL);
    dstok__spec_free(&l.s);
    f.n = 0;
    put(&f, "\xEF\xBB\xBF{\"special_tokens\": null, \"vocab\": [], ");
    put_config(&f, "v1", 25, 25);
    put(&f, "}");
    load(&l, f.data, f.n);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(l.s.n_tokens == 0 && l.s.n_added == 25 && util_added(&l.s, "<SPECIAL_20>") == &l.s.added[20]);
    CHECK(util_warning(&l.s, "byte order mark") != NULL);
    dstok__spec_free(&l.s);
}

static void test_versions(void) {
    static const struct version_case {
        const char *version;
        dstok_status listed, bare;
    } cases[] = {
        {"v1", DSTOK_OK, DSTOK_OK},
        {"v2", DSTOK_OK, DSTOK_OK},
        {"v3", DSTOK_OK, DSTOK_OK},
        {"v7", DSTOK_OK, DSTOK_OK},
        {"v11", DSTOK_OK, DSTOK_E_FORMAT},
        {"v13", DSTOK_OK, DSTOK_E_FORMAT},
        {"v15", DSTOK_OK, DSTOK_E_FORMAT},
        {"v16", DSTOK_E_UNSUPPORTED, DSTOK_E_UNSUPPORTED},
        {"v4", DSTOK_E_UNSUPPORTED, DSTOK_E_UNSUPPORTED},
        {"", DSTOK_E_UNSUPPORTED, DSTOK_E_UNSUPPORTED},
        {"V3", DSTOK_E_UNSUPPORTED, DSTOK_E_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        loaded l;
        file f = make(cases[i].version, 256 + 20, 20, 256, THREE);
        load(&l, f.data, f.n);
        CHECK_EQ(l.status, cases[i].listed);
        dstok__spec_free(&l.s);
        f = make(cases[i].version, 256 + 20, 20, 256, NULL);
        load(&l, f.data, f.n);
        CHECK_EQ(l.status, cases[i].bare);
        dstok__spec_free(&l.s);
    }
}

/* ---- refusals ---- */

static void check_refused(const char *text, size_t n, dstok_status status, const char *says) {
    loaded l;
    int before = t_failures;
    load(&l, text, n);
    CHECK_EQ(l.status, status);
    CHECK(strstr(l.err.text, says) != NULL);
    if (t_failures > before) fprintf(stderr, "  \"%s\" is not \"%s\"\n", l.err.text, says);
    dstok__spec_free(&l.s);
}

/* The file of test_file with its first `find` replaced. */
static const struct damage_case {
    const char *find, *replace;
    dstok_status status;
    const char *says;
} damage_cases[] = {
    {"\"config\"", "\"Config\"", DSTOK_E_FORMAT, "\"config\" is missing"},
    {"\"vocab\"", "\"Vocab\"", DSTOK_E_FORMAT, "\"vocab\" is missing"},
    {"\"vocab\": [", "\"vocab\": 7, \"x\": [", DSTOK_E_FORMAT, "\"vocab\" must be an array"},
    {"\"pattern\"", "\"Pattern\"", DSTOK_E_FORMAT, "\"pattern\" is missing"},
    {"\\\\p{L}+|.", "", DSTOK_E_FORMAT, "the pattern is empty"},
    {"\"version\": \"v7\"", "\"version\": 7", DSTOK_E_FORMAT, "\"version\" must be a string"},
    {"\"v7\"", "\"v8\"", DSTOK_E_UNSUPPORTED, "not supported: tekken version \"v8\""},
    {": 263", ": 4", DSTOK_E_FORMAT, "5 special tokens do not fit in a vocabulary of 4"},
    {": 263", ": 264", DSTOK_E_FORMAT, "\"vocab\" has 258 entries; 259 are needed"},
    {": 263", ": -1", DSTOK_E_FORMAT, "\"default_vocab_size\" must be a whole number"},
    {": 263", ": 99999999", DSTOK_E_LIMIT, "\"default_vocab_size\" is 99999999"},
    {"tokens\": 5", "tokens\": 2", DSTOK_E_FORMAT, "\"vocab\" has 258 entries; 261 are needed"},
    {"\"rank\": 7,", "\"rank\": 8,", DSTOK_E_FORMAT, "entry 7 of \"vocab\" has rank 8"},
    {"\"rank\": 7,", "", DSTOK_E_FORMAT, "\"rank\" is missing"},
    {"\"AA==\"", "\"AQ==\"", DSTOK_E_FORMAT, "entry 0 of \"vocab\" is not byte 0x00"},
    {"\"AA==\"", "\"AAA=\"", DSTOK_E_FORMAT, "entry 0 of \"vocab\" is not byte 0x00"},
    {"\"AA==\"", "\"AA=\"", DSTOK_E_FORMAT, "not base64"},
    {"\"AA==\"", "\"\"", DSTOK_E_FORMAT, "not base64 of some bytes"},
    {"\"AA==\"", "null", DSTOK_E_FORMAT, "\"token_bytes\" is missing"},
    {"\"YWI=\"", "\"YQ==\"", DSTOK_E_DUPLICATE, "entries 97 and 256 of \"vocab\" are the same bytes"},
    {"\"special_tokens\": [", "\"special_tokens\": {}, \"x\": [", DSTOK_E_FORMAT, "must be an array"},
    {"\"[A]\"", "\"<s>\"", DSTOK_E_DUPLICATE, "special tokens 1 and 2 are both \"<s>\""},
    {"\"[A]\"", "\"<SPECIAL_4>\"", DSTOK_E_DUPLICATE, "special tokens 2 and 4 are both \"<SPECIAL_4>\""},
    {"\"[A]\"", "\"\"", DSTOK_E_FORMAT, "must have 1 to 1024 bytes"},
    {"\"[A]\"", "3", DSTOK_E_FORMAT, "\"token_str\" must be a string"},
    {"\"rank\": 2, \"token_str\": \"[", "\"rank\": 3, \"token_str\": \"[", DSTOK_E_FORMAT,
     "entry 2 of \"special_tokens\" has rank 3"},
    {"{\"rank\": 0, \"token_str\"", "7, {\"rank\": 0, \"token_str\"", DSTOK_E_FORMAT, "must be an object"},
};

static void test_refusals(void) {
    file f = make("v7", 263, 5, 258, THREE);
    for (size_t i = 0; i < sizeof damage_cases / sizeof *damage_cases; i++) {
        const struct damage_case *c = &damage_cases[i];
        char *text = util_replace(f.data, c->find, c->replace);
        check_refused(text, strlen(text), c->status, c->says);
        free(text);
    }
    check_refused("[]", 2, DSTOK_E_FORMAT, "the file must be an object");
    check_refused("", 0, DSTOK_E_TRUNCATED, "empty");
    f = make("v3", 256 + 19, 19, 256, NULL);
    check_refused(f.data, f.n, DSTOK_E_FORMAT, "19 special tokens do not hold the 20");
    f = make("v3", 256 + 2, 2, 256, THREE);
    check_refused(f.data, f.n, DSTOK_E_FORMAT, "more than 2 entries");
}

/* ---- real files ---- */

static void test_mistral(void) {
    const char *path = t_shared("vocab/tekken_240911.json.xz");
    size_t n = 0;
    char *data = path != NULL ? t_read(path, &n) : NULL;
    loaded l;
    if (data == NULL) {
        fprintf(stderr, "skipped: vocab/tekken_240911.json.xz is not there\n");
        return;
    }
    load(&l, data, n);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(l.s.n_tokens == 130072 && l.s.n_added == 1000 && l.s.n_warnings == 0);
    CHECK(l.s.tokens[130071].id == 131071);
    CHECK(dstok__pattern_by_name("tekken") != NULL);
    CHECK_STR(l.s.steps[0].pattern, dstok__pattern_by_name("tekken"));
    CHECK(util_added(&l.s, "<SPECIAL_999>") == &l.s.added[999]);
    CHECK(l.s.template_items != NULL && l.s.template_items[0].id == 1);
    dstok__spec_free(&l.s);
    free(data);
}

int main(void) {
    test_file();
    test_cut();
    test_versions();
    test_refusals();
    file f = make("v7", 263, 5, 258, THREE), small = make("v3", 40, 20, 20, NULL);
    damage_allocations(dstok__load_tekken, f.data, f.n);
    damage_lengths(dstok__load_tekken, small.data, small.n);
    damage_many(dstok__load_tekken, f.data, f.n, 1000, 2000);
    damage_many(dstok__load_tekken, small.data, small.n, 10000, 10000);
    test_mistral();
    return t_end();
}
