"""JSON Canvas: nodes and edges of a drawing. Pure.

Source: jsoncanvas.org, version 1.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from observer.core.errors import BadInput

_NEEDS = {"text": "text", "file": "file", "link": "url", "group": ""}
_NUMBERS = ("x", "y", "width", "height")
_SIDES = frozenset({"top", "right", "bottom", "left"})

Object = Mapping[str, Any]  # Any: the client's JSON


def checked(nodes: Sequence[Object], edges: Sequence[Object]) -> dict[str, list[Object]]:
    """Return a canvas; fields that the format does not name are kept.

    Raises:
        BadInput: a node lacks what its type needs, an id is there twice, or an edge leads nowhere.
    """
    ids: set[str] = set()
    for node in nodes:
        _check_node(node, _id(node, "node", ids))
    known = set(ids)
    for edge in edges:
        name = _id(edge, "edge", ids)
        for end in ("fromNode", "toNode"):
            if edge.get(end) not in known:
                raise BadInput(f"edge {name!r} has no node as {end}", hint="name the id of a node")
        for side in ("fromSide", "toSide"):
            if side in edge and edge[side] not in _SIDES:
                raise BadInput(f"edge {name!r} has no side as {side}", hint="use top, right …")
    return {"nodes": list(nodes), "edges": list(edges)}


def _check_node(node: Object, name: str) -> None:
    kind = node.get("type")
    if kind not in _NEEDS:
        raise BadInput(f"node {name!r} is of no known type", hint=f"use {', '.join(_NEEDS)}")
    if _NEEDS[kind] and not isinstance(node.get(_NEEDS[kind]), str):
        raise BadInput(f"node {name!r} has no {_NEEDS[kind]}", hint=f"a {kind} node needs it")
    if wrong := [each for each in _NUMBERS if not _is_number(node.get(each))]:
        raise BadInput(f"node {name!r} has no number as {wrong[0]}", hint="in pixels")


def _id(given: Object, what: str, known: set[str]) -> str:
    name = given.get("id")
    if not isinstance(name, str) or not name or name in known:
        raise BadInput(
            f"{what} {str(name)[:80]!r} has no id of its own", hint="ids are unique texts"
        )
    known.add(name)
    return name


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
