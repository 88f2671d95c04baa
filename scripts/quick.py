"""A pytest plugin: `--quick` leaves out what is marked slow, and what is listed as not quick.

Without it, modules with slow tests go first, above all those that wait.

The list is `tests/not_quick.txt`: test functions of which a case took a tenth of a second, or all
cases together a second. They are the costly seventh of all functions, and take most of the time.
After many changes write it anew, with nothing else running:

    pytest -n auto -m "not slow" --hypothesis-profile=quick --write-not-quick
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

LIST = Path(__file__).parents[1] / "tests" / "not_quick.txt"
MOST_S, MOST_OF_ALL_S = 0.1, 1.0
"""What a case, and what all cases of a quick test function take at most."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    parser.addoption("--quick", action="store_true", help="leave out what is not quick")
    parser.addoption(
        "--write-not-quick", action="store_true", help=f"write {LIST.name} by what tests take"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Measure where that is asked for, in the process that hears of all tests."""
    if config.getoption("--write-not-quick") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not quick, or let modules that mostly wait go first, then slow ones.

    At the end of a run nothing would use the cores while a test waits.
    """
    if not config.getoption("--quick"):
        slow = [(item, mark) for item in items if (mark := item.get_closest_marker("slow"))]
        waiting = {item.path for item, mark in slow if mark.kwargs.get("waits")}
        others = {item.path for item, _ in slow}
        items.sort(key=lambda item: (item.path not in waiting, item.path not in others))
        return
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        (left_out if is_costly(item) else kept).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def is_costly(node: Any) -> bool:  # noqa: ANN401 - a session or below
    """Return True if a test is marked slow, or listed as not quick."""
    return bool(node.get_closest_marker("slow")) or function_of(node.nodeid) in not_quick()


@cache
def not_quick() -> frozenset[str]:
    """Return the test functions that are listed, as ``path::name``."""
    return frozenset(LIST.read_text(encoding="ascii").split())


def function_of(nodeid: str) -> str:
    """Return the function of a test, without its parameters."""
    return nodeid.partition("[")[0]


class Durations:
    """What each test took, its fixtures included; written as the list at the end."""

    def __init__(self) -> None:
        self._took_s: defaultdict[str, defaultdict[str, float]] = defaultdict(
            lambda: defaultdict(float)
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a part of a test."""
        self._took_s[function_of(report.nodeid)][report.nodeid] += report.duration

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write the list, unless the run was cut short or a test failed."""
        if exitstatus != pytest.ExitCode.OK:
            return
        listed = sorted(
            function
            for function, took_s in self._took_s.items()
            if max(took_s.values()) >= MOST_S or sum(took_s.values()) >= MOST_OF_ALL_S
        )
        LIST.write_text("".join(f"{name}\n" for name in listed), encoding="ascii")
