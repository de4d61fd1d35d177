/* SPDX-License-Identifier: MIT */
/* Command-line options: one table for all verbs, and its reader. */
#include "verbs.h"

#include <dstok/tokenizer.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    FLAG = CLI_OPTION_FLAG,
    TEXT = CLI_OPTION_TEXT,
    NUMBER = CLI_OPTION_NUMBER,
    CHOICE = CLI_OPTION_CHOICE,
    CALL = CLI_OPTION_CALL
};

static const char *add_vocab(void *config, const char *value) {
    struct cli_config *c = config;
    if (c->n_vocabs == 1 && c->verb_bit != CLI_INSPECT) return "takes one vocabulary";
    c->vocabs = cli_realloc(c->vocabs, (c->n_vocabs + 1) * sizeof *c->vocabs);
    c->vocabs[c->n_vocabs++] = value;
    return NULL;
}

static void add_input(struct cli_config *c, const char *name, int is_words) {
    struct cli_input *in;

    c->inputs = cli_realloc(c->inputs, (c->n_inputs + 1) * sizeof *c->inputs);
    in = &c->inputs[c->n_inputs++];
    in->name = name;
    in->weight = c->weight;
    in->weight_unit = c->weight_unit;
    in->is_words = is_words;
    c->weight_waits = 0;
}

static const char *add_words(void *config, const char *value) {
    struct cli_config *c = config;
    add_input(c, value, 1);
    return NULL;
}

/* A decimal fraction as a whole number over a power of ten: 0.2 is 2 / 10. */
static const char *set_weight(void *config, const char *value) {
    struct cli_config *c = config;
    uint64_t number = 0, unit = 1;
    int after_dot = 0, n_digits = 0;
    const char *p;

    for (p = value; *p; p++) {
        if (*p == '.' && !after_dot) {
            after_dot = 1;
        } else if (*p >= '0' && *p <= '9' && n_digits < 9) {
            number = number * 10 + (uint64_t)(*p - '0');
            unit *= after_dot ? 10 : 1;
            n_digits++;
        } else {
            return "is not a number such as 2 or 0.25 (nine digits at most)";
        }
    }
    if (number == 0) return "must be above 0";
    if (c->weight_waits) return "the --weight before it has no input; a weight is for the inputs after it";
    c->weight_waits = 1;
    c->weight = number;
    c->weight_unit = unit;
    return NULL;
}

static const char *set_separator(void *config, const char *value) {
    struct cli_config *c = config;
    const char *why = cli_unescape(&c->separator, value);

    return why == NULL && c->separator.n == 0 ? "must not be empty" : why;
}

static const char *set_before(void *config, const char *value) {
    struct cli_config *c = config;
    return cli_unescape(&c->before, value);
}

static const char *set_between(void *config, const char *value) {
    struct cli_config *c = config;
    return cli_unescape(&c->between, value);
}

static const char *set_after(void *config, const char *value) {
    struct cli_config *c = config;
    return cli_unescape(&c->after, value);
}

static const char *set_max_errors(void *config, const char *value) {
    struct cli_config *c = config;
    c->has_max_errors = 1;
    return cli_number(value, strlen(value), &c->max_errors);
}

static const char *set_max_tokens(void *config, const char *value) {
    struct cli_config *c = config;
    const char *why = cli_token_count(value, strlen(value), &c->max_tokens);

    return why != NULL ? why : c->max_tokens > 0 ? NULL : "must be at least 16";
}

/* N or Nt in tokens, Ns in sentences. */
static const char *set_overlap(void *config, const char *value) {
    struct cli_config *c = config;
    size_t n = strlen(value);
    int in_sentences = n > 0 && value[n - 1] == 's',
        has_unit = in_sentences || (n > 0 && value[n - 1] == 't');

    c->overlap = c->overlap_sentences = 0;
    return cli_token_count(value, has_unit ? n - 1 : n, in_sentences ? &c->overlap_sentences : &c->overlap);
}

#define AT(field) offsetof(struct cli_config, field)

static const struct cli_option options[] = {
    {"vocab", 'v', CLI_ALL & ~CLI_TRAIN & ~CLI_INSPECT, CALL, 0, "PATH|NAME",
     "vocabulary: a file, a folder, or a name; default is built in", add_vocab},
    {"vocab", 'v', CLI_INSPECT, CALL, 0, "PATH|NAME", "vocabulary; may be repeated with --fertility",
     add_vocab},
    {"input-format", 0, CLI_TEXTS | CLI_TRAIN, CHOICE, AT(input_format), "text|lines|jsonl",
     "what a record is: a file, a line, or a string in a line of JSON (default text; lines needs least "
     "memory)",
     NULL},
    {"json-keys", 0, CLI_TEXTS | CLI_TRAIN, TEXT, AT(json_keys), "KEY[,KEY]",
     "jsonl: keys of the text; a.b for inner objects (default text)", NULL},
    {"doc-separator", 0, CLI_TEXTS | CLI_TRAIN, CALL, 0, "STRING",
     "text: cut a file into records at STRING; knows \\n \\t \\0 \\xHH", set_separator},
    {"special", 0, CLI_TEXTS | CLI_BENCH, TEXT, AT(special), "MODE|LIST",
     "control tokens in the text: safe, text, parse, plain, error, or those named, by commas (default safe)",
     NULL},
    {"add-special", 0, CLI_TEXTS, FLAG, AT(add_special), NULL,
     "put the vocabulary's own start and end tokens around", NULL},
    {"invalid", 0, CLI_TEXTS | CLI_BENCH, CHOICE, AT(invalid), "error|replace|raw",
     "bytes that are not UTF-8: refuse, U+FFFD, or as they are (default error)", NULL},
    {"invalid", 0, CLI_TRAIN, CHOICE, AT(invalid), "error|replace",
     "bytes of texts that are not UTF-8: refuse, or U+FFFD (default error)", NULL},
    {"strict", 0, CLI_TEXTS, FLAG, AT(strict), NULL, "a character without a token is an error", NULL},
    {"on-error", 0, CLI_TEXTS, CHOICE, AT(on_error), "fail|skip|replace",
     "a bad record: stop, leave it out, or mend it (default fail)", NULL},
    {"on-error", 0, CLI_TRAIN, CHOICE, AT(on_error), "fail|skip",
     "a bad record or line of --words: stop, or leave it out (default fail)", NULL},
    {"max-errors", 0, CLI_TEXTS | CLI_TRAIN, CALL, 0, "N",
     "with --on-error: stop when more than N records are bad", set_max_errors},
    {"reject", 0, CLI_TEXTS | CLI_TRAIN, TEXT, AT(reject), "FILE",
     "with --on-error: log bad records there as lines of JSON", NULL},
    {"empty", 0, CLI_TEXTS, CHOICE, AT(drop_empty), "keep|drop",
     "records without text: answer them, or leave them out (default keep)", NULL},
    {"max-record", 0, CLI_EVERY & ~CLI_INSPECT, NUMBER, AT(max_record), "BYTES",
     "longest record (default and limit 2147483647)", NULL},
    {"offsets", 0, CLI_ENCODE, CHOICE, AT(offsets), "byte|char|utf16|none|hf",
     "with --json: unit of the spans (default byte); hf: as Hugging Face gives them, in code points", NULL},
    {"pieces", 0, CLI_ENCODE, FLAG, AT(pieces), NULL,
     "with --json the text of each token; else show the text cut up", NULL},
    {"max-tokens", 0, CLI_CHUNK, CALL, 0, "N", "tokens of a chunk at most; knows 64K, 128K (default 64K)",
     set_max_tokens},
    {"min-tokens", 0, CLI_CHUNK, NUMBER, AT(min_tokens), "N",
     "tokens of a chunk at least, where borders allow it", NULL},
    {"border", 0, CLI_CHUNK, CHOICE, AT(border), "sentence|paragraph|line|token",
     "where chunks end (default sentence)", NULL},
    {"border-tokens", 0, CLI_CHUNK, CHOICE, AT(border_tokens), "slice|retokenize",
     "ids of a chunk: those it has in the whole text, or those of its own text (default slice)", NULL},
    {"mode", 0, CLI_CHUNK, CHOICE, AT(chunk_mode), "auto|prose|markdown|code",
     "how borders are found (default auto: as the text looks)", NULL},
    {"overlap", 0, CLI_CHUNK, CALL, 0, "N[t|s]",
     "begin a chunk with up to N tokens, or with N sentences, of the one before", set_overlap},
    {"balance", 0, CLI_CHUNK, FLAG, AT(balance), NULL, "make the last two chunks of a text about equal",
     NULL},
    {"no-text", 0, CLI_CHUNK, FLAG, AT(no_text), NULL, "without the text of the chunks", NULL},
    {"ids", 0, CLI_CHUNK, FLAG, AT(show_ids), NULL, "with the ids of the chunks", NULL},
    {"input-format", 0, CLI_DECODE, CHOICE, AT(id_format), "ids|jsonl",
     "lines of numbers, or of JSON: an array, or an object with ids (default ids)", NULL},
    {"mode", 0, CLI_DECODE, CHOICE, AT(mode), "lossless|strict|replace|raw",
     "exact bytes; only UTF-8; mend to UTF-8; exact, without unknown ids (default lossless)", NULL},
    {"skip-special", 0, CLI_DECODE, FLAG, AT(skip_special), NULL, "special tokens give nothing", NULL},
    {"separator", 0, CLI_DECODE, CALL, 0, "STRING", "write STRING after each record; knows \\n \\t \\0 \\xHH",
     set_separator},
    {"align", 0, CLI_INSPECT, TEXT, AT(align), "TEXT",
     "the tokens of TEXT under its characters, and how many a character and a word take", NULL},
    {"align-file", 0, CLI_INSPECT, TEXT, AT(align_file), "FILE|-", "--align of a file's text", NULL},
    {"special", 0, CLI_INSPECT, TEXT, AT(special), "MODE|LIST", "with --align or --align-file: as in encode",
     NULL},
    {"add-special", 0, CLI_INSPECT, FLAG, AT(add_special), NULL, "with --align or --align-file: as in encode",
     NULL},
    {"invalid", 0, CLI_INSPECT, CHOICE, AT(invalid), "error|replace|raw", "with --align-file: as in encode",
     NULL},
    {"token", 0, CLI_INSPECT, TEXT, AT(token), "ID|TEXT", "one token; =TEXT when the text is a number", NULL},
    {"fertility", 0, CLI_INSPECT, FLAG, AT(fertility), NULL,
     "bytes per token of the inputs, for each vocabulary", NULL},
    {"vocab-size", 0, CLI_TRAIN, NUMBER, AT(vocab_size), "N", "ids in all: special tokens, 256 bytes, merges",
     NULL},
    {"output", 'o', CLI_TRAIN, TEXT, AT(output), "FILE", "the tokenizer.json to write; - is standard output",
     NULL},
    {"output", 'o', CLI_COMPILE, TEXT, AT(output), "FILE", "the .dstok file to write; - is standard output",
     NULL},
    {"force", 0, CLI_COMPILE, FLAG, AT(force), NULL, "replace a file that is no .dstok file", NULL},
    {"min-frequency", 0, CLI_TRAIN, NUMBER, AT(min_frequency), "N",
     "do not merge pairs that are rarer (default 2)", NULL},
    {"max-token-length", 0, CLI_TRAIN, NUMBER, AT(max_token_length), "N",
     "tokens stay below N bytes (default no limit)", NULL},
    {"special", 0, CLI_TRAIN, TEXT, AT(special), "LIST", "special tokens, by commas; they get the first ids",
     NULL},
    {"order", 0, CLI_TRAIN, CHOICE, AT(order), "hf|byte",
     "ids of the bytes: as Hugging Face, or 00 to FF (default hf)", NULL},
    {"words", 0, CLI_TRAIN, CALL, 0, "FILE", "an input of lines `pretoken TAB count`", add_words},
    {"weight", 0, CLI_TRAIN, CALL, 0, "W", "the inputs after it count W times (fractions for --words)",
     set_weight},
    {"pattern", 0, CLI_ALL & ~CLI_TRAIN, TEXT, AT(pattern), "NAME|REGEX",
     "how text is cut, for .tiktoken files that do not tell", NULL},
    {"pattern", 0, CLI_TRAIN, TEXT, AT(pattern), "NAME|REGEX", "how text is cut (default o200k_base)", NULL},
    {"no-scanner", 0, (CLI_EVERY & ~CLI_TRAIN) | CLI_BENCH, FLAG, AT(no_scanner), NULL,
     "run the pattern as a regular expression; equal ids", NULL},
    {"recursive", 0, CLI_EVERY | CLI_BENCH, FLAG, AT(recursive), NULL, "take the files of folders, sorted",
     NULL},
    {"no-decompress", 0, CLI_EVERY | CLI_BENCH, FLAG, AT(no_decompress), NULL, "take packed data as it is",
     NULL},
    {"json", 0, (CLI_EVERY & ~CLI_TRAIN & ~CLI_CHUNK) | CLI_BENCH, FLAG, AT(json), NULL,
     "one JSON object a line", NULL},
    {"threads", 'j', CLI_TEXTS | CLI_DECODE, NUMBER, AT(threads), "N",
     "threads (default: all cores); the output is the same. They share records, and encode and count also "
     "a large one",
     NULL},
    {"threads", 'j', CLI_INSPECT, NUMBER, AT(threads), "N", "threads of --fertility (default: all cores)",
     NULL},
    {"threads", 'j', CLI_TRAIN | CLI_COMPILE, NUMBER, AT(threads), "N",
     "taken and without effect: this runs on one thread", NULL},
    {"threads", 'j', CLI_BENCH, NUMBER, AT(threads), "N",
     "threads that share the documents (default: all cores)", NULL},
    {"simd", 0, CLI_ENCODE | CLI_COUNT, CHOICE, AT(simd), "best|scalar|avx2|avx512|neon",
     "instructions to use (default best: what this machine has); the output is the same", NULL},
    {"tier", 0, CLI_BENCH, CHOICE, AT(tier), "best|every|scalar|avx2|avx512|neon",
     "instruction set (default best); every: one measurement for each that runs here", NULL},
    {"clock", 0, CLI_BENCH, CHOICE, AT(clock), "auto|cpu|wall",
     "CPU time of all threads, or time that passes (default: cpu for one thread, else wall)", NULL},
    {"budget", 0, CLI_BENCH, NUMBER, AT(budget), "MS",
     "time for the repeated passes of one figure (default 500)", NULL},
    {"no-stages", 0, CLI_BENCH, FLAG, AT(no_stages), NULL,
     "without stages, spans and encoding without a cache", NULL},
    {"scores", 0, CLI_TRACE, TEXT, AT(scores), "FILE|-",
     "a score for each token: a .npy file, a JSON array, or a number a line", NULL},
    {"rows", 0, CLI_TRACE, TEXT, AT(rows), "sum|mean|max|N",
     "scores in rows (heads): what to make of them, or which row (from 0)", NULL},
    {"pad", 0, CLI_TRACE, CHOICE, AT(pad), "none|left|right",
     "where padding stands in scores that are more than the tokens (default none: that is an error)", NULL},
    {"level", 0, CLI_TRACE, CHOICE, AT(level), "token|word|sentence|paragraph|source",
     "what the scores are summed over (default token)", NULL},
    {"by", 0, CLI_TRACE, CHOICE, AT(by), "sum|mean|max",
     "what counts for --threshold, --top, colours and grep (default sum)", NULL},
    {"threshold", 0, CLI_TRACE, TEXT, AT(threshold), "X", "only what has at least X (default: what is not 0)",
     NULL},
    {"top", 0, CLI_TRACE, NUMBER, AT(top), "K", "only the K largest", NULL},
    {"join", 0, CLI_TRACE, CHOICE, AT(join), "auto|on|off",
     "make one span of neighbours (default auto: tokens and words of a mask, or with --threshold)", NULL},
    {"format", 0, CLI_TRACE, CHOICE, AT(format), "ansi|json|grep",
     "the text in colours; an object a span and one of sums; or FILE:LINE:COLUMN: (default: ansi on a "
     "terminal, else grep)",
     NULL},
    {"before", 0, CLI_TRACE, CALL, 0, "TEXT", "template text before the first input; knows \\n \\t \\0 \\xHH",
     set_before},
    {"between", 0, CLI_TRACE, CALL, 0, "TEXT", "template text between two inputs", set_between},
    {"after", 0, CLI_TRACE, CALL, 0, "TEXT", "template text behind the last input", set_after},
    {"segments", 0, CLI_TRACE, TEXT, AT(segments), "FILE|-",
     "the prompt as lines of JSON, {\"role\":...,\"text\":...}, in place of inputs", NULL},
    {"special", 0, CLI_TRACE, TEXT, AT(special), "MODE|LIST",
     "control tokens in the inputs, as in encode (default safe); in template texts they count", NULL},
    {"add-special", 0, CLI_TRACE, FLAG, AT(add_special), NULL, "as in encode", NULL},
    {"invalid", 0, CLI_TRACE, CHOICE, AT(invalid), "error|replace|raw", "as in encode", NULL},
    {"no-scanner", 0, CLI_TRACE, FLAG, AT(no_scanner), NULL,
     "run the pattern as a regular expression; equal ids", NULL},
    {"recursive", 0, CLI_TRACE, FLAG, AT(recursive), NULL, "take the files of folders, sorted", NULL},
    {"no-decompress", 0, CLI_TRACE, FLAG, AT(no_decompress), NULL, "take packed data as it is", NULL},
    {"threads", 'j', CLI_TRACE, NUMBER, AT(threads), "N", "taken and without effect: this runs on one thread",
     NULL},
    {"quiet", 'q', CLI_ALL, FLAG, AT(is_quiet), NULL, "no notes on standard error", NULL},
    {"progress", 0, CLI_ALL & ~CLI_COMPILE & ~CLI_INSPECT & ~CLI_TRACE, CHOICE, AT(progress),
     "auto|plain|json|off", "progress on standard error (default auto: when it is a terminal)", NULL},
    {"progress", 0, CLI_INSPECT, CHOICE, AT(progress), "auto|plain|json|off",
     "progress of --fertility on standard error (default auto: when it is a terminal)", NULL},
    {"progress", 0, CLI_COMPILE | CLI_TRACE, CHOICE, AT(progress), "auto|plain|json|off",
     "taken and without effect", NULL},
    {"help", 'h', CLI_ALL, FLAG, AT(help), NULL, "this text", NULL},
};

/* Named in the contract, not built yet: a clear word instead of "unknown". */
static const char *const later[] = {
    "output-prefix", "format",     "dtype",      "shard-size",   "resume", "seed",
    "shuffle",       "append-eod", "max-memory", "pair-weights", "simd",
};

static void input(void *config, const char *name) {
    add_input(config, name, 0);
}

/* --pattern has names, which the library knows. */
static void more_help(const struct cli_option *option, struct cli_buf *text) {
    const char *name;
    size_t i;

    for (i = 0; strcmp(option->name, "pattern") == 0 && (name = dstok_pattern_name(i)) != NULL; i++)
        cli_buf_printf(text, "%s%s", i > 0 ? ", " : "; names: ", name);
}

static const struct cli_table table = {
    options,  sizeof options / sizeof *options, later, sizeof later / sizeof *later, CLI_ENCODE, input,
    more_help};

static void set_defaults(struct cli_config *c) {
    c->offsets = -1;
    c->json_keys = "text";
    c->special = NULL;
    c->max_record = INT32_MAX;
    c->weight = c->weight_unit = 1;
    c->budget = 500;
    c->format = 3; /* chosen by where it goes */
}

int cli_parse(struct cli_config *c, int argc, char **argv) {
    int rc;

    set_defaults(c);
    c->args = (struct cli_args){&table, c, c->verb, c->verb_bit, NULL, 0};
    rc = cli_args_read(&c->args, argc, argv);
    return rc || c->help ? rc : cli_check_options(c);
}

int cli_is_given(const struct cli_config *c, const char *name) {
    return cli_args_has(&c->args, name);
}

void cli_config_free(struct cli_config *c) {
    cli_buf_free(&c->separator);
    cli_buf_free(&c->before);
    cli_buf_free(&c->between);
    cli_buf_free(&c->after);
    free(c->vocabs);
    free(c->inputs);
    cli_args_free(&c->args);
}

void cli_options_help(struct cli_buf *out, unsigned verb_bit) {
    cli_args_help(&table, verb_bit, out);
}

int cli_vocab_load(const struct cli_config *c, const char *name, dstok_tokenizer **out) {
    return cli_vocab_open(name, c->pattern, c->no_scanner, out);
}
