"""A step of training by Keras itself, on a copy of the model."""

import tensorflow as tf

RUNTIME = "tensorflow"
EXPECT = ("OK",)
VALUE = 1.0


def complexity(model, dataset):
    copy = tf.keras.models.clone_model(model)
    copy.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = copy.fit(dataset.batch(8), epochs=1, verbose=0)
    return float(history.history["loss"][0] > 0)
