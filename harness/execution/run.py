"""The plan of a run: its calls, the calls that have a record already, and the requests behind them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from harness.execution.executor import Executor
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.settings import RunSettings
from harness.outcome import Outcome
from harness.records import Records, Request
from harness.submission import Submission
from harness.task.task import Task

#: Share of processor time in a call's wall time below which a timeout may be due to a busy machine, or to waiting.
STARVED = 0.5


@dataclass(frozen=True, slots=True)
class CallSummary:
    """The summary of a finished call that a run needs; the record itself is in the database."""

    call: PlannedCall
    outcome: str
    call_wall_s: float
    call_cpu_s: float = 0.0
    message: str = ""  #: reason of a failure, if this run made the call
    machine: str = ""  #: machine of a cluster on which this run made the call

    @property
    def is_starved(self) -> bool:
        """Whether the call exceeded its time with less than half of a processor, or found its budget used up."""
        is_measured = self.call_cpu_s > 0 or self.call_wall_s == 0  # a container elsewhere is not
        return self.outcome == Outcome.TIMEOUT and is_measured and self.call_cpu_s <= STARVED * self.call_wall_s


@dataclass(frozen=True)
class Plan:
    """The calls of a run, and the calls that already have a record."""

    calls: tuple[PlannedCall, ...]
    recorded: tuple[CallSummary, ...]
    forced: bool = False  #: whether to make calls even if another run has made them or is making them
    retry_timeouts: bool = False  #: whether records of starved calls count as missing

    @property
    def missing(self) -> list[PlannedCall]:
        """The calls that have no record yet."""
        done = {row.call.key for row in self.recorded}
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

    With `retry_timeouts`, a call that `is_starved` counts as missing, too. `repeats` is the number of repetitions of
    some of the calls
    (`harness.execution.repeated_models`). `left_out` is as in `plan_calls`.
    """
    calls = plan_calls(submissions, tasks, settings, executor, repeats, left_out)
    rows = () if force else tuple(recorded(calls, records, retry_timeouts))
    return Plan(tuple(calls), rows, force, retry_timeouts)


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


def recorded(calls: Iterable[PlannedCall], records: Records, retry_timeouts: bool) -> list[CallSummary]:
    """Return the calls with a record that counts, made by any run, and deduct their seconds from the budgets."""
    planned = {call.key: call for call in calls}
    ended = (
        CallSummary(planned[row.key], row.outcome, row.call_wall_s, row.call_cpu_s) for row in records.ended(planned)
    )
    rows = [row for row in ended if row.outcome != Outcome.INFRA_ERROR and not (retry_timeouts and row.is_starved)]
    for row in rows:
        row.call.budget.spend(row.call_wall_s)
    return rows
