"""Pairs of networks with layer, group, RMS or unit normalization: the same function with weights of other scales."""

import numpy as np
import tensorflow as tf
from small_networks import dataset, layers, sequential
from written_twice import IMAGES, Written, answered, drawn

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
