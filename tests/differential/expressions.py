"""Random expressions, mostly well typed, and the ads they are evaluated in.

Expressions grow: a new one is a random operator, call, reference, list or ad around earlier ones, which are kept by the type
the reference gave them. So every expression costs one random step, deep ones appear by themselves, and an expression whose
answers differed is never built upon. Everything follows from the seed.
"""
import json

from edges import MY, TARGET, Edges

INTEGERS = """0 1 2 3 4 5 7 8 10 16 31 32 33 42 60 63 64 65 90 100 127 255 256 1000 3600 65535 86399 86400 90061 1000000 1577836800 2147483647 2147483648
4294967295 4294967296 4294967297 9007199254740992 9007199254740993 4611686018427387904 9223372036854775806 9223372036854775807 9223372036854775808
18446744073709551615 99999999999999999999 -1 -2 -3 -5 -8 -64 -100 -86401 -2147483648 -2147483649 -9223372036854775807 -9223372036854775808
-9223372036854775809 -0""".split()
ODD_INTEGERS = "00 01 010 08 -010 -08 0x0 0x10 0Xff -0x10 0x 0xg 1K".split()
REALS = """0.0 -0.0 0.5 -0.5 1.0 1.5 2.5 -2.5 3.5 .5 -.5 0.1 0.2 0.3 1e0 1e1 1E2 1e-1 1e15 1e16 1e17 123456789.125 1.7976931348623157e308 2.2250738585072014e-308
4.9e-324 1e-400 1e400 -1e400 1e308 -1e308 9.3e18 9223372036854775807.0 9223372036854775808.0 -9223372036854775808.0 4294967296.5 2147483648.5 1e-9 3.14159265358979
99999.99999999999 0.30000000000000004 1e22 1e23 5e-1 00.5 08.5 6.02e+23 real("NaN") real("INF") real("-INF")""".split()
ODD_REALS = "1. 1.e5 1e 1e+ 5.5.5 1e5.5 .e5 1.5f".split()
STRINGS = ["", "a", "A", "ab", "AB", "abc", "aBc", "b", "c", "x", "true", "FALSE", "undefined", "error", "1", "2", " 12 ", "12abc", "1e3", "0x10", "010", "inf", "-inf", "nan",
           "1.5", "-3", "a b", " a ", "a,b", "a, b ,c", ",", " ", "a,,b", "1,2,3", "1.5 2", "u@d", "a@b@c", "@", "slot1@h.example", "alice", "alice@cs.example", "\t", "\n", "\r\n", "\x07\x08\x0b\x0c", "\x01\x1f\x7f",
           "\"", "'", "\\", "\\\\", "a\\", "\\n", "é", "日本", "\u00ff", "\U0001f600", "?", "<&>", "/*", "//", "[a=1]", "{1}", "a+1", "1+1", "$$(x)", "%", "9223372036854775808", "1.0", "1.10", "1.9", "0", "00",
           "8.9.3", "8.9.10", "$CondorVersion: 8.9.3 $", "abcabc", "aXbXc", "xx", "aaa", "LINUX", "Linux", "X86_64", "2020-01-01T00:00:00Z"]
# Texts of strings that Python cannot hold: bytes that are not UTF-8, odd escapes, strings that join.
RAW_STRINGS = [r'"\377"', r'"a\200b"', r'"\303\251"', r'"\303"', r'"\1"', r'"\12"', r'"\1234"', r'"\400"', r'"\38"', r'"\x41"', r'"\u0041"', r'"\/"', r'"\?"', r'"\'+"\\'+"'"+r'"', '"a" "b"', '"a""b"', '"\\1" "23"', '"a"\n\t"b"',
               r'"\0"', r'"\000"', r'"a\0b"', r'"\08"', '"a']
ABS_TIMES = ['absTime("2020-01-01T00:00:00Z")', 'absTime("2020-02-29T12:34:56+01:00")', 'absTime("1969-12-31T23:59:58Z")', 'absTime("1999-12-31 23:59:59 -0500")', "absTime(0)", "absTime(5,3600)", "absTime(1577836800,-3600)",
             "absTime(-86401,0)", "absTime(2147483647,0)", "absTime(-2147483648,0)", "absTime(951782400,1)", "absTime(0,86399)", 'absTime("2020-01-01T00:00:00Z")']
REL_TIMES = ["relTime(90)", "relTime(0)", "relTime(-90)", "relTime(90061.5)", "relTime(-3661)", "relTime(0.25)", "relTime(2147483647)", "relTime(-86400)", "relTime(59.999)", "relTime(1e9)"]
REL_LITERALS = ['relTime("1:30")', 'relTime("3d4h5m6s")', 'relTime("1+00:02:00")', 'relTime("-1+02:03:04.5")', 'relTime("")', 'relTime("90")', 'relTime("0.5")']
LISTS = ["{}", "{ 1 }", "{ 1, 2, 3 }", '{ "a", "b", "A" }', "{ undefined }", "{ error }", "{ 1, undefined, 3 }", "{ 1.5, 2, true }", "{ [a=1], [a=2; b=a], [c=3] }", "{ {1}, {2} }", "{ x, y, a }", '{ "1", 2, relTime(3) }', "{ a.b, MY.a, TARGET.a }"]
ADS = ["[]", "[a=1]", "[a=1;b=a+1]", "[b=x;c=MY.b;d=parent.a]", "[x=[y=[z=a]]]", "[a=a]", "[a=b;b=a]", '[s="t";l={1,2}]', "[Seconds=1;Minutes=2;Hours=3;Day=4;Month=5;Year=2021]", "[parent=1;self=2]", "['a b'=1; 'is'=2]",
       "[q=TARGET.a;r=OTHER.x;y=.a]"]
NAMES = ["a", "b", "c", "d", "x", "y", "z", "A", "B", "X", "K", "longer_name", "Rank", "requirements", "_1"]
ODD_NAMES = ["'a b'", "'is'", "'1x'", "'é'", "''", "parent", "self", "root", "toplevel", "nope", "'Parent'", "SELF", "'a' 'b'", "ad", "LEFT", "RIGHT", "lCtx", "rCtx", "symmetricMatch", "leftRankValue", "rightMatchesLeft", "Other", "Target", "my"]
SCOPES = ["MY", "TARGET", "OTHER", "parent", "self", "root", "toplevel", "LEFT", "RIGHT", "ad", "my", "target", "a", "x", "d", ".LEFT", ".RIGHT", "TARGET.TARGET", "parent.parent", "MY.a", "nope", ".lCtx", ".a"]
PLAIN_SELECTORS = ["a", "b", "c", "d", "x", "y", "z", "A", "longer_name", "nope", "parent", "self", "MY", "TARGET", "Rank"]
ODD_SELECTORS = ["'a b'", "'é'", "'is'"]
BINARY = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "=?=", "=!=", "is", "isnt", "&&", "||", "&", "|", "^", "<<", ">>", ">>>"]
ARITHMETIC = ["+", "-", "*", "/", "%"]
COMPARISON = ["<", "<=", ">", ">=", "==", "!=", "=?=", "=!=", "is", "ISNT"]
BITS = ["&", "|", "^", "<<", ">>", ">>>"]
LOGIC = ["&&", "||"]
UNARY = ["-", "+", "!", "~", "- ", "! ", "- -", "!!", "-~"]
NOISE = [" ", "  ", "\t", "\n", "/*c*/", "//c\n", "/**/", "\r\n", "\v\f", "/* * / */"]
JUNK = list("+-*/%<>=!&|^~?:;,.()[]{}'\"\\@#$`_ \n") + ["==", "=?=", "=!=", "?:", "? :", ">>>", "..", "is", "isnt", "1", "a", ".5", "é", "\x7f", "\x01", "=", "=?", "/*", "//", "\"x\"", "true", "-", "--5"]

PATTERNS = ["", "a", "b", "abc", "^a", "c$", ".", ".*", "a*", "x*", "a+", "(a)(b)?", "(a|b)", "[a-c]", "[^a]", "\\d+", "\\s", "a.c", "A", "(", "[", "a{2}", "a{,2}", "(?i)a", "\\bab", "^$", "$", "^", "(a)|(b)", "(?:a)(b)", "\\.", "é", "a|", "(x)?b",
            "\\x41", "(?=a)", "(?<!a)b", "\\1", "(.)\\1", "[[:alpha:]]", "\\Qa\\E", "a #c", "x*?", "(?<n>a)"]
OPTIONS = ["", "i", "m", "s", "x", "f", "g", "gf", "im", "I", "q", "if", "mg", "sx"]
REPLACEMENTS = ["", "X", "\\0", "\\1", "\\2", "<\\0>", "\\", "\\a", "\\9", "$1", "&", "\\\\", "a\\1b\\0", "\\10", "é"]
FORMATS = ["%Y-%m-%d", "%H:%M:%S", "%c", "%j %U %w", "%a %b %d", "%%", "", "%p", "%e%n%t", "%y %C", "%G-W%V-%u", "%I", "%x %X", "%D %F %R %T", "%A %B", "x", "%s", "%q", "%", "%Ey", "%10Y"]
STRING_LISTS = ["", "a", "a,b", "a, b", " a ,b ", ",,a", "a,,b,", "1,2,3", "1.5, 2", "-5,-3", "a b\tc", "A,b", "x;y", "3 1 2", "1e3,5", "0x10", "inf,1", "1,x", "\n a", ";", "1,2;3", "a a", "+1,-0"]
DELIMITERS = [",", " ", ";", ", ", "", "a", "\t", ":;", "é"]
VERSIONS = ["1", "1.0", "1.00", "8.9", "8.10", "8.09", "08.9", "a1", "a01", "a10", "a", "", "1.2.3", "1.2.3a", "0", "00", "000", "010", "01", "09", "9", "10", "$CondorVersion: 8.9.3 x", "A1", "1-2", "1_2", "é"]
ENVIRONMENTS = ["", "a=b", "a=b c=d", "a='b c'", "a=''", "'a=b", "a", "=b", "a=b;c=d", "|a=b|c=d", "a=b a=c", "a=1 'b=x''y'", "$$(x)", ";a=b", "a=b\nc=d", " a = b ", "a==b", "é=ü", "a=\"b\"", "a=$$(b);$$x", "a=b;;c=d"]
ARGUMENTS = ["", "a", "a b", "a 'b c'", "''", "a''b", "'a", "a\tb\nc", "'a''b'", "é 'ü'", " a  b ", "a\"b"]
COMPARES = ["<", "<=", "!=", "==", ">", ">=", "is", "isnt", "=?=", "IS", "", "+"]
MAPS = ["groups", "GROUPS", "re", "nope", "groups.*", "re.x", ""]
USERS = ["alice", "bob", "alice@cs.example", "", "Alice", "x@CS.example", "a@b@cs.example"]
TEXTS = ["1+1", "a", "MY.a", "TARGET.a", "1 junk", "true ? 1 : 2 junk", "(", "", "{1,2}", "[a=2].a", "x.y", "\"s\"", "eval(\"a\")", "undefined", "error", "1;", "a b", "-5", "a=1", "relTime(\"1:00\")", "absTime(\"2020-01-01\")", "/*", "1//x", "010"]
TIME_TEXTS = ["2020-01-01T00:00:00Z", "2020", "2020-02", "2020-13-45", "20200101T000000+0100", "2020-01-01 00:00:00.5", "x", "", "1969-12-31T23:59:59Z", "2020-01-01T25:61:61-99:99", "1-1-1", "9999-12-31T23:59:59Z", "0001-01-01", "2020-1-1", "2020-06-15 12:00 z",
              "2020-06-15T12:00:00+05:30", "2020-06-15T12:00:00-0530", "1600-02-29"]
DURATIONS = ["1:30", "90", "3d4h5m6s", "1+00:02:00", "-1+02:03:04.5", "", "x", "1:2:3", "1:2:3:4", "5s", "5m", "5h", "5d", "-5", "- 5", "1.5", ".5", "1.", "1h30", "99:99:99", "1d2m", " 1 : 30 ", "1e3", "-0:00:01", "1+2", "0.25s", "1H 2M 3S"]

SHAPES = ["undefined", "error", "boolean", "integer", "real", "string", "abstime", "reltime", "list", "classad"]
LONGEST = 240
KEPT = 300


def literal(text):
    """A string literal of new syntax for a text without NUL."""
    out = ['"']
    for character in text:
        code = ord(character)
        if character in '"\\':
            out.append("\\" + character)
        elif code < 32 and character != "\t" or code == 127:
            out.append("\\%03o" % code)
        else:
            out.append(character)
    out.append('"')
    return "".join(out)


class Generator:
    """Grows expressions and ads from a source of random numbers."""

    def __init__(self, random, mode, functions, missing=()):
        self.random = random.random
        self.mode = mode
        strings = [literal(text) for text in STRINGS]
        names = NAMES * 4 + ["TARGET." + name for name in PLAIN_SELECTORS] + ["MY." + name for name in PLAIN_SELECTORS]
        self.atoms = {
            "undefined": ["undefined", "UNDEFINED", "nope", "TARGET.nope", "MY.nope"], "error": ["error", "1/0", '"a"+1'],
            "boolean": ["true", "false", "TRUE", "False", "1<2"], "integer": INTEGERS, "real": REALS + REL_LITERALS,
            "string": strings * 3 + RAW_STRINGS, "abstime": ABS_TIMES, "reltime": REL_TIMES, "list": LISTS, "classad": ADS, "name": names,
        }
        # Times are made by functions; a text of one string is a literal.
        absent = [name.lower() + "(" for name in missing]
        for shape, atoms in self.atoms.items():
            fine = [atom for atom in atoms if '("' in atom or not any(call in atom.lower() for call in absent)]
            self.atoms[shape] = fine or ["1"]
        self.strings = strings
        self.kept = {shape: list(self.atoms[shape]) for shape in SHAPES}
        self.calls = [(name, shapes.split() or [""]) for name, shapes, _ in functions]
        letters = {
            "R": PATTERNS, "O": OPTIONS, "P": REPLACEMENTS, "F": FORMATS, "L": STRING_LISTS, "D": DELIMITERS, "V": VERSIONS, "E": ENVIRONMENTS, "Z": ARGUMENTS,
            "Q": COMPARES, "M": MAPS, "U": USERS, "T": TEXTS, "K": TIME_TEXTS, "J": DURATIONS,
        }
        self.letters = {letter: [literal(text) for text in texts] for letter, texts in letters.items()}
        self.shapes = {"i": ("integer",), "r": ("real",), "n": ("integer", "real", "boolean"), "b": ("boolean",), "s": ("string",), "l": ("list",),
                       "a": ("classad",), "t": ("abstime",), "d": ("reltime",)}
        self.contexts = [(None, None, "")]
        weights = [(self.binary, 26), (self.unary, 5), (self.conditional, 4), (self.default, 4), (self.paren, 5), (self.reference, 9), (self.select, 7), (self.subscript, 5),
                   (self.list, 5), (self.ad, 6), (self.atom, 5), (self.broken, 5), (self.noisy, 3), (self.sequence, 2), (self.odd, 2)]
        if self.calls:
            weights.append((self.call, 50))
            weights.append((Edges(random.random, literal).expression, 25))
        self.makers = [maker for maker, weight in weights for _ in range(weight)]

    # ---- choosing -------------------------------------------------------------------------------------------------

    def pick(self, things):
        return things[int(self.random() * len(things))]

    def of(self, shape):
        """An expression of a type, mostly."""
        return self.pick(self.kept[shape if self.random() < 0.93 else self.pick(SHAPES)])

    def any(self):
        if self.random() < 0.2:
            return self.pick(self.atoms["name"])
        return self.pick(self.kept[self.pick(SHAPES)])

    def operand(self, text):
        """Keeps an operand together, most of the time."""
        return "(" + text + ")" if self.random() < 0.35 and len(text) > 3 else text

    # ---- one step -------------------------------------------------------------------------------------------------

    def expression(self):
        return self.pick(self.makers)()

    def binary(self):
        kind = self.random()
        if kind < 0.25:
            operator, shapes = self.pick(ARITHMETIC), ("integer", "integer", "real", "boolean")
        elif kind < 0.32:
            operator, shapes = self.pick(ARITHMETIC), ("abstime", "reltime", "reltime", "integer", "real")
        elif kind < 0.55:
            shape = self.pick(SHAPES)
            operator, shapes = self.pick(COMPARISON), (shape, shape, shape, "integer", "real")
        elif kind < 0.7:
            operator, shapes = self.pick(LOGIC), ("boolean", "boolean", "integer", "undefined", "error", "real")
        elif kind < 0.8:
            operator, shapes = self.pick(BITS), ("integer",)
        else:
            operator, shapes = self.pick(BINARY), SHAPES
        left, right = self.operand(self.of(self.pick(shapes))), self.operand(self.of(self.pick(shapes)))
        space = " " if self.random() < 0.8 or operator[0].isalpha() else ""
        return left + space + operator + space + right

    def unary(self):
        return self.pick(UNARY) + self.operand(self.any())

    def conditional(self):
        condition = self.of("boolean") if self.random() < 0.7 else self.any()
        return "%s ? %s : %s" % (self.operand(condition), self.any(), self.any())

    def default(self):
        left = self.of("undefined") if self.random() < 0.5 else self.any()
        return self.operand(left) + self.pick([" ?: ", " ? : ", "?:"]) + self.operand(self.any())

    def paren(self):
        return "(" + self.any() + ")"

    def reference(self):
        kind = self.random()
        name = self.pick(NAMES if self.random() < 0.8 else ODD_NAMES)
        if kind < 0.3:
            return name
        if kind < 0.4:
            return "." + name
        return self.pick(SCOPES) + "." + self.pick(PLAIN_SELECTORS if self.random() < 0.95 else ODD_SELECTORS)

    def select(self):
        base = self.of("classad" if self.random() < 0.7 else "list")
        return self.operand(base) + "." + self.pick(PLAIN_SELECTORS if self.random() < 0.95 else ODD_SELECTORS)

    def subscript(self):
        if self.random() < 0.6:
            return "%s[%s]" % (self.of("list"), self.of("integer") if self.random() < 0.5 else self.pick(["0", "1", "2", "-1", "4294967297"]))
        return "%s[%s]" % (self.of("classad"), self.of("string") if self.random() < 0.4 else literal(self.pick(PLAIN_SELECTORS)))

    def list(self):
        return "{ " + ", ".join([self.any() for _ in range(int(self.random() * 4))]) + " }"

    def ad(self):
        attributes = ["%s = %s" % (self.pick(NAMES if self.random() < 0.9 else ODD_NAMES), self.any()) for _ in range(int(self.random() * 4))]
        return "[ " + "; ".join(attributes) + " ]"

    def atom(self):
        return self.pick(self.atoms[self.pick(SHAPES)])

    def odd(self):
        return self.pick([self.pick(ODD_INTEGERS), self.pick(ODD_REALS), self.pick(ODD_NAMES), self.pick(RAW_STRINGS)])

    def sequence(self):
        """Operators without parentheses, for their precedence."""
        parts = [self.pick(["a", "1", "2", "x", "true", "-3", "1.5", "nope"])]
        for _ in range(2 + int(self.random() * 4)):
            parts.append(self.pick(BINARY + ["?:"]))
            parts.append(self.pick(["b", "1", "2", "x", "!y", "-3", "- 3", "false", "x.y", "{1}[0]", "~1"]))
        return " ".join(parts)

    def broken(self):
        """An expression with something inserted, left out, doubled or swapped: mostly a syntax error."""
        text = self.any() if self.random() < 0.5 else self.binary()
        at, to = int(self.random() * (len(text) + 1)), int(self.random() * (len(text) + 1))
        kind = self.random()
        if kind < 0.5:
            return text[:at] + self.pick(JUNK) + text[at:]
        if kind < 0.75:
            return text[:at] + text[at + 1:]
        at, to = min(at, to), max(at, to)
        return text[:at] + text[at:to] + text[at:] if kind < 0.85 else text[:at] + text[to:]

    def noisy(self):
        text = self.any()
        at = int(self.random() * (len(text) + 1))
        return text[:at] + self.pick(NOISE) + text[at:]

    def argument(self, letter):
        if self.random() < 0.1:
            return self.any()
        shapes = self.shapes.get(letter)
        if shapes:
            return self.pick(self.kept[self.pick(shapes)])
        texts = self.letters.get(letter)
        if texts:
            return self.pick(texts)
        if letter == "x":
            return self.any()
        if letter == "G":
            return "{ " + ", ".join([self.pick(self.strings) for _ in range(int(self.random() * 4))]) + " }"
        if letter == "C":
            return "{ " + ", ".join([self.of("classad") for _ in range(int(self.random() * 3))]) + " }" if self.random() < 0.6 else self.of("list")
        return self.reference()

    def call(self):
        name, shapes = self.pick(self.calls)
        arguments = [self.argument(letter) for letter in self.pick(shapes)]
        chance = self.random()
        if chance < 0.02:
            arguments.append(self.any())
        elif chance < 0.03 and len(arguments) > 1:
            arguments.pop()
        elif chance < 0.08:
            name = name.upper() if chance < 0.05 else name.swapcase()
        separator = ", " if chance < 0.97 else ";" if self.mode == "htcondor" else ","
        return name + "(" + separator.join(arguments) + ")"

    # ---- feeding back ---------------------------------------------------------------------------------------------

    def keep(self, text, shape):
        """Lets an expression, whose value was of a type, be built upon."""
        if len(text) > LONGEST:
            return
        kept = self.kept[shape]
        if len(kept) < KEPT:
            kept.append(text)
        elif self.random() < 0.3:
            kept[int(self.random() * KEPT)] = text
        else:
            kept[int(self.random() * KEPT)] = self.pick(self.atoms[shape])

    # ---- ads ------------------------------------------------------------------------------------------------------

    def whole_ad(self):
        size = int(self.random() * 8)
        attributes = ["%s = %s" % (self.pick(NAMES), self.any()) for _ in range(size)]
        if self.random() < 0.3:
            attributes.append("Requirements = " + self.of("boolean"))
        return "[ " + "; ".join(attributes) + " ]"

    def refresh(self, accepted):
        """New pairs of ads; `accepted` says which texts both sides can read."""
        ads = [self.whole_ad() for _ in range(60)]
        ads = [ad for ad, fine in zip(ads, accepted(ads)) if fine] + ["[]", "[a=1;b=2;x=[y=3];d={1,2}]", MY, TARGET]
        self.contexts = [(None, None, "")] * 3
        for ad in ads:
            my = '"my":' + json.dumps(ad)
            self.contexts.append((ad, None, "," + my))
            target = self.pick(ads)
            self.contexts.append((ad, target, ",%s,\"target\":%s" % (my, json.dumps(target))))
