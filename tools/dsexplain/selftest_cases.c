/* SPDX-License-Identifier: MIT */
/* The cases of the self-test: models set by hand, texts, and what each method must say of them.
 * docs/explain.md lists them. */
#include "selftest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* 'A' to 'L' have keys 0 to 11 and values 0 to 7, 0 ...; 'a' to 'l' ask for them. */
static void letters(struct net *n, float value) {
    for (int i = 0; i < NET_KEYS; i++) {
        net_token(n, (unsigned char)('A' + i), NET_KEY + i, 1);
        net_token(n, (unsigned char)('A' + i), NET_VALUE + i % NET_VALUES, value);
        net_token(n, (unsigned char)('a' + i), NET_QUERY + i, 1);
    }
}

static void look_up(struct net *n) {
    net_init(n, 1, 1, 1);
    letters(n, 3);
    net_match(n, 0, 0, 0, NET_QUERY, NET_KEY, 30);
    net_carry(n, 0, 0, 0, NET_VALUE, NET_OUT, NET_VALUES, 1);
    net_answers(n, 4);
}

static const char six[] = "A\nB\nC\nD\nE\nF\n";

static void t1(struct test *t) {
    static const struct said said[] = {
        {DSX_METHOD_ROWS, 0.999, 1, 1, 0},      {DSX_METHOD_FLOW, 0.999, 1, 1, 0},
        {DSX_METHOD_ATTENTION, 0.999, 1, 1, 0}, {DSX_METHOD_LOO, 0.999, 1, 1, 0},
        {DSX_METHOD_ABLATE, 0.95, 1, 1, 0},     {DSX_METHOD_REFINE, 0.999, 1, 1, 0}};

    look_up(&t->net);
    st_open(t);
    st_ask(t, six, "c", "2");
    CHECK_METHODS(t, "C", said);
}

static void t2(struct test *t) {
    /* Without a sentence that stands between, another one comes to stand six places back. */
    static const struct said said[] = {{DSX_METHOD_ROWS, 0.999, 1, 1, 0},
                                       {DSX_METHOD_FLOW, 0.999, 1, 1, 0},
                                       {DSX_METHOD_ATTENTION, 0.999, 1, 1, 0},
                                       {DSX_METHOD_LOO, 0.35, 0.45, -1, DSX_REMOVE_DELETE},
                                       {DSX_METHOD_LOO, 0.999, 1, 1, DSX_REMOVE_GAP}};

    net_init(&t->net, 1, 1, 1);
    letters(&t->net, 3);
    net_look_back(&t->net, 0, 0, 0, 6, 80);
    net_carry(&t->net, 0, 0, 0, NET_VALUE, NET_OUT, NET_VALUES, 1);
    net_answers(&t->net, 4);
    st_open(t);
    st_ask(t, six, "a", "3");
    CHECK_METHODS(t, "D", said);
}

static void t3(struct test *t) {
    /* Half of what attention does is to see the token before. */
    static const struct said said[] = {{DSX_METHOD_ROWS, 0.999, 1, 1, 0},
                                       {DSX_METHOD_FLOW, 0.999, 1, 1, 0},
                                       {DSX_METHOD_ATTENTION, 0.49, 0.51, -1, 0},
                                       {DSX_METHOD_LOO, 0.999, 1, 1, 0}};

    net_init(&t->net, 2, 1, 1);
    letters(&t->net, 0);
    for (int i = 0; i < NET_VALUES; i++) net_token(&t->net, (unsigned char)('0' + i), NET_VALUE + i, 3);
    net_look_back(&t->net, 0, 0, 0, 1, 80);
    net_carry(&t->net, 0, 0, 0, NET_KEY, NET_BEFORE, NET_KEYS, 1);
    net_match(&t->net, 1, 0, 0, NET_KEY, NET_BEFORE, 30);
    net_carry(&t->net, 1, 0, 0, NET_VALUE, NET_OUT, NET_VALUES, 1);
    net_answers(&t->net, 4);
    st_open(t);
    st_ask(t, "A3\nB5\nC1\nD6\nE2\n", "B", "5");
    CHECK_METHODS(t, "5", said);
}

/* Values 1 to 6 for the same answer. */
static void weighted(struct net *n, float answers) {
    net_init(n, 1, 1, 1);
    for (int i = 0; i < 6; i++) net_token(n, (unsigned char)('A' + i), NET_VALUE, (float)(i + 1));
    net_carry(n, 0, 0, 0, NET_VALUE, NET_OUT, NET_VALUES, 1);
    net_answers(n, answers);
}

/* The score of a byte of the source, with its line. */
static double score_of(const struct test *t, const dsx_explanation *x, const char *byte) {
    double sum = 0;

    for (size_t i = 0; i < x->n; i++)
        if (st_is_gold(t, i, byte, 1)) sum += x->scores[i];
    return sum;
}

/* How far scores are from `whole` times 1/21 to 6/21. */
static double off_weights(const struct test *t, const dsx_explanation *x, double whole) {
    double worst = 0;

    for (int i = 0; i < 6; i++) {
        const char byte[2] = {(char)('A' + i), '\0'};

        worst = fmax(worst, fabs(score_of(t, x, byte) - whole * (i + 1) / 21));
    }
    return worst / whole;
}

/* What T4 must give. Each of 14 tokens has 1/14 of the row: 1.5 comes on top of 64 numbers of the mean square 1. The
 * logits are 4 and 2 times that, and 0 for the 254 other tokens. */
static double closed_form(void) {
    double brought = 21 / sqrt(1 + 1e-5) / 14, x = brought / sqrt(1 + brought * brought / NET_WIDTH + 1e-5),
           rest = exp(2 * x);

    return 4 * x - rest / (rest + NET_TOKENS - 2) * 2 * x;
}

static void t4(struct test *t) {
    static const struct said said[] = {{DSX_METHOD_ROWS, 0.2856, 0.2858, 1, 0},
                                       {DSX_METHOD_FLOW, 0.2856, 0.2858, 1, 0},
                                       {DSX_METHOD_ATTENTION, 0.076, 0.078, -1, 0}};

    weighted(&t->net, 4);
    t->net.head['1' * NET_WIDTH + NET_OUT] = 2;
    st_open(t);
    st_ask(t, six, "x", "0");
    CHECK_METHODS(t, "F", said);
    for (int method = DSX_METHOD_ROWS; method <= DSX_METHOD_FLOW && t->rc == 0; method++) {
        dsx_explain_options o = st_by(method);
        const dsx_explanation *x = st_explain(t, &o);
        double want = closed_form();

        if (x == NULL) return;
        st_number(t, "value: off the closed form", fabs(x->value - want) / want, 0,
                  t->is_double ? 1e-7 : 1e-5);
        st_number(t, "scores: off the closed form", off_weights(t, x, want), 0, t->is_double ? 1e-7 : 1e-5);
        dsx_explanation_free(x);
    }
}

/* Routing is weights times lengths: nothing of the sink, 3 times the fact's weight. */
static void check_routing(struct test *t) {
    dsx_explain_options o = st_by(DSX_METHOD_ROWS);
    const dsx_explanation *x = st_explain(t, &o);
    double sum = 0, want = 3 / (1 + exp(2.44));

    if (x == NULL) return;
    for (size_t i = 0; i < x->n; i++)
        if (st_is_gold(t, i, "C", 0)) sum += x->routing[i];
    st_number(t, "routing of the sink", x->routing[0], 0, 1e-12);
    st_number(t, "routing of the fact, off", fabs(sum - want) / want, 0, 1e-3);
    st_number(t, "attention of the sink, off", fabs(x->first_mass - 1 / (1 + exp(-2.44))), 0, 1e-3);
    dsx_explanation_free(x);
}

static void t5(struct test *t) {
    static const struct said said[] = {{DSX_METHOD_ROWS, 0.999, 1, 1, 0},
                                       {DSX_METHOD_FLOW, 0.999, 1, 1, 0},
                                       {DSX_METHOD_ATTENTION, 0.07, 0.09, 0, 0},
                                       {DSX_METHOD_LOO, 0.999, 1, 1, 0},
                                       {DSX_METHOD_ABLATE, 0.95, 1, 1, 0}};

    look_up(&t->net);
    net_answers(&t->net, 40);
    net_token(&t->net, '^', NET_SINK, 1);
    net_sink(&t->net, 0, 0, 0, 30 + 2.44f);
    st_open(t);
    st_ask(t, six, "c", "2");
    CHECK_METHODS(t, "C", said);
    check_routing(t);
}

static void t6(struct test *t) {
    static const struct said said[] = {{DSX_METHOD_ROWS, 0.999, 1, 1, 0}, {DSX_METHOD_FLOW, 0.999, 1, 1, 0}};
    dsx_explain_options o = st_by(DSX_METHOD_LOO);
    const dsx_explanation *x;

    look_up(&t->net);
    st_open(t);
    st_ask(t, "A\nB\nC\nD\nA\nE\n", "a", "0");
    CHECK_METHODS(t, "A", said);
    x = st_explain(t, &o);
    if (x == NULL) return;
    st_number(t, "loo: what both are worth", fabs(score_of(t, x, "A")), 0, 1e-4);
    dsx_explanation_free(x);
    o = st_by(DSX_METHOD_ROWS);
    o.verify = 16;
    x = st_explain(t, &o);
    if (x == NULL) return;
    st_number(t, "rows: first of both",
              x->n_units == 6 ? x->scores[t->view.sources_begin] / score_of(t, x, "A") : 0, 0.499, 0.501);
    st_number(t, "verify: both are a group",
              x->n_units == 6 && x->redundant[0] > 0 && x->redundant[0] == x->redundant[4], 1, 1);
    dsx_explanation_free(x);
}

static void t7(struct test *t) {
    for (int method = DSX_METHOD_ROWS; method <= DSX_METHOD_FLOW && t->rc == 0; method++) {
        dsx_explain_options o = st_by(method);
        const dsx_explanation *x;
        double a, d;

        if (method == DSX_METHOD_ROWS) {
            look_up(&t->net);
            net_token(&t->net, 'a', NET_QUERY + 3, 1);
            st_open(t);
            st_ask(t, six, "a", "0");
        }
        o.foil = "3";
        x = st_explain(t, &o);
        if (x == NULL) return;
        a = score_of(t, x, "A");
        d = score_of(t, x, "D");
        st_number(t, "for the answer", a, 1, 100);
        st_number(t, "for the foil, by that", d / a, -1.0001, -0.9999);
        st_number(t, "all others, by that", (fabs(score_of(t, x, "B")) + fabs(score_of(t, x, "C"))) / a, 0,
                  1e-5);
        dsx_explanation_free(x);
    }
}

/* Whether scores rise from A to F. */
static double n_rises(const struct test *t, const dsx_explanation *x) {
    double n = 0;

    for (char c = 'A'; c < 'F'; c++) {
        const char byte[2] = {c, '\0'}, next[2] = {(char)(c + 1), '\0'};

        n += score_of(t, x, next) >= score_of(t, x, byte);
    }
    return n;
}

static void t8(struct test *t) {
    static const int methods[] = {DSX_METHOD_ROWS, DSX_METHOD_FLOW, DSX_METHOD_LOO, DSX_METHOD_ABLATE};

    weighted(&t->net, 4000);
    net_token(&t->net, '^', NET_SINK, 1);
    net_sink(&t->net, 0, 0, 0, 10); /* takes nearly all, so that what is left is not shared out anew */
    st_open(t);
    st_ask(t, six, "x", "0");
    for (size_t i = 0; i < sizeof methods / sizeof *methods && t->rc == 0; i++) {
        dsx_explain_options o = st_by(methods[i]);
        const dsx_explanation *x;
        char what[64];

        o.verify = 64;
        x = st_explain(t, &o);
        if (x == NULL) return;
        snprintf(what, sizeof what, "%s: steps in order", st_methods[methods[i]]);
        st_number(t, what, n_rises(t, x), 5, 5);
        snprintf(what, sizeof what, "%s: rank correlation", st_methods[methods[i]]);
        st_number(t, what, x->trust.lds, 0.98, 1);
        dsx_explanation_free(x);
    }
}

static void grouped(struct net *n) {
    net_init(n, 1, 4, 2);
    letters(n, 3);
    for (uint32_t h = 2; h < 4; h++) {
        net_match(n, 0, h, 1, NET_QUERY, NET_KEY, 30);
        net_carry(n, 0, h, 1, NET_VALUE, NET_OUT, NET_VALUES, 0.5f);
    }
    net_answers(n, 4);
}

/* The value is found by attention, and one of four experts knows which answer it stands for. Queries and keys get the
 * same length, 8, so that a match weighs e^8. */
static void t9b(struct test *t) {
    static const struct said said[] = {
        {DSX_METHOD_ROWS, 0.99, 1, 1, 0}, {DSX_METHOD_FLOW, 0.99, 1, 1, 0}, {DSX_METHOD_LOO, 0.99, 1, 1, 0}};

    net_init(&t->net, 1, 1, 1);
    letters(&t->net, 3);
    net_match(&t->net, 0, 0, 0, NET_QUERY, NET_KEY, 30);
    net_carry(&t->net, 0, 0, 0, NET_VALUE, NET_BEFORE, NET_VALUES, 1);
    net_experts(&t->net, 4, NET_BEFORE, NET_OUT);
    t->net.router[NET_ONE] = 5;
    t->net.router[3 * NET_WIDTH + NET_QUERY + 2] = 20; /* of rows that ask for C */
    net_answers(&t->net, 4);
    st_open(t);
    st_ask(t, six, "c", "5"); /* 2, and 3 on */
    CHECK_METHODS(t, "C", said);
}

static void t9(struct test *t) {
    static const float weights[4] = {0, 0, 0.5f, 0.5f};
    static const struct said said[] = {
        {DSX_METHOD_ROWS, 0.999, 1, 1, 0},
        {DSX_METHOD_FLOW, 0.999, 1, 1, 0},
        {DSX_METHOD_ATTENTION, 0.5, 0.6, 1, 0}}; /* half of the heads see all */
    dsx_explain_options o = st_by(DSX_METHOD_AT2);
    const dsx_explanation *x;
    double share;
    int pointed;

    grouped(&t->net);
    st_open(t);
    st_ask(t, six, "c", "2");
    CHECK_METHODS(t, "C", said);
    o.head_weights = weights;
    x = st_explain(t, &o);
    if (x == NULL) return;
    share = st_mass(t, x, "C", &pointed);
    st_share(t, "at2, weights of the right heads", share, 0.999, 1, pointed, 1);
    dsx_explanation_free(x);
}

static double seconds(void) {
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A text of n bytes, lines of 64, with one fact where a third of it has passed. */
static void long_text(struct test *t, size_t n) {
    struct cli_buf text = {0};
    char what[64];
    double begin = seconds();
    static const int methods[] = {DSX_METHOD_ROWS, DSX_METHOD_FLOW};

    for (size_t i = 0; i < n; i++) cli_buf_char(&text, i == n / 3 ? 'C' : i % 64 == 63 ? '\n' : '.');
    st_ask_bytes(t, text.p, text.n, "c", "2");
    for (size_t i = 0; i < 2 && t->rc == 0; i++) {
        dsx_explain_options o = st_by(methods[i]);
        const dsx_explanation *x = st_explain(t, &o);
        double share;
        int pointed;

        if (x == NULL) break;
        snprintf(what, sizeof what, "%s, %zu tokens: share on gold", st_methods[methods[i]], n);
        share = st_mass(t, x, "C", &pointed);
        st_share(t, what, share, 0.999, 1, pointed, 1);
        st_check_sum(t, x);
        dsx_explanation_free(x);
    }
    if (!t->config->json && t->rc == 0)
        cli_buf_printf(t->out, "           %zu tokens took %.1f s\n", n, seconds() - begin);
    cli_buf_free(&text);
}

static uint64_t bytes_for(struct test *t, size_t n, int method) {
    struct cli_buf text = {0};
    dsx_explain_options o = st_by(method);
    uint64_t bytes = 0;

    for (size_t i = 0; i < n; i++) cli_buf_char(&text, i % 64 == 63 ? '\n' : '.');
    st_ask_bytes(t, text.p, text.n, "c", "2");
    if (t->rc == 0) bytes = dsx_explain_bytes(t->prompt, &o);
    cli_buf_free(&text);
    return bytes;
}

static void t10(struct test *t) {
    look_up(&t->net);
    st_open(t);
    long_text(t, t->is_double ? 256 : 1024); /* plain loops are slow */
    if (!t->is_double) long_text(t, 16384);
    if (!t->is_double && t->config->is_long) long_text(t, 131072);
    for (int method = DSX_METHOD_ROWS; method <= DSX_METHOD_FLOW && t->rc == 0; method++)
        st_number(t, method == DSX_METHOD_ROWS ? "rows: memory, 128K by 64K" : "flow: memory, 128K by 64K",
                  (double)bytes_for(t, 131072, method) / (double)bytes_for(t, 65536, method), 1, 2.1);
}

/* Where the best token begins in the source; -1: it is more than a byte. */
static double best_byte(const struct test *t, const dsx_explanation *x) {
    size_t best = t->view.sources_begin;

    for (size_t i = best; i < t->view.sources_end; i++)
        if (x->scores[i] > x->scores[best]) best = i;
    return t->view.spans[best].end - t->view.spans[best].begin == 1
               ? (double)t->view.spans[best].begin - (double)t->source.begin
               : -1;
}

/* Texts in which one byte is the fact: it must be found at its place in the text as it was given, and in
 * rows for people with its whole character. */
static void t11(struct test *t) {
    static const struct {
        const char *what, *text;
        size_t n, at, end, byte; /* bytes of the text, the range that must be found, the byte */
        unsigned char fact;
        int nfc;
    } texts[] = {
#define TEXT(s) s, sizeof s - 1
        {"emoji of three people",
         TEXT("x\n\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7 y\n"), 16, 20, 19,
         0xA7, 0},
        {"a byte of Chinese", TEXT("x\n\xE4\xB8\xAD\xE6\x96\x87\n"), 2, 5, 4, 0xAD, 0},
        {"a combining mark", TEXT("xe\xCC\x81y\n"), 2, 4, 3, 0x81, 0},
        {"carriage return", TEXT("x\ny\r\nz\n"), 3, 4, 3, '\r', 0},
        {"byte order mark", TEXT("\xEF\xBB\xBFxyz\n"), 0, 3, 2, 0xBF, 0},
        {"tab", TEXT("x\ty\n"), 1, 2, 1, '\t', 0},
        {"NUL", TEXT("x\0y\n"), 1, 2, 1, '\0', 0},
        {"leading space", TEXT(" x\n"), 0, 1, 0, ' ', 0},
        {"text that NFC changes", TEXT("xe\xCC\x81y\n"), 1, 4, 1, 0xA9, 1},
        {"behind what NFC changes", TEXT("e\xCC\x81 e\xCC\x81 y\n"), 8, 9, 8, 'y', 1},
#undef TEXT
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts && t->rc == 0; i++) {
        static dsx_row rows[64];
        dsx_explain_options o = st_by(DSX_METHOD_ROWS);
        const dsx_explanation *x;
        dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
        size_t n = 0;
        double found = 0;

        net_init(&t->net, 1, 1, 1);
        t->net.nfc = texts[i].nfc;
        net_token(&t->net, texts[i].fact, NET_KEY, 1);
        net_token(&t->net, texts[i].fact, NET_VALUE, 3);
        net_token(&t->net, 'a', NET_QUERY, 1);
        net_match(&t->net, 0, 0, 0, NET_QUERY, NET_KEY, 30);
        net_carry(&t->net, 0, 0, 0, NET_VALUE, NET_OUT, 1, 1);
        net_answers(&t->net, 4);
        st_open(t);
        st_ask_bytes(t, texts[i].text, texts[i].n, "a", "0");
        x = st_explain(t, &o);
        if (x != NULL)
            st_failed(
                t,
                dsx_explain_rows(t->prompt, x, DSTOK_TRACE_TOKEN, rows, sizeof rows / sizeof *rows, &n, &err),
                &err);
        for (size_t k = 0; k < n; k++)
            if (rows[k].bytes.begin >= texts[i].at && rows[k].bytes.end <= texts[i].end)
                found += rows[k].share;
        if (t->rc == 0) st_number(t, texts[i].what, found, 0.999, 1.001);
        if (x != NULL && !texts[i].nfc)
            st_number(t, "  its byte", best_byte(t, x), (double)texts[i].byte, (double)texts[i].byte);
        dsx_explanation_free(x);
        st_close(t);
    }
}

static void t12(struct test *t) {
    for (uint32_t layers = 1; layers <= 3 && t->rc == 0; layers += 2) {
        dsx_explain_options o = st_by(DSX_METHOD_ROWS);
        const dsx_explanation *rows, *flow;
        double apart = 0, greatest = 0;

        net_init(&t->net, layers, 4, 2);
        net_random(&t->net, 12);
        st_open(t);
        st_ask(t, "Some text\nof no meaning.\n", "why", "so");
        rows = st_explain(t, &o);
        o.method = DSX_METHOD_FLOW;
        flow = st_explain(t, &o);
        if (rows != NULL && flow != NULL) {
            st_check_sum(t, rows);
            st_check_sum(t, flow);
            for (size_t i = 0; i < rows->n; i++) {
                apart = fmax(apart, fabs(rows->scores[i] - flow->scores[i]));
                greatest = fmax(greatest, fabs(rows->scores[i]));
            }
            if (layers == 1)
                st_number(t, "one layer: rows and flow apart", apart / greatest, 0,
                          t->is_double ? 1e-9 : 1e-5);
            else
                st_number(t, "three layers: rows and flow apart", apart / greatest, 1e-3, 10);
        }
        dsx_explanation_free(rows);
        dsx_explanation_free(flow);
        st_close(t);
    }
}

/* Tokens without a value get exactly nothing, whatever heads look at them. */
static void t14(struct test *t) {
    grouped(&t->net);
    st_open(t);
    st_ask(t, six, "c", "2");
    for (int method = DSX_METHOD_ROWS; method <= DSX_METHOD_FLOW && t->rc == 0; method++) {
        dsx_explain_options o = st_by(method);
        const dsx_explanation *x = st_explain(t, &o);
        double sum = 0;

        if (x == NULL) return;
        for (size_t i = t->view.sources_begin; i < t->view.sources_end; i++)
            if (t->view.text[t->view.spans[i].begin] == '\n') sum += fabs(x->scores[i]);
        st_number(t,
                  method == DSX_METHOD_ROWS ? "rows: tokens without a value" : "flow: tokens without a value",
                  sum, 0, 0);
        dsx_explanation_free(x);
    }
}

const struct st_case st_cases[] = {
    {"T1", "look-up: one of six facts is asked for", t1},
    {"T2", "six places back, whatever stands there", t2},
    {"T3", "induction: what stood behind the earlier copy", t3},
    {"T4", "a mean of all: scores in closed form", t4},
    {"T5", "a sink takes 0.92 of attention and has no value", t5},
    {"T6", "the fact stands there twice", t6},
    {"T7", "two facts, one of them for the foil", t7},
    {"T8", "values add up: six parts of different weight", t8},
    {"T9", "heads in groups, of which one looks up", t9},
    {"T9b", "four experts, of which one knows the answer", t9b},
    {"T10", "one fact in a long text", t10},
    {"T11", "bytes of the text as it was given", t11},
    {"T12", "random weights: rows and flow", t12},
    {"T13", "CPU against CUDA", NULL},
    {"T14", "what does not matter gets exactly 0", t14},
};

const size_t st_n_cases = sizeof st_cases / sizeof *st_cases;
