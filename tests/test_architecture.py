"""The floors, the homes of third-party packages and the sizes of DESIGN, held as tests."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import size
from size import name_of

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "observer"
MODULES = sorted(PACKAGE.rglob("*.py"))
STANDARD = sys.stdlib_module_names

FLOORS = {
    "core": 0,
    "redaction": 1,
    "code": 2,
    "commands": 2,
    "index": 2,
    "llm": 2,
    "local": 2,
    "store": 2,
    "git": 3,
    "observations": 3,
    "clients": 4,
    "projects": 4,
    "search": 4,
    "staleness": 4,
    "ingest": 5,
    "importers": 6,
    "notes": 6,
    "sync": 6,
    "upkeep": 6,
    "memory": 7,
    "tools": 8,
    "cli": 9,
    "web": 9,
    "serve": 9,
    "__main__": 10,
}
HOMES = {
    "apsw": ("observer.store",),
    "cryptography": ("observer.sync.keys",),
    "git": ("observer.git.command",),
    "numpy": (
        "observer.index",
        "observer.notes",
        "observer.search",
    ),
    "onnxruntime": ("observer.index.embed",),
    "tokenizers": ("observer.index.embed",),
    "httpx2": ("observer.llm",),
    "psycopg": ("observer.sync.postgres", "observer.sync.postgres_search"),
    "pyrage": ("observer.sync.keys",),
    "tree_sitter": ("observer.code",),
    "watchfiles": ("observer.serve",),
    "uvicorn": ("observer.serve.http",),
    "starlette": ("observer.serve.http", "observer.web.app"),
    "jinja2": ("observer.web.app",),
    "markdown_it": ("observer.web.text",),
    "markupsafe": ("observer.web.text", "observer.web.tool_views"),
    "nh3": ("observer.web.text",),
    "click": ("observer.cli",),
    "rich": ("observer.cli",),
    "textual": ("observer.cli.screens",),
    "tomlkit": ("observer.cli", "observer.clients"),
    "zstandard": ("observer.sync.segments",),
    "yaml": ("observer.clients.config_files", "observer.notes.folders"),
}
EVERYWHERE = {"msgspec", "orjson"}
STANDARD_ONLY = {"local"}
JSON_OF_THE_STANDARD_LIBRARY = (
    *(f"observer.{part}" for part in sorted(STANDARD_ONLY)),
    "observer.core.paths",
)
PURE = (
    "observer.code",
    "observer.commands",
    "observer.observations",
    "observer.search.query",
    "observer.search.rank",
    "observer.search.candidates",
)
IMPURE = {"os", "time", "random", "logging", "socket", "subprocess", "pathlib", "secrets", "uuid"}
MODULE_LINES = 600
FUNCTION_LINES = 40


NAMES = size.modules()


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(size.tree_of(path)))


def imports_of(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def is_under(module: str, homes: tuple[str, ...]) -> bool:
    return any(module == home or module.startswith(home + ".") for home in homes)


def every_module(holds: Callable[[Path], None]) -> Callable[[], None]:
    """Make one test of a rule for all modules; a test for each costs a minute."""

    def test() -> None:
        broken = []
        for path in MODULES:
            try:
                holds(path)
            except AssertionError as error:
                broken.append(f"{name_of(path)}: {error}")
        assert not broken, "\n".join(broken)

    return test


@every_module
def test_an_import_only_looks_down(path: Path) -> None:
    here = part_of(name_of(path))
    for target in imports_of(path):
        there = part_of(target)
        if target.split(".")[0] != "observer" or not there or there == here:
            continue
        assert FLOORS[there] < FLOORS[here], f"{here} imports {target}"


@every_module
def test_a_third_party_package_has_one_home(path: Path) -> None:
    module = name_of(path)
    for target in imports_of(path):
        top = target.split(".")[0]
        if top == "observer" or top in STANDARD or top in EVERYWHERE:
            continue
        assert part_of(module) not in STANDARD_ONLY, f"{module} imports {top}"
        assert is_under(module, HOMES.get(top, ())), f"{module} imports {top}"


@every_module
def test_the_json_of_the_standard_library_stays_where_no_package_is(path: Path) -> None:
    if not is_under(name_of(path), JSON_OF_THE_STANDARD_LIBRARY):
        assert "json" not in {target.split(".")[0] for target in imports_of(path)}


@every_module
def test_untyped_json_is_for_orjson(path: Path) -> None:
    """`msgspec.json` reads into a type, and writes what is no plain object put together here."""
    for node in nodes_of(path):
        if not isinstance(node, ast.Call) or is_under(name_of(path), ("observer.core.json_text",)):
            continue
        called = ast.unparse(node.func)
        is_safe = is_under(name_of(path), ("observer.core.value",))
        assert called != "msgspec.json.decode" or is_safe, "decode_json refuses all with one error"
        assert called != "msgspec.json.Decoder" or node.args, "a decoder without a type"
        plain = called == "msgspec.json.encode" and isinstance(node.args[0], ast.Dict)
        assert not plain, f"encodes {ast.unparse(node.args[0])}"


@every_module
def test_the_pure_floors_touch_nothing(path: Path) -> None:
    if is_under(name_of(path), PURE):
        assert not IMPURE & {target.split(".")[0] for target in imports_of(path)}


@every_module
def test_sql_stands_only_in_the_store(path: Path) -> None:
    # Other programs' databases are read in one place too.
    if is_under(name_of(path), ("observer.store", "observer.importers.database")):
        return
    texts = [node.value for node in nodes_of(path) if isinstance(node, ast.Constant)]
    statements = ("SELECT ", "INSERT INTO ", "DELETE FROM ", "UPDATE ", "CREATE TABLE ", "PRAGMA ")
    assert [t for t in texts if isinstance(t, str) and t.startswith(statements)] == []


@every_module
def test_fronts_reach_data_through_memory_only(path: Path) -> None:
    # The daemon's state is no data.
    fronts = ("observer.tools", "observer.serve.http", "observer.serve.mcp", "observer.web")
    if is_under(name_of(path), fronts) and name_of(path) != "observer.tools.status":
        tables = {"observer.clients.client", "observer.clients.registry"}  # formats, no data
        ours = {target for target in imports_of(path) if target.startswith("observer.")}
        reached = {part_of(target) for target in ours - tables}
        assert not reached & {"ingest", "clients", "observations", "commands"}
        engine = {"observer.store.connection", "observer.store.database"}
        assert not engine & ours


@every_module
def test_a_module_fits_in_a_head(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MODULE_LINES


@every_module
def test_a_function_fits_on_a_screen(path: Path) -> None:
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = isinstance(node.body[0], ast.Expr)
            first = node.body[1 if documented and len(node.body) > 1 else 0]
            lines = (node.end_lineno or 0) - first.lineno + 1
            assert lines <= FUNCTION_LINES, f"{node.name} has {lines} lines"


@every_module
def test_a_module_says_what_it_owns(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_every_part_stands_on_a_floor() -> None:
    parts = {p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert parts - {"__init__", "_hooks"} == set(FLOORS)


def test_import_linter_agrees() -> None:
    run = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_hooks_import_nothing_but_the_system() -> None:
    for script in (ROOT / "hooks").rglob("*"):
        if script.is_file() and script.suffix != ".md":
            assert "python" not in script.read_text(encoding="utf-8").splitlines()[0]


STARTERS = {
    "observer.local.client": "the daemon",
    "observer.projects.fs_probe": "mount",
    "observer.core.child_process": "ourselves",
    "observer.cli.daemon": "ourselves",
    "observer.cli.read": "the hook whose context it shows",
    "observer.serve.unreported": "ourselves",
    "observer.cli.doctor.probes": "hooks, and the user's shell",
    "observer.cli.doctor.lab": "git, ourselves and ps",
    "observer.cli.doctor.speed": "the hooks that are timed",
    "observer.git.launch": "git",
    "observer.local.pump": "ourselves",
}
"""The modules that start a process, and what each starts."""


STARTS = {
    *(f"subprocess.{name}" for name in ("Popen", "run", "call", "check_call", "check_output")),
    *("subprocess.getoutput", "subprocess.getstatusoutput", "os.system", "os.popen", "pty.spawn"),
    *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"),
}


def started_by(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in STARTS or called.startswith(("os.exec", "os.spawn", "os.posix_spawn")):
                yield called


@every_module
def test_few_modules_start_a_process_and_one_starts_git(path: Path) -> None:
    called = list(started_by(path))
    assert not called or name_of(path) in STARTERS, f"{called} in {name_of(path)}"


@every_module
def test_gitpython_waits_for_the_first_question_to_git(path: Path) -> None:
    """Neither the start of the daemon nor a command that needs no git pays for its import."""
    at_once = ast.iter_child_nodes(nodes_of(path)[0])
    modules = [node.module for node in at_once if isinstance(node, ast.ImportFrom)]
    assert "observer.git.command" not in modules


FOLLOWS_CONFIGURATION = re.compile(
    r"\b(?:Repo|config_(?:reader|writer)|GitConfigParser|is_dirty|remotes?|(?:iter_)?submodules?"
    r"|(?:update|custom)_environment|refresh|ls_remote|USE_SHELL|(?<=\.)diff)\b"
)
"""Parts of GitPython that run what a repository or a variable names, or fill our environment."""


def unsafe_parts_of_gitpython(source: str) -> set[str]:
    """Return which of them a module names or imports; of the package only `git.cmd.Git` is safe."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute | ast.Name):
            found.update(FOLLOWS_CONFIGURATION.findall(ast.unparse(node)))
        elif isinstance(node, ast.Import):
            found.update(one.name for one in node.names if one.name.split(".")[0] == "git")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "git":
            found.update(f"{node.module}.{one.name}" for one in node.names)
    return found - {"git.cmd.Git"}


@every_module
def test_what_gitpython_does_with_a_configuration_is_not_used(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    if is_under(name_of(path), ("observer.git",)) or "git.command" in source or "git_at" in source:
        assert unsafe_parts_of_gitpython(source) == set()


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("from git import Repo", "git.Repo"),
        ("import git.repo", "git.repo"),
        ("git.update_environment(GIT_DIR=root)", "update_environment"),
        ("repository.head.commit.diff('HEAD~1')", "diff"),
        ("[one.url for one in found.remotes]", "remotes"),
    ],
)
def test_an_unsafe_part_of_gitpython_is_seen(source: str, part: str) -> None:
    assert part in unsafe_parts_of_gitpython(source)


def test_no_module_is_in_an_import_cycle() -> None:
    """Imports inside functions and for type checkers count too."""
    waiting = size.needs_of(NAMES)
    while free := {name for name, needs in waiting.items() if not needs & waiting.keys()}:
        waiting = {name: needs for name, needs in waiting.items() if name not in free}
    assert not waiting, f"in or above a cycle: {sorted(waiting)}"


BEHAVIOURS = {
    "observer.commands.outcome": 42,
    "observer.observations.failure_tracker": 33,
    "observer.notes.notes": 66,
    "observer.search.start": 60,
    "observer.search.find": 40,
}
"""Most modules that have to be read to follow one behaviour: those that its module needs."""


@pytest.mark.parametrize(("module", "most"), BEHAVIOURS.items())
def test_a_behaviour_can_be_read_without_the_rest(module: str, most: int) -> None:
    needs = size.needs_of(NAMES)
    needed, waiting = {module}, [module]
    while waiting:
        # Whoever asks the store reads what its methods promise, not how they are made.
        asks = waiting.pop()
        further = needs[asks] - needed if part_of(asks) != "store" else set()
        needed |= further
        waiting += further
    assert len(needed) <= most, sorted(needed)


def test_no_public_class_name_is_defined_twice() -> None:
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.iter_child_nodes(nodes_of(path)[0]):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(name_of(path))
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


PRIVATE_WORDS = re.compile(
    r"(?<![a-z])(?:told|purse|mooring|vantage|twins|happenings?|nostalgia|foretold|deed)"
    r"(?![a-z])",
    re.IGNORECASE,
)
"""Words that only this project used, for what the field has names."""
PATTERNS_OF_ENGLISH = ("observer.observations.injection_patterns",)
"""Modules with patterns that read what people write."""


@every_module
def test_no_private_word_is_used(path: Path) -> None:
    if name_of(path) not in PATTERNS_OF_ENGLISH:
        assert PRIVATE_WORDS.findall(path.read_text(encoding="utf-8")) == []


def test_a_figure_above_its_limit_is_named_and_each_has_a_limit_and_an_aim() -> None:
    of = {"lines": {"limit": 10, "aim": 5}, "rooms": {"limit": 3, "aim": 2}}
    assert size.check({"lines": 12, "rooms": 3}, of) == ["lines: 12, limit 10"]
    assert size.limits().keys() == size.figures().keys()
    needs = {"core": set[str](), "store": {"core"}, "search": {"store", "core"}}
    assert size.floors_of(needs) == {"core": 1, "store": 2, "search": 3}
