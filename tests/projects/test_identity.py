"""Which project a place means, decided without looking at anything."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from observer.core.model import Place, Project
from observer.projects.identity import (
    MOST_FOLDERS,
    folders_of,
    match_project,
    new_project,
    place_name,
    update_project,
)

AT = 1_760_000_000_000
SHOP = Place(
    root="/h/shop",
    git=True,
    common_dir="/h/shop/.git",
    inode="1:10",
    remotes=("host/ana/shop",),
    root_commit="a" * 40,
)
LOCAL = replace(SHOP, remotes=())
NOTES = Place(root="/h/notes", inode="1:30")


def known(place: Place, number: int = 2) -> Project:
    return new_project(place, id=number, at_ms=AT)


def moved(place: Place, root: str, **changes: object) -> Place:
    return replace(place, root=root, common_dir=f"{root}/.git" if place.git else "", **changes)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param(SHOP, SHOP, id="itself"),
        pytest.param(SHOP, replace(SHOP, root="/h/shop-fix"), id="worktree"),
        pytest.param(SHOP, moved(SHOP, "/x/s", inode="1:11"), id="clone-of-one-remote"),
        pytest.param(SHOP, moved(SHOP, "/x/s", inode="1:11", root_commit=""), id="shallow-clone"),
        pytest.param(SHOP, LOCAL, id="lost-its-remote"),
        pytest.param(LOCAL, SHOP, id="gained-a-remote"),
        pytest.param(SHOP, replace(SHOP, remotes=("other/x/y",)), id="changed-its-remote"),
        pytest.param(LOCAL, replace(LOCAL, root_commit="b" * 40), id="rewrote-its-history"),
        pytest.param(
            SHOP,
            replace(SHOP, remotes=("other/x/y",), root_commit=""),
            id="changed-its-remote-and-is-shallow",
        ),
        pytest.param(LOCAL, moved(LOCAL, "/h/store"), id="renamed"),
        pytest.param(
            SHOP, moved(SHOP, "/h/store", remotes=("other/x/y",)), id="renamed-with-new-remote"
        ),
        pytest.param(Place(root="/h/shop", inode="1:9"), LOCAL, id="became-a-repository"),
        pytest.param(LOCAL, Place(root="/h/shop", inode="1:9"), id="ceased-to-be-one"),
        pytest.param(
            SHOP,
            moved(SHOP, "/x/c", inode="1:11", remotes=("/h/shop",)),
            id="clone-of-its-path",
        ),
        pytest.param(
            moved(SHOP, "/x/c", remotes=("/srv/n.git",)),
            Place(root="/srv/n.git", git=True, common_dir="/srv/n.git", inode="1:90"),
            id="the-bare-repository-it-was-cloned-from",
        ),
        pytest.param(NOTES, replace(NOTES, root="/h/notes/a/b", inode="1:31"), id="subfolder"),
    ],
)
def test_the_project_is_recognised(before: Place, now: Place) -> None:
    assert match_project(now, [known(NOTES, 9), known(before)]) == known(before) or (
        before is NOTES and match_project(now, [known(before)]) == known(before)
    )


@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param(SHOP, Place(root=""), id="no-place"),
        pytest.param(
            SHOP,
            Place(root="/x/shop", git=True, common_dir="/x/shop/.git", remotes=("host/bo/shop",)),
            id="one-basename-two-repositories",
        ),
        pytest.param(
            SHOP,
            moved(SHOP, "/x/s", inode="1:11", remotes=("host/bo/shop", "host/ana/shop")),
            id="fork-that-knows-its-upstream",
        ),
        pytest.param(
            known(moved(SHOP, "/x/s", remotes=("host/bo/shop", "host/ana/shop"))),
            replace(SHOP, inode="1:11"),
            id="upstream-of-a-fork",
        ),
        pytest.param(
            SHOP,
            replace(SHOP, remotes=("other/x/y",), root_commit="b" * 40, inode="1:12"),
            id="another-repository-lives-there",
        ),
        pytest.param(LOCAL, moved(LOCAL, "/h/copy", inode="1:11"), id="copy"),
        pytest.param(
            LOCAL, moved(LOCAL, "/h/x", root_commit="b" * 40), id="inode-of-another-history"
        ),
        pytest.param(NOTES, replace(NOTES, root="/h/notes2", inode="1:31"), id="like-prefix"),
        pytest.param(NOTES, replace(NOTES, root="/h/other"), id="plain-copy-by-bind-mount"),
        pytest.param(
            NOTES,
            replace(NOTES, root="/h/notes/web", inode="1:31", marker="package.json"),
            id="marked-subfolder",
        ),
        pytest.param(
            SHOP, Place(root="/h/shop/x", inode="1:31"), id="plain-folder-in-a-repository"
        ),
    ],
)
def test_it_is_another_project(before: Place | Project, now: Place) -> None:
    project = before if isinstance(before, Project) else known(before)
    assert match_project(now, [project]) is None


@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param(NOTES, replace(NOTES, root="/h/jottings"), id="plain-folder-renamed"),
        pytest.param(
            replace(LOCAL, root_commit=""),
            moved(LOCAL, "/h/x", root_commit=""),
            id="repository-without-commits",
        ),
        pytest.param(LOCAL, moved(LOCAL, "/disk/shop", inode="2:77"), id="other-file-system"),
        pytest.param(
            SHOP, moved(LOCAL, "/disk/shop", inode="2:77"), id="other-file-system-remote-lost"
        ),
    ],
)
def test_a_move_is_known_by_what_is_gone(before: Place, now: Place) -> None:
    project = known(before)
    assert match_project(now, [project], gone=frozenset({before.root})) is project
    assert match_project(now, [project]) is None


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(moved(SHOP, "/x/s", inode="2:77", remotes=("host/bo/shop",)), id="fork"),
        pytest.param(
            moved(SHOP, "/x/s", remotes=("host/bo/it",), root_commit="b" * 40),
            id="inode-used-again",
        ),
    ],
)
def test_what_is_gone_proves_nothing_against_other_evidence(now: Place) -> None:
    assert match_project(now, [known(SHOP)], gone=frozenset({SHOP.root})) is None


def test_a_remote_belongs_to_whose_first_it_is() -> None:
    fork = replace(known(SHOP, 2), remotes=("host/bo/shop", "host/ana/shop"))
    upstream = known(moved(SHOP, "/x/s"), 3)
    assert (
        match_project(replace(SHOP, root="/y", common_dir="/y/.git"), [fork, upstream]) is upstream
    )
    assert (
        match_project(replace(SHOP, root="/y", common_dir="/y/.git"), [upstream, fork]) is upstream
    )


def test_where_two_lived_the_same_history_counts() -> None:
    first, second = known(SHOP, 2), known(replace(SHOP, remotes=("o/x",), root_commit="b" * 40), 3)
    assert match_project(LOCAL, [first, second]) is first
    assert match_project(replace(LOCAL, root_commit="b" * 40), [first, second]) is second


def test_the_deepest_surrounding_project_wins() -> None:
    inner = known(replace(NOTES, root="/h/notes/in", inode="1:5"), 3)
    place = Place(root="/h/notes/in/a", inode="1:6")
    assert match_project(place, [inner, known(NOTES)]) is inner


# --- enrich --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place",
    [
        SHOP,
        replace(SHOP, branch="topic", commit="c" * 40),
        replace(SHOP, remotes=()),
        replace(SHOP, root_commit=""),
        replace(SHOP, remotes=("host/ana/shop", "host/upstream/shop")),
    ],
)
def test_nothing_new_is_the_same_object(place: Place) -> None:
    project = known(SHOP)
    assert update_project(project, place) is project


def test_a_subfolder_tells_nothing_of_its_project() -> None:
    project = known(NOTES)
    assert update_project(project, Place(root="/h/notes/a", inode="1:31")) is project


def test_a_clone_adds_its_evidence() -> None:
    after = update_project(known(SHOP), moved(SHOP, "/x/s", inode="1:11"))
    assert after.roots == ("/h/shop", "/x/s")
    assert after.common_dirs == ("/h/shop/.git", "/x/s/.git")
    assert after.inodes == ("1:10", "1:11")
    assert (after.name, after.earlier_names) == ("shop", ())


def test_a_new_remote_stands_first_and_the_old_one_stays() -> None:
    after = update_project(known(SHOP), replace(SHOP, remotes=("new/o/n", "up/o/n")))
    assert after.remotes == ("new/o/n", "host/ana/shop")


def test_the_first_commit_completes_an_empty_repository() -> None:
    assert (
        update_project(known(replace(SHOP, root_commit="")), SHOP).root_commit == SHOP.root_commit
    )


def test_only_the_first_repository_replaces_the_oldest_commit() -> None:
    rewritten = update_project(known(SHOP), replace(SHOP, root_commit="b" * 40))
    clone = moved(SHOP, "/x/s", inode="1:11", root_commit="c" * 40)
    assert update_project(rewritten, clone).root_commit == "b" * 40


def test_a_rename_keeps_the_earlier_name() -> None:
    after = update_project(known(SHOP), moved(SHOP, "/h/store"), gone=frozenset({"/h/shop"}))
    assert (after.name, after.earlier_names) == ("store", ("shop",))
    assert (after.roots, after.common_dirs) == (("/h/store",), ("/h/store/.git",))


def test_a_name_taken_back_is_not_an_earlier_one() -> None:
    there = update_project(known(SHOP), moved(SHOP, "/h/store"), gone=frozenset({"/h/shop"}))
    back = update_project(there, SHOP, gone=frozenset({"/h/store"}))
    assert (back.name, back.earlier_names) == ("shop", ("store",))


def test_a_move_without_rename_keeps_the_name() -> None:
    after = update_project(known(SHOP), moved(SHOP, "/x/shop"), gone=frozenset({"/h/shop"}))
    assert (after.name, after.earlier_names, after.roots) == ("shop", (), ("/x/shop",))


def test_a_removed_worktree_renames_nothing() -> None:
    worktree = replace(SHOP, root="/h/shop-fix")
    project = update_project(known(SHOP), worktree)
    after = update_project(project, SHOP, gone=frozenset({"/h/shop-fix"}))
    assert (after.name, after.roots) == ("shop", ("/h/shop",))


def test_a_plain_folder_renamed() -> None:
    after = update_project(
        known(NOTES), replace(NOTES, root="/h/jot"), gone=frozenset({"/h/notes"})
    )
    assert (after.name, after.earlier_names, after.roots) == ("jot", ("notes",), ("/h/jot",))


def test_folders_are_bounded_and_the_first_stays() -> None:
    project = known(SHOP)
    for number in range(MOST_FOLDERS + 5):
        project = update_project(project, replace(SHOP, root=f"/wt/{number}"))
    assert len(project.roots) == MOST_FOLDERS
    assert project.roots[0] == "/h/shop"
    assert project.roots[-1] == f"/wt/{MOST_FOLDERS + 4}"


# --- found ---------------------------------------------------------------------------------------


def test_a_found_project_follows_from_root_and_time() -> None:
    assert known(SHOP) == known(SHOP)
    assert known(SHOP).uuid != new_project(moved(SHOP, "/x"), id=2, at_ms=AT).uuid
    assert known(SHOP).uuid[14] == "7"
    assert known(SHOP).created_ms == AT


def test_only_the_first_remote_is_identity() -> None:
    assert known(replace(SHOP, remotes=("a/b", "c/d"))).remotes == ("a/b",)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        pytest.param(SHOP, "shop", id="work-tree"),
        pytest.param(replace(SHOP, root="/h/shop-fix"), "shop", id="worktree"),
        pytest.param(Place(root="/srv/n.git", git=True, common_dir="/srv/n.git"), "n", id="bare"),
        pytest.param(
            Place(root="/h/shop/lib", git=True, common_dir="/h/shop/.git/modules/vendored"),
            "lib",
            id="submodule",
        ),
        pytest.param(NOTES, "notes", id="plain"),
    ],
)
def test_the_name_is_the_main_folder(place: Place, name: str) -> None:
    assert place_name(place) == name


def test_folders_include_a_main_work_tree_never_visited() -> None:
    assert folders_of(known(replace(SHOP, root="/h/fix"))) == ("/h/fix", "/h/shop")
