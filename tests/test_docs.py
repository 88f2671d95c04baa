"""The documentation is complete, its links lead somewhere, and its generated parts are current."""

from __future__ import annotations

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
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
    spec = spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_man_page_is_what_the_help_says() -> None:
    made = script("man")
    assert made.page() == text(made.PAGE), "write it anew: scripts/man.py"


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


@pytest.mark.parametrize("toolset", toolsets().values(), ids=list(toolsets()))
def test_what_a_client_always_reads_is_short(toolset: object) -> None:
    assert 0 < len(toolset.guide.encode()) < 2048  # type: ignore[attr-defined]  # a Toolset


@pytest.mark.parametrize("name", list(toolsets()))
def test_every_toolset_is_in_the_reference(name: str) -> None:
    assert f"\n## Toolset `{name}`\n" in text(REFERENCE / "tools.md")


@pytest.mark.parametrize("name", [name for name, _, _ in describe()])
def test_every_setting_is_in_the_reference(name: str) -> None:
    assert f"| `{name}` |" in text(REFERENCE / "settings.md")


@pytest.mark.parametrize("name", installable())
def test_every_client_is_in_the_readme_and_has_a_guide(name: str) -> None:
    assert f"`{name}`" in text(ROOT / "README.md")
    guide = text(DOCS / "how-to" / f"{GUIDES[name]}.md")
    assert re.search(rf"^observer install .*\b{name}\b", guide, re.MULTILINE)
    assert f"({GUIDES[name]}.md)" in text(DOCS / "how-to" / "index.md")


@pytest.mark.parametrize("kind", list(generic.KINDS))
def test_every_kind_of_event_is_in_the_reference(kind: str) -> None:
    assert f"\n### `{kind}`\n" in text(REFERENCE / "events.md")


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_exit_code_is_in_the_reference(error: type[errors.ObserverError]) -> None:
    assert f"| {error.exit_code} | `{error.code}` |" in text(REFERENCE / "exit-codes.md")


@pytest.mark.parametrize("field", Status.__struct_fields__)
def test_every_field_of_the_status_is_in_the_reference(field: str) -> None:
    assert f"| `{field}` |" in text(REFERENCE / "status.md")


@pytest.mark.parametrize("name", modules())
def test_every_module_is_in_the_map(name: str) -> None:
    assert f"| `observer.{name}` |" in text(REFERENCE / "modules.md")


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


def test_the_picture_of_growth_is_that_of_its_table() -> None:
    growth = script("growth")
    assert text(growth.PICTURE) == growth.drawn(*growth.rows(text(growth.TABLE)))


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


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_row_is_longer_than_a_reader_takes_in(path: Path) -> None:
    long = [row for row in text(path).splitlines() if len(row) > MOST_ROW_CHARACTERS]
    assert long == [], "say it in less, or in two rows"


def test_no_document_holds_what_a_merge_left_behind() -> None:
    left = [path for path in DOCUMENTS if "\n<<<<<<< " in text(path)]
    assert left == []


def test_scripts_of_the_documentation_are_importable() -> None:
    """cog imports `docs` by its bare name: nothing else may be called so."""
    assert script("docs").ROOT == ROOT
    assert "docs" not in sys.stdlib_module_names
