"""A table of token vectors: where it comes from, and the ONNX graph that sums it up.

A text's vector is the sum of its tokens' vectors, each times the token's weight and the root of how
often the text has it, then made a unit vector. Words that a text repeats count more, but less and
less, as in BM25; the root was better than counting once (by 6 points of nDCG@10 and more) and than
counting all (by 1 to 2).
"""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from modelling.graph import Graph

REPEATED = 0.5
"""The power of a token's count."""
MEANINGLESS = 2
"""Tokens at the front that stand for nothing: the padding, and what no other token fits."""
_RARE = 1e-3
"""A token's weight is _RARE / (_RARE + its share of all tokens). Source: Arora et al. 2017, SIF."""

Vectors = NDArray[np.float32]


def distilled(tokens: Vectors, *, dimensions: int) -> Vectors:
    """Return a table made from the vectors that MiniLM gives to tokens alone.

    They are centred, projected onto their first principal components and made unit vectors.
    """
    centred = tokens - tokens.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    projected = centred @ axes[:, ::-1][:, :dimensions]
    lengths = np.linalg.norm(projected, axis=1, keepdims=True)
    table: Vectors = (projected / np.maximum(lengths, 1e-9)).astype(np.float32)
    return table


def weights(counts: NDArray[np.int64]) -> Vectors:
    """Return the weight of every token before training, from how often each was seen."""
    shares = counts / counts.sum()
    found: Vectors = (_RARE / (_RARE + shares)).astype(np.float32)
    found[:MEANINGLESS] = 1e-9
    return found


def graph(table: Vectors, token_weights: Vectors) -> onnx.ModelProto:
    """Return the graph: `ids` (rows, tokens) with 0 for no token in, unit vectors out.

    The table has eight bits a number; the scale of a row is part of the token's weight.
    """
    largest = np.maximum(np.abs(table).max(axis=1), 1e-9)
    small = np.round(table / largest[:, None] * 127).astype(np.int8)
    scales = (token_weights * largest).astype(np.float32)
    scales[:MEANINGLESS] = 0
    made = Graph()
    ids = "ids"
    # How often a row has each of its tokens: the root divides the weight of every occurrence, so
    # that all of them together have the root of the count.
    left = made.add("Unsqueeze", ids, made.integers(1))
    right = made.add("Unsqueeze", ids, made.integers(2))
    same = made.add("Cast", made.add("Equal", left, right), to=onnx.TensorProto.FLOAT)
    count = made.add("ReduceSum", same, made.integers(2), keepdims=0)
    damped = made.add("Pow", count, made.number(REPEATED - 1))
    weight = made.add("Gather", made.constant("weights", scales / scales.max()), ids)
    weight = made.add("Unsqueeze", made.add("Mul", weight, damped), made.integers(1))
    rows = made.add("Gather", made.constant("table", small), ids)
    rows = made.add("Cast", rows, to=onnx.TensorProto.FLOAT)
    summed = made.add("Squeeze", made.add("MatMul", weight, rows), made.integers(1))
    return made.model(ids, made.unit(summed), dimensions=table.shape[1])
