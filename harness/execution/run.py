"""One run: plan, leave out what is already recorded, execute the rest, record each call as it ends."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from harness.errors import UserError
from harness.execution.budget import TimeBudget
from harness.execution.machine import Lanes, describe_machine
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.pool import Done, Pool
from harness.execution.settings import Settings
from harness.execution.starters import Starters
from harness.execution.withhold import WITHHELD
from harness.records import Evaluation, Records, Request
from harness.sandbox.clock import Clock
from harness.sandbox.outcome import Outcome
from harness.sandbox.result import CallResult
from harness.sandbox.staging import Staging
from harness.submission import Submission
from harness.task.task import Task

#: Seconds between two looks at what another run has recorded meanwhile.
LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a run must know of a call that is over; the record itself is in the database."""

    planned: PlannedCall
    outcome: str
    call_wall_s: float
    message: str = ""  #: why it failed, if this run made it


@dataclass(frozen=True)
class Plan:
    """What is to be done, and what earlier runs did of it."""

    calls: tuple[PlannedCall, ...]
    recorded: tuple[Recorded, ...]
    forced: bool = False  #: whether calls are made whoever else has made them, or is making them

    @property
    def missing(self) -> list[PlannedCall]:
        """The calls that have no record yet."""
        done = {row.planned.key for row in self.recorded}
        return [call for call in self.calls if call.key not in done]


def make_plan(
    submissions: Sequence[Submission],
    tasks: Sequence[Task],
    settings: Settings,
    records: Records,
    *,
    force: bool,
) -> Plan:
    """Plan a run. `INFRA_ERROR` says nothing about a submission, so such a call counts as missing."""
    calls = plan_calls(submissions, tasks, settings)
    return Plan(tuple(calls), () if force else tuple(_recorded(calls, records)), force)


def requests_of(calls: Sequence[PlannedCall]) -> list[Request]:
    """Return what a run with these calls was asked for: a row per submission and task."""
    now = datetime.now(UTC)
    distinct = {(call.submission.name, call.task.name): call for call in calls}
    return [
        Request(
            submission=call.submission.name,
            submission_digest=call.submission.digest,
            source=call.submission.source,
            task=call.task.name,
            configuration=call.configuration.id,
            requested_at=now,
        )
        for call in distinct.values()
    ]


def _recorded(calls: Iterable[PlannedCall], records: Records) -> list[Recorded]:
    """Those of the calls that have a record, whichever run made them."""
    planned = {call.key: call for call in calls}
    ended = (Recorded(planned[row.key], row.outcome, row.call_wall_s) for row in records.ended(planned))
    return [row for row in ended if row.outcome != Outcome.INFRA_ERROR]


def execute(
    plan: Plan, settings: Settings, lanes: Lanes, records: Records, warn: Callable[[str], None]
) -> Iterator[Recorded]:
    """Make the missing calls; yields each, as it ends, once it is recorded. Closing the iterator kills the rest.

    Calls that another run is making are left to it and waited for; those that it does not make are made here.
    `warn` is told of that, and of what does not work here as fast as it could.
    Raises `UserError` if a sandbox outlives its kill: the machine is not to be trusted with more.
    """
    machine = describe_machine() | {"threads": str(lanes.threads)}
    done, told = {row.planned.key: row for row in plan.recorded}, False
    with Staging() as staging, Starters(settings, warn) as starters, records.claims() as claims:
        while missing := [call for call in plan.calls if call.key not in done]:
            mine = {call.key for call in missing} if plan.forced else claims.take([call.key for call in missing])
            # Also what was recorded between the plan and the claim.
            for row in () if plan.forced else _recorded(missing, records):
                done[row.planned.key] = row
                yield row
            chosen = [call for call in missing if call.key in mine and call.key not in done]
            if not chosen:
                if not told and (others := sum(call.key not in done for call in missing)):
                    warn(f"another run is making {others} of these calls; waiting for it")
                    told = True
                time.sleep(LOOK_S)
                continue
            clocks = Clocks(plan.calls, done.values(), settings)
            with Pool(lanes, settings.limits, staging, starters, clocks.clock) as pool:
                for over in pool.run(chosen):
                    evaluation = to_evaluation(over, settings, starters.sandbox, machine)
                    records.add(evaluation)
                    row = Recorded(over.planned, evaluation.outcome, evaluation.call_wall_s, evaluation.message)
                    done[over.planned.key] = row
                    yield row
                    _require_gone(over)


def _require_gone(done: Done) -> None:
    if done.result.survived_kill:
        raise UserError(
            "a sandbox did not end when it was killed; the run was stopped",
            remedy="look for processes stuck in a driver (state D), then run the same command again",
        )


class Clocks:
    """Hands every call its clock: one of its own, or the one that its submission has for the task."""

    def __init__(self, calls: Iterable[PlannedCall], recorded: Iterable[Recorded], settings: Settings) -> None:
        self._settings = settings
        self._shared: dict[tuple[str, str, str], Clock] = {}
        self._lock = threading.Lock()
        self._models = Counter(_share(call) for call in calls)
        self._used: defaultdict[tuple[str, str, str], float] = defaultdict(float)
        for row in recorded:
            self._used[_share(row.planned)] += row.call_wall_s

    def clock(self, call: PlannedCall) -> Clock:
        """Return the clock that bounds `call`."""
        limit = self._settings.time_limit_s
        if self._settings.time_budget is TimeBudget.EACH:
            return Clock(limit, f"the time limit of {limit:g} s")
        key = _share(call)
        with self._lock:
            if key not in self._shared:
                number = self._models[key]
                meaning = (
                    f"the task's time budget of {limit * number:g} s ({number} models, {limit:g} s each on average)"
                )
                self._shared[key] = Clock(limit * number, meaning, self._used[key])
            return self._shared[key]


def _environment(planned: PlannedCall, result: CallResult) -> dict[str, str]:
    """What the worker said of its libraries, and whether the submission was given names of 2020."""
    given = {"names_of": "2020"} if planned.is_of_2020 and result.environment else {}
    return result.environment | given


def _share(call: PlannedCall) -> tuple[str, str, str]:
    """What the calls have in common that share a clock."""
    return call.submission.name, call.submission.digest, call.task.name


def to_evaluation(done: Done, settings: Settings, sandbox: str, machine: dict[str, str]) -> Evaluation:
    """Return the record of a call; of a withheld one without any text that the submission had a part in."""
    planned, result = done.planned, done.result
    withheld = settings.withhold.covers(planned.task.hidden)
    return Evaluation(
        key=planned.key,
        submission=planned.submission.name,
        submission_digest=planned.submission.digest,
        is_baseline=planned.submission.is_baseline,
        task=planned.task.name,
        model=planned.model.id,
        model_digest=planned.model.digest,
        data_digest=planned.task.data.digest,
        outcome=str(result.outcome),
        value=result.value,
        message=WITHHELD if withheld else result.message,
        startup_wall_s=result.startup_wall_s,
        load_wall_s=result.load_wall_s,
        load_cpu_s=result.load_cpu_s,
        call_wall_s=result.call_wall_s,
        call_cpu_s=result.call_cpu_s,
        peak_memory_bytes=result.peak_memory_bytes,
        configuration=planned.configuration.id,
        run_seed=planned.configuration.run_seed,
        time_limit_s=planned.configuration.time_limit_s,
        time_budget=planned.configuration.time_budget,
        memory_limit_bytes=planned.configuration.memory_limit_bytes,
        seed=planned.seed,
        keras=planned.keras,
        sandbox=sandbox,
        versions=planned.configuration.versions,
        harness_version=planned.configuration.harness_version,
        environment=machine | _environment(planned, result),
        output_tail="" if withheld else result.output_tail,
        started_at=done.started_at,
        finished_at=datetime.now(UTC),
    )
