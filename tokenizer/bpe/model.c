/* SPDX-License-Identifier: MIT */
/* Building a tokenizer from a spec: id tables, the pair table, added-token sets, the pretokenizer. */
#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static dstok_status no_memory(dstok_error *err) {
    return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory while building the tokenizer");
}

/* ---- tables by id ---- */

static uint32_t count_ids(const dstok__spec *s) {
    uint32_t n = 0;
    for (size_t i = 0; i < s->n_tokens; i++) {
        if (s->tokens[i].id >= n) n = s->tokens[i].id + 1;
    }
    for (size_t i = 0; i < s->n_added; i++) {
        if (s->added[i].id >= n) n = s->added[i].id + 1;
    }
    return n;
}

static unsigned added_flags(const dstok__added *a) {
    unsigned flags = DSTOK_TOKEN_EXISTS | DSTOK_TOKEN_ADDED;
    if (a->special) flags |= DSTOK_TOKEN_SPECIAL;
    if (a->special || a->is_named || dstok__is_control_text(a->content, a->n)) flags |= DSTOK_TOKEN_CONTROL;
    return flags;
}

static dstok_status fill_ids(dstok_tokenizer *tok) {
    const dstok__spec *s = &tok->spec;
    tok->n_ids = count_ids(s);
    if (tok->n_ids == 0) return DSTOK_OK;
    tok->pieces = dstok__alloc_zeroed(&tok->al, tok->n_ids, sizeof *tok->pieces);
    tok->flags = dstok__alloc_zeroed(&tok->al, tok->n_ids, 1);
    if (tok->pieces == NULL || tok->flags == NULL) return DSTOK_E_NOMEM;
    for (size_t i = 0; i < s->n_tokens; i++) {
        const dstok__token *t = &s->tokens[i];
        tok->pieces[t->id] = (dstok__piece){(const uint8_t *)t->bytes, t->n};
        tok->flags[t->id] = DSTOK_TOKEN_EXISTS;
    }
    for (size_t i = 0; i < s->n_added; i++) {
        const dstok__added *a = &s->added[i];
        if (tok->pieces[a->id].bytes == NULL || a->shadows) {
            tok->pieces[a->id] = (dstok__piece){(const uint8_t *)a->content, a->n};
        }
        tok->flags[a->id] |= (uint8_t)added_flags(a);
    }
    for (size_t i = 0; i < s->n_template; i++) {
        const dstok__template_item *item = &s->template_items[i];
        if (!item->is_text && item->id < tok->n_ids) tok->flags[item->id] |= DSTOK_TOKEN_CONTROL;
    }
    for (uint32_t id = 0; id < tok->n_ids; id++) tok->n_tokens += tok->flags[id] != 0;
    return DSTOK_OK;
}

/* Such a byte has no other token: to leave it out would lose text. */
static dstok_status warn_byte(dstok_tokenizer *tok, const dstok__token *t) {
    return dstok__spec_warn(&tok->spec, NULL,
                            "control token %u is the single byte 0x%02X: any text may hold it", t->id,
                            (uint8_t)t->bytes[0]);
}

static dstok_status map_tokens(dstok_tokenizer *tok) {
    const dstok__spec *s = &tok->spec;
    for (unsigned b = 0; b < 256; b++) tok->byte_ids[b] = DSTOK__NO_ID;
    DSTOK_TRY(dstok__map_reserve(&tok->by_bytes, s->n_tokens));
    for (size_t i = 0; i < s->n_tokens; i++) {
        const dstok__token *t = &s->tokens[i];
        if (t->literal || t->n == 0) continue;
        DSTOK_TRY(dstok__map_put(&tok->by_bytes, t->bytes, t->n, t->id, NULL));
        if (t->n == 1) tok->byte_ids[(uint8_t)t->bytes[0]] = t->id;
        if (t->n == 1 && (tok->flags[t->id] & DSTOK_TOKEN_CONTROL)) DSTOK_TRY(warn_byte(tok, t));
        if (tok->whole_first && (tok->flags[t->id] & DSTOK_TOKEN_CONTROL)) tok->control_merges = true;
    }
    return DSTOK_OK;
}

/* ---- pairs ---- */

static dstok_status put_pair(dstok_tokenizer *tok, uint32_t left, uint32_t right, uint32_t rank,
                             uint32_t product) {
    DSTOK_TRY(dstok__pairs_reserve(&tok->pairs, tok->pairs.count + 1));
    tok->n_merges += dstok__pairs_put(&tok->pairs, left, right, rank, product);
    if (tok->flags[product] & DSTOK_TOKEN_CONTROL) tok->control_merges = true;
    return DSTOK_OK;
}

/* Looking at every split of a token takes time with the square of its length; real files need about 2^25. */
#define MAX_SPLIT_WORK ((uint64_t)1 << 32)

/* A rank file merges any two neighbours whose joined bytes are a token: every split of every token is a pair.
 */
static dstok_status pairs_from_ranks(dstok_tokenizer *tok, dstok_error *err) {
    const dstok__spec *s = &tok->spec;
    uint64_t work = 0;
    for (size_t i = 0; i < s->n_tokens; i++) {
        const dstok__token *t = &s->tokens[i];
        work += (uint64_t)t->n * t->n;
        if (work > MAX_SPLIT_WORK) {
            return dstok__fail(
                err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
                "the tokens of this rank file are too long: the squares of their lengths add up to "
                "more than %" PRIu64,
                MAX_SPLIT_WORK);
        }
        for (uint32_t cut = 1; cut < t->n; cut++) {
            uint32_t left = dstok__map_get(&tok->by_bytes, t->bytes, cut);
            if (left == DSTOK__NO_ID) continue;
            uint32_t right = dstok__map_get(&tok->by_bytes, t->bytes + cut, t->n - cut);
            if (right != DSTOK__NO_ID) DSTOK_TRY(put_pair(tok, left, right, t->id, t->id));
        }
    }
    return DSTOK_OK;
}

static dstok_status fill_pairs(dstok_tokenizer *tok, dstok_error *err) {
    const dstok__spec *s = &tok->spec;
    DSTOK_TRY(dstok__pairs_reserve(&tok->pairs, s->model == DSTOK__MODEL_MERGES ? s->n_merges : s->n_tokens));
    if (s->model == DSTOK__MODEL_RANKS) return pairs_from_ranks(tok, err);
    for (size_t i = 0; i < s->n_merges; i++) {
        const dstok__merge *m = &s->merges[i];
        DSTOK_TRY(put_pair(tok, m->left, m->right, (uint32_t)i, m->product));
    }
    return DSTOK_OK;
}

/* ---- added tokens ---- */

/* The text to look for: normalised for tokens that are matched after normalisation. */
static dstok_status wanted_text(dstok_tokenizer *tok, const dstok__added *a, dstok__normalized *n,
                                dstok__added_entry *entry) {
    entry->text = (const uint8_t *)a->content;
    entry->n = a->n;
    if (!a->normalized || tok->spec.n_norms == 0) return DSTOK_OK;
    DSTOK_TRY(
        dstok__normalize(n, tok->spec.norms, tok->spec.n_norms, entry->text, a->n, DSTOK__MAX_TOKEN_BYTES));
    entry->n = (uint32_t)n->len;
    entry->text = (const uint8_t *)dstok__arena_copy(&tok->spec.arena, n->text, n->len);
    return entry->text == NULL ? DSTOK_E_NOMEM : DSTOK_OK;
}

static dstok_status put_added(dstok_tokenizer *tok, dstok__normalized *n) {
    for (size_t i = 0; i < tok->spec.n_added; i++) {
        const dstok__added *a = &tok->spec.added[i];
        dstok__added_entry entry = {.id = a->id,
                                    .special = a->special,
                                    .single_word = a->single_word,
                                    .lstrip = a->lstrip,
                                    .rstrip = a->rstrip,
                                    .control = (tok->flags[a->id] & DSTOK_TOKEN_CONTROL) != 0};
        DSTOK_TRY(wanted_text(tok, a, n, &entry));
        if (entry.n > 0) DSTOK_TRY(dstok__added_put(a->normalized ? &tok->normalized : &tok->raw, &entry));
    }
    return DSTOK_OK;
}

static dstok_status fill_added(dstok_tokenizer *tok) {
    dstok__normalized n;
    dstok__normalized_init(&n, &tok->al);
    dstok_status status = put_added(tok, &n);
    dstok__normalized_free(&n);
    DSTOK_TRY(status);
    DSTOK_TRY(dstok__added_build(&tok->raw));
    return dstok__added_build(&tok->normalized);
}

/* ---- descriptions ---- */

static const char *const behaviors[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                                        "Contiguous"};

static dstok_status describe_step(const dstok__step *step, dstok__buf *b) {
    const char *kind = step->kind == DSTOK__STEP_REGEX     ? "Split(Regex"
                       : step->kind == DSTOK__STEP_LITERAL ? "Split(String"
                       : step->kind == DSTOK__STEP_DIGITS  ? "Digits("
                                                           : "Punctuation(";
    const char *comma = step->kind == DSTOK__STEP_REGEX || step->kind == DSTOK__STEP_LITERAL ? ", " : "";
    DSTOK_TRY(dstok__buf_printf(b, "%s%s%s%s)", kind, comma, behaviors[step->behavior],
                                step->invert ? ", invert" : ""));
    if (step->n == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__buf_push(b, ' '));
    return dstok__buf_append(b, step->pattern, step->n);
}

static const char *const norm_names[] = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase"};

/* Gives one description to the arena. */
static dstok_status keep(dstok_tokenizer *tok, dstok__buf *b, const char **out) {
    *out = dstok__arena_copy(&tok->spec.arena, b->data, b->len);
    b->len = 0;
    return *out == NULL ? DSTOK_E_NOMEM : DSTOK_OK;
}

static dstok_status describe_all(dstok_tokenizer *tok, dstok__buf *b) {
    const dstok__spec *s = &tok->spec;
    for (size_t i = 0; i < s->n_norms; i++) {
        DSTOK_TRY(dstok__buf_printf(b, "%s%s", i > 0 ? ", " : "", norm_names[s->norms[i]]));
    }
    tok->normalizer = "none";
    if (s->n_norms > 0) DSTOK_TRY(keep(tok, b, &tok->normalizer));
    if (s->n_steps == 0) return DSTOK_OK;
    tok->steps = dstok__alloc_zeroed(&tok->al, s->n_steps, sizeof *tok->steps);
    if (tok->steps == NULL) return DSTOK_E_NOMEM;
    for (size_t i = 0; i < s->n_steps; i++) {
        DSTOK_TRY(describe_step(&s->steps[i], b));
        DSTOK_TRY(keep(tok, b, &tok->steps[i]));
    }
    return DSTOK_OK;
}

static dstok_status describe(dstok_tokenizer *tok) {
    dstok__buf b;
    dstok__buf_init(&b, &tok->al, DSTOK__MAX_FILE);
    dstok_status status = describe_all(tok, &b);
    dstok__buf_free(&b);
    return status;
}

/* ---- all of it ---- */

/* The lists that only building needed. */
static void drop_lists(dstok__spec *s, const dstok_alloc *al) {
    dstok__free(al, s->tokens, s->cap_tokens * sizeof *s->tokens);
    dstok__free(al, s->merges, s->cap_merges * sizeof *s->merges);
    s->tokens = NULL;
    s->merges = NULL;
    s->cap_tokens = s->cap_merges = s->n_merges = s->n_tokens = 0;
}

static uint64_t memory_of(const dstok_tokenizer *tok) {
    return tok->spec.arena.total + (uint64_t)tok->n_ids * (sizeof *tok->pieces + 1) +
           (tok->pairs.mask + 1) * sizeof *tok->pairs.slots +
           (tok->by_bytes.slots == NULL ? 0 : (tok->by_bytes.mask + 1) * 24) +
           (tok->raw.cap + tok->normalized.cap) * sizeof(dstok__added_entry) + sizeof *tok;
}

static dstok_status build(dstok_tokenizer *tok, dstok_error *err) {
    tok->whole_first = tok->spec.ignore_merges || tok->spec.model == DSTOK__MODEL_RANKS;
    DSTOK_TRY(fill_ids(tok));
    DSTOK_TRY(map_tokens(tok));
    DSTOK_TRY(fill_pairs(tok, err));
    DSTOK_TRY(fill_added(tok));
    return describe(tok);
}

/* A place in a pattern is no place in the file. */
static dstok_status pattern_failed(dstok_status status, dstok_error *err) {
    char text[sizeof err->text];
    if (err == NULL || err->offset == DSTOK_NO_OFFSET) return status;
    memcpy(text, err->text, sizeof text);
    return dstok__fail(err, status, DSTOK_NO_OFFSET, 0,
                       "%sbyte %" PRIu64 " of the pretokenizer's pattern: %s",
                       status == DSTOK_E_UNSUPPORTED ? "not supported: " : "", err->offset, text);
}

dstok_status dstok__model_build(dstok_tokenizer *tok, uint32_t load_flags, dstok_error *err) {
    dstok__map_init(&tok->by_bytes, &tok->al);
    dstok__pairs_init(&tok->pairs, &tok->al);
    dstok__added_init(&tok->raw, &tok->al);
    dstok__added_init(&tok->normalized, &tok->al);
    dstok_status status = build(tok, err);
    if (status == DSTOK_E_NOMEM) return no_memory(err);
    DSTOK_TRY(status);
    status = dstok__pretok_new(&tok->al, tok->spec.steps, tok->spec.n_steps,
                               (load_flags & DSTOK_LOAD_NO_SCANNER) == 0, &tok->pretok, err);
    if (status != DSTOK_OK) return pattern_failed(status, err);
    drop_lists(&tok->spec, &tok->al);
    tok->memory = memory_of(tok);
    return DSTOK_OK;
}

void dstok__model_free(dstok_tokenizer *tok) {
    dstok__pretok_free(tok->pretok);
    dstok__free(&tok->al, tok->steps, tok->spec.n_steps * sizeof *tok->steps);
    dstok__added_free(&tok->raw);
    dstok__added_free(&tok->normalized);
    dstok__pairs_free(&tok->pairs);
    dstok__map_free(&tok->by_bytes);
    dstok__free(&tok->al, tok->pieces, tok->n_ids * sizeof *tok->pieces);
    dstok__free(&tok->al, tok->flags, tok->n_ids);
    dstok__spec_free(&tok->spec);
}
