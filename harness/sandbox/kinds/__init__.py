"""The kinds of sandbox, each in a file; docs/security.md lists their promises."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from harness.errors import UserError, Warn
from harness.registry import find_siblings
from harness.sandbox.kinds.fast import Fast
from harness.sandbox.kinds.kind import Kind
from harness.sandbox.kinds.landlock import Landlock

#: All kinds by name, sorted.
KINDS: dict[str, type[Kind]] = dict(sorted(find_siblings(__name__, Kind).items()))


@dataclass(frozen=True)
class SandboxChoice:
    """The user's choice of a kind of sandbox; each machine that makes calls turns the choice into a `Kind`."""

    AUTO: ClassVar[str] = "auto"  #: with this name, each machine chooses a kind
    TRIED: ClassVar[tuple[str, ...]] = ("fast", "fresh", "landlock")  #: the kinds that `auto` tries, in this order

    name: str = AUTO  #: name of a kind, or `auto`
    parameters: Mapping[str, str | None] = field(default_factory=dict)  #: arguments of the kind's constructor
    may_promise_less: bool = True  #: whether `auto` may choose weaker isolation

    def kind(self, warn: Warn) -> Kind:
        """Return a kind of sandbox that works on this machine. Raise `UserError` if the chosen kind does not work."""
        if (self.name == self.AUTO or KINDS[self.name].needs_linux) and (elsewhere := not_linux()) is not None:
            raise elsewhere
        if self.name == self.AUTO:
            return self._choose(warn)
        kind = KINDS[self.name](**self.parameters)
        if (problem := kind.problem()) is not None:
            raise problem
        return kind

    @staticmethod
    def candidates(warn: Warn) -> tuple[Fast, Landlock]:
        """Return the kinds from which `auto` chooses, the stronger isolation first. `fast` can fall back to `fresh`."""
        return Fast(instead=warn), Landlock()

    def _choose(self, warn: Warn) -> Kind:
        best, weaker = self.candidates(warn)
        problem = best.problem()
        if problem is None:
            return best
        if not self.may_promise_less:
            raise problem
        if (reason := weaker.problem()) is not None:
            remedy = "or, for your own code only, pgdl run --unsafe-no-sandbox"
            raise UserError(f"{problem}; nor does the weaker sandbox work: {reason}", remedy=remedy)
        warn(f"{problem}")
        warn("calls are isolated by Landlock instead, which promises less (pgdl doctor shows both):")
        for guarantee in weaker.missing:
            warn(f"  {guarantee}")
        return weaker


def not_linux() -> UserError | None:
    """Return an error that says why only a container engine can sandbox calls here; None on Linux."""
    if (system := platform.system()) == "Linux":
        return None
    own = "for your own code only, pgdl run --unsafe-no-sandbox (pgdl help systems)"
    remedy = f"with a Docker engine, --sandbox docker; {own}"
    return UserError("sandboxed calls", expected="Linux", found=system, remedy=remedy)
