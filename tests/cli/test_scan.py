# SPDX-License-Identifier: MIT
"""dsexplain scan: what it measures, against sums made here; its policies, against the same read again."""
import json
import math
import signal
import subprocess
import time
import unittest

import test_dsexplain
from test_dsexplain import PROGRAM

TEXT = "the quick brown fox jumps over the lazy dog, and then there is the end of it. " * 3
OPS = "qkv", "out", "up", "down"


@unittest.skipUnless(PROGRAM.exists(), "this build has no dsexplain")
class Scan(test_dsexplain.Dsexplain):
    def setUp(self):
        super().setUp()
        self.text = self.write("text", TEXT)

    def scan(self, *options, **more):
        return self.json("scan", "-f", self.text, *options, **more)

    def policy(self, fmt, but=(), other=None):
        """A policy file: all maps in one format, but for (layer, op) pairs in another."""
        def of(layer, op):
            return other if (layer, op) in but else fmt
        layers = [{op: of(layer, op) for op in OPS} for layer in range(2)]
        return self.write("made.json", json.dumps({"layers": layers, "head": {"weights": "file"}}))

    def test_divergence(self):
        """KL and -log p from the distributions that logprobs prints."""
        def rows(*options):
            answer = self.json("logprobs", "-f", self.text, "--top", 263, *options)
            tops = [position["top"] for position in answer["positions"][1:]] + [answer["next"]]
            return [dict(map(tuple, top)) for top in tops], answer["positions"]

        (own, positions), (other, others) = rows(), rows("--weights", "w4", "--group", "32")
        each = [sum(math.exp(p[i]) * (p[i] - q[i]) for i in p) for p, q in zip(own, other)]
        answer = self.scan("--whole", "--to", "w4g32", "--to", "file")
        (w4, same) = (entry["result"] for entry in answer["whole"])
        self.assertEqual([entry["format"] for entry in answer["whole"]], ["w4g32", "file"])
        self.assertEqual((answer["tokens"], same["kl"], same["kl_most"], same["nll_change"]), (len(positions), 0, 0, 0))
        self.assertAlmostEqual(w4["kl"], sum(each) / len(each), delta=1e-5 * w4["kl"] + 1e-7)
        self.assertAlmostEqual(w4["kl_most"], max(each), delta=1e-5 * w4["kl_most"] + 1e-7)
        self.assertGreater(w4["kl"], 1e-5)
        for result, said in ((answer["own"], positions), (w4, others)):
            nll = -sum(position["logprob"] for position in said[1:]) / (len(said) - 1)
            self.assertAlmostEqual(result["nll"], nll, delta=2e-6)
            self.assertAlmostEqual(result["ppl"], math.exp(nll), delta=1e-4)
        self.assertAlmostEqual(w4["nll_change"], w4["nll"] - answer["own"]["nll"], delta=1e-9)
        self.assertEqual(w4["weight_bytes"], self.json("info", "--weights", "w4", "--group", "32")["weight_bytes"])

    def test_windows(self):
        whole, parts = self.scan("--whole", "--to", "w4"), self.scan("--whole", "--to", "w4", "--context", 32)
        self.assertEqual((parts["window"], parts["tokens"]), (32, whole["tokens"]))
        self.assertNotEqual(whole["own"]["nll"], parts["own"]["nll"])
        ids = [p["id"] for p in self.json("logprobs", "-f", self.text)["positions"]]
        nll = n = 0
        for at in range(0, len(ids), 32):
            said = self.json("logprobs", "--ids", "-", stdin=" ".join(map(str, ids[at:at + 32])))["positions"][1:]
            nll, n = nll - sum(p["logprob"] for p in said), n + len(said)
        self.assertAlmostEqual(parts["own"]["nll"], nll / n, delta=2e-6)
        few = self.scan("--whole", "--to", "w4", "-n", 20)
        self.assertEqual(few["tokens"], 20)

    def test_formats(self):
        names = ["w8g32", "w8", "w8g128", "w4g32", "w4", "fp8", "fp8g128", "w8a8", "w4a8", "w4a4", "w4a4h", "w8a8f", "w4a4f"]
        to = [word for name in names for word in ("--to", name)]
        found = {entry["format"]: entry["result"] for entry in self.scan("--whole", *to)["whole"]}
        self.assertEqual(list(found), names)
        kl = {name: result["kl"] for name, result in found.items()}
        self.assertEqual(len(set(kl.values())), len(names) - 1, kl)  # of w8, groups of 64 and 128 are rows
        self.assertLess(max(kl["w8"], kl["w8a8"]), kl["fp8"])
        self.assertLess(kl["fp8"], kl["w4"])
        self.assertLess(kl["w4a8"], kl["w4a4"])
        self.assertLess(found["w4"]["weight_bytes"], found["w8"]["weight_bytes"])
        kv = self.json("scan", "-f", self.write("long", TEXT * 2), "--whole", "--to", "file", "--kv", "int4", "--kv-recent", "64")
        self.assertGreater(kv["whole"][0]["result"]["kl"], 1e-6)

    def check_units(self, answer, units):
        rounded, kept = {"weights": "w4"}, {"weights": "file"}
        self.assertEqual(len(answer["units"]), len(units))
        for unit in answer["units"]:
            but = units[unit["layer"], unit["maps"]]
            alone = self.scan("--policy", self.policy(kept, but, rounded))["whole"][0]["result"]
            restored = self.scan("--policy", self.policy(rounded, but, kept))["whole"][0]["result"]
            self.assertEqual((unit["alone"], unit["restored"]), (alone, restored))
            self.assertAlmostEqual(unit["score"], (alone["kl"] + answer["rounded"]["kl"] - restored["kl"]) / 2, delta=1e-8)
            self.assertEqual(unit["cost_bytes"], restored["weight_bytes"] - answer["rounded"]["weight_bytes"])
        worth = [unit["score"] / unit["cost_bytes"] for unit in answer["units"]]
        self.assertEqual(worth, sorted(worth, reverse=True))

    def test_layers(self):
        answer = self.scan()
        self.check_units(answer, {(layer, "all"): [(layer, op) for op in OPS] for layer in range(2)})
        self.assertEqual(answer["rounded"], self.scan("--whole", "--to", "w4")["whole"][0]["result"])

    def test_ops(self):
        self.check_units(self.scan("--ops"), {(layer, op): [(layer, op)] for layer in range(2) for op in OPS})

    def test_words(self):
        lines = self.out("scan", "-f", self.text, "--ops").splitlines()
        self.assertRegex(lines[0], r"^\d+ tokens$")
        self.assertTrue(any(line.startswith("as it is ") for line in lines) and any(line.startswith("w4 ") for line in lines))
        self.assertEqual(sum(line.split()[1:2] == [op] for line in lines for op in OPS), 8)
        self.assertRegex(self.out("scan", "-f", self.text, "--whole", "--to", "w8"), r"\nw8 +0\.\d{6} ")

    def made(self, *options):
        answer = self.scan(*options, "-o", "policy.json")
        again = self.scan("--policy", self.dir / "policy.json")["whole"][0]["result"]
        self.assertEqual(answer["policy"]["result"], again)
        return answer, json.loads((self.dir / "policy.json").read_text())

    def test_policy_for_kl(self):
        scan = self.scan("--ops")
        for share, few, most in ((0.5, 1, 7), (2, 0, 0), (0, 8, 8)):
            target = share * scan["rounded"]["kl"]
            answer, file = self.made("--ops", "--max-kl", target)
            self.assertLessEqual(answer["policy"]["result"]["kl"], target)
            self.assertIn(answer["policy"]["restored"], range(few, most + 1))
            kept = {(layer, op) for layer, maps in enumerate(file["layers"]) for op in OPS if maps[op]["weights"] == "file"}
            first = scan["units"][:answer["policy"]["restored"]]
            self.assertEqual(kept, {(unit["layer"], unit["maps"]) for unit in first})
        ppl = self.json("ppl", self.text, "--policy", self.dir / "policy.json")
        self.assertEqual(ppl, self.json("ppl", self.text))

    def test_policy_for_bytes(self):
        """Units in their order, each that there is room for and that saves something."""
        scan = self.scan("--ops", "--from", "w8")
        room, kept = int(0.45 * sum(unit["cost_bytes"] for unit in scan["units"])), set()
        answer, file = self.made("--ops", "--from", "w8", "--bytes", scan["rounded"]["weight_bytes"] + room)
        for unit in scan["units"]:
            if unit["cost_bytes"] <= room and unit["score"] > 0:
                kept.add((unit["layer"], unit["maps"]))
                room -= unit["cost_bytes"]
        self.assertEqual(kept, {(layer, op) for layer, maps in enumerate(file["layers"]) for op in OPS if maps[op]["weights"] == "w8"})
        self.assertEqual((answer["policy"]["restored"], answer["policy"]["of"]), (len(kept), 8))
        self.assertEqual({maps[op]["weights"] for maps in file["layers"] for op in OPS}, {"w8", "w4"})

    def test_targets_that_cannot_be_met(self):
        use = "scan", self.model, "-f", self.text, "-o", "none.json"
        self.fails(1, "--bytes 1024 cannot be met: with every map as w4 the weights take", *use, "--bytes", "1K")
        self.fails(1, "--max-kl 1e-12 cannot be met: with no map as w4 the KL is", *use, "--max-kl", "1e-12", "--from", "w8")
        self.assertFalse((self.dir / "none.json").exists())

    def test_limits(self):
        other = self.write("other", "0123456789 ABCDEFG " * 9)
        found = {}
        for rule in ("ema", "percentile", "mse"):
            for more in [[], ["--calibrate", other]] + ([["--percentile", "100"]] if rule == "percentile" else []):
                self.made("--to", "w8a4f", "--limits", rule, *more, "--max-kl", "100")
                file = json.loads((self.dir / "policy.json").read_text())
                limits = [maps[op]["limit"] for maps in file["layers"] for op in OPS]
                self.assertTrue(all(0 < limit < 1e4 for limit in limits))
                found[rule, *map(str, more[1:])] = limits
        self.assertEqual(len(set(map(tuple, found.values()))), 7)
        for most, *others in zip(found["percentile", "100"], found["percentile",], found["mse",], found["ema",]):
            self.assertTrue(all(limit <= most * (1 + 1e-6) for limit in others))

    def test_same_whatever_the_threads(self):
        answer = self.scan("--to", "w8a8", "--ops")
        for more in (["-j", 1], ["-j", 3, "--chunk", "7"], ["--simd", "scalar"]):
            self.assertEqual(self.scan("--to", "w8a8", "--ops", *more), answer)

    def test_wrong_use(self):
        m, f = self.model, ("-f", self.text)
        for pattern, *arguments in (
                ("which text", "scan", m), ("which model", "scan", *f), ("2 inputs", "scan", m, "x", *f),
                ('"w5" is no format', "scan", m, *f, "--to", "w5"), ('"w4g48" is no format', "scan", m, *f, "--to", "w4g48"),
                ('"fp8g32" is no format', "scan", m, *f, "--to", "fp8g32"), ('"w4a" is no format', "scan", m, *f, "--from", "w4a"),
                ('"f32g64" is no format', "scan", m, *f, "--to", "f32g64"), ('"" is no format', "scan", m, *f, "--to", ""),
                ("several --to are for --whole", "scan", m, *f, "--to", "w4", "--to", "w8"),
                ("with -o give one of", "scan", m, *f, "-o", "p"), ("with -o give one of", "scan", m, *f, "-o", "p", "--max-kl", "1", "--bytes", "1M"),
                ("are for -o FILE", "scan", m, *f, "--max-kl", "1"), ("finds no policy", "scan", m, *f, "--whole", "-o", "p", "--max-kl", "1"),
                ("--percentile is for", "scan", m, *f, "--percentile", "99"), ("--percentile 0: is out of", "scan", m, *f, "--percentile", "0"),
                ("--max-kl -1: is out of", "scan", m, *f, "-o", "p", "--max-kl", "-1"), ("--weights is not an option of scan", "scan", m, *f, "--weights", "w8"),
                ("--context must be at least 2", "scan", m, *f, "--context", "1"), ("cannot open absent", "scan", m, "-f", "absent"),
                ("absent", "scan", m, *f, "--policy", "absent"), ("no/p", "scan", m, *f, "-o", "no/p", "--max-kl", "1"),
                ("made.json: .*up", "scan", m, *f, "--policy", self.policy({"weights": "w4"}, [(1, "up")], {"weights": "w5"})),
                ("one format too many", "scan", m, *f, "--whole", *["--to", "w4"] * 33)):
            self.fails(2, pattern, *arguments)
        self.fails(1, "at least two tokens", "scan", m, "-f", "-", stdin="a")

    def test_progress(self):
        result = self.raw("scan", self.model, "-f", self.text, "--progress", "json", "--whole", "--to", "w8")
        last = json.loads(result.stderr.splitlines()[-1])
        self.assertEqual((last["what"], last["runs"], last["of"]), ("measured", 2, 2))

    def test_interrupted(self):
        process = subprocess.Popen([PROGRAM, "scan", self.model, "-f", "-", "--max-kl", "1", "-o", "none.json"], cwd=self.dir,
                                   env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(b"the")
        process.stdin.flush()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual((process.wait(30), process.stdout.read()), (130, b""))
        process.stdin.close()
        process.stdout.close()
        self.assertFalse((self.dir / "none.json").exists())
