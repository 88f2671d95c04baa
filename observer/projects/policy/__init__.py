"""Repository policy: what `.observer.toml` at the root of a work tree keeps from being recorded.

`parse` reads the file into a `Policy`, `policies` finds and caches the policy of a root, `apply`
removes from an event what the policy withholds. A policy can only restrict: nothing here reads or
allows what the user's own settings do not.
"""

from observer.projects.policy.apply import apply_policy, is_captured, unexcluded_files
from observer.projects.policy.policies import FILE, KINDS, Policies, Policy

__all__ = ["FILE", "KINDS", "Policies", "Policy", "apply_policy", "is_captured", "unexcluded_files"]
