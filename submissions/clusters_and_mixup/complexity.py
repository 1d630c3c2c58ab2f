"""How badly classes are apart inside the network, times the error between examples: a combination.

The winners of 2020 multiplied two such numbers (Natekar and Sharma 2020, arXiv 2012.02775). This is a short form.
"""

import numpy as np
from sklearn.metrics import davies_bouldin_score


def complexity(model, dataset):
    """Return a product of two numbers that are 0 for a network that generalizes perfectly.

    Numbers of different scales cannot be added, but they can be multiplied: models are only ever ranked.
    """
    inputs, labels = next(iter(dataset.take(1000).batch(1000)))
    inputs, labels = inputs.numpy(), labels.numpy()
    return scatter(model, inputs, labels) * (0.01 + mixup_error(model, inputs, labels))


def scatter(model, inputs, labels):
    """Davies-Bouldin index of the classes in front of the last layer: small if they are tight and far apart."""
    features = inputs
    for layer in model.layers[:-1]:
        # Layer by layer, which is right for the competition's models: each layer has one input, the one before.
        # Of a network with skip connections take tf.keras.Model(model.inputs, model.layers[-2].output).
        features = layer(features, training=False)
    features = np.reshape(features, (len(inputs), -1))
    return davies_bouldin_score(features, labels)


def mixup_error(model, inputs, labels):
    """Error rate on midpoints of two examples of one class."""
    middles, wanted = [], []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        if len(members) > 1:
            partners = np.roll(np.random.permutation(members), 1)  # NumPy is seeded before the call
            middles.append((inputs[members] + inputs[partners]) / 2)
            wanted.append(labels[members])
    answers = model.predict(np.concatenate(middles), batch_size=256, verbose=0).argmax(axis=1)
    return float(np.mean(answers != np.concatenate(wanted)))
