/* SPDX-License-Identifier: MIT */
/* GGUF model "llama": pieces and scores of a SentencePiece BPE model, read as Hugging Face converts one. */
#include "gguf.h"

#include <string.h>

#define META      "\u2581" /* stands for a blank */
#define META_N    (sizeof META - 1)
#define MAX_SCORE 0x1p100f

/* ---- scores ---- */

static float score_of(const dstok__gguf *g, uint32_t id) {
    uint32_t word = dstok__gguf_word(g, DSTOK__GGUF_SCORES, id);
    float score;
    if (g->values[DSTOK__GGUF_SCORES].elem == DSTOK__GGUF_I32) return (float)(int32_t)word;
    memcpy(&score, &word, sizeof score);
    return score;
}

static dstok_status read_score(const dstok__gguf *g, uint32_t id, float *score) {
    *score = score_of(g, id);
    if (*score >= -MAX_SCORE && *score <= MAX_SCORE) return DSTOK_OK; /* not so for NaN */
    return dstok__fail(g->err, DSTOK_E_FORMAT, g->values[DSTOK__GGUF_SCORES].at + 4 * (size_t)id, 0,
                       "the score of token %u is no usable number", id);
}

/* A conversion without the SentencePiece model writes one score for all: the order of merges is lost. */
static dstok_status check_order(const dstok__gguf *g) {
    float low = MAX_SCORE, high = -MAX_SCORE;
    size_t n = 0;
    for (size_t i = 0; i < g->s->n_tokens; i++) {
        const dstok__token *t = &g->s->tokens[i];
        if (t->literal || t->is_unused || t->n < 2 || t->score > MAX_SCORE) continue;
        if (t->score < low) low = t->score;
        if (t->score > high) high = t->score;
        n++;
    }
    if (n < 2 || low < high) return DSTOK_OK;
    return dstok__fail(
        g->err, DSTOK_E_UNSUPPORTED, g->values[DSTOK__GGUF_SCORES].at, 0,
        "not supported: all tokens have one score, so the file does not say which merge first (give the "
        "model's tokenizer.json)");
}

/* ---- pieces ---- */

/* text with one string for another, in g->text. */
static dstok_status replace(dstok__gguf *g, const char *text, size_t n, const char *from, const char *to) {
    size_t from_n = strlen(from), to_n = strlen(to);
    dstok_status status = DSTOK_OK;
    g->text.len = 0;
    for (size_t i = 0; i < n && status == DSTOK_OK;) {
        bool hit = n - i >= from_n && memcmp(text + i, from, from_n) == 0;
        status = dstok__buf_append(&g->text, hit ? to : text + i, hit ? to_n : 1);
        i += hit ? from_n : 1;
    }
    return status == DSTOK_OK ? status : dstok__spec_no_room(status, "bytes in a token", g->text.max, g->err);
}

static dstok_status add_byte(dstok__gguf *g, const dstok__gguf_token *t, int byte) {
    char c = (char)byte;
    g->s->fallback_ids[byte] = t->id;
    g->s->byte_fallback = true;
    DSTOK_TRY(dstok__spec_token(g->s, t->text, t->n, t->id, g->err));
    g->s->tokens[g->s->n_tokens - 1].literal = g->s->tokens[g->s->n_tokens - 1].is_byte = true;
    return dstok__spec_token_bytes(g->s, &c, 1, g->err);
}

/* Converters write the runs of U+2581 among user-defined pieces as blanks. */
static bool is_blanks(const dstok__gguf_token *t) {
    for (size_t i = 0; i < t->n; i++) {
        if (t->text[i] != ' ') return false;
    }
    return t->type == DSTOK__GGUF_USER_DEFINED && !t->is_empty;
}

/* Such a run is a piece as any other, which merges before all others and the longer the earlier. Its own
 * score was lost in the conversion. Where another piece has the text already, that one stays. */
static dstok_status add_blanks(dstok__gguf *g, const dstok__gguf_token *t) {
    DSTOK_TRY(replace(g, t->text, t->n, " ", META));
    const char *text = (const char *)g->text.data;
    size_t n = g->text.len;
    bool taken = dstok__map_get(&g->ids, text, n) != UINT32_MAX;
    DSTOK_TRY(dstok__spec_token(g->s, text, n, t->id, g->err));
    dstok__token *token = &g->s->tokens[g->s->n_tokens - 1];
    token->literal = taken;
    token->score = 0x1p110f * (float)(t->n < 1024 ? t->n : 1024);
    DSTOK_TRY(dstok__spec_token_bytes(g->s, t->text, t->n, g->err));
    return dstok__gguf_add(g, t, token->text, token->n, false);
}

/* The file does not tell; but all models of this kind have one vocabulary, whose chat tokens take the blanks
 * behind them. */
static bool has_rstrip(const dstok__gguf *g, const dstok__gguf_token *t) {
    static const char *const without[] = {"<unk>", "<s>", "<|endoftext|>"};
    const dstok__gguf_value *v = &g->values[DSTOK__GGUF_ARCHITECTURE];
    if (v->type != DSTOK__GGUF_STRING || !dstok__text_is((const char *)g->data + v->at, v->n, "phi3"))
        return false;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        if (dstok__text_is(t->text, t->n, without[i])) return false;
    }
    return true;
}

static dstok_status add_piece(dstok__gguf *g, const dstok__gguf_token *t) {
    bool is_control = t->type == DSTOK__GGUF_CONTROL || t->type == DSTOK__GGUF_UNKNOWN;
    float score;
    DSTOK_TRY(read_score(g, t->id, &score));
    if (is_blanks(t)) return add_blanks(g, t);
    DSTOK_TRY(dstok__spec_token(g->s, t->text, t->n, t->id, g->err));
    dstok__token *token = &g->s->tokens[g->s->n_tokens - 1];
    token->score = score;
    token->literal = is_control || t->is_empty;
    token->is_unused = t->type == DSTOK__GGUF_UNUSED;
    DSTOK_TRY(replace(g, t->text, t->n, META, " "));
    DSTOK_TRY(dstok__spec_token_bytes(g->s, g->text.data, g->text.len, g->err));
    if (t->is_empty || (!is_control && t->type != DSTOK__GGUF_USER_DEFINED)) return DSTOK_OK;
    return dstok__gguf_add(g, t, t->text, t->n, has_rstrip(g, t));
}

static dstok_status add_token(dstok__gguf *g, const dstok__gguf_token *t) {
    int byte = dstok__byte_of_name(t->text, t->n);
    if (t->type == DSTOK__GGUF_UNKNOWN && g->s->unk_id == DSTOK__NO_ID) g->s->unk_id = t->id;
    if (byte >= 0 && (t->type == DSTOK__GGUF_BYTE || !dstok__gguf_has(g, DSTOK__GGUF_TYPES)))
        return add_byte(g, t, byte);
    if (t->type != DSTOK__GGUF_BYTE) return add_piece(g, t);
    dstok__quoted q;
    return dstok__fail(g->err, DSTOK_E_FORMAT, t->at, 0,
                       "the byte token %u is called \"%s\", not <0x00> ... <0xFF>", t->id,
                       DSTOK__QUOTE(t->text, t->n, q));
}

/* ---- around the model ---- */

static dstok_status add_norm(dstok__gguf *g, dstok__norm norm) {
    if (norm.pattern_n > 0)
        DSTOK_TRY(dstok__spec_copy(g->s, norm.pattern, norm.pattern_n, &norm.pattern, g->err));
    if (norm.content_n > 0)
        DSTOK_TRY(dstok__spec_copy(g->s, norm.content, norm.content_n, &norm.content, g->err));
    g->s->norms[g->s->n_norms++] = norm;
    return DSTOK_OK;
}

static dstok_status add_dec(dstok__gguf *g, dstok__dec dec) {
    if (dec.pattern_n > 0)
        DSTOK_TRY(dstok__spec_copy(g->s, dec.pattern, dec.pattern_n, &dec.pattern, g->err));
    if (dec.content_n > 0)
        DSTOK_TRY(dstok__spec_copy(g->s, dec.content, dec.content_n, &dec.content, g->err));
    g->s->decs[g->s->n_decs++] = dec;
    return DSTOK_OK;
}

/* Plain files need what Hugging Face's own conversion has; a character map or the taking away of blanks is
 * SentencePiece's business. */
static dstok_status add_normalizer(dstok__gguf *g, bool prefix) {
    const dstok__gguf_value *map = &g->values[DSTOK__GGUF_CHARSMAP];
    bool remove = false, has_map = dstok__gguf_has(g, DSTOK__GGUF_CHARSMAP);
    DSTOK_TRY(dstok__gguf_bool(g, DSTOK__GGUF_REMOVE_BLANKS, &remove));
    if (has_map)
        DSTOK_TRY(dstok__gguf_check_array(g, DSTOK__GGUF_CHARSMAP, DSTOK__GGUF_U8, DSTOK__GGUF_I8, 0));
    if (remove || (has_map && map->n > 0)) {
        dstok__norm norm = {.kind = DSTOK__NORM_SPM,
                            .flags = DSTOK__SPM_ESCAPE | (prefix ? DSTOK__SPM_DUMMY_PREFIX : 0) |
                                     (remove ? DSTOK__SPM_REMOVE_BLANKS : 0)};
        if (has_map) norm.pattern = (const char *)g->data + map->at;
        norm.pattern_n = has_map ? map->n : 0;
        return add_norm(g, norm);
    }
    if (prefix)
        DSTOK_TRY(
            add_norm(g, (dstok__norm){.kind = DSTOK__NORM_PREPEND, .content = META, .content_n = META_N}));
    return add_norm(g, (dstok__norm){.kind = DSTOK__NORM_REPLACE,
                                     .pattern = " ",
                                     .pattern_n = 1,
                                     .content = META,
                                     .content_n = META_N});
}

static dstok_status add_decoder(dstok__gguf *g, bool prefix) {
    DSTOK_TRY(add_dec(g, (dstok__dec){.kind = DSTOK__DEC_REPLACE,
                                      .pattern = META,
                                      .pattern_n = META_N,
                                      .content = " ",
                                      .content_n = 1}));
    DSTOK_TRY(add_dec(g, (dstok__dec){.kind = DSTOK__DEC_BYTE_FALLBACK}));
    DSTOK_TRY(add_dec(g, (dstok__dec){.kind = DSTOK__DEC_FUSE}));
    if (!prefix) return DSTOK_OK;
    return add_dec(g, (dstok__dec){.kind = DSTOK__DEC_STRIP, .content = " ", .content_n = 1, .start = 1});
}

static dstok_status read_pieces(dstok__gguf *g) {
    DSTOK_TRY(dstok__gguf_texts(g));
    DSTOK_TRY(dstok__gguf_check_array(g, DSTOK__GGUF_SCORES, DSTOK__GGUF_F32, DSTOK__GGUF_I32, g->n_tokens));
    DSTOK_TRY(dstok__gguf_each_token(g, add_token));
    return check_order(g);
}

dstok_status dstok__gguf_spm(dstok__gguf *g) {
    bool prefix = true;
    dstok__spec *s = g->s;
    s->model = DSTOK__MODEL_SCORES;
    s->char_atoms = s->late_fallback = s->fuse_unk = true;
    g->default_bos = true;
    DSTOK_TRY(dstok__gguf_bool(g, DSTOK__GGUF_ADD_PREFIX, &prefix));
    DSTOK_TRY(add_normalizer(g, prefix));
    DSTOK_TRY(add_decoder(g, prefix));
    DSTOK_TRY(read_pieces(g));
    uint32_t unk;
    if (dstok__gguf_integer(g, &g->values[DSTOK__GGUF_UNK], &unk) && unk < g->n_tokens) s->unk_id = unk;
    if (!prefix) return DSTOK_OK;
    return dstok__spec_warn(
        s, g->err,
        "GGUF: each stretch of text between special tokens gets a blank before it, as in the first "
        "Llama tokenizers; the file does not say whether only the first one should");
}
