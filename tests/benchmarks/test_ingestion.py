"""Benchmark of whole runs: with sandboxes, limits and records, no slower than the competition's ingestion program."""

from pathlib import Path

import pytest

from tests.benchmarks.against_ingestion import AGAIN, FIRST, INGESTION, compare, show
from tests.benchmarks.real_size import make_task

#: Wanted seconds of a run, in those of the ingestion on the same machine, on 32 small networks.
WANTED = {"frobenius_norms": 1.0, "label_variation": 1.0, "jacobian_norm": 0.6}

#: More than the goal times this is a failure: a busy machine may cost that much.
SLACK = 1.3


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Task -> the directory that holds it: 32 small networks, and eight of real size."""
    directory = tmp_path_factory.mktemp("tasks")
    make_task(directory)
    return {"digits_nin": Path("task_data").resolve(), "real_size": directory}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("measure", WANTED)
@pytest.mark.parametrize("task", ["digits_nin", "real_size"])
def test_a_run_takes_no_longer_than_the_ingestion(
    task: str, measure: str, tasks: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    is_small = task == "digits_nin"
    found = compare(tasks[task], task, measure, repeats=2 if is_small or measure == "frobenius_norms" else 1)
    with capsys.disabled():
        print()
        show(f"{measure}, {task}", found)
    for name in (FIRST, AGAIN):
        assert found[name].wall < SLACK * (WANTED[measure] if is_small else 1.0) * found[INGESTION].wall
