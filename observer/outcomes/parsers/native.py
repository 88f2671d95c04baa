"""What builds say: C compilers, javac, linkers, make, CMake, ctest, and docker's build.

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
    first_error_line,
    last_match,
    line_pattern,
    problem_result,
    run_result,
)

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
_GLUED = re.compile(r":\w+(/\S+)")
_SYMBOL = re.compile(r"\s+symbol: +([^\n]+)")
_SYMBOL_CHARS = 600


def cc(text: str) -> CommandResult | None:
    """Read `file:line: error:` lines of gcc, clang and javac, and the linker's."""
    errors = list(_CC_ERROR.finditer(text))
    linked = list(_LD_ERROR.finditer(text))
    if not errors and not linked:
        return None
    if errors:
        first = Diagnostic(described(text, errors[0]), _unglued(errors[0].group(1)))
    else:
        first = Diagnostic(linked[0].group(2), linked[0].group(1) or "")
    warnings = len(_CC_WARNING.findall(text))
    tool = "compiler" if errors else "linker"
    return problem_result(tool, len(errors) + len(linked), warnings=warnings, first=first)


def described(text: str, error: re.Match[str]) -> str:
    """Return the words of an error, with the symbol that javac could not find."""
    words = error.group(2)
    if words != "cannot find symbol":
        return words
    symbol = _SYMBOL.search(text[error.end() : error.end() + _SYMBOL_CHARS])
    return f"{words}: {' '.join(symbol.group(1).split())}" if symbol else words


def _unglued(place: str) -> str:
    """Take off the name of the task to which Gradle glues the first line of its compiler."""
    glued = _GLUED.match(place)
    return glued.group(1) + place[glued.end() :] if glued else place


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


_CMAKE_ERROR = line_pattern(
    r"CMake Error at ([^\n:]+:\d+)(?: \([^)\n]*\))?:\n((?: {2,}[^\n]+\n){1,6})"
)
_CMAKE_END = line_pattern(r"-- (?:Build files have been written to|Configuring incomplete)")


def cmake(text: str) -> CommandResult | None:
    """Read the errors of a CMake configuration."""
    errors = _CMAKE_ERROR.findall(text)
    if not errors:
        return CommandResult(tool="cmake", ok=True, said="configured") if _written(text) else None
    place, words = errors[0]
    return problem_result("cmake", len(errors), first=Diagnostic(" ".join(words.split()), place))


def _written(text: str) -> bool:
    end = last_match(_CMAKE_END, text)
    return end is not None and "written" in end.group()


_CTEST_END = line_pattern(r"\d+% tests passed, (\d+) tests? failed out of (\d+)$")
_CTEST_TIME = line_pattern(r"Total Test time \(real\) = +(\d+\.\d+) sec")
_CTEST_BAD = line_pattern(r"\t *\d+ - (\S[^\n]*) \(([^)\n]*)\)")


def ctest(text: str) -> CommandResult | None:
    """Read ctest's summary."""
    end = last_match(_CTEST_END, text)
    if end is None:
        return None
    failed, every = int(end.group(1)), int(end.group(2))
    bad = _CTEST_BAD.findall(text)
    time = _CTEST_TIME.search(text)
    return run_result(
        "ctest",
        TestCounts(
            passed=every - failed,
            failed=failed,
            seconds=float(time.group(1)) if time else None,
        ),
        failing=[name for name, _ in bad],
        first=Diagnostic(bad[0][1], test=bad[0][0]) if bad else Diagnostic(),
    )


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


PARSERS = (
    OutputParser(docker, ("docker",), ("ERROR: failed to solve", "ERROR: failed to build")),
    OutputParser(
        cc,
        ("gcc", "cc", "clang", "g++", "c++", "clang++", "javac", "gradle", "gradlew"),
        ("error: ", "undefined ", "ld: ", *_ERROR_WORDS),
    ),
    OutputParser(cmake, ("cmake",), ("CMake Error",)),
    OutputParser(ctest, ("ctest",), ("% tests passed",)),
    OutputParser(make, (), (": *** ",), is_raised=True),
)
