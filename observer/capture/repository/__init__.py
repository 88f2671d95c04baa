"""Reading git: one commit, or the whole history as a stream.

`program` runs git so that neither configuration nor environment changes its answer, `log` turns
its output into commits, `symbols` names what changed inside a file.
"""

from observer.capture.repository.log import count, history, read_commit

__all__ = ["count", "history", "read_commit"]
