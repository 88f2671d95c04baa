"""What the tools refuse, as errors of JSON-RPC: users of mem0 handle these codes and types."""

from __future__ import annotations

from observer.errors import BadInput, NotFound, ObserverError
from observer.front.tool import Refusal

INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


def refusal(error: ObserverError) -> Refusal:
    """Return an error as the protocol tells it; what to do about it is among its details."""
    code, what = INTERNAL_ERROR, "Internal error"
    name = type(error).__name__.removesuffix("Error") + "Error"
    if isinstance(error, BadInput):
        code, what, name = INVALID_PARAMS, "Invalid params", "InvalidParamsError"
    elif isinstance(error, NotFound):
        name = "MemoryNotFoundError"
    return Refusal(
        code=code,
        message=f"{what}: {error.message}",
        data={"type": name, "details": error.hint},
    )
