"""Which project a place, a remote or a folder that is gone means."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from observer.core.model import Place, Project
from observer.projects import (
    MOST_KNOWN,
    folders_of,
    match_project,
    new_project,
    place_name,
    update_project,
)
from observer.projects.fs_probe import from_windows, gone_root, is_same_or_inside, local_spelling
from observer.projects.worktree import normalise

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
        pytest.param(SHOP, replace(SHOP, remotes=("other/x/y",), root_commit=""),
            id="changed-its-remote-and-is-shallow"),
        pytest.param(LOCAL, moved(LOCAL, "/h/store"), id="renamed"),
        pytest.param(SHOP, moved(SHOP, "/h/store", remotes=("other/x/y",)),
            id="renamed-with-new-remote"),
        pytest.param(Place(root="/h/shop", inode="1:9"), LOCAL, id="became-a-repository"),
        pytest.param(LOCAL, Place(root="/h/shop", inode="1:9"), id="ceased-to-be-one"),
        pytest.param(SHOP, moved(SHOP, "/x/c", inode="1:11", remotes=("/h/shop",)),
            id="clone-of-its-path"),
        pytest.param(moved(SHOP, "/x/c", remotes=("/srv/n.git",)), Place(root="/srv/n.git",
            git=True, common_dir="/srv/n.git", inode="1:90"),
            id="the-bare-repository-it-was-cloned-from"),
        pytest.param(NOTES, replace(NOTES, root="/h/notes/a/b", inode="1:31"), id="subfolder"),
    ],
)  # fmt: skip
def test_the_project_is_recognised(before: Place, now: Place) -> None:
    assert match_project(now, [known(NOTES, 9), known(before)]) == known(before) or (
        before is NOTES and match_project(now, [known(before)]) == known(before)
    )


@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param(SHOP, Place(root=""), id="no-place"),
        pytest.param(SHOP, Place(root="/x/shop", git=True, common_dir="/x/shop/.git",
            remotes=("host/bo/shop",)), id="one-basename-two-repositories"),
        pytest.param(SHOP, moved(SHOP, "/x/s", inode="1:11", remotes=("host/bo/shop",
            "host/ana/shop")), id="fork-that-knows-its-upstream"),
        pytest.param(known(moved(SHOP, "/x/s", remotes=("host/bo/shop", "host/ana/shop"))),
            replace(SHOP, inode="1:11"), id="upstream-of-a-fork"),
        pytest.param(SHOP, replace(SHOP, remotes=("other/x/y",), root_commit="b" * 40,
            inode="1:12"), id="another-repository-lives-there"),
        pytest.param(LOCAL, moved(LOCAL, "/h/copy", inode="1:11"), id="copy"),
        pytest.param(LOCAL, moved(LOCAL, "/h/x", root_commit="b" * 40),
            id="inode-of-another-history"),
        pytest.param(NOTES, replace(NOTES, root="/h/notes2", inode="1:31"), id="like-prefix"),
        pytest.param(NOTES, replace(NOTES, root="/h/other"), id="plain-copy-by-bind-mount"),
        pytest.param(NOTES, replace(NOTES, root="/h/notes/web", inode="1:31",
            marker="package.json"), id="marked-subfolder"),
        pytest.param(SHOP, Place(root="/h/shop/x", inode="1:31"),
            id="plain-folder-in-a-repository"),
    ],
)  # fmt: skip
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


def test_of_several_the_first_remote_the_history_or_the_deepest_counts() -> None:
    fork = replace(known(SHOP, 2), remotes=("host/bo/shop", "host/ana/shop"))
    upstream = known(moved(SHOP, "/x/s"), 3)
    assert (
        match_project(replace(SHOP, root="/y", common_dir="/y/.git"), [fork, upstream]) is upstream
    )
    assert (
        match_project(replace(SHOP, root="/y", common_dir="/y/.git"), [upstream, fork]) is upstream
    )
    first, second = known(SHOP, 2), known(replace(SHOP, remotes=("o/x",), root_commit="b" * 40), 3)
    assert match_project(LOCAL, [first, second]) is first
    assert match_project(replace(LOCAL, root_commit="b" * 40), [first, second]) is second
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
    project, around = known(SHOP), known(NOTES)
    assert update_project(project, place) is project
    assert update_project(around, Place(root="/h/notes/a", inode="1:31")) is around


def test_a_clone_adds_its_evidence() -> None:
    after = update_project(known(SHOP), moved(SHOP, "/x/s", inode="1:11"))
    assert after.roots == ("/h/shop", "/x/s")
    assert after.common_dirs == ("/h/shop/.git", "/x/s/.git")
    assert after.inodes == ("1:10", "1:11")
    assert (after.name, after.earlier_names) == ("shop", ())
    assert (
        update_project(known(replace(SHOP, root_commit="")), SHOP).root_commit == SHOP.root_commit
    )
    rewritten = update_project(known(SHOP), replace(SHOP, root_commit="b" * 40))
    clone = moved(SHOP, "/x/s", inode="1:11", root_commit="c" * 40)
    assert update_project(rewritten, clone).root_commit == "b" * 40


def test_a_name_taken_back_and_a_move_without_rename_are_no_earlier_names() -> None:
    there = update_project(known(SHOP), moved(SHOP, "/h/store"), gone=frozenset({"/h/shop"}))
    back = update_project(there, SHOP, gone=frozenset({"/h/store"}))
    assert (back.name, back.earlier_names) == ("shop", ("store",))
    after = update_project(known(SHOP), moved(SHOP, "/x/shop"), gone=frozenset({"/h/shop"}))
    assert (after.name, after.earlier_names, after.roots) == ("shop", (), ("/x/shop",))
    worktree = replace(SHOP, root="/h/shop-fix")
    project = update_project(known(SHOP), worktree)
    after = update_project(project, SHOP, gone=frozenset({"/h/shop-fix"}))
    assert (after.name, after.roots) == ("shop", ("/h/shop",))


def test_a_project_follows_from_root_and_time_and_its_folders_are_bounded() -> None:
    project = known(SHOP)
    for number in range(MOST_KNOWN + 5):
        project = update_project(project, replace(SHOP, root=f"/wt/{number}"))
    assert len(project.roots) == MOST_KNOWN
    assert project.roots[0] == "/h/shop"
    assert project.roots[-1] == f"/wt/{MOST_KNOWN + 4}"
    assert known(SHOP) == known(SHOP)
    assert known(SHOP).uuid != new_project(moved(SHOP, "/x"), id=2, at_ms=AT).uuid
    assert known(SHOP).uuid[14] == "7"
    assert known(SHOP).created_ms == AT
    # Only the first remote is identity, and a main work tree is known that was never visited.
    assert known(replace(SHOP, remotes=("a/b", "c/d"))).remotes == ("a/b",)
    assert folders_of(known(replace(SHOP, root="/h/fix"))) == ("/h/fix", "/h/shop")


# --- found ---------------------------------------------------------------------------------------


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


TOKEN = "ghp_" + "x" * 36


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:ana/shop.git",
        "git@github.com:ana/shop",
        "github.com:ana/shop.git",
        "git@GitHub.com:/ana/shop.git",
        "git@github.com:Ana/Shop.git",
        "https://github.com/ana/Shop",
        "ssh://git@ssh.github.com:443/ana/shop.git",
        "git@[github.com:2222]:ana/shop.git",
        "ssh://git@github.com/ana/shop.git",
        "ssh://git@github.com:22/ana/shop.git",
        "ssh://git@github.com:2222/ana/shop",
        "git+ssh://git@github.com/ana/shop",
        "git://github.com/ana/shop.git",
        "https://github.com/ana/shop.git",
        "https://github.com/ana/shop/",
        "https://github.com//ana//shop.git/",
        "HTTPS://GITHUB.COM/ana/shop",
        "https://github.com:443/ana/shop",
        "http://github.com:80/ana/shop",
        f"https://ana:{TOKEN}@github.com/ana/shop.git",
        f"https://{TOKEN}@github.com/ana/shop.git",
        f"https://github.com/ana/shop.git?access_token={TOKEN}",
        f"https://github.com/ana/shop#{TOKEN}",
        "https://ana:p@ss@github.com/ana/shop.git",
        "https://ana:pa/ss@github.com/ana/shop.git",
        "  https://github.com/ana/shop.git\n",
        "gcrypt::https://github.com/ana/shop.git",
    ],
)
def test_one_remote_has_one_name(url: str, tmp_path: Path) -> None:
    assert normalise(url, base=str(tmp_path)) == "github.com/ana/shop"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        pytest.param("https://git.corp:8443/o/n", "git.corp:8443/o/n", id="own-port"),
        pytest.param("ssh://git@[::1]:22/o/n.git", "::1/o/n", id="ipv6"),
        pytest.param("git@[::1]:o/n.git", "::1/o/n", id="ipv6-scp"),
        pytest.param("https://host/Owner/Name", "host/Owner/Name", id="path-keeps-case"),
        pytest.param("git@host:a/b/c/n.git", "host/a/b/c/n", id="sub-groups"),
        pytest.param("https://host/.git", "host/.git", id="nothing-but-the-ending"),
        pytest.param("https://host", "host", id="host-only"),
        pytest.param("ext::sh -c whatever", "", id="command"),
        pytest.param("", "", id="empty"),
    ],
)
def test_odd_remotes(url: str, name: str, tmp_path: Path) -> None:
    assert normalise(url, base=str(tmp_path)) == name


@pytest.mark.parametrize("form", ["{0}", "file://{0}", "{0}/", "{0}/.git", "../there", "link"])
def test_a_local_remote_is_its_absolute_path(form: str, tmp_path: Path) -> None:
    base, there = tmp_path / "here", tmp_path / "there"
    base.mkdir()
    there.mkdir()
    (base / "link").symlink_to(there)
    assert normalise(form.format(there), base=str(base)) == str(there)


@given(st.text(), st.text(alphabet=st.characters(whitelist_categories=["L", "N"]), min_size=12))
def test_no_password_survives(user: str, password: str) -> None:
    host = user.replace("/", "").replace("#", "").replace("?", "")
    assert f":{password}@" not in normalise(f"https://{host}:{password}@host/o/n", base="/")


@given(st.text())
def test_any_text_has_a_name_or_none(url: str) -> None:
    try:
        assert isinstance(normalise(url, base="/"), str)
    except ValueError:
        assert "\0" in url


@pytest.mark.parametrize(
    ("folder", "here"),
    [
        (r"C:\Users\ana\mill", "/mnt/c/Users/ana/mill"),
        ("c:/Users/ana/mill/", "/mnt/c/Users/ana/mill"),
        ("/mnt/c/Users/ana/mill", "/mnt/c/Users/ana/mill"),
        ("/c/Users/ana/mill", "/mnt/c/Users/ana/mill"),
        ("/cygdrive/c/Users/ana/mill", "/mnt/c/Users/ana/mill"),
        (r"\\wsl$\Ubuntu\home\ana\mill", "/home/ana/mill"),
        (r"\\wsl.localhost\Debian\home\ana\mill", "/home/ana/mill"),
        ("//wsl.localhost/Debian/home/ana/mill", "/home/ana/mill"),
    ],
)
def test_a_folder_of_windows_or_of_wsl_has_one_spelling(folder: str, here: str) -> None:
    assert local_spelling(folder) == here


@pytest.mark.parametrize(
    ("path", "here"),
    [
        (r"C:\Users\ana\mill\a.py", "/mnt/c/Users/ana/mill/a.py"),
        ("d:/mill/a.py", "/mnt/d/mill/a.py"),
        ("/c:/mill/a.py", "/mnt/c/mill/a.py"),
        (r"\\wsl$\Ubuntu\home\ana\mill", "/home/ana/mill"),
        ("//wsl.localhost/Ubuntu/home/ana/mill", "/home/ana/mill"),
        ("/c/mill/a.py", "/c/mill/a.py"),
        ("/mnt/c/mill", "/mnt/c/mill"),
        ("src/a.py", "src/a.py"),
        ("C:a.py", "C:a.py"),
        ("", ""),
    ],
)
def test_what_only_windows_spells_so_is_spelled_as_here(path: str, here: str) -> None:
    assert from_windows(path) == here


def test_windows_knows_no_case() -> None:
    assert is_same_or_inside("/mnt/c/users/Ana/MILL/src", "/mnt/c/Users/ana/mill")
    assert not is_same_or_inside("/home/ana/MILL", "/home/ana/mill")


@pytest.mark.parametrize(
    ("folder", "roots", "root"),
    [
        ("/home/bo/mill", (), "/home/bo/mill"),
        ("/home/bo/mill/src", ("/home/bo/mill",), "/home/bo/mill"),
        ("/home/bo/mill/.claude/worktrees/oil", (), "/home/bo/mill"),
        ("/home/bo/.cache/mill", (), ""),
        ("/mnt/c/Users/bo", (), ""),
        ("/Users/bo", (), ""),
        ("mill", (), ""),
    ],
)
def test_a_missing_folder_is_its_project(folder: str, roots: tuple[str, ...], root: str) -> None:
    assert gone_root(folder, roots) == root
