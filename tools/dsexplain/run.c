/* SPDX-License-Identifier: MIT */
/* dsexplain run: which parts of texts an answer of a model rests on. */
#include "run.h"

#include "../cli/sha256.h"
#include "../cli/source.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- interrupts */

static volatile sig_atomic_t is_interrupted;

static void on_interrupt(int number) {
    (void)number;
    if (is_interrupted) _exit(CLI_STOPPED); /* a second one */
    is_interrupted = 1;
}

void ex_catch_interrupts(void) {
    struct sigaction action, old;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    (void)sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        (void)sigaction(SIGINT, &action, NULL);
}

int ex_is_interrupted(void) {
    return is_interrupted;
}

static double now(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the sources */

struct sources {
    struct cli_buf *texts;
    dsx_source *list;
    char **sha256;
    size_t n;
};

static char *hex_of(const struct cli_buf *text) {
    struct cli_sha256 s;
    struct cli_buf hex = {0};
    uint8_t digest[32];
    size_t i;

    cli_sha256_start(&s);
    cli_sha256_add(&s, cli_buf_string((struct cli_buf *)(uintptr_t)text), text->n);
    cli_sha256_end(&s, digest);
    for (i = 0; i < sizeof digest; i++) cli_buf_printf(&hex, "%02x", digest[i]);
    (void)cli_buf_string(&hex);
    return hex.p;
}

static int is_blank(const struct cli_buf *text) {
    size_t i;

    for (i = 0; i < text->n; i++)
        if (strchr(" \t\r\n", text->p[i]) == NULL || text->p[i] == '\0') return 0;
    return 1;
}

static int read_sources(const struct ex_config *c, struct sources *s) {
    static const char *const standard[] = {"-"};
    const char *const *files = c->n_files > 0 ? c->files : standard;
    int rc = 0;

    s->n = c->n_files > 0 ? c->n_files : 1;
    s->texts = cli_alloc(s->n * sizeof *s->texts);
    s->list = cli_alloc(s->n * sizeof *s->list);
    s->sha256 = cli_alloc(s->n * sizeof *s->sha256);
    memset(s->texts, 0, s->n * sizeof *s->texts);
    memset(s->sha256, 0, s->n * sizeof *s->sha256);
    for (size_t i = 0; i < s->n && rc == 0; i++) {
        const char *name = strcmp(files[i], "-") == 0 ? "standard input" : files[i];

        rc = cli_read_whole(files[i], 0, DSTOK_MAX_INPUT, &s->texts[i]);
        if (rc) break;
        if (is_blank(&s->texts[i])) {
            cli_error("%s: %s; there is nothing to explain an answer by", name,
                      s->texts[i].n == 0 ? "the text is empty" : "there are only blanks");
            rc = CLI_FAIL;
        }
        s->list[i] = (dsx_source){name, cli_buf_string(&s->texts[i]), s->texts[i].n};
        s->sha256[i] = hex_of(&s->texts[i]);
    }
    return rc;
}

static void free_sources(struct sources *s) {
    for (size_t i = 0; i < s->n; i++) {
        cli_buf_free(&s->texts[i]);
        free(s->sha256[i]);
    }
    free(s->texts);
    free(s->list);
    free(s->sha256);
}

/* ---- a prompt and its response */

static int failed(const struct ex_question *q, dstok_status status, const dstok_error *err) {
    const char *text = err->text[0] ? err->text : dstok_status_name(status);

    if (status == DSTOK_E_CANCELED) return CLI_STOPPED;
    if (err->offset != DSTOK_NO_OFFSET)
        cli_error("%s%s (byte %llu)", q->name, text, (unsigned long long)err->offset);
    else
        cli_error("%s%s", q->name, text);
    return CLI_FAIL;
}

static int tell(void *run, uint64_t done, uint64_t all) {
    struct ex_run *r = run;

    ex_progress_share(&r->progress, r->doing, done, all);
    return is_interrupted;
}

static uint64_t longest(const struct ex_run *r) {
    return r->m.config->context > 0 ? r->m.config->context : r->m.info.context;
}

static int too_long(const struct ex_run *r, const struct ex_question *q, size_t n, const char *what) {
    cli_error(
        "%s%zu tokens of prompt%s, the model was made for %lu%s: fewer sources, or --context N to go on all "
        "the same",
        q->name, n, what, (unsigned long)r->m.info.context,
        r->m.config->context > 0 ? " and --context says less" : "");
    return CLI_FAIL;
}

static size_t n_tokens(const dsx_prompt *p) {
    dsx_prompt_view v = DSX_PROMPT_VIEW_INIT;

    (void)dsx_prompt_describe(p, &v);
    return v.n;
}

static int generate(struct ex_run *r, const struct ex_question *q, dsx_prompt *p) {
    const struct ex_config *c = r->m.config;
    uint64_t room, most = c->next > 0 ? c->next : c->n;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    double begin = now();
    dstok_status status;

    if (n_tokens(p) >= longest(r)) return too_long(r, q, n_tokens(p), " leave no room for an answer");
    room = longest(r) - n_tokens(p);
    r->doing = "generated";
    ex_progress_start(&r->progress, c);
    status = dsx_prompt_generate(p, (size_t)(most < room ? most : room), tell, r, &err);
    r->generated += now() - begin;
    return status == DSTOK_OK ? 0 : failed(q, status, &err);
}

int ex_run_prompt(struct ex_run *r, const struct ex_question *q, dsx_prompt **out) {
    const struct ex_config *c = r->m.config;
    dsx_prompt_options o = DSX_PROMPT_OPTIONS_INIT;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;

    o.sources = q->sources;
    o.n_sources = q->n_sources;
    o.question = q->question;
    o.template_text = q->template_text;
    o.chat = c->chat == EX_CHAT_OFF ? DSX_CHAT_OFF : DSX_CHAT_AUTO;
    o.prefix = q->prefix;
    status = dsx_prompt_new(r->m.model, r->m.tok, &o, out, &err);
    if (status == DSTOK_E_UNSUPPORTED) {
        cli_error("%s: %s; give --chat off and --prompt as the model wants it", r->m.path.p, err.text);
        return CLI_USAGE;
    }
    if (status != DSTOK_OK) return failed(q, status, &err);
    if (c->is_dry_run || q->answer == NULL) return c->is_dry_run ? 0 : generate(r, q, *out);
    status = dsx_prompt_answer(*out, q->answer, q->n_answer, &err);
    if (status != DSTOK_OK) return failed(q, status, &err);
    return n_tokens(*out) <= longest(r) ? 0 : too_long(r, q, n_tokens(*out), " and answer");
}

/* ---- explanations */

dsx_explain_options ex_run_options(struct ex_run *r, const struct ex_question *q) {
    static const int removals[] = {DSX_REMOVE_DELETE, DSX_REMOVE_GAP, DSX_REMOVE_GAP, DSX_REMOVE_SWAP};
    const struct ex_config *c = r->m.config;
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;

    o.foil = q->foil;
    o.method = c->method;
    o.hops = (uint32_t)c->hops;
    o.masks = (uint32_t)c->masks;
    o.removal = removals[c->removal];
    o.seed = c->seed;
    o.verify = (uint32_t)c->verify;
    o.head_weights = r->head_weights;
    o.sink = tell;
    o.context = r;
    return o;
}

int ex_run_explain(struct ex_run *r, const struct ex_question *q, dsx_prompt *p, size_t begin, size_t end,
                   const dsx_explanation **out) {
    dsx_explain_options o = ex_run_options(r, q);
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    uint64_t bytes, most = r->m.config->max_memory;
    dstok_status status;

    o.begin = begin;
    o.end = end;
    bytes = r->m.info.weight_bytes + dsx_explain_bytes(p, &o);
    if (most > 0 && bytes > most) {
        cli_error("%s%llu bytes are needed, and --max-memory is %llu", q->name, (unsigned long long)bytes,
                  (unsigned long long)most);
        return CLI_FAIL;
    }
    r->doing = "explained";
    ex_progress_start(&r->progress, r->m.config);
    status = dsx_explain(p, &o, out, &err);
    return status == DSTOK_OK ? 0 : failed(q, status, &err);
}

/* ---- reports */

static int add_bytes(void *out, const void *bytes, size_t n) {
    cli_buf_add(out, bytes, n);
    return 0;
}

/* NO_COLOR wins over CLICOLOR_FORCE, and that over what the output is. */
static int colours(const struct ex_config *c) {
    const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE"), *term = getenv("TERM"),
               *more = getenv("COLORTERM");
    int forced = force != NULL && force[0] != '\0' && strcmp(force, "0") != 0;

    if ((no != NULL && no[0] != '\0') || (!forced && (c->output != NULL || !cli_out_has_colour()))) return 0;
    if (!forced && (term == NULL || strcmp(term, "dumb") == 0)) return 0;
    if (more != NULL && (strcmp(more, "truecolor") == 0 || strcmp(more, "24bit") == 0)) return 1 << 24;
    return term != NULL && strstr(term, "256color") != NULL ? 256 : 16;
}

dsx_report_options ex_run_report_options(const struct ex_run *r) {
    const struct ex_config *c = r->m.config;
    dsx_report_options o = DSX_REPORT_OPTIONS_INIT;
    struct rusage usage;

    memset(&usage, 0, sizeof usage);
    (void)getrusage(RUSAGE_SELF, &usage);
    o.format = c->format;
    o.level = c->level;
    o.top = (size_t)c->top;
    if (cli_args_has(&c->args, "min-score")) o.min_score = c->min_score;
    o.colours = colours(c);
    o.columns = cli_out_columns();
    o.model_path = r->m.path.p;
    o.tokenizer_path = c->vocab != NULL ? c->vocab : r->m.info.tokenizer;
    o.source_sha256 = (const char *const *)r->sha256;
    o.load_seconds = r->loaded;
    o.generate_seconds = r->generated;
    o.peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    return o;
}

int ex_run_report(const struct ex_run *r, const dsx_prompt *p, const dsx_explanation *const *x, size_t n,
                  dsx_report_options *o, struct cli_buf *out) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status = dsx_report_write(p, x, n, o, add_bytes, out, &err);

    return status == DSTOK_OK ? 0 : (ex_failed(r->m.path.p, status, &err), CLI_FAIL);
}

/* ---- what is explained */

struct targets {
    dstok_span *list; /* bytes of the response */
    size_t n;
};

static void add_target(struct targets *t, uint64_t begin, uint64_t end) {
    t->list = cli_realloc(t->list, (t->n + 1) * sizeof *t->list);
    t->list[t->n++] = (dstok_span){begin, end};
}

static int add_sentences(const dsx_prompt_view *v, struct targets *t) {
    const char *text = v->text + v->answer;
    size_t len = v->len - v->answer, before = v->answer - v->response, n = 0;
    dstok_span *s = cli_alloc((len + 1) * sizeof *s);

    if (dstok_breaks(text, len, DSTOK_BREAK_SENTENCE, s, len, &n) != DSTOK_OK) n = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t b = s[i].begin, e = s[i].end;

        while (b < e && strchr(" \t\r\n", text[b]) != NULL) b++;
        while (e > b && strchr(" \t\r\n", text[e - 1]) != NULL) e--;
        if (b < e) add_target(t, before + b, before + e);
    }
    free(s);
    return 0;
}

static void add_next(const dsx_prompt_view *v, uint64_t most, struct targets *t) {
    for (size_t i = 0; i < v->n && t->n < most; i++)
        if (v->spans[i].end > v->answer && v->spans[i].begin < v->spans[i].end)
            add_target(t, (v->spans[i].begin > v->answer ? v->spans[i].begin : v->answer) - v->response,
                       v->spans[i].end - v->response);
}

static const char *find(const char *text, size_t n, const char *what) {
    size_t k = strlen(what);

    for (size_t i = 0; i + k <= n; i++)
        if (memcmp(text + i, what, k) == 0) return text + i;
    return NULL;
}

/* --target in the model's own answer. Where it is not there, it becomes the answer. */
static int add_text(struct ex_run *r, const struct ex_question *q, dsx_prompt *p, dsx_prompt_view *v,
                    struct targets *t) {
    const char *what = r->m.config->target, *text = v->text + v->response, *at;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;

    at = find(v->text + v->answer, v->len - v->answer, what);
    if (at != NULL) {
        add_target(t, (uint64_t)(at - text), (uint64_t)(at - text) + strlen(what));
        return 0;
    }
    cli_note("--target is not in the model's own answer: it is explained as if the model had given it");
    status = dsx_prompt_answer(p, what, strlen(what), &err);
    if (status != DSTOK_OK) return failed(q, status, &err);
    (void)dsx_prompt_describe(p, v);
    add_target(t, v->answer - v->response, v->len - v->response);
    return n_tokens(p) <= longest(r) ? 0 : too_long(r, q, n_tokens(p), " and answer");
}

static int find_targets(struct ex_run *r, const struct ex_question *q, dsx_prompt *p, struct targets *t) {
    const struct ex_config *c = r->m.config;
    dsx_prompt_view v = DSX_PROMPT_VIEW_INIT;
    size_t n;

    (void)dsx_prompt_describe(p, &v);
    n = v.len - v.response;
    if (v.len == v.answer) {
        cli_error("%s", q->answer != NULL ? "--target is empty"
                                          : "the model's own answer is empty: give one with --target TEXT");
        return CLI_FAIL;
    }
    if (c->has_range && (c->target_begin >= c->target_end || c->target_end > n)) {
        cli_error("--target-bytes %llu:%llu: the answer has %zu bytes", (unsigned long long)c->target_begin,
                  (unsigned long long)c->target_end, n);
        return CLI_FAIL;
    }
    if (c->has_range)
        add_target(t, c->target_begin, c->target_end);
    else if (c->each_sentence)
        return add_sentences(&v, t);
    else if (c->next > 0)
        add_next(&v, c->next, t);
    else if (c->target != NULL && q->answer == NULL)
        return add_text(r, q, p, &v, t);
    else
        add_target(t, v.answer - v.response, n);
    return 0;
}

/* ---- a run */

static int put(const struct ex_config *c, struct cli_buf *out, int final) {
    int rc = 0;

    if (c->output == NULL) {
        rc = cli_out_buf(out);
        out->n = 0;
        return rc ? rc : cli_out_flush();
    }
    return final ? cli_write_file(c->output, cli_buf_string(out), out->n) : 0;
}

/* Lines appear as they come; what an interrupt leaves says that it is not all. */
static int in_lines(struct ex_run *r, const struct ex_question *q, dsx_prompt *p, const struct targets *t) {
    const struct ex_config *c = r->m.config;
    dsx_report_options o = ex_run_report_options(r);
    struct cli_buf out = {0};
    size_t i = 0;
    int rc, stopped = is_interrupted;

    o.part = DSX_PART_HEAD;
    rc = ex_run_report(r, p, NULL, 0, &o, &out);
    for (; i < t->n && rc == 0; i++) {
        const dsx_explanation *x = NULL;

        rc = put(c, &out, 0);
        if (rc == 0) rc = ex_run_explain(r, q, p, (size_t)t->list[i].begin, (size_t)t->list[i].end, &x);
        if (rc) break;
        o.part = DSX_PART_TARGETS;
        o.first_target = i;
        rc = ex_run_report(r, p, &x, 1, &o, &out);
        dsx_explanation_free(x);
    }
    stopped |= rc == CLI_STOPPED;
    if (rc == 0 || stopped) {
        o = ex_run_report_options(r);
        o.part = DSX_PART_END;
        o.first_target = i;
        o.is_partial = stopped;
        rc = ex_run_report(r, p, NULL, 0, &o, &out);
        if (rc == 0) rc = put(c, &out, 1);
    }
    cli_buf_free(&out);
    return rc == 0 && stopped ? CLI_STOPPED : rc;
}

static int all_at_once(struct ex_run *r, const struct ex_question *q, dsx_prompt *p,
                       const struct targets *t) {
    const dsx_explanation **x = cli_alloc((t->n + 1) * sizeof *x);
    struct cli_buf out = {0};
    size_t n = 0, i;
    int rc = 0;

    while (n < t->n && rc == 0) {
        rc = ex_run_explain(r, q, p, (size_t)t->list[n].begin, (size_t)t->list[n].end, &x[n]);
        n += rc == 0;
    }
    if (rc == 0) {
        dsx_report_options o = ex_run_report_options(r);

        rc = ex_run_report(r, p, x, n, &o, &out);
    }
    if (rc == 0) rc = put(r->m.config, &out, 1);
    for (i = 0; i < n; i++) dsx_explanation_free(x[i]);
    free(x);
    cli_buf_free(&out);
    return rc;
}

static int run_one(struct ex_run *r, const struct ex_question *q) {
    const struct ex_config *c = r->m.config;
    dsx_prompt *p = NULL;
    struct targets t = {0};
    int rc = ex_run_prompt(r, q, &p);

    if (rc == CLI_STOPPED && p != NULL && c->format == DSX_REPORT_JSONL) {
        rc = in_lines(r, q, p, &t); /* no target, and so it says */
    } else if (rc == 0 && c->is_dry_run) {
        rc = ex_run_estimate(r, q, p);
    } else if (rc == 0) {
        rc = find_targets(r, q, p, &t);
        if (rc == 0) rc = (c->format == DSX_REPORT_JSONL ? in_lines : all_at_once)(r, q, p, &t);
    }
    free(t.list);
    dsx_prompt_free(p);
    return rc;
}

int ex_run(const struct ex_config *c) {
    struct ex_run r = {0};
    struct sources s = {0};
    struct cli_buf template_text = {0};
    struct ex_question q = {.name = "", .question = c->question, .prefix = c->prefix, .foil = c->foil};
    double begin = now();
    int rc = c->output != NULL ? cli_check_output(c->output) : 0;

    if (c->prompt != NULL) (void)cli_unescape(&template_text, c->prompt); /* checked with the options */
    if (c->prompt != NULL) q.template_text = cli_buf_string(&template_text);
    if (rc == 0 && c->items == NULL) rc = read_sources(c, &s);
    r.m.config = c;
    if (rc == 0) rc = ex_open(c, EX_NEED_VOCAB, &r.m);
    if (rc == 0) rc = ex_read_head_weights(&r);
    r.loaded = now() - begin;
    if (rc == 0 && (c->items != NULL || c->format == DSX_REPORT_JSONL)) ex_catch_interrupts();
    q.sources = s.list;
    q.n_sources = s.n;
    r.sha256 = s.sha256;
    if (c->target != NULL && c->prefix != NULL) {
        q.answer = c->target;
        q.n_answer = strlen(c->target);
    }
    if (rc == 0) rc = c->items != NULL ? ex_run_items(&r) : run_one(&r, &q);
    free(r.head_weights);
    ex_close(&r.m);
    free_sources(&s);
    cli_buf_free(&template_text);
    return rc;
}
