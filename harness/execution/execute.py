"""Makes the missing calls of a run, and records each as it ends."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence

from harness.execution.batches import grouped
from harness.execution.dispatch import PATIENCE_S, Dispatch, Done
from harness.execution.evaluation import to_evaluation
from harness.execution.executor import Executor
from harness.execution.plan import PlannedCall
from harness.execution.run import Plan, Recorded, recorded
from harness.execution.unused_gpu import unused_gpu
from harness.records import Claims, Records
from harness.worker.runtimes import RUNTIMES

#: Seconds between two checks for calls that another run is making.
POLL_S = 1.0

TAKEN_OVER = "another run took over a call that this one had claimed; the other's record counts"


def execute(
    plan: Plan, executor: Executor, records: Records, warn: Callable[[str], None], step: Callable[[str], None]
) -> Generator[Recorded]:
    """Make the missing calls; yields each once it has ended and is recorded.

    Calls are claimed as the executor has room for them, so that several runs share the work. Those that another run is
    making in the end are waited for, with a message to `warn`; those that it leaves are made here. `warn` also receives
    a warning for each runtime whose calls do not use the GPU that they are given, and `step` what is done until the
    first call ends.
    Raises `UserError` if the executor can make no further calls, for instance because a sandbox survived its kill.
    """
    missing = plan.missing
    if not missing:
        return
    step(f"preparing the sandbox, which imports {_frameworks(missing)}")
    executor.prepare({call.runtime for call in missing})
    step(f"making {len(missing)} call{'s' if len(missing) > 1 else ''}")
    with records.claims() as claims:
        yield from _Execution(plan, executor, records, None if plan.forced else claims, warn).rows()


def _frameworks(calls: Iterable[PlannedCall]) -> str:
    return " and ".join(sorted({RUNTIMES[name].framework for name in {call.runtime for call in calls}}))


class _Execution:
    """The calls of one run, from the plan to their records."""

    def __init__(
        self, plan: Plan, executor: Executor, records: Records, claims: Claims | None, warn: Callable[[str], None]
    ) -> None:
        self._executor, self._records, self._claims, self._warn = executor, records, claims, warn
        self._retry_timeouts = plan.retry_timeouts
        self._dispatch = Dispatch(executor)
        self._waiting: deque[list[PlannedCall]] = deque()  #: each for one sandbox
        self._elsewhere: list[PlannedCall] = []  #: another run has claimed them
        self._is_last = False  #: whether only calls are left that another run had claimed
        self._warned: set[str] = set()
        self._queue(plan.missing)

    def rows(self) -> Generator[Recorded]:
        """Make the calls, and yield their records."""
        while True:
            yield from self._feed()
            if not self._dispatch.is_idle:
                done = self._dispatch.next(PATIENCE_S)
                if done is not None:
                    yield from self._record(done)
            elif self._elsewhere:
                self._warn_once(f"another run is making {len(self._elsewhere)} of these calls; waiting for it", "wait")
                time.sleep(POLL_S)
                self._is_last = True
                left, self._elsewhere = self._elsewhere, []
                self._queue(left)
            elif not self._waiting:
                return

    def _queue(self, calls: Sequence[PlannedCall]) -> None:
        self._waiting.extend(grouped(calls, lambda call: call.sandbox))

    def _feed(self) -> Generator[Recorded]:
        """Claim as many calls as the executor has room for; yields those that were recorded meanwhile."""
        while self._waiting and (wanted := self._executor.wanted):
            window = [call for _ in range(min(wanted, len(self._waiting))) for call in self._waiting.popleft()]
            mine = self._claim(window)
            rows = recorded(window, self._records, self._retry_timeouts) if self._claims is not None else []
            known = {row.planned.key for row in rows}
            self._dispatch.add([call for call in window if call.key in mine and call.key not in known])
            self._elsewhere += [call for call in window if call.key not in mine and call.key not in known]
            yield from rows
            if self._is_last and not (mine or rows):  # the rest will be no different
                self._elsewhere += [call for group in self._waiting for call in group]
                self._waiting.clear()

    def _claim(self, calls: Sequence[PlannedCall]) -> set[str]:
        """Return the keys of the calls that belong to this run."""
        keys = [call.key for call in calls]
        return set(keys) if self._claims is None else self._claims.take(keys)

    def _record(self, done: Done) -> Generator[Recorded]:
        """Record a call and yield it, unless this run has lost its claim on it: then its time is given back."""
        evaluation = to_evaluation(done)
        if self._claims is None:
            self._records.add(evaluation)
        elif not self._claims.record(evaluation):
            self._warn(TAKEN_OVER)
            done.planned.budget.spend(-evaluation.call_wall_s)
            self._elsewhere.append(done.planned)
            return
        if (problem := unused_gpu(done)) is not None:
            self._warn_once(problem, problem)
        times = evaluation.call_wall_s, evaluation.call_cpu_s
        machine = evaluation.environment.get("machine", "")
        yield Recorded(done.planned, evaluation.outcome, *times, evaluation.message, machine)

    def _warn_once(self, line: str, about: str) -> None:
        if about not in self._warned:
            self._warned.add(about)
            self._warn(line)
