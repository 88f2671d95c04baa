"""Repositories that lie elsewhere, rename people, or have modules and names made to be run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import WAYS, Git, Trap, Visitor

Disguise = Callable[[Path, Trap, Git], None]


def behind_a_link(root: Path, trap: Trap, git: Git) -> None:
    """`.git` is a link to a repository whose configuration and hooks are traps."""
    elsewhere = root.parent / "elsewhere"
    (root / ".git").rename(elsewhere)
    (root / ".git").symlink_to(elsewhere)
    with (elsewhere / "config").open("a") as config:
        config.write(
            f"[core]\nfsmonitor = {trap.command('fsmonitor')}\n"
            f'[filter "evil"]\nclean = {trap.command("clean")}\n'
            f"[diff]\nexternal = {trap.command('external')}\n"
        )
    (root / ".gitattributes").write_text("* filter=evil\n")
    (root / "a.py").write_text("def login(user):\n    return 9\n")


def with_a_mailmap(root: Path, trap: Trap, git: Git) -> None:
    """People and files are named like commands, and the mailmap is a file or a blob of a name."""
    command = trap.command("mailmap")
    (root / ".mailmap").write_text(f"$({command}) <`{command}`> Ana <ana@example.com>\n")
    git(root, "config", "mailmap.file", f"|{command}")
    git(root, "config", "mailmap.blob", f"--upload-pack={command}")
    git(root, "config", "log.mailmap", "true")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", f"Map $({command})", GIT_AUTHOR_NAME=f"`{command}`")


def with_odd_modules(root: Path, trap: Trap, git: Git) -> None:
    """Submodules come from commands, and lie where their names lead out of the repository."""
    command = trap.command("module")
    modules = "".join(
        f'[submodule "{name}"]\n\tpath = {path}\n\turl = {url}\n\tupdate = !{command}\n'
        for name, path, url in (
            ("../../evil", "lib", f"ext::sh -c {command}"),
            ("x", "-c core.fsmonitor", f"--upload-pack={command}"),
            ("y", "sub", f"ssh://-oProxyCommand={command}/x"),
        )
    )
    (root / ".gitmodules").write_text(modules)
    head = git(root, "rev-parse", "HEAD")
    for path in ("lib", "sub"):
        git(root, "update-index", "--add", "--cacheinfo", f"160000,{head},{path}")
        (root / path).mkdir()
        (root / path / ".git").write_text(f"gitdir: ../.git/modules/{path}\n")
    git(root, "add", ".gitmodules")
    git(root, "commit", "-q", "-m", "Take modules in")


def with_names_of_a_terminal(root: Path, trap: Trap, git: Git) -> None:
    """Files and branches hold line feeds, escapes, and bytes that are no text."""
    names = (
        b"a\nb.py",
        b"\x1b]0;x\x07.py",
        b"\xff\xfe.py",
        b"\xe2\x80\xaegnp.py",
        b"-rf",
        b"--exec=x",
    )
    for name in names:
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_text("x = 1\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Odd \x1b[2J names")
    (root / ".git/packed-refs").write_bytes(
        b"# pack-refs with: peeled fully-peeled sorted\n"
        + b"".join(b"%040x refs/heads/\x1b]52;%d\n" % (number, number) for number in range(50_000))
    )


DISGUISES = (behind_a_link, with_a_mailmap, with_odd_modules, with_names_of_a_terminal)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda disguise: disguise.__name__)
def test_nothing_of_a_disguised_repository_runs(
    plain: Path,
    visitor: Visitor,
    trap: Trap,
    git: Git,
    disguise: Disguise,
    way: Callable[[Visitor, Path], None],
) -> None:
    disguise(plain, trap, git)
    for sprung in trap.folder.iterdir():  # what git itself ran while it was prepared
        sprung.unlink()
    trap.visit(way, visitor, plain)
