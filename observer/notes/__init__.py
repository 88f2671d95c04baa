"""Notes: what people and agents recorded on purpose, how it changed and what it belongs to.

`Notes` is the API of this room; derived are `Signals` between notes, `Inferences` that a person
approved, `Pairs` and `flashbacks`. `Memory.of(owner).notes` are those of another owner.
"""
