"""Which models there are, how one is downloaded, and what is said of those that cannot be used."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from observer.core.errors import BadInput, ConfigInvalid, NotFound
from observer.index.embed import download, registry
from observer.index.embed.download import pull

Folder = Callable[..., Path]
NONE = Path("/nonexistent")


def card(text: str = "", *, dimensions: int = 256) -> str:
    return f"dimensions = {dimensions}\n{text}"


@pytest.mark.parametrize("name", registry.BUILT_IN_NAMES)
def test_what_ships_says_what_it_is_and_under_which_licence(name: str) -> None:
    info = registry.find(name, NONE)
    assert info.is_builtin
    assert info.licence == "Apache-2.0"
    assert info.description
    assert not info.problem
    assert (info.folder / "README.md").read_text().startswith("# ")


def test_the_built_in_models_come_first_and_other_folders_not_at_all(copied: Folder) -> None:
    folder = copied("a-model").parent
    (folder / "notes").mkdir()
    copied("instant")
    names = [info.name for info in registry.known(folder)]
    assert names == ["instant+deep", *registry.BUILT_IN_NAMES, "a-model"]


@pytest.mark.measured
def test_a_model_of_ones_own_is_used_like_a_built_in_one(copied: Folder) -> None:
    folder = copied("mine", of="deep")
    model = registry.load(registry.find("mine", folder.parent))
    assert model.embed(["hello"]).shape == (1, 384)
    assert registry.find(str(folder), NONE).id == registry.find("deep", NONE).id


def test_a_card_without_digests_gives_the_id_of_its_files(copied: Folder) -> None:
    first = copied("one", card=card())
    second = copied("two", card=card())
    ids = [registry.find(f.name, f.parent).id for f in (first, second)]
    (second / "tokenizer.json").write_text("{}")
    assert ids[0] == ids[1] != registry.find("two", second.parent).id


def test_a_model_that_is_not_there_is_said_to_be_none(copied: Folder, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="instant, deep, mine"):
        registry.find("other", copied("mine").parent)
    with pytest.raises(NotFound, match="no model in"):
        registry.find(str(tmp_path), NONE)
    for name in ("gone", "gone/away"):
        assert registry.chosen(name, NONE).problem.startswith("no model")
    assert not registry.chosen("instant", NONE).problem


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("dimensions = ", "is not a model manifest", id="no-toml"),
        pytest.param("description = 'x'", "dimensions", id="no-dimensions"),
        pytest.param(card(dimensions=0), "dimensions", id="none"),
        pytest.param(card("words = '('"), "not a regular expression", id="expression"),
        pytest.param(card("# " + "x" * 70000), "longer than", id="long"),
    ],
)
def test_a_wrong_card_is_listed_with_its_problem(copied: Folder, text: str, shown: str) -> None:
    folder = copied("mine", card=text)
    info = registry.known(folder.parent)[-1]
    assert shown in info.problem
    with pytest.raises(ConfigInvalid, match="'mine' cannot be used"):
        registry.load(info)


def test_a_missing_file_is_named_and_a_bad_card_stops_no_other(copied: Folder) -> None:
    folder = copied("mine")
    (folder / "tokenizer.json").unlink()
    assert "no tokenizer.json" in registry.known(folder.parent)[-1].problem
    (folder / "model.toml").unlink()
    (folder / "model.toml").mkdir()
    assert [bool(i.problem) for i in registry.known(folder.parent)] == [*3 * [False], True]


def test_damage_is_found_before_the_model_is_used(copied: Folder) -> None:
    folder = copied("mine")
    with (folder / "model.onnx").open("r+b") as file:
        file.seek(4_000_000)
        file.write(b"damage")
    with pytest.raises(ConfigInvalid, match=r"model.onnx is damaged.*replace the files"):
        registry.load(registry.find("mine", folder.parent))


@pytest.mark.parametrize(
    ("name", "dimensions", "shown"),
    [
        pytest.param("model.onnx", 256, "model.onnx is not an ONNX graph", id="graph"),
        pytest.param("tokenizer.json", 256, "tokenizer.json is not a tokenizer", id="tokenizer"),
        pytest.param("README.md", 7, r"not float32 \(1, 7\)", id="dimensions of another graph"),
    ],
)
def test_a_file_of_another_kind_is_refused(
    copied: Folder, name: str, dimensions: int, shown: str
) -> None:
    folder = copied("mine", card=card(dimensions=dimensions))
    (folder / name).write_bytes(b"not what it should be")
    with pytest.raises(ConfigInvalid, match=shown):
        registry.load(registry.find("mine", folder.parent))


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


@pytest.mark.measured
def test_a_pinned_model_replaces_an_older_one(served: str, copied: Folder, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "mine").mkdir(parents=True)
    (own / "mine" / "old").touch()
    info = pull("mine", served + "/", sha256=pin(copied("mine")).upper(), folder=own)
    assert info.folder == own / "mine"
    assert [path.name for path in own.iterdir()] == ["mine"]
    assert not (own / "mine" / "old").exists()
    assert not info.problem


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


@pytest.mark.measured
def test_what_is_no_pinned_model_is_not_kept(served: str, copied: Folder, tmp_path: Path) -> None:
    good = (copied("good") / "model.toml").read_text()
    for name, text, said in (
        ("bare", "dimensions = 256\n", r"pins no model\.onnx"),
        ("wrong", good.replace("dimensions = ", "dimensions = 1"), "cannot be used"),
        ("large", "#" * (1 << 17), "larger than 65536 bytes"),
    ):
        folder = copied(name, card=text)
        with pytest.raises((ConfigInvalid, BadInput), match=said):
            pull(name, served, sha256=pin(folder), folder=tmp_path / "own")
        assert list((tmp_path / "own").iterdir()) == []
    assert set(download.MOST_BYTES) == {"model.toml", "model.onnx", "tokenizer.json"}


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
