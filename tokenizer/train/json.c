/* SPDX-License-Identifier: MIT */
/* The vocabulary as a tokenizer.json that Hugging Face tokenizers and dstok_tokenizer_load read. */
#include "train.h"

#include <stdio.h>
#include <string.h>

/* Counts what it is given and keeps what fits. */
typedef struct sink {
    char *out;
    size_t cap, n;
    char chars[256][3]; /* UTF-8 of the byte-level characters */
} sink;

static void put(sink *s, const char *text, size_t n) {
    if (s->n < s->cap && n <= s->cap - s->n) memcpy(s->out + s->n, text, n);
    s->n += n;
}

static void text(sink *s, const char *string) {
    put(s, string, strlen(string));
}

static void number(sink *s, size_t value) {
    char digits[24];
    put(s, digits, (size_t)snprintf(digits, sizeof digits, "%zu", value));
}

/* The inside of a JSON string. */
static void escaped(sink *s, const char *string, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)string[i];
        char code[8];
        if (c == '"' || c == '\\') {
            put(s, "\\", 1);
            put(s, string + i, 1);
        } else if (c < 0x20) {
            put(s, code, (size_t)snprintf(code, sizeof code, "\\u%04x", c));
        } else {
            put(s, string + i, 1);
        }
    }
}

static void fill_chars(sink *s) {
    for (unsigned b = 0; b < 256; b++) {
        uint32_t cp = dstok__byte_char((uint8_t)b);
        char *c = s->chars[b];
        c[0] = (char)(cp < 0x80 ? cp : 0xC0 | cp >> 6);
        c[1] = (char)(cp < 0x80 ? 0 : 0x80 | (cp & 0x3F));
        c[2] = 0;
    }
}

/* A token's name as a JSON string: special tokens as they are, others in byte-level characters. */
static void name(sink *s, const dstok__learnt *v, uint32_t id) {
    const dstok__learnt_token *t = &v->tokens[id];
    put(s, "\"", 1);
    for (uint32_t i = 0; i < t->n && id >= v->n_specials; i++) {
        const char *c = s->chars[(unsigned char)t->bytes[i]];
        escaped(s, c, strlen(c));
    }
    if (id < v->n_specials) escaped(s, t->bytes, t->n);
    put(s, "\"", 1);
}

static void added_tokens(sink *s, const dstok__learnt *v) {
    text(s, "\"added_tokens\":[");
    for (uint32_t id = 0; id < v->n_specials; id++) {
        text(s, id == 0 ? "\n{\"id\":" : ",\n{\"id\":");
        number(s, id);
        text(s, ",\"content\":");
        name(s, v, id);
        text(s, ",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":"
                "true}");
    }
    text(s, "],\n");
}

static void pipeline(sink *s, const char *pattern, size_t pattern_n) {
    text(s, "\"normalizer\":null,\n"
            "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[\n"
            "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"");
    escaped(s, pattern, pattern_n);
    text(s,
         "\"},\"behavior\":\"Isolated\",\"invert\":false},\n"
         "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":false}]},\n"
         "\"post_processor\":null,\n"
         "\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":"
         "true},\n");
}

static void model(sink *s, const dstok__learnt *v) {
    text(s,
         "\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,\"continuing_subword_prefix\":null,"
         "\"end_of_word_suffix\":null,\"fuse_unk\":false,\"byte_fallback\":false,\"ignore_merges\":false,\n"
         "\"vocab\":{");
    for (uint32_t id = 0; id < v->n_tokens; id++) {
        text(s, id == 0 ? "\n" : ",\n");
        name(s, v, id);
        text(s, ":");
        number(s, id);
    }
    text(s, "},\n\"merges\":[");
    for (size_t i = 0; i < v->n_merges; i++) {
        text(s, i == 0 ? "\n[" : ",\n[");
        name(s, v, v->merges[i].left);
        text(s, ",");
        name(s, v, v->merges[i].right);
        text(s, "]");
    }
    text(s, "]}}\n");
}

size_t dstok__learnt_json(const dstok__learnt *v, const char *pattern, size_t pattern_n, char *out,
                          size_t cap) {
    sink s = {.out = out, .cap = cap};
    fill_chars(&s);
    text(&s, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\n");
    added_tokens(&s, v);
    pipeline(&s, pattern, pattern_n);
    model(&s, v);
    return s.n;
}
