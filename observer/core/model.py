"""Where it happened and what is recalled: projects, sessions, recorded events, items.

All values are frozen. Times are integer UTC milliseconds (`*_ms`).
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal, NamedTuple
from unicodedata import normalize

import msgspec

from observer.core.events import Event, Layer, Scope
from observer.core.patterns import lazy_pattern
from observer.core.value import Value


class Place(Value):
    """What the file system says about a folder: the evidence from which a project is recognised.

    `root` is the git work tree, or the folder itself; all worktrees share `common_dir`. `inode` is
    `device:inode[:generation]` of that (without git, of `root`). `remotes` are normalised, origin
    first. `marker` makes a project of a folder without git; `name` is what its policy calls it.
    """

    root: str
    git: bool = False
    common_dir: str = ""
    inode: str = ""
    remotes: tuple[str, ...] = ()
    marker: str = ""
    root_commit: str = ""
    branch: str = ""
    commit: str = ""
    name: str = ""


class Project(Value):
    """A stable identity of a repository or folder; everything but `id` and `uuid` may change."""

    id: int
    uuid: str
    name: str
    roots: tuple[str, ...] = ()
    common_dirs: tuple[str, ...] = ()
    inodes: tuple[str, ...] = ()
    remotes: tuple[str, ...] = ()
    root_commit: str = ""
    earlier_names: tuple[str, ...] = ()
    created_ms: int = 0


UNASSIGNED = 1
"""Id of the project of what happened in no recognisable folder; it always exists."""


class Recorded(Value):
    """An event in its place in the log. `seq` grows by one an event and is never reused.

    `root` was the project's folder. Items are derived by `order`, where one is set.
    """

    seq: int
    event: Event
    project_id: int
    session_id: int | None = None
    root: str = ""
    branch: str = ""
    commit: str = ""
    order: int = 0


class Receipt(Value):
    """What became of an event: its place, project, item; None if `known` by an id or left out."""

    seq: int | None = None
    item: int | None = None
    project_id: int | None = None
    known: str = ""
    is_purged: bool = False
    is_expired: bool = False


ItemKind = Literal["observation", "record", "summary", "note", "inference"]
Slot = Literal["observation", "summary", "arc", "extra"]
Approval = Literal["", "provisional", "approved"]
"""Whether a person stands for a note; `provisional` waits for one."""

KNOWLEDGE_TYPES = frozenset({"decision", "constraint", "heuristic", "rejected"})
"""Types that are ranked above everything else in a context pack (factor 3)."""

_SLOTS: dict[Slot, int] = {"observation": 0, "summary": 1, "arc": 2, "extra": 3}


def item_id(seq: int, slot: Slot = "observation") -> int:
    """Return the id of the item that an event gives rise to, the same in a rebuild."""
    return seq * 4 + _SLOTS[slot]


def seq_of(item_id: int) -> int:
    """Return the `seq` of the event that gave rise to an item: what `item_id` was given."""
    return item_id // 4


def item_uuid(event_id: str, at_ms: int, slot: Slot = "observation") -> str:
    """Return a version 7 UUID that follows from the event: its time, then a digest of its id.

    Source: RFC 9562 section 5.7, with a hash in place of the random bits.
    """
    digest = hashlib.sha256(f"{slot}:{event_id}".encode()).hexdigest()
    time = f"{at_ms & (1 << 48) - 1:012x}"
    variant = "89ab"[int(digest[4], 16) & 3]
    # As `uuid.UUID` writes it, which alone costs as much as all of this, for every event.
    return f"{time[:8]}-{time[8:]}-7{digest[1:4]}-{variant}{digest[5:8]}-{digest[8:20]}"


class SummaryFields(Value):
    """The five answers of a session summary; empty where the session said nothing."""

    request: str = ""
    investigated: str = ""
    learned: str = ""
    completed: str = ""
    next_steps: str = ""

    @property
    def text(self) -> str:
        """All fields but the request as one text, as it is searched."""
        named = (
            ("Completed", self.completed),
            ("Learned", self.learned),
            ("Next", self.next_steps),
            ("Investigated", self.investigated),
        )
        return "\n".join(f"{name}: {text}" for name, text in named if text)


class Link(Value):
    """What an item has to do with another one, such as `fixes`, `evidence` or `reverts`.

    `target` is the other item's id, 0 where only its `title` is known. `hash` and `excerpt` are of
    what the other one said when the link was made, empty for most.
    """

    kind: str
    target: int = 0
    title: str = ""
    hash: str = ""
    excerpt: str = ""

    @property
    def leads_to(self) -> int:
        """The id of the other item, by which a title like `#12` names it; 0 if it is not known."""
        number = self.title.removeprefix("#")
        is_number = number != self.title and number.isascii() and number.isdecimal()
        return self.target or (int(number[:18]) if is_number else 0)


FORMERLY = "formerly"
"""Kind of a link of a note that names no other one, but what the note itself was called before."""


class Enrichment(Value):
    """What a language model wrote at a time about an item, whose `updated_ms` was `as_of_ms`."""

    model: str
    at_ms: int
    as_of_ms: int
    narrative: str = ""
    learned: str = ""
    next_steps: str = ""
    concepts: tuple[str, ...] = ()


class NoteHeader(Value):
    """A note without its words: what patterns among many notes are found by; all as in `Item`."""

    id: int
    title: str
    project_id: int | None
    layer: Layer
    tags: tuple[str, ...]
    links: tuple[Link, ...]
    created_ms: int
    updated_ms: int


class LlmUsage(Value):
    """What language models were sent and sent back in one day (UTC), in tokens and requests."""

    tokens: int = 0
    requests: int = 0


_Moved = Literal["changed", "renamed", "deleted", "reverted", "elsewhere"]
Reason = _Moved | Literal["superseded", "supersedes", "amended", "amends"]


class Validity(Value):
    """What must be said of an item beside what it says, since the world moved on.

    `subject` is the symbol or file that it is about, or begins with the id of the newer or older
    item `target`; `path` is where the file is now. `commit` did it, `since_ms` is when; `share` is
    the part of what the item touched. `branch` is where the item holds, if not here.
    """

    reason: Reason
    subject: str = ""
    path: str = ""
    commit: str = ""
    branch: str = ""
    target: int = 0
    share: float = 1.0
    since_ms: int = 0


class Item(Value):
    """Anything that can be recalled. Paths are relative to the project's root where inside it.

    `discovery_tokens` estimates what the original cost the agent: characters / 4, rounded up.
    `folded` counts the events that this item stands for, `signature` is the normalised error that
    it is about. `file` is the absolute path of the file that a note is kept as, `person` who shared
    it, empty for this home's own. `validity` is not stored: it is as seen from a work tree.
    """

    id: int
    uuid: str
    kind: ItemKind
    type: str
    title: str
    subtitle: str = ""
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    summary: SummaryFields | None = None
    links: tuple[Link, ...] = ()
    signature: str = ""
    enrichment: Enrichment | None = None
    project_id: int | None = None
    session_id: int | None = None
    author: Literal["person", "agent", "system"] = "system"
    owner: str = ""
    scope: Scope = "project"
    layer: Layer = "past"
    key: str = ""
    category: str = ""
    confidence: float | None = None
    status: str = "active"
    branch: str = ""
    commit: str = ""
    content_hash: str = ""
    discovery_tokens: int = 0
    folded: int = 1
    tags: tuple[str, ...] = ()
    expires_ms: int | None = None
    approval: Approval = ""
    suspicion: str = ""
    metadata: str = ""
    file: str = ""
    created_ms: int = 0
    updated_ms: int = 0
    stale_ms: int | None = None
    deleted_ms: int | None = None
    person: str = ""
    validity: tuple[Validity, ...] = ()


ASKED = "\n\nAsked: "
"""What stands between the reply and the prompt in the narrative of a turn."""

UNSPACED = (
    r"\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7a3\uf900-\ufaff"
)
"""Letters (kana, Han, Hangul) that are words by themselves: blanks do not part what they say."""

_UNSPACED = lazy_pattern(f"[{UNSPACED}]")


def spaced(text: str) -> str:
    """Return a text in which each letter of `UNSPACED` stands alone."""
    return text if text.isascii() else _UNSPACED.sub(r" \g<0> ", text)


COLUMNS = ("title", "subtitle", "narrative", "facts", "concepts", "files")
"""What of an item is searched, as a query names it (`title:auth*`); files are read and modified."""


def columns_of(item: Item) -> tuple[str, ...]:
    """Return what of an item is searched, by `COLUMNS`, with what a model wrote."""
    files = dict.fromkeys((*item.files_modified, *item.files_read))
    narrative, concepts = item.narrative, item.concepts
    if wrote := item.enrichment:
        narrative = f"{narrative}\n{wrote.narrative}\n{wrote.learned}\n{wrote.next_steps}"
        concepts += wrote.concepts
    return (
        item.title,
        item.subtitle,
        narrative,
        "\n".join(item.facts),
        " ".join(concepts),
        "\n".join(files),
    )


class ItemChange(Value):
    """An item since a change, None if deleted; its vector in eight bits a dimension, or None."""

    change: int
    id: int
    item: Item | None
    vector: bytes | None = None


class Session(Value):
    """One run of one client in one project. `id` is the `seq` of its first event.

    `state` is the interpreter's own memory of the session, opaque to everyone else.
    """

    id: int
    external: str
    client: str
    project_id: int
    status: Literal["active", "ended", "idle"] = "active"
    cwd: str = ""
    branch: str = ""
    started_ms: int = 0
    last_ms: int = 0
    ended_ms: int | None = None
    prompts: int = 0
    events: int = 0
    first_prompt: str = ""
    parent: str = ""
    state: bytes = b""


def title_key(title: str) -> str:
    """Return what titles compare by: Unicode's compatibility caseless match (there, D146)."""
    return normalize("NFKC", normalize("NFKC", title).casefold())


_SEPARATORS = lazy_pattern(r"[\s_-]+")


def spelling_key(name: str) -> str:
    """Return what the spellings of a name have in common: see `title_key`; separators are one.

    >>> {spelling_key(name) for name in ("Harbour Plan", "harbour_plan", "HARBOUR-plan")}
    {'harbour-plan'}
    """
    return "-".join(filter(None, _SEPARATORS.split(title_key(name))))


@lru_cache(maxsize=4096)  # an answer shows each time twice
def iso(at_ms: int) -> str:
    """Return ISO 8601 UTC with milliseconds, e.g. ``2026-11-21T09:12:01.120Z``."""
    return f"{datetime.fromtimestamp(at_ms // 1000, UTC).isoformat()[:19]}.{at_ms % 1000:03d}Z"


class EntityRelation(NamedTuple):
    """A relation, in an agent's words: ``fee service``, ``uses``, ``Redis``."""

    source: str
    kind: str
    target: str

    def __str__(self) -> str:
        """Return it as it is shown."""
        return f"{self.source} -{self.kind}-> {self.target}"


class _Stated(msgspec.Struct):
    """A relation as mem0 spells it, which has two names for its kind and for its other end."""

    source: str = ""
    relation: str = ""
    relationship: str = ""
    destination: str = ""
    target: str = ""


class _Metadata(msgspec.Struct):
    relations: list[msgspec.Raw] = []


MOST, MOST_CHARS = 100, 200
"""Relations of one memory, and characters of an end or a kind."""
_metadata = msgspec.json.Decoder(_Metadata).decode
_stated = msgspec.json.Decoder(_Stated).decode


def relations_of(item: Item) -> list[EntityRelation]:
    """Return what an item's metadata says in `relations`; what does not name both ends is none."""
    found: list[EntityRelation] = []
    if '"relations"' not in item.metadata:
        return found
    with suppress(msgspec.MsgspecError):
        for raw in _metadata(item.metadata).relations[:MOST]:
            with suppress(msgspec.MsgspecError):
                one = _stated(raw)
                kind, target = one.relation or one.relationship, one.destination or one.target
                words = EntityRelation(*(" ".join(s.split()) for s in (one.source, kind, target)))
                if all(words) and max(map(len, words)) <= MOST_CHARS:
                    found.append(words)
    return found
