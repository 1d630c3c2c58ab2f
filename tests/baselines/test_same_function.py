"""Networks that are the same function of their inputs, and what every measure makes of them.

The same weights in other units, inputs or hidden units in another order, the same layers written in another way, the
same data in another order or in batches of another size, and functions that are compiled: a measure has the same value,
unless it is named here, with the reason.
"""

import numpy as np
import pytest
import tensorflow as tf
from as_trained import IN_UNITS
from measure_values import values
from small_networks import dataset, layers

from baselines import MEASURES, MeasureUnavailable
from baselines.network import network

pytestmark = pytest.mark.rest

#: Looks at every array as it is, or at what layers put out before they are normalized.
BEFORE_NORMALIZATION = dict.fromkeys(IN_UNITS, "in the units in which the network was trained, as in its source") | {
    "distance_from_init": "nothing is folded, as in the starting kit",
    "jacobian_norm": "derivatives with respect to what every layer takes in, normalization included",
    "sharpness_starter_kit": "its steps are of one length for all weights, as in the starting kit",
    "random": "the bytes of the weights",
    **dict.fromkeys(
        ["alpha", "log_alpha_norm", "mp_soft_rank", "rand_distance", "weighted_alpha"],
        "nothing is folded, as in WeightWatcher",
    ),
    "cna": "pre-activations are those in front of normalization, as in the authors' code",
    "cna_area": "as cna",
    "cna_margin": "as cna",
    "cna_area_over_margin": "as cna",
}

#: Counts the layers of the model as they are written.
LAYERS_AS_WRITTEN = {
    "jacobian_norm": "mean over all layers of the model",
    "wcv": "the last third of the layers",
    "vr": "what the last two layers take in",
}

#: Sizes and distances of weights, and what harm a change of them does.
IN_ABSOLUTE_UNITS = {"fro_dist", "l2_dist", "l2_norm", "param_norm"} | {
    name for name in MEASURES if name.startswith(("dist_spec_init", "pacbayes", "sharpness"))
}
#: The order of inputs or weights, or of examples, changes the draws of these.
DRAWS_BY_INPUT, DRAWS_BY_EXAMPLE = (
    {name for name, measure in MEASURES.items() if f"by {what}" in measure.draws} for what in ("input", "example")
)
#: And the order of hidden units also changes those of noise on the units.
DRAWS_BY_UNIT = DRAWS_BY_INPUT | {"noise_sensitivity_l1"}

#: Whatever else is done to it, an input that is no image has no value of these, with this error.
NEEDS_IMAGES = dict.fromkeys(
    ["layer_margin_winner"]
    + [
        f"{prefix}_{change}"
        for prefix in ("gi", "augmented_subset_error", "pr_mean_error")
        for change in ("rotation", "translate_x", "translate_y", "color_jitter")
    ],
    "needs images (height, width, channels), which inputs of shape (12,) are not",
) | dict.fromkeys(
    ["augmentation_robustness_penalty", "augmentation_robustness_runner_up"],
    "needs images with 1, 3 or 4 channels, which inputs of shape (12,) are not",
)
OF_VECTORS = MEASURES.keys() - NEEDS_IMAGES.keys()


def with_weights(model, seed=0):
    """Random weights that are not too large, and others that training began with."""
    rng = np.random.default_rng(seed)
    for _ in range(2):
        model.initial_weights = model.get_weights()
        for layer in model.layers:
            drawn = [
                rng.normal(size=array.shape) / max(np.sqrt(array[..., 0].size), 1) for array in layer.get_weights()
            ]
            layer.set_weights([np.abs(array) + 0.5 for array in drawn] if is_norm(layer) else drawn)
    return model


def labels_of(model, inputs):
    """The network's own answers, but for some."""
    labels = model(inputs.astype(np.float32)).numpy().argmax(axis=1)
    labels[:6] = np.arange(6) % 3
    return labels


def is_norm(layer):
    return isinstance(layer, layers.BatchNormalization)


def normalized(units=(1, 1, 1), *, idle=False):
    """A network with normalization behind its layers or their activations, each in other units.

    `idle`: with layers in it that do nothing outside training.
    """
    norms = [layers.BatchNormalization(epsilon=1e-3 * unit**2) for unit in units]
    middle = [layers.DepthwiseConv2D(3), norms[0], layers.ReLU(), layers.SeparableConv2D(5, 2), layers.ReLU(), norms[1]]
    end = [layers.Flatten(), layers.Dense(40), norms[2], layers.ReLU(), layers.Dense(3)]
    if idle:
        middle = [layers.RandomFlip(), *between(middle, lambda: layers.SpatialDropout2D(0.5))]
        end = [layers.GaussianNoise(1.0), *between(end, lambda: layers.Dropout(0.5)), layers.Identity()]
    model = with_weights(tf.keras.Sequential([tf.keras.Input((6, 6, 3)), *middle, *end]))
    initial, trained = model.initial_weights, model.get_weights()
    model.set_weights(initial)
    model.initial_weights = in_units(model, units)
    model.set_weights(trained)
    model.set_weights(in_units(model, units))
    return model


def between(some, make):
    """Layers, with a new one behind each."""
    return [one for layer in some for one in (layer, make())]


def in_units(model, units):
    """The weights, if what each weight layer puts out, and its normalization takes in, has another unit."""
    *weighty, last = [layer for layer in model.layers if layer.weights]
    changed = []
    for layer, norm, unit in zip(weighty[::2], weighty[1::2], units, strict=True):
        *others, kernel, bias = layer.get_weights()
        gamma, beta, mean, variance = norm.get_weights()
        changed += [*others, unit * kernel, unit * bias, gamma, beta, unit * mean, unit**2 * variance]
    return [*changed, *last.get_weights()]


@pytest.fixture(scope="module")
def images():
    """Images (48, 6, 6, 3) and labels."""
    inputs = np.random.default_rng(1).random((48, 6, 6, 3))
    return dataset(inputs, labels_of(normalized(), inputs))


@pytest.fixture(scope="module")
def in_some_units(images):
    return values(normalized(), images)


@pytest.fixture(scope="module")
def in_other_units(images):
    names = sorted(MEASURES.keys() - BEFORE_NORMALIZATION.keys())
    return values(normalized((4, 0.25, 16)), images, names)  # powers of 2 are exact


@pytest.fixture(scope="module")
def among_idle_layers(images):
    return values(normalized(idle=True), images)


@pytest.fixture(scope="module")
def compiled(images):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "FEW", 0)
        return values(normalized(), images)


@pytest.fixture(scope="module")
def in_small_batches(images):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network.Network, "batch_size_of", lambda self, passes: 13)
        return values(normalized(), images)


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(MEASURES.keys() - BEFORE_NORMALIZATION.keys()))
def test_units_that_normalization_hides_do_not_matter(name, in_some_units, in_other_units):
    assert in_other_units[name] == close(in_some_units[name])


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_layers_that_do_nothing_outside_training_do_not_matter(name, in_some_units, among_idle_layers):
    assert among_idle_layers[name] == number(in_some_units[name])


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_functions_that_are_compiled_find_the_same_as_those_that_are_not(name, in_some_units, compiled):
    assert compiled[name] == close(in_some_units[name])


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_the_size_of_batches_does_not_matter(name, in_some_units, in_small_batches):
    assert in_small_batches[name] == close(in_some_units[name])


def dense(*, order=slice(None), units=slice(None), scale=1, apart=False):
    """A dense network.

    `order`, `units`: of its inputs and of its first hidden units; `scale` has moved from its second layer to its first;
    `apart`: activations are layers of their own.
    """
    hidden = [[layers.Dense(n), layers.ReLU()] if apart else [layers.Dense(n, "relu")] for n in (12, 24)]
    first = [layers.Rescaling(1.0)] if apart else []
    model = tf.keras.Sequential([tf.keras.Input((12,)), *first, *hidden[0], *hidden[1], layers.Dense(3)])
    with_weights(model)
    for arrays in (trained := model.get_weights(), model.initial_weights):
        arrays[0] = scale * arrays[0][order][:, units]
        arrays[1] = scale * arrays[1][units]
        arrays[2] = arrays[2][units] / scale
    model.set_weights(trained)
    return model


def rewritten():
    """The dense network as a graph: a model within the model, layers with names, at the end a softmax and more."""
    source, flow = (tf.keras.Input((12,)) for _ in range(2))
    inner = tf.keras.Model(flow, layers.Dense(24, "relu", name="second")(layers.Dense(12, "relu", name="first")(flow)))
    logits = layers.Dense(3, name="weight_decay_0.1")(inner(source))
    arranged = layers.Flatten()(layers.Reshape((3, 1))(layers.Softmax()(logits)))
    model = tf.keras.Model(source, layers.Activation("linear", dtype="float64")(arranged), name="another")
    original = dense()
    model.set_weights(original.get_weights())
    model.initial_weights = original.initial_weights
    return model


@pytest.fixture(scope="module")
def vectors():
    """Inputs (60, 12) and labels."""
    inputs = np.random.default_rng(2).normal(size=(60, 12))
    return inputs, labels_of(dense(), inputs)


@pytest.fixture(scope="module")
def as_they_are(vectors):
    return values(dense(), dataset(*vectors))


@pytest.fixture(scope="module")
def inputs_in_another_order(vectors):
    order = np.random.default_rng(3).permutation(12)
    names = sorted(MEASURES.keys() - DRAWS_BY_INPUT)
    return values(dense(order=order), dataset(vectors[0][:, order], vectors[1]), names)


@pytest.fixture(scope="module")
def units_in_another_order(vectors):
    names = sorted(MEASURES.keys() - DRAWS_BY_UNIT)
    return values(dense(units=np.random.default_rng(5).permutation(12)), dataset(*vectors), names)


@pytest.fixture(scope="module")
def with_scale_moved(vectors):
    names = sorted(OF_VECTORS - BEFORE_NORMALIZATION.keys() - IN_ABSOLUTE_UNITS)
    return values(dense(scale=4), dataset(*vectors), names)  # powers of 2 are exact


@pytest.fixture(scope="module")
def examples_in_another_order(vectors):
    order = np.random.default_rng(4).permutation(60)
    names = sorted(MEASURES.keys() - DRAWS_BY_EXAMPLE)
    return values(dense(), dataset(*(array[order] for array in vectors)), names)


@pytest.fixture(scope="module")
def in_other_words(vectors):
    return values(rewritten(), dataset(*vectors))


@pytest.fixture(scope="module")
def layers_apart(vectors):
    return values(dense(apart=True), dataset(*vectors))


@pytest.mark.parametrize("name", sorted(OF_VECTORS - DRAWS_BY_INPUT))
def test_the_order_of_inputs_does_not_matter(name, as_they_are, inputs_in_another_order):
    assert inputs_in_another_order[name] == close(as_they_are[name])


@pytest.mark.parametrize("name", sorted(OF_VECTORS - DRAWS_BY_UNIT))
def test_the_order_of_hidden_units_does_not_matter(name, as_they_are, units_in_another_order):
    assert units_in_another_order[name] == close(as_they_are[name])


@pytest.mark.parametrize("name", sorted(OF_VECTORS - BEFORE_NORMALIZATION.keys() - IN_ABSOLUTE_UNITS))
def test_scale_that_moves_between_layers_does_not_matter(name, as_they_are, with_scale_moved):
    assert with_scale_moved[name] == close(as_they_are[name])


@pytest.mark.parametrize("name", sorted(OF_VECTORS - DRAWS_BY_EXAMPLE))
def test_the_order_of_examples_does_not_matter(name, as_they_are, examples_in_another_order):
    assert examples_in_another_order[name] == close(as_they_are[name])


@pytest.mark.parametrize("name", sorted(OF_VECTORS - LAYERS_AS_WRITTEN.keys()))
def test_names_models_within_the_model_and_what_is_behind_the_logits_do_not_matter(name, as_they_are, in_other_words):
    assert in_other_words[name] == close(as_they_are[name])


@pytest.mark.parametrize("name", sorted(OF_VECTORS - LAYERS_AS_WRITTEN.keys()))
def test_a_linear_first_layer_and_activations_of_their_own_do_not_matter(name, as_they_are, layers_apart):
    assert layers_apart[name] == close(as_they_are[name])


@pytest.mark.parametrize(
    "network", ["as_they_are", "inputs_in_another_order", "examples_in_another_order", "in_other_words", "layers_apart"]
)
def test_those_that_need_images_and_no_others_refuse_vectors(network, request):
    found = request.getfixturevalue(network)
    refused = {name: value for name, value in found.items() if isinstance(value, str)}
    assert refused == {
        name: repr(MeasureUnavailable(NEEDS_IMAGES[name])) for name in found.keys() & NEEDS_IMAGES.keys()
    }


def number(value):
    """The value of a measure, not the error in its place: two errors are no values that agree."""
    assert isinstance(value, float), value
    return value


def close(value):
    return pytest.approx(number(value), rel=1e-4, abs=1e-9)
