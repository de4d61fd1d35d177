/* SPDX-License-Identifier: MIT */
/* Chat templates: of a GGUF file, and of a folder (chat_template.jinja, or a key of tokenizer_config.json).
 * They are handed on as they stand; nothing here understands them. */
#include "files/chat.h"

#include "files/map.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEMPLATE (1u << 20)
#define MAX_CONFIG   (64u << 20) /* tokenizer_config.json may list hundreds of added tokens */

/* Nothing where the text is longer than a template can be. */
static dstok_status copy(const void *text, size_t n, char **out, dstok_error *err) {
    if (n > MAX_TEMPLATE) return DSTOK_OK;
    char *to = malloc(n + 1);
    if (to == NULL) return dsx__no_memory(err);
    if (n > 0) memcpy(to, text, n);
    to[n] = '\0';
    *out = to;
    return DSTOK_OK;
}

dstok_status dsx__chat_of_gguf(const dsx__gguf *g, char **out) {
    const dsx__gguf_pair *p = dsx__gguf_find(g, "tokenizer.chat_template");

    return p != NULL && p->type == DSX__GGUF_STRING ? copy(p->at, (size_t)p->n, out, g->err) : DSTOK_OK;
}

/* The one called "default" of several, else the only one. */
static const json_t *default_of(const json_t *value) {
    size_t n = json_array_size(value);

    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(value, i);
        const char *name = json_string_value(json_object_get(item, "name"));

        if (n == 1 || (name != NULL && strcmp(name, "default") == 0))
            return json_object_get(item, "template");
    }
    return value;
}

static dstok_status of_config(const dsx__map *m, char **out, dstok_error *err) {
    json_error_t why;
    json_t *config = m->n > 0 && m->n <= MAX_CONFIG ? json_loadb((const char *)m->data, m->n, 0, &why) : NULL;
    const json_t *value = default_of(json_object_get(config, "chat_template"));
    dstok_status status = DSTOK_OK;

    if (json_is_string(value)) status = copy(json_string_value(value), json_string_length(value), out, err);
    json_decref(config);
    return status;
}

static dstok_status of_text(const dsx__map *m, char **out, dstok_error *err) {
    return copy(m->data, m->n, out, err);
}

/* What read makes of a file of the folder, where it is there. */
static dstok_status of_file(const char *folder, const char *name,
                            dstok_status (*read)(const dsx__map *m, char **out, dstok_error *err), char **out,
                            dstok_error *err) {
    char *path = dsx__path(folder, name);
    dsx__map m = {.data = NULL};
    dstok_status status = DSTOK_OK;

    if (path == NULL) return dsx__no_memory(err);
    if (dsx__is_file(path) && dsx__map_open(path, &m, NULL) == DSTOK_OK) {
        status = read(&m, out, err);
        dsx__map_close(&m);
    }
    free(path);
    return status;
}

dstok_status dsx__chat_of_folder(const char *folder, char **out, dstok_error *err) {
    DSX_TRY(of_file(folder, "chat_template.jinja", of_text, out, err));
    return *out != NULL ? DSTOK_OK : of_file(folder, "tokenizer_config.json", of_config, out, err);
}
