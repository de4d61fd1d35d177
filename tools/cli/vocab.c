/* SPDX-License-Identifier: MIT */
/* Finding and loading the vocabulary that --vocab names. */
#include "names.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot_open(const char *path, const char *why) {
    cli_error("cannot open %s: %s", path, why);
    return CLI_USAGE;
}

/* Names like this are meant as files. */
static int is_file_name(const char *name) {
    static const char *const endings[] = {".json", ".tiktoken", ".model", ".gguf", ".dstok"};
    size_t n = strlen(name), i, k;

    for (i = 0; i < sizeof endings / sizeof *endings; i++) {
        k = strlen(endings[i]);
        if (n > k && strcmp(name + n - k, endings[i]) == 0) return 1;
    }
    return strchr(name, '/') != NULL;
}

/* Names that tools/get-vocab knows (tools/vocabs.json; a test compares them). */
static const char *const gettable[] = {
    "deepseek_v4", "qwen3.6", "smollm2", "tekken", "cl100k_base", "o200k_base", "r50k_base", "p50k_base",
};

/* How to come by a vocabulary of this name, or by any. */
static void put_advice(struct cli_buf *out, const char *name) {
    size_t n = sizeof gettable / sizeof *gettable, i;

    for (i = 0; i < n && strcmp(gettable[i], name) != 0; i++)
        ;
    if (i < n) {
        cli_buf_printf(out, "run tools/get-vocab %s, a script of the source tree", name);
        return;
    }
    cli_buf_text(
        out, "name its file (-v FOLDER/tokenizer.json); tools/get-vocab, a script of the source tree, gets");
    for (i = 0; i < n; i++) cli_buf_printf(out, "%s %s", i > 0 ? "," : "", gettable[i]);
}

/* No such path and no such name: say what would help. */
static int not_found(const char *name) {
    struct cli_buf home = {0}, text = {0};
    char **names;
    size_t n, i;

    if (name[0] == '\0') return cannot_open("\"\"", "the name is empty");
    if (strcmp(name, "-") == 0)
        return cannot_open(
            name, "a vocabulary does not come from standard input; name a file, a folder, or default");
    if (is_file_name(name)) return cannot_open(name, strerror(ENOENT));
    cli_data_home("vocab", &home);
    n = cli_list_folder(cli_buf_string(&home), "", &names);
    cli_buf_printf(&text, "%s, and no vocabulary has this name (present: default", strerror(ENOENT));
    for (i = 0; i < n; i++) cli_buf_printf(&text, ", %s", names[i]);
    cli_buf_text(&text, "); ");
    put_advice(&text, name);
    cli_free_names(names, n);
    (void)cannot_open(name, cli_buf_string(&text));
    cli_buf_free(&home);
    cli_buf_free(&text);
    return CLI_USAGE;
}

/* The file of a folder to load: itself when it holds tokenizer.json (the library then reads the files
 * beside it too), else tekken.json, else its only file of another kind. */
static int file_of_folder(struct cli_buf *path) {
    static const char *const endings[] = {".tiktoken", ".model", ".gguf", ".dstok"};
    char **names;
    size_t n, i;
    int rc = -1;

    if (cli_is_inside(cli_buf_string(path), "tokenizer.json")) return 0;
    if (cli_is_inside(path->p, "tekken.json")) {
        cli_buf_text(path, "/tekken.json");
        return 0;
    }
    for (i = 0; i < sizeof endings / sizeof *endings && rc < 0; i++) {
        n = cli_list_folder(path->p, endings[i], &names);
        if (n == 1) {
            cli_buf_printf(path, "/%s", names[0]);
            rc = 0;
        } else if (n > 1) {
            rc = cannot_open(path->p, "the folder holds several vocabularies of one kind; name one of them");
        }
        cli_free_names(names, n);
    }
    if (rc >= 0) return rc;
    return cannot_open(path->p,
                       "the folder holds no tokenizer.json, tekken.json, .tiktoken, .model, .gguf or "
                       ".dstok file");
}

/* What the library would say less clearly: no permission, packed files. A pipe is left alone: what is
 * read is gone. */
static int check_file(const char *path) {
    unsigned char head[16] = {0};
    const char *what;
    struct stat st;
    ssize_t n = -1;
    int fd, error;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (n = read(fd, head, sizeof head)) < 0 && errno == EINTR)
        ;
    error = errno;
    if (fd >= 0) (void)close(fd);
    if (n < 0) return cannot_open(path, strerror(error));
    what = cli_packed_name(head, (size_t)n);
    if (what != NULL)
        cli_error("cannot open %s: the vocabulary is compressed (%s); unpack it first", path, what);
    return what ? CLI_USAGE : 0;
}

/* Path of a vocabulary; left empty for the embedded one. */
static int resolve(const char *name, struct cli_buf *path) {
    struct stat st;

    if (name == NULL) return 0;
    if (stat(name, &st) == 0) {
        cli_buf_text(path, name);
    } else if (errno != ENOENT) {
        return cannot_open(name, strerror(errno));
    } else if (strcmp(name, "default") == 0) {
        return 0;
    } else {
        cli_data_home("vocab", path);
        if (name[0] == '\0' || strchr(name, '/') || path->n == 0 ||
            !cli_is_inside(cli_buf_string(path), name))
            return not_found(name);
        cli_buf_printf(path, "/%s", name);
    }
    return cli_is_folder(cli_buf_string(path)) ? file_of_folder(path) : 0;
}

static int load_failed(const char *path, const char *pattern, const dstok_error *err, dstok_status status) {
    struct cli_buf where = {0};

    cli_buf_text(&where, path);
    if (err->line) cli_buf_printf(&where, ":%lu", (unsigned long)err->line);
    if (err->offset != DSTOK_NO_OFFSET)
        cli_buf_printf(&where, ": byte %llu", (unsigned long long)err->offset);
    cli_error("%s: %s%s", cli_buf_string(&where), err->text[0] ? err->text : dstok_status_name(status),
              status == DSTOK_E_INVAL || (pattern != NULL && strstr(err->text, "pattern") != NULL)
                  ? " (--pattern)"
                  : "");
    cli_buf_free(&where);
    return status == DSTOK_E_NOMEM ? CLI_FAIL : CLI_USAGE;
}

int cli_vocab_open(const char *name, const char *pattern, int no_scanner, dstok_tokenizer **out) {
    dstok_load_options options = DSTOK_LOAD_OPTIONS_INIT;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    struct cli_buf path = {0};
    dstok_status status;
    int rc = resolve(name, &path);

    options.pattern = pattern;
    options.flags = no_scanner ? DSTOK_LOAD_NO_SCANNER : 0;
    if (rc == 0 && path.n > 0 && !cli_is_folder(cli_buf_string(&path))) rc = check_file(path.p);
    if (rc == 0) {
        status = path.n > 0 ? dstok_tokenizer_load(cli_buf_string(&path), &options, out, &err)
                            : dstok_tokenizer_load_default(&options, out, &err);
        if (status != DSTOK_OK) rc = load_failed(path.n > 0 ? path.p : "default", pattern, &err, status);
    }
    cli_buf_free(&path);
    return rc;
}
