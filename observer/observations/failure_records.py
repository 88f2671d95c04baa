"""What a project learned of its commands: which form works, and what repairs what a check finds.

Part of interpretation (step 6): values of the story, each told once and counted from then on.
"""

from __future__ import annotations

from observer.core.value import Value
from observer.observations.session_state import ItemOrigin
from observer.shell.command_forms import InvocationForm

ALTERNATIVES = 40
REPAIRS = 20


class Alternative(Value):
    """A command that works where another form of it does not, and how often that was met.

    `reason` is as in `unstarted`, empty where the failed form only lacks a setting. `pairs` are
    the observations of the failure and of the success, of the newest times. It `is_refuted` while
    the form that failed has worked since.
    """

    failed: InvocationForm
    worked: InvocationForm
    origin: ItemOrigin
    reason: str = ""
    error: str = ""
    signature: str = ""
    times: int = 0
    pairs: tuple[tuple[int, int], ...] = ()
    is_refuted: bool = False


class Repair(Value):
    """A fixer, such as a formatter, that mends what a check finds, and how often that was met.

    `program` is the check, `head` how it was run first, `by` the fixer. `met` are the
    observations of the failure, of the fixer and of the pass, of the newest times; `errors` are
    what was found, the newest first, and `signatures` theirs; `spans` after how many events of the
    project the fixer came.
    """

    program: str
    head: str
    by: str
    origin: ItemOrigin
    times: int = 0
    met: tuple[tuple[int, int, int], ...] = ()
    errors: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    spans: tuple[int, ...] = ()
