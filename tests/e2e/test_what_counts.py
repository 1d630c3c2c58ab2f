"""Tests of boards after changes of models, versions and settings: a board is never silently wrong."""

import json
import shutil
import threading

import numpy as np
import pytest
from real_runs import FASTEST, WAITS, go_on, records, wait_for, waiting, write_submission
from throwaway import dense_layers, dense_weights, make_task, write_weights

pytestmark = [pytest.mark.usefixtures("sandbox"), pytest.mark.rest]

WEIGHTS = "return sum(float((w ** 2).sum()) for w in model.get_weights())"
OTHER = "return float(model.count_params())"


class Place:
    """A competition of eight models in a directory, and a submission; calling it runs a `pgdl` command there."""

    def __init__(self, directory, pgdl):
        self.directory, self._pgdl = directory, pgdl
        self.task = make_task(directory / "tasks")
        self.mine = write_submission(directory, "mine", WEIGHTS)

    def __call__(self, command, *arguments, code=0):
        shared = ["--tasks", self.directory / "tasks"]
        if command in ("run", "board", "score"):
            shared += ["--results", self.directory / "r.db"]
        done = self._pgdl(command, *arguments, *shared, cwd=self.directory)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def board(self, *arguments):
        content = json.loads(self("board", "--format", "json", *arguments).stdout)
        return content["rows"], content["remarks"]


@pytest.fixture(scope="module")
def place(tmp_path_factory, pgdl, sandbox):
    """A place with records of all models; each test goes on where the test before it has ended."""
    place = Place(tmp_path_factory.mktemp("place"), pgdl)
    place("run", place.mine)
    return place


def test_weights_that_were_overwritten_since(place):
    ((before,), _) = place.board()
    for number, cell in enumerate([("relu", 1, 4), ("relu", 1, 6)]):
        random = np.random.default_rng(99 + number)
        write_weights(place.task / f"model_{number}" / "weights.hdf5", dense_weights(dense_layers(*cell), random))
    ((row,), remarks) = place.board()
    assert (before["calls_ok"], row["calls_ok"], row["stale"]) == (8, 6, 2)
    assert (row["score"], row["complete"]) == (None, False)
    renew = f"pgdl run {place.mine} --as mine --tasks {place.directory / 'tasks'} --results {place.directory / 'r.db'} "
    renew += "--runtime tensorflow"
    assert any(line.startswith("stale: records of mine (2 on tiny)") and line.endswith(renew) for line in remarks)
    assert "6 of 8 calls are recorded already" in place("run", place.mine).stdout
    ((after,), remarks) = place.board()
    told = "tiny: 8 networks cannot show more than p = 0.0625: no measure can be told from chance on this task alone"
    assert (after["calls_ok"], after["stale"], remarks) == (8, 0, [told])


def test_going_back_to_an_earlier_version(place):
    mine = place.mine
    ((first,), _) = place.board()
    write_submission(place.directory, "mine", OTHER)
    refused = place("score", mine, code=2)
    assert "'mine' has not been run in its present version" in refused.stderr
    assert f"found records of version {first['version'][:8]}; run `pgdl run {mine}` first" in refused.stderr
    assert place.board()[0][0]["version"] == first["version"]
    assert "is new; the board shows it from now on" in place("run", mine).stderr
    ((second,), remarks) = place.board()
    assert second["version"] != first["version"]
    assert sum(f"not shown: {first['version'][:8]}" in line for line in remarks) == 1
    write_submission(place.directory, "mine", WEIGHTS)
    assert "8 of 8 calls are recorded already" in place("run", mine).stdout
    ((back,), _) = place.board()
    assert (back["version"], back["tasks"]) == (first["version"], first["tasks"])
    scored = json.loads(place("score", mine, "--format", "json").stdout)
    assert scored["tasks"]["tiny"].items() <= first["tasks"]["tiny"].items()
    assert first["tasks"]["tiny"].keys() - scored["tasks"]["tiny"].keys() == {"chance", "p_value", "adjusted_p_value"}
    everything, _ = place.board("--all")
    assert {row["version"] for row in everything} == {first["version"], second["version"]}


def test_models_that_are_gone_equal_gaps_and_grids_of_two_are_said(place):
    shutil.rmtree(place.task / "model_3")
    configs = json.loads((place.task / "model_configs.json").read_text())
    for entry in configs.values():
        entry["metrics"]["test_acc"] = 0.5
    (place.task / "model_configs.json").write_text(json.dumps(configs))
    ((row,), remarks) = place.board()
    assert row["calls_ok"] == 7
    assert "tiny: 1 of 8 models are missing (model_3): records of them count once their files are back" in remarks
    assert "tiny: all 8 generalization gaps are 0.5: there is nothing to predict" in remarks
    del configs["3"]
    (place.task / "model_configs.json").write_text(json.dumps(configs))
    (place.task / "model_1" / "weights_init.hdf5").unlink()
    hole = "tiny: no official score: expected one model in every cell, found no model in cell"
    lacking = "tiny: 1 of 7 models lack weights_init.hdf5 (model_1)"
    for command in ("check", "run"):
        said = place(command, place.mine).stderr
        assert hole in said
        assert (lacking in said) == (command == "check")  # a run of a file that does without does not say so
    validated = place("task", "validate", code=0).stdout
    assert "tiny: note: no official score" in validated
    assert "tiny: note: all 7 generalization gaps are 0.5" in validated
    assert "tiny: 7 models, 3 hyperparameters, 24 training samples, outputs are logits: valid" in validated
    assert "official score: expected one model in every cell" in place("score", place.mine, code=1).stdout


@pytest.mark.parametrize("killed", [True, False])
def test_a_run_that_waits_takes_over_what_another_has_recorded_and_what_a_killed_one_had_begun(start, tmp_path, killed):
    """The second run waits for a call of the first, ends with all records, and repeats no call of the first."""
    make_task(tmp_path / "tasks", n_models=4)
    mine = write_submission(tmp_path, "mine", WAITS + WEIGHTS)
    shared = ("--tasks", tmp_path / "tasks", "--results", tmp_path / "r.db", "--workers", "1", *FASTEST)
    first = start("run", mine, *shared)
    wait_for(lambda: bool(waiting(first)), "a call of the first run")
    go_on(first)
    wait_for(lambda: bool(records(tmp_path / "r.db")) and bool(waiting(first)), "a record and another call")
    second, lines = start("run", mine, *shared), []
    reader = threading.Thread(target=lambda: lines.extend(second.stdout))
    reader.start()
    wait_for(lambda: go_on(second) or any("another run is making" in line for line in lines), "the second run to wait")
    if killed:
        first.kill()
    else:
        wait_for(lambda: go_on(first) or first.poll() is not None, "the end of the first run")
        assert first.returncode == 0
    wait_for(lambda: go_on(second) or second.poll() is not None, "the end of the second run")
    reader.join()
    assert second.wait(240) == 0, lines
    assert any("4 of 4" in line for line in lines)
    rows = records(tmp_path / "r.db")
    assert len(rows) == len({row["key"] for row in rows}) == 4
