"""Pairs of networks that differ in the order of classes, units, inputs or examples, or in how the network runs."""

import functools

import numpy as np
import tensorflow as tf
from small_networks import dataset, layers, sequential
from written_twice import IMAGES, Written, answered, drawn, plain

from baselines.network import network


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


def two_classes():
    return classes_in_another_order(lambda: plain(layers.Dense(2)))


def hundred_classes():
    inputs = np.random.default_rng(2).random((300, 8, 8, 1)).astype(np.float32)
    return classes_in_another_order(lambda: plain(layers.Dense(100)), inputs=inputs)


def class_missing():
    return classes_in_another_order(lambda: plain(layers.Dense(4)), last=2)


def class_of_one():
    labels = np.arange(60) % 2
    labels[17] = 2
    return classes_in_another_order(plain, labels=labels)


def constant_images():
    inputs = np.full((60, 8, 8, 1), 0.5, np.float32)
    return classes_in_another_order(plain, labels=np.arange(60) % 3, inputs=inputs)


def dead():
    found = classes_in_another_order(plain)
    for model in (found.model, found.other):
        arrays = model.get_weights()
        arrays[1] = -100 * np.ones_like(arrays[1])
        arrays[3] = -np.abs(arrays[3])
        model.set_weights(arrays)
    return found


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


def arranged_images(*, idle=False, setting=None):
    model, data = of_images()
    return Written(model, data, normalized(idle=idle), data, setting)


def images_in_another_order():
    model, data = of_images()
    return Written(model, data, normalized(), data.shuffle(48, seed=4, reshuffle_each_iteration=False))


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


@functools.cache
def of_vectors():
    """The dense network, and inputs (124, 12) with labels: more than most batch sizes, fewer than each `n_samples`."""
    inputs = np.random.default_rng(2).normal(size=(124, 12))
    labels = labels_of(dense(), inputs)
    return dense(), inputs, labels, dataset(inputs, labels)


def arranged_vectors(other, *, inputs=slice(None), examples=slice(None)):
    model, x, y, data = of_vectors()
    return Written(model, data, other, dataset(x[examples][:, inputs], y[examples]))


def permuted(size, seed):
    return np.random.default_rng(seed).permutation(size)


OF_IMAGES = {
    "layers that do nothing outside training": lambda: arranged_images(idle=True),
    "functions that are compiled": lambda: arranged_images(setting=(network, "FEW", 0)),
    "the size of batches": lambda: arranged_images(setting=(network.Network, "batch_size_of", lambda self, passes: 13)),
    "the order of images": images_in_another_order,
}

OF_VECTORS = {
    "the order of inputs": lambda: arranged_vectors(dense(order=permuted(12, 3)), inputs=permuted(12, 3)),
    "the order of hidden units": lambda: arranged_vectors(dense(units=permuted(12, 5))),
    "scale that moves between layers": lambda: arranged_vectors(dense(scale=4)),  # a power of 2 is exact
    "the order of examples": lambda: arranged_vectors(dense(), examples=permuted(124, 4)),
    "names, models within the model and what is behind the logits": lambda: arranged_vectors(rewritten()),
    "a linear first layer and activations of their own": lambda: arranged_vectors(dense(apart=True)),
}
