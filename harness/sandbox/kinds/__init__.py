"""The kinds of sandbox, each in a file; docs/security.md lists their promises."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from harness.configuration import UNSANDBOXED
from harness.errors import UserError, Warn
from harness.registry import find_siblings
from harness.sandbox.facts import not_linux
from harness.sandbox.kinds.kind import Kind

#: All kinds by name.
KINDS: dict[str, type[Kind]] = find_siblings(__name__, Kind)


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

    def _choose(self, warn: Warn) -> Kind:
        """Return `fast`, which can fall back to `fresh`; if bubblewrap does not work, return `landlock`."""
        best, weaker = KINDS["fast"].for_auto(warn), KINDS["landlock"]()
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

    @staticmethod
    def options_for(isolation: str) -> dict[str, str | None]:
        """Return the command-line options (name -> value) with which calls have the isolation `isolation`.

        A flag has the value None. An option with an empty value can be left out.
        """
        kind, _, runtime = isolation.partition("/")
        if kind == "bubblewrap":  # the isolation of the kinds that `auto` tries first
            return {"--sandbox": SandboxChoice.AUTO}
        if kind == UNSANDBOXED:
            return {"--sandbox": SandboxChoice.AUTO, "--unsafe-no-sandbox": None}
        return {"--sandbox": kind, "--docker-runtime": runtime} if kind == "docker" else {"--sandbox": kind}
