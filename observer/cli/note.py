"""`observer note`: list, edit, link, approve, draft; `observer forget`, `observer undo`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click

from observer.cli import completion
from observer.cli.commands import Group
from observer.cli.note_folder import folder_command
from observer.cli.output import (
    as_json,
    confirm_once,
    json_option,
    limit_option,
    named_project,
    note,
    refuse_agents,
    respond,
    say,
    scope_options,
)
from observer.cli.session import LINKS, known_types, meant, nearly, on_behalf, open_memory
from observer.core import moment
from observer.core.errors import BadInput, NotFound
from observer.core.events import Layer, Scope
from observer.core.model import Item, Session, iso
from observer.core.paths import home
from observer.core.text import counted, did_you_mean
from observer.local import client
from observer.memory.api import Memory
from observer.notes import drafts
from observer.notes.drafts import Draft, skills
from observer.notes.pairs import Pair
from observer.search.handles import SearchOptions
from observer.tools import note_api, render
from observer.tools.asking import nothing, scope_line

item_argument = click.argument("handle", metavar="ID|UUID", shell_complete=completion.items)


@click.group(
    "note",
    cls=Group,
    invoke_without_command=True,
    epilog="Example: observer note --tag auth --layer state",
)
@scope_options
@click.option(
    "--type", "types", default="", callback=known_types, help="Only these, e.g. decision,rule."
)
@click.option("--category", default="", help="Only notes of this category.")
@click.option("--layer", type=click.Choice(get_args(Layer)), help="Only notes of this layer.")
@click.option("--scope", type=click.Choice(get_args(Scope)), help="Only notes of this scope.")
@click.option("--tag", "tags", multiple=True, help="Only notes with this tag; may be repeated.")
@click.option("--waiting", is_flag=True, help="Only what waits for approval, or is suspicious.")
@limit_option(50, "Most notes listed.")
@json_option
@click.pass_context
def note_command(
    context: click.Context,
    /,
    *,
    project: str | None,
    everywhere: bool,
    waiting: bool,
    limit: int,
    **given: Any,  # noqa: ANN401 - the options above
) -> None:
    """List notes, newest first, or change one of them."""
    if context.invoked_subcommand is not None:
        return
    types = tuple(filter(None, given.pop("types").split(",")))
    wanted = SearchOptions(kinds=("note",), types=types, **given)
    with open_memory() as memory:
        here = None if everywhere and not project else meant(memory, project)
        # What waits is rare: look further back than what is shown.
        found = memory.notes.list(
            project=here.uuid if here else None, narrow=wanted, limit=10_000 if waiting else limit
        )
        if waiting:
            found = [i for i in found if i.approval == "provisional" or i.suspicion][:limit]
        name = memory.project_names()
        if not as_json([note_api.row(item, name) for item in found]):
            say(scope_line(here.name if here else ""))
            like = waiting or wanted != SearchOptions(kinds=("note",))
            more = "leave out an option" if like else "keep one with: observer remember TEXT"
            why = f"no notes {'like that' if like else 'yet'}"
            empty = nothing(why, more, everywhere=here is None)
            say("\n".join(note_api.listed(item, name) for item in found) or empty)


@note_command.command("history", epilog="Example: observer note history 142")
@item_argument
@json_option
def history_command(*, handle: str) -> None:
    """Show all versions of a note, oldest first."""
    with open_memory() as memory:
        found = memory.notes.history(handle)
        name = memory.project_names()
    names = ("number", "action", "author", "stands")
    rows = [
        {each: getattr(one, each) for each in names}
        | {"created_at": iso(one.at_ms), "note": note_api.row(one.item, name)}
        for one in found
    ]
    respond(rows, "\n".join(map(note_api.version, found)))


@note_command.command(
    "edit", epilog='Example: observer note edit 142 "Tests need Redis 7" --tag ci'
)
@item_argument
@click.argument("content", nargs=-1, metavar="[TEXT...|-]")
@click.option("--title", help="A new title.")
@click.option("--type", "type_", help="A new type.")
@click.option("--category", help="A new category.")
@click.option("--confidence", type=float, help="How sure, from 0 to 1.")
@click.option("--layer", type=click.Choice(get_args(Layer)), help="A new layer.")
@click.option("--tag", "tags", multiple=True, help="The new tags, all of them; may be repeated.")
@json_option
def edit_command(*, handle: str, content: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401 - the options above
    """Change a note: its text, or what the options name."""
    given["type"] = given.pop("type_")
    if content:
        given["content"] = sys.stdin.read() if content == ("-",) else " ".join(content)
    changes = {name: value for name, value in given.items() if value not in {None, ()}}
    _change(handle, "edit", changes=changes)


@click.command("undo", epilog="Example: observer undo 142")
@item_argument
@json_option
def undo_command(*, handle: str) -> None:
    """Take back a note's last change, or an item's deletion."""
    _change(handle, "undo")


@note_command.command("deleted", epilog="Example: observer note deleted --of ana --undo")
@click.option("--of", "of", default="", help="Only an owner's: a user_id, or agent:AGENT_ID.")
@click.option("--undo", is_flag=True, help="Bring all that is listed back.")
@json_option
def deleted_command(*, of: str, undo: bool) -> None:
    """List what agents deleted for good and can be brought back."""
    refuse_agents("an agent sees no notes of others")
    with open_memory() as memory:
        found = [one for one in memory.deleted() if of in {"", one.item.owner}]
    final = [(one.item, one.final_ms) for one in found]
    rows = [
        {"id": i.id, "owner": i.owner, "title": i.title, "final_at": iso(at)} for i, at in final
    ]
    if not as_json(rows):
        for item, at_ms in final:
            whose = f" of {item.owner}" if item.owner else ""
            say(f"#{item.id}{whose}: {item.title} (until {moment.minute(at_ms)})")
        if not found:
            say("no agent's deletion waits; what you forgot comes back with: observer undo ID")
    for one in found if undo else ():
        _change(str(one.item.id), "undo")


@note_command.command("approve", epilog="Example: observer note approve 142")
@item_argument
@json_option
def approve_command(*, handle: str) -> None:
    """Stand for a note: a rule holds, a suspicion is laid aside."""
    _change(handle, "approve")


@note_command.command("link", epilog="Example: observer note link 142 97 --kind supersedes")
@item_argument
@click.argument("target", metavar="[ID|UUID]", default="", shell_complete=completion.items)
@click.option("--kind", default="explicit", show_default=True, help="supersedes, amends, ...")
@click.option("--remove", is_flag=True, help="Take such links out instead.")
@json_option
def link_command(*, handle: str, target: str, kind: str, remove: bool) -> None:
    """Link a note to another item, or list its links."""
    if not target:
        _list_links(handle)
        return
    if near := nearly(kind, LINKS):
        raise BadInput(f"no kind of link {kind!r}", hint=did_you_mean([near]))
    action = "unlink" if remove else "link"
    _change(handle, action, target=target, kind=kind)


def _list_links(handle: str) -> None:
    with open_memory() as memory:
        found = memory.notes.links(handle)
    ways = {
        way: [{"kind": c.kind, "title": c.title, "id": c.item and c.item.id} for c in each]
        for way, each in (("out", found.out), ("back", found.back))
    }
    shown = "\n".join(note_api.connections(found.out, found.back))
    none = f"no links: observer note link {handle} OTHER makes one"
    respond(ways, shown or none)


@note_command.command("review", epilog="Example: observer note review --project shop")
@named_project("Name, folder or remote; the one around the current folder.")
@limit_option(20, "Most pairs shown.")
@json_option
def review_command(*, project: str | None, limit: int) -> None:
    """Settle near notes: which replaces or amends the other."""
    with open_memory() as memory:
        chosen = meant(memory, project)
        if chosen is None:
            raise NotFound("no project is known here", hint="name one: --project NAME")
        found = memory.pairs.open(chosen, limit=limit)
        name = memory.project_names()
    ends = ("newer", "older")
    if as_json([{e: note_api.row(getattr(p, e), name) for e in ends} for p in found.pairs]):
        return
    say(f"{counted(found.total, 'near pair')} of notes in {chosen.name} not settled")
    if found.degraded:
        note(found.degraded)
    for pair in found.pairs:
        say(note_api.pair_lines(pair))
        if sys.stdin.isatty() and not _settle(pair):
            return
    if found.pairs and not sys.stdin.isatty():
        note("settle them in a terminal, or with: observer note link NEWER OLDER --kind supersedes")


_SETTLED = {"r": "replaces", "a": "amends", "b": "both stand", "m": "merge"}


def _settle(pair: Pair) -> bool:
    """Ask what holds of a pair and store it; False to stop."""
    asked = "the newer [r]eplaces or [a]mends the older, [b]oth stand, [m]erge, [s]kip, [q]uit"
    key = click.prompt(asked, type=click.Choice([*_SETTLED, "s", "q"]), show_choices=False)
    if key not in _SETTLED:
        return bool(key == "s")
    both = f"{pair.newer.narrative}\n\n{pair.older.narrative}\n"
    merged = (click.edit(both) or "").strip() if key == "m" else ""
    if key == "m" and not merged:
        return True
    asked_for = {"how": _SETTLED[key], "other": pair.older.id, "content": merged}
    _change(str(pair.newer.id), "settle", **asked_for)
    return True


@click.command("forget", epilog="Example: observer forget 142")
@item_argument
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
def forget_command(*, handle: str, yes: bool) -> None:
    """Delete an item by its id; observer undo brings it back."""
    client.ensure_daemon(home())
    with open_memory() as memory:
        item_id = memory.resolve(handle)
        (item,) = memory.observations([item_id]).items
        shown = render.heading(item, memory.project_names())
    if not yes:
        note(shown)
        confirm_once("Forget it?", refusal="nothing was forgotten", hint="add --yes")
    answer = on_behalf("/forget", id=item_id)
    undo = f"bring it back with: observer undo {item_id}"
    respond(answer, f"forgot {shown}", remark=undo)


def _change(handle: str, action: str, **asked: object) -> None:
    after = on_behalf("/note", action=action, id=handle, **asked)
    marks = ", ".join(filter(None, (after["approval"], after["suspicion"])))
    done = {"edit": "changed ", "undo": "back to "}.get(action, "")
    text = f"{done}#{after['id']} {after['title']}" + (f" ({marks})" if marks else "")
    undo = f"take it back with: observer undo {after['id']}" if action == "edit" else ""
    respond(after, text, remark=undo)


note_command.add_command(folder_command)


MOST = 5_000
"""Items of one draft that are looked through."""
HITS = 50


@note_command.command("draft", epilog="Example: observer note draft '#142' --to docs/runbooks")
@click.argument("words", nargs=-1, metavar="[SESSION|#ITEM|TOPIC...]")
@click.option("--testing", is_flag=True, help="How the project is tested.")
@click.option("--skills", "as_skills", is_flag=True, help="Commands that sessions run together.")
@named_project("Name, folder or remote; the one around the current folder.")
@click.option("--to", "target", type=click.Path(path_type=Path), help="A new file, or a folder.")
@json_option
def draft_command(
    *,
    words: tuple[str, ...],
    testing: bool,
    as_skills: bool,
    project: str | None,
    target: Path | None,
) -> None:
    """Draft a decision record, a runbook or a skill."""
    what = " ".join(words)
    if sum((bool(what), testing, as_skills)) != 1:
        raise BadInput(
            "name what to draft, or one of --testing and --skills",
            hint="observer note draft SESSION, '#142' for a fix, or a topic in words",
        )
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
        raise NotFound(
            "no commands were run together by three sessions yet", hint="ask again in some weeks"
        )
    paths = [_write(target, draft) for draft in made] if target else []
    if not as_json([{"path": draft.path, "text": draft.text} for draft in made]):
        text = "\n".join(map(str, paths)) or "\n".join(draft.text for draft in made)
        say(text, is_exact=True)


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
        title = what
        sessions: Sequence[Session] = ()
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
    is_folder = target.is_dir() or "/" in draft.path
    path = target / draft.path if is_folder else target
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(draft.text)
    except FileExistsError as error:
        raise BadInput(f"{path} is there already", hint="name another place") from error
    return path
