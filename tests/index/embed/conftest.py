"""A tiny model made on the spot, for what the built-in ones cannot show."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.index.embed.registry import BUILT_IN

Folder = Callable[..., Path]


@pytest.fixture
def copied(tmp_path: Path) -> Folder:
    """Copy a built-in model into a folder of its own, with other lines in its card."""

    def copy(name: str = "mine", *, of: str = "instant", card: str | None = None) -> Path:
        folder = tmp_path / "models" / name
        shutil.copytree(BUILT_IN / of, folder)
        if card is not None:
            (folder / "model.toml").write_text(card)
        return folder

    return copy
