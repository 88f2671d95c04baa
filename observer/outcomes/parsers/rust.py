"""What Rust's tools say: cargo's tests, the compiler, and a panic.

Part of interpretation (step 6). One reader a tool: text without colours in, `CommandResult` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re

from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    last_match,
    line_pattern,
    problem_result,
    problems_text,
    run_result,
)

_END = line_pattern(
    r"test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;"
    r"(?:[^\n]*finished in (\d+\.\d+)s)?"
)
_BAD = line_pattern(r"(?:test )?(\S+)(?: - should panic)? (?:\.\.\.|---) FAILED$")
_PANICKED = re.compile(
    r"panicked at (?:'([^\n]*)', ([^\s:,]+:\d+)|([^\s:,]+:\d+)(?::\d+)?:?(?:\n *(\S[^\n]*))?)"
)

_LISTED = line_pattern(r" {4}([a-z_]\w*(?:::\w+)*)$")
"""How failing tests are listed at the end; nothing else names them with `--nocapture`."""
_RETURNED = line_pattern(r"(Error: [^\n]+)$")


def cargo_test(text: str) -> CommandResult | None:
    """Read `cargo test`: the sum over its test binaries."""
    ends = _END.findall(text)
    if not ends:
        return None
    passed, failed, ignored = (sum(int(end[part]) for end in ends) for part in range(3))
    seconds = sum(float(end[3] or 0) for end in ends)
    names = _BAD.findall(text)
    first = Diagnostic()
    if not names and any(int(end[1]) for end in ends):
        names = _LISTED.findall(text)
    if names:
        section = text[max(text.find(f"---- {names[0]} stdout"), 0) :].partition("\n---- ")[0]
        own = section.find(f"thread '{names[0]}'")
        first = (_panicked(section[max(own, 0) :]) or _returned(section))._replace(test=names[0])
    return run_result(
        "cargo test",
        TestCounts(
            passed=passed,
            failed=failed,
            skipped=ignored,
            seconds=seconds or None,
        ),
        failing=names,
        first=first,
    )


def _returned(section: str) -> Diagnostic:
    """Read the error that a test returned instead of panicking."""
    error = _RETURNED.search(section)
    return Diagnostic(error.group(1)) if error else Diagnostic()


_RUSTC = line_pattern(r"error(?:\[(E\d+)\])?: ([^\n]+)\n *--> ([^\n:]+:\d+)")
_RUSTC_END = line_pattern(r"error: could not compile[^\n]*| +Finished [^\n]*target\(s\)")
_RUSTC_COUNT = re.compile(r"due to (?:(\d+) previous errors|1 previous error)")
_RUSTC_WARNING = line_pattern(r"warning: [^\n]+ generated (\d+) warnings?")


def rustc(text: str) -> CommandResult | None:
    """Read what rustc says through cargo (build, check, clippy, run)."""
    end, error = _RUSTC_END.search(text), _RUSTC.search(text)
    if end is None and error is None:
        return None
    warnings = sum(int(number) for number in _RUSTC_WARNING.findall(text))
    if error is None:
        if end is not None and "error" in end.group():
            return problem_result("cargo", 1, first=Diagnostic(end.group().strip()))
        return CommandResult(tool="cargo", ok=True, said=f"built with {problems_text(0, warnings)}")
    code, message, place = error.groups()
    count = _RUSTC_COUNT.search(text)
    errors = int(count.group(1) or 1) if count else len(_RUSTC.findall(text))
    first = Diagnostic(f"{code}: {message}" if code else message, place)
    return problem_result("cargo", errors, warnings=warnings, first=first)


_FMT = line_pattern(r"Diff in (\S[^\n]*?)(?::| at line )(\d+):$")


def rustfmt(text: str) -> CommandResult | None:
    """Read what rustfmt would change."""
    found = _FMT.findall(text)
    first = Diagnostic("not formatted", ":".join(found[0])) if found else Diagnostic()
    return problem_result("rustfmt", len(found), first=first) if found else None


_NEXTEST_END = line_pattern(
    r" *Summary \[[^\]\n]*\] +(?:\d+/)?\d+ tests? run: (\d+) passed[^,\n]*(?:, (\d+) failed)?"
    r"(?:, (\d+) timed out)?(?:, (\d+) skipped)?"
)
_NEXTEST_BAD = line_pattern(
    r" +(?:FAIL|TIMEOUT|SIGABRT|SIGSEGV) \[[^\]\n]*\] (?:\([^)\n]*\) )?(\S[^\n]*)$"
)


def nextest(text: str) -> CommandResult | None:
    """Read the summary of cargo-nextest."""
    end = last_match(_NEXTEST_END, text)
    if end is None:
        return None
    passed, failed, late, skipped = (int(number or 0) for number in end.groups())
    names = [name.split()[-1] for name in _NEXTEST_BAD.findall(text)]
    first = Diagnostic()
    if names:
        own = text.find(f"thread '{names[0]}'")
        first = (_panicked(text[max(own, 0) :]) or first)._replace(test=names[0])
    tally = TestCounts(passed=passed, failed=failed + late, skipped=skipped)
    return run_result("cargo nextest", tally, failing=dict.fromkeys(names), first=first)


_STOPPED = line_pattern(r"(error: [^\n]+)$")


def cargo(text: str) -> CommandResult | None:
    """Read why cargo itself stopped."""
    found = _STOPPED.search(text)
    return failed_result("cargo", "", Diagnostic(found.group(1))) if found else None


def panic(text: str) -> CommandResult | None:
    """Read the panic of a program."""
    found = _panicked(text)
    return failed_result("panic", "an error was raised", found) if found else None


def _panicked(text: str) -> Diagnostic | None:
    found = _PANICKED.search(text)
    if found is None:
        return None
    old_words, old_place, place, words = found.groups()
    said = words or old_words
    return Diagnostic(f"panicked: {said}" if said else "panicked", place or old_place)


PARSERS = (
    OutputParser(nextest, ("cargo",), (" tests run: ", " test run: ")),
    OutputParser(cargo_test, ("cargo",), ("test result: ",)),
    OutputParser(rustfmt, ("rustfmt", "cargo"), ("\nDiff in ",)),
    OutputParser(rustc, ("cargo", "rustc"), ("error[E", "could not compile")),
    OutputParser(cargo, ("cargo",), ()),
    OutputParser(panic, ("cargo",), ("panicked at ",), is_raised=True),
)
