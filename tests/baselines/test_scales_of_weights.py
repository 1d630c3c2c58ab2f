"""Tests of scales in a network: constants that weight layers absorb, and the free scales around normalizations."""

import numpy as np
import pytest
import tensorflow as tf
from small_networks import dataset, layers, sequential
from test_network import WEIGHT_LAYERS, with_random_weights
from written_twice import BUILDERS, drawn, written_with_other_scales
from written_twice import IMAGES as SMALL_IMAGES

import baselines
from baselines import MeasureUnavailable
from baselines.core.subject import Subject
from baselines.network import INPUT, Network, fold_scales, read_nodes
from baselines.network.constants import weights_begin

pytestmark = pytest.mark.rest

IMAGES = np.random.default_rng(1).normal(size=(5, 12, 12, 4)).astype(np.float32)

#: Factors and offsets of the four channels of a layer's output.
CONSTANTS = {
    "a number": lambda: layers.Rescaling(-3.0, 0.5),
    "one for each channel": lambda: layers.Rescaling([0.5, -3.0, 2.0, 7.0], [0.0, 1.0, -2.0, 0.5]),
    "an array": lambda: layers.Rescaling(np.array([0.5, -3.0, 2.0, 7.0])),
    "a mean and a variance": lambda: layers.Normalization(mean=0.3, variance=4.0),
    "of all numbers": lambda: layers.Normalization(axis=None, mean=0.3, variance=4.0),
    "a mean and a deviation that come back": lambda: layers.Normalization(mean=0.3, variance=4.0, invert=True),
    "of places alike": lambda: layers.TimeDistributed(layers.Rescaling(2.0)),
}

#: Operations that may lie between a weight layer and its constants.
BETWEEN = {
    "nothing": [],
    "ReLU": [layers.ReLU],
    "ReLU and pooling": [layers.ReLU, layers.MaxPooling2D],
    "normalization": [layers.BatchNormalization],
    "another": [lambda: layers.Rescaling(0.25, -1.0)],
}


def graph(*parts):
    source = flow = tf.keras.Input((12, 12, 4))
    for part in parts:
        flow = part(flow)
    return with_random_weights(tf.keras.Model(source, layers.Dense(3)(layers.GlobalAveragePooling2D()(flow))))


def kinds(nodes):
    return {node.kind for node in nodes.nodes}


def is_same_function(model, inputs=IMAGES):
    expected, folded = model(inputs).numpy(), Network(fold_scales(read_nodes(model))).logits(inputs).numpy()
    return np.abs(folded - expected).max() < 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("constant", CONSTANTS.values(), ids=CONSTANTS)
@pytest.mark.parametrize("weights", WEIGHT_LAYERS)
def test_the_layer_in_front_has_them_or_the_layers_behind_which_may_leave_a_sign_and_a_shift(weights, constant):
    make = WEIGHT_LAYERS[weights]
    if weights != "multiplied":  # it does not put out four channels
        model = graph(make(), constant(), layers.Activation("gelu"))
        assert is_same_function(model)
        assert not kinds(fold_scales(read_nodes(model))) & {"Rescaling", "Normalization"}
    model = graph(layers.Dense(4, "gelu"), constant(), make())
    assert is_same_function(model)
    left = [node for node in fold_scales(read_nodes(model)).nodes if node.kind in ("Rescaling", "Normalization")]
    assert all(np.abs(node.config["scale"]) == pytest.approx(1) for node in left)
    assert not left or weights != "dense"


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_they_go_through_what_commutes_with_them(between):
    model = graph(layers.Conv2D(4, 3), *(part() for part in between), layers.Rescaling(2.0), layers.Conv2D(3, 3))
    assert is_same_function(model)
    assert not kinds(fold_scales(read_nodes(model))) & {"Rescaling", "BatchNormalization"}


def test_a_number_goes_through_sums_and_other_arrangements():
    def summed(flow):
        branches = [layers.Conv2D(4, 3, strides=2)(flow), layers.Conv2D(4, 3, 2, activation="relu")(flow)]
        return layers.Reshape((25, 1, 4))(layers.Add()(branches))

    model = graph(summed, layers.Rescaling(2.0))
    assert is_same_function(model)
    assert "Rescaling" not in kinds(fold_scales(read_nodes(model)))
    nodes = read_nodes(model)
    kernels, own = ([n.weights[0] for n in some.nodes if n.kind == "Conv2D"] for some in (fold_scales(nodes), nodes))
    assert all(np.array_equal(2 * kernel, folded) for kernel, folded in zip(own, kernels, strict=True))


@pytest.mark.parametrize("factor", [2.0, [0.5, 3.0, 2.0, 7.0]])
def test_a_normalization_behind_flattened_channels_has_them(factor):
    front = [layers.Dense(4, "gelu"), layers.Rescaling(factor), layers.Flatten(), layers.BatchNormalization()]
    model = with_random_weights(sequential((12, 12, 4), *front, layers.Dense(3)))
    assert is_same_function(model)
    assert not kinds(fold_scales(read_nodes(model))) & {"Rescaling", "BatchNormalization"}


KEPT = {
    "what is also taken by something else": lambda flow: layers.Add()([flow, layers.Rescaling(2.0)(flow)]),
    "what is neither made nor taken by weights": lambda flow: layers.Activation("tanh")(
        layers.Rescaling(2.0)(layers.Activation("gelu")(flow))
    ),
    "along another axis": layers.Normalization(axis=1, mean=0.5, variance=4.0),
}


@pytest.mark.parametrize("part", KEPT.values(), ids=KEPT)
def test_where_no_weight_layer_can_have_them_they_stay(part):
    model = graph(layers.Conv2D(4, 3), part)
    assert is_same_function(model)
    assert kinds(fold_scales(read_nodes(model))) & {"Rescaling", "Normalization"}


def test_a_network_without_any_is_not_written_anew():
    nodes = read_nodes(graph(layers.Rescaling(0.5), layers.Conv2D(4, 3, activation="relu")))
    assert fold_scales(nodes) is nodes


@pytest.mark.parametrize(
    ("front", "kind"),
    [
        ([layers.Rescaling(0.5), layers.Conv2D(4, 3)], "Rescaling"),
        (
            [layers.Rescaling(0.5), layers.ZeroPadding2D(), layers.Normalization(mean=0.5, variance=4.0)],
            "Normalization",
        ),
        ([layers.ZeroPadding2D(), layers.Conv2D(4, 3), layers.Rescaling(0.5)], None),
        ([lambda flow: layers.Add()([flow, layers.Rescaling(0.5)(flow)])], None),
    ],
)
def test_constants_in_front_of_all_weights_belong_to_the_input(front, kind):
    nodes = fold_scales(read_nodes(graph(*front))).nodes
    assert weights_begin(nodes) == INPUT if kind is None else nodes[weights_begin(nodes)].kind == kind


def test_a_normalization_that_was_adapted_does_what_it_does_in_the_model():
    norm = layers.Normalization()
    model = graph(norm, layers.Conv2D(4, 3))
    norm.adapt(3 * IMAGES + 5)  # its weights were drawn, too
    assert Subject(model, None).network.logits(IMAGES).numpy() == pytest.approx(model(IMAGES).numpy(), rel=1e-4)
    assert is_same_function(model)


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
    expected = written.model(SMALL_IMAGES).numpy()
    assert np.abs(expected - written.other(SMALL_IMAGES).numpy()).max() < 1e-4
    assert np.abs(expected - Subject(written.model, written.data).folded.logits(SMALL_IMAGES).numpy()).max() < 1e-5


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
