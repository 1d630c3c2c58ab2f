"""Tests of `pgdl measures --cost`: costs of measures on a task, from timed passes in a real sandbox."""

import json
from pathlib import Path
from typing import Any

import pytest
from throwaway import make_task

import baselines

pytestmark = [pytest.mark.rest, pytest.mark.usefixtures("sandbox")]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_task(tmp_path_factory.mktemp("tasks"), n_train=300, n_models=4).parent


def test_every_measure_has_a_line_with_its_forecast(tasks: Path, pgdl: Any) -> None:
    done = pgdl("measures", "--cost", "--tasks", tasks)
    assert done.returncode == 0, done.stderr
    heading, *lines = done.stdout.partition("\n\n")[0].splitlines()
    assert heading.split() == ["measure", "a", "call", "all", "models", "memory", "cost"]
    assert [line.split()[0] for line in lines] == list(baselines.MEASURES)
    said = " ".join(done.stdout.split())
    assert "A forecast for tiny (300 training examples), from passes of 300 and 300 examples" in said


def test_as_json_more_passes_take_longer_and_spectra_are_not_known(tasks: Path, pgdl: Any) -> None:
    done = pgdl("measures", "--task", "tiny", "--tasks", tasks, "--format", "json")
    content = json.loads(done.stdout)
    assert (content["task"], [one["examples"] for one in content["timed"]]) == ("tiny", [300, 300])
    found = {one["name"]: one for one in content["measures"]}
    done = pgdl("measures", "num_params", "--tasks", tasks, "--format", "json")
    assert [one["name"] for one in json.loads(done.stdout)["measures"]] == ["num_params"]
    assert found["num_params"]["smallest_s"] < found["gi_intra_l0"]["smallest_s"] < found["pacbayes_orig"]["smallest_s"]
    assert found["cross_entropy"]["memory_bytes"] > 2**27
    assert (found["alpha"]["smallest_s"], found["pacbayes_orig"]["memory_bytes"]) == (None, None)
    of_cost = json.loads(
        pgdl("measures", "--cost", "many", "--task", "tiny", "--tasks", tasks, "--format", "json").stdout
    )
    assert {one["name"] for one in of_cost["measures"]} == {
        n for n, m in baselines.MEASURES.items() if m.cost == "many"
    }


def test_a_forecast_is_of_one_task_that_is_not_hidden(tmp_path: Path, tasks: Path, pgdl: Any) -> None:
    for name, hidden in (("one", False), ("two", False), ("secret", True)):
        make_task(tmp_path / "several", name=name, hidden=hidden, n_models=2, reference=hidden)
    several = pgdl("measures", "--cost", "--tasks", tmp_path / "several")
    assert several.returncode == 2
    assert several.stderr.splitlines()[-1].startswith("pgdl: a forecast is for one task")
    hidden = pgdl("measures", "--task", "secret", "--tasks", tmp_path / "several")
    assert hidden.returncode == 2
    assert "no forecast on a hidden task" in hidden.stderr
    unknown = pgdl("measures", "--task", "tinny", "--tasks", tasks)
    assert (unknown.returncode, "tinny" in unknown.stderr) == (2, True)
