"""Baselines on one model share a sandbox: records equal records of separate calls, and a failure stays alone."""

import pytest
from real_runs import records
from throwaway import make_task

pytestmark = pytest.mark.usefixtures("sandbox")

MEASURES = ("num_params", "random", "distance_from_init", "jacobian_norm")


def run(pgdl, tasks, database, *measures, code=0):
    done = pgdl("run", *measures, "--tasks", tasks, "--results", database)
    assert done.returncode == code, done.stdout + done.stderr
    return {(row["submission"], row["model"]): row for row in records(database)}


def test_values_and_keys_are_those_of_lone_calls(tmp_path, one_model, pgdl):
    together = run(pgdl, one_model, tmp_path / "together.db", *MEASURES)
    for measure in ("random", "jacobian_norm"):
        ((key, alone),) = run(pgdl, one_model, tmp_path / f"{measure}.db", measure).items()
        for name in ("value", "key", "seed", "outcome"):
            assert together[key][name] == alone[name]


def test_a_sandbox_is_started_once_for_each_model(tmp_path, four_models, pgdl):
    rows = run(pgdl, four_models, tmp_path / "r.db", *MEASURES).values()
    assert len(rows) == 4 * 4
    assert sum(row["startup_wall_s"] > 0 for row in rows) == 4
    assert all(row["call_wall_s"] > 0 for row in rows)
    assert all(row["peak_memory_bytes"] > 0 for row in rows)


def test_a_measure_that_cannot_be_computed_leaves_the_others(tmp_path, pgdl):
    tasks = tmp_path / "tasks"
    make_task(tasks, n_models=4, initial_weights=False)
    rows = run(pgdl, tasks, tmp_path / "r.db", *MEASURES, code=1)
    outcomes = {name: {row["outcome"] for (measure, _), row in rows.items() if measure == name} for name in MEASURES}
    assert outcomes.pop("distance_from_init") == {"EXCEPTION"}
    assert set(map(frozenset, outcomes.values())) == {frozenset({"OK"})}


def test_a_call_over_its_limit_ends_the_sandbox_and_the_others_get_another(tmp_path, one_model, pgdl):
    """Every first call of a sandbox imports and traces something, which takes longer than this limit."""
    done = pgdl("run", *MEASURES, "--tasks", one_model, "--results", tmp_path / "r.db", "--time-limit", "0.003")
    rows = records(tmp_path / "r.db")
    assert done.returncode == 1
    assert sorted(row["submission"] for row in rows) == sorted(MEASURES)
    late = [row for row in rows if row["outcome"] == "TIMEOUT"]
    assert len(late) >= 2
    assert sum(row["startup_wall_s"] > 0 for row in rows) >= len(late)
