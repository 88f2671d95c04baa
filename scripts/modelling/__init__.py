"""The parts of `scripts/build_model.py` and `scripts/train_model.py`, one module a concern."""
