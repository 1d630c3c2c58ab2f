"""What a user decides about a run."""

from dataclasses import dataclass

from harness.execution.budget import TimeBudget
from harness.execution.starters import Starts
from harness.sandbox.limits import Limits


@dataclass(frozen=True)
class Settings:
    """What `plan_calls` and `execute` go by."""

    limits: Limits
    time_limit_s: float = 300.0
    time_budget: TimeBudget = TimeBudget.EACH
    seed: int = 0
    keras: int | None = None  #: overrides what submissions ask for
    sandboxed: bool = True
    starts: Starts = Starts.AUTO  #: makes no difference to values, so it is no part of what makes a call the same
