/* SPDX-License-Identifier: MIT */
/* The known families of chat templates, told by their control tokens. */
#include <dsx/chat.h>

#include "base.h"

#include <stdlib.h>
#include <string.h>

typedef struct text {
    char *p;
    size_t n;
    bool failed;
} text;

static void add(text *t, const char *s, size_t n) {
    char *more = t->failed ? NULL : realloc(t->p, t->n + n + 1);

    if (more == NULL) {
        t->failed = true;
        return;
    }
    memcpy(more + t->n, s, n);
    more[t->n + n] = '\0';
    t->p = more;
    t->n += n;
}

static void add_string(text *t, const char *s) {
    add(t, s, strlen(s));
}

/* ---- ChatML: SmolLM, Qwen, ... */

/* What the template says in place of a system message: the text between these two marks, where it is plain. */
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

static void chatml(const char *template, dsx_chat *c, text *before, text *after) {
    size_t n = 0;
    const char *system = default_system(template, &n);

    if (system != NULL) {
        add_string(before, "<|im_start|>system\n");
        c->system_at = before->n;
        c->system_len = n;
        add(before, system, n);
        add_string(before, "<|im_end|>\n");
    }
    add_string(before, "<|im_start|>user\n");
    add_string(after, "<|im_end|>\n<|im_start|>assistant\n");
}

/* ---- Llama 3; from 3.1 on it is told dates, the second one being the template's own where nobody says which */

static void llama3(const char *template, dsx_chat *c, text *before, text *after) {
    c->trims = 1;
    add_string(before, "<|begin_of_text|>");
    if (strstr(template, "Cutting Knowledge Date") != NULL) {
        add_string(before, "<|start_header_id|>system<|end_header_id|>\n\n");
        c->system_at = before->n;
        add_string(before, "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n");
        c->system_len = before->n - c->system_at;
        add_string(before, "<|eot_id|>");
    }
    add_string(before, "<|start_header_id|>user<|end_header_id|>\n\n");
    add_string(after, "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
}

/* ---- DeepSeek V3 and R1; newer R1 templates begin the answer with a thought */

#define DEEPSEEK(word) "<\xEF\xBD\x9C" word "\xEF\xBD\x9C>"

static void deepseek(const char *template, dsx_chat *c, text *before, text *after) {
    (void)c;
    add_string(before, DEEPSEEK("begin\xE2\x96\x81of\xE2\x96\x81sentence") DEEPSEEK("User"));
    add_string(after, DEEPSEEK("Assistant"));
    if (strstr(template, DEEPSEEK("Assistant") "<think>\\n") != NULL) add_string(after, "<think>\n");
}

static const struct family {
    const char *mark, *name;
    void (*write)(const char *template, dsx_chat *c, text *before, text *after);
} families[] = {
    {"<|start_header_id|>", "Llama 3", llama3},
    {DEEPSEEK("Assistant"), "DeepSeek", deepseek},
    {"<|im_start|>", "ChatML", chatml},
};

/* NULL: none that is known. A ChatML that writes the day into the system message is none of them. */
static const struct family *family_of(const char *template) {
    for (size_t i = 0; template != NULL && i < sizeof families / sizeof *families; i++)
        if (strstr(template, families[i].mark) != NULL)
            return families[i].write == chatml && strstr(template, "strftime_now") != NULL ? NULL
                                                                                           : &families[i];
    return NULL;
}

const char *dsx_chat_family(const char *template_text) {
    const struct family *family = family_of(template_text);

    return family != NULL ? family->name : NULL;
}

dstok_status dsx_chat_read(const char *template_text, dsx_chat *out, dstok_error *err) {
    const struct family *family = family_of(template_text);
    text before = {0}, after = {0};

    if (out == NULL) return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "dsx_chat_read: out is NULL");
    memset(out, 0, sizeof *out);
    if (family == NULL)
        return dsx__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET,
                         "the chat template is not of a kind known here (ChatML, Llama 3, DeepSeek)");
    out->family = family->name;
    family->write(template_text, out, &before, &after);
    out->before = before.p;
    out->after = after.p;
    if (!before.failed && !after.failed) return DSTOK_OK;
    dsx_chat_clear(out);
    return dsx__no_memory(err);
}

void dsx_chat_clear(dsx_chat *c) {
    free(c->before);
    free(c->after);
    memset(c, 0, sizeof *c);
}
