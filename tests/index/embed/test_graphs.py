"""What a graph of one's own must take and give, and what joining graphs keeps."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from observer.core.errors import ConfigInvalid, NotFound
from observer.index.embed import registry
from observer.index.embed.model import FEW_WORDS, LEAST, LITTLE_DOUBT, MOST, Joined, Model
from observer.index.embed.registry import BUILT_IN

DIMENSIONS = 4
Build = Callable[..., Model]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Load a graph that gives every text the vector (3, 0, 4, 0) plus what it makes of the mask."""

    def make(
        *inputs: str, kind: int = TensorProto.INT64, output: str = "constant", words: str = "deep"
    ) -> Model:
        folder = tmp_path / "mine"
        folder.mkdir()
        shutil.copy(BUILT_IN / words / "tokenizer.json", folder)
        (folder / "model.toml").write_text(f"dimensions = {DIMENSIONS}\nmost_tokens = 8\n")
        onnx.save(_graph(inputs, kind, output), folder / "model.onnx")
        return registry.load(registry.find("mine", tmp_path))

    return make


def _graph(inputs: tuple[str, ...], kind: int, output: str) -> onnx.ModelProto:
    constant = np.array([[3, 0, 4, 0]], np.float64 if output == "double" else np.float32)
    nodes = [helper.make_node("Identity", ["constant"], ["vectors"])]
    if output == "tokens":
        nodes = [
            helper.make_node("Cast", [inputs[0]], ["numbers"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["numbers", "numbers"], ["vectors"]),
        ]
    if output == "fails":
        # The largest id of the vocabulary lies outside a table of one row.
        nodes = [helper.make_node("Gather", ["constant", inputs[0]], ["vectors"])]
    made = TensorProto.DOUBLE if output == "double" else TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind, ["rows", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("vectors", made, None)],
        [numpy_helper.from_array(constant, "constant")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return model


@pytest.mark.parametrize(
    "inputs",
    [
        pytest.param(("input_ids",), id="ids"),
        pytest.param(("input_ids", "attention_mask"), id="mask"),
        pytest.param(("input_ids", "attention_mask", "token_type_ids"), id="mask-and-types"),
    ],
)
@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.INT32], ids=["int64", "int32"])
def test_the_usual_inputs_of_a_sequence_are_given(
    build: Build, inputs: tuple[str, ...], kind: int
) -> None:
    assert build(*inputs, kind=kind).embed(["a text"]).shape == (1, DIMENSIONS)


def test_vectors_are_made_unit_vectors_where_the_graph_does_not(build: Build) -> None:
    made = build("input_ids").embed(["a text", ""])
    assert made == pytest.approx(np.array([[0.6, 0, 0.8, 0], [0, 0, 0, 0]]), abs=1e-6)


@pytest.mark.parametrize(
    ("inputs", "shown"),
    [
        pytest.param((), "inputs are none", id="none"),
        pytest.param(("pixels",), "inputs are pixels", id="another"),
        pytest.param(("attention_mask",), "inputs are attention_mask", id="mask-alone"),
        pytest.param(("ids", "input_ids"), "inputs are ids, input_ids", id="both"),
    ],
)
def test_other_inputs_are_refused(build: Build, inputs: tuple[str, ...], shown: str) -> None:
    with pytest.raises(ConfigInvalid, match=shown):
        build(*inputs)


def test_inputs_that_are_no_ids_are_refused(build: Build) -> None:
    with pytest.raises(ConfigInvalid, match=r"input_ids is tensor\(float\)"):
        build("input_ids", kind=TensorProto.FLOAT)


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        pytest.param("tokens", r"float32 \(1, 2\)", id="not-pooled"),
        pytest.param("double", r"float64 \(1, 4\)", id="not-float32"),
        pytest.param("fails", "does not run", id="fails"),
    ],
)
def test_another_output_than_vectors_is_refused(build: Build, output: str, shown: str) -> None:
    with pytest.raises(ConfigInvalid, match=shown):
        build("input_ids", output=output)


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
