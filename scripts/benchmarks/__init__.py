"""One module a figure of `scripts/bench.py`, beside those of `observer doctor speed`."""
