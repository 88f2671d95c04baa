"""A value that was recognised once is known from then on, in whatever form it stands."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from observer.redaction.redact import redact_text
from observer.redaction.seen import MOST, SEEN, Seen

VALUE = "xk39dlq0zp7tbw2m"
NAMED = f"API_KEY={VALUE}"


@pytest.fixture(autouse=True)
def file(tmp_path: Path) -> Path:
    SEEN.use(tmp_path / "seen")
    return tmp_path / "seen"


@pytest.mark.parametrize(
    "text",
    [
        f"does {VALUE} still work?",
        f"fix/try-{VALUE.upper()}-now",
        f"notes/{VALUE}.txt",
        f"key: {VALUE[:9]}\n     {VALUE[9:]}",
        f'"{VALUE[:7]}" \\\n  "{VALUE[7:13]}" \\\n  "{VALUE[13:]}"',
        base64.b64encode(f"Send {VALUE} there".encode()).decode(),
        f"{VALUE}/{VALUE}",
        f"body=3Dv1&x=20{VALUE}",
        f"{VALUE[:10]}\r\n{VALUE[10:]}",
    ],
)
def test_it_goes_in_every_form(text: str) -> None:
    redact_text(NAMED)
    cleaned = redact_text(text)
    assert "[redacted:known-secret]" in cleaned
    assert VALUE[-7:].lower() not in cleaned.lower()


def test_what_goes_of_a_text_is_the_value_and_no_more() -> None:
    assert VALUE not in redact_text(f"echo {VALUE} > out")  # by its place alone
    assert len(SEEN) == 0
    assert VALUE not in redact_text(f"{NAMED}\nlogin as {VALUE}, or ask")
    assert redact_text(f"ab\n{VALUE}") == "ab\n[redacted:known-secret]"
    redact_text('password: "Ab1/x%Cd!9qZk3Lm"')
    assert redact_text("https://a.test/?q=Ab1%2Fx%25Cd%219qZk3Lm&n=1") == (
        "https://a.test/?q=[redacted:known-secret]&n=1"
    )


def test_what_others_may_be_called_is_not_remembered() -> None:
    others = """
    postgres1 correct-horse-battery BSD-3-Clause-Attribution passwordMustBeAtLeast8Chars
    PassWordMustBeAtLeast6Chars 296a3360-1b2c-40af-be78-9341e95bf743 1234567890123
    jinja2.runtime.Context us-east-1:4711:secret ${a1B2c3D4e5F6g7} your_a1B2c3D4e5F6g7
    """
    for value in others.split():
        SEEN.learn([value])
        assert len(SEEN) == 0, value


def test_what_people_and_machines_make_up_is_remembered() -> None:
    made_up = """
    Maple!1234-Otter Tulip31_heron7 maple-otter-comet-318 mR7Kworld2ttkeKDP5x9 Wqtr4xnbvkprtzzs
    a1B+c2D/e3F+g4H/i5J+k6L
    """
    for value in made_up.split():
        SEEN.learn([value])
        assert redact_text(f"try {value} again") == "try [redacted:known-secret] again"


def test_what_git_knows_is_not_remembered() -> None:
    commit, other = (
        "4a8e0c35d1b96f7720ce41f9ab53d60e8f7214bc",
        "5" + "4a8e0c35d1b96f7720ce41f9ab53d60e8f7214b",
    )
    SEEN.learn([commit, other])
    assert len(SEEN) == 0
    SEEN.settle({commit})
    assert redact_text(f"commit {commit}") == f"commit {commit}"
    assert redact_text(f"then {other}") == "then [redacted:known-secret]"


def test_the_file_is_private_and_holds_no_value_and_what_is_forgotten_no_more(file: Path) -> None:
    redact_text(NAMED)
    assert file.stat().st_mode & 0o777 == 0o600
    assert VALUE.encode() not in file.read_bytes()
    SEEN.learn(["Qw7Rt2Yu9Pl4Ks8Jd3"])
    SEEN.forget([f"the {VALUE}"])
    assert redact_text(f"id {VALUE}") == f"id {VALUE}"
    assert len(file.read_bytes()) == 32 + 16
    SEEN.forget(["cart"])
    assert redact_text("x Qw7Rt2Yu9Pl4Ks8Jd3") == "x [redacted:known-secret]"


def test_another_process_of_the_home_knows_it_too_by_one_key(file: Path) -> None:
    other = Seen()
    other.use(file)
    redact_text(NAMED)
    held = file.read_bytes()
    SEEN.learn([VALUE, VALUE.upper()])  # known already
    assert file.read_bytes() == held
    other.learn(["Qw7Rt2Yu9Pl4Ks8Jd3"])
    assert redact_text("x Qw7Rt2Yu9Pl4Ks8Jd3") == "x Qw7Rt2Yu9Pl4Ks8Jd3"
    SEEN.use(file)
    assert len(SEEN) == 2
    assert redact_text("x Qw7Rt2Yu9Pl4Ks8Jd3") == "x [redacted:known-secret]"
    other.use(file)
    assert [span.name for span in other.within(f"x {VALUE}")] == ["known-secret"]


def test_another_home_or_none_knows_nothing_of_it(tmp_path: Path) -> None:
    redact_text(NAMED)
    SEEN.use(tmp_path / "other")
    assert redact_text(f"id {VALUE}") == f"id {VALUE}"
    assert SEEN.state == "0"
    SEEN.close()
    redact_text(NAMED)
    assert redact_text(f"id {VALUE}") == f"id {VALUE}"


def test_the_newest_are_kept(file: Path) -> None:
    redact_text(NAMED)
    key = file.read_bytes()[:32]
    file.write_bytes(key + bytes(16) * 2 * MOST + b"torn")
    SEEN.use(file)
    assert len(SEEN) == MOST
    SEEN.learn([VALUE])
    assert len(file.read_bytes()) == 32 + 16 * (MOST + 1)
    assert redact_text(f"x {VALUE}") == "x [redacted:known-secret]"
    values = [f"a1B2k3D4e{number}" for number in range(2 * MOST + 1)]
    SEEN.learn(values)  # by one process, for long
    assert len(SEEN) == MOST
    assert redact_text(f"{values[0]} {values[-1]}") == f"{values[0]} [redacted:known-secret]"


def test_a_home_that_cannot_be_written_knows_it_for_a_while(tmp_path: Path) -> None:
    (tmp_path / "torn").write_bytes(b"torn")  # no whole key: it is made anew
    for file in (tmp_path / "torn", tmp_path / "nowhere" / "seen"):
        SEEN.use(file)
        redact_text(NAMED)
        assert redact_text(f"x {VALUE}") == "x [redacted:known-secret]"
    assert (tmp_path / "torn").stat().st_size > 32


@pytest.mark.parametrize(
    "text",
    [
        "a1" * 200 + "-b2",
        "b2c3\n" * 200,
        "a1-b2/c3.d4_" * 100,
        " ".join(f"some-words-{number}" for number in range(21_000)),
    ],
)
def test_text_without_one_stays_however_long_it_is(text: str) -> None:
    redact_text(NAMED)
    assert redact_text(f"{text} {VALUE}") == f"{text} [redacted:known-secret]"
