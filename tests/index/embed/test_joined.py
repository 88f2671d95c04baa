from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from observer.core.errors import NotFound
from observer.index.embed import registry
from observer.index.embed.model import FEW_WORDS, LEAST, LITTLE_DOUBT, MOST, Joined, Model

NONE = Path("/nonexistent")
QUERY = "how is money given back"
TEXTS = ["Refunds take five days", "The cart locks its rows", ""]


@pytest.fixture(scope="module")
def joined() -> Joined:
    model = registry.load(registry.find("instant+deep", NONE))
    assert isinstance(model, Joined)
    return model


@pytest.fixture(scope="module")
def parts() -> list[Model]:
    found = [registry.load(registry.find(name, NONE)) for name in ("instant", "deep")]
    return [part for part in found if isinstance(part, Model)]


@pytest.mark.parametrize(("doubt", "second"), [(0, LEAST), (0.5, (LEAST + MOST) / 2), (1, MOST)])
def test_a_cosine_is_the_mean_of_those_of_both_models(
    joined: Joined, parts: list[Model], doubt: float, second: float
) -> None:
    vectors, query = joined.embed(TEXTS), joined.ask(QUERY, doubt)
    shares = (1 - second, second)
    assert vectors.shape == (3, joined.dimensions)
    assert np.linalg.norm(query) == pytest.approx(1, abs=1e-5)
    each = [part.embed(TEXTS[:2]) @ part.ask(QUERY) for part in parts]
    mean = sum(share * cosines for share, cosines in zip(shares, each, strict=True))
    lengths = np.linalg.norm(vectors[:2], axis=1) * np.hypot(*shares)
    assert vectors[:2] @ query / np.linalg.norm(vectors[:2], axis=1) == pytest.approx(
        mean / lengths, abs=1e-5
    )


def test_a_few_words_that_are_found_are_not_asked_of_the_second_model(
    joined: Joined, parts: list[Model]
) -> None:
    few = " ".join(["refund"] * FEW_WORDS)
    asked = joined.ask(few, LITTLE_DOUBT)
    first, second = np.split(asked, [parts[0].dimensions])
    assert first == pytest.approx(parts[0].ask(few))
    assert not second.any()
    assert joined.ask(few, LITTLE_DOUBT + 0.01)[parts[0].dimensions :].any()
    assert joined.ask(f"{few} refund", LITTLE_DOUBT)[parts[0].dimensions :].any()


def test_what_has_no_token_means_nothing(joined: Joined) -> None:
    assert not joined.embed(TEXTS)[2].any()
    assert not joined.ask("").any()


@pytest.mark.parametrize("text", [QUERY, "refund " * 500], ids=["kept", "too long to be kept"])
def test_asked_again_a_query_means_the_same_and_nobody_can_change_it(
    joined: Joined, parts: list[Model], text: str
) -> None:
    first = [part.ask(text) for part in parts]
    for part, asked in zip(parts, first, strict=True):
        assert not asked.flags.writeable
        assert asked.tobytes() == part.ask(text).tobytes() == part.embed([text])[0].tobytes()
    assert joined.ask(text).tobytes() == joined.ask(text).tobytes()


def test_it_is_as_quick_as_its_first_model_where_it_must_be(
    joined: Joined, parts: list[Model]
) -> None:
    first, second = parts
    assert joined.quick is not None
    assert joined.quick.id == first.id
    assert Joined(second, first, name="x").quick is None


@pytest.mark.parametrize("name", ["instant+none", "none+deep", "instant+", "instant+deep+deep"])
def test_what_is_joined_must_be_there(name: str) -> None:
    with pytest.raises(NotFound, match="no model"):
        registry.find(name, NONE)


def test_a_joined_model_has_the_problem_of_its_parts(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "model.toml").touch()
    assert "no model.onnx" in registry.find("instant+broken", tmp_path).problem
