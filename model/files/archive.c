/* SPDX-License-Identifier: MIT */
/* Checkpoints: which kind a path is, the files that belong to it, and its tensors by name. */
#include "files/archive.h"

#include "files/chat.h"
#include "files/json.h"
#include "files/list.h"
#include "files/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_SHARDS 4096u
#define MAX_CONFIG (16u << 20)
#define MAX_INDEX  (100u << 20)

typedef struct files {
    dsx__map *maps;
    size_t n, cap;
    float *factors; /* of rotary frequencies */
} files;

/* ---- paths */

static bool is_folder(const char *path) {
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The folder of a file; malloc'ed. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL ? 1 : (size_t)(slash - path) + (slash == path);
    char *folder = malloc(n + 1);

    if (folder == NULL) return NULL;
    memcpy(folder, slash == NULL ? "." : path, n);
    folder[n] = '\0';
    return folder;
}

/* ---- files */

static dstok_status add_map(files *f, const char *path, const dsx__map **out, dstok_error *err) {
    if (f->n == f->cap) {
        size_t cap = f->cap * 2 + 4;
        dsx__map *maps = realloc(f->maps, cap * sizeof *maps);
        if (maps == NULL) return dsx__no_memory(err);
        f->maps = maps;
        f->cap = cap;
    }
    f->maps[f->n] = (dsx__map){.data = NULL};
    DSX_TRY(dsx__map_open(path, &f->maps[f->n], err));
    *out = &f->maps[f->n++];
    return DSTOK_OK;
}

static dstok_status add_safetensors(files *f, const char *path, dsx__list *list, dstok_error *err) {
    const dsx__map *m = NULL;

    DSX_TRY(add_map(f, path, &m, err));
    return dsx__fail_in(err, dsx__safetensors_read(m->data, m->n, list, err), path);
}

static dstok_status read_config(const char *folder, dsx__config *out, dstok_error *err) {
    char *path = dsx__path(folder, "config.json");
    dsx__map m = {.data = NULL};

    if (path == NULL) return dsx__no_memory(err);
    dstok_status status = dsx__map_open(path, &m, err);
    if (status == DSTOK_OK && m.n > MAX_CONFIG)
        status = dsx__fail_in(
            err, dsx__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, "more than %u bytes", MAX_CONFIG), path);
    if (status == DSTOK_OK)
        status = dsx__fail_in(err, dsx__config_from_json((const char *)m.data, m.n, out, err), path);
    dsx__map_close(&m);
    free(path);
    return status;
}

/* ---- shards */

/* A name in the folder of the index, and nowhere else. */
static bool is_plain_name(const char *name) {
    return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL && strchr(name, '\\') == NULL;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of all shards, each once. */
static dstok_status shard_names(json_t *map, const char **names, size_t *n, dstok_error *err) {
    const char *tensor;
    json_t *value;
    size_t count = 0;
    dsx__quoted q;

    json_object_foreach(map, tensor, value) {
        const char *name = json_string_value(value);
        if (name == NULL || !is_plain_name(name))
            return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET,
                             "weight_map: \"%s\" must have the name of a file beside it",
                             dsx__quote(tensor, strlen(tensor), q));
        names[count++] = name;
    }
    if (count > 0) qsort(names, count, sizeof *names, by_text);
    *n = 0;
    for (size_t i = 0; i < count; i++)
        if (*n == 0 || strcmp(names[*n - 1], names[i]) != 0) names[(*n)++] = names[i];
    if (*n > MAX_SHARDS)
        return dsx__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, "%zu files; at most %u are read", *n,
                         MAX_SHARDS);
    return DSTOK_OK;
}

/* All tensors of a shard are said to be there. */
static dstok_status check_shard(json_t *map, const char *shard, const dsx__list *list, size_t first,
                                dstok_error *err) {
    dsx__quoted q, s;

    for (size_t i = first; i < list->n; i++) {
        const char *name = list->items[i].name, *where = json_string_value(json_object_get(map, name));
        if (where == NULL || strcmp(where, shard) != 0)
            return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET,
                             "tensor \"%s\" lies in %s, weight_map has it %s%s",
                             dsx__quote(name, strlen(name), q), dsx__quote(shard, strlen(shard), s),
                             where == NULL ? "nowhere" : "in ", where == NULL ? "" : "another file");
    }
    return DSTOK_OK;
}

/* And none is said to be somewhere that is nowhere. */
static dstok_status check_count(json_t *map, dsx__list *list, dstok_error *err) {
    const char *name;
    json_t *value;
    dsx__quoted q, s;
    dsx__archive sorted = {.tensors = NULL};

    DSX_TRY(dsx__list_sort(list, err));
    sorted.tensors = list->items;
    sorted.n_tensors = list->n;
    json_object_foreach(map, name, value) {
        const char *shard = json_string_value(value);
        if (dsx__archive_find(&sorted, name) == NULL)
            return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET,
                             "weight_map has tensor \"%s\" in %s, which is without it",
                             dsx__quote(name, strlen(name), q), dsx__quote(shard, strlen(shard), s));
    }
    return DSTOK_OK;
}

static dstok_status open_shards(files *f, const char *folder, json_t *map, dsx__list *list,
                                dstok_error *err) {
    size_t n = 0;
    const char **names = malloc((json_object_size(map) + 1) * sizeof *names);

    if (names == NULL) return dsx__no_memory(err);
    dstok_status status = shard_names(map, names, &n, err);
    for (size_t i = 0; i < n && status == DSTOK_OK; i++) {
        size_t first = list->n;
        char *path = dsx__path(folder, names[i]);
        status = path == NULL ? dsx__no_memory(err) : add_safetensors(f, path, list, err);
        if (status == DSTOK_OK) status = check_shard(map, names[i], list, first, err);
        free(path);
    }
    free(names);
    return status != DSTOK_OK ? status : check_count(map, list, err);
}

static dstok_status read_index(files *f, const char *folder, const dsx__map *m, dsx__list *list,
                               dstok_error *err) {
    json_t *index = NULL;

    if (m->n > MAX_INDEX)
        return dsx__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, "more than %u bytes", MAX_INDEX);
    DSX_TRY(dsx__json_read(m->data, m->n, 0, &index, err));
    json_t *map = json_object_get(index, "weight_map");
    dstok_status status =
        json_is_object(map) ? open_shards(f, folder, map, list, err)
                            : dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "weight_map must be an object");
    json_decref(index);
    return status;
}

static dstok_status open_index(files *f, const char *folder, const char *path, dsx__list *list,
                               dstok_error *err) {
    dsx__map m = {.data = NULL};

    DSX_TRY(dsx__map_open(path, &m, err));
    dstok_status status = read_index(f, folder, &m, list, err);
    dsx__map_close(&m);
    return dsx__fail_in(err, status, path);
}

/* ---- kinds */

/* The one file, or the index and what it names. */
static dstok_status open_weights(files *f, const char *folder, dsx__list *list, dstok_error *err) {
    char *one = dsx__path(folder, "model.safetensors"),
         *index = dsx__path(folder, "model.safetensors.index.json");
    dstok_status status;

    if (one == NULL || index == NULL)
        status = dsx__no_memory(err);
    else if (dsx__is_file(one))
        status = add_safetensors(f, one, list, err);
    else if (dsx__is_file(index))
        status = open_index(f, folder, index, list, err);
    else
        status =
            dsx__fail_in(err,
                         dsx__fail(err, DSTOK_E_IO, DSTOK_NO_OFFSET,
                                   "there is neither model.safetensors nor model.safetensors.index.json"),
                         folder);
    free(one);
    free(index);
    return status;
}

static dstok_status open_folder(const char *folder, const char *file, dsx__archive *out, dsx__list *list,
                                dstok_error *err) {
    files *f = out->files;

    out->kind = DSX__SAFETENSORS;
    DSX_TRY(read_config(folder, &out->config, err));
    DSX_TRY(file != NULL ? add_safetensors(f, file, list, err) : open_weights(f, folder, list, err));
    out->tokenizer = dsx__path(folder, "tokenizer.json");
    if (out->tokenizer == NULL) return dsx__no_memory(err);
    if (!dsx__is_file(out->tokenizer)) {
        free(out->tokenizer);
        out->tokenizer = NULL;
    }
    return dsx__chat_of_folder(folder, &out->chat, err);
}

static dstok_status open_beside(const char *path, dsx__archive *out, dsx__list *list, dstok_error *err) {
    char *folder = folder_of(path);

    if (folder == NULL) return dsx__no_memory(err);
    dstok_status status = open_folder(folder, path, out, list, err);
    free(folder);
    return status;
}

static dstok_status read_one(dsx__kind kind, const uint8_t *data, size_t n, dsx__archive *out,
                             dsx__list *list, dstok_error *err) {
    files *f = out->files;

    out->kind = kind;
    if (kind == DSX__LLAMA2C) return dsx__llama2c_read(data, n, list, &out->config, err);
    if (kind == DSX__SAFETENSORS) return dsx__safetensors_read(data, n, list, err);
    dstok_status status = dsx__gguf_read(data, n, list, &out->config, &f->factors, &out->chat, err);
    out->config.rope.factors = f->factors;
    return status;
}

static bool begins(const dsx__map *m, const char *magic) {
    return m->n >= 4 && memcmp(m->data, magic, 4) == 0;
}

static dstok_status open_file(const char *path, dsx__archive *out, dsx__list *list, dstok_error *err) {
    const dsx__map *m = NULL;
    dsx__kind kind = DSX__LLAMA2C;

    if (ends_with(path, ".safetensors")) return open_beside(path, out, list, err);
    DSX_TRY(add_map(out->files, path, &m, err));
    if (begins(m, "GGUF"))
        kind = DSX__GGUF;
    else if (begins(m, "PK\3\4"))
        return dsx__fail_in(
            err,
            dsx__fail(err, DSTOK_E_UNSUPPORTED, 0, "not supported: a pickle of PyTorch; save as safetensors"),
            path);
    else if (!ends_with(path, ".bin"))
        return dsx__fail_in(
            err,
            dsx__fail(err, DSTOK_E_UNSUPPORTED, 0,
                      "this is no GGUF file, and its name ends neither in .safetensors nor in .bin"),
            path);
    DSX_TRY(dsx__fail_in(err, read_one(kind, m->data, m->n, out, list, err), path));
    if (kind == DSX__GGUF && (out->tokenizer = strdup(path)) == NULL) return dsx__no_memory(err);
    return DSTOK_OK;
}

/* ---- opening */

static dstok_status begin(dsx__archive *out, dstok_error *err) {
    *out = (dsx__archive){.files = calloc(1, sizeof(files))};
    return out->files == NULL ? dsx__no_memory(err) : DSTOK_OK;
}

/* The archive takes the list, and is closed on failure. */
static dstok_status finish(dsx__archive *out, dsx__list *list, dstok_status status, dstok_error *err) {
    const files *f = out->files;

    if (status == DSTOK_OK) status = dsx__list_sort(list, err);
    out->tensors = list->items;
    out->n_tensors = list->n;
    for (size_t i = 0; i < f->n; i++) out->file_bytes += f->maps[i].n;
    if (status != DSTOK_OK) dsx__archive_close(out);
    return status;
}

dstok_status dsx__archive_open(const char *path, dsx__archive *out, dstok_error *err) {
    dsx__list list = {.items = NULL};

    DSX_TRY(begin(out, err));
    dstok_status status =
        is_folder(path) ? open_folder(path, NULL, out, &list, err) : open_file(path, out, &list, err);
    return finish(out, &list, status, err);
}

dstok_status dsx__archive_read(dsx__kind kind, const uint8_t *data, size_t n, const char *config,
                               size_t config_n, dsx__archive *out, dstok_error *err) {
    dsx__list list = {.items = NULL};
    dstok_status status = DSTOK_OK;

    DSX_TRY(begin(out, err));
    if (kind == DSX__SAFETENSORS) status = dsx__config_from_json(config, config_n, &out->config, err);
    if (status == DSTOK_OK) status = read_one(kind, data, n, out, &list, err);
    return finish(out, &list, status, err);
}

void dsx__archive_close(dsx__archive *a) {
    files *f = a->files;
    dsx__list list = {.items = a->tensors, .n = a->n_tensors};

    dsx__list_free(&list);
    free(a->tokenizer);
    free(a->chat);
    if (f != NULL) {
        for (size_t i = 0; i < f->n; i++) dsx__map_close(&f->maps[i]);
        free(f->maps);
        free(f->factors);
        free(f);
    }
    *a = (dsx__archive){.files = NULL};
}

static int name_order(const void *key, const void *item) {
    return strcmp(key, ((const dsx__tensor *)item)->name);
}

const dsx__tensor *dsx__archive_find(const dsx__archive *a, const char *name) {
    return a->n_tensors == 0 ? NULL : bsearch(name, a->tensors, a->n_tensors, sizeof *a->tensors, name_order);
}
