"""Tests of the ways to start a worker: the value of a call is always the same, also in shared sandboxes."""

import pytest
from matrix import full
from real_runs import records, write_submission

pytestmark = [pytest.mark.rest, pytest.mark.usefixtures("sandbox")]

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


#: Looks for traces of earlier calls, and leaves some.
TRACES = """
import os, builtins
import numpy as np
traces = [os.path.exists('/tmp/trace'), os.path.exists('/dev/shm/trace'), hasattr(np, 'trace_of_me')]
open('/tmp/trace', 'w').close()
open('/dev/shm/trace', 'w').close()
np.trace_of_me = builtins.trace_of_me = True
return float(sum(traces))
"""

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

MEASURES = ("num_params", "random", "distance_from_init", "jacobian_norm")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    directory = tmp_path_factory.mktemp("submissions")
    bodies = {"draws": DRAWS, "traces": TRACES, "sockets": SOCKETS}
    return {name: write_submission(directory, name, body) for name, body in bodies.items()}


def run(pgdl, tasks, database, *arguments):
    done = pgdl("run", *arguments, "--tasks", tasks, "--results", database)
    assert done.returncode == 0, done.stdout + done.stderr
    return {(row["submission"], row["model"]): row for row in records(database)}


@pytest.fixture(scope="module")
def together(tmp_path_factory, files, four_models, pgdl, sandbox):
    submissions = ("--sandbox", "fast", files["traces"], files["sockets"], *MEASURES)
    return run(pgdl, four_models, tmp_path_factory.mktemp("together") / "r.db", *submissions)


def test_no_call_sees_what_another_left_or_can_count_them(together):
    """If the descriptor's number depended on the harness' open files, a submission could learn about other calls."""
    for name, value in (("traces", 0.0), ("sockets", 3.0)):
        assert [row["value"] for key, row in together.items() if key[0] == name] == [value] * 4, name


def test_a_sandbox_is_started_once_for_the_librarys_measures_on_each_model(together):
    assert len(together) == 4 * 6
    assert sum(row["startup_wall_s"] > 0 for (name, _), row in together.items() if name in MEASURES) == 4
    assert all(row["call_wall_s"] > 0 and row["peak_memory_bytes"] > 0 for row in together.values())


def test_values_and_keys_are_those_of_lone_calls(tmp_path, together, four_models, pgdl):
    for measure in ("random", "jacobian_norm"):
        for key, alone in run(pgdl, four_models, tmp_path / f"{measure}.db", measure).items():
            for name in ("value", "key", "seed", "outcome"):
                assert together[key][name] == alone[name]


@pytest.mark.parametrize("runtime", [full("keras2"), "tensorflow"])
def test_values_are_the_same_to_the_last_bit_however_workers_start(tmp_path, files, one_model, pgdl, runtime):
    shared = (files["draws"], files["sockets"], "--runtime", runtime, "--sandbox")
    fast, fresh = (run(pgdl, one_model, tmp_path / f"{kind}.db", *shared, kind) for kind in ("fast", "fresh"))
    for key in fast:
        assert (fast[key]["sandbox"], fresh[key]["sandbox"]) == ("bubblewrap/fast", "bubblewrap/fresh")
        assert (fast[key]["value"], fast[key]["key"]) == (fresh[key]["value"], fresh[key]["key"])


def test_a_call_over_its_limit_ends_the_sandbox_and_the_others_get_another(tmp_path, one_model, pgdl):
    """The first calls in a sandbox import and compile functions, which takes longer than this limit."""
    done = pgdl("run", *MEASURES, "--tasks", one_model, "--results", tmp_path / "r.db", "--time-limit", "0.003")
    rows = records(tmp_path / "r.db")
    assert done.returncode == 1
    assert sorted(row["submission"] for row in rows) == sorted(MEASURES)
    late = [row for row in rows if row["outcome"] == "TIMEOUT"]
    assert len(late) >= 2
    assert sum(row["startup_wall_s"] > 0 for row in rows) >= len(late)
