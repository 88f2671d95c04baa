"""Whatever a person's configuration looks like: nothing of it is lost, and uninstalling is exact.

Files are drawn with the keys that an installer looks for among others, in any layout: comments,
blanks, tabs, line ends of Windows, numbers that Python would write in another way. A file that an
installer refuses must stay as it was.
"""

from __future__ import annotations

import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from observer.clients.config_files import jsonc
from observer.clients.config_files.context import InstallContext
from observer.clients.installers import install, installable, perform, uninstall
from observer.core.errors import ConfigInvalid
from observer.core.paths import Home
from tests.clients.config_files.test_jsonc import layouts, noises
from tests.clients.config_files.test_jsonc import written as laid_out
from tests.clients.conftest import files_of, path_of_new_git
from tests.clients.facts import facts_of
from tests.support import json_of, put_file

pytestmark = pytest.mark.slow

Json = Any  # whatever JSON can hold
Files = dict[str, bytes]

EXAMPLES = 5
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""An example installs for real, some 50 ms: hundreds of smaller ones tell no more."""


@contextmanager
def machine() -> Iterator[InstallContext]:
    """A user without any file, whose git has configured hooks."""
    folder = Path(tempfile.mkdtemp())
    try:
        user = folder / "home"
        user.mkdir()
        yield InstallContext(
            home=Home(user / ".observer"),
            user_home=user,
            observer="/opt/observer/bin/observer",
            environ={"PATH": path_of_new_git(folder / "bin"), "HOME": str(user)},
            folder=folder,
        )
    finally:
        shutil.rmtree(folder)


def written(name: str) -> Files:
    """Return what an installer writes for a user without any other file."""
    with machine() as context:
        for path, content in facts_of(name).needed.items():
            put_file(context.user_home / path, content)
        perform(install(name, context), context.home, at_ms=1)
        return files_of(context)


PLAIN = {name: written(name) for name in installable()}


def paths_of(*endings: str) -> list[tuple[str, str]]:
    return [
        (name, path) for name, files in PLAIN.items() for path in files if path.endswith(endings)
    ]


def rounds(
    name: str, path: str, content: bytes, *, added: bytes = b""
) -> tuple[bytes | None, bytes | None]:
    """Return a file as it is once installed, and once uninstalled; None where it is gone.

    A person has added something to it in between.

    Raises:
        ConfigInvalid: it was refused, and nothing was written.
    """
    with machine() as context:
        file = put_file(context.user_home / path, content)
        try:
            plan = install(name, context)
        except ConfigInvalid:
            assert files_of(context) == {path: content}
            raise
        perform(plan, context.home, at_ms=1)
        within = files_of(context)
        assert not install(name, context).is_change, "a second run changes nothing"
        if added:
            file.write_bytes(within[path] + added)
        perform(uninstall(name, context), context.home, at_ms=2)
        after = files_of(context)
        assert set(after) <= {path}
        return within.get(path), after.get(path)


# --- JSON ----------------------------------------------------------------------------------------

names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(codec="utf-8"), max_size=12)
    | st.sampled_from(["// no comment", "/* nor this */", "a,}", '"', "\\", "http://x/y"])
)
anything = json_of(scalars, names, most=6)


def like(value: Json) -> st.SearchStrategy[Json]:
    """Draw what has the keys of an installed value, each with others' content of its type."""
    if isinstance(value, dict):
        known = st.fixed_dictionaries({}, optional={key: like(one) for key, one in value.items()})
        others = st.dictionaries(names, anything, max_size=3)
        return st.tuples(known, others, st.booleans()).map(_mixed)
    if isinstance(value, list):
        return st.lists(st.dictionaries(names, anything, min_size=1, max_size=2), max_size=2)
    return st.just(value)


def _mixed(drawn: tuple[dict[str, Json], dict[str, Json], bool]) -> dict[str, Json]:
    known, others, is_first = drawn
    return {**known, **others} if is_first else {**others, **known}


def holds(larger: Json, smaller: Json) -> bool:
    """Return True if all of a value is still in another, in its order."""
    if isinstance(smaller, dict) and isinstance(larger, dict):
        kept = [key for key in larger if key in smaller]
        return kept == list(smaller) and all(holds(larger[key], smaller[key]) for key in smaller)
    if isinstance(smaller, list) and isinstance(larger, list):
        return larger[: len(smaller)] == smaller
    return bool(larger == smaller)


@pytest.mark.parametrize(("name", "path"), paths_of(".json"))
@settings(max_examples=EXAMPLES, phases=PHASES)
@given(data=st.data(), ends=st.booleans())
def test_json_keeps_every_key_and_comes_back_to_the_byte(
    name: str, path: str, data: st.DataObject, *, ends: bool
) -> None:
    value = data.draw(like(jsonc.load(PLAIN[name][path].decode())))
    text = laid_out(value, data.draw(layouts), data.draw(noises))
    content = (text.replace("\n", "\r\n") if ends else text).encode()
    try:
        within, after = rounds(name, path, content)
    except ConfigInvalid:
        return
    assert within is not None
    assert holds(jsonc.load(within.decode()), value)
    assert after == content


def without_empty(value: Json) -> Json:
    """Return a value without the empty lists and objects in it."""
    if isinstance(value, dict):
        kept = {key: without_empty(one) for key, one in value.items()}
        return {key: one for key, one in kept.items() if one not in ({}, [])}
    if isinstance(value, list):
        return [without_empty(one) for one in value]
    return value


@pytest.mark.parametrize(("name", "path"), paths_of(".json"))
@settings(max_examples=EXAMPLES, phases=PHASES)
@given(data=st.data())
def test_edited_json_keeps_every_value(name: str, path: str, data: st.DataObject) -> None:
    value = data.draw(like(jsonc.load(PLAIN[name][path].decode())))
    text = laid_out(value, data.draw(layouts), data.draw(noises))
    try:
        _, after = rounds(name, path, text.encode(), added=b"\n// mine\n")
    except ConfigInvalid:
        return
    assert after is not None
    assert after.endswith(b"// mine\n")
    assert holds(without_empty(jsonc.load(after.decode())), without_empty(value))


# --- TOML ----------------------------------------------------------------------------------------

TOML_VALUES = (
    "1", "1_000", "0x1F", "true", "inf", "1979-05-27T07:32:00Z", '"a # b"', "'[no table]'",
    '"""two\n[lines]"""', "[1, 2,\n  3] # three", "[]", "{ a = 1, b.c = 2 }", "{}", '"\\u00e9"',
)  # fmt: skip
TOML_TABLES = (
    "[model_providers.x]", "[ mcp_servers.other ]", '[projects."/home/ana/a b"]', "[[things]]",
    "[mcp_servers]", "[tui] # theirs", "[a.b.c]",
)  # fmt: skip
TOML_NOTES = ("", "", "\n", "# a comment\n", "  # [mcp_servers.observer]\n", "\t\n")


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    notes, values = st.sampled_from(TOML_NOTES), st.sampled_from(TOML_VALUES)
    keys = st.sampled_from(("model", "a.b", '"quoted key"', "'x'", "mcp_servers.third.command"))
    text = draw(notes)
    tables = draw(st.lists(st.sampled_from(TOML_TABLES), unique=True, max_size=4))
    for table in ("", *tables):
        text += f"{draw(notes)}{table}\n" if table else ""
        for key in draw(st.lists(keys, unique=True, max_size=3)):
            text += f"{draw(notes)}{key}{draw(st.sampled_from((' = ', '=')))}{draw(values)}\n"
    return text.rstrip("\n") + draw(st.sampled_from(("", "\n", "\n\n", "\n# the end")))


@pytest.mark.parametrize(("name", "path"), paths_of(".toml"))
@settings(max_examples=4 * EXAMPLES, phases=PHASES)
@given(text=toml_texts(), ends=st.booleans())
def test_toml_keeps_keys_and_is_given_back(name: str, path: str, text: str, *, ends: bool) -> None:
    content = (text.replace("\n", "\r\n") if ends else text).encode()
    try:
        before = tomllib.loads(content.decode())
    except tomllib.TOMLDecodeError:
        with pytest.raises(ConfigInvalid):
            rounds(name, path, content)
        return
    try:
        within, after = rounds(name, path, content)
    except ConfigInvalid:
        return
    assert within is not None
    assert holds_tables(tomllib.loads(within.decode()), before)
    assert after == content


def holds_tables(larger: Json, smaller: Json) -> bool:
    """Return True if all of a value is still in another; TOML has no order between tables."""
    if isinstance(smaller, dict) and isinstance(larger, dict):
        return all(key in larger and holds_tables(larger[key], smaller[key]) for key in smaller)
    return repr(larger) == repr(smaller)


# --- start-up files and git's configuration ------------------------------------------------------

lines = st.sampled_from(
    (
        b"alias l=ls",
        b"export A=\xff\xfe",
        b"# >>> other >>>",
        b"",
        b"\t",
        b"if x; then",
        b"\r",
        b"\\",
    )
)
git_lines = st.sampled_from(
    (b"[user]", b"\tname = Ana", b"# me", b"[alias]\n\tl = log \\\n\t\t--oneline", b'[hook "mine"]',
     b"\tcommand = true", b"", b"[core] editor = vi", b"; theirs")
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "path", "drawn"),
    [("bash", ".bashrc", lines), ("zsh", ".zshrc", lines), ("git", ".gitconfig", git_lines)],
)
@settings(max_examples=EXAMPLES, phases=PHASES)
@given(data=st.data(), end=st.sampled_from((b"", b"\n", b"\n\n")))
def test_a_file_of_lines_keeps_each_and_comes_back_to_the_byte(
    name: str, path: str, drawn: st.SearchStrategy[bytes], data: st.DataObject, end: bytes
) -> None:
    content = b"\n".join(data.draw(st.lists(drawn, max_size=6))) + end
    try:
        within, after = rounds(name, path, content)
    except ConfigInvalid:
        return
    assert within is not None
    assert set(content.split(b"\n")) <= set(within.split(b"\n"))
    assert after == content


def test_every_file_of_every_installer_is_tried() -> None:
    tried = {path for _, path in paths_of(".json", ".toml", "rc", ".gitconfig")}
    of_ours = {path for files in PLAIN.values() for path in files} - tried
    programs = {path for path in of_ours if path.startswith(".cline/hooks/")}
    names = {Path(path).name for path in of_ours - programs}
    assert names <= {"observer.js", "observer.ts", "observer.fish"}
