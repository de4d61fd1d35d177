#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/get-vocab and get-model: with a package made on the fly and no index, then one real vocabulary where the index is reached.

Run alone it ends with 77 (skipped) when pip is missing or the index cannot be reached, and says which.
"""
import base64
import gzip
import hashlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / 'tools'
SCRIPT = TOOLS / 'get-vocab'
sys.dont_write_bytecode = True  # the script is loaded as a module below
needs_pip = unittest.skipUnless(importlib.util.find_spec('pip'), '%s has no pip' % sys.executable)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def load_script():
    loader = importlib.machinery.SourceFileLoader('get_vocab', str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('get_vocab', loader))
    loader.exec_module(module)
    return module


def make_wheel(folder, members):
    """A wheel dstok_fixture 1.0 with these members; returns its checksum."""
    path = folder / 'dstok_fixture-1.0-py3-none-any.whl'
    info = 'dstok_fixture-1.0.dist-info/'
    texts = {info + 'METADATA': 'Metadata-Version: 2.1\nName: dstok-fixture\nVersion: 1.0\n',
             info + 'WHEEL': 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n'}
    names = list(members) + list(texts) + [info + 'RECORD']
    texts[info + 'RECORD'] = ''.join(name + ',,\n' for name in names)
    with zipfile.ZipFile(path, 'w') as wheel:
        for name, data in {**members, **texts}.items():
            wheel.writestr(name, data)
    return sha256(path.read_bytes())


@needs_pip
class Offline(unittest.TestCase):
    ONE, TWO = b'{"one": 1}\n', b'IQ== 0\n'

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.links = self.root / 'links'
        self.links.mkdir()
        self.wheel = make_wheel(self.links, {'fixture/one.json': self.ONE, 'fixture/two.gz': gzip.compress(self.TWO)})
        self.home = self.root / 'data' / 'dstok' / 'vocab'
        self.entry = {'what': 'a fixture', 'licence': 'none', 'package': 'dstok-fixture', 'version': '1.0',
                      'sha256': self.wheel, 'download': 1000, 'size': 20,
                      'files': [{'from': 'fixture/one.json', 'to': 'tokenizer.json', 'sha256': sha256(self.ONE)},
                                {'from': 'fixture/two.gz', 'how': 'gunzip', 'to': 'x.tiktoken',
                                 'sha256': sha256(self.TWO)},
                                {'text': {'a': 'é'}, 'to': 'meta.json',
                                 'sha256': sha256('{\n "a": "é"\n}\n'.encode())}]}

    def run_script(self, *args, entries=None, script=SCRIPT, **environment):
        pins = self.root / 'pins.json'
        pins.write_text(json.dumps(entries or {'fix': self.entry}))
        env = {**os.environ, 'XDG_DATA_HOME': str(self.root / 'data'), 'PIP_NO_INDEX': '1',
               'PIP_FIND_LINKS': str(self.links), **environment}
        return subprocess.run([sys.executable, str(script), '--pins', str(pins), *args], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def assert_failed(self, done, text):
        self.assertEqual(done.returncode, 1)
        self.assertIn(text, done.stderr)
        self.assertIn('nothing was written', done.stderr)

    def left(self):
        return sorted(path.name for path in self.home.iterdir())

    def test_usage(self):
        for args in ([], ['nope'], ['fix', 'nope']):
            done = self.run_script(*args)
            self.assertEqual(done.returncode, 2)
            self.assertIn('names: fix', done.stderr)
        self.assertIn('named nope', done.stderr)
        self.assertFalse(self.home.exists())

    def test_list(self):
        before = self.run_script('--list')
        self.assertEqual(before.returncode, 0)
        for text in ('fix ', 'a fixture', 'dstok-fixture 1.0', 'licence: none', 'not here', '0.0 MB'):
            self.assertIn(text, before.stdout)
        self.assertEqual(self.run_script('fix').returncode, 0)
        self.assertIn('present', self.run_script('--list').stdout)

    def test_get(self):
        done = self.run_script('fix')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual((self.home / 'fix' / 'tokenizer.json').read_bytes(), self.ONE)
        self.assertEqual((self.home / 'fix' / 'x.tiktoken').read_bytes(), self.TWO)
        self.assertEqual(json.loads((self.home / 'fix' / 'meta.json').read_text(encoding='utf-8')), {'a': 'é'})
        self.assertEqual(self.left(), ['fix'])

    def test_twice(self):
        self.run_script('fix')
        before = (self.home / 'fix' / 'tokenizer.json').stat()
        done = self.run_script('fix', PIP_FIND_LINKS='/nonexistent')  # no package needed
        self.assertEqual(done.returncode, 0)
        self.assertIn('already there', done.stdout)
        after = (self.home / 'fix' / 'tokenizer.json').stat()
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))

    def test_get_model(self):
        script = TOOLS / 'get-model'
        done = self.run_script('fix', script=script)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual((self.root / 'data/dstok/model/fix/tokenizer.json').read_bytes(), self.ONE)
        self.assertFalse(self.home.exists())
        self.assertIn('present', self.run_script('--list', script=script).stdout)
        done = self.run_script('nope', script=script)
        self.assertEqual(done.returncode, 2)
        self.assertIn('get-model: no model is named nope\nusage: get-model NAME', done.stderr)

    def test_damaged_file_is_replaced(self):
        self.run_script('fix')
        (self.home / 'fix' / 'tokenizer.json').write_bytes(b'{')
        (self.home / 'fix' / 'meta.json').unlink()
        self.assertEqual(self.run_script('fix').returncode, 0)
        self.assertEqual((self.home / 'fix' / 'tokenizer.json').read_bytes(), self.ONE)
        self.assertTrue((self.home / 'fix' / 'meta.json').exists())
        self.assertEqual(self.left(), ['fix'])

    def test_wrong_package_checksum(self):
        self.entry['sha256'] = '0' * 64
        self.assert_failed(self.run_script('fix'), 'another checksum')
        self.assertEqual(self.left(), [])

    def test_wrong_file_checksum(self):
        self.run_script('fix')
        (self.home / 'fix' / 'tokenizer.json').write_bytes(b'mine')
        self.entry['files'][1]['sha256'] = '0' * 64
        self.assert_failed(self.run_script('fix'), 'x.tiktoken has another checksum')
        self.assertEqual((self.home / 'fix' / 'tokenizer.json').read_bytes(), b'mine')
        self.assertEqual(self.left(), ['fix'])

    def test_missing_member(self):
        self.entry['files'][0]['from'] = 'fixture/three.json'
        self.assert_failed(self.run_script('fix'), 'three.json')
        self.assertEqual(self.left(), [])

    def test_no_package(self):
        self.assert_failed(self.run_script('fix', PIP_FIND_LINKS='/nonexistent'), 'cannot download fix')
        self.assertEqual(self.left(), [])

    def test_unreachable_index(self):
        unreachable = {'PIP_NO_INDEX': '0', 'PIP_FIND_LINKS': '', 'PIP_INDEX_URL': 'http://127.0.0.1:9/simple'}
        self.assert_failed(self.run_script('fix', **unreachable), 'the package index cannot be reached')

    def test_one_of_two_fails(self):
        broken = {**self.entry, 'package': 'dstok-fixture-absent'}
        done = self.run_script('broken', 'fix', entries={'broken': broken, 'fix': self.entry})
        self.assert_failed(done, 'cannot download broken')
        self.assertEqual(self.left(), ['fix'])

    def test_home_without_xdg(self):
        done = self.run_script('fix', XDG_DATA_HOME='', HOME=str(self.root / 'me'))
        self.assertEqual(done.returncode, 0)
        self.assertTrue((self.root / 'me/.local/share/dstok/vocab/fix/tokenizer.json').exists())

    def test_unwritable_home(self):
        self.assert_failed(self.run_script('fix', XDG_DATA_HOME=str(self.links / 'dstok_fixture-1.0-py3-none-any.whl')),
                           'cannot get fix')


class Makers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = load_script()

    def test_ranks_of_merges(self):
        merges = '#version: 0.2\nĠ t\nh e\nĠt he\n'.encode()
        lines = self.module.ranks_of_merges(io.BytesIO(merges)).decode().splitlines()
        tokens = [base64.b64decode(line.split()[0]) for line in lines]
        self.assertEqual([int(line.split()[1]) for line in lines], list(range(259)))
        self.assertEqual(tokens[:2] + tokens[255:], [b'!', b'"', b'\xad', b' t', b'he', b' the'])
        self.assertEqual(sorted(tokens[:256]), [bytes([b]) for b in range(256)])
        more = self.module.ranks_with_blanks(io.BytesIO(merges)).decode().splitlines()
        self.assertEqual(more[:259], lines)
        self.assertEqual([base64.b64decode(line.split()[0]) for line in more[259:]], [b' ' * n for n in range(2, 26)])
        self.assertEqual([int(line.split()[1]) for line in more[259:]], list(range(50257, 50281)))

    def test_smollm(self):
        def string(text):
            return struct.pack('<Q', len(text.encode())) + text.encode()

        def strings(texts):
            return struct.pack('<IIQ', 9, 8, len(texts)) + b''.join(map(string, texts))
        data = b'GGUF' + struct.pack('<IQQ', 3, 1, 5)
        data += string('general.alignment') + struct.pack('<II', 4, 32)
        data += string('tokenizer.ggml.pre') + struct.pack('<I', 8) + string('smollm')
        data += string('tokenizer.ggml.tokens') + strings(['<|x|>', 'a', 'b', 'ab'])
        data += string('tokenizer.ggml.token_type') + struct.pack('<IIQ4i', 9, 5, 4, 3, 1, 1, 1)
        data += string('tokenizer.ggml.merges') + strings(['a b']) + b'tensors'
        made = json.loads(self.module.smollm_from_gguf(io.BytesIO(data)))
        self.assertEqual(made['model']['vocab'], {'<|x|>': 0, 'a': 1, 'b': 2, 'ab': 3})
        self.assertEqual(made['model']['merges'], ['a b'])
        self.assertEqual([(t['id'], t['content'], t['special']) for t in made['added_tokens']], [(0, '<|x|>', True)])

    def test_pinned_list(self):
        lists = [json.loads((TOOLS / file).read_text(encoding='utf-8')) for file in ('vocabs.json', 'models.json')]
        for name, entry in [*lists[0].items(), *lists[1].items()]:
            self.assertRegex(name, r'^[a-z0-9._]+$')
            self.assertNotIn('does not load', entry.get('note', ''), 'whatever can be got can be loaded')
            for pinned in [entry] + entry['files']:
                self.assertTrue(re.fullmatch('[0-9a-f]{64}', pinned['sha256']), name)
            for file in entry['files']:
                self.assertIn(file.get('how', 'copy'), self.module.MAKERS)


@needs_pip
class Online(unittest.TestCase):
    def test_real_vocabulary(self):
        with tempfile.TemporaryDirectory() as data:
            done = subprocess.run([sys.executable, str(SCRIPT), 'r50k_base'], env={**os.environ, 'XDG_DATA_HOME': data},
                                  text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if done.returncode != 0 and 'cannot be reached' in done.stderr:
                self.skipTest(done.stderr.strip())
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            ranks = (Path(data) / 'dstok/vocab/r50k_base/r50k_base.tiktoken').read_bytes()
            self.assertEqual(sha256(ranks), '306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930')


if __name__ == '__main__':
    result = unittest.main(exit=False, verbosity=1).result
    for test, why in result.skipped:
        print('SKIPPED: %s: %s' % (test.id(), why))
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
