"""The contract of the core tools: names, parameters, limits, fields and errors as documented."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import BadInput, NotFound, ObserverError
from observer.core.model import Item, item_id
from observer.memory.api import Memory
from observer.search.context import PackEntry
from observer.search.rank import Hit, HitSignals
from observer.tools import render, rows
from observer.tools.registry import tools_of
from observer.tools.tool import Tool
from tests.tools.conftest import defaults

OBSERVATION = (
    "id type title subtitle text narrative facts concepts files_read files_modified project "
    "created_at created_at_epoch is_stale discovery_tokens"
)
PARAMETERS = {
    "search": {
        "query": None, "project": None, "limit": 10, "type": None, "files": None, "session": None,
        "branch": None, "since": None, "until": None, "failed": None, "by": None, "mine": None,
        "team": None, "scope": "home",
    },
    "timeline": {"anchor_id": None, "depth_before": 5, "depth_after": 5},
    "get_observations": {"ids": None},
    "get_context": {"project": None, "token_budget": 2000, "query": None},
    "memory": {
        "action": None, "content": None, "key": None, "fact_type": None, "category": None,
        "confidence": 0.5, "tags": None, "supersedes": None, "scope": "project", "query": None,
        "limit": 10, "id": None, "session": None, "branch": None, "since": None, "until": None,
    },
}  # fmt: skip
JSON_TYPES = {str: "string", bool: "boolean", int: "integer", list: "array", tuple: "array"}
Tools = dict[str, Tool]


@pytest.fixture
def folder() -> list[str]:
    """The folder that the client works in; a test may change it."""
    return [""]


@pytest.fixture
def tools(memory: Memory, folder: list[str]) -> Tools:
    return tools_of(("core",), memory, lambda: folder[0])


def ask(tools: Tools, tool: str, **arguments: Any) -> Any:
    """Call a tool and return its result as JSON, once it has the fields that the tool announces."""
    result = msgspec.to_builtins(tools[tool].call(arguments).result)
    fields = tools[tool].output_schema["properties"]
    assert all(fields[name] == {"type": JSON_TYPES[type(result[name])]} for name in result)
    return result


@pytest.mark.parametrize("tool", PARAMETERS)
def test_parameters_and_defaults_are_the_documented_ones(tools: Tools, tool: str) -> None:
    assert defaults(tools[tool]) == PARAMETERS[tool]


def test_a_list_says_in_json_what_it_says_in_text(tools: Tools) -> None:
    answer = tools["search"].call({"query": "jwt", "project": "my-api"})
    found = answer.result
    for row in (*found["observations"], *found["summaries"]):
        assert f"#{row['id']} {row['type']} · {row['title']} · {row['project']}" in answer.text
        assert row.get("text", "") in answer.text
        assert row["created_at"][:10] in answer.text
        assert None not in row.values()
    scores = [row["score"] for row in found["observations"]]
    assert scores == sorted(scores, reverse=True)
    summary = found["summaries"][0]["id"]
    (whole,) = ask(tools, "get_observations", ids=[summary])["observations"]
    assert whole["answers"] == {"request": "add JWT login", "completed": "Modified auth.ts"}


def test_the_tools_cost_few_tokens(tools: Tools) -> None:
    """1,400 tokens of two real tokenizers are about 5,900 characters of such JSON."""
    offered = [
        {"name": one.name, "description": one.description, "inputSchema": one.input_schema}
        for one in tools.values()
    ]
    assert len(msgspec.json.encode(offered)) < 5_900


def test_an_item_has_the_documented_fields_and_joined_lists(tools: Tools) -> None:
    (row,) = ask(tools, "get_observations", ids=[item_id(12)])["observations"]
    assert set(row) <= set(OBSERVATION.split())
    assert row["facts"] == "verify(): +45 -3\nnew import jose"
    assert row["concepts"] == "security, middleware"
    assert row["files_modified"] == "src/auth.ts, src/routes.ts"
    assert "files_read" not in row
    assert (row["is_stale"], row["discovery_tokens"]) == (0, 28)
    assert row["created_at"].endswith("Z")
    assert row["created_at_epoch"] == 1_742_050_000_000 - 88 * 60_000


def test_search_spans_projects_unless_one_is_named(tools: Tools) -> None:
    everywhere = ask(tools, "search", query="jwt")["observations"]
    here = ask(tools, "search", query="jwt", project="my-api")["observations"]
    assert {row["project"] for row in everywhere} == {"my-api", "other"}
    assert {row["project"] for row in here} == {"my-api"}
    assert "notice" in ask(tools, "search", query='jwt AND "')  # which was understood otherwise


@given(query=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_any_text_can_be_searched(query: str, tools: Tools) -> None:
    assert isinstance(ask(tools, "search", query=query)["observations"], list)


def test_a_timeline_is_relative_to_its_anchor_and_stays_in_its_project(tools: Tools) -> None:
    arguments = {"anchor_id": item_id(12), "depth_before": 2, "depth_after": 1}
    entries = ask(tools, "timeline", **arguments)["timeline"]
    assert [entry["position"] for entry in entries] == [-2, -1, 0, 1]
    assert entries[2]["id"] == item_id(12)
    said = ask(tools, "timeline", anchor=item_id(12), depth_after=50)  # another name of it
    assert {entry["project"] for entry in said["timeline"]} == {"my-api"}
    for anchor in (9999, 2**53 - 1):
        with pytest.raises(NotFound, match=f"no item '{anchor}'"):
            ask(tools, "timeline", anchor_id=anchor)


def test_an_id_may_be_written_as_it_is_shown_and_is_answered_once(
    tools: Tools, memory: Memory
) -> None:
    for handle in ("#{}", "{}", " {} "):
        written = handle.format(item_id(12))
        (row,) = ask(tools, "get_observations", ids=[written])["observations"]
        assert row["id"] == item_id(12)
        anchored = ask(tools, "timeline", anchor_id=written, depth_before=0, depth_after=0)
        assert [entry["id"] for entry in anchored["timeline"]] == [item_id(12)]
    (item,) = memory.observations([item_id(12)]).items
    ids = [item_id(14), 9999, item_id(12), f"#{item_id(12)}", 9999, item.uuid[:32], -(2**53 - 1)]
    answer = tools["get_observations"].call({"ids": ids})
    assert [row["id"] for row in answer.result["observations"]] == [item_id(14), item_id(12)]
    assert answer.result["missing_ids"] == [9999, -(2**53 - 1)]
    assert answer.text.endswith("\n\nno such id: 9999, -9007199254740991")


def test_what_is_out_of_range_is_refused(tools: Tools) -> None:
    for tool, name, others, values in (
        ("search", "limit", {"query": "jwt"}, [0, 51, -1, "many"]),
        ("timeline", "depth_before", {"anchor_id": item_id(12)}, [-1, 51]),
        ("get_observations", "ids", {}, [[], list(range(51))]),
    ):
        for value in values:
            with pytest.raises(BadInput, match=name):
                ask(tools, tool, **{**others, name: value})


@pytest.mark.parametrize("budget", [250, 300, 400, 700, 2000])
@pytest.mark.parametrize("query", ["", "jwt"])
def test_a_budget_covers_everything_returned(tools: Tools, budget: int, query: str) -> None:
    arguments = {"project": "my-api", "token_budget": budget, "query": query}
    answer = tools["get_context"].call(arguments)
    used, fields = answer.result["tokensUsed"], list(answer.result)[:5]
    assert fields == ["project", "items", "summaries", "tokenBudget", "tokensUsed"]
    shown = msgspec.json.encode(answer.result).decode()
    assert max(render.tokens(shown), render.tokens(answer.text)) <= used <= budget
    assert query or budget > 300 or answer.result["left_out"] > 0


@given(title=st.text(max_size=300), content=st.text(max_size=1600), ms=st.integers(0, 9**14))
def test_the_price_of_an_entry_covers_both_of_its_forms(title: str, content: str, ms: int) -> None:
    item = Item(id=ms, uuid="u", kind="note", type="x", title=title, created_ms=ms, stale_ms=1)
    signals = HitSignals(fts5=1 / 3, recency=1e-9)
    entry = PackEntry(hit=Hit(item=item, score=2 / 3, signals=signals), content=content)
    shown = msgspec.json.encode(rows.context_line(entry)).decode()
    price = rows.context_characters(entry)
    assert max(len(shown), len(render.pack_entry(entry))) <= price


def test_a_folder_of_which_nothing_is_known_is_no_error(
    tools: Tools, folder: list[str], tmp_path: Any
) -> None:
    folder[0] = str(tmp_path / "new")
    answer = tools["get_context"].call({})
    assert answer.text == f"nothing recorded yet in {folder[0]}"
    assert answer.result["notice"] == answer.text
    assert answer.result["items"] == []
    shown = msgspec.json.encode(answer.result).decode()
    assert render.tokens(shown) <= answer.result["tokensUsed"]


def test_a_client_that_tells_no_folder_or_no_name_is_shown_the_names(tools: Tools) -> None:
    with pytest.raises(NotFound, match="no project") as refused:
        ask(tools, "get_context")
    assert "my-api" in refused.value.hint
    with pytest.raises(NotFound) as refused:
        ask(tools, "search", query="jwt", project="myapi")
    assert refused.value.hint.startswith("name one, such as my-api;")


def test_a_dot_or_nothing_is_the_project_of_the_folder(
    tools: Tools, folder: list[str], tmp_path: Any
) -> None:
    folder[0] = str(tmp_path / "my-api" / "src")
    assert ask(tools, "get_context")["project"] == "my-api"
    assert ask(tools, "get_context", project=".")["project"] == "my-api"
    found = ask(tools, "search", query="jwt", project=".")["observations"]
    assert {row["project"] for row in found} == {"my-api"}


def test_a_folder_that_nobody_knows_recalls_nothing_of_other_projects(
    tools: Tools, folder: list[str], tmp_path: Any
) -> None:
    def recalled() -> list[str]:
        found = ask(tools, "memory", action="recall", query="JWT secret")["memories"]
        return [note["content"] for note in found]

    folder[0] = str(tmp_path / "my-api")
    ask(tools, "memory", action="remember", content="JWT in a cookie")
    ask(tools, "memory", action="remember", content="JWT for the team", scope="team")
    assert len(recalled()) > 1
    folder[0] = str(tmp_path / "nowhere")
    assert recalled() == ["JWT for the team"]
    of_all = ask(tools, "memory", action="recall", query="JWT", scope="all")["memories"]
    assert {note.get("project") for note in of_all} == {"my-api", None}


def test_what_is_not_given_of_a_keyed_note_stays(tools: Tools, memory: Memory) -> None:
    given = {"fact_type": "constraint", "category": "db", "confidence": 0.9, "tags": ["sql"]}
    first = ask(tools, "memory", action="remember", content="Postgres 15", key="db", **given)
    again = ask(tools, "memory", action="remember", content="Postgres 16", key="db")
    assert (again["id"], again["updated"]) == (first["id"], True)
    note = memory.notes.get(first["id"])
    assert (note.title, note.narrative, note.type) == ("Postgres 16", "Postgres 16", "constraint")
    assert (note.category, note.confidence, note.tags) == ("db", 0.9, ("sql",))


def test_what_is_given_of_a_keyed_note_replaces(tools: Tools, memory: Memory) -> None:
    old = ask(tools, "memory", action="remember", content="MySQL")["id"]
    remember = {"action": "remember", "key": "db", "supersedes": [old]}
    first = ask(tools, "memory", content="Postgres 15", fact_type="decision", **remember)
    given = {"fact_type": "preference", "confidence": 0.5, "tags": ["sql"]}
    ask(tools, "memory", action="remember", content="Postgres 16", key="db", **given)
    note = memory.notes.get(first["id"])
    assert (note.type, note.layer, note.tags) == ("preference", "state", ("sql",))
    assert [(link.kind, link.target) for link in note.links] == [("supersedes", old)]


@pytest.mark.parametrize("as_type", [str, int])
def test_a_note_is_forgotten_once(tools: Tools, as_type: Any) -> None:
    kept = ask(tools, "memory", action="remember", content="to be forgotten")["id"]
    asked = {"query": "forgotten", "fact_type": "general"}
    (note,) = ask(tools, "memory", action="recall", **asked)["memories"]
    assert (note["fact_type"], note["confidence"], note["scope"]) == ("general", 0.5, "project")
    forget = {"action": "forget", "id": as_type(kept)}
    assert tools["memory"].call(forget).text == (
        f"Memory {kept} deleted.\nFinal at 2025-03-16T14:46:40Z; until then its owner brings it"
        f" back with: observer undo {kept}"
    )
    assert tools["memory"].call(forget).text == f"Memory {kept} not found."
    assert ask(tools, "memory", action="recall", query="forgotten")["memories"] == []


KEEP, FORGET = {"action": "remember", "content": "x"}, {"action": "forget"}
WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"action": "store"}, "Invalid action: 'store'\nhint: must be remember, recall or forget"),
    ({**KEEP, "content": " \n"}, "Missing content: remember requires content"),
    ({"action": "recall"}, "Missing query: recall requires query"),
    (FORGET, "Missing id: forget requires id"),
    ({**FORGET, "id": "0"}, "Invalid id: '0'"),
    ({**FORGET, "id": "4 2"}, "Invalid id: '4 2'"),
    ({**FORGET, "id": "-1"}, "Invalid id: '-1'"),
    ({**FORGET, "id": "9" * 5000}, "Invalid id: '999"),
    ({**FORGET, "id": "²"}, "Invalid id: '²'"),
    ({**KEEP, "confidence": 1.1}, "Invalid confidence: must be 0.0 to 1.0"),
    ({**KEEP, "confidence": float("nan")}, "'confidence' is a number out of range"),
    ({**KEEP, "scope": "world"}, "Invalid scope: 'world'\nhint: must be personal, project or team"),
    ({**KEEP, "fact_type": "rule"}, "Invalid fact_type: 'rule'"),
    ({"action": "recall", "query": "x", "fact_type": "rule"}, "Invalid fact_type: 'rule'"),
)


def test_errors_are_worded_as_documented(tools: Tools) -> None:
    for arguments, text in WRONG:
        with pytest.raises(BadInput) as refused:
            tools["memory"].call(arguments)
        assert render.error(refused.value).startswith(text)


def test_a_secret_is_refused_by_class_and_not_repeated(tools: Tools) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    with pytest.raises(ObserverError) as refused:
        ask(tools, "memory", action="remember", content=f"the token is {secret}")
    assert refused.value.code == "secret-refused"
    assert "github" in refused.value.message.lower()
    assert secret not in str(refused.value)
    assert "on purpose" in render.error(refused.value)


def test_a_note_says_what_is_like_it_and_what_speaks_against_it(tools: Tools) -> None:
    said, keep = "All tests need a running Redis on 6379, see [[CI]]", {"action": "remember"}
    first = tools["memory"].call({**keep, "content": said, "tags": ["#CI"]})
    assert first.result["dangling"] == ["CI"]
    assert "No note is called so yet: CI" in first.text
    again = {"content": f"The {said}", "supersedes": [first.result["id"]]}
    second = tools["memory"].call({**keep, **again}).result
    assert "similar" not in second  # it says itself what became of it
    (old,) = ask(tools, "memory", action="recall", query="redis", tags=["ci"])["memories"]
    assert (old["tags"], len(old["validity"])) == (["ci"], 1)
    assert old["validity"][0].startswith(f"superseded by #{second['id']} of ")
