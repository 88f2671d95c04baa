"""The models in the package are what their cards say."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import pytest

MODELS = Path(__file__).parents[2] / "observer" / "index" / "embed" / "models"
CARDS = sorted(MODELS.glob("*/model.toml"))


@pytest.mark.parametrize("card", CARDS, ids=[path.parent.name for path in CARDS])
def test_a_shipped_model_is_the_file_that_its_card_names(card: Path) -> None:
    digests = tomllib.loads(card.read_text(encoding="utf-8"))["sha256"]
    assert digests.keys() == {"model.onnx", "tokenizer.json"}
    for name, digest in digests.items():
        assert hashlib.sha256((card.parent / name).read_bytes()).hexdigest() == digest


def test_there_are_models() -> None:
    assert [path.parent.name for path in CARDS] == ["deep", "instant"]
