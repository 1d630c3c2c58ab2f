"""Tests that a submission which reads everything but the weights cannot tell how a model was trained.

32 networks have the same layers, and differ in what their files say of training: names, dropout, momentum of batch
normalization, regularizers, initializers, times, order. Their weights are noise: only the harness can leak a
hyperparameter.
"""

import itertools
import json
import os

import numpy as np
import pytest
from real_runs import records
from scipy.stats import spearmanr
from throwaway import INPUT_SHAPE, dense_weights, make_task, write_json, write_weights

pytestmark = pytest.mark.rest

HYPERPARAMETERS = {
    "dropout": [0.0, 0.1, 0.3, 0.5],
    "optimizer": ["adam", "sgd"],
    "weight_decay": [0.0, 1e-4, 1e-3, 1e-2],
}

#: Correlations of 32 independent pairs exceed this with a probability below 1e-6.
CHANCE = 0.75

LOOK = """
import hashlib, json, os, re, sys, time, zipfile
import numpy as np

def text(path):
    try:
        return open(path, 'rb').read().decode(errors='replace')
    except OSError as error:
        return type(error).__name__

def complexity(model, dataset):
    status = dict(line.split(':', 1) for line in text('/proc/self/status').splitlines())
    numbers = {
        'time': time.time(), 'monotonic': time.monotonic(), 'process': os.getpid(), 'user': os.getuid(),
        'first draw': np.random.rand(), 'device': os.stat('/tmp').st_dev, 'memory': int(status['VmRSS'].split()[0]),
        'sandbox made': os.stat('/job').st_mtime,
    }
    files = {}
    for directory, _, names in sorted(os.walk('/job')):
        for path in ([] if directory == '/job' else [directory]) + [os.path.join(directory, n) for n in sorted(names)]:
            found = os.stat(path)
            files[path] = [found.st_mode, found.st_size if os.path.isfile(path) else 0, found.st_mtime, found.st_nlink]
            numbers |= {'inode of ' + path: found.st_ino, 'change of ' + path: found.st_ctime}
    archive = zipfile.ZipFile('/job/model/weights.npz').infolist()
    same = {
        'config': json.dumps(model.get_config(), default=str), 'name': model.name, 'type': str(type(model)),
        'layers': [[layer.name, str(type(layer)), sorted(vars(layer)), str(layer.losses)] for layer in model.layers],
        'optimizer': str(getattr(model, 'optimizer', None)), 'compiled': str(getattr(model, 'compiled', None)),
        'attributes': sorted(vars(model)), 'weights': [[w.name, str(w.shape), w.trainable] for w in model.weights],
        'trainable': len(model.trainable_weights), 'architecture': text('/job/model/architecture.json'),
        'archive': [[member.filename, member.date_time, member.file_size] for member in archive],
        'submission': text('/job/submission/complexity.py'), 'files': files, 'data': str(dataset),
        'labels': np.load('/job/data/labels.npy').tolist(), 'environment': dict(os.environ),
        'arguments': sys.orig_argv, 'host': os.uname(), 'directory': os.getcwd(),
        'scratch': os.listdir('/tmp') + os.listdir('/dev/shm'),
        'processes': [name for name in os.listdir('/proc') if name.isdigit()],
        'first process': re.sub('[0-9]+', 'N', text('/proc/1/cmdline')),
        'rights': [status[name] for name in ('Groups', 'CapEff', 'CapPrm', 'CapBnd', 'NoNewPrivs', 'Seccomp')],
    }
    for name, seen in same.items():
        same[name] = hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:8] + ' ' + json.dumps(seen)[:150]
    print(json.dumps({'same': same, 'numbers': numbers}))
    return next(layer.momentum for layer in model.layers if hasattr(layer, 'momentum'))
"""


def telling_architecture(cell, number) -> dict:
    """Return a Keras config.json in which every name and training setting reveals the hyperparameters."""
    regularizer = {"class_name": "L2", "config": {"l2": cell["weight_decay"]}}
    initializer = {"class_name": "HeNormal", "config": {"seed": number}}
    training = {"kernel_regularizer": regularizer, "kernel_initializer": initializer}
    name = f"{cell['optimizer']}_{cell['weight_decay']}"
    hidden = {"class_name": "Dense", "config": {"name": f"{name}_1", "units": 6, "activation": "relu", **training}}
    norm = {"class_name": "BatchNormalization", "config": {"name": f"{name}_norm", "momentum": momentum_of(number)}}
    dropout = {"class_name": "Dropout", "config": {"name": f"dropout_{cell['dropout']}", "rate": cell["dropout"]}}
    logits = {"class_name": "Dense", "config": {"name": f"{name}_2", "units": 3, "activation": "linear", **training}}
    source = {"class_name": "InputLayer", "config": {"batch_shape": [None, *INPUT_SHAPE], "name": f"input_{name}"}}
    layers = [source, hidden, norm, dropout, logits]
    compiled = {"optimizer": cell["optimizer"], "loss": "mse"}
    return {"class_name": "Sequential", "config": {"name": name, "layers": layers}, "compile_config": compiled}


def momentum_of(number) -> float:
    return 0.9 + number / 1000


def random_weights(random) -> list:
    hidden, logits = dense_weights([{"units": 6}, {"units": 3}], random)
    return [hidden, list(random.uniform(0.5, 1, (4, 6)).astype(np.float32)), logits]


@pytest.fixture(scope="module")
def cells() -> list[dict]:
    """The hyperparameters of model_0 to model_31."""
    return [dict(zip(HYPERPARAMETERS, values, strict=True)) for values in itertools.product(*HYPERPARAMETERS.values())]


@pytest.fixture(scope="module")
def rows(cells, tmp_path_factory, pgdl, sandbox) -> list[dict]:
    directory = tmp_path_factory.mktemp("blind")
    task, random = make_task(directory, name="blind", reference=False), np.random.default_rng(1)
    for number, cell in enumerate(cells):
        model = task / f"model_{number}"
        architecture = telling_architecture(cell, number)
        write_json(model / "config.json", architecture)
        layers = architecture["config"]["layers"]
        names = [layer["config"]["name"] for layer in layers if layer["class_name"].startswith(("Dense", "Batch"))]
        for file in ("weights.hdf5", "weights_init.hdf5"):
            write_weights(model / file, random_weights(random), names)
            os.utime(model / file, (number, number))
    submission, database = directory / "curious.py", directory / "results.db"
    submission.write_text(LOOK)
    done = pgdl("run", submission, "--tasks", task, "--results", database)
    assert done.returncode == 0, done.stdout + done.stderr
    return records(database)


@pytest.fixture(scope="module")
def seen(rows) -> dict[int, dict]:
    """Number of a model -> the submission's findings on this model."""
    return {int(row["model"].removeprefix("model_")): json.loads(row["output_tail"]) for row in rows}


def test_what_does_not_vary_by_itself_is_the_same_for_all_models(seen):
    first = seen[0]["same"]
    for number, found in seen.items():
        assert {name: value for name, value in found["same"].items() if value != first[name]} == {}, number


def test_a_setting_that_only_training_used_has_one_value(rows):
    assert {row["value"] for row in rows} == {0.99}, "the default of Keras"


def test_what_varies_tells_no_hyperparameter(seen, cells):
    features = {name: [seen[number]["numbers"][name] for number in range(32)] for name in seen[0]["numbers"]}
    for name, values in features.items():
        if len(set(values)) == 1:
            continue
        for hyperparameter, possible in HYPERPARAMETERS.items():
            truth = [possible.index(cell[hyperparameter]) for cell in cells]
            assert abs(spearmanr(values, truth).statistic) < CHANCE, (name, hyperparameter)


def test_the_test_would_notice_the_order_of_names(cells):
    """If models ran in the order of their names, that order would correlate with the first hyperparameter."""
    truth = [HYPERPARAMETERS["dropout"].index(cell["dropout"]) for cell in cells]
    assert spearmanr(range(32), truth).statistic > CHANCE
