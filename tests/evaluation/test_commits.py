"""A history becomes documents, and subjects that are queries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from evaluation import commits
from evaluation.commits import query_of
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import BadInput, NotFound
from observer.core.events import Commit

Git = Callable[..., str]


def test_every_commit_with_a_diff_is_a_document_and_telling_ones_are_asked(shop: Path) -> None:
    shown = commits.read(str(shop))
    assert len(shown.events) == commits.size(str(shop)) == 25
    assert [query.at for query in shown.queries] == list(range(20))
    assert shown.queries[0].text == "limit the number of login"


def test_a_document_says_nothing_of_the_message(shop: Path) -> None:
    for event in commits.read(str(shop)).events:
        assert isinstance(event.body, Commit)
        assert (event.body.subject, event.body.message, event.cwd) == ("", "", "")
        assert event.body.files


def test_a_query_is_about_its_own_commit(shop: Path, git: Git) -> None:
    shown = commits.read(str(shop))
    for query in shown.queries:
        assert git(shop, "log", "-1", "--format=%s", shown.hash(query.at)) == query.text


def test_the_same_history_gives_the_same_set(shop: Path) -> None:
    assert commits.read(str(shop)) == commits.read(str(shop))


def test_each_commit_read_is_shown(shop: Path) -> None:
    seen: list[int] = []
    commits.read(str(shop), advance=seen.append)
    assert sum(seen) == 25


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


def test_of_a_long_history_the_newest_part_is_read(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "MOST_DOCUMENTS", 22)
    monkeypatch.setattr(commits, "FEWEST_QUERIES", 1)
    shown = commits.read(str(shop))
    assert len(shown.events) == commits.size(str(shop)) == 22
    assert shown.subjects[-1] == "Say it twice here"


def test_most_queries_are_kept_when_the_history_grows(
    shop: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "MOST_QUERIES", 10)
    monkeypatch.setattr(commits, "FEWEST_QUERIES", 1)
    before = {query.text for query in commits.read(str(shop)).queries}
    (shop / "new.py").write_text("x = 1\n")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Weigh every parcel twice")
    after = {query.text for query in commits.read(str(shop)).queries}
    assert len(before) == len(after) == 10
    assert len(before & after) >= 9


def test_a_folder_without_git_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no git repository"):
        commits.size(str(tmp_path))


def test_a_repository_without_commits_is_refused(tmp_path: Path, git: Git) -> None:
    git(tmp_path / "new", "init", "-q")
    with pytest.raises(BadInput, match="has 0 commits to ask about, 20 are needed"):
        commits.read(str(tmp_path / "new"))


def test_a_shallow_clone_that_is_too_short_is_shown_how_to_grow(
    tmp_path: Path, git: Git, shop: Path
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=3", f"file://{shop}", str(clone))
    with pytest.raises(BadInput) as raised:
        commits.read(str(clone))
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
