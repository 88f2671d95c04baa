"""Repository policy: what `.observer.toml` at the root of a work tree keeps from being recorded.

`policies` reads, finds and caches them, `apply` removes from an event what one withholds: a policy
can only restrict.
"""

from observer.projects.policy.apply import apply_policy, is_captured, unexcluded_files
from observer.projects.policy.policies import FILE, KINDS, Policies, Policy

__all__ = ["FILE", "KINDS", "Policies", "Policy", "apply_policy", "is_captured", "unexcluded_files"]
