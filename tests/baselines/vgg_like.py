"""A VGG-like network with batch normalization, and the same network with the normalization folded by hand."""

import numpy as np
from small_networks import dataset, layers, sequential

WIDTHS = (8, 8, 16)
SHAPE, CLASSES, EXAMPLES = (8, 8, 3), 4, 96
EPSILON = 1e-3


def arrays(seed=0):
    """Kernels, biases, scales, shifts, means and variances, in the order of `get_weights()`."""
    rng, found, inputs = np.random.default_rng(seed), [], SHAPE[-1]
    for width in WIDTHS:
        found.append(rng.normal(size=(3, 3, inputs, width)) * (2 / (9 * inputs)) ** 0.5)
        found.append(0.1 * rng.normal(size=width))
        found += [rng.uniform(0.5, 1.5, width), 0.3 * rng.normal(size=width)]  # scales and shifts
        found += [0.2 * rng.normal(size=width), rng.uniform(0.05, 0.5, width)]  # means and variances
        inputs = width
    found += [rng.normal(size=(4 * 4 * inputs, CLASSES)) / 8, 0.1 * rng.normal(size=CLASSES)]
    return [array.astype(np.float32) for array in found]


def examples(seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(EXAMPLES, *SHAPE)).astype(np.float32), rng.integers(0, CLASSES, EXAMPLES)


def folded(weights):
    """Return the arrays of the same network without normalization."""
    found, last = [], weights[-2:]
    for first in range(0, 6 * len(WIDTHS), 6):
        kernel, bias, gamma, beta, mean, variance = weights[first : first + 6]
        scale = gamma / np.sqrt(variance + EPSILON)
        found += [kernel * scale, (bias - mean) * scale + beta]
    return [*found, *last]


def network(*, normalized=True):
    """Return the network with the weights of `arrays()`, or, without normalization, with those of `folded()`."""
    parts = []
    for number, width in enumerate(WIDTHS):
        parts.append(layers.Conv2D(width, 3, padding="same"))
        parts += [layers.BatchNormalization(epsilon=EPSILON)] if normalized else []
        parts.append(layers.ReLU())
        parts += [layers.MaxPooling2D()] if number == 1 else []
    model = sequential(SHAPE, *parts, layers.Flatten(), layers.Dense(CLASSES))
    ends = [arrays(seed) if normalized else folded(arrays(seed)) for seed in (2, 0)]
    model.initial_weights = ends[0]
    model.set_weights(ends[1])
    return model


def data():
    return dataset(*examples())
