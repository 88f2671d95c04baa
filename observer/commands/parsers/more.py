"""What tools of the JVM, .NET, Ruby and PHP say, and TAP."""

from __future__ import annotations

import re

from observer.commands.parsers.compiled import cc, described
from observer.commands.parsers.parser import Format, OutputParser, in_turn
from observer.commands.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    line_pattern,
    problem_result,
    run_result,
)

_LEVEL = r"(?:\[(?:ERROR|INFO|WARNING)\] +)?"
_JVM_PLACE = line_pattern(
    r"\s+at (?:[^/\s(]*+/)?+(?!(?:java|jdk|sun|org\.(?:junit|opentest4j|apache\.maven|gradle|testng"
    r"|springframework|assertj|hamcrest)|kotlin|scala)\b)[\w.$/@<>]+\((?P<place>[\w.$-]+:\d+)\)"
)
_SUREFIRE = Format(
    "maven",
    line_pattern(
        _LEVEL + r"(?:(?P<test>\w+)[^\s(]*\((?P<suite>[\w.$]+)\) +"
        r"|(?P<test2>[\w.$]+)(?:\([^)\n]*\))? -- )"
        r"Time elapsed: [^\n]*<<< (?:FAILURE|ERROR)!\n(?P<words>\S[^\n]*)?"
    ),
    line_pattern(
        _LEVEL + r"Tests run: (?P<every>\d+), Failures: (?P<failed>\d+), Errors: (?P<errors>\d+),"
        r" Skipped: (?P<skipped>\d+)$"
    ),
    place=_JVM_PLACE,
)
_JAVAC = line_pattern(r"\[ERROR\] ([^\n:\[]+:\[\d+),\d+\] ([^\n]+)$")
_MAVEN_STOPPED = Format(
    "maven",
    line_pattern(
        r"\[ERROR\] (?P<words>(?:Failed to execute|Plugin |Could not|The )[^\n]+)$"
        r"|\[(?:INFO|ERROR)\] BUILD FAILURE"
    ),
    first=line_pattern(r"\[ERROR\] (?P<words>(?:Failed to execute|Plugin |Could not|The )[^\n]+)$"),
    done=line_pattern(r"\[INFO\] BUILD SUCCESS"),
    fine="built",
    stopped="the build stopped",
)


def maven_build(text: str) -> CommandResult | None:
    """Read the errors of the compiler that Maven runs, which it repeats at its end."""
    errors = {error.groups(): error for error in _JAVAC.finditer(text)}
    if not errors:
        return None
    error = next(iter(errors.values()))
    first = Diagnostic(described(text, error), error.group(1).replace("[", ""))
    return problem_result("maven", len(errors), first=first, is_counted=False)


_GRADLE_TESTS = Format(
    "gradle",
    line_pattern(
        r"(?P<test>\S+ > [^\n]+) FAILED\n\s+(?P<words>\S[^\n]*?)(?: at (?P<place>[\w.$-]+:\d+))?$"
    ),
    line_pattern(
        r"(?P<every>\d+) tests? completed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?$"
    ),
)
_KOTLIN = Format(
    "gradle",
    line_pattern(
        r"e: (?:file://)?(?P<path>[^\s:(][^\n:(]*):"
        r"(?: ?\((?P<line>\d+), ?\d+\):|(?P<line2>\d+):\d+:?) (?P<words>[^\n]+)$"
    ),
)
_GRADLE_STOPPED = Format(
    "gradle",
    line_pattern(
        r"(?:\* What went wrong:\n(?P<words>[^\n]+)(?:\n> (?P<more>[^\n]+))?|BUILD FAILED)"
    ),
    done=line_pattern(r"BUILD SUCCESSFUL"),
    fine="built",
    stopped="the build stopped",
)


def gradle_build(text: str) -> CommandResult | None:
    """Read how Gradle's build ended: with what its compiler said, or why it stopped."""
    ended = _GRADLE_STOPPED.read(text)
    return (cc(text) or ended) if ended and ended.first_error else ended


_THROWN = line_pattern(
    r"(?:Exception in thread \"[^\"\n]*\" |(Caused by: ))?"
    r"((?:[\w$]+\.)+[\w$]*(?:Exception|Error|Throwable)[\w$]*(?:: [^\n]*)?)\n\s+at [\w.$/@<>]+\("
)


def thrown(text: str) -> CommandResult | None:
    """Read a stack trace; the innermost cause counts."""
    found = list(_THROWN.finditer(text))
    if not found:
        return None
    root = next((one for one in reversed(found) if one.group(1)), found[0])
    place = _JVM_PLACE.search(text, root.end(2), root.end(2) + 6000)
    first = Diagnostic(root.group(2), place["place"] if place else "")
    return failed_result("java", "an error was raised", first)


_NET_PLACE = re.compile(r" in (?!<)(?P<path>[^\n]*?):(?:line )?(?P<line>\d+)\s")
_DOTNET_TEST = Format(
    "dotnet test",
    line_pattern(
        r" +Failed (?P<test>\S[^\n]*?) \[[^\]\n]*\]\n"
        r"(?: +Error Message:\n\s*(?P<words>\S[^\n]*))?"
    ),
    line_pattern(
        r"(?:Passed|Failed)! +- Failed: +(?P<failed>\d+), Passed: +(?P<passed>\d+),"
        r" Skipped: +(?P<skipped>\d+), Total: +\d+"
        r"(?:, Duration: (?:< )?(?P<seconds>\d+(?:\.\d+)?) (?P<unit>m?s))?"
    ),
    place=_NET_PLACE,
)
_CSC = Format(
    "dotnet",
    line_pattern(
        r" *(?P<path>[^\s(][^\n(]*)\((?P<line>\d+),\d+\): error (?P<words>[A-Z]+\d+: [^\n]*?)"
        r"(?: \[[^\n]*)?$"
    ),
    total=line_pattern(r" +(?:(?P<errors>\d+) Error|(?P<warnings>\d+) Warning)\(s\)"),
    once=True,
)
_TERMINAL_TESTS = Format(
    "dotnet test",
    line_pattern(
        r" *(?:(?P<path>\S+?)\((?P<line>\d+)\): )?error TESTERROR:\s*\n? *(?P<test>[^\n(]+?)"
        r" \([^)\n]*\): Error Message: (?P<words>[^\n]+)$"
    ),
    line_pattern(
        r"Test summary: total: \d+, failed: (?P<failed>\d+), succeeded: (?P<passed>\d+),"
        r" skipped: (?P<skipped>\d+)"
    ),
    last=True,
)
_NET_BUILD = Format(
    "dotnet",
    line_pattern(r"Build (?:FAILED|failed)\b[^\n]*$"),
    done=line_pattern(r"Build succeeded\b[^\n]*$"),
    fine="built",
    stopped="the build stopped",
)
_NET_THROWN = Format(
    "dotnet",
    re.compile(r"Unhandled [Ee]xception[.:]\s+(?P<words>[A-Z][\w.+`]*: [^\n]+)"),
    place=_NET_PLACE,
    stopped="an error was raised",
)

_RSPEC_BAD = line_pattern(r"rspec [^\s#]+(?::\d+|\[[^\]\n]*\]) # (?P<test>[^\n]+)$")
_RUBY_TIME = line_pattern(r"Finished in (?P<seconds>\d+(?:\.\d+)?)(?: seconds|s\b)")
_RSPEC = Format(
    "rspec",
    _RSPEC_BAD,
    line_pattern(
        r"(?P<every>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?"
        r"(?:, (?P<broken>\d+) errors? occurred[^\n]*)?$"
    ),
    _RUBY_TIME,
    first=line_pattern(
        r" *Failure/Error:[^\n]*\n(?:\s*\n)?\s*(?P<words>\S[^\n]*)\n *(?P<more>[^\s#][^\n]*)?"
    ),
    place=line_pattern(r" *# (?P<place>[^\s:]+:\d+)"),
)
_RSPEC_CUT = Format("rspec", _RSPEC_BAD, stopped="tests failed")
_MINITEST = Format(
    "minitest",
    line_pattern(
        r"(?: +\d+\) )?(?:Failure|Error):\n(?P<test>\S+?)(?: \[(?P<place>[^\]\n]+:\d+)\])?:"
        r"\n(?P<words>\S[^\n]*)(?:\n +(?P<more>(?!\S+:\d+:in )\S[^\n]*))?"
    ),
    line_pattern(
        r"(?P<every>\d+) (?:runs|tests), \d+ assertions, (?P<failed>\d+) failures,"
        r" (?P<errors>\d+) errors(?:, (?P<skipped>\d+) skips)?"
    ),
    _RUBY_TIME,
    place=line_pattern(r" +(?P<place>\S+:\d+):in "),
)
_RUBY_RAISED = Format(
    "ruby",
    line_pattern(
        r"(?:<\S*:\d+|(?P<place>\S+:\d+)):in [`'][^\n]*': (?P<words>[^\n]+)"
        r" \((?P<kind>[A-Z][\w:]*)\)$"
    ),
    stopped="an error was raised",
)
_RUBY_SYNTAX = Format(
    "ruby",
    line_pattern(r"(?P<place>\S+\.rb:\d+): (?P<words>syntax error[^\n]*)$"),
    stopped="an error was raised",
)

_PHPUNIT = Format(
    "phpunit",
    line_pattern(
        r"(?:\d+\) (?P<test>\w[^\n]*)\n(?P<words>\S[^\n]*)"
        r"| [✘∅] (?P<test2>[^\n]+)\n\s*│\s*\n +│ (?P<words2>\S[^\n]*))"
    ),
    line_pattern(
        r"(?:OK \((?P<every2>\d+) tests?,|Tests: (?P<every>\d+), Assertions: \d+"
        r"(?:, (?:Failures: (?P<failed>\d+)|Errors: (?P<errors>\d+)|Skipped: (?P<skipped>\d+)"
        r"|Incomplete: (?P<skipped2>\d+)|[\w ]+: \d+))*\.$)"
    ),
    line_pattern(r"Time: (?:00:)?00:(?P<seconds>\d+\.\d+)"),
    place=line_pattern(r"[ │]*(?P<place>[^\s:]+\.php:\d+)$"),
)
_PHP_FATAL = Format(
    "php",
    line_pattern(
        r"(?:PHP )?(?:Fatal error: +(?:Uncaught )?|(?=Parse error: ))(?P<words>[^\n]+?)"
        r" in (?P<path>\S+?)(?: on line |:)(?P<line>\d+)$"
    ),
    stopped="an error was raised",
)
_PLAN = line_pattern(r"1\.\.\d+\b")
_ROW = line_pattern(r"(not )?ok \d+ ?(?:- )?([^\n#]*)(# (?i:todo|skip))?")
_WHERE = line_pattern(
    r"(?:# +(?:at|in test file) |# \((?:in test file )?)(\S+?),? line (\d+)"
    r"|# +Failed test at (\S+) line (\d+)"
)


def tap(text: str) -> CommandResult | None:
    """Read the lines of TAP's outer level, for which there is a plan."""
    rows = _ROW.findall(text) if _PLAN.search(text) else []
    if not rows:
        return None
    bad = [name.strip() for no, name, aside in rows if no and not aside]
    skipped = sum(1 for _, _, aside in rows if aside)
    where = _WHERE.search(text)
    place = ":".join(filter(None, where.groups())).rstrip(".") if where else ""
    return run_result(
        "tap",
        TestCounts(passed=len(rows) - len(bad) - skipped, failed=len(bad), skipped=skipped),
        failing=bad,
        first=Diagnostic(place=place, test=bad[0]) if bad else Diagnostic(),
    )


PARSERS = (
    OutputParser(
        in_turn(_SUREFIRE.read, maven_build, _MAVEN_STOPPED.read),
        ("mvn", "mvnw"),
        ("Tests run: ", "[INFO] BUILD ", "[ERROR] Failed to execute"),
    ),
    OutputParser(
        in_turn(_GRADLE_TESTS.read, _KOTLIN.read, gradle_build),
        ("gradle", "gradlew"),
        ("* What went wrong:", "BUILD SUCCESSFUL", "BUILD FAILED in "),
    ),
    OutputParser(thrown, (), ("\tat ", "Exception in thread"), is_raised=True),
    OutputParser(_DOTNET_TEST.read, ("dotnet",), ("Passed!  -", "Failed!  -")),
    OutputParser(_CSC.read, ("dotnet", "msbuild", "csc", "mcs"), (": error CS", "Error(s)")),
    OutputParser(
        in_turn(_TERMINAL_TESTS.read, _NET_BUILD.read),
        ("dotnet",),
        ("Test summary: ", "Build succeeded"),
    ),
    OutputParser(
        _NET_THROWN.read,
        ("dotnet",),
        ("Unhandled exception", "Unhandled Exception"),
        is_raised=True,
    ),
    OutputParser(
        in_turn(_RSPEC.read, _RSPEC_CUT.read),
        ("rspec",),
        (" examples, ", " example, ", "\nrspec ./"),
    ),
    OutputParser(_MINITEST.read, (), (" assertions, ",)),
    OutputParser(
        in_turn(_RUBY_RAISED.read, _RUBY_SYNTAX.read),
        ("ruby",),
        (":in `", ":in '", "syntax error"),
        is_raised=True,
    ),
    OutputParser(_PHPUNIT.read, ("phpunit",), ("OK (", "Assertions: ")),
    OutputParser(_PHP_FATAL.read, ("php",), ("Fatal error: ", "Parse error: "), is_raised=True),
    OutputParser(tap, ("bats", "perl"), ("\nnot ok ", "\nok 1")),
)
