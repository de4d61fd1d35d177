#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Writes data/unicode/{unicode,kind}_tables.c and tests/unit/unicode_golden.h from unicodedata2 16.0.0.
"""gen_unicode.py [ROOT]

Writes ROOT/data/unicode/unicode_tables.c, ROOT/data/unicode/kind_tables.c and
ROOT/tests/unit/unicode_golden.h (ROOT: the repository). The output depends on nothing but this file and
unicodedata2 16.0.0, byte for byte. What unicodedata2 does not hold stands below as constants, each with its
origin.
"""
import os
import re
import struct
import sys

try:
    import unicodedata2 as ucd
except ImportError:
    sys.exit("gen_unicode.py: needs unicodedata2==16.0.0 (python3 -m pip install unicodedata2==16.0.0)")

UNICODE = "16.0.0"
LAST = 0x10FFFF
PAGE_BITS = 7
FORMS = ("NFC", "NFD", "NFKC", "NFKD")

# The categories in the order of the enum in unicode.h.
CATEGORIES = (
    "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co".split()
)

# PropList.txt, White_Space: 25 code points, the same since Unicode 6.3.
WHITE_SPACE = "9-D 20 85 A0 1680 2000-200A 2028-2029 202F 205F 3000"

# PropList.txt, Join_Control.
JOIN_CONTROL = "200C-200D"

# PropList.txt, Other_Alphabetic, less its marks, which are word characters anyway: circled, squared and
# negative Latin letters, which are symbols (So).
ALPHABETIC_SYMBOLS = "24B6-24E9 1F130-1F149 1F150-1F169 1F170-1F189"

# Scripts.txt, Script=Han: every character whose name starts as below, and the iteration marks, the zero, the
# Hangzhou numerals, and the Chinese marks of the Ideographic Symbols block.
HAN_NAMES = ("CJK UNIFIED IDEOGRAPH-", "CJK COMPATIBILITY IDEOGRAPH-", "CJK RADICAL ", "KANGXI RADICAL ")
HAN_OTHERS = "3005 3007 3021-3029 3038-303B 16FE2-16FE3 16FF0-16FF1"

# Assigned in 16.0, not in 9.0. Derived once with perl 5.36 (Unicode 14.0): those that do not match
# /\p{Present_In: 9.0}/; what is younger than 14.0 does not match either. The matching ones, less the 66
# noncharacters, are what unicodedata2 9.0.0 calls assigned, on every code point.
YOUNGER_THAN_9 = """
560 588 5EF 61D 7FD-7FF 860-86A 870-88E 890-891 897-89F 8B5 8BE-8D3 9FC-9FE A76 AFA-AFF B55 C04 C3C C5D C77
C84 CDD CF3 D00 D04 D3B-D3C D81 E86 E89 E8C E8E-E93 E98 EA0 EA8-EA9 EAC EBA ECE 170D 1715 171F 180F 1878
1ABF-1ACE 1B4C 1B4E-1B4F 1B7D-1B7F 1C89-1C8A 1C90-1CBA 1CBD-1CBF 1CF7 1CFA 1DF6-1DFA 20BF-20C0 23FF
2427-2429 2B97 2BBA-2BBC 2BC9 2BD2-2BEB 2BF0-2BFF 2C2F 2C5F 2E45-2E5D 2FFC-2FFF 312E-312F 31BB-31BF
31E4-31E5 31EF 32FF 4DB6-4DBF 9FD6-9FFF A7AF A7B8-A7CD A7D0-A7D1 A7D3 A7D5-A7DC A7F2-A7F6 A82C A8FE-A8FF
AB66-AB6B FBC2 FD40-FD4F FDCF FDFE-FDFF 1019C 1032D-1032F 10570-1057A 1057C-1058A 1058C-10592 10594-10595
10597-105A1 105A3-105B1 105B3-105B9 105BB-105BC 105C0-105F3 10780-10785 10787-107B0 107B2-107BA 10A34-10A35
10A48 10D00-10D27 10D30-10D39 10D40-10D65 10D69-10D85 10D8E-10D8F 10E80-10EA9 10EAB-10EAD 10EB0-10EB1
10EC2-10EC4 10EFC-10F27 10F30-10F59 10F70-10F89 10FB0-10FCB 10FE0-10FF6 11070-11075 110C2 110CD 11144-11147
111CE-111CF 1123F-11241 1133B 11380-11389 1138B 1138E 11390-113B5 113B7-113C0 113C2 113C5 113C7-113CA
113CC-113D5 113D7-113D8 113E1-113E2 1145A 1145E-11461 116B8-116B9 116D0-116E3 1171A 11740-11746 11800-1183B
11900-11906 11909 1190C-11913 11915-11916 11918-11935 11937-11938 1193B-11946 11950-11959 119A0-119A7
119AA-119D7 119DA-119E4 11A00-11A47 11A50-11AA2 11AB0-11ABF 11B00-11B09 11BC0-11BE1 11BF0-11BF9 11D00-11D06
11D08-11D09 11D0B-11D36 11D3A 11D3C-11D3D 11D3F-11D47 11D50-11D59 11D60-11D65 11D67-11D68 11D6A-11D8E
11D90-11D91 11D93-11D98 11DA0-11DA9 11EE0-11EF8 11F00-11F10 11F12-11F3A 11F3E-11F5A 11FB0 11FC0-11FF1 11FFF
12F90-12FF2 1342F-13455 13460-143FA 16100-16139 16A70-16ABE 16AC0-16AC9 16D40-16D79 16E40-16E9A 16F45-16F4A
16F4F 16F7F-16F87 16FE1-16FE4 16FF0-16FF1 187ED-187F7 18AF3-18CD5 18CFF-18D08 1AFF0-1AFF3 1AFF5-1AFFB
1AFFD-1AFFE 1B002-1B122 1B132 1B150-1B152 1B155 1B164-1B167 1B170-1B2FB 1CC00-1CCF9 1CD00-1CEB3 1CF00-1CF2D
1CF30-1CF46 1CF50-1CFC3 1D1E9-1D1EA 1D2C0-1D2D3 1D2E0-1D2F3 1D372-1D378 1DF00-1DF1E 1DF25-1DF2A 1E030-1E06D
1E08F 1E100-1E12C 1E130-1E13D 1E140-1E149 1E14E-1E14F 1E290-1E2AE 1E2C0-1E2F9 1E2FF 1E4D0-1E4F9 1E5D0-1E5FA
1E5FF 1E7E0-1E7E6 1E7E8-1E7EB 1E7ED-1E7EE 1E7F0-1E7FE 1E94B 1EC71-1ECB4 1ED01-1ED3D 1F10D-1F10F 1F12F
1F16C-1F16F 1F1AD 1F260-1F265 1F6D3-1F6D7 1F6DC-1F6DF 1F6F7-1F6FC 1F774-1F776 1F77B-1F77F 1F7D5-1F7D9
1F7E0-1F7EB 1F7F0 1F8B0-1F8BB 1F8C0-1F8C1 1F900-1F90F 1F91F 1F928-1F92F 1F931-1F932 1F93F 1F94C-1F94F
1F95F-1F97F 1F992-1F9BF 1F9C1-1FA53 1FA60-1FA6D 1FA70-1FA7C 1FA80-1FA89 1FA8F-1FAC6 1FACE-1FADC 1FADF-1FAE9
1FAF0-1FAF8 1FB00-1FB92 1FB94-1FBF9 2A6D7-2A6DF 2B735-2B739 2CEB0-2EBE0 2EBF0-2EE5D 30000-3134A 31350-323AF
"""

# CaseFolding.txt, status C and S, as runs "first[-last][/step]+delta". Derived once from perl 5.36 (Unicode
# 14.0), Unicode::UCD::all_casefolds(), column simple. With the additions below, the classes of code points
# that fold alike are those that (?i:c) matches in tiktoken 0.14.0 (Rust regex, Unicode 16.0), for each cased
# c.
FOLDS_14 = """
41-5A+32 B5+775 C0-D6+32 D8-DE+32 100-12E/2+1 132-136/2+1 139-147/2+1 14A-176/2+1 178-121 179-17D/2+1
17F-268 181+210 182-184/2+1 186+206 187+1 189-18A+205 18B+1 18E+79 18F+202 190+203 191+1 193+205 194+207
196+211 197+209 198+1 19C+211 19D+213 19F+214 1A0-1A4/2+1 1A6+218 1A7+1 1A9+218 1AC+1 1AE+218 1AF+1
1B1-1B2+217 1B3-1B5/2+1 1B7+219 1B8+1 1BC+1 1C4+2 1C5+1 1C7+2 1C8+1 1CA+2 1CB-1DB/2+1 1DE-1EE/2+1 1F1+2
1F2-1F4/2+1 1F6-97 1F7-56 1F8-21E/2+1 220-130 222-232/2+1 23A+10795 23B+1 23D-163 23E+10792 241+1 243-195
244+69 245+71 246-24E/2+1 345+116 370-372/2+1 376+1 37F+116 386+38 388-38A+37 38C+64 38E-38F+63 391-3A1+32
3A3-3AB+32 3C2+1 3CF+8 3D0-30 3D1-25 3D5-15 3D6-22 3D8-3EE/2+1 3F0-54 3F1-48 3F4-60 3F5-64 3F7+1 3F9-7 3FA+1
3FD-3FF-130 400-40F+80 410-42F+32 460-480/2+1 48A-4BE/2+1 4C0+15 4C1-4CD/2+1 4D0-52E/2+1 531-556+48
10A0-10C5+7264 10C7+7264 10CD+7264 13F8-13FD-8 1C80-6222 1C81-6221 1C82-6212 1C83-1C84-6210 1C85-6211
1C86-6204 1C87-6180 1C88+35267 1C90-1CBA-3008 1CBD-1CBF-3008 1E00-1E94/2+1 1E9B-58 1E9E-7615 1EA0-1EFE/2+1
1F08-1F0F-8 1F18-1F1D-8 1F28-1F2F-8 1F38-1F3F-8 1F48-1F4D-8 1F59-1F5F/2-8 1F68-1F6F-8 1F88-1F8F-8
1F98-1F9F-8 1FA8-1FAF-8 1FB8-1FB9-8 1FBA-1FBB-74 1FBC-9 1FBE-7173 1FC8-1FCB-86 1FCC-9 1FD8-1FD9-8
1FDA-1FDB-100 1FE8-1FE9-8 1FEA-1FEB-112 1FEC-7 1FF8-1FF9-128 1FFA-1FFB-126 1FFC-9 2126-7517 212A-8383
212B-8262 2132+28 2160-216F+16 2183+1 24B6-24CF+26 2C00-2C2F+48 2C60+1 2C62-10743 2C63-3814 2C64-10727
2C67-2C6B/2+1 2C6D-10780 2C6E-10749 2C6F-10783 2C70-10782 2C72+1 2C75+1 2C7E-2C7F-10815 2C80-2CE2/2+1
2CEB-2CED/2+1 2CF2+1 A640-A66C/2+1 A680-A69A/2+1 A722-A72E/2+1 A732-A76E/2+1 A779-A77B/2+1 A77D-35332
A77E-A786/2+1 A78B+1 A78D-42280 A790-A792/2+1 A796-A7A8/2+1 A7AA-42308 A7AB-42319 A7AC-42315 A7AD-42305
A7AE-42308 A7B0-42258 A7B1-42282 A7B2-42261 A7B3+928 A7B4-A7C2/2+1 A7C4-48 A7C5-42307 A7C6-35384
A7C7-A7C9/2+1 A7D0+1 A7D6-A7D8/2+1 A7F5+1 AB70-ABBF-38864 FF21-FF3A+32 10400-10427+40 104B0-104D3+40
10570-1057A+39 1057C-1058A+39 1058C-10592+39 10594-10595+39 10C80-10CB2+64 118A0-118BF+32 16E40-16E5F+32
1E900-1E921+34
"""

# What Unicode 15.1 added (three pairs that differ only by a normalisation) and 16.0 (Latin Extended-D,
# Cyrillic Extended-C, Garay); 15.0 added none.
FOLDS_15_16 = "1FD3-7235 1FE3-7219 FB05+1 1C89+1 A7CB-42343 A7CC+1 A7DA+1 A7DC-42561 10D50-10D65+32"

# What UnicodeScripts (Hugging Face tokenizers) takes for the script of a code point. Measured over all code
# points with tokenizers 0.23.3: two of them are alike when "ab" is not cut, and what stands nowhere here is
# never cut at. That is Scripts.txt of Unicode 9.0, less the blank, with Hiragana, Katakana and U+30FC counted
# as Han: equal to perl 5.36 (Unicode 14.0) in the view of 9.0 but for 589, 61C, 953 and 954, moved later.
SCRIPTS = """
Common: 0-1F 21-40 5B-60 7B-A9 AB-B9 BB-BF D7 F7 2B9-2DF 2E5-2E9 2EC-2FF 374 37E 385 387 589 605 60C 61B-61C
61F 640 6DD 8E2 964-965 E3F FD5-FD8 10FB 16EB-16ED 1735-1736 1802-1803 1805 1CD3 1CE1 1CE9-1CEC 1CEE-1CF3
1CF5-1CF6 2000-200B 200E-2064 2066-2070 2074-207E 2080-208E 20A0-20BE 2100-2125 2127-2129 212C-2131 2133-214D
214F-215F 2189-218B 2190-23FE 2400-2426 2440-244A 2460-27FF 2900-2B73 2B76-2B95 2B98-2BB9 2BBD-2BC8 2BCA-2BD1
2BEC-2BEF 2E00-2E44 2FF0-2FFB 3000-3004 3006 3008-3020 3030-3037 303C-303F 309B-309C 30A0 30FB 3190-319F
31C0-31E3 3220-325F 327F-32CF 3358-33FF 4DC0-4DFF A700-A721 A788-A78A A830-A839 A92E A9CF AB5B FD3E-FD3F
FE10-FE19 FE30-FE52 FE54-FE66 FE68-FE6B FEFF FF01-FF20 FF3B-FF40 FF5B-FF65 FF70 FF9E-FF9F FFE0-FFE6 FFE8-FFEE
FFF9-FFFD 10100-10102 10107-10133 10137-1013F 10190-1019B 101D0-101FC 102E1-102FB 1BCA0-1BCA3 1D000-1D0F5
1D100-1D126 1D129-1D166 1D16A-1D17A 1D183-1D184 1D18C-1D1A9 1D1AE-1D1E8 1D300-1D356 1D360-1D371 1D400-1D454
1D456-1D49C 1D49E-1D49F 1D4A2 1D4A5-1D4A6 1D4A9-1D4AC 1D4AE-1D4B9 1D4BB 1D4BD-1D4C3 1D4C5-1D505 1D507-1D50A
1D50D-1D514 1D516-1D51C 1D51E-1D539 1D53B-1D53E 1D540-1D544 1D546 1D54A-1D550 1D552-1D6A5 1D6A8-1D7CB
1D7CE-1D7FF 1F000-1F02B 1F030-1F093 1F0A0-1F0AE 1F0B1-1F0BF 1F0C1-1F0CF 1F0D1-1F0F5 1F100-1F10C 1F110-1F12E
1F130-1F16B 1F170-1F1AC 1F1E6-1F1FF 1F201-1F202 1F210-1F23B 1F240-1F248 1F250-1F251 1F300-1F6D2 1F6E0-1F6EC
1F6F0-1F6F6 1F700-1F773 1F780-1F7D4 1F800-1F80B 1F810-1F847 1F850-1F859 1F860-1F887 1F890-1F8AD 1F910-1F91E
1F920-1F927 1F930 1F933-1F93E 1F940-1F94B 1F950-1F95E 1F980-1F991 1F9C0 E0001 E0020-E007F Latin: 41-5A 61-7A
AA BA C0-D6 D8-F6 F8-2B8 2E0-2E4 1D00-1D25 1D2C-1D5C 1D62-1D65 1D6B-1D77 1D79-1DBE 1E00-1EFF 2071 207F
2090-209C 212A-212B 2132 214E 2160-2188 2C60-2C7F A722-A787 A78B-A7AE A7B0-A7B7 A7F7-A7FF AB30-AB5A AB5C-AB64
FB00-FB06 FF21-FF3A FF41-FF5A Bopomofo: 2EA-2EB 3105-312D 31A0-31BA Inherited: 300-36F 485-486 64B-655 670
951-952 1AB0-1ABE 1CD0-1CD2 1CD4-1CE0 1CE2-1CE8 1CED 1CF4 1CF8-1CF9 1DC0-1DF5 1DFB-1DFF 200C-200D 20D0-20F0
302A-302D 3099-309A FE00-FE0F FE20-FE2D 101FD 102E0 1D167-1D169 1D17B-1D182 1D185-1D18B 1D1AA-1D1AD
E0100-E01EF Greek: 370-373 375-377 37A-37D 37F 384 386 388-38A 38C 38E-3A1 3A3-3E1 3F0-3FF 1D26-1D2A 1D5D-1D61
1D66-1D6A 1DBF 1F00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D 1F50-1F57 1F59 1F5B 1F5D 1F5F-1F7D 1F80-1FB4 1FB6-1FC4
1FC6-1FD3 1FD6-1FDB 1FDD-1FEF 1FF2-1FF4 1FF6-1FFE 2126 AB65 10140-1018E 101A0 1D200-1D245 Coptic: 3E2-3EF
2C80-2CF3 2CF9-2CFF Cyrillic: 400-484 487-52F 1C80-1C88 1D2B 1D78 2DE0-2DFF A640-A69F FE2E-FE2F Armenian:
531-556 559-55F 561-587 58A 58D-58F FB13-FB17 Hebrew: 591-5C7 5D0-5EA 5F0-5F4 FB1D-FB36 FB38-FB3C FB3E
FB40-FB41 FB43-FB44 FB46-FB4F Arabic: 600-604 606-60B 60D-61A 61E 620-63F 641-64A 656-66F 671-6DC 6DE-6FF
750-77F 8A0-8B4 8B6-8BD 8D4-8E1 8E3-8FF FB50-FBC1 FBD3-FD3D FD50-FD8F FD92-FDC7 FDF0-FDFD FE70-FE74 FE76-FEFC
10E60-10E7E 1EE00-1EE03 1EE05-1EE1F 1EE21-1EE22 1EE24 1EE27 1EE29-1EE32 1EE34-1EE37 1EE39 1EE3B 1EE42 1EE47
1EE49 1EE4B 1EE4D-1EE4F 1EE51-1EE52 1EE54 1EE57 1EE59 1EE5B 1EE5D 1EE5F 1EE61-1EE62 1EE64 1EE67-1EE6A
1EE6C-1EE72 1EE74-1EE77 1EE79-1EE7C 1EE7E 1EE80-1EE89 1EE8B-1EE9B 1EEA1-1EEA3 1EEA5-1EEA9 1EEAB-1EEBB
1EEF0-1EEF1 Syriac: 700-70D 70F-74A 74D-74F Thaana: 780-7B1 Nko: 7C0-7FA Samaritan: 800-82D 830-83E Mandaic:
840-85B 85E Devanagari: 900-950 953-963 966-97F A8E0-A8FD Bengali: 980-983 985-98C 98F-990 993-9A8 9AA-9B0 9B2
9B6-9B9 9BC-9C4 9C7-9C8 9CB-9CE 9D7 9DC-9DD 9DF-9E3 9E6-9FB Gurmukhi: A01-A03 A05-A0A A0F-A10 A13-A28 A2A-A30
A32-A33 A35-A36 A38-A39 A3C A3E-A42 A47-A48 A4B-A4D A51 A59-A5C A5E A66-A75 Gujarati: A81-A83 A85-A8D A8F-A91
A93-AA8 AAA-AB0 AB2-AB3 AB5-AB9 ABC-AC5 AC7-AC9 ACB-ACD AD0 AE0-AE3 AE6-AF1 AF9 Oriya: B01-B03 B05-B0C B0F-B10
B13-B28 B2A-B30 B32-B33 B35-B39 B3C-B44 B47-B48 B4B-B4D B56-B57 B5C-B5D B5F-B63 B66-B77 Tamil: B82-B83 B85-B8A
B8E-B90 B92-B95 B99-B9A B9C B9E-B9F BA3-BA4 BA8-BAA BAE-BB9 BBE-BC2 BC6-BC8 BCA-BCD BD0 BD7 BE6-BFA Telugu:
C00-C03 C05-C0C C0E-C10 C12-C28 C2A-C39 C3D-C44 C46-C48 C4A-C4D C55-C56 C58-C5A C60-C63 C66-C6F C78-C7F
Kannada: C80-C83 C85-C8C C8E-C90 C92-CA8 CAA-CB3 CB5-CB9 CBC-CC4 CC6-CC8 CCA-CCD CD5-CD6 CDE CE0-CE3 CE6-CEF
CF1-CF2 Malayalam: D01-D03 D05-D0C D0E-D10 D12-D3A D3D-D44 D46-D48 D4A-D4F D54-D63 D66-D7F Sinhala: D82-D83
D85-D96 D9A-DB1 DB3-DBB DBD DC0-DC6 DCA DCF-DD4 DD6 DD8-DDF DE6-DEF DF2-DF4 111E1-111F4 Thai: E01-E3A E40-E5B
Lao: E81-E82 E84 E87-E88 E8A E8D E94-E97 E99-E9F EA1-EA3 EA5 EA7 EAA-EAB EAD-EB9 EBB-EBD EC0-EC4 EC6 EC8-ECD
ED0-ED9 EDC-EDF Tibetan: F00-F47 F49-F6C F71-F97 F99-FBC FBE-FCC FCE-FD4 FD9-FDA Myanmar: 1000-109F A9E0-A9FE
AA60-AA7F Georgian: 10A0-10C5 10C7 10CD 10D0-10FA 10FC-10FF 2D00-2D25 2D27 2D2D Hangul: 1100-11FF 302E-302F
3131-318E 3200-321E 3260-327E A960-A97C AC00-D7A3 D7B0-D7C6 D7CB-D7FB FFA0-FFBE FFC2-FFC7 FFCA-FFCF FFD2-FFD7
FFDA-FFDC Ethiopic: 1200-1248 124A-124D 1250-1256 1258 125A-125D 1260-1288 128A-128D 1290-12B0 12B2-12B5
12B8-12BE 12C0 12C2-12C5 12C8-12D6 12D8-1310 1312-1315 1318-135A 135D-137C 1380-1399 2D80-2D96 2DA0-2DA6
2DA8-2DAE 2DB0-2DB6 2DB8-2DBE 2DC0-2DC6 2DC8-2DCE 2DD0-2DD6 2DD8-2DDE AB01-AB06 AB09-AB0E AB11-AB16 AB20-AB26
AB28-AB2E Cherokee: 13A0-13F5 13F8-13FD AB70-ABBF Canadian_Aboriginal: 1400-167F 18B0-18F5 Ogham: 1680-169C
Runic: 16A0-16EA 16EE-16F8 Tagalog: 1700-170C 170E-1714 Hanunoo: 1720-1734 Buhid: 1740-1753 Tagbanwa:
1760-176C 176E-1770 1772-1773 Khmer: 1780-17DD 17E0-17E9 17F0-17F9 19E0-19FF Mongolian: 1800-1801 1804
1806-180E 1810-1819 1820-1877 1880-18AA 11660-1166C Limbu: 1900-191E 1920-192B 1930-193B 1940 1944-194F
Tai_Le: 1950-196D 1970-1974 New_Tai_Lue: 1980-19AB 19B0-19C9 19D0-19DA 19DE-19DF Buginese: 1A00-1A1B 1A1E-1A1F
Tai_Tham: 1A20-1A5E 1A60-1A7C 1A7F-1A89 1A90-1A99 1AA0-1AAD Balinese: 1B00-1B4B 1B50-1B7C Sundanese: 1B80-1BBF
1CC0-1CC7 Batak: 1BC0-1BF3 1BFC-1BFF Lepcha: 1C00-1C37 1C3B-1C49 1C4D-1C4F Ol_Chiki: 1C50-1C7F Braille:
2800-28FF Glagolitic: 2C00-2C2E 2C30-2C5E 1E000-1E006 1E008-1E018 1E01B-1E021 1E023-1E024 1E026-1E02A
Tifinagh: 2D30-2D67 2D6F-2D70 2D7F Han: 2E80-2E99 2E9B-2EF3 2F00-2FD5 3005 3007 3021-3029 3038-303B 3041-3096
309D-309F 30A1-30FA 30FC-30FF 31F0-31FF 32D0-32FE 3300-3357 3400-4DB5 4E00-9FD5 F900-FA6D FA70-FAD9 FF66-FF6F
FF71-FF9D 1B000-1B001 1F200 20000-2A6D6 2A700-2B734 2B740-2B81D 2B820-2CEA1 2F800-2FA1D Yi: A000-A48C
A490-A4C6 Lisu: A4D0-A4FF Vai: A500-A62B Bamum: A6A0-A6F7 16800-16A38 Syloti_Nagri: A800-A82B Phags_Pa:
A840-A877 Saurashtra: A880-A8C5 A8CE-A8D9 Kayah_Li: A900-A92D A92F Rejang: A930-A953 A95F Javanese: A980-A9CD
A9D0-A9D9 A9DE-A9DF Cham: AA00-AA36 AA40-AA4D AA50-AA59 AA5C-AA5F Tai_Viet: AA80-AAC2 AADB-AADF Meetei_Mayek:
AAE0-AAF6 ABC0-ABED ABF0-ABF9 Linear_B: 10000-1000B 1000D-10026 10028-1003A 1003C-1003D 1003F-1004D
10050-1005D 10080-100FA Lycian: 10280-1029C Carian: 102A0-102D0 Old_Italic: 10300-10323 Gothic: 10330-1034A
Old_Permic: 10350-1037A Ugaritic: 10380-1039D 1039F Old_Persian: 103A0-103C3 103C8-103D5 Deseret: 10400-1044F
Shavian: 10450-1047F Osmanya: 10480-1049D 104A0-104A9 Osage: 104B0-104D3 104D8-104FB Elbasan: 10500-10527
Caucasian_Albanian: 10530-10563 1056F Linear_A: 10600-10736 10740-10755 10760-10767 Cypriot: 10800-10805 10808
1080A-10835 10837-10838 1083C 1083F Imperial_Aramaic: 10840-10855 10857-1085F Palmyrene: 10860-1087F
Nabataean: 10880-1089E 108A7-108AF Hatran: 108E0-108F2 108F4-108F5 108FB-108FF Phoenician: 10900-1091B 1091F
Lydian: 10920-10939 1093F Meroitic_Hieroglyphs: 10980-1099F Meroitic_Cursive: 109A0-109B7 109BC-109CF
109D2-109FF Kharoshthi: 10A00-10A03 10A05-10A06 10A0C-10A13 10A15-10A17 10A19-10A33 10A38-10A3A 10A3F-10A47
10A50-10A58 Old_South_Arabian: 10A60-10A7F Old_North_Arabian: 10A80-10A9F Manichaean: 10AC0-10AE6 10AEB-10AF6
Avestan: 10B00-10B35 10B39-10B3F Inscriptional_Parthian: 10B40-10B55 10B58-10B5F Inscriptional_Pahlavi:
10B60-10B72 10B78-10B7F Psalter_Pahlavi: 10B80-10B91 10B99-10B9C 10BA9-10BAF Old_Turkic: 10C00-10C48
Old_Hungarian: 10C80-10CB2 10CC0-10CF2 10CFA-10CFF Brahmi: 11000-1104D 11052-1106F 1107F Kaithi: 11080-110C1
Sora_Sompeng: 110D0-110E8 110F0-110F9 Chakma: 11100-11134 11136-11143 Mahajani: 11150-11176 Sharada:
11180-111CD 111D0-111DF Khojki: 11200-11211 11213-1123E Multani: 11280-11286 11288 1128A-1128D 1128F-1129D
1129F-112A9 Khudawadi: 112B0-112EA 112F0-112F9 Grantha: 11300-11303 11305-1130C 1130F-11310 11313-11328
1132A-11330 11332-11333 11335-11339 1133C-11344 11347-11348 1134B-1134D 11350 11357 1135D-11363 11366-1136C
11370-11374 Newa: 11400-11459 1145B 1145D Tirhuta: 11480-114C7 114D0-114D9 Siddham: 11580-115B5 115B8-115DD
Modi: 11600-11644 11650-11659 Takri: 11680-116B7 116C0-116C9 Ahom: 11700-11719 1171D-1172B 11730-1173F
Warang_Citi: 118A0-118F2 118FF Pau_Cin_Hau: 11AC0-11AF8 Bhaiksuki: 11C00-11C08 11C0A-11C36 11C38-11C45
11C50-11C6C Marchen: 11C70-11C8F 11C92-11CA7 11CA9-11CB6 Cuneiform: 12000-12399 12400-1246E 12470-12474
12480-12543 Egyptian_Hieroglyphs: 13000-1342E Anatolian_Hieroglyphs: 14400-14646 Mro: 16A40-16A5E 16A60-16A69
16A6E-16A6F Bassa_Vah: 16AD0-16AED 16AF0-16AF5 Pahawh_Hmong: 16B00-16B45 16B50-16B59 16B5B-16B61 16B63-16B77
16B7D-16B8F Miao: 16F00-16F44 16F50-16F7E 16F8F-16F9F Tangut: 16FE0 17000-187EC 18800-18AF2 Duployan:
1BC00-1BC6A 1BC70-1BC7C 1BC80-1BC88 1BC90-1BC99 1BC9C-1BC9F SignWriting: 1D800-1DA8B 1DA9B-1DA9F 1DAA1-1DAAF
Mende_Kikakui: 1E800-1E8C4 1E8C7-1E8D6 Adlam: 1E900-1E94A 1E950-1E959 1E95E-1E95F
"""

# Letters named "... CAPITAL LETTER ..." whose fold is not the one named "... SMALL LETTER ...": check_folds
# compares all others by name.
FOLD_NOT_BY_NAME = {0x18E}  # REVERSED E folds to TURNED E

# The first halves of the pairs that test_normalize.c normalises: Latin, Greek, Cyrillic, Hangul Jamo,
# Balinese, the Latin and Greek extensions, kana, some Hangul syllables.
PAIR_BLOCKS = "20-5FF 1100-11FF 1B00-1B7F 1E00-1FFF 3040-30FF AC00-AC3F"


def ranges(text):
    """The code points of "9-D 20 ..."."""
    points = set()
    for word in text.split():
        first, _, last = word.partition("-")
        points.update(range(int(first, 16), int(last or first, 16) + 1))
    return points


def parse_folds(text):
    """The mapping that runs "first[-last][/step]+delta" stand for."""
    folds = {}
    for word in text.split():
        match = re.fullmatch(r"([0-9A-F]+)(?:-([0-9A-F]{2,}))?(/2)?([+-][0-9]+)", word)
        first, last = int(match[1], 16), int(match[2] or match[1], 16)
        for cp in range(first, last + 1, 2 if match[3] else 1):
            folds[cp] = cp + int(match[4])
    return folds


def parse_scripts(text):
    """The number of the script of each code point, in the order of the text; 0 for none."""
    scripts, number = bytearray(LAST + 1), 0
    for word in text.split():
        if word.endswith(":"):
            number += 1
            continue
        for cp in ranges(word):
            assert scripts[cp] == 0, word
            scripts[cp] = number
    return bytes(scripts)


def check_folds(folds):
    """Are the folds assigned, idempotent, and those that the names of capital letters tell."""
    for cp, to in folds.items():
        assert ucd.category(chr(cp)) != "Cn" and ucd.category(chr(to)) != "Cn", hex(cp)
        assert to not in folds, hex(cp)
    for cp in range(LAST + 1):
        name = ucd.name(chr(cp), "")
        if " CAPITAL LETTER " not in name or ucd.category(chr(cp)) != "Lu" or cp in FOLD_NOT_BY_NAME:
            continue
        try:
            small = ord(ucd.lookup(name.replace(" CAPITAL LETTER ", " SMALL LETTER ")))
        except KeyError:
            continue
        assert folds.get(cp) == small, name


def second_parts(in_9):
    """The code points that may be the second half of a canonical composition, in the 9.0 view."""
    seconds = set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))  # Hangul vowels and final consonants
    for cp in in_9:
        parts = ucd.decomposition(chr(cp)).split()
        if len(parts) == 2 and not parts[0].startswith("<") and ucd.normalize("NFC", chr(cp)) == chr(cp):
            seconds.add(int(parts[1], 16))
    return seconds


def inert(form, in_9, seconds):
    """Starters that a normal form keeps. In NFC and NFKC they must not be the second half of a composition;
    then a run of them is unchanged, and text may be cut before any of them. What is not in the view is
    inert."""
    points = set()
    for cp in range(LAST + 1):
        if 0xD800 <= cp <= 0xDFFF or cp not in in_9:
            points.add(cp)
        elif ucd.combining(chr(cp)) == 0 and ucd.normalize(form, chr(cp)) == chr(cp):
            if form in ("NFD", "NFKD") or cp not in seconds:
                points.add(cp)
    return points


def quiet_marks(in_9, seconds):
    """Marks (combining class not 0) that all normal forms keep and that are no second half of a composition."""
    points = set()
    for cp in in_9 - seconds:
        if ucd.combining(chr(cp)) != 0 and all(ucd.normalize(form, chr(cp)) == chr(cp) for form in FORMS):
            points.add(cp)
    return points


def check_view(in_9, seconds, inert_nfc):
    """What the normaliser relies on: decompositions stay in the view, and an inert character that decomposes
    does so to a starter that composes with nothing before it."""
    for cp in in_9:
        if 0xD800 <= cp <= 0xDFFF:
            continue
        parts = [ord(c) for c in ucd.normalize("NFKD", chr(cp))]
        assert all(p in in_9 for p in parts), hex(cp)
        head = ord(ucd.normalize("NFD", chr(cp))[0])
        if cp in inert_nfc:
            assert head not in seconds and ucd.combining(chr(head)) == 0, hex(cp)


def properties():
    """All properties: the category of each code point, the sets in the order of their bits, the folds."""
    gc = [ucd.category(chr(cp)) for cp in range(LAST + 1)]
    word_gc = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"}
    word = {cp for cp in range(LAST + 1) if gc[cp] in word_gc}
    han = {cp for cp in range(LAST + 1) if ucd.name(chr(cp), "").startswith(HAN_NAMES)}
    in_9 = {cp for cp in range(LAST + 1) if gc[cp] != "Cn"} - ranges(YOUNGER_THAN_9)
    folds = parse_folds(FOLDS_14 + FOLDS_15_16)
    check_folds(folds)
    seconds = second_parts(in_9)
    forms = {form: inert(form, in_9, seconds) for form in FORMS}
    check_view(in_9, seconds, forms["NFC"])
    sets = {
        "SPACE": ranges(WHITE_SPACE),
        "WORD": word | ranges(ALPHABETIC_SYMBOLS) | ranges(JOIN_CONTROL),
        "HAN": han | ranges(HAN_OTHERS),
        "IN_9": in_9,
        "NFC_INERT": forms["NFC"],
        "FOLDS": set(folds) | set(folds.values()),
        "NFD_INERT": forms["NFD"],
        "NFKC_INERT": forms["NFKC"],
        "NFKD_INERT": forms["NFKD"],
        "NFC_SECOND": seconds,
        "QUIET_MARK": quiet_marks(in_9, seconds),
    }
    return gc, sets, folds


def build_pages(gc, sets):
    """The two-stage table: page numbers, and the records of the distinct pages."""
    number = {name: i for i, name in enumerate(CATEGORIES)}
    records = [number[c] for c in gc]
    for bit, points in enumerate(sets.values(), start=5):
        for cp in points:
            records[cp] |= 1 << bit
    pages, seen, out = [], {}, []
    for start in range(0, LAST + 1, 1 << PAGE_BITS):
        page = tuple(records[start : start + (1 << PAGE_BITS)])
        if page not in seen:
            seen[page] = len(seen)
            out.extend(page)
        pages.append(seen[page])
    return pages, out


def fold_runs(folds):
    """The folds as sorted runs (first, last, delta, step) that do not interleave."""
    runs = []
    for cp in sorted(folds):
        delta = folds[cp] - cp
        if runs:
            first, last, run_delta, step = runs[-1]
            gap = cp - last
            if run_delta == delta and gap in ((1, 2) if first == last else (step,)):
                runs[-1] = (first, cp, delta, gap)
                continue
        runs.append((cp, cp, delta, 1))
    return runs


def script_starts(scripts):
    """Where each run of one script begins: code point << 8 | script."""
    return [cp << 8 | scripts[cp] for cp in range(LAST + 1) if cp == 0 or scripts[cp] != scripts[cp - 1]]


def lines_of(items, width=110):
    """The items, joined with ", ", in indented lines of at most width columns."""
    line, lines = "   ", []
    for item in items:
        if len(line) + len(item) + 2 > width:
            lines.append(line)
            line = "   "
        line += " " + item + ","
    return lines + [line]


SEARCH = """\
unsigned dstok__uc_script(uint32_t cp) {
    size_t low = 0, high = sizeof script_starts / sizeof *script_starts;
    while (high - low > 1) { /* the run begins at low or behind it, and before high */
        size_t middle = (low + high) / 2;
        if (script_starts[middle] >> 8 <= cp)
            low = middle;
        else
            high = middle;
    }
    return script_starts[low] & 0xFF;
}

uint32_t dstok__uc_fold(uint32_t cp) {
    if ((dstok__uc_record(cp) & DSTOK_UC_FOLDS) == 0) return cp;
    size_t low = 0, high = sizeof fold_runs / sizeof *fold_runs;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (fold_runs[middle].last < cp)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == sizeof fold_runs / sizeof *fold_runs) return cp;
    const fold_run *run = &fold_runs[low];
    if (cp < run->first || (cp - run->first) % run->step != 0) return cp;
    return (uint32_t)((int32_t)cp + run->delta);
}"""


def table_source(pages, records, runs, starts):
    size = 2 * len(pages) + 2 * len(records) + 16 * len(runs) + 4 * len(starts)
    text = [
        "/* SPDX-License-Identifier: MIT */",
        "/* Unicode %s properties as two-stage tables. */" % UNICODE,
        "/* Generated by data/unicode/gen_unicode.py from unicodedata2 %s; do not edit." % UNICODE,
        " * %d pages of %d records, %d distinct; %d fold runs; %d script runs; %d bytes in all. */"
        % (len(pages), 1 << PAGE_BITS, len(records) >> PAGE_BITS, len(runs), len(starts), size),
        '#include "unicode.h"',
        "",
        "#include <stddef.h>",
        "",
        "/* clang-format off */",
        "const uint16_t dstok__uc_pages[%d] = {" % len(pages),
        *lines_of(map(str, pages)),
        "};",
        "",
        "const uint16_t dstok__uc_records[%d] = {" % len(records),
        *lines_of(map(str, records)),
        "};",
        "",
        "/* first, first + step, ... last each fold to themselves + delta */",
        "typedef struct fold_run {",
        "    uint32_t first, last;",
        "    int32_t delta;",
        "    uint32_t step;",
        "} fold_run;",
        "",
        "static const fold_run fold_runs[%d] = {" % len(runs),
        *lines_of("{0x%X, 0x%X, %d, %d}" % run for run in runs),
        "};",
        "",
        "/* where a run of one script begins, and its number: code point << 8 | script */",
        "static const uint32_t script_starts[%d] = {" % len(starts),
        *lines_of("0x%X" % start for start in starts),
        "};",
        "/* clang-format on */",
        "",
        SEARCH,
        "",
    ]
    return "\n".join(text)


# The kinds in the order of the enum in kinds.h: those of characters in EAST, then those of all others.
KINDS = "Lu Ll N P Z Lo M C".split()
EAST_KINDS = "Lo M P C".split()
EAST = "3040-30FF 4E00-9FA5"


def kind_numbers(gc, space):
    """The kind of each code point as a byte."""
    kind_of = {c: c if c in KINDS else c[0] for c in CATEGORIES}
    kind_of |= {"Lt": "Lu", "Lm": "Lo", "Sm": "P", "Sc": "P", "Sk": "P", "So": "P"}
    names, east = [kind_of[c] for c in gc], ranges(EAST)
    for cp in space:
        names[cp] = "Z"
    plain = {name: i for i, name in enumerate(KINDS)}
    eastern = {name: len(KINDS) + i for i, name in enumerate(EAST_KINDS)}
    return [(eastern if cp in east else plain)[name] for cp, name in enumerate(names)]


def place_of(page, pages):
    """Where a page begins in the table of all, to which it is added when it is not among them."""
    if page not in pages:
        pages.append(page)
    return len(page) * pages.index(page)


def cut(items, size):
    return [tuple(items[i : i + size]) for i in range(0, len(items), size)]


def build_kinds(kinds):
    """Rows by the first two of four bytes, pages by row and one more byte, kinds by page and the last byte."""
    pages = cut(kinds[:0x800], 64)  # of two bytes: these are asked without rows
    places = [place_of(page, pages) for page in cut(kinds, 64)]
    rows = cut(places[:0x400], 64)  # E0-EF: the same
    firsts = [place_of(row, rows) for row in cut(places, 64)]
    return firsts, sum(rows, ()), sum(pages, ())


def kinds_source(kinds):
    firsts, rows, pages = build_kinds(kinds)
    size = 2 * len(firsts) + 2 * len(rows) + len(pages)
    text = [
        "/* SPDX-License-Identifier: MIT */",
        "/* Kinds of characters by their bytes, of Unicode %s. */" % UNICODE,
        "/* Generated by data/unicode/gen_unicode.py from unicodedata2 %s; do not edit." % UNICODE,
        " * %d rows of 64 pages, %d pages of 64 kinds; %d bytes in all. */"
        % (len(rows) // 64, len(pages) // 64, size),
        '#include "kinds.h"',
        "",
        "/* clang-format off */",
    ]
    for name, bits, values in ("firsts", 16, firsts), ("rows", 16, rows), ("pages", 8, pages):
        head = "const uint%d_t dstok__kind_%s[%d] = {" % (bits, name, len(values))
        text += [head, *lines_of(map(str, values)), "};", ""]
    return "\n".join(text[:-1] + ["/* clang-format on */", ""])


PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579)
MASK = (1 << 64) - 1


def rotate(x, n):
    return ((x << n) | (x >> (64 - n))) & MASK


def xxh64(data):
    """XXH64 with seed 0 of data, whose length is a multiple of 32 and not 0."""
    p1, p2, p3, p4 = PRIMES
    lanes = [(p1 + p2) & MASK, p2, 0, -p1 & MASK]
    for stripe in struct.iter_unpack("<4Q", data):
        lanes = [rotate((a + v * p2) & MASK, 31) * p1 & MASK for a, v in zip(lanes, stripe)]
    h = sum(rotate(a, n) for a, n in zip(lanes, (1, 7, 12, 18))) & MASK
    for a in lanes:
        h = ((h ^ (rotate(a * p2 & MASK, 31) * p1 & MASK)) * p1 + p4) & MASK
    h = (h + len(data)) & MASK
    h = (h ^ (h >> 33)) * p2 & MASK
    h = (h ^ (h >> 29)) * p3 & MASK
    return h ^ (h >> 32)


def bitmap(points):
    bits = bytearray((LAST + 1) // 8)
    for cp in points:
        bits[cp >> 3] |= 1 << (cp & 7)
    return bytes(bits)


def all_alone(form, in_9):
    """Every scalar value, normalised in the 9.0 view, on a line of its own."""
    scalars = (cp for cp in range(LAST + 1) if not 0xD800 <= cp <= 0xDFFF)
    parts = (ucd.normalize(form, chr(cp)) if cp in in_9 else chr(cp) for cp in scalars)
    return "".join(part + "\n" for part in parts).encode()


def all_pairs(form, gc, sets):
    """Letters of the blocks in which much composes, each with every possible second half, one pair a line."""
    firsts = sorted(cp for cp in ranges(PAIR_BLOCKS) if gc[cp][0] == "L" and cp in sets["IN_9"])
    seconds = sorted(sets["NFC_SECOND"])
    pairs = "".join(chr(a) + chr(b) + "\n" for a in firsts for b in seconds)
    return ucd.normalize(form, pairs).encode()


def golden_source(gc, sets, folds):
    """Hashes of the properties, from the sets themselves and not from the packed tables, and of texts."""
    number = {name: i for i, name in enumerate(CATEGORIES)}
    fold_words = struct.pack("<%dI" % (LAST + 1), *(folds.get(cp, cp) for cp in range(LAST + 1)))
    values = [("GC", bytes(number[c] for c in gc)), ("FOLD", fold_words)]
    values.append(("SCRIPT", parse_scripts(SCRIPTS)))
    for major in "LMNPSZC":
        values.append((major, bitmap(cp for cp in range(LAST + 1) if gc[cp][0] == major)))
    for name in ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd"):
        values.append((name.upper(), bitmap(cp for cp in range(LAST + 1) if gc[cp] == name)))
    values += [(name, bitmap(points)) for name, points in sets.items()]
    for form in FORMS:
        for suffix, text in ("ALONE", all_alone(form, sets["IN_9"])), ("PAIRS", all_pairs(form, gc, sets)):
            values.append(("%s_%s" % (form, suffix), text[: len(text) & ~31]))
    return "\n".join(
        [
            "/* SPDX-License-Identifier: MIT */",
            "/* XXH64 of properties and of normalised texts, for test_unicode.c and test_normalize.c. */",
            "/* Generated by data/unicode/gen_unicode.py from unicodedata2 %s; do not edit." % UNICODE,
            " * %d hashes, seed 0: GC, SCRIPT over a byte, FOLD over a little-endian uint32" % len(values),
            " * a code point, texts less the bytes after the last multiple of 32, the others over a bitmap of",
            " * %d bytes, lowest bit first. */" % ((LAST + 1) // 8),
            "#ifndef DSTOK_TEST_UNICODE_GOLDEN_H",
            "#define DSTOK_TEST_UNICODE_GOLDEN_H",
            "",
            *("#define GOLDEN_%s 0x%016Xu" % (name, xxh64(data)) for name, data in values),
            "",
            "#endif",
            "",
        ]
    )


def outputs(gc, sets, folds):
    """The generated files: path in the repository, text."""
    pages, records = build_pages(gc, sets)
    starts = script_starts(parse_scripts(SCRIPTS))
    return {
        "data/unicode/kind_tables.c": kinds_source(kind_numbers(gc, sets["SPACE"])),
        "data/unicode/unicode_tables.c": table_source(pages, records, fold_runs(folds), starts),
        "tests/unit/unicode_golden.h": golden_source(gc, sets, folds),
    }


def main():
    if ucd.unidata_version != UNICODE:
        sys.exit("gen_unicode.py: unicodedata2 is of Unicode %s, not %s" % (ucd.unidata_version, UNICODE))
    here = os.path.dirname(os.path.abspath(__file__))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(here))
    for path, text in outputs(*properties()).items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="ascii", newline="\n") as file:
            file.write(text)


if __name__ == "__main__":
    main()
