"""Why code is as it is: a real repository, real events through the pipeline, real git blame."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from observer.core.errors import Ambiguous, BadInput, NotFound, ObserverError
from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Edit,
    Event,
    FileWrite,
    Prompt,
    Remember,
    SessionEnd,
)
from observer.core.paths import Home
from observer.memory.code_questions import CodeAnswer
from observer.search.code_history import CodeChange
from observer.store.database import SqliteStore
from observer.tools import story
from observer.tools.registry import tools_of
from tests.support import Git, memory_over, pipeline_over

START_S = 1_790_000_000
FIRST = "LIMIT = 3\n\n\ndef login(user):\n    return user\n\n\ndef logout(user):\n    return None\n"
SECOND = FIRST.replace("    return user\n", "    check(user)\n    return user\n")
PASSED = "===== 3 passed in 0.10s ====="
FAILED = (
    "FAILED tests/test_auth.py::test_expired - AssertionError: expired token accepted\n"
    "===== 1 failed, 2 passed in 0.12s ====="
)


class Work:
    """A repository, a memory of it, and a clock that goes on by ten seconds a step."""

    def __init__(self, root: Path, git: Git, store: SqliteStore, home: Home) -> None:
        self.root = root
        self.git = git
        self.now_s = START_S
        self._pipeline = pipeline_over(store, home, lambda: self.now_s * 1000)
        self.memory = memory_over(
            store, home, lambda: self.now_s * 1000, record=self._pipeline.ingest
        )

    def tell(self, body: AnyBody, session: str = "s1", *, cwd: str = "") -> int:
        """Let something happen; returns its item, 0 without one."""
        self.now_s += 10
        event = Event(
            id=f"e{self.now_s}",
            at_ms=self.now_s * 1000,
            client="claude-code",
            session=session,
            cwd=cwd or str(self.root),
            dedup=f"commit:{body.hash}" if isinstance(body, Commit) else "",
            body=body,
        )
        return self._pipeline.ingest([event])[0].item or 0

    def write(self, text: str, name: str = "auth.py", *, session: str = "s1") -> int:
        file = self.root / name
        old = file.read_text() if file.exists() else ""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return self.tell(FileWrite(path=str(file), edits=(Edit(old=old, new=text),)), session)

    def commit(self, subject: str, *, is_shown: bool = True, session: str = "s1") -> int:
        self.now_s += 10
        when = {"GIT_AUTHOR_DATE": f"@{self.now_s} +0000", "GIT_COMMITTER_DATE": f"@{self.now_s}"}
        self.git(self.root, "add", "-A")
        self.git(self.root, "commit", "-q", "-m", subject, **when)
        if not is_shown:
            return 0
        self.now_s -= 10  # the hook tells it in the same second
        commit = Commit(hash=self.head())
        return self.tell(commit, session)

    def by_hand(self, text: str, subject: str = "it") -> None:
        """Write and commit without any session."""
        (self.root / "auth.py").write_text(text)
        self.commit(subject, is_shown=False)

    def head(self) -> str:
        return self.git(self.root, "rev-parse", "HEAD")

    def why(self, target: str) -> CodeAnswer:
        return self.memory.why(target, str(self.root))


@pytest.fixture
def work(tmp_path: Path, git: Git, home: Home, store: SqliteStore) -> Work:
    root = tmp_path / "shop"
    git(root, "init", "-q")
    git(root, "config", "user.name", "Ana")
    git(root, "config", "user.email", "ana@example.org")
    return Work(root, git, store, home)


class Shown:
    """What happened in a story of two commits, by the ids of its items."""

    def __init__(self, work: Work) -> None:
        self.begin = work.tell(Prompt(text="start the shop"), "s0")
        self.made = work.write(FIRST, session="s0")
        self.first = work.commit("Add login", session="s0")
        self.asked = work.tell(Prompt(text="login accepts expired tokens, mend it"))
        self.red = work.tell(Command(command="pytest", output=FAILED, exit_code=1))
        self.elsewhere = work.write("x = 1\n", "other.py")
        self.edited = work.write(SECOND)
        self.green = work.tell(Command(command="pytest", output=PASSED, exit_code=0))
        self.second = work.commit("Refuse expired tokens")
        work.tell(SessionEnd())


@pytest.fixture
def shown(work: Work) -> Shown:
    return Shown(work)


def ids(change: CodeChange, field: str) -> list[int]:
    return [item.id for item in getattr(change, field)]


def test_a_line_leads_to_its_commit_session_prompt_and_checks(work: Work, shown: Shown) -> None:
    (change,) = work.why("auth.py:5").changes
    assert change.commit
    assert (change.origin.hash, change.commit.id) == (work.head(), shown.second)
    assert [session.external for session in change.sessions] == ["s1"]
    assert ids(change, "asked") == [shown.asked]
    assert ids(change, "edits") == [shown.edited]
    assert ids(change, "checks") == [shown.green]
    assert [item.type for item in change.tried] == ["fix"]
    assert "passes (3 passed" in change.tried[0].narrative

    (change,) = work.why("auth.py:1").changes
    assert (change.commit and change.commit.id, ids(change, "asked")) == (
        shown.first,
        [shown.begin],
    )


def test_a_fix_of_another_file_was_not_tried_for_this_one(work: Work) -> None:
    work.write(FIRST)
    lint = {"command": "eslint web.js"}
    work.tell(Command(**lint, output="web.js\n  1:1  error  x  no-undef\n", exit_code=1))
    work.write("let x\n", "web.js")
    work.tell(Command(**lint, output="", exit_code=0))
    work.commit("Add login")
    assert [len(work.why(f"{file}:1").changes[0].tried) for file in ("auth.py", "web.js")] == [0, 1]


def test_a_failure_that_passed_later_is_no_check_of_the_change(work: Work) -> None:
    work.write(FIRST)
    red = work.tell(Command(command="pytest", output=FAILED, exit_code=1))
    other = work.tell(Command(command="mypy", output="a.py:1: error: no", exit_code=1))
    work.commit("Add login")
    assert ids(work.why("auth.py:1").changes[0], "checks") == [red, other]
    green = work.tell(Command(command="pytest", output=PASSED, exit_code=0))
    assert ids(work.why("auth.py:1").changes[0], "checks") == [other, green]


def test_a_fix_is_shown_to_its_end(work: Work) -> None:
    work.write(FIRST)
    failing = FAILED.replace("test_expired", f"test_expired_{'in_every_way' * 6}")
    work.tell(Command(command="pytest -q tests/test_auth.py", output=failing, exit_code=1))
    work.write(SECOND)
    passing = Command(command="pytest -q tests/test_auth.py", output=PASSED, exit_code=0)
    work.tell(passing)
    work.commit("Refuse expired tokens")
    (tried,) = [
        line for line in story.why_text(work.why("auth.py:5")).splitlines() if "tried" in line
    ]
    assert "passes (" in tried


def test_a_name_is_all_of_its_lines_and_a_line_knows_the_name_around_it(
    work: Work, shown: Shown
) -> None:
    answer = work.why("auth.py::login")
    assert (answer.piece.symbol, answer.piece.first, answer.piece.last) == ("login", 4, 6)
    assert [(c.origin.subject, c.origin.lines) for c in answer.changes] == [
        ("Refuse expired tokens", 1),
        ("Add login", 2),
    ]

    assert [work.why(f"auth.py:{line}").piece.symbol for line in (1, 5, 9)] == [
        "LIMIT",
        "login",
        "logout",
    ]


def test_a_file_and_a_line_are_followed_to_the_name_they_had_then(work: Work, shown: Shown) -> None:
    work.git(work.root, "mv", "auth.py", "access.py")
    work.commit("Call it access")
    assert [change.origin.subject for change in work.why("access.py").changes] == [
        "Call it access",
        "Refuse expired tokens",
        "Add login",
    ]
    (change,) = work.why("access.py:1").changes
    assert (change.origin.path, change.origin.subject) == ("auth.py", "Add login")
    (change,) = work.why("access.py:5").changes
    assert change.origin.before_ms == work.why("access.py:1").changes[0].origin.committed_ms


@pytest.mark.parametrize("line", ["", ":1"], ids=["file", "line"])
def test_edits_under_an_earlier_name_are_known(work: Work, shown: Shown, line: str) -> None:
    work.git(work.root, "mv", "auth.py", "access.py")
    work.commit("Call it access")
    change = work.why(f"access.py{line}").changes[-1]
    assert change.origin.subject == "Add login"
    assert [each.id for each in change.edits] == [shown.made]
    assert [session.external for session in change.sessions] == ["s0"]
    assert not line or change.sureness == "certain"


@pytest.mark.parametrize("line", ["", ":1"], ids=["file", "line"])
def test_edits_before_the_renaming_of_the_same_commit_are_known(
    work: Work, shown: Shown, line: str
) -> None:
    asked = work.tell(Prompt(text="four tries"), "s3")
    edited = work.write(SECOND.replace("LIMIT = 3", "LIMIT = 4"), session="s3")
    work.git(work.root, "mv", "auth.py", "access.py")
    work.commit("Call it access", is_shown=False)
    change = work.why(f"access.py{line}").changes[0]
    assert change.origin.subject == "Call it access"
    assert [each.id for each in change.edits] == [edited]
    assert [each.id for each in change.asked] == [asked]


def test_older_commits_are_counted(work: Work) -> None:
    for number in range(7):
        work.write(f"a = {number}\n" + "b = 2\n" * number)
        work.commit(f"Step {number}")
    answer = work.why("auth.py:1-7")
    assert (len(answer.changes), answer.left_out) == (5, 1)  # no line of the first is left
    assert "older commits are left out" in story.why_text(answer)


@pytest.mark.measured
def test_what_is_not_committed_leads_to_the_edit(work: Work, shown: Shown) -> None:
    asked = work.tell(Prompt(text="log it too"), "s2")
    edited = work.write(SECOND.replace("    check", "    log()\n    check"), session="s2")
    (change,) = work.why("auth.py:5").changes
    assert (change.origin.hash, ids(change, "asked"), ids(change, "edits")) == (
        "",
        [asked],
        [edited],
    )
    assert "not committed yet" in story.why_text(work.why("auth.py:5"))


@pytest.mark.measured
def test_a_file_of_which_nothing_is_committed_is_not_known(work: Work, shown: Shown) -> None:
    work.write("new = 1\n", "new.py")
    with pytest.raises(NotFound, match=r"git knows no line 1 of new\.py"):
        work.why("new.py:1")
    with pytest.raises(NotFound, match=r"git knows no file new\.py"):
        work.why("new.py")


def test_an_amended_commit_is_known_by_what_stays(work: Work, shown: Shown) -> None:
    before = work.head()
    work.git(work.root, "commit", "-q", "--amend", "--no-edit", "--reset-author", "--date=@1")
    work.git(work.root, "commit", "-q", "--amend", "--no-edit", f"--date=@{work.now_s - 10}")
    assert work.head() != before
    (change,) = work.why("auth.py:5").changes
    assert change.commit
    assert change.commit.id == shown.second


def test_what_was_before_the_memory_has_no_session(work: Work) -> None:
    work.by_hand(FIRST, "Begin")
    answer = work.why("auth.py:1")
    assert answer.project == ""
    text = story.why_text(answer)
    assert "of which nothing is remembered" in text
    assert story.NOT_REMEMBERED in text


def test_a_commit_without_edits_leads_to_its_own_session(work: Work, shown: Shown) -> None:
    (work.root / "auth.py").write_text(SECOND + "# by hand\n")
    work.commit("Say who", session="s1")
    (change,) = work.why("auth.py:11").changes
    assert [session.external for session in change.sessions] == ["s1"]
    assert change.edits == ()


def by_a_colleague(work: Work, text: str, subject: str, name: str = "auth.py") -> None:
    """Commit in a clone of somebody else, and fetch it."""
    clone = work.root.parent / "bo"
    if not clone.exists():
        work.git(work.root, "clone", "-q", str(work.root), str(clone))
        work.git(work.root, "remote", "add", "bo", str(clone))
    (clone / name).write_text(text)
    work.now_s += 10
    when = {"GIT_AUTHOR_DATE": f"@{work.now_s} +0000", "GIT_COMMITTER_DATE": f"@{work.now_s}"}
    work.git(clone, "add", "-A")
    work.git(clone, "commit", "-q", "-m", subject, **when, GIT_AUTHOR_NAME="Bo")
    work.git(work.root, "fetch", "-q", "bo")


LONG = "".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(9))


@pytest.mark.measured
def test_a_colleagues_line_under_a_rebase_is_not_my_sessions(work: Work) -> None:
    work.write(LONG, session="s0")
    work.commit("Begin", session="s0")
    work.tell(Prompt(text="let f1 return more"))
    by_a_colleague(work, LONG.replace("return 8", "return 88"), "Return more of the last")
    mine = work.write(LONG.replace("return 1\n", "return 11\n"))
    by_a_colleague(work, LONG.replace("return 8", "return 888"), "And still more")
    work.commit("Return more of the first")
    work.git(work.root, "rebase", "-q", "bo/main")
    (theirs,) = work.why("auth.py::f8").changes[:1]
    assert (theirs.origin.author, theirs.sessions, theirs.edits) == ("Bo", (), ())
    (own,) = work.why("auth.py:6").changes
    assert ([session.external for session in own.sessions], ids(own, "edits")) == (["s1"], [mine])


@pytest.mark.measured
def test_lines_of_one_file_lead_each_to_the_session_that_wrote_them(work: Work) -> None:
    work.write(LONG, session="s0")
    work.commit("Begin", session="s0")
    text = LONG.replace("return 1\n", "return one()\n")
    work.write(text, session="s1")
    work.write(text.replace("return 2\n", "return two()\n"), session="s2")
    work.commit("Call functions", session="s2")
    for line, session in ((6, "s1"), (10, "s2")):
        (change,) = work.why(f"auth.py:{line}").changes
        assert [each.external for each in change.sessions] == [session]


@pytest.mark.measured
def test_an_edit_that_failed_wrote_no_line(work: Work, shown: Shown) -> None:
    work.write(SECOND.replace("return user", "return user or None"), session="s2")
    text = SECOND.replace("check(user)", "check(user, 1)")
    file = str(work.root / "auth.py")
    work.tell(FileWrite(path=file, edits=(Edit(old=SECOND, new=text),), error="denied"), "s2")
    work.write(text, session="s3")
    work.commit("Check once more", session="s3")
    (change,) = work.why("auth.py:5").changes
    assert [each.external for each in change.sessions] == ["s3"]


@pytest.mark.measured
def test_a_whole_file_written_shows_its_lines(work: Work) -> None:
    (work.root / "auth.py").write_text(FIRST)
    work.tell(FileWrite(path=str(work.root / "auth.py"), content=FIRST), "s7")
    work.commit("Begin", session="s8")
    (change,) = work.why("auth.py:5").changes
    assert [each.external for each in change.sessions] == ["s7"]


def test_a_new_line_is_of_its_own_commit_though_it_resembles_an_older_one(work: Work) -> None:
    work.write(LONG)
    work.commit("Begin")
    block = LONG.split("\n\n\n")[0]
    work.write(
        LONG
        + "class A:\n"
        + block.replace("def", "    def").replace("    return", "        return")
    )
    work.commit("Copy a function into a class")
    changes = work.why("auth.py:38-39").changes
    assert changes[0].origin.subject == "Copy a function into a class"
    assert changes[0].origin.lines == 2


@pytest.mark.measured
def test_a_line_that_was_moved_names_where_it_was_made_too(work: Work) -> None:
    body = "".join(f"    total = total + compute_the_price_of({number})\n" for number in range(6))
    pay = f"def pay():\n{body}\n\n"
    work.write(pay + LONG)
    work.commit("Begin")
    work.write(LONG + pay)
    work.commit("Pay last")
    answer = work.why("auth.py::pay")
    origins = [(each.origin.subject, each.origin.lines) for each in answer.changes]
    assert origins == [("Pay last", 7), ("Begin", 0)]
    assert "made none of the lines; 7 of 7 look like its own" in story.why_text(answer)


def test_notes_that_name_it_and_what_a_commit_says_of_itself_are_shown(
    work: Work, shown: Shown
) -> None:
    note = work.tell(Remember(content="login must refuse expired tokens: audit", type="decision"))
    answer = work.why("auth.py::login")
    assert [item.id for item in answer.notes] == [note]
    assert f"#{note} decision" in story.why_text(answer)
    work.write("a = 1\n", "limits.py")
    work.commit("Set a limit\n\nMore than one broke the printer.")
    text = story.why_text(work.why("limits.py:1"))
    assert "  said      More than one broke the printer." in text


def test_the_text_and_a_tool_name_what_can_be_fetched(work: Work, shown: Shown) -> None:
    lines = story.why_text(work.why("auth.py:5")).splitlines()
    assert lines[0] == "auth.py:5 login in shop"
    assert lines[2].startswith(
        f"#{shown.second} commit {work.head()[:10]} Refuse expired tokens · "
    )
    for label, item in (("asked", shown.asked), ("edited", shown.edited)):
        assert any(line.startswith(f"  {label:9} #{item} ") for line in lines)

    tool = tools_of(("story",), work.memory, lambda: str(work.root))["why"]
    made = tool.call({"target": "auth.py::login"}).result
    assert (made["path"], made["symbol"], made["project"]) == ("auth.py", "login", "shop")
    newest, oldest = made["changes"]
    assert (newest["hash"], newest["commit_id"]) == (work.head(), shown.second)
    assert [each["session_id"] for each in newest["sessions"]] == ["s1"]
    assert [each["id"] for each in oldest["asked"]] == [shown.begin]
    tool = tools_of(("story",), work.memory, lambda: "")["why"]

    assert tool.call({"target": f"{work.root}/auth.py:5"}).result["project"] == "shop"
    with pytest.raises(BadInput, match="no folder is known here"):
        tool.call({"target": "auth.py"})
    assert work.why("auth.py:5:12").piece.first == 5


@pytest.mark.parametrize(
    ("target", "error", "said"),
    [
        ("", BadInput, "no file is named"),
        ("::login", BadInput, "no file is named"),
        ("auth\0.py", BadInput, "no file is named"),
        ("auth.py:0", BadInput, "no lines 0 to 0"),
        ("auth.py:5-3", BadInput, "no lines 5 to 3"),
        ("auth.py:99", NotFound, "git knows no line 99"),
        ("auth.py::nobody", NotFound, "defines no 'nobody'"),
        ("nowhere.py", NotFound, "no file"),
        ("..", NotFound, "not a file of a git repository"),
        ("auth.py/x", NotFound, "no file"),
        ("--output=x", NotFound, "no file"),
        (":(top)auth.py", NotFound, "no file"),
    ],
)
def test_what_points_nowhere_is_refused(
    work: Work, shown: Shown, target: str, error: type[ObserverError], said: str
) -> None:
    with pytest.raises(error, match=said.replace("(", r"\(")):
        work.why(target)


def test_an_error_tells_which_names_there_are(work: Work, shown: Shown) -> None:
    with pytest.raises(NotFound) as refused:
        work.why("auth.py::nobody")
    assert refused.value.hint == "it defines LIMIT, login, logout"


@pytest.mark.measured
def test_a_name_that_is_defined_twice_is_asked_back(work: Work) -> None:
    work.write("class A:\n    def go(self): pass\n\n\nclass B:\n    def go(self): pass\n")
    work.commit("Go twice")
    with pytest.raises(Ambiguous) as refused:
        work.why("auth.py::go")
    assert refused.value.hint == "one of: auth.py::A.go, auth.py::B.go"
    assert work.why("auth.py::B.go").piece.first == 6


@pytest.mark.parametrize("name", ["a:5", "-x.py", "naïve file.py", "[a]*.py"])
def test_hostile_names_are_files(work: Work, name: str) -> None:
    work.write("a = 1\n", name)
    work.commit("Add it")
    assert [c.origin.subject for c in work.why(name).changes] == ["Add it"]
    assert [c.origin.subject for c in work.why(f"{name}:1").changes] == ["Add it"]


@pytest.mark.measured
def test_the_answer_says_how_sure_it_is(work: Work, shown: Shown) -> None:
    """What no edit shows may stand in a note, which names a session, or in a trailer."""
    work.by_hand(f"{SECOND}TOP = 1\n", "Add a limit\n\nCo-Authored-By: Claude <c@example.com>")
    edited, claimed = work.why("auth.py:5"), work.why("auth.py:11")
    assert edited.changes[0].sureness == "certain"
    assert "sure      certain: the session's edits hold these lines" in story.why_text(edited)
    assert "sure      possible: the commit says so" in story.why_text(claimed)
    assert "agent     Claude: Co-Authored-By" in story.why_text(claimed)
    said = {"prompts": {"ab": {"agent_id": {"tool": "claude", "id": "s0", "model": "opus"}}}}
    note = f"auth.py\n  ab 11\n---\n{json.dumps(said)}"
    work.git(work.root, "notes", "--ref=ai", "add", "-m", note)
    (noted,) = work.why("auth.py:11").changes
    assert (noted.sureness, noted.reason) == ("certain", "a note names the lines")
    assert [session.external for session in noted.sessions] == ["s0"]
    assert "claude opus, session s0: 1 line by a git-ai note" in story.why_text(
        work.why("auth.py:11")
    )


@pytest.mark.parametrize(
    ("ran", "named"),
    [
        pytest.param({"command": "git add -A && git commit -m it"}, ["s1"], id="git commit"),
        pytest.param({"command": "git commit -m it", "duration_ms": 30_000}, ["s1"], id="slow"),
        pytest.param({"command": "git push"}, [], id="another command"),
    ],
)
def test_an_imported_commit_is_of_the_session_that_ran_git_then(
    work: Work, ran: dict[str, Any], named: list[str]
) -> None:
    """The history of a repository names no session, nor does a transcript the hash."""
    work.tell(Prompt(text="generate it"), "s0")
    work.by_hand(FIRST)
    work.tell(Command(exit_code=0, **ran))
    (change,) = work.why("auth.py:5").changes
    assert [each.external for each in change.sessions] == named
    assert change.reason == ("the session made the commit" if named else "")


def test_a_commit_during_two_calls_of_git_is_of_the_one_that_printed_its_hash(work: Work) -> None:
    work.by_hand(FIRST)
    printed = f"[main (root-commit) {work.head()[:7]}] it\n 1 file changed"
    for session, output in (("s1", "nothing to commit"), ("s2", printed), ("s3", "")):
        command = "git commit -m it"
        work.tell(Command(command=command, output=output, duration_ms=90_000), session)
    (change,) = work.why("auth.py:5").changes
    assert [each.external for each in change.sessions] == ["s2"]


@pytest.mark.parametrize("is_printed", [True, False])
def test_a_session_of_a_folder_that_is_gone_made_a_commit_whose_hash_it_printed(
    work: Work, *, is_printed: bool
) -> None:
    work.tell(Prompt(text="begin"), "s0")
    work.by_hand(FIRST)
    output = f"[main (root-commit) {work.head()[:7]}] it" if is_printed else ""
    work.tell(Command(command="git commit -m it", output=output), "s1", cwd="/gone/elsewhere")
    (change,) = work.why("auth.py:5").changes
    assert [each.external for each in change.sessions] == (["s1"] if is_printed else [])


def test_a_session_of_git_stands_before_one_that_edited_the_file(work: Work, shown: Shown) -> None:
    work.write(SECOND + "# one\n", session="s2")
    work.by_hand(SECOND + "# one\nTABLE = [1, 2]\n")
    work.tell(Command(command="git commit -am it", exit_code=0), "s3")
    (change,) = work.why("auth.py:12").changes
    assert [each.external for each in change.sessions] == ["s3", "s2"]


def test_of_what_one_session_wrote_and_another_committed_both_are_named(
    work: Work, shown: Shown
) -> None:
    work.write(SECOND + "TABLE = [1, 2]\n", session="s2")
    work.commit("it", is_shown=False)
    work.tell(Command(command="git commit -am it", exit_code=0), "s3")
    answer = work.why("auth.py:11")
    (change,) = answer.changes
    assert [each.external for each in change.sessions] == ["s2"]
    assert [each.external for each in change.committers] == ["s3"]
    assert "  committed claude-code s3, " in story.why_text(answer)


def test_of_two_that_wrote_a_line_the_one_that_committed_counts(work: Work, shown: Shown) -> None:
    """The other wrote it on a branch of its own."""
    work.write(SECOND + "TABLE = [1, 2]\n", session="s2")
    work.write(SECOND + "TABLE = [1, 2]\n", session="s4")
    work.commit("it", is_shown=False)
    work.tell(Command(command="git commit -am it", exit_code=0), "s2")
    (change,) = work.why("auth.py:11").changes
    assert [each.external for each in change.sessions] == ["s2"]
    assert change.committers == ()


def test_an_edit_that_holds_a_line_counts_though_another_names_its_function(work: Work) -> None:
    work.write(LONG, session="s0")
    work.commit("Begin", session="s0")
    work.write(LONG.replace("return 1\n", "return int(1)\n"), session="s1")  # names f1
    file = str(work.root / "auth.py")
    text = LONG.replace("return 1\n", "return int(one)\n")
    (work.root / "auth.py").write_text(text)
    edit = Edit(new="    return int(one)")
    work.tell(FileWrite(path=file, edits=(edit,)), "s2")
    work.commit("Name it", session="s3")
    (change,) = work.why("auth.py:6").changes
    assert [each.external for each in change.sessions] == ["s2"]


def test_no_session_is_guessed_where_the_commit_names_one(work: Work, shown: Shown) -> None:
    work.write(SECOND + "# one\n", session="s2")
    work.by_hand(SECOND + "# one\nTABLE = [1, 2]\n")
    said = {"prompts": {"ab": {"agent_id": {"tool": "claude", "id": "elsewhere"}}}}
    work.git(
        work.root, "notes", "--ref=ai", "add", "-m", f"auth.py\n  ab 12\n---\n{json.dumps(said)}"
    )
    (change,) = work.why("auth.py:12").changes
    assert (change.sessions, change.edits, change.marks[0].session) == ((), (), "elsewhere")
