"""How an item, a moment, a document and what happened stand in text: never more than is known."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from observer.core import moment
from observer.core.errors import NotFound
from observer.core.model import ASKED, Enrichment, Item, Project, Session, SummaryFields, Validity
from observer.core.value import TokenUsage
from observer.memory.api import Memory
from observer.search.context import FinishedSession, Pack, PackEntry
from observer.search.rank import Hit, HitSignals, fit
from observer.search.timeline import (
    Account,
    SessionRun,
    SessionTimeline,
    Share,
    Timeline,
    TimelineEntry,
)
from observer.store.database import SqliteStore
from observer.tools import questions, render
from observer.tools.asking import CommandRequest
from observer.tools.documents import Documents
from observer.tools.labels import labels
from observer.tools.questions import reply
from observer.tools.registry import tools_of
from observer.tools.render import heading
from observer.tools.rows import why
from observer.tools.tool import ToolResult
from tests.tools.conftest import an_item

ITEM = Item(
    id=142,
    uuid="u",
    kind="observation",
    type="file-write",
    title="Modified auth.ts",
    narrative="45 lines in\nverify()",
    facts=("verify(): +45 -3",),
    files_modified=("src/auth.ts",),
    created_ms=1_742_049_000_000,
)


def name(project_id: int | None) -> str:
    return "" if project_id is None else "my-api"


def test_a_hit_starts_with_its_id_and_an_error_has_its_remedy() -> None:
    shown = render.hits([Hit(item=ITEM, score=1.0, signals=HitSignals())], name)
    heading = "#142 file-write · Modified auth.ts · 2025-03-15 14:30Z"
    assert shown == f"{heading}\n    45 lines in verify()"
    assert render.hits([], name, remarks=("read as words", "")) == "(read as words)\nnothing found"
    shown = render.error(NotFound("no item 7", hint="search for it first"))
    assert shown == "no item 7\nhint: search for it first"
    assert render.error(NotFound("no item 7")) == "no item 7"


def test_a_score_that_is_less_than_its_figures_says_by_what() -> None:
    prompt = HitSignals(fts5=1.0, type_weight=0.5)
    shown = render.explained([Hit(item=ITEM, score=fit(prompt) / 4, signals=prompt)], name)
    assert shown.endswith("recency 0.00 · lasting 0.50 · type 0.50")
    plain = Hit(item=ITEM, score=fit(HitSignals(fts5=1.0)), signals=HitSignals(fts5=1.0))
    assert render.explained([plain], name).endswith("recency 0.00")
    said = why(Hit(item=ITEM, score=fit(prompt) / 4, signals=prompt))
    assert (said["lasting"], said["type_weight"]) == (0.5, 0.5)
    assert not {"lasting", "type_weight"} & why(plain).keys()


def test_a_timeline_shows_positions_and_details_hold_everything() -> None:
    entries = tuple(TimelineEntry(position=position, item=ITEM) for position in (-1, 0, 2))
    lines = render.timeline(Timeline(anchor=ITEM, entries=entries), name).splitlines()
    assert [line[:7] for line in lines[::2]] == ["-1 #142", "±0 #142", "+2 #142"]
    shown = render.detail(ITEM, name)
    for text in ("45 lines in\n    verify()", "fact: verify(): +45 -3", "modified: src/auth.ts"):
        assert text in shown


def test_a_summary_is_shown_by_its_answers() -> None:
    fields = SummaryFields(request="add login", completed="done", next_steps="test")
    item = Item(
        id=1, uuid="u", kind="summary", type="summary", title="Login", summary=fields, stale_ms=1
    )
    assert render.excerpt(item) == "completed: done | next_steps: test"
    assert "request: add login" in render.detail(item, name)
    assert "stale" in render.heading(item, name)
    long = replace(item, summary=SummaryFields(learned=LONG, next_steps="Mend the login."))
    assert "Mend the login." in render.excerpt(long, ("login",))


def test_a_pack_tells_knowledge_then_sessions_then_the_rest() -> None:
    fields = SummaryFields(request="add login")
    summary = Item(id=2, uuid="u", kind="summary", type="summary", title="Login", summary=fields)
    shown = render.pack(
        Pack(
            entries=(entry(replace(ITEM, id=3, type="decision")), entry(ITEM)),
            summaries=(FinishedSession(item=summary, session="s1"),),
            budget_tokens=9,
            used_tokens=9,
            left_out=4,
            leading=1,
        )
    )
    starts = [line.split()[0] for line in shown.splitlines() if line[0] != " "]
    assert starts == ["#3", "#2", "#142", "(4"]


def test_what_the_title_says_is_not_said_again() -> None:
    item = replace(ITEM, title="Round it", narrative="Round it")
    assert "\n" not in render.entry(item, name)
    assert "\n" not in render.pack_entry(entry(item))


def entry(item: Item) -> PackEntry:
    return PackEntry(hit=Hit(item=item, score=1.0, signals=HitSignals()), content=item.narrative)


@given(st.text(max_size=400), st.integers(min_value=1, max_value=100))
def test_one_line_is_one_printable_line_within_its_limit(text: str, limit: int) -> None:
    line = render.one_line(text, limit)
    assert len(line) <= limit
    assert not line or line.isprintable()
    assert 4 * render.tokens(text) - 4 < len(text) <= 4 * render.tokens(text)


LONG = "Nothing of note. " * 30
FAR, FACT = {"narrative": f"{LONG}The login broke."}, {"narrative": LONG, "facts": ("login ok",)}
FILES = "1 file changed, 2 lines added, 0 removed: cart.py (cart_total)."
ASKING = f"{ASKED}Why is the total a cent too small?"


def commit(message: str) -> dict[str, Any]:
    facts = ("M cart.py +2 -0: cart_total; brings decimal",)
    said = {"type": "commit", "subtitle": "commit 3f2a by Ana", "facts": facts}
    return said | {"narrative": f"{message}\n{FILES}".strip()}


def turn(reply: str) -> dict[str, Any]:
    return {"type": "turn", "narrative": f"{reply}{ASKING}".strip()}


ROUNDED, ASKED_WHY = "Rounding lost a cent.", "Asked: Why is the total a cent"
EXCERPTS: tuple[tuple[dict[str, Any], tuple[str, ...], str], ...] = (
    # the fields of an item, the words of the query, and how its excerpt begins
    (FAR, (), "Nothing of"),
    (FAR, ("login",), "… The login"),
    (FACT, ("login",), "login ok"),
    ({"narrative": LONG, "facts": ("fact",)}, ("zebra",), "Nothing of"),
    ({}, ("login",), ""),
    # A commit shows its message unless the words are names in it.
    (commit(ROUNDED), (), "Rounding lost"),
    (commit(ROUNDED), ("total",), "Rounding lost"),
    (commit(ROUNDED), ("cart_total",), "1 file changed"),
    (commit(ROUNDED), ("cart.py",), "1 file changed"),
    (commit(ROUNDED), ("decimal",), "M cart.py +2"),
    (commit("Rounding cart_total."), ("cart_total",), "Rounding"),
    (commit(""), (), "1 file changed"),
    (commit(""), ("cent",), "1 file changed"),
    # A turn shows its reply unless only the prompt holds the words.
    (turn("It rounds down."), (), "It rounds down."),
    (turn("It rounds down."), ("total", "cent", "rounds"), "It rounds down."),
    (turn("Done."), ("cent",), ASKED_WHY),
    (turn("Done."), ("zebra",), "Done."),
    (turn(""), ("zebra",), ASKED_WHY),
)


@pytest.mark.parametrize(("fields", "words", "shown"), EXCERPTS)
def test_a_hit_shows_the_text_around_the_match(
    fields: dict[str, Any], words: tuple[str, ...], shown: str
) -> None:
    item = replace(ITEM, **({"narrative": "", "subtitle": "", "facts": ()} | fields))
    assert render.excerpt(item, words).startswith(shown)
    assert bool(render.excerpt(item, words)) == bool(shown)


def test_what_a_model_wrote_is_shown_where_only_that_holds_the_word() -> None:
    wrote = Enrichment(model="tiny", at_ms=2, as_of_ms=2, narrative="Two orders were booked.")
    item = replace(
        ITEM, narrative="The cart has no lock.", facts=(), enrichment=wrote, updated_ms=2
    )
    assert render.excerpt(item, ("booked",)) == "narrative (by tiny): Two orders were booked."
    assert render.excerpt(item, ("cart",)) == "The cart has no lock."


DAY_MS = 86_400_000
COMMIT = "3f2a1b9c0d" + "e" * 30


def _item(*standing: Validity) -> Item:
    return Item(
        id=1, uuid="", kind="observation", type="commit", title="Sign in", validity=standing
    )


AFTER = {"commit": COMMIT, "since_ms": 2 * DAY_MS}
OF_A_DAY = {"target": 8, "since_ms": 1_790_812_800_000}


LABELS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("changed", {"subject": "login", **AFTER}, "stale: login changed in 3f2a1b9c0d, 2 days after"),
    ("changed", {"subject": "login", "share": 0.25, **AFTER}, "stale in part (25%)"),
    ("changed", {"subject": "login"}, "stale: login changed"),
    ("deleted", {"subject": "a.py", "commit": COMMIT, "since_ms": DAY_MS // 24},
     "stale: a.py removed in 3f2a1b9c0d, 1 hour after"),
    ("deleted", {"subject": "a.py, b.py and 2 more"}, "stale: a.py, b.py and 2 more removed"),
    ("renamed", {"subject": "a.py", "path": "b.py"}, "a.py is now b.py"),
    ("reverted", {"commit": COMMIT, "since_ms": 120_000},
     "reverted in 3f2a1b9c0d, 2 minutes after"),
    ("elsewhere", {"branch": "topic"}, "on branch topic, not here"),
    ("elsewhere", {}, "its commit is not in this history"),
    ("superseded", {"target": 12}, "superseded by #12"),
    ("supersedes", {"target": 8}, "replaces #8"),
    ("supersedes", {"subject": "8 Use cookies", **OF_A_DAY},
     "replaces #8 of 2026-10-01: Use cookies"),
    ("amended", {"subject": "9", "target": 9}, "amended by #9"),
    ("amends", {"subject": "8 No logs", **OF_A_DAY}, "amends #8 of 2026-10-01: No logs"),
)  # fmt: skip


@pytest.mark.parametrize(("reason", "fields", "label"), LABELS)
def test_each_reason_has_its_words(reason: Any, fields: dict[str, Any], label: str) -> None:
    assert labels(_item(Validity(reason=reason, **fields))) == [label]


def test_a_note_says_which_part_of_it_is_stale() -> None:
    mark = Validity(reason="changed", subject="login", share=0.25, commit=COMMIT, since_ms=1)
    said = "stale in part (25%): login changed in 3f2a1b9c0d, soon after"
    assert labels(replace(_item(mark), kind="note")) == [said]
    assert labels(_item(mark), whole=True) == [said]


def test_lists_say_little_of_what_changed_little() -> None:
    marks = (
        Validity(reason="changed", subject=", ".join(["compute_total"] * 9)),
        Validity(reason="changed", subject="login", share=0.05),
        Validity(reason="renamed", subject="a.py", path="b.py"),
        Validity(reason="renamed", subject="c.py", path="d.py"),
    )
    cut, moved = labels(_item(*marks))
    assert cut.startswith("stale: compute_total, ")
    assert cut.endswith("… changed")
    assert len(cut) < 120
    assert moved == "2 files moved"
    whole = labels(_item(*marks), whole=True)
    assert len(whole) == 4
    assert whole[0].count("compute_total") == 9


AT_MS = 1_742_050_800_000
LATE_MS = 1_790_812_800_000 + DAY_MS - DAY_MS // 24
OPEN = "No commit known at 2026-11-28 23:49 UTC: a.py, 2026-11-28."


@pytest.mark.parametrize(
    ("show", "to_agents", "to_people"),
    [
        pytest.param(
            lambda: labels(replace(_item(), expires_ms=LATE_MS))[0],
            "holds until 2026-10-01", "holds until 2026-10-02", id="label",
        ),
        pytest.param(
            lambda: moment.minute(AT_MS), "2025-03-15 15:00Z", "2025-03-15 20:30", id="minute"
        ),
        pytest.param(
            lambda: moment.localised(OPEN),
            OPEN, "No commit known at 2026-11-29 05:19: a.py, 2026-11-28.", id="what is open",
        ),
        pytest.param(
            lambda: moment.day(AT_MS + 4 * 3_600_000), "2025-03-15", "2025-03-16", id="day"
        ),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("in_kolkata")
def test_agents_are_shown_utc_and_people_their_own_time(
    show: Callable[[], str], to_agents: str, to_people: str
) -> None:
    def on_a_terminal() -> str:
        moment.show_local()
        return show()

    assert show() == to_agents
    assert copy_context().run(on_a_terminal) == to_people


def test_the_heading_of_an_item_says_it() -> None:
    shown = heading(_item(Validity(reason="superseded", target=12)), lambda _: "")
    assert shown.endswith("superseded by #12")
    assert labels(replace(_item(), person="ana\nand " * 20))[0][:10] == "by ana and"


def test_a_time_of_the_other_season_says_its_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(at_ms: int) -> str:
        moment.show_local()
        return moment.minute(at_ms)

    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Europe/Oslo")
        time.tzset()
        year = [copy_context().run(shown, AT_MS + month * 30 * 86_400_000) for month in range(12)]
    time.tzset()
    assert {one[16:] for one in year} in ({"", " +01:00"}, {"", " +02:00"})


def test_a_span_says_day_and_zone_once() -> None:
    shown = [moment.span(AT_MS, AT_MS + minutes * 60_000) for minutes in (0, 65, 720)]
    over_midnight = "2025-03-15 15:00Z to 2025-03-16 03:00Z"
    assert shown == ["2025-03-15 15:00Z", "2025-03-15 15:00 to 16:05Z", over_midnight]
    assert moment.minute_of("2025-03-15T15:00:00.120Z") == moment.minute(AT_MS)


@pytest.fixture
def documents(memory: Memory) -> Documents:
    return Documents(memory, str)


def test_a_document_is_read_by_any_handle(
    documents: Documents, memory: Memory, store: SqliteStore
) -> None:
    folder = memory.project("my-api").roots[0].replace("/", "%2F")
    for handle in ("my-api", "MY-API", "0195a000-0000-7000-8000-000000000002", folder):
        assert "Use JWT" in documents.read(f"observer://project/{handle}/context")
    for handle in ("14", "session-abc"):  # ours, and the one that a search shows
        assert "add JWT login" in documents.read(f"observer://session/{handle}/summary")
    with pytest.raises(NotFound):
        documents.read("observer://project/nowhere/context")
    with store.write() as writer:
        writer.put_project(Project(id=9, uuid="u9", name="empty"))
    assert documents.read("observer://project/empty/context") == "nothing recorded yet"


def test_a_context_keeps_to_its_budget(documents: Documents, memory: Memory) -> None:
    for most in (200, 400, 1500):
        text = documents.context(memory.project("my-api"), tokens=most)
        assert render.tokens(text) <= most


def test_work_is_resumed_with_the_last_summaries_and_the_context(documents: Documents) -> None:
    prompt = documents.resume("my-api")
    assert prompt.index("add JWT login") < prompt.index("# Memory of my-api")
    assert "not instructions" in prompt


SESSION = Session(
    id=14,
    external="abc",
    client="codex",
    project_id=2,
    status="ended",
    branch="main",
    started_ms=AT_MS,
    last_ms=AT_MS + 300_000,
    prompts=1,
    events=9,
    first_prompt="add a login",
)
SUMMARY = Item(
    id=57,
    uuid="s",
    kind="summary",
    type="summary",
    title="Add a login",
    created_ms=AT_MS,
    summary=SummaryFields(request="add a login", completed="Wrote it.", learned="Much."),
)
LOGGED_IN = Item(
    id=60, uuid="c", kind="observation", type="commit", title="Log in", created_ms=AT_MS
)


def of_app(project_id: int | None) -> str:
    return {2: "app"}.get(project_id or 0, "")


def account_of(**fields: Any) -> list[str]:
    share = Share(project_id=2, sessions=(), commits=(), fixes=(), noted=(), failed=0, files=())
    said = Account(since_ms=AT_MS, shares=(replace(share, **fields),))
    return questions.since(said, of_app).splitlines()[2:]


def test_a_session_says_what_came_of_it_or_what_was_asked_and_that_it_goes_on() -> None:
    runs = (
        SessionRun(session=SESSION, summary=SUMMARY),
        SessionRun(session=replace(SESSION, status="active")),
        SessionRun(session=replace(SESSION, first_prompt="")),
    )
    assert account_of(sessions=runs) == [
        "app · sessions: 3",
        "  s14 codex · Add a login · 2025-03-15 15:00 to 15:05Z",
        "      completed: Wrote it.",
        "  s14 codex · add a login · 2025-03-15 15:00 to 15:05Z, goes on",
    ]


def test_of_each_sort_ten_are_shown_and_the_others_counted() -> None:
    lines = account_of(commits=(LOGGED_IN,) * 12, sessions=(SessionRun(session=SESSION),) * 11)
    assert lines[0] == "app · sessions: 11, commits: 12"
    assert lines[-1] == "  (commits: 2 more)"
    assert lines[11] == "  (sessions: 1 more)"
    files = tuple(f"{number}.py" for number in range(7))
    assert account_of(files=files)[1] == "  changed 0.py, 1.py, 2.py, 3.py, 4.py and 2 more"


def test_what_belongs_to_no_project_and_what_is_not_whole_says_so() -> None:
    note = replace(LOGGED_IN, kind="note", type="preference", title="Use tabs")
    said = account_of(project_id=None, noted=(note,))
    assert said == ["in no project", "  #60 preference · Use tabs · 2025-03-15 15:00Z"]
    part = questions.since(Account(since_ms=AT_MS, shares=(), is_partial=True), of_app)
    assert "the oldest of it is left out" in part.splitlines()[1]


def test_a_session_is_shown_with_its_summary_and_its_items() -> None:
    ran = SessionRun(session=replace(SESSION, parent="mother"), summary=SUMMARY)
    text = questions.of_session(SessionTimeline(ran=ran, items=(LOGGED_IN,), left_out=0), of_app)
    assert text.splitlines() == [
        "s14 · codex abc · app · branch main · ended · of session mother",
        "2025-03-15 15:00 to 15:05Z · prompts: 1, events: 9",
        "",
        "#57 summary · Add a login · 2025-03-15 15:00Z",
        "request: add a login",
        "learned: Much.",
        "completed: Wrote it.",
        "",
        "#60 commit · Log in · 2025-03-15 15:00Z",
    ]


def test_the_work_of_a_sub_agent_stands_under_its_delegation() -> None:
    """In its own session and in that of its delegation."""

    def did(number: int, session: int = 14, kind: str = "command", subtitle: str = "") -> Item:
        given = {"id": number, "type": kind, "title": "did it", "subtitle": subtitle}
        return replace(LOGGED_IN, created_ms=AT_MS + number, session_id=session, **given)

    child = replace(SESSION, id=21, external="c21", started_ms=AT_MS + 3, parent="abc")
    items = (
        did(1, kind="delegation", subtitle="to Explore, by sub-agent Explore/a1"),
        did(2, kind="delegation"),
        did(3, subtitle="by sub-agent Explore/a1"),
        did(4, session=21),
        did(5),
    )
    ran = SessionRun(session=SESSION)
    said = SessionTimeline(ran=ran, items=items, left_out=0, children=(child,))
    lines = questions.of_session(said, of_app).splitlines()
    assert "sub-agents in sessions s21" in lines
    shown = [line.partition(" · ")[0] for line in lines if line.lstrip()[:1] == "#"]
    assert shown == [
        "#1 delegation",
        "  #3 command",
        "#2 delegation",
        "  #4 command",
        "#5 command",
    ]
    rows = questions.session_rows(said, of_app)["children"]
    assert rows == [{"id": 21, "session": "c21", "parent": "abc", "items": [4]}]


def test_the_tokens_of_a_session_are_shown_where_they_are_known() -> None:
    usage = TokenUsage(input=1200, output=34, cache_read=56_000)
    said = SessionTimeline(ran=SessionRun(session=SESSION), items=(), left_out=0, usage=usage)
    lines = questions.of_session(said, of_app).splitlines()[2:]
    used = "tokens: 1,200 input, 34 output, 56,000 cache read"
    assert lines == ["resume: codex resume abc", used]
    row = {"input": 1200, "output": 34, "cache_read": 56_000, "cache_write": 0}
    assert questions.session_rows(said, of_app)["usage"] == row
    bare = replace(said, usage=None, ran=SessionRun(session=replace(SESSION, client="cline")))
    assert questions.session_rows(bare, of_app)["usage"] is None
    assert len(questions.of_session(bare, of_app).splitlines()) == 2


USES = '{"relations": [{"source": "auth.ts", "relation": "uses", "destination": "jose"}]}'


@pytest.fixture
def related(memory: Memory, store: SqliteStore) -> Any:
    shared = {"kind": "note", "type": "decision", "person": "bea"}
    with store.write() as writer:
        writer.put_items([an_item(30, "auth.ts checks the issuer", metadata=USES, **shared)])
    tool = tools_of(("core",), memory, str)["related"]
    return lambda name, **asked: tool.call({"name": name, **asked})


def test_an_answer_names_files_people_and_items_by_id(related: Any) -> None:
    found: ToolResult[Any] = related("auth.ts")
    lines = found.text.splitlines()
    assert lines[0].startswith("auth.ts · file and entity · 3 items, last ")
    assert "files: src/auth.ts 2" in lines
    assert any(line.startswith("people: you 2, ") and "; bea 1, " in line for line in lines)
    assert any(line.startswith("  #120 decision · auth.ts checks the issuer") for line in lines)
    assert "  #120 auth.ts -uses-> jose" in lines
    result = found.result
    assert [(one["name"], one["count"]) for one in result["people"]] == [("you", 2), ("bea", 1)]
    assert [one["sort"] for one in result["groups"]][:2] == ["decisions", "edits"]
    assert result["relations"][0]["destination"] == "jose"


def test_more_than_is_shown_is_counted_and_nothing_is_an_error(related: Any) -> None:
    assert "edits (3, the newest 1):" in related("jwt", limit=1).text
    with pytest.raises(NotFound, match="nothing names 'zebra'"):
        related("zebra")


@pytest.mark.usefixtures("related")
def test_the_command_says_what_to_call_next(memory: Memory) -> None:
    for name, next_one in (("auth.ts", "auth.ts --type commit"), ("bea", "--by bea")):
        asked = CommandRequest(
            question="related",
            folder="/",
            is_json=False,
            is_local=False,
            surroundings={},
            arguments={"name": name, "project": None, "everywhere": True, "limit": 3},
        )
        last = (reply(memory, asked).text or "").splitlines()[-1]
        assert last == f"more: observer show ID, or observer search {next_one}"
