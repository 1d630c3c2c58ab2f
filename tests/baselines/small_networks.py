"""Networks that are small enough for calculations by hand."""

import itertools

import numpy as np
import tensorflow as tf

import baselines

layers = tf.keras.layers


def dataset(images, labels):
    return tf.data.Dataset.from_tensor_slices((np.asarray(images, np.float32), np.asarray(labels, np.int32)))


def images(n, *shape, seed=0):
    """Images (n, *shape) with values between 0 and 1."""
    return np.random.default_rng(seed).random((n, *shape), np.float32)


def sequential(shape, *parts):
    return tf.keras.Sequential([tf.keras.Input(shape), *parts])


def gaussian(model, seed=0):
    draw = np.random.default_rng(seed)
    model.set_weights([draw.normal(size=array.shape) for array in model.get_weights()])
    return model


def dense(*kernels, biases=None, activation="relu"):
    """Return a dense network with these kernels; its last layer gives logits."""
    model = sequential((len(kernels[0]),))
    for i, kernel in enumerate(kernels):
        is_last = i == len(kernels) - 1
        units = np.shape(kernel)[1]
        model.add(layers.Dense(units, None if is_last else activation, use_bias=biases is not None))
    pairs = zip(kernels, biases or [None] * len(kernels), strict=True)
    model.set_weights([np.asarray(array) for pair in pairs for array in pair if array is not None])
    return model


def random_kernels(*widths, seed=1):
    """Random kernels of a dense network with these widths, scaled so that outputs have a size of about 1."""
    draw = np.random.default_rng(seed)
    return [draw.normal(size=shape) / np.sqrt(shape[0]) for shape in itertools.pairwise(widths)]


def random_problem(*widths, n=60, seed=1):
    """Random kernels of a dense network with these widths, and random inputs (n, widths[0]) and labels (n,)."""
    draw = np.random.default_rng(seed)
    kernels = [draw.normal(size=shape) for shape in itertools.pairwise(widths)]
    return kernels, draw.normal(size=(n, widths[0])), draw.integers(0, widths[-1], n)


def labelled(model, images):
    return dataset(images, model(np.asarray(images, np.float32)).numpy().argmax(axis=1))


#: The network T1: all values of the measures on it are known in closed form.
T1_KERNELS = (np.diag([3.0, 1.0]), np.diag([2.0, 5.0]))
T1_DATA = ([[1.0, 1.0]], [0])


def t1():
    return scaled_t1(1, 1)


def scaled_t1(first, second):
    model = dense(first * T1_KERNELS[0], second * T1_KERNELS[1])
    model.initial_weights = [np.eye(2), np.eye(2)]
    return model


def value(name, model, data=None, **options):
    return baselines.load(name)(model, data, **options)


def plain(name):
    """Return a measure's name without the suffix for its way to compute spectral norms."""
    return name.removesuffix("_fft").removesuffix("_op")
