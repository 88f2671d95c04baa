"""The text of every event: file writes, commands, prompts, research, commits, and the rest.

Pure functions from an event, or from several equal ones, to an `ObservationDraft`, or None if there
is nothing to record.
"""

from __future__ import annotations

import re

from observer.code.edits import ChangeSummary
from observer.commands.command_line import CommandLine, InlineScript, inline_script
from observer.commands.ending import is_interrupted, own_exit_code
from observer.commands.outcome import first_lines
from observer.commands.result import CommandResult, bare_name
from observer.core import events, json_text
from observer.core.text import (
    base_name,
    block,
    counted,
    distinct,
    first_line,
    listed,
    one_line,
    relative,
    word_set,
)
from observer.observations import drafts, quoting, session_commits
from observer.observations.drafts import ObservationDraft, Where, concepts_of, is_work
from observer.observations.note_reducer import mentions

PROMPT_CHARS = 4000
MESSAGE_CHARS = 2000
_FILES_SHOWN = 6
_FILES_NAMED = 15
"""Files of a commit with what changed in each; a larger one names the rest."""
_ARGUMENTS = 8
_MCP = re.compile(r"\Amcp__(.+?)__(.+)\Z")
_DATA = (".json", ".toml", ".lock", ".yaml", ".yml", ".xml", ".cfg")
_VERSION = frozenset({"version"})
_SIGNS = {"added": "A", "modified": "M", "deleted": "D", "renamed": "R", "copied": "C"}
_PULLED = "fast-forward to"
_PARTED = re.compile(r"[/.]")
_HASH = re.compile(r"[0-9a-f]{40}")
_REPORT = 700
_TRAILER = re.compile(r"^[A-Z][\w-]{1,40}: \S")
_TAKEN = drafts.RECORDS | word_set(
    "commit prompt fix decision constraint heuristic rejected rule fact preference context note"
)


def search(search: events.Search) -> ObservationDraft | None:
    """Return the draft of a search; None for one of the code, whose files are read later."""
    query = one_line(search.query, drafts.FACT)
    if not query or search.where in ("code", "files"):
        return None
    is_page = search.where == "web" and "://" in query.partition(" ")[0]
    return ObservationDraft(
        type="research",
        title=one_line(query, drafts.TITLE),
        subtitle="web page" if is_page else f"{search.where} search",
        facts=(query,),
        chars=len(search.query) + len(search.output),
    )


def delegation(delegation: events.Delegation) -> ObservationDraft | None:
    """Return the draft of a delegation: the sub-agent's task, its result, or both."""
    title = first_line(delegation.task, drafts.TITLE) or first_line(delegation.result, drafts.TITLE)
    if not title:
        return None
    agent = one_line(delegation.agent, 60) or "a sub-agent"
    # The first line of a task is often a short description of the rest.
    name, _, text = delegation.task.partition("\n")
    task = one_line(f"{name.rstrip('.:')}: {text}" if text.strip() else name, 500).rstrip(".")
    said = [f"Handed to {agent}: {task}."] if delegation.task else []
    if delegation.result:
        said.append(f"{agent} came back with: {quoting.quoted(delegation.result, _REPORT)}")
    return ObservationDraft(
        type="delegation",
        title=title,
        subtitle=one_line(f"to {agent}", drafts.SUBTITLE),
        narrative=block("\n".join(said), drafts.NARRATIVE),
        chars=len(delegation.task) + len(delegation.result),
    )


def compaction(compaction: events.Compaction) -> ObservationDraft | None:
    """Return the draft of a compaction: the summary that the client went on with, if it said so."""
    lead = one_line(quoting.opening(compaction.summary), drafts.TITLE)
    if not lead:
        return None
    return ObservationDraft(
        type="compaction",
        title=lead,
        subtitle=one_line(f"context compacted {compaction.trigger}", drafts.SUBTITLE),
        narrative=block(compaction.summary, PROMPT_CHARS),
        chars=len(compaction.summary),
    )


def tool_use(use: events.ToolUse) -> ObservationDraft:
    """Return the draft of the use of any other tool."""
    tool = one_line(_MCP.sub(r"\1 \2", use.tool), 80) or "(unnamed tool)"
    value = json_text.read(use.input)
    given = json_text.pairs(value) if isinstance(value, dict) else []
    asked = (
        json_text.main_of(value) if isinstance(value, dict) else first_line(use.input, drafts.FACT)
    )
    came = first_lines(json_text.plain(use.output), 1) if use.failed else []
    facts = [*([f"{key}: {words}" for key, words in given] or [asked]), *came]
    return ObservationDraft(
        type="tool-use",
        title=one_line(f"{tool}: {asked}" if asked else tool, drafts.TITLE),
        subtitle="failed" if use.failed else "",
        category=drafts.FAILED if use.failed else "",
        facts=distinct((one_line(fact, drafts.FACT) for fact in facts), _ARGUMENTS),
        chars=len(use.input) + len(use.output),
    )


def outcome(outcome: events.Outcome) -> ObservationDraft | None:
    """Return the draft of a result whose call was never seen; None if it is empty."""
    if not first_lines(outcome.output, 1):
        return None
    failed = outcome.failed or bool(outcome.exit_code)
    return tool_use(events.ToolUse(tool=outcome.tool, output=outcome.output, failed=failed))


def commit(commit: events.Commit, where: Where) -> ObservationDraft:
    """Return the draft of a commit: subject, message without trailers, files and their symbols.

    A trailer stands in the last paragraph, such as `Signed-off-by:`.
    """
    short = one_line(commit.hash, 64)[:10]
    action = "commit" if commit.action == "import" else commit.action
    operation = _PULLED if is_pulled(commit) else action
    paths = distinct((relative(file.path, where.root) for file in commit.files), drafts.PATHS)
    symbols = [symbol for file in commit.files[: drafts.FACTS] for symbol in file.symbols]
    author = one_line(commit.author.partition("<")[0], 60)
    said = commit.message.strip().removeprefix(commit.subject).strip()
    paragraphs = said.replace("\r\n", "\n").split("\n\n")
    if all(_TRAILER.match(line) for line in paragraphs[-1].splitlines()):
        paragraphs.pop()
    body, files = block("\n\n".join(paragraphs), MESSAGE_CHARS), _files_text(commit)
    is_merge = len(commit.parents) > 1
    # git writes the subject of a merge; what it brings stands below, if anybody said so.
    subject = (first_line(body, drafts.TITLE) if is_merge else "") or one_line(
        commit.subject, drafts.TITLE
    )
    # A release is a list of what others changed, and with it at most numbers of versions.
    others = [one for one in commit.files if is_work(one.path)]
    is_release = len(others) < len(commit.files) and all(
        one.path.endswith(_DATA) and _VERSION.issuperset(one.symbols) for one in others
    )
    is_new = body if is_merge else not is_release
    return ObservationDraft(
        type="commit",
        title=subject or f"{operation} {short}",
        subtitle=one_line(
            f"{operation} {short}" + (f" by {author}" if author else ""), drafts.SUBTITLE
        ),
        narrative="\n".join(filter(None, (commit.subject if is_merge else "", body, files))),
        facts=(
            f"commit {one_line(commit.hash, 64)}",
            *map(_file_fact, commit.files[:_FILES_NAMED]),
        ),
        concepts=concepts_of(paths[:4], symbols[:4]),
        files_modified=paths,
        category="" if is_new else drafts.REPEATS,
        links=mentions(commit.message or commit.subject),
        chars=len(commit.message or commit.subject) + sum(len(file.path) for file in commit.files),
    )


def is_pulled(commit: events.Commit) -> bool:
    """Return True if a merge was a fast-forward to a commit that was made before."""
    return commit.action == "merge" and len(commit.parents) == 1


def checkout(checkout: events.Checkout) -> ObservationDraft | None:
    """Return the draft of a switch of branch; None if it names no target."""
    to = one_line(checkout.branch or checkout.new[:10], 100)
    if not to:
        return None
    old = one_line(checkout.old, 100)
    old = old[:10] if _HASH.match(old) else old
    return ObservationDraft(
        type="checkout",
        title=one_line(f"Switched to {to}", drafts.TITLE),
        facts=(f"from {old}",) if old.strip("0") else (),
        chars=len(to),
    )


def rewrite(rewrite: events.Rewrite) -> ObservationDraft | None:
    """Return the draft of a rewrite of commits; None if it names none."""
    if not rewrite.pairs:
        return None
    reason = one_line(rewrite.reason, 40) or "rewrite"
    pairs = [
        f"{one_line(old, 64)[:10]} {f'became {one_line(new, 64)[:10]}' if new else 'was dropped'}"
        for old, new in rewrite.pairs
    ]
    return ObservationDraft(
        type="rewrite",
        title=f"{reason}: {counted(len(pairs), 'commit')} rewritten",
        facts=tuple(pairs[: drafts.FACTS]),
        chars=sum(len(old) + len(new) for old, new in rewrite.pairs),
    )


def custom(custom: events.Custom, where: Where) -> ObservationDraft:
    """Return the draft of a custom event of an editor or script; its name becomes the type."""
    name = "-".join(re.findall(r"[a-z0-9]+", custom.name[:200].lower()))[:40]
    files = distinct((relative(path, where.root, where.cwd) for path in custom.files), drafts.PATHS)
    return ObservationDraft(
        type=name if name and name not in _TAKEN else "custom",
        title=first_line(custom.text, drafts.TITLE)
        or one_line(custom.name, drafts.TITLE)
        or "custom",
        subtitle=one_line(custom.name, drafts.SUBTITLE),
        narrative=block(custom.text, PROMPT_CHARS),
        concepts=concepts_of(files[:2]),
        files_read=files,
        chars=len(custom.text),
    )


def _files_text(commit: events.Commit) -> str:
    files, (unlisted, added, removed) = commit.files, commit.unlisted
    if not files:
        return ""
    added += sum(file.added or 0 for file in files)
    removed += sum(file.removed or 0 for file in files)
    lines = f"{counted(added, 'line')} added, {removed:,} removed"
    names = [
        f"{file.path} ({listed(file.symbols, 3)})" if file.symbols else file.path
        for file in files[:_FILES_SHOWN]
    ]
    more = len(files) - len(names) + unlisted
    said = f"{', '.join(names)} and {more:,} more" if more else listed(names, _FILES_SHOWN)
    number = counted(len(files) + unlisted, "file")
    return one_line(f"{number} changed, {lines}: {said}.", drafts.NARRATIVE)


def _file_fact(file: events.FileChange) -> str:
    counts = " binary" if file.added is None else f" +{file.added} -{file.removed or 0}"
    moved = f"{file.old_path} -> " if file.old_path else ""
    symbols = f": {listed(file.symbols, 8)}" if file.symbols else ""
    known = {*file.symbols, *_PARTED.split(file.path)}
    new = [name for name in file.names if name not in known]
    names = f"; brings {listed(new, 8)}" if new else ""
    sign = _SIGNS.get(file.status, "?")
    return one_line(f"{sign} {moved}{file.path}{counts}{symbols}{names}", drafts.FACT)


_PAST = {"create": "Created", "edit": "Modified", "append": "Appended to", "delete": "Deleted"}


def write(
    write: events.FileWrite, change: ChangeSummary, where: Where, *, times: int = 1
) -> ObservationDraft:
    """Return the draft of writes of a file: the first, the sum of all, and their number."""
    path = relative(write.path, where.root, where.cwd)
    verb = _PAST.get(write.operation, "Wrote")
    repeated = f", {times:,} edits" if times > 1 else ""
    fates = (
        ("added", change.new),
        ("changed the signature of", change.resigned),
        ("renamed", [f"{old} to {new}" for old, new in change.renamed]),
        ("changed", change.changed),
        ("removed", change.gone),
        ("changed the comments of", change.commented),
    )
    done = ", ".join(f"{past} {listed(names, 3)}" for past, names in fates if names)
    done = done or (change.only and f"only {change.only}")
    facts = [one_line(f"{past} {name}", drafts.FACT) for past, names in fates for name in names]
    if change.added or change.removed:
        facts.append(f"+{change.added} -{change.removed} lines")
    return ObservationDraft(
        type="file-write",
        title=one_line(f"{verb} {base_name(path)}{': ' if done else ''}{done}", drafts.TITLE),
        subtitle=one_line(f"{write.operation} {path}{repeated}", drafts.SUBTITLE),
        facts=tuple(facts[: drafts.FACTS]),
        files_modified=(path,),
        chars=chars_of(write),
    )


def chars_of(write: events.FileWrite) -> int:
    """Return the number of characters of text in a write."""
    return len(write.content or "") + sum([len(edit.old) + len(edit.new) for edit in write.edits])


def read(read: events.FileRead, where: Where) -> ObservationDraft:
    """Return the draft of a read of files."""
    paths = distinct([relative(path, where.root, where.cwd) for path in read.paths], drafts.PATHS)
    names = listed([base_name(path) for path in paths], 3)
    lines = f", lines {read.lines}" if read.lines else ""
    return ObservationDraft(
        type="file-read",
        title=one_line(f"Read {names}", drafts.TITLE),
        subtitle=one_line(f"read {listed(paths, 3)}", drafts.SUBTITLE),
        narrative=one_line(f"Read {listed(paths, drafts.FACTS)}{lines}.", drafts.NARRATIVE),
        facts=tuple(one_line(path, drafts.FACT) for path in read.paths[: drafts.FACTS]),
        files_read=paths,
    )


def run(
    command: events.Command, line: CommandLine, result: CommandResult, *, where: Where
) -> ObservationDraft:
    """Return the draft of a command that ended with this result; of several runs the last."""
    script = inline_script(command.command)
    code = own_exit_code(command)
    if code == 0 and result.ok is False:
        code = None  # the output contradicts it, and is right more often
    facts = [f"$ {command.command}", *(["interrupted"] if is_interrupted(command) else [])]
    facts += [f"exit code {code}"] if code is not None else []
    if result.tool and result.said:
        is_named = f"{result.tool}: " in result.said
        facts.append(result.said if is_named else f"{result.tool}: {result.said}")
    facts += [f"failing: {name}" for name in result.failing]
    facts += [f"error: {result.first_error}"] if result.first_error else []
    folder = relative(where.cwd, where.root) if where.cwd and where.cwd != where.root else ""
    return ObservationDraft(
        type="command",
        title=_title(command, line, result, script),
        subtitle=one_line(
            (result.failing and result.first_error)
            or command.description
            or (f"in {folder}" if folder else ""),
            drafts.SUBTITLE,
        ),
        facts=tuple(one_line(fact, drafts.FACT) for fact in facts[: drafts.FACTS]),
        files_modified=session_commits.written(command.command, where.root, where.cwd),
        signature=result.signature if result.ok is False else "",
        category=drafts.FAILED if result.ok is False else "",
        chars=len(command.command) + len(command.output),
    )


def _title(
    command: events.Command, line: CommandLine, result: CommandResult, script: InlineScript | None
) -> str:
    """Return the command, with what failed in it, or that it did not run."""
    if script and result.ok is not False:
        written = f"Wrote {listed([*map(base_name, script.writes)], 3)}" if script.writes else ""
        said = first_line(command.description, drafts.TITLE) or written or result.said or "Ran"
        return one_line(f"{said} ({script.program} script)", drafts.TITLE)
    if not result.was_run:
        return one_line(f"{one_line(line.head, drafts.TITLE // 2)}: {result.said}", drafts.TITLE)
    if result.ok is not False or not result.first_error:
        return one_line(line.head, drafts.TITLE)
    failed, names = result.first_error, distinct(map(bare_name, result.failing), 3)
    if names:
        more = max(result.failed or 0, len(result.failing)) - len(names)
        is_cut = len(names) == 3 and more > 0
        shown = f"{names[0]}, {names[1]} and {more + 1:,} more" if is_cut else listed(names, 3)
        failed = f"{shown} failed"
    return one_line(f"{one_line(line.head, drafts.TITLE // 2)}: {failed}", drafts.TITLE)
