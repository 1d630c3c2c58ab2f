"""Tests that boards, reports and sites agree with the referee after random sequences of actions.

The referee (`referee.py`) is a second, independent statement of the rules. `make referee` runs more sequences, with new
random choices in each run.
"""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from matrix import rest

from harness.execution.settings import SOURCES
from tests.referee.machine import Competition
from tests.throwaway import make_task

ROOT = Path(__file__).parents[2]

#: Examples, and steps of each; the same ones in every run unless their number is given.
EXAMPLES, STEPS = int(os.environ.get("PGDL_REFEREE_EXAMPLES", "3")), 40

#: Without shrinking the first contradiction ends the test.
PHASES = [one for one in Phase if one is not Phase.shrink or os.environ.get("PGDL_REFEREE_SHRINK") != "0"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> dict[str, Path]:
    """The directories that each world copies: a task, and the harness' sources that decide values."""
    directory = tmp_path_factory.mktemp("place")
    task = make_task(directory, n_train=6)
    shutil.rmtree(task / "dataset_1" / "test")
    for pattern in SOURCES:
        for file in (ROOT / "harness").glob(pattern):
            target = directory / "harness" / file.relative_to(ROOT / "harness")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    return {"task": task, "harness": directory / "harness", "cache": shared_cache}


@pytest.mark.timeout(0)
@pytest.mark.parametrize("examples", [1, rest(EXAMPLES)])
def test_people_in_random_order(place: dict[str, Path], examples: int) -> None:
    chosen = settings(
        max_examples=examples, stateful_step_count=STEPS, deadline=None, suppress_health_check=list(HealthCheck),
        phases=PHASES, print_blob=True, derandomize="PGDL_REFEREE_EXAMPLES" not in os.environ,
    )  # fmt: skip

    class Here(Competition):
        pass

    Here.place = place
    run_state_machine_as_test(Here, settings=chosen)
