"""Tests that networks which are the same function have the same value of every measure.

Inputs or hidden units are in another order, scale moves between layers, layers are written in another way, data are in
another order or in batches of another size, or functions are compiled. Measures whose values differ are listed with the
reason.
"""

import numpy as np
import pytest
import tensorflow as tf
from as_trained import IN_UNITS
from matrix import full
from measure_values import values
from small_networks import dataset, layers, sequential
from written_twice import drawn

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
#: The order of inputs or weights, or of examples, changes the draws of these. No condition is met by `dense`.
DRAWS_BY_INPUT, DRAWS_BY_EXAMPLE = (
    {name for name, measure in MEASURES.items() if what in measure.draws.partition(" if ")[0]}
    for what in ("input dimensions", "examples")
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


def labels_of(model, inputs):
    """The network's predictions, with a few changes."""
    labels = model(inputs.astype(np.float32)).numpy().argmax(axis=1)
    labels[:6] = np.arange(6) % 3
    return labels


def normalized(*, idle=False):
    """A network with normalization after layers or activations; `idle` adds layers that act only in training."""
    norm, relu = layers.BatchNormalization, layers.ReLU
    middle = [layers.DepthwiseConv2D(3), norm(), relu(), layers.SeparableConv2D(5, 2), relu(), norm()]
    end = [layers.Flatten(), layers.Dense(40), norm(), relu(), layers.Dense(3)]
    if idle:
        middle = [layers.RandomFlip(), *between(middle, lambda: layers.SpatialDropout2D(0.5))]
        end = [layers.GaussianNoise(1.0), *between(end, lambda: layers.Dropout(0.5)), layers.Identity()]
    return drawn(sequential((6, 6, 3), *middle, *end))


def between(some, make):
    """Yield each layer, followed by a new layer."""
    return [one for layer in some for one in (layer, make())]


@pytest.fixture(scope="module")
def images():
    """Images (48, 6, 6, 3) and labels."""
    inputs = np.random.default_rng(1).random((48, 6, 6, 3))
    return dataset(inputs, labels_of(normalized(), inputs))


@pytest.fixture(scope="module")
def as_it_is(images):
    return values(normalized(), images)


#: Options of the network, what is set while it runs, and the relative tolerance.
OF_IMAGES = {
    "layers that do nothing outside training": ({"idle": True}, None, 0),
    "functions that are compiled": ({}, (network, "FEW", 0), 1e-4),
    "the size of batches": ({}, (network.Network, "batch_size_of", lambda self, passes: 13), 1e-4),
}


@pytest.mark.parametrize("change", [full(name) if name.startswith("functions") else name for name in OF_IMAGES])
def test_what_is_done_to_a_network_of_images_does_not_matter(change, images, as_it_is, monkeypatch):
    options, setting, tolerance = OF_IMAGES[change]
    if setting is not None:
        monkeypatch.setattr(*setting)
    assert differing(values(normalized(**options), images), as_it_is, MEASURES, tolerance) == {}


def test_the_order_of_images_does_not_matter(images, as_it_is):
    """Only measures that need images are tried; the tests with vectors try the others."""
    names = sorted(NEEDS_IMAGES.keys() - DRAWS_BY_EXAMPLE)
    found = values(normalized(), images.shuffle(48, seed=4, reshuffle_each_iteration=False), names)
    assert differing(found, as_it_is, names, 1e-4) == {}


def dense(*, order=slice(None), units=slice(None), scale=1, apart=False):
    """A dense network.

    `order`: the order of its inputs; `units`: the order of its first hidden units; `scale`: a factor that moved from
    the second layer to the first; `apart`: activations are layers of their own.
    """
    hidden = [[layers.Dense(n), layers.ReLU()] if apart else [layers.Dense(n, "relu")] for n in (12, 24)]
    first = [layers.Rescaling(1.0)] if apart else []
    model = sequential((12,), *first, *hidden[0], *hidden[1], layers.Dense(3))
    drawn(model)
    for arrays in (trained := model.get_weights(), model.initial_weights):
        arrays[0] = scale * arrays[0][order][:, units]
        arrays[1] = scale * arrays[1][units]
        arrays[2] = arrays[2][units] / scale
    model.set_weights(trained)
    return model


def rewritten():
    """The dense network as a graph with a model within the model, named layers, and a softmax at its end."""
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
    """Inputs (124, 12) and labels: more examples than in most batches of measures, fewer than in all samples."""
    inputs = np.random.default_rng(2).normal(size=(124, 12))
    return inputs, labels_of(dense(), inputs)


@pytest.fixture(scope="module")
def as_they_are(vectors):
    return values(dense(), dataset(*vectors))


def permuted(size, seed):
    return np.random.default_rng(seed).permutation(size)


#: Another network and other data of the same function, and the measures that are left out.
OF_VECTORS = {
    "the order of inputs": (lambda x, y: (dense(order=permuted(12, 3)), x[:, permuted(12, 3)], y), DRAWS_BY_INPUT),
    "the order of hidden units": (lambda x, y: (dense(units=permuted(12, 5)), x, y), DRAWS_BY_UNIT),
    "scale that moves between layers": (  # a power of 2 is exact
        lambda x, y: (dense(scale=4), x, y), BEFORE_NORMALIZATION.keys() | IN_ABSOLUTE_UNITS
    ),
    "the order of examples": (lambda x, y: (dense(), x[permuted(124, 4)], y[permuted(124, 4)]), DRAWS_BY_EXAMPLE),
    "names, models within the model and what is behind the logits": (
        lambda x, y: (rewritten(), x, y), LAYERS_AS_WRITTEN
    ),
    "a linear first layer and activations of their own": (lambda x, y: (dense(apart=True), x, y), LAYERS_AS_WRITTEN),
}  # fmt: skip


@pytest.mark.parametrize(("change", "left_out"), OF_VECTORS.values(), ids=OF_VECTORS)
def test_what_is_done_to_a_network_of_vectors_does_not_matter(change, left_out, vectors, as_they_are):
    model, *data = change(*vectors)
    found = values(model, dataset(*data), sorted(MEASURES.keys() - left_out))
    assert differing(found, as_they_are, found.keys() - NEEDS_IMAGES, 1e-4) == {}
    refusals = {name: repr(MeasureUnavailable(NEEDS_IMAGES[name])) for name in found.keys() & NEEDS_IMAGES}
    assert {name: found[name] for name in refusals} == {name: as_they_are[name] for name in refusals} == refusals


def differing(found, expected, names, tolerance):
    """Return the pairs of values that differ; pairs that contain an error count as different."""
    pairs = {name: (found[name], expected[name]) for name in names}
    return {name: pair for name, pair in pairs.items() if not are_close(*pair, tolerance)}


def are_close(value, other, tolerance):
    is_number = isinstance(value, float) and isinstance(other, float)
    return is_number and value == pytest.approx(other, rel=tolerance, abs=1e-9 if tolerance else 0)
