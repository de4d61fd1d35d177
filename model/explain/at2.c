/* SPDX-License-Identifier: MIT */
/* Weights of heads for DSX_METHOD_AT2 (AT2: Cohen-Wang et al. 2025, arXiv 2504.13752).  A head's feature of
 * a sentence is the mean attention weight that the rows before the explained tokens give to its tokens,
 * summed over them. A sentence's score is the sum over heads of weight times feature. Weights are those
 * with which the sums of kept sentences' scores go best along with what random removals do to the log-odds
 * of the answer: the mean of Pearson's correlation over all prompts is driven up by Adam (Kingma & Ba
 * 2015), weights stay at or above 0, and add up to 1 in the end. Below 0 they fit better what they are made
 * from, and worse what they are not. */
#include "arch/model.h"
#include "base.h"
#include "explain/attribute.h"
#include "explain/texts.h"
#include "files/json.h"
#include "files/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 300, MASKS = 32, FIT = 1, MAX_FILE = 1 << 26 };

static const char schema[] = "dsexplain/at2/1";

/* Removals of one prompt. */
typedef struct item {
    float *x;  /* [n][n_heads]: features of what is kept, less their mean over removals */
    double *y; /* [n]: log-odds of the answer, less their mean, of length 1 */
    size_t n;
} item;

struct dsx_at2 {
    const dsx_model *model;
    size_t n_heads; /* of all layers */
    item *items;
    size_t n, cap;
};

dstok_status dsx_at2_new(const dsx_model *model, dsx_at2 **out, dstok_error *err) {
    if (model == NULL || out == NULL)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "dsx_at2_new: an argument is NULL");
    *out = calloc(1, sizeof **out);
    if (*out == NULL) return dsx__no_memory(err);
    (*out)->model = model;
    (*out)->n_heads = (size_t)model->config.n_layers * model->config.n_heads;
    return DSTOK_OK;
}

void dsx_at2_free(dsx_at2 *a) {
    if (a == NULL) return;
    for (size_t i = 0; i < a->n; i++) {
        free(a->items[i].x);
        free(a->items[i].y);
    }
    free(a->items);
    free(a);
}

/* ---- what is learned from */

/* f [n_units][n_heads]: heads' weights [n_heads][n] of tokens, to the sentences that hold them, by bytes. */
static void sum_up(const dsx__texts *t, const float *heads, size_t n_heads, size_t n, double *f) {
    const dstok_span *spans = t->p->spans;

    for (size_t u = 0; u < t->n_units; u++)
        for (size_t i = 0; i < n && spans[i].begin < t->units[u].bytes.end; i++) {
            double part = dsx__share(spans[i], t->units[u].bytes);

            for (size_t h = 0; part > 0 && h < n_heads; h++)
                f[u * n_heads + h] += part * (double)heads[h * n + i];
        }
}

/* Numbers less their mean; false where they do not change. */
static bool centre(double *y, size_t n) {
    double mean = 0, square = 0;

    for (size_t i = 0; i < n; i++) mean += y[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        y[i] -= mean;
        square += y[i] * y[i];
    }
    for (size_t i = 0; i < n && square > 0; i++) y[i] /= sqrt(square);
    return square > 0;
}

static void fill(const dsx__texts *t, const size_t *index, size_t n_heads, const double *f, double *column,
                 item *out) {
    for (size_t h = 0; h < n_heads; h++) {
        double mean = 0;

        for (size_t i = 0; i < out->n; i++) {
            column[i] = 0;
            for (size_t u = 0; u < t->n_units; u++)
                column[i] += t->masks[index[i] * t->n_units + u] ? f[u * n_heads + h] : 0;
            mean += column[i] / (double)out->n;
        }
        for (size_t i = 0; i < out->n; i++) out->x[i * n_heads + h] = (float)(column[i] - mean);
    }
}

/* One more item from removals that were read. */
static dstok_status take(dsx_at2 *a, const dsx__texts *t, const size_t *index, size_t n, const float *heads,
                         dstok_error *err) {
    item it = {.n = n};
    double *f = calloc(t->n_units * a->n_heads, sizeof *f), *column = malloc(n * sizeof *column);
    item *more = a->items;

    if (a->n == a->cap) {
        more = realloc(a->items, (2 * a->cap + 16) * sizeof *more);
        if (more != NULL) {
            a->items = more;
            a->cap = 2 * a->cap + 16;
        }
    }
    it.x = malloc(n * a->n_heads * sizeof *it.x);
    it.y = malloc(n * sizeof *it.y);
    if (more != NULL && f != NULL && column != NULL && it.x != NULL && it.y != NULL) {
        sum_up(t, heads, a->n_heads, t->e->out.to - 1, f);
        fill(t, index, a->n_heads, f, column, &it);
        for (size_t i = 0; i < n; i++) it.y[i] = t->values[index[i]];
        if (centre(it.y, n)) {
            a->items[a->n++] = it;
            it.x = NULL;
            it.y = NULL;
        }
    } else {
        more = NULL;
    }
    free(it.x);
    free(it.y);
    free(f);
    free(column);
    return more != NULL ? DSTOK_OK : dsx__no_memory(err);
}

static dstok_status look(dsx_at2 *a, const dsx__texts *t, const size_t *index, size_t n, dstok_error *err) {
    const dsx_explanation *x = &t->e->out;
    dsx__aim aim = {.ids = t->p->ids,
                    .from = x->from,
                    .to = x->to,
                    .foil = -1,
                    .first = x->from - 1,
                    .only_attention = true};
    dsx__attribution found;
    float *heads = calloc(a->n_heads * x->to, sizeof *heads);
    dstok_status status =
        heads != NULL ? dsx__attribute(a->model, &aim, heads, NULL, NULL, &found, err) : dsx__no_memory(err);

    if (status == DSTOK_OK) {
        status = take(a, t, index, n, heads, err);
        dsx__attribution_free(&found);
    }
    free(heads);
    return status;
}

dstok_status dsx_at2_add(dsx_at2 *a, dsx_prompt *prompt, const dsx_explain_options *options,
                         dstok_error *err) {
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    dsx__explaining e = {.options = &o, .foil = -1};
    dsx__texts t = {0};
    size_t *index = NULL, n;
    dstok_status status;

    if (options != NULL) o = *options;
    if (a == NULL || prompt == NULL || prompt->model != a->model || o.struct_size != sizeof o ||
        o.masks > 4096 || o.removal < 0 || o.removal > DSX_REMOVE_SWAP)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "dsx_at2_add: an argument is out of its domain");
    DSX_TRY(dsx__find_tokens(prompt, &o, &e.out, err));
    status = dsx__texts_new(prompt, &e, &t, err);
    n = o.masks > 0 ? o.masks : MASKS;
    if (t.n_units < 32 && n > (size_t)1 << t.n_units) n = (size_t)1 << t.n_units;
    if (status == DSTOK_OK && t.n_units > 1) {
        index = malloc(n * sizeof *index);
        status = index != NULL && dsx__texts_add_random(&t, (uint32_t)n, o.seed, FIT, index)
                     ? dsx__texts_read(&t, err)
                     : dsx__no_memory(err);
        if (status == DSTOK_OK) status = look(a, &t, index, n, err);
    }
    free(index);
    dsx__texts_free(&t);
    return status;
}

/* ---- learning */

/* Pearson's correlation of an item; its gradient is added to g, by 1 / n. */
static double correlate(const dsx_at2 *a, const item *it, const double *weights, double *sums, double *g) {
    double square = 0, along = 0;

    for (size_t i = 0; i < it->n; i++) {
        sums[i] = 0;
        for (size_t h = 0; h < a->n_heads; h++) sums[i] += (double)it->x[i * a->n_heads + h] * weights[h];
        square += sums[i] * sums[i];
        along += sums[i] * it->y[i];
    }
    if (square <= 0) return 0;
    for (size_t i = 0; i < it->n; i++) {
        double by = (it->y[i] / sqrt(square) - along * sums[i] / (square * sqrt(square))) / (double)a->n;

        for (size_t h = 0; h < a->n_heads; h++) g[h] += by * (double)it->x[i * a->n_heads + h];
    }
    return along / sqrt(square) / (double)a->n;
}

/* Room: weights, first and second moments and the gradient, [n_heads] each, and sums. */
static double learn(const dsx_at2 *a, double *room) {
    size_t n = a->n_heads;
    double *w = room, *m = w + n, *v = m + n, *g = v + n, *sums = g + n, correlation = 0;
    double slow1 = 1, slow2 = 1;

    for (size_t h = 0; h < n; h++) w[h] = 1 / (double)n;
    for (int step = 0;; step++) {
        correlation = 0;
        memset(g, 0, n * sizeof *g);
        for (size_t i = 0; i < a->n; i++) correlation += correlate(a, &a->items[i], w, sums, g);
        if (step == STEPS) return correlation;
        slow1 *= 0.9;
        slow2 *= 0.999;
        for (size_t h = 0; h < n; h++) {
            m[h] = 0.9 * m[h] + 0.1 * g[h];
            v[h] = 0.999 * v[h] + 0.001 * g[h] * g[h];
            w[h] += 0.1 / (double)n * (m[h] / (1 - slow1)) / (sqrt(v[h] / (1 - slow2)) + 1e-12);
            w[h] = fmax(w[h], 0);
        }
    }
}

dstok_status dsx_at2_fit(const dsx_at2 *a, float *weights, double *correlation, dstok_error *err) {
    size_t most = 0;
    double *room, sum = 0, found;

    if (a == NULL || weights == NULL)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "dsx_at2_fit: an argument is NULL");
    if (a->n == 0)
        return dsx__fail(err, DSTOK_E_STATE, DSTOK_NO_OFFSET, "there is no prompt that sentences matter to");
    for (size_t i = 0; i < a->n; i++) most = a->items[i].n > most ? a->items[i].n : most;
    room = calloc(4 * a->n_heads + most, sizeof *room);
    if (room == NULL) return dsx__no_memory(err);
    found = learn(a, room);
    for (size_t h = 0; h < a->n_heads; h++) sum += room[h];
    for (size_t h = 0; h < a->n_heads; h++)
        weights[h] = (float)(sum > 0 ? room[h] / sum : 1 / (double)a->n_heads);
    free(room);
    if (correlation != NULL) *correlation = found;
    return DSTOK_OK;
}

/* ---- files: {"schema": "dsexplain/at2/1", "model": "NAME", "layers": [[...], ...]} */

dstok_status dsx_at2_write(const char *path, const char *name, const float *weights, uint32_t n_layers,
                           uint32_t n_heads, dstok_error *err) {
    FILE *f;
    json_t *title;
    char number[32];
    bool ok;

    if (path == NULL || weights == NULL || n_layers == 0 || n_heads == 0)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "dsx_at2_write: an argument is out of its domain");
    title = json_string(name != NULL ? name : "");
    if (title == NULL) return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "the model's name is not UTF-8");
    f = fopen(path, "w");
    ok = f != NULL && fputs("{\"schema\": \"", f) >= 0 && fputs(schema, f) >= 0 &&
         fputs("\", \"model\": ", f) >= 0 && json_dumpf(title, f, JSON_ENCODE_ANY) == 0 &&
         fputs(", \"layers\": [", f) >= 0;
    for (size_t i = 0; ok && i < (size_t)n_layers * n_heads; i++) {
        (void)snprintf(number, sizeof number, "%.9g", (double)weights[i]);
        ok = fputs(i % n_heads > 0 ? ", "
                   : i > 0         ? ",\n["
                                   : "\n[",
                   f) >= 0 &&
             fputs(number, f) >= 0 && fputs(i % n_heads == n_heads - 1 ? "]" : "", f) >= 0;
    }
    ok = ok && fputs("\n]}\n", f) >= 0;
    if (f != NULL) ok = fclose(f) == 0 && ok;
    json_decref(title);
    if (ok) return DSTOK_OK;
    return dsx__fail_in(err, dsx__fail(err, DSTOK_E_IO, DSTOK_NO_OFFSET, "cannot be written"), path);
}

static dstok_status refuse(dstok_error *err, const char *why) {
    return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "%s", why);
}

static dstok_status read_layers(const json_t *o, uint32_t n_layers, uint32_t n_heads, float *weights,
                                dstok_error *err) {
    const json_t *layers = json_object_get(o, "layers");
    const char *is = json_string_value(json_object_get(o, "schema"));

    if (is == NULL || strcmp(is, schema) != 0) return refuse(err, "is no file of head weights");
    if (json_object_size(o) != 3 || !json_is_string(json_object_get(o, "model")) || !json_is_array(layers))
        return refuse(err, "must have schema, model and layers, and nothing else");
    if (json_array_size(layers) != n_layers)
        return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "is for a model of %zu layers, not %u",
                         json_array_size(layers), (unsigned)n_layers);
    for (uint32_t l = 0; l < n_layers; l++) {
        const json_t *layer = json_array_get(layers, l);

        if (!json_is_array(layer) || json_array_size(layer) != n_heads)
            return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "layer %u must have %u numbers",
                             (unsigned)l, (unsigned)n_heads);
        for (uint32_t h = 0; h < n_heads; h++) {
            const json_t *value = json_array_get(layer, h);
            double w = json_number_value(value);

            if (!json_is_number(value) || !(fabs(w) <= 1e30))
                return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "layer %u: head %u is no number",
                                 (unsigned)l, (unsigned)h);
            weights[(size_t)l * n_heads + h] = (float)w;
        }
    }
    return DSTOK_OK;
}

dstok_status dsx_at2_read(const char *path, uint32_t n_layers, uint32_t n_heads, float *weights,
                          dstok_error *err) {
    dsx__map m = {.data = NULL};
    json_t *o = NULL;
    dstok_status status;

    if (path == NULL || weights == NULL)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "dsx_at2_read: an argument is NULL");
    DSX_TRY(dsx__map_open(path, &m, err));
    status =
        m.n <= MAX_FILE ? dsx__json_read(m.data, m.n, 0, &o, err) : refuse(err, "is no file of head weights");
    if (status == DSTOK_OK) status = read_layers(o, n_layers, n_heads, weights, err);
    json_decref(o);
    dsx__map_close(&m);
    return dsx__fail_in(err, status, path);
}
