"""The daemon lives for days: what one large piece of work needed goes back to the system."""

from __future__ import annotations

import ctypes


def give_memory_back() -> None:
    """Return free memory that the C allocator holds; does nothing where it cannot be asked to."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return  # not glibc
    trim(0)
