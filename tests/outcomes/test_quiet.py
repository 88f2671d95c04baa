from __future__ import annotations

import pytest

from observer.core.events import Command
from observer.outcomes import outcome
from observer.shell import command_line


@pytest.mark.parametrize(
    ("command", "text", "ok"),
    [
        ("tsc --noEmit 2>&1 | tail -5", "", True),
        ("npx tsc --noEmit 2>&1 | head -50", "", True),
        ("bun run typecheck 2>&1 | tail -5", "$ tsc --noEmit", True),
        ("bun run typecheck 2>&1 | tail -1", "$ tsc --noEmit", True),
        ("npm run lint 2>&1 | tail -20", "\n> shop@1.0.0 lint\n> eslint src\n", True),
        ("mise run vet 2>&1 | tail -5", "[vet] $ go vet ./...\n[vet] Finished in 1.2s", True),
        ("go build ./... && go vet ./... 2>&1 | tail -5", "", True),
        ("gofmt -l . | cat", "", True),
        ("tsc --noEmit 2>&1 | tail -1", "", None),
        ("npm run lint 2>&1 | head -3", "\n> shop@1.0.0 lint\n> eslint src", None),
        ("tsc --noEmit | grep error", "", None),
        ("tsc --noEmit > log; tail -5 log", "", None),
        ("go build ./... 2>/dev/null | tail -5", "", None),
        ("bun run build 2>&1 | tail -5", "$ ./build.sh", None),
        ("npm start 2>&1 | tail -5", "", None),
        ("go test ./... 2>&1 | tail -5", "", None),
        ("go | tail -5", "", None),
        ("tsc --noEmit 2>&1 | tail -5", "something", None),
    ],
)
def test_silence_is_a_success_of_tools_that_print_what_is_wrong(
    command: str,
    text: str,
    ok: bool | None,
) -> None:
    given = Command(command=command, output=text, failed=False)
    assert outcome.command_result(given, command_line.parse_command_line(command)).ok is ok
