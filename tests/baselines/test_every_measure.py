"""Tests of properties that all measures of the library share."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from forks import forks
from measure_values import DEMO, read_dataset, read_model, values

import baselines

#: A small one with three blocks.
MODEL = "model_21"


def test_importing_the_registry_imports_nothing_that_takes_seconds():
    slow = "('tensorflow', 'keras', 'scipy', 'sklearn')"
    program = f"import sys, baselines; print([name for name in {slow} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_names_and_specifications():
    with pytest.raises(KeyError):
        baselines.load("no_such_measure")
    assert baselines.load("vc_dim:image_side=8").keywords == {"image_side": 8}


@pytest.mark.parametrize("measure", baselines.MEASURES.values(), ids=lambda measure: measure.name)
def test_registry_entry(measure):
    assert baselines.MEASURES[measure.name] is measure
    for text in (measure.family, measure.meaning, measure.formula, measure.source, measure.cost):
        assert text
        assert "\n" not in text
    assert not {"Formula", "Source"} & set(measure.range.split())
    orders = ("input dimensions", "examples", "input dimensions and of examples")
    assert measure.draws.partition(" if ")[0] in ("", *(f"depend on the order of {order}" for order in orders))
    assert not measure.order or not baselines.MEASURES[measure.order].order
    assert all(default is not None for default in measure.parameters.values())


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ("vc_dim:side=8", "side: expected one of image_side"),
        ("vc_dim:image_side=big", "image_side: expected a value such as 32, found 'big'"),
        ("vc_dim:image_side=1.5", "image_side: expected int, found 1.5"),
        ("depth:image_side=8", "image_side: expected one of no parameters"),
    ],
)
def test_a_specification_with_a_wrong_parameter_is_refused(specification, message):
    with pytest.raises(ValueError, match=message):
        baselines.load(specification)


@pytest.fixture(scope="module")
def twice():
    """Return all values, all computed in reverse order with another seed, and whether the model is unchanged."""
    model, data = read_model(DEMO / MODEL), read_dataset(DEMO / "dataset_1" / "train")
    before = state(model)
    names = list(baselines.MEASURES)
    found = [values(model, data, names), values(model, data, names[::-1], seed=8)]
    return *found, before == state(model)


def state(model):
    flags = [weight.trainable for weight in model.weights]
    activations = [getattr(layer, "activation", None) for layer in model.layers]
    return [weights.tobytes() for weights in model.get_weights()], flags, activations


@pytest.mark.rest
@pytest.mark.parametrize("name", baselines.MEASURES)
def test_a_finite_float_that_depends_on_no_seed_of_the_call_but_for_random(name, twice):
    """Only `random` uses the seed of the call; other measures that draw numbers have a parameter `seed`."""
    first, again, _ = twice
    assert type(first[name]) is float, first[name]
    assert np.isfinite(first[name])
    assert (first[name] == again[name]) == (name != "random")


@pytest.mark.rest
def test_the_model_is_left_as_found(twice):
    assert twice[2]


@pytest.mark.full
def test_keras_2_and_keras_3_give_the_same_values(twice):
    program = [sys.executable, Path(__file__).with_name("measure_values.py"), MODEL]
    environment = os.environ | {"TF_USE_LEGACY_KERAS": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = forks.run("keras2", program, environment)
    assert done.returncode == 0, done.stderr
    legacy = json.loads(done.stdout)
    assert legacy["library"] == "tf_keras"
    assert twice[0] == pytest.approx(legacy["values"][MODEL], rel=1e-4)


@pytest.mark.rest
@pytest.mark.parametrize(
    "name", ["inverse_margin", "gi_intra_l0", "pacbayes_flatness", "log_prod_of_spec", "jacobian_norm"]
)
def test_a_measure_alone_gives_the_value_that_it_gives_among_others(name, twice, demo_data):
    assert values(read_model(DEMO / MODEL), demo_data, [name])[name] == twice[0][name]
