"""Which models there are: those that ship in the wheel, then the user's in `<home>/models/`.

A model is a folder of three files (`index.embed.model`), or two of them joined by a plus sign. One
that cannot be used is listed with its problem.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import orjson

from observer.core.errors import ConfigInvalid, NotFound
from observer.core.value import Value
from observer.index.embed import model
from observer.index.embed.model import Joined, Model

TOKENIZER = Path(__file__).parent / "models/instant/tokenizer.json"


@cache
def known_words() -> frozenset[str]:
    """Return the words that the instant model has a token for, in lower case: 33,000."""
    return frozenset(orjson.loads(TOKENIZER.read_bytes())["model"]["vocab"])


BUILT_IN = Path(__file__).parent / "models"
BUILT_IN_NAMES = ("instant", "deep")
JOIN = "+"
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class ModelInfo(Value):
    """A model that may be loaded, unless `problem` says why not; `id` names its vectors."""

    name: str
    id: str
    dimensions: int
    folder: Path
    description: str = ""
    licence: str = ""
    size_bytes: int = 0
    is_builtin: bool = False
    problem: str = ""
    parts: tuple[ModelInfo, ...] = ()
    """The models that it is made of, if it is joined."""


def known(folder: Path) -> list[ModelInfo]:
    """Return every model: the built-in ones and both joined, then those in `folder` by name."""
    built_in = [_describe(BUILT_IN / name, name, is_builtin=True) for name in BUILT_IN_NAMES]
    found = [_joined(*built_in), *built_in]
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    own = (p for p in paths if p.name not in BUILT_IN_NAMES and (p / model.MANIFEST).exists())
    found += [_describe(path, path.name) for path in own]
    return found


def find(name: str, folder: Path) -> ModelInfo:
    """Return a model by its name, two with a plus sign between, or the path of its folder.

    Raises: NotFound (there is none; the hint lists the known names).
    """
    first, join, second = name.partition(JOIN)
    if join and os.sep not in name:
        return _joined(*(_single(one, folder) for one in (first, second)))
    return _single(name, folder)


def _single(name: str, folder: Path) -> ModelInfo:
    if os.sep in name:
        path = Path(name).expanduser()
        if not (path / model.MANIFEST).exists():
            raise NotFound(f"no model in {path}", hint="it needs a model.toml")
        return _describe(path, path.name)
    every = known(folder)
    for info in every:
        if info.name == name:
            return info
    names = ", ".join(info.name for info in every)
    raise NotFound(f"no model {name!r}", hint=f"one of: {names}; or: observer config model pull")


def chosen(name: str, folder: Path) -> ModelInfo:
    """Return the model that the settings name; that it is not there is its problem, no error."""
    try:
        return find(name, folder)
    except NotFound as error:
        return ModelInfo(name=name, id="", dimensions=0, folder=folder, problem=error.message)


def load(info: ModelInfo) -> Model | Joined:
    """Load a model; about 0.1 s. Its files are checked against the digests of its manifest.

    Raises: ConfigInvalid (the files are damaged, or no model, or what runs it is not installed).
    """
    if info.parts:
        first, second = map(_loaded, info.parts)
        return Joined(first, second, name=info.name)
    return _loaded(info)


def _loaded(info: ModelInfo) -> Model:
    hint = "reinstall observer" if info.is_builtin else f"replace the files in {info.folder}"
    try:
        declared = model.read(info.folder)
        model.verify(info.folder, declared)
        return Model(info.folder, declared, name=info.name)
    except (ConfigInvalid, ImportError, OSError) as error:
        problem = error.message if isinstance(error, ConfigInvalid) else str(error)
        raise ConfigInvalid(f"model {info.name!r} cannot be used: {problem}", hint=hint) from error


def _joined(first: ModelInfo, second: ModelInfo) -> ModelInfo:
    return ModelInfo(
        name=f"{first.name}{JOIN}{second.name}",
        id=f"{first.id}{JOIN}{second.id}",
        dimensions=first.dimensions + second.dimensions,
        folder=first.folder,
        description=f"{first.name}, completed by {second.name} in the background",
        licence=", ".join(dict.fromkeys((first.licence, second.licence))),
        size_bytes=first.size_bytes + second.size_bytes,
        is_builtin=first.is_builtin and second.is_builtin,
        problem=first.problem or second.problem,
        parts=(first, second),
    )


def _describe(folder: Path, name: str, *, is_builtin: bool = False) -> ModelInfo:
    try:
        declared = model.read(folder)
        return ModelInfo(
            name=name,
            id=model.identity(folder, declared),
            dimensions=declared.dimensions,
            folder=folder,
            description=declared.description,
            licence=declared.licence,
            size_bytes=sum((folder / file).stat().st_size for file in model.DIGESTED),
            is_builtin=is_builtin,
        )
    except (ConfigInvalid, OSError) as error:
        problem = error.message if isinstance(error, ConfigInvalid) else str(error)
        return ModelInfo(
            name=name, id="", dimensions=0, folder=folder, is_builtin=is_builtin, problem=problem
        )
