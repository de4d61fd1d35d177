/* SPDX-License-Identifier: MIT */
/* Command-line options of dsexplain: one table for all verbs. */
#include "dsexplain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FLAG = CLI_OPTION_FLAG,
    TEXT = CLI_OPTION_TEXT,
    NUMBER = CLI_OPTION_NUMBER,
    CHOICE = CLI_OPTION_CHOICE,
    CALL = CLI_OPTION_CALL
};

/* A number such as 0.7, between least and most. */
static const char *real(const char *value, double least, double most, double *out) {
    char *end;
    double x;

    errno = 0;
    x = strtod(value, &end);
    if (end == value || *end != '\0' || errno != 0 || isnan(x)) return "is not a number such as 0.7";
    if (x < least || x > most) return "is out of its range";
    *out = x;
    return NULL;
}

static const char *set_temperature(void *config, const char *value) {
    return real(value, 0, 1e6, &((struct ex_config *)config)->temperature);
}

static const char *set_top_p(void *config, const char *value) {
    return real(value, 0, 1, &((struct ex_config *)config)->top_p);
}

static const char *set_seed(void *config, const char *value) {
    return cli_number(value, strlen(value), &((struct ex_config *)config)->seed);
}

static const char *tokens(const char *value, uint64_t *out) {
    const char *why = cli_token_count(value, strlen(value), out);

    return why != NULL ? why : *out > 0 ? NULL : "must be at least 1";
}

static const char *set_n(void *config, const char *value) {
    return tokens(value, &((struct ex_config *)config)->n);
}

static const char *set_context(void *config, const char *value) {
    return tokens(value, &((struct ex_config *)config)->context);
}

/* Bytes; K, M, G and T stand for powers of 1,024. */
static const char *bytes(const char *value, uint64_t *out) {
    static const char units[] = "KMGT";
    size_t n = strlen(value);
    const char *unit = n > 0 ? strchr(units, value[n - 1]) : NULL, *why;
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;

    why = cli_number(value, n - (unit != NULL), out);
    if (why == NULL && (*out > UINT64_MAX >> shift)) why = "is too large";
    *out <<= shift;
    return why != NULL ? why : *out > 0 ? NULL : "must be at least 1";
}

static const char *set_max_memory(void *config, const char *value) {
    return bytes(value, &((struct ex_config *)config)->max_memory);
}

static const char *set_bytes(void *config, const char *value) {
    return bytes(value, &((struct ex_config *)config)->max_weights);
}

static const char *set_max_kl(void *config, const char *value) {
    return real(value, 0, 1e6, &((struct ex_config *)config)->max_kl);
}

static const char *set_percentile(void *config, const char *value) {
    return real(value, 1, 100, &((struct ex_config *)config)->percentile);
}

static const char *add_format(void *config, const char *value) {
    struct ex_config *c = config;

    if (c->n_to == EX_MOST_FORMATS) return "is one format too many";
    c->to[c->n_to++] = value;
    return NULL;
}

static const char *add_stop(void *config, const char *value) {
    struct ex_config *c = config;
    const char *why;

    c->stops = cli_realloc(c->stops, (c->n_stops + 1) * sizeof *c->stops);
    memset(&c->stops[c->n_stops], 0, sizeof *c->stops);
    why = cli_unescape(&c->stops[c->n_stops++], value);
    return why == NULL && c->stops[c->n_stops - 1].n == 0 ? "must not be empty" : why;
}

static const char *add_file(void *config, const char *name) {
    struct ex_config *c = config;

    c->files = cli_realloc(c->files, (c->n_files + 1) * sizeof *c->files);
    c->files[c->n_files++] = name;
    return NULL;
}

static const char *set_range(void *config, const char *value) {
    struct ex_config *c = config;
    const char *colon = strchr(value, ':');

    c->has_range = 1;
    if (colon == NULL || cli_number(value, (size_t)(colon - value), &c->target_begin) != NULL ||
        cli_number(colon + 1, strlen(colon + 1), &c->target_end) != NULL)
        return "is no range of bytes such as 10:25";
    return c->target_begin < c->target_end ? NULL : "is empty";
}

static const char *set_next(void *config, const char *value) {
    struct ex_config *c = config;
    const char *why = cli_token_count(value, strlen(value), &c->next);

    return why != NULL ? why : c->next > 0 ? NULL : "must be at least 1";
}

static const char *set_template(void *config, const char *value) {
    struct cli_buf text = {0};
    const char *why = cli_unescape(&text, value);

    ((struct ex_config *)config)->prompt = value;
    if (why == NULL && strlen(cli_buf_string(&text)) != text.n) why = "holds a NUL";
    cli_buf_free(&text);
    return why;
}

static const char *set_min_score(void *config, const char *value) {
    return real(value, -1e300, 1e300, &((struct ex_config *)config)->min_score);
}

#define AT(field) offsetof(struct ex_config, field)

static const struct cli_option options[] = {
    {"file", 'f', EX_RUN, CALL, 0, "FILE|-", "a source; may be repeated (default: standard input)", add_file},
    {"question", 'q', EX_RUN, TEXT, AT(question), "TEXT", "the question", NULL},
    {"target", 0, EX_RUN, TEXT, AT(target), "TEXT",
     "explain TEXT where the model's own answer has it, else as if it were the answer; with --prefix it is "
     "the answer behind it",
     NULL},
    {"target-bytes", 0, EX_RUN, CALL, 0, "A:B", "explain bytes A to B of the answer", set_range},
    {"each-sentence", 0, EX_RUN, FLAG, AT(each_sentence), NULL, "explain each sentence of the answer", NULL},
    {"next", 0, EX_RUN, CALL, 0, "K", "explain each of the next K tokens", set_next},
    {"foil", 0, EX_RUN, TEXT, AT(foil), "TEXT", "why the answer and not TEXT in its place", NULL},
    {"method", 0, EX_RUN, CHOICE, AT(method), "rows|flow|ablate|loo|at2|attention|refine",
     "how scores are found, see docs/explain.md (default rows)", NULL},
    {"weights-at2", 0, EX_RUN, TEXT, AT(at2), "FILE", "the weights of heads for at2, as fit-at2 wrote them",
     NULL},
    {"output", 'o', EX_FIT, TEXT, AT(output), "FILE", "where the weights go", NULL},
    {"hops", 0, EX_RUN, NUMBER, AT(hops), "N",
     "explain words of the answer that it rests on in turn: 1 to 8 (default 1, not)", NULL},
    {"masks", 0, EX_ASKS, NUMBER, AT(masks), "N", "random removals for ablate (default 32)", NULL},
    {"removal", 0, EX_ASKS, CHOICE, AT(removal), "delete|gap|attnmask|swap",
     "how sentences are taken out: the text closes up, a gap stays (also called attnmask), or neutral words "
     "stand there (default delete)",
     NULL},
    {"verify", 0, EX_RUN, NUMBER, AT(verify), "MASKS",
     "check the scores with as many random removals (default 0: not)", NULL},
    {"level", 0, EX_RUN, CHOICE, AT(level), "token|word|sentence|paragraph|source",
     "what is listed (default sentence)", NULL},
    {"format", 0, EX_RUN, CHOICE, AT(format), "ansi|html|json|jsonl|grep|md|csv",
     "form of the report (default ansi)", NULL},
    {"output", 'o', EX_RUN, TEXT, AT(output), "FILE", "write the report to FILE, as a whole or not at all",
     NULL},
    {"top", 0, EX_RUN, NUMBER, AT(top), "K",
     "list the K best (default 10 for ansi, html and md, all for others)", NULL},
    {"min-score", 0, EX_RUN, CALL, 0, "X", "list nothing below X", set_min_score},
    {"prompt", 0, EX_ASKS, CALL, 0, "TEMPLATE",
     "the message to the model (default 'Context:\\n{sources}\\n\\nQuestion: {question}'); knows \\n \\t "
     "\\xHH",
     set_template},
    {"prefix", 0, EX_RUN, TEXT, AT(prefix), "TEXT", "how the answer begins; this is not explained", NULL},
    {"tokens", 'n', EX_ASKS, CALL, 0, "N", "tokens of the model's own answer at most (default 256)", set_n},
    {"items", 0, EX_ASKS, TEXT, AT(items), "FILE|-",
     "many questions: one JSON object a line with context or sources, question, prefix, answer, prompt",
     NULL},
    {"use-foil", 0, EX_RUN, FLAG, AT(use_foil), NULL, "with --items: explain against each item's foil", NULL},
    {"on-error", 0, EX_ASKS, CHOICE, AT(on_error), "fail|skip",
     "with --items: what to do about a bad line (default fail)", NULL},
    {"dry-run", 0, EX_RUN, FLAG, AT(is_dry_run), NULL, "only say what it will take: tokens, memory, time",
     NULL},
    {"prompt", 'p', EX_GENERATE, TEXT, AT(prompt), "TEXT", "the text to go on from", NULL},
    {"file", 'f', EX_GENERATE | EX_LOGPROBS | EX_SCAN, TEXT, AT(file), "FILE|-", "a file that holds the text",
     NULL},
    {"ids", 0, EX_LOGPROBS, TEXT, AT(ids), "FILE|-", "token ids in place of a text: numbers between blanks",
     NULL},
    {"tokens", 'n', EX_GENERATE, CALL, 0, "N", "tokens to generate at most (default 256)", set_n},
    {"tokens", 'n', EX_SCAN, CALL, 0, "N", "tokens of the text to read at most (default 1024)", set_n},
    {"to", 0, EX_SCAN, CALL, 0, "FORMAT",
     "how maps are rounded: w8, w4 or fp8, with g32, g64 or g128 for the group, then a8, a4, a4h, a8f or a4f "
     "where "
     "rows are rounded as well (default w4); may be repeated with --whole",
     add_format},
    {"from", 0, EX_SCAN, TEXT, AT(from), "FORMAT", "how maps are kept that are not rounded (default file)",
     NULL},
    {"ops", 0, EX_SCAN, FLAG, AT(by_op), NULL, "each kind of a layer's maps by itself: qkv, out, up, down",
     NULL},
    {"whole", 0, EX_SCAN, FLAG, AT(is_whole), NULL, "only all maps at once", NULL},
    {"max-kl", 0, EX_SCAN, CALL, 0, "X", "with -o: restore the fewest maps that bring the mean KL down to X",
     set_max_kl},
    {"bytes", 0, EX_SCAN, CALL, 0, "BYTES",
     "with -o: restore maps while the weights take no more; knows K, M, G, T", set_bytes},
    {"limits", 0, EX_SCAN, CHOICE, AT(limits), "ema|percentile|mse",
     "how limits of a8f and a4f are chosen: averages of rows, a percentile, or the least square error "
     "(default ema)",
     NULL},
    {"percentile", 0, EX_SCAN, CALL, 0, "P", "with --limits percentile: its percent (default 99.9)",
     set_percentile},
    {"calibrate", 0, EX_SCAN, TEXT, AT(calibrate), "FILE",
     "the text that limits are chosen from (default that of -f)", NULL},
    {"temperature", 't', EX_GENERATE, CALL, 0, "T",
     "0 takes the likeliest token; above, tokens are drawn: 1 as the model says, more is wilder (default 0)",
     set_temperature},
    {"top-k", 0, EX_GENERATE, NUMBER, AT(top_k), "K", "draw from the K likeliest tokens", NULL},
    {"top-p", 0, EX_GENERATE, CALL, 0, "P",
     "draw from the likeliest tokens that reach probability P together", set_top_p},
    {"seed", 0, EX_ASKS, CALL, 0, "S", "of random removals (default 0)", set_seed},
    {"seed", 0, EX_GENERATE, CALL, 0, "S", "the same seed draws the same tokens (default 0)", set_seed},
    {"stop", 0, EX_GENERATE, CALL, 0, "STRING", "end before STRING; may be repeated; knows \\n \\t \\0 \\xHH",
     add_stop},
    {"chat", 0, EX_GENERATE | EX_ASKS, CHOICE, AT(chat), "auto|off",
     "put the prompt into the model's chat template, if it has one, or not (default auto)", NULL},
    {"top", 0, EX_LOGPROBS, NUMBER, AT(top), "K", "also the K likeliest tokens of each position", NULL},
    {"top", 0, EX_DIFF, NUMBER, AT(top), "K",
     "list the K spans that changed most (default 10; with --json all)", NULL},
    {"context", 0, EX_READS | EX_PLAN | EX_ASKS, CALL, 0, "N",
     "longest text in tokens; knows 8K, 128K (default: what the model was made for)", set_context},
    {"gpu", 0, EX_PLAN, TEXT, AT(gpu), "NAME", "also what a GPU would take: its name, or all", NULL},
    {"sessions", 0, EX_PLAN, NUMBER, AT(sessions), "N", "texts of that length at once (default 1)", NULL},
    {"names", 0, EX_CONVERT, CHOICE, AT(names), "qwen|llama", "the family whose names the tensors get", NULL},
    {"output", 'o', EX_CONVERT, TEXT, AT(output), "FILE", "write the file; without, the names are listed",
     NULL},
    {"output", 'o', EX_SCAN, TEXT, AT(output), "FILE", "write a policy that meets --max-kl or --bytes", NULL},
    {"vocab", 'v', EX_OPENS, TEXT, AT(vocab), "PATH|NAME",
     "vocabulary in place of the model's own: a file, a folder or a name", NULL},
    {"special", 0, EX_READS, CHOICE, AT(special), "safe|text|parse|plain|error",
     "control tokens that stand in the text, as in dstok encode (default safe)", NULL},
    {"invalid", 0, EX_READS, CHOICE, AT(invalid), "error|replace|raw",
     "bytes that are not UTF-8: refuse, U+FFFD, or as they are (default error)", NULL},
    {"bos", 0, EX_READS, CHOICE, AT(bos), "auto|on|off",
     "the start token before a text (default auto: as the vocabulary says)", NULL},
    {"backend", 0, EX_MODELS | EX_SELFTEST, CHOICE, AT(backend), "cpu|float64",
     "float with SIMD, or double by plain loops: slow, for checking (default cpu)", NULL},
    {"threads", 'j', EX_OPENS | EX_SELFTEST, NUMBER, AT(threads), "N",
     "threads (default: all cores); the output is the same", NULL},
    {"simd", 0, EX_OPENS | EX_SELFTEST, CHOICE, AT(simd), "best|scalar|avx2|avx512",
     "instructions to use at most (default best: what this machine has)", NULL},
    {"weights", 0, EX_MODELS & ~EX_SCAN, CHOICE, AT(weights), "file|f32|w8|w4|fp8",
     "weights in memory: as in the file, as float, or rounded to 8 or 4 bits (default file)", NULL},
    {"group", 0, EX_MODELS & ~EX_SCAN, NUMBER, AT(group), "N",
     "weights that share a scale with w8 and w4: 32, 64 or 128 (default 64); 128 with fp8: squares", NULL},
    {"policy", 0, EX_MODELS, TEXT, AT(policy), "FILE",
     "formats of the single maps, layer by layer, in place of --weights: JSON, see docs/dsexplain.md", NULL},
    {"mla", 0, EX_MODELS, CHOICE, AT(mla), "latent|heads",
     "with DeepSeek: keep the latent, or keys and values of all heads, to read long texts faster (default "
     "latent)",
     NULL},
    {"kv", 0, EX_READS | EX_PLAN, CHOICE, AT(kv), "float|int8|int4",
     "keys and values of what was read: as numbers, or far ones rounded (default float)", NULL},
    {"kv-recent", 0, EX_READS | EX_PLAN, NUMBER, AT(kv_recent), "N",
     "with --kv int8 or int4: the last N tokens are not rounded (default 128)", NULL},
    {"max-memory", 0, EX_MODELS, CALL, 0, "BYTES", "refuse to take more; knows K, M, G, T", set_max_memory},
    {"chunk", 0, EX_READS | EX_PLAN, NUMBER, AT(chunk), "N",
     "tokens that pass through the model together (default 512); the output is the same", NULL},
    {"long", 0, EX_SELFTEST, FLAG, AT(is_long), NULL, "also a text of 128K tokens", NULL},
    {"json", 0, EX_ALL & ~EX_RUN, FLAG, AT(json), NULL, "one JSON object", NULL},
    {"quiet", 'q', EX_ALL & ~EX_RUN, FLAG, AT(is_quiet), NULL, "no notes on standard error", NULL},
    {"quiet", 0, EX_RUN, FLAG, AT(is_quiet), NULL, "no notes on standard error", NULL},
    {"progress", 0, EX_READS | EX_ASKS, CHOICE, AT(progress), "auto|plain|json|off",
     "progress and speed on standard error (default auto: when it is a terminal and the output is not)",
     NULL},
    {"help", 'h', EX_ALL, FLAG, AT(help), NULL, "this text", NULL},
};

static void input(void *config, const char *name) {
    struct ex_config *c = config;

    if (c->n_inputs < sizeof c->inputs / sizeof *c->inputs) c->inputs[c->n_inputs] = name;
    c->n_inputs++;
}

static const struct cli_table table = {options, sizeof options / sizeof *options, NULL, 0, 0, input, NULL};

static int check_scan(const struct ex_config *c) {
    int has_target = cli_args_has(&c->args, "max-kl") + cli_args_has(&c->args, "bytes");

    if (c->file == NULL)
        return cli_usage(c->verb, "which text? Name a file with -f, or - for standard input");
    if (c->is_whole && c->output != NULL)
        return cli_usage(c->verb, "--whole finds no policy for -o to write");
    if (c->n_to > 1 && !c->is_whole) return cli_usage(c->verb, "several --to are for --whole");
    if (c->output != NULL && has_target != 1)
        return cli_usage(c->verb, "with -o give one of --max-kl and --bytes");
    if (c->output == NULL && has_target > 0)
        return cli_usage(c->verb, "--max-kl and --bytes are for -o FILE");
    if (cli_args_has(&c->args, "percentile") && c->limits != DSX_LIMIT_PERCENTILE)
        return cli_usage(c->verb, "--percentile is for --limits percentile");
    return 0;
}

/* The greatest value that the library takes. */
static int check_limits(const struct ex_config *c) {
    const struct {
        const char *name;
        uint64_t value, most;
    } limits[] = {{"chunk", c->chunk, 65536},
                  {"context", c->context, 1 << 24},
                  {"kv-recent", c->kv_recent, 1 << 24},
                  {"sessions", c->sessions, UINT32_MAX}};
    size_t i;

    for (i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].value > limits[i].most)
            return cli_usage(c->verb, "--%s must be at most %llu", limits[i].name,
                             (unsigned long long)limits[i].most);
    return 0;
}

static int check_items(const struct ex_config *c) {
    static const char *const not_for_items[] = {"file", "question", "target", "target-bytes", "each-sentence",
                                                "next", "foil",     "prefix", "dry-run"};

    for (size_t i = 0; i < sizeof not_for_items / sizeof *not_for_items; i++)
        if (cli_args_has(&c->args, not_for_items[i]))
            return cli_usage(c->verb, "--%s is not for --items: each item says it", not_for_items[i]);
    if (cli_args_has(&c->args, "format") && c->format != DSX_REPORT_JSON)
        return cli_usage(c->verb, "--items writes JSON, one report a line");
    return 0;
}

static int check_run(const struct ex_config *c) {
    if ((c->target != NULL) + c->has_range + c->each_sentence + (c->next > 0) > 1)
        return cli_usage(c->verb, "give one of --target, --target-bytes, --each-sentence and --next");
    if (c->target != NULL && c->target[0] == '\0') return cli_usage(c->verb, "--target is empty");
    if (c->foil != NULL && c->foil[0] == '\0') return cli_usage(c->verb, "--foil is empty");
    if (c->hops > 8) return cli_usage(c->verb, "--hops must be at most 8");
    if (c->masks > 4096 || c->verify > 4096)
        return cli_usage(c->verb, "--masks and --verify must be at most 4096");
    if (c->n == 0) return cli_usage(c->verb, "-n must be at least 1");
    if ((c->method == DSX_METHOD_AT2) != (c->at2 != NULL))
        return cli_usage(
            c->verb, c->at2 == NULL ? "--method at2 needs weights of heads: --weights-at2 FILE, from fit-at2"
                                    : "--weights-at2 is for --method at2");
    if (c->items != NULL) return check_items(c);
    if (c->on_error || c->use_foil) return cli_usage(c->verb, "--on-error and --use-foil are for --items");
    if (c->n_files == 0 && isatty(STDIN_FILENO))
        return cli_usage(c->verb, "which sources? Name files with -f, or - for standard input");
    return 0;
}

static int check_fit(const struct ex_config *c) {
    if (c->masks > 4096) return cli_usage(c->verb, "--masks must be at most 4096");
    if (c->n == 0) return cli_usage(c->verb, "-n must be at least 1");
    if (c->items == NULL || c->output == NULL)
        return cli_usage(c->verb, "give --items FILE to learn from, and -o FILE for the weights");
    return 0;
}

/* What no single option can tell. */
static int check(const struct ex_config *c) {
    size_t most = c->verb_bit == EX_PPL || c->verb_bit == EX_DIFF ? 2 : 1;

    if (c->verb_bit == EX_DIFF && c->n_inputs < 2)
        return cli_usage(c->verb, "which reports? Name two files of dsexplain run --format json");
    if (c->verb_bit == EX_DIFF && strcmp(c->inputs[0], "-") == 0 && strcmp(c->inputs[1], "-") == 0)
        return cli_usage(c->verb, "standard input can be one of the reports, not both");
    if (c->verb_bit == EX_SELFTEST)
        return c->n_inputs == 0 ? 0 : cli_usage(c->verb, "selftest makes its own models, it takes none");
    if (c->n_inputs == 0) return cli_usage(c->verb, "which model? Name a file, a folder or a model");
    if (c->n_inputs > most)
        return cli_usage(c->verb, "%zu inputs, %s takes %zu%s", c->n_inputs, c->verb, most,
                         c->verb_bit == EX_GENERATE ? "; the prompt is given with -p TEXT or -f FILE" : "");
    if (c->verb_bit == EX_PPL && c->n_inputs < 2)
        return cli_usage(c->verb, "which text? Name a file, or - for standard input");
    if (c->verb_bit == EX_GENERATE && (c->prompt != NULL) + (c->file != NULL) != 1)
        return cli_usage(c->verb, "give one of -p TEXT and -f FILE");
    if (c->verb_bit == EX_LOGPROBS && (c->ids != NULL) + (c->file != NULL) != 1)
        return cli_usage(c->verb, "give one of --ids FILE and -f FILE");
    if (c->verb_bit == EX_CONVERT && !cli_args_has(&c->args, "names"))
        return cli_usage(c->verb, "whose names? Give --names qwen or --names llama");
    if (c->verb_bit == EX_SCAN && check_scan(c)) return CLI_USAGE;
    if (c->verb_bit == EX_RUN && check_run(c)) return CLI_USAGE;
    if (c->verb_bit == EX_FIT && check_fit(c)) return CLI_USAGE;
    if (cli_args_has(&c->args, "group")) {
        if (c->group != 32 && c->group != 64 && c->group != 128)
            return cli_usage(c->verb, "--group must be 32, 64 or 128");
        if (c->weights < DSX_WEIGHTS_W8) return cli_usage(c->verb, "--group is for --weights w8, w4 and fp8");
        if (c->weights == DSX_WEIGHTS_FP8 && c->group != 128)
            return cli_usage(c->verb, "--group with --weights fp8 must be 128: squares of 128 x 128");
    }
    if (c->policy != NULL && cli_args_has(&c->args, "weights"))
        return cli_usage(c->verb, "give one of --weights and --policy");
    if (cli_args_has(&c->args, "kv-recent") && c->kv == DSX_KV_FLOAT)
        return cli_usage(c->verb, "--kv-recent is for --kv int8 and int4");
    if (c->verb_bit == EX_GENERATE && c->temperature <= 0 &&
        (c->top_k > 0 || cli_args_has(&c->args, "top-p") || cli_args_has(&c->args, "seed")))
        return cli_usage(c->verb, "--top-k, --top-p and --seed are for drawing tokens: give a --temperature");
    return check_limits(c);
}

int ex_parse(struct ex_config *c, int argc, char **argv) {
    int rc;

    c->n = c->verb_bit == EX_SCAN ? 1024 : 256;
    c->percentile = 99.9;
    c->level = DSTOK_TRACE_SENTENCE;
    c->args = (struct cli_args){&table, c, c->verb, c->verb_bit, NULL, 0};
    rc = cli_args_read(&c->args, argc, argv);
    if (c->n_to == 0) c->to[c->n_to++] = "w4";
    if (c->from == NULL) c->from = "file";
    return rc || c->help ? rc : check(c);
}

void ex_config_free(struct ex_config *c) {
    size_t i;

    for (i = 0; i < c->n_stops; i++) cli_buf_free(&c->stops[i]);
    free(c->stops);
    free(c->files);
    cli_args_free(&c->args);
}

void ex_options_help(struct cli_buf *out, unsigned verb_bit) {
    cli_args_help(&table, verb_bit, out);
}
