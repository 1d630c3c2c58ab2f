"""Sum of the logarithms of the layers' squared Frobenius norms: a measure that only reads the weights."""

import math


def complexity(model, dataset):
    """Return the sum over layers of the logarithm of the squared norm; a larger sum predicts a larger gap.

    The product of the layers' norms bounds how much the network can amplify its input. For deep networks the product
    would overflow; its logarithm ranks models in the same order.
    """
    total = 0.0
    for layer in model.layers:
        kernel = getattr(layer, "kernel", None)  # None for layers such as pooling
        if kernel is not None:
            # In float64, and bounded from below: for a layer of zeros the logarithm would be infinite, and a call
            # whose value is not finite fails.
            squared = float((kernel.numpy().astype("float64") ** 2).sum())
            total += math.log(max(squared, 1e-300))
    return total
