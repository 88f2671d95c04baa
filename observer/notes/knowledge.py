"""Knowledge: what people and agents recorded on purpose, how it changed and what it belongs to.

`Notes` is the one door; toolsets are thin adapters over it.

- Write: `remember`, `edit`, `forget`, `undo`, `approve`, `link`, `unlink`.
- Read: `get`, `list`, `counts`, `history`, `links`, `claims`, `similar`, `rules`.
- What stands in the notes unwritten: `Signals`, and `Inferences` that a person approved;
  `flashbacks` from elsewhere.
- Whose: `Memory.notes`; of somebody else, who sees nothing of ours, `Memory.of(owner).notes`.
"""
