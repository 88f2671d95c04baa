"""Repository policy: what `.observer.toml` at the root of a work tree keeps from being recorded.

`parsing` reads the file into a `Policy`, `policies` finds and caches the one of a root, `applying`
takes out of an event what it withholds. A policy can only restrict: nothing here reads or allows
what the user's own settings do not.
"""

from observer.policy.apply import applied, beside, is_captured
from observer.policy.parse import FILE, KINDS, Policy
from observer.policy.policies import Policies

__all__ = ["FILE", "KINDS", "Policies", "Policy", "applied", "beside", "is_captured"]
