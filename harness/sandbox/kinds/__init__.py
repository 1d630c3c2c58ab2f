"""The kinds of sandbox, one per file; docs/security.md says what each promises."""

from harness.errors import UserError
from harness.registry import find_siblings
from harness.sandbox.kinds.fast import Fast
from harness.sandbox.kinds.fresh import Fresh
from harness.sandbox.kinds.kind import Kind, Warn
from harness.sandbox.kinds.landlock import Landlock

#: All kinds by name.
KINDS: dict[str, type[Kind]] = find_siblings(__name__, Kind)


def choose_kind(warn: Warn, *, may_promise_less: bool = True) -> Kind:
    """Return the default kind: bubblewrap, or Landlock where bubblewrap does not work.

    `warn` receives the reason why bubblewrap does not work, and the promises that Landlock lacks. Raises `UserError`
    with reasons and remedies where neither works, or bubblewrap does not and the sandbox may not promise less.
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
        raise UserError(f"{problem}; nor does the weaker sandbox work: {reason}", remedy=remedy)
    warn(f"{problem}")
    warn("calls are isolated by Landlock instead, which promises less (pgdl doctor shows both):")
    for guarantee in weaker.missing:
        warn(f"  {guarantee}")
    return weaker


__all__ = ["KINDS", "Fast", "Fresh", "Kind", "Landlock", "choose_kind"]
