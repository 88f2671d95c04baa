"""How much of what a session touches first its start context names, and at what cost.

Baselines know the same past: the last files of `git log`, and the files that earlier turns and
commits touched most, younger ones weighing more.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from sessions.corpus import Repository
from sessions.history import git
from sessions.kept import Kept
from sessions.measures import Measure, Scored, count, line, mean
from sessions.transcript import HookEvent, Json, Transcript
from sessions.turns import likely_files, units

FIRST_CALLS = 20
KNOWN_AFTER = 10
"""Sessions of a repository after which there is something to know."""
_GROUP = "start"
_LOGGED, _LIKELY = 20, (10, 20, 40)
_TOKEN_CHARS = 4
_NAME = re.compile(r"(?<![\w./-])[\w@./-]*\w\.(?!\d)\w{1,6}(?![\w./(-])")
_TOOLS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Read", "Write"})
_ENDED = frozenset({"PostToolUse", "PostToolUseFailure"})


class _Work(NamedTuple):
    """What a session touched: by its first calls, and by all calls in order."""

    first: Sequence[str]
    files: Sequence[str]


def scored(kept: Kept, *, known_after: int = KNOWN_AFTER) -> Scored:
    """Return the share of first files that are named by context and baselines, and its size."""
    shares: dict[str, list[float]] = defaultdict(list)
    wrong = []
    for repository in kept.repositories:
        twice = _ambiguous(repository)
        works = {each.session: _work(repository, each) for each in repository.transcripts}
        past: set[str] = set()
        touched = units([repository])
        for start in kept.log.starts:
            if start.repository != repository.name:
                continue
            work = works[start.session]
            if start.number > known_after and work.first:
                named = _named(start.context, work.first, twice)
                before = [unit for unit in touched if unit.at_ms < start.at_ms]
                answers: dict[str, Collection[str]] = {
                    "named by the context": named,
                    f"by {_LOGGED} files of git log": start.recent[:_LOGGED],
                    **{f"by {n} likely files": likely_files(before, n) for n in _LIKELY},
                    "known from earlier sessions": past,
                }
                for name, files in answers.items():
                    found = sum(file in files for file in work.first)
                    shares[name].append(found / len(work.first))
                missed = [file for file in work.first if file not in named]
                wrong.append(line(f"{start.number} {start.session[:8]} {missed}", 300))
            past |= set(work.files)
    contexts = [start.context for start in kept.log.starts if start.number > known_after]
    measures: list[Measure] = [mean(_GROUP, name, values) for name, values in shares.items()]
    known = [_names(text) for text in contexts] or [0]
    tokens = [len(text) / _TOKEN_CHARS for text in contexts] or [0.0]
    lines = [text.count("\n") for text in contexts] or [0]
    measures += [
        count(_GROUP, "tokens (characters / 4), mean", round(sum(tokens) / len(tokens))),
        count(_GROUP, "tokens, largest", round(max(tokens))),
        count(_GROUP, "names of files, mean", round(sum(known) / len(known))),
        count(_GROUP, "lines, mean", round(sum(lines) / len(lines))),
    ]
    return Scored(measures=tuple(measures), wrong=tuple(wrong))


def _work(repository: Repository, transcript: Transcript) -> _Work:
    calls = list(_calls(repository, transcript.events))
    first = dict.fromkeys(filter(None, calls[:FIRST_CALLS]))
    return _Work(first=list(first), files=list(filter(None, calls)))


def _calls(repository: Repository, events: Sequence[HookEvent]) -> Iterator[str]:
    """Yield the file of each call of the agent itself; "" without one."""
    for event in events:
        payload = event.payload
        if event.event in _ENDED and not payload.get("agent_id"):
            yield _file(repository, payload)


def _file(repository: Repository, payload: Json) -> str:
    given = payload["tool_input"]
    path = ""
    if payload["tool_name"] in _TOOLS:
        path = given.get("file_path", "")
    elif payload["tool_name"] == "Grep" and PurePath(given.get("path") or "").suffix:
        path = given["path"]
    return repository.relative(path) if path.startswith("/") else path


def _ambiguous(repository: Repository) -> set[str]:
    names = Counter(PurePath(file).name for file in git(repository.folder, "ls-files").splitlines())
    return {name for name, number in names.items() if number > 1}


def _names(text: str) -> int:
    """Return how many different words of a text look like the name of a file."""
    return len(set(_NAME.findall(text)))


def _listed(text: str) -> set[str]:
    """Return the paths of files that a text lists by folder: ``src/api: a.ts b.ts · web: c.ts``."""
    groups = re.split(r" · |\n|; ", text)
    pairs = (group.partition(": ") for group in groups)
    return {f"{folder}/{name}" for folder, _, names in pairs for name in names.split()}


def _named(text: str, files: Sequence[str], ambiguous: Collection[str]) -> set[str]:
    """Return the files that a text names: by path, or by a name that only one file has."""
    found = set(files) & _listed(text)
    for file in files:
        name = PurePath(file).name
        if name in ambiguous:
            is_named = "/".join(PurePath(file).parts[-2:]) in text
        else:
            is_named = re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w-])", text) is not None
        if is_named or file in text:
            found.add(file)
    return found
