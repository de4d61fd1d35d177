/* SPDX-License-Identifier: MIT */
/* NEON: begins of characters and lines, places in other units. */
#include "../tiers.h"

#if DSTOK__HAVE_NEON
#include "../places.h"
#include "../utf8_pairs.h"

#include <arm_neon.h>

/* The place of a set bit: the byte that has it, from sums over the bytes before, then bits one by one. */
static inline uint64_t rank_select(uint64_t word, uint64_t n) {
    const uint64_t ones = 0x0101010101010101;
    uint64_t sums = vget_lane_u64(vreinterpret_u64_u8(vcnt_u8(vcreate_u8(word))), 0) * ones;
    uint8x8_t done =
        vcle_u8(vcreate_u8(sums), vdup_n_u8((uint8_t)n)); /* bytes whose bits are all before it */
    uint64_t at = 8 * (vget_lane_u64(vreinterpret_u64_u8(vshr_n_u8(done, 7)), 0) * ones >> 56);
    n -= at > 0 ? sums >> (at - 8) & 0xFF : 0;
    for (word >>= at; n > 0; n--) word &= word - 1;
    return at + (uint64_t)__builtin_ctzll(word);
}
#define RANK_INLINE  static inline
#define RANK_COLD    static __attribute__((noinline))
#define RANK_NAME(f) f##_neon
#include "../ranks.h"

static inline void rank_put(uint64_t word, unsigned first, uint16_t *out) {
    uint16x8_t at = vdupq_n_u16((uint16_t)first);
    for (unsigned i = 0; i < 8; i++, word >>= 8) {
        vst1q_u16(out, vaddq_u16(at, vmovl_u8(vcreate_u8(dstok__places[word & 0xFF]))));
        out += __builtin_popcountll(word & 0xFF);
        at = vaddq_u16(at, vdupq_n_u16(8));
    }
}
#include "../rank_table.h"

typedef struct block64 { /* in order */
    uint8x16_t c[4];
} block64;

static inline block64 load(const uint8_t *p) {
    return (block64){{vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)}};
}

/* One bit of each byte, which is all ones or zeros: pairs of bytes added three times. */
static inline uint64_t bits(block64 b) {
    const uint8x16_t bit_of = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    uint8x16_t low = vpaddq_u8(vandq_u8(b.c[0], bit_of), vandq_u8(b.c[1], bit_of));
    uint8x16_t high = vpaddq_u8(vandq_u8(b.c[2], bit_of), vandq_u8(b.c[3], bit_of));
    uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

static inline uint64_t from(const block64 *b, int low) {
    block64 m;
    for (int i = 0; i < 4; i++) m.c[i] = vcgeq_u8(b->c[i], vdupq_n_u8((uint8_t)low));
    return bits(m);
}

static inline uint64_t equal(const block64 *b, int byte) {
    block64 m;
    for (int i = 0; i < 4; i++) m.c[i] = vceqq_u8(b->c[i], vdupq_n_u8((uint8_t)byte));
    return bits(m);
}

static inline int is_ascii(const block64 *b) {
    return vmaxvq_u8(vorrq_u8(vorrq_u8(b->c[0], b->c[1]), vorrq_u8(b->c[2], b->c[3]))) < 0x80;
}

/* All ones where a tail may follow the byte before it. */
static inline uint8x16_t fits(uint8x16_t c, uint8x16_t before) {
    const uint8x16_t half = vdupq_n_u8(0x0F);
    uint8x16_t first = vextq_u8(before, c, 15);
    uint8x16_t wrong = vandq_u8(vandq_u8(vqtbl1q_u8(vld1q_u8(dstok__utf8_first_high), vshrq_n_u8(first, 4)),
                                         vqtbl1q_u8(vld1q_u8(dstok__utf8_first_low), vandq_u8(first, half))),
                                vqtbl1q_u8(vld1q_u8(dstok__utf8_second_high), vshrq_n_u8(c, 4)));
    uint8x16_t faults = vdupq_n_u8(U8_LONG2 | U8_LONG3 | U8_LONG4 | U8_SURROGATE | U8_ABOVE);
    return vceqq_u8(vandq_u8(wrong, faults), vdupq_n_u8(0));
}

typedef struct state {
    uint8x16_t last; /* the 16 bytes before */
    uint64_t lead;
    dstok__char_carry carry;
} state;

static inline state state_of(uint32_t before) {
    uint32x4_t last = vsetq_lane_u32(before, vdupq_n_u32(0), 3);
    return (state){vreinterpretq_u8_u32(last), (uint64_t)(before >= 0xC0000000) << 63,
                   dstok__char_carry_of(before)};
}

static inline dstok__chars block(const uint8_t *text, state *s) {
    block64 c = load(text), fit;
    if (is_ascii(&c)) {
        *s = (state){c.c[3], 0, {0, 0, 0, 0}};
        return (dstok__chars){~(uint64_t)0, 0};
    }
    uint64_t high = from(&c, 0x80), lead = from(&c, 0xC0);
    for (int i = 0; i < 4; i++) fit.c[i] = fits(c.c[i], i == 0 ? s->last : c.c[i - 1]);
    uint64_t second = high & ~lead & (lead << 1 | s->lead >> 63) & bits(fit);
    dstok__char_masks m = {high & ~lead, second, from(&c, 0xE0), from(&c, 0xF0)};
    s->last = c.c[3];
    s->lead = lead;
    return dstok__chars_of(&m, &s->carry);
}

static inline dstok__line_masks lines_in(const uint8_t *text) {
    block64 c = load(text), even;
    dstok__line_masks m = {equal(&c, '\n'), equal(&c, '\r'), 0, 0, 0};
    if (!is_ascii(&c)) {
        for (int i = 0; i < 4; i++) even.c[i] = vorrq_u8(c.c[i], vdupq_n_u8(1));
        m.e2 = equal(&c, 0xE2);
        m.x80 = equal(&c, 0x80);
        m.a8 = equal(&even, 0xA9);
    }
    return m;
}

#define CHARS_TARGET
#define CHARS_NAME(f) dstok__##f##_neon
#include "../char_loops.h"

void dstok__sum_lines_neon(dstok__line_page *page, size_t k, size_t n) {
    rank_lines(page, k, n);
}
size_t dstok__span_units_neon(const dstok__page *page, uint64_t *places, size_t n) {
    return rank_units(page, places, n);
}
size_t dstok__span_bytes_neon(const dstok__page *page, uint64_t *places, size_t n) {
    return rank_bytes_by_table(page, places, n);
}
size_t dstok__line_places_neon(const dstok__line_page *page, const uint64_t *bytes, size_t n, uint64_t *out) {
    return rank_places(page, bytes, n, out);
}

#else
typedef int dstok__no_chars_neon; /* ISO C wants a declaration in each file */
#endif
