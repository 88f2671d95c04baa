"""`scripts/evaluate.py` runs the sets of a folder and says where recall falls behind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def evaluate(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts/evaluate.py", "recall", folder],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={"PYTHONPATH": str(ROOT), "OBSERVER_HOME": str(folder / "home")},
    )


def write(path: Path, *rows: Mapping[str, object]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve documents in two repositories, each found by its own name."""
    for repo in ("shop", "mill"):
        names = [f"{repo}{letter}" for letter in "abcdef"]
        write(
            tmp_path / f"{repo}_diff_docs.jsonl", *({"id": name, "title": name} for name in names)
        )
        write(tmp_path / f"{repo}_diff_q.jsonl", *({"q": name, "rel": [name]} for name in names))
    return tmp_path


def test_every_set_and_their_average_are_printed(folder: Path) -> None:
    ran = evaluate(folder)
    assert (ran.returncode, ran.stderr) == (0, "")
    titles = [line for line in ran.stdout.splitlines() if line.endswith(("queries)", "sets)"))]
    assert titles == ["mill_diff (6 queries)", "shop_diff (6 queries)", "macro average (2 sets)"]
    assert ran.stdout.count("  words only        100.0 [100.0, 100.0]") == 3
    assert ran.stdout.endswith("worse than the best single leg beyond chance on: no set\n")


def test_a_wrong_line_is_named(folder: Path) -> None:
    write(folder / "shop_diff_q.jsonl", {"q": "what", "rel": ["nowhere"]})
    ran = evaluate(folder)
    assert ran.returncode == 2
    assert "shop_diff_q.jsonl:1: no document 'nowhere'" in ran.stderr


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    ran = evaluate(tmp_path)
    assert ran.returncode == 3
    assert ran.stderr.startswith("error: no set in")
