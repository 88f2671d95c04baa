"""Models and graphs of one's own: loaded when they are needed, alike for like texts, joined."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from observer.core.errors import ConfigInvalid, NotFound
from observer.core.model import ASKED, Enrichment, Item, ItemKind
from observer.index.embed import model, registry
from observer.index.embed.lazy_model import FEW, TEXT_CHARS, LazyModel, packed, text_of
from observer.index.embed.model import FEW_WORDS, LEAST, LITTLE_DOUBT, MOST, Joined, Model
from observer.index.embed.registry import BUILT_IN, find, load

NONE = Path("/nonexistent")
TEXTS = [
    "the login cookie expires too early",
    "session cookies time out before they should after signing in",
    "draw a histogram of image sizes",
    "def getUserName(session_id): return users[session_id].name",
    "",
    "!!! ... ###",
]
LOADED = {name: registry.load(registry.find(name, NONE)) for name in registry.BUILT_IN_NAMES}

every_model = pytest.mark.parametrize("model", LOADED.values(), ids=LOADED)


@pytest.mark.measured
@every_model
def test_a_text_with_words_has_a_unit_vector_of_its_meaning_alone(model: Model) -> None:
    vectors = model.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), model.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors[:4], axis=1) == pytest.approx(1, abs=1e-5)
    login, session, histogram = vectors[:3]
    assert login @ session > login @ histogram + 0.2
    alone = np.concatenate([model.embed([text]) for text in TEXTS])
    assert model.embed(TEXTS * 9)[-len(TEXTS) :] == pytest.approx(alone, abs=1e-5)
    assert np.isfinite(model.embed(["cookie " * 10**6, "x" * 10**6, "cookie"])).all()


@every_model
def test_many_threads_may_share_one(model: Model) -> None:
    expected = model.embed(TEXTS)
    made: list[object] = []
    threads = [threading.Thread(target=lambda: made.append(model.embed(TEXTS))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert all(np.allclose(expected, vectors, atol=1e-5) for vectors in made)


@every_model
@given(st.lists(st.text(st.characters(), max_size=60), max_size=5))
def test_any_text_whatsoever_gives_a_unit_vector_or_zeros(model: Model, texts: list[str]) -> None:
    lengths = np.linalg.norm(model.embed(texts), axis=1)
    assert np.logical_or(np.isclose(lengths, 1, atol=1e-4), lengths == 0).all()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        pytest.param("getUserName", "get user name", id="camel"),
        pytest.param("get_user_name", "get user name", id="snake"),
        pytest.param("HTTPServer", "http server", id="capitals"),
        pytest.param("src/user-name.py", "src user name py", id="path"),
    ],
)
def test_an_identifier_is_its_words(name: str, parts: str) -> None:
    made, expected = LOADED["instant"].embed([name, parts])
    assert made @ expected > 0.99


def test_the_id_of_a_model_is_its_own_and_the_one_the_catalogue_tells() -> None:
    instant, deep = LOADED["instant"].id, LOADED["deep"].id
    assert instant != deep
    shown = {info.name: info.id for info in registry.known(NONE)}
    assert shown == {"instant+deep": f"{instant}+{deep}", "instant": instant, "deep": deep}


def test_an_import_loads_no_native_library_and_a_model_writes_nothing(tmp_path: Path) -> None:
    load = (
        "import sys; from pathlib import Path; from observer.index.embed import registry;"
        "assert not {'onnxruntime', 'tokenizers'} & set(sys.modules);"
        " registry.load(registry.find('instant', Path('/nonexistent'))).embed(['a text'])"
    )
    user = tmp_path / "user"
    user.mkdir()
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[3])}
    subprocess.run([sys.executable, "-P", "-c", load], env={**kept, "HOME": str(user)}, check=True)
    assert list(user.iterdir()) == []


def test_words_are_remembered_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "_REMEMBERED", 8)
    folder = registry.BUILT_IN / "instant"
    made = model.Tokens(folder, model.read(folder))
    texts = [f"number{chr(97 + n)} {'y' * 40}" for n in range(26)]
    assert [made.ids(text).tolist() for text in texts] == [
        made.ids(text).tolist() for text in texts
    ]
    assert len(made._known) <= 8


Folder = Callable[..., Path]


def an_item(number: int, title: str = "fix the login", kind: ItemKind = "observation") -> Item:
    return Item(id=number, uuid=str(number), kind=kind, type="fact", title=title)


@pytest.fixture
def late(tmp_path: Path) -> LazyModel:
    return LazyModel(find("instant", tmp_path))


def test_who_cannot_wait_does_without_until_the_model_is_there(
    late: LazyModel, until: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_load = threading.Event()
    monkeypatch.setattr(
        "observer.index.embed.lazy_model.load",
        lambda info: load(info) if may_load.wait(30) else None,
    )
    assert late.encode("login") is None
    may_load.set()
    until(lambda: late.encode("login") is not None)


def test_who_waits_gets_what_the_model_says(late: LazyModel) -> None:
    found = late.encode_patiently("fix the login")
    assert found is not None
    assert np.array_equal(found, load(late.info).embed(["fix the login"])[0])
    assert np.linalg.norm(found) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("more", [0, FEW], ids=["few", "many"])
def test_items_get_the_packed_vectors_of_their_texts(late: LazyModel, more: int) -> None:
    items = [an_item(4), an_item(8, "another thing"), an_item(12, "")]
    items += [an_item(16 + 4 * each, f"thing {each}") for each in range(more)]
    model = load(late.info)
    expected = {item.id: packed(model.embed([text_of(item)]))[0].tobytes() for item in items}
    assert late.made(items) == late.begin(items)() == expected
    assert expected[12] == bytes(model.dimensions)
    assert late.id == model.id


def test_a_slow_model_is_not_waited_for_alone_or_joined(tmp_path: Path) -> None:
    late, quick, slow = (
        LazyModel(find(name, tmp_path)) for name in ("instant+deep", "instant", "deep")
    )
    items = [an_item(4), an_item(8, "another thing")]
    assert slow.begin(items)() == {}
    assert list(slow.made(items)) == [4, 8]
    assert late.begin(items)() == quick.begin(items)()
    assert {len(vector) for vector in late.made(items).values()} == {late.dimensions}


@pytest.mark.parametrize("name", ["deep", "instant+deep"])
def test_a_few_notes_are_embedded_wholly_at_once(tmp_path: Path, name: str) -> None:
    late = LazyModel(find(name, tmp_path))
    notes = [an_item(4 * n, f"rule {n}", kind="note") for n in range(1, FEW + 1)]
    assert late.begin(notes)() == late.made(notes)
    assert late.begin([*notes, an_item(40)])() != late.made([*notes, an_item(40)])


def test_what_keeps_a_model_away_is_shown(late: LazyModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert (late.made([]), late.begin([])()) == ({}, {})
    assert late.problem == ""
    assert late.encode_patiently("login") is None
    assert late.problem.startswith("model 'instant' cannot be used: import of onnxruntime")


def test_a_model_with_a_problem_is_never_there_and_says_what_it_has(copied: Folder) -> None:
    folder = copied(card="dimensions = 'many'")
    wrong = LazyModel(find("mine", folder.parent))
    assert wrong.problem
    assert wrong.encode_patiently("login") is None
    assert (wrong.made([an_item(4)]), wrong.begin([an_item(4)])()) == ({}, {})
    folder = copied("damaged")
    late = LazyModel(find("damaged", folder.parent))
    (folder / "model.onnx").write_bytes(b"no graph")
    assert late.problem == ""
    assert late.encode_patiently("login") is None
    assert "cannot be used" in late.problem


def test_what_nobody_used_for_a_while_is_freed_and_comes_back(late: LazyModel) -> None:
    earlier = set(map(id, models()))
    late.encode_patiently("login")
    (freed,) = (weakref.ref(one) for one in models() if id(one) not in earlier)
    assert not late.let_go(unused_s=60)
    assert late.let_go(unused_s=0)
    assert freed() is None
    assert not late.let_go(unused_s=0)
    assert late.encode("login") is not None


def models() -> list[Model]:
    return [each for each in gc.get_objects() if type(each) is Model]


words = st.lists(st.text(max_size=400), max_size=30).map(tuple)


def item(title: str = "", **fields: object) -> Item:
    made = {"id": 4, "uuid": "u", "kind": "observation", "type": "change", "title": title}
    return Item(**made | fields)  # type: ignore[arg-type]  # checked by the model


def test_every_part_that_matters_is_read_title_first() -> None:
    made = item(
        "Fix login",
        subtitle="two files",
        narrative="The cookie expired.",
        facts=("Changed def sign_in",),
        concepts=("auth",),
        files_modified=("src/auth/login.py",),
        files_read=("docs/login.md",),
    )
    expected = "Fix login two files The cookie expired. Changed def sign_in auth login.py login.md"
    assert text_of(made) == expected


def test_nothing_long_pushes_out_the_rest_and_lists_are_cut_between_their_entries() -> None:
    long = item("Title", narrative="word " * 2000, facts=("Added def resume",))
    assert text_of(long).endswith("Added def resume")
    many = item("Title", narrative="the reason", facts=tuple(f"Added def f{n}" for n in range(999)))
    assert "the reason" in text_of(many)
    listed = item(concepts=tuple(f"concept{n}" for n in range(99)))
    assert set(text_of(listed).split()) < set(listed.concepts)
    assert 0 < len(text_of(item(facts=("x" * 9999,)))) < TEXT_CHARS
    read_and_changed = item(files_modified=("a/b.py",), files_read=("c/b.py", "a/b.py"))
    assert text_of(read_and_changed) == "b.py"
    assert text_of(item()) == ""


def test_of_a_turn_is_read_what_was_asked_and_answered_and_not_what_was_counted() -> None:
    asked, answered = "Round totals. " * 99, "They round up. " * 99
    made = item("Totals", type="turn", narrative=f"{answered}{ASKED}{asked}", facts=("lint: 1",))
    text = text_of(made)
    assert text.startswith("Totals Round totals.")
    assert abs(text.count("Round totals.") - text.count("They round up.")) < 4
    assert len(text) <= TEXT_CHARS
    assert "lint" not in text


def test_what_a_language_model_wrote_is_read_and_pushes_out_nothing_else() -> None:
    wrote = Enrichment(model="m", at_ms=1, as_of_ms=1, narrative="Because of a race. " * 99)
    made = item("Title", narrative="the reason", facts=("Added def resume",), enrichment=wrote)
    text = text_of(made)
    assert text.startswith("Title Because of a race.")
    assert "the reason" in text
    assert text.endswith("Added def resume")


@pytest.mark.parametrize(
    ("title", "narrative"),
    [
        pytest.param("The key is blue", "The key is blue", id="the whole text"),
        pytest.param("The key is…", "The key is blue", id="cut"),
        pytest.param("Keys", "# Keys\nThe key is blue", id="a heading"),
    ],
)
def test_a_title_that_begins_the_text_is_read_once(title: str, narrative: str) -> None:
    assert text_of(item(title, narrative=narrative)) == narrative


@given(st.text(max_size=9000), st.text(max_size=9000), st.text(max_size=9000), words, words, words)
def test_it_is_bounded(
    title: str,
    subtitle: str,
    narrative: str,
    facts: tuple[str],
    names: tuple[str],
    files: tuple[str],
) -> None:
    made = item(
        title, subtitle=subtitle, narrative=narrative, facts=facts, concepts=names, files_read=files
    )
    assert len(text_of(made)) <= TEXT_CHARS


DIMENSIONS = 4
Build = Callable[..., Model]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Load a graph that gives every text the vector (3, 0, 4, 0) plus what it makes of the mask."""

    def make(
        *inputs: str, kind: int = TensorProto.INT64, output: str = "constant", words: str = "deep"
    ) -> Model:
        folder = tmp_path / "mine"
        folder.mkdir()
        shutil.copy(BUILT_IN / words / "tokenizer.json", folder)
        (folder / "model.toml").write_text(f"dimensions = {DIMENSIONS}\nmost_tokens = 8\n")
        onnx.save(_graph(inputs, kind, output), folder / "model.onnx")
        return registry.load(registry.find("mine", tmp_path))

    return make


def _graph(inputs: tuple[str, ...], kind: int, output: str) -> onnx.ModelProto:
    constant = np.array([[3, 0, 4, 0]], np.float64 if output == "double" else np.float32)
    nodes = [helper.make_node("Identity", ["constant"], ["vectors"])]
    if output == "tokens":
        nodes = [
            helper.make_node("Cast", [inputs[0]], ["numbers"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["numbers", "numbers"], ["vectors"]),
        ]
    if output == "fails":
        # The largest id of the vocabulary lies outside a table of one row.
        nodes = [helper.make_node("Gather", ["constant", inputs[0]], ["vectors"])]
    made = TensorProto.DOUBLE if output == "double" else TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind, ["rows", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("vectors", made, None)],
        [numpy_helper.from_array(constant, "constant")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return model


@pytest.mark.parametrize(
    "inputs",
    [
        pytest.param(("input_ids",), id="ids"),
        pytest.param(("input_ids", "attention_mask"), id="mask"),
        pytest.param(("input_ids", "attention_mask", "token_type_ids"), id="mask-and-types"),
    ],
)
@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.INT32], ids=["int64", "int32"])
def test_the_usual_inputs_of_a_sequence_are_given(
    build: Build, inputs: tuple[str, ...], kind: int
) -> None:
    assert build(*inputs, kind=kind).embed(["a text"]).shape == (1, DIMENSIONS)


def test_vectors_are_made_unit_vectors_where_the_graph_does_not(build: Build) -> None:
    made = build("input_ids").embed(["a text", ""])
    assert made == pytest.approx(np.array([[0.6, 0, 0.8, 0], [0, 0, 0, 0]]), abs=1e-6)


@pytest.mark.parametrize(
    ("inputs", "kind", "shown"),
    [
        pytest.param((), TensorProto.INT64, "inputs are none", id="none"),
        pytest.param(("pixels",), TensorProto.INT64, "inputs are pixels", id="another"),
        pytest.param(("attention_mask",), TensorProto.INT64, "are attention_mask", id="mask"),
        pytest.param(("ids", "input_ids"), TensorProto.INT64, "are ids, input_ids", id="both"),
        pytest.param(("input_ids",), TensorProto.FLOAT, r"tensor\(float\)", id="no ids"),
    ],
)
def test_other_inputs_are_refused(
    build: Build, inputs: tuple[str, ...], kind: int, shown: str
) -> None:
    with pytest.raises(ConfigInvalid, match=shown):
        build(*inputs, kind=kind)


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        pytest.param("tokens", r"float32 \(1, 2\)", id="not-pooled"),
        pytest.param("double", r"float64 \(1, 4\)", id="not-float32"),
        pytest.param("fails", "does not run", id="fails"),
    ],
)
def test_another_output_than_vectors_is_refused(build: Build, output: str, shown: str) -> None:
    with pytest.raises(ConfigInvalid, match=shown):
        build("input_ids", output=output)


QUERY = "how is money given back"
GIVEN = ["Refunds take five days", "The cart locks its rows", ""]


@pytest.fixture(scope="module")
def joined() -> Joined:
    model = registry.load(registry.find("instant+deep", NONE))
    assert isinstance(model, Joined)
    return model


@pytest.fixture(scope="module")
def parts() -> list[Model]:
    found = [registry.load(registry.find(name, NONE)) for name in ("instant", "deep")]
    return [part for part in found if isinstance(part, Model)]


@pytest.mark.parametrize(("doubt", "second"), [(0, LEAST), (0.5, (LEAST + MOST) / 2), (1, MOST)])
def test_a_cosine_is_the_mean_of_those_of_both_models(
    joined: Joined, parts: list[Model], doubt: float, second: float
) -> None:
    vectors, query = joined.embed(GIVEN), joined.ask(QUERY, doubt)
    shares = (1 - second, second)
    assert vectors.shape == (3, joined.dimensions)
    assert np.linalg.norm(query) == pytest.approx(1, abs=1e-5)
    each = [part.embed(GIVEN[:2]) @ part.ask(QUERY) for part in parts]
    mean = sum(share * cosines for share, cosines in zip(shares, each, strict=True))
    lengths = np.linalg.norm(vectors[:2], axis=1) * np.hypot(*shares)
    assert vectors[:2] @ query / np.linalg.norm(vectors[:2], axis=1) == pytest.approx(
        mean / lengths, abs=1e-5
    )


def test_a_few_words_that_are_found_are_not_asked_of_the_second_model(
    joined: Joined, parts: list[Model]
) -> None:
    few = " ".join(["refund"] * FEW_WORDS)
    asked = joined.ask(few, LITTLE_DOUBT)
    first, second = np.split(asked, [parts[0].dimensions])
    assert first == pytest.approx(parts[0].ask(few))
    assert not second.any()
    assert joined.ask(few, LITTLE_DOUBT + 0.01)[parts[0].dimensions :].any()
    assert joined.ask(f"{few} refund", LITTLE_DOUBT)[parts[0].dimensions :].any()


def test_it_is_as_quick_as_its_first_model(joined: Joined, parts: list[Model]) -> None:
    first, second = parts
    assert joined.quick is not None
    assert joined.quick.id == first.id
    assert Joined(second, first, name="x").quick is None
    assert not joined.embed(GIVEN)[2].any()
    assert not joined.ask("").any()


@pytest.mark.parametrize("text", [QUERY, "refund " * 500], ids=["kept", "too long to be kept"])
def test_asked_again_a_query_means_the_same_and_nobody_can_change_it(
    joined: Joined, parts: list[Model], text: str
) -> None:
    first = [part.ask(text) for part in parts]
    for part, asked in zip(parts, first, strict=True):
        assert not asked.flags.writeable
        assert asked.tobytes() == part.ask(text).tobytes() == part.embed([text])[0].tobytes()
    assert joined.ask(text).tobytes() == joined.ask(text).tobytes()


def test_what_is_joined_must_be_there_and_has_the_problem_of_its_parts(tmp_path: Path) -> None:
    for name in ("instant+none", "none+deep", "instant+", "instant+deep+deep"):
        with pytest.raises(NotFound, match="no model"):
            registry.find(name, NONE)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "model.toml").touch()
    assert "no model.onnx" in registry.find("instant+broken", tmp_path).problem
