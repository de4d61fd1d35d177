/* SPDX-License-Identifier: MIT */
/* Chunks: nothing lost, never above the limit, the ids of the whole, the same for every feed; and each
 * option. */
#include "../harness/heap.h"
#include "../harness/t.h"
#include "../oracle/fixture.h"
#include "../oracle/gen.h"

#include "../../tokenizer/stream/chunker.h"
#include "../../tokenizer/stream/inside.h"

#include <dstok/align.h>

#include <stdlib.h>

enum { MAX_CHUNKS = 20000, MAX_TEXT = 1 << 20 };

/* What is kept of a chunk. */
typedef struct kept {
    dstok_chunk c;
    uint64_t ids_hash, spans_hash;
} kept;

typedef struct result {
    kept *chunks;
    size_t n, n_forced;
    uint64_t stop_at;     /* chunk at which the sink says stop, from 1 */
    dstok_encoder *again; /* NULL: not looked at */
    size_t limit;
} result;

static uint64_t hash(const void *p, size_t n) {
    const uint8_t *s = p;
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < n; i++) h = (h ^ s[i]) * 1099511628211u;
    return h;
}

/* The ids of the chunk's own text. */
static void check_again(const result *r, const dstok_chunk *chunk) {
    dstok_tokens t;
    CHECK_EQ(dstok_encode_view(r->again, chunk->text, chunk->text_len, NULL, &t, NULL), DSTOK_OK);
    CHECK_EQ(chunk->n, t.n);
    if (chunk->n == t.n) CHECK_MEM(chunk->ids, t.ids, t.n * sizeof *t.ids);
}

static int keep(void *context, const dstok_chunk *chunk) {
    result *r = context;
    if (r->n == MAX_CHUNKS) return 1;
    r->chunks[r->n].c = *chunk;
    r->chunks[r->n].ids_hash = hash(chunk->ids, chunk->n * sizeof *chunk->ids);
    r->chunks[r->n].spans_hash = hash(chunk->spans, chunk->n * sizeof *chunk->spans);
    r->n++;
    r->n_forced += chunk->forced != 0;
    if (r->again != NULL) check_again(r, chunk);
    return r->n == r->stop_at;
}

static result new_result(void) {
    result r = {.chunks = malloc(MAX_CHUNKS * sizeof(kept))};
    return r;
}

/* Not 0: streams of chunkers encode so many bytes at a time. */
static size_t stream_step;

/* Cuts a text that is fed in pieces of at most `piece` bytes (random ones when rng is not NULL). */
static void cut(const dstok_tokenizer *tok, const dstok_chunker_options *options, const uint8_t *text,
                size_t len, size_t piece, t_rng *rng, result *r) {
    dstok_chunker *chunker;
    dstok_error err = {0};
    r->n = r->n_forced = 0;
    dstok_status status = dstok_chunker_new(tok, options, keep, r, &chunker, &err);
    CHECK_EQ(status, DSTOK_OK);
    if (status != DSTOK_OK) return;
    if (stream_step > 0 && chunker->source->stream != NULL) {
        chunker->source->stream->step = stream_step;
        chunker->source->stream->hold = 24;
        dstok_chunker_reset(chunker);
    }
    for (size_t at = 0; at < len && status == DSTOK_OK;) {
        size_t n = rng != NULL ? 1 + t_below(rng, (uint32_t)piece) : piece;
        if (n > len - at) n = len - at;
        status = dstok_chunker_feed(chunker, text + at, n, &err);
        at += n;
    }
    if (status == DSTOK_OK) status = dstok_chunker_finish(chunker, &err);
    CHECK_EQ(status, DSTOK_OK);
    if (status != DSTOK_OK) fprintf(stderr, "%s\n", err.text);
    dstok_chunker_free(chunker);
}

/* ---- what holds of all chunks ---- */

static void check_chunks(dstok_encoder *enc, const dstok_chunker_options *o, const uint8_t *text, size_t len,
                         const result *r) {
    dstok_tokens t;
    CHECK_EQ(dstok_encode_view(enc, text, len, NULL, &t, NULL), DSTOK_OK);
    uint64_t byte = 0, chars = 0, token = 0;
    for (size_t i = 0; i < r->n; i++) {
        const dstok_chunk *c = &r->chunks[i].c;
        CHECK_EQ(c->number, i);
        CHECK(c->n <= o->max_tokens && c->n > 0);
        CHECK_EQ(c->bytes.begin + c->n_overlap, byte);
        CHECK(c->bytes.end > byte && c->bytes.end <= len);
        CHECK_EQ(c->text_len, c->bytes.end - c->bytes.begin);
        CHECK(i > 0 || c->n_overlap == 0);
        if (i > 0) CHECK(c->bytes.begin > r->chunks[i - 1].c.bytes.begin);
        CHECK_EQ(c->chars.end, dstok_text_length(text, c->bytes.end, DSTOK_UNIT_CHAR));
        CHECK_EQ(c->chars.begin, dstok_text_length(text, c->bytes.begin, DSTOK_UNIT_CHAR));
        CHECK_EQ(c->border == DSTOK_BORDER_END, i + 1 == r->n);
        CHECK_EQ(c->tokens.end - c->tokens.begin, c->n);
        if (o->ids == DSTOK_CHUNK_SLICE) {
            CHECK(c->tokens.begin <= token && c->tokens.end > token && c->tokens.end <= t.n);
            CHECK(c->n_overlap > 0 || c->tokens.begin == token);
            if (c->tokens.end > t.n) return;
            CHECK_EQ(r->chunks[i].ids_hash, hash(t.ids + c->tokens.begin, c->n * sizeof *t.ids));
            CHECK_EQ(r->chunks[i].spans_hash, hash(t.spans + c->tokens.begin, c->n * sizeof *t.spans));
        }
        byte = c->bytes.end;
        chars = c->chars.end;
        token = c->tokens.end;
    }
    CHECK_EQ(byte, len);
    CHECK_EQ(chars, dstok_text_length(text, len, DSTOK_UNIT_CHAR));
    if (o->ids == DSTOK_CHUNK_SLICE) CHECK_EQ(token, t.n);
}

/* The class of a chunk's end is that of its place in the whole text, wherever windows and feeds begin and
 * end. */
static void check_borders(const dstok_chunker_options *o, const uint8_t *text, size_t len, const result *r) {
    static const uint8_t names[DSTOK__N_BORDERS] = {
        [DSTOK__BORDER_BLANK] = DSTOK_BORDER_BLANK,      [DSTOK__BORDER_CLAUSE] = DSTOK_BORDER_CLAUSE,
        [DSTOK__BORDER_WRAP] = DSTOK_BORDER_LINE,        [DSTOK__BORDER_SPACED] = DSTOK_BORDER_BLANK,
        [DSTOK__BORDER_LINE] = DSTOK_BORDER_LINE,        [DSTOK__BORDER_DOUBTFUL] = DSTOK_BORDER_WEAK,
        [DSTOK__BORDER_SENTENCE] = DSTOK_BORDER_WEAK,    [DSTOK__BORDER_SURE] = DSTOK_BORDER_SENTENCE,
        [DSTOK__BORDER_ENDED] = DSTOK_BORDER_ENDED_LINE, [DSTOK__BORDER_BLOCK] = DSTOK_BORDER_BLANK_LINE,
        [DSTOK__BORDER_HEADING] = DSTOK_BORDER_HEADING,
    };
    if (o->mode == DSTOK_CHUNK_AUTO || o->mode == DSTOK_CHUNK_MARKDOWN) return; /* fences change classes */
    const dstok__border_text b = {text, len, o->mode - 1};
    for (size_t i = 0; i + 1 < r->n; i++) {
        const dstok_chunk *c = &r->chunks[i].c;
        if (c->border > DSTOK_BORDER_GRAPHEME)
            CHECK_EQ(c->border, names[dstok__border_score(&b, c->bytes.end) >> 8]);
    }
}

static bool is_same(const result *a, const result *b) {
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++) {
        dstok_chunk x = a->chunks[i].c, y = b->chunks[i].c;
        x.ids = y.ids = NULL;
        x.spans = y.spans = NULL;
        x.text = y.text = NULL;
        if (memcmp(&x, &y, sizeof x) != 0 || a->chunks[i].ids_hash != b->chunks[i].ids_hash ||
            a->chunks[i].spans_hash != b->chunks[i].spans_hash)
            return false;
    }
    return true;
}

/* ---- random texts ---- */

/* Sentences of several scripts, lines, fences, and what gen_text makes. */
static size_t random_text(t_rng *rng, uint8_t *out, size_t max) {
    static const char *const bits[] = {
        "The river rose slowly. ",
        "The town slept on! ",
        "Mr. Smith came at 5 a.m. and left. ",
        "\n",
        "\n\n",
        "\r\n",
        "\xE6\xB2\xB3\xE6\xB0\xB4\xE4\xB8\x8A\xE6\xB6\xA8\xE4\xBA\x86\xE3\x80\x82",
        "# Title\n\n",
        "```\ncode;\n\nmore;\n```\n",
        "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7",
        "hello ",
        "cafe\xCC\x81 ",
        "He said: \xE2\x80\x9C",
        "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA",
        "    return x;\n",
        "}\n",
        "\f",
        ", ",
        "aaaaaaaaaaaaaaaaaaaa",
        "~~~ a block whose first line is long, too long maybe to be taken for one",
        "~~~\n",
    };
    size_t n = 0, target = max / 2 + t_below(rng, (uint32_t)(max / 2));
    while (n + 80 < target) {
        if (t_below(rng, 20) == 0) {
            n += gen_text(rng, out + n, 48);
            continue;
        }
        const char *bit = bits[t_below(rng, sizeof bits / sizeof *bits)];
        memcpy(out + n, bit, strlen(bit));
        n += strlen(bit);
    }
    return n;
}

static dstok_chunker_options random_options(t_rng *rng) {
    dstok_chunker_options o = DSTOK_CHUNKER_OPTIONS_INIT;
    static const size_t limits[] = {16, 17, 33, 64, 200, 1000};
    o.max_tokens = limits[t_below(rng, 6)];
    o.border = (int)t_below(rng, 4);
    o.mode = (int)t_below(rng, 4);
    o.ids = t_below(rng, 4) == 0;
    o.balance = t_below(rng, 3) == 0;
    if (t_below(rng, 3) == 0) o.min_tokens = t_below(rng, (uint32_t)o.max_tokens / 2 + 1);
    if (t_below(rng, 3) == 0) o.overlap = t_below(rng, (uint32_t)o.max_tokens / 2);
    if (o.overlap == 0 && t_below(rng, 3) == 0) o.overlap_sentences = 1 + t_below(rng, 3);
    return o;
}

static void random_texts(const dstok_tokenizer *tok, size_t rounds, uint64_t seed) {
    static uint8_t text[40000];
    t_rng rng = {seed};
    dstok_encoder *enc = fixture_encoder(tok);
    result whole = new_result(), parts = new_result();
    size_t n_chunks = 0, n_overlaps = 0;
    for (size_t i = 0; i < rounds; i++) {
        size_t len = random_text(&rng, text, i % 8 == 0 ? sizeof text : 3000);
        dstok_chunker_options o = random_options(&rng);
        int failures = t_failures;
        whole.again = o.ids == DSTOK_CHUNK_RETOKENIZE ? enc : NULL;
        cut(tok, &o, text, len, len, NULL, &whole);
        check_chunks(enc, &o, text, len, &whole);
        check_borders(&o, text, len, &whole);
        static const uint32_t pieces[] = {1, 7, 100, 5000};
        stream_step = 16 + t_below(&rng, 300);
        cut(tok, &o, text, len, pieces[t_below(&rng, 4)], &rng, &parts);
        stream_step = 0;
        CHECK(is_same(&whole, &parts));
        n_chunks += whole.n;
        for (size_t k = 0; k < whole.n; k++) n_overlaps += whole.chunks[k].c.n_overlap > 0;
        if (t_failures == failures) continue;
        fprintf(
            stderr,
            "round %zu: limit %zu min %zu border %d mode %d ids %d balance %d overlap %zu/%zu, %zu bytes\n",
            i, o.max_tokens, o.min_tokens, o.border, o.mode, o.ids, o.balance, o.overlap, o.overlap_sentences,
            len);
        break;
    }
    CHECK(n_chunks > rounds && n_overlaps > rounds / 4);
    free(whole.chunks);
    free(parts.chunks);
    dstok_encoder_free(enc);
}

/* ---- single rules ---- */

/* n times a text. */
static uint8_t *repeated(const char *what, size_t n, size_t *len) {
    size_t k = strlen(what);
    uint8_t *text = malloc(n * k + 1);
    for (size_t i = 0; i < n; i++) memcpy(text + i * k, what, k);
    *len = n * k;
    return text;
}

static result cut_repeated(const dstok_tokenizer *tok, const dstok_chunker_options *o, const char *what,
                           size_t n) {
    result r = new_result();
    size_t len;
    uint8_t *text = repeated(what, n, &len);
    dstok_encoder *enc = fixture_encoder(tok);
    cut(tok, o, text, len, len, NULL, &r);
    check_chunks(enc, o, text, len, &r);
    dstok_encoder_free(enc);
    free(text);
    return r;
}

static dstok_chunker_options limit_of(size_t max_tokens) {
    dstok_chunker_options o = DSTOK_CHUNKER_OPTIONS_INIT;
    o.max_tokens = max_tokens;
    return o;
}

/* Never within a sentence where the sentences fit. */
static void whole_sentences(const dstok_tokenizer *tok) {
    static const struct {
        const char *text;
        int border;
    } cases[] = {
        {"The river rose slowly and the town slept quietly. ", DSTOK_BORDER_SENTENCE},
        {"\xE6\xB2\xB3\xE6\xB0\xB4\xE6\x85\xA2\xE6\x85\xA2\xE4\xB8\x8A\xE6\xB6\xA8\xE4\xBA\x86\xE3\x80\x82",
         DSTOK_BORDER_SENTENCE},
        {"The river rose slowly.\n", DSTOK_BORDER_ENDED_LINE},
        {"The river rose slowly. It rained.\n\n", DSTOK_BORDER_BLANK_LINE}};
    for (size_t i = 0; i < 4; i++) {
        dstok_chunker_options o = limit_of(64);
        result r = cut_repeated(tok, &o, cases[i].text, 500);
        for (size_t k = 0; k + 1 < r.n; k++) CHECK_EQ(r.chunks[k].c.border, cases[i].border);
        CHECK(r.n > 20);
        CHECK_EQ(r.n_forced, 0);
        free(r.chunks);
    }
}

/* One sentence above the limit: cut at the best place within it, and said so. */
static void forced(const dstok_tokenizer *tok) {
    dstok_chunker_options o = limit_of(32);
    result r = cut_repeated(tok, &o, "a river rose slowly ", 200);
    CHECK(r.n > 10);
    CHECK_EQ(r.n_forced, r.n - 1);
    for (size_t k = 0; k + 1 < r.n; k++) CHECK_EQ(r.chunks[k].c.border, DSTOK_BORDER_BLANK);
    free(r.chunks);
    r = cut_repeated(tok, &o, "a", 20000);
    CHECK_EQ(r.chunks[0].c.border, DSTOK_BORDER_GRAPHEME);
    free(r.chunks);
    r = cut_repeated(tok, &o, "\xCC\x81", 2000); /* one grapheme of many tokens */
    CHECK_EQ(r.chunks[0].c.border, DSTOK_BORDER_TOKEN);
    CHECK_EQ(r.n_forced, r.n - 1);
    free(r.chunks);
    r = cut_repeated(tok, &o, "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA", 1000); /* flags: two characters each */
    for (size_t k = 0; k < r.n; k++) CHECK_EQ(r.chunks[k].c.bytes.end % 8, 0);
    free(r.chunks);
}

static void levels(const dstok_tokenizer *tok) {
    static const char text[] =
        "The river rose slowly. The town slept on. It rained again.\nThe night was long.\n\n";
    static const int want[] = {DSTOK_BORDER_SENTENCE, DSTOK_BORDER_BLANK_LINE, DSTOK_BORDER_LINE};
    for (int border = 0; border <= DSTOK_CHUNK_LINE; border++) {
        dstok_chunker_options o = limit_of(300);
        o.border = border;
        result r = cut_repeated(tok, &o, text, 100);
        for (size_t k = 0; k + 1 < r.n; k++) CHECK(r.chunks[k].c.border >= want[border]);
        if (border == DSTOK_CHUNK_LINE)
            for (size_t k = 0; k + 1 < r.n; k++) CHECK(r.chunks[k].c.border != DSTOK_BORDER_SENTENCE);
        free(r.chunks);
    }
    dstok_chunker_options o = limit_of(300);
    o.border = DSTOK_CHUNK_TOKEN;
    result r = cut_repeated(tok, &o, text, 100);
    for (size_t k = 0; k + 1 < r.n; k++) CHECK_EQ(r.chunks[k].c.n, 300);
    CHECK_EQ(r.n_forced, 0);
    free(r.chunks);
}

static void balance(const dstok_tokenizer *tok) {
    dstok_chunker_options o = limit_of(200);
    o.balance = 1;
    result r = cut_repeated(tok, &o, "The river rose slowly and the town slept quietly. ", 41);
    CHECK(r.n >= 3);
    size_t a = r.chunks[r.n - 2].c.n, b = r.chunks[r.n - 1].c.n;
    CHECK((a > b ? a - b : b - a) <= 60);
    free(r.chunks);
}

static void least(const dstok_tokenizer *tok) {
    dstok_chunker_options o = limit_of(200);
    for (o.min_tokens = 0; o.min_tokens <= 100; o.min_tokens += 50) {
        for (size_t n = 20; n < 40; n++) {
            result r = cut_repeated(tok, &o, "The river rose slowly and the town slept quietly. ", n);
            for (size_t k = 0; k < r.n && r.n > 1; k++) CHECK(r.chunks[k].c.n >= o.min_tokens);
            free(r.chunks);
        }
    }
}

static void overlap(const dstok_tokenizer *tok) {
    static const char sentence[] = "The river rose slowly and the town slept quietly. ";
    dstok_chunker_options o = limit_of(400);
    o.overlap_sentences = 2;
    result r = cut_repeated(tok, &o, sentence, 300);
    for (size_t k = 1; k < r.n; k++) CHECK_EQ(r.chunks[k].c.n_overlap, 2 * strlen(sentence));
    CHECK(r.n > 5);
    free(r.chunks);
    o.overlap_sentences = 0;
    o.overlap = 150;
    r = cut_repeated(tok, &o, sentence, 300);
    for (size_t k = 1; k < r.n; k++) {
        CHECK(r.chunks[k].c.n_overlap > 0);
        CHECK(r.chunks[k - 1].c.tokens.end - r.chunks[k].c.tokens.begin <= 150);
    }
    free(r.chunks);
    r = cut_repeated(tok, &o, sentence, 3); /* one chunk, and no second one that is overlap alone */
    CHECK_EQ(r.n, 1);
    free(r.chunks);
}

/* A fenced block that fits is not cut, though blank lines stand in it; one that does not fit is cut between
 * lines. */
static void fences(const dstok_tokenizer *tok) {
    static const char before[] =
        "It rained slowly and long.\n\nThe river rose quietly.\n\nThe town slept again.\n\n";
    static const char fence[] =
        "```\nx = 1;\n\nx = 2;\n\nx = 3;\n\nx = 4;\n\nx = 5;\n\nx = 6;\n\nx = 7;\n\nx = 8;\n\n"
        "x = 1;\n\nx = 2;\n\nx = 3;\n\nx = 4;\n```\n";
    char block[400];
    snprintf(block, sizeof block, "%s%s", before, fence);
    dstok_chunker_options o = limit_of(80);
    o.mode = DSTOK_CHUNK_MARKDOWN;
    result r = cut_repeated(tok, &o, block, 60);
    for (size_t k = 0; k < r.n; k++) {
        size_t at = r.chunks[k].c.bytes.end % strlen(block);
        CHECK(at <= strlen(before)); /* 0 is the end of a fenced block */
    }
    CHECK(r.n > 10);
    CHECK_EQ(r.n_forced, 0);
    free(r.chunks);
    o.max_tokens = 40;
    static uint8_t text[4000];
    size_t n = 0;
    n += (size_t)sprintf((char *)text, "# One\n\n```\n");
    for (int i = 0; i < 60; i++) n += (size_t)sprintf((char *)text + n, "value = %d;\n", i);
    n += (size_t)sprintf((char *)text + n, "```\n\nThe end.\n");
    result whole = new_result();
    cut(tok, &o, text, n, n, NULL, &whole);
    for (size_t k = 0; k + 1 < whole.n; k++) CHECK_EQ(text[whole.chunks[k].c.bytes.end - 1], '\n');
    CHECK(whole.n_forced > 3);
    free(whole.chunks);
}

/* A line that is too long is no fence: else one would be seen or not, as feeds come. */
static void long_fence(const dstok_tokenizer *tok) {
    dstok_chunker_options o = limit_of(100);
    result whole = new_result(), parts = new_result();
    t_rng rng = {7};
    o.mode = DSTOK_CHUNK_MARKDOWN;
    for (unsigned n = 2; n < 180; n++) {
        static uint8_t text[8000];
        size_t len = (size_t)sprintf((char *)text, "It rained.\n\n~~~ ");
        for (unsigned i = 0; i < n / 2; i++)
            len += (size_t)sprintf((char *)text + len, "%s",
                                   n % 2 ? "The river rose slowly. " : "~~~~~~~~~~~~~~~~~~~. ");
        len += (size_t)sprintf((char *)text + len,
                               "\n\nx = 1;\n\ny = 2;\n~~~\n\nThe town slept. It rained on.\n");
        cut(tok, &o, text, len, len, NULL, &whole);
        stream_step = 20;
        cut(tok, &o, text, len, 5, &rng, &parts);
        stream_step = 0;
        CHECK(is_same(&whole, &parts));
    }
    free(whole.chunks);
    free(parts.chunks);
}

/* A template counts, and stands in every chunk. */
static void templates(void) {
    fixture f = fixture_words;
    f.added = "s:<s>\ns:</s>\n";
    f.post_processor =
        "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}},"
        "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"SpecialToken\":{\"id\":\"</"
        "s>\",\"type_id\":0}}],\"pair\":[],"
        "\"special_tokens\":{\"<s>\":{\"id\":\"<s>\",\"ids\":[283],\"tokens\":[\"<s>\"]},"
        "\"</s>\":{\"id\":\"</s>\",\"ids\":[284],\"tokens\":[\"</s>\"]}}}";
    dstok_tokenizer *tok = fixture_load(&f, NULL);
    dstok_encode_options encode = DSTOK_ENCODE_OPTIONS_INIT;
    encode.add_special = 1;
    dstok_chunker_options o = limit_of(32);
    o.encode = &encode;
    size_t len;
    uint8_t *text = repeated("hello hello hello. ", 100, &len);
    for (o.ids = 0; o.ids <= 1; o.ids++) {
        result r = new_result();
        cut(tok, &o, text, len, len, NULL, &r);
        uint64_t token = 0, byte = 0;
        for (size_t k = 0; k < r.n; k++) {
            const dstok_chunk *c = &r.chunks[k].c;
            CHECK(c->n <= 32);
            CHECK_EQ(c->n, c->tokens.end - c->tokens.begin + 2);
            CHECK_EQ(c->tokens.begin, token);
            CHECK_EQ(c->bytes.begin, byte);
            token = c->tokens.end;
            byte = c->bytes.end;
        }
        CHECK(r.n > 10);
        CHECK_EQ(byte, len);
        free(r.chunks);
    }
    free(text);
    dstok_tokenizer_free(tok);
}

static int check_template(void *context, const dstok_chunk *c) {
    (void)context;
    CHECK_EQ(c->ids[0] + 1, c->ids[c->n - 1]);
    CHECK(c->spans[0].begin == c->bytes.begin && c->spans[0].end == c->bytes.begin);
    CHECK(c->spans[c->n - 1].begin == c->bytes.end && c->spans[1].begin == c->bytes.begin);
    return 0;
}

static void template_ids(void) {
    fixture f = fixture_words;
    f.added = "s:<s>\ns:</s>\n";
    f.post_processor = "{\"type\":\"BertProcessing\",\"sep\":[\"</s>\",284],\"cls\":[\"<s>\",283]}";
    dstok_tokenizer *tok = fixture_load(&f, NULL);
    dstok_encode_options encode = DSTOK_ENCODE_OPTIONS_INIT;
    encode.add_special = 1;
    dstok_chunker_options o = limit_of(32);
    dstok_chunker *chunker;
    o.encode = &encode;
    for (o.ids = 0; o.ids <= 1; o.ids++) {
        CHECK_EQ(dstok_chunker_new(tok, &o, check_template, NULL, &chunker, NULL), DSTOK_OK);
        for (int i = 0; i < 60; i++)
            CHECK_EQ(dstok_chunker_feed(chunker, "hello hello. ", 13, NULL), DSTOK_OK);
        CHECK_EQ(dstok_chunker_finish(chunker, NULL), DSTOK_OK);
        dstok_chunker_free(chunker);
    }
    dstok_tokenizer_free(tok);
}

/* ---- calls ---- */

static void refused(const dstok_tokenizer *tok) {
    dstok_chunker *chunker = NULL;
    result r = new_result();
    dstok_chunker_options good = limit_of(100), o;
    dstok_encode_options encode = DSTOK_ENCODE_OPTIONS_INIT;
#define REFUSED(change)                                                                                      \
    o = good;                                                                                                \
    change;                                                                                                  \
    CHECK_EQ(dstok_chunker_new(tok, &o, keep, &r, &chunker, NULL), DSTOK_E_INVAL);                           \
    CHECK(chunker == NULL)
    REFUSED(o.max_tokens = 15);
    REFUSED(o.max_tokens = 0);
    REFUSED(o.max_tokens = DSTOK_CHUNK_MAX_LIMIT + 1u);
    REFUSED(o.min_tokens = 51);
    REFUSED(o.overlap = 50);
    REFUSED(o.overlap = 100);
    REFUSED((o.overlap = 10, o.overlap_sentences = 1));
    REFUSED(o.border = 4);
    REFUSED(o.border = -1);
    REFUSED(o.ids = 2);
    REFUSED(o.mode = 4);
    REFUSED(o.struct_size = 8);
    REFUSED((encode.ids_only = 1, o.encode = &encode));
    REFUSED((encode.ids_only = 0, encode.special = 77, o.encode = &encode));
    CHECK_EQ(dstok_chunker_new(NULL, &good, keep, &r, &chunker, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_chunker_new(tok, NULL, keep, &r, &chunker, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_chunker_new(tok, &good, NULL, &r, &chunker, NULL), DSTOK_E_INVAL);
    dstok_chunker_free(NULL);
    free(r.chunks);
}

static void life(const dstok_tokenizer *tok) {
    dstok_chunker *chunker;
    dstok_error err;
    result r = new_result();
    dstok_chunker_options o = limit_of(100);
    CHECK_EQ(dstok_chunker_new(tok, &o, keep, &r, &chunker, NULL), DSTOK_OK);
    CHECK_EQ(dstok_chunker_finish(chunker, NULL), DSTOK_OK); /* no bytes, no chunk */
    CHECK_EQ(r.n, 0);
    CHECK_EQ(dstok_chunker_feed(chunker, "hello", 5, NULL), DSTOK_OK);
    CHECK_EQ(dstok_chunker_finish(chunker, NULL), DSTOK_OK);
    CHECK_EQ(r.n, 1);
    CHECK_EQ(r.chunks[0].c.document, 1);
    CHECK_EQ(r.chunks[0].c.border, DSTOK_BORDER_END);
    CHECK_EQ(dstok_chunker_feed(chunker, "he\xFFllo", 6, NULL) == DSTOK_OK
                 ? dstok_chunker_finish(chunker, &err)
                 : DSTOK_E_UTF8,
             DSTOK_E_UTF8);
    CHECK_EQ(dstok_chunker_feed(chunker, "hello", 5, NULL), DSTOK_E_STATE);
    CHECK_EQ(dstok_chunker_finish(chunker, NULL), DSTOK_E_STATE);
    dstok_chunker_reset(chunker);
    CHECK_EQ(dstok_chunker_feed(chunker, "hello", 5, NULL), DSTOK_OK);
    CHECK_EQ(dstok_chunker_finish(chunker, NULL), DSTOK_OK);
    CHECK_EQ(r.chunks[1].c.document, 2);
    CHECK_EQ(r.chunks[1].c.bytes.begin, 0);
    r.stop_at = 4;
    for (int i = 0; i < 200; i++)
        if (dstok_chunker_feed(chunker, "hello hello. ", 13, NULL) != DSTOK_OK) break;
    CHECK_EQ(dstok_chunker_finish(chunker, &err),
             r.n == 4 && err.status == DSTOK_E_CANCELED ? DSTOK_E_CANCELED : DSTOK_E_STATE);
    CHECK_EQ(r.n, 4);
    CHECK_EQ(dstok_chunker_feed(NULL, "a", 1, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_chunker_finish(NULL, NULL), DSTOK_E_INVAL);
    CHECK_STR(dstok_border_name(DSTOK_BORDER_SENTENCE), "sentence");
    CHECK(dstok_border_name(0) == NULL && dstok_border_name(13) == NULL && dstok_border_name(-1) == NULL);
    dstok_chunker_free(chunker);
    free(r.chunks);
}

/* Every allocation fails once. */
static void out_of_memory(int ids) {
    static const uint32_t allowed[] = {283};
    fixture f = fixture_words;
    dstok_encode_options encode = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_chunker_options o = limit_of(16);
    result r = new_result();
    size_t k = 0, n_failed = 0;
    f.added = "s:<s>\ns:</s>\n";
    f.post_processor = "{\"type\":\"BertProcessing\",\"sep\":[\"</s>\",284],\"cls\":[\"<s>\",283]}";
    encode.add_special = 1;
    encode.special = DSTOK_SPECIAL_LIST;
    encode.allowed = allowed;
    encode.n_allowed = 1;
    o.encode = &encode;
    o.overlap = 4;
    o.ids = ids;
    o.mode = DSTOK_CHUNK_MARKDOWN;
    for (size_t most = 1; k < most;) {
        t_heap heap = {0};
        dstok_alloc al = t_heap_alloc(&heap);
        dstok_tokenizer *tok = fixture_load(&f, &al);
        dstok_chunker *chunker = NULL;
        size_t before = heap.calls;
        heap.fail_at = k > 0 ? before + k : 0; /* first it is counted */
        dstok_status status = dstok_chunker_new(tok, &o, keep, &r, &chunker, NULL);
        for (int i = 0; i < 20 && status == DSTOK_OK; i++)
            status = dstok_chunker_feed(chunker, "```\nhello hello. Hello\n", 22, NULL);
        if (status == DSTOK_OK) status = dstok_chunker_finish(chunker, NULL);
        CHECK(status == DSTOK_E_NOMEM || (status == DSTOK_OK && r.n > 0)); /* some are not needed: caches */
        n_failed += status != DSTOK_OK;
        if (k++ == 0) most = heap.calls - before + 1;
        heap.fail_at = 0;
        dstok_chunker_free(chunker);
        dstok_tokenizer_free(tok);
        CHECK_EQ(heap.live, 0);
    }
    CHECK(k > 20 && n_failed > k / 2);
    free(r.chunks);
}

/* 20,000 sentences of seven tokens: what the counts must be. */
static void shared_vocabulary(const char *name, const char *pattern) {
    const char *path = t_shared(name);
    size_t n;
    char *ranks = path != NULL ? t_read(path, &n) : NULL;
    if (ranks == NULL) {
        printf("unit.chunker: %s is absent: its counts are not checked\n", name);
        return;
    }
    dstok_tokenizer *tok;
    dstok_load_options load = DSTOK_LOAD_OPTIONS_INIT;
    load.pattern = pattern;
    CHECK_EQ(dstok_tokenizer_load_memory(ranks, n, NULL, 0, &load, &tok, NULL), DSTOK_OK);
    dstok_chunker_options o = limit_of(65536);
    result r = cut_repeated(tok, &o, "The cat sat on the mat. ", 20000);
    CHECK_EQ(r.n, 3);
    CHECK_EQ(r.chunks[0].c.bytes.end, 9362 * 24 - 1);
    CHECK_EQ(r.chunks[1].c.bytes.end, 2 * 9362 * 24 - 1);
    free(r.chunks);
    o.max_tokens = 131072;
    r = cut_repeated(tok, &o, "The cat sat on the mat. ", 20000);
    CHECK_EQ(r.n, 2);
    CHECK_EQ(r.chunks[0].c.bytes.end, 18724 * 24 - 1);
    free(r.chunks);
    free(ranks);
    dstok_tokenizer_free(tok);
}

int main(void) {
    dstok_tokenizer *words = fixture_load(&fixture_words, NULL), *tok = NULL;
    random_texts(words, 300, 1);
    if (dstok_tokenizer_load_default(NULL, &tok, NULL) == DSTOK_OK) {
        random_texts(tok, 300, 2);
        whole_sentences(tok);
        forced(tok);
        levels(tok);
        balance(tok);
        least(tok);
        overlap(tok);
        fences(tok);
        long_fence(tok);
        dstok_tokenizer_free(tok);
    }
    templates();
    template_ids();
    refused(words);
    life(words);
    out_of_memory(DSTOK_CHUNK_SLICE);
    out_of_memory(DSTOK_CHUNK_RETOKENIZE);
    shared_vocabulary("vocab/o200k_base.tiktoken.xz", "o200k_base");
    dstok_tokenizer_free(words);
    return t_end();
}
