/* SPDX-License-Identifier: MIT */
/* Prompts as a chat model was taught to read them. */
#include "dsexplain.h"

#include <stdlib.h>
#include <string.h>

/* Text with its policy for control tokens: a template's own count, those in the user's text do not. */
struct prompt {
    struct cli_buf text;
    dstok_segment segments[3];
    size_t n, begin, skipped; /* begin: of the user's text; skipped: bytes of it that were left out before */
};

static void add(struct prompt *p, const char *text, size_t n, int special) {
    if (n == 0) return;
    cli_buf_add(&p->text, text, n);
    p->segments[p->n++] = (dstok_segment){n, special, 0, 0};
}

static void add_template(struct prompt *p, const char *text) {
    add(p, text, strlen(text), DSTOK_SPECIAL_PARSE);
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
    static const char blanks[] = " \t\r\n";
    const struct ex_config *c = m->config;
    int is_chat = ex_is_chat(m), rc;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    uint32_t bos = (uint32_t)m->info.bos;
    const char *p = text->p;
    size_t n = text->n;
    struct prompt prompt = {0};
    dsx_chat chat = {0};
    dstok_status status = is_chat ? dsx_chat_read(m->info.chat, &chat, &err) : DSTOK_OK;

    if (status == DSTOK_E_NOMEM) cli_no_memory();
    if (status != DSTOK_OK) {
        cli_error("%s: %s; give --chat off and a prompt as the model wants it", m->path.p, err.text);
        return CLI_USAGE;
    }
    while (chat.trims && n > 0 && strchr(blanks, *p) != NULL) p++, n--, prompt.skipped++;
    while (chat.trims && n > 0 && strchr(blanks, p[n - 1]) != NULL) n--;
    if (is_chat) add_template(&prompt, chat.before);
    if (!is_chat && ex_adds_bos(m)) cli_buf_add(ids, &bos, sizeof bos);
    prompt.begin = prompt.text.n;
    add(&prompt, p, n, c->special);
    if (is_chat) add_template(&prompt, chat.after);
    dsx_chat_clear(&chat);
    rc = encode(m, &prompt, !is_chat && c->bos != EX_BOS_OFF, ids);
    cli_buf_free(&prompt.text);
    return rc;
}
