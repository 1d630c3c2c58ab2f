"""Neither records nor progress of calls on hidden tasks keep output of a submission."""

import io
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from planned_things import NOWHERE_TO_RUN, SETTINGS, make_submission, make_task
from rich.console import Console

from harness.cli.run_progress import RunProgress
from harness.execution.evaluation import to_evaluation
from harness.execution.order import FinishedCall
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.run import CallSummary
from harness.outcome import CallResult, Outcome
from harness.records import Evaluation
from harness.task.hidden import Withhold

SECRET = "layer 0 holds 0.7071"


@pytest.mark.parametrize(
    ("withhold", "hidden", "covered"),
    [
        (Withhold.AUTO, True, True),
        (Withhold.AUTO, False, False),
        (Withhold.ALWAYS, False, True),
        (Withhold.NEVER, True, False),
    ],
)
def test_which_tasks_are_withheld(withhold: Withhold, hidden: bool, covered: bool) -> None:
    assert withhold.covers(hidden) is covered


def record(outcome: Outcome, *, hidden: bool, withhold: Withhold = Withhold.AUTO) -> tuple[PlannedCall, Evaluation]:
    task = replace(make_task(1), hidden=hidden)
    settings = replace(SETTINGS, withhold=withhold)
    (planned,) = plan_calls([make_submission()], [task], settings, NOWHERE_TO_RUN)
    value = 0.7071 if outcome is Outcome.OK else None
    result = CallResult(outcome, value, SECRET, call_wall_s=4.0, peak_memory_bytes=6, output_tail=SECRET)
    return planned, to_evaluation(FinishedCall(planned, result, datetime.now(UTC), {}, "bubblewrap/fast"))


@pytest.mark.parametrize("outcome", Outcome)
def test_a_record_has_the_outcome_and_what_scoring_needs_but_no_text(outcome: Outcome) -> None:
    _, row = record(outcome, hidden=True)
    assert (row.outcome, row.message, row.output_tail) == (outcome, "withheld", "")
    assert (row.value, row.call_wall_s, row.peak_memory_bytes) == (0.7071 if outcome is Outcome.OK else None, 4.0, 6)
    assert SECRET not in repr(row)


@pytest.mark.parametrize(("hidden", "withhold"), [(False, Withhold.AUTO), (True, Withhold.NEVER)])
def test_other_records_have_everything(hidden: bool, withhold: Withhold) -> None:
    _, row = record(Outcome.EXCEPTION, hidden=hidden, withhold=withhold)
    assert (row.message, row.output_tail) == (SECRET, SECRET)


def test_withholding_does_not_make_it_another_call() -> None:
    """Otherwise everything would run again for the organiser's own look."""
    keys = {record(Outcome.OK, hidden=True, withhold=withhold)[0].key for withhold in Withhold}
    assert len(keys) == 1


def shown(withheld: list[str]) -> str:
    """Return the progress output of a run with one failed call."""
    call, row = record(Outcome.EXCEPTION, hidden=False)
    console = Console(file=io.StringIO(), width=200)
    with RunProgress([call], console, withheld) as progress:
        progress.seen(CallSummary(call, row.outcome, row.call_wall_s, row.call_cpu_s, row.message))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_failures_on_withheld_tasks_are_only_counted() -> None:
    assert shown([]).splitlines() == [f"margin on toy/model_0: EXCEPTION: {SECRET}", "margin: 1 calls done, 1 failed"]
    assert shown(["toy"]).splitlines() == ["margin: 1 calls done, 1 failed"]
