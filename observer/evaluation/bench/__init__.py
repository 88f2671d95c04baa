"""Measuring observer on the machine where it runs, in homes that are thrown away.

One module a group of figures, and the parts that several of them need: `lab` lends a throw-away
user, `work` makes up what its hooks report, `wire` speaks MCP, `figure` holds samples and aims.
"""

import os

# As the daemon has it, which part of what is measured here runs in.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
