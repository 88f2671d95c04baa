"""Nothing that a visited repository names is run, whichever way observer looks at it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from observer.core.errors import NotFound
from observer.git import repository
from observer.git.blame import blame_lines
from observer.git.log import commit_history
from observer.git.process import WorkTree, git_output, repository_at, uncommitted_paths
from observer.git.repository import find_repository, refusal
from observer.projects import detect_place
from tests.support import Until

from .conftest import WAYS, Git, Trap, Visitor

Way = Callable[[Visitor, Path], None]

each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)

CONFIG = """
[core]
    fsmonitor = {fsmonitor}
    hooksPath = {hooks}
    sshCommand = {ssh}
    gitProxy = {proxy}
    pager = {pager}
    editor = {editor}
    askPass = {askpass}
    alternateRefsCommand = {refs}
    attributesFile = {attributes}
    whitespace = cr-at-eol
[alias]
    log = !{alias}
    rev-parse = !{alias}
    ls-files = !{alias}
[filter "evil"]
    clean = {clean}
    smudge = {smudge}
    required = true
[filter "streaming"]
    process = {process}
    required = true
[diff]
    external = {external}
    submodule = log
[diff "evil"]
    textconv = {textconv}
    command = {driver}
    cachetextconv = true
[merge "evil"]
    driver = {merge}
[gpg]
    program = {gpg}
    format = openpgp
[gpg "ssh"]
    program = {gpg}
    defaultKeyCommand = {gpg}
[log]
    showSignature = true
[status]
    submoduleSummary = true
[submodule]
    recurse = true
[credential]
    helper = !{credential}
[interactive]
    diffFilter = {interactive}
[uploadpack]
    packObjectsHook = {pack}
[pager]
    log = {pager}
    blame = {pager}
[sequence]
    editor = {editor}
[extensions]
    partialClone = origin
    worktreeConfig = true
[remote "origin"]
    url = ext::{remote}
    promisor = true
    uploadpack = {uploadpack}
    fetch = +refs/heads/*:refs/remotes/origin/*
[protocol]
    allow = always
[include]
    path = {included}
[includeIf "gitdir:/**"]
    path = {included}
"""
NAMES = (
    *("fsmonitor", "ssh", "proxy", "pager", "editor", "askpass", "refs", "alias", "clean"),
    *("smudge", "process", "external", "textconv", "driver", "merge", "gpg", "credential"),
    *("interactive", "pack", "remote", "uploadpack"),
)
HOOKS = ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman")


@pytest.fixture
def hostile(plain: Path, tmp_path: Path, trap: Trap, git: Git) -> Path:
    """An unpacked archive: whatever its `.git` may name to be run is a trap."""
    _sign(plain, git)
    first = git(plain, "rev-list", "--max-parents=0", "HEAD")
    lost = git(plain, "rev-parse", f"{first}:b.py")
    (plain / ".git/objects" / lost[:2] / lost[2:]).unlink()
    commands = {name: trap.command(name, then=f"/bin/cat; : {name}") for name in NAMES}
    hooks = plain / ".git" / "hooks"
    for name in HOOKS:
        shutil.copy(trap.command(f"hook-{name}"), hooks / name)
    attributes = plain / ".git" / "attributes"
    attributes.write_text("* filter=evil diff=evil\n")
    included = tmp_path / "trap" / "included"
    included.write_text(f'[filter "included"]\nclean = {trap.command("included")}\n')
    given = {"hooks": hooks, "attributes": attributes, "included": included}
    text = CONFIG.format(**commands, **given)
    with (plain / ".git/config").open("a") as config:
        config.write(text)
    (plain / ".git/config.worktree").write_text(text)
    (plain / ".git/info/attributes").write_text("b.py filter=streaming diff=evil\n")
    (plain / ".gitattributes").write_text("*.py filter=evil diff=evil\nc filter=included\n")
    _disturb(plain)
    return plain


def _sign(root: Path, git: Git) -> None:
    """Put a signed commit on top, which `log.showSignature` would have checked."""
    made = git(root, "cat-file", "commit", "HEAD")
    head, _, message = made.partition("\n\n")
    parent = git(root, "rev-parse", "HEAD")
    lines = [line for line in head.split("\n") if not line.startswith("parent")]
    lines.insert(1, f"parent {parent}")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----"
    text = "\n".join([*lines, signature]) + f"\n\n{message}\n"
    commit = git(root, "hash-object", "-t", "commit", "-w", "--stdin", stdin=text.encode())
    git(root, "update-ref", "HEAD", commit)


def _disturb(root: Path) -> None:
    """Give the files other times, so that git has to compare what is in them."""
    for name in ("a.py", "b.py"):
        os.utime(root / name, (1_600_000_000, 1_600_000_000))
    (root / "new.py").write_text("n = 1\n")


def as_it_is(root: Path) -> Path:
    return root


def beside_a_gitfile(root: Path) -> Path:
    """Leave the repository elsewhere."""
    (root / ".git").rename(root.parent / "evil")
    (root / ".git").write_text("gitdir: ../evil\n")
    return root


def with_borrowed_objects(root: Path) -> Path:
    """Copy all but the objects, which are those of the first."""
    borrower = root.parent / "borrower"
    shutil.copytree(root, borrower, symlinks=True)
    shutil.rmtree(borrower / ".git/objects")
    (borrower / ".git/objects/info").mkdir(parents=True)
    (borrower / ".git/objects/info/alternates").write_text(f"{root}/.git/objects\n")
    return borrower


@each_way
@pytest.mark.parametrize("lies", [as_it_is, beside_a_gitfile, with_borrowed_objects])
def test_nothing_of_an_unpacked_archive_runs(
    hostile: Path, visitor: Visitor, trap: Trap, way: Way, lies: Callable[[Path], Path]
) -> None:
    trap.visit(way, visitor, lies(hostile))


def test_the_traps_work(hostile: Path, trap: Trap) -> None:
    """An unguarded git runs into them; else the tests here would prove nothing."""
    for words in (("status",), ("log", "-p"), ("ls-files", "-m")):
        subprocess.run(
            ["git", *words],
            cwd=hostile,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=20,
        )
    assert {"fsmonitor", "clean", "gpg", "textconv"} <= set(trap.ran())


# --- a folder that is laid out as a bare repository --------------------------------------------


@pytest.fixture
def embedded(plain: Path, trap: Trap, git: Git) -> Path:
    """A committed folder that passes for a bare repository, which lacks an object."""
    inner = plain / "fixtures" / "sample"
    git(plain, "clone", "-q", "--bare", str(plain), str(inner))
    command = trap.command("uploadpack")
    with (inner / "config").open("a") as config:
        config.write(
            "[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin\n"
            f'[remote "origin"]\nurl = {plain}\npromisor = true\nuploadpack = {command}\n'
            f"[core]\nfsmonitor = {trap.command('fsmonitor')}\n"
        )
    packs = list((inner / "objects/pack").iterdir())
    for pack in packs:
        pack.unlink()
    for one in [path for path in (inner / "objects").glob("??/*") if path.is_file()]:
        one.unlink()
    (inner / "refs/heads").mkdir(parents=True, exist_ok=True)
    return inner


@each_way
def test_an_embedded_bare_repository_is_never_taken_for_one(
    embedded: Path, plain: Path, visitor: Visitor, trap: Trap, way: Way
) -> None:
    trap.visit(way, visitor, embedded)
    assert detect_place(str(embedded)) == detect_place(str(plain)), "the work tree around it"
    assert detect_place(str(embedded / "objects")).root == str(plain)


# --- what the repository says is where else to look --------------------------------------------


def test_what_is_asked_is_answered_all_the_same(hostile: Path) -> None:
    assert [commit.subject for _, commit in commit_history(str(hostile))][:2] == [
        "Change 0",
        "Change 1",
    ]
    assert WorkTree(str(hostile)).changed_files() == {".gitattributes": "new", "new.py": "new"}
    assert uncommitted_paths(str(hostile), ["a.py", "b.py", "new.py"], wait_s=30) == {"new.py"}
    assert [each.hash for each in blame_lines(str(hostile), "a.py", first=1, last=1)]


def test_git_never_sees_the_configuration_of_a_repository(
    plain: Path, tmp_path: Path, git: Git
) -> None:
    git(plain, "config", "core.worktree", str(tmp_path))
    assert detect_place(str(plain)).root == str(plain)
    assert WorkTree(str(plain)).changed_files() == {}
    (plain / ".git/config").write_text("[this is no configuration\n")
    assert git_output(str(plain), "rev-parse", "HEAD") == detect_place(str(plain)).commit
    assert WorkTree(str(plain)).changed_files() == {}


# --- names ---------------------------------------------------------------------------------------


@pytest.fixture
def oddly_named(plain: Path, trap: Trap) -> Path:
    """A repository whose refs and files are named like options and lines of output."""
    head = (plain / ".git/refs/heads/main").read_text()
    upload = f"--upload-pack={trap.command('option')}"
    for name in ("-x", "--output=sprung", upload.replace("/", "_"), "$(touch sprung)", "a;b"):
        (plain / ".git/refs/heads" / name).write_text(head)
        (plain / ".git/refs/tags" / name).parent.mkdir(exist_ok=True)
        (plain / ".git/refs/tags" / name).write_text(head)
        (plain / name).write_text("x\n")
    (plain / "a\nb.py").write_text("x\n")
    (plain / "`touch sprung`").write_text("x\n")
    (plain / ".git/HEAD").write_text("ref: refs/heads/--output=sprung\n")
    return plain


@each_way
def test_odd_names_are_only_names(
    oddly_named: Path, visitor: Visitor, trap: Trap, way: Way
) -> None:
    trap.visit(way, visitor, oddly_named)
    assert not [path for path in oddly_named.parent.rglob("sprung") if path != trap.folder]


# --- what is not git -----------------------------------------------------------------------------


@each_way
def test_a_git_in_the_folder_is_not_the_git(
    plain: Path, visitor: Visitor, trap: Trap, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("git", "bin/git"):
        (plain / name).parent.mkdir(exist_ok=True)
        shutil.copy(trap.command("git"), plain / name)
    monkeypatch.chdir(plain)
    monkeypatch.setenv("PATH", f".::bin:{os.environ['PATH']}:")
    trap.visit(way, visitor, plain)


# --- somebody else's -----------------------------------------------------------------------------

STRANGER = 12345
rooted = pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")


@rooted
@each_way
@pytest.mark.parametrize("given", ["all", ".git", ".git/objects/..", "."])
def test_git_is_not_run_in_a_repository_of_another_user(
    hostile: Path, visitor: Visitor, trap: Trap, way: Way, given: str
) -> None:
    for path in (hostile, *hostile.rglob("*")) if given == "all" else (hostile / given,):
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
    with pytest.raises(NotFound, match="belongs to another user"):
        repository_at(str(hostile))
    trap.visit(way, visitor, hostile)


@rooted
def test_events_there_are_kept_and_belong_to_the_folder(plain: Path, visitor: Visitor) -> None:
    os.chown(plain / ".git", STRANGER, STRANGER)
    visitor.hooks(plain)
    (project,) = [project for project in visitor.memory.projects() if project.id > 1]
    assert project.roots == (str(plain),)
    with pytest.raises(NotFound, match=r"belongs to another user.*safe\.directory"):
        visitor.memory.why("a.py:1", str(plain))


@rooted
def test_the_user_behind_sudo_and_exceptions_count(
    plain: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chown(plain, STRANGER, STRANGER)
    monkeypatch.setenv("SUDO_UID", str(STRANGER))
    assert detect_place(str(plain)).git
    monkeypatch.delenv("SUDO_UID")
    assert not detect_place(str(plain)).git


@rooted
@pytest.mark.parametrize(
    ("values", "is_trusted"),
    [
        pytest.param(["{}"], True, id="named"),
        pytest.param(["*"], True, id="all"),
        pytest.param(["{}/../*"], False, id="not-by-a-way-around"),
        pytest.param(["{above}/*"], True, id="below"),
        pytest.param(["*", ""], False, id="taken-back"),
        pytest.param(["/elsewhere"], False, id="another"),
    ],
)
def test_a_folder_that_the_user_trusts_is_read(
    plain: Path,
    git: Git,
    monkeypatch: pytest.MonkeyPatch,
    values: list[str],
    *,
    is_trusted: bool,
) -> None:
    repository._exceptions.cache_clear()
    os.chown(plain, STRANGER, STRANGER)
    for value in values:
        named = value.format(plain, above=plain.parent)
        git(plain.parent, "config", "--global", "--add", "safe.directory", named)
    assert detect_place(str(plain)).git is is_trusted
    repository._exceptions.cache_clear()
    monkeypatch.setenv("PATH", "/nonexistent")
    assert not detect_place(str(plain)).git, "without git nobody made an exception"
    repository._exceptions.cache_clear()


@rooted
def test_a_repository_of_root_is_another_users_to_anybody_else(git: Git) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        git(Path(folder), "init", "-q")
        child = os.fork()
        if not child:
            with suppress(BaseException):
                os.setuid(STRANGER)
                found = find_repository(folder)
                os._exit(0 if found and "uid 0" in refusal(found) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# --- what never answers --------------------------------------------------------------------------


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", "a.py"])
def test_a_pipe_for_a_file_ends_by_the_time_limit(plain: Path, name: str) -> None:
    (plain / name).unlink(missing_ok=True)
    os.mkfifo(plain / name)
    with suppress(NotFound):
        git_output(str(plain), "ls-files", "-o", "-m", "--exclude-standard", wait_s=0.5)
    assert uncommitted_paths(str(plain), ["a.py", "new.py"], wait_s=0.5) in (
        None,
        {"a.py"},
        frozenset(),
    )


def test_a_git_that_hangs_ends_with_what_it_started(
    plain: Path, tmp_path: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin/git"
    script.write_text(f'#!/bin/sh\nsleep 600 &\necho $! >"{tmp_path}/child"\nwait\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    with pytest.raises(NotFound, match="does not answer"):
        git_output(str(plain), "rev-parse", "HEAD", wait_s=1.0)
    child = int((tmp_path / "child").read_text())
    until(lambda: not Path(f"/proc/{child}").exists() or _is_zombie(child))


def _is_zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


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


def with_a_hostile_submodule(root: Path, trap: Trap, git: Git) -> None:
    """A submodule in it has filters, a monitor and an update that are traps."""
    library = root.parent / "library"
    git(library, "init", "-q")
    (library / "l.py").write_text("l = 1\n")
    git(library, "add", "-A")
    git(library, "commit", "-q", "-m", "Library")
    git(root, "submodule", "--quiet", "add", str(library), "lib")
    git(root, "commit", "-q", "-m", "Take the library in")
    commands = {name: trap.command(name) for name in ("clean", "fsmonitor", "textconv")}
    with (root / ".git/modules/lib/config").open("a") as config:
        config.write(
            "[core]\nfsmonitor = {fsmonitor}\n[diff]\nexternal = {textconv}\n"
            '[filter "evil"]\nclean = {clean}\n'.format(**commands)
        )
    modules = root / ".gitmodules"
    modules.write_text(modules.read_text() + "\tupdate = !touch sprung\n")
    (root / "lib/.gitattributes").write_text("* filter=evil\n")
    os.utime(root / "lib/l.py", (1, 1))
    git(root, "config", "submodule.recurse", "true")
    git(root, "config", "status.submoduleSummary", "true")


DISGUISES = (
    *(behind_a_link, with_a_mailmap, with_odd_modules, with_names_of_a_terminal),
    with_a_hostile_submodule,
)


@each_way
@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda disguise: disguise.__name__)
def test_nothing_of_a_disguised_repository_runs(
    plain: Path, visitor: Visitor, trap: Trap, git: Git, disguise: Disguise, way: Way
) -> None:
    disguise(plain, trap, git)
    for sprung in trap.folder.iterdir():  # what git itself ran while it was prepared
        sprung.unlink()
    for root in (plain, plain / "lib"):
        if root.exists():
            trap.visit(way, visitor, root)
