"""What others build on says what its signature cannot: each docstring, and the errors it names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from observer.core.text import word_set

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "observer"
ROOMS = ("core", "redaction", "git", "code", "shell", "outcomes", "index", "embed", "search")
STORE = ("interface", "reader", "items", "anchors", "log", "note_files", "purging", "writer")
PUBLIC = [
    *(path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))),
    *sorted((PACKAGE / "memory").rglob("*.py")),
    *(PACKAGE / "store" / f"{name}.py" for name in STORE),
]
VERBS = word_set(
    """
    Add Answer Attach Begin Build Buy Check Choose Close Compare Copy Count Create Delete
    Download Drop End Find Forget Give Have Index Insert Keep Leave Lend Load Make Map Move Name
    Note Open Parse Put Raise Read Refuse Remember Replace Resolve Restore Return Run See Send Set
    Show Spend Start Take Turn Undo Wait Write Yield
    """
)
"""What a function does, in the first word of its docstring; a property is named for what it is."""
EVERYWHERE = "StoreUnavailable"
"""Any read of a store may raise it."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Key = tuple[str, str]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def functions_of(body: list[ast.stmt]) -> Iterator[Function]:
    """Yield the public functions of a module, and the methods of its public classes."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from functions_of(node.body)
        elif isinstance(node, Function) and not node.name.startswith("_"):
            yield node


def is_property(function: Function) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


def said(function: Function) -> str:
    return ast.get_docstring(function) or ""


ERRORS = frozenset(
    node.name
    for node in tree_of(PACKAGE / "core" / "errors.py").body
    if isinstance(node, ast.ClassDef)
)


@cache
def named() -> dict[Key, frozenset[str]]:
    """Return the errors that functions name under Raises, by module and function."""
    return {
        (module_of(path), node.name): ERRORS
        & {word.strip(",:`.") for word in said(node).partition("Raises:")[2].split()}
        for path in PACKAGE.rglob("*.py")
        for node in tree_of(path).body
        if isinstance(node, Function)
    }


def imports_of(path: Path) -> dict[str, Key]:
    """Return where the functions come from that a module calls by a name of one word or two."""
    module = module_of(path)
    known = {name: (module, name) for of, name in named() if of == module}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name, inner = alias.asname or alias.name, f"{node.module}.{alias.name}"
                known[name] = (node.module, alias.name)
                known |= {f"{name}.{one}": (inner, one) for of, one in named() if of == inner}
    return known


def raised_by(function: Function, known: dict[str, Key]) -> set[str]:
    """Return our errors that a function raises, or lets through from those that it calls."""
    found, caught = set(), set()
    for node in ast.walk(function):
        if isinstance(node, ast.Raise) and node.exc:
            error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            found.add(ast.unparse(error))
        elif isinstance(node, ast.Call):
            found |= named().get(known.get(ast.unparse(node.func), ("", "")), frozenset())
        elif isinstance(node, ast.ExceptHandler) and node.type:
            caught |= {each.id for each in ast.walk(node.type) if isinstance(each, ast.Name)}
    return set() if "ObserverError" in caught else (found & ERRORS) - caught - {EVERYWHERE}


def test_what_others_build_on_says_what_it_does() -> None:
    silent = []
    for path in PUBLIC:
        for function in functions_of(tree_of(path).body):
            first = said(function).partition(" ")[0].rstrip(".,:;")
            if not (first if is_property(function) else first in VERBS):
                silent.append(f"{module_of(path)}.{function.name}: {first}")
    assert silent == []


def test_what_others_build_on_names_the_errors_that_it_raises() -> None:
    silent = []
    for path in PUBLIC:
        known = imports_of(path)
        for function in functions_of(tree_of(path).body):
            unsaid = [error for error in raised_by(function, known) if error not in said(function)]
            silent += [f"{module_of(path)}.{function.name}: {error}" for error in unsaid]
    assert silent == []
