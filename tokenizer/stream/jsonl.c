/* SPDX-License-Identifier: MIT */
/* Readers of JSON lines: what is looked for, and what a line that lacks it is told. */
#include "jsonl.h"

#include "../base/sized.h"

#include <dstok/jsonl.h>
#include <dstok/tokenizer.h>

#include <string.h>

struct dstok_jsonl {
    dstok_alloc al;
    dstok__jsonl_scan scan;
    dstok__jsonl_want *wants; /* n_keys of them for the text, one for the id */
    size_t n_keys;
    char *keys; /* all of them, a NUL behind each */
    size_t keys_n;
    bool replace, as_written;
    dstok__buf text;
    uint64_t lines; /* that dstok_jsonl_next has passed over */
};

/* Where a line is at fault; what is wrong goes to err. */
typedef struct fault {
    size_t where; /* byte of the line */
    dstok_error *err;
} fault;

/* ---- making readers ---- */

static dstok_status invalid(dstok_error *err, const char *why) {
    return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "%s", why);
}

static dstok_status find_simd(int simd, const dstok__simd **out, dstok_error *err) {
    static const dstok__tier tiers[] = {DSTOK__N_TIERS, DSTOK__TIER_SCALAR, DSTOK__TIER_AVX2,
                                        DSTOK__TIER_AVX512, DSTOK__TIER_NEON};
    if (simd < DSTOK_SIMD_BEST || simd > DSTOK_SIMD_NEON) return invalid(err, "unknown value of simd");
    *out = simd == DSTOK_SIMD_BEST ? dstok__simd_best(DSTOK__N_TIERS) : dstok__simd_tier(tiers[simd]);
    if (*out != NULL) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, 0,
                       "this machine, or this build, lacks the instructions asked for");
}

/* The bytes of a key and its NUL are added to *total, and the longest key is kept. */
static dstok_status check_key(const char *key, size_t *total, size_t *longest, dstok_error *err) {
    if (key == NULL) return invalid(err, "a key is NULL");
    if (key[0] == '\0') return invalid(err, "a key is empty");
    size_t n = strlen(key);
    if (n > DSTOK_JSONL_MAX_KEY)
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0, "a key is longer than %zu bytes",
                           DSTOK_JSONL_MAX_KEY);
    *total += n + 1;
    if (n > *longest) *longest = n;
    return DSTOK_OK;
}

static dstok_status check_keys(const dstok_jsonl_options *o, size_t *total, size_t *longest,
                               dstok_error *err) {
    if (o->n_keys > DSTOK_JSONL_MAX_KEYS)
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0, "more than %zu keys",
                           DSTOK_JSONL_MAX_KEYS);
    for (size_t k = 0; k < o->n_keys; k++) DSTOK_TRY(check_key(o->keys[k], total, longest, err));
    return check_key(o->id_key, total, longest, err);
}

static void copy_keys(dstok_jsonl *r, const dstok_jsonl_options *o) {
    char *to = r->keys;
    for (size_t k = 0; k <= o->n_keys; k++) {
        const char *key = k < o->n_keys ? o->keys[k] : o->id_key;
        size_t n = strlen(key);
        r->wants[k].key = (const uint8_t *)memcpy(to, key, n + 1);
        r->wants[k].n = n;
        to += n + 1;
    }
}

/* Escapes make a character of a key at most six times as long as its bytes. */
static dstok_status make_reader(const dstok_jsonl_options *o, const dstok__simd *simd, size_t keys_n,
                                size_t longest, dstok_jsonl **out) {
    const dstok_alloc *al = o->alloc != NULL ? o->alloc : &dstok__default_alloc;
    dstok_jsonl *r = dstok__alloc_zeroed(al, 1, sizeof *r);
    if (r == NULL) return DSTOK_E_NOMEM;
    r->al = *al;
    r->replace = o->replace != 0;
    r->as_written = o->as_written != 0;
    r->keys_n = keys_n;
    r->n_keys = o->n_keys;
    r->scan.simd = simd;
    r->scan.name_cap = 6 * longest;
    dstok__buf_init(&r->text, &r->al, DSTOK_MAX_INPUT + 64);
    r->keys = dstok__alloc(al, keys_n);
    r->wants = dstok__alloc_zeroed(al, o->n_keys + 1, sizeof *r->wants);
    r->scan.name = dstok__alloc(al, r->scan.name_cap + 64);
    if (r->keys == NULL || r->wants == NULL || r->scan.name == NULL) {
        dstok_jsonl_free(r);
        return DSTOK_E_NOMEM;
    }
    copy_keys(r, o);
    r->scan.wants = r->wants;
    r->scan.n_wants = o->n_keys + 1;
    *out = r;
    return DSTOK_OK;
}

dstok_status dstok_jsonl_new(const dstok_jsonl_options *options, dstok_jsonl **out, dstok_error *err) {
    static const char *const text_key[] = {"text"};
    dstok_jsonl_options o = DSTOK_JSONL_OPTIONS_INIT;
    const dstok__simd *simd = NULL;
    size_t keys_n = 0, longest = 0;
    if (out == NULL) return invalid(err, "out is NULL");
    if (options != NULL) {
        DSTOK_TRY(dstok__sized_check(options, sizeof o, "jsonl_options", "DSTOK_JSONL_OPTIONS_INIT", err));
        dstok__sized_read(&o, sizeof o, options);
    }
    if (o.keys == NULL && o.n_keys == 0) {
        o.keys = text_key;
        o.n_keys = 1;
    }
    if (o.keys == NULL || o.n_keys == 0) return invalid(err, "keys is NULL, or n_keys 0");
    if (o.as_written && o.n_keys > 1) return invalid(err, "as_written goes with one key");
    if (o.id_key == NULL) o.id_key = "id";
    DSTOK_TRY(check_keys(&o, &keys_n, &longest, err));
    DSTOK_TRY(find_simd(o.simd, &simd, err));
    dstok_status status = make_reader(&o, simd, keys_n, longest, out);
    if (status != DSTOK_OK) dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "out of memory for a reader");
    return status;
}

void dstok_jsonl_free(dstok_jsonl *r) {
    if (r == NULL) return;
    dstok_alloc al = r->al;
    dstok__buf_free(&r->text);
    dstok__free(&al, r->keys, r->keys_n);
    dstok__free(&al, r->wants, (r->n_keys + 1) * sizeof *r->wants);
    dstok__free(&al, r->scan.name, r->scan.name_cap + 64);
    dstok__free(&al, r, sizeof *r);
}

/* ---- one line ---- */

static const char *kind_of(uint8_t first) {
    switch (first) {
    case '{':
        return "an object";
    case '[':
        return "an array";
    case '"':
        return "a string";
    case 'n':
        return "null";
    case 't':
    case 'f':
        return "a boolean";
    default:
        return "a number";
    }
}

/* The value of a want; what leads into inner objects is gone through once more. */
static dstok__part find(const dstok_jsonl *r, const uint8_t *text, const dstok__jsonl_want *want) {
    dstok__jsonl_want in = *want;
    size_t base = 0;
    while (in.whole.end == 0 && in.inner.end != 0) {
        dstok__jsonl_scan scan = r->scan;
        size_t begin = base + in.inner.begin, n = in.inner.end - in.inner.begin;
        in.key += in.inner_n;
        in.n -= in.inner_n;
        if (in.n == 0) return (dstok__part){begin, begin + n};
        scan.wants = &in;
        scan.n_wants = 1;
        (void)dstok__jsonl_scan_line(&scan, text + begin, n); /* checked before */
        base = begin;
    }
    return in.whole.end == 0 ? in.whole : (dstok__part){base + in.whole.begin, base + in.whole.end};
}

static bool is_space(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t value_begin(const uint8_t *text) {
    size_t i = 0;
    while (is_space(text[i])) i++;
    return i;
}

static dstok_status key_fault(fault *f, const dstok__jsonl_want *want, const uint8_t *text,
                              dstok__part value) {
    char key[64];
    dstok__quote(want->key, want->n, key, sizeof key);
    f->where = value.end == 0 ? value_begin(text) : value.begin;
    if (value.end == 0) return dstok__fail(f->err, DSTOK_E_FORMAT, 0, 0, "the object has no key \"%s\"", key);
    return dstok__fail(f->err, DSTOK_E_FORMAT, 0, 0, "\"%s\" is %s, not a string", key,
                       kind_of(text[value.begin]));
}

/* Appends the inside of a string without its escapes. */
static dstok_status add_string(dstok_jsonl *r, const uint8_t *inside, size_t len, fault *f) {
    size_t n;
    dstok_status status = dstok__buf_reserve(&r->text, len + 64);
    if (status != DSTOK_OK) return dstok__fail(f->err, status, 0, 0, "no memory for the text of a line");
    uint8_t *to = r->text.data + r->text.len;
    size_t done = dstok__jsonl_unescape(r->scan.simd, inside, len, r->replace, to, &n);
    r->text.len += n;
    if (done == len) return DSTOK_OK;
    f->where += 1 + done;
    return dstok__fail(f->err, DSTOK_E_FORMAT, 0, 0, "%.6s is half of a surrogate pair", inside + done);
}

/* The strings of all keys. A single one without escapes is a view of the line. */
static dstok_status read_text(dstok_jsonl *r, const uint8_t *text, dstok_jsonl_record *out, fault *f) {
    r->text.len = 0;
    for (size_t k = 0; k < r->n_keys; k++) {
        dstok__part value = find(r, text, &r->wants[k]);
        if (value.end == 0 || text[value.begin] != '"') return key_fault(f, &r->wants[k], text, value);
        const uint8_t *inside = text + value.begin + 1;
        size_t len = value.end - value.begin - 2;
        if (r->n_keys == 1 && r->scan.simd->find_byte(inside, len, (const uint8_t *)"\\", 1) == len) {
            out->text = (const char *)inside;
            out->n_text = len;
            return DSTOK_OK;
        }
        f->where = value.begin;
        DSTOK_TRY(add_string(r, inside, len, f));
    }
    out->text = (const char *)r->text.data;
    out->n_text = r->text.len;
    return DSTOK_OK;
}

/* A value with nothing done to it. */
static dstok_status read_written(dstok_jsonl *r, const uint8_t *text, dstok_jsonl_record *out, fault *f) {
    dstok__part value = find(r, text, &r->wants[0]);
    if (value.end == 0) return key_fault(f, &r->wants[0], text, value);
    out->text = (const char *)text + value.begin;
    out->n_text = value.end - value.begin;
    return DSTOK_OK;
}

/* A line that is no object. */
static dstok_status no_object(const dstok_jsonl *r, const uint8_t *text, size_t begin, size_t len,
                              dstok_jsonl_record *out, const fault *f) {
    if (!r->as_written)
        return dstok__fail(f->err, DSTOK_E_FORMAT, 0, 0, "the line is %s, not an object",
                           kind_of(text[begin]));
    while (is_space(text[len - 1])) len--;
    out->text = (const char *)text + begin;
    out->n_text = len - begin;
    return DSTOK_OK;
}

static dstok_status read_id(dstok_jsonl *r, const uint8_t *text, dstok_jsonl_record *out, fault *f) {
    dstok__part id = find(r, text, &r->wants[r->n_keys]);
    size_t n = id.end - id.begin;
    if (id.end == 0) return DSTOK_OK;
    size_t good = r->scan.simd->utf8_check(text + id.begin, n);
    f->where = id.begin + good;
    if (good < n) return dstok__fail(f->err, DSTOK_E_UTF8, 0, 0, "the id is not UTF-8");
    out->id = (const char *)text + id.begin;
    out->n_id = n;
    return DSTOK_OK;
}

/* Fills text and id. When that fails f->where is the byte of the line, and err has all but the place. */
static dstok_status read_line(dstok_jsonl *r, const uint8_t *text, size_t len, dstok_jsonl_record *out,
                              fault *f) {
    if (len > DSTOK_MAX_INPUT)
        return dstok__fail(f->err, DSTOK_E_LIMIT, 0, 0, "the line is longer than %zu bytes", DSTOK_MAX_INPUT);
    if (!dstok__jsonl_scan_line(&r->scan, text, len)) {
        f->where = r->scan.where;
        bool deep = r->scan.why == dstok__jsonl_too_deep;
        return dstok__fail(f->err, deep ? DSTOK_E_LIMIT : DSTOK_E_FORMAT, 0, 0, "not JSON: %s", r->scan.why);
    }
    f->where = value_begin(text);
    if (text[f->where] != '{') return no_object(r, text, f->where, len, out, f);
    DSTOK_TRY(read_id(r, text, out, f));
    return r->as_written ? read_written(r, text, out, f) : read_text(r, text, out, f);
}

static dstok_status check_call(const dstok_jsonl *r, const void *data, size_t len,
                               const dstok_jsonl_record *out, dstok_error *err) {
    if (r == NULL || (data == NULL && len > 0)) return invalid(err, "the reader or the data is NULL");
    return dstok__sized_check(out, sizeof *out, "jsonl_record", "DSTOK_JSONL_RECORD_INIT", err);
}

static dstok_status placed(dstok_error *err, dstok_status status, uint64_t offset, uint64_t line) {
    if (err == NULL) return status;
    err->offset = offset;
    err->line = line < UINT32_MAX ? (uint32_t)line : 0;
    return status;
}

dstok_status dstok_jsonl_read(dstok_jsonl *r, const void *line, size_t len, dstok_jsonl_record *out,
                              dstok_error *err) {
    dstok_jsonl_record record = {.line = line, .n_line = len};
    fault f = {.err = err};
    DSTOK_TRY(check_call(r, line, len, out, err));
    dstok_status status = read_line(r, len > 0 ? line : (const void *)"", len, &record, &f);
    if (status != DSTOK_OK) return placed(err, status, f.where, 0);
    dstok__sized_write(out, &record, sizeof record);
    return DSTOK_OK;
}

/* ---- many lines ---- */

void dstok_jsonl_begin(dstok_jsonl *r) {
    if (r != NULL) r->lines = 0;
}

static bool is_blank(const uint8_t *line, size_t n) {
    while (n > 0 && (line[n - 1] == '\r' || line[n - 1] == ' ' || line[n - 1] == '\t')) n--;
    return n == 0;
}

/* The next line that is not blank, from *at on; *at is moved behind it. False: there is none. */
static bool next_line(dstok_jsonl *r, const uint8_t *data, size_t len, bool is_last, size_t *at,
                      size_t *begin, size_t *n) {
    while (*at < len) {
        *begin = *at;
        *n = r->scan.simd->find_byte(data + *at, len - *at, (const uint8_t *)"\n", 1);
        if (*begin + *n == len && !is_last) return false;
        *at = *begin + *n < len ? *begin + *n + 1 : len;
        if (r->lines++ == 0 && *n >= 3 && memcmp(data + *begin, "\xEF\xBB\xBF", 3) == 0) {
            *begin += 3;
            *n -= 3;
        }
        if (!is_blank(data + *begin, *n)) return true;
    }
    return false;
}

dstok_status dstok_jsonl_next(dstok_jsonl *r, const void *data, size_t len, int is_last, size_t *at,
                              dstok_jsonl_record *out, dstok_error *err) {
    dstok_jsonl_record record = {.line = NULL};
    fault f = {.err = err};
    size_t begin = 0, n = 0;
    DSTOK_TRY(check_call(r, data, len, out, err));
    if (at == NULL) return invalid(err, "at is NULL");
    if (*at > len) return dstok__fail(err, DSTOK_E_RANGE, *at, 0, "at is behind the data");
    dstok_status status = DSTOK_OK;
    if (next_line(r, data, len, is_last != 0, at, &begin, &n)) {
        const uint8_t *line = (const uint8_t *)data + begin;
        status = read_line(r, line, n, &record, &f);
        if (status != DSTOK_OK) record = (dstok_jsonl_record){0};
        record.line = (const char *)line;
        record.n_line = n;
        record.number = r->lines;
    }
    dstok__sized_write(out, &record, sizeof record);
    return status == DSTOK_OK ? status : placed(err, status, begin + f.where, r->lines);
}
