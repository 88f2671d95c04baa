"""A pytest plugin: coverage runs while tests, fixtures and what ends them run, and never else.

Tracing makes the work of pytest itself two to three times as slow: collecting thousands of tests,
what is around each of them, and leading the workers. Tests that are not quick are not measured
either: they would take longest, and most of what they run is run by others. Those of them without
which something would be missing are marked `measured`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest
from coverage import Coverage
from quick import is_costly


def pytest_configure(config: pytest.Config) -> None:
    """Measure what modules do when they are imported, then stop, in every process of a run."""
    coverage = Coverage.current()
    if coverage is None:
        return
    is_worker = hasattr(config, "workerinput")
    if not is_worker:
        import_all(coverage.config.source or ())
    coverage.stop()
    if is_worker or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Measuring(coverage))


def import_all(packages: list[str] | tuple[()]) -> None:
    """Import all modules of packages."""
    for package in packages:
        for module in walk_packages(import_module(package).__path__, f"{package}."):
            import_module(module.name)


class Measuring:
    """What lets coverage run now and then.

    Args:
        coverage: what pytest-cov has started; a worker's is another, which it starts later.
    """

    def __init__(self, coverage: Coverage) -> None:
        self._coverage = coverage
        self._depth = 0

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """Stop what pytest-cov has started in a worker."""
        if coverage := Coverage.current():
            self._coverage = coverage
            coverage.stop()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        """Measure a fixture, unless all tests share it or pytest made it."""
        if fixturedef.baseid in {"", "tests"}:
            return (yield)
        with self._measured(request.node):
            return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Measure a test."""
        with self._measured(pyfuncitem):
            return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure what ends fixtures."""
        with self._measured(item):
            return (yield)

    @contextmanager
    def _measured(self, node: Any) -> Iterator[None]:  # noqa: ANN401 - a session or below
        """Measure what runs within, unless its test takes long; a fixture may ask for another."""
        if is_costly(node) and not node.get_closest_marker("measured"):
            yield
            return
        if not self._depth:
            self._coverage.start()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._coverage.stop()
