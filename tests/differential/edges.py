"""Values at the borders of what there is, and calls and operators that take any of them in any place.

Where `expressions.py` makes what makes sense, this makes what nobody would write: every function with every type of
argument and every number of them, failing ones included.
"""
from functions import FUNCTIONS

NUMBERS = r"""0 1 -1 2 3 5 7 8 63 64 65 -64 100 3600 86399 86400 2147483647 2147483648 -2147483648 -2147483649 4294967295 4294967296 4294967297
9007199254740993 9223372036854775807 -9223372036854775808 -9223372036854775807 9223372036854775808 0.0 -0.0 0.5 -0.5 1.0 1.5 2.5 -2.5 3.5 1e9 1e15 1e16
1e17 1e300 -1e300 9.3e18 -9.3e18 9223372036854775807.0 4294967296.5 2147483648.5 1e-9 4.9e-324 0.1 1e400 -1e400 real("NaN") real("INF") real("-INF")""".split()
TEXTS = ["", " ", "a", "A", "abc", "b", "c", "x", "1", "0", "2", "-5", "+5", "1.5", ".5", "5.", "1e3", "1e400", "0x10", "0x1p3", "010", "inf", "-inf", "infinity", "nan", "NAN(1)", "true", "TRUE", "false",
         "undefined", "error", " 1 ", "1 ", "12abc", "- 5", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "a,b", "a, b", "A,b,c", "a b", ",a,,b,", ",", ", ", " ,", ";", "a;b", "1,2",
         "1.0,2", "1 2 3", "-1,-2", "1,x", "\t", "\n", "\r\n", "\v\f", "a\nb", "a\tb", "\x01", "\x7f", "é", "日本", "\"", "'", "\\", "\\\\", "[a=1]", "{1}", "1+", "1+1", "a+1", "MY.a", "(", ")", "[", "[[:alpha:]]", "a+", "a*",
         "^a", "a$", "^", "$", ".", ".*", "(a)", "(a)|(b)", "(.)(.)?", "a|", "\\d", "\\w+", "\\b", "(?i)a", "a{2}", "x*", "i", "g", "f", "gf", "gfi", "m", "s", "q", "I", "\\0", "\\1", "\\2", "\\9", "\\a", "$1", "&", "u@h", "@",
         "a@b@c", "@h", "u@", "slot1@h", "slot1_2@h.example", "groups", "groups.night", "re", "nosuch", "alice", "alice@cs.example", "a=b", "a=b c=d", "a=b;c=d", "a='b c'", "=b", "a", "a=", "'a b'", "'a", "a 'b''c' d", "%Y-%m-%d",
         "%H:%M:%S", "%", "%%", "%q", "%c", "%s %z %Z", "1.2.3", "1.10", "1.9", "1.02", "8.9.3", "10.0.0", "2020-01-01T00:00:00Z", "1:30", "1+02:03:04", "<", "<=", "==", "=?=", "is", "IS", "!=", "isnt", "/*", "//", "a/*b",
         "1 ? 2 : 3 junk", "true ? 1", "$$(x)", "\u00ff"]
OTHERS = ["undefined", "error", "true", "false", "a", "b", "x", "nope", "MY.a", "TARGET.a", ".a", "parent", "self", "TARGET", "MY", "x.y", "nope.y", "MY.x.y", "MY.x.z", "L", "D", "r", "k", "S", "t", "u", "random(0)", "absTime(5,-1)",
          "{}", "{1}", "{1,2,3}", "{3,1,2}", "{1.5,2,true}", '{"a","b","A"}', "{undefined}", "{error}", "{1,undefined}", '{"a",undefined,1}', "{relTime(5),relTime(3)}", "{absTime(5,0)}", "{{1},[a=1]}", "{[a=1],[a=2;b=a]}", "{a,b}", '{"1"}', '{""}',
          "{random(0)}", "{a,a+1,MY.a}", "{true}", "{false,true}", "{-0.0,0}", "{4,\"x\"}", "[]", "[a=1]", "[a=1;b=[c=a]]", "[Year=2021;Month=13;Seconds=-1]", '[Year="x"]', 'split("a,b")', "relTime(0)", "relTime(90)", "relTime(-90.5)",
          "relTime(90061.25)", "relTime(1e18)", "relTime(-0.5)", "relTime(86399.999999)", 'relTime("1:30")', 'relTime("-1+02:03:04.5")', "absTime(0)", "absTime(5,3600)", "absTime(-86401,0)", "absTime(2147483647,-86399)",
          'absTime("2020-02-29T12:34:56+01:00")', 'absTime("9999-12-31T23:59:59Z")', 'absTime("0001-01-01T00:00:00Z")', 'absTime("12020-01-01T00:00:00Z")', '[a=1;l={1,[b=a]}]["l"]', "splitTime(0)", '[x=[y=5]]["x"]', "-(5)", "!true", "(a)",
          "a ?: 5", "nope ?: {1}", "eval(\"a\")", "debug(a)"]
MY = '[a=1;b="x";x=[y=2;z=a;p=parent.a];L={1,a,"s",[a=5]};D={[a=1;q=a],[b=2]};r=a+q;k=TARGET.a+MY.a;S="a,b c";t=absTime("2020-02-29T12:34:56+01:00");u=undefined]'
TARGET = '[a=7;b="y";q=3;x=[y=4;z=MY.a;w=TARGET.a];L={TARGET.a,a};r=TARGET.r;Requirements=a>TARGET.a]'
OPERATORS = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "=?=", "=!=", "&&", "||", "&", "|", "^", "<<", ">>", ">>>", "?:"]
# The answers of these depend on the moment or on chance, unless their arguments are wrong.
CLOCKS = {"time": 1, "currentTime": 1, "dayTime": 1, "timeZoneOffset": 0, "random": 2}


class Edges:
    """Makes calls and operations from a source of random numbers."""

    def __init__(self, random, literal):
        self.random = random
        self.values = [NUMBERS, [literal(text) for text in TEXTS], OTHERS]
        self.functions = [(name, sorted({len(shape) for shape in shapes.split() or [""]})) for name, shapes, _ in FUNCTIONS]
        self.functions += [(name, [least]) for name, least in CLOCKS.items()]

    def pick(self, things):
        return things[int(self.random() * len(things))]

    def value(self):
        chance = self.random()
        return self.pick(self.values[0 if chance < 0.25 else 1 if chance < 0.6 else 2])

    def call(self):
        name, counts = self.pick(self.functions)
        count = self.pick(counts)
        if self.random() < 0.04:
            count = int(self.random() * 5)
            if count < CLOCKS.get(name, 0) or count == 0 and name in ("absTime", "formatTime"):
                count = 3
        return "%s(%s)" % (name, ",".join([self.value() for _ in range(count)]))

    def operation(self):
        kind = self.random()
        if kind < 0.7:
            return "(%s) %s (%s)" % (self.value(), self.pick(OPERATORS), self.value())
        if kind < 0.8:
            return "(%s)[%s]" % (self.value(), self.value())
        if kind < 0.87:
            return "%s(%s)" % (self.pick(["-", "+", "!", "~", "- -", "!!"]), self.value())
        if kind < 0.94:
            return "(%s) ? (%s) : (%s)" % (self.value(), self.value(), self.value())
        return "(%s).%s" % (self.value(), self.pick(["a", "y", "b", "nope", "parent", "q"]))

    def expression(self):
        chance = self.random()
        inner = self.call() if chance < 0.75 else self.operation()
        if chance > 0.93 and not any(clock + "(" in inner for clock in CLOCKS):
            name, _ = self.pick(self.functions)
            if name not in CLOCKS:
                return "%s(%s)" % (name, ",".join([inner if self.random() < 0.5 else self.value() for _ in range(1 + int(self.random() * 2))]))
        return inner
