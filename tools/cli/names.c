/* SPDX-License-Identifier: MIT */
/* The user's data folder, and what is in folders. */
#include "names.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void cli_data_home(const char *kind, struct cli_buf *out) {
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

    if (data && data[0])
        cli_buf_printf(out, "%s/dstok/%s", data, kind);
    else if (home && home[0])
        cli_buf_printf(out, "%s/.local/share/dstok/%s", home, kind);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t cli_list_folder(const char *path, const char *ending, char ***names) {
    DIR *folder = opendir(path);
    size_t n = 0, length = strlen(ending);
    struct dirent *entry;

    *names = NULL;
    while (folder && (entry = readdir(folder)) != NULL) {
        size_t k = strlen(entry->d_name);

        if (entry->d_name[0] == '.' || k < length || strcmp(entry->d_name + k - length, ending) != 0)
            continue;
        *names = cli_realloc(*names, (n + 1) * sizeof **names);
        (*names)[n++] = cli_copy_text(entry->d_name);
    }
    if (folder) (void)closedir(folder);
    if (n > 1) qsort(*names, n, sizeof **names, by_name);
    return n;
}

void cli_free_names(char **names, size_t n) {
    while (n > 0) free(names[--n]);
    free(names);
}

int cli_is_folder(const char *path) {
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int cli_is_inside(const char *folder, const char *name) {
    struct cli_buf path = {0};
    struct stat st;
    int there;

    cli_buf_printf(&path, "%s/%s", folder, name);
    there = stat(cli_buf_string(&path), &st) == 0;
    cli_buf_free(&path);
    return there;
}
