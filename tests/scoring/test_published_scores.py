"""Conformance: the scores that the competition's own program gave real submissions on its public tasks."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from scoring import Grid, official_score

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("PGDL_CONFORMANCE_DATA", ROOT / "../shared/data/pgdl"))
SCORES = DATA / "official_scores.json"

pytestmark = pytest.mark.skipif(not SCORES.is_file(), reason=f"no competition data: {SCORES} does not exist")

SUBMISSIONS = ["VPM_1", "VPM_80", "VR", "WCV"]
TASKS = ["task1_v4", "task2_v1"]


def read(path: Path) -> Any:
    return json.loads(path.read_text())


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


def test_all_published_scores_are_looked_at() -> None:
    assert {(s, t) for s, tasks in read(SCORES).items() for t in tasks} == {
        (submission, task) for submission in SUBMISSIONS for task in TASKS
    }
