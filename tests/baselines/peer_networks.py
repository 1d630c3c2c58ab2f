"""Five small networks with random weights, on which other implementations have computed measures, too."""

import numpy as np
import tensorflow as tf
from small_networks import layers


def drawn(rng, *shape):
    """Return a random heavy-tailed kernel whose columns have different scales."""
    scales = np.exp(rng.normal(size=shape[-1]) / 2) / np.sqrt(np.prod(shape[:-1]))
    return (rng.standard_t(4, size=shape) * scales).astype(np.float32)


def kernels():
    """Return network -> kernels (..., inputs, outputs) in the order of the layers."""
    rng = np.random.default_rng(49)
    shapes = {
        "mlp": [(64, 48), (48, 48), (48, 24), (24, 12), (12, 5)],
        "vgg": [(3, 3, 1, 8), (3, 3, 8, 16), (3, 3, 16, 12), (48, 32), (32, 10)],
        "vgg_bn": [(3, 3, 3, 8), (3, 3, 8, 16), (3, 3, 16, 24), (96, 32), (32, 10)],
        "nin": [(5, 5, 3, 16), (1, 1, 16, 24), (1, 1, 24, 16), (3, 3, 16, 24), (1, 1, 24, 12), (1, 1, 12, 10)],
        "resnet": [
            (3, 3, 3, 8), (3, 3, 8, 8), (3, 3, 8, 8), (3, 3, 8, 20), (3, 3, 20, 20), (1, 1, 8, 20), (20, 10),
        ],
    }  # fmt: skip
    return {name: [drawn(rng, *shape) for shape in some] for name, some in shapes.items()}


def network(name):
    """Return the network in Keras. Its biases are 0, and its normalizations have factors from 0.5 to 1.5."""
    arrays = kernels()[name]
    inputs = tf.keras.Input((64,) if name == "mlp" else (8, 8, arrays[0].shape[2]))
    parts = [_layer(array) for array in arrays]
    outputs = {"mlp": _chain, "vgg": _vgg, "vgg_bn": _vgg, "nin": _nin, "resnet": _resnet}[name](parts, inputs, name)
    model = tf.keras.Model(inputs, outputs)
    for part, array in zip(parts, arrays, strict=True):
        part.kernel.assign(array)
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.gamma.assign(np.linspace(0.5, 1.5, layer.gamma.shape[0]))
    return model


def _layer(array):
    if array.ndim == 2:
        return layers.Dense(array.shape[1])
    return layers.Conv2D(array.shape[-1], array.shape[:2], padding="same")


def _chain(parts, x, name):
    for part in parts[:-1]:
        x = layers.ReLU()(part(x))
    return parts[-1](x)


def _vgg(parts, x, name):
    for number, part in enumerate(parts[:3]):
        x = part(x)
        x = layers.ReLU()(layers.BatchNormalization()(x) if name == "vgg_bn" else x)
        x = layers.MaxPooling2D()(x) if number else x
    return _chain(parts[3:], layers.Flatten()(x), name)


def _nin(parts, x, name):
    return layers.GlobalAveragePooling2D()(_chain(parts, x, name))


def _resnet(parts, x, name):
    def normalized(part, x):
        return layers.BatchNormalization()(part(x))

    first, *blocks, shortcut, last = parts
    x = layers.ReLU()(normalized(first, x))
    around = x
    for number, (one, other) in enumerate((blocks[:2], blocks[2:])):
        x = normalized(other, layers.ReLU()(normalized(one, x)))
        x = layers.ReLU()(layers.Add()([x, normalized(shortcut, around) if number else around]))
        around = x
    return last(layers.GlobalAveragePooling2D()(x))
