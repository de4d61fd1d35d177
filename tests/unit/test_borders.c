/* SPDX-License-Identifier: MIT */
/* Rules for borders, one case each: a text with a bar where a place is asked for, and the class it must
 * have. */
#include "../harness/t.h"

#include "../../align/borders.h"

#include <stdlib.h>

enum {
    NONE = DSTOK__BORDER_NONE,
    BLANK = DSTOK__BORDER_BLANK,
    CLAUSE = DSTOK__BORDER_CLAUSE,
    WRAP = DSTOK__BORDER_WRAP,
    SPACED = DSTOK__BORDER_SPACED,
    LINE = DSTOK__BORDER_LINE,
    DOUBTFUL = DSTOK__BORDER_DOUBTFUL,
    SENTENCE = DSTOK__BORDER_SENTENCE,
    SURE = DSTOK__BORDER_SURE,
    ENDED = DSTOK__BORDER_ENDED,
    BLOCK = DSTOK__BORDER_BLOCK,
    HEADING = DSTOK__BORDER_HEADING
};

typedef struct border_case {
    const char *text; /* with one | */
    int class;
} border_case;

/* The score of the bar's place, from a copy of exactly the size of the text. */
static unsigned score_of(const char *marked, int mode) {
    size_t n = strlen(marked), at = strcspn(marked, "|");
    uint8_t *text = malloc(n);
    memcpy(text, marked, at);
    memcpy(text + at, marked + at + 1, n - at - 1);
    const dstok__border_text b = {text, n - 1, mode};
    unsigned score = dstok__border_score(&b, at);
    free(text);
    return score;
}

static void check_cases(const border_case *cases, size_t n, int mode) {
    for (size_t i = 0; i < n; i++) {
        unsigned got = score_of(cases[i].text, mode) >> 8;
        if (got != (unsigned)cases[i].class) fprintf(stderr, "case %zu: %s\n", i, cases[i].text);
        CHECK_EQ(got, cases[i].class);
    }
}

#define CHECK_CASES(cases, mode) check_cases(cases, sizeof(cases) / sizeof *(cases), mode)

static void alphabets(void) {
    static const border_case cases[] = {
        {"The river rose slowly.| The town slept on.", SURE},
        {"Where did it go?| Nobody saw it.", SURE},
        {"She read the letter.\"| Then she left.", SURE},
        {"The river rose slowly. |The town slept on.", NONE}, /* the blank goes with what follows */
        {"Der Zug hielt pünktlich.| Die Türen blieben zu.", SURE},
        {"Die Lage „ist völlig offen“, sagte sie gestern.| Niemand widersprach.", SURE},
        {"Il faut partir maintenant\xC2\xA0!| Le train attend.", SURE},
        {"Река вышла из берегов.| Город спал.", SURE},
        {"La rivière monta lentement.| À minuit tout dormait.", SURE},
        {"नदी धीरे बढ़ी।| नगर सोता रहा।", SURE},
        {"ارتفع النهر ببطء.| نامت المدينة.", SURE},
        {"강물이 천천히 불어났다.| 마을은 잠들었다.", SURE},
        {"See https://example.org/find?|query=1 for more.", NONE},
        {"What now?|Nobody knows.", DOUBTFUL},
        {"I met Mr.| Smith there.", DOUBTFUL},
        {"It was J.| Smith who came.", DOUBTFUL},
        {"We met at 5 a.m.| Then we left.", DOUBTFUL},
        {"In the U.S.| Senate it failed.", DOUBTFUL},
        {"Fruit, nuts, etc.| Everything was there.", DOUBTFUL},
        {"A length of approx.| Two feet.", DOUBTFUL},
        {"See fig.| Two for details.", DOUBTFUL},
        {"Am 3.| Oktober war es so.", DOUBTFUL},
        {"Kainuoja 8 mlrd.| Eurų skirta darbams.", DOUBTFUL}, /* no vowels */
        {"Есть 8 млрд.| Рублей не хватит.", DOUBTFUL},
        {"எழுத்தாளர்.| ஜி. மோகன் வந்தார்.", SENTENCE},
        {"எழுத்தாளர்கள்.| மோகன் வந்தார்.", SURE},
        {"He asked about the letter.| J. Smith answered.", DOUBTFUL},
        {"He waited and waited...| Then he left.", DOUBTFUL},
        {"In Germany.| The town slept.", SENTENCE},
        {"It was 1999.| The town slept.", DOUBTFUL},
        {"The price was 1.|50 then.", NONE},
        {"The file readme.|txt is there.", NONE},
        {"We came home.| then we slept.", BLANK},
        {"Stop!| he cried.", BLANK},
        {"He said: \"The river rose slowly.| The town slept on.\" Then he left.", SENTENCE},
        {"All this (the river rose slowly.| The town slept on) was new.", SENTENCE},
        {"He said \xC2\xBBthe river rose slowly.| The town slept on\xC2\xAB and left.", SENTENCE},
        {"An old \"quote.\nThe river rose slowly.| The town slept on.", SURE}, /* a line forgets it */
        {"She came.\")]| Then she left.", SENTENCE},
        {"Your name?|What next.", DOUBTFUL},
        {"Das „Foto“album lag offen daneben.| Die Türen blieben zu.", SURE},
        {"Mehr steht dort s.unten.| Danach folgt nichts.", DOUBTFUL},
    };
    CHECK_CASES(cases, DSTOK__MODE_PROSE);
}

static void east_asia(void) {
    static const border_case cases[] = {
        {"河水慢慢上涨。|全城都睡了。", SURE},
        {"河水上涨了吗？|没有人知道。", SURE},
        {"河水上涨了！？|没有人知道。", SURE},
        {"河水上涨了！|？没有人知道。", NONE}, /* a doubled sign is one */
        {"他说：“河水上涨了。”|全城都睡了。", SURE},
        {"他说：“河水上涨了。|”全城都睡了。", NONE},
        {"他说：“河水上涨了。|全城都睡了。”", SENTENCE},
        {"“河水上涨了！”|他喊道。", SENTENCE},
        {"他在看《摔跤吧！|爸爸》这部电影。", NONE},
        {"他在看《摔跤吧！》|这部电影。", NONE},
        {"河水上涨了……|全城都睡了。", NONE},
        {"河水上涨了——|全城都睡了。", NONE},
        {"河水上涨了，|全城都睡了。", CLAUSE},
        {"河水上涨了；|全城都睡了。", CLAUSE},
        {"河水上涨了。| 全城都睡了。", SURE},
        {"河水上涨了 。| ”全城都睡了。", BLANK},
        {"河水上涨了。“|第二届”大会开幕。", NONE}, /* it opens what follows */
        {"河水上涨了。|“第二届”大会开幕。", SURE},
        {"河水上涨了。\"|第二届\"大会开幕。", NONE},
        {"河水上涨了。|\"第二届\"大会开幕。", SURE},
        {"他说，\"河水上涨了。|\"全城都睡了。", NONE},
        {"他说，\"河水上涨了。\"|全城都睡了。", SURE},
        {"川の水がゆっくり増えた。|町は眠っていた。", SURE},
        {"川の水がゆっくり増えた｡|町は眠っていた｡", SURE},
        {"「川の水が増えた。」|と彼は言った。", DOUBTFUL},
        {"「川の水が増えた。|町は眠っていた」と言った。", SENTENCE},
        {"总共３．|５公里。", DOUBTFUL},
        {"第一。“没有合上的引号\n河水慢慢上涨。|全城都睡了。", SURE},
    };
    CHECK_CASES(cases, DSTOK__MODE_PROSE);
}

static void phrases(void) {
    static const border_case cases[] = {
        {"แม่น้ำสูงขึ้น| เมืองหลับใหล", SPACED}, {"ទន្លេឡើងខ្ពស់។| ទីក្រុងដេកលក់។", SURE},
        {"The river, |the town", NONE},   {"The river,| the town", CLAUSE},
        {"The river;| the town", CLAUSE}, {"The river| rose", BLANK},
        {"The ri|ver rose", NONE},        {"1,|000 people", NONE},
        {"caf\x65|\xCC\x81. Then", NONE}, /* within a grapheme */
        {"Well.|\xCC\x81 Then", NONE},
    };
    CHECK_CASES(cases, DSTOK__MODE_PROSE);
}

static void lines(void) {
    static const border_case cases[] = {
        {"The river rose slowly.\n|The town slept on.\n", ENDED},
        {"The river rose slowly.|\nThe town slept on.\n", ENDED}, /* where no token ends behind it */
        {"The river rose slowly.\r|\nThe town slept on.\n", NONE},
        {"The river rose slowly.\r\n|The town slept on.\n", ENDED},
        {"The river rose slowly.\n\n|The town slept on.\n", BLOCK},
        {"The river rose slowly.\n \t\n|The town slept on.\n", BLOCK},
        {"The river rose slowly.\r\n\r\n|The town slept on.\n", BLOCK},
        {"The river rose\n|slowly. The town\n", WRAP},
        {"The river rose,\n|The town slept\n", WRAP},
        {"The river\n|The town\n", LINE},
        {"I met Mr.\n|Smith there.\n", LINE},
        {"河水慢慢上涨。\n|全城都睡了。\n", ENDED},
        {"河水慢慢上涨\n|全城都睡了。\n", LINE},
        {"The end.\n\f|Page two", HEADING},
        {"The end.\n\n|The second part\n\nIt began early.\n", HEADING},
        {"The end.\n\nThe second part\n\n|It began early.\n", LINE}, /* not behind a heading */
        {"他走了。\n|第十二章 归来\n夜里下起了雨。\n", HEADING},
        {"他走了。\n第十二章 归来\n|夜里下起了雨。\n", LINE},
        {"แม่น้ำสูงขึ้น\n|เมืองหลับใหล\n", ENDED}, /* no terminators there */
        {"The river rose slowly.\xE2\x80\xA8|The town slept on.", ENDED},
    };
    CHECK_CASES(cases, DSTOK__MODE_PROSE);
}

static void markdown(void) {
    static const border_case cases[] = {
        {"The end.\n\n|## Two\n\nIt began.\n", HEADING},
        {"The end.\n\n## Two\n\n|It began.\n", LINE},
        {"The end.\n\n|Two\n---\n\nIt began.\n", HEADING},
        {"The end.\n\nTwo\n---\n\n|It began.\n", LINE},
        {"The end.\n|####### no heading.\n", ENDED},
        {"The river rose slowly.\n\n|- The town slept on.\n", BLOCK},
    };
    CHECK_CASES(cases, DSTOK__MODE_MARKDOWN);
    CHECK_EQ(score_of("The end.\n\n|## Two\n\nIt began.\n", DSTOK__MODE_PROSE) >> 8, BLOCK);
}

static void code(void) {
    static const border_case cases[] = {
        {"int f(void) {\n    return 1;\n}\n\n|int g(void) {\n", BLOCK},
        {"int f(void) {\n    return 1;\n}\n|int g(void) {\n", ENDED},
        {"int f(void) {\n    a();\n\n|    b();\n}\n", LINE},
        {"int f(void) {\n    a();\n|}\n", WRAP},
        {"int f(void) {\n    // It ends. |Then it goes on.\n", NONE},
        {"int f(void) {\n    // It ends.| Then it goes on.\n", BLANK},
    };
    CHECK_CASES(cases, DSTOK__MODE_CODE);
    unsigned deep = score_of("f:\n        a();\n|        b();\n", DSTOK__MODE_CODE);
    unsigned apart = score_of("f:\n        a();\n\n|        b();\n", DSTOK__MODE_CODE);
    unsigned high = score_of("f:\n        a();\n|    b();\n", DSTOK__MODE_CODE);
    CHECK(deep < apart && apart < high); /* the lowest indent first, then the blank line */
}

static void grades(void) {
    unsigned plain = score_of("The river rose slowly.| The town slept on.", DSTOK__MODE_PROSE);
    unsigned named = score_of("The river rose slowly.| New York slept on.", DSTOK__MODE_PROSE);
    unsigned quoted = score_of("The river rose slowly.| \"The town slept on.\"", DSTOK__MODE_PROSE);
    CHECK(plain > named && named > quoted && quoted >> 8 == SURE);
    /* A question, a word in capitals, a sentence of one word beside it: all less sure. */
    unsigned asked = score_of("The river rose slowly?| The town slept on.", DSTOK__MODE_PROSE);
    unsigned shouted = score_of("The river rose slowly.| NATO slept on.", DSTOK__MODE_PROSE);
    unsigned behind_lone = score_of("The river rose. Slowly.| The town slept on.", DSTOK__MODE_PROSE);
    unsigned before_lone = score_of("The river rose slowly.| Nothing. It slept on.", DSTOK__MODE_PROSE);
    CHECK(plain > asked && asked >> 8 == SURE);
    CHECK(named > shouted && shouted >> 8 == SURE);
    CHECK(plain > behind_lone && named > before_lone);
    unsigned told = score_of("ارتفع النهر ببطء.| نامت المدينة.", DSTOK__MODE_PROSE);
    CHECK(told > score_of("ارتفع النهر ببطء؟| نامت المدينة.", DSTOK__MODE_PROSE));
    CHECK(told > score_of("نعم. ببطء.| نامت المدينة.", DSTOK__MODE_PROSE));
}

/* A score depends on 400 bytes before the place and 512 behind it, not on more. */
static void reach(void) {
    enum { N = 3000 };
    static uint8_t text[N];
    static const char *const bits[] = {"abcd efgh. ", "\xE3\x80\x82", "\xE4\xB8\x80", "(",  "\"",
                                       "\n",          "Mr. X ",       "\xE2\x80\x9C", "! ", ", "};
    t_rng rng = {7};
    size_t n = 0;
    while (n + 16 < N) {
        const char *bit = bits[t_random(&rng) % (sizeof bits / sizeof *bits)];
        memcpy(text + n, bit, strlen(bit));
        n += strlen(bit);
    }
    size_t with_score = 0;
    for (size_t at = 401; at + 513 < n; at++) {
        if ((text[at] & 0xC0) == 0x80) continue;
        const dstok__border_text whole = {text, n, DSTOK__MODE_PROSE};
        const dstok__border_text part = {text + at - 400, 912, DSTOK__MODE_PROSE};
        unsigned score = dstok__border_score(&whole, at);
        CHECK_EQ(dstok__border_score(&part, 400), score);
        with_score += score != 0;
    }
    CHECK(with_score > 100);
}

static void modes(void) {
    static const char prose[] =
        "It rained.\nThe river rose slowly, and the town\nslept on.\nThen it was day.\n";
    static const char mark[] = "# One\n\nText here.\n\n- a list\n- of two\n\n## Two\n\nMore text.\n";
    static const char c[] = "#include <stdio.h>\n\nint main(void) {\n    puts(\"x\");\n    return 0;\n}\n";
    static const char python[] = "import os\n\ndef f(a):\n    x = a + 1\n    return x\n\nprint(f(2))\n";
    CHECK_EQ(dstok__border_mode((const uint8_t *)prose, strlen(prose)), DSTOK__MODE_PROSE);
    CHECK_EQ(dstok__border_mode((const uint8_t *)mark, strlen(mark)), DSTOK__MODE_MARKDOWN);
    CHECK_EQ(dstok__border_mode((const uint8_t *)c, strlen(c)), DSTOK__MODE_CODE);
    CHECK_EQ(dstok__border_mode((const uint8_t *)python, strlen(python)), DSTOK__MODE_CODE);
    CHECK_EQ(dstok__border_mode((const uint8_t *)"", 0), DSTOK__MODE_PROSE);
}

int main(void) {
    alphabets();
    east_asia();
    phrases();
    lines();
    markdown();
    code();
    grades();
    reach();
    modes();
    return t_end();
}
