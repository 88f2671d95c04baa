"""What a text defines, and what became of it: symbols, read from syntax trees or line by line.

Pure. `outline` reads a text, `compare_files` two versions of it, `compare` pieces of two versions,
`frame` says what both begin and end with. A tree is better wherever it can be had; a text whose
tree would be broken, or cost too much, is read by its lines, which always gives an answer.
tree-sitter has its only home here; a grammar is loaded with the first text it reads.
"""

from observer.code.diff import compare, compare_files, frame, only_in
from observer.code.outline import outline
from observer.code.symbol import Symbol, code_of

__all__ = ["Symbol", "code_of", "compare", "compare_files", "frame", "only_in", "outline"]
