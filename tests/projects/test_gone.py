"""What a folder stands for that is not on this disk."""

from __future__ import annotations

import pytest

from observer.projects.gone import from_windows, gone_root, is_same_or_inside, local_spelling


@pytest.mark.parametrize(
    "folder",
    [
        r"C:\Users\ana\mill",
        "c:/Users/ana/mill/",
        "/mnt/c/Users/ana/mill",
        "/c/Users/ana/mill",
        "/cygdrive/c/Users/ana/mill",
    ],
)
def test_a_folder_of_windows_has_one_spelling(folder: str) -> None:
    assert local_spelling(folder) == "/mnt/c/Users/ana/mill"


@pytest.mark.parametrize(
    "folder", [r"\\wsl$\Ubuntu\home\ana\mill", r"\\wsl.localhost\Debian\home\ana\mill"]
)
def test_a_folder_of_wsl_that_windows_names_is_spelled_as_there(folder: str) -> None:
    assert local_spelling(folder.replace("\\", "/")) == "/home/ana/mill"
    assert local_spelling(folder) == "/home/ana/mill"


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
def test_a_missing_folder_stands_for_its_project(
    folder: str, roots: tuple[str, ...], root: str
) -> None:
    assert gone_root(folder, roots) == root
