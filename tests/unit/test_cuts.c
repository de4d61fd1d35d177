/* SPDX-License-Identifier: MIT */
/* Where pretokens may be cut: never between two characters that some token holds side by side, or holds parts
 * of. Every border in every token of made, embedded and shared vocabularies; for made ones also random pairs
 * of characters against all tokens. */
#include "../../data/vocab/default_vocab.h"
#include "../../tokenizer/bpe/model.h"
#include "../../tokenizer/text/utf8.h"
#include "../harness/t.h"
#include "../oracle/hard.h"

#include <dstok/align.h>

#include <stdlib.h>

/* A character's bytes. */
typedef struct character {
    uint8_t bytes[4];
    size_t n;
} character;

static character of_code_point(uint32_t cp) {
    character c;
    c.n = dstok__utf8_put(c.bytes, cp);
    return c;
}

static size_t width_of(uint8_t first) {
    return first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* Is a pair asked about at all? Only where one is from U+0800 on. */
static bool is_asked(const character *left, const character *right) {
    return left->n >= 3 || right->n >= 3;
}

static bool may_join(const dstok__cuts *cuts, const character *left, const character *right) {
    return dstok__may_join(cuts, dstok__char_key(left->bytes, left->n),
                           dstok__char_key(right->bytes, right->n));
}

/* ---- the parts of characters that a token holds ---- */

/* Bytes at one side of a border in a token: the begin of a character, its end, or all of it. */
typedef struct part {
    const uint8_t *at;
    size_t n;
} part;

/* The part that ends at the border; empty when no text holds such bytes. */
static part part_before(const uint8_t *token, size_t border) {
    size_t i = border - 1;
    while (i > 0 && dstok__is_continuation(token[i])) i--;
    part p = {token + i, border - i};
    size_t width = width_of(token[i]);
    if (width == 0 ? p.n > 3 : p.n != width)
        p.n = 0; /* at the begin of the token the first byte may be missing */
    return p;
}

/* The part that begins at the border: less than the character only where the token ends. */
static part part_behind(const uint8_t *token, size_t n, size_t border) {
    part p = {token + border, 1};
    size_t width = width_of(token[border]);
    while (p.n < width && border + p.n < n && dstok__is_continuation(token[border + p.n])) p.n++;
    if (width == 0 || (p.n < width && border + p.n < n)) p.n = 0;
    return p;
}

/* ---- completions ---- */

#define MAX_COMPLETIONS 4096

typedef struct completions {
    character list[MAX_COMPLETIONS];
    size_t n;
} completions;

static void add(completions *c, const character *one) {
    if (c->n < MAX_COMPLETIONS && dstok_utf8_check(one->bytes, one->n) == one->n) c->list[c->n++] = *one;
}

/* Characters that begin with these bytes: all, or random ones when three bytes are missing. */
static void complete_head(completions *c, t_rng *rng, part p) {
    character one;
    c->n = 0;
    one.n = width_of(p.at[0]);
    memcpy(one.bytes, p.at, p.n);
    size_t missing = one.n - p.n, all = (size_t)1 << (6 * missing),
           n = all < MAX_COMPLETIONS ? all : MAX_COMPLETIONS;
    for (size_t i = 0; i < n; i++) {
        size_t bits = n == all ? i : t_below(rng, (uint32_t)all);
        for (size_t k = p.n; k < one.n; k++, bits >>= 6) one.bytes[k] = (uint8_t)(0x80 | (bits & 63));
        add(c, &one);
    }
}

/* Characters that end with these bytes: all of two and three bytes, random ones of four. */
static void complete_tail(completions *c, t_rng *rng, part p) {
    character one;
    c->n = 0;
    for (one.n = p.n + 1; one.n <= 4; one.n++) {
        size_t missing = one.n - p.n, leads = one.n == 2 ? 30 : one.n == 3 ? 16 : 5;
        size_t all = leads << (6 * (missing - 1)), n = all <= 1024 ? all : 512;
        memcpy(one.bytes + missing, p.at, p.n);
        for (size_t i = 0; i < n; i++) {
            size_t bits = n == all ? i : t_below(rng, (uint32_t)all);
            one.bytes[0] = (uint8_t)((one.n == 2 ? 0xC2 : one.n == 3 ? 0xE0 : 0xF0) + bits % leads);
            bits /= leads;
            for (size_t k = 1; k < missing; k++, bits >>= 6) one.bytes[k] = (uint8_t)(0x80 | (bits & 63));
            add(c, &one);
        }
    }
}

/* ---- every border of every token ---- */

typedef struct tally {
    const char *name;
    size_t tokens, borders, parts, pairs, wrong;
} tally;

static void check_pair(const dstok__cuts *cuts, tally *t, const character *left, const character *right,
                       uint32_t id) {
    if (!is_asked(left, right)) return;
    t->pairs++;
    if (may_join(cuts, left, right)) return;
    if (t->wrong++ > 4) return;
    fprintf(stderr, "%s: token %u joins", t->name, id);
    for (size_t i = 0; i < left->n; i++) fprintf(stderr, " %02X", left->bytes[i]);
    fprintf(stderr, " |");
    for (size_t i = 0; i < right->n; i++) fprintf(stderr, " %02X", right->bytes[i]);
    fprintf(stderr, ", which may be cut\n");
}

#define PAIRS_OF_PARTS 400

static void check_border(const dstok__cuts *cuts, tally *t, t_rng *rng, part before, part behind,
                         uint32_t id) {
    static completions left, right;
    bool is_tail = width_of(before.at[0]) == 0, is_head = behind.n < width_of(behind.at[0]);
    complete_head(&right, rng, behind);
    if (is_tail) {
        complete_tail(&left, rng, before);
    } else {
        complete_head(&left, rng, before);
    }
    t->borders++;
    t->parts += is_tail || is_head;
    if (left.n == 0 || right.n == 0) return; /* parts of no character */
    if (!is_tail || !is_head) {
        for (size_t i = 0; i < left.n * right.n; i++)
            check_pair(cuts, t, &left.list[i % left.n], &right.list[i / left.n], id);
        return;
    }
    for (int i = 0; i < PAIRS_OF_PARTS; i++)
        check_pair(cuts, t, &left.list[t_below(rng, (uint32_t)left.n)],
                   &right.list[t_below(rng, (uint32_t)right.n)], id);
}

static void check_token(const dstok__cuts *cuts, tally *t, t_rng *rng, const uint8_t *token, size_t n,
                        uint32_t id) {
    t->tokens++;
    for (size_t border = 1; border < n; border++) {
        if (dstok__is_continuation(token[border])) continue;
        part before = part_before(token, border), behind = part_behind(token, n, border);
        if (before.n > 0 && behind.n > 0) check_border(cuts, t, rng, before, behind, id);
    }
}

/* ---- common ideographs ---- */

static const uint16_t common[] = {
    0x7684, 0x4E00, 0x662F, 0x4E0D, 0x4E86, 0x5728, 0x4EBA, 0x6709, 0x6211, 0x4ED6, 0x8FD9, 0x4E2A, 0x4EEC,
    0x4E2D, 0x6765, 0x4E0A, 0x5927, 0x4E3A, 0x548C, 0x56FD, 0x5730, 0x5230, 0x4EE5, 0x8BF4, 0x65F6, 0x8981,
    0x5C31, 0x51FA, 0x4F1A, 0x53EF, 0x4E5F, 0x4F60, 0x5BF9, 0x751F, 0x80FD, 0x800C, 0x5B50, 0x90A3, 0x5F97,
    0x4E8E, 0x7740, 0x4E0B, 0x81EA, 0x4E4B, 0x5E74, 0x8FC7, 0x53D1, 0x540E, 0x4F5C, 0x91CC};
#define N_COMMON (sizeof common / sizeof *common)

/* Share of their pairs that are cut. */
static double share_cut(const dstok__cuts *cuts) {
    size_t n = 0;
    for (size_t i = 0; i < N_COMMON * N_COMMON; i++) {
        character left = of_code_point(common[i % N_COMMON]), right = of_code_point(common[i / N_COMMON]);
        n += !may_join(cuts, &left, &right);
    }
    return (double)n / (double)(N_COMMON * N_COMMON);
}

/* ---- a vocabulary ---- */

/* Not the text of an added token that the model does not have. */
static bool is_of_model(const dstok_tokenizer *tok, const uint8_t *text, size_t n) {
    return n > 0 && dstok__tables_find(&tok->t, text, n) < tok->n_ids;
}

/* Bytes side by side in some token of the model, and none that stand so in no token at all. */
static void check_joins(const dstok_tokenizer *tok) {
    static uint64_t all[DSTOK__JOINS];
    size_t n_wrong = 0;
    memset(all, 0, sizeof all);
    for (uint32_t id = 0; id < tok->n_ids; id++) {
        const uint8_t *text = tok->t.strings + tok->t.texts[id].at;
        size_t n = tok->t.texts[id].n;
        bool must = is_of_model(tok, text, n);
        for (size_t i = 0; i + 1 < n; i++) {
            size_t bit = (size_t)256 * text[i] + text[i + 1];
            all[bit / 64] |= (uint64_t)1 << (bit % 64);
            n_wrong += must && !dstok__bytes_join(tok->t.joins, text[i], text[i + 1]);
        }
    }
    for (size_t i = 0; i < DSTOK__JOINS; i++) n_wrong += (tok->t.joins[i] & ~all[i]) != 0;
    CHECK_EQ(n_wrong, 0);
}

/* least_cut: a share of pairs of common ideographs that must be cut, or cutting is of no use. */
static void check_vocabulary(const char *name, const dstok_tokenizer *tok, double least_cut) {
    tally t = {.name = name};
    t_rng rng = {1};
    const dstok__cuts *cuts = &tok->t.cuts;
    check_joins(tok);
    CHECK(cuts->pairs != NULL);
    if (cuts->pairs == NULL) return;
    for (uint32_t id = 0; id < tok->n_ids; id++) {
        const uint8_t *text = tok->t.strings + tok->t.texts[id].at;
        size_t n = tok->t.texts[id].n;
        if (is_of_model(tok, text, n)) check_token(cuts, &t, &rng, text, n, id);
    }
    double cut = share_cut(cuts);
    CHECK_EQ(t.wrong, 0);
    CHECK(t.borders > 0);
    CHECK(cut >= least_cut);
    printf("%-12s %6zu tokens, %7zu borders, %6zu with parts of characters, %9zu pairs asked; cut: %5.1f %% "
           "of the "
           "pairs of common ideographs\n",
           name, t.tokens, t.borders, t.parts, t.pairs, 100 * cut);
}

/* ---- made vocabularies: all tokens are looked at ---- */

/* Could this token hold the last bytes of left and the first ones of right side by side? */
static bool spans(const uint8_t *token, size_t n, const character *left, const character *right) {
    for (size_t border = 1; border < n; border++) {
        size_t before = border < left->n ? border : left->n,
               behind = n - border < right->n ? n - border : right->n;
        if (memcmp(token + border - before, left->bytes + left->n - before, before) == 0 &&
            memcmp(token + border, right->bytes, behind) == 0)
            return true;
    }
    return false;
}

static bool some_token_spans(const dstok_tokenizer *tok, const character *left, const character *right) {
    for (uint32_t id = 0; id < tok->n_ids; id++)
        if (spans(tok->t.strings + tok->t.texts[id].at, tok->t.texts[id].n, left, right)) return true;
    return false;
}

static character draw_character(t_rng *rng) {
    uint8_t text[256];
    size_t n = hard_text(rng, t_below(rng, HARD_KINDS), text, sizeof text),
           at = n == 0 ? 0 : t_below(rng, (uint32_t)n);
    while (at > 0 && dstok__is_continuation(text[at])) at--;
    if (n == 0 || t_below(rng, 8) == 0) return of_code_point(0x800 + t_below(rng, 0xD000));
    size_t width;
    return of_code_point(dstok__utf8_get(text + at, &width));
}

static void check_made(const char *name, const dstok_tokenizer *tok, int n_pairs) {
    t_rng rng = {77};
    size_t n_spanned = 0, n_apart = 0, n_cut = 0, wrong = 0;
    check_vocabulary(name, tok, 0.0);
    for (int i = 0; i < n_pairs; i++) {
        character left = draw_character(&rng), right = draw_character(&rng);
        if (!is_asked(&left, &right)) continue;
        bool joins = may_join(&tok->t.cuts, &left, &right), spanned = some_token_spans(tok, &left, &right);
        wrong += spanned && !joins;
        n_spanned += spanned;
        n_apart += !spanned;
        n_cut += !joins;
    }
    CHECK_EQ(wrong, 0);
    CHECK(n_spanned > 20);
    CHECK(6 * n_cut >= n_apart); /* answers "may join" where no token does are for the few, not for all */
    printf("%-12s random pairs: %zu that tokens hold, %zu others, of which %zu are cut\n", name, n_spanned,
           n_apart, n_cut);
}

/* Tokens with every kind of part at their ends: whole characters, what lacks one byte, two, three; tails of
 * one to three bytes; both at once. */
static const char *const part_merges[][2] = {
    {"\x98", "\x80"},
    {"\xE4", "\xBD"},
    {"\xF0", "\x9F"},
    {"\xF0\x9F", "\x98"},
    {"a", "\xE4\xBD"},
    {"b", "\xE4"},
    {"c", "\xF0"},
    {"d", "\xF0\x9F"},
    {"e", "\xF0\x9F\x98"},
    {"\xBD", "\xE4"},
    {"\x98\x80", "\xE5"},
    {"\x80", "\xF0\x9F\x98"},
    {"\xA0", "f"},
    {"\x98\x80", "g"},
    {"\x9F", "\x98\x80"},
    {"\x9F\x98\x80", "h"},
    {"\xE4\xBD", "\xA0"},
    {"\xE4\xBD\xA0", "\xF0\x9F"},
    {"\xE4\xBD\xA0", "\xE4"},
    {"\xA1", "\xE4\xBD\xA0"},
    {"\xC3", "\xA9"},
    {"\xE4\xBD\xA0", "\xC3"},
    {"\xC3\xA9", "\xE4\xBD"},
    {"\xF0\x9F\x98", "\x80"},
    {"\xF0\x9F\x98\x80", "\xE4\xBD"},
    {"\xF0\x9F\x98\x80", "\xF0\x9F\x98"},
    {"\x9F\x98\x80", "\xF0\x9F\x98\x80"},
    {"\xA9", "\xE4\xBD\xA0"},
    {"\xE4\xBD\xA0", "i"},
    {"j", "\xE4\xBD\xA0"},
    {"\xE4\xBD\xA0", "\xE4\xBD\xA0"},
    {"\x80", "\x80"},
    {"\x80\x80", "\xE4\xBD\xA0"},
    {"\xE4", "A"},
    {"\xBD\xE4", "\xBD"},
};

static void test_made(void) {
    fixture f = {.merges = part_merges, .n_merges = sizeof part_merges / sizeof *part_merges};
    dstok_tokenizer *tok = fixture_load(&f, NULL);
    check_made("parts", tok, 40000);
    dstok_tokenizer_free(tok);
    for (int i = 0; i < 4; i++) {
        char name[32];
        hard_merges m;
        t_rng rng = {500 + (uint64_t)i};
        hard_merges_make(&m, &rng, 400, i % 2 == 1);
        f = hard_fixture(&m);
        tok = fixture_load(&f, NULL);
        snprintf(name, sizeof name, "made %d", i);
        check_made(name, tok, 20000);
        dstok_tokenizer_free(tok);
        hard_merges_free(&m);
    }
}

static void test_fixtures(void) {
    dstok_tokenizer *tok = fixture_load(&fixture_words, NULL);
    check_vocabulary("words", tok, 0.6);
    dstok_tokenizer_free(tok);
    tok = fixture_load_ranks("{\"pattern\":\"\\\\p{L}+|[^\\\\p{L}]+\"}");
    check_vocabulary("ranks", tok, 0.99);
    dstok_tokenizer_free(tok);
    if (dstok__default_vocab_size == 0) {
        fprintf(stderr, "embedded default SKIPPED: built without it\n");
        return;
    }
    CHECK_EQ(dstok_tokenizer_load_default(NULL, &tok, NULL), DSTOK_OK);
    check_vocabulary("embedded", tok, 0.5);
    dstok_tokenizer_free(tok);
}

/* ---- shared vocabularies ---- */

static const struct shared {
    const char *name, *file, *side;
} shared[] = {{"o200k", "o200k_base.tiktoken", NULL},
              {"cl100k", "cl100k_base.tiktoken", NULL},
              {"qwen3", "qwen3.tokenizer.json", NULL},
              {"deepseek_v3", "deepseek_v3.tokenizer.json", NULL},
              {"llama3", "llama3_1.tokenizer.json", NULL},
              {"smollm2", "smollm2.tokenizer.json", NULL},
              {"qwen3_6", "qwen3_6.tiktoken", "qwen3_6.tiktoken.meta.json"}};

static char *read_shared(const char *file, size_t *n) {
    char name[128];
    snprintf(name, sizeof name, "vocab/%s.xz", file);
    const char *path = t_shared(name);
    return path == NULL ? NULL : t_read(path, n);
}

static void test_shared(const struct shared *s) {
    size_t n = 0, side_n = 0;
    char *data = read_shared(s->file, &n), *side = s->side == NULL ? NULL : read_shared(s->side, &side_n);
    dstok_tokenizer *tok = NULL;
    if (data == NULL) {
        fprintf(stderr, "%s SKIPPED: not in ../shared\n", s->name);
        return;
    }
    CHECK_EQ(dstok_tokenizer_load_memory(data, n, side, side_n, NULL, &tok, NULL), DSTOK_OK);
    if (tok != NULL) check_vocabulary(s->name, tok, 0.5);
    dstok_tokenizer_free(tok);
    free(data);
    free(side);
}

int main(void) {
    test_made();
    test_fixtures();
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) test_shared(&shared[i]);
    return t_end();
}
