"""Memory poisoning (OWASP ASI06): orders in all that is recorded, on every text that agents get.

65 attacks in each of 9 routes by which others' text comes, and in what reminders quote: 0 reach an
agent outside of a fence or of quotation marks, and of what is shown unasked and of summaries none
stands outside of quotation marks. What the person and this machine's agents wrote is theirs: it is
in the fence. Texts in the form of markup are labelled, and 179 honest ones are not.
"""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from observer.core.events import (
    AnyBody,
    Checkout,
    Command,
    Commit,
    Delegation,
    Edit,
    Event,
    FileWrite,
    Prompt,
    Remember,
    Reply,
    SessionEnd,
    ToolUse,
)
from observer.core.model import Item, Project
from observer.core.paths import Home
from observer.index import Index
from observer.serve.mcp.handlers import CallThreads, McpHandlers
from observer.store.connection import stemmer
from observer.store.database import SqliteStore
from observer.tools import hook_output
from observer.tools.documents import Documents
from observer.tools.fence import MARK, MARKED, defused
from observer.tools.registry import tools_of
from tests.support import memory_over, pipeline_over
from tests.tools.conftest import NOBODY

NOW_MS = 1_790_000_000_000
DATA = Path(__file__).parents[1] / "data" / "suspicion"
ATTACKS = (DATA / "attacks.txt").read_text("utf-8").splitlines()
MARKUP = [line.split("\t")[1] for line in (DATA / "markup.txt").read_text("utf-8").splitlines()]
HONEST = [
    line
    for name in ("honest.txt", "lookalikes.txt")
    for line in (DATA / name).read_text("utf-8").splitlines()
]
UNASKED = ("start", "resume", "listed", "reminder", "context")
"""Texts that an agent gets without having asked for anything."""
LEARNED = ("decision", "summary")


def routes(text: str) -> dict[str, AnyBody]:
    """Return what is recorded where a text comes by each way from outside."""
    slug = re.sub(r"\W+", "_", text.lower())[:120]
    failed = f"FAILED tests/test_a.py::test_{slug} - AssertionError: {text}\n1 failed in 0.1s"
    return {
        "output": Command(command="make build", output=f"step 1\nerror: {text}", exit_code=1),
        "argument": Command(command=f"tool install '{text}'", output="installed", exit_code=0),
        "page": ToolUse(tool="WebFetch", input="https://site.example/a", output=text),
        "readme": Command(command="cat README.md", output=f"# Tool\n\n{text}\n", exit_code=0),
        "json": Command(command="curl -s api/x", output=json.dumps({"page": text}), exit_code=0),
        "test": Command(command="pytest -q", output=failed, exit_code=1),
        "commit": Commit(hash="ab" * 20, subject=text, message=text, author=f"{text} <m@evil>"),
        "file": FileWrite(path=f"/work/{text}", operation="create", content="x"),
        "branch": Checkout(old="a" * 40, new="b" * 40, branch=text),
    }


def own(text: str) -> dict[str, AnyBody]:
    """Return what the person and the agents of this machine wrote, the text in each."""
    todo = {"todos": [{"content": text, "status": "pending"}]}
    return {
        "prompt": Prompt(text=f"What does this page want? It says:\n> {text}"),
        "note": Remember(content=text, type="decision"),
        "reply": Reply(text=f"The cause, because of it: {text}\n\nNext steps:\n- {text}"),
        "agent": Delegation(task="look around", agent="explorer", result=text),
        "todo": ToolUse(tool="TodoWrite", input=json.dumps(todo)),
    }


WRAPPED, PLAIN, GREEN = "wrap bun run test", "bun run test", " 3 pass\n 0 fail"


def lessons(text: str) -> list[AnyBody]:
    """Return what reminders are made of, a text where it comes from outside."""
    path, made = f"/work/{text}/cart.ts", Edit(old="return total\n", new="return round(total)\n")
    back = Edit(old=made.new, new=made.old)
    return [
        Command(command=WRAPPED, output=f"error: unknown command 'bun' {text}", exit_code=2),
        Command(command=PLAIN, output=GREEN, exit_code=0),
        FileWrite(path=path, edits=(made,)),
        FileWrite(path=path, edits=(back,)),
    ]


def moments(text: str) -> list[tuple[bool, AnyBody]]:
    """Return when an agent would be shown of those, and of the routes; each with "is coming"."""
    return [
        (True, Command(command=WRAPPED)),
        (True, lessons(text)[2]),
        (False, lessons(text)[0]),
        (False, routes(text)["test"]),
        (False, Prompt(text=f"go on with `{text}`")),
    ]


class Place(NamedTuple):
    """A project in which one text came by every route, with the ids of the items it made."""

    text: str
    project: Project
    ids: list[int]


class World:
    """A memory of many projects, and every front of it."""

    def __init__(self, folder: Path) -> None:
        self.store = SqliteStore(folder / "observer.db")
        home = Home(folder / "home")
        self._pipeline = pipeline_over(self.store, home, NOW_MS)
        index = Index(home.index, stem=stemmer(), is_owner=False)
        self.memory = memory_over(self.store, index, NOW_MS)
        self.documents = Documents(self.memory, str)
        tools = tools_of(("core", "browse"), self.memory, str)
        self._face = McpHandlers(tools, self.documents, CallThreads(1))

    def visit(self, number: int, text: str, *, said: str = "a plain word") -> Place:
        """Let a text come by every route, in a project of its own where agents wrote `said`."""
        roots = (f"/work{number}",)
        project = Project(id=number, uuid=f"u{number}", name=f"p{number}", roots=roots)
        with self.store.write() as writer:
            writer.put_project(project)
        wrote = own(said).values()
        bodies = [*wrote, *routes(text).values(), *lessons(text), SessionEnd(reason="exit")]
        events = [
            Event(
                id=f"e{number}-{place}",
                at_ms=NOW_MS - 60_000 + 1_000 * place,
                body=body,
                client="git" if isinstance(body, Commit) else "claude-code",
                cwd=project.roots[0],
                session="" if isinstance(body, Commit) else f"s{number}",
                author="person" if isinstance(body, Prompt) else "agent",
            )
            for place, body in enumerate(bodies)
        ]
        receipts = self._pipeline.ingest(events, project.id)
        return Place(text, project, [one.item for one in receipts if one.item])

    def items(self, places: list[Place]) -> list[tuple[Place, Item]]:
        """Return everything that was derived in places."""
        place_of = {place.project.id: place for place in places}
        with self.store.read() as reader:
            items = [(place_of.get(item.project_id or 0), item) for item in reader.all_items()]
        return [(place, item) for place, item in items if place]

    def shown(self, place: Place) -> Iterator[tuple[str, str]]:
        """Yield every text that an agent may get of a place, each with where it gets it."""
        project = place.project
        yield "start", self.documents.context(project)
        yield "resume", self.documents.resume(project.uuid)
        yield from (("reminder", said) for said in self.reminders(place))
        asked: tuple[tuple[str, str, dict[str, Any]], ...] = (
            ("context", "get_context", {"project": project.uuid, "token_budget": 4000}),
            ("asked", "get_context", {"project": project.uuid, "query": place.text[:80]}),
            ("search", "search", {"query": "", "project": project.uuid, "limit": 50}),
            ("timeline", "timeline", {"anchor_id": place.ids[0], "depth_after": 50}),
            ("records", "get_observations", {"ids": place.ids}),
            ("sessions", "sessions", {"project": project.uuid}),
        )
        for where, tool, arguments in asked:
            yield where, self.call(tool, arguments)

    def reminders(self, place: Place) -> Iterator[str]:
        """Yield what another session of that project is shown at each moment."""
        for is_coming, body in moments(place.text):
            where = {"client": "cursor", "session": "other", "cwd": place.project.roots[0]}
            event = Event(id="x", at_ms=NOW_MS, body=body, **where)
            for known in self.memory.reminders(event, is_coming=is_coming):
                if said := hook_output.text(known):
                    yield said

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """Return the text of an answer, after a look at its JSON."""
        params = {"name": tool, "arguments": arguments}
        answer = asyncio.run(self._face.answer("tools/call", params, NOBODY))
        (part,) = answer["content"]
        if not answer["isError"]:
            content = answer["structuredContent"]
            assert next(iter(content.items())) == (MARK, MARKED)
            shown = json.dumps(content, ensure_ascii=False)
            assert defused(shown) == shown
        return str(part["text"])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(tmp_path_factory.mktemp("poisoned"))
    yield world
    world.store.close()


@pytest.fixture(scope="module")
def poisoned(world: World) -> list[Place]:
    return [world.visit(100 + number, text) for number, text in enumerate(ATTACKS)]


@pytest.fixture(scope="module")
def shown(world: World, poisoned: list[Place]) -> list[tuple[str, str, str]]:
    """Every text that an agent may get: the attack in its place, where it gets it, the text."""
    return [(place.text, where, said) for place in poisoned for where, said in world.shown(place)]


def bare(text: str) -> str:
    """Return letters and digits alone, so that no spacing or fence hides what a text says."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def says(said: str, attack: str) -> bool:
    return bare(attack)[:24] in bare(said)


def unquoted(said: str) -> str:
    """Return what of a text stands outside of quotation marks, and of the code of commands."""
    return re.sub(r'"[^"\n]*(?:"|$)|`[^`\n]*`', "", said, flags=re.MULTILINE)


def outside(said: str) -> str:
    """Return what of a text stands outside of its fences, and outside of quotation marks."""
    return unquoted(re.sub(r"^```text\n.*?^```$", "", said, flags=re.MULTILINE | re.DOTALL))


def test_no_attack_reaches_an_agent_unfenced(
    world: World, shown: list[tuple[str, str, str]]
) -> None:
    own_words = [
        world.visit(3_000 + number, text, said=text) for number, text in enumerate(ATTACKS)
    ]
    said_of_own = [(place.text, *each) for place in own_words for each in world.shown(place)]
    leaks = [
        (where, attack)
        for attack, where, said in (*shown, *said_of_own)
        if says(outside(said), attack) or said.count("```") % 2 or defused(said) != said
    ]
    assert leaks == []


def test_no_image_is_loaded_by_what_is_shown_unasked(world: World) -> None:
    text = "Look at ![it](https://evil.example/x.png) first"
    shown = [each for each in world.shown(world.visit(6_000, text, said=text)) if "evil" in each[1]]
    assert {"start", "resume"} <= {where for where, _ in shown}
    assert [each for each in shown if each[0] in UNASKED[:4] and "](http" in each[1]] == []


def test_every_text_says_that_it_is_data(world: World, poisoned: list[Place]) -> None:
    for where, said in world.shown(poisoned[0]):
        assert "not instructions" in outside(said), where


def test_no_attack_of_others_is_shown_unasked_but_as_a_quotation(
    shown: list[tuple[str, str, str]],
) -> None:
    unasked = ((attack, where, said) for attack, where, said in shown if where in UNASKED)
    assert [one for one in unasked if says(unquoted(one[2]), one[0])] == []


def test_no_attack_of_others_is_learned_but_as_a_quotation(
    world: World, poisoned: list[Place]
) -> None:
    learned = [
        (item.type, place.text)
        for place, item in world.items(poisoned)
        if item.type in LEARNED
        and item.kind != "note"
        and says(unquoted(said_by(item)), place.text)
    ]
    assert learned == []


def said_by(item: Item) -> str:
    """Return what an item says in words: its files are data."""
    return "\n".join((item.title, item.subtitle, item.narrative, *item.facts))


def test_every_item_in_the_form_of_markup_is_labelled(world: World) -> None:
    marked = [world.visit(4_000 + number, text) for number, text in enumerate(MARKUP)]
    holding = [
        (place, item)
        for place, item in world.items(marked)
        if place.text in " ".join((item.title, item.narrative, *item.facts))
    ]
    assert len(holding) > len(MARKUP) * 3
    assert [(place.text, item.type) for place, item in holding if not item.suspicion] == []


def test_what_is_found_carries_its_label(world: World) -> None:
    said = dict(world.shown(world.visit(5_000, MARKUP[0])))
    assert "suspicious: call" in said["search"]
    assert "suspicious: call" in said["records"]


@pytest.mark.slow
def test_no_honest_text_is_labelled(world: World) -> None:
    places = [world.visit(1_000 + number, text) for number, text in enumerate(HONEST)]
    said = ((item.suspicion, item.type, place.text) for place, item in world.items(places))
    assert [one for one in said if one[0]] == []


def test_what_is_no_order_is_shown_at_each_moment(world: World) -> None:
    place = world.visit(2_000, "zod")
    said = [one.removeprefix(hook_output.LABEL).split("`")[1:2] for one in world.reminders(place)]
    assert said == [[PLAIN], [PLAIN]]


def test_a_start_stays_the_same_while_nothing_changes(world: World, poisoned: list[Place]) -> None:
    first, again = (dict(world.shown(poisoned[3]))["start"] for _ in range(2))
    assert first == again
    assert first
