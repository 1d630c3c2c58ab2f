"""Programs that tests run in processes with Keras 2 or Keras 3.

keras_programs.py write DIR        models with config.json, weights.hdf5, inputs.npy and their outputs.npy
keras_programs.py forward DIR...   outputs.npy of models in canonical form, on inputs.npy beside them
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

from harness.worker.architecture import build_model

keras, layers = tf.keras, tf.keras.layers
is_keras_2 = os.environ["TF_USE_LEGACY_KERAS"] == "1"


def chain_of_everything():
    """One layer of every kind that fits into a chain, with settings that are not the defaults."""
    return keras.Sequential(
        [
            keras.Input((12, 12, 3)),
            layers.Rescaling(0.5, offset=0.1),
            layers.Conv2D(4, 3, strides=2, padding="same", activation="relu", kernel_regularizer="l2"),
            layers.BatchNormalization(epsilon=0.01),
            layers.LeakyReLU(0.2),
            layers.SpatialDropout2D(0.3),
            layers.DepthwiseConv2D(3, padding="same", depth_multiplier=2),
            layers.PReLU(shared_axes=[1, 2]),
            layers.SeparableConv2D(5, 3, padding="same", use_bias=False),
            layers.LayerNormalization(),
            layers.ReLU(max_value=1.5, negative_slope=0.1),
            layers.UpSampling2D(2),
            layers.Cropping2D(((1, 2), (0, 1))),
            layers.Conv2DTranspose(4, 3, strides=2),
            layers.GroupNormalization(2),
            layers.ELU(0.7),
            layers.ZeroPadding2D(((1, 0), (2, 1))),
            layers.MaxPooling2D(3, strides=2),
            layers.AveragePooling2D(2),
            layers.Permute((2, 1, 3)),
            layers.Reshape((-1, 2)),
            layers.Conv1D(3, 2, dilation_rate=2, activation="tanh"),
            layers.MaxPooling1D(2),
            layers.Flatten(),
            layers.GaussianNoise(0.1),
            layers.Dense(7),
            layers.Activation("gelu"),
            layers.Dropout(0.5),
            layers.Dense(3),
            layers.Softmax(),
        ],
        name="weight_decay_model",
    )


def branches():
    """A graph with branches of several lengths and dropout; removing the dropout must not mix up the weights."""
    source = keras.Input((8, 8, 3))
    stem = layers.Dropout(0.1)(layers.Conv2D(4, 3, padding="same", name="stem")(source))
    short = layers.Conv2D(4, 3, padding="same", name="b_conv")(stem)
    long = layers.ZeroPadding2D()(stem)
    long = layers.Conv2D(4, 3, name="a_conv")(long)
    long = layers.BatchNormalization(name="z_norm")(long)
    long = layers.Dropout(0.4)(layers.Activation("relu")(long))
    long = layers.Conv2D(4, 3, padding="same", name="c_conv")(long)
    total = layers.Add()([long, short, stem])
    late = layers.GaussianNoise(0.1)(layers.Conv2D(2, 1, name="d_conv")(source))
    both = layers.Concatenate()([total, late])
    squeeze = layers.GlobalAveragePooling2D(keepdims=True)(both)
    gate = layers.Conv2D(6, 1, activation="sigmoid", name="e_conv")(squeeze)
    gated = layers.Multiply()([both, gate])
    features = layers.Average()([layers.GlobalMaxPooling2D()(gated), layers.Flatten()(squeeze)])
    return keras.Model(source, layers.Dropout(0.2)(layers.Dense(3, name="logits")(features)))


def write(directory):
    for make in (chain_of_everything, branches):
        random = np.random.default_rng(0)
        model = make()
        model.set_weights([random.uniform(0.1, 0.6, size=w.shape) for w in model.get_weights()])
        inputs = random.normal(size=(5, *model.input_shape[1:])).astype(np.float32)
        target = directory / make.__name__
        target.mkdir(parents=True)
        (target / "config.json").write_text(model.to_json())
        (model.save_weights if is_keras_2 else model.save)(str(target / "weights.hdf5"))
        np.save(target / "inputs.npy", inputs)
        np.save(target / "outputs.npy", model(inputs, training=False).numpy())


def forward(directories):
    for directory in directories:
        model = build_model(json.loads((directory / "architecture.json").read_text()), tf.keras)
        with np.load(directory / "weights.npz") as archive:
            model.set_weights([archive[f"w{i}"] for i in range(len(archive.files))])
        np.save(directory / "outputs.npy", model(np.load(directory / "inputs.npy")).numpy())


if __name__ == "__main__":
    paths = [Path(argument) for argument in sys.argv[2:]]
    if sys.argv[1] == "write":
        write(*paths)
    else:
        forward(paths)
