/* SPDX-License-Identifier: MIT */
/* Scores traced to rows, against shares counted byte by byte; sums are kept at every level. */
#include "align_gen.h"

#include <dstok/trace.h>

#include <math.h>
#include <stdlib.h>

#define MAX_TEXT 300

static uint8_t text[MAX_TEXT];
static size_t len, n, n_segments;
static dstok_span spans[MAX_TEXT * 2];
static double scores[MAX_TEXT * 2];
static dstok_segment segments[8];
static dstok_trace_row rows[MAX_TEXT * 2];

static bool near(double a, double b) {
    return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

static dstok_trace_input input(void) {
    dstok_trace_input in = DSTOK_TRACE_INPUT_INIT;
    in.text = text;
    in.len = len;
    in.spans = spans;
    in.scores = scores;
    in.n = n;
    in.segments = segments;
    in.n_segments = n_segments;
    return in;
}

static void make_scores(t_rng *rng) {
    uint32_t shape = t_below(rng, 3);
    for (size_t i = 0; i < n; i++)
        scores[i] =
            shape == 0 ? t_below(rng, 2) : ((double)t_below(rng, 2001) - (shape == 1 ? 0 : 1000)) / 1000;
}

static void make_segments(t_rng *rng) {
    size_t left = len;
    n_segments = t_below(rng, 6);
    for (size_t i = 0; i < n_segments; i++) {
        segments[i].len = i + 1 == n_segments ? left : t_below(rng, (uint32_t)left + 1);
        left -= segments[i].len;
    }
}

/* ---- the naive version ---- */

static uint8_t starts[MAX_TEXT + 1]; /* a row may begin here */
static uint8_t covered[MAX_TEXT];

static dstok_span widened(dstok_span s) {
    dstok_span c = s;
    CHECK_EQ(dstok_spans_convert(text, len, &c, 1, DSTOK_UNIT_CHAR), DSTOK_OK);
    CHECK_EQ(dstok_spans_to_bytes(text, len, &c, 1, DSTOK_UNIT_CHAR), DSTOK_OK);
    return c;
}

static void token_starts(void) {
    memset(starts, 1, sizeof starts);
    memset(covered, 0, sizeof covered);
    for (size_t i = 0; i < n; i++) {
        if (spans[i].begin == spans[i].end) continue;
        dstok_span c = widened(spans[i]);
        for (uint64_t b = c.begin; b < c.end; b++) {
            covered[b] = 1;
            if (b > c.begin) starts[b] = 0;
        }
    }
}

static bool is_white(size_t begin, size_t end) { /* gen_text has these blanks and more; the rest is below */
    static const char *const blanks[] = {" ",
                                         "\t",
                                         "\n",
                                         "\v",
                                         "\f",
                                         "\r",
                                         "\xC2\x85",
                                         "\xC2\xA0",
                                         "\xE1\x9A\x80",
                                         "\xE2\x80\x80",
                                         "\xE2\x80\x81",
                                         "\xE2\x80\x82",
                                         "\xE2\x80\x83",
                                         "\xE2\x80\x84",
                                         "\xE2\x80\x85",
                                         "\xE2\x80\x86",
                                         "\xE2\x80\x87",
                                         "\xE2\x80\x88",
                                         "\xE2\x80\x89",
                                         "\xE2\x80\x8A",
                                         "\xE2\x80\xA8",
                                         "\xE2\x80\xA9",
                                         "\xE2\x80\xAF",
                                         "\xE2\x81\x9F",
                                         "\xE3\x80\x80"};
    while (begin < end) {
        size_t k = 0, i;
        for (i = 0; i < sizeof blanks / sizeof *blanks && k == 0; i++) {
            size_t w = strlen(blanks[i]);
            if (begin + w <= end && memcmp(text + begin, blanks[i], w) == 0) k = w;
        }
        if (k == 0) return false;
        begin += k;
    }
    return true;
}

static size_t skip_white(size_t at, size_t end) {
    while (at < end) {
        size_t k = 1;
        while (k <= 3 && at + k <= end && !is_white(at, at + k)) k++;
        if (k > 3 || at + k > end) break;
        at += k;
    }
    return at;
}

static void part_starts(size_t begin, size_t end, int level) {
    static const int kinds[] = {0, DSTOK_BREAK_WORD, DSTOK_BREAK_SENTENCE, DSTOK_BREAK_PARAGRAPH};
    memset(covered + begin, 1, end - begin);
    memset(starts + begin, 0, end - begin);
    starts[begin] = 1;
    if (level == DSTOK_TRACE_SOURCE) return;
    for (size_t at = begin; at < end;) {
        uint64_t next;
        size_t part = skip_white(at, end);
        if (part == end) return;
        CHECK_EQ(dstok_break_next(text + part, end - part, 0, kinds[level], &next), DSTOK_OK);
        at = part + (size_t)next;
        if (skip_white(at, end) == end) return;
        for (size_t cut = part + 1; cut <= at;
             cut++) /* the first place behind which there is only white space */
            if (is_white(cut, at)) {
                at = cut;
                break;
            }
        starts[at] = 1;
    }
}

/* Whether a token has bytes of the row that begins here. */
static bool holds_token(size_t at, size_t end) {
    while (at < end) {
        for (size_t i = 0; i < n; i++)
            if (spans[i].begin <= at && spans[i].end > at) return true;
        at++;
        if (at < end && (!covered[at] || starts[at])) break;
    }
    return false;
}

/* Reads one row off the marks, and compares. Returns where it ends. */
static size_t check_row(const dstok_trace_row *row, size_t at, size_t end, size_t segment) {
    size_t e = at + 1;
    double sum = 0, weight = 0, max = 0;
    while (e < end && covered[e] && !starts[e]) e++;
    CHECK_EQ(row->bytes.begin, at);
    CHECK_EQ(row->bytes.end, e);
    CHECK_EQ(row->segment, segment);
    dstok_span tokens = {1, 0};
    for (size_t i = 0; i < n; i++) {
        size_t held = 0;
        for (uint64_t b = spans[i].begin; b < spans[i].end; b++) held += b >= at && b < e;
        if (held == 0) continue;
        double share = (double)held / (double)(spans[i].end - spans[i].begin);
        if (tokens.begin > tokens.end) tokens.begin = i;
        if (weight <= 0 || scores[i] > max) max = scores[i];
        tokens.end = i + 1;
        weight += share;
        sum += share * scores[i];
    }
    CHECK(near(row->sum, sum) && near(row->weight, weight) && near(row->max, max));
    CHECK_EQ(row->tokens.end - row->tokens.begin, tokens.begin > tokens.end ? 0 : tokens.end - tokens.begin);
    if (tokens.begin <= tokens.end) CHECK_EQ(row->tokens.begin, tokens.begin);
    return e;
}

static void check_core(const dstok_trace_row *row, int level) {
    CHECK(row->core.begin >= row->bytes.begin && row->core.end <= row->bytes.end &&
          row->core.begin < row->core.end);
    bool is_all = row->core.begin == row->bytes.begin && row->core.end == row->bytes.end;
    if (level == DSTOK_TRACE_TOKEN) CHECK(is_all);
    CHECK(is_white((size_t)row->bytes.begin, (size_t)row->core.begin));
    CHECK(is_white((size_t)row->core.end, (size_t)row->bytes.end));
    if (level == DSTOK_TRACE_TOKEN || is_white((size_t)row->bytes.begin, (size_t)row->bytes.end)) return;
    for (size_t k = 1; k <= 3 && row->core.begin + k <= row->core.end; k++) {
        CHECK(!is_white((size_t)row->core.begin, (size_t)row->core.begin + k));
        CHECK(!is_white((size_t)row->core.end - k, (size_t)row->core.end));
    }
}

/* Every third row left out, what touches joined: against sums over each run. */
static void check_join(size_t count) {
    dstok_trace_row kept[MAX_TEXT * 2];
    size_t n_kept = 0, joined, k = 0;
    for (size_t i = 0; i < count; i++)
        if (i % 3 != 2) kept[n_kept++] = rows[i];
    memcpy(rows, kept, n_kept * sizeof *rows);
    joined = dstok_trace_join(rows, n_kept);
    for (size_t i = 0; i < n_kept; k++) {
        dstok_trace_row want = kept[i++];
        for (; i < n_kept && kept[i].segment == want.segment && kept[i].bytes.begin == want.bytes.end; i++) {
            if (kept[i].weight > 0)
                want.max = want.weight > 0 && want.max > kept[i].max ? want.max : kept[i].max;
            want.sum += kept[i].sum;
            want.weight += kept[i].weight;
            want.bytes.end = kept[i].bytes.end;
            want.core.end = kept[i].core.end;
            want.tokens.end = kept[i].tokens.end;
        }
        CHECK(k < joined);
        if (k >= joined) return;
        CHECK_EQ(rows[k].segment, want.segment);
        CHECK(rows[k].bytes.begin == want.bytes.begin && rows[k].bytes.end == want.bytes.end);
        CHECK(rows[k].core.begin == want.core.begin && rows[k].core.end == want.core.end);
        CHECK(rows[k].tokens.begin == want.tokens.begin && rows[k].tokens.end == want.tokens.end);
        CHECK(near(rows[k].sum, want.sum) && near(rows[k].weight, want.weight) &&
              near(rows[k].max, want.max));
    }
    CHECK_EQ(k, joined);
}

static void check_level(int level) {
    dstok_trace_input in = input();
    dstok_trace_sums sums;
    size_t count = 0, at = 0, begin = 0, i = 0;
    double all = 0, total = 0;
    CHECK_EQ(dstok_trace(&in, level, rows, MAX_TEXT * 2, &count, &sums, NULL), DSTOK_OK);
    if (level == DSTOK_TRACE_TOKEN) token_starts();
    for (size_t s = 0; s < (n_segments > 0 ? n_segments : 1); s++) {
        size_t end = n_segments > 0 ? begin + segments[s].len : len;
        if (level != DSTOK_TRACE_TOKEN && end > begin) part_starts(begin, end, level);
        for (at = begin; at < end;) {
            if (!covered[at]) {
                at++;
                continue;
            }
            if (level == DSTOK_TRACE_TOKEN &&
                !holds_token(at, end)) { /* the border cut off a part of a character */
                do at++;
                while (at < end && covered[at] && !starts[at]);
                continue;
            }
            CHECK(i < count);
            if (i >= count) return;
            check_core(&rows[i], level);
            at = check_row(&rows[i++], at, end, s);
        }
        begin = end;
    }
    CHECK_EQ(i, count);
    for (i = 0; i < count; i++) all += rows[i].sum;
    for (i = 0; i < n; i++) total += scores[i];
    CHECK(near(sums.total, total));
    CHECK(near(all + sums.outside, total)); /* nothing lost at any level */
    size_t few = count / 2, again = 0;
    memset(&rows[few], 0x5A, sizeof *rows);
    CHECK_EQ(dstok_trace(&in, level, rows, few, &again, NULL, NULL), few < count ? DSTOK_E_SPACE : DSTOK_OK);
    CHECK_EQ(again, count);
    CHECK_EQ(((const uint8_t *)&rows[few])[0], 0x5A); /* nothing is written behind cap */
    CHECK_EQ(dstok_trace(&in, level, rows, count, &again, NULL, NULL), DSTOK_OK);
    check_join(count);
}

static dstok_status status_of(dstok_trace_input in, int level, uint64_t *offset) {
    dstok_error err = {0};
    size_t count;
    dstok_status status = dstok_trace(&in, level, rows, MAX_TEXT, &count, NULL, &err);
    *offset = err.offset;
    return status;
}

static void test_misuse(void) {
    uint64_t at;
    memcpy(text, "abcd", 4);
    len = 4;
    n = 2;
    n_segments = 0;
    spans[0] = (dstok_span){0, 2};
    spans[1] = (dstok_span){2, 4};
    scores[0] = scores[1] = 1;
    dstok_trace_input in = input();
    CHECK_EQ(status_of(in, 5, &at), DSTOK_E_INVAL);
    CHECK_EQ(status_of(in, -1, &at), DSTOK_E_INVAL);
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        scores[1] = bad[i];
        CHECK_EQ(status_of(in, 0, &at), DSTOK_E_INVAL);
        CHECK_EQ(at, 1);
    }
    scores[1] = 1;
    spans[1].end = 5;
    CHECK_EQ(status_of(in, 0, &at), DSTOK_E_RANGE);
    spans[1].end = 4;
    segments[0].len = 3;
    in.n_segments = 1;
    CHECK_EQ(status_of(in, 0, &at), DSTOK_E_INVAL);
    segments[0].len = SIZE_MAX;
    segments[1].len = 5;
    in.n_segments = 2;
    CHECK_EQ(status_of(in, 0, &at), DSTOK_E_INVAL);
    in.n_segments = 0;
    in.struct_size = 3;
    CHECK_EQ(status_of(in, 0, &at), DSTOK_E_INVAL);
    in = input();
    in.scores = NULL;
    CHECK_EQ(status_of(in, 0, &at), DSTOK_E_INVAL);
}

static void test_fit(void) {
    size_t first = 9;
    dstok_error err = {0};
    CHECK_EQ(dstok_trace_fit(7, 7, DSTOK_PAD_NONE, &first, NULL), DSTOK_OK);
    CHECK_EQ(first, 0);
    CHECK_EQ(dstok_trace_fit(9, 7, DSTOK_PAD_LEFT, &first, NULL), DSTOK_OK);
    CHECK_EQ(first, 2);
    CHECK_EQ(dstok_trace_fit(9, 7, DSTOK_PAD_RIGHT, &first, NULL), DSTOK_OK);
    CHECK_EQ(first, 0);
    CHECK_EQ(dstok_trace_fit(9, 7, DSTOK_PAD_NONE, &first, &err), DSTOK_E_RANGE);
    CHECK_STR(err.text, "there are 9 scores for 7 tokens");
    CHECK_EQ(dstok_trace_fit(6, 7, DSTOK_PAD_LEFT, &first, &err), DSTOK_E_RANGE);
    CHECK_EQ(dstok_trace_fit(7, 7, 3, &first, NULL), DSTOK_E_INVAL);
}

int main(void) {
    t_rng rng = {5};
    test_misuse();
    test_fit();
    for (int i = 0; i < 4000; i++) {
        len = make_text(&rng, text, MAX_TEXT);
        n = make_spans(&rng, len, spans, MAX_TEXT * 2);
        make_scores(&rng);
        make_segments(&rng);
        for (int level = DSTOK_TRACE_TOKEN; level <= DSTOK_TRACE_SOURCE; level++) check_level(level);
    }
    return t_end();
}
