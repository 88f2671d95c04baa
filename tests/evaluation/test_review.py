"""A repository's own history tells how well its commits are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from observer.evaluation.findings import Against, Finding, Row
from observer.evaluation.measures import FIGURES, Gap, Interval
from observer.evaluation.review import Missed, Review, review
from observer.evaluation.verdict import examples, verdict

Git = Callable[..., str]


def test_functions_named_after_subjects_are_found(shop: Path) -> None:
    found = review(str(shop))
    assert (found.commits, found.queries) == (25, 20)
    assert found.finding.rows[0].figures["R@5"].mean == 1
    assert (found.missed, found.silent) == ((), 0)


def test_what_shares_no_word_is_counted_and_told(shop: Path, git: Git) -> None:
    (shop / "q.bin").write_bytes(b"\0")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Zebras graze quietly")
    found = review(str(shop))
    missed = found.missed[0]
    assert (found.queries, found.silent, found.silent_found) == (21, 1, 0)
    assert (missed.query, missed.rank) == ("Zebras graze quietly", None)
    assert missed.commit == git(shop, "rev-parse", "HEAD")


def test_the_repository_is_left_as_it_was(shop: Path, git: Git) -> None:
    before = sorted((path, path.lstat().st_mtime_ns) for path in shop.rglob("*"))
    review(str(shop))
    assert sorted((path, path.lstat().st_mtime_ns) for path in shop.rglob("*")) == before


def test_progress_is_told_in_three_parts(shop: Path) -> None:
    told: list[tuple[str, int, int]] = []

    @contextmanager
    def progress(name: str, total: int) -> Iterator[Callable[[int], object]]:
        done: list[int] = []
        yield done.append
        told.append((name, total, sum(done)))

    review(str(shop), progress=progress)
    assert told == [("reading", 25, 25), ("storing", 25, 25), ("asking", 20, 20)]


def a_review(
    *, gap: float = 0.0, p: float = 1.0, ranks: tuple[int | None, ...] = (), silent: int = 0
) -> Review:
    figures = {label: Interval(mean=0.5, low=0.4, high=0.6) for label in FIGURES}
    compared = Gap(mean=gap, low=gap - 0.1, high=gap + 0.1, p=p)
    return Review(
        commits=50,
        queries=40,
        finding=Finding(
            name="shop",
            rows=(Row(system="recall", figures=figures),),
            against=(Against(system="words only", gap=compared),),
        ),
        silent=silent,
        silent_found=0,
        missed=tuple(
            Missed(query=f"q{n}", commit="c", rank=rank, first="f", first_commit="c")
            for n, rank in enumerate(ranks)
        ),
        remarks=(),
    )


@pytest.mark.parametrize(
    ("found", "said"),
    [
        pytest.param(a_review(), "first five answers to 50 of 100", id="figures"),
        pytest.param(a_review(gap=0.1, p=0.01), "better than words only (10.0 points", id="better"),
        pytest.param(a_review(gap=-0.1, p=0.01), "please report", id="worse"),
        pytest.param(a_review(gap=0.1, p=0.2), "no more than chance", id="no difference"),
        pytest.param(a_review(silent=3), "3 questions share no word", id="no common word"),
        pytest.param(a_review(ranks=(11, 30, 31, None)), "Of the 4 that were missed 2", id="near"),
    ],
)
def test_the_verdict_says_what_the_figures_mean(found: Review, said: str) -> None:
    assert said in " ".join(verdict(found))


@pytest.mark.parametrize("count", [0, 1, 3, 4, 32])
def test_examples_are_few_and_different(count: int) -> None:
    found = examples(a_review(ranks=(None,) * count))
    assert len(set(found)) == len(found) == min(count, 3)
