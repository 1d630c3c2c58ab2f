"""The time budget of a submission on a task."""

from enum import StrEnum

from harness.sandbox import Clock


class TimeBudget(StrEnum):
    """The scope of `--time-limit`."""

    EACH = "each"  #: every call
    AVERAGE = "average"  #: the sum over a task's models, as in the competition: seconds times models


class Budget:
    """The seconds that the calls of one submission on one task may take, each on its own or all together."""

    def __init__(self, time_budget: TimeBudget, limit_s: float, models: int) -> None:
        self._limit_s = limit_s
        self._shared: Clock | None = None
        if time_budget is TimeBudget.AVERAGE:
            total = limit_s * models
            meaning = f"the task's time budget of {total:g} s ({models} models, {limit_s:g} s each on average)"
            self._shared = Clock(total, meaning)

    def clock(self) -> Clock:
        """Return the clock that bounds the next call."""
        return self._shared or Clock(self._limit_s, f"the time limit of {self._limit_s:g} s")

    def spend(self, seconds: float) -> None:
        """Deduct the seconds of a call made by another run."""
        if self._shared is not None:
            self._shared.spend(seconds)
