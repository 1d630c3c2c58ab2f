"""The batches of calls that wait for a machine, and the choice of a batch for each machine."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.execution.batches import Batch
from harness.execution.cluster.member import ClusterMember
from harness.execution.order import Order

#: A batch is divided if it is expected to take more than this number of seconds: a lost machine loses its whole batch.
BATCH_S = 10.0

#: Expected seconds of a call if no call of the submission has ended yet.
UNKNOWN_S = 1.0

#: Number of batches at the head of the queue from which a machine's next batch is chosen by the inputs that it has.
CHOICE = 64

#: Rank of a batch if the machine has its data and model.
BEST_RANK = 3


class Queue:
    """Batches of calls that wait for a machine. All calls with a common time budget go to the same machine."""

    def __init__(self) -> None:
        self._waiting: deque[Batch] = deque()
        self._seconds: dict[str, float] = {}  #: digest of a submission -> seconds of its last call
        self._owner: dict[int, ClusterMember] = {}  #: number of a budget -> the machine with its clock
        #: number of a budget -> seconds used outside the executor, as stated in the newest order with this budget
        self._spent_s: dict[int, float] = {}
        self._elsewhere_s: dict[int, float] = {}  #: number of a budget -> seconds used on lost machines

    def add(self, batches: Iterable[Batch]) -> None:
        """Queue batches. Divide a batch that may take longer than `BATCH_S` seconds."""
        for batch in batches:
            for allowance in (order.allowance for order in batch):
                if allowance.budget is not None:
                    self._spent_s[allowance.budget] = allowance.spent_s
            self._waiting.extend(self._cut(batch))

    def put_back(self, batches: Sequence[Batch], spent_s: dict[int, float], owner: ClusterMember) -> None:
        """Queue the batches of the lost machine `owner` before all others, and free the machine's time budgets.

        `spent_s` is number of a budget -> seconds that the lost machine has used.
        """
        self._waiting.extendleft(reversed(batches))
        for budget, seconds in spent_s.items():
            self._elsewhere_s[budget] = self._elsewhere_s.get(budget, 0.0) + seconds
        self._owner = {budget: member for budget, member in self._owner.items() if member is not owner}

    def note(self, order: Order, seconds: float) -> None:
        """Store the seconds of a finished call as the forecast for further calls of the same submission."""
        self._seconds[order.submission] = seconds

    def take(self, member: ClusterMember) -> Batch | None:
        """Return a batch for a machine, preferably with inputs that it already has; None if no batch suits."""
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
        """Return the order with the newest `spent_s`: the seconds of its time budget that other machines have used."""
        budget = order.allowance.budget
        if budget is None:
            return order
        spent_s = self._spent_s[budget] + self._elsewhere_s.get(budget, 0.0)
        return replace(order, allowance=replace(order.allowance, spent_s=spent_s))

    def wanted(self, members: Sequence[ClusterMember]) -> int:
        """Return how many further batches keep all these machines busy."""
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
        """Return 0 if a batch must go to another machine, otherwise 1 plus the number of inputs that `member` has."""
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
