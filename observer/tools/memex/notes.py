"""The eight tools about notes: save, search, list, tags, folders, get, update, delete."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from observer.core.client_variables import client_number
from observer.core.clock import now_ms
from observer.core.errors import Ambiguous, NotFound, PastImmutable
from observer.core.events import Layer
from observer.core.model import Item, iso
from observer.core.moment import moment_ms
from observer.memory.api import Memory
from observer.notes.note_reader import FlashbackSettings
from observer.notes.values import Changes, Note, Remembered
from observer.search.handles import SearchOptions
from observer.tools import render
from observer.tools.fence import defused
from observer.tools.labels import with_suspicion
from observer.tools.memex import rows
from observer.tools.note_api import stands
from observer.tools.tool import PersonQuestion, Tool, ToolResult

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


class NoteTools:
    """The tools of one memory; `here` returns the folder that the asking client works in."""

    def __init__(self, memory: Memory, here: Callable[[], str]) -> None:
        self._memory = memory
        self._here = here

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools, in the order of their document."""
        return (
            Tool(run=self.save_note, title="Save a note", is_read_only=False),
            Tool(run=self.search_notes, title="Search notes"),
            Tool(run=self.list_notes, title="Recent notes"),
            Tool(run=self.list_tags, title="Tags"),
            Tool(run=self.list_folders, title="Folders"),
            Tool(run=self.get_note, title="One note in full"),
            Tool(run=self.update_note, title="Change a note", is_read_only=False),
            Tool(
                run=self.delete_note, title="Delete a note", is_read_only=False, is_destructive=True
            ),
        )

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
    ) -> ToolResult[rows.SaveResult]:
        """Save a note for later conversations.

        First call list_tags and list_folders and pick what exists rather than inventing new ones.
        Refer to people, projects and concepts by [[Title]]. If the answer warns of similar notes,
        use update_note on the most relevant one from then on instead of making duplicates. Show
        flashbacks to the user where they matter. A rule waits for the user's approval.
        """
        amended = self._amended(title)
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
            project=self._project_of(amended),
            folder=self._here(),
        )
        flashbacks = self._memory.flashbacks(kept.item, self._wanted())
        result = rows.SaveResult(
            id=kept.item.id,
            title=kept.item.title,
            layer=kept.item.layer,
            is_new=not kept.updated,
            similar=[rows.similar_note(one) for one in kept.similar],
            flashbacks=[rows.memory(one) for one in flashbacks],
            dangling=list(kept.dangling),
            approval=kept.item.approval or UNSET,
        )
        text = rows.paragraphs(_saved(kept), rows.flashback_section(flashbacks))
        return ToolResult(text, result, question=self._approval(kept.item, result))

    def _approval(self, rule: Item, result: rows.SaveResult) -> PersonQuestion | None:
        """Return the question whether a rule may hold; None where there is none to ask."""
        shown = f"{with_suspicion(rule, rule.title)}\n\n{rule.narrative}"
        if rule.approval != "provisional" or len(shown) > MOST_SHOWN:
            return None

        def approve() -> ToolResult[rows.SaveResult]:
            held = self._memory.notes.approve(rule.id, author="person")
            text = f"The user approved rule {rows.heading(held)}: it holds from the next session on"
            return ToolResult(text, replace(result, approval=held.approval))

        return PersonQuestion(
            key=f"approve-{rule.id}",
            text=f"An agent wants to keep this as a house rule for all later sessions:\n\n"
            f"{defused(shown)}",
            label="Let this rule hold",
            yes=approve,
        )

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
    ) -> ToolResult[rows.Hits]:
        """Search notes by words and meaning, in all projects.

        Use it before answering any question that may relate to past conversations, decisions or
        projects. Flashbacks are older notes from elsewhere near the first result.
        """
        narrow = SearchOptions(
            category=category.strip(" /"),
            tags=(tag,) if tag.strip() else (),
            since_ms=moment_ms(date_from, now_ms=now_ms()),
            until_ms=_until_ms(date_to),
        )
        found = self._memory.recall(query, limit=_within(limit), narrow=narrow)
        first = [hit.item for hit in found.hits[:1]]
        flashbacks = self._memory.flashbacks(first[0], self._wanted()) if first else ()
        name = self._memory.project_names()
        result = rows.Hits(
            notes=[
                rows.NoteHit(
                    **_fields(rows.listed(hit.item, name)),
                    snippet=render.excerpt(hit.item, hit.signals.terms),
                    score=round(hit.score, 4),
                )
                for hit in found.hits
            ],
            flashbacks=[rows.memory(one) for one in flashbacks],
            notice=found.notice or UNSET,
            degraded=found.degraded or UNSET,
        )
        remarks = (f"({remark})" for remark in (found.notice, found.degraded) if remark)
        hits = (
            f"{rows.line(hit.item, name)}\n  {render.excerpt(hit.item, hit.signals.terms)}"
            for hit in found.hits
        )
        text = "\n".join((*remarks, *hits)) if found.hits else "No notes found."
        return ToolResult(rows.paragraphs(text, rows.flashback_section(flashbacks)), result)

    def list_notes(
        self, limit: Annotated[int, Meta(description=f"Most notes, up to {MOST}.")] = 20
    ) -> ToolResult[rows.Recent]:
        """List recent notes by creation date, newest first."""
        notes, name = self._memory.notes.list(limit=_within(limit)), self._memory.project_names()
        text = "\n".join(rows.line(note, name) for note in notes) or "No notes yet."
        return ToolResult(text, rows.Recent(notes=[rows.listed(note, name) for note in notes]))

    def list_tags(self) -> ToolResult[rows.Counts]:
        """List all tags with note counts, the commonest first."""
        return _counted(self._memory.notes.counts("tags"), "No tags yet.")

    def list_folders(self) -> ToolResult[rows.Counts]:
        """List all folders with note counts, the commonest first."""
        return _counted(self._memory.notes.counts("category"), "No folders yet.")

    def get_note(
        self,
        id: Annotated[int, Meta(description="Id of a note.")],  # noqa: A002 - the argument that clients send
    ) -> ToolResult[rows.NoteResult]:
        """Return a note in full, with the notes that link to it by [[Title]] or amend it."""
        item = self._note(id)
        if item is None:
            return ToolResult(f"Note #{id} not found.", rows.NoteResult(found=False))
        if item.kind == "inference":
            text = f"#{id} is an inference, not a note: see get_inference."
            return ToolResult(text, rows.NoteResult(found=False))
        back = [
            (one.kind, one.item)
            for one in self._memory.notes.links(item.id).back
            if one.item is not None and one.item.kind == "note"
        ]
        amended = [note for kind, note in back if kind == "amends"]
        referring = list({note.id: note for kind, note in back if kind != "amends"}.values())
        name = self._memory.project_names()
        full = rows.FullNote(
            **_fields(rows.listed(item, name)),
            content=item.narrative,
            updated_at=iso(item.updated_ms),
            referenced_by=[rows.named(note) for note in referring],
            amended_by=[rows.named(note) for note in amended],
        )
        text = rows.paragraphs(
            rows.line(item, name).removeprefix("- "),
            item.narrative,
            rows.section("Amended by:", (f"- {rows.heading(note)}" for note in amended)),
            rows.section("Referenced by:", (f"- {rows.heading(note)}" for note in referring)),
        )
        return ToolResult(text, rows.NoteResult(found=True, note=full))

    def update_note(
        self,
        id: Annotated[int, Meta(description="Id of a note.")],  # noqa: A002 - the documented name
        title: Annotated[str | None, Meta(description="The new title.")] = None,
        content: Annotated[str | None, Meta(description="All of the new content.")] = None,
        tags: Annotated[list[str] | None, Meta(description="All tags from now on.")] = None,
    ) -> ToolResult[rows.Updated]:
        """Change title, content or tags of a note of the layer state.

        Notes of the past are refused with PAST_IMMUTABLE: follow the suggestion and save an
        [Amendment] note that links back. Rules are refused with RULE_USER_ONLY: propose the change
        to the user in the conversation instead.
        """
        item = self._note(id)
        if item is None:
            return ToolResult(f"Note #{id} not found.", rows.Updated(id=id, updated=False))
        if item.layer == "rule":
            return _rule(item)
        changes = Changes(
            title=title or None, content=content, tags=None if tags is None else tuple(tags)
        )
        try:
            changed = self._memory.notes.edit(id, changes)
        except PastImmutable:
            return _past(item)
        return ToolResult(
            f"Updated note {rows.heading(changed)}", rows.Updated(id=id, updated=True)
        )

    def delete_note(
        self,
        id: Annotated[int, Meta(description="Id of a note or inference.")],  # noqa: A002 - the documented name
    ) -> ToolResult[rows.DeleteResult]:
        """Delete a note by its id."""
        item = self._note(id)
        if item is None or not self._memory.notes.forget(id):
            return ToolResult(f"Note #{id} not found.", rows.DeleteResult(id=id, deleted=False))
        return ToolResult(
            f"Deleted note {rows.heading(item)}", rows.DeleteResult(id=id, deleted=True)
        )

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

    def _amended(self, title: str) -> Item | None:
        """Return the note that a note of this title amends, which decides its scope and project."""
        if not title.startswith(AMENDMENT):
            return None
        folder = self._here()
        here = self._memory.project_at(folder) if folder else None
        return self._memory.notes.called(
            title.removeprefix(AMENDMENT), project_id=here.id if here else None
        )

    def _project_of(self, note: Item | None) -> str | None:
        """Return the handle of a note's project; None if it has none."""
        if note is None:
            return None
        known = self._memory.projects()
        return next((each.uuid for each in known if each.id == note.project_id), None)


def _within(limit: int) -> int:
    """Return how many are returned: any limit is answered."""
    return min(max(limit, 1), MOST)


def _fields(listed: rows.NoteSummary) -> dict[str, Any]:
    return {name: getattr(listed, name) for name in listed.__struct_fields__}


def _until_ms(text: str) -> int | None:
    """Return the moment behind a date; a day counts to its end (UTC)."""
    at_ms = moment_ms(text, now_ms=now_ms())
    if at_ms is None:
        return None
    return at_ms + (_DAY_MS if _DAY.fullmatch(text.strip()) else 1)


def _saved(kept: Remembered) -> str:
    """Return the outcome of saving a note as text, with its warnings."""
    item = kept.item
    done = "Saved note" if not kept.updated else "These words are known already: note"
    waits = f"It holds once the user approves it: observer note approve {item.id}"
    return rows.paragraphs(
        f'{done} #{item.id}: "{render.one_line(item.title)}"',
        rows.section(
            "⚠️ Similar notes exist; prefer update_note on the most relevant one:",
            (f"- {rows.heading(one.item)} ({one.score:.0%} alike)" for one in kept.similar),
        ),
        "\n".join(
            stands(one.item, how=f"update_note or delete_note {one.item.id}") for one in kept.near
        ),
        waits if item.approval == "provisional" else "",
        rows.section(
            "No note is called so yet:",
            (f"- [[{render.one_line(title)}]]" for title in kept.dangling),
        ),
    )


def _counted(counts: Mapping[str, int], nothing: str) -> ToolResult[rows.Counts]:
    found = [rows.Count(name=name, count=count) for name, count in counts.items()]
    text = "\n".join(f"- {render.one_line(one.name)} ({one.count})" for one in found)
    return ToolResult(text or nothing, rows.Counts(counts=found))


def _past(item: Item) -> ToolResult[rows.Updated]:
    suggestion = rows.Suggestion(
        action="save_note",
        title=f"{AMENDMENT}{item.title}",
        link=f"[[{item.title}]]" if _NO_LINK.isdisjoint(item.title) else f"#{item.id}",
        layer="past",
    )
    text = (
        f"error: PAST_IMMUTABLE\nNote {rows.heading(item)} records what happened and stays as it"
        f' is. Call save_note with title "{suggestion.title}", layer past, and {suggestion.link}'
        " in the content."
    )
    return _refused(item, "PAST_IMMUTABLE", text, suggestion)


def _rule(item: Item) -> ToolResult[rows.Updated]:
    text = (
        f"error: RULE_USER_ONLY\nNote {rows.heading(item)} is a rule, which only the user changes."
        " Propose the change in the conversation; the user can run:"
        f" observer note edit {item.id}"
    )
    return _refused(item, "RULE_USER_ONLY", text, UNSET)


def _refused(
    item: Item, error: str, text: str, suggestion: rows.Suggestion | UnsetType
) -> ToolResult[rows.Updated]:
    result = rows.Updated(id=item.id, updated=False, error=error, suggestion=suggestion)
    return ToolResult(text, result, is_error=True)
