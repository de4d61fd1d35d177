/* SPDX-License-Identifier: MIT */
/* Prompts: one text of segments, and its tokens. */
#include "explain/prompt.h"

#include "arch/model.h"
#include "base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the text */

static bool grow(void **p, size_t *cap, size_t n, size_t element) {
    size_t more = n > 2 * *cap ? n : 2 * *cap;
    void *q;

    if (n <= *cap) return true;
    if (more > SIZE_MAX / element || (q = realloc(*p, more * element)) == NULL) return false;
    *p = q;
    *cap = more;
    return true;
}

static bool add(dsx_prompt *p, const void *text, size_t n, uint32_t role, uint32_t source) {
    int special = role == DSTOK_ROLE_TEMPLATE ? DSTOK_SPECIAL_PARSE : DSTOK_SPECIAL_SAFE;

    if (!grow((void **)&p->text, &p->cap, p->len + n + 1, 1) ||
        !grow((void **)&p->segments, &p->cap_segments, p->n_segments + 1, sizeof *p->segments))
        return false;
    if (n > 0) memcpy(p->text + p->len, text, n);
    p->len += n;
    p->text[p->len] = '\0';
    p->segments[p->n_segments++] = (dstok_segment){n, special, source, role};
    return true;
}

static bool add_sources(dsx_prompt *p, const dsx_prompt_options *o) {
    const char *between = o->between != NULL ? o->between : "\n\n";

    for (size_t i = 0; i < o->n_sources; i++)
        if ((i > 0 && !add(p, between, strlen(between), DSTOK_ROLE_TEMPLATE, 0)) ||
            !add(p, o->sources[i].text, o->sources[i].len, DSTOK_ROLE_SOURCE, (uint32_t)i))
            return false;
    return true;
}

/* The message: template_text with what its names stand for. */
static dstok_status add_message(dsx_prompt *p, const dsx_prompt_options *o, dstok_error *err) {
    static const char sources[] = "{sources}", question[] = "{question}";
    const char *t = o->template_text != NULL ? o->template_text
                    : o->question != NULL    ? "Context:\n{sources}\n\nQuestion: {question}"
                                             : sources,
               *at = t;
    bool seen[2] = {false, false}, ok = true;

    while (ok && *at != '\0') {
        size_t n = strcspn(at, "{");
        bool is_question = strncmp(at + n, question, sizeof question - 1) == 0,
             is_sources = strncmp(at + n, sources, sizeof sources - 1) == 0;

        if (at[n] != '\0' && ((!is_question && !is_sources) || seen[is_question]))
            return dsx__fail(err, DSTOK_E_FORMAT, (uint64_t)(at + n - t),
                             "the template knows {sources} and {question}, once each");
        if (n > 0) ok = add(p, at, n, DSTOK_ROLE_TEMPLATE, 0);
        at += n;
        if (*at == '\0') break;
        seen[is_question] = true;
        if (is_sources) ok = ok && add_sources(p, o);
        if (is_question && o->question != NULL)
            ok = ok && add(p, o->question, strlen(o->question), DSTOK_ROLE_QUESTION, 0);
        at += is_question ? sizeof question - 1 : sizeof sources - 1;
    }
    if (ok && !seen[0] && o->n_sources > 0)
        return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "the template has no {sources}");
    return ok ? DSTOK_OK : dsx__no_memory(err);
}

static void skip(struct dsx__skip *s, const char *blanks, size_t n) {
    s->bytes += n;
    for (size_t i = 0; i < n; i++) {
        s->line += blanks[i] == '\n';
        s->column = blanks[i] == '\n' ? 1 : s->column + 1;
    }
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Blanks at both ends of the message, which begins at byte `from` with segment `first`. */
static void trim(dsx_prompt *p, size_t from, size_t first) {
    size_t n = 0, done = 0;

    while (from + n < p->len && is_blank(p->text[from + n])) n++;
    for (size_t i = first; i < p->n_segments && done < n; i++) {
        dstok_segment *s = &p->segments[i];
        size_t some = n - done < s->len ? n - done : s->len;

        s->len -= some;
        if (s->role == DSTOK_ROLE_SOURCE) skip(&p->skips[s->source], p->text + from + done, some);
        done += some;
    }
    memmove(p->text + from, p->text + from + n, p->len - from - n + 1);
    p->len -= n;
    for (size_t i = p->n_segments; i-- > first;) {
        while (p->segments[i].len > 0 && is_blank(p->text[p->len - 1])) {
            p->segments[i].len--;
            p->text[--p->len] = '\0';
        }
        if (p->segments[i].len > 0) break;
    }
}

static dstok_status build(dsx_prompt *p, const dsx_prompt_options *o, dstok_error *err) {
    const char *template_text = p->model->archive.chat, *prefix = o->prefix != NULL ? o->prefix : "";
    dsx_chat chat = {0};
    dstok_status status = DSTOK_OK;
    size_t from = 0, first = 0;
    bool ok = true;

    p->is_chat = o->chat == DSX_CHAT_AUTO && template_text != NULL && template_text[0] != '\0';
    if (p->is_chat) {
        DSX_TRY(dsx_chat_read(template_text, &chat, err));
        ok = add(p, chat.before, chat.system_at, DSTOK_ROLE_TEMPLATE, 0) &&
             add(p, chat.before + chat.system_at, chat.system_len, DSTOK_ROLE_SYSTEM, 0) &&
             add(p, chat.before + chat.system_at + chat.system_len,
                 strlen(chat.before) - chat.system_at - chat.system_len, DSTOK_ROLE_TEMPLATE, 0);
        from = p->len;
        first = p->n_segments;
    }
    if (ok) status = add_message(p, o, err);
    if (status == DSTOK_OK && ok && chat.trims) trim(p, from, first);
    if (status == DSTOK_OK && ok && p->is_chat)
        ok = add(p, chat.after, strlen(chat.after), DSTOK_ROLE_TEMPLATE, 0);
    p->response = p->len;
    if (status == DSTOK_OK && ok) ok = add(p, prefix, strlen(prefix), DSTOK_ROLE_ANSWER, 0);
    p->answer = p->len;
    dsx_chat_clear(&chat);
    return status != DSTOK_OK || ok ? status : dsx__no_memory(err);
}

/* ---- its tokens */

/* A byte of the whole text, said as one of a source. */
static dstok_status say_where(const dsx_prompt *p, dstok_status status, dstok_error *err) {
    size_t at = 0;

    for (size_t i = 0; i < p->n_segments && err->offset != DSTOK_NO_OFFSET; at += p->segments[i++].len) {
        const dstok_segment *s = &p->segments[i];
        char what[sizeof err->text];

        if (err->offset < at || err->offset - at >= s->len) continue;
        memcpy(what, err->text, sizeof what);
        err->offset -= at;
        if (s->role == DSTOK_ROLE_SOURCE) err->offset += p->skips[s->source].bytes;
        return dsx__fail(err, status, err->offset, "%.80s: %.150s",
                         s->role == DSTOK_ROLE_SOURCE     ? p->sources[s->source].name
                         : s->role == DSTOK_ROLE_QUESTION ? "the question"
                         : s->role == DSTOK_ROLE_ANSWER   ? "the response"
                                                          : "the template",
                         what);
    }
    return status;
}

static bool add_token(dsx_prompt *p, uint32_t id, dstok_span span) {
    size_t cap = p->cap_ids;

    if (!grow((void **)&p->ids, &cap, p->n + 1, sizeof *p->ids) ||
        (cap != p->cap_ids && !grow((void **)&p->spans, &p->cap_ids, cap, sizeof *p->spans)))
        return false;
    p->cap_ids = cap;
    p->ids[p->n] = id;
    p->spans[p->n++] = span;
    return true;
}

static void find_sources(dsx_prompt *p) {
    size_t at = 0, begin = SIZE_MAX, end = 0;

    for (size_t i = 0; i < p->n_segments; at += p->segments[i++].len)
        if (p->segments[i].role == DSTOK_ROLE_SOURCE) {
            begin = at < begin ? at : begin;
            end = at + p->segments[i].len;
        }
    p->sources_begin = p->sources_end = 0;
    for (size_t i = 0; i < p->n; i++) {
        bool inside = p->spans[i].begin < end && p->spans[i].end > begin;

        if (inside && p->sources_end == 0) p->sources_begin = i;
        if (inside) p->sources_end = i + 1;
    }
}

/* A token that a vocabulary puts behind whole texts: the response goes on. */
static bool is_ending(const dsx_prompt *p, const dstok_tokens *t) {
    return t->spans[t->n - 1].begin == p->len;
}

static dstok_status encode(dsx_prompt *p, dstok_error *err) {
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens t;
    dstok_status status;
    bool ok = true;

    o.add_special = !p->is_chat;
    p->n = 0;
    status = dstok_encode_segments(p->enc, p->text, p->len, p->segments, p->n_segments, &o, &t, err);
    if (status != DSTOK_OK) return say_where(p, status, err);
    if (p->bos >= 0) ok = add_token(p, (uint32_t)p->bos, (dstok_span){0, 0});
    while (t.n > 0 && p->len > 0 && is_ending(p, &t)) t.n--;
    for (size_t i = 0; ok && i < t.n; i++) ok = add_token(p, t.ids[i], t.spans[i]);
    if (!ok) return dsx__no_memory(err);
    find_sources(p);
    return DSTOK_OK;
}

/* ---- making */

static bool copy_source(const dsx_source *from, size_t number, dsx_source *to) {
    char name[32], *text = malloc(from->len + 1);

    (void)snprintf(name, sizeof name, "source %zu", number);
    to->name = strdup(from->name != NULL ? from->name : name);
    to->text = text;
    to->len = from->len;
    if (to->name == NULL || text == NULL) return false;
    if (from->len > 0) memcpy(text, from->text, from->len);
    text[from->len] = '\0';
    return true;
}

static bool copy_sources(dsx_prompt *p, const dsx_prompt_options *o) {
    p->sources = calloc(o->n_sources + 1, sizeof *p->sources);
    p->skips = calloc(o->n_sources + 1, sizeof *p->skips);
    if (p->sources == NULL || p->skips == NULL) return false;
    p->n_sources = o->n_sources;
    for (size_t i = 0; i < o->n_sources; i++) {
        p->skips[i] = (struct dsx__skip){0, 1, 1};
        if (!copy_source(&o->sources[i], i + 1, &p->sources[i])) return false;
    }
    return true;
}

/* A SentencePiece .model does not say whether texts begin with a start token; models made with one want it. */
static int64_t start_token(const dsx_prompt *p) {
    dstok_info info = DSTOK_INFO_INIT;

    (void)dstok_tokenizer_info(p->tok, &info);
    return p->is_chat || info.has_template || strcmp(info.format, "sentencepiece") != 0
               ? -1
               : p->model->config.bos;
}

static bool are_valid(const dsx_prompt_options *o) {
    if (o == NULL || o->struct_size != sizeof *o || o->n_sources > UINT32_MAX || o->chat < 0 ||
        o->chat > DSX_CHAT_OFF || (o->sources == NULL && o->n_sources > 0))
        return false;
    for (size_t i = 0; i < o->n_sources; i++)
        if (o->sources[i].text == NULL && o->sources[i].len > 0) return false;
    return true;
}

dstok_status dsx_prompt_new(const dsx_model *model, const dstok_tokenizer *tok,
                            const dsx_prompt_options *options, dsx_prompt **out, dstok_error *err) {
    dsx_prompt *p;
    dstok_info info = DSTOK_INFO_INIT;
    dstok_status status;

    if (model == NULL || tok == NULL || out == NULL || !are_valid(options))
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "dsx_prompt_new: an argument is out of its domain");
    (void)dstok_tokenizer_info(tok, &info);
    if (info.n_ids > model->config.n_vocab)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "the vocabulary has more ids than the model");
    p = calloc(1, sizeof *p);
    if (p == NULL) return dsx__no_memory(err);
    p->model = model;
    p->tok = tok;
    status = copy_sources(p, options) ? dstok_encoder_new(tok, &p->enc) : DSTOK_E_NOMEM;
    if (status == DSTOK_E_NOMEM) (void)dsx__no_memory(err);
    if (status == DSTOK_OK) status = build(p, options, err);
    if (status == DSTOK_OK) {
        p->bos = start_token(p);
        status = encode(p, err);
    }
    if (status == DSTOK_OK)
        *out = p;
    else
        dsx_prompt_free(p);
    return status;
}

void dsx_prompt_free(dsx_prompt *p) {
    if (p == NULL) return;
    for (size_t i = 0; p->sources != NULL && i < p->n_sources; i++) {
        free((void *)(uintptr_t)p->sources[i].name);
        free((void *)(uintptr_t)p->sources[i].text);
    }
    free(p->sources);
    free(p->skips);
    free(p->text);
    free(p->segments);
    free(p->ids);
    free(p->spans);
    dstok_encoder_free(p->enc);
    free(p);
}

/* ---- the response */

static void cut_answer(dsx_prompt *p) {
    p->segments[p->n_segments - 1].len = p->answer - p->response;
    p->len = p->answer;
    p->text[p->len] = '\0';
}

static bool add_answer(dsx_prompt *p, const void *text, size_t n) {
    if (!grow((void **)&p->text, &p->cap, p->len + n + 1, 1)) return false;
    if (n > 0) memcpy(p->text + p->len, text, n);
    p->len += n;
    p->text[p->len] = '\0';
    p->segments[p->n_segments - 1].len += n;
    return true;
}

dstok_status dsx_prompt_answer(dsx_prompt *p, const void *text, size_t len, dstok_error *err) {
    if (p == NULL || (text == NULL && len > 0))
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "dsx_prompt_answer: an argument is NULL");
    cut_answer(p);
    return add_answer(p, text, len) ? encode(p, err) : dsx__no_memory(err);
}

static bool ends(const dsx_model *m, uint32_t id) {
    for (uint32_t i = 0; i < m->config.n_eos; i++)
        if (m->config.eos[i] == (int64_t)id) return true;
    return false;
}

/* The likeliest token; false: there is none, for the numbers are not finite. */
static bool likeliest(const double *logits, uint32_t n, uint32_t *id) {
    *id = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!isfinite(logits[i])) return false;
        if (logits[i] > logits[*id]) *id = i;
    }
    return true;
}

typedef struct generation {
    dsx_session *session;
    double *logits;
    dsx_explain_sink *sink;
    void *context;
    uint64_t done, all;
    bool goes_on;
} generation;

/* Tokens go into the session, and the sink hears of it. */
static dstok_status feed(generation *g, const uint32_t *ids, size_t n, dstok_error *err) {
    DSX_TRY(dsx_session_feed(g->session, ids, n, err));
    g->done += n;
    if (g->sink == NULL || g->sink(g->context, g->done, g->all) == 0) return DSTOK_OK;
    return dsx__fail(err, DSTOK_E_CANCELED, DSTOK_NO_OFFSET, "asked to stop");
}

/* One token more; goes_on is false at the end of the text. */
static dstok_status next_token(dsx_prompt *p, generation *g, dstok_error *err) {
    const void *bytes = "";
    size_t n = 0, at = p->len;
    uint32_t id;

    DSX_TRY(dsx_session_logits(g->session, g->logits, p->model->config.n_vocab, err));
    if (!likeliest(g->logits, p->model->config.n_vocab, &id))
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "the model gives numbers that are not finite for this text");
    g->goes_on = !ends(p->model, id);
    if (!g->goes_on) return DSTOK_OK;
    if (dstok_token_bytes(p->tok, id, &bytes, &n) != DSTOK_OK) n = 0;
    if (!add_answer(p, bytes, n) || !add_token(p, id, (dstok_span){at, at + n})) return dsx__no_memory(err);
    return feed(g, &id, 1, err);
}

/* The prompt by pieces, so that the sink hears of it. */
static dstok_status read_prompt(const dsx_prompt *p, generation *g, dstok_error *err) {
    for (size_t i = 0, n; i < p->n; i += n) {
        n = p->n - i < 512 ? p->n - i : 512;
        DSX_TRY(feed(g, p->ids + i, n, err));
    }
    return DSTOK_OK;
}

dstok_status dsx_prompt_generate(dsx_prompt *p, size_t max_tokens, dsx_explain_sink *sink, void *context,
                                 dstok_error *err) {
    dsx_session_options o = DSX_SESSION_OPTIONS_INIT;
    generation g = {.sink = sink, .context = context, .goes_on = true};
    dstok_status status;

    if (p == NULL || max_tokens == 0 || max_tokens > DSX__MAX_CONTEXT)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "dsx_prompt_generate: an argument is out of its domain");
    cut_answer(p);
    DSX_TRY(encode(p, err));
    o.max_tokens = g.all = p->n + max_tokens;
    g.logits = malloc(p->model->config.n_vocab * sizeof *g.logits);
    status = g.logits != NULL ? dsx_session_new(p->model, &o, &g.session, err) : dsx__no_memory(err);
    if (status == DSTOK_OK) status = read_prompt(p, &g, err);
    for (size_t i = 0; i < max_tokens && g.goes_on && status == DSTOK_OK; i++)
        status = next_token(p, &g, err);
    dsx_session_free(g.session);
    free(g.logits);
    return status;
}

/* ---- views */

dstok_status dsx_prompt_describe(const dsx_prompt *p, dsx_prompt_view *view) {
    if (p == NULL || view == NULL || view->struct_size != sizeof *view) return DSTOK_E_INVAL;
    *view =
        (dsx_prompt_view){sizeof *view, p->text, p->len,           p->segments,    p->n_segments, p->ids,
                          p->spans,     p->n,    p->sources_begin, p->sources_end, p->response,   p->answer};
    return DSTOK_OK;
}

const char *dsx_prompt_source_name(const dsx_prompt *p, size_t source) {
    return p != NULL && source < p->n_sources ? p->sources[source].name : "";
}

dstok_status dsx_prompt_source(const dsx_prompt *p, size_t source, dsx_source *out) {
    if (p == NULL || out == NULL || source >= p->n_sources) return DSTOK_E_RANGE;
    *out = p->sources[source];
    return DSTOK_OK;
}
