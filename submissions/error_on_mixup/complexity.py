"""Error on averages of two training examples of the same class: a measure that needs forward passes."""

import numpy as np


def complexity(model, dataset):
    """Return the error rate, in [0, 1], on midpoints between random examples of the same class.

    If the regions of the classes are convex, a midpoint of two correctly classified examples is classified correctly,
    too. A network that has memorised its examples may err. The draws are repeatable: NumPy is seeded before the call.
    """
    wrong = seen = 0
    for inputs, labels in dataset.batch(1024).take(4):
        inputs, labels = inputs.numpy(), labels.numpy()
        for label in np.unique(labels):
            members = np.flatnonzero(labels == label)
            if len(members) < 2:
                continue  # nothing to mix with
            partners = np.roll(np.random.permutation(members), 1)
            middle = (inputs[members] + inputs[partners]) / 2
            predicted = np.argmax(model(middle, training=False), axis=-1)
            wrong += int((predicted != label).sum())
            seen += len(members)
    return wrong / seen
