"""Tests of measures on unusual networks: the value is that of the same function written plainly, or a refusal."""

import inspect
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from measure_values import values
from small_networks import dataset, layers, sequential
from written_twice import drawn

from baselines import MEASURES, MeasureUnavailable
from baselines.core.measure import Need
from baselines.network import Network, looks_like, read_nodes
from baselines.network.penultimate import penultimate_features
from baselines.network.reading import IDLE
from harness.format.architecture import parse_architecture
from harness.format.output import Output

pytestmark = pytest.mark.rest

#: Measures of weights, outputs, gradients and hidden layers.
NAMES = [
    "cross_entropy", "fisher_trace", "gi_intra_l1", "l2_norm", "layer_margin_log_mean", "noise_sensitivity",
    "pacbayes_flatness", "path_norm", "relative_flatness",
]  # fmt: skip

IMAGES = np.random.default_rng(1).random((40, 6, 6, 1))
DATA = dataset(IMAGES, np.arange(40) % 3)


def chain(*end, shape=(6, 6, 1)):
    front = [layers.Conv2D(4, 3, activation="relu"), layers.Flatten(), layers.Dense(8, "relu")]
    return drawn(sequential(shape, *front, *end))


def assert_same(model, plain, names=NAMES):
    expected = values(plain, DATA, names)
    assert sum(isinstance(one, float) for one in expected.values()) > len(names) / 2
    assert values(model, DATA, names) == {name: pytest.approx(expected[name], rel=1e-4, abs=1e-9) for name in names}


def softmax_of_mine(x):
    return tf.nn.softmax(x)


#: Ends of a network that are dropped, since measures look at logits.
ENDS = {
    "softmax in the layer": lambda: [layers.Dense(3, "softmax")],
    "softmax layer": lambda: [layers.Dense(3), layers.Softmax()],
    "softmax, then linear in another precision": lambda: [
        layers.Dense(3, dtype="mixed_float16"), layers.Activation("softmax", dtype="mixed_float16"),
        layers.Activation("linear", dtype="float32"), layers.Reshape((3,)), layers.Identity(dtype="float32"),
    ],
    "softmax along another axis": lambda: [
        layers.Dense(3), layers.Reshape((3, 1)), layers.Softmax(axis=1), layers.Dropout(0.5), layers.Flatten(),
    ],
    "log-softmax": lambda: [layers.Dense(3, "log_softmax"), layers.Activation("linear")],
}  # fmt: skip


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_an_end_that_makes_probabilities_of_logits_changes_nothing(end):
    assert_same(chain(*end()), chain(layers.Dense(3)))


#: Ends of a network without logits, with the message about them.
NO_LOGITS = {
    "sigmoids": (lambda: [layers.Dense(3, "sigmoid", name="end")], "lost in layer end activation (sigmoid)"),
    "tempered": (lambda: [layers.Dense(3), layers.Softmax(name="end"), layers.Rescaling(0.5)], "layer end (softmax)"),
    "pooled": (
        lambda: [
            layers.Reshape((4, 2)), layers.Dense(3), layers.Softmax(name="end"), layers.GlobalAveragePooling1D(),
        ],
        "layer end (softmax)",
    ),
    "several softmaxes": (
        lambda: [layers.Reshape((2, 4)), layers.Dense(3), layers.Softmax(name="end"), layers.Flatten()],
        "layer end (softmax)",
    ),
    "a softmax of my own": (
        lambda: [layers.Dense(3, softmax_of_mine, name="end")],
        "layer end activation ends in a function of your own (softmax_of_mine)",
    ),
    "a softmax of my own, scaled": (
        lambda: [layers.Dense(3), layers.Activation(softmax_of_mine), layers.Rescaling(2.0)],
        "ends in a function of your own (softmax_of_mine)",
    ),
    "a sigmoid of my own": (
        lambda: [layers.Dense(3, lambda x: tf.sigmoid(x))], "ends in a function of your own (<lambda>)"
    ),
    "a softmax over the places": (
        lambda: [layers.Reshape((2, 4)), layers.Dense(3), layers.Softmax(axis=1, name="end"), layers.Flatten()],
        "layer end (softmax)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("end", "said"), NO_LOGITS.values(), ids=NO_LOGITS)
def test_outputs_that_are_no_logits_are_refused_with_the_layer_or_what_they_are(end, said):
    of_outputs = [name for name, measure in MEASURES.items() if measure.needs & {Need.LABELS, Need.CLASSES}]
    for found in values(chain(*end()), DATA, [*of_outputs, "input_jacobian_norm", "noise_sensitivity"]).values():
        assert all(
            part in found for part in ("MeasureUnavailable", "needs logits", said, "end the network with logits")
        )


def branched(join):
    """A network with two branches that begin at the same hidden layer."""
    source = tf.keras.Input((6, 6, 1))
    return drawn(tf.keras.Model(source, join(layers.Dense(8, "relu")(layers.Flatten()(source)))))


def mixture_of_experts(flow):
    gate = layers.Reshape((2, 1))(layers.Dense(2, "softmax")(flow))
    experts = layers.Reshape((2, 3))(layers.Dense(6)(flow))
    return layers.Flatten()(layers.Dot(axes=1)([gate, experts]))


def attention_pooling(flow):
    places = layers.Reshape((4, 2))(flow)
    weights = layers.Softmax(axis=1)(layers.Dense(1)(places))
    return layers.GlobalAveragePooling1D()(layers.Multiply()([weights, layers.Dense(3)(places)]))


#: Ends with a gate, whose probabilities are multiplied by something else.
GATED = {
    "gated linear unit": lambda flow: layers.Multiply()([layers.Dense(3)(flow), layers.Dense(3, "sigmoid")(flow)]),
    "gate of my own": lambda flow: layers.Multiply()([layers.Dense(3)(flow), layers.Dense(1, softmax_of_mine)(flow)]),
    "mixture of experts": mixture_of_experts,
    "attention pooling": attention_pooling,
}


@pytest.mark.parametrize("join", GATED.values(), ids=GATED)
def test_a_gate_takes_no_logits_away(join):
    model = branched(join)
    assert isinstance(values(model, DATA, ["mixup_error"])["mixup_error"], float)
    np.testing.assert_allclose(Network(read_nodes(model)).outputs(np.float32(IMAGES))[0], model(IMAGES), rtol=1e-4)


def test_values_tell_of_probabilities_that_the_graph_does_not_show():
    def join(flow):
        shares = layers.Softmax()(layers.Reshape((2, 3))(layers.Dense(6)(flow)))
        return layers.Flatten()(layers.Attention()([layers.Reshape((1, 3))(layers.Dense(3)(flow)), shares]))

    assert "the outputs' values are probabilities" in values(branched(join), DATA, ["mixup_error"])["mixup_error"]
    logarithms = tf.nn.log_softmax(np.random.default_rng(0).normal(size=(5, 3))).numpy()
    assert looks_like(logarithms) == "logarithms of probabilities"


@pytest.mark.parametrize("pooling", [[], [layers.Reshape((1, 3)), layers.GlobalAveragePooling1D()]])
def test_logits_of_a_fit_by_least_squares_may_look_like_probabilities(pooling):
    model = chain(layers.Dense(3), *pooling)
    *others, kernel, _ = model.get_weights()
    model.set_weights([*others, (kernel - kernel.mean(axis=1, keepdims=True)) / 100, np.full(3, 1 / 3)])
    assert looks_like(model(IMAGES).numpy()) == "probabilities"
    assert isinstance(values(model, DATA, ["mixup_error"])["mixup_error"], float)


def test_a_convolution_with_the_channels_in_front_may_be_the_end():
    front = [tf.keras.Input((2, 6, 6)), layers.Conv2D(4, 6, data_format="channels_first")]
    nodes = read_nodes(tf.keras.Sequential([*front, layers.Flatten()]))
    assert ([node.kind for node in nodes.nodes], nodes.no_logits) == (["Permute", "Conv2D", "Permute", "Flatten"], "")


def behind_sigmoids(layer):
    return lambda: chain(layers.Dense(6, "sigmoid"), layers.Reshape((6, 1)), layer, layers.Flatten())


#: Networks, and what is said of their outputs.
OUTPUTS = {
    **{name: (lambda end=end: chain(*end()), "taken off") for name, end in ENDS.items()},
    **{name: (lambda join=join: branched(join), "logits") for name, join in GATED.items()
       if name in ("gated linear unit", "attention pooling")},
    **{name: (lambda end=NO_LOGITS[name][0]: chain(*end()), "no logits")
       for name in ("sigmoids", "tempered", "pooled", "several softmaxes", "a softmax over the places")},
    "one sigmoid": (lambda: chain(layers.Dense(1, "sigmoid")), "taken off"),
    "softmaxes of two classes": (
        lambda: chain(layers.Dense(4), layers.Reshape((2, 2)), layers.Softmax(), layers.Flatten()), "no logits"
    ),
    "a softmax at one place": (
        lambda: chain(layers.Reshape((4, 1, 2)), layers.Conv2D(3, (4, 1)), layers.Softmax(), layers.Flatten()),
        "taken off",
    ),
    "a softmax at several places": (
        lambda: chain(layers.Reshape((4, 1, 2)), layers.Conv2D(3, (2, 1)), layers.Softmax(), layers.Flatten()),
        "no logits",
    ),
    "product of softmaxes": (
        lambda: branched(lambda x: layers.Multiply()([layers.Dense(3, "softmax")(x) for _ in range(2)])), "no logits"
    ),
    "softmax beside logits": (
        lambda: branched(lambda x: layers.Concatenate()([layers.Dense(3, "softmax")(x), layers.Dense(3)(x)])),
        "no logits",
    ),
    **{type(layer).__name__: (behind_sigmoids(layer), "logits") for layer in (
        layers.Dense(2), layers.EinsumDense("abc,cd->abd", (6, 2)), layers.Conv1D(2, 2), layers.Embedding(5, 2),
        layers.Conv1DTranspose(2, 2), layers.DepthwiseConv1D(2), layers.SeparableConv1D(2, 2),
    )},
    **{type(layer).__name__: (behind_sigmoids(layer), "no logits") for layer in (
        layers.BatchNormalization(), layers.LayerNormalization(), layers.GroupNormalization(1), layers.PReLU(),
    )},
}  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), OUTPUTS.values(), ids=OUTPUTS)
def test_the_harness_says_of_a_file_what_measures_find_in_the_model(make, expected):
    model = make()
    nodes = read_nodes(model)
    changed = not np.allclose(Network(replace(nodes, no_logits="")).outputs(np.float32(IMAGES))[0], model(IMAGES), 1e-4)
    assert ("no logits" if nodes.no_logits else "taken off" if changed else "logits") == expected
    file = json.loads(json.dumps(json.loads(model.to_json())).replace('"mixed_float16"', '"float32"'))
    architecture = parse_architecture(file, Path("config.json"))
    outputs = {"no logits": {Output.NO_LOGITS}, "logits": {Output.LOGITS}}
    assert architecture.output in outputs.get(expected, {Output.PROBABILITIES, Output.LOG_PROBABILITIES})
    assert ("softmax" in architecture.canonical) == (expected == "taken off")


def test_what_needs_no_logits_works_without_and_a_dense_layer_at_every_time_is_a_dense_layer():
    names = ["num_params", "log_prod_of_fro", "rankme"]
    assert_same(chain(layers.Dense(3, "sigmoid")), chain(layers.Dense(3)), names)

    def net(wrap):
        source = tf.keras.Input((6, 6, 1))
        flow = layers.Reshape((6, 6))(source)
        for layer in (layers.Dense(5, "relu"), layers.Dropout(0.5), layers.Dense(4)):
            flow = wrap(layer)(flow)
        flow = layers.GlobalMaxPooling1D()(layers.ReLU()(flow))
        return drawn(tf.keras.Model(source, layers.Dense(3)(flow)))

    assert_same(net(layers.TimeDistributed), net(lambda layer: layer))


class Mine(layers.Dense):
    def call(self, inputs):
        return super().call(inputs) + 1


def test_layers_that_are_not_understood_are_refused_by_name():
    source = tf.keras.Input((6, 6, 1))
    flow = layers.Reshape((6, 6))(source)
    attention, quantized = layers.MultiHeadAttention(1, 2, name="attention"), layers.Dense(3, name="end")
    low_rank = tf.keras.Model(source, layers.Dense(3)(layers.Flatten()(attention(flow, flow))))
    attention._query_dense.enable_lora(1)
    quantized.build((None, 8))
    quantized.quantize("int8")
    mine = [layers.Reshape((4, 2)), layers.TimeDistributed(Mine(2)), layers.Flatten(), layers.Dense(3)]
    for model, said in (
        (chain(quantized), r"layer end is quantized \(int8\)"),
        (chain(*mine), r"layer mine \(Mine\) is not one of Keras' own layers"),
        (low_rank, "layer attention with query in it has an update of low rank"),
    ):
        for name in ("param_norm", "num_params", "fisher_trace", "cross_entropy"):
            with pytest.raises(MeasureUnavailable, match=said):
                MEASURES[name].function(model, DATA)


#: Required arguments of some layers.
SETTINGS = dict.fromkeys(("rate", "stddev", "factor", "height_factor", "width_factor", "max_factor"), 0.3)


@pytest.mark.parametrize(
    "kind", sorted(kind for kind in IDLE if hasattr(layers, kind) and "1D" not in kind and "3D" not in kind)
)
def test_an_idle_layer_leaves_images_as_they_are(kind):
    images = 4 * np.random.default_rng(0).random((2, 6, 6, 3), np.float32) - 1
    make = getattr(layers, kind)
    settings = SETTINGS | {"value_range": (0, 1)} | ({"factor": 4} if kind == "RandomPosterization" else {})
    layer = make(**{name: value for name, value in settings.items() if name in inspect.signature(make).parameters})
    assert np.array_equal(layer(images, training=False), images)


OF_PENULTIMATE = ["cdnv", "neural_collapse_nc1", "intrinsic_dimension", "rankme", "vpm"]


def test_the_penultimate_representation_of_a_pooled_map_is_pooled():
    def net(*end):
        return drawn(sequential((6, 6, 1), layers.Conv2D(5, 3, activation="relu"), *end))

    plain = net(layers.GlobalAveragePooling2D(), layers.Dense(3))
    kernel, bias, head, end = plain.get_weights()
    for pooling in ([layers.GlobalAveragePooling2D()], [layers.AveragePooling2D(4), layers.Flatten()]):
        model = net(layers.Conv2D(3, 1), *pooling)
        model.set_weights([kernel, bias, head[None, None], end])
        assert np.allclose(model(IMAGES), plain(IMAGES), atol=1e-5)
        assert_same(model, plain, OF_PENULTIMATE)


def test_the_penultimate_representations_of_branches_stand_side_by_side():
    def net(join):
        source = tf.keras.Input((6, 6, 1))
        flow = layers.Flatten()(source)
        sides = [layers.Dense(4, "relu")(flow), layers.Dense(5, "tanh")(flow)]
        return drawn(tf.keras.Model(source, join(sides)))

    model = net(lambda sides: layers.Add()([layers.Dense(3)(side) for side in sides]))
    plain = net(lambda sides: layers.Dense(3)(layers.Concatenate()(sides)))
    *front, one, bias, other, _ = model.get_weights()
    plain.set_weights([*front, np.concatenate([one, other]), bias])
    model.set_weights([*front, one, bias, other, 0 * bias])
    assert np.allclose(model(IMAGES), plain(IMAGES), atol=1e-5)
    assert_same(model, plain, OF_PENULTIMATE)


def test_a_connection_around_the_last_layer_leaves_its_input_the_penultimate_representation():
    source = tf.keras.Input((6, 6, 1))
    middle = layers.Dense(3, "tanh")(layers.Dense(4, "relu")(layers.Flatten()(source)))
    model = drawn(tf.keras.Model(source, layers.Add()([layers.Dense(3)(middle), middle])))
    features = tf.keras.Model(source, middle)(IMAGES).numpy()
    assert penultimate_features(Network(read_nodes(model)), np.float32(IMAGES)) == pytest.approx(features, abs=1e-5)
