"""Tests of inputs that every measure refuses, and of inputs that every measure accepts."""

import numpy as np
import pytest
import tensorflow as tf
from measure_values import values
from small_networks import dataset, gaussian, layers, sequential

import baselines
from baselines import MEASURES, MeasureUnavailable
from baselines.core.measure import Need
from baselines.network import read_nodes

#: Measures that look at more than what the outputs of a network are.
OF_CLASSES = {name for name, measure in MEASURES.items() if measure.needs & {Need.LABELS, Need.CLASSES}}

NEED_LARGE_LAYERS = {"alpha", "alpha_req", "weighted_alpha", "log_alpha_norm", "mp_soft_rank", "rand_distance"}


def small(outputs=3, *, nested=False):
    head = [layers.Dense(4, "relu"), layers.Dense(4, "relu"), layers.Dense(outputs)]
    if nested:
        inner = sequential((5,), *head[:2])
        head = [inner, head[2]]
    model = sequential((6, 6, 1), layers.Flatten(), layers.Dense(5, "relu"), *head)
    gaussian(model)
    model.initial_weights = [array / 2 for array in model.get_weights()]
    return model


@pytest.fixture(scope="module")
def data():
    draw = np.random.default_rng(1)
    return dataset(draw.random((40, 6, 6, 1)), np.arange(40) % 3)


def said(message):
    """Return the text that `values` shows in place of a value if a measure refuses."""
    return repr(MeasureUnavailable(message))


@pytest.mark.rest
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


def test_initial_weights_that_are_missing_or_not_finite_are_refused_where_they_are_needed(data):
    model = small()
    model.initial_weights[2][0, 0] = np.nan
    names = [name for name, measure in MEASURES.items() if Need.INITIAL_WEIGHTS in measure.needs]
    assert set(values(model, data, names).values()) == {said("needs finite initial weights, which this model lacks")}
    del model.initial_weights
    assert set(values(model, data, names).values()) == {said("needs the initial weights, which this model lacks")}


@pytest.mark.rest
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


def test_a_model_without_a_graph_of_layers_is_refused_by_all_but_those_of_arrays(data):
    class Subclass(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.last = layers.Dense(3)

        def call(self, inputs):
            return self.last(tf.reshape(inputs, (-1, 36)))

    subclass = Subclass()
    subclass(np.zeros((1, 6, 6, 1), np.float32))
    subclass.initial_weights = subclass.get_weights()
    reason = said("expected a sequential or functional model that has been built")
    of_arrays = {"distance_from_init", "random"}
    assert not any(isinstance(value, str) for value in values(subclass, data, of_arrays).values())
    assert set(values(subclass, data, MEASURES.keys() - of_arrays).values()) == {reason}


@pytest.mark.parametrize("name", ["fisher_trace", "hessian_trace", "asam_sharpness", "num_params"])
def test_a_network_without_weight_layers_is_refused(name, data):
    model = sequential((6, 6, 1), layers.Reshape((12, 3)), layers.GlobalMaxPooling1D())
    with pytest.raises(MeasureUnavailable, match="needs a dense layer or a convolution, which this network lacks"):
        baselines.load(name)(model, data)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda data: data.take(0), "expected examples, found none"),
        (lambda data: data.batch(20), r"found labels \(20,\)"),
        (lambda data: data.map(lambda image, label: (image, tf.one_hot(label, 3))), r"found labels \(3,\)"),
        (
            lambda data: data.map(lambda image, label: (image, label / 2)),
            r"example 1: expected a whole number as its label, found 0\.5",
        ),
    ],
)
def test_data_of_another_form_are_refused_in_one_line(change, found, data):
    with pytest.raises(ValueError, match=rf"^dataset: .*{found}"):
        baselines.load("inverse_margin")(small(), change(data))


def test_labels_that_are_no_class_are_refused_with_the_example(data):
    changed = data.map(lambda image, label: (image, label + 1))
    said = repr(ValueError("dataset: example 2: expected a label from 0 to 2, found 3"))
    of_labels = {name for name, measure in MEASURES.items() if Need.LABELS in measure.needs}
    assert set(values(small(), changed, of_labels).values()) == {said}


@pytest.mark.rest
@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_inputs_that_are_not_finite_are_refused_with_the_example(bad):
    images = np.zeros((40, 6, 6, 1))
    images[7, 2, 5, 0] = bad
    said = repr(ValueError(f"dataset: example 7: expected finite numbers, found {np.float32(bad)} at (2, 5, 0)"))
    names = {name for name, measure in MEASURES.items() if Need.DATA in measure.needs}
    found = values(small(), dataset(images, np.arange(40) % 3), names)
    assert set(found.values()) == {said}


@pytest.mark.parametrize("name", ["augmentation_robustness_penalty", "layer_margin_winner"])
def test_pixels_out_of_the_range_that_changes_of_colours_take_are_refused(name, data):
    refusal = r"^dataset: example 0: expected pixels in \[0, 1\], found 2.* at \(\d, \d, 0\)"
    with pytest.raises(ValueError, match=refusal):
        baselines.load(name)(small(), data.map(lambda image, label: (image * 255, label)))


def test_a_value_that_is_no_number_is_refused_with_what_came_out(data):
    model = small()
    model.set_weights([1e15 * array for array in model.get_weights()])
    with pytest.raises(MeasureUnavailable, match=r"^came out as (nan|inf), which is no finite number$"):
        baselines.load("geometric_complexity")(model, data)


@pytest.mark.parametrize("name", ["kv_margin", "kv_gn_margin"])
def test_representations_whose_squares_are_not_finite_are_refused(name):
    images = 1e30 * np.random.default_rng(0).normal(size=(30, 6, 6, 1))
    with pytest.raises(MeasureUnavailable, match="needs representations whose squares are finite"):
        baselines.load(name)(small(), dataset(images, np.arange(30) % 3))
