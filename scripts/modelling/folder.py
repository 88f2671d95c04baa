"""Writing a model's folder: graph, tokenizer, and the card with their digests."""

from __future__ import annotations

import hashlib
from pathlib import Path

import onnx
from tokenizers import Tokenizer

MODELS = Path(__file__).parents[2] / "observer" / "index" / "embed" / "models"


def write(
    into: Path, graph: onnx.ModelProto, tokenizer: Tokenizer, *, shown: dict[str, str | int]
) -> None:
    """Write the three files of a model; `shown` is what its card says, in order."""
    into.mkdir(parents=True, exist_ok=True)
    (into / "model.onnx").write_bytes(graph.SerializeToString(deterministic=True))
    tokenizer.save(str(into / "tokenizer.json"), pretty=False)
    lines = [f"{name} = {_toml(value)}" for name, value in shown.items()]
    lines += ["", "[sha256]"]
    for name in ("model.onnx", "tokenizer.json"):
        lines.append(f'"{name}" = "{hashlib.sha256((into / name).read_bytes()).hexdigest()}"')
    (into / "model.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    size = sum(file.stat().st_size for file in into.iterdir())
    print(f"wrote {into}: {size:,} bytes")


def _toml(value: str | int) -> str:
    """Write a value; texts as literal strings, in which a backslash is one."""
    return f"'''{value}'''" if isinstance(value, str) else str(value)
