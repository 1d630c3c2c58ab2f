"""Tests of the record of a call: inputs, limits and result, but no output on a hidden task."""

from dataclasses import asdict, replace
from datetime import UTC, datetime

from planned_things import NOWHERE_TO_RUN, SETTINGS, make_submission, make_task

import harness
from harness.execution.budget import TimeBudget
from harness.execution.evaluation import to_evaluation
from harness.execution.order import FinishedCall
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.settings import loader_digest
from harness.outcome import CallResult, Outcome
from harness.records import Evaluation
from harness.sandbox.job import GIB
from harness.task.hidden import Withhold


def test_every_column_has_its_own_source() -> None:
    settings = replace(SETTINGS, seed=5, time_limit_s=7.0, time_budget=TimeBudget.AVERAGE)
    calls = plan_calls([make_submission(runtime="keras2")], [make_task(1)], settings, NOWHERE_TO_RUN, repeats=2)
    planned = next(call for call in calls if call.repeat == 2)
    result = CallResult(
        Outcome.MEMORY, None, "out of memory", 1.0, 2.0, 3.0, 4.0, 5.0, 6, "the tail", {"keras": "2.19.0"}
    )
    started = datetime.now(UTC)
    row = to_evaluation(FinishedCall(planned, result, started, {"kernel": "6.18"}, "bubblewrap/fast"))
    found = asdict(row)
    assert started <= found.pop("finished_at") <= datetime.now(UTC)
    assert found == {
        "id": 0,
        "key": planned.key,
        "submission": "margin",
        "submission_digest": planned.submission.digest,
        "is_baseline": False,
        "task": "toy",
        "model": "model_0",
        "model_digest": planned.model.digest,
        "data_digest": "data",
        "repeat": 2,
        "outcome": "MEMORY",
        "value": None,
        "message": "out of memory",
        "startup_wall_s": 1.0,
        "load_wall_s": 2.0,
        "load_cpu_s": 3.0,
        "call_wall_s": 4.0,
        "call_cpu_s": 5.0,
        "peak_memory_bytes": 6,
        "time_limit_s": 7.0,
        "time_budget": "average",
        "memory_limit_bytes": 4 * GIB,
        "configuration": planned.configuration.id,
        "run_seed": 5,
        "seed": planned.seed,
        "runtime": "keras2",
        "sandbox": "bubblewrap/fast",
        "versions": "runtime keras2",
        "harness_version": harness.__version__,
        "loader": loader_digest("keras2"),
        "environment": {"kernel": "6.18", "keras": "2.19.0", "names_of": "2020"},
        "output_tail": "the tail",
        "started_at": started,
    }


SECRET = "layer 0 holds 0.7071"


def record(outcome: Outcome, *, hidden: bool, withhold: Withhold = Withhold.AUTO) -> tuple[PlannedCall, Evaluation]:
    task = replace(make_task(1), hidden=hidden)
    settings = replace(SETTINGS, withhold=withhold)
    (planned,) = plan_calls([make_submission()], [task], settings, NOWHERE_TO_RUN)
    value = 0.7071 if outcome is Outcome.OK else None
    result = CallResult(outcome, value, SECRET, call_wall_s=4.0, peak_memory_bytes=6, output_tail=SECRET)
    return planned, to_evaluation(FinishedCall(planned, result, datetime.now(UTC), {}, "bubblewrap/fast"))


def test_a_record_of_a_hidden_task_has_the_outcome_and_what_scoring_needs_but_no_text() -> None:
    for outcome in Outcome:
        _, row = record(outcome, hidden=True)
        assert (row.outcome, row.message, row.output_tail) == (outcome, "withheld", "")
        assert row.value == (0.7071 if outcome is Outcome.OK else None)
        assert (row.call_wall_s, row.peak_memory_bytes) == (4.0, 6)
        assert SECRET not in repr(row)


def test_which_records_keep_their_text_and_withholding_does_not_make_it_another_call() -> None:
    """Otherwise an organiser who wants to see hidden outputs would have to repeat all calls."""
    kept, keys = {}, set()
    for withhold in Withhold:
        for hidden in (True, False):
            call, row = record(Outcome.EXCEPTION, hidden=hidden, withhold=withhold)
            kept[withhold, hidden] = row.message, row.output_tail
            keys.add(call.key)
    told = {(Withhold.AUTO, False), (Withhold.NEVER, True), (Withhold.NEVER, False)}
    assert kept == {case: (SECRET, SECRET) if case in told else ("withheld", "") for case in kept}
    assert len(keys) == 1
