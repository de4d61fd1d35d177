#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes default.tokenizer.json anew from Debian packages: download, text, training, check.

Needs apt-get (after apt-get update), dpkg-deb and Python 3.9 or later; installs nothing. Packages, versions, checksums
and licences stand in sources.tsv. Equal packages give equal texts, and equal texts an equal vocabulary.
"""
import argparse
import gzip
import hashlib
import html
import io
import os
import re
import struct
import subprocess
import sys
import tarfile
import zlib
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
SHA256 = '1a0a1708a16017bf5ab2d9ccf7d67032b376fdc89bd99282316fdabc070231e9'  # of default.tokenizer.json
NAMES = 'endoftext pad im_start im_end fim_prefix fim_middle fim_suffix fim_pad repo_name file_sep'.split()
SPECIALS = ['<|%s|>' % name for name in NAMES + ['reserved_%d' % i for i in range(54)]]

CJK = '\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uff00-\uffef'
BLOCK = r'(?i)</?(p|div|h\d|li|tr|t[dh]|d[dt]|br|[uo]l|table|section|title|page|item|note|steps|hr|blockquote)\b[^>]*>'


def digest(text):
    return hashlib.sha1(text.encode()).digest()


def held_out(path):
    """Documents kept for scoring, never trained on: told by the file name without its language, so that all
    translations of one document go the same way."""
    name = os.path.basename(path).lower()
    name = re.sub(r'\.(gz|html|txt|rst|page|mo|dz)\b', '', name)
    name = re.sub(r'[._-](zh|cn|tw|ja|ko|ru|de|fr|es|en)([-_][a-z]{2})?\b', '', name)
    return digest(name)[0] < 40


# ---- packages

def sources():
    """Rows of sources.tsv: group, package, version, reader, share, members, licence, sha256. Of the members whose path
    matches, share of 256 are taken, chosen by a hash of the path."""
    lines = (HERE / 'sources.tsv').read_text(encoding='utf-8').splitlines()
    return [SimpleNamespace(**dict(zip(lines[0].split('\t'), line.split('\t')))) for line in lines[1:]]


def fetch(source, folder, any_version):
    """The .deb of a source, with the pinned checksum unless any_version is set."""
    def found():
        return sorted(folder.glob(source.package + '_*.deb'))
    for name in [source.package + '=' + source.version] + [source.package] * any_version:
        if not found():
            print('download', name, flush=True)
            subprocess.run(['apt-get', '-q', 'download', name], cwd=folder, stdout=subprocess.DEVNULL)
    if not found():
        sys.exit('cannot download %s=%s; try apt-get update, or --any-version' % (source.package, source.version))
    if not any_version and hashlib.sha256(found()[0].read_bytes()).hexdigest() != source.sha256:
        sys.exit('%s is not the file that sources.tsv pins' % found()[0])
    return found()[0]


def members(stream, pattern, share):
    """(path, bytes) of the chosen members of a tar archive."""
    with tarfile.open(fileobj=stream, mode='r|*') as archive:
        for member in archive:
            path = member.name.lstrip('./')
            if member.isfile() and re.search(pattern, path) and digest(path)[1] < share and not held_out(path):
                yield path, archive.extractfile(member).read()


def package_members(source):
    with subprocess.Popen(['dpkg-deb', '--fsys-tarfile', source.deb], stdout=subprocess.PIPE) as process:
        share = 256 if source.reader == 'tar' else int(source.share)
        yield from members(process.stdout, source.members, share)


# ---- from files to plain text

def from_text(data):
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode('latin-1')
    text = re.sub(r'\x1b\[[\d;]*m', '', text)  # colours of a terminal
    return text.replace('\r\n', '\n').replace('\r', '\n')


def join_cjk(text):
    """A blank or line end between two CJK characters is an accident of the markup."""
    return re.sub('(?<=[%s])[ \t\n]+(?=[%s])' % (CJK, CJK), '', text)


def from_html(data):
    text = from_text(data).split('id="DisplayArea"')[-1]  # LibreOffice: what stands before is navigation
    text = re.sub(r'(?is)<(script|style|head|nav)\b.*?</\1>|<!--.*?-->|<\?.*?\?>', ' ', text)
    parts = re.split(r'(?is)(<pre\b.*?</pre>)', text)
    for i in range(0, len(parts), 2):
        lines = re.sub(BLOCK, '\0', re.sub(r'\s+', ' ', parts[i])).split('\0')
        parts[i] = '\n'.join(join_cjk(line.strip()) for line in lines)
    return html.unescape(re.sub(r'<[^>]+>', '', ''.join(parts)))


def from_man(data):
    paragraphs = ['']
    for line in from_text(data).split('\n'):
        line = re.sub(r"\\[fn*](\[[^]]*\]|\(..|.)|\\s[-+]?\d|\\[hvw]'[^']*'|\\[&|^%:c]|\\\".*", '', line)
        line = re.sub(r'\\(\(|\[)(aq|cq|oq)\]?', "'", line).replace('\\-', '-').replace('\\e', '\\').replace('\\ ', ' ')
        request = re.match(r"[.']\s*([A-Za-z]+)\s*(.*)", line)
        if request and request[1] in ('SH', 'SS', 'PP', 'P', 'LP', 'TP', 'IP', 'Sh', 'Ss', 'Pp', 'It'):
            paragraphs.append(request[2].replace('"', ''))
        elif request and request[1] in ('B', 'I', 'BR', 'IR', 'RB', 'RI', 'BI', 'IB', 'SM', 'Nm', 'Fl', 'Ar'):
            paragraphs[-1] += '\n' + request[2].replace('"', '')
        elif line.strip() == '':
            paragraphs.append('')
        elif line[0] not in ".'":
            paragraphs[-1] += '\n' + line
    return '\n'.join(join_cjk(p.strip()).replace('\n', ' ') for p in paragraphs if p.strip())


def from_mo(data):
    """The translations in a message catalogue (GNU gettext), without those equal to their original."""
    n, originals, translations = struct.unpack_from('<3I', data, 8)

    def string(table, i):
        length, offset = struct.unpack_from('<2I', data, table + 8 * i)
        return data[offset:offset + length].split(b'\0')[0].decode('utf-8', 'replace')
    pairs = ((string(originals, i), string(translations, i)) for i in range(n))
    return '\n'.join(new for old, new in pairs if old and new and new != old)


def from_sword(files):
    """A zText module: the index .bzs holds offset and packed size of each block in .bzz; XML inside."""
    for path in sorted(p for p in files if p.endswith('.bzs')):
        blocks = files[path[:-1] + 'z']
        for offset, packed, _ in struct.iter_unpack('<3I', files[path]):
            text = zlib.decompress(blocks[offset:offset + packed])
            yield from_html(text.replace(b'<verse', b'\n<br><verse'))


READERS = {'text': from_text, 'code': from_text, 'html': from_html, 'man': from_man, 'mo': from_mo}


def documents(source):
    if source.reader == 'sword':
        yield from from_sword(dict(package_members(source)))
        return
    for path, data in package_members(source):
        if source.reader == 'tar':
            for _, text in members(io.BytesIO(data), r'\.[ch]$', int(source.share)):
                yield from_text(text)
        else:
            yield READERS[source.reader](gzip.decompress(data) if path.endswith(('.gz', '.dz')) else data)


def without_repeats(text, seen):
    """Drops lines of 12 characters or more that stood in the group before: menus, licences, navigation."""
    lines = []
    for line in text.split('\n'):
        key = line.strip()
        if len(key) < 12 or key not in seen:
            lines.append(line.rstrip())
        if len(key) >= 12:
            seen.add(key)
    return re.sub(r'\n{3,}', '\n\n', '\n'.join(lines)).strip('\n')


def write_group(group, folder, rows):
    seen = set()
    with open(folder / (group + '.txt'), 'w', encoding='utf-8') as file:
        for source in rows:
            size = 0
            for text in documents(source):
                if '\0' in text or (group == 'code' and max(map(len, text.split('\n'))) > 2000):
                    continue
                if group != 'code':
                    text = without_repeats(text, seen)
                if len(text) >= 120:
                    size += file.write(text + '\n\n')
            print('%-6s %-24s %9d characters' % (group, source.package, size), flush=True)


# ---- word lists: pretoken TAB count

def chinese_words(source):
    (_, dictionary), = package_members(source)
    counts = dict(line.split(' ')[:2] for line in dictionary.decode().splitlines())
    return {word: count for word, count in counts.items() if re.match('[\u3400-\u9fff]', word)}


def english_words(source):
    counts = {}
    for path, data in package_members(source):
        count = 600 if path.endswith('10') else 150  # commoner words are in the lower class
        for word in data.decode('latin-1').split():
            if re.fullmatch('[a-z]{2,20}', word):
                for form, percent in ((' ' + word, 80), (' ' + word.capitalize(), 12), (word, 8)):
                    counts[form] = counts.get(form, 0) + count * percent // 100
    return counts


def write_words(group, folder, rows):
    source, = rows
    counts = {'jieba': chinese_words, 'scowl': english_words}[source.reader](source)
    with open(folder / (group + '.tsv'), 'w', encoding='utf-8') as file:
        file.writelines('%s\t%s\n' % item for item in counts.items())


def write_inputs(folder, any_version):
    groups = {}
    for source in sources():
        source.deb = fetch(source, folder, any_version)
        groups.setdefault(source.group, []).append(source)
    for group, rows in groups.items():
        (write_words if group.startswith('words') else write_group)(group, folder, rows)


# ---- training

def train(folder, dstok):
    """Chinese texts are taken whole, the others in part, so that they weigh more; the lists are scaled to the texts."""
    command = [dstok, 'train', '--vocab-size', '32768', '--order', 'byte', '--min-frequency', '2',
               '--pattern', 'o200k_base', '--special', ','.join(SPECIALS), '-o', 'default.tokenizer.json',
               'en.txt', 'code.txt', 'other.txt', 'zh.txt',
               '--weight', '0.09', '--words', 'words_zh.tsv', '--weight', '0.3', '--words', 'words_en.tsv']
    subprocess.run(command, cwd=folder, check=True)
    return (folder / 'default.tokenizer.json').read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('workdir', type=Path, help='for packages and texts, 350 MB; what is there is used again')
    parser.add_argument('dstok', type=Path, help='the program that trains')
    parser.add_argument('--any-version', action='store_true', help='where a pinned version is gone, take another')
    args = parser.parse_args()
    args.workdir.mkdir(parents=True, exist_ok=True)
    folder = args.workdir.resolve()
    write_inputs(folder, args.any_version)
    made = hashlib.sha256(train(folder, args.dstok.resolve())).hexdigest()
    print('sha256', made, 'as expected' if made == SHA256 else 'NOT ' + SHA256)
    return 0 if made == SHA256 else 1


if __name__ == '__main__':
    sys.exit(main())
