"""Tests of the ways to start a worker: the value of a call is always the same, also in shared sandboxes."""

import pytest
from matrix import full, rest
from real_runs import records, write_submission

pytestmark = pytest.mark.usefixtures("sandbox")

DRAWS = """
import random
import numpy as np
import tensorflow as tf
inputs, labels = next(iter(dataset.shuffle(100).batch(16)))
with tf.GradientTape() as tape:
    tape.watch(inputs)
    total = tf.reduce_sum(tf.function(model)(inputs + tf.random.normal(inputs.shape)) ** 2)
slope = tf.reduce_sum(tape.gradient(total, inputs) ** 2)
return float(slope) + float(np.random.rand()) + random.random()
"""


def run(pgdl, directory, tasks, body, mode, *more):
    submission, database = write_submission(directory, "measure", body), directory / f"{mode}.db"
    done = pgdl("run", submission, "--tasks", tasks, "--results", database, "--sandbox", mode, *more)
    assert done.returncode == 0, done.stdout + done.stderr
    return records(database)


@pytest.mark.rest
@pytest.mark.parametrize("runtime", [full("keras2"), "tensorflow"])
def test_values_are_the_same_to_the_last_bit(tmp_path, one_model, pgdl, runtime):
    fast, fresh = (run(pgdl, tmp_path, one_model, DRAWS, mode, "--runtime", runtime) for mode in ("fast", "fresh"))
    assert (fast[0]["sandbox"], fresh[0]["sandbox"]) == ("bubblewrap/fast", "bubblewrap/fresh")
    assert fast[0]["value"] == fresh[0]["value"]
    assert fast[0]["key"] == fresh[0]["key"]


def test_no_call_sees_what_another_left(tmp_path, competition, pgdl):
    body = """
import os, builtins
import numpy as np
traces = [os.path.exists('/tmp/trace'), os.path.exists('/dev/shm/trace'), hasattr(np, 'trace_of_me')]
open('/tmp/trace', 'w').close()
open('/dev/shm/trace', 'w').close()
np.trace_of_me = builtins.trace_of_me = True
return float(sum(traces))
"""
    assert [row["value"] for row in run(pgdl, tmp_path, competition, body, "fast")] == [0.0] * 8


SOCKETS = """
import os
import stat
def is_socket(descriptor):
    try:
        return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError:
        return False
return float(max(filter(is_socket, range(1000))))
"""


@pytest.mark.parametrize("mode", ["fast", rest("fresh")])
def test_the_control_channel_has_the_same_descriptor_in_every_call(tmp_path, one_model, pgdl, mode):
    """If the descriptor's number depended on the harness' open files, a submission could learn about other calls."""
    assert run(pgdl, tmp_path, one_model, SOCKETS, mode)[0]["value"] == 3.0


MEASURES = ("num_params", "random", "distance_from_init", "jacobian_norm")


def run_measures(pgdl, tasks, database, *measures):
    done = pgdl("run", *measures, "--tasks", tasks, "--results", database)
    assert done.returncode == 0, done.stdout + done.stderr
    return {(row["submission"], row["model"]): row for row in records(database)}


def test_values_and_keys_are_those_of_lone_calls(tmp_path, one_model, pgdl):
    together = run_measures(pgdl, one_model, tmp_path / "together.db", *MEASURES)
    for measure in ("random", "jacobian_norm"):
        ((key, alone),) = run_measures(pgdl, one_model, tmp_path / f"{measure}.db", measure).items()
        for name in ("value", "key", "seed", "outcome"):
            assert together[key][name] == alone[name]


def test_a_sandbox_is_started_once_for_each_model(tmp_path, four_models, pgdl):
    rows = run_measures(pgdl, four_models, tmp_path / "r.db", *MEASURES).values()
    assert len(rows) == 4 * 4
    assert sum(row["startup_wall_s"] > 0 for row in rows) == 4
    assert all(row["call_wall_s"] > 0 for row in rows)
    assert all(row["peak_memory_bytes"] > 0 for row in rows)


def test_a_call_over_its_limit_ends_the_sandbox_and_the_others_get_another(tmp_path, one_model, pgdl):
    """The first calls in a sandbox import and compile functions, which takes longer than this limit."""
    done = pgdl("run", *MEASURES, "--tasks", one_model, "--results", tmp_path / "r.db", "--time-limit", "0.003")
    rows = records(tmp_path / "r.db")
    assert done.returncode == 1
    assert sorted(row["submission"] for row in rows) == sorted(MEASURES)
    late = [row for row in rows if row["outcome"] == "TIMEOUT"]
    assert len(late) >= 2
    assert sum(row["startup_wall_s"] > 0 for row in rows) >= len(late)
