"""The doctor: what it checks, and the probes that it sends through hooks."""
