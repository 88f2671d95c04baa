"""One module a figure of `scripts/bench.py`, and the parts that several of them need."""

import os

# As the daemon has it, which part of what is measured here runs in.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
