# SPDX-License-Identifier: MIT
"""dsexplain run --format html: pages that are well formed, hold their sources byte by byte, and run nothing. In Chromium, where there
is one, also what is copied, and that nothing is fetched."""
import html.parser
import re
import unittest

import chromium
from test_run import TORTURE, Run

HOSTILE = ("<script>alert(1)</script> & <b onmouseover=\"x()\">bold</b>. \"quoted\" 'single' &amp; &lt; &#0; &notit; ]]> <!-- a comment --> "
           "<![CDATA[x]]>.\n</div></pre></mark></body></html>\n<style>*{display:none}</style><img src=x onerror=alert(1)>. "
           "</title><base href=//example.org>\n\x00 \x1b[31m \x08 \x85 \x9b \u202eturned\u202c \u2066iso\u2069 zero\u200bwidth \ufeff \ufffe \U0010ffff\n"
           "alone\rhere\r\r\nend. javascript:alert(1)")
VOID = {"meta"}
MAY_END = {"li", "tr", "td", "th", "thead", "tbody", "dt", "dd"}  # those whose end may be left out
SIBLINGS = {"td": {"td", "th"}, "th": {"td", "th"}, "tr": {"td", "th", "tr"}, "tbody": {"td", "th", "tr", "thead"}, "li": {"li"},
            "dt": {"dt", "dd"}, "dd": {"dt", "dd"}}


class Page(html.parser.HTMLParser):
    """A page taken apart: its faults, ids, links, marks and texts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.ids, self.links, self.marks = [], [], [], [], []
        self.sources, self.texts, self.tags, self.title = [], {}, set(), ""
        self.feed(text)
        self.close()
        if self.open:
            self.faults.append(f"open at the end: {self.open}")

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.tags.add(tag)
        if len(a) != len(attributes):
            self.faults.append(f"{tag} has an attribute twice: {attributes}")
        self.faults += [f"{tag} has {name}" for name in a if name.startswith("on") or name in ("src", "srcset", "action", "ping")]
        if "id" in a:
            self.ids.append(a["id"])
        if "href" in a:
            self.links.append(a["href"])
        while self.open and self.open[-1][0] in SIBLINGS.get(tag, ()):
            self.open.pop()
        if tag == "mark":
            self.marks.append(a)
        if tag not in VOID:
            self.open.append((tag, a))
        if "data-source" in a:
            self.sources.append((int(a["data-source"]), int(a["data-bytes"]), []))
        if tag == "span" and "data-b" in a:
            self.sources[-1][2].append([*map(int, a["data-b"].split(":")), ""])

    def handle_endtag(self, tag):
        while self.open and self.open[-1][0] != tag and self.open[-1][0] in MAY_END:
            self.open.pop()
        if not self.open or self.open[-1][0] != tag:
            self.faults.append(f"</{tag}> where {self.open[-1:]} is open")
        else:
            self.open.pop()

    def handle_data(self, data):
        names = [t for t, _ in self.open]
        if names and names[-1] == "title":
            self.title += data
        if any("data-source" in a for _, a in self.open):
            if not any(t == "span" and "data-b" in a for t, a in self.open):
                self.faults.append(f"text of no source: {data!r}")
            else:
                self.sources[-1][2][-1][2] += data
        if any(a.get("class") == "answer" for _, a in self.open):
            self.texts["answer"] = self.texts.get("answer", "") + data

    def handle_comment(self, data):
        self.faults.append(f"a comment: {data}")

    def handle_pi(self, data):
        self.faults.append(f"an instruction: {data}")

    def unknown_decl(self, data):
        self.faults.append(f"a declaration: {data}")


def shown(text):
    """What a page can hold of a text: all but NUL."""
    return text.replace("\0", "\ufffd")


class Html(Run):
    def page(self, *arguments, model=None):
        result = self.raw("run", model or self.model, "--format", "html", "-o", "page.html", *arguments)
        self.assertEqual((result.returncode, result.stdout), (0, b""), result.stderr.decode())
        data = (self.dir / "page.html").read_bytes()
        self.assertLessEqual(len(data), 1_000_000)
        return self.sound(Page(data.decode()))

    def sound(self, p):
        self.assertEqual(p.faults, [])
        self.assertEqual(len(set(p.ids)), len(p.ids))
        for link in p.links:
            self.assertTrue(link.startswith("#") and link[1:] in p.ids, link)
        self.assertFalse(p.tags & {"script", "img", "link", "iframe", "object", "base", "form", "svg", "input"}, p.tags)
        return p

    def same(self, p, files):
        """Every source of every target, whole and in order."""
        self.assertEqual([s for s, _, _ in p.sources], list(range(len(files))) * (len(p.sources) // len(files)))
        for number, n, pieces in p.sources:
            data = files[number].encode()
            self.assertEqual(n, len(data))
            self.assertEqual("".join(text for _, _, text in pieces), shown(files[number]))
            self.assertEqual([b for b, _, _ in pieces] + [n], [0] + [e for _, e, _ in pieces])
            for begin, end, text in pieces:
                self.assertEqual(text, shown(data[begin:end].decode()))


class Pages(Html):
    given = ("--prefix", "", "--target", "the end", "--context", "4K")

    def test_texts(self):
        files = [*TORTURE.values(), HOSTILE]
        options = [x for i, text in enumerate(files) for x in ("-f", self.write(f"{i}.txt", text))]
        for level in ("token", "word", "sentence", "paragraph", "source"):
            p = self.page(*options, "-q", HOSTILE.replace("\0", ""), *self.given, "--level", level, "--top", "1000")
            self.same(p, files)
            self.assertIn("<script>alert(1)</script>", p.title)
            self.assertIn("the end", p.title)
            self.assertEqual(p.texts["answer"], "the end")

    def test_names(self):
        name = "<img src=x>\" '&amp;\u202e.txt"
        p = self.page("-f", self.write(name, "The end."), *self.given)
        self.same(p, ["The end."])

    def test_marks(self):
        text = "The inner theory. The other one. A third. And the end. " * 4
        given = ("-f", self.write("a.txt", text), *self.given)
        p, report = self.page(*given, "--top", "3"), self.report(*given)
        spans = {tuple(s["range"]): s for s in report["targets"][0]["spans"]}
        ranked = {}
        for mark in p.marks:
            span = spans[tuple(map(int, mark["data-b"].split(":")))]
            self.assertAlmostEqual(float(mark["data-s"]), span["score"], delta=0.006 * abs(span["score"]))
            self.assertEqual(mark["class"][0], "n" if mark["class"] != "p0" and span["score"] < 0 else "p")
            if "data-r" in mark:
                ranked[int(mark["data-r"])] = span["rank"]
                self.assertEqual(mark["id"], f"t0r{span['rank']}")
                self.assertRegex(mark["aria-label"], f"^rank {span['rank']}, score [+\u2212]")
            else:
                self.assertNotIn("aria-label", mark)
        self.assertEqual(ranked, {1: 1, 2: 2, 3: 3})

    def test_targets(self):
        text = "The inner theory. The other one."
        p = self.page("-f", self.write("a.txt", text), "--next", "5", "-n", "8")
        self.assertEqual(len(p.sources), 5)
        self.same(p, [text])

    def test_methods(self):
        text = "The inner theory. The other one. A third. And the end."
        for method in ("rows", "flow", "loo", "ablate", "attention"):
            p = self.page("-f", self.write("a.txt", text), *self.given, "--method", method, "--verify", "8", "--foil", "x")
            self.same(p, [text])

    def test_long(self):
        # Far from the best sentences the text is closed, and there all the same; one line without an end is cut, too.
        text = "".join(f"Line {i} of the text is here & there.\n" for i in range(300)) + "word " * 3000
        p = self.page("-f", self.write("a.txt", text), *self.given, "--context", "32K", "--top", "3")
        self.same(p, [text])
        self.assertIn("details", p.tags)

    def test_the_checker_can_fail(self):
        for bad in ("<div><b></div></b>", "<p id=a></p><p id=a>", "<i onclick=x></i>", "<div>", "<!-- a -->", "<script></script>"):
            with self.assertRaises(AssertionError):
                self.sound(Page(bad))


@unittest.skipUnless(chromium.PROGRAM, "there is no Chromium here: apt-get install chromium")
class Browser(Html):
    given = Pages.given
    SELECT = """(() => { const s = getSelection(), r = document.createRange(); s.removeAllRanges();
                r.selectNodeContents(document.querySelectorAll('.src')[%d]); s.addRange(r); })()"""

    def test_copies(self):
        long = "".join(f"Line {i} of the text is here & there.\n" for i in range(300))
        files = [*TORTURE.values(), HOSTILE, long]
        options = [x for i, text in enumerate(files) for x in ("-f", self.write(f"{i}.txt", text))]
        self.page(*options, "-q", "Where?", *self.given, "--context", "32K", "--level", "word")
        with chromium.Chromium() as c:
            c.load(self.dir / "page.html")
            self.assertEqual(c.run("document.querySelectorAll('.src').length"), len(files))
            c.run("document.querySelectorAll('details').forEach(d => d.open = true)")
            for i, text in enumerate(files):
                self.assertEqual(c.run(f"document.querySelectorAll('.src')[{i}].textContent"), shown(text))
                c.run(self.SELECT % i)
                self.assertEqual(c.run("getSelection().toString()").rstrip("\r\n"), shown(text).rstrip("\r\n"))
            asked = [e for e in c.events if e["method"] == "Network.requestWillBeSent"]
            self.assertEqual([e["params"]["request"]["url"].rsplit("/", 1)[1] for e in asked], ["page.html"])
            self.assertEqual([e for e in c.events if e["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")], [])

    def test_contrast(self):
        """Every shade, light and dark, bears its text: 4.5 to 1."""
        self.page("-f", self.write("a.txt", "The inner theory."), *self.given)
        script = """[...document.querySelectorAll('.legend i')].map(i => { const s = getComputedStyle(i);
                    return [s.backgroundColor, s.color]; })"""

        def luminance(colour):
            parts = [int(x) / 255 for x in re.findall(r"\d+", colour)[:3]]
            parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

        with chromium.Chromium() as c:
            c.load(self.dir / "page.html")
            for scheme in ("light", "dark"):
                c.media(prefers_color_scheme=scheme)
                pairs = c.run(script)
                self.assertEqual(len(pairs), 20)
                for ground, ink in pairs:
                    a, b = sorted((luminance(ground), luminance(ink)))
                    self.assertGreaterEqual((b + 0.05) / (a + 0.05), 4.5, (scheme, ground, ink))
                self.assertEqual((pairs[0][0], pairs[-1][0]), ("rgb(213, 94, 0)", "rgb(0, 114, 178)"))
            for width in (320, 1000):
                c.size(width, 800)
                self.assertLessEqual(c.run("document.documentElement.scrollWidth"), width)


del Run

if __name__ == "__main__":
    unittest.main()
