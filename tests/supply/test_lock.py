"""The lock files pin by hash what pyproject.toml asks for; models are what their cards say."""

from __future__ import annotations

import hashlib
import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from hatchling.build import get_requires_for_build_editable
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from supply.pins import BUILD, DEV, FOLDER, LOCKS, RUNTIME, Pin, pins

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DIRECT = {
    RUNTIME: PROJECT["project"]["dependencies"],
    BUILD: PROJECT["build-system"]["requires"],
    DEV: PROJECT["project"]["dependencies"] + PROJECT["project"]["optional-dependencies"]["dev"],
}


def pinned(lock: str) -> dict[str, Pin]:
    """Return what a lock pins for this interpreter and platform, by name."""
    found: dict[str, Pin] = {}
    for pin in pins(lock):
        if pin.applies():
            assert pin.name not in found, f"{pin.name} is pinned twice"
            found[pin.name] = pin
    return found


def needed(requirement: Requirement) -> list[Requirement]:
    """Return what a requirement needs itself on this machine."""
    try:
        wanted = [Requirement(each) for each in requires(requirement.name) or ()]
    except PackageNotFoundError:
        pytest.fail(f"{requirement.name} is pinned but not installed: run scripts/check")
    extras = requirement.extras or {""}
    return [
        each
        for each in wanted
        if each.marker is None or any(each.marker.evaluate({"extra": name}) for name in extras)
    ]


@pytest.mark.parametrize("lock", LOCKS)
def test_all_that_is_needed_is_pinned_and_nothing_else(lock: str) -> None:
    found = pinned(lock)
    open_ones = [
        each for each in map(Requirement, DIRECT[lock]) if not each.marker or each.marker.evaluate()
    ]
    reached: set[tuple[str, frozenset[str]]] = set()
    while open_ones:
        requirement = open_ones.pop()
        name = canonicalize_name(requirement.name)
        assert name in found, f"{requirement} is not pinned in {lock}.txt"
        assert requirement.specifier.contains(found[name].version, prereleases=True)
        # Else pip before 23.3 takes the newest version for it, which has no hash here.
        assert requirement.extras <= found[name].requirement.extras, requirement
        key = (name, frozenset(requirement.extras))
        if key not in reached:
            reached.add(key)
            open_ones += needed(requirement)
    assert set(found) == {name for name, _ in reached}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_hashes_and_names_no_index_or_file(lock: str) -> None:
    for pin in pins(lock):
        assert pin.hashes, pin.name
        assert all(re.fullmatch("[0-9a-f]{64}", each) for each in pin.hashes)
    text = (FOLDER / f"{lock}.txt").read_text(encoding="utf-8")
    assert not re.search(r"://|@ |^-|--(?!hash=)", text, re.MULTILINE)


def test_the_locks_agree() -> None:
    everything = {(pin.name, pin.version): pin for pin in pins(DEV)}
    for pin in (*pins(RUNTIME), *pins(BUILD)):
        assert set(pin.hashes) == set(everything[pin.name, pin.version].hashes)


def test_development_has_what_builds_and_installs(monkeypatch: pytest.MonkeyPatch) -> None:
    """`scripts/check` builds without isolation: nothing is fetched beside the lock."""
    monkeypatch.chdir(ROOT)
    wanted = {*DIRECT[BUILD], *get_requires_for_build_editable()}
    assert set(DIRECT[BUILD]) <= set(PROJECT["project"]["optional-dependencies"]["dev"])
    for each in map(Requirement, wanted):
        assert each.specifier.contains(pinned(DEV)[canonicalize_name(each.name)].version)


MODELS = Path(__file__).parents[2] / "observer" / "index" / "embed" / "models"
CARDS = sorted(MODELS.glob("*/model.toml"))


@pytest.mark.parametrize("card", CARDS, ids=[path.parent.name for path in CARDS])
def test_a_shipped_model_is_the_file_that_its_card_names(card: Path) -> None:
    assert [path.parent.name for path in CARDS] == ["deep", "instant"]
    digests = tomllib.loads(card.read_text(encoding="utf-8"))["sha256"]
    assert digests.keys() == {"model.onnx", "tokenizer.json"}
    for name, digest in digests.items():
        assert hashlib.sha256((card.parent / name).read_bytes()).hexdigest() == digest
