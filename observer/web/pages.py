"""The pages: each is a question to the memory, put into a template; changes are forms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import msgspec

from observer.core.clock import now_ms
from observer.core.errors import Ambiguous, BadInput, NotFound, ObserverError
from observer.core.model import Item, Project
from observer.core.moment import day
from observer.core.text import one_line
from observer.memory.api import Memory
from observer.memory.code_questions import locate
from observer.notes.note_reader import is_superseded
from observer.notes.pairs import Settlement
from observer.notes.signals import Status
from observer.notes.values import Changes, Version
from observer.search.handles import SearchOptions
from observer.search.query import day_start_ms
from observer.search.rank import has_expired, is_stale
from observer.tools import render
from observer.tools.parse_filters import parse_filters
from observer.tools.rows import REASONS, why
from observer.web import upkeep
from observer.web.given import give, given_page, usage
from observer.web.sessions import diffs_in, edits, rename, session
from observer.web.site import Handler, WebPage, WebRequest, number_in, projects, shared

ROWS = 60
"""Items of one page of the timeline."""
NOTES, LINKED = 50, 200
"""Notes of one page; those, from there on, whose tags and links are shown beside them."""
PAIRS = 20
TAGS, NODES = 16, 24
"""Tags of notes that are offered, the commonest; linked notes that are drawn, the newest."""
DAYS = 30
"""Days of a project that are looked at."""
_BENIGN = frozenset({"renamed", "supersedes", "amends"})
"""What is known of a note that takes nothing from it."""
STANDING = ("decision", "constraint", "rule", "heuristic", "rejected")
FIELDS = {
    "q", "project", "type", "file", "branch", "session", "since", "until", "failed", "notes", "by",
    "client",
}  # fmt: skip


def now(view: WebRequest) -> WebPage:
    """Show the sessions that go on, and what else happened today."""
    memory = view.memory
    account = memory.accounts.since(day_start_ms(now_ms=now_ms(), ago=0))
    lanes: list[dict[str, Any]] = []
    for one in memory.sessions(active=True, limit=12):
        found = memory.accounts.of_session(f"s{one.id}", limit=6)
        lanes.append({"session": one, "ran": found.ran, "items": found.items[::-1]})
    folders = {lane["session"].project_id: lane["session"].cwd for lane in reversed(lanes)}
    work = (
        (one.id, memory.accounts.unfinished(one, folders[one.id]))
        for one in projects(memory)
        if one.id in folders
    )
    recent = memory.sessions(limit=5) if not (lanes or account.shares) else []
    ran = [run.session for share in account.shares for run in share.sessions]
    values = {
        **shared(memory),
        "pauses": upkeep.pauses_now(),
        "lanes": lanes,
        "left": [(number, left) for number, left in work if any(left)],
        "shares": account.shares,
        "recent": recent,
        "titles": memory.accounts.titles([*recent, *ran]),
    }
    return WebPage("now.html", "Now", values)


def search(view: WebRequest) -> WebPage:
    """Find items by words and meaning; what is wrong with a query stands where hits would."""
    memory, asked = view.memory, view.query
    values: dict[str, Any] = {"hits": (), "problem": None, "notice": "", "types": {}}
    if asked.keys() & FIELDS:
        try:
            wanted = parse_filters(**_filters(asked), now_ms=now_ms())
            find = memory.recall if asked.get("notes") else memory.search
            found = find(asked.get("q", ""), project=asked.get("project"), limit=30, narrow=wanted)
        except ObserverError as error:
            values["problem"] = error
        else:
            strong = found if asked.get("weak") else found.above_floor()
            texts = render.excerpts(strong.hits)
            values |= {
                "hits": [_hit(hit, text) for hit, text in zip(strong.hits, texts, strict=True)],
                "notice": "; ".join(filter(None, (strong.notice, strong.degraded))),
                "types": Counter(hit.item.type for hit in strong.hits),
                "weak": len(found.hits) - len(strong.hits),
            }
    return WebPage("search.html", "Search", {"weak": 0, **shared(memory), **values})


SIGNALS = {name: name.replace("_", " ") for name in REASONS}
"""What a person reads for a field of `why`."""
SIGNALS |= {"semantic": "meaning", "fts5": "words", "words_rank": "place by words"}
SIGNALS |= {"meaning_rank": "place by meaning", "same": "same as", "type_weight": "type"}
SIGNALS["terms"] = "found"


def _hit(hit: Any, text: str) -> dict[str, Any]:  # noqa: ANN401 - a Hit, as a template reads it
    reasons = why(hit) | {"terms": ()}
    shown = {name: reasons[field] for field, name in SIGNALS.items() if reasons.get(field)}
    about = {"item": hit.item, "text": text, "terms": hit.signals.terms}
    return {**about, "mark": render.mark(hit), "why": shown}


def timeline(view: WebRequest) -> WebPage:
    """List what happened, newest first, a page at a time."""
    memory, asked = view.memory, view.query
    wanted = _behind(asked, parse_filters(**_filters(asked), now_ms=now_ms()))
    if asked.get("notes"):
        wanted = msgspec.structs.replace(wanted, kinds=("note",))
    found = memory.accounts.happened(wanted, project=asked.get("project"), limit=ROWS + 1)
    rows = found[:ROWS]
    days = [(name, list(items)) for name, items in groupby(rows, lambda one: day(one.created_ms))]
    values = {**shared(memory), "days": days, "before": _next_page(found, ROWS)}
    return WebPage("timeline.html", "Timeline", values)


def _behind(asked: Mapping[str, str], wanted: SearchOptions) -> SearchOptions:
    """Return options for what is listed behind the item that `before` of an address names."""
    until, _, number = asked.get("before", "").partition("-")
    if not (until.isdecimal() and number.isdecimal()):
        return wanted
    behind = {"until_ms": int(until[:15]), "before_id": int(number[:18])}
    return msgspec.structs.replace(wanted, **behind)


def _next_page(found: Sequence[Item], most: int) -> str:
    """Return `before` for the items behind the first `most`, "" where there are none."""
    last = found[most - 1] if len(found) > most else None
    return f"{last.created_ms}-{last.id}" if last else ""


def sessions(view: WebRequest) -> WebPage:
    """List sessions, last active first."""
    found = view.memory.sessions(
        project=view.query.get("project"), active="active" in view.query, limit=100
    )
    values = {"sessions": found, "titles": view.memory.accounts.titles(found)}
    return WebPage("sessions.html", "Sessions", {**shared(view.memory), **values})


def item(view: WebRequest) -> WebPage:
    """Show everything that is known of one item, and what happened around it."""
    memory = view.memory
    number = memory.resolve(view.name)
    found = memory.observations([number]).items
    if not found:
        raise NotFound(f"there is no item {view.name[:80]}", hint="search for it")
    one = found[0]
    around = memory.timeline(one.id, before=4, after=4).entries
    diffs = list(diffs_in(memory.accounts.patch(one))) if one.type == "commit" else []
    history: Sequence[Version] = ()
    if one.kind == "note":
        # A file of a folder has its history in git, and a note of an old home none at all.
        with suppress(ObserverError):
            history = memory.notes.history(one.id)[::-1]
    values = {"item": one, "history": history, "around": around, "diffs": diffs}
    values |= {**shared(memory), "said": render.said(one)}
    return WebPage("item.html", render.one_line(one.title, 80), values)


def notes(view: WebRequest) -> WebPage:
    """List what was noted, newest first, a page at a time, and what waits for approval."""
    memory, asked = view.memory, view.query
    options = _filters({**asked, "failed": ""})
    wanted = msgspec.structs.replace(
        parse_filters(**options, now_ms=now_ms()),
        kinds=("note",),
        tags=(asked["tag"],) if asked.get("tag") else (),
    )
    listed, happened = _behind(asked, wanted), memory.accounts.happened
    found = happened(listed, project=asked.get("project"), limit=LINKED)
    rules = () if listed is not wanted else _waiting(memory, wanted, asked.get("project"))
    values = {
        **shared(memory),
        "notes": found[:NOTES],
        "before": _next_page(found, NOTES),
        "waiting": rules,
        "tags": Counter(tag for note in found for tag in note.tags).most_common(TAGS),
        "graph": _graph(found),
    }
    return WebPage("notes.html", "Knowledge", values)


def _waiting(memory: Memory, wanted: SearchOptions, project: str | None) -> list[Item]:
    """Return the rules that nobody has approved yet: few, and looked for among all rules."""
    asked = msgspec.structs.replace(wanted, layer="rule")
    rules = memory.accounts.happened(asked, project=None, limit=LINKED)
    here = memory.project(project).id if project else None
    places = {here} if project else {note.project_id for note in rules}
    return [note for note in rules if note.approval == "provisional" and note.project_id in places]


def _graph(found: Sequence[Item]) -> dict[str, Any]:
    """Return the links among some notes, and where in a square of 100 each linked note is drawn."""
    known = {note.id: note for note in found}
    titles = {note.title: note.id for note in found}
    ends = [
        (note.id, link.kind, link.leads_to or titles.get(link.title, 0))
        for note in found
        for link in note.links
    ]
    linked = (end for one, _, other in ends if other in known for end in (one, other))
    drawn = list(dict.fromkeys(linked))[:NODES]
    angles = {one: 2 * math.pi * place / len(drawn) for place, one in enumerate(drawn)}
    places = {
        one: (round(50 + 42 * math.sin(angle), 1), round(50 - 42 * math.cos(angle), 1))
        for one, angle in angles.items()
    }
    links = [end for end in ends if end[0] in places and end[2] in places]
    return {"places": places, "links": links, "notes": known, "number": drawn.index}


def review(view: WebRequest) -> WebPage:
    """Show near pairs of notes of a project side by side, to be settled."""
    memory = view.memory
    known = projects(memory)
    if not known:
        return WebPage("review.html", "Review", {**shared(memory), "project": None, "open": None})
    handle = view.query.get("project")
    project = memory.project(handle) if handle else known[0]
    found = memory.pairs.open(project, limit=PAIRS)
    return WebPage("review.html", "Review", {**shared(memory), "project": project, "open": found})


def project(view: WebRequest) -> WebPage:
    """Show one project: its last month, what is worked on, what stands and what is open."""
    memory = view.memory
    if not view.name:
        return WebPage("project.html", "Projects", {**shared(memory), "project": None})
    one = memory.project(view.name)
    standing = memory.accounts.recent(*STANDING, project=one.uuid, limit=20)
    since_ms = day_start_ms(now_ms=now_ms(), ago=DAYS - 1)
    shares = memory.accounts.since(since_ms, project=one.uuid).shares
    share = next((each for each in shares if each.project_id == one.id), None)
    happened: Counter[str] = Counter()  # sessions and commits of each day
    if share:
        happened.update(day(run.session.started_ms) for run in share.sessions)
        happened.update(day(commit.created_ms) for commit in share.commits)
    days = [day(day_start_ms(now_ms=now_ms(), ago=ago)) for ago in reversed(range(DAYS))]
    recent = memory.sessions(project=one.uuid, limit=10)
    values = {
        **shared(memory),
        "project": one,
        "share": share,
        "days": [(name, happened[name]) for name in days],
        "recent": recent,
        "titles": memory.accounts.titles(recent),
        "work": memory.accounts.unfinished(one),
        "checks": memory.accounts.checks(one),
        "branches": memory.accounts.branches(one)[:12],
        "stands": [note for note in standing if not is_superseded(note)],
        "left": [
            (ran.session, ran.summary.summary.next_steps)
            for ran in memory.accounts.runs(recent[:5])
            if ran.summary and ran.summary.summary and ran.summary.summary.next_steps
        ],
    }
    return WebPage("project.html", one.name, values)


def code(view: WebRequest) -> WebPage:
    """Show why a piece of code is as it is: the commits and sessions behind it."""
    memory, asked = view.memory, view.query
    handle, target = asked.get("project", ""), asked.get("target", "")
    found, problem = None, None
    if target:
        try:
            if not handle and target.startswith("/"):
                here = str(Path(target.partition("::")[0]).parent)
            else:
                here = _root_with(target, [memory.project(handle)] if handle else projects(memory))
            found = memory.at(here).why(target, here)
        except ObserverError as error:
            problem = error
    values = {**shared(memory), "found": found, "problem": problem, "standing": _standing}
    return WebPage("code.html", "Why", values)


def _root_with(target: str, among: Sequence[Project]) -> str:
    """Return the folder of the one project in which what a target names exists."""
    found: dict[str, str] = {}
    for project in among:
        for root in reversed(project.roots):
            with suppress(NotFound):
                locate(target, root)
                found.setdefault(project.name, root)
    if not found:
        raise NotFound(f"no project has {one_line(target, 200)}", hint="give a whole path")
    if len(found) > 1:
        message = f"{len(found)} projects have {one_line(target, 200)}"
        raise Ambiguous(message, hint=f"choose one: {', '.join(found)}")
    return next(iter(found.values()))


def _standing(note: Item) -> str:
    if is_stale(note) or has_expired(note, now_ms()):
        return "ended"
    is_doubtful = any(each.reason not in _BENIGN for each in note.validity)
    return "doubtful" if is_doubtful else "holds"


def change_note(view: WebRequest, act: str) -> str:
    """Forget, bring back or approve a note, as a person."""
    change = getattr(view.memory.notes, act)
    handle = number_in(view, "id")
    change(handle, author="person")
    return "/notes" if act == "forget" else f"/item/{handle}"


def edit(view: WebRequest) -> str:
    """Change the words of a note, as a person."""
    notes, number = view.memory.notes, number_in(view, "id")
    known = notes.get(number)
    title = view.form.get("title", "").strip()
    content = view.form.get("content", "").replace("\r\n", "\n").strip()
    changes = Changes(
        title=title if title != known.title else None,
        content=content if content != known.narrative.strip() else None,
    )
    notes.edit(number, changes, author="person")
    return f"/item/{number}"


def implied(view: WebRequest) -> WebPage:
    """Show what the notes imply but nobody has written down, and hypotheses that were approved."""
    memory, status = view.memory, view.query["status"]
    chosen: Status = "snoozed" if status == "snoozed" else "new"
    found = memory.signals.list(status=chosen)
    values = {
        **shared(memory),
        "signals": found.signals[:PAIRS],
        "more": max(0, len(found.signals) - PAIRS),
        "degraded": found.degraded,
        "status": chosen,
        "inferences": memory.inferences.list(),
    }
    return WebPage("signals.html", "Implied", values)


def triage(view: WebRequest) -> str:
    """Say as a person what becomes of a signal."""
    status = view.form.get("status", "")
    if status not in {"new", "snoozed", "dismissed"}:
        raise BadInput("a signal becomes snoozed, dismissed, or new again", hint="choose one")
    view.memory.signals.triage(number_in(view, "id"), cast("Status", status), author="person")
    return "/signals"


def settle(view: WebRequest) -> str:
    """Say what holds of two near notes."""
    fields = ("id", "how", "other", "content")
    given_fields = {name: view.form[name] for name in fields if view.form.get(name)}
    try:
        wanted = msgspec.convert(given_fields, Settlement)
    except msgspec.ValidationError as error:
        raise BadInput(f"this settles nothing: {error}") from error
    view.memory.pairs.settle(wanted, author="person")
    return f"/review?project={quote(view.form.get('project', ''), safe='')}"


def _filters(asked: Mapping[str, str]) -> dict[str, Any]:
    names = ("type", "branch", "session", "since", "until", "by", "client")
    named = {name: asked.get(name, "") for name in names}
    files = [asked["file"]] if asked.get("file") else []
    return {**named, "files": files, "failed": bool(asked.get("failed"))}


PAGES: dict[str, Handler] = {
    "": now, "search": search, "timeline": timeline, "sessions": sessions, "session": session,
    "edits": edits, "item": item, "notes": notes, "project": project, "review": review,
    "signals": implied, "given": given_page, "why": code, "health": upkeep.health, "usage": usage,
    "privacy": upkeep.privacy, "purged": upkeep.purged, "export": upkeep.export,
}  # fmt: skip
CHANGES: dict[str, Handler] = {
    **{name: getattr(upkeep, name) for name in ("privacy", "purge", "mend", "pause", "resume")},
    **{f"note/{act}": partial(change_note, act=act) for act in ("forget", "undo", "approve")},
    "note/edit": edit,
    "review": settle,
    "signal": triage,
    "given": give,
    "session/rename": rename,
    "logout": upkeep.logout,
}
