"""What a command's output says about it: passed or failed, how many, what first.

Part of interpretation (step 6). The tools' own readers are in `readers`; this module chooses among
them, and weighs their word against the exit code.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from observer.events import Command
from observer.interpret import invocation
from observer.interpret.commandline import Line
from observer.interpret.readers import READERS
from observer.interpret.readers.reader import Reader
from observer.interpret.signature import signature
from observer.interpret.verdict import LINE_START, Complaint, Verdict, complaint_in
from observer.interpret.wording import one_line, uncoloured

HEAD_CHARS = 12_000
TAIL_CHARS = 20_000
"""How much of an output is looked at: its beginning, and its end where summaries stand."""
_LINE_CHARS = 500
_LAST_CHARS = 2000
_TOLD_CHARS = 4000

_BY_TOOL = {
    tool: tuple(reader for reader in READERS if tool in reader.tools)
    for tool in {tool for reader in READERS for tool in reader.tools}
}
_BY_MARK = tuple((mark, reader) for reader in READERS for mark in reader.marks)
_BY_MARK_OF_SUCCESS = tuple(row for row in _BY_MARK if not row[1].is_raised)

_EXIT_LINE = re.compile(r"^(?:Exit [Cc]ode:? ?|exit status )(-?\d+)\s*$", re.MULTILINE)
_SHOWN_CODE = re.compile(r"(?:^|\D)(\d{1,3})\W*$")
_SAID_NOTHING = frozenset(
    {"", "(no output)", "no output", "tool ran without output or errors", "(empty)", "output:"}
)
_ENDINGS = {
    124: "timed out",
    134: "aborted (SIGABRT)",
    137: "killed (SIGKILL)",
    139: "crashed (SIGSEGV)",
    143: "terminated (SIGTERM)",
}
"""What an exit code says by itself: `timeout`'s own, and those of signals."""
_NO_MATCH_IS_ONE = frozenset({"grep", "egrep", "rg", "ag", "diff", "cmp", "test", "[", "pgrep"})


def read(command: Command, line: Line, root: str = "") -> Verdict:
    """Say how a command went, from its exit code and what it printed.

    Places inside the folder `root` are told relative to it.
    """
    verdict = _read(command, line)
    folder = f"{root.rstrip('/')}/"
    if root and folder in verdict.first_error:
        return replace(verdict, first_error=verdict.first_error.replace(folder, ""))
    return verdict


def _read(command: Command, line: Line) -> Verdict:
    code, shown = own_code_of(command, line), _shown_code(command, line)
    told = None if code is None else code == 0
    if command.failed is not None and shown is None:
        told = not command.failed
    if code == 1 and line.tool in _NO_MATCH_IS_ONE:
        return Verdict(
            ok=True, said="differences found" if "diff" in line.tool else "nothing found"
        )
    if line.is_routine and told is not False:
        return Verdict(ok=told)
    if told and line.is_masked and shown is None:
        told = None
    text = LINE_START + plain(command.output)
    if command.interrupted:
        return _plain_words(text, ok=None)
    *before, text = _runs(text, invocation.times(command.command))
    verdict = _of_run(text, line, told, code)
    earlier = _of_run(before[-1], line, None, None) if before else verdict
    if not before or earlier.said == verdict.said:
        return verdict
    return replace(verdict, said=f"{verdict.said}; the run before it: {earlier.said}")


def _runs(text: str, times: int) -> list[str]:
    """Part the outputs of a check that was run several times; the last run is the one that counts.

    Where their number is another than the command line's, nobody knows which is whose.
    """
    for reader in READERS if times > 1 else ():
        if reader.end and any(mark in text for mark in reader.marks):
            cuts = [end.end() for end in reader.end.finditer(text)]
            if len(cuts) == times:
                return [text[a:b] for a, b in itertools.pairwise((0, *cuts[:-1], len(text)))]
    return [text]


def _of_run(text: str, line: Line, told: bool | None, code: int | None) -> Verdict:  # noqa: FBT001 - three-valued, not a switch
    found = _verdicts(text, line, told) if text.strip() else []
    if told is False and code in _ENDINGS and not _bad(found):
        return _ended(_ENDINGS[code], found, text)
    return _weighed(found, text, told) if found else _plain_words(text, ok=told)


def own_code_of(command: Command, line: Line) -> int | None:
    """Return the exit code that the command line shows, or else the one that was told."""
    shown = _shown_code(command, line)
    return exit_code_of(command) if shown is None else shown


def exit_code_of(command: Command) -> int | None:
    """Return the exit code the client told, or the one that the output names in a line."""
    if command.exit_code is not None or not command.output:
        return command.exit_code
    for part in (command.output[:80], command.output[-80:]):
        if "xit" in part and (match := _EXIT_LINE.search(part)):
            return int(match.group(1)[:9])
    return None


def _shown_code(command: Command, line: Line) -> int | None:
    if not line.shows_code:
        return None
    shown = _SHOWN_CODE.search(command.output[-80:].rstrip().rpartition("\n")[2])
    return int(shown.group(1)) if shown else None


def plain(output: str) -> str:
    """Return the head and tail of an output without colours, carriage returns and long lines.

    A report in JSON is one long line.
    """
    if len(output) > HEAD_CHARS + TAIL_CHARS:
        output = f"{output[:HEAD_CHARS]}\n{output[-TAIL_CHARS:]}"
    output = uncoloured(output)
    if "\r" in output:
        lines = output.replace("\r\n", "\n").split("\n")
        output = "\n".join(line.rpartition("\r")[2] for line in lines)
    if len(output) > _LINE_CHARS:
        lines = output.split("\n")
        if max(map(len, lines)) > _LINE_CHARS:
            output = "\n".join(line if line[:2] == '{"' else line[:_LINE_CHARS] for line in lines)
    return output


def told_lines(text: str, at_most: int) -> tuple[str, ...]:
    """Return the first lines of an output that say something."""
    found: dict[str, None] = {}
    for line in plain(text[:_TOLD_CHARS]).split("\n"):
        if (shown := one_line(line, 200)).lower() not in _SAID_NOTHING:
            found[shown] = None
            if len(found) == at_most:
                break
    return tuple(found)


def _verdicts(text: str, line: Line, told: bool | None) -> list[Verdict]:  # noqa: FBT001 - as above
    """Ask the readers of each tool that was named, then those whose mark is there.

    These have a word if all others were silent, or saw nothing bad though the command failed or
    nobody tells. Of them the first is believed, but one that saw something bad before it, unless
    all ended well: `make test lint` is not fine because its tests are.
    """
    named: dict[str, Verdict] = {}
    for tool in line.tools:
        named |= ((tool, one) for one in _first(_heard(_BY_TOOL.get(tool, ()), text, told)))
    found = list(named.values())
    if told or _bad(found):
        return found or _first(_heard(_marked(_BY_MARK_OF_SUCCESS, text), text, told))
    marked = _marked(_BY_MARK, text)
    sure = [one for one in marked if told is False or not one.is_raised]
    found += _first(_bad(_heard(sure, text, told)) or ([] if found else _heard(marked, text, told)))
    if told is None and not _is_final(found, named, line.last):
        found += _first(_bad(_heard(marked, text, told)))
    return found


def _is_final(found: Sequence[Verdict], named: Mapping[str, Verdict], last: str) -> bool:
    """Tell whether all is told: nothing at all, something bad, or the tests that were run last.

    What was built, installed or linted may have been run then, and broken: `cargo run`.
    """
    ending = named.get(last) if named else next(reversed(found), None)
    return not found or bool(_bad(found)) or (ending is not None and ending.passed is not None)


def _marked(marks: Iterable[tuple[str, Reader]], text: str) -> Iterable[Reader]:
    return dict.fromkeys(reader for mark, reader in marks if mark in text)


def _first(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return list(itertools.islice(verdicts, 1))


def _heard(readers: Iterable[Reader], text: str, told: bool | None) -> Iterator[Verdict]:  # noqa: FBT001 - as above
    """Yield what readers say; the first is to be believed.

    A program that ended well may print or log the traceback of an error it has handled.
    """
    for reader in readers:
        if not (told and reader.is_raised) and (verdict := reader.read(text)):
            yield verdict


def _bad(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.ok is False]


def _weighed(found: list[Verdict], text: str, told: bool | None) -> Verdict:  # noqa: FBT001 - as above
    """Put the words of several tools into one verdict; a failure outweighs a clean exit code.

    `pytest | tail` ends with the exit code of `tail`, so counts of failures win over success.
    """
    bad = _bad(found)
    counted = [verdict for verdict in found if verdict.passed is not None]
    chief = (bad or counted or found)[0]
    if told is False and not bad:
        plain = _plain_words(text, ok=False) if chief.passed is None else Verdict()
        chief = replace(chief, ok=False, first_error=plain.first_error, signature=plain.signature)
    if len(found) == 1:
        return chief
    said = "; ".join(f"{verdict.tool}: {verdict.said}" for verdict in found[:4] if verdict.said)
    return replace(chief, said=said)


def _ended(ending: str, found: Sequence[Verdict], text: str) -> Verdict:
    """Speak for a command that something put an end to: what it printed tells how far it came."""
    reached = one_line(_last_words(text), 160)
    words = Complaint(f"{ending}; its last words: {reached}" if reached else "")
    chief = next(iter(found), Verdict(said=ending))
    return replace(
        chief, ok=False, first_error=str(words), signature=signature(ending) if reached else ""
    )


def _plain_words(text: str, *, ok: bool | None) -> Verdict:
    """Speak for a tool that no reader knows: its first complaint, or its last line."""
    if ok is False and (said := complaint_in(text)):
        complaint = Complaint(said)
        return Verdict(ok=False, first_error=str(complaint), signature=complaint.signature)
    last = _last_words(text)
    if ok is False:
        return Verdict(ok=False, first_error=str(Complaint(last)))
    return Verdict(ok=ok, said=one_line(last, 160))


def _last_words(text: str) -> str:
    for line in reversed(text[-_LAST_CHARS:].split("\n")):
        if line.strip().lower() not in _SAID_NOTHING and not _EXIT_LINE.match(line):
            return line
    return ""
