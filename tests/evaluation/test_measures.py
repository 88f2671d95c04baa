"""Figures are right by hand, bounded, and the bootstrap is paired, seeded and calibrated."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.peers import installed, kiro_text
from evaluation.measures import FIGURES, Numbers, average, finding, gap, interval, measure, redraw
from hypothesis import given
from hypothesis import strategies as st

ids = st.integers(1, 15)
answers = st.lists(ids, max_size=12, unique=True)
relevant_ids = st.frozensets(ids, min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("answer", "relevant", "figures"),
    [
        pytest.param([1], {1}, (1, 1, 1, 1, 1), id="first"),
        pytest.param([], {1}, (0, 0, 0, 0, 0), id="nothing found"),
        pytest.param([2, 3], {1}, (0, 0, 0, 0, 0), id="only wrong ones"),
        pytest.param([2, 3, 1], {1}, (1, 1, 1, 1 / 3, 0.5), id="third"),
        pytest.param([2, 3, 4, 1], {1}, (0, 1, 1, 0.25, 1 / math.log2(5)), id="fourth"),
        pytest.param([*range(2, 7), 1], {1}, (0, 0, 1, 1 / 6, 1 / math.log2(7)), id="sixth"),
        pytest.param([*range(2, 12), 1], {1}, (0, 0, 0, 0, 0), id="eleventh"),
        pytest.param(
            [1, 9, 2],
            {1, 2, 3, 4},
            (0.5, 0.5, 0.5, 1, 1.5 / (1.5 + 1 / math.log2(3) + 1 / math.log2(5))),
            id="two of four",
        ),
        pytest.param([*range(10)], {*range(20)}, (0.15, 0.25, 0.5, 1, 1), id="more than fit"),
        pytest.param(
            [1, 1, 1], {1, 2}, (0.5, 0.5, 0.5, 1, 1 / (1 + 1 / math.log2(3))), id="repeated"
        ),
    ],
)
def test_figures_are_as_by_hand(
    answer: list[int], relevant: set[int], figures: tuple[float, ...]
) -> None:
    assert measure(answer, relevant) == pytest.approx(figures)


@given(st.lists(ids, max_size=12), relevant_ids)
def test_a_figure_lies_between_0_and_1(answer: list[int], relevant: frozenset[int]) -> None:
    assert all(0 <= figure <= 1 + 1e-9 for figure in measure(answer, relevant))


@given(answers, relevant_ids, st.permutations(range(1, 16)))
def test_figures_do_not_depend_on_what_things_are_called(
    answer: list[int], relevant: frozenset[int], names: list[int]
) -> None:
    renamed = measure([names[i - 1] for i in answer], {names[i - 1] for i in relevant})
    assert renamed == measure(answer, relevant)


@given(answers, relevant_ids, st.integers(0, 10))
def test_a_right_one_moved_ahead_never_costs(
    answer: list[int], relevant: frozenset[int], to: int
) -> None:
    for at, found in enumerate(answer):
        if found in relevant and to < at:
            moved = [*answer[:to], found, *answer[to:at], *answer[at + 1 :]]
            before, after = measure(answer, relevant), measure(moved, relevant)
            assert all(a >= b - 1e-9 for a, b in zip(after, before, strict=True))


def one_system(*values: float) -> Numbers:
    return np.repeat(np.array(values)[:, None, None], len(FIGURES), axis=2)


def two_systems(one: Numbers, other: Numbers) -> Numbers:
    return np.repeat(np.stack([one, other], axis=1)[:, :, None], len(FIGURES), axis=2)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_an_interval_holds_the_mean_and_stays_inside_the_values(values: list[float]) -> None:
    found = interval(redraw(one_system(*values), redraws=500), 0, 0)
    assert found.mean == pytest.approx(np.mean(values))
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


def test_an_interval_is_as_wide_as_the_normal_one() -> None:
    hits = one_system(*([1.0] * 300 + [0.0] * 700))
    found = interval(redraw(hits), 0, 0)
    half = 1.96 * math.sqrt(0.3 * 0.7 / 1000)
    assert (found.low, found.high) == pytest.approx((0.3 - half, 0.3 + half), abs=0.003)


def test_a_gap_has_a_direction_and_is_none_between_equals_and_the_same_each_time() -> None:
    chance = np.random.default_rng(1).random((2, 100))
    sample = redraw(two_systems(*chance))
    ahead, behind = gap(sample, 0, 1, figure=2), gap(sample, 1, 0, figure=2)
    assert (ahead.mean, ahead.low) == pytest.approx((-behind.mean, -behind.high))
    assert ahead.p == behind.p
    assert gap(redraw(two_systems(*chance)), 0, 1, figure=2) == ahead
    equal = gap(redraw(two_systems(chance[0], chance[0])), 0, 1, figure=0)
    assert (equal.mean, equal.p) == (0, 1)


def test_a_small_gap_at_every_query_is_sure_however_much_the_queries_differ() -> None:
    """Queries differ by far more than the systems: only a paired comparison sees the gap."""
    base = np.random.default_rng(1).random(200)
    found = gap(redraw(two_systems(base + 0.01, base)), 0, 1, figure=0)
    assert found.p < 0.001
    assert (found.low, found.high) == pytest.approx((0.01, 0.01))


def test_chance_is_seldom_taken_for_a_gap() -> None:
    """A p-value below 0.1 comes up in about one of ten comparisons of equals."""
    chance = np.random.default_rng(1)
    tries = [redraw(two_systems(*chance.random((2, 60))), redraws=400) for _ in range(300)]
    false = sum(gap(sample, 0, 1, figure=0).p < 0.1 for sample in tries)
    assert 15 <= false <= 50


def test_every_set_counts_the_same_in_the_average_which_is_surer_than_each() -> None:
    large, small = redraw(one_system(*[1.0] * 90)), redraw(one_system(*[0.0] * 10), seed=1)
    assert interval(average([large, small]), 0, 0).mean == 0.5
    values = np.random.default_rng(1).random((4, 100))
    samples = [redraw(one_system(*each), seed=seed) for seed, each in enumerate(values)]
    found = interval(average(samples), 0, 0)
    single = [interval(sample, 0, 0) for sample in samples]
    narrowest = min(each.high - each.low for each in single)
    assert found.high - found.low == pytest.approx(narrowest / 2, rel=0.2)


def test_what_is_ahead_beyond_chance_is_named() -> None:
    sample = redraw(np.array([[[0.5] * 5, [0.9] * 5, [0.5] * 5, [0.1] * 5]] * 9))
    found = finding("shop", sample, ["recall", "ahead", "even", "behind"])
    assert found.behind({"ahead", "even", "behind"}) == ["ahead"]
    assert found.behind({"even"}) == []


ROOT = Path(__file__).parents[2]
MEMORY = """#!{python}
# Answers MCP as basic-memory does, by the notes in its folder that hold all words of a query.
import json, os, pathlib, sys
assert sys.argv[1:] == ["mcp"]
notes = [path.read_text().rpartition("---")[2].strip()
         for path in pathlib.Path(os.environ["BASIC_MEMORY_HOME"]).glob("*.md")]
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        query = request["params"].get("arguments", {{}}).get("query", "").split()
        held = [note for note in notes if set(query) <= set(note.split())]
        result = {{"content": [{{"type": "text", "text": "\\n".join(held)}}]}}
        print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": result}}), flush=True)
"""


def command(folder: Path, name: str, text: str) -> None:
    made = folder / "bin" / name
    made.parent.mkdir(exist_ok=True)
    made.write_text(text)
    made.chmod(0o755)


@pytest.mark.slow
def test_recall_is_measured_beside_other_memories_without_one_that_does_not_start(
    tmp_path: Path,
) -> None:
    command(tmp_path, "kiro-memory", "#!/bin/sh\nexit 1\n")
    command(tmp_path, "basic-memory", MEMORY.format(python=sys.executable))
    argv = [sys.executable, ROOT / "scripts/bench.py", "peers", "--quick", "--peer", tmp_path]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 0, done.stderr
    lines = {line[:46].strip(): line for line in done.stdout.splitlines()}
    assert "kiro-memory, not measured" in lines
    for name in ("observer", "basic-memory"):
        assert " 100 %" in lines[f"found in their own words, R@3, {name}"]
    assert " 0.00 %" in lines["found in other words, R@5, basic-memory"]


def test_a_refusal_is_not_taken_for_an_answer() -> None:
    """kiro-memory does not mark as an error that it was asked too often."""
    parts = [{"type": "text", "text": "## Risultati"}, {"type": "text", "text": "| 1 | shop |"}]
    assert kiro_text({"content": parts}) == "## Risultati\n| 1 | shop |"
    refusal = {"type": "text", "text": "Errore: Errore di comunicazione con il Worker"}
    with pytest.raises(RuntimeError, match="kiro-memory: Errore"):
        kiro_text({"content": [refusal]})


@pytest.mark.parametrize("shelf", ["", "bin", "node_modules/.bin"])
def test_other_memories_are_found_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shelf: str
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert installed(None) == installed(tmp_path) == []
    command = tmp_path / shelf / "kiro-memory"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    assert [peer.name for peer in installed(tmp_path)] == ["kiro-memory"]
