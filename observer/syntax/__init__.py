"""What a text defines, and what became of it: symbols, read from syntax trees or line by line.

Pure. `outline` reads a text, `compare` two versions of it, `frame` says what both begin and end
with. A tree is better wherever it can be had; a text whose tree would be broken, or cost too much,
is read by its lines, which always gives an answer. tree-sitter has its only home here; a grammar is
loaded with the first text it reads.
"""

from observer.syntax.comparing import Changes, compare
from observer.syntax.framing import frame
from observer.syntax.outline import outline
from observer.syntax.symbol import Symbol

__all__ = ["Changes", "Symbol", "compare", "frame", "outline"]
