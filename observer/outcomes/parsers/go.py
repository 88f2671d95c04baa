"""What Go's tools say: its tests, its compiler and vet, and a panic.

Part of interpretation (step 6). One reader a tool: text without colours in, `CommandResult` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re

from observer.outcomes.parsers.parser import STRING, OutputParser, decode_json_string
from observer.outcomes.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    line_pattern,
    problem_result,
    run_result,
)

_EVENT = '"Action":"'
_OUTPUT = re.compile(f'"Output":({STRING})')
_TEST = line_pattern(r" *--- (FAIL|PASS|SKIP): (\S+)")
_PACKAGE = line_pattern(r"(ok|FAIL|---|\?) *\t\S+([\t ][^\n]*)?$")
_NONE_CHOSEN = "[no tests to run]"
_LOGGED = line_pattern(
    r" +(\w\S*\.go:\d+):[ ]?(?:([^\n]*\S[^\n]*)(?:\n {5,}(?!\S+\.go:\d)(\S[^\n]*))?"
    r"|([ ]*(?:\n[ ]{4,}\t[^\n]*){1,20}))$"
)
_ASSERTED = re.compile(r"\n\s+Error:\s+((?:[^\n]*)(?:\n\s+\t +\t[^\n]+){0,3})")
"""What testify prints below its place."""
_COMPARES = re.compile(
    r"(?i)\b(?:want(?:ed)?|expect(?:ed|ing)?|got|mismatch|unexpected|actual|should)\b|!=|\n\s+Error:"
)
_FAILED_AT_END = line_pattern(r"FAIL$")
_NOT_BUILT = line_pattern(r"# \S+(?: \[[^\]\n]*\])?\n(?:vet: )?(\S+\.go:\d+):(?:\d+:)? ([^\n]+)$")
_NEXT = line_pattern(r" *(?:---|===) ")
_ERROR = line_pattern(r"(?:vet: )?(\S+\.go:\d+):(?:\d+:)? ([^\n]+)$")
_STOPPED = line_pattern(
    r"(go: (?:cannot|errors|no |unknown|updates to|inconsistent|warning: \"[^\n]*\" matched no)"
    r"[^\n]*|stat \S+: (?:directory not found|no such file[^\n]*)|package \S+ is not in [^\n]+"
    r"|no Go files in [^\n]+|\S+\.go:\d+:\d+: (?:no required module|cannot find package)[^\n]*)$"
)
_PANIC = line_pattern(r"(panic: [^\n]+|fatal error: [^\n]+)$")
_FRAME = line_pattern(r"\t(\S+\.go:\d+)")
_NOT_OWN = ("/src/runtime/", "/src/testing/", "/go-1.", "/usr/local/go/", "/pkg/mod/")


def go_test(text: str) -> CommandResult | None:
    """Read `go test`; without `-v` it names passing packages only, so those are counted.

    A package is "ok" too if `-run` chose none of its tests. With `-json` the words are in events.
    """
    if _EVENT in text:
        text = "".join(["\n", *map(decode_json_string, _OUTPUT.findall(text))])
    ends = [(state, more) for state, more in _PACKAGE.findall(text) if state in ("ok", "FAIL")]
    tests = _TEST.findall(text)
    is_bad = _FAILED_AT_END.search(text) is not None
    if not ends and not tests:
        return failed_result("go test", "tests failed", _complaint(text)) if is_bad else None
    packages = [state for state, more in ends if _NONE_CHOSEN not in more]
    names = [name for state, name in tests if state == "FAIL"]
    passed = sum(state == "PASS" for state, _ in tests)
    failed = max(len(names), packages.count("FAIL"), is_bad)
    return run_result(
        "go test",
        TestCounts(
            passed=passed or (None if packages or tests else 0),
            failed=failed,
        ),
        failing=names,
        first=_built(text)
        or (
            _first(text, names[0] if panic_in(text) else _leaf(names))
            if names
            else _complaint(text)
        ),
        said=_counts(len(names), passed, packages),
    )


def _counts(failed: int, passed: int, packages: list[str]) -> str:
    parts = [f"{count} {word}" for count, word in ((failed, "failed"), (passed, "passed")) if count]
    if packages:
        parts.append(f"{packages.count('ok')} of {len(packages)} packages ok")
    return ", ".join(parts)


def _leaf(names: list[str]) -> str:
    """Return the first test that failed by itself, not by one inside it."""
    inner = (name for name in names if not any(one.startswith(f"{name}/") for one in names))
    return next(inner)


def _built(text: str) -> Diagnostic | None:
    """Return what kept a package from being built, if that comes before any test."""
    found = _NOT_BUILT.search(text)
    if found is None or text.find("--- FAIL", 0, found.start()) >= 0:
        return None
    return Diagnostic(found[2], found[1])


def _first(text: str, name: str) -> Diagnostic:
    """Find what a test complained of: above its line with `-v`, else below.

    What it logged looks the same, so the first line that compares counts, else the last one.
    """
    verbose = text.find(f"=== RUN   {name}\n")
    start = verbose if verbose >= 0 else text.find(f"--- FAIL: {name}")
    section = _NEXT.split(text[start + 1 :], maxsplit=1)[0]
    lines = list(_LOGGED.finditer(section))
    logged = next((one for one in lines if _COMPARES.search(one[0])), None)
    logged = logged or (lines[-1] if lines else _LOGGED.search(text, start))
    first = panic_in(text) or (Diagnostic(_said_by(logged), logged[1]) if logged else Diagnostic())
    return first._replace(test=name)


def _said_by(logged: re.Match[str]) -> str:
    words, more = logged.group(2) or "", logged.group(3)
    if not words and (asserted := _ASSERTED.search(logged[0])):
        return " ".join(asserted[1].split())
    return f"{words} {more}" if more and words.endswith(":") else words


def _complaint(text: str) -> Diagnostic:
    error = _ERROR.search(text)
    return panic_in(text) or (Diagnostic(error[2], error[1]) if error else Diagnostic())


def go_build(text: str) -> CommandResult | None:
    """Read errors of the go compiler and vet."""
    errors = _ERROR.findall(text)
    if not errors:
        stop = _STOPPED.search(text)
        return failed_result("go", "", Diagnostic(stop[1])) if stop else None
    place, words = errors[0]
    return problem_result("go", len(errors), first=Diagnostic(words, place))


def panic(text: str) -> CommandResult | None:
    """Read the panic of a program."""
    found = panic_in(text)
    return failed_result("panic", "an error was raised", found) if found else None


def panic_in(text: str) -> Diagnostic | None:
    """Return a panic's words, and the innermost place that is not Go's own."""
    found = _PANIC.search(text)
    if found is None:
        return None
    frames = _FRAME.findall(text, found.end())
    own = (path for path in frames if not any(part in path for part in _NOT_OWN))
    return Diagnostic(found.group(1).removesuffix(" [recovered]"), next(own, ""))


PARSERS = (
    OutputParser(go_test, ("go",), ("--- FAIL", "ok  \t", "FAIL\t", "\nFAIL\n", _EVENT)),
    OutputParser(go_build, ("go", "gofmt"), (".go:",)),
    OutputParser(panic, ("go",), ("panic: ", "fatal error: "), is_raised=True),
)
