"""Tests of measure files as they were written in 2020: their arguments, imports, and files beside them."""

import json

import pytest
from real_runs import records

pytestmark = pytest.mark.rest

#: A measure in several files, which takes the directory that it lies in.
SEVERAL_FILES = {
    "complexity.py": """
import os, sys
import tensorflow as tf
from helpers import *
import matplotlib.pyplot as plt
from scipy.stats import *

def complexity(model, dataset, program_dir, measure='margin', augment=None):
    assert isinstance(program_dir, str) and os.path.isabs(program_dir) and program_dir in sys.path
    with open(os.path.join(program_dir, 'table', 'factor.txt')) as file:
        return float(file.read()) * spread(model, dataset)
""",
    "helpers.py": "def spread(model, dataset):\n    return float(len(model.layers))\n",
    "table/factor.txt": "1.5",
    "metadata": "description: Provides prediction model to be executed by the ingestion program",
}


#: A measure that keeps files beside itself, and a count between calls.
BESIDE = """
import os
import tensorflow as tf
from model_utils import get_jacobian
tf.config.threading.set_intra_op_parallelism_threads(1)
CALLS = []

def complexity(model, dataset, program_dir):
    CALLS.append(model)
    for place in (os.path.dirname(os.path.abspath(__file__)), program_dir):
        with open(os.path.join(place, 'cache.txt'), 'a') as file:
            file.write('x')
    x, _ = next(iter(dataset.batch(2)))
    return float(len(CALLS)) + len(open(os.path.join(program_dir, 'cache.txt')).read()) + len(get_jacobian(model, x))
"""


#: A measure that relies on features of both versions of Keras, as the competition's own measure files do.
GRADIENTS = """
import numpy as np
import tensorflow as tf
from tqdm import tqdm


def complexity(model, dataset, *, program_dir='not asked for by position'):
    assert program_dir == 'not asked for by position'
    @tf.function
    def predict(x):
        with tf.GradientTape(persistent=True) as tape:
            logits = model(x, tape=tape)
        return [tape.batch_jacobian(logits, layer._last_seen_input) for layer in model.layers]

    total = 0.0
    for x, y in tqdm(dataset.batch(8, drop_remainder=True), desc='batches'):
        assert x.dtype == tf.float32 and y.dtype == tf.int32
        total += sum(float(tf.reduce_mean(tf.square(j))) for j in predict(x))
    groups = [iter(dataset.filter(lambda x, y, k=k: tf.equal(y, k)).batch(4)) for k in range(3)]
    assert all(int(next(group)[1][0]) == k for k, group in enumerate(groups))
    shuffled = iter(dataset.shuffle(1000).repeat(-1).batch(4))
    shuffled.next()
    original = model.get_weights()
    model.set_weights([w + 1 for w in original])
    assert np.allclose(model.get_weights()[0], original[0] + 1)
    distance = sum(float(((a - b) ** 2).sum()) for a, b in zip(original, model.initial_weights))
    optimizer = tf.keras.optimizers.SGD(learning_rate=1e-3)
    x, y = next(iter(dataset.batch(8)))
    with tf.GradientTape() as tape:
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(y, model(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return total + distance
"""


def write(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


@pytest.fixture(scope="module")
def rows(tmp_path_factory, one_model, pgdl, sandbox):
    directory = tmp_path_factory.mktemp("old")
    described = SEVERAL_FILES["metadata"]
    submissions = [
        write(directory / "several_3", SEVERAL_FILES),
        write(directory / "several_2", SEVERAL_FILES | {"metadata": f"{described}\nkeras: 2\n"}),
        write(directory / "beside_2", {"complexity.py": BESIDE, "metadata": "keras: 2"}),
        write(directory / "beside_3", {"complexity.py": BESIDE.replace("from model_utils", "#")}),
        write(directory / "gradients_2", {"complexity.py": GRADIENTS, "metadata": "keras: 2"}),
        write(directory / "gradients_3", {"complexity.py": GRADIENTS, "metadata": "keras: 3"}),
    ]
    database = directory / "results.db"
    done = pgdl("run", *submissions, "--tasks", one_model, "--results", database)
    assert done.returncode == 1, done.stdout + done.stderr
    return {row["submission"]: row for row in records(database)}


@pytest.mark.parametrize("version", [2, 3])
def test_a_measure_gets_its_directory_if_it_takes_it(rows, version):
    row = rows[f"several_{version}"]
    assert (row["outcome"], row["message"]) == ("OK", "")
    assert row["value"] == 1.5 * 2


@pytest.mark.parametrize(("version", "runtime"), [(2, "keras2"), (3, "tensorflow")])
def test_a_measure_file_of_the_competition_runs_unmodified(rows, version, runtime):
    """If names of 2020 were restored for a measure, its record says so."""
    row = rows[f"gradients_{version}"]
    assert (row["runtime"], row["outcome"], row["message"]) == (runtime, "OK", "")
    environment = json.loads(row["environment"])
    assert environment["keras"].split(".")[0] == str(version)
    assert environment.get("names_of") == ("2020" if version == 2 else None)
    assert "batches: 100%" in row["output_tail"]


def test_a_measure_of_2020_writes_beside_itself_and_no_other_call_sees_it(rows):
    assert (rows["beside_2"]["outcome"], rows["beside_2"]["message"]) == ("OK", "")
    assert rows["beside_2"]["value"] == 1 + 2 + 2
    assert "set_intra_op_parallelism_threads has no effect" in rows["beside_2"]["output_tail"]
    assert rows["beside_3"]["outcome"] == "FORBIDDEN"
    assert "cache.txt' (in the sandbox only /tmp can be written to) (code of 2020? `k" in rows["beside_3"]["message"]
