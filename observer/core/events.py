"""What happened: the decoded form of everything that hooks, fronts and the daemon report.

Times are integer UTC milliseconds (`*_ms`). An `Event`'s kind is the tag of its `body`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from observer.core.value import SymbolChanges, TokenUsage
from observer.core.value import Value as Value  # noqa: PLC0414 - every value is imported from here

Scope = Literal["personal", "project", "team"]
Layer = Literal["past", "state", "rule"]  # what happened, how things are, how to behave


class Body(Value, tag_field="kind"):
    """Base of the event bodies; the tag is the event's kind."""


class SessionStart(Body, tag="session-start"):
    """A client began or resumed a session."""

    source: str = ""
    model: str = ""
    parent_session: str = ""


class SessionEnd(Body, tag="session-end"):
    """A session is over, by the client's word, or `idle` by the daemon's.

    `uncommitted` are its files that git found changed then; None where git was not asked.
    """

    reason: str = ""
    uncommitted: tuple[str, ...] | None = None


class Prompt(Body, tag="prompt"):
    """What the person asked."""

    text: str
    files: tuple[str, ...] = ()


class Reply(Body, tag="reply"):
    """The agent's last words of one turn; `usage` is the whole turn's, sub-agents' included."""

    text: str = ""
    usage: TokenUsage | None = None


class Edit(Value):
    """One replacement inside a file; an empty `old` is an insertion."""

    old: str = ""
    new: str = ""


class FileWrite(Body, tag="file-write"):
    """A file was created, changed or deleted; `symbols` are known where its whole text was."""

    path: str
    operation: Literal["create", "edit", "append", "delete", "write"] = "edit"
    edits: tuple[Edit, ...] = ()
    content: str | None = None
    tool: str = ""
    error: str = ""
    symbols: SymbolChanges | None = None


class FileRead(Body, tag="file-read"):
    """Files were read; `lines` is the part that was read, where the client says which."""

    paths: tuple[str, ...]
    lines: str = ""
    tool: str = ""


class Command(Body, tag="command"):
    """A shell command ended. `failed` is None where the client does not say."""

    command: str
    output: str = ""
    exit_code: int | None = None
    failed: bool | None = None
    interrupted: bool = False
    duration_ms: int | None = None
    description: str = ""


class Search(Body, tag="search"):
    """Something was looked up, in code or on the web."""

    query: str
    where: Literal["code", "files", "web", "memory"] = "code"
    path: str = ""
    output: str = ""
    tool: str = ""


class Delegation(Body, tag="delegation"):
    """Work was handed to a sub-agent, or came back from it (`result`)."""

    task: str = ""
    agent: str = ""
    result: str = ""


class ToolUse(Body, tag="tool-use"):
    """Any other tool, MCP tools included; `input` and `output` are text."""

    tool: str
    input: str = ""
    output: str = ""
    failed: bool | None = None


class Intent(Body, tag="intent"):
    """A tool is about to run. Kept for clients whose result does not repeat what was asked."""

    tool: str
    of: Command | FileWrite | FileRead | Search | ToolUse


class Outcome(Body, tag="outcome"):
    """A tool's result without its input; paired with the oldest open `Intent` of the same tool."""

    tool: str
    output: str = ""
    exit_code: int | None = None
    failed: bool | None = None


class Compaction(Body, tag="compaction"):
    """The client shortened its context; `summary` is the text it kept, if it says so."""

    trigger: str = ""
    summary: str = ""


class FileChange(Value):
    """One file of a commit; line counts are None for binary files.

    `symbols` are named in hunk headers and changed lines, `names` in added lines only.
    """

    path: str
    status: Literal["added", "modified", "deleted", "renamed", "copied", "other"] = "modified"
    old_path: str = ""
    added: int | None = None
    removed: int | None = None
    symbols: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class Commit(Body, tag="commit"):
    """A commit, and how git made it; `unlisted`: files too many to list, their lines in and out."""

    hash: str
    subject: str = ""
    message: str = ""
    author: str = ""
    authored_ms: int | None = None
    parents: tuple[str, ...] = ()
    files: tuple[FileChange, ...] = ()
    unlisted: tuple[int, int, int] = (0, 0, 0)
    action: Literal["commit", "amend", "merge", "cherry-pick", "revert", "import"] = "commit"


class Checkout(Body, tag="checkout"):
    """HEAD moved to another branch or commit."""

    old: str = ""
    new: str = ""
    branch: str = ""


class Rewrite(Body, tag="rewrite"):
    """Commits were replaced by others: pairs of (old hash, new hash), "" if a reset dropped it."""

    reason: str = ""
    pairs: tuple[tuple[str, str], ...] = ()


class Reference(Value):
    """What an item has to do with another, such as `amends`, and what that said, if it matters."""

    kind: str = "explicit"
    item: int = 0
    hash: str = ""
    excerpt: str = ""


class Remember(Body, tag="remember"):
    """A note recorded on purpose. `key` makes it an upsert within its scope and owner.

    Without a `layer` the type decides it. `metadata` is a JSON object as text.
    """

    content: str
    title: str = ""
    type: str = "fact"
    key: str = ""
    category: str = ""
    confidence: float | None = None
    scope: Scope = "project"
    owner: str = ""
    layer: Layer | None = None
    tags: tuple[str, ...] = ()
    links: tuple[Reference, ...] = ()
    expires_ms: int | None = None
    metadata: str = ""


class Revise(Body, tag="revise"):
    """A note was changed by its exact id; what is None stays, with a `scope` it is not personal.

    An `expires_ms` of 0 means never. `links` are all explicit ones that it has from now on.
    """

    item: int
    scope: Literal["project", "team"] | None = None
    content: str | None = None
    title: str | None = None
    type: str | None = None
    category: str | None = None
    confidence: float | None = None
    layer: Layer | None = None
    tags: tuple[str, ...] | None = None
    links: tuple[Reference, ...] | None = None
    expires_ms: int | None = None
    metadata: str | None = None


class Approve(Body, tag="approve"):
    """A person stands for a note as it is now; by anybody else it says nothing."""

    item: int


class Undo(Body, tag="undo"):
    """The last change of a note that still stood was taken back, or the deletion of any item."""

    item: int


class Forget(Body, tag="forget"):
    """An item was deleted by its exact id; a note for good at `final_ms`, if that is given."""

    item: int
    final_ms: int | None = None


class Enriched(Body, tag="enriched"):
    """A language model wrote about an item, as that was at `as_of_ms` (its `updated_ms` then)."""

    item: int
    model: str
    as_of_ms: int
    narrative: str = ""
    learned: str = ""
    next_steps: str = ""
    concepts: tuple[str, ...] = ()


class Triage(Body, tag="triage"):
    """A signal was judged by its `owner`: its id and what it said, and what became of it."""

    signal: int
    status: Literal["new", "snoozed", "dismissed", "minted"]
    type: str
    text: str = ""
    evidence: tuple[int, ...] = ()
    owner: str = ""


class Shared(Body, tag="shared"):
    """What another home says of one of its items: how it is, or, without `item`, that it is gone.

    It came as record `sequence` of `origin` by `share`, which is the share's key. `uuid` is the
    item's in all homes, `person` whose words they are; `item` has fields of `model.Item`.
    """

    share: str
    origin: str
    sequence: int
    uuid: str
    person: str
    item: Mapping[str, Any] | None = None  # JSON, checked where an item is made of it


class Custom(Body, tag="custom"):
    """Whatever else an editor or script wants remembered."""

    name: str
    text: str = ""
    files: tuple[str, ...] = ()


AnyBody = (
    SessionStart | SessionEnd | Prompt | Reply | FileWrite | FileRead | Command | Search
    | Delegation | ToolUse | Intent | Outcome | Compaction | Commit | Checkout | Rewrite
    | Remember | Revise | Approve | Undo | Forget | Enriched | Triage | Shared | Custom
)  # fmt: skip


def kind_of(body: Body) -> str:
    """Return the tag of a body, e.g. ``"file-write"``."""
    return str(body.__struct_config__.tag)


class Event(Value):
    """One decoded event, redacted from the moment it leaves `redaction.redact`.

    `id` is the spool entry's name, unique for ever; `session` is the client's own id of it. `dedup`
    is equal for two reports of one event of a project; `route` is the hook that reported it. Where
    known, `branch` was checked out ("" for a detached HEAD), `since` is the commit before; `model`,
    `trace` (a W3C traceparent) and `remote` (of the repository) are of the work.
    """

    id: str
    at_ms: int
    client: str
    body: AnyBody
    session: str = ""
    agent: str = ""
    turn: str = ""
    cwd: str = ""
    roots: tuple[str, ...] = ()
    host: str = ""
    route: str = ""
    dedup: str = ""
    author: Literal["person", "agent", "system"] = "agent"
    branch: str | None = None
    since: str = ""
    model: str = ""
    trace: str = ""
    remote: str = ""
