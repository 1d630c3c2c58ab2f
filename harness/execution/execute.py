"""Makes those calls of a run that have no record, and records each as soon as it ends."""

import time
from collections import deque
from collections.abc import Callable, Generator, Hashable, Sequence

from harness.errors import Warn
from harness.execution.batches import grouped
from harness.execution.dispatch import NEXT_CALL_S, Dispatch
from harness.execution.evaluation import to_evaluation, unused_gpu
from harness.execution.executor import Executor
from harness.execution.order import FinishedCall
from harness.execution.plan import PlannedCall
from harness.execution.run import CallSummary, Plan, recorded
from harness.records import Claims, Records, RecordWriter
from harness.text import counted
from harness.worker.runtimes import RUNTIMES

#: Maximum seconds to wait for a finished call while records of other calls are being written.
WRITING_S = 0.1

#: Seconds between two checks for calls that another run is making.
POLL_S = 1.0

TAKEN_OVER = "another run took over a call that this run had claimed; the record of the other run counts"


def execute(
    plan: Plan, executor: Executor, records: Records, warn: Warn, step: Callable[[str], None]
) -> Generator[CallSummary]:
    """Make the missing calls of a plan, and yield each as soon as it is recorded.

    Several runs can share the work: a run claims calls only when its executor has room. In the end, this run waits for
    calls that other runs have claimed, and makes the calls that they have abandoned. Raise `UserError` if the executor
    can make no further calls.

    `warn` receives a line about such a wait, about each runtime whose calls do not use their GPU, and about each
    interrupted call. `step` receives the steps before the first call ends.
    """
    missing = plan.missing
    if not missing:
        return
    runtimes = {call.runtime for call in missing}
    frameworks = " and ".join(sorted({RUNTIMES[name].framework for name in runtimes}))
    step(f"preparing the sandbox, which imports {frameworks}")
    executor.prepare(runtimes)
    step(f"making {counted(len(missing), 'call')}")
    with Claims(records) as claims:
        mine = None if plan.forced else claims
        with RecordWriter(records, mine) as writer:
            yield from _Execution(plan, executor, records, mine, writer, warn).rows()


class _Execution:
    def __init__(
        self, plan: Plan, executor: Executor, records: Records, claims: Claims | None, writer: RecordWriter, warn: Warn
    ) -> None:
        self._executor, self._records, self._claims, self._writer = executor, records, claims, writer
        self._warn = warn
        self._retry_timeouts = plan.retry_timeouts
        self._dispatch = Dispatch(executor)
        self._waiting: deque[list[PlannedCall]] = deque()  #: lists of calls that are claimed together
        self._ended: dict[str, FinishedCall[PlannedCall]] = {}  #: key -> finished call whose record is being written
        self._elsewhere: list[PlannedCall] = []  #: calls that another run has claimed
        self._is_last = False  #: whether other runs have claimed all remaining calls
        self._warned: set[str] = set()
        self._made_again: set[str] = set()  #: keys of the calls that were interrupted once
        self._queue(plan.missing)

    def rows(self) -> Generator[CallSummary]:
        while True:
            yield from self._feed()
            yield from self._written()
            if not self._dispatch.is_idle:
                done = self._dispatch.next(WRITING_S if self._ended else NEXT_CALL_S)
                if done is not None and not self._makes_again(done):
                    self._ended[done.call.key] = done
                    self._writer.add(to_evaluation(done))
            elif self._ended:
                self._writer.flush()
            elif self._elsewhere:
                self._wait_for_others()
            elif self._waiting:  # the executor has no room, for instance because a cluster has lost all machines
                self._dispatch.next(NEXT_CALL_S)
            else:
                return

    def _queue(self, calls: Sequence[PlannedCall]) -> None:
        self._waiting.extend(grouped(calls, _together))

    def _feed(self) -> Generator[CallSummary]:
        """Claim calls for the executor while it has room. Yield calls that another run has recorded meanwhile."""
        while self._waiting and (wanted := self._executor.wanted):
            window = [call for _ in range(min(wanted, len(self._waiting))) for call in self._waiting.popleft()]
            mine = self._claim(window)
            rows = self._recorded(window)
            known = {row.call.key for row in rows}
            self._dispatch.add([call for call in window if call.key in mine and call.key not in known])
            self._elsewhere += [call for call in window if call.key not in mine and call.key not in known]
            yield from rows
            if self._is_last and not (mine or rows):  # then other runs have claimed all remaining calls
                self._elsewhere += [call for group in self._waiting for call in group]
                self._waiting.clear()

    def _claim(self, calls: Sequence[PlannedCall]) -> set[str]:
        """Claim calls for this run, and return the keys of the claimed calls.

        With --force, claim nothing, and return the keys of all calls.
        """
        keys = [call.key for call in calls]
        return set(keys) if self._claims is None else self._claims.take(keys)

    def _recorded(self, calls: Sequence[PlannedCall]) -> list[CallSummary]:
        """Return the calls that other runs have recorded since the plan was made."""
        if self._claims is None:
            return []
        return self._records.patiently(lambda: recorded(calls, self._records, self._retry_timeouts))

    def _makes_again(self, done: FinishedCall[PlannedCall]) -> bool:
        """If a call was interrupted for the first time, warn and make it again. Return whether it is made again."""
        planned = done.call
        if not done.result.interrupted or planned.key in self._made_again:
            return False
        self._made_again.add(planned.key)
        self._warn(f"{planned.submission.name} on {planned.task.name}: {done.result.message}; the call is made again")
        self._dispatch.add([planned])
        return True

    def _wait_for_others(self) -> None:
        self._warn_once(f"another run is making {len(self._elsewhere)} of these calls; waiting for it", "wait")
        time.sleep(POLL_S)
        self._is_last = True
        left, self._elsewhere = self._elsewhere, []
        self._queue(left)

    def _written(self) -> Generator[CallSummary]:
        """Yield calls whose records have been written. If another run has taken a call over, wait for its record."""
        for row, is_written in self._writer.written():
            done = self._ended.pop(row.key)
            if not is_written:
                self._warn(TAKEN_OVER)
                done.call.budget.spend(-row.call_wall_s)
                self._elsewhere.append(done.call)
                continue
            if (problem := unused_gpu(done)) is not None:
                self._warn_once(problem, problem)
            yield CallSummary(done.call, row.outcome, row.call_wall_s, row.call_cpu_s, row.message)

    def _warn_once(self, line: str, about: str) -> None:
        if about not in self._warned:
            self._warned.add(about)
            self._warn(line)


def _together(call: PlannedCall) -> Hashable | None:
    """Return a key for claims: calls with equal keys are claimed together. None for a call that is claimed alone.

    These are calls that may share a sandbox, and calls with a common time budget, which two runs at once would exceed.
    """
    order = call.order()
    if order.allowance.budget is None:
        return order.sandbox
    # Baselines share a sandbox on each model, and each has a budget for all models.
    return (order.data, order.runtime, order.repeat) if order.is_baseline else order.allowance.budget
