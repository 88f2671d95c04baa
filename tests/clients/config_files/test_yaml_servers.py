"""Our entry in a YAML file: put in, brought up to date and taken out, and nothing else touched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import indent

import pytest
import yaml

from observer.clients.config_files.context import InstallContext
from observer.clients.config_files.yaml_servers import drop_server, edit_yaml, put_server
from observer.core.errors import ConfigInvalid
from observer.core.paths import Home

OURS = "- name: observer\n  command: /opt/observer/bin/observer\n  args: [mcp]\n"
INDENTED = (
    "  - name: observer\n    command: /opt/observer/bin/observer\n    args:\n      - mcp # all\n"
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("# mine\n\n", id="comment"),
        pytest.param("---\nmodels: []\n", id="marked-start"),
        pytest.param("---\n# mine\n", id="nothing-behind-the-start"),
        pytest.param("  models: []\n", id="indented"),
        pytest.param("mcpServers:\n- name: x\n  command: y\n\n# z\nz: 1\n", id="same-column"),
        pytest.param("mcpServers: # all\n  # first\n  - name: x # one\nz: 1", id="comments"),
        pytest.param("mcpServers:\n  - name: x\n    # y: 1\n  # last\n", id="comment-within"),
        pytest.param("mcpServers:\n  - name: x\n    y: |\n      # no comment\n", id="text-block"),
        pytest.param("mcpServers:\r\n- name: x\r\nz: 1\r\n", id="line-ends"),
        pytest.param("x: |+\n  kept\n\n\n", id="kept-line-feeds"),
        pytest.param("a: &a [1]\nb: [*a, *a]\nc: {<<: {d: 0x1F}}\nd: !mine 010\n", id="values"),
        pytest.param("a: &a\n  b: *a\n", id="within-itself"),
        pytest.param('"mcpServers":\n- &x {name: x}\n- *x\n- y\n', id="aliases-as-entries"),
    ],
)
def test_what_was_there_is_there_again_to_the_byte(text: str, context: InstallContext) -> None:
    put = put_server(text, context)
    entry = [line.strip() for line in OURS.splitlines()]
    added = [line.strip() for line in put.splitlines() if line not in text.splitlines()]
    assert added[-3:] == entry
    assert put_server(put, context) == put
    assert drop_server(put, context) == text


@pytest.mark.parametrize(
    ("text", "after"),
    [
        pytest.param("a: 1", "a: 1\n", id="no-last-line-feed"),
        pytest.param("mcpServers:\nz: 1\n", "z: 1\n", id="no-servers"),
        pytest.param("mcpServers:\n    # x\nz: 1\n", "    # x\nz: 1\n", id="comment-below"),
        pytest.param("mcpServers:\n<<: {z: 1}\n", "<<: {z: 1}\n", id="merge"),
        pytest.param("mcpServers: # none\n", "# none\n", id="comment-behind-the-key"),
    ],
)
def test_what_cannot_be_known_of_an_edited_file_is_left_valid(
    text: str, after: str, context: InstallContext
) -> None:
    assert drop_server(put_server(text, context), context) == after


def test_the_entry_stands_behind_the_others(context: InstallContext) -> None:
    text = "mcpServers:\n- name: x\n\n# models\nmodels: []\n"
    assert put_server(text, context) == f"mcpServers:\n- name: x\n{OURS}\n# models\nmodels: []\n"


def test_an_entry_written_by_hand_is_brought_up_to_date_and_taken_out(
    context: InstallContext,
) -> None:
    text = f"a: 1\nmcpServers:\n{INDENTED}\n  # next\n  - name: x\n"
    old = text.replace("/opt/observer/bin", "/old/bin").replace(" # all", "")
    assert put_server(text, context) == text
    assert put_server(old, context) == text.replace(INDENTED, indent(OURS, "  "))
    assert drop_server(text, context) == "a: 1\nmcpServers:\n\n  # next\n  - name: x\n"


def test_another_home_is_named_and_its_entry_stays(context: InstallContext) -> None:
    text = f"mcpServers:\n{OURS}"
    elsewhere = replace(context, home=Home(Path("/srv/its memory")))
    moved = put_server(text, elsewhere)
    assert moved == f"{text}  env: {{OBSERVER_HOME: /srv/its memory}}\n"
    assert drop_server(moved, context) == moved
    assert put_server(moved, context) == text


def test_a_command_that_needs_quotes_gets_them(context: InstallContext) -> None:
    odd = replace(context, observer="/a: b/#c/observer")
    for text in (put_server("", odd), put_server(put_server("", context), odd)):
        assert yaml.safe_load(text)["mcpServers"][0]["command"] == "/a: b/#c/observer"


LIST = "mcpServers is not a"
CHANGE = "cannot be changed"
REFUSED = [
    pytest.param("mcpServers: [{name: x}]\n", LIST, id="flow-list"),
    pytest.param("mcpServers: []\n", LIST, id="empty-flow-list"),
    pytest.param("mcpServers: {}\n", LIST, id="mapping"),
    pytest.param("mcpServers: null\n", LIST, id="written-null"),
    pytest.param("a: &a\n- name: x\nmcpServers: *a\n", CHANGE, id="alias"),
    pytest.param("mcpServers: &a\n- name: x\nb: *a\n", CHANGE, id="anchor"),
    pytest.param("mcpServers: !!seq\n- name: x\n", CHANGE, id="tag"),
    pytest.param("a:\tb\n", "line 1, column 3", id="tab"),
    pytest.param("a: 1\n---\nb: 1\n", "single document", id="two-documents"),
    pytest.param("a: 1\n...\n", CHANGE, id="marked-end"),
    pytest.param("mcpServers:\n...\n", CHANGE, id="nothing-else-before-the-marked-end"),
    pytest.param("a: |\n  no line feed", CHANGE, id="open-text-block"),
    pytest.param("{a: 1}\n", "not a mapping in block style", id="flow-mapping"),
    pytest.param("- name: x\n", "not a mapping in block style", id="list"),
    pytest.param("a: &a {b: 1}\n<<: *a\n", "merges", id="merge"),
    pytest.param("mcpServers:\n- name: observer\n- name: observer\n", "twice", id="two"),
    pytest.param("mcpServers:\n- name: observer\n  name: observer\n", "twice", id="name-twice"),
    pytest.param("a: *b\n", "undefined alias", id="no-anchor"),
    pytest.param('a: "\\UFFFFFFFF"\n', "not YAML", id="no-character"),
    pytest.param("# a\u2028b: 1\n", "U.2028", id="line-separator"),
    pytest.param("a: \0", "not YAML", id="control-character"),
    pytest.param("a: " + "[" * 5000, "nested too deep", id="deep"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_what_is_not_understood_is_refused_with_the_entry(
    text: str, why: str, context: InstallContext
) -> None:
    path = context.user_home / "config.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigInvalid, match=why) as refused:
        edit_yaml(path, lambda found: put_server(found, context))
    assert str(path) in refused.value.message
    assert OURS in refused.value.hint
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a:\tb\n", id="tab"),
        pytest.param(f"mcpServers:\n{OURS}  env: &e {{}}\nb: *e\n", id="anchor-within"),
        pytest.param(f"mcpServers:\n-\n{INDENTED[4:]}".replace("-\n", "-\n    "), id="dash-alone"),
        pytest.param(f"mcpServers: !!seq\n{OURS}", id="tag"),
        pytest.param(f"a: &a\n{OURS[2:]}mcpServers:\n- *a\n", id="alias"),
        pytest.param(
            "mcpServers:\n- {name: observer, command: /observer, args: [mcp]}\nx: ]\n", id="broken"
        ),
    ],
)
def test_what_cannot_be_taken_out_alone_stays(text: str, context: InstallContext) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        drop_server(text, context)
    assert "by hand" in refused.value.hint


def test_a_flow_style_entry_of_ours_is_taken_out(context: InstallContext) -> None:
    text = "mcpServers:\n- {name: observer, command: /observer, args: [mcp]} # mine\n- name: x\n"
    assert drop_server(text, context) == "mcpServers:\n- name: x\n"


def test_an_entry_with_a_comment_is_not_moved_to_another_home(
    context: InstallContext,
) -> None:
    elsewhere = replace(context, home=Home(Path("/srv/memory")))
    with pytest.raises(ConfigInvalid, match="somebody else") as refused:
        put_server(f"mcpServers:\n{INDENTED}", elsewhere)
    assert "OBSERVER_HOME: /srv/memory" in refused.value.hint


@pytest.mark.parametrize("entry", ["command: x", "command: /x/observer", "url: http://h"])
def test_anothers_server_with_our_name_is_refused_and_stays(
    entry: str, context: InstallContext
) -> None:
    text = f"mcpServers:\n- name: observer\n  {entry}\n"
    with pytest.raises(ConfigInvalid, match="another MCP server"):
        put_server(text, context)
    assert drop_server(text, context) == text


def test_many_aliases_of_aliases_are_read_in_linear_time(context: InstallContext) -> None:
    """Written out, the text would have 2 ** 60 entries."""
    rows = [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    text = "\n".join(["a0: &a0 [x]", *rows, ""])
    assert drop_server(put_server(text, context), context) == text
