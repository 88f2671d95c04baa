"""Training of the table: contrast within a repository, and MiniLM's similarities of prose."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from modelling.batches import Batches, Ids, View
from modelling.table import REPEATED

Vectors = NDArray[np.float32]
_PROSE = 160
"""Texts of each lesson in a step, whose similarities are compared with MiniLM's."""


class Recipe(msgspec.Struct, frozen=True):
    """The numbers of a training; those that were tried are in the model's card.

    `shares` weighs the loss of every view. `temperature` divides cosines. `rates` are the learning
    rates of vectors and of the logarithms of token weights; both rise for 50 steps, then fall to a
    fiftieth.
    """

    steps: int = 675
    batch: int = 256
    temperature: float = 0.05
    rates: tuple[float, float] = (4e-3, 5e-3)
    shares: dict[str, float] = msgspec.field(
        default_factory=lambda: {"subject": 1.0, "names": 0.3, "prose": 0.5}
    )
    taught: float = 2.0
    seed: int = 0


class Bags(torch.nn.Module):
    """The table and its token weights, as they are trained."""

    def __init__(self, table: Vectors, weights: Vectors) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.from_numpy(table))
        self.logarithms = torch.nn.Parameter(torch.from_numpy(np.log(weights)))

    def forward(self, texts: Sequence[Ids]) -> torch.Tensor:
        """Return a unit vector for every text."""
        lengths = [len(text) for text in texts]
        rows = np.repeat(np.arange(len(texts)), lengths)
        keys, counts = np.unique(rows * len(self.table) + np.concatenate(texts), return_counts=True)
        rows, ids = np.divmod(keys, len(self.table))
        starts = torch.from_numpy(np.searchsorted(rows, np.arange(len(texts))))
        damped = torch.from_numpy((counts**REPEATED).astype(np.float32))
        tokens = torch.from_numpy(ids)
        summed = functional.embedding_bag(
            tokens,
            self.table,
            starts,
            mode="sum",
            per_sample_weights=damped * torch.exp(self.logarithms[tokens]),
        )
        return functional.normalize(summed, dim=1, eps=1e-9)

    def made(self) -> tuple[Vectors, Vectors]:
        """Return the table and the weights as they are now."""
        weights = torch.exp(self.logarithms)
        return self.table.detach().numpy().copy(), weights.detach().numpy().copy()


class Lesson(msgspec.Struct, frozen=True):
    """Prose as token ids, with MiniLM's vectors of it."""

    texts: list[Ids]
    vectors: Vectors


def train(
    bags: Bags,
    batches: Batches,
    lessons: Sequence[Lesson],
    recipe: Recipe,
) -> None:
    """Change the table and its weights in place."""
    random = np.random.default_rng(recipe.seed)
    groups = zip((bags.table, bags.logarithms), recipe.rates, strict=True)
    optimiser = torch.optim.Adam(
        [{"params": [values], "lr": rate} for values, rate in groups], betas=(0.9, 0.98)
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / 50, 1) * max(0.02, 1 - step / recipe.steps)
    )
    for _ in range(recipe.steps):
        chosen = [random.integers(0, len(lesson.texts), _PROSE) for lesson in lessons]
        loss = _contrast(bags, batches.next(), recipe)
        loss = loss + recipe.taught * _difference(bags, lessons, chosen)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch
        optimiser.step()
        schedule.step()


def _contrast(bags: Bags, views: dict[str, View], recipe: Recipe) -> torch.Tensor:
    """Return how badly queries find their documents, and documents their queries."""
    made = bags([text for v in views.values() for text in (*v.queries, *v.documents)])
    losses, start = [], 0
    for name, view in views.items():
        count = len(view.queries)
        queries, documents = made[start : start + 2 * count].split(count)
        start += 2 * count
        scores = queries @ documents.T / recipe.temperature
        scores = scores.masked_fill(torch.from_numpy(view.repeats()), -1e4)
        right = torch.arange(count)
        both = functional.cross_entropy(scores, right) + functional.cross_entropy(scores.T, right)
        losses.append(recipe.shares[name] * both / 2)
    return torch.stack(losses).sum()


def _difference(
    bags: Bags, lessons: Sequence[Lesson], chosen: Sequence[NDArray[np.int64]]
) -> torch.Tensor:
    """Return a hundred times the mean squared difference from MiniLM's cosines."""
    asked = list(zip(lessons, chosen, strict=True))
    made = bags([lesson.texts[place] for lesson, places in asked for place in places])
    taught = torch.from_numpy(np.concatenate([lesson.vectors[places] for lesson, places in asked]))
    difference = made @ made.T - taught @ taught.T
    others = ~torch.eye(len(made), dtype=torch.bool)
    return 100 * (difference[others] ** 2).mean()
