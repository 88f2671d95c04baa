"""What compilers, linters, type checkers, package managers and tracebacks say.

Part of interpretation (step 6). One reader a tool: text without colours in, `Verdict` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re

from observer.interpret.verdict import Verdict, line_pattern, problems_said
from observer.interpret.wording import counted, one_line

_TSC = line_pattern(
    r"([^\s(:][^\n(:]*)(?:\((\d+),\d+\)|:(\d+):\d+)(?: -|:) error (TS\d+): ([^\n]*)$"
)


def tsc(text: str) -> Verdict | None:
    """Read TypeScript's errors, plain or pretty."""
    found = _TSC.findall(text)
    if not found:
        return None
    path, line, pretty_line, code, message = found[0]
    return _problems("tsc", len(found), first=f"{path}:{line or pretty_line}: {code}: {message}")


_ESLINT_END = line_pattern(r"✖ \d+ problems? \((\d+) errors?, (\d+) warnings?\)")
_ESLINT_FILE = line_pattern(r"(/\S[^\n]*|[A-Za-z]:\\[^\n]*|\S+\.\w+)\n +(\d+):\d+ ")
_ESLINT_ERROR = line_pattern(r" +(\d+):\d+ +error +(\S[^\n]*)$")


def eslint(text: str) -> Verdict | None:
    """Read eslint's stylish report."""
    end = _ESLINT_END.search(text)
    if end is None:
        return None
    first = ""
    if error := _ESLINT_ERROR.search(text):
        files = [one for one in _ESLINT_FILE.finditer(text) if one.start() < error.start()]
        path = files[-1].group(1) if files else "?"
        first = f"{path}:{error.group(1)}: {' '.join(error.group(2).split())}"
    return _problems("eslint", int(end.group(1)), warnings=int(end.group(2)), first=first)


_RUFF_END = line_pattern(r"Found (\d+) errors?\b|(All checks passed!)$")
_RUFF_CONCISE = line_pattern(
    r"(\S[^\n:]*:\d+):\d+: ([A-Z]+\d+|SyntaxError|invalid-syntax):? ([^\n]+)$"
)
_RUFF_FULL = line_pattern(r"([A-Z]+\d+|invalid-syntax):? ([^\n]+)\n *--> ([^\n:]+:\d+)")


def ruff(text: str) -> Verdict | None:
    """Read `ruff check`, concise or full."""
    end = _RUFF_END.search(text)
    if end is None:
        return None
    if end.group(2):
        return Verdict(tool="ruff", ok=True, said="all checks passed")
    first = ""
    if concise := _RUFF_CONCISE.search(text):
        first = f"{concise.group(1)}: {concise.group(2)} {concise.group(3)}"
    elif full := _RUFF_FULL.search(text):
        first = f"{full.group(3)}: {full.group(1)} {full.group(2)}"
    if not first:
        return None
    return _problems("ruff", int(end.group(1)), first=first.replace("[*] ", ""))


_MYPY_END = line_pattern(
    r"(?:Found (\d+) errors? in \d+ files?|Success: (no issues found in \d+ source files?))"
)
_MYPY_ERROR = line_pattern(r"(\S[^\n:]*:\d+)(?::\d+)?: error: ([^\n]+)$")


def mypy(text: str) -> Verdict | None:
    """Read mypy's errors and its last line."""
    end = _MYPY_END.search(text)
    if end is None:
        return None
    if end.group(2):
        return Verdict(tool="mypy", ok=True, said=end.group(2))
    error = _MYPY_ERROR.search(text)
    first = f"{error.group(1)}: {' '.join(error.group(2).split())}" if error else ""
    return _problems("mypy", int(end.group(1)), first=first)


_RUSTC = line_pattern(r"error(?:\[(E\d+)\])?: ([^\n]+)\n *--> ([^\n:]+:\d+)")
_RUSTC_END = line_pattern(r"error: could not compile[^\n]*| +Finished [^\n]*target\(s\)")
_RUSTC_COUNT = re.compile(r"due to (?:(\d+) previous errors|1 previous error)")
_RUSTC_WARNING = line_pattern(r"warning: [^\n]+ generated (\d+) warnings?")


def rustc(text: str) -> Verdict | None:
    """Read what rustc says through cargo (build, check, clippy, run)."""
    end, error = _RUSTC_END.search(text), _RUSTC.search(text)
    if end is None and error is None:
        return None
    warnings = sum(int(number) for number in _RUSTC_WARNING.findall(text))
    if error is None:
        if end is not None and "error" in end.group():
            return _problems("cargo", 1, first=end.group().strip())
        return Verdict(tool="cargo", ok=True, said=f"built with {problems_said(0, warnings)}")
    code, message, place = error.groups()
    count = _RUSTC_COUNT.search(text)
    errors = int(count.group(1) or 1) if count else len(_RUSTC.findall(text))
    first = f"{place}: {code}: {message}" if code else f"{place}: {message}"
    return _problems("cargo", errors, warnings=warnings, first=first)


_CC_ERROR = line_pattern(r"([^\s:][^\n:]*:\d+):(?:\d+:)? (?:fatal )?error: ([^\n]+)$")
_CC_WARNING = line_pattern(r"[^\s:][^\n:]*:\d+:(?:\d+:)? warning: ")
_LD_ERROR = line_pattern(
    r"([^\n]*(?:undefined reference to|ld: cannot find|multiple definition of)[^\n]*)$"
)
_MAKE_ERROR = line_pattern(r"g?make(?:\[\d+\])?: \*\*\* ([^\n]+)$")


def cc(text: str) -> Verdict | None:
    """Read gcc, clang, javac-like `file:line: error:` lines, the linker's, and make's."""
    errors = _CC_ERROR.findall(text)
    linked, made = _LD_ERROR.search(text), _MAKE_ERROR.search(text)
    warnings = len(_CC_WARNING.findall(text))
    if errors:
        place, message = errors[0]
        return _problems("compiler", len(errors), warnings=warnings, first=f"{place}: {message}")
    if linked:
        return _problems("linker", len(_LD_ERROR.findall(text)), first=linked.group(1))
    if made:
        return _problems("make", 1, first=made.group(1))
    return None


_GO_ERROR = line_pattern(r"(\S+\.go:\d+):(?:\d+:)? ([^\n]+)$")


def go_build(text: str) -> Verdict | None:
    """Read errors of the go compiler and vet."""
    errors = _GO_ERROR.findall(text)
    if not errors:
        return None
    return _problems("go", len(errors), first=": ".join(errors[0]))


_NPM_ERROR = line_pattern(r"npm (?:ERR!|error) (?!code\b|A complete log\b)(\S[^\n]*)$")
_NPM_CODE = line_pattern(r"npm (?:ERR!|error) code (\S+)$")
_NPM_DONE = line_pattern(r"((?:added|removed|changed) \d+ packages?[^\n]*|up to date[^\n]*)$")


def npm(text: str) -> Verdict | None:
    """Read npm's own words: what it installed, or why it stopped."""
    error, code, done = _NPM_ERROR.search(text), _NPM_CODE.search(text), _NPM_DONE.search(text)
    if error or code:
        first = ": ".join(one.group(1) for one in (code, error) if one)
        return Verdict(tool="npm", ok=False, said="npm stopped", first_error=one_line(first, 300))
    if done:
        return Verdict(tool="npm", ok=True, said=one_line(done.group(1), 160))
    return None


_PIP_ERROR = line_pattern(r"ERROR: ([^\n]+)$")
_PIP_DONE = line_pattern(r"Successfully (installed|uninstalled|built) ([^\n]+)$")


def pip(text: str) -> Verdict | None:
    """Read pip's own words: what it installed, or why it stopped."""
    error, done = _PIP_ERROR.search(text), _PIP_DONE.search(text)
    if error:
        first = one_line(error.group(1), 300)
        return Verdict(tool="pip", ok=False, said="pip stopped", first_error=first)
    if done:
        packages = done.group(2).split()
        said = f"{done.group(1)} {counted(len(packages), 'package')}: {' '.join(packages)}"
        return Verdict(tool="pip", ok=True, said=one_line(said, 160))
    return None


_PYTHON_FRAME = line_pattern(r" +File \"([^\"\n]+)\", line (\d+)")
_PYTHON_END = line_pattern(r"([A-Za-z_][\w.]*(?::[^\n]*)?)$")
_NODE_ERROR = line_pattern(
    r"(?:Uncaught )?(\w*(?:Error|Exception)\b[^\n]*)\n +at [^\n(]*\(?([^\s()]+:\d+):\d+\)?$"
)
_PANIC = re.compile(r"\b(panic: [^\n]+|panicked at [^\n]+)")


def traceback(text: str) -> Verdict | None:
    """Read a plain traceback of Python, Node, Go or Rust; the last Python one counts."""
    if (start := text.rfind("Traceback (most recent call last):")) >= 0:
        end = _PYTHON_END.search(text, start)
        own = [frame for frame in _PYTHON_FRAME.findall(text, start) if _is_own(frame[0])]
        place = ":".join(own[-1]) if own else ""
        message = end.group(1) if end else "traceback"
        return _raised("python", f"{place}: {message}" if place else message)
    if thrown := _NODE_ERROR.search(text):
        return _raised("thrown", f"{thrown.group(2)}: {thrown.group(1)}")
    if panic := _PANIC.search(text):
        return _raised("panic", panic.group(1))
    return None


def _is_own(path: str) -> bool:
    return not path.startswith("<") and "/lib/python" not in path and "site-packages" not in path


def _raised(tool: str, first: str) -> Verdict:
    return Verdict(
        tool=tool, ok=False, said="an error was raised", first_error=one_line(first, 300)
    )


def _problems(tool: str, errors: int, *, warnings: int = 0, first: str) -> Verdict:
    return Verdict(
        tool=tool,
        ok=not errors,
        said=problems_said(errors, warnings),
        failed=errors,
        first_error=one_line(first, 300) if errors else "",
    )
