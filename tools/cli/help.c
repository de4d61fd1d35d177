/* SPDX-License-Identifier: MIT */
/* Help texts. */
#include "verbs.h"

static const char general[] =
    "dstok - text to tokens and back, with the place of every token in the text\n"
    "\n"
    "usage: dstok VERB [options] [INPUT...]\n"
    "\n"
    "  encode    text to ids\n"
    "  decode    ids to bytes\n"
    "  count     tokens, bytes and characters of each input\n"
    "  chunk     texts cut into chunks of at most so many tokens, at ends of sentences\n"
    "  inspect   what a vocabulary holds; tokens under the characters of a text\n"
    "  train     make a vocabulary from texts\n"
    "  compile   any vocabulary as a .dstok file, which loads in milliseconds\n"
    "  trace     scores of tokens traced back to the text\n"
    "  bench     how fast a vocabulary works on a text\n"
    "\n"
    "  dstok help VERB    options and examples of a verb\n"
    "  dstok --version\n"
    "\n"
    "INPUT is a file, a folder (with --recursive) or - for standard input; none means\n"
    "standard input. Compressed input (.gz, .zst) is recognised by content.\n"
    "\n"
    "examples:\n"
    "  echo 'Hello, world' | dstok encode\n"
    "  echo 'Hello, world' | dstok encode | dstok decode\n"
    "  dstok count README.md\n"
    "  dstok inspect --align 'Hello, world'\n"
    "\n"
    "exit codes: 0 done, 1 runtime or input/output error, 2 wrong use, 3 done but some\n"
    "records were skipped, 130 interrupted\n";

static const char encode_text[] =
    "usage: dstok encode [options] [INPUT...]\n"
    "\n"
    "Turns text into ids: one line of ids for each record, or with --json one object:\n"
    "{\"ids\":[...],\"spans\":[[begin,end],...]}. Control tokens in the text stay text unless\n"
    "--special says otherwise.\n";

static const char encode_examples[] =
    "  echo 'Hello, world' | dstok encode\n"
    "  dstok encode --pieces README.md\n"
    "  echo '{\"id\":7,\"text\":\"Hi\"}' | dstok encode --input-format jsonl --json\n"
    "  dstok encode -v tokenizer.json --add-special --special parse prompt.txt\n";

static const char decode_text[] =
    "usage: dstok decode [options] [INPUT...]\n"
    "\n"
    "Turns lines of ids into bytes, written one after the other with nothing between\n"
    "(see --separator), or with --json one object a line: {\"text\":\"...\"}. Bytes that are\n"
    "not UTF-8 are added in full as \"hex\".\n";

static const char decode_examples[] =
    "  dstok encode README.md | dstok decode | cmp - README.md\n"
    "  dstok encode --input-format lines README.md | dstok decode --separator '\\n'\n";

static const char count_text[] =
    "usage: dstok count [options] [INPUT...]\n"
    "\n"
    "Prints for each input: tokens TAB bytes TAB characters TAB name; after more than one\n"
    "input a line of totals. Lines and jsonl are counted without holding the input.\n";

static const char count_examples[] = "  dstok count README.md docs/cli.md\n"
                                     "  dstok count --recursive --json docs\n"
                                     "  printf 'one\\ntwo\\n' | dstok count --input-format lines -\n";

static const char chunk_text[] =
    "usage: dstok chunk [--max-tokens N] [options] [INPUT...]\n"
    "\n"
    "Cuts each record into chunks of at most N tokens, at the ends of sentences, lines or\n"
    "paragraphs, and prints an object for each: {\"doc\": 0, \"chunk\": 0, \"byte\":\n"
    "[begin, end], \"char\": [...], \"token\": [...], \"tokens\": N, \"border\":\n"
    "\"sentence\", \"forced\": false, \"text\": \"...\"}.\n"
    "Without overlap the chunks are the text, byte for byte. \"forced\" tells of a chunk that\n"
    "had no such end within N tokens. A text of any size is read in parts, as chunks are\n"
    "written.\n";

static const char chunk_examples[] =
    "  dstok chunk --max-tokens 64K book.txt\n"
    "  dstok chunk --max-tokens 512 --overlap 2s --no-text README.md\n"
    "  dstok chunk --max-tokens 128K --input-format jsonl --ids --no-text docs.jsonl\n"
    "  dstok chunk --max-tokens 1000 --border paragraph --balance README.md\n";

static const char inspect_text[] =
    "usage: dstok inspect [options] [FILE...]\n"
    "\n"
    "Describes a vocabulary: ids, how it cuts text, control tokens, warnings.\n";

static const char inspect_examples[] = "  dstok inspect\n"
                                       "  dstok inspect --align 'Hello, world'\n"
                                       "  dstok inspect --align-file README.md\n"
                                       "  dstok inspect --token 300\n"
                                       "  dstok inspect --fertility README.md docs/cli.md\n";

static const char train_text[] =
    "usage: dstok train --vocab-size N -o tokenizer.json [options] [INPUT...]\n"
    "\n"
    "Learns a byte-level BPE vocabulary. The output appears whole or not at all.\n";

static const char train_examples[] =
    "  dstok train --vocab-size 1000 -o small.json README.md\n"
    "  dstok train --vocab-size 32768 --special '<|end|>' -o v.json en.txt --weight 2 zh.txt\n"
    "  dstok train --vocab-size 32768 -o v.json en.txt --weight 0.2 --words words.tsv\n";

static const char compile_text[] =
    "usage: dstok compile [-v PATH|NAME] -o FILE.dstok\n"
    "       dstok compile PATH|NAME FILE.dstok\n"
    "\n"
    "Writes any vocabulary as a .dstok file: it is mapped, not read, gives the same ids and\n"
    "serves wherever a vocabulary does. The output appears whole or not at all.\n";

static const char compile_examples[] = "  dstok compile -o default.dstok\n"
                                       "  dstok compile -v tokenizer.json -o tokenizer.dstok\n"
                                       "  dstok encode -v default.dstok README.md\n";

static const char bench_text[] =
    "usage: dstok bench [options] [INPUT...]\n"
    "\n"
    "Measures each input, cut into documents of 16 KB, in a process of its own: the first\n"
    "pass over them, its second half, the same documents again, other work on the same text,\n"
    "and encoding up to each of its stages. Speeds are in 10^6 bytes of text a second.\n"
    "--json prints an object an input.\n";

static const char bench_examples[] = "  dstok bench -j 1 README.md\n"
                                     "  dstok bench --json -v tokenizer.json --threads 2 en.txt zh.txt\n"
                                     "  dstok bench --tier every README.md\n";

static const char trace_text[] =
    "usage: dstok trace --scores FILE [options] [INPUT...]\n"
    "\n"
    "Takes an attention mask or any scores, one for each token of the inputs in their order,\n"
    "and shows which text they stand for: spans with their places in the files, and the sum\n"
    "of their scores. Template text and padding count in the sums, and are not shown.\n";

static const char trace_examples[] =
    "  dstok trace --scores mask.npy prompt.txt\n"
    "  dstok trace --scores attention.npy --rows mean --level sentence --top 5 a.txt b.txt\n"
    "  dstok trace --scores s.json --before 'Context:\\n\\n' a.txt b.txt\n";

void cli_help(struct cli_buf *out, unsigned verb_bit) {
    static const struct cli_help_text verbs[] = {
        {CLI_ENCODE, encode_text, encode_examples}, {CLI_DECODE, decode_text, decode_examples},
        {CLI_COUNT, count_text, count_examples},    {CLI_INSPECT, inspect_text, inspect_examples},
        {CLI_TRAIN, train_text, train_examples},    {CLI_COMPILE, compile_text, compile_examples},
        {CLI_BENCH, bench_text, bench_examples},    {CLI_TRACE, trace_text, trace_examples},
        {CLI_CHUNK, chunk_text, chunk_examples},
    };

    if (verb_bit == 0) cli_buf_text(out, general);
    cli_put_help(out, verbs, sizeof verbs / sizeof *verbs, verb_bit, cli_options_help);
}
