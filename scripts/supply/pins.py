"""The lock files in requirements/, read: which versions are pinned, for whom, by which hashes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "requirements"
RUNTIME, BUILD, DEV = "runtime", "build", "dev"
LOCKS = (RUNTIME, BUILD, DEV)
_HASH = "--hash=sha256:"


@dataclass(frozen=True, slots=True)
class Pin:
    """One pinned version.

    `requirement` has its marker, where the version is for some platforms only; `hashes` are the
    SHA-256 of the files that may be installed as it, in hexadecimal.
    """

    requirement: Requirement
    hashes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name as an index compares it."""
        return canonicalize_name(self.requirement.name)

    @property
    def version(self) -> str:
        """The only version that fits."""
        (only,) = self.requirement.specifier
        return only.version

    def applies(self) -> bool:
        """Return True if the version is for this interpreter and platform."""
        return self.requirement.marker is None or self.requirement.marker.evaluate()


def pins(lock: str) -> list[Pin]:
    """Return what a lock file pins, in its order."""
    return [_pin(line) for line in _logical_lines(FOLDER / f"{lock}.txt")]


def _logical_lines(path: Path) -> Iterator[str]:
    yield from path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()


def _pin(line: str) -> Pin:
    wanted, *hashes = line.split(_HASH)
    return Pin(Requirement(wanted.strip()), tuple(each.strip() for each in hashes))
