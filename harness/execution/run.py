"""The plan of a run: its calls, the existing records of its calls, and the requests that the run records."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from harness.execution.plan import PlannedCall
from harness.outcome import Outcome
from harness.records import Records, Request

#: Ratio of processor time to wall time. A timeout with a smaller ratio may be due to a busy machine.
STARVED = 0.5


@dataclass(frozen=True, slots=True)
class CallSummary:
    """The fields of a call's record that a run needs."""

    call: PlannedCall
    outcome: str
    call_wall_s: float
    call_cpu_s: float = 0.0
    message: str = ""  #: reason of a failure; empty if another run made the call

    @property
    def is_starved(self) -> bool:
        """Whether the call timed out with little processor time, or because its budget was used up by other calls."""
        is_measured = self.call_cpu_s > 0 or self.call_wall_s == 0  # false for containers on another machine
        return self.outcome == Outcome.TIMEOUT and is_measured and self.call_cpu_s <= STARVED * self.call_wall_s


@dataclass(frozen=True)
class Plan:
    """The calls of a run, and summaries of the existing records."""

    calls: tuple[PlannedCall, ...]
    recorded: tuple[CallSummary, ...]
    forced: bool = False  #: whether to ignore records and claims of other runs
    retry_timeouts: bool = False  #: whether timeouts with little processor time are tried again

    @property
    def missing(self) -> list[PlannedCall]:
        """The calls that have to be made: those without a summary in `recorded`."""
        done = {row.call.key for row in self.recorded}
        return [call for call in self.calls if call.key not in done]


def make_plan(
    calls: Sequence[PlannedCall], records: Records, *, force: bool = False, retry_timeouts: bool = False
) -> Plan:
    """Return the plan of a run that makes these calls.

    Calls with a record are not made again, except after `INFRA_ERROR`, which says nothing about a submission. With
    `retry_timeouts`, calls that timed out with little processor time are made again, too. `force` makes all calls
    again.
    """
    rows = () if force else tuple(recorded(calls, records, retry_timeouts))
    return Plan(tuple(calls), rows, force, retry_timeouts)


def requests_of(calls: Sequence[PlannedCall]) -> list[Request]:
    """Return the requests to record for these calls: a request for each pair of submission and task."""
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
    """Return summaries of recorded calls that are not made again; subtract each call's seconds from its budget."""
    planned = {call.key: call for call in calls}
    ended = (
        CallSummary(planned[row.key], row.outcome, row.call_wall_s, row.call_cpu_s) for row in records.ended(planned)
    )
    rows = [row for row in ended if row.outcome != Outcome.INFRA_ERROR and not (retry_timeouts and row.is_starved)]
    for row in rows:
        row.call.budget.spend(row.call_wall_s)
    return rows
