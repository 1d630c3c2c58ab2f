"""The batches that wait for machines, and the choice of a batch for each machine."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.execution.batches import Batch
from harness.execution.cluster.member import ClusterMember
from harness.execution.order import Order

#: Expected seconds after which a batch is cut: a batch is lost with its machine.
BATCH_S = 10.0

#: Expected seconds of a submission's first call.
UNKNOWN_S = 1.0

#: Number of batches at the head of the queue among which a machine gets a batch whose inputs it has.
CHOICE = 64

#: Rank of a batch whose data and model a machine has.
BEST_RANK = 3


class Queue:
    """Batches of calls that wait for machines. All calls of a time budget go to the machine where its clock runs."""

    def __init__(self) -> None:
        self._waiting: deque[Batch] = deque()
        self._seconds: dict[str, float] = {}  #: by submission: seconds of its newest call
        self._owner: dict[int, ClusterMember] = {}  #: by budget: the machine with its clock
        self._spent_s: dict[int, float] = {}  #: by budget: seconds outside the executor, according to the newest order
        self._elsewhere_s: dict[int, float] = {}  #: by budget: seconds on lost machines

    def add(self, batches: Iterable[Batch]) -> None:
        """Queue batches of calls, after cutting batches that may take longer than `BATCH_S` seconds."""
        for batch in batches:
            for allowance in (order.allowance for order in batch):
                if allowance.budget is not None:
                    self._spent_s[allowance.budget] = allowance.spent_s
            self._waiting.extend(self._cut(batch))

    def put_back(self, batches: Sequence[Batch], spent_s: dict[int, float], owner: ClusterMember) -> None:
        """Queue the batches of a lost machine before all others, and let other machines take its time budgets."""
        self._waiting.extendleft(reversed(batches))
        for budget, seconds in spent_s.items():
            self._elsewhere_s[budget] = self._elsewhere_s.get(budget, 0.0) + seconds
        self._owner = {budget: member for budget, member in self._owner.items() if member is not owner}

    def note(self, order: Order, seconds: float) -> None:
        """Note the seconds of a finished call, to forecast calls of the same submission."""
        self._seconds[order.submission] = seconds

    def take(self, member: ClusterMember) -> Batch | None:
        """Return the next batch for a machine, preferably with inputs that the machine has; None without a batch."""
        best, best_rank = -1, 0
        for position, batch in enumerate(self._waiting):
            if (position >= CHOICE and best_rank) or best_rank == BEST_RANK:
                break
            rank = self._rank(batch, member)
            if rank > best_rank:
                best, best_rank = position, rank
        if best < 0:
            return None
        batch = self._waiting[best]
        mine = tuple(order for order in batch if self._may_have(member, order))
        if others := tuple(order for order in batch if not self._may_have(member, order)):
            self._waiting[best] = others
        else:
            del self._waiting[best]
        for order in mine:
            if order.allowance.budget is not None:
                self._owner[order.allowance.budget] = member
        return mine

    def current(self, order: Order) -> Order:
        """Return an order with the seconds of its time budget that were spent outside the order's machine."""
        budget = order.allowance.budget
        if budget is None:
            return order
        spent_s = self._spent_s[budget] + self._elsewhere_s.get(budget, 0.0)
        return replace(order, allowance=replace(order.allowance, spent_s=spent_s))

    def wanted(self, members: Sequence[ClusterMember]) -> int:
        """Return how many further batches these machines need, so that no machine is idle."""
        room = {id(member): member.room for member in members}
        if not self._waiting or not self._owner:
            return max(sum(room.values()) - len(self._waiting), 0)
        anywhere = 0
        for batch in self._waiting:
            owners = {id(owner) for order in batch if (owner := self._owner_of(order)) is not None}
            anywhere += not owners
            for owned in owners & room.keys():
                room[owned] -= 1
        return max(sum(max(free, 0) for free in room.values()) - anywhere, 0)

    def _rank(self, batch: Batch, member: ClusterMember) -> int:
        """Return 0 for a batch that must go to another machine, else 1 plus the number of its inputs on `member`."""
        if not any(self._may_have(member, order) for order in batch):
            return 0
        return 1 + (batch[0].data in member.held) + (batch[0].model in member.held)

    def _may_have(self, member: ClusterMember, order: Order) -> bool:
        return self._owner_of(order) in (None, member)

    def _owner_of(self, order: Order) -> ClusterMember | None:
        budget = order.allowance.budget
        return None if budget is None else self._owner.get(budget)

    def _cut(self, batch: Batch) -> Iterable[Batch]:
        part: list[Order] = []
        forecast_s = 0.0
        for order in batch:
            part.append(order)
            forecast_s += self._seconds.get(order.submission, UNKNOWN_S)
            if forecast_s > BATCH_S:
                yield tuple(part)
                part, forecast_s = [], 0.0
        if part:
            yield tuple(part)
