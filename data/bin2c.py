#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a C file that holds the bytes of a file: an array NAME and its size NAME_size.

usage: bin2c.py -o OUT.c NAME [FILE]      without FILE the array is empty (size 0)
"""
import argparse
import os

PER_LINE = 80


def escape_table():
    """How each byte is written inside a C string literal. Octal escapes always have three digits, so the next byte
    cannot run into them; '?' is escaped because of trigraphs."""
    table = []
    for byte in range(256):
        char = chr(byte)
        if char in '"\\?':
            table.append('\\' + char)
        elif 0x20 <= byte < 0x7F:
            table.append(char)
        else:
            table.append('\\%03o' % byte)
    return table


def c_source(name, origin, data):
    table = escape_table()
    lines = [
        '/* Made by bin2c.py from %s (%d bytes). Do not edit. */' % (origin, len(data)),
        '#include <stddef.h>',
        'extern const unsigned char %s[];' % name,
        'extern const size_t %s_size;' % name,
        '_Alignas(64) const unsigned char %s[] =' % name,
    ]
    for begin in range(0, len(data), PER_LINE):
        lines.append('"%s"' % ''.join(table[byte] for byte in data[begin:begin + PER_LINE]))
    if not data:
        lines.append('""')
    lines[-1] += ';'
    lines.append('const size_t %s_size = %d;' % (name, len(data)))
    return '\n'.join(lines) + '\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('-o', dest='out', required=True, metavar='OUT.c')
    parser.add_argument('name', metavar='NAME')
    parser.add_argument('file', nargs='?', metavar='FILE')
    args = parser.parse_args()
    data = b''
    if args.file:
        with open(args.file, 'rb') as file:
            data = file.read()
    source = c_source(args.name, os.path.basename(args.file or 'nothing'), data)
    with open(args.out, 'w', encoding='ascii', newline='\n') as file:
        file.write(source)


if __name__ == '__main__':
    main()
