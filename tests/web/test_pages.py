"""What each page shows, what its forms change, and that no text of others is more than text."""

from __future__ import annotations

import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from observer.core.model import item_id
from observer.core.paths import Home
from observer.core.text import MOST_CHARS, plain
from observer.local.spool import Spool
from observer.memory.api import Memory
from observer.memory.values import exported_line
from observer.notes.signals import Hypothesis
from observer.notes.values import Changes, Note
from observer.store.database import SqliteStore
from observer.tools.asking import CommandRequest
from observer.tools.questions import reply
from observer.web import pages
from observer.web.app import FOLDER
from observer.web.text import markdown, marked
from tests.hostile import HOSTILE
from tests.tools.conftest import APP, ITEMS, NOW_MS, SESSION, an_item
from tests.web.conftest import Browser

EVERY = (
    *("/", "/search", "/search?q=jwt", "/timeline", "/sessions", "/session/14", "/item/48"),
    *("/edits/14", "/project", f"/project/{APP.uuid}", "/session/14?as=markdown", "/notes"),
    *("/review", "/signals", "/given", "/why", "/privacy", "/health", "/purged", "/usage"),
)


class Seen(HTMLParser):
    """What of a page a browser would run or fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.handlers: set[str] = set()
        self.fetched: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name.startswith("on") or name in {"style", "srcdoc"}:
                self.handlers.add(f"{tag} {name}")
            loads = {"src", "action", "data", "poster", "srcset"}
            if name in loads or (tag, name) == ("link", "href"):
                self.fetched.add(value or "")
            if (tag, name) == ("a", "href"):
                self.links.add(value or "")


def is_harmless(text: str) -> bool:
    seen = Seen(text)
    outside = {one for one in seen.fetched if not re.fullmatch(r"/[\w./-]*", one)}
    odd = {one for one in seen.links if not re.match(r"(/|#|https?://)", one)}
    foreign = seen.tags & {"iframe", "object", "embed", "base", "style", "math", "video", "audio"}
    return not (seen.handlers or outside or odd or foreign)


LISTED = {"project": None, "active": False, "limit": 9}
RAN = replace(SESSION, started_ms=NOW_MS - 6_000_000, last_ms=NOW_MS)


@pytest.mark.parametrize("path", EVERY)
def test_every_page_answers(browser: Browser, path: str) -> None:
    answer = browser.get(path)
    assert answer.status_code == 200, answer.text
    assert is_harmless(answer.text)


def test_every_page_is_tried() -> None:
    tried = {path.strip("/").split("/")[0].split("?")[0] for path in EVERY}
    assert tried == set(pages.PAGES) - {"export"}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_only_text(browser: Browser, store: SqliteStore, text: str) -> None:
    stored = text.encode("utf-8", "replace").decode()
    fields: dict[str, Any] = {"narrative": stored, "subtitle": stored, "facts": (stored,)}
    fields |= {"files_modified": (stored[:2_000],), "branch": stored[:200], "session_id": 14}
    given = [
        an_item(20 + place, stored[:5_000], type=type_, **fields)
        for place, type_ in enumerate(("turn", "commit", "command"))
    ]
    note = an_item(24, stored[:5_000], kind="note", type="decision", narrative=stored)
    with store.write() as writer:
        fields = {"first_prompt": stored, "branch": stored[:200], "status": "active"}
        writer.put_session(replace(RAN, **fields))
        writer.put_project(replace(APP, name=stored[:200]))
        writer.put_items([*given, note])
    shown = [f"/item/{item.id}" for item in (*given, note)]
    every = [path for path in EVERY if not path.endswith("as=markdown")]  # a file, never shown
    for path in (*shown, *every, "/search?failed=1", "/session/14?as=html"):
        answer = browser.get(path)
        text = answer.text
        if path.endswith("as=html"):  # a file has a sheet of its own
            text = text.partition("</style>")[2]
        assert (answer.status_code, is_harmless(text)) == (200, True), path
    assert f'id="t{given[0].id}"' in browser.get("/session/14").text


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_address_is_only_text(browser: Browser, text: str) -> None:
    asked = {"q": text[:5_000].encode("utf-8", "replace").decode(), "type": "<b>", "since": "7d"}
    for path in ("/search", "/timeline", "/why", "/given", "/review"):
        name = "target" if path == "/why" else "project" if path in {"/given", "/review"} else "q"
        answer = browser.get(path, params={**asked, name: asked["q"]})
        assert answer.status_code in {200, 400, 404}
        assert is_harmless(answer.text)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_rendered_markdown_is_harmless(text: str) -> None:
    shown = markdown(text)
    assert is_harmless(shown)
    assert "<img" not in shown
    assert len(shown) < 8 * MOST_CHARS


def test_text_of_others_keeps_its_marks_shows_what_hides_and_is_cut() -> None:
    shown = markdown("# Done\n\n- `a.py` **fixed**\n\n| x |\n|--|\n| [y](https://example.org) |")
    assert '<p class="heading">Done</p>' in shown
    assert "<li><code>a.py</code> <strong>fixed</strong></li>" in shown
    assert 'rel="noopener noreferrer nofollow"' in shown
    assert plain("a\u202eb\x1b[31mc\x00\r\nd\ud800") == "a\ufffdbc\ufffd\nd\ufffd"
    assert plain("y" * (MOST_CHARS + 1_234)).endswith("… 1,234 more characters")
    assert marked("<Tree> subtree trees", ["tree"]) == (
        "&lt;<mark>Tree</mark>&gt; subtree <mark>tree</mark>s"
    )


def test_a_search_marks_words_says_why_and_is_narrowed_by_its_address(browser: Browser) -> None:
    text = browser.get("/search?q=middleware").text
    assert "Modified auth.ts" in text
    assert "<mark>middleware</mark>" in text
    assert "Why this hit" in text
    text = browser.get("/search?q=jwt&type=decision").text
    assert "Use <mark>JWT</mark>" in text
    assert "JWT elsewhere" not in text
    answer = browser.get("/search?q=jwt&since=yesteryear")
    assert answer.status_code == 200
    assert "yesteryear" in answer.text
    assert "leave out a filter" in browser.get("/search?q=zebra&type=commit").text

    unknown = ("/item/999999", "/session/999", "/nowhere")
    for path in (*unknown, "/timeline?project=nothing", "/timeline?by=zoe"):
        answer = browser.get(path)
        assert answer.status_code == 404
        assert "<h1>" in answer.text


@pytest.mark.parametrize("path", ["/timeline", "/search?q=login", "/search?q=login&type=turn"])
def test_a_list_is_narrowed_to_a_client(browser: Browser, store: SqliteStore, path: str) -> None:
    with store.write() as writer:
        for number, name in ((90, "codex"), (91, "gemini-cli")):
            writer.put_session(replace(RAN, id=number, external=name, client=name))
            turn = an_item(number, f"login by {name}", type="turn", session_id=number)
            writer.put_items([turn])
    sign = "&" if "?" in path else "?"
    for client, other in (("codex", "gemini-cli"), ("gemini-cli", "codex")):
        text = re.sub("</?mark>", "", browser.get(f"{path}{sign}client={client}").text)
        assert (f"login by {client}" in text, f"login by {other}" in text) == (True, False)
    assert "filter" in browser.get(f"{path}{sign}client=nobody").text


def test_a_session_shows_its_steps_what_was_asked_and_replied(
    browser: Browser, store: SqliteStore
) -> None:
    with store.write() as writer:
        writer.put_session(RAN)
    text = browser.get("/session/14").text
    assert "Modified auth.ts" in text
    assert "claude --resume session-abc" in text
    assert "add JWT login" in text

    said = "It **works**.\n\nAsked: Make it work\nplease"
    with store.write() as writer:
        writer.put_items([an_item(20, "Make it work", type="turn", narrative=said, session_id=14)])
    text = browser.get("/session/14").text
    assert "<strong>works</strong>" in text
    assert 'href="#t80">Make it work' in text


def test_a_session_is_saved_as_one_file_or_page(browser: Browser, store: SqliteStore) -> None:
    secret = "ghp_" + "a1B2" * 9
    said = f"It works with {secret}.\n\nAsked: Make <it> work"
    with store.write() as writer:
        writer.put_session(RAN)
        writer.put_items([an_item(20, "Make it", type="turn", narrative=said, session_id=14)])
    answer = browser.get("/session/14?as=markdown")
    assert "> Make <it> work" in answer.text
    assert secret not in answer.text
    assert answer.headers["content-disposition"] == 'attachment; filename="session-14.md"'
    assert answer.headers["content-type"].startswith("text/markdown")
    answer = browser.get("/session/14?as=html")
    assert "Make &lt;it&gt; work" in answer.text
    assert secret not in answer.text
    assert answer.headers["content-disposition"] == 'attachment; filename="session-14.html"'
    assert Seen(answer.text).fetched == Seen(answer.text).links == set()


def test_a_project_shows_what_stands_and_what_is_open(browser: Browser) -> None:
    text = browser.get(f"/project/{APP.uuid}").text
    assert "Use JWT" in text
    assert "Nothing happened here lately" in text
    other = Note(content="Use sessions", type="decision", supersedes=(item_id(13),))
    browser.site.memory.notes.remember(other, project="my-api")
    links = Seen(browser.get(f"/project/{APP.uuid}").text).links
    assert f"/item/{item_id(13)}" not in links


def test_the_timeline_goes_on_to_the_first(browser: Browser, store: SqliteStore) -> None:
    many = [an_item(number, f"step {number}", type="turn") for number in range(1_000, 1_170)]
    with store.write() as writer:
        for place, item in enumerate(many):
            created_ms = 1_000 + (place // 3 if place > 80 else 0)
            writer.put_items([replace(item, created_ms=created_ms)])
    seen: list[str] = []
    path = "/timeline"
    while path:
        text = browser.get(path).text
        seen += re.findall(r">(step \d+)</a>", text)
        found = re.search(r'rel="next" href="([^"]+)"', text)
        path = found[1].replace("&amp;", "&") if found else ""
    assert sorted(seen) == sorted(item.title for item in many)


def test_an_empty_memory_says_how_to_begin(browser: Browser, store: SqliteStore) -> None:
    with store.write() as writer:
        writer.delete_items([item.id for item in ITEMS])
    assert "observer install" in browser.get("/timeline").text


def test_a_note_is_forgotten_comes_back_and_is_edited_in_place(
    browser: Browser, memory: Memory
) -> None:
    kept = memory.notes.remember(Note(content="Prices are net"), project=APP.uuid).item
    assert browser.change("/note/forget", id=kept.id).status_code == 303
    assert "Prices are net" not in browser.get("/notes").text
    assert browser.change("/note/undo", id=kept.id).status_code == 303
    assert "Prices are net" in browser.get("/notes").text
    fields = {"id": kept.id, "title": kept.title, "content": "Prices\r\nare gross"}
    assert browser.change("/note/edit", **fields).headers["location"] == f"/item/{kept.id}"
    assert memory.notes.get(kept.id).narrative == "Prices\nare gross"
    fields["title"] = memory.notes.get(kept.id).title
    assert browser.change("/note/edit", **fields).status_code == 400  # nothing is to change
    secret = "ghp_" + "a1B2" * 9
    answer = browser.change("/note/edit", id=kept.id, title=kept.title, content=secret)
    assert answer.status_code == 422
    assert secret not in answer.text


def test_a_note_shows_its_history_tags_and_links(browser: Browser, memory: Memory) -> None:
    older, newer = (
        memory.notes.remember(Note(content=f"Prices are {what}", tags=(what,)), project=APP.uuid)
        for what in ("gross", "net")
    )
    memory.notes.link(newer.item.id, str(older.item.id), kind="amends")
    memory.notes.edit(older.item.id, Changes(content="Prices are whole"), author="person")
    text = browser.get("/notes").text
    assert re.search(r'href="/notes\?tag=net">#net 1', text)
    assert "1 link among these notes" in text
    assert text.count("<circle") == 2
    text = browser.get("/notes?tag=net").text
    assert ("Prices are net" in text, text.count("<article")) == (True, 1)
    item = browser.get(f"/item/{older.item.id}").text
    assert "History (2)" in item
    assert "Prices are gross" in item
    memory.notes.undo(older.item.id, author="person")
    assert "taken back" in browser.get(f"/item/{older.item.id}").text


def test_a_line_is_hidden_pinned_and_given_as_before(browser: Browser, memory: Memory) -> None:
    kept = memory.notes.remember(Note(content="Prices are net"), project=APP.uuid).item
    fields = {"id": kept.id, "project": APP.uuid, "client": "codex"}
    for how, seen in (("hide", True), ("pin", False), ("", False)):
        where = browser.change("/given", how=how, **fields).headers["location"]
        assert where == f"/given?project={APP.uuid}&client=codex"
        assert ("Show again" in browser.get(where).text) is seen
        assert memory.choices.given() == ({kept.id: how} if how else {})
        assert "Prices are net" in browser.get("/search?q=prices").text
    for wrong in ({"id": kept.id, "how": "burn"}, {"how": "hide"}, {"id": 9_999, "how": "hide"}):
        assert browser.change("/given", **wrong).status_code in {400, 404}


def test_a_session_is_renamed_wherever_it_is_listed(browser: Browser, store: SqliteStore) -> None:
    with store.write() as writer:
        writer.put_session(RAN)
    secret = "ghp_" + "a1B2" * 9
    asked = browser.get("/session/14").text
    fields = {"id": 14, "title": f"Log in <b> {secret}"}
    assert browser.change("/session/rename", **fields).headers["location"] == "/session/14"
    for path in ("/session/14", "/sessions", f"/project/{APP.uuid}"):
        text = browser.get(path).text
        assert ("Log in &lt;b&gt;" in text, secret in text) == (True, False), path
    fields = {"arguments": LISTED, "folder": "/", "surroundings": {}}
    fields |= {"is_json": True, "is_local": False}
    listed = reply(browser.site.memory, CommandRequest(question="sessions", **fields))
    assert "Log in <b>" in str(listed.text)
    browser.change("/session/rename", id=14, title="")
    assert browser.get("/session/14").text.count("<h1>") == asked.count("<h1>")
    assert "Log in" not in browser.get("/sessions").text


def test_notes_go_on_behind_the_last_of_a_page(browser: Browser, memory: Memory) -> None:
    rule = memory.notes.remember(Note(content="Never push on Fridays", layer="rule"), project=None)
    for number in range(pages.NOTES + 5):
        memory.notes.remember(Note(content=f"Fact {number}", tags=("all",)), project=APP.uuid)
    first = browser.get(f"/notes?tag=all&project={APP.uuid}").text
    assert (first.count("data-row"), "Fact 5" in first) == (pages.NOTES, True)
    (address,) = re.findall(r'rel="next" href="([^"]+)"', first)
    second = browser.get(address.replace("&amp;", "&")).text
    listed = [f"#i{number}" for number in re.findall(r'id="i(\d+)"', first + second)]
    assert (len(listed), len(set(listed))) == (pages.NOTES + 5, pages.NOTES + 5)
    assert ("Earlier" in second, "Fact 0" in second) == (False, True)
    for path, is_shown in (("/notes", True), (f"/notes?project={APP.uuid}", False)):
        assert ("Waiting for you" in browser.get(path).text) is is_shown, rule.item.id


def test_a_rule_of_an_agent_is_approved(browser: Browser, memory: Memory) -> None:
    rule = Note(content="Never push on Fridays", layer="rule")
    kept = memory.notes.remember(rule, project=APP.uuid).item
    assert "Waiting for you" in browser.get("/notes").text
    browser.change("/note/approve", id=kept.id)
    assert "Waiting for you" not in browser.get("/notes").text


def test_two_notes_are_settled(browser: Browser, memory: Memory) -> None:
    older, newer = (
        memory.notes.remember(Note(content=f"Prices are {what}"), project=APP.uuid).item
        for what in ("gross", "net")
    )
    fields = {"id": newer.id, "other": older.id, "how": "replaces", "project": APP.uuid}
    assert browser.change("/review", **fields).headers["location"].startswith("/review?project=")
    assert "superseded by" in browser.get(f"/item/{older.id}").text


@pytest.mark.parametrize("fields", [{}, {"id": "x"}, {"id": "1", "other": "2", "how": "wins"}])
def test_a_form_that_is_no_answer_is_refused(browser: Browser, fields: dict[str, str]) -> None:
    assert browser.change("/review", **fields).status_code in {400, 404}
    assert browser.change("/note/forget").status_code == 400


def test_what_notes_imply_is_shown_and_put_aside(browser: Browser, memory: Memory) -> None:
    note = memory.notes.remember(Note(content="See [[Tax rates]] first"), project=APP.uuid).item
    wanted = Hypothesis(title="Rates change often", summary="Twice a year", evidence=(note.id,))
    memory.inferences.mint(wanted, is_confirmed=True)
    (signal,) = memory.signals.list().signals
    page = browser.get("/signals").text
    link = f'href="/item/{note.id}"'
    for said in ("links to [[Tax rates]]", link, "Rates change often", "its notes say"):
        assert said in page
    browser.change("/signal", id=signal.id, status="snoozed")
    assert "Nothing is implied" in browser.get("/signals").text
    assert "Look again" in browser.get("/signals?status=snoozed").text
    browser.change("/signal", id=signal.id, status="new")
    assert "Tax rates" in browser.get("/signals").text
    memory.notes.edit(note.id, Changes(content="See [[Tax rates]] last"), author="person")
    assert "a note that it rests on changed" in browser.get("/signals").text
    assert browser.change("/signal", id=signal.id, status="minted").status_code == 400


def test_recording_pauses_and_goes_on_and_redaction_is_tried(browser: Browser, home: Home) -> None:
    Spool(home.spool).prepare()
    browser.change("/pause", **{"for": "1h"})
    for path in ("/privacy", "/"):
        assert "Record again" in browser.get(path).text
    browser.change("/resume")
    assert "Pause for an hour" in browser.get("/privacy").text

    secret = "ghp_" + "a1B2" * 9
    text = browser.change("/privacy", text=f"token {secret} end").text
    stored = text.partition('id="redacted"')[2]
    assert secret not in stored
    assert " end" in stored


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ('never = ["prompt"]\nretention_days = 90\n', "every prompt, no file for 90 days"),
        ('exclude = ["*.pem"]\nsharing = "none"\n', "*.pem kept from other projects and models"),
        ("exclude = 1\n", "nothing: {root}/.observer.toml cannot be used"),
    ],
)
def test_privacy_shows_what_is_recorded_of_a_project(
    browser: Browser, tmp_path: Path, policy: str, said: str
) -> None:
    root = tmp_path / "my-api"
    (root / ".observer.toml").write_text(policy)
    page = " ".join(re.sub(r"<[^>]*>", "", browser.get("/privacy").text).split())
    assert said.format(root=root) in page
    assert "other all that your clients report" in page


def test_all_is_exported_line_by_line(
    browser: Browser, memory: Memory, stranger: Browser, home: Home
) -> None:
    home.root.mkdir()
    answer = browser.get("/export")
    kept_as = answer.headers["content-disposition"]
    assert re.fullmatch(r'attachment; filename="observer-[\d-]+\.jsonl"', kept_as)
    assert answer.content.splitlines() == [exported_line(one) for one in memory.export()]
    assert stranger.get("/export").status_code == 401


def test_what_is_vendored_is_what_was_published_and_a_first_load_is_small(browser: Browser) -> None:
    static = FOLDER / "static"
    rows = (static / "SHA256SUMS").read_text().splitlines()
    for digest, name in (row.split() for row in rows):
        assert hashlib.sha256((static / name).read_bytes()).hexdigest() == digest
    assert {row.split()[1] for row in rows} == {one.name for one in static.glob("htmx*.js")}

    text = browser.get("/search?q=jwt").text
    loaded = [Path(one).name for one in Seen(text).fetched if one.startswith("/static/")]
    sizes = [(FOLDER / "static" / name).stat().st_size for name in loaded]
    assert sum(sizes) + len(text) < 150_000
    templates = {one.name for one in (FOLDER / "templates").iterdir()}
    text = Path(pages.__file__).read_text(encoding="utf-8")
    assert set(re.findall(r'WebPage\("(\w+\.html)"', text)) <= templates


def test_looking_is_no_change(memory: Memory, store: SqliteStore) -> None:
    """Else pages that are open would load each other again and again."""
    before = memory.written()
    with store.read(), store.read():  # two connections at once, as of two pages
        assert memory.written() == before
    with store.write() as writer:
        writer.put_items([an_item(30, "Something new")])
    after = memory.written()
    assert after > before
    with store.write() as writer:  # as a purge does: no change is newer than before
        writer.delete_items([ITEMS[0].id])
    assert memory.written() not in {before, after}
