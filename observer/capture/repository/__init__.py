"""Reading git: one commit, or the whole history as a stream.

`log` turns git's output into commits, `symbols` names what changed inside a file; git itself is run
by `observer.git`.
"""

from observer.capture.repository.log import count, history, read_commit

__all__ = ["count", "history", "read_commit"]
