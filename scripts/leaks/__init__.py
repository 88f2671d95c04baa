"""Planted secrets and ordinary text: what reaches the disk, and what is taken for a secret."""
