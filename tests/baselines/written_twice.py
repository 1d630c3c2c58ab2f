"""Helpers for pairs of networks that are the same function, written in two ways."""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from small_networks import dataset, layers, sequential

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
