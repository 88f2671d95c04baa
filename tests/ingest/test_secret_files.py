"""What files hold that hold secrets by their nature is made known, and not kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import json

from observer.core.events import (
    AnyBody,
    Command,
    Edit,
    Event,
    FileRead,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Search,
    ToolUse,
)
from observer.ingest.pipeline import Pipeline
from observer.ingest.prepare import LEFT_OUT, SecretFiles, is_secret_file
from observer.redaction.redact import redact_text
from observer.redaction.seen import SEEN
from tests.ingest.conftest import Post

VALUE = "Xk39dLq0Zp7TbW2mRv5c"
ENV = f"SHOP_URL=redis://ana:{VALUE}@db:1/0\n"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path) -> None:
    SEEN.use(tmp_path / "seen")


def kept(body: AnyBody, files: SecretFiles | None = None, entry: bytes = b"") -> AnyBody:
    event = Event(id="e", at_ms=1, client="c", session="s", body=body)
    return (files or SecretFiles()).without_text(event, entry).body


def test_a_secret_file_is_known_by_its_name() -> None:
    secret = """
    a/.env .env.production /etc/ssl/site.pem ~/.ssh/id_ed25519 C:\\Users\\a\\.npmrc ~/.kube/config
    infra/terraform.tfstate .netrc x.kubeconfig ~/.erlang.cookie /etc/ppp/chap-secrets ~/.s3cfg
    /etc/ipsec.secrets .vault_pass.txt /etc/postfix/sasl_passwd ~/.smbcredentials /etc/shadow
    /etc/wireguard/wg0.conf client_secret_7.json ~/.config/gh/hosts.yml
    """
    others = """
    .env.example id_rsa.pub environment.py src/config id_generator.py id_ed25519_work.pub
    src/shadow k8s-secrets.yaml conf/wg0.conf hosts.yml
    """
    assert [path for path in secret.split() if not is_secret_file(path)] == []
    assert [path for path in ("", *others.split()) if is_secret_file(path)] == []


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (FileWrite(path=".env", content=ENV, operation="create"), FileWrite(path=".env",
         content=LEFT_OUT, operation="create")),
        (FileWrite(path=".env", edits=(Edit(old="A=1", new=ENV),)), FileWrite(path=".env",
         edits=(Edit(new=LEFT_OUT),))),
        (Command(command="cat deploy/.env", output=ENV), Command(command="cat deploy/.env",
         output=LEFT_OUT)),
        (Command(command="git show HEAD:.env", output=ENV), Command(command="git show HEAD:.env",
         output=LEFT_OUT)),
        (Command(command="gh auth token", output=VALUE), Command(command="gh auth token",
         output=LEFT_OUT)),
        (Command(command=f"cat > .env <<EOF\n{ENV}EOF\nmake", output=""),
         Command(command="cat > .env \nmake", output="")),
        (Search(query="URL", path="a/.env", output=ENV), Search(query="URL", path="a/.env",
         output=LEFT_OUT)),
        (ToolUse(tool="fs", input=f'{{"path": "/a/.env", "text": "{VALUE}"}}', output=ENV),
         ToolUse(tool="fs", input="/a/.env", output=LEFT_OUT)),
    ],
)  # fmt: skip
def test_the_text_goes_and_its_values_are_known(body: AnyBody, left: AnyBody) -> None:
    assert kept(body) == left
    assert redact_text(f"does {VALUE} work?") == "does [redacted:known-secret] work?"


def test_what_a_client_read_is_known_though_no_event_holds_it(
    pipeline: Pipeline, post: Post
) -> None:
    entry = b"OBS1\0client=c\0\0" + json.encode({"tool_response": [{"content": ENV, "n": 1}]})
    body = FileRead(paths=("/a/.env",))
    assert kept(body, entry=entry) is body
    assert redact_text(f"does {VALUE} work?") == "does [redacted:known-secret] work?"
    said = {"file": {"filePath": "/a/.env", "content": ENV.replace(VALUE, VALUE[::-1])}}
    read = {"tool_name": "Read", "tool_input": {"file_path": "/a/.env"}, "tool_response": said}
    post("PostToolUse", read)
    pipeline.drain()  # known in the next session too
    assert redact_text(f"does {VALUE[::-1]} work?") == "does [redacted:known-secret] work?"


def test_a_result_without_its_call_is_left_out_while_such_a_call_may_wait() -> None:
    files, bare = SecretFiles(), Outcome(tool="sh", output=LEFT_OUT)
    read, ok = Intent(tool="sh", of=Command(command="cat .env")), Outcome(tool="sh", output="ok")
    kept(read, files)
    assert kept(Outcome(tool="sh", output=ENV), files) == bare
    assert kept(ok, files) == ok
    kept(Intent(tool="sh", of=Command(command="sleep 9; make")), files)  # beside another one
    kept(read, files)
    both = [kept(Outcome(tool="sh", output=said), files) for said in (ENV, "built")]
    assert both == [bare, bare]
    assert kept(ok, files) == ok
    kept(read, files)
    kept(Prompt(text="go on"), files)  # which ends the wait for what never came
    assert kept(ok, files) == ok


def test_the_next_lines_of_a_key_are_not_kept_but_of_the_oldest() -> None:
    files = SecretFiles()
    head = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUA\n"
    kept(Command(command="head -2 keys/deploy", output=head), files)
    more = Command(command="sed -n 3,4p keys/deploy", output="AAAAMwAAAAtzc2gtZWQyNTUxOQ\n")
    assert kept(more, files) == Command(command=more.command, output=LEFT_OUT)
    for number in range(1_001):
        kept(FileWrite(path=f"k{number}", content="-----BEGIN PRIVATE KEY-----\nMIIE"), files)
    first, last = (FileWrite(path=f"k{number}", content="AAAA") for number in (0, 1_000))
    assert kept(first, files) is first
    assert kept(last, files) == FileWrite(path=last.path, content=LEFT_OUT)


@pytest.mark.parametrize(
    "body",
    [
        Command(command="git add .env && make", output="built"),
        Command(command="cat README.md", output="# Shop"),
        FileWrite(path="a.py", content="x = 1"),
        ToolUse(tool="fs", input='{"path": "/a/.environ"}', output="x"),
        Prompt(text="cat .env"),
        Outcome(tool="sh", output="ok"),
    ],
)
def test_what_is_about_none_stays(body: AnyBody) -> None:
    assert kept(body) is body


def test_what_a_state_file_names_is_judged_by_its_name() -> None:
    state = '{"id": "vpc-0a1b2c3d4e5f67890", "password": "Xk39dLq0Zp7TbW2mRv5c"}'
    kept(FileWrite(path="terraform.tfstate", content=state))
    assert redact_text("vpc-0a1b2c3d4e5f67890 in use") == "vpc-0a1b2c3d4e5f67890 in use"
    assert VALUE not in redact_text(f"x {VALUE}")


def test_a_digest_that_git_knows_is_not_remembered(
    pipeline: Pipeline, post: Post, git: Callable[..., str], folder: Path
) -> None:
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Begin")
    commit = git(folder, "rev-parse", "HEAD").strip()
    other = commit[::-1]
    post("UserPromptSubmit", {"prompt": f"DEPLOY_TOKEN={commit}\nAPI_TOKEN={other}"})
    pipeline.drain()
    assert redact_text(f"{commit} or {other}") == f"{commit} or [redacted:known-secret]"
