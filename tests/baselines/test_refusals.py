"""What every measure refuses, and what it does not."""

import numpy as np
import pytest
import tensorflow as tf
from measure_values import values
from small_networks import dataset, layers

import baselines
from baselines import MEASURES, MeasureUnavailable
from baselines.core.measure import Need
from baselines.network import read_nodes

#: Measures that look at more than what the outputs of a network are.
OF_CLASSES = {name for name, measure in MEASURES.items() if measure.needs & {Need.LABELS, Need.CLASSES}}

NEED_LARGE_LAYERS = {"alpha", "weighted_alpha", "log_alpha_norm"}


def small(outputs=3, *, nested=False):
    head = [layers.Dense(4, "relu"), layers.Dense(4, "relu"), layers.Dense(outputs)]
    if nested:
        inner = tf.keras.Sequential([tf.keras.Input((5,)), *head[:2]])
        head = [inner, head[2]]
    model = tf.keras.Sequential([tf.keras.Input((6, 6, 1)), layers.Flatten(), layers.Dense(5, "relu"), *head])
    draw = np.random.default_rng(0)
    model.set_weights([draw.normal(size=array.shape) for array in model.get_weights()])
    model.initial_weights = [array / 2 for array in model.get_weights()]
    return model


@pytest.fixture(scope="module")
def data():
    draw = np.random.default_rng(1)
    return dataset(draw.random((40, 6, 6, 1)), np.arange(40) % 3)


def said(message):
    """What `values` has in the place of the value of a measure that refuses."""
    return repr(MeasureUnavailable(message))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("nested", [False, True])
def test_weights_that_are_not_finite_are_refused_by_all(bad, nested, data):
    model = small(nested=nested)
    weights = model.get_weights()
    weights[3][1] = bad
    model.set_weights(weights)
    assert set(values(model, data).values()) == {
        said(f"needs finite weights, which layer {model.layers[2].name} lacks")
    }


def test_initial_weights_that_are_not_finite_are_refused_where_they_are_needed(data):
    model = small()
    model.initial_weights[2][0, 0] = np.nan
    names = [name for name, measure in MEASURES.items() if Need.INITIAL_WEIGHTS in measure.needs]
    assert set(values(model, data, names).values()) == {said("needs finite initial weights, which this model lacks")}


def test_one_logit_is_enough_for_what_does_not_need_logits_of_classes(data):
    found = values(small(outputs=1), data)
    refused = {name for name, value in found.items() if isinstance(value, str)}
    assert refused - NEED_LARGE_LAYERS == OF_CLASSES
    assert {found[name] for name in OF_CLASSES} == {said("needs a logit for each of two classes or more, found 1")}
    with pytest.raises(MeasureUnavailable, match="of two classes or more, found 1"):
        baselines.load("input_jacobian_norm:outputs=probabilities")(small(outputs=1), data)


def test_a_model_within_a_model_is_taken_apart_as_if_its_layers_were_the_models_own():
    one, other = (read_nodes(small(nested=nested)) for nested in (False, True))
    assert one.layers == other.layers
    for node, same in zip(one.nodes, other.nodes, strict=True):
        assert (node.kind, node.sources) == (same.kind, same.sources)
        assert all(map(np.array_equal, node.weights, same.weights))
