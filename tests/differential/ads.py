"""Random texts of whole ads, in every format: what the reference prints, and that with something changed."""
from expressions import JUNK, Generator

FORMATS = {"single": "new", "new": "new", "old": "old", "json": "json", "xml": "xml", "jsonl": "json", "newl": "new", "auto": "new", "fileauto": "new"}
PIECES = {
    "new": JUNK + ["[", "]", ";", "{\n", "\n,\n", "}\n", "\n\n"],
    "old": JUNK + ["\n", "\n\n", "\r\n", "#", "# c\n", "a = 1\n", "b=2\n", " c  = 3 junk\n", "\t", "= 1", "x =", "\\\"", "***\n", "'q' = 1\n", "a b = 2\n", "[a=1]\n"],
    "json": JUNK + ["{", "}", "[", "]", ",", ":", "null", "true", "NULL", "True", "\"\\/Expr(a+1)\\/\"", "\"/Expr(1)/\"", "\"\\u0041\"", "\\/", "\\u00", ".5", "5.", "-5", "- 5", "01", "1e400", "\"a\":1,", "\n"],
    "xml": ["<", ">", "&", "&lt;", "&amp;", "&gt;", "&quot;", "&#65;", "<a n=\"x\">", "</a>", "<c>", "</c>", "<i>", "</i>", "<i>5</i>", "<r>1.5x</r>", "<s/>", "<s>", "</s>", "<b v=\"t\"/>", "<b v=\"x\"/>", "<un/>", "<er/>", "<at>", "<rt>1:30</rt>", "<e>a+1</e>", "<e></e>", "<l>",
            "</l>", "<x>", "<!-- c -->", "\n", " ", "'", "\"", "\\", "\\n", "\\101", "\\0", "é", "<?xml version=\"1.0\"?>\n", "<classads>", "</classads>", "n=", "-", "1"],
}


class AdTexts:
    """Makes texts of ads from a source of random numbers."""

    def __init__(self, random, functions):
        self.generator = Generator(random, "htcondor", functions)
        self.random = random.random
        self.pick = self.generator.pick

    def ads(self, count):
        for shape in ("integer", "real", "string", "list", "classad", "error"):
            for _ in range(20):
                text = self.generator.expression()
                self.generator.keep(text, shape)
        return [self.generator.whole_ad() for _ in range(count)]

    def changed(self, text, pieces):
        for _ in range(1 + int(self.random() * 3)):
            at, to = sorted((int(self.random() * (len(text) + 1)), int(self.random() * (len(text) + 1))))
            kind = self.random()
            if kind < 0.55:
                text = text[:at] + self.pick(pieces) + text[at:]
            elif kind < 0.7:
                text = text[:at] + text[at + 1:]
            elif kind < 0.8:
                text = text[:at] + text[to:]
            elif kind < 0.9:
                text = text[:at] + text[at:to] + text[at:]
            else:
                text = text[:at]
        return text

    def cases(self, ad):
        """Cases of the kind `ads` around an ad whose printed forms are given."""
        forms = {"new": [ad["new"], ad["pretty"]], "old": [ad["old"]], "json": [ad["json"]], "xml": [ad["xml"], ad["xml_spaced"]]}
        one_line = {"new": ad["new"], "json": " ".join(ad["json"].split("\n")), "old": ad["old"], "xml": ad["xml"]}
        for name, form in FORMATS.items():
            if name in ("auto", "fileauto"):
                form = self.pick(["new", "old", "json", "xml"])
            text = one_line[form] if name in ("jsonl", "newl", "fileauto") and self.random() < 0.8 else self.pick(forms[form])
            if self.random() < 0.3:
                text = text + self.pick(["\n", "", "\n\n", " "]) + self.pick(forms[form])
            if self.random() < 0.7:
                text = self.changed(text, PIECES[form])
            if "\0" not in text:
                yield {"format": name, "input": text}
