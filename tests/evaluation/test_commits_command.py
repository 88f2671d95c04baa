"""`scripts/evaluate.py commits` tells a person and a script how well commits are found."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import evaluate
import pytest

from observer.core.paths import Home
from tests.cli.conftest import Ran
from tests.evaluation.conftest import a_commit
from tests.support import Git

Run = Callable[..., Ran]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Home) -> Run:
    """Run the script in this process."""

    def call(*words: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["evaluate.py", "commits", *words])
        capfd.readouterr()
        code = evaluate.main()
        return Ran(code, *capfd.readouterr())

    return call


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Path:
    """Twenty commits that can be found, and one that cannot."""
    folder = tmp_path / "home/shop"
    git(folder, "init", "-q")
    # The newest work is shown where words leave something open: what cannot be found is the oldest.
    stream = a_commit(1, "Weigh parcels \x1b[31m anywhere", "q", "1\n")
    for number, name in enumerate("abcdefghijklmnopqrst", start=2):
        subject, text = f"Weigh {name * 4} parcels", f"def weigh_{name * 4}_parcels(): ...\n"
        stream += a_commit(number, subject, f"{name}.py", text)
    git(folder, "fast-import", "--quiet", stdin=stream)
    return folder


def test_people_and_scripts_are_shown_what_was_missed(run: Run, shop: Path, home: Home) -> None:
    ran = run(str(shop))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"21 of 21 commits of {shop} were looked for")
    assert re.search(r"^recall +95 \(86-100\)", ran.out, re.MULTILINE)
    assert "to 95 of 100 such questions" in ran.out
    assert 'Missed, for example:\n  "Weigh parcels' in ran.out
    assert "\x1b" not in ran.out
    shown = run("--json", str(shop)).json
    assert [shown[key] for key in ("commits", "queries", "silent", "remarks")] == [21, 21, 1, []]
    assert shown["finding"]["rows"][0]["figures"]["R@5"]["mean"] == pytest.approx(20 / 21)
    assert [each["query"] for each in shown["missed"]] == ["Weigh parcels \x1b[31m anywhere"]
    made = [path.name for path in home.root.glob("*")] if home.root.exists() else []
    assert set(made) <= {home.run.name}, "only the stand-in of the repository, for git"


@pytest.mark.slow
def test_the_current_folder_is_measured_unless_another_of_any_name_is_named(
    run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as within:
        within.chdir(shop)
        assert run().out == run(str(shop)).out
    strange = shop.rename(shop.with_name("sh\udcffop"))
    assert run(str(strange)).code == 0
    assert run("--json", str(strange)).json["queries"] == 21


def test_another_model_can_be_tried(run: Run, shop: Path) -> None:
    assert "model: deep." in run("--model", "deep", str(shop)).out
    assert run("--model", "nothing", str(shop)).code == 3


@pytest.mark.parametrize("has_git", [True, False])
def test_what_cannot_be_measured_is_refused_with_a_hint(
    run: Run, tmp_path: Path, git: Git, has_git: bool
) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    if has_git:
        git(folder, "init", "-q")
    ran = run(str(folder))
    assert ran.code == (2 if has_git else 3)
    assert "hint: name a" in ran.err
