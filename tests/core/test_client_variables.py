from __future__ import annotations

from contextvars import copy_context

from observer.core import client_variables
from observer.core.client_variables import client_variable


def test_a_variable_is_that_of_the_tasks_client() -> None:
    def value(name: str) -> str:
        client_variables.enter(["MEMEX_FLASHBACK_LIMIT= 3=4 ", "MEMEX=2"])
        return client_variable(name)

    names = ("MEMEX_FLASHBACK_LIMIT", "MEMEX", "MEMEX_FLASHBACK")
    assert [copy_context().run(value, name) for name in names] == ["3=4", "2", ""]
    assert client_variable("MEMEX") == ""
