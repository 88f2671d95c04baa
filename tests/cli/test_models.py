"""`observer config model`: the list, the choice, the download."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from observer.core import config
from observer.core.paths import Home
from observer.index.embed.registry import BUILT_IN
from tests.cli.conftest import Run
from tests.support import put_file


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base calls it
        pass


@pytest.fixture
def published(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A server with the model `theirs`: its base URL and the digest of the card."""
    folder = tmp_path / "published"
    shutil.copytree(BUILT_IN / "instant", folder / "theirs")
    digest = hashlib.sha256((folder / "theirs" / "model.toml").read_bytes()).hexdigest()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", digest
        server.shutdown()
        thread.join()


def test_the_list_shows_what_ships_and_which_is_used(run: Run) -> None:
    head, *rows = [line.split() for line in run("config", "model").out.splitlines()]
    assert head[:3] == ["name", "used", "dimensions"]
    assert [row[0] for row in rows] == ["instant+deep", "instant", "deep"]
    assert [row[1] == "yes" for row in rows] == [True, False, False]

    rows = run("config", "model", "--json").json
    shown = [(row["name"], row["is_builtin"], row["is_used"]) for row in rows]
    assert shown == [("instant+deep", True, True), ("instant", True, False), ("deep", True, False)]
    assert [row["parts"] for row in rows] == [["instant", "deep"], [], []]
    assert all(
        Path(row["folder"], "model.onnx").stat().st_size < row["size_bytes"] for row in rows[1:]
    )

    ran = run("config", "model", "pull", "theirs", "--sha256", "0" * 64)
    assert ran.code == 2
    assert "model_url" in ran.err


def test_a_model_that_is_broken_or_gone_is_listed_with_its_problem(run: Run, home: Home) -> None:
    put_file(home.models / "mine" / "model.toml")
    assert "no model.onnx" in run("config", "model").out
    home.config.write_text("model = 'gone'")
    ran = run("config", "model")
    assert ran.code == 0
    assert "no model 'gone'" in ran.out.splitlines()[-1]


def test_use_writes_the_setting(run: Run, home: Home) -> None:
    assert run("config", "model", "use", "deep").out == "model deep is in use\n"
    assert config.load(home, {}).model == "deep"
    listed = run("config", "model", "--json").json[2]
    assert listed["is_used"]
    shown = run("config", "model", "use", "deep", "--json").json
    assert shown == {"model": "deep", "id": listed["id"], "dimensions": 384}


def test_two_models_joined_may_be_used(run: Run, home: Home) -> None:
    shutil.copytree(BUILT_IN / "instant", home.models / "mine")
    shown = run("config", "model", "use", "mine+deep", "--json").json
    assert (shown["model"], shown["dimensions"]) == ("mine+deep", 640)
    assert config.load(home, {}).model == "mine+deep"
    assert "mine, completed by deep in the background" in run("config", "model").out
    assert run("config", "model", "--json").json[-1]["parts"] == ["mine", "deep"]


@pytest.mark.parametrize("path", ["{here}/mine", "./mine"], ids=["absolute", "relative"])
def test_a_folder_may_be_used(
    run: Run, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(BUILT_IN / "instant", tmp_path / "mine")
    assert run("config", "model", "use", path.format(here=tmp_path)).code == 0
    assert config.load(home, {}).model == str(tmp_path / "mine")
    assert [row["is_used"] for row in run("config", "model", "--json").json] == [*3 * [False], True]


@pytest.mark.parametrize(("name", "code"), [("unknown", 3), ("broken", 2)])
def test_what_cannot_be_loaded_is_not_chosen(run: Run, home: Home, name: str, code: int) -> None:
    shutil.copytree(BUILT_IN / "instant", home.models / "broken")
    (home.models / "broken" / "model.onnx").write_bytes(b"")
    assert run("config", "model", "use", name).code == code
    assert not home.config.exists()


def test_a_published_model_is_used(run: Run, home: Home, published: tuple[str, str]) -> None:
    url, digest = published
    assert run("config", "set", "model_url", url).code == 0
    assert "model use theirs" in run("config", "model", "pull", "theirs", "--sha256", digest).out
    row = run("config", "model", "pull", "theirs", "--sha256", digest, "--json").json
    assert (row["folder"], row["is_used"]) == (str(home.models / "theirs"), False)
    assert run("config", "model", "use", "theirs").code == 0
    assert (home.models / "theirs" / "model.onnx").exists()
