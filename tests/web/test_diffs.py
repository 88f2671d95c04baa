"""What edits changed, as pages show it: of what hooks reported, else of git's commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from observer.core.events import AnyBody, Command, Edit, Event, FileWrite, Prompt, Reply
from observer.core.model import Recorded, item_id
from observer.core.paths import Home
from observer.store.database import SqliteStore
from observer.web.sessions import MOST_LINES, diffs_in, diffs_of
from tests.support import Git, pipeline_over, record_by
from tests.tools.conftest import NOW_MS, an_item
from tests.web.conftest import Browser
from tests.web.test_pages import RAN


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


class Shop:
    """A repository in which an agent works."""

    def __init__(self, folder: Path, store: SqliteStore, home: Home) -> None:
        self.folder = folder
        self._record = record_by(pipeline_over(store, home, NOW_MS))
        self._count = 0

    def did(self, *bodies: AnyBody) -> None:
        for body in bodies:
            self._count += 1
            event = Event(
                id=f"e{self._count}",
                at_ms=NOW_MS - 1_000 + self._count,
                client="claude-code",
                body=body,
                session="one",
                cwd=str(self.folder),
            )
            self._record([event], None)


@pytest.fixture
def shop(tmp_path: Path, store: SqliteStore, home: Home, git: Git, browser: Browser) -> Shop:
    git(tmp_path / "shop", "init", "-q")
    return Shop(tmp_path / "shop", store, home)


def session_of(browser: Browser) -> str:
    (found,) = [one for one in browser.site.memory.sessions() if one.external == "one"]
    return str(found.id)


def test_a_session_shows_its_edits_and_outputs(browser: Browser, shop: Shop) -> None:
    edit = FileWrite(path=f"{shop.folder}/cart.py", edits=(Edit(old="net", new="<gross>"),))
    ran = Command(command="make all", output="built <well>", exit_code=0)
    long = FileWrite(path=f"{shop.folder}/till.py", content="<b>\n" * 43)
    shop.did(Prompt("Make prices gross"), edit, edit, ran, long, Reply("Done"))
    text = browser.get(f"/session/{session_of(browser)}").text
    assert text.count('<span class="add">+&lt;gross&gt;</span>') == 2
    assert "built &lt;well&gt;" in text
    assert "Edits of this turn" in text
    first, rest = text.split("<summary>3 more lines</summary>")
    assert (first.count("+&lt;b&gt;"), rest.count("+&lt;b&gt;")) == (40, 3)


def test_edits_are_shown_of_a_turn_and_of_a_file(browser: Browser, shop: Shop) -> None:
    names = "cart.py", "till.py"
    for name in names:
        edit = FileWrite(path=f"{shop.folder}/{name}", edits=(Edit(old="a", new=f"in {name}"),))
        shop.did(Prompt(f"Change {name}"), edit, Reply("Done"))
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
