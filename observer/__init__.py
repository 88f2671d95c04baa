"""observer: the memory that coding agents lack."""

__version__ = "0.1.0"
