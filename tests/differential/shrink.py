"""Makes a differing case small: leaves out and replaces tokens as long as it keeps differing in the same way."""
import re

TOKEN = re.compile(r"""\s*(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\.?\d\w*(?:\.\w+)?(?:(?<=[eE])[-+]\d+)?|[A-Za-z_]\w*|=\?=|=!=|>>>|\?:|&&|\|\||[<>=!]=|<<|>>|//[^\n]*|/\*.*?\*/|.)""", re.S)
LINE = re.compile(r"[^\n]*\n|[^\n]+")
OPEN, CLOSE = "([{", ")]}"
MOST = 1500  # candidates in one round


def balanced(tokens):
    depth = 0
    for token in tokens:
        last = token[-1:]
        if last in OPEN:
            depth += 1
        elif last in CLOSE:
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


class Shrinker:
    """Shrinks cases; `answer` gives the answers of both programs to a list of cases."""

    def __init__(self, answer, difference):
        self.answer, self.difference = answer, difference

    def shrink(self, case, signature):
        case = {key: value for key, value in case.items() if value is not None}
        for _ in range(40):
            smaller = self.first(sorted(self.candidates(case), key=size), signature)
            if smaller is None:
                break
            case = smaller
        return case

    def first(self, candidates, signature):
        """The smallest candidate that still differs in the same way."""
        for start in range(0, len(candidates), 400):
            some = candidates[start:start + 400]
            for case, answers in zip(some, self.answer(some)):
                if self.difference(*answers) == signature:
                    return case
        return None

    def candidates(self, case):
        found, now = [], size(case)
        for key in ("my", "target"):
            if key in case:
                found.append({name: value for name, value in case.items() if name != key})
                if case[key] != "[]":
                    found.append({**case, key: "[]"})
        seen = set()
        for key in ("expr", "my", "target", "input"):
            if key in case:
                for text in texts(case[key]):
                    # `absTime()` reads the clock.
                    if text != case[key] and text.strip() and (key, text) not in seen and not re.search(r"absTime(\s|//[^\n]*\n|/\*.*?\*/)*\(\s*\)", text, re.I | re.S):
                        seen.add((key, text))
                        candidate = {**case, key: text}
                        if size(candidate) < now:
                            found.append(candidate)
        if len(found) > MOST:
            found.sort(key=size)
            step = len(found) / MOST
            found = [found[int(at * step)] for at in range(MOST)]
        return found


def size(case):
    return sum(len(str(value)) + (3 if key in ("my", "target") else 0) for key, value in case.items() if key in ("expr", "my", "target", "input"))


def texts(text):
    """Shorter texts of the same kind."""
    tokens = TOKEN.findall(text)
    if len(tokens) > 200 or text.count("\n") > 3:
        tokens = LINE.findall(text)
    count = len(tokens)
    spans = [(at, to) for at in range(count) for to in range(at + 1, count + 1)]
    if len(spans) > 3000:
        spans = [(at, to) for at, to in spans if to - at <= 6 or (to - at) % 7 == 0 or at == 0 or to == count]
    for at, to in spans:
        inner = tokens[at:to]
        level = balanced(inner)
        if level:
            yield "".join(tokens[:at] + tokens[to:])
            if to - at < count:
                yield "".join(inner).lstrip()
            for atom in ("1", "a"):
                yield "".join(tokens[:at]) + " " + atom + "".join(tokens[to:])
        elif to - at == 1:
            yield "".join(tokens[:at] + tokens[to:])
    for at, token in enumerate(tokens):
        stripped = token.lstrip()
        if len(stripped) > 3 and stripped[0] in "\"'":
            for cut in range(1, len(stripped) - 1):
                yield "".join(tokens[:at]) + token[: len(token) - len(stripped)] + stripped[:cut] + stripped[cut + 1:] + "".join(tokens[at + 1:])
            yield "".join(tokens[:at]) + " " + stripped[0] + stripped[0] + "".join(tokens[at + 1:])
        elif stripped[:1].isdigit() and len(stripped) > 1:
            yield "".join(tokens[:at]) + token[: len(token) - len(stripped)] + stripped[: len(stripped) // 2] + "".join(tokens[at + 1:])
