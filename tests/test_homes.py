"""No part of the suite has the real home as its home."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from observer.core.paths import home as home_of_observer


@pytest.fixture(scope="module")
def seen() -> tuple[Path, Path]:
    """The homes of the user and of observer as fixtures see them that outlive a test."""
    return Path.home(), home_of_observer().root


def test_a_fixture_of_a_module_has_a_home_that_is_thrown_away(
    seen: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert all(path.is_relative_to(tmp_path_factory.getbasetemp()) for path in seen)


def test_a_test_has_another_home_than_the_fixtures_before_it(seen: tuple[Path, Path]) -> None:
    assert Path.home() not in seen
    assert home_of_observer().root == Path.home() / ".observer"
    assert "GIT_DIR" not in os.environ
