"""How a command ended: its exit code, and whether that is the code of what matters in its line.

Part of interpretation (step 6). The code stands in the event, or in a line of the output; behind a
pipe or a `;` it is that of something else.
"""

from __future__ import annotations

import re

from observer.core.events import Command
from observer.outcomes import not_started
from observer.shell import exit_status

EXIT_LINE = re.compile(r"^(?:Exit [Cc]ode:? ?|exit status )(-?\d+)\s*$", re.MULTILINE)
BY_TIMEOUT = 124
ENDINGS = {
    BY_TIMEOUT: "timed out",
    134: "aborted (SIGABRT)",
    137: "killed (SIGKILL)",
    139: "crashed (SIGSEGV)",
    143: "terminated (SIGTERM)",
}
"""What an exit code says by itself: `timeout`'s own, and those of signals."""


def ended(command: Command) -> bool | None:
    """Return how the command that matters ended; None where nothing but its output says so."""
    status = exit_status.exit_status_of(command.command)
    if (shown := status.shown_code(command.output)) is not None:
        return shown == 0
    if (said := status.printed(command.output)) is not None:
        return said
    ok = reported(command)
    if ok is False and stopped_by(command) is not None:
        return False
    return None if ok is None or not (status.success if ok else status.failure) else ok


def reported(command: Command) -> bool | None:
    """Return how the whole line ended, as the client reported."""
    code = exit_code_of(command)
    if command.failed is not None:
        return not command.failed
    return None if code is None else code == 0


def stopped_by(command: Command) -> int | None:
    """Return the exit code that shows what stopped a command; 124 where a client timed out."""
    code = own_exit_code(command)
    if code in ENDINGS:
        return code
    return BY_TIMEOUT if not_started.is_timed_out(command) else None


def own_exit_code(command: Command) -> int | None:
    """Return the exit code of the command that matters; None where only another's is known."""
    shown = exit_status.exit_status_of(command.command).shown_code(command.output)
    if shown is not None:
        return shown
    code = exit_code_of(command)
    if code is None or code in ENDINGS:
        return code
    status = exit_status.exit_status_of(command.command)
    return code if (status.failure if code else status.success) else None


def exit_code_of(command: Command) -> int | None:
    """Return the exit code the client reported, or the one that the output names in a line."""
    if command.exit_code is not None or not command.output:
        return command.exit_code
    for part in (command.output[:80], command.output[-80:]):
        if "xit" in part and (match := EXIT_LINE.search(part)):
            return int(match.group(1)[:9])
    return None
