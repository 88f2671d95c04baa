"""What is seen in one work tree between two looks; real files, real git, no daemon."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from observer.ingest.file_changes import Save
from observer.serve import watch_set
from observer.serve.watch_set import WatchedTree
from tests.support import Git

NOW_MS = 4_000_000_000_000


@pytest.fixture
def app(tmp_path: Path, git: Git) -> Path:
    """A repository of two files."""
    root = tmp_path / "app"
    git(root, "init")
    (root / "src").mkdir()
    (root / "src" / "a.py").write_text("a = 1\n")
    (root / "b.md").write_text("# B\n")
    (root / ".gitignore").write_text("*.log\nout/\n")
    git(root, "add", ".")
    git(root, "commit", "-m", "First")
    _before(root)
    return root


def _before(root: Path) -> None:
    """Let all that git did be long ago."""
    for path in (root / ".git" / "index", root / ".git" / "refs"):
        os.utime(path, (1, 1))


def _tree(root: Path, *, most_files: int = 1000, excluded: tuple[str, ...] = ()) -> WatchedTree:
    return WatchedTree(str(root), most_files=most_files, excluded=excluded)


def _look(
    watched: WatchedTree, *paths: str, since_ms: int = 10_000
) -> dict[str, tuple[str | None, ...]]:
    named = {f"{watched.root}/{path}".rstrip("/") for path in paths}
    saves = watched.look(named, since_ms=since_ms, now_ms=NOW_MS)
    return {save.path: (save.old, save.new) for save in saves}


@pytest.mark.parametrize(
    ("before", "saves", "shown"),
    [
        pytest.param({}, {"src/a.py": "a = 2\n"}, {"src/a.py": ("a = 1\n", "a = 2\n")}, id="saved"),
        pytest.param({}, {"src/a.py": "a = 1\n"}, {}, id="without a change"),
        pytest.param(
            {},
            {"new.py": "n = 1\n", "b.md": None},
            {"b.md": ("", None), "new.py": (None, "n = 1\n")},
            id="new and gone",
        ),
        pytest.param(
            {"new.py": "n = 1\n"}, {"new.py": None}, {"new.py": ("n = 1\n", None)}, id="gone again"
        ),
        pytest.param(
            {"src/a.py": "a = 2\n"},
            {"src/a.py": "a = 1\n"},
            {"src/a.py": ("a = 2\n", "a = 1\n")},
            id="undone by hand",
        ),
        pytest.param(
            {"a.txt": "one\n"},
            {"a.txt": "one\ntwo\n"},
            {"a.txt": ("one\n", "one\ntwo\n")},
            id="new before, and changed",
        ),
        pytest.param(
            {},
            {"b.md": "# B\r\nmore\r\n"},
            {"b.md": ("# B\n", "# B\nmore\n")},
            id="with other line ends",
        ),
    ],
)
def test_a_save_tells_both_texts(
    app: Path,
    before: dict[str, str],
    saves: dict[str, str | None],
    shown: dict[str, tuple[str | None, ...]],
) -> None:
    for name, text in before.items():
        (app / name).write_text(text)
    watched = _tree(app)
    for name, saved in saves.items():
        if saved is None:
            (app / name).unlink()
        else:
            (app / name).write_bytes(saved.encode())
    assert _look(watched, *saves) == shown
    (app / "src" / "a.py").write_text("a = 33\n")
    earlier = saves.get("src/a.py") or before.get("src/a.py", "a = 1\n")
    assert _look(watched, "src/a.py") == {"src/a.py": (earlier, "a = 33\n")}


def test_a_file_replaced_by_a_new_one_is_shown_once(app: Path) -> None:
    watched = _tree(app)
    (app / "src" / "a.py~").write_text("a = 1\n")
    (app / "src" / "4913").write_text("")
    (app / "src" / "a.py.tmp").write_text("a = 2\n")
    (app / "src" / "a.py.tmp").replace(app / "src" / "a.py")
    names = ("src/a.py~", "src/4913", "src/a.py.tmp", "src/a.py")
    assert _look(watched, *names) == {"src/a.py": ("a = 1\n", "a = 2\n")}


def test_a_new_folder_is_shown_with_all_in_it(app: Path) -> None:
    watched = _tree(app)
    (app / "pkg" / "deep").mkdir(parents=True)
    (app / "pkg" / "deep" / "c.py").write_text("c\n")
    assert watched.is_shaped_by(str(app / "pkg"))
    assert _look(watched, "pkg") == {"pkg/deep/c.py": (None, "c\n")}


def test_a_folder_that_went_is_shown_with_all_that_was_in_it(app: Path) -> None:
    (app / "src" / "new.py").write_text("n\n")
    watched = _tree(app)
    (app / "src").rename(app.parent / "elsewhere")
    assert watched.is_shaped_by(str(app / "src"))
    assert _look(watched, "src") == {"src/a.py": ("", None), "src/new.py": ("n\n", None)}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param("a.log", b"text", id="ignored"),
        pytest.param("a.dat", b"a\0b", id="binary"),
        pytest.param("a.csv", b"1," * watch_set.FILE_BYTES, id="large"),
        pytest.param("out/a.py", b"x", id="in an ignored folder"),
        pytest.param("a.py~", b"x", id="backup"),
    ],
)
def test_nothing_is_shown_of_what_nobody_edits(app: Path, name: str, data: bytes) -> None:
    watched = _tree(app)
    (app / name).parent.mkdir(exist_ok=True)
    (app / name).write_bytes(data)
    assert _look(watched, name) == {}


def test_links_and_pipes_are_not_followed(app: Path, tmp_path: Path) -> None:
    watched = _tree(app)
    (tmp_path / "secret").write_text("s\n")
    (app / "link").symlink_to(tmp_path / "secret")
    (app / "folder").symlink_to(tmp_path)
    os.mkfifo(app / "pipe")
    (app / "src" / "a.py").unlink()
    (app / "src" / "a.py").symlink_to("a.py")
    watched.scan()
    assert str(app / "folder") not in watched.folders
    assert _look(watched, "") == {}


def test_git_is_not_asked_again_about_what_it_ignores(app: Path) -> None:
    watched = _tree(app)
    (app / "a.log").write_text("1")
    assert watched.concerns(str(app / "a.log"))
    _look(watched, "a.log")
    assert not watched.concerns(str(app / "a.log"))
    (app / ".gitignore").write_text("")
    assert watched.is_shaped_by(str(app / ".gitignore"))
    watched.scan()
    assert watched.concerns(str(app / "a.log"))


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(["checkout -q main"], id="a switch of branches"),
        pytest.param(["checkout -q -- src/a.py"], id="a file restored"),
        pytest.param(["reset -q --hard HEAD~1"], id="a reset"),
        pytest.param(["stash"], id="a stash"),
        pytest.param(["stash", "stash pop"], id="a stash, both ways"),
    ],
)
def test_what_git_writes_is_silent(app: Path, git: Git, steps: list[str]) -> None:
    git(app, "checkout", "-q", "-b", "other")
    (app / "src" / "a.py").write_text("a = 2\n")
    (app / "src" / "c.py").write_text("c\n")
    git(app, "add", ".")
    git(app, "commit", "-m", "Second")
    if "main" not in steps[0]:
        (app / "src" / "a.py").write_text("a = 22\n")
    watched = _tree(app)
    for step in steps:
        git(app, *step.split())
        assert _look(watched, "src/a.py", "src/c.py") == {}


def test_conflicts_are_silent_and_their_solution_is_shown(app: Path, git: Git) -> None:
    file = app / "src" / "a.py"
    git(app, "checkout", "-q", "-b", "other")
    file.write_text("a = 2\n")
    git(app, "commit", "-qam", "Two")
    git(app, "checkout", "-q", "main")
    file.write_text("a = 3\n")
    git(app, "commit", "-qam", "Three")
    watched = _tree(app)
    git(app, "merge", "other", "--no-edit", "-s", "ours", "--no-commit")
    git(app, "merge", "--abort")
    with pytest.raises(AssertionError):
        git(app, "merge", "other")
    assert _look(watched, "src/a.py") == {}
    _before(app)
    file.write_text("a = 5\n")
    ((_, solved),) = _look(watched, "src/a.py").values()
    assert solved == "a = 5\n"


def test_a_commit_of_another_file_hides_no_save(app: Path, git: Git) -> None:
    watched = _tree(app)
    (app / "b.md").write_text("# BB\n")
    (app / "src" / "a.py").write_text("a = 2\n")
    git(app, "commit", "-qm", "B", "b.md")
    assert _look(watched, "src/a.py", "b.md") == {"src/a.py": ("a = 1\n", "a = 2\n")}


@pytest.mark.parametrize("name", ["node_modules", ".venv", "target", "__pycache__"])
def test_folders_of_tools_are_left_out_unless_git_knows_them(
    app: Path, git: Git, name: str
) -> None:
    (app / name / "deep").mkdir(parents=True)
    (app / name / "deep" / "x.js").write_text("x\n")
    assert str(app / name) not in _tree(app).folders
    git(app, "add", "-f", name)
    assert str(app / name / "deep") in _tree(app).folders


def test_other_work_trees_inside_are_left_out(app: Path, git: Git) -> None:
    git(app / "vendor" / "lib", "init")
    assert _tree(app).folders == {str(app), str(app / "src"), str(app / "vendor")}


@pytest.mark.parametrize("by", ["a setting", "the policy"])
def test_what_is_excluded_is_left_out(app: Path, by: str) -> None:
    if by == "the policy":
        (app / ".observer.toml").write_text('exclude = ["/src/", "*.csv"]')
    watched = _tree(app, excluded=(str(app / "src"),) if by == "a setting" else ())
    assert watched.folders == {str(app)}
    (app / "src" / "a.py").write_text("a = 2\n")
    (app / "customers.csv").write_text("name\n")
    (app / "open.py").write_text("a = 2\n")
    shown = {"open.py"} if by == "the policy" else {"customers.csv", "open.py"}
    assert _look(watched, "").keys() == shown


def test_nothing_is_looked_at_once_the_policy_cannot_be_used(app: Path) -> None:
    watched = _tree(app)
    (app / ".observer.toml").write_text("exclude = [")
    (app / "open.py").write_text("a = 2\n")
    assert _look(watched, "") == {}


def test_names_that_are_no_text_do_no_harm(app: Path) -> None:
    watched = _tree(app)
    (app / os.fsdecode(b"\xff")).mkdir()
    (app / os.fsdecode(b"\xfe.py")).write_text("x")
    (app / "line\nfeed.py").write_text("x\n")
    watched.scan()
    assert _look(watched, "") == {"line\nfeed.py": (None, "x\n")}


def test_beyond_the_limits_it_is_shown_that_not_what(
    app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_set, "MOST_READ", 1)
    watched = _tree(app)
    for name in ("x", "y"):
        (app / name).write_text(name)
    saves = watched.look({str(app)}, since_ms=10_000, now_ms=NOW_MS)
    assert [save.has_text for save in saves] == [True, False]


def test_texts_longest_unchanged_are_forgotten_first(
    app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_set, "KEPT_CHARS", 10)
    for name in ("x", "y", "z"):
        (app / name).write_text(name * 9)
    watched = _tree(app)
    for name in ("x", "y", "z"):
        (app / name).write_text(name * 3)
    saves: list[Save] = watched.look({str(app)}, since_ms=10_000, now_ms=NOW_MS)
    assert {save.path: save.has_text for save in saves} == {"x": False, "y": False, "z": True}


@pytest.mark.parametrize(
    ("written_ms", "shown_ms"),
    [
        pytest.param(50_000, 50_000, id="the file's own time"),
        pytest.param(1_000, NOW_MS, id="moved here with an old one"),
    ],
)
def test_a_save_has_the_time_of_its_file(app: Path, written_ms: int, shown_ms: int) -> None:
    watched = _tree(app)
    (app / "b.md").write_text("# BB\n")
    os.utime(app / "b.md", ns=(0, written_ms * 1_000_000))
    (save,) = watched.look({str(app / "b.md")}, since_ms=50_100, now_ms=NOW_MS)
    assert save.to_ms == shown_ms
