"""The kinds of sandbox, one per file; what each promises is said in docs/security.md."""

from harness.errors import UserError
from harness.registry import find_siblings
from harness.sandbox.kinds.fast import Fast
from harness.sandbox.kinds.fresh import Fresh
from harness.sandbox.kinds.kind import Kind, Warn
from harness.sandbox.kinds.landlock import Landlock

#: All kinds by name.
KINDS: dict[str, type[Kind]] = find_siblings(__name__, Kind)


def choose_kind(warn: Warn, *, may_promise_less: bool = True) -> Kind:
    """Return what calls are isolated by if nobody says: bubblewrap, or Landlock where that does not work.

    `warn` is told of what does not work, and what is not promised. Raises `UserError` with the reasons, and what mends
    them, where neither works, or bubblewrap does not and the sandbox may not promise less.
    """
    best, weaker = Fast(instead=warn), Landlock()
    problem = best.problem()
    if problem is None:
        return best
    if not may_promise_less:
        raise problem
    reason = weaker.problem()
    if reason is not None:
        remedy = "or, for your own code only, --unsafe-no-sandbox"
        raise UserError(f"{problem}; nor does Landlock do instead: {reason}", remedy=remedy)
    warn(f"{problem}")
    warn("calls are isolated by Landlock instead, which promises less (pgdl doctor shows both):")
    for guarantee in weaker.missing:
        warn(f"  {guarantee}")
    return weaker


__all__ = ["KINDS", "Fast", "Fresh", "Kind", "Landlock", "choose_kind"]
