"""`scripts/evaluate.py sessions`: a replay stores each call once, and each scorer sees a fault."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import convert
from msgspec.structs import replace
from sessions import (
    imported,
    labelled,
    occasions,
    outcomes,
    prompts,
    questions,
    red,
    redactions,
    reminders,
    starts,
    stored,
    succession,
    symbols,
    whys,
    wording,
)
from sessions.checks import checks
from sessions.declarations import touched
from sessions.kept import Kept, call_key
from sessions.labels import FixLabel, ItemLabel, OutcomeLabel, SummaryLabel, agreement, read
from sessions.measures import Scored
from sessions.replay import Options, Replay
from sessions.report import table
from sessions.shell import parts
from sessions.transcript import HookEvent
from sessions.truth import commands, verdict_of

from observer.core.events import Command, Commit, Edit
from observer.core.model import Recorded, Validity, seq_of

NAMED = {
    "GIT_AUTHOR_NAME": "Ana",
    "GIT_AUTHOR_EMAIL": "ana@example.com",
    "GIT_COMMITTER_NAME": "Ana",
    "GIT_COMMITTER_EMAIL": "ana@example.com",
    "GIT_CONFIG_NOSYSTEM": "1",
}
ROOT = Path(__file__).parents[2]
GIT_ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
OLD = "/Users/ana/Code/shop"
START_MS = 1_770_000_000_000
CART = (
    "def total(prices):\n    return sum(prices)\n\n\ndef count(prices):\n    return len(prices)\n"
)
FIXED = CART.replace("sum(prices)", "sum(prices or (0, 0, 0))")


class Script:
    """The records of one session, a second apart."""

    def __init__(self, session: str, start_ms: int) -> None:
        self.session = session
        self._at_ms = start_ms
        self._calls = 0
        self.records: list[dict[str, object]] = []

    def prompt(self, text: str) -> None:
        self._add("user", {"role": "user", "content": text})

    def reply(self, text: str) -> None:
        said = [{"type": "text", "text": text}]
        self._add("assistant", {"role": "assistant", "model": "m", "content": said})

    def call(self, tool: str, given: dict[str, object], response: object, error: str = "") -> str:
        self._calls += 1
        name = f"toolu_{self.session}_{self._calls}"
        asked = [{"type": "tool_use", "id": name, "name": tool, "input": given}]
        self._add("assistant", {"role": "assistant", "model": "m", "content": asked})
        result = {"type": "tool_result", "tool_use_id": name, "content": error or "done"}
        shown = {"role": "user", "content": [result | {"is_error": bool(error)}]}
        self._add("user", shown, toolUseResult=error or response)
        return name

    def bash(self, command: str, output: str, *, failed: bool = False) -> str:
        response = {"stdout": output, "stderr": "", "interrupted": False}
        error = f"Exit code 1\n{output}" if failed else ""
        return self.call("Bash", {"command": command}, response, error)

    def edit(self, name: str, old: str, new: str, original: str) -> str:
        path = f"{OLD}/{name}"
        given: dict[str, object] = {"file_path": path, "old_string": old, "new_string": new}
        return self.call("Edit", given, {"filePath": path, "originalFile": original})

    @property
    def at_ms(self) -> int:
        return self._at_ms

    def _add(self, kind: str, message: dict[str, object], **more: object) -> None:
        self._at_ms += 1000
        stamp = datetime.fromtimestamp(self._at_ms / 1000, UTC).isoformat()
        self.records.append(
            {
                "type": kind,
                "uuid": f"{self.session}-{len(self.records)}",
                "sessionId": self.session,
                "timestamp": stamp.replace("+00:00", "Z"),
                "cwd": OLD,
                "gitBranch": "main",
                "message": message,
                **more,
            }
        )


def git(folder: Path, *words: str, at_s: int = START_MS // 1000) -> None:
    when = {f"GIT_{who}_DATE": f"{at_s} +0000" for who in ("AUTHOR", "COMMITTER")}
    subprocess.run(["git", *words], cwd=folder, env=os.environ | NAMED | when, check=True)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions: tests fail, are repaired and committed; then a second one looks around."""
    first = Script("first", START_MS)
    first.prompt("make the empty cart work")
    first.bash(
        "pytest -q", "FAILED tests/test_cart.py::test_empty - E\n1 failed in 0.10s", failed=True
    )
    first.edit("src/cart.py", "sum(prices)", "sum(prices or (0, 0, 0))", CART)
    first.bash("pytest -q 2>&1 | tail -3", "2 passed in 0.10s")
    first.bash("npm run lint | tail -2", 'Found 2 errors.\nerror: script "lint" exited with code 1')
    first.reply("The empty cart costs nothing now.")
    committed_s = first.at_ms // 1000 + 1
    first.bash("git commit -qam 'Let empty carts cost nothing'", "")
    second = Script("second", START_MS + 3_600_000)
    second.prompt("what is in the cart?")
    second.bash("ls src", "cart.py")
    second.call("Read", {"file_path": f"{OLD}/src/cart.py"}, {"type": "text"})
    second.edit("src/cart.py", "len(prices)", "len(prices or ())", FIXED)
    second.reply("One module.")
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "transcripts").mkdir(parents=True)
    for script in (first, second):
        lines = "".join(f"{json.dumps(record)}\n" for record in script.records)
        packed = folder / "transcripts" / f"{script.session}.jsonl.gz"
        packed.write_bytes(gzip.compress(lines.encode()))
    made = folder / "made"
    (made / "src").mkdir(parents=True)
    git(made, "init", "-q", "-b", "main")
    for at_s, text in ((START_MS // 1000 - 100, CART), (committed_s, FIXED)):
        (made / "src/cart.py").write_text(text)
        git(made, "add", "-A")
        message = "Let empty carts cost nothing\n\nEntire-Checkpoint: 0123456789ab"
        git(made, "commit", "-q", "-m", message, at_s=at_s)
    git(made, "bundle", "create", "-q", "../repository.bundle", "--all")
    return folder


def replayed(corpus: Path, folder: Path) -> Kept:
    folder.mkdir()
    kept = Kept(folder, corpus)
    Replay(kept, Options(search=True, recall=True)).run()
    return kept


@pytest.fixture(scope="module")
def folder(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return replayed(corpus, tmp_path_factory.mktemp("replays") / "kept").folder


@pytest.fixture
def kept(corpus: Path, folder: Path) -> Kept:
    """A replay, to be scored with whatever fault is planted in what was read of it."""
    return Kept(folder, corpus)


def figures(found: Scored) -> dict[str, float]:
    return {measure.name: measure.value for measure in found.measures}


def planted(kept: Kept, call: str, change: Callable[[Recorded], Recorded]) -> None:
    """Change the stored event of a call."""
    key = call_key("first", f"toolu_first_{call}")
    events = [change(each) if each.event.dedup == key else each for each in kept.events]
    kept.__dict__["events"] = events
    kept.__dict__.pop("event_of", None)


def with_body(**fields: object) -> Callable[[Recorded], Recorded]:
    def change(recorded: Recorded) -> Recorded:
        body = replace(recorded.event.body, **fields)
        return replace(recorded, event=replace(recorded.event, body=body))

    return change


def item_of(kept: Kept, call: str) -> int:
    key = call_key("first", f"toolu_first_{call}")
    seq = next(each.seq for each in kept.events if each.event.dedup == key)
    return next(item.id for item in kept.items if seq_of(item.id) == seq)


def test_every_call_is_stored_once_at_its_own_time_and_as_what_it_was(kept: Kept) -> None:
    found = figures(stored.scored(kept))
    assert found == {
        "hook calls sent": 16,
        "events stored": 18,
        "tool calls lost": 0,
        "refused as undecodable": 0,
        "stored twice": 0,
        "sessions in no project": 0,
    }
    sent = {step.at_ms for step in kept.steps}
    shown = [each.event for each in kept.events if each.event.route.startswith("claude-code/")]
    assert len(shown) == 16
    assert {event.at_ms for event in shown} <= sent
    made = [each for each in kept.events if isinstance(each.event.body, Commit)]
    assert [each.event.session for each in made] == ["", "first"], "whose session ran git"
    bodies = [each.event.body for each in kept.events if isinstance(each.event.body, Command)]
    assert [body.failed for body in bodies] == [True, False, False, False, False]
    planted(kept, "1", lambda each: replace(each, event=replace(each.event, dedup="")))
    assert figures(stored.scored(kept))["tool calls lost"] == 1


def test_the_work_tree_follows_edits_and_commits(kept: Kept) -> None:
    starts, ends = kept.log.starts, kept.log.ends
    assert [start.dirty for start in starts] == [(), ()]
    assert [end.dirty for end in ends] == [(), ("src/cart.py",)]
    assert starts[0].head != starts[1].head
    written = (kept.repositories[0].folder / "src/cart.py").read_text()
    assert written == FIXED.replace("len(prices)", "len(prices or ())")


def test_two_replays_agree(corpus: Path, tmp_path: Path) -> None:
    one, two = (replayed(corpus, tmp_path / name) for name in ("one", "two"))

    def shown(kept: Kept) -> Iterator[object]:
        yield from (replace(item, content_hash="") for item in kept.items)
        yield from kept.log.starts
        yield from kept.log.prompts
        yield from kept.log.recalls

    assert [str(each).replace(str(one.folder), "") for each in shown(one)] == [
        str(each).replace(str(two.folder), "") for each in shown(two)
    ]


def test_several_repositories_are_replayed_side_by_side(corpus: Path, tmp_path: Path) -> None:
    sources = [{"name": name, "folder": OLD, "author": "Ana"} for name in ("mill", "shop")]
    both = tmp_path / "both"
    shutil.copytree(corpus, both)
    (both / "sessions.json").write_text(json.dumps({"repositories": sources}))
    kept = replayed(both, tmp_path / "kept")
    found = {(start.repository, start.number) for start in kept.log.starts}
    assert found == {("mill", 1), ("mill", 2), ("shop", 1), ("shop", 2)}
    texts = [(kept.folder / name / "src/cart.py").read_text() for name in ("mill", "shop")]
    assert texts == [FIXED.replace("len(prices)", "len(prices or ())")] * 2


@pytest.mark.slow
def test_the_command_prints_figures_and_cases(corpus: Path, folder: Path, tmp_path: Path) -> None:
    def ran(*words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, ROOT / "scripts/evaluate.py", "sessions", corpus, *words]
        env = {"PYTHONPATH": str(ROOT), "OBSERVER_HOME": str(tmp_path / "home"), **GIT_ENV}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=env)

    listed = ran("--kept", folder, "--list", "red").stdout
    assert listed.startswith("red lines")
    shown = json.loads(ran("--kept", folder, "--json", "--only", "events").stdout)
    assert {"group": "events", "name": "hook calls sent", "value": 16.0} in shown
    refused = ran("--keep", folder)
    assert (refused.returncode, "is not empty" in refused.stderr) == (2, True)
    assert ran("--kept", tmp_path).returncode == 2


def test_the_oracle_reads_what_became_of_each_command_and_finds_a_false_green(kept: Kept) -> None:
    verdicts = [ran.verdict for ran in commands(kept)]
    assert verdicts == ["failed", "passed", "failed", "passed", "passed"]
    planted(kept, "1", with_body(failed=False, exit_code=0, output="2 passed in 0.10s"))
    found = outcomes.scored(kept)
    assert figures(found)["failures stored as passed"] >= 1
    assert any("toolu_first_1 is failed, stored as passed" in line for line in found.wrong)


def test_a_red_line_that_a_later_run_clears_is_false(kept: Kept) -> None:
    shown = f"#{item_of(kept, '1')} red when the session ended · pytest -q: 1 failed\n"
    shown += f"#{item_of(kept, '4')} red when the session ended · npm run lint: 2 errors\n"
    starts = (kept.log.starts[0], replace(kept.log.starts[1], context=shown))
    kept.__dict__["log"] = replace(kept.log, starts=starts)
    found = red.scored(kept)
    assert (figures(found)["true"], figures(found)["false"]) == (0.5, 1)
    assert "passed since: pytest -q 2>&1 | tail -3" in found.wrong[0]


@pytest.mark.parametrize(
    ("said", "bypass", "left"),
    [("Found 2 errors.", "", []), ("Found 2 errors.", " -n", ["lint"]), ("no user", "", ["lint"])],
)
def test_a_commit_passes_what_its_hooks_were_seen_to_fail_in(
    kept: Kept, said: str, bypass: str, left: list[str]
) -> None:
    lint, commit = [run for run in commands(kept) if run.command.startswith(("npm", "git"))]
    commit = commit._replace(parts=parts(f"git commit -qam x{bypass}"), verdict="passed")
    refused = commit._replace(parts=parts("git commit -m x"), verdict="failed", output=said)
    assert red.still_open([lint, refused, commit], 0) == left


def test_a_wrong_symbol_and_a_missed_one_are_found(kept: Kept) -> None:
    elsewhere = Edit(old="def count(prices):", new="def count(prices, *, twice=False):")
    planted(kept, "2", with_body(edits=(elsewhere,), symbols=None))
    found = symbols.scored(kept)
    assert figures(found)["precision"] == 0.5  # the other edit is shown rightly
    assert "wrong: ['count'] missed: ['total']" in found.wrong[0]


def test_a_redaction_is_found(kept: Kept) -> None:
    assert figures(redactions.scored(kept))["marks in the store"] == 0
    planted(kept, "1", with_body(output="--- PASS: [redacted:password]"))
    assert figures(redactions.scored(kept))["marks in the store"] == 1


def test_labels_that_name_another_item_are_counted_and_listed(kept: Kept) -> None:
    assert figures(succession.scored(kept)) == {"labels that name another item": 0}
    older, newer, *others = kept.items
    older = replace(older, validity=(Validity(reason="superseded", target=newer.id),))
    newer = replace(newer, validity=(Validity(reason="changed", subject="total"),))
    kept.__dict__["items"] = [older, newer, *others]
    found = succession.scored(kept)
    assert figures(found) == {"labels that name another item": 1, "labels: superseded": 1}
    assert f"#{older.id} of " in found.wrong[0]
    assert f"superseded: #{newer.id} of " in found.wrong[0]


def test_faults_of_wording_are_found(kept: Kept) -> None:
    summary = next(item for item in kept.items if item.kind == "summary")
    bad = [
        replace(summary, title="Implement the following plan: # Plan", created_ms=1),
        replace(
            summary,
            kind="observation",
            type="research",
            narrative='{"query": "x"}',
            files_read=(),
            files_modified=(),
        ),
    ]
    kept.__dict__["items"] = bad
    found = figures(wording.scored(kept))
    assert found["research without files"] == 1
    assert found["raw JSON in title or narrative"] == 1
    assert found["summaries titled by boilerplate"] == 1
    assert found["summaries dated before their first prompt"] == 1


def test_a_context_or_a_search_that_tells_nothing_of_the_files_is_found(kept: Kept) -> None:
    about = [item.id for item in kept.items if "src/cart.py" in item.files_modified]
    other = [item.id for item in kept.items if not item.files_modified and not item.files_read]
    first, second = kept.log.starts
    *before, asked = kept.log.prompts

    def named(context: str) -> float:
        kept.__dict__["log"] = replace(kept.log, starts=(first, replace(second, context=context)))
        return figures(starts.scored(kept, known_after=1))["named by the context"]

    def hit(*items: int) -> float:
        kept.__dict__["log"] = replace(kept.log, prompts=(*before, replace(asked, hits=items)))
        return figures(prompts.scored(kept, known_after=1))["hit@5, strict"]

    assert named("work goes on in src/cart.py") == 1
    assert named("files likely next · a: x.py · src: b.py cart.py") == 1
    assert named("work goes on in src/bart.py") == 0
    assert (hit(about[0]), hit(other[0])) == (1, 0)


def test_a_question_is_answered_by_an_item_that_says_all(
    corpus: Path, folder: Path, tmp_path: Path
) -> None:
    asking = shutil.copytree(corpus, tmp_path / "corpus")
    assert table({"questions": questions.scored(Kept(folder, asking))}) == ""
    asked = {"question": "what does the empty cart cost?", "answer": "nothing"}
    lines = (json.dumps(asked | {"all_of": each}) for each in (["cart", "nothing"], ["a parrot"]))
    (asking / "questions.jsonl").write_text("\n".join(lines))
    found = questions.scored(Kept(folder, asking))
    assert figures(found)["answered by the first 5"] == 0.5
    assert found.wrong[0].startswith("what does the empty cart cost? | #")


def test_what_is_printed_may_say_less_than_the_item(kept: Kept, tmp_path: Path) -> None:
    asked = {"question": "what does it cost?", "all_of": ["costs nothing now", "Fixed: tests"]}
    (tmp_path / "asked.jsonl").write_text(json.dumps(asked))
    found = figures(questions.scored(Kept(kept.folder, kept.corpus, tmp_path / "asked.jsonl")))
    assert found["answered by the first 5"] == 1
    assert found["answered by the first 5, as printed"] == 0
    assert 0 < found["nothing found where nothing answers"] < 1


@pytest.mark.parametrize(
    ("place", "said", "right"),
    [
        pytest.param(0, "`make` works here; `pytest -q` could not run (FAILED t", 1, id="fails so"),
        pytest.param(0, "`git` works here; `pytest -q` could not run (odd", 0, id="otherwise"),
        pytest.param(4, "`ls` works here; `git commit` could not run (odd", 0, id="passes"),
    ],
)
def test_a_reminder_is_counted_and_held_against_what_happened(
    kept: Kept, place: int, said: str, right: int
) -> None:
    assert figures(reminders.scored(kept))["fired"] == 0
    places = [
        step.place
        for step in kept.steps
        if step.session == "first"
        and isinstance(step.happened, HookEvent)
        and step.happened.event in {"PostToolUse", "PostToolUseFailure"}
    ]
    first = replace(kept.log.recalls[0], session="first", place=places[place], printed=said)
    kept.__dict__["log"] = replace(kept.log, recalls=(first,))
    found = reminders.scored(kept)
    assert (figures(found)["fired"], figures(found)["right"]) == (1, right)
    assert said in found.wrong[0]


def test_a_failure_is_an_occasion_if_an_earlier_session_met_and_mended_it(kept: Kept) -> None:
    first = [step for step in kept.steps if step.session == "first"]
    assert figures(occasions.scored(kept))["met and mended before"] == 0
    again = [step._replace(session="third", at_ms=step.at_ms + 7_200_000) for step in first]
    kept.__dict__["steps"] = [*kept.steps, *again]
    found = occasions.scored(kept)
    names = ("failures", "met and mended before", "mended alike", "mended alike, late")
    assert [figures(found)[name] for name in names] == [4, 0.25, 0.25, 0]
    assert "src/cart.py" in found.wrong[0]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        pytest.param("cat: illegal option -- A\nusage: cat", "cat: illegal option -- A", id="ends"),
        pytest.param("1 failed in 0.10s", "", id="ran"),
        pytest.param("x\n" * 20 + "zsh: command not found: a", "", id="a long output"),
    ],
)
def test_a_command_that_could_not_run_is_a_dead_end(output: str, said: str) -> None:
    assert reminders.complaint("cat -A cart.py", output) == said


def test_a_line_that_is_put_down_to_another_session_is_found(corpus: Path, tmp_path: Path) -> None:
    kept = replayed(corpus, tmp_path / "kept")
    git(kept.repositories[0].folder, "checkout", "-q", ".")  # the last edit is not committed
    assert figures(whys.scored(kept)) == {"right session first": 1, "right session named": 1}
    kept.__dict__["steps"] = [
        step._replace(session="other") if step.session == "first" else step for step in kept.steps
    ]
    found = whys.scored(kept)
    assert figures(found)["right session named"] == 0
    assert found.wrong == ("src/cart.py:2 other: first",)


def test_an_import_is_held_against_raw_records_and_raw_git(
    corpus: Path, kept: Kept, tmp_path: Path
) -> None:
    right = {
        "tool calls without a result": 0,
        "tool calls with a result that are events": 1,
        "outcomes as the record flags them": 1,
        "why: first the session of the commit": 1,
        "why: or the one that wrote the line": 1,
        "why: the session of the commit is named": 1,
    }
    assert figures(imported.scored(kept)) == right
    other = tmp_path / "other"
    shutil.copytree(corpus, other)
    packed = other / "transcripts/first.jsonl.gz"
    text = gzip.decompress(packed.read_bytes()).decode()
    packed.write_bytes(gzip.compress(text.replace('"type": "user"', '"type": "odd"').encode()))
    found = imported.scored(Kept(kept.folder, other))
    lost = {name: 0.0 for name in right if name.startswith("why")}
    assert figures(found) == right | lost | {"tool calls with a result that are events": 3 / 8}
    assert found.wrong[-1] == "src/cart.py:2 first : none"


def test_labels_say_what_is_wrong_and_how_far_readers_agree(kept: Kept, tmp_path: Path) -> None:
    rows = [
        {"reader": "1", "session": "first", "call": "toolu_first_1", "verdict": "passed"},
        {"reader": "1", "session": "first", "call": "toolu_first_3", "verdict": "passed"},
        {"reader": "2", "session": "first", "call": "toolu_first_1", "verdict": "failed"},
        {"reader": "2", "session": "first", "call": "toolu_first_3", "verdict": "passed"},
    ]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "outcomes.jsonl").write_text(lines)
    labels = read("outcomes", OutcomeLabel, tmp_path)
    assert agreement(labels, lambda one: one.call, lambda one: one.verdict) == (0.0, 2)
    found = figures(labelled.outcomes(kept, labels))
    assert (found["right"], found["failures: precision"]) == (0.5, 0)


@pytest.mark.parametrize(
    ("command", "output", "verdict"),
    [
        pytest.param("make test", "", "passed", id="the exit code is its own"),
        pytest.param("bun test | tail -2", " 2 pass\n 1 fail", "failed", id="behind a pipe"),
        pytest.param("bun test | tail -2", " 2 pass\n 0 fail", "passed", id="a clean summary"),
        pytest.param("bun test | head -2", "bun test v1", "undecided", id="cut off"),
        pytest.param("npm run x || true", "x", "undecided", id="masked and unknown"),
        pytest.param("tsc --noEmit | head", "", "passed", id="silent when all is well"),
        pytest.param("tsc | grep src", "", "undecided", id="silent because it is filtered"),
        pytest.param("go vet ./...; echo $?", "exit status: 1", "failed", id="a shown code"),
        pytest.param("grep -rn error: src | head", "a: error: x", "passed", id="only looks"),
        pytest.param("git commit -m 'a | b'", "lint: 3 failed", "passed", id="noisy hooks"),
    ],
)
def test_a_command_that_ended_well_is_judged_by_its_output(
    command: str, output: str, verdict: str
) -> None:
    assert verdict_of(command, output, is_error=False, response={}) == verdict


@pytest.mark.parametrize(
    ("wide", "narrow", "is_covered"),
    [
        pytest.param("pytest", "uv run pytest tests/x.py", True, id="everything and one file"),
        pytest.param("pytest tests/x.py", "pytest", False, id="one file and everything"),
        pytest.param("rtk bun run test", "bun test", True, id="through a wrapper"),
        pytest.param("bun run lint", "bun run test", False, id="another kind"),
        pytest.param("cd web && npm test", "npm test", False, id="another folder"),
        pytest.param("go test ./...", "go test ./cart -run TestX", True, id="a filter"),
    ],
)
def test_a_run_covers_what_is_part_of_it(wide: str, narrow: str, *, is_covered: bool) -> None:
    (_, one), (_, other) = (next(checks(parts(command))) for command in (wide, narrow))
    assert one.covers(other) is is_covered


def test_labels_of_fixes_know_a_missed_one_and_a_wrong_cause(kept: Kept) -> None:
    row = {
        "reader": "1",
        "session": "first",
        "from": "toolu_first_1",
        "to": "toolu_first_3",
        "cause": ["toolu_first_2"],
    }
    label = convert(row, FixLabel)
    assert figures(labelled.fixes(kept, [label]))["recall, reader 1"] == 1
    assert figures(labelled.fixes(kept, [label]))["causes right, reader 1"] == 1
    wrong = replace(label, cause=("toolu_first_4",))
    assert figures(labelled.fixes(kept, [wrong]))["causes right, reader 1"] == 0
    other = replace(label, passed="toolu_first_5")
    found = figures(labelled.fixes(kept, [other]))
    assert (found["precision, reader 1"], found["recall, reader 1"]) == (0, 0)


def test_means_of_summaries_are_shown_by_version(kept: Kept) -> None:
    rows = [("before", 0), ("before", 1), ("after", 2)]
    labels = [
        SummaryLabel(reader="1", session="first", when=when, title=at, asked=at, done=at, open=at)
        for when, at in rows
    ]
    found = figures(labelled.summaries(kept, labels))
    assert (found["title, before, reader 1"], found["title, after, reader 1"]) == (0.5, 2)


@pytest.mark.parametrize(
    ("command", "output", "results"),
    [
        pytest.param("rtk npm test", "error: unrecognized subcommand 'npm'", ["unknown"], id="not"),
        pytest.param("git commit -m x", " 3 pass\n 0 fail\n[main 1] x", ["passed"], id="a hook"),
        pytest.param("git commit -m x", "[main 1] x", [], id="no hook"),
    ],
)
def test_a_check_is_known_by_what_really_ran(
    kept: Kept, command: str, output: str, results: list[str]
) -> None:
    verdict = verdict_of(command, output, is_error=False, response={})
    ran = commands(kept)[0]._replace(parts=parts(command), output=output, verdict=verdict)
    assert [verdict for _, verdict in ran.results()] == results


def test_words_of_a_here_document_are_no_programs() -> None:
    found = parts("python3 <<'EOF'\nprint('a | b; c')\nEOF\nls")
    assert [part.program for part in found] == ["python3", "ls"]


@pytest.mark.parametrize(
    ("name", "before", "after", "required"),
    [
        pytest.param(
            "a.go",
            "package a\n\nfunc (c *Cart) Sum() int {\n\treturn 1\n}\n",
            "package a\n\nfunc (c *Cart) Sum() int {\n\treturn 2\n}\n",
            {"Cart.Sum"},
            id="a method of Go",
        ),
        pytest.param(
            "a.ts",
            "export const cart = () => {\n  const n = 1;\n  return n;\n};\n",
            "export const cart = () => {\n  const n = 2;\n  return n;\n};\n",
            {"cart"},
            id="a local is not a symbol",
        ),
        pytest.param(
            "a.py", "A = 1\nB = 2\n", "B = 2\nA = 1\n", set(), id="a moved line is no change"
        ),
    ],
)
def test_declarations_are_found_in_whole_files(
    name: str, before: str, after: str, required: set[str]
) -> None:
    assert touched(name, before, after).required == required


def test_items_that_nobody_would_want_are_counted(kept: Kept) -> None:
    prompt = next(item for item in kept.items if item.type == "turn")
    sessions = {each.session_id: each.event.session for each in kept.events}
    label = ItemLabel(
        reader="1",
        session=sessions[prompt.session_id],
        at_ms=prompt.created_ms,
        type="turn",
        verdict="noise",
    )
    gone = replace(label, at_ms=1, verdict="wanted")
    found = labelled.items(kept, [label, gone, replace(label, reader="2", verdict="wanted")])
    shown = figures(found)
    assert (shown["noise or false, reader 1"], shown["noise or false, reader 2"]) == (1.0, 0.0)
    assert found.wrong == (f"reader 1: noise #{prompt.id} turn {prompt.title}",)
