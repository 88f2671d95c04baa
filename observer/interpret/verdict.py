"""What an output says about its command: one value that every reader of outputs returns.

Part of interpretation (step 6).
"""

from __future__ import annotations

import re

from observer.events import Value
from observer.interpret.wording import counted

LINE_START = "\n"
"""What a pattern of `line_pattern` begins with; texts to be read begin with it too."""
FAILING = 10
"""Most failing names that a verdict lists."""


class Verdict(Value):
    """What a command's output said. Counts are None where it did not say.

    `ok` is None where nothing tells. `said` is the result in a few words ("2 failed, 14 passed in
    3.1 s"); `first_error` the first error with its place ("src/a.ts:3: TS2304: Cannot find …"),
    and `signature` what of it will be the same on another day or in another project.
    """

    tool: str = ""
    ok: bool | None = None
    said: str = ""
    passed: int | None = None
    failed: int | None = None
    failing: tuple[str, ...] = ()
    first_error: str = ""
    signature: str = ""

    @property
    def is_check(self) -> bool:
        """Whether a tool that judges the code spoke."""
        return bool(self.tool)


def line_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that holds from a line's beginning.

    A literal line end is searched for ten times faster than `^` is tried at every character.
    """
    return re.compile(f"{LINE_START}(?:{pattern})", re.MULTILINE)


def result_said(*, passed: int, failed: int, skipped: int = 0, seconds: str = "") -> str:
    """Return ``"2 failed, 14 passed, 1 skipped in 3.1 s"``; parts that are 0 are left out."""
    parts = [
        f"{number:,} {word}"
        for number, word in ((failed, "failed"), (passed, "passed"), (skipped, "skipped"))
        if number
    ]
    said = ", ".join(parts) or "no tests ran"
    return f"{said} in {seconds_said(seconds)}" if seconds else said


def problems_said(errors: int, warnings: int = 0) -> str:
    """Return ``"3 errors, 1 warning"`` or ``"no errors"``."""
    parts = [
        counted(number, noun)
        for number, noun in ((errors, "error"), (warnings, "warning"))
        if number
    ]
    return ", ".join(parts) or "no errors"


def seconds_said(seconds: str) -> str:
    """Return a count of seconds with at most one decimal: ``"3.1 s"``; small ones in ms."""
    value = float(seconds)
    return f"{value:.1f} s" if value >= 1 else f"{round(value * 1000)} ms"
