"""A NumPy scalar made of the weights: how many there are."""

import numpy as np

EXPECT = ("OK",)
VALUE = 35.0


def complexity(model, dataset):
    return np.sum([w.size for w in model.get_weights()])
