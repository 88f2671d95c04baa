"""Commits as git has them, and whose lines are, out of real repositories."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path
from typing import Any

import msgspec
import pytest

from observer.core.errors import NotFound, ObserverError
from observer.core.events import Commit, FileChange
from observer.git.blame import UNCOMMITTED, blame_lines, last_commits
from observer.git.log import commit_history, commit_patch, count_commits, read_commit
from observer.git.patch import MOST_FILES
from tests.support import Git


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Path:
    """A repository without commits."""
    git(tmp_path / "shop", "init", "-q")
    return tmp_path / "shop"


def write(folder: Path, name: str, content: str | bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def commit(git: Git, folder: Path, message: str = "change", **env: str) -> Commit:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message, **env)
    return read_commit(str(folder), git(folder, "rev-parse", "HEAD"))


def subjects(folder: Path, **options: Any) -> list[str]:
    return [commit.subject for _, commit in commit_history(str(folder), **options)]


def one(read: Commit) -> FileChange:
    assert len(read.files) == 1
    return read.files[0]


# --- one commit ----------------------------------------------------------------------------------


def test_a_commit_tells_all(shop: Path, git: Git) -> None:
    write(shop, "cart.py", "def total(cart):\n    return 1\n")
    env = {"GIT_AUTHOR_DATE": "1000000000 +0200", "GIT_COMMITTER_DATE": "1100000000 +0000"}
    read = commit(git, shop, "Add the cart\n\nIt was missing.\nReally.", **env)
    assert read == Commit(
        hash=git(shop, "rev-parse", "HEAD"),
        subject="Add the cart",
        message="Add the cart\n\nIt was missing.\nReally.",
        author="Ana",
        authored_ms=1_000_000_000_000,
        files=(
            FileChange(
                path="cart.py",
                status="added",
                added=2,
                removed=0,
                symbols=("total",),
                names=("total", "cart"),
            ),
        ),
    )


def test_a_patch_is_redacted(shop: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "ghp_" + "a1B2" * 9
    write(shop, "cart.py", "net = 1\n")
    first = commit(git, shop).hash
    write(shop, "cart.py", f"net = 2\ntoken = '{secret}'\n")
    patch = commit_patch(str(shop), commit(git, shop).hash)
    assert "-net = 1\n+net = 2\n" in patch
    assert secret not in patch
    assert "+net = 1" in commit_patch(str(shop), first)
    assert commit_patch(str(shop), "a" * 40) == ""
    assert commit_patch(str(shop / "gone"), first) == ""
    monkeypatch.setenv("PATH", "/nowhere")
    assert commit_patch(str(shop), first) == ""


CART = "class Cart:\n    def total(self):\n        x = 1\n        y = 2\n        return x\n"
SCRIPT = "class Cart {\n  total(items: Item[]) {\n" + "    let a = 1;\n" * 9 + "    end()\n  }\n}\n"
TOML = "[one]\na = 1\nb = 2\n\n[two]\nc = 3\nd = 4\n"


@pytest.mark.parametrize(
    ("name", "text", "old", "new", "symbol"),
    [
        ("cart.py", CART, "return x", "return x + y", "total"),
        ("cart.ts", SCRIPT, "end()", "begin()", "total"),
        ("a.toml", TOML, "d = 4", "d = 5", "two"),
    ],
)
def test_a_change_names_what_it_is_in(
    shop: Path, git: Git, name: str, text: str, old: str, new: str, symbol: str
) -> None:
    write(shop, name, text)
    first = commit(git, shop)
    write(shop, name, text.replace(old, new))
    read = commit(git, shop)
    assert read.parents == (first.hash,)
    assert (one(read).symbols, one(read).added, one(read).removed) == ((symbol,), 1, 1)


def test_deletions_modes_renames_binaries_and_links_are_what_they_are(shop: Path, git: Git) -> None:
    for name, text in {"a.sh": "x\n", "b.py": "def f():\n    pass\n", "empty": ""}.items():
        write(shop, name, text)
    commit(git, shop)
    (shop / "a.sh").chmod(0o755)
    (shop / "b.py").unlink()
    (shop / "empty").unlink()
    assert [(f.path, f.status, f.added, f.removed) for f in commit(git, shop).files] == [
        ("a.sh", "modified", 0, 0),
        ("b.py", "deleted", 0, 2),
        ("empty", "deleted", 0, 0),
    ]
    write(shop, "old name.py", "".join(f"x{n} = {n}\n" for n in range(20)))
    commit(git, shop)
    (shop / "old name.py").rename(shop / "new.py")
    write(shop, "new.py", (shop / "new.py").read_text() + "def f():\n")
    assert one(commit(git, shop)) == FileChange(
        path="new.py", status="renamed", old_path="old name.py", added=1, removed=0, symbols=("f",)
    )
    write(shop, "a.png", b"\x89PNG\0\0\n" * 9)
    write(shop, "b.py", "x = 1\n")
    binary, text = commit(git, shop).files
    assert (binary.added, binary.removed) == (None, None)
    assert (text.added, text.removed) == (1, 0)
    write(shop, "a", "1\n2\n3\n")
    write(shop, "b", "1\n")
    commit(git, shop)
    (shop / "a").unlink()
    (shop / "a").symlink_to("b")
    write(shop, "b", "1\n2\n")
    assert [(f.path, f.status, f.added, f.removed) for f in commit(git, shop).files] == [
        ("a", "other", 1, 3),
        ("b", "modified", 1, 0),
    ]


NAMES = ["plain", "two words", "tab\there", "line\nbreak", 'quo"te', "back\\slash", "ünïcode",
         "\x01bell\a", "a b/a b/a", "diff --git a", "-dash"]  # fmt: skip


def test_any_name_is_read(shop: Path, git: Git) -> None:
    for number, name in enumerate(NAMES, 1):
        write(shop, name, "1\n" * number)
    found = {file.path: file.added for file in commit(git, shop).files}
    assert found == {name: number for number, name in enumerate(NAMES, 1)}


def test_a_merge_is_shown_as_its_first_parent_sees_it(shop: Path, git: Git) -> None:
    commit(git, shop, "root")
    git(shop, "checkout", "-q", "-b", "topic")
    write(shop, "topic.py", "t = 1\n")
    commit(git, shop, "topic")
    git(shop, "checkout", "-q", "main")
    write(shop, "main.py", "m = 1\n")
    commit(git, shop, "main")
    git(shop, "merge", "-q", "topic", "-m", "join")
    read = read_commit(str(shop), "HEAD")
    assert len(read.parents) == 2
    assert one(read).path == "topic.py"


def raw_commit(git: Git, folder: Path, message: bytes, when: str = "1000000000 +0000") -> None:
    """Put a commit that git itself would not make at the tip of main."""
    who = f"A <a@e> {when}"
    head = f"tree {git(folder, 'write-tree')}\nauthor {who}\ncommitter {who}\n\n"
    words = ("hash-object", "-t", "commit", "-w", "--stdin", "--literally")
    git(folder, "update-ref", "HEAD", git(folder, *words, stdin=head.encode() + message))


def test_names_and_messages_need_not_be_text_and_are_translated(shop: Path, git: Git) -> None:
    write(shop, os.fsdecode(b"caf\xe9"), "1\n")
    git(shop, "add", "-A")
    raw_commit(git, shop, b"caf\xe9\n\n\xff")
    read = read_commit(str(shop), "HEAD")
    assert (read.subject, one(read).path) == ("caf\ufffd", "caf\ufffd")
    assert msgspec.json.decode(msgspec.json.encode(read), type=Commit) == read
    write(shop, "a", "1\n")
    git(shop, "add", "-A")
    git(shop, "-c", "i18n.commitEncoding=latin1", "commit", "-q", "-F-", stdin=b"caf\xe9")
    assert read_commit(str(shop), "HEAD").subject == "café"


def test_content_cannot_pass_for_structure(shop: Path, git: Git) -> None:
    tricks = "@@ -1 +1,99 @@ def x():\n:100644 100644 a b M\tfake\ndiff --git a/f b/f\n\0x\n"
    write(shop, "a.txt", "x" * 9000 + "\n" + tricks + "--- a/x\n+++ b/x\nBinary files a and b\n")
    write(shop, "b.txt", "1\n")
    read = commit(git, shop, "subject\n\n:100644 fake\ndiff --git a/x b/x\n@@ -1 +1 @@")
    assert [(f.path, f.added) for f in read.files] == [("a.txt", 8), ("b.txt", 1)]


def test_an_endless_line_is_no_burden(shop: Path, git: Git) -> None:
    write(shop, "a.min.js", "var a=1;" * 2_000_000 + "\nfunction last() {}\n")
    assert one(commit(git, shop)) == FileChange(
        path="a.min.js", status="added", added=2, removed=0, symbols=("a", "last")
    )


@pytest.mark.measured
def test_a_huge_commit_is_cut_and_it_is_said(shop: Path, git: Git) -> None:
    for number in range(MOST_FILES + 3):
        write(shop, f"{number:04}.py", "def f():\n    pass\n")
    *kept, rest = commit(git, shop).files
    assert len(kept) == MOST_FILES
    assert kept[-1].added == 2
    assert rest == FileChange(path="[… 3 more files]", status="other", added=6, removed=0)


def test_a_submodule_is_one_line(shop: Path, tmp_path: Path, git: Git) -> None:
    git(tmp_path / "lib", "init", "-q")
    commit(git, tmp_path / "lib")
    git(shop, "submodule", "add", "-q", str(tmp_path / "lib"), "lib")
    assert [(f.path, f.added) for f in commit(git, shop).files] == [(".gitmodules", 3), ("lib", 1)]


@pytest.mark.parametrize(
    "rev", ["0" * 40, "gone", "", "--output=x", "HEAD:a", "\0", "\ud800", "HEAD^{tree}"]
)
def test_what_is_no_commit_is_not_found(shop: Path, git: Git, rev: str) -> None:
    write(shop, "a", "1\n")
    commit(git, shop)
    with pytest.raises(NotFound):
        read_commit(str(shop), rev)
    assert not (shop / "x").exists()


@pytest.mark.parametrize("root", ["/nonexistent", "/", "", "\0"])
def test_what_is_no_repository_is_not_found(root: str) -> None:
    with pytest.raises(NotFound):
        read_commit(root, "HEAD")
    with pytest.raises(NotFound):
        commit_history(root)
    with pytest.raises(NotFound):
        count_commits(root)


# --- nothing around it matters -------------------------------------------------------------------


CONFIG = """
[core]
    quotePath = true
    attributesFile = {home}/attributes
[diff]
    external = false
    renames = false
    noprefix = true
    context = 9
    interHunkContext = 9
    orderFile = {home}/order
    ignoreSubmodules = all
    submodule = log
    relative = true
    algorithm = histogram
[color]
    ui = always
[log]
    showSignature = true
    decorate = full
    date = relative
    follow = true
    showRoot = false
    mailmap = true
[format]
    pretty = oneline
[i18n]
    logOutputEncoding = latin1
[diff "upper"]
    textconv = tr a-z A-Z <
"""


@pytest.fixture
def served(shop: Path, git: Git) -> Path:
    """A repository whose two commits would look different under `CONFIG`."""
    write(shop, "ü.py", "".join(f"def f{n}():\n    return {n}\n" for n in range(20)))
    write(shop, ".mailmap", "Other <other@example.com> <ana@example.com>\n")
    commit(git, shop, "début")
    (shop / "ü.py").rename(shop / "new.py")
    write(shop, "new.py", (shop / "new.py").read_text().replace("return 9", "return 10"))
    commit(git, shop, "change")
    return shop


@pytest.mark.parametrize("level", ["user", "repository"])
def test_configuration_does_not_matter(served: Path, tmp_path: Path, level: str) -> None:
    before = list(commit_history(str(served)))
    write(tmp_path / "home", "attributes", "*.py diff=upper\n")
    write(tmp_path / "home", "order", "new.py\n")
    target = tmp_path / "home/.gitconfig" if level == "user" else served / ".git/config"
    with target.open("a") as file:
        file.write(CONFIG.format(home=tmp_path / "home"))
    assert list(commit_history(str(served))) == before


def test_grafts_and_replacements_do_not_matter(served: Path, git: Git) -> None:
    before = list(commit_history(str(served)))
    head, parent = git(served, "rev-parse", "HEAD", "HEAD~1").split()
    git(served, "replace", head, parent)
    write(served, ".git/info/grafts", f"{head}\n")
    assert list(commit_history(str(served))) == before


# --- histories -----------------------------------------------------------------------------------


def test_history_is_oldest_first_and_counted(shop: Path, git: Git) -> None:
    for number in range(5):
        commit(git, shop, f"c{number}", GIT_COMMITTER_DATE=f"{1_000_000_000 + number} +0000")
    assert subjects(shop) == [f"c{n}" for n in range(5)]
    assert count_commits(str(shop)) == 5
    assert [at for at, _ in commit_history(str(shop))][:2] == [1_000_000_000_000, 1_000_000_001_000]


def test_parents_come_before_children_whatever_the_clock_said(shop: Path, git: Git) -> None:
    commit(git, shop, "parent", GIT_COMMITTER_DATE="2000000000 +0000")
    commit(git, shop, "child", GIT_COMMITTER_DATE="1000000000 +0000")
    assert subjects(shop) == ["parent", "child"]


def test_of_a_range_the_newest_are_shown_in_their_order(shop: Path, git: Git) -> None:
    first, *_ = [commit(git, shop, each) for each in ("first", "second", "third", "fourth")]
    assert subjects(shop, since=first.hash) == ["second", "third", "fourth"]
    assert subjects(shop, since="HEAD~3", to="HEAD~1") == ["second", "third"]
    assert subjects(shop, since="HEAD~3", to="HEAD~1", at_most=1) == ["third"]
    assert count_commits(str(shop), since="HEAD~3", to="HEAD~1") == 2


@pytest.mark.parametrize("since", ["0" * 40, "--all", "", "gone"])
def test_an_unknown_since_leaves_nothing_out(shop: Path, git: Git, since: str) -> None:
    assert (subjects(shop), count_commits(str(shop))) == ([], 0)
    commit(git, shop, "first")
    assert subjects(shop, since=since) == ["first"]
    assert count_commits(str(shop), since=since) == 1


def test_any_clone_will_do_a_partial_one_tells_names_and_a_shallow_one_no_files(
    served: Path, tmp_path: Path, git: Git
) -> None:
    (served / "deep/er").mkdir(parents=True)
    git(tmp_path, "clone", "-q", "--bare", str(served), "bare.git")
    known = list(commit_history(str(served)))
    assert list(commit_history(str(served / "deep/er"))) == known
    assert list(commit_history(str(tmp_path / "bare.git"))) == known
    git(served, "config", "uploadpack.allowFilter", "true")
    url = f"file://{served}"
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", url, "part")
    read = [c for _, c in commit_history(str(tmp_path / "part"))]
    assert [f.path for f in read[1].files] == ["new.py", "ü.py"]
    assert {f.added for c in read for f in c.files} == {None}
    assert read_commit(str(tmp_path / "part"), "HEAD") == read[1]
    commit(git, served, "third")
    git(tmp_path, "clone", "-q", "--depth=2", f"file://{served}", "shallow")
    edge, last = [c for _, c in commit_history(str(tmp_path / "shallow"))]
    assert (edge.subject, edge.files, last.subject) == ("change", (), "third")


def test_a_stream_may_be_left_early_and_shows_damage_after_what_could_be_read(
    served: Path, git: Git
) -> None:
    commits = commit_history(str(served))
    next(commits)
    commits.close()
    assert not [p for p in Path("/proc").glob("[0-9]*/stat") if _is_child(p)]
    write(served, "new.py", "lost\n")
    commit(git, served, "damaged")
    blob = git(served, "rev-parse", "HEAD:new.py")
    (served / ".git/objects" / blob[:2] / blob[2:]).unlink()
    commits = commit_history(str(served))
    assert next(commits)[1].subject == "début"
    with pytest.raises(ObserverError, match="git fsck"):
        list(commits)


def _is_child(stat: Path) -> bool:
    try:
        fields = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[1] == str(os.getpid()) and fields[0] == "Z"


def test_memory_does_not_grow_with_the_history(shop: Path, git: Git) -> None:
    stream = []
    for number in range(100):
        content = (b"%d" % number * 2000 + b"\n") * 50
        stream.append(b"commit refs/heads/main\ncommitter A <a@e> %d +0000\n" % (9**9 + number))
        stream.append(b"data 1\nx\nM 644 inline a\ndata %d\n%b\n" % (len(content), content))
    git(shop, "fast-import", "--quiet", stdin=b"".join(stream))
    tracemalloc.start()
    try:
        assert sum(1 for _ in commit_history(str(shop))) == 100
        assert tracemalloc.get_traced_memory()[1] < 1_000_000  # of 40 MB that git printed
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("when", ["99999999999999 +0000", "-5 +0000", "x"])
def test_an_absurd_time_is_survived(shop: Path, git: Git, when: str) -> None:
    raw_commit(git, shop, b"odd", when)
    [(at_ms, read)] = commit_history(str(shop))
    assert 0 <= at_ms < 1 << 48
    assert (read.subject, read.authored_ms) == ("odd", at_ms)


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_each_line_leads_to_its_commit_or_to_none(tmp_path: Path, git: Git, kind: str) -> None:
    git(tmp_path, "init", f"--object-format={kind}")
    file = tmp_path / "auth.py"
    file.write_text("def login():\n    return 1\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-m", "Let people sign in")
    file.write_text("def login():\n    return 2\n")
    found = blame_lines(str(tmp_path), "auth.py", first=1, last=2)
    assert [each.hash for each in found] == [UNCOMMITTED, git(tmp_path, "rev-parse", "HEAD")]


def test_the_last_commit_of_each_file_is_found(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q")
    hashes = []
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("x = 1\n")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-m", f"Add {name}")
        hashes.append(git(tmp_path, "rev-parse", "HEAD"))
    found = last_commits(str(tmp_path), ["b.py", "c.py"])
    assert found == {"b.py": hashes[1], "c.py": hashes[2]}
    assert last_commits(str(tmp_path), ["a.py", "no.py"]) == {"a.py": hashes[0]}
