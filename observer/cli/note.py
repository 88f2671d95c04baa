"""`observer note`: list, edit, link, approve, draft; note folders; `forget` and `undo`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click
import msgspec

from observer.cli import completion, output
from observer.cli.commands import Given, command, listing
from observer.cli.session import LINKS, known_types, meant, nearly, on_behalf, open_memory
from observer.core import moment
from observer.core.errors import BadInput, NotFound
from observer.core.events import Layer, Scope
from observer.core.model import Item, Session, iso
from observer.core.moment import minute
from observer.core.paths import home, working_folder
from observer.core.text import counted, did_you_mean
from observer.local import client
from observer.memory.api import Memory
from observer.notes import drafts
from observer.notes.drafts import Draft, skills
from observer.notes.folders.note_files import NoteChange
from observer.notes.pairs import Pair
from observer.search.handles import SearchOptions
from observer.tools import note_api, render
from observer.tools.asking import nothing, scope_line
from observer.tools.status import current

item_argument = click.argument("handle", metavar="ID|UUID", shell_complete=completion.items)


@listing("note", "observer note --tag auth --layer state")
@output.scope_options
@click.option(
    "--type", "types", default="", callback=known_types, help="Only these, e.g. decision,rule."
)
@click.option("--category", default="", help="Only notes of this category.")
@click.option("--layer", type=click.Choice(get_args(Layer)), help="Only notes of this layer.")
@click.option("--scope", type=click.Choice(get_args(Scope)), help="Only notes of this scope.")
@click.option("--tag", "tags", multiple=True, help="Only notes with this tag; may be repeated.")
@click.option("--waiting", is_flag=True, help="Only what waits for approval, or is suspicious.")
@output.limit_option(50, "Most notes listed.")
def note_command(
    *, project: str | None, everywhere: bool, waiting: bool, limit: int, **given: Given
) -> None:
    """List notes, newest first, or change one of them."""
    types = tuple(filter(None, given.pop("types").split(",")))
    wanted = SearchOptions(kinds=("note",), types=types, **given)
    with open_memory() as memory:
        here = None if everywhere and not project else meant(memory, project)
        # What waits is rare: look further back than what is shown.
        project, most = here.uuid if here else None, 10_000 if waiting else limit
        found = memory.notes.list(project=project, narrow=wanted, limit=most)
        if waiting:
            found = [i for i in found if i.approval == "provisional" or i.suspicion][:limit]
        name = memory.project_names()
        if not output.as_json([note_api.row(item, name) for item in found]):
            output.say(scope_line(here.name if here else ""))
            like = waiting or wanted != SearchOptions(kinds=("note",))
            more = "leave out an option" if like else "keep one with: observer remember TEXT"
            why = f"no notes {'like that' if like else 'yet'}"
            empty = nothing(why, more, everywhere=here is None)
            output.say("\n".join(note_api.listed(item, name) for item in found) or empty)


@command("history", "observer note history 142", of=note_command)
@item_argument
def history_command(*, handle: str) -> None:
    """Show all versions of a note, oldest first."""
    with open_memory() as memory:
        found = memory.notes.history(handle)
        name = memory.project_names()
    rows = []
    for one in found:
        row = {each: getattr(one, each) for each in ("number", "action", "author", "stands")}
        rows.append(row | {"created_at": iso(one.at_ms), "note": note_api.row(one.item, name)})
    output.respond(rows, "\n".join(map(note_api.version, found)))


@command("edit", 'observer note edit 142 "Tests need Redis 7" --tag ci', of=note_command)
@item_argument
@click.argument("content", nargs=-1, metavar="[TEXT...|-]")
@click.option("--title", help="A new title.")
@click.option("--type", "type_", help="A new type.")
@click.option("--category", help="A new category.")
@click.option("--confidence", type=float, help="How sure, from 0 to 1.")
@click.option("--layer", type=click.Choice(get_args(Layer)), help="A new layer.")
@click.option("--tag", "tags", multiple=True, help="The new tags, all of them; may be repeated.")
def edit_command(*, handle: str, content: tuple[str, ...], **given: Given) -> None:
    """Change a note: its text, or what the options name."""
    given["type"] = given.pop("type_")
    if content:
        given["content"] = sys.stdin.read() if content == ("-",) else " ".join(content)
    changes = {name: value for name, value in given.items() if value not in {None, ()}}
    _change(handle, "edit", changes=changes)


@command("undo", "observer undo 142")
@item_argument
def undo_command(*, handle: str) -> None:
    """Take back a note's last change, or an item's deletion."""
    _change(handle, "undo")


@command("deleted", "observer note deleted --of ana --undo", of=note_command)
@click.option("--of", "of", default="", help="Only an owner's: a user_id, or agent:AGENT_ID.")
@click.option("--undo", is_flag=True, help="Bring all that is listed back.")
def deleted_command(*, of: str, undo: bool) -> None:
    """List what agents deleted for good and can be brought back."""
    output.refuse_agents("an agent sees no notes of others")
    with open_memory() as memory:
        found = [(i, at) for i, at in memory.deleted() if of in {"", i.owner}]
    names = ("id", "owner", "title")
    rows = [{n: getattr(i, n) for n in names} | {"final_at": iso(at)} for i, at in found]
    if not output.as_json(rows):
        for item, at_ms in found:
            whose = f" of {item.owner}" if item.owner else ""
            output.say(f"#{item.id}{whose}: {item.title} (until {moment.minute(at_ms)})")
        if not found:
            text = "no agent's deletion waits; what you forgot comes back with: observer undo ID"
            output.say(text)
    for item, _ in found if undo else ():
        _change(str(item.id), "undo")


@command("approve", "observer note approve 142", of=note_command)
@item_argument
def approve_command(*, handle: str) -> None:
    """Stand for a note: a rule holds, a suspicion is laid aside."""
    _change(handle, "approve")


@command("link", "observer note link 142 97 --kind supersedes", of=note_command)
@item_argument
@click.argument("target", metavar="[ID|UUID]", default="", shell_complete=completion.items)
@click.option("--kind", default="explicit", show_default=True, help="supersedes, amends, ...")
@click.option("--remove", is_flag=True, help="Take such links out instead.")
def link_command(*, handle: str, target: str, kind: str, remove: bool) -> None:
    """Link a note to another item, or list its links."""
    if not target:
        with open_memory() as memory:
            found = memory.notes.links(handle)
        ways = {
            way: [{"kind": c.kind, "title": c.title, "id": c.item and c.item.id} for c in each]
            for way, each in (("out", found.out), ("back", found.back))
        }
        none = f"no links: observer note link {handle} OTHER makes one"
        output.respond(ways, "\n".join(note_api.connections(found.out, found.back)) or none)
        return
    if near := nearly(kind, LINKS):
        raise BadInput(f"no kind of link {kind!r}", hint=did_you_mean([near]))
    _change(handle, "unlink" if remove else "link", target=target, kind=kind)


@command("review", "observer note review --project shop", of=note_command)
@output.named_project("Name, folder or remote; the one around the current folder.")
@output.limit_option(20, "Most pairs shown.")
def review_command(*, project: str | None, limit: int) -> None:
    """Settle near notes: which replaces or amends the other."""
    with open_memory() as memory:
        chosen = meant(memory, project)
        if chosen is None:
            raise NotFound("no project is known here", hint="name one: --project NAME")
        found = memory.pairs.open(chosen, limit=limit)
        name = memory.project_names()
    ends = ("newer", "older")
    if output.as_json([{e: note_api.row(getattr(p, e), name) for e in ends} for p in found.pairs]):
        return
    output.say(f"{counted(found.total, 'near pair')} of notes in {chosen.name} not settled")
    if found.degraded:
        output.note(found.degraded)
    for pair in found.pairs:
        output.say(note_api.pair_lines(pair))
        if sys.stdin.isatty() and not _settle(pair):
            return
    if found.pairs and not sys.stdin.isatty():
        output.note(
            "settle them in a terminal, or with: observer note link NEWER OLDER --kind supersedes"
        )


_SETTLED = {"r": "replaces", "a": "amends", "b": "both stand", "m": "merge"}


def _settle(pair: Pair) -> bool:
    """Ask what holds of a pair and store it; False to stop."""
    asked = "the newer [r]eplaces or [a]mends the older, [b]oth stand, [m]erge, [s]kip, [q]uit"
    key = click.prompt(asked, type=click.Choice([*_SETTLED, "s", "q"]), show_choices=False)
    if key not in _SETTLED:
        return bool(key == "s")
    both = f"{pair.newer.narrative}\n\n{pair.older.narrative}\n"
    merged = (click.edit(both) or "").strip() if key == "m" else ""
    if key != "m" or merged:
        asked_for = {"how": _SETTLED[key], "other": pair.older.id, "content": merged}
        _change(str(pair.newer.id), "settle", **asked_for)
    return True


@command("forget", "observer forget 142")
@item_argument
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def forget_command(*, handle: str, yes: bool) -> None:
    """Delete an item by its id; observer undo brings it back."""
    client.ensure_daemon(home())
    with open_memory() as memory:
        item_id = memory.resolve(handle)
        (item,) = memory.observations([item_id]).items
        shown = render.heading(item, memory.project_names())
    if not yes:
        output.note(shown)
    output.confirm_once("Forget it?", yes=yes, refusal="nothing was forgotten", hint="add --yes")
    answer = on_behalf("/forget", id=item_id)
    undo = f"bring it back with: observer undo {item_id}"
    output.respond(answer, f"forgot {shown}", remark=undo)


def _change(handle: str, action: str, **asked: object) -> None:
    after = on_behalf("/note", action=action, id=handle, **asked)
    marks = ", ".join(filter(None, (after["approval"], after["suspicion"])))
    done = {"edit": "changed ", "undo": "back to "}.get(action, "")
    text = f"{done}#{after['id']} {after['title']}" + (f" ({marks})" if marks else "")
    undo = f"take it back with: observer undo {after['id']}" if action == "edit" else ""
    output.respond(after, text, remark=undo)


MOST, HITS = 5_000, 50
"""Items of one draft that are looked through; hits of a topic."""


@command("draft", "observer note draft '#142' --to docs/runbooks", of=note_command)
@click.argument("words", nargs=-1, metavar="[SESSION|#ITEM|TOPIC...]")
@click.option("--testing", is_flag=True, help="How the project is tested.")
@click.option("--skills", "as_skills", is_flag=True, help="Commands that sessions run together.")
@output.named_project("Name, folder or remote; the one around the current folder.")
@click.option("--to", "target", type=click.Path(path_type=Path), help="A new file, or a folder.")
def draft_command(
    *, words: tuple[str, ...], testing: bool, as_skills: bool, project: Given, target: Path | None
) -> None:
    """Draft a decision record, a runbook or a skill."""
    what = " ".join(words)
    if sum((bool(what), testing, as_skills)) != 1:
        hint = "observer note draft SESSION, '#142' for a fix, or a topic in words"
        raise BadInput("name what to draft, or one of --testing and --skills", hint=hint)
    with open_memory() as memory:
        here = meant(memory, project)
        if what:
            made = [_draft(memory, what, here.uuid if here else None)]
        elif here is None:
            raise NotFound("this folder is in no project", hint="name one with --project")
        else:
            runs = memory.accounts.recent("command", project=here.uuid, limit=MOST)
            made = [drafts.testing(here.name, runs)] if testing else skills(runs)
    if not made:
        why = "no commands were run together by three sessions yet"
        raise NotFound(why, hint="ask again in some weeks")
    paths = [_write(target, draft) for draft in made] if target else []
    if not output.as_json([{"path": draft.path, "text": draft.text} for draft in made]):
        text = "\n".join(map(str, paths)) or "\n".join(draft.text for draft in made)
        output.say(text, is_exact=True)


def _draft(memory: Memory, what: str, project: str | None) -> Draft:
    if what.startswith("#"):
        found = memory.observations([memory.resolve(what)]).items
        if not found:
            raise NotFound(f"no item {what[:80]!r}", hint="search for it first")
        if found[0].type == "fix":
            return drafts.runbook(memory.accounts.fixes_of(found[0], limit=HITS))
        if found[0].session_id is None:
            raise BadInput(f"{what} is not a fix and has no session", hint="name a fix, or a topic")
        what = str(found[0].session_id)
    try:
        course = memory.accounts.of_session(what, limit=MOST)
    except NotFound:
        narrow = SearchOptions(types=(*drafts.TYPES, "summary"))
        of_topic = memory.search(what, project=project, limit=HITS, narrow=narrow)
        hits = of_topic.above_floor().hits
        items: Sequence[Item] = memory.accounts.as_of_now([hit.item for hit in hits])
        title, sessions = what, tuple[Session, ...]()
    else:
        summary = course.ran.summary
        items = [*course.items, *([summary] if summary else [])]
        title = summary.title if summary else f"Session {what}"
        sessions = (course.ran.session, *course.children)
    if not items:
        raise NotFound(f"nothing is remembered about {what[:80]!r}", hint="use other words")
    return drafts.decision_record(title, items, sessions)


def _write(target: Path, draft: Draft) -> Path:
    """Write a draft as a new file, never over one that is there, and return its path."""
    path = target / draft.path if target.is_dir() or "/" in draft.path else target
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(draft.text)
    except FileExistsError as error:
        raise BadInput(f"{path} is there already", hint="name another place") from error
    return path


FIRST_WITHIN_S, LOOK_S = 10.0, 0.1
"""How long `add` waits until files are read, about 4,000, and `remove` until none is found."""


@listing("folder", "observer note folder")
def folder_command() -> None:
    """List folders whose Markdown files are notes, or add one."""
    with open_memory() as memory:
        counts = memory.files.counts()
        names = {project.uuid: project.name for project in memory.projects()}
        found = [
            (each.name, counts.get(each.path, 0), names.get(each.project, ""), each.path)
            for each in memory.files.listed.all()
        ]
    columns = ("name", "notes", "project", "path")
    rows = [dict(zip(columns, row, strict=True)) for row in found]
    none = "no note folders; add one with: observer note folder add PATH"
    output.table(columns, found, none=none, value=rows)


@command("add", "observer note folder add docs/decisions", of=folder_command)
@click.argument("path")
@click.option("--name", help="What to call it; the folder's own name without.")
@output.named_project("Project of the notes; that of the repository around the folder without.")
def add_command(*, path: str, name: str | None, project: str | None) -> None:
    """Make notes of a folder's Markdown files, and follow them."""
    if name == "" or not path:
        what = "folder" if name is None else "--name"
        raise BadInput(f"the {what} is empty", hint="observer note folder add PATH [--name NAME]")
    client.ensure_daemon(home())
    with open_memory() as memory:
        chosen = memory.project(project).uuid if project else ""
        whole = str(working_folder() / path)
        made = memory.files.listed.add(whole, name=name or "", project=chosen)
    files, unread = _first_scan(made.path)
    named = {"name": made.name, "path": made.path, "project": made.project}
    done = f"{files - unread:,} of {files:,} files" if files else "nothing"
    so_far = f"{done} read so far; see how far with: observer status"
    output.respond(
        {**named, "files": files, "unread": unread},
        f"{made.path} is the note folder {made.name} now",
        remark=so_far if files is None or unread else "",
    )


def _first_scan(path: str) -> tuple[int | None, int]:
    """Return how many files a new note folder has, and how many are not read after some time."""
    until_s = time.monotonic() + FIRST_WITHIN_S
    while True:
        known = {each.path: each for each in current(home()).note_folders}
        seen = known.get(path)
        is_read = seen is not None and seen.files is not None and not seen.unread
        if seen and (is_read or time.monotonic() > until_s):
            return seen.files, seen.unread
        if time.monotonic() > until_s:
            return None, 0
        time.sleep(LOOK_S)


@command("remove", "observer note folder remove vault", of=folder_command)
@click.argument("name", metavar="NAME|PATH")
def remove_command(*, name: str) -> None:
    """Forget the notes of a folder; its files stay as they are."""
    client.ensure_daemon(home())
    with open_memory() as memory:
        gone = memory.files.remove(name)
        until_s = time.monotonic() + FIRST_WITHIN_S
        while gone.path in memory.files.counts() and time.monotonic() < until_s:
            time.sleep(LOOK_S)
    done = f"{gone.path} is no note folder any more; its files stay"
    output.respond({"name": gone.name, "path": gone.path}, done)


@command("default", "observer note folder default vault", of=folder_command)
@click.argument("name", metavar="[NAME|PATH]", required=False)
@click.option("--unset", is_flag=True, help="Set none.")
def default_command(*, name: str | None, unset: bool) -> None:
    """Show or set the folder that is meant where none is named."""
    with open_memory() as memory:
        listed = memory.files.listed
        is_change = unset or name is not None
        shown = (
            listed.set_default("" if unset else name or "") if is_change else listed.read().default
        )
    none = "none is set: that of the repository is meant, or the only one"
    output.respond({"default": shown}, shown or none)


@command("history", "observer note folder history vault", of=folder_command)
@click.argument("name", metavar="[NAME|PATH]", required=False)
@output.limit_option(20, "Most changes listed.")
def folder_history_command(*, name: str | None, limit: int) -> None:
    """List what agents changed in note folders, the latest first."""
    with open_memory() as memory:
        path = memory.files.listed.named(name).path if name else ""
        found = [each for each in memory.files.versions.all() if path in {"", each.folder}][:limit]
    rows = ((i.number, minute(i.at_ms), i.act, f"{i.folder}/{i.path}") for i in found)
    none = "no changes; what is older than 30 days is not kept"
    value = [_change_row(each) for each in found]
    output.table(("number", "when", "what", "path"), rows, none=none, value=value)


def _change_row(change: NoteChange) -> dict[str, object]:
    fields: dict[str, object] = msgspec.to_builtins(change)
    del fields["at_ms"]
    return {**fields, "created_at": iso(change.at_ms)}


@command("undo", "observer note folder undo 12", of=folder_command)
@click.argument("number", type=click.IntRange(min=1), required=False)
def folder_undo_command(*, number: int | None) -> None:
    """Bring back what an agent changed: the latest, or by number."""
    client.ensure_daemon(home())
    with open_memory() as memory:
        done = memory.files.versions.undo(number)
    text = f"{done.folder}/{done.path} is as it was before it was {done.act}"
    output.respond(_change_row(done), text)


note_command.add_command(folder_command)
