/* SPDX-License-Identifier: MIT */
/* Prompts as a chat model was taught to read them: the known families of chat templates, told by their
 * control tokens. */
#include "dsexplain.h"

#include <stdlib.h>
#include <string.h>

/* Text with its policy for control tokens: a template's own count, those in the user's text do not. */
struct prompt {
    struct cli_buf text;
    dstok_segment segments[8];
    size_t n, begin, skipped; /* begin: of the user's text; skipped: bytes of it that were left out before */
};

static void add(struct prompt *p, const char *text, size_t n, int special) {
    if (n == 0) return;
    cli_buf_add(&p->text, text, n);
    p->segments[p->n++] = (dstok_segment){n, special, 0, 0};
}

static void add_user(struct prompt *p, const char *text, size_t n, int special) {
    p->begin = p->text.n;
    add(p, text, n, special);
}

static void add_template(struct prompt *p, const char *text) {
    add(p, text, strlen(text), DSTOK_SPECIAL_PARSE);
}

/* ---- ChatML: SmolLM, Qwen, ... */

/* What the template says in place of a system message: the text between these two marks, where it is plain
 * text. */
static const char *default_system(const char *template, size_t *n) {
    static const char mark[] = "<|im_start|>system", end[] = "<|im_end|>";
    const char *p = template, *stop;

    while ((p = strstr(p, mark)) != NULL) {
        p += sizeof mark - 1;
        if (*p == '\n')
            p++;
        else if (p[0] == '\\' && p[1] == 'n')
            p += 2;
        else
            continue;
        stop = strstr(p, end);
        *n = strcspn(p, "'\"{}\\");
        if (stop != NULL && (size_t)(stop - p) <= *n && stop > p) {
            *n = (size_t)(stop - p);
            return p;
        }
    }
    return NULL;
}

static void chatml(struct prompt *p, const char *template, const char *text, size_t n, int special) {
    size_t k = 0;
    const char *system = default_system(template, &k);

    if (system != NULL) {
        add_template(p, "<|im_start|>system\n");
        add(p, system, k, DSTOK_SPECIAL_PARSE);
        add_template(p, "<|im_end|>\n");
    }
    add_template(p, "<|im_start|>user\n");
    add_user(p, text, n, special);
    add_template(p, "<|im_end|>\n<|im_start|>assistant\n");
}

/* ---- Llama 3; from 3.1 on it is told dates, the second one being the template's own where nobody says
 * which */

static void llama3(struct prompt *p, const char *template, const char *text, size_t n, int special) {
    static const char blanks[] = " \t\r\n";

    while (n > 0 && strchr(blanks, *text) != NULL) text++, n--, p->skipped++;
    while (n > 0 && strchr(blanks, text[n - 1]) != NULL) n--;
    add_template(p, "<|begin_of_text|>");
    if (strstr(template, "Cutting Knowledge Date") != NULL)
        add_template(p,
                     "<|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\n"
                     "Today Date: 26 Jul 2024\n\n<|eot_id|>");
    add_template(p, "<|start_header_id|>user<|end_header_id|>\n\n");
    add_user(p, text, n, special);
    add_template(p, "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
}

/* ---- DeepSeek V3 and R1; newer R1 templates begin the answer with a thought */

#define DEEPSEEK(word) "<\xEF\xBD\x9C" word "\xEF\xBD\x9C>"

static void deepseek(struct prompt *p, const char *template, const char *text, size_t n, int special) {
    add_template(p, DEEPSEEK("begin\xE2\x96\x81of\xE2\x96\x81sentence") DEEPSEEK("User"));
    add_user(p, text, n, special);
    add_template(p, DEEPSEEK("Assistant"));
    if (strstr(template, DEEPSEEK("Assistant") "<think>\\n") != NULL) add_template(p, "<think>\n");
}

static const struct family {
    const char *mark, *name;
    void (*write)(struct prompt *p, const char *template, const char *text, size_t n, int special);
} families[] = {
    {"<|start_header_id|>", "Llama 3", llama3},
    {DEEPSEEK("Assistant"), "DeepSeek", deepseek},
    {"<|im_start|>", "ChatML", chatml},
};

/* NULL: none that is known. A ChatML that writes the day into the system message is none of them. */
static const struct family *family_of(const char *template) {
    size_t i;

    for (i = 0; i < sizeof families / sizeof *families; i++)
        if (strstr(template, families[i].mark) != NULL)
            return families[i].write == chatml && strstr(template, "strftime_now") != NULL ? NULL
                                                                                           : &families[i];
    return NULL;
}

const char *ex_chat_name(const char *template) {
    const struct family *family = template != NULL ? family_of(template) : NULL;

    return family != NULL ? family->name : NULL;
}

static int encode(const struct ex_model *m, const struct prompt *p, int add_special, struct cli_buf *ids) {
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_encoder *enc = NULL;
    dstok_tokens t;
    dstok_status status = dstok_encoder_new(m->tok, &enc);

    if (status == DSTOK_E_NOMEM) cli_no_memory();
    o.add_special = add_special;
    o.invalid = m->config->invalid;
    o.ids_only = 1;
    if (status == DSTOK_OK)
        status = dstok_encode_segments(enc, p->text.p, p->text.n, p->segments, p->n, &o, &t, &err);
    if (status == DSTOK_OK) cli_buf_add(ids, t.ids, t.n * sizeof *t.ids);
    dstok_encoder_free(enc);
    if (status == DSTOK_OK) return 0;
    if (err.offset != DSTOK_NO_OFFSET) err.offset = err.offset - p->begin + p->skipped;
    (void)ex_failed(ex_prompt_name(m->config), status, &err);
    return CLI_FAIL;
}

const char *ex_prompt_name(const struct ex_config *c) {
    return c->file != NULL ? ex_input_name(c->file) : "the prompt";
}

int ex_is_chat(const struct ex_model *m) {
    return m->config->chat == EX_CHAT_AUTO && m->info.chat != NULL && m->info.chat[0] != '\0';
}

int ex_prompt(const struct ex_model *m, const struct cli_buf *text, struct cli_buf *ids) {
    const struct ex_config *c = m->config;
    int is_chat = ex_is_chat(m), rc;
    const struct family *family = is_chat ? family_of(m->info.chat) : NULL;
    struct prompt p = {0};
    uint32_t bos = (uint32_t)m->info.bos;

    if (is_chat && family == NULL) {
        cli_error("%s: its chat template is not of a kind known here (ChatML, Llama 3, DeepSeek); give "
                  "--chat off and "
                  "a prompt as the model wants it",
                  m->path.p);
        return CLI_USAGE;
    }
    if (is_chat) {
        family->write(&p, m->info.chat, text->p, text->n, c->special);
    } else {
        if (ex_adds_bos(m)) cli_buf_add(ids, &bos, sizeof bos);
        add_user(&p, text->p, text->n, c->special);
    }
    rc = encode(m, &p, !is_chat && c->bos != EX_BOS_OFF, ids);
    cli_buf_free(&p.text);
    return rc;
}
