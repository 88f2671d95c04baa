#!/usr/bin/env python3
"""Write a CycloneDX 1.6 bill of materials of what observer consists of when it runs.

    scripts/sbom.py [FILE]      default: standard output

It lists each dependency that requirements/runtime.txt pins, with the hashes of its files, its
licence and what it needs itself where it is installed here, and the models inside the package.
The same checkout in the same environment gives the same bytes.
"""

from __future__ import annotations

import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import (
    ExternalReference,
    ExternalReferenceType,
    HashAlgorithm,
    HashType,
    Property,
    XsUri,
)
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from supply.pins import ROOT, RUNTIME, Pin, pins

import observer

_MODELS = ROOT / "observer" / "index" / "embed" / "models"
_LICENCES = LicenseFactory()


def main() -> int:
    """Write the bill to the file named on the command line."""
    text = JsonV1Dot6(bill()).output_as_string(indent=2) + "\n"
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


def bill() -> Bom:
    """Return the bill of materials of this checkout."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    root = Component(
        name=project["name"],
        version=observer.__version__,
        type=ComponentType.APPLICATION,
        bom_ref="observer",
        description=project["description"],
        licenses=[_LICENCES.make_from_string(project["license"])],
        purl=PackageURL("pypi", None, project["name"], observer.__version__),
    )
    pinned = [(pin, _dependency(pin)) for pin in pins(RUNTIME)]
    models = [_model(folder) for folder in sorted(_MODELS.iterdir()) if folder.is_dir()]
    bom = Bom(components=[*(made for _, made in pinned), *models])
    bom.metadata.component = root
    contents = sorted(f"{each.bom_ref.value} {each.version}" for each in bom.components)
    bom.serial_number = uuid5(NAMESPACE_URL, "\n".join(contents))
    # Neither the time nor the tools' versions: the same input gives the same bytes.
    bom.metadata.timestamp = None  # type: ignore[assignment]
    direct = {canonicalize_name(Requirement(each).name) for each in project["dependencies"]}
    bom.register_dependency(root, [*_named(pinned, direct), *models])
    extras = _extras(project["dependencies"])
    for pin, made in pinned:
        bom.register_dependency(made, _named(pinned, _needs(pin, extras[pin.name])))
    return bom


def _dependency(pin: Pin) -> Component:
    purl = PackageURL("pypi", None, pin.name, pin.version)
    files = ExternalReference(
        type=ExternalReferenceType.DISTRIBUTION,
        url=XsUri(purl.to_string()),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=each) for each in pin.hashes],
    )
    marker = pin.requirement.marker
    return Component(
        name=pin.name,
        version=pin.version,
        type=ComponentType.LIBRARY,
        bom_ref=purl.to_string(),
        purl=purl,
        licenses=_licences(pin),
        external_references=[files],
        properties=[Property(name="observer:marker", value=str(marker))] if marker else [],
    )


def _licences(pin: Pin) -> list[object]:
    found = _installed(pin)
    shown = found and (found.metadata["License-Expression"] or found.metadata["License"])
    # Some put the whole text there.
    return [_LICENCES.make_from_string(shown)] if shown and "\n" not in shown else []


def _model(folder: Path) -> Component:
    card = tomllib.loads((folder / "model.toml").read_text(encoding="utf-8"))
    return Component(
        name=folder.name,
        version=observer.__version__,
        type=ComponentType.MACHINE_LEARNING_MODEL,
        bom_ref=f"model:{folder.name}",
        description=card["description"],
        licenses=[_LICENCES.make_from_string(card["licence"])],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=card["sha256"]["model.onnx"])],
    )


def _extras(direct: Iterable[str]) -> defaultdict[str, set[str]]:
    """Return which extras of each dependency somebody asks for, besides the dependency itself."""
    found = defaultdict(lambda: {""})
    indirect = (each for pin in pins(RUNTIME) for each in _requirements(pin))
    for wanted in (*map(Requirement, direct), *indirect):
        found[canonicalize_name(wanted.name)] |= wanted.extras
    return found


def _needs(pin: Pin, extras: set[str]) -> set[str]:
    """Return the names that a dependency needs itself, here; none where it is not installed."""
    return {
        canonicalize_name(wanted.name)
        for wanted in _requirements(pin)
        if wanted.marker is None or any(wanted.marker.evaluate({"extra": each}) for each in extras)
    }


def _requirements(pin: Pin) -> list[Requirement]:
    found = _installed(pin)
    return [Requirement(each) for each in found.requires or ()] if found else []


def _named(pinned: list[tuple[Pin, Component]], names: set[str]) -> list[Component]:
    return [made for pin, made in pinned if pin.name in names]


def _installed(pin: Pin) -> Distribution | None:
    try:
        found = distribution(pin.name)
    except PackageNotFoundError:
        return None
    return found if found.version == pin.version else None


if __name__ == "__main__":
    sys.exit(main())
