/* SPDX-License-Identifier: MIT */
/* Pages of long and odd sources, of prompts without a model: whatever the text, the level and the number of targets, a
 * page stays below a megabyte, its tags are closed, and what it shows of a source are the source's bytes. */
#include "explain/report.h"
#include "t.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char answer[] = "It is under the pot. Not there.";

typedef struct page {
    char *p;
    size_t n, cap;
} page;

static int take(void *context, const void *bytes, size_t n) {
    page *o = context;

    if (o->n + n + 1 > o->cap) {
        o->cap = 2 * (o->n + n + 1);
        o->p = realloc(o->p, o->cap);
        if (o->p == NULL) exit(1);
    }
    memcpy(o->p + o->n, bytes, n);
    o->n += n;
    o->p[o->n] = '\0';
    return 0;
}

/* ---- a prompt of one source, a question and an answer, in tokens of some bytes */

typedef struct made {
    dsx_prompt prompt;
    dsx_source source;
    struct dsx__skip skip;
    dstok_segment segments[3];
    dsx_explanation x;
    double *scores;
} made;

static void make(made *m, const char *text, size_t n, size_t token, double strength) {
    static const char question[] = "Where <is> it?";
    size_t all = n + strlen(question) + strlen(answer);
    dsx_prompt *p = &m->prompt;
    t_rng rng = {5};

    memset(m, 0, sizeof *m);
    m->source = (dsx_source){"a<b>.txt", text, n};
    m->skip.line = m->skip.column = 1;
    m->segments[0] = (dstok_segment){n, 0, 0, DSTOK_ROLE_SOURCE};
    m->segments[1] = (dstok_segment){strlen(question), 0, 0, DSTOK_ROLE_QUESTION};
    m->segments[2] = (dstok_segment){strlen(answer), 0, 0, DSTOK_ROLE_ANSWER};
    p->sources = &m->source;
    p->skips = &m->skip;
    p->n_sources = 1;
    p->segments = m->segments;
    p->n_segments = 3;
    p->text = malloc(all + 1);
    p->spans = malloc((all / token + 2) * sizeof *p->spans);
    m->scores = malloc((all / token + 2) * sizeof *m->scores);
    if (p->text == NULL || p->spans == NULL || m->scores == NULL) exit(1);
    memcpy(p->text, text, n);
    memcpy(p->text + n, question, strlen(question));
    memcpy(p->text + n + strlen(question), answer, strlen(answer));
    p->len = all;
    p->response = p->answer = all - strlen(answer);
    for (size_t at = 0; at < all; p->n++, at = p->spans[p->n - 1].end) {
        p->spans[p->n] = (dstok_span){at, at + token < all ? at + token : all};
        m->scores[p->n] =
            strength * ((double)t_below(&rng, 2001) / 1000 - 0.9) / (1 + (double)t_below(&rng, 50));
    }
    m->x.struct_size = sizeof m->x;
    m->x.n = p->n;
    m->x.scores = m->scores;
    m->x.end = strlen(answer);
    m->x.from = p->n - 1;
    m->x.to = p->n;
}

static void unmake(made *m) {
    free(m->prompt.text);
    free(m->prompt.spans);
    free(m->scores);
}

/* ---- what is on a page */

/* strstr, which sanitizers make read on to the end of the page each time. */
static const char *find(const char *p, const char *what) {
    size_t n = strlen(what);

    for (; *p != '\0'; p++)
        if (*p == *what && strncmp(p, what, n) == 0) return p;
    return NULL;
}

static size_t count(const page *o, const char *what) {
    size_t n = 0;

    for (const char *p = o->p; (p = find(p, what)) != NULL; p++) n++;
    return n;
}

/* The character of the text at *p, to out; NUL has become U+FFFD. */
static size_t unescape(const char **p, char *out) {
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&#13;"};

    for (int i = 0; i < 4; i++)
        if (strncmp(*p, names[i], strlen(names[i])) == 0) {
            *p += strlen(names[i]);
            *out = "&<>\r"[i];
            return 1;
        }
    *out = *(*p)++;
    return 1;
}

/* Compares a stretch of the page with bytes of the source. Returns where it ends. */
static const char *check_piece(const char *p, const char *text, size_t begin, size_t end) {
    bool same = true;

    while (begin < end && *p != '\0') {
        char c;

        if (*p == '<') {
            p = strchr(p, '>') + 1;
            continue;
        }
        if (text[begin] == '\0' && strncmp(p, "\xEF\xBF\xBD", 3) == 0) {
            p += 3;
            begin++;
            continue;
        }
        (void)unescape(&p, &c);
        same = same && c == text[begin++];
    }
    CHECK(same && begin == end);
    return p;
}

/* Returns how many bytes of the source stand there. */
static size_t check_source(const page *o, const char *text, size_t n) {
    static const char mark[] = "<span data-b=";
    const char *block = find(o->p, "data-source=");
    size_t shown = 0, last = 0;

    for (const char *p = o->p; (p = find(p, mark)) != NULL;) {
        char *rest;
        size_t begin = (size_t)strtoull(p + strlen(mark), &rest, 10),
               end = (size_t)strtoull(rest + 1, &rest, 10);

        for (; block != NULL && block < p; block = find(block + 1, "data-source=")) last = 0;
        CHECK(begin >= last && begin < end && end <= n);
        p = check_piece(rest + 1, text, begin, end);
        shown += end - begin;
        last = end;
    }
    return shown;
}

static void check_tags(const page *o) {
    static const char *const names[] = {"mark", "details", "summary", "span", "div",  "section",
                                        "i",    "h4",      "bdi",     "a",    "table"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char open[16], open2[16], close[16];

        snprintf(open, sizeof open, "<%s ", names[i]);
        snprintf(open2, sizeof open2, "<%s>", names[i]);
        snprintf(close, sizeof close, "</%s>", names[i]);
        CHECK(count(o, open) + count(o, open2) == count(o, close));
    }
    CHECK(o->n > 10 && strcmp(o->p + o->n - 8, "</html>\n") == 0);
}

/* A page of some targets; returns how many bytes of the source it shows for each of them. */
static size_t page_of(made *m, int level, size_t top, size_t n_targets) {
    const dsx_explanation **list = malloc(n_targets * sizeof *list);
    dsx_report_options o = DSX_REPORT_OPTIONS_INIT;
    page out = {NULL, 0, 0};
    dstok_error err;
    size_t shown;

    if (list == NULL) exit(1);
    for (size_t i = 0; i < n_targets; i++) list[i] = &m->x;
    o.format = DSX_REPORT_HTML;
    o.level = level;
    o.top = top;
    CHECK(dsx_report_write(&m->prompt, list, n_targets, &o, take, &out, &err) == DSTOK_OK);
    CHECK(out.n <= 1000000);
    check_tags(&out);
    CHECK(count(&out, "<script") == 0 && count(&out, "a<b>") == 0 && count(&out, "<is>") == 0);
    shown = check_source(&out, m->source.text, m->source.len);
    free(out.p);
    free(list);
    return shown;
}

/* ---- texts */

static char *repeat(const char *what, size_t len, size_t n) {
    char *text = malloc(n + 1);

    if (text == NULL) exit(1);
    for (size_t i = 0; i < n; i++) text[i] = what[i % len];
    return text;
}

static void long_texts(void) {
    static const struct {
        const char *what;
        size_t len, token;
    } of[] = {
        {"The key is under the pot, & nobody <b>knows</b>. It \"may\" rain.\r\n", 66, 4},
        {"\x01\x02\x1b[31m\xC2\x85\0\0 \n", 12, 3},                  /* nothing of it is seen */
        {"\xE8\xAF\xAD\xE8\xA8\x80\xE6\xA8\xA1\xE5\x9E\x8B", 12, 3}, /* no line, no sentence */
        {"word ", 5, 5},
        {"\n", 1, 7},
    };

    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        size_t n = (i == 0 ? 1000000 : 60000) / of[i].len * of[i].len;
        char *text = repeat(of[i].what, of[i].len, n);
        made m;

        make(&m, text, n, of[i].token, 30);
        (void)page_of(&m, DSTOK_TRACE_SENTENCE, 0, 1);
        for (int level = DSTOK_TRACE_WORD; i > 0 && level <= DSTOK_TRACE_SOURCE; level++)
            (void)page_of(&m, level, 100000, 1);
        unmake(&m);
        free(text);
    }
}

static void many_targets(void) {
    static const char what[] = "The key is under the pot. It may rain.\n";
    char *text = repeat(what, strlen(what), 39 * 500);
    made m;

    make(&m, text, 39 * 500, 4, 3);
    CHECK(page_of(&m, DSTOK_TRACE_SENTENCE, 0, 3) == 3 * m.source.len); /* all of it */
    (void)page_of(&m, DSTOK_TRACE_SENTENCE, 0, 100);
    CHECK(page_of(&m, DSTOK_TRACE_TOKEN, 50, 1) == m.source.len);
    unmake(&m);
    make(&m, text, 390, 4, 3);
    (void)page_of(&m, DSTOK_TRACE_WORD, 0, 1100);
    unmake(&m);
    free(text);
}

static void short_texts(void) {
    static const char text[] = "A <b> & \"c\".\r\nalone\rhere \xE2\x80\xAE turned \x1b[31m.";

    for (size_t n = 0; n < sizeof text; n++) {
        made m;

        if (n < sizeof text - 1 && ((unsigned char)text[n] & 0xC0) == 0x80) continue; /* within a character */
        make(&m, text, n, 1, 0);
        for (int level = DSTOK_TRACE_TOKEN; level <= DSTOK_TRACE_SOURCE; level++)
            CHECK(page_of(&m, level, 3, 1) == m.source.len);
        unmake(&m);
    }
}

static int stop(void *context, const void *bytes, size_t n) {
    (void)bytes;
    return (*(size_t *)context += n) > 5000;
}

static void a_sink_that_stops(void) {
    dsx_report_options o = DSX_REPORT_OPTIONS_INIT;
    const dsx_explanation *x;
    dstok_error err;
    size_t seen = 0;
    made m;

    make(&m, "The end.", 8, 4, 1);
    x = &m.x;
    o.format = DSX_REPORT_HTML;
    CHECK(dsx_report_write(&m.prompt, &x, 1, &o, stop, &seen, &err) == DSTOK_E_IO);
    CHECK(seen <= 5000 + 4096);
    unmake(&m);
}

int main(void) {
    long_texts();
    many_targets();
    short_texts();
    a_sink_that_stops();
    return t_end();
}
