"""The labelled outputs: the result of each command, and which errors are the same.

A folder of the set holds `labels.toml`, a table a case, and the output of each in `NAME.txt`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from labelled.score import Case
from observer.commands import command_line, outcome
from observer.commands.result import CommandResult
from observer.core.events import Command
from observer.core.value import Value

OUTPUTS = "outcomes"


class Label(Value):
    """The label of one output. `run` names the program whose real output it is, if it is one.

    Cases of one `error` failed with the same error; it is empty where no error can be recognised.
    """

    command: str
    exit_code: int
    run: str
    ok: bool
    passed: int | None = None
    failed: int | None = None
    failing: tuple[str, ...] = ()
    first_error: str = ""
    error: str = ""


def labels(folder: Path) -> dict[str, Label]:
    """Return the labels of a folder, by the name of their case."""
    return msgspec.toml.decode((folder / "labels.toml").read_bytes(), type=dict[str, Label])


def cases(folder: Path) -> Iterator[Case]:
    """Yield each output as it was read, beside its labels."""
    for name, label in labels(folder).items():
        result = _result(folder, name, label)
        yield Case(name=name, found=_claims(result), wanted=_claims(label))


def signatures(folder: Path) -> Iterator[Case]:
    """Yield the outputs that each failure's signature matches, and those with the same error.

    They are the outputs of the set beside this folder.
    """
    folder = folder.with_name(OUTPUTS)
    known = labels(folder)
    found = {name: _result(folder, name, label).signature for name, label in known.items()}
    errors = {name: label.error for name, label in known.items()}
    for name, label in known.items():
        if not label.ok:
            yield Case(name=name, found=_alike(name, found), wanted=_alike(name, errors))


def _result(folder: Path, name: str, label: Label) -> CommandResult:
    output = (folder / f"{name}.txt").read_text(encoding="utf-8")
    command = Command(command=label.command, output=output, exit_code=label.exit_code)
    return outcome.command_result(command, command_line.parse_command_line(label.command))


def _claims(result: CommandResult | Label) -> frozenset[str]:
    counts = {"passed": result.passed, "failed": result.failed}
    return frozenset(
        [
            f"ok: {result.ok}",
            *(f"{word}: {count}" for word, count in counts.items() if count is not None),
            *(f"failing: {name}" for name in result.failing),
            *([f"error: {result.first_error}"] if result.first_error else []),
        ]
    )


def _alike(name: str, errors: dict[str, str]) -> frozenset[str]:
    """Return the cases of the same error as this one, itself among them if it has an error."""
    mine = errors[name]
    return frozenset(f"as {other}" for other, error in errors.items() if mine and error == mine)
