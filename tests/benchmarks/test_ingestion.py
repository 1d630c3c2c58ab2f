"""Benchmark of whole runs: with sandboxes, limits and records, no slower than the competition's ingestion program."""

from pathlib import Path

import pytest

from tests.benchmarks.against_ingestion import AGAIN, FIRST, INGESTION, compare, show
from tests.benchmarks.real_size import make_task
from tests.benchmarks.stopwatch import Seconds

#: Wanted seconds of a run, in those of the ingestion on the same machine, on 32 small networks.
WANTED = {"frobenius_norms": 1.0, "label_variation": 1.0, "jacobian_norm": 0.6}

#: More than the goal times this is a failure: a busy machine may cost that much.
SLACK = 1.3


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("measure", WANTED)
def test_32_small_networks(measure: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = compare(Path("task_data").resolve(), "digits_nin", measure, repeats=2)
    with capsys.disabled():
        print()
        show(f"{measure}, digits_nin", found)
    _require(found, WANTED[measure])


@pytest.fixture(scope="module")
def real_size(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tasks = tmp_path_factory.mktemp("tasks")
    make_task(tasks)
    return tasks


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("measure", WANTED)
def test_eight_networks_of_real_size(measure: str, real_size: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = compare(real_size, "real_size", measure, repeats=2 if measure == "frobenius_norms" else 1)
    with capsys.disabled():
        print()
        show(f"{measure}, real_size", found)
    _require(found, 1.0)


def _require(found: dict[str, Seconds], wanted: float) -> None:
    assert found[FIRST].wall < SLACK * wanted * found[INGESTION].wall
    assert found[AGAIN].wall < SLACK * wanted * found[INGESTION].wall
