"""Tests of scales of weights around normalizations: which are free, fixed, or not understood."""

import numpy as np
import pytest
import tensorflow as tf
from kinds_normalized import BUILDERS, written_with_other_scales
from small_networks import dataset, layers
from written_twice import IMAGES, drawn

import baselines
from baselines import MeasureUnavailable
from baselines.core.subject import Subject
from baselines.network import Network, read_nodes

pytestmark = pytest.mark.rest

INPUTS = np.random.default_rng(0).normal(size=(40, 6, 8)).astype(np.float32)
DATA = dataset(INPUTS, np.arange(40) % 3)


def network(*front):
    inputs = x = tf.keras.Input((6, 8))
    for layer in [*front, layers.Flatten()]:
        x = layer(x)
    return drawn(tf.keras.Model(inputs, layers.Dense(3, name="last")(x)))


def norm(**options):
    return layers.LayerNormalization(name="norm", epsilon=1e-9, **options)


def summed(x):
    """A residual block whose branch contains a constant factor."""
    return layers.Add()([x, layers.Rescaling(0.5)(layers.Dense(8, name="front_2")(x))])


def beside(x):
    return layers.Concatenate()([norm()(x), layers.LayerNormalization(name="norm_2", epsilon=1e-9)(layers.Dense(8)(x))])


def behind_relu():
    return [layers.Dense(8, "relu", name="a"), layers.BatchNormalization(name="front_norm"), norm()]


#: A network, and which layers' weights are multiplied by 3 and which layers' kernels are divided by 3, to no effect.
FREE = {
    "in front": ([layers.Dense(8, name="f"), norm()], "f", ""),
    "behind a rescaling": ([layers.Dense(8, name="f"), layers.Rescaling(0.5), norm()], "f", ""),
    "a rescaled branch": ([layers.Dense(8, name="f"), summed, norm()], "f", ""),
    "behind what is left of batch normalization": (behind_relu(), "front_norm", ""),
    "its own, to a layer": ([norm(), layers.Dense(4, name="t")], "norm", "t"),
    "its own, through a reshaping": ([norm(), layers.Reshape((8, 6)), layers.Dense(4, name="t")], "norm", "t"),
    "its own, through a permutation": ([norm(), layers.Permute((2, 1)), layers.Dense(4, name="t")], "norm", "t"),
    "its own, of several axes": ([norm(axis=[1, 2]), layers.Dense(4, name="t")], "norm", "t"),
    "their own, side by side": ([beside, layers.Dense(4, name="t")], "norm norm_2", "t"),
    "its own, in a sum": ([norm(), summed, layers.Dense(4, name="t")], "norm", "t"),
    "inside of a wrapper": (
        [layers.Dense(8, name="f"), layers.TimeDistributed(layers.UnitNormalization())], "f", "",
    ),
}  # fmt: skip


def scale(model, larger, smaller):
    """Multiply the weights of layers in `larger` by 3 and those in `smaller` by 1/3; the function stays the same."""
    for layer in model.layers:
        arrays = layer.get_weights()
        if layer.name in larger.split():
            n_scaled = 2 if isinstance(layer, layers.BatchNormalization) else len(arrays)  # not mean and variance
            arrays[:n_scaled] = [3 * array for array in arrays[:n_scaled]]
        elif layer.name in smaller.split():
            arrays[0] = arrays[0] / 3
        elif layer.name == "front_2":  # its bias is summed with what is larger
            arrays[1] = 3 * arrays[1]
        layer.set_weights(arrays)


@pytest.mark.parametrize(("front", "larger", "smaller"), FREE.values(), ids=FREE)
def test_free_scales_are_set(front, larger, smaller):
    model = network(*front)
    expected, folded = model(INPUTS).numpy(), Subject(model, DATA).folded
    assert folded.logits(INPUTS).numpy() == pytest.approx(expected, abs=1e-4)
    scale(model, larger, smaller)
    assert model(INPUTS).numpy() == pytest.approx(expected, abs=1e-4)
    norms, others = ([np.linalg.norm(one.array) for one in n.kernels] for n in (folded, Subject(model, DATA).folded))
    assert others == pytest.approx(norms, rel=1e-4)


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_logits_stay_when_scales_are_set(build):
    written = written_with_other_scales(build)
    expected = written.model(IMAGES).numpy()
    assert np.abs(expected - written.other(IMAGES).numpy()).max() < 1e-4
    assert np.abs(expected - Subject(written.model, written.data).folded.logits(IMAGES).numpy()).max() < 1e-5


@pytest.mark.parametrize("front", ["gelu", None])
def test_scales_that_are_fixed_stay(front):
    model = network(*([layers.Dense(8, front)] if front else []), norm())
    kernels = [kernel.array for kernel in Subject(model, DATA).folded.kernels]
    assert not front or np.array_equal(kernels[0], model.get_weights()[0])


@pytest.mark.parametrize("mask", [False, True])
def test_batch_normalization_behind_another_and_masks_leave_the_function(mask):
    front = [layers.Masking(), lambda x: layers.MultiHeadAttention(2, 4)(x, x)] if mask else [norm()]
    model = network(*front, *([] if mask else [layers.BatchNormalization(), layers.Dense(4)]))
    inputs = INPUTS * (np.arange(6) < 4)[:, None] if mask else INPUTS
    subject = Subject(model, DATA)
    for one in [subject.network] if mask else [subject.network, subject.folded]:
        assert one.logits(inputs).numpy() == pytest.approx(model(inputs).numpy(), abs=1e-4)


REFUSED = {
    "along places": norm(axis=1),
    "groups of places": layers.GroupNormalization(2, axis=1, name="norm"),
    "inside of a wrapper": layers.TimeDistributed(layers.GroupNormalization(2), name="norm"),
    "a normalized product": lambda x: layers.Dot(2, normalize=True, name="norm")([x, layers.Dense(8)(x)]),
    "into a product": lambda x: layers.Multiply(name="gate")([norm()(x), layers.Dense(8)(x)]),
    "pooled over channels": lambda x: layers.GlobalAveragePooling1D(data_format="channels_first")(norm()(x)),
    "of batches, pooled over channels": lambda x: layers.GlobalAveragePooling1D(data_format="channels_first")(
        layers.BatchNormalization(name="norm")(summed(x))
    ),
}


@pytest.mark.parametrize("layer", REFUSED.values(), ids=REFUSED)
def test_measures_of_weights_refuse_what_is_not_understood(layer):
    model = network(layer)
    with pytest.raises(MeasureUnavailable, match=r"layer norm .* cannot be folded into weights"):
        baselines.load("l2_norm")(model, DATA)
    assert np.isfinite(baselines.load("inverse_margin")(model, DATA))


def test_attentions_with_a_constant_mask_are_refused_and_those_told_not_to_train_are_not():
    mask = np.tril(np.ones((1, 6, 6), bool))
    with pytest.raises(MeasureUnavailable, match="takes in its attention_mask"):
        read_nodes(network(lambda x: layers.MultiHeadAttention(2, 4)(x, x, attention_mask=mask)))
    model = network(lambda x: layers.MultiHeadAttention(2, 4, dropout=0.5)(x, x, training=False))
    assert Network(read_nodes(model)).logits(INPUTS).numpy() == pytest.approx(model(INPUTS).numpy(), abs=1e-5)


def test_weights_alone_do_not_tell_scales():
    with pytest.raises(MeasureUnavailable, match="needs training data for the scales"):
        baselines.load("l2_norm")(network(layers.Dense(8), norm()), None)
