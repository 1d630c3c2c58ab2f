"""Makes calls on parts of the training data, if a call on all data would delay the verdict of `pgdl check`."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from harness.execution.budget import TimeBudget
from harness.execution.dispatch import make
from harness.execution.executor import Executor
from harness.execution.order import FinishedCall
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.settings import RunSettings
from harness.outcome import Outcome
from harness.submission import Submission
from harness.task.selection import PartOfData, select_examples
from harness.task.task import Task

#: Time limit in seconds of the call on the first part. If the call ends in time, a verdict is possible.
FIRST_S = 40.0

#: Time limit in seconds of a call on a larger part; a call that is expected to take longer is not made.
PART_S = 12.0

#: Seconds after which no call on a larger part starts.
BEGIN_S = 30.0

#: Training examples of the first part, and the growth factor from part to part.
FIRST, GROWTH = 32, 4

#: If a call on fewer examples fails, their small number may be the reason, so a larger part is tried.
SMALL = 512

#: Outcomes on a part after which a call on all data may still succeed: the part may be too small, the time too short.
OPEN = frozenset({Outcome.TIMEOUT, Outcome.EXCEPTION, Outcome.BAD_VALUE, Outcome.CRASH})

#: Name of a task, and ID of a model.
Place = tuple[str, str]


class CallOnPart(NamedTuple):
    """A call on a part of the training data."""

    n_examples: int
    done: FinishedCall[PlannedCall]

    @property
    def ended_well(self) -> bool:
        """Whether the call returned a finite number."""
        return self.done.result.outcome is Outcome.OK


@dataclass(frozen=True)
class CallsOnParts:
    """Calls on growing parts of the data, in place of a call on all data."""

    parts: tuple[CallOnPart, ...]
    n_all: int  #: number of all training examples
    stopped_s: float = 0.0  #: seconds after which the call on all data was stopped; 0 if there was no such call

    @property
    def last(self) -> CallOnPart:
        """The last call that returned a finite number; if no call did, the last call."""
        return next((part for part in reversed(self.parts) if part.ended_well), self.parts[-1])

    @property
    def is_unknown(self) -> bool:
        """Whether the outcome of a call on all data remains unknown."""
        return self.last.done.result.outcome in OPEN

    @property
    def seconds(self) -> tuple[float, float]:
        """Estimated seconds of a call on all data: a lower bound, and an extrapolation."""
        *before, last = self.parts[: self.parts.index(self.last) + 1]
        wall = last.done.result.call_wall_s
        per_example = wall / last.n_examples
        if before:
            more = wall - before[-1].done.result.call_wall_s
            per_example = max(more, 0.0) / (last.n_examples - before[-1].n_examples)
        least = max(self.stopped_s, wall)
        return least, max(wall + per_example * (self.n_all - last.n_examples), least)


def place_of(call: PlannedCall) -> Place:
    """Return the name of the task and the ID of the model of a call."""
    return call.task.name, call.model.id


def call_on_parts(
    submission: Submission, calls: Sequence[PlannedCall], stopped: Mapping[Place, float], settings: RunSettings,
    executor: Executor,
) -> tuple[dict[Place, CallsOnParts], FinishedCall[PlannedCall]]:  # fmt: skip
    """Call a submission on growing parts of the data. Return the calls on each model, and the repetition of a call.

    These calls replace `calls`, which are on all data. `stopped` has the seconds after which some of `calls` were
    stopped. The first successful call is repeated, to compare the values. If the first call on a part does not end in
    time, no further call is made.
    """
    tasks = {call.task.name: call.task for call in calls}
    found: dict[Place, list[CallOnPart]] = {place_of(call): [] for call in calls}
    growing, n_examples, again, begun = list(found), FIRST, None, time.monotonic()
    while growing and (again is None or time.monotonic() < begun + BEGIN_S):
        repeats_first = again is None or again.result.outcome is not Outcome.OK
        limit_s = min(PART_S if again else FIRST_S, settings.time_limit_s)
        quick = replace(settings, time_limit_s=limit_s, time_budget=TimeBudget.EACH)
        of_part = {name: select_examples(task, min(n_examples, task.data.n_samples)) for name, task in tasks.items()}
        calls_on_parts = plan_calls([submission], list(of_part.values()), quick, executor)
        at_place = {place_of(call): call for call in calls_on_parts}
        first, *others = [at_place[place] for place in growing]
        for batch in ([first, first], others) if repeats_first else ([first, *others],):
            for finished in make(executor, batch):
                done, place = _with_part_named(finished), place_of(finished.call)
                if found[place] and found[place][-1].n_examples == n_examples:
                    again = done
                else:
                    found[place].append(CallOnPart(n_examples, done))
            if again is not None and again.result.outcome is Outcome.TIMEOUT:
                growing = []
                break
        growing = [place for place in growing if _may_grow(found[place][-1], tasks[place[0]])]
        n_examples *= GROWTH
    assert again is not None
    return {
        place: CallsOnParts(tuple(parts), tasks[place[0]].data.n_samples, stopped.get(place, 0.0))
        for place, parts in found.items() if parts
    }, again  # fmt: skip


def _with_part_named(done: FinishedCall[PlannedCall]) -> FinishedCall[PlannedCall]:
    """If a call failed, name the part of the data in its message."""
    data, result = done.call.task.data, done.result
    if result.outcome is Outcome.OK or not isinstance(data, PartOfData):
        return done
    where = f"on {data.n_samples:,} of {data.whole.n_samples:,} training examples"
    message = f"{result.message} ({where})"
    if result.outcome is Outcome.TIMEOUT:
        at = f", at {result.place}" if result.place else ""
        message = f"still running after {result.call_wall_s:.0f} s {where}{at}"
    return replace(done, result=replace(result, message=message))


def _may_grow(part: CallOnPart, task: Task) -> bool:
    """Return whether a call on the next part is likely to end well and in time."""
    outcome, is_small = part.done.result.outcome, part.n_examples < SMALL
    is_hopeful = outcome is Outcome.OK or (is_small and outcome is not Outcome.TIMEOUT)
    is_short = GROWTH * part.done.result.call_wall_s <= PART_S
    return is_hopeful and is_short and GROWTH * part.n_examples <= task.data.n_samples
