"""The generated parts of the documentation: what the code knows about itself, as Markdown.

cog runs these functions from the comments in `docs/` (`[[[cog docs.settings() ]]]`);
`scripts/check` fails where the text in a page is not what they print now.

    cog -P -r docs/reference/*.md    write it anew
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import http_document
import msgspec
import size as size_limits
from click.testing import CliRunner

from observer.cli.app import observer
from observer.cli.commands import PURPOSES
from observer.clients import generic
from observer.clients.installers import installable
from observer.clients.registry import clients as known_clients
from observer.core import config, errors
from observer.store.migrations import migrations
from observer.tools.registry import toolsets
from observer.tools.status import Status

ROOT = Path(__file__).parents[1]
HELP_COLUMNS = 88
EVERYWHERE = {"json", "utc"}
"""Options of all commands: with `--help` said once, above the commands."""
SHARED = 3
"""Least tools of a toolset, or commands, with a parameter for it to be described above them all."""
MOST_IN_JSON = 2**53 - 1
"""The largest integer of JSON: a maximum that says nothing."""
SQL_TYPES = "TEXT|INTEGER|REAL|BLOB|ANY"


def commands() -> None:
    """Print the names of commands by purpose, then the help of each and of its subcommands."""
    for purpose, names in PURPOSES.items():
        shown = (name for name in names if not _command(name).hidden)
        print(f"- {purpose}: " + ", ".join(f"[`{name}`](#observer-{name})" for name in shown))
    root = click.Context(
        observer,
        info_name="observer",
        terminal_width=HELP_COLUMNS,
        **{**observer.context_settings, "help_option_names": []},
    )
    found = [_command(name) for names in PURPOSES.values() for name in names]
    found = [command for command in found if not command.hidden]
    _say_once([option for command in found for option in _options(command, root)])
    for command in found:
        _print_help(command, root)


def tools() -> None:
    """Print the tools of every toolset with their parameters; once, what several have alike."""
    described: dict[tuple[str, str], str] = {}
    for name, toolset in toolsets().items():
        found = toolset.tools(None, lambda: "")  # type: ignore[arg-type]  # described, not called
        print(f"\n## Toolset `{name}`\n\n{_quoted(_opening(toolset.guide))}")
        at = {tool.name: described.get((tool.name, tool.description)) for tool in found}
        for other in sorted({toolset for toolset in at.values() if toolset}):
            alike = ", ".join(f"`{tool}`" for tool in at if at[tool] == other)
            print(f"\nAs in `{other}`: {alike}.")
        found = tuple(tool for tool in found if not at[tool.name])
        described.update({(tool.name, tool.description): name for tool in found})
        taken = {tool.name: list(_parameters(tool.input_schema)) for tool in found}
        counts = Counter(each for parameters in taken.values() for each in parameters)
        shared = [each for each, count in counts.items() if count >= SHARED]
        if shared:
            print("\nDescribed once, since several tools take them:\n")
            print("\n".join(text for _, text in shared))
        for tool in found:
            print(f"\n### `{tool.name}`\n\n{_block(tool.description)}\n")
            own = _joined(each for each in taken[tool.name] if each not in shared)
            also = [name for name, text in taken[tool.name] if (name, text) in shared]
            print("\n".join(own + [f"- {', '.join(also)}"] * bool(also)))


def offered(choice: str) -> None:
    """Print what a choice of toolsets costs, as `observer mcp list` prints it."""
    done = CliRunner().invoke(observer, ["mcp", "list", choice], catch_exceptions=False)
    print(f"```console\n$ observer mcp list {choice}\n{done.stdout}```")


def settings() -> None:
    """Print every setting with its default."""
    rows = [(f"`{n}`", f"`{_json(default)}`", text) for n, default, text in config.describe()]
    table(("setting", "default", "meaning"), rows)


def exit_codes() -> None:
    """Print the exit codes of the command line."""
    rows = ((number, f"`{code}`", about) for number, code, about in exit_code_rows())
    table(("exit code", "`code` in JSON", "meaning"), rows)


def exit_code_rows() -> list[tuple[str, str, str]]:
    """Return the exit codes of the command line, each with its name in JSON and its meaning."""
    found = [
        e for e in vars(errors).values() if isinstance(e, type) and e.__module__ == errors.__name__
    ]
    return [
        (str(e.exit_code), e.code, _line(e.__doc__ or ""))
        for e in sorted(found, key=lambda e: e.exit_code)
    ]


def status_fields() -> None:
    """Print the fields of `observer status --json` with their types."""
    _, shapes = msgspec.json.schema_components([Status], ref_template="#{name}")
    fields = shapes[Status.__name__]["properties"]
    table(("field", "type"), ((f"`{n}`", _type(of)) for n, of in fields.items()))
    for name, shape in shapes.items():
        if name != Status.__name__:
            print(f"\n`{name}`: {_line(shape.get('description', ''))}\n")
            print("\n".join(_joined(_parameters({"properties": shape["properties"]}))))


def event_context() -> None:
    """Print the fields that an event of any kind may have."""
    fields = msgspec.json.schema_components([generic.GenericContext])[1]["GenericContext"][
        "properties"
    ]
    rows = (
        (f"`{name}`", _type(of), f"`{_json(of.get('default'))}`", of.get("description", ""))
        for name, of in fields.items()
    )
    table(("field", "type", "default", "description"), rows)


def event_fields() -> None:
    """Print the kinds of `POST /events`, each with its fields and their types."""
    for kind, body in generic.KINDS.items():
        shape = msgspec.json.schema_components([body])[1][body.__name__]
        print(f"\n### `{kind}`\n\n{_block(body.__doc__ or '')}\n")
        print("\n".join(_joined(each for each in _parameters(shape) if each[0] != "`kind`")))


def routes() -> None:
    """Print the routes of the HTTP API."""
    paths = http_document.document(generic.schema(), Status)["paths"]
    rows = (
        (f"`{method.upper()} {path}`", of["summary"])
        for path, methods in paths.items()
        for method, of in methods.items()
    )
    table(("route", "description"), rows)


def clients() -> None:
    """Print what can be installed."""
    print(", ".join(f"`{name}`" for name in installable()) + ".")


def client_runs() -> None:
    """Print what was seen of each agent and editor: in a recorded session, or by hand."""
    rows = []
    for client in known_clients().values():
        if not (client.installer and client.is_agent):
            continue
        file = ROOT / "tests" / "data" / "recorded" / f"{client.name}.json"
        if not file.exists():
            rows.append((f"`{client.name}`", client.tried or "none", "no", "", "", "", ""))
            continue
        seen = json.loads(file.read_text(encoding="utf-8"))
        events = ", ".join(dict.fromkeys(report["event"] for report in seen["reports"]))
        reached = ("yes" if seen[what] else "no" for what in ("context", "search", "reminder"))
        rows.append((f"`{client.name}`", seen["version"], "yes", events, *reached))
    head = (
        *("client", "version run", "recorded", "events seen"),
        *("context", "memory searched", "reminder"),
    )
    table(head, rows)


def schema() -> None:
    """Print the tables of the database with the meaning of each column."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for step in migrations():
        for name, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\)", step.sql, re.DOTALL):
            found[name] = [_column(line) for line in body.splitlines() if _COLUMN.match(line)]
        for name, line in re.findall(r"ALTER TABLE (\w+) ADD COLUMN (.*)", step.sql):
            found[name].append(_column(f"    {line}"))
        for name, engine in re.findall(r"VIRTUAL TABLE (\w+) USING (\w+)", step.sql):
            found[name] = [("", engine, "virtual table, derived")]
    for name, columns in found.items():
        print(f"\n### `{name}`\n")
        for column, of, meaning in columns:
            shown = "" if of == _usual(column) else f" {of}"
            print(f"- `{column}`{shown}: {meaning}" if column else f"{of}: {meaning}")


POSIX_PARTS = {
    "locks and requests on files": r"\bfcntl\.(?:flock|fcntl|ioctl)\b",
    "Unix sockets": r"\bAF_UNIX\b|unix_server|\buds=",
    "owners and modes": r"os\.(?:getuid|geteuid|umask|chmod|fchmod)\b|\.chmod\(|\bmode=0o|st_uid",
    "files by descriptor": r"\bdir_fd=|os\.(?:pread|pwrite|statvfs)\b"
    r"|os\.O_(?:NOFOLLOW|DIRECTORY|NONBLOCK|NOCTTY|CLOEXEC)\b",
    "signals": r"signal\.SIG(?!INT\b|TERM\b|_)[A-Z]+|setitimer|add_signal_handler|os\.kill\(",
    "processes": r"os\.(?:posix_spawn|execv|execve|fork|nice|setpriority)\b|\bpty\.|\"/bin/sh\""
    r"|start_new_session",
}
"""What Windows has otherwise or not at all, as it stands in the code."""


def posix_parts() -> None:
    """Print how many modules and lines of the package use what only POSIX has."""
    lines = {
        path: path.read_text(encoding="utf-8").splitlines()
        for path in sorted((ROOT / "observer").rglob("*.py"))
    }
    everywhere: set[Path] = set()
    rows = []
    for name, pattern in POSIX_PARTS.items():
        found = {
            path: sum(bool(re.search(pattern, line)) for line in lines[path]) for path in lines
        }
        modules = {path for path, count in found.items() if count}
        everywhere |= modules
        rows.append((name, str(len(modules)), str(sum(found.values()))))
    scripts = [path for path in sorted((ROOT / "hooks").rglob("*")) if path.is_file()]
    shell = [path for path in scripts if path.suffix != ".md"]
    total = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in shell)
    rows.append(("hooks and shell recorders, whole", str(len(shell)), f"{total:,}"))
    table(("part", "modules", "lines"), rows)
    print(f"\n{len(everywhere)} of {len(lines)} modules of the package use at least one of these.")


def decisions() -> None:
    """Print a line for each decision, by number."""
    for path in sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md")):
        title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        print(f"- [{title}]({path.name})")


def modules() -> None:
    """Print the layers of pyproject.toml, lowest first, and what each module owns."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each["type"] == "layers")
    rows = []
    for number, layer in enumerate(reversed(layers)):
        for name in layer.split(" | "):
            path = ROOT / name.replace(".", "/")
            file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            doc = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            rows.append((str(number), f"`{name}`", _line(doc)))
    table(("layer", "module", "owns"), rows)


def size() -> None:
    """Print the limits and aims of `scripts/size.py`."""
    rows = size_limits.limits().items()
    table(
        ("figure", "limit", "aim"),
        ((name.replace("_", " "), f"{of['limit']:,}", f"{of['aim']:,}") for name, of in rows),
    )


def recorded_calls() -> None:
    """Print how many recorded calls of Basic Memory are answered alike, and why others are not."""
    samples = ROOT / "tests" / "data" / "basic-memory"
    reasons = tomllib.loads((samples / "reasons.toml").read_text())
    files = sorted((samples / "calls").glob("*.json"))
    calls = [call for file in files for call in json.loads(file.read_text())]
    counts = Counter(call.get("differs", "") for call in calls)
    print(f"{len(calls)} calls, {counts.pop('')} answered alike.\n")
    rows = ((str(count), reasons[name]) for name, count in counts.most_common())
    table(("calls", "what differs"), rows)


def promises(document: str) -> None:
    """Print how many promises a document makes, and what observer does otherwise, and why."""
    path = ROOT / "tests" / "data" / "promises" / f"{document}.toml"
    found = tomllib.loads(path.read_text())["row"]
    others = [row for row in found if row["status"] != "holds"]
    print(f"{len(found)} promises, {len(found) - len(others)} of them kept.")
    if others:
        print()
        rows = ((row["says"], f"**{row['status']}**: {row['why']}") for row in others)
        table(("the document promises", "observer"), rows)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a Markdown table."""
    head = list(head)
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")


_COLUMN = re.compile(rf"    (?P<name>[a-z]\w*) +(?P<type>{SQL_TYPES})\b(?P<rest>[^\n]*)")


def _column(line: str) -> tuple[str, str, str]:
    found = _COLUMN.match(line)
    if found is None:
        raise ValueError(f"not a column: {line}")
    _, _, comment = found["rest"].partition("--")
    return found["name"], found["type"], comment.strip()


def _usual(column: str) -> str:
    """Return the type that a column of this name mostly has, and that is not printed then."""
    return "INTEGER" if column == "id" or column.endswith(("_id", "_ms")) else "TEXT"


def _command(name: str) -> click.Command:
    found = observer.get_command(click.Context(observer), name)
    if found is None:
        raise LookupError(name)
    return found


_SUBCOMMANDS = re.compile(r"\nCommands:\n(?: +\S.*\n)+")
"""The list of subcommands in the help of a group: each has a section of its own."""
_USAGE = re.compile(r"Usage: (?P<path>[\w -]+?) \[OPTIONS\]| \[?COMMAND\]? \[ARGS\]\.\.\.")
"""What the first line of a help says of each command, or of each group."""


def _print_help(command: click.Command, parent: click.Context) -> None:
    context = click.Context(command, info_name=command.name, parent=parent)
    path = context.command_path
    print(f"\n{'#' * len(path.split())} `{path}`\n")
    text = _SUBCOMMANDS.sub("", command.get_help(context)).rstrip()
    usage, _, rest = text.partition("\n\n")
    usage = _USAGE.sub(lambda found: found["path"] or "", usage)
    print("```text\n" + (rest if usage == path else f"{usage}\n\n{rest}") + "\n```")
    for below in _below(command, context):
        _print_help(below, context)


def _below(command: click.Command, context: click.Context) -> Iterator[click.Command]:
    """Yield the subcommands of a group that its help shows."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below and not below.hidden:
                yield below


def _options(command: click.Command, parent: click.Context) -> Iterator[click.Option]:
    """Yield the options of a command and its subcommands; hide those of all commands."""
    context = click.Context(command, info_name=command.name, parent=parent)
    for option in command.params:
        if isinstance(option, click.Option):
            option.hidden |= option.name in EVERYWHERE
            if not option.hidden:
                yield option
    for below in _below(command, context):
        yield from _options(below, context)


def _say_once(options: list[click.Option]) -> None:
    """Print the help that several options of one name have, and take it from them."""
    counts = Counter((", ".join(reversed(each.opts)), each.help) for each in options)
    said: dict[str, str | None] = {}
    for (names, text), count in counts.most_common():
        if count >= SHARED:
            said.setdefault(names, text)
    print("\nOptions without a text:\n")
    print("\n".join(f"- `{names}`: {text}" for names, text in said.items()))
    for option in options:
        if said.get(", ".join(reversed(option.opts))) == option.help:
            option.help = None


def _line(text: str) -> str:
    paragraph = textwrap.dedent(text).strip().split("\n\n")[0]
    return " ".join(paragraph.split())


def _block(text: str) -> str:
    return inspect.cleandoc(text)


def _opening(guide: str) -> str:
    """Return a guide without its list: what that says of a tool stands with the tool."""
    return guide.partition("\n- ")[0]


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in _block(text).splitlines())


def _parameters(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a name and its line of a list, for each parameter of a tool or field of an event."""
    required = schema.get("required", [])
    for name, described in schema["properties"].items():
        default = _default(described)
        state = ", required" if name in required else f", default {default}" if default else ""
        text = described.get("description", "")
        yield f"`{name}`", f"- `{name}` ({_type(described)}{state})" + (f": {text}" if text else "")


def _joined(parameters: Iterable[tuple[str, str]]) -> list[str]:
    """Return the lines of parameters, those that stand together and only differ in name as one."""
    lines: list[str] = []
    for _, line in parameters:
        name, _, rest = line.partition(" (")
        is_same = lines and not rest.partition("): ")[2] and lines[-1].endswith(f"` ({rest}")
        if is_same:
            lines[-1] = lines[-1].removesuffix(f" ({rest}") + f", {name[2:]} ({rest}"
        else:
            lines.append(line)
    return lines


def _default(described: dict[str, Any]) -> str:
    """Return what is meant where a parameter is left out, '' where that is empty or false."""
    return f"`{_json(described['default'])}`" if described.get("default") else ""


def _type(of: dict[str, Any]) -> str:
    """Return a JSON Schema in words: `string`, `integer[]`, `"a"|"b"`, with its range."""
    if "$ref" in of:
        return f"`{of['$ref'].rsplit('/', 1)[-1].removeprefix('#')}`"
    if "anyOf" in of:
        return " or ".join(_type(each) for each in of["anyOf"])
    if "enum" in of:
        return "`" + "|".join(_json(each) for each in of["enum"]) + "`"
    if of.get("type") == "array":
        items = _type(of["items"]) if of.get("items") else ""
        return (f"({items})[]" if " or " in items else f"{items}[]") if items else "list"
    low, high = of.get("minimum"), of.get("maximum")
    kind = of.get("type", "any")
    named = " or ".join(kind) if isinstance(kind, list) else kind
    if low is None or high is None or -low == high:  # +-2**53: any in JSON
        return named
    return named + (f", {low}..{high}" if high < MOST_IN_JSON else f", from {low}")


def _json(value: object) -> str:
    return "none" if value is None else msgspec.json.encode(value).decode()
