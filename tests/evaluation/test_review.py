"""A repository's own history tells how well its commits are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from evaluation.measures import FIGURES, Against, Finding, Gap, Interval, SystemFigures
from evaluation.review import Missed, Review, conclusions, examples, review
from evaluation.systems import WITHOUT_MEANING
from msgspec.structs import replace

from observer.index.embed.lazy_model import LazyModel

Git = Callable[..., str]


def test_functions_named_after_subjects_are_found(shop: Path, model: LazyModel) -> None:
    found = review(str(shop), model)
    assert (found.commits, found.queries) == (25, 20)
    assert found.finding.rows[0].figures["R@5"].mean == 1
    assert (found.missed, found.silent) == ((), 0)


def test_what_shares_no_word_is_counted_and_shown(shop: Path, git: Git, model: LazyModel) -> None:
    (shop / "q.bin").write_bytes(b"\0")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Limit orders, invoices, baskets, parcels")
    missing = git(shop, "rev-parse", "HEAD")
    for name in ("1.txt", "2.txt", "3.txt"):  # the newest work is found without words
        (shop / name).touch()
        git(shop, "add", "-A")
        git(shop, "commit", "-q", "-m", "wip")
    found = review(str(shop), model)
    missed = found.missed[0]
    assert (found.queries, found.silent, found.silent_found) == (21, 1, 0)
    assert missed.query == "Limit orders, invoices, baskets, parcels"
    assert missed.rank is None or missed.rank > 10
    assert missed.first_commit == git(shop, "log", "-1", "--format=%H", f"--grep={missed.first}")
    assert missed.commit == missing


def test_the_repository_is_left_as_it_was(shop: Path, git: Git, model: LazyModel) -> None:
    before = sorted((path, path.lstat().st_mtime_ns) for path in shop.rglob("*"))
    review(str(shop), model)
    assert sorted((path, path.lstat().st_mtime_ns) for path in shop.rglob("*")) == before


def test_progress_is_shown_in_three_parts(shop: Path, model: LazyModel) -> None:
    shown: list[tuple[str, int, int]] = []

    @contextmanager
    def progress(name: str, total: int) -> Iterator[Callable[[int], object]]:
        done: list[int] = []
        yield done.append
        shown.append((name, total, sum(done)))

    review(str(shop), model, progress=progress)
    assert shown == [("reading", 25, 25), ("storing", 25, 25), ("asking", 20, 20)]


def a_review(
    system: str = "words only",
    *,
    gap: float = 0.0,
    p: float = 1.0,
    ranks: tuple[int | None, ...] = (),
    silent: int = 0,
) -> Review:
    figures = {label: Interval(mean=0.5, low=0.4, high=0.6) for label in FIGURES}
    compared = Gap(mean=gap, low=gap - 0.1, high=gap + 0.1, p=p)
    return Review(
        commits=50,
        queries=40,
        finding=Finding(
            name="shop",
            rows=(SystemFigures(system="recall", figures=figures),),
            against=(Against(system=system, gap=compared),),
        ),
        silent=silent,
        silent_found=0,
        missed=tuple(
            Missed(query=f"q{n}", commit="c", rank=rank, first="f", first_commit="c")
            for n, rank in enumerate(ranks)
        ),
        model="instant",
        remarks=(),
    )


@pytest.mark.parametrize(
    ("found", "said"),
    [
        pytest.param(a_review(), "first five answers to 50 of 100", id="figures"),
        pytest.param(
            a_review(gap=-0.1, p=0.01), "worse than words only here (-10.0 points", id="worse"
        ),
        pytest.param(a_review(WITHOUT_MEANING, gap=0.1, p=0.01), "meaning helps", id="helps"),
        pytest.param(a_review(WITHOUT_MEANING, gap=0.1, p=0.2), "no difference", id="no help"),
        pytest.param(a_review(WITHOUT_MEANING, gap=-0.1, p=0.01), "meaning hurts", id="hurts"),
        pytest.param(a_review(silent=3), "3 questions share no word", id="no common word"),
        pytest.param(a_review(ranks=(11, 30, 31, None)), "Of the 4 that were missed 2", id="near"),
    ],
)
def test_the_verdict_says_what_the_figures_mean(found: Review, said: str) -> None:
    assert said in " ".join(conclusions(found))


@pytest.mark.parametrize(("gap", "p"), [(0.1, 0.01), (-0.1, 0.2), (0.1, 0.2)])
def test_nobody_is_asked_to_report_what_chance_may_have_done(gap: float, p: float) -> None:
    assert "report" not in " ".join(conclusions(a_review(gap=gap, p=p)))


def test_a_model_that_cannot_be_used_is_remarked_on(shop: Path, model: LazyModel) -> None:
    found = review(str(shop), LazyModel(replace(model.info, problem="damaged")))
    assert found.remarks == ("searched by words alone: damaged",)


@pytest.mark.parametrize("count", [0, 1, 3, 4, 32])
def test_examples_are_few_and_different(count: int) -> None:
    found = examples(a_review(ranks=(None,) * count))
    assert len(set(found)) == len(found) == min(count, 3)
