"""Tests of models without their initial weights: one message per task, and only if a measure needs the weights."""

import re
from pathlib import Path

import pytest
from in_process import Ended, Pgdl

from harness.api.needs import find_left_out
from harness.format.architecture import ModelShapes
from harness.submission import find_baseline
from harness.task.model import Model
from tests.execution.planned_things import ARCHITECTURE, NOWHERE, make_task
from tests.throwaway import make_task as write_task

pytestmark = pytest.mark.rest

NOTE = "no model has weights_init.hdf5: model.initial_weights is None there, and measures that need it cannot work"

TAKES_ARRAYS = "def complexity(model, dataset):\n    return sum((w ** 2).sum() for w in model.initial_weights)\n"
DOES_WITHOUT = "def complexity(model, dataset):\n    return float(model.count_params())\n"


@pytest.fixture(autouse=True)
def competition(folder: Path, known_shapes: None, sandbox: None) -> None:
    write_task(folder / "task_data", initial_weights=False, n_models=3)
    (folder / "takes_arrays.py").write_text(TAKES_ARRAYS)
    (folder / "does_without.py").write_text(DOES_WITHOUT)


def said(ended: Ended) -> list[str]:
    return [line for line in (ended.out + ended.err).splitlines() if re.search("weights_init|initial weights", line)]


def test_a_run_says_it_once_for_all_measures_that_need_them(pgdl: Pgdl) -> None:
    ended = pgdl("run", "distance_from_init", "l2_dist", "num_params")
    assert ended.code == 1
    assert said(ended) == [f"pgdl: tiny: {NOTE}"]
    assert "3 EXCEPTION" in ended.out
    assert any(line.split()[:5] == ["num_params", "tiny", "3", "of", "3"] for line in ended.lines), "the others go on"
    assert said(pgdl("run", "distance_from_init", "num_params")) == [f"pgdl: tiny: {NOTE}"], "also of recorded calls"
    assert said(pgdl("run", "num_params", "--force")) == []


def test_a_run_says_it_of_a_file_once_its_calls_have_failed(pgdl: Pgdl) -> None:
    assert said(pgdl("run", "does_without.py")) == []
    ended = pgdl("run", "takes_arrays.py", "does_without.py", "--force")
    assert said(ended) == [f"pgdl: tiny: {NOTE}"]
    assert "'NoneType' object is not iterable" in ended.out


def test_runs_and_checks_of_files_and_of_hidden_tasks(pgdl: Pgdl, folder: Path) -> None:
    assert said(pgdl("check", "does_without.py")) == [f"pgdl: tiny: {NOTE}"]
    assert said(pgdl("check", "num_params")) == []
    write_task(folder / "task_data", hidden=True, initial_weights=False, n_models=3)
    assert said(pgdl("run", "distance_from_init", "takes_arrays.py")) == []


def test_readers_of_scores_are_told_where_calls_failed_for_it(pgdl: Pgdl) -> None:
    pgdl("run", "does_without.py", "num_params")
    assert said(pgdl("board")) == said(pgdl("score", "does_without")) == []
    pgdl("run", "takes_arrays.py")
    assert said(pgdl("board")) == [f"tiny: {NOTE}"]
    assert said(pgdl("score", "takes_arrays")) == [f"tiny: {NOTE}"]
    assert said(pgdl("score", "does_without")) == []


def test_what_needs_classes_is_left_out_of_models_with_one_output() -> None:
    one = Model("m", NOWHERE, "0", "0", ARCHITECTURE, ModelShapes((), (1,)), has_initial_weights=True)
    found = [find_baseline(name) for name in ("num_params", "l2_dist", "cross_entropy", "neg_entropy")]
    submissions = [submission for submission in found if submission is not None]
    left_out = find_left_out(submissions, [make_task([one], "single"), make_task(2, "double")])
    assert left_out.keys() == {("cross_entropy", "single"), ("neg_entropy", "single"), ("l2_dist", "double")}
    assert left_out["cross_entropy", "single"].endswith("two classes or more, and the models have one output")
