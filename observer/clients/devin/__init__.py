"""Devin CLI and Windsurf, which became Devin's editor: their hooks and MCP. Neither was tried."""

from observer.clients.client import Client, HookSample, hook_specific_output, prompt_sample


def _wrap_context(text: str) -> bytes:
    return hook_specific_output(text, "SessionStart")


CLIENTS = (
    Client(
        name="devin",
        decoder="observer.clients.devin.decode:read",
        installer="observer.clients.devin.install:INSTALLER",
        programs=("devin",),
        folders=(".config/devin",),
        sample=prompt_sample("UserPromptSubmit"),
        marker_variables=("DEVIN_PROJECT_DIR",),
        reports_twice=True,  # it runs the hooks that a repository has for Claude Code
        context_file="CONTEXT.devin.json",
        wrap_context=_wrap_context,
    ),
    Client(
        name="windsurf",
        decoder="observer.clients.devin.cascade:read",
        installer="observer.clients.devin.cascade_install",
        programs=("windsurf",),
        folders=(".codeium/windsurf",),
        sample=HookSample(  # the folder is that of the hook's process
            "pre_user_prompt",
            '{"agent_action_name": "pre_user_prompt", "trajectory_id": "@SESSION@",'
            ' "tool_info": {"user_prompt": "@TEXT@"}}',
        ),
    ),
)
