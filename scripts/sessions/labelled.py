"""What the product says of labelled cases, against the readers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from observer.commands.result import CommandResult
from observer.core.events import Command, FileWrite
from observer.core.model import Item, Recorded, seq_of
from sessions.checks import checks
from sessions.kept import Kept, call_key
from sessions.labels import FixLabel, ItemLabel, Label, OutcomeLabel, SummaryLabel, agreement, read
from sessions.measures import Measure, Scored, line, share
from sessions.outcomes import WORDS, verdict_in
from sessions.outputs import plain
from sessions.truth import Ran, commands

_OUTCOMES, _FIXES, _SUMMARIES = "labels: outcomes", "labels: fixes", "labels: summaries"
_ITEMS = "labels: items"
_TOKEN = re.compile(r"[A-Za-z_]{3,}|\d+")
_ALIKE = 0.6
_ASKED_OF_SUMMARIES = ("title", "asked", "done", "open")

_Label = TypeVar("_Label", bound=Label)


class _Outcome(NamedTuple):
    label: OutcomeLabel
    ran: Ran
    said: str
    verdict: CommandResult

    @property
    def is_right(self) -> bool:
        return self.said == self.label.verdict or self.said in self.label.also

    @property
    def has_first_error(self) -> bool:
        """Whether the error shown is one of the labelled lines, in other words perhaps."""
        shown = set(_TOKEN.findall(self.verdict.first_error.lower()))
        lines = plain(self.ran.output).split("\n")
        for number in self.label.lines:
            words = set(_TOKEN.findall(lines[number].lower())) if number < len(lines) else set()
            if words and shown and len(words & shown) >= _ALIKE * min(len(words), len(shown)):
                return True
        return False


def outcomes(kept: Kept, labels: Sequence[OutcomeLabel] | None = None) -> Scored:
    """Return how well verdicts and first errors agree with the labels of the first reader."""
    labels = read("outcomes", OutcomeLabel) if labels is None else labels
    ran = {(each.step.session, each.call): each for each in commands(kept)}
    found = [
        _Outcome(label, one, WORDS[verdict.ok], verdict)
        for label in _of_first_reader(labels)
        if (one := ran.get((label.session, label.call)))
        and (verdict := verdict_in(kept, one)) is not None
    ]
    right = Counter(each.said for each in found if each.is_right)
    shown = Counter(each.said for each in found)
    failing = [each for each in found if each.label.verdict == "failed"]
    seen = [each for each in failing if each.said == "failed"]
    hidden = [each for each in failing if not each.ran.is_error]
    measures = [
        share(_OUTCOMES, "right", sum(each.is_right for each in found), len(found)),
        share(_OUTCOMES, "failures: precision", right["failed"], shown["failed"]),
        share(_OUTCOMES, "failures: recall", len(seen), len(failing)),
        share(_OUTCOMES, "hidden: recall", sum(each in seen for each in hidden), len(hidden)),
        share(_OUTCOMES, "first error right", sum(s.has_first_error for s in seen), len(seen)),
        *_kappa(_OUTCOMES, agreement(labels, lambda x: (x.session, x.call), lambda x: x.verdict)),
    ]
    wrong = [_outcome_shown(each) for each in found if not each.is_right]
    wrong += [_error_shown(each) for each in seen if not each.has_first_error]
    return Scored(measures=tuple(measures), wrong=tuple(wrong))


class _Fix(NamedTuple):
    """A fix as the product tells it: the call that passed, what was repaired, and by what.

    `forms` are the commands that failed, as they were written.
    """

    item: Item
    session: str
    passed: str
    kinds: frozenset[str]
    causes: frozenset[str]
    forms: frozenset[str]


def fixes(kept: Kept, labels: Sequence[FixLabel] | None = None) -> Scored:
    """Return how well fixes and their causes agree with the labels of each reader.

    Sessions that were labelled are labelled whole: a fix shown there that no label has is false.
    """
    labels = read("fixes", FixLabel) if labels is None else labels
    calls = _Calls(kept)
    measures: list[Measure] = []
    wrong: list[str] = []
    for reader in sorted({label.reader for label in labels}):
        found = _fixes_of([label for label in labels if label.reader == reader], calls, reader)
        measures += found.measures
        wrong += [f"reader {reader}, {each}" for each in found.wrong]
    measures += _kappa(_FIXES, agreement(labels, lambda x: (x.session, x.failed), _passes))
    return Scored(measures=tuple(measures), wrong=tuple(wrong))


def _passes(label: FixLabel) -> str:
    return min((label.passed, *label.also) if label.passed else ("",))


def _fixes_of(labels: Sequence[FixLabel], calls: _Calls, reader: str) -> Scored:
    sessions = {label.session for label in labels}
    shown = [each for each in calls.fixes() if each.session in sessions]
    true = [label for label in labels if label.passed]
    found = {id(fix) for label in labels for fix in shown if calls.is_of(fix, label)}
    pairs = [(label, fix) for label in true for fix in shown if calls.is_of(fix, label)]
    hit = {(label.session, label.failed) for label, _ in pairs}
    strange = [fix for label, fix in pairs if not calls.has_cause(fix, label)]
    measures = (
        share(_FIXES, f"precision, reader {reader}", len(found), len(shown)),
        share(_FIXES, f"recall, reader {reader}", len(hit), len(true)),
        share(_FIXES, f"causes right, reader {reader}", len(pairs) - len(strange), len(pairs)),
    )
    wrong = [f"false: {_fix_shown(fix)}" for fix in shown if id(fix) not in found]
    wrong += [
        f"missed: {label.session[:8]} {label.failed} -> {label.passed}"
        for label in true
        if (label.session, label.failed) not in hit
    ]
    wrong += [f"wrong cause: {_fix_shown(fix)}" for fix in strange]
    return Scored(measures=measures, wrong=tuple(wrong))


class _Calls:
    """Stored events as the calls that they report."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._by_seq = {each.seq: each for each in kept.events}
        self._ran = {each.call: each for each in commands(kept)}

    def fixes(self) -> Iterator[_Fix]:
        """Yield the fixes that are shown."""
        for item in self._kept.items:
            passed = self._by_seq.get(seq_of(item.id))
            if item.type != "fix" or passed is None:
                continue
            links = [
                (link.kind, event)
                for link in item.links
                if (event := self._by_seq.get(seq_of(link.target)))
            ]
            yield self._fix(item, passed, links)

    def _fix(self, item: Item, passed: Recorded, links: Sequence[tuple[str, Recorded]]) -> _Fix:
        repaired = [_call(event) for kind, event in links if kind == "fixes"]
        causes = [self._cause(event) for kind, event in links if kind == "edit"]
        files = frozenset(item.files_modified)
        return _Fix(
            item=item,
            session=passed.event.session,
            passed=_call(passed),
            kinds=frozenset(kind for call in repaired for kind in self._kinds(call)),
            causes=files | {cause for cause in causes if not cause.startswith("/")},
            forms=frozenset(form for call in repaired for form in self._forms(call)),
        )

    def is_of(self, fix: _Fix, label: FixLabel) -> bool:
        """Return True if a fix tells what a label does."""
        is_there = fix.session == label.session and fix.passed in {label.passed, *label.also}
        kinds = self._kinds(label.failed)  # none where a hook of git checked
        if is_there and (not kinds or fix.kinds & kinds):
            return True
        return not label.cause and self._is_another_form(fix, label)

    def _is_another_form(self, fix: _Fix, label: FixLabel) -> bool:
        """Return True if a fix tells that a form of the command does not work, then or before."""
        failed = self._ran.get(label.failed)
        is_since = failed is not None and fix.item.created_ms <= failed.step.at_ms
        return is_since and bool(fix.forms & self._forms(label.failed)) and not fix.causes

    def has_cause(self, fix: _Fix, label: FixLabel) -> bool:
        """Return True if a fix names the causes that a label has, and no others."""
        key = partial(call_key, label.session)
        events = self._kept.event_of
        cause = {self._cause(events[key(call)]) for call in label.cause if key(call) in events}
        maybe = {self._cause(events[key(call)]) for call in label.maybe if key(call) in events}
        within = {each for each in fix.causes if any(each in one for one in cause)}
        return cause <= fix.causes <= cause | maybe | within  # `rm -r x` is the file x too

    def _kinds(self, call: str) -> frozenset[str]:
        ran = self._ran.get(call)
        return frozenset(check.kind for check, _ in ran.results()) if ran else frozenset()

    def _forms(self, call: str) -> frozenset[str]:
        """Return the checks of a call with what runs them: ``rtk bun run test``."""
        ran = self._ran.get(call)
        found = checks(list(ran.parts)) if ran else ()
        return frozenset(" ".join((part.runner, *part.words)).strip() for part, _ in found)

    def _cause(self, recorded: Recorded) -> str:
        """Return the file that a call changed, relative to the project, or the command it ran."""
        body = recorded.event.body
        if isinstance(body, FileWrite):
            return body.path.removeprefix(f"{recorded.root}/")
        return f"$ {body.command}" if isinstance(body, Command) else ""


def items(kept: Kept, labels: Sequence[ItemLabel] | None = None) -> Scored:
    """Return how many of the labelled items that there still are nobody would want."""
    labels = read("items", ItemLabel) if labels is None else labels
    sessions = {each.session_id: each.event.session for each in kept.events}
    there = {(sessions.get(i.session_id, ""), i.created_ms, i.type): i for i in kept.items}
    measures: list[Measure] = []
    wrong: list[str] = []
    for reader in sorted({label.reader for label in labels}):
        found = [
            (label, item)
            for label in labels
            if label.reader == reader
            and (item := there.get((label.session, label.at_ms, label.type)))
        ]
        bad = [(label, item) for label, item in found if label.verdict != "wanted"]
        measures.append(share(_ITEMS, f"noise or false, reader {reader}", len(bad), len(found)))
        wrong += [f"reader {reader}: {_item_shown(*each)}" for each in bad]
    key = agreement(labels, lambda x: (x.session, x.at_ms, x.type), lambda x: x.verdict)
    return Scored(measures=(*measures, *_kappa(_ITEMS, key)), wrong=tuple(wrong))


def summaries(kept: Kept, labels: Sequence[SummaryLabel] | None = None) -> Scored:
    """Return the means of the labels of summaries, by version and reader, each of 2."""
    labels = read("summaries", SummaryLabel) if labels is None else labels
    known = {start.session for start in kept.log.starts}
    by_version: dict[tuple[str, str], list[SummaryLabel]] = defaultdict(list)
    for label in labels:
        if label.session in known:
            by_version[label.when, label.reader].append(label)
    measures: list[Measure] = []
    for (when, reader), given in sorted(by_version.items(), reverse=True):
        for name in _ASKED_OF_SUMMARIES:
            average = round(sum(getattr(label, name) for label in given) / len(given), 3)
            said = ", ".join(filter(None, (name, when, f"reader {reader}")))
            measures.append(Measure(group=_SUMMARIES, name=said, value=average))
    return Scored(measures=tuple(measures))


def _call(recorded: Recorded) -> str:
    """Return the call that an event reports, "" if it is not a tool's."""
    return (*recorded.event.dedup.split(":"), "", "", "")[2]


def _of_first_reader(labels: Sequence[_Label]) -> list[_Label]:
    first = min((label.reader for label in labels), default="")
    return [label for label in labels if label.reader == first]


def _kappa(group: str, found: tuple[float, int] | None) -> Iterator[Measure]:
    if found:
        value, number = found
        yield Measure(group=group, name="agreement of readers (kappa)", value=value, n=number)


def _item_shown(label: ItemLabel, item: Item) -> str:
    return f"{label.verdict} #{item.id} {item.type} {line(item.title, 110)}"


def _outcome_shown(outcome: _Outcome) -> str:
    ran, label = outcome.ran, outcome.label
    return (
        f"{label.session[:8]} {label.call} is {label.verdict}, stored as {outcome.said}:"
        f" {line(ran.command, 90)} | {line(ran.output[-120:], 90)}"
    )


def _error_shown(outcome: _Outcome) -> str:
    label, lines = outcome.label, outcome.ran.output.split("\n")
    return (
        f"{label.session[:8]} {label.call} first error: {line(lines[label.lines[0]], 110)!r},"
        f" stored: {line(outcome.verdict.first_error, 110)!r}"
    )


def _fix_shown(fix: _Fix) -> str:
    shown = sorted(line(cause, 60) for cause in fix.causes)
    return f"{fix.session[:8]} {fix.passed} #{fix.item.id} {line(fix.item.title, 90)} | {shown}"
