"""The examples work: those that CONTRIBUTING shows, and those that pages print an answer of."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from observer.clients.config_files.context import InstallContext, apply
from observer.clients.installers import install, uninstall
from observer.clients.registry import clients
from observer.code import languages
from observer.commands import command_line, outcome
from observer.core.errors import ConfigInvalid
from observer.core.events import Command, Event
from observer.core.paths import Home
from observer.ingest.decode import decode
from observer.memory.opening import open_memory
from tests.support import module_at

ROOT = Path(__file__).parents[1]
EXAMPLES, SCRIPTS = ROOT / "examples", ROOT / "scripts"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
AT_MS = 1_763_715_600_000


def example(name: str, *, folder: Path = EXAMPLES) -> ModuleType:
    return module_at(folder / name)


@pytest.fixture
def quill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Install the package of the made-up client, as pip would, and return the client's name."""
    project = tomllib.loads((EXAMPLES / "client" / "pyproject.toml").read_text())["project"]
    info = tmp_path / "observer_quill-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: observer-quill\nVersion: 0.1\n")
    entries = project["entry-points"]["observer.clients"].items()
    rows = "".join(f"{name} = {value}\n" for name, value in entries)
    (info / "entry_points.txt").write_text(f"[observer.clients]\n{rows}")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES / "client")
    clients.cache_clear()
    yield "quill"
    clients.cache_clear()


def code(language: str = "python") -> list[str]:
    blocks = re.findall(rf"^( *)```{language}\n(.*?)^ *```", CONTRIBUTING, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for _, block in blocks]


@pytest.mark.parametrize("block", code(), ids=lambda block: block.split("(")[0].split(":")[0])
def test_contributing_shows_what_the_examples_hold(block: str) -> None:
    held = "".join(path.read_text(encoding="utf-8") for path in EXAMPLES.rglob("*.py"))
    for line in re.findall(r'r"[^"]+"', block) if "_grammar(" in block else block.splitlines():
        assert line.strip() in held


@pytest.mark.parametrize(
    "name",
    [path.relative_to(EXAMPLES).as_posix() for path in sorted(EXAMPLES.rglob("*.py"))],
)
def test_contributing_or_the_index_names_every_example(name: str) -> None:
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert f"examples/{name}" in CONTRIBUTING or f"`{name}`" in index, name


@pytest.mark.slow
def test_the_script_prints_the_decisions_of_a_project(
    tmp_path: Path, observer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    monkeypatch.chdir(shop)
    subprocess.run(["git", "init", "-q"], check=True)
    observer("up")
    note = ("Money is Decimal", "--type", "decision")
    assert observer("remember", *note).returncode == 0
    assert observer("remember", "Tests are quick").returncode == 0
    observer("down")
    script = [sys.executable, str(EXAMPLES / "recent_decisions.py")]
    done = subprocess.run(script, capture_output=True, text=True)  # noqa: PLW1510 - its output says what is wrong
    assert done.stdout.rstrip().endswith(" · Money is Decimal"), done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_the_script_says_what_is_wrong_without_a_memory(tmp_path: Path) -> None:
    script = [sys.executable, str(EXAMPLES / "recent_decisions.py")]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True)  # noqa: PLW1510 - it fails
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")


@pytest.mark.usefixtures("quill")
def test_the_client_decodes_its_recorded_payload() -> None:
    sample = json.loads((EXAMPLES / "client" / "tool-done.json").read_text())
    header = "".join(f"{name}={value}\0" for name, value in sample["fields"].items())
    data = b"OBS1\0" + header.encode() + b"\0" + json.dumps(sample["payload"]).encode()
    events = decode(sample["entry"], data, AT_MS, cap_bytes=65536)
    assert list(events) == msgspec.convert(sample["becomes"], list[Event])


@pytest.mark.parametrize("event", ["start", "end", "prompt", "paused"])
def test_the_client_decodes_every_event(event: str, quill: str) -> None:
    data = f'OBS1\0client=quill\0event={event}\0\0{{"event": "{event}", "run": "r1"}}'.encode()
    (found,) = decode("e1", data, AT_MS, cap_bytes=65536)
    assert (found.client, found.session) == (quill, "r1")


def test_the_client_is_installed_once_and_taken_out_again(
    tmp_path: Path, home: Home, quill: str
) -> None:
    context = InstallContext(
        home=home, user_home=tmp_path, observer="/bin/observer", environ={}, folder=tmp_path
    )
    hooks = tmp_path / ".quill" / "hooks.json"
    hooks.parent.mkdir()
    hooks.write_text('{"hooks": {"start": [{"command": "theirs"}]}}\n')
    apply(install(quill, context).edits, home.backups, at_ms=AT_MS)
    lines = [one["command"] for one in json.loads(hooks.read_text())["hooks"]["start"]]
    assert lines[0] == "theirs"
    assert [line.rpartition("/")[2] for line in lines[1:]] == [
        "post quill start", "context quill",
    ]  # fmt: skip
    assert not install(quill, context).is_change
    apply(uninstall(quill, context).edits, home.backups, at_ms=AT_MS)
    assert json.loads(hooks.read_text())["hooks"]["start"] == [{"command": "theirs"}]
    assert not (tmp_path / ".quill" / "mcp.json").exists()


def test_the_reader_reads_its_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    readers = example("reader.py").PARSERS
    marks = tuple((mark, reader) for reader in readers for mark in reader.marks)
    monkeypatch.setattr(outcome, "_BY_TOOL", {"lintel": readers})
    monkeypatch.setattr(outcome, "_BY_MARK", marks)
    output = "src/cart.py:7: E12 unused name total\nlintel: 1 findings in 14 files\n"
    command = Command(command="lintel src", output=output, exit_code=1, failed=True)
    verdict = outcome.command_result(command, command_line.parse_command_line(command.command))
    assert (verdict.tool, verdict.ok, verdict.failed) == ("lintel", False, 1)
    assert verdict.first_error == "src/cart.py:7: E12 unused name total"


def test_the_language_is_read_by_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    gleam = example("language.py")
    grammar = languages._grammar(*gleam.ANYWHERE, outermost=gleam.OUTERMOST)
    monkeypatch.setattr(languages, "EXTENSIONS", languages.EXTENSIONS | gleam.EXTENSIONS)
    monkeypatch.setattr(languages, "_GRAMMARS", languages._GRAMMARS | {"gleam": grammar})
    assert languages.language_of("src/cart.gleam") == "gleam"
    lines = ["pub fn total(lines) -> Int {", "type Cart {", "const limit = 3", "case x {"]
    names = [languages.definition_name(line, 0, "gleam") for line in lines]
    assert names == ["total", "Cart", "limit", ""]


def test_the_setting_has_a_default_and_a_range_and_others_are_refused(home: Home) -> None:
    settings = example("setting.py").Example
    assert msgspec.convert({}, settings).digest_hour == 7
    with pytest.raises(msgspec.ValidationError, match="23"):
        msgspec.convert({"digest_hour": 24}, settings)
    home.root.mkdir()
    home.config.write_text("htp_port = 1\n")
    with pytest.raises(ConfigInvalid, match="htp_port"), open_memory(home):
        pass


@pytest.mark.slow(most_s=600)
def test_every_example_prints_what_its_page_says() -> None:
    script, ids = example("sample.py", folder=SCRIPTS), {}
    differ = []
    with script.playing() as home:
        for page in script.pages(home):
            for shown in script.EXAMPLE.findall((ROOT / page).read_text(encoding="utf-8")):
                for line, printed, now in script.answers(home, shown[1], ids):
                    if script.same(printed) != script.same(now):
                        differ.append(f"{page}: $ {line}\n{now}")
    assert "\n".join(differ) == "", "write them anew: python scripts/sample.py"


def test_an_example_is_the_same_but_for_times_ids_and_folds() -> None:
    same = example("sample.py", folder=SCRIPTS).same
    assert same("#4 at 2026-11-28 11:31, 3 ms\n  more") == same(
        "#16 at 2026-12-01 09:00, 1.2 s more"
    )
    assert same("1 event stored") != same("1 event purged")


@pytest.mark.slow(most_s=300)
def test_two_machines_print_what_their_tutorial_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    script, same = import_module("two_machines"), example("sample.py", folder=SCRIPTS).same
    page = script.PAGE.read_text(encoding="utf-8")
    with script.machines() as both:
        differ = [
            f"{name}$ {line}\n{now}"
            for name, line, printed, now in script.answers(both, page)
            if same(printed) != same(now)
        ]
    assert "\n".join(differ) == "", "write them anew: python scripts/two_machines.py"
