/* SPDX-License-Identifier: MIT */
/* Characters that a normaliser treats alike wherever they stand: between two of them a text may be
 * normalised in parts. Each operation says of how many it is sure; of those it does not know it says
 * nothing. */
#include "norm.h"
#include "utf8.h"

#include "../../data/unicode/unicode.h"

/* Printable ASCII, and ideographs and the stops beside them: no marks, no blanks, no case beyond ASCII, not
 * changed by any version of Unicode. */
static bool is_tame(uint32_t cp) {
    return (cp > 0x20 && cp < 0x7F) || cp == 0x3001 || cp == 0x3002 || (cp >= 0x4E00 && cp <= 0x9FA5) ||
           cp == 0xFF0C;
}

static bool has_flag(uint32_t cp, unsigned flag) {
    return (dstok__uc_record(cp) & flag) != 0;
}

static bool holds(const char *text, size_t n, const uint8_t *bytes, size_t k) {
    for (size_t i = 0; i + k <= n; i++)
        if (memcmp(text + i, bytes, k) == 0) return true;
    return false;
}

/* A pattern of one character has no begin that could be cut from its end; a longer one must not hold the
 * character at all. */
static bool replace_image(const dstok__norm *norm, uint32_t cp, uint32_t *image) {
    uint8_t bytes[4];
    size_t k = dstok__utf8_put(bytes, cp), width;
    if (norm->pattern_n == 0) return false;
    if (!holds(norm->pattern, norm->pattern_n, bytes, k)) return true;
    if (norm->pattern_n != k || norm->content_n == 0) return false;
    *image = dstok__utf8_get((const uint8_t *)norm->content, &width);
    return width == norm->content_n;
}

/* Without a map: blanks change, and user-defined pieces are left alone. Blanks at the ends may go. */
static bool spm_image(const dstok__norm_op *op, uint32_t cp, uint32_t *image) {
    uint8_t bytes[4];
    size_t k = dstok__utf8_put(bytes, cp);
    if (op->map.n_units > 0 || (op->norm.flags & DSTOK__SPM_SUFFIX)) return false;
    for (size_t i = 0; i < op->pieces.n; i++)
        if (holds((const char *)op->pieces.entries[i].text, op->pieces.entries[i].n, bytes, k)) return false;
    if (cp != ' ') return true;
    if (op->norm.flags & DSTOK__SPM_REMOVE_BLANKS) return false;
    if (op->norm.flags & DSTOK__SPM_ESCAPE) *image = 0x2581;
    return true;
}

/* Rules for ASCII alone, and no other ASCII: a cluster of it is a cluster by itself. */
static bool map_image(const dstok__norm_op *op, uint32_t cp) {
    uint8_t byte = (uint8_t)cp;
    dstok__charsmap_rule rule;
    return cp > 0x20 && cp < 0x7F && !dstok__charsmap_shortest(&op->map, &byte, 1, &rule);
}

/* The one expression that vocabularies have: runs of white space. */
static bool is_blanks_pattern(const dstok__norm *norm) {
    return norm->pattern_n == 3 && memcmp(norm->pattern, "\\s+", 3) == 0;
}

bool dstok__norm_image(const dstok__norm_op *op, uint32_t cp, uint32_t *image) {
    dstok__norm_fn *f = op->apply;
    *image = cp;
    /* An inert character begins what the forms look at together, and keeps itself where the next one is
     * inert. */
    if (f == dstok__norm_nfc) return has_flag(cp, DSTOK_UC_NFC_INERT);
    if (f == dstok__norm_nfd) return has_flag(cp, DSTOK_UC_NFD_INERT);
    if (f == dstok__norm_nfkc) return has_flag(cp, DSTOK_UC_NFKC_INERT);
    if (f == dstok__norm_nfkd) return has_flag(cp, DSTOK_UC_NFKD_INERT);
    if (f == dstok__norm_replace) return replace_image(&op->norm, cp, image);
    if (f == dstok__norm_spm) return spm_image(op, cp, image);
    if (f == dstok__norm_precompiled) return map_image(op, cp);
    if (f == dstok__norm_prepend) return true;
    if (f == dstok__norm_strip) return !dstok__uc_is_space(cp);
    if (f == dstok__norm_replace_regex) return is_blanks_pattern(&op->norm) && is_tame(cp);
    if (f == dstok__norm_byte_level || f == dstok__norm_bert_chinese) return cp > 0x20 && cp < 0x7F;
    if (f == dstok__norm_lowercase && cp >= 'A' && cp <= 'Z') *image = cp + ('a' - 'A');
    return is_tame(cp) || cp == ' '; /* what drops or changes single characters, none of these */
}
