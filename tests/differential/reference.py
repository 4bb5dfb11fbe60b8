#!/usr/bin/env python3
"""The reference as a worker process: HTCondor's own ClassAd library through its Python bindings.

Reads requests from standard input, one a line: `KIND HOW INPUT OUTPUT`, where KIND is `eval`, `ads` or `show`, and INPUT and
OUTPUT are names of files of JSON lines.
HOW is `fast` (one write at the end) or `careful` (every answer is written before the next case begins, so that the case
that kills or hangs the library is known; and what the fast way takes for granted is checked). Answers each request with
the line `done`.

The evaluation mode is a switch of the whole process, set in the environment before it starts: see `environment`.
"""
import ctypes
import glob
import json
import os
import signal
import sys

LONGEST = 3  # seconds that a case may take; the worker dies of one that takes longer

FIXED = {
    "TZ": "UTC", "LC_ALL": "C", "LANG": "C", "CONDOR_CONFIG": "ONLY_ENV",
    "_CONDOR_TOOL_CLASSAD_USER_MAP_NAMES": "groups re",
    "_CONDOR_CLASSAD_USER_MAPDATA_groups": "* alice physics,chem",
    "_CONDOR_CLASSAD_USER_MAPDATA_re": r"* /^(.*)@cs[.]example$/i \1",
}


def environment(mode):
    """The environment in which the library evaluates in a mode, with the maps that the conformance cases use."""
    strict = {"_CONDOR_STRICT_CLASSAD_EVALUATION": "True"} if mode == "strict" else {}
    return {**os.environ, **FIXED, **strict}


quote = json.encoder.encode_basestring_ascii

FIRST = {'"': "string", "{": "list", "[": "classad", "t": "boolean", "f": "boolean", "u": "undefined", "e": "error", "a": "abstime"}


def type_of(text):
    """The type of the value that a canonical text shows."""
    known = FIRST.get(text[0])
    if known:
        return known
    if text[0] == "r":
        return "reltime" if text.startswith("relTime(") else "real"
    return "integer" if text.lstrip("-").isdigit() else "real"


class Reference:
    """Answers cases as the records of the conformance corpus were made."""

    def __init__(self):
        import classad2
        import htcondor2  # noqa: F401  (loads the configuration, which selects the mode)
        self.library = classad2
        self.scopes = {}
        self.printer = None

    def full_parse(self, text):
        """Whether the text is accepted as a complete expression on its own."""
        try:
            self.library.unquote(text)
            return True
        except ValueError as error:
            return "Invalid string to unquote" not in str(error)

    def parse(self, case, careful):
        text = case["expr"]
        if case.get("syntax") == "old":
            ads = list(self.library.parseAds("expression = " + text + "\n", self.library.ParserType.Old))
            if len(ads) != 1 or list(ads[0].keys()) != ["expression"]:
                raise ValueError("not one attribute")
            return ads[0].lookup("expression")
        ad = self.library.ClassAd("[expression = " + text + "\n]")
        # `1;` and `a]` are swallowed by the brackets. Rarely generated, so only looked for when the answers differ.
        if careful and (list(ad.keys()) != ["expression"] or not self.full_parse(text)):
            raise ValueError("not one expression")
        return ad.lookup("expression")

    def scope(self, side, text):
        if text is None:
            return None
        # Both sides of a match are different ads even when they look alike.
        ad = self.scopes.get((side, text))
        if ad is None:
            ad = self.scopes[side, text] = self.library.ClassAd(text)
        return ad

    def eval(self, case, careful):
        """The line that answers a case of kind `eval`."""
        start = '{"id":%s,' % json.dumps(case.get("id"))
        if careful:
            self.scopes.clear()
        try:
            my = self.scope("my", case.get("my")) or self.library.ClassAd()
            target = self.scope("target", case.get("target"))
        except Exception:
            return start + '"malformed":"ad"}'
        try:
            expr = self.parse(case, careful)
        except Exception:
            if case.get("syntax") != "old" and self.full_parse(case["expr"]):
                return start + '"parse":false,"full_parse":true}'
            return start + '"parse":false}'
        try:
            start += '"parse":true,"unparsed":%s,"value":' % quote(repr(expr))
            text = repr(expr.simplify(my, target))
        except self.library.ClassAdException:
            return start + '{"type":"error","text":"error","failed":true}}'
        except UnicodeDecodeError:
            return start + '"not text"}'
        kind = type_of(text)
        start += '{"type":"%s","text":%s' % (kind, quote(text))
        if kind == "reltime":
            start += ',"seconds":%s' % json.dumps(expr.eval(my, target))
        return start + "}}"

    # ---- whole ads ------------------------------------------------------------------------------------------------

    def xml(self, ad):
        """The XML of an ad, compact and spaced: the bindings do not wrap the library's XML printer."""
        if self.printer is None:
            site = os.path.dirname(os.path.dirname(self.library.__file__))
            printer = ctypes.CDLL(glob.glob(os.path.join(site, "htcondor.libs", "libclassad-*.so*"))[0])
            prefix = "_ZN7classad18ClassAdXMLUnParser"
            printer.create = getattr(printer, prefix + "C1Ev")
            printer.spacing = getattr(printer, prefix + "17SetCompactSpacingEb")
            printer.unparse = getattr(
                printer, prefix + "7UnparseERNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEPKNS_8ExprTreeE")
            self.printer = printer
        printer, texts = self.printer, []
        for compact in (True, False):
            unparser = ctypes.create_string_buffer(256)
            printer.create(ctypes.byref(unparser))
            printer.spacing(ctypes.byref(unparser), ctypes.c_bool(compact))
            string = ctypes.create_string_buffer(32)  # an empty std::string
            base = ctypes.addressof(string)
            ctypes.c_void_p.from_address(base).value = base + 16
            ctypes.c_size_t.from_address(base + 8).value = 0
            tree = ctypes.c_void_p.from_address(id(ad._handle) + object.__basicsize__).value
            printer.unparse(ctypes.byref(unparser), ctypes.byref(string), ctypes.c_void_p(tree))
            start = ctypes.c_void_p.from_address(base).value
            length = ctypes.c_size_t.from_address(base + 8).value
            texts.append(ctypes.string_at(start, length).decode("utf-8"))
        return texts

    def show(self, ad):
        compact, spaced = self.xml(ad)
        return {"attrs": list(ad.keys()), "new": repr(ad), "pretty": str(ad), "old": ad.printOld(), "json": ad.printJson(),
                "xml": compact, "xml_spaced": spaced}

    def ads(self, case, _careful):
        """The line that answers a case of kind `ads`."""
        types = self.library.ParserType
        formats = {"old": types.Old, "xml": types.XML, "json": types.JSON, "new": types.New, "auto": types.Auto,
                   "jsonl": 4, "newl": 5, "fileauto": 6}
        answer = {"id": case.get("id"), "ads": [], "ok": True}
        try:
            if case["format"] == "single":
                try:
                    ad = self.library.ClassAd(case["input"])
                except Exception:
                    answer["ok"] = False
                else:
                    answer["ads"].append(self.show(ad))
            else:
                stream = self.library.parseAds(case["input"], formats[case["format"]])
                while True:
                    try:
                        ad = next(stream)
                    except StopIteration:
                        break
                    except UnicodeDecodeError:
                        raise
                    except Exception:
                        answer["ok"] = False
                        break
                    answer["ads"].append(self.show(ad))
        except UnicodeDecodeError:
            answer["ads"] = "not text"
        return json.dumps(answer, separators=(",", ":"))

    def shown(self, case, _careful):
        """An ad of new syntax in every printed form, to make inputs of."""
        try:
            return json.dumps(self.show(self.library.ClassAd(case["input"])))
        except Exception:
            return "null"


def serve():
    reference = Reference()
    answer = {"eval": reference.eval, "ads": reference.ads, "show": reference.shown}
    for request in sys.stdin:
        kind, how, source, sink = request.rstrip("\n").split("\t")
        careful = how == "careful"
        answer_one = answer[kind]
        reference.scopes.clear()
        with open(source, encoding="utf-8") as cases, open(sink, "w", encoding="ascii") as answers:
            for line in cases:
                signal.setitimer(signal.ITIMER_REAL, LONGEST)
                answers.write(answer_one(json.loads(line), careful) + "\n")
                if careful:
                    answers.flush()
            signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
