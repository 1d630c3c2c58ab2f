"""Pairs of networks of many kinds; both networks of a pair are the same function."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf
from small_networks import dataset, layers
from written_twice import IMAGES, Written, answered, chain, classes_in_another_order, drawn, graph, plain, written


def dense_as_convolution():
    return written(
        plain,
        lambda: chain(
            layers.Conv2D(5, 3, activation="relu"), layers.Conv2D(6, 3, 2, "same", activation="relu"),
            layers.Conv2D(12, 3, activation="relu"), layers.Conv2D(3, 1), layers.Flatten(),
        ),
        lambda arrays: [
            *arrays[:4], arrays[4].reshape(3, 3, 6, 12), arrays[5], arrays[6][None, None], arrays[7],
        ],
    )  # fmt: skip


def channels_first():
    return written(plain, lambda: chain(
        layers.Permute((3, 1, 2)), layers.Conv2D(5, 3, activation="relu", data_format="channels_first"),
        layers.Conv2D(6, 3, 2, "same", activation="relu", data_format="channels_first"), layers.Permute((2, 3, 1)),
        layers.Flatten(), layers.Dense(12, "relu"), layers.Dense(3),
    ))  # fmt: skip


def separable():
    def make(first):
        return lambda: chain(
            layers.Conv2D(4, 3, activation="relu"), *first(), layers.ReLU(), layers.Flatten(), layers.Dense(3)
        )

    return written(
        make(lambda: [layers.SeparableConv2D(6, 3, depth_multiplier=2)]),
        make(lambda: [layers.DepthwiseConv2D(3, depth_multiplier=2, use_bias=False), layers.Conv2D(6, 1)]),
    )


def batch_norm_folded():
    """Batch normalization behind a convolution and a dense layer; the second network has it folded into the kernels."""

    def make(norm):
        return lambda: chain(
            layers.Conv2D(5, 3, 2), *norm(), layers.ReLU(), layers.Flatten(), layers.Dense(12), *norm(),
            layers.Activation("relu"), layers.Dense(3),
        )  # fmt: skip

    def fold(kernel, bias, gamma, beta, mean, variance):
        scale = gamma / np.sqrt(variance + 1e-3)
        return [kernel * scale, (bias - mean) * scale + beta]

    def translate(arrays):
        return [*fold(*arrays[:6]), *fold(*arrays[6:12]), *arrays[12:]]

    return written(make(lambda: [layers.BatchNormalization()]), make(lambda: []), translate)


def one_dimension():
    def make(rank, front, pad):
        conv, pool = getattr(layers, f"Conv{rank}D"), getattr(layers, f"MaxPooling{rank}D")
        return lambda: chain(
            layers.Reshape(front), conv(6, (3, *pad), activation="relu"), pool((2, *pad)),
            conv(5, (3, *pad), padding="same", activation="relu"), layers.Flatten(), layers.Dense(3),
        )  # fmt: skip

    def translate(arrays):
        return [a[:, None] if a.ndim == 3 else a for a in arrays]

    return written(make(1, (8, 8), ()), make(2, (8, 1, 8), (1,)), translate)


def depthwise():
    """A depthwise convolution; in the second network it is a grouped convolution with one group per channel."""

    def make(middle):
        return lambda: chain(
            layers.Conv2D(4, 3, activation="relu"), middle(), layers.ReLU(), layers.Flatten(), layers.Dense(3)
        )

    return written(
        make(lambda: layers.DepthwiseConv2D(3)), make(lambda: layers.Conv2D(4, 3, groups=4)),
        lambda arrays: [array.swapaxes(2, 3) if array.shape == (3, 3, 4, 1) else array for array in arrays],
    )  # fmt: skip


def transposed():
    def make(*layer):
        return lambda: chain(*layer, layers.Flatten(), layers.Dense(12, "relu"), layers.Dense(3))

    return written(
        make(layers.Conv2DTranspose(4, 3, 2, activation="relu")), make(layers.Conv2DTranspose(4, 3, 2), layers.ReLU())
    )


def branches():
    """Branches that are concatenated, added and skipped; the second network has models within the model."""

    def make(inner):
        def build(source):
            def apply(*parts):
                return chain(*parts, layers.Dropout(0.5))(source) if inner else parts[-1](parts[0](source))

            sides = [
                apply(layers.Conv2D(3, 3, padding="same", activation="relu"), layers.MaxPooling2D(2)),
                apply(layers.Conv2D(4, 5, 2, padding="same"), layers.ELU()),
            ]
            x = layers.Concatenate()(sides)
            x = layers.ReLU()(layers.Add()([x, layers.Conv2D(7, 1)(x)]))
            return layers.Dense(3)(layers.GlobalAveragePooling2D()(x))

        return lambda: graph(build)

    return written(make(False), make(True))


def spectral_normalization():
    def same():
        wrap = layers.SpectralNormalization
        return chain(
            wrap(layers.Conv2D(5, 3, activation="relu")), wrap(layers.Conv2D(6, 3, 2, "same", activation="relu")),
            layers.Flatten(), wrap(layers.Dense(12, "relu")), layers.Dense(3),
        )  # fmt: skip

    shapes = [array.shape for array in same().get_weights()]

    def translate(arrays):
        left = list(arrays)  # a wrapper has a vector of its own
        return [left.pop(0) if left and left[0].shape == shape else np.ones(shape) for shape in shapes]

    return written(plain, same, translate)


def at_every_place():
    """Dense layers along the last axis; in the second network they are convolutions with a window of 1."""

    def make(first, second):
        return lambda: chain(
            layers.Reshape((4, 4, 4)), first(6), layers.ReLU(), second(5), layers.ReLU(),
            layers.GlobalAveragePooling2D(), layers.Dense(3),
        )  # fmt: skip

    def einsum(n):
        return layers.EinsumDense("abcd,de->abce", (None, None, n), bias_axes="e")

    def convolution(n):
        return layers.Conv2D(n, 1)

    def translate(arrays):
        return [a[None, None] if i in (0, 2) else a for i, a in enumerate(arrays)]

    return written(make(einsum, layers.Dense), make(convolution, convolution), translate)


def attention():
    def attend(x):
        query, key, value = (layers.Dense(4)(x) for _ in range(3))
        scores = layers.Softmax()(layers.Rescaling(0.5)(layers.Dot(2)([query, key])))
        return layers.Dense(8)(layers.Dot((2, 1))([scores, value]))

    def make(attend):
        def build(source):
            x = layers.Reshape((8, 8))(source)
            x = layers.Add()([x, attend(x)])
            return layers.Dense(3)(layers.GlobalAveragePooling1D()(layers.Dense(7, "gelu")(x)))

        return lambda: graph(build)

    def translate(arrays):
        shapes = {(8, 1, 4): (8, 4), (1, 4, 8): (4, 8), (1, 4): (4,)}
        return [array.reshape(shapes.get(array.shape, array.shape)) for array in arrays]

    return written(make(lambda x: layers.MultiHeadAttention(1, 4)(x, x)), make(attend), translate)


def mixed_precision():
    def same():
        policy = tf.keras.config.dtype_policy()
        tf.keras.config.set_dtype_policy("mixed_bfloat16")
        try:
            return plain(layers.Dense(3), layers.Activation("softmax", dtype="float32"))
        finally:
            tf.keras.config.set_dtype_policy(policy)

    return written(plain, same)


def low_rank():
    model, other = drawn(plain()), plain()
    data = dataset(IMAGES, answered(model, IMAGES))
    other.set_weights(model.get_weights())
    for layer in other.layers[:2]:
        rng = np.random.default_rng(0)
        layer.enable_lora(2, lora_alpha=3.0)
        for factor, size in ((layer.lora_kernel_a, 1.0), (layer.lora_kernel_b, 0.1)):
            factor.assign(size * rng.normal(size=factor.shape))
    for one, own in zip(model.layers, other.layers, strict=True):
        if own.weights:
            one.set_weights([np.asarray(own.kernel), np.asarray(own.bias)])
    del model.initial_weights
    return Written(model, data, other, data)


def residual():
    """Residual blocks with batch normalization; the second network's channels have other scales."""

    def make(unit):
        def build(source):
            x = layers.ReLU()(layers.BatchNormalization(epsilon=1e-3 * unit**2)(layers.Conv2D(6, 3)(source)))
            for _ in range(2):
                y = layers.Conv2D(6, 3, padding="same")(x)
                y = layers.ReLU()(layers.BatchNormalization(epsilon=1e-3 * unit**2)(y))
                y = layers.BatchNormalization(epsilon=1e-3 * unit**2)(layers.Conv2D(6, 3, padding="same")(y))
                x = layers.ReLU()(layers.Add()([x, y]))
            return layers.Dense(3)(layers.GlobalAveragePooling2D()(x))

        return lambda: graph(build)

    def translate(arrays):
        found = []
        for i in range(0, len(arrays) - 2, 6):
            kernel, bias, gamma, beta, mean, variance = arrays[i : i + 6]
            found += [4 * kernel, 4 * bias, gamma, beta, 4 * mean, 16 * variance]
        return [*found, *arrays[-2:]]

    return written(make(1), make(4), translate)


def squeeze_and_excite():
    """A gate for each channel; the second network has its channels in another order."""

    def make():
        def build(source):
            x = layers.Conv2D(6, 3, activation="relu", name="front")(source)
            gate = layers.Dense(6, "sigmoid", name="gate")(
                layers.Dense(4, "relu", name="squeeze")(layers.GlobalAveragePooling2D()(x))
            )
            x = layers.Multiply()([x, layers.Reshape((1, 1, 6))(gate)])
            return layers.Dense(3, name="end")(layers.GlobalAveragePooling2D()(x))

        return graph(build)

    def translate(arrays):
        order = [3, 1, 5, 0, 2, 4]
        front, bias, squeeze, b2, gate, b3, end, b4 = arrays
        return [front[..., order], bias[order], squeeze[order], b2, gate[:, order], b3[order], end[order], b4]

    return written(make, make, translate)


def tokens():
    """Tokens and an embedding; the second network has its vocabulary in another order."""

    def make():
        return chain(
            layers.Embedding(11, 6, name="words"), layers.Conv1D(30, 3, activation="relu"),
            layers.GlobalMaxPooling1D(), layers.Dense(3), shape=(7,),
        )  # fmt: skip

    inputs = np.random.default_rng(0).integers(0, 11, (60, 7)).astype(np.float32)
    order = np.random.default_rng(3).permutation(11)
    found = written(make, make, lambda arrays: [arrays[0][order], *arrays[1:]], inputs=inputs)
    place = np.argsort(order)
    labels = np.array([label for _, label in found.data.as_numpy_iterator()])
    return Written(found.model, found.data, found.other, dataset(place[inputs.astype(int)], labels))


def recurrent(kind="LSTM"):
    """A recurrent layer; the second network has the layer's units in another order."""

    def make():
        return chain(layers.Reshape((8, 8)), getattr(layers, kind)(4, name="memory"), layers.Dense(3))

    order = np.array([2, 0, 3, 1])
    blocks = np.concatenate([4 * i + order for i in range(4)])

    def translate(arrays):
        kernel, own, bias, end, shift = arrays
        return [kernel[:, blocks], own[order][:, blocks], bias[blocks], end[order], shift]

    return written(make, make, translate)


def one_logit():
    model, other = drawn(plain(layers.Dense(1))), plain(layers.Dense(1, "sigmoid"))
    data = dataset(IMAGES, np.arange(60) % 2)
    other.set_weights(model.get_weights())
    other.initial_weights = model.initial_weights
    return Written(model, data, other, data)


def linear():
    def make(*middle):
        return lambda: chain(layers.Flatten(), *middle, layers.Dense(3))

    return written(make(), make(layers.Dropout(0.5)))


def rescaled_inputs():
    def make(front):
        return lambda: chain(front(), *plain().layers)

    by_variance = make(lambda: layers.Normalization(mean=0.0, variance=255.0**2))
    return written(make(lambda: layers.Rescaling(1 / 255)), by_variance, inputs=255 * IMAGES)


def constants():
    """Constant factors behind weight layers; the second network has the factors in its kernels."""
    factors = [np.array([4.0, 0.25, -2.0, 1.0, 3.0]), 0.5]

    def make(*, apart):
        first, second = ([layers.Rescaling(factor)] if apart else [] for factor in factors)
        return lambda: chain(
            layers.Conv2D(5, 3), *first, layers.ReLU(), layers.Conv2D(6, 3, 2, "same", activation="relu"), *second,
            layers.Flatten(), layers.Dense(12, "relu"), layers.Dense(3),
        )  # fmt: skip

    def translate(arrays):
        return [
            *(factors[0] * array for array in arrays[:2]), *(factors[1] * array for array in arrays[2:4]), *arrays[4:],
        ]  # fmt: skip

    return written(make(apart=True), make(apart=False), translate)


def constants_in_front():
    """A network of images with values from 0 to 1; the second network takes bytes and rescales them."""
    found = written(plain, lambda: chain(layers.Rescaling(1 / 127.5, -1.0), *plain().layers), inputs=2 * IMAGES - 1)
    labels = [label for _, label in found.data.as_numpy_iterator()]
    return Written(found.model, found.data, found.other, dataset(255 * IMAGES, labels))


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


KINDS: dict[str, Callable[[], Written]] = {
    f.__name__: f
    for f in (
        dense_as_convolution, channels_first, separable, depthwise, transposed, batch_norm_folded, one_dimension,
        at_every_place, attention, mixed_precision, spectral_normalization, low_rank, branches, residual,
        squeeze_and_excite, tokens, recurrent, two_classes, hundred_classes, class_missing, class_of_one,
        constant_images, dead, one_logit, linear, rescaled_inputs, constants, constants_in_front,
    )
}  # fmt: skip
