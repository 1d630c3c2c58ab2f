"""Tests of the package `scoring`: pure, fast to import, with the scores of the competition's own program."""

import json
import os
import subprocess
import sys
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scoring_examples import TOY_GAP, TOY_MEASURE, task, toy

import scoring
from scoring import (
    Grid,
    ScoreUndefined,
    granulated_kendall,
    kendall_tau,
    noisy_oracle,
    official_score,
    printed_score,
    score_task,
)


def test_what_is_public_exists_and_never_changes() -> None:
    assert all(hasattr(scoring, name) for name in scoring.__all__)
    found = [kind for kind in vars(scoring).values() if isinstance(kind, type) and is_dataclass(kind)]
    assert len(found) > 20
    assert [kind.__name__ for kind in found if not kind.__dataclass_params__.frozen] == []


def test_importing_it_brings_in_nothing_heavy() -> None:
    heavy = ("scipy", "tensorflow", "keras", "harness")
    program = f"import sys, scoring; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_task_score_holds_every_score_and_its_parts() -> None:
    measure, gap, grid = toy().arrays
    result = score_task(measure, gap, grid)
    assert result.n_models == 8
    assert (result.official, result.official_pairs) == tuple(vars(official_score(measure, gap, grid)).values())
    assert (result.printed, result.printed_subsets) == tuple(vars(printed_score(measure, gap, grid)).values())
    assert result.kendall == kendall_tau(measure, gap)
    assert result.granulated_kendall == granulated_kendall(measure, gap, grid).score
    assert result.granulated_psi == granulated_kendall(measure, gap, grid).psi


def test_what_is_not_defined_on_a_grid_is_none_and_says_why() -> None:
    flat = score_task(*task(TOY_GAP, TOY_MEASURE, a=4, b=2).arrays)
    assert flat.undefined == "official score: expected at least 3 hyperparameters that vary, found a, b"
    assert (flat.official, flat.official_pairs) == (None, {})
    assert flat.printed is not None
    holed = toy().with_models_in_order([f"model_{number}" for number in range(7)])
    score = score_task(*holed.arrays)
    assert "found no model in cell (a=1, b=1, c=1) (8 cells, 7 models)" in score.undefined
    assert (score.official, score.printed, score.printed_subsets) == (None, None, {})
    assert score.kendall == kendall_tau(*holed.arrays[:2])
    assert score.granulated_kendall == granulated_kendall(*holed.arrays).score
    with pytest.raises(ScoreUndefined, match="at least 2 models"):
        score_task(*task([1.0], [1.0], a=1).arrays)


def test_noisy_oracle() -> None:
    gap = np.linspace(0, 0.5, 10_000)
    noise = noisy_oracle(gap) - gap
    assert abs(noise.mean()) < 4 * 0.02 / 100
    assert noise.std() == pytest.approx(0.02, rel=0.05)
    assert (noisy_oracle(gap) == noisy_oracle(gap, noise=0.02, seed=0)).all()
    assert (noisy_oracle(gap, seed=1) != noisy_oracle(gap, seed=0)).all()
    assert (noisy_oracle(gap, noise=0.0) == gap).all()
    with pytest.raises(ValueError, match="scale < 0"):
        noisy_oracle(gap, noise=-0.1)


ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("PGDL_CONFORMANCE_DATA", ROOT / "../shared/data/pgdl"))
SCORES = DATA / "official_scores.json"

needs_data = pytest.mark.skipif(not SCORES.is_file(), reason=f"no competition data: {SCORES} does not exist")

SUBMISSIONS = ["VPM_1", "VPM_80", "VR", "WCV"]
TASKS = ["task1_v4", "task2_v1"]


def read(path: Path) -> Any:
    return json.loads(path.read_text())


@needs_data
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("submission", SUBMISSIONS)
def test_the_published_score_to_its_last_digit(submission: str, task: str) -> None:
    configs = {
        model if "model" in model else f"model_{model}": config
        for model, config in read(DATA / "reference_data" / task / "model_configs.json").items()
    }
    hyperparameters = next(iter(configs.values()))["hparams"]
    grid = Grid.from_hyperparameters(
        {name: axis["possible_values"] for name, axis in hyperparameters.items()},
        {
            model: {name: axis["current_value"] for name, axis in config["hparams"].items()}
            for model, config in configs.items()
        },
    )
    metrics = [config["metrics"] for config in configs.values()]
    gap = [m["train_acc"] - m["test_acc"] for m in metrics]
    predictions = read(DATA / "predictions" / submission / f"{task}.predict")
    score = official_score([predictions[model] for model in grid.models], gap, grid).score
    assert score == pytest.approx(read(SCORES)[submission][task], rel=0, abs=1e-12)


@needs_data
def test_all_published_scores_are_looked_at() -> None:
    assert {submission: sorted(of_tasks) for submission, of_tasks in read(SCORES).items()} == dict.fromkeys(
        SUBMISSIONS, TASKS
    )
