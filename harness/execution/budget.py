"""The time limit of a single call, or of all calls of a submission on a task together."""

import itertools
from collections.abc import Iterable
from enum import StrEnum

from harness.execution.order import Allowance, Order
from harness.sandbox import Clock

_numbers = itertools.count()


class TimeBudget(StrEnum):
    """The scope of `--time-limit`: a single call, or all calls of a submission on a task together."""

    EACH = "each"  #: each call has the limit
    AVERAGE = "average"  #: all calls on a task share the limit times the number of models, as in the competition


class Budget:
    """The time limit of a submission's calls on a task, and the seconds that they have used."""

    def __init__(self, time_budget: TimeBudget, limit_s: float, models: int) -> None:
        self._spent_s = 0.0
        self._number: int | None = None
        self._total_s, self._meaning = limit_s, f"the time limit of {limit_s:g} s"
        if time_budget is TimeBudget.AVERAGE:
            self._number, self._total_s = next(_numbers), limit_s * models
            each = f"({models} models, {limit_s:g} s each on average)"
            self._meaning = f"the task's time budget of {self._total_s:g} s {each}"

    @property
    def allowance(self) -> Allowance:
        """The limit and the used seconds, for an `Order`."""
        return Allowance(self._number, self._total_s, self._spent_s, self._meaning)

    def spend(self, seconds: float) -> None:
        """Count the seconds of a call in another run as used; a negative number gives seconds back to the budget."""
        if self._number is not None:
            self._spent_s += seconds


class Clocks:
    """The clocks of an executor's calls. Calls with a common time budget share a clock."""

    def __init__(self) -> None:
        self._shared: dict[int, Clock] = {}
        #: number of a budget -> seconds used outside this executor, as stated in the newest order with this budget
        self._spent_s: dict[int, float] = {}

    def update(self, orders: Iterable[Order]) -> None:
        """Add to the clocks of time budgets the seconds that other executors have used, according to `orders`."""
        for allowance in (order.allowance for order in orders):
            number = allowance.budget
            if number is None:
                continue
            clock = self._shared.setdefault(number, Clock(allowance.total_s, allowance.meaning))
            clock.spend(allowance.spent_s - self._spent_s.get(number, 0.0))
            self._spent_s[number] = allowance.spent_s

    def of(self, order: Order) -> Clock:
        """Return the clock of a call's time budget; for a call without a time budget, return a new clock."""
        allowance = order.allowance
        if allowance.budget is None:
            return Clock(allowance.total_s, allowance.meaning)
        return self._shared[allowance.budget]
