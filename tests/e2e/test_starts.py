"""A call gives the same value however its worker is started, and every call starts with a clean slate."""

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


def test_another_seed_gives_another_value(tmp_path, one_model, pgdl):
    first = run(pgdl, tmp_path, one_model, DRAWS, "fast", "--seed", 1)
    both = run(pgdl, tmp_path, one_model, DRAWS, "fast", "--seed", 2)
    assert first[0]["value"] != both[1]["value"]


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
    """A number that depends on what the harness has open would tell of other calls."""
    assert run(pgdl, tmp_path, one_model, SOCKETS, mode)[0]["value"] == 3.0
