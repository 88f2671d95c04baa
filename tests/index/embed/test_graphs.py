"""What a graph of one's own must take and give, shown with graphs of a few nodes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from observer.core.errors import ConfigInvalid
from observer.index.embed import registry
from observer.index.embed.model import Model
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
