"""What Go's tools say: its tests, its compiler and vet, and a panic.

Part of interpretation (step 6). One reader a tool: text without colours in, `Verdict` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re

from observer.interpret.readers.quoted import STRING, unquoted
from observer.interpret.readers.reader import Reader
from observer.interpret.verdict import (
    Complaint,
    Tally,
    Verdict,
    last,
    line_pattern,
    problems,
    ran_tests,
    stopped,
)

_EVENT = '"Action":"'
_OUTPUT = re.compile(f'"Output":({STRING})')
_TEST = line_pattern(r" *--- (FAIL|PASS|SKIP): (\S+)")
_PACKAGE = line_pattern(r"(ok|FAIL|---|\?) *\t\S+([\t ][^\n]*)?$")
_NONE_CHOSEN = "[no tests to run]"
_LOGGED = line_pattern(r" +(\w\S*\.go:\d+): *([^\n]+)(?:\n {5,}(?!\S+\.go:\d)(\S[^\n]*))?$")
_NEXT = line_pattern(r" *(?:---|===) ")
_ERROR = line_pattern(r"(?:vet: )?(\S+\.go:\d+):(?:\d+:)? ([^\n]+)$")
_PANIC = line_pattern(r"(panic: [^\n]+|fatal error: [^\n]+)$")
_FRAME = line_pattern(r"\t(\S+\.go:\d+)")
_NOT_OWN = ("/src/runtime/", "/src/testing/", "/go-1.", "/usr/local/go/", "/pkg/mod/")


def go_test(text: str) -> Verdict | None:
    """Read `go test`; without `-v` it names passing packages only, so those are counted.

    A package is "ok" too if `-run` chose none of its tests. With `-json` the words are in events.
    """
    if _EVENT in text:
        text = "".join(["\n", *map(unquoted, _OUTPUT.findall(text))])
    ends = [(state, more) for state, more in _PACKAGE.findall(text) if state in ("ok", "FAIL")]
    tests = _TEST.findall(text)
    if not ends and not tests:
        return None
    packages = [state for state, more in ends if _NONE_CHOSEN not in more]
    names = [name for state, name in tests if state == "FAIL"]
    passed = sum(state == "PASS" for state, _ in tests)
    failed = max(len(names), packages.count("FAIL"))
    return ran_tests(
        "go test",
        Tally(
            passed=passed or (None if packages or tests else 0),
            failed=failed,
        ),
        failing=names,
        first=_first(text, names[0]) if names else _complaint(text),
        said=_counts(len(names), passed, packages),
    )


def _counts(failed: int, passed: int, packages: list[str]) -> str:
    parts = [f"{count} {word}" for count, word in ((failed, "failed"), (passed, "passed")) if count]
    if packages:
        parts.append(f"{packages.count('ok')} of {len(packages)} packages ok")
    return ", ".join(parts)


def _first(text: str, name: str) -> Complaint:
    """Find what a test logged last before it failed: above its line with `-v`, else below."""
    verbose = text.find(f"=== RUN   {name}\n")
    start = verbose if verbose >= 0 else text.find(f"--- FAIL: {name}")
    section = _NEXT.split(text[start + 1 :], maxsplit=1)[0]
    logged = last(_LOGGED, section) or _LOGGED.search(text, start)
    first = panic_in(text) or (Complaint(_said_by(logged), logged[1]) if logged else Complaint())
    return first._replace(test=name)


def _said_by(logged: re.Match[str]) -> str:
    words, more = logged.group(2, 3)
    return f"{words} {more}" if more and words.endswith(":") else words


def _complaint(text: str) -> Complaint:
    error = _ERROR.search(text)
    return panic_in(text) or (Complaint(error[2], error[1]) if error else Complaint())


def go_build(text: str) -> Verdict | None:
    """Read errors of the go compiler and vet."""
    errors = _ERROR.findall(text)
    if not errors:
        return None
    place, words = errors[0]
    return problems("go", len(errors), first=Complaint(words, place))


def panic(text: str) -> Verdict | None:
    """Read the panic of a program."""
    found = panic_in(text)
    return stopped("panic", "an error was raised", found) if found else None


def panic_in(text: str) -> Complaint | None:
    """Return a panic's words, and the innermost place that is not Go's own."""
    found = _PANIC.search(text)
    if found is None:
        return None
    frames = _FRAME.findall(text, found.end())
    own = (path for path in frames if not any(part in path for part in _NOT_OWN))
    return Complaint(found.group(1).removesuffix(" [recovered]"), next(own, ""))


READERS = (
    Reader(go_test, ("go",), ("--- FAIL", "ok  \t", "FAIL\t", _EVENT)),
    Reader(go_build, ("go", "gofmt"), (".go:",)),
    Reader(panic, ("go",), ("panic: ", "fatal error: "), is_raised=True),
)
