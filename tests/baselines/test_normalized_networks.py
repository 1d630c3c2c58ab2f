"""Networks with layer, group, RMS or unit normalization: no measure depends on scales that do not matter."""

import numpy as np
import pytest
import tensorflow as tf
from matrix import full
from measure_values import values
from small_networks import dataset, layers
from test_kinds_of_network import NAMES, drawn

from baselines import MEASURES
from baselines.core.subject import Subject

IMAGES = np.random.default_rng(1).random((60, 8, 8, 1))
DATA = dataset(IMAGES, np.arange(60) % 3)

#: By how much numbers in front of a normalization, and those behind it, are larger in the rewritten network.
FRONT, BEHIND = 3.7, 2.2

#: Look at weights, or at what layers of the model put out, as they are written.
AS_WRITTEN = {
    "cna", "cna_area", "cna_area_over_margin", "cna_margin", "davies_bouldin_index", "dbi_mixup", "dbi_mixup_winner",
    "distance_from_init", "jacobian_norm", "layer_margin_winner", "vpm", "vr", "wcv",
}  # fmt: skip

#: Sums of many float32 numbers, searches, and directions that are nearly rounding, end in other digits.
COARSE = {"constrained_margin", "gsnr", "h_score"}

NEED_PATHS = {"path_norm", "log_path_norm", "path_norm_over_margin"}
NEED_LARGE_LAYERS = {"alpha", "alpha_req", "weighted_alpha", "log_alpha_norm"}


def norm(kind, rewritten, name=None):
    """A normalization; in the rewritten network it has an epsilon for larger numbers."""
    return kind(epsilon=1e-3 * (FRONT**2 if rewritten else 1), name=name)


def transformer(rewritten, kind=layers.LayerNormalization):
    inputs = x = tf.keras.Input((8, 8, 1))
    x = layers.Reshape((16, 8))(layers.Conv2D(8, 2, 2, name="front")(x))
    for i in range(2):
        y = norm(kind, rewritten, f"norm_{i}")(x)
        y = layers.MultiHeadAttention(2, 4, name=f"attention_{i}")(y, y)
        x = layers.Add()([x, y])
        y = norm(kind, rewritten, f"norm_of_mlp_{i}")(x)
        y = layers.Dense(8, name=f"front_{i}")(layers.Dense(16, "gelu", name=f"behind_{i}")(y))
        x = layers.Add()([x, y])
    x = layers.GlobalAveragePooling1D()(norm(kind, rewritten, "norm_end")(x))
    return tf.keras.Model(inputs, layers.Dense(3, name="behind")(x))


def convolutional(rewritten):
    inputs = x = tf.keras.Input((8, 8, 1))
    x = layers.Conv2D(8, 2, 2, name="stem")(x)
    for i in range(2):
        y = layers.DepthwiseConv2D(3, padding="same", name=f"front_{i}")(x)
        y = norm(layers.LayerNormalization, rewritten, f"norm_{i}")(y)
        x = layers.Add()([x, layers.Dense(8)(layers.Dense(16, "gelu", name=f"behind_{i}")(y))])
    return tf.keras.Model(inputs, layers.Dense(3)(layers.GlobalAveragePooling2D()(x)))


def normalized_after(rewritten):
    """Blocks with the normalization behind the sum: its own scale decides on that of the next sum."""
    inputs = x = tf.keras.Input((8, 8, 1))
    x = norm(layers.LayerNormalization, rewritten, "front_norm")(
        layers.Flatten()(layers.Conv2D(2, 2, 2, name="front")(x))
    )
    y = layers.Dense(32, name="front_1")(layers.Dense(16, "gelu", name="takes")(x))
    x = norm(layers.LayerNormalization, rewritten, "norm")(layers.Add()([x, y]))
    return tf.keras.Model(inputs, layers.Dense(3, name="behind")(x))


def grouped(rewritten):
    inputs = x = tf.keras.Input((8, 8, 1))
    x = layers.ReLU()(layers.GroupNormalization(2, epsilon=1e-9)(layers.Conv2D(8, 3, name="groups")(x)))
    for i in range(2):
        y = layers.Conv2D(8, 3, padding="same", name=f"groups_{i}")(x)
        y = layers.ReLU()(layers.GroupNormalization(2, epsilon=1e-9, name=f"norm_{i}")(y))
        y = layers.Conv2D(8, 3, padding="same", name=f"behind_groups_{i}")(y)
        x = layers.ReLU()(layers.Add()([x, layers.GroupNormalization(2, epsilon=1e-9)(y)]))
    return tf.keras.Model(inputs, layers.Dense(3)(layers.GlobalAveragePooling2D()(x)))


def unit(rewritten):
    front = [layers.Flatten(), layers.Dense(16, name="front"), layers.UnitNormalization(), layers.Dense(16, "relu")]
    return tf.keras.Sequential([tf.keras.Input((8, 8, 1)), *front, layers.Dense(3)])


NETWORKS = {
    "layer": transformer,
    "RMS": lambda rewritten: transformer(rewritten, layers.RMSNormalization),
    "depthwise": convolutional,
    "behind sums": normalized_after,
    "group": grouped,
    "unit": unit,
}


def factor(layer, path, array):
    """What an array of weights is multiplied with."""
    of_output = "attention_output" in path or layer.startswith("front")
    found = np.ones(array.shape[-1])
    if of_output:
        found = found * FRONT
    if "groups" in layer:
        found = np.where(np.arange(len(found)) < len(found) / 2, 3.7, 0.4)
    if layer.startswith("norm"):
        found = found * BEHIND
    if not of_output and path.endswith("kernel") and layer.startswith(("attention", "behind")):
        found = found / BEHIND
    if layer == "takes" and path.endswith("kernel"):
        found = found / FRONT
    return found


def rewrite(model, arrays):
    """Weights of the same function, for the rewritten network."""
    variables = [(layer.name, variable) for layer in model.layers for variable in layer.weights]
    return [
        array * factor(layer, variable.path, array) for (layer, variable), array in zip(variables, arrays, strict=True)
    ]


@pytest.fixture(params=NETWORKS.values(), ids=NETWORKS)
def both(request):
    """A network, and the same function with other scales."""
    model, other = drawn(request.param(False)), request.param(True)
    model.initial_weights = [
        array + 0.1 * np.sin(np.arange(array.size)).reshape(array.shape) for array in model.get_weights()
    ]
    other.set_weights(rewrite(model, model.get_weights()))
    other.initial_weights = rewrite(model, model.initial_weights)
    return model, other


def test_logits_stay_when_scales_are_set(both):
    model, other = both
    expected = model(IMAGES).numpy()
    assert np.abs(expected - other(IMAGES).numpy()).max() < 1e-4
    assert np.abs(expected - Subject(model, DATA).folded.logits(IMAGES).numpy()).max() < 1e-5


@pytest.mark.parametrize("names", [NAMES, full(list(MEASURES))], ids=["some", "all"])
def test_scales_that_do_not_matter_change_no_measure(both, names):
    found, other = (values(model, DATA, names) for model in both)
    refused = {name for name, value in found.items() if isinstance(value, str)}
    assert refused <= NEED_PATHS | NEED_LARGE_LAYERS
    assert refused == {name for name, value in other.items() if isinstance(value, str)}
    changed = {
        name: (found[name], other[name]) for name in sorted(set(names) - refused - AS_WRITTEN - {"random"})
        if other[name] != pytest.approx(found[name], rel=5e-3 if name in COARSE else 1e-4, abs=1e-7)
    }  # fmt: skip
    assert changed == {}


def refusal(end):
    """What a measure of weights says of a network on places, one of the inputs' alone works on; `end` is in front."""
    places = tf.keras.Input((6, 8))
    model = drawn(tf.keras.Model(places, layers.Dense(3)(layers.Flatten()(end(places)))))
    data = dataset(np.random.default_rng(0).random((20, 6, 8)), np.arange(20) % 3)
    found = values(model, data, ["l2_norm", "inverse_margin"])
    assert isinstance(found["inverse_margin"], float)
    return found["l2_norm"]


def test_a_scale_that_is_not_that_of_a_weight_layer_is_refused():
    def gated(x):
        product = layers.Multiply(name="gate")([layers.Dense(8)(x), layers.Dense(8, "sigmoid")(x)])
        return layers.LayerNormalization(name="norm")(product)

    assert (
        "layer norm (LayerNormalization) cannot be folded into weights, and those before it through layer gate "
        "(Multiply) could be of any scale"
    ) in refusal(gated)


def test_an_axis_that_leaves_channels_apart_is_refused():
    found = refusal(lambda x: layers.LayerNormalization(axis=1, name="norm")(layers.Dense(8)(x)))
    assert "layer norm (LayerNormalization) cannot be folded into weights" in found


@pytest.mark.parametrize("front", ["gelu", None])
def test_scales_that_are_fixed_stay(front):
    """Behind a bent activation, or on the input itself, no scale is free."""
    bent = [layers.Dense(16, front)] if front else []
    model = drawn(tf.keras.Sequential([tf.keras.Input((16,)), *bent, layers.LayerNormalization(), layers.Dense(3)]))
    data = dataset(np.random.default_rng(0).random((20, 16)), np.arange(20) % 3)
    kernels = [kernel.array for kernel in Subject(model, data).folded.kernels]
    assert not front or np.array_equal(kernels[0], model.get_weights()[0])
