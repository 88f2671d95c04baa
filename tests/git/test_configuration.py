"""Which repository is around a folder, and its configuration as git reads it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.git.configuration import is_partial_clone, parse_config, read_config, safe_config
from observer.git.repository import find_repository

TEXTS = [
    pytest.param("[core]\n\tbare = false\n", id="plain"),
    pytest.param('[remote "a b"]url=x\n', id="on-one-line"),
    pytest.param('[remote "Ori\\"gin\\\\"]\nurl = x\n', id="escaped-name"),
    pytest.param("[Core]\nAutoCRLF = Input\n", id="case"),
    pytest.param("[a.B]\nc = d\n", id="dotted"),
    pytest.param("[a]\nb\nc\n", id="without-values"),
    pytest.param("[a]\nb =\n", id="empty"),
    pytest.param('[a]\nb = " x " y  ; no\n', id="quotes-and-comment"),
    pytest.param('[a]\nb = x "# ;" # no\n', id="quoted-comment"),
    pytest.param("[a]\nb = one \\\n  two\nc = d\n", id="continued"),
    pytest.param("[a]\nb = one \\\r\n  two\r\nc = d\r\n", id="carriage-returns"),
    pytest.param('[a]\nb = "\\t\\n\\b\\\\\\""\n', id="escapes"),
    pytest.param("# x\n; y\n[a] ; z\nb = c # d\n", id="comments"),
    pytest.param("[a]\nb = c\n[a]\nb = d\n", id="twice"),
    pytest.param("\ufeff[a]\nb = c\n", id="byte-order-mark"),
    pytest.param("[a]\nb = c", id="no-last-newline"),
]


def as_git(folder: Path, text: str) -> list[tuple[str, str | None]] | None:
    path = folder / "config"
    path.write_bytes(text.encode())
    done = subprocess.run(
        ["git", "config", "--file", str(path), "--list", "-z"],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        return None
    entries = done.stdout.decode().split("\0")[:-1]
    parts = (entry.partition("\n") for entry in entries)
    return [(name, value if newline else None) for name, newline, value in parts]


def ours(text: str) -> list[tuple[str, str | None]]:
    return [(setting.name, setting.value) for setting in parse_config(text)]


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_read_as_git_reads_it(tmp_path: Path, text: str) -> None:
    assert ours(text) == as_git(tmp_path, text)


WORDS = st.sampled_from(
    ["[a]", '[b "C"]', "\n", "k", "=", " ", "v", '"', "\\", "\\n", "#", ";", " ", "x-1", "\r\n"]
)


@given(words=st.lists(WORDS, max_size=14))
def test_whatever_git_accepts_is_read_alike(tmp_path: Path, words: list[str]) -> None:
    text = "".join(["[a]", *words])
    expected = as_git(tmp_path, text)
    assert expected is None or ours(text) == expected


@given(text=st.text())
def test_any_text_is_survived(text: str) -> None:
    assert "\0" not in safe_config(parse_config(text))


@pytest.mark.parametrize(
    "text",
    [
        '[filter "x"]\nclean = run\nprocess = run\n',
        '[diff "x"]\ntextconv = run\n[diff]\nexternal = run\n',
        "[core]\nfsmonitor = run\nhooksPath = run\nsshCommand = run\nworktree = /\npager = run\n",
        '[include]\npath = /evil\n[includeIf "gitdir:/"]\npath = /evil\n',
        '[core]\nbare = "false\\n[filter \\"x\\"]\\nclean = run"\n',
        "[extensions]\npartialClone = origin\nworktreeConfig = true\nnoop = 1\n",
        '[core "x"]\nbare = true\n',
        "[alias]\nlog = !run\n[gpg]\nprogram = run\n",
    ],
)
def test_nothing_that_could_run_is_passed_on(text: str) -> None:
    assert safe_config(parse_config(text)) == ""


def test_the_format_is_passed_on() -> None:
    text = (
        "[core]\nrepositoryformatversion = 1\nbare\nautocrlf = input\n"
        "[extensions]\nobjectFormat = sha256\npreciousObjects = true\n"
    )
    assert safe_config(parse_config(text)) == (
        "[core]\n\trepositoryformatversion = 1\n[core]\n\tbare = true\n"
        "[core]\n\tautocrlf = input\n[extensions]\n\tobjectformat = sha256\n"
    )


@pytest.mark.parametrize(
    "line", ["refStorage = unheard-of", "tomorrow = true", "objectFormat = sha512"]
)
def test_a_format_that_is_not_known_is_refused_by_git(line: str) -> None:
    text = f"[core]\nrepositoryformatversion = 1\n[extensions]\n{line}\n"
    assert "unknown-to-observer = true" in safe_config(parse_config(text))


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ('[remote "o"]\npromisor = true\n', True),
        ('[remote "o"]\npromisor\n', True),
        ('[remote "o"]\npromisor = no\n', False),
        ('[remote "o"]\nurl = true\n', False),
    ],
)
def test_a_partial_clone_says_so(text: str, *, is_shown: bool) -> None:
    assert is_partial_clone(parse_config(text)) is is_shown


def test_what_is_no_file_is_empty(tmp_path: Path) -> None:
    assert (read_config(str(tmp_path)), read_config(str(tmp_path / "gone")), read_config("\0")) == (
        "",
        "",
        "",
    )


Git = Callable[..., str]


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Path:
    git(tmp_path / "shop", "init", "-q")
    git(tmp_path / "shop", "commit", "-q", "--allow-empty", "-m", "first")
    (tmp_path / "shop/deep/er").mkdir(parents=True)
    return tmp_path / "shop"


def at(folder: Path) -> tuple[str, ...] | None:
    found = find_repository(str(folder))
    return found and (found.root, found.git_dir, found.common_dir)


@pytest.mark.parametrize("inside", [".", "deep/er", ".git", ".git/refs/heads"])
def test_the_work_tree_is_found_from_anywhere_inside(shop: Path, inside: str) -> None:
    assert at(shop / inside) == (str(shop), f"{shop}/.git", f"{shop}/.git")


def test_git_agrees_on_linked_work_trees_and_submodules(shop: Path, git: Git) -> None:
    git(shop, "worktree", "add", "-q", "../other")
    git(shop, "submodule", "--quiet", "add", str(shop), "lib")
    asked = ("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir")
    for root in (shop.parent / "other", shop / "lib"):
        assert at(root) == (str(root), *git(root, *asked).split("\n"))


def test_a_repository_beside_its_work_tree(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "--separate-git-dir=store", "app")
    assert at(tmp_path / "app") == (f"{tmp_path}/app", *(f"{tmp_path}/store",) * 2)


def test_a_folder_called_git_that_is_none_is_passed_by(shop: Path) -> None:
    (shop / "deep/.git/refs").mkdir(parents=True)
    assert at(shop / "deep/er") == at(shop)


@pytest.mark.parametrize("content", ["", "gitdir: /nowhere\n", "gitdir:", "x"])
def test_a_gitfile_that_leads_nowhere_ends_the_search(shop: Path, content: str) -> None:
    (shop / "deep/.git").write_text(content)
    assert at(shop / "deep/er") is None


def test_a_pipe_called_git_ends_the_search(shop: Path) -> None:
    os.mkfifo(shop / "deep/.git")
    assert at(shop / "deep/er") is None


def test_a_bare_repository_is_found_outside_of_work_trees_only(
    shop: Path, tmp_path: Path, git: Git
) -> None:
    for folder in (tmp_path / "bare.git", shop / "bare.git"):
        git(tmp_path, "clone", "-q", "--bare", str(shop), str(folder))
    found = find_repository(str(tmp_path / "bare.git/refs"))
    assert found
    assert (found.root, found.is_bare) == (f"{tmp_path}/bare.git", True)
    assert at(shop / "bare.git/refs") == at(shop)


def test_there_may_be_none(tmp_path: Path) -> None:
    assert at(tmp_path) is None


def test_a_folder_in_place_of_a_file_is_survived(shop: Path) -> None:
    (shop / ".git/commondir").mkdir()
    assert at(shop) == (str(shop), f"{shop}/.git", f"{shop}/.git")
