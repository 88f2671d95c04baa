"""What JavaScript's bundlers and formatters say: webpack, vite, esbuild, rollup, prettier.

Part of interpretation (step 6). One reader a tool: text without colours in, `CommandResult` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import (
    CommandResult,
    Diagnostic,
    failed_result,
    line_pattern,
    problem_result,
    problems_text,
)

_WEBPACK_END = line_pattern(
    r"webpack \S+ compiled (?:successfully|with (?:(\d+) errors?)?(?: and )?(?:(\d+) warnings?)?)"
)
_WEBPACK_ERROR = line_pattern(r"ERROR in (\S+)(?: (\d+):\d+[^\n]*)?\n([^\n]+)$")


def webpack(text: str) -> CommandResult | None:
    """Read webpack's last line and its first error."""
    end = _WEBPACK_END.search(text)
    if end is None:
        return None
    errors, warnings = (int(number or 0) for number in end.groups())
    if not errors:
        return CommandResult(
            tool="webpack", ok=True, said=f"compiled with {problems_text(0, warnings)}"
        )
    found = _WEBPACK_ERROR.search(text)
    first = Diagnostic()
    if found:
        path, line, words = found.groups()
        first = Diagnostic(words, f"{path}:{line}" if line else path)
    return problem_result("webpack", errors, warnings=warnings, first=first)


_VITE_DONE = line_pattern(r"✓ (built in [\d.]+m?s)$")
_VITE_ERROR = line_pattern(
    r"error during build:\n(?:Build failed with \d+ errors?:\n)?\n*(\S[^\n]*)$"
)
_VITE_PLACE = line_pattern(r"(?:file: |[ ╭─]*\[ ?)([^\s:]+:\d+):\d+")


def vite(text: str) -> CommandResult | None:
    """Read how vite's build ended."""
    error = _VITE_ERROR.search(text)
    if error:
        place = _VITE_PLACE.search(text, error.end())
        first = Diagnostic(error.group(1), place.group(1) if place else "")
        return failed_result("vite", "the build stopped", first)
    done = _VITE_DONE.search(text)
    return CommandResult(tool="vite", ok=True, said=done.group(1)) if done else None


_ESBUILD_ERROR = line_pattern(r"✘ \[ERROR\] ([^\n]+)(?:\n\n +([^\s:]+:\d+):\d+:)?")
_ROLLUP_ERROR = line_pattern(r"\[!\] (\S[^\n]*)(?:\n(\S+) \((\d+):\d+\)$)?")


def esbuild(text: str) -> CommandResult | None:
    """Read the errors of esbuild, and of what is built on it."""
    found = _ESBUILD_ERROR.findall(text)
    return problem_result("esbuild", len(found), first=Diagnostic(*found[0])) if found else None


def rollup(text: str) -> CommandResult | None:
    """Read why rollup stopped."""
    found = _ROLLUP_ERROR.search(text)
    if found is None:
        return None
    words, path, line = found.groups()
    return failed_result(
        "rollup", "the build stopped", Diagnostic(words, f"{path}:{line}" if path else "")
    )


_PRETTIER_END = line_pattern(
    r"(?:\[warn\] Code style issues (?:found in (\d+|the above) files?|were)"
    r"|(All matched files use Prettier code style))"
)
_PRETTIER_BROKE = line_pattern(r"\[error\] (?:([^\s:]+): )?([^\n]+?)(?: \((\d+):\d+\))?$")
_PRETTIER_ROW = line_pattern(r"\[warn\] (\S+)$")


def prettier(text: str) -> CommandResult | None:
    """Read which files prettier would change or could not parse."""
    end, broke = _PRETTIER_END.search(text), _PRETTIER_BROKE.search(text)
    if broke:
        path, words, line = broke.groups()
        place = ":".join(filter(None, (path, line)))
        return failed_result("prettier", "prettier stopped", Diagnostic(words, place))
    if end is None or end.group(2):
        return (
            CommandResult(tool="prettier", ok=True, said="all files are formatted") if end else None
        )
    rows = _PRETTIER_ROW.findall(text)
    return problem_result(
        "prettier", max(len(rows), 1), first=Diagnostic("code style issues", "".join(rows[:1]))
    )


PARSERS = (
    OutputParser(webpack, ("webpack",), ("\nwebpack ",)),
    OutputParser(vite, ("vite",), ("error during build:", "✓ built in ")),
    OutputParser(esbuild, ("esbuild", "tsup"), ("✘ [ERROR] ",)),
    OutputParser(rollup, ("rollup",), ("\n[!] ",)),
    OutputParser(prettier, ("prettier",), ("[warn] Code style", "Prettier code style")),
)
