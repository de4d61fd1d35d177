/* SPDX-License-Identifier: MIT */
/* Loading SentencePiece model files: pieces with scores, the normaliser's settings, no more than BPE. */
#include "spec.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../../simd/simd.h"
#include "protobuf.h"
#include "read.h"

#define META   "\xE2\x96\x81" /* U+2581: stands for a blank */
#define META_N (sizeof META - 1)

/* Numbers of the fields that count; all others are passed over. */
enum { FILE_PIECES = 1, FILE_TRAINER = 2, FILE_NORMALIZER = 3, FILE_SELF_TEST = 4, FILE_DENORMALIZER = 5 };
enum { PIECE_TEXT = 1, PIECE_SCORE = 2, PIECE_TYPE = 3 };
enum { TRAINER_MODEL = 3, TRAINER_SUFFIX = 24, TRAINER_FALLBACK = 35, TRAINER_UNK_SURFACE = 44 };
enum { NORM_CHARSMAP = 2, NORM_PREFIX = 3, NORM_REMOVE = 4, NORM_ESCAPE = 5 };

enum { MODEL_UNIGRAM = 1, MODEL_BPE = 2 };
enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER_DEFINED = 4, UNUSED = 5, BYTE = 6 };

/* One piece as the file has it. */
typedef struct piece {
    size_t at; /* in the file */
    uint32_t id;
    const char *text;
    size_t n;
    uint32_t score_bits;
    uint64_t type;
    bool has_score, has_type;
} piece;

typedef struct loader {
    dstok__spec *s;
    dstok_error *err;
    dstok__proto file;
    uint64_t model;
    bool byte_fallback, suffix;    /* trainer_spec */
    const char *unk_surface;       /* ... */
    size_t unk_surface_n;          /* ... */
    bool prefix, removes, escapes; /* normalizer_spec */
    const char *charsmap;          /* ... */
    size_t charsmap_n;             /* ... */
    dstok__map ids;                /* texts of pieces -> ids */
    dstok__buf text;               /* what a piece decodes to */
    dstok__buf user_defined;       /* all of them, each with a NUL behind it */
} loader;

static dstok_status no_room(const loader *l, dstok_status status, const char *what, size_t max) {
    return status == DSTOK_OK ? status : dstok__spec_no_room(status, what, max, l->err);
}

/* ---- settings ---- */

static dstok_status read_flag(const loader *l, const dstok__proto_field *f, const char *what, bool *flag) {
    DSTOK_TRY(dstok__proto_want(f, DSTOK__WIRE_VARINT, what, l->err));
    *flag = f->value != 0;
    return DSTOK_OK;
}

static dstok_status read_trainer(loader *l, dstok__proto p) {
    dstok__proto_field f;
    do {
        DSTOK_TRY(dstok__proto_next(&p, &f, l->err));
        switch (f.number) {
        case TRAINER_MODEL:
            DSTOK_TRY(dstok__proto_want(&f, DSTOK__WIRE_VARINT, "model_type", l->err));
            l->model = f.value;
            break;
        case TRAINER_SUFFIX:
            DSTOK_TRY(read_flag(l, &f, "treat_whitespace_as_suffix", &l->suffix));
            break;
        case TRAINER_FALLBACK:
            DSTOK_TRY(read_flag(l, &f, "byte_fallback", &l->byte_fallback));
            break;
        case TRAINER_UNK_SURFACE:
            DSTOK_TRY(dstok__proto_want(&f, DSTOK__WIRE_BYTES, "unk_surface", l->err));
            l->unk_surface = f.bytes;
            l->unk_surface_n = strnlen(f.bytes, f.n); /* the reference takes it as a C string */
            break;
        default:
            break;
        }
    } while (f.number != 0);
    return DSTOK_OK;
}

static dstok_status read_normalizer(loader *l, dstok__proto p) {
    dstok__proto_field f;
    do {
        DSTOK_TRY(dstok__proto_next(&p, &f, l->err));
        switch (f.number) {
        case NORM_CHARSMAP:
            DSTOK_TRY(dstok__proto_want(&f, DSTOK__WIRE_BYTES, "precompiled_charsmap", l->err));
            l->charsmap = f.bytes;
            l->charsmap_n = f.n;
            break;
        case NORM_PREFIX:
            DSTOK_TRY(read_flag(l, &f, "add_dummy_prefix", &l->prefix));
            break;
        case NORM_REMOVE:
            DSTOK_TRY(read_flag(l, &f, "remove_extra_whitespaces", &l->removes));
            break;
        case NORM_ESCAPE:
            DSTOK_TRY(read_flag(l, &f, "escape_whitespaces", &l->escapes));
            break;
        default:
            break;
        }
    } while (f.number != 0);
    return DSTOK_OK;
}

/* A second normaliser, for decoded text. Without a character map the reference does not use it. */
static dstok_status check_denormalizer(const loader *l, dstok__proto p) {
    dstok__proto_field f;
    do {
        DSTOK_TRY(dstok__proto_next(&p, &f, l->err));
        if (f.number != NORM_CHARSMAP) continue;
        DSTOK_TRY(dstok__proto_want(&f, DSTOK__WIRE_BYTES, "precompiled_charsmap", l->err));
        if (f.n > 0)
            return dstok__fail(l->err, DSTOK_E_UNSUPPORTED, f.at, 0,
                               "not supported: a denormalizer_spec that changes decoded text");
    } while (f.number != 0);
    return DSTOK_OK;
}

/* All but the pieces, which can only be understood with it. A message that stands twice counts as one. */
static dstok_status read_settings(loader *l) {
    static const char *const names[] = {
        "", "pieces", "trainer_spec", "normalizer_spec", "self_test_data", "denormalizer_spec"};
    dstok__proto p = l->file;
    dstok__proto_field f;
    do {
        DSTOK_TRY(dstok__proto_next(&p, &f, l->err));
        if (f.number >= FILE_PIECES && f.number <= FILE_DENORMALIZER)
            DSTOK_TRY(dstok__proto_want(&f, DSTOK__WIRE_BYTES, names[f.number], l->err));
        if (f.number == FILE_TRAINER) DSTOK_TRY(read_trainer(l, dstok__proto_inside(&p, &f)));
        if (f.number == FILE_NORMALIZER) DSTOK_TRY(read_normalizer(l, dstok__proto_inside(&p, &f)));
        if (f.number == FILE_DENORMALIZER) DSTOK_TRY(check_denormalizer(l, dstok__proto_inside(&p, &f)));
    } while (f.number != 0);
    return DSTOK_OK;
}

static dstok_status check_model(const loader *l) {
    static const char *const names[] = {"", "Unigram", "BPE", "Word", "Char"};
    if (l->model == MODEL_BPE) return DSTOK_OK;
    if (l->model >= MODEL_UNIGRAM && l->model < sizeof names / sizeof *names)
        return dstok__fail(l->err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, 0,
                           "not supported: a SentencePiece %s model (only BPE)", names[l->model]);
    return dstok__fail(l->err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, 0,
                       "not supported: a SentencePiece model of type %" PRIu64 " (only BPE)", l->model);
}

/* ---- pieces ---- */

static dstok_status read_piece(dstok__proto p, piece *out, dstok_error *err) {
    dstok__proto_field f;
    do {
        DSTOK_TRY(dstok__proto_next(&p, &f, err));
        switch (f.number) {
        case PIECE_TEXT:
            DSTOK_TRY(dstok__proto_want(&f, DSTOK__WIRE_BYTES, "the text of a piece", err));
            out->text = f.bytes;
            out->n = f.n;
            break;
        case PIECE_SCORE:
            DSTOK_TRY(dstok__proto_want(&f, DSTOK__WIRE_FIXED32, "the score of a piece", err));
            out->score_bits = (uint32_t)f.value;
            out->has_score = true;
            break;
        case PIECE_TYPE:
            DSTOK_TRY(dstok__proto_want(&f, DSTOK__WIRE_VARINT, "the type of a piece", err));
            out->type = f.value;
            out->has_type = true;
            break;
        default:
            break;
        }
    } while (f.number != 0);
    return DSTOK_OK;
}

static dstok_status bad_piece(const loader *l, const piece *p, dstok_status status, const char *what) {
    dstok__quoted q;
    return dstok__fail(l->err, status, p->at, 0, "piece %u, \"%s\", %s", p->id,
                       DSTOK__QUOTE(p->text, p->n, q), what);
}

static dstok_status check_piece(const loader *l, const piece *p) {
    if (p->n == 0) return dstok__fail(l->err, DSTOK_E_FORMAT, p->at, 0, "piece %u is empty", p->id);
    if (memchr(p->text, 0, p->n) != NULL) return bad_piece(l, p, DSTOK_E_FORMAT, "holds a NUL");
    if (dstok__utf8_check((const uint8_t *)p->text, p->n) < p->n)
        return bad_piece(l, p, DSTOK_E_UTF8, "is not UTF-8");
    if (p->type < NORMAL || p->type > BYTE)
        return dstok__fail(l->err, DSTOK_E_UNSUPPORTED, p->at, 0,
                           "not supported: piece %u is of type %" PRIu64, p->id, p->type);
    if (dstok__map_get(&l->ids, p->text, p->n) != UINT32_MAX)
        return bad_piece(l, p, DSTOK_E_DUPLICATE, "stands twice");
    return DSTOK_OK;
}

/* The text with blanks for U+2581, in l->text. */
static dstok_status write_blanks(loader *l, const piece *p) {
    dstok_status status = DSTOK_OK;
    l->text.len = 0;
    for (size_t i = 0; i < p->n && status == DSTOK_OK;) {
        bool blank = p->n - i >= META_N && memcmp(p->text + i, META, META_N) == 0;
        status = dstok__buf_push(&l->text, blank ? ' ' : (uint8_t)p->text[i]);
        i += blank ? META_N : 1;
    }
    return no_room(l, status, "bytes in a piece", l->text.max);
}

static dstok_status add_normal(loader *l, const piece *p) {
    DSTOK_TRY(write_blanks(l, p));
    return dstok__spec_token_bytes(l->s, l->text.data, l->text.len, l->err);
}

/* Found in the normalised text before anything merges; the normaliser leaves it alone. */
static dstok_status add_user_defined(loader *l, const piece *p) {
    DSTOK_TRY(add_normal(l, p));
    dstok__added a = {.content = p->text,
                      .n = (uint32_t)p->n,
                      .id = p->id,
                      .bytes = (const char *)l->text.data,
                      .bytes_n = (uint32_t)l->text.len,
                      .normalized = true};
    dstok_status status = dstok__buf_append(&l->user_defined, p->text, p->n);
    if (status == DSTOK_OK) status = dstok__buf_push(&l->user_defined, 0);
    DSTOK_TRY(no_room(l, status, "bytes in user-defined pieces", l->user_defined.max));
    return dstok__spec_added(l->s, &a, l->err);
}

/* Never found in text, unless the caller lists it. */
static dstok_status add_control(loader *l, const piece *p) {
    const dstok__token *token = &l->s->tokens[p->id];
    dstok__added a = {.content = p->text,
                      .n = (uint32_t)p->n,
                      .id = p->id,
                      .bytes = token->bytes,
                      .bytes_n = token->bytes_n,
                      .special = true,
                      .by_name_only = true};
    return dstok__spec_added(l->s, &a, l->err);
}

static dstok_status add_unknown(loader *l, const piece *p) {
    if (l->s->unk_id != DSTOK__NO_ID)
        return bad_piece(l, p, DSTOK_E_FORMAT, "is a second unknown piece; there can be only one");
    l->s->unk_id = p->id;
    DSTOK_TRY(dstok__spec_token_bytes(l->s, l->unk_surface, l->unk_surface_n, l->err));
    return add_control(l, p);
}

static dstok_status add_byte(loader *l, const piece *p) {
    int byte = dstok__byte_of_name(p->text, p->n);
    char c = (char)byte;
    if (!l->byte_fallback)
        return bad_piece(l, p, DSTOK_E_FORMAT, "stands for a byte, but byte_fallback is not set");
    if (byte < 0)
        return bad_piece(l, p, DSTOK_E_FORMAT, "is to stand for a byte, but is not <0x00> ... <0xFF>");
    l->s->fallback_ids[byte] = p->id;
    l->s->tokens[l->s->n_tokens - 1].is_byte = true;
    return dstok__spec_token_bytes(l->s, &c, 1, l->err);
}

static dstok_status add_by_type(loader *l, const piece *p) {
    switch (p->type) {
    case UNKNOWN:
        return add_unknown(l, p);
    case CONTROL:
        return add_control(l, p);
    case USER_DEFINED:
        return add_user_defined(l, p);
    case BYTE:
        return add_byte(l, p);
    default:
        return add_normal(l, p);
    }
}

static dstok_status add_piece(loader *l, const piece *p) {
    dstok__spec *s = l->s;
    float score;
    DSTOK_TRY(check_piece(l, p));
    memcpy(&score, &p->score_bits, sizeof score);
    if (!isfinite(score)) return bad_piece(l, p, DSTOK_E_FORMAT, "has a score that is no finite number");
    DSTOK_TRY(dstok__spec_token(s, p->text, p->n, p->id, l->err));
    dstok__token *token = &s->tokens[s->n_tokens - 1];
    token->score = score;
    token->literal = p->type == CONTROL || p->type == UNKNOWN || p->type == BYTE;
    token->is_unused = p->type == UNUSED;
    DSTOK_TRY(
        no_room(l, dstok__map_put(&l->ids, token->text, token->n, p->id, NULL), "pieces", DSTOK__MAX_IDS));
    return add_by_type(l, p);
}

static dstok_status check_bytes(const loader *l) {
    unsigned missing = 0;
    for (unsigned b = 0; b < 256; b++) missing += l->s->fallback_ids[b] == DSTOK__NO_ID;
    if (!l->byte_fallback || missing == 0) return DSTOK_OK;
    return dstok__fail(l->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, 0,
                       "byte_fallback is set, but %u of the 256 bytes have no piece", missing);
}

static dstok_status read_pieces(loader *l) {
    dstok__proto p = l->file;
    dstok__proto_field f;
    do {
        DSTOK_TRY(dstok__proto_next(&p, &f, l->err));
        if (f.number != FILE_PIECES) continue;
        piece one = {.at = f.at, .id = (uint32_t)l->s->n_tokens, .type = NORMAL};
        DSTOK_TRY(read_piece(dstok__proto_inside(&p, &f), &one, l->err));
        DSTOK_TRY(add_piece(l, &one));
    } while (f.number != 0);
    if (l->s->unk_id == DSTOK__NO_ID)
        return dstok__fail(l->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, 0, "the model has no unknown piece");
    return check_bytes(l);
}

/* ---- around the model ---- */

static dstok_status set_normalizer(loader *l) {
    dstok__norm norm = {.kind = DSTOK__NORM_SPM,
                        .flags = (l->prefix ? DSTOK__SPM_DUMMY_PREFIX : 0) |
                                 (l->removes ? DSTOK__SPM_REMOVE_BLANKS : 0) |
                                 (l->escapes ? DSTOK__SPM_ESCAPE : 0) | (l->suffix ? DSTOK__SPM_SUFFIX : 0),
                        .pattern_n = l->charsmap_n,
                        .content_n = l->user_defined.len};
    if (l->charsmap_n > 0)
        DSTOK_TRY(dstok__spec_copy(l->s, l->charsmap, l->charsmap_n, &norm.pattern, l->err));
    if (l->user_defined.len > 0)
        DSTOK_TRY(dstok__spec_copy(l->s, l->user_defined.data, l->user_defined.len, &norm.content, l->err));
    l->s->norms[l->s->n_norms++] = norm;
    return DSTOK_OK;
}

/* The blank that was put before the text is taken away again, as SentencePiece does it. */
static void set_decoder(loader *l) {
    bool strips = l->prefix || l->removes; /* whether or not it was written as U+2581 */
    l->s->decs[l->s->n_decs++] =
        (dstok__dec){.kind = DSTOK__DEC_SPM, .start = !strips ? 0 : l->removes ? 2 : 1};
}

static dstok_status load(loader *l) {
    if (l->file.end > DSTOK__MAX_FILE)
        return dstok__fail(l->err, DSTOK_E_LIMIT, 0, 0, "the file has more than %zu bytes", DSTOK__MAX_FILE);
    if (l->file.end == 0) return dstok__fail(l->err, DSTOK_E_TRUNCATED, 0, 0, "the file is empty");
    DSTOK_TRY(read_settings(l));
    DSTOK_TRY(check_model(l));
    DSTOK_TRY(read_pieces(l));
    l->s->byte_fallback = l->s->late_fallback = l->byte_fallback;
    DSTOK_TRY(set_normalizer(l));
    set_decoder(l);
    return DSTOK_OK;
}

dstok_status dstok__load_sentencepiece(dstok__spec *s, const char *data, size_t n, dstok_error *err) {
    const dstok_alloc *al = s->arena.al;
    static const char unk_surface[] = " \xE2\x81\x87 ";
    loader l = {.s = s,
                .err = err,
                .file = dstok__proto_file(data, n),
                .model = MODEL_UNIGRAM,
                .prefix = true,
                .removes = true,
                .escapes = true,
                .unk_surface = unk_surface,
                .unk_surface_n = sizeof unk_surface - 1};
    dstok__map_init(&l.ids, al);
    dstok__buf_init(&l.text, al, DSTOK__MAX_TOKEN_BYTES);
    dstok__buf_init(&l.user_defined, al, DSTOK__MAX_ARENA);
    s->format = "sentencepiece";
    s->model = DSTOK__MODEL_SCORES;
    s->char_atoms = s->fuse_unk = true;
    dstok_status status = load(&l);
    dstok__map_free(&l.ids);
    dstok__buf_free(&l.text);
    dstok__buf_free(&l.user_defined);
    return status;
}

/* A score or a type is written with a key that no text file has: 0x15, 0x18. */
bool dstok__looks_like_sentencepiece(const char *data, size_t n) {
    dstok__proto file = dstok__proto_file(data, n);
    dstok__proto_field f;
    piece p = {.type = NORMAL};
    if (dstok__proto_next(&file, &f, NULL) != DSTOK_OK) return false;
    if (f.number != FILE_PIECES || f.wire != DSTOK__WIRE_BYTES) return false;
    if (read_piece(dstok__proto_inside(&file, &f), &p, NULL) != DSTOK_OK) return false;
    return p.n > 0 && (p.has_score || p.has_type) && dstok__utf8_check((const uint8_t *)p.text, p.n) == p.n;
}
