"""The result of a command as its output shows it, and the signature of an error.

A signature is what stays of an error's words on another day or in another project: where, when and
the values at hand become placeholders (`<n>`, `<path>`, `<time>`, `<id>`, `<address>`, `<value>`);
the kind of error, its codes and the names in it stay:

    src/api/user.py:41: KeyError: 'email'          KeyError: 'email'
    connect ECONNREFUSED 127.0.0.1:5432            connect ECONNREFUSED <address>
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from observer.core.patterns import lazy_pattern
from observer.core.text import counted, distinct, one_line, word_set
from observer.core.value import Value

LINE_START = "\n"
"""What a pattern of `line_pattern` begins with; texts to be read begin with it too."""
FAILING = 10
FIRST_ERROR = 300

_COUNT = re.compile(r"(\d+) ([a-z]+)")
_PROBLEM = re.compile(
    r"\b(?i:error|fatal|failed|failure|exception|cannot|can't|could not|couldn't|unable|unknown"
    r"|not found|no such|denied|refused"
    r"|(?:illegal|invalid|unrecogni[sz]ed|unexpected) (?:option|argument|subcommand|token))\b"
    r"|\bCONFLICT\b|\w(?:Error|Exception)\b"
)
WRAPPED = (
    r"(?:(?:error: script \"[^\"\n]+\" exited with code \d+|error Command failed with exit code"
    r" \d+|[^\n]{0,40}\bELIFECYCLE\b[^\n]*|npm (?:ERR!|error) Lifecycle script [^\n]*"
    r"|husky - \S+ (?:script failed|hook exited)[^\n]*|error: [Rr]ecipe `[^`\n]+` failed[^\n]*"
    r"|task: Failed to run task [^\n]*|(?:\[[^\]\n]+\] )?ERROR task failed|mise ERROR [^\n]*"
    r"| *ERROR +run failed: command[^\n]*|lerna ERR! [^\n]*|exit status [1-9]\d*"
    r"|(?:##\[error\]|Error: )?Process completed with exit code [1-9][^\n]*|FAILED: \S[^\n]*"
    r"|(?:\[ERROR\] )?BUILD FAIL(?:ED|URE)[^\n]*|ninja: build stopped[^\n]*"
    r"|g?make(?:\[\d+\])?: \*\*\* [^\n]+|\S+ exited with code [1-9]\d*"
    r"|Script \S[^\n]* returned with error code \d+)\.?$)"
)
"""Lines of what started a tool, saying that it failed."""
_NO_ERROR = re.compile(
    r"(?:\$ |> |hint: |\+ )|\s*(?:[✓✔√]|\(pass\)|(?:--- )?PASS\b|ok\b)|.*\bok$"
    r"|[^\n]*\b(?:0|[Nn]o) (?:errors?|fail(?:ures?|ed|ing)?)\b"
)
WRAPPER = re.compile(WRAPPED)
_WARNING = re.compile(r"\W*(?:\w+ )?(?i:warn(?:ing)?)\b")
_FRAMING = " \t│"
_LETTERS = re.compile(r"[^\W\d_]{2}")


class CommandResult(Value):
    """What a command's output said. Counts are None where it did not say.

    `ok` is None where it is unknown. `said` is the result in a few words ("2 failed, 14 passed in
    3.1 s"); `first_error` the first error with its place ("src/a.ts:3: TS2304: Cannot find …").
    `was_run` is False for a call that the client refused, blocked or cancelled. `is_cut_off` holds
    for a run that a time limit or a signal ended before anything had failed in it.
    """

    tool: str = ""
    ok: bool | None = None
    said: str = ""
    passed: int | None = None
    failed: int | None = None
    failing: tuple[str, ...] = ()
    first_error: str = ""
    signature: str = ""
    was_run: bool = True
    is_cut_off: bool = False

    @property
    def is_check(self) -> bool:
        """Whether the result comes from a tool that checks code."""
        return bool(self.tool)


class Diagnostic(NamedTuple):
    """What a tool complained of: in these words, at this place (`file:line`), through this test."""

    words: str = ""
    place: str = ""
    test: str = ""

    def __str__(self) -> str:
        """Return ``"TEST - PLACE: WORDS"``, as far as they are known; words without letters not."""
        words = self.words if self.place or self.test or _LETTERS.search(self.words) else ""
        said = ": ".join(part for part in (self.place, words) if part)
        return one_line(" - ".join(part for part in (self.test, said) if part), FIRST_ERROR)

    @property
    def signature(self) -> str:
        """What of it does not vary."""
        return signature(self.words, self.test)


class TestCounts(NamedTuple):
    """How many tests passed, failed and were skipped, in how many seconds; None is unknown."""

    passed: int | None
    failed: int
    skipped: int = 0
    seconds: float | None = None

    def __str__(self) -> str:
        """Return ``"2 failed, 14 passed, 1 skipped in 3.1 s"``; parts that are 0 are left out."""
        counts = ((self.failed, "failed"), (self.passed, "passed"), (self.skipped, "skipped"))
        said = ", ".join(f"{count:,} {word}" for count, word in counts if count) or "no tests ran"
        if self.seconds is None:
            return said
        is_long = self.seconds >= 1
        time = f"{self.seconds:.1f} s" if is_long else f"{round(self.seconds * 1000)} ms"
        return f"{said} in {time}"


def run_result(
    tool: str, tally: TestCounts, *, failing: Iterable[str], first: Diagnostic, said: str = ""
) -> CommandResult:
    """Return the result of a test runner; `said` stands for its counts where it says more."""
    failed = tally.failed > 0
    return CommandResult(
        tool=tool,
        ok=not failed,
        said=said or str(tally),
        passed=tally.passed,
        failed=tally.failed,
        failing=distinct((one_line(name, 200) for name in failing), FAILING) if failed else (),
        first_error=str(first) if failed else "",
        signature=first.signature if failed else "",
    )


def problem_result(
    tool: str, errors: int, *, warnings: int = 0, first: Diagnostic, is_counted: bool = True
) -> CommandResult:
    """Return the result of a tool that says what is wrong with the code.

    Unless it printed how much (`is_counted`), errors are those seen: of a cut output there may be
    more.
    """
    return CommandResult(
        tool=tool,
        ok=not errors,
        said=problems_text(errors, warnings) if is_counted or not errors else "errors",
        failed=errors,
        first_error=str(first) if errors else "",
        signature=first.signature if errors else "",
    )


def failed_result(
    tool: str, said: str, first: Diagnostic, *, passed: int | None = None, failed: int | None = None
) -> CommandResult:
    """Return the result of a program that gave up."""
    return CommandResult(
        tool=tool,
        ok=False,
        said=said,
        passed=passed,
        failed=failed,
        first_error=str(first),
        signature=first.signature,
    )


def first_error_line(text: str) -> str:
    """Return the first line that complains in words any program may use, else a warning, or ""."""
    warned = ""
    problem = _PROBLEM.search(text)
    while problem:
        start = text.rfind("\n", 0, problem.start()) + 1
        line = text[start:].partition("\n")[0]
        is_own = not (WRAPPER.match(line) or _NO_ERROR.match(line))
        if is_own and not _WARNING.match(line):
            return line.strip(_FRAMING)
        warned = warned or (line if is_own else "")
        problem = _PROBLEM.search(text, start + len(line))
    return warned.strip(_FRAMING)


def is_heading(line: str) -> bool:
    """Return True if a line says nothing by itself: a heading, a number, a bracket."""
    return line.rstrip().endswith(":") or not _LETTERS.search(line)


def line_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern that holds from a line's beginning, compiled when it is first used.

    A literal line end is found ten times faster than `^`; all patterns take 60 ms to compile.
    """
    return lazy_pattern(f"{LINE_START}(?:{pattern})", re.MULTILINE)


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match: where a tool sums up."""
    found = None
    for found in pattern.finditer(text):  # noqa: B007 - the last one is meant
        pass
    return found


def word_counts(summary: str) -> dict[str, int]:
    """Add up the counts of each word: ``{"failed": 2}`` of ``"2 failed, 14 passed"``."""
    found = Counter[str]()
    for number, word in _COUNT.findall(summary):
        found[word] += int(number)
    return found


def problems_text(errors: int, warnings: int = 0) -> str:
    """Return ``"3 errors, 1 warning"`` or ``"no errors"``."""
    counts = {"error": errors, "warning": warnings}
    parts = (counted(number, noun) for noun, number in counts.items() if number)
    return ", ".join(parts) or "no errors"


SIGNATURE = 200
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

    An assertion is prefixed by its `test`. The answer is a line of at most `SIGNATURE` characters.
    """
    said = _PLACE.sub("", one_line(error, _READ_CHARS))
    if missing := _SHELL.match(said):
        said = f"command not found: {missing['z'] or missing['b']}"
    else:
        said = _RUNS.sub("<n>", _VARIES.sub(_stable, said))
        leading = _LEADING.match(said)
        said = said[leading.end() if leading else 0 :].rstrip(" .…:")
    words = _WORD.findall(_PLACEHOLDER.sub(" ", said))
    if (
        test
        and not _FILE.search(test)
        and (_ASSERTED.search(said) or not _RAISED.search(error[:_READ_CHARS]))
    ):
        said = f"{bare_name(test)}: {said}".removesuffix(": ")
    elif not any(word.lower() not in _SAYS_NOTHING for word in words):
        said = ""
    return one_line(said, SIGNATURE)


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
    kind, text = varying.lastgroup or "", varying.group()
    return _STABLE[kind](text) if kind in _STABLE else _PLACEHOLDERS.get(kind, f"<{kind}>")


def _file(path: str) -> str:
    name = re.split(r"[/\\]", re.sub(r"(?::\d+)+$", "", path).rstrip("/\\."))[-1]
    is_named = "." in name.strip(".") or path.startswith(".")
    return _VARIES.sub(_stable, name) if is_named and not _is_random(name) else "<path>"


def _is_random(name: str) -> bool:
    stem = name.partition(".")[0]
    return stem.startswith("tmp") or sum(map(str.isdigit, stem)) > len(stem) // 3


def _server(url: str) -> str:
    host, *path = url.partition("://")[2].partition("?")[0].rstrip("/").split("/")
    name = host.rpartition("@")[2].partition(":")[0]
    if name.strip("0123456789.") in ("", "localhost"):
        return "<address>"
    return f"{name}/{path[-1]}" if path and not _is_random(path[-1]) else name


def _introduced(value: str) -> str:
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
