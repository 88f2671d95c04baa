"""What an edit changed: lines in and out, and which symbols were added, changed or removed.

Part of interpretation (step 6). Lines are compared as multisets between the common beginning and
end, so the time is linear in the text; symbols are found by their defining lines
(`languages.definition`).
"""

from __future__ import annotations

import sys

from observer.events import Edit, FileWrite, Value
from observer.interpret.wording import distinct, one_line
from observer.languages import FLAT, IDENTIFIER, KEYWORDS, definition, language_of

SYMBOLS = 24
"""Most symbols of one sort that a change names."""
NAMES = 12
"""Most identifiers that a change names as coming in or going out."""

_LINES = 4000
_NAMED_CHARS = 8192
_CONTINUING = frozenset(")]{")
_CLOSING = frozenset(")]}")


class Change(Value):
    """What happened to one file; the sum of several edits if they were folded.

    `new`, `changed` and `gone` are symbols. `names` are identifiers that came in, `dropped` those
    that went. `before` and `after` hold the text of a change of a single line.
    """

    added: int = 0
    removed: int = 0
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    before: str = ""
    after: str = ""

    @property
    def symbols(self) -> tuple[str, ...]:
        """Every symbol that was touched, new ones first."""
        return distinct((*self.new, *self.changed, *self.gone), 3 * SYMBOLS)


def change_of(write: FileWrite) -> Change:
    """Return what a write changed, as far as the event shows it."""
    language = language_of(write.path.replace("\\", "/"))
    edits = write.edits or ((Edit(new=write.content),) if write.content else ())
    change = Change()
    for number, edit in enumerate(edits):
        one = difference(edit.old, edit.new, language)
        change = merged(change, one) if number else one
    return change


def difference(old: str, new: str, language: str) -> Change:
    """Compare two versions of a piece of text."""
    old_lines, new_lines = _split(old), _split(new)
    start = _common(old_lines, new_lines)
    end = _common(old_lines[start:][::-1], new_lines[start:][::-1])
    old_part = old_lines[start : len(old_lines) - end]
    new_part = new_lines[start : len(new_lines) - end]
    gone, fresh = _only_in(old_part, new_part), _only_in(new_part, old_part)
    is_single = len(gone) == len(fresh) == 1
    around = _enclosing(new_lines[:start], language)
    was, touched = _walk(old_part, set(gone), around, language)
    now, touched_now = _walk(new_part, set(fresh), around, language)
    is_moved = was.keys() != now.keys()
    below = _defined(new_lines[len(new_lines) - end :], language) if is_moved else set()
    touched |= touched_now
    touched |= {name for name, line in now.items() if was.get(name, line) != line}
    stayed = [name for _, name in around] + [name for name in now if name in was]
    return Change(
        added=len(fresh),
        removed=len(gone),
        new=distinct([name for name in now if name not in was and name not in below], SYMBOLS),
        changed=distinct([name for name in stayed if name in touched], SYMBOLS),
        gone=distinct([name for name in was if name not in now and name not in below], SYMBOLS),
        names=_identifiers(fresh, old),
        dropped=_identifiers(gone, new),
        before=one_line(gone[0], 100) if is_single else "",
        after=one_line(fresh[0], 100) if is_single else "",
    )


def merged(first: Change, then: Change) -> Change:
    """Return the sum of two changes of one file, in the order they were made."""
    new = distinct((*first.new, *then.new), SYMBOLS)
    gone = distinct((*first.gone, *then.gone), SYMBOLS)
    came_and_went = {name for name in first.new if name in then.gone}
    back_again = {name for name in first.gone if name in then.new}
    moved = [name for name in then.new if name in back_again]
    changed = (*first.changed, *then.changed, *moved)
    settled = {*new, *gone} - back_again
    return Change(
        added=first.added + then.added,
        removed=first.removed + then.removed,
        new=tuple(name for name in new if name not in came_and_went | back_again),
        changed=distinct((name for name in changed if name not in settled), SYMBOLS),
        gone=tuple(name for name in gone if name not in came_and_went | back_again),
        names=distinct((*first.names, *then.names), NAMES),
        dropped=distinct((*first.dropped, *then.dropped), NAMES),
    )


def _split(text: str) -> list[str]:
    if not text:
        return []
    return text.removesuffix("\n").split("\n")


def _common(first: list[str], second: list[str]) -> int:
    """Return how many lines both begin with."""
    for count, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return count
    return min(len(first), len(second))


def _only_in(part: list[str], other: list[str]) -> list[str]:
    """Return the lines of a part that the other does not have, each as often as it lacks it."""
    if not part or not other:
        return part
    spare: dict[str, int] = {}
    for line in other:
        spare[line] = spare.get(line, 0) + 1
    found = []
    for line in part:
        if spare.get(line):
            spare[line] -= 1
        else:
            found.append(line)
    return found


def _identifiers(lines: list[str], other: str) -> tuple[str, ...]:
    if not lines:
        return ()
    found: dict[str, None] = {}
    for name in IDENTIFIER.findall("\n".join(lines)[:_NAMED_CHARS]):
        if name not in found and name not in KEYWORDS and name not in other:
            found[name] = None
            if len(found) == NAMES:
                break
    return tuple(found)


def _enclosing(lines: list[str], language: str) -> list[tuple[int, str]]:
    """Return (indentation, name) of the definitions open behind these lines, outermost first."""
    found: list[tuple[int, str]] = []
    limit = sys.maxsize
    for line in reversed(lines[-_LINES:]):
        text = line.lstrip()
        if not text or text[0] in _CONTINUING:
            continue
        indent = len(line) - len(text)
        name = definition(text, indent, language)
        if name and (indent < limit or language in FLAT):
            found.insert(0, (indent, name))
        limit = min(limit, indent)
        if found and (language in FLAT or not limit):
            break
    return found


def _walk(
    part: list[str], changed: set[str], around: list[tuple[int, str]], language: str
) -> tuple[dict[str, str], set[str]]:
    """Return the definitions in a part (name -> line), and the names around changed lines."""
    defined: dict[str, str] = {}
    touched: set[str] = set()
    inside = list(around)
    is_flat = language in FLAT
    for line in part[:_LINES]:
        text = line.lstrip()
        if not text:
            continue
        indent = len(line) - len(text)
        name = definition(text, indent, language)
        if inside:
            _leave(inside, text, indent, is_flat=is_flat, is_definition=bool(name))
        if name:
            inside.append((indent, name))
            defined[name] = text
        elif inside and text[0] not in _CLOSING and line in changed:
            touched.add(inside[-1][1])
    return defined, touched


def _leave(
    inside: list[tuple[int, str]], text: str, indent: int, *, is_flat: bool, is_definition: bool
) -> None:
    """Drop the definitions that end before a line.

    A line that begins with a closing parenthesis or an opening brace goes on with its definition,
    however it is indented.
    """
    if is_flat:
        if is_definition:
            inside.clear()
    elif text[0] not in _CONTINUING:
        while inside and inside[-1][0] >= indent:
            inside.pop()


def _defined(lines: list[str], language: str) -> set[str]:
    stripped = ((line.lstrip(), line) for line in lines[:_LINES])
    return {definition(text, len(line) - len(text), language) for text, line in stripped if text}
