"""The builtin functions as the generator calls them: which arguments make sense, and a call that answers.

Letters of arguments: i integer, r real, n number, b boolean, s string, l list, a ad, t absolute time, d relative time, x anything;
R regular expression, O its options, G list of strings, P replacement, F time format, L string list, D delimiters, V version, E environment,
Z arguments, C list of ads, N attribute reference, T text of an expression, M name of a map, U user, Q comparison operator,
K time as text, J relative time as text.
Functions that read the clock, the account database or random numbers are left out, or called in ways that do not.
"""

# name, argument letters of sensible calls, a call whose answer is not error (to see whether a build knows the function)
FUNCTIONS = [
    ("isUndefined", "x", "isUndefined(1)"), ("isError", "x", "isError(1)"), ("isString", "x", "isString(1)"),
    ("isInteger", "x", "isInteger(1)"), ("isReal", "x", "isReal(1)"), ("isBoolean", "x", "isBoolean(1)"),
    ("isList", "x", "isList(1)"), ("isClassAd", "x", "isClassAd(1)"), ("isAbsTime", "x", "isAbsTime(1)"),
    ("isRelTime", "x", "isRelTime(1)"),
    ("int", "n s t d", "int(1)"), ("real", "n s t d", "real(1)"), ("string", "x", "string(1)"), ("bool", "n s d x", "bool(1)"),
    ("floor", "r s n", "floor(1)"), ("ceil", "r s n", "ceil(1)"), ("ceiling", "r n", "ceiling(1)"), ("round", "r s n", "round(1)"),
    ("pow", "nn ii rr ni", "pow(2,2)"), ("quantize", "nn ni nl rl", "quantize(1,2)"),
    ("size", "l a s", 'size("")'), ("sum", "l", "sum({1})"), ("avg", "l", "avg({1})"), ("min", "l", "min({1})"), ("max", "l", "max({1})"),
    ("member", "xl nl sl sG", "member(1,{1})"), ("identicalMember", "xl nl sl sG", "identicalMember(1,{1})"),
    ("anyCompare", "Qln QGs Qlx", 'anyCompare("<",{1},2)'), ("allCompare", "Qln QGs Qlx", 'allCompare("<",{1},2)'),
    ("strcat", "s ss sx xxx", 'strcat("a")'), ("join", "sss sG G sxxx sl xx", 'join(",","a","b")'),
    ("toUpper", "s x", 'toUpper("a")'), ("toLower", "s x", 'toLower("a")'), ("substr", "si sii", 'substr("a",0)'),
    ("strcmp", "ss xx", 'strcmp("a","b")'), ("stricmp", "ss xx", 'stricmp("a","b")'),
    ("split", "s sD L LD", 'split("a")'), ("splitUserName", "s U", 'splitUserName("a")'), ("splitSlotName", "s U", 'splitSlotName("a")'),
    ("absTime", "i r d t s id ii K", "absTime(5)"), ("relTime", "i r d t n J", "relTime(5)"),
    ("getYear", "t", "getYear(absTime(5))"), ("getMonth", "t", "getMonth(absTime(5))"), ("getDayOfYear", "t", "getDayOfYear(absTime(5))"),
    ("getDayOfMonth", "t", "getDayOfMonth(absTime(5))"), ("getDayOfWeek", "t", "getDayOfWeek(absTime(5))"),
    ("getHours", "t d", "getHours(relTime(5))"), ("getMinutes", "t d", "getMinutes(relTime(5))"),
    ("getSeconds", "t d", "getSeconds(relTime(5))"), ("getDays", "d", "getDays(relTime(5))"),
    ("splitTime", "t d i r", "splitTime(relTime(5))"), ("formatTime", "tF iF t i rF aF", "formatTime(5)"), ("interval", "i r s n", "interval(5)"),
    ("timeZoneOffset", "", "timeZoneOffset()"),
    ("ifThenElse", "bxx nxx", "ifThenElse(true,1,2)"), ("eval", "T s x", 'eval("1")'), ("unparse", "N", "unparse(nope)"),
    ("unresolved", "N NR", "unresolved(nope)"), ("debug", "x", "debug(1)"),
    ("versioncmp", "VV ss", 'versioncmp("1","2")'), ("versionLT", "VV", 'versionLT("1","2")'), ("versionLE", "VV", 'versionLE("1","2")'),
    ("versionEQ", "VV", 'versionEQ("1","2")'), ("versionGE", "VV", 'versionGE("1","2")'), ("versionGT", "VV", 'versionGT("1","2")'),
    ("version_in_range", "VVV", 'version_in_range("1","2","3")'),
    ("regexp", "Rs RsO", 'regexp("a","a")'), ("regexpMember", "RG RGO Rl", 'regexpMember("a",{"a"})'),
    ("regexps", "RsP RsPO", 'regexps("a","a","b")'), ("replace", "RsP RsPO", 'replace("a","a","b")'),
    ("replaceAll", "RsP RsPO", 'replaceAll("a","a","b")'),
    ("stringListSize", "L LD", 'stringListSize("a")'), ("stringListSum", "L LD", 'stringListSum("1")'),
    ("stringListAvg", "L LD", 'stringListAvg("1")'), ("stringListMin", "L LD", 'stringListMin("1")'),
    ("stringListMax", "L LD", 'stringListMax("1")'), ("stringListMember", "sL sLD", 'stringListMember("a","a")'),
    ("stringListIMember", "sL sLD", 'stringListIMember("a","a")'), ("stringListSubsetMatch", "LL LLD", 'stringListSubsetMatch("a","a")'),
    ("stringListISubsetMatch", "LL LLD", 'stringListISubsetMatch("a","a")'), ("stringListsIntersect", "LL LLD", 'stringListsIntersect("a","a")'),
    ("stringList_regexpMember", "RL RLD RLDO", 'stringList_regexpMember("a","a")'),
    ("argsToList", "Z Zi s", 'argsToList("a")'), ("listToArgs", "G Gi l", 'listToArgs({"a"})'),
    ("envV1ToV2", "E s", 'envV1ToV2("a=b")'), ("mergeEnvironment", "E EE EEE", 'mergeEnvironment("a=b")'),
    ("userMap", "MU MUs MUsx", 'userMap(1,1,1,5)'), ("userHome", "n xn", "userHome(nope)"),
    ("evalInEachContext", "xC NC", "evalInEachContext(a,{[a=1]})"), ("countMatches", "xC NC", "countMatches(a,{[a=1]})"),
    ("nosuch", "x", None),
]
