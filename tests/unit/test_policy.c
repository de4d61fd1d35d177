/* SPDX-License-Identifier: MIT */
/* Policies: what is written is read again; every fault of a file is told with its place. */
#include "quant/policy.h"

#include "t.h"

#include <dsx/dsx.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const dsx_format formats[] = {
    {DSX_WEIGHTS_FILE, 0, DSX_ROWS_FLOAT, 0},      {DSX_WEIGHTS_F32, 0, DSX_ROWS_INT8, 0},
    {DSX_WEIGHTS_W8, 32, DSX_ROWS_INT4, 0},        {DSX_WEIGHTS_W8, 0, DSX_ROWS_INT8_FIXED, 0.1f},
    {DSX_WEIGHTS_W4, 128, DSX_ROWS_INT4_FIXED, 3}, {DSX_WEIGHTS_W4, 64, DSX_ROWS_INT4_HADAMARD, 0},
    {DSX_WEIGHTS_FP8, 0, DSX_ROWS_FLOAT, 0},       {DSX_WEIGHTS_FP8, 128, DSX_ROWS_INT8_FIXED, 3e38f}};
#define N_FORMATS (sizeof formats / sizeof *formats)

static bool same(const dsx_format *a, const dsx_format *b) {
    return a->weights == b->weights && a->group == b->group && a->rows == b->rows && a->limit == b->limit;
}

static char path[] = "policy_XXXXXX";

static dsx_policy *mixed(uint32_t n_layers) {
    dsx_policy *p = NULL;

    CHECK_EQ(dsx_policy_new(n_layers, NULL, &p, NULL), DSTOK_OK);
    for (uint32_t i = 0; i < n_layers * DSX_N_OPS; i++)
        CHECK_EQ(dsx_policy_set(p, i / DSX_N_OPS, (int)(i % DSX_N_OPS), &formats[i * 7 % N_FORMATS]),
                 DSTOK_OK);
    return p;
}

static void round_trip(void) {
    static const uint32_t counts[] = {1, 7, 1024};

    for (size_t k = 0; k < 3; k++) {
        dsx_policy *p = mixed(counts[k]), *q = NULL;
        dsx_format a, b;

        CHECK_EQ(dsx_policy_write(p, path, NULL), DSTOK_OK);
        CHECK_EQ(dsx_policy_read(path, &q, NULL), DSTOK_OK);
        CHECK_EQ(dsx_policy_layers(q), counts[k]);
        for (uint32_t i = 0; q != NULL && i < counts[k] * DSX_N_OPS; i++) {
            CHECK_EQ(dsx_policy_get(p, i / DSX_N_OPS, (int)(i % DSX_N_OPS), &a), DSTOK_OK);
            CHECK_EQ(dsx_policy_get(q, i / DSX_N_OPS, (int)(i % DSX_N_OPS), &b), DSTOK_OK);
            CHECK(same(&a, &b));
        }
        dsx_policy_free(p);
        dsx_policy_free(q);
    }
}

static void calls(void) {
    dsx_format f = {DSX_WEIGHTS_W8, 32, DSX_ROWS_INT8, 0}, got = {9, 9, 9, 9};
    dsx_policy *p = NULL;
    dstok_error err = {0};

    CHECK_EQ(dsx_policy_new(0, &f, &p, &err), DSTOK_E_INVAL);
    CHECK_EQ(dsx_policy_new(1025, &f, &p, &err), DSTOK_E_INVAL);
    CHECK_EQ(dsx_policy_new(2, &(dsx_format){5, 0, 0, 0}, &p, &err), DSTOK_E_INVAL);
    CHECK(p == NULL && strstr(err.text, "no known format") != NULL);
    CHECK_EQ(dsx_policy_new(2, &f, &p, &err), DSTOK_OK);
    for (int op = 0; op < DSX_OP_HEAD; op++)
        CHECK(dsx_policy_get(p, 1, op, &got) == DSTOK_OK && same(&got, &f));
    CHECK(dsx_policy_get(p, 99, DSX_OP_HEAD, &got) == DSTOK_OK && same(&got, &formats[0]));
    CHECK_EQ(dsx_policy_get(p, 2, DSX_OP_UP, &got), DSTOK_E_INVAL);
    CHECK_EQ(dsx_policy_get(p, 0, DSX_N_OPS, &got), DSTOK_E_INVAL);
    CHECK_EQ(dsx_policy_get(p, 0, -1, &got), DSTOK_E_INVAL);
    CHECK_EQ(dsx_policy_set(p, 2, DSX_OP_UP, &f), DSTOK_E_INVAL);
    f.group = 48;
    CHECK_EQ(dsx_policy_set(p, 0, DSX_OP_UP, &f), DSTOK_E_INVAL);
    CHECK_EQ(dsx_policy_set(NULL, 0, DSX_OP_UP, &formats[0]), DSTOK_E_INVAL);
    CHECK_EQ(dsx_policy_write(p, "absent/policy", &err), DSTOK_E_IO);
    CHECK_EQ(dsx_policy_read("absent/policy", &p, &err), DSTOK_E_IO);
    dsx_policy_free(p);
    dsx_policy_free(NULL);
    CHECK_EQ(dsx_policy_layers(NULL), 0);
}

static void refuse(const char *text, const char *want) {
    dsx_policy *p = NULL;
    dstok_error err = {0};
    size_t n = strlen(text);
    char *exact = malloc(n + 1);

    memcpy(exact, text, n);
    CHECK_EQ(dsx__policy_parse(exact, n, &p, &err), DSTOK_E_FORMAT);
    CHECK(p == NULL && strstr(err.text, want) != NULL);
    if (strstr(err.text, want) == NULL) fprintf(stderr, "  \"%s\", want \"%s\"\n", err.text, want);
    free(exact);
}

#define HEAD      "\"head\":{\"weights\":\"file\"}"
#define PLAIN(op) "\"" op "\":{\"weights\":\"w8\"}"
#define REST      PLAIN("qkv") "," PLAIN("out") "," PLAIN("down")
#define UP(text)  "{\"layers\":[{" REST ",\"up\":{" text "}}]," HEAD "}"

static void faults(void) {
    refuse("", "empty");
    refuse("[]", "must be an object");
    refuse("{}", "layers must be a list");
    refuse("{\"layers\":[]," HEAD "}", "layers must be a list");
    refuse("{\"layers\":{}," HEAD "}", "layers must be a list");
    refuse("{\"layers\":[1]," HEAD "}", "layer 0: must be an object");
    refuse("{\"layers\":[{" REST "}]," HEAD "}", "layer 0: up: is missing");
    refuse("{\"layers\":[{" REST "," PLAIN("up") "},{}]," HEAD "}", "layer 1: qkv: is missing");
    refuse("{\"layers\":[{" REST "," PLAIN("up") "," PLAIN("gate") "}]," HEAD "}",
           "layer 0: unknown key gate");
    refuse("{\"layers\":[{" REST "," PLAIN("up") "," PLAIN("up") "}]," HEAD "}", "duplicate");
    refuse("{\"layers\":[{" REST "," PLAIN("up") "}]}", "head: is missing");
    refuse("{\"layers\":[{" REST "," PLAIN("up") "}]," HEAD ",\"x\":1}", "unknown key x");
    refuse("{\"layers\":[{" REST "," PLAIN("up") "}],\"head\":3}", "head: must be an object");
    refuse(UP("\"weights\":\"w8\"") "}", "end of file");
    refuse(UP(""), "layer 0: up: no weights");
    refuse(UP("\"weights\":8"), "layer 0: up: weights must be");
    refuse(UP("\"weights\":\"W8\""), "layer 0: up: weights must be");
    refuse(UP("\"weights\":\"w8\",\"rows\":\"int2\""), "layer 0: up: rows must be");
    refuse(UP("\"weights\":\"w8\",\"rows\":null"), "layer 0: up: rows must be");
    refuse(UP("\"weights\":\"w8\",\"group\":48"), "layer 0: up: group must be");
    refuse(UP("\"weights\":\"w8\",\"group\":-32"), "layer 0: up: group must be");
    refuse(UP("\"weights\":\"w8\",\"group\":4294967328"), "layer 0: up: group must be");
    refuse(UP("\"weights\":\"w8\",\"group\":32.0"), "layer 0: up: group must be");
    refuse(UP("\"weights\":\"fp8\",\"group\":64"), "group of fp8");
    refuse(UP("\"weights\":\"f32\",\"group\":64"), "no group");
    refuse(UP("\"weights\":\"w8\",\"limit\":1"), "only fixed rows");
    refuse(UP("\"weights\":\"w8\",\"rows\":\"int8-fixed\""), "limit must be");
    refuse(UP("\"weights\":\"w8\",\"rows\":\"int8-fixed\",\"limit\":-1"), "limit must be");
    refuse(UP("\"weights\":\"w8\",\"rows\":\"int8-fixed\",\"limit\":1e39"), "limit must be");
    refuse(UP("\"weights\":\"w8\",\"rows\":\"int8-fixed\",\"limit\":\"1\""), "limit must be");
    refuse(UP("\"weights\":\"w8\",\"bits\":8"), "layer 0: up: unknown key bits");
}

/* Cut after every byte, and with every byte changed: read, or refused with a reason, never more. */
static void damaged(void) {
    dsx_policy *p = mixed(3);
    char text[4096], *exact;
    size_t n;
    FILE *f;

    CHECK_EQ(dsx_policy_write(p, path, NULL), DSTOK_OK);
    dsx_policy_free(p);
    f = fopen(path, "rb");
    n = f != NULL ? fread(text, 1, sizeof text, f) : 0;
    if (f != NULL) fclose(f);
    CHECK(n > 500 && n < sizeof text);
    for (size_t i = 0; i < 2 * n; i++) {
        size_t left = i < n ? i : n;
        dstok_error err = {0};
        dstok_status status;

        p = NULL;
        exact = malloc(left + 1);
        memcpy(exact, text, left);
        if (i >= n) exact[i - n] = (char)(exact[i - n] ^ (1 << i % 7));
        status = dsx__policy_parse(exact, left, &p, &err);
        if (i + 1 < n) CHECK_EQ(status, DSTOK_E_FORMAT); /* the last byte is the end of a line */
        CHECK(status == DSTOK_OK ? p != NULL : status == err.status && p == NULL && err.text[0] != '\0');
        dsx_policy_free(p);
        free(exact);
    }
}

int main(void) {
    int fd = mkstemp(path);

    if (fd < 0) return 1;
    close(fd);
    round_trip();
    calls();
    faults();
    damaged();
    (void)remove(path);
    return t_end();
}
