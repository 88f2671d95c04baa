"""A small repository with a history to ask about."""

from __future__ import annotations

from pathlib import Path

import pytest

from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import find
from tests.support import Git

PLACES = (
    "cart",
    "login",
    "price",
    "stock",
    "order",
    "parcel",
    "invoice",
    "basket",
    "coupon",
    "desk",
)
DOINGS = {"limit": "the number of", "cache": "results for each"}


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Path:
    """Twenty commits that each put a function of their own into a file, and five of no use."""
    folder = tmp_path / "home/shop"
    stream = b"".join(map(_commit, range(1, 21)))
    for number, subject in enumerate(
        ("wip", "Bump to 2.0", "Fix typo", "Say it twice here", "Say it twice here"), start=21
    ):
        stream += a_commit(number, subject, f"notes/n{number}.txt", "words\n")
    git(folder, "init", "-q")
    git(folder, "fast-import", "--quiet", stdin=stream)
    git(folder, "reset", "-q", "--hard")
    return folder


@pytest.fixture
def model(tmp_path: Path) -> LazyModel:
    """The model that ships with observer and is chosen at first."""
    return LazyModel(find("instant", tmp_path))


def _commit(number: int) -> bytes:
    place, (doing, what) = PLACES[number % 10], list(DOINGS.items())[number // 10 % 2]
    subject = f"{doing} {what} {place}"
    return a_commit(number, subject, f"src/{place}.py", f"def {doing}_{place}():\n    return 1\n")


def a_commit(number: int, subject: str, path: str, text: str) -> bytes:
    return (
        f"commit refs/heads/main\nmark :{number}\n"
        f"committer Ana <ana@example.com> {1_700_000_000 + number} +0000\n"
        f"data {len(subject)}\n{subject}\n"
        + (f"from :{number - 1}\n" if number > 1 else "")
        + f"M 644 inline {path}\ndata {len(text)}\n{text}\n"
    ).encode()
