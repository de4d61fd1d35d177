/* SPDX-License-Identifier: MIT */
/* Byte classes and places of bits, one at a time. */
#include "../sets.h"

#include <string.h>

static void classify_byte(uint8_t c, uint64_t bit, dstok__classes *m) {
    if (c >= 0x80) {
        m->high |= bit;
        if (c < 0xC0) m->tail |= bit;
    } else if (c >= 'A' && c <= 'Z') {
        m->upper |= bit;
    } else if (c >= 'a' && c <= 'z') {
        m->lower |= bit;
    } else if (c >= '0' && c <= '9') {
        m->digit |= bit;
    } else if (c > ' ' && c < 0x7F) {
        m->sign |= bit;
        if (c == '\'') m->quote |= bit;
        if (c == '/') m->slash |= bit;
    } else if (c == '\n' || c == '\r') {
        m->newline |= bit;
    } else if (c == ' ' || c == '\t' || c == '\v' || c == '\f') {
        m->blank |= bit;
        if (c == ' ') m->space |= bit;
    }
}

void dstok__classify(const uint8_t *text, size_t n, dstok__classes *out) {
    for (size_t k = 0; k < n; k++, text += 64) {
        dstok__classes m;
        memset(&m, 0, sizeof m);
        for (size_t i = 0; i < 64; i++) {
            uint64_t bit = (uint64_t)1 << i;
            classify_byte(text[i], bit, &m);
            if (text[i] >= 0xE5 && text[i] <= 0xE8) m.ideograph |= bit;
            if (text[i] == 0xE4 && i < 63 && text[i + 1] >= 0xB8) m.ideograph |= bit;
            if (text[i] == 0xE9 && i < 63 && text[i + 1] < 0xBE) m.ideograph |= bit;
        }
        out[k] = m;
    }
}

void dstok__nfc_leads(const uint8_t *text, size_t n, uint64_t *out) {
    for (size_t k = 0; k < n; k++, text += 64) {
        out[k] = 0;
        for (size_t i = 0; i < 64; i++) {
            uint8_t c = text[i];
            if (dstok__nfc_row[c >> 4] & dstok__nfc_column[c & 15]) out[k] |= (uint64_t)1 << i;
        }
    }
}

size_t dstok__find_byte(const uint8_t *text, size_t len, const uint8_t *first, size_t n) {
    for (size_t i = 0; i < len; i++) {
        for (size_t k = 0; k < n; k++) {
            if (text[i] == first[k]) return i;
        }
    }
    return len;
}

size_t dstok__positions(const uint64_t *words, size_t n, uint32_t *out) {
    size_t count = 0;
    for (size_t k = 0; k < n; k++) {
        for (uint64_t rest = words[k]; rest != 0; rest &= rest - 1)
            out[count++] = (uint32_t)(64 * k + (size_t)__builtin_ctzll(rest));
    }
    return count;
}
