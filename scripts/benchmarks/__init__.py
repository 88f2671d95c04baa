"""One module a figure of `scripts/bench.py`, and the parts that several of them need."""
