"""The eight tools about notes: save, search, list, tags, folders, get, update, delete."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from observer.core.client_variables import client_number
from observer.core.clock import now_ms
from observer.core.errors import Ambiguous, NotFound, PastImmutable
from observer.core.events import Layer
from observer.core.model import Item, iso
from observer.core.moment import moment_ms
from observer.notes.note_reader import Flashback, FlashbackSettings
from observer.notes.values import Changes, Note, Remembered
from observer.search.handles import SearchOptions
from observer.tools import render
from observer.tools.fence import defused
from observer.tools.labels import labels, with_suspicion
from observer.tools.note_api import stands
from observer.tools.render import ProjectName
from observer.tools.tool import PersonQuestion, Row, ToolResult, Tools, offered, row

AMENDMENT = "[Amendment] "
MOST = 100
"""Most notes of one answer."""
SEEDS_DISTANCE = 0.4
"""The distance that the document takes where nothing is said; ours counts as that one."""
MOST_SHOWN = 2_000
"""Characters of a rule up to which a client is asked to show it: nobody approves what is cut."""
_NO_LINK = frozenset("[]|#")
"""Characters that cannot stand in a [[title]]."""
_DAY_MS = 86_400_000
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_TYPES: MappingProxyType[Layer, str] = MappingProxyType(
    {"past": "fact", "state": "fact", "rule": "rule"}
)


class NoteTools(Tools):
    """The tools of one memory for its notes."""

    @offered("Save a note", is_read_only=False)
    def save_note(
        self,
        title: Annotated[str, Meta(min_length=1, description="What the note is called.")],
        content: Annotated[
            str, Meta(description="Markdown; [[Title]] refers to another note. No secrets.")
        ],
        *,
        layer: Annotated[
            Layer,
            Meta(
                description="past: a record of what happened, also when in doubt. state: plans and "
                "how things are now. rule: how to behave, only when the user explicitly asks."
            ),
        ],
        folder: Annotated[str, Meta(description="Where to file it; see list_folders.")] = "",
        tags: Annotated[list[str], Meta(description="See list_tags.")] = [],  # noqa: B006 - never changed
        source: Annotated[str, Meta(description="Who wrote it.")] = "claude-code",
    ) -> ToolResult:
        """Save a note for later conversations.

        First call list_tags and list_folders and pick what exists rather than inventing new ones.
        Refer to people, projects and concepts by [[Title]]. If the answer warns of similar notes,
        use update_note on the most relevant one from then on instead of making duplicates. Show
        flashbacks to the user where they matter. A rule waits for the user's approval.
        """
        folder_here, amended, project = self._here(), None, None
        if title.startswith(AMENDMENT):  # the note that it amends decides its scope and project
            here = self._memory.project_at(folder_here) if folder_here else None
            amended = self._memory.notes.called(
                title.removeprefix(AMENDMENT), project_id=here.id if here else None
            )
        if amended:
            known = {each.id: each.uuid for each in self._memory.projects()}
            project = known.get(amended.project_id or 0)
        kept = self._memory.notes.remember(
            Note(
                title=title,
                content=content,
                type=_TYPES[layer],
                layer=layer,
                category=folder.strip(" /"),
                tags=tuple(tags),
                confidence=None,
                scope=amended.scope if amended else "project",
                amends=(amended.id,) if amended else (),
                metadata={"source": source},
            ),
            project=project,
            folder=folder_here,
        )
        flashbacks = self._memory.flashbacks(kept.item, self._wanted())
        result = row(
            id=kept.item.id,
            title=kept.item.title,
            layer=kept.item.layer,
            is_new=not kept.updated,
            similar=[_named(one.item) | {"match": round(one.score, 2)} for one in kept.similar],
            flashbacks=[_flashback(one) for one in flashbacks],
            dangling=list(kept.dangling),
            approval=kept.item.approval or UNSET,
        )
        text = paragraphs(_saved(kept), _flashback_section(flashbacks))
        return ToolResult(text, result, question=self._approval(kept.item, result))

    def _approval(self, rule: Item, result: Row) -> PersonQuestion | None:
        """Return the question whether a rule may hold; None where there is none to ask."""
        shown = f"{with_suspicion(rule, rule.title)}\n\n{rule.narrative}"
        if rule.approval != "provisional" or len(shown) > MOST_SHOWN:
            return None

        def approve() -> ToolResult:
            held = self._memory.notes.approve(rule.id, author="person")
            text = f"The user approved rule {heading(held)}: it holds from the next session on"
            return ToolResult(text, result | {"approval": held.approval})

        return PersonQuestion(
            key=f"approve-{rule.id}",
            text=f"An agent wants to keep this as a house rule for all later sessions:\n\n"
            f"{defused(shown)}",
            label="Let this rule hold",
            yes=approve,
        )

    @offered("Search notes")
    def search_notes(
        self,
        query: Annotated[str, Meta(description="The search query, in natural language.")],
        *,
        limit: Annotated[int, Meta(description=f"Most results, up to {MOST}.")] = 10,
        category: Annotated[str, Meta(description="Only this folder.")] = "",
        tag: Annotated[str, Meta(description="Only notes with this tag.")] = "",
        date_from: Annotated[
            str, Meta(description="ISO 8601 date: only notes on or after it.")
        ] = "",
        date_to: Annotated[
            str, Meta(description="ISO 8601 date: only notes on or before it.")
        ] = "",
    ) -> ToolResult:
        """Search notes by words and meaning, in all projects.

        Use it before answering any question that may relate to past conversations, decisions or
        projects. Flashbacks are older notes from elsewhere near the first result.
        """
        until_ms = moment_ms(date_to, now_ms=now_ms())
        if until_ms is not None:  # a day counts to its end (UTC)
            until_ms += _DAY_MS if _DAY.fullmatch(date_to.strip()) else 1
        narrow = SearchOptions(
            category=category.strip(" /"),
            tags=(tag,) if tag.strip() else (),
            since_ms=moment_ms(date_from, now_ms=now_ms()),
            until_ms=until_ms,
        )
        found = self._memory.recall(query, limit=_within(limit), narrow=narrow)
        first = [hit.item for hit in found.hits[:1]]
        flashbacks = self._memory.flashbacks(first[0], self._wanted()) if first else ()
        name = self._memory.project_names()
        excerpts = [render.excerpt(hit.item, hit.signals.terms) for hit in found.hits]
        result = row(
            notes=[
                _listed(hit.item, name) | {"snippet": text, "score": round(hit.score, 4)}
                for hit, text in zip(found.hits, excerpts, strict=True)
            ],
            flashbacks=[_flashback(one) for one in flashbacks],
            notice=found.notice or UNSET,
            degraded=found.degraded or UNSET,
        )
        lines = [f"({remark})" for remark in (found.notice, found.degraded) if remark]
        for hit, excerpt in zip(found.hits, excerpts, strict=True):
            lines.append(f"{_line(hit.item, name)}\n  {excerpt}")
        text = "\n".join(lines) if found.hits else "No notes found."
        return ToolResult(paragraphs(text, _flashback_section(flashbacks)), result)

    @offered("Recent notes")
    def list_notes(
        self, limit: Annotated[int, Meta(description=f"Most notes, up to {MOST}.")] = 20
    ) -> ToolResult:
        """List recent notes by creation date, newest first."""
        notes, name = self._memory.notes.list(limit=_within(limit)), self._memory.project_names()
        text = "\n".join(_line(note, name) for note in notes) or "No notes yet."
        return ToolResult(text, {"notes": [_listed(note, name) for note in notes]})

    @offered("Tags")
    def list_tags(self) -> ToolResult:
        """List all tags with note counts, the commonest first."""
        return _counted(self._memory.notes.counts("tags"), "No tags yet.")

    @offered("Folders")
    def list_folders(self) -> ToolResult:
        """List all folders with note counts, the commonest first."""
        return _counted(self._memory.notes.counts("category"), "No folders yet.")

    @offered("One note in full")
    def get_note(
        self,
        id: Annotated[int, Meta(description="Id of a note.")],  # noqa: A002 - the argument that clients send
    ) -> ToolResult:
        """Return a note in full, with the notes that link to it by [[Title]] or amend it."""
        item = self._note(id)
        if item is None:
            return ToolResult(f"Note #{id} not found.", {"found": False})
        if item.kind == "inference":
            text = f"#{id} is an inference, not a note: see get_inference."
            return ToolResult(text, {"found": False})
        back = [
            (one.kind, one.item)
            for one in self._memory.notes.links(item.id).back
            if one.item is not None and one.item.kind == "note"
        ]
        amended = [note for kind, note in back if kind == "amends"]
        referring = list({note.id: note for kind, note in back if kind != "amends"}.values())
        name = self._memory.project_names()
        full = _listed(item, name) | {
            "content": item.narrative,
            "updated_at": iso(item.updated_ms),
            "referenced_by": list(map(_named, referring)),
            "amended_by": list(map(_named, amended)),
        }
        text = paragraphs(
            _line(item, name).removeprefix("- "),
            item.narrative,
            section("Amended by:", (f"- {heading(note)}" for note in amended)),
            section("Referenced by:", (f"- {heading(note)}" for note in referring)),
        )
        return ToolResult(text, {"found": True, "note": full})

    @offered("Change a note", is_read_only=False)
    def update_note(
        self,
        id: Annotated[int, Meta(description="Id of a note.")],  # noqa: A002 - the documented name
        title: Annotated[str | None, Meta(description="The new title.")] = None,
        content: Annotated[str | None, Meta(description="All of the new content.")] = None,
        tags: Annotated[list[str] | None, Meta(description="All tags from now on.")] = None,
    ) -> ToolResult:
        """Change title, content or tags of a note of the layer state.

        Notes of the past are refused with PAST_IMMUTABLE: follow the suggestion and save an
        [Amendment] note that links back. Rules are refused with RULE_USER_ONLY: propose the change
        to the user in the conversation instead.
        """
        item = self._note(id)
        if item is None:
            return ToolResult(f"Note #{id} not found.", {"id": id, "updated": False})
        if item.layer == "rule":
            text = (
                f"error: RULE_USER_ONLY\nNote {heading(item)} is a rule, which only the user"
                " changes. Propose the change in the conversation; the user can run:"
                f" observer note edit {item.id}"
            )
            return _refused(item, "RULE_USER_ONLY", text, UNSET)
        changes = Changes(
            title=title or None, content=content, tags=None if tags is None else tuple(tags)
        )
        try:
            changed = self._memory.notes.edit(id, changes)
        except PastImmutable:
            title = f"{AMENDMENT}{item.title}"
            link = f"[[{item.title}]]" if _NO_LINK.isdisjoint(item.title) else f"#{item.id}"
            text = (
                f"error: PAST_IMMUTABLE\nNote {heading(item)} records what happened and stays as"
                f' it is. Call save_note with title "{title}", layer past, and {link} in the'
                " content."
            )
            suggestion = {"action": "save_note", "title": title, "link": link, "layer": "past"}
            return _refused(item, "PAST_IMMUTABLE", text, suggestion)
        return ToolResult(f"Updated note {heading(changed)}", {"id": id, "updated": True})

    @offered("Delete a note", is_read_only=False, is_destructive=True)
    def delete_note(
        self,
        id: Annotated[int, Meta(description="Id of a note or inference.")],  # noqa: A002 - the documented name
    ) -> ToolResult:
        """Delete a note by its id."""
        item = self._note(id)
        if item is None or not self._memory.notes.forget(id):
            return ToolResult(f"Note #{id} not found.", {"id": id, "deleted": False})
        return ToolResult(f"Deleted note {heading(item)}", {"id": id, "deleted": True})

    def _wanted(self) -> FlashbackSettings:
        """Return when an older note is a flashback: as the client's environment says, or ours."""
        ours = self._memory.flashback_settings
        scale = ours.distance / SEEDS_DISTANCE
        distance = client_number("MEMEX_FLASHBACK_DIST", SEEDS_DISTANCE, most=2) * scale
        return FlashbackSettings(
            days=int(client_number("MEMEX_FLASHBACK_DAYS", ours.days, most=36_500)),
            distance=min(distance, 2.0),
            limit=int(client_number("MEMEX_FLASHBACK_LIMIT", ours.limit, most=MOST)),
        )

    def _note(self, number: int) -> Item | None:
        try:
            return self._memory.notes.get(number)
        except (Ambiguous, NotFound):  # a number too large for an id counts as a vague handle
            return None


def _within(limit: int) -> int:
    """Return how many are returned: any limit is answered."""
    return min(max(limit, 1), MOST)


def _saved(kept: Remembered) -> str:
    """Return the outcome of saving a note as text, with its warnings."""
    item = kept.item
    done = "Saved note" if not kept.updated else "These words are known already: note"
    waits = f"It holds once the user approves it: observer note approve {item.id}"
    return paragraphs(
        f'{done} #{item.id}: "{render.one_line(item.title)}"',
        section(
            "⚠️ Similar notes exist; prefer update_note on the most relevant one:",
            (f"- {heading(one.item)} ({one.score:.0%} alike)" for one in kept.similar),
        ),
        "\n".join(
            stands(one.item, how=f"update_note or delete_note {one.item.id}") for one in kept.near
        ),
        waits if item.approval == "provisional" else "",
        section(
            "No note is called so yet:",
            (f"- [[{render.one_line(title)}]]" for title in kept.dangling),
        ),
    )


def _counted(counts: Mapping[str, int], nothing: str) -> ToolResult:
    found = [{"name": name, "count": count} for name, count in counts.items()]
    text = "\n".join(f"- {render.one_line(name)} ({count})" for name, count in counts.items())
    return ToolResult(text or nothing, {"counts": found})


def _refused(item: Item, error: str, text: str, suggestion: Row | UnsetType) -> ToolResult:
    result = row(id=item.id, updated=False, error=error, suggestion=suggestion)
    return ToolResult(text, result, is_error=True)


def _named(item: Item) -> Row:
    return {"id": item.id, "title": item.title}


def _flashback(one: Flashback) -> Row:
    return _named(one.item) | {"match": round(one.match, 2), "days_ago": one.days}


def _listed(item: Item, name: ProjectName) -> Row:
    """Return a note as a row of a list; `validity` are its labels, e.g. superseded."""
    return row(
        id=item.id,
        title=item.title,
        layer=item.layer,
        category=item.category or None,
        tags=list(item.tags),
        project=name(item.project_id) or None,
        created_at=iso(item.created_ms),
        validity=labels(item) or UNSET,
    )


def heading(item: Item) -> str:
    """Return the id and title by which texts name a note."""
    return f'#{item.id} "{render.one_line(item.title)}"'


def _line(item: Item, name: ProjectName) -> str:
    """Return a note as one line of a list."""
    tags = "tags: " + ", ".join(item.tags) if item.tags else ""
    parts = (
        heading(item),
        item.layer,
        item.category,
        tags,
        name(item.project_id),
        iso(item.created_ms)[:10],
        *labels(item),
    )
    return "- " + render.one_line(" · ".join(part for part in parts if part), 400)


def section(title: str, lines: Iterable[str]) -> str:
    """Return lines under a title; empty without lines."""
    found = list(lines)
    return "\n".join((title, *found)) if found else ""


def _flashback_section(found: Iterable[Flashback]) -> str:
    """Return flashbacks as a section of a text."""
    return section(
        "🔗 Flashback, older notes from a different context:",
        (f"- {one.days} days ago: {heading(one.item)} ({one.match:.0%} match)" for one in found),
    )


def paragraphs(*parts: str) -> str:
    """Return the parts that are not empty, with an empty line between them."""
    return "\n\n".join(part for part in parts if part)
