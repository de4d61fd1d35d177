/* SPDX-License-Identifier: MIT */
/* dsexplain info: what a model is. */
#include "dsexplain.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const weight_names[] = {"as in the file", "float", "8 bits", "4 bits", "FP8"};

static void put(struct cli_buf *out, const char *name, const char *format, ...) CLI_PRINTF(3, 4);

static void put(struct cli_buf *out, const char *name, const char *format, ...) {
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cli_buf_printf(out, "%-12s %s\n", name, text);
}

/* ---- warnings */

static void warn(struct cli_buf *out, int json, const char *text) {
    if (!json) {
        put(out, "warning", "%s", text);
        return;
    }
    if (out->p[out->n - 1] != '[') cli_buf_char(out, ',');
    cli_json_text(out, text);
}

static void put_warnings(struct cli_buf *out, const struct ex_model *m, int json) {
    dstok_info vocab = DSTOK_INFO_INIT;
    const char *text;
    char line[256];
    size_t i;

    if (m->tok == NULL) {
        warn(out, json, "there is no vocabulary beside it; name one with -v");
    } else {
        (void)dstok_tokenizer_info(m->tok, &vocab);
        if (vocab.n_ids < m->info.n_vocab) {
            (void)snprintf(line, sizeof line, "the last %llu ids of the model stand for no token",
                           (unsigned long long)(m->info.n_vocab - vocab.n_ids));
            warn(out, json, line);
        }
        for (i = 0; (text = dstok_tokenizer_warning(m->tok, i)) != NULL; i++) warn(out, json, text);
    }
    if (m->info.chat != NULL && m->info.chat[0] != '\0' && dsx_chat_family(m->info.chat) == NULL)
        warn(out, json, "its chat template is not of a known kind: generate needs --chat off");
    if (m->info.n_eos == 0) warn(out, json, "no token ends a text: generate stops at -n or --stop alone");
}

/* ---- words */

static void put_sizes(struct cli_buf *out, const dsx_model_info *i) {
    put(out, "architecture", "%s", i->arch);
    put(out, "layers", "%lu, %lu wide", (unsigned long)i->n_layers, (unsigned long)i->width);
    if (i->kv_rank > 0)
        put(out, "attention", "%lu heads of %lu, keys and values from a latent row of %lu",
            (unsigned long)i->n_heads, (unsigned long)i->head_dim, (unsigned long)i->kv_rank);
    else
        put(out, "attention", "%lu heads of %lu, %lu for keys and values", (unsigned long)i->n_heads,
            (unsigned long)i->head_dim, (unsigned long)i->n_kv_heads);
    if (i->window > 0) put(out, "window", "%lu tokens", (unsigned long)i->window);
    put(out, "feed-forward", "%lu", (unsigned long)i->ffn);
    if (i->n_experts > 0)
        put(out, "experts", "%lu, %lu for each token", (unsigned long)i->n_experts,
            (unsigned long)i->n_experts_used);
    put(out, "head", "%s", i->tied_head ? "the embedding" : "of its own");
    put(out, "parameters", "%llu", (unsigned long long)i->n_parameters);
    put(out, "context", "%lu tokens", (unsigned long)i->context);
}

static void put_memory(struct cli_buf *out, const struct ex_config *c, const dsx_model_info *i) {
    put(out, "file", "%.1f MB", (double)i->file_bytes / 1e6);
    put(out, "weights", "%s: %.1f MB beside the file, which is mapped (backend %s)", weight_names[c->weights],
        (double)i->weight_bytes / 1e6, i->backend);
    put(out, "text", "%llu bytes for the keys and values of a token, %.1f MB for %lu tokens",
        (unsigned long long)i->kv_bytes_per_token, (double)i->kv_bytes_per_token * i->context / 1e6,
        (unsigned long)i->context);
}

static void put_token(struct cli_buf *out, const struct ex_model *m, const char *name, int64_t id) {
    struct cli_buf piece = {0};

    if (id < 0) return;
    if (m->tok != NULL) ex_piece(&piece, m, (uint32_t)id);
    put(out, name, "%lld %s", (long long)id, cli_buf_string(&piece));
    cli_buf_free(&piece);
}

static void describe(struct cli_buf *out, const struct ex_config *c, const struct ex_model *m) {
    const dsx_model_info *i = &m->info;
    dstok_info vocab = DSTOK_INFO_INIT;
    uint32_t k;

    put(out, "model", "%s", m->path.p);
    put_sizes(out, i);
    put_memory(out, c, i);
    put(out, "ids", "%lu", (unsigned long)i->n_vocab);
    if (m->tok != NULL) {
        (void)dstok_tokenizer_info(m->tok, &vocab);
        put(out, "vocabulary", "%s, %llu tokens", vocab.format, (unsigned long long)vocab.n_tokens);
    }
    put_token(out, m, "start", i->bos);
    for (k = 0; k < i->n_eos; k++) put_token(out, m, "end", i->eos[k]);
    put(out, "chat", "%s",
        i->chat == NULL || i->chat[0] == '\0' ? "no template"
        : dsx_chat_family(i->chat)            ? dsx_chat_family(i->chat)
                                              : "unknown");
    put_warnings(out, m, 0);
}

/* ---- JSON */

static void number(struct cli_buf *out, const char *name, uint64_t n) {
    cli_buf_printf(out, ",\"%s\":%llu", name, (unsigned long long)n);
}

static void text(struct cli_buf *out, const char *name, const char *value) {
    cli_buf_printf(out, ",\"%s\":", name);
    if (value != NULL)
        cli_json_text(out, value);
    else
        cli_buf_text(out, "null");
}

static void describe_json(struct cli_buf *out, const struct ex_model *m) {
    const dsx_model_info *i = &m->info;
    dstok_info vocab = DSTOK_INFO_INIT;
    uint32_t k;

    cli_buf_text(out, "{\"model\":");
    cli_json_text(out, m->path.p);
    text(out, "architecture", i->arch);
    number(out, "layers", i->n_layers);
    number(out, "width", i->width);
    number(out, "heads", i->n_heads);
    number(out, "kv_heads", i->n_kv_heads);
    number(out, "head_dim", i->head_dim);
    number(out, "kv_rank", i->kv_rank);
    number(out, "window", i->window);
    number(out, "ffn", i->ffn);
    number(out, "experts", i->n_experts);
    number(out, "experts_used", i->n_experts_used);
    cli_buf_printf(out, ",\"tied_head\":%s", i->tied_head ? "true" : "false");
    number(out, "parameters", i->n_parameters);
    number(out, "context", i->context);
    number(out, "file_bytes", i->file_bytes);
    text(out, "backend", i->backend);
    number(out, "weight_bytes", i->weight_bytes);
    number(out, "kv_bytes_per_token", i->kv_bytes_per_token);
    number(out, "ids", i->n_vocab);
    if (m->tok != NULL) (void)dstok_tokenizer_info(m->tok, &vocab);
    text(out, "vocabulary", m->tok != NULL ? vocab.format : NULL);
    cli_buf_printf(out, i->bos >= 0 ? ",\"bos\":%lld" : ",\"bos\":null", (long long)i->bos);
    cli_buf_text(out, ",\"eos\":[");
    for (k = 0; k < i->n_eos; k++) cli_buf_printf(out, "%s%lld", k > 0 ? "," : "", (long long)i->eos[k]);
    cli_buf_char(out, ']');
    text(out, "chat",
         i->chat == NULL || i->chat[0] == '\0' ? NULL
         : dsx_chat_family(i->chat)            ? dsx_chat_family(i->chat)
                                               : "unknown");
    cli_buf_text(out, ",\"warnings\":[");
    put_warnings(out, m, 1);
    cli_buf_text(out, "]}\n");
}

int ex_info(const struct ex_config *c) {
    struct cli_buf out = {0};
    struct ex_model m;
    int rc = ex_open(c, EX_NEED_MODEL, &m);

    if (rc == 0 && (c->vocab != NULL || m.info.tokenizer != NULL)) rc = ex_open_vocab(&m);
    if (rc == 0 && c->json) describe_json(&out, &m);
    if (rc == 0 && !c->json) describe(&out, c, &m);
    if (rc == 0) rc = cli_out_buf(&out);
    cli_buf_free(&out);
    ex_close(&m);
    return rc;
}
