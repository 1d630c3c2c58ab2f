"""Tests of the summary of a run, of its memory use for many calls, and of notes on different classes of machines."""

import io
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
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


def tally_of(*evaluations: Evaluation) -> Tally:
    """Return the tally of the calls that these records describe."""
    tally = Tally()
    for row in evaluations:
        submission, task = make_submission(row.submission), make_task(1, row.task)
        (planned,) = plan_calls([submission], [task], SETTINGS, NOWHERE_TO_RUN)
        tally.add(CallSummary(planned, row.outcome, row.call_wall_s, row.call_cpu_s))
    assert tally.total == len(evaluations)
    return tally


def summary(*evaluations: Evaluation, **named: Any) -> tuple[bool, list[str]]:
    """Return whether all calls succeeded, and the printed lines; `named` are attributes of the result."""
    console = Console(file=io.StringIO(), width=120)
    done = RunResult(Plan((), ()), tally_of(*evaluations), "results.db", True, (), (), ())
    done = replace(done, **named)
    print_summary(done, console)
    printed = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return done.all_ok, [" ".join(line.split()) for line in printed]


def test_one_row_per_submission_and_task() -> None:
    """Failures are counted by outcome, the most frequent first; the time is the median of the calls."""
    all_ok, lines = summary(*rows("b"), *rows("a", task=["toy", "second"]))
    assert all_ok
    assert lines[1:4] == ["a second 8 of 8 1.50", "a toy 8 of 8 1.50", "b toy 8 of 8 1.50"]
    assert lines[-1] == "Records: results.db"
    late = [failed("a", f"model_{number}", Outcome.TIMEOUT) for number in (8, 9)]
    times = [row for s in (1.0, 2.0, 90.0) for row in rows("b", {f"model_{s}": 1.0}, call_wall_s=s)]
    all_ok, lines = summary(*rows("a"), failed("a", "model_10", Outcome.CRASH), *late, *times)
    assert not all_ok
    assert lines[1:3] == ["a toy 8 of 11 1.50 2 TIMEOUT, 1 CRASH", "b toy 3 of 3 2.00"]
    assert "NOT SANDBOXED" not in str(lines)
    assert "NOT SANDBOXED" in str(summary(*rows("a", sandbox="none"), is_sandboxed=False))


def test_a_notebook_shows_at_most_twenty_lines() -> None:
    tally = tally_of(failed("a", "model_8", Outcome.CRASH), *rows("a"))
    done = RunResult(Plan((), ()), tally, "results.db", True, (), (), ("b: no code",))
    assert repr(done) == "a on toy: 1 CRASH, 8 OK\nb: no code\nRecords: results.db"
    many = replace(done, refused=[f"{number}: no code" for number in range(30)])
    assert repr(many).splitlines()[19:] == ["18: no code", "... and 12 more lines"]


def test_after_a_failed_call_or_a_refused_submission_not_all_is_well() -> None:
    for outcome in set(Outcome) - {Outcome.OK}:
        assert not summary(*rows("a"), failed("b", "model_0", outcome))[0], outcome
    assert not summary(*rows("a"), refused=["b.py: line 1: invalid syntax"])[0]


def test_of_a_withheld_task_only_outcomes_are_counted() -> None:
    evaluations = [*rows("a"), *rows("a", task="secret"), failed("a", "model_0", Outcome.CRASH, task="secret")]
    all_ok, lines = summary(*evaluations, withheld=["secret"])
    assert not all_ok
    assert lines[1:3] == ["a secret 8 of 9 - 1 CRASH", "a toy 8 of 8 1.50"]
    assert "Withheld on secret: outputs, messages, values, times and memory" in " ".join(lines)
    content = RunResult(Plan((), ()), tally_of(*evaluations), "results.db", True, ["secret"], [], []).content
    assert (content["ok"], content["withheld"]) == (False, ["secret"])
    assert [(one["task"], one["outcomes"], one["median_seconds"]) for one in content["calls"]] == [
        ("secret", {"OK": 8, "CRASH": 1}, None), ("toy", {"OK": 8}, 1.5),
    ]  # fmt: skip


def test_starved_calls_are_named_with_a_remedy_but_not_those_of_withheld_tasks() -> None:
    times = (("a", 300, 20, "toy"), ("a", 300, 30, "toy"), ("b", 300, 290, "toy"), ("c", 0, 0, "toy"),
             ("d", 300, 20, "secret"))  # fmt: skip
    tally = tally_of(*(
        failed(name, "model_0", Outcome.TIMEOUT, task=task, call_wall_s=float(wall), call_cpu_s=float(cpu))
        for name, wall, cpu, task in times
    ))  # fmt: skip
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
    assert (ended.code, ended.err) == (0, "")
    assert ended.lines[-1] == "Next: pgdl board --tasks task_data --task toy"
    assert "50 of 50" in ended.out
    assert most <= 2  # the shown record and the next


LINE = "calls were made on different machines, so values may differ in their last digits: 2 x A; 8 x B, NVIDIA H100"


@pytest.mark.parametrize(
    ("classes", "is_said"),
    [
        (["8 x B, NVIDIA H100", "2 x A", "2 x A"], True),
        (["2 x A"], False),
        (["2 x A", None], False),  # the second record has no class
    ],
)
def test_different_machines_are_said(
    classes: list[str | None], is_said: bool, pgdl: Pgdl, folder: Path, record: Record
) -> None:
    write_reference(folder / "task_data")
    kinds = [{} if kind is None else {"machine_class": kind} for kind in classes]
    record([replace(row, environment=kinds[n % len(kinds)]) for n, row in enumerate(rows("margin"))])
    for command in (["board"], ["score", "margin"]):
        ended = pgdl(*command)
        said = " ".join((ended.out + ended.err).split())
        assert (ended.code, LINE in said, "different machines" in said) == (0, is_said, is_said)
