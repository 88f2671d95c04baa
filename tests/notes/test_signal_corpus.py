"""Neighbours against looking at every pair."""

from __future__ import annotations

import numpy as np
import pytest

from observer.notes import signal_corpus as module
from observer.notes.signal_corpus import NeighbourPairs, NeighbourQuery, Rows, Vectors, nearest

LEAST = 0.9


def random_vectors(count: int, *, subjects: int, noise: float) -> Vectors:
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(subjects, 64))
    drawn = centres[rng.integers(subjects, size=count)] + noise * rng.normal(size=(count, 64))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def pairs(near: NeighbourPairs) -> set[tuple[int, int]]:
    return set(zip(near.sources.tolist(), near.targets.tolist(), strict=True))


def test_each_has_its_nearest_in_order() -> None:
    vectors = random_vectors(300, subjects=20, noise=0.3)
    (near,) = nearest(vectors, [NeighbourQuery(3)], least=LEAST)
    cosines = vectors @ vectors.T - 2 * np.eye(300, dtype=np.float32)
    for row in range(300):
        expected = np.sort(cosines[row][cosines[row] >= LEAST])[::-1][:3]
        assert near.cosines[near.sources == row] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("crowd", [module.CROWD, 4], ids=["few", "a crowd"])
def test_of_equals_those_closest_by_come_first(monkeypatch: pytest.MonkeyPatch, crowd: int) -> None:
    monkeypatch.setattr(module, "CROWD", crowd)
    same = np.tile(np.eye(1, 4, dtype=np.float32), (30, 1))
    (near,) = nearest(same, [NeighbourQuery(2)], least=LEAST)
    assert near.targets[near.sources == 10].tolist() == [9, 11]


def test_a_kind_of_neighbours_is_chosen_among_all() -> None:
    def only_larger(sources: Rows, targets: Rows) -> np.ndarray:
        return targets > sources + 1

    same = np.tile(np.eye(1, 4, dtype=np.float32), (6, 1))
    every, larger = nearest(same, [NeighbourQuery(1), NeighbourQuery(1, only_larger)], least=LEAST)
    assert larger.targets[larger.sources == 2].tolist() == [4]
    assert every.targets[every.sources == 2].tolist() == [1]


def test_among_many_nearly_all_neighbours_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = random_vectors(3_000, subjects=300, noise=0.25)
    (exact,) = nearest(vectors, [NeighbourQuery(8)], least=LEAST)
    monkeypatch.setattr(module, "FEW", 500)
    monkeypatch.setattr(module, "AROUND", 64)
    (found,) = nearest(vectors, [NeighbourQuery(8)], least=LEAST)
    assert len(pairs(exact) & pairs(found)) > 0.97 * len(pairs(exact)) > 1_000
    (again,) = nearest(vectors, [NeighbourQuery(8)], least=LEAST)
    assert pairs(again) == pairs(found)


def test_nothing_has_no_neighbours() -> None:
    (near,) = nearest(np.zeros((0, 4), np.float32), [NeighbourQuery(8)], least=LEAST)
    assert len(near.sources) == 0
