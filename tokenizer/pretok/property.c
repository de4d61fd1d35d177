/* SPDX-License-Identifier: MIT */
/* Property names and POSIX classes of the two dialects, evaluated on our Unicode tables. */
#include "property.h"

#include "../../data/unicode/unicode.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RUNS (DSTOK_UC_MAX + 1)
#define ALL_GC   (~DSTOK_UC_BIT(DSTOK_GC_CS))

enum kind {
    BY_GC,     /* value: categories */
    BY_FLAG,   /* value: a record flag */
    BY_LIMIT,  /* value: the last code point */
    BY_NATIVE, /* item: PCRE2's name */
    BY_POSIX   /* Oniguruma only: the same as [:name:] */
};

struct property {
    const char *name; /* lower case, without space, '_' and '-' */
    enum kind kind;
    uint32_t value;
    const char *item;
};

#define GC(name, set)                                                                                        \
    { name, BY_GC, set, NULL }
#define GC1(short_name, long_name, gc)                                                                       \
    {short_name, BY_GC, DSTOK_UC_BIT(gc), NULL}, {                                                           \
        long_name, BY_GC, DSTOK_UC_BIT(gc), NULL                                                             \
    }
#define NATIVE(name, item)                                                                                   \
    { name, BY_NATIVE, 0, item }

static const struct property properties[] = {
    GC("l", DSTOK_UC_L),
    GC("letter", DSTOK_UC_L),
    GC("lc", DSTOK_UC_LU | DSTOK_UC_LL | DSTOK_UC_LT),
    GC("casedletter", DSTOK_UC_LU | DSTOK_UC_LL | DSTOK_UC_LT),
    GC("m", DSTOK_UC_M),
    GC("mark", DSTOK_UC_M),
    GC("n", DSTOK_UC_N),
    GC("number", DSTOK_UC_N),
    GC("p", DSTOK_UC_P),
    GC("punctuation", DSTOK_UC_P),
    GC("s", DSTOK_UC_S),
    GC("symbol", DSTOK_UC_S),
    GC("z", DSTOK_UC_Z),
    GC("separator", DSTOK_UC_Z),
    GC("c", DSTOK_UC_C),
    GC("other", DSTOK_UC_C),
    GC("digit", DSTOK_UC_ND),
    GC1("lu", "uppercaseletter", DSTOK_GC_LU),
    GC1("ll", "lowercaseletter", DSTOK_GC_LL),
    GC1("lt", "titlecaseletter", DSTOK_GC_LT),
    GC1("lm", "modifierletter", DSTOK_GC_LM),
    GC1("lo", "otherletter", DSTOK_GC_LO),
    GC1("mn", "nonspacingmark", DSTOK_GC_MN),
    GC1("mc", "spacingmark", DSTOK_GC_MC),
    GC1("me", "enclosingmark", DSTOK_GC_ME),
    GC1("nd", "decimalnumber", DSTOK_GC_ND),
    GC1("nl", "letternumber", DSTOK_GC_NL),
    GC1("no", "othernumber", DSTOK_GC_NO),
    GC1("pc", "connectorpunctuation", DSTOK_GC_PC),
    GC1("pd", "dashpunctuation", DSTOK_GC_PD),
    GC1("ps", "openpunctuation", DSTOK_GC_PS),
    GC1("pe", "closepunctuation", DSTOK_GC_PE),
    GC1("pi", "initialpunctuation", DSTOK_GC_PI),
    GC1("pf", "finalpunctuation", DSTOK_GC_PF),
    GC1("po", "otherpunctuation", DSTOK_GC_PO),
    GC1("sm", "mathsymbol", DSTOK_GC_SM),
    GC1("sc", "currencysymbol", DSTOK_GC_SC),
    GC1("sk", "modifiersymbol", DSTOK_GC_SK),
    GC1("so", "othersymbol", DSTOK_GC_SO),
    GC1("zs", "spaceseparator", DSTOK_GC_ZS),
    GC1("zl", "lineseparator", DSTOK_GC_ZL),
    GC1("zp", "paragraphseparator", DSTOK_GC_ZP),
    GC1("cc", "control", DSTOK_GC_CC),
    GC1("cf", "format", DSTOK_GC_CF),
    GC1("cn", "unassigned", DSTOK_GC_CN),
    GC1("co", "privateuse", DSTOK_GC_CO),
    GC1("cs", "surrogate", DSTOK_GC_CS),
    GC("assigned", ALL_GC & ~DSTOK_UC_BIT(DSTOK_GC_CN)),
    {"any", BY_LIMIT, DSTOK_UC_MAX, NULL},
    {"ascii", BY_LIMIT, 0x7F, NULL},
    {"whitespace", BY_FLAG, DSTOK_UC_SPACE, NULL},
    {"space", BY_FLAG, DSTOK_UC_SPACE, NULL},
    {"han", BY_FLAG, DSTOK_UC_HAN, NULL},
    {"hani", BY_FLAG, DSTOK_UC_HAN, NULL},
    {"xdigit", BY_POSIX, 0, NULL},
    {"blank", BY_POSIX, 0, NULL},
    {"cntrl", BY_POSIX, 0, NULL},
    {"alnum", BY_POSIX, 0, NULL},
    {"graph", BY_POSIX, 0, NULL},
    {"print", BY_POSIX, 0, NULL},
    NATIVE("alphabetic", "Alphabetic"),
    NATIVE("alpha", "Alphabetic"),
    NATIVE("uppercase", "Uppercase"),
    NATIVE("upper", "Uppercase"),
    NATIVE("lowercase", "Lowercase"),
    NATIVE("lower", "Lowercase"),
    NATIVE("arabic", "sc:Arabic"),
    NATIVE("armenian", "sc:Armenian"),
    NATIVE("bengali", "sc:Bengali"),
    NATIVE("bopomofo", "sc:Bopomofo"),
    NATIVE("cyrillic", "sc:Cyrillic"),
    NATIVE("devanagari", "sc:Devanagari"),
    NATIVE("ethiopic", "sc:Ethiopic"),
    NATIVE("georgian", "sc:Georgian"),
    NATIVE("greek", "sc:Greek"),
    NATIVE("gujarati", "sc:Gujarati"),
    NATIVE("gurmukhi", "sc:Gurmukhi"),
    NATIVE("hangul", "sc:Hangul"),
    NATIVE("hebrew", "sc:Hebrew"),
    NATIVE("hiragana", "sc:Hiragana"),
    NATIVE("kannada", "sc:Kannada"),
    NATIVE("katakana", "sc:Katakana"),
    NATIVE("khmer", "sc:Khmer"),
    NATIVE("lao", "sc:Lao"),
    NATIVE("latin", "sc:Latin"),
    NATIVE("malayalam", "sc:Malayalam"),
    NATIVE("mongolian", "sc:Mongolian"),
    NATIVE("myanmar", "sc:Myanmar"),
    NATIVE("oriya", "sc:Oriya"),
    NATIVE("sinhala", "sc:Sinhala"),
    NATIVE("syriac", "sc:Syriac"),
    NATIVE("tamil", "sc:Tamil"),
    NATIVE("telugu", "sc:Telugu"),
    NATIVE("thaana", "sc:Thaana"),
    NATIVE("thai", "sc:Thai"),
    NATIVE("tibetan", "sc:Tibetan"),
};

const char dstok__category_names[30][3] = {"Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd",
                                           "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
                                           "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

void dstok__props_init(dstok__props *props, const dstok_alloc *al) {
    *props = (dstok__props){.al = al};
}

static void free_runs(const dstok_alloc *al, dstok__runs *runs) {
    dstok__free(al, runs->at, runs->cap * sizeof *runs->at);
    *runs = (dstok__runs){0};
}

void dstok__props_free(dstok__props *props) {
    free_runs(props->al, &props->own);
    free_runs(props->al, &props->folds);
    free_runs(props->al, &props->native);
}

dstok_status dstok__runs_push(const dstok_alloc *al, dstok__runs *runs, uint32_t lo, uint32_t value) {
    DSTOK_TRY(dstok__grow(al, (void **)&runs->at, &runs->cap, runs->n + 1, sizeof *runs->at, MAX_RUNS));
    runs->at[runs->n++] = (dstok__run){lo, value};
    return DSTOK_OK;
}

/* Cuts the code points into runs of equal record, and notes those that folding touches. */
dstok_status dstok__props_scan(dstok__props *props) {
    if (props->own.n > 0) return DSTOK_OK;
    uint32_t page_size = 1u << DSTOK_UC_PAGE_BITS, last = UINT32_MAX, flat_page = UINT32_MAX;
    for (uint32_t base = 0; base <= DSTOK_UC_MAX; base += page_size) {
        uint32_t page = dstok__uc_pages[base >> DSTOK_UC_PAGE_BITS];
        if (page == flat_page) continue; /* all the same, and the same as before */
        size_t before = props->own.n;
        for (uint32_t cp = base; cp < base + page_size; cp++) {
            uint32_t record = dstok__uc_record(cp) & (DSTOK_UC_GC_MASK | DSTOK_UC_SPACE | DSTOK_UC_WORD |
                                                      DSTOK_UC_HAN | DSTOK_UC_FOLDS);
            if (record != last) DSTOK_TRY(dstok__runs_push(props->al, &props->own, cp, record));
            last = record;
        }
        bool flat =
            props->own.n == before || (props->own.n == before + 1 && props->own.at[before].lo == base);
        flat_page = flat ? page : UINT32_MAX;
    }
    return DSTOK_OK;
}

/* Adds the runs whose record r has (1 << category) in gc, or a bit of flag. */
static dstok_status add_runs(dstok__props *props, uint32_t gc, uint32_t flag, dstok__codeset *set) {
    DSTOK_TRY(dstok__props_scan(props));
    dstok__codeset found;
    dstok__codeset_init(&found, props->al);
    dstok_status status = DSTOK_OK;
    for (size_t i = 0; i < props->own.n && status == DSTOK_OK; i++) {
        const dstok__run *r = &props->own.at[i];
        uint32_t end = i + 1 < props->own.n ? r[1].lo : DSTOK_UC_MAX + 1;
        bool in = (gc >> (r->value & DSTOK_UC_GC_MASK) & 1) != 0 || (r->value & flag) != 0;
        if (in) status = dstok__codeset_add(&found, r->lo, end - 1);
    }
    if (status == DSTOK_OK) status = dstok__codeset_apply(set, DSTOK__SET_OR, &found);
    dstok__codeset_free(&found);
    return status;
}

dstok_status dstok__props_add_gc(dstok__props *props, uint32_t categories, dstok__codeset *set) {
    return add_runs(props, categories, 0, set);
}

dstok_status dstok__props_add_flag(dstok__props *props, uint32_t flag, dstok__codeset *set) {
    return add_runs(props, 0, flag, set);
}

static dstok_status make_onig_word(dstok__props *props, bool in_class, dstok__codeset *word) {
    static const dstok__range joiners[] = {{0x200C, 0x200D}}; /* in Rust's \w, not in Oniguruma's */
    const dstok__codeset minus = {props->al, (dstok__range *)joiners, 1, 0};
    DSTOK_TRY(dstok__props_add_flag(props, DSTOK_UC_WORD, word));
    DSTOK_TRY(dstok__codeset_apply(word, DSTOK__SET_SUB, &minus));
    if (in_class) return DSTOK_OK;
    DSTOK_TRY(dstok__codeset_add(word, 0xB2, 0xB3));
    DSTOK_TRY(dstok__codeset_add(word, 0xB9, 0xB9));
    return dstok__codeset_add(word, 0xBC, 0xBE);
}

dstok_status dstok__props_add_word(dstok__props *props, dstok__dialect dialect, bool in_class,
                                   dstok__codeset *set) {
    if (dialect == DSTOK__DIALECT_FANCY) return dstok__props_add_flag(props, DSTOK_UC_WORD, set);
    dstok__codeset word;
    dstok__codeset_init(&word, props->al);
    dstok_status status = make_onig_word(props, in_class, &word);
    if (status == DSTOK_OK) status = dstok__codeset_apply(set, DSTOK__SET_OR, &word);
    dstok__codeset_free(&word);
    return status;
}

/* ---- names ---- */

#define NAME_CAP 32

/* Both engines compare names without case, spaces, '_' and '-'. False when it cannot be one of ours. */
static bool normalise_name(const char *name, size_t n, char out[NAME_CAP]) {
    size_t w = 0;
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        if (c == ' ' || c == '_' || c == '-') continue;
        if (w + 1 == NAME_CAP || c == '\0') return false;
        out[w++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    out[w] = '\0';
    return w > 0;
}

static const struct property *find_property(const char *name) {
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        if (strcmp(properties[i].name, name) == 0) return &properties[i];
    }
    return NULL;
}

/* fancy-regex also takes gc=Name and sc=Name; the part behind '=' when the part before is one of those. */
static const char *strip_key(const char *name) {
    static const char *const keys[] = {"gc=", "generalcategory=", "sc=", "script="};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        size_t n = strlen(keys[i]);
        if (strncmp(name, keys[i], n) != 0) continue;
        const struct property *p = find_property(name + n);
        bool is_script =
            p != NULL && (p->kind == BY_NATIVE ? strncmp(p->item, "sc:", 3) == 0
                                               : (p->kind == BY_FLAG && p->value == DSTOK_UC_HAN));
        bool fits = p != NULL && (i < 2 ? p->kind == BY_GC : is_script);
        return fits ? name + n : "";
    }
    return name;
}

dstok_status dstok__props_add_named(dstok__props *props, const char *name, size_t n, dstok__dialect dialect,
                                    dstok__codeset *set, bool *known) {
    char plain[NAME_CAP];
    *known = false;
    if (!normalise_name(name, n, plain)) return DSTOK_OK;
    const struct property *p = find_property(dialect == DSTOK__DIALECT_FANCY ? strip_key(plain) : plain);
    if (p == NULL) return DSTOK_OK;
    *known = true;
    switch (p->kind) {
    case BY_GC:
        return dstok__props_add_gc(props, p->value, set);
    case BY_FLAG:
        return dstok__props_add_flag(props, p->value, set);
    case BY_LIMIT:
        return dstok__codeset_add(set, 0, p->value);
    case BY_NATIVE:
        return dstok__native_add(props, p->item, set, known);
    case BY_POSIX:
        break;
    }
    *known = dialect == DSTOK__DIALECT_ONIG;
    return *known ? dstok__props_add_posix(props, p->name, strlen(p->name), dialect, set, known) : DSTOK_OK;
}

/* ---- POSIX ---- */

struct posix {
    const char *name, *ascii; /* first and last character of each range, n_ascii bytes */
    size_t n_ascii;
    uint32_t gc, flag;  /* what Oniguruma has in addition */
    const char *native; /* and this, by PCRE2's name */
};

#define NOT_GRAPHIC (DSTOK_UC_BIT(DSTOK_GC_CC) | DSTOK_UC_BIT(DSTOK_GC_CN) | DSTOK_UC_BIT(DSTOK_GC_CS))
#define LINE_ENDS   (DSTOK_UC_BIT(DSTOK_GC_ZL) | DSTOK_UC_BIT(DSTOK_GC_ZP))
#define ASCII(text) text, sizeof text - 1

static const struct posix posix_classes[] = {
    {"alnum", ASCII("09AZaz"), DSTOK_UC_ND, 0, "Alphabetic"},
    {"alpha", ASCII("AZaz"), 0, 0, "Alphabetic"},
    {"ascii", ASCII("\0\x7F"), 0, 0, NULL},
    {"blank", ASCII("\t\t  "), DSTOK_UC_BIT(DSTOK_GC_ZS), 0, NULL},
    {"cntrl", ASCII("\0\x1F\x7F\x7F"), DSTOK_UC_BIT(DSTOK_GC_CC), 0, NULL},
    {"digit", ASCII("09"), DSTOK_UC_ND, 0, NULL},
    {"graph", ASCII("!~"), ~(NOT_GRAPHIC | DSTOK_UC_Z), 0, NULL},
    {"lower", ASCII("az"), 0, 0, "Lowercase"},
    {"print", ASCII(" ~"), ~(NOT_GRAPHIC | LINE_ENDS), 0, NULL},
    {"punct", ASCII("!/:@[`{~"), DSTOK_UC_P | DSTOK_UC_S, 0, NULL},
    {"space", ASCII("\t\r  "), 0, DSTOK_UC_SPACE, NULL},
    {"upper", ASCII("AZ"), 0, 0, "Uppercase"},
    {"word", ASCII("09AZ__az"), 0, DSTOK_UC_WORD, NULL},
    {"xdigit", ASCII("09AFaf"), 0, 0, NULL},
};

static dstok_status add_posix(dstok__props *props, const struct posix *c, dstok__dialect dialect,
                              dstok__codeset *set, bool *known) {
    for (size_t i = 0; i < c->n_ascii; i += 2) {
        DSTOK_TRY(dstok__codeset_add(set, (unsigned char)c->ascii[i], (unsigned char)c->ascii[i + 1]));
    }
    if (dialect == DSTOK__DIALECT_FANCY) return DSTOK_OK;
    if (c->flag == DSTOK_UC_WORD) return dstok__props_add_word(props, dialect, true, set);
    if (c->gc != 0 || c->flag != 0) DSTOK_TRY(add_runs(props, c->gc, c->flag, set));
    return c->native == NULL ? DSTOK_OK : dstok__native_add(props, c->native, set, known);
}

dstok_status dstok__props_add_posix(dstok__props *props, const char *name, size_t n, dstok__dialect dialect,
                                    dstok__codeset *set, bool *known) {
    *known = false;
    for (size_t i = 0; i < sizeof posix_classes / sizeof posix_classes[0]; i++) {
        const struct posix *c = &posix_classes[i];
        if (strlen(c->name) != n || memcmp(c->name, name, n) != 0) continue;
        *known = true;
        return add_posix(props, c, dialect, set, known);
    }
    return DSTOK_OK;
}

/* ---- case ---- */

static int by_fold(const void *a, const void *b) {
    const dstok__run *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static dstok_status list_folds(dstok__props *props) {
    if (props->folds.n > 0) return DSTOK_OK;
    DSTOK_TRY(dstok__props_scan(props));
    for (size_t i = 0; i < props->own.n; i++) {
        const dstok__run *r = &props->own.at[i];
        uint32_t end = i + 1 < props->own.n ? r[1].lo : DSTOK_UC_MAX + 1;
        for (uint32_t cp = r->lo; cp < end && (r->value & DSTOK_UC_FOLDS); cp++) {
            DSTOK_TRY(dstok__runs_push(props->al, &props->folds, cp, dstok__uc_fold(cp)));
        }
    }
    if (props->folds.n > 0) qsort(props->folds.at, props->folds.n, sizeof *props->folds.at, by_fold);
    return DSTOK_OK;
}

dstok_status dstok__props_close_case(dstok__props *props, dstok__codeset *set) {
    DSTOK_TRY(list_folds(props));
    const dstok__runs *f = &props->folds;
    for (size_t i = 0, end; i < f->n; i = end) { /* [i, end) fold to one code point */
        bool any = false;
        for (end = i; end < f->n && f->at[end].value == f->at[i].value; end++) {
            any = any || dstok__codeset_has(set, f->at[end].lo);
        }
        for (size_t k = i; k < end && any; k++) DSTOK_TRY(dstok__codeset_add(set, f->at[k].lo, f->at[k].lo));
    }
    return DSTOK_OK;
}
