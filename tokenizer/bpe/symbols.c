/* SPDX-License-Identifier: MIT */
/* The ids of one pretoken: the symbols it starts from, merging, and what is left without a token. */
#include "job.h"

#include "../text/utf8.h"

#include <string.h>

/* ---- symbols ---- */

/* The symbols of a pretoken while they are gathered. Positions in symbols count from the pretoken's begin. */
typedef struct gathering {
    job *j;
    dstok__symbol *symbols;
    size_t n;
    bool is_hf;   /* positions are those of Hugging Face: each symbol begins where the one before it ends */
    size_t hf_at; /* ... here */
    bool has_unknown; /* one that waits: the reference puts it out before the next token that it knows */
    size_t unknown_begin, unknown_end;
    size_t unknown_hf_n; /* its length as Hugging Face counts */
    size_t first_behind; /* index of the first symbol that overtook it */
} gathering;

static dstok_status put(gathering *g, uint32_t id, size_t begin, size_t end, size_t hf_n) {
    dstok__merge_scratch *m = &g->j->enc->merge;
    if (g->is_hf) {
        begin = g->hf_at;
        end = g->hf_at += hf_n;
    }
    DSTOK_TRY(dstok__merge_reserve(m, g->n + 1));
    g->symbols = m->symbols;
    g->symbols[g->n++] = (dstok__symbol){id, (uint32_t)begin, (uint32_t)end};
    return DSTOK_OK;
}

/* Puts the waiting unknown out. Symbols that overtook it share one range with it, so that ranges never
 * decrease. */
static dstok_status flush_unknown(gathering *g) {
    if (!g->has_unknown) return DSTOK_OK;
    g->has_unknown = false;
    size_t first = g->first_behind, begin = g->unknown_begin, end = g->unknown_end;
    if (first < g->n && g->symbols[g->n - 1].end > end) end = g->symbols[g->n - 1].end;
    for (size_t i = first; i < g->n && !g->is_hf; i++) {
        g->symbols[i].begin = (uint32_t)begin;
        g->symbols[i].end = (uint32_t)end;
    }
    return put(g, g->j->tok->unk_id, begin, end, g->unknown_hf_n);
}

static dstok_status put_unknown(gathering *g, size_t begin, size_t end, size_t hf_n) {
    DSTOK_TRY(dstok__job_unknown(g->j, begin, end));
    if (g->j->tok->unk_id == DSTOK__NO_ID) return DSTOK_OK; /* it vanishes */
    if (g->has_unknown && (g->j->tok->options & DSTOK__T_FUSE_UNK)) {
        g->unknown_end = end;
        g->unknown_hf_n += hf_n;
        return DSTOK_OK;
    }
    DSTOK_TRY(flush_unknown(g));
    g->has_unknown = true;
    g->unknown_begin = begin;
    g->unknown_end = end;
    g->unknown_hf_n = hf_n;
    g->first_behind = g->n;
    return DSTOK_OK;
}

/* The id, unless the policy forbids it: text must not give a control token. */
static uint32_t permitted(const job *j, uint32_t id) {
    bool is_forbidden =
        j->forbid_control && id < j->tok->n_ids && (j->tok->flags[id] & DSTOK_TOKEN_CONTROL) != 0;
    return is_forbidden ? DSTOK__NO_ID : id;
}

/* A token a byte, without affixes or fallback. */
static dstok_status gather_bytes(gathering *g, const uint8_t *text, size_t n) {
    const uint32_t *ids = g->j->tok->t.head->byte_ids;
    DSTOK_TRY(dstok__merge_reserve(&g->j->enc->merge, n));
    g->symbols = g->j->enc->merge.symbols;
    for (size_t i = 0; i < n; i++) {
        if (ids[text[i]] == DSTOK__NO_ID) {
            DSTOK_TRY(put_unknown(g, i, i + 1, dstok__hf_width(g->j, text[i])));
            continue;
        }
        if (g->has_unknown) DSTOK_TRY(flush_unknown(g));
        if (g->is_hf) {
            DSTOK_TRY(put(g, ids[text[i]], i, i + 1, dstok__hf_width(g->j, text[i])));
            continue;
        }
        g->symbols[g->n++] = (dstok__symbol){ids[text[i]], (uint32_t)i, (uint32_t)i + 1};
    }
    return flush_unknown(g);
}

/* A character (or byte) with what the vocabulary puts before and behind it: inner bytes from head on are
 * its own. */
typedef struct atom {
    uint8_t bytes[2 * DSTOK__MAX_AFFIX + 4];
    size_t n, head, width;
} atom;

static void make_atom(const dstok_tokenizer *tok, const uint8_t *text, size_t width, bool is_first,
                      bool is_last, atom *a) {
    a->head = is_first ? 0 : tok->prefix_n;
    a->width = width;
    memcpy(a->bytes, tok->prefix, a->head);
    memcpy(a->bytes + a->head, text, width);
    a->n = a->head + width;
    if (!is_last) return;
    memcpy(a->bytes + a->n, tok->suffix, tok->suffix_n);
    a->n += tok->suffix_n;
}

/* byte_fallback before merging: all bytes of the atom must have their tokens, else false. */
static dstok_status put_fallback(gathering *g, const atom *a, size_t begin, bool *done) {
    const uint32_t *ids = g->j->tok->t.head->fallback_ids;
    *done = true;
    for (size_t i = 0; i < a->n && *done; i++) *done = permitted(g->j, ids[a->bytes[i]]) != DSTOK__NO_ID;
    for (size_t i = 0; i < a->n && *done; i++) {
        size_t from = i < a->head ? 0 : i - a->head, to = i < a->head ? 0 : from + 1;
        if (from > a->width) from = a->width;
        if (to > a->width) to = a->width;
        DSTOK_TRY(put(g, ids[a->bytes[i]], begin + from, begin + to, 1));
    }
    return DSTOK_OK;
}

static dstok_status put_atom(gathering *g, const atom *a, size_t begin) {
    const dstok_tokenizer *tok = g->j->tok;
    bool chars = (tok->options & DSTOK__T_CHAR_ATOMS) != 0;
    size_t hf_n = chars ? a->width : dstok__hf_width(g->j, a->bytes[a->head]);
    uint32_t id = permitted(g->j, dstok__tables_find(&tok->t, a->bytes, a->n));
    if (id != DSTOK__NO_ID || (tok->options & DSTOK__T_LATE_FALLBACK) ||
        tok->t.head->model == DSTOK__MODEL_SCORES) {
        DSTOK_TRY(flush_unknown(g));
        return put(g, id, begin, begin + a->width, hf_n);
    }
    bool done = false;
    if (tok->options & DSTOK__T_FALLBACK) DSTOK_TRY(put_fallback(g, a, begin, &done));
    return done ? DSTOK_OK : put_unknown(g, begin, begin + a->width, hf_n);
}

static dstok_status gather_atoms(gathering *g, const uint8_t *text, size_t n) {
    bool chars = (g->j->tok->options & DSTOK__T_CHAR_ATOMS) && !g->j->is_raw;
    for (size_t i = 0, width = 1; i < n; i += width) {
        atom a;
        if (chars) (void)dstok__utf8_get(text + i, &width);
        make_atom(g->j->tok, text + i, width, i == 0, i + width == n, &a);
        DSTOK_TRY(put_atom(g, &a, i));
    }
    return flush_unknown(g);
}

/* ---- after merging ---- */

/* A token that is to be taken apart. */
struct dstok__unused {
    uint32_t id, begin, end;
};

void dstok__unused_free(dstok_encoder *enc) {
    dstok__free(&enc->tok->al, enc->unused, enc->cap_unused * sizeof *enc->unused);
}

/* What is being put out: unknown characters side by side become one token. */
typedef struct putting {
    job *j;
    bool has_unknown;
    size_t unknown_begin, unknown_end;
} putting;

static dstok_status put_pending(putting *p) {
    if (!p->has_unknown) return DSTOK_OK;
    p->has_unknown = false;
    return dstok__job_push_part(p->j, p->j->tok->unk_id, p->unknown_begin, p->unknown_end, false);
}

/* A character without a token, behind merging (SentencePiece): its bytes' tokens, or the unknown token. */
static dstok_status put_left_over(putting *p, size_t begin, size_t end) {
    const dstok_tokenizer *tok = p->j->tok;
    const uint32_t *ids = tok->t.head->fallback_ids;
    const uint8_t *text = p->j->piece->text + p->j->piece->begin;
    bool falls_back = (tok->options & DSTOK__T_LATE_FALLBACK) != 0;
    for (size_t i = begin; i < end && falls_back; i++)
        falls_back = permitted(p->j, ids[text[i]]) != DSTOK__NO_ID;
    if (falls_back) {
        DSTOK_TRY(put_pending(p));
        for (size_t i = begin; i < end; i++)
            DSTOK_TRY(dstok__job_push_part(p->j, ids[text[i]], i, i + 1, false));
        return DSTOK_OK;
    }
    /* Raw bytes are no characters, even where a forged file has merged some. */
    DSTOK_TRY(dstok__job_unknown(p->j, begin, p->j->is_raw ? begin + 1 : end));
    if (tok->unk_id == DSTOK__NO_ID) return put_pending(p);
    if (p->has_unknown && (tok->options & DSTOK__T_FUSE_UNK)) {
        p->unknown_end = end;
        return DSTOK_OK;
    }
    DSTOK_TRY(put_pending(p));
    p->has_unknown = true;
    p->unknown_begin = begin;
    p->unknown_end = end;
    return DSTOK_OK;
}

static dstok_status put_whole(putting *p, uint32_t id, size_t begin, size_t end, bool is_partial) {
    if (id >= p->j->tok->n_ids) return put_left_over(p, begin, end);
    DSTOK_TRY(put_pending(p));
    return dstok__job_push_part(p->j, id, begin, end, is_partial);
}

static dstok_status push_unused(dstok_encoder *enc, size_t n, struct dstok__unused one) {
    DSTOK_TRY(
        dstok__grow(&enc->tok->al, (void **)&enc->unused, &enc->cap_unused, n + 1, sizeof one, SIZE_MAX));
    enc->unused[n] = one;
    return DSTOK_OK;
}

static bool is_for_splitting(const job *j, uint32_t id) {
    return j->enc->splits != NULL && id < j->tok->n_ids && (j->tok->flags[id] & DSTOK__TOKEN_UNUSED);
}

/* A token that the vocabulary holds but does not use: what it was merged from, again and again. */
static dstok_status put_apart(putting *p, struct dstok__unused one) {
    dstok_encoder *enc = p->j->enc;
    const dstok_tokenizer *tok = p->j->tok;
    size_t n = 0;
    DSTOK_TRY(push_unused(enc, n++, one));
    while (n > 0) {
        one = enc->unused[--n];
        bool is_unused = is_for_splitting(p->j, one.id);
        dstok__split s = is_unused ? enc->splits[one.id] : (dstok__split){DSTOK__NO_ID, DSTOK__NO_ID};
        uint32_t left_n = s.left < dstok__tables_n(&tok->t, DSTOK__S_TEXTS) ? tok->t.texts[s.left].n : 0;
        if (!is_unused) {
            DSTOK_TRY(put_whole(p, one.id, one.begin, one.end, false));
            continue;
        }
        if (left_n == 0 || left_n >= one.end - one.begin) { /* a character: what is not used is unknown */
            DSTOK_TRY(put_left_over(p, one.begin, one.end));
            continue;
        }
        uint32_t cut = one.begin + left_n;
        DSTOK_TRY(push_unused(enc, n++, (struct dstok__unused){s.right, cut, one.end}));
        DSTOK_TRY(push_unused(enc, n++, (struct dstok__unused){s.left, one.begin, cut}));
    }
    return DSTOK_OK;
}

static dstok_status put_symbols(job *j, size_t n) {
    putting p = {.j = j};
    size_t before = 0;
    for (size_t i = 0; i < n; i++) {
        dstok__symbol s = j->enc->merge.symbols[i];
        bool shared = s.begin < before || (i + 1 < n && j->enc->merge.symbols[i + 1].begin < s.end);
        before = s.end;
        if (is_for_splitting(j, s.id)) {
            struct dstok__unused one = {s.id, s.begin, s.end};
            DSTOK_TRY(put_apart(&p, one));
        } else {
            DSTOK_TRY(put_whole(&p, s.id, s.begin, s.end, shared));
        }
    }
    return put_pending(&p);
}

/* ---- all of it ---- */

/* The whole pretoken as one token. */
static dstok_status push_all(job *j, uint32_t id, const uint8_t *text, size_t n) {
    size_t end = n;
    if (j->opt.span_style == DSTOK_SPANS_HF && !(j->tok->options & DSTOK__T_CHAR_ATOMS)) {
        end = 0;
        for (size_t i = 0; i < n; i++) end += dstok__hf_width(j, text[i]);
    }
    return dstok__job_push_part(j, id, 0, end, false);
}

dstok_status dstok__job_pretoken(job *j) {
    const dstok_tokenizer *tok = j->tok;
    const uint8_t *text = j->piece->text + j->piece->begin;
    size_t n = j->piece->end - j->piece->begin;
    if ((tok->options & DSTOK__T_WHOLE_FIRST) && !j->is_piece) {
        uint32_t id = permitted(j, dstok__tables_find(&tok->t, text, n));
        if (id < tok->n_ids) return push_all(j, id, text, n);
    }
    gathering g = {.j = j, .is_hf = j->opt.span_style == DSTOK_SPANS_HF};
    DSTOK_TRY(tok->options & DSTOK__T_PLAIN_ATOMS ? gather_bytes(&g, text, n) : gather_atoms(&g, text, n));
    dstok__merge_rules rules = {.pairs = &tok->t.pairs,
                                .flags = tok->flags,
                                .refused = j->forbid_control ? DSTOK_TOKEN_CONTROL : 0,
                                .noted = j->enc->splits != NULL ? DSTOK__TOKEN_UNUSED : 0,
                                .splits = j->enc->splits,
                                .simd = j->enc->simd};
    DSTOK_TRY(dstok__merge_run(&j->enc->merge, &rules, g.n, &n));
    return put_symbols(j, n);
}

dstok_status dstok__tokens_stay(dstok_encoder *enc, uint32_t left, uint32_t right,
                                const dstok_encode_options *options, bool *stay) {
    const dstok_tokenizer *tok = enc->tok;
    dstok__ref a = tok->t.texts[left], b = tok->t.texts[right];
    job j = {.enc = enc, .tok = tok, .opt = *options};
    dstok__buf text;
    size_t n = 0;
    *stay = false;
    j.forbid_control = dstok__job_forbids_control(&j);
    dstok__buf_init(&text, &tok->al, SIZE_MAX);
    dstok_status status = dstok__buf_append(&text, tok->t.strings + a.at, a.n);
    if (status == DSTOK_OK) status = dstok__buf_append(&text, tok->t.strings + b.at, b.n);
    if (status == DSTOK_OK)
        status = dstok__buf_append(&text, "\0\0\0", 3); /* may be read, whatever the texts are */
    dstok__pretoken piece = {text.data, 0, (size_t)a.n + b.n, NULL};
    j.piece = &piece;
    j.norm = j.stretch = piece.text;
    j.norm_len = j.stretch_len = piece.end;
    j.opt.strict = 0;
    gathering g = {.j = &j};
    if (status == DSTOK_OK)
        status = tok->options & DSTOK__T_PLAIN_ATOMS ? gather_bytes(&g, text.data, piece.end)
                                                     : gather_atoms(&g, text.data, piece.end);
    dstok__merge_rules rules = {.pairs = &tok->t.pairs,
                                .flags = tok->flags,
                                .refused = j.forbid_control ? DSTOK_TOKEN_CONTROL : 0,
                                .simd = enc->simd};
    if (status == DSTOK_OK) status = dstok__merge_run(&enc->merge, &rules, g.n, &n);
    const dstok__symbol *s = enc->merge.symbols;
    *stay = status == DSTOK_OK && n == 2 && s[0].id == left && s[1].id == right && s[0].end == a.n;
    dstok__buf_free(&text);
    return status;
}
