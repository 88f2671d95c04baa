"""`observer pause` and `observer resume` of recording; `observer policy` of a repository."""

from __future__ import annotations

import os
from pathlib import Path

import click
import msgspec

from observer.cli.options import named_project, refuse_agents
from observer.cli.output import emit, json_option, say
from observer.cli.session import open_memory
from observer.core import config
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.errors import BadInput, NotFound, ObserverError
from observer.core.paths import home, working_folder
from observer.daemon.status import Paused, paused, paused_text
from observer.policy import FILE, Policies, Policy
from observer.policy.apply import Exclusion
from observer.projects import detect_place, work_tree_of
from observer.spool.pauses import EVERYWHERE, OF_SESSION, UNENDING_MS
from observer.spool.spool import Spool
from observer.views.parse_filters import coming_ms

_REFUSED = "an agent neither pauses nor resumes recording"


@click.command("pause", epilog="Example: observer pause --for 1h --project .")
@click.option("--for", "span", default="", help="How long: 30min, 1h, 2d; until resumed if absent.")
@named_project("Only in this project, by name, folder or remote; . is the one around you.")
@click.option("--session", default="", help="Only this session, by its id.")
@json_option
def pause_command(*, span: str, project: str | None, session: str, as_json: bool) -> None:
    """Record nothing for a while: everywhere, in one project, or of one session."""
    refuse_agents(_REFUSED)
    at_ms = now_ms()
    until_ms = coming_ms(span, now_ms=at_ms) or UNENDING_MS
    scopes = _scopes(project, session) or [EVERYWHERE]
    begun = Spool(home().spool).pauses.begin(scopes, from_ms=at_ms, until_ms=until_ms)
    _report("paused", [paused(one) for one in begun], as_json=as_json)


@click.command("resume", epilog="Example: observer resume")
@named_project("Only what was paused in this project.")
@click.option("--session", default="", help="Only what was paused of this session.")
@json_option
def resume_command(*, project: str | None, session: str, as_json: bool) -> None:
    """Record again: end every pause, or those of one project or session."""
    refuse_agents(_REFUSED)
    scopes = _scopes(project, session)
    ended = Spool(home().spool).pauses.end(scopes or None, now_ms=now_ms())
    _report("resumed", [paused(one) for one in ended], as_json=as_json)


def _scopes(project: str | None, session: str) -> list[str]:
    """Return the scopes of the options, empty without options."""
    if project and session:
        raise BadInput("a session is paused wherever it is", hint="leave out --project")
    if session:
        return [OF_SESSION + _external(session)]
    return _roots(project) if project else []


def _external(handle: str) -> str:
    """Return the client's own id of a session; an id that is not known yet is accepted."""
    if not handle.isdecimal():
        return handle
    with open_memory() as memory:
        found = memory.session_names([int(handle)])
    if not found:
        raise NotFound(f"there is no session {handle}", hint="list them: observer sessions")
    return found[int(handle)]


def _roots(handle: str) -> list[str]:
    """Return the folders of a project; of an unknown one its work tree."""
    here = detect_place(handle).root if Path(handle).is_dir() else ""
    try:
        with open_memory() as memory:
            known = memory.project(handle).roots
    except ObserverError:
        if not here:
            raise
        known = ()
    return list(dict.fromkeys((*known, *([here] if here else []))))


def _report(done: str, pauses: list[Paused], *, as_json: bool) -> None:
    if as_json:
        emit({done: pauses})
        return
    for one in pauses:
        say(f"{done} {paused_text(one)}" if done == "paused" else f"{done} {one.where}")
    if done == "paused":
        say("record again with: observer resume")
    elif not pauses:
        say("nothing was paused")


class PolicyDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What applies to a path; `file` is "" without a policy, `why` is "" if it is recorded."""

    path: str
    root: str
    file: str = ""
    exclude: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    retention_days: int | None = None
    name: str = ""
    sharing: str = "all"
    problem: str = ""
    hint: str = ""
    is_recorded: bool = True
    why: str = ""


@click.command("policy", epilog="Example: observer policy src/fixtures/customers.csv")
@click.argument("path", default=".", type=click.Path(path_type=Path))
@json_option
def policy_command(*, path: Path, as_json: bool) -> int:
    """Show a repository's policy and whether a path is recorded; exit with 1 if it is broken."""
    answer = _answer(Path(os.path.abspath(working_folder() / path)))  # noqa: PTH100 - links count
    if as_json:
        emit(answer)
    else:
        _show(answer)
    return 1 if answer.problem else 0


def _answer(path: Path) -> PolicyDecision:
    is_folder = path.is_dir()
    folder = str(path) if is_folder else work_tree_of(str(path), "/") or str(path.parent)
    place = detect_place(folder)
    policy = Policies().of(place)
    why = _why(path, policy, config.load(home()), root=place.root, is_folder=is_folder)
    decision = PolicyDecision(path=str(path), root=place.root, is_recorded=not why, why=why)
    if not policy.root:
        return decision
    own = f"{place.root}/{FILE}"
    problem = policy.problem
    return msgspec.structs.replace(
        decision,
        file=problem.path if problem else own,
        exclude=policy.exclude,
        never=tuple(sorted(policy.never)),
        retention_days=policy.retention_days,
        name=policy.name,
        sharing=policy.sharing,
        problem=str(problem) if problem else "",
        hint=problem.hint if problem else "",
    )


def _why(path: Path, policy: Policy, settings: Settings, *, root: str, is_folder: bool) -> str:
    """Return why a path is not recorded, "" if it is."""
    if Exclusion(settings.exclude).holds(str(path)):
        return "`exclude` in config.toml"
    if policy.problem:
        return "the policy cannot be used"
    for name in (str(path), os.path.realpath(path)):
        if root and name.startswith(f"{root}/"):
            pattern = policy.excluding(name[len(root) :], is_folder=is_folder)
            if pattern:
                return f"`{pattern}` in {FILE}"
    return ""


def _show(answer: PolicyDecision) -> None:
    say(answer.file or "no policy here")
    if answer.problem:
        say(f"cannot be used: {answer.problem}\nwhat to do: {answer.hint}")
    rows = {
        "exclude": ", ".join(answer.exclude),
        "never": ", ".join(answer.never),
        "retention_days": answer.retention_days or "",
        "name": answer.name,
        "sharing": answer.sharing if answer.file and not answer.problem else "",
    }
    for key, value in rows.items():
        if value:
            say(f"{key:<15} {value}")
    say(f"{answer.path}: {f'not recorded: {answer.why}' if answer.why else 'recorded'}")
