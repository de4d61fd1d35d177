/* SPDX-License-Identifier: MIT */
/* dsexplain convert: the tensors of a .safetensors file under the names of another family. Llama, Qwen2 and
 * Qwen3 share theirs; the first Qwen has its own, and queries, keys and values in one tensor. Data is
 * copied as it is. */
#include "dsexplain.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_HEADER ((uint64_t)100 << 20)

/* Names of a layer's parts, behind "transformer.h.N." and "model.layers.N."; queries, keys and values apart. */
static const char *const parts[][2] = {
    {"ln_1.weight", "input_layernorm.weight"},     {"attn.c_proj.weight", "self_attn.o_proj.weight"},
    {"attn.c_proj.bias", "self_attn.o_proj.bias"}, {"ln_2.weight", "post_attention_layernorm.weight"},
    {"mlp.w1.weight", "mlp.up_proj.weight"},       {"mlp.w2.weight", "mlp.gate_proj.weight"},
    {"mlp.c_proj.weight", "mlp.down_proj.weight"},
};
static const char *const whole[][2] = {
    {"transformer.wte.weight", "model.embed_tokens.weight"},
    {"transformer.ln_f.weight", "model.norm.weight"},
    {"lm_head.weight", "lm_head.weight"},
};
static const char *const qkv[] = {"q", "k", "v"};

struct file {
    const char *path;
    const unsigned char *at; /* mapped */
    size_t n, begin;         /* begin: of the data */
    json_t *header;          /* name: {dtype, shape, data_offsets} */
    dev_t device;
    ino_t inode;
};

/* A tensor of the result: up to three pieces of the source, one behind the other. */
struct tensor {
    char *from, *name; /* from: the first of its pieces */
    const json_t *like;
    uint64_t rows, offset[3], n_bytes[3];
    size_t n_pieces;
};

struct result {
    struct tensor *items;
    size_t n;
};

/* ---- reading */

static int bad_file(const struct file *f, const char *why) {
    cli_error("%s: %s", f->path, why);
    return CLI_USAGE;
}

static int map(struct file *f) {
    struct stat st;
    int fd = open(f->path, O_RDONLY | O_CLOEXEC), error = errno;
    void *at = MAP_FAILED;

    if (fd < 0) return bad_file(f, strerror(error));
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 8) {
        f->n = (size_t)st.st_size;
        f->device = st.st_dev;
        f->inode = st.st_ino;
        at = mmap(NULL, f->n, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    (void)close(fd);
    if (at == MAP_FAILED) return bad_file(f, "this is no .safetensors file");
    f->at = at;
    return 0;
}

static int read_header(struct file *f) {
    uint64_t n = 0;
    int i;

    for (i = 7; i >= 0; i--) n = n << 8 | f->at[i];
    if (n > MAX_HEADER || n > f->n - 8)
        return bad_file(f, "this is no .safetensors file: its header is too long");
    f->begin = (size_t)n + 8;
    f->header = json_loadb((const char *)f->at + 8, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
    return json_is_object(f->header)
               ? 0
               : bad_file(f, "this is no .safetensors file: its header is no JSON object");
}

/* A tensor of the source. Returns 0 when it is not as it must be. */
static int place_of(const struct file *f, const json_t *tensor, uint64_t *offset, uint64_t *n_bytes,
                    uint64_t *rows) {
    const json_t *offsets = json_object_get(tensor, "data_offsets"),
                 *shape = json_object_get(tensor, "shape");
    json_int_t begin = json_integer_value(json_array_get(offsets, 0)),
               end = json_integer_value(json_array_get(offsets, 1)),
               n = json_integer_value(json_array_get(shape, 0));

    if (!json_is_array(shape) || json_array_size(offsets) != 2 || begin < 0 || end < begin ||
        (uint64_t)end > f->n - f->begin || n < 0)
        return 0;
    *offset = (uint64_t)begin;
    *n_bytes = (uint64_t)(end - begin);
    *rows = (uint64_t)n;
    return json_is_string(json_object_get(tensor, "dtype"));
}

/* ---- names */

/* "PREFIX.N.REST": the number's text and the rest. */
static const char *layer_of(const char *name, const char *prefix, char number[16]) {
    size_t n = strlen(prefix), digits;

    if (strncmp(name, prefix, n) != 0) return NULL;
    digits = strspn(name + n, "0123456789");
    if (digits == 0 || digits > 8 || name[n + digits] != '.') return NULL;
    memcpy(number, name + n, digits);
    number[digits] = '\0';
    return name + n + digits + 1;
}

static char *join(const char *format, const char *number, const char *rest) {
    struct cli_buf out = {0};

    cli_buf_printf(&out, "%s%s.%s", format, number, rest);
    (void)cli_buf_string(&out);
    return out.p;
}

/* The name under the other family (to: 0 Qwen, 1 Llama); NULL: it has none. */
static char *other_name(const char *name, int to) {
    static const char *const prefixes[] = {"transformer.h.", "model.layers."};
    char number[16];
    const char *rest = layer_of(name, prefixes[!to], number);
    size_t i;

    for (i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(name, whole[i][!to]) == 0) return cli_copy_text(whole[i][to]);
    for (i = 0; rest != NULL && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(rest, parts[i][!to]) == 0) return join(prefixes[to], number, parts[i][to]);
    return NULL;
}

static struct tensor *add(struct result *r, const char *from, char *name, const json_t *like) {
    struct tensor *t;

    r->items = cli_realloc(r->items, (r->n + 1) * sizeof *r->items);
    t = &r->items[r->n++];
    memset(t, 0, sizeof *t);
    t->from = cli_copy_text(from);
    t->name = name;
    t->like = like;
    return t;
}

static int no_name(const struct file *f, const char *name, const char *why) {
    cli_error("%s: tensor \"%s\" %s", f->path, name, why);
    return CLI_USAGE;
}

/* Qwen's c_attn is queries, keys and values, a third of the rows each. */
static int split(const struct file *f, struct result *r, const char *name, const char *number,
                 const char *kind, const json_t *tensor) {
    uint64_t offset, n_bytes, rows;
    size_t i;

    if (!place_of(f, tensor, &offset, &n_bytes, &rows)) return no_name(f, name, "has no place in the file");
    if (rows % 3 != 0 || n_bytes % 3 != 0) return no_name(f, name, "cannot be cut into three equal parts");
    for (i = 0; i < 3; i++) {
        char rest[64];
        struct tensor *t;

        (void)snprintf(rest, sizeof rest, "self_attn.%s_proj.%s", qkv[i], kind);
        t = add(r, name, join("model.layers.", number, rest), tensor);
        t->rows = rows / 3;
        t->n_pieces = 1;
        t->n_bytes[0] = n_bytes / 3;
        t->offset[0] = offset + i * (n_bytes / 3);
    }
    return 0;
}

/* The three of Llama, which must be alike, as one of Qwen. The first one's name is given. */
static int join_three(const struct file *f, struct result *r, const char *name, const char *number,
                      const char *kind, const json_t *first) {
    struct tensor *t = add(r, name, NULL, first);
    char rest[64];
    size_t i;

    (void)snprintf(rest, sizeof rest, "attn.c_attn.%s", kind);
    t->name = join("transformer.h.", number, rest);
    for (i = 0; i < 3; i++) {
        uint64_t rows = 0;
        const json_t *tensor;
        char *part;
        int fits;

        (void)snprintf(rest, sizeof rest, "self_attn.%s_proj.%s", qkv[i], kind);
        part = join("model.layers.", number, rest);
        tensor = json_object_get(f->header, part);
        free(part);
        fits = place_of(f, tensor, &t->offset[i], &t->n_bytes[i], &rows) &&
               json_equal(json_object_get(tensor, "shape"), json_object_get(first, "shape")) &&
               json_equal(json_object_get(tensor, "dtype"), json_object_get(first, "dtype"));
        if (!fits)
            return no_name(
                f, name,
                "has no equally large k_proj and v_proj beside it: Qwen's names have no place for it");
        t->rows += rows;
    }
    t->n_pieces = 3;
    return 0;
}

static int convert_one(const struct file *f, struct result *r, const char *name, const json_t *tensor,
                       int to) {
    char number[16], *other = other_name(name, to);
    const char *rest = layer_of(name, to ? "transformer.h." : "model.layers.", number);
    struct tensor *t;

    if (other != NULL) {
        t = add(r, name, other, tensor);
        t->n_pieces = 1;
        return place_of(f, tensor, &t->offset[0], &t->n_bytes[0], &t->rows)
                   ? 0
                   : no_name(f, name, "has no place in the file");
    }
    if (rest != NULL && to &&
        (strcmp(rest, "attn.c_attn.weight") == 0 || strcmp(rest, "attn.c_attn.bias") == 0))
        return split(f, r, name, number, rest + sizeof "attn.c_attn", tensor);
    if (rest != NULL && !to && strncmp(rest, "self_attn.", 10) == 0 && rest[10] != '\0' &&
        strchr("qkv", rest[10]) != NULL &&
        (strcmp(rest + 11, "_proj.weight") == 0 || strcmp(rest + 11, "_proj.bias") == 0))
        return rest[10] == 'q' ? join_three(f, r, name, number, rest + sizeof "self_attn.q_proj", tensor) : 0;
    return no_name(f, name,
                   to ? "is none of Qwen's: nothing to convert it to" : "has no name in Qwen's family");
}

static int convert_all(const struct file *f, struct result *r, int to) {
    const char *name;
    json_t *tensor;
    int rc = 0;

    json_object_foreach(f->header, name, tensor) {
        if (rc == 0 && strcmp(name, "__metadata__") != 0) rc = convert_one(f, r, name, tensor, to);
    }
    return rc;
}

/* ---- writing */

static json_t *header_of(const struct file *f, const struct result *r) {
    json_t *out = json_object(), *metadata = json_object_get(f->header, "__metadata__");
    uint64_t at = 0, end;
    size_t i, k;
    int failed = metadata != NULL && json_object_set(out, "__metadata__", metadata) != 0;

    for (i = 0; i < r->n; i++, at = end) {
        const struct tensor *t = &r->items[i];
        json_t *shape = json_copy(json_object_get(t->like, "shape"));

        for (end = at, k = 0; k < t->n_pieces; k++) end += t->n_bytes[k];
        if (json_array_size(shape) > 0)
            failed |= json_array_set_new(shape, 0, json_integer((json_int_t)t->rows)) != 0;
        failed |= json_object_set_new(out, t->name,
                                      json_pack("{s:O,s:o,s:[I,I]}", "dtype",
                                                json_object_get(t->like, "dtype"), "shape", shape,
                                                "data_offsets", (json_int_t)at, (json_int_t)end)) != 0;
    }
    if (failed) cli_no_memory();
    return out;
}

static int write_to(FILE *out, const struct file *f, const struct result *r) {
    json_t *header = header_of(f, r);
    char *text = json_dumps(header, JSON_COMPACT), length[8];
    size_t n, i, k;
    int good;

    json_decref(header);
    if (text == NULL) cli_no_memory();
    n = (strlen(text) + 7) / 8 * 8; /* data begins at a multiple of eight */
    for (i = 0; i < 8; i++) length[i] = (char)(n >> 8 * i & 0xFF);
    good = fwrite(length, 1, 8, out) == 8 && fprintf(out, "%-*s", (int)n, text) == (int)n;
    free(text);
    for (i = 0; i < r->n; i++)
        for (k = 0; k < r->items[i].n_pieces && good; k++) {
            size_t size = (size_t)r->items[i].n_bytes[k];

            good = fwrite(f->at + f->begin + r->items[i].offset[k], 1, size, out) == size;
        }
    return good && fflush(out) == 0 && fsync(fileno(out)) == 0;
}

/* Under a name of its own first: what stands under the final name is whole. */
static int write_file(const char *path, const struct file *f, const struct result *r) {
    struct cli_buf name = {0};
    struct stat st;
    FILE *out;
    int good;

    if (stat(path, &st) == 0 && st.st_dev == f->device && st.st_ino == f->inode)
        return bad_file(f, "-o names the file itself; name another one");
    if (cli_check_output(path)) return CLI_USAGE;
    cli_buf_printf(&name, "%s.tmp.%ld", path, (long)getpid());
    out = fopen(cli_buf_string(&name), "wxe");
    good = out != NULL && write_to(out, f, r);
    if (out != NULL && fclose(out) != 0) good = 0;
    if (good && rename(name.p, path) != 0) good = 0;
    if (!good) {
        cli_error("cannot write %s: %s", path, strerror(errno));
        if (out != NULL) (void)unlink(name.p);
    }
    cli_buf_free(&name);
    return good ? 0 : CLI_FAIL;
}

static int print(const struct ex_config *c, const struct result *r) {
    struct cli_buf out = {0};
    size_t i;
    int rc;

    if (c->json) cli_buf_char(&out, '{');
    for (i = 0; i < r->n; i++) {
        const struct tensor *t = &r->items[i];

        if (c->json) {
            if (i > 0) cli_buf_char(&out, ',');
            cli_json_text(&out, t->name);
            cli_buf_char(&out, ':');
            cli_json_text(&out, t->from);
        } else {
            cli_buf_printf(&out, "%s\t%s\n", t->from, t->name);
        }
    }
    if (c->json) cli_buf_text(&out, "}\n");
    rc = cli_out_buf(&out);
    cli_buf_free(&out);
    return rc;
}

int ex_convert(const struct ex_config *c) {
    struct file f = {.path = c->inputs[0]};
    struct result r = {NULL, 0};
    int rc = map(&f);

    if (rc == 0) rc = read_header(&f);
    if (rc == 0) rc = convert_all(&f, &r, c->names);
    if (rc == 0) rc = c->output != NULL ? write_file(c->output, &f, &r) : print(c, &r);
    while (r.n > 0) {
        free(r.items[--r.n].from);
        free(r.items[r.n].name);
    }
    free(r.items);
    json_decref(f.header);
    if (f.at != NULL) (void)munmap((void *)(uintptr_t)f.at, f.n);
    return rc;
}
