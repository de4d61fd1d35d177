/* SPDX-License-Identifier: MIT */
/* NEON on AArch64: blocks of 64 bytes as four registers. */
#include "../tiers.h"

#if DSTOK__HAVE_NEON
#include "../json.h"
#include "../places.h"
#include "../sets.h"
#include "../utf8_pairs.h"

#include <arm_neon.h>
#include <string.h>

/* ---- classes ---- */

/* The top bits of 64 bytes, of which v.val[r] holds the bytes 4 j + r: shifting them into each other makes four bits of
 * four bytes at one place, then a narrowing shift joins pairs of these. */
static inline uint64_t top_bits(uint8x16x4_t v) {
    uint8x16_t low = vsriq_n_u8(v.val[1], v.val[0], 1), high = vsriq_n_u8(v.val[3], v.val[2], 1);
    uint8x16_t four = vsriq_n_u8(high, low, 2);
    uint8x16_t both = vsriq_n_u8(four, four, 4);
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(both), 4)), 0);
}

/* One expression for each of four registers. */
#define FOUR(f, v) ((uint8x16x4_t){{f((v).val[0]), f((v).val[1]), f((v).val[2]), f((v).val[3])}})

static inline uint8x16_t twice(uint8x16_t c) {
    return vaddq_u8(c, c);
}
static inline uint8x16_t column(uint8x16_t c) {
    return vandq_u8(c, vdupq_n_u8(0x0F));
}

static inline uint8x16_t in_word(uint8x16_t c) {
    return vtstq_u8(vqtbl1q_u8(vld1q_u8(dstok__word_row), vshrq_n_u8(c, 4)),
                    vqtbl1q_u8(vld1q_u8(dstok__word_column), column(c)));
}
static inline uint8x16_t in_nfc_leads(uint8x16_t c) {
    return vtstq_u8(vqtbl1q_u8(vld1q_u8(dstok__nfc_row), vshrq_n_u8(c, 4)),
                    vqtbl1q_u8(vld1q_u8(dstok__nfc_column), column(c)));
}
static inline uint8x16_t in_print(uint8x16_t c) {
    return vcltq_u8(vsubq_u8(c, vdupq_n_u8(0x21)), vdupq_n_u8(0x7F - 0x21));
}
static inline uint8x16_t in_white(uint8x16_t c) {
    return vceqq_u8(c, vqtbl1q_u8(vld1q_u8(dstok__white_column), column(c)));
}
static inline uint8x16_t in_odd(uint8x16_t c) {
    return vceqq_u8(c, vqtbl1q_u8(vld1q_u8(dstok__odd_column), column(c)));
}
static inline uint8x16_t in_even(uint8x16_t c) {
    return vceqq_u8(c, vqtbl1q_u8(vld1q_u8(dstok__even_column), column(c)));
}

static void dstok__classify_neon(const uint8_t *text, size_t n, dstok__classes *out) {
    for (size_t k = 0; k < n; k++) {
        uint8x16x4_t c = vld4q_u8(text + 64 * k), c2 = FOUR(twice, c);
        dstok__sets all = {
            .bit5 = top_bits(FOUR(twice, c2)),
            .bit6 = top_bits(c2),
            .bit7 = top_bits(c),
            .word = top_bits(FOUR(in_word, c)),
            .print = top_bits(FOUR(in_print, c)),
            .white = top_bits(FOUR(in_white, c)),
            .odd = top_bits(FOUR(in_odd, c)),
            .even = top_bits(FOUR(in_even, c)),
        };
        dstok__classes_of(&all, out + k);
    }
}

static void dstok__nfc_leads_neon(const uint8_t *text, size_t n, uint64_t *out) {
    for (size_t k = 0; k < n; k++) {
        uint8x16x4_t c = vld4q_u8(text + 64 * k);
        out[k] = top_bits(FOUR(in_nfc_leads, c));
    }
}

/* ---- one of four bytes ---- */

static inline uint8x16_t equal(uint8x16_t c, const uint8x16_t want[4]) {
    return vorrq_u8(vorrq_u8(vceqq_u8(c, want[0]), vceqq_u8(c, want[1])),
                    vorrq_u8(vceqq_u8(c, want[2]), vceqq_u8(c, want[3])));
}

/* The place of the first hit in 16 bytes, or 16: a narrowing shift leaves four bits of each byte. */
static inline size_t first_hit(const uint8_t *p, const uint8x16_t want[4]) {
    uint8x8_t bits = vshrn_n_u16(vreinterpretq_u16_u8(equal(vld1q_u8(p), want)), 4);
    uint64_t hit = vget_lane_u64(vreinterpret_u64_u8(bits), 0);
    return hit != 0 ? (size_t)__builtin_ctzll(hit) / 4 : 16;
}

static inline int any_hit(const uint8_t *p, const uint8x16_t want[4]) {
    uint8x16_t a = vorrq_u8(equal(vld1q_u8(p), want), equal(vld1q_u8(p + 16), want));
    uint8x16_t b = vorrq_u8(equal(vld1q_u8(p + 32), want), equal(vld1q_u8(p + 48), want));
    return vmaxvq_u8(vorrq_u8(a, b)) != 0;
}

static size_t dstok__find_byte_neon(const uint8_t *text, size_t len, const uint8_t *first, size_t n) {
    if (len < 16) return dstok__find_byte(text, len, first, n);
    uint8x16_t want[4];
    for (size_t k = 0; k < 4; k++) want[k] = vdupq_n_u8(first[k < n ? k : 0]);
    size_t i = 0;
    while (len - i >= 64 && !any_hit(text + i, want)) i += 64;
    for (; len - i >= 16; i += 16) {
        size_t at = first_hit(text + i, want);
        if (at < 16) return i + at;
    }
    return len - 16 + first_hit(text + len - 16, want); /* the rest, together with bytes before it */
}

/* ---- places of bits ---- */

/* The places in one byte of a word, as eight numbers above the base; the next ones go over those too many. */
static inline void put8(uint32_t *to, uint64_t byte, uint32x4_t base) {
    uint16x8_t places = vmovl_u8(vcreate_u8(dstok__places[byte & 0xFF]));
    vst1q_u32(to, vaddw_u16(base, vget_low_u16(places)));
    vst1q_u32(to + 4, vaddw_u16(base, vget_high_u16(places)));
}

static size_t dstok__positions_neon(const uint64_t *words, size_t n, uint32_t *out) {
    uint32_t *to = out;
    for (size_t k = 0; k < n; k++) {
        uint64_t word = words[k];
        if (word == 0) continue;
        /* Byte j: how many bits the bytes up to j have. */
        uint64_t count =
            vget_lane_u64(vreinterpret_u64_u8(vcnt_u8(vcreate_u8(word))), 0) * 0x0101010101010101u;
        uint32_t at = (uint32_t)(64 * k);
        put8(to, word, vdupq_n_u32(at));
        for (uint32_t j = 1; j < 8; j++)
            put8(to + (count >> (8 * j - 8) & 0xFF), word >> 8 * j, vdupq_n_u32(at + 8 * j));
        to += count >> 56;
    }
    return (size_t)(to - out);
}

/* ---- JSON ---- */

static inline uint8x16_t is_quote(uint8x16_t c) {
    return vceqq_u8(c, vdupq_n_u8('"'));
}
static inline uint8x16_t is_backslash(uint8x16_t c) {
    return vceqq_u8(c, vdupq_n_u8('\\'));
}
static inline uint8x16_t is_control(uint8x16_t c) {
    return vcltq_u8(c, vdupq_n_u8(0x20));
}
static inline uint8x16_t is_mark(uint8x16_t c) {
    uint8x16_t bit5 = vorrq_u8(c, vdupq_n_u8(0x20));
    return vceqq_u8(bit5, vqtbl1q_u8(vld1q_u8(dstok__mark_column), column(c)));
}
static inline uint8x16_t is_blank(uint8x16_t c) {
    return vceqq_u8(c, vqtbl1q_u8(vld1q_u8(dstok__blank_column), column(c)));
}

static inline uint8x16_t is_letter(uint8x16_t c) {
    uint8x16_t hash = column(veorq_u8(c, vandq_u8(vshrq_n_u8(c, 4), vdupq_n_u8(1))));
    return vorrq_u8(vceqq_u8(c, vqtbl1q_u8(vld1q_u8(dstok__letter_hash), hash)), is_quote(c));
}
static inline uint8x16_t is_u(uint8x16_t c) {
    return vceqq_u8(c, vdupq_n_u8('u'));
}
static inline uint8x16_t is_hex(uint8x16_t c) {
    return vtstq_u8(vqtbl1q_u8(vld1q_u8(dstok__hex_row), vshrq_n_u8(c, 4)),
                    vqtbl1q_u8(vld1q_u8(dstok__hex_column), column(c)));
}

static void dstok__json_tokens_neon(const uint8_t *text, size_t n, dstok__json_state *state,
                                    dstok__json_block *out) {
    for (size_t k = 0; k < n; k++) {
        uint8x16x4_t c = vld4q_u8(text + 64 * k);
        dstok__json_masks m = {
            .quote = top_bits(FOUR(is_quote, c)),
            .backslash = top_bits(FOUR(is_backslash, c)),
            .control = top_bits(FOUR(is_control, c)),
            .mark = top_bits(FOUR(is_mark, c)),
            .blank = top_bits(FOUR(is_blank, c)),
            .letter = top_bits(FOUR(is_letter, c)),
            .u = top_bits(FOUR(is_u, c)),
            .hex = top_bits(FOUR(is_hex, c)),
        };
        uint64_t escaped = dstok__json_escaped(m.backslash, &state->escaped);
        dstok__json_block_of(&m, escaped, dstok__prefix_xor(m.quote & ~escaped), state, out + k);
    }
}

static size_t dstok__json_copy_neon(const uint8_t *text, size_t len, uint8_t *out, size_t *n) {
    const uint8x16_t backslash[4] = {vdupq_n_u8('\\'), vdupq_n_u8('\\'), vdupq_n_u8('\\'), vdupq_n_u8('\\')};
    uint8_t *to = out;
    size_t i = 0;
    while (len - i >= 16) {
        size_t run = first_hit(text + i, backslash);
        vst1q_u8(to, vld1q_u8(text + i));
        i += run;
        to += run;
        if (run == 16) continue;
        uint8_t letter = len - i < 2 ? 0 : dstok__json_letters[text[i + 1]];
        if (letter == 0) {
            *n = (size_t)(to - out);
            return i;
        }
        *to++ = letter;
        i += 2;
    }
    size_t more, done = dstok__json_copy(text + i, len - i, to, &more);
    *n = (size_t)(to - out) + more;
    return i + done;
}

/* ---- UTF-8 ---- */

/* Not zero where a byte does not go with those before it (utf8_pairs.h). */
static inline uint8x16_t utf8_errors(uint8x16_t c, uint8x16_t before) {
    uint8x16_t first = vextq_u8(before, c, 15);
    uint8x16_t wrong = vandq_u8(vandq_u8(vqtbl1q_u8(vld1q_u8(dstok__utf8_first_high), vshrq_n_u8(first, 4)),
                                         vqtbl1q_u8(vld1q_u8(dstok__utf8_first_low), column(first))),
                                vqtbl1q_u8(vld1q_u8(dstok__utf8_second_high), vshrq_n_u8(c, 4)));
    /* Tails belong two bytes behind E0-FF and three bytes behind F0-FF. */
    uint8x16_t third = vcgeq_u8(vextq_u8(before, c, 14), vdupq_n_u8(0xE0));
    uint8x16_t fourth = vcgeq_u8(vextq_u8(before, c, 13), vdupq_n_u8(0xF0));
    return veorq_u8(wrong, vandq_u8(vorrq_u8(third, fourth), vdupq_n_u8(U8_TAILS)));
}

/* Not zero when a character goes on behind c. */
static inline uint8_t utf8_open(uint8x16_t c) {
    static const uint8_t most[16] = {255, 255, 255, 255, 255, 255,  255,  255,
                                     255, 255, 255, 255, 255, 0xEF, 0xDF, 0xBF};
    return vmaxvq_u8(vqsubq_u8(c, vld1q_u8(most)));
}

/* Not zero when something is wrong in 64 bytes, or at the end of those before. */
static inline uint8_t utf8_wrong(const uint8_t *text, uint8x16_t before) {
    uint8x16x4_t c = vld1q_u8_x4(text);
    uint8x16_t all = vorrq_u8(vorrq_u8(c.val[0], c.val[1]), vorrq_u8(c.val[2], c.val[3]));
    if (vmaxvq_u8(all) < 0x80) return utf8_open(before);
    uint8x16_t a = vorrq_u8(utf8_errors(c.val[0], before), utf8_errors(c.val[1], c.val[0]));
    uint8x16_t b = vorrq_u8(utf8_errors(c.val[2], c.val[1]), utf8_errors(c.val[3], c.val[2]));
    return vmaxvq_u8(vorrq_u8(a, b));
}

static size_t dstok__utf8_check_neon(const uint8_t *text, size_t len) {
    uint8x16_t before = vdupq_n_u8(0);
    size_t i = 0;
    for (; len - i >= 64; i += 64) {
        if (utf8_wrong(text + i, before) != 0) return dstok__utf8_check_from(text, len, i);
        before = vld1q_u8(text + i + 48);
    }
    uint8_t rest[64] = {0}; /* the zeros show a character that the end cuts off */
    memcpy(rest, text + i, len - i);
    return utf8_wrong(rest, before) != 0 ? dstok__utf8_check_from(text, len, i) : len;
}

const dstok__simd dstok__simd_neon = {DSTOK__TIER_NEON,
                                      "neon",
                                      dstok__utf8_check_neon,
                                      dstok__classify_neon,
                                      dstok__find_byte_neon,
                                      dstok__positions_neon,
                                      dstok__nfc_leads_neon,
                                      dstok__json_tokens_neon,
                                      dstok__json_copy_neon,
                                      dstok__find_words,
                                      dstok__least,
                                      dstok__byte_ranks,
                                      dstok__cut,
                                      dstok__keys,
                                      dstok__hits,
                                      dstok__absent,
                                      dstok__fill_page_neon,
                                      dstok__count_chars_neon,
                                      dstok__line_begins_neon,
                                      dstok__sum_lines_neon,
                                      dstok__span_units_neon,
                                      dstok__span_bytes_neon,
                                      dstok__line_places_neon};

#else
typedef int dstok__no_neon; /* ISO C wants a declaration in each file */
#endif
