"""The kinds of sandbox, each in a file; docs/security.md lists their promises."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from harness.errors import UserError, Warn
from harness.registry import find_siblings
from harness.sandbox.facts import not_linux
from harness.sandbox.kinds.kind import AUTO, SANDBOX, Kind

#: All kinds by name.
KINDS: dict[str, type[Kind]] = find_siblings(__name__, Kind)

#: The kinds that `auto` tries, in this order.
AUTOMATIC = sorted((kind for kind in KINDS.values() if kind.auto is not None), key=lambda kind: kind.auto or 0)


def choose_kind(warn: Warn, *, may_promise_less: bool = True) -> Kind:
    """Return a kind with bubblewrap's sandbox, or Landlock if bubblewrap does not work.

    `warn` receives the reason why bubblewrap does not work, and the promises that Landlock lacks. Raise `UserError` if
    no kind works, or if only Landlock works and the sandbox may not promise less.
    """
    # A kind that another kind extends needs no trial: the other kind has the same sandbox and falls back to it.
    extended = {base for kind in AUTOMATIC for base in kind.__bases__}
    best, *weaker = (kind.for_auto(warn) for kind in AUTOMATIC if kind not in extended)
    problem = best.problem()
    if problem is None:
        return best
    if not may_promise_less:
        raise problem
    reasons = []
    for kind in weaker:
        reason = kind.problem()
        if reason is None:
            warn(f"{problem}")
            name = kind.name.capitalize()
            warn(f"calls are isolated by {name} instead, which promises less (pgdl doctor shows both):")
            for guarantee in kind.missing:
                warn(f"  {guarantee}")
            return kind
        reasons.append(str(reason))
    remedy = "or, for your own code only, --unsafe-no-sandbox"
    raise UserError(f"{problem}; nor does the weaker sandbox work: {'; '.join(reasons)}", remedy=remedy)


@dataclass(frozen=True)
class SandboxChoice:
    """The kind of sandbox that a user requests; each machine that makes calls chooses its own kind by it."""

    AUTO: ClassVar[str] = AUTO  #: the name that leaves the choice to each machine
    TRIED: ClassVar[tuple[str, ...]] = tuple(kind.name for kind in AUTOMATIC)  #: by `auto`, in this order

    name: str = AUTO  #: of a kind, or `auto`
    parameters: Mapping[str, str | None] = field(default_factory=dict)  #: of the kind's constructor
    may_promise_less: bool = True  #: whether `auto` may choose weaker isolation

    def kind(self, warn: Warn) -> Kind:
        """Return a kind that works on this machine. Raise `UserError` if the requested kind does not work."""
        if (self.name == AUTO or KINDS[self.name].needs_linux) and (elsewhere := not_linux()) is not None:
            raise elsewhere
        if self.name == AUTO:
            return choose_kind(warn, may_promise_less=self.may_promise_less)
        kind = KINDS[self.name](**self.parameters)
        if (problem := kind.problem()) is not None:
            raise problem
        return kind

    @staticmethod
    def options_for(isolation: str) -> dict[str, str | None]:
        """Return the command-line options that request an isolation of any kind, as `Kind.options`."""
        found = (kind.options(isolation) for kind in KINDS.values())
        return next((options for options in found if options is not None), {SANDBOX: isolation.partition("/")[0]})
