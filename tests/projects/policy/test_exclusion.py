"""Nothing is recorded of excluded folders, whatever an event calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from observer.core.events import (
    AnyBody,
    Command,
    Custom,
    Event,
    FileChange,
    FileRead,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Search,
    ToolUse,
)
from observer.projects.policy.apply import Exclusion


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with one that is excluded, and a link to that."""
    (tmp_path / "shop" / "private").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "shop" / "private")
    return tmp_path / "shop"


def covers(exclusion: Exclusion, body: AnyBody, folder: Path) -> bool:
    event = Event(id="e", at_ms=1, client="x", cwd=str(folder), body=body)
    return exclusion.applied(event, str(folder)) is None


@pytest.mark.parametrize(
    "body",
    [
        FileWrite(path="{shop}/private/key"),
        FileWrite(path="private/key"),
        FileWrite(path="{shop}/../link/key"),
        FileRead(paths=("open.md", "private/key")),
        Search(query="q", path="private"),
        Custom(name="files-changed", files=("{shop}/private/key",)),
        Command(command="cat <private/key | wc -l"),
    ],
    ids=["write", "relative", "link", "read", "search", "custom", "command"],
)
def test_a_file_in_an_excluded_folder_is_covered_from_beside_it(shop: Path, body: AnyBody) -> None:
    if isinstance(body, FileWrite):
        body = FileWrite(path=body.path.format(shop=shop))
    elif isinstance(body, Custom):
        body = Custom(name=body.name, files=tuple(path.format(shop=shop) for path in body.files))
    assert covers(Exclusion([str(shop / "private")]), body, shop)


def test_a_call_that_names_an_excluded_file_keeps_its_place_and_no_more(shop: Path) -> None:
    exclusion = Exclusion([str(shop / "private")])
    calls = [Intent(tool="Read", of=FileRead(paths=(path,))) for path in ("private/key", "open.md")]
    events = [Event(id="e", at_ms=1, client="x", cwd=str(shop), body=body) for body in calls]
    left = [exclusion.applied(event, str(shop)) for event in events]
    assert [event and event.body for event in left] == [
        Intent(tool="Read", of=ToolUse(tool="Read")),
        calls[1],
    ]


def test_a_result_without_its_call_says_nothing_where_a_folder_is_excluded(shop: Path) -> None:
    body = Outcome(tool="Read", output="the key", exit_code=1, failed=True)
    event = Event(id="e", at_ms=1, client="x", cwd=str(shop), body=body)
    left = Exclusion([str(shop / "private")]).applied(event, str(shop))
    assert left is not None
    assert left.body == Outcome(tool="Read", exit_code=1, failed=True)
    assert Exclusion([]).applied(event, str(shop)) is event


@pytest.mark.parametrize("name", ["shop/private", "shop/private/", "link"])
@pytest.mark.parametrize("folder", ["shop/private", "shop/private/deep", "link"])
def test_the_names_of_a_folder_do_not_matter(shop: Path, name: str, folder: str) -> None:
    exclusion = Exclusion([f"{shop.parent}/{name}"])
    assert covers(exclusion, Prompt(text="hi"), shop.parent / folder)


@pytest.mark.parametrize("path", ["private.md", "open/private", "\0", "/"])
def test_what_is_beside_it_is_not_covered(shop: Path, path: str) -> None:
    assert not covers(Exclusion([str(shop / "private")]), FileWrite(path=path), shop)


def test_without_excluded_folders_everything_is_recorded(shop: Path) -> None:
    files = (FileChange(path="private/key"),)
    assert not covers(Exclusion([]), FileWrite(path="private/key"), shop)
    assert Exclusion([]).beside(files, str(shop)) == files


def test_of_a_commit_the_files_beside_it_are_left(shop: Path) -> None:
    moved = FileChange(path="open/key", status="renamed", old_path="private/key")
    files = (FileChange(path="private/key"), FileChange(path="open.md"), moved)
    exclusion = Exclusion([str(shop / "private")])
    assert exclusion.beside(files, str(shop)) == (FileChange(path="open.md"),)
