/* SPDX-License-Identifier: MIT */
/* Standard output, and files that appear whole or not at all. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUT_SIZE ((size_t)1 << 16)

static struct cli_buf pending;
static int has_failed;

/* Path of the temporary file while it exists; read by the signal handler. */
static char *volatile temporary;

/* The reader went away: end by the signal, as other filters do, also when our parent had it ignored. */
static void die_of_sigpipe(void) {
    sigset_t set;

    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)raise(SIGPIPE);
    _exit(128 + SIGPIPE);
}

/* All n bytes, whatever the kernel takes at a time. Returns 0 or an errno value. */
static int write_all(int fd, const char *p, size_t n) {
    while (n > 0) {
        ssize_t k = write(fd, p, n < (size_t)1 << 30 ? n : (size_t)1 << 30);

        if (k > 0) {
            p += k;
            n -= (size_t)k;
        } else if (k < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            struct pollfd wait = {fd, POLLOUT, 0};

            (void)poll(&wait, 1, -1);
        } else if (k < 0 && errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static int out_failed(int error) {
    if (error == EPIPE) die_of_sigpipe();
    if (!has_failed) cli_error("cannot write standard output: %s", strerror(error));
    has_failed = 1;
    return CLI_FAIL;
}

static int out_now(const char *p, size_t n) {
    int error = has_failed ? 0 : write_all(STDOUT_FILENO, p, n);

    return error ? out_failed(error) : has_failed ? CLI_FAIL : 0;
}

int cli_out_flush(void) {
    size_t n = pending.n;

    pending.n = 0;
    return out_now(pending.p, n);
}

int cli_out(const void *data, size_t n) {
    int rc = 0;

    if (pending.n + n > OUT_SIZE) rc = cli_out_flush();
    if (rc == 0 && n > OUT_SIZE) return out_now(data, n);
    cli_buf_add(&pending, data, n);
    return rc;
}

int cli_out_buf(const struct cli_buf *b) {
    return cli_out(b->p, b->n);
}

int cli_out_close(void) {
    int rc = cli_out_flush();

    cli_buf_free(&pending);
    if (close(STDOUT_FILENO) != 0 && errno != EINTR && errno != EBADF && rc == 0) rc = out_failed(errno);
    return rc;
}

int cli_out_is_terminal(void) {
    return isatty(STDOUT_FILENO);
}

int cli_out_has_colour(void) {
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return (no == NULL || no[0] == '\0') && (terminal == NULL || strcmp(terminal, "dumb") != 0) &&
           cli_out_is_terminal();
}

size_t cli_out_columns(void) {
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    unsigned long n = columns ? strtoul(columns, NULL, 10) : 0;

    if (n == 0 && cli_out_is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) n = size.ws_col;
    return n < 20 || n > 1000 ? 80 : (size_t)n;
}

void cli_forget_temporary(void) {
    char *path = temporary;

    temporary = NULL;
    if (path != NULL) (void)unlink(path);
}

/* Make the new name of a file durable: the folder it stands in must reach the disk too. Best effort. */
static void sync_folder(const char *path) {
    char *folder = cli_copy_text(path), *slash = strrchr(folder, '/');
    int fd;

    if (slash != NULL) slash[slash == folder ? 1 : 0] = '\0';
    fd = open(slash ? folder : ".", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    free(folder);
}

static int write_failed(const char *path, int error) {
    cli_forget_temporary();
    cli_error("cannot write %s: %s", path, strerror(error));
    return CLI_FAIL;
}

static int write_directly(const char *path, const void *data, size_t n) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), error = fd < 0 ? errno : 0;

    if (fd >= 0) {
        error = write_all(fd, data, n);
        if (close(fd) != 0 && error == 0) error = errno;
    }
    return error ? write_failed(path, error) : 0;
}

/* `mode`: of the file that is replaced, or 0: as new files have it. */
static int write_and_rename(const char *path, mode_t mode, const void *data, size_t n) {
    struct cli_buf name = {0};
    int fd, error;

    cli_buf_printf(&name, "%s.tmp.%ld", path, (long)getpid());
    (void)cli_buf_string(&name);
    fd = open(name.p, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        error = errno;
        cli_buf_free(&name);
        return write_failed(path, error);
    }
    temporary = name.p;
    error = mode != 0 && fchmod(fd, mode) != 0 ? errno : 0;
    if (error == 0) error = write_all(fd, data, n);
    if (error == 0 && fsync(fd) != 0 && errno != EINVAL) error = errno;
    if (close(fd) != 0 && error == 0) error = errno;
    if (error == 0 && rename(name.p, path) != 0) error = errno;
    if (error) (void)write_failed(path, error);
    temporary = NULL;
    if (!error) sync_folder(path);
    cli_buf_free(&name);
    return error ? CLI_FAIL : 0;
}

/* Where a link that stands at `path` leads, one step; NULL when there is none. */
static char *follow(const char *path) {
    char target[4096];
    ssize_t n = readlink(path, target, sizeof target - 1);
    const char *slash = strrchr(path, '/');
    struct cli_buf out = {0};

    if (n <= 0 || (size_t)n == sizeof target - 1) return NULL;
    if (target[0] != '/' && slash != NULL) cli_buf_add(&out, path, (size_t)(slash - path) + 1);
    cli_buf_add(&out, target, (size_t)n);
    (void)cli_buf_string(&out);
    return out.p;
}

/* The file that `path` means: a link stays a link, and what it leads to is written, be it there or not. */
static char *resolve(const char *path) {
    struct stat st;
    char *real, *next;
    int steps;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return cli_copy_text(path); /* /dev/stdout leads to no name */
    if ((real = realpath(path, NULL)) != NULL) return real;
    real = cli_copy_text(path);
    for (steps = 0; steps < 40 && (next = follow(real)) != NULL; steps++) {
        free(real);
        real = next;
    }
    return real;
}

/* Whether new files can be made where `path` stands. Returns 0 or an errno value. */
static int check_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    struct cli_buf folder = {0};
    int error;

    if (slash == NULL)
        cli_buf_text(&folder, ".");
    else
        cli_buf_add(&folder, path, slash == path ? 1 : (size_t)(slash - path));
    error = access(cli_buf_string(&folder), W_OK | X_OK) != 0 ? errno : 0;
    cli_buf_free(&folder);
    return error;
}

int cli_check_output(const char *path) {
    char *real = resolve(path);
    struct stat st;
    int error = 0, there = stat(real, &st) == 0;

    if (there && S_ISDIR(st.st_mode))
        error = EISDIR;
    else if (there && access(real, W_OK) != 0)
        error = errno;
    else if (!there || S_ISREG(st.st_mode))
        error = check_folder(real);
    free(real);
    if (error == 0) return 0;
    cli_error("cannot write %s: %s", path, strerror(error));
    return CLI_USAGE;
}

int cli_write_file(const char *path, const void *data, size_t n) {
    char *real = resolve(path);
    struct stat st;
    int rc, there = stat(real, &st) == 0;

    if (there && !S_ISREG(st.st_mode))
        rc = write_directly(path, data, n);
    else
        rc = write_and_rename(real, there ? st.st_mode & 0777 : 0, data, n);
    free(real);
    return rc;
}
