"""What a run prints where there is no terminal."""

import io
from collections import Counter

import pytest
from rich.console import Console

from harness.api.tally import machines_line
from harness.cli import run_progress
from harness.cli.run_progress import RunProgress
from harness.cli.terminal import Terminal
from harness.codabench.ingestion import OutOfTimeError
from harness.execution.plan import plan_calls
from harness.execution.run import CallSummary, Plan
from tests.execution.planned_things import NOWHERE_TO_RUN, SETTINGS, make_submission, make_task


def test_a_line_a_minute_says_how_much_is_done_and_left(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([0, 30, 70, 100, 140])  # at the start, and at each call
    monkeypatch.setattr(run_progress.time, "monotonic", lambda: next(seconds))
    calls = plan_calls([make_submission()], [make_task(12)], SETTINGS, NOWHERE_TO_RUN)
    console = Console(file=io.StringIO(), width=120)
    progress = RunProgress(calls, console)
    for call in calls[:4]:
        progress.seen(CallSummary(call, "OK", 1.0))
    assert console.file.getvalue().splitlines() == [  # type: ignore[attr-defined]
        "2 of 12 calls done, about 6 min left",
        "4 of 12 calls done, about 5 min left",
    ]


def test_the_line_says_what_each_machine_of_a_cluster_has_done(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([0, 0, 0, 70])
    monkeypatch.setattr(run_progress.time, "monotonic", lambda: next(seconds))
    calls = plan_calls([make_submission()], [make_task(12)], SETTINGS, NOWHERE_TO_RUN)
    console = Console(file=io.StringIO(), width=120)
    progress = RunProgress(calls, console)
    for call, machine in zip(calls, ("b", "a", "b"), strict=False):
        progress.seen(CallSummary(call, "OK", 1.0, machine=machine))
    assert console.file.getvalue() == "3 of 12 calls done, about 4 min left (a 1, b 2)\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("calls_each", "line"),
    [([3, 1], "m0 3, m1 1"), ([2] * 8 + [7], "9 machines, 2 to 7 calls each"), ([], "")],
)
def test_few_machines_are_named_and_many_counted(calls_each: list[int], line: str) -> None:
    counts = Counter({f"m{number}": calls for number, calls in enumerate(calls_each)})
    assert machines_line(counts) == line


@pytest.mark.parametrize(
    ("error", "recorded", "told"),
    [
        (ZeroDivisionError, 3, ["At least 3 of 8 calls are recorded; the same command resumes the run."]),
        (KeyboardInterrupt, 3, ["At least 3 of 8 calls are recorded; the same command resumes the run."]),
        (ZeroDivisionError, 0, []),
        (OutOfTimeError, 3, []),  # of a container, which nobody calls again
    ],
)
def test_whoever_may_go_on_is_told_what_is_recorded(error: type[BaseException], recorded: int, told: list[str]) -> None:
    console = Console(file=io.StringIO(), width=120)
    terminal = Terminal(console)
    terminal.started(Plan((), ()), "results.db")
    try:
        raise error
    except error:
        terminal.finished(recorded, 8)
    assert console.file.getvalue().splitlines() == told  # type: ignore[attr-defined]
