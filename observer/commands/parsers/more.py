"""What tools of the JVM, .NET, Ruby, PHP, Elixir, Zig, PowerShell and Perl say, and test reports.

Part of interpretation (step 6). Most are a `Format`; the others are a function: text without
colours in, `CommandResult` out, or None when the tool's own words are not there. Patterns are
anchored to lines and linear. A report for machines (JSON, JUnit's XML) that was printed instead of
written may be cut anywhere, so it is searched, not parsed.
"""

from __future__ import annotations

import html
import re
from typing import NamedTuple

from observer.commands.parsers.compiled import cc, described
from observer.commands.parsers.parser import (
    STRING,
    Format,
    OutputParser,
    decode_json_string,
    in_turn,
)
from observer.commands.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    last_match,
    line_pattern,
    problem_result,
    run_result,
    total_seconds,
    word_counts,
)
from observer.core.text import one_line, uncoloured

_LEVEL = r"(?:\[(?:ERROR|INFO|WARNING)\] +)?"
_JVM_PLACE = line_pattern(
    r"\s+at (?:[^/\s(]*+/)?+(?!(?:java|jdk|sun|org\.(?:junit|opentest4j|apache\.maven|gradle|testng"
    r"|springframework|assertj|hamcrest)|kotlin|scala)\b)[\w.$/@<>]+\((?P<place>[\w.$-]+:\d+)\)"
)
"""A place that is not a library's own."""
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
_NET_BUILD = line_pattern(r"Build (?:(succeeded)|FAILED|failed)\b[^\n]*$")


def terminal_build(text: str) -> CommandResult | None:
    """Read how a build ended, as newer versions of .NET say it in a terminal."""
    end = last_match(_NET_BUILD, text)
    if end is None or end.group(1):
        return CommandResult(tool="dotnet", ok=True, said="built") if end else None
    return _CSC.read(text) or failed_result("dotnet", "the build stopped", Diagnostic())


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

_PHP_END = line_pattern(r"(?:OK \((\d+) tests?,|Tests: (\d+), Assertions: \d+([^\n]*)\.$)")
_PHP_COUNT = re.compile(r"(\w+): (\d+)")
_PHP_TIME = line_pattern(r"Time: (?:(\d+):)?(\d+):(\d+\.\d+)")
_PHP_BAD = line_pattern(r"\d+\) (\w[^\n]*)\n(\S[^\n]*)")
_OTHER = line_pattern(r"There (?:was|were) \d+ (?![^\n]*(?:error|failure))[^\n]*:$")
_SECTION = "\nThere w"
_TESTDOX = line_pattern(r" [✘∅] ([^\n]+)\n\s*│\s*\n +│ (\S[^\n]*)")
_PHP_PLACE = line_pattern(r"[ │]*([^\s:]+\.php:\d+)$")


def phpunit(text: str) -> CommandResult | None:
    """Read phpunit's summaries, of its dots or as a list of what it tests."""
    ends = _PHP_END.findall(text)
    if not ends:
        return None
    counts = _PHP_COUNT.findall(" ".join(said for _, _, said in ends))
    failed, skipped = (
        sum(int(number) for word, number in counts if word in words)
        for words in (("Failures", "Errors"), ("Skipped", "Incomplete"))
    )
    bad = (_failing(text) or list(_TESTDOX.finditer(text))) if failed else []
    place = _PHP_PLACE.search(text, bad[0].end()) if bad else None
    name, words = bad[0].groups() if bad else ("", "")
    first = Diagnostic(words, place[1] if place else "", name)
    return run_result(
        "phpunit",
        TestCounts(
            passed=sum(int(fine or every) for fine, every, _ in ends) - failed - skipped,
            failed=failed,
            skipped=skipped,
            seconds=_seconds(text),
        ),
        failing=[one.group(1) for one in bad],
        first=first,
    )


def _failing(text: str) -> list[re.Match[str]]:
    """Find what failed among what is listed: risky, incomplete and skipped tests are, too."""
    return [
        one
        for one in _PHP_BAD.finditer(text)
        if not _OTHER.match(text, max(text.rfind(_SECTION, 0, one.start()), 0))
    ]


def _seconds(text: str) -> float | None:
    return total_seconds(
        int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds)
        for hours, minutes, seconds in _PHP_TIME.findall(text)
    )


_PHP_FATAL = Format(
    "php",
    line_pattern(
        r"(?:PHP )?(?:Fatal error: +(?:Uncaught )?|(?=Parse error: ))(?P<words>[^\n]+?)"
        r" in (?P<path>\S+?)(?: on line |:)(?P<line>\d+)$"
    ),
    stopped="an error was raised",
)
_PEST = Format(
    "pest",
    line_pattern(r" +FAILED +(?P<test>\S[^\n]*?)(?:  +\w+)?\n+ +(?P<words>\S[^\n]*)$"),
    line_pattern(
        r" +Tests: +(?P<counts>(?:\d+ (?:failed|passed|skipped|risky|todos?|warnings?|incomplete"
        r"|deprecated),? ?)+)\(\d+ assertions\)"
    ),
    place=line_pattern(r" +at (?P<place>\S+?:\d+)$"),
    last=True,
)
_MIX = Format(
    "mix test",
    line_pattern(
        r" +\d+\) (?:test|property|doctest) (?P<test>\S[^\n]*) \([\w.]+\)\n"
        r" +(?P<place>\S+:\d+)\n +(?P<words>\S[^\n]*)"
    ),
    line_pattern(
        r"(?:\d+ doctests?, )?(?:\d+ properties, )?(?P<every>\d+) tests?, (?P<failed>\d+) failures?"
        r"(?:, (?P<skipped>\d+) (?:skipped|excluded))?"
    ),
    last=True,
)
_MIX_BUILD = Format(
    "mix",
    line_pattern(r" *error: (?P<words>[^\n]+)(?:\n[^\n]*){1,12}?\n *└─ (?P<place>[^\s:]+:\d+)"),
    stopped="the build stopped",
)
_MIX_STOPPED = Format(
    "mix",
    line_pattern(
        r"\*\* \((?:\w+\.)*(?:(?P<kind>\w*Error)|Mix)\) (?:(?P<place>[^\s:]+:\d+): )?"
        r"(?P<words>[^\n]+)$"
    ),
    stopped="mix stopped",
)
_ZIG = Format(
    "zig test",
    line_pattern(r"(?:\d+/\d+ )?(?P<test>\S[^\n]*?)\.{3} ?FAIL \((?P<words>\w+)\)$"),
    line_pattern(
        r"(?:All (?P<passed>\d+) tests passed\."
        r"|(?P<passed2>\d+) passed; (?P<skipped>\d+) skipped; (?P<failed>\d+) failed\.)"
    ),
    last=True,
)
_PESTER = Format(
    "pester",
    line_pattern(
        r" *\[-\] (?P<test>\S[^\n]*?)(?: failed with:| \d+(?:\.\d+)?m?s(?: \([^\n]*\))?)\n+"
        r" *(?P<words>\S[^\n]*)$"
    ),
    line_pattern(
        r"Tests Passed: (?P<passed>\d+), Failed: (?P<failed>\d+), Skipped: (?P<skipped>\d+)"
        r"[^\n]*(?:\nContainer failed: (?P<broken>\d+)$)?"
    ),
    line_pattern(r"Tests completed in (?P<seconds>\d+(?:\.\d+)?)(?P<unit>m?s)$"),
    place=line_pattern(r" *at [^\n]*?, (?P<place>[^\n,]+\.ps1:\d+)$"),
    last=True,
)

_PLAN = line_pattern(r"1\.\.\d+\b")
_ROW = line_pattern(r"(not )?ok \d+ ?(?:- )?([^\n#]*)(# (?i:todo|skip))?")
_WHERE = line_pattern(
    r"(?:# +(?:at|in test file) |# \((?:in test file )?)(\S+?),? line (\d+)"
    r"|# +Failed test at (\S+) line (\d+)"
)
_PROVE_END = line_pattern(r"Files=\d+, Tests=(\d+), +(\d+) wallclock[^\n]*\nResult: (\w+)$")
_PROVE_BAD = line_pattern(r"(\S+) +\(Wstat: [^\n]* Failed: (\d+)\)$")
_FAILED_TEST = line_pattern(r"# +Failed test '([^\n]*)'$")
_AVA_COUNT = line_pattern(r" +(\d+ (?:tests? )?(?:passed|failed|skipped))$")
_AVA_BAD = line_pattern(r" +✘ \[fail\]: ([^\n]+?)(?: Error thrown in test)?$")
_AVA_SECTION = "\n  {name}\n\n"
_AVA_PLACE = re.compile(r" *([^\s:]+:\d+)$", re.MULTILINE)
_AVA_ERROR = line_pattern(r" +(\w*Error: [^\n]+)$")


def tap(text: str) -> CommandResult | None:
    """Read the lines of TAP's outer level, for which there is a plan."""
    rows = _ROW.findall(text) if _PLAN.search(text) else []
    if not rows:
        return None
    bad = [name.strip() for no, name, aside in rows if no and not aside]
    skipped = sum(1 for _, _, aside in rows if aside)
    return run_result(
        "tap",
        TestCounts(passed=len(rows) - len(bad) - skipped, failed=len(bad), skipped=skipped),
        failing=bad,
        first=Diagnostic(place=_tap_place(text), test=bad[0]) if bad else Diagnostic(),
    )


def _tap_place(text: str) -> str:
    found = _WHERE.search(text)
    return ":".join(filter(None, found.groups())).rstrip(".") if found else ""


def prove(text: str) -> CommandResult | None:
    """Read the summary of perl's prove, which names the files that failed."""
    end = _PROVE_END.search(text)
    if end is None:
        return None
    bad = _PROVE_BAD.findall(text)
    failed = max(sum(int(number) for _, number in bad), end.group(3) != "PASS")
    name = _FAILED_TEST.search(text)
    first = Diagnostic(name.group(1) if name else "", _tap_place(text), bad[0][0] if bad else "")
    return run_result(
        "prove",
        TestCounts(
            passed=max(int(end.group(1)) - failed, 0),
            failed=failed,
            seconds=float(end.group(2)) or None,
        ),
        failing=[file for file, _ in bad],
        first=first,
    )


def ava(text: str) -> CommandResult | None:
    """Read ava's own report."""
    counts = word_counts(
        ", ".join(_AVA_COUNT.findall(text)).replace("tests ", "").replace("test ", "")
    )
    bad = _AVA_BAD.findall(text)
    if not counts:
        return None
    first = Diagnostic()
    if bad:
        section = text.partition(_AVA_SECTION.format(name=bad[0]))[2].partition("\n\n\n")[0]
        place, error = _AVA_PLACE.match(section), _AVA_ERROR.search(section)
        words = error.group(1) if error else ""
        first = Diagnostic(words, place.group(1) if place else "", bad[0])
    return run_result(
        "ava",
        TestCounts(
            passed=counts.get("passed", 0),
            failed=counts.get("failed", 0),
            skipped=counts.get("skipped", 0),
        ),
        failing=bad,
        first=first,
    )


_WORDS = 160
_REPORT_PLACE = re.compile(r"(?:at |[(\"\n\u276f] ?)(?:file://)?([^\s():\"<]+\.\w+:\d+)")
_LIBRARIES = ("node_modules/", "/rubygems", "/gems/", "node:", "site-packages/")


class JsonReportFormat(NamedTuple):
    """How a tool's JSON counts its tests, and what stands before the parts of each."""

    tool: str
    ran: str
    failed: str
    skipped: str
    broken: str
    each: str
    name: str
    words: str

    def read(self, text: str) -> CommandResult | None:
        """Read a report; what broke outside of tests counts where no test failed."""
        ran, failed, skipped, broken = (
            int(found[1]) if (found := re.search(f'"{key}": *(\\d{{1,9}})', text)) else None
            for key in (self.ran, self.failed, self.skipped, self.broken)
        )
        if ran is None or failed is None:
            return None
        passed = max(ran - failed - (skipped or 0), 0)
        tally = TestCounts(passed=passed, failed=failed or broken or 0, skipped=skipped or 0)
        return _result(self.tool, tally, self._failing(text))

    def _failing(self, text: str) -> list[Diagnostic]:
        name = re.compile(f'"{self.name}": *({STRING})')
        words = re.compile(f'"{self.words}\\s*({STRING})')
        return [
            _complaint(decode_json_string(named[1]), decode_json_string(said[1]), case)
            for case in text.split(f'"{self.each}"')[1:]
            if (named := name.search(case)) and (said := words.search(case))
        ]


_JEST = JsonReportFormat(
    tool="jest",
    ran="numTotalTests",
    failed="numFailedTests",
    skipped="numPendingTests",
    broken="numFailedTestSuites",
    each="ancestorTitles",
    name="fullName",
    words='failureMessages": *\\[',
)
_MOCHA = JsonReportFormat(
    tool="mocha",
    ran="tests",
    failed="failures",
    skipped="pending",
    broken="",
    each="title",
    name="fullTitle",
    words='stack":',
)
_RSPEC_JSON = JsonReportFormat(
    tool="rspec",
    ran="example_count",
    failed="failure_count",
    skipped="pending_count",
    broken="errors_outside_of_examples_count",
    each="id",
    name="full_description",
    words='message":',
)

_SUITE = re.compile(r"<testsuites?\b[^<>]*\btests=\"\d[^<>]*>")
_COUNT = re.compile(r"\b(tests|failures|errors)=\"(\d{1,9})\"")
_ATTRIBUTE = re.compile(r"\b(classname|name)=\"([^\"]*)\"")
_BAD = re.compile(r"<(?:failure|error)\b(?:[^<>]*?\bmessage=\"([^\"]*)\")?[^<>]*>([^<]*)")


def junit(text: str) -> CommandResult | None:
    """Read the XML of JUnit, which many tools write."""
    suite = _SUITE.search(text)
    if suite is None:
        return None
    counts = {name: int(number) for name, number in _COUNT.findall(suite.group())}
    failed, skipped = counts.get("failures", 0) + counts.get("errors", 0), text.count("<skipped")
    bad = [_case(case) for case in text.split("<testcase ")[1:] if _BAD.search(case)]
    passed = max(counts.get("tests", 0) - failed - skipped, 0)
    return _result("junit", TestCounts(passed=passed, failed=failed, skipped=skipped), bad)


def _case(case: str) -> Diagnostic:
    named = dict(_ATTRIBUTE.findall(case.partition(">")[0]))
    name = "::".join(filter(None, (named.get("classname"), named.get("name"))))
    message, body = next(iter(_BAD.findall(case)))
    return _complaint(html.unescape(name), html.unescape(message or body), case)


def _complaint(name: str, words: str, case: str) -> Diagnostic:
    said = uncoloured(words).partition("\n    at ")[0]
    own = (
        place
        for place in _REPORT_PLACE.findall(case)
        if not any(part in place for part in _LIBRARIES)
    )
    return Diagnostic(one_line(said, _WORDS), next(own, ""), name)


def _result(tool: str, tally: TestCounts, failing: list[Diagnostic]) -> CommandResult:
    first = next(iter(failing), Diagnostic())
    return run_result(tool, tally, failing=[one.test for one in failing], first=first)


PARSERS = (
    OutputParser(
        in_turn(_MIX.read, _MIX_BUILD.read, _MIX_STOPPED.read),
        ("mix",),
        (" tests, ", " test, ", "** ("),
    ),
    OutputParser(_PESTER.read, ("pester", "Invoke-Pester", "invoke-pester"), ("Tests Passed: ",)),
    OutputParser(_ZIG.read, ("zig",), (" tests passed.", " skipped; ")),
    OutputParser(_PEST.read, ("pest", "artisan"), (" assertions)",)),
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
        in_turn(_TERMINAL_TESTS.read, terminal_build),
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
    OutputParser(phpunit, ("phpunit",), ("OK (", "Assertions: ")),
    OutputParser(_PHP_FATAL.read, ("php",), ("Fatal error: ", "Parse error: "), is_raised=True),
    OutputParser(ava, ("ava",), ("✘ [fail]: ",)),
    OutputParser(prove, ("prove",), ("\nResult: ",)),
    OutputParser(tap, ("bats", "perl"), ("\nnot ok ", "\nok 1")),
    OutputParser(_JEST.read, ("jest",), ('"numRuntimeErrorTestSuites"',)),
    OutputParser(_JEST._replace(tool="vitest").read, ("vitest",), ('"numTotalTestSuites"',)),
    OutputParser(_MOCHA.read, ("mocha",), ('"passes": ',)),
    OutputParser(_RSPEC_JSON.read, ("rspec",), ('"example_count"',)),
    OutputParser(junit, (), ("<testsuite",)),
)
