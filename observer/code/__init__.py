"""What a text defines, and what became of it: symbols, read from syntax trees or line by line.

A text whose tree would be broken, or too costly, is read line by line, which always gives an
answer. Only this room uses tree-sitter; a grammar is loaded with the first text in its language.
"""
