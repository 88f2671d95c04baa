"""What compilers and tools around them say: of C, Go, Rust, make, CMake, docker's build."""

from __future__ import annotations

import re

from observer.commands.parsers.parser import Format, OutputParser, diagnostic, in_turn
from observer.commands.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    first_error_line,
    line_pattern,
    problem_result,
    problems_text,
    run_result,
)
from observer.core.patterns import lazy_pattern

_ERROR_WORDS = ("Fehler", "erreur", "errore", "erro", "エラー", "错误", "錯誤", "오류")
"""How compilers say "error" in other languages; gcc and javac follow the user's."""
_CC_ERROR = line_pattern(
    r"((?::\w+)?[^\s:][^\n:]*:\d+):(?:\d+:)? (?:fatal |schwerwiegender |致命的?)?"
    rf"(?:error|{'|'.join(_ERROR_WORDS)})(?: fatale)?\s?[:\uff1a]\s?([^\n]+)$"
)
_CC_WARNING = line_pattern(r"[^\s:][^\n:]*:\d+:(?:\d+:)? warning: ")
_LD_ERROR = line_pattern(
    r"(?:\S*ld(?:\.\w+)?: )?(?:error: )?(?:([^\s:(]+)(?::[^\n]*?)?: )?((?:undefined reference to"
    r"|undefined symbol: |cannot find -l|multiple definition of)[^\n]*)$"
)
_GLUED = re.compile(r"^:\w+(?=/\S)")
_SYMBOL = re.compile(r"\s+symbol: +([^\n]+)")
_SYMBOL_CHARS = 600


def cc(text: str) -> CommandResult | None:
    """Read `file:line: error:` lines of gcc, clang and javac, and the linker's."""
    errors = list(_CC_ERROR.finditer(text))
    linked = list(_LD_ERROR.finditer(text))
    if not errors and not linked:
        return None
    if errors:
        # Gradle glues the name of its task to the first line of its compiler.
        place = _GLUED.sub("", errors[0].group(1))
        first = Diagnostic(described(text, errors[0]), place)
    else:
        first = Diagnostic(linked[0].group(2), linked[0].group(1) or "")
    warnings = len(_CC_WARNING.findall(text))
    tool = "compiler" if errors else "linker"
    return problem_result(
        tool, len(errors) + len(linked), warnings=warnings, first=first, is_counted=False
    )


def described(text: str, error: re.Match[str]) -> str:
    """Return the words of an error, with the symbol that javac could not find."""
    words = error.group(2)
    if words != "cannot find symbol":
        return words
    symbol = _SYMBOL.search(text[error.end() : error.end() + _SYMBOL_CHARS])
    return f"{words}: {' '.join(symbol.group(1).split())}" if symbol else words


_MAKE_ERROR = line_pattern(r"g?make(?:\[\d+\])?: \*\*\* (\[?)([^\n]+)$")
_MAKE_SAID = re.compile(r"g?make(?:\[\d+\])?: (?:\*\*\* )?")


def make(text: str) -> CommandResult | None:
    """Read why make stopped: what its recipe complained of, where it did."""
    found = _MAKE_ERROR.search(text)
    if found is None:
        return None
    words = "".join(found.groups())
    if found.group(1):
        words = _MAKE_SAID.sub("", first_error_line(text[: found.start()])) or words
    return problem_result("make", 1, first=Diagnostic(words))


_DOCKER_ERROR = line_pattern(
    r"(?:ERROR: failed to (?:solve|build): "
    r"|(?=Cannot connect to the Docker|unable to prepare))([^\n]+)$"
)
_DOCKER_STEP = line_pattern(r" > \[[^\n]*\n((?:[^\n-][^\n]*\n){1,40})")
_DOCKER_PLACE = line_pattern(r"([^\s:]*Dockerfile[^\s:]*:\d+)$")
_DOCKER_DONE = line_pattern(r"(?:#\d+ )?(?:writing|exporting manifest list|naming to) [^\n]+")
_DOCKER_CLOCK = re.compile(r"\d+\.\d+ (?:(?:ERROR|error|npm error): )?")


def docker(text: str) -> CommandResult | None:
    """Read docker's build: what the step that failed complained of, and its line."""
    error = _DOCKER_ERROR.search(text)
    if error is None:
        done = _DOCKER_DONE.search(text)
        return CommandResult(tool="docker", ok=True, said="image built") if done else None
    step, place = _DOCKER_STEP.search(text), _DOCKER_PLACE.search(text)
    said = _DOCKER_CLOCK.sub("", first_error_line("\n" + step.group(1)) if step else "", count=1)
    first = Diagnostic(said or error.group(1), place.group(1) if place else "")
    return failed_result("docker", "the build stopped", first)


_TEST = line_pattern(r" *--- (FAIL|PASS|SKIP): (\S+)")
_PACKAGE = line_pattern(r"(ok|FAIL|---|\?) *\t\S+([\t ][^\n]*)?$")
_NONE_CHOSEN = "[no tests to run]"
_LOGGED = line_pattern(
    r" +(\w\S*\.go:\d+):[ ]?(?:([^\n]*\S[^\n]*)(?:\n {5,}(?!\S+\.go:\d)(\S[^\n]*))?"
    r"|([ ]*(?:\n[ ]{4,}\t[^\n]*){1,20}))$"
)
_ASSERTED = re.compile(r"\n\s+Error:\s+((?:[^\n]*)(?:\n\s+\t +\t[^\n]+){0,3})")
_COMPARES = re.compile(
    r"(?i)\b(?:want(?:ed)?|expect(?:ed|ing)?|got|mismatch|unexpected|actual|should)\b|!=|\n\s+Error:"
)
_FAILED_AT_END = line_pattern(r"FAIL$")
_NOT_BUILT = line_pattern(r"# \S+(?: \[[^\]\n]*\])?\n(?:vet: )?(\S+\.go:\d+):(?:\d+:)? ([^\n]+)$")
_NEXT = line_pattern(r" *(?:---|===) ")
_GO_ERROR = line_pattern(r"(?:vet: )?(?P<place>\S+\.go:\d+):(?:\d+:)? (?P<words>[^\n]+)$")
_NOT_OWN = r"\S*(?:/src/runtime/|/src/testing/|/go-1\.|/usr/local/go/|/pkg/mod/)"
_GO_PANIC = Format(
    "panic",
    line_pattern(r"(?P<words>(?:panic|fatal error): [^\n]+?)(?: \[recovered\])?$"),
    place=line_pattern(rf"\t(?!{_NOT_OWN})(?P<place>\S+\.go:\d+)"),
    stopped="an error was raised",
)


def _panic_in(text: str) -> Diagnostic | None:
    found = _GO_PANIC.bad.search(text)
    return _GO_PANIC.complaint(text, [found]) if found else None


def go_test(text: str) -> CommandResult | None:
    """Read `go test`; without `-v` it names passing packages only, so those are counted."""
    ends = [(state, more) for state, more in _PACKAGE.findall(text) if state in ("ok", "FAIL")]
    tests = _TEST.findall(text)
    is_bad = _FAILED_AT_END.search(text) is not None
    if not ends and not tests:
        stopped = _go_stopped(text, []) if is_bad else None
        return failed_result("go test", "tests failed", stopped) if stopped else None
    packages = [state for state, more in ends if _NONE_CHOSEN not in more]
    names = [name for state, name in tests if state == "FAIL"]
    passed = sum(state == "PASS" for state, _ in tests)
    failed = max(len(names), packages.count("FAIL"), is_bad)
    said = [
        f"{count} {word}" for count, word in ((len(names), "failed"), (passed, "passed")) if count
    ]
    if packages:
        said.append(f"{packages.count('ok')} of {len(packages)} packages ok")
    return run_result(
        "go test",
        TestCounts(passed=passed or (None if packages or tests else 0), failed=failed),
        failing=names,
        first=_go_stopped(text, names),
        said=", ".join(said),
    )


def _go_stopped(text: str, names: list[str]) -> Diagnostic:
    found = _NOT_BUILT.search(text)
    if found and text.find("--- FAIL", 0, found.start()) < 0:
        return Diagnostic(found[2], found[1])
    if not names:
        return _panic_in(text) or diagnostic(_GO_ERROR.search(text))
    # The first that failed by itself, not by one inside it.
    inner = (name for name in names if not any(one.startswith(f"{name}/") for one in names))
    return _go_first(text, names[0] if _panic_in(text) else next(inner))


def _go_first(text: str, name: str) -> Diagnostic:
    """Find what a test complained of: above its line with `-v`, else below.

    What it logged looks the same, so the first line that compares counts, else the last one.
    """
    verbose = text.find(f"=== RUN   {name}\n")
    start = verbose if verbose >= 0 else text.find(f"--- FAIL: {name}")
    section = _NEXT.split(text[start + 1 :], maxsplit=1)[0]
    lines = list(_LOGGED.finditer(section))
    logged = next((one for one in lines if _COMPARES.search(one[0])), None)
    logged = logged or (lines[-1] if lines else _LOGGED.search(text, start))
    first = _panic_in(text) or (Diagnostic(_said_by(logged), logged[1]) if logged else Diagnostic())
    return first._replace(test=name)


def _said_by(logged: re.Match[str]) -> str:
    words, more = logged.group(2) or "", logged.group(3)
    if not words and (asserted := _ASSERTED.search(logged[0])):
        return " ".join(asserted[1].split())
    return f"{words} {more}" if more and words.endswith(":") else words


_CARGO_END = line_pattern(
    r"test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;"
    r"(?:[^\n]*finished in (\d+\.\d+)s)?"
)
_CARGO_BAD = line_pattern(r"(?:test )?(\S+)(?: - should panic)? (?:\.\.\.|---) FAILED$")
_PANICKED = lazy_pattern(
    r"(?P<kind>panicked) at (?:'(?P<words>[^\n]*)', (?P<place>[^\s:,]+:\d+)"
    r"|(?P<place2>[^\s:,]+:\d+)(?::\d+)?:?(?:\n *(?P<words2>\S[^\n]*))?)"
)
_LISTED = line_pattern(r" {4}([a-z_]\w*(?:::\w+)*)$")
_RETURNED = line_pattern(r"(?P<words>Error: [^\n]+)$")


def cargo_test(text: str) -> CommandResult | None:
    """Read `cargo test`: the sum over its test binaries."""
    ends = _CARGO_END.findall(text)
    if not ends:
        return None
    passed, failed, ignored = (sum(int(end[part]) for end in ends) for part in range(3))
    seconds = sum(float(end[3] or 0) for end in ends)
    names = _CARGO_BAD.findall(text)
    first = Diagnostic()
    if not names and any(int(end[1]) for end in ends):
        names = _LISTED.findall(text)
    if names:
        section = text[max(text.find(f"---- {names[0]} stdout"), 0) :].partition("\n---- ")[0]
        own = section.find(f"thread '{names[0]}'")
        said = _PANICKED.search(section, max(own, 0)) or _RETURNED.search(section)
        first = diagnostic(said)._replace(test=names[0])
    return run_result(
        "cargo test",
        TestCounts(passed=passed, failed=failed, skipped=ignored, seconds=seconds or None),
        failing=names,
        first=first,
    )


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
    return problem_result(
        "cargo", errors, warnings=warnings, first=first, is_counted=count is not None
    )


_NEXTEST = Format(
    "cargo nextest",
    line_pattern(
        r" +(?:FAIL|TIMEOUT|SIGABRT|SIGSEGV) \[[^\]\n]*\] (?:\([^)\n]*\) )?(?:\S+ +)*"
        r"(?P<test>\S+)$"
    ),
    line_pattern(
        r" *Summary \[[^\]\n]*\] +(?:\d+/)?\d+ tests? run: (?P<passed>\d+) passed[^,\n]*"
        r"(?:, (?P<failed>\d+) failed)?(?:, (?P<failed2>\d+) timed out)?"
        r"(?:, (?P<skipped>\d+) skipped)?"
    ),
    first=_PANICKED,
    last=True,
)


_PANIC = Format("panic", _PANICKED, stopped="an error was raised")


_CMAKE = Format(
    "cmake",
    line_pattern(
        r"CMake Error at (?P<place>[^\n:]+:\d+)(?: \([^)\n]*\))?:\n"
        r"(?P<words>(?: {2,}[^\n]+\n){1,6})"
    ),
    done=line_pattern(r"-- (?:(?P<fine>Build files have been written to)|Configuring incomplete)"),
    fine="configured",
)
_CTEST = Format(
    "ctest",
    line_pattern(r"\t *\d+ - (?P<test>\S[^\n]*) \((?P<words>[^)\n]*)\)"),
    line_pattern(r"\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<every>\d+)$"),
    line_pattern(r"Total Test time \(real\) = +(?P<seconds>\d+\.\d+) sec"),
    last=True,
)
_GO_BUILD = Format("go", _GO_ERROR)
_GO_STOPPED = Format(
    "go",
    line_pattern(
        r"(?P<words>go: (?:cannot|errors|no |unknown|updates to|inconsistent"
        r"|warning: \"[^\n]*\" matched no)[^\n]*"
        r"|stat \S+: (?:directory not found|no such file[^\n]*)|package \S+ is not in [^\n]+"
        r"|no Go files in [^\n]+"
        r"|\S+\.go:\d+:\d+: (?:no required module|cannot find package)[^\n]*)$"
    ),
    stopped="",
)
_RUSTFMT = Format(
    "rustfmt",
    line_pattern(r"Diff in (?P<path>\S[^\n]*?)(?::| at line )(?P<line>\d+):$"),
    words="not formatted",
)
_CARGO = Format("cargo", line_pattern(r"(?P<words>error: [^\n]+)$"), stopped="")


PARSERS = (
    OutputParser(go_test, ("go",), ("--- FAIL", "ok  \t", "FAIL\t", "\nFAIL\n")),
    OutputParser(in_turn(_GO_BUILD.read, _GO_STOPPED.read), ("go", "gofmt"), (".go:",)),
    OutputParser(_GO_PANIC.read, ("go",), ("panic: ", "fatal error: "), is_raised=True),
    OutputParser(_NEXTEST.read, ("cargo",), (" tests run: ", " test run: ")),
    OutputParser(cargo_test, ("cargo",), ("test result: ",)),
    OutputParser(_RUSTFMT.read, ("rustfmt", "cargo"), ("\nDiff in ",)),
    OutputParser(rustc, ("cargo", "rustc"), ("error[E", "could not compile")),
    OutputParser(_CARGO.read, ("cargo",), ()),
    OutputParser(_PANIC.read, ("cargo",), ("panicked at ",), is_raised=True),
    OutputParser(docker, ("docker",), ("ERROR: failed to solve", "ERROR: failed to build")),
    OutputParser(
        cc,
        ("gcc", "cc", "clang", "g++", "c++", "clang++", "javac", "gradle", "gradlew"),
        ("error: ", "undefined ", "ld: ", *_ERROR_WORDS),
    ),
    OutputParser(_CMAKE.read, ("cmake",), ("CMake Error",)),
    OutputParser(_CTEST.read, ("ctest",), ("% tests passed",)),
    OutputParser(make, (), (": *** ",), is_raised=True),
)
