"""What `scripts/audit.py` and `scripts/sbom.py` share: the lock files, read."""
