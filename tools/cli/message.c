/* SPDX-License-Identifier: MIT */
/* Messages on standard error. */
#include "args.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_quiet;

void cli_set_quiet(int quiet) {
    is_quiet = quiet;
}

/* File names and texts come from outside: a message must not drive the terminal. */
static void print_line(const char *kind, const char *format, va_list args, const char *after) {
    struct cli_buf line = {0};
    char text[4096];
    size_t i;

    (void)vsnprintf(text, sizeof text, format, args);
    cli_buf_printf(&line, "%s: %s", cli_program_name, kind);
    cli_buf_text(&line, text);
    cli_buf_text(&line, after);
    for (i = 0; i < line.n; i++) {
        if ((unsigned char)line.p[i] < 0x20 || line.p[i] == 0x7F) line.p[i] = '?';
        if (i > 0 && (unsigned char)line.p[i - 1] == 0xC2 && (unsigned char)line.p[i] < 0xA0)
            line.p[i - 1] = line.p[i] = '?'; /* U+0080 to U+009F are controls, too */
    }
    cli_buf_char(&line, '\n');
    (void)fflush(stderr);
    (void)fwrite(line.p, 1, line.n, stderr);
    (void)fflush(stderr);
    cli_buf_free(&line);
}

void cli_error(const char *format, ...) {
    va_list args;

    va_start(args, format);
    print_line("", format, args, "");
    va_end(args);
}

void cli_note(const char *format, ...) {
    va_list args;

    if (is_quiet) return;
    va_start(args, format);
    print_line("note: ", format, args, "");
    va_end(args);
}

int cli_usage(const char *verb, const char *format, ...) {
    char after[80];
    va_list args;

    (void)snprintf(after, sizeof after, "; see: %.16s help%s%.32s", cli_program_name, verb[0] ? " " : "",
                   verb);
    va_start(args, format);
    print_line("", format, args, after);
    va_end(args);
    return CLI_USAGE;
}

void cli_no_memory(void) {
    static const char text[] = ": out of memory\n";

    cli_forget_temporary();
    if (write(STDERR_FILENO, cli_program_name, strlen(cli_program_name)) < 0) _exit(CLI_FAIL);
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(CLI_FAIL);
    _exit(CLI_FAIL);
}
