"""What MiniLM thinks of prose: the similarities that *instant* learns to give as well."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from modelling.minilm import MiniLM
from modelling.pairs import Pair

Vectors = NDArray[np.float32]
NOTES = 14000
"""Notes of observations that are taught, beside every subject."""
_NOTES_CHARS = range(60, 261)


def prose(pairs: Sequence[Pair], *, seed: int) -> tuple[list[str], list[str]]:
    """Return the texts that are taught: every subject once, and a choice of notes."""
    subjects = list(dict.fromkeys(pair.subject for pair in pairs))
    notes = [pair.parts.get("notes", "")[: _NOTES_CHARS.stop - 1] for pair in pairs]
    notes = [note for note in dict.fromkeys(notes) if len(note) in _NOTES_CHARS]
    chosen = np.random.default_rng(seed).permutation(len(notes))[:NOTES]
    return subjects, [notes[place] for place in chosen]


def vectors(minilm: MiniLM, texts: Sequence[str], cache: Path) -> Vectors:
    """Return MiniLM's vectors of the texts, from the cache folder where it has them.

    The first time takes some ten minutes on one core.
    """
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    file = cache / f"{digest}.npy"
    if not file.exists():
        print(f"MiniLM embeds {len(texts):,} texts; kept in {file}", flush=True)
        cache.mkdir(parents=True, exist_ok=True)
        np.save(file, minilm.embed(texts))
    found: Vectors = np.load(file)
    return found
