/* SPDX-License-Identifier: MIT */
/* Made by tests/model/dequant.py with gguf 0.19.0. For each format hashes of 8 blocks of floats. */
#include <stdint.h>

static const struct {
    const char *name;
    uint64_t hashes[8];
} golden[] = {
    {"F16",
     {0x5c637c4c6e91a698, 0x084063d3bebd3469, 0x51e0f598e8826ca1, 0xa3c4bbdc02ff48de,
      0xbf5296613df5b144, 0xd11ecd6eef71e142, 0x215230e179c15d05, 0x9ead5246fb9d009a}},
    {"BF16",
     {0x7609648c886f462f, 0xb3025de7560299a3, 0xa9561ced43a70aca, 0x185e3ccd87963c4e,
      0x3a964282b3c6eef3, 0x00e25f7a1b80ace4, 0x665ca21fee702510, 0x29b26c6b1e894f26}},
    {"Q8_0",
     {0x689879534241a262, 0x7fef3b37cdb35fc5, 0xe6935aa044f06d25, 0x005eae5dbd066a11,
      0x6d3ecd9cc3dd1145, 0xa05c830467a58ab6, 0x715bfa828662a609, 0x5968cc5e82145cb1}},
    {"Q4_0",
     {0xdc31c03b0883022c, 0x8bad7c812355470c, 0xa12a62bd07be6025, 0x3ca71601ec3b5ffc,
      0x3d42da246a07118a, 0x5d57cc23029786e5, 0x44c2906686c12579, 0x0315c82a56906217}},
    {"Q4_1",
     {0xd720f2d8237ad665, 0x74105f5698993707, 0x9a339659e21f1965, 0x967f45d9e67ce3b1,
      0xcc31a38fe9be2e39, 0xc4bd7b85b38034df, 0xeca06c8332aa267b, 0xd92f337a613921cc}},
    {"Q5_0",
     {0xb5c2006e5b40f826, 0xe007cb5cb194dcac, 0x4aef1cee37109525, 0x42ec7cb892cc65b8,
      0xf30cdf1302074acf, 0x519aa64fe9267b8a, 0xd2f7e621a4c2041a, 0x04c37d4f53694783}},
    {"Q5_1",
     {0xd720f2d8237ad665, 0xb7321069eb24189d, 0x9a339659e21f1965, 0x5877b2fbcf660cfc,
      0xeb2fee593e84e0a3, 0xdc9a06ca1fb92e8a, 0x6515380829e62b41, 0xd134039eae5a3e3a}},
    {"Q2_K",
     {0x3edce8e636858409, 0x1069d92032078bc3, 0xfa3fb5d8a432e945, 0xba10a034ed1f03b7,
      0xa1d18d207957fb7d, 0x0b38c045dcd9f523, 0xb4567f2c4dab2ccf, 0x202fea0c04a214c9}},
    {"Q3_K",
     {0x49747b890a2fb283, 0xe68e5bca4185160d, 0x29f9a0f26279f425, 0x7b0ff3668ba9e44c,
      0x726fceb100e22590, 0xbe56c33150bd89a7, 0x01314a76291315df, 0xcd06ca816c854f76}},
    {"Q4_K",
     {0xc23d116b31dae665, 0x69aea4c3e7fa9e45, 0x14c431f61c68b125, 0x6f2236e916971c55,
      0x307d816944e3ca79, 0xdb2cfc819aa34bbf, 0xd27f01d5057eb9da, 0x9be15f3b21c528f6}},
    {"Q5_K",
     {0x2bdc00549685004b, 0xbea3c00fc4e311bf, 0xca1161806f6248e5, 0x86bbc62f87bd08a7,
      0x15c83ca802de8d8a, 0xeaa797a5133ee63a, 0x7d2615810597fd25, 0x07da0ffd08ab796d}},
    {"Q6_K",
     {0x29b84484be35c499, 0x8eba1db038857911, 0xbab448db8130ac25, 0xe7753b0312a2802a,
      0x34a02b2b220f8add, 0xa6f75ca66a28dd6f, 0x7e4191ccde3ca539, 0x66212a2316e2e90a}},
};
