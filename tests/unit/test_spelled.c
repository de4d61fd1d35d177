/* SPDX-License-Identifier: MIT */
/* Chunks of characters that the normaliser spells out in more tokens than a chunk may have: their ids are parted, none
 * is lost or given twice, and the bytes are in the last of their chunks. */
#include "../harness/t.h"
#include "../oracle/fixture.h"

#include <dstok/chunker.h>

/* U+FDFA: 33 bytes in NFKC, each of them a token. */
static const char text[] = "ab \xEF\xB7\xBA cd \xEF\xB7\xBA\xEF\xB7\xBA. Next one.";

typedef struct walk {
    const dstok_tokens *whole;
    uint64_t token, byte;
    size_t n, n_empty;
} walk;

static int check(void *context, const dstok_chunk *c) {
    walk *w = context;
    CHECK(c->n > 0 && c->n <= 16);
    CHECK(c->tokens.begin <= w->token && (c->n_overlap > 0 || c->tokens.begin == w->token));
    CHECK(c->tokens.end > w->token && c->tokens.end <= w->whole->n);
    CHECK_EQ(c->bytes.begin + c->n_overlap, w->byte);
    CHECK(c->bytes.end > w->byte || (c->border == DSTOK_BORDER_TOKEN && c->forced));
    if (c->tokens.end <= w->whole->n)
        CHECK_MEM(c->ids, w->whole->ids + c->tokens.begin, c->n * sizeof *c->ids);
    w->n_empty += c->bytes.end == w->byte;
    w->token = c->tokens.end;
    w->byte = c->bytes.end;
    w->n++;
    return 0;
}

static dstok_status cut(const dstok_tokenizer *tok, const dstok_chunker_options *o, walk *w,
                        dstok_error *err) {
    dstok_chunker *chunker;
    CHECK_EQ(dstok_chunker_new(tok, o, check, w, &chunker, NULL), DSTOK_OK);
    dstok_status status = DSTOK_OK;
    for (size_t at = 0; at < strlen(text) && status == DSTOK_OK; at++)
        status = dstok_chunker_feed(chunker, text + at, 1, err);
    if (status == DSTOK_OK) status = dstok_chunker_finish(chunker, err);
    dstok_chunker_free(chunker);
    return status;
}

int main(void) {
    fixture f = fixture_words;
    f.normalizer = "{\"type\":\"NFKC\"}";
    dstok_tokenizer *tok = fixture_load(&f, NULL);
    dstok_encoder *enc = fixture_encoder(tok);
    dstok_chunker_options o = DSTOK_CHUNKER_OPTIONS_INIT;
    dstok_error err = {0};
    dstok_tokens t;
    CHECK_EQ(dstok_encode_view(enc, text, strlen(text), NULL, &t, NULL), DSTOK_OK);
    o.max_tokens = 16;
    for (unsigned i = 0; i < 24; i++) {
        walk w = {.whole = &t};
        o.border = (int)(i % 4);
        o.balance = i / 4 % 2;
        o.overlap = i / 8 == 1 ? 5 : 0;
        o.overlap_sentences = i / 8 == 2;
        CHECK_EQ(cut(tok, &o, &w, &err), DSTOK_OK);
        CHECK_EQ(w.token, t.n);
        CHECK_EQ(w.byte, strlen(text));
        CHECK(w.n > 7 && w.n_empty >= 6); /* two for each of three */
    }
    o = (dstok_chunker_options)DSTOK_CHUNKER_OPTIONS_INIT;
    o.max_tokens = 16;
    o.ids = DSTOK_CHUNK_RETOKENIZE;
    walk w = {.whole = &t};
    CHECK_EQ(cut(tok, &o, &w, &err), DSTOK_E_LIMIT);
    CHECK_EQ(err.offset, 3);
    CHECK_EQ(w.byte, 3);
    CHECK_EQ(w.n_empty, 0);
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
    return t_end();
}
