/* SPDX-License-Identifier: MIT */
/* What dstok bench prints: an object for programs, a table with bars for people. */
#include "bench.h"

#include <dstok/version.h>

/* ---- JSON */

static void put_string(struct cli_buf *out, const char *key, const char *value) {
    cli_buf_printf(out, "\"%s\":", key);
    cli_json_text(out, value);
    cli_buf_char(out, ',');
}

/* Three digits behind the point for what is small. */
static void put_number(struct cli_buf *out, const char *key, double value) {
    cli_buf_printf(out, "\"%s\":%.*f,", key, value < 100 ? 3 : 1, value);
}

static void put_speed(struct cli_buf *out, const struct bench *b, const char *key, int figure) {
    if (b->speed[figure] > 0)
        put_number(out, key, b->speed[figure]);
    else
        cli_buf_printf(out, "\"%s\":null,", key);
}

static void put_digest(struct cli_buf *out, const char *key, const uint8_t digest[32]) {
    cli_buf_printf(out, "\"%s\":", key);
    cli_json_hex(out, digest, 32);
    cli_buf_char(out, ',');
}

/* In the order in which a text meets them, then other ways to its end. */
static const struct stage {
    const char *key, *name; /* name: in the table; NULL: it stands there already */
    int figure;
} stages[] = {
    {"utf8", "UTF-8 check", BENCH_STAGE + DSTOK_STAGE_UTF8},
    {"classify", "classes", BENCH_STAGE + DSTOK_STAGE_CLASSIFY},
    {"boundaries", "boundaries", BENCH_STAGE + DSTOK_STAGE_BOUNDARIES},
    {"pieces", "cuts, places", BENCH_STAGE + DSTOK_STAGE_PIECES},
    {"probe", "ids from cache", BENCH_STAGE + DSTOK_STAGE_PROBE},
    {"encode", "all of it", BENCH_WARM},
    {"merge", NULL, BENCH_MERGE},
    {"spans", NULL, BENCH_SPANS},
    {"count", NULL, BENCH_COUNT},
    {"decode", NULL, BENCH_DECODE},
};

#define N_STAGES (sizeof stages / sizeof *stages)

static void put_stages(struct cli_buf *out, const struct bench *b) {
    size_t i;

    cli_buf_text(out, "\"stages\":{");
    for (i = 0; i < N_STAGES; i++) put_speed(out, b, stages[i].key, stages[i].figure);
    out->n--; /* the last comma */
    cli_buf_text(out, "}}\n");
}

void bench_put_json(struct cli_buf *out, const struct bench *b) {
    cli_buf_char(out, '{');
    put_string(out, "file", b->file->name);
    cli_buf_printf(out, "\"version\":\"%d.%d.%d\",", DSTOK_VERSION_MAJOR, DSTOK_VERSION_MINOR,
                   DSTOK_VERSION_PATCH);
    put_string(out, "tier", b->tier);
    cli_buf_printf(out, "\"threads\":%zu,", b->n_threads);
    put_string(out, "clock", b->by_cpu ? "cpu" : "wall");
    cli_buf_printf(out, "\"bytes\":%zu,\"documents\":%zu,\"tokens\":%zu,", b->n_text, b->n_docs, b->n_tokens);
    put_number(out, "load_ms", b->load_ms);
    put_number(out, "first_ms", b->first_ms);
    put_number(out, "load_mb", b->load_mb);
    put_number(out, "rss_mb", b->rss_mb);
    put_number(out, "loaded_mb", b->loaded_mb);
    put_number(out, "kept_mb", b->kept_mb);
    put_speed(out, b, "cold", BENCH_COLD);
    put_speed(out, b, "unseen", BENCH_UNSEEN);
    put_speed(out, b, "warm", BENCH_WARM);
    put_speed(out, b, "big", BENCH_BIG);
    put_speed(out, b, "count", BENCH_COUNT);
    put_speed(out, b, "decode", BENCH_DECODE);
    put_digest(out, "ids_sha256", b->ids_hash);
    if (b->speed[BENCH_BIG] > 0) put_digest(out, "big_sha256", b->big_hash);
    cli_buf_printf(out, "\"lossless\":%s,", b->is_lossless ? "true" : "false");
    put_stages(out, b);
}

/* ---- the table */

struct row {
    const char *name;
    int figure, has_bar;
};

static const struct row rows[] = {
    {"first pass", BENCH_COLD, 1},       {"its second half", BENCH_UNSEEN, 1}, {"again", BENCH_WARM, 1},
    {"with spans", BENCH_SPANS, 1},      {"only counted", BENCH_COUNT, 1},     {"one document", BENCH_BIG, 1},
    {"without a cache", BENCH_MERGE, 1}, {"decoded again", BENCH_DECODE, 0},
};

#define N_ROWS (sizeof rows / sizeof *rows)

static double tokens_per_byte(const struct bench *b, int figure) {
    if (figure == BENCH_UNSEEN) return (double)b->unseen_tokens / (double)b->unseen_bytes;
    return (double)b->n_tokens / (double)b->n_text;
}

static void put_bar(struct cli_buf *out, double share, size_t width) {
    size_t n = (size_t)(share * (double)width + 0.5);

    cli_buf_text(out, n > 0 ? "  " : "");
    while (n-- > 0) cli_buf_text(out, "\xE2\x96\x88");
}

static void put_value(struct cli_buf *out, const char *name, double value) {
    cli_buf_printf(out, "  %-16s", name);
    if (value > 0)
        cli_buf_printf(out, " %9.1f", value);
    else
        cli_buf_printf(out, " %9s", "-");
}

static void put_row(struct cli_buf *out, const struct bench *b, const struct row *row, double most,
                    size_t width) {
    double value = b->speed[row->figure];

    put_value(out, row->name, value);
    if (value > 0) cli_buf_printf(out, " %10.2f", value * tokens_per_byte(b, row->figure));
    if (value > 0 && row->has_bar) put_bar(out, value / most, width);
    cli_buf_char(out, '\n');
}

/* Bars have one scale, in which the fastest way of encoding fills the line. */
static void put_rows(struct cli_buf *out, const struct bench *b) {
    size_t columns = cli_out_columns(), width = columns > 60 ? columns - 42 : 18, i;
    double most = 0;

    for (i = 0; i < N_ROWS; i++)
        if (rows[i].has_bar && b->speed[rows[i].figure] > most) most = b->speed[rows[i].figure];
    cli_buf_printf(out, "  %-16s %9s %10s\n", "", "MB/s", "Mtokens/s");
    for (i = 0; i < N_ROWS; i++) put_row(out, b, &rows[i], most, width);
}

/* The time of a byte in the slowest of the stages in the table: that of all of it, but for what disturbed the
 * measurement. Shares of it come to 100 % in any case. */
static double slowest(const struct bench *b) {
    double least = b->speed[BENCH_WARM];
    size_t i;

    for (i = 0; i < N_STAGES; i++)
        if (stages[i].name != NULL && b->speed[stages[i].figure] < least) least = b->speed[stages[i].figure];
    return 1 / least;
}

/* Each with all before it, and the share of the time of encoding that it takes by itself. */
static void put_stage_rows(struct cli_buf *out, const struct bench *b) {
    double before = 0, whole, time;
    size_t i;

    if (b->config->no_stages) return;
    if (!(b->speed[BENCH_STAGE + DSTOK_STAGE_PROBE] > 0)) {
        cli_buf_printf(
            out, "  no stages: %s\n",
            b->speed[BENCH_STAGE + DSTOK_STAGE_UTF8] > 0
                ? "this vocabulary, or this text with it, has no fast way and goes pretoken by pretoken"
                : "the text is not UTF-8");
        return;
    }
    whole = slowest(b);
    cli_buf_text(out, "  encoding again up to a stage, and the share of the time that it adds\n");
    for (i = 0; i < N_STAGES; i++) {
        if (stages[i].name == NULL) continue;
        time = 1 / b->speed[stages[i].figure];
        put_value(out, stages[i].name, b->speed[stages[i].figure]);
        cli_buf_printf(out, " %9.0f%%\n", 100 * (time > before ? time - before : 0) / whole);
        before = time > before ? time : before;
    }
}

static const char *plural(size_t n) {
    return n == 1 ? "" : "s";
}

void bench_put_table(struct cli_buf *out, const struct bench *b) {
    const struct cli_config *c = b->config;
    double tokens = b->n_tokens > 0 ? (double)b->n_tokens : 1;

    cli_buf_printf(out, "%s: %zu bytes, %zu document%s, %zu token%s of %.2f bytes\n", cli_input_name(b->file),
                   b->n_text, b->n_docs, plural(b->n_docs), b->n_tokens, plural(b->n_tokens),
                   (double)b->n_text / tokens);
    cli_buf_printf(out, "vocabulary %s, dstok %d.%d.%d, %s, %zu thread%s, %s time\n",
                   c->n_vocabs ? c->vocabs[0] : "default", DSTOK_VERSION_MAJOR, DSTOK_VERSION_MINOR,
                   DSTOK_VERSION_PATCH, b->tier, b->n_threads, plural(b->n_threads),
                   b->by_cpu ? "CPU" : "wall");
    cli_buf_printf(
        out,
        "loading %.1f ms, first call %.2f ms; memory %.1f MiB, with all ids %.1f MiB, at most %.1f MiB\n",
        b->load_ms, b->first_ms, b->loaded_mb, b->kept_mb, b->rss_mb);
    if (!b->is_lossless)
        cli_buf_text(out, "decoding does not give this text back: the vocabulary changes it\n");
    put_rows(out, b);
    put_stage_rows(out, b);
    cli_buf_char(out, '\n');
}
