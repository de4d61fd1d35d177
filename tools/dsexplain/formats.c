/* SPDX-License-Identifier: MIT */
/* Formats of maps by name. */
#include "scan.h"

#include <string.h>

/* The rest of text behind word, if it begins so; else NULL. */
static const char *behind(const char *text, const char *word) {
    size_t n = strlen(word);

    return strncmp(text, word, n) == 0 ? text + n : NULL;
}

static const char *weights_of(const char *p, dsx_format *out) {
    static const char *const names[] = {"file", "f32", "w8", "w4", "fp8"};
    int i;

    for (i = 0; i < 5; i++) {
        const char *rest = behind(p, names[i]);

        out->weights = i;
        if (rest != NULL) return rest;
    }
    return NULL;
}

static const char *group_of(const char *p, dsx_format *out) {
    static const char *const names[] = {"g32", "g64", "g128"};
    uint32_t i;

    for (i = out->weights == DSX_WEIGHTS_FP8 ? 2 : 0; i < 3 && out->weights >= DSX_WEIGHTS_W8; i++) {
        const char *rest = behind(p, names[i]);

        out->group = 32u << i;
        if (rest != NULL) return rest;
    }
    out->group = 0;
    return p;
}

const char *scan_format(const char *name, dsx_format *out) {
    static const struct {
        const char *name;
        int rows;
    } rows[] = {{"", DSX_ROWS_FLOAT},         {"a8", DSX_ROWS_INT8},
                {"a4", DSX_ROWS_INT4},        {"a4h", DSX_ROWS_INT4_HADAMARD},
                {"a8f", DSX_ROWS_INT8_FIXED}, {"a4f", DSX_ROWS_INT4_FIXED}};
    dsx_format f = {0, 0, 0, 0};
    const char *p = weights_of(name, &f);
    size_t i;

    if (p != NULL) p = group_of(p, &f);
    for (i = 0; p != NULL && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(p, rows[i].name) == 0) {
            f.rows = rows[i].rows;
            f.limit = scan_is_fixed(&f) ? 1 : 0; /* until it is calibrated */
            *out = f;
            return NULL;
        }
    return "is no format: file, f32, w8, w4 or fp8; then g32, g64 or g128 (of w8 and w4) or g128 (of fp8) "
           "for the group; "
           "then a8, a4, a4h, a8f or a4f where rows are rounded, too";
}

int scan_is_fixed(const dsx_format *f) {
    return f->rows == DSX_ROWS_INT8_FIXED || f->rows == DSX_ROWS_INT4_FIXED;
}
