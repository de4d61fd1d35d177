/* SPDX-License-Identifier: MIT */
/* The GGUF loader: what small files become, what is refused, and a real file against its tokenizer.json. */
#include "gguf_file.h"

/* ---- loading ---- */

typedef struct loaded {
    dstok__spec s;
    dstok_error err;
    dstok_status status;
} loaded;

/* From memory that ends with the file; frees the file. */
static void load(loaded *l, file *f) {
    finish(f);
    char *exact = malloc(f->n);
    if (exact == NULL) exit(1);
    memcpy(exact, f->data, f->n);
    l->err = (dstok_error){0};
    dstok__spec_init(&l->s, &dstok__default_alloc);
    l->status = dstok__load_gguf(&l->s, exact, f->n, &l->err);
    free(exact);
    if (l->status != DSTOK_OK) {
        CHECK_EQ(l->err.status, l->status);
        CHECK(l->err.offset <= f->n || l->err.offset == DSTOK_NO_OFFSET);
    }
    free(f->data);
}

/* Loads, and looks for a refusal that says so. */
static void refuse(file *f, dstok_status status, const char *says) {
    loaded l;
    load(&l, f);
    CHECK_EQ(l.status, status);
    if (strstr(l.err.text, says) == NULL) {
        fprintf(stderr, "\"%s\" does not say \"%s\"\n", l.err.text, says);
        CHECK(false);
    }
    dstok__spec_free(&l.s);
}

static bool is(const char *bytes, size_t n, const char *text) {
    return n == strlen(text) && memcmp(bytes, text, n) == 0;
}

#define CHECK_TOKEN(s, i, want_text, want_bytes)                                                             \
    CHECK(is((s)->tokens[i].text, (s)->tokens[i].n, want_text) &&                                            \
          is((s)->tokens[i].bytes, (s)->tokens[i].bytes_n, want_bytes) && (s)->tokens[i].id == (i))

/* ---- gpt2 ---- */

static void test_bpe(void) {
    loaded l;
    file f = bpe_file("qwen2");
    add_bool(&f, "tokenizer.ggml.add_bos_token", true);
    add_bool(&f, "tokenizer.ggml.add_eos_token", true);
    load(&l, &f);
    const dstok__spec *s = &l.s;
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_STR(s->format, "GGUF");
    CHECK_EQ(s->model, DSTOK__MODEL_MERGES);
    CHECK_EQ(s->n_tokens, 10);
    CHECK_TOKEN(s, 0, "a", "a");
    CHECK_TOKEN(s, 4, " a", " a");
    CHECK_TOKEN(s, 5, "<|x|>", "<|x|>");
    CHECK_TOKEN(s, 7, "[EMPTY_7]", "[EMPTY_7]");
    CHECK_TOKEN(s, 8, "é\u4E00", "é\u4E00");
    for (size_t i = 0; i < 10; i++) CHECK_EQ(s->tokens[i].literal, i > 4);
    CHECK_EQ(s->n_merges, 2); /* of equal pairs the first one counts */
    CHECK_EQ(s->merges[0].product, 3);
    CHECK(s->merges[1].left == 2 && s->merges[1].right == 0 && s->merges[1].product == 4);
    CHECK(util_warning(s, "merge 2, \"a b\", stands twice") != NULL);
    CHECK_EQ(s->n_added, 2);
    const dstok__added *x = util_added(s, "<|x|>"), *y = util_added(s, "<y>");
    CHECK(x != NULL && x->special && x->id == 5 && x->is_named && !x->normalized);
    CHECK(y != NULL && !y->special && y->id == 6 && y->is_named);
    CHECK(s->n_norms == 1 && s->norms[0].kind == DSTOK__NORM_NFC);
    CHECK(s->n_steps == 1 && dstok__family_find(s->steps, 1) != NULL);
    CHECK_STR(dstok__family_find(s->steps, 1)->name, "qwen2");
    CHECK(s->n_decs == 1 && s->decs[0].kind == DSTOK__DEC_BYTE_LEVEL);
    CHECK(util_warning(s, "\"qwen2\", with NFC as in") != NULL);
    CHECK_EQ(s->n_template, 3);
    CHECK(s->template_items[0].id == 5 && s->template_items[1].is_text && s->template_items[2].id == 6);
    CHECK_EQ(s->unk_id, DSTOK__NO_ID);
    dstok__spec_free(&l.s);
}

/* What a token decodes to by the byte-level rule may differ from what is looked for. */
static void test_added_bytes(void) {
    static const char *const tokens[] = {"a", "<é>", NULL}, *const none[] = {NULL};
    static const int types[] = {NORMAL, CONTROL};
    loaded l;
    file f = start();
    add_bpe_head(&f, "gpt-2");
    add_strings(&f, "tokenizer.ggml.tokens", tokens);
    add_types(&f, types, 2);
    add_strings(&f, "tokenizer.ggml.merges", none);
    load(&l, &f);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_TOKEN(&l.s, 1, "<é>", "<\xE9>");
    CHECK(l.s.n_added == 1 && is(l.s.added[0].content, l.s.added[0].n, "<é>"));
    CHECK(l.s.added[0].bytes != NULL && is(l.s.added[0].bytes, l.s.added[0].bytes_n, "<\xE9>"));
    CHECK(!l.s.added[0].is_named && l.s.n_template == 0);
    dstok__spec_free(&l.s);
}

/* The first blank of a merge may be a part of its left token. */
static void test_blank_in_merge(void) {
    static const char *const tokens[] = {" ", "b", " b", NULL}, *const merges[] = {"  b", NULL};
    loaded l;
    file f = start();
    add_bpe_head(&f, "gpt-2");
    add_strings(&f, "tokenizer.ggml.tokens", tokens);
    add_strings(&f, "tokenizer.ggml.merges", merges);
    load(&l, &f);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(l.s.n_merges == 1 && l.s.merges[0].left == 0 && l.s.merges[0].right == 1 &&
          l.s.merges[0].product == 2);
    dstok__spec_free(&l.s);
}

static const struct name_case {
    const char *name, *family; /* NULL: PCRE2 */
    size_t n_steps;
    enum { NONE, NFC, NFKC } norm;
    bool whole;
} names[] = {
    {"gpt-2", "gpt2", 1, NONE, false},
    {"phi-2", "gpt2", 1, NONE, false},
    {"mpt", "gpt2", 1, NFC, false},
    {"olmo", "gpt2", 1, NFC, false},
    {"modern-bert", "gpt2", 1, NFC, false},
    {"llama-bpe", "cl100k", 1, NONE, true},
    {"llama3", "cl100k", 1, NONE, true},
    {"llama-v3", "cl100k", 1, NONE, true},
    {"smaug-bpe", "cl100k", 1, NONE, true},
    {"dbrx", "cl100k", 1, NONE, false},
    {"chatglm-bpe", "cl100k", 1, NONE, true},
    {"glm4", "cl100k", 1, NONE, true},
    {"glm5", "cl100k", 1, NONE, true},
    {"qwen2", "qwen2", 1, NFC, false},
    {"deepseek-r1-qwen", "qwen2", 1, NFC, false},
    {"stablelm2", "qwen2", 1, NFC, true},
    {"qwen35", "qwen35", 1, NFC, false},
    {"gpt-4o", "o200k", 1, NONE, true},
    {"llama4", "o200k", 1, NONE, true},
    {"minimax-m2", "o200k", 1, NFC, false},
    {"tekken", "tekken", 1, NONE, true},
    {"smollm", "smollm", 2, NONE, false},
    {"starcoder", "smollm", 2, NONE, false},
    {"refact", "smollm", 2, NONE, false},
    {"mellum2", "smollm", 2, NONE, false},
    {"command-r", "smollm", 2, NFC, false},
    {"exaone", "smollm", 2, NFKC, false},
    {"falcon", NULL, 5, NONE, false},
    {"deepseek-v3", "deepseek_v3", 3, NONE, false},
    {"joyai-llm", "deepseek_v3", 3, NONE, false},
    {"hunyuan-dense", "deepseek_v3", 3, NONE, false},
    {"deepseek-coder", NULL, 5, NONE, false},
    {"deepseek-llm", NULL, 6, NONE, false},
    {"spark2_5", NULL, 4, NONE, false},
    {"bailingmoe", "qwen2", 1, NFC, false},
    {"bailingmoe2", "qwen2", 1, NFC, false},
    {"llada-moe", "qwen2", 1, NFC, false},
    {"seed-coder", "seed_coder", 1, NFC, false},
    {"minicpm5", "minicpm5", 2, NONE, false},
    {"laguna", NULL, 2, NONE, false},
    {"tiny_aya", NULL, 2, NONE, false},
    {"bloom", NULL, 1, NONE, false},
    {"kimi-k2", NULL, 1, NONE, true},
};

static void test_names(void) {
    static const char *const refused[] = {"default", "viking",   "poro-chat", "exaone4", "pixtral",
                                          "lfm2",    "midm-2.0", "falcon3",   "gpt-2 ",  ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct name_case *c = &names[i];
        loaded l;
        file f = bpe_file(c->name);
        int before = t_failures;
        load(&l, &f);
        CHECK_EQ(l.status, DSTOK_OK);
        CHECK_EQ(l.s.n_steps, c->n_steps);
        const dstok__family *family = dstok__family_find(l.s.steps, l.s.n_steps);
        CHECK((family == NULL) == (c->family == NULL));
        if (family != NULL && c->family != NULL) CHECK_STR(family->name, c->family);
        CHECK_EQ(l.s.n_norms, c->norm != NONE);
        if (l.s.n_norms == 1)
            CHECK_EQ(l.s.norms[0].kind, c->norm == NFC ? DSTOK__NORM_NFC : DSTOK__NORM_NFKC);
        const char *with = c->norm == NFC ? "\", with NFC as in" : "\", with NFKC as in";
        CHECK_EQ(util_warning(&l.s, with) != NULL, c->norm != NONE);
        CHECK_EQ(l.s.ignore_merges, c->whole);
        for (size_t k = 0; k < l.s.n_steps; k++) {
            const dstok__step *step = &l.s.steps[k];
            dstok__regex *re = NULL;
            dstok_error err = {0};
            if (step->kind != DSTOK__STEP_REGEX) continue;
            CHECK_EQ(
                dstok__regex_new(&dstok__default_alloc, step->pattern, step->n, step->dialect, &re, &err),
                DSTOK_OK);
            dstok__regex_free(re);
        }
        if (t_failures > before) fprintf(stderr, "  name %s: %s\n", c->name, l.err.text);
        dstok__spec_free(&l.s);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        file f = bpe_file(refused[i]);
        char says[64];
        snprintf(says, sizeof says, "not supported: the GGUF pretokenizer \"%s\"", refused[i]);
        refuse(&f, DSTOK_E_UNSUPPORTED, says);
    }
    file f = bpe_file(NULL);
    refuse(&f, DSTOK_E_UNSUPPORTED, "does not name its pretokenizer");
}

/* The pieces of a text, joined by '|'. */
typedef struct joined {
    char text[256];
    size_t n;
} joined;

static dstok_status join(void *ctx, const dstok__pretoken *p) {
    joined *j = ctx;
    size_t n = p->end - p->begin;
    if (j->n + n + 2 > sizeof j->text) return DSTOK_E_LIMIT;
    if (j->n > 0) j->text[j->n++] = '|';
    memcpy(j->text + j->n, p->text + p->begin, n);
    j->n += n;
    j->text[j->n] = 0;
    return DSTOK_OK;
}

/* What the reference makes of one text by the steps that no scanner stands for. */
static void test_cuts(void) {
    static const char text[] = "I'LL  say: x1234567 (a/b)\n\n \r\n\r\nc...\n\n九龍  2²ab\u0301!a\n \rd";
    static const struct {
        const char *name, *pieces;
    } cases[] = {
        {"deepseek-coder", "I|'|LL| | say|:| x|1|2|3|4|5|6|7| (|a|/|b|)|\n|\n| |\r|\n|\r|\n|c|...|\n|\n"
                           "|九龍|  |2|²|ab|\u0301|!|a|\n| |\r|d"},
        {"deepseek-llm", "I|'|LL| | say|:| x|1|2|3|4|5|6|7| (|a|/|b|)|\n|\n| |\r|\n|\r|\n|c|...|\n|\n"
                         "|九龍|  |2|²|ab|\u0301|!|a|\n| |\r|d"},
        {"spark2_5", "I|'LL| | say|:| x|1|2|3|4|5|6|7| (|a|/b|)|\n|\n| \r\n\r|\n|c|...|\n|\n"
                     "|九龍|  |2|²|ab\u0301|!a|\n| |\r|d"},
        {"bailingmoe", "I|'LL| | say|:| x|1|2|3|4|5|6|7| (|a|/b|)\n\n| \r\n\r\n|c|...\n\n"
                       "|九龍| | |2|²|ab|\u0301!|a|\n \r|d"},
        {"seed-coder", "I|'LL| | say|:| x|1|2|3|4|5|6|7| (|a|/b|)|\n\n \r\n\r\n|c|...|\n\n"
                       "|九龍| | |2|²|ab|\u0301!|a|\n \r|d"},
        {"minicpm5", "I|'LL| | say|:| x|123|456|7| (|a|/b|)\n\n| \r\n\r\n|c|...\n\n"
                     "|九龍|  |2²|ab|\u0301!|a|\n \r|d"},
        {"laguna", "I|'LL| | say|:| x|1|2|3|4|5|6|7| (|a|/b|)|\n\n| |\r\n\r\n|c|...|\n\n"
                   "|九龍| | |2|²|ab|\u0301!|a|\n \r|d"},
        {"tiny_aya", "I'LL| | say|:| x|1|234|567| (|a|/b|)\n\n| \r\n\r\n|c|...\n\n"
                     "|九龍| | |2²|ab\u0301|!a|\n \r|d"},
        {"bloom", "I'LL| | say:| x1234567| (|a/b|)\n\n \r\n\r\n|c|...\n\n"
                  "|九龍| | 2²ab\u0301|!|a|\n \r|d"},
    };
    dstok__pretok_scratch *scratch = NULL;
    CHECK_EQ(dstok__pretok_scratch_new(&dstok__default_alloc, &scratch), DSTOK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        loaded l;
        joined j = {0};
        dstok__pretok *p = NULL;
        file f = bpe_file(cases[i].name);
        load(&l, &f);
        CHECK_EQ(dstok__pretok_new(&dstok__default_alloc, l.s.steps, l.s.n_steps, true, &p, NULL), DSTOK_OK);
        CHECK_EQ(dstok__pretok_run(p, scratch, (const uint8_t *)text, sizeof text - 1, true, false, join, &j,
                                   NULL),
                 DSTOK_OK);
        CHECK_STR(j.text, cases[i].pieces);
        dstok__pretok_free(p);
        dstok__spec_free(&l.s);
    }
    dstok__pretok_scratch_free(scratch);
}

static size_t template_of(file *f) {
    loaded l;
    load(&l, f);
    CHECK_EQ(l.status, DSTOK_OK);
    size_t n = l.s.n_template;
    dstok__spec_free(&l.s);
    return n;
}

/* Where the file does not say whether BOS belongs before a text, its kind does. */
static void test_default_bos(void) {
    file f = bpe_file("llama-bpe");
    CHECK_EQ(template_of(&f), 2);
    f = bpe_file("llama-bpe");
    add_bool(&f, "tokenizer.ggml.add_bos_token", false);
    CHECK_EQ(template_of(&f), 0);
    f = bpe_file("tekken");
    CHECK_EQ(template_of(&f), 2);
    f = bpe_file("qwen2");
    CHECK_EQ(template_of(&f), 0);
    f = bpe_file("qwen2");
    add_bool(&f, "tokenizer.ggml.add_eos_token", true);
    CHECK_EQ(template_of(&f), 2);
}

/* Ids of special kinds and chat templates make an added token one that is named. */
static void test_named(void) {
    static const char *const tokens[] = {"<a>", "<b>", "<c>", "<d>", "<e>", NULL}, *const none[] = {NULL};
    static const int types[] = {USER, USER, USER, USER, USER};
    loaded l;
    file f = start();
    add_bpe_head(&f, "gpt-2");
    add_strings(&f, "tokenizer.ggml.tokens", tokens);
    add_types(&f, types, 5);
    add_strings(&f, "tokenizer.ggml.merges", none);
    add_number(&f, "tokenizer.ggml.eot_token_id", I64, 0, 8);
    add_id(&f, "tokenizer.ggml.fim_pad_token_id", 77);
    add_string(&f, "tokenizer.chat_template", "x<b>y<");
    add_string(&f, "tokenizer.chat_template.tool_use", "d><d>");
    add_string(&f, "tokenizer.chat_templates", "<e>"); /* the list of names is no template */
    load(&l, &f);
    CHECK_EQ(l.status, DSTOK_OK);
    for (size_t i = 0; i < l.s.n_added; i++) CHECK_EQ(l.s.added[i].is_named, i == 0 || i == 1 || i == 3);
    CHECK_EQ(l.s.n_added, 5);
    dstok__spec_free(&l.s);
}

static void test_ids_without_token(void) {
    loaded l;
    file f = start();
    static const char *const none[] = {NULL};
    add_bpe_head(&f, "llama-bpe");
    add_strings(&f, "tokenizer.ggml.tokens", bpe_tokens);
    add_strings(&f, "tokenizer.ggml.merges", none);
    add_id(&f, "tokenizer.ggml.bos_token_id", 10);
    add_id(&f, "tokenizer.ggml.eos_token_id", UINT32_MAX); /* "none" */
    add_bool(&f, "tokenizer.ggml.add_eos_token", true);
    load(&l, &f);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(util_warning(&l.s, "bos_token_id is not the id of a token") != NULL);
    CHECK(util_warning(&l.s, "eos_token_id is not the id of a token") == NULL);
    CHECK(util_warning(&l.s, "add_eos_token is true, but there is no tokenizer.ggml.eos_token_id") != NULL);
    CHECK_EQ(l.s.n_template, 0);
    CHECK_EQ(l.s.n_added, 0); /* without types all are normal */
    dstok__spec_free(&l.s);
}

/* ---- llama ---- */

static void check_spm_tokens(const dstok__spec *s) {
    CHECK_EQ(s->n_tokens, 15);
    CHECK_TOKEN(s, 0, "<unk>", "<unk>");
    CHECK(s->tokens[3].bytes_n == 1 && s->tokens[3].bytes[0] == 0);
    CHECK_TOKEN(s, 4, "<0xC3>", "\xC3");
    CHECK_TOKEN(s, 5, "\u2581", " ");
    CHECK_TOKEN(s, 9, "\u2581a", " a");
    CHECK_TOKEN(s, 10, "\u2581\u2581", "  ");
    CHECK(s->tokens[10].score > s->tokens[9].score);
    CHECK(s->tokens[8].score == -2 && s->tokens[13].score == -12);
    CHECK_TOKEN(s, 14, "[EMPTY_14]", "[EMPTY_14]");
    for (size_t i = 0; i < 15; i++) {
        CHECK_EQ(s->tokens[i].literal, i < 5 || i == 14);
        CHECK_EQ(s->tokens[i].is_unused, i == 12);
    }
    CHECK(s->fallback_ids[0] == 3 && s->fallback_ids[0xC3] == 4 && s->fallback_ids[1] == DSTOK__NO_ID);
}

static void test_spm(void) {
    loaded l;
    file f = spm_file("llama");
    load(&l, &f);
    const dstok__spec *s = &l.s;
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(s->model, DSTOK__MODEL_SCORES);
    CHECK(s->char_atoms && s->byte_fallback && s->late_fallback && s->fuse_unk && !s->ignore_merges);
    CHECK_EQ(s->unk_id, 0);
    if (l.status == DSTOK_OK) check_spm_tokens(s);
    CHECK_EQ(s->n_added, 5);
    const dstok__added *unk = util_added(s, "<unk>"), *end = util_added(s, "</s>"), *u = util_added(s, "<u>"),
                       *blanks = util_added(s, "\u2581\u2581");
    CHECK(unk != NULL && unk->special && !unk->rstrip);
    CHECK(end != NULL && end->special && end->is_named && !end->rstrip && !end->by_name_only);
    CHECK(u != NULL && !u->special && u->id == 11);
    CHECK(blanks != NULL && !blanks->special && blanks->id == 10 && blanks->bytes_n == 2);
    CHECK(s->n_norms == 2 && s->norms[0].kind == DSTOK__NORM_PREPEND &&
          s->norms[1].kind == DSTOK__NORM_REPLACE);
    CHECK_EQ(s->n_steps, 0);
    CHECK(s->n_decs == 4 && s->decs[0].kind == DSTOK__DEC_REPLACE && s->decs[3].kind == DSTOK__DEC_STRIP);
    CHECK(s->n_template == 2 && s->template_items[0].id == 1 && s->template_items[1].is_text);
    dstok__spec_free(&l.s);
}

static void test_spm_options(void) {
    loaded l;
    file f = spm_file("phi3");
    add_bool(&f, "tokenizer.ggml.add_space_prefix", false);
    add_bool(&f, "tokenizer.ggml.add_bos_token", false);
    load(&l, &f);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(l.s.n_norms == 1 && l.s.norms[0].kind == DSTOK__NORM_REPLACE);
    CHECK(l.s.n_decs == 3 && l.s.n_template == 0);
    CHECK(util_added(&l.s, "</s>")->rstrip && !util_added(&l.s, "<s>")->rstrip);
    dstok__spec_free(&l.s);

    f = spm_file("llama");
    add_bool(&f, "tokenizer.ggml.remove_extra_whitespaces", true);
    add_array(&f, "tokenizer.ggml.precompiled_charsmap", U8, 3);
    put(&f, "\x01\x00\xFF", 3);
    load(&l, &f);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(l.s.n_norms == 1 && l.s.norms[0].kind == DSTOK__NORM_SPM);
    CHECK_EQ(l.s.norms[0].flags, DSTOK__SPM_DUMMY_PREFIX | DSTOK__SPM_REMOVE_BLANKS | DSTOK__SPM_ESCAPE);
    CHECK_EQ(l.s.norms[0].pattern_n, 3);
    CHECK_MEM(l.s.norms[0].pattern, "\x01\x00\xFF", 3);
    dstok__spec_free(&l.s);
}

/* Scores as whole numbers; no types: byte tokens are known by their names. */
static void test_spm_plain(void) {
    static const char *const tokens[] = {"a", "b", "ab", "ba", "<0x41>", NULL};
    loaded l;
    file f = start();
    add_string(&f, "tokenizer.ggml.model", "llama");
    add_strings(&f, "tokenizer.ggml.tokens", tokens);
    add_array(&f, "tokenizer.ggml.scores", I32, 5);
    for (uint32_t i = 0; i < 5; i++) put_number(&f, (uint32_t)-i, 4);
    load(&l, &f);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(l.s.tokens[3].score == -3 && l.s.fallback_ids[0x41] == 4 && l.s.tokens[4].literal);
    CHECK(l.s.n_added == 0 && l.s.n_template == 0 && l.s.unk_id == DSTOK__NO_ID);
    dstok__spec_free(&l.s);
}

/* ---- refusals ---- */

/* A file with these tokens and merges only. */
static file bpe_of(const char *const *tokens, const char *const *merges) {
    file f = start();
    add_bpe_head(&f, "gpt-2");
    add_strings(&f, "tokenizer.ggml.tokens", tokens);
    if (merges != NULL) add_strings(&f, "tokenizer.ggml.merges", merges);
    return f;
}

static void test_refused_headers(void) {
    static const char *const models[] = {"bert",   "t5",   "rwkv",     "plamo2",
                                         "gemma4", "none", "no_vocab", "GPT2"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        file f = start();
        add_string(&f, "tokenizer.ggml.model", models[i]);
        refuse(&f, DSTOK_E_UNSUPPORTED, models[i]);
    }
    file f = start();
    refuse(&f, DSTOK_E_FORMAT, "the file has no tokenizer");
    f = start();
    f.data[4] = 1;
    refuse(&f, DSTOK_E_VERSION, "version 1");
    f = start();
    f.data[4] = 4;
    refuse(&f, DSTOK_E_VERSION, "version 4");
    f = start();
    f.data[4] = 0;
    f.data[7] = 3;
    refuse(&f, DSTOK_E_UNSUPPORTED, "big-endian");
    f = start();
    f.data[0] = 'g';
    refuse(&f, DSTOK_E_FORMAT, "no GGUF file");
}

static void test_refused_values(void) {
    file f = bpe_file("gpt-2");
    add_bool(&f, "tokenizer.ggml.add_bos_token", true);
    f.data[f.n - 1] = 2;
    refuse(&f, DSTOK_E_FORMAT, "must be false or true");
    f = bpe_file("gpt-2");
    add_id(&f, "tokenizer.ggml.add_bos_token", 1);
    refuse(&f, DSTOK_E_FORMAT, "add_bos_token must be a bool");
    f = bpe_file("gpt-2");
    add_id(&f, "tokenizer.ggml.bos_token_id", 1);
    refuse(&f, DSTOK_E_DUPLICATE, "tokenizer.ggml.bos_token_id stands twice");
    f = bpe_file("gpt-2");
    add_array(&f, "general.nested", ARRAY, 0);
    refuse(&f, DSTOK_E_UNSUPPORTED, "general.nested is an array of arrays");
    f = bpe_file("gpt-2");
    add_number(&f, "general.odd", 13, 0, 8);
    refuse(&f, DSTOK_E_FORMAT, "general.odd has type 13");
    f = bpe_file("gpt-2");
    add_array(&f, "general.long", U64, (size_t)1 << 61); /* times 8 is 0 in 64 bits */
    refuse(&f, DSTOK_E_TRUNCATED, "ends inside general.long");
    f = bpe_file("gpt-2");
    add_array(&f, "general.long", STRING, SIZE_MAX);
    refuse(&f, DSTOK_E_TRUNCATED, "ends inside general.long");
    f = bpe_file("gpt-2");
    put_key(&f, "general.long", STRING);
    put_number(&f, UINT64_MAX, 8);
    refuse(&f, DSTOK_E_TRUNCATED, "ends inside general.long");
    f = bpe_file("gpt-2");
    f.n_pairs++;
    refuse(&f, DSTOK_E_TRUNCATED, "ends inside a key");
    f = bpe_file("gpt-2");
    f.n_pairs = UINT64_MAX;
    refuse(&f, DSTOK_E_TRUNCATED, "ends inside a key");
    f = bpe_file("gpt-2");
    add_bool(&f, "tokenizer.ggml.add_space_prefix", true);
    refuse(&f, DSTOK_E_UNSUPPORTED, "add_space_prefix with model \"gpt2\"");
}

static void test_refused_tokens(void) {
    static const char *const none[] = {NULL}, *const ab[] = {"a", "b", NULL};
    static const char *const twice[] = {"a", "b", "a", NULL}, *const broken[] = {"a", "\xC3", NULL};
    static const char *const named[] = {"[EMPTY_1]", "", NULL};
    static const char *const bare[] = {"ab", NULL}, *const oov[] = {"a c", NULL},
                             *const product[] = {"a b", NULL};
    static const int odd[] = {NORMAL, 7};
    file f = bpe_of(none, none);
    refuse(&f, DSTOK_E_FORMAT, "no tokens");
    f = bpe_of(twice, none);
    refuse(&f, DSTOK_E_DUPLICATE, "tokens 0 and 2 have the same text, \"a\"");
    f = bpe_of(named, none);
    refuse(&f, DSTOK_E_DUPLICATE, "[EMPTY_1]");
    f = bpe_of(broken, none);
    refuse(&f, DSTOK_E_UTF8, "token 1");
    f = bpe_of(ab, NULL);
    refuse(&f, DSTOK_E_FORMAT, "the file has no tokenizer.ggml.merges");
    f = bpe_of(ab, bare);
    refuse(&f, DSTOK_E_FORMAT, "merge 0, \"ab\", holds no blank");
    f = bpe_of(ab, oov);
    refuse(&f, DSTOK_E_FORMAT, "\"c\" is no token");
    f = bpe_of(ab, product);
    refuse(&f, DSTOK_E_FORMAT, "\"ab\" is no token");
    f = bpe_of(ab, none);
    add_types(&f, odd, 2);
    refuse(&f, DSTOK_E_FORMAT, "token 1 has type 7");
    f = bpe_of(ab, none);
    add_types(&f, odd, 1);
    refuse(&f, DSTOK_E_FORMAT, "token_type has 1 entries for 2 tokens");
    f = start();
    add_bpe_head(&f, "gpt-2");
    add_string(&f, "tokenizer.ggml.tokens", "a");
    refuse(&f, DSTOK_E_FORMAT, "tokens must be an array of strings");
}

static void test_refused_pieces(void) {
    static const char *const tokens[] = {"ab", "cd", "<0xaf>", NULL};
    static const float same[] = {-1000, -1000, 0}, nan[] = {0, -1, 0.0f / 0.0f}, inf[] = {0, 1e38f, 0};
    static const int types[] = {NORMAL, NORMAL, BYTE};
    static const struct {
        const float *scores;
        size_t n;
        bool types;
        dstok_status status;
        const char *says;
    } cases[] = {
        {NULL, 0, false, DSTOK_E_FORMAT, "the file has no tokenizer.ggml.scores"},
        {same, 2, false, DSTOK_E_FORMAT, "scores has 2 entries for 3 tokens"},
        {same, 3, false, DSTOK_OK, ""},
        {nan, 3, false, DSTOK_E_FORMAT, "score of token 2"},
        {inf, 3, false, DSTOK_E_FORMAT, "score of token 1"},
        {same, 3, true, DSTOK_E_FORMAT, "byte token 2 is called \"<0xaf>\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f = start();
        add_string(&f, "tokenizer.ggml.model", "llama");
        add_strings(&f, "tokenizer.ggml.tokens", tokens);
        if (cases[i].scores != NULL) add_scores(&f, cases[i].scores, cases[i].n);
        if (cases[i].types) add_types(&f, types, 3);
        refuse(&f, cases[i].status, cases[i].says);
    }
    static const char *const pair[] = {"ab", "cd", NULL};
    file f = start();
    add_string(&f, "tokenizer.ggml.model", "llama");
    add_strings(&f, "tokenizer.ggml.tokens", pair);
    add_scores(&f, same, 2);
    refuse(&f, DSTOK_E_UNSUPPORTED, "all tokens have one score");
}

/* ---- a real file ---- */

static char *read_shared(const char *name, size_t *n) {
    const char *path = t_shared(name);
    char *data = path != NULL ? t_read(path, n) : NULL;
    if (data == NULL) fprintf(stderr, "cannot read %s\n", name);
    return data;
}

static void compare_steps(const dstok__spec *a, const dstok__spec *b) {
    CHECK_EQ(a->n_steps, b->n_steps);
    for (size_t i = 0; i < a->n_steps && i < b->n_steps; i++) {
        const dstok__step *p = &a->steps[i], *q = &b->steps[i];
        CHECK(p->kind == q->kind && p->behavior == q->behavior && p->invert == q->invert && p->n == q->n);
        if (p->n > 0 && p->n == q->n) CHECK_MEM(p->pattern, q->pattern, p->n);
    }
    CHECK_EQ(a->n_norms, b->n_norms);
    CHECK_EQ(a->n_decs, b->n_decs);
    for (size_t i = 0; i < a->n_decs && i < b->n_decs; i++) CHECK_EQ(a->decs[i].kind, b->decs[i].kind);
    CHECK(a->model == b->model && a->ignore_merges == b->ignore_merges && a->unk_id == b->unk_id &&
          a->char_atoms == b->char_atoms && a->fuse_unk == b->fuse_unk && a->n_template == b->n_template);
}

/* tokenizer.json may have its keys in any order; this one has them by id. */
static void compare_tokens(const dstok__spec *a, const dstok__spec *b) {
    size_t differ = 0;
    CHECK_EQ(a->n_tokens, b->n_tokens);
    for (size_t i = 0; i < a->n_tokens && i < b->n_tokens; i++) {
        const dstok__token *t = &a->tokens[i], *u = &b->tokens[i];
        differ += t->id != u->id || t->n != u->n || memcmp(t->text, u->text, t->n) != 0 ||
                  t->bytes_n != u->bytes_n || memcmp(t->bytes, u->bytes, t->bytes_n) != 0;
    }
    CHECK_EQ(a->n_merges, b->n_merges);
    for (size_t i = 0; i < a->n_merges && i < b->n_merges; i++)
        differ += memcmp(&a->merges[i], &b->merges[i], sizeof a->merges[i]) != 0;
    CHECK_EQ(a->n_added, b->n_added);
    for (size_t i = 0; i < a->n_added && i < b->n_added; i++) {
        const dstok__added *t = &a->added[i], *u = &b->added[i];
        differ += t->id != u->id || t->n != u->n || memcmp(t->content, u->content, t->n) != 0 ||
                  t->special != u->special || t->normalized != u->normalized || t->lstrip != u->lstrip ||
                  t->rstrip != u->rstrip || t->single_word != u->single_word;
    }
    CHECK_EQ(differ, 0);
}

/* Returns false when the shared files are not there. */
static bool test_real(void) {
    size_t n, json_n;
    char *data = read_shared("vocab/smollm2_135m_instruct.vocab.gguf.xz", &n);
    char *json = data != NULL ? read_shared("vocab/smollm2.tokenizer.json.xz", &json_n) : NULL;
    if (json != NULL) {
        dstok__spec gguf, hf;
        dstok_error err = {0};
        dstok__spec_init(&gguf, &dstok__default_alloc);
        dstok__spec_init(&hf, &dstok__default_alloc);
        CHECK_EQ(dstok__load_gguf(&gguf, data, n, &err), DSTOK_OK);
        CHECK_EQ(dstok__load_hf(&hf, json, json_n, NULL, 0, &err), DSTOK_OK);
        CHECK_EQ(gguf.n_tokens, 49152);
        compare_steps(&gguf, &hf);
        compare_tokens(&gguf, &hf);
        CHECK(util_added(&gguf, "<|im_start|>")->is_named && !util_added(&gguf, "<filename>")->is_named);
        dstok__spec_free(&gguf);
        dstok__spec_free(&hf);
    }
    free(data);
    free(json);
    return json != NULL;
}

int main(void) {
    test_bpe();
    test_added_bytes();
    test_blank_in_merge();
    test_names();
    test_cuts();
    test_default_bos();
    test_named();
    test_ids_without_token();
    test_spm();
    test_spm_options();
    test_spm_plain();
    test_refused_headers();
    test_refused_values();
    test_refused_tokens();
    test_refused_pieces();
    bool real = test_real();
    int code = t_end();
    return code != 0 || real ? code
                             : t_skip("the shared vocabularies are not there (all other checks passed)");
}
