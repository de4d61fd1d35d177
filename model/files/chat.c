/* SPDX-License-Identifier: MIT */
/* Chat templates: of a GGUF file, and of a folder (chat_template.jinja, or a key of tokenizer_config.json).
 * They are handed on as they stand; nothing here understands them. */
#include "files/chat.h"

#include "files/map.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_TEMPLATE (1u << 20)
#define MAX_CONFIG   (64u << 20) /* tokenizer_config.json may list hundreds of added tokens */

/* NULL where memory ends or the text is longer than a template can be. */
static char *copy(const void *text, size_t n) {
    char *out = n <= MAX_TEMPLATE ? malloc(n + 1) : NULL;

    if (out == NULL) return NULL;
    if (n > 0) memcpy(out, text, n);
    out[n] = '\0';
    return out;
}

char *dsx__chat_of_gguf(const dsx__gguf *g) {
    const dsx__gguf_pair *p = dsx__gguf_find(g, "tokenizer.chat_template");

    return p != NULL && p->type == DSX__GGUF_STRING ? copy(p->at, (size_t)p->n) : NULL;
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

static char *of_config(const dsx__map *m) {
    json_t *config = m->n > 0 && m->n <= MAX_CONFIG ? json_loadb((const char *)m->data, m->n, 0, NULL) : NULL;
    const json_t *value = default_of(json_object_get(config, "chat_template"));
    char *out = json_is_string(value) ? copy(json_string_value(value), json_string_length(value)) : NULL;

    json_decref(config);
    return out;
}

static char *of_text(const dsx__map *m) {
    return copy(m->data, m->n);
}

/* What read makes of a file of the folder; NULL where it is not there. */
static char *of_file(const char *folder, const char *name, char *(*read)(const dsx__map *m)) {
    size_t n = strlen(folder), k = strlen(name);
    char *path = malloc(n + k + 2), *out = NULL;
    dsx__map m = {.data = NULL};
    struct stat st;

    if (path == NULL) return NULL;
    memcpy(path, folder, n);
    path[n] = '/';
    memcpy(path + n + 1, name, k + 1);
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && dsx__map_open(path, &m, NULL) == DSTOK_OK) {
        out = read(&m);
        dsx__map_close(&m);
    }
    free(path);
    return out;
}

char *dsx__chat_of_folder(const char *folder) {
    char *out = of_file(folder, "chat_template.jinja", of_text);

    return out != NULL ? out : of_file(folder, "tokenizer_config.json", of_config);
}
