/* SPDX-License-Identifier: MIT */
/* Compiles rewritten patterns with PCRE2 and matches them, by JIT where there is one. */
#include "native.h"
#include "parse.h"

#define MAX_REWRITTEN   (1u << 20) /* bytes; PCRE2's own limit, 64 KiB compiled, is met long before */
#define NEST_LIMIT      1000       /* our rewriting adds to the 100 levels of the pattern */
#define JIT_STACK_START (32u << 10)
#define JIT_STACK_MAX   (64u << 20)
#define HEAP_LIMIT_KIB                                                                                       \
    (256u << 10) /* for the interpreter, which takes over when the JIT stack is too small */
#define MATCH_LIMIT_BASE     10000000u
#define MATCH_LIMIT_PER_BYTE 16u

struct dstok__regex {
    dstok_alloc al;
    pcre2_general_context *general;
    pcre2_code *code;
    bool jit;
    bool can_go_on; /* see dstok__regex_find_open */
};

struct dstok__regex_scratch {
    dstok_alloc al;
    pcre2_general_context *general;
    pcre2_match_context *limits;
    pcre2_match_data *match;
    pcre2_jit_stack *stack; /* NULL where PCRE2 has no JIT */
    pcre2_code *open;       /* of open_of, compiled for texts that go on; NULL: none was asked for */
    const dstok__regex *open_of;
};

/* ---- compiling ---- */

static dstok_status no_memory(dstok_error *err) {
    return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "no memory for a regular expression");
}

/* Puts PCRE2's refusal of our own rewriting into words. Its offset would be one in the rewritten text. */
static dstok_status refuse(int code, dstok_error *err) {
    PCRE2_UCHAR text[160];
    switch (code) {
    case PCRE2_ERROR_HEAP_FAILED:
        return no_memory(err);
    case PCRE2_ERROR_PATTERN_TOO_LARGE:
    case PCRE2_ERROR_PATTERN_STRING_TOO_LONG:
    case PCRE2_ERROR_PATTERN_TOO_COMPLICATED:
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
                           "a pattern is too large for PCRE2 (64 KiB compiled, in its default build)");
    case PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH:
    case PCRE2_ERROR_LOOKBEHIND_TOO_COMPLICATED:
        return dstok__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, 0,
                           "a look-behind in a pattern has no fixed length");
    default:
        pcre2_get_error_message(code, text, sizeof text);
        return dstok__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, 0, "PCRE2 refuses a pattern: %s",
                           (char *)text);
    }
}

/* Does a match depend on what stands before it, or may it be empty? An anchor looks back, too; outside of
 * classes it is rare enough to look for its byte anywhere. */
static bool looks_around(const pcre2_code *code, const dstok__buf *text) {
    uint32_t back = 1, empty = 1;
    (void)pcre2_pattern_info(code, PCRE2_INFO_MAXLOOKBEHIND, &back);
    (void)pcre2_pattern_info(code, PCRE2_INFO_MATCHEMPTY, &empty);
    for (size_t i = 0; i < text->len && back == 0; i++)
        back = text->data[i] == '^' && (i == 0 || text->data[i - 1] != '[');
    return back != 0 || empty != 0;
}

static dstok_status compile(dstok__regex *re, const dstok__buf *text, bool jit, dstok_error *err) {
    int code = 0;
    PCRE2_SIZE at = 0;
    pcre2_compile_context *context = pcre2_compile_context_create(re->general);
    if (context == NULL) return no_memory(err);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_set_parens_nest_limit(context, NEST_LIMIT);
    re->code = pcre2_compile(text->data, text->len, PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, &code, &at, context);
    pcre2_compile_context_free(context);
    if (re->code == NULL) return refuse(code, err);
    re->jit = jit && pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE) == 0; /* else the interpreter does */
    re->can_go_on = !looks_around(re->code, text);
    return DSTOK_OK;
}

dstok_status dstok__regex_new(const dstok_alloc *al, const char *pattern, size_t n, dstok__dialect dialect,
                              dstok__regex **out, dstok_error *err) {
    dstok__buf text;
    dstok__buf_init(&text, al, MAX_REWRITTEN);
    dstok__regex *re = NULL;
    bool jit = true;
    dstok_status status = dstok__pattern_rewrite_jit(pattern, n, dialect, &text, &jit, err);
    if (status == DSTOK_OK) {
        re = dstok__alloc_zeroed(al, 1, sizeof *re);
        if (re != NULL) {
            re->al = *al;
            re->general = dstok__pcre2_context(&re->al);
        }
        status = re == NULL || re->general == NULL ? no_memory(err) : compile(re, &text, jit, err);
    }
    dstok__buf_free(&text);
    if (status != DSTOK_OK) {
        dstok__regex_free(re);
        return status;
    }
    *out = re;
    return DSTOK_OK;
}

void dstok__regex_free(dstok__regex *re) {
    if (re == NULL) return;
    pcre2_code_free(re->code);
    pcre2_general_context_free(re->general);
    dstok_alloc al = re->al;
    dstok__free(&al, re, sizeof *re);
}

bool dstok__regex_is_jit(const dstok__regex *re) {
    return re->jit;
}

/* ---- matching ---- */

static bool has_jit(void) {
    uint32_t jit = 0;
    return pcre2_config(PCRE2_CONFIG_JIT, &jit) >= 0 && jit == 1;
}

static bool fill_scratch(dstok__regex_scratch *s) {
    s->general = dstok__pcre2_context(&s->al);
    if (s->general == NULL) return false;
    s->limits = pcre2_match_context_create(s->general);
    s->match = pcre2_match_data_create(1, s->general);
    if (s->limits == NULL || s->match == NULL) return false;
    pcre2_set_heap_limit(s->limits, HEAP_LIMIT_KIB);
    if (!has_jit()) return true;
    s->stack = pcre2_jit_stack_create(JIT_STACK_START, JIT_STACK_MAX, s->general);
    if (s->stack == NULL) return false;
    pcre2_jit_stack_assign(s->limits, NULL, s->stack);
    return true;
}

dstok_status dstok__regex_scratch_new(const dstok_alloc *al, dstok__regex_scratch **out) {
    dstok__regex_scratch *s = dstok__alloc_zeroed(al, 1, sizeof *s);
    if (s == NULL) return DSTOK_E_NOMEM;
    s->al = *al;
    if (!fill_scratch(s)) {
        dstok__regex_scratch_free(s);
        return DSTOK_E_NOMEM;
    }
    *out = s;
    return DSTOK_OK;
}

void dstok__regex_scratch_free(dstok__regex_scratch *scratch) {
    if (scratch == NULL) return;
    if (scratch->stack != NULL) pcre2_jit_stack_free(scratch->stack);
    pcre2_code_free(scratch->open);
    pcre2_match_data_free(scratch->match);
    pcre2_match_context_free(scratch->limits);
    pcre2_general_context_free(scratch->general);
    dstok_alloc al = scratch->al;
    dstok__free(&al, scratch, sizeof *scratch);
}

/* Room for work that grows with the text: only patterns that backtrack beyond measure meet the limit. */
static void set_limits(dstok__regex_scratch *s, size_t len) {
    size_t most = (UINT32_MAX - MATCH_LIMIT_BASE) / MATCH_LIMIT_PER_BYTE;
    uint32_t limit = MATCH_LIMIT_BASE + (uint32_t)(len < most ? len : most) * MATCH_LIMIT_PER_BYTE;
    pcre2_set_match_limit(s->limits, limit);
    pcre2_set_depth_limit(s->limits, limit);
}

static dstok_status fail_match(int rc, size_t pos, dstok_error *err) {
    const char *what = "work";
    switch (rc) {
    case PCRE2_ERROR_NOMEMORY:
        return no_memory(err);
    case PCRE2_ERROR_HEAPLIMIT:
        what = "memory";
        break;
    case PCRE2_ERROR_DEPTHLIMIT:
        what = "depth";
        break;
    case PCRE2_ERROR_JIT_STACKLIMIT:
        what = "stack";
        break;
    case PCRE2_ERROR_MATCHLIMIT:
        break;
    default:
        return dstok__fail(err, DSTOK_E_STATE, pos, 0, "PCRE2 failed to match a pattern (error %d)", rc);
    }
    return dstok__fail(err, DSTOK_E_LIMIT, pos, 0, "a pattern met the %s limit of regular expressions here",
                       what);
}

static dstok_status find(const pcre2_code *re, dstok__regex_scratch *scratch, const uint8_t *text, size_t len,
                         size_t pos, uint32_t options, size_t *begin, size_t *end, dstok_error *err) {
    static const uint8_t nothing[1] = {0};
    if (pos > len)
        return dstok__fail(err, DSTOK_E_RANGE, pos, 0, "a match was asked for beyond the end of the text");
    set_limits(scratch, len);
    if (len == 0) text = nothing;
    options |= PCRE2_NO_UTF_CHECK;
    int rc = pcre2_match(re, text, len, pos, options, scratch->match, scratch->limits);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
        rc = pcre2_match(re, text, len, pos, options | PCRE2_NO_JIT, scratch->match, scratch->limits);
    }
    if (rc == PCRE2_ERROR_NOMATCH) {
        *begin = *end = SIZE_MAX;
        return DSTOK_OK;
    }
    if (rc == PCRE2_ERROR_PARTIAL) return DSTOK__FIND_MORE;
    if (rc < 0) return fail_match(rc, pos, err);
    const PCRE2_SIZE *span = pcre2_get_ovector_pointer(scratch->match);
    *begin = span[0];
    *end = span[1];
    return DSTOK_OK;
}

dstok_status dstok__regex_find(const dstok__regex *re, dstok__regex_scratch *scratch, const uint8_t *text,
                               size_t len, size_t pos, size_t *begin, size_t *end, dstok_error *err) {
    return find(re->code, scratch, text, len, pos, 0, begin, end, err);
}

/* Few texts go on, so the code for them is not made when a vocabulary is loaded. One expression at a time: of
 * the steps of a pretokenizer only the first one that cuts is asked. */
static dstok_status compile_open(const dstok__regex *re, dstok__regex_scratch *scratch, dstok_error *err) {
    pcre2_code *code = pcre2_code_copy(re->code);
    if (code == NULL) return no_memory(err);
    (void)pcre2_jit_compile(code, PCRE2_JIT_PARTIAL_HARD); /* else the interpreter does */
    pcre2_code_free(scratch->open);
    scratch->open = code;
    scratch->open_of = re;
    return DSTOK_OK;
}

dstok_status dstok__regex_find_open(const dstok__regex *re, dstok__regex_scratch *scratch,
                                    const uint8_t *text, size_t len, size_t pos, size_t *begin, size_t *end,
                                    dstok_error *err) {
    if (!re->can_go_on) return DSTOK__FIND_MORE;
    const pcre2_code *code = re->code;
    if (re->jit && scratch->open_of != re) DSTOK_TRY(compile_open(re, scratch, err));
    if (re->jit) code = scratch->open;
    return find(code, scratch, text, len, pos, PCRE2_PARTIAL_HARD, begin, end, err);
}
