"""What a text defines, and what became of it: symbols, read from syntax trees or line by line.

Pure. `outline` reads one text, `compare_files` compares two versions of a file and
`compare_fragments` pieces of two versions; `common_affixes` counts the lines that both versions
begin and end with; `method_calls` reads what a script in JavaScript writes out. A syntax tree is
used wherever it can be had; a text whose tree would be broken, or too costly, is read line by
line, which always gives an answer. This is the only room that uses tree-sitter; a grammar is
loaded with the first text in its language.
"""
