"""Networks with layer, group, RMS or unit normalization: their function when scales are set, and what is refused."""

import numpy as np
import pytest
import tensorflow as tf
from kinds_normalized import BUILDERS, written_with_other_scales
from measure_values import values
from small_networks import dataset, layers
from written_twice import IMAGES, drawn

from baselines.core.subject import Subject


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_logits_stay_when_scales_are_set(build):
    written = written_with_other_scales(build)
    expected = written.model(IMAGES).numpy()
    assert np.abs(expected - written.other(IMAGES).numpy()).max() < 1e-4
    assert np.abs(expected - Subject(written.model, written.data).folded.logits(IMAGES).numpy()).max() < 1e-5


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
