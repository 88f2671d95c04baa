"""The text of commands, one or several equal runs: pure functions to an `ObservationDraft`."""

from __future__ import annotations

from observer.core.events import Command
from observer.core.text import (
    base_name,
    distinct,
    first_line,
    listed,
    one_line,
    relative,
)
from observer.observations.drafts import (
    FACT,
    FACTS,
    FAILED,
    PATHS,
    SUBTITLE,
    TITLE,
    ObservationDraft,
    Where,
)
from observer.outcomes.not_started import is_interrupted, own_exit_code
from observer.outcomes.result import CommandResult
from observer.outcomes.signature import bare_name
from observer.shell.command_line import CommandLine, InlineScript, inline_script


def run(
    command: Command, line: CommandLine, result: CommandResult, *, where: Where
) -> ObservationDraft:
    """Return the draft of a command that ended with this result; of several runs the last."""
    script = inline_script(command.command)
    code = own_exit_code(command)
    if code == 0 and result.ok is False:
        code = None  # the output contradicts it, and is right more often
    facts = [f"$ {one_line(command.command, FACT - 2)}", *_outcome_facts(code, result)]
    if is_interrupted(command):
        facts.insert(1, "interrupted")
    folder = relative(where.cwd, where.root) if where.cwd and where.cwd != where.root else ""
    return ObservationDraft(
        type="command",
        title=_title(command, line, result, script),
        subtitle=one_line(
            (result.failing and result.first_error)
            or command.description
            or (f"in {folder}" if folder else ""),
            SUBTITLE,
        ),
        facts=tuple(facts[:FACTS]),
        files_modified=distinct(
            (relative(path, where.root, where.cwd) for path in (script.writes if script else ())),
            PATHS,
        ),
        signature=result.signature if result.ok is False else "",
        category=FAILED if result.ok is False else "",
        chars=len(command.command) + len(command.output),
    )


def started(command: Command, line: CommandLine, where: Where) -> ObservationDraft:
    """Return the draft of a command whose result was never reported."""
    draft = run(command, line, CommandResult(), where=where)
    return ObservationDraft(
        type="command",
        title=draft.title,
        subtitle="started, no result",
        facts=draft.facts,
        chars=draft.chars,
    )


def _title(
    command: Command, line: CommandLine, result: CommandResult, script: InlineScript | None
) -> str:
    """Return the command, with what failed in it, or that it did not run."""
    if script and result.ok is not False:
        written = f"Wrote {listed([*map(base_name, script.writes)], 3)}" if script.writes else ""
        said = first_line(command.description, TITLE) or written or result.said or "Ran"
        return one_line(f"{said} ({script.program} script)", TITLE)
    if not result.was_run:
        return one_line(f"{one_line(line.head, TITLE // 2)}: {result.said}", TITLE)
    if result.ok is not False or not result.first_error:
        return one_line(line.head, TITLE)
    failed = _failing_text(result) if result.failing else result.first_error
    return one_line(f"{one_line(line.head, TITLE // 2)}: {failed}", TITLE)


def _failing_text(result: CommandResult) -> str:
    names = distinct(map(bare_name, result.failing), 3)
    more = max(result.failed or 0, len(result.failing)) - len(names)
    if len(names) < 3 or not more:
        return f"{listed(names, 3)} failed"
    return f"{names[0]}, {names[1]} and {more + 1:,} more failed"


def _outcome_facts(code: int | None, result: CommandResult) -> list[str]:
    facts = [f"exit code {code}"] if code is not None else []
    if result.tool and result.said:
        names = "" if f"{result.tool}: " in result.said else f"{result.tool}: "
        facts.append(one_line(f"{names}{result.said}", FACT))
    facts += (one_line(f"failing: {name}", FACT) for name in result.failing)
    if result.first_error:
        facts.append(one_line(f"error: {result.first_error}", FACT))
    return facts
