"""Pairs of networks that are the same function, written in two ways: helpers, other orders, and other scales."""

import functools
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from small_networks import dataset, layers, sequential

from baselines.network import network

_DRAW = np.random.default_rng(1)

#: Images with one of three patterns and noise, of much contrast, so that networks tell them apart.
_MIXED = 0.5 * _DRAW.random((60, 8, 8, 1)) + 0.5 * _DRAW.random((3, 8, 8, 1))[np.arange(60) % 3]
IMAGES = np.clip(4 * _MIXED - 1.5, 0, 1).astype(np.float32)


@dataclass(frozen=True)
class Written:
    """Two networks with data; the second network and data state the same in another way."""

    model: object
    data: tf.data.Dataset
    other: object
    other_data: tf.data.Dataset
    setting: tuple[object, str, object] | None = None  #: attribute that has another value while the second one runs


def drawn(model, seed=0):
    """Return the model with random weights of medium size, and with other random weights as `initial_weights`."""
    for number in (seed + 1, seed):
        model.initial_weights = model.get_weights()
        rng = np.random.default_rng(number)
        for layer in model.layers:
            found = [rng.normal(size=w.shape) / max(np.sqrt(w[..., 0].size), 1) for w in layer.get_weights()]
            layer.set_weights(
                [np.abs(w) + 0.5 for w in found] if isinstance(layer, layers.BatchNormalization) else found
            )
    return model


def answered(model, inputs, wrong=2):
    """Return labels: the network's predictions, of which the first `wrong` are replaced.

    The network's last bias is changed, so that all classes occur.
    """
    *others, bias = model.get_weights()
    logits = model(inputs).numpy()
    model.set_weights([*others, bias - np.median(logits, axis=0)])
    labels = model(inputs).numpy().argmax(axis=1)
    labels[:wrong] = np.arange(wrong) % len(bias)
    return labels


def chain(*parts, shape=(8, 8, 1)):
    return sequential(shape, *parts)


def graph(build, shape=(8, 8, 1)):
    source = tf.keras.Input(shape)
    return tf.keras.Model(source, build(source))


def written(make, same, translate=list, *, inputs=IMAGES):
    """Build a pair of networks; `translate` turns the weights of the first into those of the second."""
    model, other = drawn(make()), same()
    data = dataset(inputs, answered(model, inputs))
    other.set_weights(translate(model.get_weights()))
    other.initial_weights = translate(model.initial_weights)
    return Written(model, data, other, data)


def plain(*end):
    return chain(
        layers.Conv2D(5, 3, activation="relu"), layers.Conv2D(6, 3, 2, "same", activation="relu"), layers.Flatten(),
        layers.Dense(12, "relu"), *(end or [layers.Dense(3)]),
    )  # fmt: skip


def classes_in_another_order(make, labels=None, inputs=IMAGES, last=None):
    """Return a network with data, and the same network and data with other numbers for the classes.

    With `last`, the classes above `last` have no examples.
    """
    model, other = drawn(make()), make()
    labels = answered(model, inputs) if labels is None else labels
    labels = labels if last is None else np.minimum(labels, last)
    order = np.random.default_rng(5).permutation(model.output_shape[-1])
    place = np.argsort(order)

    def translate(arrays):
        return [*arrays[:-2], arrays[-2][..., order], arrays[-1][order]]

    other.set_weights(translate(model.get_weights()))
    other.initial_weights = translate(model.initial_weights)
    return Written(model, dataset(inputs, labels), other, dataset(inputs, place[labels]))


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
    """Return the layers `some`, each followed by a new layer that `make` returns."""
    return [one for layer in some for one in (layer, make())]


@functools.cache
def of_images():
    """The normalized network, and images (48, 6, 6, 3) with labels."""
    inputs = np.random.default_rng(1).random((48, 6, 6, 3))
    return normalized(), dataset(inputs, labels_of(normalized(), inputs))


def arranged_images(setting, order=None):
    model, data = of_images()
    other = data if order is None else data.shuffle(48, seed=order, reshuffle_each_iteration=False)
    return Written(model, data, normalized(), other, setting)


def dense(*, order=slice(None), units=slice(None), scale=1):
    """A dense network.

    `order`: the order of its inputs; `units`: the order of its first hidden units; `scale`: a factor that moved from
    the second layer to the first.
    """
    model = drawn(sequential((12,), layers.Dense(12, "relu"), layers.Dense(24, "relu"), layers.Dense(3)))
    for arrays in (trained := model.get_weights(), model.initial_weights):
        arrays[0] = scale * arrays[0][order][:, units]
        arrays[1] = scale * arrays[1][units]
        arrays[2] = arrays[2][units] / scale
    model.set_weights(trained)
    return model


def rewritten():
    """The dense network as a graph with a model within the model, named layers, an activation and a linear first layer
    of their own, and a softmax at its end."""
    source, flow = (tf.keras.Input((12,)) for _ in range(2))
    first = layers.ReLU()(layers.Dense(12, name="first")(layers.Rescaling(1.0)(flow)))
    inner = tf.keras.Model(flow, layers.Dense(24, "relu", name="second")(first))
    logits = layers.Dense(3, name="weight_decay_0.1")(inner(source))
    arranged = layers.Flatten()(layers.Reshape((3, 1))(layers.Softmax()(logits)))
    model = tf.keras.Model(source, layers.Activation("linear", dtype="float64")(arranged), name="another")
    original = dense()
    model.set_weights(original.get_weights())
    model.initial_weights = original.initial_weights
    return model


@functools.cache
def of_vectors():
    """The dense network, and inputs (124, 12) with labels: more than most batch sizes, fewer than each `n_samples`."""
    inputs = np.random.default_rng(2).normal(size=(124, 12))
    labels = labels_of(dense(), inputs)
    return dense(), inputs, labels, dataset(inputs, labels)


def arranged_vectors(other, *, inputs=slice(None), examples=slice(None), setting=None):
    model, x, y, data = of_vectors()
    return Written(model, data, other, dataset(x[examples][:, inputs], y[examples]), setting)


def permuted(size, seed):
    return np.random.default_rng(seed).permutation(size)


BATCHES_OF_13 = (network.Network, "batch_size_of", lambda self, passes: 13)

OF_IMAGES = {
    "functions that are compiled": lambda: arranged_images((network, "FEW", 0)),
    "the size of batches": lambda: arranged_images(BATCHES_OF_13),
    "the order of images in other batches": lambda: arranged_images(BATCHES_OF_13, order=4),
}

OF_VECTORS = {
    "the order of inputs and hidden units": lambda: arranged_vectors(
        dense(order=permuted(12, 3), units=permuted(12, 5)), inputs=permuted(12, 3)
    ),
    "scale that moves between layers": lambda: arranged_vectors(dense(scale=4)),  # a power of 2 is exact
    "the order of examples": lambda: arranged_vectors(dense(), examples=permuted(124, 4)),
    "the structure of the model in other batches": lambda: arranged_vectors(rewritten(), setting=BATCHES_OF_13),
}


#: By how much numbers in front of a normalization, and those behind it, are larger in the rewritten network.
FRONT, BEHIND = 3.7, 2.2


def norm(kind, rewritten, name=None):
    """Return a normalization layer. In the rewritten network its inputs are larger, so its epsilon is larger, too."""
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
    """A network with a normalization behind its sum, so both summands must have the same scale."""
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
    return sequential((8, 8, 1), *front, layers.Dense(3))


BUILDERS = {
    "transformer": transformer,
    "transformer_with_rms": lambda rewritten: transformer(rewritten, layers.RMSNormalization),
    "like_convnext": convolutional,
    "transformer_normalized_behind_sums": normalized_after,
    "resnet_with_groups": grouped,
    "unit_normalization": unit,
}


def factor(layer, path, array):
    """Return the factors by which `rewrite` multiplies an array of weights."""
    of_output = "attention_output" in path or layer.startswith("front")
    found = np.full(array.shape[-1], FRONT if of_output else 1.0)
    if "groups" in layer:
        found = np.where(np.arange(len(found)) < len(found) / 2, 3.7, 0.4)
    if layer.startswith("norm"):
        found = found * BEHIND
    if path.endswith("kernel"):
        takes_normalized = not of_output and layer.startswith(("attention", "behind"))
        found = found / (BEHIND if takes_normalized else FRONT if layer == "takes" else 1)
    return found


def rewrite(model, arrays):
    """Return the weights with which the rewritten network is the same function as `model`."""
    variables = [(layer.name, variable) for layer in model.layers for variable in layer.weights]
    return [
        array * factor(layer, variable.path, array) for (layer, variable), array in zip(variables, arrays, strict=True)
    ]


def written_with_other_scales(build):
    """Return a pair of networks that are the same function; the second has other scales around its normalizations."""
    model, other = drawn(build(False)), build(True)
    data = dataset(IMAGES, answered(model, IMAGES))
    other.set_weights(rewrite(model, model.get_weights()))
    other.initial_weights = rewrite(model, model.initial_weights)
    return Written(model, data, other, data)
