"""Kinds of data and classes: each case is a network with data, and the same with other numbers for the classes."""

import numpy as np
from small_networks import dataset, layers
from written_twice import IMAGES, Written, answered, drawn, plain


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
