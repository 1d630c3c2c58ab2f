"""Tests of `Network`, the graph that measures read: it is the model's function, also if folded or run in parts."""

import contextlib

import numpy as np
import pytest
import tensorflow as tf
from small_networks import layers, sequential, t1

from baselines import MeasureUnavailable
from baselines.core.subject import Subject, shared, sharing, subject_of
from baselines.network import INPUT, Network, fold_scales, read_nodes
from baselines.network.fold import affine


def with_random_weights(model, seed=0):
    rng = np.random.default_rng(seed)
    model.set_weights([rng.uniform(0.2, 1.5, w.shape) * rng.choice([-1, 1], w.shape) for w in model.get_weights()])
    for layer in model._flatten_layers():
        if isinstance(layer, layers.BatchNormalization):
            layer.moving_variance.assign(np.abs(layer.moving_variance.numpy()))
    return model


def residual():
    source = tf.keras.Input((6, 6, 2))
    flow = layers.Conv2D(4, 3, padding="same", use_bias=False)(source)
    flow = layers.ReLU()(layers.BatchNormalization()(flow))
    inner = layers.BatchNormalization(scale=False)(layers.Conv2D(4, 3, padding="same")(flow))
    flow = layers.Activation("relu")(layers.Add()([flow, inner]))
    flow = layers.Dropout(0.5)(layers.GlobalAveragePooling2D()(flow))
    return with_random_weights(tf.keras.Model(source, layers.Dense(3, "softmax")(flow)))


def chain(*middle, shape=(6, 6, 2)):
    return with_random_weights(sequential(shape, *middle, layers.Flatten(), layers.Dense(3)))


def pre_activation():
    """A residual network in which each normalization follows a sum and feeds two convolutions."""
    source = tf.keras.Input((6, 6, 2))
    flow = layers.Conv2D(4, 3, padding="same")(source)
    for _ in range(2):
        inner = layers.ReLU()(layers.BatchNormalization()(flow))
        sides = [layers.Conv2D(4, 3, padding="same")(inner), layers.Conv2D(4, 1)(inner), flow]
        flow = layers.Add()(sides)
    flow = layers.GlobalAveragePooling2D()(layers.ReLU()(layers.BatchNormalization()(flow)))
    return with_random_weights(tf.keras.Model(source, layers.Dense(3)(flow)))


def nested():
    first = sequential((6, 6, 2), layers.Conv2D(4, 3), layers.BatchNormalization())
    inside = tf.keras.Input((4, 4, 4))
    both = layers.Add()([layers.DepthwiseConv2D(1)(inside), inside])
    source = tf.keras.Input((6, 6, 2))
    flow = tf.keras.Model(inside, tf.keras.Sequential([layers.ReLU(), layers.Conv2D(3, 2)])(both))(first(source))
    return with_random_weights(tf.keras.Model(source, layers.Dense(3)(layers.Flatten()(flow))))


MODELS = {
    "residual": residual,
    "folded backward": lambda: chain(
        layers.Conv2D(4, 3, strides=2), layers.BatchNormalization(), layers.ReLU(), layers.SeparableConv2D(5, 2),
        layers.BatchNormalization(center=False),
    ),
    "folded forward": lambda: chain(
        layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(axis=3), layers.Conv2D(3, 2),
    ),
    "folded at the input": lambda: chain(layers.BatchNormalization(), layers.Conv2D(3, 2)),
    "kinds of layers": lambda: chain(
        layers.DepthwiseConv2D(2, depth_multiplier=2), layers.PReLU(), layers.Conv2DTranspose(3, 2), layers.ELU(),
        layers.ZeroPadding2D(), layers.AveragePooling2D(2), layers.LeakyReLU(), layers.GaussianNoise(0.1),
    ),
    "folded behind activations": lambda: chain(
        layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.MaxPooling2D(),
        layers.Conv2D(4, 3, padding="same"), layers.LeakyReLU(), layers.BatchNormalization(), layers.PReLU(),
        layers.DepthwiseConv2D(2, padding="same", depth_multiplier=2), layers.BatchNormalization(),
        layers.BatchNormalization(), shape=(8, 8, 2),
    ),
    "folded into what is behind": lambda: chain(
        layers.BatchNormalization(), layers.Dense(4, "elu"), layers.BatchNormalization(),
        layers.Conv2D(4, 3, padding="same", groups=2), layers.ELU(),
        layers.BatchNormalization(), layers.SeparableConv2D(3, 2, padding="same"), layers.ELU(),
        layers.BatchNormalization(), layers.Conv2DTranspose(3, 2), layers.ELU(), layers.BatchNormalization(),
        layers.DepthwiseConv2D(2, depth_multiplier=2), layers.ELU(), layers.BatchNormalization(), shape=(6, 6, 4),
    ),
    "pre-activation": pre_activation,
    "models within the model": nested,
    "sequence": lambda: chain(
        layers.Conv1D(4, 3), layers.BatchNormalization(axis=2), layers.MaxPooling1D(), shape=(12, 2)
    ),
}  # fmt: skip


#: Makers of weight layers for images.
WEIGHT_LAYERS = {
    "dense": lambda: layers.Dense(4),
    "convolution": lambda: layers.Conv2D(4, 3, padding="same"),
    "valid": lambda: layers.Conv2D(4, 3),
    "grouped": lambda: layers.Conv2D(4, 3, groups=2, padding="same"),
    "depthwise": lambda: layers.DepthwiseConv2D(3, padding="same"),
    "multiplied": lambda: layers.DepthwiseConv2D(2, depth_multiplier=2),
    "separable": lambda: layers.SeparableConv2D(4, 3, padding="same"),
    "transposed": lambda: layers.Conv2DTranspose(4, 3),
}


def logits(model, inputs):
    """Return a model's logits; if the model ends with softmax, the logits are shifted by a number per example."""
    outputs = model(inputs).numpy()
    return np.log(outputs) if getattr(model.layers[-1], "activation", None) is tf.keras.activations.softmax else outputs


def centred(array):
    return array - array.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("name", MODELS)
def test_it_is_the_same_function_as_it_is_and_folded_where_no_scale_is_left(name):
    model = MODELS[name]()
    inputs = np.random.default_rng(1).random((5, *model.input_shape[1:]), np.float32)
    nodes, folded = read_nodes(model), fold_scales(read_nodes(model))
    for one in (nodes, folded):
        found = Network(one).outputs(inputs)[0]
        assert centred(found) == pytest.approx(centred(logits(model, inputs)), abs=1e-3, rel=1e-4)
    left = [affine(node)[0] for node in folded.nodes if node.kind == "BatchNormalization"]
    assert all(np.abs(scale) == pytest.approx(1) for scale in left)
    if name in ("residual", "folded backward", "folded forward", "folded at the input", "sequence"):
        assert not {"BatchNormalization", "Dropout", "Identity"} & {node.kind for node in folded.nodes}


def test_one_that_cannot_be_folded_is_refused_by_name():
    between = [layers.ELU(), layers.BatchNormalization(name="norm"), layers.Softmax()]
    for middle in ([layers.BatchNormalization(axis=1, name="norm")], between):
        with pytest.raises(
            MeasureUnavailable, match=r"layer norm \(BatchNormalization\) cannot be folded into weights"
        ):
            fold_scales(read_nodes(chain(layers.Conv2D(4, 3), *middle)))


BETWEEN = {"nothing": [], "ReLU": [layers.ReLU], "ReLU and pooling": [layers.ReLU, layers.MaxPooling2D]}


@pytest.mark.rest
@pytest.mark.parametrize(
    ("before", "between", "behind"),
    [("convolution", "nothing", behind) for behind in WEIGHT_LAYERS if behind != "convolution"]
    + [(before, between, "convolution") for before in WEIGHT_LAYERS for between in BETWEEN],
)
def test_folding_undoes_a_change_of_scale(before, between, behind):
    """One layer's kernel and bias are 7 times as large, and the statistics of its normalization are adapted."""

    def kernels(scale):
        norm = layers.BatchNormalization(epsilon=1e-3 * scale**2)
        middle = [kind() for kind in BETWEEN[between]]
        model = chain(WEIGHT_LAYERS[before](), *middle, norm, WEIGHT_LAYERS[behind](), shape=(12, 12, 4))
        *others, kernel, bias = model.layers[0].get_weights()  # of several kernels, the last is scaled
        model.layers[0].set_weights([*others, scale * kernel, scale * bias])
        gamma, beta, mean, variance = norm.get_weights()
        norm.set_weights([gamma, beta, scale * mean, scale**2 * variance])
        return [array for node in fold_scales(read_nodes(model)).nodes if node.has_kernel for array in node.weights]

    for one, other in zip(kernels(1.0), kernels(7.0), strict=True):
        assert one == pytest.approx(other, rel=1e-3, abs=1e-3)


def test_intermediate_outputs_are_those_of_the_models_layers():
    model = residual()
    inputs = np.random.default_rng(1).random((4, 6, 6, 2), np.float32)
    network = Network(read_nodes(model))
    places = [output for _, output in network.layers[:-1]]
    busy = [layer for layer in model.layers[1:-1] if not isinstance(layer, layers.Dropout | layers.Identity)]
    expected = tf.keras.Model(model.inputs, [layer.output for layer in busy])(inputs)
    for position, found, own in zip(places, network.outputs(inputs, places), expected, strict=True):
        assert found == pytest.approx(own.numpy(), rel=1e-4, abs=1e-4)
        assert network.shape(position) == found.shape[1:]


def test_it_runs_on_from_a_layer_but_not_past_a_skip_connection():
    network = Network(read_nodes(residual()))
    inputs = np.random.default_rng(1).random((4, 6, 6, 2), np.float32)
    before, add, end = network.layers[2][1], network.layers[5][1], network.output
    assert network.nodes[add].kind == "Add"
    first, middle, last = network.outputs(inputs, [before, add, end])
    assert network.outputs(first, start=before)[0] == pytest.approx(last, rel=1e-4)
    assert network.outputs(middle, start=add)[0] == pytest.approx(last, rel=1e-4)
    inside = network.layers[3][1]
    with pytest.raises(MeasureUnavailable, match="skips layer conv2d"):
        network.outputs(network.outputs(inputs, [inside])[0], start=inside)


class Doubled(layers.Dense):
    def call(self, inputs):
        return 2 * super().call(inputs)


Doubled.__name__ = "Dense"


def regularizer(weights):
    return tf.reduce_sum(weights)


def relu(values):
    """A function that has the name of a Keras activation."""
    return tf.square(tf.nn.relu(values))


def used_twice():
    source, shared_layer = tf.keras.Input((4,)), layers.Dense(4, name="twice")
    return tf.keras.Model(source, layers.Dense(3)(shared_layer(shared_layer(source))))


def used_in_two_models():
    shared_layer = layers.Dense(4, name="twice")
    return sequential((4,), sequential((4,), *(sequential((4,), shared_layer) for _ in "ab")), layers.Dense(3))


def of_operation(*, at_end):
    source = tf.keras.Input((4,), name="source")
    middle = layers.Dense(4)(source)
    return tf.keras.Model(source, 2 * middle if at_end else layers.Dense(3, name="last")(2 * middle), name="whole")


CANNOT_BE_LOOKED_AT = {
    "an own layer with the name of Keras'": (lambda: chain(Doubled(4, name="own")), r"own \(Dense\) is not one of"),
    "an own function": (lambda: chain(layers.Lambda(tf.square, name="own")), r"layer own \(Lambda\) computes a func"),
    "an own function inside of a layer": (
        lambda: chain(layers.LSTM(3, activation=relu, name="own"), shape=(4, 2)), "layer own: its activation is not one"
    ),
    "a layer with weights as an activation": (
        lambda: chain(layers.Dense(3, activation=layers.Dense(3, name="odd"))), "is layer odd, which is no activation"
    ),
    "an operation": (lambda: of_operation(at_end=False), "of layer .* is the result of an operation|TFOpLambda"),
    "an operation at the end": (lambda: of_operation(at_end=True), "model whole is the result of an op|TFOpLambda"),
    "a layer that is used twice": (used_twice, "layer twice is used twice"),
    "a layer of two models": (used_in_two_models, "layer twice is used twice"),
    "an attention with a computed mask": (
        lambda: attention("left", "right", attention_mask="mask"),
        r"layer heads \(MultiHeadAttention\) takes in its attention_mask",
    ),
    "inputs of any length": (
        lambda: chain(layers.GlobalAveragePooling1D(), shape=(None, 2)), r"of a fixed shape, found \(None, 2\)"
    ),
    "a model that is not built": (lambda: tf.keras.Sequential([layers.Dense(3)]), "model that has been built"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "reason"), CANNOT_BE_LOOKED_AT.values(), ids=CANNOT_BE_LOOKED_AT)
def test_what_cannot_be_looked_at_is_named(make, reason):
    with pytest.raises(MeasureUnavailable, match=reason):
        read_nodes(make())


#: Activations, and the nodes that they become: a class, and the name of the function if it is Keras' own.
ACTIVATIONS = {
    "Keras' own": (lambda: "leaky_relu", ("Activation", "leaky_relu")),
    "TensorFlow's": (lambda: tf.nn.relu, ("Activation", "relu")),
    "an own function": (lambda: relu, ("Activation", relu)),
    "a layer": (lambda: layers.LeakyReLU(), ("LeakyReLU", None)),
    "a layer with weights": (lambda: layers.PReLU(), ("PReLU", None)),
    "a layer of a function": (lambda: layers.Activation("relu"), ("Activation", "relu")),
    "a layer of a layer": (lambda: layers.Activation(layers.ReLU()), ("ReLU", None)),
}


@pytest.mark.parametrize("is_fused", [True, False])
@pytest.mark.parametrize(("make", "expected"), ACTIVATIONS.values(), ids=ACTIVATIONS)
def test_activations_however_they_are_given(make, expected, is_fused):
    given = [layers.Dense(5, activation=make())] if is_fused else [layers.Dense(5), layers.Activation(make())]
    model = sequential((4,), *given, layers.Dense(3))
    inputs = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
    answers = with_random_weights(model)(inputs).numpy()
    network = Network(read_nodes(model))
    assert (network.nodes[1].kind, network.nodes[1].config.get("activation")) == expected
    np.testing.assert_allclose(network.outputs(inputs)[0], answers, rtol=1e-5, atol=1e-5)


def test_a_softmax_at_the_end_is_left_out_however_it_is_given():
    for softmax in ("softmax", tf.nn.softmax, layers.Softmax()):
        model = sequential((4,), layers.Dense(3, activation=softmax))
        assert [node.kind for node in read_nodes(model).nodes] == ["Dense"], softmax


CHANNELS_FIRST = {
    "Conv1D": (lambda: layers.Conv1D(4, 2, strides=2, data_format="channels_first", activation="relu"), (3, 7)),
    "Conv2D": (lambda: layers.Conv2D(4, (2, 3), padding="same", data_format="channels_first"), (3, 6, 5)),
    "DepthwiseConv2D": (lambda: layers.DepthwiseConv2D(2, data_format="channels_first", activation="tanh"), (3, 6, 5)),
}


@pytest.mark.parametrize(("make", "shape"), CHANNELS_FIRST.values(), ids=CHANNELS_FIRST)
def test_channels_in_front_are_moved_to_the_end(make, shape):
    model = chain(make(), shape=shape)
    layer, inputs = model.layers[0], np.random.default_rng(0).normal(size=(5, *shape)).astype(np.float32)
    last = type(layer).from_config(layer.get_config() | {"data_format": "channels_last"})
    last.build((None, *shape[1:], shape[0]))
    last.set_weights(layer.get_weights())
    network = Network(read_nodes(model))
    (found,) = network.outputs(inputs, [network.layers[0][1]])
    expected = np.moveaxis(last(np.moveaxis(inputs, 1, -1)).numpy(), -1, 1)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    (place,) = network.weight_nodes[:1]
    assert network.shape(place) == expected.shape[2:] + expected.shape[1:2]
    assert place in network.nodes_of(0)


def test_nodes_of_layers_and_matrices_of_kernels():
    """A fused activation has its own node; layers without effect have no node."""
    model = chain(layers.Conv2D(3, 3, activation="relu"), layers.Dropout(0.5), layers.BatchNormalization())
    network = Network(read_nodes(model))
    kinds = [[network.nodes[place].kind for place in network.nodes_of(number)] for number in range(4)]
    assert kinds == [["Conv2D", "Activation"], ["BatchNormalization"], ["Flatten"], ["Dense"]]
    model = chain(layers.Conv2D(4, 3), layers.DepthwiseConv2D(2, depth_multiplier=2), layers.Conv2DTranspose(5, 2))
    conv, depthwise, transposed, dense = Network(read_nodes(model)).kernels
    assert (conv.matrix.shape, dense.matrix.shape) == ((18, 4), (5 * 16, 3))
    assert (depthwise.matrix.shape, transposed.matrix.shape) == ((16, 8), (4 * 8, 5))
    assert np.count_nonzero(depthwise.matrix) == depthwise.array.size


def test_restoring_undoes_changes_and_the_model_is_never_changed():
    model = t1()
    before = [array.copy() for array in model.get_weights()]
    network = Network(read_nodes(model))
    with contextlib.suppress(KeyboardInterrupt), network.restoring():
        for variable in network.variables:
            variable.assign(variable + 1)
        assert np.array_equal(network.variables[0].numpy(), before[0] + 1)
        raise KeyboardInterrupt
    assert all(map(np.array_equal, before, [variable.numpy() for variable in network.variables]))
    assert all(map(np.array_equal, before, model.get_weights()))


def test_work_is_shared_within_sharing_only_however_a_call_is_spelled():
    calls = []

    @shared
    def compute(_subject: Subject, number: int, seed: int = 0, *, label: str = "true") -> int:
        calls.append((number, seed, label))
        return number

    model, data, first = t1(), object(), (1, 0, "true")
    for _ in range(2):
        compute(subject_of(model, data), 1)
    assert calls == [first] * 2
    with sharing():
        for given in ({}, {"seed": 0}, {"label": "true", "seed": 0}, {"seed": 1}, {"label": "model"}):
            assert compute(subject_of(model, data), 1, **given) == 1
        assert compute(subject_of(model, data), label="true", number=1) == compute(subject_of(model, data), 1, 0) == 1
        compute(subject_of(t1(), data), 1)
    assert calls == [first, first, first, (1, 1, "true"), (1, 0, "model"), first]


def test_the_input_is_a_position_and_training_settings_are_not_made_anew():
    network = Network(read_nodes(t1()))
    assert network.outputs(np.float32([[1, 1]]), [INPUT, *network.weight_nodes])[1].tolist() == [[3, 1]]
    model = chain(layers.Dense(3, kernel_regularizer=regularizer, bias_constraint=regularizer), shape=(4,))
    assert Network(read_nodes(model)).n_classes == 3


def attention(*positional, window=None, **named):
    """A network with an attention layer, called with the tensors of these names: `left`, `right` or `mask`."""
    source = tf.keras.Input((6, 4))
    made = {"left": layers.Dense(5), "right": layers.LayerNormalization(), "mask": layers.Dense(6)}
    tensors = {name: layer(source) for name, layer in made.items()}
    named = {name: tensors.get(value, value) for name, value in named.items()}
    attend = layers.MultiHeadAttention(2, 3, name="heads", sliding_window=window)
    flow = attend(*[tensors[name] for name in positional], **named)
    return with_random_weights(tf.keras.Model(source, layers.Dense(3)(layers.GlobalAveragePooling1D()(flow))))


OF_RIGHT, CAUSAL = {"value": "right"}, {"use_causal_mask": True}
OPTIONS = [{}, {"key": "left"} | CAUSAL, {"window": 2}, {"window": 3} | CAUSAL]


@pytest.mark.parametrize("given", [OF_RIGHT | options for options in OPTIONS])
def test_an_attention_is_four_dense_layers_and_what_lies_between(given):
    model = attention("left", **given)
    network = Network(read_nodes(model))
    inputs = np.random.default_rng(0).normal(size=(5, 6, 4)).astype(np.float32)
    np.testing.assert_allclose(network.outputs(inputs)[0], model(inputs), rtol=1e-4, atol=1e-5)
    names = [network.nodes[place].name for place in network.weight_nodes]
    heads = [f"heads {part}" for part in ("query", "key", "value", "output")]
    assert [name for name in names if name.startswith("heads")] == heads


@pytest.mark.rest
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN", "Bidirectional", "ConvLSTM1D"])
def test_recurrent_layers_run_and_their_weights_are_refused_by_name(kind):
    shape = (6, 4, 2) if kind == "ConvLSTM1D" else (6, 4)
    sizes = {"ConvLSTM1D": (3, 2), "Bidirectional": (layers.LSTM(3),)}.get(kind, (5,))
    model = chain(getattr(layers, kind)(*sizes), shape=shape)
    model.layers[0].name = "memory"
    network = Network(read_nodes(model))
    inputs = np.random.default_rng(0).normal(size=(5, *shape)).astype(np.float32)
    np.testing.assert_allclose(network.outputs(inputs)[0], model(inputs), rtol=1e-4, atol=1e-5)
    for look in (lambda: network.weight_nodes, lambda: network.kernels, lambda: network.variables):
        with pytest.raises(MeasureUnavailable, match=rf"weights of layer memory \({kind}\)"):
            look()
