"""What a text defines, and what became of it; the only room that uses tree-sitter."""
