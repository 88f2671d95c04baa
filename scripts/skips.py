"""A pytest plugin: the reasons for which tests were skipped, at the end of a run.

With `--all-installed` a skip for another reason than those below fails the run: .ci/run installs
whatever a package can bring.
"""

from __future__ import annotations

import re
from collections import Counter

import pytest

UNAVOIDABLE = {
    r"root reads everything": "CI is root, as who alone can be other users and mount disks",
    r"only root can .*": "where CI is not root, nothing else can make it so",
    r"mounting is not allowed here": "the machine decides what its containers may do",
    r"user namespaces are not allowed here": "as above",
    r"procfs is Linux|threads have no priority of their own|no file that cannot be read": (
        "CI runs on Linux, where these are not skipped"
    ),
    r"this git knows no reftable": "git 2.45 or newer, which Debian 12 does not have",
    r"this git has configured hooks": "git 2.54 or newer needs none of what is tested",
    r"the client \S+ is not installed": (
        "scripts/record installs these ten: 2.5 GB of other makers' newest releases"
    ),
}
"""Patterns of reasons, and why no package in CI would help."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--all-installed", action="store_true", help="fail where a package is missing")


def pytest_configure(config: pytest.Config) -> None:
    """Count in the process that hears of all tests."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Skips(fails=config.getoption("--all-installed")))


class Skips:
    """Why tests were skipped.

    Args:
        fails: fail the run for what a package would have avoided.
    """

    def __init__(self, *, fails: bool) -> None:
        self._fails = fails
        self._reasons: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test that was skipped."""
        if report.skipped and isinstance(report.longrepr, tuple):
            self._reasons[report.longrepr[2].removeprefix("Skipped: ")] += 1

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run for the sake of a package."""
        if self._avoidable() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List the reasons, most frequent first."""
        if not self._reasons:
            return
        terminalreporter.section("skipped")
        for reason, times in self._reasons.most_common():
            terminalreporter.write_line(f"{times:5} {reason}")
        for reason in self._avoidable():
            terminalreporter.write_line(f"FAILED: a package should have avoided: {reason}")

    def _avoidable(self) -> list[str]:
        if not self._fails:
            return []
        known = re.compile("|".join(UNAVOIDABLE))
        return sorted(reason for reason in self._reasons if not known.fullmatch(reason))
