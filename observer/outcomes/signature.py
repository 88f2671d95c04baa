"""The signature of an error: what stays of its words when it meets another day or project.

Part of interpretation (step 6). Where it happened, when, and the values at hand are left out or
become placeholders (`<n>`, `<path>`, `<time>`, `<id>`, `<address>`, `<value>`); the kind of error,
its codes and the names in it stay, so that two different errors keep different signatures:

    src/api/user.py:41: KeyError: 'email'          KeyError: 'email'
    connect ECONNREFUSED 127.0.0.1:5432            connect ECONNREFUSED <address>
    open /tmp/a8f/conf.yaml: permission denied     open conf.yaml: permission denied
"""

from __future__ import annotations

import re
from collections.abc import Callable

from observer.core.patterns import lazy_pattern
from observer.core.text import one_line, word_set

SIGNATURE = 200
"""Most characters of a signature."""
_READ_CHARS = 400

_HOST = (
    r"(?:\d{1,3}(?:\.\d{1,3}){3}|localhost"
    r"|\[[0-9a-f:]{0,30}::[0-9a-f:]{0,30}\]|::1)(?::\d{1,5})?"
)
_CODE = (
    r"(?:(?i:errno|err|code|status|signal|sqlstate|http|error)(?i: code)?[ :=#\[(]{1,3})"
    r"(?:HTTP )?-?\d{1,5}"
)
_DAY = r"\d{4}-\d\d-\d\d|\d\d?/\d\d?/\d{2,4}|(?:[A-Z][a-z]{2} ){1,2} ?\d{1,2}(?= \d\d:)"
_CLOCK = r"\d\d?:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?: ?[AP]M)?(?:Z| ?[+-]\d\d:?\d\d)?"
_SECOND = r"\d\d?:\d\d:\d\d(?:[.,]\d{1,9})?Z?"
_QUOTED = r"(?:'[^'\n]{0,160}'|\"[^\"\n]{0,160}\")"
_UNIT = r"(?:[nµum]?s|secs?|seconds?|minutes?|mins?|hours?|days?)"
_VARYING = {
    "code": rf"\b{_CODE}(?![\w.])",
    "introduced": (
        r"(?:base \d+|to float|string|choice|time data|entry|value|received|got|input):? "
        rf"{_QUOTED}"
    ),
    "cut": rf"(?<!\w){_QUOTED}\.{{3}}",
    "server": r"\b[a-z][a-z0-9+.]{1,11}://[^\s'\"<>)\]]{1,300}(?<![.,;:])",
    "time": rf"(?<![\w.])(?:(?:{_DAY})(?:[T ]{{1,2}}{_CLOCK})?|{_SECOND})(?!\w)",
    "address": rf"(?<![\w.:]){_HOST}(?![\w.])",
    "id": (
        r"\b0x[0-9a-fA-F]+\b"
        r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
        r"|\b(?=[0-9]{0,40}[a-f])(?=[a-f]{0,40}[0-9])[0-9a-f]{7,64}\b"
    ),
    "file": (
        r"(?<![\w@/\\.])(?:[A-Za-z]:[\\/]|~?/(?=[\w.@$~-])|\.{1,2}[\\/])[^\s:'\"`<>|(),;\[\]]{1,300}(?::\d+){0,2}"
        r"|(?<![\w@/\\.])[\w.+-]{1,80}[\\/](?:[\w.+-]{1,80}[\\/]){0,20}[\w+-]{0,80}\.[\w.]{1,80}(?::\d+){0,2}"
        r"|(?<![\w@/\\.])[\w+-]{1,80}(?:\.[\w+-]{1,20}){1,3}:\d+(?::\d+)?"
    ),
    "span": rf"(?<![\w.])\d+(?:\.\d+)? ?{_UNIT}\b",
    "n": (
        r"<[-+]?\d[\d.]*>|(?<![\w.])v?[-+]?\d[\d._]*(?:,\d{3})*(?:e[+-]?\d+)?(?:[kKMGT]i?B|B|%|px)?(?!\w)"
        r"|(?<=_)\d{3,}\b"
    ),
}
_VARIES = lazy_pattern("|".join(f"(?P<{name}>{pattern})" for name, pattern in _VARYING.items()))

_SHELL = lazy_pattern(
    r"(?:\S*/)?(?:ba|z|da|fi|k)?sh: (?:line )?(?:\d+: )?(?:command not found: (?P<z>\S+)"
    r"|(?P<b>[^\s:]+): (?:command )?not found)"
)
_PLACE = lazy_pattern(
    r"\A(?:(?:\S*/)?(?:ba|z|da|k)?sh: (?:line )?\d+: (?!.*not found)"
    r"|(?:[A-Za-z]:)?[^\s:(]*[./\\\]>][^\s:(]*(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))(?: -|:)? )"
)
_LEADING = lazy_pattern(
    r"(?:[\[(]?<(?:time|n|path|id)>[\])]?|[:,*>|•✖✗✘-]|\s"
    r"|(?i:error)(?::|(?= [A-Z]{1,8}\d))|(?:ERROR|FATAL|CRITICAL) |E(?= )|(?i:uncaught)\b"
    r"|line <n>:)+"
)
_RUNS = lazy_pattern(r"<n>(?:(?:, ?| |:|\.|-)<n>)+")
_WORD = lazy_pattern(r"[A-Za-z_]{2,}\d*|[A-Z]+\d{2,}")
_FILE = lazy_pattern(r"^\S*[\w-]\.(?:py|[cm]?[jt]sx?|rb|php)$")
_ASSERTED = lazy_pattern(r"(?i)\bassert|\bexpect|\bshould\b|\bwant\b")
_RAISED = lazy_pattern(
    r"(?:Error|Exception|Exit|Interrupt|Warning|panic\w*|fatal|Fault)\b|\b[A-Z]+\d+"
)
_PLACEHOLDER = lazy_pattern(r"<(?:n|path|time|id|address|value)>")
_SAYS_NOTHING = word_set(
    """
    a above all an and are assert assertion assertionerror at build by check code command
    completed details did do done error errors exit exited failed failure failures fatal for
    from has in is it line log make makefile mode more no not of on or output process recipe
    result return returned run running script see status step stop stopped task target test
    tests than that the there this to was were with
    """
)


def signature(error: str, test: str = "") -> str:
    """Return what of an error does not vary, or "" where nothing in it can be recognised.

    An assertion is prefixed by its `test`, since "assert 1 == 2" may be any. The answer
    is one line of at most `SIGNATURE` characters.
    """
    said = _normal(error)
    if (
        test
        and not _FILE.search(test)
        and (_ASSERTED.search(said) or not _RAISED.search(error[:_READ_CHARS]))
    ):
        said = f"{bare_name(test)}: {said}".removesuffix(": ")
    elif not _is_recognisable(said):
        said = ""
    return one_line(said, SIGNATURE)


def _normal(error: str) -> str:
    said = _PLACE.sub("", one_line(error, _READ_CHARS))
    if missing := _SHELL.match(said):
        return f"command not found: {missing['z'] or missing['b']}"
    said = _RUNS.sub("<n>", _VARIES.sub(_stable, said))
    if leading := _LEADING.match(said):
        said = said[leading.end() :]
    return said.rstrip(" .…:")


def bare_name(test: str) -> str:
    """Return a test's name without its file, package or parameters."""
    name = one_line(test, SIGNATURE)
    if _FILE.search(name):
        return name
    if name.endswith("]"):
        name = name.partition("[")[0]
    for sign in ("::", " > "):
        first, found, rest = name.partition(sign)
        if found and ("." in first or "/" in first):
            name = rest
    return name if " " in name else ".".join(name.split(".")[-2:])


def _stable(varying: re.Match[str]) -> str:
    """Return what stands in a signature for a part that varies."""
    kind, text = varying.lastgroup or "", varying.group()
    return _STABLE[kind](text) if kind in _STABLE else _PLACEHOLDERS.get(kind, f"<{kind}>")


def _file(path: str) -> str:
    """Return a file's bare name, which is the same wherever a project lies."""
    name = re.split(r"[/\\]", re.sub(r"(?::\d+)+$", "", path).rstrip("/\\."))[-1]
    is_named = "." in name.strip(".") or path.startswith(".")
    return _VARIES.sub(_stable, name) if is_named and not _is_random(name) else "<path>"


def _is_random(name: str) -> bool:
    stem = name.partition(".")[0]
    return stem.startswith("tmp") or sum(map(str.isdigit, stem)) > len(stem) // 3


def _server(url: str) -> str:
    """Return a server's name and the last name in its address."""
    host, *path = url.partition("://")[2].partition("?")[0].rstrip("/").split("/")
    name = host.rpartition("@")[2].partition(":")[0]
    if name.strip("0123456789.") in ("", "localhost"):
        return "<address>"
    return f"{name}/{path[-1]}" if path and not _is_random(path[-1]) else name


def _introduced(value: str) -> str:
    """Return the words that introduce a quoted value, and its placeholder."""
    introduction = value[: min(value.find(sign) % len(value) for sign in "'\"")]
    return f"{_DIGITS.sub('<n>', introduction)}<value>"


_DIGITS = lazy_pattern(r"\d+")
_PLACEHOLDERS = {"cut": "<value>", "span": "<time>"}
_STABLE: dict[str, Callable[[str], str]] = {
    "code": str,
    "file": _file,
    "server": _server,
    "introduced": _introduced,
}


def _is_recognisable(said: str) -> bool:
    words = _WORD.findall(_PLACEHOLDER.sub(" ", said))
    return any(word.lower() not in _SAYS_NOTHING for word in words)
