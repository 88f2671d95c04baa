"""The documentation is complete, its links lead somewhere, and its generated parts are current."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import click
import pytest
import yaml
from mkdocs.exceptions import PluginError

from observer.cli.app import observer
from observer.clients import generic
from observer.clients.installers import installable
from observer.core import errors
from observer.core.config import describe
from observer.tools.registry import toolsets
from observer.tools.status import Status
from tests.clients.facts import facts_of
from tests.support import module_at

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
MOST_README_LINES = 130
MOST_ROW_CHARACTERS = 420
CONTEXT = click.Context(observer)
COMMANDS = [
    name
    for name in observer.list_commands(CONTEXT)
    if not getattr(observer.get_command(CONTEXT, name), "hidden", False)
]
TOOLS = [
    pytest.param(tool, id=f"{name}-{tool.name}")
    for name, toolset in toolsets().items()
    for tool in toolset.tools(None, lambda: "")  # type: ignore[arg-type]  # described, not called
]
ERRORS = [
    error
    for error in vars(errors).values()
    if isinstance(error, type) and error.__module__ == errors.__name__
]
GUIDES = {client: facts_of(client).guide for client in installable()}
"""The guide of each client."""
DOCUMENTS = sorted(
    path
    for path in (*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("*/README.md"))
    if not path.parent.name.startswith(".")
)
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted(DOCS.rglob("*.md"))
PACKAGE = ROOT / "observer"
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def modules() -> list[str]:
    found = (path for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir())
    return sorted({path.stem for path in found} - {"__init__", "__pycache__"})


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def script(name: str) -> ModuleType:
    return module_at(ROOT / "scripts" / f"{name}.py")


def links(path: Path) -> list[str]:
    return [link for link in LINK.findall(FENCED.sub("", text(path))) if "://" not in link]


def slug(heading: str) -> str:
    """The anchor that Markdown renderers give a heading, by GitHub's rule."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", ""))
    return kept.replace(" ", "-")


def anchors(path: Path) -> set[str]:
    found = re.findall(r"^#+ (.+)$", FENCED.sub("", text(path)), re.MULTILINE)
    return {slug(heading) for heading in found}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_reference_and_has_help_and_an_example(name: str) -> None:
    command = observer.get_command(CONTEXT, name)
    assert command is not None
    assert f"\n## `observer {name}`\n" in text(REFERENCE / "commands.md")
    assert command.help
    assert (command.epilog or "").startswith("Example: ")


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_is_in_the_reference_and_says_when_to_use_it(tool: object) -> None:
    name, description = tool.name, tool.description  # type: ignore[attr-defined]  # a Tool
    assert f"\n### `{name}`\n" in text(REFERENCE / "tools.md")
    assert 0 < len(description.encode()) < 2048


def test_what_a_client_always_reads_is_short() -> None:
    sizes = {name: len(toolset.guide.encode()) for name, toolset in toolsets().items()}
    assert {name for name, size in sizes.items() if not 0 < size < 2048} == set()


@pytest.mark.parametrize(
    ("page", "rows"),
    [
        ("tools", [f"\n## Toolset `{name}`\n" for name in toolsets()]),
        ("settings", [f"| `{name}` |" for name, _, _ in describe()]),
        ("events", [f"\n### `{kind}`\n" for kind in generic.KINDS]),
        ("exit-codes", [f"| {error.exit_code} | `{error.code}` |" for error in ERRORS]),
        ("status", [f"| `{field}` |" for field in Status.__struct_fields__]),
        ("modules", [f"| `observer.{name}` |" for name in modules()]),
    ],
)
def test_a_page_of_the_reference_has_a_row_for_each_of_its_kind(page: str, rows: list[str]) -> None:
    assert rows
    assert [row for row in rows if row not in text(REFERENCE / f"{page}.md")] == []


@pytest.mark.parametrize("name", installable())
def test_every_client_is_in_the_readme_and_has_a_guide(name: str) -> None:
    assert f"`{name}`" in text(ROOT / "README.md")
    guide = text(DOCS / "how-to" / f"{GUIDES[name]}.md")
    assert re.search(rf"^observer install .*\b{name}\b", guide, re.MULTILINE)
    assert f"({GUIDES[name]}.md)" in text(DOCS / "how-to" / "index.md")


def test_the_readme_fits_on_two_screens() -> None:
    assert len(text(ROOT / "README.md").splitlines()) <= MOST_README_LINES


def test_the_readme_names_the_commands_that_ci_runs_in_their_order() -> None:
    for path in (".ci/run", "README.md"):
        ran = re.findall(r"^(?:ALL_INSTALLED=yes )?scripts/(\w+) ", text(ROOT / path), re.MULTILINE)
        assert ran == ["start", "check"], path


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(path: Path) -> None:
    for link in links(path):
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("path", sorted((DOCS / "decisions").glob("[0-9]*.md")))
def test_every_decision_is_in_the_index_under_its_number(path: Path) -> None:
    assert f"({path.name})" in text(DOCS / "decisions" / "index.md")
    assert text(path).startswith(f"# {path.name[:4]} ")


@pytest.mark.parametrize(
    ("link", "source", "page", "leads"),
    [
        ("../../SECURITY.md", "docs/how-to/git.md", "how-to/git.md", "../project/security.md"),
        ("docs/index.md", "CONTRIBUTING.md", "project/contributing.md", "../index.md"),
        ("git.md", "docs/how-to/index.md", "how-to/index.md", "git.md"),
        ("https://a.example/b", "docs/index.md", "index.md", "https://a.example/b"),
    ],
)
def test_links_between_the_root_and_docs_lead_to_pages_of_the_site(
    link: str, source: str, page: str, leads: str
) -> None:
    assert script("mkdocs_hooks").moved(link, source, page) == leads


@pytest.mark.parametrize(
    "markup",
    [
        '<script src="https://cdn.example/mermaid.js"></script>',
        "<script src=//cdn.example/mermaid.js></script>",
        '<link rel="stylesheet" href="https://fonts.example/css">',
        '<link href="https://fonts.example/css" rel="stylesheet">',
        '<img alt="" src="http://badge.example/build.svg">',
    ],
)
def test_a_page_that_loads_from_another_host_fails_the_build(markup: str) -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="index.md"))
    hook = script("mkdocs_hooks").on_post_page
    with pytest.raises(PluginError, match="loads from another host"):
        hook(f"<html>{markup}</html>", page=page)
    local = '<script src="assets/a.js"></script><a href="https://a.example">a link</a>'
    assert hook(local, page=page) == local


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.svg")), ids=lambda path: path.stem)
def test_pictures_load_nothing(path: Path) -> None:
    assert not re.search(r"url\((?!#)|href=|<image|@import|@font-face", text(path))


def test_the_man_page_and_the_picture_of_growth_are_what_their_scripts_write() -> None:
    man, growth = script("man"), script("growth")
    assert man.page() == text(man.PAGE), "write it anew: scripts/man.py"
    assert text(growth.PICTURE) == growth.drawn(*growth.rows(text(growth.TABLE)))
    # cog imports `docs` by its bare name: nothing else may be called so.
    assert script("docs").ROOT == ROOT
    assert "docs" not in sys.stdlib_module_names


def test_a_screenshot_shows_what_was_printed(tmp_path: Path) -> None:
    script("sample").screenshot(
        "observer search --notes x", "#1 note · made up", tmp_path / "x.svg"
    )
    drawn = (tmp_path / "x.svg").read_text().replace("&#160;", " ")
    assert "observer search --notes x" in drawn
    assert "made up" in drawn


@pytest.mark.parametrize(
    "command",
    ["ruff format --check", "ruff check", "mypy", "cog -P --check", "mkdocs build --strict"],
)
def test_pre_commit_runs_what_the_check_runs(command: str) -> None:
    configured = yaml.safe_load(text(ROOT / ".pre-commit-config.yaml"))
    entries = [hook["entry"] for repo in configured["repos"] for hook in repo["hooks"]]
    assert any(f".venv/bin/{command}" in entry for entry in entries)
    check = text(ROOT / "scripts" / "check")
    assert f"\n{command} " in check.replace("WARNING=1 ", "WARNING=1\n").replace("\nmends ", "\n")
    assert "scripts/check" in entries


def test_no_row_is_longer_than_a_reader_takes_in_or_left_behind_by_a_merge() -> None:
    rows = [(path.name, row) for path in PAGES for row in text(path).splitlines()]
    assert [row for row in rows if len(row[1]) > MOST_ROW_CHARACTERS] == [], "say it in less"
    assert [path for path in DOCUMENTS if "\n<<<<<<< " in text(path)] == []
