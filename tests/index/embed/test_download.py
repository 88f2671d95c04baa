"""Downloading a model from a server of the user's own."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from observer.core.errors import BadInput, ConfigInvalid, NotFound
from observer.index.embed import download
from observer.index.embed.download import pull

Folder = Callable[..., Path]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base calls it
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The base URL under which the folder `models` is served."""
    (tmp_path / "models").mkdir()
    with ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "models")
    ) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def pin(folder: Path) -> str:
    return hashlib.sha256((folder / "model.toml").read_bytes()).hexdigest()


def test_a_pinned_model_is_downloaded_and_can_be_used(
    served: str, copied: Folder, tmp_path: Path
) -> None:
    info = pull("mine", served + "/", sha256=pin(copied("mine")).upper(), folder=tmp_path / "own")
    assert info.folder == tmp_path / "own" / "mine"
    assert [p.name for p in (tmp_path / "own").iterdir()] == ["mine"]
    assert not info.problem


def test_an_older_download_is_replaced(served: str, copied: Folder, tmp_path: Path) -> None:
    digest = pin(copied("mine"))
    (tmp_path / "own" / "mine").mkdir(parents=True)
    (tmp_path / "own" / "mine" / "old").touch()
    pull("mine", served, sha256=digest, folder=tmp_path / "own")
    assert not (tmp_path / "own" / "mine" / "old").exists()


@pytest.mark.parametrize("name", ["model.toml", "model.onnx", "tokenizer.json"])
def test_another_file_than_the_pinned_one_changes_nothing(
    served: str, copied: Folder, tmp_path: Path, name: str
) -> None:
    folder = copied("mine")
    digest = pin(folder)
    with (folder / name).open("ab") as file:
        file.write(b"\n")
    with pytest.raises(ConfigInvalid, match=f"{name} is not the pinned file"):
        pull("mine", served, sha256=digest, folder=tmp_path / "own")
    assert list((tmp_path / "own").iterdir()) == []


def test_a_card_must_pin_the_other_files(served: str, copied: Folder, tmp_path: Path) -> None:
    folder = copied("mine", card="dimensions = 256\n")
    with pytest.raises(ConfigInvalid, match=r"pins no model\.onnx"):
        pull("mine", served, sha256=pin(folder), folder=tmp_path / "own")


def test_what_is_no_model_is_not_kept(served: str, copied: Folder, tmp_path: Path) -> None:
    card = (copied("good") / "model.toml").read_text().replace("dimensions = ", "dimensions = 1")
    folder = copied("mine", card=card)
    with pytest.raises(ConfigInvalid, match="cannot be used"):
        pull("mine", served, sha256=pin(folder), folder=tmp_path / "own")
    assert list((tmp_path / "own").iterdir()) == []


def test_a_file_larger_than_the_limit_is_not_taken(
    served: str, copied: Folder, tmp_path: Path
) -> None:
    folder = copied("mine", card="#" * (1 << 17))
    with pytest.raises(BadInput, match="larger than 65536 bytes"):
        pull("mine", served, sha256=pin(folder), folder=tmp_path / "own")


@pytest.mark.parametrize(
    "base",
    [
        pytest.param("{served}/nothing-here", id="no-such-file"),
        pytest.param("http://127.0.0.1:1", id="no-server"),
        pytest.param("http://127.0.0.1:99999", id="no-port"),
    ],
)
def test_what_cannot_be_had_is_shown(served: str, tmp_path: Path, base: str) -> None:
    with pytest.raises(NotFound, match="cannot be had"):
        pull("mine", base.format(served=served), sha256="0" * 64, folder=tmp_path / "own")


@pytest.mark.parametrize(
    ("name", "url", "sha256", "shown"),
    [
        pytest.param("../up", "http://host", "0" * 64, "not a model name", id="path"),
        pytest.param("deep", "http://host", "0" * 64, "built in", id="built-in"),
        pytest.param("mine", "file:///etc", "0" * 64, "not an http or https URL", id="file"),
        pytest.param("mine", "http://", "0" * 64, "not an http or https URL", id="no-host"),
        pytest.param("mine", "http://[::1", "0" * 64, "not an http or https URL", id="bracket"),
        pytest.param("mine", "http://host", "abc", "no SHA-256", id="digest"),
    ],
)
def test_wrong_arguments_reach_no_server(
    tmp_path: Path, name: str, url: str, sha256: str, shown: str
) -> None:
    with pytest.raises(BadInput, match=shown):
        pull(name, url, sha256=sha256, folder=tmp_path / "own")
    assert not (tmp_path / "own").exists()


def test_every_file_of_a_model_has_a_limit() -> None:
    assert set(download.MOST_BYTES) == {"model.toml", "model.onnx", "tokenizer.json"}
