"""However many calls a run makes, it remembers a number of each."""

import weakref
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from in_process import Pgdl

from harness.execution.run import CallSummary, Plan
from harness.records import Evaluation
from tests.execution.planned_things import SETTINGS, Nowhere, make_task
from tests.records.evaluation_rows import evaluation


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

    (folder / "mine.py").write_text("def complexity(model, dataset):\n    return 1.0\n")
    monkeypatch.setattr("harness.api.calls.execute", execute)
    monkeypatch.setattr("harness.api.calls.prepare", lambda *_: (SETTINGS, Nowhere()))
    monkeypatch.setattr("harness.api.calls.TaskDirectory", lambda root: Mock(runnable=lambda names: []))
    monkeypatch.setattr("harness.api.calls.read_tasks", lambda files, withhold: [make_task(50)])
    ended = pgdl("run", "mine.py")
    assert ended.code == 0
    assert ended.err == ""
    assert "50 of 50" in ended.out
    assert most <= 2  # the one that is shown, and the one that comes
