"""Overlap of the classes inside the network times the error on midpoints of examples: a combination of two numbers.

A short form of the measure that won the competition of 2020 (Natekar and Sharma 2020, arXiv 2012.02775).
"""

import numpy as np
from sklearn.metrics import davies_bouldin_score


def complexity(model, dataset):
    """Return the product of `scatter` and 0.01 + `mixup_error`; a larger product predicts a larger gap.

    Numbers of different scales cannot be added, but can be multiplied, since only the ranks of the models matter.
    """
    inputs, labels = next(iter(dataset.take(1000).batch(1000)))
    inputs, labels = inputs.numpy(), labels.numpy()
    return scatter(model, inputs, labels) * (0.01 + mixup_error(model, inputs, labels))


def scatter(model, inputs, labels):
    """Davies-Bouldin index of the classes in front of the last layer: small if classes are tight and far apart."""
    features = inputs
    for layer in model.layers[:-1]:
        # In the competition's models, the input of each layer is the output of the layer before.
        # For a network with skip connections, call tf.keras.Model(model.inputs, model.layers[-2].output).
        features = layer(features, training=False)
    features = np.reshape(features, (len(inputs), -1))
    return davies_bouldin_score(features, labels)


def mixup_error(model, inputs, labels):
    """Error rate on midpoints of two examples of the same class."""
    middles, wanted = [], []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        if len(members) > 1:
            partners = np.roll(np.random.permutation(members), 1)  # NumPy is seeded before the call
            middles.append((inputs[members] + inputs[partners]) / 2)
            wanted.append(labels[members])
    answers = model.predict(np.concatenate(middles), batch_size=256, verbose=0).argmax(axis=1)
    return float(np.mean(answers != np.concatenate(wanted)))
