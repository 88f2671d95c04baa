"""What an output proves of the checks before a pipe: read line by line, on its own.

A summary of the tool itself decides; else a line that no clean run prints. Silence proves nothing
but of tools that are silent when all is well.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SUMMARIES = (
    # (what it is of, where the failures are counted)
    ("test", re.compile(r"^\s*(\d+) fail$", re.MULTILINE)),  # bun
    ("test", re.compile(r"^(?:Test Suites|Tests):\s+(?:(\d+) failed)?.*\d+ total", re.MULTILINE)),
    ("test", re.compile(r"^\s*(?:Test Files|Tests)\s+(?:(\d+) failed)?.*\(\d+\)", re.MULTILINE)),
    (
        "test",
        re.compile(
            r"^=*\s*(?:(\d+) (?:failed|errors?)[, ])?.*\b\d+ passed.* in [\d.:]+s", re.MULTILINE
        ),
    ),
    ("test", re.compile(r"^=*\s*(\d+) (?:failed|errors?) in [\d.:]+s", re.MULTILINE)),
    ("test", re.compile(r"^test result: \w+\. \d+ passed; (\d+) failed", re.MULTILINE)),
    ("test", re.compile(r"^Tests run: \d+, Failures: (\d+)", re.MULTILINE)),
    ("test", re.compile(r"^\d+ examples?, (\d+) failures?", re.MULTILINE)),
    ("test", re.compile(r"^\s*(\d+) failing$", re.MULTILINE)),  # mocha
    ("test", re.compile(r"^\s+(\d+) failed$", re.MULTILINE)),  # Playwright
    ("lint", re.compile(r"^Found (\d+) errors?\.?", re.MULTILINE)),
    ("lint", re.compile(r"✖ \d+ problems? \((\d+) errors?", re.MULTILINE)),
    ("lint", re.compile(r"^(\d+) issues[:.]", re.MULTILINE)),
    ("typecheck", re.compile(r"^Found (\d+) errors? in", re.MULTILINE)),
)
_CLEAN = {
    "test": re.compile(
        r"^(?:PASS|ok\s+\S+\s|OK \(|\s*\d+ passing|.*\b[1-9]\d* passed\b)", re.MULTILINE
    ),
    "lint": re.compile(
        r"^(?:Checked \d+ files? in .*|All checks passed!|0 issues\.|.*no offenses detected.*"
        r"|.*No issues found.*|✔ No lint.*)",
        re.MULTILINE,
    ),
    "typecheck": re.compile(r"^(?:Success: no issues|0 errors, )", re.MULTILINE),
    "build": re.compile(
        r"^(?:BUILD SUCCESS|.*Compiled successfully|\s*Finished `?\w+`? |✓ built in|Done in \d)",
        re.MULTILINE,
    ),
}
_BROKEN = re.compile(
    r"^(?:error: script \"[^\"]*\" exited with code [1-9]"
    r"|error: could not compile|error: unrecognized subcommand|error: Script not found"
    r"|error\[E\d+\]|.*\berror TS\d+:|\S+:\d+:\d+: error|npm ERR!|npm error"
    r"|.*\bELIFECYCLE\b|.*: command not found$|.*\bexited with code [1-9]|.*\bexit status [1-9]"
    r"|Traceback \(most recent call last\)|panic: |fatal: |FAILED\b|FAIL\b|--- FAIL|\(fail\) "
    r"|BUILD FAIL|make(?:\[\d+\])?: \*\*\*|SyntaxError|ModuleNotFoundError|Segmentation fault"
    r"|\s*\u00d7 Some errors were emitted|\[\S+\] ERROR)",
    re.MULTILINE,
)
_DIAGNOSED = re.compile(r"^\s+[\u00d7✖] \S", re.MULTILINE)
_SHOWN = re.compile(r"(?i)\b(?:exit|code|status|rc)\b[^\n\d-]{0,12}(\d{1,3})\s*\Z")
_ECHOED = re.compile(r"^(?:\$ .*|> .*|\s*)$")
_SILENT = frozenset({"typecheck", "format"})


def plain(output: str) -> str:
    """Return an output without colours and carriage returns."""
    return _COLOUR.sub("", output).replace("\r\n", "\n").replace("\r", "\n")


def shown_code(command: str, output: str) -> int | None:
    """Return the exit code that a command prints by ``echo $?``, None if it does not."""
    found = _SHOWN.search(output.rstrip()) if "$?" in command else None
    return int(found[1]) if found else None


def failed(text: str, kinds: Collection[str], *, filtered: bool) -> bool | None:
    """Return whether an output shows that checks of these kinds failed; None if it does not.

    Args:
        text: the output, plain.
        kinds: of the checks that were run.
        filtered: whether a filter may have dropped lines, so that silence says nothing.
    """
    counts: dict[str, list[int]] = {}
    for kind, pattern in _SUMMARIES:
        if kind in kinds:
            found = [int(each[1] or 0) for each in pattern.finditer(text)]
            counts.setdefault(kind, []).extend(found)
    if any(map(any, counts.values())):
        return True
    is_counted = any(counts.values())
    if is_counted and len(kinds) == 1:
        return False
    if _BROKEN.search(text) or ("lint" in kinds and _DIAGNOSED.search(text)):
        return True
    unsaid = [
        kind
        for kind in kinds
        if not counts.get(kind) and not (kind in _CLEAN and _CLEAN[kind].search(text))
    ]
    if not unsaid:
        return False
    is_silent = len(unsaid) < len(kinds) or all(map(_ECHOED.match, text.split("\n")))
    return False if is_silent and not filtered and _SILENT.issuperset(unsaid) else None
