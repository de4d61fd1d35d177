/* SPDX-License-Identifier: MIT */
/* Loading tokenizer.json (Hugging Face): the order of its parts, and its version. */
#include "hf.h"

enum {
    VERSION,
    TRUNCATION,
    PADDING,
    ADDED,
    NORMALIZER,
    PRE_TOKENIZER,
    POST_PROCESSOR,
    DECODER,
    MODEL,
    N_FIELDS
};

static dstok_status check_version(dstok__hf *h, size_t at) {
    const char *text;
    size_t n;
    if (at == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__read_string(&h->r, 0, at, "version", &text, &n));
    if (dstok__text_is(text, n, "1.0")) return DSTOK_OK;
    dstok__quoted q;
    return dstok__json_fail(&h->doc, DSTOK_E_VERSION, at, h->r.err,
                            "version \"%s\" is not known, only \"1.0\"", DSTOK__QUOTE(text, n, q));
}

/* These two cut or fill batches; they never change the ids of a text. */
static dstok_status warn_ignored(dstok__hf *h, const dstok__field *f) {
    if (f->at == 0) return DSTOK_OK;
    return dstok__spec_warn(h->r.s, h->r.err, "\"%s\" is set in the file; it is ignored", f->name);
}

/* What the file is, before anything large is read. */
static dstok_status read_pipeline(dstok__hf *h, const dstok__field *f, dstok__hf_model *model) {
    DSTOK_TRY(check_version(h, f[VERSION].at));
    if (f[MODEL].at == 0)
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, h->doc.root, h->r.err,
                                "\"model\" is missing: this is no tokenizer.json "
                                "(give that file, or its folder)");
    DSTOK_TRY(dstok__hf_model_open(h, f[MODEL].at, model));
    DSTOK_TRY(dstok__hf_pre_tokenizer(h, f[PRE_TOKENIZER].at));
    DSTOK_TRY(dstok__hf_normalizer(h, f[NORMALIZER].at));
    DSTOK_TRY(dstok__hf_decoder(h, f[DECODER].at));
    DSTOK_TRY(warn_ignored(h, &f[TRUNCATION]));
    return warn_ignored(h, &f[PADDING]);
}

static dstok_status read_file(dstok__hf *h) {
    dstok__field f[N_FIELDS] = {
        [VERSION] = {"version", 0},
        [TRUNCATION] = {"truncation", 0},
        [PADDING] = {"padding", 0},
        [ADDED] = {"added_tokens", 0},
        [NORMALIZER] = {"normalizer", 0},
        [PRE_TOKENIZER] = {"pre_tokenizer", 0},
        [POST_PROCESSOR] = {"post_processor", 0},
        [DECODER] = {"decoder", 0},
        [MODEL] = {"model", 0},
    };
    dstok__hf_model model = {0, 0, 0, 0};
    if (h->doc.has_bom)
        DSTOK_TRY(
            dstok__spec_warn(h->r.s, h->r.err, "the file starts with a byte order mark; it is ignored"));
    DSTOK_TRY(dstok__read_fields(&h->r, h->doc.root, "a tokenizer.json", f, N_FIELDS));
    DSTOK_TRY(read_pipeline(h, f, &model));
    DSTOK_TRY(dstok__hf_vocab(h, &model));
    DSTOK_TRY(dstok__hf_merges(h, &model));
    DSTOK_TRY(dstok__hf_added(h, f[ADDED].at));
    return dstok__hf_post_processor(h, f[POST_PROCESSOR].at);
}

uint32_t dstok__hf_id_of(const dstok__hf *h, const char *text, size_t n) {
    uint32_t i = dstok__map_get(&h->added, text, n);
    if (i != UINT32_MAX) return h->r.s->added[i].id;
    i = dstok__map_get(&h->vocab, text, n);
    return i != UINT32_MAX ? h->r.s->tokens[i].id : DSTOK__NO_ID;
}

static void hf_init(dstok__hf *h, dstok__spec *s, dstok_error *err) {
    const dstok_alloc *al = s->arena.al;
    *h = (dstok__hf){.r = {.s = s, .doc = &h->doc, .scratch = &h->text, .err = err}};
    dstok__bits_init(&h->taken, al);
    dstok__map_init(&h->vocab, al);
    dstok__map_init(&h->added, al);
    dstok__arena_init(&h->keys, al, DSTOK__MAX_ARENA);
    dstok__buf_init(&h->text, al, DSTOK__MAX_FILE);
    dstok__buf_init(&h->other, al, DSTOK__MAX_FILE);
    dstok__buf_init(&h->joined, al, DSTOK__MAX_FILE);
    dstok__normalized_init(&h->normalized, al);
    dstok__buf_init(&h->decoded, al, DSTOK__MAX_DECODED);
}

static void hf_free(dstok__hf *h) {
    dstok__bits_free(&h->taken);
    dstok__map_free(&h->vocab);
    dstok__map_free(&h->added);
    dstok__arena_free(&h->keys);
    dstok__buf_free(&h->text);
    dstok__buf_free(&h->other);
    dstok__buf_free(&h->joined);
    dstok__regex_scratch_free(h->regex);
    dstok__normalizer_free(h->normalizer);
    dstok__normalized_free(&h->normalized);
    dstok__buf_free(&h->decoded);
}

dstok_status dstok__load_hf(dstok__spec *s, const char *data, size_t n, const char *config, size_t config_n,
                            dstok_error *err) {
    dstok__hf h;
    hf_init(&h, s, err);
    s->format = "tokenizer.json";
    s->model = DSTOK__MODEL_MERGES;
    dstok_status status = dstok__json_open(&h.doc, data, n, "", err);
    if (status == DSTOK_OK) status = read_file(&h);
    if (status == DSTOK_OK && config != NULL) status = dstok__hf_config(&h, config, config_n);
    hf_free(&h);
    return status;
}
