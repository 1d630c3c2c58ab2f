"""The files that `pgdl new` writes."""

COMPLEXITY = '''"""NAME: a complexity measure. It gets a trained network and its training data, nothing else."""

import tensorflow as tf


def complexity(model, dataset):
    """Return one finite number: the larger it is, the larger the generalization gap you predict.

    model: a built Keras model. Calling it gives logits. In addition to Keras' own attributes it has
        model.initial_weights       list of arrays before training, in the order of model.get_weights(), or None
        layer._last_seen_input      the input of the layer's last call
        model(x, tape=tape)         calls the model while the gradient tape watches x
    dataset: a tf.data.Dataset of single training examples (float32 input, int32 label), not yet batched.
    A parameter called program_dir, if there is one, gets the path of this folder.

    There is no network, and files can be written only under /tmp; time and memory are limited (pgdl check shows
    your usage). Random draws are repeatable: Python, NumPy and TensorFlow are seeded before the call.
    """
    # As a start: the mean margin of the true class over the best other class, on 512 training examples.
    # Confident networks are expected to generalize better, hence the minus sign.
    inputs, labels = next(iter(dataset.batch(512)))
    logits = model(inputs, training=False)
    is_true = tf.one_hot(labels, logits.shape[-1], on_value=True, off_value=False)
    true = tf.reduce_max(tf.where(is_true, logits, logits.dtype.min), axis=-1)
    other = tf.reduce_max(tf.where(is_true, logits.dtype.min, logits), axis=-1)
    return -float(tf.reduce_mean(true - other))
'''

METADATA = """# All keys are optional.
name: NAME
team:
description:
paper:
keras: 3   # 2: tf.keras means Keras 2, for measure files of 2020
deterministic:   # true: the value depends on no seed
"""

FILES = {"complexity.py": COMPLEXITY, "metadata": METADATA}
