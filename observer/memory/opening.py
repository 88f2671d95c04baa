"""Opening the index of a store, with its stemmer and the vectors of one model."""

from __future__ import annotations

from pathlib import Path

from observer.embed.lazy_model import LazyModel
from observer.index import Index
from observer.store.sqlite.stemmer import stemmer


def index_for(folder: Path, model: LazyModel, *, is_owner: bool) -> Index:
    """Return the index in a folder; see `Index` for who owns it."""
    index = Index(folder, stem=stemmer(), is_owner=is_owner)
    index.use(model.id, model.info.dimensions)
    return index
