"""A history becomes documents and queries, and says how well its commits are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from evaluation import commits
from evaluation.commits import query_of
from evaluation.measures import FIGURES, Against, Finding, Gap, Interval, SystemFigures
from evaluation.review import Missed, Review, conclusions, examples, review
from evaluation.systems import WITHOUT_MEANING
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from observer.core.errors import BadInput, NotFound
from observer.core.events import Commit
from observer.index.embed.lazy_model import LazyModel
from tests.support import Git


def test_every_commit_with_a_diff_is_a_document_without_its_message(shop: Path) -> None:
    shown = commits.read(str(shop))
    assert len(shown.events) == commits.size(str(shop)) == 25
    assert [query.at for query in shown.queries] == list(range(20))
    assert shown.queries[0].text == "limit the number of login"
    for event in shown.events:
        assert isinstance(event.body, Commit)
        assert (event.body.subject, event.body.message, event.cwd) == ("", "", "")
        assert event.body.files


def test_merges_and_empty_commits_are_no_documents(shop: Path, git: Git) -> None:
    git(shop, "commit", "-q", "--allow-empty", "-m", "Promise the parcel tomorrow")
    git(shop, "checkout", "-q", "-b", "side", "HEAD~3")
    (shop / "side.py").write_text("x = 1\n")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Weigh every parcel twice")
    git(shop, "checkout", "-q", "main")
    git(shop, "merge", "-q", "--no-ff", "-m", "Join the weighing side", "side")
    shown = commits.read(str(shop))
    assert len(shown.events) == 26
    assert "Weigh every parcel twice" in shown.subjects


def test_of_a_long_history_few_read(shop: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits, "FEWEST_QUERIES", 1)
    with monkeypatch.context() as patch:
        patch.setattr(commits, "MOST_DOCUMENTS", 22)
        shown = commits.read(str(shop))
        assert len(shown.events) == commits.size(str(shop)) == 22
        assert shown.subjects[-1] == "Say it twice here"
    monkeypatch.setattr(commits, "MOST_QUERIES", 10)
    before = {query.text for query in commits.read(str(shop)).queries}
    (shop / "new.py").write_text("x = 1\n")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Weigh every parcel twice")
    after = {query.text for query in commits.read(str(shop)).queries}
    assert len(before) == len(after) == 10
    assert len(before & after) >= 9


def test_what_has_no_history_to_ask_about_is_refused(tmp_path: Path, git: Git, shop: Path) -> None:
    (tmp_path / "bare").mkdir()
    with pytest.raises(NotFound, match="no git repository"):
        commits.size(str(tmp_path / "bare"))
    git(tmp_path / "new", "init", "-q")
    with pytest.raises(BadInput, match="has 0 commits to ask about, 20 are needed"):
        commits.read(str(tmp_path / "new"))
    git(tmp_path, "clone", "-q", "--depth=3", f"file://{shop}", str(tmp_path / "clone"))
    with pytest.raises(BadInput) as raised:
        commits.read(str(tmp_path / "clone"))
    assert "git fetch --unshallow" in raised.value.hint


@pytest.mark.parametrize(
    ("option", "word"), [("--depth=10", "shallow"), ("--filter=blob:none", "partial")]
)
def test_a_clone_that_lacks_something_is_remarked_on(
    shop: Path, git: Git, monkeypatch: pytest.MonkeyPatch, option: str, word: str
) -> None:
    monkeypatch.setattr(commits, "FEWEST_QUERIES", 1)
    git(shop, "config", "uploadpack.allowFilter", "true")
    clone = shop.parent / "clone"
    git(shop, "clone", "-q", option, f"file://{shop}", str(clone))
    assert [word in remark for remark in commits.read(str(clone)).remarks] == [True]
    assert commits.read(str(shop)).remarks == ()


@pytest.mark.parametrize(
    ("subject", "query"),
    [
        ("Cache prices of the cart", "Cache prices of the cart"),
        ("feat(cart): cache prices (#12)", "cache prices"),
        ("fix!: lose no parcel", "lose no parcel"),
        ("[cart] cache prices", "cache prices"),
        ("Кэш цен корзины", "Кэш цен корзины"),
        ("修复购物车缓存", "修复购物车缓存"),
    ],
)
def test_a_subject_is_asked_without_how_it_was_filed(subject: str, query: str) -> None:
    assert query_of(subject) == query


@pytest.mark.parametrize(
    "subject",
    [
        "",
        "wip",
        "Fix",
        "fix typo",
        "Update README",
        "chore: update docs",
        "cleanup",
        "Bump actions/checkout from 3 to 4",
        "v1.2.3",
        "1.2.3",
        "Release 2.0 of the shop",
        "chore(release): version 1.2.0",
        "Merge branch 'cart' into main",
        'Revert "Cache prices of the cart"',
        "fixup! Cache prices of the cart",
        "a b c d",
        "#123 456",
    ],
)
def test_a_subject_that_says_too_little_is_not_asked(subject: str) -> None:
    assert not query_of(subject)


@given(st.text(max_size=400))
def test_a_query_is_a_part_of_the_subject(subject: str) -> None:
    assert query_of(subject) in subject


def test_functions_named_after_subjects_are_found(shop: Path, model: LazyModel) -> None:
    shown: list[tuple[str, int, int]] = []

    @contextmanager
    def progress(name: str, total: int) -> Iterator[Callable[[int], object]]:
        done: list[int] = []
        yield done.append
        shown.append((name, total, sum(done)))

    before = sorted((path, path.lstat().st_mtime_ns) for path in shop.rglob("*"))
    found = review(str(shop), model, progress=progress)
    assert sorted((path, path.lstat().st_mtime_ns) for path in shop.rglob("*")) == before
    assert (found.commits, found.queries) == (25, 20)
    assert found.finding.rows[0].figures["R@5"].mean == 1
    assert (found.missed, found.silent) == ((), 0)
    assert shown == [("reading", 25, 25), ("storing", 25, 25), ("asking", 20, 20)]


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
        (a_review(), "first five answers to 50 of 100"),
        (a_review(gap=-0.1, p=0.01), "worse than words only here (-10.0 points"),
        (a_review(WITHOUT_MEANING, gap=0.1, p=0.01), "meaning helps"),
        (a_review(WITHOUT_MEANING, gap=0.1, p=0.2), "no difference"),
        (a_review(WITHOUT_MEANING, gap=-0.1, p=0.01), "meaning hurts"),
        (a_review(silent=3), "3 questions share no word"),
        (a_review(ranks=(11, 30, 31, None)), "Of the 4 that were missed 2"),
    ],
    ids=["figures", "worse", "helps", "no help", "hurts", "no common word", "near"],
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
