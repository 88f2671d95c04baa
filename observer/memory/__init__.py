"""The Python API: all that fronts and scripts may use."""

from observer.memory.api import Memory
from observer.memory.opening import open_memory
from observer.search.handles import SearchOptions

__all__ = ["Memory", "SearchOptions", "open_memory"]
