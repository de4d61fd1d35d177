/* SPDX-License-Identifier: MIT */
/* Prints the blocks of docs/pipeline.md: 64 bytes of text on their way to ids and back. Each begins with a line
 * "== NAME". worked_block.py compares them with the page. */
#include "../../tokenizer/bpe/encoder.h"
#include "../../tokenizer/pretok/block_parts.h"
#include "../harness/t.h"

#include <inttypes.h>
#include <stdlib.h>

static const char text[] = "We've read 10000 books:\n\n(see  page 17) 我爱编程很有用。";
#define LEN (sizeof text - 1)

static const uint8_t *bytes(void) {
    return (const uint8_t *)text;
}

/* ---- printing ---- */

/* A byte for each column: _ a blank, $ a line end, <=> a character of several bytes. */
static void print_text(void) {
    printf("%-16s", "text");
    for (size_t i = 0, width; i < LEN; i += width) {
        (void)dstok__utf8_get(bytes() + i, &width);
        if (width == 1) putchar(text[i] == ' ' ? '_' : text[i] == '\n' ? '$' : text[i]);
        for (size_t k = 0; k < width && width > 1; k++) putchar(k == 0 ? '<' : k + 1 == width ? '>' : '=');
    }
    putchar('\n');
}

static void print_ruler(void) {
    printf("%-16s", "");
    for (unsigned i = 0; i < 60; i += 10) printf("%-10u", i / 10);
    printf("6\n%-16s", "place");
    for (unsigned i = 0; i < 64; i++) putchar('0' + (char)(i % 10));
    putchar('\n');
}

static void print_head(const char *name) {
    printf("== %s\n", name);
    print_ruler();
    print_text();
}

static void print_mask(const char *name, uint64_t mask) {
    char line[65];
    for (unsigned i = 0; i < 64; i++) line[i] = (mask >> i & 1) ? '1' : '.';
    line[64] = '\0';
    printf("%-16s%s\n", name, line);
}

/* A piece as it may stand in a line: blanks and line ends as in print_text. */
static void print_piece(const void *piece, size_t n) {
    const char *p = piece;
    for (size_t i = 0; i < n; i++) putchar(p[i] == ' ' ? '_' : p[i] == '\n' ? '$' : p[i]);
}

typedef struct named_mask {
    const char *name;
    uint64_t mask;
} named_mask;

/* All that are not empty, then the names of the others. */
static void print_masks(const named_mask *masks, size_t n) {
    size_t n_empty = 0;
    for (size_t i = 0; i < n; i++)
        if (masks[i].mask != 0) print_mask(masks[i].name, masks[i].mask);
    for (size_t i = 0; i < n; i++) {
        if (masks[i].mask != 0) continue;
        if (n_empty++ == 0)
            printf("%-16s%s", "empty", masks[i].name);
        else
            printf(" %s", masks[i].name);
    }
    if (n_empty > 0) putchar('\n');
}

/* ---- classes ---- */

static void show_classes(void) {
    dstok__classes c, other;
    dstok__classify(bytes(), 1, &c);
    for (int tier = 0; tier < DSTOK__N_TIERS; tier++) {
        const dstok__simd *simd = dstok__simd_tier((dstok__tier)tier);
        if (simd == NULL) continue;
        simd->classify(bytes(), 1, &other);
        CHECK_MEM(&other, &c, sizeof c);
    }
    const named_mask masks[] = {
        {"upper", c.upper},         {"lower", c.lower}, {"digit", c.digit}, {"sign", c.sign},
        {"newline", c.newline},     {"blank", c.blank}, {"high", c.high},   {"tail", c.tail},
        {"ideograph", c.ideograph}, {"space", c.space}, {"quote", c.quote}, {"slash", c.slash},
    };
    print_head("classes");
    print_masks(masks, sizeof masks / sizeof *masks);
}

static void show_kinds(const dstok__window *w) {
    const dstok__kinds *k = &w->blocks[1];
    const dstok__classes *c = &w->classes[0];
    CHECK_EQ(k->upper == c->upper && k->lower == c->lower && k->newline == c->newline, true);
    CHECK_EQ(k->blank == c->blank && k->number == c->digit, true);
    const named_mask masks[] = {
        {"sign", k->sign},   {"caseless", k->caseless}, {"mark", k->mark},
        {"other", k->other}, {"lead2", k->lead2},       {"lead3", k->lead3},
        {"lead4", k->lead4}, {"east", k->east},         {"valid", k->valid},
    };
    print_head("kinds");
    print_masks(masks, sizeof masks / sizeof *masks);
}

/* ---- the algebra of cl100k ---- */

static uint64_t splits_of(const dstok__kinds *k) {
    return k->valid & ~(k->blank | k->newline);
}

/* One block with nothing before it: what cut_block of block_cl100k.c does there, step by step. */
static uint64_t show_algebra(dstok__window *w) {
    const dstok__kinds *k = &w->blocks[1];
    uint64_t over = 0, forced = 0, forced_over = 0;
    unsigned before = 0;
    dstok__lines lines = {0, 0, 0, 0};
    uint64_t word = dstok__letters(k, false), rest = k->sign | k->other | dstok__marks(k, false);
    uint64_t words = word & ~(word << 1), rests = rest & ~(rest << 1) & ~DSTOK__BEFORE(k, space);
    uint64_t prefixes = rests & dstok__next_in(k, word, dstok__letters(k + 1, false), false);
    uint64_t behind = dstok__step_over(k, prefixes, &over, false);
    (void)dstok__contractions(w, 0, prefixes & k->quote, true, &forced, &forced_over);
    over = 0;
    uint64_t absorbed = dstok__absorbed(k->newline, rest << 1, &over);
    uint64_t white = dstok__cut_lines_of(w, 0, k->newline & ~absorbed, splits_of, false, &lines);
    uint64_t threes = dstok__cut_threes(&w->blocks[1], &before);
    const named_mask masks[] = {
        {"word", word},         {"rest", rest},     {"words", words},   {"rests", rests},
        {"prefixes", prefixes}, {"behind", behind}, {"forced", forced}, {"absorbed", absorbed},
        {"white", white},       {"threes", threes},
    };
    print_head("algebra");
    print_masks(masks, sizeof masks / sizeof *masks);
    uint64_t starts = rests | (words & ~behind & ~DSTOK__BEFORE(k, blank)) | forced | white | threes;
    print_mask("starts", starts & k->valid);
    return starts & k->valid;
}

static const struct shape {
    const char *name;
    dstok__block_fn *block;
} shapes[] = {
    {"cl100k", dstok__block_cl100k},
    {"cl100k_tiktoken", dstok__block_cl100k_tiktoken},
    {"qwen2", dstok__block_qwen2},
    {"qwen35", dstok__block_qwen35},
    {"seed_coder", dstok__block_seed_coder},
    {"minicpm5", dstok__block_minicpm5},
    {"o200k", dstok__block_o200k},
    {"tekken", dstok__block_tekken},
    {"deepseek_v3", dstok__block_deepseek_v3},
    {"gpt2", dstok__block_gpt2},
    {"smollm", dstok__block_smollm},
    {"smollm_split", dstok__block_smollm_split},
};

static void show_families(const dstok__simd *simd) {
    static dstok__window w;
    print_head("families");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        dstok__window_read(&w, simd, bytes(), LEN, DSTOK__WINDOW);
        shapes[i].block(&w);
        CHECK_EQ(w.limit, LEN);
        print_mask(shapes[i].name, w.starts[0]);
    }
}

static void show_masks(void) {
    static dstok__window w, copy;
    const dstok__simd *simd = dstok__simd_best(DSTOK__N_TIERS);
    dstok__window_read(&w, simd, bytes(), LEN, DSTOK__WINDOW);
    CHECK_EQ(w.n, 1);
    show_classes();
    show_kinds(&w);
    copy = w;
    uint64_t starts = show_algebra(&copy);
    dstok__block_cl100k(&w);
    CHECK_EQ(starts == w.starts[0], true);
    show_families(simd);
}

/* ---- limits ---- */

static const struct unsure {
    const char *what, *family, *text;
    size_t max; /* blocks */
} unsures[] = {
    {"a quote behind a mark", "o200k", "cafe\xCC\x81's", DSTOK__WINDOW},
    {"capitals that fill the next block", "o200k", NULL, DSTOK__WINDOW},
    {"blanks behind a line end up to the end of the window", "cl100k", "", 1},
    {"white space at the end of the window", "cl100k_tiktoken", "", 1},
    {"U+3097, which is not assigned", "deepseek_v3", "\xE3\x81\x82\xE3\x82\x97", DSTOK__WINDOW},
    {"U+1FBFA, which is not assigned", "smollm", "ab \xF0\x9F\xAF\xBA", DSTOK__WINDOW},
};

/* 100 bytes: letters, a line end in the middle of the block, then blanks, then letters again. */
static size_t blanks_over_the_edge(char *out) {
    memset(out, 'a', 100);
    out[40] = '\n';
    memset(out + 41, ' ', 40);
    return 100;
}

/* An ideograph, then 140 capitals. */
static size_t many_capitals(char *out) {
    memset(out, 'A', 143);
    memcpy(out, "\xE6\x88\x91", 3);
    return 143;
}

static const struct shape *shape_of(const char *name) {
    size_t i = 0;
    while (strcmp(shapes[i].name, name) != 0) i++;
    return &shapes[i];
}

static void show_limits(void) {
    static dstok__window w;
    printf("== limits\n%-16s%8s%8s  %s\n", "family", "window", "limit", "what is met");
    for (size_t i = 0; i < sizeof unsures / sizeof *unsures; i++) {
        const struct unsure *u = &unsures[i];
        char made[256];
        size_t n = u->text == NULL ? many_capitals(made) : blanks_over_the_edge(made);
        if (u->text != NULL && u->text[0] != '\0') n = strlen(strcpy(made, u->text));
        dstok__window_read(&w, dstok__simd_best(DSTOK__N_TIERS), (const uint8_t *)made, n, u->max);
        shape_of(u->family)->block(&w);
        size_t end = 64 * w.n < n ? 64 * w.n : n;
        CHECK_EQ(w.limit < end, true);
        printf("%-16s%8zu%8zu  %s\n", u->family, end, w.limit, u->what);
    }
}

/* ---- cuts ---- */

/* How many tokens hold two neighbouring characters. */
static unsigned count_holders(const dstok_tokenizer *tok, const uint8_t *pair, size_t n) {
    unsigned found = 0;
    for (uint32_t id = 0; id < tok->n_ids; id++) {
        dstok__ref ref = tok->t.texts[id];
        bool holds = false;
        for (size_t i = 0; i + n <= ref.n && !holds; i++)
            holds = memcmp(tok->t.strings + ref.at + i, pair, n) == 0;
        found += holds;
    }
    return found;
}

/* Which of the tables says that two characters may join. */
static const char *reason_of(const dstok__cuts *c, uint32_t left, uint32_t right) {
    return dstok__has_pair(c->pairs, c->shift, left, right) ? "pair" : "part";
}

/* The pair of characters that meets at text[at]. Returns whether it is a place to cut. */
static bool show_pair(const dstok_tokenizer *tok, size_t left_at, size_t at, size_t end) {
    const dstok__cuts *cuts = &tok->t.cuts;
    uint32_t left = dstok__char_key(bytes() + left_at, at - left_at),
             right = dstok__char_key(bytes() + at, end - at);
    bool joins = dstok__may_join(cuts, left, right);
    unsigned holders = count_holders(tok, bytes() + left_at, end - left_at);
    CHECK_EQ(!joins && holders > 0, false);
    printf("%5zu  ", at);
    print_piece(text + left_at, at - left_at);
    printf(" + ");
    print_piece(text + at, end - at);
    printf("   tokens with both: %u   ", holders);
    if (joins) printf("may join (%s)\n", reason_of(cuts, left, right));
    if (!joins) printf("cut\n");
    return !joins;
}

/* The places that the encoder asks about: where one of the two characters is from U+0800 on. */
static uint64_t show_cuts(const dstok_tokenizer *tok) {
    uint64_t found = 0;
    size_t left_at = 0, at, width, left_width;
    (void)dstok__utf8_get(bytes(), &left_width);
    printf("== cuts\n");
    for (at = left_width; at < LEN; at += width) {
        (void)dstok__utf8_get(bytes() + at, &width);
        if ((width >= 3 || left_width >= 3) && show_pair(tok, left_at, at, at + width))
            found |= (uint64_t)1 << at;
        left_at = at;
        left_width = width;
    }
    return found;
}

static void show_pieces(const dstok_tokenizer *tok, const dstok__fast *f) {
    uint64_t cuts = show_cuts(tok);
    CHECK_EQ(f->pieces[0] == (f->window.starts[0] | cuts), true);
    print_head("pieces");
    print_mask("starts", f->window.starts[0]);
    print_mask("cuts", cuts);
    print_mask("pieces", f->pieces[0]);
    printf("%-16s", "places");
    for (int i = 0; i < __builtin_popcountll(f->pieces[0]); i++)
        printf("%s%u", i > 0 ? " " : "", f->places[i]);
    putchar('\n');
}

/* ---- keys and slots ---- */

static void print_key(dstok__key key) {
    uint8_t raw[16];
    memcpy(raw, &key, sizeof raw);
    for (unsigned i = 0; i < 16; i++) printf("%s%02X", i == 8 ? " " : "", raw[i]);
}

static void show_slot(dstok__cache *c, size_t begin, size_t end, dstok__key from_encoder, bool has_key) {
    uint8_t copy[16] = {0};
    size_t n_ids;
    dstok__key key = dstok__key_of(memcpy(copy, text + begin, end - begin), end - begin);
    if (has_key) CHECK_MEM(&from_encoder, &key, sizeof key);
    dstok__cached *at = dstok__cache_at(c->slots, c->bits, dstok__key_hash(key));
    const uint32_t *ids = dstok__cache_find(c, at, key, (const uint8_t *)text + begin, end - begin, &n_ids);
    CHECK(ids != NULL);
    printf("%5zu  ", begin);
    print_key(key);
    printf(" %6zu  ", (size_t)(at - c->slots));
    for (size_t i = 0; ids != NULL && i < n_ids; i++) printf("%s%" PRIu32, i > 0 ? " " : "", ids[i]);
    printf("  ");
    print_piece(text + begin, end - begin);
    putchar('\n');
}

/* What the cache holds behind the call. */
static void show_slots(dstok__fast *f) {
    size_t n = (size_t)__builtin_popcountll(f->pieces[0]), safe = n;
    while (safe > 0 && f->places[safe - 1] + 16 > LEN) safe--;
    printf("== slots\nplace  %-33s %6s  ids  piece\n", "key", "slot");
    for (size_t i = 0; i < n; i++) show_slot(&f->cache, f->places[i], f->places[i + 1], f->keys[i], i < safe);
    printf("keys made together: %zu of %zu; slots in the table: %u\n", safe, n, 1u << f->cache.bits);
}

/* ---- merging ---- */

static void print_token(const dstok_tokenizer *tok, uint32_t id) {
    dstok__ref ref = tok->t.texts[id];
    print_piece(tok->t.strings + ref.at, ref.n);
}

static void print_symbols(const dstok_tokenizer *tok, const uint32_t *ids, size_t n) {
    printf("  ");
    for (size_t i = 0; i < n; i++) {
        printf("%s", i > 0 ? " | " : "");
        print_token(tok, ids[i]);
    }
}

/* One merge of the least rank, in the plainest way. Returns the number of symbols left. */
static size_t merge_once(const dstok_tokenizer *tok, uint32_t *ids, size_t n) {
    size_t best = n;
    dstok__found least = {DSTOK__NO_RANK, 0};
    print_symbols(tok, ids, n);
    printf("   ranks");
    for (size_t i = 0; i + 1 < n; i++) {
        dstok__found found = dstok__pairs_get(&tok->t.pairs, ids[i], ids[i + 1]);
        if (found.rank == DSTOK__NO_RANK) printf(" none");
        if (found.rank != DSTOK__NO_RANK) printf(" %" PRIu32, found.rank);
        if (found.rank >= least.rank) continue;
        least = found;
        best = i;
    }
    putchar('\n');
    if (best == n) return n;
    ids[best] = least.product;
    memmove(ids + best + 1, ids + best + 2, (n - best - 2) * sizeof *ids);
    return n - 1;
}

/* Where the rank of two symbols stands. */
static void show_packed(const dstok_tokenizer *tok, uint32_t left, uint32_t right) {
    const dstok__pairs *p = &tok->t.pairs;
    uint64_t key = (uint64_t)left << 20 | right;
    size_t at = dstok__packed_home(key, p->seed, p->cap), home = at;
    while (p->packed[at] >> 24 != key) at = at + 1 == p->cap ? 0 : at + 1;
    uint32_t rank = (uint32_t)(p->packed[at] & (DSTOK__PACKED_RANKS - 1));
    CHECK_EQ(rank, dstok__packed_rank(p, left, right));
    print_token(tok, left);
    printf(" and ");
    print_token(tok, right);
    printf(": line %zu of %zu, ", home / DSTOK__PACKED_LINE, p->cap / DSTOK__PACKED_LINE);
    printf("slot %zu holds %05" PRIX64 " %05" PRIX64, at - home, p->packed[at] >> 44, key & 0xFFFFF);
    printf(" %06" PRIX32 " = ids %" PRIu32 " %" PRIu32 ", rank %" PRIu32, rank, left, right, rank);
    printf("; product %" PRIu32 "\n", dstok__product_of(p, rank));
}

static void show_merge(const dstok_tokenizer *tok, size_t begin, size_t end) {
    uint32_t ids[DSTOK__TINY], merged[DSTOK__TINY];
    size_t n = end - begin, left = n, before;
    dstok__tiny tiny;
    for (size_t i = 0; i < n; i++) tiny.ids[i + 1] = ids[i] = tok->t.head->byte_ids[bytes()[begin + i]];
    dstok__tiny_begin(&tiny, n);
    printf("== merge\n");
    do {
        before = left;
        left = merge_once(tok, ids, left);
    } while (left < before);
    dstok__tiny_merge(dstok__simd_best(DSTOK__N_TIERS), &tok->t.pairs, &tiny, 1);
    CHECK_EQ(dstok__tiny_ids(&tiny, merged), left);
    CHECK_MEM(merged, ids, left * sizeof *ids);
    show_packed(tok, tok->t.head->byte_ids[bytes()[begin]], tok->t.head->byte_ids[bytes()[begin + 1]]);
}

/* ---- spans and rows ---- */

static void show_spans(const dstok_tokens *t) {
    printf("== spans\n%6s %5s %5s  text\n", "id", "begin", "end");
    for (size_t i = 0; i < t->n; i++) {
        size_t begin = (size_t)t->spans[i].begin, end = (size_t)t->spans[i].end;
        printf("%6" PRIu32 " %5zu %5zu  ", t->ids[i], begin, end);
        print_piece(text + begin, end - begin);
        putchar('\n');
    }
}

static void show_rows(const dstok_tokenizer *tok, const dstok_tokens *t) {
    char out[LEN + DSTOK__ROW_ROOM];
    size_t at = 0, n_other = 0, n_long = 0;
    printf("== rows\n%6s %3s  written at  bytes\n", "id", "n");
    for (size_t i = 0; i < t->n; i++) {
        const dstok__row *row = &tok->rows[t->ids[i]];
        CHECK(row->n <= DSTOK__ROW_BYTES);
        memcpy(out + at, row, DSTOK__ROW_ROOM);
        if (i < 4 || i + 2 > t->n) {
            printf("%6" PRIu32 " %3u  %2zu ... %-4zu ", t->ids[i], row->n, at, at + DSTOK__ROW_ROOM - 1);
            for (unsigned k = 0; k < row->n; k++) printf(" %02X", row->bytes[k]);
            putchar('\n');
        } else if (i == 4) {
            printf("   ...\n");
        }
        at += row->n;
    }
    CHECK_EQ(at, LEN);
    CHECK_MEM(out, text, LEN);
    for (size_t id = 0; id < tok->n_rows; id++) {
        n_other += tok->rows[id].n == DSTOK__ROW_OTHER;
        n_long += tok->t.tokens[id].n > DSTOK__ROW_BYTES;
    }
    printf("rows: %zu, of them %zu without bytes (%zu tokens are longer than %u bytes)\n", tok->n_rows,
           n_other, n_long, DSTOK__ROW_BYTES);
}

/* ---- sizes ---- */

/* An allocator that knows the most that was held at once. */
typedef struct meter {
    size_t live, most;
} meter;

static void *meter_alloc(void *ctx, size_t n) {
    meter *m = ctx;
    m->live += n;
    if (m->live > m->most) m->most = m->live;
    return malloc(n);
}

static void *meter_realloc(void *ctx, void *p, size_t old, size_t n) {
    meter *m = ctx;
    m->live += n - old;
    if (m->live > m->most) m->most = m->live;
    return realloc(p, n);
}

static void meter_free(void *ctx, void *p, size_t n) {
    meter *m = ctx;
    m->live -= n;
    free(p);
}

/* Fills a cache until it grows no more. */
static void show_cache_sizes(void) {
    meter m = {0, 0};
    dstok_alloc al = {meter_alloc, meter_realloc, meter_free, &m};
    dstok__cache c;
    uint32_t id = 0;
    dstok__cache_init(&c, &al, DSTOK_CACHE_DEFAULT);
    printf("%-34s%10zu\n", "cache: asked for", DSTOK_CACHE_DEFAULT);
    for (unsigned bits = 0; c.bits < c.max_bits;) {
        dstok__cache_grow(&c);
        if (c.bits != bits) printf("%-34s%10zu\n", bits == 0 ? "cache: at first" : "cache: grown", m.live);
        for (bits = c.bits; c.n_put < (size_t)1 << bits >> 2; id++)
            dstok__cache_put(&c, (dstok__key){id, (uint64_t)8 << 56}, (const uint8_t *)text, 8, &id, 1);
    }
    printf("%-34s%10zu\n", "cache: most, while it grows", m.most);
    dstok__cache_free(&c);
    CHECK_EQ(m.live, 0);
}

static void show_sizes(const dstok_tokenizer *tok) {
    size_t words = dstok__tables_n(&tok->t, DSTOK__S_CUT_PAIRS), set = 0;
    for (size_t i = 0; i < words; i++) set += (size_t)__builtin_popcountll(tok->t.cuts.pairs[i]);
    printf("== sizes\n");
    printf("%-34s%10u\n", "window: bytes of text", 64 * DSTOK__WINDOW);
    printf("%-34s%10zu\n", "scratch of the fast way", sizeof(dstok__fast));
    printf("%-34s%10zu\n", "cache: a slot", sizeof(dstok__cached));
    show_cache_sizes();
    printf("%-34s%10zu\n", "built-in: table of pairs, packed", 8 * dstok__tables_n(&tok->t, DSTOK__S_PACKED));
    printf("%-34s%10zu\n", "built-in: products by rank", 4 * dstok__tables_n(&tok->t, DSTOK__S_PRODUCTS));
    printf("%-34s%10zu\n", "built-in: pairs of bytes", 4 * dstok__tables_n(&tok->t, DSTOK__S_BYTE_PAIRS));
    printf("%-34s%10zu\n", "built-in: pairs for cuts", 8 * words);
    printf("%-34s%9.1f%%\n", "built-in: ... of its bits set", 100.0 * (double)set / (64.0 * (double)words));
    printf("%-34s%10zu\n", "built-in: parts for cuts", 8 * DSTOK__PART_WORDS);
    printf("%-34s%10zu\n", "built-in: rows for decoding", tok->n_rows * sizeof(dstok__row));
}

/* Neither the instructions nor the cache change anything. */
static void check_others(const dstok_tokenizer *tok, const dstok_tokens *want) {
    for (int i = 0; i < 2 * (DSTOK_SIMD_NEON + 1); i++) {
        dstok_encoder_options options = DSTOK_ENCODER_OPTIONS_INIT;
        dstok_encoder *enc;
        dstok_tokens t;
        options.simd = i / 2;
        if (i % 2 == 1) options.cache_bytes = 0;
        if (dstok_simd_name(options.simd) == NULL) continue;
        CHECK_EQ(dstok_encoder_new_with(tok, &options, &enc, NULL), DSTOK_OK);
        CHECK_EQ(dstok_encode_view(enc, text, LEN, NULL, &t, NULL), DSTOK_OK);
        CHECK_EQ(t.n, want->n);
        CHECK_MEM(t.ids, want->ids, want->n * sizeof *t.ids);
        CHECK_MEM(t.spans, want->spans, want->n * sizeof *t.spans);
        dstok_encoder_free(enc);
    }
}

int main(void) {
    dstok_tokenizer *tok;
    dstok_encoder *enc;
    dstok_tokens t;
    _Static_assert(LEN == 64, "a block");
    if (sizeof(void *) != 8) return t_skip("sizes and hashes of the page are those of 64-bit machines");
    dstok_status status = dstok_tokenizer_load_default(NULL, &tok, NULL);
    if (status == DSTOK_E_UNSUPPORTED)
        return t_skip("built without the default vocabulary, which the page shows");
    CHECK_EQ(status, DSTOK_OK);
    CHECK_EQ(dstok_encoder_new(tok, &enc), DSTOK_OK);
    CHECK(enc->fast != NULL);
    CHECK_STR(dstok__pretok_family(tok->pretok)->name, "o200k");
    CHECK_EQ(dstok_encode_view(enc, text, LEN, NULL, &t, NULL), DSTOK_OK);
    show_masks();
    show_limits();
    show_pieces(tok, enc->fast);
    show_slots(enc->fast);
    show_merge(tok, enc->fast->places[0], enc->fast->places[1]);
    show_spans(&t);
    show_rows(tok, &t);
    show_sizes(tok);
    check_others(tok, &t);
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
    return t_end();
}
