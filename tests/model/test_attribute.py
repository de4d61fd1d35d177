#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attribution on tiny checkpoints of every architecture: attribute.c checks each of them."""
import os
import pathlib
import tempfile
import unittest

import fixtures
from common import main, run


class Attribute(unittest.TestCase):
    def test_every_architecture(self):
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder)
            (home / "text.ids").write_text(" ".join(map(str, fixtures.text_ids())))
            for name in fixtures.FIXTURES:
                paths = fixtures.write(home, name)
                # Twins hold the same numbers; in this one the two halves of kv_b stand apart.
                for path in paths if name == "deepseek-v3" else paths[:1]:
                    with self.subTest(path=path.name):
                        run(os.environ["DSX_ATTRIBUTE"], path, home / "text.ids")


if __name__ == "__main__":
    main()
