"""Which repository is around a folder, its configuration, and what git gets of both."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.paths import Home
from observer.git import repository as module
from observer.git.process import git_output
from observer.git.repository import (
    Repository,
    find_repository,
    is_partial_clone,
    mirror,
    parse_config,
    read_config,
    repository_settings,
    safe_config,
)
from tests.support import Git

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
        ["git", "config", "--file", str(path), "--list", "-z"], capture_output=True, check=False
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


def test_a_folder_called_git_or_in_place_of_a_file_is_survived(shop: Path) -> None:
    (shop / "deep/.git/refs").mkdir(parents=True)
    assert at(shop / "deep/er") == at(shop)
    (shop / ".git/commondir").mkdir()
    assert at(shop) == (str(shop), f"{shop}/.git", f"{shop}/.git")


def test_a_gitfile_that_leads_nowhere_or_a_pipe_ends_the_search(shop: Path) -> None:
    for content in ("", "gitdir: /nowhere\n", "gitdir:", "x"):
        (shop / "deep/.git").write_text(content)
        assert at(shop / "deep/er") is None, content
    (shop / "deep/.git").unlink()
    os.mkfifo(shop / "deep/.git")
    assert at(shop / "deep/er") is None


def test_a_bare_repository_is_found_by_itself_only(shop: Path, tmp_path: Path, git: Git) -> None:
    for folder in (tmp_path / "bare.git", shop / "bare.git"):
        git(tmp_path, "clone", "-q", "--bare", str(shop), str(folder))
    found = find_repository(str(tmp_path / "bare.git/refs"))
    assert found
    assert found.root == found.git_dir == f"{tmp_path}/bare.git"
    assert at(shop / "bare.git/refs") == at(shop)


def test_there_may_be_no_repository_and_no_file(tmp_path: Path) -> None:
    assert at(tmp_path) is None
    assert (read_config(str(tmp_path)), read_config(str(tmp_path / "gone")), read_config("\0")) == (
        "",
        "",
        "",
    )


@pytest.fixture
def mirrored(tmp_path: Path, git: Git, home: Home) -> Path:
    home.root.mkdir(mode=0o700)  # else it stands elsewhere: looking at git makes no home
    git(tmp_path / "shop", "init", "-q")
    (tmp_path / "shop/a.txt").write_text("one\n")
    git(tmp_path / "shop", "add", "-A")
    git(tmp_path / "shop", "commit", "-q", "-m", "first")
    return tmp_path / "shop"


def repository(folder: Path) -> Repository:
    found = find_repository(str(folder))
    assert found
    return found


def test_it_stands_in_the_home_and_is_kept_up_to_date(
    mirrored: Path, home: Home, git: Git, tmp_path: Path
) -> None:
    folder = Path(mirror(repository(mirrored)))
    assert folder.is_relative_to(home.run)
    assert folder.stat().st_mode & 0o777 == 0o700
    before = Path(mirror(repository(mirrored)))
    git(mirrored, "config", "core.autocrlf", "true")
    assert Path(mirror(repository(mirrored))) == before
    assert "autocrlf = true" in (before / "config").read_text()
    shutil.rmtree(folder)
    assert Path(mirror(repository(mirrored))) == folder
    assert git_output(str(mirrored), "rev-parse", "--abbrev-ref", "HEAD") == "main"
    (folder / "objects").unlink()
    (folder / "objects").symlink_to(tmp_path)
    module._known.clear()
    mirror(repository(mirrored))
    assert (folder / "objects").resolve() == mirrored / ".git/objects"


def test_one_that_cannot_be_brought_up_is_elsewhere(mirrored: Path, home: Home) -> None:
    """As in a home that has become read-only since."""
    folder = Path(mirror(repository(mirrored)))
    (folder / "config").unlink()
    (folder / "config").mkdir()
    module._known.clear()
    assert not Path(mirror(repository(mirrored))).is_relative_to(home.run)
    assert git_output(str(mirrored), "rev-parse", "--abbrev-ref", "HEAD") == "main"


def test_those_of_gone_repositories_go_too(mirrored: Path, tmp_path: Path, git: Git) -> None:
    git(mirrored, "worktree", "add", "-q", "../other")
    other = Path(mirror(repository(tmp_path / "other")))
    git(mirrored, "worktree", "remove", "../other")
    mirror(repository(mirrored))
    assert not other.exists()


def test_a_home_that_cannot_be_written_is_done_without(mirrored: Path, home: Home) -> None:
    home.root.mkdir(exist_ok=True)
    home.run.write_text("in the way")
    assert git_output(str(mirrored), "rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert not Path(mirror(repository(mirrored))).is_relative_to(home.root)


# --- honest repositories keep working ------------------------------------------------------------


def test_a_sparse_checkout_has_no_missing_files(mirrored: Path, git: Git) -> None:
    (mirrored / "big").mkdir()
    (mirrored / "big/b.txt").write_text("b\n")
    git(mirrored, "add", "-A")
    git(mirrored, "commit", "-q", "-m", "big")
    git(mirrored, "sparse-checkout", "set", "--no-cone", "/*", "!/big")
    assert not (mirrored / "big").exists()
    settings = repository_settings(repository(mirrored))  # of the work tree, too
    assert "core.sparsecheckout" in [setting.name for setting in settings]
    assert git_output(str(mirrored), "status", "--porcelain") == ""
    assert git_output(str(mirrored), "ls-files", "-d", "-m") == ""


@pytest.mark.parametrize("setting", ["true", "input", "false"])
def test_line_ends_are_those_of_the_repository(mirrored: Path, git: Git, setting: str) -> None:
    git(mirrored, "config", "core.autocrlf", setting)
    (mirrored / "a.txt").write_bytes(b"one\r\n")
    said = git_output(str(mirrored), "status", "--porcelain") or ""
    assert said.strip() == git(mirrored, "status", "--porcelain")


def test_a_filtered_file_is_itself_while_the_index_knows_its_time(mirrored: Path, git: Git) -> None:
    git(mirrored, "config", "filter.upper.clean", "tr a-z A-Z")
    (mirrored / ".gitattributes").write_text("*.up filter=upper\n")
    (mirrored / "x.up").write_text("text\n")
    os.utime(mirrored / "x.up", (1, 1))
    git(mirrored, "add", "-A")
    git(mirrored, "commit", "-q", "-m", "filtered")
    assert git(mirrored, "cat-file", "blob", "HEAD:x.up") == "TEXT"
    assert git_output(str(mirrored), "ls-files", "-m") == ""
    assert git_output(str(mirrored), "status", "--porcelain") == ""
