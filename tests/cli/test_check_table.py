"""The table of `pgdl check` stays whole; what calls printed is below it."""

from datetime import UTC, datetime

import pytest

from harness.cli.check_table import LINES, CallTable
from harness.execution.order import FinishedCall
from harness.execution.plan import plan_calls
from harness.outcome import CallResult, Outcome
from harness.sandbox import TAIL
from harness.tables import wide_console
from tests.execution.planned_things import NOWHERE_TO_RUN, SETTINGS, make_submission, make_task

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PRINTED = "".join(f"line {number}\n" for number in range(100))
GOOD = CallResult(Outcome.OK, 1.5, output_tail=PRINTED)
BAD = CallResult(Outcome.EXCEPTION, message="ValueError: \x1b[2Jno", output_tail=f"{PRINTED}\x1b]0;t\x07last")


def shown(capsys: pytest.CaptureFixture[str], *results: CallResult, whole: bool = False) -> tuple[list[str], list[str]]:
    """The table and what is below it."""
    task = make_task(len(results))
    table = CallTable([task], (), wide_console())
    calls = plan_calls([make_submission()], [task], SETTINGS, NOWHERE_TO_RUN)
    for call, result in zip(sorted(calls, key=lambda one: one.model.id), results, strict=True):
        table.add(FinishedCall(call, result, NOW, {}, "bubblewrap/fast"))
    rows = capsys.readouterr().out.splitlines()
    table.print_outputs(whole=whole)
    return rows, capsys.readouterr().out.splitlines()


def test_the_first_call_tells_its_last_lines_and_the_others_only_that_they_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows, below = shown(capsys, GOOD, GOOD, GOOD)
    assert [row.split()[:2] for row in rows] == [["task", "model"], *(["toy", f"model_{n}"] for n in range(3))]
    hidden = 100 - LINES
    assert below[1:4] == [
        "toy/model_0: printed 100 lines",
        f"  | ... {hidden} earlier lines: pgdl check --whole-output",
        f"  | line {hidden}",
    ]
    assert below[-1] == "2 other calls printed something, too: pgdl check --whole-output shows it."
    assert len(below) == LINES + 5


def test_each_failure_is_told_once_and_controls_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    rows, below = shown(capsys, GOOD, BAD, BAD)
    assert len(rows) == 4
    assert below.count("toy/model_1: EXCEPTION: ValueError: ?[2Jno") == 1
    assert below.count("  | ?]0;t?last") == 1
    assert below[-1].startswith("1 other call printed")
    assert all(line.isprintable() for line in below)


def test_all_that_was_printed_is_there_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    _, below = shown(capsys, GOOD, BAD, whole=True)
    assert [line for line in below if "earlier" in line or "other" in line] == []
    assert below.count("  | line 0") == 2


def test_of_a_call_that_printed_more_than_is_kept_no_lines_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    _, below = shown(capsys, CallResult(Outcome.OK, 1.0, output_tail="12345678\n" * (TAIL // 9) + "1234567"))
    assert below[1] == "toy/model_0: printed at least 16,000 characters"


def test_a_silent_call_leaves_the_table_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, CallResult(Outcome.OK, 1.0))[1] == []
