"""One run: plans calls, skips those with a record, executes the rest, records each call as it ends."""

import time
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from harness.errors import UserError
from harness.execution.evaluation import to_evaluation
from harness.execution.executor import Done, Executor
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.settings import RunSettings
from harness.execution.unused_gpu import unused_gpu
from harness.outcome import Outcome
from harness.records import Claims, Records, Request
from harness.submission import Submission
from harness.task.task import Task
from harness.worker.runtimes import RUNTIMES

#: Seconds between two checks for calls that another run has recorded.
POLL_S = 1.0

#: Share of its time below which a call that exceeded its limit had too little of a processor, or waited by itself.
STARVED = 0.5


@dataclass(frozen=True, slots=True)
class Recorded:
    """The summary of a finished call that a run needs; the record itself is in the database."""

    planned: PlannedCall
    outcome: str
    call_wall_s: float
    call_cpu_s: float = 0.0
    message: str = ""  #: reason of a failure, if this run made the call

    @property
    def is_starved(self) -> bool:
        """Whether the call exceeded its time with less than half of a processor, or found its budget used up."""
        return self.outcome == Outcome.TIMEOUT and self.call_cpu_s <= STARVED * self.call_wall_s


@dataclass(frozen=True)
class Plan:
    """The calls of a run, and those of them that already have a record."""

    calls: tuple[PlannedCall, ...]
    recorded: tuple[Recorded, ...]
    forced: bool = False  #: whether to make calls even if another run has made them or is making them
    retry_timeouts: bool = False  #: whether records of starved calls count as missing

    @property
    def missing(self) -> list[PlannedCall]:
        """The calls that have no record yet."""
        done = {row.planned.key for row in self.recorded}
        return [call for call in self.calls if call.key not in done]


def make_plan(
    submissions: Sequence[Submission],
    tasks: Sequence[Task],
    settings: RunSettings,
    executor: Executor,
    records: Records,
    *,
    force: bool,
    retry_timeouts: bool = False,
    repeats: int = 0,
    left_out: Collection[tuple[str, str]] = (),
) -> Plan:
    """Plan a run; a call that ended in `INFRA_ERROR`, which says nothing about a submission, counts as missing.

    With `retry_timeouts`, so does a call that `is_starved`. `repeats` is the number of repetitions of some of the calls
    (`harness.execution.repeated_models`). `left_out` is as in `plan_calls`.
    """
    calls = plan_calls(submissions, tasks, settings, executor, repeats, left_out)
    recorded = () if force else tuple(_recorded(calls, records, retry_timeouts))
    return Plan(tuple(calls), recorded, force, retry_timeouts)


def requests_of(calls: Sequence[PlannedCall]) -> list[Request]:
    """Return the requests behind these calls, one per submission and task."""
    now = datetime.now(UTC)
    distinct = {(call.submission.name, call.task.name): call for call in calls}
    return [
        Request(
            submission=call.submission.name,
            submission_digest=call.submission.digest,
            source=call.submission.source,
            is_baseline=call.submission.is_baseline,
            task=call.task.name,
            configuration=call.configuration.id,
            settings=call.configuration.to_json(),
            deterministic=call.submission.metadata.deterministic,
            **asdict(call.submission.metadata.about),
            requested_at=now,
        )
        for call in distinct.values()
    ]


def _recorded(calls: Iterable[PlannedCall], records: Records, retry_timeouts: bool) -> list[Recorded]:
    """Return the calls that have a record that counts, made by any run, and deduct their seconds from the budgets."""
    planned = {call.key: call for call in calls}
    ended = (Recorded(planned[row.key], row.outcome, row.call_wall_s, row.call_cpu_s) for row in records.ended(planned))
    rows = [row for row in ended if row.outcome != Outcome.INFRA_ERROR and not (retry_timeouts and row.is_starved)]
    for row in rows:
        row.planned.budget.spend(row.call_wall_s)
    return rows


def execute(
    plan: Plan, executor: Executor, records: Records, warn: Callable[[str], None], step: Callable[[str], None]
) -> Generator[Recorded]:
    """Make the missing calls; yields each once it has ended and is recorded. Closing the iterator kills the rest.

    Calls that another run is making are waited for, with a message to `warn`; those that it leaves are made here.
    `warn` also receives a warning for each runtime whose calls do not use the GPU that they are given, and `step` what
    is done until the first call ends.
    Raises `UserError` if a sandbox survives its kill, because the machine can then no longer be trusted.
    """
    done, warned = {row.planned.key for row in plan.recorded}, set[str]()
    with records.claims() as claims:
        while missing := [call for call in plan.calls if call.key not in done]:
            mine = {call.key for call in missing} if plan.forced else claims.take([call.key for call in missing])
            # Includes calls recorded between the plan and the claim.
            for row in () if plan.forced else _recorded(missing, records, plan.retry_timeouts):
                done.add(row.planned.key)
                yield row
            chosen = [call for call in missing if call.key in mine and call.key not in done]
            if not chosen:
                if "another run" not in warned and (others := sum(call.key not in done for call in missing)):
                    warn(f"another run is making {others} of these calls; waiting for it")
                    warned.add("another run")
                time.sleep(POLL_S)
                continue
            step(f"preparing the sandbox, which imports {_frameworks(chosen)}")
            executor.prepare(chosen)
            step(f"making {len(chosen)} call{'s' if len(chosen) > 1 else ''}")
            with closing(executor.run(chosen)) as ended:
                for over in ended:
                    made = _record(over, records, None if plan.forced else claims)
                    if made is None:
                        warn("another run took over a call that this one had claimed; the other's record counts")
                        _require_gone(over)
                        continue
                    done.add(over.planned.key)
                    if (problem := unused_gpu(over)) is not None and problem not in warned:
                        warn(problem)
                        warned.add(problem)
                    yield made
                    _require_gone(over)


def _frameworks(calls: Iterable[PlannedCall]) -> str:
    return " and ".join(sorted({RUNTIMES[call.runtime].framework for call in calls}))


def _record(done: Done, records: Records, claims: Claims | None) -> Recorded | None:
    """Record a call; returns None if this run has lost its claim on it, and gives its time back to the budget."""
    evaluation = to_evaluation(done)
    if claims is None:
        records.add(evaluation)
    elif not claims.record(evaluation):
        done.planned.budget.spend(-evaluation.call_wall_s)
        return None
    return Recorded(done.planned, evaluation.outcome, evaluation.call_wall_s, evaluation.call_cpu_s, evaluation.message)


def _require_gone(done: Done) -> None:
    if done.result.survived_kill:
        raise UserError(
            "a sandbox did not end when it was killed; the run was stopped",
            remedy="look for processes stuck in a driver (state D), then run the same command again",
        )
