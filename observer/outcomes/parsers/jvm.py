"""What the JVM's tools say: Maven with surefire, Gradle, and a stack trace.

Part of interpretation (step 6). One reader a tool: text without colours in, `CommandResult` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re

from observer.outcomes.parsers.native import cc, described
from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    line_pattern,
    problem_result,
    run_result,
)

_LEVEL = r"(?:\[(?:ERROR|INFO|WARNING)\] +)?"
_RESULT = line_pattern(
    _LEVEL + r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$"
)
_BAD_TEST = line_pattern(
    _LEVEL + r"(?:(\w+)[^\s(]*\(([\w.$]+)\) +|([\w.$]+)(?:\([^)\n]*\))? -- )"
    r"Time elapsed: [^\n]*<<< (?:FAILURE|ERROR)!\n(\S[^\n]*)?"
)
_JAVAC = line_pattern(r"\[ERROR\] ([^\n:\[]+:\[\d+),\d+\] ([^\n]+)$")
_STOPPED = line_pattern(r"\[ERROR\] ((?:Failed to execute|Plugin |Could not|The )[^\n]+)$")
_BROKEN = line_pattern(r"\[(?:INFO|ERROR)\] BUILD FAILURE")
_BUILT = line_pattern(r"\[INFO\] BUILD SUCCESS")
_FRAME = line_pattern(r"\s+at ([\w.$/@<>]+)\(([\w.$-]+:\d+)\)")
_NOT_OWN = (
    "java.", "jdk.", "sun.", "org.junit", "org.opentest4j", "org.apache.maven", "org.gradle",
    "org.testng", "org.springframework", "org.assertj", "org.hamcrest", "kotlin.", "scala.",
)  # fmt: skip
_STACK_CHARS = 6000


def maven(text: str) -> CommandResult | None:
    """Read Maven: its tests, else its compiler, else why it stopped."""
    results = [tuple(map(int, result)) for result in _RESULT.findall(text)]
    if results:
        return _surefire(text, results)
    errors = {error.groups(): error for error in _JAVAC.finditer(text)}
    if errors:
        error = next(iter(errors.values()))
        first = Diagnostic(described(text, error), error.group(1).replace("[", ""))
        return problem_result("maven", len(errors), first=first)
    if why := _STOPPED.search(text):
        return failed_result("maven", "the build stopped", Diagnostic(why.group(1)))
    if _BROKEN.search(text):
        return failed_result("maven", "the build stopped", Diagnostic())
    return CommandResult(tool="maven", ok=True, said="built") if _BUILT.search(text) else None


def _surefire(text: str, results: list[tuple[int, ...]]) -> CommandResult:
    every, failures, errors, skipped = map(sum, zip(*results, strict=True))
    bad = list(_BAD_TEST.finditer(text)) if failures + errors else []
    names = [one.group(3) or f"{one.group(2)}.{one.group(1)}" for one in bad]
    first = Diagnostic()
    if bad:
        first = Diagnostic(bad[0].group(4) or "", _place(text, bad[0].end()), names[0])
    return run_result(
        "maven",
        TestCounts(
            passed=every - failures - errors - skipped,
            failed=failures + errors,
            skipped=skipped,
        ),
        failing=names,
        first=first,
    )


_GRADLE_END = line_pattern(r"(\d+) tests? completed, (\d+) failed(?:, (\d+) skipped)?$")
_GRADLE_BAD = line_pattern(r"(\S+ > [^\n]+) FAILED\n\s+(\S[^\n]*?)(?: at ([\w.$-]+:\d+))?$")
_GRADLE_WHY = line_pattern(r"\* What went wrong:\n([^\n]+)(?:\n> ([^\n]+))?")
_KOTLIN = line_pattern(
    r"e: (?:file://)?([^\s:(][^\n:(]*):(?: ?\((\d+), ?\d+\):|(\d+):\d+:?) ([^\n]+)$"
)
_GRADLE_BROKEN = line_pattern(r"BUILD FAILED")
_GRADLE_BUILT = line_pattern(r"BUILD SUCCESSFUL")


def gradle(text: str) -> CommandResult | None:
    """Read Gradle: its tests, else its compiler, else why it stopped."""
    if end := _GRADLE_END.search(text):
        every, failed, skipped = (int(number or 0) for number in end.groups())
        bad = _GRADLE_BAD.findall(text)
        first = Diagnostic(bad[0][1], bad[0][2], bad[0][0]) if bad else Diagnostic()
        return run_result(
            "gradle",
            TestCounts(
                passed=every - failed - skipped,
                failed=failed,
                skipped=skipped,
            ),
            failing=[name for name, _, _ in bad],
            first=first,
        )
    if errors := _KOTLIN.findall(text):
        path, old_line, line, said = errors[0]
        return problem_result(
            "gradle", len(errors), first=Diagnostic(said, f"{path}:{line or old_line}")
        )
    if why := _GRADLE_WHY.search(text):
        said = (part for part in why.groups() if part)
        return cc(text) or failed_result("gradle", "the build stopped", Diagnostic(" ".join(said)))
    if _GRADLE_BROKEN.search(text):
        return failed_result("gradle", "the build stopped", Diagnostic())
    return (
        CommandResult(tool="gradle", ok=True, said="built") if _GRADLE_BUILT.search(text) else None
    )


_THROWN = line_pattern(
    r"(?:Exception in thread \"[^\"\n]*\" |(Caused by: ))?"
    r"((?:[\w$]+\.)+[\w$]*(?:Exception|Error|Throwable)[\w$]*(?:: [^\n]*)?)\n\s+at [\w.$/@<>]+\("
)


def thrown(text: str) -> CommandResult | None:
    """Read a stack trace; the innermost cause counts."""
    found = list(_THROWN.finditer(text))
    if not found:
        return None
    causes = [one for one in found if one.group(1)]
    root = causes[-1] if causes else found[0]
    first = Diagnostic(root.group(2), _place(text, root.end(2)))
    return failed_result("java", "an error was raised", first)


def _place(text: str, start: int) -> str:
    """Return the first place of the project's own in the stack that follows."""
    for method, place in _FRAME.findall(text[start : start + _STACK_CHARS]):
        if not re.sub(r"^[^/]*/", "", method).startswith(_NOT_OWN):
            return str(place)
    return ""


PARSERS = (
    OutputParser(
        maven, ("mvn", "mvnw"), ("Tests run: ", "[INFO] BUILD ", "[ERROR] Failed to execute")
    ),
    OutputParser(
        gradle,
        ("gradle", "gradlew"),
        ("* What went wrong:", "BUILD SUCCESSFUL", "BUILD FAILED in "),
    ),
    OutputParser(thrown, (), ("\tat ", "Exception in thread"), is_raised=True),
)
