"""`observer sync`: shares of this home, what leaves for them, and how they stand."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click
import msgspec

from observer.cli import completion, output
from observer.cli.commands import Group, command
from observer.cli.exclusive import alone_and_drained, open_here
from observer.cli.session import meant, on_behalf, open_memory, reading
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import BadInput, ShareUnavailable
from observer.core.model import iso
from observer.core.moment import minute
from observer.core.paths import Home, home, working_folder
from observer.core.text import counted, one_line
from observer.local import client
from observer.projects.policy import Policies
from observer.store.shares import ShareState
from observer.sync import carriers, incoming, outgoing
from observer.sync.record import NotMember
from observer.upkeep.carry_out import PurgeOrder, carry_out
from observer.upkeep.take_out import all_about

if TYPE_CHECKING:
    from observer.sync.folder import FolderCarrier
    from observer.sync.postgres import ServerTeam

TO = click.Choice(["project", "team"])
SHOWN = 20
"""Records that are shown before any leaves."""
WAIT_S = 600.0
"""A first round may carry everything."""


NOTHING = "nothing is shared; share with: observer sync add FOLDER|GIT-URL|URL"
KEPT_APART = (
    "{} sends nothing while its policy says sharing = none; what is stored meanwhile leaves"
    " when that goes"
)


@click.group("sync", cls=Group, epilog="Example: observer sync status")
def sync_command() -> None:
    """Share what is remembered with other machines and people."""


@command("add", "observer sync add ~/Sync/memory --all", of=sync_command)
@click.argument("url", metavar="FOLDER|GIT-URL|URL")
@click.option("--name", default="", help="What to call it; else the end of its address.")
@click.option("--project", "-p", "projects", multiple=True, help="A project; may be repeated.")
@click.option("--all", "everywhere", is_flag=True, help="All projects, also later ones.")
@click.option("--with", "extra", type=click.Choice(["turns"]), help="turns: prompts and replies.")
@click.option("--create", "is_new", is_flag=True, help="Found the share, where none is yet.")
@click.option("--code", default="", help="The code of an invitation, from: observer sync invite")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def add_command(  # noqa: PLR0913 - the options above
    *,
    url: str,
    name: str,
    projects: tuple[str, ...],
    everywhere: bool,
    extra: str | None,
    is_new: bool,
    code: str,
    yes: bool,
) -> None:
    """Share a project, or all; shows what would leave, and asks."""
    output.refuse_agents("an agent shares nothing")
    here = home()
    if everywhere and projects:
        raise BadInput("--project and --all contradict each other", hint="give one of them")
    if is_new and carriers.is_server(url):
        carriers.create_share(url, here.root, person="").close()
        asks = "a share is there; with the same address: observer sync invite URL PERSON"
        output.respond({"url": carriers.without_login(url)}, asks)
        return
    called = name or url.partition("?")[0].rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
    asked = ShareState(
        name=called,
        url=_address(url),
        key=secrets.token_hex(8),
        origin=str(uuid4()),
        projects=() if everywhere else _chosen(projects),
        turns=extra == "turns",
        added_ms=now_ms(),
    )
    share = _as_before(here, asked, is_other=is_new or bool(code))
    if not (is_new or code):
        carriers.open_carrier(share.url, here.root).close()
    _show(here, share)
    asks = "Share these, and what comes?"
    output.confirm_once(asks, yes=yes, refusal="nothing leaves", hint="add --yes")
    if is_new:
        carriers.create_share(share.url, here.root, person=config.owner(config.load(here))).close()
    elif code:
        carriers.join_share(share.url, here.root, code).close()
    client.ensure_daemon(here)
    body = {"add": msgspec.to_builtins(share)}
    done = client.call(here, "POST", "/sync", body, wait_s=WAIT_S)
    _rounds([one for one in done if one["name"] == share.name])


@command("invite", "observer sync invite memory ben", of=sync_command)
@click.argument("name", metavar="NAME|URL")
@click.argument("person")
def invite_command(*, name: str, person: str) -> None:
    """Let a machine in; prints what it joins with. Of a server: URL."""
    output.refuse_agents("an agent invites nobody")
    url, carrier = _team(name)
    with closing(carrier):
        code = carrier.invite(person)
    adds = code if carriers.is_server(url) else f"{url} --code {code}"
    if not output.as_json({"name": carriers.without_login(name), "person": person, "code": code}):
        output.say("on the other machine, in the project:")
        output.say(f"observer sync add {adds}", is_exact=True)  # a fold would break it


@command("members", "observer sync members memory", of=sync_command)
@click.argument("name", metavar="NAME|URL")
def members_command(*, name: str) -> None:
    """Show the machines that are in; of a server the logins."""
    with closing(_team(name)[1]) as carrier:
        rows = [{"id": one, "person": person} for one, person in carrier.members()]
    output.table(("id", "person"), [(one["id"], one["person"]) for one in rows], value=rows)


@command("expel", "observer sync expel memory 5b1e0c…", of=sync_command)
@click.argument("name", metavar="NAME|URL")
@click.argument("member", metavar="ID")
def expel_command(*, name: str, member: str) -> None:
    """End the membership of a machine, or of a login: see members."""
    output.refuse_agents("an agent removes nobody")
    with closing(_team(name)[1]) as carrier:
        carrier.remove(member)
    output.respond(
        {"name": carriers.without_login(name), "removed": member}, f"{member} gets nothing more"
    )


@command("rotate", "observer sync rotate memory", of=sync_command)
@click.argument("name")
def rotate_command(*, name: str) -> None:
    """Give this machine fresh keys to a share of files."""
    output.refuse_agents("an agent changes no keys")
    share = _share(home(), name)
    if carriers.is_server(share.url):
        raise BadInput("a share on a server has no keys", hint="its owner makes a new login")
    with closing(carriers.open_files(share.url, home().root)) as carrier:
        carrier.rotate()
    output.respond({"name": name}, "this machine has fresh keys")


@command("now", "observer sync now", of=sync_command)
def now_command() -> None:
    """Fetch and send at once."""
    client.ensure_daemon(home())
    _rounds(client.call(home(), "POST", "/sync", b"{}", wait_s=WAIT_S))


@command("status", "observer sync status", of=sync_command)
def status_command() -> None:
    """Show what waits, what was refused, and when all was carried."""
    rows = _status(home())
    if output.as_json(rows):
        return
    cells = (
        (
            *(one["name"], ", ".join(one["projects"]) or "all", one["waiting"]),
            *(one[at] or "never" for at in ("pushed_at", "pulled_at")),
            *(len(one["refused"]), one["url"]),
        )
        for one in rows
    )
    columns = ("share", "projects", "waiting", "sent", "fetched", "refused", "at")
    output.table(columns, cells, spare=("at", "projects"), none=NOTHING)
    for one in rows:
        kept = map(KEPT_APART.format, one["kept_apart"])
        for why in (*filter(None, [one["fault"]]), *one["refused"], *kept):
            output.note(f"{one['name']}: {why}")
        for item in one["two_versions"]:
            output.note(
                f"{one['name']}: note {item} was changed on two machines apart; the later version"
                f" is shown, both are in: observer note history {item}"
            )


@command("remove", "observer sync remove memory", of=sync_command)
@click.argument("name")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def remove_command(*, name: str, yes: bool) -> None:
    """Leave a share; what came from others is dropped here."""
    output.refuse_agents("an agent leaves no share")
    here = home()
    share = _share(here, name)
    with reading(here) as reader:
        came = len(reader.seqs_shared(share.key))
    if not output.wants_json():
        output.say(f"{counted(came, 'record')} came from others: dropped here, not there")
    output.confirm_once(f"Leave {name}?", yes=yes, refusal="nothing was changed", hint="add --yes")
    is_over = _ended(here, share)
    dropped = _left(here, share, may_return=not is_over)
    output.respond({"name": name, "dropped": dropped}, f"left {name}")


@command("promote", "observer promote 142 --to team")
@click.argument("handle", metavar="ID|UUID", shell_complete=completion.items)
@click.option("--to", type=TO, default="project", show_default=True, help="team: for all projects.")
@output.named_project("Of which project it is; the one around the current folder.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def promote_command(*, handle: str, to: str, project: str | None, yes: bool) -> None:
    """Make a personal note one of a project or team."""
    output.refuse_agents("an agent gives no personal note away")
    with open_memory() as memory:
        item = memory.notes.get(handle)
        place = meant(memory, project)
    if place is None:
        raise BadInput("no project is known around here", hint="name one with --project")
    if not output.wants_json():
        output.say(f"#{item.id} {item.type} - {item.title}\n{item.narrative}")
    asks = f"Give it to {place.name}?"
    output.confirm_once(asks, yes=yes, refusal="nothing was changed", hint="add --yes")
    kept = on_behalf("/note", action="promote", id=item.id, to=to, project=place.uuid)
    output.respond(kept, f"#{kept['id']} is of the {to} now")


def _chosen(names: Sequence[str]) -> tuple[int, ...]:
    with open_memory() as memory:
        if names:
            return tuple(memory.project(name).id for name in names)
        around = memory.project_at(str(working_folder()))
    if around is None:
        hint = "begin it with: observer import git; or share --all"
        raise BadInput("nothing is recorded of a project around here yet", hint=hint)
    return (around.id,)


def _share(here: Home, name: str) -> ShareState:
    with reading(here) as reader:
        return outgoing.share_called(reader, name)


def _as_before(here: Home, share: ShareState, *, is_other: bool) -> ShareState:
    """Return a share that is to be added, going on where this home was when it left it."""
    with reading(here) as reader:
        there = reader.shares()
        before = reader.meta(outgoing.left_key(share.url))
    for one in there:
        if one.url == share.url:
            raise BadInput(f"it is shared already, as {one.name!r}")
        if one.name == share.name:
            raise BadInput(f"there is a share {share.name!r}", hint="give another with --name")
    if not before or is_other:
        return share
    origin, sequence, digest = before.split(" ")
    return msgspec.structs.replace(share, origin=origin, sequence=int(sequence), hash=digest)


def _address(url: str) -> str:
    """Return what a share is known by; a folder, which lies in no work tree, by its whole path."""
    if carriers.is_git(url) or carriers.is_server(url):
        return url
    folder = (working_folder() / Path(url).expanduser()).resolve()
    for above in (folder, *folder.parents):
        if (above / ".git").exists():
            raise BadInput(f"{folder} lies in the git work tree {above}", hint="choose another")
    return str(folder)


def _team(name: str) -> tuple[str, FolderCarrier | ServerTeam]:
    """Return the address of a share by its name, or as it is given, and what its members are."""
    url = name if carriers.is_server(name) else _share(home(), name).url
    return url, carriers.open_team(url, home().root)


def _ended(here: Home, share: ShareState) -> bool:
    """End this machine's membership in a share of files; return False if it goes on."""
    if carriers.is_server(share.url):
        return False
    try:
        with closing(carriers.open_files(share.url, here.root)) as carrier:
            carrier.leave()
    except NotMember:
        return True  # a removal that was killed had come so far
    except ShareUnavailable as error:
        output.note(f"this machine is still a member: {error}")
        return False
    return True


def _show(here: Home, share: ShareState) -> None:
    settings = config.load(here)
    with reading(here) as reader:
        apart = outgoing.kept_apart(reader, Policies(), share.name)
        found = outgoing.first_leaving(reader, share, apart, str(Path.home()), limit=SHOWN + 1)
    if output.wants_json():
        return
    for project_id, project in apart.items():
        if project_id in (share.projects or apart):
            output.say(KEPT_APART.format(project))
    leaves = f"as {config.owner(settings)} would leave for {carriers.without_login(share.url)}:"
    output.say(leaves if found else "nothing leaves yet")
    for one in found[:SHOWN]:
        output.say(f"  {one.project.name}: {one.item.type} - {one_line(one.item.title, 80)}")
    if len(found) > SHOWN:
        output.say("  and more")


def _rounds(done: Sequence[dict[str, Any]]) -> None:
    is_said = output.as_json(done)
    if not (done or is_said):
        output.say(NOTHING)
    for one in () if is_said else done:
        if "error" in one:
            output.note(f"{one['name']}: {one['error']}")
            if one["hint"]:
                output.note(f"hint: {one['hint']}")
            continue
        output.say(f"{one['name']}: {one['sent']} sent, {one['taken']} taken in")
        if one["unsearched"]:
            output.note(f"{one['name']}: {one['unsearched']}")
        if one["refused"]:
            output.note("some was refused; which says: observer sync status")
    if any("error" in one for one in done):
        click.get_current_context().exit(ShareUnavailable.exit_code)


def _status(here: Home) -> list[dict[str, Any]]:
    policies = Policies()
    with reading(here) as reader:
        names = {project.id: project.name for project in reader.projects()}
        return [
            {
                "name": one.name,
                "url": carriers.without_login(one.url),
                "projects": [names.get(each, f"#{each}") for each in one.projects],
                "turns": one.turns,
                "waiting": reader.count_waiting(one.name),
                "pushed_at": _shown(one.pushed_ms),
                "pulled_at": _shown(one.pulled_ms),
                "refused": [each.why for each in reader.refusals(one.name)],
                "fault": one.fault,
                "kept_apart": [
                    project
                    for number, project in outgoing.kept_apart(reader, policies, one.name).items()
                    if not one.projects or number in one.projects
                ],
                "two_versions": [each.id for each in incoming.changed_apart(reader, one.name)],
            }
            for one in reader.shares()
        ]


def _shown(at_ms: int | None) -> str | None:
    if at_ms is None:
        return None
    return iso(at_ms) if output.wants_json() else minute(at_ms)


def _left(here: Home, share: ShareState, *, may_return: bool) -> int:
    with alone_and_drained(here):
        with closing(open_here(here.database, here.backups)) as store:
            with store.write() as writer:
                if may_return:
                    sequence, digest = incoming.carried(writer, share)
                    known = f"{share.origin} {sequence} {digest}"
                    writer.put_meta(outgoing.left_key(share.url), known)
                writer.drop_share(share.name)
            with store.read() as reader:
                seqs = set(all_about(reader, reader.seqs_shared(share.key)))
                seqs.difference_update(*(reader.seqs_shared(s.key) for s in reader.shares()))
                kept = reader.totals().events - len(seqs)
        if not seqs:
            return 0
        todo = PurgeOrder(seqs=tuple(sorted(seqs)), only_these=True)
        with output.progress("dropping", kept) as advance:
            return carry_out(here, todo, open_here, advance=advance).events
