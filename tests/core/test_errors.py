"""Errors carry what to do next, and a code for scripts."""

from __future__ import annotations

import pytest

from observer.core import errors
from observer.core.errors import NotFound, ObserverError

CHILDREN = [e for e in vars(errors).values() if isinstance(e, type) and e is not ObserverError]


@pytest.mark.parametrize(
    ("hint", "text"), [("list them", "no project (list them)"), ("", "no project")]
)
def test_the_text_ends_with_the_hint(hint: str, text: str) -> None:
    assert str(NotFound("no project", hint=hint)) == text


@pytest.mark.parametrize("child", CHILDREN, ids=lambda child: child.__name__)
def test_every_error_tells_scripts_what_it_is(child: type[ObserverError]) -> None:
    assert issubclass(child, ObserverError)
    assert child.exit_code > 1
    assert child.code != ObserverError.code
    assert child.__doc__
