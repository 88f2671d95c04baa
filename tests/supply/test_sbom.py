"""The bill of materials lists what the lock pins, completely, and is valid CycloneDX."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from supply.pins import RUNTIME, pins

from observer import __version__

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MODELS = {"deep", "instant"}


def written(path: Path) -> str:
    subprocess.run([sys.executable, ROOT / "scripts" / "sbom.py", path], check=True)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("sbom") / "sbom.json")


@pytest.fixture(scope="module")
def bill(text: str) -> dict[str, Any]:
    return json.loads(text)


def test_it_is_valid_cyclonedx(text: str) -> None:
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415 - as the next
    from cyclonedx.validation.json import (  # noqa: PLC0415 - a second, for every worker
        JsonStrictValidator,
    )

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None


def test_it_has_the_same_bytes_when_it_is_made_again(text: str, tmp_path: Path) -> None:
    assert written(tmp_path / "again.json") == text


def test_it_lists_every_pinned_dependency_with_its_hashes(bill: dict[str, Any]) -> None:
    listed = {
        each["bom-ref"]: {found["content"] for found in each["externalReferences"][0]["hashes"]}
        for each in bill["components"]
        if each["type"] == "library"
    }
    assert listed == {
        f"pkg:pypi/{pin.name}@{pin.version}": set(pin.hashes) for pin in pins(RUNTIME)
    }


def test_it_lists_the_models_inside_the_package(bill: dict[str, Any]) -> None:
    models = {
        each["name"] for each in bill["components"] if each["type"] == "machine-learning-model"
    }
    assert models == MODELS


def test_everything_is_reached_from_observer(bill: dict[str, Any]) -> None:
    """What is for other platforms only is listed, but nothing here needs it."""
    assert bill["metadata"]["component"]["version"] == __version__
    edges = {each["ref"]: each.get("dependsOn", []) for each in bill["dependencies"]}
    reached, waiting = set(), ["observer"]
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += edges[ref]
    wanted = {f"pkg:pypi/{pin.name}@{pin.version}" for pin in pins(RUNTIME) if pin.applies()}
    assert wanted <= reached


def test_what_is_installed_has_its_licence(bill: dict[str, Any]) -> None:
    without = [
        each["name"]
        for each in bill["components"]
        if not each.get("licenses") and not each.get("properties")
    ]
    assert len(without) < len(bill["components"]) / 4
