/* SPDX-License-Identifier: MIT */
/* The oracle's own reader of tokenizer.json (through Jansson) and of rank files. */
#include "inside.h"

#include <jansson.h>
#include <stdlib.h>

void *oracle_memory(size_t n) {
    void *p = calloc(n > 0 ? n : 1, 1);
    if (p != NULL) return p;
    fputs("out of memory\n", stderr);
    exit(1);
}

static bool refuse(const char *what) {
    return oracle_refuse(what);
}

/* ---- look-up ---- */

static int compare_bytes(const uint8_t *a, size_t na, const uint8_t *b, size_t nb) {
    int c = memcmp(a, b, na < nb ? na : nb);
    return c != 0 ? c : na < nb ? -1 : na > nb;
}

static int by_bytes(const void *pa, const void *pb) {
    const token *a = pa, *b = pb;
    return compare_bytes(a->bytes, a->n, b->bytes, b->n);
}

static int by_pair(const void *pa, const void *pb) {
    const merge *a = pa, *b = pb;
    if (a->left != b->left) return a->left < b->left ? -1 : 1;
    if (a->right != b->right) return a->right < b->right ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

uint32_t oracle_find(const oracle *o, const uint8_t *bytes, size_t n) {
    size_t lo = 0, hi = o->n_tokens;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int c = compare_bytes(o->tokens[mid].bytes, o->tokens[mid].n, bytes, n);
        if (c == 0) return o->tokens[mid].id;
        if (c < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return NO_ID;
}

/* Of the merges of one pair the last one in the file counts: the one before the first merge of a greater pair. */
const merge *oracle_merge(const oracle *o, uint32_t left, uint32_t right) {
    size_t lo = 0, hi = o->n_merges;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const merge *m = &o->merges[mid];
        if (m->left < left || (m->left == left && m->right <= right)) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    if (lo == 0) return NULL;
    const merge *m = &o->merges[lo - 1];
    return m->left == left && m->right == right ? m : NULL;
}

/* ---- the byte-level alphabet of tokenizer.json ---- */

static bool is_shown_as_itself(int byte) {
    return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

/* Bytes 0 to 255 in order; those not shown as themselves take U+0100, U+0101, ... */
static int byte_of_character(unsigned character) {
    unsigned next = 0x100;
    for (int byte = 0; byte < 256; byte++) {
        unsigned shown = is_shown_as_itself(byte) ? (unsigned)byte : next++;
        if (shown == character) return byte;
    }
    return -1;
}

/* The bytes that a key of the vocabulary stands for; false when a character is outside of the alphabet. */
static bool bytes_of_key(const char *key, uint8_t *out, size_t *n) {
    static int table[0x200];
    if (table['A'] == 0) {
        for (unsigned c = 0; c < 0x200; c++) table[c] = byte_of_character(c);
    }
    *n = 0;
    for (const unsigned char *s = (const unsigned char *)key; *s != 0; s++) {
        unsigned c = *s;
        if (c >= 0xE0) return false;
        if (c >= 0xC0) c = (c & 0x1F) << 6 | (*++s & 0x3Fu);
        if (c >= 0x200 || table[c] < 0) return false;
        out[(*n)++] = (uint8_t)table[c];
    }
    return true;
}

/* ---- tokenizer.json: the model ---- */

/* A key as the model looks for it. */
static bool text_of_key(const oracle *o, const char *key, uint8_t *out, size_t *n) {
    if (!o->by_characters) return bytes_of_key(key, out, n);
    *n = strlen(key);
    memcpy(out, key, *n);
    return true;
}

static bool read_vocab(oracle *o, json_t *vocab) {
    const char *key;
    json_t *id;
    o->tokens = oracle_memory(json_object_size(vocab) * sizeof *o->tokens);
    json_object_foreach(vocab, key, id) {
        size_t n;
        uint8_t *bytes = oracle_memory(strlen(key));
        if (!text_of_key(o, key, bytes, &n) || n == 0) { /* no text can give it: a special token */
            free(bytes);
            continue;
        }
        o->tokens[o->n_tokens++] = (token){bytes, n, (uint32_t)json_integer_value(id)};
    }
    qsort(o->tokens, o->n_tokens, sizeof *o->tokens, by_bytes);
    return o->n_tokens > 0;
}

/* One merge: "left right", or ["left", "right"]. */
static bool read_merge(oracle *o, json_t *item, uint32_t rank, merge *m) {
    char line[8192];
    uint8_t bytes[8192];
    size_t n_left, n_right;
    const char *left = json_string_value(json_array_get(item, 0)),
               *right = json_string_value(json_array_get(item, 1));
    if (json_is_string(item)) {
        snprintf(line, sizeof line, "%s", json_string_value(item));
        char *blank = strchr(line, ' ');
        if (blank == NULL) return refuse("a merge without a blank");
        *blank = '\0';
        left = line;
        right = blank + 1;
    }
    if (left == NULL || right == NULL || strlen(left) + strlen(right) >= sizeof bytes)
        return refuse("a bad merge");
    if (!text_of_key(o, left, bytes, &n_left) || !text_of_key(o, right, bytes + n_left, &n_right)) {
        return refuse("a merge outside of the byte-level alphabet");
    }
    *m = (merge){oracle_find(o, bytes, n_left), oracle_find(o, bytes + n_left, n_right), rank, 0};
    size_t cut = strlen(o->prefix); /* the right side loses it */
    memmove(bytes + n_left, bytes + n_left + cut, n_right - cut);
    m->product = oracle_find(o, bytes, n_left + n_right - cut);
    return (m->left != NO_ID && m->right != NO_ID && m->product != NO_ID) || refuse("a merge of no token");
}

static bool read_merges(oracle *o, json_t *merges) {
    o->n_merges = json_array_size(merges);
    o->merges = oracle_memory(o->n_merges * sizeof *o->merges);
    for (size_t i = 0; i < o->n_merges; i++) {
        if (!read_merge(o, json_array_get(merges, i), (uint32_t)i, &o->merges[i])) return false;
    }
    qsort(o->merges, o->n_merges, sizeof *o->merges, by_pair);
    return true;
}

/* A string of the model; "" for none. */
static char *read_affix(json_t *model, const char *name) {
    const char *text = json_string_value(json_object_get(model, name));
    char *copy = oracle_memory((text != NULL ? strlen(text) : 0) + 1);
    if (text != NULL) strcpy(copy, text);
    return copy;
}

static bool read_model(oracle *o, json_t *model) {
    const char *type = json_string_value(json_object_get(model, "type"));
    if (type != NULL && strcmp(type, "BPE") != 0) return refuse("not BPE");
    o->prefix = read_affix(model, "continuing_subword_prefix");
    o->suffix = read_affix(model, "end_of_word_suffix");
    o->byte_fallback = json_is_true(json_object_get(model, "byte_fallback"));
    o->whole_pieces = json_is_true(json_object_get(model, "ignore_merges"));
    o->fuse_unk = json_is_true(json_object_get(model, "fuse_unk"));
    json_t *vocab = json_object_get(model, "vocab");
    if (!read_vocab(o, vocab) || !read_merges(o, json_object_get(model, "merges"))) return false;
    const char *unk = json_string_value(json_object_get(model, "unk_token"));
    json_t *unk_id = unk != NULL ? json_object_get(vocab, unk) : NULL;
    if (unk_id != NULL) o->unk = (uint32_t)json_integer_value(unk_id);
    return true;
}

/* ---- added tokens ---- */

/* Its own id when it is a token of the vocabulary; else the next free one above the vocabulary and those before. */
static uint32_t number_added(const oracle *o, json_t *vocab, const char *content) {
    json_t *known = json_object_get(vocab, content);
    if (known != NULL) return (uint32_t)json_integer_value(known);
    uint32_t next = (uint32_t)json_object_size(vocab);
    for (size_t i = 0; i < o->n_added; i++) {
        if (o->added[i].n == strlen(content) && memcmp(o->added[i].text, content, o->added[i].n) == 0) {
            return o->added[i].id;
        }
        if (o->added[i].id >= next) next = o->added[i].id + 1;
    }
    return next;
}

static void add_added(oracle *o, added a, const char *content) {
    a.n = strlen(content);
    a.text = oracle_memory(a.n);
    memcpy(a.text, content, a.n);
    o->added[o->n_added++] = a;
}

/* Tokens that are matched after normalisation are looked for by their normalised text. */
static void normalise_added(oracle *o) {
    for (size_t i = 0; i < o->n_added; i++) {
        added *a = &o->added[i];
        if (!a->normalized || o->n_norms == 0) continue;
        if (dstok__normalize(&o->normalized, o->normalizer, dstok__pretok_scratch_regex(o->scratch), a->text,
                             a->n, 1 << 20, NULL) != DSTOK_OK)
            continue;
        uint8_t *text = oracle_memory(o->normalized.len);
        memcpy(text, o->normalized.text, o->normalized.len);
        free(a->text);
        a->text = text;
        a->n = o->normalized.len;
    }
}

static bool read_added(oracle *o, json_t *list, json_t *vocab) {
    o->added = oracle_memory(json_array_size(list) * sizeof *o->added);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        const char *content = json_string_value(json_object_get(item, "content"));
        if (content == NULL || *content == '\0') continue;
        added a = {.id = number_added(o, vocab, content),
                   .special = json_is_true(json_object_get(item, "special")),
                   .single_word = json_is_true(json_object_get(item, "single_word")),
                   .lstrip = json_is_true(json_object_get(item, "lstrip")),
                   .rstrip = json_is_true(json_object_get(item, "rstrip")),
                   .normalized = json_is_true(json_object_get(item, "normalized"))};
        add_added(o, a, content);
    }
    normalise_added(o);
    return true;
}

static bool read_tokenizer_json(oracle *o, const char *data, size_t n) {
    json_error_t error;
    json_t *root = json_loadb(data, n, 0, &error);
    if (root == NULL) return refuse(error.text);
    json_t *model = json_object_get(root, "model");
    o->by_characters = true; /* until there is a ByteLevel */
    bool ok = oracle_read_normalizer(o, json_object_get(root, "normalizer")) &&
              oracle_read_pretokenizer(o, json_object_get(root, "pre_tokenizer")) && oracle_make_tools(o) &&
              read_model(o, model) &&
              read_added(o, json_object_get(root, "added_tokens"), json_object_get(model, "vocab"));
    json_decref(root);
    return ok;
}

/* ---- rank files: lines of base64, a blank, a rank ---- */

static int base64_digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

static size_t base64_bytes(const char *text, size_t n, uint8_t *out) {
    size_t k = 0;
    uint32_t bits = 0, n_bits = 0;
    for (size_t i = 0; i < n && base64_digit(text[i]) >= 0; i++) {
        bits = bits << 6 | (uint32_t)base64_digit(text[i]);
        n_bits += 6;
        if (n_bits < 8) continue;
        n_bits -= 8;
        out[k++] = (uint8_t)(bits >> n_bits);
    }
    return k;
}

static void read_ranks(oracle *o, const char *data, size_t n) {
    size_t lines = 0;
    for (size_t i = 0; i < n; i++) lines += data[i] == '\n';
    o->tokens = oracle_memory((lines + 1) * sizeof *o->tokens);
    for (const char *line = data, *end = data + n; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line)),
                   *blank = memchr(line, ' ', (size_t)(end - line));
        if (stop == NULL) stop = end;
        if (blank != NULL && blank < stop) {
            token *t = &o->tokens[o->n_tokens++];
            t->bytes = oracle_memory((size_t)(blank - line));
            t->n = base64_bytes(line, (size_t)(blank - line), t->bytes);
            t->id = (uint32_t)strtoul(blank + 1, NULL, 10);
        }
        line = stop + 1;
    }
    qsort(o->tokens, o->n_tokens, sizeof *o->tokens, by_bytes);
}

static bool read_rank_file(oracle *o, const char *data, size_t n, const char *pattern, const char *meta) {
    dstok__step step = {.kind = DSTOK__STEP_REGEX,
                        .behavior = DSTOK__REMOVED,
                        .invert = true,
                        .dialect = DSTOK__DIALECT_FANCY};
    o->is_ranks = o->whole_pieces = true;
    o->prefix = oracle_memory(1);
    o->suffix = oracle_memory(1);
    read_ranks(o, data, n);
    if (pattern == NULL) return refuse("a rank file needs its pattern");
    if (!oracle_add_step(o, step, pattern)) return false;
    if (meta == NULL) return oracle_make_tools(o);
    json_t *root = json_loads(meta, 0, NULL), *id;
    json_t *list = json_object_get(root, "special_tokens");
    const char *content;
    o->added = oracle_memory(json_object_size(list) * sizeof *o->added);
    json_object_foreach(list, content, id) {
        add_added(o, (added){.id = (uint32_t)json_integer_value(id), .special = true}, content);
    }
    const char *normalizer = json_string_value(json_object_get(root, "normalizer"));
    if (normalizer != NULL && strcmp(normalizer, "NFC") == 0)
        o->norms[o->n_norms++] = (dstok__norm){.kind = DSTOK__NORM_NFC};
    json_decref(root);
    return oracle_make_tools(o);
}

/* ---- both ---- */

oracle *oracle_load(const char *data, size_t n, const char *pattern, const char *meta) {
    oracle *o = oracle_memory(sizeof *o);
    o->unk = NO_ID;
    dstok__normalized_init(&o->normalized, &dstok__default_alloc);
    bool ok =
        n > 0 && data[0] == '{' ? read_tokenizer_json(o, data, n) : read_rank_file(o, data, n, pattern, meta);
    if (ok) return o;
    oracle_free(o);
    return NULL;
}

void oracle_free(oracle *o) {
    if (o == NULL) return;
    for (size_t i = 0; i < o->n_tokens; i++) free(o->tokens[i].bytes);
    for (size_t i = 0; i < o->n_added; i++) free(o->added[i].text);
    for (size_t i = 0; i < o->n_steps; i++) free(o->patterns[i]);
    free(o->tokens);
    for (size_t i = 0; i < 2 * o->n_norms; i++) free(o->norm_texts[i]);
    free(o->prefix);
    free(o->suffix);
    free(o->merges);
    free(o->added);
    dstok__pretok_free(o->pretok);
    dstok__normalizer_free(o->normalizer);
    dstok__pretok_scratch_free(o->scratch);
    dstok__normalized_free(&o->normalized);
    free(o);
}
