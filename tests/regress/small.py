# SPDX-License-Identifier: MIT
"""The bug reports again, each as the smallest vocabulary and text that show it: no data beside this file is needed.

The answers are those of Hugging Face tokenizers 0.23.3 for the same file, spans in its way (characters); where ours differ
on purpose the row says so."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import common  # noqa: E402
import made  # noqa: E402
from made import HELLO, LLAMA, META, added, split  # noqa: E402

CL100K = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SPECIALS = [added("<|a|>", special=True), added("<|a|><|b|>", special=True), added("<|b|>", special=True)]


def traps(*pairs):
    """Merges over places where a pattern must, or must not, cut."""
    return list(pairs)


# number, why, the file, text, policy, ids, spans in characters (None: not compared)
ROWS = [
    ("C001", "ignore_merges: a whole pretoken first", dict(merges=[["a", "b"]], model={"vocab+": ["abc"],
     "ignore_merges": True}), "abc abcd", "parse", [257, 32, 256, 99, 100], [[0, 3], [3, 4], [4, 6], [6, 7], [7,
     8]]),
    ("C001", "... and not without it", dict(merges=[["a", "b"]], model={"vocab+": ["abc"]}), "abc", "parse",
     [256, 99], [[0, 2], [2, 3]]),
    ("C002", "marks belong to words", dict(merges=traps([b"\x81", "b"]), pre_tokenizer=split(O200K)),
     "a\u0301b", "parse", [97, 204, 256], [[0, 1], [1, 2], [1, 3]]),
    ("C002", "... but not in GPT-2's pattern", dict(merges=traps([b"\x81", "b"])), "a\u0301b", "parse", [97,
     204, 129, 98], [[0, 1], [1, 2], [1, 2], [2, 3]]),
    ("C007", "letters outside ASCII stay in the run", dict(merges=traps([b"\xBC", "h"]),
     pre_tokenizer=split(CL100K)), "F\u00fchrer", "parse", [70, 195, 256, 114, 101, 114], [[0, 1], [1, 2], [1,
     3], [3, 4], [4, 5], [5, 6]]),
    ("C009", "the lowest rank, not the leftmost pair", dict(merges=[["t", "a"], ["u", "t"]]), "uta", "parse",
     [117, 256], [[0, 1], [1, 3]]),
    ("C011", "U+0085 is a blank", dict(merges=traps([" ", b"\xC2"], [b"\x85", "!"]),
     pre_tokenizer=split(CL100K)), " \x85!", "parse", [32, 194, 133, 33], [[0, 1], [1, 2], [1, 2], [2, 3]]),
    ("C012", "U+2003 and U+2009 are blanks", dict(merges=traps([b"\x83", "x"], [b"\x89", "!"], [" ", " "]),
     pre_tokenizer=split(CL100K)), "  \u2003x \u2009!", "parse", [258, 226, 128, 256, 32, 226, 128, 137, 33],
     [[0, 2], [2, 3], [2, 3], [2, 4], [4, 5], [5, 6], [5, 6], [5, 6], [6, 7]]),
    ("C014", "U+001C is none", dict(merges=traps([" ", "\x1c"], [" ", " "], ["\x1c", "x"]),
     pre_tokenizer=split(CL100K)), "  \x1cx", "parse", [32, 256, 120], [[0, 1], [1, 3], [3, 4]]),
    ("C016", "&& is an intersection", dict(merges=HELLO, pre_tokenizer=split(r"[\p{L}&&[^aeiou]]+")),
     "hello&x&&y", "parse", [104, 101, 257, 111, 38, 120, 38, 38, 121], [[0, 1], [1, 2], [2, 4], [4, 5], [5, 6],
     [6, 7], [7, 8], [8, 9], [9, 10]]),
    ("C017", "a pattern no one knows is run as it stands", dict(merges=HELLO, pre_tokenizer=split("l(?=o)")),
     "hello", "parse", [256, 108, 108, 111], [[0, 2], [2, 3], [3, 4], [4, 5]]),
    ("C022", "CR LF is left alone", dict(merges=[["\r", "\n"], ["\r\n", "\r\n"]], pre_tokenizer=split(CL100K)),
     "one\r\ntwo\r\n\r\nthree", "parse", [111, 110, 101, 256, 116, 119, 111, 257, 116, 104, 114, 101, 101], [[0,
     1], [1, 2], [2, 3], [3, 5], [5, 6], [6, 7], [7, 8], [8, 12], [12, 13], [13, 14], [14, 15], [15, 16], [16,
     17]]),
    ("C024", "NFKC of half-width kana and a singleton", dict(normalizer={"type": "NFKC"}),
     "\uff80\u1fd3\uff9e\u1fd3", "parse", [227, 130, 191, 206, 144, 227, 130, 153, 206, 144], None),
    ("C024", "... also from NFD", dict(normalizer={"type": "NFKC"}),
     "\uff80\u03b9\u0308\u0301\uff9e\u03b9\u0308\u0301", "parse", [227, 130, 191, 206, 144, 227, 130, 153, 206,
     144], None),
    ("C025", "special tokens as text", dict(merges=HELLO, added=SPECIALS), "hello<|a|>hello", "text", [259, 60,
     124, 97, 124, 62, 259], [[0, 5], [5, 6], [6, 7], [7, 8], [8, 9], [9, 10], [10, 15]]),
    ("C025", "... and parsed", dict(merges=HELLO, added=SPECIALS), "hello<|a|>hello", "parse", [259, 261, 259],
     [[0, 5], [5, 10], [10, 15]]),
    ("C028", "the longest special token", dict(added=SPECIALS), "<|a|><|b|><|b|><|a|>", "parse", [257, 258,
     256], [[0, 10], [10, 15], [15, 20]]),
    ("C031", "rstrip takes blanks in", dict(merges=HELLO, added=[added("<|user|>", special=True,
     rstrip=True)]), "<|user|>   hello", "parse", [261, 259], [[0, 11], [11, 16]]),
    ("C031", "... and does not ask for them", dict(merges=HELLO, added=[added("<|user|>", special=True,
     rstrip=True)]), "<|user|>hello", "parse", [261, 259], [[0, 8], [8, 13]]),
    ("C033", "lstrip", dict(merges=HELLO, added=[added("<mask>", special=True, lstrip=True)]),
     "a  <mask> hello", "parse", [97, 261, 260], [[0, 1], [1, 9], [9, 15]]),
    ("C033", "both", dict(merges=HELLO, added=[added("<mask>", special=True, lstrip=True, rstrip=True)]),
     "a <mask>\n hello", "parse", [97, 261, 259], [[0, 1], [1, 10], [10, 15]]),
    ("C033", "blanks of Unicode", dict(added=[added("<mask>", special=True, lstrip=True, rstrip=True)]),
     "a\u00a0<mask>\u0085\u3000b", "parse", [97, 256, 98], [[0, 1], [1, 10], [10, 11]]),
    ("single", "single_word", dict(merges=HELLO, added=[added("lo", single_word=True)]),
     "lo hello lo-lo_lo \u00e9lo", "parse", [261, 260, 32, 261, 45, 108, 111, 95, 108, 111, 32, 195, 169, 108,
     111], [[0, 2], [2, 8], [8, 9], [9, 11], [11, 12], [12, 13], [13, 14], [14, 15], [15, 16], [16, 17], [17,
     18], [18, 19], [18, 19], [19, 20], [20, 21]]),
    ("lower", "matched by the normalised text", dict(normalizer={"type": "Lowercase"}, added=[added("Yes",
     normalized=True), added("NO")]), "YES yes no NO", "parse", [256, 32, 256, 32, 110, 111, 32, 257], [[0, 3],
     [3, 4], [4, 7], [7, 8], [8, 9], [9, 10], [10, 11], [11, 13]]),
    ("in vocab", "an added token that is a key of the vocabulary keeps its id", dict(merges=HELLO,
     added=[added("\u0120hello")]), "\u0120hello hello", "parse", [260, 260], [[0, 6], [6, 12]]),
    ("C035", "numbers in the file do not count", dict(added=[dict(added("<|x|>", special=True), id=5),
     dict(added("<|y|>", special=True), id=5)], keep_ids=True), "<|x|><|y|>", "parse", [256, 257], [[0, 5], [5,
     10]]),
    ("gap", "... nor do gaps", dict(added=[dict(added("<|gap|>", special=True), id=400)], keep_ids=True),
     "<|gap|>", "parse", [256], [[0, 7]]),
    ("C040", "a token of a blank and a third of an arrow", dict(merges=traps([" ", b"\xE2"])), "i \u2b62 j",
     "parse", [105, 256, 173, 162, 32, 106], [[0, 1], [1, 3], [2, 3], [2, 3], [3, 4], [4, 5]]),
    ("C041", "tokens that share a character", dict(merges=traps([b"\xF0", b"\x9F"], [b"\xF0\x9F", b"\x92"])),
     "\U0001f4a9\U0001f4a9", "parse", [257, 169, 257, 169], [[0, 1], [0, 1], [1, 2], [1, 2]]),
    ("C043", "no drift behind an accent and a special token", dict(merges=HELLO, added=[added("<|endoftext|>",
     special=True)]), "A, na\u00efve <|endoftext|> hello.", "parse", [65, 44, 32, 110, 97, 195, 175, 118, 101,
     32, 261, 260, 46], [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [5, 6], [6, 7], [7, 8], [8, 9], [9,
     22], [22, 28], [28, 29]]),
    ("C045", "one character, several tokens", dict(normalizer={"type": "NFKC"}), "\ufb01 \u2460\u2026x",
     "parse", [102, 105, 32, 49, 46, 46, 46, 120], [[0, 1], [0, 1], [1, 2], [2, 3], [3, 4], [3, 4], [3, 4], [4,
     5]]),
    ("C048", "blanks at the end", dict(merges=[[" ", " "], ["\n", "\n"]], pre_tokenizer=split(CL100K)),
     "end   \n\n  next  ", "parse", [101, 110, 100, 256, 32, 257, 32, 32, 110, 101, 120, 116, 256], [[0, 1], [1,
     2], [2, 3], [3, 5], [5, 6], [6, 8], [8, 9], [9, 10], [10, 11], [11, 12], [12, 13], [13, 14], [14, 16]]),
    ("C050", "the tail of one character and a whole one", dict(merges=traps([b"\xA2", b"\xE5"], [b"\xA2\xE5",
     b"\x8D"], [b"\xA2\xE5\x8D", b"\x95"])), "\u5ba2\u5355\u4ef7", "parse", [229, 174, 258, 228, 187, 183], [[0,
     1], [0, 1], [0, 2], [2, 3], [2, 3], [2, 3]]),
    ("C065", "NUL is data", dict(merges=[["b", "\x00"]]), "ab\x00cd", "parse", [97, 98, 0, 99, 100], [[0, 1],
     [1, 2], [2, 3], [3, 4], [4, 5]]),
    ("C066", "a NUL as a key is no byte of the alphabet", dict(model={"vocab+": ["\x00"]}), "a\x00b", "parse",
     [97, 0, 98], [[0, 1], [1, 2], [2, 3]]),
    ("C067", "U+2028 and its like end no record", dict(), "free)\u2028next\x85x\x0by", "parse", [102, 114, 101,
     101, 41, 226, 128, 168, 110, 101, 120, 116, 194, 133, 120, 11, 121], [[0, 1], [1, 2], [2, 3], [3, 4], [4,
     5], [5, 6], [5, 6], [5, 6], [6, 7], [7, 8], [8, 9], [9, 10], [10, 11], [10, 11], [11, 12], [12, 13], [13,
     14]]),
    ("C068", "a BOM is text", dict(merges=traps([b"\xBF", "H"])), "\ufeffHello", "parse", [239, 187, 191, 72,
     101, 108, 108, 111], [[0, 1], [0, 1], [0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6]]),
    ("C093", "pairs do not overlap", dict(merges=[["a", "a"]]), "aaaaa", "parse", [256, 256, 97], [[0, 2], [2,
     4], [4, 5]]),
    ("C096", "merges as strings", dict(merges=HELLO, string_merges=True), " hello", "parse", [260], [[0, 6]]),
    ("dup", "of equal merges the last one counts", dict(merges=[["a", "b"], ["b", "c"], ["a", "b"]]), "abc",
     "parse", [97, 257], [[0, 1], [1, 3]]),
    ("tie", "two ways to one token", dict(merges=[["a", "a"], ["aa", "a"], ["a", "aa"]]), "aaaaaaa", "parse",
     [256, 256, 257], [[0, 2], [2, 4], [4, 7]]),
    ("C079", "a digit of Gujarati", dict(pre_tokenizer=split(CL100K), merges=traps(["1", b"\xE0"])),
     "1\u0aea2", "parse", [256, 171, 170, 50], [[0, 2], [1, 2], [1, 2], [2, 3]]),
    ("long s", "'\u017f ends a word as 's does", dict(pre_tokenizer=split(CL100K), merges=traps(["'", b"\xC5"],
     [b"\xBF", "a"])), "it'\u017fa", "parse", [105, 116, 256, 191, 97], [[0, 1], [1, 2], [2, 4], [3, 4], [4,
     5]]),
    ("Removed", "what a pattern removes is no token", dict(merges=HELLO, pre_tokenizer=split(" +", "Removed")),
     " hello  hello ", "parse", [259, 259], [[1, 6], [8, 13]]),
    ("Contiguous", "neighbouring matches stay together", dict(merges=[["l", "l"], ["o", "l"]],
     pre_tokenizer=split("l", "Contiguous")), "hellol", "parse", [104, 101, 256, 111, 108], [[0, 1], [1, 2], [2,
     4], [4, 5], [5, 6]]),
    ("WithNext", "MergedWithNext", dict(merges=[["l", "l"], ["l", "o"]], pre_tokenizer=split("l",
     "MergedWithNext")), "hello", "parse", [104, 101, 108, 257], [[0, 1], [1, 2], [2, 3], [3, 5]]),
    ("WithPrevious", "MergedWithPrevious", dict(merges=[["l", "l"], ["e", "l"]], pre_tokenizer=split("l",
     "MergedWithPrevious")), "hello", "parse", [104, 257, 108, 111], [[0, 1], [1, 3], [3, 4], [4, 5]]),
    ("unk", "an unknown byte becomes the unknown token", dict(model={"vocab-": ["!", "?"], "unk_token": "#"}),
     "a!?b", "parse", [97, 35, 35, 98], [[0, 1], [1, 2], [2, 3], [3, 4]]),
    ("fuse", "neighbouring ones become one", dict(model={"vocab-": ["!", "?"], "unk_token": "#",
     "fuse_unk": True}), "a!?b", "parse", [97, 35, 98], [[0, 1], [1, 3], [3, 4]]),
    ("C021", "a byte without a token vanishes, and is counted", dict(model={"vocab-": ["!"]}), "!ab", "parse",
     [97, 98], None),
    ("prefix", "a blank before the text", dict(merges=HELLO, pre_tokenizer=dict(made.BYTE_LEVEL,
     add_prefix_space=True), added=[added("<|a|>", special=True)]), "hello<|a|>hello<|a|> hello", "parse", [260,
     261, 260, 261, 260], None),
    ("quirk", "bytes overtake an unknown character (ours: they share a range)", dict(chars=dict(chars="ab", bytes_of=[0xC3, 0xA9])),
     "x\xe9a\xe9", "parse", [1, 2, 0, 3, 1, 2], [[0, 2], [0, 2], [0, 2], [2, 3], [3, 4], [3, 4]]),
    ("quirk", "... one token of unknowns around them (ours: one range)", dict(chars=dict(chars="ab", bytes_of=[0xC3, 0xA9])),
     "xx\xe9x", "parse", [1, 2, 0], [[0, 4], [0, 4], [0, 4]]),
    ("quirk", "... two tokens without fuse_unk (ours: one range for the second)", dict(chars=dict(chars="ab", bytes_of=[0xC3, 0xA9],
     model={"fuse_unk": False})), "xy\xe9zb", "parse", [0, 1, 2, 0, 0, 4], [[0, 1], [1, 3], [1, 3], [1, 3], [3, 4], [4, 5]]),
    ("quirk", "... none without unk_token (ours: true places)", dict(chars=dict(chars="ab", bytes_of=[0xC3, 0xA9], model={"unk_token":
     None})), "x\xe9a", "parse", [1, 2, 3], [[1, 2], [1, 2], [2, 3]]),
    ("bytes", "all bytes of a character or none", dict(chars=dict(chars="a", bytes_of=[0xC3, 0xE4, 0xBD])),
     "\xe9\u4f60a", "parse", [0, 4], [[0, 2], [2, 3]]),
    ("bytes", "names in lower case do not count", dict(chars=dict(chars=["a", "<0xc3>", "<0xa9>"], bytes_of=[])),
     "\xe9a", "parse", [0, 1], [[0, 1], [1, 2]]),
    ("bytes", "bytes merge", dict(chars=dict(chars="ab", merges=[["<0xC3>", "<0xA9>"], ["a", "<0xC3><0xA9>"]])),
     "\xe9a\xe9", "parse", [259, 260], [[0, 1], [1, 3]]),
    ("bytes", "not asked for", dict(chars=dict(chars="ab", model={"byte_fallback": False})), "a\xe9b", "parse",
     [257, 0, 258], [[0, 1], [1, 2], [2, 3]]),
    ("llama", "the prefix", dict(chars=dict(chars=["a", META], merges=[[META, "a"]], **LLAMA)), "a a  a", "parse",
     [259, 259, 258, 259], [[0, 1], [1, 3], [3, 4], [4, 6]]),
    ("llama", "... also behind added tokens (ours: a lone prefix is empty)", dict(chars=dict(chars=["a", META], merges=[[META, "a"]],
     added=[added("<s>", special=True)], **LLAMA)), "a<s>a<s><s> a", "parse", [259, 260, 259, 260, 260, 258, 259],
     [[0, 1], [1, 4], [4, 5], [5, 8], [8, 11], [11, 11],
     [11, 13]]),
    ("llama", "... alone before a character of bytes (ours: it is empty)", dict(chars=dict(chars=["a", META], **LLAMA)), "\u4f60 a",
     "parse", [258, 229, 190, 161, 258, 257], [[0, 0], [0, 1], [0, 1], [0, 1], [1, 2], [2, 3]]),
    ("llama", "an added token matched by its normalised text", dict(chars=dict(chars=["a", META, "b"],
     added=[added("b", normalized=True)], **LLAMA)), "b ab b", "parse", [259, 258, 257, 259, 259], [[0, 1], [1, 2],
     [2, 3], [3, 4], [4, 6]]),
    ("affix", "end_of_word_suffix", dict(merges=[["l", "o</w>"]], model={"end_of_word_suffix": "</w>", "vocab+":
     ["o</w>", "a</w>", "lo</w>"], "merges": [["l", "o</w>"]]}), "lo loa a", "parse", [259, 32, 108, 111, 258, 32,
     258], [[0, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 8]]),
    ("affix", "continuing_subword_prefix", dict(chars=dict(chars=["a", "b", "##b", "##a", "ab"], bytes_of=[],
     model={"continuing_subword_prefix": "##", "merges": [["a", "##b"]]})), "abab", "parse", [5, 4, 3], [[0, 2], [2,
     3], [3, 4]]),
    ("affix", "... and byte_fallback of both (ours: they are empty)", dict(chars=dict(chars=["a"], model={"continuing_subword_prefix": "#",
     "end_of_word_suffix": "_"})), "ab", "parse", [257, 36, 99, 96], [[0, 1], [1, 1], [1, 2], [2, 2]]),
    ("metaspace", "always", dict(chars=dict(chars=["a", META], merges=[[META, "a"]], pre_tokenizer={"type":
     "Metaspace", "replacement": META, "prepend_scheme": "always", "split": True}, added=[added("<s>")])),
     "a a<s>a", "parse", [259, 259, 260, 259], [[0, 1], [1, 3], [3, 6], [6, 7]]),
    ("metaspace", "first", dict(chars=dict(chars=["a", META], merges=[[META, "a"]], pre_tokenizer={"type":
     "Metaspace", "replacement": META, "prepend_scheme": "first", "split": True}, added=[added("<s>")])), "a a<s>a",
     "parse", [259, 259, 260, 257], [[0, 1], [1, 3], [3, 6], [6, 7]]),
    ("metaspace", "never, not split", dict(chars=dict(chars=["a", META], merges=[["a", META], [META, "a"]],
     pre_tokenizer={"type": "Metaspace", "replacement": META, "prepend_scheme": "never", "split": False})), "a a a",
     "parse", [259, 259, 257], [[0, 2], [2, 4], [4, 5]]),
    ("odd", "of equal merges the last one counts", dict(chars=dict(chars="abc", merges=[["a", "b"], ["b", "c"],
     ["a", "b"]])), "abc", "parse", [257, 261], [[0, 1], [1, 3]]),
    ("odd", "a product with two splits", dict(chars=dict(chars="abc", merges=[["b", "c"], ["a", "b"], ["ab", "c"],
     ["a", "bc"]])), "abcab", "parse", [262, 261], [[0, 3], [3, 5]]),
    ("odd", "holes in the ids", dict(chars=dict(chars="", model={"vocab": {"<unk>": 7, "a": 3, "b": 900000, "ab":
     12}, "merges": [["a", "b"]]})), "abxa", "parse", [12, 7, 3], [[0, 2], [2, 3], [3, 4]]),
    ("odd", "an added token with the text of a token", dict(chars=dict(chars=["a", "b", "ab"], merges=[["a", "b"]],
     added=[added("ab"), added("b", special=True)])), "abab aab", "parse", [259, 259, 33, 257, 259], [[0, 2], [2,
     4], [4, 5], [5, 6], [6, 8]]),
    ("odd", "an added token that only merges give", dict(chars=dict(chars=["a", "b"], merges=[["a", "b"], ["ab",
     "a"]], added=[added("aba", single_word=True)])), "aba abab", "parse", [260, 33, 259, 259], [[0, 3], [3, 4], [4,
     6], [6, 8]]),
    ("odd", "numbers of added tokens in the middle of the vocabulary", dict(added=[dict(added("<x>"), id=97),
     dict(added("<y>"), id=5000), dict(added("a"), id=5)], keep_ids=True), "<x>a<y>b", "parse", [256, 97, 257, 98],
     [[0, 3], [3, 4], [4, 7], [7, 8]]),
]

# number, why, the file, words of the message
REFUSED = [
    ("C096", "a merge of three words", dict(merges=HELLO, model={"merges": ["a b c"]}), ["a b c"]),
    ("C127", "an unknown model", dict(model={"type": "Wat"}), ["Wat", "model"]),
    ("C127", "an unknown normalizer", dict(normalizer={"type": "Wat"}), ["Wat", "normalizer"]),
    ("C127", "an unknown pre_tokenizer", dict(pre_tokenizer={"type": "Wat"}), ["Wat", "pre_tokenizer"]),
    ("C127", "an unknown decoder", dict(decoder={"type": "Wat"}), ["Wat", "decoder"]),
    ("C128", "a merge whose product is no token", dict(model={"vocab": {"a": 0, "b": 1}, "merges": [["a",
     "b"]]}), ["ab"]),
    ("C128", "a merge of no token", dict(model={"merges": [["h", "ello"]]}), ["ello"]),
    ("C129", "a negative id", dict(model={"vocab": {"a": -33}}), ["id"]),
    ("C129", "a fraction as id", dict(model={"vocab": {"a": 33.5}}), ["id"]),
    ("C129", "an id above 2^32", dict(model={"vocab": {"a": 4294967296}}), ["id"]),
    ("C129", "half a surrogate pair", dict(model={"vocab": {"\ud83d": 1}}), ["surrogate"]),
    ("C129", "an empty file", "", ["empty"]),
    ("C129", "null", "null", ["object"]),
    ("C129", "200,000 brackets", "[" * 200000, ["deep"]),
    ("C129", "a file that ends in the middle", '{"version": "1.0", "model": {"type": "BP', ["ends"]),
    ("C017", "a backreference", dict(pre_tokenizer=split(r"(a)\1")), ["backreference"]),
    ("version", "another version", dict(version="2.0"), ["version"]),
]

# number, a text, how often, merges, how many tokens
LONG = [
    ("C069", "^", 1000000, 2, 250000), ("C070", "a", 100000, 3, 12500), ("C072", "Z", 131072, 1, 65536),
    ("C074", "A", 43000, 3, 5375), ("C075", "\n", 100000, 5, 3125), ("C076", "ACGTTGCA", 20000, 0, 160000),
    ("spaces", " ", 1000000, 7, 7813), ("han", "\u7684", 300000, 0, 900000),
]

failures = 0


def fail(number, why, what, want, got):
    global failures
    failures += 1
    print(f"FAIL {number} ({why}): {what}\n  want {str(want)[:300]}\n  got  {str(got)[:300]}")


def file_text(spec):
    """The tokenizer.json of a row. Beside made.tokenizer: vocab+ and vocab- of the model add and remove tokens,
    string_merges writes "a b", keep_ids leaves the ids of added tokens as the row gives them."""
    if isinstance(spec, str):
        return spec
    spec = dict(spec)
    if "chars" in spec and isinstance(spec["chars"], dict):
        return made.characters(**spec["chars"])
    keep_ids, strings = spec.pop("keep_ids", False), spec.pop("string_merges", False)
    model = dict(spec.pop("model", {}))
    more, less = model.pop("vocab+", []), model.pop("vocab-", [])
    data = json.loads(made.tokenizer(model=model, **spec))
    vocab = data["model"]["vocab"]
    for token in more:
        vocab[token] = len(vocab)
    for token in less:
        del vocab[token]
    if keep_ids:
        for one, given in zip(data["added_tokens"], spec["added"]):
            one["id"] = given["id"]
    if strings:
        data["model"]["merges"] = [" ".join(pair) for pair in data["model"]["merges"]]
    return json.dumps(data)


def check_rows(vocabularies):
    for number, why, spec, text, policy, ids, spans in ROWS:
        vocab = vocabularies.write("small.json", file_text(spec))
        answers = [common.encode(vocab, [text], "--special", policy, "--offsets", "char", *more)[0]
                   for more in ([], ["--no-scanner"])]
        for one in answers:
            if one["ids"] != ids:
                fail(number, why, "ids", ids, one["ids"])
            if spans is not None and one["spans"] != spans:
                fail(number, why, "spans", spans, one["spans"])


def check_refused(vocabularies):
    for number, why, spec, words in REFUSED:
        vocab = vocabularies.write("refused.json", file_text(spec))
        start = time.monotonic()
        done = common.run(["encode", "-v", vocab], b"a", timeout=60)
        message = done.stderr.decode("utf-8", "replace")
        if done.returncode not in (1, 2) or not all(word in message for word in words):
            fail(number, why, "must be refused", words, (done.returncode, message))
        if time.monotonic() - start > 5:
            fail(number, why, "seconds", "< 1", time.monotonic() - start)


def check_huge(vocabularies):
    """600,625 merges of 775 characters: loads in a moment, and each pair has the rank that the list gives it."""
    chars = [chr(0x4E00 + k) for k in range(775)]
    pairs = [[left, right] for left in chars for right in chars]
    vocab = vocabularies.write("huge.json", made.characters(chars, pairs, bytes_of=[]))
    start = time.monotonic()
    got = common.encode(vocab, ["".join(chars[:5]), chars[9] + chars[5] + chars[7] * 3], "--offsets", "none")
    if time.monotonic() - start > 20:
        fail("huge", "600,625 merges", "seconds", "< 2", time.monotonic() - start)

    def number(left, right):
        return 1 + len(chars) + left * len(chars) + right
    want = [[number(0, 1), number(2, 3), 1 + 4], [1 + 9, number(5, 7), number(7, 7)]]
    if [one["ids"] for one in got] != want:
        fail("huge", "600,625 merges", "ids", want, [one["ids"] for one in got])


def check_long(vocabularies):
    for number, text, times, n_merges, want in LONG:
        merges = [[text * 2 ** k, text * 2 ** k] for k in range(n_merges)]
        vocab = vocabularies.write("long.json", made.tokenizer(merges=merges))
        start = time.monotonic()
        done = common.run(["count", "-v", vocab, "-"], (text * times).encode())
        got = done.stdout.split()[:1]
        if got != [str(want).encode()]:
            fail(number, f"{times} times {text!r}", "tokens", want, got)
        if time.monotonic() - start > 20:
            fail(number, f"{times} times {text!r}", "seconds", "< 1", time.monotonic() - start)


def main():
    with common.Vocabularies() as vocabularies:
        check_rows(vocabularies)
        check_refused(vocabularies)
        check_huge(vocabularies)
        check_long(vocabularies)
    print(f"{len(ROWS)} texts, {len(REFUSED)} bad files, {len(LONG)} long inputs; {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
