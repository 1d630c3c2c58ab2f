"""Returns an array of one element, which `float` would take."""

import numpy as np

EXPECT = ("BAD_VALUE",)


def complexity(model, dataset):
    return np.ones(1)
