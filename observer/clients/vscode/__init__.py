"""VS Code's own agent: its hook payloads, and its MCP configuration. No version was tried."""

from observer.clients.client import Client

CLIENT = Client(
    name="vscode",
    decoder="observer.clients.vscode.decode:read",
    installer="observer.clients.vscode.install:INSTALLER",
    programs=("code",),
    folders=(".config/Code", "Library/Application Support/Code"),
    reports_twice=True,  # it runs the hooks of Copilot CLI and of Claude Code
)
