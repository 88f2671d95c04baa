"""Which session `why` names for a line of code, against the edits of the transcripts.

The oracle takes lines that stand once in a file as it is at last, finds the newest edit before
git's commit of the line that brought it in, and expects the session of that edit.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from sessions.corpus import Repository
from sessions.history import blamed, git
from sessions.kept import Kept
from sessions.labels import WhyLabel, agreement, read
from sessions.measures import Measure, Scored, line, share
from sessions.product import Reading
from sessions.symbols import texts_of

LINES = 120
_GROUP = "why"
_LEAST_CHARS = 25
_LONGEST_MS = 7 * 86_400_000
"""From an edit to the commit that takes it up."""
_SUFFIXES = frozenset({".go", ".js", ".jsx", ".py", ".rb", ".rs", ".java", ".ts", ".tsx"})


class _Line(NamedTuple):
    file: str
    number: int
    session: str


class _Written(NamedTuple):
    at_ms: int
    session: str


def scored(kept: Kept) -> Scored:
    """Return how often the session that wrote a line is the first that is named, or among them."""
    given = read("why", WhyLabel)
    labels = list(dict.fromkeys(_Line(each.file, each.line, each.session) for each in given))
    asked: dict[str, list[tuple[_Line, list[str]]]] = {"": [], ", labelled": []}
    with Reading(kept.home) as memory:
        for repository in kept.repositories:
            known = {each.session for each in repository.transcripts}
            here = [each for each in labels if each.session in known]
            for suffix, lines in (("", _sample(repository, kept)), (", labelled", here)):
                for each in lines:
                    found = memory.why(f"{each.file}:{each.number}", repository.folder)
                    asked[suffix].append((each, found))
    measures: list[Measure] = []
    for suffix, pairs in asked.items():
        if pairs:
            first = sum(names[:1] == [each.session] for each, names in pairs)
            named = sum(each.session in names for each, names in pairs)
            measures += [
                share(_GROUP, f"right session first{suffix}", first, len(pairs)),
                share(_GROUP, f"right session named{suffix}", named, len(pairs)),
            ]
    both = agreement(given, lambda x: (x.file, x.line), lambda x: x.session)
    if both and asked[", labelled"]:
        measures.append(
            Measure(group=_GROUP, name="agreement of readers (kappa)", value=both[0], n=both[1])
        )
    wrong = [pair for pairs in asked.values() for pair in pairs if pair[1][:1] != [pair[0].session]]
    return Scored(measures=tuple(measures), wrong=tuple(_shown(*pair) for pair in wrong))


def _shown(asked: _Line, found: list[str]) -> str:
    shown = ", ".join(name[:8] for name in found) or "none"
    return line(f"{asked.file}:{asked.number} {asked.session[:8]}: {shown}")


def _sample(repository: Repository, kept: Kept) -> list[_Line]:
    dirty = set(git(repository.folder, "diff", "HEAD", "--name-only").splitlines())
    written = _written(repository, kept)
    found = [
        each
        for file in git(repository.folder, "ls-files").splitlines()
        if file in written and file not in dirty and PurePath(file).suffix in _SUFFIXES
        for each in _lines(repository, file, written[file])
    ]
    return sorted(found, key=_order)[:LINES]


def _order(each: _Line) -> str:
    return hashlib.sha256(f"{each.file}:{each.number}".encode()).hexdigest()


def _written(repository: Repository, kept: Kept) -> dict[str, dict[str, list[_Written]]]:
    """Return by file and line which edits brought the line in, oldest first."""
    found: dict[str, dict[str, list[_Written]]] = defaultdict(lambda: defaultdict(list))
    for step in kept.calls("Edit", "Write"):
        payload = getattr(step.happened, "payload", {})
        file = repository.relative(payload["tool_input"].get("file_path", ""))
        texts = texts_of(payload)
        if step.repository is repository and file and texts:
            before, after = (Counter(map(str.strip, text.split("\n"))) for text in texts)
            for text in after - before:
                found[file][text].append(_Written(step.at_ms, step.session))
    return found


def _lines(
    repository: Repository, file: str, written: dict[str, list[_Written]]
) -> Iterator[_Line]:
    rows = list(blamed(repository.folder, file))
    times = Counter(text for _, _, text in rows)
    for commit, number, text in rows:
        made = repository.history.commits.get(commit)
        if len(text) < _LEAST_CHARS or times[text] > 1 or made is None:
            continue
        fitting = [
            each
            for each in written.get(text, ())
            if made.at_ms - _LONGEST_MS < each.at_ms <= made.at_ms + 1000
        ]
        if fitting:
            yield _Line(file, number, fitting[-1].session)
