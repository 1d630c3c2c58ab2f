"""The trial of `pgdl check`: calls of a submission on a few models, under the limits of the full run.

A call that takes too long is stopped, and replaced by calls on parts of the training data
(`harness.execution.partial_calls`).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from harness.execution.budget import TimeBudget
from harness.execution.dispatch import make
from harness.execution.executor import Executor
from harness.execution.order import FinishedCall
from harness.execution.partial_calls import CallsOnParts, Place, call_on_parts, place_of
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.settings import RunSettings
from harness.outcome import Outcome
from harness.submission import Submission
from harness.task.selection import ModelSelection, select_models, size_of
from harness.task.task import Task

#: Seconds after which a call on all training data is stopped, and after which no further such call starts. The verdict
#: must not take over two minutes.
WHOLE_CALL_S, BEGIN_S = 25.0, 40.0

#: If the first call takes at most this many seconds, all other calls are started at once.
SHORT_S = 1.0

Seen = Callable[[FinishedCall[PlannedCall]], None]


@dataclass(frozen=True)
class Trial:
    """The calls of a full run, and the finished calls that `pgdl check` has made."""

    calls: tuple[PlannedCall, ...]  #: the calls of the full run
    #: the trial's calls, task by task, from the smallest to the largest model; if the first call does not end even on a
    #: part of the training data, only this call
    done: tuple[FinishedCall[PlannedCall], ...]
    #: a second call on the model of `first`, to compare their values
    again: FinishedCall[PlannedCall]
    start_s: float  #: seconds until the executor was ready
    calls_s: float  #: seconds from the readiness of the executor to the end of the last call
    #: (task, model) -> its calls on parts of the training data; the last of them is also in `done`
    partial: Mapping[Place, CallsOnParts] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every call of the trial returned a finite number."""
        return all(done.result.outcome is Outcome.OK for done in (*self.done, self.again))

    @property
    def first(self) -> FinishedCall[PlannedCall]:
        """The call that was made twice; `again` is its repetition."""
        partial = self.partial.get(place_of(self.again.call))
        done = self.done if partial is None else [part.done for part in partial.parts]
        return next(one for one in done if one.call.key == self.again.call.key)

    @property
    def repeatable(self) -> bool:
        """Whether `again` returned the same value as `first`."""
        return self.first.result.value == self.again.result.value


def try_submission(
    submission: Submission,
    tasks: Sequence[Task],
    settings: RunSettings,
    executor: Executor,
    models: ModelSelection,
    patience_s: float | None = None,
    say: Callable[[str], None] = lambda _: None,
    seen: Seen = lambda _: None,
) -> Trial:
    """Call a submission on the chosen `models` of each task, the smallest first. Return the trial.

    If the time limit is longer than `patience_s` seconds, calls are stopped after `patience_s` seconds and replaced by
    calls on parts of the data. `say` receives each step of the trial, `seen` each finished call.
    """
    calls = plan_calls([submission], tasks, settings, executor)
    tried, is_hasty = calls, False
    if patience_s is not None and patience_s < settings.time_limit_s:
        hasty = replace(settings, time_limit_s=patience_s, time_budget=TimeBudget.EACH)
        tried, is_hasty = plan_calls([submission], tasks, hasty, executor), True
    planned = {place_of(call): call for call in tried}
    chosen = [planned[task.name, model.id] for task in tasks for model in select_models(task, models)]
    in_order = sorted(chosen, key=lambda call: size_of(call.model))
    begun = time.monotonic()
    say("preparing the sandbox, which may import the framework once")
    executor.prepare({call.runtime for call in in_order})
    ready = time.monotonic()
    say(f"calling {submission.name} on {len(chosen)} models, the smallest first")
    whole = _WholeCalls(executor, seen, is_hasty)
    if is_hasty:
        whole.add_until(ready + BEGIN_S, in_order)
    else:
        whole.add([in_order[0], *in_order])
    slow = [call for call in in_order if place_of(call) not in whole.ended]
    again, partial = whole.again, dict[Place, CallsOnParts]()
    if slow:
        say(f"{len(slow)} whole calls would take too long for a quick verdict: calling on parts of the data")
        partial, repeated = call_on_parts(submission, slow, whole.stopped, settings, executor)
        again = repeated if in_order[0] in slow else again
        for one in partial.values():
            seen(one.last.done)
    assert again is not None
    ended = whole.ended | {place: one.last.done for place, one in partial.items()}
    done = tuple(ended[place_of(call)] for call in chosen if place_of(call) in ended)
    return Trial(tuple(calls), done, again, ready - begun, time.monotonic() - ready, partial)


class _WholeCalls:
    """The calls of a trial that get all training data, and not only a part."""

    def __init__(self, executor: Executor, seen: Seen, is_hasty: bool) -> None:
        self._executor, self._seen, self._is_hasty = executor, seen, is_hasty
        self.ended: dict[Place, FinishedCall[PlannedCall]] = {}
        self.again: FinishedCall[PlannedCall] | None = None  #: the second call on the first model
        self.stopped: dict[Place, float] = {}  #: place of each stopped call -> seconds after which it was stopped

    def add_until(self, moment: float, calls: Sequence[PlannedCall]) -> None:
        """Make calls, the first twice. No call begins after `moment` (`time.monotonic`).

        After a call is stopped, no further call on its task begins.
        """
        self.add([calls[0], calls[0]])
        if self.stopped:
            return
        first, waiting = self.ended.get(place_of(calls[0])), list(calls[1:])
        is_short = first is not None and first.result.call_wall_s <= SHORT_S
        while waiting and time.monotonic() < moment:
            number = len(waiting) if is_short else self._executor.workers
            chosen, waiting = waiting[:number], waiting[number:]
            slow_tasks = {task for task, _ in self.stopped}
            self.add([call for call in chosen if call.task.name not in slow_tasks])

    def add(self, calls: Sequence[PlannedCall]) -> None:
        with closing(make(self._executor, calls)) as ended:
            for done in ended:
                place = place_of(done.call)
                if self._is_hasty and done.result.outcome is Outcome.TIMEOUT:
                    self.stopped[place] = done.result.call_wall_s
                    self.ended.pop(place, None)  # of the two calls, perhaps only this one was stopped
                elif place in self.ended:
                    self.again = done
                elif place not in self.stopped:
                    self.ended[place] = done
                    self._seen(done)
