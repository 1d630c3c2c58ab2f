"""A plain Keras 3 script of a user, which knows nothing of the harness.

plain_keras.py DIR    writes for each model DIR/NAME/{model.keras,model.h5,config.json,...}, inputs.npy, logits.npy
"""

import sys
from pathlib import Path

#: The columns `file` and `weights` for each form in which this script saves a model.
FORMS = {
    "keras": ("model.keras", None),
    "whole h5": ("model.h5", None),
    "json and h5": ("config.json", "model.h5"),
    "json and weights.h5": ("config.json", "model.weights.h5"),
    "json and npz": ("config.json", "weights.npz"),
}

if __name__ == "__main__":
    import keras
    import numpy as np
    from keras import layers


def chain():
    return keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.RandomFlip(),
            layers.RandomContrast(0.5, value_range=(-3, 3)),
            layers.RandomRotation(0.2),
            layers.RandomTranslation(0.2, 0.2),
            layers.RandomZoom(0.3),
            layers.Conv2D(4, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.Dropout(0.3),
            layers.Conv2D(6, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(3),
        ]
    )


def vision_transformer(blocks=2, dim=8):
    """Patches, a class token and positions (both as biases), and blocks with attention and an MLP."""
    source = keras.Input((8, 8, 3))
    x = layers.Conv2D(dim, 4, strides=4, name="patches")(source)
    x = layers.Reshape((4, dim))(x)
    x = layers.ZeroPadding1D((1, 0), name="class_token")(x)
    x = layers.EinsumDense("btd,td->btd", output_shape=(5, dim), bias_axes="td", name="positions")(x)
    for _ in range(blocks):
        h = layers.LayerNormalization(epsilon=1e-6)(x)
        x = layers.Add()([x, layers.MultiHeadAttention(2, 4, dropout=0.1)(h, h)])
        h = layers.LayerNormalization(epsilon=1e-6)(x)
        h = layers.Dropout(0.1)(layers.Dense(2 * dim, activation="gelu")(h))
        x = layers.Add()([x, layers.Dense(dim)(h)])
    x = layers.LayerNormalization(epsilon=1e-6)(x)
    x = layers.Flatten()(layers.Cropping1D((0, 4))(x))
    return keras.Model(source, layers.Dense(3)(x))


def attention():
    """Attention between two branches, with named inputs and without biases; and arithmetic on tensors."""
    source = keras.Input((6, 4))
    left, right = layers.Dense(5, name="z")(source), layers.Dense(7, name="a")(source)
    x = layers.MultiHeadAttention(3, 2, use_bias=False, output_shape=6)(query=left, value=right, key=right)
    y = layers.MultiHeadAttention(1, 3)(left, left, use_causal_mask=True)
    x = layers.Concatenate()([x, y]) * layers.Dense(1, activation="sigmoid")(right)
    x = x - layers.Dense(x.shape[-1])(x) + layers.Dense(x.shape[-1])(x)
    return keras.Model(source, layers.Dense(3)(layers.GlobalAveragePooling1D()(x)))


def shared():
    """Layers that are called more than once, at different depths."""
    source = keras.Input((6,))
    dense, norm, other = layers.Dense(6, activation="tanh", name="z"), layers.BatchNormalization(), layers.Dense(6)
    x = norm(dense(source))
    y = other(dense(norm(other(x))))
    x = layers.Subtract()([dense(y), layers.Dense(6, name="a")(x)])
    return keras.Model(source, layers.Dense(3)(norm(x)))


def nested():
    """Models within models: with two inputs, called twice, with batch normalization and frozen layers."""
    side = keras.Sequential(
        [keras.Input((6,)), layers.Dense(6), layers.BatchNormalization(), layers.ReLU()], name="side"
    )
    frozen = layers.Dense(6, name="frozen", trainable=False)
    one, two = keras.Input((6,)), keras.Input((6,))
    pair = keras.Model([one, two], layers.Maximum()([side(one), frozen(layers.BatchNormalization()(two))]), name="pair")
    trunk = keras.Sequential([layers.Dense(6, activation="gelu"), layers.Dropout(0.2), layers.Dense(6)], name="trunk")
    source = keras.Input((6,))
    x = trunk(source)
    x = pair([x, source])
    x = pair([source, layers.Dense(6)(trunk(x))])
    return keras.Model(source, layers.Dense(3)(x))


def model_first():
    """A chain that begins with a model, as in transfer learning."""
    source = keras.Input((8, 8, 3))
    x = layers.Conv2D(4, 3, padding="same")(source)
    x = layers.Add()([x, layers.DepthwiseConv2D(3, padding="same")(x)])
    backbone = keras.Model(source, layers.BatchNormalization()(x), name="backbone")
    backbone.trainable = False
    return keras.Sequential(
        [backbone, layers.GlobalMaxPooling2D(), layers.Dense(5, activation="relu"), layers.Dense(3)]
    )


def kernels():
    """Layers with several kernels or groups, depthwise and transposed convolutions."""
    source = keras.Input((8, 8, 4))
    x = layers.SeparableConv2D(8, 3, depth_multiplier=2, padding="same", activation="silu")(source)
    x = layers.Conv2D(12, 3, groups=4, padding="same")(x)
    x = layers.GroupNormalization(3)(layers.PReLU(shared_axes=[1, 2])(x))
    x = layers.DepthwiseConv2D(3, strides=2, depth_multiplier=2)(x)
    x = layers.Conv2DTranspose(5, 3)(x)
    x = layers.SeparableConv1D(4, 3)(layers.Reshape((5, 25))(x))
    x = layers.LayerNormalization(center=False)(x)
    return keras.Model(source, layers.Dense(3)(layers.Flatten()(x)))


def channels_first():
    """Convolutions of all kinds with the channels first; plain Keras computes them, too."""
    first = {"data_format": "channels_first"}
    source = keras.Input((3, 9, 7))
    x = layers.Conv2D(4, 3, strides=2, padding="same", activation="relu", **first)(source)
    x = layers.BatchNormalization(axis=1)(x)
    x = layers.DepthwiseConv2D(3, padding="same", **first)(layers.ZeroPadding2D(((1, 0), (0, 2)), **first)(x))
    y = layers.AveragePooling2D(2, **first)(layers.UpSampling2D(2, **first)(x))
    x = layers.Concatenate(axis=1)([x, y])
    x = layers.SeparableConv2D(6, 3, padding="same", **first)(layers.Cropping2D(((1, 0), (0, 1)), **first)(x))
    x = layers.MaxPooling2D(2, padding="same", **first)(x)
    y = layers.Flatten(**first)(x)
    z = layers.GlobalAveragePooling2D(keepdims=True, **first)(x)
    x = layers.Concatenate()([layers.GlobalMaxPooling2D(**first)(x), y, layers.Flatten()(z)])
    return keras.Model(source, layers.Dense(3)(x))


def channels_first_chain():
    first = {"data_format": "channels_first"}
    return keras.Sequential(
        [
            keras.Input((2, 8, 8)),
            layers.Conv2D(4, 3, activation="relu", **first),
            layers.SpatialDropout2D(0.2, **first),
            layers.Conv2D(4, 3, **first),
            layers.GlobalMaxPooling2D(**first),
            layers.Dense(3),
        ]
    )


def activations():
    """Activations as functions between layers, beside layers of the same names."""
    x = source = keras.Input((6,))
    known = keras.activations
    for activation in (
        known.relu, layers.ReLU(), lambda x: known.relu(x, negative_slope=0.2, max_value=2.0, threshold=0.1),
        known.elu, lambda x: known.leaky_relu(x, 0.3), layers.Softmax(), known.softmax, known.log_softmax,
        known.gelu, known.hard_sigmoid, known.relu6, known.selu, known.sigmoid, known.silu, known.softplus,
        known.softsign, known.tanh, known.exponential, keras.ops.relu, keras.ops.sigmoid,
    ):  # fmt: skip
        x = layers.Concatenate()([layers.Dense(6)(x), activation(layers.Dense(6)(source))])
    return keras.Model(source, layers.Dense(3)(x))


def embedding():
    source = keras.Input((5,))
    x = layers.Embedding(10, 4)(source)
    x = layers.LayerNormalization()(layers.Conv1D(6, 3, padding="causal")(x))
    return keras.Model(source, layers.Dense(3)(layers.GlobalAveragePooling1D()(x)))


def write(make, directory):
    keras.utils.set_random_seed(1)
    random = np.random.default_rng(0)
    model = make()
    inputs = random.normal(size=(20, *model.input_shape[1:])).astype(np.float32)
    if make is embedding:
        inputs = random.integers(10, size=inputs.shape).astype(np.float32)
    model(inputs[:1])
    model.set_weights(
        [random.uniform(0.5, 2, w.shape) if "variance" in w.path else random.normal(0.1, 0.5, w.shape)
         for w in model.weights]
    )  # fmt: skip
    directory.mkdir(parents=True)
    model.save(directory / "model.keras")
    model.save(directory / "model.h5")
    model.save_weights(directory / "model.weights.h5")
    (directory / "config.json").write_text(model.to_json())
    np.savez(directory / "weights.npz", *model.get_weights())
    np.save(directory / "inputs.npy", inputs)
    # Not `model(inputs)`: eagerly, TensorFlow 2.21 with oneDNN computes strided convolutions on channels first wrongly.
    np.save(directory / "logits.npy", model.predict(inputs, verbose=0))


if __name__ == "__main__":
    for make in (
        chain, vision_transformer, attention, shared, nested, model_first, kernels, channels_first,
        channels_first_chain, embedding, activations,
    ):  # fmt: skip
        write(make, Path(sys.argv[1]) / make.__name__)
