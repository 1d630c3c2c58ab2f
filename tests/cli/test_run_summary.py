"""Tests of the summary of a run, of its memory use for many calls, and of notes on different classes of machines."""

import io
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from in_process import Pgdl, Record
from rich.console import Console

from harness.cli.summary import print_summary
from harness.execution.plan import plan_calls
from harness.execution.run import CallSummary, Plan
from harness.outcome import Outcome
from harness.records import Evaluation
from pgdl import RunResult, Tally
from tests.board.board_examples import failed, rows, write_reference
from tests.execution.planned_things import NOWHERE_TO_RUN, SETTINGS, Nowhere, make_submission, make_task
from tests.records.evaluation_rows import evaluation
from tests.throwaway import write_submission


def recorded(row: Evaluation) -> CallSummary:
    """Return the summary of the call that this record describes."""
    (planned,) = plan_calls([make_submission(row.submission)], [make_task(1, row.task)], SETTINGS, NOWHERE_TO_RUN)
    return CallSummary(planned, row.outcome, row.call_wall_s, row.call_cpu_s)


def summary(
    evaluations: list[Evaluation], *, sandboxed: bool = True, withheld: Sequence[str] = (), refused: Sequence[str] = ()
) -> tuple[bool, str]:
    """Return whether all calls succeeded, and the printed text."""
    console = Console(file=io.StringIO(), width=120)
    tally = Tally()
    for row in evaluations:
        tally.add(recorded(row))
    assert tally.total == len(evaluations)
    done = RunResult(Plan((), ()), tally, "results.db", sandboxed, withheld, (), refused)
    print_summary(done, console)
    return done.all_ok, console.file.getvalue()  # type: ignore[attr-defined]


def test_one_row_per_submission_and_task() -> None:
    """Failures are counted by outcome, the most frequent first; the time is the median of the calls."""
    all_ok, text = summary([*rows("b"), *rows("a", task=["toy", "second"])])
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert all_ok
    assert lines[1:4] == ["a second 8 of 8 1.50", "a toy 8 of 8 1.50", "b toy 8 of 8 1.50"]
    assert lines[-1] == "Records: results.db"
    late = [failed("a", f"model_{number}", Outcome.TIMEOUT) for number in (8, 9)]
    times = [row for s in (1.0, 2.0, 90.0) for row in rows("b", {f"model_{s}": 1.0}, call_wall_s=s)]
    all_ok, text = summary([*rows("a"), failed("a", "model_10", Outcome.CRASH), *late, *times])
    assert not all_ok
    assert [" ".join(line.split()) for line in text.splitlines()][1:3] == [
        "a toy 8 of 11 1.50 2 TIMEOUT, 1 CRASH", "b toy 3 of 3 2.00",
    ]  # fmt: skip
    assert "NOT SANDBOXED" not in text
    assert "NOT SANDBOXED" in summary(rows("a", sandbox="none"), sandboxed=False)[1]


def test_a_notebook_shows_at_most_twenty_lines() -> None:
    tally = Tally()
    for row in [failed("a", "model_8", Outcome.CRASH), *rows("a")]:
        tally.add(recorded(row))
    done = RunResult(Plan((), ()), tally, "results.db", True, (), (), ("b: no code",))
    assert repr(done) == "a on toy: 1 CRASH, 8 OK\nb: no code\nRecords: results.db"
    many = replace(done, refused=[f"{number}: no code" for number in range(30)])
    assert repr(many).splitlines()[19:] == ["18: no code", "... and 12 more lines"]


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.OK])
def test_after_a_failed_call_or_a_refused_submission_not_all_is_well(outcome: Outcome) -> None:
    assert not summary([*rows("a"), failed("b", "model_0", outcome)])[0]
    assert not summary(rows("a"), refused=["b.py: line 1: invalid syntax"])[0]


def test_of_a_withheld_task_only_outcomes_are_counted() -> None:
    evaluations = [*rows("a"), *rows("a", task="secret"), failed("a", "model_0", Outcome.CRASH, task="secret")]
    all_ok, text = summary(evaluations, withheld=["secret"])
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert not all_ok
    assert lines[1:3] == ["a secret 8 of 9 - 1 CRASH", "a toy 8 of 8 1.50"]
    assert "Withheld on secret: outputs, messages, values, times and memory" in " ".join(lines)


def test_starved_calls_are_named_with_a_remedy_but_not_those_of_withheld_tasks() -> None:
    tally = Tally()
    for name, wall, cpu, task in (
        ("a", 300.0, 20.0, "toy"), ("a", 300.0, 30.0, "toy"), ("b", 300.0, 290.0, "toy"), ("c", 0.0, 0.0, "toy"),
        ("d", 300.0, 20.0, "secret"),
    ):  # fmt: skip
        late = failed(name, "model_0", Outcome.TIMEOUT, task=task, call_wall_s=wall, call_cpu_s=cpu)
        tally.add(recorded(late))
    assert tally.starved_note(["secret"]) == (
        "calls that exceeded their time with less than half of a processor: 2 of a on toy. The machine was busy, or "
        "the calls waited; if the machine was busy, --retry-timeouts (pgdl run, pgdl compare) makes them again"
    )
    assert "1 of d on secret" in str(tally.starved_note([]))
    assert Tally().starved_note([]) is None


def test_records_are_let_go_of_when_they_are_shown(pgdl: Pgdl, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[Evaluation]] = []
    most = 0

    def execute(plan: Plan, *_: object) -> Iterator[CallSummary]:
        nonlocal most
        for call in plan.missing:
            row = evaluation(key=call.key, submission="mine", model=call.model.id, output_tail="x" * 16_000)
            made.append(weakref.ref(row))
            most = max(most, sum(one() is not None for one in made))
            yield CallSummary(call, row.outcome, row.call_wall_s, row.call_cpu_s, row.message)

    write_submission(folder, "mine")
    monkeypatch.setattr("harness.api.calls.execute", execute)
    monkeypatch.setattr("harness.api.calls.prepare", lambda *_: (SETTINGS, Nowhere()))
    monkeypatch.setattr("harness.api.calls.TaskDirectory", lambda root: Mock(runnable=lambda names: []))
    monkeypatch.setattr("harness.api.calls.read_tasks", lambda files, withhold: [make_task(50)])
    ended = pgdl("run", "mine.py", "--task", "toy")
    assert ended.code == 0
    assert ended.err == ""
    assert ended.lines[-1] == "Next: pgdl board --tasks task_data --task toy"
    assert "50 of 50" in ended.out
    assert most <= 2  # the shown record and the next


LINE = "calls were made on different machines, so values may differ in their last digits: 2 x A; 8 x B, NVIDIA H100"


@pytest.mark.parametrize("command", [["board"], ["score", "margin"]])
@pytest.mark.parametrize(
    ("classes", "is_said"),
    [
        (["8 x B, NVIDIA H100", "2 x A", "2 x A"], True),
        (["2 x A"], False),
        (["2 x A", None], False),  # the second record has no class
    ],
)
def test_it_is_said_where_they_do(
    classes: list[str | None], is_said: bool, command: list[str], pgdl: Pgdl, folder: Path, record: Record
) -> None:
    write_reference(folder / "task_data")
    kinds = [{} if kind is None else {"machine_class": kind} for kind in classes]
    record([replace(row, environment=kinds[n % len(kinds)]) for n, row in enumerate(rows("margin"))])
    ended = pgdl(*command)
    assert ended.code == 0
    assert (LINE in " ".join((ended.out + ended.err).split())) == is_said
    assert ("different machines" in ended.out + ended.err) == is_said
