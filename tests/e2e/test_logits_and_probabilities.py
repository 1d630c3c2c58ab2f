"""Networks that end in a softmax: everybody is told, and templates and library measure what they measure without it."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from real_runs import records
from throwaway import edit_json, make_task

from harness.worker.runtimes import RUNTIMES

Pgdl = Any


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task of four models: the last two are the first two with a softmax, in the last layer or behind it."""
    directory = tmp_path_factory.mktemp("endings")
    task = make_task(directory, n_models=2, reference=False)
    for number in (2, 3):
        shutil.copytree(task / f"model_{number - 2}", task / f"model_{number}")
    edit_json(task / "model_2/config.json", lambda content: content["model_config"][-1].update(activation="softmax"))
    edit_json(task / "model_3/config.json", lambda content: content["model_config"].append({"layer_name": "Softmax"}))
    return directory


@pytest.mark.usefixtures("sandbox")
def test_templates_and_library_measure_the_same_with_a_softmax_and_without(place: Path, pgdl: Pgdl) -> None:
    names = [name for name, runtime in RUNTIMES.items() if not runtime.missing()]
    for name in names:
        assert pgdl("new", place / name, "--runtime", name).returncode == 0
    done = pgdl(
        "run", *(place / name for name in names), "neg_output_margin", "--tasks", place, "--results", place / "r.db"
    )
    assert done.returncode == 0, done.stdout
    values = {(row["submission"], row["model"]): row["value"] for row in records(place / "r.db")}
    for name in (*names, "neg_output_margin"):
        for number in (0, 1):
            same = pytest.approx(values[name, f"model_{number}"], rel=1e-5)
            assert values[name, f"model_{number + 2}"] == same, name
    assert [values[name, "model_0"] for name in names] == pytest.approx(
        [values["tensorflow", "model_0"]] * len(names), rel=1e-4
    )


@pytest.mark.usefixtures("sandbox")
def test_validate_and_check_say_what_models_give(place: Path, tmp_path: Path, pgdl: Pgdl) -> None:
    note = "2 models end (model_2, model_3) in a softmax: model(x) gives probabilities there, model.logits(x) logits"
    validated = pgdl("task", "validate", place).stdout.splitlines()
    assert "outputs are probabilities of 2 models, logits of 2: valid" in validated[0]
    assert f"tiny: note: {note}" in validated
    assert pgdl("new", tmp_path / "mine").returncode == 0
    checked = pgdl("check", tmp_path / "mine", "--tasks", place, "--models", "1")
    assert "tiny: outputs are probabilities of 2 models, logits of 2" in checked.stdout
    assert f"tiny: {note}" in checked.stderr
