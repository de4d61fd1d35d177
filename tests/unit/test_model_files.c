/* SPDX-License-Identifier: MIT */
/* Checkpoints on disk and in memory: safetensors, shards, folders, llama2.c, and what each is refused for. */
#include "checkpoint.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- files in a folder of their own */

static char folder[64];

static const char *path_of(const char *name) {
    static char path[256];

    snprintf(path, sizeof path, "%s%s%s", folder, name[0] != '\0' ? "/" : "", name);
    return path;
}

static void write_file(const char *name, const char *data, size_t n) {
    FILE *f = fopen(path_of(name), "wb");

    if (f == NULL || fwrite(data, 1, n, f) != n || fclose(f) != 0) exit(1);
}

static void write_text(const char *name, const char *text) {
    write_file(name, text, strlen(text));
}

/* The file is freed. */
static void write_made(const char *name, file f) {
    write_file(name, f.data, f.n);
    free(f.data);
}

static void drop(const char *name) {
    if (remove(path_of(name)) != 0) exit(1);
}

static void open_refused(const char *name, dstok_status want, const char *part) {
    dsx__archive a;
    dstok_error err = {0};

    dstok_status status = dsx__archive_open(path_of(name), &a, &err);
    CHECK_EQ(status, want);
    CHECK_EQ(err.status, want);
    CHECK(strstr(err.text, part) != NULL);
    if (status != want || strstr(err.text, part) == NULL)
        fprintf(stderr, "  \"%s\", want \"%s\"\n", err.text, part);
    CHECK(a.files == NULL && a.tensors == NULL);
    CHECK_EQ(dsx__archive_open(path_of(name), &a, NULL), want);
    dsx__archive_close(&a);
}

/* Its parts are found, too. */
static void open_good(const char *name, dsx__archive *a) {
    dsx__parts p;
    dstok_error err = {0};

    CHECK_EQ(dsx__archive_open(path_of(name), a, &err), DSTOK_OK);
    if (err.status != DSTOK_OK) {
        fprintf(stderr, "  %s\n", err.text);
        exit(1);
    }
    CHECK_EQ(dsx__parts_find(a, &p, &err), DSTOK_OK);
    dsx__parts_free(&p);
}

/* ---- safetensors in memory */

static void refuse_header(const char *header, size_t data, dstok_status want, const char *part) {
    read_refuse(DSX__SAFETENSORS, safetensors_of_header(header, data), LLAMA_CONFIG, want, part);
}

#define ONE(dtype, shape, offsets)                                                                           \
    "{\"w\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void test_header(void) {
    refuse_header("[]", 0, DSTOK_E_FORMAT, "the header must be an object");
    refuse_header("{", 0, DSTOK_E_FORMAT, "no JSON: ");
    refuse_header("{\"w\":1}", 0, DSTOK_E_FORMAT, "tensor \"w\": this must be an object");
    refuse_header("{\"w\":{},\"w\":{}}", 0, DSTOK_E_FORMAT, "duplicate object key");
    refuse_header("{\"w\":{}}", 0, DSTOK_E_FORMAT, "tensor \"w\": dtype must be a string");
    refuse_header(ONE("\"I64\"", "[1]", "[0,8]"), 8, DSTOK_E_UNSUPPORTED,
                  "tensor \"w\" has dtype I64; only F32, F16, BF16 and F8_E4M3");
    refuse_header(ONE("\"F8_E5M2\"", "[1]", "[0,1]"), 1, DSTOK_E_UNSUPPORTED, "has dtype F8_E5M2");
    refuse_header(ONE("\"F32\"", "1", "[0,4]"), 4, DSTOK_E_FORMAT, "shape must be an array");
    refuse_header(ONE("\"F32\"", "[1,1,1,1,1]", "[0,4]"), 4, DSTOK_E_UNSUPPORTED,
                  "tensor \"w\" has 5 axes; at most 4");
    refuse_header(ONE("\"F32\"", "[-1]", "[0,4]"), 4, DSTOK_E_FORMAT, "shape must hold whole numbers");
    refuse_header(ONE("\"F32\"", "[4294967296,4294967296]", "[0,4]"), 4, DSTOK_E_FORMAT,
                  "\"w\" is larger than any file");
    refuse_header(ONE("\"F32\"", "[9223372036854775807]", "[0,4]"), 4, DSTOK_E_FORMAT,
                  "\"w\" is larger than any file");
    refuse_header(ONE("\"F32\"", "[9223372036854775807,0]", "[0,0]"), 0, DSTOK_E_FORMAT,
                  "\"w\" is larger than any file");
    refuse_header(ONE("\"F32\"", "[1]", "[0]"), 4, DSTOK_E_FORMAT,
                  "data_offsets must hold a begin and an end");
    refuse_header(ONE("\"F32\"", "[1]", "[4,0]"), 4, DSTOK_E_FORMAT,
                  "data_offsets must hold a begin and an end");
    refuse_header(ONE("\"F32\"", "[1]", "[-4,0]"), 4, DSTOK_E_FORMAT,
                  "data_offsets must hold a begin and an end");
    refuse_header(ONE("\"F32\"", "[1]", "[0,8]"), 4, DSTOK_E_TRUNCATED,
                  "tensor \"w\" ends at byte 8 of 4 that there are");
    refuse_header(ONE("\"F32\"", "[1]", "[0,8]"), 8, DSTOK_E_FORMAT,
                  "tensor \"w\" has 8 bytes; its shape and dtype need 4");
    refuse_header(ONE("\"F32\"", "[1]", "[4,8]"), 8, DSTOK_E_FORMAT,
                  "no tensor holds the 4 bytes before \"w\"");
    refuse_header(ONE("\"F32\"", "[1]", "[0,4]"), 6, DSTOK_E_FORMAT, "no tensor holds the last 2 bytes");
    refuse_header("{\"v\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"w\":{\"dtype\":\"F32\","
                  "\"shape\":[2],\"data_offsets\":[4,12]}}",
                  12, DSTOK_E_FORMAT, "tensor \"w\" lies over another one");
    refuse_header(ONE("\"F32\"", "[]", "[0,4]") "   ", 4, DSTOK_E_FORMAT,
                  "is missing"); /* blanks behind it are allowed */
}

static void test_length(void) {
    file f = {.data = NULL};

    put_number(&f, 5, 7);
    read_refuse(DSX__SAFETENSORS, f, LLAMA_CONFIG, DSTOK_E_TRUNCATED,
                "the file has 7 bytes: no safetensors header");
    f = safetensors_of_header("{}", 0);
    f.data[0] = 3;
    read_refuse(DSX__SAFETENSORS, f, LLAMA_CONFIG, DSTOK_E_TRUNCATED, "the file ends inside the header");
    f = safetensors_of_header("{}", 0);
    f.data[7] = 1;
    read_refuse(DSX__SAFETENSORS, f, LLAMA_CONFIG, DSTOK_E_FORMAT, "safetensors allows 100000000");
}

/* ---- folders */

static void test_folder(void) {
    dsx__archive a;

    open_refused("", DSTOK_E_IO, "config.json: cannot be opened: No such file");
    write_text("config.json", LLAMA_CONFIG);
    open_refused("", DSTOK_E_IO, "there is neither model.safetensors nor model.safetensors.index.json");
    write_made("model.safetensors", safetensors_of(LLAMA_TENSORS));
    open_good("", &a);
    CHECK(a.kind == DSX__SAFETENSORS && a.tokenizer == NULL && a.n_tensors == 12 && a.file_bytes > 1000);
    dsx__archive_close(&a);
    write_text("tokenizer.json", "{}");
    open_good("model.safetensors", &a);
    CHECK_STR(a.tokenizer, path_of("tokenizer.json"));
    dsx__archive_close(&a);
    drop("tokenizer.json");
    if (symlink("model.safetensors", path_of("weights.safetensors")) != 0) exit(1);
    open_good("weights.safetensors", &a);
    dsx__archive_close(&a);
    drop("weights.safetensors");
    write_text("model.safetensors", "");
    open_refused("", DSTOK_E_TRUNCATED, "model.safetensors: the file has 0 bytes");
    write_text("config.json", "{");
    open_refused("", DSTOK_E_FORMAT, "config.json: no JSON: ");
    drop("config.json");
    drop("model.safetensors");
}

/* ---- shards */

#define SHARD1 "model.norm.weight F32 8\nlm_head.weight F32 5 8\n"

static char *without_shard1(void) {
    char *one = util_replace(LLAMA_TENSORS, SHARD1, "");

    return one;
}

/* An index of LLAMA_TENSORS, those of the first shard in `first`; more is put behind it. */
static void write_index(const char *first, const char *more) {
    const char *text = LLAMA_TENSORS;
    file f = {.data = NULL};
    line l;
    char entry[256];

    put(&f, "{\"weight_map\":{", 15);
    for (int i = 0; next_line(&text, &l); i++) {
        bool in_first = strcmp(l.name, "model.norm.weight") == 0 || strcmp(l.name, "lm_head.weight") == 0;
        int n = snprintf(entry, sizeof entry, "%s\"%s\":\"%s\"", i > 0 ? "," : "", l.name,
                         in_first ? first : "b.safetensors");
        put(&f, entry, (size_t)n);
    }
    put(&f, more, strlen(more));
    put(&f, "}}", 2);
    write_made("model.safetensors.index.json", f);
}

static void refuse_index(const char *first, const char *more, dstok_status status, const char *part) {
    write_index(first, more);
    open_refused("", status, part);
}

static void test_shards(void) {
    char *rest = without_shard1();
    dsx__archive a;

    write_text("config.json", LLAMA_CONFIG);
    write_made("a.safetensors", safetensors_of(SHARD1));
    write_made("b.safetensors", safetensors_of(rest));
    write_index("a.safetensors", "");
    open_good("", &a);
    CHECK_EQ(a.n_tensors, 12);
    CHECK(dsx__archive_find(&a, "lm_head.weight") != NULL);
    dsx__archive_close(&a);
    refuse_index("../a.safetensors", "", DSTOK_E_FORMAT, "must have the name of a file beside it");
    refuse_index("/a.safetensors", "", DSTOK_E_FORMAT, "must have the name of a file beside it");
    refuse_index("..", "", DSTOK_E_FORMAT, "must have the name of a file beside it");
    refuse_index("", "", DSTOK_E_FORMAT, "\"model.norm.weight\" must have the name of a file beside it");
    refuse_index("c.safetensors", "", DSTOK_E_IO, "c.safetensors: cannot be opened");
    refuse_index("b.safetensors", "", DSTOK_E_FORMAT,
                 "weight_map has tensor \"model.norm.weight\" in b.safetensors, which is without it");
    refuse_index("a.safetensors", ",\"more\":\"a.safetensors\"", DSTOK_E_FORMAT,
                 "weight_map has tensor \"more\" in a.safetensors");
    refuse_index("a.safetensors", ",\"more\":7", DSTOK_E_FORMAT, "\"more\" must have the name of a file");
    write_made("a.safetensors", safetensors_of(SHARD1 "more F32 1\n"));
    refuse_index("a.safetensors", "", DSTOK_E_FORMAT,
                 "tensor \"more\" lies in a.safetensors, weight_map has it nowhere");
    refuse_index("a.safetensors", ",\"more\":\"b.safetensors\"", DSTOK_E_FORMAT,
                 "tensor \"more\" lies in a.safetensors, weight_map has it in another file");
    write_made("a.safetensors", safetensors_of(SHARD1 "model.embed_tokens.weight F32 1\n"));
    refuse_index("a.safetensors", "", DSTOK_E_FORMAT, "in another file");
    write_text("model.safetensors.index.json", "{}");
    open_refused("", DSTOK_E_FORMAT, "model.safetensors.index.json: weight_map must be an object");
    write_text("model.safetensors.index.json", "");
    open_refused("", DSTOK_E_FORMAT, "model.safetensors.index.json: no JSON");
    drop("a.safetensors");
    drop("b.safetensors");
    drop("config.json");
    drop("model.safetensors.index.json");
    free(rest);
}

/* ---- single files */

static void test_kinds(void) {
    dsx__archive a;

    char twos[200] = "x";
    for (int i = 0; i < 60; i++) strcat(twos, "é");
    open_refused(twos, DSTOK_E_IO, "éé: cannot be opened"); /* cut, but not inside of one */
    open_refused("none.gguf", DSTOK_E_IO, "none.gguf: cannot be opened: No such file");
    write_made("x", llama_gguf());
    open_good("x", &a);
    CHECK_EQ(a.kind, DSX__GGUF);
    CHECK_STR(a.tokenizer, path_of("x"));
    dsx__archive_close(&a);
    write_text("x", "GGUF");
    open_refused("x", DSTOK_E_TRUNCATED, "x: the file ends inside the header");
    write_text("x", "abcd");
    open_refused("x", DSTOK_E_UNSUPPORTED,
                 "this is no GGUF file, and its name ends neither in .safetensors nor in .bin");
    write_text("x", "");
    open_refused("x", DSTOK_E_UNSUPPORTED, "this is no GGUF file");
    drop("x");
    write_text("x.bin", "PK\3\4....");
    open_refused("x.bin", DSTOK_E_UNSUPPORTED, "x.bin: not supported: a pickle of PyTorch");
    write_text("x.bin", "");
    open_refused("x.bin", DSTOK_E_TRUNCATED, "x.bin: the file ends inside the header");
    write_made("x.bin", llama2c_of(8, 6, 2, 2, 1, 5, 3));
    open_good("x.bin", &a);
    CHECK(a.kind == DSX__LLAMA2C && a.tokenizer == NULL);
    dsx__archive_close(&a);
    drop("x.bin");
    if (mkfifo(path_of("x.bin"), 0600) != 0) exit(1);
    open_refused("x.bin", DSTOK_E_IO, "x.bin: this is no plain file");
    drop("x.bin");
}

/* ---- llama2.c: every number of the test's file tells its place */

static void check_place(const read_file *r, const char *name, uint64_t rows, uint64_t columns,
                        uint32_t place) {
    const dsx__tensor *t = dsx__archive_find(&r->a, name);

    CHECK(t != NULL);
    if (t == NULL) return;
    CHECK(t->format == DSX__F32 && t->n_bytes == rows * columns * 4 && t->n_dims == (rows > 1 ? 2 : 1));
    CHECK_EQ(t->data[0] + 256 * t->data[1], place);
}

static void test_llama2c(void) {
    read_file *r =
        read_good(DSX__LLAMA2C, llama2c_of(8, 6, 2, 2, 1, -5, 3), NULL); /* heads of 4; 3 positions */
    const dsx__config *c = &r->a.config;

    CHECK(c->arch == DSX__LLAMA && c->n_layers == 2 && c->width == 8 && c->ffn == 6 && c->n_heads == 2 &&
          c->n_kv_heads == 1);
    CHECK(c->head_dim == 4 && c->n_vocab == 5 && c->context == 3 && c->rope.interleaved &&
          c->rope.theta == 10000 && !c->tied_head);
    CHECK((float)c->norm_eps == 1e-5f && c->bos == 1);
    check_place(r, "model.embed_tokens.weight", 5, 8, 0);
    check_place(r, "model.layers.1.input_layernorm.weight", 1, 8, 40 + 8);
    check_place(r, "model.layers.1.self_attn.q_proj.weight", 8, 8, 56 + 64);
    check_place(r, "model.layers.1.self_attn.k_proj.weight", 4, 8, 184 + 32);
    check_place(r, "model.layers.1.self_attn.v_proj.weight", 4, 8, 248 + 32);
    check_place(r, "model.layers.1.self_attn.o_proj.weight", 8, 8, 312 + 64);
    check_place(r, "model.layers.1.post_attention_layernorm.weight", 1, 8, 440 + 8);
    check_place(r, "model.layers.1.mlp.gate_proj.weight", 6, 8, 456 + 48);
    check_place(r, "model.layers.1.mlp.down_proj.weight", 8, 6, 552 + 48);
    check_place(r, "model.layers.1.mlp.up_proj.weight", 6, 8, 648 + 48);
    check_place(r, "model.norm.weight", 1, 8, 744);
    check_place(r, "lm_head.weight", 5, 8, 752 + 12);
    read_free(r);
    r = read_good(DSX__LLAMA2C, llama2c_of(8, 6, 2, 2, 1, 5, 3), NULL);
    CHECK(r->a.config.tied_head && dsx__archive_find(&r->a, "lm_head.weight") == NULL);
    read_free(r);
}

static void refuse_llama2c(size_t word, uint32_t value, dstok_status status, const char *part) {
    file f = llama2c_of(8, 6, 2, 2, 1, 5, 3);

    for (size_t i = 0; i < 4; i++) f.data[4 * word + i] = (char)(value >> (8 * i));
    read_refuse(DSX__LLAMA2C, f, NULL, status, part);
}

static void test_llama2c_refused(void) {
    refuse_llama2c(0, 0x616b3432, DSTOK_E_UNSUPPORTED, "version 6 of llama2.c's files");
    refuse_llama2c(0, 9, DSTOK_E_FORMAT, "width 9 is no multiple of 2 heads");
    refuse_llama2c(0, 0, DSTOK_E_FORMAT, "the width is 0");
    refuse_llama2c(1, 0xFFFFFFFF, DSTOK_E_FORMAT, "the feed-forward width is 4294967295");
    refuse_llama2c(2, 3, DSTOK_E_TRUNCATED, "the file ends inside ");
    refuse_llama2c(2, 0, DSTOK_E_FORMAT, "the number of layers is 0");
    refuse_llama2c(3, 0, DSTOK_E_FORMAT, "is no multiple of 0 heads");
    refuse_llama2c(4, 3, DSTOK_E_FORMAT, "the number of key-value heads is 3");
    refuse_llama2c(5, 4, DSTOK_E_FORMAT, "32 bytes are left behind the last array");
    refuse_llama2c(5, 0x80000000, DSTOK_E_FORMAT, "the number of tokens is 2147483648");
    refuse_llama2c(6, 4, DSTOK_E_TRUNCATED, "the file ends inside a table");
    refuse_llama2c(6, 0, DSTOK_E_FORMAT, "the context is 0");
}

int main(void) {
    snprintf(folder, sizeof folder, "dsx_files_XXXXXX");
    if (mkdtemp(folder) == NULL) exit(1);
    test_header();
    test_length();
    test_folder();
    test_shards();
    test_kinds();
    test_llama2c();
    test_llama2c_refused();
    rmdir(folder);
    return t_end();
}
