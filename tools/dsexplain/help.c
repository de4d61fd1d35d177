/* SPDX-License-Identifier: MIT */
/* Help texts of dsexplain. */
#include "dsexplain.h"

static const char general[] =
    "dsexplain - run a language model on texts, and look at what it does\n"
    "\n"
    "usage: dsexplain VERB MODEL [options]\n"
    "\n"
    "  run       which parts of texts an answer rests on, and how far to trust that\n"
    "  info      what a model is, and what it needs\n"
    "  generate  go on with a text\n"
    "  ppl       how well a model foretells a text\n"
    "  logprobs  how likely each token of a text is\n"
    "  plan      memory and time for long texts, before any is taken\n"
    "  convert   tensors under the names of another family\n"
    "  scan      which maps of a model bear rounding\n"
    "  diff      what is different between two reports of run\n"
    "  fit-at2   weights of heads for run --method at2\n"
    "  selftest  explanations of models set by hand, where the truth is known\n"
    "\n"
    "  dsexplain help VERB    options and examples of a verb\n"
    "  dsexplain --version\n"
    "\n"
    "MODEL is a .gguf file, a folder with config.json and .safetensors files, a .bin file of\n"
    "llama2.c, or the name of a folder below ~/.local/share/dstok/model (XDG_DATA_HOME), which\n"
    "tools/get-model, a script of the source tree, fills.\n"
    "\n"
    "examples:\n"
    "  dsexplain run smollm2 -f notes.txt -q 'Where is the spare key?'\n"
    "  dsexplain info smollm2\n"
    "  dsexplain generate smollm2 -p 'Why is the sky blue?'\n"
    "  dsexplain ppl smollm2 README.md\n"
    "  dsexplain plan smollm2 --context 128K --gpu h200\n"
    "\n"
    "exit codes: 0 done, 1 runtime or input/output error, 2 wrong use, 3 some items passed over,\n"
    "4 a self-test that failed, 130 interrupted\n";

static const char info_text[] =
    "usage: dsexplain info MODEL [options]\n"
    "\n"
    "Opens a model and says what it is: its architecture and sizes, what its weights and a\n"
    "token's keys and values take in memory, its vocabulary, and what is unusual about it.\n";

static const char info_examples[] = "  dsexplain info model.gguf\n"
                                    "  dsexplain info --json --weights w8 model/\n";

static const char generate_text[] =
    "usage: dsexplain generate MODEL -p TEXT|-f FILE [options]\n"
    "\n"
    "Writes the text that the model goes on with, token by token, until it ends its answer, a\n"
    "stop string, or -n tokens. A prompt for a model with a chat template is put into it\n"
    "(ChatML, Llama 3 and DeepSeek are known); control tokens in the prompt stay text.\n"
    "Without --temperature the likeliest token is taken each time. --json prints one object at\n"
    "the end, whose stop is eos, string, tokens or context:\n"
    "\n"
    "  {\"prompt_tokens\":...,\"ids\":[...],\"text\":\"...\",\"stop\":\"eos\"}\n";

static const char generate_examples[] =
    "  dsexplain generate smollm2 -p 'Why is the sky blue?'\n"
    "  dsexplain generate smollm2 --chat off -p 'Once upon a time' -n 64 -t 0.8 --seed 7\n"
    "  dsexplain generate stories260K.bin -v tok512.model -p 'Once upon a time'\n"
    "  dsexplain generate model.gguf -f prompt.txt --stop '\\n\\n' --json\n";

static const char ppl_text[] =
    "usage: dsexplain ppl MODEL FILE|- [options]\n"
    "\n"
    "Reads a text and says how well the model foretells it: the sum of -log p of each token\n"
    "given all before it (nll), and the perplexity, exp(nll / tokens). The first token counts\n"
    "only where a start token stands before it. A text longer than --context is read in windows\n"
    "of that length; each begins with the later half of the one before, which is not counted\n"
    "again.\n";

static const char ppl_examples[] = "  dsexplain ppl smollm2 README.md\n"
                                   "  dsexplain ppl --json --context 1K model.gguf - <book.txt\n";

static const char logprobs_text[] =
    "usage: dsexplain logprobs MODEL --ids FILE|-f FILE [options]\n"
    "\n"
    "Prints for each token of a text, or of a list of ids, the log-probability that the model\n"
    "gives it after all tokens before it; the first has none. --top adds the likeliest tokens\n"
    "of each place, and of the place behind the last token (\"next\"). With --json:\n"
    "\n"
    "  {\"positions\":[{\"id\":...,\"logprob\":null|...,\"top\":[[id,logprob],...]},...]}\n";

static const char logprobs_examples[] =
    "  dsexplain logprobs smollm2 -f README.md\n"
    "  echo '504 3575 282 4649 314' | dsexplain logprobs smollm2 --ids - --json --top 5\n";

static const char plan_text[] =
    "usage: dsexplain plan MODEL [options]\n"
    "\n"
    "Says what memory a model takes for texts of --context tokens, for each way to keep its\n"
    "weights and the keys and values of the text; only the heads of its files are read. With\n"
    "--gpu also what a GPU would take at best, for several texts at once: times are rooflines,\n"
    "the greater of memory traffic and arithmetic at the maker's nominal rates. A star marks\n"
    "choices that no other one beats in memory, latency and throughput, rounding aside.\n";

static const char plan_examples[] = "  dsexplain plan smollm2 --context 128K\n"
                                    "  dsexplain plan model/ --context 64K --gpu h200 --max-memory 80G\n";

static const char convert_text[] =
    "usage: dsexplain convert FILE.safetensors --names llama|qwen [options]\n"
    "\n"
    "Writes a .safetensors file with the tensors of another one under the names of another\n"
    "family, or lists both names of each. Llama, Qwen2 and Qwen3 share their names; the first\n"
    "Qwen had its own, and queries, keys and values in one tensor, which is split or joined.\n"
    "Numbers are copied as they are. What has no name in the other family is an error.\n";

static const char convert_examples[] =
    "  dsexplain convert qwen.safetensors --names llama\n"
    "  dsexplain convert qwen.safetensors --names llama -o model.safetensors\n";

static const char scan_text[] =
    "usage: dsexplain scan MODEL -f TEXT [options]\n"
    "\n"
    "Measures what rounding does to a model: the KL divergence of the next token's distribution\n"
    "from the model's own, and the change of -log p, means over the tokens of a text. Each layer,\n"
    "or with --ops each kind of its maps, is rounded alone, and restored alone where all others\n"
    "are rounded; the list is in order of the KL that a byte saves. -o writes a policy that meets\n"
    "a target, for --policy; it is measured again as a whole. --whole compares formats for all\n"
    "maps at once, or measures the one of --policy. Norms, embeddings and the head stay.\n";

static const char scan_examples[] =
    "  dsexplain scan smollm2 -f README.md\n"
    "  dsexplain scan smollm2 -f README.md --from w8 --max-kl 0.02 -o policy.json\n"
    "  dsexplain scan smollm2 -f README.md --whole --to w8 --to w4g32 --to w8a8 --json\n"
    "  dsexplain scan smollm2 -f README.md --policy policy.json\n";

static const char run_text[] =
    "usage: dsexplain run MODEL [-f FILE...] [-q TEXT] [options]\n"
    "\n"
    "Lets the model answer a question about texts, and says which parts of the texts the answer\n"
    "rests on: by token, word, sentence, paragraph or file, with the bytes, lines and columns of\n"
    "the files. The answer is the model's own, or what --target and --prefix give. Scores are\n"
    "in nats; with everything else that the answer rests on (the question, the answer's own\n"
    "words, biases) they add up to what is explained. --verify takes sentences out and says how\n"
    "well the scores foretold what the model then does. --format json is dsexplain/1, described\n"
    "by docs/explain.schema.json; jsonl is the same in lines, and after an interrupt its last\n"
    "line says that it is partial. docs/explain.md explains methods and reports.\n"
    "\n"
    "With --items each line of a file is a question, {\"id\", \"context\" or \"sources\",\n"
    "\"question\", \"prefix\", \"answer\", \"foil\", \"prompt\"}, and each line of the output\n"
    "{\"id\":...,\"report\":{...}}.\n";

static const char run_examples[] =
    "  dsexplain run smollm2 -f notes.txt -q 'Where is the spare key?'\n"
    "  dsexplain run smollm2 -f a.txt -f b.txt.gz -q 'Who pays?' --verify 32 --format html -o who.html\n"
    "  dsexplain run smollm2 -f a.txt -q 'Which box?' --prefix 'It is in the' --target ' blue' --foil ' "
    "red'\n"
    "  dsexplain run smollm2 -f a.txt -q 'Why?' --each-sentence --level word --format grep\n"
    "  dsexplain run smollm2 -f log.txt -q 'What failed?' --dry-run\n"
    "  dsexplain run smollm2 --items questions.jsonl -o reports.jsonl\n";

static const char diff_text[] =
    "usage: dsexplain diff A.json B.json [options]\n"
    "\n"
    "Compares two reports of dsexplain run --format json about the same sources: of other methods,\n"
    "models, questions or answers. It says first whether the answers differ, then for each target\n"
    "how far the scores of spans agree (correlation of scores and of ranks), where their sums\n"
    "differ, and which spans changed most: by score, or by rank where the scores are of different\n"
    "kinds (nats and attention). Sources are told by their sha256; reports of others are refused.\n";

static const char diff_examples[] =
    "  dsexplain run smollm2 -f a.txt -q 'Who pays?' --format json -o rows.json\n"
    "  dsexplain run smollm2 -f a.txt -q 'Who pays?' --method loo --format json -o loo.json\n"
    "  dsexplain diff rows.json loo.json\n"
    "  dsexplain diff --json --top 3 rows.json loo.json\n";

static const char fit_text[] =
    "usage: dsexplain fit-at2 MODEL --items FILE -o FILE [options]\n"
    "\n"
    "Learns for run --method at2 which heads of a model look at what its answers rest on. Of each\n"
    "question, as for run --items, sentences are taken out at random, and heads are weighted so\n"
    "that the attention they pay to what is left goes along with how likely the answer stays.\n"
    "The weights are for this model alone; a few dozen questions like those to be asked later\n"
    "are a start.\n";

static const char fit_examples[] =
    "  dsexplain fit-at2 smollm2 --items questions.jsonl -o smollm2.at2\n"
    "  dsexplain run smollm2 -f notes.txt -q 'Who?' --method at2 --weights-at2 smollm2.at2\n";

static const char selftest_text[] =
    "usage: dsexplain selftest [options]\n"
    "\n"
    "Explains models whose weights are set by hand, so that what an answer rests on is known, and\n"
    "checks what each method says: the share of its scores on the right tokens, and whether its\n"
    "best score is there. Methods that fail by their nature are seen to fail: attention where a\n"
    "token without a value draws it, leave-one-out where the fact stands there twice. Scores must\n"
    "add up, bytes must be those of the text as it was given, and memory must grow in line with\n"
    "its length. docs/explain.md lists the tests. Exit code 4: something is not as stated.\n";

static const char selftest_examples[] = "  dsexplain selftest\n"
                                        "  dsexplain selftest --backend cpu --long\n"
                                        "  dsexplain selftest --json\n";

void ex_help(struct cli_buf *out, unsigned verb_bit) {
    static const struct cli_help_text verbs[] = {
        {EX_INFO, info_text, info_examples},
        {EX_GENERATE, generate_text, generate_examples},
        {EX_PPL, ppl_text, ppl_examples},
        {EX_LOGPROBS, logprobs_text, logprobs_examples},
        {EX_PLAN, plan_text, plan_examples},
        {EX_CONVERT, convert_text, convert_examples},
        {EX_SCAN, scan_text, scan_examples},
        {EX_RUN, run_text, run_examples},
        {EX_FIT, fit_text, fit_examples},
        {EX_DIFF, diff_text, diff_examples},
        {EX_SELFTEST, selftest_text, selftest_examples},
    };

    if (verb_bit == 0) cli_buf_text(out, general);
    cli_put_help(out, verbs, sizeof verbs / sizeof *verbs, verb_bit, ex_options_help);
}
