"""An ONNX graph that is written node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 18
IR_VERSION = 9
"""Old enough for every onnxruntime that `pyproject.toml` allows."""


class Graph:
    """Nodes and constants; every method that adds one returns the name of what it makes."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, NDArray[Any]] = {}

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """Add a constant; one that is there already is replaced."""
        self._constants[name] = value
        return name

    def integers(self, *values: int) -> str:
        """Add a constant list of integers: axes, shapes, bounds."""
        name = "integers_" + "_".join(map(str, values))
        return self.constant(name, np.array(values, np.int64))

    def number(self, value: float) -> str:
        """Add a constant number."""
        return self.constant(f"number_{value!r}", np.array(value, np.float32))

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401 - as onnx takes them
        """Add a node with one output."""
        return self.split(kind, *inputs, outputs=1, **attributes)[0]

    def split(self, kind: str, *inputs: str, outputs: int, **attributes: Any) -> list[str]:  # noqa: ANN401 - as onnx takes them
        """Add a node with several outputs."""
        names = [f"{kind}_{len(self._nodes)}_{i}" for i in range(outputs)]
        self._nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def unit(self, vectors: str) -> str:
        """Add nodes that give rows the length 1; a row of zeros stays one."""
        length = self.add("ReduceL2", vectors, self.integers(1), keepdims=1)
        return self.add("Div", vectors, self.add("Max", length, self.number(1e-12)))

    def model(self, given: str, output: str, *, dimensions: int) -> onnx.ModelProto:
        """Return the finished model: token ids (rows, tokens) in, `vectors` (rows, dimensions) out.

        Args:
            given: name of the input.
            output: what the vectors are called so far.
            dimensions: of a vector.
        """
        self._nodes.append(helper.make_node("Identity", [output], ["vectors"]))
        ids = helper.make_tensor_value_info(given, TensorProto.INT64, ["rows", "tokens"])
        shape = ["rows", dimensions]
        vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, shape)
        constants = [numpy_helper.from_array(value, n) for n, value in self._constants.items()]
        made = helper.make_graph(self._nodes, "observer", [ids], [vectors], constants)
        model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = IR_VERSION
        onnx.checker.check_model(model)
        return model
