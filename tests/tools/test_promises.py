"""What documents of other memories promise, over standard input and over HTTP.

A row that says `differs` or `missing` expects what observer does instead: once the promise is kept
the row fails, and is written anew.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.tools.promises import FACES, Answer, answers_of, documents, rows, unmet

pytestmark = pytest.mark.slow

ROWS = [(document, row) for document in documents() for row in rows(document)]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory):  # noqa: ANN201 - a cached function
    """Return what gives the answers of a document's rows over one face, asked once."""

    @cache
    def asked(document: str, face: str) -> dict[str, list[Answer]]:
        folder: Path = tmp_path_factory.mktemp("p")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(folder))
            patch.setenv("OBSERVER_HOME", str(folder / ".observer"))
            return answers_of(document, face, folder)

    return asked


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(("document", "row"), ROWS, ids=[row["id"] for _, row in ROWS])
def test_a_promise_is_kept_or_its_deviation_is_as_told(document, row, face, answers) -> None:  # noqa: ANN001
    answer = answers(document, face)[row["id"]][-1]
    assert not unmet(row, answer), (answer.text[:600], answer.json, answer.is_error)


@pytest.mark.parametrize("document", documents())
def test_a_deviation_has_a_reason_and_only_a_deviation(document: str) -> None:
    wrong = [row["id"] for row in rows(document) if ("why" in row) == (row["status"] == "holds")]
    assert wrong == []
