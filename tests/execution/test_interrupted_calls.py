"""Tests of calls that end because of something outside: each is repeated once in the same run."""

from dataclasses import replace
from pathlib import Path

import pytest
from planned_things import SETTINGS, make_submission, make_task

from harness.api.calls import Run, record_calls
from harness.execution.budget import TimeBudget
from harness.execution.executors.local import Local
from harness.records import Records
from harness.sandbox import SandboxChoice, clock
from harness.testing import Actors
from pgdl import Progress


class Listener(Progress):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def warn(self, line: str) -> None:
        self.heard.append(line)


pytestmark = pytest.mark.usefixtures("four_cores", "unstaged")


def run(part: str, directory: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """Run a fake submission on two models; return outcomes with messages, and warnings."""
    settings, listener = replace(SETTINGS, time_budget=TimeBudget.AVERAGE, time_limit_s=60.0), Listener()
    with Local(SandboxChoice(Actors.name), None, 1, print) as local, Records(str(directory / "r.db")) as records:
        record_calls(Run([make_submission("mine", part.encode())], [make_task(2)], settings, local), records, listener)
        rows = [(row.outcome, row.message) for row in records.whole_of()]
    return rows, [line for line in listener.heard if "again" in line]


def test_a_pause_of_the_harness_is_said_and_the_call_made_again_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "PAUSE_S", -1.0)  # every call is found to be paused
    rows, warnings = run("returns 1", tmp_path)
    assert [outcome for outcome, _ in rows] == ["INFRA_ERROR"] * 2
    assert all(message.startswith("the harness was stopped for ") for _, message in rows)
    assert len(warnings) == 2
    assert all(line.endswith(" s during the call; the call is made again") for line in warnings)


def test_a_call_without_a_pause_is_made_once(tmp_path: Path) -> None:
    assert run("returns 1", tmp_path) == ([("OK", "")] * 2, [])
