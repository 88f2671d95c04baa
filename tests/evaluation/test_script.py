"""`scripts/evaluate.py` runs the sets of a folder and says where recall falls behind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from recall_sets import written

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
    assert ran.stdout.endswith("behind its own legs beyond chance on: no set\n")


def test_recall_behind_a_leg_is_a_failure(tmp_path: Path) -> None:
    """What holds a name is meant, not what merely holds its words more often."""
    pairs = [("red", "lamp"), ("old", "boat"), ("wet", "road"), ("big", "bell"), ("raw", "fish")]
    often = [{"id": y, "title": f"{y} {y}", "narrative": f"{x} {x}"} for x, y in pairs]
    once = [{"id": x, "title": "what", "narrative": f"is of {x} {y} here"} for x, y in pairs]
    write(tmp_path / "shop_diff_docs.jsonl", *often, *once)
    write(tmp_path / "shop_diff_q.jsonl", *({"q": f"{x} {y}", "rel": [y]} for x, y in pairs))
    ran = evaluate(tmp_path)
    assert "behind its own legs beyond chance on: shop_diff (words only)" in ran.stdout
    assert ran.returncode == 1


def test_its_own_sets_ask_for_what_is_there() -> None:
    own = written()
    assert [len(each.questions) for each in own] == [40, 26, 40, 26, 36, 36, 81, 81]
    for each in own:
        ids = [document.id for document in each.documents]
        assert len(set(ids)) == len(ids)
        assert {name for one in each.questions for name in one.rel} <= set(ids)


def test_a_wrong_line_or_a_folder_without_sets_is_refused(folder: Path, tmp_path: Path) -> None:
    write(folder / "shop_diff_q.jsonl", {"q": "what", "rel": ["nowhere"]})
    ran = evaluate(folder)
    assert ran.returncode == 2
    assert "shop_diff_q.jsonl:1: no document 'nowhere'" in ran.stderr
    (tmp_path / "none").mkdir()
    ran = evaluate(tmp_path / "none")
    assert ran.returncode == 3
    assert ran.stderr.startswith("error: no set in")
