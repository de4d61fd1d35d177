/* SPDX-License-Identifier: MIT */
/* SHA-256 of the command line: the examples of FIPS 180-4 and the million a; every length around a block; any cut. */
#include "../../tools/cli/sha256.h"
#include "../harness/t.h"

static const char *hex(const uint8_t *digest) {
    static char text[65];
    for (size_t i = 0; i < 32; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return text;
}

static const char *hash(const void *data, size_t n, size_t part) {
    static uint8_t digest[32];
    struct cli_sha256 s;
    cli_sha256_start(&s);
    for (size_t i = 0; i < n; i += part)
        cli_sha256_add(&s, (const char *)data + i, n - i < part ? n - i : part);
    cli_sha256_end(&s, digest);
    return hex(digest);
}

static void test_examples(void) {
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const char four[] = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                               "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
    CHECK_STR(hash("", 0, 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_STR(hash("abc", 3, 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK_STR(hash(two, 56, 56), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK_STR(hash(four, 112, 112), "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

static void test_million(void) {
    static char text[1000000];
    memset(text, 'a', sizeof text);
    static const char want[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    CHECK_STR(hash(text, sizeof text, sizeof text), want);
    CHECK_STR(hash(text, sizeof text, 63), want);
    CHECK_STR(hash(text, sizeof text, 65), want);
}

/* The digests of 0 to 129 zero bytes, hashed: every length of the last block. The value is hashlib's. */
static void test_lengths(void) {
    static const char zeros[130];
    uint8_t digest[32];
    struct cli_sha256 all, one;
    cli_sha256_start(&all);
    for (size_t n = 0; n < sizeof zeros; n++) {
        cli_sha256_start(&one);
        cli_sha256_add(&one, zeros, n);
        cli_sha256_end(&one, digest);
        cli_sha256_add(&all, digest, sizeof digest);
    }
    cli_sha256_end(&all, digest);
    CHECK_STR(hex(digest), "d26cf8eafa144521d64bdc66b8314175fd9e78310979a068c8b8b2ea18636450");
}

int main(void) {
    test_examples();
    test_million();
    test_lengths();
    return t_end();
}
