"""What pages show of the work on a project: what fails, its checks, branches, edits and tokens."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from msgspec.structs import replace

from observer.core.clock import now_ms
from observer.core.events import (
    AnyBody,
    Checkout,
    Command,
    Commit,
    Edit,
    Event,
    FileWrite,
    Prompt,
    Reply,
    Search,
    SessionStart,
)
from observer.core.model import Recorded, item_id
from observer.core.paths import Home, make_private
from observer.core.value import TokenUsage
from observer.local import given as local_given
from observer.local.given import GivenLog, Giving
from observer.memory.api import Memory
from observer.notes.pairs import Settlement
from observer.notes.values import Note
from observer.serve.contexts import ContextWorker
from observer.serve.requests import RemindedSessions
from observer.store.database import SqliteStore
from observer.tools import story
from observer.tools.render import tokens
from observer.web import given, pages
from observer.web.given import prices_of
from observer.web.sessions import MOST_LINES, diffs_in, diffs_of
from tests.conftest import ROOT
from tests.serve.services import services_over
from tests.support import Git, pipeline_over, record_by
from tests.tools.conftest import APP, NOW_MS, an_item
from tests.tools.test_reminders import NEW, OLD, Happening
from tests.web.conftest import Browser
from tests.web.test_pages import RAN

RED = "FAILED tests/test_cart.py::test_total - assert 1 == 2\n=== 1 failed, 2 passed in 0.1s ==="
GREEN = "=== 3 passed in 0.1s ==="


@pytest.fixture
def happening(memory: Memory, tmp_path: Path) -> Happening:
    return Happening(memory, tmp_path / "my-api")


def edit(happening: Happening) -> FileWrite:
    return FileWrite(path=str(happening.folder / "cart.py"), edits=(Edit(old=OLD, new=NEW),))


FAILS, PASSES = ("pytest", RED, 1), ("pytest", GREEN, 0)
RUNS = {
    "red": ((FAILS,), "failed", False),
    "mended": ((FAILS, "edit", PASSES), "failed, passed", False),
    "flaky": ((PASSES, FAILS, PASSES), "passed, failed, passed", True),
    "installed": ((FAILS, ("pip install x", "", 0), PASSES), "failed, passed", False),
    "looked": ((FAILS, ("cat cart.py", "", 0), PASSES), "failed, passed", True),
    "narrower": ((FAILS, ("pytest tests/test_b.py", GREEN, 0)), "failed, passed", False),
}


@pytest.mark.parametrize("ran", RUNS)
def test_a_project_shows_its_checks_run_by_run(
    browser: Browser, happening: Happening, ran: str
) -> None:
    steps, said, is_flaky = RUNS[ran]
    happening.runs("ruff check .", "All checks passed!")
    happening.runs("bun run test", " 3 pass\n 0 fail\nRan 3 tests across 1 file. [12.00ms]")
    for step in steps:
        if isinstance(step, str):
            happening.tell(edit(happening))
        else:
            happening.runs(*step)
    text = browser.get(f"/project/{APP.uuid}").text
    checks = text.partition("<h2>Checks</h2>")[2]
    rows = re.findall(r"<code>([^<]+)</code>.*?oldest first: ([^\"]*)\"", checks, re.DOTALL)
    assert dict(rows) == {"ruff check": "passed", "bun run test": "passed", "pytest": said}
    assert ("flaky" in text) is is_flaky
    is_red = said.endswith("failed")
    assert (rows[0][0] == "pytest") is is_red or not is_red  # what fails now comes first
    assert ("red since" in text) is (is_red or ran == "narrower")


def test_a_project_shows_its_branches(
    browser: Browser, happening: Happening, git: Callable[..., str]
) -> None:
    git(happening.folder, "init", "-q")
    for branch in ("main", "topic"):
        git(happening.folder, "checkout", "-q", "-B", branch)
        git(happening.folder, "commit", "-q", "--allow-empty", "-m", f"Begin {branch}")
        hash_ = git(happening.folder, "rev-parse", "HEAD")
        happening.tell(Checkout(new=hash_, branch=branch), branch)
        happening.tell(Prompt(text="Sum the cart"), branch)
        happening.tell(Commit(hash=hash_, subject=f"Begin {branch}"), branch)
        happening.tell(Reply(text="Done."), branch)
    listed = browser.get(f"/project/{APP.uuid}").text.partition("<h2>Branches</h2>")[2]
    topic, main = re.findall(r"<li data-row>.*?</li>", listed, re.DOTALL)[:2]
    for row, name in ((topic, "topic"), (main, "main")):
        said = re.findall(r"(Last \w+): <a[^>]*>([^<]*)", row)
        assert said == [("Last turn", f"Begin {name}"), ("Last commit", f"Begin {name}")]
        assert f"branch={name}" in row
        assert "1 session<" in row
        assert ("checked out" in row) is (name == "topic")


def test_of_a_file_is_said_what_fails_there_and_what_holds(
    browser: Browser, happening: Happening, memory: Memory, git: Callable[..., str]
) -> None:
    folder = happening.folder
    git(folder, "init", "-q")
    (folder / "tests").mkdir()
    for name in ("tests/test_cart.py", "shed.py"):
        (folder / name).write_text("x = 1\n", encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Begin")
    older, newer = (
        memory.notes.remember(Note(content=f"test_cart.py needs {what}"), project=APP.uuid).item.id
        for what in ("a server", "no server")
    )
    memory.pairs.settle(Settlement(id=newer, how="replaces", other=older), author="person")
    happening.runs("pytest", RED, 1)
    asked = {"project": APP.uuid, "target": "tests/test_cart.py"}
    text = browser.get("/why", params=asked).text
    assert "assert 1 == 2" in text.partition("Fails now")[2]
    rows = re.findall(r"needs ([\w ]+)</a>.*?>([\w ]+)</span>", text, re.DOTALL)
    assert rows == [("no server", "nothing speaks against it"), ("a server", "holds no longer")]
    said = story.why_text(memory.why(asked["target"], str(folder)))
    assert "checks that fail and name it" in said
    assert not memory.why("shed.py", str(folder)).red
    assert "Fails now" not in browser.get("/why", params={**asked, "target": "shed.py"}).text
    happening.runs("pytest", GREEN)
    assert "Fails now" not in browser.get("/why", params=asked).text


def test_a_file_is_found_in_the_one_project_that_has_it(
    browser: Browser, happening: Happening, git: Callable[..., str]
) -> None:
    folders = [happening.folder, happening.folder.parent / "other"]
    for folder, names in zip(folders, (("cart.py", "both.py"), ("both.py",)), strict=True):
        git(folder, "init", "-q")
        for name in names:
            (folder / name).write_text("x = 1\n", encoding="utf-8")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", f"Begin {folder.name}")
    said = {
        "cart.py:1": "Begin my-api",
        "both.py": "choose one: my-api, other",
        "neither.py": "no project has neither.py",
        f"{folders[1]}/both.py": "Begin other",
    }
    pages = {target: browser.get("/why", params={"target": target}).text for target in said}
    assert [target for target, text in said.items() if text not in pages[target]] == []


def test_a_project_leads_to_what_was_done_today_and_yesterday(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    for days in (0, 1):
        said = {"today": days == 0, "yesterday": days == 1}
        monkeypatch.setattr(pages, "now_ms", lambda days=days: NOW_MS + days * 86_400_000)
        page = browser.get(f"/project/{APP.uuid}").text
        links = re.findall(r'href="(/timeline[?][^"]*)">(today|yesterday)</a>', page)
        found = {word: browser.get(unescape(url)).text for url, word in links}
        assert {word: "JWT, as the API" in text for word, text in found.items()} == said


def test_what_may_be_said_before_an_action_is_shown_and_hidden(
    browser: Browser, happening: Happening
) -> None:
    asked = f"/given?project={APP.uuid}"
    assert "would be interrupted" in browser.get(asked).text
    happening.learns_a_form()
    text = browser.get(asked).text.partition("after a failure</h2>")[2]
    assert "before or after a command that cannot run" in text.partition("given, and used")[0]
    found = re.search(r"<a href=\"/item/(\d+)\">[^<]*bun run test[^<]*works here", text)
    assert found
    browser.change("/given", id=found[1], how="hide", project=APP.uuid)
    text = browser.get(asked).text
    assert ("would be interrupted" in text, "Show again" in text) == (True, True)


ACTS: tuple[tuple[AnyBody | None, str], ...] = (
    (None, "not used"),
    (Command(command="bun run test", output=GREEN, exit_code=0), "ran bun run test"),
    (
        Search(query='{"ids":[ITEM]}', where="memory", tool="mcp__observer__get_observations"),
        "fetched",
    ),
    (Search(query='{"ids":[ITEM]}', where="memory", tool="mcp__other__get"), "not used"),
    (Command(command="wrap bun run test", output="", exit_code=0), "not used"),
)


@pytest.mark.parametrize(("act", "said"), ACTS)
def test_a_reminder_that_was_given_is_shown_with_what_came_of_it(
    browser: Browser,
    happening: Happening,
    home: Home,
    monkeypatch: pytest.MonkeyPatch,
    act: AnyBody | None,
    said: str,
) -> None:
    monkeypatch.setattr(given, "now_ms", lambda: NOW_MS + 1)
    happening.learns_a_form()
    happening.shown = RemindedSessions(home.reminders)
    happening.tell(Prompt(text="Run the tests"), "s2")
    shown = happening.before("wrap bun run test")
    item = int(re.findall(r"#(\d+)", shown)[-1])
    if act:
        if isinstance(act, Search):
            act = replace(act, query=act.query.replace("ITEM", str(item)))
        happening._at_ms = NOW_MS
        happening.tell(act, "s2")
    text = browser.get(f"/given?project={APP.uuid}").text.partition("given, and used</h2>")[2]
    row = re.search(rf"/item/{item}\".*?class=\"about\"><span[^>]*>([^<]*)", text)
    assert row
    assert row[1] == said
    used = browser.get("/usage?days=365").text.partition("memory itself costs")[2]
    share = "0 (0 %)" if said == "not used" else "1 (100 %)"
    assert f"<td>1</td><td>{share}</td>" in used


def test_what_a_start_printed_is_shown_with_what_came_of_it(
    browser: Browser,
    happening: Happening,
    home: Home,
    memory: Memory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = Note(content="cart.py sums in cents", type="decision")
    note = memory.notes.remember(said, project=APP.uuid).item
    happening.tell(Prompt(text="Sum the cart"))
    worker = ContextWorker(services_over(home), memory)

    def freshen() -> None:
        worker.touch([None])
        asyncio.run(worker.freshen())

    freshen()
    hook = ["/bin/sh", str(ROOT / "hooks" / "context"), "claude-code"]
    printed = subprocess.run(hook, cwd=happening.folder, capture_output=True, check=True).stdout
    assert f"#{note.id} " in printed.decode()
    happening.tell(SessionStart(source="startup"), "before the file was written")
    happening._at_ms += 1
    for file in home.context.rglob("CONTEXT.*"):
        os.utime(file, ns=(happening._at_ms * 1_000_000,) * 2)
    happening._at_ms += 1
    happening.tell(SessionStart(source="startup"), "after")
    freshen()
    happening.tell(edit(happening), "after")
    freshen()
    (start,) = GivenLog(home.given).since(0)
    assert (start.session, start.tokens) == ("after", tokens(printed.decode()))
    monkeypatch.setattr(given, "now_ms", lambda: NOW_MS)
    was = browser.get(f"/given?project={APP.uuid}").text.partition("given, and used</h2>")[2]
    assert "at the start" in was
    row = re.search(rf"/item/{note.id}\".*?class=\"about\"><span[^>]*>([^<]*)", was)
    assert row
    assert row[1] == "touched cart.py"


def test_a_long_file_of_what_was_given_loses_its_older_half(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_given, "MOST_BYTES", 1_000)
    make_private(home.root)
    log = GivenLog(home.given)
    for number in range(40):
        log.add(Giving(at_ms=number, client="codex", session="s", sort="form"))
    with home.given.open("ab") as file:
        file.write(b"torn{\n")
    found = [one.at_ms for one in log.since(0)]
    assert found == sorted(found, reverse=True)
    assert (found[0], 0 in found, len(found) > 5) == (39, False, True)
    assert [one.at_ms for one in log.since(39)] == [39]


def written(**fields: object) -> Recorded:
    body = FileWrite(path="/shop/cart.py", **fields)  # type: ignore[arg-type] - any of its fields
    event = Event(id="e", at_ms=1, client="claude-code", body=body)
    return Recorded(seq=7, event=event, project_id=2, root="/shop")


def signs(*events: Recorded) -> list[str]:
    return ["".join(sign + text for sign, text in one.lines) for one in diffs_of(events)]


def test_an_edit_is_compared_line_by_line_and_a_long_one_is_cut() -> None:
    edits = (Edit(old="a\nb\nc", new="a\nB\nc"), Edit(new="d"))
    assert signs(written(edits=edits)) == [" a-b+B c@+d"]
    assert signs(written(operation="create", content="a\nb")) == ["+a+b"]
    assert signs(written(error="not found"), written()) == [""]
    old = [str(line) for line in range(30)]
    new = ["x", *old[1:-1], "y"]
    edit = Edit(old="\n".join(old), new="\n".join(new))
    assert signs(written(edits=(edit,))) == ["-0+x 1 2@ 27 28-29+y"]
    old = "a\n" * (MOST_LINES + 1)
    (found,) = diffs_of([written(edits=(Edit(old=old, new="a"),))])
    assert (found.added, found.removed, found.path) == (1, MOST_LINES + 1, "cart.py")


@pytest.mark.parametrize(
    ("patch", "path", "operation", "lines"),
    [
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@ f\n-a\n+b\n@@ -9 +9 @@\n+c", "x", "edit", "-a+b@+c"),
        ("--- /dev/null\n+++ b/n w\t\n@@ -0,0 +1 @@\n+a", "n w", "create", "+a"),
        ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a", "x", "delete", "-a"),
        ("Binary files a/x and b/x differ", "a/x b/x", "edit", ""),
    ],
)
def test_a_patch_is_read(patch: str, path: str, operation: str, lines: str) -> None:
    (found,) = diffs_in(f"diff --git a/x b/x\nindex 1..2\n{patch}")
    assert found.path == path
    assert found.operation == operation
    assert "".join(sign + text for sign, text in found.lines) == lines


@pytest.fixture
def shop(memory: Memory, tmp_path: Path, git: Git) -> Happening:
    git(tmp_path / "shop", "init", "-q")
    return Happening(memory, tmp_path / "shop")


def session_of(browser: Browser) -> str:
    (found,) = [one for one in browser.site.memory.sessions() if one.external == "one"]
    return str(found.id)


def test_a_session_shows_its_edits_and_outputs(browser: Browser, shop: Happening) -> None:
    edit = FileWrite(path=f"{shop.folder}/cart.py", edits=(Edit(old="net", new="<gross>"),))
    ran = Command(command="make all", output="built <well>", exit_code=0)
    long = FileWrite(path=f"{shop.folder}/till.py", content="<b>\n" * 43)
    shop.does(Prompt("Make prices gross"), edit, edit, ran, long, Reply("Done"))
    text = browser.get(f"/session/{session_of(browser)}").text
    assert text.count('<span class="add">+&lt;gross&gt;</span>') == 2
    assert "built &lt;well&gt;" in text
    assert "Edits of this turn" in text
    first, rest = text.split("<summary>3 more lines</summary>")
    assert (first.count("+&lt;b&gt;"), rest.count("+&lt;b&gt;")) == (40, 3)


def test_edits_are_shown_of_a_turn_and_of_a_file(browser: Browser, shop: Happening) -> None:
    names = "cart.py", "till.py"
    for name in names:
        edit = FileWrite(path=f"{shop.folder}/{name}", edits=(Edit(old="a", new=f"in {name}"),))
        shop.does(Prompt(f"Change {name}"), edit, Reply("Done"))
    page = f"/edits/{session_of(browser)}"
    turns = browser.get(f"/session/{session_of(browser)}").text.split('<section class="turn" id="t')
    turn = turns[1].partition('"')[0]
    asked = [page, f"{page}?file=till.py", f"{page}?turn={turn}", f"{page}?file=none"]
    shown = [[f"+in {name}" in browser.get(one).text for name in names] for one in asked]
    assert shown == [[True, True], [False, True], [True, False], [False, False]]


def test_where_no_edit_was_reported_git_is_asked(
    browser: Browser, store: SqliteStore, tmp_path: Path, git: Git
) -> None:
    folder = tmp_path / "my-api"
    git(folder, "init", "-q")
    (folder / "cart.py").write_text("net = 1\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Add the cart")
    fields = {"type": "commit", "session_id": 14, "commit": git(folder, "rev-parse", "HEAD")}
    made = an_item(20, "Add the cart", **fields)
    with store.write() as writer:
        writer.put_session(RAN)
        writer.put_items([made, an_item(21, "Gone", **fields | {"commit": "a" * 40})])
    assert "+net = 1" in browser.get("/edits/14").text
    assert "+net = 1" in browser.get(f"/item/{made.id}").text
    assert "What it changed" not in browser.get(f"/item/{item_id(21)}").text


USED = TokenUsage(input=100, output=20, cache_read=3_000, cache_write=400)


class Work:
    """Sessions that report what their turns used."""

    def __init__(self, folder: Path, store: SqliteStore, home: Home) -> None:
        self._folder = str(folder)
        self._record = record_by(pipeline_over(store, home, now_ms))
        self._store = store
        self._began_ms = now_ms() - 60_000

    def turn(self, session: str, at: int, usage: TokenUsage | None, **start: str) -> None:
        began = SessionStart(**start)  # type: ignore[arg-type] - its texts
        bodies = (began, Prompt(f"do {session} {at}"), Reply(f"done {at}", usage=usage))
        for place, body in enumerate(bodies):
            event = Event(
                id=f"{session}-{at}-{place}",
                at_ms=self._began_ms + 10 * at + place,
                client="claude-code",
                body=body,
                session=session,
                cwd=self._folder,
            )
            self._record([event], None)

    def spent(self) -> list[tuple[str, str, int]]:
        with self._store.read() as reader:
            found = reader.spent(0, project_id=None, sessions=9)
            ran = {one.id: one.external for one in reader.sessions()}
        sums = [
            (ran[one.place or 0], one.name, one.usage.input) for one in found if one.by == "session"
        ]
        for by in ("day", "model"):  # the same turns, otherwise summed
            assert sum(one.usage.input for one in found if one.by == by) == sum(n for *_, n in sums)
        return sums


@pytest.fixture
def work(tmp_path: Path, store: SqliteStore, home: Home) -> Work:
    return Work(tmp_path, store, home)


def test_a_turn_counts_once_in_a_session_that_was_forked_and_never_without_tokens(
    work: Work,
) -> None:
    work.turn("silent", 0, None)
    assert work.spent() == []
    for session in ("one", "fork"):
        work.turn(session, 1, USED)
    work.turn("fork", 2, TokenUsage(input=7))
    assert work.spent() == [("fork", "", 107)]


def test_a_sub_agent_counts_for_who_handed_the_work_over(work: Work) -> None:
    work.turn("one", 1, USED, model="opus-4")
    work.turn("below", 2, TokenUsage(input=7), parent_session="one")
    work.turn("deeper", 3, TokenUsage(input=5), parent_session="below")
    assert sorted(work.spent()) == [("one", "", 12), ("one", "opus-4", 100)]


def test_sessions_that_name_each_other_as_their_parent_end(work: Work) -> None:
    work.turn("one", 1, USED, parent_session="two")
    work.turn("two", 2, TokenUsage(input=7), parent_session="one")
    assert sum(count for *_, count in work.spent()) == 107


def test_what_was_used_goes_with_its_event_and_is_read_from_a_rewritten_one(
    work: Work, store: SqliteStore
) -> None:
    work.turn("one", 1, USED, model="opus-4")
    with store.write() as writer:
        texts = writer.stored_texts(after_seq=0, limit=99)
        for text in texts:
            writer.put_texts(text._replace(data=text.data.replace(b"opus-4", b"[gone]")))
    assert work.spent() == [("one", "[gone]", 100)]
    with store.write() as writer:
        writer.delete_events([text.seq for text in texts])
        assert writer._rows("SELECT * FROM spent") == []


def test_the_longest_name_that_fits_is_the_price() -> None:
    prices = prices_of(["opus=1/2/3/4", "opus-4=5/6/7/8"])
    assert list(prices) == ["opus-4", "opus"]
    assert prices["opus-4"] == (5.0, 6.0, 7.0, 8.0)


def test_cost_is_shown_where_prices_are_set(browser: Browser, work: Work, home: Home) -> None:
    assert "No client reported tokens" in browser.get("/usage?days=7").text
    work.turn("one", 1, USED, model="opus-4")
    page = "/usage?days=90"
    assert "observer config set prices" in browser.get(page).text
    make_private(home.root)
    home.config.write_text('prices = ["opus=10000/100000/1000/0"]\n')
    text = browser.get(page).text
    assert "<strong>6.00</strong> cost" in text
    assert "opus-4" in text
