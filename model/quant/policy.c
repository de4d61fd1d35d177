/* SPDX-License-Identifier: MIT */
/* Tables of number formats, in memory and as JSON. */
#include "quant/policy.h"

#include "base.h"
#include "files/json.h"
#include "files/map.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LAYERS 1024u
#define MAX_FILE   (16u << 20)

struct dsx_policy {
    uint32_t n_layers;
    dsx_format head;
    dsx_format of[][DSX_OP_HEAD];
};

static const char *const weight_names[] = {"file", "f32", "w8", "w4", "fp8", NULL};
static const char *const row_names[] = {"float",      "int8",       "int4", "int4-hadamard",
                                        "int8-fixed", "int4-fixed", NULL};
static const char *const op_names[] = {"qkv", "out", "up", "down", "head"};

const char *dsx__format_fault(const dsx_format *f) {
    bool grouped = f->weights == DSX_WEIGHTS_W8 || f->weights == DSX_WEIGHTS_W4;
    bool fixed = f->rows == DSX_ROWS_INT8_FIXED || f->rows == DSX_ROWS_INT4_FIXED;

    if (f->weights < DSX_WEIGHTS_FILE || f->weights > DSX_WEIGHTS_FP8) return "weights of no known format";
    if (f->rows < DSX_ROWS_FLOAT || f->rows > DSX_ROWS_INT4_FIXED) return "rows of no known format";
    if (grouped && f->group != 0 && f->group != 32 && f->group != 64 && f->group != 128)
        return "group must be 32, 64 or 128";
    if (f->weights == DSX_WEIGHTS_FP8 && f->group != 0 && f->group != 128)
        return "group of fp8 must be 128 (squares) or 0 (rows)";
    if (!grouped && f->weights != DSX_WEIGHTS_FP8 && f->group != 0) return "these weights have no group";
    if (fixed && !(f->limit > 0 && isfinite(f->limit))) return "limit must be a number above 0";
    return !fixed && f->limit != 0 ? "only fixed rows have a limit" : NULL;
}

/* ---- in memory */

static dstok_status new_policy(uint32_t n_layers, dsx_policy **out, dstok_error *err) {
    dsx_policy *p = calloc(1, sizeof *p + n_layers * sizeof *p->of);

    if (p == NULL) return dsx__no_memory(err);
    p->n_layers = n_layers;
    *out = p;
    return DSTOK_OK;
}

dstok_status dsx_policy_new(uint32_t n_layers, const dsx_format *all, dsx_policy **out, dstok_error *err) {
    const char *fault = all != NULL ? dsx__format_fault(all) : NULL;

    if (out == NULL || n_layers == 0 || n_layers > MAX_LAYERS) fault = "an argument is out of its domain";
    if (fault != NULL) return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "dsx_policy_new: %s", fault);
    DSX_TRY(new_policy(n_layers, out, err));
    for (size_t i = 0; all != NULL && i < (size_t)n_layers * DSX_OP_HEAD; i++)
        (*out)->of[i / DSX_OP_HEAD][i % DSX_OP_HEAD] = *all;
    return DSTOK_OK;
}

void dsx_policy_free(dsx_policy *p) {
    free(p);
}

uint32_t dsx_policy_layers(const dsx_policy *p) {
    return p != NULL ? p->n_layers : 0;
}

/* NULL: there is no such place. */
static const dsx_format *place(const dsx_policy *p, uint32_t layer, int op) {
    if (p == NULL || op < 0 || op > DSX_OP_HEAD) return NULL;
    if (op == DSX_OP_HEAD) return &p->head;
    return layer < p->n_layers ? &p->of[layer][op] : NULL;
}

dstok_status dsx_policy_set(dsx_policy *p, uint32_t layer, int op, const dsx_format *format) {
    dsx_format *to = (dsx_format *)place(p, layer, op);

    if (to == NULL || format == NULL || dsx__format_fault(format) != NULL) return DSTOK_E_INVAL;
    *to = *format;
    return DSTOK_OK;
}

dstok_status dsx_policy_get(const dsx_policy *p, uint32_t layer, int op, dsx_format *out) {
    const dsx_format *from = place(p, layer, op);

    if (from == NULL || out == NULL) return DSTOK_E_INVAL;
    *out = *from;
    return DSTOK_OK;
}

/* ---- reading */

/* Where in the file: for messages. */
typedef struct where {
    char text[32]; /* "layer 3: up" */
    dstok_error *err;
} where;

static dstok_status refuse(const where *w, const char *why, const char *key) {
    dsx__quoted q;

    return dsx__fail(w->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "%s%s%s%s%s", w->text, w->text[0] ? ": " : "",
                     why, key != NULL ? " " : "", key != NULL ? dsx__quote(key, strlen(key), q) : "");
}

/* An object with keys of this list alone. */
static dstok_status check_keys(const where *w, const json_t *o, const char *const *keys, size_t n) {
    const char *key;
    json_t *value;

    if (!json_is_object(o)) return refuse(w, "must be an object", NULL);
    json_object_foreach((json_t *)o, key, value) {
        size_t i = 0;

        while (i < n && strcmp(keys[i], key) != 0) i++;
        if (i == n) return refuse(w, "unknown key", key);
    }
    return DSTOK_OK;
}

/* The place of a string among names; -1: missing, -2: none of them. */
static int choice(const json_t *o, const char *key, const char *const *names) {
    const json_t *v = json_object_get(o, key);

    if (v == NULL) return -1;
    for (int i = 0; json_is_string(v) && names[i] != NULL; i++)
        if (strcmp(names[i], json_string_value(v)) == 0) return i;
    return -2;
}

static dstok_status read_format(const where *w, const json_t *o, dsx_format *out) {
    static const char *const keys[] = {"weights", "group", "rows", "limit"};
    const json_t *group = json_object_get(o, "group"), *limit = json_object_get(o, "limit");
    dsx_format f = {choice(o, "weights", weight_names), 0, choice(o, "rows", row_names), 0};

    if (o == NULL) return refuse(w, "is missing", NULL);
    DSX_TRY(check_keys(w, o, keys, sizeof keys / sizeof *keys));
    if (f.weights < 0)
        return refuse(w, f.weights == -1 ? "no weights" : "weights must be file, f32, w8, w4 or fp8", NULL);
    if (f.rows == -2)
        return refuse(w, "rows must be float, int8, int4, int4-hadamard, int8-fixed or int4-fixed", NULL);
    if (f.rows == -1) f.rows = DSX_ROWS_FLOAT;
    if (group != NULL &&
        (!json_is_integer(group) || json_integer_value(group) < 0 || json_integer_value(group) > 128))
        return refuse(w, "group must be 32, 64 or 128", NULL);
    if (limit != NULL && !json_is_number(limit)) return refuse(w, "limit must be a number above 0", NULL);
    f.group = (uint32_t)json_integer_value(group);
    f.limit = (float)json_number_value(limit);
    if (dsx__format_fault(&f) != NULL) return refuse(w, dsx__format_fault(&f), NULL);
    *out = f;
    return DSTOK_OK;
}

static dstok_status read_layer(dstok_error *err, const json_t *o, uint32_t layer, dsx_format *out) {
    where w = {.err = err};

    (void)snprintf(w.text, sizeof w.text, "layer %u", (unsigned)layer);
    DSX_TRY(check_keys(&w, o, op_names, DSX_OP_HEAD));
    for (int op = 0; op < DSX_OP_HEAD; op++) {
        (void)snprintf(w.text, sizeof w.text, "layer %u: %s", (unsigned)layer, op_names[op]);
        DSX_TRY(read_format(&w, json_object_get(o, op_names[op]), &out[op]));
    }
    return DSTOK_OK;
}

static dstok_status read_policy(const json_t *o, dsx_policy **out, dstok_error *err) {
    static const char *const keys[] = {"layers", "head"};
    const json_t *layers = json_object_get(o, "layers");
    where top = {.err = err}, head = {"head", err};
    size_t n = json_array_size(layers);
    dsx_policy *p = NULL;
    dstok_status status = check_keys(&top, o, keys, 2);

    if (status == DSTOK_OK && (n == 0 || n > MAX_LAYERS))
        status = refuse(&top, "layers must be a list of 1 to 1024", NULL);
    if (status == DSTOK_OK) status = new_policy((uint32_t)n, &p, err);
    for (uint32_t i = 0; i < n && status == DSTOK_OK; i++)
        status = read_layer(err, json_array_get(layers, i), i, p->of[i]);
    if (status == DSTOK_OK) status = read_format(&head, json_object_get(o, "head"), &p->head);
    if (status == DSTOK_OK)
        *out = p;
    else
        dsx_policy_free(p);
    return status;
}

dstok_status dsx__policy_parse(const char *text, size_t n, dsx_policy **out, dstok_error *err) {
    json_t *o = NULL;
    dstok_status status;

    if (n == 0) return dsx__fail(err, DSTOK_E_FORMAT, 0, "an empty file is no policy");
    DSX_TRY(dsx__json_read(text, n, 0, &o, err));
    status = read_policy(o, out, err);
    json_decref(o);
    return status;
}

dstok_status dsx_policy_read(const char *path, dsx_policy **out, dstok_error *err) {
    dsx__map m = {.data = NULL};
    dstok_status status;

    if (path == NULL || out == NULL)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "dsx_policy_read: an argument is out of its domain");
    DSX_TRY(dsx__map_open(path, &m, err));
    status = m.n <= MAX_FILE ? dsx__policy_parse((const char *)m.data, m.n, out, err)
                             : dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "is too long for a policy");
    dsx__map_close(&m);
    return dsx__fail_in(err, status, path);
}

/* ---- writing */

/* "NAME": {...} */
static bool write_format(FILE *f, const char *name, const dsx_format *format) {
    json_t *o = json_pack("{s:s}", "weights", weight_names[format->weights]);
    bool ok = o != NULL && fputs("\"", f) >= 0 && fputs(name, f) >= 0 && fputs("\": ", f) >= 0;

    if (format->group > 0) ok = json_object_set_new(o, "group", json_integer(format->group)) == 0 && ok;
    if (format->rows > 0)
        ok = json_object_set_new(o, "rows", json_string(row_names[format->rows])) == 0 && ok;
    if (format->limit > 0) ok = json_object_set_new(o, "limit", json_real((double)format->limit)) == 0 && ok;
    ok = ok && json_dumpf(o, f, JSON_REAL_PRECISION(9)) == 0;
    json_decref(o);
    return ok;
}

static bool write_policy(FILE *f, const dsx_policy *p) {
    bool ok = fputs("{\"layers\": [\n", f) >= 0;

    for (uint32_t l = 0; l < p->n_layers && ok; l++)
        for (int op = 0; op < DSX_OP_HEAD && ok; op++)
            ok = fputs(op > 0  ? ", "
                       : l > 0 ? ",\n{"
                               : "{",
                       f) >= 0 &&
                 write_format(f, op_names[op], &p->of[l][op]) && (op < DSX_OP_DOWN || fputs("}", f) >= 0);
    return ok && fputs("\n], ", f) >= 0 && write_format(f, "head", &p->head) && fputs("}\n", f) >= 0;
}

/* To a file beside the one that is meant, which then takes its place. */
static bool write_beside(const dsx_policy *p, const char *beside, const char *path) {
    int file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *f = file >= 0 ? fdopen(file, "w") : NULL;
    bool ok = f != NULL && write_policy(f, p) && fflush(f) == 0 && fsync(file) == 0;

    if (file < 0) return false;
    if (f != NULL)
        ok = fclose(f) == 0 && ok;
    else
        (void)close(file);
    if (ok && rename(beside, path) == 0) return true;
    (void)unlink(beside);
    return false;
}

dstok_status dsx_policy_write(const dsx_policy *p, const char *path, dstok_error *err) {
    size_t room = path != NULL ? strlen(path) + 32 : 0;
    char *beside;
    bool ok;

    if (p == NULL || path == NULL)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "dsx_policy_write: an argument is out of its domain");
    beside = malloc(room);
    if (beside == NULL) return dsx__no_memory(err);
    (void)snprintf(beside, room, "%s.%ld.tmp", path, (long)getpid());
    ok = write_beside(p, beside, path);
    free(beside);
    return ok ? DSTOK_OK
              : dsx__fail_in(err, dsx__fail(err, DSTOK_E_IO, DSTOK_NO_OFFSET, "cannot be written"), path);
}
