"""Running git: the same answer whatever the user configured, no code of the repository executed.

Needs git 2.31 or newer. External diffs, text conversions, signature checks, hooks and transports
are off, so reading a repository of somebody else's is safe; that is why ownership is not checked.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from observer.errors import NotFound, ObserverError

LINE_BYTES = 8192
"""Longest part of a line of a patch that is looked at."""

_SCRIPT_CONTEXT = (
    r"!^[ \t]*(if|for|while|switch|catch|return|else|do|with|await|throw|new)[^A-Za-z0-9_$]"
    "\n"
    r"^[ \t]*((export[ \t]+)?(default[ \t]+|declare[ \t]+|abstract[ \t]+|async[ \t]+)*"
    r"(function|class|interface|type|enum|namespace)[ \t*].*)$"
    "\n"
    r"^((export[ \t]+)?(const|let|var)[ \t].*(=>|function).*)$"
    "\n"
    r"^([ \t]+((static|async|get|set|public|private|protected|override)[ \t]+)*"
    r"[#A-Za-z_$][A-Za-z0-9_$]*[ \t]*\(.*\{[ \t]*)$"
)
"""Where a function begins in JavaScript and TypeScript, which git has no pattern for."""

_SETTINGS = {
    "core.attributesFile": str(Path(__file__).with_name("attributes")),
    "core.fsmonitor": "false",
    "core.quotePath": "false",
    "diff.observer-script.xfuncname": _SCRIPT_CONTEXT,
    "diff.observer-section.xfuncname": r"^[ \t]*(\[.*\].*)$",
    "safe.directory": "*",
}
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # or a partial clone would fetch what it lacks
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}


def ask(root: str, *words: str) -> str | None:
    """Return what git printed, without the last newline; None if it failed.

    Raises:
        NotFound: git is not installed, or `root` cannot be a path.
    """
    with started(root, words) as process:
        answer, _ = process.communicate()
    return answer.decode("utf-8", "replace").rstrip("\n") if process.returncode == 0 else None


def lines_of(root: str, words: Sequence[str], *, record: bytes, fields: int) -> Iterator[bytes]:
    """Yield the lines git prints, each cut at `LINE_BYTES`, without holding more than one.

    A record is yielded whole, however many lines it has: it begins with `record` at the start of
    a line and ends with the line of the last of its `fields`, each ended by `record`.

    Raises:
        NotFound: git is not installed, or `root` cannot be a path.
        ObserverError: git failed; what was yielded before is right but not all.
    """
    with tempfile.TemporaryFile() as complaints:
        process = started(root, words, errors=complaints)
        try:
            assert process.stdout  # noqa: S101 - asked for in started
            yield from _lines(process.stdout, record, fields)
            if process.wait():
                raise _failure(root, complaints)
        finally:
            process.kill()
            process.communicate()


def _lines(stream: IO[bytes], record: bytes, fields: int) -> Iterator[bytes]:
    while line := stream.readline(LINE_BYTES):
        if line.startswith(record):
            parts = [line]
            missing = fields + 1 - line.count(record)
            while missing > 0 and (line := stream.readline(LINE_BYTES)):
                parts.append(line)
                missing -= line.count(record)
            yield b"".join(parts)
            continue
        yield line
        while not line.endswith(b"\n") and (line := stream.readline(LINE_BYTES)):
            pass


def started(
    root: str,
    words: Sequence[str],
    *,
    errors: int | IO[bytes] = subprocess.DEVNULL,
    reads: int = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start git; whoever starts it ends it.

    Raises:
        NotFound: git is not installed, or `root` cannot be a path.
    """
    if not root:  # git would take it for the current folder
        raise NotFound("no folder given", hint="name a folder of a repository")
    settings = [word for pair in _SETTINGS.items() for word in ("-c", "=".join(pair))]
    try:
        return subprocess.Popen(  # noqa: S603 - no shell; what is not ours stands behind options
            ["git", "--no-pager", *settings, "-C", root, *words],  # noqa: S607 - the user's git
            env={k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | _ENVIRONMENT,
            stdin=reads,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    except OSError as error:
        raise NotFound(f"cannot run git: {error.strerror}", hint="install git") from error
    except ValueError as error:
        raise NotFound(f"no such repository or commit: {error}") from error


def _failure(root: str, complaints: IO[bytes]) -> ObserverError:
    complaints.seek(0)
    said = complaints.read(LINE_BYTES).decode("utf-8", "replace").strip().splitlines()
    return ObserverError(
        f"git cannot read {root}: {said[-1] if said else 'no reason given'}", hint="try: git fsck"
    )
