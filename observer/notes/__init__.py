"""Notes: what people and agents recorded on purpose, how it changed and what it belongs to.

`Notes` is the API of this room; toolsets are thin adapters over it.

- Write: `remember`, `edit`, `forget`, `undo`, `approve`, `link`, `unlink`.
- Read: `get`, `list`, `counts`, `history`, `links`, `claims`, `similar`, `rules`.
- Derived: `Signals` between notes, `Inferences` that a person approved, and `flashbacks`.
- Owners: `Memory.notes` are the user's; `Memory.of(owner).notes` those of another owner, who
  sees nothing of the user's.
"""
