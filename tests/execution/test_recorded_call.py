"""The record of a call: its inputs, its limits, and its result."""

from dataclasses import asdict, replace
from datetime import UTC, datetime

from planned_things import NOWHERE_TO_RUN, SETTINGS, make_submission, make_task

import harness
from harness.execution.budget import TimeBudget
from harness.execution.evaluation import to_evaluation
from harness.execution.order import FinishedCall
from harness.execution.plan import plan_calls
from harness.execution.settings import loader_digest
from harness.outcome import CallResult, Outcome
from harness.sandbox.job import GIB


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
    finished = found.pop("finished_at")
    assert started <= finished <= datetime.now(UTC)
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
