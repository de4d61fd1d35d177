# SPDX-License-Identifier: MIT
"""dsexplain fit-at2, and run with what it learned; sentences taken out by run --method ablate and loo, and --verify."""
import json
import unittest

from test_dsexplain import PROGRAM, Dsexplain as Tiny

ITEMS = [{"id": i, "context": text, "question": "What?", "answer": answer}
         for i, (text, answer) in enumerate((("The cat sat. A dog ran. Big fish swam.", " cat"), ("One. Two. Three.\nFour.", " Two")))]


@unittest.skipUnless(PROGRAM.exists(), "this build has no dsexplain")
class Fit(Tiny):
    def items(self, *items):
        return self.write("items.jsonl", "".join(json.dumps(item) + "\n" for item in items or ITEMS))

    def fit(self, *options, rc=0):
        result = self.raw("fit-at2", self.model, "--items", self.items(), "-o", "heads.json", "--masks", "8", *options)
        self.assertEqual(result.returncode, rc, result.stderr.decode())
        return result.stderr.decode()

    def test_weights(self):
        self.assertRegex(self.fit("--progress", "off"), r"^dsexplain: note: correlation with what removals did: 0\.\d{3}\n$")
        text = (self.dir / "heads.json").read_text()
        made = json.loads(text)
        self.assertEqual(list(made), ["schema", "model", "layers"])
        self.assertEqual(made["schema"], "dsexplain/at2/1")
        info = json.loads(self.out("info", "--json"))
        self.assertEqual([len(made["layers"]), len(made["layers"][0])], [info["layers"], info["heads"]])
        weights = [w for layer in made["layers"] for w in layer]
        self.assertAlmostEqual(sum(weights), 1, 6)
        self.assertGreaterEqual(min(weights), 0)
        self.fit("--progress", "off", "--quiet", "-j", "1")
        self.assertEqual((self.dir / "heads.json").read_text(), text)
        self.fit("--quiet", "--seed", "1", "--progress", "off")
        self.assertNotEqual((self.dir / "heads.json").read_text(), text)

    def test_run(self):
        self.fit("--quiet")
        a = self.write("a.txt", ITEMS[0]["context"])
        run = "run", self.model, "-f", a, "-q", "What?", "--prefix", "A", "--target", " cat", "--format", "json"
        reports = {}
        for method in (("at2", "--weights-at2", "heads.json"), ("loo",), ("refine",), ("ablate", "--masks", "5"), ("ablate", "--verify", "4")):
            result = self.raw(*run, "--method", *method)
            self.assertEqual(result.returncode, 0, result.stderr.decode())
            reports[method[0]] = target = json.loads(result.stdout)["targets"][0]
            self.assertEqual(len(target["spans"]), 3)
        self.assertEqual(reports["ablate"]["faithfulness"]["masks"], 4)
        for score in (span["score"] for span in reports["at2"]["spans"]):
            self.assertGreater(score, 0)
        self.assertEqual(reports["refine"]["quantity"], "logprob")
        for a_span, b_span in zip(reports["refine"]["spans"], reports["loo"]["spans"]):
            self.assertTrue(a_span["score"] == 0 or abs(a_span["score"] - b_span["score"]) < 1e-6)
        for removal in ("gap", "swap", "attnmask"):
            other = json.loads(self.raw(*run, "--method", "loo", "--removal", removal).stdout)["targets"][0]
            self.assertEqual(other["value"], reports["loo"]["value"])
            self.assertNotEqual([s["score"] for s in other["spans"]], [s["score"] for s in reports["loo"]["spans"]])

    def test_faults(self):
        m, path, a = self.model, self.items(), self.write("a.txt", "A cat. A dog.")
        for pattern, *arguments in (
                ("give --items FILE", "fit-at2", m, "-o", "x"), ("give --items FILE", "fit-at2", m, "--items", path),
                ("--masks must be", "fit-at2", m, "--items", path, "-o", "x", "--masks", "5000"),
                ("--method at2 needs weights", "run", m, "-f", a, "--method", "at2"),
                ("--weights-at2 is for", "run", m, "-f", a, "--weights-at2", "x"),
                ("--foil is not an option of fit-at2", "fit-at2", m, "--items", path, "-o", "x", "--foil", "y")):
            self.fails(2, pattern, *arguments)
        self.fails(2, "cannot open absent", "fit-at2", m, "--items", "absent", "-o", "x")
        self.fails(2, "absent", "run", m, "-f", a, "--method", "at2", "--weights-at2", "absent")
        self.fails(2, "other.json: is for a model of 1 layers", "run", m, "-f", a, "--method", "at2", "--weights-at2",
                   self.write("other.json", '{"schema": "dsexplain/at2/1", "model": "", "layers": [[1]]}'))
        one = self.write("one.jsonl", json.dumps({"context": "Only one sentence.", "answer": " x"}))
        self.fails(2, "one.jsonl: there is no prompt that sentences matter to", "fit-at2", m, "--items", one, "-o", "x")
        bad = self.write("bad.jsonl", json.dumps(ITEMS[0]) + "\n{}\n")
        self.fails(1, "bad.jsonl:2: ", "fit-at2", m, "--items", bad, "-o", "x")
        self.assertFalse((self.dir / "x").exists())
        skipped = self.raw("fit-at2", m, "--items", bad, "-o", "x", "--on-error", "skip")
        self.assertEqual(skipped.returncode, 3, skipped.stderr.decode())
        self.assertTrue((self.dir / "x").exists())


if __name__ == "__main__":
    unittest.main()
