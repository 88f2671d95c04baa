"""Whose shell a commit or a command was made in, by the variables that agents set there."""

from __future__ import annotations

from pathlib import Path

import pytest

from observer.clients.attribution import Attribution, agent_variables, attribute


@pytest.mark.parametrize(
    ("env", "client", "session"),
    [
        pytest.param(
            {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s"}, "claude-code", "s", id="claude-code"
        ),
        pytest.param({"CURSOR_AGENT": "1"}, "cursor", "", id="cursor"),
        pytest.param(
            {"CODEX_THREAD_ID": "s", "CODEX_SANDBOX": "seatbelt"}, "codex", "s", id="codex"
        ),
        pytest.param({"GEMINI_CLI": "1"}, "gemini", "", id="gemini"),
        pytest.param({"QWEN_CODE": "1", "QWEN_CODE_SESSION_ID": "s"}, "qwen", "s", id="qwen"),
        pytest.param({"QWEN_CODE": "1"}, "qwen", "", id="qwen-without-a-session"),
        pytest.param(
            {"COPILOT_CLI": "1", "COPILOT_AGENT_SESSION_ID": "s"}, "copilot", "s", id="copilot"
        ),
        pytest.param({"OPENCODE": "1", "AGENT": "1"}, "opencode", "", id="opencode"),
        pytest.param({"KILO": "1", "OPENCODE": "1", "AGENT": "1"}, "kilo", "", id="kilo"),
        pytest.param({"CLINE_NO_INTERACTIVE": "1"}, "cline", "", id="cline-cli"),
        pytest.param({"CLINE_CONNECTOR_CLI_LAUNCH": "1"}, "cline", "", id="cline-headless"),
        pytest.param({"CLINE_ACTIVE": "true"}, "cline", "", id="cline-editor"),
        pytest.param({"PI_CODING_AGENT": "true"}, "pi", "", id="pi"),
        pytest.param({"AI_AGENT": "robin", "AGENT": "1"}, "robin", "", id="named"),
        pytest.param({"AI_AGENT": "1", "AGENT": "robin"}, "robin", "", id="named-by-the-other"),
        pytest.param({"AGENT": "1"}, "", "", id="an-agent-without-a-name"),
    ],
)
def test_an_agents_shell_is_known_by_its_variables(
    env: dict[str, str], client: str, session: str
) -> None:
    assert env.keys() & agent_variables()
    in_a_shell = {**env, "OBSERVER_SESSION": "zsh-77-1763715600"}
    assert attribute(in_a_shell) == Attribution(client, session, "agent")


@pytest.mark.parametrize(
    ("env", "client"),
    [
        pytest.param({"OBSERVER_SESSION": "zsh-77-1763715600"}, "zsh", id="recorded-shell"),
        pytest.param({"AGENT": "", "OBSERVER_SESSION": "bash-7-1"}, "bash", id="empty-variable"),
        pytest.param({"OBSERVER_SESSION": "cursor-7-1"}, "", id="no-shell"),
        pytest.param({}, "", id="nothing"),
    ],
)
def test_any_other_shell_is_a_persons(env: dict[str, str], client: str) -> None:
    session = env.get("OBSERVER_SESSION", "")
    assert attribute(env) == Attribution(client, session, "person")


@pytest.mark.parametrize("variable", sorted(agent_variables()))
def test_the_hook_script_passes_on_what_a_shell_is_recognised_by(variable: str) -> None:
    hooks = Path(__file__).parents[2] / "hooks"
    assert f"${{{variable}:+" in (hooks / "post").read_text()
    assert f"`{variable}`" in (hooks / "README.md").read_text()
