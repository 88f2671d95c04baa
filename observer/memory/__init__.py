"""The Python API: all that fronts and scripts may use."""

from observer.memory.api import Memory

__all__ = ["Memory"]
