"""Reduce the events of a note to the note: what a person or agent recorded on purpose.

`Remember` creates a note, or replaces the one with the same key or text; `Revise`, `Approve` and
`Forget` change it; `Undo` reverts the last change that still stands. What another home shares is
one more version (`Shared`): of two the later is shown, and a deletion is for good.

The text of a note has claims, tags and wiki links. A claim is a list item that states one thing:
`- [category] text #tag (context)`. A wiki link names a note by title, `[[Title]]`, and may say how
it relates: `- relation [[Title]] (context)`. Any text can be parsed, and what was formatted is
parsed to an equal value.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import orjson
from msgspec.structs import replace

from observer.core import events
from observer.core.events import Event
from observer.core.filters import RECORDED_KINDS
from observer.core.model import FORMERLY, Item, Link, Recorded, item_id, item_uuid, title_key
from observer.core.text import block, distinct, first_line, one_line
from observer.core.value import Value
from observer.observations.drafts import TITLE, content_hash
from observer.observations.prompt_injection import suspicion

_FENCE = re.compile(r"\s{0,3}(```|~~~)")


def prose(text: str) -> Iterator[str]:
    """Yield the lines outside of fenced code."""
    fence = ""
    for line in text.split("\n"):
        if mark := _FENCE.match(line):
            fence = "" if fence == mark[1] else fence or mark[1]
        elif not fence:
            yield line


def _spaced(text: str) -> str:
    return " ".join(text.split())


MAX_LINKS = 100
"""Most links of one note."""
TITLE_CHARS = 200
_LINK = re.compile(rf"\[\[([^\[\]|#]{{1,{TITLE_CHARS}}})(?:[|#][^\[\]]{{0,{TITLE_CHARS}}})?\]\]")
_ALONE = re.compile(
    rf"\s*(?:[-*+]|\d{{1,9}}[.)])\s+(?:([\w-]{{1,60}})|\"([^\"\[\]]{{1,60}})\")\s+"
    rf"{_LINK.pattern}(?:\s+\(([^()]+)\))?\s*"
)
_CONDITION = re.compile(r"\[\[\s")
_CODE = re.compile(r"`[^`]*`")


class WikiLink(Value):
    """A link by title; `relation` and `context` are given if it is a list item of its own."""

    title: str
    relation: str = ""
    context: str = ""


def parse_links(text: str) -> tuple[WikiLink, ...]:
    """Return the links of a text in order, without duplicates, aliases and anchors."""
    found: dict[tuple[str, str], WikiLink] = {}
    for line in prose(text) if "[[" in text else ():
        if "[[" not in line:
            continue
        plain = _CODE.sub(" ", line)
        links = [WikiLink(title=_spaced(title)) for title in _LINK.findall(plain)]
        if alone := _ALONE.fullmatch(plain):
            word, words, title, context = (_spaced(part or "") for part in alone.groups())
            links = [WikiLink(title=title, relation=word or words, context=context)]
        for link in links:
            if link.title and len(found) < MAX_LINKS:
                found.setdefault((title_key(link.title), link.relation), link)
    return tuple(found.values())


_ACT = re.compile(
    rf"(?<![\w-])(supersedes|replaces|amends):?[ \t]+"
    rf"(?:(#\d{{1,18}})(?!\w)|memory://([^\s\]]{{1,{TITLE_CHARS}}})|{_LINK.pattern})",
    re.IGNORECASE,
)


def acts(text: str) -> tuple[Link, ...]:
    """Return what a note says to do to other notes, which it names by title.

    The keyword stands right before the name: `supersedes #12`, `amends [[Title]]`,
    `replaces memory://folder/permalink`; `#12` and the end of a permalink are kept as titles.
    """
    found: dict[tuple[str, str], Link] = {}
    for line in prose(text):
        for keyword, number, permalink, title in _ACT.findall(_CODE.sub(" ", line)):
            kind = "amends" if keyword.lower() == "amends" else "supersedes"
            name = number or permalink.rstrip(".,;:!?)").rpartition("/")[2] or title
            link = Link(kind=kind, title=one_line(name.strip(), TITLE_CHARS))
            found.setdefault((kind, title_key(name)), link)
    return tuple(found.values())[:MAX_LINKS]


def mentions(text: str) -> tuple[Link, ...]:
    """Return links to the notes that a prompt or commit message names as `[[Title]]`.

    Conditions of a shell (`[[ -f x ]]`) and lists of numbers are none.
    """
    titles = (link.title for link in parse_links(_CONDITION.sub(" ", text)))
    return tuple(
        Link(kind="wiki", title=one_line(title, TITLE_CHARS))
        for title in titles
        if any(map(str.isalpha, title))
    )


CONTENT_CHARS = 65_536
METADATA_CHARS = 16_384
TAGS = 32
LINKS = 100
FORMER_TITLES = 20
EXPLICIT = "explicit"
OnNote = events.Approve | events.Forget | events.Revise | events.Undo
"""What happens to a note after it was recorded."""
_SYNONYMS = {"": "fact", "general": "fact"}
_LAYERS: dict[str, events.Layer] = {"decision": "past", "rejected": "past", "rule": "rule"}


def note_uuid(event_id: str, at_ms: int) -> str:
    """Return the uuid of the note that an event begins, by its id and time, in ms."""
    return item_uuid(one_line(event_id, 200), at_ms)


def note(recorded: Recorded, existing: Item | None, *, owner: str) -> Item:
    """Return the note that a `Remember` event records.

    One under the same key that is `existing` gives its id, uuid and creation time, the event all
    else. `owner` keeps the personal notes here; notes of other scopes have none.

    Raises:
        TypeError: the event is of another kind.
    """
    event = recorded.event
    body = event.body
    if not isinstance(body, events.Remember):
        raise TypeError(f"not a remember event: {event.id}")
    kind = note_type(body.type)
    made = Item(
        id=item_id(recorded.seq),
        uuid=note_uuid(event.id, event.at_ms),
        kind="inference" if kind == "inference" else "note",
        type=kind,
        title="",
        project_id=recorded.project_id if body.scope == "project" else None,
        session_id=recorded.session_id,
        author=event.author,
        owner=owner if body.scope == "personal" else "",
        scope=body.scope,
        layer=body.layer or layer_of(kind),
        key=label_of(body.key),
        category=label_of(body.category),
        confidence=body.confidence,
        tags=tags_of(body.tags),
        links=_explicit(body.links, existing.id if existing else item_id(recorded.seq)),
        expires_ms=body.expires_ms or None,
        metadata=body.metadata,
        branch=one_line(recorded.branch, 250),
        commit=one_line(recorded.commit, 64),
        created_ms=event.at_ms,
        updated_ms=event.at_ms,
    )
    made = _with_text(made, body.title, block(body.content, CONTENT_CHARS))
    if existing is not None:
        kept = made if made.key else _merged_note(made, existing, body)
        kept = replace(kept, id=existing.id, uuid=existing.uuid, created_ms=existing.created_ms)
        kept = replace(kept, updated_ms=_after(existing, event.at_ms), person="")
        made = _with_former_titles(kept, existing, is_named=bool(body.title))
    return _with_trust(made, existing, by=event.author)


def folded(history: Sequence[Recorded]) -> Item | None:
    """Return the note that a history, in log order, gives; None for none."""
    versions = versions_of(history)
    return versions[-1][1] if versions else None


def versions_of(history: Sequence[Recorded]) -> list[tuple[Recorded, Item]]:
    """Return the changes of a note that still stand, each with the note as it then was."""
    standing: list[tuple[Recorded, Item]] = []
    for recorded in history:
        body = recorded.event.body
        if isinstance(body, events.Undo):
            standing = _taken_back(standing, recorded.event)
        elif isinstance(body, events.Shared) and body.item is None:
            at_ms = recorded.event.at_ms
            standing += [(recorded, forgotten(item, at_ms)) for _, item in standing[-1:]]
            break  # whatever is done afterwards
        elif isinstance(body, events.Shared):
            _take_in(standing, recorded, body)
        elif isinstance(body, events.Remember):
            before = standing[-1][1] if standing else None
            standing.append((recorded, note(recorded, before, owner=body.owner)))
        elif standing:
            standing.append((recorded, changed(standing[-1][1], recorded)))
    return standing


def _taken_back(standing: list[tuple[Recorded, Item]], undo: Event) -> list[tuple[Recorded, Item]]:
    """Return the versions without the last one; the first stays.

    A note that was deleted comes back under a uuid of its own: where a share took the deletion,
    what had the old one stays deleted.
    """
    if len(standing) < 2:
        return standing
    *left, (taken_back, gone) = standing
    last, item = left[-1]
    if isinstance(taken_back.event.body, events.Forget):
        uuid = note_uuid(undo.id, undo.at_ms)
        left = [(by, replace(each, uuid=uuid)) for by, each in left]
        return [*left[:-1], (last, replace(item, uuid=uuid, person=""))]
    at_ms = _after(gone, undo.at_ms) if gone.person else item.updated_ms
    return [*left[:-1], (last, replace(item, person="", updated_ms=at_ms))]


def _take_in(
    standing: list[tuple[Recorded, Item]], recorded: Recorded, body: events.Shared
) -> None:
    """Put a version that another home shares where it belongs among those that stand.

    Each home has its own order, across homes the later one is shown; the clock of one may be wrong,
    but all homes agree.
    """
    made = shared(recorded, body, standing[-1][1] if standing else None)
    if made is None:
        return
    at = len(standing)
    if standing:
        last, item = standing[-1]
        is_next = (
            isinstance(last.event.body, events.Shared) and last.event.body.origin == body.origin
        )
        moment, last_moment = ((one.updated_ms, one.content_hash) for one in (made, item))
        if not is_next and moment < last_moment:
            at -= 1
    standing.insert(at, (recorded, made))


def shared(recorded: Recorded, body: events.Shared, existing: Item | None) -> Item | None:
    """Return the item that another home shares, as it is here; None if that makes none.

    One with its uuid that is `existing` keeps its id. What only a machine knows is this one's; a
    link may have the uuid of another item as its title.
    """
    try:
        item = msgspec.convert(body.item, Item)
    except msgspec.ValidationError:  # redaction may take away what another home took for plain
        return None
    is_note = item.kind in RECORDED_KINDS
    item = replace(
        item,
        id=existing.id if existing else item_id(recorded.seq),
        uuid=body.uuid,
        title=item.title or _headed(item.narrative),
        project_id=None if is_note and item.scope == "team" else recorded.project_id,
        session_id=None,
        owner="",
        person=body.person,
        links=tuple(replace(link, target=0) for link in item.links),
        enrichment=None,
        content_hash=content_hash(item.narrative) if is_note else item.content_hash,
        file="",
        created_ms=existing.created_ms if existing else item.created_ms,
        stale_ms=None,
        deleted_ms=existing.deleted_ms if existing else None,
        validity=(),
    )
    return _with_trust(item, existing, by="agent") if is_note else item


def changed(item: Item, recorded: Recorded) -> Item:
    """Return a note after a `Revise`, `Approve` or `Forget`; other events do not change it."""
    event = recorded.event
    match event.body:
        case events.Revise():
            return _revised(item, recorded, event.body)
        case events.Approve() if event.author == "person":
            return replace(item, approval="approved", suspicion="", updated_ms=event.at_ms)
        case events.Forget():
            return forgotten(item, event.at_ms)
    return item


def forgotten(item: Item, at_ms: int) -> Item:
    """Return an item as deleted at a time; deleting again changes nothing."""
    return item if item.deleted_ms is not None else replace(item, deleted_ms=at_ms)


def note_type(name: str) -> str:
    """Return a type as it is stored: lower case with hyphens; `general` is `fact`."""
    spelled = _composed(name[:200]).lower()
    words = "".join(
        sign if sign.isalnum() or unicodedata.category(sign) in {"Mn", "Mc"} else " "
        for sign in spelled
    ).split()
    slug = "-".join(words)[:40]
    return _SYNONYMS.get(slug, slug)


def title_of(name: str) -> str:
    """Return a title as it is stored, and as links name it."""
    return one_line(_composed(name), TITLE)


def own_title(item: Item) -> str:
    """Return the title that a note was given; empty for one that is its first line's."""
    return "" if item.title == _headed(item.narrative) else item.title


def label_of(name: str) -> str:
    """Return a key or a category as it is stored."""
    return one_line(_composed(name), 200)


def layer_of(kind: str) -> events.Layer:
    """Return the default layer of a type of note: `past` for decisions, `rule` for rules."""
    return _LAYERS.get(kind, "state")


def tags_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return tags as they are stored: in lower case, without `#`, without duplicates."""
    spelled = (one_line(_composed(name), 60) for name in names)
    return distinct((name.lstrip("#").strip().lower() for name in spelled), TAGS)


def references_of(item: Item) -> tuple[events.Reference, ...]:
    """Return the links of a note that were made by id."""
    return tuple(
        events.Reference(kind=link.kind, item=link.target, hash=link.hash, excerpt=link.excerpt)
        for link in item.links
        if link.target
    )


def _merged_note(made: Item, existing: Item, body: events.Remember) -> Item:
    """Return a note whose text was remembered again: fields that are not given stay."""
    is_typed = made.type != note_type("")
    is_to_come = (existing.expires_ms or 0) > made.updated_ms
    again = replace(
        existing,
        type=made.type if is_typed else existing.type,
        layer=made.layer if is_typed or body.layer else existing.layer,
        category=made.category or existing.category,
        confidence=existing.confidence if made.confidence is None else made.confidence,
        tags=distinct((*existing.tags, *made.tags), TAGS),
        links=_explicit((*references_of(existing), *references_of(made)), existing.id),
        expires_ms=made.expires_ms or (existing.expires_ms if is_to_come else None),
        metadata=_merged(existing.metadata, made.metadata),
        updated_ms=made.updated_ms,
        deleted_ms=None,
    )
    return _with_text(again, body.title or existing.title, made.narrative)


def _merged(metadata: str, added: str) -> str:
    """Return two JSON objects merged, the second's fields winning; only it if that is too long."""
    try:
        both = {**orjson.loads(metadata or "{}"), **orjson.loads(added or "{}")}
    except (ValueError, TypeError):  # kept by a version that checked less
        return added or metadata
    text = orjson.dumps(both).decode() if both else ""
    return text if len(text) <= METADATA_CHARS else added


def _composed(name: str) -> str:
    """Return a name in Unicode's composed form (NFC)."""
    return unicodedata.normalize("NFC", name)


def _headed(content: str) -> str:
    """Return the title of a note that has none of its own."""
    return title_of(first_line(content, TITLE))


def _revised(item: Item, recorded: Recorded, body: events.Revise) -> Item:
    kind = item.type if body.type is None else note_type(body.type)
    given: dict[str, Any] = {  # fields of several types
        "category": None if body.category is None else label_of(body.category),
        "confidence": body.confidence,
        "tags": None if body.tags is None else tags_of(body.tags),
        "links": None if body.links is None else _explicit(body.links, item.id),
        "metadata": body.metadata,
    }
    changes = {name: value for name, value in given.items() if value is not None} | {
        "type": kind,
        "layer": body.layer or (item.layer if body.type is None else layer_of(kind)),
        "author": recorded.event.author,
        "updated_ms": _after(item, recorded.event.at_ms),
        "person": "",
    }
    if body.scope is not None:
        home = recorded.project_id if body.scope == "project" else None
        changes |= {"scope": body.scope, "owner": "", "project_id": home}
    if body.expires_ms is not None:
        changes["expires_ms"] = body.expires_ms or None
    content = item.narrative if body.content is None else block(body.content, CONTENT_CHARS)
    title = own_title(item) if body.title is None else body.title
    after = _with_text(replace(item, **changes), title, content)
    after = _with_former_titles(after, item, is_named=bool(body.title))
    # Changing tags or links does not vouch for the text.
    return after if _same_words(after, item) else _with_trust(after, item, by=recorded.event.author)


def _after(before: Item, at_ms: int) -> int:
    """Return when a note is changed: after what another home wrote, whose clock may be ahead."""
    return max(at_ms, before.updated_ms + 1) if before.person else at_ms


def _with_text(item: Item, title: str, content: str) -> Item:
    """Return a note with a title and text, and with all fields that are derived from them."""
    wiki = (Link(kind="wiki", title=title_of(link.title)) for link in parse_links(content))
    explicit = (link for link in item.links if link.target)
    return replace(
        item,
        title=title_of(title) or _headed(content) or f"Empty {item.type}",
        subtitle=item.category,
        narrative=content,
        concepts=item.tags,
        links=(*explicit, *acts(content), *wiki),
        content_hash=content_hash(content),
        discovery_tokens=-(-len(content) // 4),
    )


def _with_former_titles(item: Item, before: Item, *, is_named: bool) -> Item:
    """Return a note with what it was called before, by which links go on to mean it.

    A title that was made from the first line, and is made anew from another one, was no name.
    """
    names = [link.title for link in before.links if link.kind == FORMERLY]
    if is_named or before.title != _headed(before.narrative):
        names.append(before.title)
    others = {title_key(name): name for name in names}
    others.pop(title_key(item.title), None)
    former = (Link(kind=FORMERLY, title=name) for name in [*others.values()][-FORMER_TITLES:])
    links = (link for link in item.links if link.kind != FORMERLY)
    return replace(item, links=(*links, *former))


def _with_trust(item: Item, before: Item | None, *, by: str) -> Item:
    """Return a note with its approval and suspicion; an approval holds until the text changes."""
    if before and before.approval == "approved" and _same_words(item, before):
        return replace(item, approval="approved", suspicion="")
    approval = "" if item.layer != "rule" else "approved" if by == "person" else "provisional"
    return replace(item, approval=approval, suspicion=suspicion(f"{item.title}\n{item.narrative}"))


def _same_words(item: Item, other: Item) -> bool:
    return all(
        getattr(item, name) == getattr(other, name) for name in ("title", "narrative", "layer")
    )


def _explicit(references: Sequence[events.Reference], own: int) -> tuple[Link, ...]:
    """Return links by id without duplicates and without a link to the note itself."""
    different: dict[tuple[str, int], Link] = {}
    for each in references:
        kind = note_type(each.kind) if each.kind else EXPLICIT
        made = Link(kind=kind, target=each.item, hash=each.hash, excerpt=each.excerpt)
        different.setdefault((kind, each.item), made)
    return tuple(link for link in different.values() if 0 < link.target != own)[:LINKS]
