"""Sum over layers of the logarithm of the squared Frobenius norm: a measure that only reads the weights."""

import math


def complexity(model, dataset):
    """Return the sum over layers of the logarithm of the squared norm. A larger sum predicts a larger gap.

    The product of the norms bounds how much the network can amplify its input. For deep networks the product could
    overflow; its logarithm gives the models the same order.
    """
    total = 0.0
    for layer in model.layers:
        kernel = getattr(layer, "kernel", None)  # None for layers such as pooling
        if kernel is not None:
            # In float64, and with a lower bound: for a layer of zeros, the logarithm would be infinite, and a call with
            # such a value fails.
            squared = float((kernel.numpy().astype("float64") ** 2).sum())
            total += math.log(max(squared, 1e-300))
    return total
