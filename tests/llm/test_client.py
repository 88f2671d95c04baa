"""A talk with a model: where it is, any answer, and a value with bounds or a reason."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from observer.core.config import Settings
from observer.core.errors import BadInput, ConfigInvalid
from observer.core.events import Enriched
from observer.core.model import Item
from observer.core.paths import Home
from observer.llm.client import LlmClient
from observer.llm.endpoint import Endpoint, endpoint
from observer.llm.prompt import LlmPrompt
from observer.llm.reply import AskFailed, LlmReply, enriched
from observer.local import client

from .conftest import Answered, completion

QUESTION = LlmPrompt(instructions="Answer.", quoted="<data>\nx\n</data>")
KEY = "sk-" + "t3stk3y" * 4

Ask = Callable[..., LlmReply]


@pytest.fixture
def ask(with_client: Any) -> Ask:
    return lambda **given: with_client(lambda client: client.ask(QUESTION), **given)


@pytest.fixture
def failure(ask: Ask) -> Callable[..., AskFailed]:
    def fail(**given: Any) -> AskFailed:
        with pytest.raises(AskFailed) as raised:
            ask(**given)
        return raised.value

    return fail


def test_a_question_is_posted_and_its_answer_comes_with_its_tokens(ask: Ask, model: Any) -> None:
    """The key goes into the header, and only there."""
    reply = ask()
    assert reply.text.startswith('{"narrative"')
    assert reply.tokens == 1000
    ask(key=KEY)
    assert model.paths == ["/v1/chat/completions"] * 2
    assert model.asked[0]["model"] == "tiny"
    assert [said["role"] for said in model.asked[0]["messages"]] == ["system", "user"]
    assert [sent.get("Authorization") for sent in model.headers] == [None, f"Bearer {KEY}"]
    assert KEY not in str(model.asked)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        pytest.param(None, QUESTION.tokens + 100, id="none"),
        pytest.param({}, QUESTION.tokens + 100, id="empty"),
        pytest.param({"total_tokens": "many"}, QUESTION.tokens + 100, id="text"),
        pytest.param({"total_tokens": -5}, QUESTION.tokens + 100, id="negative"),
        pytest.param([1], QUESTION.tokens + 100, id="list"),
        pytest.param({"total_tokens": 2**62}, 1_000_000_000, id="more than the store holds"),
    ],
)
def test_where_no_tokens_of_use_are_shown_they_are_estimated(
    ask: Ask, model: Any, usage: Any, tokens: int
) -> None:
    model.script(completion("x" * 300, usage=usage), completion(None))
    assert ask().tokens == tokens
    assert ask().text == "", "an answer without text"


def test_what_an_endpoint_refuses_is_left_out_from_then_on(with_client: Any, model: Any) -> None:
    refusal = b'{"error": {"message": "max_tokens and response_format are not supported"}}'
    model.script(Answered(refusal, status=400), completion())

    async def twice(client: LlmClient) -> None:
        await client.ask(QUESTION)
        await client.ask(QUESTION)

    with_client(twice)
    first, second, third = model.asked
    assert {"max_tokens", "response_format"} <= first.keys()
    kept = {"model", "messages", "temperature", "max_completion_tokens"}
    assert second.keys() == third.keys() == kept


def test_a_refusal_is_shown_without_the_key(failure: Any, model: Any) -> None:
    model.script(Answered(b'{"error": {"message": "no temperature, please"}}', status=400))
    assert "no temperature, please" in failure().message
    assert len(model.asked) == 2
    body = f'{{"error": {{"message": "Incorrect API key: {KEY}"}}}}'.encode()
    model.script(Answered(body, status=401))
    found = failure(key=KEY)
    assert "the key is refused" in found.message
    assert KEY not in str(found)


@pytest.mark.parametrize(
    ("status", "body", "said", "asked_wrong"),
    [
        pytest.param(401, b'{"error": {"message": "no"}}', "the key is missing", False, id="401"),
        pytest.param(404, b'{"error": "no model tiny"}', "no model tiny", False, id="404"),
        pytest.param(413, b"too long", "too long", True, id="413"),
        pytest.param(500, b"<h1>Oops</h1>", "answered 500", False, id="500"),
        pytest.param(503, b"", "answered 503", False, id="503"),
        pytest.param(400, b'{"detail": "context length"}', "context length", True, id="400"),
        pytest.param(400, b'{"message": ["a"]}', "answered 400", True, id="odd"),
    ],
)
def test_a_status_other_than_200_is_shown(
    failure: Any, model: Any, status: int, body: bytes, said: str, asked_wrong: bool
) -> None:
    model.script(Answered(body, status=status))
    found = failure()
    assert said in found.message
    assert (found.tokens, found.is_asked_wrong) == (0, asked_wrong)


@pytest.mark.parametrize(
    ("after", "wait_s"),
    [
        pytest.param("30", 30, id="seconds"),
        pytest.param("9" * 40, 86_400, id="for ever"),
        pytest.param("Thu, 01 Jan 2099 00:00:00 GMT", 0, id="no number"),
        pytest.param("-5", 0, id="negative"),
        pytest.param("", 0, id="empty"),
    ],
)
def test_who_asks_to_be_left_alone_says_how_long(
    failure: Any, model: Any, after: str, wait_s: float
) -> None:
    model.script(Answered(b"busy", status=429, headers=(("Retry-After", after),)))
    assert failure().wait_s == wait_s


def test_a_redirect_is_not_followed(failure: Any, model: Any) -> None:
    to = (("Location", "http://127.0.0.1:1/v1/chat/completions"),)
    model.script(Answered(b"", status=307, headers=to))
    assert "a redirect" in failure(key=KEY).message
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(b"<html>Welcome</html>", "text/html", id="a web page"),
        pytest.param(b'{"choices": [', "application/json", id="broken"),
        pytest.param(b'{"choices": []}', "application/json", id="no choice"),
        pytest.param(b'{"choices": [{}]}', "application/json", id="no message"),
        pytest.param(b'{"object": "list"}', "application/json", id="something else"),
        pytest.param(b"[" * 100_000, "application/json", id="deep"),
        pytest.param(b"\xff\xfe", "application/octet-stream", id="bytes"),
        pytest.param(b"", "text/plain", id="nothing"),
    ],
)
def test_what_is_no_completion_is_shown_with_its_type(
    failure: Any, model: Any, body: bytes, kind: str
) -> None:
    model.script(Answered(body, headers=(("Content-Type", kind),)))
    found = failure()
    assert f"not a chat completion ({kind})" in found.message
    assert (found.tokens, found.is_asked_wrong) == (QUESTION.tokens, True)


@pytest.mark.parametrize(
    ("script", "said", "tokens"),
    [
        (completion('{"narr', finish_reason="length"), "was not done", 1000),
        (b" " * (64 << 20), "more than 1,048,576 bytes", None),
        (Answered(b"", cut=True), "broke off", None),
        (Answered(b"", gate=threading.Event()), "within 0.5 s", None),
    ],
    ids=["not done", "huge", "cut", "silent"],
)
def test_an_answer_that_does_not_come_whole_is_shown_in_time_with_its_cost(
    failure: Any, model: Any, script: Answered | bytes, said: str, tokens: int | None
) -> None:
    model.script(script)
    found = failure(wait_s=0.5) if "within" in said else failure()
    assert said in found.message
    assert found.tokens == tokens


@pytest.fixture
def dripping() -> Iterator[int]:
    """A server that sends a byte now and then, for ever; its port."""
    door = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def serve() -> None:
        talk, _ = door.accept()
        talk.recv(65536)
        talk.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n")
        while not stop.wait(0.02):
            try:
                talk.sendall(b" ")
            except OSError:
                break
        talk.close()

    thread = threading.Thread(target=serve)
    thread.start()
    yield door.getsockname()[1]
    stop.set()
    thread.join()
    door.close()


def _ask_at(url: str, *, wait_s: float) -> AskFailed:

    async def story() -> None:
        async with LlmClient(Endpoint(url, "tiny", KEY), wait_s=wait_s) as client:
            await client.ask(QUESTION)

    with pytest.raises(AskFailed) as raised:
        asyncio.run(story())
    return raised.value


def test_a_server_that_drips_is_left_in_time(dripping: int) -> None:
    assert "within 0.4 s" in _ask_at(f"http://127.0.0.1:{dripping}/", wait_s=0.4).message


def test_where_nothing_listens_that_is_shown_and_costs_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    found = _ask_at(f"http://127.0.0.1:{port}/v1/chat/completions?key=abc", wait_s=5)
    assert f"nothing answers at http://127.0.0.1:{port}/v1" in found.message
    assert "abc" not in str(found)
    assert found.tokens == 0


ITEM = Item(id=6, uuid="u", kind="summary", type="summary", title="t", updated_ms=7)
GOOD = '{"narrative": "It raced.", "learned": "Lock.", "concepts": ["race", "lock"]}'


def read(text: str) -> Enriched:
    return enriched(ITEM, text, model="tiny")


def test_an_answer_is_about_the_item_as_it_was() -> None:
    assert read(GOOD) == Enriched(
        item=6,
        model="tiny",
        as_of_ms=7,
        narrative="It raced.",
        learned="Lock.",
        concepts=("race", "lock"),
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"```json\n{GOOD}\n```", id="fenced"),
        pytest.param(f"Sure! Here it is: {GOOD} Anything else?", id="talkative"),
        pytest.param(f"<think>{{so}} what</think>\n{GOOD}", id="thoughtful"),
        pytest.param(GOOD.replace("{", '{"mood": 1, ', 1), id="with more"),
        pytest.param(GOOD.replace('["race", "lock"]', '"race, lock"'), id="list as text"),
        pytest.param(GOOD.replace('"Lock."', '["Lock."]'), id="text as list"),
        pytest.param(GOOD.replace("}", ', "next_steps": null}'), id="null"),
    ],
)
def test_what_models_put_around_it_does_not_matter(text: str) -> None:
    assert read(text) == read(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("no", id="prose"),
        pytest.param("}{", id="backwards"),
        pytest.param('{"narrative": ', id="broken"),
        pytest.param("{}", id="no narrative"),
        pytest.param('{"narrative": "  "}', id="blank"),
        pytest.param('{"narrative": {"text": "x"}}', id="nested"),
        pytest.param('{"narrative": "x", "concepts": [1]}', id="numbers"),
        pytest.param(json.dumps({"narrative": "x" * 4001}), id="too long"),
        pytest.param(json.dumps({"narrative": "x", "concepts": ["y"] * 51}), id="too many"),
        pytest.param('{"narrative": ' + "[" * 100_000 + "}", id="deep"),
        pytest.param('{"narrative": "\ud800"}', id="lone surrogate"),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read(text)


def settings(url: str = "http://127.0.0.1:11434/v1", **given: str) -> Settings:
    return Settings(llm_url=url, **{"llm_model": "tiny"} | given)  # type: ignore[arg-type]  # text settings


def write_key(home: Home, text: str, *, mode: int = 0o600) -> None:
    home.root.mkdir(parents=True)
    home.llm_key.write_text(text)
    home.llm_key.chmod(mode)


@pytest.mark.parametrize(
    ("url", "posted"),
    [
        ("http://h:1/v1", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/", "http://h:1/v1/chat/completions"),
        ("https://h", "https://h/chat/completions"),
        ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
        ("https://h/d/gpt?api-version=1", "https://h/d/gpt/chat/completions?api-version=1"),
        ("http://[::1]:8080/v1#x", "http://[::1]:8080/v1/chat/completions"),
    ],
)
def test_the_base_of_the_api_is_enough(home: Home, url: str, posted: str) -> None:
    assert endpoint(settings(url), home, {}).url == posted


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        pytest.param("", "no language model is configured", id="empty"),
        pytest.param("localhost:11434", "not an http or https URL", id="no scheme"),
        pytest.param("ftp://h/v1", "not an http or https URL", id="ftp"),
        pytest.param("file:///etc/passwd", "not an http or https URL", id="file"),
        pytest.param("http:///v1", "not an http or https URL", id="no host"),
        pytest.param("http://h:x/v1", "llm_url is not a URL", id="port"),
        pytest.param("http://h\x00/v1", "not an http or https URL", id="NUL"),
        pytest.param("http://me:" + "pw" + "@h/v1", "holds a name or password", id="password"),
    ],
)
def test_what_is_no_address_is_refused(home: Home, url: str, complaint: str) -> None:
    with pytest.raises(ConfigInvalid, match=complaint):
        endpoint(settings(url), home, {})


def test_the_key_is_in_the_variable_that_is_named_or_in_a_file_of_the_home(home: Home) -> None:
    assert endpoint(settings(), home, {"OPENAI_API_KEY": KEY}).key == ""
    write_key(home, "of the file\n")
    assert endpoint(settings(llm_key_env="MY_KEY"), home, {"MY_KEY": KEY}).key == KEY
    assert endpoint(settings(llm_key_env="MY_KEY"), home, {}).key == "of the file"
    for key in ("a\nb", "schlüssel", "a\x00b"):  # what no header can hold
        with pytest.raises(ConfigInvalid) as raised:
            endpoint(settings(llm_key_env="K"), home, {"K": key})
        assert key not in str(raised.value)


def test_a_file_that_others_can_read_or_we_cannot_is_refused(home: Home) -> None:
    write_key(home, KEY, mode=0o640)
    with pytest.raises(ConfigInvalid, match="is open to others"):
        endpoint(settings(), home, {})
    home.llm_key.unlink()
    home.llm_key.mkdir()
    with pytest.raises(ConfigInvalid, match="cannot be read"):
        endpoint(settings(), home, {})
    with pytest.raises(ConfigInvalid, match="llm_model is not"):
        endpoint(settings(llm_model=""), home, {})


def test_neither_key_nor_query_is_shown() -> None:
    made = Endpoint("https://h/v1/chat/completions?key=abc", "tiny", KEY)
    assert repr(made) == "Endpoint('https://h/v1', 'tiny')"


@pytest.mark.parametrize(
    ("where", "text", "is_kept"),
    [
        ("file", 'llm_key_env = "MY_KEY"\n', True),
        ("environment", "", True),
        ("file", "not toml", False),
        ("file", "", False),
        ("file", "llm_key_env = 7", False),
    ],
)
def test_a_daemon_inherits_the_key_that_is_named_and_no_other(
    home: Home, monkeypatch: pytest.MonkeyPatch, where: str, text: str, *, is_kept: bool
) -> None:
    home.root.mkdir(parents=True)
    home.config.write_text(text)
    if where == "environment":
        monkeypatch.setenv("OBSERVER_LLM_KEY_ENV", "MY_KEY")
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("OTHER_KEY", KEY)
    kept = client._environment(home)
    assert kept.get("MY_KEY") == (KEY if is_kept else None)
    assert "OTHER_KEY" not in kept
