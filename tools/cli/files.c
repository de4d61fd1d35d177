/* SPDX-License-Identifier: MIT */
/* The list of inputs: checked before any work starts, folders replaced by their files. */
#include "verbs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *cli_input_name(const struct cli_input *in) {
    return strcmp(in->name, "-") == 0 ? "standard input" : in->name;
}

static void add_file(struct cli_files *f, const struct cli_input *like, const char *name) {
    f->items = cli_realloc(f->items, (f->n + 1) * sizeof *f->items);
    f->names = cli_realloc(f->names, (f->n + 1) * sizeof *f->names);
    f->items[f->n] = *like;
    f->items[f->n].name = f->names[f->n] = cli_copy_text(name);
    f->n++;
}

static int cannot_open(const char *path, int error) {
    if (path[0] == '\0')
        cli_error("cannot open \"\": the name is empty");
    else
        cli_error("cannot open %s: %s", path, strerror(error));
    return CLI_USAGE;
}

/* Growing list of paths, for the folders that wait and the files that were found. */
struct paths {
    char **p;
    size_t n;
};

static void push(struct paths *list, char *path) {
    list->p = cli_realloc(list->p, (list->n + 1) * sizeof *list->p);
    list->p[list->n++] = path;
}

static void free_paths(struct paths *list) {
    while (list->n > 0) free(list->p[--list->n]);
    free(list->p);
}

static char *join(const char *folder, const char *name) {
    struct cli_buf path = {0};

    cli_buf_printf(&path, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    (void)cli_buf_string(&path);
    return path.p;
}

/* Links to files are taken, links to folders are not: they may lead in circles. */
static void sort_entry(struct paths *folders, struct paths *files, char *path) {
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
        push(folders, path);
    else if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        push(files, path);
    else
        free(path);
}

static int read_folder(const char *path, struct paths *folders, struct paths *files) {
    DIR *folder = opendir(path);
    struct dirent *entry;

    if (folder == NULL) return cannot_open(path, errno);
    while ((entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            sort_entry(folders, files, join(path, entry->d_name));
    (void)closedir(folder);
    return 0;
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All files below a folder, in the order of the bytes of their paths. */
static int add_folder(struct cli_files *out, const struct cli_input *in) {
    struct paths folders = {0}, files = {0};
    int rc = 0;
    size_t i;

    push(&folders, cli_copy_text(in->name));
    while (folders.n > 0 && rc == 0) {
        char *path = folders.p[--folders.n];

        rc = read_folder(path, &folders, &files);
        free(path);
    }
    if (files.n > 1) qsort(files.p, files.n, sizeof *files.p, by_bytes);
    for (i = 0; i < files.n && rc == 0; i++) add_file(out, in, files.p[i]);
    if (rc == 0 && files.n == 0) cli_note("%s holds no files", in->name);
    free_paths(&folders);
    free_paths(&files);
    return rc;
}

static int add_input(const struct cli_config *c, struct cli_files *out, const struct cli_input *in) {
    struct stat st;
    int error;

    if (strcmp(in->name, "-") == 0) {
        add_file(out, in, "-");
        return 0;
    }
    error = stat(in->name, &st) != 0 ? errno : 0;
    if (error == ENOENT && strpbrk(in->name, " \n") != NULL) {
        cli_error("cannot open %s: %s; inputs are files: to pass text itself, pipe it in", in->name,
                  strerror(error));
        return CLI_USAGE;
    }
    if (error) return cannot_open(in->name, error);
    if (S_ISDIR(st.st_mode)) {
        if (c->recursive && !in->is_words) return add_folder(out, in);
        cli_error("cannot open %s: it is a folder; %s", in->name,
                  in->is_words ? "name a file" : "--recursive takes the files in it");
        return CLI_USAGE;
    }
    if (access(in->name, R_OK) != 0) return cannot_open(in->name, errno);
    add_file(out, in, in->name);
    return 0;
}

int cli_files_list(const struct cli_config *c, struct cli_files *out) {
    static const struct cli_input standard = {"-", 1, 1, 0};
    size_t i, n_standard = 0;
    int rc = 0;

    memset(out, 0, sizeof *out);
    if (c->n_inputs == 0 && isatty(STDIN_FILENO))
        return cli_usage(c->verb, "no input: name files, pipe text in, or give - to type it");
    if (c->n_inputs == 0) add_file(out, &standard, "-");
    for (i = 0; i < c->n_inputs; i++) n_standard += strcmp(c->inputs[i].name, "-") == 0;
    if (n_standard > 1)
        return cli_usage(c->verb, "- is given %zu times; standard input can be read once", n_standard);
    for (i = 0; i < c->n_inputs && rc == 0; i++) rc = add_input(c, out, &c->inputs[i]);
    if (rc) cli_files_free(out);
    return rc;
}

void cli_files_free(struct cli_files *f) {
    while (f->n > 0) free(f->names[--f->n]);
    free(f->names);
    free(f->items);
    memset(f, 0, sizeof *f);
}

int cli_same_file(const char *a, const char *b) {
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

int cli_files_protect(const struct cli_files *f, const char *option, const char *path) {
    struct stat out, in;
    size_t i;

    if (path == NULL || stat(path, &out) != 0) return 0;
    for (i = 0; i < f->n; i++) {
        const char *name = f->items[i].name;
        int known = strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, &in) : stat(name, &in);

        if (known != 0 || !S_ISREG(in.st_mode) || in.st_dev != out.st_dev || in.st_ino != out.st_ino)
            continue;
        cli_error("%s %s is also an input (%s); it would be destroyed: name another file", option, path,
                  cli_input_name(&f->items[i]));
        return CLI_USAGE;
    }
    return 0;
}
