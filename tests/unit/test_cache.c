/* SPDX-License-Identifier: MIT */
/* The cache from pieces to ids: it may forget, but what it gives is right, whatever the order of calls; its
 * memory stays within what was asked for; without memory it goes on smaller. */
#include "../../tokenizer/bpe/cache.h"
#include "../harness/heap.h"
#include "../harness/t.h"

#include <dstok/tokenizer.h>

#include <stdlib.h>

#define MAX_PIECE (DSTOK__LONG_BYTES + 44)

/* ---- pieces ---- */

/* A piece by its number, with 16 bytes behind its begin that can be read. The same bytes always have the same
 * ids, as in an encoder. */
typedef struct piece {
    uint8_t bytes[MAX_PIECE + 16];
    size_t n;
    uint32_t ids[MAX_PIECE];
    size_t n_ids;
} piece;

static uint64_t mix(uint64_t a) {
    t_rng rng = {a};
    return t_random(&rng);
}

static void give_ids(piece *p) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < p->n; i++) h = (h ^ p->bytes[i]) * 1099511628211u;
    h = mix(h + p->n);
    size_t most = h % 3 == 0 || p->n < DSTOK__SLOT_IDS ? p->n : DSTOK__SLOT_IDS;
    p->n_ids = 1 + (size_t)(h >> 8) % most;
    for (size_t i = 0; i < p->n_ids; i++) p->ids[i] = (uint32_t)mix(h + i);
}

/* The number at one end, and what it is filled with: zeros are bytes like others. Even numbers make an even
 * first byte, odd ones an odd one, so that no two numbers give the same piece. */
static void fill(piece *p, size_t number, size_t n) {
    static const uint8_t fillers[] = {0, 'b', 0xFE};
    p->n = n;
    memset(p->bytes, fillers[number / 16 % 3], n);
    memset(p->bytes + n, 0xA5, 16); /* no part of it */
    for (size_t i = 0; i < 4; i++) p->bytes[number % 2 == 0 ? n - 4 + i : i] = (uint8_t)(number >> (8 * i));
}

#define SHORTEST 525u /* numbers from here on have four bytes at least */

/* Pieces with a slot: all of zeros, single bytes, those with a zero behind them; then 4 to 15 bytes. */
static void make_short(piece *p, size_t number) {
    if (number < DSTOK__KEY_BYTES) {
        fill(p, 0, 15);
        p->n = number + 1;
        memset(p->bytes, 0, p->n);
        memset(p->bytes + p->n, 0xA5, 16);
    } else if (number < SHORTEST) {
        fill(p, 0, 4);
        p->n = number < 15 + 255 ? 1 : 2;
        p->bytes[0] = (uint8_t)(1 + (number - 15) % 255);
        p->bytes[1] = 0; /* behind it, or part of it */
    } else {
        fill(p, number, 4 + number % 12);
    }
    give_ids(p);
}

/* Longer ones; some are too long to be kept. */
static void make_long(piece *p, size_t number) {
    fill(p, number + SHORTEST, DSTOK__KEY_BYTES + 1 + number % (MAX_PIECE - DSTOK__KEY_BYTES - 1));
    give_ids(p);
}

/* ---- memory ---- */

typedef struct memory {
    t_heap heap;
    dstok_alloc inner;
    size_t peak;
} memory;

static void *count_alloc(void *ctx, size_t n) {
    memory *m = ctx;
    void *p = m->inner.alloc(m->inner.ctx, n);
    if (m->heap.live_bytes > m->peak) m->peak = m->heap.live_bytes;
    return p;
}

static void *count_realloc(void *ctx, void *p, size_t old, size_t n) {
    memory *m = ctx;
    return m->inner.realloc(m->inner.ctx, p, old, n);
}

static void count_free(void *ctx, void *p, size_t n) {
    memory *m = ctx;
    m->inner.free(m->inner.ctx, p, n);
}

static dstok_alloc count_in(memory *m) {
    m->inner = t_heap_alloc(&m->heap);
    return (dstok_alloc){count_alloc, count_realloc, count_free, m};
}

/* ---- a cache under test ---- */

typedef struct subject {
    dstok__cache cache;
    memory memory;
    dstok_alloc al;
    size_t max;
    uint8_t *was_put; /* by number: 1 short, 2 long */
    size_t n_asked, n_found;
} subject;

#define MAX_NUMBER 200000u

static void begin(subject *s, size_t max) {
    memset(s, 0, sizeof *s);
    s->al = count_in(&s->memory);
    s->max = max;
    s->was_put = calloc(MAX_NUMBER, 1);
    dstok__cache_init(&s->cache, &s->al, max);
    CHECK_EQ(s->memory.heap.calls, 0);
}

static void end(subject *s) {
    dstok__cache_free(&s->cache);
    CHECK_EQ(s->memory.heap.live, 0);
    CHECK_EQ(s->memory.heap.live_bytes, 0);
    dstok__cache_free(&s->cache); /* again: there is nothing */
    free(s->was_put);
}

static void check_state(const subject *s) {
    const dstok__cache *c = &s->cache;
    CHECK(s->memory.heap.live_bytes <= s->max);
    /* While it grows the old blocks live beside the new ones. */
    CHECK(s->memory.peak <= s->max + s->max / 2);
    CHECK(c->pool_n <= c->pool_cap);
    CHECK_EQ(s->memory.heap.live, c->slots == NULL ? 0 : 2);
    if (c->slots == NULL) return;
    CHECK_EQ((uintptr_t)c->slots % 64, 0);
    CHECK(c->bits <= c->max_bits);
}

static dstok__key key_of(const piece *p) {
    return dstok__key_of(p->bytes, p->n);
}

static dstok__cached *home_of(const subject *s, const piece *p) {
    return dstok__cache_at(s->cache.slots, s->cache.bits, dstok__key_hash(key_of(p)));
}

/* As the encoder asks (fast.c). is_inline: it looks in the first line of its own. */
static const uint32_t *find(subject *s, const piece *p, bool is_inline, size_t *n) {
    if (s->cache.slots == NULL) return NULL;
    dstok__cached *at = home_of(s, p);
    for (size_t k = 0; is_inline && k < 2; k++) {
        dstok__cached *slot = dstok__cache_nth(at, k);
        if (!dstok__key_is(slot, key_of(p))) continue;
        *n = slot->n;
        return slot->ids;
    }
    return dstok__cache_find(&s->cache, at, key_of(p), p->bytes, p->n, n);
}

/* What is found is right and was put. Returns whether it was found. */
static bool ask(subject *s, const piece *p, size_t number, bool is_inline) {
    size_t n = 99999;
    const uint32_t *ids = find(s, p, is_inline, &n);
    s->n_asked++;
    if (ids == NULL) return false;
    s->n_found++;
    bool right = n == p->n_ids && memcmp(ids, p->ids, n * sizeof *ids) == 0;
    CHECK(right);
    if (!right && t_failures < 6) fprintf(stderr, "piece %zu of %zu bytes: %zu ids\n", number, p->n, n);
    CHECK(s->was_put[number] & (p->n <= DSTOK__KEY_BYTES ? 1 : 2));
    return true;
}

static void put(subject *s, const piece *p, size_t number) {
    dstok__cache_put(&s->cache, key_of(p), p->bytes, p->n, p->ids, p->n_ids);
    s->was_put[number] |= p->n <= DSTOK__KEY_BYTES ? 1 : 2;
    /* What was put last is there, if it can be. */
    CHECK_EQ(ask(s, p, number, number % 3 == 0), s->cache.slots != NULL && p->n <= DSTOK__LONG_BYTES);
}

static void make(piece *p, size_t number, bool is_long) {
    if (is_long) {
        make_long(p, number);
    } else {
        make_short(p, number);
    }
}

/* ---- tests ---- */

/* Random calls on a universe of pieces: asked for, put where absent and sometimes where present, grown. */
static void run_random(size_t max, uint32_t n_short, uint32_t n_long, size_t n_calls, uint64_t seed) {
    static piece p;
    subject s;
    t_rng rng = {seed};
    begin(&s, max);
    for (size_t i = 0; i < n_calls; i++) {
        bool is_long = t_below(&rng, 4) == 0;
        uint32_t many = is_long ? n_long : n_short, number = t_below(&rng, many);
        if (t_below(&rng, 2) == 0) number = number % (many / 20 + 1); /* some come often */
        if (t_below(&rng, 200) == 0) dstok__cache_grow(&s.cache);
        make(&p, number, is_long);
        bool found = ask(&s, &p, number, t_below(&rng, 2) == 0);
        if (!found || t_below(&rng, 16) == 0) put(&s, &p, number);
        if (i % 64 == 0) check_state(&s);
    }
    check_state(&s);
    printf("%9zu bytes asked for: %9zu live, %9zu at most, %2u bits, %5.1f %% found\n", max,
           s.memory.heap.live_bytes, s.memory.peak, s.cache.bits,
           100.0 * (double)s.n_found / (double)s.n_asked);
    end(&s);
}

/* Sizes from nothing on; the smallest that gives a cache and those around it. */
static void test_sizes(void) {
    static const size_t sizes[] = {0,     1,     64,     4096,   65536,  87379, 87380,
                                   87381, 87382, 100000, 131072, 174761, 174762};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) run_random(sizes[i], 3000, 300, 4000, 11 + i);
    t_rng rng = {5};
    for (int i = 0; i < 40; i++) {
        subject s;
        begin(&s, t_below(&rng, 1u << 23));
        for (int k = 0; k < 20; k++) {
            dstok__cache_grow(&s.cache);
            s.cache.n_put = (size_t)1 << s.cache.bits; /* as if much had been put */
            check_state(&s);
        }
        CHECK_EQ(s.cache.bits, s.cache.slots == NULL ? 0 : s.cache.max_bits);
        CHECK(s.cache.slots != NULL || s.max < 100000);
        end(&s);
    }
    run_random(DSTOK_CACHE_DEFAULT, 90000, 6000, 400000, 3);
    run_random((size_t)64 << 20, MAX_NUMBER, 20000, 600000, 4);
}

/* Too few bytes give no cache: nothing is allocated, nothing found. */
static void test_none(void) {
    static const size_t sizes[] = {0, 1, 10000, 80000};
    static piece p;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        subject s;
        begin(&s, sizes[i]);
        dstok__cache_grow(&s.cache);
        CHECK(s.cache.slots == NULL);
        for (size_t number = 0; number < 600; number++) {
            make(&p, number, number % 2 == 0);
            put(&s, &p, number);
        }
        CHECK_EQ(s.memory.heap.calls, 0);
        end(&s);
    }
}

/* How many of the pieces from..to are found. */
static size_t count_found(subject *s, size_t from, size_t to, bool is_long) {
    static piece p;
    size_t n = 0;
    for (size_t number = from; number < to; number++) {
        make(&p, number, is_long);
        n += ask(s, &p, number, number % 2 == 0);
    }
    return n;
}

static void put_all(subject *s, size_t from, size_t to, bool is_long) {
    static piece p;
    for (size_t number = from; number < to; number++) {
        make(&p, number, is_long);
        put(s, &p, number);
    }
}

#define FEW_FROM SHORTEST
#define FEW_TO   (SHORTEST + 900)

static size_t count_few(subject *s) {
    return count_found(s, FEW_FROM, FEW_TO, false);
}

/* It keeps what it has room for, also while it grows, and the pool's part with it. */
static void test_keeps(void) {
    subject s;
    begin(&s, DSTOK_CACHE_DEFAULT);
    dstok__cache_grow(&s.cache);
    unsigned bits = s.cache.bits;
    put_all(&s, FEW_FROM, FEW_TO, false);
    size_t kept = count_few(&s);
    put_all(&s, 0, 12, true);
    printf("%zu of 900 pieces kept in %u slots\n", kept, 1u << bits);
    CHECK(kept >= 890);
    CHECK(count_found(&s, 0, 12, true) >= 11);
    dstok__cache_grow(&s.cache);
    CHECK(s.cache.bits > bits);
    CHECK_EQ(s.cache.n_put, 0);
    CHECK_EQ(count_few(&s), kept);
    CHECK(count_found(&s, 0, 12, true) >= 11);
    unsigned again = s.cache.bits;
    dstok__cache_grow(&s.cache); /* nothing was put since */
    CHECK_EQ(s.cache.bits, again);
    check_state(&s);
    end(&s);
}

/* Pieces with one first slot: four lie in its pair of lines, the first one in front; the others elsewhere. Of the line
 * beside, what is asked for again and again comes in front. */
static void test_one_home(void) {
    enum { N = 8 };
    static piece p;
    subject s;
    size_t numbers[N], n = 0;
    begin(&s, 100000);
    dstok__cache_grow(&s.cache);
    make_short(&p, SHORTEST + 16);
    dstok__cached *home = home_of(&s, &p);
    for (size_t number = SHORTEST + 16; n < N; number++) {
        make_short(&p, number);
        if (home_of(&s, &p) == home) numbers[n++] = number;
    }
    for (size_t i = 0; i < n; i++) {
        put_all(&s, numbers[i], numbers[i] + 1, false);
        for (size_t k = 0; k <= i; k++) CHECK_EQ(count_found(&s, numbers[k], numbers[k] + 1, false), 1);
    }
    for (size_t k = 0; k < 4; k++) CHECK(dstok__cache_nth(home, k)->key.high != 0);
    for (size_t i = 0; i < n; i++) {
        size_t n_front = 0;
        make_short(&p, numbers[i]);
        for (int round = 0; round < 64; round++) {
            n_front +=
                dstok__key_is(home, dstok__key_of(p.bytes, p.n)) || (home->key.high & DSTOK__IN_POOL) != 0;
            CHECK(ask(&s, &p, numbers[i], false));
        }
        CHECK(i >= 4 || n_front >= 56); /* those elsewhere stay there */
    }
    for (size_t i = 0; i < n; i++) CHECK_EQ(count_found(&s, numbers[i], numbers[i] + 1, false), 1);
    end(&s);
}

/* Every length is kept with all its bytes, and one byte more or less is another piece. */
static void test_lengths(void) {
    static piece p, other;
    subject s;
    begin(&s, (size_t)1 << 20);
    dstok__cache_grow(&s.cache);
    for (size_t n = 1; n <= MAX_PIECE; n++) {
        p.n = n;
        memset(p.bytes, 'x', n);
        memset(p.bytes + n, 0xA5, 16);
        for (size_t i = 0; i < n; i++) p.ids[i] = (uint32_t)(1000 * n + i);
        for (p.n_ids = n; p.n_ids > 0; p.n_ids = p.n_ids > 4 && n > 15 ? 3 : p.n_ids - 1) {
            s.was_put[n] = 0;
            p.bytes[n - 1] = (uint8_t)(p.n_ids < 16 ? p.n_ids : 16); /* another piece */
            put(&s, &p, n);
            other = p;
            for (size_t i = 0; i < n; i++) { /* one bit in any of its bytes */
                size_t n_other;
                other.bytes[i] ^= 0x80;
                CHECK(find(&s, &other, i % 2 == 0, &n_other) == NULL);
                other.bytes[i] ^= 0x80;
            }
        }
    }
    end(&s);
}

/* Keys: the bytes behind a piece are no part of it, zeros in it are. */
static void test_keys(void) {
    static const uint8_t zeros[16],
        ones[16] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    for (size_t n = 1; n <= DSTOK__KEY_BYTES; n++) {
        uint8_t mixed[16];
        memcpy(mixed, ones, 16);
        memcpy(mixed, zeros, n);
        dstok__key a = dstok__key_of(zeros, n), b = dstok__key_of(mixed, n), c = dstok__key_of(ones, n);
        CHECK(a.low == b.low && a.high == b.high);
        CHECK(a.high != 0 && (a.high & DSTOK__IN_POOL) == 0 && (c.high & DSTOK__IN_POOL) == 0);
        CHECK(a.low != c.low);
        for (size_t k = 16; k < 600; k++) { /* longer ones have their length, up to 127 */
            dstok__key longer = dstok__key_of(zeros, k);
            CHECK(longer.low == 0 && longer.high == (uint64_t)(k < 127 ? k : 127) << 56 &&
                  longer.high != a.high);
        }
        for (size_t k = 1; k < n; k++) {
            dstok__key shorter = dstok__key_of(zeros, k);
            CHECK(a.low != shorter.low || a.high != shorter.high);
        }
        for (size_t k = n; k < 16; k++) mixed[k] = 0;
        for (size_t k = 0; k < n; k++) {
            mixed[k] = 1;
            dstok__key one = dstok__key_of(mixed, n);
            CHECK(one.low != a.low || one.high != a.high);
            mixed[k] = 0;
        }
    }
}

/* When the pool is full all is forgotten at once: no slot points at what others overwrote. */
static void test_pool(void) {
    static piece p;
    subject s;
    begin(&s, 100000);
    dstok__cache_grow(&s.cache);
    size_t n_resets = 0;
    for (size_t number = 0; number < 3000; number++) {
        make(&p, number, number % 2 == 0);
        size_t before = s.cache.pool_n;
        put(&s, &p, number);
        if (s.cache.pool_n >= before) continue;
        n_resets++;
        CHECK(count_found(&s, 0, 200, false) <= 2); /* what is found is right, and is the last one put */
        CHECK(count_found(&s, 0, 200, true) <= 2);
    }
    CHECK(n_resets > 10);
    check_state(&s);
    end(&s);
}

/* Long pieces whose keys are equal: the rest of their bytes and their lengths tell them apart. */
static void test_equal_keys(void) {
    static piece p[6];
    subject s;
    size_t n;
    begin(&s, (size_t)1 << 20);
    dstok__cache_grow(&s.cache);
    for (size_t i = 0; i < 6; i++) {
        memset(p[i].bytes, 'x', sizeof p[i].bytes);
        p[i].n = i < 4 ? 40 : DSTOK__KEY_LENGTH + i;
        if (i < 4) p[i].bytes[13 * i] = 'y'; /* the first two within the key */
        p[i].n_ids = 1 + i;
        for (size_t k = 0; k <= i; k++) p[i].ids[k] = (uint32_t)(100 * i + k);
    }
    CHECK(key_of(&p[2]).low == key_of(&p[3]).low && key_of(&p[2]).high == key_of(&p[3]).high);
    CHECK(key_of(&p[4]).low == key_of(&p[5]).low && key_of(&p[4]).high == key_of(&p[5]).high);
    for (size_t i = 0; i < 6; i++) {
        for (size_t k = i; k < 6; k++) CHECK(find(&s, &p[k], true, &n) == NULL);
        put(&s, &p[i], i);
        for (size_t k = 0; k <= i; k++) CHECK(ask(&s, &p[k], k, k % 2 == 0));
    }
    end(&s);
}

/* As much as there is: it begins as small as any other, and slots can name all places of the pool. */
static void test_no_bound(void) {
    subject s;
    begin(&s, SIZE_MAX);
    dstok__cache_grow(&s.cache);
    CHECK(s.cache.slots != NULL);
    CHECK(s.cache.max_pool <= UINT32_MAX);
    CHECK(s.memory.heap.live_bytes < 200000);
    end(&s);
}

/* Each allocation fails once, at the first size and at each that follows: all stays as it was. */
static void test_failing(void) {
    subject s;
    begin(&s, (size_t)2 << 20);
    for (size_t put_n = 0; s.cache.slots == NULL || s.cache.bits < s.cache.max_bits; put_n++) {
        size_t live = s.memory.heap.live_bytes, found = count_found(&s, 0, 20000, false);
        unsigned bits = s.cache.bits;
        for (size_t k = 1; k <= 2; k++) {
            s.memory.heap.fail_at = s.memory.heap.calls + k;
            dstok__cache_grow(&s.cache);
            CHECK_EQ(s.memory.heap.calls >= s.memory.heap.fail_at, true);
            CHECK_EQ(s.cache.bits, bits);
            CHECK_EQ(s.memory.heap.live_bytes, live);
            CHECK_EQ(count_found(&s, 0, 20000, false), found);
        }
        s.memory.heap.fail_at = 0;
        dstok__cache_grow(&s.cache);
        CHECK(s.cache.slots != NULL && s.cache.bits > bits);
        check_state(&s);
        put_all(&s, put_n * 4000, put_n * 4000 + ((size_t)1 << s.cache.bits >> 2), false);
        if (put_n > 10) break;
    }
    CHECK_EQ(s.cache.bits, s.cache.max_bits);
    end(&s);
}

int main(void) {
    test_keys();
    test_none();
    test_sizes();
    test_keeps();
    test_one_home();
    test_lengths();
    test_pool();
    test_equal_keys();
    test_no_bound();
    test_failing();
    return t_end();
}
