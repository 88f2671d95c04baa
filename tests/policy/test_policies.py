"""The policy of a work tree: found, remembered, and harmless whatever stands in its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from observer.core.model import Place
from observer.policy import FILE, Policies
from observer.policy.policies import MOST_BYTES, MOST_ROOTS


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    made.mkdir()
    return made


def write(root: Path, text: str) -> None:
    (root / FILE).write_text(text)


def problem(root: Path) -> str:
    return str(Policies().at(str(root)).problem)


def test_without_a_file_nothing_is_restricted(root: Path) -> None:
    assert Policies().at(str(root)).exclude == ()
    assert Policies().at("").exclude == ()


def test_a_change_counts_at_once_and_an_unchanged_file_is_not_read_again(root: Path) -> None:
    policies = Policies()
    write(root, 'exclude = ["a"]')
    first = policies.at(str(root))
    assert policies.at(str(root)) is first
    write(root, 'exclude = ["b"]')
    assert policies.at(str(root)).exclude == ("b",)
    (root / FILE).unlink()
    assert policies.at(str(root)).exclude == ()


def test_a_linked_work_tree_without_one_has_that_of_the_main_one(root: Path) -> None:
    write(root, 'exclude = ["/a"]')
    linked = root.parent / "linked"
    linked.mkdir()
    place = Place(root=str(linked), common_dir=f"{root}/.git")
    policy = Policies().of(place)
    assert (policy.root, policy.exclude) == (str(linked), ("/a",))
    write(linked, "")
    assert Policies().of(place).exclude == ()


def test_a_linked_work_tree_of_one_without_a_policy_has_none(root: Path) -> None:
    place = Place(root=str(root / "linked"), common_dir=f"{root}/.git")
    assert Policies().of(place).root == ""


def test_a_link_is_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text('name = "x"')
    (root / FILE).symlink_to(tmp_path / "elsewhere")
    assert "it is a link" in problem(root)


def test_a_pipe_is_not_waited_for(root: Path) -> None:
    os.mkfifo(root / FILE)
    assert "not a plain file" in problem(root)


def test_a_folder_is_no_policy(root: Path) -> None:
    (root / FILE).mkdir()
    assert "not a plain file" in problem(root)


def test_a_huge_file_is_not_read(root: Path) -> None:
    write(root, "#" * (MOST_BYTES + 1))
    assert "larger than 32,768 bytes" in problem(root)


def test_a_file_that_may_not_be_read_is_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, "")

    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    assert "cannot be read: Permission denied" in problem(root)


def test_a_root_that_may_not_be_entered_is_said(tmp_path: Path) -> None:
    assert "cannot be read: File name too long" in problem(tmp_path / ("a" * 300))


def test_only_so_many_are_remembered(tmp_path: Path) -> None:
    policies = Policies()
    for number in range(MOST_ROOTS + 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        write(folder, "")
        policies.at(str(folder))
    assert len(policies._known) == MOST_ROOTS
